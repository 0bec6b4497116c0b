//! Interfaces of data portals, for harvesters, crawlers and reference managers: CKAN's Action API, the catalogue in DCAT-AP,
//! feeds, sitemaps, Croissant, schema.org, signposting and citations.

pub(crate) mod arrivals;
mod catalog;
mod changes;
pub(crate) mod cite;
pub(crate) mod ckan;
mod compaction;
mod croissant;
mod event_stream;
mod feed;
pub(crate) mod metadata;
mod oai_pmh;
pub(crate) mod schema_org;
pub(crate) mod signposting;
mod sitemap;

pub(crate) use ckan::license_label;

use crate::AppState;
use crate::localized::Localized;
use axum::Router;
use axum::routing::get;
use utoipa::OpenApi;

/// Name, description and publisher of the portal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Portal {
    /// Name of the portal.
    pub title: Localized<String>,
    /// Description of the portal.
    pub description: Localized<String>,
    /// Name of the publisher.
    pub publisher: Localized<String>,
    /// IRI of the publisher, if it has one.
    pub publisher_iri: Option<String>,
    /// Questions on the start page. Without them, it has questions for frequent topics.
    pub questions: Localized<Vec<String>>,
}

impl Default for Portal {
    fn default() -> Self {
        Self {
            title: "Lodeseek".to_owned().into(),
            description: "Search datasets by metadata and content".to_owned().into(),
            publisher: "Lodeseek".to_owned().into(),
            publisher_iri: None,
            questions: Vec::new().into(),
        }
    }
}

/// Caches of the portal interfaces, and the portal's description.
#[derive(Default)]
pub(crate) struct PortalState {
    pub(crate) portal: Portal,
    table: ckan::CachedTable,
    listing: catalog::CachedListing,
    changes: changes::CachedChanges,
    arrivals: arrivals::CachedArrivals,
}

impl PortalState {
    pub(crate) fn new(portal: Portal) -> Self {
        Self {
            portal,
            ..Self::default()
        }
    }
}

/// Descriptions of the operations.
#[derive(OpenApi)]
#[openapi(paths(
    feed::datasets,
    croissant::croissant,
    cite::cite,
    catalog::with_suffix,
    event_stream::root,
    event_stream::page,
    oai_pmh::answer,
    ckan::action
))]
pub(crate) struct Operations;

/// Returns the routes of the portal interfaces.
pub(crate) fn router() -> Router<AppState> {
    Router::new()
        .route("/dataset/{id}/croissant", get(croissant::croissant))
        .route("/dataset/{id}/cite", get(cite::cite))
        .route("/feeds/datasets.atom", get(feed::datasets))
        .route("/feeds/changes", get(event_stream::root))
        .route("/feeds/changes/{page}", get(event_stream::page))
        .route("/oai", get(oai_pmh::answer).post(oai_pmh::answer))
        .route("/opensearch.xml", get(feed::opensearch))
        .route("/sitemap.xml", get(sitemap::index))
        .route("/sitemap/{part}", get(sitemap::part))
        .route("/robots.txt", get(sitemap::robots))
        .route("/api/3/action/{name}", get(ckan::action).post(ckan::action))
        .route("/api/action/{name}", get(ckan::action).post(ckan::action))
        .route("/api/3", get(ckan::version))
        .route("/catalog", catalog::with_suffix(""))
        .route("/catalog.ttl", catalog::with_suffix(".ttl"))
        .route("/catalog.rdf", catalog::with_suffix(".rdf"))
        .route("/catalog.xml", catalog::with_suffix(".xml"))
        .route("/catalog.jsonld", catalog::with_suffix(".jsonld"))
        .route("/catalog.nt", catalog::with_suffix(".nt"))
}
