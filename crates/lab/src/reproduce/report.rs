//! What came out, held against what was expected.

use super::condition::Average;
use lodeseek_eval::Comparison;
use std::collections::BTreeMap;
use std::fmt::{self, Write};

/// How near a score comes to the expected one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Outcome {
    /// The same four decimals.
    Ok,
    /// At most [`Cell::OKISH`] away.
    Okish,
    /// Further away, for a reason that the condition states.
    Known,
    /// Nothing was expected.
    New,
    /// Further away.
    Fail,
}

impl Outcome {
    fn of(expected: f64, measured: f64) -> Self {
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
            Self::Known => "known",
            Self::New => "new",
            Self::Fail => "FAIL",
        })
    }
}

/// One score.
#[derive(Clone, PartialEq, Debug)]
pub struct Cell {
    /// What was expected.
    pub expected: f64,
    /// What came out.
    pub measured: f64,
    /// How near that is.
    pub outcome: Outcome,
    /// Why a difference is known.
    pub reason: Option<String>,
    /// How far it spreads over samples of topics, where that was asked for.
    pub spread: Option<Spread>,
}

/// Standard deviations of a mean over samples of topics.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Spread {
    /// By the bootstrap.
    pub bootstrap: f64,
    /// As the publication draws samples.
    pub published: f64,
}

impl Cell {
    /// The largest difference that is still OKish.
    pub const OKISH: f64 = 0.0005;

    /// Compares, four decimals of each.
    #[must_use]
    pub fn new(expected: f64, measured: f64) -> Self {
        Self { expected, measured, outcome: Outcome::of(expected, measured), reason: None, spread: None }
    }

    /// A cell of which nothing was expected.
    #[must_use]
    pub fn unexpected(measured: f64) -> Self {
        Self { outcome: Outcome::New, ..Self::new(measured, measured) }
    }

    /// A cell whose source is known to print something else: it fails where it is off what is expected, as any other; else
    /// the printed score is what it is held against.
    #[must_use]
    pub fn known(expected: f64, printed: f64, measured: f64, reason: String) -> Self {
        if Outcome::of(expected, measured) == Outcome::Fail {
            return Self::new(expected, measured);
        }
        let outcome = match Outcome::of(printed, measured) {
            Outcome::Fail => Outcome::Known,
            near => near,
        };
        Self { expected: printed, outcome, reason: Some(reason), ..Self::new(expected, measured) }
    }

    /// With how far it spreads.
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

/// Four decimals without the zero before them.
fn decimals(score: f64) -> String {
    let text = format!("{score:.4}");
    text.strip_prefix('0').map_or(text.clone(), str::to_owned)
}

/// A row.
#[derive(Clone, PartialEq, Debug)]
pub struct RowReport {
    /// Its name.
    pub name: String,
    /// Whether it was fused of other runs.
    pub fused: bool,
    /// The scores, in the order of the measures.
    pub cells: Vec<Cell>,
    /// What was published for these measures on other data, in their order; empty where nothing was.
    pub published: Vec<Option<f64>>,
    /// How it came about, where that is worth a line.
    pub note: Option<String>,
    /// The value of every topic, for each measure: what a significance test needs.
    pub by_topic: Vec<BTreeMap<String, f64>>,
    /// How it differs from other rows.
    pub against: Vec<Against>,
}

/// How a row differs from another, in the order of the measures; by the paired t-test.
#[derive(Clone, PartialEq, Debug)]
pub struct Against {
    /// The other row.
    pub row: String,
    /// The differences. P values are corrected over all tested rows of a column (Holm).
    pub comparisons: Vec<Comparison>,
}

impl RowReport {
    /// † where the row differs from all it is held against with p < .05, ‡ with p < .01, after correction.
    #[must_use]
    pub fn mark(&self, column: usize) -> &'static str {
        let p = self.against.iter().filter_map(|against| against.comparisons.get(column)).map(|one| one.corrected_p);
        match p.reduce(f64::max) {
            Some(p) if p < 0.01 => "‡",
            Some(p) if p < 0.05 => "†",
            _ => "",
        }
    }

    fn tested(&self, against: &Against, measures: &[String]) -> String {
        let one = |(measure, comparison): (&String, &Comparison)| {
            let sign = if comparison.difference < 0.0 { "−" } else { "+" };
            let effect = comparison.effect_size.map_or(String::new(), |effect| format!(", d {effect:.2}"));
            let (difference, p) = (decimals(comparison.difference.abs()), p_value(comparison.p));
            format!("{measure} {sign}{difference} (p {p}, corrected {}{effect})", p_value(comparison.corrected_p))
        };
        let all: Vec<String> = measures.iter().zip(&against.comparisons).map(one).collect();
        format!("{} against {}: {}.", self.name, against.row, all.join("; "))
    }
}

fn p_value(p: f64) -> String {
    if p < 1e-4 { format!("{p:.0e}") } else { decimals(p) }
}

/// A table.
#[derive(Clone, PartialEq, Debug)]
pub struct TableReport {
    /// Its name within the condition.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// Where the expected numbers come from.
    pub source: String,
    /// How the values of topics became one.
    pub average: Average,
    /// The columns.
    pub measures: Vec<String>,
    /// The rows.
    pub rows: Vec<RowReport>,
}

/// A condition's outcome.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// The condition's name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// What it is.
    pub about: String,
    /// What to type.
    pub command: String,
    /// The collection's counts, verified.
    pub collection: String,
    /// The tables.
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

    /// Whether there is something published beside what is measured.
    #[must_use]
    pub fn has_published(&self) -> bool {
        self.rows.iter().any(|row| !row.published.is_empty())
    }

    /// How many cells came out how.
    #[must_use]
    pub fn summary(&self) -> String {
        let outcomes: Vec<Outcome> = self.rows.iter().flat_map(|row| &row.cells).map(|cell| cell.outcome).collect();
        let mut text = format!("{} cells", outcomes.len());
        for (place, outcome) in
            [Outcome::Ok, Outcome::Okish, Outcome::Known, Outcome::New, Outcome::Fail].into_iter().enumerate()
        {
            let count = outcomes.iter().filter(|other| **other == outcome).count();
            if count > 0 || outcome == Outcome::Ok {
                let _ = write!(text, "{} {count} {outcome}", if place == 0 { ":" } else { "," });
            }
        }
        text
    }

    /// Remarks on rows and cells, and how fused rows compare with the best single one of each measure.
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
            remarks.extend(row.fused.then(|| self.comparison(row)).flatten());
            remarks.extend(row.against.iter().map(|against| row.tested(against, &self.measures)));
        }
        remarks
    }

    fn comparison(&self, fused: &RowReport) -> Option<String> {
        let best = |place: usize| {
            let single = self.rows.iter().filter(|row| !row.fused).map(|row| row.cells[place].measured);
            single.fold(None, |best: Option<f64>, value| Some(best.map_or(value, |best| best.max(value))))
        };
        let difference = |(place, measure): (usize, &String)| {
            let difference = fused.cells[place].measured - best(place)?;
            Some(format!("{measure} {}{}", if difference < 0.0 { "−" } else { "+" }, decimals(difference.abs())))
        };
        let differences = self.measures.iter().enumerate().map(difference).collect::<Option<Vec<_>>>()?;
        Some(format!("{}, over the best single run of each column: {}.", fused.name, differences.join(", ")))
    }
}

impl Report {
    /// Whether some cell is off without a stated reason.
    #[must_use]
    pub fn fails(&self) -> bool {
        self.tables
            .iter()
            .flat_map(|table| &table.rows)
            .flat_map(|row| &row.cells)
            .any(|cell| cell.outcome == Outcome::Fail)
    }

    /// A section in Markdown. It depends on the condition and its data alone: no date, no time, no machine.
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

    /// A file of results with this condition's section put in its place, and all others as they were.
    #[must_use]
    pub fn put_into(&self, results: &str) -> String {
        let mut sections: BTreeMap<String, String> = quoted("condition", results).into_iter().collect();
        sections.insert(self.name.clone(), format!("\n{}", self.markdown()));
        let mut text = HEAD.to_owned();
        for (name, section) in &sections {
            let (open, close) = markers("condition", name);
            let _ = write!(text, "\n{open}{section}{close}\n");
        }
        text
    }

    /// Every topic's value in tab-separated columns: table, row, measure, topic, value.
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

/// The texts between markers of a kind (`condition`, `table`), with their names.
#[must_use]
pub fn quoted(kind: &str, text: &str) -> Vec<(String, String)> {
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
        let known = |expected, printed, measured| Cell::known(expected, printed, measured, "a typo".to_owned()).outcome;
        assert_eq!(known(0.5883, 0.5877, 0.5883), Outcome::Known);
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
        let first = report("b", 0.5).put_into("");
        let both = report("a", 0.4).put_into(&first);
        assert_eq!(quoted("condition", &both).iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(report("a", 0.4).put_into(&both), both);
        assert_eq!(quoted("condition", &both)[1], quoted("condition", &first)[0]);
        assert_ne!(report("a", 0.5).put_into(&both), both);
        let table = "\n| | RR |\n|---|---|\n| one | .4000 (FAIL: .5000) |\n| fused | .5000 |\n".to_owned();
        assert_eq!(quoted("table", &first), [("b/t".to_owned(), table)]);
        assert!(
            first.contains("2 cells: 1 OK, 1 FAIL.")
                && first.contains("fused, over the best single run of each column: RR +.1000.")
        );
        assert!(report("b", 0.5).fails());
        assert_eq!(report("b", 0.5).by_topic().lines().nth(2), Some("t\tfused\tRR\tq1\t0.5"));
    }
}
