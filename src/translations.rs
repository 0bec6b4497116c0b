//! `lodeseek translations`: creates the dictionary by which queries in other languages find datasets.

use super::ExitStatus;
use super::terminal::{grouped, safe};
use lodeseek_cli::streams::{messages, report_output};
use lodeseek_engine::{
    AnalysisKind, DictionaryFile, LabelCollector, index_folder, read_dictionary,
    remove_translations, update_own_translations, write_translations,
};
use lodeseek_index::{Analysis, Translations, read_analysis};
use lodeseek_rdf::dump::{DumpReader, Outcome};
use lodeseek_rdf::language_name;
use lodeseek_store::{Access, Store, check_home};
use std::io::{self, Write};
use std::path::Path;

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// RDF files, such as thesauri in SKOS. Labels of a resource in different languages translate each other, as those of the
    /// collection itself do. The files replace those of an earlier call; without files the dictionary is listed.
    #[arg(value_name = "FILE")]
    files: Vec<String>,
    /// Languages of the collection, into which queries are translated, separated by commas [default of the labels of the
    /// collection itself: the languages of its titles and descriptions].
    #[arg(
        long,
        value_name = "LANGUAGES",
        value_delimiter = ',',
        default_value = "en",
        requires = "files"
    )]
    to: Vec<String>,
    /// Remove the labels of the files. Those of the collection remain.
    #[arg(long, conflicts_with = "files")]
    remove: bool,
}

pub(crate) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    check_home(home)?;
    if arguments.remove {
        let is_removed = remove_translations(home, DictionaryFile::Operator)?;
        update_own(home)?;
        writeln!(
            messages(),
            "{}",
            if is_removed {
                "the labels of the files were removed"
            } else {
                "there are no labels of files"
            }
        )?;
        return Ok(if is_removed {
            ExitStatus::Success
        } else {
            ExitStatus::NoResult
        });
    }
    if !arguments.files.is_empty() {
        create_dictionary(home, arguments)?;
    }
    let mut is_empty = true;
    for (file, source) in [
        (DictionaryFile::Own, "labels of the collection"),
        (DictionaryFile::Operator, "labels of files"),
    ] {
        if let Some(translations) = read_dictionary(home, file)? {
            write_dictionary(source, &translations)?;
            is_empty = false;
        }
    }
    if is_empty {
        writeln!(
            messages(),
            "there is no dictionary: no dataset has labels in several languages; `lodeseek translations FILE` adds labels"
        )?;
        return Ok(ExitStatus::NoResult);
    }
    Ok(ExitStatus::Success)
}

/// Creates the dictionary of the collection's own labels again: its languages depend on those of the operator's dictionary.
fn update_own(home: &Path) -> anyhow::Result<()> {
    let kind = read_analysis(&index_folder(home)).unwrap_or(AnalysisKind::Multilingual);
    let store = Store::open(home, Access::Read, None)?;
    update_own_translations(&store, &Analysis::new(kind))?;
    Ok(())
}

fn write_dictionary(source: &str, translations: &Translations) -> io::Result<()> {
    let mut out = report_output();
    let targets: Vec<&str> = translations.targets().map(language_name).collect();
    writeln!(
        out,
        "{source}, translated into {}:",
        safe(&targets.join(", "))
    )?;
    for (language, expressions) in translations.sources() {
        writeln!(
            out,
            "{:>9} {}",
            grouped(expressions as u64),
            safe(language_name(language))
        )?;
    }
    Ok(())
}

/// Replaces the dictionary by the labels of all files.
///
/// # Errors
/// If a file cannot be read, or the labels translate nothing. The former dictionary then remains.
fn create_dictionary(home: &Path, arguments: &Arguments) -> anyhow::Result<()> {
    let mut labels = LabelCollector::default();
    for file in &arguments.files {
        for report in
            DumpReader::default().read_file(Path::new(file), file, "file:///", &mut labels)
        {
            for problem in &report.problems {
                writeln!(
                    messages(),
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
    update_own(home)?;
    writeln!(messages(), "the dictionary was written")?;
    Ok(())
}
