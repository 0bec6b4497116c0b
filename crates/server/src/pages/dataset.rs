//! The page of a dataset: metadata, downloads, profile, snippet, similar datasets, citation and example queries.

use super::diagram;
use super::entity::ExampleView;
use super::facets;
use super::place_map;
use super::similar::{CombinedTables, SimilarView};
use super::tables;
use super::{
    PageContext, RowsView, TripleView, WorkView, best_text, error, readable, render, rows_view,
    source_name, title_of, triple_view, work_view,
};
use crate::AppState;
use crate::entities;
use crate::error::ApiError;
use crate::example_queries::example_queries;
use crate::portal::cite::Citation;
use crate::portal::metadata::{File, PortalMetadata};
use crate::portal::{license_label, schema_org, signposting};
use crate::public_url::LinkBase;
use crate::site::Client;
use crate::sparql::MAX_ADDRESS_BYTES;
use crate::text::{href, is_web, query_address, shorten};
use askama::Template;
use axum::http::header;
use axum::response::Response;
use lodeseek_catalog::{Agent, DatasetId, Format, Location, Metadata, Scheme, Text, plain_text};
use lodeseek_engine::{
    Card, CoverageSource, Facet, Filter, PeriodCoverage, PlaceCoverage, RelatedDatasets, Schema,
    SchemaEdge, facet_label,
};
use lodeseek_rdf::vocab::dcat;
use lodeseek_rdf::{local_name, to_prefixed_name, words};
use lodeseek_snippet::draw;
use lodeseek_store::{DatasetWork, DatasetWorks, StoredFile};

/// Number of entities shown as examples, and of triples of each.
const MAX_EXAMPLES: usize = 4;
const MAX_EXAMPLE_TRIPLES: usize = 8;
/// Number of similar datasets shown.
const MAX_SIMILAR_DATASETS: usize = 5;
/// Number of members of a series shown.
const MAX_MEMBERS: usize = 200;
/// Links of series: property and id of the fact's name.
const SERIES_FACTS: [(&str, &str); 5] = [
    (dcat::IN_SERIES, "fact-series"),
    (dcat::FIRST, "fact-first"),
    (dcat::LAST, "fact-last"),
    (dcat::PREV, "fact-previous"),
    (dcat::NEXT, "fact-next"),
];
/// Number of works shown that use the dataset, and of characters of their titles.
const MAX_WORKS: usize = 50;
const MAX_WORK_TITLE_CHARACTERS: usize = 200;
/// Maximum number of bars of a chart.
const MAX_BARS: usize = 15;
/// Maximum number of links to tables.
const MAX_TABLES: usize = 6;
/// Number of download buttons at the top.
const MAX_BUTTONS: usize = 4;
/// Formats of the stored content and of the description: name and `format`.
pub(super) const SYNTAXES: [(&str, &str); 4] = [
    ("Turtle", "ttl"),
    ("N-Triples", "nt"),
    ("JSON-LD", "jsonld"),
    ("RDF/XML", "rdf"),
];

struct Bar {
    label: String,
    iri: String,
    count: u64,
    /// Count of the longest bar, for `<meter>`.
    longest: u64,
}

/// A text of the dataset in a language.
struct LocalizedText {
    text: String,
    /// The language, if it differs from that of the page.
    lang: Option<String>,
}

/// A value, as a link if it has an address.
struct ValueView {
    text: String,
    href: Option<String>,
    /// If true, the address is on another server.
    is_external: bool,
}

impl ValueView {
    fn plain(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            href: None,
            is_external: false,
        }
    }

    /// A link to an address on the web; other texts are plain.
    fn web(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            href: is_web(text).then(|| text.to_owned()),
            is_external: true,
        }
    }

    /// A link to the datasets with the same value of a facet.
    fn filter(page: &PageContext, facet: Facet, value: &str) -> Self {
        let text = facets::label(page, facet, value);
        Self {
            text,
            href: Some(page.link(filter_address(facet, value))),
            is_external: false,
        }
    }
}

/// A fact of the metadata with its values.
struct FactView {
    name: String,
    /// If true, the name comes from the data.
    is_raw: bool,
    values: Vec<ValueView>,
}

/// A file to download, or a page or service that gives access to the data.
struct DownloadView {
    /// Format, or what the address is.
    label: String,
    /// Size, if known.
    size: String,
    /// Title or file name, if it adds something.
    name: String,
    /// Address; `None` for local files that were not loaded.
    href: Option<String>,
    is_external: bool,
}

/// Link to the table of the entities of a class.
struct TableLink {
    label: String,
    count: String,
    href: String,
}

/// A section in the table of contents.
struct SectionView {
    anchor: &'static str,
    title: String,
}

#[derive(Template)]
#[template(path = "dataset.html")]
struct DatasetPage {
    page: PageContext,
    id: String,
    href: String,
    title: String,
    title_lang: Option<String>,
    descriptions: Vec<LocalizedText>,
    /// Descriptions in other languages.
    translations: Vec<LocalizedText>,
    /// Publishers, dates and licence in one line.
    byline: Vec<ValueView>,
    /// Buttons at the top.
    buttons: Vec<DownloadView>,
    sections: Vec<SectionView>,
    /// If true, it is a series: other datasets have the content.
    is_series: bool,
    /// If true, the store has triples of its content.
    has_content: bool,
    /// Relation of the stored triples to a remote endpoint's content, in words.
    relation: String,
    names: Vec<String>,
    /// Tables of the entities of its classes.
    tables: Vec<TableLink>,
    /// Works that introduced it.
    works: Vec<WorkView>,
    /// Works of the collection that use it: the latest ones, the number of all, and the number of those that are not listed.
    used_by: Vec<WorkView>,
    uses: usize,
    more_uses: usize,
    facts: Vec<FactView>,
    /// Identifiers, addresses and further properties of the catalogue.
    technical: Vec<FactView>,
    /// Map of the area as SVG.
    place_map: Option<String>,
    keywords: Vec<ValueView>,
    numbers: Vec<String>,
    classes: Vec<Bar>,
    properties: Vec<Bar>,
    languages: Vec<Bar>,
    vocabularies: Vec<Bar>,
    /// Diagram of classes and links as SVG; text from data is escaped.
    diagram: Option<String>,
    /// The links of the diagram.
    shape: Vec<LinkView>,
    /// Numbers of classes and links that the diagram omits, in words.
    left_out: Vec<String>,
    examples_of_classes: Vec<ExampleView>,
    /// Number of statements that could not be parsed.
    skipped: u64,
    /// Number of triples of the sample; 0 if there is none, because the content fits in memory.
    sampled_triples: u64,
    /// If true, the store has no triples of the content.
    is_index_only: bool,
    /// Text for a list of references.
    citation: String,
    bibtex: String,
    links: Vec<Bar>,
    method: String,
    triples: Vec<TripleView>,
    /// Rows of a table, if the content is a table.
    table: Option<RowsView>,
    /// SVG; text from data is escaped.
    drawing: String,
    files: Vec<DownloadView>,
    /// Copies of files that are elsewhere on the web.
    copies: Vec<DownloadView>,
    /// Names of the keys of the description that the operator edited.
    edited: String,
    /// The stored content, in each syntax.
    contents: Vec<DownloadView>,
    /// The description, in each syntax.
    descriptions_as: Vec<DownloadView>,
    /// Duplicates under other ids: (address, publisher).
    others: Vec<(String, String)>,
    /// Reasons why they are duplicates.
    why: String,
    /// Members of a series.
    members: Vec<ValueView>,
    /// Number of members that are not listed.
    more_members: usize,
    /// Other editions: (address, title, relation to this one).
    editions: Vec<(String, String, &'static str)>,
    more_editions: usize,
    /// Datasets whose tables can be joined or united.
    tables_to_combine: Vec<CombinedTables>,
    /// The most similar datasets.
    similar: Vec<SimilarView>,
    /// Maximum length of the address of a result, for the script of the form.
    max_address: usize,
    /// The first example query.
    example: String,
    /// Example queries: (title, address of the results).
    examples: Vec<(String, String)>,
    /// Address of this page.
    canonical: String,
    /// The description by schema.org as JSON-LD, escaped so that it cannot end its script element.
    json_ld: Option<String>,
}

/// Renders the page of a dataset.
pub(crate) async fn dataset(
    state: &AppState,
    client: Client,
    public: LinkBase,
    page: PageContext,
    id: DatasetId,
) -> Response {
    let context = page.clone();
    let portal = page.portal().to_owned();
    let complete = async {
        let mut card = state.card(&id).await?;
        // Examples are read from the content, and similar datasets are found among all.
        let loaded = state.work_with_permit(client, move |state| {
            let iri = state.store.iris().dataset(&id);
            let (described, base) = (PortalMetadata::read(&state.store, &id)?, public.as_str());
            let own = public.link(iri.as_str(), state.store.iris());
            let json_ld = described
                .as_ref()
                .map(|described| schema_org::script(described, &card, &own, base, &portal));
            let links = described
                .as_ref()
                .map(|described| signposting::links(described, &own, base, &card));
            let links = links.unwrap_or_default();
            tables::hide_descriptions(&mut card);
            let mut view = DatasetPage {
                json_ld,
                canonical: own,
                ..dataset_page(context, &card, iri.as_str())
            };
            view.add_themes(state, &id)?;
            if let Some(edits) = state.store.dataset_edits(&id)? {
                let names: Vec<String> = edits
                    .edits
                    .keys()
                    .map(|key| view.page.text(&format!("key-{key}")))
                    .collect();
                view.edited = names.join(", ");
            }
            if let Some(described) = &described {
                view.add_series(state, described)?;
                view.describe(described, &card);
            }
            view.relate(
                state
                    .searcher
                    .catalog()
                    .related_datasets(&id)?
                    .unwrap_or_default(),
            );
            view.add_works(&state.store.dataset_works(&id, MAX_WORKS)?);
            if view.has_content && !view.is_index_only {
                let resources = state.store.resources(&id)?;
                let found = entities::examples(
                    &resources,
                    &card,
                    MAX_EXAMPLES,
                    MAX_EXAMPLE_TRIPLES,
                    &view.page.languages,
                )?;
                view.examples_of_classes = super::entity::examples(&view.page, &card, &found);
            }
            let similar = state
                .searcher
                .similar_without_tables(&id, MAX_SIMILAR_DATASETS)?;
            view.similar = similar
                .iter()
                .flat_map(|found| &found.similar)
                .map(|one| SimilarView::new(&view.page, one))
                .collect();
            view.sections = view.sections();
            Ok((view, links))
        });
        loaded.await
    };
    match complete.await {
        Ok((view, links)) => {
            let mut response = render(&view);
            response
                .headers_mut()
                .extend(links.into_iter().map(|link| (header::LINK, link)));
            response
        }
        Err(failed) => error(&page, &failed),
    }
}

impl DatasetPage {
    /// Adds the themes of the catalogue or, without one, those that the words of the dataset suggest, marked as such.
    fn add_themes(&mut self, state: &AppState, id: &DatasetId) -> Result<(), ApiError> {
        for facet in [Facet::Theme, Facet::SuggestedTheme] {
            let mut values = Vec::new();
            for name in state.searcher.catalog().facet_values(id, facet)? {
                let value = ValueView::filter(&self.page, facet, &name);
                values.push(if facet == Facet::SuggestedTheme {
                    ValueView {
                        text: self.page.text_with("fact-suggested", "value", &value.text),
                        ..value
                    }
                } else {
                    value
                });
            }
            if !values.is_empty() {
                self.facts.push(FactView {
                    name: self.page.text("facet-theme"),
                    is_raw: false,
                    values,
                });
            }
        }
        Ok(())
    }

    /// Adds the members of a series; of other datasets, the series and the neighbours in it.
    fn add_series(&mut self, state: &AppState, described: &PortalMetadata) -> Result<(), ApiError> {
        for (property, id) in SERIES_FACTS {
            let mut values = Vec::new();
            for iri in described.dataset.linked_iris(property) {
                values.push(match state.store.dataset_with_iri(iri)? {
                    Some(other) => dataset_link(state, &self.page, &other)?,
                    None => ValueView::web(iri),
                });
            }
            if !values.is_empty() {
                self.facts.push(FactView {
                    name: self.page.text(id),
                    is_raw: false,
                    values,
                });
            }
        }
        if self.is_series {
            let members = state.store.series_members(&described.dataset.metadata.id)?;
            self.more_members = members.len().saturating_sub(MAX_MEMBERS);
            for member in members.iter().take(MAX_MEMBERS) {
                self.members.push(dataset_link(state, &self.page, member)?);
            }
        }
        Ok(())
    }

    /// Adds the works that use the dataset.
    fn add_works(&mut self, works: &DatasetWorks) {
        self.used_by = works.works.iter().map(using_work_view).collect();
        self.uses = works.all;
        self.more_uses = works.more();
    }

    /// Adds what only the catalogue graph has: files, further properties, the citation.
    fn describe(&mut self, described: &PortalMetadata, card: &Card) {
        let extra = described.dataset.extra_properties().into_iter();
        self.technical.extend(
            extra
                .filter(|one| one.property != dcat::IN_SERIES)
                .map(|one| FactView {
                    name: one.label.to_owned(),
                    is_raw: true,
                    values: vec![ValueView {
                        text: readable(&one.value),
                        ..ValueView::web(&one.value)
                    }],
                }),
        );
        self.skipped = described.skipped;
        self.is_index_only = described.is_index_only;
        if self.is_index_only {
            // Tables are read from the store.
            self.tables.clear();
        }
        let citation = Citation::new(described);
        self.citation = citation.text();
        self.bibtex = citation.bibtex();
        self.files = described
            .files
            .iter()
            .map(|file| download_view(&self.page, described, file, self.has_content))
            .collect();
        self.copies = described
            .files
            .iter()
            .filter(|file| matches!(file.location, Location::Remote(_)))
            .filter_map(|file| Some(copy_view(&self.page, described, file.kept.as_ref()?)))
            .collect();
        let files = described
            .files
            .iter()
            .map(|file| download_view(&self.page, described, file, self.has_content));
        for file in files.filter(|file| file.href.is_some()) {
            // Files without an address of their own lead to the content stored here.
            let is_new = self.buttons.iter().all(|button| button.href != file.href);
            if is_new && self.buttons.len() < MAX_BUTTONS {
                self.buttons.push(file);
            }
        }
        if self.buttons.is_empty() && self.has_content {
            self.buttons = content_views(&self.page, &described.iri, card)
                .into_iter()
                .take(2)
                .collect();
        }
        if self.buttons.is_empty() {
            let metadata = &card.metadata;
            let source = metadata
                .landing_page
                .as_deref()
                .or(metadata.source.as_deref());
            self.buttons
                .extend(
                    source
                        .filter(|address| is_web(address))
                        .map(|address| DownloadView {
                            label: self.page.text("go-to-source"),
                            size: String::new(),
                            name: host_name(address),
                            href: Some(address.to_owned()),
                            is_external: true,
                        }),
                );
        }
    }

    fn relate(&mut self, related: RelatedDatasets) {
        self.others = related
            .duplicates
            .iter()
            .map(|other| (href(&other.id), source_name(other)))
            .collect();
        self.why = related
            .reasons
            .iter()
            .map(|reason| reason.label())
            .collect::<Vec<_>>()
            .join("; ");
        self.editions = related
            .editions
            .into_iter()
            .map(|one| {
                (
                    href(&one.dataset.id),
                    one.dataset.title,
                    one.edition.label(),
                )
            })
            .collect();
        self.more_editions = related.more_editions;
        let tables = related.tables.iter();
        self.tables_to_combine = tables.map(CombinedTables::new).collect();
    }

    fn sections(&self) -> Vec<SectionView> {
        let sections = [
            ("members", "series-members", !self.members.is_empty()),
            (
                "preview",
                "preview",
                self.has_content && !self.triples.is_empty(),
            ),
            ("data", "content", self.has_content),
            ("connections", "connections", self.diagram.is_some()),
            (
                "entities",
                "example-entities",
                !self.examples_of_classes.is_empty(),
            ),
            (
                "query",
                "query-with-sparql",
                self.has_content && !self.is_index_only,
            ),
            ("similar", "similar-datasets", !self.similar.is_empty()),
            ("download", "download-and-cite", true),
        ];
        let shown = sections.into_iter().filter(|(.., is_shown)| *is_shown);
        shown
            .map(|(anchor, id, _)| SectionView {
                anchor,
                title: self.page.text(id),
            })
            .collect()
    }
}

/// Returns the view of a work that uses the dataset.
fn using_work_view(work: &DatasetWork) -> WorkView {
    WorkView {
        title: shorten(&readable(&work.title), MAX_WORK_TITLE_CHARACTERS),
        issued: work.year.map(|year| year.to_string()).unwrap_or_default(),
        href: work.url.clone().filter(|url| is_web(url)),
    }
}

fn dataset_page(page: PageContext, card: &Card, iri: &str) -> DatasetPage {
    let (metadata, profile) = (&card.metadata, &card.profile);
    let (title, title_lang) = title_of(&page, metadata);
    let snippet = card.snippet_in(&page.languages);
    let dataset = oxrdf::NamedNode::new_unchecked(iri);
    let examples = example_queries(card, &dataset, &page.locale);
    let (descriptions, translations) = descriptions(&page, &metadata.descriptions);
    let counts = [
        ("triples", profile.triples),
        ("entities", profile.entities),
        ("classes-count", profile.class_count),
        ("properties-count", profile.property_count),
        ("literals", profile.literals),
    ];
    DatasetPage {
        id: metadata.id.to_string(),
        href: href(&metadata.id),
        title_lang,
        descriptions,
        translations,
        byline: byline(&page, card),
        buttons: Vec::new(),
        sections: Vec::new(),
        is_series: metadata.is_series,
        has_content: profile.triples > 0,
        relation: card
            .remote
            .as_ref()
            .map(|remote| remote.coverage(profile.triples))
            .unwrap_or_default(),
        names: metadata
            .alternatives
            .iter()
            .map(|text| readable(&text.value))
            .collect(),
        works: metadata
            .introduced_by
            .iter()
            .map(|work| work_view(work, iri))
            .collect(),
        used_by: Vec::new(),
        uses: 0,
        more_uses: 0,
        facts: fact_list(&page, card),
        technical: technical_facts(&page, card, iri),
        tables: table_links(&page, card),
        place_map: place_map(&page, card),
        keywords: metadata
            .keywords
            .iter()
            .map(|text| ValueView::filter(&page, Facet::Keyword, &text.value))
            .collect(),
        numbers: counts.map(|(id, count)| page.count(id, count)).into(),
        classes: class_bars(card),
        properties: bar_views(&profile.properties, true),
        languages: bar_views(&profile.languages, false),
        vocabularies: vocabulary_bars(card),
        diagram: schema_diagram(&page, &card.schema, &title),
        shape: card
            .schema
            .edges
            .iter()
            .map(|edge| link_view(&page, &card.schema, edge))
            .collect(),
        left_out: left_out(&page, &card.schema),
        examples_of_classes: Vec::new(),
        skipped: 0,
        sampled_triples: card.sampled_triples.unwrap_or_default(),
        is_index_only: false,
        citation: String::new(),
        bibtex: String::new(),
        links: bar_views(&profile.links, false),
        method: card.snippet_method.clone(),
        triples: snippet
            .iter()
            .map(|triple| triple_view(triple, None))
            .collect(),
        table: card
            .table
            .as_ref()
            .map(|rows| rows_view(&page, &rows.into(), None)),
        drawing: draw(
            &snippet,
            &page.text_with("preview-graph-of", "title", &title),
        ),
        files: Vec::new(),
        copies: Vec::new(),
        edited: String::new(),
        contents: content_views(&page, iri, card),
        descriptions_as: SYNTAXES
            .map(|(name, format)| description_as(metadata.id.clone(), name, format))
            .into(),
        others: Vec::new(),
        why: String::new(),
        members: Vec::new(),
        more_members: 0,
        editions: Vec::new(),
        more_editions: 0,
        tables_to_combine: Vec::new(),
        similar: Vec::new(),
        max_address: MAX_ADDRESS_BYTES,
        example: examples
            .first()
            .map(|example| example.query.clone())
            .unwrap_or_default(),
        examples: examples
            .into_iter()
            .map(|example| (example.title, query_address(&example.query)))
            .collect(),
        canonical: String::new(),
        json_ld: None,
        title,
        page,
    }
}

/// Draws the classes and their links; `None` if no link connects them.
fn schema_diagram(page: &PageContext, schema: &Schema, title: &str) -> Option<String> {
    if schema.edges.is_empty() {
        return None;
    }
    diagram::draw(
        schema,
        &page.text_with("connections-of", "title", title),
        &page.text("no-class"),
    )
}

/// Returns the descriptions in the best language for the visitor, and those in other languages.
fn descriptions(page: &PageContext, texts: &[Text]) -> (Vec<LocalizedText>, Vec<LocalizedText>) {
    let best = best_text(page, texts).map(|text| text.language.clone());
    let (mut shown, mut others) = (Vec::new(), Vec::new());
    for text in texts {
        let view = LocalizedText {
            text: readable(&text.value),
            lang: page.foreign(text.language.as_deref()),
        };
        if Some(&text.language) == best.as_ref() {
            shown.push(view);
        } else {
            others.push(view);
        }
    }
    (shown, others)
}

/// Returns publishers, year and licence.
fn byline(page: &PageContext, card: &Card) -> Vec<ValueView> {
    let metadata = &card.metadata;
    let agents = if metadata.publishers.is_empty() {
        &metadata.creators
    } else {
        &metadata.publishers
    };
    let facet = if metadata.publishers.is_empty() {
        Facet::Creator
    } else {
        Facet::Publisher
    };
    let mut values: Vec<ValueView> = agents
        .iter()
        .take(3)
        .map(|agent| ValueView::filter(page, facet, &agent.name))
        .collect();
    values.extend(
        metadata
            .first_year()
            .map(|year| ValueView::plain(year.to_string())),
    );
    if let Some(license) = card.licenses().next() {
        values.push(ValueView {
            text: license_label(license),
            ..ValueView::web(license)
        });
    }
    values
}

fn fact_list(page: &PageContext, card: &Card) -> Vec<FactView> {
    let metadata = &card.metadata;
    let license = card.licenses().map(|text| ValueView {
        text: license_label(text),
        ..ValueView::web(text)
    });
    let all = [
        (
            "filter-publisher",
            agent_values(page, &metadata.publishers, Facet::Publisher),
        ),
        (
            "fact-creator",
            agent_values(page, &metadata.creators, Facet::Creator),
        ),
        (
            "facet-task",
            theme_values(page, metadata, Scheme::Task, Facet::Task),
        ),
        (
            "facet-modality",
            theme_values(page, metadata, Scheme::Modality, Facet::Modality),
        ),
        (
            "facet-language",
            theme_values(page, metadata, Scheme::Language, Facet::Language),
        ),
        (
            "fact-uses",
            metadata
                .uses
                .iter()
                .map(|uses| ValueView::plain(page.count("fact-uses-count", uses)))
                .collect(),
        ),
        ("filter-license", license.collect()),
        ("fact-issued", date_values(page, metadata.issued.as_deref())),
        (
            "fact-modified",
            date_values(page, metadata.modified.as_deref()),
        ),
        (
            "fact-place",
            card.coverage
                .place
                .iter()
                .map(|place| place_view(page, place))
                .collect(),
        ),
        (
            "fact-period",
            card.coverage
                .period
                .iter()
                .map(|period| period_view(page, period))
                .collect(),
        ),
        (
            "fact-homepage",
            metadata
                .landing_page
                .iter()
                .map(|text| ValueView::web(text))
                .collect(),
        ),
    ];
    fact_views(page, all.into())
}

fn agent_values(page: &PageContext, agents: &[Agent], facet: Facet) -> Vec<ValueView> {
    agents
        .iter()
        .map(|agent| ValueView::filter(page, facet, &agent.name))
        .collect()
}

fn theme_values(
    page: &PageContext,
    metadata: &Metadata,
    scheme: Scheme,
    facet: Facet,
) -> Vec<ValueView> {
    metadata
        .themes_of(scheme)
        .map(|label| ValueView::filter(page, facet, label))
        .collect()
}

fn date_values(page: &PageContext, text: Option<&str>) -> Vec<ValueView> {
    text.into_iter()
        .map(|text| ValueView::plain(page.locale.date(text)))
        .collect()
}

/// Returns identifiers and addresses for programs.
fn technical_facts(page: &PageContext, card: &Card, iri: &str) -> Vec<FactView> {
    let metadata = &card.metadata;
    let own = ValueView {
        href: Some(href(&metadata.id)),
        is_external: false,
        ..ValueView::plain(iri)
    };
    let source = metadata.source.iter().map(|text| ValueView::web(text));
    let endpoints = card
        .remote
        .iter()
        .map(|remote| ValueView::web(&remote.endpoint));
    let all = vec![
        ("fact-iri", vec![own]),
        ("fact-source", source.collect()),
        ("fact-endpoint", endpoints.collect()),
    ];
    fact_views(page, all)
}

/// Returns the facts that have a value.
fn fact_views(page: &PageContext, facts: Vec<(&'static str, Vec<ValueView>)>) -> Vec<FactView> {
    let mut views = Vec::new();
    for (id, values) in facts {
        if values.iter().any(|value| !value.text.is_empty()) {
            views.push(FactView {
                name: page.text(id),
                is_raw: false,
                values,
            });
        }
    }
    views
}

/// Draws the area of the dataset.
fn place_map(page: &PageContext, card: &Card) -> Option<String> {
    let place = card.coverage.place.as_ref()?;
    Some(place_map::draw(
        place.bounds,
        &page.text_with("place-map", "box", place.bounds),
    ))
}

/// Returns the area of the dataset with its origin, as a link to the datasets of this area.
fn place_view(page: &PageContext, place: &PlaceCoverage) -> ValueView {
    // The map shows the box.
    let text = match &place.name {
        Some(name) => readable(name),
        None => facets::place_text(place.bounds),
    };
    let filter = Filter {
        within: Some(place.bounds),
        ..Filter::default()
    };
    covered_view(page, place.source, &text, &filter)
}

/// Returns the period of the dataset with its origin, as a link to the datasets of this period.
fn period_view(page: &PageContext, period: &PeriodCoverage) -> ValueView {
    let filter = Filter {
        covers: Some(period.period),
        ..Filter::default()
    };
    covered_view(
        page,
        period.source,
        &facets::period_text(period.period),
        &filter,
    )
}

fn covered_view(
    page: &PageContext,
    source: CoverageSource,
    text: &str,
    filter: &Filter,
) -> ValueView {
    let origin = match source {
        CoverageSource::Metadata => "fact-from-metadata",
        CoverageSource::Content => "fact-from-content",
    };
    ValueView {
        text: page.text_with(origin, "value", text),
        href: Some(page.link(filtered_address(filter))),
        is_external: false,
    }
}

/// Returns a file as a download. Local files lead to the stored content, if there is any.
fn download_view(
    page: &PageContext,
    described: &PortalMetadata,
    file: &File,
    has_content: bool,
) -> DownloadView {
    let label = file.label();
    let is_external = matches!(file.location, Location::Remote(_));
    let address = if is_external || has_content || file.kept.is_some() {
        described.address(file, "/")
    } else {
        None
    };
    let name = readable(&plain_text(&file.name()));
    DownloadView {
        label: if label.is_empty() {
            page.text("download-file")
        } else {
            label
        },
        size: file
            .bytes
            .map(|bytes| page.locale.bytes(bytes))
            .unwrap_or_default(),
        name: if name.is_empty() {
            file.location.as_str().to_owned()
        } else {
            name
        },
        href: address.filter(|address| address.starts_with('/') || is_web(address)),
        is_external,
    }
}

/// Returns a kept file as a download.
fn copy_view(page: &PageContext, described: &PortalMetadata, kept: &StoredFile) -> DownloadView {
    let format = Format::from_path(&kept.name).map(|format| format.short.to_owned());
    DownloadView {
        label: format.unwrap_or_else(|| page.text("download-file")),
        size: page.locale.bytes(kept.bytes),
        name: readable(&kept.name),
        href: Some(described.kept_address(kept, "/")),
        is_external: false,
    }
}

/// Returns the stored content in each syntax; none without content.
fn content_views(page: &PageContext, iri: &str, card: &Card) -> Vec<DownloadView> {
    if card.profile.triples == 0 {
        return Vec::new();
    }
    SYNTAXES
        .map(|(name, format)| DownloadView {
            label: name.to_owned(),
            size: page.count("triples", card.profile.triples),
            name: String::new(),
            href: Some(content_address(iri, format)),
            is_external: false,
        })
        .into()
}

/// Returns the address of the stored content of a dataset in a format.
pub(super) fn content_address(iri: &str, format: &str) -> String {
    let mut parameters = form_urlencoded::Serializer::new(String::new());
    let parameters = parameters
        .append_pair("graph", iri)
        .append_pair("format", format)
        .finish();
    format!("/rdf-graph-store?{parameters}")
}

/// Returns the links to the tables of the largest classes.
fn table_links(page: &PageContext, card: &Card) -> Vec<TableLink> {
    let mut links = Vec::new();
    for (class, count) in &card.profile.classes {
        if tables::is_internal(card, class) {
            continue;
        }
        links.push(TableLink {
            label: tables::class_label(class),
            count: page.number(count),
            href: tables::address(&card.metadata.id, class),
        });
        if links.len() == MAX_TABLES {
            break;
        }
    }
    links
}

fn description_as(id: DatasetId, name: &str, format: &str) -> DownloadView {
    DownloadView {
        label: name.to_owned(),
        size: String::new(),
        name: String::new(),
        href: Some(format!("{}?format={format}", href(&id))),
        is_external: false,
    }
}

/// Returns a link to a dataset of this home, with its title.
fn dataset_link(
    state: &AppState,
    page: &PageContext,
    id: &DatasetId,
) -> Result<ValueView, ApiError> {
    let card = state.searcher.catalog().card(id)?;
    let title = match card {
        Some(card) => title_of(page, &card.metadata).0,
        None => id.to_string(),
    };
    Ok(ValueView {
        text: title,
        href: Some(page.link(href(id))),
        is_external: false,
    })
}

/// Returns the host of an address.
fn host_name(address: &str) -> String {
    let rest = address.split("://").nth(1).unwrap_or(address);
    rest.split(['/', '?', '#'])
        .next()
        .unwrap_or(rest)
        .to_owned()
}

/// Returns the address of the list of datasets with a value of a facet.
fn filter_address(facet: Facet, value: &str) -> String {
    filtered_address(&Filter::default().with(facet, value))
}

/// Returns the address of the list of datasets that pass a filter.
fn filtered_address(filter: &Filter) -> String {
    let mut parameters = form_urlencoded::Serializer::new(String::new());
    parameters.append_pair("q", "").append_pair("page", "0");
    parameters.extend_pairs(crate::parameters::filter_parameters(filter));
    format!("/?{}", parameters.finish())
}

/// A link between two classes.
struct LinkView {
    from: String,
    property: String,
    iri: String,
    to: String,
    triples: String,
}

fn link_view(page: &PageContext, schema: &Schema, edge: &SchemaEdge) -> LinkView {
    let no_class = page.text("no-class");
    let [from, to] =
        [edge.from, edge.to].map(|node| diagram::class_name(&schema.nodes[node], &no_class));
    let (property, iri) = (to_prefixed_name(&edge.property), edge.property.clone());
    LinkView {
        from,
        property,
        iri,
        to,
        triples: page.number(edge.triples),
    }
}

/// Describes what a diagram omits.
fn left_out(page: &PageContext, schema: &Schema) -> Vec<String> {
    let parts = [
        ("smaller-classes", schema.more_nodes),
        ("rarer-links", schema.more_edges),
    ];
    parts
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(id, count)| page.count(id, count))
        .collect()
}

/// Returns the classes. Those of rows have the names of the files.
fn class_bars(card: &Card) -> Vec<Bar> {
    let mut bars = bar_views(&card.profile.classes, true);
    for bar in &mut bars {
        bar.label = tables::class_label(&bar.iri);
    }
    bars
}

/// Returns vocabularies by their prefixes; those without one by their namespaces.
fn vocabulary_bars(card: &Card) -> Vec<Bar> {
    let mut bars = bar_views(&card.profile.vocabularies, false);
    for bar in &mut bars {
        let label = facet_label(Facet::Vocabulary, &bar.iri);
        bar.label = if label.contains(['/', '.']) {
            label
        } else {
            format!("{label}:")
        };
    }
    bars
}

fn bar_views(counts: &[(String, u64)], names: bool) -> Vec<Bar> {
    let longest = match counts.first() {
        Some((_, count)) => *count,
        None => 1,
    };
    let mut bars = Vec::new();
    for (iri, count) in counts.iter().take(MAX_BARS) {
        let label = if names {
            words(local_name(iri))
        } else {
            iri.trim_start_matches("https://")
                .trim_start_matches("http://")
                .to_owned()
        };
        bars.push(Bar {
            label,
            iri: iri.clone(),
            count: *count,
            longest,
        });
    }
    bars
}
