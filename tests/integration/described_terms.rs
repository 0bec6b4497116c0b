//! Terms, agents and places that catalogues describe: they keep their IRIs, each dataset keeps the words of its own catalogue,
//! and literals keep their lexical forms.

use super::http::Site;
use super::support::{Home, limits};
use lodeseek_catalog::DatasetId;
use lodeseek_store::{DatasetOutcome, LoadReport};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const PREFIXES: &str = "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
    @prefix foaf: <http://xmlns.com/foaf/0.1/> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
    @prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
    @prefix vcard: <http://www.w3.org/2006/vcard/ns#> . @prefix : <http://harbour.example.org/> .";

/// Two datasets of one catalogue that share a publisher, whose address is a blank node.
const HARBOUR: &str = ":moorings a dcat:Dataset ; dct:identifier \"moorings\" ; dct:title \"Moorings\" ; dct:publisher :office ;
        dcat:theme :water ; dct:spatial :bay ; dct:accessRights :open ; dct:conformsTo :rules ; dcat:version 3.10 ;
        owl:versionInfo \"007\"^^xsd:integer ; dct:issued \"2021-05-06+00:00\"^^xsd:date ; dct:created \"2021-05-06T24:00:00Z\"^^xsd:dateTime ;
        dcat:distribution [ dcat:accessURL :page ; dct:format :table ; dcat:byteSize 5000.0 ;
            dcat:mediaType <http://www.iana.org/assignments/media-types/text/csv> ] .
    :ferries a dcat:Dataset ; dct:identifier \"ferries\" ; dct:title \"Ferries\" ; dct:publisher :office .
    :office a foaf:Organization ; foaf:name \"Harbour Office\"@en , \"Hafenamt\"@de ; vcard:hasAddress [ vcard:locality \"Bay Town\" ] .
    :water a skos:Concept ; skos:prefLabel \"Water\"@en ; skos:inScheme :themes .
    :bay a dct:Location ; skos:prefLabel \"The Bay\"@en ; skos:notation \"0.50\"^^xsd:decimal .
    :open a dct:RightsStatement . :rules a dct:Standard ; dct:title \"Rules of mooring\" .
    :table a dct:MediaTypeOrExtent ; skos:prefLabel \"CSV\" .";

/// A dataset of another catalogue, which has other words for the same publisher.
const SHIPPING: &str = "<http://ships.example.org/routes> a dcat:Dataset ; dct:identifier \"routes\" ; dct:title \"Routes\" ; dct:publisher :office .
    :office a foaf:Agent ; foaf:name \"Port Authority\" ; foaf:homepage <http://ships.example.org/port> ; skos:notation \"0.50\"^^xsd:decimal .";

struct Catalogs {
    folder: TempDir,
    home: Home,
}

impl Catalogs {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder"),
            home: Home::new(),
        }
    }

    fn write(&self, name: &str, turtle: &str) -> PathBuf {
        write(self.folder.path(), name, turtle)
    }

    fn load(&self, name: &str, turtle: &str) -> Vec<DatasetOutcome> {
        outcomes(&self.home.load(&self.write(name, turtle)))
    }

    fn description(&self, id: &str) -> BTreeSet<String> {
        self.home
            .store
            .description(&self::id(id))
            .expect("described")
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    /// Returns the objects of the statements about the publisher in the catalogue graph.
    fn words_of_all(&self) -> usize {
        self.home.count(
            "SELECT (COUNT(*) AS ?n) { GRAPH <http://localhost:7878/catalog> {
                <http://harbour.example.org/office> <http://xmlns.com/foaf/0.1/name> ?name } }",
        ) as usize
    }
}

fn write(folder: &Path, name: &str, turtle: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, format!("{PREFIXES}\n{turtle}")).expect("written");
    path
}

fn id(text: &str) -> DatasetId {
    DatasetId::new(text).expect("an id")
}

fn outcomes(report: &LoadReport) -> Vec<DatasetOutcome> {
    report
        .datasets
        .iter()
        .map(|dataset| dataset.outcome)
        .collect()
}

fn has(lines: &BTreeSet<String>, parts: &[&str]) -> bool {
    lines
        .iter()
        .any(|line| parts.iter().all(|part| line.contains(part)))
}

#[test]
fn described_terms_are_the_objects_and_subjects_of_a_description() {
    let catalogs = Catalogs::new();
    assert_eq!(
        catalogs.load("harbour.ttl", HARBOUR),
        [DatasetOutcome::MetadataOnly; 2]
    );
    let moorings = catalogs.description("moorings");
    for term in ["office", "water", "bay", "open", "rules", "table"] {
        let iri = format!("<http://harbour.example.org/{term}>");
        assert!(
            has(&moorings, &[&format!("> {iri}")]),
            "{term} is an object: {moorings:#?}"
        );
        assert!(
            moorings.iter().any(|line| line.starts_with(&iri)),
            "{term} is a subject: {moorings:#?}"
        );
    }
    let same: Vec<&String> = moorings
        .iter()
        .filter(|line| line.contains("sameAs"))
        .collect();
    assert!(
        matches!(same[..], [own] if own.ends_with("<http://harbour.example.org/moorings>")),
        "only the dataset has another IRI here: {same:#?}"
    );
    assert!(
        has(&moorings, &["media-types/text/csv>"]) && !has(&moorings, &["https://www.iana.org"]),
        "{moorings:#?}"
    );
    assert!(
        has(&moorings, &["\"Bay Town\""]),
        "the address is a part: {moorings:#?}"
    );
    let names: Vec<&String> = moorings
        .iter()
        .filter(|line| line.contains("foaf/0.1/name"))
        .collect();
    assert_eq!(names.len(), 2, "no name is added: {names:#?}");
    assert!(
        !has(&moorings, &["keyword"]),
        "a theme is no keyword: {moorings:#?}"
    );
    let joined = "SELECT (COUNT(*) AS ?n) { ?d dcat:theme ?t . ?t skos:prefLabel \"Water\"@en . ?d dct:publisher/foaf:name ?name }";
    let prefixes = "PREFIX dcat: <http://www.w3.org/ns/dcat#> PREFIX dct: <http://purl.org/dc/terms/>
        PREFIX foaf: <http://xmlns.com/foaf/0.1/> PREFIX skos: <http://www.w3.org/2004/02/skos/core#>";
    assert_eq!(catalogs.home.count(&format!("{prefixes} {joined}")), 2);
}

#[test]
fn lexical_forms_leave_as_they_came() {
    let catalogs = Catalogs::new();
    catalogs.load("harbour.ttl", HARBOUR);
    let moorings = catalogs.description("moorings");
    for form in [
        "\"3.10\"",
        "\"007\"",
        "\"2021-05-06+00:00\"",
        "\"2021-05-06T24:00:00Z\"",
        "\"5000.0\"",
        "\"0.50\"",
    ] {
        assert!(has(&moorings, &[form]), "{form}: {moorings:#?}");
    }
    let entry = catalogs
        .home
        .store
        .entry(&id("moorings"))
        .expect("an entry");
    assert_eq!(
        entry.dataset.metadata.issued.as_deref(),
        Some("2021-05-06+00:00")
    );
    let values = "SELECT (COUNT(*) AS ?n) { ?d <http://www.w3.org/ns/dcat#version> 3.1 }";
    assert_eq!(catalogs.home.count(values), 1, "queries see values");
    assert_eq!(
        catalogs.load("harbour.ttl", HARBOUR),
        [DatasetOutcome::Unchanged; 2]
    );
    let changed = HARBOUR.replace("3.10", "3.1");
    let mut after = catalogs.load("harbour.ttl", &changed);
    after.sort_by_key(|outcome| format!("{outcome:?}"));
    assert_eq!(
        after,
        [DatasetOutcome::Replaced, DatasetOutcome::Unchanged],
        "another form is a change"
    );
    assert!(has(&catalogs.description("moorings"), &["\"3.1\""]));
    assert!(!has(&catalogs.description("moorings"), &["\"3.10\""]));
}

#[test]
fn each_dataset_has_the_words_of_its_own_catalogue() {
    let catalogs = Catalogs::new();
    catalogs.load("harbour.ttl", HARBOUR);
    catalogs.load("shipping.ttl", SHIPPING);
    let office = |id: &str| -> BTreeSet<String> {
        let lines = catalogs.description(id).into_iter();
        lines
            .filter(|line| line.starts_with("<http://harbour.example.org/office>"))
            .collect()
    };
    let (harbour, shipping) = (office("ferries"), office("routes"));
    assert!(
        has(&harbour, &["Hafenamt"]) && !has(&harbour, &["Port Authority"]),
        "{harbour:#?}"
    );
    assert!(
        has(&shipping, &["Port Authority"]) && !has(&shipping, &["Hafenamt"]),
        "{shipping:#?}"
    );
    assert_eq!(catalogs.words_of_all(), 3, "queries see the words of all");
    for (name, turtle) in [("harbour.ttl", HARBOUR), ("shipping.ttl", SHIPPING)] {
        let again = catalogs.load(name, turtle);
        assert!(
            again
                .iter()
                .all(|outcome| *outcome == DatasetOutcome::Unchanged),
            "{name}: {again:?}"
        );
    }
    let publishers = |id: &str| -> Vec<String> {
        let entry = catalogs.home.store.entry(&self::id(id)).expect("an entry");
        entry
            .dataset
            .metadata
            .publishers
            .iter()
            .map(|agent| agent.name.clone())
            .collect()
    };
    assert_eq!(
        (publishers("ferries"), publishers("routes")),
        (vec!["Harbour Office".into()], vec!["Port Authority".into()])
    );

    // A new name replaces the old one of this catalogue only.
    let renamed = SHIPPING.replace("Port Authority", "Port Agency");
    assert_eq!(
        catalogs.load("shipping.ttl", &renamed),
        [DatasetOutcome::Replaced]
    );
    assert_eq!(
        (catalogs.words_of_all(), office("ferries")),
        (3, harbour.clone())
    );
    assert!(
        has(&office("routes"), &["Port Agency"]) && !has(&office("routes"), &["Port Authority"])
    );

    // The last dataset with a statement takes it away.
    let store = &catalogs.home.store;
    store.remove(&[id("moorings")]).expect("removed");
    assert_eq!((catalogs.words_of_all(), office("ferries")), (3, harbour));
    store.remove(&[id("ferries")]).expect("removed");
    assert_eq!(catalogs.words_of_all(), 1);
    assert!(
        has(&office("routes"), &["\"0.50\""]),
        "the other catalogue keeps its forms"
    );
    store.remove(&[id("routes")]).expect("removed");
    let left = "SELECT (COUNT(*) AS ?n) { GRAPH <http://localhost:7878/catalog> { ?s ?p ?o FILTER (!STRSTARTS(STR(?s), 'http://localhost:7878/')) } }";
    assert_eq!(catalogs.home.count(left), 0, "nothing is left");
}

#[test]
fn a_catalogue_makes_no_statements_about_resources_of_the_home() {
    let catalogs = Catalogs::new();
    catalogs.load("harbour.ttl", HARBOUR);
    let forged = "<http://ships.example.org/routes> a dcat:Dataset ; dct:identifier \"routes\" ; dct:title \"Routes\" ;
            dct:relation <http://localhost:7878/dataset/moorings> , <http://localhost:7878/dataset/moorings#graph> .
        <http://localhost:7878/dataset/moorings> dct:title \"Forged\" .
        <http://localhost:7878/dataset/moorings#graph> dct:title \"Forged, too\" .";
    catalogs.load("shipping.ttl", forged);
    assert!(!has(&catalogs.description("moorings"), &["Forged"]));
    let routes = catalogs.description("routes");
    assert!(
        has(&routes, &["routes#resource-", "\"Forged\""]),
        "it is a part: {routes:#?}"
    );
    assert!(
        has(
            &routes,
            &["sameAs", "<http://localhost:7878/dataset/moorings>"]
        ),
        "{routes:#?}"
    );
    assert_eq!(
        catalogs.load("shipping.ttl", forged),
        [DatasetOutcome::Unchanged]
    );
}

#[tokio::test]
async fn every_interface_publishes_the_iris() {
    let folder = tempfile::tempdir().expect("a folder");
    let site = Site::from_catalog(&write(folder.path(), "harbour.ttl", HARBOUR), limits());
    let catalog = site.get("/catalog.nt").await.body;
    for (property, term) in [
        ("http://purl.org/dc/terms/publisher", "office"),
        ("http://www.w3.org/ns/dcat#theme", "water"),
        ("http://purl.org/dc/terms/spatial", "bay"),
        ("http://purl.org/dc/terms/accessRights", "open"),
        ("http://purl.org/dc/terms/conformsTo", "rules"),
        ("http://purl.org/dc/terms/format", "table"),
    ] {
        let end = format!("<{property}> <http://harbour.example.org/{term}> .");
        assert!(
            catalog.lines().any(|line| line.ends_with(&end)),
            "{property}: {catalog}"
        );
    }
    assert!(catalog.contains("\"3.10\""), "{catalog}");
    let package = site
        .get("/api/3/action/package_show?id=moorings")
        .await
        .json();
    let package = &package["result"];
    let extra = |key: &str| {
        let extras = package["extras"].as_array().expect("extras");
        extras
            .iter()
            .find(|extra| extra["key"] == key)
            .map(|extra| extra["value"].as_str().expect("a text").to_owned())
    };
    let iri = |term: &str| Some(format!("http://harbour.example.org/{term}"));
    assert_eq!(extra("publisher_uri"), iri("office"));
    assert_eq!(extra("access_rights"), iri("open"));
    assert_eq!(extra("spatial_uri"), iri("bay"));
    assert_eq!(extra("spatial_text").as_deref(), Some("The Bay"));
    assert_eq!(
        extra("theme").as_deref(),
        Some("[\"http://harbour.example.org/water\"]")
    );
    assert_eq!(
        extra("conforms_to").as_deref(),
        Some("[\"http://harbour.example.org/rules\"]")
    );
    assert_eq!(
        (&package["version"], &package["resources"][0]["format"]),
        (&"3.10".into(), &"CSV".into())
    );
    let croissant = site.get("/dataset/moorings/croissant").await.json();
    assert_eq!(
        croissant["publisher"]["url"],
        "http://harbour.example.org/office"
    );
    assert!(croissant["creator"].is_null(), "a publisher is no creator");
    assert_eq!(
        croissant["about"][0]["@id"],
        "http://harbour.example.org/water"
    );
    assert_eq!(
        croissant["spatialCoverage"][0]["@id"],
        "http://harbour.example.org/bay"
    );
}

#[tokio::test]
async fn what_has_no_name_gets_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let turtle = ":wrecks a dcat:Dataset ; dct:identifier \"wrecks\" ; dct:title \"Wrecks\" ; dct:description \"Wrecks of the bay.\" ;
            dct:publisher [ foaf:homepage :home ] , <http://harbour.example.org/divers> ; dct:creator [ a foaf:Person ; foaf:mbox <mailto:a@example.org> ] ;
            dcat:theme [ skos:notation \"W\" ] ; dct:spatial [ a dct:Location ] ; dcat:contactPoint <mailto:b@example.org> ;
            dcat:distribution [ dcat:accessURL :page ; dct:format [ a dct:MediaTypeOrExtent ] ; dct:license [ a dct:LicenseDocument ] ] .";
    let site = Site::from_catalog(&write(folder.path(), "wrecks.ttl", turtle), limits());
    let package = site
        .get("/api/3/action/package_show?id=wrecks")
        .await
        .json();
    let package = &package["result"];
    assert_eq!(package["organization"]["title"], "divers", "{package}");
    assert!(
        package["author"].is_null() && package["maintainer"].is_null(),
        "{package}"
    );
    assert_eq!(package["author_email"], "a@example.org");
    assert_eq!(package["maintainer_email"], "b@example.org");
    assert_eq!(
        package["groups"].as_array().map(Vec::len),
        Some(0),
        "{package}"
    );
    assert_eq!(
        (
            &package["resources"][0]["format"],
            &package["resources"][0]["license"]
        ),
        (&"".into(), &serde_json::Value::Null)
    );
    let catalog = site.get("/catalog.nt").await.body;
    let of_wrecks = catalog
        .lines()
        .filter(|line| !line.starts_with("<http://localhost:7878/catalog"));
    let names =
        of_wrecks.filter(|line| line.contains("foaf/0.1/name") || line.contains("prefLabel"));
    assert!(
        names.clone().all(|line| line.contains("\"W\"")),
        "{:#?}",
        names.collect::<Vec<_>>()
    );
}

#[cfg(feature = "rocksdb")]
#[test]
fn statements_survive_a_new_base_a_repair_and_a_backup() {
    use super::support::{copy, run};
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path().join("home");
    let (harbour, shipping) = (
        write(folder.path(), "harbour.ttl", HARBOUR),
        write(folder.path(), "shipping.ttl", SHIPPING),
    );
    let succeeds = |home: &Path, arguments: &[&str]| {
        let ran = run(home, arguments);
        assert_eq!(ran.code, Some(0), "{arguments:?}: {} {}", ran.out, ran.err);
        (ran.out, ran.err)
    };
    let paths = [&harbour, &shipping].map(|path| path.to_str().expect("a path"));
    for path in paths {
        succeeds(&home, &["load", path]);
    }
    succeeds(&home, &["index", "--ranking", "words"]);
    let check = |home: &Path, what: &str| {
        assert!(
            succeeds(home, &["verify"]).0.contains("no damage"),
            "{what}"
        );
        for path in paths {
            let (_, progress) = succeeds(home, &["load", path]);
            assert!(
                progress.contains(" unchanged") && !progress.contains("replaced"),
                "{what}: {progress}"
            );
        }
        let (shown, _) = succeeds(home, &["show", "routes", "--rdf", "nt"]);
        assert!(
            shown.contains("Port Authority")
                && shown.contains("\"0.50\"")
                && !shown.contains("Hafenamt"),
            "{what}: {shown}"
        );
    };
    check(&home, "the first home");
    let moved = folder.path().join("moved");
    copy(&home, &moved);
    succeeds(&moved, &["rebase", "https://data.example.org/"]);
    check(&moved, "another base");
    let repaired = folder.path().join("repaired");
    copy(&home, &repaired);
    lodeseek_store::rebuild_store(&repaired, &[]).expect("rebuilt");
    succeeds(&repaired, &["index", "--ranking", "words"]);
    check(&repaired, "a rebuilt store");
    let (backup, restored) = (folder.path().join("backup"), folder.path().join("restored"));
    let backup = backup.to_str().expect("a path");
    succeeds(&home, &["backup", backup]);
    succeeds(&restored, &["restore", backup]);
    check(&restored, "a restored backup");
}
