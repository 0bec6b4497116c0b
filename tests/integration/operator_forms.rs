//! The administration in a browser: sessions, forms and what they change.

use super::admin::{site, site_with};
use super::http::{Reply, Site};
use axum::http::Method;
use lodeseek_server::Operators;

/// A browser that has logged in.
struct Browser<'s> {
    site: &'s Site,
    cookie: String,
    /// Secret of the forms.
    form: String,
}

fn encoded(fields: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new())
        .extend_pairs(fields)
        .finish()
}

async fn post(site: &Site, path: &str, cookie: &str, fields: &[(&str, &str)]) -> Reply {
    let headers = [
        ("content-type", "application/x-www-form-urlencoded"),
        ("sec-fetch-site", "same-origin"),
        ("cookie", cookie),
    ];
    site.request(Method::POST, path, &headers, &encoded(fields))
        .await
}

impl<'s> Browser<'s> {
    async fn log_in(site: &'s Site, secret: &str) -> Self {
        let reply = post(site, "/operator/login", "", &[("token", secret)]).await;
        assert_eq!(
            (reply.status.as_u16(), reply.header("location")),
            (303, "/operator/datasets"),
            "{}",
            reply.body
        );
        let set = reply.header("set-cookie");
        for part in ["Path=/operator", "HttpOnly", "SameSite=Strict"] {
            assert!(set.contains(part), "{set}");
        }
        let cookie = set.split(';').next().expect("a cookie").to_owned();
        let mut browser = Self {
            site,
            cookie,
            form: String::new(),
        };
        let page = browser.get("/operator/jobs").await.body;
        let secret = page
            .split("name=\"form\" value=\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next());
        browser.form = secret.expect("a secret").to_owned();
        browser
    }

    async fn get(&self, path: &str) -> Reply {
        let headers = [("cookie", self.cookie.as_str()), ("accept", "text/html")];
        self.site.request(Method::GET, path, &headers, "").await
    }

    /// Sends a form with its secret.
    async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Reply {
        let fields = [fields, &[("form", self.form.as_str())]].concat();
        post(self.site, path, &self.cookie, &fields).await
    }

    /// Sends a form and returns the page of its job, which has ended.
    async fn change(&self, path: &str, fields: &[(&str, &str)]) -> String {
        let reply = self.post(path, fields).await;
        assert_eq!(reply.status.as_u16(), 303, "{}", reply.body);
        self.ended_job(reply.header("location")).await
    }

    async fn ended_job(&self, path: &str) -> String {
        assert!(path.starts_with("/operator/jobs?job="), "{path}");
        for _ in 0..600 {
            let page = self.get(path).await.body;
            if !page.contains("http-equiv=\"refresh\"") {
                return page;
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        panic!("the job does not end");
    }

    async fn upload(&self, name: &str, text: &str) -> String {
        let body = format!(
            "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\nContent-Type: text/turtle\r\n\r\n{text}\r\n--B--\r\n"
        );
        let headers = [
            ("content-type", "multipart/form-data; boundary=B"),
            ("sec-fetch-site", "same-origin"),
            ("cookie", self.cookie.as_str()),
        ];
        let path = format!("/operator/upload?form={}", self.form);
        let reply = self
            .site
            .request(Method::POST, &path, &headers, &body)
            .await;
        assert_eq!(reply.status.as_u16(), 303, "{}", reply.body);
        self.ended_job(reply.header("location")).await
    }
}

/// Returns the entity tag of a form.
fn hidden_tag(form: &str) -> String {
    let rest = form.split("name=\"etag\" value=\"").nth(1);
    let tag = rest.and_then(|rest| rest.split("\">").next());
    tag.expect("a tag").replace("&#34;", "\"")
}

const CATALOG: &str = "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
<http://e.org/t> a dcat:Dataset ; dct:identifier \"trees\" ; dct:title \"Bäume\"@de , \"Trees\"@en ; dcat:keyword \"tree\"@en .";

/// The operator token opens a session that reads. Other tokens work beside it.
#[tokio::test]
async fn the_operator_token_logs_in_for_reading() {
    let (site, _worker, _home) = site_with(Operators::with_token("the operator token"));
    let browser = Browser::log_in(&site, "the operator token").await;
    for path in ["/operator", "/operator/jobs", "/operator/audit"] {
        assert_eq!(browser.get(path).await.status.as_u16(), 200, "{path}");
    }
    let changed = browser
        .post("/operator/sources", &[("url", "http://e.org/")])
        .await;
    assert_eq!(changed.status.as_u16(), 403, "{}", changed.body);
    // The page of the error names the missing right, and has the menu.
    for part in [
        "the token operator-token has the scope read",
        "needs admin",
        "Not allowed",
        "Log out operator-token (read)",
        "href=\"/operator/audit\"",
    ] {
        assert!(changed.body.contains(part), "{part} in {}", changed.body);
    }
    let missing = browser.get("/operator/dataset?id=none").await;
    assert!(
        missing.status.as_u16() == 404 && missing.body.contains("Log out operator-token (read)"),
        "{}",
        missing.body
    );
    // What the session may not do has no button.
    for (path, button) in [
        ("/operator/sources", "Harvest now</button>"),
        ("/operator/upload", "Upload</button>"),
        ("/operator/backup", "Back up now</button>"),
    ] {
        let page = browser.get(path).await;
        assert_eq!(page.status.as_u16(), 200, "{path}");
        assert!(!page.body.contains(button), "{path}: {}", page.body);
    }
    let status = browser.get("/operator").await.body;
    assert!(
        status.contains("aria-current=\"page\">Status</a>")
            && status.contains("Log out operator-token (read)"),
        "{status}"
    );
    // Browsers log in; programs get a status.
    let redirected = site.accept("/operator", "text/html,*/*;q=0.8").await;
    assert_eq!(
        (
            redirected.status.as_u16(),
            redirected.header("location"),
            redirected.header("cache-control")
        ),
        (303, "/operator/login", "no-store")
    );
    for (path, accept) in [
        ("/operator", "*/*"),
        ("/api/operator", "text/html"),
        ("/metrics", "text/html"),
    ] {
        let reply = site.accept(path, accept).await;
        assert!(
            reply.status.as_u16() == 401
                && reply.header("www-authenticate").starts_with("Basic realm"),
            "{path}"
        );
    }

    Browser::log_in(&site, "admin-secret").await;
    let wrong = post(&site, "/operator/login", "", &[("token", "another")]).await;
    assert_eq!(wrong.status.as_u16(), 403, "{}", wrong.body);
}

#[tokio::test]
async fn an_operator_uploads_edits_and_removes() {
    let (site, _worker, _home) = site();
    let browser = Browser::log_in(&site, "write-secret").await;
    let uploaded = browser.upload("catalog.ttl", CATALOG).await;
    assert!(
        uploaded.contains("done") && uploaded.contains("Trees (trees): metadata-only; triples: 0"),
        "{uploaded}"
    );
    let listed = browser.get("/operator/datasets?q=bäume").await.body;
    assert!(
        listed.contains("1 dataset") && listed.contains("/operator/dataset?id=trees"),
        "{listed}"
    );

    let form = browser.get("/operator/dataset?id=trees").await.body;
    for part in [
        "name=\"title@de\"",
        ">Bäume</textarea>",
        "name=\"title@en\"",
        "name=\"keywords@en\"",
    ] {
        assert!(form.contains(part), "{part} in {form}");
    }
    let etag = hidden_tag(&form);
    let edit = [
        ("id", "trees"),
        ("do", "edit"),
        ("etag", etag.as_str()),
        ("title@de", "Bäume der Stadt"),
        ("title@en", "Trees"),
        ("keywords@en", "tree\r\nlinden"),
        ("description@new", "Every tree"),
        ("language", "en"),
    ];
    let edited = browser.change("/operator/dataset", &edit).await;
    for part in [
        "done",
        "href=\"/dataset/trees\">",
        "href=\"/operator/dataset?id=trees\">Edit",
    ] {
        assert!(edited.contains(part), "{part} in {edited}");
    }
    let shown = site
        .request(
            Method::GET,
            "/dataset/trees",
            &[("accept", "text/html"), ("accept-language", "de")],
            "",
        )
        .await
        .body;
    for part in ["Bäume der Stadt</h1>", "Every tree", "linden"] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    let form = browser.get("/operator/dataset?id=trees").await.body;
    assert!(
        form.contains("Remove all edits")
            && form.contains("<span lang=\"de\" dir=\"auto\">Bäume</span> (de)"),
        "{form}"
    );
    // The form of an earlier state overwrites nothing. What was typed is kept, with the present text beside it.
    let late = [
        ("id", "trees"),
        ("do", "edit"),
        ("etag", etag.as_str()),
        ("title@de", "Stadtbäume"),
        ("opened:title@de", "Bäume"),
        ("title@en", "Trees"),
        ("opened:title@en", "Trees"),
        ("keywords@en", "tree"),
        ("opened:keywords@en", "tree"),
        ("description@new", "Tous les arbres"),
        ("language", "fr"),
        ("more", "{\"landingPage\": \"https://e.org/trees\"}"),
    ];
    let late = browser.post("/operator/dataset", &late).await;
    assert_eq!(late.status.as_u16(), 412, "{}", late.body);
    for part in [
        "Another person changed this dataset",
        ">Stadtbäume</textarea>",
        "<span dir=\"auto\">Bäume der Stadt</span>",
        ">Tous les arbres</textarea>",
        "value=\"fr\"",
        "https://e.org/trees",
        // The person did not change these keywords: the form has the present ones.
        ">linden\ntree</textarea>",
    ] {
        assert!(late.body.contains(part), "{part} in {}", late.body);
    }
    assert_eq!(
        late.body.matches("class=\"present\"").count(),
        1,
        "{}",
        late.body
    );
    let tag = hidden_tag(&late.body);
    assert_ne!(tag, etag, "saving the form again needs the present tag");
    let nameless = [
        ("id", "trees"),
        ("do", "edit"),
        ("etag", tag.as_str()),
        ("title@de", "Stadtbäume"),
        ("description@new", "Tous les arbres"),
    ];
    let nameless = browser.post("/operator/dataset", &nameless).await;
    assert_eq!(nameless.status.as_u16(), 400, "{}", nameless.body);
    for part in [
        "name the language of the new text",
        ">Stadtbäume</textarea>",
        ">Tous les arbres</textarea>",
    ] {
        assert!(nameless.body.contains(part), "{part} in {}", nameless.body);
    }

    let reset = browser
        .change("/operator/dataset", &[("id", "trees"), ("do", "reset")])
        .await;
    assert!(reset.contains("done"), "{reset}");
    let audit = browser.get("/operator/audit").await.body;
    for part in [
        "<td>edit</td>",
        "<td>reset</td>",
        "keywords",
        "load",
        "write",
        "trees; catalog.ttl",
        "<time datetime=\"",
    ] {
        assert!(audit.contains(part), "{part} in {audit}");
    }
    // Edits are no loads.
    let loads = browser.get("/operator").await.body;
    assert!(
        loads.contains("href=\"/dataset/trees\"") && !loads.contains(">replaced"),
        "{loads}"
    );
    let unsure = [("id", "trees"), ("do", "remove"), ("confirm", "tree")];
    let refused = browser.post("/operator/dataset", &unsure).await;
    assert_eq!(refused.status.as_u16(), 400, "{}", refused.body);
    let sure = [("id", "trees"), ("do", "remove"), ("confirm", "trees")];
    assert!(
        browser
            .change("/operator/dataset", &sure)
            .await
            .contains("done")
    );
    assert_eq!(site.get("/dataset/trees").await.status.as_u16(), 404);
    let loads = browser.get("/operator").await.body;
    assert!(
        loads.contains("Trees (removed)") && !loads.contains("href=\"/dataset/trees\""),
        "{loads}"
    );
}

#[tokio::test]
async fn only_a_session_with_its_form_and_scope_changes_something() {
    let (site, _worker, home) = site();
    let wrong = post(&site, "/operator/login", "", &[("token", "guess")]).await;
    assert!(
        wrong.status.as_u16() == 403 && wrong.header("set-cookie").is_empty(),
        "{}",
        wrong.body
    );
    for path in [
        "/operator/sources",
        "/operator/upload",
        "/operator/datasets",
        "/operator/dataset?id=a",
        "/operator/jobs",
        "/operator/backup",
        "/operator/audit",
        "/operator/searches",
    ] {
        let reply = site.get(path).await;
        assert_eq!(
            (reply.status.as_u16(), reply.header("location")),
            (303, "/operator/login"),
            "{path}"
        );
    }
    let browser = Browser::log_in(&site, "write-secret").await;
    let remove = [("id", "trees"), ("do", "remove"), ("confirm", "trees")];
    let without = post(&site, "/operator/dataset", &browser.cookie, &remove).await;
    assert_eq!(without.status.as_u16(), 403, "{}", without.body);
    let fields = [&remove[..], &[("form", browser.form.as_str())]].concat();
    let elsewhere = site
        .request(
            Method::POST,
            "/operator/dataset",
            &[
                ("content-type", "application/x-www-form-urlencoded"),
                ("sec-fetch-site", "cross-site"),
                ("cookie", browser.cookie.as_str()),
            ],
            &encoded(&fields),
        )
        .await;
    assert_eq!(elsewhere.status.as_u16(), 403, "{}", elsewhere.body);
    // The cookie authorizes no request of a program.
    let api = site
        .request(
            Method::GET,
            "/api/admin/jobs",
            &[("cookie", browser.cookie.as_str())],
            "",
        )
        .await;
    assert_eq!(api.status.as_u16(), 401, "{}", api.body);
    // A token that writes neither harvests nor makes backups.
    let harvest = [("source", "https://e.org/catalog.ttl")];
    for (path, fields) in [
        ("/operator/sources", &harvest[..]),
        ("/operator/backup", &[][..]),
    ] {
        let reply = browser.post(path, fields).await;
        assert_eq!(reply.status.as_u16(), 403, "{path}: {}", reply.body);
        assert!(reply.body.contains("needs admin"), "{}", reply.body);
    }
    let administrator = Browser::log_in(&site, "admin-secret").await;
    let page = administrator.get("/operator/sources").await.body;
    for part in [
        "<option value=\"never\" selected>never</option>",
        "<option value=\"604800\">every week</option>",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
    let nowhere = administrator.post("/operator/backup", &[]).await;
    assert!(
        nowhere.status.as_u16() == 400 && nowhere.body.contains("backup-folder"),
        "{}",
        nowhere.body
    );

    // A removed token ends its sessions; so does logging out.
    lodeseek_changes::Tokens::new(&home)
        .remove("write")
        .expect("removed");
    let ended = browser.get("/operator/jobs").await;
    assert_eq!(ended.header("location"), "/operator/login");
    let out = administrator.post("/operator/logout", &[]).await;
    assert!(out.header("set-cookie").contains("Max-Age=0"));
    assert_eq!(
        administrator.get("/operator/jobs").await.status.as_u16(),
        303
    );
}

#[tokio::test]
async fn operators_see_queries_of_several_addresses() {
    let (site, _worker, _home) = site();
    for _ in 0..3 {
        site.get("/?q=unicorns").await;
    }
    assert_eq!(
        site.get("/api/search?q=unicorns").await.status.as_u16(),
        200
    );
    let browser = Browser::log_in(&site, "write-secret").await;
    let page = browser.get("/operator/searches").await.body;
    // All requests are of one client: they are counted, and the words are not shown.
    assert!(
        page.contains("<td class=\"number\">4</td><td class=\"number\">4</td>"),
        "{page}"
    );
    assert!(!page.contains("unicorns"), "{page}");
}
