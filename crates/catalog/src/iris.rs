//! IRIs of a home. All begin with its configured base.

use super::DatasetId;
use oxrdf::NamedNode;

/// Error: the base is not valid.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0:?} is not a valid base for IRIs: use an absolute http(s) IRI that ends with a slash")]
pub struct InvalidBase(String);

/// Makes the IRIs of datasets, graphs and their parts.
///
/// ```
/// use lodeseek_catalog::{DatasetId, Iris};
/// let iris = Iris::new("http://data.example.org/")?;
/// let id = DatasetId::new("trees/2024").expect("an id");
/// assert_eq!(iris.dataset(&id).as_str(), "http://data.example.org/dataset/trees%2F2024");
/// # Ok::<_, lodeseek_catalog::InvalidBase>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Iris {
    base: String,
}

/// Creates IRIs with the default base.
impl Default for Iris {
    fn default() -> Self {
        Self {
            base: Self::DEFAULT_BASE.to_owned(),
        }
    }
}

impl Iris {
    /// Default address of `serve`, so that the IRIs can be dereferenced.
    pub const DEFAULT_BASE: &str = "http://localhost:7878/";

    /// Creates IRIs that begin with `base`.
    ///
    /// # Errors
    /// The base is not an absolute http(s) IRI that ends with a slash.
    pub fn new(base: &str) -> Result<Self, InvalidBase> {
        let http = base.starts_with("http://") || base.starts_with("https://");
        if !http || !base.ends_with('/') || NamedNode::new(base).is_err() {
            return Err(InvalidBase(base.to_owned()));
        }
        Ok(Self {
            base: base.to_owned(),
        })
    }

    /// Returns the base.
    #[must_use]
    pub fn base(&self) -> &str {
        &self.base
    }

    fn node(&self, path: &str) -> NamedNode {
        NamedNode::new_unchecked(format!("{}{path}", self.base))
    }

    /// Returns the IRI of a dataset. In queries it also denotes the graph of the current content.
    #[must_use]
    pub fn dataset(&self, id: &DatasetId) -> NamedNode {
        self.node(&format!("dataset/{}", encode_segment(id.as_str())))
    }

    /// Returns the id in the IRI of a dataset.
    #[must_use]
    pub fn dataset_id(&self, iri: &str) -> Option<DatasetId> {
        let segment = iri.strip_prefix(&self.base)?.strip_prefix("dataset/")?;
        let plain = !segment.is_empty() && !segment.contains(['/', '#', '?']);
        plain
            .then(|| DatasetId::new(decode_segment(segment)?).ok())
            .flatten()
    }

    /// Returns the IRI of a part of a dataset's description.
    #[must_use]
    pub fn part(&self, id: &DatasetId, part: &str) -> NamedNode {
        self.node(&format!("dataset/{}#{part}", encode_segment(id.as_str())))
    }

    /// Returns the IRI of a snippet that the server makes on demand, with these parameters.
    #[must_use]
    pub fn requested_snippet(&self, id: &DatasetId, parameters: &[(&str, &str)]) -> NamedNode {
        let parameters: Vec<String> = parameters
            .iter()
            .map(|(name, value)| format!("{name}={}", encode_segment(value)))
            .collect();
        self.node(&format!(
            "dataset/{}/snippet?{}",
            encode_segment(id.as_str()),
            parameters.join("&")
        ))
    }

    /// Returns the name that the graph of one version of a dataset's content has in the store. It is not published.
    #[must_use]
    pub fn graph(&self, id: &DatasetId, version: &str) -> NamedNode {
        self.node(&format!("graph/{}/{version}", encode_segment(id.as_str())))
    }

    /// Returns the id and the version in the name of a graph of a dataset's content.
    #[must_use]
    pub fn dataset_of_graph<'i>(&self, iri: &'i str) -> Option<(DatasetId, &'i str)> {
        let (segment, version) = iri
            .strip_prefix(&self.base)?
            .strip_prefix("graph/")?
            .split_once('/')?;
        Some((DatasetId::new(decode_segment(segment)?).ok()?, version))
    }

    /// Returns true if an IRI is the name of a graph of one version of a dataset's content.
    #[must_use]
    pub fn is_graph(&self, iri: &str) -> bool {
        iri.strip_prefix(&self.base)
            .is_some_and(|path| path.starts_with("graph/"))
    }

    /// Returns the IRI of the graph that maps datasets to the graphs of their current versions. Queries cannot name it.
    #[must_use]
    pub fn versions(&self) -> NamedNode {
        self.node("versions")
    }

    /// Returns the IRI of the graph of a dataset's own statements about resources of the web. Queries cannot name it.
    #[must_use]
    pub fn statements(&self, id: &DatasetId) -> NamedNode {
        self.node(&format!("statements/{}", encode_segment(id.as_str())))
    }

    /// Returns the IRI of the graph with the statements of a description whose literals the store changes. Queries cannot name it.
    #[must_use]
    pub fn lexical_forms(&self, id: &DatasetId) -> NamedNode {
        self.node(&format!("lexical-forms/{}", encode_segment(id.as_str())))
    }

    /// Returns the IRI that all graphs of the [statements](Self::statements) of datasets begin with.
    #[must_use]
    pub fn all_statements(&self) -> NamedNode {
        self.node("statements/")
    }

    /// Returns true if an IRI is the name of a graph of a dataset's own statements.
    #[must_use]
    pub fn is_statements(&self, iri: &str) -> bool {
        iri.strip_prefix(&self.base)
            .is_some_and(|path| path.starts_with("statements/"))
    }

    /// Returns the IRI that an IRI of this base becomes with another base. `None` for IRIs from elsewhere, even if they begin
    /// with the base.
    #[must_use]
    pub fn change_base(&self, iri: &NamedNode, to: &Self) -> Option<NamedNode> {
        let path = iri.as_str().strip_prefix(&self.base)?;
        let is_ours = [
            "dataset/",
            "graph/",
            "statements/",
            "lexical-forms/",
            "work/",
        ]
        .iter()
        .any(|prefix| path.starts_with(prefix))
            || ["catalog", "profiles", "snippets", "works", "versions"].contains(&path);
        is_ours.then(|| to.node(path))
    }

    /// Returns the path of a file of a dataset, relative to the base of a server.
    #[must_use]
    pub fn file_path(id: &DatasetId, name: &str) -> String {
        format!(
            "dataset/{}/files/{}",
            encode_segment(id.as_str()),
            encode_segment(name)
        )
    }

    /// Returns the base of relative IRIs in a dump.
    #[must_use]
    pub fn dump_base(&self, id: &DatasetId, file: &str) -> String {
        let file: Vec<String> = file.split('/').map(encode_segment).collect();
        format!(
            "{}dump/{}/{}",
            self.base,
            encode_segment(id.as_str()),
            file.join("/")
        )
    }

    /// Returns the IRI of the catalogue, which is also the graph of all DCAT metadata.
    #[must_use]
    pub fn catalog(&self) -> NamedNode {
        self.node("catalog")
    }

    /// Returns the IRI of the graph of all VoID profiles.
    #[must_use]
    pub fn profiles(&self) -> NamedNode {
        self.node("profiles")
    }

    /// Returns the IRI of the graph of all snippets.
    #[must_use]
    pub fn snippets(&self) -> NamedNode {
        self.node("snippets")
    }

    /// Returns the IRI of the graph of all works that use datasets.
    #[must_use]
    pub fn works(&self) -> NamedNode {
        self.node("works")
    }

    /// Returns the IRI of a work with this [key](super::CitingWork::key).
    #[must_use]
    pub fn work(&self, key: &str) -> NamedNode {
        self.node(&format!("work/{key}"))
    }

    /// Returns the graphs of metadata. Together they are the default graph of queries.
    #[must_use]
    pub fn metadata_graphs(&self) -> [NamedNode; 4] {
        [
            self.catalog(),
            self.profiles(),
            self.snippets(),
            self.works(),
        ]
    }
}

/// Returns the id in the IRI of a dataset of any home: the last segment of its path.
pub(super) fn id_of_dataset_iri(iri: &str) -> Option<DatasetId> {
    let (_, segment) = iri.rsplit_once("/dataset/")?;
    DatasetId::new(decode_segment(segment)?).ok()
}

/// Percent-encodes the characters that are reserved in a path segment (RFC 3986). Letters of other scripts are kept,
/// as IRIs allow them.
pub(super) fn encode_segment(segment: &str) -> String {
    let mut out = String::with_capacity(segment.len());
    for character in segment.chars() {
        let plain = character.is_ascii_alphanumeric() || matches!(character, '-' | '.' | '_' | '~');
        if plain || !character.is_ascii() && character.is_alphanumeric() {
            out.push(character);
        } else {
            let mut bytes = [0; 4];
            for byte in character.encode_utf8(&mut bytes).bytes() {
                out.push_str(&format!("%{byte:02X}"));
            }
        }
    }
    out
}

pub(super) fn decode_segment(segment: &str) -> Option<String> {
    let bytes = segment.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut place = 0;
    while place < bytes.len() {
        if bytes[place] == b'%' {
            let hex = segment
                .get(place + 1..place + 3)
                .filter(|hex| hex.bytes().all(|c| c.is_ascii_hexdigit()))?;
            out.push(u8::from_str_radix(hex, 16).ok()?);
            place += 3;
        } else {
            out.push(bytes[place]);
            place += 1;
        }
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bases_are_checked() {
        for bad in [
            "",
            "localhost/",
            "http://e.org",
            "ftp://e.org/",
            "http://e org/",
        ] {
            assert!(Iris::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn only_own_iris_move() {
        let (from, to) = (
            Iris::new("http://a.org/").expect("a base"),
            Iris::new("https://b.org/x/").expect("a base"),
        );
        let moved = |iri: &str| {
            from.change_base(&NamedNode::new_unchecked(iri), &to)
                .map(NamedNode::into_string)
        };
        let id = DatasetId::new("a/b").expect("an id");
        assert_eq!(
            moved(from.dataset(&id).as_str()),
            Some(to.dataset(&id).into_string())
        );
        assert_eq!(
            moved(from.part(&id, "record").as_str()),
            Some(to.part(&id, "record").into_string())
        );
        assert_eq!(
            moved(from.graph(&id, "1f").as_str()),
            Some(to.graph(&id, "1f").into_string())
        );
        assert_eq!(
            moved(from.statements(&id).as_str()),
            Some(to.statements(&id).into_string())
        );
        assert_eq!(
            moved(from.lexical_forms(&id).as_str()),
            Some(to.lexical_forms(&id).into_string())
        );
        assert_eq!(
            moved(from.work("1f").as_str()),
            Some(to.work("1f").into_string())
        );
        for (old, new) in from.metadata_graphs().iter().zip(to.metadata_graphs()) {
            assert_eq!(moved(old.as_str()), Some(new.into_string()));
        }
        for foreign in [
            "http://a.org/",
            "http://a.org/about",
            "http://a.org/catalogue",
            "http://c.org/dataset/x",
        ] {
            assert_eq!(moved(foreign), None, "{foreign}");
        }
    }

    proptest! {
        #[test]
        fn every_id_makes_a_valid_iri_and_comes_back(text in "\\PC{1,30}") {
            let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
            if let Some(id) = DatasetId::from_text(&text) {
                let iri = iris.dataset(&id);
                prop_assert!(NamedNode::new(iri.as_str()).is_ok(), "{}", iri);
                prop_assert_eq!(iris.dataset_id(iri.as_str()), Some(id));
            }
        }
    }
}
