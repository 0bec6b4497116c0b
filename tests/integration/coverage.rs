//! Areas and periods of datasets: declared and derived, as filters and as facts.

use super::http::Site;
use super::support::{Home, limits, testdata};
use lodeseek_catalog::DatasetId;
use lodeseek_engine::{Coverage, CoverageSource};
use serde_json::{Value, json};

fn home() -> Home {
    Home::from_catalog(&testdata("places/catalog.ttl"))
}

fn site() -> Site {
    Site::from_catalog(&testdata("places/catalog.ttl"), limits())
}

fn ids(answer: &Value) -> Vec<&str> {
    let hits = answer["hits"]
        .as_array()
        .unwrap_or_else(|| panic!("no hits in {answer}"));
    let mut ids: Vec<&str> = hits
        .iter()
        .map(|hit| hit["id"].as_str().expect("an id"))
        .collect();
    ids.sort_unstable();
    ids
}

fn coverage(home: &Home, id: &str) -> Coverage {
    let id = DatasetId::new(id).expect("an id");
    home.searcher()
        .catalog()
        .card(&id)
        .expect("read")
        .expect("a card")
        .coverage
}

/// Returns the area and the period with their sources, as text.
fn described(home: &Home, id: &str) -> (String, String) {
    let coverage = coverage(home, id);
    let place = coverage
        .place
        .map(|place| place.to_string())
        .unwrap_or_default();
    (
        place,
        coverage
            .period
            .map(|period| period.to_string())
            .unwrap_or_default(),
    )
}

#[test]
fn areas_and_periods_survive_the_store() {
    let home = home();
    for (id, place, period) in [
        (
            "belgium",
            "Belgium: 2.5,49.4,6.5,51.6, from metadata (country)",
            "2010..2015, from metadata (dcat:startDate)",
        ),
        (
            "fiji",
            "Fiji: 177,-19.5,-178,-16, from metadata (locn:geometry)",
            "1999-01-01..2001-06-30, from metadata (dct:temporal)",
        ),
        (
            "harbour",
            "10,50,11,51, from metadata (dcat:bbox)",
            "1850..1914, from metadata (time:hasBeginning)",
        ),
        (
            "world",
            "-180,-90,180,90, from metadata (dct:spatial)",
            "2012-06-01.., from metadata (dct:temporal)",
        ),
        (
            "logs",
            "10,54.5,10.5,55, from content (3 positions (wgs84:lat))",
            "1921-05-01..1922-04-04, from content (5 dates)",
        ),
        ("nowhere", "", ""),
    ] {
        assert_eq!(
            described(&home, id),
            (place.to_owned(), period.to_owned()),
            "{id}"
        );
    }
}

#[test]
fn a_changed_place_is_indexed_again() {
    let home = home();
    let folder = tempfile::tempdir().expect("a folder");
    let text = std::fs::read_to_string(testdata("places/catalog.ttl")).expect("read");
    let changed = text.replace("\"-180,-90,180,90\"", "\"0,0,1,1\"");
    std::fs::write(folder.path().join("catalog.ttl"), changed).expect("written");
    std::fs::copy(testdata("places/logs.ttl"), folder.path().join("logs.ttl")).expect("copied");
    home.load(&folder.path().join("catalog.ttl"));
    assert_eq!(home.index().indexed, 1);
    assert_eq!(
        described(&home, "world").0,
        "0,0,1,1, from metadata (dct:spatial)"
    );
}

#[test]
fn positions_of_existing_test_data_are_found() {
    let home = Home::from_catalog(&testdata("catalog.ttl"));
    let place = coverage(&home, "chesapeake-water").place.expect("a place");
    assert_eq!(
        (place.source, place.reason.as_str()),
        (CoverageSource::Content, "3 positions (geo:asWKT)")
    );
    assert_eq!(place.bounds.to_string(), "-76.69,38.96,-75.79,39.66");
}

#[tokio::test]
async fn the_search_filters_by_area_and_period() {
    let site = site();
    let all = ["belgium", "fiji", "harbour", "logs", "nowhere", "world"];
    assert_eq!(ids(&site.get("/api/search?q=ferries").await.json()), all);
    for (filter, expected) in [
        ("within=4,50,5,51", &["belgium", "world"][..]),
        ("within=6.5,51.6,10,52", &["belgium", "world"]),
        ("within=10.2,54,10.3,56", &["logs", "world"]),
        ("within=-179,-18,-178.5,-17", &["fiji", "world"]),
        ("within=170,-20,-170,-10", &["fiji", "world"]),
        ("within=-170,-20,170,-10", &["world"]),
        (
            "within=-180,-90,180,90",
            &["belgium", "fiji", "harbour", "logs", "world"],
        ),
        ("covers=2010..2015", &["belgium", "world"]),
        ("covers=..2001", &["fiji", "harbour", "logs"]),
        ("covers=2016..", &["world"]),
        ("covers=1921-05-02", &["logs"]),
        ("covers=2001-07-01..2009", &[]),
        ("within=4,50,5,51&covers=2011", &["belgium"]),
        ("within=&covers=", &all),
    ] {
        let answer = site
            .get(&format!("/api/search?q=ferries&{filter}"))
            .await
            .json();
        assert_eq!(ids(&answer), expected, "{filter}");
        assert_eq!(answer["total"], expected.len(), "{filter}");
    }
    let hit = site
        .get("/api/search?q=legends+log&within=10,54,11,55")
        .await
        .json()["hits"][0]
        .take();
    let place = json!({ "box": [10.0, 54.5, 10.5, 55.0], "source": "content", "reason": "3 positions (wgs84:lat)" });
    let period = json!({ "first": "1921-05-01", "last": "1922-04-04", "source": "content", "reason": "5 dates" });
    assert_eq!((&hit["place"], &hit["period"]), (&place, &period));
}

#[tokio::test]
async fn wrong_areas_and_periods_are_rejected() {
    let site = site();
    for (filter, part) in [
        ("within=1,2,3", "west,south,east,north"),
        ("within=1,5,3,4", "west,south,east,north"),
        ("within=a,b,c,d", "west,south,east,north"),
        ("covers=2015..2010", "2010..2015"),
        ("covers=sometime", "2010..2015"),
    ] {
        let reply = site.get(&format!("/api/search?q=ferries&{filter}")).await;
        assert_eq!(reply.status.as_u16(), 400, "{filter}");
        let message = reply.json()["error"]
            .as_str()
            .expect("a message")
            .to_owned();
        assert!(message.contains(part), "{message}");
        let page = site.get(&format!("/?q=ferries&{filter}")).await;
        assert_eq!(page.status.as_u16(), 400, "{filter}");
    }
}

#[tokio::test]
async fn the_pages_show_areas_and_periods() {
    let site = site();
    let page = site
        .get("/?q=ferries&within=4,50,5,51&covers=2010..2015&lang=en")
        .await
        .body;
    assert!(
        page.contains("Place: 4,50,5,51") && page.contains("Period: 2010–2015"),
        "{page}"
    );
    assert!(
        page.contains("name=\"place\" type=\"text\"") && page.contains("value=\"4,50,5,51\""),
        "{page}"
    );
    let without_area = "covers=2010..2015";
    let links: Vec<&str> = page
        .split("href=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    let removal = links
        .iter()
        .find(|link| link.contains(without_area) && !link.contains("within="))
        .expect("a link without the area")
        .replace("&#38;", "&")
        .replace("&amp;", "&");
    let rest = site.get(&removal).await.body;
    assert!(
        !rest.contains("Place: 4,50,5,51") && rest.contains("Period: 2010–2015"),
        "{rest}"
    );
    let listed = site
        .get("/?q=&page=0&within=-179,-18,-178.5,-17&lang=en")
        .await
        .body;
    assert!(
        listed.contains("islands of Fiji") && !listed.contains("Ferries of Belgium"),
        "{listed}"
    );
    let dataset = site.get("/dataset/belgium?lang=en&format=html").await.body;
    assert!(
        dataset.contains(">Belgium (from the metadata)</a>"),
        "{dataset}"
    );
    assert!(
        dataset.contains("2010–2015 (from the metadata)")
            && dataset.contains("within=2.5%2C49.4%2C6.5%2C51.6")
    );
    assert!(
        dataset.contains("<title>Map of the area 2.5,49.4,6.5,51.6</title>"),
        "{dataset}"
    );
    let nowhere = site.get("/dataset/nowhere?lang=en&format=html").await.body;
    assert!(
        !nowhere.contains("Map of the area") && !nowhere.contains("Period covered"),
        "{nowhere}"
    );
    let logs = site.get("/dataset/logs?lang=en&format=html").await.body;
    assert!(
        logs.contains("10,54.5,10.5,55 (from the content)"),
        "{logs}"
    );
}

#[tokio::test]
async fn the_form_of_the_page_sends_years() {
    let site = site();
    for (years, covers) in [
        ("from=2010&until=2015", Some("covers=2010..2015")),
        ("from=2010&until=", Some("covers=2010..")),
        ("from=&until=2015&covers=1990", Some("covers=..2015")),
        ("from=&until=&covers=1990", None),
    ] {
        let reply = site
            .get(&format!("/?q=ferries&within=4,50,5,51&{years}&lang=de"))
            .await;
        assert_eq!(reply.status.as_u16(), 303, "{years}");
        let location = reply.header("location");
        assert!(
            location.starts_with("/?q=ferries&within=4%2C50%2C5%2C51")
                && location.contains("lang=de"),
            "{location}"
        );
        let found = location.split('&').find(|part| part.starts_with("covers="));
        assert_eq!(found, covers, "{location}");
    }
    assert_eq!(
        site.get("/?q=ferries&from=often&until=")
            .await
            .status
            .as_u16(),
        303
    );
    assert_eq!(
        site.get("/?q=ferries&covers=often..").await.status.as_u16(),
        400
    );
    let page = site.get("/?q=ferries&covers=2010..2015&lang=en").await.body;
    assert!(
        page.contains("name=\"from\" type=\"number\"") && page.contains("value=\"2010\""),
        "{page}"
    );
    assert!(
        page.contains("name=\"of\" value=\"covered\" checked"),
        "{page}"
    );
    // Years of publication are the same fields.
    let published = site
        .get("/?q=ferries&from=2010&until=&of=published&covers=1990&since=2000")
        .await;
    assert_eq!(published.header("location"), "/?q=ferries&since=2010");
    let place = site.get("/?q=ferries&place=Belgium&within=4,50,5,51").await;
    let location = place.header("location").to_owned();
    assert!(location.starts_with("/?q=ferries&within="), "{location}");
    let named = site.get(&format!("{location}&lang=en")).await.body;
    assert!(
        named.contains("Place: Belgium") && named.contains("value=\"Belgium\""),
        "{named}"
    );
    let none = site.get("/?q=ferries&place=&within=4,50,5,51").await;
    assert_eq!(none.header("location"), "/?q=ferries");
}

#[tokio::test]
async fn an_unknown_place_is_reported_at_its_field() {
    let site = site();
    for query in ["q=ferries", "q=&page=0"] {
        let unknown = site.get(&format!("/?{query}&place=Bayern&lang=de")).await;
        assert_eq!(unknown.status.as_u16(), 400, "{}", unknown.body);
        for part in [
            "„Bayern“ ist kein bekanntes Land",
            "value=\"Bayern\" aria-invalid=\"true\" aria-describedby=\"place-failure\"",
            "placeholder=\"Land oder US-Bundesstaat\"",
            "of Belgium",
        ] {
            assert!(unknown.body.contains(part), "{part}: {}", unknown.body);
        }
    }
}

#[tokio::test]
async fn reversed_years_of_the_form_are_swapped() {
    let site = site();
    let published = site
        .get("/?q=ferries&from=2022&until=2020&of=published")
        .await;
    assert_eq!(
        published.header("location"),
        "/?q=ferries&since=2020&before=2022"
    );
    let covered = site.get("/?q=ferries&from=2022&until=2020").await;
    assert_eq!(covered.header("location"), "/?q=ferries&covers=2020..2022");
}

#[tokio::test]
async fn words_suggest_filters() {
    let site = site();
    let plain = site
        .get("/api/search?q=ferries+Belgium+2010+to+2015&literal=true")
        .await
        .json();
    let found = site
        .get("/api/search?q=ferries+Belgium+2010+to+2015")
        .await
        .json();
    let suggested = json!([
        { "parameter": "within", "value": "2.5,49.4,6.5,51.6", "text": "Belgium", "name": "Belgium", "withWords": 2 },
        { "parameter": "covers", "value": "2010..2015", "text": "2010 to 2015", "withWords": 2 },
    ]);
    assert_eq!(found["suggestedFilters"], suggested);
    assert_eq!(found["hits"], plain["hits"], "words never filter");
    assert!(plain.get("suggestedFilters").is_none());
    let filtered = site
        .get("/api/search?q=ferries+Belgium+2010+to+2015&within=2.5,49.4,6.5,51.6")
        .await
        .json();
    assert_eq!(ids(&filtered), ["belgium", "world"]);
    assert_eq!(filtered["suggestedFilters"], json!([suggested[1]]));
    for query in [
        "ferries+%22Belgium%22+%222010+to+2015%22",
        "ferries+1400",
        "ferries+in+Portugal+before+1800",
    ] {
        let answer = site.get(&format!("/api/search?q={query}")).await.json();
        let portugal = match answer["suggestedFilters"].as_array() {
            Some(filters) => filters.len(),
            None => 0,
        };
        assert_eq!(
            portugal,
            usize::from(query.contains("Portugal")),
            "only the whole world covers it: {answer}"
        );
    }
}

#[tokio::test]
async fn the_page_links_to_suggested_filters() {
    let site = site();
    let address = "/?q=F%C3%A4hren+ferries+Belgien+seit+2016&lang=en";
    let page = site.get(address).await.body;
    let suggestion = page
        .split("class=\"note suggested\"")
        .nth(1)
        .expect("suggestions");
    let suggestion = suggestion.split("</p>").next().expect("its end");
    assert!(
        suggestion.contains("Place: Belgien (2)") && suggestion.contains("Period: 2016– (1)"),
        "{suggestion}"
    );
    let links = suggestion
        .split("href=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next());
    let links: Vec<String> = links
        .map(|link| link.replace("&#38;", "&").replace("&amp;", "&"))
        .collect();
    let filtered = site.get(&links[1]).await.body;
    assert!(
        filtered.contains("/dataset/world") && !filtered.contains("/dataset/belgium"),
        "{filtered}"
    );
    let chips = filtered
        .split("class=\"chips\"")
        .nth(1)
        .expect("the filter, with a link to remove it");
    assert!(
        chips
            .split("</ul>")
            .next()
            .is_some_and(|chips| chips.contains("Period: 2016–")),
        "{chips}"
    );
    let literal = site.get(&format!("{address}&literal=true")).await.body;
    assert!(!literal.contains("note suggested"), "{literal}");
    for lang in ["de", "fr", "es", "it"] {
        let page = site
            .get(&address.replace("lang=en", &format!("lang={lang}")))
            .await
            .body;
        assert!(
            page.contains("note suggested") && !page.contains("suggested-filters"),
            "{page}"
        );
    }
}

#[tokio::test]
async fn sparql_filters_by_area_and_period() {
    let site = site();
    for (parameters, expected) in [
        ("", Ok(6)),
        ("search:within '4,50,5,51' ;", Ok(2)),
        ("search:within '4,50,5,51' ; search:covers '2010' ;", Ok(1)),
        ("search:covers '1921-05-02' ;", Ok(1)),
        ("search:covers 'sometime' ;", Err("2010..2015")),
    ] {
        let query = format!(
            "PREFIX search: <https://w3id.org/lodeseek/search#>
             SELECT ?d {{ SERVICE search:service {{ ?d search:text 'ferries' ; {parameters} search:rank ?rank }} }}"
        );
        let reply = site
            .post("/sparql", "application/sparql-query", &query)
            .await;
        match expected {
            Ok(number) => {
                assert_eq!(
                    reply.json()["results"]["bindings"]
                        .as_array()
                        .expect("rows")
                        .len(),
                    number,
                    "{parameters}"
                );
            }
            Err(part) => assert!(
                reply.status == 400 && reply.body.contains(part),
                "{}",
                reply.body
            ),
        }
    }
}

#[tokio::test]
async fn sparql_computes_with_geometries() {
    let query = "PREFIX geof: <http://www.opengis.net/def/function/geosparql/>
        PREFIX geosparql: <http://www.opengis.net/ont/geosparql#>
        PREFIX uom: <http://www.opengis.net/def/uom/OGC/1.0/>
        PREFIX wgs84: <http://www.w3.org/2003/01/geo/wgs84_pos#>
        SELECT ?entry (ROUND(?metres / 1000) AS ?kilometres) {
          GRAPH ?dataset { ?entry wgs84:lat ?lat ; wgs84:long ?long }
          BIND(STRDT(CONCAT('POINT(', STR(?long), ' ', STR(?lat), ')'), geosparql:wktLiteral) AS ?point)
          BIND(geof:distance(?point, 'POINT(10.135 54.323)'^^geosparql:wktLiteral, uom:metre) AS ?metres)
        } ORDER BY ?metres";
    let site = site();
    let reply = site
        .post("/sparql", "application/sparql-query", query)
        .await
        .json();
    let rows = reply["results"]["bindings"].as_array().expect("rows");
    let text = |row: &Value, name: &str| row[name]["value"].as_str().expect("a value").to_owned();
    let found: Vec<(String, String)> = rows
        .iter()
        .map(|row| {
            (
                text(row, "entry").replace("http://ferries.example/log/", ""),
                text(row, "kilometres"),
            )
        })
        .collect();
    // From Kiel, by the formula of great circles.
    let expected = [("1", "21"), ("2", "53"), ("4", "76"), ("3", "6112")]
        .map(|(a, b)| (a.to_owned(), b.to_owned()));
    assert_eq!(found, expected);

    let description = site.accept("/sparql", "application/n-triples").await.body;
    let listed = "sparql-service-description#extensionFunction> <http://www.opengis.net/def/function/geosparql/distance>";
    assert!(description.contains(listed), "{description}");
}

#[cfg(feature = "rocksdb")]
#[test]
fn the_command_line_filters_and_shows() {
    use super::support::run;
    let folder = home().into_folder();
    let search =
        |arguments: &[&str]| run(folder.path(), &[&["search", "ferries"], arguments].concat());
    let found = search(&["--within", "4,50,5,51", "--covers", "2011"]);
    assert_eq!(found.code, Some(0), "{}", found.err);
    assert!(
        found
            .out
            .contains("1 good match for “ferries” among 6 datasets, with the filters"),
        "{}",
        found.out
    );
    assert!(
        found
            .out
            .contains("area: Belgium: 2.5,49.4,6.5,51.6, from metadata (country)"),
        "{}",
        found.out
    );
    assert!(
        found
            .out
            .contains("dates: 2010..2015, from metadata (dcat:startDate)"),
        "{}",
        found.out
    );
    let south = search(&["--within", "-179,-18,-178.5,-17", "--json"]);
    let answer: Value = serde_json::from_str(&south.out).expect("JSON");
    assert_eq!(ids(&answer), ["fiji", "world"]);
    assert_eq!(search(&["--covers", "2001-07-01..2009"]).code, Some(1));
    let suggested = "suggested filters: --within=2.5,49.4,6.5,51.6 for “Belgium” (2 datasets), --covers=..2001 for “until 2001” (3 datasets)";
    let words = search(&["in", "Belgium", "until", "2001"]).out;
    assert!(
        words.contains(suggested) && words.contains("Ferries of the world"),
        "{words}"
    );
    let literal = search(&["in", "Belgium", "until", "2001", "--literal"]).out;
    assert!(!literal.contains("suggested filters"), "{literal}");
    let wrong = search(&["--within", "1,2,3"]);
    assert!(
        wrong.code == Some(2) && wrong.err.contains("west,south,east,north"),
        "{}",
        wrong.err
    );
    let shown = run(folder.path(), &["show", "logs"]).out;
    assert!(
        shown.contains("area       10,54.5,10.5,55, from content (3 positions (wgs84:lat))"),
        "{shown}"
    );
    assert!(
        shown.contains("dates      1921-05-01..1922-04-04, from content (5 dates)"),
        "{shown}"
    );
}
