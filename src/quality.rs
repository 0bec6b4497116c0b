//! `lodeseek quality`: how good the datasets are, and what to do next.

use super::Done;
use super::terminal::{Style, bar, cut, grouped, safe};
use anyhow::Context;
use ipnet::IpNet;
use lodeseek_catalog::DatasetId;
use lodeseek_engine::{Searcher, distribution_addresses, quality_of, quality_of_all};
use lodeseek_net::egress::{Egress, EgressPolicy, OtherHosts};
use lodeseek_quality::{Assessment, CheckOptions, Dimension, DatasetLabel, Outcome, Overview, POINTS, UrlChecks, check};
use lodeseek_engine::{assessment_json, overview_json};
use lodeseek_store::{Access, Store};
use oxsdatatypes::DateTime;
use serde_json::Value;
use std::io::{self, Write};
use std::path::Path;

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// The dataset's id; without it all datasets together.
    #[arg(value_name = "DATASET")]
    dataset: Option<String>,
    /// How it is written.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Ask the addresses of distributions whether they answer, those asked longest ago first: the one thing that makes
    /// requests. What they answer is kept in the home.
    #[arg(long)]
    check: bool,
    /// Addresses asked at most.
    #[arg(long, value_name = "N", default_value_t = 1000, requires = "check")]
    budget: usize,
    /// Allow a private network for the hosts of --inner-address only (127.0.0.0/8, 10.1.0.0/16). Repeatable.
    #[arg(long, alias = "inner-network", value_name = "CIDR", requires = "check")]
    allow_private_network: Vec<IpNet>,
    /// The beginning of addresses that may lie in an inner network; any number of times.
    #[arg(long, value_name = "IRI", requires = "check")]
    inner_address: Vec<lodeseek_net::egress::IriPrefix>,
    /// Lines of each list at most.
    #[arg(long, value_name = "N", default_value_t = 15)]
    limit: usize,
}

#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Format {
    /// For people.
    Text,
    /// As `/api/quality` gives it.
    Json,
}

pub(crate) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<Done> {
    let store = Store::open(home, Access::Read, None)?;
    let searcher = Searcher::open(home)?;
    let id = arguments.dataset.as_deref().map(DatasetId::new).transpose()?;
    let mut reached = UrlChecks::read(home)?;
    if arguments.check {
        ask(&store, id.as_ref(), &mut reached, arguments)?;
        reached.write(home)?;
    }
    let mut out = io::stdout().lock();
    if let Some(id) = &id {
        let found = quality_of(id, &store, &searcher, &reached)?;
        let (named, found) = found.with_context(|| format!("there is no dataset {id}"))?;
        match arguments.format {
            Format::Json => write_json(&mut out, &assessment_json(&named, &found))?,
            Format::Text => write_one(&mut out, &named, &found)?,
        }
        return Ok(Done::Something);
    }
    let overview = quality_of_all(&store, &searcher, &reached)?;
    match arguments.format {
        Format::Json => write_json(&mut out, &overview_json(&overview))?,
        Format::Text => write_all(&mut out, &overview, arguments.limit)?,
    }
    Ok(if overview.is_empty() { Done::Nothing } else { Done::Something })
}

/// Asks addresses; every hundred answers are kept at once, so that a run that is broken off has not asked for nothing.
fn ask(store: &Store, of: Option<&DatasetId>, reached: &mut UrlChecks, arguments: &Arguments) -> anyhow::Result<()> {
    let policy = EgressPolicy {
        listed: arguments.inner_address.clone(),
        others: OtherHosts::AnyPublic,
        private_networks: arguments.allow_private_network.clone(),
    };
    let addresses = reached.oldest(&distribution_addresses(store, of)?, arguments.budget);
    let progress = bar(addresses.len() as u64, "{pos}/{len} addresses {wide_bar} {elapsed}");
    let (egress, now, mut answers, mut kept) = (Egress::new(policy), DateTime::now(), 0_usize, Ok(()));
    check(&egress, &addresses, now, &CheckOptions::default(), |address, reach| {
        reached.insert(address, reach);
        answers += 1;
        if answers.is_multiple_of(100) && kept.is_ok() {
            kept = reached.write(store.home());
        }
        progress.inc(1);
    });
    progress.finish_and_clear();
    Ok(kept?)
}

fn write_json(out: &mut impl Write, value: &Value) -> anyhow::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    Ok(writeln!(out)?)
}

fn write_one(out: &mut impl Write, named: &DatasetLabel, found: &Assessment) -> io::Result<()> {
    let style = Style::of_stdout();
    writeln!(out, "{}  {}", style.strong(&safe(&named.title)), style.faint(&format!("[{}]", safe(named.id.as_str()))))?;
    let points = found.points();
    writeln!(
        out,
        "{}: {} of {POINTS} ({} of the {} points that could be told)",
        found.band().name(),
        found.score(),
        points.given,
        points.of
    )?;
    for dimension in Dimension::ALL {
        let points = found.points_of(dimension);
        let aside = if dimension.is_scored() { "" } else { ", no part of the score" };
        writeln!(out, "\n{} {} of {}{aside}", style.strong(dimension.name()), points.given, points.of)?;
        for finding in found.findings.iter().filter(|finding| finding.indicator.dimension() == dimension) {
            let (sign, given) = match finding.outcome {
                Outcome::Met => ("+", finding.indicator.weight()),
                Outcome::Missed => ("-", 0),
                Outcome::Unknown => ("?", 0),
            };
            let (key, weight) = (finding.indicator.key(), finding.indicator.weight());
            writeln!(out, "  {sign} {given:>2}/{weight:<2} {key:<21} {}", cut(&finding.reason, 100))?;
        }
    }
    for breach in &found.violations {
        writeln!(out, "DCAT-AP: {} {} {}", safe(&breach.node), safe(&breach.property), breach.fault.message())?;
    }
    if let Some(next) = found.improvements().first() {
        writeln!(out, "\nNext: {} (+{})", next.indicator.advice(), next.indicator.weight())?;
    }
    Ok(())
}

fn write_all(out: &mut impl Write, overview: &Overview, limit: usize) -> io::Result<()> {
    let style = Style::of_stdout();
    let heading = format!("{} datasets, mean score {:.1} of {POINTS}", grouped(overview.len() as u64), overview.mean());
    writeln!(out, "{}", style.strong(&heading))?;
    let bands = overview.bands().map(|(band, count)| format!("{} {}", band.name(), grouped(count as u64)));
    writeln!(out, "{}", bands.join(", "))?;
    let shares = Dimension::ALL.iter().filter_map(|dimension| {
        overview.share_of(*dimension).map(|share| format!("{} {:.0} %", dimension.name(), 100.0 * share))
    });
    writeln!(out, "{}", shares.collect::<Vec<_>>().join(", "))?;
    writeln!(out, "\n{}", style.strong("what costs most"))?;
    for problem in overview.problems().iter().filter(|problem| problem.missed > 0).take(limit) {
        let (told, advice) = (problem.met + problem.missed, problem.indicator.advice());
        let weight = problem.indicator.weight();
        writeln!(out, "{:>10} of {:<10} {weight:>2} points  {advice}", grouped(problem.missed), grouped(told))?;
    }
    writeln!(out, "\n{}", style.strong("by publisher"))?;
    for row in overview.publishers().iter().take(limit) {
        let name = row.name.as_deref().unwrap_or("no publisher told");
        let advice = row.worst.map_or("", |problem| problem.indicator.advice());
        writeln!(out, "{:>10}  {:>5.1}  {}  {}", grouped(row.datasets), row.mean, cut(name, 50), style.faint(advice))?;
    }
    writeln!(out, "\n{}", style.strong("lowest scores"))?;
    for row in overview.worst(limit) {
        let id = style.faint(&format!("[{}]", safe(row.dataset.id.as_str())));
        writeln!(out, "{:>10}  {}  {id}", row.score, cut(&row.dataset.title, 80))?;
    }
    Ok(())
}
