//! The page of a dataset: what it is, what is in it, and how to take it away.

use super::diagram;
use super::entity::ExampleView;
use super::similar::SimilarView;
use super::{Piece, TripleView, WorkView, error, from_whom, href, is_web, render, triple_view, work_view};
use crate::cite::Citation;
use crate::described::Described;
use crate::entity::examples as examples_of_classes;
use crate::error::ApiError;
use crate::examples::examples;
use crate::{AppState, schema_org, signposting};
use askama::Template;
use axum::http::header;
use axum::response::Response;
use lodeseek_catalog::{DatasetId, Scheme};
use lodeseek_engine::{Card, OtherEdition, Related, Schema, SchemaEdge};
use lodeseek_rdf::{grouped, local_name, prefixed, words};
use lodeseek_snippet::draw;

/// Entities shown as examples, and triples of each.
const EXAMPLES: usize = 4;
const EXAMPLE_TRIPLES: usize = 8;
/// Similar datasets shown on the page.
const SIMILAR: usize = 5;

struct Bar {
    label: String,
    iri: String,
    count: u64,
    /// Of the longest bar, for `<meter>`.
    longest: u64,
}

#[derive(Template)]
#[template(path = "dataset.html")]
struct DatasetPage {
    query: String,
    href: String,
    title: String,
    descriptions: Vec<String>,
    /// Whether triples were loaded for it.
    has_content: bool,
    /// How those triples stand to content that is elsewhere.
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
    /// The shape of the data as SVG, everything from data escaped.
    diagram: Option<String>,
    /// The links that the diagram shows: class, property, class, triples.
    shape: Vec<LinkView>,
    /// What the diagram leaves out.
    left_out: String,
    examples_of_classes: Vec<ExampleView>,
    /// Statements that could not be read.
    skipped: u64,
    /// The address of the content as it is here, without a syntax.
    content: String,
    bibtex: String,
    links: Vec<Bar>,
    method: String,
    triples: Vec<TripleView>,
    /// SVG, everything from data escaped.
    drawing: String,
    files: Vec<(String, bool)>,
    /// The same under other ids: (address, who has it).
    others: Vec<(String, String)>,
    /// Why they are the same.
    why: String,
    /// (address, title, what it is to this one)
    editions: Vec<(String, String, &'static str)>,
    more_editions: usize,
    /// The most similar.
    similar: Vec<SimilarView>,
    /// The first example.
    example: String,
    /// (what it shows, the address of its answer)
    examples: Vec<(String, String)>,
    /// The address by which it is to be known: its IRI.
    canonical: String,
    /// The description by schema.org; nothing in it can end its script.
    json_ld: Option<String>,
}

pub(crate) async fn dataset(state: &AppState, id: DatasetId, languages: Vec<String>) -> Response {
    let page = state.work(move |state| {
        let card = state.searcher.card(&id)?;
        let card = card.ok_or_else(|| ApiError::not_found(format!("there is no dataset {id}")))?;
        let iri = state.store.iris().dataset(&id);
        let (described, base) = (Described::read(&state.store, &id)?, state.store.iris().base());
        let json_ld = described.as_ref().map(|described| schema_org::script(described, &card, base));
        let links = described.as_ref().map(|described| signposting::links(described, base)).unwrap_or_default();
        let mut page = DatasetPage { json_ld, ..dataset_page(&card, iri.as_str(), &languages) };
        let told = described.iter().flat_map(|described| described.dataset.extra_properties());
        page.facts.extend(told.map(|(name, value)| (name, value.clone(), is_web(&value))));
        page.relate(state.searcher.related(&id)?.unwrap_or_default());
        page.skipped = described.as_ref().map_or(0, |described| described.skipped);
        page.bibtex = described.as_ref().map(|described| Citation::of(described).bibtex()).unwrap_or_default();
        if page.has_content {
            let resources = state.store.resources(&id)?;
            let found = examples_of_classes(&resources, &card, EXAMPLES, EXAMPLE_TRIPLES, &languages)?;
            page.examples_of_classes = super::entity::examples(&card, &found);
        }
        let similar = state.searcher.similar(&id, SIMILAR)?;
        page.similar = similar.iter().flat_map(|found| &found.similar).map(SimilarView::of).collect();
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
    fn relate(&mut self, related: Related) {
        self.others = related.duplicates.iter().map(|other| (href(&other.id), from_whom(other))).collect();
        self.why = related.reasons.iter().map(|reason| reason.label()).collect::<Vec<_>>().join("; ");
        let edition = |one: OtherEdition| (href(&one.dataset.id), one.dataset.title, one.edition.label());
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
    let examples = examples(card, &oxrdf::NamedNode::new_unchecked(iri));
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
        examples: examples.into_iter().map(|example| (example.title, asked(&example.query))).collect(),
        canonical: iri.to_owned(),
        json_ld: None,
    }
}

/// The page with the answer to a query.
fn asked(query: &str) -> String {
    let mut parameters = form_urlencoded::Serializer::new(String::new());
    format!("/sparql?{}", parameters.append_pair("query", query).append_pair("format", "html").finish())
}

/// A link of the shape.
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

/// What a shape leaves out, in words.
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

/// The address of a dataset's content by the Graph Store Protocol.
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
