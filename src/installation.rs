//! Files installed with the program: models and ONNX Runtime.

use std::env;
use std::path::{Path, PathBuf};

/// Returns the folders in which models are searched.
pub(crate) fn model_folders() -> Vec<PathBuf> {
    program().map(|program| models_beside(&program)).unwrap_or_default()
}

/// Returns the folders in which ONNX Runtime is searched, each with folders such as `onnxruntime-1.31.1`.
pub(crate) fn library_folders() -> Vec<PathBuf> {
    program().map(|program| libraries_beside(&program)).unwrap_or_default()
}

/// Returns the path of the running program, without symbolic links.
fn program() -> Option<PathBuf> {
    env::current_exe().and_then(|program| program.canonicalize()).ok()
}

/// Returns the folders of models of a program: one of an unpacked archive, an installed one, and one in Cargo's build folder.
fn models_beside(program: &Path) -> Vec<PathBuf> {
    let mut folders = beside(program, "models", "share/lodeseek/models");
    let is_build = |ancestor: &&Path| ancestor.file_name().is_some_and(|name| name == "target");
    let checkout = program.ancestors().find(is_build).and_then(Path::parent);
    folders.extend(checkout.map(|checkout| checkout.join("models")));
    folders
}

fn libraries_beside(program: &Path) -> Vec<PathBuf> {
    beside(program, "lib", "lib/lodeseek")
}

/// Returns a folder beside a program of an unpacked archive, and one below the prefix of an installed program.
fn beside(program: &Path, unpacked: &str, installed: &str) -> Vec<PathBuf> {
    let folder = program.parent();
    let prefix = folder.and_then(Path::parent);
    folder.map(|folder| folder.join(unpacked)).into_iter().chain(prefix.map(|prefix| prefix.join(installed))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_searched_beside_the_program() {
        let installed = models_beside(Path::new("/usr/bin/lodeseek"));
        assert!(installed.contains(&PathBuf::from("/usr/share/lodeseek/models")), "{installed:?}");
        let built = models_beside(Path::new("/src/lodeseek/target/debug/lodeseek"));
        assert!(built.contains(&PathBuf::from("/src/lodeseek/models")), "{built:?}");
        assert_eq!(models_beside(Path::new("/opt/lodeseek/lodeseek"))[0], Path::new("/opt/lodeseek/models"));
    }

    #[test]
    fn libraries_are_searched_beside_the_program() {
        let installed = libraries_beside(Path::new("/usr/bin/lodeseek"));
        assert_eq!(installed, [Path::new("/usr/bin/lib"), Path::new("/usr/lib/lodeseek")]);
        assert_eq!(libraries_beside(Path::new("/opt/lodeseek/lodeseek"))[0], Path::new("/opt/lodeseek/lib"));
    }
}
