//! Download of the files with content that catalogues describe: RDF and tables.

use super::fetch::Purpose;
use super::{Downloads, HarvestError, Run};
use lodeseek_catalog::{Dataset, Distribution, LocalCopy, Location};

/// Media types and format names of RDF, tables and workbooks, reduced to their letters and digits. `xml` and `json` are missing,
/// because most such addresses are services.
const FORMATS: &[&str] = &[
    "commaseparatedvalues",
    "csv",
    "excel",
    "geojson",
    "hdt",
    "jsonld",
    "ldjson",
    "n3",
    "nq",
    "nquads",
    "nt",
    "ntriples",
    "ods",
    "owl",
    "rdf",
    "rdfjsonld",
    "rdfn3",
    "rdfnquads",
    "rdfntriples",
    "rdftrig",
    "rdfturtle",
    "rdfxml",
    "tabseparatedvalues",
    "topojson",
    "trig",
    "tsv",
    "ttl",
    "turtle",
    "vndgeojson",
    "vndhdt",
    "vndmsexcel",
    "vndoasisopendocumentspreadsheet",
    "vndopenxmlformatsofficedocumentspreadsheetmlsheet",
    "void",
    "xcsv",
    "xls",
    "xlsx",
    "xnquads",
    "xtrig",
    "xturtle",
];
/// File name extensions of RDF, of tables and workbooks, and of JSON and XML, whose records are content.
const ENDINGS: &[&str] = &[
    "ttl", "nt", "nq", "trig", "n3", "rdf", "owl", "jsonld", "hdt", "csv", "tsv", "tab", "psv",
    "xlsx", "xlsm", "xlsb", "xls", "ods", "geojson", "topojson", "json", "jsonl", "xml",
];
/// File name extensions of compressed files and archives.
const PACKED: &[&str] = &[".gz", ".bz2", ".xz", ".zst", ".zip", ".tar", ".tgz"];

/// Returns true if the media type, format or address of a file indicates RDF or a table. A harvest downloads these files only.
///
/// ```
/// use lodeseek_harvest::is_content_file;
///
/// assert!(is_content_file("http://example.org/trees.nt.gz", None));
/// assert!(is_content_file("http://example.org/download?id=1", Some("text/turtle")));
/// assert!(is_content_file("http://example.org/trees.csv", None));
/// assert!(!is_content_file("http://example.org/trees.pdf", None));
/// ```
#[must_use]
pub fn is_content_file(address: &str, media_type: Option<&str>) -> bool {
    if media_type.is_some_and(is_content_format) {
        return true;
    }
    let place = address
        .split(['?', '#'])
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    let mut name = place.rsplit('/').next().unwrap_or_default();
    while let Some(rest) = PACKED.iter().find_map(|suffix| name.strip_suffix(suffix)) {
        name = rest;
    }
    name.rsplit_once('.')
        .is_some_and(|(_, ending)| ENDINGS.contains(&ending))
}

fn is_content(distribution: &Distribution) -> bool {
    is_content_file(
        distribution.location.as_str(),
        distribution.media_type.as_deref(),
    )
}

/// Returns true for a media type or format name of RDF or tables: `text/turtle` by its subtype, `RDF/XML` as a whole.
fn is_content_format(text: &str) -> bool {
    let subtype = text.rsplit('/').next().unwrap_or(text);
    [text, subtype].into_iter().any(|name| {
        let letters: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        FORMATS.contains(&letters.to_ascii_lowercase().as_str())
    })
}

impl Run<'_, '_> {
    /// Downloads the files of a dataset, and returns the SHA-256 of all local files. A failed file does not affect the
    /// others.
    pub(super) fn download(&mut self, dataset: &mut Dataset) -> Result<Vec<String>, HarvestError> {
        let mut hashes = Vec::new();
        for distribution in dataset
            .distributions
            .iter_mut()
            .filter(|distribution| distribution.copy.is_some() || is_content(distribution))
        {
            let Location::Remote(address) = &distribution.location else {
                continue;
            };
            if let Some(LocalCopy::File(path)) = &distribution.copy {
                hashes.push(path.display().to_string()); // the page itself is the dump; its file name contains its hash
                continue;
            }
            let outcome = match (self.harvester.options.downloads, self.stopped) {
                (Downloads::Content, false) => self.download_file(address)?,
                (Downloads::Content, true) => {
                    Some("not requested: the harvest had stopped".to_owned())
                }
                (Downloads::None, _) => None,
            };
            // An outdated copy is better than none.
            let cached = self.fetcher.state.cached_file(address);
            distribution.copy = match (cached, outcome) {
                (Some(cached), _) => {
                    hashes.push(cached.sha256);
                    Some(LocalCopy::File(self.fetcher.state.path(&cached.file)))
                }
                (None, Some(reason)) => Some(LocalCopy::Missing(reason)),
                (None, None) => None,
            };
        }
        Ok(hashes)
    }

    /// Downloads a file; returns the reason of a failure.
    fn download_file(&mut self, address: &str) -> Result<Option<String>, HarvestError> {
        let outcome = self.fetcher.get(address, Purpose::Download);
        self.report_progress();
        let error = match outcome {
            Ok(fetched) => {
                self.report.files += 1;
                self.report.new_files += u64::from(fetched.is_new);
                return Ok(None);
            }
            Err(error) => error,
        };
        let reason = self.failure_reason(error)?;
        self.report.fail_file(address, &reason);
        Ok(Some(reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_by_media_type_format_or_ending() {
        for media_type in [
            "text/turtle",
            "application/rdf+xml",
            "RDF/XML",
            "N-Triples",
            "RDF_TURTLE",
            "JSON-LD",
            "n3",
            "HDT",
            "application/vnd.hdt",
            "text/csv",
            "XLSX",
            "application/vnd.ms-excel",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            "application/geo+json",
        ] {
            assert!(
                is_content_file("http://e.org/download?id=1", Some(media_type)),
                "{media_type}"
            );
        }
        for media_type in [
            "application/json",
            "XML",
            "text/html",
            "application/owl+xml",
            "PDF",
        ] {
            assert!(
                !is_content_file("http://e.org/download?id=1", Some(media_type)),
                "{media_type}"
            );
        }
        for address in [
            "http://e.org/a.ttl",
            "http://e.org/A.NT.GZ?v=1",
            "http://e.org/a.rdf.zip",
            "http://e.org/a.nq.tar.xz",
            "http://e.org/a.hdt.gz",
            "http://e.org/a.csv",
            "http://e.org/a.json",
            "http://e.org/A.ODS",
        ] {
            assert!(
                is_content_file(address, None)
                    && is_content_file(address, Some("application/octet-stream")),
                "{address}"
            );
        }
        for address in [
            "http://e.org/a.pdf",
            "http://e.org/ttl",
            "http://e.org/csv",
            "http://e.ttl/a",
            "http://e.org/?a.ttl",
        ] {
            assert!(!is_content_file(address, None), "{address}");
        }
    }
}
