//! Files of datasets as they were loaded: downloads with their own bytes, and where they are listed.

use super::admin::{WRITE, site};
use super::http::Site;
use super::support::{Home, limits};
use axum::body::Body;
use axum::http::{Method, Request};
use http_body_util::BodyExt;
use serde_json::json;
use std::fs;
use std::path::Path;

const TURTLE: &str = "# A comment, and a number as it is written.\n<http://e.org/oak> <http://e.org/height> 01.50 .\n";

fn write_catalog(folder: &Path) -> std::path::PathBuf {
    let catalog = "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
        <http://e.org/trees> a dcat:Dataset ; dct:identifier \"trees\" ; dct:title \"Trees\"@en ;
            dcat:distribution [ dcat:downloadURL <dumps/trees.ttl> ], [ dcat:downloadURL <dumps/b%C3%A4ume.nt.gz> ], [ dcat:downloadURL <secret.txt> ] .";
    fs::create_dir_all(folder.join("dumps")).expect("a folder");
    fs::write(folder.join("dumps/trees.ttl"), TURTLE).expect("written");
    fs::write(folder.join("dumps/bäume.nt.gz"), packed()).expect("written");
    fs::write(folder.join("secret.txt"), "no RDF at all").expect("written");
    let path = folder.join("catalog.ttl");
    fs::write(&path, catalog).expect("written");
    path
}

fn packed() -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder
        .write_all(b"<http://e.org/elm> <http://e.org/p> \"1\" .\n")
        .expect("packed");
    encoder.finish().expect("packed")
}

/// Returns the headers and the bytes of a response.
async fn download(
    site: &Site,
    method: Method,
    path: &str,
) -> (axum::http::response::Parts, Vec<u8>) {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("accept-encoding", "gzip, zstd");
    let response = site
        .begin(request.body(Body::empty()).expect("a request"))
        .await;
    let (parts, body) = response.into_parts();
    (
        parts,
        body.collect().await.expect("a body").to_bytes().to_vec(),
    )
}

#[tokio::test]
async fn files_leave_with_their_own_bytes() {
    let folder = tempfile::tempdir().expect("a folder");
    let (app, home) = Home::from_catalog(&write_catalog(folder.path())).serve(limits());
    let site = Site::behind(app, home);
    let listed = site.get("/dataset/trees/files").await.json();
    let mut files = listed["files"].as_array().expect("a list").clone();
    files.sort_by_key(|file| file["mediaType"] != "text/turtle");
    assert_eq!(files.len(), 2, "what is no RDF is not published: {listed}");
    let names: Vec<&str> = files
        .iter()
        .filter_map(|file| file["name"].as_str())
        .collect();
    assert_eq!(names, ["trees.ttl", "bäume.nt.gz"]);
    assert_eq!(
        (&files[0]["bytes"], &files[0]["mediaType"]),
        (&json!(TURTLE.len()), &json!("text/turtle"))
    );
    assert_eq!(
        (&files[1]["bytes"], &files[1]["mediaType"]),
        (&json!(packed().len()), &json!("application/gzip"))
    );
    for (number, expected) in [(0, TURTLE.as_bytes().to_vec()), (1, packed())] {
        let url = files[number]["url"].as_str().expect("an address");
        let path = url
            .strip_prefix("http://localhost:7878")
            .expect("an address of the server");
        let (head, bytes) = download(&site, Method::GET, path).await;
        assert_eq!(head.status, 200, "{path}");
        assert!(bytes == expected, "{path}");
        let header = |name: &str| {
            head.headers
                .get(name)
                .and_then(|value| value.to_str().ok())
                .unwrap_or_default()
                .to_owned()
        };
        assert_eq!(header("content-length"), expected.len().to_string());
        assert_eq!(
            header("content-encoding"),
            "",
            "no compression of the transfer: the size is that of the file"
        );
        assert_eq!(
            header("content-type"),
            files[number]["mediaType"].as_str().unwrap_or_default()
        );
        assert_eq!(
            header("etag"),
            format!(
                "\"{}\"",
                files[number]["sha256"].as_str().unwrap_or_default()
            )
        );
        assert!(header("content-security-policy").contains("sandbox"));
        assert_eq!(header("x-content-type-options"), "nosniff");
        let name = [
            "attachment; filename=\"trees.ttl\"",
            "attachment; filename=\"b_ume.nt.gz\"; filename*=UTF-8''b%C3%A4ume.nt.gz",
        ];
        assert_eq!(header("content-disposition"), name[number]);
        let (head, empty) = download(&site, Method::HEAD, path).await;
        assert_eq!(
            (head.headers.get("content-length").cloned(), empty.len()),
            (expected.len().to_string().parse().ok(), 0)
        );
        let tag = [("if-none-match", header("etag"))];
        let known = site
            .request(Method::GET, path, &[(tag[0].0, &tag[0].1)], "")
            .await;
        assert_eq!((known.status.as_u16(), known.body.as_str()), (304, ""));
    }
    for missing in [
        "/dataset/trees/files/secret.txt",
        "/dataset/trees/files/..%2F..%2Flodeseek.toml",
        "/dataset/none/files",
        "/dataset/none/files/a",
    ] {
        assert_eq!(site.get(missing).await.status, 404, "{missing}");
    }
}

#[tokio::test]
async fn files_are_listed_where_portals_look() {
    let folder = tempfile::tempdir().expect("a folder");
    let (app, home) = Home::from_catalog(&write_catalog(folder.path())).serve(limits());
    let site = Site::behind(app, home);
    let address = "http://localhost:7878/dataset/trees/files/trees.ttl";
    for path in ["/catalog", "/dataset/trees"] {
        let turtle = site.accept(path, "application/n-triples").await.body;
        assert!(
            turtle.contains(&format!("#downloadURL> <{address}>")),
            "{path}: {turtle}"
        );
        assert!(
            turtle.contains("checksumAlgorithm_sha256")
                && turtle.contains(&format!("\"{}\"^^", TURTLE.len())),
            "{path}: {turtle}"
        );
        assert!(!turtle.contains("\"dumps/trees.ttl\""), "{path}: {turtle}");
        // The catalogue declares no formats.
        for (property, iri) in [
            (
                "format",
                "http://publications.europa.eu/resource/authority/file-type/RDF_TURTLE",
            ),
            (
                "format",
                "http://publications.europa.eu/resource/authority/file-type/RDF_N_TRIPLES",
            ),
            (
                "mediaType",
                "https://www.iana.org/assignments/media-types/text/turtle",
            ),
            (
                "mediaType",
                "https://www.iana.org/assignments/media-types/application/n-triples",
            ),
            (
                "compressFormat",
                "https://www.iana.org/assignments/media-types/application/gzip",
            ),
        ] {
            assert!(
                turtle.contains(&format!("{property}> <{iri}> .")),
                "{path}: {iri}: {turtle}"
            );
        }
    }
    let quality = site.get("/dataset/trees/quality?format=json").await.json();
    for dimension in quality["dimensions"].as_array().expect("dimensions") {
        for indicator in dimension["indicators"].as_array().expect("indicators") {
            let name = indicator["indicator"].as_str().expect("a name");
            let is_known = ["format", "media-type", "format-listed", "open-format"]
                .into_iter()
                .chain(["machine-readable", "byte-size"])
                .any(|known| known == name);
            assert!(!is_known || indicator["outcome"] == "met", "{indicator}");
        }
    }
    let page = site.accept("/dataset/trees", "text/html").await.body;
    assert!(
        page.contains("href=\"/dataset/trees/files/trees.ttl\""),
        "{page}"
    );
    assert!(page.contains("format=jsonld"), "beside the other formats");
    let package = site.get("/api/3/action/package_show?id=trees").await.json();
    let resources = package["result"]["resources"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let resource = resources
        .iter()
        .find(|one| one["url"] == address)
        .unwrap_or_else(|| panic!("{package}"));
    assert_eq!(
        (&resource["size"], &resource["mimetype"]),
        (&json!(TURTLE.len()), &json!("text/turtle"))
    );
    assert_eq!(resource["hash"].as_str().map(str::len), Some(64));
    let croissant = site
        .get("/dataset/trees/croissant")
        .await
        .json()
        .to_string();
    assert!(
        croissant.contains(address) && croissant.contains(&format!("{} B", TURTLE.len())),
        "{croissant}"
    );
}

#[tokio::test]
async fn uploaded_files_are_replaced_and_removed_with_their_dataset() {
    let (site, _worker, home) = site();
    let put = |name: &'static str, text: &'static str| {
        let body = format!(
            "--B\r\nContent-Disposition: form-data; name=\"dump\"; filename=\"{name}\"\r\n\r\n{text}\r\n--B--\r\n"
        );
        let site = &site;
        async move {
            let headers = [
                ("authorization", WRITE),
                ("prefer", "wait=120"),
                ("content-type", "multipart/form-data; boundary=B"),
            ];
            let reply = site
                .request(Method::PUT, "/api/admin/datasets/up", &headers, &body)
                .await;
            assert!(reply.status.is_success(), "{}", reply.body);
        }
    };
    put("a.ttl", "# one\n<e:a> <e:p> 1 .").await;
    assert_eq!(
        site.get("/dataset/up/files/a.ttl").await.body,
        "# one\n<e:a> <e:p> 1 ."
    );
    put("b.ttl", "# two\n<e:a> <e:p> 2 .").await;
    assert_eq!(site.get("/dataset/up/files/a.ttl").await.status, 404);
    assert_eq!(
        site.get("/dataset/up/files/b.ttl").await.body,
        "# two\n<e:a> <e:p> 2 ."
    );
    let headers = [("authorization", WRITE), ("prefer", "wait=120")];
    let removed = site
        .request(Method::DELETE, "/api/admin/datasets/up", &headers, "")
        .await;
    assert_eq!(removed.status, 200);
    assert_eq!(site.get("/dataset/up/files/b.ttl").await.status, 404);
    assert!(home.join("files").exists());
}
