//! Comparison of trees and covers with brute force over all subsets.

use super::super::LinkGraph;
use super::*;
use proptest::prelude::*;

const NODES: u32 = 8;

fn linked(links: &[(u32, u32)], a: u32, b: u32) -> bool {
    links
        .iter()
        .any(|&(x, y)| (x, y) == (a, b) || (y, x) == (a, b))
}

fn connected(links: &[(u32, u32)], set: u32) -> bool {
    let mut reached = 1 << set.trailing_zeros();
    loop {
        let mut next = reached;
        for (a, b) in (0..NODES).flat_map(|a| (0..NODES).map(move |b| (a, b))) {
            if reached >> a & 1 == 1 && set >> b & 1 == 1 && linked(links, a, b) {
                next |= 1 << b;
            }
        }
        if next == reached {
            return reached == set;
        }
        reached = next;
    }
}

fn touches(set: u32, group: &[Member]) -> bool {
    group
        .iter()
        .any(|&(a, b)| set >> a & 1 == 1 && set >> b & 1 == 1)
}

/// Returns the size of the smallest connected node set that touches all groups.
fn fewest(links: &[(u32, u32)], groups: &[Vec<Member>]) -> u32 {
    let good =
        |set: &u32| connected(links, *set) && groups.iter().all(|group| touches(*set, group));
    (1u32..1 << NODES)
        .filter(good)
        .map(u32::count_ones)
        .min()
        .expect("all nodes do")
}

/// Generates a connected graph: a random tree and further links.
fn links() -> impl Strategy<Value = Vec<(u32, u32)>> {
    let tree = proptest::collection::vec(any::<u32>(), NODES as usize - 1);
    let more = proptest::collection::vec((0..NODES, 0..NODES), 0..8);
    (tree, more).prop_map(|(tree, more)| {
        let tree = tree
            .iter()
            .enumerate()
            .map(|(place, parent)| (place as u32 + 1, parent % (place as u32 + 1)));
        tree.chain(more.into_iter().filter(|(a, b)| a != b))
            .collect()
    })
}

fn grow(links: &[(u32, u32)], groups: &[Vec<Member>]) -> Tree {
    let graph = LinkGraph::new(NODES as usize, links.iter().copied());
    let nodes: Vec<u32> = (0..NODES).collect();
    let labels = HubLabels::new(&graph, &nodes, |_| true).expect("no bound");
    GroupSteiner {
        labels: &labels,
        weights: &[1; NODES as usize],
    }
    .tree(groups, |_| true)
    .expect("no bound")
}

fn check(links: &[(u32, u32)], groups: &[Vec<Member>], bound: u32) -> Result<(), TestCaseError> {
    let tree = grow(links, groups);
    let set = tree.nodes.iter().fold(0u32, |set, node| set | 1 << node);
    prop_assert_eq!(set.count_ones() as usize, tree.nodes.len());
    prop_assert_eq!(tree.links.len() + 1, tree.nodes.len());
    prop_assert!(tree.links.iter().all(|&(a, b)| linked(links, a, b)));
    prop_assert!(connected(links, set) && groups.iter().all(|group| touches(set, group)));
    let least = fewest(links, groups) - 1;
    prop_assert!(
        tree.links.len() as u32 <= bound * least,
        "{} links for {}",
        tree.links.len(),
        least
    );
    Ok(())
}

proptest! {
    #[test]
    fn a_tree_of_single_nodes_is_at_most_twice_the_least(links in links(), nodes in proptest::collection::btree_set(0..NODES, 1..6)) {
        let groups: Vec<Vec<Member>> = nodes.into_iter().map(|node| vec![(node, node)]).collect();
        check(&links, &groups, 2)?;
    }

    #[test]
    fn a_tree_of_groups_keeps_its_bound(links in links(), picks in proptest::collection::vec(proptest::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 1..4), 2..5)) {
        let groups: Vec<Vec<Member>> = picks.iter().map(|group| group.iter().map(|(pick, pair)| {
            let (a, b) = links[pick.index(links.len())];
            if *pair { (a, b) } else { (a, a) }
        }).collect()).collect();
        // A pair as the root's own group may cost one more link than the root alone.
        check(&links, &groups, groups.len() as u32)?;
    }

    #[test]
    fn a_set_cover_covers_with_few(sets in proptest::collection::vec(proptest::collection::btree_set(0u32..8, 0..5), 0..8)) {
        let sets: Vec<Vec<u32>> = sets.into_iter().map(|set| set.into_iter().collect()).collect();
        let chosen = set_cover(&sets);
        let all: std::collections::BTreeSet<u32> = sets.iter().flatten().copied().collect();
        let mut new: Vec<u32> = chosen.iter().flat_map(|(_, new)| new.iter().copied()).collect();
        prop_assert!(chosen.iter().map(|(_, new)| new.len()).is_sorted_by(|a, b| a >= b));
        new.sort_unstable();
        prop_assert_eq!(&new, &all.iter().copied().collect::<Vec<_>>());
        let least = (0u32..1 << sets.len()).filter(|picked| {
            let union = sets.iter().enumerate().filter(|(place, _)| picked >> place & 1 == 1);
            union.flat_map(|(_, set)| set).collect::<std::collections::BTreeSet<_>>().len() == all.len()
        }).map(u32::count_ones).min().expect("all sets do");
        let bound = (8.0_f64.ln() + 1.0) * f64::from(least);
        prop_assert!(chosen.len() as f64 <= bound);
    }
}

#[test]
fn components_are_numbered_by_their_first_node() {
    assert_eq!(
        components(&LinkGraph::new(5, [(1, 3), (3, 4)])),
        [0, 1, 2, 1, 1]
    );
}
