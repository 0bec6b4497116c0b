//! From entities to triples: few that show all of them in full, and their order.

use super::{Goals, Part, Scene};
use crate::keyword::Meter;
use lodeseek_profile::Element;
use lodeseek_rdf::TermId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The places of the triples for a part, in the order they are shown.
///
/// With `l` links between its entities: O(l log l), and taking out again what is not needed O(l) for each triple that
/// only the connection could hold.
pub(super) fn assemble(scene: &Scene<'_>, goals: &Goals, part: &Part, meter: &mut Meter<'_>) -> Vec<u32> {
    let mut assembly = Assembly::new(scene, goals, part);
    assembly.take_what_serves_most();
    assembly.complete();
    assembly.take_out(meter);
    assembly.ordered()
}

struct Assembly<'s, 'g> {
    scene: &'s Scene<'g>,
    goals: &'s Goals,
    part: &'s Part,
    inside: FxHashSet<u32>,
    /// How many chosen triples show an element of an entity, or serve a goal.
    shown: FxHashMap<(TermId, Element), u32>,
    served: FxHashMap<u32, u32>,
    /// By entity: another of the same connected piece.
    leads: FxHashMap<u32, u32>,
    chosen: Vec<u32>,
}

impl<'s, 'g> Assembly<'s, 'g> {
    fn new(scene: &'s Scene<'g>, goals: &'s Goals, part: &'s Part) -> Self {
        let inside = part.entities.iter().copied().collect();
        Self {
            scene,
            goals,
            part,
            inside,
            shown: FxHashMap::default(),
            served: FxHashMap::default(),
            leads: FxHashMap::default(),
            chosen: Vec::new(),
        }
    }

    fn piece(&mut self, mut entity: u32) -> u32 {
        while let Some(&lead) = self.leads.get(&entity) {
            if let Some(&further) = self.leads.get(&lead) {
                self.leads.insert(entity, further);
            }
            entity = lead;
        }
        entity
    }

    /// The link patterns and keywords that a triple serves and this part is to cover.
    fn goals_of(&self, place: u32) -> impl Iterator<Item = u32> + use<'s, 'g> {
        let wanted = &self.part.goals;
        self.goals.of_triple(self.scene, place).filter(move |goal| wanted.contains(goal))
    }

    /// What a triple would add that is not there yet. It only shrinks.
    fn value(&mut self, place: u32) -> usize {
        let scene = self.scene;
        let new = scene.contributions(scene.triple(place)).filter(|(entity, element)| {
            self.inside.contains(&scene.number(*entity)) && !self.shown.contains_key(&(*entity, *element))
        });
        let served = self.goals_of(place).filter(|goal| !self.served.contains_key(goal));
        let (a, b) = scene.ends(place);
        let value = new.count() + served.count();
        value + usize::from(self.part.connected && self.piece(a) != self.piece(b))
    }

    fn choose(&mut self, place: u32) {
        for shown in self.scene.contributions(self.scene.triple(place)) {
            *self.shown.entry(shown).or_default() += 1;
        }
        for goal in self.goals_of(place) {
            *self.served.entry(goal).or_default() += 1;
        }
        let (a, b) = self.scene.ends(place);
        let (a, b) = (self.piece(a), self.piece(b));
        if a != b {
            self.leads.insert(a, b);
        }
        self.chosen.push(place);
    }

    /// Triples between the entities, those that add most first.
    fn take_what_serves_most(&mut self) {
        let mut candidates = Vec::new();
        for &entity in &self.part.entities {
            let inner = |place: &u32| {
                let (_, object) = self.scene.ends(*place);
                self.inside.contains(&object)
            };
            candidates.extend(self.scene.outgoing(entity).filter(inner));
        }
        let mut heap: BinaryHeap<(usize, Reverse<u32>)> =
            candidates.into_iter().map(|place| (self.value(place), Reverse(place))).collect();
        while let Some((bound, Reverse(place))) = heap.pop() {
            let value = self.value(place);
            if value > 0 && value == bound {
                self.choose(place);
            } else if value > 0 {
                heap.push((value, Reverse(place)));
            }
        }
    }

    /// A triple for each element that only triples from or to other entities show; any triple for an entity without
    /// elements.
    fn complete(&mut self) {
        for &number in &self.part.entities {
            let entity = self.scene.entity(number);
            for &element in self.scene.elements(number) {
                if !self.shown.contains_key(&(entity, element))
                    && let Some(place) = self.example(number, element)
                {
                    self.choose(place);
                }
            }
            if self.scene.elements(number).is_empty()
                && let Some(place) = self.scene.outgoing(number).next()
            {
                self.choose(place);
            }
        }
    }

    fn example(&self, number: u32, element: Element) -> Option<u32> {
        let entity = self.scene.entity(number);
        let shows = |&place: &u32| {
            let mut shown = self.scene.contributions(self.scene.triple(place));
            shown.any(|shown| shown == (entity, element))
        };
        match element {
            Element::Incoming(_) => self.scene.incoming(number).iter().copied().find(shows),
            _ => self.scene.outgoing(number).find(shows),
        }
    }

    /// Takes out what others show too, the last first, as long as the meter allows.
    fn take_out(&mut self, meter: &mut Meter<'_>) {
        for at in (0..self.chosen.len()).rev() {
            let place = self.chosen[at];
            if !self.is_needed(place) {
                if meter.is_over(self.chosen.len() as u64) {
                    break;
                }
                let rest: Vec<u32> = self.chosen.iter().copied().filter(|&other| other != place).collect();
                if !self.part.connected || self.connects(&rest) {
                    self.drop(place);
                    self.chosen = rest;
                }
            }
        }
    }

    fn is_needed(&self, place: u32) -> bool {
        let scene = self.scene;
        let mut shown = scene.contributions(scene.triple(place)).peekable();
        if shown.peek().is_none() {
            return true; // all that there is of an entity without elements
        }
        let only = |entity: TermId, element| {
            self.inside.contains(&scene.number(entity)) && self.shown.get(&(entity, element)).is_none_or(|&n| n < 2)
        };
        shown.any(|(entity, element)| only(entity, element))
            || self.goals_of(place).any(|goal| self.served.get(&goal).is_none_or(|&n| n < 2))
    }

    fn drop(&mut self, place: u32) {
        for shown in self.scene.contributions(self.scene.triple(place)) {
            self.shown.entry(shown).and_modify(|count| *count -= 1);
        }
        for goal in self.goals_of(place) {
            self.served.entry(goal).and_modify(|count| *count -= 1);
        }
    }

    /// Whether these triples join all entities.
    fn connects(&self, places: &[u32]) -> bool {
        let mut pieces = Assembly::new(self.scene, self.goals, self.part);
        let mut left = self.part.entities.len();
        for &place in places {
            let (a, b) = self.scene.ends(place);
            if self.inside.contains(&a) && self.inside.contains(&b) {
                let (a, b) = (pieces.piece(a), pieces.piece(b));
                if a != b {
                    pieces.leads.insert(a, b);
                    left -= 1;
                }
            }
        }
        left == 1
    }

    /// Entity after entity along the chosen links, always on to the most frequent pattern; classes first.
    fn ordered(mut self) -> Vec<u32> {
        let mut at: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        self.chosen.sort_by_key(|&place| (Some(self.scene.triple(place).predicate) != self.scene.kind, place));
        for &place in &self.chosen {
            let (a, b) = self.scene.ends(place);
            at.entry(a).or_default().push(place);
            if b != a {
                at.entry(b).or_default().push(place);
            }
        }
        let rank = |entity: u32| Reverse((self.scene.pattern(entity), entity));
        let mut starts: Vec<_> = self.part.entities.iter().map(|&entity| rank(entity)).collect();
        starts.sort_unstable();
        let (mut out, mut emitted, mut visited) = (Vec::new(), FxHashSet::default(), FxHashSet::default());
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
                    let (a, b) = self.scene.ends(place);
                    open.extend([a, b].into_iter().filter(|end| self.inside.contains(end)).map(rank));
                }
            }
        }
        out
    }
}
