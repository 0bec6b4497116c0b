//! Values of other people's catalogues as they leave: none is lost, none is renamed, none is invented.

use super::http::Site;
use super::support::limits;
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

const PREFIXES: &str = "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
    @prefix foaf: <http://xmlns.com/foaf/0.1/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
    @prefix vcard: <http://www.w3.org/2006/vcard/ns#> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
    @prefix : <http://quarry.example.org/> .";
const DCT: &str = "http://purl.org/dc/terms/";

/// A home with one catalogue, and the folder of its files.
struct Published {
    folder: TempDir,
    site: Site,
}

impl Published {
    fn new(name: &str, text: &str, files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for (file, content) in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, content).expect("written");
        }
        let path = folder.path().join(name);
        fs::write(&path, text).expect("written");
        let site = Site::from_catalog(&path, limits());
        Self { folder, site }
    }

    fn from_turtle(turtle: &str) -> Self {
        Self::new("quarry.ttl", &format!("{PREFIXES}\n{turtle}"), &[])
    }

    async fn package(&self, id: &str) -> Value {
        let address = format!("/api/3/action/package_show?id={id}");
        self.site.get(&address).await.json()["result"].take()
    }

    async fn lines(&self, address: &str) -> Vec<String> {
        let body = self.site.get(address).await.body;
        body.lines().map(str::to_owned).collect()
    }
}

/// Returns the objects of a dataset's property.
fn objects<'l>(lines: &'l [String], id: &str, property: &str) -> Vec<&'l str> {
    let start = format!("<http://localhost:7878/dataset/{id}> <{property}> ");
    lines
        .iter()
        .filter_map(|line| line.strip_prefix(&start)?.strip_suffix(" ."))
        .collect()
}

fn extra(package: &Value, key: &str) -> Option<String> {
    let extras = package["extras"].as_array().expect("extras");
    let found = extras.iter().find(|extra| extra["key"] == key)?;
    found["value"].as_str().map(str::to_owned)
}

#[tokio::test]
async fn only_files_that_are_kept_have_an_address_here() {
    let turtle = format!(
        "{PREFIXES} :slates a dcat:Dataset ; dct:identifier \"slates\" ; dct:title \"Slates\" ;
            dcat:distribution [ dct:title \"stones\" ; dcat:downloadURL <stones.nt> ] ,
                [ dct:title \"table\" ; dcat:downloadURL <tables/slates.csv> ; dcat:mediaType \"text/csv;charset=utf-8\" ] ,
                [ dct:title \"notes\" ; dcat:downloadURL <notes.pdf> ; dcat:mediaType \"application/pdf\" ] ."
    );
    let files = [
        ("stones.nt", "<http://e.org/s> <http://e.org/p> \"one\" .\n"),
        ("tables/slates.csv", "a,b\n1,2\n"),
        ("notes.pdf", "%PDF-1.4\n"),
    ];
    let published = Published::new("quarry.ttl", &turtle, &files);
    assert!(published.folder.path().join("stones.nt").exists());
    let package = published.package("slates").await;
    let addresses: Vec<(&str, &str, &str)> = package["resources"]
        .as_array()
        .expect("resources")
        .iter()
        .map(|one| {
            let text = |key: &str| one[key].as_str().unwrap_or_default();
            (text("name"), text("url"), text("mimetype"))
        })
        .collect();
    for (name, url, media_type) in addresses {
        match name {
            "table" => {
                assert!(url.ends_with("/dataset/slates/files/slates.csv"), "{url}");
                assert_eq!(media_type, "text/csv");
            }
            "notes" => assert_eq!((url, media_type), ("notes.pdf", "application/pdf")),
            _ => assert!(url.ends_with("/dataset/slates/files/stones.nt"), "{url}"),
        }
    }
    let croissant = published.site.get("/dataset/slates/croissant").await.body;
    assert!(croissant.contains("\"notes.pdf\""), "{croissant}");
    assert_eq!(croissant.matches("files/stones.nt\"").count(), 1);
    let catalog = published.lines("/catalog.nt").await;
    let stored: Vec<&String> = catalog
        .iter()
        .filter(|line| line.contains("downloadURL") && line.contains("files/stones.nt>"))
        .collect();
    assert_eq!(stored.len(), 1, "{stored:#?}");
}

#[tokio::test]
async fn licences_of_ckan_return_as_they_came() {
    let license = |id: &str, title: &str, url: &str| {
        json!({"id": format!("u-{id}"), "name": format!("set-{}", id.replace('.', "-")), "title": format!("Set {id}"),
            "license_id": id, "license_title": title, "license_url": url, "resources": []})
    };
    let packages = [
        license(
            "cc-by",
            "Creative Commons Attribution",
            "http://www.opendefinition.org/licenses/cc-by",
        ),
        license(
            "odc-pddl",
            "Open Data Commons Public Domain Dedication and License (PDDL)",
            "http://www.opendefinition.org/licenses/odc-pddl",
        ),
        license(
            "cc-by-sa",
            "Share Alike",
            "https://creativecommons.org/licenses/by-sa/4.0/",
        ),
        license("other-open", "Other (Open)", ""),
    ];
    let published = Published::new("packages.json", &json!(packages).to_string(), &[]);
    for package in &packages {
        let name = package["name"].as_str().expect("a name");
        let shown = published.package(name).await;
        for key in ["license_id", "license_title"] {
            assert_eq!(shown[key], package[key], "{name}");
        }
        assert_eq!(shown["isopen"], true, "{name}");
    }
    let listed = published
        .site
        .get("/api/3/action/license_list")
        .await
        .json();
    let open = listed["result"].as_array().expect("a list").iter();
    assert!(
        open.clone().all(|one| one["od_conformance"] == "approved"),
        "{listed}"
    );
}

#[tokio::test]
async fn identifiers_and_sources_keep_their_properties() {
    let published = Published::from_turtle(
        ":sets\\/alpha a dcat:Dataset ; dct:title \"Alpha\" ; dct:identifier \"https://e.org/id/alpha-1\" ;
            dct:source <https://e.org/raw> .
         :beta a dcat:Dataset ; dct:title \"Beta\" .
         :sets\\/gamma a dcat:Dataset ; dct:title \"Gamma\" ; dct:identifier \"10.1234/gamma delta\" ; dct:source :beta .",
    );
    let own = |iri: &str| format!("<http://quarry.example.org/{iri}>");
    for address in ["/dataset/alpha-1?format=nt", "/catalog.nt"] {
        let lines = published.lines(address).await;
        assert_eq!(
            objects(&lines, "alpha-1", &format!("{DCT}identifier")),
            ["\"https://e.org/id/alpha-1\""],
            "{address}: {lines:#?}"
        );
        assert_eq!(
            objects(&lines, "alpha-1", &format!("{DCT}source")),
            ["<https://e.org/raw>"],
            "{address}"
        );
        assert_eq!(
            objects(&lines, "alpha-1", "http://www.w3.org/2002/07/owl#sameAs"),
            [own("sets/alpha")],
            "{address}"
        );
        assert!(
            objects(
                &lines,
                "alpha-1",
                "http://www.w3.org/ns/prov#wasDerivedFrom"
            )
            .is_empty(),
            "{address}"
        );
    }
    let catalog = published.lines("/catalog.nt").await;
    assert_eq!(
        objects(&catalog, "beta", &format!("{DCT}identifier")),
        ["\"beta\""],
        "without an identifier, the id is one"
    );
    assert_eq!(
        objects(&catalog, "gamma", &format!("{DCT}source")),
        ["<http://localhost:7878/dataset/beta>"],
        "a source that is listed here has the IRI here"
    );
    assert!(
        !catalog.iter().any(|line| line.contains("lodeseek/ns#")),
        "{catalog:#?}"
    );
    let package = published.package("alpha-1").await;
    assert_eq!(
        extra(&package, "identifier").as_deref(),
        Some("https://e.org/id/alpha-1")
    );
    assert_eq!(extra(&package, "alternate_identifier"), None);
    assert_eq!(package["id"], "alpha-1");
}

#[tokio::test]
async fn data_themes_have_one_name() {
    let theme = "http://publications.europa.eu/resource/authority/data-theme/TRAN";
    let package = json!({"name": "lanes", "title": "Lanes", "groups": [{"name": "transport", "title": "Transport"}],
        "extras": [{"key": "theme", "value": format!("[\"{theme}\"]")}, {"key": "has_version", "value": "[\"https://e.org/v2\"]"}],
        "resources": [{"url": "https://e.org/lanes.csv", "format": "CSV"}]});
    let published = Published::new("package.json", &package.to_string(), &[]);
    let shown = published.package("lanes").await;
    let groups: Vec<&Value> = shown["groups"]
        .as_array()
        .expect("groups")
        .iter()
        .map(|group| &group["title"])
        .collect();
    assert_eq!(groups, ["Transport"], "{shown}");
    assert_eq!(
        extra(&shown, "has_version").as_deref(),
        Some("[\"https://e.org/v2\"]")
    );
    let croissant = published.site.get("/dataset/lanes/croissant").await.json();
    assert_eq!(croissant["keywords"], json!(["Transport"]));
    let lines = published.lines("/dataset/lanes?format=nt").await;
    assert_eq!(
        objects(&lines, "lanes", &format!("{DCT}hasVersion")),
        ["<https://e.org/v2>"]
    );
}

#[tokio::test]
async fn embedded_datasets_are_listed_once() {
    let published = Published::from_turtle(
        ":atlas a dcat:Dataset ; dct:title \"Atlas\" ; dct:hasPart [ a dcat:Dataset ; dct:title \"Sheet of the north\" ] ;
            dcat:hasVersion [ a dcat:Dataset ; dct:title \"Atlas of 1900\" ; dct:description \"Old\" ] .",
    );
    for address in ["/catalog.nt", "/dataset/atlas?format=nt"] {
        let lines = published.lines(address).await;
        assert_eq!(
            objects(&lines, "atlas", &format!("{DCT}hasPart")),
            ["<http://localhost:7878/dataset/Sheet-of-the-north>"],
            "{address}"
        );
        assert_eq!(
            objects(&lines, "atlas", "http://www.w3.org/ns/dcat#hasVersion"),
            ["<http://localhost:7878/dataset/Atlas-of-1900>"],
            "{address}"
        );
    }
    let catalog = published.lines("/catalog.nt").await;
    let titles = catalog
        .iter()
        .filter(|line| line.contains(&format!("<{DCT}title> \"Sheet of the north\"")));
    assert_eq!(titles.count(), 1);
}

#[tokio::test]
async fn what_a_catalogue_does_not_state_is_absent() {
    let published = Published::from_turtle(
        ":d a dcat:Dataset ; dct:identifier \"dykes\" ; dct:title \"Dykes\" ; dct:description \"Dykes.\" ;
            dct:publisher [ foaf:name \"Dyke board\" ; foaf:mbox <mailto:board@e.org> ] ; dct:rights <https://e.org/terms> ;
            dcat:distribution [ dcat:accessURL <https://e.org/dykes> ; dcat:downloadURL \"https://e.org/the dykes.csv\" ] ;
            dct:issued \"2020-13-01\"^^xsd:date ; dct:modified \"2020-01-01T00:00:00\"^^xsd:date .
         :e a dcat:Dataset ; dct:identifier \"sluices\" ; dct:title \"Sluices\" ; dct:creator \"Ann Lock\" ;
            dcat:contactPoint [ vcard:fn \"Desk\" ; vcard:hasEmail [ vcard:hasValue <mailto:desk@e.org> ] ] .
         :gauges a dcat:DataService ; dct:title \"Gauges\" ; dcat:servesDataset :d .",
    );
    let shown = published.lines("/dataset/dykes?format=nt").await;
    let catalog = published.lines("/catalog.nt").await;
    for lines in [&shown, &catalog] {
        assert!(
            objects(lines, "dykes", &format!("{DCT}license")).is_empty(),
            "{lines:#?}"
        );
        assert_eq!(
            objects(lines, "dykes", &format!("{DCT}rights")),
            ["<https://e.org/terms>"]
        );
        assert!(
            lines.iter().any(|line| line.starts_with(
                "<http://quarry.example.org/gauges> <http://www.w3.org/ns/dcat#servesDataset> "
            )),
            "{lines:#?}"
        );
        let downloads: Vec<&String> = lines
            .iter()
            .filter(|line| line.contains("dcat#downloadURL>"))
            .collect();
        assert!(
            matches!(downloads[..], [one] if one.contains("<https://e.org/the%20dykes.csv>")),
            "{downloads:#?}"
        );
    }
    let xsd = "http://www.w3.org/2001/XMLSchema#date";
    assert_eq!(
        objects(&shown, "dykes", &format!("{DCT}issued")),
        [format!("\"2020-13-01\"^^<{xsd}>")]
    );
    assert_eq!(
        objects(&shown, "dykes", &format!("{DCT}modified")),
        [format!("\"2020-01-01T00:00:00\"^^<{xsd}>")]
    );
    assert!(
        !shown.iter().any(|line| line.contains("rdfs.org/ns/void#")),
        "{shown:#?}"
    );
    let croissant = published.site.get("/dataset/dykes/croissant").await.json();
    assert_eq!(croissant["description"], "Dykes.");
    assert_eq!(
        croissant["publisher"],
        json!({"@type": "Organization", "name": "Dyke board"}),
        "its validator rejects agents without a class"
    );
    assert!(croissant["creator"].is_null(), "{croissant}");
    let dykes = published.package("dykes").await;
    assert_eq!(
        extra(&dykes, "publisher_email").as_deref(),
        Some("board@e.org")
    );
    let sluices = published.package("sluices").await;
    assert!(sluices["organization"].is_null(), "{sluices}");
    assert_eq!(sluices["author"], "Ann Lock");
    assert_eq!(sluices["maintainer_email"], "desk@e.org");
}
