//! Scores computed by hand. Each indicator is tested with a description that meets it and with one that misses it.

use super::*;
use lodeseek_catalog::{DatasetId, Iris};
use lodeseek_profile::{Summary, TableSummary};
use lodeseek_rdf::dump::DumpReader;
use lodeseek_rdf::{TripleGraph, TripleGraphBuilder};
use oxrdf::{NamedNode, Term};
use proptest::prelude::*;

const PREFIXES: &str = "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
    @prefix foaf: <http://xmlns.com/foaf/0.1/> . @prefix vcard: <http://www.w3.org/2006/vcard/ns#> .
    @prefix lodeseek: <https://w3id.org/lodeseek/ns#> . @prefix eu: <http://publications.europa.eu/resource/authority/> .\n";
const OWN: &str = "http://localhost:7878/dataset/t";

/// A complete description, one statement per line.
const WHOLE: &str = r#"<http://localhost:7878/dataset/t> a dcat:Dataset .
<http://localhost:7878/dataset/t> dct:title "Trees"@en .
<http://localhost:7878/dataset/t> dct:description "All trees in the care of the city, with year of planting and girth."@en .
<http://localhost:7878/dataset/t> dcat:keyword "trees" .
<http://localhost:7878/dataset/t> dcat:theme <http://publications.europa.eu/resource/authority/data-theme/ENVI> .
<http://localhost:7878/dataset/t> dct:spatial <http://publications.europa.eu/resource/authority/place/DEU_BER> .
<http://localhost:7878/dataset/t> dct:temporal <http://localhost:7878/dataset/t#period> .
<http://localhost:7878/dataset/t> dct:accessRights <http://publications.europa.eu/resource/authority/access-right/PUBLIC> .
<http://localhost:7878/dataset/t> dcat:contactPoint <http://localhost:7878/dataset/t#contact> .
<http://localhost:7878/dataset/t> dct:publisher <http://localhost:7878/dataset/t#agent> .
<http://localhost:7878/dataset/t#agent> foaf:name "City" .
<http://localhost:7878/dataset/t> dct:issued "2020-05" .
<http://localhost:7878/dataset/t> dct:modified "2021-06-01" .
<http://localhost:7878/dataset/t> dcat:distribution <http://localhost:7878/dataset/t#distribution-1> .
<http://localhost:7878/dataset/t#distribution-1> dcat:accessURL <http://e.org/page> .
<http://localhost:7878/dataset/t#distribution-1> dcat:downloadURL <http://e.org/trees.ttl> .
<http://localhost:7878/dataset/t#distribution-1> dct:format <http://publications.europa.eu/resource/authority/file-type/RDF_TURTLE> .
<http://localhost:7878/dataset/t#distribution-1> dcat:mediaType <https://www.iana.org/assignments/media-types/text/turtle> .
<http://localhost:7878/dataset/t#distribution-1> dct:license <https://creativecommons.org/licenses/by/4.0/> .
<http://localhost:7878/dataset/t#distribution-1> dct:rights <http://e.org/rights> .
<http://localhost:7878/dataset/t#distribution-1> dcat:byteSize 1024 .
"#;

fn graph(turtle: &str) -> TripleGraph {
    let mut builder = TripleGraphBuilder::new();
    let text = format!("{PREFIXES}{turtle}");
    let reports =
        DumpReader::default().read(text.as_bytes(), "t.ttl", "http://e.org/", &mut builder);
    assert!(
        reports.iter().all(|report| report.problems.is_empty()),
        "{reports:?}"
    );
    builder.finish()
}

fn content() -> Summary {
    Summary {
        triples: 10,
        class_count: 1,
        vocabularies: vec![("http://xmlns.com/foaf/0.1/".to_owned(), 4)],
        languages: vec![("en".to_owned(), 2)],
        links: vec![("http://dbpedia.org/".to_owned(), 3)],
        ..Summary::default()
    }
}

#[test]
fn cells_of_another_type_are_faults_of_the_content() {
    let table = TableSummary {
        rows: 10,
        columns: 3,
        empty_cells: Some(4),
        mixed_cells: Some(1),
        ..TableSummary::default()
    };
    let content = Summary {
        tables: vec![table],
        ..content()
    };
    let description = graph(WHOLE);
    let found = assess(
        &description,
        &NamedNode::new_unchecked(OWN),
        Some(&content),
        &UrlChecks::default(),
    )
    .expect("an assessment");
    let sound = found
        .findings
        .iter()
        .find(|finding| finding.indicator == Indicator::Sound);
    let sound = sound.expect("a finding");
    assert_eq!(sound.outcome, Outcome::Missed);
    assert!(
        sound
            .reason
            .ends_with("4 of 30 cells of tables are empty, 1 do not have the type of their column"),
        "{}",
        sound.reason
    );
}

fn answered(status: u16) -> UrlChecks {
    let mut url_checks = UrlChecks::default();
    for address in ["http://e.org/page", "http://e.org/trees.ttl"] {
        let result = UrlCheck {
            status: Some(status),
            fault: None,
            checked_at: "2026-01-01T00:00:00Z".to_owned(),
        };
        url_checks.insert(address.to_owned(), result);
    }
    url_checks
}

fn assessed(turtle: &str, content: Option<&Summary>, url_checks: &UrlChecks) -> Assessment {
    assess(
        &graph(turtle),
        &NamedNode::new_unchecked(OWN),
        content,
        url_checks,
    )
    .expect("described")
}

fn outcome(found: &Assessment, indicator: Indicator) -> Outcome {
    found.findings[indicator as usize].outcome
}

#[test]
fn what_lacks_nothing_has_all_points() {
    let found = assessed(WHOLE, Some(&content()), &answered(200));
    let missed: Vec<_> = found
        .improvements()
        .iter()
        .map(|one| (one.indicator, one.reason.clone()))
        .collect();
    assert!(missed.is_empty(), "{missed:?} {:?}", found.violations);
    assert_eq!(
        (found.points(), found.score(), found.band()),
        (
            Points {
                given: 405,
                of: 405
            },
            405,
            Band::Excellent
        )
    );
    assert_eq!(
        found.points_of(Dimension::Texts),
        Points {
            given: 100,
            of: 100
        }
    );
    assert_eq!(
        found.points_of(Dimension::Content),
        Points {
            given: 100,
            of: 100
        }
    );
    assert!(
        found
            .findings
            .iter()
            .enumerate()
            .all(|(place, one)| one.indicator as usize == place)
    );
    let lacking: Vec<String> = found
        .recommendations
        .iter()
        .map(|one| format!("{} {}", one.node, one.property))
        .collect();
    assert_eq!(
        lacking,
        [
            "agent dct:type",
            "distribution-1 dcatap:availability",
            "distribution-1 dct:description"
        ]
    );
}

#[test]
fn every_indicator_is_missed_where_it_is_lacking() {
    use Indicator as I;
    let without = |line: &str| {
        assert_eq!(WHOLE.matches(line).count(), 1, "{line}");
        WHOLE
            .lines()
            .filter(|other| !other.contains(line))
            .collect::<Vec<_>>()
            .join("\n")
    };
    let instead = |old: &str, new: &str| {
        assert_eq!(WHOLE.matches(old).count(), 1, "{old}");
        WHOLE.replacen(old, new, 1)
    };
    for (indicator, turtle) in [
        (I::Keywords, without("dcat:keyword")),
        (I::Keywords, instead("\"trees\"", "\" \"")),
        (I::Themes, without("dcat:theme")),
        (I::Spatial, without("dct:spatial")),
        (I::Temporal, without("dct:temporal")),
        (I::AccessReached, without("dcat:accessURL")),
        (I::DownloadAddress, without("dcat:downloadURL")),
        (I::DownloadReached, without("dcat:downloadURL")),
        (I::Format, without("dct:format")),
        (I::MediaType, without("dcat:mediaType")),
        (
            I::FormatListed,
            instead(
                "<http://publications.europa.eu/resource/authority/file-type/RDF_TURTLE>",
                "\"TTL\"",
            )
            .replace(
                "<https://www.iana.org/assignments/media-types/text/turtle>",
                "\"text/turtle\"",
            ),
        ),
        (
            I::OpenFormat,
            instead("file-type/RDF_TURTLE", "file-type/XLS"),
        ),
        (
            I::MachineReadable,
            instead("file-type/RDF_TURTLE", "file-type/PDF"),
        ),
        (I::Profile, without("dct:title")),
        (I::Profile, without("dcat:accessURL")),
        (I::Profile, without("foaf:name")),
        (I::Profile, instead("<http://e.org/rights>", "\"all mine\"")),
        (I::Profile, instead("\"trees\"", "<http://e.org/trees>")),
        (
            I::Profile,
            instead(
                "dct:issued \"2020-05\"",
                "dct:issued \"2020-05\", \"2020-06\"",
            ),
        ),
        (I::License, without("dct:license")),
        (
            I::License,
            instead(
                "<https://creativecommons.org/licenses/by/4.0/>",
                "\"Not stated in repository\"",
            ),
        ),
        (
            I::License,
            instead(
                "<https://creativecommons.org/licenses/by/4.0/>",
                "<http://www.opendefinition.org/licenses/notspecified>",
            ),
        ),
        (
            I::LicenseListed,
            instead(
                "<https://creativecommons.org/licenses/by/4.0/>",
                "<http://e.org/licence>",
            ),
        ),
        (
            I::LicenseListed,
            instead(
                "<https://creativecommons.org/licenses/by/4.0/>",
                "\"free for all\"",
            ),
        ),
        (I::AccessRights, without("dct:accessRights")),
        (
            I::AccessRightsListed,
            instead(
                "<http://publications.europa.eu/resource/authority/access-right/PUBLIC>",
                "<http://e.org/all>",
            ),
        ),
        (I::Contact, without("dcat:contactPoint")),
        (I::Publisher, without("dct:publisher")),
        (I::Rights, without("dct:rights")),
        (I::ByteSize, without("dcat:byteSize")),
        (I::ByteSize, instead("1024", "\"large\"")),
        (I::Issued, without("dct:issued")),
        (I::Issued, instead("\"2020-05\"", "\"last spring\"")),
        (I::Modified, without("dct:modified")),
        (
            I::TitleLanguage,
            instead("\"Trees\"@en", "\"Trees\"@en, \"Bäume\""),
        ),
        (I::Description, without("dct:description")),
        (
            I::DescriptionLength,
            instead(
                "All trees in the care of the city, with year of planting and girth.",
                "Trees.",
            ),
        ),
        (I::DescriptionLanguage, instead("girth.\"@en", "girth.\"")),
        (I::TextEncoding, instead("\"trees\"", "\"Ã¡rboles\"")),
        (
            I::Sound,
            format!("{WHOLE}<{OWN}> lodeseek:skippedStatements 2 ."),
        ),
    ] {
        let found = assessed(&turtle, Some(&content()), &answered(200));
        assert_eq!(
            outcome(&found, indicator),
            Outcome::Missed,
            "{indicator:?}\n{turtle}"
        );
    }
    let local = instead("<http://e.org/trees.ttl>", "\"files/trees.ttl\"");
    let served = assessed(&local, Some(&content()), &answered(200));
    assert_eq!(outcome(&served, I::DownloadAddress), Outcome::Unknown);
    assert_eq!(outcome(&served, I::Profile), Outcome::Met);
    let not_served = assessed(&local, None, &answered(200));
    assert_eq!(outcome(&not_served, I::DownloadAddress), Outcome::Missed);
    assert_eq!(outcome(&not_served, I::Profile), Outcome::Missed);
    let gone = assessed(WHOLE, Some(&content()), &answered(404));
    assert_eq!(outcome(&gone, I::AccessReached), Outcome::Missed);
    assert_eq!(outcome(&gone, I::DownloadReached), Outcome::Missed);
    for (indicator, content) in [
        (
            I::Links,
            Summary {
                links: Vec::new(),
                ..content()
            },
        ),
        (
            I::Vocabularies,
            Summary {
                vocabularies: vec![("http://www.w3.org/2002/07/owl#".to_owned(), 1)],
                ..content()
            },
        ),
        (
            I::Vocabularies,
            Summary {
                vocabularies: vec![("http://e.org/own#".to_owned(), 1)],
                ..content()
            },
        ),
        (
            I::Classes,
            Summary {
                class_count: 0,
                ..content()
            },
        ),
        (
            I::LiteralLanguages,
            Summary {
                languages: Vec::new(),
                ..content()
            },
        ),
    ] {
        let found = assessed(WHOLE, Some(&content), &answered(200));
        assert_eq!(outcome(&found, indicator), Outcome::Missed, "{indicator:?}");
    }
}

#[test]
fn what_nobody_asked_is_neither_given_nor_lost() {
    let found = assessed(WHOLE, None, &UrlChecks::default());
    assert_eq!(
        (found.points(), found.score()),
        (
            Points {
                given: 325,
                of: 325
            },
            405
        )
    );
    assert_eq!(
        found.points_of(Dimension::Content),
        Points { given: 0, of: 0 }
    );
    let less = WHOLE
        .lines()
        .filter(|line| !line.contains("dcat:keyword"))
        .collect::<Vec<_>>()
        .join("\n");
    let found = assessed(&less, None, &UrlChecks::default());
    assert_eq!(found.score(), 368, "295 of 325 points, of 405: 367.6");
    assert_eq!(found.improvements()[0].indicator, Indicator::Keywords);
}

/// The id of a known licence is as good as its IRI, which the portal publishes for it.
#[test]
fn the_id_of_a_licence_counts_as_its_iri() {
    let description = format!("<{OWN}> a dcat:Dataset ; dct:license \"CC-BY-4.0\" .");
    let found = assessed(&description, None, &UrlChecks::default());
    let licence = |one: &&Violation| one.property == "dct:license";
    assert_eq!(found.violations.iter().find(licence), None);
}

/// Title, keyword and licence by name, and a file of the home. Keywords give 30 points, the licence 20. There is no
/// format and no media type. The profile is missed: no description, no access URL, literals for nodes. Both addresses
/// are missing, none is unknown.
#[test]
fn a_poor_description_by_hand() {
    let poor = format!(
        r#"<{OWN}> a dcat:Dataset ; dct:title "Trees" ; dcat:keyword "trees" ; dct:license "house rules" ;
           dcat:distribution <{OWN}#distribution-1> . <{OWN}#distribution-1> dcat:downloadURL "trees.nt" ."#
    );
    let found = assessed(&poor, None, &UrlChecks::default());
    assert_eq!(
        (found.points(), found.band()),
        (Points { given: 50, of: 405 }, Band::Bad)
    );
    let breaches: Vec<String> = found
        .violations
        .iter()
        .map(|one| format!("{} {} {}", one.node, one.property, one.fault.message()))
        .collect();
    assert_eq!(
        breaches,
        [
            "dataset dct:description is missing",
            "dataset dct:license is a literal, not a node",
            "distribution-1 dcat:accessURL is missing",
            "distribution-1 dcat:downloadURL is a literal, not a node",
        ]
    );
}

#[test]
fn the_best_of_several_distributions_counts() {
    let more = format!(
        "{WHOLE}<{OWN}> dcat:distribution <{OWN}#distribution-2>, <{OWN}#distribution-10> .
         <{OWN}#distribution-2> dcat:accessURL <http://e.org/page> ; dct:format \"PDF\" .
         <{OWN}#distribution-10> dcat:accessURL <http://e.org/page> ."
    );
    let found = assessed(&more, None, &answered(200));
    assert_eq!(found.distribution.as_deref(), Some("distribution-1"));
    assert_eq!(
        found.points().given,
        405 - 30,
        "the text for a format breaks the profile, and nothing else is lost"
    );
}

/// A part that many distributions share is checked once, not once for each of them.
#[test]
fn a_shared_part_is_checked_once() {
    const NUMBER: usize = 4_000;
    let statements: String = (0..NUMBER)
        .map(|n| {
            format!(
                "<{OWN}> dcat:distribution <{OWN}#d{n}> . <{OWN}#d{n}> dcat:accessService <{OWN}#s> .
                 <{OWN}#s> dct:title <http://e.org/title/{n}> .\n"
            )
        })
        .collect();
    let found = assessed(&statements, None, &UrlChecks::default());
    let of_service = found.violations.iter().filter(|one| one.node == "s");
    let of_service: Vec<(&str, Fault)> = of_service
        .map(|one| (one.property.as_str(), one.fault))
        .collect();
    assert_eq!(
        of_service,
        [
            ("dcat:endpointURL", Fault::Missing),
            ("dct:title", Fault::NodeForText)
        ]
    );
    let without_address = found
        .violations
        .iter()
        .filter(|one| one.property == "dcat:accessURL");
    assert_eq!(without_address.count(), NUMBER);
}

#[test]
fn bands_are_those_of_the_methodology() {
    let bands = [0, 120, 121, 220, 221, 350, 351, 405].map(|score| Band::from_score(score).name());
    assert_eq!(
        bands,
        [
            "bad",
            "bad",
            "sufficient",
            "sufficient",
            "good",
            "good",
            "excellent",
            "excellent"
        ]
    );
    assert_eq!(Points::default().score(), None);
}

#[test]
fn what_is_not_described_is_not_assessed() {
    let node = NamedNode::new_unchecked("http://localhost:7878/dataset/other");
    assert!(assess(&graph(WHOLE), &node, None, &UrlChecks::default()).is_none());
}

#[test]
fn measurements_are_of_metrics_that_the_ontology_defines() {
    let (found, node) = (
        assessed(WHOLE, None, &UrlChecks::default()),
        NamedNode::new_unchecked(OWN),
    );
    let triples = to_dqv(&found, &node);
    let ontology = include_str!("../../../ontologies/quality.ttl");
    for indicator in Indicator::all() {
        let definition = format!(
            "quality:{} a dqv:Metric ;\n    skos:definition \"{}\"@en ;\n    dqv:inDimension quality:{} ;",
            indicator.key(),
            indicator.definition(),
            indicator.dimension().name()
        );
        assert!(ontology.contains(&definition), "{definition}");
        assert!(ontology.contains(&format!(
            "rdfs:comment \"Weight {}.\"@en",
            indicator.weight()
        )));
    }
    let measured = triples
        .iter()
        .filter(|triple| triple.predicate.as_str().ends_with("#value"));
    let values: Vec<u32> = measured
        .filter_map(|triple| match &triple.object {
            Term::Literal(literal) => literal.value().parse().ok(),
            _ => None,
        })
        .collect();
    // All but two addresses and five of content; the score behind.
    assert_eq!(values.len(), Indicator::COUNT - 7 + 1);
    assert_eq!(values[..values.len() - 1].iter().sum::<u32>(), 325 + 100);
    assert_eq!(values.last(), Some(&405));
}

fn overview_of(descriptions: &[(usize, &str, Option<&str>)]) -> Overview {
    let mut overview = Overview::default();
    for (number, turtle, publisher) in descriptions {
        let id = DatasetId::new(format!("d{number}")).expect("an id");
        let named = DatasetLabel {
            id,
            title: format!("D {number}"),
            publisher: publisher.map(str::to_owned),
        };
        overview.add(named, &assessed(turtle, None, &UrlChecks::default()));
    }
    overview
}

#[test]
fn the_worst_problems_come_first() {
    let less: String = WHOLE
        .lines()
        .filter(|line| !line.contains("dct:format"))
        .map(|line| format!("{line}\n"))
        .collect();
    let bare = format!("<{OWN}> a dcat:Dataset ; dct:title \"T\"@en ; dct:description \"D\"@en .");
    let overview = overview_of(&[
        (1, WHOLE, Some("City")),
        (2, &less, Some("City")),
        (3, &bare, None),
    ]);
    // 405; 305 of 325 of 405 is 380; of the bare one only the profile's 30 of 405.
    assert_eq!(
        overview
            .worst(9)
            .iter()
            .map(|row| row.score)
            .collect::<Vec<_>>(),
        [30, 380, 405]
    );
    assert!((overview.mean() - 815.0 / 3.0).abs() < 1e-9);
    assert_eq!(
        overview.bands(),
        [
            (Band::Excellent, 2),
            (Band::Good, 0),
            (Band::Sufficient, 0),
            (Band::Bad, 1)
        ]
    );
    let problems = overview.problems();
    assert_eq!(
        (
            problems[0].indicator,
            problems[0].missed,
            problems[0].unknown
        ),
        (Indicator::AccessReached, 1, 2)
    );
    let format = problems
        .iter()
        .find(|one| one.indicator == Indicator::Format)
        .expect("there");
    assert_eq!((format.met, format.missed, format.lost()), (1, 2, 40));
    let publishers = overview.publishers();
    assert_eq!(
        (
            publishers[0].name.as_deref(),
            publishers[0].datasets,
            publishers[0].mean
        ),
        (Some("City"), 2, 392.5)
    );
    assert_eq!(
        publishers[0].worst.map(|one| one.indicator),
        Some(Indicator::Format)
    );
    assert_eq!(
        (publishers[1].name.as_deref(), publishers[1].datasets),
        (None, 1)
    );
    assert_eq!(overview.share_of(Dimension::Findability), Some(2.0 / 3.0));
    assert_eq!(overview.share_of(Dimension::Content), None);
    assert_eq!(
        (
            overview.percent_of(Dimension::Findability),
            overview.percent_of(Dimension::Content)
        ),
        (Some(67), None)
    );
}

proptest! {
    /// For any selection of lines the score is within its bounds. One more statement never loses a point of an
    /// indicator that only requires its presence.
    #[test]
    fn more_is_never_less(kept in proptest::collection::vec(any::<bool>(), 21), one_more in 0..21_usize) {
        let lines: Vec<&str> = WHOLE.lines().collect();
        let of = |keeps: &dyn Fn(usize) -> bool| {
            let kept = lines.iter().enumerate().filter(|(place, _)| *place == 0 || keeps(*place)).map(|(_, line)| *line);
            assessed(&kept.collect::<Vec<_>>().join("\n"), None, &answered(200))
        };
        let (less, more) = (of(&|place| kept[place]), of(&|place| kept[place] || place == one_more));
        prop_assert!(less.score() <= MAX_SCORE && less.points().given <= less.points().of);
        for (less, more) in less.findings.iter().zip(&more.findings) {
            // A part that is described is held to the profile.
            if less.indicator != Indicator::Profile {
                prop_assert!(!(less.outcome == Outcome::Met && more.outcome == Outcome::Missed), "{:?}", less.indicator);
            }
        }
    }
}

#[test]
fn iris_of_the_tests_are_those_of_a_home() {
    let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
    assert_eq!(
        iris.dataset(&DatasetId::new("t").expect("an id")).as_str(),
        OWN
    );
}
