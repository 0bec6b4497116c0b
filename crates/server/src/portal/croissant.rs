//! `GET /dataset/{id}/croissant`: a dataset in Croissant 1.1, for machine learning tools.
//! <https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html>

use crate::AppState;
use crate::documentation::{BadRequest, Id, NotFound, Text};
use crate::error::ApiError;
use crate::portal::compaction::{CROISSANT_TERMS, Compaction, PROV, ServedFile, WIKIDATA};
use crate::portal::metadata::{Checksum, File, PortalMetadata};
use crate::portal::schema_org::common_properties;
use crate::public_url::LinkBase;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use lodeseek_catalog::{DatasetId, Scheme};
use lodeseek_rdf::{TripleGraph, vocab};
use serde_json::{Map, Value, json};

/// IRI of the implemented version.
const VERSION: &str = "http://mlcommons.org/croissant/1.1";
const NAMESPACE: &str = "http://mlcommons.org/croissant/";

#[utoipa::path(get, path = "/dataset/{id}/croissant", tag = "Datasets",
    summary = "Croissant, for datasets with files or for machine learning",
    params(Id),
    responses(
        (status = 200, description = "Croissant 1.1.", content_type = "application/ld+json", body = Object),
        BadRequest<Text>,
        NotFound<Text>))]
pub(crate) async fn croissant(
    State(state): State<AppState>,
    links: LinkBase,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let id = DatasetId::new(id).map_err(|error| ApiError::not_found(error.to_string()))?;
    let missing = ApiError::no_dataset(&id);
    let none = ApiError::not_found(format!(
        "no Croissant document for {id}: it has neither files nor machine learning metadata"
    ));
    let document = state.work(move |state| {
        let graph = state.store.description_graph(&id)?;
        let has_content = state.store.stores_content(&id)?;
        let described = PortalMetadata::from_graph(&graph, state.store.iris(), &id, has_content);
        let Some(described) = described else {
            return Err(missing);
        };
        let described = described.with_kept_files(&state.store)?;
        let own = links.link(&described.iri, state.store.iris());
        if let Some(document) = original_document(&graph, &described, &own, links.as_str()) {
            return Ok(document);
        }
        if !is_for_learning(&described) {
            return Err(none);
        }
        Ok(generate_document(&described, &own, links.as_str()))
    });
    let document = document.await?;
    Ok((
        [(header::CONTENT_TYPE, "application/ld+json")],
        document.to_string(),
    )
        .into_response())
}

/// If true, the dataset has a file, or comes from a list for machine learning.
fn is_for_learning(described: &PortalMetadata) -> bool {
    let metadata = &described.dataset.metadata;
    let listed = metadata.uses.is_some() || metadata.themes_of(Scheme::Task).next().is_some();
    !described.files.is_empty() || listed
}

/// Returns the document of a dataset whose description is in Croissant's terms: all of its statements. `None` for others.
fn original_document(
    graph: &TripleGraph,
    described: &PortalMetadata,
    own: &str,
    base: &str,
) -> Option<Value> {
    let served = described
        .files
        .iter()
        .filter(|file| file.is_kept() || described.is_stored(file));
    let addresses = served
        .filter_map(|file| {
            let served = ServedFile {
                address: described.address(file, base)?,
                is_original: file.is_kept(),
            };
            Some((file.key.clone(), served))
        })
        .collect();
    let mut compaction = Compaction::new(graph, &described.iri, addresses)?;
    if !compaction.is_croissant() {
        return None;
    }
    let version = compaction.croissant_version();
    let is_old = version == Some("1.0");
    let mut value = compaction.dataset(!is_old);
    if version.is_none() {
        let versions = match value.remove("conformsTo") {
            Some(further) => json!([VERSION, further]),
            None => json!(VERSION),
        };
        value.insert("conformsTo".to_owned(), versions);
    }
    let source = described.dataset.metadata.source.as_deref();
    value.insert("@id".to_owned(), json!(source.unwrap_or(&described.iri)));
    value.insert("@type".to_owned(), json!("sc:Dataset"));
    value.entry("url").or_insert_with(|| json!(own));
    value.insert("@context".to_owned(), full_context(is_old));
    Some(Value::Object(value))
}

/// Returns the standard context of Croissant 1.1, or of 1.0, with terms of both that it does not have.
fn full_context(is_old: bool) -> Value {
    let mut context = short_context();
    for term in CROISSANT_TERMS {
        let is_of_schema = is_old && *term == "containedIn";
        if !is_of_schema {
            context[term] = json!(format!("cr:{term}"));
        }
    }
    context["rai"] = json!("http://mlcommons.org/croissant/RAI/");
    context["wd"] = json!(WIKIDATA);
    context["prov"] = json!(PROV);
    for term in ["data", "examples"] {
        context[term] = json!({ "@id": format!("cr:{term}"), "@type": "@json" });
    }
    context["dataType"] = json!({ "@id": "cr:dataType", "@type": "@vocab" });
    if !is_old {
        for term in ["name", "description"] {
            context[term] = json!({ "@container": "@language" });
        }
    }
    context
}

/// Iterates over the agents of a role: one object, or a list of objects.
fn agents_of_role<'v>(
    value: &'v mut Map<String, Value>,
    role: &str,
) -> impl Iterator<Item = &'v mut Map<String, Value>> {
    let agents = match value.get_mut(role) {
        Some(Value::Array(agents)) => agents.iter_mut(),
        Some(agent) => std::slice::from_mut(agent).iter_mut(),
        None => [].iter_mut(),
    };
    agents.filter_map(Value::as_object_mut)
}

/// Returns the document. Files stay at their original addresses and may change there. Therefore the dataset is declared live,
/// and checksums are optional.
fn generate_document(described: &PortalMetadata, own: &str, base: &str) -> Value {
    let mut value = common_properties(described);
    // Croissant's validator rejects agents without a class.
    for (role, class) in [("creator", "Person"), ("publisher", "Organization")] {
        for agent in agents_of_role(&mut value, role) {
            agent.entry("@type").or_insert_with(|| json!(class));
        }
    }
    if !described.version.as_deref().is_some_and(is_semantic) {
        value.remove("version");
    }
    let works: Vec<&str> = described
        .dataset
        .metadata
        .introduced_by
        .iter()
        .map(|work| work.title.as_str())
        .collect();
    let cited = (!works.is_empty()).then(|| ("citeAs".to_owned(), json!(works.join("; "))));
    value.remove("citation");
    value.extend([
        ("@context".to_owned(), short_context()),
        ("@type".to_owned(), json!("sc:Dataset")),
        ("@id".to_owned(), json!(described.iri)),
        ("url".to_owned(), json!(own)),
        ("conformsTo".to_owned(), json!(VERSION)),
        ("isLiveDataset".to_owned(), json!(true)),
        (
            "distribution".to_owned(),
            described
                .files
                .iter()
                .map(|file| file_object(described, file, base))
                .collect(),
        ),
    ]);
    value.extend(cited);
    Value::Object(value)
}

/// Returns the JSON-LD context: the terms of Croissant and schema.org in use.
fn short_context() -> Value {
    json!({
        "@language": "en",
        "@vocab": vocab::schema::NAMESPACE,
        "sc": vocab::schema::NAMESPACE,
        "cr": NAMESPACE,
        "dct": vocab::dcterms::NAMESPACE,
        "citeAs": "cr:citeAs",
        "conformsTo": "dct:conformsTo",
        "isLiveDataset": "cr:isLiveDataset",
        "md5": "cr:md5",
    })
}

/// If true, a version is a semantic version, as Croissant requires.
fn is_semantic(version: &str) -> bool {
    let parts: Vec<&str> = version.split('.').collect();
    parts.len() == 3
        && parts
            .iter()
            .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

fn file_object(described: &PortalMetadata, file: &File, base: &str) -> Value {
    let media_type = file
        .media()
        .unwrap_or_else(|| "application/octet-stream".to_owned());
    let mut value = json!({
        "@type": "cr:FileObject",
        "@id": file.key,
        "name": file.name(),
        "contentUrl": described.address_or_text(file, base),
        "encodingFormat": media_type,
    });
    if let Some(description) = &file.description {
        value["description"] = json!(description);
    }
    if let Some(bytes) = file.bytes {
        value["contentSize"] = json!(format!("{bytes} B"));
    }
    for checksum in &file.checksums {
        let term = match checksum {
            Checksum::Md5(_) => "md5",
            Checksum::Sha256(_) => "sha256",
        };
        value[term] = json!(checksum.hex());
    }
    value
}
