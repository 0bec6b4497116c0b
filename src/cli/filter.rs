//! Which datasets may be found, and counts of what is.

use super::terminal::{grouped, safe};
use crate::engine::{Facet, FacetCounts, Filter};
use std::io::{self, Write};

#[derive(clap::Args, Debug)]
pub(super) struct FilterArguments {
    /// Only datasets known in or before this year. Those whose year is not known are kept.
    #[arg(long, value_name = "YEAR", value_parser = clap::value_parser!(i32).range(0..=9999))]
    before: Option<i32>,
    /// Only datasets for this task. Of several values of one option, given by repeating it, a dataset needs one.
    #[arg(long, value_name = "TASK")]
    task: Vec<String>,
    /// Only datasets of this modality: images, texts, …
    #[arg(long, value_name = "MODALITY")]
    modality: Vec<String>,
    /// Only datasets in this language, by its English name. (`--lang` is of the labels shown.)
    #[arg(long, value_name = "LANGUAGE")]
    language: Vec<String>,
    /// Only datasets with this keyword.
    #[arg(long, value_name = "KEYWORD")]
    keyword: Vec<String>,
    /// Only datasets by this author or publisher.
    #[arg(long, value_name = "NAME")]
    creator: Vec<String>,
    /// Only datasets under this licence, as the catalogue writes it.
    #[arg(long, value_name = "LICENSE")]
    license: Vec<String>,
}

impl FilterArguments {
    pub(super) fn filter(&self) -> Filter {
        let values = [&self.task, &self.modality, &self.language, &self.keyword, &self.creator, &self.license];
        let values = Facet::ALL
            .into_iter()
            .zip(values)
            .flat_map(|(facet, values)| values.iter().map(move |value| (facet, value)));
        let filter = Filter { until: self.before, ..Filter::default() };
        let named = values.map(|(facet, value)| (facet, value.trim())).filter(|(_, value)| !value.is_empty());
        named.fold(filter, |filter, (facet, value)| filter.with(facet, value))
    }
}

/// Values of a facet shown in the terminal.
pub(super) const SHOWN: usize = 8;

pub(super) fn write_counts(out: &mut impl Write, counts: &FacetCounts) -> io::Result<()> {
    for one in &counts.facets {
        let value = |value: &crate::engine::ValueCount| {
            format!("{}{} {}", if value.chosen { "✓ " } else { "" }, safe(&value.value), grouped(value.count))
        };
        let mut values: Vec<String> = one.values.iter().map(value).collect();
        let listed = one.values.iter().filter(|value| value.count > 0).count();
        values.extend((one.distinct > listed).then(|| format!("{} more", one.distinct - listed)));
        writeln!(out, "  {:<9} {}", one.facet.name(), values.join(" · "))?;
    }
    let mut years: Vec<String> =
        counts.years.known.iter().map(|(year, count)| format!("{year} {}", grouped(*count))).collect();
    years.extend((counts.years.unknown > 0).then(|| format!("unknown {}", grouped(counts.years.unknown))));
    if !years.is_empty() {
        writeln!(out, "  {:<9} {}", "year", years.join(" · "))?;
    }
    Ok(())
}
