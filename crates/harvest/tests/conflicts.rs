//! A dataset that another change adds during a harvest is not replaced, neither by this harvest nor by the next one.

use lodeseek_catalog::DatasetId;
use lodeseek_harvest::{
    Batch, DatasetSink, HarvestOptions, HarvestReport, Harvester, StoreOutcome,
};
use lodeseek_net::egress::Egress;
use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::path::Path;

const CATALOG: &str =
    "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
<http://e.org/a> a dcat:Dataset ; dct:identifier \"a\" ; dct:title \"A\" .
<http://e.org/b> a dcat:Dataset ; dct:identifier \"b\" ; dct:title \"B\" .\n";

/// Sink with datasets that other changes have added since the harvest began.
#[derive(Default)]
struct Sink {
    foreign: BTreeSet<DatasetId>,
    stored: BTreeSet<DatasetId>,
}

impl DatasetSink for Sink {
    fn store(
        &mut self,
        batch: Batch,
    ) -> Result<Vec<(DatasetId, StoreOutcome)>, Box<dyn Error + Send + Sync>> {
        let mut outcomes = Vec::new();
        for dataset in batch.datasets {
            let id = dataset.metadata.id;
            if self.foreign.contains(&id) {
                outcomes.push((id, StoreOutcome::Conflict));
            } else {
                self.stored.insert(id.clone());
                outcomes.push((id, StoreOutcome::Stored));
            }
        }
        Ok(outcomes)
    }

    fn remove(&mut self, ids: &[DatasetId]) -> Result<(), Box<dyn Error + Send + Sync>> {
        panic!("nothing is delisted: {ids:?}");
    }
}

fn harvest(folder: &Path, sink: &mut Sink, existing_ids: BTreeSet<DatasetId>) -> HarvestReport {
    let options = HarvestOptions {
        existing_ids,
        ..HarvestOptions::default()
    };
    let egress = Egress::default();
    let harvester = Harvester::new(&egress, folder, "here").with_options(options);
    harvester
        .run(
            &[folder.join("catalog.ttl").display().to_string()],
            sink,
            &|_| (),
        )
        .expect("harvested")
}

#[test]
fn a_dataset_added_meanwhile_is_not_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("catalog.ttl"), CATALOG).expect("written");
    let id = |text: &str| DatasetId::new(text).expect("an id");
    let mut sink = Sink {
        foreign: BTreeSet::from([id("b")]),
        ..Sink::default()
    };
    let report = harvest(folder.path(), &mut sink, BTreeSet::new());
    assert_eq!(
        (report.new.as_slice(), sink.stored.len()),
        (&[id("a")][..], 1),
        "{report:?}"
    );
    let source = &report.sources[0];
    assert!(
        !source.whole && source.failed.len() == 1 && source.failed[0].what == "dataset b",
        "{report:?}"
    );

    let mut sink = Sink::default();
    let report = harvest(folder.path(), &mut sink, BTreeSet::from([id("a"), id("b")]));
    assert_eq!(
        (report.new.len(), report.changed.as_slice()),
        (1, &[id("a")][..]),
        "{report:?}"
    );
    assert!(
        report.is_clean() && sink.stored.len() == 2 && !sink.stored.contains(&id("b")),
        "{:?}",
        sink.stored
    );
}
