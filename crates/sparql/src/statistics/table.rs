//! Counts as an inline table of a query.

use super::pattern::OnePattern;
use crate::statistics_cache::TermTable;
use lodeseek_rdf::vocab::lodeseek;
use lodeseek_store::UsageCounts;
use oxrdf::{Literal, NamedNode, Term, Variable};
use spargebra::algebra::{Expression, Function, GraphPattern};
use spargebra::term::GroundTerm;
use std::collections::BTreeSet;

/// Maximum number of rows of a table. A larger one would cost more than evaluation, which does not hold all rows in memory.
const MAX_TABLE_ROWS: usize = 1_000_000;

/// Column of numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Column {
    Triples,
    Subjects,
    Objects,
    Properties,
    Graphs,
}

impl Column {
    /// Returns a variable that no query can name.
    pub(super) fn variable(self) -> Variable {
        Variable::new_unchecked(format!("statistics.{self:?}"))
    }
}

/// One combination of graph and property or class, with its counts. Numbers of distinct terms in several graphs are unknown.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    graph: Option<NamedNode>,
    term: Option<u32>,
    pub(super) triples: u64,
    subjects: u64,
    objects: u64,
    properties: u64,
    graphs: u64,
}

impl Row {
    pub(super) fn from_counts(
        graph: Option<NamedNode>,
        term: Option<u32>,
        uses: UsageCounts,
        properties: u64,
    ) -> Self {
        let UsageCounts {
            triples,
            subjects,
            objects,
        } = uses;
        Self {
            graph,
            term,
            triples,
            subjects,
            objects,
            properties,
            graphs: 1,
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.triples += other.triples;
        self.graphs += other.graphs;
    }

    /// Returns a number if it is known: numbers of distinct terms in several graphs cannot be added.
    fn number(&self, column: Column) -> Option<u64> {
        let number = match column {
            Column::Triples => return Some(self.triples),
            Column::Graphs => return Some(self.graphs),
            Column::Subjects => self.subjects,
            Column::Objects => self.objects,
            Column::Properties => self.properties,
        };
        (self.graphs <= 1).then_some(number)
    }
}

/// Rows of a pattern. Rows with blank nodes are separate, and contain the labels.
pub(super) struct Table {
    variables: Vec<Variable>,
    rows: Vec<Vec<Option<GroundTerm>>>,
    labels: Vec<Vec<Option<GroundTerm>>>,
    /// Index of the label among the variables.
    label: Option<usize>,
}

impl Table {
    /// Creates the table of some rows. Returns `None` if a number is unknown, a table cannot contain a term, or there are too many rows.
    pub(super) fn from_rows(
        terms: &TermTable,
        one: &OnePattern<'_>,
        keys: &[Variable],
        rows: &[Row],
        columns: &BTreeSet<Column>,
    ) -> Option<Self> {
        if rows.len() > MAX_TABLE_ROWS {
            return None;
        }
        let variables = keys
            .iter()
            .cloned()
            .chain(columns.iter().map(|column| column.variable()))
            .collect();
        let label = keys
            .iter()
            .position(|key| one.listed_variable() == Some(key));
        let mut table = Self {
            variables,
            rows: Vec::new(),
            labels: Vec::new(),
            label,
        };
        for row in rows {
            let term = row.term.map(|id| terms.term(id));
            let numbers = columns
                .iter()
                .map(|column| {
                    let number = i64::try_from(row.number(*column)?).ok()?;
                    Some(Some(GroundTerm::Literal(Literal::from(number))))
                })
                .collect::<Option<Vec<_>>>()?;
            let values = keys
                .iter()
                .map(|key| {
                    if one.graph() == Some(key) {
                        return Some(row.graph.clone().map(GroundTerm::NamedNode));
                    }
                    match term {
                        Some(term) => to_ground_term(term).map(Some),
                        None => Some(None),
                    }
                })
                .collect::<Option<Vec<_>>>()?
                .into_iter()
                .chain(numbers)
                .collect();
            match term {
                Some(Term::BlankNode(_)) => table.labels.push(values),
                _ => table.rows.push(values),
            }
        }
        Some(table)
    }

    pub(super) fn into_pattern(self) -> GraphPattern {
        let rows = GraphPattern::Values {
            variables: self.variables.clone(),
            bindings: self.rows,
        };
        let Some(place) = self.label.filter(|_| !self.labels.is_empty()) else {
            return rows;
        };
        let mut variables = self.variables;
        let label = Variable::new_unchecked("statistics.label");
        let variable = std::mem::replace(&mut variables[place], label.clone());
        let function = Function::Custom(NamedNode::new_unchecked(lodeseek::BLANK_NODE));
        let blank = GraphPattern::Extend {
            inner: Box::new(GraphPattern::Values {
                variables,
                bindings: self.labels,
            }),
            variable,
            expression: Expression::FunctionCall(function, vec![Expression::Variable(label)]),
        };
        GraphPattern::Union {
            left: Box::new(rows),
            right: Box::new(blank),
        }
    }
}

/// Converts a term for `VALUES`, a blank node to its label. Returns `None` for a triple term with blank nodes.
fn to_ground_term(term: &Term) -> Option<GroundTerm> {
    match term {
        Term::BlankNode(node) => Some(Literal::from(node.as_str()).into()),
        term => GroundTerm::try_from(term.clone()).ok(),
    }
}
