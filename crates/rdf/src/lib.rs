#![doc = include_str!("../README.md")]

mod basic_encoding;
mod canonical;
pub mod dump;
mod encoding_repair;
mod external_sort;
mod label;
mod language;
mod output;
mod pretty;
mod rdf_xml;
mod relabel;
mod table_graph;
mod triple_stream;
mod triples;
pub mod vocab;
mod xml_text;

pub use canonical::{CanonicalizationError, canonical_fingerprint};
pub use dump::{correct_language_tag, percent_encode, repair_iri};
pub use encoding_repair::repair_encoding;
pub use external_sort::{ExternalSorter, SortKey, SortedKeys};
pub use label::{
    LABEL_PROPERTIES, Labels, NO_LABEL, grouped, local_name, namespace, on_one_line,
    percent_decode, to_prefixed_name, words,
};
pub use language::{
    corrected_language_code, language_name, language_rank, shortest_language_code,
    terminological_language_code,
};
pub use output::{Omissions, RdfForm, RdfSyntax, RdfVersion, SerializedGraph, WriteError};
pub use pretty::{PrettyError, to_pretty_turtle};
pub use relabel::{relabel_term, relabel_triple};
pub use table_graph::{GraphTable, TableGraph};
pub use triple_stream::{TripleStreamWriter, is_writable_iri, is_writable_tag, read_triple_stream};
pub use triples::{
    BuiltGraph, CompactSource, ExternalGraphBuilder, GraphParts, LiteralKind, MAX_COMPACT_BYTES,
    SortedRuns, StreamedGraph, TermCursor, TermId, TermRef, Triple, TripleCursor, TripleGraph,
    TripleGraphBuilder, TripleSink,
};
pub use xml_text::{XmlFilter, escape_xml, is_xml_character};
