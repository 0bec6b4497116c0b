//! Edits of descriptions: patches, conditions, what survives a load, and what others see of an edit.

use super::admin::{READ, WRITE, site};
use super::http::{Reply, Site};
use axum::http::Method;
use lodeseek_catalog::DescriptionField;
use lodeseek_changes::{Scope, Tokens};
use serde_json::{Value, json};

const DATASET: &str = "/api/admin/datasets/trees";
const MERGE: &str = "application/merge-patch+json";

async fn change(
    site: &Site,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Reply {
    let mut all = vec![("prefer", "wait=120")];
    if !headers.iter().any(|(name, _)| *name == "authorization") {
        all.push(("authorization", WRITE));
    }
    all.extend(headers);
    site.request(method, path, &all, body).await
}

async fn patch(site: &Site, patch: &Value, headers: &[(&str, &str)]) -> Reply {
    let headers = [&[("content-type", MERGE)][..], headers].concat();
    change(site, Method::PATCH, DATASET, &headers, &patch.to_string()).await
}

async fn put(site: &Site, metadata: &Value, headers: &[(&str, &str)]) -> Reply {
    let headers = [&[("content-type", "application/json")][..], headers].concat();
    change(site, Method::PUT, DATASET, &headers, &metadata.to_string()).await
}

async fn get(site: &Site) -> (Value, String) {
    let reply = site
        .request(Method::GET, DATASET, &[("authorization", READ)], "")
        .await;
    assert_eq!(reply.status, 200, "{}", reply.body);
    let tag = reply.header("etag").to_owned();
    assert_eq!(reply.json()["etag"], tag);
    (reply.json(), tag)
}

fn first() -> Value {
    json!({
        "title": {"en": "Trees", "de": "Bäume"}, "description": "All trees of the city", "keywords": ["tree", "wood"],
        "publisher": "City", "license": "https://creativecommons.org/licenses/by/4.0/",
    })
}

#[tokio::test]
async fn a_patch_keeps_what_it_does_not_name() {
    let (site, _worker, _) = site();
    let created = put(&site, &first(), &[("if-none-match", "*")]).await;
    assert_eq!(created.status, 201, "{}", created.body);
    let (before, tag) = get(&site).await;
    assert_eq!(
        before["description"]["title"],
        json!({"en": "Trees", "de": "Bäume"})
    );
    assert_eq!(
        created.header("etag"),
        tag,
        "the response of a change has the new tag"
    );
    let edited = patch(
        &site,
        &json!({"title": {"de": "Straßenbäume", "fr": "Arbres"}, "keywords": ["oak"], "publisher": null}),
        &[("if-match", &tag)],
    )
    .await;
    assert_eq!(edited.status, 200, "{}", edited.body);
    let (after, new_tag) = get(&site).await;
    let description = &after["description"];
    assert_eq!(
        description["title"],
        json!({"en": "Trees", "de": "Straßenbäume", "fr": "Arbres"})
    );
    assert_eq!(
        description["description"],
        json!({"und": "All trees of the city"})
    );
    assert_eq!(description["keywords"], json!({"und": ["oak"]}));
    assert!(description["publisher"].is_null());
    assert_eq!(
        description["license"],
        json!(["https://creativecommons.org/licenses/by/4.0/"])
    );
    assert_ne!(tag, new_tag);
    assert_eq!(
        (
            edited.header("etag"),
            edited.json()["result"]["etag"].as_str()
        ),
        (new_tag.as_str(), Some(new_tag.as_str()))
    );
    // The origin of each edit is shown.
    assert_eq!(after["edits"]["title"]["by"], "write");
    assert_eq!(
        after["edits"]["title"]["value"],
        json!({"de": "Straßenbäume", "fr": "Arbres"})
    );
    assert_eq!(after["source"]["publisher"], json!(["City"]));
    let page = site.accept("/dataset/trees", "text/html").await.body;
    assert!(
        page.contains("Edited in this catalogue, not by the source: Keywords, Publisher, Title")
    );
    let turtle = site.accept("/dataset/trees", "text/turtle").await.body;
    assert!(
        turtle.contains("changeNote") && turtle.contains("keywords, publisher, title"),
        "{turtle}"
    );
    assert!(turtle.contains("Straßenbäume") && !turtle.contains("urn:lodeseek:"));
    let catalog = site.accept("/catalog", "text/turtle").await.body;
    assert!(catalog.contains("changeNote"), "{catalog}");
    let found = site.get("/api/search?q=Arbres").await.json();
    assert_eq!(found["hits"][0]["id"], "trees", "edits are searched");
    let hidden = site.get("/api/search?q=City").await.json();
    assert_eq!(hidden["hits"].as_array().map(Vec::len), Some(1), "{hidden}");
    let query = "ASK { GRAPH ?g { ?s <urn:lodeseek:edits> ?o } }";
    let asked = site
        .request(
            Method::POST,
            "/sparql",
            &[
                ("content-type", "application/sparql-query"),
                ("accept", "application/sparql-results+json"),
            ],
            query,
        )
        .await;
    assert_eq!(asked.json()["boolean"], false);
    // The audit log names the fields.
    let audit = site
        .request(
            Method::GET,
            "/api/admin/audit",
            &[("authorization", READ)],
            "",
        )
        .await
        .body;
    let last: Value = serde_json::from_str(audit.lines().last().unwrap_or_default()).expect("JSON");
    assert_eq!(
        (&last["action"], &last["fields"]),
        (&json!("edit"), &json!(["keywords", "publisher", "title"]))
    );
    let first: Value =
        serde_json::from_str(audit.lines().next().unwrap_or_default()).expect("JSON");
    assert_eq!(first["action"], "put");
    assert!(
        first["fields"]
            .as_array()
            .is_some_and(|fields| fields.contains(&json!("license"))),
        "{first}"
    );
}

#[tokio::test]
async fn edits_survive_uploads_and_are_removed() {
    let (site, _worker, _) = site();
    put(&site, &first(), &[]).await;
    assert_eq!(
        patch(
            &site,
            &json!({"title": {"en": "Street trees"}, "version": "1.10"}),
            &[]
        )
        .await
        .status,
        200
    );
    // A description replaces the present one as a whole, and the result names what is removed; edits stay in force.
    let replaced = put(
        &site,
        &json!({"title": {"en": "All trees"}, "issued": "2020"}),
        &[],
    )
    .await;
    assert_eq!(replaced.status, 200, "{}", replaced.body);
    let result = &replaced.json()["result"];
    assert_eq!(
        result["removedKeys"],
        json!(["description", "keywords", "license", "publisher"]),
        "{result}"
    );
    assert_eq!(result["edited"], json!(["title", "version"]));
    let (state, _) = get(&site).await;
    assert_eq!(state["description"]["title"], json!({"en": "Street trees"}));
    assert_eq!(
        state["description"]["version"],
        json!({"und": "1.10"}),
        "the lexical form"
    );
    assert_eq!(state["source"]["title"], json!({"en": "All trees"}));
    assert!(state["description"]["license"].is_null());
    // A dump without a description keeps both.
    let body = "--B\r\nContent-Disposition: form-data; name=\"dump\"; filename=\"a.ttl\"\r\n\r\n<e:a> <e:p> 1 .\r\n--B--\r\n";
    let dumped = change(
        &site,
        Method::PUT,
        DATASET,
        &[("content-type", "multipart/form-data; boundary=B")],
        body,
    )
    .await;
    assert_eq!(dumped.status, 200, "{}", dumped.body);
    assert_eq!(
        get(&site).await.0["source"]["title"],
        json!({"en": "All trees"})
    );
    let edits = format!("{DATASET}/edits");
    let one = change(
        &site,
        Method::DELETE,
        &format!("{edits}?key=title"),
        &[],
        "",
    )
    .await;
    assert_eq!(one.status, 200, "{}", one.body);
    let (state, _) = get(&site).await;
    assert_eq!(state["description"]["title"], json!({"en": "All trees"}));
    assert_eq!(
        state["edits"]
            .as_object()
            .map(|edits| edits.keys().cloned().collect::<Vec<_>>()),
        Some(vec!["version".to_owned()])
    );
    let wrong = change(
        &site,
        Method::DELETE,
        &format!("{edits}?key=titel"),
        &[],
        "",
    )
    .await;
    assert_eq!(
        (wrong.status.as_u16(), wrong.body.contains("titel")),
        (422, true)
    );
    assert_eq!(
        change(&site, Method::DELETE, &edits, &[], "").await.status,
        200
    );
    let (state, _) = get(&site).await;
    assert_eq!(
        (&state["edits"], &state["description"]["version"]),
        (&json!({}), &Value::Null)
    );
    let page = site.accept("/dataset/trees", "text/html").await.body;
    assert!(!page.contains("Edited in this catalogue"));
}

#[tokio::test]
async fn the_audit_log_names_edits_corrections_and_resets() {
    let (site, _worker, _) = site();
    put(&site, &first(), &[]).await;
    for title in ["Street trees", "Trees of streets"] {
        let patched = patch(&site, &json!({"title": {"en": title}}), &[]).await;
        assert_eq!(patched.status, 200, "{}", patched.body);
    }
    // One key has an edit, the other has none.
    let both = json!({"title": {"en": "All trees"}, "version": "1.10"});
    assert_eq!(patch(&site, &both, &[]).await.status, 200);
    let edits = format!("{DATASET}/edits");
    for path in [format!("{edits}?key=version"), edits] {
        let reset = change(&site, Method::DELETE, &path, &[], "").await;
        assert_eq!(reset.status, 200, "{}", reset.body);
    }
    let headers = [("authorization", READ)];
    let audit = site.request(Method::GET, "/api/admin/audit", &headers, "");
    let audit = audit.await.body;
    let mut actions = Vec::new();
    for line in audit.lines() {
        let entry: Value = serde_json::from_str(line).expect("JSON");
        actions.push((entry["action"].clone(), entry["fields"].clone()));
    }
    assert_eq!(
        actions[1..],
        [
            (json!("edit"), json!(["title"])),
            (json!("correction"), json!(["title"])),
            (json!("edit"), json!(["title", "version"])),
            (json!("reset"), json!(["version"])),
            (json!("reset"), json!(["title"])),
        ]
    );
}

#[tokio::test]
async fn wrong_keys_and_values_are_named() {
    let (site, _worker, _) = site();
    put(&site, &first(), &[]).await;
    let (before, _) = get(&site).await;
    for (value, message) in [
        (
            json!({"titel": "X"}),
            "titel: unknown key; did you mean title?",
        ),
        (
            json!({"title": 7}),
            "title: a text, or an object of texts by language is expected, not a number",
        ),
        (json!({"title": {"en": ["a", 1]}}), "title: "),
        (json!({"issued": "soon"}), "issued: \"soon\" is no date"),
        (
            json!({"publisher": {"name": "A", "address": "B"}}),
            "publisher.address: unknown key",
        ),
    ] {
        for reply in [
            patch(&site, &value, &[]).await,
            put(&site, &value, &[]).await,
        ] {
            assert_eq!(reply.status, 422, "{value}: {}", reply.body);
            assert!(
                reply.json()["error"]
                    .as_str()
                    .is_some_and(|error| error.contains(message)),
                "{value}: {}",
                reply.body
            );
        }
    }
    assert_eq!(get(&site).await.0, before, "nothing was changed");
    assert_eq!(patch(&site, &json!({}), &[]).await.status, 400);
    assert_eq!(patch(&site, &json!([]), &[]).await.status, 400);
    let other = change(
        &site,
        Method::PATCH,
        DATASET,
        &[("content-type", "text/turtle")],
        "",
    )
    .await;
    assert_eq!(other.status, 415, "{}", other.body);
    let missing = change(
        &site,
        Method::PATCH,
        "/api/admin/datasets/none",
        &[("content-type", MERGE)],
        "{\"title\": \"X\"}",
    )
    .await;
    assert_eq!(missing.status, 404, "{}", missing.body);
    let reader = patch(&site, &json!({"title": "X"}), &[("authorization", READ)]).await;
    assert_eq!(reader.status, 403, "{}", reader.body);
}

#[tokio::test]
async fn conditions_protect_from_lost_updates() {
    let (site, _worker, home) = site();
    assert_eq!(
        put(&site, &first(), &[("if-match", "*")]).await.status,
        412,
        "there is no dataset yet"
    );
    assert_eq!(
        put(&site, &first(), &[("if-none-match", "*")]).await.status,
        201
    );
    assert_eq!(
        put(&site, &first(), &[("if-none-match", "*")]).await.status,
        412
    );
    let (_, tag) = get(&site).await;
    assert_eq!(
        put(&site, &json!({"title": "Other"}), &[("if-match", "\"0\"")])
            .await
            .status,
        412
    );
    assert_eq!(
        put(&site, &json!({"title": "Other"}), &[("if-match", &tag)])
            .await
            .status,
        200
    );
    let (_, second) = get(&site).await;
    for method in [Method::PATCH, Method::DELETE] {
        let headers = [("content-type", MERGE), ("if-match", tag.as_str())];
        let stale = change(
            &site,
            method.clone(),
            DATASET,
            &headers,
            "{\"title\": \"Stale\"}",
        )
        .await;
        assert_eq!(stale.status, 412, "{method}: {}", stale.body);
        assert!(
            stale.body.contains(&second.replace('"', "\\\"")),
            "it has the present tag: {}",
            stale.body
        );
    }
    let old = ("if-unmodified-since", "Fri, 02 Jan 2015 03:04:05 GMT");
    assert_eq!(
        patch(&site, &json!({"title": "Stale"}), &[old])
            .await
            .status,
        412
    );
    let known = [("authorization", READ), ("if-none-match", second.as_str())];
    let unchanged = site.request(Method::GET, DATASET, &known, "").await;
    assert_eq!(
        (unchanged.status.as_u16(), unchanged.body.as_str()),
        (304, "")
    );
    assert!(!unchanged.header("last-modified").is_empty());
    // Two people who edit the same key: the second must state what was read.
    assert_eq!(
        patch(&site, &json!({"title": "Mine"}), &[]).await.status,
        200
    );
    Tokens::new(&home)
        .add("second", Scope::Write, "second-secret", 1)
        .expect("added");
    let other = ("authorization", "Bearer second-secret");
    let blind = patch(&site, &json!({"title": "Yours"}), &[other]).await;
    assert_eq!(
        (
            blind.status.as_u16(),
            blind.body.contains("title: write edited it at")
        ),
        (428, true),
        "{}",
        blind.body
    );
    assert_eq!(
        patch(&site, &json!({"description": "Another key"}), &[other])
            .await
            .status,
        200
    );
    let (_, third) = get(&site).await;
    assert_eq!(
        patch(
            &site,
            &json!({"title": "Yours"}),
            &[other, ("if-match", &third)]
        )
        .await
        .status,
        200
    );
    assert_eq!(get(&site).await.0["edits"]["title"]["by"], "second");
    // A job that waits is checked when it begins.
    let (_, fourth) = get(&site).await;
    let headers = [
        ("authorization", WRITE),
        ("content-type", MERGE),
        ("if-match", fourth.as_str()),
    ];
    let mut jobs = Vec::new();
    for title in ["One", "Two", "Three"] {
        let body = json!({"title": title}).to_string();
        let queued = site.request(Method::PATCH, DATASET, &headers, &body).await;
        assert!(
            matches!(queued.status.as_u16(), 202 | 412),
            "{}",
            queued.body
        );
        jobs.extend(queued.json()["id"].as_u64());
    }
    let mut made = 0;
    for job in jobs {
        let path = format!("/api/admin/jobs/{job}");
        let ended = site
            .request(
                Method::GET,
                &path,
                &[("authorization", READ), ("prefer", "wait=120")],
                "",
            )
            .await
            .json();
        made += usize::from(ended["state"] == "done");
        assert!(
            ended["state"] == "done" || ended["status"] == 412,
            "{ended}"
        );
    }
    assert_eq!(
        made, 1,
        "only one of three changes of the same state is made"
    );
    let (_, last) = get(&site).await;
    assert_eq!(
        change(&site, Method::DELETE, DATASET, &[("if-match", &last)], "")
            .await
            .status,
        200
    );
}

#[test]
fn the_reference_lists_all_keys() {
    let path = super::support::root().join("docs/src/reference/descriptions.md");
    let page = std::fs::read_to_string(path).expect("the page");
    let table = page
        .split("<!-- keys")
        .nth(1)
        .and_then(|rest| rest.split("<!-- /keys").next());
    let rows: Vec<&str> = table
        .expect("the table")
        .lines()
        .filter(|line| line.starts_with("| `"))
        .collect();
    assert_eq!(rows.len(), DescriptionField::ALL.len());
    for (field, row) in DescriptionField::ALL.iter().zip(rows) {
        let start = format!("| `{}` | {} | `", field.key, field.values());
        assert!(
            row.starts_with(&start),
            "{start} is expected in place of {row}"
        );
        for alias in field.aliases {
            assert!(page.contains(&format!("`{alias}`")), "{alias}");
        }
    }
}

#[cfg(feature = "rocksdb")]
mod program {
    use crate::support::run;
    use serde_json::{Value, json};
    use std::fs;
    use std::path::Path;

    fn json_of(home: &Path, arguments: &[&str]) -> Value {
        let ran = run(home, arguments);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        serde_json::from_str(&ran.out).expect("JSON")
    }

    fn catalog(folder: &Path, title: &str) -> String {
        let text = format!(
            "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
             <http://e.org/trees> a dcat:Dataset ; dct:identifier \"trees\" ; dct:title \"{title}\"@en ; dct:description \"Kept\" ;
                 dcat:distribution [ dcat:downloadURL <trees.nt> ] ."
        );
        let path = folder.join("catalog.ttl");
        fs::write(folder.join("trees.nt"), "<e:a> <e:p> \"oak\" . # 1\n").expect("written");
        fs::write(&path, text).expect("written");
        path.to_string_lossy().into_owned()
    }

    #[test]
    fn edits_are_made_shown_and_removed_on_the_command_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = &folder.path().join("home");
        let path = catalog(folder.path(), "Trees");
        for arguments in [&["load", &path][..], &["index"]] {
            assert_eq!(run(home, arguments).code, Some(0));
        }
        let edited = run(
            home,
            &[
                "edit",
                "trees",
                "--set",
                "title@en=Street trees",
                "--set",
                "title@de=Straßenbäume",
                "--unset",
                "description",
            ],
        );
        assert_eq!(edited.code, Some(0), "{edited:?}");
        assert!(
            edited.err.contains(
                "title: {\"en\":\"Trees\"} → {\"de\":\"Straßenbäume\",\"en\":\"Street trees\"}"
            ),
            "{edited:?}"
        );
        assert!(
            run(home, &["search", "Straßenbäume"])
                .out
                .contains("Street trees")
        );
        // A later load of the source, with another description.
        let path = catalog(folder.path(), "All trees");
        assert_eq!(run(home, &["load", &path]).code, Some(0));
        assert_eq!(run(home, &["index"]).code, Some(0));
        let state = json_of(home, &["edit", "trees", "--json"]);
        assert_eq!(
            state["description"]["title"],
            json!({"de": "Straßenbäume", "en": "Street trees"})
        );
        assert_eq!(
            (&state["source"]["title"], &state["edits"]["title"]["by"]),
            (&json!({"en": "All trees"}), &json!("local"))
        );
        assert!(state["description"]["description"].is_null());
        let text = run(home, &["edit", "trees"]).out;
        assert!(
            text.contains("title: ")
                && text.contains("edited by local at ")
                && text.contains("etag: \""),
            "{text}"
        );
        for (arguments, message) in [
            (
                &["edit", "trees", "--set", "titel=X"][..],
                "titel: unknown key; did you mean title?",
            ),
            (
                &["edit", "trees", "--set", "issued=soon"],
                "issued: \"soon\" is no date",
            ),
            (
                &["edit", "tree", "--set", "title=X"],
                "did you mean `trees`?",
            ),
            (
                &["edit", "trees", "--set", "title=X", "--if-match", "\"0\""],
                "was changed meanwhile",
            ),
        ] {
            let wrong = run(home, arguments);
            assert_eq!(wrong.code, Some(2), "{wrong:?}");
            assert!(wrong.err.contains(message), "{wrong:?}");
        }
        let tag = state["etag"].as_str().expect("a tag").to_owned();
        let patch = folder.path().join("patch.json");
        fs::write(&patch, "{\"keywords\": [\"a\", \"b\"]}").expect("written");
        let patched = json_of(
            home,
            &[
                "edit",
                "trees",
                "--patch",
                patch.to_str().expect("a path"),
                "--if-match",
                &tag,
                "--json",
            ],
        );
        assert_eq!(
            patched["changed"]["keywords"]["after"],
            json!({"und": ["a", "b"]})
        );
        assert_eq!(run(home, &["edit", "trees", "--reset=title"]).code, Some(0));
        assert_eq!(
            json_of(home, &["edit", "trees", "--json"])["description"]["title"],
            json!({"en": "All trees"})
        );
        assert_eq!(run(home, &["edit", "trees", "--reset"]).code, Some(0));
        let state = json_of(home, &["edit", "trees", "--json"]);
        assert_eq!(
            (&state["edits"], &state["description"]["description"]),
            (&json!({}), &json!({"und": "Kept"}))
        );
        // Through a running server.
        #[cfg(unix)]
        {
            let server = crate::serving::Server::start(home, &["--admin"]);
            let edited = run(
                home,
                &["edit", "trees", "--set", "title@en=Changed by the server"],
            );
            assert_eq!(edited.code, Some(0), "{edited:?}");
            assert!(
                server
                    .get("/api/search?q=changed")
                    .contains("Changed by the server")
            );
            assert!(
                run(home, &["edit", "trees", "--set", "titel=X"])
                    .err
                    .contains("did you mean title?")
            );
            let stale = run(
                home,
                &["edit", "trees", "--set", "title=X", "--if-match", "\"0\""],
            );
            assert!(
                stale.code == Some(2) && stale.err.contains("If-Match"),
                "{stale:?}"
            );
            assert_eq!(run(home, &["edit", "trees", "--reset"]).code, Some(0));
            assert_eq!(
                json_of(home, &["edit", "trees", "--json"])["edits"],
                json!({})
            );
        }
    }
}
