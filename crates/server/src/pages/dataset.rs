//! The page of a dataset: metadata, profile, snippet, similar datasets, downloads, citation and example queries.

use super::diagram;
use super::entity::ExampleView;
use super::similar::SimilarView;
use super::{Piece, TripleView, WorkView, error, render, source_name, triple_view, work_view};
use crate::AppState;
use crate::entities;
use crate::error::ApiError;
use crate::example_queries::example_queries;
use crate::portal::cite::Citation;
use crate::portal::metadata::PortalMetadata;
use crate::portal::{schema_org, signposting};
use crate::text::{href, is_web};
use askama::Template;
use axum::http::header;
use axum::response::Response;
use lodeseek_catalog::{DatasetId, Scheme};
use lodeseek_engine::{Card, RelatedDatasets, RelatedEdition, Schema, SchemaEdge};
use lodeseek_rdf::{grouped, local_name, prefixed, words};
use lodeseek_snippet::draw;

/// Number of entities shown as examples, and of triples of each.
const EXAMPLES: usize = 4;
const EXAMPLE_TRIPLES: usize = 8;
/// Number of similar datasets shown.
const SIMILAR: usize = 5;

struct Bar {
    label: String,
    iri: String,
    count: u64,
    /// Count of the longest bar, for `<meter>`.
    longest: u64,
}

#[derive(Template)]
#[template(path = "dataset.html")]
struct DatasetPage {
    query: String,
    href: String,
    title: String,
    descriptions: Vec<String>,
    /// If true, the store has triples of its content.
    has_content: bool,
    /// Relation of the stored triples to a remote endpoint's content, in words.
    relation: String,
    names: Vec<String>,
    works: Vec<WorkView>,
    facts: Vec<(&'static str, String, bool)>,
    keywords: Vec<String>,
    numbers: Vec<(&'static str, u64)>,
    classes: Vec<Bar>,
    properties: Vec<Bar>,
    languages: Vec<Bar>,
    vocabularies: Vec<Bar>,
    /// Diagram of classes and links as SVG; text from data is escaped.
    diagram: Option<String>,
    /// The links of the diagram.
    shape: Vec<LinkView>,
    /// Numbers of classes and links that the diagram omits, in words.
    left_out: String,
    examples_of_classes: Vec<ExampleView>,
    /// Number of statements that could not be parsed.
    skipped: u64,
    /// Address of the stored content, without a syntax.
    content: String,
    bibtex: String,
    links: Vec<Bar>,
    method: String,
    triples: Vec<TripleView>,
    /// SVG; text from data is escaped.
    drawing: String,
    files: Vec<(String, bool)>,
    /// Duplicates under other ids: (address, publisher).
    others: Vec<(String, String)>,
    /// Reasons why they are duplicates.
    why: String,
    /// Other editions: (address, title, relation to this one).
    editions: Vec<(String, String, &'static str)>,
    more_editions: usize,
    /// The most similar datasets.
    similar: Vec<SimilarView>,
    /// The first example query.
    example: String,
    /// Example queries: (title, address of the results).
    examples: Vec<(String, String)>,
    /// The dataset's IRI.
    canonical: String,
    /// The description by schema.org as JSON-LD, escaped so that it cannot end its script element.
    json_ld: Option<String>,
}

/// Renders the page of a dataset.
pub(crate) async fn dataset(state: &AppState, id: DatasetId, languages: Vec<String>) -> Response {
    let page = state.work(move |state| {
        let card = state.searcher.catalog().card(&id)?;
        let card = card.ok_or_else(|| ApiError::no_dataset(&id))?;
        let iri = state.store.iris().dataset(&id);
        let (described, base) = (PortalMetadata::read(&state.store, &id)?, state.store.iris().base());
        let json_ld = described.as_ref().map(|described| schema_org::script(described, &card, base));
        let links = described.as_ref().map(|described| signposting::links(described, base)).unwrap_or_default();
        let mut page = DatasetPage { json_ld, ..dataset_page(&card, iri.as_str(), &languages) };
        let extra = described.iter().flat_map(|described| described.dataset.extra_properties());
        page.facts.extend(extra.map(|(name, value)| (name, value.clone(), is_web(&value))));
        page.relate(state.searcher.catalog().related(&id)?.unwrap_or_default());
        page.skipped = described.as_ref().map_or(0, |described| described.skipped);
        page.bibtex = described.as_ref().map(|described| Citation::new(described).bibtex()).unwrap_or_default();
        if page.has_content {
            let resources = state.store.resources(&id)?;
            let found = entities::examples(&resources, &card, EXAMPLES, EXAMPLE_TRIPLES, &languages)?;
            page.examples_of_classes = super::entity::examples(&card, &found);
        }
        let similar = state.searcher.similar(&id, SIMILAR)?;
        page.similar = similar.iter().flat_map(|found| &found.similar).map(SimilarView::new).collect();
        Ok((page, links))
    });
    match page.await {
        Ok((page, links)) => {
            let mut response = render(&page);
            response.headers_mut().extend(links.into_iter().map(|link| (header::LINK, link)));
            response
        }
        Err(failed) => error(&failed),
    }
}

impl DatasetPage {
    fn relate(&mut self, related: RelatedDatasets) {
        self.others = related.duplicates.iter().map(|other| (href(&other.id), source_name(other))).collect();
        self.why = related.reasons.iter().map(|reason| reason.label()).collect::<Vec<_>>().join("; ");
        let edition = |one: RelatedEdition| (href(&one.dataset.id), one.dataset.title, one.edition.label());
        self.editions = related.editions.into_iter().map(edition).collect();
        self.more_editions = related.more_editions;
    }
}

fn dataset_page(card: &Card, iri: &str, languages: &[String]) -> DatasetPage {
    let (metadata, profile) = (&card.metadata, &card.profile);
    let mut facts: Vec<(&'static str, String, bool)> = Vec::new();
    let mut fact = |name: &'static str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            let link = is_web(&value);
            facts.push((name, value, link));
        }
    };
    fact("By", Some(metadata.agents().map(|agent| agent.name.as_str()).collect::<Vec<_>>().join(", ")));
    for (name, scheme) in [("Tasks", Scheme::Task), ("Modalities", Scheme::Modality), ("Languages", Scheme::Language)] {
        fact(name, Some(metadata.themes_of(scheme).collect::<Vec<_>>().join(", ")));
    }
    fact("Uses", metadata.uses.map(|uses| format!("{uses} works, as of the catalogue")));
    fact("Licence", metadata.license.clone());
    fact("Issued", metadata.issued.clone());
    fact("Modified", metadata.modified.clone());
    fact("Homepage", metadata.landing_page.clone());
    fact("Source", metadata.source.clone());
    fact("Dataset IRI", Some(iri.to_owned()));
    fact("Endpoint", card.remote.as_ref().map(|remote| remote.endpoint.clone()));
    let snippet = card.snippet_in(languages);
    let examples = example_queries(card, &oxrdf::NamedNode::new_unchecked(iri));
    let plain = |text: &str| vec![Piece { text: text.to_owned(), matched: false }];
    DatasetPage {
        query: String::new(),
        href: href(&metadata.id),
        title: metadata.title().to_owned(),
        has_content: profile.triples > 0,
        relation: card.remote.as_ref().map(|remote| remote.coverage(profile.triples)).unwrap_or_default(),
        names: metadata.alternatives.iter().map(|text| text.value.clone()).collect(),
        works: metadata.introduced_by.iter().map(|work| work_view(work, iri)).collect(),
        descriptions: metadata.descriptions.iter().map(|text| text.value.clone()).collect(),
        facts,
        keywords: metadata.keywords.iter().map(|text| text.value.clone()).collect(),
        numbers: vec![
            ("triples", profile.triples),
            ("entities", profile.entities),
            ("classes", profile.class_count),
            ("properties", profile.property_count),
            ("literals", profile.literals),
        ],
        classes: bars(&profile.classes, true),
        properties: bars(&profile.properties, true),
        languages: bars(&profile.languages, false),
        vocabularies: bars(&profile.vocabularies, false),
        diagram: diagram::draw(&card.schema, &format!("The shape of {}", metadata.title())),
        shape: card.schema.edges.iter().map(|edge| link_view(&card.schema, edge)).collect(),
        left_out: left_out(&card.schema),
        examples_of_classes: Vec::new(),
        skipped: 0,
        content: content(iri),
        bibtex: String::new(),
        links: bars(&profile.links, false),
        method: card.snippet_method.clone(),
        triples: snippet.iter().map(|triple| triple_view(triple, plain)).collect(),
        drawing: draw(&snippet, &format!("The snippet of {} as a graph", metadata.title())),
        files: card
            .distributions
            .iter()
            .map(|d| (d.location.as_str().to_owned(), is_web(d.location.as_str())))
            .collect(),
        others: Vec::new(),
        why: String::new(),
        editions: Vec::new(),
        more_editions: 0,
        similar: Vec::new(),
        example: examples.first().map(|example| example.query.clone()).unwrap_or_default(),
        examples: examples.into_iter().map(|example| (example.title, query_address(&example.query))).collect(),
        canonical: iri.to_owned(),
        json_ld: None,
    }
}

/// Returns the address of the results of a query.
fn query_address(query: &str) -> String {
    let mut parameters = form_urlencoded::Serializer::new(String::new());
    format!("/sparql?{}", parameters.append_pair("query", query).append_pair("format", "html").finish())
}

/// A link between two classes.
struct LinkView {
    from: String,
    property: String,
    iri: String,
    to: String,
    triples: String,
}

fn link_view(schema: &Schema, edge: &SchemaEdge) -> LinkView {
    let [from, to] = [edge.from, edge.to].map(|node| diagram::class_name(&schema.nodes[node]));
    let (property, iri) = (prefixed(&edge.property), edge.property.clone());
    LinkView { from, property, iri, to, triples: grouped(edge.triples) }
}

/// Describes what a diagram omits.
fn left_out(schema: &Schema) -> String {
    let count = |count: u64, one: &str, many: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        count => Some(format!("{} {many}", grouped(count))),
    };
    let parts = [
        count(schema.more_nodes, "smaller class", "smaller classes"),
        count(schema.more_edges, "rarer link", "rarer links"),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" and ")
}

/// Returns the address of a dataset's content by the Graph Store Protocol.
fn content(iri: &str) -> String {
    let mut parameters = form_urlencoded::Serializer::new(String::new());
    format!("/rdf-graph-store?{}", parameters.append_pair("graph", iri).finish())
}

fn bars(counts: &[(String, u64)], names: bool) -> Vec<Bar> {
    let longest = counts.first().map_or(1, |(_, count)| *count);
    let bare = |text: &str| text.trim_start_matches("https://").trim_start_matches("http://").to_owned();
    let label = |text: &str| if names { words(local_name(text)) } else { bare(text) };
    counts
        .iter()
        .take(15)
        .map(|(iri, count)| Bar { label: label(iri), iri: iri.clone(), count: *count, longest })
        .collect()
}
