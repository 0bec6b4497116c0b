//! Responses of harvesting protocols: paging, errors and headers of records, beside the datasets in them.

use serde::{Deserialize, Serialize};

/// A protocol whose responses are XML.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ServiceProtocol {
    /// Catalogue Service for the Web, 2.0.2 and 3.0.
    Csw,
    /// Open Archives Initiative Protocol for Metadata Harvesting, 2.0.
    OaiPmh,
}

/// A response of a protocol.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ServiceResponse {
    /// An error, often with status 200.
    Error(ServiceError),
    /// A page of records.
    Records(RecordPage),
    /// The properties of a repository (`Identify`).
    Repository(OaiRepository),
    /// The formats of a repository (`ListMetadataFormats`).
    Formats(Vec<MetadataFormat>),
    /// Another response of OAI-PMH: its verb.
    OtherVerb(String),
    /// The capabilities of a catalogue service.
    Capabilities(CswCapabilities),
    /// A sitemap, or an index of sitemaps.
    Sitemap(Sitemap),
    /// A page of an event stream; of a stream that was read as a whole, its deletions.
    Events(EventPage),
}

/// A page of an event stream.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct EventPage {
    /// First pages of the streams that the page names.
    pub views: Vec<String>,
    /// Pages to which the page leads.
    pub relations: Vec<String>,
    /// Number of its members.
    pub members: u64,
    /// If true, the page is a node with relations itself.
    pub is_node: bool,
    /// If true, the stream forgets members.
    pub has_retention_policy: bool,
    /// Properties of paths that are no single predicate.
    pub unsupported_paths: Vec<String>,
    /// Entities whose newest member is a deletion.
    pub deleted: Vec<String>,
}

/// An error that a service reports.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ServiceError {
    /// Protocol of the service.
    pub protocol: ServiceProtocol,
    /// Code, for example `badResumptionToken`.
    pub code: String,
    /// Message.
    pub message: String,
}

/// A page of records.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RecordPage {
    /// Protocol of the service.
    pub protocol: ServiceProtocol,
    /// Number of all records of the list, if the service states it.
    pub matched: Option<u64>,
    /// Number of the first record of the next page (CSW).
    pub next_record: Option<u64>,
    /// Token of the next page (OAI-PMH).
    pub resumption_token: Option<String>,
    /// Time at which the token expires, as it is written.
    pub expiration: Option<String>,
    /// Time of the response, as it is written.
    pub response_date: Option<String>,
    /// Records of the page, read or not.
    pub records: Vec<RecordHeader>,
}

/// Header of a record.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RecordHeader {
    /// Identifier of the record; empty if it has none.
    pub identifier: String,
    /// Time of the last change, as it is written.
    pub datestamp: Option<String>,
    /// If true, the record is deleted.
    pub is_deleted: bool,
    /// Keys of the datasets that the record describes.
    pub datasets: Vec<String>,
}

/// Properties of a repository.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct OaiRepository {
    /// Granularity of times, for example `YYYY-MM-DD`.
    pub granularity: String,
    /// Treatment of deleted records: `persistent`, `transient` or `no`.
    pub deleted_record: String,
}

/// A format of a repository.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MetadataFormat {
    /// Prefix, for requests.
    pub prefix: String,
    /// Namespace IRI.
    pub namespace: String,
}

/// Capabilities of a catalogue service.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CswCapabilities {
    /// Version of the response.
    pub version: String,
    /// Address of GET requests for records, if it is stated.
    pub records_address: Option<String>,
    /// Schemas in which records can be requested; empty if the service does not state them.
    pub output_schemas: Vec<String>,
}

/// Addresses of a sitemap.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Sitemap {
    /// If true, the addresses are those of sitemaps, else of pages.
    pub is_index: bool,
    /// Addresses with the times of their last changes, as they are written.
    pub entries: Vec<(String, Option<String>)>,
}
