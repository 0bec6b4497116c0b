//! A collection made up from a seed, of any size, and queries for it.
//!
//! Words follow Zipf's law with exponent 1, shifted by 20 ranks, since stop words are out; lengths are log-normal. A token
//! of a field repeats an earlier one of the same field as often as not in content, where labels recur, and one in eight
//! times in metadata; a quarter of all further tokens are words of the title: fields of a dataset share their subject.

use lodeseek_index::document::{Field, FieldedDocument};

/// Distinct words.
const VOCABULARY: f64 = 200_000.0;
/// Zipf's law starts at this rank.
const SHIFT: f64 = 20.0;
/// Collections larger than this are made of compact datasets.
const MAX_FULL_DATASETS: usize = 100_000;

/// Lengths of a field in tokens.
struct Lengths {
    median: f64,
    /// Standard deviation of the logarithm.
    spread: f64,
    most: f64,
    /// The share of datasets without the field.
    missing: f64,
}

const fn lengths(median: f64, spread: f64, most: f64, missing: f64) -> Lengths {
    Lengths {
        median,
        spread,
        most,
        missing,
    }
}

const METADATA: [Lengths; 4] = [
    lengths(6.0, 0.5, 40.0, 0.0),
    lengths(40.0, 0.8, 1000.0, 0.2),
    lengths(2.0, 0.5, 20.0, 0.3),
    lengths(3.0, 0.7, 60.0, 0.3),
];
/// Entities, literals, classes, properties.
const FULL: [Lengths; 4] = [
    lengths(150.0, 1.5, 5000.0, 0.02),
    lengths(150.0, 1.5, 5000.0, 0.02),
    lengths(10.0, 1.3, 1000.0, 0.1),
    lengths(100.0, 1.3, 5000.0, 0.02),
];
/// The same for compact datasets.
const COMPACT: [Lengths; 4] = [
    lengths(15.0, 1.0, 200.0, 0.02),
    lengths(15.0, 1.0, 200.0, 0.02),
    lengths(3.0, 0.8, 40.0, 0.1),
    lengths(10.0, 0.8, 100.0, 0.02),
];

/// G. L. Steele, D. Lea, C. H. Flood: *Fast splittable pseudorandom number generators*, 2014 (SplitMix64).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to below 1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, end: usize) -> usize {
        (self.share() * end as f64) as usize
    }

    /// Normally distributed (G. E. P. Box, M. E. Muller, 1958).
    fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.share()).ln()).sqrt() * (std::f64::consts::TAU * self.share()).cos()
    }

    fn length(&mut self, lengths: &Lengths) -> usize {
        if self.share() < lengths.missing {
            return 0;
        }
        let drawn = lengths.median * (lengths.spread * self.normal()).exp();
        drawn.round().clamp(1.0, lengths.most) as usize
    }

    /// The rank of a word, by Zipf's law: the logarithm of a shifted rank is uniform.
    fn word(&mut self) -> u32 {
        let shifted = SHIFT * ((VOCABULARY + SHIFT) / SHIFT).powf(self.share());
        (shifted - SHIFT) as u32
    }
}

/// The word of a rank: letters alone, the frequent ones short, none a stop word.
fn spell(mut rank: u32, text: &mut String) {
    text.push('q');
    loop {
        text.push(char::from(b'a' + (rank % 20) as u8));
        rank /= 20;
        if rank == 0 {
            return;
        }
    }
}

/// A dataset of a collection of `size`, and the bytes of its text.
pub(super) fn document(random: &mut Random, size: usize) -> (FieldedDocument, usize) {
    let content = if size > MAX_FULL_DATASETS {
        &COMPACT
    } else {
        &FULL
    };
    let (mut title, mut bytes) = (Vec::new(), 0);
    let mut document = FieldedDocument::default();
    for (field, lengths) in Field::ALL.into_iter().zip(METADATA.iter().chain(content)) {
        let repeating = if field.is_metadata() { 0.125 } else { 0.5 };
        let mut ranks: Vec<u32> = Vec::new();
        let mut text = String::new();
        for _ in 0..random.length(lengths) {
            let kind = random.share();
            let rank = match (ranks.is_empty(), title.is_empty()) {
                (false, _) if kind < repeating => ranks[random.below(ranks.len())],
                (_, false) if kind < repeating + (1.0 - repeating) / 4.0 => {
                    title[random.below(title.len())]
                }
                _ => random.word(),
            };
            ranks.push(rank);
            spell(rank, &mut text);
            text.push(' ');
        }
        bytes += text.len();
        document = document.with(field, (!text.is_empty()).then_some(text.as_str()));
        if field == Field::Title {
            title = ranks;
        }
    }
    (document, bytes)
}

/// Queries of one to six words: three of five drawn as documents draw theirs, so mostly common; the others uniformly from
/// the first 20,000, so mostly rare.
pub(super) fn queries(count: usize) -> Vec<String> {
    let mut random = Random::new(0x5eed);
    let mut query = |_| {
        let mut text = String::new();
        for _ in 0..=random.below(6) {
            let rank = if random.share() < 0.6 {
                random.word()
            } else {
                random.below(20_000) as u32
            };
            spell(rank, &mut text);
            text.push(' ');
        }
        text
    };
    (0..count).map(&mut query).collect()
}
