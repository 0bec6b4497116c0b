//! One triple pattern, and its rows computed from counts.

use super::Scope;
use super::table::{Column, Row};
use crate::algebra::{name_of, operands_of};
use crate::statistics_cache::{CountingPolicy, GraphStatistics, TermTable};
use lodeseek_rdf::vocab::rdf;
use lodeseek_store::StoreError;
use lodeseek_store::UsageCounts;
use oxrdf::{NamedNode, Variable};
use rustc_hash::{FxHashMap, FxHashSet};
use spargebra::algebra::{Expression, Function, GraphPattern, OrderExpression};
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Graphs in which a pattern is matched.
#[derive(Clone, Copy, Debug)]
pub(super) enum Active<'p> {
    Default,
    Named(&'p NamedNode),
    Each(&'p Variable),
}

/// Position of a pattern without a constant: a variable, or `None` for a blank node, which cannot be named elsewhere.
type OpenPosition<'p> = Option<&'p Variable>;

/// Form of a pattern.
#[derive(Clone, Copy, Debug)]
enum Shape<'p> {
    /// `?s ?p ?o`
    All {
        property: OpenPosition<'p>,
        object: OpenPosition<'p>,
    },
    /// `?s <p> ?o`, the property not being `rdf:type`.
    Property {
        property: &'p NamedNode,
        object: OpenPosition<'p>,
    },
    /// `?s a ?c`
    Classes { class: OpenPosition<'p> },
    /// `?s a <C>`
    Class(&'p NamedNode),
}

/// A pattern that counts can answer: its subject is open, and no variable occurs twice.
#[derive(Debug)]
pub(super) struct OnePattern<'p> {
    pub(super) active: Active<'p>,
    subject: OpenPosition<'p>,
    shape: Shape<'p>,
    triple: &'p TriplePattern,
}

impl<'p> OnePattern<'p> {
    pub(super) fn from_pattern(pattern: &'p GraphPattern) -> Option<Self> {
        let (active, inner) = match pattern {
            GraphPattern::Graph {
                name: NamedNodePattern::NamedNode(name),
                inner,
            } => (Active::Named(name), &**inner),
            GraphPattern::Graph {
                name: NamedNodePattern::Variable(name),
                inner,
            } => (Active::Each(name), &**inner),
            other => (Active::Default, other),
        };
        let GraphPattern::Bgp { patterns } = inner else {
            return None;
        };
        let [triple] = patterns.as_slice() else {
            return None;
        };
        if !has_distinct_positions(active, triple) {
            return None;
        }
        let object = open_position(&triple.object);
        let shape = match (&triple.predicate, &triple.object) {
            (NamedNodePattern::Variable(property), _) => Shape::All {
                property: Some(property),
                object: object?,
            },
            (NamedNodePattern::NamedNode(property), TermPattern::NamedNode(class))
                if property.as_str() == rdf::TYPE =>
            {
                Shape::Class(class)
            }
            (NamedNodePattern::NamedNode(property), _) if property.as_str() == rdf::TYPE => {
                Shape::Classes { class: object? }
            }
            (NamedNodePattern::NamedNode(property), _) => Shape::Property {
                property,
                object: object?,
            },
        };
        Some(Self {
            active,
            subject: open_position(&triple.subject)?,
            shape,
            triple,
        })
    }

    /// Returns the pattern in one graph.
    pub(super) fn within(&self, graph: &NamedNode) -> GraphPattern {
        let inner = Box::new(GraphPattern::Bgp {
            patterns: vec![self.triple.clone()],
        });
        GraphPattern::Graph {
            name: graph.clone().into(),
            inner,
        }
    }

    fn object(&self) -> OpenPosition<'p> {
        match self.shape {
            Shape::All { object, .. }
            | Shape::Property { object, .. }
            | Shape::Classes { class: object } => object,
            Shape::Class(_) => None,
        }
    }

    /// Returns the variable whose values the counts list: the property or the class.
    pub(super) fn listed_variable(&self) -> OpenPosition<'p> {
        match self.shape {
            Shape::All { property, .. } => property,
            Shape::Classes { class } => class,
            Shape::Property { .. } | Shape::Class(_) => None,
        }
    }

    pub(super) fn graph(&self) -> OpenPosition<'p> {
        match self.active {
            Active::Each(graph) => Some(graph),
            Active::Default | Active::Named(_) => None,
        }
    }

    pub(super) fn has_variable(&self, variable: &Variable) -> bool {
        [
            self.graph(),
            self.subject,
            self.listed_variable(),
            self.object(),
        ]
        .contains(&Some(variable))
    }

    /// Returns true if no position is a blank node: then distinct triples are distinct solutions.
    pub(super) fn is_all_named(&self) -> bool {
        let object = matches!(self.shape, Shape::Class(_)) || self.object().is_some();
        self.subject.is_some() && object
    }

    /// Returns the used variables of the pattern, or `None` if a table cannot contain all of them.
    pub(super) fn key_variables(&self, used: &BTreeSet<Variable>) -> Option<Vec<Variable>> {
        let keys: Vec<Variable> = used
            .iter()
            .filter(|variable| self.has_variable(variable))
            .cloned()
            .collect();
        keys.iter()
            .all(|key| [self.graph(), self.listed_variable()].contains(&Some(key)))
            .then_some(keys)
    }

    /// Returns the column with the number of distinct values of a variable.
    pub(super) fn distinct_column(&self, variable: &Variable) -> Option<Column> {
        let variable = Some(variable);
        let columns = [
            (self.subject, Column::Subjects),
            (self.object(), Column::Objects),
            (self.graph(), Column::Graphs),
        ];
        let property =
            matches!(self.shape, Shape::All { .. }) && self.listed_variable() == variable;
        let found = columns
            .into_iter()
            .find(|(place, _)| *place == variable)
            .map(|(_, column)| column);
        found.or(property.then_some(Column::Properties))
    }

    /// Returns the number of matching triples of a graph.
    pub(super) fn count_triples(&self, known: &GraphStatistics, terms: &TermTable) -> u64 {
        self.usage_counts(known, terms).triples
    }

    fn usage_counts(&self, known: &GraphStatistics, terms: &TermTable) -> UsageCounts {
        match self.shape {
            Shape::All { .. } => known.all,
            Shape::Property { property, .. } => known.property(terms.node_id(property)),
            Shape::Classes { .. } => {
                known.property(terms.id(&NamedNode::new_unchecked(rdf::TYPE).into()))
            }
            Shape::Class(class) => class_counts(known.class(terms.node_id(class))),
        }
    }

    /// Returns the rows of one graph: one for each listed value, or one row for the pattern.
    fn rows_in_graph(
        &self,
        known: &GraphStatistics,
        terms: &TermTable,
        listed: bool,
    ) -> Vec<(Option<u32>, UsageCounts)> {
        match self.shape {
            Shape::All { .. } if listed => known
                .properties
                .iter()
                .map(|&(id, uses)| (Some(id), uses))
                .collect(),
            Shape::Classes { .. } if listed => known
                .classes
                .iter()
                .map(|&(id, count)| (Some(id), class_counts(count)))
                .collect(),
            _ => vec![(None, self.usage_counts(known, terms))],
        }
    }

    /// Returns true if no matching triple can be in two of the graphs, since they share no property and no class.
    fn is_disjoint(&self, graphs: &[(NamedNode, Arc<GraphStatistics>)], terms: &TermTable) -> bool {
        let kind = terms.id(&NamedNode::new_unchecked(rdf::TYPE).into());
        let all = graphs.iter().map(|(_, known)| known);
        let classes = all.clone().flat_map(|known| &known.classes);
        let classes = classes.map(|(id, _)| *id);
        let properties = all.flat_map(|known| &known.properties);
        let properties = properties.map(|(id, _)| *id);
        match self.shape {
            Shape::All { .. } => {
                // All graphs may have types. They share such a triple only if they share its class.
                is_distinct(properties.filter(|id| Some(*id) != kind)) && is_distinct(classes)
            }
            Shape::Property { property, .. } => {
                let id = terms.node_id(property);
                is_distinct(properties.filter(|found| Some(*found) == id))
            }
            Shape::Classes { .. } => is_distinct(classes),
            Shape::Class(class) => {
                let id = terms.node_id(class);
                is_distinct(classes.filter(|found| Some(*found) == id))
            }
        }
    }
}

/// Returns true if no id occurs twice.
fn is_distinct(mut ids: impl Iterator<Item = u32>) -> bool {
    let mut seen = FxHashSet::default();
    ids.all(|id| seen.insert(id))
}

/// Returns the counts of `?s a <C>`: each triple has another subject, and all have the same object.
fn class_counts(count: u64) -> UsageCounts {
    UsageCounts {
        triples: count,
        subjects: count,
        objects: u64::from(count > 0),
    }
}

/// Returns an open position with its variable, or `None` for a constant.
fn open_position(term: &TermPattern) -> Option<OpenPosition<'_>> {
    match term {
        TermPattern::Variable(variable) => Some(Some(variable)),
        TermPattern::BlankNode(_) => Some(None),
        _ => None,
    }
}

/// Returns true if no variable or blank node occurs in two positions: the two would have to match the same term.
fn has_distinct_positions(active: Active<'_>, triple: &TriplePattern) -> bool {
    let property = match &triple.predicate {
        NamedNodePattern::Variable(variable) => Some(variable.to_string()),
        NamedNodePattern::NamedNode(_) => None,
    };
    let graph = match active {
        Active::Each(variable) => Some(variable.to_string()),
        Active::Default | Active::Named(_) => None,
    };
    let mut seen = BTreeSet::new();
    [
        name_of(&triple.subject),
        property,
        name_of(&triple.object),
        graph,
    ]
    .into_iter()
    .flatten()
    .all(|name| seen.insert(name))
}

/// Returns the pattern under filters, extensions and order, and collects their variables. `None` if their values do not depend on
/// the row alone.
pub(super) fn variables_of<'p>(
    pattern: &'p GraphPattern,
    used: &mut BTreeSet<Variable>,
) -> Option<&'p GraphPattern> {
    match pattern {
        GraphPattern::Filter { expr, inner } => {
            used_by(expr, used)?;
            variables_of(inner, used)
        }
        GraphPattern::Extend {
            inner, expression, ..
        } => {
            used_by(expression, used)?;
            variables_of(inner, used)
        }
        GraphPattern::OrderBy { inner, expression } => {
            for order in expression {
                let (OrderExpression::Asc(expression) | OrderExpression::Desc(expression)) = order;
                used_by(expression, used)?;
            }
            variables_of(inner, used)
        }
        pattern => Some(pattern),
    }
}

fn used_by(expression: &Expression, used: &mut BTreeSet<Variable>) -> Option<()> {
    match expression {
        Expression::NamedNode(_) | Expression::Literal(_) => {}
        Expression::Variable(variable) | Expression::Bound(variable) => {
            used.insert(variable.clone());
        }
        Expression::FunctionCall(
            Function::Rand
            | Function::Uuid
            | Function::StrUuid
            | Function::BNode
            | Function::Custom(_),
            _,
        )
        | Expression::Exists(_) => return None,
        other => operands_of(other)
            .into_iter()
            .try_for_each(|part| used_by(part, used))?,
    }
    Some(())
}

/// Graphs with their counts.
type Matched = Vec<(NamedNode, Arc<GraphStatistics>)>;

/// Purpose of table rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rows {
    /// The distinct rows are listed. Graphs may share triples.
    Listed,
    /// The rows are counted. Graphs may not share triples.
    Counted,
}

/// Returns the rows of a pattern by its keys, or `None` if they are not known exactly.
pub(super) fn rows_of(
    scope: &Scope<'_>,
    one: &OnePattern<'_>,
    keys: &[Variable],
    rows: Rows,
) -> Result<Option<Vec<Row>>, StoreError> {
    let Some(graphs) = scope.find_matched_graphs(one.active)? else {
        return Ok(None);
    };
    let terms = scope.engine.statistics.terms();
    let merged = matches!(one.active, Active::Default) && graphs.len() > 1;
    if merged && rows == Rows::Counted && !one.is_disjoint(&graphs, &terms) {
        return Ok(None);
    }
    let by_graph = one.graph().is_some_and(|variable| keys.contains(variable));
    let listed = one
        .listed_variable()
        .is_some_and(|variable| keys.contains(variable));
    let mut found: Vec<Row> = Vec::new();
    let mut places: FxHashMap<(Option<usize>, Option<u32>), usize> = FxHashMap::default();
    for (place, (graph, known)) in graphs.iter().enumerate() {
        for (term, uses) in one.rows_in_graph(known, &terms, listed) {
            if uses.triples == 0 {
                continue;
            }
            let row = Row::from_counts(
                by_graph.then(|| scope.graphs.public_name(graph).clone()),
                term,
                uses,
                known.properties.len() as u64,
            );
            match places.entry((by_graph.then_some(place), term)) {
                std::collections::hash_map::Entry::Vacant(entry) => {
                    entry.insert(found.len());
                    found.push(row);
                }
                std::collections::hash_map::Entry::Occupied(entry) => found[*entry.get()].add(&row),
            }
        }
    }
    // Without `GROUP BY`, even no solution makes one group.
    if keys.is_empty() && found.is_empty() && rows == Rows::Counted {
        found.push(Row::default());
    }
    Ok(Some(found))
}

impl Scope<'_> {
    /// Returns the graphs in which a pattern is matched, with their counts. `None` if the counts are not known.
    fn find_matched_graphs(&self, active: Active<'_>) -> Result<Option<Matched>, StoreError> {
        let policy = match active {
            Active::Each(_) => CountingPolicy::Now,
            Active::Default | Active::Named(_) => CountingPolicy::SecondRequest,
        };
        let names: Vec<&NamedNode> = match active {
            Active::Default if self.is_metadata(self.default) => {
                return self.merged_metadata(policy);
            }
            Active::Default => self.default.iter().collect(),
            Active::Named(name) => self
                .graphs
                .exists(name)
                .then_some(name)
                .into_iter()
                .collect(),
            Active::Each(_) => self.named.iter().collect(),
        };
        let mut graphs = Vec::with_capacity(names.len());
        for name in names {
            let known =
                match self
                    .engine
                    .statistics
                    .content(&self.engine.store, self.graphs, name)?
                {
                    Some(known) => Some(known),
                    None => self.metadata_statistics(name, policy)?,
                };
            match known {
                Some(known) => graphs.push((name.clone(), known)),
                None => return Ok(None),
            }
        }
        Ok(Some(graphs))
    }

    fn is_metadata(&self, graphs: &[NamedNode]) -> bool {
        let metadata = self.graphs.metadata();
        graphs.len() == metadata.len() && metadata.iter().all(|graph| graphs.contains(graph))
    }

    /// Returns the graphs of metadata as one merged graph. `None` if two share a triple: Oxigraph returns it twice, and counts must
    /// equal the number of rows.
    fn merged_metadata(&self, policy: CountingPolicy) -> Result<Option<Matched>, StoreError> {
        let metadata = self
            .engine
            .statistics
            .metadata(&self.engine.store, self.graphs, policy)?
            .filter(|found| found.disjoint);
        Ok(metadata
            .map(|found| vec![(self.graphs.metadata()[0].clone(), Arc::clone(&found.merged))]))
    }

    fn metadata_statistics(
        &self,
        graph: &NamedNode,
        policy: CountingPolicy,
    ) -> Result<Option<Arc<GraphStatistics>>, StoreError> {
        let metadata = self
            .engine
            .statistics
            .metadata(&self.engine.store, self.graphs, policy)?;
        let found =
            metadata.and_then(|found| found.graphs.iter().find(|(name, _)| name == graph).cloned());
        Ok(found.map(|(_, known)| known))
    }
}
