//! `lodeseek show`: one dataset.

use super::Done;
use super::syntax::Syntax;
use super::terminal::{Style, cut, grouped, safe};
use crate::catalog::{DatasetId, Scheme};
use crate::engine::{Card, Searcher};
use crate::rdf::{RdfSyntax, local_name, words};
use crate::server::rdf::dataset_triples;
use crate::store::{Access, Store};
use anyhow::Context;
use std::io::{self, Write};
use std::path::Path;

#[derive(clap::Args, Debug)]
pub(super) struct Arguments {
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

pub(super) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<Done> {
    let id = DatasetId::new(arguments.dataset.as_str())?;
    let mut out = io::stdout().lock();
    if let Some(syntax) = arguments.rdf {
        let store = Store::open(home, Access::Read, None)?;
        let text = RdfSyntax::from(syntax).write(&dataset_triples(&store, &id)?)?;
        out.write_all(&text)?;
        return Ok(Done::Something);
    }
    let card = Searcher::open(home)?.card(&id)?.with_context(|| format!("there is no dataset {id} in the index"))?;
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &card)?;
        writeln!(out)?;
    } else {
        write_card(&mut out, &card)?;
    }
    Ok(Done::Something)
}

fn write_card(out: &mut impl Write, card: &Card) -> io::Result<()> {
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
        ("content", card.remote.as_ref().map(|remote| safe(&remote.relation(profile.triples))).unwrap_or_default()),
    ] {
        if !value.is_empty() {
            writeln!(out, "  {name:<10} {value}")?;
        }
    }
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
