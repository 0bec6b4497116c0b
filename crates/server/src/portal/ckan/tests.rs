//! Tests of the filter language and of the table's cache.

use super::Call;
use super::error::QueryError;
use super::lists::resource_search;
use super::parameters::Parameters;
use super::query::{Clause, Field, Sort, SortField, Value};
use super::table::Facet;
use super::table::Table;
use crate::AppState;
use lodeseek_catalog::{Catalog, Iris};
use lodeseek_engine::{IndexOptions, Indexer, Searcher};
use lodeseek_sparql::SparqlLimits;
use lodeseek_store::{Loader, Store};
use serde_json::json;
use std::fs;
use std::path::Path;

fn is(field: Field, value: &str) -> Clause {
    Clause::Is(field, Value::Exactly(value.to_owned()))
}

fn tags(value: &str) -> Clause {
    is(Field::Facet(Facet::Tags), value)
}

fn not(clause: Clause) -> Clause {
    Clause::Not(Box::new(clause))
}

#[test]
fn filters_as_clients_write_them() {
    let words = |text: &str| Clause::Words(text.to_owned());
    for (text, expected) in [
        ("tags:water", tags("water")),
        ("+tags:\"public transport\"", tags("public transport")),
        ("tags:a tags:b", Clause::All(vec![tags("a"), tags("b")])),
        ("tags:a AND -tags:b", Clause::All(vec![tags("a"), not(tags("b"))])),
        ("tags:a OR tags:b tags:c", Clause::Any(vec![tags("a"), Clause::All(vec![tags("b"), tags("c")])])),
        ("tags:(a OR \"b c\")", Clause::Any(vec![tags("a"), tags("b c")])),
        (
            "(tags:a OR tags:b) NOT state:deleted",
            Clause::All(vec![Clause::Any(vec![tags("a"), tags("b")]), not(is(Field::Fixed("active"), "deleted"))]),
        ),
        ("tags:a\\:b", tags("a:b")),
        ("tags:\"say \\\"a\\\"\"", tags("say \"a\"")),
        ("*:*", Clause::All(vec![])),
        ("", Clause::All(vec![])),
        ("clean water", words("clean water")),
        ("clean AND water", Clause::All(vec![words("clean"), words("water")])),
        ("name:tree*", Clause::Is(Field::Name, Value::Like("tree*".to_owned()))),
        (
            "metadata_modified:[2020-01-01T00:00:00.000Z TO *]",
            Clause::Is(
                Field::Modified,
                Value::Range { from: Some("2020-01-01T00:00:00".to_owned()), to: None, inclusive: [true, true] },
            ),
        ),
        (
            "metadata_modified:{2020-01-01 TO 2021-06-30T12:00:00+02:00]",
            Clause::Is(
                Field::Modified,
                Value::Range {
                    from: Some("2020-01-01T00:00:00".to_owned()),
                    to: Some("2021-06-30T10:00:00".to_owned()),
                    inclusive: [false, true],
                },
            ),
        ),
    ] {
        assert_eq!(Clause::filter(text), Ok(expected), "{text}");
    }
}

#[test]
fn what_cannot_be_read_is_told() {
    for (text, expected) in [
        ("tags:(a", QueryError::Open(')')),
        ("tags:\"a", QueryError::Open('"')),
        ("tags:", QueryError::End),
        ("tags:a)", QueryError::Unexpected(")".to_owned())),
        ("OR tags:a", QueryError::Unexpected("OR".to_owned())),
        ("tags:a AND", QueryError::End),
        ("colour:red", QueryError::Field("colour".to_owned())),
        ("tags:[a b]", QueryError::Range),
        ("metadata_modified:[a TO *", QueryError::Open(']')),
        ("metadata_modified:[yesterday TO *]", QueryError::Date("yesterday".to_owned())),
        ("metadata_modified:[NOW-7WEEKS TO NOW]", QueryError::Date("NOW-7WEEKS".to_owned())),
        ("tags:tags:a", QueryError::Unexpected("tags:".to_owned())),
    ] {
        assert_eq!(Clause::filter(text), Err(expected), "{text}");
    }
    assert_eq!(Clause::filter(&"(".repeat(3000)), Err(QueryError::Deep(20)));
    assert_eq!(Clause::filter(&"-".repeat(3000)), Err(QueryError::Deep(20)));
    assert_eq!(Clause::filter(&"a".repeat(5000)), Err(QueryError::Long(4000)));
}

#[test]
fn clauses_are_counted() {
    let many = "-title:a ".repeat(51);
    for (text, count) in [
        ("", 0),
        ("clean water", 1),
        ("*:* water", 1),
        ("title:a -title:b tags:(c OR \"d e\") name:[f TO g]", 5),
        (many.as_str(), 51),
    ] {
        assert_eq!(Clause::filter(text).map(|clause| clause.count()), Ok(count), "{text}");
    }
}

#[test]
fn a_query_is_words_unless_it_names_a_field() {
    for text in ["water (quality", "http://example.org/a:b", "what is it: data?", "-a +b \"c", "AND", "foo:bar"] {
        assert_eq!(Clause::query(text), Ok(Clause::Words(text.to_owned())));
    }
    let both = Clause::query("clean water title:river").expect("a query");
    assert_eq!(both.ranking_words(), "clean water");
    assert_eq!(Clause::query("-tags:a clean -(dirty)").expect("a query").ranking_words(), "clean");
    assert!(matches!(Clause::query("tags:(a"), Err(QueryError::Open(')'))));
    let denied = Clause::All(vec![Clause::Words("clean water".to_owned()), not(Clause::Words("river".to_owned()))]);
    for text in ["clean water NOT river", "clean water AND NOT river"] {
        assert_eq!(Clause::query(text), Ok(denied.clone()), "{text}");
    }
    for text in ["to be or NOT", "NOT (here"] {
        assert_eq!(Clause::query(text), Ok(Clause::Words(text.to_owned())), "no clause after all");
    }
}

#[test]
fn owners_authors_and_openness_are_fields() {
    let facet = |facet: Facet, value: &str| Ok(is(Field::Facet(facet), value));
    assert_eq!(Clause::filter("owner_org:city"), facet(Facet::Organization, "city"));
    assert_eq!(Clause::filter("isopen:true"), facet(Facet::IsOpen, "true"));
    assert_eq!(Clause::filter("author:\"Ada Waters\""), facet(Facet::Author, "Ada Waters"));
}

#[test]
fn orders() {
    let sort = Sort::read("score desc, metadata_modified desc,title_string, score asc").expect("an order");
    assert_eq!(
        sort.iter().map(|one| (one.by, one.descending)).collect::<Vec<_>>(),
        [(SortField::Score, true), (SortField::Modified, true), (SortField::Title, false),]
    );
    for wrong in ["colour", "name up", "name asc desc"] {
        assert_eq!(Sort::read(wrong), Err(QueryError::Sort(wrong.to_owned())));
    }
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
    Loader::new(store).load(Catalog::read(&path).expect("a catalogue"), &|_| ()).expect("loaded");
    Indexer::new(store, IndexOptions::default()).run(&|_| ()).expect("indexed");
}

#[test]
fn the_table_is_made_anew_when_something_changed() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::in_memory(folder.path(), Iris::new(Iris::DEFAULT_BASE).expect("the default")).expect("a store");
    take_in(&store, folder.path(), "one a");
    let searcher = Searcher::open(folder.path()).expect("an index");
    let state = AppState::new(searcher, store, SparqlLimits::default());
    let titles = || {
        let table = Table::current(&state).expect("a table");
        (table.rows.iter().map(|row| row.title.clone()).collect::<Vec<_>>(), table)
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
        "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .\n".to_owned();
    for (id, files) in [("one", 500), ("two", 1)] {
        turtle += &format!("<http://e.org/{id}> a dcat:Dataset ; dct:identifier \"{id}\" ; dct:title \"{id}\" .\n");
        for number in 0..files {
            turtle += &format!(
                "<http://e.org/{id}> dcat:distribution [ dcat:downloadURL <http://e.org/{id}/{number}.csv> ] .\n"
            );
        }
    }
    take_in_catalog(&store, folder.path(), &turtle);
    let state = AppState::new(Searcher::open(folder.path()).expect("an index"), store, SparqlLimits::default());
    let search = |parameters: &str| {
        let parameters = Parameters::read(parameters, "", b"").expect("parameters");
        let call = Call { state: &state, base: "http://e.org/", parameters: &parameters };
        resource_search(&call).expect("resources")
    };
    let found = search("query=format:csv&offset=1");
    let results = found["results"].as_array().expect("a list");
    assert_eq!((&found["count"], results.len()), (&json!(501), 500));
    let of_one = results.iter().filter(|one| one["package_id"] == "one").count();
    assert_eq!((of_one, &results[499]["url"]), (499, &json!("http://e.org/two/0.csv")));
    let last = search("query=url:two/0&limit=3");
    assert_eq!((&last["count"], &last["results"]), (&json!(1), &json!([results[499]])));
    assert_eq!(search("query=format:csv&offset=501")["results"], json!([]));
}
