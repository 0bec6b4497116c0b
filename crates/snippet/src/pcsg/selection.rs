//! Selection of the entities of a component that are shown in full.

use super::{EntityGraph, Goals};
use crate::graph::Member;
use crate::keyword::Meter;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;

#[derive(Clone, Copy)]
pub(super) struct Selection<'s, 'g> {
    pub entity_graph: &'s EntityGraph<'g>,
    pub goals: &'s Goals,
}

impl Selection<'_, '_> {
    /// Returns the goals that a component could serve, sorted.
    pub(super) fn offers(&self, entities: &[u32]) -> Vec<u32> {
        let mut offers = Vec::new();
        for &entity in entities {
            offers.push(self.entity_graph.pattern(entity).0);
            for place in self.entity_graph.outgoing(entity) {
                offers.extend(self.goals.of_triple(self.entity_graph, place));
            }
        }
        offers.sort_unstable();
        offers.dedup();
        offers
    }

    /// Returns the members of the goals' groups in a component. The pattern of an entity at a required link needs no
    /// group of its own.
    pub(super) fn groups(&self, entities: &[u32], goals: &FxHashSet<u32>) -> Vec<Vec<Member>> {
        let mut groups: FxHashMap<u32, Vec<Member>> = FxHashMap::default();
        for &entity in entities {
            for place in self.entity_graph.outgoing(entity) {
                for goal in self
                    .goals
                    .of_triple(self.entity_graph, place)
                    .filter(|goal| goals.contains(goal))
                {
                    groups
                        .entry(goal)
                        .or_default()
                        .push(self.entity_graph.ends(place));
                }
            }
        }
        let mut implied: FxHashSet<u32> = FxHashSet::default();
        for (_, members) in groups
            .iter()
            .filter(|(goal, _)| **goal < self.goals.first_keyword)
        {
            implied.extend(
                // All members of a link pattern have the same patterns at their ends.
                members
                    .iter()
                    .take(1)
                    .flat_map(|&(a, b)| [a, b])
                    .map(|entity| self.entity_graph.pattern(entity).0),
            );
        }
        for &entity in entities {
            let pattern = self.entity_graph.pattern(entity).0;
            if goals.contains(&pattern) && !implied.contains(&pattern) {
                groups.entry(pattern).or_default().push((entity, entity));
            }
        }
        let mut groups: Vec<(u32, Vec<Member>)> = groups.into_iter().collect();
        // The order of a hash map must not decide ties.
        groups.sort_unstable_by_key(|(goal, _)| *goal);
        groups.into_iter().map(|(_, members)| members).collect()
    }

    /// Removes entities that are not needed for connection and goals, those with most elements first. Each is tried
    /// once, within the meter's limit: O(entities · links between them).
    pub(super) fn take_out(
        &self,
        entities: &mut Vec<u32>,
        goals: &FxHashSet<u32>,
        weights: &[u32],
        meter: &mut Meter<'_>,
    ) {
        let mut rest = Remaining::new(self, entities, goals);
        let mut order: Vec<u32> = entities.clone();
        order.sort_by_key(|&entity| (Reverse(weights[entity as usize]), entity));
        for entity in order {
            if !rest.can_spare(self, entity, goals) {
                continue;
            }
            if meter.is_over(rest.size()) {
                break;
            }
            if rest.is_connected_without(entity) {
                rest.remove(self, entity, goals);
            }
        }
        entities.retain(|entity| rest.neighbours.contains_key(entity));
    }
}

/// Remaining entities, the links between them, and the number of times each goal is served.
struct Remaining {
    neighbours: FxHashMap<u32, Vec<u32>>,
    served: FxHashMap<u32, u32>,
    links: u64,
}

impl Remaining {
    fn new(selection: &Selection<'_, '_>, entities: &[u32], goals: &FxHashSet<u32>) -> Self {
        let neighbours = entities
            .iter()
            .map(|&entity| (entity, Vec::new()))
            .collect();
        let mut rest = Self {
            neighbours,
            served: FxHashMap::default(),
            links: 0,
        };
        for &entity in entities {
            for place in selection.entity_graph.outgoing(entity) {
                let (_, other) = selection.entity_graph.ends(place);
                if other != entity && rest.neighbours.contains_key(&other) {
                    rest.neighbours.entry(entity).or_default().push(other);
                    rest.neighbours.entry(other).or_default().push(entity);
                    rest.links += 2;
                }
            }
            // Each triple is counted at its subject alone, because all entities are visited.
            rest.each_goal(selection, entity, goals, Direction::Outgoing, |served| {
                *served += 1
            });
        }
        rest
    }

    fn size(&self) -> u64 {
        self.links + self.neighbours.len() as u64
    }

    /// Calls `change` with the count of each goal that an entity serves, once for each way in which it is served.
    fn each_goal(
        &mut self,
        selection: &Selection<'_, '_>,
        entity: u32,
        goals: &FxHashSet<u32>,
        direction: Direction,
        mut change: impl FnMut(&mut u32),
    ) {
        let entity_graph = selection.entity_graph;
        let pattern = entity_graph.pattern(entity).0;
        if goals.contains(&pattern) {
            change(self.served.entry(pattern).or_default());
        }
        let incoming = entity_graph
            .incoming(entity)
            .iter()
            .copied()
            .filter(|&place| entity_graph.ends(place).0 != entity);
        let incoming = incoming.filter(|_| direction == Direction::Both);
        for place in entity_graph.outgoing(entity).chain(incoming) {
            let (a, b) = entity_graph.ends(place);
            if self.neighbours.contains_key(&a) && self.neighbours.contains_key(&b) {
                for goal in selection
                    .goals
                    .of_triple(entity_graph, place)
                    .filter(|goal| goals.contains(goal))
                {
                    change(self.served.entry(goal).or_default());
                }
            }
        }
    }

    fn can_spare(
        &mut self,
        selection: &Selection<'_, '_>,
        entity: u32,
        goals: &FxHashSet<u32>,
    ) -> bool {
        if self.neighbours.len() == 1 {
            return false;
        }
        let mut spare = true;
        self.each_goal(selection, entity, goals, Direction::Both, |served| {
            *served -= 1
        });
        // Only this entity's goals can have dropped to zero; all other counts are unchanged.
        self.each_goal(selection, entity, goals, Direction::Both, |served| {
            spare &= *served > 0
        });
        self.each_goal(selection, entity, goals, Direction::Both, |served| {
            *served += 1
        });
        spare
    }

    fn is_connected_without(&self, entity: u32) -> bool {
        let Some(&start) = self.neighbours.keys().find(|&&other| other != entity) else {
            return true;
        };
        let mut reached = FxHashSet::from_iter([start, entity]);
        let mut open = vec![start];
        while let Some(node) = open.pop() {
            for &next in self.neighbours.get(&node).into_iter().flatten() {
                if reached.insert(next) {
                    open.push(next);
                }
            }
        }
        reached.len() == self.neighbours.len()
    }

    fn remove(&mut self, selection: &Selection<'_, '_>, entity: u32, goals: &FxHashSet<u32>) {
        self.each_goal(selection, entity, goals, Direction::Both, |served| {
            *served -= 1
        });
        let neighbours = self.neighbours.remove(&entity).unwrap_or_default();
        self.links -= 2 * neighbours.len() as u64;
        for other in neighbours {
            if let Some(back) = self.neighbours.get_mut(&other) {
                back.retain(|&node| node != entity);
            }
        }
    }
}

/// Direction of an entity's triples.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Outgoing,
    Both,
}

/// Returns entities that contain a member of every group, not necessarily connected. Groups with fewest members come
/// first. Of each group without a chosen member, the one with the least additional weight is chosen. O(members).
pub(super) fn cover_cheaply(groups: &[Vec<Member>], weights: &[u32]) -> Vec<u32> {
    let mut order: Vec<&Vec<Member>> = groups.iter().filter(|group| !group.is_empty()).collect();
    order.sort_by_key(|group| group.len());
    let mut chosen: FxHashSet<u32> = FxHashSet::default();
    let mut entities = Vec::new();
    for group in order {
        let cheapest = group.iter().min_by_key(|&&(a, b)| {
            if a == b {
                added_weight(a, &chosen, weights)
            } else {
                added_weight(a, &chosen, weights) + added_weight(b, &chosen, weights)
            }
        });
        let Some(&(a, b)) = cheapest else {
            continue;
        };
        entities.extend([a, b].into_iter().filter(|&node| chosen.insert(node)));
    }
    entities
}

/// Returns the additional weight of an entity: 0 if it is chosen already, otherwise its weight and 1. Without the 1, an
/// entity of weight 0 would count like a chosen one.
fn added_weight(node: u32, chosen: &FxHashSet<u32>, weights: &[u32]) -> u32 {
    if chosen.contains(&node) {
        0
    } else {
        1 + weights[node as usize]
    }
}
