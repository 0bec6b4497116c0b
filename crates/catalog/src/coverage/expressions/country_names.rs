//! Names of countries in English, German, French, Spanish and Italian.

use super::folded;
use std::sync::LazyLock;

/// Names by the code of ISO 3166-1 with three letters. A name in several languages is listed once. German "Island" is
/// omitted, because it is the English word for an island.
const NAMES: [(&str, &[&str]); 32] = [
    ("AUT", &["Austria", "Österreich", "Autriche"]),
    ("BEL", &["Belgium", "Belgien", "Belgique", "Bélgica", "Belgio"]),
    ("BGR", &["Bulgaria", "Bulgarien", "Bulgarie"]),
    ("CHE", &["Switzerland", "Schweiz", "Suisse", "Suiza", "Svizzera"]),
    ("CYP", &["Cyprus", "Zypern", "Chypre", "Chipre", "Cipro"]),
    (
        "CZE",
        &[
            "Czechia",
            "Czech Republic",
            "Tschechien",
            "Tschechische Republik",
            "Tschechischen Republik",
            "Tchéquie",
            "République tchèque",
            "Chequia",
            "República Checa",
            "Cechia",
            "Repubblica Ceca",
        ],
    ),
    ("DEU", &["Germany", "Deutschland", "Allemagne", "Alemania", "Germania"]),
    ("DNK", &["Denmark", "Dänemark", "Danemark", "Dinamarca", "Danimarca"]),
    ("ESP", &["Spain", "Spanien", "Espagne", "España", "Spagna"]),
    ("EST", &["Estonia", "Estland", "Estonie"]),
    ("FIN", &["Finland", "Finnland", "Finlande", "Finlandia"]),
    ("FRA", &["France", "Frankreich", "Francia"]),
    (
        "GBR",
        &[
            "United Kingdom",
            "UK",
            "Great Britain",
            "Northern Ireland",
            "Vereinigtes Königreich",
            "Vereinigten Königreich",
            "Großbritannien",
            "Nordirland",
            "Royaume-Uni",
            "Grande-Bretagne",
            "Irlande du Nord",
            "Reino Unido",
            "Gran Bretaña",
            "Irlanda del Norte",
            "Regno Unito",
            "Gran Bretagna",
            "Irlanda del Nord",
        ],
    ),
    ("GRC", &["Greece", "Griechenland", "Grèce", "Grecia"]),
    ("HRV", &["Croatia", "Kroatien", "Croatie", "Croacia", "Croazia"]),
    ("HUN", &["Hungary", "Ungarn", "Hongrie", "Hungría", "Ungheria"]),
    ("IRL", &["Ireland", "Irland", "Irlande", "Irlanda"]),
    ("ISL", &["Iceland", "Islande", "Islandia", "Islanda"]),
    ("ITA", &["Italy", "Italien", "Italie", "Italia"]),
    ("LIE", &["Liechtenstein"]),
    ("LTU", &["Lithuania", "Litauen", "Lituanie", "Lituania"]),
    ("LUX", &["Luxembourg", "Luxemburg", "Luxemburgo", "Lussemburgo"]),
    ("LVA", &["Latvia", "Lettland", "Lettonie", "Letonia", "Lettonia"]),
    ("MLT", &["Malta", "Malte"]),
    (
        "NLD",
        &[
            "Netherlands",
            "Holland",
            "Niederlande",
            "Niederlanden",
            "Pays-Bas",
            "Países Bajos",
            "Holanda",
            "Paesi Bassi",
            "Olanda",
        ],
    ),
    ("NOR", &["Norway", "Norwegen", "Norvège", "Noruega", "Norvegia"]),
    ("POL", &["Poland", "Polen", "Pologne", "Polonia"]),
    ("PRT", &["Portugal", "Portogallo"]),
    ("ROU", &["Romania", "Rumänien", "Roumanie", "Rumanía"]),
    ("SVK", &["Slovakia", "Slowakei", "Slovaquie", "Eslovaquia", "Slovacchia"]),
    ("SVN", &["Slovenia", "Slowenien", "Slovénie", "Eslovenia"]),
    ("SWE", &["Sweden", "Schweden", "Suède", "Suecia", "Svezia"]),
];

/// The names as words in lower case and without accents, with the codes. Names of more words are first.
static FOLDED: LazyLock<Vec<(Vec<String>, &'static str)>> = LazyLock::new(|| {
    let mut names = Vec::new();
    for (code, list) in NAMES {
        for name in list {
            names.push((folded(name).split([' ', '-']).map(str::to_owned).collect::<Vec<String>>(), code));
        }
    }
    names.sort_by_key(|(words, _)| std::cmp::Reverse(words.len()));
    names
});

/// Returns the code of the country with the longest name that satisfies a predicate, and the number of words of the name.
pub(super) fn longest_name(matches: impl Fn(&[String]) -> bool) -> Option<(&'static str, usize)> {
    let (words, code) = FOLDED.iter().find(|(words, _)| matches(words))?;
    Some((*code, words.len()))
}
