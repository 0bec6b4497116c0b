//! Snippets made on demand: the same by HTTP and on the command line, in every form.

use super::http::{Reply, Site, hostile, triples};
use super::support::{iri, limits, testdata};
use axum::http::{Method, StatusCode};
use lodeseek_rdf::dump::DumpReader;
use lodeseek_rdf::{TripleGraph, TripleGraphBuilder};
use lodeseek_server::{AppState, SnippetLimits};
use std::collections::BTreeSet;
use std::time::Duration;

const PATH: &str = "/dataset/street-trees/snippet";

/// (subject, property, object) by their values, in the order of the snippet.
fn chosen(reply: &Reply) -> Vec<[String; 3]> {
    let answer = reply.json();
    let value = |triple: &serde_json::Value, part: &str| {
        triple[part]["value"].as_str().expect("a value").to_owned()
    };
    let triples = answer["triples"].as_array().expect("triples").iter();
    triples
        .map(|triple| ["subject", "predicate", "object"].map(|part| value(triple, part)))
        .collect()
}

fn graph(body: &str, name: &str) -> TripleGraph {
    let mut builder = TripleGraphBuilder::new();
    DumpReader::default().read(body.as_bytes(), name, "http://e.org/", &mut builder);
    builder.finish()
}

#[tokio::test]
async fn a_snippet_comes_as_the_client_likes_it() {
    let site = Site::testdata();
    let path = format!("{PATH}?budget=8");
    let ntriples = site.accept(&path, "application/n-triples").await;
    let expected = triples(&ntriples.body, "a.nt");
    for (accept, format, media_type, name) in [
        ("text/turtle", "ttl", "text/turtle", "a.ttl"),
        (
            "application/ld+json",
            "jsonld",
            "application/ld+json",
            "a.jsonld",
        ),
        (
            "application/n-triples",
            "nt",
            "application/n-triples",
            "a.nt",
        ),
        ("application/rdf+xml", "rdf", "application/rdf+xml", "a.rdf"),
    ] {
        for reply in [
            site.accept(&path, accept).await,
            site.get(&format!("{path}&format={format}")).await,
        ] {
            assert_eq!(
                (reply.status, reply.media_type()),
                (StatusCode::OK, media_type),
                "{accept}"
            );
            assert_eq!(triples(&reply.body, name), expected, "{accept}");
            assert!(
                reply.header("vary").contains("accept-language"),
                "{:?}",
                reply.headers
            );
        }
    }
    let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    let page = site.accept(&path, browser).await;
    assert_eq!(
        (page.status, page.media_type()),
        (StatusCode::OK, "text/html")
    );
    for part in [
        "<svg ",
        "class=\"triples\"",
        "name=\"method\"",
        "rel=\"alternate\" type=\"text/turtle\"",
        "8 of 105",
    ] {
        assert!(page.body.contains(part), "{part} in {}", page.body);
    }
    let svg = site.accept(&path, "image/svg+xml").await;
    assert_eq!(
        (svg.status, svg.media_type()),
        (StatusCode::OK, "image/svg+xml")
    );
    assert!(
        svg.body.starts_with("<svg ") && svg.header("content-security-policy").contains("'sha256-")
    );
    assert_eq!(site.accept(&path, "image/png").await.status, 406);
    let dataset = site.get("/dataset/street-trees").await.body;
    assert!(
        dataset.contains("href=\"/dataset/street-trees/snippet")
            && dataset.contains("rel=\"alternate\"")
    );
}

/// The policy of a picture lets its own style through, and no other.
#[tokio::test]
async fn a_pictures_style_is_the_one_the_policy_knows() {
    use base64::Engine;
    use sha2::{Digest, Sha256};
    let svg = Site::testdata().get(&format!("{PATH}?format=svg")).await;
    let style = svg
        .body
        .split_once("<style>")
        .and_then(|(_, rest)| rest.split_once("</style>"))
        .expect("a style")
        .0;
    let hash = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(style));
    assert!(
        svg.header("content-security-policy")
            .contains(&format!("'sha256-{hash}'")),
        "{hash}"
    );
}

#[tokio::test]
async fn rdf_holds_the_triples_and_their_provenance() {
    let site = Site::testdata();
    let path = "/dataset/street-trees/snippet?method=ksd&budget=6&query=ginkgo+biloba";
    let body = site.get(&format!("{path}&format=nt")).await.body;
    let plain: BTreeSet<[String; 3]> = chosen(&site.get(&format!("{path}&format=json")).await)
        .into_iter()
        .collect();
    let own = "<http://localhost:7878/dataset/street-trees/snippet?method=ksd&budget=6&query=ginkgo%20biloba>";
    let (snippet, prov) = (
        "https://w3id.org/lodeseek/ns#",
        "http://www.w3.org/ns/prov#",
    );
    for line in [
        format!("{} <{snippet}snippet> {own} .", iri("street-trees")),
        format!("{own} <{snippet}method> \"KSD\" ."),
        format!("{own} <{snippet}query> \"ginkgo biloba\" ."),
        format!("{own} <{prov}generatedAtTime> \""),
        format!("{own} <{prov}wasDerivedFrom> <http://localhost:7878/dataset/street-trees> ."),
    ] {
        assert!(body.contains(&line), "{line} in\n{body}");
    }
    let graph = graph(&body, "a.nt");
    let held: BTreeSet<[String; 3]> = graph
        .triples()
        .iter()
        .map(|triple| {
            [triple.subject, triple.predicate, triple.object]
                .map(|id| graph.term(id).text().to_owned())
        })
        .collect();
    let named = |value: &str| match value
        .strip_prefix('b')
        .filter(|number| number.parse::<u32>().is_ok())
    {
        Some(number) => format!("{}#node-b{number}", own.trim_matches(['<', '>'])),
        None => value.to_owned(),
    };
    for [subject, property, object] in &plain {
        assert!(
            held.contains(&[named(subject), property.clone(), named(object)]),
            "{subject} {property} {object}"
        );
    }
    assert_eq!(plain.len(), 6);
    assert_eq!(body.matches("#Statement>").count(), 6);
}

#[tokio::test]
async fn every_bounded_method_answers() {
    let site = Site::testdata();
    let page = site.get(&format!("{PATH}?query=ginkgo")).await.body;
    for method in lodeseek_snippet::Method::ALL {
        let reply = site
            .get(&format!(
                "{PATH}?method={method}&query=ginkgo&format=json&budget=100"
            ))
            .await;
        if !method.is_bounded() {
            assert_eq!(reply.status, 400, "{method}");
            continue;
        }
        let answer = reply.json();
        assert_eq!(
            (&answer["method"], &answer["query"]),
            (&method.name().into(), &"ginkgo".into())
        );
        assert!(
            (1..=100).contains(&chosen(&reply).len()),
            "{method}: {answer}"
        );
        assert!(
            page.contains(&format!("<option value=\"{method}\"")),
            "{method}"
        );
        if method.takes_query() {
            let marked = answer["triples"].as_array().expect("triples").iter();
            assert!(
                marked
                    .filter(|triple| triple["matched"][0] == "ginkgo")
                    .count()
                    > 0,
                "{method}: {answer}"
            );
        }
    }
    assert!(
        page.contains("<mark>ginkgo</mark>") || page.contains("<mark>Ginkgo</mark>"),
        "{page}"
    );
}

#[tokio::test]
async fn bad_requests_are_told_what_there_is() {
    let site = Site::testdata();
    for (query, status, reason) in [
        ("method=guess", 400, "illusnip, illusnip-max"),
        (
            "method=ksd",
            400,
            "requires a query; methods without a query: illusnip",
        ),
        ("method=ksd&query=%20", 400, "requires a query"),
        (
            "method=basic",
            400,
            "its run time is not bounded; supported methods: illusnip",
        ),
        ("budget=0", 400, "from 1 to 100"),
        ("budget=101", 400, "from 1 to 100"),
        ("budget=many", 400, "budget"),
        ("lang=%3Cb%3E", 400, "lang=de,en"),
        ("format=png", 400, "html, json, svg"),
    ] {
        let html = site.accept(&format!("{PATH}?{query}"), "text/html").await;
        assert_eq!(
            (html.status.as_u16(), html.media_type()),
            (status, "text/html"),
            "{query}"
        );
        let json = site
            .accept(&format!("{PATH}?{query}"), "application/json")
            .await;
        let error = json.json()["error"].as_str().expect("a reason").to_owned();
        assert!(
            json.status == status && error.contains(reason),
            "{query}: {error}"
        );
    }
    for accept in ["text/html", "application/json", "text/turtle"] {
        assert_eq!(
            site.accept("/dataset/none/snippet", accept).await.status,
            404
        );
    }
    assert_eq!(site.request(Method::POST, PATH, &[], "").await.status, 405);
}

#[tokio::test]
async fn what_is_known_is_not_sent_again() {
    let site = Site::testdata();
    let first = site.get(&format!("{PATH}?format=ttl")).await;
    let tag = first.header("etag").to_owned();
    assert!(
        tag.starts_with("W/\"") && first.header("cache-control").contains("no-cache"),
        "{:?}",
        first.headers
    );
    let again = site
        .request(
            Method::GET,
            &format!("{PATH}?format=ttl"),
            &[("if-none-match", &tag)],
            "",
        )
        .await;
    assert_eq!(
        (again.status, again.body.as_str(), again.header("etag")),
        (StatusCode::NOT_MODIFIED, "", tag.as_str())
    );
    // A page also has texts of the portal.
    let page = site.get(&format!("{PATH}?format=html")).await;
    assert_eq!(
        (page.header("etag"), page.header("cache-control")),
        ("", "no-cache")
    );
    for other in [
        "format=nt",
        "format=ttl&budget=5",
        "format=ttl&lang=de",
        "format=ttl&query=oak",
    ] {
        let reply = site
            .request(
                Method::GET,
                &format!("{PATH}?{other}"),
                &[("if-none-match", &tag)],
                "",
            )
            .await;
        assert_eq!(reply.status, 200, "{other}");
    }
}

#[tokio::test]
async fn labels_are_in_the_readers_language() {
    let site = Site::testdata();
    let get = |path: &'static str, languages: &'static str| {
        let site = &site;
        async move {
            site.request(Method::GET, path, &[("accept-language", languages)], "")
                .await
                .body
        }
    };
    for path in [
        "/dataset/soil-types",
        "/dataset/soil-types/snippet",
        "/?q=soil+types",
    ] {
        let (english, german) = (get(path, "en").await, get(path, "de-AT, en;q=0.5").await);
        assert!(
            english.contains("clay") || english.contains("sand") || english.contains("soil"),
            "{english}"
        );
        assert_ne!(english, german, "{path}");
    }
    let (asked, accepted) = ("/dataset/soil-types?lang=de", "/dataset/soil-types");
    let links = |page: &str| page.replace("?lang=de", "").replace("&#38;lang=de", "");
    let without_fields =
        |page: &str| page.replace("<input type=\"hidden\" name=\"lang\" value=\"de\">", "");
    let asked = without_fields(&links(&get(asked, "fr").await));
    let accepted = without_fields(&links(&get(accepted, "de").await));
    let main = |page: &str| {
        page.split("</header>")
            .nth(1)
            .and_then(|rest| rest.split("<footer").next())
            .map(str::to_owned)
    };
    assert_eq!(
        main(&asked),
        main(&accepted),
        "the parameter before the header"
    );
    let refused = site.get("/?q=soil&lang=%3C").await;
    assert!(refused.status == 400 && refused.media_type() == "text/html");
}

#[tokio::test]
async fn results_show_triples_for_the_query_where_asked() {
    let site = Site::testdata();
    let stored = site.get("/?q=ginkgo+biloba").await.body;
    assert!(
        stored.contains("href=\"/?q=ginkgo+biloba&#38;page=0&#38;snippet=query\""),
        "{stored}"
    );
    let chosen = site.get("/?q=ginkgo+biloba&snippet=query").await;
    assert!(
        chosen.status == 200 && chosen.body.contains("Show the stored previews"),
        "{}",
        chosen.body
    );
    let marks = |body: &str| {
        body.split("class=\"triples\"")
            .skip(1)
            .map(|t| t.matches("<mark>").count())
            .sum::<usize>()
    };
    assert!(
        marks(&chosen.body) > marks(&stored),
        "more words are found in what was chosen for them"
    );
    let twice = site.get("/?q=ginkgo+biloba&snippet=query").await;
    assert_eq!(twice.body, chosen.body, "kept content is the same content");
    assert_eq!(site.get("/?q=ginkgo&snippet=cover").await.status, 200);
    for bad in ["guess", "illusnip-basic"] {
        assert_eq!(
            site.get(&format!("/?q=ginkgo&snippet={bad}")).await.status,
            400
        );
        assert_eq!(
            site.get(&format!("/api/search?q=ginkgo&snippet={bad}"))
                .await
                .status,
            400
        );
    }
}

/// A site whose snippets may cost no more than this.
fn bounded(snippets: SnippetLimits) -> (Site, tempfile::TempDir) {
    let home = super::support::Home::from_catalog(&testdata("catalog.ttl"));
    let (searcher, folder) = (home.searcher(), tempfile::tempdir().expect("a folder"));
    let store = lodeseek_store::Store::in_memory(folder.path(), home.store.iris().clone())
        .expect("a store");
    let app =
        lodeseek_server::app(AppState::new(searcher, store, limits()).with_snippets(snippets));
    (Site::behind(app, home.into_folder()), folder)
}

#[tokio::test]
async fn what_the_deadline_cut_is_not_kept() {
    let (hasty, _folder) = bounded(SnippetLimits {
        deadline: Duration::ZERO,
        ..SnippetLimits::default()
    });
    let cut = hasty.get(&format!("{PATH}?format=json")).await;
    assert_eq!(
        (cut.status, cut.header("cache-control"), cut.header("etag")),
        (StatusCode::OK, "no-store", "")
    );
    assert!(
        cut.json()["interrupted"] == true && !chosen(&cut).is_empty(),
        "there is always something"
    );

    let permit_timeout = Duration::from_millis(10);
    let (full, _folder) = bounded(SnippetLimits {
        concurrent: 0,
        permit_timeout,
        ..SnippetLimits::default()
    });
    for path in [
        PATH,
        "/?q=water&snippet=query",
        "/api/search?q=water&explain=true",
    ] {
        let busy = full.get(path).await;
        assert_eq!(busy.status, 503, "{path}");
    }
    assert_eq!(
        full.get("/api/search?q=water").await.status,
        200,
        "what reads no graph needs no place"
    );
}

#[tokio::test]
async fn pictures_of_hostile_data_are_well_formed() {
    let (folder, _) = hostile();
    let site = Site::from_catalog(&folder.path().join("datasets.json"), limits());
    let found = site.get("/?q=quokka").await.body;
    let own = found
        .split("href=\"")
        .find(|rest| rest.starts_with("/dataset/"))
        .expect("a link");
    let own = own.split(['"', '/']).nth(2).expect("an id").to_owned();
    let svg = site
        .get(&format!("/dataset/{own}/snippet?format=svg"))
        .await;
    assert_eq!(
        (svg.status, svg.media_type()),
        (StatusCode::OK, "image/svg+xml"),
        "{own}"
    );
    assert!(
        svg.body.contains("&lt;script&gt;") && !svg.body.contains("<script"),
        "{}",
        svg.body
    );
}

#[cfg(feature = "rocksdb")]
mod program {
    use super::{chosen, testdata};
    use crate::http::Site;
    use crate::support::{Home, run};
    use std::fs;

    #[test]
    fn a_query_chooses_on_the_command_line() {
        let home = Home::from_catalog(&testdata("catalog.ttl")).into_folder();
        for method in ["ksd", "optimal", "cover", "qpcsg"] {
            let ran = run(
                home.path(),
                &[
                    "snippet",
                    "street-trees",
                    "-k",
                    "6",
                    "--method",
                    method,
                    "--query",
                    "ginkgo",
                ],
            );
            // QPCSG shows frequent patterns first: the word needs more triples than these.
            assert!(
                ran.code == Some(0) && (ran.out.contains("inkgo") || method == "qpcsg"),
                "{method}: {ran:?}"
            );
            assert!((1..=6).contains(&ran.out.lines().count()), "{ran:?}");
            let file = run(
                home.path(),
                &[
                    "snippet",
                    "testdata/dumps/trees.nt.gz",
                    "-k",
                    "6",
                    "--method",
                    method,
                    "--query",
                    "ginkgo",
                ],
            );
            assert_eq!(file.out, ran.out, "a file has the snippets of the dataset");
            let without = run(
                home.path(),
                &["snippet", "street-trees", "--method", method],
            );
            assert_eq!(without.code, Some(2));
            assert!(
                without.err.contains(&format!("{method} requires a query")),
                "{}",
                without.err
            );
        }
        let unknown = run(
            home.path(),
            &["snippet", "street-trees", "--method", "guess"],
        );
        assert!(
            unknown.code == Some(2) && unknown.err.contains("qpcsg"),
            "{unknown:?}"
        );
        let basic = run(
            home.path(),
            &["snippet", "street-trees", "-k", "5", "--method", "basic"],
        );
        assert!(
            basic.code == Some(0) && basic.err.starts_with("IlluSnip BASIC: 5 of 105"),
            "{basic:?}"
        );
        let stored = run(home.path(), &["index", "--snippet-method", "optimal"]);
        assert!(stored.code == Some(2), "no query at index time: {stored:?}");
    }

    #[test]
    fn pictures_languages_and_provenance() {
        let home = Home::from_catalog(&testdata("catalog.ttl")).into_folder();
        let svg = run(home.path(), &["snippet", "soil-types", "--svg"]);
        assert!(
            svg.out.starts_with("<svg ") && svg.out.contains("Thesaurus of soil types"),
            "{svg:?}"
        );
        let file = home.path().join("a.svg");
        let option = format!("--svg={}", file.display());
        assert_eq!(
            run(home.path(), &["snippet", "soil-types", &option]).out,
            ""
        );
        assert_eq!(fs::read_to_string(&file).expect("written") + "\n", svg.out);

        let labels =
            |language: &str| run(home.path(), &["snippet", "soil-types", "--lang", language]).out;
        assert!(labels("en") != labels("de") && labels("de") != labels("fr,de"));
        assert_eq!(labels("tlh"), labels("en"));

        let told = run(
            home.path(),
            &[
                "snippet",
                "soil-types",
                "-k",
                "3",
                "--rdf",
                "nt",
                "--provenance",
            ],
        );
        assert!(
            told.out
                .contains("<http://www.w3.org/ns/prov#generatedAtTime>"),
            "{told:?}"
        );
        assert_eq!(told.out.matches("#statement>").count(), 3);
        let refused = run(
            home.path(),
            &[
                "snippet",
                "testdata/dumps/soils.ttl",
                "--rdf",
                "nt",
                "--provenance",
            ],
        );
        assert!(
            refused.code == Some(2)
                && refused
                    .err
                    .contains("--provenance requires a dataset of the home"),
            "{refused:?}"
        );
    }

    #[tokio::test]
    async fn the_same_by_http() {
        let home = Home::from_catalog(&testdata("catalog.ttl")).into_folder();
        let ran = run(
            home.path(),
            &[
                "snippet",
                "street-trees",
                "--method",
                "cover",
                "--query",
                "ginkgo",
                "--rdf",
                "nt",
            ],
        );
        let site = Site::testdata();
        let reply = site
            .get("/dataset/street-trees/snippet?method=cover&query=ginkgo&format=json")
            .await;
        assert_eq!(ran.out.lines().count(), chosen(&reply).len());
        for [subject, ..] in chosen(&reply) {
            assert!(ran.out.contains(&subject), "{subject} in {}", ran.out);
        }
    }
}
