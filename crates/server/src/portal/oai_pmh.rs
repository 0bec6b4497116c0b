//! `/oai`: the catalogue for harvesters of OAI-PMH 2.0, with the six verbs. <https://www.openarchives.org/OAI/openarchivesprotocol.html>
//!
//! Records are listed in the order of their latest changes. A resumption token holds the whole request and the last change that was
//! sent, so it never expires: what changes meanwhile moves behind it, and no record is lost. Removed datasets stay as deleted records.
//!
//! | prefix | metadata |
//! |---|---|
//! | `oai_dc` | Dublin Core |
//! | `dcat_ap` | the description in DCAT-AP as RDF/XML, as `/catalog` has it |

use super::catalog::dcat_ap_description;
use super::changes::{Change, Changes, in_seconds};
use super::metadata::{PortalMetadata, Term};
use crate::AppState;
use crate::documentation::{Busy, ClientLimit, Text};
use crate::error::ApiError;
use crate::parameters::{Pairs, pairs};
use crate::public_url::LinkBase;
use crate::response_formats::xml;
use crate::site::Client;
use crate::text::segment;
use askama::Template;
use axum::body::Bytes;
use axum::extract::{RawQuery, State};
use axum::http::Method;
use axum::response::Response;
use lodeseek_catalog::{DatasetId, Moment};
use lodeseek_rdf::{RdfForm, RdfSyntax, RdfVersion};
use lodeseek_store::ChangeKind;
use oxsdatatypes::DateTime;

/// Maximum number of records of a response.
const MAX_RECORDS: usize = 100;
/// Maximum number of identifiers of a response.
const MAX_IDENTIFIERS: usize = 1000;
/// Size of the metadata of a response in bytes, from which on no further record is added.
const MAX_RESPONSE_BYTES: usize = 16 << 20;
/// Separator of the parts of a resumption token. No part contains it, because the id is percent-encoded.
const SEPARATOR: char = '!';

/// Format of the metadata of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum MetadataFormat {
    DublinCore,
    DcatAp,
}

impl MetadataFormat {
    const ALL: [Self; 2] = [Self::DublinCore, Self::DcatAp];

    fn prefix(self) -> &'static str {
        match self {
            Self::DublinCore => "oai_dc",
            Self::DcatAp => "dcat_ap",
        }
    }

    fn schema(self) -> &'static str {
        match self {
            Self::DublinCore => "http://www.openarchives.org/OAI/2.0/oai_dc.xsd",
            Self::DcatAp => "http://www.openarchives.org/OAI/2.0/rdf.xsd",
        }
    }

    fn namespace(self) -> &'static str {
        match self {
            Self::DublinCore => "http://www.openarchives.org/OAI/2.0/oai_dc/",
            Self::DcatAp => "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
        }
    }

    fn from_prefix(prefix: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|format| format.prefix() == prefix)
    }
}

/// Error of the protocol: it is sent with status 200.
#[derive(Clone, PartialEq, Eq, Debug)]
struct ProtocolError {
    code: &'static str,
    message: String,
}

/// Failure of a request: an error of the protocol, or of the server.
enum Failure {
    Protocol(ProtocolError),
    Server(ApiError),
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self::Server(error)
    }
}

fn protocol_error(code: &'static str, message: impl Into<String>) -> Failure {
    Failure::Protocol(ProtocolError {
        code,
        message: message.into(),
    })
}

/// Request with valid arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Verb {
    Identify,
    ListMetadataFormats {
        identifier: Option<String>,
    },
    GetRecord {
        identifier: String,
        format: MetadataFormat,
    },
    ListIdentifiers(Selection),
    ListRecords(Selection),
}

/// Records of a list request.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Selection {
    format: MetadataFormat,
    /// First day or second.
    from: Option<String>,
    /// Last day or second, included.
    until: Option<String>,
    /// Number and id of the last record that was sent.
    after: Option<(u64, String)>,
}

struct Header {
    identifier: String,
    datestamp: String,
    is_deleted: bool,
}

struct Record {
    header: Header,
    /// Metadata as XML; `None` for deleted records.
    metadata: Option<String>,
}

struct Token {
    text: String,
    size: usize,
    cursor: usize,
}

/// (element of Dublin Core, text).
type Elements = Vec<(&'static str, String)>;

#[derive(Template)]
#[template(path = "oai_dc.xml")]
struct DublinCore {
    elements: Elements,
}

#[derive(Template)]
#[template(path = "oai.xml")]
struct Document {
    date: String,
    /// Address of the interface.
    address: String,
    /// Arguments of the request; empty if they are not valid.
    arguments: Pairs,
    content: Content,
}

/// Content of a response.
enum Content {
    Error(ProtocolError),
    Identify {
        name: String,
        emails: Vec<String>,
        earliest: String,
    },
    Formats(Vec<MetadataFormat>),
    Record(Record),
    Identifiers(Vec<Header>, Option<Token>),
    Records(Vec<Record>, Option<Token>),
}

/// `GET` or `POST /oai`: OAI-PMH.
#[utoipa::path(get, path = "/oai", tag = "Catalogue", operation_id = "oaiPmh",
    summary = "The catalogue for harvesters of OAI-PMH 2.0: oai_dc, dcat_ap",
    params(
        ("verb" = String, Query, description = "Identify, ListMetadataFormats, ListSets, ListIdentifiers, ListRecords or GetRecord."),
        ("metadataPrefix" = Option<String>, Query, description = "oai_dc or dcat_ap."),
        ("identifier" = Option<String>, Query, description = "Identifier of a record."),
        ("from" = Option<String>, Query, description = "First day, or second in UTC."),
        ("until" = Option<String>, Query, description = "Last day, or second in UTC."),
        ("set" = Option<String>, Query, description = "There are no sets."),
        ("resumptionToken" = Option<String>, Query, description = "Continues a list.")),
    responses(
        (status = 200, description = "The response, or an error of the protocol.", content_type = "text/xml", body = String),
        ClientLimit<Text>,
        Busy<Text>))]
pub(crate) async fn answer(
    State(state): State<AppState>,
    client: Client,
    links: LinkBase,
    method: Method,
    RawQuery(query): RawQuery,
    body: Bytes,
) -> Result<Response, ApiError> {
    let arguments = if method == Method::POST {
        pairs(&body)
    } else {
        pairs(query.unwrap_or_default().as_bytes())
    };
    let text = state
        .work_with_permit(client, move |state| respond(state, &links, arguments))
        .await?;
    xml("text/xml; charset=utf-8", &text)
}

fn respond(state: &AppState, links: &LinkBase, arguments: Pairs) -> Result<String, ApiError> {
    // The time before the records are read, so that a change during the response is part of the next harvest.
    let date = in_seconds(&DateTime::now().to_string());
    let content = Verb::read(&arguments).and_then(|verb| build_content(state, links, &verb));
    let (content, arguments) = match content {
        Ok(content) => (content, arguments),
        Err(Failure::Server(error)) => return Err(error),
        // The `request` element has no attributes for these two errors (OAI-PMH 3.2).
        Err(Failure::Protocol(error)) if matches!(error.code, "badVerb" | "badArgument") => {
            (Content::Error(error), Pairs::new())
        }
        Err(Failure::Protocol(error)) => (Content::Error(error), arguments),
    };
    let document = Document {
        date,
        address: format!("{links}oai"),
        arguments,
        content,
    };
    document
        .render()
        .map_err(|error| ApiError::internal(&error))
}

impl Verb {
    /// Parses the arguments of a request. Each verb has its own; others and repeated ones are errors.
    fn read(arguments: &Pairs) -> Result<Self, Failure> {
        let mut others = arguments.clone();
        let name = match take_argument(&mut others, "verb") {
            Ok(Some(name)) => name,
            Ok(None) => return Err(protocol_error("badVerb", "the argument verb is missing")),
            Err(_) => return Err(protocol_error("badVerb", "the argument verb is repeated")),
        };
        let verb = match name.as_str() {
            "Identify" => Self::Identify,
            "ListSets" => return Err(protocol_error("noSetHierarchy", "there are no sets")),
            "ListMetadataFormats" => Self::ListMetadataFormats {
                identifier: take_argument(&mut others, "identifier")?,
            },
            "GetRecord" => Self::GetRecord {
                identifier: require_argument(&mut others, "identifier")?,
                format: parse_format(&require_argument(&mut others, "metadataPrefix")?)?,
            },
            "ListIdentifiers" | "ListRecords" => {
                let selection = match take_argument(&mut others, "resumptionToken")? {
                    Some(token) => Selection::from_token(&token)?,
                    None => {
                        let set = take_argument(&mut others, "set")?;
                        let selection = Selection::new(
                            &require_argument(&mut others, "metadataPrefix")?,
                            take_argument(&mut others, "from")?,
                            take_argument(&mut others, "until")?,
                        )?;
                        if set.is_some() {
                            return Err(protocol_error("noSetHierarchy", "there are no sets"));
                        }
                        selection
                    }
                };
                if name == "ListRecords" {
                    Self::ListRecords(selection)
                } else {
                    Self::ListIdentifiers(selection)
                }
            }
            _ => {
                return Err(protocol_error(
                    "badVerb",
                    format!(
                        "{name:?} is no verb; supported verbs: Identify, ListMetadataFormats, ListSets, ListIdentifiers, \
                         ListRecords, GetRecord"
                    ),
                ));
            }
        };
        // What remains is no argument of the verb. Beside a token nothing may remain, since the protocol makes it exclusive.
        match others.first() {
            Some((name, _)) => Err(protocol_error(
                "badArgument",
                format!("the argument {name} is not one of this verb"),
            )),
            None => Ok(verb),
        }
    }
}

/// Removes an argument, and returns its value. A repeated argument is an error.
fn take_argument(arguments: &mut Pairs, name: &str) -> Result<Option<String>, Failure> {
    let mut values = Vec::new();
    arguments.retain(|(known, value)| {
        if known == name {
            values.push(value.clone());
        }
        known != name
    });
    if values.len() > 1 {
        return Err(protocol_error(
            "badArgument",
            format!("the argument {name} is repeated"),
        ));
    }
    Ok(values.pop())
}

/// Removes an argument, and returns its value. A missing or repeated argument is an error.
fn require_argument(arguments: &mut Pairs, name: &str) -> Result<String, Failure> {
    take_argument(arguments, name)?
        .ok_or_else(|| protocol_error("badArgument", format!("the argument {name} is missing")))
}

fn parse_format(prefix: &str) -> Result<MetadataFormat, Failure> {
    MetadataFormat::from_prefix(prefix).ok_or_else(|| {
        protocol_error(
            "cannotDisseminateFormat",
            format!("the format {prefix:?} is not supported; ListMetadataFormats lists the supported ones"),
        )
    })
}

impl Selection {
    fn new(prefix: &str, from: Option<String>, until: Option<String>) -> Result<Self, Failure> {
        let format = parse_format(prefix)?;
        for (name, date) in [("from", &from), ("until", &until)] {
            if let Some(date) = date
                && !is_date(date)
            {
                return Err(protocol_error(
                    "badArgument",
                    format!(
                        "{name}={date:?} is not a date; examples: 2026-01-31, 2026-01-31T12:00:00Z"
                    ),
                ));
            }
        }
        if let (Some(from), Some(until)) = (&from, &until) {
            // Equal lengths mean equal forms, since both texts have one of the two forms.
            if from.len() != until.len() {
                let message = "from and until have different granularities";
                return Err(protocol_error("badArgument", message));
            }
            if from > until {
                return Err(protocol_error("badArgument", "from is later than until"));
            }
        }
        Ok(Self {
            format,
            from,
            until,
            after: None,
        })
    }

    /// Returns true if a change is in the range of dates. A day contains its seconds.
    fn includes(&self, change: &Change) -> bool {
        let is_from = self
            .from
            .as_ref()
            // Times of one form and time zone have the order of their texts; a day precedes all its seconds.
            .is_none_or(|from| change.time.as_str() >= from.as_str());
        let is_until = self.until.as_ref().is_none_or(|until| {
            // The time is cut to the granularity of the limit, so that the last day is included as a whole.
            change.time.get(..until.len()).unwrap_or(&change.time) <= until.as_str()
        });
        is_from && is_until
    }

    fn is_sent(&self, change: &Change) -> bool {
        self.after
            .as_ref()
            // Equal places have the order of ids, so a list also continues between them.
            .is_some_and(|(place, id)| (change.place, change.id.as_str()) <= (*place, id.as_str()))
    }

    /// Returns the token that continues after a change.
    fn token(&self, last: &Change) -> String {
        let parts = [
            self.format.prefix(),
            self.from.as_deref().unwrap_or_default(),
            self.until.as_deref().unwrap_or_default(),
            &last.place.to_string(),
            &segment(last.id.as_str()),
        ];
        parts.join(&SEPARATOR.to_string())
    }

    fn from_token(token: &str) -> Result<Self, Failure> {
        let parts: Vec<&str> = token.split(SEPARATOR).collect();
        let [prefix, from, until, place, id] = parts[..] else {
            return Err(invalid_token());
        };
        let [from, until] =
            [from, until].map(|date| Some(date.to_owned()).filter(|date| !date.is_empty()));
        // The protocol has one error for every fault of a token, since clients do not write tokens.
        let selection = Self::new(prefix, from, until).map_err(|_| invalid_token())?;
        let place = place.parse().map_err(|_| invalid_token())?;
        Ok(Self {
            after: Some((place, decode_segment(id))),
            ..selection
        })
    }
}

fn invalid_token() -> Failure {
    protocol_error("badResumptionToken", "the token is not one of this server")
}

/// Returns true for a day or a second in UTC, in the form of the protocol.
fn is_date(text: &str) -> bool {
    let is_day = has_form(text, "0000-00-00");
    (is_day || has_form(text, "0000-00-00T00:00:00Z")) && Moment::parse(text).is_some()
}

/// If true, a text consists of the characters of a form, in which `0` stands for any digit.
fn has_form(text: &str, form: &str) -> bool {
    text.len() == form.len()
        && text
            .bytes()
            .zip(form.bytes())
            .all(|(byte, form)| match form {
                b'0' => byte.is_ascii_digit(),
                form => byte == form,
            })
}

fn decode_segment(text: &str) -> String {
    let parsed = form_urlencoded::parse(text.as_bytes()).next();
    match parsed {
        Some((name, _)) => name.into_owned(),
        None => String::new(),
    }
}

/// Returns the part of identifiers before the id of the dataset.
fn identifier_prefix(links: &LinkBase) -> String {
    let address = links.as_str();
    let authority = address.split("://").nth(1).unwrap_or(address);
    let host = authority.split(['/', ':']).next().unwrap_or(authority);
    format!("oai:{host}:")
}

fn build_header(change: &Change, links: &LinkBase) -> Header {
    Header {
        identifier: format!(
            "{}{}",
            identifier_prefix(links),
            segment(change.id.as_str())
        ),
        datestamp: change.time.clone(),
        is_deleted: change.kind == ChangeKind::Delete,
    }
}

fn build_content(state: &AppState, links: &LinkBase, verb: &Verb) -> Result<Content, Failure> {
    let changes = Changes::current(state)?;
    match verb {
        Verb::Identify => {
            let earliest = changes.all.iter().map(|change| &change.time).min();
            Ok(Content::Identify {
                name: state.portal.portal.title.default_value().clone(),
                emails: state.branding.mail_addresses(),
                earliest: earliest
                    .cloned()
                    .unwrap_or_else(|| in_seconds(&DateTime::now().to_string())),
            })
        }
        Verb::ListMetadataFormats { identifier } => {
            if let Some(identifier) = identifier {
                find_change(&changes, links, identifier)?;
            }
            Ok(Content::Formats(MetadataFormat::ALL.to_vec()))
        }
        Verb::GetRecord { identifier, format } => {
            let change = find_change(&changes, links, identifier)?;
            Ok(Content::Record(build_record(
                state, links, change, *format,
            )?))
        }
        Verb::ListIdentifiers(selection) => {
            let (listed, of_request) = select_changes(&changes, selection)?;
            let sent = &listed[..listed.len().min(MAX_IDENTIFIERS)];
            let headers = sent
                .iter()
                .map(|change| build_header(change, links))
                .collect();
            let token = next_token(selection, of_request, &listed, sent.len());
            Ok(Content::Identifiers(headers, token))
        }
        Verb::ListRecords(selection) => {
            let (listed, of_request) = select_changes(&changes, selection)?;
            let (mut records, mut bytes) = (Vec::new(), 0);
            for change in listed.iter().take(MAX_RECORDS) {
                let record = build_record(state, links, change, selection.format)?;
                if let Some(metadata) = &record.metadata {
                    bytes += metadata.len();
                }
                records.push(record);
                // Checked after the record: each response has at least one, or the list would never advance.
                if bytes > MAX_RESPONSE_BYTES {
                    break;
                }
            }
            let token = next_token(selection, of_request, &listed, records.len());
            Ok(Content::Records(records, token))
        }
    }
}

/// Returns the changes that remain to be sent, and the number of all changes of the request.
fn select_changes<'c>(
    changes: &'c Changes,
    selection: &Selection,
) -> Result<(Vec<&'c Change>, usize), Failure> {
    let selected: Vec<&Change> = changes
        .all
        .iter()
        .filter(|change| selection.includes(change))
        .collect();
    let all = selected.len();
    let rest: Vec<&Change> = selected
        .into_iter()
        .filter(|change| !selection.is_sent(change))
        .collect();
    // If all remaining records changed since the token, the list ends with an empty response and is no error.
    if rest.is_empty() && selection.after.is_none() {
        return Err(protocol_error(
            "noRecordsMatch",
            "no record has a date in this range",
        ));
    }
    Ok((rest, all))
}

/// Returns the token of the rest of a list. The last response of a list that has several ends it with an empty token.
fn next_token(selection: &Selection, all: usize, listed: &[&Change], sent: usize) -> Option<Token> {
    let text = match listed[..sent].last() {
        Some(last) if sent < listed.len() => selection.token(last),
        // An empty token marks the end of an incomplete list (OAI-PMH 3.5); a complete list has none.
        _ if selection.after.is_some() => String::new(),
        _ => return None,
    };
    Some(Token {
        text,
        size: all,
        // Only what remains is listed: the difference was sent before.
        cursor: all - listed.len(),
    })
}

fn find_change<'c>(
    changes: &'c Changes,
    links: &LinkBase,
    identifier: &str,
) -> Result<&'c Change, Failure> {
    let prefix = identifier_prefix(links);
    let id = identifier.strip_prefix(&prefix).map(decode_segment);
    let found = id.and_then(|id| changes.all.iter().find(|change| change.id.as_str() == id));
    found.ok_or_else(|| {
        protocol_error(
            "idDoesNotExist",
            format!("there is no record {identifier:?}; identifiers begin with {prefix}"),
        )
    })
}

fn build_record(
    state: &AppState,
    links: &LinkBase,
    change: &Change,
    format: MetadataFormat,
) -> Result<Record, Failure> {
    let mut header = build_header(change, links);
    // It may have been removed since the changes were read.
    let is_present = state.store.contains(&change.id);
    header.is_deleted |= !is_present.map_err(ApiError::from)?;
    if header.is_deleted {
        return Ok(Record {
            header,
            metadata: None,
        });
    }
    let metadata = match format {
        MetadataFormat::DublinCore => dublin_core(state, &change.id)?,
        MetadataFormat::DcatAp => rdf_xml(state, &change.id, links)?,
    };
    Ok(Record {
        header,
        metadata: Some(metadata),
    })
}

/// Returns the description in DCAT-AP as an element of RDF/XML.
fn rdf_xml(state: &AppState, id: &DatasetId, links: &LinkBase) -> Result<String, ApiError> {
    let form = RdfForm {
        syntax: RdfSyntax::RdfXml,
        version: RdfVersion::V11,
    };
    let serialized = form
        .serialize(&dcat_ap_description(state, id, links)?)
        .map_err(|error| ApiError::internal(&error))?;
    let text = String::from_utf8(serialized.bytes).map_err(|error| ApiError::internal(&error))?;
    Ok(match text.split_once("?>") {
        // The declaration may occur only at the beginning of a document, and this text becomes an element within one.
        Some((declaration, element)) if declaration.starts_with("<?xml") => {
            element.trim().to_owned()
        }
        _ => text,
    })
}

/// Returns the description in Dublin Core.
fn dublin_core(state: &AppState, id: &DatasetId) -> Result<String, ApiError> {
    let Some(described) = PortalMetadata::read(&state.store, id)? else {
        return Err(ApiError::no_dataset(id));
    };
    DublinCore {
        elements: dublin_core_elements(&described),
    }
    .render()
    .map_err(|error| ApiError::internal(&error))
}

fn dublin_core_elements(described: &PortalMetadata) -> Elements {
    let metadata = &described.dataset.metadata;
    let mut elements: Elements = Vec::new();
    add_element(&mut elements, "title", metadata.title());
    for party in &described.creators {
        add_element(&mut elements, "creator", &party.name);
    }
    for keyword in &described.keywords {
        add_element(&mut elements, "subject", keyword);
    }
    for theme in &described.themes {
        add_element(&mut elements, "subject", &theme.name);
    }
    if let Some(description) = metadata.description() {
        add_element(&mut elements, "description", description);
    }
    for party in &described.publishers {
        add_element(&mut elements, "publisher", &party.name);
    }
    for date in [&metadata.issued, &metadata.modified].into_iter().flatten() {
        add_element(&mut elements, "date", date);
    }
    add_element(&mut elements, "type", "Dataset");
    add_element(&mut elements, "identifier", &described.iri);
    for identifier in &described.identifiers {
        add_element(&mut elements, "identifier", identifier);
    }
    for file in &described.files {
        if let Some(media_type) = file.media_type.as_ref().or(file.format.as_ref()) {
            add_element(&mut elements, "format", media_type);
        }
    }
    for language in &described.declared_languages {
        add_element(&mut elements, "language", &text_of(language));
    }
    for place in &described.places {
        add_element(&mut elements, "coverage", &text_of(place));
    }
    for license in &described.licenses {
        add_element(&mut elements, "rights", license);
    }
    if let Some(rights) = &described.access_rights {
        add_element(&mut elements, "rights", &text_of(rights));
    }
    elements
}

/// Adds an element, unless it is empty or repeats another.
fn add_element(elements: &mut Elements, element: &'static str, text: &str) {
    let element = (element, text.to_owned());
    if !text.is_empty() && !elements.contains(&element) {
        elements.push(element);
    }
}

fn text_of(term: &Term) -> String {
    let name = term.name.as_ref().or(term.iri.as_ref());
    name.cloned().unwrap_or_default()
}
