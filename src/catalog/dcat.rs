//! DCAT: datasets out of a description in RDF, and datasets into the catalogue graph.
//! <https://www.w3.org/TR/vocab-dcat-3/>

use super::{
    Agent, Catalog, Dataset, DatasetId, Distribution, Extent, Iris, Location, Metadata, RemoteContent, Scheme, Text,
    Theme, Work,
};
use crate::rdf::intake::{Intake, Outcome};
use crate::rdf::vocab::{dc11, dcat, dcterms, foaf, lodeseek, owl, rdf, rdfs, sd, skos, vcard, void};
use crate::rdf::{LiteralKind, TermId, TermRef, TripleGraph, TripleGraphBuilder, local_name, words};
use oxrdf::{Literal, NamedNode, Term, Triple};
use rustc_hash::FxHashSet;
use std::io;
use std::path::Path;

/// Stands for the catalogue's folder while IRIs are resolved; what leaves it leaves the folder.
const FOLDER: &str = "file:///catalog-folder/";
const XSD_DATE: &str = "http://www.w3.org/2001/XMLSchema#date";
const XSD_YEAR: &str = "http://www.w3.org/2001/XMLSchema#gYear";

/// Reads a catalogue in any RDF syntax; a file without any `dcat:Dataset` is a dump, a catalogue of one.
pub fn read(path: &Path) -> io::Result<Catalog> {
    let name = path.file_name().map_or_else(|| "catalog".into(), |name| name.to_string_lossy().into_owned());
    let mut builder = TripleGraphBuilder::new();
    let base = format!("{FOLDER}{}", name.replace([' ', '#', '?', '%'], "_"));
    let reports = Intake::default().read_file(path, &name, &base, &mut builder);
    let graph = builder.finish();
    let unread = reports.iter().find(|r| matches!(r.outcome, Outcome::Unreadable | Outcome::Refused));
    if let Some(report) = unread.filter(|_| graph.is_empty()) {
        let reason = report.problems.first().map(ToString::to_string).unwrap_or_default();
        return Err(io::Error::other(reason));
    }
    let mut catalog = from_graph(&graph);
    let is_catalog = !catalog.datasets.is_empty() || of_class(&graph, dcat::CATALOG).next().is_some();
    if is_catalog {
        let problems = reports.iter().flat_map(|r| &r.problems);
        catalog.problems.extend(problems.map(|problem| format!("{}: {problem}", path.display())));
    } else {
        catalog.datasets.extend(dump_as_dataset(&graph, &name));
    }
    Ok(catalog)
}

/// The datasets a graph describes.
#[must_use]
pub fn from_graph(graph: &TripleGraph) -> Catalog {
    let mut catalog = Catalog::default();
    for node in of_class(graph, dcat::DATASET) {
        let reader = Reader { graph, node };
        match reader.dataset() {
            Some(dataset) => catalog.datasets.push(dataset),
            None => catalog
                .problems
                .push(format!("{}: no identifier, IRI or title to make an id of", describe(graph, node))),
        }
    }
    catalog
}

fn describe(graph: &TripleGraph, node: TermId) -> String {
    match graph.term(node) {
        TermRef::Iri(iri) => format!("<{iri}>"),
        term => format!("_:{}", term.text()),
    }
}

fn of_class<'g>(graph: &'g TripleGraph, class: &str) -> impl Iterator<Item = TermId> + use<'g> {
    let ids = graph.iri(rdf::TYPE).zip(graph.iri(class));
    graph
        .triples()
        .iter()
        .filter(move |triple| ids.is_some_and(|(kind, class)| triple.predicate == kind && triple.object == class))
        .map(|triple| triple.subject)
}

/// A dump without a catalogue: named after its file, described by its own header where it has one.
fn dump_as_dataset(graph: &TripleGraph, name: &str) -> Option<Dataset> {
    let stem = name.split('.').find(|part| !part.is_empty())?;
    let id = DatasetId::from_text(stem)?;
    let header = of_class(graph, owl::ONTOLOGY).next().or_else(|| of_class(graph, void::DATASET).next());
    let mut metadata = match header {
        Some(node) => Reader { graph, node }.metadata(id),
        None => Metadata::new(id),
    };
    if metadata.titles.is_empty() {
        metadata.titles.push(Text::plain(words(stem)));
    }
    let distributions = vec![Distribution { location: Location::File(name.to_owned()), media_type: None }];
    Some(Dataset { metadata, distributions, remote: None })
}

/// What a graph says of a node: its metadata, and the id that its `dct:identifier` makes, if it is one short word.
///
/// `None` where the graph says nothing of it.
#[must_use]
pub fn metadata_of(graph: &TripleGraph, node: &NamedNode, id: DatasetId) -> Option<(Option<DatasetId>, Metadata)> {
    let node = graph.iri(node.as_str()).filter(|node| !graph.subject_triples(*node).is_empty())?;
    let reader = Reader { graph, node };
    Some((reader.identifier(), reader.metadata(id)))
}

/// One node's description.
struct Reader<'g> {
    graph: &'g TripleGraph,
    node: TermId,
}

impl<'g> Reader<'g> {
    fn objects<'a>(&'a self, property: &str) -> impl Iterator<Item = TermId> + use<'a, 'g> {
        let property = self.graph.iri(property);
        let triples = self.graph.subject_triples(self.node);
        triples.iter().filter(move |triple| Some(triple.predicate) == property).map(|triple| triple.object)
    }

    fn texts(&self, properties: &[&str]) -> Vec<Text> {
        let (mut texts, mut seen) = (Vec::new(), FxHashSet::default());
        for property in properties {
            for object in self.objects(property) {
                let TermRef::Literal { lexical, kind } = self.graph.term(object) else { continue };
                let language = match kind {
                    LiteralKind::Language(tag) => Some(tag.to_owned()),
                    _ => None,
                };
                let text = Text { value: lexical.trim().to_owned(), language };
                if !text.value.is_empty() && seen.insert(text.clone()) {
                    texts.push(text);
                }
            }
        }
        texts
    }

    fn value(&self, properties: &[&str]) -> Option<String> {
        let texts = properties.iter().flat_map(|property| self.objects(property)).map(|object| self.graph.term(object));
        texts
            .filter(|term| !matches!(term, TermRef::Blank(_)))
            .map(|term| term.text().trim().to_owned())
            .find(|t| !t.is_empty())
    }

    fn agents(&self, properties: &[&str]) -> Vec<Agent> {
        let mut agents = Vec::new();
        for object in properties.iter().flat_map(|property| self.objects(property)) {
            let agent = match self.graph.term(object) {
                TermRef::Literal { lexical, .. } => Some(Agent { name: lexical.trim().to_owned(), iri: None }),
                term => {
                    let names = Reader { graph: self.graph, node: object };
                    let texts = names.texts(&[foaf::NAME, skos::PREF_LABEL, rdfs::LABEL, vcard::FN]);
                    let name = super::preferred(&texts, &["en"]).map(|text| text.value.clone());
                    let iri = matches!(term, TermRef::Iri(_)).then(|| term.text().to_owned());
                    let from_iri = iri.as_deref().map(|iri| words(local_name(iri)));
                    name.or(from_iri).map(|name| Agent { name, iri })
                }
            };
            agents.extend(agent.filter(|agent| !agent.name.is_empty() && !agents.contains(agent)));
        }
        agents
    }

    fn identifier(&self) -> Option<DatasetId> {
        let text = self.value(&[dcterms::IDENTIFIER])?;
        let name = if text.contains("://") { local_name(&text).to_owned() } else { text };
        DatasetId::new(name).ok()
    }

    /// `dct:identifier` where it is one short word, else the IRI's last part, else the title.
    fn id(&self) -> Option<DatasetId> {
        let from_iri = || match self.graph.term(self.node) {
            TermRef::Iri(iri) => DatasetId::from_text(local_name(iri)),
            _ => None,
        };
        let from_title = || DatasetId::from_text(&self.texts(&[dcterms::TITLE]).first()?.value);
        self.identifier().or_else(from_iri).or_else(from_title)
    }

    fn metadata(&self, id: DatasetId) -> Metadata {
        Metadata {
            titles: self.texts(&[dcterms::TITLE, dc11::TITLE, rdfs::LABEL, skos::PREF_LABEL]),
            descriptions: self.texts(&[dcterms::DESCRIPTION, dc11::DESCRIPTION, rdfs::COMMENT]),
            alternatives: self.texts(&[dcterms::ALTERNATIVE]),
            keywords: self.keywords(),
            themes: self.themes(),
            introduced_by: self.works(),
            uses: self.value(&[lodeseek::USES]).and_then(|count| count.parse().ok()),
            creators: self.agents(&[dcterms::CREATOR, dcterms::PUBLISHER, dc11::CREATOR]),
            license: self.value(&[dcterms::LICENSE, dcterms::RIGHTS]),
            issued: self.value(&[dcterms::ISSUED, dcterms::CREATED]),
            modified: self.value(&[dcterms::MODIFIED]),
            landing_page: self.value(&[dcat::LANDING_PAGE]),
            source: matches!(self.graph.term(self.node), TermRef::Iri(_))
                .then(|| self.graph.term(self.node).text().to_owned()),
            id,
        }
    }

    /// Keywords, and the names of themes where this description gives them.
    fn keywords(&self) -> Vec<Text> {
        let mut keywords = self.texts(&[dcat::KEYWORD]);
        for theme in self.parts(dcat::THEME).filter(|theme| theme.scheme().is_none()) {
            keywords.extend(theme.texts(&[skos::PREF_LABEL, rdfs::LABEL]));
        }
        keywords
    }

    fn parts<'a>(&'a self, property: &str) -> impl Iterator<Item = Reader<'g>> + use<'a, 'g> {
        self.objects(property).map(|node| Reader { graph: self.graph, node })
    }

    fn web_iri(&self) -> Option<String> {
        match self.graph.term(self.node) {
            TermRef::Iri(iri) => Some(iri.to_owned()),
            _ => None,
        }
    }

    fn scheme(&self) -> Option<Scheme> {
        let schemes: Vec<&str> = self.objects(skos::IN_SCHEME).map(|scheme| self.graph.term(scheme).text()).collect();
        Scheme::ALL.into_iter().find(|scheme| schemes.contains(&scheme_iri(*scheme)))
    }

    /// Themes of the lists that are known here; of others the names are keywords.
    fn themes(&self) -> Vec<Theme> {
        let theme = |reader: Reader<'_>| {
            let label = reader.value(&[skos::PREF_LABEL, rdfs::LABEL])?;
            Some(Theme { label, scheme: reader.scheme()?, iri: reader.web_iri() })
        };
        let mut themes: Vec<Theme> = self.parts(dcat::THEME).filter_map(theme).collect();
        themes.sort();
        themes
    }

    fn works(&self) -> Vec<Work> {
        let work = |reader: Reader<'_>| {
            let (title, issued) = (reader.value(&[dcterms::TITLE])?, reader.value(&[dcterms::ISSUED]));
            Some(Work { title, iri: reader.web_iri(), issued })
        };
        let mut works: Vec<Work> = self.parts(lodeseek::INTRODUCED_BY).filter_map(work).collect();
        works.sort();
        works
    }

    fn dataset(&self) -> Option<Dataset> {
        let metadata = self.metadata(self.id()?);
        let nodes = self.objects(dcat::DISTRIBUTION);
        let mut distributions: Vec<Distribution> =
            nodes.filter_map(|node| Reader { graph: self.graph, node }.distribution()).collect();
        for dump in self.objects(void::DATA_DUMP) {
            let location = location(self.graph.term(dump).text());
            if distributions.iter().all(|known| known.location != location) {
                distributions.push(Distribution { location, media_type: None });
            }
        }
        Some(Dataset { metadata, distributions, remote: None })
    }

    /// The content that this is a sample, or a copy, of.
    fn remote(&self) -> Option<RemoteContent> {
        let whole = self.parts(lodeseek::SAMPLE_OF).next()?;
        let classes: Vec<&str> = self.objects(rdf::TYPE).map(|class| self.graph.term(class).text()).collect();
        let sampled = classes.contains(&lodeseek::SAMPLED_CONTENT);
        Some(RemoteContent {
            endpoint: whole.value(&[void::SPARQL_ENDPOINT])?,
            graph: whole.value(&[sd::NAME]),
            extent: if sampled { Extent::Sample } else { Extent::Whole },
            triples: whole.number(void::TRIPLES),
            classes: whole.partition(void::CLASS_PARTITION, void::CLASS, void::ENTITIES),
            properties: whole.partition(void::PROPERTY_PARTITION, void::PROPERTY, void::TRIPLES),
        })
    }

    fn number(&self, property: &str) -> Option<u64> {
        self.value(&[property])?.parse().ok()
    }

    /// (class or property, count) of every part, the most frequent first.
    fn partition(&self, parts: &str, name: &str, count: &str) -> Vec<(String, u64)> {
        let part = |part: Reader<'_>| Some((part.value(&[name])?, part.number(count)?));
        let mut found: Vec<(String, u64)> = self.parts(parts).filter_map(part).collect();
        found.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        found
    }

    fn distribution(&self) -> Option<Distribution> {
        let location = location(&self.value(&[dcat::DOWNLOAD_URL, dcat::ACCESS_URL])?);
        let media_type = self.value(&[dcat::MEDIA_TYPE, dcterms::FORMAT]).map(|text| {
            text.strip_prefix("https://www.iana.org/assignments/media-types/")
                .or_else(|| text.strip_prefix("http://www.iana.org/assignments/media-types/"))
                .unwrap_or(&text)
                .to_owned()
        });
        Some(Distribution { location, media_type })
    }
}

fn location(text: &str) -> Location {
    match text.strip_prefix(FOLDER) {
        // An IRI cannot hold the spaces that a file's name may.
        Some(path) => Location::File(super::iris::decode_segment(path).unwrap_or_else(|| path.to_owned())),
        None => Location::from_text(text),
    }
}

/// A dataset as triples of the catalogue graph.
///
/// Every node that is not of the web at large has an IRI under the dataset's own, so that the description can be found
/// and replaced as one.
#[must_use]
pub fn to_triples(dataset: &Dataset, iris: &Iris) -> Vec<Triple> {
    let metadata = &dataset.metadata;
    let mut out = Writer { triples: Vec::new() };
    let node = iris.dataset(&metadata.id);
    out.iri(&iris.catalog(), dcat::HAS_DATASET, node.as_str());
    out.iri(&node, rdf::TYPE, dcat::DATASET);
    out.add(&node, dcterms::IDENTIFIER, Literal::from(metadata.id.as_str()));
    for (property, texts) in [
        (dcterms::TITLE, &metadata.titles),
        (dcterms::ALTERNATIVE, &metadata.alternatives),
        (dcterms::DESCRIPTION, &metadata.descriptions),
        (dcat::KEYWORD, &metadata.keywords),
    ] {
        for text in texts {
            out.add(&node, property, literal(text));
        }
    }
    out.themes(metadata, &node, iris);
    out.works(metadata, &node, iris);
    if let Some(uses) = metadata.uses {
        out.add(&node, lodeseek::USES, Literal::from(uses));
    }
    for (place, agent) in metadata.creators.iter().enumerate() {
        let creator = known_or(agent.iri.as_deref(), || iris.part(&metadata.id, &format!("creator-{}", place + 1)));
        out.iri(&node, dcterms::CREATOR, creator.as_str());
        out.iri(&creator, rdf::TYPE, foaf::AGENT);
        out.add(&creator, foaf::NAME, Literal::from(agent.name.as_str()));
    }
    for (property, value) in [
        (dcterms::LICENSE, &metadata.license),
        (dcterms::SOURCE, &metadata.source),
        (dcat::LANDING_PAGE, &metadata.landing_page),
    ] {
        if let Some(value) = value {
            out.add(&node, property, iri_or_literal(value));
        }
    }
    for (property, value) in [(dcterms::ISSUED, &metadata.issued), (dcterms::MODIFIED, &metadata.modified)] {
        if let Some(value) = value {
            out.add(&node, property, date(value));
        }
    }
    for (place, distribution) in dataset.distributions.iter().enumerate() {
        let part = iris.part(&metadata.id, &format!("distribution-{}", place + 1));
        out.iri(&node, dcat::DISTRIBUTION, part.as_str());
        out.iri(&part, rdf::TYPE, dcat::DISTRIBUTION_CLASS);
        out.add(&part, dcat::DOWNLOAD_URL, iri_or_literal(distribution.location.as_str()));
        if let Some(media_type) = &distribution.media_type {
            let iri = format!("https://www.iana.org/assignments/media-types/{media_type}");
            let known = media_type.contains('/') && !media_type.contains("://");
            out.add(&part, dcat::MEDIA_TYPE, iri_or_literal(if known { &iri } else { media_type }));
        }
    }
    if let Some(remote) = &dataset.remote {
        out.remote(remote, &node, iris.part(&metadata.id, "remote"));
    }
    out.triples
}

/// The metadata in the catalogue graph's description of a dataset; `None` where the graph does not describe it.
#[must_use]
pub fn from_triples(graph: &TripleGraph, dataset: &NamedNode) -> Option<Dataset> {
    let node = graph.iri(dataset.as_str())?;
    let reader = Reader { graph, node };
    let mut read = reader.dataset()?;
    read.metadata.source = reader.value(&[dcterms::SOURCE]);
    read.remote = reader.remote();
    Some(read)
}

/// The graph that holds a dataset's present content, as the catalogue graph states it.
#[must_use]
pub fn content_graph(dataset: &NamedNode, graph: &NamedNode, part: NamedNode) -> Vec<Triple> {
    let mut out = Writer { triples: Vec::new() };
    out.iri(dataset, crate::rdf::vocab::lodeseek::GRAPH, graph.as_str());
    out.iri(dataset, sd::NAMED_GRAPH, part.as_str());
    out.iri(&part, rdf::TYPE, sd::NAMED_GRAPH_CLASS);
    out.iri(&part, sd::NAME, graph.as_str());
    out.triples
}

struct Writer {
    triples: Vec<Triple>,
}

impl Writer {
    fn add(&mut self, subject: &NamedNode, predicate: &str, object: impl Into<Term>) {
        self.triples.push(Triple::new(subject.clone(), NamedNode::new_unchecked(predicate), object));
    }

    fn iri(&mut self, subject: &NamedNode, predicate: &str, object: &str) {
        self.add(subject, predicate, NamedNode::new_unchecked(object));
    }
}

impl Writer {
    fn themes(&mut self, metadata: &Metadata, node: &NamedNode, iris: &Iris) {
        for (place, theme) in metadata.themes.iter().enumerate() {
            let concept = known_or(theme.iri.as_deref(), || iris.part(&metadata.id, &format!("theme-{}", place + 1)));
            self.iri(node, dcat::THEME, concept.as_str());
            self.iri(&concept, rdf::TYPE, skos::CONCEPT);
            self.add(&concept, skos::PREF_LABEL, Literal::from(theme.label.as_str()));
            self.iri(&concept, skos::IN_SCHEME, scheme_iri(theme.scheme));
        }
    }

    /// The content elsewhere as a dataset of its own, with the counts of the endpoint: those of the dataset itself are of
    /// what is held here.
    fn remote(&mut self, remote: &RemoteContent, node: &NamedNode, whole: NamedNode) {
        if remote.extent == Extent::Sample {
            self.iri(node, rdf::TYPE, lodeseek::SAMPLED_CONTENT);
        }
        self.iri(node, lodeseek::SAMPLE_OF, whole.as_str());
        self.iri(&whole, rdf::TYPE, void::DATASET);
        for subject in [node, &whole] {
            self.add(subject, void::SPARQL_ENDPOINT, iri_or_literal(&remote.endpoint));
        }
        if let Some(graph) = &remote.graph {
            self.add(&whole, sd::NAME, iri_or_literal(graph));
        }
        if let Some(triples) = remote.triples {
            self.add(&whole, void::TRIPLES, Literal::from(triples));
        }
        let classes = (void::CLASS_PARTITION, void::CLASS, void::ENTITIES);
        let properties = (void::PROPERTY_PARTITION, void::PROPERTY, void::TRIPLES);
        for ((part_of, name, count), counts) in [(classes, &remote.classes), (properties, &remote.properties)] {
            for (place, (term, number)) in counts.iter().enumerate() {
                let part = NamedNode::new_unchecked(format!("{}-{}-{}", whole.as_str(), local_name(name), place + 1));
                self.iri(&whole, part_of, part.as_str());
                self.add(&part, name, iri_or_literal(term));
                self.add(&part, count, Literal::from(*number));
            }
        }
    }

    fn works(&mut self, metadata: &Metadata, node: &NamedNode, iris: &Iris) {
        for (place, work) in metadata.introduced_by.iter().enumerate() {
            let paper = known_or(work.iri.as_deref(), || iris.part(&metadata.id, &format!("work-{}", place + 1)));
            self.iri(node, lodeseek::INTRODUCED_BY, paper.as_str());
            self.add(&paper, dcterms::TITLE, Literal::from(work.title.as_str()));
            if let Some(issued) = &work.issued {
                self.add(&paper, dcterms::ISSUED, date(issued));
            }
        }
    }
}

/// The node that a catalogue names, or one of ours.
fn known_or(iri: Option<&str>, own: impl FnOnce() -> NamedNode) -> NamedNode {
    iri.and_then(|iri| NamedNode::new(iri).ok()).unwrap_or_else(own)
}

fn scheme_iri(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::Task => lodeseek::TASK,
        Scheme::Modality => lodeseek::MODALITY,
        Scheme::Language => lodeseek::LANGUAGE,
    }
}

fn literal(text: &Text) -> Literal {
    let tagged =
        text.language.as_deref().and_then(|tag| Literal::new_language_tagged_literal(text.value.as_str(), tag).ok());
    tagged.unwrap_or_else(|| Literal::from(text.value.as_str()))
}

fn iri_or_literal(value: &str) -> Term {
    match NamedNode::new(value) {
        Ok(node) if value.contains("://") || value.starts_with("urn:") => node.into(),
        _ => Literal::from(value).into(),
    }
}

/// `xsd:date` or `xsd:gYear` for what looks like one; anything else stays as it was written.
fn date(value: &str) -> Literal {
    let bytes = value.as_bytes();
    let is_date = bytes.len() == 10
        && bytes
            .iter()
            .enumerate()
            .all(|(place, byte)| if matches!(place, 4 | 7) { *byte == b'-' } else { byte.is_ascii_digit() });
    let is_year = bytes.len() == 4 && bytes.iter().all(u8::is_ascii_digit);
    match (is_date, is_year) {
        (true, _) => Literal::new_typed_literal(value, NamedNode::new_unchecked(XSD_DATE)),
        (_, true) => Literal::new_typed_literal(value, NamedNode::new_unchecked(XSD_YEAR)),
        _ => Literal::from(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph_of(triples: &[Triple]) -> TripleGraph {
        let mut builder = TripleGraphBuilder::new();
        for triple in triples {
            builder.insert(triple.as_ref());
        }
        builder.finish()
    }

    fn read_turtle(turtle: &str) -> Catalog {
        let mut builder = TripleGraphBuilder::new();
        Intake::default().read(turtle.as_bytes(), "c.ttl", &format!("{FOLDER}c.ttl"), &mut builder);
        from_graph(&builder.finish())
    }

    #[test]
    fn what_is_written_is_read_again() {
        let dataset = Dataset {
            metadata: Metadata {
                titles: vec![
                    Text { value: "Bäume".into(), language: Some("de".into()) },
                    Text { value: "Trees".into(), language: Some("en".into()) },
                ],
                descriptions: vec![Text::plain("All trees")],
                keywords: vec![Text::plain("oak"), Text::plain("trees")],
                creators: vec![
                    Agent { name: "City".into(), iri: Some("http://e.org/city".into()) },
                    Agent { name: "N. N.".into(), iri: None },
                ],
                license: Some("CC-BY-4.0".into()),
                issued: Some("2024-01-02".into()),
                modified: Some("last year".into()),
                landing_page: Some("http://e.org/trees".into()),
                source: Some("http://e.org/set/1".into()),
                alternatives: vec![Text::plain("Bäume 2024")],
                themes: vec![
                    Theme { label: "Counting".into(), scheme: Scheme::Task, iri: Some("http://e.org/count".into()) },
                    Theme { label: "Images".into(), scheme: Scheme::Modality, iri: None },
                ],
                introduced_by: vec![Work {
                    title: "On trees".into(),
                    iri: Some("http://e.org/paper".into()),
                    issued: Some("2023".into()),
                }],
                uses: Some(7),
                ..Metadata::new(DatasetId::new("1").expect("an id"))
            },
            distributions: vec![
                Distribution { location: Location::File("a/b.ttl".into()), media_type: Some("text/turtle".into()) },
                Distribution { location: Location::Remote("http://e.org/a.nt".into()), media_type: None },
            ],
            remote: Some(RemoteContent {
                endpoint: "http://e.org/sparql".into(),
                graph: Some("http://e.org/graph".into()),
                extent: Extent::Sample,
                triples: Some(1000),
                classes: vec![("http://e.org/B".into(), 5), ("http://e.org/A".into(), 4)],
                properties: vec![("http://e.org/p".into(), 900)],
            }),
        };
        let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
        let graph = graph_of(&to_triples(&dataset, &iris));
        let mut read = from_triples(&graph, &iris.dataset(&dataset.metadata.id)).expect("described");
        read.metadata.creators.sort();
        for agent in &mut read.metadata.creators {
            agent.iri = agent.iri.take().filter(|iri| !iri.starts_with(Iris::DEFAULT_BASE));
        }
        for theme in &mut read.metadata.themes {
            theme.iri = theme.iri.take().filter(|iri| !iri.starts_with(Iris::DEFAULT_BASE));
        }
        assert_eq!(read, dataset);
    }

    #[test]
    fn dcat_as_portals_write_it() {
        let catalog = read_turtle(
            r#"@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> . @prefix foaf: <http://xmlns.com/foaf/0.1/> .
            <http://e.org/set/7> a dcat:Dataset ; dct:title "Seven" ; dct:publisher [ a foaf:Agent ; foaf:name "City" ] ;
              dcat:distribution [ dcat:downloadURL <dumps/seven.ttl> ; dcat:mediaType <https://www.iana.org/assignments/media-types/text/turtle> ] ,
                [ dcat:accessURL <http://e.org/page> ] , [ dcat:downloadURL <../../etc/passwd> ] , [ dcat:downloadURL <a%20file.nt> ] .
            [] a dcat:Dataset ."#,
        );
        assert_eq!(catalog.problems.len(), 1);
        let dataset = &catalog.datasets[0];
        assert_eq!(dataset.metadata.id.as_str(), "7");
        assert_eq!(dataset.metadata.creators[0].name, "City");
        let mut places: Vec<&str> = dataset.distributions.iter().map(|d| d.location.as_str()).collect();
        places.sort_unstable();
        assert_eq!(places, ["a file.nt", "dumps/seven.ttl", "file:///etc/passwd", "http://e.org/page"]);
    }
}
