//! Serialization of a snippet as RDF with its provenance (PROV-O).

use super::{Snippet, TripleBudget};
use lodeseek_rdf::vocab::{foaf, lodeseek, owl, prov, rdf};
use lodeseek_rdf::{TermId, TermRef, TripleGraph};
use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNode, Term, Triple};
use oxsdatatypes::DateTime;

/// Provenance of a snippet.
#[derive(Clone, Debug)]
pub struct Provenance<'p> {
    /// Dataset.
    pub dataset: &'p NamedNode,
    /// IRI of the snippet. Parts of the snippet have the same IRI with a fragment.
    pub snippet: &'p NamedNode,
    /// Name of the graph whose content was summarized.
    pub content: &'p NamedNode,
    /// Name of the method; see [`SnippetExtractor::name`](crate::SnippetExtractor::name).
    pub method: &'p str,
    /// Triple budget.
    pub budget: TripleBudget,
    /// Work bound of the method, if it has one.
    pub work: Option<u64>,
    /// Text of the query.
    pub query: Option<&'p str>,
    /// Time of extraction. Library code reads no clock; the caller provides the time.
    pub generated_at: Option<DateTime>,
}

impl Provenance<'_> {
    /// Returns the IRI of a part of the snippet. The store finds the description of a dataset by following objects that
    /// have its IRI and a fragment. A stored snippet is such an object, so its parts are its siblings.
    fn part(&self, name: &str) -> NamedNode {
        let whole = self.snippet.as_str().split('#').next().unwrap_or_default();
        NamedNode::new_unchecked(format!("{whole}#{name}"))
    }

    /// Converts a term. Blank nodes become IRIs, because the blank nodes of different snippets must stay distinct.
    fn term(&self, graph: &TripleGraph, id: TermId) -> Term {
        match graph.term(id) {
            TermRef::Blank(label) => self.part(&format!("node-{label}")).into(),
            TermRef::Triple(triple) => {
                let [subject, predicate, object] =
                    [triple.subject, triple.predicate, triple.object]
                        .map(|id| self.term(graph, id));
                // The parts are those of a triple, so the conversion cannot fail.
                match Triple::from_terms(subject, predicate, object) {
                    Ok(triple) => triple.into(),
                    Err(_) => graph.to_term(id),
                }
            }
            _ => graph.to_term(id),
        }
    }
}

/// Collector of output triples.
#[derive(Default)]
struct TripleWriter(Vec<Triple>);

impl TripleWriter {
    fn add(&mut self, subject: &NamedNode, property: &str, object: impl Into<Term>) {
        self.0.push(Triple::new(
            subject.clone(),
            NamedNode::new_unchecked(property),
            object,
        ));
    }

    fn kind(&mut self, subject: &NamedNode, class: &str) {
        self.add(subject, rdf::TYPE, NamedNode::new_unchecked(class));
    }
}

impl Snippet {
    /// Returns a `lodeseek:Snippet` with its provenance, and its triples as ranked `rdf:Statement`s.
    #[must_use]
    pub fn to_triples(&self, graph: &TripleGraph, provenance: &Provenance<'_>) -> Vec<Triple> {
        let mut out = TripleWriter(Vec::with_capacity(20 + 6 * self.triples.len()));
        describe(&mut out, provenance);
        for (place, triple) in self.triples.iter().enumerate() {
            let statement = provenance.part(&format!("statement-{}", place + 1));
            out.add(provenance.snippet, lodeseek::STATEMENT, statement.clone());
            out.kind(&statement, rdf::STATEMENT);
            out.add(
                &statement,
                rdf::SUBJECT,
                provenance.term(graph, triple.subject),
            );
            out.add(
                &statement,
                rdf::PREDICATE,
                provenance.term(graph, triple.predicate),
            );
            out.add(
                &statement,
                rdf::OBJECT,
                provenance.term(graph, triple.object),
            );
            out.add(&statement, lodeseek::RANK, Literal::from(place as i64 + 1));
        }
        out.0
    }

    /// Returns the chosen triples. Blank nodes have the same IRIs as in [`to_triples`](Self::to_triples).
    #[must_use]
    pub fn chosen_triples(&self, graph: &TripleGraph, provenance: &Provenance<'_>) -> Vec<Triple> {
        let mut triples = Vec::with_capacity(self.triples.len());
        for triple in &self.triples {
            if let Term::NamedNode(subject) = provenance.term(graph, triple.subject)
                && let Term::NamedNode(predicate) = provenance.term(graph, triple.predicate)
            {
                let object = provenance.term(graph, triple.object);
                triples.push(Triple::new(subject, predicate, object));
            }
        }
        triples
    }
}

fn describe(out: &mut TripleWriter, provenance: &Provenance<'_>) {
    let Provenance {
        dataset,
        snippet,
        content,
        ..
    } = *provenance;
    let making = provenance.part("snippet-making");
    let program = provenance.part("snippet-program");
    out.add(dataset, lodeseek::HAS_SNIPPET, snippet.clone());
    out.kind(snippet, lodeseek::SNIPPET);
    out.kind(snippet, prov::ENTITY);
    out.add(snippet, lodeseek::METHOD, Literal::from(provenance.method));
    out.add(
        snippet,
        lodeseek::BUDGET,
        Literal::from(provenance.budget.0 as i64),
    );
    if let Some(work) = provenance.work {
        out.add(snippet, lodeseek::WORK_BOUND, Literal::from(work as i64));
    }
    if let Some(query) = provenance.query {
        out.add(snippet, lodeseek::QUERY, Literal::from(query));
    }
    if let Some(generated_at) = provenance.generated_at {
        out.add(
            snippet,
            prov::GENERATED_AT_TIME,
            Literal::new_typed_literal(generated_at.to_string(), xsd::DATE_TIME),
        );
    }
    out.add(snippet, prov::WAS_DERIVED_FROM, content.clone());
    out.add(snippet, prov::WAS_GENERATED_BY, making.clone());
    out.kind(&making, prov::ACTIVITY);
    out.add(&making, prov::USED, content.clone());
    out.add(&making, prov::WAS_ASSOCIATED_WITH, program.clone());
    out.kind(&program, prov::SOFTWARE_AGENT);
    out.add(&program, foaf::NAME, Literal::from("Lodeseek"));
    out.add(
        &program,
        owl::VERSION_INFO,
        Literal::from(env!("CARGO_PKG_VERSION")),
    );
}
