//! `GET /dataset/{id}/cite?format=`: citations of a dataset for reference managers: BibTeX, RIS, CSL-JSON.
//!
//! Catalogues do not distinguish persons from organisations, nor the parts of names. Therefore names are not split.

use crate::AppState;
use crate::documentation::{
    BadRequest, CitationText, CslJson, Id, JsonError, Negotiated, NotAcceptable, NotFound, Text,
};
use crate::error::ApiError;
use crate::negotiation::best;
use crate::portal::metadata::PortalMetadata;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use lodeseek_catalog::{DatasetId, Metadata, Moment, plain_text};
use lodeseek_rdf::on_one_line;
use lodeseek_store::Store;
use oxsdatatypes::Date;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

/// Formats of a citation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Format {
    BibTex,
    Ris,
    Csl,
}

/// (`format`, media type, format).
const FORMS: [(&str, &str, Format); 3] = [
    ("bibtex", "application/x-bibtex", Format::BibTex),
    ("ris", "application/x-research-info-systems", Format::Ris),
    (
        "csl-json",
        "application/vnd.citationstyles.csl+json",
        Format::Csl,
    ),
];

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Parameters {
    /// bibtex, ris or csl-json.
    format: Option<String>,
}

/// Year of a dataset without a date of publication, in BibTeX. Styles write it themselves for RIS and CSL-JSON without a year.
const UNDATED: &str = "n.d.";

/// The data of a citation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Citation {
    /// Dataset id, as the citation key.
    pub(crate) key: String,
    pub(crate) title: String,
    /// Creators, or the publisher if there are none.
    pub(crate) authors: Vec<String>,
    pub(crate) publisher: Option<String>,
    /// Year, month and day of the publication, as far as known.
    pub(crate) date: Vec<u32>,
    pub(crate) version: Option<String>,
    pub(crate) doi: Option<String>,
    /// Address to cite: the home page or source of the publisher, else the IRI.
    pub(crate) url: String,
}

#[utoipa::path(get, path = "/dataset/{id}/cite", tag = "Datasets", summary = "Citation of a dataset",
    params(Id, Parameters),
    responses(
        Negotiated<(CitationText, CslJson)>,
        BadRequest<(JsonError, Text)>,
        NotFound<Text>,
        NotAcceptable<Text>))]
pub(crate) async fn cite(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Query(parameters): Query<Parameters>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let (media_type, form) = negotiate(parameters.format.as_deref(), &headers)?;
    let id = DatasetId::new(id).map_err(|error| ApiError::not_found(error.to_string()))?;
    let text = state
        .work(move |state| {
            let citation = Citation::read(&state.store, &id)?;
            let citation = citation.ok_or_else(|| ApiError::no_dataset(&id))?;
            Ok(match form {
                Format::BibTex => citation.bibtex(),
                Format::Ris => citation.ris(),
                Format::Csl => format!("{:#}\n", Value::Array(vec![citation.csl()])),
            })
        })
        .await?;
    let content_type = format!("{media_type}; charset=utf-8");
    Ok(([(header::CONTENT_TYPE, content_type)], text).into_response())
}

fn negotiate(
    format: Option<&str>,
    headers: &HeaderMap,
) -> Result<(&'static str, Format), ApiError> {
    let found = match format {
        Some(name) => FORMS.into_iter().find(|(format, ..)| *format == name),
        None => {
            let chosen = best(headers, &FORMS.map(|(_, media_type, _)| media_type));
            let found = chosen.and_then(|chosen| {
                FORMS
                    .into_iter()
                    .find(|(_, media_type, _)| *media_type == chosen)
            });
            // Browsers that follow a link do not list these media types.
            found.or_else(|| best(headers, &["text/plain", "text/html"]).map(|_| FORMS[0]))
        }
    };
    match (found, format) {
        (Some((_, media_type, form)), _) => Ok((media_type, form)),
        (None, Some(name)) => Err(ApiError::unknown_format(name, "bibtex, ris, csl-json")),
        (None, None) => Err(ApiError::not_acceptable(
            &FORMS.map(|(_, media_type, _)| media_type),
        )),
    }
}

impl Citation {
    fn read(store: &Store, id: &DatasetId) -> Result<Option<Self>, ApiError> {
        Ok(PortalMetadata::read(store, id)?.map(|described| Self::new(&described)))
    }

    pub(crate) fn new(described: &PortalMetadata) -> Self {
        let metadata = &described.dataset.metadata;
        let publisher = described
            .publishers
            .iter()
            .find_map(|party| normalize_name(&party.name));
        let creators: Vec<String> = metadata
            .creators
            .iter()
            .filter_map(|agent| normalize_name(&agent.name))
            .collect();
        let places = [
            metadata.source.as_deref(),
            metadata.landing_page.as_deref(),
            Some(metadata.id.as_str()),
        ];
        let identifiers = described.identifiers.iter().map(String::as_str);
        let doi = identifiers
            .chain(places.into_iter().flatten())
            .find_map(find_doi);
        let own = metadata
            .landing_page
            .clone()
            .or_else(|| metadata.source.clone());
        Self {
            key: metadata.id.to_string(),
            title: on_one_line(&plain_text(metadata.title())),
            authors: if creators.is_empty() {
                publisher.iter().cloned().collect()
            } else {
                creators
            },
            publisher,
            date: publication_date(metadata),
            version: described.version.clone(),
            url: own
                .filter(|url| crate::text::is_web(url))
                .unwrap_or_else(|| described.iri.clone()),
            doi,
        }
    }

    /// Formats the citation as a text for a list of references, in the form that the DataCite Metadata Schema 4 prefers:
    /// `Creator (PublicationYear): Title. Version. Publisher. (resourceTypeGeneral). Identifier`.
    pub(crate) fn text(&self) -> String {
        let year = match self.date.first() {
            Some(year) => year.to_string(),
            None => UNDATED.to_owned(),
        };
        let title = self.title.trim_end_matches('.');
        let mut text = if self.authors.is_empty() {
            format!("{title} ({year})")
        } else {
            format!("{} ({year}): {title}", self.authors.join("; "))
        };
        if let Some(version) = &self.version {
            text += &format!(". Version {version}");
        }
        // A publisher that stands for the creators is named once.
        if let Some(publisher) = &self.publisher
            && !self.authors.contains(publisher)
        {
            text += &format!(". {publisher}");
        }
        let identifier = match &self.doi {
            Some(doi) => format!("https://doi.org/{}", encode_address(doi)),
            None => self.url.clone(),
        };
        format!("{text}. (Dataset). {identifier}")
    }

    /// Formats the citation as a BibTeX entry, of a type that all styles support.
    pub(crate) fn bibtex(&self) -> String {
        let authors: Vec<String> = self
            .authors
            .iter()
            .map(|name| format!("{{{}}}", escape_tex(name)))
            .collect();
        let date: Vec<String> = self.date.iter().map(ToString::to_string).collect();
        let version = self
            .version
            .as_deref()
            .map(|version| format!("Dataset, version {}", escape_tex(version)));
        let fields = [
            ("author", authors.join(" and ")),
            // Inner braces preserve capitals.
            ("title", format!("{{{}}}", escape_tex(&self.title))),
            (
                "publisher",
                self.publisher
                    .as_deref()
                    .map(escape_tex)
                    .unwrap_or_default(),
            ),
            (
                "year",
                date.first().cloned().unwrap_or_else(|| UNDATED.to_owned()),
            ),
            ("month", date.get(1).cloned().unwrap_or_default()),
            ("note", version.unwrap_or_else(|| "Dataset".to_owned())),
            (
                "doi",
                self.doi.as_deref().map(encode_address).unwrap_or_default(),
            ),
            ("url", encode_address(&self.url)),
        ];
        let fields = fields.into_iter().filter(|(_, value)| !value.is_empty());
        let fields: String = fields
            .map(|(name, value)| format!("  {name} = {{{value}}},\n"))
            .collect();
        format!("@misc{{{},\n{fields}}}\n", self.bibtex_key())
    }

    /// Returns the letters, digits and hyphens of the id, which all programs accept.
    fn bibtex_key(&self) -> String {
        let letters: String = self
            .key
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        let key = letters
            .split('-')
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join("-");
        if key.starts_with(|c: char| c.is_ascii_alphabetic()) {
            key
        } else {
            format!("dataset-{key}")
        }
    }

    /// Formats the citation as an RIS reference: one tag a line, without line breaks in values.
    pub(crate) fn ris(&self) -> String {
        let mut lines = vec!["TY  - DATA".to_owned(), ris_line("ID", &self.key)];
        lines.push(ris_line("TI", &self.title));
        for name in &self.authors {
            lines.push(ris_line("AU", name));
        }
        lines.extend(self.publisher.iter().map(|name| ris_line("PB", name)));
        if let Some(year) = self.date.first() {
            let [month, day] = [1, 2].map(|place| match self.date.get(place) {
                Some(part) => format!("{part:02}"),
                None => String::new(),
            });
            lines.push(ris_line("PY", &year.to_string()));
            // In RIS, a slash follows each part of a date, even an empty one.
            lines.push(ris_line("DA", &format!("{year}/{month}/{day}/")));
        }
        lines.extend(self.version.iter().map(|version| ris_line("ET", version)));
        lines.extend(self.doi.iter().map(|doi| ris_line("DO", doi)));
        lines.push(ris_line("UR", &self.url));
        lines.push("ER  - ".to_owned());
        lines.join("\r\n") + "\r\n"
    }

    pub(crate) fn csl(&self) -> Value {
        let authors: Vec<Value> = self
            .authors
            .iter()
            .map(|name| json!({ "literal": name }))
            .collect();
        let mut csl =
            json!({ "id": self.key, "type": "dataset", "title": self.title, "URL": self.url });
        let optional = [
            ("author", (!authors.is_empty()).then(|| json!(authors))),
            ("publisher", self.publisher.as_ref().map(|name| json!(name))),
            (
                "issued",
                (!self.date.is_empty()).then(|| json!({ "date-parts": [self.date] })),
            ),
            (
                "version",
                self.version.as_ref().map(|version| json!(version)),
            ),
            ("DOI", self.doi.as_ref().map(|doi| json!(doi))),
        ];
        for (name, value) in optional {
            if let Some(value) = value {
                csl[name] = value;
            }
        }
        csl
    }
}

fn ris_line(tag: &str, value: &str) -> String {
    format!("{tag}  - {}", on_one_line(value))
}

/// Returns the date of the publication, else of the creation, else the year by which the search filters. A date of change is none:
/// the search treats such datasets as undated, too.
fn publication_date(metadata: &Metadata) -> Vec<u32> {
    let written = metadata.issued.as_deref().or(metadata.created.as_deref());
    let parts = written.map(parse_date).unwrap_or_default();
    if !parts.is_empty() {
        return parts;
    }
    let year = metadata.first_year();
    year.and_then(|year| u32::try_from(year).ok())
        .into_iter()
        .collect()
}

/// Finds a DOI in a text: `10.`, a registrant of four to nine digits, a slash and a suffix.
fn find_doi(text: &str) -> Option<String> {
    text.match_indices("10.").find_map(|(place, _)| {
        let begins = text[..place]
            .chars()
            .next_back()
            .is_none_or(|before| !before.is_ascii_alphanumeric() && before != '.');
        // Only a text with a valid registrant is read further: a search for the end from each `10.` takes quadratic time.
        if !begins {
            return None;
        }
        let rest = &text[place + 3..];
        let end = rest
            .bytes()
            .position(|byte| !byte.is_ascii_digit() && byte != b'.')?;
        let (registrant, name) = (&rest[..end], rest[end..].strip_prefix('/')?);
        if !(4..=9).contains(&registrant.split('.').next()?.len()) {
            return None;
        }
        let name = name
            .split(|c: char| c.is_whitespace() || matches!(c, '"' | '<' | '>' | '?' | '#'))
            .next()?;
        // Punctuation of the surrounding sentence.
        let name = name.trim_end_matches(['.', ',', ';']);
        let name = if name.contains('(') {
            name
        } else {
            name.trim_end_matches([')', '.', ',', ';'])
        };
        (!name.is_empty()).then(|| format!("10.{registrant}/{name}"))
    })
}

/// Parses year, month and day of a date, as far as present.
fn parse_date(text: &str) -> Vec<u32> {
    let moment = Moment::parse(text);
    let text = match &moment {
        Some(moment) => moment.iso(),
        None => text,
    };
    let day = text.trim().split(['T', ' ']).next().unwrap_or_default();
    let parts = day.split('-').map_while(|part| part.parse::<u32>().ok());
    let mut parts: Vec<u32> = parts
        .enumerate()
        .take(3)
        .take_while(|(place, part)| is_date_part(*place, *part))
        .map(|(_, part)| part)
        .collect();
    // For an invalid day only year and month are used.
    if parts.len() == 3
        && format!("{:04}-{:02}-{:02}", parts[0], parts[1], parts[2])
            .parse::<Date>()
            .is_err()
    {
        parts.pop();
    }
    parts
}

/// If true, a number can be the year, month or day, which are the parts 0, 1 and 2 of a date.
fn is_date_part(place: usize, part: u32) -> bool {
    match place {
        0 => (1000..=9999).contains(&part),
        1 => (1..=12).contains(&part),
        _ => (1..=31).contains(&part),
    }
}

/// Normalizes a name; `None` if it is empty.
fn normalize_name(name: &str) -> Option<String> {
    Some(on_one_line(name)).filter(|name| !name.is_empty())
}

/// Escapes a text for TeX. Braces become commands: BibTeX counts escaped ones, too, and an unbalanced one would end the entry.
fn escape_tex(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in on_one_line(text).chars() {
        match character {
            '\\' => out.push_str("\\textbackslash{}"),
            '{' => out.push_str("\\textbraceleft{}"),
            '}' => out.push_str("\\textbraceright{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '&' | '%' | '$' | '#' | '_' => {
                out.push('\\');
                out.push(character);
            }
            character => out.push(character),
        }
    }
    out
}

/// Percent-encodes the characters that would end a `\url` field or are invalid in addresses.
fn encode_address(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_whitespace()
            || character.is_control()
            || matches!(character, '{' | '}' | '\\' | '"')
        {
            let mut bytes = [0; 4];
            for byte in character.encode_utf8(&mut bytes).bytes() {
                out.push_str(&format!("%{byte:02X}"));
            }
        } else {
            out.push(character);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hostile() -> Citation {
        Citation {
            key: "10.5281/zenodo.1, {a}".to_owned(),
            title: "100% of {A \\ B} & $x_1^2$ ~ #tag\n} }, author = {Eve}\r\nER  - \nTY  - JOUR"
                .to_owned(),
            authors: vec!["Smith and Sons, Ltd.".to_owned(), "Ünïcödé {".to_owned()],
            publisher: Some("A\tB".to_owned()),
            date: vec![2021, 2],
            version: Some("1.0".to_owned()),
            doi: Some("10.5281/zenodo.1".to_owned()),
            url: "http://e.org/a b}{\\?x=100%25&y_z#f".to_owned(),
        }
    }

    #[test]
    fn the_year_is_that_of_the_publication() {
        let mut metadata = Metadata::new(DatasetId::new("1").expect("an id"));
        metadata.modified = Some("2020-05-01".to_owned());
        assert_eq!(publication_date(&metadata), [0; 0]);
        metadata.created = Some("2011".to_owned());
        assert_eq!(publication_date(&metadata), [2011]);
        metadata.issued = Some("2012-03-04T10:00:00Z".to_owned());
        assert_eq!(publication_date(&metadata), [2012, 3, 4]);
        let undated = Citation {
            date: Vec::new(),
            ..hostile()
        };
        assert!(
            undated.bibtex().contains("year = {n.d.}"),
            "{}",
            undated.bibtex()
        );
        assert!(!undated.ris().contains("PY  - "));
        assert_eq!(undated.csl().get("issued"), None);
    }

    #[test]
    fn a_text_has_the_form_of_datacite() {
        let citation = Citation {
            title: "Air quality.".to_owned(),
            doi: None,
            url: "http://e.org/1".to_owned(),
            ..hostile()
        };
        assert_eq!(
            citation.text(),
            "Smith and Sons, Ltd.; Ünïcödé { (2021): Air quality. Version 1.0. A\tB. (Dataset). http://e.org/1"
        );
        let bare = Citation {
            title: "Trees".to_owned(),
            authors: vec!["City".to_owned()],
            publisher: Some("City".to_owned()),
            doi: Some("10.5281/zenodo.1".to_owned()),
            ..Citation::default()
        };
        assert_eq!(
            bare.text(),
            "City (n.d.): Trees. (Dataset). https://doi.org/10.5281/zenodo.1"
        );
    }

    #[test]
    fn bibtex_cannot_be_broken_out_of() {
        let text = hostile().bibtex();
        let mut depth = 0_i32;
        for (place, character) in text.char_indices() {
            depth += match character {
                '{' => 1,
                '}' => -1,
                _ => 0,
            };
            assert!(
                depth > 0
                    || place < 5
                    || text[place + character.len_utf8()..].trim().is_empty()
                    || !text[..place].contains('{'),
                "{text}"
            );
        }
        assert_eq!(depth, 0, "{text}");
        let expected = "@misc{dataset-10-5281-zenodo-1-a,
  author = {{Smith and Sons, Ltd.} and {Ünïcödé \\textbraceleft{}}},
  title = {{100\\% of \\textbraceleft{}A \\textbackslash{} B\\textbraceright{} \\& \\$x\\_1\\textasciicircum{}2\\$ \\textasciitilde{} \\#tag \\textbraceright{} \\textbraceright{}, author = \\textbraceleft{}Eve\\textbraceright{} ER - TY - JOUR}},
  publisher = {A B},
  year = {2021},
  month = {2},
  note = {Dataset, version 1.0},
  doi = {10.5281/zenodo.1},
  url = {http://e.org/a%20b%7D%7B%5C?x=100%25&y_z#f},
}
";
        assert_eq!(text, expected);
    }

    #[test]
    fn ris_has_one_record_of_whole_lines() {
        let text = hostile().ris();
        let lines: Vec<&str> = text.split_terminator("\r\n").collect();
        assert!(
            lines.iter().all(|line| line.len() >= 6
                && &line[2..6] == "  - "
                && !line.contains(['\n', '\r'])),
            "{text}"
        );
        let tags = |tag: &str| lines.iter().filter(|line| line.starts_with(tag)).count();
        assert_eq!(
            [tags("TY"), tags("ER"), tags("AU"), tags("TI")],
            [1, 1, 2, 1]
        );
        assert_eq!((lines[0], lines[lines.len() - 1]), ("TY  - DATA", "ER  - "));
        assert!(lines.contains(&"DA  - 2021/02//"));
    }

    #[test]
    fn csl_is_what_json_makes_of_it() {
        let csl = hostile().csl();
        assert_eq!(csl["issued"], json!({ "date-parts": [[2021, 2]] }));
        assert_eq!(
            (&csl["DOI"], &csl["author"][0]["literal"]),
            (&json!("10.5281/zenodo.1"), &json!("Smith and Sons, Ltd."))
        );
        assert_eq!(
            Citation::default().csl(),
            json!({ "id": "", "type": "dataset", "title": "", "URL": "" })
        );
    }

    #[test]
    fn many_parts_of_dois_are_searched_in_linear_time() {
        for part in ["10.1/", "10.1000", " 10.1000", "10."] {
            let text = part.repeat(30_000);
            assert_eq!(find_doi(&text), None, "{part}");
            assert_eq!(
                find_doi(&format!("{text} doi:10.1000/182")),
                Some("10.1000/182".to_owned()),
                "{part}"
            );
        }
    }

    #[test]
    fn dois_and_dates_are_found_where_they_are() {
        let found = Some("10.1000/182".to_owned());
        assert_eq!(find_doi("https://doi.org/10.1000/182?x"), found);
        assert_eq!(find_doi("doi:10.1000/182 and more"), found);
        for text in [
            "110.1000/182",
            "10.1/2",
            "10.x000/182",
            "version 10.1000",
            "10.1000/",
        ] {
            assert_eq!(find_doi(text), None, "{text}");
        }
        assert_eq!(
            find_doi("10.1000.10/182"),
            Some("10.1000.10/182".to_owned())
        );
        assert_eq!(find_doi("10.1/2, 10.1000/182."), found);
        assert_eq!(parse_date("2021-02-11T00:00:00Z"), [2021, 2, 11]);
        assert_eq!(
            (
                parse_date("2021"),
                parse_date("2021-13-01"),
                parse_date("May 2021")
            ),
            (vec![2021], vec![2021], Vec::new())
        );
    }
}
