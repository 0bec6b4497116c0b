//! Coverage by definition, the published outputs, and the conformance suite.

use super::*;
use crate::conformance::{self, Guarantees};
use crate::keyword::KeywordSet;
use lodeseek_rdf::{TermRef, TripleGraphBuilder};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Coverage of triples: patterns of complete entities, and links between complete entities.
#[derive(Debug, PartialEq, Eq, Default)]
struct Covered {
    entities: BTreeSet<PatternId>,
    links: BTreeSet<LinkPatternId>,
}

fn covered(graph: &TripleGraph, patterns: &Patterns, triples: &[Triple]) -> Covered {
    let entity_graph = EntityGraph::new(graph, patterns);
    let shown: BTreeSet<(TermId, Element)> = triples
        .iter()
        .flat_map(|&triple| entity_graph.contributions(triple))
        .collect();
    let subjects: BTreeSet<TermId> = triples.iter().map(|triple| triple.subject).collect();
    let complete = |entity: TermId| {
        let pattern = patterns.pattern(patterns.pattern_of(entity)?);
        let all = pattern
            .elements
            .iter()
            .all(|&element| shown.contains(&(entity, element)));
        (all && (!pattern.elements.is_empty() || subjects.contains(&entity))).then_some(pattern.id)
    };
    let mut covered = Covered::default();
    for triple in triples {
        covered.entities.extend(
            [triple.subject, triple.object]
                .into_iter()
                .filter_map(complete),
        );
        let place = graph.triples().binary_search(triple).expect("of the graph");
        if let Some(link) = patterns.link_pattern_of(place)
            && complete(triple.subject).is_some()
            && complete(triple.object).is_some()
        {
            covered.links.insert(link);
        }
    }
    covered
}

fn all(patterns: &Patterns) -> Covered {
    Covered {
        entities: patterns.patterns().map(|pattern| pattern.id).collect(),
        links: (0..patterns.link_patterns().len() as u32)
            .map(LinkPatternId)
            .collect(),
    }
}

fn extract(extractor: &dyn SnippetExtractor, graph: &TripleGraph) -> Snippet {
    extractor.extract(graph, &Profile::new(graph), TripleBudget(usize::MAX))
}

/// Keywords of one letter each; a term matches if it contains the letter.
struct Letters(&'static str);

impl Letters {
    fn matches(&self, keyword: usize, graph: &TripleGraph, term: TermId) -> bool {
        let text = graph.term(term).text();
        text.rsplit('/')
            .next()
            .is_some_and(|name| name.contains(&self.0[keyword..=keyword]))
    }
}

impl KeywordMatcher for Letters {
    fn match_terms(&self, graph: &TripleGraph) -> Vec<KeywordSet> {
        let contained = |term: u32| {
            (0..self.0.len()).filter(move |&keyword| self.matches(keyword, graph, TermId(term)))
        };
        (0..graph.term_count() as u32)
            .map(|term| KeywordSet(contained(term).fold(0, |set, keyword| set | 1 << keyword)))
            .collect()
    }
}

#[test]
fn every_extractor_conforms() {
    conformance::check(&Pcsg::default(), Guarantees::default());
    conformance::check(&Pcsg::tau(), Guarantees::default());
    conformance::check(&PatternRepresentatives::default(), Guarantees::default());
    conformance::check(
        &Pcsg::new(PcsgOptions {
            keywords: Some(&Letters("pn8")),
            ..Default::default()
        }),
        Guarantees::default(),
    );
    conformance::check(
        &Pcsg::new(PcsgOptions {
            work: 0,
            ..PcsgOptions::default()
        }),
        Guarantees::default(),
    );
}

#[test]
fn every_extractor_keeps_its_deadline() {
    fn pcsg(deadline: Deadline<'_>) -> Box<dyn SnippetExtractor + '_> {
        Box::new(Pcsg::new(PcsgOptions {
            work: u64::MAX,
            deadline,
            ..PcsgOptions::default()
        }))
    }
    fn patterns(deadline: Deadline<'_>) -> Box<dyn SnippetExtractor + '_> {
        Box::new(PatternRepresentatives::new(RepresentativeOptions {
            deadline,
        }))
    }
    conformance::check_deadline(pcsg, Guarantees::default());
    conformance::check_deadline(
        patterns,
        Guarantees {
            anytime: true,
            ..Guarantees::default()
        },
    );
}

/// The budget cuts the snippet of every method. Only a bound of steps or a deadline interrupts the search.
#[test]
fn a_small_budget_is_no_interruption() {
    let graph = conformance::graph_of(
        "e:a e:p e:b ; e:q 1 , 2 ; e:r e:c . e:b e:s 3 ; a e:C . e:c e:t 4 ; a e:D . e:d e:u e:a ; a e:E .",
    );
    let profile = Profile::new(&graph);
    let extractors: [&dyn SnippetExtractor; 3] = [
        &Pcsg::default(),
        &Pcsg::tau(),
        &PatternRepresentatives::default(),
    ];
    for extractor in extractors {
        for budget in [1, 2, 3, 20] {
            let snippet = extractor.extract(&graph, &profile, TripleBudget(budget));
            let name = extractor.name();
            assert!(!snippet.interrupted, "{name} with {budget} triples");
        }
    }
    let bounded = Pcsg::new(PcsgOptions {
        work: 0,
        ..PcsgOptions::default()
    });
    let snippet = bounded.extract(&graph, &profile, TripleBudget(1));
    assert!(snippet.interrupted, "a bound of no step");
}

proptest! {
    #[test]
    fn everything_is_covered(statements in conformance::random_statements()) {
        let graph = conformance::graph_of(&statements.concat());
        let patterns = Patterns::new(&graph);
        let found = extract(&Pcsg::default(), &graph);
        prop_assert_eq!(covered(&graph, &patterns, &found.triples), all(&patterns));
        prop_assert!((found.gain - 1.0).abs() < 1e-9 || patterns.patterns().any(|pattern| pattern.elements.is_empty()));
        for work in [0, 1, 30, 100, 200, 300, 500] {
            let bounded = extract(&Pcsg::new(PcsgOptions { work, ..PcsgOptions::default() }), &graph);
            prop_assert_eq!(covered(&graph, &patterns, &bounded.triples), all(&patterns));
            prop_assert!(bounded.interrupted || bounded == found);
        }
        let representatives = extract(&PatternRepresentatives::default(), &graph);
        prop_assert_eq!(covered(&graph, &patterns, &representatives.triples).entities, all(&patterns).entities);
    }

    #[test]
    fn tau_covers_its_shares_and_keywords_are_shown(statements in conformance::random_statements()) {
        let graph = conformance::graph_of(&statements.concat());
        let patterns = Patterns::new(&graph);
        let found = covered(&graph, &patterns, &extract(&Pcsg::tau(), &graph).triples);
        let entities: u64 = found.entities.iter().map(|&id| patterns.pattern(id).count()).sum();
        prop_assert!(entities as f64 >= 0.9 * patterns.entities().len() as f64 - 1e-9);
        let links: u64 = found.links.iter().map(|&id| patterns.link_count(id)).sum();
        prop_assert!(links as f64 >= 0.8 * patterns.total_links() as f64 - 1e-9);
        let letters = Letters("678");
        let with_keywords = extract(&Pcsg::new(PcsgOptions { keywords: Some(&letters), ..PcsgOptions::default() }), &graph);
        prop_assert_eq!(covered(&graph, &patterns, &with_keywords.triples), all(&patterns));
        for keyword in 0..letters.0.len() {
            let hit = |t: &Triple| [t.subject, t.predicate, t.object].iter().any(|&term| letters.matches(keyword, &graph, term));
            prop_assert_eq!(with_keywords.triples.iter().any(hit), graph.triples().iter().any(hit));
        }
    }

    /// Without trees, patterns that exceed the budget are left out; the budget is filled nevertheless.
    #[test]
    fn patterns_left_out_leave_no_room(statements in conformance::random_statements(), budget in 1usize..8) {
        let graph = conformance::graph_of(&statements.concat());
        let pcsg = Pcsg::new(PcsgOptions { work: 0, ..PcsgOptions::default() });
        let whole = extract(&pcsg, &graph);
        let part = pcsg.extract(&graph, &Profile::new(&graph), TripleBudget(budget));
        prop_assert_eq!(part.triples.len(), whole.triples.len().min(budget));
    }

    /// A connected graph gives a connected snippet.
    #[test]
    fn within_a_component_it_is_connected(statements in conformance::random_statements()) {
        let mut statements = statements;
        statements.extend((0..6).map(|n| format!("e:hub e:p9 e:n{n} .\n")));
        let graph = conformance::graph_of(&statements.concat());
        let found = extract(&Pcsg::default(), &graph);
        let patterns = Patterns::new(&graph);
        let links = graph.triples().iter().filter(|t| EntityGraph::new(&graph, &patterns).is_link(**t));
        let ends: BTreeSet<TermId> = links.flat_map(|t| [t.subject, t.object]).collect();
        let inner: Vec<Triple> = found.triples.iter().copied().filter(|t| ends.contains(&t.subject)).collect();
        prop_assume!(ends.len() == patterns.entities().len());
        prop_assert!(conformance::is_connected(&graph, &inner));
    }
}

fn data() -> PathBuf {
    let folder = match env::var_os("LODESEEK_DATA") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
    };
    folder.join("snippets")
}

fn read(path: &Path) -> Option<TripleGraph> {
    let mut builder = TripleGraphBuilder::new();
    let bytes = fs::read(path).ok()?;
    lodeseek_rdf::dump::DumpReader::default().read(
        bytes.as_slice(),
        "t.nt",
        "http://e.org/",
        &mut builder,
    );
    Some(builder.finish())
}

/// On every input with an output of the authors' Java program: the snippet covers all that it covers, with no more
/// triples.
#[test]
fn no_more_triples_than_the_published_implementation() {
    for name in ["syn500", "syn2000", "reg2000", "reg10000", "reg50000"] {
        let input = read(&data().join(format!("inputs/{name}.nt")));
        let peer = read(&data().join(format!("peers/pcsg-{name}-pcsg-snippet.nt")));
        let (Some(graph), Some(peer)) = (input, peer) else {
            note(&format!(
                "SKIPPED {name}: no such files in {}, set LODESEEK_DATA",
                data().display()
            ));
            continue;
        };
        let ids: FxHashMap<TermRef<'_>, TermId> = (0..graph.term_count() as u32)
            .map(|id| (graph.term(TermId(id)), TermId(id)))
            .collect();
        let id = |term: TermId| ids[&peer.term(term)];
        let triple = |t: &Triple| Triple {
            subject: id(t.subject),
            predicate: id(t.predicate),
            object: id(t.object),
        };
        let theirs: Vec<Triple> = peer.triples().iter().map(triple).collect();
        let patterns = Patterns::new(&graph);
        let published = covered(&graph, &patterns, &theirs);
        let ours = extract(
            &Pcsg::new(PcsgOptions {
                isolated: IsolatedEntities::LeaveOut,
                ..PcsgOptions::default()
            }),
            &graph,
        );
        let found = covered(&graph, &patterns, &ours.triples);
        note(&format!(
            "{name}: {} triples, published {}",
            ours.triples.len(),
            theirs.len()
        ));
        assert!(
            found.entities.is_superset(&published.entities)
                && found.links.is_superset(&published.links),
            "{name}"
        );
        assert!(
            ours.triples.len() <= theirs.len(),
            "{name}: {} for {}",
            ours.triples.len(),
            theirs.len()
        );
        let whole = extract(&Pcsg::default(), &graph);
        assert_eq!(
            covered(&graph, &patterns, &whole.triples),
            all(&patterns),
            "{name}"
        );
    }
}

/// Prints a note beside the test results.
fn note(text: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}
