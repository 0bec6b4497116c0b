//! Loads of catalogues and dumps.

use crate::change::{DumpsRequest, LoadRequest};
use crate::collection::{Collection, OpenCollection, Step};
use crate::control::{ChangeError, Control};
use crate::jobs::Progress;
use crate::parsing::Parser;
use crate::put::public_source;
use crate::report::{Assigned, LoadOutcome};
use lodeseek_catalog::{Catalog, Dataset, DatasetId, DumpFolder};
use lodeseek_store::{IdConflict, Incomplete, LoadOptions, LoadReport, LoadSource, OtherSources};

/// Loads sources step by step. All are read before anything is written, so that a source that cannot be read interrupts no load. A
/// cancellation keeps the steps that are done.
pub(crate) fn load_sources(
    request: &LoadRequest,
    collection: Collection<'_>,
    control: &Control,
) -> Result<LoadOutcome, ChangeError> {
    let parser = collection
        .parser()
        .with_cancellation(control.cancellation());
    let mut catalogs = read_catalogs(request, &parser)?;
    let dumps = match &request.dumps {
        Some(dumps) => Some(open_dumps(dumps)?),
        None => None,
    };
    let assigned_dumps = match &dumps {
        Some(dumps) => Some(assign_dumps(dumps, &mut catalogs, &request.id_prefix)?),
        None => None,
    };
    let mut loading = Loading {
        request,
        parser,
        open: collection.open()?,
        max_step_datasets: collection.max_step_datasets(),
        control,
        total: catalogs.iter().map(|catalog| catalog.datasets.len()).sum(),
        report: LoadReport::default(),
    };
    let mut incomplete_sources = Vec::new();
    for (number, catalog) in catalogs.into_iter().enumerate() {
        if is_incomplete(&catalog) {
            incomplete_sources.push(number);
        }
        loading.load_catalog(catalog, request.load_source(number))?;
    }
    control.report(loading.total, loading.total);
    let mut report = loading.report;
    report.limit(collection.max_list_entries());
    Ok(LoadOutcome {
        report,
        incomplete_sources,
        assigned_dumps,
    })
}

fn read_catalogs(request: &LoadRequest, parser: &Parser) -> Result<Vec<Catalog>, ChangeError> {
    let LoadRequest {
        sources,
        id_prefix,
        spool,
        ..
    } = request;
    let reader = parser.catalogs();
    match (
        Catalog::read_all_with(reader.as_ref(), sources, id_prefix),
        spool,
    ) {
        (Ok(catalogs), _) => Ok(catalogs),
        (Err(error), Some(spool)) => {
            Err(ChangeError::Failed(spool.without_path(&error.to_string())))
        }
        (Err(error), None) => Err(error.into()),
    }
}

/// Returns true if datasets may be missing, because a file or an entry is truncated or cannot be read.
fn is_incomplete(catalog: &Catalog) -> bool {
    let lacks_entries = catalog.unreadable_entries > 0 && catalog.dialect.has_entries();
    catalog.is_incomplete || lacks_entries
}

fn open_dumps(request: &DumpsRequest) -> Result<DumpFolder, ChangeError> {
    let DumpsRequest { path, pattern } = request;
    let dumps = if path.is_file() {
        DumpFolder::open_archive(path, pattern.as_deref())
    } else {
        DumpFolder::open(path, pattern.as_deref())
    };
    Ok(dumps?)
}

/// Assigns dumps to the datasets of all catalogues.
fn assign_dumps(
    dumps: &DumpFolder,
    catalogs: &mut [Catalog],
    id_prefix: &str,
) -> Result<Assigned, ChangeError> {
    let assigned = dumps.assign(catalogs, id_prefix)?;
    if let (0, Some(first)) = (assigned.datasets, assigned.missing.first()) {
        let first = first.as_str();
        let first = first.strip_prefix(id_prefix).unwrap_or(first);
        return Err(ChangeError::Failed(format!(
            "{} has no dump of any of the {} datasets: expected are files such as {first}.nt or {first}.ttl.gz, or folders; \
             --dumps-pattern describes other names",
            dumps.source().display(),
            assigned.missing.len(),
        )));
    }
    Ok(Assigned {
        datasets: assigned.datasets,
        missing: assigned.missing,
        unused_files: assigned.unused_files,
    })
}

/// A load that is made.
struct Loading<'l> {
    request: &'l LoadRequest,
    parser: Parser,
    open: OpenCollection<'l>,
    max_step_datasets: usize,
    control: &'l Control,
    /// Number of datasets of all catalogues.
    total: usize,
    report: LoadReport,
}

impl Loading<'_> {
    fn load_catalog(
        &mut self,
        mut catalog: Catalog,
        source: LoadSource,
    ) -> Result<(), ChangeError> {
        let incomplete = Incomplete::of_catalog(&catalog);
        let id_conflicts = self.assign_ids(&mut catalog.datasets, &source)?;
        let former: Vec<DatasetId> = id_conflicts
            .iter()
            .filter_map(|conflict| conflict.former_id.clone())
            .collect();
        let options = LoadOptions {
            reader: self.parser.contents(),
            incomplete,
            source: Some(source),
            content: self.request.content,
            ..LoadOptions::default()
        };
        self.report.merge(LoadReport {
            id_conflicts,
            ..LoadReport::of_catalog(catalog.problems, catalog.duplicates)
        });
        let mut datasets = catalog.datasets.into_iter().peekable();
        while datasets.peek().is_some() {
            self.control.check()?;
            let step: Vec<Dataset> = datasets.by_ref().take(self.max_step_datasets).collect();
            let part = Catalog {
                folder: catalog.folder.clone(),
                datasets: step,
                ..Catalog::default()
            };
            self.load_step(part, options.clone())?;
        }
        // Only now, when the datasets are stored with their new ids.
        if !former.is_empty() {
            let removal = Step::Remove(former);
            self.open
                .store_datasets(removal, LoadOptions::default(), &|_| ())?;
        }
        Ok(())
    }

    /// Sets the ids of datasets whose ids other sources use.
    fn assign_ids(
        &self,
        datasets: &mut [Dataset],
        source: &LoadSource,
    ) -> Result<Vec<IdConflict>, ChangeError> {
        let others = if self.request.replace {
            OtherSources::Replaced
        } else {
            OtherSources::Kept
        };
        let store = self.open.store();
        let mut conflicts = store.assign_ids(datasets, source, others)?;
        if self.request.spool.is_some() {
            for conflict in &mut conflicts {
                if let Some(other) = &mut conflict.other_source {
                    *other = public_source(other).to_owned();
                }
            }
        }
        Ok(conflicts)
    }

    fn load_step(&mut self, part: Catalog, options: LoadOptions) -> Result<(), ChangeError> {
        let (done, total) = (self.report.datasets.len(), self.total);
        self.control.report(done, total);
        let step = Step::Store(Box::new(part));
        let report = self.open.store_datasets(step, options, &|progress| {
            self.control.report_progress(Progress {
                done: done + progress.datasets,
                total,
                bytes: Some(progress.bytes),
                total_bytes: Some(progress.bytes_total),
                triples: Some(progress.triples),
                ..Progress::default()
            });
        })?;
        self.report.datasets.extend(report.datasets);
        self.report.cleared_graphs += report.cleared_graphs;
        Ok(())
    }
}
