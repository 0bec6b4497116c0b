//! `lodeseek translations`: creates the dictionary by which queries in other languages find datasets.

use super::ExitStatus;
use super::terminal::{grouped, safe};
use lodeseek_engine::{LabelCollector, read_translations, remove_translations, write_translations};
use lodeseek_rdf::dump::{DumpReader, Outcome};
use lodeseek_rdf::language_name;
use lodeseek_store::check_home;
use std::io::{self, Write};
use std::path::Path;

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// RDF files, such as thesauri in SKOS. Labels of a resource in different languages translate each other. The files
    /// replace the dictionary; without files it is listed.
    #[arg(value_name = "FILE")]
    files: Vec<String>,
    /// Languages of the collection, into which queries are translated, separated by commas.
    #[arg(
        long,
        value_name = "LANGUAGES",
        value_delimiter = ',',
        default_value = "en",
        requires = "files"
    )]
    to: Vec<String>,
    /// Remove the dictionary.
    #[arg(long, conflicts_with = "files")]
    remove: bool,
}

pub(crate) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    check_home(home)?;
    if arguments.remove {
        let is_removed = remove_translations(home)?;
        writeln!(
            io::stderr(),
            "{}",
            if is_removed {
                "the dictionary was removed"
            } else {
                "there is no dictionary"
            }
        )?;
        return Ok(if is_removed {
            ExitStatus::Success
        } else {
            ExitStatus::NoResult
        });
    }
    if !arguments.files.is_empty() {
        create(home, arguments)?;
    }
    let Some(translations) = read_translations(home)? else {
        writeln!(
            io::stderr(),
            "there is no dictionary; create one with `lodeseek translations FILE`"
        )?;
        return Ok(ExitStatus::NoResult);
    };
    let mut out = io::stdout().lock();
    let targets: Vec<&str> = translations.targets().map(language_name).collect();
    writeln!(out, "expressions translated into {}:", targets.join(", "))?;
    for (language, expressions) in translations.sources() {
        writeln!(
            out,
            "{:>9} {}",
            grouped(expressions as u64),
            safe(language_name(language))
        )?;
    }
    Ok(ExitStatus::Success)
}

/// Replaces the dictionary by the labels of all files.
///
/// # Errors
/// If a file cannot be read, or the labels translate nothing. The former dictionary then remains.
fn create(home: &Path, arguments: &Arguments) -> anyhow::Result<()> {
    let mut labels = LabelCollector::default();
    for file in &arguments.files {
        for report in
            DumpReader::default().read_file(Path::new(file), file, "file:///", &mut labels)
        {
            for problem in &report.problems {
                writeln!(
                    io::stderr(),
                    "{}: {}",
                    safe(&report.file),
                    safe(&problem.to_string())
                )?;
            }
            let is_read = !matches!(report.outcome, Outcome::Refused | Outcome::Unreadable);
            anyhow::ensure!(is_read, "cannot read {file}; the dictionary is unchanged");
        }
    }
    let dictionary = labels.into_dictionary(arguments.to.iter().map(String::as_str));
    anyhow::ensure!(
        !dictionary.is_empty(),
        "no resource has labels (skos:prefLabel, skos:altLabel, rdfs:label) in {} and in another language; --to names \
         the languages of the collection",
        arguments.to.join(" or ")
    );
    write_translations(home, dictionary)?;
    writeln!(
        io::stderr(),
        "the dictionary was written; a running server reads it when it is started again"
    )?;
    Ok(())
}
