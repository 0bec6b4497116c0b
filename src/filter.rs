//! Arguments that filter datasets, and the output of facet counts.

use super::terminal::{grouped, safe};
use super::values::parse_year;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use lodeseek_catalog::{BoundingBox, Period};
use lodeseek_engine::{
    BrowseRequest, ColumnCondition, EngineError, Facet, FacetCounts, Filter, IndexedCatalog,
    ParseFacetError, UnknownValue, ValueCount, facet_label, facet_value,
};
use lodeseek_eval::Topic;
use std::io::{self, Write};
use std::str::FromStr;

#[derive(clap::Args, Debug)]
pub(super) struct FilterArguments {
    /// Only datasets known in or after this year, and datasets without a year.
    #[arg(long, value_name = "YEAR", value_parser = parse_year, help_heading = HEADING)]
    since: Option<i32>,
    /// Only datasets known in or before this year, and datasets without a year.
    #[arg(long, value_name = "YEAR", value_parser = parse_year, help_heading = HEADING)]
    before: Option<i32>,
    /// Only datasets whose area has a point in common with this box, in degrees: west,south,east,north. Datasets of unknown
    /// area are excluded.
    #[arg(long, value_name = "BOX", allow_hyphen_values = true, help_heading = HEADING)]
    within: Option<BoundingBox>,
    /// Only datasets whose period has a day in common with this one: 2010..2015, 2010-05-01.., ..2015, 2010. Datasets of
    /// unknown period are excluded.
    #[arg(long, value_name = "PERIOD", allow_hyphen_values = true, help_heading = HEADING)]
    covers: Option<Period>,
    /// Only datasets with this column in a table: its name, or a condition on its numbers such as "population > 1000000" (>, >=, <,
    /// <=). Repeatable: all must be satisfied.
    #[arg(long, value_name = "COLUMN", help_heading = HEADING)]
    column: Vec<ColumnCondition>,
    #[command(flatten)]
    values: FacetValues,
}

/// Heading of the arguments in the help.
const HEADING: &str = "Filters";

/// Name of the argument for values of facets.
const FILTER: &str = "filter";
const FILTER_HELP: &str = "Only datasets with this value of a facet: task, modality, theme, suggestedTheme, class, keyword, publisher, \
     creator, format, license, language, vocabulary or source, as in `format=CSV`, `language=German` or `class=foaf:Person`; --facets \
     lists values. Repeatable: each facet must match, by one of its values. `--keyword VALUE`, `--file-format VALUE` and so on are \
     short for it";

/// Values of facets, of `--filter` and of a hidden argument for each facet, with which scripts filter since the first version.
#[derive(Debug, Default)]
struct FacetValues(Vec<FacetValue>);

/// Returns the name of the argument for a facet alone. `--format` is that of the output.
fn argument_of(facet: Facet) -> &'static str {
    match facet {
        Facet::Format => "file-format",
        Facet::SuggestedTheme => "suggested-theme",
        other => other.name(),
    }
}

impl Args for FacetValues {
    fn augment_args(command: Command) -> Command {
        let filter = Arg::new(FILTER)
            .long(FILTER)
            .value_name("FACET=VALUE")
            .help(FILTER_HELP)
            .help_heading(HEADING)
            .action(ArgAction::Append)
            .value_parser(FacetValue::from_str);
        let mut command = command.arg(filter);
        for facet in Facet::ALL {
            let name = argument_of(facet);
            let argument = Arg::new(name)
                .long(name)
                .hide(true)
                .action(ArgAction::Append);
            command = command.arg(argument);
        }
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for FacetValues {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let values = matches.get_many::<FacetValue>(FILTER);
        let mut values: Vec<FacetValue> = values.into_iter().flatten().cloned().collect();
        for facet in Facet::ALL {
            let texts = matches.get_many::<String>(argument_of(facet));
            for text in texts.into_iter().flatten() {
                let value = text.trim().to_owned();
                if !value.is_empty() {
                    values.push(FacetValue { facet, value });
                }
            }
        }
        Ok(Self(values))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Facet and value of `--filter`.
#[derive(Clone, PartialEq, Eq, Debug)]
struct FacetValue {
    facet: Facet,
    value: String,
}

impl FromStr for FacetValue {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let missing = "expected FACET=VALUE, such as format=CSV";
        let (facet, value) = text.split_once('=').ok_or(missing)?;
        let value = value.trim();
        if value.is_empty() {
            return Err(missing.to_owned());
        }
        let facet = facet
            .trim()
            .parse()
            .map_err(|error: ParseFacetError| error.to_string())?;
        Ok(Self {
            facet,
            value: value.to_owned(),
        })
    }
}

impl FilterArguments {
    /// Returns the filter that the arguments specify.
    ///
    /// # Errors
    /// If the first year is later than the last one.
    pub(super) fn filter(&self) -> anyhow::Result<Filter> {
        let Self {
            since,
            before: until,
            within,
            covers,
            ..
        } = *self;
        if let (Some(first), Some(last)) = (since, until) {
            anyhow::ensure!(
                first <= last,
                "--since {first} is later than --before {last}: no year is in between"
            );
        }
        let mut filter = Filter {
            since,
            until,
            within,
            covers,
            columns: self.column.clone(),
            ..Filter::default()
        };
        for FacetValue { facet, value } in &self.values.0 {
            filter = filter.with(*facet, facet_value(*facet, value));
        }
        Ok(filter)
    }

    /// Returns the conditions that no dataset satisfies, as phrases such as `the license CC (did you mean CC-BY-4.0?)`. As a filter,
    /// each of them excludes all datasets.
    ///
    /// `unknown`: the values of facets that no dataset has.
    pub(super) fn unsatisfied_conditions(
        &self,
        catalog: &IndexedCatalog,
        unknown: &[UnknownValue],
    ) -> Result<Vec<String>, EngineError> {
        let mut phrases = Vec::new();
        for (phrase, filter) in self.single_filters() {
            if !passes_any(catalog, filter)? {
                phrases.push(phrase);
            }
        }
        for UnknownValue {
            facet,
            value,
            similar,
        } in unknown
        {
            phrases.push(unknown_phrase(facet.name(), value, similar));
        }
        Ok(phrases)
    }

    /// Returns a filter for each condition that is no value of a facet, with its phrase.
    fn single_filters(&self) -> Vec<(String, Filter)> {
        let mut filters = Vec::new();
        if let Some(since) = self.since {
            let filter = Filter {
                since: Some(since),
                ..Filter::default()
            };
            filters.push((format!("a year from {since} on"), filter));
        }
        if let Some(until) = self.before {
            let filter = Filter {
                until: Some(until),
                ..Filter::default()
            };
            filters.push((format!("a year up to {until}"), filter));
        }
        if let Some(within) = self.within {
            let filter = Filter {
                within: Some(within),
                ..Filter::default()
            };
            filters.push((format!("an area in {within}"), filter));
        }
        if let Some(covers) = self.covers {
            let filter = Filter {
                covers: Some(covers),
                ..Filter::default()
            };
            filters.push((format!("a day in {covers}"), filter));
        }
        for column in &self.column {
            let filter = Filter {
                columns: vec![column.clone()],
                ..Filter::default()
            };
            filters.push((format!("the column {}", safe(&column.to_string())), filter));
        }
        filters
    }
}

/// Returns true if a dataset passes a filter.
fn passes_any(catalog: &IndexedCatalog, filter: Filter) -> Result<bool, EngineError> {
    let request = BrowseRequest {
        filter,
        ..BrowseRequest::default()
    };
    Ok(catalog.browse(&request)?.total > 0)
}

/// Returns a value that no dataset has as a phrase: `the license CC (did you mean CC-BY-4.0?)`.
pub(super) fn unknown_phrase(facet: &str, value: &str, similar: &[String]) -> String {
    let mut phrase = format!("the {} {}", safe(facet), safe(value));
    if !similar.is_empty() {
        phrase += &format!(" (did you mean {}?)", safe(&similar.join(" or ")));
    }
    phrase
}

/// Returns a value of a facet as the command line shows it.
fn value_label(facet: Facet, value: &ValueCount) -> String {
    if facet.has_iris() {
        facet_label(facet, &value.value)
    } else {
        value.value.clone()
    }
}

/// Returns the filter of a topic: if it has a year, only datasets and works up to this year, and those of unknown year.
pub(super) fn topic_filter(topic: &Topic) -> Filter {
    Filter {
        until: topic.year,
        ..Filter::default()
    }
}

/// Maximum number of values printed for a facet.
pub(super) const MAX_FACET_VALUES: usize = 8;

/// Facets after the years: access and content.
const YEARS_BEFORE: [Facet; 6] = [
    Facet::Format,
    Facet::License,
    Facet::Language,
    Facet::Class,
    Facet::Vocabulary,
    Facet::Source,
];

/// Writes one line for each facet and for the years.
pub(super) fn write_counts(out: &mut impl Write, counts: &FacetCounts) -> io::Result<()> {
    let mut has_years = false;
    for one in &counts.facets {
        if !has_years && YEARS_BEFORE.contains(&one.facet) {
            write_years(out, counts)?;
            has_years = true;
        }
        let mut values = Vec::with_capacity(one.values.len() + 1);
        for value in &one.values {
            let mark = if value.chosen { "✓ " } else { "" };
            let label = value_label(one.facet, value);
            values.push(format!("{mark}{} {}", safe(&label), grouped(value.count)));
        }
        let listed = one.values.iter().filter(|value| value.count > 0).count();
        values.extend((one.distinct > listed).then(|| format!("{} more", one.distinct - listed)));
        writeln!(out, "  {:<14} {}", one.facet.name(), values.join(" · "))?;
    }
    if has_years {
        return Ok(());
    }
    write_years(out, counts)
}

fn write_years(out: &mut impl Write, counts: &FacetCounts) -> io::Result<()> {
    let mut years: Vec<String> = counts
        .years
        .known
        .iter()
        .map(|(year, count)| format!("{year} {}", grouped(*count)))
        .collect();
    years.extend(
        (counts.years.unknown > 0).then(|| format!("unknown {}", grouped(counts.years.unknown))),
    );
    if !years.is_empty() {
        writeln!(out, "  {:<14} {}", "year", years.join(" · "))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_facet_has_an_argument_of_its_own() {
        for facet in Facet::ALL {
            let flag = format!("--{}", argument_of(facet));
            let command = FacetValues::augment_args(Command::new("search"));
            let filter = format!("{}=b", facet.name());
            let arguments = ["search", &flag, " a=1 ", &flag, "", "--filter", &filter];
            let matches = command.try_get_matches_from(arguments).expect("valid");
            let parsed = FacetValues::from_arg_matches(&matches).expect("valid").0;
            let expected = ["b", "a=1"].map(|value| FacetValue {
                facet,
                value: value.to_owned(),
            });
            assert_eq!(parsed, expected, "{flag}");
        }
    }

    #[test]
    fn facet_values_are_parsed() {
        let parsed: FacetValue = "license= https://e.org/?a=b".parse().expect("valid");
        assert_eq!(
            (parsed.facet, parsed.value.as_str()),
            (Facet::License, "https://e.org/?a=b")
        );
        for (text, message) in [
            ("CSV", "expected FACET=VALUE, such as format=CSV"),
            ("format= ", "expected FACET=VALUE, such as format=CSV"),
            (
                "file-format=CSV",
                "unknown facet \"file-format\"; supported: task",
            ),
        ] {
            let error = text.parse::<FacetValue>().expect_err(text);
            assert!(error.starts_with(message), "{text}: {error}");
        }
    }
}
