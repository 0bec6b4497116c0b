//! Comparison of the tags with those in the papers, as text and as JSON; samples for manual review.

use super::papers::Paper;
use lodeseek_cli::terminal::{cut, grouped};
use lodeseek_lab::tagger::{Agreement, Mention, draw_sample};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{self, Write};

/// Number of datasets listed for each side.
const MAX_LISTED_DATASETS: usize = 20;
/// Maximum number of bytes shown before and after a mention.
const MAX_CONTEXT_BYTES: usize = 160;

/// Side of a comparison of pairs of paper and dataset.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    /// All tagged pairs.
    Ours,
    /// Tagged pairs that the papers do not list.
    OursAlone,
    /// Pairs that the papers list and that are not tagged.
    TheirsAlone,
}

/// Counts of the tagging.
#[derive(Clone, Copy, Default)]
pub(super) struct TagCounts {
    pub(super) papers: u64,
    pub(super) papers_with: u64,
    pub(super) pairs: u64,
    pub(super) mentions: u64,
    pub(super) bytes: u64,
}

/// A pair for manual review.
struct Pair {
    line: usize,
    dataset: String,
    is_ours: bool,
    is_theirs: bool,
    why: String,
    around: String,
}

#[derive(Default)]
pub(super) struct Report {
    pub(super) tagged: TagCounts,
    agreement: Agreement,
    pairs: Vec<Pair>,
}

impl Report {
    pub(super) fn count(&mut self, paper: &Paper, mentions: &[Mention]) {
        let accepted: Vec<_> = mentions
            .iter()
            .filter_map(Mention::accepted_dataset)
            .collect();
        let pairs = accepted.iter().collect::<BTreeSet<_>>().len() as u64;
        self.tagged.papers += 1;
        self.tagged.papers_with += u64::from(pairs > 0);
        self.tagged.pairs += pairs;
        self.tagged.mentions += accepted.len() as u64;
        self.tagged.bytes += paper
            .texts()
            .iter()
            .map(|text| text.len() as u64)
            .sum::<u64>();
    }

    pub(super) fn compare(
        &mut self,
        line: usize,
        paper: &Paper,
        mentions: &[Mention],
        keeps_pairs: bool,
    ) {
        let ours: BTreeSet<String> = mentions
            .iter()
            .filter_map(Mention::accepted_dataset)
            .map(ToString::to_string)
            .collect();
        let theirs: BTreeSet<String> = paper.positives().into_iter().collect();
        if keeps_pairs {
            let pairs = ours.union(&theirs).map(|dataset| {
                let (is_ours, is_theirs) = (ours.contains(dataset), theirs.contains(dataset));
                let (why, around) = explain_pair(paper, mentions, dataset);
                Pair {
                    line,
                    dataset: dataset.clone(),
                    is_ours,
                    is_theirs,
                    why,
                    around,
                }
            });
            self.pairs.extend(pairs);
        }
        self.agreement.add(&ours, &theirs);
    }

    pub(super) fn write_sample(
        self,
        out: &mut impl Write,
        number: usize,
        seed: u64,
        side: Side,
    ) -> io::Result<()> {
        let mut pairs = self.pairs;
        pairs.retain(|pair| match side {
            Side::Ours => pair.is_ours,
            Side::OursAlone => pair.is_ours && !pair.is_theirs,
            Side::TheirsAlone => pair.is_theirs && !pair.is_ours,
        });
        for pair in draw_sample(pairs, |pair| (pair.line, &pair.dataset), number, seed) {
            writeln!(
                out,
                "{}\t{}\t{}\t{}",
                pair.line, pair.dataset, pair.why, pair.around
            )?;
        }
        Ok(())
    }

    pub(super) fn write_agreement(&self, out: &mut impl Write, as_json: bool) -> io::Result<()> {
        if as_json {
            serde_json::to_writer_pretty(&mut *out, &self.json())?;
            return writeln!(out);
        }
        let (pairs, [precision, recall, f1]) = (self.agreement.pairs, self.agreement.per_paper());
        writeln!(
            out,
            "{} papers, {} with the same datasets; pairs of paper and dataset: {} of both, {} ours alone, {} theirs alone\n",
            grouped(u64::from(self.agreement.papers)),
            grouped(u64::from(self.agreement.equal)),
            grouped(u64::from(pairs.both)),
            grouped(u64::from(pairs.ours_alone)),
            grouped(u64::from(pairs.theirs_alone))
        )?;
        writeln!(
            out,
            "{:<12} {:>9} {:>9} {:>9}",
            "", "precision", "recall", "F1"
        )?;
        for (name, [precision, recall, f1]) in [
            ("all pairs", [pairs.precision(), pairs.recall(), pairs.f1()]),
            ("by paper", [precision, recall, f1]),
        ] {
            writeln!(out, "{name:<12} {precision:>9.4} {recall:>9.4} {f1:>9.4}")?;
        }
        for (name, most) in [
            ("ours alone", self.ours_alone()),
            ("theirs alone", self.theirs_alone()),
        ] {
            let most: Vec<String> = most
                .iter()
                .map(|(id, count)| format!("{} {count}", cut(id, 60)))
                .collect();
            writeln!(out, "\nmost often {name}: {}", most.join(", "))?;
        }
        Ok(())
    }

    fn ours_alone(&self) -> Vec<(&str, u32)> {
        self.agreement
            .most(|counts| counts.ours_alone, MAX_LISTED_DATASETS)
    }

    fn theirs_alone(&self) -> Vec<(&str, u32)> {
        self.agreement
            .most(|counts| counts.theirs_alone, MAX_LISTED_DATASETS)
    }

    fn json(&self) -> Value {
        let (pairs, [precision, recall, f1]) = (self.agreement.pairs, self.agreement.per_paper());
        json!({
            "papers": self.agreement.papers,
            "papers_equal": self.agreement.equal,
            "pairs": pairs,
            "all_pairs": { "precision": pairs.precision(), "recall": pairs.recall(), "f1": pairs.f1() },
            "by_paper": { "precision": precision, "recall": recall, "f1": f1 },
            "most_often_ours_alone": self.ours_alone(),
            "most_often_theirs_alone": self.theirs_alone(),
        })
    }
}

/// Returns the rule or reason of a pair, and the words around its mention. Without a mention, the title is returned.
fn explain_pair(paper: &Paper, mentions: &[Mention], dataset: &str) -> (String, String) {
    let of_dataset: Vec<&Mention> = mentions
        .iter()
        .filter(|mention| mention.datasets.iter().any(|id| id.as_str() == dataset))
        .collect();
    let accepted = of_dataset
        .iter()
        .find(|mention| mention.accepted_dataset().is_some());
    let Some(mention) = accepted.or(of_dataset.first()) else {
        return (
            "no name found".to_owned(),
            cut(
                paper.texts().first().copied().unwrap_or_default(),
                2 * MAX_CONTEXT_BYTES,
            ),
        );
    };
    let text = paper.texts()[mention.text];
    let start = text.floor_char_boundary(mention.place.start.saturating_sub(MAX_CONTEXT_BYTES));
    let end = text.ceil_char_boundary((mention.place.end + MAX_CONTEXT_BYTES).min(text.len()));
    let (before, behind) = (
        &text[start..mention.place.start],
        &text[mention.place.end..end],
    );
    let why = serde_json::to_value(mention.verdict)
        .ok()
        .and_then(|verdict| {
            let (kind, why) = verdict.as_object()?.iter().next()?;
            Some(format!("{kind}: {}", why.as_str()?))
        });
    (
        why.unwrap_or_default(),
        cut(
            &format!("{before}[[{}]]{behind}", mention.surface),
            usize::MAX,
        ),
    )
}
