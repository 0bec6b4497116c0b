//! Datasets like a dataset, or like an example, and why each is.
//!
//! Four likenesses are told apart, each from 0 to 1:
//!
//! * *vocabulary*: the cosine of the vectors of the classes, properties and vocabularies used, a feature weighing
//!   ln(N / n) where n of N datasets have it: M. Ben Ellefi, Z. Bellahsene, S. Dietze, K. Todorov: *Dataset Recommendation
//!   for Data Linking: An Intensional Approach*, ESWC 2016, whose vectors are tf-idf too. That a dataset has a feature counts,
//!   not how often: numbers of entities tell sizes apart, not subjects.
//! * *links*: the same cosine over the URI spaces and the entities of others linked to (after G. Lopes et al.: *Two
//!   Approaches to the Dataset Interlinking Recommendation Problem*, WISE 2014, for whom datasets are alike that link to
//!   the same), or where one links into a space in which the other describes entities, how rare it is to describe any
//!   there: ln(N / n) / ln N, if that is more.
//! * *meaning*: the mean of the cosines of the encoder's vectors of both texts, of metadata with metadata and data with
//!   data, where there is an encoder with one vector a text that is compared so.
//! * *words*: the score by the searcher's model for the dataset's title and keywords, over that of the dataset itself; only
//!   where nothing else is known of it.
//!
//! The score is the mean of those known of the dataset asked for, weighted by [`WEIGHTS`]; below [`LEAST`] nothing counts
//! as similar. The weights are set, not learned: nobody has judged.
//!
//! *Cost.* Lists of the features asked for are read, at most 2,400 of them, nothing is compared pair by pair; the lengths
//! of all vectors are found in one pass over all lists after each commit, sixteen bytes a dataset.

use super::dense::Pair;
use super::features::features;
use super::searcher::Searcher;
use super::{EngineError, Other};
use lodeseek_catalog::{DatasetId, Metadata};
use lodeseek_index::document::CompactDocument;
use lodeseek_index::{DocumentAddress, Feature, FeatureKind, IndexError, Snapshot};
use lodeseek_profile::Profile;
use lodeseek_ranking::{Ranking, Scored};
use lodeseek_rdf::{TripleGraph, prefixed};
use lodeseek_snippet::{IlluSnip, SnippetExtractor, Starts};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use std::sync::{Arc, Mutex, PoisonError};

/// What the likenesses count for: of vocabulary, links, meaning, words.
const WEIGHTS: [f64; 4] = [3.0, 1.0, 2.0, 1.0];
/// The score from which a dataset counts as similar.
const LEAST: f64 = 0.1;
/// The best by each likeness that are compared by all.
const POOL: usize = 100;
/// Features named with a reason.
const NAMED: usize = 6;
/// Words of a title and keywords that are searched for.
const WORDS: usize = 40;

/// Features in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Shared {
    /// How many.
    pub count: usize,
    /// The rarest of them, the rarest first.
    pub telling: Vec<String>,
}

/// What two datasets have in common.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "by", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[expect(missing_docs, reason = "told at the variants")]
pub enum Likeness {
    /// Classes, properties, and the namespaces that these are of.
    Vocabulary { classes: Shared, properties: Shared, vocabularies: Shared },
    /// URI spaces of the other that this one links to, own ones that the other links to, and what both link to.
    Links { to: Shared, from: Shared, targets: Shared, entities: Shared },
    /// Texts that are near each other, by a model.
    Meaning { model: String },
    /// Words of title and keywords.
    Words { words: Vec<String> },
}

/// A reason, and what it gave.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimilarityPart {
    /// The likeness, from 0 to 1.
    pub score: f64,
    /// Its part of the weights, from 0 to 1: the score of the dataset is the sum of score · weight.
    pub weight: f64,
    /// What it is seen by.
    #[serde(flatten)]
    pub likeness: Likeness,
}

/// A dataset like another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimilarDataset {
    /// It.
    #[serde(flatten)]
    pub dataset: Other,
    /// Its triples held here.
    pub triples: u64,
    /// How like it is, from 0 to 1.
    pub score: f64,
    /// Why, what gave most first.
    pub parts: Vec<SimilarityPart>,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimilarDatasets {
    /// How many datasets there are.
    pub of: u64,
    /// The most similar, best first; those that are the same dataset, and its other editions, are not among them.
    pub similar: Vec<SimilarDataset>,
}

/// A part of a reason, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// What is in common: “12 classes in common”.
    pub says: String,
    /// Some of it: what it is called, and its IRI.
    pub names: Vec<(String, String)>,
    /// Whether these are all.
    pub all: bool,
}

impl SimilarityPart {
    /// The reason in words.
    #[must_use]
    pub fn clauses(&self) -> Vec<Clause> {
        let clause = |shared: &Shared, one: &str, many: &str| {
            let says = if shared.count == 1 { format!("1 {one}") } else { format!("{} {many}", shared.count) };
            let names: Vec<_> = shared.telling.iter().map(|iri| (prefixed(iri), iri.clone())).collect();
            let all = names.len() == shared.count;
            (shared.count > 0).then_some(Clause { says, names, all })
        };
        match &self.likeness {
            Likeness::Vocabulary { classes, properties, vocabularies } => [
                clause(classes, "class in common", "classes in common"),
                clause(properties, "property in common", "properties in common"),
                clause(vocabularies, "vocabulary in common", "vocabularies in common"),
            ]
            .into_iter()
            .flatten()
            .collect(),
            Likeness::Links { to, from, targets, entities } => [
                clause(to, "of its namespaces is linked to", "of its namespaces are linked to"),
                clause(from, "namespace that it links to", "namespaces that it links to"),
                clause(entities, "entity that both link to", "entities that both link to"),
                clause(targets, "other source that both link to", "other sources that both link to"),
            ]
            .into_iter()
            .flatten()
            .collect(),
            Likeness::Meaning { model } => {
                let says = format!("near in meaning (cosine {:.2}, {model})", self.score);
                vec![Clause { says, names: Vec::new(), all: true }]
            }
            Likeness::Words { words } => {
                let says = format!("the words {}", words.join(", "));
                vec![Clause { says, names: Vec::new(), all: true }]
            }
        }
    }
}

/// An RDF graph that datasets are compared with.
pub struct Example {
    graph: TripleGraph,
    profile: Profile,
    features: Vec<Feature>,
}

impl Example {
    /// Of a graph.
    #[must_use]
    pub fn new(graph: TripleGraph) -> Self {
        let profile = Profile::new(&graph);
        let features = features(&graph, &profile);
        Self { graph, profile, features }
    }

    /// Its triples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.graph.len()
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.graph.is_empty()
    }

    /// What encoders read of it: as of a dataset of which nothing is said.
    fn compact(&self, metadata: &Metadata) -> CompactDocument {
        let ranking = IlluSnip::default().with_starts(Starts::Heaviest);
        let snippet = ranking.extract(&self.graph, &self.profile, super::indexer::COMPACT_BUDGET);
        CompactDocument { metadata: Vec::new(), ..CompactDocument::new(metadata, &self.graph, &snippet) }
    }
}

/// The lengths of the vectors of all datasets: of vocabulary and of links.
pub(super) struct Lengths {
    generation: u64,
    squares: Vec<[f64; 2]>,
}

/// Those of the index as last committed.
#[derive(Default)]
pub(super) struct KeptLengths(Mutex<Option<Arc<Lengths>>>);

impl KeptLengths {
    /// Who asks while they are made waits for them.
    fn of(&self, snapshot: &Snapshot) -> Result<Arc<Lengths>, IndexError> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lengths) = &*kept
            && lengths.generation == snapshot.generation()
        {
            return Ok(Arc::clone(lengths));
        }
        let lengths = Arc::new(Lengths::of(snapshot)?);
        *kept = Some(Arc::clone(&lengths));
        Ok(lengths)
    }
}

impl Lengths {
    fn of(snapshot: &Snapshot) -> Result<Self, IndexError> {
        let mut squares = vec![[0.0; 2]; snapshot.addresses()];
        snapshot.each_feature(|kind, documents| {
            if let Some(vector) = vector(kind) {
                let weight = weight(snapshot.len(), documents.len());
                documents.iter().for_each(|&at| squares[snapshot.place(at)][vector] += weight * weight);
            }
        })?;
        Ok(Self { generation: snapshot.generation(), squares })
    }
}

/// The vector that features of a kind are part of: of vocabulary, or of links.
fn vector(kind: FeatureKind) -> Option<usize> {
    match kind {
        FeatureKind::Class | FeatureKind::Property | FeatureKind::Vocabulary => Some(0),
        FeatureKind::Target | FeatureKind::Entity => Some(1),
        FeatureKind::Space => None,
    }
}

/// What a feature weighs that so many of all datasets have; that of an example alone as if one had it.
fn weight(all: u64, having: usize) -> f64 {
    (all.max(1) as f64 / having.max(1) as f64).ln().max(0.0)
}

/// How like all datasets are to some features.
struct Compared {
    /// By place: likeness of vocabulary, and of links.
    scores: Vec<[f64; 2]>,
    /// Whether there is anything to be compared by either.
    known: [bool; 2],
    weights: FxHashMap<Feature, f64>,
}

impl Compared {
    fn by(features: &[Feature], snapshot: &Snapshot, lengths: &Lengths) -> Result<Self, IndexError> {
        let all = snapshot.len();
        let mut scores = vec![[0.0_f64; 2]; lengths.squares.len()];
        let mut led = vec![0.0_f64; lengths.squares.len()];
        let (mut own, mut weights, mut known) = ([0.0; 2], FxHashMap::default(), false);
        for feature in features {
            let having = snapshot.with_feature(feature)?;
            let weight = weight(all, having.len());
            weights.insert(feature.clone(), weight);
            if let Some(vector) = vector(feature.kind) {
                own[vector] += weight * weight;
                having.iter().for_each(|&at| scores[snapshot.place(at)][vector] += weight * weight);
            }
            for (rarity, at) in linked(feature, weight, snapshot)? {
                let led = &mut led[snapshot.place(at)];
                *led = rarity.max(*led);
                known = true;
            }
        }
        for ((scores, squares), led) in scores.iter_mut().zip(&lengths.squares).zip(led) {
            for ((score, square), own) in scores.iter_mut().zip(squares).zip(own) {
                let product = (square * own).sqrt();
                *score = if product > 0.0 { (*score / product).min(1.0) } else { 0.0 };
            }
            scores[1] = scores[1].max(led);
        }
        Ok(Self { scores, known: [own[0] > 0.0, own[1] > 0.0 || known], weights })
    }

    /// The features that two datasets share, the rarest first; without those that at least half of all datasets have,
    /// which tell nothing.
    fn shared<'f>(&self, shared: impl Iterator<Item = &'f Feature>) -> Shared {
        let weight = |feature: &Feature| self.weights.get(feature).copied().unwrap_or_default();
        let mut shared: Vec<&Feature> = shared.filter(|feature| weight(feature) > std::f64::consts::LN_2).collect();
        shared.sort_by(|a, b| weight(b).total_cmp(&weight(a)).then_with(|| a.cmp(b)));
        let telling = shared.iter().take(NAMED).map(|feature| feature.iri.clone()).collect();
        Shared { count: shared.len(), telling }
    }
}

/// The datasets that a feature links to, or from which it is linked to, and how telling that is: where a space is linked to
/// those that describe entities in it, and where it is described those that link there.
fn linked(feature: &Feature, weight: f64, snapshot: &Snapshot) -> Result<Vec<(f64, DocumentAddress)>, IndexError> {
    let other = match feature.kind {
        FeatureKind::Target => FeatureKind::Space,
        FeatureKind::Space => FeatureKind::Target,
        _ => return Ok(Vec::new()),
    };
    let found = snapshot.with_feature(&Feature { kind: other, iri: feature.iri.clone() })?;
    let all = (snapshot.len().max(2) as f64).ln();
    let describing = if other == FeatureKind::Space { self::weight(snapshot.len(), found.len()) } else { weight };
    Ok(found.into_iter().map(|at| (describing / all, at)).collect())
}

/// What is asked for: by what it is compared, and what is not to be found.
struct Wanted<'w> {
    features: &'w [Feature],
    pair: Option<Pair>,
    /// Words, where nothing else is known.
    words: String,
    without: FxHashSet<DatasetId>,
}

/// The likenesses of a candidate, in the order of [`WEIGHTS`].
type Scores = [f64; 4];

impl Searcher {
    /// The datasets most like one; `None` where the index has no such dataset.
    pub fn similar(&self, id: &DatasetId, depth: usize) -> Result<Option<SimilarDatasets>, EngineError> {
        let snapshot = self.snapshot()?;
        let Some(features) = snapshot.features(id)? else { return Ok(None) };
        let Some(card) = self.card(id)? else { return Ok(None) };
        let folding = self.folding()?;
        let without = folding.others(id).chain(folding.editions(id)).chain([id]).cloned().collect();
        let pair = match self.of_texts() {
            Some(dense) => dense.pair(id, &snapshot)?,
            None => None,
        };
        let wanted = Wanted { features: &features, pair, words: words(&card.metadata), without };
        self.like(&wanted, &snapshot, depth).map(Some)
    }

    /// The datasets most like an example. Where the searcher has an encoder with one vector a text, it reads the example.
    pub fn similar_to(&self, example: &Example, depth: usize) -> Result<SimilarDatasets, EngineError> {
        let snapshot = self.snapshot()?;
        let pair = match (self.of_texts(), DatasetId::new("example").ok()) {
            (Some(dense), Some(id)) => Some(dense.pair_of(&example.compact(&Metadata::new(id)))?),
            _ => None,
        };
        let (words, without) = (String::new(), FxHashSet::default());
        self.like(&Wanted { features: &example.features, pair, words, without }, &snapshot, depth)
    }

    fn like(&self, wanted: &Wanted<'_>, snapshot: &Snapshot, depth: usize) -> Result<SimilarDatasets, EngineError> {
        let lengths = self.lengths().of(snapshot)?;
        let compared = Compared::by(wanted.features, snapshot, &lengths)?;
        let near: FxHashMap<DatasetId, f64> = match (self.of_texts(), &wanted.pair) {
            (Some(dense), Some(pair)) => dense.near(pair)?.into_iter().collect(),
            _ => FxHashMap::default(),
        };
        let by_words = match !compared.known[0] && near.is_empty() {
            true => self.by_words(&wanted.words)?,
            false => FxHashMap::default(),
        };
        let known = [compared.known[0], compared.known[1], !near.is_empty(), !by_words.is_empty()];
        let mut candidates: FxHashMap<DatasetId, Scores> = FxHashMap::default();
        let pool: Vec<DatasetId> = pool(&compared, &near, &by_words, snapshot)?.into_iter().collect();
        // Vectors of texts that have changed since say nothing of the dataset as it is.
        let current: FxHashSet<DatasetId> = match self.of_texts().filter(|_| !near.is_empty()) {
            Some(dense) => dense.current_now(&pool, snapshot)?.into_iter().collect(),
            None => FxHashSet::default(),
        };
        for id in pool {
            let Some(at) = snapshot.address(&id)?.filter(|_| !wanted.without.contains(&id)) else { continue };
            let [vocabulary, links] = compared.scores[snapshot.place(at)];
            let of = |scores: &FxHashMap<DatasetId, f64>| scores.get(&id).copied().unwrap_or_default();
            let meaning = if current.contains(&id) { of(&near) } else { 0.0 };
            let scores = [vocabulary, links, meaning, of(&by_words)];
            candidates.insert(id, scores);
        }
        let shares = shares(known);
        let total = |scores: &Scores| scores.iter().zip(shares).map(|(score, share)| score * share).sum::<f64>();
        let scored = candidates.iter().map(|(id, scores)| Scored { id: id.clone(), score: total(scores) });
        let ranking = Ranking::from_scores(scored.filter(|scored| scored.score >= LEAST).collect());
        let folding = self.folding()?;
        let mut is_first = folding.first_seen();
        let mut similar = Vec::new();
        for scored in ranking.iter().filter(|scored| is_first(&scored.id)).take(depth) {
            let Some(card) = self.card(&scored.id)? else { continue };
            let parts = self.parts(wanted, &compared, &scored.id, candidates[&scored.id], shares, snapshot)?;
            let triples = card.profile.triples;
            similar.push(SimilarDataset { dataset: Other::of(&card), triples, score: scored.score, parts });
        }
        Ok(SimilarDatasets { of: snapshot.len(), similar })
    }

    /// The reasons for which a dataset is similar.
    fn parts(
        &self,
        wanted: &Wanted<'_>,
        compared: &Compared,
        id: &DatasetId,
        scores: Scores,
        shares: Scores,
        snapshot: &Snapshot,
    ) -> Result<Vec<SimilarityPart>, EngineError> {
        let others: FxHashSet<Feature> = snapshot.features(id)?.unwrap_or_default().into_iter().collect();
        let both = |kind: FeatureKind| {
            let of_kind = wanted.features.iter().filter(move |feature| feature.kind == kind);
            compared.shared(of_kind.filter(|feature| others.contains(*feature)))
        };
        let across = |kind: FeatureKind, there: FeatureKind| {
            let of_kind = wanted.features.iter().filter(move |feature| feature.kind == kind);
            compared
                .shared(of_kind.filter(|feature| others.contains(&Feature { kind: there, iri: feature.iri.clone() })))
        };
        use FeatureKind::{Class, Entity, Property, Space, Target, Vocabulary};
        let likeness = |place: usize| {
            Ok::<_, EngineError>(match place {
                0 => Likeness::Vocabulary {
                    classes: both(Class),
                    properties: both(Property),
                    vocabularies: both(Vocabulary),
                },
                1 => Likeness::Links {
                    to: across(Target, Space),
                    from: across(Space, Target),
                    targets: both(Target),
                    entities: both(Entity),
                },
                2 => Likeness::Meaning { model: self.of_texts().map_or("", |dense| dense.encoder().name()).to_owned() },
                _ => Likeness::Words { words: self.common_words(&wanted.words, id)? },
            })
        };
        let mut parts = Vec::new();
        for place in (0..scores.len()).filter(|&place| scores[place] > 0.0) {
            parts.push(SimilarityPart { score: scores[place], weight: shares[place], likeness: likeness(place)? });
        }
        parts.sort_by(|a, b| (b.score * b.weight).total_cmp(&(a.score * a.weight)));
        Ok(parts)
    }

    /// How well datasets answer some words, over how well the best does: that is the dataset the words are of.
    fn by_words(&self, words: &str) -> Result<FxHashMap<DatasetId, f64>, EngineError> {
        if words.is_empty() {
            return Ok(FxHashMap::default());
        }
        let ranking = self.by_model(words, POOL)?;
        let best = ranking.iter().next().map_or(1.0, |scored| scored.score).max(f64::MIN_POSITIVE);
        Ok(ranking.iter().map(|scored| (scored.id.clone(), (scored.score / best).clamp(0.0, 1.0))).collect())
    }

    fn common_words(&self, words: &str, id: &DatasetId) -> Result<Vec<String>, EngineError> {
        let fields = self.matched(words, std::slice::from_ref(id))?;
        let mut common: Vec<String> = fields.into_iter().flatten().flat_map(|field| field.terms).collect();
        common.sort();
        common.dedup();
        Ok(common)
    }
}

/// The part of each weight in the weights of what is known.
fn shares(known: [bool; 4]) -> Scores {
    let known = known.map(f64::from);
    let all: f64 = WEIGHTS.iter().zip(known).map(|(weight, known)| weight * known).sum();
    let mut shares = [0.0; 4];
    for ((share, weight), known) in shares.iter_mut().zip(WEIGHTS).zip(known) {
        *share = if all > 0.0 { weight * known / all } else { 0.0 };
    }
    shares
}

/// The best by each likeness.
fn pool(
    compared: &Compared,
    near: &FxHashMap<DatasetId, f64>,
    words: &FxHashMap<DatasetId, f64>,
    snapshot: &Snapshot,
) -> Result<FxHashSet<DatasetId>, EngineError> {
    let mut pool = FxHashSet::default();
    for vector in 0..2 {
        let scored = compared.scores.iter().enumerate().map(|(place, scores)| (scores[vector], place));
        for place in best(scored.filter(|(score, _)| *score > 0.0).collect()) {
            if let Some(at) = snapshot.at(place) {
                pool.insert(snapshot.id(at)?);
            }
        }
    }
    for scores in [near, words] {
        pool.extend(best(scores.iter().map(|(id, score)| (*score, id)).collect()).into_iter().cloned());
    }
    Ok(pool)
}

/// What scores best, in no order.
fn best<T: Ord>(mut scored: Vec<(f64, T)>) -> Vec<T> {
    if scored.len() > POOL {
        scored.select_nth_unstable_by(POOL, |a, b| b.0.total_cmp(&a.0).then_with(|| b.1.cmp(&a.1)));
        scored.truncate(POOL);
    }
    scored.into_iter().map(|(_, item)| item).collect()
}

/// The words of a title and keywords, each once.
fn words(metadata: &Metadata) -> String {
    let keywords = metadata.keywords.iter().map(|keyword| keyword.value.as_str());
    let mut seen = FxHashSet::default();
    let words = [metadata.title()].into_iter().chain(keywords).flat_map(str::split_whitespace);
    words.filter(|word| seen.insert(word.to_lowercase())).take(WORDS).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_what_is_known_add_up_to_one() {
        assert_eq!(shares([true, false, false, false]), [1.0, 0.0, 0.0, 0.0]);
        assert_eq!(shares([true, true, true, false]), [0.5, 1.0 / 6.0, 1.0 / 3.0, 0.0]);
        assert_eq!(shares([false; 4]), [0.0; 4]);
    }

    #[test]
    fn what_all_have_weighs_nothing() {
        assert_eq!(weight(8, 8), 0.0);
        assert!((weight(8, 2) - 4f64.ln()).abs() < 1e-12);
        assert_eq!(weight(8, 0), weight(8, 1));
    }

    #[test]
    fn the_best_are_kept_whatever_their_order() {
        let scored = |n: u32| (f64::from(n % 500), n);
        let mut kept = best((0..500).map(scored).collect());
        kept.sort_unstable();
        assert_eq!(kept, (400..500).collect::<Vec<_>>());
    }
}
