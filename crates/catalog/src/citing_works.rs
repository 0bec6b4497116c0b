//! Works that use datasets: papers, notebooks, reports. They are evidence of what a dataset is good for.
//!
//! A file has one JSON object a line:
//!
//! ```json
//! {"title": "…", "abstract": "…", "year": 2021, "url": "https://…", "datasets": ["MNIST", "CIFAR-10"]}
//! ```
//!
//! `title` and `datasets`, the ids of the datasets that the work uses, are required. `lodeseek-lab tag` calls the latter
//! `positives`; both names are accepted. White space in an id becomes `_`, as in Papers with Code catalogues.

use super::digest::format_hex;
use super::typed_fields::date_literal;
use super::{CatalogError, DatasetId, InvalidDatasetId, Iris};
use lodeseek_rdf::dump;
use lodeseek_rdf::vocab::{cito, dcterms, rdf, schema};
use oxrdf::{Literal, NamedNode, Term, Triple};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Maximum size of a line in bytes: 1 MiB. Parsed JSON can have many times the size of its text.
const MAX_LINE_BYTES: u64 = 1 << 20;
/// Length of the digest in a key, in bytes.
const KEY_BYTES: usize = 16;
/// Maximum length of the reason for which a line is not read, in characters.
const MAX_REASON_CHARACTERS: usize = 200;

/// A work and the datasets that it uses.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CitingWork {
    /// Its title.
    pub title: String,
    /// Its abstract.
    #[serde(default, rename = "abstract", skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// Year of publication.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<i32>,
    /// URL, for example of its DOI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The datasets that it uses. At least one.
    pub datasets: Vec<DatasetId>,
}

impl CitingWork {
    /// Returns a key that identifies the work: a digest of its URL, else of title and year, in hexadecimal.
    #[must_use]
    pub fn key(&self) -> String {
        let identity = self
            .url
            .clone()
            .unwrap_or_else(|| format!("{}\n{:?}", self.title, self.year));
        format_hex(&Sha256::digest(identity)[..KEY_BYTES])
    }

    /// Returns the text that is encoded: title and abstract.
    #[must_use]
    pub fn text(&self) -> String {
        if self.summary.is_empty() {
            self.title.clone()
        } else {
            format!("{}. {}", self.title, self.summary)
        }
    }

    /// Returns the description of the work in RDF.
    #[must_use]
    pub fn to_triples(&self, iris: &Iris) -> Vec<Triple> {
        let work = iris.work(&self.key());
        let mut properties: Vec<(&str, Term)> = vec![
            (
                rdf::TYPE,
                NamedNode::new_unchecked(schema::CREATIVE_WORK).into(),
            ),
            (dcterms::TITLE, Literal::from(self.title.as_str()).into()),
        ];
        if !self.summary.is_empty() {
            let summary = Literal::from(self.summary.as_str());
            properties.push((dcterms::ABSTRACT, summary.into()));
        }
        if let Some(year) = self.year {
            properties.push((dcterms::ISSUED, date_literal(&format!("{year:04}")).into()));
        }
        if let Some(url) = &self.url {
            let address = NamedNode::new(url).map(Term::from);
            properties.push((
                schema::URL,
                address.unwrap_or_else(|_| Literal::from(url.as_str()).into()),
            ));
        }
        for id in &self.datasets {
            properties.push((cito::USES_DATA_FROM, iris.dataset(id).into()));
        }
        properties
            .into_iter()
            .map(|(property, value)| {
                Triple::new(work.clone(), NamedNode::new_unchecked(property), value)
            })
            .collect()
    }

    fn from_line(line: &str) -> Result<Self, String> {
        let entry: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let title = find_text(&entry, "title").ok_or("no `title`")?;
        let names = entry.get("datasets").or_else(|| entry.get("positives"));
        let names = names
            .and_then(Value::as_array)
            .ok_or("no list `datasets`; `lodeseek-lab tag` finds the datasets that papers name")?;
        let (mut datasets, mut seen) = (Vec::with_capacity(names.len()), HashSet::new());
        for name in names {
            let name = name
                .as_str()
                .ok_or_else(|| format!("{name} in `datasets` is no text"))?;
            let id = name.split_whitespace().collect::<Vec<_>>().join("_");
            let id = DatasetId::new(id).map_err(|error| error.to_string())?;
            if seen.insert(id.clone()) {
                datasets.push(id);
            }
        }
        if datasets.is_empty() {
            return Err("`datasets` is empty".to_owned());
        }
        Ok(Self {
            title,
            summary: find_text(&entry, "abstract").unwrap_or_default(),
            year: parse_year(&entry)?,
            url: find_text(&entry, "url"),
            datasets,
        })
    }
}

/// Works read from a file, and the problems found.
#[derive(Debug, Default)]
pub struct CitingWorks {
    /// The works, in the order of the file.
    pub works: Vec<CitingWork>,
    /// Messages about unreadable lines. Each begins with the number of the line, after the name of the file if there is one.
    pub problems: Vec<String>,
}

impl CitingWorks {
    /// Returns true if a file begins like a list of works. Catalogues of datasets do not.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn is_list(path: &Path) -> Result<bool, CatalogError> {
        if path.is_dir() {
            return Ok(false);
        }
        Ok(looks_like(
            &super::read_head(path).map_err(CatalogError::io(path))?.text,
        ))
    }

    /// Reads a file, which may be compressed.
    ///
    /// # Errors
    /// The file cannot be read or uncompressed. Unreadable lines are not errors: see [`problems`](Self::problems).
    pub fn read(path: &Path) -> Result<Self, CatalogError> {
        let reader = BufReader::new(
            dump::open(path, &super::text_limits()).map_err(CatalogError::io(path))?,
        );
        let mut found = Self::from_lines(reader, usize::MAX).map_err(CatalogError::io(path))?;
        for problem in &mut found.problems {
            problem.insert_str(0, &format!("{}:", path.display()));
        }
        Ok(found)
    }

    /// Reads JSON lines, until a number of them is unreadable. A line of more than 1 MiB is unreadable.
    ///
    /// # Errors
    /// The lines cannot be read. Unreadable JSON is no error: see [`problems`](Self::problems).
    pub fn from_lines(mut reader: impl BufRead, max_problems: usize) -> io::Result<Self> {
        let (mut found, mut line, mut number) = (Self::default(), Vec::new(), 0_u64);
        while found.problems.len() < max_problems && read_line(&mut reader, &mut line)? {
            number += 1;
            if line.trim_ascii().is_empty() {
                continue;
            }
            match parse_line(&line) {
                Ok(work) => found.works.push(work),
                Err(reason) => {
                    let reason: String = reason.chars().take(MAX_REASON_CHARACTERS).collect();
                    found.problems.push(format!("{number}: {reason}"));
                }
            }
        }
        Ok(found)
    }

    /// Returns the works, with a prefix added to the ids of all datasets.
    ///
    /// # Errors
    /// The prefix makes an id invalid.
    pub fn with_prefix(self, id_prefix: &str) -> Result<Vec<CitingWork>, InvalidDatasetId> {
        let mut works = self.works;
        for id in works.iter_mut().flat_map(|work| &mut work.datasets) {
            *id = DatasetId::new(format!("{id_prefix}{id}"))?;
        }
        Ok(works)
    }
}

/// Reads the next line, of a longer one only the first [`MAX_LINE_BYTES`] and one more. Returns false at the end.
fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    reader
        .by_ref()
        .take(MAX_LINE_BYTES + 1)
        .read_until(b'\n', line)?;
    if line.len() as u64 > MAX_LINE_BYTES && !line.ends_with(b"\n") {
        reader.skip_until(b'\n')?;
    }
    Ok(!line.is_empty())
}

fn parse_line(line: &[u8]) -> Result<CitingWork, String> {
    if line.len() as u64 > MAX_LINE_BYTES {
        return Err(format!("longer than {MAX_LINE_BYTES} bytes"));
    }
    let text = std::str::from_utf8(line).map_err(|_| "not in UTF-8".to_owned())?;
    CitingWork::from_line(text)
}

/// Returns true if the first line begins an object with a title, and with used datasets or an abstract. The line may be
/// longer than the head of the file.
fn looks_like(head: &str) -> bool {
    let Some(first) = head.lines().next().filter(|line| line.starts_with('{')) else {
        return false;
    };
    // The datasets may follow an abstract that is longer than the head. Catalogues have no abstracts.
    has_key(first, "title")
        && !has_key(first, "description")
        && !has_key(first, "@context")
        && (has_key(first, "abstract") || has_key(first, "datasets") || has_key(first, "positives"))
}

/// Returns true if a line of JSON contains the key, at any depth.
fn has_key(line: &str, key: &str) -> bool {
    line.contains(&format!("\"{key}\":")) || line.contains(&format!("\"{key}\" :"))
}

fn find_text(entry: &Value, key: &str) -> Option<String> {
    let text = entry.get(key)?.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Returns the year: a number, or the beginning of a date. An absent or empty year is unknown.
fn parse_year(entry: &Value) -> Result<Option<i32>, String> {
    let written = match entry.get("year") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) if text.trim().is_empty() => return Ok(None),
        Some(Value::String(text)) => text.trim().chars().take(4).collect(),
        Some(other) => other.to_string(),
    };
    let year = written
        .parse()
        .ok()
        .filter(|year| (0..=9999).contains(year));
    year.map(Some)
        .ok_or_else(|| format!("{written:?} is no year"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"title": "Digits", "abstract": "We read.", "year": 2019, "datasets": ["MNIST", "Fashion MNIST", "MNIST"]}"#;

    #[test]
    fn lists_of_works_and_catalogues_are_distinguished() {
        assert!(looks_like(LINE));
        assert!(looks_like(r#"{"title": "a", "positives": ["b"]}"#));
        for other in [
            r#"{"title": "a", "description": "b"}"#,
            r#"{"id": "a", "contents": "b", "title": "c"}"#,
            r#"{"title": "a", "description": "b", "datasets": []}"#,
            "[{\"title\": \"a\", \"datasets\": []}]",
            "<a> <b> <c> .",
        ] {
            assert!(!looks_like(other), "{other}");
        }
    }

    #[test]
    fn lines_are_read_and_bad_ones_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("works.jsonl");
        let bad = [
            r#"{"title": "a"}"#,
            r#"{"datasets": ["a"]}"#,
            r#"{"title": "a", "year": "x", "datasets": ["b"]}"#,
        ];
        std::fs::write(&path, format!("{LINE}\n\n{}\nnot JSON\n", bad.join("\n")))
            .expect("written");
        let read = CitingWorks::read(&path).expect("a list");
        let [work] = read.works.as_slice() else {
            panic!("{:?}", read.works)
        };
        let ids: Vec<&str> = work.datasets.iter().map(DatasetId::as_str).collect();
        assert_eq!(
            (ids, work.year),
            (vec!["MNIST", "Fashion_MNIST"], Some(2019))
        );
        assert_eq!(work.text(), "Digits. We read.");
        let prefixed = CitingWorks {
            works: read.works.clone(),
            problems: Vec::new(),
        }
        .with_prefix("a-")
        .expect("valid");
        assert_eq!(prefixed[0].datasets[0].as_str(), "a-MNIST");
        let problems: Vec<&str> = read
            .problems
            .iter()
            .map(|problem| match problem.split_once("jsonl:") {
                Some((_, rest)) => rest,
                None => "",
            })
            .collect();
        assert_eq!(
            problems[..3],
            [
                "3: no list `datasets`; `lodeseek-lab tag` finds the datasets that papers name",
                "4: no `title`",
                "5: \"x\" is no year"
            ]
        );
        assert!(problems[3].starts_with("6: "));
    }

    #[test]
    fn long_lines_are_skipped_and_problems_are_bounded() {
        let long = format!(
            "{{\"title\": \"{}\"}}",
            "x".repeat(2 * MAX_LINE_BYTES as usize)
        );
        let mut lines = format!("{long}\n{LINE}\n").into_bytes();
        lines.extend(b"\xff\n{\"title\": \"a\", \"datasets\": [[");
        lines.extend("0,".repeat(1000).into_bytes());
        lines.extend(b"0]]}\n");
        let read = CitingWorks::from_lines(lines.as_slice(), 9).expect("read");
        assert_eq!(read.works.len(), 1, "the line after a long one is read");
        assert_eq!(
            read.problems[..2],
            ["1: longer than 1048576 bytes", "3: not in UTF-8"]
        );
        assert!(
            read.problems[2].starts_with("4: [0,0") && read.problems[2].len() < 210,
            "{}",
            read.problems[2]
        );
        let stopped = CitingWorks::from_lines(lines.as_slice(), 1).expect("read");
        assert_eq!((stopped.works.len(), stopped.problems.len()), (0, 1));
    }

    #[test]
    fn a_work_is_described_in_rdf() {
        let iris = Iris::default();
        let work = CitingWork::from_line(LINE).expect("a work");
        let described = |work: &CitingWork| -> Vec<String> {
            let node = iris.work(&work.key()).to_string();
            let triples = work
                .to_triples(&iris)
                .into_iter()
                .map(|triple| triple.to_string());
            triples
                .map(|triple| {
                    triple
                        .strip_prefix(&node)
                        .expect("the work")
                        .trim_start()
                        .to_owned()
                })
                .collect()
        };
        assert_eq!(
            described(&work),
            [
                "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <https://schema.org/CreativeWork>",
                "<http://purl.org/dc/terms/title> \"Digits\"",
                "<http://purl.org/dc/terms/abstract> \"We read.\"",
                "<http://purl.org/dc/terms/issued> \"2019\"^^<http://www.w3.org/2001/XMLSchema#gYear>",
                "<http://purl.org/spar/cito/usesDataFrom> <http://localhost:7878/dataset/MNIST>",
                "<http://purl.org/spar/cito/usesDataFrom> <http://localhost:7878/dataset/Fashion_MNIST>",
            ]
        );
        for (url, term) in [
            ("https://doi.org/10.1/1", "<https://doi.org/10.1/1>"),
            ("not an IRI", "\"not an IRI\""),
        ] {
            let with_url = CitingWork {
                url: Some(url.to_owned()),
                ..work.clone()
            };
            assert!(described(&with_url).contains(&format!("<https://schema.org/url> {term}")));
        }
    }

    #[test]
    fn keys_follow_the_url_else_title_and_year() {
        let work = CitingWork::from_line(LINE).expect("a work");
        let later = CitingWork {
            year: Some(2020),
            ..work.clone()
        };
        let other_text = CitingWork {
            summary: String::new(),
            ..work.clone()
        };
        assert_ne!(work.key(), later.key());
        assert_eq!(work.key(), other_text.key());
        let url = Some("https://doi.org/10.1/1".to_owned());
        assert_eq!(
            CitingWork {
                url: url.clone(),
                ..work
            }
            .key(),
            CitingWork { url, ..later }.key()
        );
    }
}
