//! Filter and order of the rows of a table, which its page and its CSV share.

use super::{
    ClassTable, Column, ENTITY_COLUMN, Entities, MAX_ENTITY_TRIPLES, MAX_ROW_TRIPLES, term_language,
};
use crate::entities::resource_label;
use lodeseek_index::fold_text;
use lodeseek_rdf::LABEL_PROPERTIES;
use lodeseek_rdf::vocab::csvw;
use lodeseek_sparql::value_sort_key;
use lodeseek_store::{Position, StoreError};
use oxrdf::{NamedNode, NamedOrBlankNode, Term};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;

/// Maximum number of entities of a table that is sorted, and of those that a filter reads for a page.
pub(crate) const MAX_SELECTED_ENTITIES: usize = 10_000;
/// Maximum number of characters of a text by which rows are sorted.
const MAX_KEY_CHARACTERS: usize = 200;
/// Maximum number of labels of values in memory.
const MAX_LABELS: usize = 5000;
/// Maximum number of columns in a message.
const MAX_LISTED_COLUMNS: usize = 20;

/// Filter and order of the rows of a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selection {
    /// Text that the label or a value of an entity contains, without regard to case. Empty: all entities pass.
    pub(crate) filter: String,
    /// `None`: rows of a file in its order, other entities in the order of the store.
    pub(crate) order: Option<RowOrder>,
    /// Languages of the labels, best first.
    pub(crate) languages: Vec<String>,
}

/// Order of the rows of a table by a column: numbers and dates by value, before texts without regard to case and accents.
/// Of several values in a cell, the smallest one counts, in descending order the largest one. Rows without a value are last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RowOrder {
    /// Name of the column.
    pub(crate) column: String,
    /// `None`: the labels of the entities.
    property: Option<NamedNode>,
    language: String,
    pub(crate) is_descending: bool,
}

/// Reason why the rows of a table are not sorted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OrderError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No column has the name.
    #[error("sort: the table has no column {name:?}; columns: {columns}")]
    UnknownColumn { name: String, columns: String },
    /// The table is too large.
    #[error(
        "sort: the table has more than {} rows, which are not sorted; omit the parameter",
        MAX_SELECTED_ENTITIES
    )]
    TooManyRows,
}

impl RowOrder {
    /// Finds the order for the parameter `sort`: the name of a column, after `-` for descending order. `None` if it is empty.
    pub(crate) fn find(
        table: &ClassTable<'_>,
        columns: &[Column],
        sort: &str,
    ) -> Result<Option<Self>, OrderError> {
        if sort.is_empty() {
            return Ok(None);
        }
        if table.count(MAX_SELECTED_ENTITIES + 1)? > MAX_SELECTED_ENTITIES {
            return Err(OrderError::TooManyRows);
        }
        let (name, is_descending) = match sort.strip_prefix('-') {
            Some(name) => (name, true),
            None => (sort, false),
        };
        let (property, language) = if name == ENTITY_COLUMN {
            (table.has_file.then_some(csvw::ROWNUM), "")
        } else if let Some(column) = columns.iter().find(|column| column.name == name) {
            (Some(column.property.as_str()), column.language.as_str())
        } else {
            return Err(unknown_column(name, columns));
        };
        Ok(Some(Self {
            column: name.to_owned(),
            property: property.map(NamedNode::new_unchecked),
            language: language.to_owned(),
            is_descending,
        }))
    }

    /// Returns true if the rows are sorted by values of a property.
    pub(crate) fn is_by(&self, property: &str) -> bool {
        self.property
            .as_ref()
            .is_some_and(|own| own.as_str() == property)
    }

    /// Returns the value of the parameter `sort`.
    pub(crate) fn parameter(&self) -> String {
        if self.is_descending {
            format!("-{}", self.column)
        } else {
            self.column.clone()
        }
    }
}

fn unknown_column(name: &str, columns: &[Column]) -> OrderError {
    let mut names = vec![ENTITY_COLUMN];
    names.extend(columns.iter().map(|column| column.name.as_str()));
    names.truncate(MAX_LISTED_COLUMNS);
    OrderError::UnknownColumn {
        name: name.to_owned(),
        columns: names.join(", "),
    }
}

/// Reader of the selected rows of a table.
pub(super) struct RowReader<'t> {
    table: &'t ClassTable<'t>,
    selection: &'t Selection,
    /// The filter in lower case.
    filter: String,
    /// Labels of values, which rows share.
    labels: FxHashMap<NamedOrBlankNode, Option<String>>,
}

impl<'t> RowReader<'t> {
    pub(super) fn new(table: &'t ClassTable<'t>, selection: &'t Selection) -> Self {
        Self {
            table,
            selection,
            filter: selection.filter.to_lowercase(),
            labels: FxHashMap::default(),
        }
    }

    /// Returns all entities in the order of the rows.
    pub(super) fn entities(&mut self) -> Result<Entities<'t>, StoreError> {
        let (table, selection) = (self.table, self.selection);
        let Some(order) = &selection.order else {
            return table.entities();
        };
        let mut keyed = Vec::new();
        for entity in table.entities()? {
            let entity = entity?;
            keyed.push((self.sort_key(order, &entity)?, entity));
        }
        keyed.sort_by(|(one, _), (other, _)| {
            compare_keys(one.as_deref(), other.as_deref(), order.is_descending)
        });
        Ok(Box::new(keyed.into_iter().map(|(_, entity)| Ok(entity))))
    }

    /// Returns true if an entity passes the filter.
    pub(super) fn passes(&mut self, entity: &NamedOrBlankNode) -> Result<bool, StoreError> {
        if self.filter.is_empty() {
            return Ok(true);
        }
        let resources = &self.table.resources;
        let found = resources.triples(entity, Position::Subject, 0, MAX_ROW_TRIPLES)?;
        let mut has_label = false;
        for triple in &found.triples {
            has_label |= LABEL_PROPERTIES.contains(&triple.predicate.as_str());
            let text = self.value_text(&triple.object)?;
            if self.has_filter(text.as_deref()) {
                return Ok(true);
            }
        }
        if has_label {
            return Ok(false);
        }
        let label = resource_label(resources, entity, &self.selection.languages)?;
        Ok(self.has_filter(label.as_deref()))
    }

    fn has_filter(&self, text: Option<&str>) -> bool {
        text.is_some_and(|text| text.to_lowercase().contains(&self.filter))
    }

    /// Returns the text by which an entity is sorted. `None` if it has no value.
    fn sort_key(
        &mut self,
        order: &RowOrder,
        entity: &NamedOrBlankNode,
    ) -> Result<Option<String>, StoreError> {
        let resources = &self.table.resources;
        let Some(property) = &order.property else {
            let label = resource_label(resources, entity, &self.selection.languages)?;
            return Ok(label.and_then(|label| text_key(&label)));
        };
        let mut values = resources.values(entity, property.as_ref(), MAX_ENTITY_TRIPLES)?;
        // As on the page: a row without a value in the language shows those in others.
        if values
            .iter()
            .any(|value| term_language(value) == order.language)
        {
            values.retain(|value| term_language(value) == order.language);
        }
        let mut keys = Vec::new();
        for value in &values {
            keys.extend(self.value_key(value)?);
        }
        Ok(if order.is_descending {
            keys.into_iter().max()
        } else {
            keys.into_iter().min()
        })
    }

    fn value_key(&mut self, value: &Term) -> Result<Option<String>, StoreError> {
        if let Term::Literal(literal) = value
            && let Some(key) = value_sort_key(literal)
        {
            return Ok(Some(key));
        }
        let text = self.value_text(value)?;
        Ok(text.and_then(|text| text_key(&text)))
    }

    /// Returns a value as the page shows it: of a resource its label. `None` for a blank node without one.
    fn value_text(&mut self, value: &Term) -> Result<Option<String>, StoreError> {
        match value {
            Term::NamedNode(node) => self.label(node.clone().into()),
            Term::BlankNode(node) => self.label(node.clone().into()),
            Term::Literal(literal) => Ok(Some(literal.value().to_owned())),
            Term::Triple(_) => Ok(Some(value.to_string())),
        }
    }

    fn label(&mut self, node: NamedOrBlankNode) -> Result<Option<String>, StoreError> {
        if let Some(label) = self.labels.get(&node) {
            return Ok(label.clone());
        }
        let label = resource_label(&self.table.resources, &node, &self.selection.languages)?;
        if self.labels.len() == MAX_LABELS {
            self.labels.clear();
        }
        self.labels.insert(node, label.clone());
        Ok(label)
    }
}

/// Returns the text by which a text is sorted: its beginning without regard to case and accents. `None` if it is blank. Keys of
/// numbers and dates are smaller.
fn text_key(text: &str) -> Option<String> {
    let beginning: String = text.trim().chars().take(MAX_KEY_CHARACTERS).collect();
    let key = fold_text(&beginning);
    (!key.is_empty()).then_some(key)
}

/// Compares the keys of two rows. Those without a key are last in both directions.
fn compare_keys(one: Option<&str>, other: Option<&str>, is_descending: bool) -> Ordering {
    match (one, other) {
        (Some(one), Some(other)) if is_descending => other.cmp(one),
        (Some(one), Some(other)) => one.cmp(other),
        (one, other) => other.is_some().cmp(&one.is_some()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxrdf::Literal;

    /// Returns values in the order of their keys.
    fn sort_texts(mut texts: Vec<&str>, is_descending: bool) -> Vec<&str> {
        texts.sort_by(|one, other| {
            let (one, other) = (text_key(one), text_key(other));
            compare_keys(one.as_deref(), other.as_deref(), is_descending)
        });
        texts
    }

    #[test]
    fn texts_are_sorted_without_case_and_accents_and_blank_ones_last() {
        let texts = vec!["Zebra", " ", "ape", "Ärzte", "", "bee"];
        assert_eq!(
            sort_texts(texts.clone(), false),
            ["ape", "Ärzte", "bee", "Zebra", " ", ""]
        );
        assert_eq!(
            sort_texts(texts, true),
            ["Zebra", "bee", "Ärzte", "ape", " ", ""]
        );
    }

    #[test]
    fn numbers_precede_texts() {
        let number = value_sort_key(&Literal::from(1000));
        assert!(number.is_some() && number < text_key("0"), "{number:?}");
    }

    #[test]
    fn the_parameter_has_the_direction() {
        let mut order = RowOrder {
            column: "height".to_owned(),
            property: None,
            language: String::new(),
            is_descending: false,
        };
        assert_eq!(order.parameter(), "height");
        order.is_descending = true;
        assert_eq!(order.parameter(), "-height");
    }
}
