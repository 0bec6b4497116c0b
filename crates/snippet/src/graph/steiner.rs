//! Group Steiner trees: small trees that touch every group of nodes.
//!
//! Y. Shi, G. Cheng, E. Kharlamov: *Keyword Search over Knowledge Graphs via Static and Dynamic Hub Labelings*, WWW 2020
//! (KeyKG+). A root is chosen from the smallest group, the one with the least sum of distances to all groups; then the
//! group nearest to the tree is joined to it by a shortest path, again and again. Distances come from [`HubLabels`], and
//! a tree knows for each hub its nearest node, so that a joined node changes only the distances that shrink.
//!
//! *Guarantee.* Where `g` groups are to be touched and all members of the smallest group were tried as roots, the tree has
//! at most `g` times the links of the smallest one, `g − 1` times where the smallest group is of single nodes: some member
//! of that group lies in the smallest tree, and each join costs no more than the distance from the root. Where every group
//! is a single node it also has at most twice as many, as shown by Takahashi and Matsuyama (1980).

use super::{HubLabels, LinkGraph};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// One way to touch a group: with a node (twice the same), or with two nodes next to each other.
pub type Member = (u32, u32);

/// Members of the smallest group tried as roots, at most.
const ROOTS: usize = 256;

/// A tree, or the beginning of one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// Its nodes, in the order they joined.
    pub nodes: Vec<u32>,
    /// Its links: the joined node, and its neighbour that was there before.
    pub links: Vec<(u32, u32)>,
}

/// The labels of all components of a graph, to grow trees in.
#[derive(Debug)]
pub struct GroupSteiner<'g> {
    /// Distances.
    pub labels: &'g HubLabels,
    /// By node: what decides between groups that are equally near; the lighter is joined first.
    pub weights: &'g [u32],
}

impl GroupSteiner<'_> {
    /// A tree that touches every group. All groups must have members in one component; a group without any is ignored.
    /// `may_take` is told of steps, each an entry of a label or a member looked at; as soon as it says no, there is no tree.
    ///
    /// With labels of `l` entries, `m` members and a diameter `d`: O(d (Σ l + m) log m).
    #[must_use]
    pub fn tree(&self, groups: &[Vec<Member>], mut may_take: impl FnMut(u64) -> bool) -> Option<Tree> {
        if !may_take(self.entries(groups)) {
            return None;
        }
        let Some(root) = self.root(groups) else { return Some(Tree::default()) };
        let mut growth = Growth::new(self, groups);
        growth.add(root);
        while let Some(Reverse((.., place))) = growth.heap.pop() {
            growth.steps += 1;
            growth.join(place);
            if !may_take(std::mem::take(&mut growth.steps)) {
                return None;
            }
        }
        Some(growth.tree)
    }

    /// Entries of the labels of all members: what choosing a root and beginning a growth look at.
    fn entries(&self, groups: &[Vec<Member>]) -> u64 {
        let length = |node: u32| self.labels.label(node).len() as u64;
        groups.iter().flatten().map(|&(a, b)| length(a) + length(b)).sum()
    }

    fn distance_to(&self, nearest: &FxHashMap<u32, u32>, node: u32) -> u64 {
        let through = self.labels.label(node).iter().filter_map(|e| nearest.get(&e.hub).map(|d| d + e.distance));
        u64::from(through.min().unwrap_or(u32::MAX))
    }

    fn root(&self, groups: &[Vec<Member>]) -> Option<u32> {
        let smallest = groups.iter().filter(|group| !group.is_empty()).min_by_key(|group| group.len())?;
        let mut candidates: Vec<u32> = smallest.iter().flat_map(|&(a, b)| [a, b]).collect();
        candidates.sort_unstable();
        candidates.dedup();
        candidates.truncate(ROOTS);
        if candidates.len() == 1 {
            return candidates.first().copied();
        }
        let mut sums = vec![0u64; candidates.len()];
        for group in groups.iter().filter(|group| !group.is_empty()) {
            let mut nearest: FxHashMap<u32, u32> = FxHashMap::default();
            let ends = group.iter().flat_map(|&(a, b)| [(a, u32::from(a != b)), (b, u32::from(a != b))]);
            for (entry, more) in ends.flat_map(|(node, more)| self.labels.label(node).iter().map(move |e| (e, more))) {
                let distance = nearest.entry(entry.hub).or_insert(u32::MAX);
                *distance = (entry.distance + more).min(*distance);
            }
            for (sum, &candidate) in sums.iter_mut().zip(&candidates) {
                *sum += self.distance_to(&nearest, candidate);
            }
        }
        candidates.iter().zip(&sums).min_by_key(|(node, sum)| (**sum, **node)).map(|(node, _)| *node)
    }
}

/// Where a member stands in its group.
type Place = (u32, u32);

struct Growth<'s> {
    steiner: &'s GroupSteiner<'s>,
    groups: &'s [Vec<Member>],
    touched: Vec<bool>,
    in_tree: FxHashSet<u32>,
    /// By hub: the tree's nearest node and its distance.
    nearest: FxHashMap<u32, (u32, u32)>,
    /// By hub: the nodes of members with it in their label, and how far they are.
    near_hub: FxHashMap<u32, Vec<(u32, u32)>>,
    /// By node of a member: its distance from the tree, over which hub, and the members it is in.
    distances: FxHashMap<u32, (u32, u32)>,
    members: FxHashMap<u32, Vec<Place>>,
    heap: BinaryHeap<Reverse<(u32, u32, Place)>>,
    tree: Tree,
    /// Steps since they were last counted.
    steps: u64,
}

impl<'s> Growth<'s> {
    fn new(steiner: &'s GroupSteiner<'s>, groups: &'s [Vec<Member>]) -> Self {
        let mut members: FxHashMap<u32, Vec<Place>> = FxHashMap::default();
        for (group, all) in groups.iter().enumerate() {
            for (place, &(a, b)) in all.iter().enumerate() {
                members.entry(a).or_default().push((group as u32, place as u32));
                if b != a {
                    members.entry(b).or_default().push((group as u32, place as u32));
                }
            }
        }
        let mut near_hub: FxHashMap<u32, Vec<(u32, u32)>> = FxHashMap::default();
        for &node in members.keys() {
            for entry in steiner.labels.label(node) {
                near_hub.entry(entry.hub).or_default().push((node, entry.distance));
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
        if self.in_tree.contains(&node) { 0 } else { self.distances.get(&node).map_or(u32::MAX, |known| known.0) }
    }

    /// What joining a member would add, as links.
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

    fn offer(&mut self, place: Place) {
        if !self.touched[place.0 as usize] {
            let (a, b) = self.member(place);
            let weight = |node: u32| if self.in_tree.contains(&node) { 0 } else { self.steiner.weights[node as usize] };
            let weight = if a == b { weight(a) } else { weight(a).saturating_add(weight(b)) };
            self.heap.push(Reverse((self.cost((a, b)), weight, place)));
        }
    }

    /// Takes a node into the tree and tells those that came nearer.
    fn add(&mut self, node: u32) {
        self.in_tree.insert(node);
        self.tree.nodes.push(node);
        let mut nearer: FxHashSet<u32> = FxHashSet::from_iter([node]);
        for entry in self.steiner.labels.label(node) {
            self.steps += 1;
            let known = self.nearest.entry(entry.hub).or_insert((u32::MAX, node));
            if entry.distance >= known.0 {
                continue;
            }
            *known = (entry.distance, node);
            for &(other, distance) in self.near_hub.get(&entry.hub).into_iter().flatten() {
                self.steps += 1;
                let through = distance + entry.distance;
                let known = self.distances.entry(other).or_insert((u32::MAX, 0));
                if through < known.0 {
                    *known = (through, entry.hub);
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
        let (near, far) = if self.distance(b) < self.distance(a) { (b, a) } else { (a, b) };
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
        let Some(&(_, hub)) = self.distances.get(&node) else { return };
        let Some(&(_, inside)) = self.nearest.get(&hub) else { return };
        let mut path = self.steiner.labels.path(inside, hub);
        path.extend(self.steiner.labels.path(node, hub).into_iter().rev().skip(1));
        for step in path.windows(2) {
            if !self.in_tree.contains(&step[1]) {
                self.tree.links.push((step[1], step[0]));
                self.add(step[1]);
            }
        }
    }
}

/// Chooses sets until their union holds every element of all: always the one with most elements that are new, the first
/// of equals. Returns (set, its new elements), in the order chosen.
///
/// The greedy set cover, at most `ln n + 1` times the fewest sets (Chvátal 1979). Lazy, as what a set adds only shrinks:
/// O(S log s) for `s` sets of `S` elements together, where few have to be looked at again.
#[must_use]
pub fn set_cover(sets: &[Vec<u32>]) -> Vec<(usize, Vec<u32>)> {
    let mut covered: FxHashSet<u32> = FxHashSet::default();
    let mut heap: BinaryHeap<(usize, Reverse<usize>)> =
        sets.iter().enumerate().map(|(place, set)| (set.len(), Reverse(place))).collect();
    let mut chosen = Vec::new();
    while let Some((bound, Reverse(place))) = heap.pop() {
        let new: Vec<u32> = sets[place].iter().copied().filter(|element| !covered.contains(element)).collect();
        if new.len() == bound && bound > 0 {
            covered.extend(new.iter().copied());
            chosen.push((place, new));
        } else if !new.is_empty() {
            heap.push((new.len(), Reverse(place)));
        }
    }
    chosen
}

/// The component of every node, by number; components are numbered by their first node.
#[must_use]
pub fn components(graph: &LinkGraph) -> Vec<u32> {
    let mut sets = petgraph::unionfind::UnionFind::<u32>::new(graph.node_count());
    for node in 0..graph.node_count() {
        for neighbour in graph.neighbours(node as u32).iter().map(|&node| node as usize) {
            sets.union(node as u32, neighbour as u32);
        }
    }
    let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
    let number = |node: u32| {
        let next = numbers.len() as u32;
        *numbers.entry(sets.find(node)).or_insert(next)
    };
    (0..graph.node_count() as u32).map(number).collect()
}

#[cfg(test)]
mod tests;
