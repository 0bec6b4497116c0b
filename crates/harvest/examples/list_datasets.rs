//! Reads a source by its protocol and prints id and title of each dataset. Nothing is kept: what this takes is the cost of fetching,
//! reading and mapping the records, without that of a store.
//!
//! Usage: `cargo run --release -p lodeseek-harvest --example list_datasets -- ADDRESS`

#![expect(clippy::print_stdout, reason = "an example prints its results")]

use lodeseek_catalog::DatasetId;
use lodeseek_harvest::{
    Batch, DatasetSink, HarvestOptions, Harvester, StoreOutcome, allow_source_hosts,
};
use lodeseek_net::egress::{Egress, EgressPolicy};
use std::error::Error;
use std::time::Duration;

/// Sink that prints datasets.
struct Printer;

impl DatasetSink for Printer {
    fn store(
        &mut self,
        batch: Batch,
    ) -> Result<Vec<(DatasetId, StoreOutcome)>, Box<dyn Error + Send + Sync>> {
        let mut outcomes = Vec::with_capacity(batch.datasets.len());
        for dataset in batch.datasets {
            println!("{}\t{}", dataset.metadata.id, dataset.metadata.title());
            outcomes.push((dataset.metadata.id, StoreOutcome::Stored));
        }
        Ok(outcomes)
    }

    fn remove(&mut self, _: &[DatasetId]) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let Some(address) = std::env::args().nth(1) else {
        return Err("usage: list_datasets ADDRESS".into());
    };
    let sources = [address];
    let mut policy = EgressPolicy {
        // A server on this machine may be read, too.
        private_networks: vec!["127.0.0.0/8".parse()?],
        ..EgressPolicy::default()
    };
    allow_source_hosts(&mut policy, &sources)?;
    let egress = Egress::new(policy);
    let options = HarvestOptions {
        pause: Duration::ZERO,
        ..HarvestOptions::default()
    };
    let folder = tempfile::tempdir()?;
    let report = Harvester::new(&egress, folder.path(), "list")
        .with_options(options)
        .run(&sources, &mut Printer, &|_| ())?;
    if report.is_whole() {
        Ok(())
    } else {
        Err(format!("a part was not read: {:?}", report.sources).into())
    }
}
