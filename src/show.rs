//! `lodeseek show`: prints the description, profile and snippet of a dataset.

use super::ExitStatus;
use super::dataset_ids;
use super::output::{OutputArguments, write_json};
use super::rows::table_lines;
use super::similar::reason;
use super::syntax::{Syntax, write_graph};
use super::terminal::{Style, counted, cut, grouped, safe};
use lodeseek_catalog::{DatasetId, Metadata, Scheme};
use lodeseek_engine::{
    Card, Facet, RelatedDatasets, Searcher, dataset_triples, index_folder, overlap_clauses,
    suggested_theme_triples,
};
use lodeseek_profile::TableSummary;
use lodeseek_rdf::{local_name, words};
use lodeseek_store::{Access, DatasetWorks, Store, StoreError, read_dataset_works};
use std::io::{self, Write};
use std::path::Path;

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// Id of the dataset.
    #[arg(value_name = "DATASET")]
    dataset: String,
    /// Write the description, profile and snippet as RDF.
    #[arg(long, value_enum, value_name = "SYNTAX", conflicts_with_all = ["format", "json"])]
    rdf: Option<Syntax>,
    #[command(flatten)]
    output: OutputArguments,
}

pub(crate) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    let id = DatasetId::new(arguments.dataset.as_str())?;
    let mut out = io::stdout().lock();
    if let Some(syntax) = arguments.rdf {
        let store = Store::open(home, Access::Read, None)?;
        let mut triples = dataset_triples(&store, &id, store.iris().base())?;
        if index_folder(home).exists() {
            let searcher = Searcher::open(home)?;
            triples.extend(suggested_theme_triples(
                searcher.catalog(),
                store.iris(),
                &id,
            )?);
        }
        out.write_all(&write_graph(syntax.into(), &triples)?)?;
        return Ok(ExitStatus::Success);
    }
    let searcher = Searcher::open(home)?;
    let card = searcher
        .catalog()
        .card(&id)?
        .ok_or_else(|| dataset_ids::unknown(home, &searcher, &id))?;
    let related = searcher
        .catalog()
        .related_datasets(&id)?
        .unwrap_or_default();
    let suggested = searcher
        .catalog()
        .facet_values(&id, Facet::SuggestedTheme)?;
    if arguments.output.is_json() {
        let mut value = card_json(&card, &related)?;
        let works = read_dataset_works(home, &id, usize::MAX)?;
        if works.all > 0 {
            value["works"] = serde_json::to_value(works)?;
        }
        if !suggested.is_empty() {
            value["suggestedThemes"] = suggested.into();
        }
        write_json(&mut out, &value)?;
    } else {
        let mut extra = extra_properties(home, &id)?;
        for theme in suggested {
            extra.push(("Suggested", format!("{theme} (theme, by the words)")));
        }
        let works = read_dataset_works(home, &id, MAX_WORKS)?;
        write_card(&mut out, &card, &extra, &related, &works)?;
    }
    Ok(ExitStatus::Success)
}

/// Returns the card as JSON, with the duplicates and editions, if there are any.
fn card_json(card: &Card, related: &RelatedDatasets) -> anyhow::Result<serde_json::Value> {
    let mut value = serde_json::to_value(card)?;
    if *related != RelatedDatasets::default() {
        value["related"] = serde_json::to_value(related)?;
    }
    Ok(value)
}

/// Reads the properties of the catalogue that the card does not contain from the store. Another process may have it open.
fn extra_properties(home: &Path, id: &DatasetId) -> anyhow::Result<Vec<(&'static str, String)>> {
    match Store::open(home, Access::Read, None) {
        Ok(store) => {
            let properties = store.entry(id)?.dataset.extra_properties();
            Ok(properties
                .into_iter()
                .map(|one| (one.label, one.value))
                .collect())
        }
        Err(busy @ StoreError::InUse { .. }) => Ok(vec![(
            "Not shown",
            format!("properties in the store: {busy}"),
        )]),
        Err(error) => Err(error.into()),
    }
}

fn write_related_datasets(out: &mut impl Write, related: &RelatedDatasets) -> io::Result<()> {
    if !related.duplicates.is_empty() {
        let named = related.duplicates.iter().map(|other| {
            let name = other
                .publisher
                .as_ref()
                .or(other.source.as_ref())
                .unwrap_or(&other.title);
            format!("{} [{}]", safe(name), safe(other.id.as_str()))
        });
        let reasons: Vec<&str> = related
            .reasons
            .iter()
            .map(|reason| reason.label())
            .collect();
        let named = named.collect::<Vec<_>>().join(", ");
        writeln!(
            out,
            "  {:<10} {named}, because of {}",
            "also from",
            reasons.join("; ")
        )?;
    }
    for one in &related.editions {
        let (title, id) = (safe(&one.dataset.title), safe(one.dataset.id.as_str()));
        writeln!(
            out,
            "  {:<10} {title} [{id}], {}",
            "edition",
            one.edition.label()
        )?;
    }
    if related.more_editions > 0 {
        writeln!(
            out,
            "  {:<10} and {} more",
            "edition",
            grouped(related.more_editions as u64)
        )?;
    }
    for one in &related.tables {
        let (title, id) = (safe(&one.dataset.title), safe(one.dataset.id.as_str()));
        let reasons: Vec<String> = overlap_clauses(&one.overlap).iter().map(reason).collect();
        writeln!(
            out,
            "  {:<10} {title} [{id}], {}",
            "tables",
            reasons.join("; ")
        )?;
    }
    Ok(())
}

/// Writes the works of the collection that use the dataset, the latest first.
fn write_works(out: &mut impl Write, works: &DatasetWorks) -> io::Result<()> {
    if works.all == 0 {
        return Ok(());
    }
    let total = counted(works.all as u64, "work");
    writeln!(out, "  {:<10} {total} of the collection", "used by")?;
    for work in &works.works {
        let mut line = safe(&work.title);
        if let Some(year) = work.year {
            line += &format!(" ({year})");
        }
        if let Some(url) = &work.url {
            line += &format!(", {}", safe(url));
        }
        writeln!(out, "  {:<10} {line}", "work")?;
    }
    let more = works.more();
    if more > 0 {
        writeln!(out, "  {:<10} and {} more", "work", grouped(more as u64))?;
    }
    Ok(())
}

/// Maximum number of works that are listed.
const MAX_WORKS: usize = 8;
/// Maximum number of tables that are listed.
const MAX_TABLES: usize = 8;
/// Maximum number of classes, of properties, of languages and of links that are printed.
const MAX_PROFILE_VALUES: usize = 8;

/// Returns the size and the format of a table in words.
fn describe_table(table: &TableSummary) -> String {
    let mut parts = vec![counted(table.rows, "row"), counted(table.columns, "column")];
    parts.extend(table.encoding.as_deref().map(safe));
    if let Some(delimiter) = &table.delimiter {
        let name = if delimiter == "\t" { "tab" } else { delimiter };
        parts.push(format!("delimiter {}", safe(name)));
    }
    if let Some(empty) = table.empty_cells.filter(|empty| *empty > 0) {
        parts.push(counted(empty, "empty cell"));
    }
    if let Some(mixed) = table.mixed_cells.filter(|mixed| *mixed > 0) {
        parts.push(format!("{} of another type", counted(mixed, "cell")));
    }
    if table.omitted_rows > 0 {
        parts.push(format!("{} left out", counted(table.omitted_rows, "row")));
    }
    format!("{}: {}", cut(&table.name, 60), parts.join(", "))
}

/// Returns the labels of the themes of a scheme, separated by commas.
fn join_themes(metadata: &Metadata, scheme: Scheme) -> String {
    let labels: Vec<String> = metadata.themes_of(scheme).map(safe).collect();
    labels.join(", ")
}

fn write_card(
    out: &mut impl Write,
    card: &Card,
    extra: &[(&'static str, String)],
    related: &RelatedDatasets,
    works: &DatasetWorks,
) -> io::Result<()> {
    let style = Style::of_stdout();
    let (metadata, profile) = (&card.metadata, &card.profile);
    writeln!(
        out,
        "{}  {}",
        style.strong(&safe(metadata.title())),
        style.faint(&format!("[{}]", safe(metadata.id.as_str())))
    )?;
    if let Some(description) = metadata.description() {
        writeln!(out, "{}", safe(description))?;
    }
    let creators: Vec<String> = metadata.agents().map(|agent| safe(&agent.name)).collect();
    let keywords: Vec<String> = metadata
        .keywords
        .iter()
        .map(|text| safe(&text.value))
        .collect();
    let places: Vec<String> = card
        .distributions
        .iter()
        .map(|d| safe(d.location.as_str()))
        .collect();
    let names: Vec<String> = metadata
        .alternatives
        .iter()
        .map(|text| safe(&text.value))
        .collect();
    let introduced_by: Vec<String> = metadata
        .introduced_by
        .iter()
        .map(|work| safe(&work.title))
        .collect();
    for (name, value) in [
        ("also", names.join(", ")),
        ("tasks", join_themes(metadata, Scheme::Task)),
        ("modalities", join_themes(metadata, Scheme::Modality)),
        ("languages", join_themes(metadata, Scheme::Language)),
        ("introduced", introduced_by.join("; ")),
        (
            "used by",
            metadata
                .uses
                .map(|uses| format!("{} works, as of the catalogue", grouped(uses)))
                .unwrap_or_default(),
        ),
        ("by", creators.join(", ")),
        ("keywords", keywords.join(", ")),
        (
            "licence",
            card.licenses().map(safe).collect::<Vec<_>>().join(", "),
        ),
        (
            "issued",
            metadata.issued.as_deref().map(safe).unwrap_or_default(),
        ),
        (
            "modified",
            metadata.modified.as_deref().map(safe).unwrap_or_default(),
        ),
        (
            "area",
            card.coverage
                .place
                .as_ref()
                .map(|place| safe(&place.to_string()))
                .unwrap_or_default(),
        ),
        (
            "dates",
            card.coverage
                .period
                .as_ref()
                .map(|period| safe(&period.to_string()))
                .unwrap_or_default(),
        ),
        (
            "source",
            metadata
                .source
                .as_deref()
                .or(metadata.landing_page.as_deref())
                .map(safe)
                .unwrap_or_default(),
        ),
        ("files", cut(&places.join(", "), 300)),
        (
            "content",
            card.remote
                .as_ref()
                .map(|remote| safe(&remote.coverage(profile.triples)))
                .unwrap_or_default(),
        ),
    ] {
        if !value.is_empty() {
            writeln!(out, "  {name:<10} {value}")?;
        }
    }
    for same in extra.chunk_by(|one, next| one.0 == next.0) {
        let values: Vec<String> = same.iter().map(|(_, value)| safe(value)).collect();
        writeln!(
            out,
            "  {:<10} {}",
            same[0].0.to_lowercase(),
            cut(&values.join(", "), 300)
        )?;
    }
    write_related_datasets(out, related)?;
    write_works(out, works)?;
    writeln!(
        out,
        "\n{} triples, {} entities, {} classes, {} properties, {} literals",
        grouped(profile.triples),
        grouped(profile.entities),
        grouped(profile.class_count),
        grouped(profile.property_count),
        grouped(profile.literals)
    )?;
    if let Some(sampled) = card.sampled_triples {
        writeln!(
            out,
            "  {:<10} {} triples, for the snippet, searched texts and coverage",
            "sample",
            grouped(sampled)
        )?;
    }
    for table in profile.tables.iter().take(MAX_TABLES) {
        writeln!(out, "  {:<10} {}", "table", describe_table(table))?;
    }
    let more = profile.tables.len().saturating_sub(MAX_TABLES);
    if more > 0 {
        writeln!(out, "  {:<10} and {more} more", "table")?;
    }
    for (name, counts, is_name) in [
        ("classes", &profile.classes, true),
        ("properties", &profile.properties, true),
        ("languages", &profile.languages, false),
        ("links to", &profile.links, false),
    ] {
        let mut values = Vec::new();
        for (value, count) in counts.iter().take(MAX_PROFILE_VALUES) {
            let value = if is_name {
                words(local_name(value))
            } else {
                value.clone()
            };
            values.push(format!("{} {}", safe(&value), grouped(*count)));
        }
        if !values.is_empty() {
            writeln!(out, "  {name:<10} {}", values.join(", "))?;
        }
    }
    if let Some(rows) = &card.table {
        writeln!(out)?;
        for line in table_lines(&rows.into(), style, None) {
            writeln!(out, "  {line}")?;
        }
        return Ok(());
    }
    writeln!(out, "\n{}:", card.snippet_method)?;
    for triple in &card.snippet {
        writeln!(
            out,
            "  {} — {} — {}",
            cut(&triple.subject.label, 50),
            cut(&triple.predicate.label, 40),
            cut(&triple.object.label, 90)
        )?;
    }
    Ok(())
}
