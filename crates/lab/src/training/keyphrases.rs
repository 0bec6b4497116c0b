//! Keyphrases of a paper in the form of a search query: a task and a kind of data.
//!
//! The task is a phrase that other papers' titles contain too ("semantic segmentation"). People search for such phrases
//! rather than for a paper's own wording. Phrases are runs of up to four content words that end in a word for a task;
//! "gradient descent" requires no data. The score of a phrase grows with the number of titles that contain it and with
//! its frequency in the paper. The kind of data is the one that the paper mentions most.

use super::tokens::singular;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::LazyLock;

/// Maximum number of words of a phrase.
const MAX_PHRASE_WORDS: usize = 4;
/// Maximum number of words of all phrases of a query.
const MAX_QUERY_WORDS: usize = 6;
/// Minimum number of titles that contain a phrase.
const MIN_TITLES: u32 = 3;

/// Signs that end a phrase.
const CLAUSES: [char; 11] = [',', '.', ';', ':', '(', ')', '?', '!', '"', '/', '|'];

/// Words that end a phrase: function words, and words that papers use of anything.
const EMPTY: &str = "\
    a about across adaptive advanced adversarial against all also among an and any approach approaches \
    architecture architectures are art as at attention autoencoder autoencoders bag based baseline baselines \
    bayesian be benchmark benchmarks beneficial bert better between beyond both but by can case cnn cnns \
    contrastive convolutional data dataset datasets deep deeper do does during each easy effective efficient \
    efficiently empirical end-to-end enhanced enhancing evaluating evaluation exploiting exploring fast faster \
    first for framework frameworks from fully gan gans general generative generic good guided hard has have \
    help helps high how improve improved improving in into investigating is it its itself joint jointly just \
    large large-scale learn learned learning leveraging look loss losses low lstm made make makes matter \
    matters may method methods model model-agnostic models more most multiple need network networks neural new \
    no not novel of on one only or other our over paper per performance pre-trained pre-training pretrained \
    pretraining propose proposed real really recurrent results rethinking revisiting right rnn robust scalable \
    scale self-attention several should simple single small so state state-of-the-art strong study such system \
    systems than that the their them then there these they this those through to toward towards training \
    transformer transformers tricks two under unified universal unleashing up upon use used using variational \
    via was we were what when where which while who why with within without you your";

/// Final words of phrases that describe a task.
const TASKS: &str = "\
    adaptation alignment answering anticipation authentication captioning classification clustering coloring \
    colorization completion comprehension correction correspondence counting deblurring dehazing \
    denoising deraining detection diarization disambiguation editing enhancement \
    entailment estimation extraction flow forecasting generation grasping grounding hashing \
    identification imaging inference inpainting interpolation labeling linking localization manipulation \
    mapping matching matting modeling modelling navigation odometry parsing planning prediction \
    ranking re-identification reasoning recognition recommendation reconstruction registration rendering \
    resolution restoration retrieval saliency search segmentation simplification slam stylization \
    summarization super-resolution synthesis tagging tracking transcription translation understanding \
    verification";

/// Words among these that describe a task alone.
const ALONE: [&str; 13] = [
    "captioning",
    "colorization",
    "deblurring",
    "dehazing",
    "denoising",
    "deraining",
    "inpainting",
    "matting",
    "odometry",
    "re-identification",
    "slam",
    "summarization",
    "super-resolution",
];

static EMPTY_SET: LazyLock<FxHashSet<&str>> = LazyLock::new(|| EMPTY.split_whitespace().collect());
static TASK_SET: LazyLock<FxHashSet<&str>> = LazyLock::new(|| TASKS.split_whitespace().collect());

fn is_empty(word: &str) -> bool {
    EMPTY_SET.contains(word)
}

/// Kinds of data in common terms, with the words that indicate them.
const MODALITIES: &[(&str, &[&str])] = &[
    (
        "images",
        &[
            "image",
            "images",
            "photo",
            "photos",
            "photographs",
            "pictures",
        ],
    ),
    ("video", &["video", "videos", "clips"]),
    (
        "text",
        &[
            "text",
            "texts",
            "sentence",
            "sentences",
            "document",
            "documents",
            "language",
            "word",
            "words",
            "corpus",
            "linguistic",
        ],
    ),
    (
        "speech",
        &["speech", "spoken", "utterances", "speaker", "speakers"],
    ),
    ("audio", &["audio", "sound", "sounds", "acoustic"]),
    ("music", &["music", "musical", "songs"]),
    ("3d point clouds", &["point-cloud", "point-clouds", "lidar"]),
    ("graphs", &["graph", "graphs"]),
    ("mri", &["mri"]),
    ("ct scans", &["ct"]),
    ("rgb-d", &["rgb-d", "rgbd"]),
    ("time series", &["time-series"]),
    ("source code", &["code", "programs"]),
];
/// Fields of application, with the words that indicate them.
const DOMAINS: &[(&str, &[&str])] = &[
    (
        "biomedical",
        &[
            "medical",
            "biomedical",
            "clinical",
            "patients",
            "tumor",
            "lesion",
        ],
    ),
    (
        "autonomous driving",
        &["driving", "vehicles", "autonomous-driving"],
    ),
    ("remote sensing", &["aerial", "satellite", "remote-sensing"]),
    ("faces", &["face", "faces", "facial"]),
];

/// Phrases that titles share, with the number of titles.
pub(super) struct Vocabulary(FxHashMap<String, u32>);

impl Vocabulary {
    pub(super) fn from_titles<'t>(titles: impl Iterator<Item = &'t str>) -> Self {
        let mut counts = FxHashMap::default();
        for title in titles {
            for phrase in count_phrases(title).into_keys() {
                *counts.entry(phrase).or_default() += 1;
            }
        }
        counts.retain(|_, count| *count >= MIN_TITLES);
        Self(counts)
    }

    /// Returns two to six words for a paper, and `None` if it shares no phrase with other papers.
    pub(super) fn keyphrases(
        &self,
        title: &str,
        summary: &str,
        keywords: &[&str],
    ) -> Option<String> {
        let scored = self.rank_phrases(title, summary, keywords);
        let (best, first) = scored.first()?;
        let mut words: Vec<&str> = first.split(' ').collect();
        let second = scored.iter().skip(1).find(|(score, phrase)| {
            *score >= 0.7 * best && !phrase.split(' ').any(|word| words.contains(&word))
        });
        // At least one word remains free for the kind of data.
        if let Some((_, phrase)) =
            second.filter(|(_, phrase)| words.len() + phrase.split(' ').count() < MAX_QUERY_WORDS)
        {
            words.extend(phrase.split(' '));
        }
        let text = format!("{title} {summary}");
        for kind in [
            most_frequent_kind(&text, MODALITIES),
            most_frequent_kind(&text, DOMAINS),
        ]
        .into_iter()
        .flatten()
        {
            let fits = words.len() + kind.split(' ').count() <= MAX_QUERY_WORDS;
            let is_new = !kind
                .split(' ')
                .any(|word| words.iter().any(|known| singular(known) == singular(word)));
            words.extend(kind.split(' ').filter(|_| fits && is_new));
        }
        (words.len() >= 2).then(|| words.join(" "))
    }

    /// Returns the phrases that a paper shares with others, best first.
    fn rank_phrases(&self, title: &str, summary: &str, keywords: &[&str]) -> Vec<(f64, String)> {
        let mut weights: FxHashMap<String, f64> = FxHashMap::default();
        for (text, weight, most) in [(title, 3.0, 1.0), (summary, 1.0, 3.0)] {
            for (phrase, times) in count_phrases(text) {
                *weights.entry(phrase).or_default() += weight * f64::from(times).min(most);
            }
        }
        for phrase in keywords
            .iter()
            .flat_map(|keyword| count_phrases(keyword).into_keys())
        {
            *weights.entry(phrase).or_default() += 2.0;
        }
        let known = weights.into_iter().filter_map(|(phrase, weight)| {
            let titles = self.0.get(&phrase)?;
            let length = phrase.split(' ').count() as f64;
            let score = weight * f64::from(1 + titles).ln().min(4.0) * length.min(3.0).sqrt();
            let tells = is_task(&phrase) && (length > 1.0 || ALONE.contains(&phrase.as_str()));
            tells.then_some((score, phrase))
        });
        let mut scored: Vec<(f64, String)> = known.collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        scored
    }
}

fn is_task(phrase: &str) -> bool {
    phrase
        .rsplit(' ')
        .next()
        .is_some_and(|last| TASK_SET.contains(last))
}

/// Returns the kind whose words are most frequent in a text, if they occur at least twice.
fn most_frequent_kind(text: &str, kinds: &[(&'static str, &[&str])]) -> Option<&'static str> {
    // Compounds become single words, as the lists have them.
    let text = text
        .to_lowercase()
        .replace("point cloud", "point-cloud")
        .replace("remote sensing", "remote-sensing");
    let text = text
        .replace("autonomous driving", "autonomous-driving")
        .replace("time series", "time-series");
    let words: Vec<&str> = split_words(&text).collect();
    let counted = kinds
        .iter()
        .map(|(name, kind)| {
            let count = words.iter().filter(|word| kind.contains(*word)).count();
            (count, *name)
        })
        .filter(|(count, _)| *count >= 2);
    // Among equals the first of the list wins.
    counted
        .rev()
        .max_by_key(|(count, _)| *count)
        .map(|(_, name)| name)
}

/// Returns the words of a text with their hyphens, in the text's case.
fn split_words(text: &str) -> impl Iterator<Item = &str> {
    let words = text
        .split(|c: char| !(c.is_alphanumeric() || c == '-'))
        .map(|word| word.trim_matches('-'));
    words.filter(|word| !word.is_empty())
}

/// Returns the runs of content words of a text, in lower case, as phrases of every length with their frequencies.
fn count_phrases(text: &str) -> FxHashMap<String, u32> {
    let mut phrases = FxHashMap::default();
    for clause in text.split(CLAUSES) {
        let clause = clause.to_lowercase();
        let words: Vec<&str> = split_words(&clause).collect();
        for run in words.split(|word| is_empty(word)) {
            for length in 1..=MAX_PHRASE_WORDS.min(run.len()) {
                for phrase in run.windows(length) {
                    *phrases.entry(phrase.join(" ")).or_default() += 1;
                }
            }
        }
    }
    phrases.retain(|phrase: &String, _: &mut u32| phrase.chars().any(char::is_alphabetic));
    phrases
}

/// Splits the keywords of a paper, without the headings that some venues put before them.
pub(super) fn split_keywords(keywords: &str) -> Vec<&str> {
    keywords
        .split(';')
        .filter(|keyword| !keyword.trim().is_empty())
        .map(|keyword| keyword.rsplit(':').next().unwrap_or(keyword).trim())
        .collect()
}

/// Returns the runs of content words of a text, in lower case.
pub(super) fn split_into_runs(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let clauses = lower
        .split(CLAUSES)
        .map(|clause| split_words(clause).collect::<Vec<_>>());
    let runs = clauses.flat_map(|words| {
        words
            .split(|word| is_empty(word))
            .map(|run| run.join(" "))
            .collect::<Vec<_>>()
    });
    runs.filter(|run| !run.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_say_too_with_the_kind_of_data() {
        let titles = [
            "Boat detection in fog",
            "Fast boat detection",
            "Neural networks for boat detection",
            "A new day",
        ];
        let vocabulary = Vocabulary::from_titles(titles.into_iter());
        let query = |title: &str, summary: &str| vocabulary.keyphrases(title, summary, &[]);
        let phrases = query(
            "FogNet for boat detection",
            "Images of fog are dim. An image of a boat shows little.",
        );
        assert_eq!(phrases.as_deref(), Some("boat detection images"));
        assert_eq!(query("Grain counting", "Nobody else does it."), None);
        let scans = query(
            "Boat detection",
            "Patients see boats in images and images and images, patients say.",
        );
        assert_eq!(scans.as_deref(), Some("boat detection images biomedical"));
    }

    #[test]
    fn keywords_without_headings() {
        assert_eq!(
            split_keywords("Computer Vision: CV: Boats;Fog; "),
            ["Boats", "Fog"]
        );
    }
}
