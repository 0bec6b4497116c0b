//! Portal interfaces: CKAN's actions, feeds, sitemaps, and the machine-readable metadata of dataset pages.

use super::http::{Reply, Site};
use super::support::{Home, limits, testdata};
use axum::http::{Method, StatusCode};
use lodeseek_catalog::Catalog;
use lodeseek_store::{LoadOptions, Loader, Stamp};
use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

const BASE: &str = "http://localhost:7878/";

fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| {
            if byte.is_ascii_alphanumeric() {
                (byte as char).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect()
}

async fn call(site: &Site, action: &str, parameters: &[(&str, &str)]) -> Reply {
    let pairs: Vec<String> = parameters
        .iter()
        .map(|(name, value)| format!("{name}={}", encoded(value)))
        .collect();
    site.get(&format!("/api/3/action/{action}?{}", pairs.join("&")))
        .await
}

/// The result of an action that succeeds.
async fn result(site: &Site, action: &str, parameters: &[(&str, &str)]) -> Value {
    let reply = call(site, action, parameters).await;
    let answer = reply.json();
    assert_eq!(
        (reply.status, &answer["success"]),
        (StatusCode::OK, &json!(true)),
        "{action} {parameters:?}: {answer}"
    );
    assert_eq!(
        answer["help"],
        format!("{BASE}api/3/action/help_show?name={action}")
    );
    answer["result"].clone()
}

fn names(packages: &Value) -> Vec<String> {
    let packages = packages.as_array().expect("packages");
    packages
        .iter()
        .map(|package| package["name"].as_str().expect("a name").to_owned())
        .collect()
}

/// Sixty datasets whose values are dealt out by their numbers, four of them hostile or with odd ids.
fn catalogue() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("catalog.ttl");
    let mut turtle =
        "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> . \
        @prefix foaf: <http://xmlns.com/foaf/0.1/> . @prefix d: <http://example.org/d/> .\n"
            .to_owned();
    let words = ["water", "Tree map", "road", "air quality", "school"];
    let licenses = [
        "https://creativecommons.org/licenses/by/4.0/",
        "http://www.opendatacommons.org/licenses/pddl/1.0/",
    ];
    for number in 0..56_usize {
        let (word, year) = (words[number % 5], 2000 + number % 13);
        let modified = if number % 7 == 0 {
            String::new()
        } else {
            format!("dct:modified \"{year}-0{}-15\" ;", 1 + number % 9)
        };
        turtle += &format!(
            "d:s{number} a dcat:Dataset ; dct:identifier \"set-{number}\" ; dct:title \"{word} of district {number}\" ; \
             dct:publisher [ a foaf:Agent ; foaf:name \"Office {}\" ] ; dcat:keyword \"{word}\" , \"k{}\" ; {modified}
             dct:license <{}> ; dcat:distribution [ dcat:downloadURL <http://example.org/f/{number}.{}> ] .\n",
            number % 4,
            number % 3,
            licenses[number % 2],
            ["ttl", "csv", "nt.gz"][number % 3],
        );
    }
    for (place, id) in ["Trees/2024", "v1.0", "é", "plain"].iter().enumerate() {
        turtle += &format!(
            "d:odd{place} a dcat:Dataset ; dct:identifier \"{id}\" ; dct:title \"</script><script>alert({place})</script> \\\" & \\u0007 <b>\" ; \
             dct:description \"]]> </summary> </script> \\\\ '\\\"\" ; dcat:keyword \"a:b \\\"c\\\"\" , \"<i>\" ;
             dcat:distribution [ dcat:downloadURL <http://example.org/a&b?c=%22> ; dcat:mediaType \"text/\\\"csv\" ] .\n"
        );
    }
    fs::write(&path, turtle).expect("written");
    (folder, path)
}

fn site() -> (TempDir, Site) {
    let (folder, path) = catalogue();
    (folder, Site::from_catalog(&path, limits()))
}

/// Every package, as one answer.
async fn everything(site: &Site) -> Vec<Value> {
    let all = result(site, "package_search", &[("rows", "1000")]).await;
    assert_eq!(
        all["count"],
        all["results"].as_array().map(Vec::len).expect("packages")
    );
    all["results"].as_array().expect("packages").clone()
}

/// The values of a facet as the package itself has them.
fn held(package: &Value, facet: &str) -> BTreeSet<String> {
    let of = |list: &Value, key: &str| -> BTreeSet<String> {
        let list = list.as_array().expect("a list").iter();
        list.filter_map(|one| one[key].as_str())
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
            .collect()
    };
    match facet {
        "tags" | "groups" => of(&package[facet], "name"),
        "res_format" => of(&package["resources"], "format"),
        "organization" => package["organization"]["name"]
            .as_str()
            .map(str::to_owned)
            .into_iter()
            .collect(),
        _ => package[facet]
            .as_str()
            .map(str::to_owned)
            .into_iter()
            .collect(),
    }
}

#[tokio::test]
async fn a_package_is_what_ckan_has() {
    let site = Site::testdata();
    let package = result(&site, "package_show", &[("id", "street-trees")]).await;
    insta::assert_snapshot!(serde_json::to_string_pretty(&package).expect("JSON"), @r##"
    {
      "author": "Parks Department",
      "author_email": null,
      "creator_user_id": null,
      "extras": [
        {
          "key": "uri",
          "value": "http://example.org/dataset/street-trees"
        },
        {
          "key": "identifier",
          "value": "street-trees"
        },
        {
          "key": "issued",
          "value": "2018-03-15"
        },
        {
          "key": "modified",
          "value": "2022-10-04"
        }
      ],
      "groups": [],
      "id": "street-trees",
      "isopen": true,
      "license_id": "CC0-1.0",
      "license_title": "Creative Commons CCZero 1.0",
      "license_url": "https://creativecommons.org/publicdomain/zero/1.0/",
      "maintainer": null,
      "maintainer_email": null,
      "metadata_created": "2018-03-15T00:00:00",
      "metadata_modified": "2022-10-04T00:00:00",
      "name": "street-trees",
      "notes": "Trees in the care of the parks department, with year of planting and girth.",
      "num_resources": 1,
      "num_tags": 3,
      "organization": null,
      "owner_org": null,
      "private": false,
      "relationships_as_object": [],
      "relationships_as_subject": [],
      "resources": [
        {
          "created": null,
          "description": null,
          "format": "N-Triples",
          "hash": "fc5f16c11bbb8efca5e4a9baa4524a721d8e28e181fcb9816bd366bf4b8d2047",
          "id": "street-trees.distribution-1",
          "last_modified": null,
          "license": null,
          "metadata_modified": null,
          "mimetype": "application/gzip",
          "mimetype_inner": null,
          "name": "trees.nt.gz",
          "package_id": "street-trees",
          "position": 0,
          "resource_type": null,
          "size": 1166,
          "state": "active",
          "url": "http://localhost:7878/dataset/street-trees/files/trees.nt.gz",
          "url_type": null
        }
      ],
      "state": "active",
      "tags": [
        {
          "display_name": "parks",
          "id": "parks",
          "name": "parks",
          "state": "active",
          "vocabulary_id": null
        },
        {
          "display_name": "trees",
          "id": "trees",
          "name": "trees",
          "state": "active",
          "vocabulary_id": null
        },
        {
          "display_name": "urban greenery",
          "id": "urban greenery",
          "name": "urban greenery",
          "state": "active",
          "vocabulary_id": null
        }
      ],
      "title": "City tree register",
      "type": "dataset",
      "url": null,
      "version": null
    }
    "##);
    let status = result(&site, "status_show", &[]).await;
    assert_eq!(
        (&status["site_url"], &status["ckan_version"]),
        (&json!("http://localhost:7878"), &json!("2.10"))
    );
    assert_eq!(result(&site, "site_read", &[]).await, json!(true));
    let resource = &package["resources"][0];
    let shown = result(
        &site,
        "resource_show",
        &[("id", resource["id"].as_str().expect("an id"))],
    )
    .await;
    assert_eq!(shown, *resource);
    // The file at a resource's address has the media type and the size that the resource declares.
    let address = resource["url"]
        .as_str()
        .expect("an address")
        .strip_prefix(BASE)
        .expect("our own");
    let file = site
        .request(Method::HEAD, &format!("/{address}"), &[], "")
        .await;
    assert_eq!(
        (
            file.status,
            file.media_type(),
            file.header("content-length")
        ),
        (StatusCode::OK, "application/gzip", "1166")
    );
}

#[tokio::test]
async fn words_find_what_the_engine_finds() {
    let site = Site::testdata();
    let words = "nitrogen reduction plan Chesapeake Bay";
    let hits = site
        .get(&format!("/api/search?k=100&q={}", encoded(words)))
        .await
        .json();
    let hits = hits["hits"].as_array().expect("hits").clone();
    let found = result(&site, "package_search", &[("q", words), ("rows", "100")]).await;
    let ids: Vec<&Value> = hits.iter().map(|hit| &hit["id"]).collect();
    assert_eq!(
        found["results"]
            .as_array()
            .expect("packages")
            .iter()
            .map(|one| &one["id"])
            .collect::<Vec<_>>(),
        ids
    );
    assert_eq!(found["count"], hits.len());
    for (package, hit) in found["results"]
        .as_array()
        .expect("packages")
        .iter()
        .zip(&hits)
    {
        assert_eq!(
            (&package["score"], &package["matched"]),
            (&hit["score"], &hit["fields"])
        );
    }
    let all = result(&site, "package_search", &[("q", "*:*")]).await;
    assert_eq!(
        (&all["count"], all["results"].as_array().map(Vec::len)),
        (&json!(12), Some(10))
    );
    assert!(
        all["results"][0].get("score").is_none(),
        "nothing was sought"
    );
    let modified: Vec<&str> = all["results"]
        .as_array()
        .expect("packages")
        .iter()
        .map(|one| one["metadata_modified"].as_str().expect("a date"))
        .collect();
    assert!(modified.is_sorted_by(|a, b| a >= b), "{modified:?}");
}

#[tokio::test]
async fn every_way_to_ask_is_answered_alike() {
    let site = Site::testdata();
    let get = call(
        &site,
        "package_search",
        &[("q", "trees"), ("fq", "tags:parks"), ("rows", "3")],
    )
    .await;
    assert_eq!(get.json()["result"]["count"], 1);
    let path = "/api/action/package_search";
    let body = r#"{"q": "trees", "fq": "tags:parks", "rows": 3}"#;
    assert_eq!(
        site.post(path, "application/json", body).await.json(),
        get.json()
    );
    assert_eq!(
        site.post(path, "application/x-www-form-urlencoded", body)
            .await
            .json(),
        get.json()
    );
    let form = "q=trees&fq=tags%3Aparks&rows=3";
    assert_eq!(
        site.post(path, "application/x-www-form-urlencoded", form)
            .await
            .json(),
        get.json()
    );
    let other = site
        .request(
            Method::GET,
            &format!("/api/3/action/package_search?{form}"),
            &[("host", "evil.example")],
            "",
        )
        .await;
    assert_eq!(
        other.json(),
        get.json(),
        "addresses are of the base, whatever the host is said to be"
    );
}

#[tokio::test]
async fn pages_hold_every_dataset_once() {
    let (_folder, site) = site();
    let all: BTreeSet<String> = everything(&site)
        .await
        .iter()
        .map(|one| one["id"].to_string())
        .collect();
    assert_eq!(all.len(), 60);
    for sort in [
        "",
        "name asc",
        "title_string desc, name desc",
        "metadata_modified asc",
        "metadata_created desc, id asc",
    ] {
        let (mut seen, mut keys) = (Vec::new(), Vec::new());
        for start in (0..77).step_by(7) {
            let page = result(
                &site,
                "package_search",
                &[("sort", sort), ("start", &start.to_string()), ("rows", "7")],
            )
            .await;
            assert_eq!(page["count"], 60);
            for package in page["results"].as_array().expect("packages") {
                seen.push(package["id"].to_string());
                keys.push(package["metadata_modified"].as_str().map(str::to_owned));
            }
        }
        assert_eq!(
            (seen.len(), seen.into_iter().collect::<BTreeSet<_>>()),
            (60, all.clone()),
            "{sort}"
        );
        if sort.starts_with("metadata_modified") {
            let known: Vec<&String> = keys.iter().flatten().collect();
            assert!(
                known.is_sorted() && keys[known.len()..].iter().all(Option::is_none),
                "{keys:?}"
            );
        }
    }
    let deep = result(&site, "package_search", &[("start", "9223372036854775807")]).await;
    assert_eq!((&deep["count"], &deep["results"]), (&json!(60), &json!([])));
    let listed = result(&site, "package_list", &[]).await;
    let paged: Vec<Value> = [
        result(&site, "package_list", &[("limit", "35")]).await,
        result(&site, "package_list", &[("offset", "35")]).await,
    ]
    .iter()
    .flat_map(|page| page.as_array().expect("names").clone())
    .collect();
    assert_eq!(listed, json!(paged));
    let current = result(
        &site,
        "current_package_list_with_resources",
        &[("limit", "1000")],
    )
    .await;
    assert_eq!(
        names(&current).into_iter().collect::<BTreeSet<_>>().len(),
        60
    );
}

#[tokio::test]
async fn facets_count_what_filters_find() {
    let (_folder, site) = site();
    let fields = ["organization", "groups", "tags", "res_format", "license_id"];
    let asked = json!(fields).to_string();
    for fq in [
        "",
        "organization:office-1",
        "-tags:water",
        "res_format:(CSV OR TTL) metadata_modified:[2005-01-01 TO *]",
    ] {
        let parameters = [
            ("fq", fq),
            ("rows", "1000"),
            ("facet.field", asked.as_str()),
            ("facet.limit", "-1"),
        ];
        let answer = result(&site, "package_search", &parameters).await;
        let packages = answer["results"].as_array().expect("packages");
        assert!(!packages.is_empty(), "{fq}");
        for field in fields {
            let mut expected: BTreeMap<String, usize> = BTreeMap::new();
            packages
                .iter()
                .flat_map(|one| held(one, field))
                .for_each(|value| *expected.entry(value).or_default() += 1);
            assert_eq!(answer["facets"][field], json!(expected), "{fq}: {field}");
            let items = answer["search_facets"][field]["items"]
                .as_array()
                .expect("items");
            let counts: Vec<i64> = items
                .iter()
                .map(|item| item["count"].as_i64().expect("a count"))
                .collect();
            assert!(counts.is_sorted_by(|a, b| a >= b) && counts.len() == expected.len());
            for item in items.iter().take(4) {
                let name = item["name"]
                    .as_str()
                    .expect("a name")
                    .replace('\\', "\\\\")
                    .replace('"', "\\\"");
                let filter = format!("{field}:\"{name}\"");
                let found = result(
                    &site,
                    "package_search",
                    &[("fq", fq), ("fq_list", &filter), ("rows", "0")],
                )
                .await;
                assert_eq!(found["count"], item["count"], "{fq} and {filter}");
            }
        }
    }
    let few = [
        ("facet.field", "tags,tags"),
        ("facet.limit", "2"),
        ("facet.mincount", "12"),
    ];
    let few = result(&site, "package_search", &few).await;
    assert_eq!(few["facets"]["tags"], json!({ "k0": 19, "k1": 19 }));
    let none = result(
        &site,
        "package_search",
        &[("facet", "false"), ("facet.field", "tags")],
    )
    .await;
    assert_eq!(
        (&none["facets"], &none["search_facets"]),
        (&json!({}), &json!({}))
    );
}

#[tokio::test]
async fn filters_mean_what_they_say() {
    let (_folder, site) = site();
    let all = everything(&site).await;
    let has = |one: &Value, facet: &str, value: &str| held(one, facet).contains(value);
    let year = |one: &Value, from: &str| {
        one["metadata_modified"]
            .as_str()
            .is_some_and(|date| date >= from)
    };
    type Holds<'h> = Box<dyn Fn(&Value) -> bool + 'h>;
    let cases: Vec<(&str, Holds<'_>)> = vec![
        ("tags:water", Box::new(|one| has(one, "tags", "water"))),
        (
            "tags:\"Tree map\" -organization:office-2",
            Box::new(|one| has(one, "tags", "Tree map") && !has(one, "organization", "office-2")),
        ),
        (
            "tags:(road OR school) AND NOT res_format:CSV",
            Box::new(|one| {
                (has(one, "tags", "road") || has(one, "tags", "school"))
                    && !has(one, "res_format", "CSV")
            }),
        ),
        (
            "license_id:CC-BY-4.0 OR tags:k2",
            Box::new(|one| has(one, "license_id", "CC-BY-4.0") || has(one, "tags", "k2")),
        ),
        (
            "metadata_modified:[2004-01-01T00:00:00Z TO 2006-12-31T00:00:00Z]",
            Box::new(|one| year(one, "2004") && !year(one, "2007")),
        ),
        (
            "-metadata_modified:[* TO *]",
            Box::new(|one| one["metadata_modified"].is_null()),
        ),
        (
            "name:set-1*",
            Box::new(|one| {
                one["name"]
                    .as_str()
                    .is_some_and(|name| name.starts_with("set-1"))
            }),
        ),
        (
            "title:\"district 12\"",
            Box::new(|one| {
                one["title"]
                    .as_str()
                    .is_some_and(|title| title.ends_with(" district 12"))
            }),
        ),
        (
            "state:active +dataset_type:dataset capacity:public",
            Box::new(|_| true),
        ),
        ("state:deleted", Box::new(|_| false)),
    ];
    for (filter, holds) in cases {
        let expected: BTreeSet<String> = all
            .iter()
            .filter(|one| holds(one))
            .map(|one| one["name"].to_string())
            .collect();
        for name in ["fq", "q"] {
            let found = result(&site, "package_search", &[(name, filter), ("rows", "1000")]).await;
            let found: BTreeSet<String> = found["results"]
                .as_array()
                .expect("packages")
                .iter()
                .map(|one| one["name"].to_string())
                .collect();
            assert_eq!(found, expected, "{name}={filter}");
        }
    }
    let both = result(
        &site,
        "package_search",
        &[("q", "road tags:k1"), ("rows", "1000")],
    )
    .await;
    let expected = all
        .iter()
        .filter(|one| has(one, "tags", "road") && has(one, "tags", "k1"))
        .count();
    assert_eq!(both["count"], expected);
    assert!(
        both["results"]
            .as_array()
            .expect("packages")
            .iter()
            .all(|one| one["score"].is_f64())
    );
}

#[tokio::test]
async fn organisations_tags_and_licences() {
    let (_folder, site) = site();
    assert_eq!(
        result(&site, "organization_list", &[]).await,
        json!(["office-0", "office-1", "office-2", "office-3"])
    );
    let full = result(
        &site,
        "organization_list",
        &[
            ("all_fields", "true"),
            ("sort", "package_count desc"),
            ("limit", "2"),
        ],
    )
    .await;
    assert_eq!(
        (&full[0]["package_count"], full.as_array().map(Vec::len)),
        (&json!(14), Some(2))
    );
    let one = result(
        &site,
        "organization_show",
        &[("id", "office-3"), ("include_datasets", "true")],
    )
    .await;
    assert_eq!(
        (&one["title"], one["packages"].as_array().map(Vec::len)),
        (&json!("Office 3"), Some(10))
    );
    assert_eq!(result(&site, "group_list", &[]).await, json!([]));
    assert_eq!(
        result(&site, "tag_list", &[("query", "K")]).await,
        json!(["k0", "k1", "k2"])
    );
    let tag = result(
        &site,
        "tag_show",
        &[("id", "k2"), ("include_datasets", "true")],
    )
    .await;
    assert_eq!(
        (&tag["name"], tag["packages"].as_array().map(Vec::len)),
        (&json!("k2"), Some(18))
    );
    let licenses = result(&site, "license_list", &[]).await;
    let ids: Vec<&Value> = licenses
        .as_array()
        .expect("licences")
        .iter()
        .map(|one| &one["id"])
        .collect();
    assert_eq!(ids, ["CC-BY-4.0", "PDDL-1.0", "notspecified"]);
    assert_eq!(
        result(&site, "format_autocomplete", &[("q", "t")]).await,
        json!(["ttl", "n-triples"])
    );
    let tags = result(&site, "tag_search", &[("query", "K"), ("limit", "2")]).await;
    assert_eq!(
        (&tags["count"], &tags["results"][1]["name"]),
        (&json!(3), &json!("k1"))
    );
    let completed = result(&site, "tag_autocomplete", &[("q", "k"), ("limit", "1")]).await;
    assert_eq!(completed, json!(["k0"]));
    let offices = result(&site, "organization_autocomplete", &[("q", "office 2")]).await;
    assert_eq!(
        offices,
        json!([{ "id": "office-2", "name": "office-2", "title": "Office 2" }])
    );
    assert_eq!(
        result(&site, "group_autocomplete", &[("q", "a")]).await,
        json!([])
    );
    assert_eq!(result(&site, "vocabulary_list", &[]).await, json!([]));
    let packages = result(
        &site,
        "group_package_show",
        &[("id", "office-3"), ("limit", "5"), ("start", "3")],
    )
    .await;
    assert_eq!(packages.as_array().map(Vec::len), Some(5));
    let all = everything(&site).await;
    for (filter, holds) in [
        ("num_resources:[1 TO *]", 1..usize::MAX),
        ("num_resources:{1 TO 3}", 2..3),
        ("num_resources:0", 0..1),
    ] {
        let expected = all.iter().filter(|package| {
            let number = package["num_resources"].as_u64().expect("a number") as usize;
            holds.contains(&number)
        });
        let found = result(&site, "package_search", &[("fq", filter), ("rows", "0")]).await;
        assert_eq!(found["count"], expected.count(), "{filter}");
    }
    let by_tags = [("sort", "num_tags desc, name asc"), ("rows", "1")];
    let found = result(&site, "package_search", &by_tags).await;
    let most = all
        .iter()
        .filter_map(|package| package["num_tags"].as_u64())
        .max();
    assert_eq!(found["results"][0]["num_tags"].as_u64(), most);
    let found = result(
        &site,
        "package_autocomplete",
        &[("q", "set-5"), ("limit", "3")],
    )
    .await;
    assert_eq!(names(&found), ["set-5", "set-50", "set-51"]);
    let found = result(
        &site,
        "resource_search",
        &[("query", "format:csv"), ("limit", "2")],
    )
    .await;
    assert_eq!(
        (&found["count"], found["results"].as_array().map(Vec::len)),
        (&json!(23), Some(2))
    );
}

#[tokio::test]
async fn odd_ids_have_names_and_are_found_by_both() {
    let (_folder, site) = site();
    for id in ["Trees/2024", "v1.0", "é", "plain"] {
        let package = result(&site, "package_show", &[("id", id)]).await;
        let name = package["name"].as_str().expect("a name").to_owned();
        assert!(
            name.bytes().all(|byte| byte.is_ascii_lowercase()
                || byte.is_ascii_digit()
                || b"-_".contains(&byte)),
            "{name}"
        );
        assert_eq!(
            result(&site, "package_show", &[("name_or_id", &name)]).await,
            package
        );
        let resource = package["resources"][0]["id"]
            .as_str()
            .expect("an id")
            .to_owned();
        assert_eq!(
            result(&site, "resource_show", &[("id", &resource)]).await,
            package["resources"][0]
        );
    }
    assert_eq!(
        result(&site, "package_show", &[("id", "plain")]).await["name"],
        "plain"
    );
}

#[tokio::test]
async fn errors_are_those_of_ckan() {
    let site = Site::testdata();
    let (not_found, invalid, query) = ("Not Found Error", "Validation Error", "Search Query Error");
    let many = format!("tags:({})", "water OR ".repeat(300) + "oak");
    let (clauses, too_many) = ("-tags:a ".repeat(25), "-tags:a ".repeat(26));
    let halves = [
        ("fq", clauses.as_str()),
        ("fq_list", clauses.as_str()),
        ("rows", "0"),
    ];
    assert_eq!(result(&site, "package_search", &halves).await["count"], 12);
    for (action, parameters, status, kind) in [
        ("package_show", vec![("id", "nothing")], 404, not_found),
        ("package_show", vec![], 409, invalid),
        ("package_show", vec![("id", "a b")], 404, not_found),
        (
            "resource_show",
            vec![("id", "street-trees.distribution-9")],
            404,
            not_found,
        ),
        ("resource_show", vec![("id", "nothing")], 404, not_found),
        ("resource_show", vec![], 409, invalid),
        (
            "resource_search",
            vec![("query", "colour:red")],
            409,
            invalid,
        ),
        ("resource_search", vec![("query", "red")], 409, invalid),
        ("resource_search", vec![], 409, invalid),
        (
            "resource_search",
            vec![("query", "name:a"); 11],
            409,
            invalid,
        ),
        ("organization_show", vec![("id", "nothing")], 404, not_found),
        ("organization_list", vec![("sort", "colour")], 409, invalid),
        ("group_show", vec![], 409, invalid),
        ("tag_show", vec![("id", "nothing")], 404, not_found),
        ("tag_list", vec![("vocabulary_id", "x")], 404, not_found),
        ("tag_search", vec![("vocabulary_id", "x")], 404, not_found),
        ("tag_autocomplete", vec![], 409, invalid),
        (
            "group_package_show",
            vec![("id", "nothing")],
            404,
            not_found,
        ),
        ("package_list", vec![("callback", "alert(1)")], 409, invalid),
        ("package_search", vec![("fq", "num_tags:a")], 400, query),
        ("package_list", vec![("limit", "-1")], 409, invalid),
        ("package_autocomplete", vec![], 409, invalid),
        ("format_autocomplete", vec![], 409, invalid),
        ("help_show", vec![("name", "nothing")], 404, not_found),
        ("package_search", vec![("rows", "-1")], 409, invalid),
        ("package_search", vec![("start", "x")], 409, invalid),
        ("package_search", vec![("facet.field", "[1")], 409, invalid),
        ("package_search", vec![("fq", "tags:(a")], 400, query),
        ("package_search", vec![("fq", "colour:red")], 400, query),
        ("package_search", vec![("fq_list", "a:b:c")], 400, query),
        ("package_search", vec![("q", "title:\"a")], 400, query),
        ("package_search", vec![("sort", "colour asc")], 400, query),
        (
            "package_search",
            vec![("facet.field", "colour")],
            400,
            query,
        ),
        (
            "package_search",
            vec![("fq", "metadata_modified:[lately TO NOW]")],
            400,
            query,
        ),
        (
            "package_search",
            vec![("fq", "a OR b AND c OR d AND e OR f AND g")],
            400,
            query,
        ),
        (
            "package_search",
            vec![("fq_list", many.as_str()), ("fq_list", many.as_str())],
            400,
            query,
        ),
        (
            "package_search",
            vec![("fq", clauses.as_str()), ("fq_list", too_many.as_str())],
            400,
            query,
        ),
        (
            "package_search",
            vec![("facet.field", "tags"); 101],
            409,
            invalid,
        ),
        (
            "package_create",
            vec![("name", "new")],
            403,
            "Authorization Error",
        ),
    ] {
        let reply = call(&site, action, &parameters).await;
        let answer = reply.json();
        assert_eq!(
            (reply.status.as_u16(), answer["error"]["__type"].as_str()),
            (status, Some(kind)),
            "{action} {parameters:?}: {answer}"
        );
        assert_eq!(
            (&answer["success"], &answer["help"]),
            (
                &json!(false),
                &json!(format!("{BASE}api/3/action/help_show?name={action}"))
            )
        );
    }
    let unknown = call(&site, "package_dance", &[]).await;
    assert_eq!(
        (unknown.status.as_u16(), unknown.json()),
        (
            400,
            json!("Bad request - Action name not known: package_dance")
        )
    );
    let broken = site
        .post("/api/3/action/package_show", "application/json", "[")
        .await;
    assert_eq!(broken.status, StatusCode::BAD_REQUEST);
    assert!(
        broken
            .json()
            .as_str()
            .is_some_and(|text| text.starts_with("Bad request - JSON Error: "))
    );
    for (name, _) in [("package_search", ()), ("site_read", ())] {
        assert!(
            result(&site, "help_show", &[("name", name)])
                .await
                .as_str()
                .is_some_and(|help| !help.is_empty())
        );
    }
}

/// The texts of elements by name; fails where the document is not well-formed.
fn elements(xml: &str) -> BTreeMap<String, Vec<String>> {
    let mut reader = Reader::from_str(xml);
    let (mut found, mut open): (BTreeMap<String, Vec<String>>, Vec<String>) =
        (BTreeMap::new(), Vec::new());
    loop {
        match reader
            .read_event()
            .unwrap_or_else(|error| panic!("{error}: {xml}"))
        {
            Event::Start(start) => {
                open.push(String::from_utf8(start.name().as_ref().to_vec()).expect("a name"));
                for attribute in start.attributes() {
                    attribute
                        .expect("an attribute")
                        .unescape_value()
                        .expect("a value");
                }
                found
                    .entry(open.last().expect("open").clone())
                    .or_default()
                    .push(String::new());
            }
            Event::Empty(element) => {
                let name = String::from_utf8(element.name().as_ref().to_vec()).expect("a name");
                let values = element.attributes().map(|one| {
                    one.expect("an attribute")
                        .unescape_value()
                        .expect("a value")
                        .into_owned()
                });
                found
                    .entry(name)
                    .or_default()
                    .push(values.collect::<Vec<_>>().join(" "));
            }
            Event::Text(text) => {
                let text = text.unescape().expect("text");
                if let Some(values) = open.last().and_then(|name| found.get_mut(name)) {
                    values.last_mut().expect("begun").push_str(&text);
                }
            }
            Event::End(_) => drop(open.pop()),
            Event::Eof => break,
            _ => {}
        }
    }
    assert!(open.is_empty(), "{open:?}");
    found
}

/// A dataset without dates has the time at which its description arrived.
#[tokio::test]
async fn datasets_without_dates_have_a_time_in_the_feed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("catalog.ttl");
    fs::write(
        &path,
        "<http://e.org/a> a <http://www.w3.org/ns/dcat#Dataset> ; <http://purl.org/dc/terms/title> \"Alder\" .",
    )
    .expect("written");
    let home = Home::new();
    let options = LoadOptions {
        stamp: Stamp {
            now: Some("2024-05-06T07:08:09Z".parse().expect("a time")),
            ..Stamp::default()
        },
        ..LoadOptions::default()
    };
    Loader::new(&home.store)
        .with_options(options)
        .load(Catalog::read(&path).expect("a catalogue"), &|_| ())
        .expect("loaded");
    home.index();
    let (app, folder) = home.serve(limits());
    let reply = Site::behind(app, folder).get("/feeds/datasets.atom").await;
    assert_eq!(
        elements(&reply.body)["updated"],
        ["2024-05-06T07:08:09Z", "2024-05-06T07:08:09Z"],
        "{}",
        reply.body
    );
}

/// More datasets than a feed has entries are older than one without dates.
#[tokio::test]
async fn a_dataset_without_dates_that_arrived_last_is_in_the_feed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("catalog.ttl");
    let mut catalog =
        "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
        <http://e.org/new> a dcat:Dataset ; dct:title \"Alder\" .\n"
            .to_owned();
    for number in 0..60 {
        catalog += &format!(
            "<http://e.org/{number}> a dcat:Dataset ; dct:title \"Old {number}\" ; dct:modified \"2020-01-01\" .\n"
        );
    }
    fs::write(&path, catalog).expect("written");
    let home = Home::new();
    let options = LoadOptions {
        stamp: Stamp {
            now: Some("2024-05-06T07:08:09Z".parse().expect("a time")),
            ..Stamp::default()
        },
        ..LoadOptions::default()
    };
    Loader::new(&home.store)
        .with_options(options)
        .load(Catalog::read(&path).expect("a catalogue"), &|_| ())
        .expect("loaded");
    home.index();
    let (app, folder) = home.serve(limits());
    let reply = Site::behind(app, folder).get("/feeds/datasets.atom").await;
    let elements = elements(&reply.body);
    assert_eq!(elements["updated"][1], "2024-05-06T07:08:09Z");
    assert_eq!(elements["title"][1], "Alder", "{:?}", elements["title"]);
}

/// One licence in several spellings has one id.
#[tokio::test]
async fn licences_have_the_ids_of_spdx() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("catalog.ttl");
    let mut catalog =
        "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .\n"
            .to_owned();
    for (number, license) in [
        "<https://creativecommons.org/licenses/by/4.0/>",
        "<https://spdx.org/licenses/CC-BY-4.0>",
        "\"cc-by-4.0\"",
        "\"mit\"",
        "\"Own terms\"",
    ]
    .iter()
    .enumerate()
    {
        catalog += &format!(
            "<http://e.org/{number}> a dcat:Dataset ; dct:title \"Set {number}\" ; dct:license {license} .\n"
        );
    }
    fs::write(&path, catalog).expect("written");
    let site = Site::from_catalog(&path, limits());
    let found = result(
        &site,
        "package_search",
        &[("fq", "license_id:CC-BY-4.0"), ("rows", "10")],
    )
    .await;
    assert_eq!(found["count"], 3, "{found}");
    for package in found["results"].as_array().expect("packages") {
        assert_eq!(package["isopen"], true, "{package}");
    }
    let licenses = result(&site, "license_list", &[]).await;
    let of = |id: &str| {
        let listed = licenses.as_array().expect("licences").iter();
        listed
            .clone()
            .find(|one| one["id"] == id)
            .unwrap_or_else(|| panic!("{id}: {licenses}"))
            .clone()
    };
    let mit = of("MIT");
    assert_eq!(
        (&mit["title"], &mit["url"], &mit["od_conformance"]),
        (
            &json!("MIT License"),
            &json!("https://opensource.org/license/mit"),
            &json!("approved")
        )
    );
    assert_eq!(of("own-terms")["od_conformance"], "not reviewed");
}

#[tokio::test]
async fn feeds_are_well_formed_whatever_is_in_them() {
    let (_folder, site) = site();
    for path in [
        "/feeds/datasets.atom",
        "/feeds/datasets.atom?q=alert+%3Cb%3E",
        "/feeds/datasets.atom?q=road&license=x",
        "/feeds/datasets.atom?q=zzz",
    ] {
        let reply = site.get(path).await;
        assert_eq!(
            (reply.status, reply.media_type()),
            (StatusCode::OK, "application/atom+xml"),
            "{path}"
        );
        let elements = elements(&reply.body);
        let ids = &elements["id"];
        assert_eq!(
            ids.iter().collect::<BTreeSet<_>>().len(),
            ids.len(),
            "ids are unique"
        );
        assert!(
            ids[0].starts_with(&format!("{BASE}feeds/datasets.atom"))
                && ids[1..]
                    .iter()
                    .all(|id| id.starts_with(&format!("{BASE}dataset/")))
        );
        assert_eq!(elements["updated"].len(), ids.len());
        assert!(
            elements["updated"]
                .iter()
                .all(|time| time.len() == 20 && time.ends_with('Z')),
            "{:?}",
            elements["updated"]
        );
        assert!(
            elements["updated"][1..].is_sorted_by(|a, b| a >= b)
                && elements["updated"].iter().max() == elements["updated"].first()
        );
        assert!(elements["link"].iter().any(|link| link.contains("self")));
    }
    // Scripts are no text of a title.
    let found = elements(&site.get("/feeds/datasets.atom?q=alert").await.body);
    assert_eq!(found["title"].len(), 1, "{:?}", found["title"]);
    assert_eq!(
        site.get("/feeds/datasets.atom?task=x").await.status,
        StatusCode::BAD_REQUEST
    );
}

#[tokio::test]
async fn crawlers_and_browsers_find_everything() {
    let (_folder, site) = site();
    let robots = site.get("/robots.txt").await;
    let map = robots
        .body
        .lines()
        .find_map(|line| line.strip_prefix("Sitemap: "))
        .expect("a sitemap")
        .to_owned();
    let index = elements(
        &site
            .get(
                map.strip_prefix(BASE)
                    .map(|path| format!("/{path}"))
                    .as_deref()
                    .expect("ours"),
            )
            .await
            .body,
    );
    let mut pages = BTreeSet::new();
    for part in &index["loc"] {
        let part = elements(
            &site
                .get(&format!("/{}", part.strip_prefix(BASE).expect("ours")))
                .await
                .body,
        );
        assert!(part["loc"].len() <= 50_000);
        for page in &part["loc"] {
            assert!(page.is_ascii() && pages.insert(page.clone()), "{page}");
        }
    }
    assert_eq!(pages.len(), 60);
    for page in pages.iter().take(5).chain(pages.iter().rev().take(2)) {
        let reply = site
            .accept(
                &format!("/{}", page.strip_prefix(BASE).expect("ours")),
                "text/html",
            )
            .await;
        assert_eq!(reply.status, StatusCode::OK, "{page}");
    }
    assert_eq!(
        site.get("/sitemap/2.xml").await.status,
        StatusCode::NOT_FOUND
    );
    assert_eq!(
        site.get("/sitemap/0.xml").await.status,
        StatusCode::NOT_FOUND
    );
    let search = site.get("/opensearch.xml").await;
    assert_eq!(search.media_type(), "application/opensearchdescription+xml");
    assert!(
        elements(&search.body)["Url"]
            .iter()
            .any(|url| url.contains(&format!("text/html {BASE}?q={{searchTerms}}")))
    );
    let page = site.accept("/?q=road", "text/html").await.body;
    assert!(
        page.contains("rel=\"search\"") && page.contains("href=\"/feeds/datasets.atom?q=road\""),
        "{page}"
    );
}

/// The JSON-LD of a page: all between its tags, as a browser would cut it out.
fn embedded(page: &str) -> Value {
    let begin = "<script type=\"application/ld+json\">";
    assert_eq!(page.matches(begin).count(), 1);
    let text = page
        .split(begin)
        .nth(1)
        .and_then(|rest| rest.split("</script").next())
        .expect("a script");
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[tokio::test]
async fn pages_tell_programs_what_they_are_about() {
    let site = Site::testdata();
    let reply = site.accept("/dataset/street-trees", "text/html").await;
    insta::assert_snapshot!(serde_json::to_string_pretty(&embedded(&reply.body)).expect("JSON"), @r##"
    {
      "@context": "https://schema.org/",
      "@id": "http://localhost:7878/dataset/street-trees",
      "@type": "Dataset",
      "creator": [
        {
          "name": "Parks Department"
        }
      ],
      "dateModified": "2022-10-04",
      "datePublished": "2018-03-15",
      "description": "Trees in the care of the parks department, with year of planting and girth.",
      "distribution": [
        {
          "@type": "DataDownload",
          "contentSize": "1166",
          "contentUrl": "http://localhost:7878/dataset/street-trees/files/trees.nt.gz",
          "encodingFormat": "application/gzip",
          "name": "trees.nt.gz",
          "sha256": "fc5f16c11bbb8efca5e4a9baa4524a721d8e28e181fcb9816bd366bf4b8d2047"
        }
      ],
      "identifier": [
        "http://localhost:7878/dataset/street-trees"
      ],
      "includedInDataCatalog": {
        "@type": "DataCatalog",
        "name": "Lodeseek",
        "url": "http://localhost:7878/"
      },
      "keywords": [
        "parks",
        "trees",
        "urban greenery"
      ],
      "license": "https://creativecommons.org/publicdomain/zero/1.0/",
      "name": "City tree register",
      "sameAs": [
        "http://example.org/dataset/street-trees"
      ],
      "temporalCoverage": "1788-01-01/2016-12-31",
      "url": "http://localhost:7878/dataset/street-trees",
      "variableMeasured": [
        {
          "@type": "PropertyValue",
          "name": "type",
          "propertyID": "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
        },
        {
          "@type": "PropertyValue",
          "name": "has Species",
          "propertyID": "http://example.org/trees/vocab#hasSpecies"
        },
        {
          "@type": "PropertyValue",
          "name": "planted Year",
          "propertyID": "http://example.org/trees/vocab#plantedYear"
        },
        {
          "@type": "PropertyValue",
          "name": "street Name",
          "propertyID": "http://example.org/trees/vocab#streetName"
        },
        {
          "@type": "PropertyValue",
          "name": "trunk Girth Cm",
          "propertyID": "http://example.org/trees/vocab#trunkGirthCm"
        },
        {
          "@type": "PropertyValue",
          "name": "label",
          "propertyID": "http://www.w3.org/2000/01/rdf-schema#label"
        },
        {
          "@type": "PropertyValue",
          "name": "family",
          "propertyID": "http://example.org/trees/vocab#family"
        },
        {
          "@type": "PropertyValue",
          "name": "covers",
          "propertyID": "http://example.org/trees/vocab#covers"
        },
        {
          "@type": "PropertyValue",
          "name": "protected Since",
          "propertyID": "http://example.org/trees/vocab#protectedSince"
        },
        {
          "@type": "PropertyValue",
          "name": "surveyor",
          "propertyID": "http://example.org/trees/vocab#surveyor"
        },
        {
          "@type": "PropertyValue",
          "name": "comment",
          "propertyID": "http://www.w3.org/2000/01/rdf-schema#comment"
        }
      ]
    }
    "##);
    let links: Vec<&str> = reply
        .headers
        .get_all("link")
        .iter()
        .map(|link| link.to_str().expect("text"))
        .collect();
    insta::assert_snapshot!(links.join("\n"), @r##"
    <http://localhost:7878/dataset/street-trees>; rel="cite-as"
    <https://schema.org/Dataset>; rel="type"
    <https://schema.org/AboutPage>; rel="type"
    <http://localhost:7878/dataset/street-trees?format=ttl>; rel="describedby"; type="text/turtle"
    <http://localhost:7878/dataset/street-trees?format=ttl>; rel="alternate"; type="text/turtle"
    <http://localhost:7878/dataset/street-trees?format=jsonld>; rel="describedby"; type="application/ld+json"
    <http://localhost:7878/dataset/street-trees?format=jsonld>; rel="alternate"; type="application/ld+json"
    <http://localhost:7878/dataset/street-trees?format=nt>; rel="describedby"; type="application/n-triples"
    <http://localhost:7878/dataset/street-trees?format=nt>; rel="alternate"; type="application/n-triples"
    <http://localhost:7878/dataset/street-trees?format=rdf>; rel="describedby"; type="application/rdf+xml"
    <http://localhost:7878/dataset/street-trees?format=rdf>; rel="alternate"; type="application/rdf+xml"
    <http://localhost:7878/dataset/street-trees/shapes>; rel="describedby"; type="text/turtle"
    <http://localhost:7878/dataset/street-trees/void>; rel="describedby"; type="text/turtle"
    <https://creativecommons.org/publicdomain/zero/1.0/>; rel="license"
    <http://localhost:7878/dataset/street-trees/files/trees.nt.gz>; rel="item"; type="application/gzip"
    "##);
    assert!(
        reply.body.contains(
            "<link rel=\"canonical\" href=\"http://localhost:7878/dataset/street-trees\">"
        )
    );
    let program = site.accept("/dataset/street-trees", "text/turtle").await;
    assert!(program.headers.get("link").is_none());
}

#[tokio::test]
async fn no_metadata_ends_the_script_of_its_page() {
    let (_folder, site) = site();
    for id in ["Trees%2F2024", "v1.0", "plain"] {
        let reply = site.accept(&format!("/dataset/{id}"), "text/html").await;
        assert_eq!(reply.status, StatusCode::OK);
        let described = embedded(&reply.body);
        assert!(
            described["name"]
                .as_str()
                .is_some_and(|name| name.starts_with('"') && !name.contains("script")),
            "{described}"
        );
        assert!(!reply.body.contains("<script>alert"));
        assert_eq!(
            reply.body.matches("<script").count(),
            2,
            "the page's own, and the description"
        );
        for link in reply.headers.get_all("link") {
            assert!(
                link.to_str()
                    .is_ok_and(|link| link.starts_with("<http") && link.matches('<').count() == 1)
            );
        }
    }
}

#[tokio::test]
async fn croissant_where_there_is_something_to_tell() {
    let site = Site::from_catalog(&testdata("papers-with-code.json"), limits());
    let reply = site.get("/dataset/Harbour_Scenes/croissant").await;
    assert_eq!(
        (reply.status, reply.media_type()),
        (StatusCode::OK, "application/ld+json"),
        "{}",
        reply.body
    );
    let document = reply.json();
    assert_eq!(document["conformsTo"], "http://mlcommons.org/croissant/1.1");
    assert_eq!(
        (&document["@type"], &document["distribution"]),
        (&json!("sc:Dataset"), &json!([]))
    );
    assert!(
        document["keywords"]
            .as_array()
            .is_some_and(|words| words.contains(&json!("Semantic Segmentation")))
    );
    assert_eq!(
        site.get("/dataset/nothing/croissant").await.status,
        StatusCode::NOT_FOUND
    );
    let files = Site::testdata()
        .get("/dataset/clinical-trials/croissant")
        .await
        .json();
    let keys: Vec<&Value> = files["distribution"]
        .as_array()
        .expect("files")
        .iter()
        .map(|file| &file["@id"])
        .collect();
    assert_eq!(keys, ["distribution-1", "distribution-2"]);
}

#[tokio::test]
async fn croissant_tells_the_checksums_that_the_catalogue_tells() {
    let (md5, sha256) = ("0123456789abcdef".repeat(2), "0123456789abcdef".repeat(4));
    let folder = tempfile::tempdir().expect("a folder");
    let turtle = format!(
        r#"@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
        @prefix spdx: <http://spdx.org/rdf/terms#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
        <http://e.org/set/summed> a dcat:Dataset ; dct:title "Summed" ; dcat:distribution <http://e.org/1>, <http://e.org/2>, <http://e.org/3> .
        <http://e.org/1> a dcat:Distribution ; dct:title "one" ; dcat:downloadURL <http://e.org/one.csv> ;
            spdx:checksum [ a spdx:Checksum ; spdx:algorithm spdx:checksumAlgorithm_sha256 ; spdx:checksumValue "{}"^^xsd:hexBinary ] ,
                [ a spdx:Checksum ; spdx:algorithm "MD5" ; spdx:checksumValue "{md5}" ] .
        <http://e.org/2> a dcat:Distribution ; dct:title "two" ; dcat:downloadURL <http://e.org/two.csv> ;
            spdx:checksum [ a spdx:Checksum ; spdx:algorithm spdx:checksumAlgorithm_sha1 ; spdx:checksumValue "{md5}01234567" ] .
        <http://e.org/3> a dcat:Distribution ; dct:title "three" ; dcat:downloadURL <here.nt> ;
            spdx:checksum [ a spdx:Checksum ; spdx:algorithm spdx:checksumAlgorithm_md5 ; spdx:checksumValue "{md5}" ] ."#,
        sha256.to_uppercase()
    );
    let package = json!({"name": "packed", "notes": "Packed", "resources": [
        {"name": "four", "url": "http://e.org/four.csv", "hash": md5},
        {"name": "five", "url": "http://e.org/five.csv", "hash": sha256, "hash_algorithm": "SHA-256"},
        {"name": "six", "url": "http://e.org/six.csv", "hash": "no number"},
    ]});
    let (catalog, packages) = (
        folder.path().join("catalog.ttl"),
        folder.path().join("packages.json"),
    );
    fs::write(&catalog, turtle).expect("written");
    fs::write(
        folder.path().join("here.nt"),
        "<http://e.org/a> <http://e.org/p> <http://e.org/b> .\n",
    )
    .expect("written");
    fs::write(&packages, json!([package]).to_string()).expect("written");
    let told = |document: Value| -> BTreeMap<String, (Value, Value)> {
        let files = document["distribution"].as_array().expect("files").iter();
        files
            .map(|file| {
                (
                    file["name"].to_string(),
                    (file["sha256"].clone(), file["md5"].clone()),
                )
            })
            .collect()
    };
    let none = Value::Null;
    let expected = |all: [(&str, &Value, &Value); 3]| -> BTreeMap<String, (Value, Value)> {
        all.into_iter()
            .map(|(name, sha256, md5)| (json!(name).to_string(), (sha256.clone(), md5.clone())))
            .collect()
    };
    let (hex_md5, hex_sha256) = (json!(md5), json!(sha256));
    let site = Site::from_catalog(&catalog, limits());
    let document = site.get("/dataset/summed/croissant").await.json();
    assert_eq!(document["@context"]["md5"], "cr:md5");
    // A file of the home is served with its own bytes: its checksum is that of these, and not a declared one.
    let of_file = json!("59834b0963311203c795fd41fb42aa823668d0e5262a7fc8e31dec13b42b8541");
    let all = [
        ("one", &hex_sha256, &hex_md5),
        ("two", &none, &none),
        ("three", &of_file, &none),
    ];
    assert_eq!(told(document), expected(all));
    let site = Site::from_catalog(&packages, limits());
    let document = site.get("/dataset/packed/croissant").await.json();
    let all = [
        ("four", &none, &hex_md5),
        ("five", &hex_sha256, &none),
        ("six", &none, &none),
    ];
    assert_eq!(told(document), expected(all));
    let package = result(&site, "package_show", &[("id", "packed")]).await;
    let hashes: BTreeSet<&str> = package["resources"]
        .as_array()
        .expect("resources")
        .iter()
        .filter_map(|one| one["hash"].as_str())
        .collect();
    assert_eq!(hashes, BTreeSet::from(["", md5.as_str(), sha256.as_str()]));
    // Croissant's own checksums and agents are written again as read, also as schema.org, which has no term for MD5.
    let croissant = folder.path().join("croissant.jsonld");
    let agent = |kind: &str| json!({ "@type": kind, "name": format!("Lin {kind}") });
    let own = json!({
        "@context": {"@language": "en", "@vocab": "http://schema.org/", "cr": "http://mlcommons.org/croissant/", "md5": "cr:md5"},
        "@id": "http://e.org/set/leaves", "@type": "Dataset", "name": "Leaves", "publisher": agent("Organization"),
        "creator": [agent("Organization"), agent("Person")],
        "distribution": {"@type": "cr:FileObject", "name": "seven", "contentUrl": "http://e.org/seven.csv", "md5": md5, "sha256": sha256},
    });
    fs::write(&croissant, own.to_string()).expect("written");
    let site = Site::from_catalog(&croissant, limits());
    let document = site.get("/dataset/leaves/croissant").await.json();
    assert_eq!(
        told(document.clone()),
        BTreeMap::from([(json!("seven").to_string(), (hex_sha256, hex_md5))])
    );
    assert_eq!(
        document["creator"],
        json!([agent("Organization"), agent("Person")])
    );
    let page = embedded(&site.accept("/dataset/leaves", "text/html").await.body);
    let file = &page["distribution"][0];
    assert_eq!((&file["sha256"], &file["md5"]), (&json!(sha256), &none));
    assert_eq!(
        (&page["creator"], &page["publisher"]),
        (&document["creator"], &agent("Organization"))
    );
}

#[tokio::test]
async fn tasks_and_modalities_are_facets() {
    let site = Site::from_catalog(&testdata("papers-with-code.json"), limits());
    let answer = result(
        &site,
        "package_search",
        &[
            ("facet.field", "[\"task\", \"modality\", \"language\"]"),
            ("rows", "0"),
        ],
    )
    .await;
    let segmentation = answer["facets"]["task"]["Semantic Segmentation"]
        .as_u64()
        .expect("a count");
    let found = result(
        &site,
        "package_search",
        &[("fq", "task:\"Semantic Segmentation\"")],
    )
    .await;
    assert_eq!(found["count"], segmentation);
    assert!(segmentation > 0 && answer["facets"]["modality"]["Images"].as_u64() > Some(0));
}

#[tokio::test]
async fn the_documentation_shows_the_answer() {
    let page = super::support::root().join("docs/src/reference/portal.md");
    let page = fs::read_to_string(page).expect("a page");
    let command = page
        .lines()
        .find(|line| line.starts_with("curl 'localhost:7878/api/3/action/"))
        .expect("a command");
    let path = command
        .trim_start_matches("curl 'localhost:7878")
        .trim_end_matches('\'');
    let answer = Site::testdata().get(path).await.body;
    assert!(
        page.contains(&format!("\n{answer}\n")),
        "the page shows the answer:\n{answer}"
    );
}
