//! Periods and places in the words of a text, in English, German, French, Spanish and Italian.
//!
//! Recognized are years of four digits from 1000 to 2100, months and days by the name of the month or in ISO 8601, their ranges and
//! open ranges, and names of countries and of states of the USA. Other numbers, other forms of days, decades, centuries, other regions
//! and cities are not recognized.

mod place_names;
mod temporal;

use super::{BoundingBox, Period};
use place_names::{FOLDED_NAMES, FoldedName};
use std::ops::Range;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Characters that may stand directly before an expression, besides spaces.
const OPENING: &str = "([{'’\"“„«";
/// Characters that may stand directly after an expression, besides spaces and the end of a sentence.
const CLOSING: &str = ")]};?!'’\"”“»";

/// A part of a text that names a period or a place.
#[derive(Clone, PartialEq, Debug)]
pub struct CoverageExpression {
    /// Range of its bytes in the text.
    pub range: Range<usize>,
    /// The period or the place.
    pub value: CoverageValue,
}

/// The period or the place that an expression names.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum CoverageValue {
    /// A period of whole days.
    Period(Period),
    /// A country or a state of the USA.
    Place {
        /// Name in English.
        name: &'static str,
        /// Box in degrees of WGS 84.
        bounds: BoundingBox,
    },
}

/// Returns the parts of a text that name periods and places, in their order. They do not overlap.
///
/// ```
/// use lodeseek_catalog::{CoverageValue, coverage_expressions};
/// let text = "air quality in Belgium, 2010 to 2015";
/// let [place, period] = &coverage_expressions(text)[..] else { panic!("two expressions") };
/// assert_eq!((&text[place.range.clone()], &text[period.range.clone()]), ("Belgium", "2010 to 2015"));
/// assert_eq!(period.value, CoverageValue::Period("2010..2015".parse()?));
/// # Ok::<(), lodeseek_catalog::InvalidPeriod>(())
/// ```
#[must_use]
pub fn coverage_expressions(text: &str) -> Vec<CoverageExpression> {
    let words = Words::new(text);
    let mut expressions = Vec::new();
    let mut position = 0;
    while position < words.len() {
        let period =
            temporal::expression_at(&words, position).map(|(value, next)| (Some(value), next));
        match period.or_else(|| place_at(&words, position)) {
            Some((value, next)) if words.stand_alone(position, next) => {
                let range = words.list[position].range.start..words.list[next - 1].range.end;
                expressions.extend(value.map(|value| CoverageExpression { range, value }));
                position = next;
            }
            _ => position += 1,
        }
    }
    expressions
}

/// Returns the English name of the country or state whose box this is.
///
/// ```
/// use lodeseek_catalog::{CoverageValue, coverage_expressions, place_name};
/// let CoverageValue::Place { bounds, .. } = coverage_expressions("Belgique")[0].value else { panic!("a place") };
/// assert_eq!(place_name(bounds), Some("Belgium"));
/// ```
#[must_use]
pub fn place_name(bounds: BoundingBox) -> Option<&'static str> {
    FOLDED_NAMES
        .values()
        .flatten()
        .filter_map(|name| name.place)
        .filter(|(place, _)| place.bounds == bounds)
        .map(|(place, _)| place.name)
        .min()
}

/// Returns the place with the longest name at a word, and the position of the word after it. No place: it is another name.
fn place_at(words: &Words<'_>, position: usize) -> Option<(Option<CoverageValue>, usize)> {
    let name = FOLDED_NAMES
        .get(words.folded_word(position)?)?
        .iter()
        .find(|name| words.has_name(position, name))?;
    let value = name.place.map(|(place, _)| CoverageValue::Place {
        name: place.name,
        bounds: place.bounds,
    });
    Some((value, position + name.words.len()))
}

/// A word: letters and digits without others between them.
struct Word {
    /// Lower case, without accents.
    folded: String,
    range: Range<usize>,
}

/// The words of a text.
struct Words<'t> {
    text: &'t str,
    list: Vec<Word>,
}

impl<'t> Words<'t> {
    fn new(text: &'t str) -> Self {
        let mut list = Vec::new();
        let mut start = None;
        for (position, c) in text.char_indices().chain([(text.len(), ' ')]) {
            match start {
                None if is_word_char(c) => start = Some(position),
                Some(first) if !is_word_char(c) => {
                    list.push(Word {
                        folded: fold_text(&text[first..position]),
                        range: first..position,
                    });
                    start = None;
                }
                _ => {}
            }
        }
        Self { text, list }
    }

    fn len(&self) -> usize {
        self.list.len()
    }

    fn folded_word(&self, place: usize) -> Option<&str> {
        self.list.get(place).map(|word| word.folded.as_str())
    }

    /// Returns the text between a word and the one before it. Empty without one of them.
    fn between(&self, place: usize) -> &'t str {
        let before = place
            .checked_sub(1)
            .and_then(|before| self.list.get(before));
        match (before, self.list.get(place)) {
            (Some(before), Some(word)) => &self.text[before.range.end..word.range.start],
            _ => "",
        }
    }

    /// Returns the text between a word and the one before it, without spaces around it.
    fn gap_before(&self, place: usize) -> &'t str {
        self.between(place).trim()
    }

    /// Returns true if the words from `place` on are these, in lower case and without accents. Only spaces or an apostrophe
    /// separate them.
    fn has_phrase(&self, place: usize, phrase: &[&str]) -> bool {
        self.has_words(place, phrase, &["", "'", "’"])
    }

    /// Returns true if the words from `place` on are those of a name. Only spaces, hyphens or apostrophes separate them. An
    /// exact name must be written in its letter case and with its accents.
    fn has_name(&self, place: usize, name: &FoldedName) -> bool {
        let count = name.words.len();
        self.has_words(place, &name.words, &["", "-", "'", "’"])
            && name.place.is_none_or(|(_, name)| {
                !name.is_exact || self.original_text(place, place + count) == name.text
            })
    }

    fn has_words(&self, place: usize, expected: &[impl AsRef<str>], separators: &[&str]) -> bool {
        expected.iter().enumerate().all(|(offset, word)| {
            let at = place + offset;
            self.folded_word(at) == Some(word.as_ref())
                && (offset == 0 || separators.contains(&self.gap_before(at)))
        })
    }

    /// Returns the text from a word to the one before `next`.
    fn original_text(&self, first: usize, next: usize) -> &'t str {
        &self.text[self.list[first].range.start..self.list[next - 1].range.end]
    }

    /// Returns true if the words from `first` to before `next` are no part of a compound, a number or an address.
    fn stand_alone(&self, first: usize, next: usize) -> bool {
        let before = self.text[..self.list[first].range.start]
            .chars()
            .next_back();
        let begins = before.is_none_or(|c| c.is_whitespace() || OPENING.contains(c));
        begins && may_follow(&self.text[self.list[next - 1].range.end..])
    }
}

/// Returns true if a text may follow an expression: it begins with no part of the same word or number.
fn may_follow(text: &str) -> bool {
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (None, _) => true,
        (Some('.' | ',' | ':' | '…'), after) => {
            after.is_none_or(|c| !c.is_alphanumeric() && c != '.')
        }
        (Some(first), _) => first.is_whitespace() || CLOSING.contains(first),
    }
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c)
}

/// Returns a text in lower case and without accents.
fn fold_text(text: &str) -> String {
    text.nfd()
        .filter(|c| !is_combining_mark(*c))
        .flat_map(char::to_lowercase)
        .collect::<String>()
        .replace('ß', "ss")
}

#[cfg(test)]
mod tests {
    use super::super::places::{Place, PlaceName};
    use super::*;
    use proptest::prelude::*;

    /// Returns the expressions with their values as filters, as in `2010 to 2015=2010..2015`.
    fn recognized(text: &str) -> Vec<String> {
        let mut all = Vec::new();
        for expression in coverage_expressions(text) {
            let value = match expression.value {
                CoverageValue::Period(period) => period.to_string(),
                CoverageValue::Place { name, .. } => name.to_owned(),
            };
            all.push(format!("{}={value}", &text[expression.range]));
        }
        all
    }

    #[test]
    fn ranges_of_years_are_periods() {
        for text in [
            "2010-2015",
            "2010–2015",
            "2010 - 2015",
            "2010/2015",
            "2010..2015",
            "2010 to 2015",
            "2010 until 2015",
            "from 2010 to 2015",
            "between 2010 and 2015",
            "2010 bis 2015",
            "von 2010 bis 2015",
            "zwischen 2010 und 2015",
            "zwischen den Jahren 2010 und 2015",
            "2010 à 2015",
            "de 2010 à 2015",
            "entre 2010 et 2015",
            "de 2010 a 2015",
            "desde 2010 hasta 2015",
            "entre 2010 y 2015",
            "dal 2010 al 2015",
            "tra il 2010 e il 2015",
            "fra il 2010 e il 2015",
        ] {
            assert_eq!(recognized(text), [format!("{text}=2010..2015")]);
            let inside = format!("air quality {text}, hourly");
            assert_eq!(
                recognized(&inside),
                [format!("{text}=2010..2015")],
                "{inside}"
            );
        }
    }

    #[test]
    fn open_ranges_are_periods() {
        for (value, texts) in [
            (
                "2015..",
                &[
                    "since 2015",
                    "from 2015 onwards",
                    "2015 to present",
                    "2015-today",
                    "seit 2015",
                    "ab 2015",
                    "seit dem Jahr 2015",
                    "2015 bis heute",
                    "depuis 2015",
                    "depuis l'année 2015",
                    "à partir de 2015",
                    "de 2015 à aujourd’hui",
                    "desde 2015",
                    "desde 2015 hasta hoy",
                    "a partir de 2015",
                    "dal 2015",
                    "dal 2015 a oggi",
                ][..],
            ),
            (
                "2016..",
                &[
                    "after 2015",
                    "nach 2015",
                    "après 2015",
                    "después de 2015",
                    "dopo il 2015",
                ],
            ),
            (
                "..2014",
                &[
                    "before 2015",
                    "vor 2015",
                    "avant 2015",
                    "antes de 2015",
                    "prima del 2015",
                ],
            ),
            (
                "..2015",
                &[
                    "until 2015",
                    "up to 2015",
                    "bis 2015",
                    "jusqu'en 2015",
                    "hasta 2015",
                    "fino al 2015",
                ],
            ),
        ] {
            for text in texts {
                assert_eq!(recognized(text), [format!("{text}={value}")]);
                let inside = format!("unemployment {text} (monthly)");
                assert_eq!(recognized(&inside), [format!("{text}={value}")], "{inside}");
            }
        }
    }

    #[test]
    fn a_year_alone_is_a_period() {
        assert_eq!(recognized("Census 2011"), ["2011=2011"]);
        assert_eq!(recognized("Haushalte im Jahr 1999."), ["1999=1999"]);
        assert_eq!(
            recognized("data from 2015"),
            ["2015=2015"],
            "of or since 2015"
        );
        assert_eq!(
            recognized("census of 1991 and 2001"),
            ["1991=1991", "2001=2001"]
        );
        assert_eq!(recognized("from 2015 to 2010"), ["2015=2015", "2010=2010"]);
    }

    #[test]
    fn months_and_days_are_periods() {
        let may = "2015-05-01..2015-05-31";
        for text in [
            "May 2015",
            "Mai 2015",
            "mai 2015",
            "mayo de 2015",
            "maggio 2015",
            "may of 2015",
            "2015-05",
        ] {
            assert_eq!(recognized(text), [format!("{text}={may}")]);
            let inside = format!("air quality in {text}, hourly");
            assert_eq!(recognized(&inside), [format!("{text}={may}")], "{inside}");
        }
        for (text, value) in [
            ("February 2012", "2012-02-01..2012-02-29"),
            ("März 2015", "2015-03-01..2015-03-31"),
            ("août 2015", "2015-08-01..2015-08-31"),
            ("2015-05-07", "2015-05-07"),
            ("from May 2015 to June 2016", "2015-05-01..2016-06-30"),
            ("von Mai 2015 bis 2016", "2015-05-01..2016-12-31"),
            (
                "entre mayo de 2015 y junio de 2016",
                "2015-05-01..2016-06-30",
            ),
            ("2015-05 - 2015-07", "2015-05-01..2015-07-31"),
            ("since May 2015", "2015-05-01.."),
            ("after December 2015", "2016.."),
            ("before 2015-05-01", "..2015-04-30"),
            ("bis Mai 2015", "..2015-05-31"),
            ("since 5 May 2015", "2015-05-05.."),
            ("5. Mai 2015", "2015-05-05"),
            ("January to March 2015", "2015-01-01..2015-03-31"),
            ("Januar bis März 2015", "2015-01-01..2015-03-31"),
            ("January – March 2015", "2015-01-01..2015-03-31"),
            ("enero hasta marzo de 2015", "2015-01-01..2015-03-31"),
            ("between May and June 2015", "2015-05-01..2015-06-30"),
            ("from May to July 2015", "2015-05-01..2015-07-31"),
        ] {
            assert_eq!(recognized(text), [format!("{text}={value}")]);
        }
        assert_eq!(recognized("5 May to 7 June 2015"), ["2015=2015"]);
        assert_eq!(recognized("5 May until 7 June 2015"), ["2015=2015"]);
        assert_eq!(recognized("between 5 May and 7 June 2015"), ["2015=2015"]);
        assert_eq!(recognized("Air quality 2015 - 30 stations"), ["2015=2015"]);
        assert_eq!(recognized("2010 - 12 reports"), ["2010=2010"]);
        assert_eq!(recognized("Accounts 2009-10"), [""; 0], "a fiscal year");
        assert_eq!(recognized("Mars 2020"), ["2020=2020"], "the planet");
        assert_eq!(recognized("may, 2015"), ["2015=2015"]);
        assert_eq!(recognized("May to June"), [""; 0]);
    }

    #[test]
    fn other_numbers_are_no_years() {
        for text in [
            "0999",
            "2101",
            "999",
            "20100",
            "2010s",
            "ISO 8601-2019",
            "2010-13",
            "2010-02-30",
            "2010-05-01T10:00",
            "2010/11",
            "1.2010",
            "2010.5",
            "2,015",
            "v2010",
            "PM2.5",
            "urn:2010:1",
            "data-2010",
            "2015-2010",
            "1990er",
            "#2010",
            "2010%",
            "since today",
            "to 5",
        ] {
            assert_eq!(recognized(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn countries_are_named_in_five_languages() {
        for (name, texts) in [
            (
                "Belgium",
                &[
                    "Belgium", "Belgien", "Belgique", "Bélgica", "Belgica", "Belgio", "BELGIUM",
                    "belgium",
                ][..],
            ),
            (
                "Germany",
                &[
                    "Germany",
                    "Deutschland",
                    "Allemagne",
                    "Alemania",
                    "Germania",
                ],
            ),
            ("Austria", &["Österreich", "O\u{308}sterreich", "Autriche"]),
            (
                "United Kingdom",
                &[
                    "United Kingdom",
                    "UK",
                    "Royaume-Uni",
                    "Royaume Uni",
                    "Grossbritannien",
                    "Großbritannien",
                ],
            ),
            ("United Kingdom", &["Northern Ireland", "Irlande du Nord"]),
            (
                "Czechia",
                &[
                    "Czech Republic",
                    "République tchèque",
                    "Tschechische Republik",
                ],
            ),
            (
                "Netherlands",
                &["Niederlanden", "Pays-Bas", "Países Bajos", "Paesi Bassi"],
            ),
        ] {
            for text in texts {
                assert_eq!(recognized(text), [format!("{text}={name}")]);
                let inside = format!("ferries in {text}?");
                assert_eq!(recognized(&inside), [format!("{text}={name}")], "{inside}");
            }
        }
        assert_eq!(
            recognized("les musées d'Italie et de l’Espagne"),
            ["Italie=Italy", "Espagne=Spain"]
        );
        assert_eq!(
            recognized("Germany's rivers (France)"),
            ["Germany=Germany", "France=France"]
        );
    }

    #[test]
    fn parts_of_other_words_are_no_countries() {
        for text in [
            "island ferries",
            "data.gov.uk",
            "Italian regions",
            "Franco-Italy",
            "italy.csv",
            "malta_data",
            "United, Kingdom",
            "France2",
            "Air-France",
        ] {
            assert_eq!(recognized(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn every_place_is_found_by_its_names() {
        for place in Place::all() {
            for PlaceName { text, .. } in &place.names {
                assert_eq!(recognized(text), [format!("{text}={}", place.name)]);
            }
        }
    }

    #[test]
    fn names_that_are_other_words_must_be_as_written() {
        assert_eq!(recognized("geology of Montana"), ["Montana=Montana"]);
        assert_eq!(
            recognized("Niveles de polen, refugios de montaña, comunità montana, turkeys"),
            [""; 0]
        );
        assert_eq!(
            recognized("chi usa Linux in the USA"),
            ["USA=United States"]
        );
        assert_eq!(recognized("guinea pigs in Guinea"), ["Guinea=Guinea"]);
    }

    #[test]
    fn the_longest_name_is_the_place() {
        for (text, found) in [
            (
                "nitrogen reduction plan in Maryland",
                &["Maryland=Maryland"][..],
            ),
            ("Papua New Guinea", &["Papua New Guinea=Papua New Guinea"]),
            (
                "West Virginia and Virginia",
                &["West Virginia=West Virginia", "Virginia=Virginia"],
            ),
            (
                "New Mexico, Mexico",
                &["New Mexico=New Mexico", "Mexico=Mexico"],
            ),
            (
                "Stati Uniti d’America",
                &["Stati Uniti d’America=United States"],
            ),
            ("la Côte d'Ivoire", &["Côte d'Ivoire=Ivory Coast"]),
            (
                "Democratic People's Republic of Korea",
                &["Democratic People's Republic of Korea=North Korea"],
            ),
            (
                "Weather in Baja California and California",
                &["California=California"],
            ),
            ("New Guinea", &[]),
            ("Monaco di Baviera", &[]),
            ("counties of Georgia", &[]),
            ("Washington", &[]),
        ] {
            assert_eq!(recognized(text), found, "{text}");
        }
    }

    proptest! {
        #[test]
        fn ranges_are_parts_of_the_text(
            text in "(since |from |to |bis |entre |et |’|-|\\.\\.|201[0-9]|Belgique|Royaume|Uni|ß|e\u{301}|[a-z0-9 .,]){0,20}"
        ) {
            let mut end = 0;
            for expression in coverage_expressions(&text) {
                prop_assert!(end <= expression.range.start && expression.range.start < expression.range.end);
                prop_assert!(text.get(expression.range.clone()).is_some());
                end = expression.range.end;
            }
        }

        #[test]
        fn any_text_is_read(text in ".{0,60}") {
            for expression in coverage_expressions(&text) {
                prop_assert!(text.get(expression.range).is_some());
            }
        }
    }
}
