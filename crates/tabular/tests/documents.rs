//! JSON, JSON Lines, GeoJSON and XML as graphs.

use lodeseek_rdf::TripleSink;
use lodeseek_rdf::dump::{DumpReader, FileReport, Outcome};
use lodeseek_tabular::Tables;
use oxrdf::TripleRef;

#[derive(Default)]
struct Collected(Vec<String>);

impl TripleSink for Collected {
    fn start_file(&mut self) {}

    fn insert_triple(&mut self, triple: TripleRef<'_>) {
        let text = triple.to_string();
        self.0.push(
            text.replace("http://e.org/d", "")
                .replace("http://www.w3.org/2000/01/rdf-schema#", "rdfs:")
                .replace("http://www.w3.org/2001/XMLSchema#", "xsd:")
                .replace("http://www.opengis.net/ont/geosparql#", "geo:"),
        );
    }
}

fn read(name: &str, text: &str) -> (Vec<String>, FileReport) {
    let mut sink = Collected::default();
    let mut reports = DumpReader::default().with_tables(&Tables).read(
        text.as_bytes(),
        name,
        "http://e.org/d",
        &mut sink,
    );
    assert_eq!(reports.len(), 1, "{reports:?}");
    (sink.0, reports.remove(0))
}

/// Checks that a document has some triples, and returns the report.
fn check(name: &str, text: &str, expected: &[&str]) -> FileReport {
    let (triples, report) = read(name, text);
    for triple in expected {
        assert!(
            triples.iter().any(|found| found == triple),
            "{triple}\n{}\n{report:?}",
            triples.join("\n")
        );
    }
    report
}

#[test]
fn lists_of_objects() {
    let text = r#"[{"treeName": "Oak", "height": 21.5, "tags": ["old", "tall"], "park": {"city": "Lund"}}, {"treeName": "Elm"}]"#;
    let report = check(
        "trees.json",
        text,
        &[
            "<#/0> <rdfs:label> \"Oak\"",
            "<#/0> <#height> \"21.5\"^^<xsd:decimal>",
            "<#/0> <#tags> \"tall\"",
            "<#/0> <#park> <#/0/park>",
            "<#/0/park> <#city> \"Lund\"",
            "<#treeName> <rdfs:label> \"tree Name\"",
            "<#/1> <http://www.w3.org/ns/csvw#rownum> \"2\"^^<xsd:integer>",
        ],
    );
    assert_eq!((report.tables[0].rows, report.tables[0].columns), (2, 4));
    assert!(report.is_clean(), "{report:?}");
}

#[test]
fn keys_that_are_values() {
    let text = r#"{"DE": {"name": "Germany", "n": 1}, "FR": {"name": "France", "n": 2}, "IT": {"n": 3, "name": "Italy"}, "ES": {"n": 4}}"#;
    let report = check(
        "countries.json",
        text,
        &[
            "<#/DE> <rdfs:label> \"Germany\"",
            "<#/DE> <#key> \"DE\"",
            "<#/ES> <rdfs:label> \"ES\"",
            "<#/FR> <#n> \"2\"^^<xsd:integer>",
        ],
    );
    assert_eq!(report.tables[0].rows, 4);
}

#[test]
fn lists_of_lists_are_tables() {
    let text = r#"[["name", "height"], ["oak", 21], ["elm", 18]]"#;
    let report = check(
        "trees.json",
        text,
        &[
            "<#row=2> <#height> \"21\"^^<xsd:integer>",
            "<#row=3> <rdfs:label> \"elm\"",
        ],
    );
    assert_eq!(
        (report.tables[0].rows, report.tables[0].header_rows),
        (2, 1)
    );
}

#[test]
fn json_lines_with_a_broken_one() {
    let text = "{\"name\": \"oak\"}\n{\"name\": \"elm\"}\n{\"name\": \n{\"name\": \"ash\"}\n";
    let report = check("trees.jsonl", text, &["<#/2> <rdfs:label> \"ash\""]);
    assert_eq!((report.outcome, report.skipped), (Outcome::Skipped, 1));
    assert_eq!(report.problems[0].line, Some(3));
    assert_eq!(report.tables[0].format, "JSON Lines");
}

#[test]
fn json_lines_are_recognized_by_any_two_lines() {
    for (text, rows, skipped) in [
        ("{\"a\": 1}\n{\"a\": 2,}\n{\"a\": 3}\n", 2, 1),
        ("{\"a\": 1,}\n{\"a\": 2}\n{\"a\": 3}\n", 2, 1),
        ("{\"a\": 1}\nnull\n\n{\"a\": 3}\n", 2, 0),
        ("{\"a\": 1}\n", 1, 0),
    ] {
        let (_, report) = read("trees.jsonl", text);
        let facts = &report.tables[0];
        assert_eq!(
            (&*facts.format, facts.rows, report.skipped),
            ("JSON Lines", rows, skipped),
            "{text} {report:?}"
        );
    }
    let text = "[\"name\", \"n\"]\n[\"oak\", 1]\n[\"elm\", 2]\n";
    let expected = [
        "<#row=3> <#name> \"elm\"",
        "<#row=2> <#n> \"1\"^^<xsd:integer>",
    ];
    check("trees.jsonl", text, &expected);
    let long = "x".repeat(300_000);
    let text = format!("{{\"name\": \"{long}\"}}\n{{\"name\": \"elm\"}}\n{{\"name\": \"ash\"}}\n");
    check("trees", &text, &["<#/2> <rdfs:label> \"ash\""]);
}

#[test]
fn content_behind_a_value_is_reported() {
    for text in [
        "[{\"name\": \"oak\"}] [{\"name\": \"elm\"}]",
        "{\"trees\": [{\"name\": \"oak\"}]} garbage",
        "{\n\"name\": \"oak\"\n}\n{\n\"name\": \"elm\"\n}\n",
        "[[\"name\"], [\"oak\"]] [1]",
    ] {
        let (triples, report) = read("trees.json", text);
        assert!(
            triples.iter().any(|triple| triple.contains("\"oak\"")),
            "{text}"
        );
        assert_eq!(report.outcome, Outcome::Truncated, "{text}");
        let message = &report.problems[0].message;
        assert!(message.contains("more content follows"), "{message}");
    }
}

#[test]
fn nested_cells_are_kept() {
    let text = r#"[["id", "tags"], [1, ["a", "b"]], [3, {"k": "v\"1"}], {"id": 5}]"#;
    let report = check(
        "trees.json",
        text,
        &[
            r#"<#row=2> <#tags> "[\"a\",\"b\"]""#,
            r#"<#row=3> <#tags> "{\"k\":\"v\\\"1\"}""#,
            r#"<#row=4> <#id> "{\"id\":5}""#,
        ],
    );
    assert_eq!(report.tables[0].rows, 3);
    let report = check(
        "trees.json",
        r#"{"columns": ["a", "b"], "data": [[5, 5], [7, [8, 9]]]}"#,
        &[
            "<#/data/0> <#a> \"5\"^^<xsd:integer>",
            "<#/data/0> <#b> \"5\"^^<xsd:integer>",
            "<#/data/1> <#b> \"9\"^^<xsd:integer>",
        ],
    );
    assert_eq!(report.tables[0].rows, 2, "{report:?}");
    check(
        "trees.json",
        r#"{"rows": [["name", "n"], ["oak", 1]], "other": [[1, 2]]}"#,
        &[
            "<#/rows/1> <#name> \"oak\"",
            "<#/other/0> <#column_2> \"2\"^^<xsd:integer>",
        ],
    );
}

#[test]
fn empty_documents_have_no_entities() {
    for text in [
        "[]",
        "{}",
        r#"{"type": "FeatureCollection", "features": []}"#,
    ] {
        let report = check(
            "trees.json",
            text,
            &["<> <http://rdfs.org/ns/void#entities> \"0\"^^<xsd:integer>"],
        );
        assert_eq!(report.tables[0].rows, 0, "{text}");
    }
    let (_, report) = read("trees.json", r#"{"name": "oak", "tags": []}"#);
    assert_eq!(report.tables[0].rows, 1);
}

#[test]
fn truncated_json_keeps_what_was_read() {
    let (triples, report) = read("trees.json", r#"[{"name": "oak"}, {"name": "e"#);
    assert!(
        triples
            .iter()
            .any(|triple| triple == "<#/0> <rdfs:label> \"oak\"")
    );
    assert_eq!(report.outcome, Outcome::Truncated, "{report:?}");
}

#[test]
fn geojson() {
    let long: Vec<String> = (0..2000).map(|x| format!("[{x}, {}]", x % 7)).collect();
    let text = format!(
        r#"{{"type": "FeatureCollection", "features": [
        {{"type": "Feature", "properties": {{"name": "Pier"}}, "geometry": {{"type": "Point", "coordinates": [1.5, -2]}}}},
        {{"type": "Feature", "properties": {{"name": "Ring"}}, "geometry": {{"type": "Polygon", "coordinates": [[[0,0],[1,0],[1,1],[0,0]]]}}}},
        {{"type": "Feature", "properties": {{"name": "Coast"}}, "geometry": {{"type": "LineString", "coordinates": [{}]}}}},
        {{"type": "Feature", "properties": {{"name": "Damaged"}}, "geometry": {{"type": "Point", "coordinates": ["x"]}}}}]}}"#,
        long.join(",")
    );
    let report = check(
        "places.json",
        &text,
        &[
            "<#/features/0> <rdfs:label> \"Pier\"",
            "<#/features/0> <geo:hasGeometry> <#/features/0/geometry>",
            "<#/features/0/geometry> <geo:asWKT> \"POINT (1.5 -2)\"^^<geo:wktLiteral>",
            "<#/features/1/geometry> <geo:asWKT> \"POLYGON ((0 0, 1 0, 1 1, 0 0))\"^^<geo:wktLiteral>",
            "<#/features/2> <geo:hasBoundingBox> <#/features/2/geometry>",
            "<#/features/2/geometry> <geo:asWKT> \"POLYGON ((0 0, 1999 0, 1999 6, 0 6, 0 0))\"^^<geo:wktLiteral>",
        ],
    );
    assert_eq!(
        (report.tables[0].format.as_ref(), report.tables[0].rows),
        ("GeoJSON", 4)
    );
    let problems: Vec<String> = report.problems.iter().map(ToString::to_string).collect();
    assert!(
        problems
            .iter()
            .any(|problem| problem.contains("bounding boxes: 1")),
        "{problems:?}"
    );
    assert!(
        problems
            .iter()
            .any(|problem| problem.contains("damaged geometries, which were left out: 1")),
        "{problems:?}"
    );
}

#[test]
fn geometries_in_other_reference_systems_are_left_out() {
    let crs = r#""crs": {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::25832"}}"#;
    let features = r#""features": [{"type": "Feature", "properties": {"name": "Pier"}, "geometry": {"type": "Point", "coordinates": [389000.5, 5819000]}}]"#;
    for text in [
        format!("{{\"type\": \"FeatureCollection\", {crs}, {features}}}"),
        format!("{{\"type\": \"FeatureCollection\", {features}, {crs}}}"),
        format!(
            "[{}]",
            features[13..features.len() - 1].replacen('{', &format!("{{{crs}, "), 1)
        ),
    ] {
        let (triples, report) = read("places.geojson", &text);
        assert!(
            triples.iter().any(|triple| triple.contains("\"Pier\"")),
            "{text}"
        );
        assert!(
            !triples.iter().any(|triple| triple.contains("POINT")),
            "{text}"
        );
        let message = &report.problems[0].message;
        assert!(
            message.ends_with("reference system is urn:ogc:def:crs:EPSG::25832, not WGS 84: 1"),
            "{message}"
        );
    }
    let known = crs.replace("EPSG::25832", "OGC:1.3:CRS84");
    let text = format!("{{\"type\": \"FeatureCollection\", {known}, {features}}}");
    let (triples, _) = read("places.geojson", &text);
    assert!(triples.iter().any(|triple| triple.contains("POINT")));
}

#[test]
fn geometries_alone_and_empty_ones() {
    for (text, expected) in [
        (r#"{"type": "Point", "coordinates": [1, 2]}"#, "POINT (1 2)"),
        (
            r#"{"type": "LineString", "coordinates": [[1, 2], [3, 4]]}"#,
            "LINESTRING (1 2, 3 4)",
        ),
        (
            r#"{"type": "GeometryCollection", "geometries": []}"#,
            "GEOMETRYCOLLECTION EMPTY",
        ),
        (
            r#"{"type": "Polygon", "coordinates": [[]]}"#,
            "POLYGON EMPTY",
        ),
        (
            r#"{"type": "MultiLineString", "coordinates": [[], [[1, 2], [3, 4]]]}"#,
            "MULTILINESTRING ((1 2, 3 4))",
        ),
    ] {
        let wkt = format!("<#/geometry> <geo:asWKT> \"{expected}\"^^<geo:wktLiteral>");
        check(
            "a.geojson",
            text,
            &[&wkt, "<> <geo:hasGeometry> <#/geometry>"],
        );
    }
}

#[test]
fn topojson() {
    let text = r#"{"type": "Topology", "transform": {"scale": [0.5, 0.25], "translate": [100, 0]}, "objects": {
        "places": {"type": "GeometryCollection", "geometries": [
            {"type": "Point", "properties": {"name": "Pier"}, "coordinates": [4, 8]},
            {"type": "LineString", "properties": {"name": "Way"}, "arcs": [0, 1]},
            {"type": "Polygon", "id": "p1", "properties": {"name": "Yard"}, "arcs": [[-2, -1]]},
            {"type": "Polygon", "properties": {"name": "Lost"}, "arcs": [[7]]}]},
        "land": {"type": "LineString", "arcs": [0]}},
        "arcs": [[[0, 0], [2, 4]], [[2, 4], [2, -4], [-4, 0]]]}"#;
    let report = check(
        "places.topojson",
        text,
        &[
            "<#/places/0> <rdfs:label> \"Pier\"",
            "<#/places/0/geometry> <geo:asWKT> \"POINT (102 2)\"^^<geo:wktLiteral>",
            "<#/places/1/geometry> <geo:asWKT> \"LINESTRING (100 0, 101 1, 102 0, 100 0)\"^^<geo:wktLiteral>",
            "<#/places/2> <#id> \"p1\"",
            "<#/places/2/geometry> <geo:asWKT> \"POLYGON ((100 0, 102 0, 101 1, 100 0))\"^^<geo:wktLiteral>",
            "<#/places/3> <#name> \"Lost\"",
            "<#/land/0/geometry> <geo:asWKT> \"LINESTRING (100 0, 101 1)\"^^<geo:wktLiteral>",
        ],
    );
    assert_eq!(
        (report.tables[0].rows, report.problems.len()),
        (4, 1),
        "{report:?}"
    );
    assert!(report.problems[0].message.contains("damaged geometries"));
}

#[test]
fn xml_of_records() {
    let text = "<?xml version=\"1.0\"?>\n<park xmlns=\"http://e.org/x\"><name>Lund &amp; Elm</name>\n<tree code=\"q1\"><name>Oak</name><height unit=\"m\">21.5</height></tree><tree code=\"u2\"/></park>";
    let report = check(
        "park.xml",
        text,
        &[
            "<> <#name> \"Lund & Elm\"",
            "<#/tree/0> <rdfs:label> \"Oak\"",
            "<#/tree/0> <#height> <#/tree/0/height>",
            "<#/tree/0/height> <#value> \"21.5\"^^<xsd:decimal>",
            "<#/tree/1> <#code> \"u2\"",
        ],
    );
    assert_eq!(report.tables[0].rows, 2, "{report:?}");
}

#[test]
fn types_of_xml_are_those_of_all_records() {
    check(
        "trees.xml",
        "<r><s depth=\"40.5\" zip=\"01234\"><n>1</n></s><s depth=\"50\" zip=\"12345\"><n>x</n></s></r>",
        &[
            "<#/s/0> <#depth> \"40.5\"^^<xsd:decimal>",
            "<#/s/1> <#depth> \"50.0\"^^<xsd:decimal>",
            "<#/s/1> <#zip> \"12345\"",
            "<#/s/0> <#n> \"1\"",
        ],
    );
}

#[test]
fn empty_and_single_records_of_xml() {
    let rownum = "<http://www.w3.org/ns/csvw#rownum>";
    let report = check(
        "trees.xml",
        "<r><e><v>1</v></e><e/><e><v>3</v></e></r>",
        &[
            "<#/e/2> <#v> \"3\"^^<xsd:integer>",
            &format!("<#/e/1> {rownum} \"2\"^^<xsd:integer>"),
        ],
    );
    assert_eq!(report.tables[0].rows, 3);
    check(
        "trees.xml",
        "<trees version=\"1\"><tree><name>Oak</name><empty/></tree></trees>",
        &[
            "<#/tree/0> <rdfs:label> \"Oak\"",
            &format!("<#/tree/0> {rownum} \"1\"^^<xsd:integer>"),
            "<> <#version> \"1\"^^<xsd:integer>",
        ],
    );
    check(
        "trees.xml",
        "<r><s><o n=\"1\"/><o n=\"2\"/></s><s><o n=\"3\"/></s></r>",
        &["<#/s/1/o/0> <#n> \"3\"^^<xsd:integer>"],
    );
    let (triples, _) = read(
        "trees.xml",
        "<r><list><t><a>1</a></t><t><a>2</a></t></list></r>",
    );
    assert!(
        triples
            .iter()
            .any(|triple| triple == "<#/list/t/1> <#a> \"2\"^^<xsd:integer>"),
        "{triples:?}"
    );
}

#[test]
fn deep_and_large_values_are_refused() {
    let (_, report) = read(
        "a.json",
        &format!("[{}{}]", "[".repeat(100), "]".repeat(100)),
    );
    assert!(report.outcome.is_failure(), "{report:?}");
    let (_, report) = read(
        "a.xml",
        &format!("<a>{}{}</a>", "<b>".repeat(100), "</b>".repeat(100)),
    );
    assert!(report.outcome.is_failure(), "{report:?}");
    let (_, report) = read("a.json", &format!("[\"{}\"]", "x".repeat(40 << 20)));
    assert!(report.outcome.is_failure(), "{report:?}");
}

#[test]
fn tables_in_archives_and_streams() {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, content) in [
        ("trees.csv", &b"name,height\noak,21\n"[..]),
        (
            "elm.nt",
            b"<http://e.org/d#elm> <http://e.org/d#height> \"18\" .\n",
        ),
        ("README.txt", b"a, b\nc, d\ne, f\ng, h\n"),
    ] {
        let mut header = tar::Header::new_ustar();
        header.set_size(content.len() as u64);
        header.set_cksum();
        archive
            .append_data(&mut header, name, content)
            .expect("in memory");
    }
    let bytes = archive.into_inner().expect("in memory");
    let mut sink = Collected::default();
    let reports = DumpReader::default().with_tables(&Tables).read(
        bytes.as_slice(),
        "dump.tar",
        "http://e.org/d",
        &mut sink,
    );
    assert_eq!(reports.len(), 2, "{reports:?}");
    assert_eq!(reports[0].tables[0].rows, 1);
    assert!(
        reports[1].tables.is_empty() && reports[1].triples == 1,
        "{reports:?}"
    );
}

#[test]
fn members_of_archives_have_their_own_entities() {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, content) in [
        ("trees.csv", &b"name,height\noak,21\n"[..]),
        ("old/birds 1.csv", b"name,wings\nrobin,2\n"),
        ("elms.json", b"[{\"name\": \"elm\"}]"),
    ] {
        let mut header = tar::Header::new_ustar();
        header.set_size(content.len() as u64);
        header.set_cksum();
        archive
            .append_data(&mut header, name, content)
            .expect("in memory");
    }
    let bytes = archive.into_inner().expect("in memory");
    let mut sink = Collected::default();
    let reader = DumpReader::default().with_tables(&Tables);
    reader.read(bytes.as_slice(), "d.tar", "http://e.org/d", &mut sink);
    for expected in [
        "<!trees.csv#row=2> <!trees.csv#name> \"oak\"",
        "<!old/birds%201.csv#row=2> <!old/birds%201.csv#name> \"robin\"",
        "<!elms.json#/0> <!elms.json#name> \"elm\"",
    ] {
        assert!(sink.0.iter().any(|found| found == expected), "{:?}", sink.0);
    }
}

#[test]
fn cubes_of_json_stat() {
    let text = r#"{"version": "2.0", "class": "dataset", "label": "Trees planted", "source": "park office",
        "id": ["year", "kind"], "size": [2, 2], "value": [5, null, 7.5, 0],
        "dimension": {
            "year": {"label": "Year", "category": {"index": ["2023", "2024"]}},
            "kind": {"category": {"index": {"e": 1, "o": 0}, "label": {"o": "oak", "e": "elm"}}}}}"#;
    let report = check(
        "trees.json",
        text,
        &[
            "<> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://purl.org/linked-data/cube#DataSet>",
            "<> <rdfs:label> \"Trees planted\"",
            "<> <rdfs:comment> \"park office\"",
            "<#Year> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://purl.org/linked-data/cube#DimensionProperty>",
            "<#value> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://purl.org/linked-data/cube#MeasureProperty>",
            "<#row=3> <#kind> \"oak\"",
            "<#row=3> <#value> \"7.5\"^^<xsd:decimal>",
            "<#row=4> <#kind> \"elm\"",
            "<#row=4> <http://purl.org/linked-data/cube#dataSet> <>",
        ],
    );
    let facts = &report.tables[0];
    assert_eq!(
        (&*facts.format, facts.rows, facts.columns),
        ("JSON-stat", 3, 3)
    );
    let exponent = text.replace("7.5", "75e-1");
    check(
        "trees.json",
        &exponent,
        &[
            "<#row=2> <#value> \"5\"^^<xsd:double>",
            "<#row=3> <#value> \"75e-1\"^^<xsd:double>",
            "<#row=3> <#Year> \"2024\"^^<xsd:integer>",
        ],
    );
    let equal = text.replace("\"e\": \"elm\"", "\"e\": \"oak\"");
    check(
        "trees.json",
        &equal,
        &[
            "<#row=3> <#kind> \"oak (o)\"",
            "<#row=4> <#kind> \"oak (e)\"",
        ],
    );
    let broken = text.replace("[2, 2]", "[2, 3]");
    let (_, report) = read("trees.json", &broken);
    assert_eq!(report.outcome, Outcome::Refused);
    assert!(
        report.problems[0]
            .message
            .contains("kind has 2 categories and the size 3"),
        "{:?}",
        report.problems
    );
}

#[test]
fn cubes_of_json_stat_in_any_order_and_version() {
    let numbers: Vec<String> = (0..60_000).map(|number| number.to_string()).collect();
    let codes: Vec<String> = numbers
        .iter()
        .map(|number| format!("\"c{number}\""))
        .collect();
    let (numbers, codes) = (numbers.join(", "), codes.join(","));
    let dimension = format!(r#""dimension": {{"kind": {{"category": {{"index": [{codes}]}}}}}}"#);
    let shape = r#""id": ["kind"], "size": [60000]"#;
    let class = r#""version": "2.0", "class": "dataset""#;
    for text in [
        format!("{{{class}, \"value\": [{numbers}], {shape}, {dimension}}}"),
        format!("{{\"value\": [{numbers}], {shape}, {dimension}, {class}}}"),
        format!("{{{class}, {dimension}, \"value\": [{numbers}], {shape}}}"),
    ] {
        let report = check("a.json", &text, &["<#row=60001> <#kind> \"c59999\""]);
        assert_eq!(&*report.tables[0].format, "JSON-stat");
    }
    // Lists of objects are no numbers, and are read one by one.
    let objects = vec![r#"{"name": "oak"}"#; 20_000].join(",");
    let report = check(
        "a.json",
        &format!("{{\"value\": [{objects}]}}"),
        &["<#/value/19999> <rdfs:label> \"oak\""],
    );
    assert_eq!(&*report.tables[0].format, "JSON");
    let part = r#""value": [5], "dimension": {"kind": {"category": {"label": {"o": "oak"}}}"#;
    let old = format!(r#"{{"parks": {{{part}, "id": ["kind"], "size": [1]}}}}}}"#);
    check("a.json", &old, &["<#row=2> <#kind> \"oak\""]);
    let item = format!(r#"{{{class}, "label": "Parks", "id": ["kind"], "size": [1], {part}}}}}"#);
    let other = item.replace("oak", "elm");
    let report = check(
        "a.json",
        &format!(
            r#"{{"class": "collection", "version": "2.0", "link": {{"item": [{item}, {other}, {{"class": "dataset", "href": "b.json"}}]}}}}"#
        ),
        &[
            "<#Parks/row=2> <#Parks/kind> \"oak\"",
            "<#Parks%20%282%29/row=2> <#Parks%20%282%29/kind> \"elm\"",
        ],
    );
    assert!(
        report.problems[0]
            .message
            .ends_with("which are not read: 1"),
        "{:?}",
        report.problems
    );
}

#[test]
fn statuses_and_units_of_json_stat_are_attributes() {
    let text = r#"{"version": "2.0", "class": "dataset", "id": ["of"], "size": [3], "value": [5, 7.5, null],
        "status": {"1": "p", "2": "c"}, "extension": {"status": {"label": {"p": "provisional"}}},
        "dimension": {"of": {"category": {"index": ["h", "m", "x"], "unit": {"h": {"label": "metres"}, "m": {"symbol": "kg"}}}}}}"#;
    let report = check(
        "a.json",
        text,
        &[
            "<#row=2> <#unit> \"metres\"",
            "<#row=3> <#unit> \"kg\"",
            "<#row=3> <#status> \"provisional\"",
            "<#status> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://purl.org/linked-data/cube#AttributeProperty>",
        ],
    );
    assert_eq!(
        report.problems[0].message,
        "status codes of cells without a value, which are left out: 1"
    );
}

#[test]
fn cubes_of_sdmx_csv() {
    check(
        "trees.csv",
        "DATAFLOW,KIND,TIME_PERIOD,OBS_VALUE,OBS_STATUS\nPARK:TREES(1.0),oak,2023,5,A\nPARK:TREES(1.0),elm,2024,7,A\n",
        &[
            "<> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://purl.org/linked-data/cube#DataSet>",
            "<#KIND> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://purl.org/linked-data/cube#DimensionProperty>",
            "<#OBS_STATUS> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://purl.org/linked-data/cube#AttributeProperty>",
            "<#row=2> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://purl.org/linked-data/cube#Observation>",
        ],
    );
}
