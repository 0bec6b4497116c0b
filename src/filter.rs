//! Which datasets may be found, and counts of what is.

use super::terminal::{grouped, safe};
use lodeseek_engine::{Facet, FacetCounts, Filter, ValueCount, facet_label, facet_value};
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
    /// Only datasets with this theme of their catalogue.
    #[arg(long, value_name = "THEME")]
    theme: Vec<String>,
    /// Only datasets that have entities of this class: an IRI, or as foaf:Person.
    #[arg(long, value_name = "CLASS")]
    class: Vec<String>,
    /// Only datasets with this keyword.
    #[arg(long, value_name = "KEYWORD")]
    keyword: Vec<String>,
    /// Only datasets by this publisher.
    #[arg(long, value_name = "NAME")]
    publisher: Vec<String>,
    /// Only datasets by this author or publisher.
    #[arg(long, value_name = "NAME")]
    creator: Vec<String>,
    /// Only datasets that can be had in this format: Turtle, CSV, …
    #[arg(long, value_name = "FORMAT")]
    format: Vec<String>,
    /// Only datasets under this licence, as the catalogue writes it.
    #[arg(long, value_name = "LICENSE")]
    license: Vec<String>,
    /// Only datasets in this language, by its English name. (`--lang` is of the labels shown.)
    #[arg(long, value_name = "LANGUAGE")]
    language: Vec<String>,
    /// Only datasets with classes or properties of this vocabulary: a namespace, or as foaf.
    #[arg(long, value_name = "VOCABULARY")]
    vocabulary: Vec<String>,
    /// Only datasets known from this portal, by its host.
    #[arg(long, value_name = "HOST")]
    source: Vec<String>,
}

impl FilterArguments {
    pub(super) fn filter(&self) -> Filter {
        let filter = Filter { until: self.before, ..Filter::default() };
        let values = Facet::ALL.into_iter().flat_map(|facet| self.of(facet).iter().map(move |value| (facet, value)));
        let named = values.map(|(facet, value)| (facet, value.trim())).filter(|(_, value)| !value.is_empty());
        named.fold(filter, |filter, (facet, value)| filter.with(facet, facet_value(facet, value)))
    }

    fn of(&self, facet: Facet) -> &[String] {
        match facet {
            Facet::Task => &self.task,
            Facet::Modality => &self.modality,
            Facet::Theme => &self.theme,
            Facet::Class => &self.class,
            Facet::Keyword => &self.keyword,
            Facet::Publisher => &self.publisher,
            Facet::Creator => &self.creator,
            Facet::Format => &self.format,
            Facet::License => &self.license,
            Facet::Language => &self.language,
            Facet::Vocabulary => &self.vocabulary,
            Facet::Source => &self.source,
        }
    }
}

/// Values of a facet shown in the terminal.
pub(super) const SHOWN: usize = 8;

pub(super) fn write_counts(out: &mut impl Write, counts: &FacetCounts) -> io::Result<()> {
    for one in &counts.facets {
        let value = |value: &ValueCount| {
            let label = if one.facet.has_iris() { facet_label(one.facet, &value.value) } else { value.value.clone() };
            format!("{}{} {}", if value.chosen { "✓ " } else { "" }, safe(&label), grouped(value.count))
        };
        let mut values: Vec<String> = one.values.iter().map(value).collect();
        let listed = one.values.iter().filter(|value| value.count > 0).count();
        values.extend((one.distinct > listed).then(|| format!("{} more", one.distinct - listed)));
        writeln!(out, "  {:<10} {}", one.facet.name(), values.join(" · "))?;
    }
    let mut years: Vec<String> =
        counts.years.known.iter().map(|(year, count)| format!("{year} {}", grouped(*count))).collect();
    years.extend((counts.years.unknown > 0).then(|| format!("unknown {}", grouped(counts.years.unknown))));
    if !years.is_empty() {
        writeln!(out, "  {:<10} {}", "year", years.join(" · "))?;
    }
    Ok(())
}
