//! A snippet as RDF, with what made it, of which content, and when.

use super::{Snippet, TripleBudget};
use lodeseek_rdf::vocab::{foaf, lodeseek, owl, prov, rdf};
use lodeseek_rdf::{TermId, TermRef, TripleGraph};
use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNode, NamedOrBlankNode, Term, Triple};
use oxsdatatypes::DateTime;

/// How a snippet came to be.
#[derive(Clone, Debug)]
pub struct Provenance<'p> {
    /// The dataset.
    pub dataset: &'p NamedNode,
    /// The snippet's own IRI; parts of it have the same with a fragment behind.
    pub snippet: &'p NamedNode,
    /// The name of the graph that holds the content it was made from.
    pub content: &'p NamedNode,
    /// The method, by the name its extractor has.
    pub method: &'p str,
    /// The most triples it was allowed.
    pub budget: TripleBudget,
    /// The bound on the method's steps, where it has one.
    pub work: Option<u64>,
    /// The words it was made for.
    pub query: Option<&'p str>,
    /// When. Stages read no clock: whoever has one says it.
    pub made: Option<DateTime>,
}

impl Provenance<'_> {
    /// A part of the snippet. The store finds all that is said of a dataset by following objects with its IRI and a
    /// fragment, so a stored snippet, itself such a part, has its parts beside it.
    fn part(&self, name: &str) -> NamedNode {
        let whole = self.snippet.as_str().split('#').next().unwrap_or_default();
        NamedNode::new_unchecked(format!("{whole}#{name}"))
    }

    /// A term of the graph. Blank nodes get names: those of one snippet must stay apart from those of all others.
    fn term(&self, graph: &TripleGraph, id: TermId) -> Term {
        match graph.term(id) {
            TermRef::Blank(label) => self.part(&format!("node-{label}")).into(),
            other => other.to_term(),
        }
    }
}

/// Triples being written.
#[derive(Default)]
struct Out(Vec<Triple>);

impl Out {
    fn add(&mut self, subject: &NamedNode, property: &str, object: impl Into<Term>) {
        self.0.push(Triple::new(subject.clone(), NamedNode::new_unchecked(property), object));
    }

    fn kind(&mut self, subject: &NamedNode, class: &str) {
        self.add(subject, rdf::TYPE, NamedNode::new_unchecked(class));
    }
}

impl Snippet {
    /// A `lodeseek:Snippet` with its provenance, and its triples as statements with ranks.
    #[must_use]
    pub fn to_triples(&self, graph: &TripleGraph, provenance: &Provenance<'_>) -> Vec<Triple> {
        let mut out = Out(Vec::with_capacity(20 + 6 * self.triples.len()));
        describe(&mut out, provenance);
        for (place, triple) in self.triples.iter().enumerate() {
            let statement = provenance.part(&format!("statement-{}", place + 1));
            out.add(provenance.snippet, lodeseek::STATEMENT, statement.clone());
            out.kind(&statement, rdf::STATEMENT);
            out.add(&statement, rdf::SUBJECT, provenance.term(graph, triple.subject));
            out.add(&statement, rdf::PREDICATE, provenance.term(graph, triple.predicate));
            out.add(&statement, rdf::OBJECT, provenance.term(graph, triple.object));
            out.add(&statement, lodeseek::RANK, Literal::from(place as i64 + 1));
        }
        out.0
    }

    /// The chosen triples themselves, their blank nodes named as in [`to_triples`](Self::to_triples).
    #[must_use]
    pub fn chosen_triples(&self, graph: &TripleGraph, provenance: &Provenance<'_>) -> Vec<Triple> {
        let node = |id| match provenance.term(graph, id) {
            Term::NamedNode(node) => Some(node),
            _ => None,
        };
        let triple = |triple: &lodeseek_rdf::Triple| {
            let (subject, predicate) = (node(triple.subject)?, node(triple.predicate)?);
            Some(Triple::new(NamedOrBlankNode::from(subject), predicate, provenance.term(graph, triple.object)))
        };
        self.triples.iter().filter_map(triple).collect()
    }
}

fn describe(out: &mut Out, provenance: &Provenance<'_>) {
    let Provenance { dataset, snippet, content, .. } = *provenance;
    let (making, program) = (provenance.part("snippet-making"), provenance.part("snippet-program"));
    out.add(dataset, lodeseek::HAS_SNIPPET, snippet.clone());
    out.kind(snippet, lodeseek::SNIPPET);
    out.kind(snippet, prov::ENTITY);
    out.add(snippet, lodeseek::METHOD, Literal::from(provenance.method));
    out.add(snippet, lodeseek::BUDGET, Literal::from(provenance.budget.0 as i64));
    if let Some(work) = provenance.work {
        out.add(snippet, lodeseek::WORK_BOUND, Literal::from(work as i64));
    }
    if let Some(query) = provenance.query {
        out.add(snippet, lodeseek::QUERY, Literal::from(query));
    }
    if let Some(made) = provenance.made {
        out.add(snippet, prov::GENERATED_AT_TIME, Literal::new_typed_literal(made.to_string(), xsd::DATE_TIME));
    }
    out.add(snippet, prov::WAS_DERIVED_FROM, content.clone());
    out.add(snippet, prov::WAS_GENERATED_BY, making.clone());
    out.kind(&making, prov::ACTIVITY);
    out.add(&making, prov::USED, content.clone());
    out.add(&making, prov::WAS_ASSOCIATED_WITH, program.clone());
    out.kind(&program, prov::SOFTWARE_AGENT);
    out.add(&program, foaf::NAME, Literal::from("Lodeseek"));
    out.add(&program, owl::VERSION_INFO, Literal::from(env!("CARGO_PKG_VERSION")));
}
