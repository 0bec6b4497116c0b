//! Selection and order of triples: few that show all chosen entities in full.

use super::{EntityGraph, Goals, Part};
use crate::keyword::Meter;
use lodeseek_profile::{Element, PatternId};
use lodeseek_rdf::TermId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Returns the positions of the triples for a part, in snippet order.
///
/// For `l` links between its entities: O(l log l). Removing a redundant triple costs O(l) if only the connection may
/// need it.
pub(super) fn assemble(
    entity_graph: &EntityGraph<'_>,
    goals: &Goals,
    part: &Part,
    meter: &mut Meter<'_>,
) -> Vec<u32> {
    let mut assembly = Assembly::new(entity_graph, goals, part);
    assembly.take_what_serves_most();
    assembly.complete();
    assembly.take_out(meter);
    assembly.order_triples()
}

struct Assembly<'s, 'g> {
    entity_graph: &'s EntityGraph<'g>,
    goals: &'s Goals,
    part: &'s Part,
    inside: FxHashSet<u32>,
    /// Number of chosen triples that show an element of an entity.
    shown: FxHashMap<(TermId, Element), u32>,
    served: FxHashMap<u32, u32>,
    /// Union-find parent of each entity.
    parents: FxHashMap<u32, u32>,
    chosen: Vec<u32>,
}

impl<'s, 'g> Assembly<'s, 'g> {
    fn new(entity_graph: &'s EntityGraph<'g>, goals: &'s Goals, part: &'s Part) -> Self {
        let inside = part.entities.iter().copied().collect();
        Self {
            entity_graph,
            goals,
            part,
            inside,
            shown: FxHashMap::default(),
            served: FxHashMap::default(),
            parents: FxHashMap::default(),
            chosen: Vec::new(),
        }
    }

    fn piece(&mut self, mut entity: u32) -> u32 {
        while let Some(&lead) = self.parents.get(&entity) {
            // Path halving: later searches are shorter.
            if let Some(&further) = self.parents.get(&lead) {
                self.parents.insert(entity, further);
            }
            entity = lead;
        }
        entity
    }

    /// Returns the link patterns and keywords of this part that a triple serves.
    fn goals_of(&self, place: u32) -> impl Iterator<Item = u32> + use<'s, 'g> {
        let part_goals = &self.part.goals;
        self.goals
            .of_triple(self.entity_graph, place)
            .filter(move |goal| part_goals.contains(goal))
    }

    /// Returns the number of missing elements, goals and connections that a triple would add. It only shrinks.
    fn value(&mut self, place: u32) -> usize {
        let entity_graph = self.entity_graph;
        let new = entity_graph
            .contributions(entity_graph.triple(place))
            .filter(|(entity, element)| {
                self.inside.contains(&entity_graph.number(*entity))
                    && !self.shown.contains_key(&(*entity, *element))
            });
        let served = self
            .goals_of(place)
            .filter(|goal| !self.served.contains_key(goal));
        let (a, b) = entity_graph.ends(place);
        let value = new.count() + served.count();
        value + usize::from(self.part.connected && self.piece(a) != self.piece(b))
    }

    fn choose(&mut self, place: u32) {
        for shown in self
            .entity_graph
            .contributions(self.entity_graph.triple(place))
        {
            *self.shown.entry(shown).or_default() += 1;
        }
        for goal in self.goals_of(place) {
            *self.served.entry(goal).or_default() += 1;
        }
        let (a, b) = self.entity_graph.ends(place);
        let a = self.piece(a);
        let b = self.piece(b);
        if a != b {
            self.parents.insert(a, b);
        }
        self.chosen.push(place);
    }

    /// Chooses triples between the entities, those with most additions first.
    fn take_what_serves_most(&mut self) {
        let mut candidates = Vec::new();
        for &entity in &self.part.entities {
            candidates.extend(self.entity_graph.outgoing(entity).filter(|place| {
                let (_, object) = self.entity_graph.ends(*place);
                self.inside.contains(&object)
            }));
        }
        let mut heap: BinaryHeap<(usize, Reverse<u32>)> = candidates
            .into_iter()
            .map(|place| (self.value(place), Reverse(place)))
            .collect();
        while let Some((bound, Reverse(place))) = heap.pop() {
            let value = self.value(place);
            // Values only shrink: an entry whose value is unchanged is the greatest.
            if value > 0 && value == bound {
                self.choose(place);
            } else if value > 0 {
                heap.push((value, Reverse(place)));
            }
        }
    }

    /// Adds a triple for each element that only triples to or from other entities show. Adds any triple for an entity
    /// without elements.
    fn complete(&mut self) {
        for &number in &self.part.entities {
            let entity = self.entity_graph.entity(number);
            for &element in self.entity_graph.elements(number) {
                if !self.shown.contains_key(&(entity, element))
                    && let Some(place) = self.example(number, element)
                {
                    self.choose(place);
                }
            }
            if self.entity_graph.elements(number).is_empty()
                && let Some(place) = self.entity_graph.outgoing(number).next()
            {
                self.choose(place);
            }
        }
    }

    fn example(&self, number: u32, element: Element) -> Option<u32> {
        let entity = self.entity_graph.entity(number);
        let graph = self.entity_graph;
        match element {
            Element::Incoming(_) => graph
                .incoming(number)
                .iter()
                .copied()
                .find(|&place| graph.shows(graph.triple(place), entity, element)),
            _ => graph
                .outgoing(number)
                .find(|&place| graph.shows(graph.triple(place), entity, element)),
        }
    }

    /// Removes redundant triples, the last first, within the meter's limit.
    fn take_out(&mut self, meter: &mut Meter<'_>) {
        for at in (0..self.chosen.len()).rev() {
            let place = self.chosen[at];
            if !self.is_needed(place) {
                if meter.is_over(self.chosen.len() as u64) {
                    break;
                }
                let rest: Vec<u32> = self
                    .chosen
                    .iter()
                    .copied()
                    .filter(|&other| other != place)
                    .collect();
                if !self.part.connected || self.connects(&rest) {
                    self.drop(place);
                    self.chosen = rest;
                }
            }
        }
    }

    fn is_needed(&self, place: u32) -> bool {
        let entity_graph = self.entity_graph;
        let mut shown = entity_graph
            .contributions(entity_graph.triple(place))
            .peekable();
        if shown.peek().is_none() {
            return true; // all that there is of an entity without elements
        }
        shown.any(|(entity, element)| {
            self.inside.contains(&entity_graph.number(entity))
                && self.shown.get(&(entity, element)).is_none_or(|&n| n < 2)
        }) || self
            .goals_of(place)
            .any(|goal| self.served.get(&goal).is_none_or(|&n| n < 2))
    }

    fn drop(&mut self, place: u32) {
        for shown in self
            .entity_graph
            .contributions(self.entity_graph.triple(place))
        {
            self.shown.entry(shown).and_modify(|count| *count -= 1);
        }
        for goal in self.goals_of(place) {
            self.served.entry(goal).and_modify(|count| *count -= 1);
        }
    }

    /// Returns true if these triples connect all entities.
    fn connects(&self, places: &[u32]) -> bool {
        let mut pieces = Assembly::new(self.entity_graph, self.goals, self.part);
        let mut left = self.part.entities.len();
        for &place in places {
            let (a, b) = self.entity_graph.ends(place);
            if self.inside.contains(&a) && self.inside.contains(&b) {
                let a = pieces.piece(a);
                let b = pieces.piece(b);
                if a != b {
                    pieces.parents.insert(a, b);
                    left -= 1;
                }
            }
        }
        left == 1
    }

    /// Orders the triples entity by entity along the chosen links, the most frequent pattern first; classes first.
    fn order_triples(mut self) -> Vec<u32> {
        let mut at: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        self.chosen.sort_by_key(|&place| {
            (
                Some(self.entity_graph.triple(place).predicate) != self.entity_graph.kind,
                place,
            )
        });
        for &place in &self.chosen {
            let (a, b) = self.entity_graph.ends(place);
            at.entry(a).or_default().push(place);
            if b != a {
                at.entry(b).or_default().push(place);
            }
        }
        let mut starts: Vec<_> = self
            .part
            .entities
            .iter()
            .map(|&entity| self.rank(entity))
            .collect();
        starts.sort_unstable();
        let mut out = Vec::new();
        let mut emitted = FxHashSet::default();
        let mut visited = FxHashSet::default();
        while let Some(start) = starts.pop() {
            let mut open = BinaryHeap::from([start]);
            while let Some(Reverse((_, entity))) = open.pop() {
                if !visited.insert(entity) {
                    continue;
                }
                for &place in at.get(&entity).into_iter().flatten() {
                    if emitted.insert(place) {
                        out.push(place);
                    }
                    let (a, b) = self.entity_graph.ends(place);
                    open.extend(
                        [a, b]
                            .into_iter()
                            .filter(|end| self.inside.contains(end))
                            .map(|end| self.rank(end)),
                    );
                }
            }
        }
        out
    }

    /// Returns a key by which entities with a frequent pattern come first.
    fn rank(&self, entity: u32) -> Reverse<(PatternId, u32)> {
        Reverse((self.entity_graph.pattern(entity), entity))
    }
}
