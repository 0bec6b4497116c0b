//! CSV on the Web: tables described by metadata documents become RDF.
//!
//! Metadata: <https://www.w3.org/TR/tabular-metadata/>, location and parsing: <https://www.w3.org/TR/tabular-data-model/>, triples:
//! <https://www.w3.org/TR/csv2rdf/>.

mod context;
mod convert;
mod datatype;
mod metadata;
mod template;

use metadata::{MetadataReader, TableGroup};
use oxrdf::TripleRef;
use std::fmt;

pub(crate) use convert::describe_table;

/// Amount of triples.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// With the structure of groups, tables and rows.
    #[default]
    Standard,
    /// The cells alone.
    Minimal,
}

/// Document that was fetched.
#[derive(Clone, Debug, Default)]
pub struct Fetched {
    /// Content.
    pub bytes: Vec<u8>,
    /// Header `Link` of the response.
    pub link: Option<String>,
}

/// Source of documents by their addresses.
pub trait Resolver {
    /// Returns a document; `None` if there is none at this address.
    fn fetch(&self, address: &str) -> Option<Fetched>;
}

/// Error that ends the conversion.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("CSV on the Web: {reason}")]
pub struct CsvwError {
    reason: String,
}

impl CsvwError {
    fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
        }
    }
}

/// Conversion of tables to RDF.
///
/// ```
/// use lodeseek_tabular::csvw::{Converter, Fetched, Resolver};
///
/// struct Files;
/// impl Resolver for Files {
///     fn fetch(&self, address: &str) -> Option<Fetched> {
///         let text = match address {
///             "http://e.org/trees.csv" => "name,height\noak,21\n",
///             "http://e.org/trees.csv-metadata.json" => r#"{
///                 "@context": "http://www.w3.org/ns/csvw", "url": "trees.csv",
///                 "tableSchema": {"columns": [{"titles": "name"}, {"titles": "height", "datatype": "integer"}]}
///             }"#,
///             _ => return None,
///         };
///         Some(Fetched { bytes: text.into(), link: None })
///     }
/// }
///
/// let mut heights = Vec::new();
/// let warnings = Converter::new(&Files).convert("http://e.org/trees.csv", &mut |triple| {
///     if triple.predicate.as_str() == "http://e.org/trees.csv#height" {
///         heights.push(triple.object.to_string());
///     }
/// })?;
/// assert!(warnings.is_empty());
/// assert_eq!(heights, ["\"21\"^^<http://www.w3.org/2001/XMLSchema#integer>"]);
/// # Ok::<_, lodeseek_tabular::csvw::CsvwError>(())
/// ```
pub struct Converter<'r> {
    resolver: &'r dyn Resolver,
    mode: Mode,
    metadata: Option<String>,
}

impl fmt::Debug for Converter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Converter")
            .field("mode", &self.mode)
            .field("metadata", &self.metadata)
            .finish_non_exhaustive()
    }
}

impl<'r> Converter<'r> {
    /// Creates a converter in standard mode.
    #[must_use]
    pub fn new(resolver: &'r dyn Resolver) -> Self {
        Self {
            resolver,
            mode: Mode::default(),
            metadata: None,
        }
    }

    /// Sets the mode.
    #[must_use]
    pub fn with_mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    /// Sets the address of a metadata document, which precedes all others.
    #[must_use]
    pub fn with_metadata(self, address: &str) -> Self {
        Self {
            metadata: Some(address.to_owned()),
            ..self
        }
    }

    /// Converts a table, or all tables of a metadata document, and returns warnings.
    ///
    /// # Errors
    /// If a document cannot be fetched, or metadata have what the specification calls an error.
    pub fn convert(
        &self,
        address: &str,
        emit: &mut dyn FnMut(TripleRef<'_>),
    ) -> Result<Vec<String>, CsvwError> {
        let mut warnings = Vec::new();
        let group = self.group(address, &mut warnings)?;
        convert::write_group(&group, self.resolver, self.mode, &mut warnings, emit)?;
        Ok(warnings)
    }

    fn group(&self, address: &str, warnings: &mut Vec<String>) -> Result<TableGroup, CsvwError> {
        let fetched = self
            .resolver
            .fetch(address)
            .ok_or_else(|| CsvwError::new(format!("{address} cannot be read")))?;
        if is_metadata(&fetched.bytes) {
            let text = String::from_utf8_lossy(&fetched.bytes);
            return MetadataReader::read(&text, address, self.resolver, warnings);
        }
        for place in self.metadata_places(address, fetched.link.as_deref()) {
            let Some(document) = self.resolver.fetch(&place) else {
                continue;
            };
            // A server may ignore what follows the query of an address, and send the table.
            if !is_metadata(&document.bytes) {
                continue;
            }
            let text = String::from_utf8_lossy(&document.bytes);
            let group = MetadataReader::read(&text, &place, self.resolver, warnings)?;
            let is_own = self.metadata.as_deref() == Some(place.as_str());
            // Metadata that were found must describe the table; those of the caller are used in any case.
            if is_own || group.tables.iter().any(|table| table.url == address) {
                return Ok(group);
            }
            warnings.push(format!("{place} does not describe {address}"));
        }
        Ok(convert::group_without_metadata(address))
    }

    /// Returns the addresses of possible metadata of a table, first to last.
    fn metadata_places(&self, address: &str, link: Option<&str>) -> Vec<String> {
        // Section 5 of the data model: overriding metadata, the header `Link`, then the site-wide or default locations.
        let mut places: Vec<String> = self.metadata.iter().cloned().collect();
        places.extend(
            link.and_then(described_by)
                .map(|reference| metadata::resolve(address, reference)),
        );
        let configured = self
            .resolver
            .fetch(&metadata::resolve(address, "/.well-known/csvm"))
            .map(|document| String::from_utf8_lossy(&document.bytes).into_owned());
        let templates =
            configured.unwrap_or_else(|| "{+url}-metadata.json\ncsv-metadata.json".to_owned());
        let without_fragment = crate::iri::without_fragment(address);
        for line in templates
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
        {
            let expanded = template::Template::parse(line)
                .expand(&|name| (name == "url").then(|| without_fragment.to_owned()));
            places.push(metadata::resolve(address, &expanded));
        }
        places
    }
}

/// Returns the reference with `rel="describedby"` of a header `Link`, if it leads to metadata.
fn described_by(header: &str) -> Option<&str> {
    for link in header.split(",<").map(str::trim) {
        let link = link.strip_prefix('<').unwrap_or(link);
        let Some((reference, parameters)) = link.split_once('>') else {
            continue;
        };
        let lower = parameters.to_ascii_lowercase();
        let is_metadata = !lower.contains("type=")
            || [
                "application/csvm+json",
                "application/ld+json",
                "application/json",
            ]
            .iter()
            .any(|media_type| lower.contains(media_type));
        if lower.contains("describedby") && is_metadata {
            return Some(reference);
        }
    }
    None
}

fn is_metadata(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    bytes.trim_ascii_start().first() == Some(&b'{')
}
