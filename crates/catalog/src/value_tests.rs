//! Tests of the values that descriptions in RDF and JSON-LD have, before and after the catalogue graph.

use super::{Catalog, Dataset, Dialect, Iris, dcat};
use lodeseek_rdf::TripleGraphBuilder;

const PREFIXES: &str = "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
    @prefix foaf: <http://xmlns.com/foaf/0.1/> . @prefix vcard: <http://www.w3.org/2006/vcard/ns#> .
    @prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . @prefix schema: <http://schema.org/> .
    @prefix prov: <http://www.w3.org/ns/prov#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
    @prefix void: <http://rdfs.org/ns/void#> .\n";

/// Reads a catalogue from a file with this name.
fn read(name: &str, text: &str) -> Catalog {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("written");
    let catalog = Catalog::read(&path).unwrap_or_else(|error| panic!("{error}"));
    for dataset in &catalog.datasets {
        let lines = lines(dataset);
        assert!(
            !lines.iter().any(|line| line.contains("catalog-folder")),
            "{lines:#?}"
        );
        assert!(
            !format!("{dataset:?}").contains("catalog-folder"),
            "{dataset:#?}"
        );
        let stored = stored(dataset);
        let sorted = |dataset: &Dataset| {
            let mut metadata = dataset.metadata.clone();
            metadata.keywords.sort();
            metadata
        };
        assert_eq!(sorted(&stored), sorted(dataset));
        assert_eq!(stored.licenses(), dataset.licenses());
        assert_eq!(stored.format_names(), dataset.format_names());
        assert_eq!(self::lines(&stored), lines);
    }
    assert!(
        !format!("{:?}", catalog.problems).contains("catalog-folder"),
        "{:?}",
        catalog.problems
    );
    catalog
}

fn turtle(text: &str) -> Dataset {
    one(read("c.ttl", &format!("{PREFIXES}{text}")))
}

/// Reads one dataset in JSON-LD with the context of schema.org.
fn schema(text: &str) -> Dataset {
    one(read(
        "c.jsonld",
        &format!("{{\"@context\": \"https://schema.org/\", \"@type\": \"Dataset\", {text}}}"),
    ))
}

fn one(mut catalog: Catalog) -> Dataset {
    assert_eq!(catalog.datasets.len(), 1, "{catalog:#?}");
    assert_ne!(catalog.dialect, Dialect::Dump);
    catalog.datasets.remove(0)
}

fn lines(dataset: &Dataset) -> Vec<String> {
    let mut lines: Vec<String> = dcat::to_triples(dataset, &Iris::default())
        .iter()
        .map(ToString::to_string)
        .collect();
    lines.sort();
    lines
}

/// Returns the dataset as the store returns it.
fn stored(dataset: &Dataset) -> Dataset {
    let mut builder = TripleGraphBuilder::new();
    for triple in dcat::to_triples(dataset, &Iris::default()) {
        builder.insert(triple.as_ref());
    }
    dcat::from_triples(
        &builder.finish(),
        &Iris::default().dataset(&dataset.metadata.id),
    )
    .expect("described")
}

fn creators(dataset: &Dataset) -> Vec<&str> {
    dataset
        .metadata
        .creators
        .iter()
        .map(|agent| agent.name.as_str())
        .collect()
}

fn publishers(dataset: &Dataset) -> Vec<&str> {
    dataset
        .metadata
        .publishers
        .iter()
        .map(|agent| agent.name.as_str())
        .collect()
}

fn keywords(dataset: &Dataset) -> Vec<&str> {
    let mut keywords: Vec<&str> = dataset
        .metadata
        .keywords
        .iter()
        .map(|text| text.value.as_str())
        .collect();
    keywords.sort_unstable();
    keywords
}

#[test]
fn creators_of_lists_are_in_order() {
    let list = turtle(
        "<http://e.org/d> a dcat:Dataset ; dct:title \"D\" ;
           dct:creator ( [ foaf:name \"Zoe\" ] <http://e.org/al> \"Mo\" [ foaf:name \"Bea\" ] ) . <http://e.org/al> foaf:name \"Al\" .",
    );
    assert_eq!(creators(&list), ["Zoe", "Al", "Mo", "Bea"]);
    assert_eq!(
        lines(&list)
            .iter()
            .filter(|line| line.contains("terms/creator>"))
            .count(),
        4
    );
    let sequence = turtle(
        "<http://e.org/d> a dcat:Dataset ; dct:title \"D\" ; dct:publisher ( \"P\" ) ; dcat:keyword ( \"a\" \"b\" ) ;
           dct:creator [ a rdf:Seq ; rdf:_2 \"B\" ; rdf:_10 \"A\" ; rdf:_1 \"C\" ] ; dcat:theme () .",
    );
    assert_eq!(
        (creators(&sequence), publishers(&sequence)),
        (vec!["C", "B", "A"], vec!["P"])
    );
    assert_eq!(keywords(&sequence), ["a", "b"]);
    assert!(
        !lines(&sequence)
            .iter()
            .any(|line| line.contains("#nil") || line.contains("theme"))
    );
    let json = schema(
        r#""name": "D", "author": {"@list": [{"name": "Y"}, {"@type": "Role", "roleName": "lead", "author": {"name": "X"}}]},
        "variableMeasured": {"@list": ["depth", "age"]}, "distribution": {"@list": [{"contentUrl": "http://e.org/d.csv"}]}"#,
    );
    assert_eq!(creators(&json), ["Y", "X"]);
    assert_eq!(json.distributions.len(), 1);
    for value in ["depth", "age", "lead"] {
        assert!(
            lines(&json)
                .iter()
                .any(|line| line.contains(&format!("\"{value}\""))),
            "{:#?}",
            lines(&json)
        );
    }
    assert!(
        json.extra_properties()
            .iter()
            .any(|one| one.value == "X (lead)"),
        "{:?}",
        json.extra_properties()
    );
    let items = schema(
        r#""name": "D", "creator": {"@type": "ItemList", "itemListElement": [
          {"@type": "ListItem", "position": 2, "item": {"@type": "Person", "name": "A"}},
          {"@type": "ListItem", "position": 10, "name": "C"}, {"@type": "ListItem", "position": 1, "item": {"@type": "Person", "name": "B"}}]}"#,
    );
    assert_eq!(creators(&items), ["B", "A", "C"]);
}

#[test]
fn lists_that_are_values_stay() {
    let dataset = turtle(
        "<http://e.org/d> a dcat:Dataset ; dct:title \"D\" ; <http://e.org/ns#steps> ( \"one\" \"two\" ) ;
           dct:conformsTo [ owl:unionOf ( <http://e.org/a> <http://e.org/b> ) ] .",
    );
    assert_eq!(
        lines(&dataset)
            .iter()
            .filter(|line| line.contains("#first>"))
            .count(),
        4
    );
    let circular = turtle(
        "<http://e.org/d> a dcat:Dataset ; dct:title \"D\" ; dct:creator _:a . _:a rdf:first \"A\" ; rdf:rest _:a .",
    );
    assert_eq!(creators(&circular), ["A"]);
}

/// If each value looked through a shared list again, the work would be quadratic.
#[test]
fn a_list_of_many_values_has_a_limit() {
    let mut text =
        String::from("<http://e.org/d> a dcat:Dataset ; dct:title \"D\" ; dct:creator _:l0 .\n");
    for number in 0..20_000 {
        text += &format!(
            "_:l{number} rdf:first \"N{number}\" ; rdf:rest _:l{} . <http://e.org/{number}> dct:relation _:l0 .\n",
            number + 1
        );
    }
    text += "_:l20000 rdf:first \"last\" ; rdf:rest rdf:nil .";
    let mut builder = TripleGraphBuilder::new();
    lodeseek_rdf::dump::DumpReader::default().read(
        format!("{PREFIXES}{text}").as_bytes(),
        "c.ttl",
        "http://e.org/c.ttl",
        &mut builder,
    );
    let graph = builder.finish();
    let direct =
        super::direct_values::with_direct_values(&graph, "http://e.org/c.ttl").expect("lists");
    assert!(direct.len() < 6 * graph.len());
}

#[test]
fn keywords_are_texts_terms_and_subjects() {
    let terms = schema(
        r#""name": "D", "keywords": ["sand , silt,,clay", {"@type": "DefinedTerm", "name": "grain size", "termCode": "GS"},
           {"@type": "DefinedTerm", "@id": "http://e.org/t/7", "termCode": "T7"}, {"@value": "Kies, Lehm", "@language": "de"}]"#,
    );
    assert_eq!(
        keywords(&terms),
        ["Kies", "Lehm", "T7", "clay", "grain size", "sand", "silt"]
    );
    let subject = turtle(
        "<http://e.org/d> a dcat:Dataset ; dct:title \"D\" ; dct:subject <http://e.org/t/8> , [ rdfs:label \"bark\" ] ;
           dcat:keyword [ skos:prefLabel \"moss\"@en ] . <http://e.org/t/8> skos:prefLabel \"lichen\"@en .",
    );
    assert_eq!(keywords(&subject), ["bark", "lichen", "moss"]);
}

#[test]
fn licences_are_addresses_or_names() {
    let by = "https://creativecommons.org/licenses/by/4.0/";
    for (text, expected) in [
        (format!("dct:license <{by}>"), Some(by)),
        (format!("dct:license \" {by} \""), Some(by)),
        (
            format!("dct:license [ schema:url <{by}> ; schema:name \"CC BY\" ]"),
            Some(by),
        ),
        (format!("dct:license [ schema:url \"{by}\" ]"), Some(by)),
        (format!("dct:license [ owl:sameAs <{by}> ]"), Some(by)),
        (
            format!("dct:license [ dct:identifier \"{by}\" ; dct:title \"CC BY\" ]"),
            Some(by),
        ),
        (
            format!("dct:license [ <http://creativecommons.org/ns#legalcode> <{by}> ]"),
            Some(by),
        ),
        (
            "dct:license [ a dct:LicenseDocument ; dct:title \"Nutzung\"@de , \"Terms\"@en ]"
                .to_owned(),
            Some("Terms"),
        ),
        (
            "dct:license [ dct:identifier \"T-1\" ]".to_owned(),
            Some("T-1"),
        ),
        ("dct:license [ a dct:LicenseDocument ]".to_owned(), None),
        ("dct:license \"\"".to_owned(), None),
        ("dct:license \"License not specified\"".to_owned(), None),
        ("dct:license \"unknown\"".to_owned(), None),
        (
            "dct:license [ rdfs:label \"not stated in repository\" ]".to_owned(),
            None,
        ),
        (
            "dct:license [] ; dct:rights <http://e.org/terms>".to_owned(),
            Some("http://e.org/terms"),
        ),
        (
            format!("dct:rights \"Rights\" ; dct:license <{by}>"),
            Some(by),
        ),
        (
            "dct:license <http://e.org/l> . <http://e.org/l> rdfs:label \"L\"".to_owned(),
            Some("http://e.org/l"),
        ),
        (
            format!("dct:license <{by}> , [ rdfs:label \"B\" ]"),
            Some(by),
        ),
        (
            format!("dct:license <{by}> , [ schema:url <{by}> ]"),
            Some(by),
        ),
        (
            "dct:license <ODbL-1.0> . <ODbL-1.0> a dct:LicenseDocument".to_owned(),
            Some("ODbL-1.0"),
        ),
        (
            "dct:license <#l> . <#l> rdfs:label \"L\"".to_owned(),
            Some("L"),
        ),
    ] {
        let dataset = turtle(&format!(
            "<http://e.org/d> a dcat:Dataset ; dct:title \"D\" ; {text} ."
        ));
        assert_eq!(dataset.metadata.license.as_deref(), expected, "{text}");
        let mut licenses: Vec<&str> = expected.into_iter().collect();
        licenses.extend(text.contains("\"B\"").then_some("B"));
        assert_eq!(dataset.licenses(), licenses, "{text}");
        let is_stated = |line: &&String| line.contains("terms/license>");
        let stated = text.matches("dct:license").count() + text.matches(" , [").count();
        assert_eq!(
            lines(&dataset).iter().filter(is_stated).count(),
            stated,
            "rights make no statement of a licence: {text}"
        );
    }
    let node = schema(&format!(
        r#""@id": "http://e.org/d", "name": "D", "license": {{"@type": "Dataset", "text": "BY", "url": "{by}"}}"#
    ));
    assert_eq!(node.metadata.license.as_deref(), Some(by));
    let licenses = lines(&node)
        .into_iter()
        .filter(|line| line.contains("terms/license>"))
        .count();
    assert_eq!(licenses, 1, "the node states it");
}

#[test]
fn licences_of_distributions_are_those_of_the_dataset() {
    let dataset = turtle(
        "<http://e.org/d> a dcat:Dataset ; dct:title \"D\" ; dct:license \"notspecified\" ; dcat:distribution <http://e.org/1> , <http://e.org/2> , <http://e.org/3> .
         <http://e.org/1> dcat:accessURL <http://e.org/1.csv> ; dct:license <http://e.org/b> .
         <http://e.org/2> dcat:accessURL <http://e.org/2.csv> ; dct:license [ rdfs:label \"Own terms\" ] .
         <http://e.org/3> dcat:accessURL <http://e.org/3.csv> ; dct:rights <http://e.org/b> .",
    );
    assert_eq!(dataset.metadata.license, None);
    assert_eq!(dataset.licenses(), ["http://e.org/b", "Own terms"]);
    let licenses = dataset.distribution_licenses();
    assert_eq!(licenses[1].as_deref(), Some("Own terms"));
    let subject = Iris::default().dataset(&dataset.metadata.id).to_string();
    let stated = lines(&dataset)
        .into_iter()
        .filter(|line| line.starts_with(&subject) && line.contains("license>"));
    assert_eq!(stated.count(), 1, "only that which the catalogue states");
}

#[test]
fn formats_are_named_by_nodes_and_lists() {
    for (text, expected) in [
        (
            "dct:format [ a dct:IMT ; rdf:value \"text/csv\" ; rdfs:label \"Table\" ]",
            vec!["CSV"],
        ),
        ("dct:format [ rdfs:label \"geojson\" ]", vec!["GeoJSON"]),
        (
            "dcat:mediaType [ rdf:value \"application/json; charset=utf-8\" ]",
            vec!["JSON"],
        ),
        (
            "dct:format <http://e.org/formats/17> . <http://e.org/formats/17> skos:prefLabel \"XLSX\"@en",
            vec!["XLSX"],
        ),
        (
            "dct:format <http://publications.europa.eu/resource/authority/file-type/CSV> . <http://publications.europa.eu/resource/authority/file-type/CSV> skos:prefLabel \"Tabelle\"@de",
            vec!["CSV"],
        ),
        (
            "dcat:mediaType <http://iana.org/assignments/media-types/text/turtle>",
            vec!["Turtle"],
        ),
        ("dct:format <ftype/JSON>", vec!["JSON"]),
        ("dct:format \".csv\"", vec!["CSV"]),
        ("dct:format [ a dct:MediaTypeOrExtent ]", vec![]),
        ("dct:format <http://e.org/fmt/19>", vec![]),
        (
            "dcat:packageFormat <https://www.iana.org/assignments/media-types/application/zip>",
            vec!["ZIP"],
        ),
        (
            "dcat:mediaType \"application/json\" , \"application/zip\" , \"text/csv\" ; dct:format \"XML\"",
            vec!["CSV", "JSON"],
        ),
        ("dct:format ( \"csv\" \"xls\" )", vec!["CSV", "XLS"]),
    ] {
        let dataset = turtle(&format!(
            "<http://e.org/d> a dcat:Dataset ; dct:title \"D\" ; dcat:distribution <http://e.org/f> .
             <http://e.org/f> dcat:accessURL <http://e.org/get?id=1> ; {text} ."
        ));
        let mut names = dataset.format_names();
        names.sort();
        assert_eq!(names, expected, "{text}");
    }
    let list = schema(
        r#""name": "D", "distribution": {"contentUrl": "http://e.org/x", "encodingFormat": ["text/csv", "application/zip"]}"#,
    );
    assert_eq!(list.format_names(), ["CSV"]);
}

#[test]
fn agents_have_names_in_many_vocabularies() {
    for (text, expected) in [
        (
            "[ foaf:givenName \"Ada\" ; foaf:familyName \"Berg\" ]",
            vec!["Ada Berg"],
        ),
        (
            "[ foaf:firstName \"Ada\" ; foaf:surname \"Berg\" ; foaf:mbox <mailto:a@e.org> ]",
            vec!["Ada Berg"],
        ),
        (
            "[ vcard:given-name \"Ada\" ; vcard:family-name \"Berg\" ]",
            vec!["Ada Berg"],
        ),
        (
            "[ vcard:hasName [ vcard:given-name \"Ada\" ; vcard:family-name \"Berg\" ] ]",
            vec!["Ada Berg"],
        ),
        (
            "[ vcard:hasFN [ vcard:value \"Ada Berg\" ] ]",
            vec!["Ada Berg"],
        ),
        (
            "[ vcard:organization-name \"Berg Office\" ]",
            vec!["Berg Office"],
        ),
        ("[ schema:name \"Berg Office\" ]", vec!["Berg Office"]),
        (
            "[ <https://schema.org/legalName> \"Berg Ltd\" ]",
            vec!["Berg Ltd"],
        ),
        ("[ dct:title \"Amt\"@de , \"Office\"@en ]", vec!["Office"]),
        (
            "[ foaf:name \"Ada Berg\" ; foaf:givenName \"A.\" ; foaf:familyName \"B.\" ]",
            vec!["Ada Berg"],
        ),
        ("[ foaf:familyName \"Berg\" ]", vec!["Berg"]),
        ("[ foaf:mbox <mailto:a@e.org> ]", vec![]),
        ("<mailto:a@e.org>", vec![]),
        ("[ a foaf:Agent ]", vec![]),
        ("<Office>", vec!["Office"]),
    ] {
        for property in ["dct:creator", "dct:publisher"] {
            let dataset = turtle(&format!(
                "<http://e.org/d> a dcat:Dataset ; dct:title \"D\" ; {property} {text} ."
            ));
            let names = if property == "dct:creator" {
                creators(&dataset)
            } else {
                publishers(&dataset)
            };
            assert_eq!(names, expected, "{text}");
        }
    }
    let json = schema(
        r#""name": "D", "creator": {"@type": "Person", "givenName": "Ada", "additionalName": "M.", "familyName": "Berg"},
           "provider": {"@type": "Organization", "legalName": "Berg Ltd"}, "funder": {"@type": "Organization", "name": "Fund"}"#,
    );
    assert_eq!(
        (creators(&json), publishers(&json)),
        (vec!["Ada M. Berg"], vec!["Berg Ltd"])
    );
    assert!(
        lines(&json)
            .iter()
            .any(|line| line.contains("foaf/0.1/name> \"Fund\""))
    );
}

#[test]
fn relative_references_are_texts() {
    let dataset = turtle(
        "<http://e.org/d> a dcat:Dataset , <Table> ; dct:title \"D\" ; dct:license <CC0-1.0> ; dcat:landingPage <www.e.org/d> ; dct:conformsTo <../std> ;
           <p> <o> ; dct:relation <#part> , </top> , <//e.org/x> ; dct:extent \"1\"^^<units> ; dcat:distribution [ dcat:downloadURL <a/b%20c.csv> ] .
         <#part> dct:title \"Part\" .",
    );
    assert_eq!(dataset.metadata.license.as_deref(), Some("CC0-1.0"));
    assert_eq!(
        dataset.metadata.landing_page.as_deref(),
        Some("www.e.org/d")
    );
    assert_eq!(dataset.distributions[0].location.as_str(), "a/b c.csv");
    let lines = lines(&dataset);
    for text in [
        "\"../std\"",
        "\"/top\"",
        "\"//e.org/x\"",
        "\"Table\"",
        "\"p\"",
        "\"o\"",
        "extent> \"1\"",
        "\"Part\"",
    ] {
        assert!(
            lines.iter().any(|line| line.contains(text)),
            "{text}: {lines:#?}"
        );
    }
    let empty =
        schema(r#""name": "D", "license": "", "url": "", "isPartOf": "", "contentUrl": """#);
    assert_eq!(
        (&empty.metadata.license, &empty.metadata.landing_page),
        (&None, &None)
    );
    assert!(empty.distributions.is_empty());
    let based =
        turtle("@base <http://b.org/> . <d> a dcat:Dataset ; dct:title \"D\" ; dct:license <l> .");
    assert_eq!(based.metadata.license.as_deref(), Some("http://b.org/l"));
    let folder = schema(r#""@id": "./", "name": "Root""#);
    assert_eq!(folder.metadata.id.as_str(), "Root");
    let list = read(
        "c.ttl",
        &format!(
            "{PREFIXES}<a> a dcat:Dataset ; dct:title \"A\" ; dct:relation <b> . <b> a dcat:Dataset ; dct:title \"B\" . _:c a dcat:Dataset ."
        ),
    );
    assert_eq!(list.datasets.len(), 2);
    let nameless = read(
        "c.ttl",
        &format!("{PREFIXES}<a> a dcat:Dataset ; dct:title \"A\" . </> a dcat:Dataset ."),
    );
    assert!(
        !format!("{:?}", nameless.problems).contains("local"),
        "{:?}",
        nameless.problems
    );
    let dump = read(
        "c.ttl",
        &format!(
            "{PREFIXES}<> a owl:Ontology ; dct:license <LICENCE> ; dct:creator ( \"B\" \"A\" ) . <a> owl:sameAs <b> ."
        ),
    );
    assert_eq!(
        (dump.dialect, dump.datasets[0].metadata.license.as_deref()),
        (Dialect::Dump, Some("LICENCE"))
    );
    assert_eq!(creators(&dump.datasets[0]), ["B", "A"]);
}

#[test]
fn downloads_resolve_references() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("page");
    let text = r#"{"@context": "https://schema.org/", "@type": "Dataset", "name": "D", "license": "terms", "url": "", "creator": {"@list": [{"name": "B"}, {"name": "A"}]}}"#;
    std::fs::write(&path, text).expect("written");
    let catalog = Catalog::read_download(&path, "https://e.org/x/d", Some("application/ld+json"))
        .expect("a catalogue");
    let dataset = one(catalog);
    assert_eq!(
        dataset.metadata.license.as_deref(),
        Some("https://e.org/x/terms")
    );
    assert_eq!(creators(&dataset), ["B", "A"]);
    std::fs::write(&path, text.replace("terms", "")).expect("written");
    let catalog = Catalog::read_download(&path, "https://e.org/x/d", Some("application/ld+json"))
        .expect("a catalogue");
    assert_eq!(one(catalog).metadata.license, None);
}

#[test]
fn pages_describe_datasets_beside_other_things() {
    let site = r#"{"@type": "WebSite", "@id": "http://e.org/#site", "name": "E", "url": "http://e.org/", "potentialAction": {"@type": "SearchAction", "target": "http://e.org/?q"}},
        {"@type": "Organization", "@id": "http://e.org/#org", "name": "E", "logo": {"@type": "ImageObject", "url": "http://e.org/l.png", "width": 1, "height": 2, "caption": "E"}},
        {"@type": "BreadcrumbList", "itemListElement": [{"@type": "ListItem", "position": 1, "name": "Home"}, {"@type": "ListItem", "position": 2, "name": "D"}]}"#;
    let context = "\"@context\": \"https://schema.org/\"";
    let dataset = r#"{"@type": "Dataset", "@id": "http://e.org/d", "name": "D"}"#;
    one(read(
        "c.jsonld",
        &format!("{{{context}, \"@graph\": [{site}, {dataset}]}}"),
    ));
    let article = format!(
        r#"{{{context}, "@type": "NewsArticle", "headline": "H", "author": {{"name": "A", "jobTitle": "x", "email": "y", "telephone": "1"}}, "articleBody": "B", "about": {dataset}}}"#
    );
    one(read("c.jsonld", &article));
    let catalog = format!(
        r#"{{{context}, "@type": "DataCatalog", "name": "C", "description": "c", "publisher": {{"name": "P", "email": "p", "telephone": "1"}}, "dataset": [{dataset}]}}"#
    );
    one(read("c.jsonld", &catalog));
    let references = format!(
        r#"{{{context}, "@type": "Dataset", "@id": "http://e.org/a", "name": "A", "isBasedOn": {{"@type": "Dataset", "name": "B", "url": "http://e.org/b"}},
           "citation": {{"@type": "Dataset", "@id": "http://e.org/c"}}, "distribution": {{"@type": ["DataDownload", "Dataset"], "name": "F", "contentUrl": "http://e.org/f"}}}}"#
    );
    let dataset = one(read("c.jsonld", &references));
    assert_eq!(
        (dataset.metadata.title(), dataset.distributions.len()),
        ("A", 1)
    );
    assert!(lines(&dataset).iter().any(|line| line.contains("\"B\"")));
    let parts = format!(
        r#"{{{context}, "@type": "Dataset", "@id": "http://e.org/a", "name": "A", "hasPart": [{{"@type": "Dataset", "@id": "http://e.org/b", "name": "B"}}],
           "isPartOf": {{"@type": "Dataset", "@id": "http://e.org/c", "name": "C", "description": "c"}}}}"#
    );
    assert_eq!(read("c.jsonld", &parts).datasets.len(), 3);
}

#[test]
fn dumps_with_a_header_stay_dumps() {
    let mut graph = String::from(
        r#"{"@type": "Dataset", "@id": "http://e.org/d", "name": "Staff", "license": "http://e.org/l"}"#,
    );
    for number in 0..50 {
        graph += &format!(
            r#", {{"@type": "Person", "@id": "http://e.org/{number}", "name": "N{number}", "email": "e{number}"}}"#
        );
    }
    let persons = read(
        "staff.jsonld",
        &format!("{{\"@context\": \"https://schema.org/\", \"@graph\": [{graph}]}}"),
    );
    assert_eq!(
        (persons.dialect, persons.datasets.len()),
        (Dialect::Dump, 1)
    );
    let metadata = &persons.datasets[0].metadata;
    assert_eq!(
        (metadata.title(), metadata.license.as_deref()),
        ("Staff", Some("http://e.org/l"))
    );
    let mut pages = String::from("<http://e.org/d> a schema:Dataset ; schema:name \"Pages\" .\n");
    for number in 0..3000 {
        pages += &format!(
            "<http://e.org/{number}> a schema:WebPage ; schema:name \"N{number}\" ; schema:about <http://e.org/d> .\n"
        );
    }
    assert_eq!(
        read("pages.ttl", &format!("{PREFIXES}{pages}")).dialect,
        Dialect::Dump
    );
}

#[test]
fn references_of_dcat_are_no_datasets() {
    let catalog = read(
        "c.ttl",
        &format!(
            "{PREFIXES}<http://e.org/a> a dcat:Dataset ; dct:title \"A\" ; dct:source [ a dcat:Dataset ; dct:identifier \"x\" ] ; dct:relation <http://e.org/b> , <http://e.org/c> ;
               prov:wasDerivedFrom [ a dcat:Dataset ] ; dct:hasPart <http://e.org/p> ; dct:isVersionOf <http://e.org/v> .
             <http://e.org/b> a dcat:Dataset . <http://e.org/c> a dcat:Dataset ; dct:title \"C\" . <http://e.org/p> a dcat:Dataset ; dct:title \"P\" .
             <http://e.org/v> a dcat:Dataset ; dct:identifier \"v\" ."
        ),
    );
    let mut titles: Vec<&str> = catalog
        .datasets
        .iter()
        .map(|dataset| dataset.metadata.title())
        .collect();
    titles.sort_unstable();
    assert_eq!(titles, ["A", "C", "P"], "{:?}", catalog.problems);
    assert!(catalog.problems.is_empty(), "{:?}", catalog.problems);
}

#[test]
fn coverage_is_read_from_nodes_and_texts() {
    let period = |dataset: &Dataset| {
        dataset
            .declared_period()
            .map(|one| one.period.to_string())
            .unwrap_or_default()
    };
    for (coverage, expected) in [
        (r#""2020/31/12/2021""#, "2020..2021"),
        (r#""2007-03-01/2008-05-11""#, "2007-03-01..2008-05-11"),
        (r#"["2001", "2003/2004"]"#, "2001..2004"),
        (
            r#"{"@type": "DateTime", "startDate": "2010", "endDate": "2011"}"#,
            "2010..2011",
        ),
        (
            r#"{"@value": "2010/2011", "@language": "en"}"#,
            "2010..2011",
        ),
        (r#"{"@list": ["1999/2000"]}"#, "1999..2000"),
        (
            r#"{"http://www.w3.org/2006/time#hasBeginning": {"http://www.w3.org/2006/time#inXSDDate": "2010-05-01"},
               "http://www.w3.org/2006/time#hasEnd": {"http://www.w3.org/2006/time#inXSDgYear": "2012"}}"#,
            "2010-05-01..2012-12-31",
        ),
    ] {
        assert_eq!(
            period(&schema(&format!(
                r#""name": "D", "temporalCoverage": {coverage}"#
            ))),
            expected,
            "{coverage}"
        );
    }
    let place = |dataset: &Dataset| {
        dataset
            .declared_place()
            .map(|one| one.bounds.to_string())
            .unwrap_or_default()
    };
    for (coverage, expected) in [
        (
            r#"{"@type": "Place", "geo": {"@type": "GeoShape", "polygon": "{\"type\": \"Point\", \"coordinates\": [4, 50]}"}}"#,
            "4,50,4,50",
        ),
        (
            r#"{"@list": [{"geo": {"@type": "GeoCoordinates", "latitude": 50, "longitude": 4.5}}]}"#,
            "4.5,50,4.5,50",
        ),
        (
            r#"{"@type": "GeoShape", "box": "49.4 2.5 51.6 6.5"}"#,
            "2.5,49.4,6.5,51.6",
        ),
        (
            r#"{"geo": {"@type": "GeoShape", "circle": "0,10 111320"}}"#,
            "9,-1,11,1",
        ),
        (
            r#""northlimit=5; southlimit=1; westlimit=2; eastlimit=3""#,
            "2,1,3,5",
        ),
    ] {
        assert_eq!(
            place(&schema(&format!(
                r#""name": "D", "spatialCoverage": {coverage}"#
            ))),
            expected,
            "{coverage}"
        );
    }
}

/// A code, a role in the document or nothing is no name: the IRI stands for an agent that is not described.
#[test]
fn agents_without_names_have_their_iri() {
    for (agent, name) in [
        (
            "<https://orcid.org/0000-0000-0000-0001>",
            "https://orcid.org/0000-0000-0000-0001",
        ),
        ("<http://e.org/entity/Q42>", "http://e.org/entity/Q42"),
        ("<http://e.org/#organization>", "http://e.org/#organization"),
        ("<http://e.org/town_council>", "town council"),
    ] {
        let dataset = turtle(&format!(
            "<http://e.org/d> a dcat:Dataset ; dct:title \"D\" ; dct:creator {agent} ; dct:publisher {agent} ."
        ));
        assert_eq!(
            (creators(&dataset), publishers(&dataset)),
            (vec![name], vec![name])
        );
        assert!(
            !lines(&dataset)
                .iter()
                .any(|line| line.contains("foaf/0.1/name")),
            "{agent}"
        );
    }
    let text =
        r##""@id": "http://e.org/d", "name": "D", "creator": {"@type": "Person", "@id": "#me"}"##;
    assert_eq!(creators(&schema(text)), Vec::<&str>::new());
}

#[test]
fn dates_of_creation_are_no_dates_of_issue() {
    let dataset =
        turtle("<http://e.org/d> a dcat:Dataset ; dct:title \"D\" ; dct:created \"2020\" .");
    assert_eq!(dataset.metadata.issued, None);
    assert!(
        !lines(&dataset)
            .iter()
            .any(|line| line.contains("terms/issued"))
    );
}

#[test]
fn numbers_of_json_ld_are_as_written() {
    let dataset = schema(
        r#""name": "D", "version": 1.10, "distribution":
        {"@type": "DataDownload", "contentUrl": "https://e.org/a.csv", "contentSize": 10.5}"#,
    );
    let text = lines(&dataset).join("\n");
    assert!(
        text.contains("#version> \"1.10\"") && text.contains("\"10.5\""),
        "{text}"
    );
    assert!(!text.contains("E0") && !text.contains("E1"), "{text}");
}

#[test]
fn addresses_in_place_of_distributions_are_files() {
    let dataset =
        schema(r#""name": "D", "distribution": ["https://e.org/a.csv", "https://e.org/b.ttl"]"#);
    let mut places: Vec<&str> = dataset
        .distributions
        .iter()
        .map(|file| file.location.as_str())
        .collect();
    places.sort_unstable();
    assert_eq!(places, ["https://e.org/a.csv", "https://e.org/b.ttl"]);
}

#[test]
fn feeds_of_data_are_datasets() {
    let catalog = read(
        "feed.jsonld",
        r#"{"@context": "https://schema.org/", "@type": "DataFeed", "@id": "http://e.org/f", "name": "Feed"}"#,
    );
    assert_eq!(one(catalog).metadata.title(), "Feed");
}

#[test]
fn all_shapes_of_a_place_count() {
    let place = |place: &str| {
        let dataset = schema(&format!("\"name\": \"D\", {place}"));
        dataset
            .declared_place()
            .map(|place| place.bounds.to_string())
    };
    let shapes = r#"{"@type": "Place", "geo": [{"@type": "GeoCoordinates", "latitude": 10.5, "longitude": 20.25},
        {"@type": "GeoShape", "box": "-10 -20 30 40"}]}"#;
    for key in ["spatialCoverage", "contentLocation"] {
        assert_eq!(
            place(&format!("\"{key}\": {shapes}")).as_deref(),
            Some("-20,-10,40,30")
        );
    }
    let period = schema(r#""name": "D", "datasetTimeInterval": "2010/2012""#).declared_period();
    assert_eq!(
        period.map(|period| period.period.to_string()).as_deref(),
        Some("2010..2012")
    );
}

#[test]
fn pages_have_a_base_and_may_be_xhtml() {
    let page = r#"<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">
        <html xmlns="http://www.w3.org/1999/xhtml"><head><title>t</title><base href="https://p.example.org/d/"/>
        <script type="application/ld+json">{"@context": "https://schema.org/", "@type": "Dataset", "name": "D",
        "url": "data/1", "license": "license.html"}</script></head></html>"#;
    let dataset = one(read("page.html", page));
    assert_eq!(
        dataset.metadata.landing_page.as_deref(),
        Some("https://p.example.org/d/data/1")
    );
    assert_eq!(dataset.licenses(), ["https://p.example.org/d/license.html"]);
}

#[test]
fn parts_that_a_portal_deleted_are_left_out_and_named() {
    let catalog = read(
        "package.json",
        r#"{"name": "p", "title": "P", "notes": "n", "publisher": "http://e.org/authority/Survey",
        "themes_aggregate": "[{\"theme\": \"ECON\", \"subthemes\": [\"http://eurovoc.europa.eu/434\"]}]",
        "tags": [{"name": "old", "state": "deleted"}, {"name": "new", "state": "active"}],
        "resources": [{"url": "http://e.org/a.csv", "state": "deleted"}, {"url": "http://e.org/b.csv"}]}"#,
    );
    assert_eq!(catalog.problems.len(), 2, "{:?}", catalog.problems);
    let dataset = one(catalog);
    assert_eq!(
        (keywords(&dataset), publishers(&dataset)),
        (vec!["new"], vec!["Survey"])
    );
    assert_eq!(dataset.distributions.len(), 1);
    assert_eq!(dataset.theme_names(), ["Economy and finance"]);
    assert_eq!(
        dataset.metadata.publishers[0].iri.as_deref(),
        Some("http://e.org/authority/Survey")
    );
}

#[test]
fn addresses_that_run_a_program_are_texts() {
    let catalog = read(
        "c.ttl",
        &format!(
            "{PREFIXES}<http://e.org/d> a dcat:Dataset ; dct:title \"D\" ; dct:relation <javascript:a()> ; dcat:distribution
               [ dcat:downloadURL <javascript:b()> ] , [ dcat:downloadURL \"JavaScript:c()\" ; dcat:accessURL <http://e.org/page> ] ,
               [ dcat:downloadURL <javascript://e.org/%0Ad()> , <http://e.org/d.nt> ] ."
        ),
    );
    let dataset = &catalog.datasets[0];
    let mut locations: Vec<&str> = dataset
        .distributions
        .iter()
        .map(|one| one.location.as_str())
        .collect();
    locations.sort_unstable();
    assert_eq!(locations, ["http://e.org/d.nt", "http://e.org/page"]);
    let lines = lines(dataset);
    assert!(
        !lines
            .iter()
            .any(|line| line.to_lowercase().contains("<javascript:")),
        "{lines:#?}"
    );
    for text in [
        "\"javascript:a()\"",
        "\"javascript:b()\"",
        "\"javascript://e.org/%0Ad()\"",
    ] {
        assert!(
            lines.iter().any(|line| line.contains(text)),
            "{text}: {lines:#?}"
        );
    }
    let problems = catalog.problems.join("\n");
    for text in [
        "relation: ",
        "downloadURL: ",
        "javascript:a()",
        "javascript:b()",
    ] {
        assert!(problems.contains(text), "{text}: {problems}");
    }
    let listed = read(
        "datasets.json",
        r#"[{"dataset_id": 1, "title": "D", "download": ["javascript:a()", "http://e.org/a.nt"]}]"#,
    );
    let distributions = &listed.datasets[0].distributions;
    assert_eq!(distributions.len(), 1, "{distributions:?}");
    assert!(listed.problems.join("\n").contains("javascript:a()"));
}
