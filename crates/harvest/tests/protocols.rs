//! Harvests by protocols other than DCAT feeds and CKAN, from servers on loopback that page, fail, lie and change.

mod loopback;

use lodeseek_catalog::DatasetId;
use lodeseek_harvest::{
    Batch, DatasetSink, Downloads, HarvestOptions, HarvestProtocol, HarvestReport, Harvester,
    StoreOutcome,
};
use lodeseek_net::egress::{Egress, EgressPolicy};
use loopback::{Asked, Heap, Portal, Reply, again, counted, folder, harvest, id, options};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const PREFIXES: &str =
    "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .\n";

fn described(number: usize, title: &str) -> String {
    format!("<http://e.org/set/s{number}> a dcat:Dataset ; dct:title \"{title} {number}\" .\n")
}

fn xml(body: impl Into<Vec<u8>>) -> Reply {
    Reply::new(200, "text/xml", body)
}

fn html() -> Reply {
    Reply::new(
        200,
        "text/html",
        "<!doctype html><html><p>Down for maintenance</html>",
    )
}

/// Reasons of all failures.
fn reasons(report: &HarvestReport) -> String {
    let failed = report.sources.iter().flat_map(|source| &source.failed);
    failed
        .map(|failure| format!("{}: {}\n", failure.what, failure.reason))
        .collect()
}

/// A repository: records by number with title and day of the last change, or deleted ones.
#[derive(Default)]
struct Repository {
    records: BTreeMap<usize, (String, u32, bool)>,
    day: u32,
    rows: usize,
    /// Value of `deletedRecord`.
    deleted: &'static str,
    /// Reply in the place of the page with this offset, once for each number of `times`.
    fault: Option<(usize, Fault)>,
    expired: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    ExpiredToken,
    SameToken,
    Html,
    Cut,
}

impl Repository {
    fn with_records(count: usize) -> Self {
        Self {
            records: (0..count)
                .map(|number| (number, (format!("Record {number}"), 1, false)))
                .collect(),
            day: 2,
            rows: 50,
            deleted: "persistent",
            ..Self::default()
        }
    }

    fn put(&mut self, number: usize, title: &str, is_deleted: bool) {
        self.day += 3;
        self.records
            .insert(number, (title.to_owned(), self.day, is_deleted));
    }

    fn answer(&mut self, asked: &Asked) -> Reply {
        let envelope = |inner: &str, day: u32| {
            xml(format!(
                "<?xml version=\"1.0\"?><OAI-PMH xmlns=\"http://www.openarchives.org/OAI/2.0/\"><responseDate>2026-01-{day:02}T12:00:00Z</responseDate>{inner}</OAI-PMH>"
            ))
        };
        let day = self.day;
        match asked.parameter("verb").as_deref() {
            Some("Identify") => envelope(
                &format!(
                    "<Identify><deletedRecord>{}</deletedRecord><granularity>YYYY-MM-DD</granularity></Identify>",
                    self.deleted
                ),
                day,
            ),
            Some("ListMetadataFormats") => envelope(
                "<ListMetadataFormats><metadataFormat><metadataPrefix>oai_dc</metadataPrefix>\
                 <metadataNamespace>http://www.openarchives.org/OAI/2.0/oai_dc/</metadataNamespace></metadataFormat></ListMetadataFormats>",
                day,
            ),
            Some("ListRecords") => {
                let token = asked.parameter("resumptionToken");
                assert!(
                    token.is_none() || asked.parameter("metadataPrefix").is_none(),
                    "a token excludes all other parameters"
                );
                let (offset, from) = match &token {
                    Some(token) => {
                        let (offset, from) = token.split_once('|').expect("a token");
                        (
                            offset.parse().expect("a number"),
                            from.parse().expect("a day"),
                        )
                    }
                    None => {
                        let from = match asked.parameter("from") {
                            Some(from) => from[8..].parse().expect("a day"),
                            None => 0,
                        };
                        (0, from)
                    }
                };
                match self.fault {
                    Some((place, Fault::ExpiredToken)) if place == offset && self.expired == 0 => {
                        self.expired += 1;
                        return envelope("<error code=\"badResumptionToken\">expired</error>", day);
                    }
                    Some((place, Fault::Html)) if place == offset => return html(),
                    _ => {}
                }
                let listed: Vec<(&usize, &(String, u32, bool))> = self
                    .records
                    .iter()
                    .filter(|(_, (_, changed, _))| *changed >= from)
                    .collect();
                if listed.is_empty() {
                    return envelope("<error code=\"noRecordsMatch\"/>", day);
                }
                let mut inner = String::new();
                for (number, (title, changed, is_deleted)) in
                    listed.iter().skip(offset).take(self.rows)
                {
                    let status = if *is_deleted {
                        " status=\"deleted\""
                    } else {
                        ""
                    };
                    let _ = write!(
                        inner,
                        "<record><header{status}><identifier>oai:e.org:r{number}</identifier><datestamp>2026-01-{changed:02}</datestamp></header>"
                    );
                    if !is_deleted {
                        let _ = write!(
                            inner,
                            "<metadata><dc:dc xmlns:dc=\"http://www.openarchives.org/OAI/2.0/oai_dc/\" xmlns:e=\"http://purl.org/dc/elements/1.1/\">\
                             <e:title>{title}</e:title><e:type>Dataset</e:type></dc:dc></metadata>"
                        );
                    }
                    inner += "</record>";
                }
                let end = offset + self.rows;
                if end < listed.len() {
                    let next = if self.fault == Some((offset, Fault::SameToken)) {
                        offset
                    } else {
                        end
                    };
                    let _ = write!(inner, "<resumptionToken>{next}|{from}</resumptionToken>");
                }
                let reply = envelope(&format!("<ListRecords>{inner}</ListRecords>"), day);
                match self.fault {
                    Some((place, Fault::Cut)) if place == offset => reply.cut_at(2_000),
                    _ => reply,
                }
            }
            _ => envelope("<error code=\"badVerb\">Illegal verb</error>", day),
        }
    }
}

fn repository(repository: Repository) -> (Portal, Arc<Mutex<Repository>>) {
    let shared = Arc::new(Mutex::new(repository));
    let served = Arc::clone(&shared);
    let portal = Portal::start(move |asked| served.lock().expect("unharmed").answer(asked));
    (portal, shared)
}

#[test]
fn a_repository_is_read_to_its_end_and_then_by_changes() {
    let (portal, shared) = repository(Repository::with_records(230));
    let (folder, mut heap) = (folder(), Heap::default());
    // The address alone shows the protocol: the response is an error of OAI-PMH.
    let report = again(&portal, "/oai", &folder, &mut heap);
    assert!(report.is_clean(), "{}", reasons(&report));
    assert_eq!((counted(&report), heap.titles.len()), ([230, 0, 0, 0], 230));
    assert_eq!(report.sources[0].form.as_deref(), Some("oai-pmh"));
    portal.asked();
    let report = again(&portal, "/oai", &folder, &mut heap);
    assert!(report.is_clean(), "{}", reasons(&report));
    assert_eq!(
        (counted(&report), portal.asked().len() < 9),
        ([0, 0, 230, 0], true)
    );
    {
        let mut repository = shared.lock().expect("unharmed");
        repository.put(7, "Changed", false);
        repository.put(8, "", true);
        repository.put(400, "New", false);
    }
    let report = again(&portal, "/oai", &folder, &mut heap);
    assert!(report.is_clean(), "{}", reasons(&report));
    assert_eq!(counted(&report), [1, 1, 228, 1]);
    assert_eq!(heap.removed, [id("r8")]);
    assert_eq!(
        (heap.titles[&id("r7")].as_str(), heap.titles.len()),
        ("Changed", 230)
    );
    assert!(portal.asked().iter().any(|path| path.contains("from=")));
}

#[test]
fn a_repository_without_deletions_is_read_whole() {
    let (portal, shared) = repository(Repository {
        deleted: "no",
        ..Repository::with_records(60)
    });
    let (folder, mut heap) = (folder(), Heap::default());
    again(&portal, "/oai?verb=Identify", &folder, &mut heap);
    shared.lock().expect("unharmed").records.remove(&5);
    let report = again(&portal, "/oai?verb=Identify", &folder, &mut heap);
    assert!(report.is_clean(), "{}", reasons(&report));
    assert_eq!((counted(&report), heap.removed.len()), ([0, 0, 59, 1], 1));
    let reason = report.sources[0]
        .complete_reason
        .as_deref()
        .unwrap_or_default();
    assert!(reason.contains("deletedRecord"), "{reason}");
}

#[test]
fn a_list_that_breaks_off_removes_nothing() {
    for (fault, is_whole, reason) in [
        (Fault::ExpiredToken, true, ""),
        (Fault::SameToken, false, "paging loop"),
        (Fault::Html, false, "a page without a description"),
        (Fault::Cut, false, ""),
    ] {
        let (portal, shared) = repository(Repository {
            deleted: "transient",
            ..Repository::with_records(230)
        });
        let (folder, mut heap) = (folder(), Heap::default());
        let path = "/oai?verb=ListRecords&metadataPrefix=oai_dc";
        assert!(again(&portal, path, &folder, &mut heap).is_clean());
        {
            let mut repository = shared.lock().expect("unharmed");
            repository.fault = Some((100, fault));
            repository.records.remove(&3);
        }
        let report = again(&portal, path, &folder, &mut heap);
        assert_eq!(report.is_whole(), is_whole, "{}", reasons(&report));
        assert_eq!(heap.titles.len(), if is_whole { 229 } else { 230 });
        assert!(reasons(&report).contains(reason), "{}", reasons(&report));
    }
}

/// A catalogue service: identifiers and titles of records, and those that spoil every page with them.
#[derive(Default)]
struct Service {
    records: BTreeMap<String, (String, String)>,
    spoiled: BTreeSet<String>,
    cap: usize,
    can_filter: bool,
}

impl Service {
    fn with_records(count: usize) -> Self {
        let record = |number: usize| {
            (
                format!("c{number:03}"),
                (format!("Map {number}"), "2026-01-01".to_owned()),
            )
        };
        Self {
            records: (0..count).map(record).collect(),
            cap: 40,
            can_filter: true,
            ..Self::default()
        }
    }

    fn answer(&self, asked: &Asked) -> Reply {
        let exception = |code: &str| {
            xml(format!(
                "<ows:ExceptionReport xmlns:ows=\"http://www.opengis.net/ows\"><ows:Exception exceptionCode=\"{code}\"><ows:ExceptionText>no</ows:ExceptionText></ows:Exception></ows:ExceptionReport>"
            ))
        };
        match asked.parameter("request").as_deref() {
            Some("GetCapabilities") => xml(
                "<csw:Capabilities xmlns:csw=\"http://www.opengis.net/cat/csw/2.0.2\" version=\"2.0.2\"/>",
            ),
            Some("GetRecords")
                if asked.parameter("outputSchema").as_deref()
                    != Some("http://www.isotc211.org/2005/gmd") =>
            {
                exception("InvalidParameterValue")
            }
            Some("GetRecords") => {
                let since = match asked.parameter("constraint") {
                    Some(_) if !self.can_filter => return exception("OperationNotSupported"),
                    Some(text) => text.split('\'').nth(1).unwrap_or_default().to_owned(),
                    None => String::new(),
                };
                let listed: Vec<_> = self
                    .records
                    .iter()
                    .filter(|(_, (_, date))| *date >= since)
                    .collect();
                let start = asked.number("startPosition").unwrap_or(1);
                let rows = asked.number("maxRecords").unwrap_or(10).min(self.cap);
                let page: Vec<_> = listed.iter().skip(start - 1).take(rows).collect();
                if page.iter().any(|(name, _)| self.spoiled.contains(*name)) {
                    return exception("NoApplicableCode");
                }
                let end = start + page.len();
                // Beyond the end, some services start anew.
                let next = match () {
                    () if page.is_empty() => 1,
                    () if end > listed.len() => 0,
                    () => end,
                };
                let mut inner = String::new();
                for (name, (title, date)) in &page {
                    let _ = write!(
                        inner,
                        "<gmd:MD_Metadata xmlns:gmd=\"http://www.isotc211.org/2005/gmd\" xmlns:gco=\"http://www.isotc211.org/2005/gco\">\
                         <gmd:fileIdentifier><gco:CharacterString>{name}</gco:CharacterString></gmd:fileIdentifier><gmd:dateStamp><gco:Date>{date}</gco:Date></gmd:dateStamp>\
                         <gmd:identificationInfo><gmd:MD_DataIdentification><gmd:citation><gmd:CI_Citation><gmd:title><gco:CharacterString>{title}</gco:CharacterString></gmd:title>\
                         </gmd:CI_Citation></gmd:citation></gmd:MD_DataIdentification></gmd:identificationInfo></gmd:MD_Metadata>"
                    );
                }
                let (all, returned) = (listed.len(), page.len());
                xml(format!(
                    "<csw:GetRecordsResponse xmlns:csw=\"http://www.opengis.net/cat/csw/2.0.2\"><csw:SearchStatus timestamp=\"2026-02-05T00:00:00Z\"/>\
                     <csw:SearchResults numberOfRecordsMatched=\"{all}\" numberOfRecordsReturned=\"{returned}\" nextRecord=\"{next}\">{inner}</csw:SearchResults></csw:GetRecordsResponse>"
                ))
            }
            _ => exception("MissingParameterValue"),
        }
    }
}

fn service(service: Service) -> (Portal, Arc<Mutex<Service>>) {
    let shared = Arc::new(Mutex::new(service));
    let served = Arc::clone(&shared);
    let portal = Portal::start(move |asked| served.lock().expect("unharmed").answer(asked));
    (portal, shared)
}

#[test]
fn a_catalogue_service_with_capped_pages() {
    let (portal, shared) = service(Service::with_records(230));
    let (folder, mut heap) = (folder(), Heap::default());
    let report = again(&portal, "/csw", &folder, &mut heap);
    assert!(report.is_clean(), "{}", reasons(&report));
    assert_eq!((counted(&report), heap.titles.len()), ([230, 0, 0, 0], 230));
    assert_eq!(heap.titles[&id("c007")], "Map 7");
    portal.asked();
    let report = again(&portal, "/csw", &folder, &mut heap);
    assert!(report.is_clean(), "{}", reasons(&report));
    let requests = portal.asked().len();
    assert_eq!(
        (counted(&report), requests < 15),
        ([0, 0, 230, 0], true),
        "{requests} requests"
    );
    let new = |title: &str| (title.to_owned(), "2026-02-05".to_owned());
    {
        let mut service = shared.lock().expect("unharmed");
        service.records.insert("c007".to_owned(), new("Changed"));
        service.records.insert("d".to_owned(), new("New"));
    }
    let report = again(&portal, "/csw", &folder, &mut heap);
    assert!(
        report.is_clean() && report.sources[0].not_requested > 200,
        "{report:?}"
    );
    assert_eq!(counted(&report), [1, 1, 229, 0]);
    // The protocol has no deletions: the number of records shows one.
    shared.lock().expect("unharmed").records.remove("c008");
    let report = again(&portal, "/csw", &folder, &mut heap);
    assert!(report.is_clean(), "{}", reasons(&report));
    assert_eq!(
        (counted(&report)[3], heap.removed.as_slice()),
        (1, [id("c008")].as_slice())
    );
}

#[test]
fn a_record_that_spoils_its_page_hides_no_other() {
    let (portal, shared) = service(Service {
        can_filter: false,
        ..Service::with_records(130)
    });
    let (folder, mut heap) = (folder(), Heap::default());
    assert!(again(&portal, "/csw", &folder, &mut heap).is_clean());
    {
        let mut service = shared.lock().expect("unharmed");
        service.spoiled.insert("c077".to_owned());
        service.records.remove("c005");
    }
    let report = again(&portal, "/csw", &folder, &mut heap);
    assert!(!report.is_whole() && heap.removed.is_empty(), "{report:?}");
    assert_eq!(heap.titles.len(), 130, "nothing is removed without proof");
    assert!(
        reasons(&report).contains("NoApplicableCode"),
        "{}",
        reasons(&report)
    );
    assert_eq!(report.unchanged, 128, "all others were read");
}

/// Documents of a FAIR Data Point: a root without a slash, a catalogue, datasets, and distributions of their own.
fn data_point(asked: &Asked, broken: &str) -> Reply {
    let place = asked.header("host").unwrap_or_default();
    let base = format!("http://{place}");
    if asked.path == broken {
        return Reply::status(404);
    }
    let body = match asked.path.as_str() {
        "/" => format!(
            "<{base}> a <http://www.w3.org/ns/ldp#DirectContainer> ; dct:title \"Point\" ; <http://www.w3.org/ns/ldp#contains> <{base}/catalog/green> ."
        ),
        "/catalog/green" => format!(
            "<{base}/catalog/green> a dcat:Catalog ; dct:title \"Green\" ; dct:isPartOf <{base}> ; dcat:dataset <{base}/dataset/a>, <{base}/dataset/b> ;\n\
             <http://www.w3.org/ns/ldp#contains> <{base}/dataset/a>, <{base}/dataset/b> ."
        ),
        path if path.starts_with("/dataset/") => format!(
            "<{base}{path}> a dcat:Dataset ; dct:title \"Set {path}\" ; dcat:distribution <{base}/distribution{path}> ."
        ),
        path if path.starts_with("/distribution/") => format!(
            "<{base}{path}> a dcat:Distribution ; dct:title \"File\" ; dcat:downloadURL <http://e.org/files{path}.ttl> ; dcat:mediaType <https://www.iana.org/assignments/media-types/text/turtle> ."
        ),
        _ => return Reply::status(404),
    };
    Reply::turtle(format!("{PREFIXES}{body}\n"))
}

#[test]
fn documents_that_link_each_other_are_followed() {
    let broken = Arc::new(Mutex::new(String::new()));
    let fault = Arc::clone(&broken);
    let portal = Portal::start(move |asked| data_point(asked, &fault.lock().expect("unharmed")));
    let (folder, mut heap) = (folder(), Heap::default());
    let report = again(&portal, "/", &folder, &mut heap);
    assert!(report.is_clean(), "{}", reasons(&report));
    assert_eq!(
        (counted(&report), report.sources[0].form.as_deref()),
        ([2, 0, 0, 0], Some("linked"))
    );
    // A distribution that cannot be had leaves the dataset as it is.
    "/distribution/dataset/a".clone_into(&mut broken.lock().expect("unharmed"));
    let report = again(&portal, "/", &folder, &mut heap);
    assert_eq!(
        (counted(&report), report.is_whole()),
        ([0, 0, 2, 0], false),
        "{report:?}"
    );
    assert!(
        heap.removed.is_empty() && reasons(&report).contains("404"),
        "{report:?}"
    );
    "/dataset/b".clone_into(&mut broken.lock().expect("unharmed"));
    let report = again(&portal, "/", &folder, &mut heap);
    assert!(!report.is_whole() && heap.titles.len() == 2, "{report:?}");
}

#[test]
fn a_truncated_page_leaves_stored_descriptions_as_they_are() {
    let dataset = |name: &str, title: &str| {
        format!(
            "<http://e.org/{name}> a dcat:Dataset ; dct:title \"{title}\" ; dcat:keyword \"k\" .\n"
        )
    };
    let page = format!("{PREFIXES}{}{}", dataset("a", "Elms"), dataset("b", "Oaks"));
    let shared = Arc::new(Mutex::new(page.clone()));
    let served = Arc::clone(&shared);
    let portal = Portal::start(move |_| Reply::turtle(served.lock().expect("unharmed").clone()));
    let (folder, mut heap) = (folder(), Heap::default());
    let report = again(&portal, "/feed.ttl", &folder, &mut heap);
    assert_eq!(counted(&report), [2, 0, 0, 0], "{}", reasons(&report));
    // The cut is within the new dataset; what follows could describe the first one.
    let cut = format!("{PREFIXES}{}{}", dataset("a", "El"), dataset("c", "Firs"));
    shared
        .lock()
        .expect("unharmed")
        .clone_from(&cut[..cut.len() - 9].to_owned());
    let report = again(&portal, "/feed.ttl", &folder, &mut heap);
    assert!(!report.is_whole() && heap.removed.is_empty(), "{report:?}");
    assert!(
        heap.titles.values().any(|title| title == "Elms"),
        "{:?}",
        heap.titles
    );
    assert!(
        report.sources[0]
            .problems
            .iter()
            .any(|problem| problem.contains("truncated")),
        "{:?}",
        report.sources[0].problems
    );
    shared.lock().expect("unharmed").clone_from(&page);
    let report = again(&portal, "/feed.ttl", &folder, &mut heap);
    assert!(report.is_whole(), "{}", reasons(&report));
}

/// Returns the rows of one variable in JSON: type and text of each value.
fn json_rows(variable: &str, values: &[(&str, String)]) -> Reply {
    let bindings: Vec<serde_json::Value> = values
        .iter()
        .map(|(kind, text)| serde_json::json!({variable: {"type": kind, "value": text}}))
        .collect();
    Reply::new(
        200,
        "application/sparql-results+json",
        serde_json::json!({"head": {"vars": [variable]}, "results": {"bindings": bindings}})
            .to_string(),
    )
}

/// Returns the rows of one variable in XML: element and text of each value.
fn xml_rows(variable: &str, values: &[(&str, String)]) -> Reply {
    let rows: String = values
        .iter()
        .map(|(kind, text)| {
            format!(
                "<result><binding name=\"{variable}\"><{kind}>{text}</{kind}></binding></result>"
            )
        })
        .collect();
    Reply::new(
        200,
        "application/sparql-results+xml",
        format!(
            "<sparql xmlns=\"http://www.w3.org/2005/sparql-results#\"><head><variable name=\"{variable}\"/></head><results>{rows}</results></sparql>"
        ),
    )
}

/// Writer of the rows of one variable.
type RowWriter = fn(&str, &[(&str, String)]) -> Reply;

/// An endpoint that cuts descriptions at 10,001 triples without notice.
fn endpoint(asked: &Asked, datasets: usize, triples: usize) -> Reply {
    endpoint_in(asked, datasets, triples, json_rows)
}

/// The same endpoint with rows in another format.
fn endpoint_in(asked: &Asked, datasets: usize, triples: usize, rows: RowWriter) -> Reply {
    let query: String = form_urlencoded::parse(asked.body.as_bytes())
        .find(|(name, _)| name == "query")
        .map(|(_, query)| query.into_owned())
        .unwrap_or_default();
    let iri = |number: usize| format!("http://e.org/d{number:04}");
    if query.contains("COUNT(") {
        let count = if query.contains("GRAPH") { 0 } else { datasets };
        return rows("count", &[("literal", count.to_string())]);
    }
    if query.contains("CONSTRUCT") {
        let values = query.split("VALUES").nth(1).unwrap_or_default();
        let mut lines = Vec::new();
        for number in (0..datasets).filter(|number| values.contains(&format!("<{}>", iri(*number))))
        {
            let node = iri(number);
            lines.push(format!("<{node}> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://www.w3.org/ns/dcat#Dataset> ."));
            lines.push(format!(
                "<{node}> <http://purl.org/dc/terms/title> \"Title {number}\" ."
            ));
            let keywords = (2..triples)
                .map(|word| format!("<{node}> <http://www.w3.org/ns/dcat#keyword> \"k{word}\" ."));
            lines.extend(keywords);
        }
        lines.truncate(10_001);
        return Reply::new(200, "application/n-triples", lines.join("\n") + "\n");
    }
    let last = query.split('"').nth(1).unwrap_or_default().to_owned();
    let page: Vec<(&str, String)> = (0..datasets)
        .map(iri)
        .filter(|one| *one > last)
        .take(100)
        .map(|one| ("uri", one))
        .collect();
    rows("dataset", &page)
}

#[test]
fn an_endpoint_may_answer_in_xml() {
    let portal = Portal::start(|asked| endpoint_in(asked, 120, 5, xml_rows));
    let (folder, mut heap) = (folder(), Heap::default());
    let report = again(&portal, "/sparql", &folder, &mut heap);
    assert!(report.is_clean(), "{}", reasons(&report));
    assert_eq!(counted(&report), [120, 0, 0, 0]);
}

#[test]
fn invalid_iris_of_datasets_are_reported() {
    let portal = Portal::start(|asked| {
        endpoint_in(asked, 1, 5, |variable, values| {
            let invalid = values
                .iter()
                .map(|(kind, text)| (*kind, text.replace("d0000", "d 0000")))
                .collect::<Vec<_>>();
            json_rows(variable, &invalid)
        })
    });
    let report = again(&portal, "/sparql", &folder(), &mut Heap::default());
    assert!(!report.is_whole(), "{report:?}");
    assert!(
        reasons(&report).contains("IRIs of datasets that are not valid: 1"),
        "{}",
        reasons(&report)
    );
}

#[test]
fn a_catalogue_in_an_endpoint_is_read_in_spite_of_its_limits() {
    let portal = Portal::start(|asked| endpoint(asked, 250, 151));
    let (folder, mut heap) = (folder(), Heap::default());
    let report = again(&portal, "/sparql", &folder, &mut heap);
    assert!(report.is_clean(), "{}", reasons(&report));
    assert_eq!((counted(&report), heap.titles.len()), ([250, 0, 0, 0], 250));
    assert_eq!(report.sources[0].form.as_deref(), Some("sparql"));
    let report = again(&portal, "/sparql", &folder, &mut heap);
    assert_eq!(counted(&report), [0, 0, 250, 0], "{}", reasons(&report));
}

#[test]
fn a_dataset_larger_than_the_limit_is_a_failure() {
    let portal = Portal::start(|asked| endpoint(asked, 2, 20_000));
    let report = harvest(
        &portal,
        "/sparql",
        folder().path(),
        &mut Heap::default(),
        options(),
    );
    assert!(
        !report.is_whole() && reasons(&report).contains("may be cut"),
        "{}",
        reasons(&report)
    );
    let portal = Portal::start(|asked| endpoint(asked, 0, 0));
    let report = harvest(
        &portal,
        "/sparql",
        folder().path(),
        &mut Heap::default(),
        options(),
    );
    assert!(
        reasons(&report).contains("describes no dcat:Dataset"),
        "{}",
        reasons(&report)
    );
}

#[test]
fn a_sitemap_leads_to_pages_with_datasets() {
    let modified = Arc::new(Mutex::new("2026-01-01".to_owned()));
    let shared = Arc::clone(&modified);
    let portal = Portal::start(move |asked| {
        let base = format!("http://{}", asked.header("host").unwrap_or_default());
        let page = |name: &str| {
            Reply::new(
                200,
                "text/html",
                format!(
                    "<!doctype html><script type=\"application/ld+json\">{{\"@context\": \"https://schema.org/\", \"@type\": \"Dataset\", \"@id\": \"http://e.org/{name}\", \"name\": \"{name}\", \"description\": \"About {name}\"}}</script>"
                ),
            )
        };
        let sitemap = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";
        match asked.path.as_str() {
            "/sitemap.xml" => xml(format!(
                "<sitemapindex {sitemap}><sitemap><loc>{base}/pages.xml</loc></sitemap></sitemapindex>"
            )),
            "/pages.xml" => {
                let date = shared.lock().expect("unharmed").clone();
                xml(format!(
                    "<urlset {sitemap}><url><loc>{base}/one</loc><lastmod>2026-01-01</lastmod></url><url><loc>{base}/two</loc><lastmod>{date}</lastmod></url>\
                     <url><loc>{base}/about</loc></url><url><loc>{base}/secret</loc></url><url><loc>http://other.example.org/x</loc></url></urlset>"
                ))
            }
            "/one" => page("one"),
            "/two" => page("two"),
            "/about" => html(),
            "/robots.txt" => Reply::new(200, "text/plain", "User-agent: *\nDisallow: /secret\n"),
            _ => Reply::status(500),
        }
    });
    let (folder, mut heap) = (folder(), Heap::default());
    let report = again(&portal, "/sitemap.xml", &folder, &mut heap);
    assert!(report.is_clean(), "{}", reasons(&report));
    assert_eq!(
        (counted(&report), report.sources[0].form.as_deref()),
        ([2, 0, 0, 0], Some("sitemap"))
    );
    assert!(
        report.sources[0]
            .problems
            .join("\n")
            .contains("other hosts"),
        "{report:?}"
    );
    portal.asked();
    "2026-02-01".clone_into(&mut modified.lock().expect("unharmed"));
    let report = again(&portal, "/sitemap.xml", &folder, &mut heap);
    assert_eq!(counted(&report), [0, 0, 2, 0], "{}", reasons(&report));
    let asked = portal.asked();
    assert!(
        asked.contains(&"/two".to_owned()) && !asked.contains(&"/one".to_owned()),
        "{asked:?}"
    );
}

#[test]
fn pages_of_records_and_collections_are_followed() {
    let portal = Portal::start(|asked| {
        let base = format!("http://{}", asked.header("host").unwrap_or_default());
        let record = |number: usize| {
            serde_json::json!({"type": "Feature", "id": format!("f{number}"), "geometry": null,
                "properties": {"type": "dataset", "title": format!("Record {number}")}})
        };
        match asked.path.as_str() {
            // Records in RDF are places without a link to the others.
            "/" if asked
                .header("accept")
                .is_some_and(|accept| accept.contains("ld+json")) =>
            {
                Reply::new(
                    200,
                    "application/ld+json",
                    r#"{"@context": {"s": "http://schema.org/"}, "@id": "http://e.org/", "s:name": "A service"}"#,
                )
            }
            "/" | "/?f=json" => Reply::json(
                &serde_json::json!({"links": [{"rel": "conformance", "href": "/c"}, {"rel": "data", "type": "application/json", "href": format!("{base}/collections")}]}),
            ),
            "/collections" => Reply::json(
                &serde_json::json!({"links": [], "collections": [{"id": "m", "itemType": "record",
                "links": [{"rel": "items", "type": "application/geo+json", "href": format!("{base}/items")}]}]}),
            ),
            path if path.starts_with("/items") => {
                let offset = asked.number("offset").unwrap_or(0);
                let features: Vec<_> = (offset..(offset + 20).min(50)).map(record).collect();
                let next = (offset + 20 < 50).then(|| serde_json::json!({"rel": "next", "href": format!("{base}/items?offset={}", offset + 20)}));
                Reply::json(
                    &serde_json::json!({"type": "FeatureCollection", "features": features, "links": next.into_iter().collect::<Vec<_>>()}),
                )
            }
            "/stac/again" => Reply::json(
                &serde_json::json!({"type": "Catalog", "id": "a", "stac_version": "1.0.0", "links": [{"rel": "child", "href": "/stac/one"}, {"rel": "child", "href": "/stac"}]}),
            ),
            "/stac" => Reply::json(
                &serde_json::json!({"type": "Catalog", "id": "c", "stac_version": "1.0.0", "links": [{"rel": "child", "href": "/stac/one"}, {"rel": "child", "href": "/stac/again"}, {"rel": "item", "href": "/stac/item"}]}),
            ),
            "/stac/one" => Reply::json(
                &serde_json::json!({"type": "Collection", "id": "one", "stac_version": "1.0.0", "description": "One", "license": "CC0-1.0", "extent": {}, "links": []}),
            ),
            _ => Reply::status(404),
        }
    });
    for (path, count, form) in [
        ("/?f=json", 50, "ogc-records"),
        ("/", 50, "ogc-records"),
        ("/stac", 1, "stac"),
    ] {
        let mut heap = Heap::default();
        let report = harvest(&portal, path, folder().path(), &mut heap, options());
        assert!(report.is_clean(), "{}", reasons(&report));
        assert_eq!(
            (heap.titles.len(), report.sources[0].form.as_deref()),
            (count, Some(form))
        );
    }
}

#[test]
fn what_is_no_catalogue_is_named() {
    let portal = Portal::start(|asked| match asked.path.as_str() {
        "/atom" => xml("<feed xmlns=\"http://www.w3.org/2005/Atom\"><title>News</title></feed>"),
        "/menu" => xml(
            "<?xml version=\"1.0\"?><m:menu xmlns:m=\"http://e.org/menu#\"><m:dish>Soup</m:dish></m:menu>",
        ),
        "/roads" => Reply::json(
            &serde_json::json!({"type": "FeatureCollection", "features": [{"type": "Feature", "geometry": null, "properties": {"lanes": 2}}]}),
        ),
        "/item" => Reply::json(
            &serde_json::json!({"type": "Feature", "stac_version": "1.0.0", "id": "i", "properties": {}}),
        ),
        "/nothing" => Reply::json(&serde_json::json!({"@context": {}, "a": 1})),
        "/empty.ttl" => Reply::turtle(format!("{PREFIXES}<http://e.org/c> a dcat:Catalog .")),
        "/half.ttl" => Reply::turtle(format!(
            "{PREFIXES}<http://e.org/c> a dcat:Catalog ; dcat:dataset <http://e.org/set/s1>, <http://e.org/other> .\n{}",
            described(1, "Set")
        )),
        _ => Reply::status(404),
    });
    for (path, reason) in [
        ("/atom", "an Atom feed"),
        (
            "/menu",
            "the root element <menu> of the namespace http://e.org/menu#",
        ),
        ("/roads", "features of GeoJSON that are no records"),
        ("/item", "an item of STAC"),
        ("/nothing", "JSON without a statement"),
        ("/empty.ttl", "it lists no dataset (read as dcat)"),
    ] {
        let mut heap = Heap::default();
        let report = harvest(&portal, path, folder().path(), &mut heap, options());
        assert!(
            heap.titles.is_empty() && !report.is_clean(),
            "{path}: {report:?}"
        );
        assert!(
            reasons(&report).contains(reason),
            "{path}: {}",
            reasons(&report)
        );
        assert!(
            !reasons(&report).contains("/files/"),
            "{path}: {}",
            reasons(&report)
        );
    }
    let report = harvest(
        &portal,
        "/half.ttl",
        folder().path(),
        &mut Heap::default(),
        options(),
    );
    assert!(report.is_clean(), "{}", reasons(&report));
    let problems = report.sources[0].problems.join("\n");
    assert!(
        problems.contains("1 datasets are listed and not described"),
        "{problems}"
    );
}

#[test]
fn a_list_that_is_read_as_one_page_removes_nothing() {
    let (portal, shared) = repository(Repository::with_records(60));
    let (folder, mut heap) = (folder(), Heap::default());
    let path = "/oai?verb=ListRecords&metadataPrefix=oai_dc";
    assert!(again(&portal, path, &folder, &mut heap).is_clean());
    shared.lock().expect("unharmed").records.remove(&3);
    let options = HarvestOptions {
        protocol: HarvestProtocol::Pages,
        existing_ids: heap.titles.keys().cloned().collect(),
        ..options()
    };
    let report = harvest(&portal, path, folder.path(), &mut heap, options);
    assert!(
        !report.is_whole() && heap.removed.is_empty(),
        "{}",
        reasons(&report)
    );
}

fn options_of_short_silence() -> HarvestOptions {
    HarvestOptions {
        downloads: Downloads::Content,
        max_silence: Duration::from_millis(300),
        ..options()
    }
}

/// The host accepts connections and sends nothing.
#[test]
fn a_silent_host_is_requested_once() {
    let pause = Duration::from_secs(20);
    let portal = Portal::start(move |asked| match asked.path.as_str() {
        "/feed" => {
            let mut feed = PREFIXES.to_owned();
            for number in 1..4 {
                let _ = writeln!(
                    feed,
                    "{}<http://e.org/set/s{number}> dcat:distribution [ dcat:downloadURL </{number}.nt> ] .",
                    described(number, "Set")
                );
            }
            Reply::turtle(feed)
        }
        "/robots.txt" => Reply::status(404),
        _ => {
            thread::sleep(pause);
            Reply::status(404)
        }
    });
    let (folder, mut heap) = (folder(), Heap::default());
    let started = Instant::now();
    let options = options_of_short_silence();
    let report = harvest(&portal, "/feed", folder.path(), &mut heap, options.clone());
    assert_eq!(
        (heap.titles.len(), report.failed_files.len()),
        (3, 3),
        "{report:#?}"
    );
    for failure in &report.failed_files {
        assert!(
            failure.reason.contains("the host sent nothing"),
            "{failure:?}"
        );
    }
    let asked = portal.asked();
    assert_eq!(
        asked.iter().filter(|path| path.ends_with(".nt")).count(),
        1,
        "{asked:?}"
    );
    let report = harvest(&portal, "/silent", folder.path(), &mut heap, options);
    assert!(
        reasons(&report).contains("the host sent nothing") && heap.removed.is_empty(),
        "{report:#?}"
    );
    assert!(started.elapsed() < pause);
}

#[test]
fn the_operator_may_name_the_protocol() {
    let portal = Portal::start(|_| Reply::turtle(format!("{PREFIXES}{}", described(1, "Set"))));
    for (protocol, is_read) in [
        (HarvestProtocol::Pages, true),
        (HarvestProtocol::OaiPmh, false),
        (HarvestProtocol::Csw, false),
        (HarvestProtocol::Sitemap, false),
        (HarvestProtocol::Sparql, false),
    ] {
        let options = HarvestOptions {
            protocol,
            ..options()
        };
        let report = harvest(
            &portal,
            "/x",
            folder().path(),
            &mut Heap::default(),
            options,
        );
        assert_eq!(
            report.is_clean(),
            is_read,
            "{protocol}: {}",
            reasons(&report)
        );
    }
}

/// Pages of a DCAT-AP Feed: events by number with kind, entity and title; two pages.
fn feed_page(asked: &Asked, events: &[(&str, &str, &str)], has_policy: bool) -> Reply {
    let base = format!("http://{}/feed", asked.header("host").unwrap_or_default());
    let mut text = format!(
        "{PREFIXES}@prefix ldes: <https://w3id.org/ldes#> . @prefix tree: <https://w3id.org/tree#> . @prefix as: <https://www.w3.org/ns/activitystreams#> .\n\
         <{base}#s> a ldes:EventStream ; ldes:timestampPath as:published ; ldes:versionOfPath as:object ; tree:view <{base}> .\n"
    );
    if has_policy {
        let _ = writeln!(
            text,
            "<{base}> tree:viewDescription [ ldes:retentionPolicy [ a ldes:LatestVersionSubset ] ] ."
        );
    }
    let page = match asked.path.as_str() {
        "/feed" => {
            let _ = writeln!(
                text,
                "<{base}> tree:relation [ tree:node <{base}/1> ], [ tree:node <{base}/0> ] ."
            );
            return Reply::new(200, "application/trig", text).tagged(asked);
        }
        "/feed/0" => 0,
        "/feed/1" => 1,
        _ => return Reply::status(404),
    };
    for (number, (kind, entity, title)) in events
        .iter()
        .enumerate()
        .filter(|(number, _)| number % 2 == page)
    {
        let _ = writeln!(
            text,
            "<{base}#s> tree:member <{base}/e{number}> . <{base}/e{number}> a as:{kind} ; as:object <http://e.org/{entity}> ; as:published \"2026-01-01T00:00:{number:02}Z\" .\n\
             <{base}/e{number}> {{ <http://e.org/{entity}> a dcat:Dataset ; dct:title \"{title}\" }}"
        );
    }
    Reply::new(200, "application/trig", text).tagged(asked)
}

#[test]
fn an_event_stream_is_applied_as_a_whole() {
    let events = Arc::new(Mutex::new(vec![
        ("Create", "one", "One"),
        ("Create", "two", "Two"),
        ("Update", "one", "One again"),
        ("Create", "three", "Three"),
    ]));
    let shared = Arc::clone(&events);
    let portal =
        Portal::start(move |asked| feed_page(asked, &shared.lock().expect("unharmed"), false));
    let (folder, mut heap) = (folder(), Heap::default());
    let report = again(&portal, "/feed", &folder, &mut heap);
    assert!(report.is_clean(), "{}", reasons(&report));
    assert_eq!(
        (counted(&report), report.sources[0].form.as_deref()),
        ([3, 0, 0, 0], Some("ldes"))
    );
    assert_eq!(heap.titles[&id("one")], "One again");
    events
        .lock()
        .expect("unharmed")
        .extend([("Delete", "two", ""), ("Update", "three", "Third")]);
    let report = again(&portal, "/feed", &folder, &mut heap);
    assert!(report.is_clean(), "{}", reasons(&report));
    assert_eq!(
        (counted(&report), heap.removed.as_slice()),
        ([0, 1, 1, 1], [id("two")].as_slice())
    );
}

#[test]
fn a_stream_that_forgets_members_removes_only_what_it_deletes() {
    let state = Arc::new(Mutex::new((
        vec![
            ("Create", "one", "One"),
            ("Create", "two", "Two"),
            ("Create", "three", "Three"),
        ],
        false,
    )));
    let shared = Arc::clone(&state);
    let portal = Portal::start(move |asked| {
        let (events, is_broken) = &*shared.lock().expect("unharmed");
        match asked.path.as_str() {
            "/feed/1" if *is_broken => Reply::status(404),
            _ => feed_page(asked, events, true),
        }
    });
    let (folder, mut heap) = (folder(), Heap::default());
    assert!(again(&portal, "/feed", &folder, &mut heap).is_clean());
    *state.lock().expect("unharmed") =
        (vec![("Update", "one", "New"), ("Delete", "two", "")], true);
    let report = again(&portal, "/feed", &folder, &mut heap);
    assert!(!report.is_whole() && heap.removed.is_empty(), "{report:?}");
    assert_eq!(
        heap.titles[&id("one")],
        "One",
        "a missing page may hold a newer member"
    );
    state.lock().expect("unharmed").1 = false;
    let report = again(&portal, "/feed", &folder, &mut heap);
    assert!(report.is_clean(), "{}", reasons(&report));
    assert_eq!(
        (heap.removed.as_slice(), heap.titles.len()),
        ([id("two")].as_slice(), 2)
    );
    assert_eq!(heap.titles[&id("one")], "New");
}

/// A server whose answers depend on a stage, which begins at 0.
fn staged(
    answer: impl Fn(&Asked, usize) -> Reply + Send + Sync + 'static,
) -> (Portal, Arc<Mutex<usize>>) {
    let stage = Arc::new(Mutex::new(0));
    let shared = Arc::clone(&stage);
    let portal = Portal::start(move |asked| {
        let stage = *shared.lock().expect("unharmed");
        answer(asked, stage)
    });
    (portal, stage)
}

/// Harvests at stage 0, and then at each of the others, which remove none of the datasets.
fn removes_nothing(
    portal: &Portal,
    stage: &Mutex<usize>,
    path: &str,
    datasets: usize,
    stages: usize,
) -> Heap {
    let (folder, mut heap) = (folder(), Heap::default());
    let report = again(portal, path, &folder, &mut heap);
    assert!(report.is_whole(), "{}", reasons(&report));
    assert_eq!(heap.titles.len(), datasets, "{:?}", heap.titles);
    for number in 1..=stages {
        *stage.lock().expect("unharmed") = number;
        let report = again(portal, path, &folder, &mut heap);
        assert!(!report.is_whole(), "stage {number}: {report:?}");
        assert_eq!(heap.titles.len(), datasets, "stage {number}: {report:?}");
    }
    heap
}

#[test]
fn an_empty_page_is_no_end() {
    let (portal, stage) = staged(|asked, stage| {
        let second = format!("{PREFIXES}{}", described(2, "Set"));
        match (asked.path.as_str(), stage) {
            ("/feed", _) => Reply::turtle(format!(
                "{PREFIXES}{}<> <http://www.w3.org/ns/hydra/core#next> </feed?page=2> .",
                described(1, "Set")
            )),
            ("/feed?page=2", 0) => Reply::turtle(second),
            ("/feed?page=2", 1) => Reply::turtle(""),
            ("/feed?page=2", 2) => Reply::turtle("# nothing\n"),
            ("/feed?page=2", 3) => Reply::json(&serde_json::json!([])),
            ("/feed?page=2", 4) => Reply::turtle(second.replace(" .\n", "")),
            _ => Reply::status(404),
        }
    });
    removes_nothing(&portal, &stage, "/feed", 2, 4);
}

#[test]
fn linked_catalogues_have_following_pages() {
    let (portal, stage) = staged(|asked, stage| {
        let page = |number: usize, next: &str| {
            Reply::turtle(format!(
                "{PREFIXES}</c> a dcat:Catalog ; dcat:dataset </d/{number}> . {next}"
            ))
        };
        let next = "<> <http://www.w3.org/ns/hydra/core#next> </c?page=2> .";
        match asked.path.as_str() {
            "/" => Reply::turtle(format!(
                "{PREFIXES}</> a dcat:Catalog ; dcat:catalog </c> ."
            )),
            "/c" => page(1, next),
            "/c?page=2" if stage == 1 => Reply::turtle(""),
            "/c?page=2" => page(2, "").with_header("Link", "</c?page=3>; rel=\"next\""),
            "/c?page=3" => page(3, ""),
            path => match path.strip_prefix("/d/") {
                Some(number) => Reply::turtle(format!(
                    "{PREFIXES}<{path}> a dcat:Dataset ; dct:title \"Set {number}\" ."
                )),
                None => Reply::status(404),
            },
        }
    });
    removes_nothing(&portal, &stage, "/", 3, 1);
}

/// A list of two pages, with a fault in the second one that depends on the stage.
fn faulty_list(asked: &Asked, stage: usize) -> Reply {
    let envelope = |inner: &str, second: u32| {
        xml(format!(
            "<OAI-PMH xmlns=\"http://www.openarchives.org/OAI/2.0/\"><responseDate>2026-01-05T12:0{second}:00Z</responseDate>{inner}</OAI-PMH>"
        ))
    };
    let record = |name: &str| {
        format!(
            "<record><header><identifier>{name}</identifier></header><metadata><dc xmlns=\"http://www.openarchives.org/OAI/2.0/oai_dc/\" \
             xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><dc:title>{name}</dc:title><dc:type>Dataset</dc:type></dc></metadata></record>"
        )
    };
    let token = "<resumptionToken>2</resumptionToken>";
    match asked.parameter("verb").as_deref() {
        Some("Identify") => envelope(
            "<Identify><deletedRecord>persistent</deletedRecord><granularity>YYYY-MM-DDThh:mm:ssZ</granularity></Identify>",
            0,
        ),
        Some("ListRecords") => match (asked.parameter("resumptionToken").is_some(), stage) {
            (false, 5) => envelope("<error code=\"noRecordsMatch\"/>", 9),
            (false, _) => envelope(
                &format!("<ListRecords>{}{token}</ListRecords>", record("a")),
                1,
            ),
            (true, 0) => envelope(&format!("<ListRecords>{}</ListRecords>", record("b")), 2),
            (true, 1) => envelope("<ListRecords></ListRecords>", 2),
            (true, 2) => envelope(
                "<ListIdentifiers><header><identifier>b</identifier></header></ListIdentifiers>",
                2,
            ),
            (true, 3) => envelope("<error code=\"badResumptionToken\"/>", 2),
            (true, _) => Reply::status(404),
        },
        _ => Reply::status(404),
    }
}

#[test]
fn a_list_that_goes_on_with_nothing_removes_nothing() {
    let (portal, stage) = staged(faulty_list);
    let complete = HarvestOptions {
        full_harvest_every: 0,
        ..options()
    };
    let (folder, mut heap) = (folder(), Heap::default());
    let path = "/oai?verb=ListRecords&metadataPrefix=oai_dc";
    for number in 0..=3 {
        *stage.lock().expect("unharmed") = number;
        let report = harvest(&portal, path, folder.path(), &mut heap, complete.clone());
        assert_eq!(report.is_whole(), number == 0, "{}", reasons(&report));
        assert_eq!(heap.titles.len(), 2, "stage {number}: {}", reasons(&report));
    }
}

#[test]
fn a_list_that_restarts() {
    let failures = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&failures);
    let (portal, stage) = staged(move |asked, stage| {
        let mut failures = counted.lock().expect("unharmed");
        let has_token = asked.parameter("resumptionToken").is_some();
        match (has_token, stage, *failures) {
            (true, _, 0) => {
                *failures = 1;
                faulty_list(asked, 3)
            }
            (false, 1, 1) => faulty_list(asked, 5),
            _ => faulty_list(asked, 0),
        }
    });
    let path = "/oai?verb=ListRecords&metadataPrefix=oai_dc";
    let (folder, mut heap) = (folder(), Heap::default());
    let report = again(&portal, path, &folder, &mut heap);
    assert!(
        report.is_clean() && heap.titles.len() == 2,
        "{}",
        reasons(&report)
    );
    portal.asked();
    *failures.lock().expect("unharmed") = 2;
    again(&portal, path, &folder, &mut heap);
    // The first response of the list, before it restarted, had this time.
    let asked = portal.asked();
    assert!(
        asked
            .iter()
            .any(|path| path.contains("from=2026-01-05T11%3A56%3A00Z")),
        "{asked:?}"
    );

    *stage.lock().expect("unharmed") = 1;
    *failures.lock().expect("unharmed") = 0;
    let complete = HarvestOptions {
        full_harvest_every: 0,
        ..options()
    };
    let report = harvest(&portal, path, folder.path(), &mut heap, complete);
    assert!(!report.is_whole() && heap.titles.len() == 2, "{report:?}");
}

#[test]
fn an_endpoint_that_states_an_incomplete_answer() {
    let (portal, stage) = staged(|asked, stage| {
        let reply = endpoint(asked, 3, 4);
        if !asked.body.contains("CONSTRUCT") {
            return reply;
        }
        let only = "<http://e.org/d0000> a <http://www.w3.org/ns/dcat#Dataset> .\n";
        match stage {
            0 => reply,
            1 => Reply::new(206, "text/turtle", only),
            2 => reply.with_header("X-SQL-State", "S1TAT"),
            3 => reply.with_header("X-SPARQL-MaxRows", "4"),
            _ => Reply::turtle(only),
        }
    });
    let heap = removes_nothing(&portal, &stage, "/sparql", 3, 4);
    assert_eq!(heap.titles[&id("d0001")], "Title 1");
}

#[test]
fn an_endpoint_that_accepts_get_only() {
    let portal = Portal::start(|asked| match asked.parameter("query") {
        None => Reply::status(405),
        Some(query) => {
            let body = form_urlencoded::Serializer::new(String::new())
                .append_pair("query", &query)
                .finish();
            endpoint(&asked.with_body(body), 3, 4)
        }
    });
    let report = again(&portal, "/sparql", &folder(), &mut Heap::default());
    assert!(
        report.is_clean() && counted(&report)[0] == 3,
        "{}",
        reasons(&report)
    );
}

#[test]
fn pages_of_a_sitemap_that_robots_txt_forbids_or_that_are_broken() {
    let (portal, stage) = staged(|asked, stage| {
        let base = format!("http://{}", asked.header("host").unwrap_or_default());
        let script = |name: &str| {
            format!(
                "<script type=\"application/ld+json\">{{\"@context\": \"https://schema.org/\", \"@type\": \"Dataset\", \"@id\": \"http://e.org/{name}\", \"name\": \"{name}\"}}</script>"
            )
        };
        let page =
            |scripts: String| Reply::new(200, "text/html", format!("<!doctype html>{scripts}"));
        match asked.path.as_str() {
            "/sitemap.xml" => xml(format!(
                "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>{base}/one</loc><lastmod>2026-01-01</lastmod></url>\
                 <url><loc>{base}/late</loc><lastmod>2026-01-01</lastmod></url><url><loc>{base}/two</loc></url></urlset>"
            )),
            "/one" => page(script("one")),
            "/late" => page(script("late")),
            "/two" if stage == 3 => page(format!(
                "{}<script type=\"application/ld+json\">{{\"@type\": \"Dataset\", &&&</script>",
                script("two")
            )),
            "/two" => page(script("two") + &script("three")),
            "/robots.txt" => Reply::new(
                200,
                "text/plain",
                format!(
                    "User-agent: *\nDisallow: {}\n",
                    if stage == 1 {
                        "/one"
                    } else if stage == 0 {
                        "/late"
                    } else {
                        "/none"
                    }
                ),
            ),
            _ => Reply::status(404),
        }
    });
    let (folder, mut heap) = (folder(), Heap::default());
    for (number, datasets) in [(0, 3), (1, 4), (2, 4)] {
        *stage.lock().expect("unharmed") = number;
        let report = again(&portal, "/sitemap.xml", &folder, &mut heap);
        assert!(report.is_whole() && heap.removed.is_empty(), "{report:?}");
        assert_eq!(heap.titles.len(), datasets, "stage {number}: {report:?}");
        portal.asked();
    }
    *stage.lock().expect("unharmed") = 3;
    let report = again(&portal, "/sitemap.xml", &folder, &mut heap);
    assert!(!report.is_whole() && heap.titles.len() == 4, "{report:?}");
}

#[test]
fn a_sitemap_that_moved_and_is_longer_than_usual() {
    let target = Portal::start(|asked| {
        let base = format!("http://{}", asked.header("host").unwrap_or_default());
        match asked.path.as_str() {
            "/sitemap.xml" => {
                let mut text =
                    "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">".to_owned();
                for number in 0..50_000 {
                    let _ = write!(
                        text,
                        "<url><loc>http://other.example.org/{number}</loc></url>"
                    );
                }
                xml(format!("{text}<url><loc>{base}/one</loc></url></urlset>"))
            }
            "/one" => Reply::turtle(format!("{PREFIXES}{}", described(1, "Set"))),
            _ => Reply::status(404),
        }
    });
    let moved = target.iri("/sitemap.xml");
    let portal = Portal::start(move |_| Reply::status(301).with_header("Location", &moved));
    let egress = Egress::new(EgressPolicy {
        listed: [&portal, &target]
            .map(|portal| portal.iri("/").parse().expect("a prefix"))
            .to_vec(),
        private_networks: vec!["127.0.0.0/8".parse().expect("a network")],
        ..EgressPolicy::default()
    });
    let (folder, mut heap) = (folder(), Heap::default());
    let report = Harvester::new(&egress, folder.path(), "here")
        .with_options(options())
        .run(&[portal.iri("/sitemap.xml")], &mut heap, &|_| ())
        .expect("harvested");
    assert!(report.is_clean() && heap.titles.len() == 1, "{report:?}");
}

#[test]
fn a_change_among_equal_titles_replaces_no_other_dataset() {
    let (portal, stage) = staged(|asked, stage| {
        let set = |text: &str| {
            format!(
                "{PREFIXES}[] a dcat:Dataset ; dct:title \"Same\" ; dct:description \"{text}\" .\n"
            )
        };
        let first = if stage == 0 { "alpha" } else { "gamma" };
        match asked.path.as_str() {
            "/feed" => Reply::turtle(format!(
                "{}<> <http://www.w3.org/ns/hydra/core#next> </feed?page=2> .",
                set(first)
            )),
            "/feed?page=2" if stage == 2 => Reply::status(404),
            "/feed?page=2" => Reply::turtle(set("beta") + &set("delta")),
            _ => Reply::status(404),
        }
    });
    let (folder, mut heap) = (folder(), Heap::default());
    let mut numbers = Vec::new();
    for number in [0, 1, 2, 1] {
        *stage.lock().expect("unharmed") = number;
        let report = again(&portal, "/feed", &folder, &mut heap);
        assert_eq!(heap.titles.len(), 3, "{report:?}");
        numbers.push(counted(&report));
    }
    assert_eq!(
        numbers,
        [[3, 0, 0, 0], [0, 1, 2, 0], [0, 0, 1, 2], [0, 0, 3, 0]]
    );
}

#[test]
fn identifiers_belong_to_their_source() {
    let portal = Portal::start(|asked| {
        let list = |title: &str| {
            Reply::json(&serde_json::json!({"dataset": [{"title": title, "identifier": "1"}]}))
        };
        let record = |name: &str| serde_json::json!({"type": "Feature", "id": "1", "geometry": null, "properties": {"type": "dataset", "title": name}});
        let base = format!("http://{}", asked.header("host").unwrap_or_default());
        match asked.path.as_str() {
            "/a.json" => list("A"),
            "/b.json" => list("B"),
            "/items" => Reply::json(
                &serde_json::json!({"type": "FeatureCollection", "features": [record("One")], "links": [{"rel": "next", "type": "application/geo+json", "href": format!("{base}/more")}]}),
            ),
            "/more" => Reply::json(
                &serde_json::json!({"type": "FeatureCollection", "features": [record("Another")], "links": []}),
            ),
            _ => Reply::status(404),
        }
    });
    let egress = Egress::new(EgressPolicy {
        listed: vec![portal.iri("/").parse().expect("a prefix")],
        private_networks: vec!["127.0.0.0/8".parse().expect("a network")],
        ..EgressPolicy::default()
    });
    let (two, mut heap) = (folder(), Heap::default());
    for expected in [[2, 0, 0, 0], [0, 0, 2, 0]] {
        let options = HarvestOptions {
            existing_ids: heap.titles.keys().cloned().collect(),
            ..options()
        };
        let report = Harvester::new(&egress, two.path(), "here")
            .with_options(options)
            .run(
                &["/a.json", "/b.json"].map(|path| portal.iri(path)),
                &mut heap,
                &|_| (),
            )
            .expect("harvested");
        assert!(report.is_clean(), "{report:?}");
        assert_eq!(counted(&report), expected, "{report:?}");
    }
    assert_eq!(heap.titles.values().collect::<Vec<_>>(), ["A", "B"]);

    let report = again(&portal, "/items", &folder(), &mut Heap::default());
    assert!(
        report.is_whole() && reasons(&report).contains("listed twice"),
        "{report:?}"
    );
}

#[test]
fn an_aggregator_has_equal_numbers_of_several_repositories() {
    let portal = Portal::start(|asked| {
        let record = |host: &str, token: &str| {
            xml(format!(
                "<OAI-PMH xmlns=\"http://www.openarchives.org/OAI/2.0/\"><responseDate>2026-01-05T12:00:00Z</responseDate><ListRecords>\
                 <record><header><identifier>oai:{host}:1</identifier></header><metadata><dc xmlns=\"http://www.openarchives.org/OAI/2.0/oai_dc/\" \
                 xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><dc:title>{host}</dc:title><dc:type>Dataset</dc:type></dc></metadata></record>{token}</ListRecords></OAI-PMH>"
            ))
        };
        match (
            asked.parameter("verb").as_deref(),
            asked.parameter("resumptionToken"),
        ) {
            (Some("ListRecords"), None) => {
                record("a.example.org", "<resumptionToken>2</resumptionToken>")
            }
            (Some("ListRecords"), Some(_)) => record("b.example.org", ""),
            _ => faulty_list(asked, 0),
        }
    });
    let mut heap = Heap::default();
    let report = again(
        &portal,
        "/oai?verb=ListRecords&metadataPrefix=oai_dc",
        &folder(),
        &mut heap,
    );
    assert!(report.is_clean() && heap.titles.len() == 2, "{report:?}");
    assert_eq!(heap.titles[&id("1")], "a.example.org");
}

#[test]
fn a_service_of_the_newest_version_whose_first_record_is_broken() {
    let portal = Portal::start(|asked| {
        let exception = "<ows:ExceptionReport xmlns:ows=\"http://www.opengis.net/ows/2.0\"><ows:Exception exceptionCode=\"NoApplicableCode\"/></ows:ExceptionReport>";
        let is_first_version = asked.parameter("version").as_deref() == Some("2.0.2");
        match asked.parameter("request").as_deref() {
            _ if is_first_version => Reply::new(400, "text/xml", exception),
            Some("GetCapabilities") => xml(
                "<csw:Capabilities xmlns:csw=\"http://www.opengis.net/cat/csw/3.0\" version=\"3.0.0\"/>",
            ),
            _ => {
                let start = asked.number("startPosition").unwrap_or(1);
                let end = 4.min(start + asked.number("maxRecords").unwrap_or(10) - 1);
                if start == 1 {
                    return xml(exception);
                }
                let mut records = String::new();
                for number in start..=end {
                    let _ = write!(
                        records,
                        "<csw:Record xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><dc:identifier>r{number}</dc:identifier><dc:title>Map {number}</dc:title><dc:type>dataset</dc:type></csw:Record>"
                    );
                }
                let next = if end == 4 { 0 } else { end + 1 };
                xml(format!(
                    "<csw:GetRecordsResponse xmlns:csw=\"http://www.opengis.net/cat/csw/3.0\"><csw:SearchStatus timestamp=\"2026-01-01T00:00:00Z\"/>\
                     <csw:SearchResults numberOfRecordsMatched=\"4\" numberOfRecordsReturned=\"{}\" nextRecord=\"{next}\">{records}</csw:SearchResults></csw:GetRecordsResponse>",
                    end + 1 - start
                ))
            }
        }
    });
    let mut heap = Heap::default();
    let report = again(&portal, "/csw?service=CSW", &folder(), &mut heap);
    assert!(
        !report.is_whole() && reasons(&report).contains("record 1:"),
        "{report:?}"
    );
    assert_eq!(heap.titles.len(), 3, "{report:?}");
}

#[test]
fn a_repository_that_refuses_to_list_changes_is_read_completely() {
    let portal = Portal::start(|asked| match asked.parameter("from") {
        Some(_) => xml(
            "<OAI-PMH xmlns=\"http://www.openarchives.org/OAI/2.0/\"><error code=\"badArgument\"/></OAI-PMH>",
        ),
        None => faulty_list(asked, 0),
    });
    let path = "/oai?verb=ListRecords&metadataPrefix=oai_dc";
    let (folder, mut heap) = (folder(), Heap::default());
    for expected in [[2, 0, 0, 0], [0, 0, 2, 0]] {
        let report = again(&portal, path, &folder, &mut heap);
        assert!(report.is_clean(), "{}", reasons(&report));
        assert_eq!(counted(&report), expected, "{report:?}");
    }
}

#[test]
fn the_media_type_states_the_encoding() {
    let page = "<!doctype html><meta charset=\"windows-1252\"><script type=\"application/ld+json\">{\"@context\": \"https://schema.org/\", \"@type\": \"Dataset\", \"name\": \"TITLE\"}</script>";
    let list = "<?xml version=\"1.0\" encoding=\"windows-1252\"?><dc xmlns=\"http://www.openarchives.org/OAI/2.0/oai_dc/\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><dc:title>TITLE</dc:title><dc:type>Dataset</dc:type></dc>";
    for (body, media_type) in [(page, "text/html"), (list, "text/xml")] {
        // "Łódź" in ISO 8859-2 and in UTF-8. The declaration in the document is wrong.
        for (charset, title) in [
            ("; charset=ISO-8859-2", &b"\xa3\xf3d\xbc"[..]),
            ("; Charset=\"utf-8\"", "Łódź".as_bytes()),
            ("; charset=ISO-8859-1", "Łódź".as_bytes()),
        ] {
            let (before, after) = body.split_once("TITLE").expect("a place");
            let bytes = [before.as_bytes(), title, after.as_bytes()].concat();
            let portal = Portal::start(move |_| {
                Reply::new(200, &format!("{media_type}{charset}"), bytes.clone())
            });
            let mut heap = Heap::default();
            let report = again(&portal, "/page", &folder(), &mut heap);
            let titles: Vec<&String> = heap.titles.values().collect();
            assert_eq!(titles, ["Łódź"], "{media_type}{charset}: {report:?}");
        }
    }
}

#[test]
fn a_collection_that_counts_more_records_than_its_pages_have() {
    let (portal, stage) = staged(|asked, stage| {
        let base = format!("http://{}", asked.header("host").unwrap_or_default());
        let page = |names: &[&str], next: Option<&str>| {
            let features: Vec<_> = names
                .iter()
                .map(|name| serde_json::json!({"type": "Feature", "id": name, "geometry": null, "properties": {"type": "dataset", "title": name}}))
                .collect();
            let links: Vec<_> = next
                .iter()
                .map(|path| serde_json::json!({"rel": "next", "type": "application/geo+json", "href": format!("{base}{path}")}))
                .collect();
            Reply::json(
                &serde_json::json!({"type": "FeatureCollection", "features": features, "numberMatched": 3, "links": links}),
            )
        };
        match asked.path.as_str() {
            "/items" if stage == 2 => page(&["a", "b"], None),
            "/items" => page(&["a", "b"], Some("/items?offset=2")),
            _ if stage == 1 => page(&[], None),
            _ => page(&["c"], None),
        }
    });
    removes_nothing(&portal, &stage, "/items", 3, 2);
}

#[test]
fn records_behind_redirects_are_counted() {
    let (portal, stage) = staged(|asked, stage| {
        let base = format!("http://{}", asked.header("host").unwrap_or_default());
        let count = if stage == 0 { 3 } else { 2 };
        let page = |names: &[&str], next: Option<&str>| {
            let features: Vec<_> = names
                .iter()
                .map(|name| serde_json::json!({"type": "Feature", "id": name, "geometry": null, "properties": {"type": "dataset", "title": name}}))
                .collect();
            let links: Vec<_> = next
                .iter()
                .map(|path| serde_json::json!({"rel": "next", "type": "application/geo+json", "href": format!("{base}{path}")}))
                .collect();
            Reply::json(
                &serde_json::json!({"type": "FeatureCollection", "features": features, "numberMatched": count, "links": links}),
            )
        };
        match asked.path.as_str() {
            "/items" => page(&["a"], Some("/items?offset=1")),
            "/items?offset=1" => {
                Reply::status(302).with_header("Location", &format!("{base}/pages/2"))
            }
            "/pages/2" if stage == 0 => page(&["b"], Some("/items?offset=2")),
            "/pages/2" => page(&["b"], None),
            "/items?offset=2" => {
                Reply::status(302).with_header("Location", &format!("{base}/pages/3"))
            }
            _ => page(&["c"], None),
        }
    });
    let (folder, mut heap) = (folder(), Heap::default());
    let report = again(&portal, "/items", &folder, &mut heap);
    assert!(report.is_clean(), "{}", reasons(&report));
    assert_eq!(heap.titles.len(), 3);
    *stage.lock().expect("unharmed") = 1;
    let report = again(&portal, "/items", &folder, &mut heap);
    assert!(report.is_clean(), "{}", reasons(&report));
    assert_eq!((heap.titles.len(), counted(&report)[3]), (2, 1));
}

#[test]
fn the_iri_of_a_distribution_may_be_that_of_its_file() {
    let portal = Portal::start(|asked| match asked.path.as_str() {
        "/" => Reply::turtle(format!(
            "{PREFIXES}</> a dcat:Catalog ; dcat:dataset </d> ."
        )),
        "/d" => Reply::turtle(format!(
            "{PREFIXES}</d> a dcat:Dataset ; dct:title \"D\" ; dcat:distribution </x.csv>, </page>, </described> ."
        )),
        "/x.csv" => Reply::new(200, "text/csv", "a,b\n1,2\n"),
        "/page" => html(),
        "/described" => Reply::turtle(format!(
            "{PREFIXES}</described> a dcat:Distribution ; dct:title \"File\" ."
        )),
        _ => Reply::status(404),
    });
    let mut heap = Heap::default();
    let report = again(&portal, "/", &folder(), &mut heap);
    assert!(report.is_clean() && heap.titles.len() == 1, "{report:?}");
    let problems = &report.sources[0].problems;
    assert_eq!(problems.len(), 2, "{problems:?}");
}

/// Sink that records if the second page is requested while it stores the first one.
struct Slow {
    requests: Receiver<()>,
    timeout: Duration,
    was_requested: Option<bool>,
}

impl DatasetSink for Slow {
    fn store(
        &mut self,
        batch: Batch,
    ) -> Result<Vec<(DatasetId, StoreOutcome)>, Box<dyn Error + Send + Sync>> {
        if self.was_requested.is_none() {
            let requested = self.requests.recv_timeout(self.timeout);
            self.was_requested = Some(requested.is_ok());
        }
        let ids = batch.datasets.into_iter().map(|one| one.metadata.id);
        Ok(ids.map(|id| (id, StoreOutcome::Stored)).collect())
    }

    fn remove(&mut self, ids: &[DatasetId]) -> Result<(), Box<dyn Error + Send + Sync>> {
        panic!("nothing is delisted: {ids:?}");
    }
}

/// Harvests two pages of one dataset each, with batches of one dataset.
fn harvest_slowly(folder: &Path, timeout: Duration) -> (Option<bool>, HarvestReport) {
    let (sender, requests) = channel();
    let portal = Portal::start(move |asked| {
        let dataset = |name: &str| {
            format!(
                "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix hydra: <http://www.w3.org/ns/hydra/core#> .
                 <http://e.org/{name}> a dcat:Dataset ; <http://purl.org/dc/terms/title> \"{name}\" .\n"
            )
        };
        if asked.number("page") == Some(2) {
            sender.send(()).ok();
            Reply::turtle(dataset("b"))
        } else {
            let next = "<?page=1> a hydra:PartialCollectionView ; hydra:next <?page=2> .";
            Reply::turtle(dataset("a") + next)
        }
    });
    let mut sink = Slow {
        requests,
        timeout,
        was_requested: None,
    };
    let options = HarvestOptions {
        batch_size: 1,
        ..options()
    };
    let report = harvest(&portal, "/feed?page=1", folder, &mut sink, options);
    (sink.was_requested, report)
}

#[test]
fn pages_are_requested_while_datasets_are_stored() {
    let folder = folder();
    let (was_requested, report) = harvest_slowly(folder.path(), Duration::from_secs(60));
    assert!(
        was_requested == Some(true) && report.new.len() == 2 && report.sources[0].whole,
        "{was_requested:?} {report:?}"
    );
    assert!(!folder.path().join("here/storing.json").exists());
}

/// After a step that ended the process, one step runs at a time: the next end shows which is at fault.
#[test]
fn after_an_interruption_no_page_is_read_while_datasets_are_stored() {
    let folder = folder();
    let step = r#"{"what": "2 datasets", "content": "unknown", "attempts": 1}"#;
    fs::create_dir_all(folder.path().join("here")).expect("created");
    fs::write(folder.path().join("here/storing.json"), step).expect("written");
    let (was_requested, report) = harvest_slowly(folder.path(), Duration::from_millis(300));
    assert!(
        was_requested == Some(false) && report.new.len() == 2,
        "{was_requested:?} {report:?}"
    );
}
