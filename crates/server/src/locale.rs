//! Languages of the pages: messages from Fluent catalogues in `messages/`, numbers and dates.
//!
//! The English catalogue is complete. A message that another catalogue lacks is shown in English.

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::resolver::ResolverError;
use fluent_bundle::resolver::errors::ReferenceKind;
use fluent_bundle::{FluentArgs, FluentError, FluentResource, FluentValue};
use std::collections::BTreeSet;
use std::fmt::Display;
use std::sync::{Arc, LazyLock};
use unic_langid::LanguageIdentifier;

/// A language of the pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Locale {
    #[default]
    English,
    German,
    French,
    Spanish,
    Italian,
}

/// Minimum similarity of a suggested id to an unknown one.
const MIN_SIMILARITY: f64 = 0.8;

/// Messages of one language.
type Messages = FluentBundle<FluentResource>;

/// The catalogues, in the order of [`Locale::ALL`].
static CATALOGUES: LazyLock<[Messages; Locale::ALL.len()]> =
    LazyLock::new(|| Locale::ALL.map(Locale::catalogue));

impl Locale {
    pub(crate) const ALL: [Self; 5] = [
        Self::English,
        Self::German,
        Self::French,
        Self::Spanish,
        Self::Italian,
    ];

    /// Returns the language tag.
    pub(crate) fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
            Self::French => "fr",
            Self::Spanish => "es",
            Self::Italian => "it",
        }
    }

    /// Returns the language's own name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::German => "Deutsch",
            Self::French => "Français",
            Self::Spanish => "Español",
            Self::Italian => "Italiano",
        }
    }

    /// Returns the first of the preferred languages that the pages have, or else English.
    pub(crate) fn best(languages: &[String]) -> Self {
        languages
            .iter()
            .find_map(|tag| Self::ALL.into_iter().find(|locale| locale.tag() == tag))
            .unwrap_or_default()
    }

    fn source(self) -> &'static str {
        match self {
            Self::English => include_str!("../messages/en.ftl"),
            Self::German => include_str!("../messages/de.ftl"),
            Self::French => include_str!("../messages/fr.ftl"),
            Self::Spanish => include_str!("../messages/es.ftl"),
            Self::Italian => include_str!("../messages/it.ftl"),
        }
    }

    fn catalogue(self) -> Messages {
        // A test rejects catalogues with errors or duplicate messages.
        let resource = FluentResource::try_new(self.source().to_owned())
            .unwrap_or_else(|(resource, _)| resource);
        self.bundle(resource)
    }

    fn bundle(self, resource: FluentResource) -> Messages {
        // The identifier selects the rules of plural forms.
        let identifier: LanguageIdentifier = self.tag().parse().unwrap_or_default();
        let mut bundle = FluentBundle::new_concurrent(vec![identifier]);
        // Isolation marks would end up in attributes and titles.
        bundle.set_use_isolating(false);
        bundle.add_resource_overriding(resource);
        bundle
    }

    /// Returns the language with a tag.
    pub(crate) fn from_tag(tag: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|locale| locale.tag() == tag)
    }

    /// Formats a number with the separators of the language.
    pub(crate) fn number(self, number: u64) -> String {
        let digits = number.to_string();
        let (separator, ungrouped) = match self {
            Self::English => (",", 3),
            Self::German | Self::Italian => (".", 3),
            Self::French => ("\u{202f}", 3),
            // In Spanish, a number of four digits is one group.
            Self::Spanish => (".", 4),
        };
        if digits.len() <= ungrouped {
            return digits;
        }
        let mut grouped = String::new();
        for (place, digit) in digits.chars().enumerate() {
            if place > 0 && (digits.len() - place).is_multiple_of(3) {
                grouped.push_str(separator);
            }
            grouped.push(digit);
        }
        grouped
    }

    /// Formats a size in bytes.
    pub(crate) fn bytes(self, bytes: u64) -> String {
        let (value, unit) = match bytes {
            0..1_000 => return format!("{bytes} B"),
            1_000..1_000_000 => (bytes as f64 / 1e3, "kB"),
            1_000_000..1_000_000_000 => (bytes as f64 / 1e6, "MB"),
            _ => (bytes as f64 / 1e9, "GB"),
        };
        let written = if value < 10.0 {
            format!("{value:.1}")
        } else {
            format!("{value:.0}")
        };
        let written = if self == Self::English {
            written
        } else {
            written.replace('.', ",")
        };
        format!("{written} {unit}")
    }
}

/// Formats a message of a bundle; `None` if it lacks the message.
fn format_message(
    bundle: &Messages,
    id: &str,
    arguments: Option<&FluentArgs<'_>>,
) -> Option<String> {
    let pattern = bundle.get_message(id)?.value()?;
    let mut errors = Vec::new();
    let text = bundle
        .format_pattern(pattern, arguments, &mut errors)
        .into_owned();
    for error in errors {
        tracing::warn!(id, %error, "a message is incomplete");
    }
    Some(text)
}

/// Returns the variables of a message. `None` if the bundle lacks it.
fn list_variables(bundle: &Messages, id: &str) -> Option<BTreeSet<String>> {
    let pattern = bundle.get_message(id)?.value()?;
    // Without arguments, each variable is an error.
    let mut errors = Vec::new();
    let _ = bundle.format_pattern(pattern, None, &mut errors);
    let mut names = BTreeSet::new();
    for error in errors {
        if let FluentError::ResolverError(ResolverError::Reference(ReferenceKind::Variable {
            id,
        })) = error
        {
            names.insert(id);
        }
    }
    Some(names)
}

/// Error of texts that replace those of the catalogues.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TextError {
    /// The file is not valid Fluent.
    #[error("line {0} is not valid Fluent (https://projectfluent.org/); write `id = text`")]
    Syntax(usize),
    /// No page uses a text.
    #[error("no page uses the text `{id}`; {}`lodeseek config texts` prints all texts with their ids", suggest_id(.nearest))]
    Unknown {
        /// Id of the text.
        id: String,
        /// The most similar id of a text, if one is similar.
        nearest: Option<&'static str>,
    },
    /// A text uses a variable that pages do not provide.
    #[error("the text `{id}` has no variable ${variable}")]
    Variable {
        /// Id of the text.
        id: String,
        /// The variable.
        variable: String,
    },
}

/// Returns the question that suggests an id.
fn suggest_id(nearest: &Option<&str>) -> String {
    nearest
        .map(|nearest| format!("did you mean `{nearest}`? "))
        .unwrap_or_default()
}

/// Returns the id that is most similar to an unknown one, if one is similar.
fn nearest_id(id: &str) -> Option<&'static str> {
    let mut nearest = None;
    let mut max_similarity = MIN_SIMILARITY;
    for known in message_ids(Locale::English.source()) {
        let similarity = strsim::jaro_winkler(id, known);
        if similarity > max_similarity {
            max_similarity = similarity;
            nearest = Some(known);
        }
    }
    nearest
}

/// Returns the ids of the messages in a text in Fluent's syntax.
fn message_ids(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter(|line| line.starts_with(|c: char| c.is_ascii_alphabetic()))
        .filter_map(|line| line.split([' ', '=']).next())
}

/// Returns the texts of the pages in a language with their ids, in Fluent's syntax. `None` if the pages do not have the language.
pub fn default_texts(tag: &str) -> Option<&'static str> {
    Locale::from_tag(tag).map(Locale::source)
}

/// Texts that replace those of the catalogues, by language.
#[derive(Default)]
pub(crate) struct TextOverrides([Option<Messages>; Locale::ALL.len()]);

impl std::fmt::Debug for TextOverrides {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TextOverrides")
    }
}

impl TextOverrides {
    /// Adds texts of a language, in Fluent's syntax.
    pub(crate) fn add(&mut self, locale: Locale, text: &str) -> Result<(), TextError> {
        let resource = FluentResource::try_new(text.to_owned()).map_err(|(_, errors)| {
            let place = match errors.first() {
                Some(error) => error.pos.start.min(text.len()),
                None => 0,
            };
            TextError::Syntax(
                text.as_bytes()[..place]
                    .iter()
                    .filter(|byte| **byte == b'\n')
                    .count()
                    + 1,
            )
        })?;
        let bundle = locale.bundle(resource);
        let english = &CATALOGUES[Locale::English as usize];
        for id in message_ids(text) {
            let known = list_variables(english, id).ok_or_else(|| TextError::Unknown {
                id: id.to_owned(),
                nearest: nearest_id(id),
            })?;
            let used = list_variables(&bundle, id).unwrap_or_default();
            if let Some(variable) = used.difference(&known).next() {
                return Err(TextError::Variable {
                    id: id.to_owned(),
                    variable: variable.clone(),
                });
            }
        }
        self.0[locale as usize] = Some(bundle);
        Ok(())
    }
}

/// The texts of pages in one language: first those of the theme, then those of the catalogue.
#[derive(Clone, Debug)]
pub(crate) struct Texts {
    locale: Locale,
    overrides: Arc<TextOverrides>,
}

impl Texts {
    /// Creates the texts of a language.
    pub(crate) fn new(locale: Locale, overrides: Arc<TextOverrides>) -> Self {
        Self { locale, overrides }
    }

    /// Returns the language.
    pub(crate) fn locale(&self) -> Locale {
        self.locale
    }

    fn message(&self, id: &str, arguments: Option<&FluentArgs<'_>>) -> String {
        let own = self.overrides.0[self.locale as usize]
            .as_ref()
            .and_then(|bundle| format_message(bundle, id, arguments));
        let text = own.or_else(|| format_message(&CATALOGUES[self.locale as usize], id, arguments));
        let text =
            text.or_else(|| format_message(&CATALOGUES[Locale::English as usize], id, arguments));
        text.unwrap_or_else(|| id.to_owned())
    }

    /// Returns a message without variables.
    pub(crate) fn text(&self, id: &str) -> String {
        self.message(id, None)
    }

    /// Returns a message with the values of its variables.
    pub(crate) fn text_with(&self, id: &str, values: &[(&str, &dyn Display)]) -> String {
        let mut arguments = FluentArgs::new();
        for (name, value) in values {
            arguments.set(*name, value.to_string());
        }
        self.message(id, Some(&arguments))
    }

    /// Returns a message about a number: `$count` selects the plural form, `$number` is the formatted number.
    pub(crate) fn count(&self, id: &str, count: u64) -> String {
        let mut arguments = FluentArgs::new();
        arguments.set("count", FluentValue::from(count));
        arguments.set("number", self.number(count));
        self.message(id, Some(&arguments))
    }

    /// Formats a number with the separators of the language.
    pub(crate) fn number(&self, number: u64) -> String {
        self.locale.number(number)
    }

    /// Formats a size in bytes.
    pub(crate) fn bytes(&self, bytes: u64) -> String {
        self.locale.bytes(bytes)
    }

    /// Formats a date that begins as `2021-03-04`. Other texts, such as years, are returned unchanged.
    pub(crate) fn date(&self, written: &str) -> String {
        let written = written.trim();
        let Some((year, month, day)) = parse_date(written) else {
            return written.to_owned();
        };
        let months = self.text("months");
        let Some(name) = months.split(", ").nth(month - 1) else {
            return written.to_owned();
        };
        self.text_with("date", &[("day", &day), ("month", &name), ("year", &year)])
    }
}

fn has_only_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Parses the beginning of a text as year, month and day.
fn parse_date(text: &str) -> Option<(&str, usize, u32)> {
    let date = text.get(..10)?;
    let is_end = text[10..]
        .chars()
        .next()
        .is_none_or(|next| !next.is_ascii_digit());
    let (year, rest) = date.split_once('-')?;
    let (month, day) = rest.split_once('-')?;
    let has_lengths = year.len() == 4 && month.len() == 2 && day.len() == 2;
    if !is_end || !has_lengths || ![year, month, day].into_iter().all(has_only_digits) {
        return None;
    }
    let (month, day) = (month.parse().ok()?, day.parse().ok()?);
    ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some((year, month, day))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::Path;

    /// The texts of a language without a theme.
    fn texts(locale: Locale) -> Texts {
        Texts::new(locale, Arc::default())
    }

    /// The messages of a catalogue with the variables that each contains.
    fn messages(locale: Locale) -> BTreeMap<&'static str, BTreeSet<&'static str>> {
        let mut messages: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        let mut id = "";
        for line in locale
            .source()
            .lines()
            .filter(|line| !line.starts_with('#'))
        {
            if let Some((name, _)) = line
                .split_once(" =")
                .filter(|_| line.starts_with(|c: char| c.is_ascii_lowercase()))
            {
                id = name;
                assert!(
                    messages.insert(id, BTreeSet::new()).is_none(),
                    "{locale:?}: {id} is defined twice"
                );
            }
            let variables = line.split('$').skip(1).map(|rest| {
                let end = rest
                    .find(|c: char| !c.is_ascii_alphanumeric())
                    .unwrap_or(rest.len());
                &rest[..end]
            });
            messages.entry(id).or_default().extend(variables);
        }
        messages.remove("");
        messages
    }

    #[test]
    fn all_catalogues_have_the_same_messages_and_variables() {
        let english = messages(Locale::English);
        assert!(english.len() > 100, "{} messages", english.len());
        for locale in Locale::ALL {
            assert!(
                FluentResource::try_new(locale.source().to_owned()).is_ok(),
                "{locale:?}: syntax errors"
            );
            let found = messages(locale);
            for (id, variables) in &english {
                assert_eq!(found.get(id), Some(variables), "{locale:?}: {id}");
                let values: [(&str, &dyn Display); 1] = [("x", &"y")];
                let _ = texts(locale).text_with(id, &values);
            }
            assert_eq!(
                found.len(),
                english.len(),
                "{locale:?} has messages that English lacks"
            );
        }
    }

    #[test]
    fn pages_use_only_messages_of_the_catalogue_and_all_of_them() {
        fn read(folder: &Path, text: &mut String) {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    read(&path, text);
                } else if path
                    .extension()
                    .is_some_and(|extension| extension == "rs" || extension == "html")
                {
                    *text += &fs::read_to_string(&path).expect("a text");
                }
            }
        }
        let mut text = String::new();
        for folder in ["src", "templates"] {
            read(
                &Path::new(env!("CARGO_MANIFEST_DIR")).join(folder),
                &mut text,
            );
        }
        let english = messages(Locale::English);
        for function in ["text(\"", "text_with(\"", "text_with2(\"", "count(\""] {
            for used in text.split(&format!("page.{function}")).skip(1) {
                let id = used.split('"').next().unwrap_or_default();
                assert!(english.contains_key(id), "{id} is in no catalogue");
            }
        }
        for id in english.keys() {
            // Some ids are composed of a prefix and the name of a facet, field or the like.
            let prefix = id.split('-').next().unwrap_or_default();
            let is_composed = text.contains(&format!("\"{prefix}-{{"))
                || text.contains(&format!("\"{prefix}-\""));
            assert!(
                text.contains(&format!("\"{id}\"")) || is_composed,
                "{id} is not used"
            );
        }
    }

    #[test]
    fn plurals_and_numbers_follow_the_language() {
        assert_eq!(texts(Locale::English).count("results", 1), "1 result");
        assert_eq!(
            texts(Locale::English).count("results", 1234),
            "1,234 results"
        );
        assert_eq!(
            texts(Locale::German).count("results", 1234),
            "1.234 Ergebnisse"
        );
        assert_eq!(
            texts(Locale::French).count("results", 0),
            "0 résultat",
            "zero is singular in French"
        );
        assert_eq!(
            [1234, 12_345].map(|number| Locale::Spanish.number(number)),
            ["1234", "12.345"]
        );
        assert_eq!(Locale::French.number(1_000_000), "1\u{202f}000\u{202f}000");
        assert_eq!(
            [Locale::English, Locale::German].map(|l| l.bytes(1_540_000)),
            ["1.5 MB", "1,5 MB"]
        );
        assert_eq!(Locale::English.bytes(999), "999 B");
    }

    #[test]
    fn an_unknown_id_is_reported_with_the_nearest_one() {
        let mut overrides = TextOverrides::default();
        let unknown = overrides
            .add(Locale::German, "start-titel = Daten\n")
            .expect_err("an unknown id");
        assert_eq!(
            unknown.to_string(),
            "no page uses the text `start-titel`; did you mean `start-title`? `lodeseek config texts` prints all texts with their ids"
        );
        let other = overrides.add(Locale::German, "zzz = Daten\n");
        assert!(matches!(
            other,
            Err(TextError::Unknown { nearest: None, .. })
        ));
        let texts = default_texts("de").expect("the German texts");
        assert!(message_ids(texts).any(|id| id == "start-title"));
        assert_eq!(default_texts("ja"), None);
    }

    #[test]
    fn dates_follow_the_language() {
        assert_eq!(
            texts(Locale::English).date("2021-03-04T10:00:00Z"),
            "4 March 2021"
        );
        assert_eq!(texts(Locale::German).date("2021-03-04"), "4. März 2021");
        assert_eq!(
            texts(Locale::Spanish).date("2021-03-04"),
            "4 de marzo de 2021"
        );
        for other in ["2021", "2021-13-01", "March 2021", "2021-03-045", ""] {
            assert_eq!(texts(Locale::German).date(other), other);
        }
    }

    #[test]
    fn the_first_supported_language_is_chosen() {
        let best = |tags: &[&str]| {
            Locale::best(&tags.iter().map(|&tag| tag.to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(best(&["ja", "it", "de"]), Locale::Italian);
        assert_eq!(best(&["ja"]), Locale::English);
    }
}
