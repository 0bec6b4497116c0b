//! `lodeseek edit`: corrects the description of a dataset, apart from its source.

use super::ExitStatus;
use super::config::Config;
use super::local::{local_home, make_local_change};
use super::output::OutputArguments;
use super::server_client::{ServerArguments, ServerClient};
use super::terminal::{Format, safe};
use super::worker::WorkerArguments;
use anyhow::Context;
use lodeseek_catalog::{
    DatasetId, DescriptionField, FieldError, Patch, description_json, in_language, parse_assignment,
};
use lodeseek_changes::{Change, DatasetEdit, EditAction, EntityTags, Preconditions, advise_ids};
use lodeseek_cli::streams::{messages, report_output};
use lodeseek_net::egress::Cancellation;
use lodeseek_store::{Access, Store, check_home};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Name of the author of edits without a server.
const LOCAL: &str = "local";
/// Value of `--reset` without a key.
const ALL: &str = "*";

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// Id of the dataset. Without other options, its description and its edits are written.
    #[arg(value_name = "ID")]
    id: String,
    /// Set the value of a key, as in title=Trees; KEY@LANGUAGE sets the text of one language, as in title@de=Bäume, and KEY@ the text
    /// without a language. A value that begins with [, { or " is JSON.
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_key_value)]
    set: Vec<(String, String)>,
    /// Remove the values of a key, or with KEY@LANGUAGE the text of one language.
    #[arg(long, value_name = "KEY")]
    unset: Vec<String>,
    /// Apply a JSON Merge Patch (RFC 7396) from a file; - reads it from standard input.
    #[arg(long, value_name = "FILE")]
    patch: Option<PathBuf>,
    /// Remove the edit of a key, or without KEY all edits: the description is then as its source states it.
    #[arg(
        long,
        value_name = "KEY",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = ALL,
        conflicts_with_all = ["set", "unset", "patch"]
    )]
    reset: Vec<String>,
    /// Edit only if the dataset has this entity tag, which `edit` without other options writes.
    #[arg(long, value_name = "ETAG")]
    if_match: Option<String>,
    #[command(flatten)]
    output: OutputArguments,
    #[command(flatten)]
    server: ServerArguments,
}

fn parse_key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("KEY=VALUE is expected, for example title=Trees".to_owned()),
    }
}

pub(crate) fn run(
    home: &Path,
    config: &Config,
    arguments: &Arguments,
) -> anyhow::Result<ExitStatus> {
    let patch = arguments.merge_patch()?;
    if let Some(server) = arguments.server.find(home)? {
        return arguments.run_through(&server, patch);
    }
    check_home(home)?;
    let store = Store::open(home, Access::Read, None)?;
    let id = find_dataset(&store, &arguments.id)?;
    let before = local_state(&store, &id)?;
    // The change opens the store itself, for writing.
    drop(store);
    if patch.is_empty() && arguments.reset.is_empty() {
        return arguments.write_state(&before);
    }
    let change = Change::Edit(Box::new(arguments.local_edit(id.clone(), &patch)?));
    let local = local_home(home, config, None, &WorkerArguments::default())?;
    make_local_change(&local, change, "datasets", Cancellation::default())?;
    let store = Store::open(home, Access::Read, None)?;
    arguments.write_changes(&before, &local_state(&store, &id)?)
}

/// Returns the id of a dataset of the store. The error has the most similar ids.
fn find_dataset(store: &Store, name: &str) -> anyhow::Result<DatasetId> {
    let present = store.ids()?;
    let id = DatasetId::new(name)
        .ok()
        .filter(|id| present.binary_search(id).is_ok());
    id.with_context(|| {
        let advice = advise_ids(name, &present);
        format!("there is no dataset {name:?}, and nothing was edited; {advice}")
    })
}

/// Returns the error of keys of a description.
fn field_error(errors: &[FieldError]) -> anyhow::Error {
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    anyhow::anyhow!("nothing was edited: {}", texts.join("; "))
}

/// Returns the state of a dataset in the form of the server's.
fn local_state(store: &Store, id: &DatasetId) -> anyhow::Result<Value> {
    let mut state = json!({
        "id": id, "etag": store.dataset_tag(id)?,
        "description": description_json(&store.entry(id)?.dataset), "edits": {},
    });
    if let Some(present) = store.dataset_edits(id)? {
        let source = description_json(&present.source);
        for (key, edit) in present.edits.iter() {
            state["edits"][key] =
                json!({ "value": edit.value(), "by": edit.by, "time": edit.time });
            state["source"][key] = source.get(key).cloned().unwrap_or_default();
        }
    }
    Ok(state)
}

impl Arguments {
    /// Returns the JSON Merge Patch of the options.
    fn merge_patch(&self) -> anyhow::Result<Map<String, Value>> {
        let mut patch = match &self.patch {
            None => Map::new(),
            Some(path) => {
                let text = if path.as_os_str() == "-" {
                    io::read_to_string(io::stdin()).context("cannot read standard input")?
                } else {
                    std::fs::read_to_string(path)
                        .with_context(|| format!("cannot read {}", path.display()))?
                };
                match serde_json::from_str(&text) {
                    Ok(Value::Object(patch)) => patch,
                    Ok(_) => anyhow::bail!("{}: a JSON object is expected", path.display()),
                    Err(error) => anyhow::bail!("{}: {error}", path.display()),
                }
            }
        };
        let mut assignments = Vec::new();
        for (key, text) in &self.set {
            assignments.push(parse_assignment(key, text).map_err(|error| field_error(&[error]))?);
        }
        for key in &self.unset {
            assignments.push(in_language(key, Value::Null));
        }
        for (key, value) in assignments {
            match (patch.get_mut(&key), value) {
                (Some(Value::Object(languages)), Value::Object(more)) => languages.extend(more),
                (Some(_), _) => anyhow::bail!("{key} is set twice"),
                (None, value) => {
                    patch.insert(key, value);
                }
            }
        }
        Ok(patch)
    }

    /// Returns the edit of a dataset of a home without a server.
    fn local_edit(&self, id: DatasetId, patch: &Map<String, Value>) -> anyhow::Result<DatasetEdit> {
        let action = if self.reset.is_empty() {
            EditAction::Patch(Patch::parse(patch).map_err(|errors| field_error(&errors))?)
        } else if self.resets_all() {
            EditAction::Reset(Vec::new())
        } else {
            let keys = self.reset_keys()?;
            EditAction::Reset(keys.into_iter().map(str::to_owned).collect())
        };
        let expected = self.if_match.clone();
        Ok(DatasetEdit {
            id,
            action,
            conditions: Preconditions {
                if_match: expected.map(|tag| EntityTags::List(vec![tag])),
                ..Preconditions::default()
            },
            by: LOCAL.to_owned(),
        })
    }

    fn resets_all(&self) -> bool {
        self.reset.iter().any(|key| key == ALL)
    }

    fn reset_keys(&self) -> anyhow::Result<Vec<&'static str>> {
        let fields = self.reset.iter().map(|key| DescriptionField::require(key));
        let keys: Result<Vec<&'static str>, FieldError> =
            fields.map(|field| field.map(|field| field.key)).collect();
        keys.map_err(|error| field_error(&[error]))
    }

    fn run_through(
        &self,
        server: &ServerClient,
        patch: Map<String, Value>,
    ) -> anyhow::Result<ExitStatus> {
        let before = server.dataset(&self.id)?;
        if patch.is_empty() && self.reset.is_empty() {
            return self.write_state(&before);
        }
        // What was read is what is changed: another change in between is an error.
        let tag = self
            .if_match
            .as_deref()
            .or_else(|| before["etag"].as_str())
            .with_context(|| server.invalid_response())?;
        if self.reset.is_empty() {
            Patch::parse(&patch).map_err(|errors| field_error(&errors))?;
            server.edit(&self.id, &Value::Object(patch), tag)?;
        } else {
            let keys = if self.resets_all() {
                Vec::new()
            } else {
                self.reset_keys()?
            };
            server.remove_edits(&self.id, &keys, tag)?;
        }
        self.write_changes(&before, &server.dataset(&self.id)?)
    }

    /// Writes the description of a dataset, with its edits.
    fn write_state(&self, state: &Value) -> anyhow::Result<ExitStatus> {
        let mut out = io::stdout().lock();
        if self.output.format() == Format::Json {
            serde_json::to_writer_pretty(&mut out, state)?;
            writeln!(out)?;
            return Ok(ExitStatus::Success);
        }
        for field in DescriptionField::ALL {
            let value = &state["description"][field.key];
            let edit = &state["edits"][field.key];
            if value.is_null() && edit.is_null() {
                continue;
            }
            write!(out, "{}: {}", field.key, safe(&value.to_string()))?;
            if !edit.is_null() {
                write!(
                    out,
                    " (edited by {} at {}",
                    member_text(edit, "by"),
                    member_text(edit, "time")
                )?;
                write!(
                    out,
                    "; source: {})",
                    safe(&state["source"][field.key].to_string())
                )?;
            }
            writeln!(out)?;
        }
        writeln!(out, "etag: {}", member_text(state, "etag"))?;
        Ok(ExitStatus::Success)
    }

    /// Writes the changed keys with their values before and after.
    fn write_changes(&self, before: &Value, after: &Value) -> anyhow::Result<ExitStatus> {
        let mut changed = Map::new();
        for key in description_keys(before).union(&description_keys(after)) {
            let (was, is) = (&before["description"][key], &after["description"][key]);
            if was != is {
                changed.insert(key.clone(), json!({ "before": was, "after": is }));
            }
        }
        if self.output.format() == Format::Json {
            let edited: Vec<&String> = after["edits"]
                .as_object()
                .into_iter()
                .flatten()
                .map(|(key, _)| key)
                .collect();
            let report = json!({ "id": self.id, "changed": changed, "edited": edited, "etag": after["etag"] });
            let mut out = report_output();
            serde_json::to_writer_pretty(&mut out, &report)?;
            writeln!(out)?;
            return Ok(ExitStatus::Success);
        }
        let mut out = messages();
        for (key, change) in &changed {
            let (was, is) = (change["before"].to_string(), change["after"].to_string());
            writeln!(out, "{key}: {} → {}", safe(&was), safe(&is))?;
        }
        if changed.is_empty() {
            writeln!(out, "nothing changed: the description is as requested")?;
        }
        Ok(ExitStatus::Success)
    }
}

fn description_keys(state: &Value) -> BTreeSet<String> {
    let keys = state["description"].as_object().into_iter().flatten();
    keys.map(|(key, _)| key.clone()).collect()
}

fn member_text(value: &Value, key: &str) -> String {
    safe(value[key].as_str().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(clap::Parser)]
    struct Command {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn parsed(options: &[&str]) -> Result<Arguments, clap::Error> {
        let all = ["edit", "trees"].iter().chain(options);
        Ok(Command::try_parse_from(all)?.arguments)
    }

    fn arguments(set: &[&str], unset: &[&str]) -> Arguments {
        let mut options = Vec::new();
        set.iter().for_each(|text| options.extend(["--set", text]));
        unset
            .iter()
            .for_each(|key| options.extend(["--unset", key]));
        parsed(&options).expect("arguments")
    }

    #[test]
    fn options_make_one_patch() {
        let patch = arguments(
            &[
                "title@de=Bäume",
                "title@=Trees",
                "keywords=[\"a\"]",
                "license=https://e.org/a=b",
            ],
            &["title@fr", "publisher"],
        );
        assert_eq!(
            Value::Object(patch.merge_patch().expect("a patch")),
            json!({
                "title": {"de": "Bäume", "und": "Trees", "fr": null}, "keywords": ["a"],
                "license": "https://e.org/a=b", "publisher": null,
            })
        );
        assert!(
            arguments(&["title=a", "title=b"], &[])
                .merge_patch()
                .is_err()
        );
        assert!(parsed(&["--set", "title"]).is_err() && parsed(&["--set", "=a"]).is_err());
        assert!(parsed(&["--reset"]).expect("all").resets_all());
        assert!(parsed(&["--reset", "--set", "title=a"]).is_err());
        let one = parsed(&["--reset=tags", "--reset=title"]).expect("keys");
        assert_eq!(one.reset_keys().expect("known keys"), ["keywords", "title"]);
        assert!(
            parsed(&["--reset=titel"])
                .expect("a key")
                .reset_keys()
                .is_err()
        );
    }
}
