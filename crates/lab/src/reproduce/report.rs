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
    /// Differs by at most [`Cell::OKISH`].
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
            steps if steps <= (Cell::OKISH * 1e4).round() => Self::Okish,
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
    /// Measured score.
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
    pub const OKISH: f64 = 0.0005;

    /// Compares two scores in four decimals.
    #[must_use]
    pub fn new(expected: f64, measured: f64) -> Self {
        Self { expected, measured, outcome: Outcome::from_scores(expected, measured), reason: None, spread: None }
    }

    /// Builds a cell without an expected score.
    #[must_use]
    pub fn unexpected(measured: f64) -> Self {
        Self { outcome: Outcome::New, ..Self::new(measured, measured) }
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
        Self { expected: printed, outcome, reason: Some(reason), ..Self::new(expected, measured) }
    }

    /// Adds standard deviations.
    #[must_use]
    pub fn with_spread(self, spread: Spread) -> Self {
        Self { spread: Some(spread), ..self }
    }

    fn markdown(&self) -> String {
        let mut text = decimals(self.measured);
        if let Some(spread) = self.spread {
            let _ = write!(text, " ± {} ({})", decimals(spread.bootstrap), decimals(spread.published));
        }
        let _ = match self.outcome {
            Outcome::Ok => Ok(()),
            Outcome::New => write!(text, " (new)"),
            outcome => write!(text, " ({outcome}: {})", decimals(self.expected)),
        };
        text
    }
}

/// Formats a score with four decimals and without the leading zero.
fn decimals(score: f64) -> String {
    let text = format!("{score:.4}");
    text.strip_prefix('0').map_or(text.clone(), str::to_owned)
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
    /// Published scores of these measures on other data, in their order. Empty if there are none.
    pub published: Vec<Option<f64>>,
    /// Remark on the origin of the row.
    pub note: Option<String>,
    /// Value of every topic for each measure, as significance tests need them.
    pub by_topic: Vec<BTreeMap<String, f64>>,
    /// Comparisons with other rows.
    pub against: Vec<RowComparison>,
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
    /// Returns † if the row differs from all compared rows with p < .05 after correction, and ‡ with p < .01.
    #[must_use]
    pub fn mark(&self, column: usize) -> &'static str {
        let p = self.against.iter().filter_map(|against| against.comparisons.get(column)).map(|one| one.corrected_p);
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
    let (difference, p) = (signed(comparison.difference), p_value(comparison.p));
    let corrected = p_value(comparison.corrected_p);
    let effect = comparison.effect_size.map_or(String::new(), |effect| format!(", d {effect:.2}"));
    format!("{difference} (p {p}, corrected {corrected}{effect})")
}

/// Formats a difference with its sign and four decimals.
fn signed(difference: f64) -> String {
    format!("{}{}", if difference < 0.0 { "−" } else { "+" }, decimals(difference.abs()))
}

fn p_value(p: f64) -> String {
    if p < 1e-4 { format!("{p:.0e}") } else { decimals(p) }
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
    /// Averaging of topics.
    pub average: Average,
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
}

impl TableReport {
    fn markdown(&self) -> String {
        let mut columns = self.measures.clone();
        if self.has_published() {
            columns.extend(self.measures.iter().map(|measure| format!("published: {measure}")));
        }
        let mut text = format!("| | {} |\n|---|{}\n", columns.join(" | "), "---|".repeat(columns.len()));
        for row in &self.rows {
            let cell = |(column, cell): (usize, &Cell)| format!("{}{}", cell.markdown(), row.mark(column));
            let mut cells: Vec<String> = row.cells.iter().enumerate().map(cell).collect();
            cells.extend(row.published.iter().map(|score| score.map_or("–".to_owned(), decimals)));
            cells.resize(columns.len(), "–".to_owned());
            let _ = writeln!(text, "| {} | {} |", row.name, cells.join(" | "));
        }
        text
    }

    /// Returns true if the table has a column of published scores.
    #[must_use]
    pub fn has_published(&self) -> bool {
        self.rows.iter().any(|row| !row.published.is_empty())
    }

    /// Returns the number of cells of each outcome as text.
    #[must_use]
    pub fn summary(&self) -> String {
        let outcomes: Vec<Outcome> = self.rows.iter().flat_map(|row| &row.cells).map(|cell| cell.outcome).collect();
        let mut text = format!("{} cells", outcomes.len());
        for (place, outcome) in
            [Outcome::Ok, Outcome::Okish, Outcome::KnownDifference, Outcome::New, Outcome::Fail].into_iter().enumerate()
        {
            let count = outcomes.iter().filter(|other| **other == outcome).count();
            if count > 0 || outcome == Outcome::Ok {
                let _ = write!(text, "{} {count} {outcome}", if place == 0 { ":" } else { "," });
            }
        }
        text
    }

    /// Returns remarks on rows and cells, and comparisons of fused rows with the best single row of each measure.
    fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.rows.iter().flat_map(|row| &row.cells).any(|cell| cell.spread.is_some()) {
            remarks.push(SPREAD.to_owned());
        }
        if self.rows.iter().any(|row| !row.against.is_empty()) {
            remarks.push(TESTED.to_owned());
        }
        for row in &self.rows {
            for (measure, cell) in self.measures.iter().zip(&row.cells) {
                if let Some(reason) = &cell.reason {
                    remarks.push(format!("{}, {measure}, expected {}: {reason}", row.name, decimals(cell.expected)));
                }
            }
            remarks.extend(row.note.iter().map(|note| format!("{}: {note}.", row.name)));
            remarks.extend(row.fused.then(|| self.compare_with_best_single(row)).flatten());
            remarks.extend(row.against.iter().map(|against| row.describe_comparison(against, &self.measures)));
        }
        remarks
    }

    /// Compares a fused row with the best single row of each measure. Returns `None` without single rows.
    fn compare_with_best_single(&self, fused: &RowReport) -> Option<String> {
        let mut differences = Vec::with_capacity(self.measures.len());
        for (column, measure) in self.measures.iter().enumerate() {
            let single = self.rows.iter().filter(|row| !row.fused).map(|row| row.cells[column].measured);
            let difference = fused.cells[column].measured - single.reduce(f64::max)?;
            differences.push(format!("{measure} {}", signed(difference)));
        }
        Some(format!("{}, over the best single run of each column: {}.", fused.name, differences.join(", ")))
    }
}

impl Report {
    /// Returns true if a cell differs without a stated reason.
    #[must_use]
    pub fn fails(&self) -> bool {
        self.tables
            .iter()
            .flat_map(|table| &table.rows)
            .flat_map(|row| &row.cells)
            .any(|cell| cell.outcome == Outcome::Fail)
    }

    /// Returns a section in Markdown. It depends only on the condition and its data: it contains no date, time or
    /// machine.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!("## {}\n\n{}\n\n```sh\n{}\n```\n\n", self.title, self.about.trim(), self.command.trim());
        let _ = writeln!(text, "Verified first: {}.", self.collection);
        for table in &self.tables {
            let average = match table.average {
                Average::Micro => "mean over all topics",
                Average::Macro => "mean over folds of the means over their topics",
            };
            let _ = write!(text, "\n### {}\n\n{} Here: {average}.\n\n", table.title, table.source.trim());
            let (open, close) = markers("table", &format!("{}/{}", self.name, table.id));
            let _ = write!(text, "{open}\n{}{close}\n\n{}.\n", table.markdown(), table.summary());
            let remarks = table.remarks();
            if !remarks.is_empty() {
                let _ = write!(text, "\n- {}\n", remarks.join("\n- "));
            }
        }
        text
    }

    /// Replaces this condition's section in a file of results. Other sections stay unchanged.
    #[must_use]
    pub fn replace_section(&self, results: &str) -> String {
        let mut sections: BTreeMap<String, String> = marked_sections("condition", results).into_iter().collect();
        sections.insert(self.name.clone(), format!("\n{}", self.markdown()));
        let mut text = HEAD.to_owned();
        for (name, section) in &sections {
            let (open, close) = markers("condition", name);
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
                        let _ = writeln!(text, "{}\t{}\t{measure}\t{topic}\t{value}", table.id, row.name);
                    }
                }
            }
        }
        text
    }
}

const TESTED: &str = "† p < .05, ‡ p < .01 against the rows named below: paired t-test over topics, two-sided, corrected over all \
                      tested rows of a column (Holm); d is Cohen's, of the paired differences.";

const SPREAD: &str = "Behind ± the standard deviation of the mean over samples of topics: by the bootstrap (n of n, each as often \
                      as drawn, 10,000 times) and, in brackets, as the paper draws them (n / 2 of n, each once, 1,000 times).";

const HEAD: &str = "# Results\n\nWritten by `lodeseek reproduce`; do not edit. A cell shows what was computed; where that is not \
                    what was expected\nto four decimals, the expected score stands behind it: OKish up to .0005 away, known \
                    with a reason below, else FAIL.\n";

fn markers(kind: &str, name: &str) -> (String, String) {
    (format!("<!-- {kind} {name} -->"), format!("<!-- /{kind} {name} -->"))
}

/// Returns the texts between markers of a kind (`condition`, `table`), with their names.
#[must_use]
pub fn marked_sections(kind: &str, text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once(&format!("<!-- {kind} ")) {
        rest = after;
        let Some((name, body)) = after.split_once(" -->") else { break };
        if let Some((body, after)) = body.split_once(&markers(kind, name).1) {
            found.push((name.to_owned(), body.to_owned()));
            rest = after;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_decimals_decide() {
        let outcome = |expected, measured| Cell::new(expected, measured).outcome;
        assert_eq!(outcome(0.5877, 0.587_74), Outcome::Ok);
        assert_eq!(outcome(0.5877, 0.587_76), Outcome::Okish);
        assert_eq!(outcome(0.5877, 0.5882), Outcome::Okish);
        assert_eq!(outcome(0.5877, 0.5883), Outcome::Fail);
        let known =
            |expected, printed, measured| Cell::with_erratum(expected, printed, measured, "a typo".to_owned()).outcome;
        assert_eq!(known(0.5883, 0.5877, 0.5883), Outcome::KnownDifference);
        assert_eq!(known(0.5876, 0.5877, 0.5876), Outcome::Okish);
        assert_eq!(known(0.5877, 0.9, 0.6), Outcome::Fail, "a reason excuses the print, not the program");
        assert_eq!((decimals(0.5), decimals(1.0)), (".5000".to_owned(), "1.0000".to_owned()));
    }

    fn report(name: &str, measured: f64) -> Report {
        let row = |name: &str, fused, measured| RowReport {
            name: name.to_owned(),
            fused,
            cells: vec![Cell::new(0.5, measured)],
            published: Vec::new(),
            note: fused.then(|| "two runs".to_owned()),
            by_topic: vec![BTreeMap::from([("q1".to_owned(), measured)])],
            against: Vec::new(),
        };
        let rows = vec![row("one", false, 0.4), row("fused", true, measured)];
        let (title, source) = ("A table".to_owned(), "Somewhere.".to_owned());
        let table = TableReport {
            id: "t".to_owned(),
            title,
            source,
            average: Average::Micro,
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
        }
    }

    #[test]
    fn a_section_is_replaced_and_the_others_stay() {
        let first = report("b", 0.5).replace_section("");
        let both = report("a", 0.4).replace_section(&first);
        assert_eq!(
            marked_sections("condition", &both).iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
            ["a", "b"]
        );
        assert_eq!(report("a", 0.4).replace_section(&both), both);
        assert_eq!(marked_sections("condition", &both)[1], marked_sections("condition", &first)[0]);
        assert_ne!(report("a", 0.5).replace_section(&both), both);
        let table = "\n| | RR |\n|---|---|\n| one | .4000 (FAIL: .5000) |\n| fused | .5000 |\n".to_owned();
        assert_eq!(marked_sections("table", &first), [("b/t".to_owned(), table)]);
        assert!(
            first.contains("2 cells: 1 OK, 1 FAIL.")
                && first.contains("fused, over the best single run of each column: RR +.1000.")
        );
        assert!(report("b", 0.5).fails());
        assert_eq!(report("b", 0.5).by_topic().lines().nth(2), Some("t\tfused\tRR\tq1\t0.5"));
    }
}
