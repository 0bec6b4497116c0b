//! Commands in the pages of the documentation, for the tests of the programs: each must parse.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A command in a page.
#[derive(Clone, Debug)]
pub struct DocumentedCommand {
    /// Path of the page.
    pub page: PathBuf,
    /// The command as a shell splits it. The first word is the program.
    pub words: Vec<String>,
}

/// Returns the commands of a program in README.md and in all pages of `docs/`. `root` is the folder of the repository.
///
/// # Errors
/// If a page cannot be read.
pub fn documented_commands(root: &Path, program: &str) -> io::Result<Vec<DocumentedCommand>> {
    let mut pages = vec![root.join("README.md")];
    collect_pages(&root.join("docs"), &mut pages)?;
    let mut commands = Vec::new();
    for page in pages {
        for line in find_commands(&fs::read_to_string(&page)?, program) {
            let words = split_words(&line);
            let page = page.clone();
            commands.push(DocumentedCommand { page, words });
        }
    }
    Ok(commands)
}

fn collect_pages(folder: &Path, pages: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect_pages(&path, pages)?;
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
    Ok(())
}

/// Returns the lines that start with the program or `$` and the program, with their continuations. `$model`, the variable of a shell
/// loop over ranking models, is replaced by one of them. Lines with placeholders are left out.
fn find_commands(text: &str, program: &str) -> Vec<String> {
    let joined = text.replace("\\\n", " ").replace("$model", "bm25");
    let start = format!("{program} ");
    let mut commands = Vec::new();
    for line in joined.lines() {
        let line = line.trim_start().trim_start_matches("$ ");
        if line.starts_with(&start) && !line.contains(['<', '…']) {
            commands.push(line.to_owned());
        }
    }
    commands
}

/// Splits a command as a shell does: white space outside quotes separates words; `|`, `>`, `&` and `#` end it.
fn split_words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for character in command.chars() {
        match (quote, character) {
            (Some(open), close) if open == close => quote = None,
            (Some(_), inside) => word.get_or_insert_default().push(inside),
            (None, '"' | '\'') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, '|' | '>' | '&' | '#') => break,
            (None, white) if white.is_whitespace() => words.extend(word.take()),
            (None, other) => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_and_split() {
        let page = "text\n$ lodeseek search \"two words\" \\\n  -k 1 # note\nlodeseek-lab tag x\nlodeseek load <FILE>\n";
        let commands = find_commands(page, "lodeseek");
        assert_eq!(commands.len(), 1, "{commands:?}");
        let expected = ["lodeseek", "search", "two words", "-k", "1"];
        assert_eq!(split_words(&commands[0]), expected);
        assert_eq!(find_commands(page, "lodeseek-lab"), ["lodeseek-lab tag x"]);
    }
}
