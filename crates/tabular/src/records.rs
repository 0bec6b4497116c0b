//! Mapping of nested values: an object is an entity, a key a property.
//!
//! The IRI of an object is that of the document with a JSON Pointer (RFC 6901) as its fragment: `#/trees/0`.

use crate::geometry::{Wkt, foreign_system, is_geometry, to_wkt};
use crate::iri::{encode_fragment, without_fragment};
use crate::limits::{MAX_CELL_BYTES, MAX_COLUMNS, MAX_HEADER_BYTES, MAX_LISTS, cut};
use crate::output::Output;
use crate::table::{file_stem, header_label};
use crate::value::Value;
use crate::values::{CellKind, NumberFormat, cell_kind};
use lodeseek_rdf::dump::TableFacts;
use lodeseek_rdf::vocab::{csvw, geosparql, prov, rdf, rdfs, schema, void};
use lodeseek_rdf::words;
use oxrdf::NamedNodeRef;
use oxrdf::vocab::xsd;
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum size in bytes of a value that becomes the label of a record without a member for it.
const MAX_LABEL_BYTES: usize = 200;
/// Minimum number of similar objects for which the keys of an object are values, not names.
const MIN_KEYED_OBJECTS: usize = 4;

/// Writer of the triples of a document's values.
pub(crate) struct RecordWriter<'w, 'a> {
    output: &'w mut Output<'a>,
    /// Address of the document.
    base: String,
    format: &'static str,
    encoding: Option<&'static str>,
    /// Properties by their keys.
    properties: FxHashMap<String, String>,
    /// Lists of records, by their names, with the numbers of rows and columns.
    lists: Vec<RecordList>,
    classes: FxHashSet<String>,
    cut_texts: u64,
    boxes: u64,
    damaged_geometries: u64,
    left_out: u64,
    other_keys: u64,
    has_geometries: bool,
    /// If true, the document itself has values.
    has_members: bool,
    /// Reference system of all geometries that is not WGS 84.
    other_system: Option<String>,
    /// Numbers of geometries that were left out, by their reference systems.
    other_systems: Vec<(String, u64)>,
    /// Reference system that was declared after the geometries.
    late_system: Option<String>,
}

struct RecordList {
    name: Option<String>,
    rows: u64,
    keys: FxHashSet<String>,
}

impl<'w, 'a> RecordWriter<'w, 'a> {
    pub(crate) fn new(
        output: &'w mut Output<'a>,
        base: &str,
        file: &str,
        format: &'static str,
        encoding: Option<&'static str>,
    ) -> Self {
        let base = without_fragment(base).to_owned();
        output.iri(&base, rdf::TYPE, csvw::TABLE);
        output.text(&base, rdfs::LABEL, &words(file_stem(file)));
        Self {
            output,
            base,
            format,
            encoding,
            properties: FxHashMap::default(),
            lists: Vec::new(),
            classes: FxHashSet::default(),
            cut_texts: 0,
            boxes: 0,
            damaged_geometries: 0,
            left_out: 0,
            other_keys: 0,
            has_geometries: false,
            has_members: false,
            other_system: None,
            other_systems: Vec::new(),
            late_system: None,
        }
    }

    /// Sets the reference system of the document's geometries, a `crs` of GeoJSON. Those in others than WGS 84 are left out.
    pub(crate) fn set_reference_system(&mut self, crs: &Value) {
        let Some(system) = foreign_system(crs) else {
            return;
        };
        if self.has_geometries {
            self.late_system = Some(system.clone());
        }
        self.other_system = Some(system);
    }

    /// Adds a list of records that may be empty.
    pub(crate) fn begin_list(&mut self, list: Option<&str>) {
        if list.is_none() || list == Some("features") {
            self.list_place(list);
        }
    }

    /// Returns the node of the document.
    fn root(&self) -> String {
        self.base.clone()
    }

    /// Adds a record of a list. `list` is the key of the list, or `None` if the document is one.
    pub(crate) fn record(&mut self, list: Option<&str>, index: usize, value: &Value, label: &str) {
        let pointer = match list {
            Some(list) => format!("/{}/{index}", encode_fragment(list)),
            None => format!("/{index}"),
        };
        // Before the limit, so that the report has the number of all records.
        if value.is_nested() {
            self.count_record(list, value);
        }
        if !self.spend(value) {
            return;
        }
        let subject = format!("{}#{pointer}", self.base);
        if !value.is_nested() {
            // A list of texts: values of the document.
            let property = self.property(list.unwrap_or("item"));
            let root = self.root();
            self.scalar(&root, &property, value);
            self.has_members = true;
            return;
        }
        let class = self.class(list, label);
        self.output.iri(&subject, rdf::TYPE, &class);
        self.output
            .integer(&subject, csvw::ROWNUM, index as u64 + 1);
        if let Some(list) = list {
            let property = self.property(list);
            let root = self.root();
            self.output.iri(&root, &property, &subject);
        }
        self.entity(&subject, &pointer, None, value, 0);
    }

    /// Adds members of the document itself. Their keys are values if the members are similar objects.
    pub(crate) fn members(&mut self, members: &[(String, Value)], label: &str) {
        let root = self.root();
        let kind = members.iter().find(|(key, _)| key == "type");
        let kind = kind.and_then(|(_, kind)| kind.as_text());
        self.has_members |= !members.is_empty() && kind != Some("FeatureCollection");
        let may_be_geometry = members
            .iter()
            .any(|(key, _)| key == "coordinates" || key == "geometries");
        if may_be_geometry {
            let document = Value::Object(members.to_vec());
            if is_geometry(&document) {
                if self.spend(&document) {
                    self.geometry(&root, "/geometry", &document);
                }
                return;
            }
        }
        let mut row = 0;
        let keyed = is_keyed(members);
        for (key, value) in members {
            if !self.spend(value) {
                continue;
            }
            let pointer = format!("/{}", encode_fragment(key));
            if keyed && value.is_nested() {
                self.count_record(None, value);
                let subject = format!("{root}#{pointer}");
                let class = self.class(None, label);
                row += 1;
                self.output.iri(&subject, rdf::TYPE, &class);
                self.output.integer(&subject, csvw::ROWNUM, row);
                self.entity(&subject, &pointer, Some(key), value, 0);
            } else {
                self.member(&root, "", key, value, 0);
            }
        }
    }

    /// Adds the content of an object or list.
    fn entity(
        &mut self,
        subject: &str,
        pointer: &str,
        key: Option<&str>,
        value: &Value,
        depth: usize,
    ) {
        let members = match value {
            Value::Object(members) => members.as_slice(),
            Value::List(elements) => {
                if let Some(key) = key {
                    self.output.text(subject, rdfs::LABEL, key);
                }
                let property = self.property("item");
                self.list(subject, pointer, &property, "item", elements, depth);
                return;
            }
            scalar => {
                let property = self.property("value");
                self.scalar(subject, &property, scalar);
                return;
            }
        };
        // The members of a GeoJSON feature that describe it are in `properties`.
        let is_feature = value.get("type").and_then(Value::as_text) == Some("Feature")
            && value.get("geometry").is_some();
        let described = if is_feature {
            value.get("properties").unwrap_or(value)
        } else {
            value
        };
        if let Some(label) = label_of(described) {
            self.output
                .text(subject, rdfs::LABEL, cut(label, MAX_HEADER_BYTES));
            if let Some(key) = key {
                let property = self.property("key");
                self.output.text(subject, &property, key);
            }
        } else if let Some(key) = key {
            self.output.text(subject, rdfs::LABEL, key);
        }
        if is_geometry(value) {
            self.geometry(subject, pointer, value);
            return;
        }
        let own_system = value.get("crs").filter(|_| is_feature);
        let own_system = own_system.and_then(foreign_system);
        for (name, member) in members {
            match (is_feature, name.as_str()) {
                (true, "type" | "bbox") => (),
                (true, "geometry") if own_system.is_some() && is_geometry(member) => {
                    self.leave_out_geometry(own_system.clone().unwrap_or_default());
                }
                (true, "properties") => {
                    for (name, member) in member.as_object().unwrap_or_default() {
                        self.member(subject, pointer, name, member, depth);
                    }
                }
                _ => self.member(subject, pointer, name, member, depth),
            }
        }
    }

    /// Adds a member of an object.
    fn member(&mut self, subject: &str, pointer: &str, key: &str, value: &Value, depth: usize) {
        if is_geometry(value) {
            self.geometry(
                subject,
                &format!("{pointer}/{}", encode_fragment(key)),
                value,
            );
            return;
        }
        let property = self.property(key);
        let pointer = format!("{pointer}/{}", encode_fragment(key));
        match value {
            Value::List(elements) => {
                self.list(subject, &pointer, &property, key, elements, depth + 1);
            }
            Value::Object(members) if is_keyed(members) => {
                let class = self.class(Some(key), key);
                for (name, member) in members {
                    self.count_record(Some(key), member);
                    let inner = format!("{pointer}/{}", encode_fragment(name));
                    let object = format!("{}#{inner}", self.base);
                    self.output.iri(subject, &property, &object);
                    self.output.iri(&object, rdf::TYPE, &class);
                    self.entity(&object, &inner, Some(name), member, depth + 1);
                }
            }
            Value::Object(members) if members.is_empty() => (),
            Value::Object(_) => {
                let object = format!("{}#{pointer}", self.base);
                self.output.iri(subject, &property, &object);
                self.entity(&object, &pointer, None, value, depth + 1);
            }
            scalar => self.scalar(subject, &property, scalar),
        }
    }

    fn list(
        &mut self,
        subject: &str,
        pointer: &str,
        property: &str,
        key: &str,
        elements: &[Value],
        depth: usize,
    ) {
        for (index, element) in elements.iter().enumerate() {
            match element {
                Value::Object(_) => {
                    let pointer = format!("{pointer}/{index}");
                    let object = format!("{}#{pointer}", self.base);
                    if depth <= 1 {
                        let class = self.class(Some(key), key);
                        self.output.iri(&object, rdf::TYPE, &class);
                    }
                    self.output.iri(subject, property, &object);
                    self.entity(&object, &pointer, None, element, depth + 1);
                }
                Value::List(inner) => self.inner_list(subject, property, inner),
                scalar => self.scalar(subject, property, scalar),
            }
        }
    }

    /// Adds a list within a list as one text: its values belong together. Matrices of numbers are left out.
    fn inner_list(&mut self, subject: &str, property: &str, elements: &[Value]) {
        let mut text = String::new();
        for element in elements {
            let Some(part) = element.scalar_text() else {
                self.left_out += 1;
                continue;
            };
            if !text.is_empty() {
                text.push_str(", ");
            }
            text.push_str(part);
            if text.len() > MAX_CELL_BYTES {
                break;
            }
        }
        self.text(subject, property, &text);
    }

    fn scalar(&mut self, subject: &str, property: &str, value: &Value) {
        match value {
            Value::Null | Value::List(_) | Value::Object(_) => (),
            Value::Boolean(_) => {
                let text = value.scalar_text().unwrap_or_default();
                self.output
                    .typed_literal(subject, property, text, xsd::BOOLEAN);
            }
            Value::Number(digits) => {
                self.output
                    .typed_literal(subject, property, digits, number_type(digits));
            }
            Value::Text(text) => {
                let text = text.trim();
                if cell_kind(text, NumberFormat::default()) == CellKind::Iri {
                    self.output.iri(subject, property, text);
                } else {
                    self.text(subject, property, text);
                }
            }
        }
    }

    fn text(&mut self, subject: &str, property: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        let kept = cut(text, MAX_CELL_BYTES);
        self.cut_texts += u64::from(kept.len() < text.len());
        self.output.text(subject, property, kept);
    }

    /// Counts a geometry in a reference system that is not WGS 84.
    fn leave_out_geometry(&mut self, system: String) {
        let systems = &self.other_systems;
        let place = systems.iter().position(|(found, _)| *found == system);
        match place {
            Some(place) => self.other_systems[place].1 += 1,
            None if systems.len() >= MAX_LISTS => self.left_out += 1,
            None => self.other_systems.push((system, 1)),
        }
    }

    fn geometry(&mut self, subject: &str, pointer: &str, value: &Value) {
        let own_system = value.get("crs").and_then(foreign_system);
        if let Some(system) = own_system.or_else(|| self.other_system.clone()) {
            self.leave_out_geometry(system);
            return;
        }
        let Some(wkt) = to_wkt(value) else {
            self.damaged_geometries += 1;
            return;
        };
        self.has_geometries = true;
        let node = format!("{}#{pointer}", self.base);
        let (property, text) = match &wkt {
            Wkt::Whole(text) => (geosparql::HAS_GEOMETRY, text),
            Wkt::Box(text) => {
                self.boxes += 1;
                (geosparql::HAS_BOUNDING_BOX, text)
            }
        };
        // A geometry that is an element of a list is the subject itself.
        let node = if node == subject {
            format!("{node}/geometry")
        } else {
            node
        };
        self.output.iri(subject, property, &node);
        self.output.typed_literal(
            &node,
            geosparql::AS_WKT,
            text,
            NamedNodeRef::new_unchecked(geosparql::WKT_LITERAL),
        );
    }

    /// Returns the property of a key, and adds its label at its first use.
    fn property(&mut self, key: &str) -> String {
        if let Some(property) = self.properties.get(key) {
            return property.clone();
        }
        // Keys that are values, such as ids, would make a property each.
        if self.properties.len() >= MAX_COLUMNS {
            self.other_keys += 1;
            return format!("{}#other", self.base);
        }
        let name = cut(key.trim(), MAX_HEADER_BYTES);
        let property = if cell_kind(name, NumberFormat::default()) == CellKind::Iri {
            name.to_owned()
        } else if name.is_empty() {
            format!("{}#_", self.base)
        } else {
            format!("{}#{}", self.base, encode_fragment(name))
        };
        let label = header_label(name, &property);
        self.output.text(&property, rdfs::LABEL, &label);
        let position = self.properties.len() as u64 + 1;
        self.output.integer(&property, schema::POSITION, position);
        if label != name && !name.is_empty() {
            self.output.text(&property, csvw::TITLE, name);
        }
        self.properties.insert(key.to_owned(), property.clone());
        property
    }

    /// Returns the class of the records of a list, and adds its label at its first use.
    fn class(&mut self, list: Option<&str>, label: &str) -> String {
        let class = match list {
            Some(list) => format!("{}#{}/Item", self.base, encode_fragment(list)),
            None => format!("{}#Item", self.base),
        };
        if self.classes.len() < MAX_COLUMNS && self.classes.insert(class.clone()) {
            self.output.text(&class, rdfs::LABEL, &words(label));
            self.output.iri(&class, prov::WAS_DERIVED_FROM, &self.base);
        }
        class
    }

    /// Returns the place of a list among those that are counted, and adds it. `None` if there are too many.
    fn list_place(&mut self, list: Option<&str>) -> Option<usize> {
        let place = self
            .lists
            .iter()
            .position(|found| found.name.as_deref() == list);
        if place.is_some() || self.lists.len() >= MAX_LISTS {
            return place;
        }
        self.lists.push(RecordList {
            name: list.map(str::to_owned),
            rows: 0,
            keys: FxHashSet::default(),
        });
        Some(self.lists.len() - 1)
    }

    fn count_record(&mut self, list: Option<&str>, value: &Value) {
        let Some(place) = self.list_place(list) else {
            return;
        };
        let found = &mut self.lists[place];
        found.rows += 1;
        let described = value.get("properties").unwrap_or(value);
        for (key, _) in described.as_object().unwrap_or_default() {
            if found.keys.len() < MAX_COLUMNS && !found.keys.contains(key) {
                found.keys.insert(key.clone());
            }
        }
    }

    /// Takes the values of a record from the number of those that may become triples. Returns false if none are left.
    fn spend(&mut self, value: &Value) -> bool {
        let count = count_values(value);
        if self.output.cells_left < count {
            self.left_out += 1;
            return false;
        }
        self.output.cells_left -= count;
        true
    }

    /// Reports problems and facts.
    pub(crate) fn finish(self) {
        let mut problems = Vec::new();
        if self.cut_texts > 0 {
            problems.push(format!(
                "texts cut after {MAX_CELL_BYTES} bytes: {}",
                self.cut_texts
            ));
        }
        if self.boxes > 0 {
            problems.push(format!(
                "long geometries that were replaced by their bounding boxes: {}",
                self.boxes
            ));
        }
        if self.damaged_geometries > 0 {
            problems.push(format!(
                "damaged geometries, which were left out: {}",
                self.damaged_geometries
            ));
        }
        if self.left_out > 0 {
            problems.push(format!(
                "values that are not in the graph, because the document is too large or they are matrices: {}",
                self.left_out
            ));
        }
        if self.other_keys > 0 {
            problems.push(format!(
                "the document has more than {MAX_COLUMNS} different keys; {} values have the property `other`",
                self.other_keys
            ));
        }
        for (system, count) in &self.other_systems {
            self.output.skip(*count);
            problems.push(format!(
                "geometries that are left out, because their reference system is {system}, not WGS 84: {count}"
            ));
        }
        if let Some(system) = &self.late_system {
            problems.push(format!(
                "the reference system {system} is declared behind geometries, which are in the graph as those of WGS 84"
            ));
        }
        for problem in problems {
            self.output.problem(None, problem);
        }
        let is_geojson = self.has_geometries || !self.other_systems.is_empty();
        let format = if is_geojson && self.format == "JSON" {
            "GeoJSON"
        } else {
            self.format
        };
        let mut lists = self.lists;
        // A list of texts has no records; they are values of the document.
        let has_records = lists.iter().any(|list| list.rows > 0);
        if lists.is_empty() || !has_records && self.has_members {
            lists.clear();
            lists.push(RecordList {
                name: None,
                rows: u64::from(self.has_members),
                keys: FxHashSet::default(),
            });
        }
        let rows = lists.iter().map(|list| list.rows).sum();
        let columns = self.properties.len() as u64;
        self.output.integer(&self.base, void::ENTITIES, rows);
        self.output.integer(&self.base, void::PROPERTIES, columns);
        for list in lists {
            self.output.facts(TableFacts {
                format: format.into(),
                name: list.name,
                rows: list.rows,
                records: list.rows,
                columns: list.keys.len(),
                encoding: self.encoding.map(Into::into),
                ..TableFacts::default()
            });
        }
    }
}

fn count_values(value: &Value) -> u64 {
    match value {
        Value::List(elements) => elements.iter().map(count_values).sum::<u64>() + 1,
        Value::Object(members) => members
            .iter()
            .map(|(_, member)| count_values(member))
            .sum::<u64>()
            .saturating_add(1),
        _ => 1,
    }
}

fn number_type(digits: &str) -> NamedNodeRef<'static> {
    // `INF` and `NaN` are doubles, too.
    if digits.contains(|c: char| c.is_ascii_alphabetic()) {
        xsd::DOUBLE
    } else if digits.contains('.') {
        xsd::DECIMAL
    } else {
        xsd::INTEGER
    }
}

/// Returns true if the keys of an object are values: its members are objects that have half of their keys in common.
fn is_keyed(members: &[(String, Value)]) -> bool {
    if members.len() < MIN_KEYED_OBJECTS {
        return false;
    }
    let objects: Vec<&[(String, Value)]> = members
        .iter()
        .filter_map(|(_, value)| value.as_object())
        .collect();
    if objects.len() < members.len() {
        return false;
    }
    let first: FxHashSet<&str> = objects[0].iter().map(|(key, _)| key.as_str()).collect();
    objects.iter().all(|object| {
        let common = object
            .iter()
            .filter(|(key, _)| first.contains(key.as_str()))
            .count();
        2 * common >= object.len().max(first.len())
    })
}

/// Keys of names, in the order of preference.
const LABEL_KEYS: [&str; 6] = [
    "name",
    "title",
    "label",
    "preferredname",
    "full_name",
    "word",
];

/// Returns the name of an object: the text of a usual key, else its first short text in words.
fn label_of(value: &Value) -> Option<&str> {
    let members = value.as_object()?;
    for key in LABEL_KEYS {
        let found = members
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(key))
            .and_then(|(_, value)| value.as_text())
            .map(str::trim)
            .filter(|text| !text.is_empty());
        if found.is_some() {
            return found;
        }
    }
    members
        .iter()
        .filter(|(key, _)| key != "type")
        .filter_map(|(_, value)| value.as_text().map(str::trim))
        .find(|text| {
            text.len() <= MAX_LABEL_BYTES
                && cell_kind(text, NumberFormat::default()) == CellKind::Text
                && text.chars().any(char::is_alphabetic)
        })
}
