//! Output of an evaluation as a text table, Markdown, LaTeX, CSV and JSON.

use super::super::terminal::safe;
use lodeseek_eval::{Average, Comparison, Correction, Metric, SignificanceTest, TopicValues};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Format {
    Table,
    Markdown,
    Latex,
    Csv,
    Json,
}

/// Values of one run.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) tag: String,
    /// Values by topic, one column for each measure.
    pub(super) columns: Vec<TopicValues>,
    /// Comparisons with the baselines. Empty for the first baseline and without one.
    pub(super) comparisons: Vec<RowComparison>,
}

/// Comparisons of a row with a baseline.
pub(super) struct RowComparison {
    /// Place of the baseline in the rows.
    pub(super) baseline: usize,
    /// One for each measure.
    pub(super) measures: Vec<Comparison>,
}

/// Maximum number of baselines: each has a letter.
pub(super) const MAX_BASELINES: usize = 16;

/// Baselines of the comparisons.
pub(super) struct Baselines {
    /// Their places in the rows.
    pub(super) places: Vec<usize>,
    pub(super) test: SignificanceTest,
    pub(super) correction: Correction,
}

impl Baselines {
    /// Returns the letter of a baseline, by its place in the rows.
    fn letter(&self, place: usize) -> char {
        let rank = self
            .places
            .iter()
            .position(|baseline| *baseline == place)
            .unwrap_or(0);
        char::from(b'a' + rank as u8)
    }
}

pub(super) struct Report<'f> {
    pub(super) qrels: String,
    pub(super) topics: usize,
    pub(super) metrics: Vec<Metric>,
    pub(super) average: Average<'f>,
    pub(super) baselines: Option<Baselines>,
    /// If true, each topic has a row of its own.
    pub(super) topic_rows: bool,
    pub(super) rows: Vec<Row>,
}

impl Report<'_> {
    pub(super) fn write(&self, format: Format, out: &mut dyn Write) -> anyhow::Result<()> {
        match format {
            Format::Table => self.write_table(out)?,
            Format::Markdown => self.write_markdown(out)?,
            Format::Latex => self.write_latex(out)?,
            Format::Csv => self.write_csv(out)?,
            Format::Json => self.write_json(out)?,
        }
        Ok(())
    }

    /// Writes aligned columns, significance marks and a legend.
    fn write_table(&self, out: &mut dyn Write) -> io::Result<()> {
        let lines = self.lines();
        let width = lines
            .iter()
            .map(|(name, _)| name.chars().count())
            .chain([16])
            .max()
            .unwrap_or_default();
        let headers: Vec<String> = self.metrics.iter().map(Metric::to_string).collect();
        let room_for_mark = match &self.baselines {
            Some(baselines) => baselines.places.len(),
            None => 0,
        };
        let mut line = format!("{:<width$}", "run");
        for header in &headers {
            line += &format!(" {header:>8}{:room_for_mark$}", "");
        }
        writeln!(out, "{line}   ({})", self.describe_topics())?;
        for (name, cells) in lines {
            let mut line = format!("{name:<width$}");
            for ((value, mark), header) in cells.iter().zip(&headers) {
                let column = header.chars().count().max(8);
                line += &format!(" {value:>column$.4}{mark:room_for_mark$}");
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        if let Some(legend) = self.legend() {
            writeln!(out, "{legend}")?;
        }
        Ok(())
    }

    /// Writes a table of the values and a table of the comparisons.
    fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        let header: Vec<String> = self.metrics.iter().map(Metric::to_string).collect();
        writeln!(
            out,
            "| run | {} |\n|---|{}",
            header.join(" | "),
            "---:|".repeat(header.len())
        )?;
        for (name, cells) in self.lines() {
            let cells: Vec<String> = cells
                .iter()
                .map(|(value, mark)| format!("{value:.4}{mark}"))
                .collect();
            writeln!(
                out,
                "| {} | {} |",
                name.replace('|', "\\|"),
                cells.join(" | ")
            )?;
        }
        writeln!(out, "\n{}.", capitalize(&self.describe_topics()))?;
        let Some(legend) = self.legend() else {
            return Ok(());
        };
        writeln!(
            out,
            "{legend}\n\n| run | baseline | measure | difference | 95 % interval | d | p | corrected p |"
        )?;
        writeln!(out, "|---|---|---|---:|---:|---:|---:|---:|")?;
        for row in &self.rows {
            for (baseline, metric, comparison) in self.comparisons(row) {
                let interval = comparison
                    .interval
                    .map(|(low, high)| format!("{low:+.4} … {high:+.4}"));
                let effect = comparison.effect_size.map(|effect| format!("{effect:+.2}"));
                let difference = comparison.difference;
                let (p, corrected) = (
                    format_probability(comparison.p),
                    format_probability(comparison.corrected_p),
                );
                let interval = interval.as_deref().unwrap_or("–");
                let effect = effect.as_deref().unwrap_or("–");
                let (name, baseline) = (row.name.replace('|', "\\|"), baseline.replace('|', "\\|"));
                writeln!(
                    out,
                    "| {name} | {baseline} | {metric} | {difference:+.4} | {interval} | {effect} | {p} | {corrected} |"
                )?;
            }
        }
        Ok(())
    }

    /// Writes a table for LaTeX's package booktabs, with significance marks. The legend is a comment, for use in the caption.
    fn write_latex(&self, out: &mut dyn Write) -> io::Result<()> {
        let header: Vec<String> = self
            .metrics
            .iter()
            .map(|metric| latex_text(&metric.to_string()))
            .collect();
        writeln!(
            out,
            "\\begin{{tabular}}{{l{}}}\n\\toprule",
            "r".repeat(header.len())
        )?;
        writeln!(out, "run & {} \\\\\n\\midrule", header.join(" & "))?;
        for (name, cells) in self.lines() {
            let indent = if name.starts_with(' ') { "\\quad " } else { "" };
            let cells: Vec<String> = cells
                .iter()
                .map(|(value, mark)| format!("{value:.4}{}", latex_marks(mark)))
                .collect();
            writeln!(
                out,
                "{indent}{} & {} \\\\",
                latex_text(name.trim_start()),
                cells.join(" & ")
            )?;
        }
        writeln!(
            out,
            "\\bottomrule\n\\end{{tabular}}\n% {}.",
            capitalize(&self.describe_topics())
        )?;
        if let Some(legend) = self.legend() {
            writeln!(out, "% {legend}")?;
        }
        Ok(())
    }

    /// Writes one line for each run and measure (topic `all`), and with `topic_rows` one for each topic. With several baselines,
    /// the line of all topics is repeated for each of them.
    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "run,measure,topic,value,baseline,difference,interval_low,interval_high,effect_size,p,corrected_p"
        )?;
        for row in &self.rows {
            for (place, column) in row.columns.iter().enumerate() {
                let (name, metric) = (
                    quote_csv(&row.name),
                    quote_csv(&column.metric().to_string()),
                );
                for (topic, value) in self.topics_of(column) {
                    writeln!(out, "{name},{metric},{},{value},,,,,,,", quote_csv(topic))?;
                }
                let mean = column.mean(self.average);
                if row.comparisons.is_empty() {
                    writeln!(out, "{name},{metric},all,{mean},,,,,,,")?;
                }
                for one in &row.comparisons {
                    let comparison = &one.measures[place];
                    let (low, high) = comparison.interval.unzip();
                    let (difference, p) = (Some(comparison.difference), Some(comparison.p));
                    let numbers = [
                        difference,
                        low,
                        high,
                        comparison.effect_size,
                        p,
                        Some(comparison.corrected_p),
                    ];
                    let numbers = numbers
                        .map(|number| number.map(|number| number.to_string()).unwrap_or_default());
                    let baseline = quote_csv(&self.rows[one.baseline].name);
                    writeln!(
                        out,
                        "{name},{metric},all,{mean},{baseline},{}",
                        numbers.join(",")
                    )?;
                }
            }
        }
        Ok(())
    }

    fn write_json(&self, out: &mut dyn Write) -> anyhow::Result<()> {
        let comparison = self.baselines.as_ref().map(|baselines| JsonBaselines {
            baselines: baselines
                .places
                .iter()
                .map(|&place| self.run_name(place))
                .collect(),
            test: test_name(baselines.test),
            correction: correction_name(baselines.correction),
        });
        let report = JsonReport {
            qrels: &self.qrels,
            topics: self.topics,
            average: self.average_name(),
            measures: self.metrics.iter().map(Metric::to_string).collect(),
            comparison,
            runs: self.rows.iter().map(|row| self.json_run(row)).collect(),
        };
        serde_json::to_writer_pretty(&mut *out, &report)?;
        writeln!(out)?;
        Ok(())
    }

    fn json_run<'r>(&'r self, row: &'r Row) -> JsonRun<'r> {
        let mut topics = BTreeMap::<&str, BTreeMap<String, f64>>::new();
        for column in &row.columns {
            for (topic, value) in self.topics_of(column) {
                topics
                    .entry(topic)
                    .or_default()
                    .insert(column.metric().to_string(), value);
            }
        }
        let mut comparisons = BTreeMap::<String, Vec<JsonComparison<'r>>>::new();
        for (baseline, metric, comparison) in self.comparisons(row) {
            comparisons
                .entry(metric.to_string())
                .or_default()
                .push(JsonComparison::new(baseline, comparison));
        }
        let (averaged_topics, missing_topics) = match row.columns.first() {
            Some(column) => (
                column.averaged_values(self.average).count(),
                column.missing(),
            ),
            None => (0, 0),
        };
        JsonRun {
            run: &row.name,
            tag: &row.tag,
            topics: averaged_topics,
            missing_topics,
            means: row
                .columns
                .iter()
                .map(|column| (column.metric().to_string(), column.mean(self.average)))
                .collect(),
            comparisons,
            per_query: topics,
        }
    }

    /// Returns the comparisons of a row: name of the baseline, measure, comparison.
    fn comparisons<'r>(
        &'r self,
        row: &'r Row,
    ) -> impl Iterator<Item = (&'r str, &'r Metric, &'r Comparison)> {
        row.comparisons.iter().flat_map(move |one| {
            let baseline = self.rows[one.baseline].name.as_str();
            self.metrics
                .iter()
                .zip(&one.measures)
                .map(move |(metric, comparison)| (baseline, metric, comparison))
        })
    }

    /// Returns the lines of a table. Each value has its significance marks.
    fn lines(&self) -> Vec<(String, Vec<(f64, String)>)> {
        let mut lines = Vec::new();
        for row in &self.rows {
            let means = row.columns.iter().enumerate();
            let cells =
                means.map(|(place, column)| (column.mean(self.average), self.marks(row, place)));
            lines.push((safe(&row.name), cells.collect()));
            let mut topics = BTreeMap::<&str, Vec<(f64, String)>>::new();
            for (topic, value) in row.columns.iter().flat_map(|column| self.topics_of(column)) {
                topics
                    .entry(topic)
                    .or_default()
                    .push((value, String::new()));
            }
            lines.extend(
                topics
                    .into_iter()
                    .map(|(topic, cells)| (format!("  {}", safe(topic)), cells)),
            );
        }
        lines
    }

    /// Returns the significance marks of a value: a dagger, or the letters of the baselines if there are several.
    fn marks(&self, row: &Row, measure: usize) -> String {
        let Some(baselines) = &self.baselines else {
            return String::new();
        };
        let compared = row
            .comparisons
            .iter()
            .map(|one| (one.baseline, &one.measures[measure]));
        match baselines.places.len() {
            1 => compared
                .map(|(_, comparison)| significance_mark(comparison))
                .collect(),
            _ => compared
                .filter(|(_, comparison)| comparison.corrected_p < 0.05)
                .map(|(baseline, _)| superscript(baselines.letter(baseline)))
                .collect(),
        }
    }

    /// Returns the counted topics with their values, or nothing without `topic_rows`.
    fn topics_of<'v>(&self, column: &'v TopicValues) -> impl Iterator<Item = (&'v str, f64)> {
        let shown = if self.topic_rows { usize::MAX } else { 0 };
        column
            .averaged_values(self.average)
            .take(shown)
            .collect::<Vec<_>>()
            .into_iter()
    }

    fn run_name(&self, place: usize) -> &str {
        &self.rows[place].name
    }

    fn average_name(&self) -> &'static str {
        match self.average {
            Average::AllTopics => "all",
            Average::Intersection => "intersection",
            Average::Macro(_) => "macro",
        }
    }

    fn describe_topics(&self) -> String {
        match self.average {
            Average::AllTopics => format!("{} topics", self.topics),
            Average::Intersection => "the topics that each run ranks".to_owned(),
            Average::Macro(folds) => {
                format!("{} topics, mean of {} folds", self.topics, folds.0.len())
            }
        }
    }

    fn legend(&self) -> Option<String> {
        let baselines = self.baselines.as_ref()?;
        let test = test_name(baselines.test);
        let correction = correction_name(baselines.correction);
        if let [baseline] = baselines.places[..] {
            let others = match self.rows.len() - 1 {
                1 => "the other run".to_owned(),
                count => format!("the {count} other runs"),
            };
            let corrected = match baselines.correction {
                Correction::None => correction.to_owned(),
                _ => format!("corrected over {others} ({correction})"),
            };
            let name = self.run_name(baseline);
            return Some(format!(
                "† p < .05, ‡ p < .01: differs from {name}; {test}, by topic, {corrected}"
            ));
        }
        let mut names = Vec::with_capacity(baselines.places.len());
        for &place in &baselines.places {
            let letter = superscript(baselines.letter(place));
            names.push(format!("{letter} {}", self.run_name(place)));
        }
        let pairs: usize = self.rows.iter().map(|row| row.comparisons.len()).sum();
        let corrected = match baselines.correction {
            Correction::None => correction.to_owned(),
            _ => format!("corrected over {pairs} comparisons ({correction})"),
        };
        Some(format!(
            "{}: differs from this run with p < .05; {test}, by topic, {corrected}",
            names.join(", ")
        ))
    }
}

fn significance_mark(comparison: &Comparison) -> &'static str {
    match comparison.corrected_p {
        p if p < 0.01 => "‡",
        p if p < 0.05 => "†",
        _ => "",
    }
}

/// Returns a letter as a superscript.
fn superscript(letter: char) -> char {
    const LETTERS: [char; MAX_BASELINES] = [
        'ᵃ', 'ᵇ', 'ᶜ', 'ᵈ', 'ᵉ', 'ᶠ', 'ᵍ', 'ʰ', 'ⁱ', 'ʲ', 'ᵏ', 'ˡ', 'ᵐ', 'ⁿ', 'ᵒ', 'ᵖ',
    ];
    LETTERS[usize::from(letter as u8 - b'a')]
}

/// Returns significance marks as a superscript of LaTeX.
fn latex_marks(marks: &str) -> String {
    match marks {
        "" => String::new(),
        "†" => "$^{\\dagger}$".to_owned(),
        "‡" => "$^{\\ddagger}$".to_owned(),
        letters => {
            let plain = letters
                .chars()
                .filter_map(|mark| ('a'..='p').find(|letter| superscript(*letter) == mark));
            format!("$^{{{}}}$", plain.collect::<String>())
        }
    }
}

/// Escapes the special characters of LaTeX.
fn latex_text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' => escaped.push_str("\\textbackslash{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '<' => escaped.push_str("\\textless{}"),
            '>' => escaped.push_str("\\textgreater{}"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => escaped.extend(['\\', character]),
            _ => escaped.push(character),
        }
    }
    escaped
}

fn format_probability(p: f64) -> String {
    if p < 0.0001 {
        "< .0001".to_owned()
    } else {
        format!("{p:.4}")
    }
}

fn test_name(test: SignificanceTest) -> String {
    match test {
        SignificanceTest::StudentT => "paired t-test".to_owned(),
        SignificanceTest::Bootstrap(drawn) => {
            format!("paired bootstrap test, {} samples", drawn.samples)
        }
        SignificanceTest::Randomisation(drawn) => {
            format!(
                "paired randomisation test, exact or {} samples",
                drawn.samples
            )
        }
    }
}

fn correction_name(correction: Correction) -> &'static str {
    match correction {
        Correction::Holm => "Holm",
        Correction::Bonferroni => "Bonferroni",
        Correction::None => "not corrected",
    }
}

fn capitalize(text: &str) -> String {
    let mut characters = text.chars();
    characters
        .next()
        .map(|first| first.to_uppercase().chain(characters).collect())
        .unwrap_or_default()
}

/// Quotes a CSV field if necessary (RFC 4180).
fn quote_csv(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[derive(Serialize)]
struct JsonReport<'r> {
    qrels: &'r str,
    topics: usize,
    average: &'static str,
    measures: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<JsonBaselines<'r>>,
    runs: Vec<JsonRun<'r>>,
}

#[derive(Serialize)]
struct JsonBaselines<'r> {
    baselines: Vec<&'r str>,
    test: String,
    correction: &'static str,
}

#[derive(Serialize)]
struct JsonRun<'r> {
    run: &'r str,
    tag: &'r str,
    /// Number of topics in the means.
    topics: usize,
    missing_topics: usize,
    means: BTreeMap<String, f64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    comparisons: BTreeMap<String, Vec<JsonComparison<'r>>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    per_query: BTreeMap<&'r str, BTreeMap<String, f64>>,
}

#[derive(Serialize)]
struct JsonComparison<'r> {
    baseline: &'r str,
    topics: usize,
    difference: f64,
    interval: Option<(f64, f64)>,
    effect_size: Option<f64>,
    p: f64,
    corrected_p: f64,
}

impl<'r> JsonComparison<'r> {
    fn new(baseline: &'r str, comparison: &Comparison) -> Self {
        let Comparison {
            topics,
            difference,
            p,
            corrected_p,
            effect_size,
            interval,
        } = *comparison;
        Self {
            baseline,
            topics,
            difference,
            interval,
            effect_size,
            p,
            corrected_p,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_characters_of_latex_are_escaped() {
        assert_eq!(latex_text("bm25_a & 5 % {x}"), r"bm25\_a \& 5 \% \{x\}");
        assert_eq!(
            latex_text("bm25>>dpr:m"),
            r"bm25\textgreater{}\textgreater{}dpr:m"
        );
        assert_eq!(
            latex_text(r"a\b^~#$"),
            r"a\textbackslash{}b\textasciicircum{}\textasciitilde{}\#\$"
        );
    }
}
