//! `lodeseek show`: one dataset.

use super::Done;
use super::syntax::Syntax;
use super::terminal::{Style, cut, grouped, safe};
use anyhow::Context;
use lodeseek_catalog::{DatasetId, Scheme};
use lodeseek_engine::{Card, Related, Searcher};
use lodeseek_rdf::{RdfSyntax, local_name, words};
use lodeseek_engine::dataset_triples;
use lodeseek_store::{Access, Store, StoreError};
use std::io::{self, Write};
use std::path::Path;

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// The dataset's id.
    #[arg(value_name = "DATASET")]
    dataset: String,
    /// Write its description, profile and snippet as RDF instead.
    #[arg(long, value_enum, value_name = "SYNTAX")]
    rdf: Option<Syntax>,
    /// Write what the index holds of it as JSON instead.
    #[arg(long, conflicts_with = "rdf")]
    json: bool,
}

pub(crate) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<Done> {
    let id = DatasetId::new(arguments.dataset.as_str())?;
    let mut out = io::stdout().lock();
    if let Some(syntax) = arguments.rdf {
        let store = Store::open(home, Access::Read, None)?;
        let text = RdfSyntax::from(syntax).write(&dataset_triples(&store, &id)?)?;
        out.write_all(&text)?;
        return Ok(Done::Something);
    }
    let searcher = Searcher::open(home)?;
    let card = searcher.card(&id)?.with_context(|| format!("there is no dataset {id} in the index"))?;
    let related = searcher.related(&id)?.unwrap_or_default();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &json(&card, &related)?)?;
        writeln!(out)?;
    } else {
        write_card(&mut out, &card, &told(home, &id)?, &related)?;
    }
    Ok(Done::Something)
}

/// The card, and what was found of the dataset among the others, where there is anything.
fn json(card: &Card, related: &Related) -> anyhow::Result<serde_json::Value> {
    let mut value = serde_json::to_value(card)?;
    if *related != Related::default() {
        value["related"] = serde_json::to_value(related)?;
    }
    Ok(value)
}

/// What the catalogue says beyond the card: the store has it, which another process may hold.
fn told(home: &Path, id: &DatasetId) -> anyhow::Result<Vec<(&'static str, String)>> {
    match Store::open(home, Access::Read, None) {
        Ok(store) => Ok(store.entry(id)?.dataset.extra_properties()),
        Err(busy @ StoreError::InUse { .. }) => Ok(vec![("Not shown", format!("what the store holds: {busy}"))]),
        Err(error) => Err(error.into()),
    }
}

fn write_related(out: &mut impl Write, related: &Related) -> io::Result<()> {
    if !related.duplicates.is_empty() {
        let named = related.duplicates.iter().map(|other| {
            let whom = other.publisher.as_ref().or(other.source.as_ref()).unwrap_or(&other.title);
            format!("{} [{}]", safe(whom), safe(other.id.as_str()))
        });
        let reasons: Vec<&str> = related.reasons.iter().map(|reason| reason.label()).collect();
        let named = named.collect::<Vec<_>>().join(", ");
        writeln!(out, "  {:<10} {named}, because of {}", "also from", reasons.join("; "))?;
    }
    for one in &related.editions {
        let (title, id) = (safe(&one.dataset.title), safe(one.dataset.id.as_str()));
        writeln!(out, "  {:<10} {title} [{id}], {}", "edition", one.edition.label())?;
    }
    if related.more_editions > 0 {
        writeln!(out, "  {:<10} and {} more", "edition", grouped(related.more_editions as u64))?;
    }
    Ok(())
}

fn write_card(out: &mut impl Write, card: &Card, told: &[(&'static str, String)], related: &Related) -> io::Result<()> {
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
    let keywords: Vec<String> = metadata.keywords.iter().map(|text| safe(&text.value)).collect();
    let places: Vec<String> = card.distributions.iter().map(|d| safe(d.location.as_str())).collect();
    let names: Vec<String> = metadata.alternatives.iter().map(|text| safe(&text.value)).collect();
    let works: Vec<String> = metadata.introduced_by.iter().map(|work| safe(&work.title)).collect();
    let themes = |scheme| metadata.themes_of(scheme).map(safe).collect::<Vec<_>>().join(", ");
    for (name, value) in [
        ("also", names.join(", ")),
        ("tasks", themes(Scheme::Task)),
        ("modalities", themes(Scheme::Modality)),
        ("languages", themes(Scheme::Language)),
        ("introduced", works.join("; ")),
        (
            "used by",
            metadata.uses.map(|uses| format!("{} works, as of the catalogue", grouped(uses))).unwrap_or_default(),
        ),
        ("by", creators.join(", ")),
        ("keywords", keywords.join(", ")),
        ("licence", metadata.license.as_deref().map(safe).unwrap_or_default()),
        ("issued", metadata.issued.as_deref().map(safe).unwrap_or_default()),
        ("modified", metadata.modified.as_deref().map(safe).unwrap_or_default()),
        ("source", metadata.source.as_deref().or(metadata.landing_page.as_deref()).map(safe).unwrap_or_default()),
        ("files", cut(&places.join(", "), 300)),
        ("content", card.remote.as_ref().map(|remote| safe(&remote.coverage(profile.triples))).unwrap_or_default()),
    ] {
        if !value.is_empty() {
            writeln!(out, "  {name:<10} {value}")?;
        }
    }
    for same in told.chunk_by(|one, next| one.0 == next.0) {
        let values: Vec<String> = same.iter().map(|(_, value)| safe(value)).collect();
        writeln!(out, "  {:<10} {}", same[0].0.to_lowercase(), cut(&values.join(", "), 300))?;
    }
    write_related(out, related)?;
    writeln!(
        out,
        "\n{} triples, {} entities, {} classes, {} properties, {} literals",
        grouped(profile.triples),
        grouped(profile.entities),
        grouped(profile.class_count),
        grouped(profile.property_count),
        grouped(profile.literals)
    )?;
    for (name, counts, is_name) in [
        ("classes", &profile.classes, true),
        ("properties", &profile.properties, true),
        ("languages", &profile.languages, false),
        ("links to", &profile.links, false),
    ] {
        let shown = |(value, count): &(String, u64)| {
            let value = if is_name { words(local_name(value)) } else { value.clone() };
            format!("{} {}", safe(&value), grouped(*count))
        };
        if !counts.is_empty() {
            writeln!(out, "  {name:<10} {}", counts.iter().take(8).map(shown).collect::<Vec<_>>().join(", "))?;
        }
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
