//! `lodeseek search --server`: the search of a server elsewhere, by its JSON API.

use super::{Arguments, MAX_HIT_TRIPLES, match_counts};
use crate::ExitStatus;
use crate::filter::unknown_phrase;
use crate::output::write_json;
use crate::server_client::ServerClient;
use crate::terminal::{Style, cut, grouped, safe};
use lodeseek_engine::{Filter, SnippetKind};
use lodeseek_snippet::{LabelledTriple, TermKind};
use serde_json::Value;
use std::io::{self, Write};
use url::form_urlencoded::Serializer;

/// Searches on a server, and writes its hits.
pub(super) fn run(address: &str, arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    let query = arguments.query()?;
    let filter = arguments.filter.filter()?;
    let server = ServerClient::at(address)?;
    let response = server.search(&request_parameters(arguments, &query, &filter))?;
    let hits = response["hits"].as_array();
    let hits = hits.ok_or_else(|| anyhow::anyhow!(server.invalid_response()))?;
    let mut out = io::stdout().lock();
    if arguments.output.is_json() {
        write_json(&mut out, &response)?;
    } else {
        write_response(&mut out, &query, &response)?;
    }
    let only_closest = response["onlyClosest"] == true;
    Ok(if hits.is_empty() || only_closest {
        ExitStatus::NoResult
    } else {
        ExitStatus::Success
    })
}

/// Returns the parameters of the request.
fn request_parameters(arguments: &Arguments, query: &str, filter: &Filter) -> String {
    let mut parameters = Serializer::new(String::new());
    parameters
        .append_pair("q", query)
        .append_pair("k", &arguments.depth.to_string())
        .append_pair("lang", &arguments.lang.join(","));
    for (name, is_set) in [
        ("explain", arguments.explain),
        ("facets", arguments.facets),
        ("literal", arguments.literal),
    ] {
        if is_set {
            parameters.append_pair(name, "true");
        }
    }
    if arguments.snippet != SnippetKind::Stored {
        parameters.append_pair("snippet", arguments.snippet.name());
    }
    if arguments.duplicates {
        parameters.append_pair("duplicates", "all");
    }
    if let Some(model) = arguments.model {
        parameters.append_pair("model", model.name());
    }
    for id in &arguments.like {
        parameters.append_pair("like", id);
    }
    let years = [("since", filter.since), ("before", filter.until)];
    for (name, year) in years {
        parameters.extend_pairs(year.map(|year| (name, year.to_string())));
    }
    parameters.extend_pairs(filter.within.map(|within| ("within", within.to_string())));
    parameters.extend_pairs(filter.covers.map(|covers| ("covers", covers.to_string())));
    for column in &filter.columns {
        parameters.append_pair("column", &column.to_string());
    }
    for (facet, value) in &filter.values {
        parameters.append_pair(facet.name(), value);
    }
    parameters.finish()
}

fn write_response(out: &mut impl Write, query: &str, response: &Value) -> io::Result<()> {
    let style = Style::of_stdout();
    let hits = response["hits"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    if hits.is_empty() {
        writeln!(out, "No dataset was found for “{}”.", safe(query))?;
        for unknown in response["unknownValues"].as_array().into_iter().flatten() {
            let similar = unknown["similar"].as_array().into_iter().flatten();
            let similar: Vec<String> = similar.map(|one| text_or_empty(one).to_owned()).collect();
            let (facet, value) = (
                text_or_empty(&unknown["facet"]),
                text_or_empty(&unknown["value"]),
            );
            let phrase = unknown_phrase(facet, value, &similar);
            writeln!(out, "No dataset has {phrase}.")?;
        }
    } else {
        let (good, weak) = (
            number_or_zero(&response["good"]),
            number_or_zero(&response["weak"]),
        );
        let counts = match_counts(good as usize, weak as usize);
        writeln!(out, "{counts} for “{}”", safe(query))?;
    }
    if let Some(corrected) = response["corrected"].as_str() {
        writeln!(
            out,
            "searched for “{}” (--literal searches for the words as typed)",
            safe(corrected)
        )?;
    } else if let Some(suggestion) = response["suggestion"].as_str() {
        writeln!(out, "Did you mean “{}”?", safe(suggestion))?;
    }
    if response["onlyClosest"] == true {
        writeln!(out, "No close match; nearest results:")?;
    }
    for facet in response["facets"].as_array().into_iter().flatten() {
        write_facet(out, facet)?;
    }
    for hit in hits {
        write_hit(out, style, hit)?;
    }
    Ok(())
}

fn number_or_zero(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

fn text_or_empty(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn write_facet(out: &mut impl Write, facet: &Value) -> io::Result<()> {
    let mut values = Vec::new();
    for value in facet["values"].as_array().into_iter().flatten() {
        let label = value["label"]
            .as_str()
            .unwrap_or(text_or_empty(&value["value"]));
        if values.len() < crate::filter::MAX_FACET_VALUES {
            values.push(format!(
                "{} {}",
                safe(label),
                grouped(number_or_zero(&value["count"]))
            ));
        }
    }
    let name = safe(text_or_empty(&facet["facet"]));
    writeln!(out, "  {name:<14} {}", values.join(" · "))
}

fn write_hit(out: &mut impl Write, style: Style, hit: &Value) -> io::Result<()> {
    let title = style.strong(&cut(text_or_empty(&hit["title"]), 90));
    let id = style.faint(&format!("[{}]", safe(text_or_empty(&hit["id"]))));
    writeln!(out, "\n{:>2}. {title}  {id}", number_or_zero(&hit["rank"]))?;
    let mut facts = Vec::new();
    if let Some(name) = hit["creators"][0]["name"].as_str() {
        facts.push(cut(name, 50));
    }
    if let Some(year) = hit["year"].as_i64() {
        facts.push(year.to_string());
    }
    let triples = number_or_zero(&hit["triples"]);
    if triples > 0 {
        facts.push(format!("{} triples", grouped(triples)));
    }
    if let Some(license) = hit["license"].as_str() {
        facts.push(cut(license, 60));
    }
    if !facts.is_empty() {
        writeln!(out, "    {}", style.faint(&facts.join(" · ")))?;
    }
    if let Some(description) = hit["description"].as_str() {
        writeln!(out, "    {}", cut(description, 160))?;
    }
    let mut fields = Vec::new();
    for field in hit["fields"].as_array().into_iter().flatten() {
        let terms: Vec<&str> = field["terms"]
            .as_array()
            .into_iter()
            .flatten()
            .map(text_or_empty)
            .collect();
        let name = safe(text_or_empty(&field["field"]));
        fields.push(format!("{name} ({})", safe(&terms.join(", "))));
    }
    if fields.is_empty() {
        writeln!(out, "    contains none of the words")?;
    } else {
        writeln!(out, "    matched in {}", fields.join("; "))?;
    }
    if hit["match"] == "weak" && hit["closest"] != true {
        writeln!(out, "    weak match")?;
    }
    for triple in hit["snippet"]
        .as_array()
        .into_iter()
        .flatten()
        .take(MAX_HIT_TRIPLES)
    {
        // The hit is complete without its snippet, so a triple of another form is no error.
        if let Ok(triple) = serde_json::from_value::<LabelledTriple>(triple.clone()) {
            writeln!(out, "    {} {}", style.faint("│"), triple_line(&triple))?;
        }
    }
    Ok(())
}

fn triple_line(triple: &LabelledTriple) -> String {
    let object = cut(&triple.object.label, 80);
    let object = match triple.object.kind {
        TermKind::Literal => format!("“{object}”"),
        _ => object,
    };
    let (subject, predicate) = (
        cut(&triple.subject.label, 50),
        cut(&triple.predicate.label, 40),
    );
    format!("{subject} — {predicate} — {object}")
}
