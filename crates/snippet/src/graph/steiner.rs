//! Group Steiner trees: small trees that contain a member of every group of nodes.
//!
//! Y. Shi, G. Cheng, E. Kharlamov: *Keyword Search over Knowledge Graphs via Static and Dynamic Hub Labelings*, WWW
//! 2020 (KeyKG+). The root is the node of the smallest group with the least sum of distances to all groups. Then the
//! nearest group is connected to the tree by a shortest path, until all groups are. Distances come from [`HubLabels`].
//! The tree stores its nearest node for each hub, so that an added node changes only distances that shrink.
//!
//! *Guarantee.* Let there be `g` groups, and let all members of the smallest group be tried as roots. The tree then has
//! at most `g` times the links of the optimum, and at most `g − 1` times if the smallest group has single nodes.
//! Reason: some member of that group is in the optimum, and each connection costs at most the distance from the root.
//! If every group is a single node, the factor is also at most 2 (Takahashi and Matsuyama, 1980).

use super::{HubLabels, UndirectedGraph};
use petgraph::unionfind::UnionFind;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Member of a group: a node (twice the same number), or two adjacent nodes.
pub type Member = (u32, u32);

/// Maximum number of members of the smallest group that are tried as roots.
const MAX_ROOTS: usize = 256;

/// Tree, or a partial tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// Nodes in the order in which they were added.
    pub nodes: Vec<u32>,
    /// Links: each added node, and its neighbour that was in the tree before.
    pub links: Vec<(u32, u32)>,
}

/// Group Steiner search on the labels of all components of a graph.
#[derive(Debug)]
pub struct GroupSteiner<'g> {
    /// Distance labels.
    pub labels: &'g HubLabels,
    /// Weight of each node. Of two groups at the same distance, the one with the lighter member is connected first.
    pub weights: &'g [u32],
}

impl GroupSteiner<'_> {
    /// Returns a tree that contains a member of every group, or `None` if `try_spend` returned false.
    ///
    /// All groups must have members in one component; a group without members is ignored. `try_spend` is called with a
    /// number of steps. A step reads a label entry or a member.
    ///
    /// For labels of `l` entries, `m` members and a diameter `d`: O(d (Σ l + m) log m).
    #[must_use]
    pub fn tree(
        &self,
        groups: &[Vec<Member>],
        mut try_spend: impl FnMut(u64) -> bool,
    ) -> Option<Tree> {
        if !try_spend(self.entries(groups)) {
            return None;
        }
        let Some(root) = self.root(groups) else {
            return Some(Tree::default());
        };
        let mut growth = Growth::new(self, groups);
        growth.add(root);
        while let Some(Reverse((.., place))) = growth.heap.pop() {
            growth.steps += 1;
            growth.join(place);
            if !try_spend(std::mem::take(&mut growth.steps)) {
                return None;
            }
        }
        Some(growth.tree)
    }

    /// Counts the label entries of all members, which root selection and initialization read.
    fn entries(&self, groups: &[Vec<Member>]) -> u64 {
        groups
            .iter()
            .flatten()
            .map(|&(a, b)| self.labels.label(a).len() as u64 + self.labels.label(b).len() as u64)
            .sum()
    }

    fn distance_to(&self, nearest: &FxHashMap<u32, u32>, node: u32) -> u64 {
        let through = self
            .labels
            .label(node)
            .iter()
            .filter_map(|e| nearest.get(&e.hub).map(|d| d + e.distance));
        u64::from(through.min().unwrap_or(u32::MAX))
    }

    fn root(&self, groups: &[Vec<Member>]) -> Option<u32> {
        let smallest = groups
            .iter()
            .filter(|group| !group.is_empty())
            .min_by_key(|group| group.len())?;
        let mut candidates: Vec<u32> = smallest.iter().flat_map(|&(a, b)| [a, b]).collect();
        candidates.sort_unstable();
        candidates.dedup();
        candidates.truncate(MAX_ROOTS);
        if candidates.len() == 1 {
            return candidates.first().copied();
        }
        let mut sums = vec![0u64; candidates.len()];
        for group in groups.iter().filter(|group| !group.is_empty()) {
            let mut nearest: FxHashMap<u32, u32> = FxHashMap::default();
            let ends = group
                .iter()
                // To connect a link, its second end costs one step more.
                .flat_map(|&(a, b)| [(a, u32::from(a != b)), (b, u32::from(a != b))]);
            for (entry, more) in
                ends.flat_map(|(node, more)| self.labels.label(node).iter().map(move |e| (e, more)))
            {
                let distance = nearest.entry(entry.hub).or_insert(u32::MAX);
                *distance = (entry.distance + more).min(*distance);
            }
            for (sum, &candidate) in sums.iter_mut().zip(&candidates) {
                *sum += self.distance_to(&nearest, candidate);
            }
        }
        candidates
            .iter()
            .zip(&sums)
            .min_by_key(|(node, sum)| (**sum, **node))
            .map(|(node, _)| *node)
    }
}

/// Group, and the index of a member in it.
type Place = (u32, u32);

struct Growth<'s> {
    steiner: &'s GroupSteiner<'s>,
    groups: &'s [Vec<Member>],
    touched: Vec<bool>,
    in_tree: FxHashSet<u32>,
    /// Nearest node of the tree and its distance, for each hub.
    nearest: FxHashMap<u32, (u32, u32)>,
    /// Member nodes whose label contains the hub, with their distances, for each hub.
    near_hub: FxHashMap<u32, Vec<(u32, u32)>>,
    /// Distance from the tree and the hub on the path, for each member node, and the members that contain it.
    distances: FxHashMap<u32, (u32, u32)>,
    members: FxHashMap<u32, Vec<Place>>,
    heap: BinaryHeap<Reverse<(u32, u32, Place)>>,
    tree: Tree,
    /// Steps since the last call of `try_spend`.
    steps: u64,
}

impl<'s> Growth<'s> {
    fn new(steiner: &'s GroupSteiner<'s>, groups: &'s [Vec<Member>]) -> Self {
        let mut members: FxHashMap<u32, Vec<Place>> = FxHashMap::default();
        for (group, all) in groups.iter().enumerate() {
            for (place, &(a, b)) in all.iter().enumerate() {
                members
                    .entry(a)
                    .or_default()
                    .push((group as u32, place as u32));
                if b != a {
                    members
                        .entry(b)
                        .or_default()
                        .push((group as u32, place as u32));
                }
            }
        }
        let mut near_hub: FxHashMap<u32, Vec<(u32, u32)>> = FxHashMap::default();
        for &node in members.keys() {
            for entry in steiner.labels.label(node) {
                near_hub
                    .entry(entry.hub)
                    .or_default()
                    .push((node, entry.distance));
            }
        }
        Self {
            steiner,
            groups,
            touched: vec![false; groups.len()],
            in_tree: FxHashSet::default(),
            nearest: FxHashMap::default(),
            near_hub,
            distances: FxHashMap::default(),
            members,
            heap: BinaryHeap::new(),
            tree: Tree::default(),
            steps: 0,
        }
    }

    fn distance(&self, node: u32) -> u32 {
        if self.in_tree.contains(&node) {
            return 0;
        }
        match self.distances.get(&node) {
            Some(entry) => entry.0,
            None => u32::MAX,
        }
    }

    /// Returns the number of links that connecting a member would add.
    fn cost(&self, (a, b): Member) -> u32 {
        match (self.distance(a), self.distance(b)) {
            (0, 0) => 0,
            (near, _) if a == b => near,
            (one, other) => one.min(other).saturating_add(1),
        }
    }

    fn member(&self, (group, place): Place) -> Member {
        self.groups[group as usize][place as usize]
    }

    /// Returns the weight that a node would add to the tree.
    fn added_weight(&self, node: u32) -> u32 {
        if self.in_tree.contains(&node) {
            0
        } else {
            self.steiner.weights[node as usize]
        }
    }

    fn offer(&mut self, place: Place) {
        if !self.touched[place.0 as usize] {
            let (a, b) = self.member(place);
            let weight = if a == b {
                self.added_weight(a)
            } else {
                self.added_weight(a).saturating_add(self.added_weight(b))
            };
            self.heap.push(Reverse((self.cost((a, b)), weight, place)));
        }
    }

    /// Adds a node to the tree and updates the members that are now nearer.
    fn add(&mut self, node: u32) {
        self.in_tree.insert(node);
        self.tree.nodes.push(node);
        let mut nearer: FxHashSet<u32> = FxHashSet::from_iter([node]);
        for entry in self.steiner.labels.label(node) {
            self.steps += 1;
            let nearest = self.nearest.entry(entry.hub).or_insert((u32::MAX, node));
            if entry.distance >= nearest.0 {
                continue;
            }
            *nearest = (entry.distance, node);
            for &(other, distance) in self.near_hub.get(&entry.hub).into_iter().flatten() {
                self.steps += 1;
                let through = distance + entry.distance;
                let nearest = self.distances.entry(other).or_insert((u32::MAX, 0));
                if through < nearest.0 {
                    *nearest = (through, entry.hub);
                    nearer.insert(other);
                }
            }
        }
        let mut nearer: Vec<u32> = nearer.into_iter().collect();
        nearer.sort_unstable();
        for node in nearer {
            for place in self.members.get(&node).cloned().unwrap_or_default() {
                self.steps += 1;
                let (a, b) = self.member(place);
                if self.in_tree.contains(&a) && self.in_tree.contains(&b) {
                    self.touched[place.0 as usize] = true;
                }
                self.offer(place);
            }
        }
    }

    fn join(&mut self, place: Place) {
        if self.touched[place.0 as usize] {
            return;
        }
        let (a, b) = self.member(place);
        let (near, far) = if self.distance(b) < self.distance(a) {
            (b, a)
        } else {
            (a, b)
        };
        if !self.in_tree.contains(&near) {
            self.connect(near);
        }
        if !self.in_tree.contains(&far) {
            self.tree.links.push((far, near));
            self.add(far);
        }
        self.touched[place.0 as usize] = true;
    }

    /// Adds a shortest path from the tree to a node outside.
    fn connect(&mut self, node: u32) {
        let Some(&(_, hub)) = self.distances.get(&node) else {
            return;
        };
        let Some(&(_, inside)) = self.nearest.get(&hub) else {
            return;
        };
        let mut path = self.steiner.labels.path(inside, hub);
        path.extend(
            self.steiner
                .labels
                .path(node, hub)
                .into_iter()
                .rev()
                // The hub is the end of both halves.
                .skip(1),
        );
        for step in path.windows(2) {
            if !self.in_tree.contains(&step[1]) {
                self.tree.links.push((step[1], step[0]));
                self.add(step[1]);
            }
        }
    }
}

/// Greedy set cover: repeatedly chooses the set with most new elements, the first of equals, until the union of all
/// sets is covered. Returns (set, its new elements) in the order of choice.
///
/// At most `ln n + 1` times as many sets as the optimum (Chvátal 1979). Evaluation is lazy, because the number of new
/// elements only shrinks: O(S log s) for `s` sets with `S` elements in total, if few must be re-evaluated.
#[must_use]
pub fn set_cover(sets: &[Vec<u32>]) -> Vec<(usize, Vec<u32>)> {
    let mut covered: FxHashSet<u32> = FxHashSet::default();
    let mut heap: BinaryHeap<(usize, Reverse<usize>)> = sets
        .iter()
        .enumerate()
        .map(|(place, set)| (set.len(), Reverse(place)))
        .collect();
    let mut chosen = Vec::new();
    while let Some((bound, Reverse(place))) = heap.pop() {
        let new: Vec<u32> = sets[place]
            .iter()
            .copied()
            .filter(|element| !covered.contains(element))
            .collect();
        // Sets only lose new elements: an entry whose number is unchanged is the greatest.
        if new.len() == bound && bound > 0 {
            covered.extend(new.iter().copied());
            chosen.push((place, new));
        } else if !new.is_empty() {
            heap.push((new.len(), Reverse(place)));
        }
    }
    chosen
}

/// Returns the component number of every node. Components are numbered by their first node.
#[must_use]
pub fn components(graph: impl UndirectedGraph) -> Vec<u32> {
    let mut sets = UnionFind::<u32>::new(graph.node_count());
    for node in 0..graph.node_count() as u32 {
        for neighbour in graph.neighbour_numbers(node) {
            sets.union(node, neighbour);
        }
    }
    let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
    (0..graph.node_count() as u32)
        .map(|node| {
            let next = numbers.len() as u32;
            *numbers.entry(sets.find(node)).or_insert(next)
        })
        .collect()
}

#[cfg(test)]
mod tests;
