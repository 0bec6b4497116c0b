//! Reports: measured scores compared with expected ones, as Markdown and TSV.

use super::condition::Average;
use lodeseek_eval::Comparison;
use std::collections::BTreeMap;
use std::fmt::{self, Write};

/// Agreement of a score with the expected one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Outcome {
    /// Equal in four decimals.
    Ok,
    /// Differs by at most [`Cell::MAX_OKISH_DIFFERENCE`].
    Okish,
    /// Differs for a reason that the condition states.
    KnownDifference,
    /// Nothing was expected.
    New,
    /// Differs by more, without a stated reason.
    Fail,
}

impl Outcome {
    fn from_scores(expected: f64, measured: f64) -> Self {
        let steps = ((expected * 1e4).round() - (measured * 1e4).round()).abs();
        match steps {
            0.0 => Self::Ok,
            steps if steps <= (Cell::MAX_OKISH_DIFFERENCE * 1e4).round() => Self::Okish,
            _ => Self::Fail,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ok => "OK",
            Self::Okish => "OKish",
            Self::KnownDifference => "known",
            Self::New => "new",
            Self::Fail => "FAIL",
        })
    }
}

/// A score and its expected value.
#[derive(Clone, PartialEq, Debug)]
pub struct Cell {
    /// Expected score.
    pub expected: f64,
    /// Measured score; not a number if nothing was measured.
    pub measured: f64,
    /// Agreement of the two.
    pub outcome: Outcome,
    /// Reason of a known difference.
    pub reason: Option<String>,
    /// Standard deviations over samples of topics, if computed.
    pub spread: Option<Spread>,
}

/// Standard deviations of a mean over samples of topics.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Spread {
    /// By the bootstrap.
    pub bootstrap: f64,
    /// By the sampling of the publication.
    pub published: f64,
}

impl Cell {
    /// Largest difference that counts as OKish.
    pub const MAX_OKISH_DIFFERENCE: f64 = 0.0005;

    /// Compares two scores in four decimals.
    #[must_use]
    pub fn new(expected: f64, measured: f64) -> Self {
        Self {
            expected,
            measured,
            outcome: Outcome::from_scores(expected, measured),
            reason: None,
            spread: None,
        }
    }

    /// Compares a score with the expected one, if any. Without an expected score, the outcome is [`Outcome::New`].
    #[must_use]
    pub fn with_optional_expectation(expected: Option<f64>, measured: f64) -> Self {
        match expected {
            Some(expected) => Self::new(expected, measured),
            None => Self {
                outcome: Outcome::New,
                ..Self::new(measured, measured)
            },
        }
    }

    /// Builds a cell whose published number differs from that of the published run. It fails if the measured score
    /// differs from the expected one, like any other cell. Otherwise it shows the published number and the reason.
    #[must_use]
    pub fn with_erratum(expected: f64, printed: f64, measured: f64, reason: String) -> Self {
        if Outcome::from_scores(expected, measured) == Outcome::Fail {
            return Self::new(expected, measured);
        }
        let outcome = match Outcome::from_scores(printed, measured) {
            Outcome::Fail => Outcome::KnownDifference,
            near => near,
        };
        Self {
            expected: printed,
            outcome,
            reason: Some(reason),
            ..Self::new(expected, measured)
        }
    }

    /// Builds a cell from a number printed with three decimals, and the score measured for it, if any. A difference is
    /// known if `is_known`, as for a measurement on other data.
    #[must_use]
    pub fn from_print(printed: f64, measured: Option<f64>, is_known: bool) -> Self {
        let rounded = measured.map(|measured| (measured * 1e3).round());
        let outcome = match (rounded == Some((printed * 1e3).round()), is_known) {
            (true, _) => Outcome::Ok,
            (false, true) => Outcome::KnownDifference,
            (false, false) => Outcome::Fail,
        };
        Self {
            outcome,
            ..Self::new(printed, measured.unwrap_or(f64::NAN))
        }
    }

    /// Adds standard deviations.
    #[must_use]
    pub fn with_spread(self, spread: Spread) -> Self {
        Self {
            spread: Some(spread),
            ..self
        }
    }

    fn markdown(&self) -> String {
        let mut text = format_score(self.measured);
        if let Some(spread) = self.spread {
            let _ = write!(
                text,
                " ± {} ({})",
                format_score(spread.bootstrap),
                format_score(spread.published)
            );
        }
        let _ = match self.outcome {
            Outcome::Ok => Ok(()),
            Outcome::New => write!(text, " (new)"),
            outcome => write!(text, " ({outcome}: {})", format_score(self.expected)),
        };
        text
    }
}

/// Formats a score with four decimals and without the leading zero. A score that was not measured is a dash.
fn format_score(score: f64) -> String {
    if score.is_nan() {
        return "–".to_owned();
    }
    let text = format!("{score:.4}");
    match text.strip_prefix('0') {
        Some(decimals) => decimals.to_owned(),
        None => text,
    }
}

/// Results of a row.
#[derive(Clone, PartialEq, Debug)]
pub struct RowReport {
    /// Name of the row.
    pub name: String,
    /// If true, the row is a fusion of other runs.
    pub fused: bool,
    /// Scores in the order of the measures.
    pub cells: Vec<Cell>,
    /// Remark on the origin of the row.
    pub note: Option<String>,
    /// Value of every topic for each measure, as significance tests need them.
    pub by_topic: Vec<BTreeMap<String, f64>>,
    /// Comparisons with other rows.
    pub against: Vec<RowComparison>,
    /// Published decisions of significance and those found, in the order of the measures. Empty if none are published.
    pub decisions: Vec<Decision>,
}

/// Decision of a significance test: published, and found here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decision {
    /// If true, the publication marks the cell as a significant improvement.
    pub published: bool,
    /// If true, the improvement is significant here.
    pub found: bool,
}

impl Decision {
    /// Level of significance of published decisions: a p value below it is significant. Their p values are not corrected.
    pub const MAX_P_VALUE: f64 = 0.05;

    /// Builds a decision from a published one and a comparison. A loss is never an improvement.
    #[must_use]
    pub fn new(published: bool, comparison: &Comparison) -> Self {
        Self {
            published,
            found: comparison.difference > 0.0 && comparison.p < Self::MAX_P_VALUE,
        }
    }

    /// Returns [`Outcome::Ok`] if both decisions are the same, else [`Outcome::Fail`].
    #[must_use]
    pub fn outcome(self) -> Outcome {
        if self.published == self.found {
            Outcome::Ok
        } else {
            Outcome::Fail
        }
    }

    fn markdown(self) -> &'static str {
        match (self.published, self.found) {
            (true, true) => "\\*",
            (false, false) => "",
            (true, false) => " (FAIL: \\*)",
            (false, true) => "\\* (FAIL: no \\*)",
        }
    }
}

/// Comparison of a row with another by the paired t-test, in the order of the measures.
#[derive(Clone, PartialEq, Debug)]
pub struct RowComparison {
    /// Name of the other row.
    pub row: String,
    /// The comparisons. P values are corrected over all tested rows of a column (Holm).
    pub comparisons: Vec<Comparison>,
}

impl RowReport {
    /// Returns the mark of a cell in Markdown: that of [`mark`](Self::mark), and FAIL if a published decision differs.
    fn markdown_mark(&self, column: usize) -> &'static str {
        match self.decisions.get(column) {
            Some(decision) => decision.markdown(),
            None => self.mark(column),
        }
    }

    /// Returns † if the row differs from all compared rows with p < .05 after correction, and ‡ with p < .01.
    ///
    /// A row with published decisions of significance has `*` instead, for a significant improvement without correction.
    #[must_use]
    pub fn mark(&self, column: usize) -> &'static str {
        if let Some(decision) = self.decisions.get(column) {
            return if decision.found { "*" } else { "" };
        }
        let p = self
            .against
            .iter()
            .filter_map(|against| against.comparisons.get(column))
            .map(|one| one.corrected_p);
        match p.reduce(f64::max) {
            Some(p) if p < 0.01 => "‡",
            Some(p) if p < 0.05 => "†",
            _ => "",
        }
    }

    /// Returns a remark with the differences to another row and their p values.
    fn describe_comparison(&self, other: &RowComparison, measures: &[String]) -> String {
        let mut parts = Vec::with_capacity(measures.len());
        for (measure, comparison) in measures.iter().zip(&other.comparisons) {
            parts.push(format!("{measure} {}", difference_with_p(comparison)));
        }
        format!("{} against {}: {}.", self.name, other.row, parts.join("; "))
    }
}

fn difference_with_p(comparison: &Comparison) -> String {
    let (difference, p) = (
        format_difference(comparison.difference),
        p_value(comparison.p),
    );
    let corrected = p_value(comparison.corrected_p);
    let effect = match comparison.effect_size {
        Some(effect) => format!(", d {effect:.2}"),
        None => String::new(),
    };
    format!("{difference} (p {p}, corrected {corrected}{effect})")
}

/// Formats a difference with its sign and four decimals.
fn format_difference(difference: f64) -> String {
    format!(
        "{}{}",
        if difference < 0.0 { "−" } else { "+" },
        format_score(difference.abs())
    )
}

fn p_value(p: f64) -> String {
    if p < 1e-4 {
        format!("{p:.0e}")
    } else {
        format_score(p)
    }
}

/// Results of a table.
#[derive(Clone, PartialEq, Debug)]
pub struct TableReport {
    /// Identifier within the condition.
    pub id: String,
    /// Heading.
    pub title: String,
    /// Source of the expected numbers.
    pub source: String,
    /// Averaging of topics. `None` if the source states what the numbers are.
    pub average: Option<Average>,
    /// Columns.
    pub measures: Vec<String>,
    /// Rows.
    pub rows: Vec<RowReport>,
}

/// Results of a condition.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// Name of the condition.
    pub name: String,
    /// Title.
    pub title: String,
    /// Description.
    pub about: String,
    /// Shell command that runs the condition.
    pub command: String,
    /// Verified counts of the collection.
    pub collection: String,
    /// Tables.
    pub tables: Vec<TableReport>,
    /// Printed rankings of single topics.
    pub rankings: Vec<RankingReport>,
}

/// Rankings of a topic, compared with printed ones.
#[derive(Clone, PartialEq, Debug)]
pub struct RankingReport {
    /// Identifier within the condition.
    pub id: String,
    /// Heading.
    pub title: String,
    /// Source of the expected rankings.
    pub source: String,
    /// Rankings.
    pub columns: Vec<RankingColumn>,
}

/// A ranking of a topic, and the printed one.
#[derive(Clone, PartialEq, Debug)]
pub struct RankingColumn {
    /// Name of the run.
    pub name: String,
    /// Ranks, the first one first.
    pub ranks: Vec<RankCell>,
}

/// A rank: the dataset found there, and the printed one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RankCell {
    /// The printed dataset.
    pub expected: String,
    /// The dataset found, if the ranking has this rank.
    pub found: Option<String>,
    /// Relevance grade of the dataset found, if it is judged.
    pub grade: Option<i32>,
    /// Reason of a known difference.
    pub reason: Option<String>,
}

impl RankCell {
    /// Returns [`Outcome::Ok`] if the dataset is the printed one, else [`Outcome::KnownDifference`] if there is a
    /// reason, else [`Outcome::Fail`].
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match &self.reason {
            _ if self.found.as_ref() == Some(&self.expected) => Outcome::Ok,
            Some(_) => Outcome::KnownDifference,
            None => Outcome::Fail,
        }
    }

    fn markdown(&self) -> String {
        let mut text = self.found.clone().unwrap_or_else(|| "–".to_owned());
        if let Some(grade) = self.grade {
            let _ = write!(text, " [{grade}]");
        }
        match self.outcome() {
            Outcome::Ok => text,
            outcome => format!("{text} ({outcome}: {})", self.expected),
        }
    }
}

impl RankingReport {
    fn outcomes(&self) -> impl Iterator<Item = Outcome> {
        self.columns
            .iter()
            .flat_map(|column| column.ranks.iter().map(RankCell::outcome))
    }

    /// Returns the number of ranks of each outcome as text.
    #[must_use]
    pub fn summary(&self) -> String {
        count_outcomes("ranks", &self.outcomes().collect::<Vec<_>>())
    }

    fn markdown(&self) -> String {
        let names: Vec<&str> = self
            .columns
            .iter()
            .map(|column| column.name.as_str())
            .collect();
        let mut text = format!(
            "| rank | {} |\n|---|{}\n",
            names.join(" | "),
            "---|".repeat(names.len())
        );
        let depth = self
            .columns
            .iter()
            .map(|column| column.ranks.len())
            .max()
            .unwrap_or(0);
        for rank in 0..depth {
            let mut cells = Vec::with_capacity(self.columns.len());
            for column in &self.columns {
                cells.push(match column.ranks.get(rank) {
                    Some(cell) => cell.markdown(),
                    None => "–".to_owned(),
                });
            }
            let _ = writeln!(text, "| {} | {} |", rank + 1, cells.join(" | "));
        }
        text
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = vec![GRADED.to_owned()];
        for column in &self.columns {
            for (rank, cell) in column.ranks.iter().enumerate() {
                if let Some(reason) = cell
                    .reason
                    .as_ref()
                    .filter(|_| cell.outcome() == Outcome::KnownDifference)
                {
                    remarks.push(format!(
                        "{}, rank {}, expected {}: {reason}",
                        column.name,
                        rank + 1,
                        cell.expected
                    ));
                }
            }
        }
        remarks
    }
}

/// Returns the number of outcomes, and the number of each, as text.
fn count_outcomes(what: &str, outcomes: &[Outcome]) -> String {
    let mut text = format!("{} {what}", outcomes.len());
    for (place, outcome) in [
        Outcome::Ok,
        Outcome::Okish,
        Outcome::KnownDifference,
        Outcome::New,
        Outcome::Fail,
    ]
    .into_iter()
    .enumerate()
    {
        let count = outcomes.iter().filter(|other| **other == outcome).count();
        if count > 0 || outcome == Outcome::Ok {
            let _ = write!(
                text,
                "{} {count} {outcome}",
                if place == 0 { ":" } else { "," }
            );
        }
    }
    text
}

impl TableReport {
    fn markdown(&self) -> String {
        let columns = &self.measures;
        let mut text = format!(
            "| | {} |\n|---|{}\n",
            columns.join(" | "),
            "---|".repeat(columns.len())
        );
        for row in &self.rows {
            let cells: Vec<String> = row
                .cells
                .iter()
                .enumerate()
                .map(|(column, cell)| format!("{}{}", cell.markdown(), row.markdown_mark(column)))
                .collect();
            let _ = writeln!(text, "| {} | {} |", row.name, cells.join(" | "));
        }
        text
    }

    /// Returns the number of cells of each outcome as text.
    #[must_use]
    pub fn summary(&self) -> String {
        let outcomes: Vec<Outcome> = self
            .rows
            .iter()
            .flat_map(|row| &row.cells)
            .map(|cell| cell.outcome)
            .collect();
        let mut text = count_outcomes("cells", &outcomes);
        let decisions: Vec<Outcome> = self.decisions().map(Decision::outcome).collect();
        if !decisions.is_empty() {
            let _ = write!(
                text,
                "; {}",
                count_outcomes("decisions of significance", &decisions)
            );
        }
        text
    }

    fn decisions(&self) -> impl Iterator<Item = Decision> {
        self.rows
            .iter()
            .flat_map(|row| row.decisions.iter().copied())
    }

    /// Returns remarks on rows and cells, and comparisons of fused rows with the best single row of each measure.
    fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self
            .rows
            .iter()
            .flat_map(|row| &row.cells)
            .any(|cell| cell.spread.is_some())
        {
            remarks.push(SPREAD.to_owned());
        }
        if self
            .rows
            .iter()
            .any(|row| !row.against.is_empty() && row.decisions.is_empty())
        {
            remarks.push(TESTED.to_owned());
        }
        if self.decisions().next().is_some() {
            remarks.push(DECIDED.to_owned());
        }
        for row in &self.rows {
            for (measure, cell) in self.measures.iter().zip(&row.cells) {
                if let Some(reason) = &cell.reason {
                    remarks.push(format!(
                        "{}, {measure}, expected {}: {reason}",
                        row.name,
                        format_score(cell.expected)
                    ));
                }
            }
            remarks.extend(row.note.iter().map(|note| format!("{}: {note}.", row.name)));
            remarks.extend(
                row.fused
                    .then(|| self.compare_with_best_single(row))
                    .flatten(),
            );
            remarks.extend(
                row.against
                    .iter()
                    .map(|against| row.describe_comparison(against, &self.measures)),
            );
        }
        remarks
    }

    /// Compares a fused row with the best single row of each measure. Returns `None` without single rows.
    fn compare_with_best_single(&self, fused: &RowReport) -> Option<String> {
        let mut differences = Vec::with_capacity(self.measures.len());
        for (column, measure) in self.measures.iter().enumerate() {
            let single = self
                .rows
                .iter()
                .filter(|row| !row.fused)
                .map(|row| row.cells[column].measured);
            let difference = fused.cells[column].measured - single.reduce(f64::max)?;
            differences.push(format!("{measure} {}", format_difference(difference)));
        }
        Some(format!(
            "{}, over the best single run of each column: {}.",
            fused.name,
            differences.join(", ")
        ))
    }
}

impl Report {
    /// Returns true if a cell, a decision of significance or a rank differs without a stated reason.
    #[must_use]
    pub fn fails(&self) -> bool {
        for row in self.tables.iter().flat_map(|table| &table.rows) {
            if row.cells.iter().any(|cell| cell.outcome == Outcome::Fail)
                || row
                    .decisions
                    .iter()
                    .any(|decision| decision.outcome() == Outcome::Fail)
            {
                return true;
            }
        }
        self.rankings
            .iter()
            .flat_map(RankingReport::outcomes)
            .any(|outcome| outcome == Outcome::Fail)
    }

    /// Returns a section in Markdown. It depends only on the condition and its data: it contains no date, time or
    /// machine.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!(
            "## {}\n\n{}\n\n```sh\n{}\n```\n\n",
            self.title,
            self.about.trim(),
            self.command.trim()
        );
        let _ = writeln!(text, "Verified first: {}.", self.collection);
        for table in &self.tables {
            let average = match table.average {
                Some(Average::Micro) => " Here: mean over all topics.",
                Some(Average::Macro) => " Here: mean over folds of the means over their topics.",
                None => "",
            };
            let _ = write!(
                text,
                "\n### {}\n\n{}{average}\n\n",
                table.title,
                table.source.trim()
            );
            let (open, close) = section_markers("table", &format!("{}/{}", self.name, table.id));
            let _ = write!(
                text,
                "{open}\n{}{close}\n\n{}.\n",
                table.markdown(),
                table.summary()
            );
            let remarks = table.remarks();
            if !remarks.is_empty() {
                let _ = write!(text, "\n- {}\n", remarks.join("\n- "));
            }
        }
        for ranking in &self.rankings {
            let _ = write!(
                text,
                "\n### {}\n\n{}\n\n",
                ranking.title,
                ranking.source.trim()
            );
            let (open, close) = section_markers("table", &format!("{}/{}", self.name, ranking.id));
            let _ = write!(
                text,
                "{open}\n{}{close}\n\n{}.\n",
                ranking.markdown(),
                ranking.summary()
            );
            let _ = write!(text, "\n- {}\n", ranking.remarks().join("\n- "));
        }
        text
    }

    /// Replaces this condition's section in a file of results. Other sections stay unchanged.
    #[must_use]
    pub fn replace_section(&self, results: &str) -> String {
        let mut sections: BTreeMap<String, String> =
            marked_sections("condition", results).into_iter().collect();
        sections.insert(self.name.clone(), format!("\n{}", self.markdown()));
        let mut text = HEAD.to_owned();
        for (name, section) in &sections {
            let (open, close) = section_markers("condition", name);
            let _ = write!(text, "\n{open}{section}{close}\n");
        }
        text
    }

    /// Returns every topic's value in tab-separated columns: table, row, measure, topic, value.
    #[must_use]
    pub fn by_topic(&self) -> String {
        let mut text = "table\trow\tmeasure\ttopic\tvalue\n".to_owned();
        for table in &self.tables {
            for row in &table.rows {
                for (measure, values) in table.measures.iter().zip(&row.by_topic) {
                    for (topic, value) in values {
                        let _ = writeln!(
                            text,
                            "{}\t{}\t{measure}\t{topic}\t{value}",
                            table.id, row.name
                        );
                    }
                }
            }
        }
        text
    }
}

const TESTED: &str = "† p < .05, ‡ p < .01 against the rows named below: paired t-test over topics, two-sided, corrected over all \
                      tested rows of a column (Holm); d is Cohen's, of the paired differences.";

const DECIDED: &str = "\\* a significant improvement over the row named below, as published: paired t-test, two-sided, p < .05, \
                       without correction. Corrected p values are over all tested rows of a column (Holm); d is Cohen's, of the \
                       paired differences.";

const GRADED: &str = "In brackets the relevance grade; datasets without one are not judged.";

const SPREAD: &str = "Behind ± the standard deviation of the mean over samples of topics: by the bootstrap (n of n, each as often \
                      as drawn, 10,000 times) and, in brackets, as the paper draws them (n / 2 of n, each once, 1,000 times).";

const HEAD: &str = "# Results\n\nWritten by `lodeseek-lab reproduce`; do not edit. A cell shows what was computed; where that is not \
                    what was expected\nto four decimals, the expected score stands behind it: OKish up to .0005 away, known \
                    with a reason below, else FAIL.\n";

fn section_markers(kind: &str, name: &str) -> (String, String) {
    (
        format!("<!-- {kind} {name} -->"),
        format!("<!-- /{kind} {name} -->"),
    )
}

/// Returns the texts between markers of a kind (`condition`, `table`), with their names.
#[must_use]
pub fn marked_sections(kind: &str, text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once(&format!("<!-- {kind} ")) {
        rest = after;
        let Some((name, body)) = after.split_once(" -->") else {
            break;
        };
        if let Some((body, after)) = body.split_once(&section_markers(kind, name).1) {
            found.push((name.to_owned(), body.to_owned()));
            rest = after;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_eval::{Differences, SignificanceTest};

    #[test]
    fn four_decimals_decide() {
        let outcome = |expected, measured| Cell::new(expected, measured).outcome;
        assert_eq!(outcome(0.5877, 0.587_74), Outcome::Ok);
        assert_eq!(outcome(0.5877, 0.587_76), Outcome::Okish);
        assert_eq!(outcome(0.5877, 0.5882), Outcome::Okish);
        assert_eq!(outcome(0.5877, 0.5883), Outcome::Fail);
        let known = |expected, printed, measured| {
            Cell::with_erratum(expected, printed, measured, "a typo".to_owned()).outcome
        };
        assert_eq!(known(0.5883, 0.5877, 0.5883), Outcome::KnownDifference);
        assert_eq!(known(0.5876, 0.5877, 0.5876), Outcome::Okish);
        assert_eq!(
            known(0.5877, 0.9, 0.6),
            Outcome::Fail,
            "a reason excuses the print, not the program"
        );
        let printed = |measured, is_known| Cell::from_print(0.234, measured, is_known).outcome;
        assert_eq!(
            printed(Some(0.2344), false),
            Outcome::Ok,
            "three decimals are printed"
        );
        assert_eq!(
            [true, false].map(|is_known| printed(Some(0.2346), is_known)),
            [Outcome::KnownDifference, Outcome::Fail]
        );
        assert_eq!(
            [true, false].map(|is_known| printed(None, is_known)),
            [Outcome::KnownDifference, Outcome::Fail]
        );
        assert_eq!(
            Cell::from_print(0.234, None, true).markdown(),
            "– (known: .2340)"
        );
        assert_eq!(
            (format_score(0.5), format_score(1.0)),
            (".5000".to_owned(), "1.0000".to_owned())
        );
    }

    fn report(name: &str, measured: f64) -> Report {
        let row = |name: &str, fused, measured| RowReport {
            name: name.to_owned(),
            fused,
            cells: vec![Cell::new(0.5, measured)],
            note: fused.then(|| "two runs".to_owned()),
            by_topic: vec![BTreeMap::from([("q1".to_owned(), measured)])],
            against: Vec::new(),
            decisions: Vec::new(),
        };
        let rows = vec![row("one", false, 0.4), row("fused", true, measured)];
        let (title, source) = ("A table".to_owned(), "Somewhere.".to_owned());
        let table = TableReport {
            id: "t".to_owned(),
            title,
            source,
            average: Some(Average::Micro),
            measures: vec!["RR".to_owned()],
            rows,
        };
        let text = |text: &str| text.to_owned();
        Report {
            name: text(name),
            title: text("A title"),
            about: text("About."),
            command: text("run"),
            collection: text("1 topic"),
            tables: vec![table],
            rankings: Vec::new(),
        }
    }

    #[test]
    fn decisions_that_differ_from_the_print_fail() {
        let comparison = |difference: f64| {
            let differences = Differences::new([difference, 0.9 * difference, 1.1 * difference]);
            Comparison::new(&differences, SignificanceTest::StudentT)
        };
        let decide =
            |published, difference| Decision::new(published, &comparison(difference)).outcome();
        assert_eq!(
            (decide(true, 0.5), decide(false, 0.5)),
            (Outcome::Ok, Outcome::Fail)
        );
        assert_eq!(
            (decide(true, -0.5), decide(false, -0.5)),
            (Outcome::Fail, Outcome::Ok),
            "a loss"
        );
        assert_eq!(
            (decide(true, 0.0), decide(false, 0.0)),
            (Outcome::Fail, Outcome::Ok),
            "no difference"
        );
        let mut report = report("a", 0.5);
        report.tables[0].rows[0].cells = vec![Cell::new(0.5, 0.5)];
        report.tables[0].rows[1].decisions = vec![Decision::new(true, &comparison(0.5))];
        assert!(!report.fails());
        let text = report.markdown();
        assert!(
            text.contains("| fused | .5000\\* |")
                && text.contains("1 decisions of significance: 1 OK."),
            "{text}"
        );
        report.tables[0].rows[1].decisions = vec![Decision::new(true, &comparison(-0.5))];
        assert!(report.fails() && report.markdown().contains("| fused | .5000 (FAIL: \\*) |"));
    }

    #[test]
    fn ranks_that_differ_from_the_print_fail_without_a_reason() {
        let rank = |expected: &str, found: Option<&str>, reason: Option<&str>| RankCell {
            expected: expected.to_owned(),
            found: found.map(str::to_owned),
            grade: found.map(|_| 2),
            reason: reason.map(str::to_owned),
        };
        let with = |ranks: Vec<RankCell>| Report {
            tables: Vec::new(),
            rankings: vec![RankingReport {
                id: "case".to_owned(),
                title: "A case".to_owned(),
                source: "Printed.".to_owned(),
                columns: vec![RankingColumn {
                    name: "run".to_owned(),
                    ranks,
                }],
            }],
            ..report("a", 0.5)
        };
        let known = with(vec![
            rank("d1", Some("d1"), None),
            rank("d2", Some("d3"), Some("equal scores")),
        ]);
        assert!(!known.fails());
        let text = known.markdown();
        assert!(
            text.contains("| 1 | d1 [2] |\n| 2 | d3 [2] (known: d2) |"),
            "{text}"
        );
        assert!(
            text.contains("2 ranks: 1 OK, 1 known.")
                && text.contains("run, rank 2, expected d2: equal scores")
        );
        let other = with(vec![rank("d1", Some("d2"), None)]);
        assert!(other.fails() && other.markdown().contains("d2 [2] (FAIL: d1)"));
        assert!(
            with(vec![rank("d1", None, None)]).fails(),
            "a ranking that ends too early"
        );
    }

    #[test]
    fn a_section_is_replaced_and_the_others_stay() {
        let first = report("b", 0.5).replace_section("");
        let both = report("a", 0.4).replace_section(&first);
        assert_eq!(
            marked_sections("condition", &both)
                .iter()
                .map(|(name, _)| name.as_str())
                .collect::<Vec<_>>(),
            ["a", "b"]
        );
        assert_eq!(report("a", 0.4).replace_section(&both), both);
        assert_eq!(
            marked_sections("condition", &both)[1],
            marked_sections("condition", &first)[0]
        );
        assert_ne!(report("a", 0.5).replace_section(&both), both);
        let table =
            "\n| | RR |\n|---|---|\n| one | .4000 (FAIL: .5000) |\n| fused | .5000 |\n".to_owned();
        assert_eq!(
            marked_sections("table", &first),
            [("b/t".to_owned(), table)]
        );
        assert!(
            first.contains("2 cells: 1 OK, 1 FAIL.")
                && first.contains("fused, over the best single run of each column: RR +.1000.")
        );
        assert!(report("b", 0.5).fails());
        assert_eq!(
            report("b", 0.5).by_topic().lines().nth(2),
            Some("t\tfused\tRR\tq1\t0.5")
        );
    }
}
