//! Singular and plural of a word, where its stems differ: `weg` and `wegen`, `fietspad` and `fietspaden`.
//!
//! Snowball's stemmers part many of them. Most titles are also too short for language detection, and are stemmed as English.
//! A query word is therefore searched for in its other number, too: rules of its language form candidates, and those that
//! the collection contains become synonyms. Nothing of this is in the index.
//!
//! The language of a single word is unknown: `data` would be an Italian plural of `date`. A form is used only if most datasets
//! that contain it, and most that contain the word as typed, also have function words of the language. An English word in English
//! datasets thus costs one look into the index.
//!
//! # Why not a library?
//!
//! The crates with lemmas (`nlprule`, `lemmy`) are unmaintained, or are data of several megabytes a language. `unic` and ICU have no
//! inflections. The rules below are productive endings only.

use super::Multilingual;
use super::QueryTerm;
use super::translations::Vocabulary;
use super::word_use::WordUse;
use rustc_hash::FxHashMap;

/// Languages with rules, as BCP 47 tags.
const LANGUAGES: [&str; 7] = ["en", "de", "nl", "fr", "es", "it", "pt"];
/// Minimum letters of a word whose other number is searched for.
const MIN_LETTERS: usize = 3;
/// Minimum letters of a form.
const MIN_FORM_LETTERS: usize = 3;
/// Maximum letters of a word whose other number is searched for.
const MAX_LETTERS: usize = 40;
/// Maximum number of forms of a word in a language.
const MAX_FORMS: usize = 6;

/// Endings of singular and plural. A form is made in both directions.
type Endings = &'static [(&'static str, &'static str)];

/// English plurals that the stemmer parts from their singulars. The others have its stem.
const ENGLISH: Endings = &[("man", "men"), ("sis", "ses")];
/// Irregular English words, singular and plural. As endings, they would join unrelated words: `caves` and `cafe`, `album` and `alba`.
const ENGLISH_WORDS: &str = "foot feet tooth teeth goose geese mouse mice louse lice child children person people ox oxen die dice \
    wolf wolves leaf leaves life lives knife knives wife wives half halves shelf shelves calf calves loaf loaves thief thieves \
    elf elves hoof hooves scarf scarves wharf wharves sheaf sheaves self selves dwarf dwarves penny pence index indices appendix \
    appendices matrix matrices vertex vertices vortex vortices apex apices codex codices helix helices cortex cortices axis axes \
    criterion criteria phenomenon phenomena automaton automata taxon taxa bacterium bacteria curriculum curricula datum data \
    medium media stratum strata spectrum spectra memorandum memoranda symposium symposia millennium millennia erratum errata \
    ovum ova referendum referenda fungus fungi nucleus nuclei cactus cacti stimulus stimuli alumnus alumni radius radii locus \
    loci focus foci bacillus bacilli terminus termini syllabus syllabi genus genera corpus corpora larva larvae vertebra \
    vertebrae formula formulae antenna antennae alga algae nebula nebulae supernova supernovae stigma stigmata schema schemata";

/// German plurals beside those with an umlaut.
const GERMAN: Endings = &[
    ("", "e"),
    ("", "n"),
    ("", "en"),
    ("", "er"),
    ("", "s"),
    ("in", "innen"),
    ("nis", "nisse"),
    ("s", "sse"),
    ("um", "en"),
    ("um", "a"),
    ("us", "en"),
    ("a", "en"),
    ("a", "ata"),
    ("o", "en"),
    ("", "ien"),
];
/// Endings of German plurals with an umlaut.
const GERMAN_UMLAUT: [&str; 3] = ["", "e", "er"];
const UMLAUTS: [(&str, &str); 4] = [("au", "äu"), ("a", "ä"), ("o", "ö"), ("u", "ü")];

const DUTCH: Endings = &[
    ("", "en"),
    ("", "n"),
    ("", "s"),
    ("", "'s"),
    ("", "ën"),
    ("", "eren"),
    ("f", "ven"),
    ("s", "zen"),
    ("heid", "heden"),
    ("ad", "eden"),
    ("ip", "epen"),
    ("id", "eden"),
    ("um", "a"),
    ("us", "i"),
    ("", "je"),
    ("", "tje"),
];
const VOWELS: [char; 6] = ['a', 'e', 'i', 'o', 'u', 'y'];

const FRENCH: Endings = &[("", "s"), ("", "x"), ("al", "aux"), ("ail", "aux")];

const SPANISH: Endings = &[
    ("", "s"),
    ("", "es"),
    ("z", "ces"),
    ("ión", "iones"),
    ("ón", "ones"),
    ("én", "enes"),
    ("án", "anes"),
    ("ín", "ines"),
    ("ún", "unes"),
    ("és", "eses"),
    ("ás", "ases"),
    ("ús", "uses"),
    ("amen", "ámenes"),
    ("agen", "ágenes"),
    ("igen", "ígenes"),
    ("olumen", "olúmenes"),
];

const ITALIAN: Endings = &[
    ("o", "i"),
    ("a", "e"),
    ("e", "i"),
    ("ista", "isti"),
    ("ma", "mi"),
    ("eta", "eti"),
    ("io", "i"),
    ("co", "chi"),
    ("go", "ghi"),
    ("ca", "che"),
    ("ga", "ghe"),
    ("cia", "ce"),
    ("gia", "ge"),
    ("ie", "i"),
    ("uomo", "uomini"),
    ("osso", "ossa"),
    ("uovo", "uova"),
];

const PORTUGUESE: Endings = &[
    ("", "s"),
    ("", "es"),
    ("ão", "ões"),
    ("ão", "ães"),
    ("ao", "ões"),
    ("m", "ns"),
    ("al", "ais"),
    ("el", "éis"),
    ("el", "eis"),
    ("ol", "óis"),
    ("ul", "uis"),
    ("il", "is"),
    ("il", "eis"),
    ("ês", "eses"),
    ("uiz", "uízes"),
    ("aiz", "aízes"),
];

/// Adds the tokens of the other number of each word, in the languages in which the collection uses it. `detected` is the
/// language of the query, if it is known: then no other one counts.
pub(super) fn add_inflections(
    terms: &mut [QueryTerm],
    detected: Option<&str>,
    analysis: &Multilingual,
    vocabulary: &dyn Vocabulary,
) {
    if detected.is_some_and(|language| !LANGUAGES.contains(&language)) {
        return;
    }
    // Languages share forms.
    let mut uses: FxHashMap<String, WordUse> = FxHashMap::default();
    for term in terms {
        // Most English words have the stem of their other number: they cost no look into the index.
        if detected == Some("en") && inflections(&term.text, "en").is_empty() {
            continue;
        }
        let letters = term.text.chars().count();
        if !(MIN_LETTERS..=MAX_LETTERS).contains(&letters)
            || !term.text.chars().all(char::is_alphabetic)
        {
            continue;
        }
        let typed = vocabulary.word_use(&term.text);
        for language in LANGUAGES {
            let is_query_language = detected == Some(language);
            if !is_query_language
                && (detected.is_some() || typed.is_of_language(language) == Some(false))
            {
                continue;
            }
            // Datasets without a sentence do not show a language.
            let is_likely = is_query_language || typed.datasets == 0;
            let forms = inflections(&term.text, language);
            let used = forms.iter().filter(|form| {
                let found = uses
                    .entry((*form).clone())
                    .or_insert_with(|| vocabulary.word_use(form));
                found.datasets > 0 && found.is_of_language(language).unwrap_or(is_likely)
            });
            for form in used.take(MAX_FORMS) {
                for token in analysis.tokens_in(form, [language, "en"]) {
                    if !term.alternatives.contains(&token) {
                        term.alternatives.push(token);
                    }
                }
            }
        }
    }
}

/// Returns the candidates for the plural of a word, if it is a singular, and for its singular, if it is a plural.
pub(super) fn inflections(word: &str, language: &str) -> Vec<String> {
    let mut forms = Vec::new();
    let endings = match language {
        "en" => ENGLISH,
        "de" => GERMAN,
        "nl" => DUTCH,
        "fr" => FRENCH,
        "es" => SPANISH,
        "it" => ITALIAN,
        "pt" => PORTUGUESE,
        _ => return forms,
    };
    for (singular, plural) in endings {
        for (from, to) in [(singular, plural), (plural, singular)] {
            if let Some(base) = word.strip_suffix(from) {
                add_form(&mut forms, word, format!("{base}{to}"));
            }
        }
    }
    match language {
        "en" => add_english_words(&mut forms, word),
        "de" => add_umlauts(&mut forms, word),
        "nl" => add_dutch_spellings(&mut forms, word),
        _ => {}
    }
    forms
}

fn add_form(forms: &mut Vec<String>, word: &str, form: String) {
    if form != word && form.chars().count() >= MIN_FORM_LETTERS && !forms.contains(&form) {
        forms.push(form);
    }
}

/// Adds the other number of an irregular English word.
fn add_english_words(forms: &mut Vec<String>, word: &str) {
    let mut words = ENGLISH_WORDS.split_whitespace();
    while let (Some(singular), Some(plural)) = (words.next(), words.next()) {
        if word == singular {
            add_form(forms, word, plural.to_owned());
        } else if word == plural {
            add_form(forms, word, singular.to_owned());
        }
    }
}

/// Adds German forms with and without an umlaut: `haus` and `häuser`.
fn add_umlauts(forms: &mut Vec<String>, word: &str) {
    for ending in GERMAN_UMLAUT {
        if let Some(form) = replace_last(word, &UMLAUTS) {
            add_form(forms, word, format!("{form}{ending}"));
        }
        if let Some(base) = word.strip_suffix(ending)
            && let Some(form) = replace_last(base, &UMLAUTS.map(|(plain, umlaut)| (umlaut, plain)))
        {
            add_form(forms, word, form);
        }
    }
}

/// Replaces the last of several texts in a word. Earlier pairs have precedence at the same end.
fn replace_last(word: &str, pairs: &[(&str, &str)]) -> Option<String> {
    let mut last: Option<(usize, &str, &str)> = None;
    for (from, to) in pairs {
        if let Some(start) = word.rfind(from)
            && last.is_none_or(|(at, other, _)| start + from.len() > at + other.len())
        {
            last = Some((start, from, to));
        }
    }
    let (start, from, to) = last?;
    Some(format!(
        "{}{to}{}",
        &word[..start],
        &word[start + from.len()..]
    ))
}

/// Adds Dutch forms whose spelling changes with the syllable: `bus` and `bussen`, `boom` and `bomen`, `kaas` and `kazen`.
fn add_dutch_spellings(forms: &mut Vec<String>, word: &str) {
    let letters: Vec<char> = word.chars().collect();
    if let [.., before, vowel, last] = letters[..]
        && !VOWELS.contains(&last)
    {
        let short = &word[..word.len() - last.len_utf8()];
        let voiced = match last {
            'f' => 'v',
            's' => 'z',
            other => other,
        };
        if before == vowel && VOWELS.contains(&vowel) {
            let open = &short[..short.len() - vowel.len_utf8()];
            add_form(forms, word, format!("{open}{last}en"));
            add_form(forms, word, format!("{open}{voiced}en"));
        } else if VOWELS.contains(&vowel) {
            add_form(forms, word, format!("{word}{last}en"));
        }
    }
    let Some(base) = word.strip_suffix("en") else {
        return;
    };
    let letters: Vec<char> = base.chars().collect();
    if let [.., before, last] = letters[..]
        && !VOWELS.contains(&last)
    {
        let head = &base[..base.len() - last.len_utf8()];
        let final_letter = match last {
            'v' => 'f',
            'z' => 's',
            other => other,
        };
        if before == last {
            add_form(forms, word, head.to_owned());
        } else if VOWELS.contains(&before) {
            add_form(forms, word, format!("{head}{before}{final_letter}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::multilingual::place_of;
    use super::*;

    #[test]
    fn singular_and_plural_form_each_other() {
        for (language, singular, plural) in [
            ("en", "woman", "women"),
            ("en", "analysis", "analyses"),
            ("en", "genus", "genera"),
            ("de", "haus", "häuser"),
            ("de", "museum", "museen"),
            ("de", "hafen", "häfen"),
            ("de", "kreis", "kreise"),
            ("de", "ergebnis", "ergebnisse"),
            ("nl", "weg", "wegen"),
            ("nl", "fietspad", "fietspaden"),
            ("nl", "bus", "bussen"),
            ("nl", "boom", "bomen"),
            ("nl", "prijs", "prijzen"),
            ("nl", "oog", "ogen"),
            ("nl", "stad", "steden"),
            ("nl", "eenheid", "eenheden"),
            ("fr", "canal", "canaux"),
            ("fr", "château", "châteaux"),
            ("es", "luz", "luces"),
            ("es", "estación", "estaciones"),
            ("es", "examen", "exámenes"),
            ("it", "lago", "laghi"),
            ("it", "spiaggia", "spiagge"),
            ("it", "servizio", "servizi"),
            ("pt", "estação", "estações"),
            ("pt", "imagem", "imagens"),
            ("pt", "hotel", "hotéis"),
        ] {
            for (from, to) in [(singular, plural), (plural, singular)] {
                let forms = inflections(from, language);
                assert!(forms.iter().any(|form| form == to), "{from}: {forms:?}");
            }
        }
    }

    /// Words of English datasets and of Dutch ones.
    struct Collection([&'static [&'static str]; 2]);

    impl Vocabulary for Collection {
        fn contains(&self, _: &[String]) -> bool {
            false
        }

        fn word_use(&self, word: &str) -> WordUse {
            let mut found = WordUse::default();
            for (words, language) in self.0.iter().zip(["en", "nl"]) {
                let count = usize::from(words.contains(&word));
                let place = place_of(language);
                found.datasets += count;
                found.of_known_language += count;
                found.of_language[place.expect("a language")] += count;
            }
            found
        }

        fn token_use(&self, _: &str) -> WordUse {
            WordUse::default()
        }
    }

    #[test]
    fn the_other_number_is_searched_for_in_its_language_only() {
        let collection = Collection([&["date", "data"], &["weg", "wegen", "bus", "fietspad"]]);
        let analysis = Multilingual::new();
        let tokens = |query: &str, language: Option<&str>| {
            let mut terms = analysis.query_words(query);
            let before = terms.clone();
            add_inflections(&mut terms, language, &analysis, &collection);
            terms[0].alternatives[before[0].alternatives.len()..].to_vec()
        };
        // The Dutch stem, and the token of texts that are stemmed as English.
        assert_eq!(tokens("weg", None), ["weeg", "wegen"]);
        let plural = &analysis.query_words("fietspaden")[0].alternatives;
        assert!(
            tokens("fietspaden", Some("nl")).is_empty()
                && plural.iter().any(|token| token == "fietspad"),
            "a stem already meets: {plural:?}"
        );
        assert!(tokens("weg", Some("de")).is_empty());
        assert!(tokens("bus", None).is_empty(), "no form occurs");
        assert!(
            tokens("date", None).is_empty(),
            "`data` is no Italian plural here"
        );
    }

    #[test]
    fn short_words_and_other_languages_have_no_forms() {
        assert!(inflections("haus", "sv").is_empty());
        for regular in ["river", "rivers", "caves", "album"] {
            assert!(inflections(regular, "en").is_empty(), "{regular}");
        }
        assert!(inflections("ja", "it").iter().all(|form| form.len() > 2));
    }
}
