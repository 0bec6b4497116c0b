//! Schema of the tantivy index.

use super::facts::Facet;
use crate::document::Field;
use tantivy::schema::{
    self, FAST, INDEXED, IndexRecordOption, STORED, STRING, Schema, SchemaBuilder,
    TextFieldIndexing, TextOptions,
};

pub(super) const ID: &str = "id";
pub(super) const VERSION: &str = "version";
const CARD: &str = "card";
const COMPACT: &str = "compact";
const FEATURES: &str = "features";
/// Format version, increased when the written data changes. It is part of every dataset's version, so that old
/// documents are indexed again.
pub(super) const FORMAT_VERSION: u32 = 7;
pub(super) const YEAR: &str = "year";
pub(super) const USES: &str = "uses";
pub(super) const VARIANTS: &str = "variants";
/// Western, southern, eastern and northern edge of the area, in microdegrees.
pub(super) const PLACE: [&str; 4] = ["place_west", "place_south", "place_east", "place_north"];
/// First and last day of the period, in days since 1970-01-01.
pub(super) const PERIOD: [&str; 2] = ["period_first", "period_last"];

/// Tokens of each literal; see the module `literals`.
pub(super) const LITERALS: &str = "literals";

/// Names of a dataset, as [`name_key`](super::names::name_key) returns them.
pub(super) const NAMES: &str = "names";
/// Columns of tables; see the module `table_columns`.
pub(super) const TABLE_COLUMNS: &str = "table_columns";
/// Sketches of tables, and the hashes by which tables with common values are found; see the module `sketches`.
pub(super) const SKETCHES: &str = "sketches";
pub(super) const SKETCH_HASHES: &str = "sketch_hashes";
/// Words of all fields as written, in lower case.
pub(super) const WORDS: &str = "words";

const LENGTHS: [&str; 8] = [
    "title_length",
    "description_length",
    "author_length",
    "tags_length",
    "entity_length",
    "literal_length",
    "class_length",
    "property_length",
];

const FACETS: [&str; Facet::STORED] = [
    "facet_task",
    "facet_modality",
    "facet_theme",
    "facet_class",
    "facet_keyword",
    "facet_publisher",
    "facet_creator",
    "facet_format",
    "facet_license",
    "facet_language",
    "facet_vocabulary",
    "facet_source",
];

/// Returns the name of a facet's column; `None` of a facet that is not stored.
pub(super) fn facet_name(facet: Facet) -> Option<&'static str> {
    FACETS.get(facet.index()).copied()
}

#[derive(Clone)]
pub(super) struct Fields {
    pub(super) id: schema::Field,
    pub(super) version: schema::Field,
    pub(super) card: schema::Field,
    pub(super) compact: schema::Field,
    pub(super) features: schema::Field,
    pub(super) year: schema::Field,
    pub(super) uses: schema::Field,
    pub(super) variants: schema::Field,
    /// `None` in an index that was created before coverage was indexed.
    pub(super) coverage: Option<CoverageFields>,
    /// `None` in an index that was created before literals could be searched.
    pub(super) literals: Option<schema::Field>,
    /// `None` in an index that was created before names were indexed.
    pub(super) names: Option<NameFields>,
    /// `None` in an index that was created before columns of tables were indexed.
    pub(super) table_columns: Option<schema::Field>,
    /// `None` in an index that was created before tables had sketches.
    pub(super) sketches: Option<SketchFields>,
    facets: [schema::Field; Facet::STORED],
    texts: [schema::Field; 8],
    lengths: [schema::Field; 8],
}

/// Fields of the names of a dataset, and of its words as written.
#[derive(Clone, Copy)]
pub(super) struct NameFields {
    pub(super) names: schema::Field,
    pub(super) words: schema::Field,
}

/// Fields of the sketches of tables, and of their hashes.
#[derive(Clone, Copy)]
pub(super) struct SketchFields {
    pub(super) sketches: schema::Field,
    pub(super) hashes: schema::Field,
}

/// Columns of the area and the period of a dataset.
#[derive(Clone, Copy)]
pub(super) struct CoverageFields {
    pub(super) place: [schema::Field; 4],
    pub(super) period: [schema::Field; 2],
}

impl CoverageFields {
    fn from_schema(schema: &Schema) -> Option<Self> {
        let mut place = [schema.get_field(ID).ok()?; 4];
        for (field, name) in place.iter_mut().zip(PLACE) {
            *field = schema.get_field(name).ok()?;
        }
        let mut period = [schema.get_field(ID).ok()?; 2];
        for (field, name) in period.iter_mut().zip(PERIOD) {
            *field = schema.get_field(name).ok()?;
        }
        Some(Self { place, period })
    }
}

impl Fields {
    /// Returns the schema of a new index.
    pub(super) fn schema() -> Schema {
        let mut builder = Self::schema_without_sketches();
        builder.add_bytes_field(SKETCHES, STORED);
        builder.add_u64_field(SKETCH_HASHES, INDEXED);
        builder.build()
    }

    /// Returns the schema of an index that was created before tables had sketches.
    pub(super) fn schema_without_sketches() -> SchemaBuilder {
        let mut builder = Self::schema_without_table_columns();
        builder.add_text_field(TABLE_COLUMNS, FAST);
        builder
    }

    /// Returns the schema of an index that was created before columns of tables were indexed.
    pub(super) fn schema_without_table_columns() -> SchemaBuilder {
        let mut builder = Self::schema_without_names();
        for name in [NAMES, WORDS] {
            let whole = TextFieldIndexing::default()
                .set_tokenizer("raw")
                .set_fieldnorms(false);
            builder.add_text_field(name, TextOptions::default().set_indexing_options(whole));
        }
        builder
    }

    /// Returns the schema of an index that was created before names were indexed.
    pub(super) fn schema_without_names() -> SchemaBuilder {
        let mut builder = Self::schema_without_literals();
        builder.add_u64_field(LITERALS, FAST);
        builder
    }

    /// Returns the schema of an index that was created before literals could be searched.
    pub(super) fn schema_without_literals() -> SchemaBuilder {
        let mut builder = Self::schema_without_coverage();
        for name in PLACE.into_iter().chain(PERIOD) {
            builder.add_i64_field(name, FAST);
        }
        builder
    }

    /// Returns the schema of an index that was created before coverage was indexed.
    pub(super) fn schema_without_coverage() -> SchemaBuilder {
        let mut builder = Schema::builder();
        builder.add_text_field(ID, STRING | FAST);
        builder.add_text_field(VERSION, STRING | FAST);
        builder.add_bytes_field(CARD, STORED);
        builder.add_bytes_field(COMPACT, STORED);
        let whole = TextFieldIndexing::default()
            .set_tokenizer("raw")
            .set_fieldnorms(false);
        builder.add_text_field(
            FEATURES,
            TextOptions::default()
                .set_indexing_options(whole)
                .set_stored(),
        );
        builder.add_i64_field(YEAR, FAST);
        builder.add_u64_field(USES, FAST);
        builder.add_u64_field(VARIANTS, FAST);
        for name in FACETS {
            builder.add_text_field(name, FAST);
        }
        // Texts are stored analysed, with spaces between tokens; positions serve pair features. Field norms are
        // tantivy's lossy lengths. No model reads them. They cost one byte for each field, and they permit tantivy's
        // own queries.
        let indexing = TextFieldIndexing::default()
            .set_tokenizer("whitespace")
            .set_index_option(IndexRecordOption::WithFreqsAndPositions)
            .set_fieldnorms(true);
        for field in Field::ALL {
            builder.add_text_field(
                field.name(),
                TextOptions::default().set_indexing_options(indexing.clone()),
            );
            builder.add_u64_field(LENGTHS[field.index()], FAST);
        }
        builder
    }

    /// Returns the fields of an index, or `None` if its fields or their options differ. The fields of coverage, of
    /// literals, of names, of columns and of sketches may be missing.
    pub(super) fn from_schema(schema: &Schema) -> Option<Self> {
        let coverage = CoverageFields::from_schema(schema);
        let literals = schema.get_field(LITERALS).ok();
        let names = match (schema.get_field(NAMES), schema.get_field(WORDS)) {
            (Ok(names), Ok(words)) => Some(NameFields { names, words }),
            _ => None,
        };
        let table_columns = schema.get_field(TABLE_COLUMNS).ok();
        let sketches = match (schema.get_field(SKETCHES), schema.get_field(SKETCH_HASHES)) {
            (Ok(sketches), Ok(hashes)) => Some(SketchFields { sketches, hashes }),
            _ => None,
        };
        let expected = match (coverage, literals, names, table_columns) {
            _ if sketches.is_some() => Self::schema(),
            (.., Some(_)) => Self::schema_without_sketches().build(),
            (_, _, Some(_), None) => Self::schema_without_table_columns().build(),
            (_, Some(_), None, None) => Self::schema_without_names().build(),
            (Some(_), None, None, None) => Self::schema_without_literals().build(),
            (None, None, None, None) => Self::schema_without_coverage().build(),
        };
        if *schema != expected {
            return None;
        }
        let mut texts = [find_field(schema, ID)?; 8];
        let mut lengths = texts;
        for each in Field::ALL {
            texts[each.index()] = find_field(schema, each.name())?;
            lengths[each.index()] = find_field(schema, LENGTHS[each.index()])?;
        }
        let mut facets = [find_field(schema, ID)?; Facet::STORED];
        for (facet, name) in facets.iter_mut().zip(FACETS) {
            *facet = find_field(schema, name)?;
        }
        Some(Self {
            id: find_field(schema, ID)?,
            version: find_field(schema, VERSION)?,
            card: find_field(schema, CARD)?,
            compact: find_field(schema, COMPACT)?,
            features: find_field(schema, FEATURES)?,
            year: find_field(schema, YEAR)?,
            uses: find_field(schema, USES)?,
            variants: find_field(schema, VARIANTS)?,
            coverage,
            literals,
            names,
            table_columns,
            sketches,
            facets,
            texts,
            lengths,
        })
    }

    pub(super) fn text(&self, field: Field) -> schema::Field {
        self.texts[field.index()]
    }

    /// Returns the field of a facet; `None` of a facet that is not stored.
    pub(super) fn facet(&self, facet: Facet) -> Option<schema::Field> {
        self.facets.get(facet.index()).copied()
    }

    pub(super) fn length(&self, field: Field) -> schema::Field {
        self.lengths[field.index()]
    }

    #[expect(
        clippy::unused_self,
        reason = "the name belongs to the schema of these fields"
    )]
    pub(super) fn length_name(&self, field: Field) -> &'static str {
        LENGTHS[field.index()]
    }
}

fn find_field(schema: &Schema, name: &str) -> Option<schema::Field> {
    schema.get_field(name).ok()
}
