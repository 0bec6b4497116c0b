//! Tests that no key of a JSON catalogue is lost in silence, whatever the dialect.

use super::{Catalog, Dataset, Dialect, Iris, dcat};
use serde_json::{Value, json};

fn read(name: &str, text: &str) -> Catalog {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("written");
    Catalog::read(&path).unwrap_or_else(|error| panic!("{error}"))
}

fn description(dataset: &Dataset) -> String {
    let triples = dcat::to_triples(dataset, &Iris::default());
    let lines: Vec<String> = triples.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

/// (dialect, file name, document). `EXTRA` stands for the entry's further keys.
fn documents() -> Vec<(Dialect, &'static str, Value)> {
    vec![
        (
            Dialect::Acordar,
            "plain.json",
            json!([{"dataset_id": "d", "title": "Mills", "EXTRA": 0}]),
        ),
        (
            Dialect::Acordar,
            "plain-object.json",
            json!({"datasets": [{"id": "d", "title": "Mills", "EXTRA": 0}]}),
        ),
        (
            Dialect::JsonLines,
            "plain.jsonl",
            json!({"title": "Mills", "description": "Water mills", "EXTRA": 0}),
        ),
        (
            Dialect::PapersWithCode,
            "papers.json",
            json!([{"name": "Mills", "full_name": "Mills", "num_papers": 1, "EXTRA": 0}]),
        ),
        (
            Dialect::PapersWithCode,
            "collection.jsonl",
            json!({"id": "Mills", "contents": "Water mills", "EXTRA": 0}),
        ),
        (
            Dialect::Ckan,
            "ckan.json",
            json!({"name": "mills", "title": "Mills", "resources": [], "EXTRA": 0}),
        ),
        (
            Dialect::DataJson,
            "data.json",
            json!({"dataset": [{"title": "Mills", "identifier": "d", "keyword": ["mill"],
                "accessLevel": "public", "EXTRA": 0}]}),
        ),
        (
            Dialect::Dcat,
            "dcat-us.json",
            json!({"@type": "Catalog", "dataset": [{"@type": "Dataset", "title": "Mills",
                "identifier": "d", "EXTRA": 0}]}),
        ),
        (
            Dialect::LodCloud,
            "lod.json",
            json!({"mills": {"identifier": "mills", "title": "Mills", "sparql": [], "links": [],
                "domain": "geography", "EXTRA": 0}}),
        ),
        (
            Dialect::Registry,
            "registry.json",
            json!({"ontologies": [{"id": "mo", "title": "Mills",
                "ontology_purl": "http://e.org/mo.owl", "EXTRA": 0}]}),
        ),
        (
            Dialect::DataPackage,
            "datapackage.json",
            json!({"name": "mills", "title": "Mills", "resources": [{"name": "a", "path": "a.csv"}],
                "EXTRA": 0}),
        ),
        (
            Dialect::DataCite,
            "datacite.json",
            json!({"data": {"id": "10.1/mills", "type": "dois", "attributes": {"doi": "10.1/mills",
                "titles": [{"title": "Mills"}], "types": {"resourceTypeGeneral": "Dataset"},
                "publicationYear": 2020, "EXTRA": 0}}}),
        ),
        (
            Dialect::Stac,
            "stac.json",
            json!({"type": "Collection", "stac_version": "1.0.0", "id": "mills", "title": "Mills",
                "description": "Mills", "links": [],
                "extent": {"spatial": {"bbox": [[1, 2, 3, 4]]}, "temporal": {"interval": [["2020-01-01T00:00:00Z", null]]}},
                "EXTRA": 0}),
        ),
        (
            Dialect::OgcRecords,
            "record.json",
            json!({"type": "Feature", "id": "mills", "geometry": null, "conformsTo":
                ["http://www.opengis.net/spec/ogcapi-records-1/1.0/req/record-core"],
                "properties": {"type": "dataset", "title": "Mills", "EXTRA": 0}, "links": []}),
        ),
    ]
}

/// Puts keys in place of `EXTRA`.
fn fill(value: &mut Value, keys: &Value) {
    match value {
        Value::Object(object) => {
            if object.remove("EXTRA").is_some() {
                let keys = keys.as_object().cloned().unwrap_or_default();
                for (key, value) in keys {
                    object.entry(key).or_insert(value);
                }
            }
            object.values_mut().for_each(|value| fill(value, keys));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| fill(value, keys)),
        _ => {}
    }
}

#[test]
fn no_dialect_loses_a_key_in_silence() {
    let keys = json!({
        "mill_pond": "Forgotten pond", "wheel-count": 4711, "has_weir": true,
        "stone": {"kind": "Basalt block", "sides": ["Left bank", "Right bank"]},
        "language": "de", "version": "2.5.1", "spatial": "Thuringia", "temporal": "2010-01-01/2012-01-01",
        "contact": "miller@mills.example", "publisher": "Guild of millers",
        "modified": "2021-02-03", "issued": "2019-04-05", "theme": "Hydropower",
        "creator": "Anna Weber", "author": "Bert Müller", "url": "http://mills.example/about",
        "license": "http://licences.example/mill"
    });
    let expected = [
        "Forgotten pond",
        "4711",
        "has_weir",
        "Basalt block",
        "Left bank",
        "Right bank",
        "\"de\"",
        "2.5.1",
        "Thuringia",
        "2010-01-01",
        "2012-01-01",
        "miller@mills.example",
        "Guild of millers",
        "2021-02-03",
        "2019-04-05",
        "Hydropower",
        "Anna Weber",
        "Bert Müller",
        "http://mills.example/about",
        "http://licences.example/mill",
    ];
    let mut lost = Vec::new();
    for (dialect, name, mut document) in documents() {
        fill(&mut document, &keys);
        let text = if name.ends_with("jsonl") {
            format!("{document}\n{document}\n")
        } else {
            document.to_string()
        };
        let catalog = read(name, &text);
        assert_eq!(catalog.dialect, dialect, "{name}: {:?}", catalog.problems);
        let dataset = catalog.datasets.first();
        let dataset = dataset.unwrap_or_else(|| panic!("{name}: {:?}", catalog.problems));
        let found = description(dataset) + &catalog.problems.join("\n");
        for value in expected {
            if !found.contains(value) {
                lost.push(format!("{name}: {value}"));
            }
        }
    }
    assert!(lost.is_empty(), "{lost:#?}");
}

#[test]
fn plain_lists_have_the_keys_of_descriptions() {
    let entry = json!([{"dataset_id": "x", "title": "Notaufnahmen", "title_en": "Emergency rooms",
        "alternative": "ED", "description": {"de": "Aufnahmen", "en": "Admissions"},
        "keywords": "health, hospitals", "theme": "http://themes.example/health",
        "author": ["RKI", "BfArM"], "publisher": "Robert Koch", "contact": "a@b.example",
        "license": "CC-BY-4.0", "access_rights": "public", "issued": "2019", "created": "2018",
        "modified": "2020-01-02", "url": "http://rki.example/d", "language": ["de", "en"],
        "spatial": "Germany", "temporal": "2010-01-01/2012-01-01", "frequency": "daily", "version": 2,
        "conformsTo": "http://standards.example/s", "identifier": "10.1/x",
        "download": ["x.csv", {"url": "http://rki.example/y.csv", "mediaType": "text/csv", "title": "Year"}]}]);
    let catalog = read("list.json", &entry.to_string());
    assert_eq!(catalog.dialect, Dialect::Acordar);
    assert!(catalog.problems.is_empty(), "{:?}", catalog.problems);
    let dataset = &catalog.datasets[0];
    let metadata = &dataset.metadata;
    assert_eq!(metadata.id.as_str(), "x");
    let titles: Vec<(&str, Option<&str>)> = metadata
        .titles
        .iter()
        .map(|text| (text.value.as_str(), text.language.as_deref()))
        .collect();
    assert_eq!(
        titles,
        [("Notaufnahmen", None), ("Emergency rooms", Some("en"))]
    );
    assert_eq!(metadata.descriptions.len(), 2);
    assert_eq!(metadata.keywords.len(), 2);
    assert_eq!(metadata.creators.len(), 2);
    assert_eq!(metadata.publishers.len(), 1);
    assert_eq!(metadata.issued.as_deref(), Some("2019"));
    assert_eq!(metadata.created.as_deref(), Some("2018"));
    assert_eq!(
        metadata.landing_page.as_deref(),
        Some("http://rki.example/d")
    );
    assert_eq!(dataset.distributions.len(), 2);
    assert_eq!(
        dataset.distributions[1].media_type.as_deref(),
        Some("text/csv")
    );
    let lines = description(dataset);
    for (property, value) in [
        ("purl.org/dc/terms/alternative", "ED"),
        ("dcat#theme", "http://themes.example/health"),
        ("dcat#contactPoint", ""),
        ("vcard/ns#hasEmail", "mailto:a@b.example"),
        ("dc/terms/license", "CC-BY-4.0"),
        ("dc/terms/accessRights", ""),
        ("dc/terms/language", "de"),
        ("dc/terms/language", "en"),
        ("dc/terms/spatial", "Germany"),
        ("dcat#startDate", "2010-01-01"),
        ("dc/terms/accrualPeriodicity", "daily"),
        ("dcat#version", "2"),
        ("dc/terms/conformsTo", "http://standards.example/s"),
        ("adms#identifier", ""),
        ("skos/core#notation", "10.1/x"),
        ("schema.org/value", "Year"),
    ] {
        let is_stated = lines
            .lines()
            .any(|line| line.contains(&format!("{property}>")) && line.contains(value));
        assert!(is_stated, "{property} {value}: {lines}");
    }
    let others = lines.matches("additionalProperty>").count();
    assert_eq!(others, 1, "{lines}");
}

#[test]
fn keys_beside_a_list_are_reported() {
    let text = json!({"title": "Portal", "datasets": [{"id": 1, "title": "T"}]}).to_string();
    let problems = read("c.json", &text).problems;
    assert_eq!(problems.len(), 1);
    assert!(
        problems[0].contains("keys beside \"datasets\" are not read: title"),
        "{problems:?}"
    );
}

#[test]
fn no_dialect_loses_an_interval_without_a_date() {
    for (interval, property, value) in [
        ("../..", "dc/terms/temporal", "\"../..\""),
        ("*/*", "dc/terms/temporal", "\"*/*\""),
        ("2010/..", "dcat#startDate", "\"2010\""),
        ("../2015", "dcat#endDate", "\"2015\""),
    ] {
        let entry = json!([{"dataset_id": "x", "title": "Mills", "temporal": interval}]);
        let catalog = read("list.json", &entry.to_string());
        let lines = description(&catalog.datasets[0]);
        let is_stated = lines
            .lines()
            .any(|line| line.contains(&format!("{property}> {value}")));
        assert!(is_stated, "{interval}: {lines}");
    }
    let record = json!({"type": "Feature", "id": "mills", "geometry": null, "conformsTo":
        ["http://www.opengis.net/spec/ogcapi-records-1/1.0/req/record-core"],
        "time": {"interval": ["..", ".."]},
        "properties": {"type": "dataset", "title": "Mills"}, "links": []});
    let catalog = read("record.json", &record.to_string());
    assert_eq!(catalog.dialect, Dialect::OgcRecords);
    let lines = description(&catalog.datasets[0]);
    assert!(lines.contains("schema.org/value> \"../..\""), "{lines}");
}
