//! Works that use datasets: their addition and removal.
//!
//! Why no worker process? Lists are not compressed and have a maximum size. Each line has one, too, so that its JSON is small when
//! it is parsed. The parser is a fuzz target.

use crate::change::WorksUpload;
use crate::collection::Collection;
use crate::control::ChangeError;
use crate::report::Removed;
use crate::uploads::Spool;
use lodeseek_catalog::{CitingWork, CitingWorks};
use lodeseek_engine::{AddedWorks, add_works, remove_works};
use std::fs::File;
use std::io::{self, BufReader};

/// Name of the uploaded list in its folder.
pub const WORKS_LIST: &str = "works.jsonl";
/// Maximum number of unreadable lines in an error.
const MAX_PROBLEMS: usize = 10;
/// Action of jobs that add works.
pub const ADD_WORKS: &str = "works";

/// Removes works, all or none.
pub(crate) fn remove_works_by_id(
    ids: &[String],
    collection: Collection<'_>,
) -> Result<Removed, ChangeError> {
    let open = collection.open()?;
    let removed = remove_works(open.store(), ids)?;
    open.refresh()?;
    Ok(Removed { removed })
}

/// Adds works.
pub(crate) fn add_uploaded_works(
    works: WorksUpload,
    collection: Collection<'_>,
) -> Result<AddedWorks, ChangeError> {
    let works = match works {
        WorksUpload::File(spool) => read_uploaded_list(&spool)?,
        WorksUpload::List(works) => works,
    };
    let open = collection.open()?;
    let added = add_works(open.store(), works)?;
    open.refresh()?;
    Ok(added)
}

/// Reads an uploaded list, all lines or none.
fn read_uploaded_list(spool: &Spool) -> Result<Vec<CitingWork>, ChangeError> {
    let list = match open_list(spool) {
        Ok(list) => list,
        Err(error) => {
            return Err(ChangeError::Failed(format!(
                "cannot read the uploaded list: {error}"
            )));
        }
    };
    if !list.problems.is_empty() {
        let lines: Vec<String> = list
            .problems
            .iter()
            .map(|problem| format!("line {problem}"))
            .collect();
        return Err(ChangeError::Failed(format!(
            "nothing was changed: {}",
            lines.join("; ")
        )));
    }
    if list.works.is_empty() {
        return Err(ChangeError::Failed(
            "nothing was changed: the body contains no work".to_owned(),
        ));
    }
    Ok(list.works)
}

fn open_list(spool: &Spool) -> io::Result<CitingWorks> {
    CitingWorks::from_lines(
        BufReader::new(File::open(spool.path().join(WORKS_LIST))?),
        MAX_PROBLEMS,
    )
}
