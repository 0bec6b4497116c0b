//! Files installed with the program: models and ONNX Runtime. The program is in an archive, a system, or a Python environment.

use std::env;
use std::path::{Path, PathBuf};

/// Returns the folders in which models are searched.
pub fn model_folders() -> Vec<PathBuf> {
    find_program()
        .map(|program| models_beside(&program))
        .unwrap_or_default()
}

/// Returns the folders in which ONNX Runtime is searched, each with folders such as `onnxruntime-1.31.1`.
pub fn library_folders() -> Vec<PathBuf> {
    find_program()
        .map(|program| libraries_beside(&program))
        .unwrap_or_default()
}

/// Returns the folders of the Python package `onnxruntime` in the environment in which the program is installed, newest Python
/// first. They contain the library itself.
pub fn python_library_folders() -> Vec<PathBuf> {
    find_program()
        .map(|program| python_libraries_beside(&program))
        .unwrap_or_default()
}

/// Returns the path of the running program, without symbolic links.
fn find_program() -> Option<PathBuf> {
    env::current_exe()
        .and_then(|program| program.canonicalize())
        .ok()
}

/// Returns the folders of models of a program: one of an unpacked archive, an installed one, and one in Cargo's build folder.
fn models_beside(program: &Path) -> Vec<PathBuf> {
    let mut folders = folders_beside(program, "models", "share/lodeseek/models");
    let checkout = program
        .ancestors()
        .find(|ancestor| ancestor.file_name().is_some_and(|name| name == "target"))
        .and_then(Path::parent);
    folders.extend(checkout.map(|checkout| checkout.join("models")));
    folders
}

fn libraries_beside(program: &Path) -> Vec<PathBuf> {
    folders_beside(program, "lib", "lib/lodeseek")
}

/// Returns the folders of libraries of the packages `onnxruntime` for a program in `bin` of a Python environment.
fn python_libraries_beside(program: &Path) -> Vec<PathBuf> {
    let Some(prefix) = program.parent().and_then(Path::parent) else {
        return Vec::new();
    };
    let mut pythons = Vec::new();
    for libraries in ["lib", "lib64"] {
        let Ok(folders) = prefix.join(libraries).read_dir() else {
            continue;
        };
        for folder in folders.filter_map(Result::ok) {
            // As numbers, because 3.9 precedes 3.10.
            if let Some(minor) = folder.file_name().to_str().and_then(python_minor_version) {
                pythons.push((minor, folder.path()));
            }
        }
    }
    pythons.sort_by(|one, other| other.cmp(one));
    let packages = ["site-packages", "dist-packages"];
    pythons
        .into_iter()
        .flat_map(|(_, python)| {
            packages.map(|packages| python.join(packages).join("onnxruntime/capi"))
        })
        .filter(|folder| folder.is_dir())
        .collect()
}

/// Parses the minor version in the name of a folder such as `python3.13`.
fn python_minor_version(folder: &str) -> Option<u32> {
    folder.strip_prefix("python3.")?.parse().ok()
}

/// Returns a folder beside a program of an unpacked archive, and one below the prefix of an installed program.
fn folders_beside(program: &Path, unpacked: &str, installed: &str) -> Vec<PathBuf> {
    let folder = program.parent();
    let prefix = folder.and_then(Path::parent);
    folder
        .map(|folder| folder.join(unpacked))
        .into_iter()
        .chain(prefix.map(|prefix| prefix.join(installed)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_searched_beside_the_program() {
        let installed = models_beside(Path::new("/usr/bin/lodeseek"));
        assert!(
            installed.contains(&PathBuf::from("/usr/share/lodeseek/models")),
            "{installed:?}"
        );
        let built = models_beside(Path::new("/src/lodeseek/target/debug/lodeseek"));
        assert!(
            built.contains(&PathBuf::from("/src/lodeseek/models")),
            "{built:?}"
        );
        assert_eq!(
            models_beside(Path::new("/opt/lodeseek/lodeseek"))[0],
            Path::new("/opt/lodeseek/models")
        );
    }

    #[test]
    fn libraries_are_searched_beside_the_program() {
        let installed = libraries_beside(Path::new("/usr/bin/lodeseek"));
        assert_eq!(
            installed,
            [Path::new("/usr/bin/lib"), Path::new("/usr/lib/lodeseek")]
        );
        assert_eq!(
            libraries_beside(Path::new("/opt/lodeseek/lodeseek"))[0],
            Path::new("/opt/lodeseek/lib")
        );
    }

    #[test]
    fn libraries_are_searched_in_the_python_environment_of_the_program() {
        let environment = tempfile::tempdir().expect("a folder");
        let program = environment.path().join("bin/lodeseek");
        assert!(python_libraries_beside(&program).is_empty());
        let old = environment
            .path()
            .join("lib/python3.9/site-packages/onnxruntime/capi");
        let new = environment
            .path()
            .join("lib/python3.13/dist-packages/onnxruntime/capi");
        std::fs::create_dir_all(&old).expect("a folder");
        std::fs::create_dir_all(&new).expect("a folder");
        std::fs::create_dir_all(environment.path().join("lib/python3.11/site-packages"))
            .expect("a folder");
        assert_eq!(python_libraries_beside(&program), [new, old]);
    }
}
