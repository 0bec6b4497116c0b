//! What a dataset is filtered and counted by, from its metadata and its profile.

use crate::catalog::{Metadata, Scheme};
use crate::index::{Facet, Facts, Numbers};
use crate::profile::Summary;
use crate::rdf::language_name;
use rustc_hash::FxHashSet;

/// Characters of a value at most: what is longer is a text, not a value to choose.
const LONGEST: usize = 200;

/// The facts of a dataset. Its languages are those that the catalogue says, and those of the tags in its content.
pub(super) fn facts(metadata: &Metadata, profile: &Summary) -> Facts {
    let themes = metadata.themes.iter().map(|theme| (facet(theme.scheme), theme.label.as_str()));
    let languages = profile.languages.iter().map(|(tag, _)| (Facet::Language, language_name(tag)));
    let keywords = metadata.keywords.iter().map(|keyword| (Facet::Keyword, keyword.value.as_str()));
    let creators = metadata.agents().map(|agent| (Facet::Creator, agent.name.as_str()));
    let license = metadata.license.iter().map(|license| (Facet::License, license.as_str()));
    let (mut values, mut seen) = (Vec::new(), FxHashSet::default());
    for (facet, value) in themes.chain(languages).chain(keywords).chain(creators).chain(license) {
        let value = (facet, value.split_whitespace().collect::<Vec<_>>().join(" "));
        let is_value = !value.1.is_empty() && value.1.chars().count() <= LONGEST;
        if is_value && seen.insert(value.clone()) {
            values.push(value);
        }
    }
    let (year, variants) = (metadata.first_year(), metadata.alternatives.len() as u64);
    Facts { numbers: Numbers { year, uses: metadata.uses, variants }, values }
}

fn facet(scheme: Scheme) -> Facet {
    match scheme {
        Scheme::Task => Facet::Task,
        Scheme::Modality => Facet::Modality,
        Scheme::Language => Facet::Language,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{DatasetId, Text, Theme};

    #[test]
    fn tags_and_names_of_a_language_are_one_value() {
        let theme = |label: &str| Theme { label: label.to_owned(), scheme: Scheme::Language, iri: None };
        let metadata = Metadata {
            themes: vec![theme("English"), theme(" Old  Norse ")],
            keywords: vec![Text::plain(""), Text::plain("x".repeat(201))],
            alternatives: vec![Text::plain("A"), Text::plain("B")],
            issued: Some("2011-05".to_owned()),
            uses: Some(7),
            ..Metadata::new(DatasetId::new("1").expect("an id"))
        };
        let profile = Summary { languages: vec![("en-GB".to_owned(), 3), ("de".to_owned(), 1)], ..Summary::default() };
        let facts = facts(&metadata, &profile);
        let values: Vec<(Facet, &str)> = facts.values.iter().map(|(facet, value)| (*facet, value.as_str())).collect();
        assert_eq!(values, ["English", "Old Norse", "German"].map(|name| (Facet::Language, name)));
        assert_eq!(facts.numbers, Numbers { year: Some(2011), uses: Some(7), variants: 2 });
    }
}
