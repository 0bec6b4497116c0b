//! Duplicates from several portals, and versions of one dataset.
//!
//! Two datasets are duplicates if they share a whole key ([`Reason`]). An identifier, a title or content alone proves
//! nothing: copies, series and shared landing pages are everywhere. Numbers in titles (years, versions) are part of
//! the keys: "Census 2020" and "Census 2021" are versions, never duplicates. Groups are connected components of
//! datasets that share keys, so the order of the datasets has no effect. A key of more than [`MAX_KEY_DATASETS`] datasets is a
//! placeholder and is ignored.
//!
//! Content is compared by the hash of its canonical form (RDFC-1.0, <https://www.w3.org/TR/rdf-canon/>). Syntax, order
//! and labels of blank nodes have no effect. Graphs that are too large or complex for that are compared with their
//! labels, and the reason reports it.

use super::digest::{Digest, hash_values};
use super::{Dataset, DatasetId, Node, Value, plain_text};
use lodeseek_rdf::vocab::{adms, dcterms, owl, prov, skos};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of datasets that share a key.
const MAX_KEY_DATASETS: usize = 50;

/// Reason why datasets are duplicates.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The same identifier (an IRI, a DOI, a UUID) and the same numbers in the title.
    Identifier,
    /// The same identifier and the same content.
    IdentifierAndContent,
    /// The same identifier and the same content, labels of blank nodes included: the content has no canonical form.
    IdentifierAndLabelledContent,
    /// The same title, and the declared source of one dataset is an identifier or a source of the other.
    SourceAndTitle,
    /// The same content under the same title.
    ContentAndTitle,
    /// The same title and the same content, labels of blank nodes included: the content has no canonical form.
    LabelledContentAndTitle,
    /// The same title, publisher and landing page.
    TitleAndPage,
    /// The same title, publisher and description.
    TitleAndDescription,
}

impl Reason {
    /// Returns a phrase for readers that follows "because of".
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Identifier => "the same identifier",
            Self::IdentifierAndContent => "the same identifier and content",
            Self::IdentifierAndLabelledContent => {
                "the same identifier and content, labels of blank nodes included"
            }
            Self::SourceAndTitle => "the same source and title",
            Self::ContentAndTitle => "the same content and title",
            Self::LabelledContentAndTitle => {
                "the same title and content, labels of blank nodes included"
            }
            Self::TitleAndPage => "the same title, publisher and landing page",
            Self::TitleAndDescription => "the same title, publisher and description",
        }
    }
}

/// Fingerprint of content. Two values of the same kind are equal if and only if the content is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Content {
    /// Hash of the canonical form, equal for isomorphic graphs.
    Canonical(String),
    /// Hash that depends on labels of blank nodes.
    Labelled(String),
}

impl Content {
    /// Returns the hash, and the reasons for an identifier and for a title.
    fn reasons(&self) -> (&String, Reason, Reason) {
        match self {
            Self::Canonical(hash) => (hash, Reason::IdentifierAndContent, Reason::ContentAndTitle),
            Self::Labelled(hash) => (
                hash,
                Reason::IdentifierAndLabelledContent,
                Reason::LabelledContentAndTitle,
            ),
        }
    }
}

/// Serialization of a digest as hexadecimal digits.
mod hexadecimal {
    use crate::digest::{DIGEST_BYTES, Digest};
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(digest: &Digest, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("{:032x}", u128::from_be_bytes(*digest)))
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Digest, D::Error> {
        let digits = std::borrow::Cow::<'d, str>::deserialize(from)?;
        if digits.len() != 2 * DIGEST_BYTES {
            return Err(D::Error::custom("a digest has 32 digits"));
        }
        let number = u128::from_str_radix(&digits, 16).map_err(D::Error::custom)?;
        Ok(number.to_be_bytes())
    }
}

/// A key. Datasets that share one are duplicates. Digests save memory: a million datasets have about ten million keys.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
struct Key {
    reason: Reason,
    #[serde(with = "hexadecimal")]
    values: Digest,
}

/// A key of a candidate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct OwnKey {
    #[serde(flatten)]
    key: Key,
    /// If true, the key contains a declared source that is not an identifier of the candidate.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_of_source: bool,
}

impl OwnKey {
    /// Creates the key of values, which is their digest.
    fn new(reason: Reason, values: &[&[u8]], is_of_source: bool) -> Self {
        let values = hash_values(values.iter().copied());
        Self {
            key: Key { reason, values },
            is_of_source,
        }
    }
}

/// The properties of a dataset that are compared.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Candidate {
    /// Id of the dataset.
    id: DatasetId,
    keys: Vec<OwnKey>,
    /// Digest of the title without its last number, and of the publisher. All editions share it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    series: Option<Digest>,
    /// Digest of the title words with digits, which distinguish editions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    numbers: Option<Digest>,
}

impl Candidate {
    /// Creates a candidate from a dataset and its content, if there is any.
    #[must_use]
    pub fn new(dataset: &Dataset, content: Option<&Content>) -> Self {
        let metadata = &dataset.metadata;
        let title = if metadata.titles.is_empty() {
            Vec::new()
        } else {
            split_words(&plain_text(metadata.title()))
        };
        let publisher = metadata
            .agents()
            .map(|agent| split_words(&agent.name).join(" "))
            // The smallest name, because catalogues list agents in any order.
            .min();
        let publisher = publisher.filter(|name| !name.is_empty());
        let numbers = join_numbers(&title);
        Self {
            id: metadata.id.clone(),
            keys: find_keys(dataset, content, &title, publisher.as_deref()),
            series: publisher.and_then(|publisher| find_series(&title, &publisher)),
            numbers: (!numbers.is_empty()).then(|| hash_values([numbers.as_bytes()])),
        }
    }

    /// Returns the id of the dataset.
    #[must_use]
    pub fn id(&self) -> &DatasetId {
        &self.id
    }
}

/// Returns the words of a title with digits.
fn join_numbers(title: &[String]) -> String {
    let numbers = title
        .iter()
        .filter(|word| word.contains(|c: char| c.is_ascii_digit()));
    numbers.map(String::as_str).collect::<Vec<_>>().join(" ")
}

fn find_keys(
    dataset: &Dataset,
    content: Option<&Content>,
    title: &[String],
    publisher: Option<&str>,
) -> Vec<OwnKey> {
    let metadata = &dataset.metadata;
    let mut keys = Vec::new();
    let content = content.map(Content::reasons);
    let identifiers = find_identifiers(dataset);
    // Titles may be long and identifiers many: each key contains the digest of the title, not the title.
    let numbers = hash_values([join_numbers(title).as_bytes()]);
    for identifier in &identifiers {
        keys.push(OwnKey::new(
            Reason::Identifier,
            &[identifier.as_bytes(), &numbers],
            false,
        ));
        if let Some((hash, reason, _)) = content {
            keys.push(OwnKey::new(
                reason,
                &[identifier.as_bytes(), hash.as_bytes()],
                false,
            ));
        }
    }
    if title.is_empty() {
        return keys;
    }
    let title = hash_values([title.join(" ").as_bytes()]);
    for origin in identifiers.union(&find_sources(dataset)) {
        keys.push(OwnKey::new(
            Reason::SourceAndTitle,
            &[origin.as_bytes(), &title],
            !identifiers.contains(origin),
        ));
    }
    if let Some((hash, _, reason)) = content {
        keys.push(OwnKey::new(reason, &[&title, hash.as_bytes()], false));
    }
    if let Some(publisher) = publisher {
        let page = metadata.landing_page.as_deref().and_then(normalize_address);
        let description = metadata
            .description()
            .map(|text| split_words(&plain_text(text)).join(" "))
            .filter(|text| !text.is_empty());
        for (reason, other) in [
            (Reason::TitleAndPage, page),
            (Reason::TitleAndDescription, description),
        ] {
            if let Some(other) = other {
                keys.push(OwnKey::new(
                    reason,
                    &[&title, publisher.as_bytes(), other.as_bytes()],
                    false,
                ));
            }
        }
    }
    keys
}

/// Returns the key that all editions share: the title without its last number, and the publisher.
///
/// Earlier numbers identify the work: version 2 of workflow 2258 is not an edition of workflow 2759.
fn find_series(title: &[String], publisher: &str) -> Option<Digest> {
    let number = title
        .iter()
        .rposition(|word| word.contains(|c: char| c.is_ascii_digit()));
    let words = title
        .iter()
        .enumerate()
        .filter(|(place, _)| Some(*place) != number);
    let title = words
        .map(|(_, word)| word.as_str())
        .collect::<Vec<_>>()
        .join(" ");
    (!title.is_empty()).then(|| hash_values([title.as_bytes(), publisher.as_bytes()]))
}

/// Splits a text into words in lower case, without punctuation. Points within numbers are kept, for versions.
pub(super) fn split_words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let words = lower
        .split(|c: char| !(c.is_alphanumeric() || c == '.'))
        .map(|word| word.trim_matches('.'));
    words
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Normalises a web address: removes the scheme, `www.` and a final slash.
fn normalize_address(text: &str) -> Option<String> {
    let rest = text.trim();
    let rest = rest
        .strip_prefix("https://")
        .or_else(|| rest.strip_prefix("http://"))?;
    let rest = rest
        .strip_prefix("www.")
        .unwrap_or(rest)
        .trim_end_matches('/');
    match rest.split_once('/') {
        Some((host, path)) => Some(format!("{}/{path}", host.to_lowercase())),
        None => Some(rest.to_lowercase()),
    }
}

/// Normalises a global identifier: a DOI in any form, a web address, a URN or a UUID. Local numbers and names are not
/// global.
fn normalize_identifier(text: &str) -> Option<String> {
    let text = text.trim();
    let lower = text.to_lowercase();
    let doi = [
        "https://doi.org/",
        "http://doi.org/",
        "https://dx.doi.org/",
        "http://dx.doi.org/",
        "doi:",
        "info:doi/",
    ]
    .iter()
    .find_map(|prefix| lower.strip_prefix(prefix))
    .unwrap_or(&lower);
    let doi = doi.trim_start();
    if doi.starts_with("10.") && doi.contains('/') && !doi.contains(char::is_whitespace) {
        return Some(format!("doi:{doi}"));
    }
    let uuid = lower.strip_prefix("urn:uuid:").unwrap_or(&lower);
    let is_uuid = uuid.len() == 36
        && uuid.bytes().enumerate().all(|(at, byte)| {
            if matches!(at, 8 | 13 | 18 | 23) {
                byte == b'-'
            } else {
                byte.is_ascii_hexdigit()
            }
        });
    if is_uuid {
        return Some(format!("urn:uuid:{uuid}"));
    }
    normalize_address(text)
        .filter(|address| address.contains('/'))
        .or_else(|| lower.starts_with("urn:").then_some(lower))
}

fn find_text(value: &Value) -> Option<String> {
    match value {
        Value::Node(Node::Iri(iri)) => Some(iri.clone()),
        Value::Literal(literal) => Some(literal.value().to_owned()),
        Value::Node(_) => None,
    }
}

/// Returns the declared sources of a dataset.
fn find_sources(dataset: &Dataset) -> BTreeSet<String> {
    let declared = dataset
        .extra_statements
        .iter()
        .filter(|one| {
            one.subject == Node::Dataset
                && [dcterms::SOURCE, prov::WAS_DERIVED_FROM].contains(&one.predicate.as_str())
        })
        .filter_map(|one| find_text(&one.object));
    declared
        .filter_map(|text| normalize_identifier(&text))
        .collect()
}

fn find_identifiers(dataset: &Dataset) -> BTreeSet<String> {
    let (mut found, mut named) = (BTreeSet::new(), BTreeSet::new());
    found.extend(
        dataset
            .metadata
            .source
            .as_deref()
            .and_then(normalize_identifier),
    );
    // The catalogue's identifier became the id; it may be a DOI.
    found.extend(normalize_identifier(dataset.metadata.id.as_str()));
    for statement in dataset
        .extra_statements
        .iter()
        .filter(|statement| statement.subject == Node::Dataset)
    {
        match (statement.predicate.as_str(), &statement.object) {
            (adms::IDENTIFIER, Value::Node(node)) => {
                named.insert(node.clone());
                found.extend(
                    find_text(&statement.object)
                        .as_deref()
                        .and_then(normalize_identifier),
                );
            }
            (dcterms::IDENTIFIER | adms::IDENTIFIER | owl::SAME_AS, value) => {
                found.extend(find_text(value).as_deref().and_then(normalize_identifier));
            }
            _ => {}
        }
    }
    let notations = dataset
        .extra_statements
        .iter()
        .filter(|one| one.predicate == skos::NOTATION && named.contains(&one.subject));
    found.extend(
        notations
            .filter_map(|one| find_text(&one.object))
            .filter_map(|text| normalize_identifier(&text)),
    );
    found
}

/// A group of duplicates.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Group {
    /// Ids of the datasets, sorted; at least two.
    pub members: Vec<DatasetId>,
    /// Reasons.
    pub reasons: BTreeSet<Reason>,
}

/// Duplicates and versions among datasets.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Duplicates {
    /// Groups of duplicates. A dataset is in at most one group.
    pub groups: Vec<Group>,
    /// Groups of editions: datasets with the same publisher and the same title except for numbers. They are not
    /// duplicates.
    pub versions: Vec<Vec<DatasetId>>,
}

impl Duplicates {
    /// Finds duplicates and versions. The order of the candidates has no effect.
    #[must_use]
    pub fn find(candidates: &[Candidate]) -> Self {
        let holders = key_holders(candidates);
        let mut sets = DisjointSets::new(candidates.len());
        for (_, places) in &holders {
            // Neighbours suffice: the sets are transitive.
            for pair in places.windows(2) {
                sets.unite(pair[0], pair[1]);
            }
        }
        Self {
            groups: find_groups(candidates, &holders, &mut sets),
            versions: find_versions(candidates),
        }
    }

    /// Returns the number of datasets that need not be shown: all but one of each group.
    #[must_use]
    pub fn surplus(&self) -> usize {
        self.groups
            .iter()
            .map(|group| group.members.len() - 1)
            .sum()
    }
}

/// Returns the indexes of the candidates that share each key, without keys that prove nothing.
fn key_holders(candidates: &[Candidate]) -> Vec<(Reason, Vec<usize>)> {
    let mut seen = FxHashSet::default();
    let mut keys: Vec<(Key, usize, bool)> = Vec::new();
    for (place, candidate) in candidates
        .iter()
        .enumerate()
        // A dataset that occurs twice would be its own duplicate.
        .filter(|(_, candidate)| seen.insert(&candidate.id))
    {
        keys.extend(
            candidate
                .keys
                .iter()
                .map(|own| (own.key, place, own.is_of_source)),
        );
    }
    // Sorting puts equal keys side by side, without a map of ten million keys.
    keys.sort_unstable();
    let mut holders = Vec::new();
    for holder in keys.chunk_by(|one, next| one.0 == next.0) {
        let mut places: Vec<usize> = holder.iter().map(|(_, place, _)| *place).collect();
        places.dedup();
        let reason = holder[0].0.reason;
        // An identifier that all holders share is not a source of any of them. It is a key of its own already.
        let proves = reason != Reason::SourceAndTitle
            || holder.iter().any(|(_, _, is_of_source)| *is_of_source);
        if proves && (2..=MAX_KEY_DATASETS).contains(&places.len()) {
            holders.push((reason, places));
        }
    }
    holders
}

/// Returns the groups of at least two datasets, sorted by their members.
fn find_groups(
    candidates: &[Candidate],
    holders: &[(Reason, Vec<usize>)],
    sets: &mut DisjointSets,
) -> Vec<Group> {
    let mut by_set: BTreeMap<usize, Group> = BTreeMap::new();
    for (reason, places) in holders {
        let group = by_set.entry(sets.find(places[0])).or_insert_with(|| Group {
            members: Vec::new(),
            reasons: BTreeSet::new(),
        });
        group
            .members
            .extend(places.iter().map(|place| candidates[*place].id.clone()));
        group.reasons.insert(*reason);
    }
    let mut groups: Vec<Group> = by_set.into_values().collect();
    for group in &mut groups {
        group.members.sort();
        group.members.dedup();
    }
    groups.retain(|group| group.members.len() > 1);
    groups.sort_by(|a, b| a.members.cmp(&b.members));
    groups
}

fn find_versions(candidates: &[Candidate]) -> Vec<Vec<DatasetId>> {
    let mut series: FxHashMap<Digest, Vec<&Candidate>> = FxHashMap::default();
    for candidate in candidates {
        if let Some(key) = candidate.series {
            series.entry(key).or_default().push(candidate);
        }
    }
    let mut found: Vec<Vec<DatasetId>> = Vec::new();
    for editions in series.values() {
        let numbers: FxHashSet<Digest> = editions
            .iter()
            .filter_map(|edition| edition.numbers)
            .collect();
        if numbers.len() > 1 {
            let mut ids: Vec<DatasetId> =
                editions.iter().map(|edition| edition.id.clone()).collect();
            ids.sort();
            ids.dedup();
            found.push(ids);
        }
    }
    found.sort();
    found
}

/// Disjoint sets of places.
struct DisjointSets(Vec<usize>);

impl DisjointSets {
    fn new(size: usize) -> Self {
        Self((0..size).collect())
    }

    fn find(&mut self, mut place: usize) -> usize {
        while self.0[place] != place {
            // Path halving keeps the paths short.
            self.0[place] = self.0[self.0[place]];
            place = self.0[place];
        }
        place
    }

    fn unite(&mut self, one: usize, other: usize) {
        let (one, other) = (self.find(one), self.find(other));
        // The smallest place is the root, so that the order of unions has no effect.
        self.0[one.max(other)] = one.min(other);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Agent, Metadata, Statement, Text};
    use super::*;
    use proptest::prelude::*;

    fn dataset(id: &str, title: &str, publisher: &str) -> Dataset {
        let agent = Agent {
            name: publisher.to_owned(),
            iri: None,
        };
        Dataset::new(Metadata {
            titles: vec![Text::plain(title)],
            publishers: vec![agent],
            ..Metadata::new(DatasetId::new(id).expect("an id"))
        })
    }

    fn identified(mut dataset: Dataset, identifier: &str) -> Dataset {
        let literal = oxrdf::Literal::from(identifier);
        dataset
            .extra_statements
            .push(Statement::new(Node::Dataset, dcterms::IDENTIFIER, literal));
        dataset
    }

    fn find_groups(candidates: &[Candidate]) -> Vec<Vec<String>> {
        let groups = Duplicates::find(candidates).groups.into_iter();
        groups
            .map(|group| group.members.iter().map(ToString::to_string).collect())
            .collect()
    }

    fn alone(dataset: &Dataset) -> Candidate {
        Candidate::new(dataset, None)
    }

    #[test]
    fn identifiers_are_one_in_all_their_forms() {
        for doi in [
            "10.5281/ZENODO.1",
            "doi:10.5281/zenodo.1",
            "https://doi.org/10.5281/zenodo.1",
            "http://dx.doi.org/10.5281/zenodo.1",
        ] {
            assert_eq!(
                normalize_identifier(doi).as_deref(),
                Some("doi:10.5281/zenodo.1"),
                "{doi}"
            );
        }
        assert_eq!(
            normalize_identifier("https://www.E.org/set/A/"),
            normalize_identifier("http://e.org/set/A")
        );
        assert_ne!(
            normalize_identifier("http://e.org/set/A"),
            normalize_identifier("http://e.org/set/a"),
            "paths tell case apart"
        );
        let uuid = "0f8fad5b-d9cb-469f-a165-70867728950e";
        assert_eq!(
            normalize_identifier(&format!("urn:uuid:{}", uuid.to_uppercase())),
            normalize_identifier(uuid)
        );
        for none in ["12", "trees", "", "http://e.org/", "10.5", "0f8fad5b"] {
            assert_eq!(normalize_identifier(none), None, "{none}");
        }
    }

    #[test]
    fn every_reason_has_a_pair_and_none_is_half() {
        let titled = |id: &str| dataset(id, "City trees", "Parks");
        let paged = |id: &str, page: &str| {
            let mut dataset = titled(id);
            dataset.metadata.landing_page = Some(page.to_owned());
            dataset
        };
        let described = |id: &str, text: &str| {
            let mut dataset = titled(id);
            dataset.metadata.descriptions = vec![Text::plain(text)];
            dataset
        };
        let doi = |id: &str, title: &str| identified(dataset(id, title, id), "10.1/x");
        let reasons = |a: &Dataset, b: &Dataset, content: [Option<Content>; 2]| -> Vec<Reason> {
            let [first, second] = content;
            let found = Duplicates::find(&[
                Candidate::new(a, first.as_ref()),
                Candidate::new(b, second.as_ref()),
            ]);
            found
                .groups
                .into_iter()
                .flat_map(|group| group.reasons)
                .collect()
        };
        let none = [const { None }; 2];
        let canonical = |hash: &str| Some(Content::Canonical(hash.to_owned()));
        let labelled = |hash: &str| Some(Content::Labelled(hash.to_owned()));
        let same = || [canonical("c"), canonical("c")];
        let alike = || [labelled("c"), labelled("c")];
        assert_eq!(
            reasons(&doi("a", "Trees"), &doi("b", "All the trees"), none.clone()),
            [Reason::Identifier]
        );
        assert_eq!(
            reasons(
                &doi("a", "Trees 2020"),
                &doi("b", "Trees 2021"),
                none.clone()
            ),
            []
        );
        assert_eq!(
            reasons(&doi("a", "Trees 2020"), &doi("b", "Trees"), same()),
            [Reason::IdentifierAndContent]
        );
        assert_eq!(
            reasons(&titled("a"), &dataset("b", "City: TREES", "Other"), same()),
            [Reason::ContentAndTitle]
        );
        assert_eq!(
            reasons(&titled("a"), &dataset("b", "Town trees", "Parks"), same()),
            []
        );
        assert_eq!(
            reasons(&titled("a"), &titled("b"), [canonical("c"), canonical("d")]),
            []
        );
        assert_eq!(
            reasons(&titled("a"), &titled("b"), [canonical("c"), labelled("c")]),
            []
        );
        let (one, other) = (doi("a", "Trees 2020"), doi("b", "Trees"));
        assert_eq!(
            reasons(&one, &other, alike()),
            [Reason::IdentifierAndLabelledContent]
        );
        assert_eq!(
            reasons(&titled("a"), &titled("b"), alike()),
            [Reason::LabelledContentAndTitle]
        );
        assert_eq!(reasons(&titled("a"), &titled("b"), none.clone()), []);
        let (one, other) = (
            paged("a", "http://e.org/t/"),
            paged("b", "https://www.e.org/t"),
        );
        assert_eq!(reasons(&one, &other, none.clone()), [Reason::TitleAndPage]);
        assert_eq!(
            reasons(&one, &paged("b", "https://e.org/u"), none.clone()),
            []
        );
        assert_eq!(
            reasons(
                &described("a", "All of them."),
                &described("b", "all of them"),
                none.clone()
            ),
            [Reason::TitleAndDescription]
        );
        assert_eq!(
            reasons(
                &described("a", "All"),
                &described("b", "Some"),
                none.clone()
            ),
            []
        );
    }

    #[test]
    fn editions_are_versions_and_no_duplicates() {
        let editions = ["Census 2020", "Census 2021", "Census"].map(|title| {
            let mut dataset = dataset(&title.replace(' ', "-"), title, "Office");
            dataset.metadata.landing_page = Some("http://e.org/census".to_owned());
            alone(&identified(dataset, "http://e.org/census/all"))
        });
        let found = Duplicates::find(&editions);
        assert!(found.groups.is_empty(), "{found:?}");
        let ids: Vec<&str> = found.versions[0].iter().map(DatasetId::as_str).collect();
        assert_eq!(
            (found.versions.len(), ids),
            (1, vec!["Census", "Census-2020", "Census-2021"])
        );
        let versions = ["Tool v1.0", "Tool v1.1"]
            .map(|title| alone(&dataset(title.split_at(5).1, title, "Office")));
        assert_eq!(Duplicates::find(&versions).versions.len(), 1);
        let runs = [
            "workflow_2258_version_2",
            "workflow_2258_version_3",
            "workflow_2759_version_2",
        ];
        let runs = runs.map(|title| alone(&dataset(title, title, "Office")));
        let found = Duplicates::find(&runs).versions;
        assert_eq!(found.len(), 1, "of one workflow alone: {found:?}");
        assert_eq!(found[0].len(), 2);
    }

    #[test]
    fn an_id_may_be_a_doi_and_a_source_proves_with_the_title() {
        let titled = |id: &str| dataset(id, "Trees", id);
        let derived = |id: &str, title: &str| {
            let mut dataset = dataset(id, title, id);
            let source = Node::Iri("https://portal.example.org/set/1".to_owned());
            dataset.extra_statements.push(Statement::new(
                Node::Dataset,
                prov::WAS_DERIVED_FROM,
                source,
            ));
            dataset
        };
        let mut original = titled("a");
        original.metadata.source = Some("http://portal.example.org/set/1/".to_owned());
        let reasons = |a: &Dataset, b: &Dataset| -> Vec<Reason> {
            let found = Duplicates::find(&[alone(a), alone(b)]);
            found
                .groups
                .into_iter()
                .flat_map(|group| group.reasons)
                .collect()
        };
        assert_eq!(
            reasons(&original, &derived("b", "Trees")),
            [Reason::SourceAndTitle]
        );
        assert_eq!(
            reasons(&derived("a", "Trees"), &derived("b", "Trees")),
            [Reason::SourceAndTitle]
        );
        assert_eq!(
            reasons(&original, &derived("b", "Oaks among them")),
            [],
            "made from it, and another"
        );
        let doi = identified(titled("b"), "https://doi.org/10.1/x");
        assert_eq!(reasons(&titled("10.1/X"), &doi), [Reason::Identifier]);
        assert_eq!(
            reasons(&titled("doi:10.1/x"), &titled("http://dx.doi.org/10.1/x")),
            [Reason::Identifier]
        );
    }

    #[test]
    fn a_long_title_is_not_hashed_for_each_identifier() {
        let title = "1".repeat(2_000_000);
        let mut many = dataset("a", &title, "A");
        for number in 0..10_000 {
            many = identified(many, &format!("urn:x:{number}"));
        }
        let same = alone(&identified(dataset("b", &title, "B"), "urn:x:5"));
        let other = alone(&identified(dataset("c", "2", "C"), "urn:x:6"));
        assert_eq!(find_groups(&[alone(&many), same, other]), [["a", "b"]]);
    }

    #[test]
    fn a_placeholder_identifies_nothing() {
        let all: Vec<Candidate> = (0..=MAX_KEY_DATASETS)
            .map(|number| {
                alone(&identified(
                    dataset(&format!("d{number}"), "T", &format!("p{number}")),
                    "http://e.org/none/given",
                ))
            })
            .collect();
        assert!(find_groups(&all).is_empty());
        assert_eq!(
            find_groups(&all[1..]).len(),
            1,
            "one less, and they are one"
        );
    }

    fn candidates() -> impl Strategy<Value = Vec<Candidate>> {
        let one = (0..4_u8, 0..3_u8, 0..3_u8, proptest::option::of(0..3_u8));
        proptest::collection::vec(one, 0..12).prop_map(|rows| {
            let candidate = |(place, (title, publisher, number, content)): (
                usize,
                (u8, u8, u8, Option<u8>),
            )| {
                let dataset = dataset(
                    &format!("d{place:02}"),
                    &format!("t{title} of"),
                    &format!("p{publisher}"),
                );
                let content = content.map(|content| Content::Canonical(content.to_string()));
                Candidate::new(
                    &identified(dataset, &format!("10.1/{number}")),
                    content.as_ref(),
                )
            };
            rows.into_iter().enumerate().map(candidate).collect()
        })
    }

    proptest! {
        #[test]
        fn neither_order_nor_repetition_matters(candidates in candidates(), turn in 0..12_usize) {
            let found = Duplicates::find(&candidates);
            let mut turned = candidates.clone();
            turned.reverse();
            let turn = turn.min(turned.len());
            turned.rotate_left(turn);
            prop_assert_eq!(&Duplicates::find(&turned), &found);
            let twice: Vec<Candidate> = candidates.iter().chain(&candidates).cloned().collect();
            prop_assert_eq!(&Duplicates::find(&twice), &found);
            let mut seen = BTreeSet::new();
            for id in found.groups.iter().flat_map(|group| &group.members) {
                prop_assert!(seen.insert(id.clone()), "{} is in two groups", id);
            }
        }

        /// Compares the groups with components found by a search without disjoint sets.
        #[test]
        fn groups_are_components(candidates in candidates()) {
            let linked = |a: &Candidate, b: &Candidate| a.keys.iter().any(|one| b.keys.iter().any(|other| one.key == other.key));
            let mut expected: BTreeSet<Vec<String>> = BTreeSet::new();
            for start in 0..candidates.len() {
                let mut reached = BTreeSet::from([start]);
                while let Some(next) = (0..candidates.len()).find(|next| {
                    !reached.contains(next) && reached.iter().any(|at| linked(&candidates[*at], &candidates[*next]))
                }) {
                    reached.insert(next);
                }
                if reached.len() > 1 {
                    expected.insert(reached.iter().map(|place| candidates[*place].id.to_string()).collect());
                }
            }
            prop_assert_eq!(find_groups(&candidates), expected.into_iter().collect::<Vec<_>>());
        }
    }
}
