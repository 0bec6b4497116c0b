//! Tables of the entities of a class: pages, CSV, and the way back from CSV to the triples.

use super::http::Site;
use super::support::{Home, limits, testdata};
use lodeseek_catalog::Catalog;
use lodeseek_store::{ContentPlace, LoadOptions, Loader};
use lodeseek_tabular::csvw::{Converter, Fetched, Mode, Resolver};
use oxrdf::Term;
use std::collections::BTreeSet;

/// Address of the table of a class of a dataset of the test data.
fn address(dataset: &str, class: &str) -> String {
    let class: String = form_urlencoded::byte_serialize(class.as_bytes()).collect();
    format!("/dataset/{dataset}/table?class={class}")
}

const CONCEPT: &str = "http://www.w3.org/2004/02/skos/core#Concept";

fn class_of_trees(page: &str) -> String {
    let link = page
        .split("class=\"tables\"")
        .nth(1)
        .and_then(|rest| rest.split("href=\"").nth(1))
        .and_then(|rest| rest.split('"').next());
    link.expect("a link to a table").replace("&#38;", "&")
}

#[tokio::test]
async fn entities_are_rows() {
    let site = Site::testdata();
    let dataset = site.get("/dataset/street-trees?format=html").await.body;
    let own = class_of_trees(&dataset);
    let page = site.get(&own).await.body;
    assert!(
        page.contains("<h1 dir=\"auto\"") && page.matches("<th scope=\"row\"").count() > 2,
        "{page}"
    );
    assert!(page.contains("/dataset/street-trees/entity?iri="), "{page}");
    let soil = address("soil-types", CONCEPT);
    let german = site.get(&format!("{soil}&lang=de")).await.body;
    assert!(
        german.matches("<th scope=\"row\"").count() == 10,
        "{german}"
    );
    let filtered = site.get(&format!("{soil}&q=gley")).await.body;
    let rows = filtered.matches("<th scope=\"row\"").count();
    assert!((1..10).contains(&rows), "{filtered}");
    let nothing = site.get(&format!("{soil}&q=xylophone")).await;
    assert!(
        nothing.status.as_u16() == 200 && nothing.body.contains("No row contains this text."),
        "{}",
        nothing.body
    );
    let nobody = site
        .get(&address("soil-types", "http://e.org/Nobody"))
        .await;
    assert_eq!(nobody.status.as_u16(), 404, "{}", nobody.body);
    let far = site.get(&format!("{soil}&skip=99999")).await;
    assert_eq!(far.status.as_u16(), 400, "{}", far.body);
    let wrong = site.get(&format!("{soil}&format=xlsx")).await;
    assert!(
        wrong.status.as_u16() == 400 && wrong.body.contains("html, csv, csvw"),
        "{}",
        wrong.body
    );
}

#[tokio::test]
async fn csv_has_all_entities_and_leads_back_to_the_triples() {
    let site = Site::testdata();
    let soil = address("soil-types", CONCEPT);
    let csv = site.get(&format!("{soil}&format=csv")).await;
    assert_eq!((csv.status.as_u16(), csv.media_type()), (200, "text/csv"));
    assert!(
        csv.header("content-disposition")
            .contains("soil-types-Concept.csv"),
        "{}",
        csv.header("content-disposition")
    );
    assert_eq!(csv.body.lines().count(), 11, "{}", csv.body);
    let header = csv.body.lines().next().expect("a header");
    for column in ["iri", "prefLabel_de", "prefLabel_en", "notation"] {
        assert!(header.split(',').any(|name| name == column), "{header}");
    }
    let described = csv.header("link");
    assert!(
        described.contains("format=csvw>; rel=\"describedby\""),
        "{described}"
    );
    let csvw = site.get(&format!("{soil}&format=csvw")).await;
    assert_eq!(csvw.media_type(), "application/csvm+json");
    // A converter makes the triples of the entities from both.
    let documents = Documents {
        csv: csv.body.clone(),
        metadata: csvw.body.clone(),
    };
    let table = csvw.json()["url"].as_str().expect("an address").to_owned();
    let mut converted = BTreeSet::new();
    let warnings = Converter::new(&documents)
        .with_mode(Mode::Minimal)
        .with_metadata(METADATA)
        .convert(&table, &mut |triple| {
            converted.insert(triple_text(
                &triple.subject.to_string(),
                triple.predicate.as_str(),
                &triple.object.into_owned(),
            ));
        })
        .expect("converted");
    assert_eq!(warnings, Vec::<String>::new());
    let query = format!("SELECT ?s ?p ?o WHERE {{ GRAPH ?g {{ ?s a <{CONCEPT}> ; ?p ?o }} }}");
    let home = Home::from_catalog(&testdata("catalog.ttl"));
    let lodeseek_sparql::Answer::Solutions { rows, .. } = home.ask(&query).expect("solutions")
    else {
        panic!("no solutions")
    };
    let mut stored = BTreeSet::new();
    for row in rows {
        let [Some(subject), Some(Term::NamedNode(property)), Some(object)] = &row[..] else {
            panic!("{row:?}")
        };
        let subject = subject.to_string();
        if subject.starts_with("<http://example.org/soil/") {
            stored.insert(triple_text(&subject, property.as_str(), object));
        }
    }
    assert!(stored.len() > 50, "{stored:?}");
    assert_eq!(converted, stored);
}

const METADATA: &str = "http://e.org/metadata.json";

/// A table and its description.
struct Documents {
    csv: String,
    metadata: String,
}

impl Resolver for Documents {
    fn fetch(&self, address: &str) -> Option<Fetched> {
        let text = match address {
            METADATA => &self.metadata,
            address if address.contains("format=csv") => &self.csv,
            _ => return None,
        };
        Some(Fetched {
            bytes: text.clone().into_bytes(),
            link: None,
        })
    }
}

/// Returns a triple as a text. Resources in lists are literals in CSV on the Web.
fn triple_text(subject: &str, property: &str, object: &Term) -> String {
    let object = match object {
        Term::NamedNode(node) if !property.ends_with("#narrower") => node.to_string(),
        Term::NamedNode(node) => node.as_str().to_owned(),
        Term::Literal(literal) => match literal.language() {
            Some(language) => format!("{}@{language}", literal.value()),
            None => literal.value().to_owned(),
        },
        other => panic!("no value of a table: {other}"),
    };
    format!("{subject} {property} {object}")
}

#[tokio::test]
async fn content_without_a_store_has_no_tables() {
    let home = Home::new();
    let options = LoadOptions {
        content: Some(ContentPlace::IndexOnly),
        ..LoadOptions::default()
    };
    let catalog = Catalog::read(&testdata("catalog.ttl")).expect("a catalogue");
    Loader::new(&home.store)
        .with_options(options)
        .load(catalog, &|_| ())
        .expect("loaded");
    home.index();
    let (app, folder) = home.serve(limits());
    let site = Site::behind(app, folder);
    let page = site.get("/dataset/soil-types?format=html").await.body;
    assert!(!page.contains("class=\"tables\""), "{page}");
}
