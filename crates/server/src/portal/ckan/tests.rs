//! Tests of the filter language and of the table's cache.

use super::Call;
use super::error::{ActionError, QueryError};
use super::lists::{resource_search, tag_show};
use super::parameters::Parameters;
use super::query::{Clause, MinimumMatch, QueryOptions, Sort, SortField};
use super::search::package_search;
use super::syntax::DefaultOperator;
use super::table::{Facet, Table};
use crate::AppState;
use lodeseek_catalog::{Catalog, Iris};
use lodeseek_engine::{IndexOptions, Indexer, Searcher};
use lodeseek_sparql::SparqlLimits;
use lodeseek_store::{Loader, Store};
use serde_json::json;
use std::fs;
use std::path::Path;

fn filter(text: &str) -> Result<Clause, QueryError> {
    Clause::filter(text, DefaultOperator::And)
}

fn query(text: &str) -> Result<Clause, QueryError> {
    Clause::query(text, &QueryOptions::default())
}

#[test]
fn what_cannot_be_read_is_named() {
    let unsupported = |construct, text: &str| QueryError::Unsupported(construct, text.to_owned());
    for (text, expected) in [
        ("tags:(a", QueryError::Open(')')),
        ("tags:\"a", QueryError::Open('"')),
        ("tags:", QueryError::End),
        ("tags:a)", QueryError::Unexpected(")".to_owned())),
        ("OR tags:a", QueryError::Unexpected("OR".to_owned())),
        ("tags:a AND", QueryError::End),
        (
            "tags:a AND OR tags:b",
            QueryError::Unexpected("OR".to_owned()),
        ),
        ("tags:a NOT -tags:b", QueryError::Unexpected("-".to_owned())),
        ("tags:a^", QueryError::Unexpected("^".to_owned())),
        ("tags:a^b", QueryError::Unexpected("^".to_owned())),
        ("title:\"a b\"~", QueryError::Unexpected("~".to_owned())),
        (
            "title:a*~",
            QueryError::Unexpected("~ after a pattern".to_owned()),
        ),
        ("colour:red", QueryError::Field("colour".to_owned())),
        (
            "tags:(a colour:red)",
            QueryError::Field("colour".to_owned()),
        ),
        ("tags:[a b]", QueryError::Range),
        ("tags:[a TO ]", QueryError::Range),
        ("metadata_modified:[a TO *", QueryError::Open(']')),
        (
            "metadata_modified:[yesterday TO *]",
            QueryError::Date("yesterday".to_owned()),
        ),
        (
            "metadata_modified:[NOW-7WEEKS TO NOW]",
            QueryError::Date("NOW-7WEEKS".to_owned()),
        ),
        (
            "metadata_modified:2020*",
            unsupported("patterns of dates", "use a range: [2020-01-01 TO *]"),
        ),
        ("num_resources:many", QueryError::Number("many".to_owned())),
        ("num_tags:[a TO *]", QueryError::Number("a".to_owned())),
        (
            "num_tags:2*",
            unsupported("patterns of numbers", "use a range: [1 TO *]"),
        ),
        ("tags:tags:a", QueryError::Unexpected("tags:".to_owned())),
        (
            "title:/riv.*/ x",
            unsupported("regular expressions", "/riv.*/"),
        ),
        (
            "{!term f=tags}a",
            unsupported("local parameters", "{!term f=tags}"),
        ),
        (
            "tags:a {!lucene}b",
            unsupported("local parameters", "{!lucene}"),
        ),
        (
            "_query_:\"{!dismax}a\"",
            unsupported("nested queries and functions", "_query_:"),
        ),
        (
            "_val_:\"ord(id)\"",
            unsupported("nested queries and functions", "_val_:"),
        ),
    ] {
        assert_eq!(filter(text), Err(expected), "{text}");
    }
    assert_eq!(filter(&"(".repeat(3000)), Err(QueryError::Deep(20)));
    assert_eq!(
        filter(&"-".repeat(3000)),
        Err(QueryError::Unexpected("-".to_owned()))
    );
    assert_eq!(filter(&"a".repeat(5000)), Err(QueryError::Long(4000)));
    for text in ["{!geofilt}", "_query_:\"a\"", "river AND /a.b/"] {
        assert!(
            matches!(query(text), Err(QueryError::Unsupported(..))),
            "{text}"
        );
    }
}

#[test]
fn clauses_and_groups_of_words_are_counted() {
    let many = "-title:a ".repeat(51);
    for (text, clauses, groups) in [
        ("", 0, 0),
        ("clean water", 2, 1),
        ("*:* water", 1, 1),
        ("title:a -title:b tags:(c OR \"d e\") name:[f TO g]", 5, 0),
        ("a OR b AND c OR d", 4, 4),
        ("name:(a OR b) id:c", 0, 0),
        (many.as_str(), 51, 0),
    ] {
        let counted = filter(text).map(|clause| (clause.count(), clause.word_groups()));
        assert_eq!(counted, Ok((clauses, groups)), "{text}");
    }
}

#[test]
fn a_query_is_words_unless_it_has_syntax() {
    for text in [
        "water (quality",
        "http://example.org/a:b",
        "what is it: data?",
        "-a +b \"c",
        "AND",
        "foo:bar",
        "to be or NOT",
        "NOT (here",
        "C++ - R&D",
        "2010 -2015",
        "50% ^ 3~",
        "a/b/c",
        "who?",
    ] {
        assert_eq!(query(text), Ok(Clause::Words(text.to_owned())), "{text}");
    }
    for (text, words) in [
        ("clean water title:river", "clean water"),
        ("-tags:a clean -(dirty)", "clean"),
        ("clean water NOT river", "clean water"),
        ("clean AND \"ground water\" -river", "clean ground water"),
    ] {
        let parsed = query(text).expect("a query");
        assert!(!matches!(parsed, Clause::Words(_)), "{text}");
        assert_eq!(parsed.ranking_words(), words, "{text}");
    }
    assert!(matches!(query("tags:(a"), Err(QueryError::Open(')'))));
    assert!(matches!(
        query("tags:a colour:red"),
        Err(QueryError::Field(_))
    ));
}

#[test]
fn the_minimum_of_words_is_as_in_solr() {
    let required = |mm: &str, words: usize| {
        let text = vec!["word"; words].join(" ");
        let minimum_match = Some(MinimumMatch::parse(mm).expect("a specification"));
        match Clause::query(
            &text,
            &QueryOptions {
                minimum_match,
                ..QueryOptions::default()
            },
        ) {
            Ok(Clause::AtLeast(required, _)) => required,
            _ => 1,
        }
    };
    for (mm, expected) in [
        ("2", [1, 2, 2, 2, 2, 2]),
        ("-1", [1, 1, 2, 3, 4, 5]),
        ("75%", [1, 1, 2, 3, 3, 4]),
        ("-25%", [1, 2, 3, 3, 4, 5]),
        ("2<-1 5<80%", [1, 2, 2, 3, 4, 4]),
    ] {
        assert_eq!(
            [1, 2, 3, 4, 5, 6].map(|words| required(mm, words)),
            expected,
            "{mm}"
        );
    }
    for wrong in ["", "many", "2<", "<3", "%"] {
        assert_eq!(
            MinimumMatch::parse(wrong),
            Err(QueryError::MinimumMatch(wrong.to_owned()))
        );
    }
}

#[test]
fn orders() {
    let sort =
        Sort::read("score desc, metadata_modified desc,title_string, score asc").expect("an order");
    assert_eq!(
        sort.iter()
            .map(|one| (one.by.clone(), one.descending))
            .collect::<Vec<_>>(),
        [
            (SortField::Score, true),
            (SortField::Modified, true),
            (SortField::Title, false),
        ]
    );
    for wrong in [
        "colour",
        "name up",
        "name asc desc",
        "tags asc",
        "notes desc",
        "random_1 asc",
    ] {
        assert_eq!(Sort::read(wrong), Err(QueryError::Sort(wrong.to_owned())));
    }
    assert!(Sort::read("views_recent desc, version asc, organization asc").is_ok());
}

/// Four datasets with all kinds of fields.
const PORTAL: &str = r#"
@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> . @prefix vcard: <http://www.w3.org/2006/vcard/ns#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix e: <http://e.org/> .
e:1 a dcat:Dataset ; dct:identifier "oaks" ; dct:title "Oak trees of the northern district" ;
  dct:description "Heights of old trees." ; dcat:keyword "forest" , "trees" , "street tree" ; dct:publisher e:office ;
  dct:creator [ a foaf:Person ; foaf:name "Ida Holm" ] ; dct:issued "2019-03-01"^^xsd:date ;
  dct:modified "2021-06-01T10:00:00+02:00"^^xsd:dateTime ; dcat:version "1.2" ; dcat:landingPage <http://e.org/oaks?x=1> ;
  dct:license <https://creativecommons.org/licenses/by/4.0/> ;
  dcat:distribution [ dct:title "Tree list" ; dct:description "One tree a line" ; dcat:downloadURL <http://e.org/f/oaks.csv> ;
    dct:format "CSV" ] .
e:office a foaf:Agent ; foaf:name "Forest Office" .
e:2 a dcat:Dataset ; dct:identifier "buses" ; dct:title "Bus stops" ; dct:description "Stops near the old forest" ;
  dcat:keyword "transport" ; dct:modified "2020-01-01"^^xsd:date ; dcat:version "1.10" ;
  dct:creator [ a foaf:Person ; foaf:name "Idar Holmes" ] ;
  dcat:contactPoint [ a vcard:Organization ; vcard:fn "Help desk" ; vcard:hasEmail <mailto:help@e.org> ] ;
  dcat:distribution [ dct:title "Stops" ; dcat:downloadURL <http://e.org/f/buses.json> ; dct:format "JSON" ] ,
    [ dct:title "Timetable of lines" ; dcat:downloadURL <http://e.org/f/times.csv> ; dct:format "CSV" ] .
e:3 a dcat:Dataset ; dct:identifier "noise" ; dct:title "Noise level by street" ; dct:description "Level of noise: night" ;
  dcat:keyword "street:noise" , "Cafe\u0301" ; dct:modified "2018-12-31T24:00:00Z"^^xsd:dateTime .
e:4 a dcat:Dataset ; dct:identifier "plain" ; dct:title "District of the northern lights" .
"#;

/// Finds the names of the datasets of [`PORTAL`] for the parameters of requests.
struct Portal {
    state: AppState,
    _folder: tempfile::TempDir,
}

impl Portal {
    fn new() -> Self {
        Self::with_catalog(PORTAL)
    }

    fn with_catalog(catalog: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::in_memory(folder.path(), Iris::default()).expect("a store");
        take_in_catalog(&store, folder.path(), catalog);
        let state = AppState::new(
            Searcher::open(folder.path()).expect("an index"),
            store,
            SparqlLimits::default(),
        );
        Self {
            state,
            _folder: folder,
        }
    }

    fn search(&self, parameters: &[(&str, &str)]) -> Result<serde_json::Value, ActionError> {
        let encoded = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(parameters)
            .finish();
        let parameters = Parameters::read(&encoded, "", b"").expect("parameters");
        package_search(&Call {
            state: &self.state,
            base: "http://e.org/",
            parameters: &parameters,
        })
    }

    /// Returns the names found in the order of the answer.
    fn names(&self, parameters: &[(&str, &str)]) -> Vec<String> {
        let found = self
            .search(parameters)
            .unwrap_or_else(|error| panic!("{parameters:?}: {error}"));
        let results = found["results"].as_array().expect("results").clone();
        results
            .iter()
            .map(|one| one["name"].as_str().expect("a name").to_owned())
            .collect()
    }
}

#[test]
fn clauses_match_as_in_solr() {
    let portal = Portal::new();
    let all = "buses noise oaks plain";
    let mut wrong = Vec::new();
    for (text, expected) in [
        ("", all),
        ("*:*", all),
        // Strings are whole values; texts are words.
        ("tags:trees", "oaks"),
        ("tags:Trees", ""),
        ("tags:tree", ""),
        ("tags:\"street tree\"", "oaks"),
        ("tags:street\\ tree", "oaks"),
        ("tags:street\\:noise", "noise"),
        ("tags:Caf\u{e9}", "noise"),
        ("tags:Cafe\u{301}", "noise"),
        ("tags:\"Caf\\u00e9\"", "noise"),
        ("title:tree", "oaks"),
        ("title:TREES", "oaks"),
        ("title:\"oak tree\"", "oaks"),
        ("title:\"tree oak\"", ""),
        ("notes:old", "buses oaks"),
        ("notes:forest", "buses"),
        ("text:forest", "buses oaks"),
        ("forest", "buses oaks"),
        ("forest old", "buses oaks"),
        ("forest heights", "oaks"),
        ("author:holm", "oaks"),
        ("author:\"ida holm\"", "oaks"),
        ("maintainer:desk", "buses"),
        ("maintainer_email:help@e.org", "buses"),
        ("organization:forest-office", "oaks"),
        ("owner_org:forest-office", "oaks"),
        ("license_id:CC-BY-4.0", "oaks"),
        ("isopen:true", "oaks"),
        ("version:1.1", ""),
        ("version:1.10", "buses"),
        ("url:http\\://e.org/oaks\\?x=1", "oaks"),
        ("url:http://e.org/oaks?x=1", "oaks"),
        ("res_name:timetable", "buses"),
        ("res_description:line", "oaks"),
        ("res_format:(CSV AND JSON)", "buses"),
        ("res_url:*times*", "buses"),
        ("extras_identifier:noise", "noise"),
        ("extras_contact_email:help", "buses"),
        ("extras_nothing:x vocab_topics:y", ""),
        ("-res_extras_nothing:*", all),
        ("-collection_package_id:[\"\" TO *] state:active", all),
        ("state:active +site_id:default capacity:public", all),
        ("title_string:\"Bus stops\"", "buses"),
        // Patterns, edits, distances.
        ("title:tre*", "oaks"),
        ("title:*str?et*", "noise"),
        ("title:st?p*", "buses"),
        ("title:\"tre*\"", ""),
        ("tags:t*", "buses oaks"),
        ("name:?????", "buses noise plain"),
        ("name:n*e", "noise"),
        ("author:holms~1", "buses oaks"),
        ("author:holms~0", ""),
        ("author:idra~1", "oaks buses"),
        ("title:tseret~", "noise"),
        ("title:nothern~0.8", "oaks plain"),
        ("title:\"northern trees\"~1", ""),
        ("title:\"trees northern\"~2", "oaks"),
        ("title:\"northern trees\"~4", "oaks"),
        ("notes:\"noise noise\"~9", ""),
        ("notes:\"level night\" ~ 2", "noise"),
        // Operators in the order of Lucene's parser.
        ("tags:trees OR tags:transport", "buses oaks"),
        ("tags:trees || tags:transport", "buses oaks"),
        ("tags:trees && tags:forest", "oaks"),
        ("tags:trees||tags:transport", "buses oaks"),
        ("tags:trees&&tags:forest", "oaks"),
        ("tags:R&D", ""),
        ("tags:transport OR tags:trees AND tags:forest", "oaks"),
        ("tags:transport AND tags:x OR tags:trees", "buses"),
        (
            "tags:transport OR (tags:trees AND tags:forest)",
            "buses oaks",
        ),
        ("tags:(transport OR trees) title:bus", "buses"),
        ("tags:transport OR tags:trees title:tree", "oaks"),
        ("tags:(trees -transport)", "oaks"),
        ("tags:(trees -forest)", ""),
        ("tags:(+trees !transport)", "oaks"),
        ("!tags:trees", "buses noise plain"),
        ("NOT tags:trees", "buses noise plain"),
        ("(-tags:trees)", "buses noise plain"),
        ("-tags:trees -tags:transport", "noise plain"),
        ("tags:transport (-tags:trees)", ""),
        ("tags:transport OR -tags:trees", "buses"),
        ("title:bus AND NOT tags:trees", "buses"),
        ("*:* -tags:*", "plain"),
        ("tags:(title:bus OR forest)", "buses oaks"),
        ("name:(oaks OR buses OR none)", "buses oaks"),
        ("title:\"!?\" tags:trees", "oaks"),
        // Boosts change no match.
        ("title:tree^4 OR (title:bus)^0.5", "buses oaks"),
        ("tags:(trees^2 OR transport)^ 3", "buses oaks"),
        ("title:\"oak trees\"^=1.5", "oaks"),
        ("title:treez~1^2", "oaks"),
        // Ranges.
        ("tags:[* TO *]", "buses noise oaks"),
        ("tags:[\"\" TO *]", "buses noise oaks"),
        ("-tags:[\"\" TO *]", "plain"),
        ("tags:{\"\" TO *}", "buses noise oaks"),
        ("tags:[* TO \"\"]", ""),
        ("title:[* TO *]", all),
        ("notes:[\"\" TO *]", "buses noise oaks"),
        ("name:[buses TO noise]", "buses noise"),
        ("name:{buses TO noise]", "noise"),
        ("name:[buses TO noise}", "buses"),
        ("name:{buses TO noise}", ""),
        ("name:[a TO o]", "buses noise"),
        ("version:[1.1 TO 1.15]", "buses"),
        (
            "metadata_modified:[2020-01-01T00:00:00Z TO *]",
            "buses oaks",
        ),
        ("metadata_modified:{2020-01-01T00:00:00Z TO *]", "oaks"),
        ("metadata_modified:[* TO 2019-01-01T00:00:00Z]", "noise"),
        ("metadata_modified:[* TO 2019-01-01T00:00:00Z}", ""),
        ("metadata_modified:\"2021-06-01T08:00:00Z\"", "oaks"),
        (
            "metadata_modified:[2020-06-15T12:00:00Z/YEAR TO 2020-06-15T12:00:00Z]",
            "buses",
        ),
        ("metadata_modified:[NOW-1DAY TO NOW]", ""),
        ("metadata_modified:[* TO NOW/DAY]", "buses noise oaks"),
        ("metadata_created:*", "oaks"),
        ("-metadata_modified:[* TO *]", "plain"),
    ] {
        let mut expected: Vec<&str> = expected.split_whitespace().collect();
        expected.sort_unstable();
        // A query without a field is words.
        for name in if text.contains(':') {
            &["fq", "q"][..]
        } else {
            &["fq"]
        } {
            let found = portal.names(&[(name, text), ("sort", "name asc")]);
            if found != expected {
                wrong.push(format!("{name}={text}: {found:?}, expected {expected:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn words_and_patterns_search_the_same_texts() {
    let portal = Portal::with_catalog(
        r#"
@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
@prefix vcard: <http://www.w3.org/2006/vcard/ns#> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix e: <http://e.org/> .
e:1 a dcat:Dataset ; dct:identifier "one" ; dct:title "Wells" ; dcat:version "v7beta" ; dcat:landingPage <http://e.org/landing> ;
  dct:license "Orchard licence" ; dcat:contactPoint [ a vcard:Kind ; vcard:fn "Quartz desk" ] ;
  dct:spatial [ a dct:Location ; skos:prefLabel "Marmora" ] ; dct:accessRights "confidential" ;
  dct:conformsTo [ skos:prefLabel "Gravel standard" ] ; dcat:keyword "aquifer" ;
  dcat:distribution [ dct:title "Uniform grid" ; dct:description "hourly basins" ; dcat:downloadURL <http://e.org/tundra/1.csv> ] .
e:2 a dcat:Dataset ; dct:identifier "two" ; dct:title "Roads" .
"#,
    );
    for word in [
        "wells",
        "one",
        "uniform",
        "hourly",
        "quartz",
        "marmora",
        "confidential",
        "gravel",
        "orchard",
        "landing",
        "v7beta",
        "tundra",
        "aquifer",
    ] {
        let pattern = format!("{}*", &word[..word.len() - 1]);
        for filter in [
            word.to_owned(),
            format!("text:{word}"),
            format!("\"{word}\""),
            pattern.clone(),
            format!("text:{pattern}"),
        ] {
            assert_eq!(portal.names(&[("fq", &filter)]), ["one"], "{filter}");
        }
    }
    for filter in [
        "\"uniform grid\"",
        "\"grid uniform\" OR \"hourly basins\"",
        "wells AND gravel",
    ] {
        assert_eq!(portal.names(&[("fq", filter)]), ["one"], "{filter}");
    }
    assert_eq!(portal.names(&[("fq", "\"grid uniform\"")]), [""; 0]);
    assert_eq!(portal.names(&[("fq", "-uniform")]), ["two"]);
}

#[test]
fn spellings_of_accents_are_one_value() {
    let portal = Portal::with_catalog(
        r#"
@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> . @prefix e: <http://e.org/> .
e:1 a dcat:Dataset ; dct:identifier "composed" ; dct:title "A" ; dcat:keyword "Caf\u00e9" ; dct:publisher [ a foaf:Agent ; foaf:name "G\u00e9o" ] ;
  dcat:distribution [ dcat:downloadURL <http://e.org/1> ; dct:format "Carte g\u00e9n\u00e9rale" ] .
e:2 a dcat:Dataset ; dct:identifier "decomposed" ; dct:title "B" ; dcat:keyword "Cafe\u0301" , "Caf\u00e9" ;
  dct:publisher [ a foaf:Agent ; foaf:name "Ge\u0301o" ] ;
  dcat:distribution [ dcat:downloadURL <http://e.org/2> ; dct:format "Carte ge\u0301ne\u0301rale" ] .
"#,
    );
    let found = portal
        .search(&[("facet.field", r#"["tags","organization","res_format"]"#)])
        .expect("an answer");
    assert_eq!(found["facets"]["tags"], json!({ "Caf\u{e9}": 2 }));
    for facet in ["organization", "res_format"] {
        let counts = found["facets"][facet].as_object().expect("counts");
        assert_eq!(counts.values().collect::<Vec<_>>(), [&json!(2)], "{facet}");
    }
    for package in found["results"].as_array().expect("packages") {
        assert_eq!(package["num_tags"], 1);
        assert_eq!(package["tags"][0]["name"], "Caf\u{e9}");
    }
    let table = Table::current(&portal.state).expect("a table");
    for name in ["Caf\u{e9}", "Cafe\u{301}"] {
        let encoded = form_urlencoded::Serializer::new(String::new())
            .extend_pairs([("id", name), ("include_datasets", "true")])
            .finish();
        let shown = tag_show(&Call {
            state: &portal.state,
            base: "http://e.org/",
            parameters: &Parameters::read(&encoded, "", b"").expect("parameters"),
        });
        let packages = shown.expect("a tag")["packages"].as_array().map(Vec::len);
        assert_eq!(packages, Some(2), "{name}");
        assert_eq!(
            table.values(Facet::Tags).find(name).map(|tag| tag.count),
            Some(2)
        );
    }
}

#[test]
fn fractions_of_seconds_count() {
    let portal = Portal::with_catalog(
        r#"
@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> . @prefix e: <http://e.org/> .
e:1 a dcat:Dataset ; dct:identifier "half" ; dct:title "A" ; dct:modified "2020-06-01T10:00:00.500Z" .
e:2 a dcat:Dataset ; dct:identifier "full" ; dct:title "B" ; dct:modified "2020-06-01T10:00:01Z" .
"#,
    );
    for (filter, expected) in [
        ("[2020-06-01T10:00:00.500Z TO *]", "full half"),
        ("{2020-06-01T10:00:00.5Z TO *]", "full"),
        ("[2020-06-01T10:00:00.600Z TO *]", "full"),
        ("{2020-06-01T10:00:00Z TO 2020-06-01T10:00:01Z}", "half"),
        ("[* TO 2020-06-01T10:00:01Z-500MILLIS]", "half"),
        ("[* TO 2020-06-01T10:00:01Z-501MILLI]", ""),
        ("\"2020-06-01T10:00:00Z\"", "half"),
        ("\"2020-06-01T10:00:00.5Z\"", "half"),
        ("\"2020-06-01T10:00:00.4Z\"", ""),
    ] {
        let filter = format!("metadata_modified:{filter}");
        let found = portal.names(&[("fq", &filter), ("sort", "name asc")]);
        assert_eq!(found.join(" "), expected, "{filter}");
    }
}

#[test]
fn options_of_queries_change_what_is_found() {
    let portal = Portal::new();
    let names = |parameters: &[(&str, &str)]| {
        portal
            .names(&[&[("sort", "name asc")], parameters].concat())
            .join(" ")
    };
    assert_eq!(
        names(&[("q", "forest heights")]),
        "buses oaks",
        "the engine finds any word"
    );
    assert_eq!(names(&[("q", "forest heights"), ("mm", "2")]), "oaks");
    assert_eq!(
        names(&[
            ("q", "forest heights"),
            ("mm", "100%"),
            ("defType", "edismax")
        ]),
        "oaks"
    );
    assert_eq!(names(&[("q", "forest heights"), ("q.op", "AND")]), "oaks");
    assert_eq!(
        names(&[("q", "forest heights"), ("defType", "lucene")]),
        "oaks"
    );
    assert_eq!(
        names(&[("q", "title:bus title:oak"), ("q.op", "OR")]),
        "buses oaks"
    );
    assert_eq!(
        names(&[("q", "title:bus +title:oak"), ("q.op", "OR")]),
        "oaks"
    );
    assert_eq!(names(&[("q", "forest -heights")]), "buses");
    assert_eq!(names(&[("q", "+heights forest")]), "oaks");
    assert_eq!(names(&[("q", "\"old forest\"")]), "buses");
    assert_eq!(names(&[("q", "heigh*")]), "oaks");
    assert_eq!(
        names(&[
            ("q", "forest"),
            ("fq", "tags:trees"),
            ("fq_list", "res_format:CSV")
        ]),
        "oaks"
    );
    for (name, value) in [
        ("q.op", "XOR"),
        ("defType", "func"),
        ("wt", "xml"),
        ("mm", "some"),
        ("facet.sort", "size"),
        ("qf", "title"),
        ("bf", "x"),
        ("unknown", "1"),
    ] {
        let error = portal
            .search(&[(name, value)])
            .expect_err("an error")
            .to_string();
        assert!(
            error.contains(name) || error.contains(value),
            "{name}: {error}"
        );
    }
    assert!(
        portal
            .search(&[
                ("include_private", "true"),
                ("include_drafts", "true"),
                ("rows", "0")
            ])
            .is_ok()
    );
}

#[test]
fn boosts_and_rare_values_order_by_score() {
    let portal = Portal::new();
    let names = |q: &str| {
        portal
            .names(&[("q", q), ("sort", "score desc, name asc")])
            .join(" ")
    };
    assert_eq!(names("title:bus^9 OR title:oak"), "buses oaks");
    assert_eq!(names("title:bus OR title:oak^9"), "oaks buses");
    assert_eq!(names("title:bus OR (title:oak)^0.1"), "buses oaks");
    assert_eq!(names("title:northern OR title:oak"), "oaks plain");
    let sorted = |sort: &str| portal.names(&[("sort", sort)]).join(" ");
    assert_eq!(sorted("version asc, name desc"), "buses oaks plain noise");
    assert_eq!(
        sorted("version desc, views_recent desc, name asc"),
        "oaks buses noise plain"
    );
    assert_eq!(
        sorted("organization asc, title desc"),
        "oaks noise plain buses"
    );
}

#[test]
fn values_of_fields_are_counted_and_ordered() {
    let portal = Portal::new();
    let found = |parameters: &[(&str, &str)]| portal.search(parameters).expect("found");
    let fields = r#"["tags", "dataset_type", "vocab_topics", "version", "author"]"#;
    let answer = found(&[("facet.field", fields), ("rows", "0")]);
    assert_eq!(answer["facets"]["dataset_type"], json!({ "dataset": 4 }));
    assert_eq!(answer["facets"]["vocab_topics"], json!({}));
    assert_eq!(answer["facets"]["version"], json!({ "1.10": 1, "1.2": 1 }));
    assert_eq!(
        answer["facets"]["author"],
        json!({ "Ida Holm": 1, "Idar Holmes": 1 })
    );
    let items = |answer: &serde_json::Value, field: &str| {
        let items = answer["search_facets"][field]["items"]
            .as_array()
            .expect("items")
            .clone();
        items
            .iter()
            .map(|item| item["name"].as_str().expect("a name").to_owned())
            .collect::<Vec<_>>()
    };
    let by_title = found(&[
        ("facet.field", "tags"),
        ("facet.field", "res_format"),
        ("facet.sort", "index"),
        ("facet.limit", "3"),
    ]);
    assert_eq!(
        items(&by_title, "tags"),
        ["Caf\u{e9}", "forest", "street tree"]
    );
    assert_eq!(items(&by_title, "res_format"), ["CSV", "JSON"]);
    assert!(portal.search(&[("facet.field", "notes")]).is_err());
}

/// Loads and indexes a catalogue of one dataset.
fn take_in(store: &Store, folder: &Path, title: &str) {
    let text = format!(
        "<http://e.org/1> a <http://www.w3.org/ns/dcat#Dataset> ; <http://purl.org/dc/terms/identifier> \"{}\" ; \
         <http://purl.org/dc/terms/title> \"{title}\" .",
        title.split(' ').next().expect("a word")
    );
    take_in_catalog(store, folder, &text);
}

/// Loads and indexes a catalogue in Turtle.
fn take_in_catalog(store: &Store, folder: &Path, text: &str) {
    let path = folder.join("catalog.ttl");
    fs::write(&path, text).expect("written");
    Loader::new(store)
        .load(Catalog::read(&path).expect("a catalogue"), &|_| ())
        .expect("loaded");
    Indexer::new(store, IndexOptions::default())
        .run(&|_| ())
        .expect("indexed");
}

#[test]
fn the_table_is_made_anew_when_something_changed() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::in_memory(
        folder.path(),
        Iris::new(Iris::DEFAULT_BASE).expect("the default"),
    )
    .expect("a store");
    take_in(&store, folder.path(), "one a");
    let searcher = Searcher::open(folder.path()).expect("an index");
    let state = AppState::new(searcher, store, SparqlLimits::default());
    let titles = || {
        let table = Table::current(&state).expect("a table");
        (
            table
                .rows
                .iter()
                .map(|row| row.title.clone())
                .collect::<Vec<_>>(),
            table,
        )
    };
    assert_eq!(titles().0, ["one a"]);
    // The reader may report a new index once, at its first check after opening.
    let is_kept = || std::sync::Arc::ptr_eq(&titles().1, &titles().1);
    assert!(is_kept() || is_kept(), "nothing changed");
    take_in(&state.store, folder.path(), "one b");
    take_in(&state.store, folder.path(), "two");
    // The reader sees commits with a short delay.
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while titles().0.len() < 2 && std::time::Instant::now() < until {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(titles().0, ["one b", "two"]);
}

#[test]
fn resources_of_several_packages_are_listed() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::in_memory(folder.path(), Iris::default()).expect("a store");
    let mut turtle =
        "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .\n"
            .to_owned();
    for (id, files) in [("one", 500), ("two", 1)] {
        turtle += &format!(
            "<http://e.org/{id}> a dcat:Dataset ; dct:identifier \"{id}\" ; dct:title \"{id}\" .\n"
        );
        for number in 0..files {
            turtle += &format!(
                "<http://e.org/{id}> dcat:distribution [ dcat:downloadURL <http://e.org/{id}/{number}.csv> ] .\n"
            );
        }
    }
    take_in_catalog(&store, folder.path(), &turtle);
    let state = AppState::new(
        Searcher::open(folder.path()).expect("an index"),
        store,
        SparqlLimits::default(),
    );
    let search = |parameters: &str| {
        let parameters = Parameters::read(parameters, "", b"").expect("parameters");
        let call = Call {
            state: &state,
            base: "http://e.org/",
            parameters: &parameters,
        };
        resource_search(&call).expect("resources")
    };
    let found = search("query=format:csv&offset=1");
    let results = found["results"].as_array().expect("a list");
    assert_eq!((&found["count"], results.len()), (&json!(501), 500));
    let of_one = results
        .iter()
        .filter(|one| one["package_id"] == "one")
        .count();
    assert_eq!(
        (of_one, &results[499]["url"]),
        (499, &json!("http://e.org/two/0.csv"))
    );
    let last = search("query=url:two/0&limit=3");
    assert_eq!(
        (&last["count"], &last["results"]),
        (&json!(1), &json!([results[499]]))
    );
    assert_eq!(search("query=format:csv&offset=501")["results"], json!([]));
}
