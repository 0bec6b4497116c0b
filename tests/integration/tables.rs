//! Tables, workbooks and GeoJSON as content of datasets: loaded, searched and queried like RDF.

use super::http::Site;
use super::support::{Home, limits, testdata};
use lodeseek_catalog::Catalog;
use lodeseek_engine::{Filter, Hit, SearchRequest, SnippetKind};
use lodeseek_rdf::dump::{FileReport, Outcome};
use lodeseek_snippet::Method;
use lodeseek_store::{DatasetOutcome, LoadOptions, Loader, TableTreatment};
use std::fs;
use std::io::Write as _;

fn files(home: &Home, source: &str) -> Vec<FileReport> {
    let report = home.load(&testdata(source));
    report
        .datasets
        .into_iter()
        .flat_map(|dataset| dataset.files)
        .collect()
}

#[test]
fn tables_are_found_by_their_cells() {
    let home = Home::new();
    let files = files(&home, "tables/catalog.ttl");
    let facts: Vec<String> = files
        .iter()
        .flat_map(|file| &file.tables)
        .map(ToString::to_string)
        .collect();
    let mut sorted = facts.clone();
    sorted.sort();
    assert_eq!(
        sorted,
        [
            "CSV, 3 rows, 4 columns, US-ASCII, delimiter ;",
            "GeoJSON \"features\", 2 rows, 4 columns, US-ASCII",
            "XLSX \"Boats\", 2 rows, 3 columns",
            "XLSX \"Repairs\", 1 rows, 2 columns",
        ]
    );
    home.index();
    // A cell, a word of the footnote, a description of a column, a sheet, a value within GeoJSON.
    for (query, dataset) in [
        ("Old Brewery", "water"),
        ("detection", "water"),
        ("lead", "water"),
        ("rudder bearing", "harbour"),
        ("Sound Ferries", "harbour"),
    ] {
        assert_eq!(home.found(query), [dataset], "{query}");
    }
}

#[test]
fn rows_are_entities_with_typed_cells() {
    let home = Home::new();
    home.load(&testdata("tables/catalog.ttl"));
    let count = |pattern: &str| {
        home.count(&format!(
            "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
             PREFIX csvw: <http://www.w3.org/ns/csvw#>
             PREFIX geo: <http://www.opengis.net/ont/geosparql#>
             PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
             SELECT (COUNT(*) AS ?count) WHERE {{ GRAPH ?g {{ {pattern} }} }}"
        ))
    };
    for (pattern, expected) in [
        // Decimal commas, a unit below the header, and the number of the row.
        (
            "?row rdfs:label 'Old Brewery' ; ?depth 48.0 ; csvw:rownum 2 . ?depth rdfs:label 'depth'
             ; <https://schema.org/unitText> 'm'",
            1,
        ),
        // Dates of a workbook.
        (
            "?row rdfs:label 'Heron' ; ?launched '2024-01-01'^^xsd:date",
            1,
        ),
        (
            "?pier rdfs:label 'Gull Pier' ; geo:hasGeometry/geo:asWKT 'POINT (10.25 54.5)'^^geo:wktLiteral",
            1,
        ),
        ("?line rdfs:label 'Blue line' ; ?operator [ rdfs:label 'Sound Ferries' ]", 1),
    ] {
        assert_eq!(count(pattern), expected, "{pattern}");
    }
}

fn search(home: &Home, request: SearchRequest) -> Vec<Hit> {
    home.searcher().search(&request).expect("hits").hits
}

#[test]
fn rows_are_shown_with_matching_cells() {
    let home = Home::from_catalog(&testdata("tables/catalog.ttl"));
    let stored = search(&home, SearchRequest::new("brewery".to_owned()));
    let table = stored[0].table.as_ref().expect("rows");
    let headers: Vec<&str> = table
        .columns
        .iter()
        .map(|cell| cell.text.as_str())
        .collect();
    assert_eq!(headers, ["well name", "depth", "Pb", "sampled"]);
    assert_eq!(table.rows.len(), 3);
    let hits = search(
        &home,
        SearchRequest {
            snippet: SnippetKind::OnDemand(Method::Optimal),
            explain: true,
            ..SearchRequest::new("brewery depth".to_owned())
        },
    );
    let table = hits[0].table.as_ref().expect("rows");
    let matched: Vec<(u64, &str)> = table
        .rows
        .iter()
        .flat_map(|row| row.cells.iter().map(|cell| (row.number, cell)))
        .filter(|(_, cell)| !cell.matched.is_empty())
        .map(|(number, cell)| (number, cell.text.as_str()))
        .collect();
    assert_eq!(matched, [(2, "Old Brewery")]);
    assert_eq!(
        table.columns[1].matched,
        ["depth"],
        "the header matches, too"
    );
    let place: Vec<(Option<u64>, &str)> = hits[0]
        .evidence
        .iter()
        .map(|evidence| (evidence.row, evidence.triple.predicate.label.as_str()))
        .collect();
    assert!(place.contains(&(Some(2), "well name")), "{place:?}");
    for explain in [false, true] {
        let without = search(
            &home,
            SearchRequest {
                snippet: SnippetKind::None,
                explain,
                matching_rows: 10,
                ..SearchRequest::new("brewery depth".to_owned())
            },
        );
        assert_eq!((&without[0].table, without[0].snippet.len()), (&None, 0));
        assert_eq!(without[0].evidence.is_empty(), !explain);
    }
}

#[test]
fn tables_that_are_left_out_later_leave_their_dataset() {
    let catalog = testdata("tables/catalog.ttl");
    let home = Home::from_catalog(&catalog);
    let options = LoadOptions {
        tables: Some(TableTreatment::Off),
        ..LoadOptions::default()
    };
    let report = Loader::new(&home.store)
        .with_options(options)
        .load(Catalog::read(&catalog).expect("a catalogue"), &|_| ())
        .expect("loaded");
    for dataset in report.datasets {
        assert_eq!(dataset.outcome, DatasetOutcome::Replaced, "{dataset:?}");
        let stores_content = home.store.stores_content(&dataset.id).expect("read");
        assert!(!stores_content, "{}", dataset.id);
    }
}

#[tokio::test]
async fn snippets_have_only_rows_that_match() {
    let site = Site::from_catalog(&testdata("tables/catalog.ttl"), limits());
    for (parameters, numbers, matching) in [
        ("query=brewery", &[2][..], Some(1)),
        ("query=brewery+pond", &[2, 3], Some(2)),
        ("query=brewery+pond&rows=1", &[2], Some(2)),
        ("query=depth", &[], Some(0)),
        ("rows=2", &[1, 2], None),
        ("", &[1, 2, 3], None),
    ] {
        let path = format!("/dataset/water/snippet?format=json&{parameters}");
        let table = site.get(&path).await.json()["table"].clone();
        let rows = table["rows"].as_array().expect("rows").iter();
        let found: Vec<u64> = rows.filter_map(|row| row["number"].as_u64()).collect();
        assert_eq!(found, numbers, "{parameters}");
        assert_eq!(table["allRows"], 3, "{parameters}");
        assert_eq!(table["matchingRows"].as_u64(), matching, "{parameters}");
    }
    for rows in ["0", "101"] {
        let path = format!("/dataset/water/snippet?format=json&rows={rows}");
        let refused = site.get(&path).await;
        assert_eq!(refused.status, 400);
        assert!(refused.body.contains("rows must be from 1 to 100"));
    }
}

#[tokio::test]
async fn pages_show_the_rows_and_lead_to_the_file() {
    let site = Site::from_catalog(&testdata("tables/catalog.ttl"), limits());
    let page = site.get("/?q=brewery").await.body;
    assert!(
        page.contains("href=\"/dataset/water/files/wells.csv\" download"),
        "{page}"
    );
    assert!(page.contains("Old <mark>Brewery</mark>"), "{page}");
}

#[test]
fn datasets_are_filtered_by_columns_and_numbers() {
    let home = Home::from_catalog(&testdata("tables/catalog.ttl"));
    let found = |column: &str| -> Vec<String> {
        let filter = Filter {
            columns: vec![column.parse().expect("a condition")],
            ..Filter::default()
        };
        let request = SearchRequest {
            filter,
            ..SearchRequest::new("old sound".to_owned())
        };
        let hits = search(&home, request);
        hits.iter()
            .map(|hit| hit.card.metadata.id.to_string())
            .collect()
    };
    for (column, expected) in [
        ("well_name", &["water"][..]),
        ("Depth", &["water"]),
        ("launched", &["harbour"]),
        ("depth >= 48", &["water"]),
        ("depth > 48", &[]),
        ("depth < 20", &["water"]),
        ("launched > 5", &[]),
        ("height", &[]),
    ] {
        assert_eq!(found(column), expected, "{column}");
    }
}

#[cfg(feature = "rocksdb")]
#[test]
fn tables_stay_out_of_the_store_if_the_operator_wishes() {
    for (setting, is_read, is_stored) in [
        ("store", true, true),
        ("index-only", true, false),
        ("off", false, false),
    ] {
        let home = Home::with_settings(&format!("tables = \"{setting}\"\n"));
        let report = home.load(&testdata("tables/catalog.ttl"));
        for dataset in report.datasets {
            assert_eq!(dataset.triples > 0, is_read, "{setting}: {dataset:?}");
            let is_left_out = dataset
                .files
                .iter()
                .flat_map(|file| &file.problems)
                .any(|problem| problem.message.contains("the setting `tables` is `off`"));
            assert_eq!(is_left_out, !is_read, "{setting}: {dataset:?}");
            let stores_content = home.store.stores_content(&dataset.id).expect("read");
            assert_eq!(stores_content, is_stored, "{setting}: {}", dataset.id);
        }
        // RDF is not concerned.
        for dataset in home.load(&testdata("catalog.ttl")).datasets {
            let stores_content = home.store.stores_content(&dataset.id).expect("read");
            assert_eq!(stores_content, dataset.triples > 0, "{}", dataset.id);
        }
    }
}

#[test]
fn facts_of_tables_are_published() {
    let home = Home::from_catalog(&testdata("tables/catalog.ttl"));
    let count = home.count(
        "PREFIX csvw: <http://www.w3.org/ns/csvw#> PREFIX void: <http://rdfs.org/ns/void#>
         SELECT (COUNT(*) AS ?count) WHERE {
             ?dataset void:subset ?table .
             ?table a csvw:Table ; void:entities 3 ; void:properties 4 ;
                 csvw:dialect [ csvw:encoding 'US-ASCII' ; csvw:delimiter ';' ; csvw:headerRowCount 1 ] .
             FILTER(STRENDS(STR(?dataset), '/water')) }",
    );
    assert_eq!(count, 1);
}

#[test]
fn a_folder_of_tables_is_a_catalogue() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = |name: &str| folder.path().join(name);
    fs::write(place("oaks.csv"), "\"name\",\"height\"\n\"Royal Oak\",21\n").expect("written");
    fs::write(place("elms.tsv"), "name\theight\nWych\t18\n").expect("written");
    fs::write(place("datapackage.json"), r#"{"resources": []}"#).expect("written");
    fs::write(place("ash.ttl"), "<e:ash> <e:height> 12 .").expect("written");
    // RDF with a wrong suffix is RDF.
    fs::write(
        place("yews.csv"),
        "<http://e.org/yew> <http://e.org/height> 9 .\n",
    )
    .expect("written");
    let home = Home::new();
    let report = home.load(folder.path());
    let loaded: Vec<(String, u64, bool)> = report
        .datasets
        .iter()
        .map(|dataset| {
            (
                dataset.id.to_string(),
                dataset.triples,
                dataset.files[0].tables.is_empty(),
            )
        })
        .collect();
    assert_eq!(
        loaded
            .iter()
            .map(|(id, ..)| id.as_str())
            .collect::<Vec<_>>(),
        ["ash", "elms", "oaks", "yews"]
    );
    assert_eq!((loaded[0].1, loaded[0].2), (1, true));
    assert_eq!((loaded[3].1, loaded[3].2), (1, true));
    assert!(!loaded[1].2 && !loaded[2].2, "{loaded:?}");
    assert!(
        report.catalog_problems.is_empty(),
        "{:?}",
        report.catalog_problems
    );
}

#[test]
fn hostile_tables_are_refused_or_bounded() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = |name: &str| folder.path().join(name);
    let wide = format!("{}\n{}\n", "c,".repeat(2000), "1,".repeat(2000));
    fs::write(place("wide.csv"), wide).expect("written");
    let mut unclosed = fs::File::create(place("unclosed.csv")).expect("created");
    writeln!(unclosed, "name,height\noak,21\n\"elm,18").expect("written");
    for _ in 0..1_000_000 {
        writeln!(unclosed, "ash,12,yew").expect("written");
    }
    drop(unclosed);
    fs::write(
        place("catalog.json"),
        r#"[{"dataset_id": 1, "title": "a", "download": ["wide.csv"]},
            {"dataset_id": 2, "title": "b", "download": ["unclosed.csv"]}]"#,
    )
    .expect("written");
    let home = Home::new();
    let report = home.load(&place("catalog.json"));
    let outcomes: Vec<(Outcome, String)> = report
        .datasets
        .iter()
        .map(|dataset| {
            let file = &dataset.files[0];
            let problems: Vec<String> = file.problems.iter().map(ToString::to_string).collect();
            (file.outcome, problems.join("\n"))
        })
        .collect();
    assert_eq!(outcomes[0].0, Outcome::Refused, "{outcomes:?}");
    assert!(outcomes[0].1.contains("1000 columns"), "{outcomes:?}");
    assert_eq!(outcomes[1].0, Outcome::Complete, "{outcomes:?}");
    for part in [
        "quotes at the beginning of cells do not end with them",
        "a sample was taken",
    ] {
        assert!(outcomes[1].1.contains(part), "{outcomes:?}");
    }
}

/// Five tables: two of regions, one of them with most of the codes of the other, two of years with the same columns, and one whose
/// running numbers and years agree with the others by chance.
fn write_overlapping_tables(folder: &std::path::Path) {
    let mut regions = "region_code,name\n".to_owned();
    let mut clinics = "clinic,region,beds\n".to_owned();
    let mut fairs = "id,year\n".to_owned();
    for number in 0..60 {
        regions += &format!("R{:03},Region of the {number}th hill\n", 7 * number);
        if number < 50 {
            clinics += &format!("Clinic {number},r{:03},{}\n", 7 * number, number + 1);
        }
        fairs += &format!("{number},{}\n", 1950 + number);
    }
    for (name, text) in [("regions", regions), ("clinics", clinics), ("fairs", fairs)] {
        fs::write(folder.join(format!("{name}.csv")), text).expect("written");
    }
    for year in [2020, 2021] {
        let mut rain = "station,month,rain\n".to_owned();
        for month in 1..=12 {
            rain += &format!("Mill {year},{month},{}\n", 10 * month);
        }
        fs::write(folder.join(format!("rain-{year}.csv")), rain).expect("written");
    }
}

#[tokio::test]
async fn overlapping_tables_are_related() {
    let folder = tempfile::tempdir().expect("a folder");
    write_overlapping_tables(folder.path());
    let home = Home::new();
    home.load(folder.path());
    home.index();
    let (app, _home) = home.serve(limits());
    let site = Site::behind(app, folder);
    let related = site
        .get("/dataset/clinics/related?format=json")
        .await
        .json();
    let [tables] = related["tables"].as_array().expect("tables").as_slice() else {
        panic!("{related}");
    };
    assert_eq!(tables["id"], "regions");
    let pair = &tables["joinable"][0];
    assert_eq!(
        (
            pair["column"]["name"].as_str(),
            pair["other"]["name"].as_str(),
            pair["sharedValues"].as_u64(),
            pair["other"]["values"].as_u64(),
            pair["isEstimate"].as_bool(),
        ),
        (
            Some("region"),
            Some("region code"),
            Some(50),
            Some(60),
            Some(false)
        ),
        "{pair}"
    );
    let related = site
        .get("/dataset/rain-2020/related?format=json")
        .await
        .json();
    assert_eq!(related["tables"][0]["id"], "rain-2021", "{related}");
    assert_eq!(related["tables"][0]["unionable"]["sharedColumns"], 3);
    let related = site.get("/dataset/fairs/related?format=json").await.json();
    assert_eq!(related["tables"], serde_json::json!([]), "{related}");

    let page = site.get("/dataset/regions").await.body;
    let evidence =
        "joinable: 50 of 60 values of “region code” (regions) occur in “region” (clinics)";
    assert!(page.contains(evidence), "{page}");
    let turtle = site.get("/dataset/regions/related?format=ttl").await.body;
    for part in [
        "https://github.com/nju-websoft/CoDaKG/blob/main/schema.owl#dataOverlap",
        "dcat:hadRole lodeseek:joinable",
        "lodeseek:sharedValues 50",
    ] {
        assert!(turtle.contains(part), "{turtle}");
    }
}

#[tokio::test]
async fn the_number_of_similar_datasets_limits_tables_as_well() {
    let folder = tempfile::tempdir().expect("a folder");
    write_overlapping_tables(folder.path());
    for name in ["schools", "parks"] {
        let mut table = format!("{name},region,size\n");
        for number in 0..50 {
            table += &format!("{name} {number},R{:03},{}\n", 7 * number, 3 * number + 1);
        }
        fs::write(folder.path().join(format!("{name}.csv")), table).expect("written");
    }
    let home = Home::new();
    home.load(folder.path());
    home.index();
    let (app, _home) = home.serve(limits());
    let site = Site::behind(app, folder);
    for (limit, expected) in [(1, 1), (2, 2), (50, 3)] {
        let path = format!("/dataset/regions/similar?format=json&k={limit}");
        let found = site.get(&path).await.json();
        let tables = found["tables"].as_array().map(Vec::len);
        assert_eq!(tables, Some(expected), "{found}");
        let similar = found["similar"].as_array().map(Vec::len);
        assert!(similar <= Some(limit), "{found}");
    }
}
