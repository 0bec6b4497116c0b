//! The web pages: orders, filters by typed IRIs, languages, errors and empty states.

use super::http::Site;
use super::support::{Home, limits, testdata};
use axum::http::{Method, StatusCode};
use lodeseek_catalog::Catalog;
use lodeseek_engine::{BrowseRequest, DuplicateMode, Filter, ResultOrder, SearchRequest};
use lodeseek_server::{AppState, Branding, Color, Localized, Portal, Theme};
use lodeseek_store::{ContentPlace, LoadOptions, Loader};

/// The ids of the hits on a page, in order.
fn ids(page: &str) -> Vec<String> {
    let links = page.split("<h2><a href=\"/dataset/").skip(1);
    links
        .filter_map(|rest| rest.split(['"', '?']).next())
        .map(str::to_owned)
        .collect()
}

#[test]
fn results_are_sorted_as_requested() {
    let home = Home::from_catalog(&testdata("catalog.ttl"));
    let searcher = home.searcher();
    let found = |order: ResultOrder, skip: usize, depth: usize| {
        let request = SearchRequest {
            order,
            skip,
            depth,
            ..SearchRequest::new("city water data of the register")
        };
        searcher.search(&request).expect("found").hits
    };
    let relevant = found(ResultOrder::Relevance, 0, 100);
    let scores: Vec<_> = relevant.iter().map(|hit| hit.score).collect();
    assert!(
        scores.len() >= 3 && scores.is_sorted_by(|one, other| one >= other),
        "{scores:?}"
    );
    for order in ResultOrder::ALL {
        let hits = found(order, 0, 100);
        assert_eq!(
            hits.len(),
            relevant.len(),
            "{order:?} finds the same datasets"
        );
        let ranks: Vec<usize> = hits.iter().map(|hit| hit.rank).collect();
        assert_eq!(ranks, (1..=hits.len()).collect::<Vec<_>>(), "{order:?}");
        let pages: Vec<_> = [found(order, 0, 3), found(order, 3, 100)].concat();
        let id = |hit: &lodeseek_engine::Hit| hit.card.metadata.id.clone();
        assert_eq!(
            pages.iter().map(id).collect::<Vec<_>>(),
            hits.iter().map(id).collect::<Vec<_>>(),
            "{order:?}"
        );
        let listed = BrowseRequest {
            order,
            depth: 100,
            ..BrowseRequest::default()
        };
        let listed: Vec<_> = searcher
            .catalog()
            .browse(&listed)
            .expect("listed")
            .datasets
            .into_iter()
            .map(|one| one.card)
            .collect();
        for cards in [hits.into_iter().map(|hit| hit.card).collect(), listed] {
            let is_sorted = match order {
                ResultOrder::Relevance => true,
                ResultOrder::Newest => {
                    cards.is_sorted_by(|a, b| a.metadata.first_year() >= b.metadata.first_year())
                }
                ResultOrder::Largest => {
                    cards.is_sorted_by(|a, b| a.profile.triples >= b.profile.triples)
                }
                ResultOrder::Title => cards.is_sorted_by(|a, b| {
                    a.metadata.title().to_lowercase() <= b.metadata.title().to_lowercase()
                }),
            };
            assert!(is_sorted, "{order:?}");
        }
    }
    let grouped = SearchRequest {
        order: ResultOrder::Title,
        duplicates: DuplicateMode::Grouped,
        ..SearchRequest::new("city water")
    };
    assert!(!searcher.search(&grouped).expect("found").hits.is_empty());
}

#[test]
fn a_range_of_years_has_two_ends() {
    let home = Home::from_catalog(&testdata("papers-with-code.json"));
    let searcher = home.searcher();
    let years = |since: Option<i32>, until: Option<i32>| {
        let filter = Filter {
            since,
            until,
            ..Filter::default()
        };
        let request = BrowseRequest {
            filter,
            depth: 100,
            ..BrowseRequest::default()
        };
        let listed = searcher
            .catalog()
            .browse(&request)
            .expect("listed")
            .datasets;
        listed
            .iter()
            .map(|one| one.card.metadata.first_year())
            .collect::<Vec<_>>()
    };
    let all = years(None, None);
    assert!(all.contains(&None), "one dataset has no year");
    for (since, until) in [
        (Some(2018), None),
        (None, Some(2016)),
        (Some(2016), Some(2018)),
        (Some(2030), Some(2000)),
    ] {
        let passes = |year: &Option<i32>| {
            year.is_none_or(|year| {
                since.is_none_or(|since| year >= since) && until.is_none_or(|until| year <= until)
            })
        };
        let expected: Vec<_> = all.iter().copied().filter(passes).collect();
        assert_eq!(years(since, until), expected, "{since:?} {until:?}");
    }
}

#[tokio::test]
async fn the_order_and_the_years_are_part_of_the_address() {
    let site = Site::testdata();
    let page = site.get("/?q=city+water&sort=title").await.body;
    assert!(
        page.contains("sort=title\" aria-current=\"true\">Title</a>"),
        "{page}"
    );
    assert!(
        page.contains("<input type=\"hidden\" name=\"sort\" value=\"title\">"),
        "forms keep the order: {page}"
    );
    let shown = ids(&page);
    let api = site
        .get("/api/search?q=city+water&sort=title&duplicates=once")
        .await
        .json();
    let hits = api["hits"].as_array().expect("hits").iter();
    let hits: Vec<String> = hits
        .map(|hit| hit["id"].as_str().expect("an id").to_owned())
        .collect();
    assert!(shown.len() > 1 && shown == hits, "{shown:?} {hits:?}");
    let years = site.get("/?page=0&since=2019&before=2021").await.body;
    assert!(
        years.contains("From 2019") && years.contains("Up to 2021"),
        "{years}"
    );
    assert!(
        years.contains("name=\"from\" type=\"number\"") && years.contains("value=\"2019\""),
        "{years}"
    );
    for wrong in [
        "/?q=a&sort=shortest",
        "/api/search?q=a&sort=shortest",
        "/?q=a&since=soon",
    ] {
        assert_eq!(
            site.get(wrong).await.status,
            StatusCode::BAD_REQUEST,
            "{wrong}"
        );
    }
}

/// An IRI, or a prefixed name, becomes a filter if datasets have it.
#[tokio::test]
async fn typed_iris_become_filters() {
    let site = Site::testdata();
    let facets = site
        .get("/api/search?q=city+water+trees+data&facets=true")
        .await
        .json()["facets"]
        .clone();
    let classes = facets
        .as_array()
        .expect("facets")
        .iter()
        .find(|one| one["facet"] == "class")
        .expect("classes");
    let class = classes["values"][0]["value"]
        .as_str()
        .expect("an IRI")
        .to_owned();
    let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    for typed in [class.clone(), format!("<{class}>")] {
        let reply = site
            .get(&format!("/?q=city+{}+water&lang=de", encoded(&typed)))
            .await;
        assert_eq!(reply.status, StatusCode::SEE_OTHER, "{}", reply.body);
        let target = reply.header("location").to_owned();
        assert_eq!(
            target,
            format!("/?q=city+water&page=0&lang=de&class={}", encoded(&class))
        );
        let page = site.get(&target).await.body;
        assert!(
            page.contains("Klasse: ") && !ids(&page).is_empty(),
            "{page}"
        );
    }
    let vocabulary = site.get("/?q=rdfs:").await;
    assert_eq!(
        vocabulary.status,
        StatusCode::SEE_OTHER,
        "{}",
        vocabulary.body
    );
    assert!(
        vocabulary
            .header("location")
            .contains("vocabulary=http%3A%2F%2Fwww.w3.org%2F2000%2F01%2Frdf-schema%23")
    );
    let own = site
        .get("/?q=http%3A%2F%2Flocalhost%3A7878%2Fdataset%2Fstreet-trees")
        .await;
    assert_eq!(
        (own.status, own.header("location")),
        (StatusCode::SEE_OTHER, "/dataset/street-trees")
    );
    for words in [
        "http://nobody.example.org/Class",
        "nobody:Class",
        "ratio 3:4",
        "note: water",
    ] {
        assert_eq!(
            site.get(&format!("/?q={}", encoded(words))).await.status,
            StatusCode::OK,
            "{words}"
        );
    }
    // The names after the first sixteen are words, as in every search.
    for (unknown, status) in [(15, StatusCode::SEE_OTHER), (16, StatusCode::OK)] {
        let names = "dct:Nothing ".repeat(unknown) + &class;
        assert_eq!(
            site.get(&format!("/?q={}", encoded(&names))).await.status,
            status,
            "{names}"
        );
    }
}

/// The language of the page is that of the parameter, or else of the header; links keep the parameter.
#[tokio::test]
async fn pages_are_in_the_visitors_language() {
    let site = Site::testdata();
    let get = |path: &'static str, languages: &'static str| {
        let site = &site;
        async move {
            let headers = [("accept", "text/html"), ("accept-language", languages)];
            site.request(Method::GET, path, &headers, "").await
        }
    };
    for (languages, tag, search) in [
        ("de-AT,de;q=0.9", "de", "Suchen"),
        ("fr", "fr", "Rechercher"),
        ("es", "es", "Buscar"),
        ("it;q=0.8, ja", "it", "Cerca"),
        ("ja", "en", "Search"),
    ] {
        for path in [
            "/",
            "/?q=city",
            "/dataset/street-trees",
            "/like",
            "/quality",
            "/sparql?format=html",
            "/nowhere",
            "/api",
        ] {
            let reply = get(path, languages).await;
            assert!(
                reply.body.contains(&format!("<html lang=\"{tag}\">")),
                "{path}: {}",
                reply.body
            );
            assert!(
                reply
                    .body
                    .contains(&format!("<button type=\"submit\">{search}</button>"))
                    || path == "/",
                "{path}"
            );
            let vary: Vec<_> = reply
                .headers
                .get_all("vary")
                .iter()
                .map(|value| value.to_str().expect("text"))
                .collect();
            assert!(
                vary.join(",").contains("accept-language"),
                "{path}: {vary:?}"
            );
        }
    }
    let german = get("/dataset/street-trees?lang=de", "fr").await.body;
    assert!(
        german.contains("<html lang=\"de\">"),
        "the parameter before the header"
    );
    assert!(
        german.contains("href=\"/sparql?lang=de\"")
            && german.contains("href=\"/?q=&#38;page=0&#38;lang=de\"")
    );
    assert!(
        german.contains("hreflang=\"fr\"")
            && german.contains("href=\"/dataset/street-trees?lang=fr\"")
    );
    assert!(
        get("/?lang=de&q=city", "en")
            .await
            .body
            .contains("name=\"lang\" value=\"de\""),
        "forms keep it"
    );
    assert!(
        get("/", "de").await.body.contains("href=\"/sparql\""),
        "without the parameter, addresses stay short"
    );
}

/// Texts of a dataset are in the visitor's language if it has them, and marked with their own if not.
#[tokio::test]
async fn texts_of_datasets_have_their_language() {
    let folder = tempfile::tempdir().expect("a folder");
    let catalog = folder.path().join("catalog.ttl");
    let text = "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
        <http://e.org/d> a dcat:Dataset ; dct:identifier \"rivers\" ;
            dct:title \"Rivers\"@en , \"Fl\u{fc}sse\"@de ; dct:description \"Long rivers\"@en , \"Lange Fl\u{fc}sse\"@de ;
            dct:license <https://creativecommons.org/licenses/by/4.0/> ; dcat:keyword \"M\u{c3}\u{a1}laga\" ;
            dct:publisher [ a <http://xmlns.com/foaf/0.1/Agent> ; <http://xmlns.com/foaf/0.1/name> \"River Office\" ] ;
            dcat:landingPage <https://rivers.example.org/data> .
        <http://e.org/e> a dcat:Dataset ; dct:identifier \"lakes\" ; dct:title \"Lagos\"@es .";
    std::fs::write(&catalog, text).expect("written");
    let site = Site::from_catalog(&catalog, limits());
    let listing = site.get("/?page=0").await.body;
    let id = |title: &str| {
        let place = listing
            .find(&format!(">{title}</a>"))
            .unwrap_or_else(|| panic!("{title} in {listing}"));
        let start = listing[..place].rfind("href=\"").expect("a link") + 6;
        listing[start..place]
            .split('"')
            .next()
            .expect("an address")
            .to_owned()
    };
    let (rivers, lakes) = (id("Rivers"), id("Lagos"));
    let page = |path: String, languages: &'static str| {
        let site = &site;
        async move {
            site.request(Method::GET, &path, &[("accept-language", languages)], "")
                .await
                .body
        }
    };
    let german = page(rivers.clone(), "de").await;
    assert!(
        german.contains("<h1 dir=\"auto\">Fl\u{fc}sse</h1>"),
        "{german}"
    );
    assert!(
        german.contains("dir=\"auto\">Lange Fl\u{fc}sse</p>")
            && german.contains("lang=\"en\">Long rivers")
    );
    let english = page(rivers.clone(), "en").await;
    assert!(
        english.contains("<h1 dir=\"auto\">Rivers</h1>"),
        "{english}"
    );
    // Keywords and publishers are links; misread UTF-8 is repaired for display only.
    assert!(
        english.contains("keyword=M%C3%83%C2%A1laga\" dir=\"auto\">M\u{e1}laga</a>"),
        "{english}"
    );
    assert!(
        english.contains("publisher=River+Office\" dir=\"auto\">River Office</a>"),
        "{english}"
    );
    assert!(english.contains(">CC BY 4.0</a>"), "{english}");
    // Without content, the page leads to the source.
    assert!(
        english.contains("class=\"button\" href=\"https://rivers.example.org/data\""),
        "{english}"
    );
    let shown = english.split("</head>").nth(1).expect("a body");
    assert!(
        !shown.contains("0 entities") && !shown.contains("Query with SPARQL</h2>"),
        "{english}"
    );
    let spanish = page(lakes, "de").await;
    assert!(
        spanish.contains("<h1 dir=\"auto\" lang=\"es\">Lagos</h1>"),
        "{spanish}"
    );
    assert!(
        page("/?page=0".to_owned(), "de")
            .await
            .contains(">Fl\u{fc}sse</a>")
    );
}

/// Errors are pages with an advice; the status is that of the error.
#[tokio::test]
async fn errors_have_pages() {
    let site = Site::testdata();
    let long = format!("/?q={}", "word+".repeat(500));
    for (path, status, heading) in [
        (
            "/nowhere",
            StatusCode::NOT_FOUND,
            "This page does not exist",
        ),
        (
            "/dataset/nobody",
            StatusCode::NOT_FOUND,
            "This page does not exist",
        ),
        (
            long.as_str(),
            StatusCode::URI_TOO_LONG,
            "This request is too long",
        ),
        (
            "/?q=a&model=magic",
            StatusCode::BAD_REQUEST,
            "This request cannot be answered",
        ),
    ] {
        let reply = site.accept(path, "text/html").await;
        assert_eq!(
            (reply.status, reply.media_type()),
            (status, "text/html"),
            "{path}"
        );
        assert!(
            reply.body.contains(&format!("<h1>{heading}</h1>")),
            "{path}: {}",
            reply.body
        );
        assert!(
            reply.body.contains("role=\"alert\"") && reply.body.contains("<form class=\"search\""),
            "{path}"
        );
    }
}

/// The start page leads to results: example queries of the collection, themes with counts, the newest datasets.
#[tokio::test]
async fn the_start_page_leads_to_results() {
    let site = Site::testdata();
    let page = site.get("/").await.body;
    let tries = page
        .split("class=\"tries\"")
        .nth(1)
        .and_then(|rest| rest.split("</ul>").next())
        .expect("questions");
    let links: Vec<String> = tries
        .split("href=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .map(|link| link.replace("&#38;", "&"))
        .collect();
    assert_eq!(links.len(), 3, "{tries}");
    for link in links {
        let found = site.get(&link).await;
        assert!(
            found.status == 200 && !ids(&found.body).is_empty(),
            "{link} finds nothing"
        );
    }
    assert!(
        page.contains("Newly added") && page.contains("href=\"/feeds/datasets.atom\""),
        "{page}"
    );
    assert!(
        page.contains("href=\"/api\"") && !page.contains("href=\"/quality"),
        "{page}"
    );
}

/// A query with an error is answered by a sentence, the line, and how to correct it.
#[tokio::test]
async fn errors_of_queries_are_explained() {
    let site = Site::testdata();
    let ask = |query: &str| {
        let encoded: String = form_urlencoded::byte_serialize(query.as_bytes()).collect();
        format!("/sparql?format=html&query={encoded}")
    };
    let unknown = site.get(&ask("SELECT * {\n  ?s foaf:name ?n\n}")).await;
    assert_eq!(unknown.status, StatusCode::BAD_REQUEST);
    for part in [
        "Line 2: the prefix “foaf:” is not declared.",
        "PREFIX foaf: &#60;http://xmlns.com/foaf/0.1/&#62;",
        "<mark>foaf:</mark>name ?n",
    ] {
        assert!(unknown.body.contains(part), "{part}: {}", unknown.body);
    }
    let wrong = site.get(&ask("SELECT *\nWHERE { ?s oops ?o }")).await.body;
    assert!(
        wrong.contains("Line 2, column") && wrong.contains("<mark>"),
        "{wrong}"
    );
    let early = site.get(&ask("SELECT * {")).await.body;
    assert!(
        early.contains("Line 1: the query ends too early."),
        "{early}"
    );
    let form = site.get("/sparql?format=html").await.body;
    let examples = form.matches("<li><a href=\"/sparql?query=").count();
    assert!(examples >= 5, "example queries are links: {form}");
}

/// Results keep the language, by GET and by POST, and have an address unless the query is long.
#[tokio::test]
async fn results_of_queries_keep_the_language_and_have_an_address() {
    const FORM: &str = "application/x-www-form-urlencoded";
    let site = Site::testdata();
    let form = site.get("/sparql?format=html&lang=de").await.body;
    assert!(
        form.contains("<form class=\"query\" action=\"/sparql\" method=\"get\"")
            && form.contains("<input type=\"hidden\" name=\"lang\" value=\"de\">"),
        "{form}"
    );
    let dataset = site.get("/dataset/street-trees?format=html").await.body;
    assert!(
        dataset.contains("<form action=\"/sparql\" method=\"get\""),
        "{dataset}"
    );
    let encoded = |query: &str| -> String {
        form_urlencoded::Serializer::new(String::new())
            .append_pair("query", query)
            .append_pair("format", "html")
            .append_pair("lang", "de")
            .finish()
    };
    let short = encoded("ASK {}");
    for reply in [
        site.get(&format!("/sparql?{short}")).await,
        site.post("/sparql", FORM, &short).await,
    ] {
        for part in [
            "<html lang=\"de\">",
            "href=\"/sparql?query=ASK+%7B%7D&#38;format=html&#38;lang=de\">Link zu diesem Ergebnis</a>",
        ] {
            assert!(reply.body.contains(part), "{part}: {}", reply.body);
        }
    }
    let long = encoded(&format!("ASK {{}} # {}", "x".repeat(5000)));
    let reply = site.post("/sparql", FORM, &long).await;
    assert!(
        reply.body.contains("<html lang=\"de\">")
            && reply
                .body
                .contains("Die Adresse dieser Seite enthält die Abfrage nicht")
            && reply.body.contains("action=\"/sparql\" method=\"post\""),
        "{}",
        reply.body
    );
    let wrong = site.post("/sparql", FORM, &encoded("ASK {")).await;
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST);
    assert!(wrong.body.contains("<html lang=\"de\">"), "{}", wrong.body);
}

/// Without a dataset for the task of an example, the page does not offer the example.
#[tokio::test]
async fn example_queries_have_what_they_need() {
    let title = "Datasets for a task, with years and papers";
    let without = Site::testdata().get("/sparql?format=html").await.body;
    assert!(!without.contains(title), "{without}");
    assert!(without.contains("Datasets that use a class"), "{without}");
    let works = Site::from_catalog(&testdata("papers-with-code.json"), limits());
    let page = works.get("/sparql?format=html").await.body;
    assert!(page.contains("Datasets and their sizes"), "{page}");
    assert!(page.contains(title), "{page}");
    assert!(!page.contains("Triples of the datasets found"), "{page}");
}

/// Titles of examples and nodes without a name are in the language of the page; a query has no placeholder in its comment.
#[tokio::test]
async fn example_queries_of_a_dataset_are_translated() {
    let site = Site::testdata();
    let page = site
        .get("/dataset/street-trees?format=html&lang=fr")
        .await
        .body;
    assert!(
        page.contains(">Quelques triplets</a>") && page.contains("# Quelques triplets\n"),
        "{page}"
    );
    for english in [
        "Some triples",
        "Entities of the class",
        "stands for",
        "A node without a name",
    ] {
        assert!(!page.contains(english), "{english}: {page}");
    }
    let json = site.get("/dataset/street-trees/examples").await.json();
    assert_eq!(json[0]["title"], "Some triples");
}

/// Title, colours, footer and theme are those of the configuration; a file outside the theme has no address.
#[tokio::test]
async fn pages_have_the_branding_of_the_portal() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [
        ("style.css", ".own { color: red; }"),
        ("footer.de.html", "<p class=\"city\">Stadt Northport</p>"),
        ("messages/de.ftl", "box-search = Los\n"),
        ("files/imprint.html", "<h1>Imprint</h1>"),
    ] {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    let branding = Branding {
        imprint: Some("/theme/imprint.html".parse().expect("a link")),
        contact: Some("open-data@northport.example.org".parse().expect("a link")),
        color: Some(Color::for_light_pages("#1e3a8a").expect("a colour")),
        theme: Theme::read(folder.path()).expect("a theme"),
        ..Branding::default()
    };
    let home = Home::from_catalog(&testdata("catalog.ttl"));
    let (searcher, files) = (home.searcher(), tempfile::tempdir().expect("a folder"));
    let store =
        lodeseek_store::Store::in_memory(files.path(), home.store.iris().clone()).expect("a store");
    let state = AppState::new(searcher, store, limits()).with_branding(branding);
    let site = Site::behind(lodeseek_server::app(state), home.into_folder());

    let german = site.get("/?lang=de").await.body;
    for part in [
        "<a href=\"/theme/imprint.html?lang=de\">Impressum</a>",
        "href=\"mailto:open-data@northport.example.org\"",
        "<p class=\"city\">Stadt Northport</p>",
        "<button type=\"submit\">Los</button>",
    ] {
        assert!(german.contains(part), "{part}\n{german}");
    }
    let english = site.get("/").await.body;
    assert!(
        english.contains("Imprint</a>") && !english.contains("Stadt Northport"),
        "{english}"
    );
    assert!(
        !english.contains("/logo") && !english.contains("Privacy"),
        "no logo and no privacy policy are configured"
    );
    let style = site.get("/style.css").await.body;
    assert!(style.contains("--accent: #1e3a8a") && style.ends_with(".own { color: red; }"));
    let file = site.get("/theme/imprint.html").await;
    assert_eq!(
        (file.status.as_u16(), file.media_type(), file.body.as_str()),
        (200, "text/html", "<h1>Imprint</h1>")
    );
    for missing in ["/theme/style.css", "/theme/..%2Fstyle.css", "/logo"] {
        assert_eq!(
            site.get(missing).await.status,
            StatusCode::NOT_FOUND,
            "{missing}"
        );
    }
}

/// Name and description of the portal are in the language of the page or, in formats with language tags, in all languages.
#[tokio::test]
async fn the_portal_has_a_name_by_language() {
    fn by_language(texts: [(&str, &str); 2]) -> Localized<String> {
        let texts = texts.map(|(tag, text)| (tag.to_owned(), text.to_owned()));
        Localized::by_language(texts.into()).expect("texts by language")
    }
    let portal = Portal {
        title: by_language([("en", "Northport data"), ("de", "Daten von Nordhafen")]),
        description: by_language([("en", "All the city"), ("de", "Die ganze Stadt")]),
        ..Portal::default()
    };
    let home = Home::from_catalog(&testdata("catalog.ttl"));
    let (searcher, files) = (home.searcher(), tempfile::tempdir().expect("a folder"));
    let store =
        lodeseek_store::Store::in_memory(files.path(), home.store.iris().clone()).expect("a store");
    let state = AppState::new(searcher, store, limits()).with_portal(portal);
    let site = Site::behind(lodeseek_server::app(state), home.into_folder());

    for (path, expected) in [
        ("/?lang=de", "<title>Daten von Nordhafen:"),
        (
            "/?lang=de",
            "<meta name=\"description\" content=\"Die ganze Stadt\">",
        ),
        ("/?lang=de", "href=\"/opensearch.xml?lang=de\""),
        ("/?lang=fr", "<title>Northport data:"),
        (
            "/opensearch.xml?lang=de",
            "<ShortName>Daten von Nordhafen</ShortName>",
        ),
        (
            "/opensearch.xml?lang=de",
            "<Description>Die ganze Stadt</Description>",
        ),
        ("/opensearch.xml", "<ShortName>Northport data</ShortName>"),
        (
            "/feeds/datasets.atom?lang=de",
            "<name>Daten von Nordhafen</name>",
        ),
        (
            "/feeds/datasets.atom?lang=de",
            "<title>Datensätze, die zuletzt geänderten zuerst – Daten von Nordhafen</title>",
        ),
        (
            "/oai?verb=Identify",
            "<repositoryName>Northport data</repositoryName>",
        ),
        (
            "/api/3/action/status_show",
            "\"site_title\":\"Northport data\"",
        ),
        ("/catalog.ttl", "\"Northport data\"@en"),
        ("/catalog.ttl", "\"Die ganze Stadt\"@de"),
        (
            "/feeds/changes",
            "\"Daten von Nordhafen: changes of datasets\"",
        ),
    ] {
        let body = site.get(path).await.body;
        assert!(body.contains(expected), "{path}: {expected}\n{body}");
    }
}

/// Terms for the completion of queries: those of most datasets first.
#[tokio::test]
async fn terms_of_the_collection_complete_queries() {
    let site = Site::testdata();
    let terms: serde_json::Value =
        serde_json::from_str(&site.get("/api/terms").await.body).expect("JSON");
    assert_eq!(terms["prefixes"]["foaf"], "http://xmlns.com/foaf/0.1/");
    for list in ["classes", "properties"] {
        let counts: Vec<u64> = terms[list]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|one| one["datasets"].as_u64())
            .collect();
        assert!(
            counts.len() > 5 && counts[0] > 1 && counts.is_sorted_by(|one, other| one >= other),
            "{counts:?}"
        );
    }
    assert!(
        terms["properties"]
            .to_string()
            .contains("http://xmlns.com/foaf/0.1/name")
    );
    let page = site.get("/sparql?format=html").await.body;
    assert!(
        page.contains("src=\"/query.js\"") && page.contains("data-completions=\"Prefixes, classes"),
        "{page}"
    );
}

#[tokio::test]
async fn years_of_a_period_get_four_digits() {
    let site = Site::testdata();
    let sent = site.get("/?q=water&from=476&until=1500").await;
    let address = sent.header("location");
    assert!(
        sent.status.is_redirection() && address.contains("covers=0476..1500"),
        "{} {address}",
        sent.status
    );
    assert_eq!(site.get(address).await.status, StatusCode::OK, "{address}");
}

#[tokio::test]
async fn pages_of_entities_keep_their_length() {
    let site = Site::testdata();
    let second = site.get("/entities?q=station&k=2&skip=2").await.body;
    for skip in [0, 4] {
        assert!(
            second.contains(&format!("/entities?q=station&#38;skip={skip}&#38;k=2")),
            "{second}"
        );
    }
    let usual = site.get("/entities?q=station&skip=3").await.body;
    assert!(
        usual.contains("&#38;skip=0") && !usual.contains("&#38;k="),
        "{usual}"
    );
}

#[tokio::test]
async fn entities_without_pages_link_to_their_dataset() {
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
    let page = site.get("/entities?q=ginkgo&lang=en").await.body;
    assert!(
        page.contains("<h2><a href=\"/dataset/street-trees?lang=en\""),
        "{page}"
    );
    assert!(!page.contains("/entity?"), "{page}");
}

#[tokio::test]
async fn weaker_matches_are_behind_a_fold() {
    const FOLD: &str = "<details class=\"weak\"";
    let site = Site::testdata();
    let query = "city+water+trees+data+register";
    let response = site.get(&format!("/api/search?q={query}")).await;
    let response: serde_json::Value = serde_json::from_str(&response.body).expect("JSON");
    let hits = response["hits"].as_array().expect("hits");
    let of_quality = |quality: &str| -> Vec<&str> {
        hits.iter()
            .filter(|hit| hit["match"] == quality)
            .filter_map(|hit| hit["id"].as_str())
            .collect()
    };
    let (good, weak) = (of_quality("good"), of_quality("weak"));
    assert!(!good.is_empty() && !weak.is_empty(), "{response}");

    let page = site.get(&format!("/?q={query}")).await.body;
    let (shown, folded) = page.split_once(FOLD).expect("a fold");
    assert_eq!(ids(shown), good);
    assert_eq!(ids(folded), weak);
    assert!(folded.starts_with('>'), "closed");
    let counts = format!("1 good match, {} weaker</h1>", weak.len());
    assert!(good.len() == 1 && shown.contains(&counts), "{shown}");

    let by_title = site.get(&format!("/?q={query}&sort=title")).await.body;
    assert!(!by_title.contains(FOLD));

    let query = "kangaroo+quasar+trombone+giraffe+lettuce+water";
    let page = site.get(&format!("/?q={query}")).await.body;
    assert!(page.contains("No good match, "), "{page}");
    assert!(page.contains(&format!("{FOLD} open>")));
}
