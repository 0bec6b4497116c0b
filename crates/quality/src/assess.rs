//! Assesses one dataset: every indicator with its outcome and reason.

use super::compliance::{Compliance, part_name};
use super::controlled_vocabularies::{self, Format};
use super::description::Node;
use super::indicator::Indicator as I;
use super::{Assessment, Finding, Outcome, UrlChecks, Violation};
use lodeseek_catalog::application_profile::standard_node;
use lodeseek_catalog::is_stated_license;
use lodeseek_profile::Summary;
use lodeseek_rdf::vocab::{dcat, dcterms, lodeseek};
use lodeseek_rdf::{TripleGraph, repair_encoding, to_prefixed_name};
use oxrdf::NamedNode;
use oxsdatatypes::{Date, DateTime, GYear, GYearMonth};

/// Accepted length of a description in characters. Google rejects shorter ones and truncates longer ones.
/// <https://developers.google.com/search/docs/appearance/structured-data/dataset>
const DESCRIPTION: std::ops::RangeInclusive<usize> = 50..=5000;
/// Reason why an address of a local file is not judged.
const SERVED_FILE: &str = "the file has no address of its own; this portal serves it";
/// Maximum number of vocabularies or sources in a reason.
const MAX_NAMES: usize = 3;

/// Assesses the description of a dataset in the terms of the catalogue graph, and its stored content. `None` if the
/// graph does not describe the dataset.
#[must_use]
pub fn assess(
    description: &TripleGraph,
    dataset: &NamedNode,
    content: Option<&Summary>,
    url_checks: &UrlChecks,
) -> Option<Assessment> {
    let node = Node::find(description, dataset.as_str())
        .filter(|node| node.statements().next().is_some())?;
    let mut compliance = Compliance::new(node);
    // Without triples there is nothing to assess: the indicators of content would be missed instead of unknown.
    let content = content.filter(|summary| summary.triples > 0);
    let context = Context {
        url_checks,
        holds_content: content.is_some(),
    };
    if context.holds_content {
        remove_served_addresses(&mut compliance.violations, node);
    }
    let (distribution, mut findings) = best_distribution(node, dataset.as_str(), &context);
    findings.extend(assess_dataset(node));
    findings.push(check_profile(&compliance));
    findings.extend(check_texts(node));
    findings.extend(assess_content(node, content));
    findings.sort_by_key(|finding| finding.indicator);
    Some(Assessment {
        findings,
        distribution,
        violations: compliance.violations,
        recommendations: compliance.recommendations,
    })
}

fn met(indicator: I, reason: impl Into<String>) -> Finding {
    Finding {
        indicator,
        outcome: Outcome::Met,
        reason: reason.into(),
    }
}

fn missed(indicator: I, reason: impl Into<String>) -> Finding {
    Finding {
        indicator,
        outcome: Outcome::Missed,
        reason: reason.into(),
    }
}

fn unknown(indicator: I, reason: impl Into<String>) -> Finding {
    Finding {
        indicator,
        outcome: Outcome::Unknown,
        reason: reason.into(),
    }
}

fn if_met(indicator: I, is_met: bool, reason: impl Into<String>) -> Finding {
    if is_met {
        met(indicator, reason)
    } else {
        missed(indicator, reason)
    }
}

/// Returns met with the value if the node has the property, else missed.
fn check_property(indicator: I, node: Node<'_>, property: &str) -> Finding {
    match node.value(property) {
        Some(value) => met(
            indicator,
            format!("{} is {}", to_prefixed_name(property), format_value(value)),
        ),
        None => missed(
            indicator,
            format!("there is no {}", to_prefixed_name(property)),
        ),
    }
}

/// Returns a value on one line, at most 80 characters.
fn format_value(value: Node<'_>) -> String {
    let name = value.name();
    let text = if name.is_empty() { "described" } else { &name };
    let mut line: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(80)
        .collect();
    if text.chars().nth(80).is_some() {
        line.push('…');
    }
    line
}

fn assess_dataset(node: Node<'_>) -> Vec<Finding> {
    let rights = node.value(dcterms::ACCESS_RIGHTS);
    let listed = rights
        .and_then(Node::iri)
        .is_some_and(controlled_vocabularies::is_access_right);
    let reason = match rights {
        Some(value) if listed => format!("{} is in the EU's list", value.term().text()),
        Some(value) => format!("{} is not in the EU's list", format_value(value)),
        None => "there is no dct:accessRights".to_owned(),
    };
    vec![
        check_property(I::Keywords, node, dcat::KEYWORD),
        check_property(I::Themes, node, dcat::THEME),
        check_property(I::Spatial, node, dcterms::SPATIAL),
        check_property(I::Temporal, node, dcterms::TEMPORAL),
        check_property(I::AccessRights, node, dcterms::ACCESS_RIGHTS),
        if_met(I::AccessRightsListed, listed, reason),
        check_property(I::Contact, node, dcat::CONTACT_POINT),
        check_property(I::Publisher, node, dcterms::PUBLISHER),
        check_date(I::Issued, node, dcterms::ISSUED),
        check_date(I::Modified, node, dcterms::MODIFIED),
    ]
}

/// Returns met if the property has a valid date: a year, month, day or time.
fn check_date(indicator: I, node: Node<'_>, property: &str) -> Finding {
    let finding = check_property(indicator, node, property);
    match node.value(property) {
        Some(value) if !is_date(value.term().text()) => missed(
            indicator,
            format!(
                "{} {} is not a date",
                to_prefixed_name(property),
                format_value(value)
            ),
        ),
        _ => finding,
    }
}

fn is_date(text: &str) -> bool {
    // Catalogues often have a space between date and time, where XML Schema requires a T.
    let text = text.trim().replacen(' ', "T", 1);
    text.parse::<DateTime>().is_ok()
        || text.parse::<Date>().is_ok()
        || text.parse::<GYearMonth>().is_ok()
        || text.parse::<GYear>().is_ok()
}

fn check_profile(found: &Compliance<'_>) -> Finding {
    let breaches = &found.violations;
    let Some(first) = breaches.first() else {
        return met(I::Profile, "no violations of DCAT-AP 3.0.1");
    };
    let more = if breaches.len() > 1 {
        format!(", and {} more", breaches.len() - 1)
    } else {
        String::new()
    };
    missed(
        I::Profile,
        format!(
            "{}: {} {}{more}",
            first.node,
            first.property,
            first.fault.message()
        ),
    )
}

/// Facts beside the description.
#[derive(Clone, Copy)]
struct Context<'c> {
    url_checks: &'c UrlChecks,
    /// If true, files of the dataset were read.
    holds_content: bool,
}

/// Returns the findings of the distribution with the most points. As in the MQA, several distributions are regarded as
/// forms of the same content. Ties are resolved by name.
fn best_distribution(
    dataset: Node<'_>,
    iri: &str,
    context: &Context<'_>,
) -> (Option<String>, Vec<Finding>) {
    let mut parts: Vec<(String, Node<'_>)> = dataset
        .objects(dcat::DISTRIBUTION)
        .map(|part| (part_name(part, iri), part))
        .collect();
    // Part names end with numbers: 10 follows 9.
    parts.sort_by(|a, b| (a.0.len(), &a.0).cmp(&(b.0.len(), &b.0)));
    // Only the best findings so far are kept: their reasons contain values that distributions may share.
    let all = parts
        .into_iter()
        .map(|(name, part)| (name, assess_distribution(part, dataset, context)));
    let best = all.reduce(|best, next| {
        if count_points(&next.1) > count_points(&best.1) {
            next
        } else {
            best
        }
    });
    match best {
        Some((name, findings)) => (Some(name), findings),
        None => (None, report_missing_distribution(dataset)),
    }
}

fn count_points(findings: &[Finding]) -> u32 {
    findings
        .iter()
        .filter(|finding| finding.outcome == Outcome::Met)
        .map(|finding| finding.indicator.weight())
        .sum()
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

fn report_missing_distribution(dataset: Node<'_>) -> Vec<Finding> {
    let none = OF_DISTRIBUTION.map(|indicator| missed(indicator, "there is no distribution"));
    none.into_iter()
        .chain(check_terms_of_use(&[dataset]))
        .collect()
}

fn assess_distribution(part: Node<'_>, dataset: Node<'_>, context: &Context<'_>) -> Vec<Finding> {
    let mut findings = vec![
        check_reachability(I::AccessReached, part, dcat::ACCESS_URL, context),
        check_download_address(part, context),
        check_reachability(I::DownloadReached, part, dcat::DOWNLOAD_URL, context),
        check_property(I::Format, part, dcterms::FORMAT),
        check_property(I::MediaType, part, dcat::MEDIA_TYPE),
        check_byte_size(part),
    ];
    findings.extend(check_formats(part));
    findings.extend(check_terms_of_use(&[part, dataset]));
    findings
}

/// If true, the address is on the web.
fn is_web(address: &str) -> bool {
    address.starts_with("http://") || address.starts_with("https://")
}

/// Removes the violations of addresses that the published description states: those of local files, which this portal serves.
fn remove_served_addresses(violations: &mut Vec<Violation>, dataset: Node<'_>) {
    let addresses = [dcat::ACCESS_URL, dcat::DOWNLOAD_URL].map(to_prefixed_name);
    for part in dataset.objects(dcat::DISTRIBUTION) {
        if is_local_file(part) {
            let name = part_name(part, dataset.term().text());
            violations.retain(|one| one.node != name || !addresses.contains(&one.property));
        }
    }
}

fn check_download_address(part: Node<'_>, context: &Context<'_>) -> Finding {
    match part.value(dcat::DOWNLOAD_URL) {
        Some(value) if value.iri().is_some_and(is_web) => {
            met(I::DownloadAddress, value.term().text())
        }
        Some(_) if context.holds_content && is_local_file(part) => {
            unknown(I::DownloadAddress, SERVED_FILE)
        }
        Some(value) => missed(
            I::DownloadAddress,
            format!("{} is not a web address", format_value(value)),
        ),
        None => missed(I::DownloadAddress, "there is no dcat:downloadURL"),
    }
}

/// If true, the distribution is a local file, without an address.
fn is_local_file(part: Node<'_>) -> bool {
    let Some(value) = part.value(dcat::DOWNLOAD_URL) else {
        return false;
    };
    let location = value.term().text();
    // A location without a scheme is a path.
    location.starts_with("file:") || !location.contains("://")
}

fn check_reachability(
    indicator: I,
    part: Node<'_>,
    property: &str,
    context: &Context<'_>,
) -> Finding {
    let Some(address) = part
        .value(property)
        .and_then(Node::iri)
        .filter(|address| is_web(address))
    else {
        if context.holds_content && is_local_file(part) {
            return unknown(indicator, SERVED_FILE);
        }
        return missed(
            indicator,
            format!("there is no {} on the web", to_prefixed_name(property)),
        );
    };
    match context.url_checks.get(address) {
        None => unknown(
            indicator,
            format!("{address} was not checked; run `lodeseek quality --check`"),
        ),
        Some(result) => if_met(
            indicator,
            result.is_reachable(),
            format!("{address}: {result}"),
        ),
    }
}

fn check_byte_size(part: Node<'_>) -> Finding {
    match part.value(dcat::BYTE_SIZE) {
        Some(value)
            if value
                .term()
                .text()
                .trim()
                .parse::<f64>()
                .is_ok_and(|size| size >= 0.0) =>
        {
            met(I::ByteSize, format!("{} bytes", value.term().text().trim()))
        }
        Some(value) => missed(
            I::ByteSize,
            format!("dcat:byteSize {} is not a number", format_value(value)),
        ),
        None => missed(I::ByteSize, "there is no dcat:byteSize"),
    }
}

fn check_formats(part: Node<'_>) -> [Finding; 3] {
    let declared: Vec<Node<'_>> = [dcterms::FORMAT, dcat::MEDIA_TYPE]
        .into_iter()
        .filter_map(|property| part.value(property))
        .collect();
    let listed = declared
        .iter()
        .filter_map(|value| value.iri())
        .find(|iri| controlled_vocabularies::is_format(iri));
    let listed = match (listed, declared.first()) {
        (Some(iri), _) => met(I::FormatListed, iri),
        (None, Some(value)) => missed(
            I::FormatListed,
            format!(
                "{} is not an IRI of the EU's or IANA's list",
                format_value(*value)
            ),
        ),
        (None, None) => missed(I::FormatListed, "neither format nor media type is declared"),
    };
    let known: Option<Format> = declared
        .iter()
        .flat_map(|value| value.texts())
        .find_map(|text| controlled_vocabularies::format(&text));
    let (open, machine_readable) = match (known, declared.first()) {
        (Some(format), _) => (
            if_met(
                I::OpenFormat,
                format.open,
                format!(
                    "{} is {} format",
                    format.name,
                    if format.open {
                        "an open"
                    } else {
                        "a proprietary"
                    }
                ),
            ),
            if_met(
                I::MachineReadable,
                format.machine_readable,
                format!(
                    "{} is {}machine-readable",
                    format.name,
                    if format.machine_readable { "" } else { "not " }
                ),
            ),
        ),
        (None, value) => {
            let reason = match value {
                Some(value) => format!("{} is an unknown format", format_value(*value)),
                None => "neither format nor media type is declared".to_owned(),
            };
            (
                missed(I::OpenFormat, reason.as_str()),
                missed(I::MachineReadable, reason),
            )
        }
    };
    [listed, open, machine_readable]
}

/// Assesses licence and rights: those of the distribution, else of the dataset.
fn check_terms_of_use(nodes: &[Node<'_>]) -> [Finding; 3] {
    let mut licenses = nodes.iter().flat_map(|node| node.objects(dcterms::LICENSE));
    let declared = licenses.find(|value| states_license(*value));
    let reason = match find_value(nodes, dcterms::LICENSE) {
        Some(value) => format!("\"{}\" states no licence", format_whole_value(value)),
        None => "there is no dct:license".to_owned(),
    };
    let license = match declared {
        Some(value) => met(I::License, format_whole_value(value)),
        None => missed(I::License, reason.as_str()),
    };
    let listed = match declared {
        Some(value) if is_known_license(value) => met(I::LicenseListed, value.term().text()),
        Some(value) => missed(
            I::LicenseListed,
            format!(
                "{} is neither the IRI nor the id of a known licence",
                format_whole_value(value)
            ),
        ),
        None => missed(I::LicenseListed, reason),
    };
    let rights = match find_value(nodes, dcterms::RIGHTS) {
        Some(value) => met(I::Rights, format_value(value)),
        None => missed(I::Rights, "there is no dct:rights"),
    };
    [license, listed, rights]
}

/// Returns true if a value and its label state a licence. Texts such as `notspecified` state none.
fn states_license(value: Node<'_>) -> bool {
    if value.term().text().trim().is_empty() {
        return false;
    }
    if let Some(iri) = value.iri()
        && !is_stated_license(iri)
    {
        return false;
    }
    let name = value.name();
    name.is_empty() || is_stated_license(&name)
}

/// Returns true if a value is the IRI of a known licence, or an id such as `CC-BY-4.0`, for which the portal publishes the IRI.
fn is_known_license(value: Node<'_>) -> bool {
    match value.iri() {
        Some(iri) => controlled_vocabularies::is_license(iri),
        None => standard_node(dcterms::LICENSE, value.term().text())
            .is_some_and(|node| controlled_vocabularies::is_license(node.as_str())),
    }
}

/// Returns the value of a property at the first node that has one.
fn find_value<'g>(nodes: &[Node<'g>], property: &str) -> Option<Node<'g>> {
    nodes.iter().find_map(|node| node.value(property))
}

/// Returns an IRI unchanged, any other value on one line.
fn format_whole_value(value: Node<'_>) -> String {
    match value.iri() {
        Some(iri) => iri.to_owned(),
        None => format_value(value),
    }
}

fn check_texts(node: Node<'_>) -> [Finding; 5] {
    let lengths: Vec<usize> = node
        .objects(dcterms::DESCRIPTION)
        .map(|text| text.term().text().trim().chars().count())
        .collect();
    let longest = lengths.iter().copied().max().unwrap_or_default();
    let fits = lengths.iter().any(|length| DESCRIPTION.contains(length));
    [
        check_language_tags(I::TitleLanguage, node, dcterms::TITLE),
        if_met(
            I::Description,
            longest > 0,
            if longest > 0 {
                "there is a description"
            } else {
                "there is no dct:description"
            },
        ),
        if_met(
            I::DescriptionLength,
            fits,
            format!("the longest description has {longest} characters"),
        ),
        check_language_tags(I::DescriptionLanguage, node, dcterms::DESCRIPTION),
        check_encoding(node),
    ]
}

/// Returns missed if a title, description or keyword was decoded wrongly.
fn check_encoding(node: Node<'_>) -> Finding {
    for property in [dcterms::TITLE, dcterms::DESCRIPTION, dcat::KEYWORD] {
        for text in node.objects(property) {
            if let Some(word) = misread_word(text.term().text()) {
                let repaired = repair_encoding(word);
                return missed(
                    I::TextEncoding,
                    format!(
                        "{} contains “{word}” for “{repaired}”",
                        to_prefixed_name(property)
                    ),
                );
            }
        }
    }
    met(I::TextEncoding, "no text was decoded wrongly")
}

/// Returns the first word of a text whose UTF-8 was read as another encoding.
fn misread_word(text: &str) -> Option<&str> {
    text.split_ascii_whitespace()
        .find(|word| repair_encoding(word) != *word)
}

/// Returns met if every value of the property has a language tag.
fn check_language_tags(indicator: I, node: Node<'_>, property: &str) -> Finding {
    let mut languages: Vec<&str> = node.objects(property).filter_map(Node::language).collect();
    let all = node.objects(property).count();
    let untagged = all - languages.len();
    languages.sort_unstable();
    languages.dedup();
    match (all, untagged) {
        (0, _) => missed(
            indicator,
            format!("there is no {}", to_prefixed_name(property)),
        ),
        (_, 0) => met(indicator, format!("in {}", languages.join(", "))),
        _ => missed(
            indicator,
            format!("{untagged} of {all} without a language tag"),
        ),
    }
}

const OF_CONTENT: [I; 5] = [
    I::Sound,
    I::Links,
    I::Vocabularies,
    I::Classes,
    I::LiteralLanguages,
];

fn assess_content(node: Node<'_>, content: Option<&Summary>) -> Vec<Finding> {
    let Some(content) = content else {
        return OF_CONTENT
            .map(|indicator| unknown(indicator, "no content is stored"))
            .into();
    };
    let skipped = match node.value(lodeseek::SKIPPED_STATEMENTS) {
        Some(value) => value.term().text(),
        None => "0",
    };
    let shared = content.vocabularies.iter().map(|(name, _)| name.as_str());
    let (shared, others): (Vec<&str>, Vec<&str>) = shared
        .filter(|name| !controlled_vocabularies::is_of_rdf(name))
        .partition(|name| controlled_vocabularies::is_vocabulary(name));
    let links: u64 = content.links.iter().map(|(_, count)| count).sum();
    let spaces: Vec<&str> = content
        .links
        .iter()
        .map(|(space, _)| space.as_str())
        .collect();
    vec![
        check_soundness(skipped, content),
        match links {
            0 => missed(I::Links, "no triple links to another source"),
            _ => met(
                I::Links,
                format!(
                    "{links} triples link to other sources, most to {}",
                    join_names(&spaces)
                ),
            ),
        },
        if shared.is_empty() {
            let own = if others.is_empty() {
                "only those of RDF".to_owned()
            } else {
                format!("only {}", join_names(&others))
            };
            missed(I::Vocabularies, own)
        } else {
            met(I::Vocabularies, join_names(&shared))
        },
        if_met(
            I::Classes,
            content.class_count > 0,
            format!("{} classes", content.class_count),
        ),
        check_literal_languages(content),
    ]
}

/// Lists the first names.
fn join_names(names: &[&str]) -> String {
    names[..names.len().min(MAX_NAMES)].join(", ")
}

fn check_soundness(skipped: &str, content: &Summary) -> Finding {
    let mut reason = format!(
        "{skipped} unreadable and {} readable statements",
        content.triples
    );
    let tables = content.tables.iter();
    let cells: u64 = tables
        .clone()
        // Tables whose cells were not counted would make the share of empty cells too small.
        .filter(|table| table.empty_cells.is_some())
        .map(|table| table.rows.saturating_mul(table.columns))
        .sum();
    let empty: u64 = tables.clone().filter_map(|table| table.empty_cells).sum();
    let mixed: u64 = tables.filter_map(|table| table.mixed_cells).sum();
    if cells > 0 {
        reason += &format!(
            "; {empty} of {cells} cells of tables are empty, {mixed} do not have the type of their column"
        );
    }
    // Empty cells are no errors: values may be missing.
    if_met(I::Sound, skipped == "0" && mixed == 0, reason)
}

fn check_literal_languages(content: &Summary) -> Finding {
    let tags: Vec<&str> = content
        .languages
        .iter()
        .take(MAX_NAMES)
        .map(|(tag, _)| tag.as_str())
        .collect();
    if tags.is_empty() {
        missed(I::LiteralLanguages, "no literal has a language tag")
    } else {
        met(
            I::LiteralLanguages,
            format!("literals in {}", tags.join(", ")),
        )
    }
}
