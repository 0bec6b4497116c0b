//! `/feeds/changes`: the changes of the collection as a Linked Data Event Stream, in the form of DCAT-AP Feeds.
//! <https://w3id.org/ldes/specification>, <https://semiceu.github.io/LDES-DCAT-AP-feeds/>
//!
//! The root links the pages; a page has the changes with the numbers of its range. Each change is a member: an activity (`as:Create`,
//! `as:Update`, `as:Delete`), and a named graph with the description. The stream has the latest change of each dataset, which its
//! retention policy states: a later change takes the place of a former one, on a later page. All pages but the last one never receive
//! a member, but lose some, and descriptions gain what indexing adds: clients revalidate them by their entity tags.

use super::catalog::{add_triple, dcat_ap_description, named_node};
use super::changes::{Change, Changes};
use crate::AppState;
use crate::documentation::{Busy, ClientLimit, NotFound, Text};
use crate::error::ApiError;
use crate::localized::Localized;
use crate::negotiation::matches_tag;
use crate::public_url::LinkBase;
use crate::response_formats::content_type;
use crate::site::Client;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use lodeseek_rdf::vocab::{activity_streams, dcterms, ldes, rdf, tree};
use lodeseek_rdf::{RdfForm, RdfSyntax, RdfVersion};
use lodeseek_store::ChangeKind;
use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNode, Triple};
use sha2::{Digest, Sha256};

/// Maximum number of changes of a page. The places of a page are a range of this length.
const MAX_PAGE_CHANGES: u64 = 100;
/// Address of the root below the public URL.
const ROOT: &str = "feeds/changes";
const TRIG: &str = "application/trig";

/// `GET /feeds/changes`: the stream and its pages.
#[utoipa::path(get, path = "/feeds/changes", tag = "Catalogue", operation_id = "changes",
    summary = "The changes of the collection as a Linked Data Event Stream (DCAT-AP Feeds): its pages",
    responses(
        (status = 200, description = "The stream, with links to its pages.", content_type = "application/trig", body = String),
        (status = 304, description = "The client's copy is current."),
        ClientLimit<Text>,
        Busy<Text>))]
pub(crate) async fn root(
    State(state): State<AppState>,
    client: Client,
    links: LinkBase,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let text = state
        .work_with_permit(client, move |state| {
            let changes = Changes::current(state)?;
            serialize(&root_triples(&state.portal.portal.title, &changes, &links))
        })
        .await?;
    Ok(respond(text, &headers))
}

/// `GET /feeds/changes/{page}`: the changes of one range of numbers.
#[utoipa::path(get, path = "/feeds/changes/{page}", tag = "Catalogue", operation_id = "changesOfPage",
    summary = "One page of the changes of the collection, with descriptions in DCAT-AP",
    params(("page" = u64, Path, description = "Number of the page, from 0.")),
    responses(
        (status = 200, description = "The changes of the page.", content_type = "application/trig", body = String),
        (status = 304, description = "The client's copy is current."),
        NotFound<Text>,
        ClientLimit<Text>,
        Busy<Text>))]
pub(crate) async fn page(
    State(state): State<AppState>,
    client: Client,
    links: LinkBase,
    Path(number): Path<u64>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let text = state
        .work_with_permit(client, move |state| {
            let changes = Changes::current(state)?;
            let last = match changes.all.last() {
                Some(change) => page_of(change),
                None => 0,
            };
            if number > last {
                return Err(ApiError::not_found(format!(
                    "there is no page {number} of the changes; the last page is {last}"
                )));
            }
            page_text(state, &links, number, &changes)
        })
        .await?;
    Ok(respond(text, &headers))
}

/// Returns the page of a change.
fn page_of(change: &Change) -> u64 {
    // Places begin with 1, pages with 0.
    change.place.saturating_sub(1) / MAX_PAGE_CHANGES
}

fn stream_node(links: &LinkBase) -> NamedNode {
    NamedNode::new_unchecked(format!("{links}{ROOT}#stream"))
}

fn page_node(links: &LinkBase, page: u64) -> NamedNode {
    NamedNode::new_unchecked(format!("{links}{ROOT}/{page}"))
}

/// Returns the description of the stream: its paths, its retention policy, and the view.
fn stream_triples(links: &LinkBase) -> Vec<Triple> {
    let view = NamedNode::new_unchecked(format!("{links}{ROOT}"));
    let policy = NamedNode::new_unchecked(format!("{links}{ROOT}#policy"));
    let one = Literal::from(1_u64);
    let mut triples = Vec::new();
    let stream = stream_node(links);
    add_triple(
        &mut triples,
        &stream,
        rdf::TYPE,
        named_node(ldes::EVENT_STREAM),
    );
    add_triple(
        &mut triples,
        &stream,
        ldes::TIMESTAMP_PATH,
        named_node(activity_streams::PUBLISHED),
    );
    add_triple(
        &mut triples,
        &stream,
        ldes::VERSION_OF_PATH,
        named_node(activity_streams::OBJECT),
    );
    add_triple(
        &mut triples,
        &stream,
        ldes::VERSION_DELETE_OBJECT,
        named_node(activity_streams::DELETE),
    );
    add_triple(&mut triples, &stream, tree::VIEW, view.clone());
    add_triple(&mut triples, &view, rdf::TYPE, named_node(tree::NODE_CLASS));
    add_triple(&mut triples, &view, ldes::RETENTION_POLICY, policy.clone());
    // The terms of LDES 1.0, and those before: clients know one or the other.
    add_triple(
        &mut triples,
        &policy,
        rdf::TYPE,
        named_node(ldes::RETENTION_POLICY_CLASS),
    );
    add_triple(&mut triples, &policy, ldes::VERSION_AMOUNT, one.clone());
    add_triple(
        &mut triples,
        &policy,
        rdf::TYPE,
        named_node(ldes::LATEST_VERSION_SUBSET),
    );
    add_triple(&mut triples, &policy, ldes::AMOUNT, one);
    triples
}

/// Returns the root: the stream, and a relation to each page that has changes, with the earliest time of its changes.
fn root_triples(title: &Localized<String>, changes: &Changes, links: &LinkBase) -> Vec<Triple> {
    let mut triples = stream_triples(links);
    let (stream, view) = (
        stream_node(links),
        NamedNode::new_unchecked(format!("{links}{ROOT}")),
    );
    for title in title.literals() {
        // The text is English, also after a name in another language.
        let text = format!("{}: changes of datasets", title.value());
        add_triple(&mut triples, &stream, dcterms::TITLE, Literal::from(text));
    }
    for page_changes in changes.all.chunk_by(|a, b| page_of(a) == page_of(b)) {
        let page = page_of(&page_changes[0]);
        let relation = NamedNode::new_unchecked(format!("{links}{ROOT}#page-{page}"));
        // Changes have the order of their numbers; a clock that was set back may give a later one an earlier time.
        let earliest = page_changes.iter().map(|change| &change.time).min();
        add_triple(&mut triples, &view, tree::RELATION, relation.clone());
        add_triple(&mut triples, &relation, tree::NODE, page_node(links, page));
        add_triple(
            &mut triples,
            &relation,
            rdf::TYPE,
            named_node(tree::GREATER_THAN_OR_EQUAL_TO_RELATION),
        );
        add_triple(
            &mut triples,
            &relation,
            tree::PATH,
            named_node(activity_streams::PUBLISHED),
        );
        if let Some(earliest) = earliest {
            add_triple(&mut triples, &relation, tree::VALUE, time_literal(earliest));
        }
    }
    triples
}

fn time_literal(time: &str) -> Literal {
    Literal::new_typed_literal(time, xsd::DATE_TIME)
}

/// Returns a page as TriG: the members in the default graph, each description in the graph of its member.
fn page_text(
    state: &AppState,
    links: &LinkBase,
    page: u64,
    changes: &Changes,
) -> Result<Vec<u8>, ApiError> {
    // Changes have the order of their places, so those of a page are adjacent.
    let first = changes.all.partition_point(|change| page_of(change) < page);
    let page_changes = changes.all[first..]
        .iter()
        .take_while(|change| page_of(change) == page);
    let mut members = stream_triples(links);
    let mut graphs = Vec::new();
    for change in page_changes {
        // It may have been removed since the changes were read.
        let is_present = state.store.contains(&change.id)?;
        if is_present == (change.kind == ChangeKind::Delete) {
            continue;
        }
        let dataset = state.store.iris().dataset(&change.id);
        // A restored backup counts on from its last number: the time keeps members distinct.
        let time: String = change.time.chars().filter(char::is_ascii_digit).collect();
        let member = NamedNode::new_unchecked(format!(
            "{}#change-{}-{time}",
            dataset.as_str(),
            change.number
        ));
        let class = match change.kind {
            ChangeKind::Create => activity_streams::CREATE,
            ChangeKind::Update => activity_streams::UPDATE,
            ChangeKind::Delete => activity_streams::DELETE,
        };
        add_triple(
            &mut members,
            &stream_node(links),
            tree::MEMBER,
            member.clone(),
        );
        add_triple(&mut members, &member, rdf::TYPE, named_node(class));
        add_triple(&mut members, &member, activity_streams::OBJECT, dataset);
        add_triple(
            &mut members,
            &member,
            activity_streams::PUBLISHED,
            time_literal(&change.time),
        );
        if change.kind != ChangeKind::Delete {
            let description = dcat_ap_description(state, &change.id, links)?;
            graphs.extend_from_slice(format!("{member} {{\n").as_bytes());
            graphs.extend(serialize(&description)?);
            graphs.extend_from_slice(b"}\n");
        }
    }
    let mut text = serialize(&members)?;
    text.extend(graphs);
    Ok(text)
}

/// Serializes triples of one graph in lines, which are TriG as well, for clients of RDF 1.1.
fn serialize(triples: &[Triple]) -> Result<Vec<u8>, ApiError> {
    let form = RdfForm {
        syntax: RdfSyntax::NTriples,
        version: RdfVersion::V11,
    };
    let serialized = form
        .serialize(triples)
        .map_err(|error| ApiError::internal(&error))?;
    Ok(serialized.bytes)
}

/// Returns a response with an entity tag of its content, or 304 if the client has this content.
fn respond(text: Vec<u8>, headers: &HeaderMap) -> Response {
    let digest = Sha256::digest(&text);
    let hex: String = digest
        .iter()
        .take(12)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    // Weak, because compression may change the bytes of the response, but not its content.
    let tag = format!("W/\"{hex}\"");
    let mut response = if matches_tag(headers, &tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let media_type = content_type(TRIG, RdfVersion::V11);
        ([(header::CONTENT_TYPE, media_type)], text).into_response()
    };
    let own = response.headers_mut();
    // Pages lose members that a later change replaces: copies are revalidated at each use.
    own.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        own.insert(header::ETAG, tag);
    }
    response
}
