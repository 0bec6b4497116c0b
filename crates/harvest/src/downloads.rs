//! The files that catalogues describe: those in RDF.

use super::fetch::Purpose;
use super::{Downloads, Failure, HarvestError, Run};
use lodeseek_catalog::{Dataset, Distribution, LocalCopy, Location};

/// Media types and names of formats that mean RDF and nothing else, without what separates their letters. `xml` and `json`
/// are not among them: most of what is called so is none.
const FORMATS: &[&str] = &[
    "hdt",
    "jsonld",
    "ldjson",
    "n3",
    "nq",
    "nquads",
    "nt",
    "ntriples",
    "owl",
    "rdf",
    "rdfjsonld",
    "rdfn3",
    "rdfnquads",
    "rdfntriples",
    "rdftrig",
    "rdfturtle",
    "rdfxml",
    "trig",
    "ttl",
    "turtle",
    "vndhdt",
    "void",
    "xnquads",
    "xtrig",
    "xturtle",
];
/// Ends of names that mean RDF.
const ENDINGS: &[&str] = &["ttl", "nt", "nq", "trig", "n3", "rdf", "owl", "jsonld", "hdt"];
/// Ends of names that come after those.
const PACKED: &[&str] = &[".gz", ".bz2", ".xz", ".zst", ".zip", ".tar", ".tgz"];

/// Whether a distribution is a file in RDF, as far as its description tells.
fn is_rdf(distribution: &Distribution) -> bool {
    let letters =
        |text: &str| text.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    // `text/turtle` by its end, `RDF/XML` as a whole.
    let names = |text: &str| [text, text.rsplit('/').next().unwrap_or(text)].map(letters);
    let means_rdf = |text: &str| names(text).iter().any(|name| FORMATS.contains(&name.as_str()));
    if distribution.media_type.as_deref().is_some_and(means_rdf) {
        return true;
    }
    let place = distribution.location.as_str().split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    let mut name = place.rsplit('/').next().unwrap_or_default();
    while let Some(rest) = PACKED.iter().find_map(|suffix| name.strip_suffix(suffix)) {
        name = rest;
    }
    name.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending))
}

impl Run<'_, '_> {
    /// Brings the files of a dataset here; one that fails does not stop the others. Tells the hashes of all that are here.
    pub(super) fn download(&mut self, dataset: &mut Dataset) -> Result<Vec<String>, HarvestError> {
        let mut hashes = Vec::new();
        let wanted = |distribution: &&mut Distribution| distribution.copy.is_some() || is_rdf(distribution);
        for distribution in dataset.distributions.iter_mut().filter(wanted) {
            let Location::Remote(address) = &distribution.location else { continue };
            if let Some(LocalCopy::File(path)) = &distribution.copy {
                hashes.push(path.display().to_string()); // the page itself is the dump, and named by its content
                continue;
            }
            let fetched = match (self.harvester.options.downloads, self.stopped) {
                (Downloads::Rdf, false) => self.file(address)?,
                (Downloads::Rdf, true) => Some("it was not asked for any more".to_owned()),
                (Downloads::None, _) => None,
            };
            // Yesterday's file is better than none.
            let kept = self.fetcher.state.cached_file(address);
            distribution.copy = match (kept, fetched) {
                (Some(kept), _) => {
                    hashes.push(kept.sha256);
                    Some(LocalCopy::File(self.fetcher.state.path(&kept.file)))
                }
                (None, Some(reason)) => Some(LocalCopy::Missing(reason)),
                (None, None) => None,
            };
        }
        Ok(hashes)
    }

    /// Fetches a file; tells why it was not had.
    fn file(&mut self, address: &str) -> Result<Option<String>, HarvestError> {
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
        self.report.failed_files.push(Failure { what: address.to_owned(), reason: reason.clone() });
        Ok(Some(reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rdf_by_media_type_format_or_ending() {
        let is = |address: &str, media_type: Option<&str>| {
            let media_type = media_type.map(str::to_owned);
            is_rdf(&Distribution { media_type, ..Distribution::new(Location::Remote(address.to_owned())) })
        };
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
        ] {
            assert!(is("http://e.org/download?id=1", Some(media_type)), "{media_type}");
        }
        for media_type in ["text/csv", "application/json", "XML", "text/html", "application/owl+xml", "PDF"] {
            assert!(!is("http://e.org/download?id=1", Some(media_type)), "{media_type}");
        }
        for address in [
            "http://e.org/a.ttl",
            "http://e.org/A.NT.GZ?v=1",
            "http://e.org/a.rdf.zip",
            "http://e.org/a.nq.tar.xz",
            "http://e.org/a.hdt.gz",
        ] {
            assert!(is(address, None) && is(address, Some("application/octet-stream")), "{address}");
        }
        for address in
            ["http://e.org/a.csv", "http://e.org/ttl", "http://e.org/a.json", "http://e.ttl/a", "http://e.org/?a.ttl"]
        {
            assert!(!is(address, None), "{address}");
        }
    }
}
