//! `lodeseek quality`: assesses the quality of datasets and names the next improvement.

use super::ExitStatus;
use super::dataset_ids;
use super::output::{OutputArguments, write_json};
use super::terminal::{Style, bar, counted, cut, grouped, safe};
use ipnet::IpNet;
use lodeseek_catalog::DatasetId;
use lodeseek_engine::{
    EngineError, Searcher, assess_catalog, assess_dataset, distribution_addresses, read_url_checks,
    write_url_checks,
};
use lodeseek_engine::{assessment_json, overview_json};
use lodeseek_net::egress::{Egress, EgressPolicy, OtherHosts};
use lodeseek_quality::{
    Assessment, CheckOptions, DatasetLabel, Dimension, MAX_SCORE, Outcome, Overview, UrlChecks,
    check_urls,
};
use lodeseek_store::{Access, Store};
use oxsdatatypes::DateTime;
use std::io::{self, Write};
use std::path::Path;

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// Id of the dataset [default: an overview of all datasets].
    #[arg(value_name = "DATASET")]
    dataset: Option<String>,
    #[command(flatten)]
    output: OutputArguments,
    /// Check that the addresses of distributions respond, least recently checked first. The results are stored in the home.
    /// Without this option the command sends no requests.
    #[arg(long)]
    check: bool,
    /// Maximum number of addresses to check.
    #[arg(long, value_name = "N", default_value_t = 1000, requires = "check")]
    budget: usize,
    /// Allow a private network for the hosts of --inner-address only (127.0.0.0/8, 10.1.0.0/16). Repeatable.
    #[arg(long, alias = "inner-network", value_name = "CIDR", requires = "check")]
    allow_private_network: Vec<IpNet>,
    /// Prefix of addresses that may be in a private network (--allow-private-network). Repeatable.
    #[arg(long, value_name = "IRI", requires = "check")]
    inner_address: Vec<lodeseek_net::egress::IriPrefix>,
    /// Maximum number of lines of each list.
    #[arg(long, value_name = "N", default_value_t = 15)]
    limit: usize,
}

pub(crate) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    let store = Store::open(home, Access::Read, None)?;
    let searcher = Searcher::open(home)?;
    let id = arguments
        .dataset
        .as_deref()
        .map(DatasetId::new)
        .transpose()?;
    let mut checks = read_url_checks(home)?;
    if arguments.check {
        check_addresses(&store, id.as_ref(), &mut checks, arguments)?;
        write_url_checks(home, &checks)?;
    }
    let mut out = io::stdout().lock();
    if let Some(id) = &id {
        let assessed = assess_dataset(id, &store, &searcher, &checks)?;
        let (label, assessment) =
            assessed.ok_or_else(|| dataset_ids::unknown(home, &searcher, id))?;
        if arguments.output.is_json() {
            write_json(&mut out, &assessment_json(&label, &assessment))?;
        } else {
            write_assessment(&mut out, &label, &assessment)?;
        }
        return Ok(ExitStatus::Success);
    }
    let overview = assess_catalog(&store, &searcher, &checks)?;
    if arguments.output.is_json() {
        write_json(&mut out, &overview_json(&overview))?;
    } else {
        write_overview(&mut out, &overview, arguments.limit)?;
    }
    Ok(if overview.is_empty() {
        ExitStatus::NoResult
    } else {
        ExitStatus::Success
    })
}

/// Checks the addresses of one dataset or of all. Results are saved after every hundred, so that an interrupted run keeps them.
fn check_addresses(
    store: &Store,
    dataset: Option<&DatasetId>,
    checks: &mut UrlChecks,
    arguments: &Arguments,
) -> anyhow::Result<()> {
    let policy = EgressPolicy {
        listed: arguments.inner_address.clone(),
        others: OtherHosts::AnyPublic,
        private_networks: arguments.allow_private_network.clone(),
    };
    let addresses = checks.oldest(&distribution_addresses(store, dataset)?, arguments.budget);
    let progress = bar(
        addresses.len() as u64,
        "{pos}/{len} addresses {wide_bar} {elapsed}",
    );
    let egress = Egress::new(policy);
    let mut checked = 0_usize;
    let mut saved: Result<(), EngineError> = Ok(());
    check_urls(
        &egress,
        &addresses,
        DateTime::now(),
        &CheckOptions::default(),
        |address, result| {
            checks.insert(address, result);
            checked += 1;
            if checked.is_multiple_of(100) && saved.is_ok() {
                saved = write_url_checks(store.home(), checks);
            }
            progress.inc(1);
        },
    );
    progress.finish_and_clear();
    Ok(saved?)
}

fn write_assessment(
    out: &mut impl Write,
    label: &DatasetLabel,
    assessment: &Assessment,
) -> io::Result<()> {
    let style = Style::of_stdout();
    writeln!(
        out,
        "{}  {}",
        style.strong(&safe(&label.title)),
        style.faint(&format!("[{}]", safe(label.id.as_str())))
    )?;
    let points = assessment.points();
    writeln!(
        out,
        "{}: {} of {MAX_SCORE} ({} of {} measurable points)",
        assessment.band().name(),
        assessment.score(),
        points.given,
        points.of
    )?;
    for dimension in Dimension::ALL {
        let points = assessment.points_of(dimension);
        let note = if dimension.is_scored() {
            ""
        } else {
            ", not part of the score"
        };
        writeln!(
            out,
            "\n{} {} of {}{note}",
            style.strong(dimension.name()),
            points.given,
            points.of
        )?;
        for finding in assessment
            .findings
            .iter()
            .filter(|finding| finding.indicator.dimension() == dimension)
        {
            let (sign, earned) = match finding.outcome {
                Outcome::Met => ("+", finding.indicator.weight()),
                Outcome::Missed => ("-", 0),
                Outcome::Unknown => ("?", 0),
            };
            let (key, weight) = (finding.indicator.key(), finding.indicator.weight());
            writeln!(
                out,
                "  {sign} {earned:>2}/{weight:<2} {key:<21} {}",
                cut(&finding.reason, 100)
            )?;
        }
    }
    for violation in &assessment.violations {
        writeln!(
            out,
            "DCAT-AP: {} {} {}",
            safe(&violation.node),
            safe(&violation.property),
            violation.fault.message()
        )?;
    }
    if let Some(next) = assessment.improvements().first() {
        writeln!(
            out,
            "\nNext: {} (+{})",
            next.indicator.advice(),
            next.indicator.weight()
        )?;
    }
    Ok(())
}

fn write_overview(out: &mut impl Write, overview: &Overview, limit: usize) -> io::Result<()> {
    let style = Style::of_stdout();
    let heading = format!(
        "{}, mean score {:.1} of {MAX_SCORE}",
        counted(overview.len(), "dataset"),
        overview.mean()
    );
    writeln!(out, "{}", style.strong(&heading))?;
    let bands = overview
        .bands()
        .map(|(band, count)| format!("{} {}", band.name(), grouped(count as u64)));
    writeln!(out, "{}", bands.join(", "))?;
    let shares = Dimension::ALL.iter().filter_map(|dimension| {
        overview
            .percent_of(*dimension)
            .map(|percent| format!("{} {percent} %", dimension.name()))
    });
    writeln!(out, "{}", shares.collect::<Vec<_>>().join(", "))?;
    writeln!(out, "\n{}", style.strong("largest losses of points"))?;
    for problem in overview
        .problems()
        .iter()
        .filter(|problem| problem.missed > 0)
        .take(limit)
    {
        let measured = problem.met + problem.missed;
        let advice = problem.indicator.advice();
        let weight = problem.indicator.weight();
        writeln!(
            out,
            "{:>10} of {:<10} {weight:>2} points  {advice}",
            grouped(problem.missed),
            grouped(measured)
        )?;
    }
    writeln!(out, "\n{}", style.strong("by publisher"))?;
    for row in overview.publishers().iter().take(limit) {
        let name = row.name.as_deref().unwrap_or("no publisher");
        let advice = match row.worst {
            Some(problem) => problem.indicator.advice(),
            None => "",
        };
        writeln!(
            out,
            "{:>10}  {:>5.1}  {}  {}",
            grouped(row.datasets),
            row.mean,
            cut(name, 50),
            style.faint(advice)
        )?;
    }
    writeln!(out, "\n{}", style.strong("lowest scores"))?;
    for row in overview.worst(limit) {
        let id = style.faint(&format!("[{}]", safe(row.dataset.id.as_str())));
        writeln!(
            out,
            "{:>10}  {}  {id}",
            row.score,
            cut(&row.dataset.title, 80)
        )?;
    }
    Ok(())
}
