//! Metadata documents: <https://www.w3.org/TR/tabular-metadata/>.
//!
//! A value that a property does not permit is ignored with a warning. What the specification calls an error ends the processing.

use super::context::{expand_prefixed_name, expand_property, expand_type};
use super::datatype::{
    Bound, Datatype, DateFormat, Family, Format, NumberFormat, NumberPattern, builtin_iri, family,
    is_builtin_iri, whole_pattern,
};
use super::template::Template;
use super::{CsvwError, Resolver};
use lodeseek_rdf::percent_encode;
use oxiri::Iri;
use serde_json::{Map, Value};
use std::cmp::Ordering;

/// Maximum nesting of objects in notes and common properties.
const MAX_ANNOTATION_NESTING: usize = 32;

/// Group of tables.
#[derive(Clone, Debug, Default)]
pub(super) struct TableGroup {
    pub(super) id: Option<String>,
    pub(super) tables: Vec<Table>,
    pub(super) annotations: Vec<(String, Annotation)>,
    pub(super) notes: Vec<Annotation>,
}

/// Table.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) id: Option<String>,
    pub(super) url: String,
    pub(super) is_suppressed: bool,
    pub(super) annotations: Vec<(String, Annotation)>,
    pub(super) notes: Vec<Annotation>,
    pub(super) dialect: Dialect,
    /// Columns; `None` if the header of the file names them.
    pub(super) columns: Option<Vec<Column>>,
    /// Properties that columns of the header inherit.
    pub(super) inherited: Inherited,
    pub(super) row_titles: Vec<String>,
    pub(super) foreign_keys: Vec<ForeignKey>,
    pub(super) schema_id: Option<String>,
    /// Language of titles.
    pub(super) language: Option<String>,
}

/// Column.
#[derive(Clone, Debug, Default)]
pub(super) struct Column {
    pub(super) name: Option<String>,
    /// Titles with their languages; `und` if unknown.
    pub(super) titles: Vec<(String, String)>,
    pub(super) is_virtual: bool,
    pub(super) is_suppressed: bool,
    pub(super) inherited: Inherited,
    /// Description: `dc:description` or `rdfs:comment`.
    pub(super) description: Option<String>,
}

/// Properties that parts of a description inherit from the whole.
#[derive(Clone, Debug, Default)]
pub(super) struct Inherited {
    pub(super) about_url: Option<Template>,
    pub(super) property_url: Option<Template>,
    pub(super) value_url: Option<Template>,
    pub(super) datatype: Option<Datatype>,
    pub(super) default: Option<String>,
    pub(super) language: Option<String>,
    /// Marks of missing values. `None` stands for the empty text.
    pub(super) null: Option<Vec<String>>,
    pub(super) is_ordered: Option<bool>,
    pub(super) separator: Option<String>,
    pub(super) is_required: Option<bool>,
}

/// Reference from columns to those of another table.
#[derive(Clone, Debug)]
pub(super) struct ForeignKey {
    columns: Vec<String>,
    resource: Option<String>,
    schema: Option<String>,
    referenced: Vec<String>,
}

/// Dialect of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Dialect {
    pub(super) comment_prefix: Option<char>,
    pub(super) delimiter: u8,
    pub(super) has_double_quote: bool,
    pub(super) encoding: Option<String>,
    pub(super) header_rows: usize,
    pub(super) quote: Option<u8>,
    pub(super) skips_blank_rows: bool,
    pub(super) skip_columns: usize,
    pub(super) skips_initial_space: bool,
    pub(super) skip_rows: usize,
    pub(super) trims_start: bool,
    pub(super) trims_end: bool,
}

impl Default for Dialect {
    fn default() -> Self {
        Self {
            comment_prefix: None,
            delimiter: b',',
            has_double_quote: true,
            encoding: None,
            header_rows: 1,
            quote: Some(b'"'),
            skips_blank_rows: false,
            skip_columns: 0,
            skips_initial_space: false,
            skip_rows: 0,
            trims_start: false,
            trims_end: false,
        }
    }
}

/// Value of a note or a common property.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Annotation {
    Iri(String),
    Literal {
        text: String,
        datatype: Option<String>,
        language: Option<String>,
    },
    Node {
        id: Option<String>,
        types: Vec<String>,
        properties: Vec<(String, Vec<Annotation>)>,
    },
    List(Vec<Annotation>),
}

/// Ends of the properties of a description: `dc:description`, `rdfs:comment`.
pub(super) const DESCRIPTIONS: &[&str] = &["/description", "#comment"];

/// Returns the text of the first annotation whose property ends with one of these names.
pub(super) fn annotation_text(
    annotations: &[(String, Annotation)],
    names: &[&str],
) -> Option<String> {
    for name in names {
        for (property, value) in annotations {
            if let Annotation::Literal { text, .. } = value
                && property.ends_with(name)
            {
                return Some(text.clone());
            }
        }
    }
    None
}

/// Reader of one metadata document.
pub(super) struct MetadataReader<'r> {
    base: String,
    language: Option<String>,
    warnings: &'r mut Vec<String>,
    resolver: &'r dyn Resolver,
}

type Object = Map<String, Value>;
/// Properties of other vocabularies, with their values.
type CommonProperties = Vec<(String, Annotation)>;

/// Kind of a description, which decides on its properties.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    TableGroup,
    Table,
    Schema,
    Column,
}

const INHERITED: &[&str] = &[
    "aboutUrl",
    "datatype",
    "default",
    "lang",
    "null",
    "ordered",
    "propertyUrl",
    "required",
    "separator",
    "textDirection",
    "valueUrl",
];

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::TableGroup => "TableGroup",
            Self::Table => "Table",
            Self::Schema => "Schema",
            Self::Column => "Column",
        }
    }

    fn properties(self) -> &'static [&'static str] {
        match self {
            Self::TableGroup => &[
                "@context",
                "@id",
                "@type",
                "dialect",
                "notes",
                "tableDirection",
                "tableSchema",
                "tables",
                "transformations",
            ],
            Self::Table => &[
                "@context",
                "@id",
                "@type",
                "dialect",
                "notes",
                "suppressOutput",
                "tableDirection",
                "tableSchema",
                "transformations",
                "url",
            ],
            Self::Schema => &[
                "@context",
                "@id",
                "@type",
                "columns",
                "foreignKeys",
                "primaryKey",
                "rowTitles",
            ],
            Self::Column => &[
                "@id",
                "@type",
                "name",
                "suppressOutput",
                "titles",
                "virtual",
            ],
        }
    }
}

impl<'r> MetadataReader<'r> {
    /// Parses a document at an address.
    pub(super) fn read(
        text: &str,
        address: &str,
        resolver: &'r dyn Resolver,
        warnings: &'r mut Vec<String>,
    ) -> Result<TableGroup, CsvwError> {
        let document: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
            .map_err(|error| CsvwError::new(format!("{address} is not JSON: {error}")))?;
        let Value::Object(document) = document else {
            return Err(CsvwError::new(format!("{address} is no JSON object")));
        };
        let mut reader = Self {
            base: address.to_owned(),
            language: None,
            warnings,
            resolver,
        };
        reader.read_context(&document)?;
        let is_group = document.contains_key("tables")
            || document.get("@type").and_then(Value::as_str) == Some("TableGroup");
        let group = if is_group {
            reader.table_group(&document)?
        } else if document.contains_key("url")
            || document.get("@type").and_then(Value::as_str) == Some("Table")
            || document.contains_key("tableSchema")
        {
            let table = reader.table(&document, &Inherited::default(), None, None)?;
            TableGroup {
                tables: vec![table],
                ..TableGroup::default()
            }
        } else {
            return Err(CsvwError::new(format!(
                "{address} describes neither a table nor a group of tables"
            )));
        };
        check_foreign_keys(&group)?;
        Ok(group)
    }

    fn warn(&mut self, message: impl Into<String>) {
        self.warnings.push(message.into());
    }

    fn read_context(&mut self, document: &Object) -> Result<(), CsvwError> {
        const CONTEXT: &str = "http://www.w3.org/ns/csvw";
        let elements = match document.get("@context") {
            Some(Value::String(context)) if context == CONTEXT => return Ok(()),
            Some(Value::Array(elements)) => elements,
            None => {
                self.warn("the document has no @context");
                return Ok(());
            }
            Some(_) => return Err(CsvwError::new("the @context is not that of CSV on the Web")),
        };
        if elements.first().and_then(Value::as_str) != Some(CONTEXT) || elements.len() > 2 {
            return Err(CsvwError::new("the @context is not that of CSV on the Web"));
        }
        let Some(local) = elements.get(1) else {
            return Ok(());
        };
        let Value::Object(local) = local else {
            return Err(CsvwError::new("the second part of @context is no object"));
        };
        for (key, value) in local {
            match (key.as_str(), value) {
                ("@base", Value::String(base)) => {
                    self.base = self.resolve(base);
                }
                ("@language", Value::String(language)) if is_language(language) => {
                    self.language = Some(language.clone());
                }
                ("@language", _) => self.warn("@language is no language tag"),
                _ => {
                    return Err(CsvwError::new(format!(
                        "@context has the property {key}, which is not permitted"
                    )));
                }
            }
        }
        Ok(())
    }

    fn resolve(&self, reference: &str) -> String {
        resolve(&self.base, reference)
    }

    fn table_group(&mut self, object: &Object) -> Result<TableGroup, CsvwError> {
        let (annotations, notes) = self.check_properties(object, Kind::TableGroup)?;
        let id = self.id(object, Kind::TableGroup)?;
        let inherited = self.read_inherited_properties(object, &Inherited::default())?;
        let schema = object.get("tableSchema");
        let dialect = object.get("dialect");
        let dialect = match dialect {
            Some(dialect) => self.dialect(dialect)?,
            None => None,
        };
        self.check_direction(object);
        self.check_transformations(object)?;
        let Some(tables) = object.get("tables") else {
            return Err(CsvwError::new("the group of tables has no `tables`"));
        };
        let Value::Array(tables) = tables else {
            return Err(CsvwError::new("`tables` is no list"));
        };
        let mut read = Vec::new();
        for table in tables {
            match table {
                Value::Object(table) => {
                    read.push(self.table(table, &inherited, schema, dialect.as_ref())?);
                }
                _ => self.warn("an element of `tables` is no object"),
            }
        }
        if read.is_empty() {
            return Err(CsvwError::new("`tables` has no table"));
        }
        Ok(TableGroup {
            id,
            tables: read,
            annotations,
            notes,
        })
    }

    fn table(
        &mut self,
        object: &Object,
        parent: &Inherited,
        group_schema: Option<&Value>,
        group_dialect: Option<&Dialect>,
    ) -> Result<Table, CsvwError> {
        let (annotations, notes) = self.check_properties(object, Kind::Table)?;
        let id = self.id(object, Kind::Table)?;
        let inherited = self.read_inherited_properties(object, parent)?;
        let url = match object.get("url") {
            Some(Value::String(url)) => self.resolve(url),
            Some(_) => {
                self.warn("`url` is no string");
                self.resolve("")
            }
            None => return Err(CsvwError::new("a table has no `url`")),
        };
        if object.get("url").is_some_and(|url| !url.is_string()) {
            return Err(CsvwError::new("the `url` of a table is no string"));
        }
        let own_dialect = match object.get("dialect") {
            Some(dialect) => self.dialect(dialect)?,
            None => None,
        };
        let dialect = own_dialect
            .or_else(|| group_dialect.cloned())
            .unwrap_or_default();
        self.check_direction(object);
        self.check_transformations(object)?;
        let is_suppressed = self.boolean(object, "suppressOutput").unwrap_or(false);
        let mut table = Table {
            id,
            url,
            is_suppressed,
            annotations,
            notes,
            dialect,
            columns: None,
            inherited,
            row_titles: Vec::new(),
            foreign_keys: Vec::new(),
            schema_id: None,
            language: self.language.clone(),
        };
        if let Some(schema) = object.get("tableSchema").or(group_schema) {
            self.schema(schema, &mut table)?;
        }
        Ok(table)
    }

    fn schema(&mut self, value: &Value, table: &mut Table) -> Result<(), CsvwError> {
        let fetched;
        let object = match value {
            Value::Object(object) => object,
            Value::String(reference) => {
                let address = self.resolve(reference);
                let text = self.resolver.fetch(&address).ok_or_else(|| {
                    CsvwError::new(format!("the schema {address} cannot be read"))
                })?;
                let document: Value = serde_json::from_slice(&text.bytes)
                    .map_err(|error| CsvwError::new(format!("{address} is not JSON: {error}")))?;
                let Value::Object(object) = document else {
                    return Err(CsvwError::new(format!("{address} is no JSON object")));
                };
                fetched = object;
                // References in the schema are relative to its own address.
                let outer = (self.base.clone(), self.language.clone());
                self.base.clone_from(&address);
                if fetched.contains_key("@context") {
                    self.read_context(&fetched)?;
                }
                let result = self.schema_object(&fetched, table);
                if table.schema_id.is_none() {
                    table.schema_id = Some(address);
                }
                (self.base, self.language) = outer;
                return result;
            }
            _ => {
                self.warn("`tableSchema` is neither an object nor an address");
                table.columns = Some(Vec::new());
                return Ok(());
            }
        };
        self.schema_object(object, table)
    }

    fn schema_object(&mut self, object: &Object, table: &mut Table) -> Result<(), CsvwError> {
        self.check_properties(object, Kind::Schema)?;
        table.schema_id = self.id(object, Kind::Schema)?;
        table.inherited = self.read_inherited_properties(object, &table.inherited)?;
        match object.get("columns") {
            Some(Value::Array(columns)) => {
                let mut read = Vec::new();
                for column in columns {
                    match column {
                        Value::Object(column) => {
                            read.push(self.column(column, &table.inherited)?);
                        }
                        _ => self.warn("an element of `columns` is no object"),
                    }
                }
                check_columns(&read)?;
                table.columns = Some(read);
            }
            Some(_) => {
                self.warn("`columns` is no list");
                table.columns = Some(Vec::new());
            }
            None => (),
        }
        let names: Vec<String> = table
            .columns
            .iter()
            .flatten()
            .filter_map(|column| column.name.clone())
            .collect();
        if let Some(key) = object.get("primaryKey") {
            self.column_references(key, &names, "primaryKey");
        }
        if let Some(titles) = object.get("rowTitles") {
            table.row_titles = self.column_references(titles, &names, "rowTitles");
        }
        match object.get("foreignKeys") {
            Some(Value::Array(keys)) => {
                for key in keys {
                    if let Some(key) = self.foreign_key(key, &names)? {
                        table.foreign_keys.push(key);
                    }
                }
            }
            Some(_) => self.warn("`foreignKeys` is no list"),
            None => (),
        }
        Ok(())
    }

    /// Returns the columns that a property names. If one is unknown, the property is ignored.
    fn column_references(
        &mut self,
        value: &Value,
        names: &[String],
        property: &str,
    ) -> Vec<String> {
        let references: Vec<&str> = match value {
            Value::String(name) => vec![name],
            Value::Array(elements) => elements.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        if references.is_empty()
            || references
                .iter()
                .any(|name| !names.iter().any(|known| known == name))
        {
            self.warn(format!("`{property}` names no column"));
            return Vec::new();
        }
        references.into_iter().map(str::to_owned).collect()
    }

    fn foreign_key(
        &mut self,
        value: &Value,
        names: &[String],
    ) -> Result<Option<ForeignKey>, CsvwError> {
        let Value::Object(object) = value else {
            self.warn("an element of `foreignKeys` is no object");
            return Ok(None);
        };
        for key in object.keys() {
            if !matches!(key.as_str(), "columnReference" | "reference") {
                return Err(CsvwError::new(format!(
                    "a foreign key has the property {key}"
                )));
            }
        }
        let columns = list_strings(object.get("columnReference"));
        if columns.is_empty() || columns.iter().any(|name| !names.contains(name)) {
            return Err(CsvwError::new("a foreign key refers to an unknown column"));
        }
        let Some(Value::Object(reference)) = object.get("reference") else {
            return Err(CsvwError::new("a foreign key has no reference"));
        };
        for key in reference.keys() {
            if !matches!(
                key.as_str(),
                "resource" | "schemaReference" | "columnReference"
            ) {
                return Err(CsvwError::new(format!(
                    "the reference of a foreign key has the property {key}"
                )));
            }
        }
        Ok(Some(ForeignKey {
            columns,
            resource: self.resolve_member(reference, "resource"),
            schema: self.resolve_member(reference, "schemaReference"),
            referenced: list_strings(reference.get("columnReference")),
        }))
    }

    /// Returns the address in a member of an object, if the member is a text.
    fn resolve_member(&self, object: &Object, key: &str) -> Option<String> {
        let reference = object.get(key)?.as_str()?;
        Some(self.resolve(reference))
    }

    fn column(&mut self, object: &Object, parent: &Inherited) -> Result<Column, CsvwError> {
        let (annotations, _) = self.check_properties(object, Kind::Column)?;
        self.id(object, Kind::Column)?;
        let inherited = self.read_inherited_properties(object, parent)?;
        let name = match object.get("name") {
            Some(Value::String(name)) if is_column_name(name) => Some(name.clone()),
            Some(_) => {
                self.warn("the `name` of a column is not valid");
                None
            }
            None => None,
        };
        let titles = match object.get("titles") {
            Some(titles) => self.titles(titles),
            None => Vec::new(),
        };
        let description = annotation_text(&annotations, DESCRIPTIONS);
        Ok(Column {
            name,
            titles,
            is_virtual: self.boolean(object, "virtual").unwrap_or(false),
            is_suppressed: self.boolean(object, "suppressOutput").unwrap_or(false),
            inherited,
            description,
        })
    }

    /// Reads a natural language property.
    fn titles(&mut self, value: &Value) -> Vec<(String, String)> {
        let language = self.language.clone().unwrap_or_else(|| "und".to_owned());
        let mut titles = Vec::new();
        match value {
            Value::String(title) => titles.push((language, title.clone())),
            Value::Array(elements) => {
                for element in elements {
                    match element {
                        Value::String(title) => titles.push((language.clone(), title.clone())),
                        _ => self.warn("a title is no string"),
                    }
                }
            }
            Value::Object(languages) => {
                for (language, value) in languages {
                    if !is_language(language) {
                        self.warn(format!("{language} is no language tag"));
                        continue;
                    }
                    let texts = list_strings(Some(value));
                    let count = value.as_array().map(Vec::len).unwrap_or(1);
                    if texts.len() < count {
                        self.warn("a title is no string");
                    }
                    titles.extend(texts.into_iter().map(|text| (language.clone(), text)));
                }
            }
            _ => self.warn("`titles` is no text"),
        }
        titles
    }

    fn boolean(&mut self, object: &Object, key: &str) -> Option<bool> {
        match object.get(key) {
            Some(Value::Bool(value)) => Some(*value),
            Some(_) => {
                self.warn(format!("`{key}` is no boolean"));
                None
            }
            None => None,
        }
    }

    fn check_direction(&mut self, object: &Object) {
        if let Some(direction) = object.get("tableDirection")
            && !matches!(direction.as_str(), Some("ltr" | "rtl" | "auto"))
        {
            self.warn("`tableDirection` is not valid");
        }
    }

    fn check_transformations(&mut self, object: &Object) -> Result<(), CsvwError> {
        const PROPERTIES: &[&str] = &[
            "@id",
            "@type",
            "url",
            "scriptFormat",
            "targetFormat",
            "source",
            "titles",
        ];
        let transformations = match object.get("transformations") {
            Some(Value::Array(transformations)) => transformations,
            Some(_) => {
                self.warn("`transformations` is no list");
                return Ok(());
            }
            None => return Ok(()),
        };
        for transformation in transformations {
            let Value::Object(transformation) = transformation else {
                self.warn("an element of `transformations` is no object");
                continue;
            };
            self.check_id(transformation)?;
            check_type(transformation, "Template")?;
            for required in ["url", "scriptFormat", "targetFormat"] {
                if !transformation.contains_key(required) {
                    return Err(CsvwError::new(format!(
                        "a transformation has no `{required}`"
                    )));
                }
            }
            for (key, value) in transformation {
                if PROPERTIES.contains(&key.as_str()) {
                    continue;
                }
                if key.contains(':') {
                    self.annotation(value, 0)?;
                } else {
                    self.warn(format!("a transformation has the unknown property {key}"));
                }
            }
            if let Some(titles) = transformation.get("titles") {
                self.titles(titles);
            }
        }
        Ok(())
    }

    /// Checks the names of properties, and returns common properties and notes.
    fn check_properties(
        &mut self,
        object: &Object,
        kind: Kind,
    ) -> Result<(CommonProperties, Vec<Annotation>), CsvwError> {
        check_type(object, kind.name())?;
        let (mut annotations, mut notes) = (Vec::new(), Vec::new());
        for (key, value) in object {
            if kind.properties().contains(&key.as_str()) || INHERITED.contains(&key.as_str()) {
                continue;
            }
            if key.starts_with('@') {
                return Err(CsvwError::new(format!(
                    "the property {key} is not permitted"
                )));
            }
            match expand_property(key) {
                Some(property) => {
                    for value in self.annotations(value, 0)? {
                        annotations.push((property.clone(), value));
                    }
                }
                None => self.warn(format!("a {} has the unknown property {key}", kind.name())),
            }
        }
        match object.get("notes") {
            Some(Value::Array(elements)) => {
                for element in elements {
                    notes.push(self.annotation(element, 0)?);
                }
            }
            Some(_) => self.warn("`notes` is no list"),
            None => (),
        }
        Ok((annotations, notes))
    }

    /// Returns the address of a description.
    fn id(&mut self, object: &Object, kind: Kind) -> Result<Option<String>, CsvwError> {
        let _ = kind;
        self.check_id(object)
    }

    fn check_id(&mut self, object: &Object) -> Result<Option<String>, CsvwError> {
        match object.get("@id") {
            Some(Value::String(id)) if id.starts_with("_:") => {
                Err(CsvwError::new("an @id is a blank node"))
            }
            Some(Value::String(id)) => Ok(Some(self.resolve(id))),
            Some(_) => {
                self.warn("an @id is no string");
                Ok(Some(self.resolve("")))
            }
            None => Ok(None),
        }
    }

    fn dialect(&mut self, value: &Value) -> Result<Option<Dialect>, CsvwError> {
        let fetched;
        let object = match value {
            Value::Object(object) => object,
            Value::String(reference) => {
                let address = self.resolve(reference);
                let Some(text) = self.resolver.fetch(&address) else {
                    self.warn(format!("the dialect {address} cannot be read"));
                    return Ok(None);
                };
                match serde_json::from_slice(&text.bytes) {
                    Ok(Value::Object(object)) => fetched = object,
                    _ => {
                        self.warn(format!("the dialect {address} is no JSON object"));
                        return Ok(None);
                    }
                }
                &fetched
            }
            _ => {
                self.warn("`dialect` is neither an object nor an address");
                return Ok(None);
            }
        };
        self.check_id(object)?;
        check_type(object, "Dialect")?;
        let mut dialect = Dialect::default();
        let mut header = None;
        let mut header_rows = None;
        let mut trim = None;
        for (key, value) in object {
            let is_valid = match (key.as_str(), value) {
                ("@id" | "@type" | "@context", _) => true,
                ("commentPrefix", Value::String(text)) => {
                    dialect.comment_prefix = text.chars().next();
                    true
                }
                ("commentPrefix" | "quoteChar", Value::Null) => {
                    if key == "quoteChar" {
                        dialect.quote = None;
                    } else {
                        dialect.comment_prefix = None;
                    }
                    true
                }
                ("delimiter", Value::String(text)) if text.len() == 1 => {
                    dialect.delimiter = text.as_bytes()[0];
                    true
                }
                ("doubleQuote", Value::Bool(value)) => {
                    dialect.has_double_quote = *value;
                    true
                }
                ("encoding", Value::String(text))
                    if encoding_rs::Encoding::for_label(text.as_bytes()).is_some() =>
                {
                    dialect.encoding = Some(text.clone());
                    true
                }
                ("header", Value::Bool(value)) => {
                    header = Some(*value);
                    true
                }
                ("headerRowCount", value) if parse_count(value).is_some() => {
                    header_rows = parse_count(value);
                    true
                }
                ("lineTerminators", Value::String(_)) => true,
                ("lineTerminators", Value::Array(elements)) => {
                    elements.iter().all(Value::is_string)
                }
                ("quoteChar", Value::String(text)) if text.len() == 1 => {
                    dialect.quote = Some(text.as_bytes()[0]);
                    true
                }
                ("skipBlankRows", Value::Bool(value)) => {
                    dialect.skips_blank_rows = *value;
                    true
                }
                ("skipColumns", value) if parse_count(value).is_some() => {
                    dialect.skip_columns = parse_count(value).unwrap_or_default();
                    true
                }
                ("skipInitialSpace", Value::Bool(value)) => {
                    dialect.skips_initial_space = *value;
                    true
                }
                ("skipRows", value) if parse_count(value).is_some() => {
                    dialect.skip_rows = parse_count(value).unwrap_or_default();
                    true
                }
                ("trim", Value::Bool(value)) => {
                    trim = Some((*value, *value));
                    true
                }
                ("trim", Value::String(text)) => {
                    trim = match text.as_str() {
                        "true" => Some((true, true)),
                        "false" => Some((false, false)),
                        "start" => Some((true, false)),
                        "end" => Some((false, true)),
                        _ => None,
                    };
                    trim.is_some()
                }
                _ => false,
            };
            if !is_valid {
                self.warn(format!("the property {key} of the dialect is not valid"));
            }
        }
        dialect.header_rows = header_rows.unwrap_or(usize::from(header.unwrap_or(true)));
        let space = dialect.skips_initial_space;
        (dialect.trims_start, dialect.trims_end) = trim.unwrap_or((space, false));
        Ok(Some(dialect))
    }

    fn read_inherited_properties(
        &mut self,
        object: &Object,
        parent: &Inherited,
    ) -> Result<Inherited, CsvwError> {
        let mut inherited = parent.clone();
        for (key, value) in object {
            match (key.as_str(), value) {
                ("aboutUrl", Value::String(text)) => {
                    inherited.about_url = Some(Template::parse(text))
                }
                ("propertyUrl", Value::String(text)) => {
                    inherited.property_url = Some(Template::parse(text));
                }
                ("valueUrl", Value::String(text)) => {
                    inherited.value_url = Some(Template::parse(text))
                }
                ("datatype", value) => {
                    if let Some(datatype) = self.datatype(value)? {
                        inherited.datatype = Some(datatype);
                    }
                }
                // The default of these properties is the empty reference.
                ("aboutUrl", _) => {
                    self.warn("`aboutUrl` is no string");
                    inherited.about_url = Some(Template::parse(""));
                }
                ("propertyUrl", _) => {
                    self.warn("`propertyUrl` is no string");
                    inherited.property_url = Some(Template::parse(""));
                }
                ("valueUrl", _) => {
                    self.warn("`valueUrl` is no string");
                    inherited.value_url = Some(Template::parse(""));
                }
                ("default", Value::String(text)) => inherited.default = Some(text.clone()),
                ("lang", Value::String(tag)) if is_language(tag) => {
                    inherited.language = Some(tag.clone());
                }
                ("null", Value::String(text)) => inherited.null = Some(vec![text.clone()]),
                ("null", Value::Array(elements)) => {
                    if !elements.iter().all(Value::is_string) {
                        self.warn("an element of `null` is no string");
                    }
                    inherited.null = Some(list_strings(Some(value)));
                }
                ("ordered", Value::Bool(value)) => inherited.is_ordered = Some(*value),
                ("required", Value::Bool(value)) => inherited.is_required = Some(*value),
                ("separator", Value::String(text)) => inherited.separator = Some(text.clone()),
                ("separator", Value::Null) => inherited.separator = None,
                ("textDirection", Value::String(text))
                    if matches!(text.as_str(), "ltr" | "rtl" | "auto" | "inherit") => {}
                (key, _) if INHERITED.contains(&key) => {
                    self.warn(format!("the value of `{key}` is not valid"));
                }
                _ => (),
            }
        }
        Ok(inherited)
    }

    fn datatype(&mut self, value: &Value) -> Result<Option<Datatype>, CsvwError> {
        let object = match value {
            Value::String(name) => {
                let found = Datatype::builtin(name);
                if found.is_none() {
                    self.warn(format!("{name} is no built-in datatype"));
                }
                return Ok(found.or_else(|| Datatype::builtin("string")));
            }
            Value::Object(object) => object,
            _ => {
                self.warn("`datatype` is neither a name nor an object");
                return Ok(None);
            }
        };
        let base = match object.get("base") {
            Some(Value::String(base)) if family(base).is_some() => base.as_str(),
            None => "string",
            Some(_) => {
                self.warn("the `base` of a datatype is no built-in datatype");
                "string"
            }
        };
        let Some(mut datatype) = Datatype::builtin(base) else {
            return Ok(None);
        };
        if let Some(id) = object.get("@id") {
            match id.as_str() {
                Some(id) if id.starts_with("_:") => {
                    return Err(CsvwError::new("the @id of a datatype is a blank node"));
                }
                Some(id) => {
                    let id = expand_prefixed_name(id).unwrap_or_else(|| self.resolve(id));
                    if is_builtin_iri(&id) {
                        return Err(CsvwError::new(
                            "the @id of a datatype is that of a built-in one",
                        ));
                    }
                    datatype.iri = id;
                }
                None => self.warn("the @id of a datatype is no string"),
            }
        }
        if let Some(format) = object.get("format") {
            datatype.format = self.format(format, &datatype);
        }
        self.constraints(object, &mut datatype)?;
        Ok(Some(datatype))
    }

    fn format(&mut self, value: &Value, datatype: &Datatype) -> Format {
        let parsed = match (datatype.family, value) {
            (Family::Integer(..) | Family::Decimal | Family::Float, _) => {
                self.number_format(value).map(Format::Number)
            }
            (Family::Boolean, Value::String(text)) => text
                .split_once('|')
                .filter(|(yes, no)| !yes.is_empty() && !no.is_empty() && !no.contains('|'))
                .map(|(yes, no)| Format::Boolean {
                    yes: yes.to_owned(),
                    no: no.to_owned(),
                }),
            (Family::Date | Family::Time | Family::DateTime, Value::String(text)) => {
                DateFormat::parse_format(text, datatype.family).map(Format::Date)
            }
            (Family::DatePart, Value::String(_)) => None,
            (_, Value::String(text)) => whole_pattern(text).map(Format::Pattern),
            _ => None,
        };
        if parsed.is_none() {
            self.warn(format!(
                "the format {value} of {} is not valid",
                datatype.base
            ));
        }
        parsed.unwrap_or_default()
    }

    fn number_format(&mut self, value: &Value) -> Option<NumberFormat> {
        let mut format = NumberFormat::default();
        let pattern = match value {
            Value::String(pattern) => Some(pattern.as_str()),
            Value::Object(object) => {
                for (key, target) in [
                    ("decimalChar", &mut format.decimal),
                    ("groupChar", &mut format.group),
                ] {
                    if let Some(text) = object.get(key).and_then(Value::as_str) {
                        *target = text.chars().next()?;
                    }
                }
                object.get("pattern").and_then(Value::as_str)
            }
            _ => return None,
        };
        if let Some(pattern) = pattern {
            match NumberPattern::parse(pattern) {
                Some(parsed) => format.pattern = Some(parsed),
                None => {
                    // The characters of the format are valid nevertheless.
                    self.warn(format!("{pattern:?} is no pattern of numbers"));
                }
            }
        }
        Some(format)
    }

    fn constraints(&mut self, object: &Object, datatype: &mut Datatype) -> Result<(), CsvwError> {
        let is_text = matches!(datatype.family, Family::Text | Family::Binary);
        for (key, target) in [
            ("length", &mut datatype.length),
            ("minLength", &mut datatype.min_length),
            ("maxLength", &mut datatype.max_length),
        ] {
            let Some(value) = object.get(key) else {
                continue;
            };
            if !is_text {
                return Err(CsvwError::new(format!("`{key}` of {}", datatype.base)));
            }
            match parse_count(value) {
                Some(length) => *target = Some(length),
                None => self.warn(format!("`{key}` is no number")),
            }
        }
        let (least, most) = (datatype.min_length, datatype.max_length);
        if least.zip(most).is_some_and(|(least, most)| least > most)
            || datatype
                .length
                .zip(least)
                .is_some_and(|(length, least)| length < least)
            || datatype
                .length
                .zip(most)
                .is_some_and(|(length, most)| length > most)
        {
            return Err(CsvwError::new(
                "the lengths of a datatype contradict each other",
            ));
        }
        for (key, bound) in [
            ("minimum", Bound::MinInclusive),
            ("minInclusive", Bound::MinInclusive),
            ("minExclusive", Bound::MinExclusive),
            ("maximum", Bound::MaxInclusive),
            ("maxInclusive", Bound::MaxInclusive),
            ("maxExclusive", Bound::MaxExclusive),
        ] {
            let Some(value) = object.get(key) else {
                continue;
            };
            if is_text || datatype.family == Family::Boolean {
                return Err(CsvwError::new(format!("`{key}` of {}", datatype.base)));
            }
            let limit = match value {
                Value::String(text) => text.clone(),
                Value::Number(number) => number.to_string(),
                _ => {
                    self.warn(format!("`{key}` is neither a number nor a text"));
                    continue;
                }
            };
            datatype.bounds.push((bound, limit));
        }
        check_bounds(datatype)
    }

    /// Reads the values of a common property.
    fn annotations(&mut self, value: &Value, depth: usize) -> Result<Vec<Annotation>, CsvwError> {
        match value {
            Value::Array(elements) => {
                let mut read = Vec::new();
                for element in elements {
                    read.push(self.annotation(element, depth)?);
                }
                Ok(read)
            }
            value => Ok(vec![self.annotation(value, depth)?]),
        }
    }

    fn annotation(&mut self, value: &Value, depth: usize) -> Result<Annotation, CsvwError> {
        if depth > MAX_ANNOTATION_NESTING {
            return Err(CsvwError::new(format!(
                "a property has more than {MAX_ANNOTATION_NESTING} levels of nesting"
            )));
        }
        Ok(match value {
            Value::String(text) => Annotation::Literal {
                text: text.clone(),
                datatype: None,
                language: self.language.clone(),
            },
            Value::Bool(value) => builtin_literal(value.to_string(), "boolean"),
            Value::Number(number) if number.is_f64() => {
                builtin_literal(number.to_string(), "double")
            }
            Value::Number(number) => builtin_literal(number.to_string(), "integer"),
            Value::Null => Annotation::Literal {
                text: String::new(),
                datatype: None,
                language: None,
            },
            Value::Array(elements) => {
                let mut read = Vec::new();
                for element in elements {
                    read.push(self.annotation(element, depth + 1)?);
                }
                Annotation::List(read)
            }
            Value::Object(object) => self.node(object, depth)?,
        })
    }

    fn node(&mut self, object: &Object, depth: usize) -> Result<Annotation, CsvwError> {
        for key in object.keys().filter(|key| key.starts_with('@')) {
            if !matches!(key.as_str(), "@value" | "@type" | "@language" | "@id") {
                return Err(CsvwError::new(format!(
                    "the property {key} is not permitted here"
                )));
            }
        }
        if let Some(value) = object.get("@value") {
            return self.value_object(object, value);
        }
        if object.contains_key("@language") {
            return Err(CsvwError::new("@language without @value"));
        }
        let id = match object.get("@id") {
            Some(Value::String(id)) if id.starts_with("_:") => {
                return Err(CsvwError::new("an @id is a blank node"));
            }
            Some(Value::String(id)) => {
                Some(expand_prefixed_name(id).unwrap_or_else(|| self.resolve(id)))
            }
            Some(_) => return Err(CsvwError::new("an @id is no string")),
            None => None,
        };
        let types = self.types(object.get("@type"))?;
        let mut properties = Vec::new();
        for (key, value) in object {
            if key.starts_with('@') {
                continue;
            }
            let Some(property) = expand_property(key) else {
                // Terms of the context may describe notes.
                if let Some(property) = note_property(key) {
                    properties.push((property, self.annotations(value, depth + 1)?));
                    continue;
                }
                self.warn(format!("the property {key} is unknown"));
                continue;
            };
            properties.push((property, self.annotations(value, depth + 1)?));
        }
        // An object with nothing but an @id is a reference.
        if properties.is_empty()
            && types.is_empty()
            && let Some(id) = id
        {
            return Ok(Annotation::Iri(id));
        }
        Ok(Annotation::Node {
            id,
            types,
            properties,
        })
    }

    fn types(&mut self, value: Option<&Value>) -> Result<Vec<String>, CsvwError> {
        let mut types = Vec::new();
        let elements = match value {
            None => return Ok(types),
            Some(Value::Array(elements)) => elements.as_slice(),
            Some(value) => std::slice::from_ref(value),
        };
        for element in elements {
            let name = element
                .as_str()
                .ok_or_else(|| CsvwError::new("an @type is no string"))?;
            if name.starts_with("_:") {
                return Err(CsvwError::new("an @type is a blank node"));
            }
            let expanded = expand_type(name)
                .ok_or_else(|| CsvwError::new(format!("the @type {name} is unknown")))?;
            types.push(expanded);
        }
        Ok(types)
    }

    fn value_object(&mut self, object: &Object, value: &Value) -> Result<Annotation, CsvwError> {
        let has_other = object
            .keys()
            .any(|key| !matches!(key.as_str(), "@value" | "@type" | "@language"));
        let (kind, language) = (object.get("@type"), object.get("@language"));
        if has_other || (kind.is_some() && language.is_some()) {
            return Err(CsvwError::new("an object with @value has other properties"));
        }
        let (text, default) = match value {
            Value::String(text) => (text.clone(), None),
            Value::Bool(value) => (value.to_string(), builtin_iri("boolean")),
            Value::Number(number) if number.is_f64() => (number.to_string(), builtin_iri("double")),
            Value::Number(number) => (number.to_string(), builtin_iri("integer")),
            _ => return Err(CsvwError::new("an @value is no scalar")),
        };
        let datatype = self.types(kind)?.into_iter().next().or(default);
        let language = match language {
            Some(Value::String(tag)) if is_language(tag) => Some(tag.clone()),
            Some(_) => {
                self.warn("an @language is no language tag");
                None
            }
            None => None,
        };
        Ok(Annotation::Literal {
            text,
            datatype,
            language,
        })
    }
}

/// Returns the property of a term that is no prefixed name.
fn note_property(key: &str) -> Option<String> {
    (key == "note" || key == "notes").then(|| "http://www.w3.org/ns/csvw#note".to_owned())
}

fn list_strings(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(elements)) => elements
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        _ => Vec::new(),
    }
}

fn parse_count(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|count| usize::try_from(count).ok())
}

fn check_type(object: &Object, expected: &str) -> Result<(), CsvwError> {
    match object.get("@type") {
        None => Ok(()),
        Some(Value::String(kind)) if kind == expected => Ok(()),
        Some(kind) => Err(CsvwError::new(format!(
            "the @type is {kind}, not {expected}"
        ))),
    }
}

fn builtin_literal(text: String, datatype: &str) -> Annotation {
    Annotation::Literal {
        text,
        datatype: builtin_iri(datatype),
        language: None,
    }
}

fn check_bounds(datatype: &Datatype) -> Result<(), CsvwError> {
    let (least, above) = (
        find_bound(datatype, Bound::MinInclusive),
        find_bound(datatype, Bound::MinExclusive),
    );
    let (most, below) = (
        find_bound(datatype, Bound::MaxInclusive),
        find_bound(datatype, Bound::MaxExclusive),
    );
    if (least.is_some() && above.is_some()) || (most.is_some() && below.is_some()) {
        return Err(CsvwError::new(
            "a datatype has an inclusive and an exclusive bound",
        ));
    }
    let contradicts = compare_bounds(datatype, least, most) == Some(Ordering::Greater)
        || matches!(
            compare_bounds(datatype, least, below),
            Some(Ordering::Greater | Ordering::Equal)
        )
        || compare_bounds(datatype, above, below) == Some(Ordering::Greater)
        || matches!(
            compare_bounds(datatype, above, most),
            Some(Ordering::Greater | Ordering::Equal)
        );
    if contradicts {
        return Err(CsvwError::new(
            "the bounds of a datatype contradict each other",
        ));
    }
    Ok(())
}

fn find_bound(datatype: &Datatype, bound: Bound) -> Option<&str> {
    datatype
        .bounds
        .iter()
        .find(|(other, _)| *other == bound)
        .map(|(_, limit)| limit.as_str())
}

/// Compares two bounds; `None` if one is missing, or the type has no order.
fn compare_bounds(datatype: &Datatype, low: Option<&str>, high: Option<&str>) -> Option<Ordering> {
    datatype.compare(low?, high?)
}

fn check_columns(columns: &[Column]) -> Result<(), CsvwError> {
    let mut has_virtual = false;
    let mut names: Vec<&str> = Vec::new();
    for column in columns {
        if has_virtual && !column.is_virtual {
            return Err(CsvwError::new("a virtual column precedes another column"));
        }
        has_virtual |= column.is_virtual;
        if let Some(name) = &column.name {
            if names.contains(&name.as_str()) {
                return Err(CsvwError::new(format!("two columns have the name {name}")));
            }
            names.push(name);
        }
    }
    Ok(())
}

/// Returns the name of a column, from its first title in its language if it has none.
pub(super) fn column_name(column: &Column) -> Option<String> {
    let language = column.inherited.language.as_deref().unwrap_or("und");
    column.name.clone().or_else(|| {
        column
            .titles
            .iter()
            .find(|(tag, _)| {
                language == "und" || tag == "und" || tag.eq_ignore_ascii_case(language)
            })
            .map(|(_, title)| name_of_title(title))
    })
}

/// Returns the name of a column with a title: percent-encoded, as a variable of URI templates.
pub(super) fn name_of_title(title: &str) -> String {
    let mut name = String::with_capacity(title.len());
    for character in title.chars() {
        if character.is_ascii_alphanumeric() || matches!(character, '_' | '.') {
            name.push(character);
        } else {
            percent_encode(character, &mut name);
        }
    }
    name
}

/// Returns true if one of two language tags is the beginning of the other. `und` matches all.
pub(super) fn do_languages_match(left: &str, right: &str) -> bool {
    if left == "und" || right == "und" {
        return true;
    }
    let (left, right) = (left.to_ascii_lowercase(), right.to_ascii_lowercase());
    let (short, long) = if left.len() <= right.len() {
        (&left, &right)
    } else {
        (&right, &left)
    };
    long.strip_prefix(short.as_str())
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

fn check_foreign_keys(group: &TableGroup) -> Result<(), CsvwError> {
    for table in &group.tables {
        for key in &table.foreign_keys {
            let found = group.tables.iter().find(|other| {
                key.resource.as_ref().is_some_and(|url| *url == other.url)
                    || key.schema.is_some() && key.schema == other.schema_id
            });
            let Some(other) = found else {
                return Err(CsvwError::new("a foreign key refers to an unknown table"));
            };
            let names: Vec<String> = other
                .columns
                .iter()
                .flatten()
                .filter_map(|column| column.name.clone())
                .collect();
            if key.referenced.iter().any(|name| !names.contains(name))
                || key.referenced.len() != key.columns.len()
            {
                return Err(CsvwError::new("a foreign key refers to an unknown column"));
            }
        }
    }
    Ok(())
}

/// Returns true for the name of a variable of URI templates that does not begin with `_`.
fn is_column_name(name: &str) -> bool {
    let mut rest = name.chars();
    let Some(first) = rest.next() else {
        return false;
    };
    first != '_' && is_name_character(first) && rest.all(is_name_character)
}

fn is_name_character(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '.' | '%')
}

/// Returns true for a well-formed language tag.
pub(super) fn is_language(tag: &str) -> bool {
    oxrdf::Literal::new_language_tagged_literal("", tag).is_ok()
}

/// Resolves a reference. An invalid one stays as it is.
pub(super) fn resolve(base: &str, reference: &str) -> String {
    match Iri::parse(base).map(|base| base.resolve(reference).map(Iri::into_inner)) {
        Ok(Ok(resolved)) => resolved,
        _ => reference.to_owned(),
    }
}
