//! Each indicator of one dataset, with its reason.

use super::compliance::{Compliance, part_name};
use super::controlled_vocabularies::{self, Format};
use super::description::Node;
use super::indicator::Indicator as I;
use super::{Assessment, Finding, Outcome, UrlChecks};
use lodeseek_profile::Summary;
use lodeseek_rdf::vocab::{dcat, dcterms, lodeseek};
use lodeseek_rdf::{TripleGraph, prefixed};
use oxrdf::NamedNode;
use oxsdatatypes::{Date, DateTime, GYear, GYearMonth};

/// Characters of a description that are taken as they are: fewer are refused, more are cut.
/// <https://developers.google.com/search/docs/appearance/structured-data/dataset>
const DESCRIPTION: std::ops::RangeInclusive<usize> = 50..=5000;
/// Names of vocabularies, or sources, that a reason tells.
const NAMED: usize = 3;

/// What a description, in the terms of the catalogue graph, and the content held of a dataset are worth; `None` where the
/// graph does not describe it.
#[must_use]
pub fn assess(
    description: &TripleGraph,
    dataset: &NamedNode,
    content: Option<&Summary>,
    reached: &UrlChecks,
) -> Option<Assessment> {
    let node = Node::find(description, dataset.as_str()).filter(|node| node.statements().next().is_some())?;
    let compliance = Compliance::new(node);
    let (distribution, mut findings) = best_distribution(node, dataset.as_str(), reached);
    findings.extend(of_dataset(node));
    findings.push(profile(&compliance));
    findings.extend(texts(node));
    findings.extend(of_content(node, content.filter(|summary| summary.triples > 0)));
    findings.sort_by_key(|finding| finding.indicator);
    Some(Assessment {
        findings,
        distribution,
        violations: compliance.violations,
        recommendations: compliance.recommendations,
    })
}

fn met(indicator: I, reason: impl Into<String>) -> Finding {
    Finding { indicator, outcome: Outcome::Met, reason: reason.into() }
}

fn missed(indicator: I, reason: impl Into<String>) -> Finding {
    Finding { indicator, outcome: Outcome::Missed, reason: reason.into() }
}

fn unknown(indicator: I, reason: impl Into<String>) -> Finding {
    Finding { indicator, outcome: Outcome::Unknown, reason: reason.into() }
}

fn if_met(indicator: I, is_met: bool, reason: impl Into<String>) -> Finding {
    if is_met { met(indicator, reason) } else { missed(indicator, reason) }
}

/// Whether a node has a property, and what it says.
fn has(indicator: I, node: Node<'_>, property: &str) -> Finding {
    match node.value(property) {
        Some(value) => met(indicator, format!("{} is {}", prefixed(property), shown(value))),
        None => missed(indicator, format!("there is no {}", prefixed(property))),
    }
}

/// A value in a line.
fn shown(value: Node<'_>) -> String {
    let name = value.name();
    let text = if name.is_empty() { "described" } else { &name };
    let mut line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(80).collect();
    if text.chars().nth(80).is_some() {
        line.push('…');
    }
    line
}

fn of_dataset(node: Node<'_>) -> Vec<Finding> {
    let rights = node.value(dcterms::ACCESS_RIGHTS);
    let listed = rights.and_then(Node::iri).is_some_and(controlled_vocabularies::is_access_right);
    let reason = match rights {
        Some(value) if listed => format!("{} is of the EU's list", value.term().text()),
        Some(value) => format!("{} is not of the EU's list", shown(value)),
        None => "there is no dct:accessRights".to_owned(),
    };
    vec![
        has(I::Keywords, node, dcat::KEYWORD),
        has(I::Themes, node, dcat::THEME),
        has(I::Spatial, node, dcterms::SPATIAL),
        has(I::Temporal, node, dcterms::TEMPORAL),
        has(I::AccessRights, node, dcterms::ACCESS_RIGHTS),
        if_met(I::AccessRightsListed, listed, reason),
        has(I::Contact, node, dcat::CONTACT_POINT),
        has(I::Publisher, node, dcterms::PUBLISHER),
        date(I::Issued, node, dcterms::ISSUED),
        date(I::Modified, node, dcterms::MODIFIED),
    ]
}

/// A date that is one: a year, a month, a day, or a moment.
fn date(indicator: I, node: Node<'_>, property: &str) -> Finding {
    let finding = has(indicator, node, property);
    let is_date = |text: &str| {
        let text = text.trim().replacen(' ', "T", 1);
        text.parse::<DateTime>().is_ok()
            || text.parse::<Date>().is_ok()
            || text.parse::<GYearMonth>().is_ok()
            || text.parse::<GYear>().is_ok()
    };
    match node.value(property) {
        Some(value) if !is_date(value.term().text()) => {
            missed(indicator, format!("{} {} is no date", prefixed(property), shown(value)))
        }
        _ => finding,
    }
}

fn profile(found: &Compliance<'_>) -> Finding {
    let breaches = &found.violations;
    let Some(first) = breaches.first() else {
        return met(I::Profile, "no breach of DCAT-AP 3.0.1 was found");
    };
    let more = if breaches.len() > 1 { format!(", and {} more", breaches.len() - 1) } else { String::new() };
    missed(I::Profile, format!("{}: {} {}{more}", first.node, first.property, first.fault.message()))
}

/// The findings of the distribution that has most points: several are taken for the same content in several forms, as in
/// the MQA. Of those with as many the first by name.
fn best_distribution(dataset: Node<'_>, iri: &str, reached: &UrlChecks) -> (Option<String>, Vec<Finding>) {
    let points = |findings: &[Finding]| -> u32 {
        findings
            .iter()
            .filter(|finding| finding.outcome == Outcome::Met)
            .map(|finding| finding.indicator.weight())
            .sum()
    };
    let mut all: Vec<(String, Vec<Finding>)> = dataset
        .objects(dcat::DISTRIBUTION)
        .map(|part| (part_name(part, iri), of_distribution(part, dataset, reached)))
        .collect();
    // Parts are numbered: 10 comes behind 9.
    all.sort_by(|a, b| (a.0.len(), &a.0).cmp(&(b.0.len(), &b.0)));
    let best = all.into_iter().reduce(|best, next| if points(&next.1) > points(&best.1) { next } else { best });
    match best {
        Some((name, findings)) => (Some(name), findings),
        None => (None, without_distribution(dataset)),
    }
}

const OF_DISTRIBUTION: [I; 9] = [
    I::AccessReached,
    I::DownloadAddress,
    I::DownloadReached,
    I::Format,
    I::MediaType,
    I::FormatListed,
    I::OpenFormat,
    I::MachineReadable,
    I::ByteSize,
];

fn without_distribution(dataset: Node<'_>) -> Vec<Finding> {
    let none = OF_DISTRIBUTION.map(|indicator| missed(indicator, "there is no distribution"));
    none.into_iter().chain(terms_of_use(&[dataset])).collect()
}

fn of_distribution(part: Node<'_>, dataset: Node<'_>, reached: &UrlChecks) -> Vec<Finding> {
    let mut findings = vec![
        reachable(I::AccessReached, part, dcat::ACCESS_URL, reached),
        download_address(part),
        reachable(I::DownloadReached, part, dcat::DOWNLOAD_URL, reached),
        has(I::Format, part, dcterms::FORMAT),
        has(I::MediaType, part, dcat::MEDIA_TYPE),
        size(part),
    ];
    findings.extend(formats(part));
    findings.extend(terms_of_use(&[part, dataset]));
    findings
}

/// Whether an address can be asked by others at all.
fn is_web(address: &str) -> bool {
    address.starts_with("http://") || address.starts_with("https://")
}

fn download_address(part: Node<'_>) -> Finding {
    match part.value(dcat::DOWNLOAD_URL) {
        Some(value) if value.iri().is_some_and(is_web) => met(I::DownloadAddress, value.term().text()),
        Some(value) => missed(I::DownloadAddress, format!("{} is no address of the web", shown(value))),
        None => missed(I::DownloadAddress, "there is no dcat:downloadURL"),
    }
}

fn reachable(indicator: I, part: Node<'_>, property: &str, reached: &UrlChecks) -> Finding {
    let Some(address) = part.value(property).and_then(Node::iri).filter(|address| is_web(address)) else {
        return missed(indicator, format!("there is no {} on the web", prefixed(property)));
    };
    match reached.get(address) {
        None => unknown(indicator, format!("{address} has not been asked: `lodeseek quality --check` does")),
        Some(reach) => if_met(indicator, reach.is_reachable(), format!("{address}: {reach}")),
    }
}

fn size(part: Node<'_>) -> Finding {
    match part.value(dcat::BYTE_SIZE) {
        Some(value) if value.term().text().trim().parse::<f64>().is_ok_and(|size| size >= 0.0) => {
            met(I::ByteSize, format!("{} bytes", value.term().text().trim()))
        }
        Some(value) => missed(I::ByteSize, format!("dcat:byteSize {} is no number", shown(value))),
        None => missed(I::ByteSize, "there is no dcat:byteSize"),
    }
}

fn formats(part: Node<'_>) -> [Finding; 3] {
    let told: Vec<Node<'_>> =
        [dcterms::FORMAT, dcat::MEDIA_TYPE].into_iter().filter_map(|property| part.value(property)).collect();
    let listed = told.iter().filter_map(|value| value.iri()).find(|iri| controlled_vocabularies::is_format(iri));
    let listed = match (listed, told.first()) {
        (Some(iri), _) => met(I::FormatListed, iri),
        (None, Some(value)) => missed(I::FormatListed, format!("{} is of no list", shown(*value))),
        (None, None) => missed(I::FormatListed, "neither format nor media type is told"),
    };
    let known: Option<Format> =
        told.iter().flat_map(|value| value.texts()).find_map(|text| controlled_vocabularies::format(&text));
    let about = |indicator, holds: fn(Format) -> bool, yes: &str, no: &str| match (known, told.first()) {
        (Some(format), _) => {
            let says = if holds(format) { yes } else { no };
            if_met(indicator, holds(format), format!("{} {says}", format.name))
        }
        (None, Some(value)) => missed(indicator, format!("{} is no format known here", shown(*value))),
        (None, None) => missed(indicator, "neither format nor media type is told"),
    };
    [
        listed,
        about(I::OpenFormat, |format| format.open, "belongs to nobody", "belongs to a maker"),
        about(I::MachineReadable, |format| format.machine_readable, "is for programs", "is for people to read"),
    ]
}

/// Licence and rights: of the distribution, else of the dataset.
fn terms_of_use(nodes: &[Node<'_>]) -> [Finding; 3] {
    let first = |property: &str| nodes.iter().find_map(|node| node.value(property));
    let license = match first(dcterms::LICENSE) {
        Some(value) => met(I::License, shown_whole(value)),
        None => missed(I::License, "there is no dct:license"),
    };
    let listed = match first(dcterms::LICENSE) {
        Some(value) if value.iri().is_some_and(controlled_vocabularies::is_license) => {
            met(I::LicenseListed, value.term().text())
        }
        Some(value) => missed(I::LicenseListed, format!("{} is the IRI of no known licence", shown_whole(value))),
        None => missed(I::LicenseListed, "there is no dct:license"),
    };
    let rights = match first(dcterms::RIGHTS) {
        Some(value) => met(I::Rights, shown(value)),
        None => missed(I::Rights, "there is no dct:rights"),
    };
    [license, listed, rights]
}

/// An IRI as it is; else a value in a line.
fn shown_whole(value: Node<'_>) -> String {
    value.iri().map_or_else(|| shown(value), str::to_owned)
}

fn texts(node: Node<'_>) -> [Finding; 4] {
    let lengths: Vec<usize> =
        node.objects(dcterms::DESCRIPTION).map(|text| text.term().text().trim().chars().count()).collect();
    let longest = lengths.iter().copied().max().unwrap_or_default();
    let fits = lengths.iter().any(|length| DESCRIPTION.contains(length));
    [
        tagged(I::TitleLanguage, node, dcterms::TITLE),
        if_met(
            I::Description,
            longest > 0,
            if longest > 0 { "it is described" } else { "there is no dct:description" },
        ),
        if_met(I::DescriptionLength, fits, format!("the longest description has {longest} characters")),
        tagged(I::DescriptionLanguage, node, dcterms::DESCRIPTION),
    ]
}

/// Whether each text of a property tells its language.
fn tagged(indicator: I, node: Node<'_>, property: &str) -> Finding {
    let mut languages: Vec<&str> = node.objects(property).filter_map(Node::language).collect();
    let all = node.objects(property).count();
    let untold = all - languages.len();
    languages.sort_unstable();
    languages.dedup();
    match (all, untold) {
        (0, _) => missed(indicator, format!("there is no {}", prefixed(property))),
        (_, 0) => met(indicator, format!("in {}", languages.join(", "))),
        _ => missed(indicator, format!("{untold} of {all} without a language tag")),
    }
}

const OF_CONTENT: [I; 5] = [I::Sound, I::Links, I::Vocabularies, I::Classes, I::LiteralLanguages];

fn of_content(node: Node<'_>, content: Option<&Summary>) -> Vec<Finding> {
    let Some(content) = content else {
        return OF_CONTENT.map(|indicator| unknown(indicator, "no content is held here")).into();
    };
    let skipped = node.value(lodeseek::SKIPPED_STATEMENTS).map_or("0", |value| value.term().text());
    let shared = content.vocabularies.iter().map(|(name, _)| name.as_str());
    let (shared, others): (Vec<&str>, Vec<&str>) = shared
        .filter(|name| !controlled_vocabularies::is_of_rdf(name))
        .partition(|name| controlled_vocabularies::is_vocabulary(name));
    let listed = |names: &[&str]| names.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    let links: u64 = content.links.iter().map(|(_, count)| count).sum();
    let spaces: Vec<&str> = content.links.iter().map(|(space, _)| space.as_str()).collect();
    vec![
        if_met(I::Sound, skipped == "0", format!("{skipped} statements could not be read, {} could", content.triples)),
        match links {
            0 => missed(I::Links, "no triple leads elsewhere"),
            _ => met(I::Links, format!("{links} triples lead elsewhere, most to {}", listed(&spaces))),
        },
        if shared.is_empty() {
            let own =
                if others.is_empty() { "none but RDF's own".to_owned() } else { format!("only {}", listed(&others)) };
            missed(I::Vocabularies, own)
        } else {
            met(I::Vocabularies, listed(&shared))
        },
        if_met(I::Classes, content.class_count > 0, format!("{} classes", content.class_count)),
        literal_languages(content),
    ]
}

fn literal_languages(content: &Summary) -> Finding {
    let tags: Vec<&str> = content.languages.iter().take(NAMED).map(|(tag, _)| tag.as_str()).collect();
    if tags.is_empty() {
        missed(I::LiteralLanguages, "no text tells its language")
    } else {
        met(I::LiteralLanguages, format!("texts in {}", tags.join(", ")))
    }
}
