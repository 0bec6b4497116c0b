//! Tables of the entities of a class: pages, CSV, and the way back from CSV to the triples.

use super::http::Site;
use super::support::{Home, limits, testdata};
use lodeseek_catalog::Catalog;
use lodeseek_store::{ContentPlace, LoadOptions, Loader};
use lodeseek_tabular::csvw::{Converter, Fetched, Mode, Resolver};
use oxrdf::Term;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

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
    let csv = site.get(&format!("{soil}&q=gley&format=csv")).await;
    assert_eq!(csv.body.lines().count(), rows + 1, "{}", csv.body);
    assert_eq!(csv.header("link"), "", "the description has all rows");
    assert!(
        filtered.contains(&format!("<span>{rows} row"))
            && filtered.contains("have this text.") == (rows > 1)
            && filtered.contains("&#38;q=gley&#38;format=csv\""),
        "{filtered}"
    );
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
    for column in ["iri", "pref label (de)", "pref label (en)", "notation"] {
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

/// A dataset with two tables. The second cell of each row of the first one is its number.
fn two_tables() -> Home {
    let folder = tempfile::tempdir().expect("a folder");
    let mut trees = "tree name,number_of_row,height (m),unused,Zone\n".to_owned();
    for row in 1..=12 {
        let height = if row == 11 { 40 } else { 20 - row };
        let zone = if row == 12 { "harbour" } else { "park" };
        let _ = writeln!(trees, "Oak {},{row},{height},,{zone}", 100 - row);
    }
    for (name, text) in [
        ("trees.csv", trees.as_str()),
        ("owners.csv", "owner\nCity\n"),
        (
            "catalog.ttl",
            "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
            <http://e.org/trees> a dcat:Dataset ; dct:identifier \"trees\" ; dct:title \"Trees\"@en ;
                dcat:keyword \"Germany\", \"Deutschland\", \"wood\" ;
                dcat:distribution [ dcat:downloadURL <trees.csv> ], [ dcat:downloadURL <owners.csv> ] .
            <http://e.org/shrubs> a dcat:Dataset ; dct:identifier \"shrubs\" ; dct:title \"Shrubs\"@en ;
                dcat:keyword \"Germany\", \"Deutschland\" .",
        ),
    ] {
        fs::write(folder.path().join(name), text).expect("written");
    }
    Home::from_catalog(&folder.path().join("catalog.ttl"))
}

fn two_tables_site() -> Site {
    let (app, folder) = two_tables().serve(limits());
    Site::behind(app, folder)
}

#[tokio::test]
async fn tables_of_files_have_their_names_rows_and_columns() {
    let site = two_tables_site();
    let page = site.get("/dataset/trees?format=html").await.body;
    let links = page
        .split("class=\"tables\"")
        .nth(1)
        .and_then(|rest| rest.split("</p>").next())
        .expect("links to tables");
    assert!(
        links.contains("trees.csv <") && links.contains("owners.csv <"),
        "{links}"
    );
    assert_eq!(
        links.matches("<a ").count(),
        2,
        "no internal class: {links}"
    );
    for name in ["trees.csv", "owners.csv"] {
        let button = format!("<b>CSV</b> <span class=\"name\" dir=\"auto\">{name}</span>");
        assert!(page.contains(&button), "{button}\n{page}");
    }
    assert!(
        !page.contains("/dump/trees/trees.csv</"),
        "columns are no vocabulary: {page}"
    );

    let own = class_of_trees(&page);
    let table = site.get(&own).await.body;
    assert!(table.contains(">trees.csv</h1>"), "{table}");
    let header = table
        .split("<thead>")
        .nth(1)
        .and_then(|rest| rest.split("</thead>").next())
        .expect("a header");
    let names = [">tree name<", ">number_of_row<", ">height (m)<", ">Zone<"];
    let places: Vec<Option<usize>> = names.iter().map(|name| header.find(name)).collect();
    assert!(
        places.iter().all(Option::is_some) && places.is_sorted(),
        "{header}"
    );
    assert_eq!(
        header.matches("<th ").count(),
        5,
        "the number and the columns: {header}"
    );
    let csv = site.get(&format!("{own}&format=csv")).await;
    assert!(
        csv.header("content-disposition")
            .contains("trees-trees.csv"),
        "{}",
        csv.header("content-disposition")
    );
    let mut lines = csv.body.lines();
    assert_eq!(
        lines.next(),
        Some("tree name,number_of_row,height (m),Zone,iri")
    );
    let numbers: Vec<&str> = lines.filter_map(|line| line.split(',').nth(1)).collect();
    assert_eq!(
        numbers,
        [
            "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"
        ]
    );
    let sorted = format!("{own}&sort=height__m_");
    let page = site.get(&sorted).await.body;
    let by_height = [
        "12", "10", "9", "8", "7", "6", "5", "4", "3", "2", "1", "11",
    ];
    assert_eq!(row_labels(&page), by_height, "by number, not by text");
    let csv = site.get(&format!("{sorted}&format=csv")).await.body;
    assert_eq!(csv_column(&csv, "number_of_row"), by_height);
    let backwards = site.get(&format!("{own}&sort=-iri")).await.body;
    assert_eq!(row_labels(&backwards)[..2], ["12", "11"]);
    let filtered = site.get(&format!("{own}&q=harbour")).await.body;
    assert!(
        filtered.matches("<th scope=\"row\"").count() == 1 && filtered.contains(">12</a>"),
        "{filtered}"
    );
}

#[tokio::test]
async fn facets_have_no_terms_of_the_description_of_tables() {
    let site = two_tables_site();
    let found = site.get("/api/search?q=oak&facets=true").await.json();
    for facet in found["facets"].as_array().expect("facets") {
        let name = facet["facet"].as_str().expect("a name");
        for value in facet["values"].as_array().expect("values") {
            let value = value["value"].as_str().expect("a value");
            let is_internal = ["csvw", "lodeseek", "/dump/", "void", "prov#"]
                .iter()
                .any(|part| value.contains(part));
            let is_term = name == "class" || name == "vocabulary";
            assert!(!is_term || !is_internal, "{name}: {value}");
        }
    }
}

#[tokio::test]
async fn results_show_rows_that_match() {
    let site = two_tables_site();
    let page = site.get("/?q=trees+harbour").await.body;
    assert!(
        page.contains("<mark>harbour</mark>") && !page.contains(">unused<"),
        "{page}"
    );
    for address in [
        "/?q=oak&column=height+(m)+%3E+30",
        "/?column=height+(m)+%3E+30",
    ] {
        let page = site.get(address).await.body;
        assert!(page.contains("<mark>40</mark>"), "{address}\n{page}");
    }
}

#[tokio::test]
async fn topics_in_two_languages_are_one() {
    let site = two_tables_site();
    for (address, kept, omitted) in [
        ("/?lang=en", "Germany", "Deutschland"),
        ("/?lang=de", "Deutschland", "Germany"),
    ] {
        let page = site.get(address).await.body;
        let tiles = page
            .split("class=\"tiles\"")
            .nth(1)
            .and_then(|rest| rest.split("</ul>").next())
            .expect("topics");
        for (label, expected) in [(kept, true), (omitted, false), ("wood", true)] {
            let tile = format!("<span dir=\"auto\">{label}</span>");
            assert_eq!(tiles.contains(&tile), expected, "{label}: {tiles}");
        }
    }
}

#[tokio::test]
async fn datasets_without_a_known_place_are_counted() {
    let site = two_tables_site();
    let none = site.get("/?q=trees&within=-3.3,4.7,1.2,11.2").await.body;
    assert!(
        none.contains("1 matching dataset without a known place is left out.")
            && none.contains(">Search without this filter</a>"),
        "{none}"
    );
    let all = site
        .get("/?page=0&within=-3.3,4.7,1.2,11.2&lang=de")
        .await
        .body;
    assert!(
        all.contains("2 passende Datensätze ohne bekannten Ort sind nicht dabei."),
        "{all}"
    );
    let other = site.get("/?q=trees").await.body;
    assert!(!other.contains("left-out"), "{other}");
}

/// Returns the labels of the rows of a page.
fn row_labels(page: &str) -> Vec<&str> {
    let mut labels = Vec::new();
    for row in page.split("<th scope=\"row\"").skip(1) {
        let link = row.split("</a>").next().unwrap_or_default();
        labels.push(link.rsplit('>').next().unwrap_or_default());
    }
    labels
}

/// Returns the cells of a column of a CSV without quotes.
fn csv_column<'c>(csv: &'c str, name: &str) -> Vec<&'c str> {
    let header = csv.lines().next().expect("a header");
    let place = header.split(',').position(|column| column == name);
    let place = place.unwrap_or_else(|| panic!("no {name}: {header}"));
    let lines = csv.lines().skip(1);
    lines
        .map(|line| line.split(',').nth(place).expect("a cell"))
        .collect()
}

const TREE: &str = "http://e.org/v#Tree";

/// A site with one dataset, whose content is this Turtle.
fn site_with_content(turtle: &str) -> Site {
    let folder = tempfile::tempdir().expect("a folder");
    let catalog =
        "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
        <http://e.org/wood> a dcat:Dataset ; dct:identifier \"wood\" ; dct:title \"Wood\"@en ;
            dcat:distribution [ dcat:downloadURL <wood.ttl> ] .";
    fs::write(folder.path().join("catalog.ttl"), catalog).expect("written");
    fs::write(folder.path().join("wood.ttl"), turtle).expect("written");
    let home = Home::from_catalog(&folder.path().join("catalog.ttl"));
    let (app, folder) = home.serve(limits());
    Site::behind(app, folder)
}

/// 85 trees. A third has been felled, one has two heights.
fn wood() -> String {
    let mut turtle =
        "@prefix e: <http://e.org/v#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n"
            .to_owned();
    for number in 0..85 {
        let _ = writeln!(
            turtle,
            "<http://e.org/t/{number}> a e:Tree ; e:height {number}.5 ; e:streetName \"Oak Road\" ; e:kind e:common ."
        );
        if number % 3 == 0 {
            let year = if number == 84 { 10_000 } else { 2000 + number };
            let _ = writeln!(
                turtle,
                "<http://e.org/t/{number}> e:felled \"{year}-01-01\"^^xsd:date ."
            );
        }
    }
    turtle.push_str("<http://e.org/t/5> e:height 100.5 .");
    turtle
}

#[tokio::test]
async fn pages_and_csv_have_one_order() {
    let site = site_with_content(&wood());
    let own = address("wood", TREE);
    let sorted = format!("{own}&q=common&sort=-height");
    let csv = site.get(&format!("{sorted}&format=csv")).await.body;
    let iris = csv_column(&csv, "iri");
    let mut expected = vec!["http://e.org/t/5".to_owned()];
    for number in (0..85).rev().filter(|number| *number != 5) {
        expected.push(format!("http://e.org/t/{number}"));
    }
    assert_eq!(iris, expected, "the larger of two heights counts");
    let mut labels: Vec<String> = Vec::new();
    for skip in [0, 25, 50, 75] {
        let page = site.get(&format!("{sorted}&skip={skip}")).await.body;
        assert!(page.contains("85 rows have this text."), "{page}");
        labels.extend(row_labels(&page).into_iter().map(str::to_owned));
    }
    let numbers: Vec<&str> = iris
        .iter()
        .filter_map(|iri| iri.rsplit('/').next())
        .collect();
    assert_eq!(labels, numbers);
    let up = site.get(&format!("{own}&sort=height&format=csv")).await;
    let up_iris = csv_column(&up.body, "iri");
    assert_eq!(up_iris[5], "http://e.org/t/5", "the smaller height counts");
    assert!(
        up.header("link").contains("&sort=height&format=csvw>"),
        "{}",
        up.header("link")
    );
    let described = site.get(&format!("{own}&sort=height&format=csvw")).await;
    let described = described.json();
    let url = described["url"].as_str().expect("an address");
    assert!(url.ends_with("&sort=height&format=csv"), "{url}");
}

#[tokio::test]
async fn headers_are_links_that_keep_filter_and_page() {
    let site = site_with_content(&wood());
    let own = address("wood", TREE);
    let page = site
        .get(&format!("{own}&q=common&sort=-height&skip=25"))
        .await
        .body;
    for expected in [
        "aria-sort=\"descending\"><a href=",
        "&#38;q=common&#38;sort=height&#38;skip=25\">height</a>",
        "&#38;q=common&#38;sort=streetName&#38;skip=25\">street name</a>",
        "&#38;q=common&#38;sort=-height\">← Previous",
        "&#38;q=common&#38;sort=-height&#38;skip=50\">Next",
        "&#38;q=common&#38;sort=-height&#38;format=csv\"",
        "name=\"sort\" value=\"-height\"",
    ] {
        assert!(page.contains(expected), "{expected}\n{page}");
    }
    assert_eq!(page.matches("aria-sort=").count(), 1, "{page}");
    let csv = site.get(&format!("{own}&format=csv")).await.body;
    let header = csv.lines().next();
    assert_eq!(header, Some("iri,height,kind,street name,felled"));
    let up = site.get(&format!("{own}&sort=height")).await.body;
    assert!(up.contains("&#38;sort=-height\">height</a>"), "{up}");
}

#[tokio::test]
async fn rows_without_a_value_are_last_in_both_directions() {
    let site = site_with_content(&wood());
    let own = address("wood", TREE);
    for (sort, first, last) in [
        ("felled", "2000-01-01", "10000-01-01"),
        ("-felled", "10000-01-01", "2000-01-01"),
    ] {
        let csv = site.get(&format!("{own}&sort={sort}&format=csv")).await;
        let dates = csv_column(&csv.body, "felled");
        assert_eq!((dates[0], dates[28]), (first, last), "{dates:?}");
        assert!(dates[29..].iter().all(|date| date.is_empty()), "{dates:?}");
    }
}

#[tokio::test]
async fn unknown_columns_are_reported() {
    let site = site_with_content(&wood());
    let own = address("wood", TREE);
    let page = site.get(&format!("{own}&sort=-colour")).await;
    assert_eq!(page.status.as_u16(), 200);
    let note = "this table has no column “colour”";
    assert!(page.body.contains(note), "{}", page.body);
    assert!(!page.body.contains("aria-sort="), "{}", page.body);
    for format in ["csv", "csvw"] {
        let refused = site
            .get(&format!("{own}&sort=-colour&format={format}"))
            .await;
        assert!(
            refused.status.as_u16() == 400 && refused.body.contains("columns: iri, height, "),
            "{format}: {}",
            refused.body
        );
    }
}

#[tokio::test]
async fn large_tables_are_not_sorted() {
    let mut turtle = "@prefix e: <http://e.org/v#> .\n".to_owned();
    for number in 0..10_001 {
        let _ = writeln!(turtle, "<http://e.org/t/{number}> a e:Tree .");
    }
    let site = site_with_content(&turtle);
    let own = address("wood", TREE);
    let note = "Only tables of at most 10,000 rows can be sorted.";
    for sort in ["", "&sort=iri"] {
        let page = site.get(&format!("{own}{sort}")).await.body;
        assert!(
            page.contains(note) && page.contains("10,001 rows"),
            "{page}"
        );
        assert!(!page.contains(">Name</a>"), "{page}");
    }
    let csv = site.get(&format!("{own}&sort=iri&format=csv")).await;
    assert_eq!(csv.status.as_u16(), 400, "{}", csv.body);
    let filtered = site.get(&format!("{own}&q=xylophone")).await.body;
    let note = "The text was searched in the first 10,000 rows only.";
    assert!(filtered.contains(note), "{filtered}");
}
