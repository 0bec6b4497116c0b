//! Codes and English names of languages.

/// Frequent languages of open data: (ISO 639-1 code, ISO 639-2 codes, English name).
///
/// There are two ISO 639-2 codes if the terminological and the bibliographic code differ.
const NAMES: [(&str, &[&str], &str); 56] = [
    ("af", &["afr"], "Afrikaans"),
    ("ar", &["ara"], "Arabic"),
    ("bg", &["bul"], "Bulgarian"),
    ("bn", &["ben"], "Bengali"),
    ("bs", &["bos"], "Bosnian"),
    ("ca", &["cat"], "Catalan"),
    ("cs", &["ces", "cze"], "Czech"),
    ("cy", &["cym", "wel"], "Welsh"),
    ("da", &["dan"], "Danish"),
    ("de", &["deu", "ger"], "German"),
    ("el", &["ell", "gre"], "Greek"),
    ("en", &["eng"], "English"),
    ("eo", &["epo"], "Esperanto"),
    ("es", &["spa"], "Spanish"),
    ("et", &["est"], "Estonian"),
    ("eu", &["eus", "baq"], "Basque"),
    ("fa", &["fas", "per"], "Persian"),
    ("fi", &["fin"], "Finnish"),
    ("fr", &["fra", "fre"], "French"),
    ("ga", &["gle"], "Irish"),
    ("gl", &["glg"], "Galician"),
    ("he", &["heb"], "Hebrew"),
    ("hi", &["hin"], "Hindi"),
    ("hr", &["hrv"], "Croatian"),
    ("hu", &["hun"], "Hungarian"),
    ("hy", &["hye", "arm"], "Armenian"),
    ("id", &["ind"], "Indonesian"),
    ("is", &["isl", "ice"], "Icelandic"),
    ("it", &["ita"], "Italian"),
    ("ja", &["jpn"], "Japanese"),
    ("ka", &["kat", "geo"], "Georgian"),
    ("ko", &["kor"], "Korean"),
    ("la", &["lat"], "Latin"),
    ("lt", &["lit"], "Lithuanian"),
    ("lv", &["lav"], "Latvian"),
    ("mk", &["mkd", "mac"], "Macedonian"),
    ("ms", &["msa", "may"], "Malay"),
    ("mt", &["mlt"], "Maltese"),
    ("nb", &["nob"], "Norwegian Bokmål"),
    ("nl", &["nld", "dut"], "Dutch"),
    ("nn", &["nno"], "Norwegian Nynorsk"),
    ("no", &["nor"], "Norwegian"),
    ("pl", &["pol"], "Polish"),
    ("pt", &["por"], "Portuguese"),
    ("ro", &["ron", "rum"], "Romanian"),
    ("ru", &["rus"], "Russian"),
    ("sk", &["slk", "slo"], "Slovak"),
    ("sl", &["slv"], "Slovenian"),
    ("sq", &["sqi", "alb"], "Albanian"),
    ("sr", &["srp"], "Serbian"),
    ("sv", &["swe"], "Swedish"),
    ("th", &["tha"], "Thai"),
    ("tr", &["tur"], "Turkish"),
    ("uk", &["ukr"], "Ukrainian"),
    ("vi", &["vie"], "Vietnamese"),
    ("zh", &["zho", "chi"], "Chinese"),
];

/// Codes of ISO 639-1, each with its codes of ISO 639-2, of which the terminological one is first.
const CODES: &str = "aa aar|ab abk|ae ave|af afr|ak aka|am amh|an arg|ar ara|as asm|av ava|ay aym|az aze|ba bak|be bel|bg bul|\
    bh bih|bi bis|bm bam|bn ben|bo bod tib|br bre|bs bos|ca cat|ce che|ch cha|co cos|cr cre|cs ces cze|cu chu|cv chv|cy cym wel|\
    da dan|de deu ger|dv div|dz dzo|ee ewe|el ell gre|en eng|eo epo|es spa|et est|eu eus baq|fa fas per|ff ful|fi fin|fj fij|\
    fo fao|fr fra fre|fy fry|ga gle|gd gla|gl glg|gn grn|gu guj|gv glv|ha hau|he heb|hi hin|ho hmo|hr hrv|ht hat|hu hun|\
    hy hye arm|hz her|ia ina|id ind|ie ile|ig ibo|ii iii|ik ipk|io ido|is isl ice|it ita|iu iku|ja jpn|jv jav|ka kat geo|kg kon|\
    ki kik|kj kua|kk kaz|kl kal|km khm|kn kan|ko kor|kr kau|ks kas|ku kur|kv kom|kw cor|ky kir|la lat|lb ltz|lg lug|li lim|\
    ln lin|lo lao|lt lit|lu lub|lv lav|mg mlg|mh mah|mi mri mao|mk mkd mac|ml mal|mn mon|mr mar|ms msa may|mt mlt|my mya bur|\
    na nau|nb nob|nd nde|ne nep|ng ndo|nl nld dut|nn nno|no nor|nr nbl|nv nav|ny nya|oc oci|oj oji|om orm|or ori|os oss|pa pan|\
    pi pli|pl pol|ps pus|pt por|qu que|rm roh|rn run|ro ron rum|ru rus|rw kin|sa san|sc srd|sd snd|se sme|sg sag|si sin|\
    sk slk slo|sl slv|sm smo|sn sna|so som|sq sqi alb|sr srp|ss ssw|st sot|su sun|sv swe|sw swa|ta tam|te tel|tg tgk|th tha|\
    ti tir|tk tuk|tl tgl|tn tsn|to ton|tr tur|ts tso|tt tat|tw twi|ty tah|ug uig|uk ukr|ur urd|uz uzb|ve ven|vi vie|vo vol|\
    wa wln|wo wol|xh xho|yi yid|yo yor|za zha|zh zho chi|zu zul";
/// Frequent languages without a code of ISO 639-1.
const LONG_CODES: &str = "ast ceb cnr dsb fil frr fur gsw haw hsb kab lad mul nds nso pap rom rup sah scn sco sma smj smn sms syr szl tet tpi zgh";
/// Codes of countries, and former codes of languages, in the place of language codes: each with the language that is meant.
/// Codes that are languages themselves, such as `kr` and `se`, are not among them.
const MISTAKEN_CODES: [(&str, &str); 19] = [
    ("at", "de"),
    ("cn", "zh"),
    ("cz", "cs"),
    ("dk", "da"),
    ("gb", "en"),
    ("gr", "el"),
    ("il", "he"),
    ("in", "id"),
    ("ir", "fa"),
    ("iw", "he"),
    ("ji", "yi"),
    ("jp", "ja"),
    ("mx", "es"),
    ("nz", "en"),
    ("rs", "sr"),
    ("sp", "es"),
    ("ua", "uk"),
    ("us", "en"),
    ("vn", "vi"),
];

/// Returns the shortest code of a language, in lower case, from a code of ISO 639-1 or ISO 639-2. `None` if it is unknown.
///
/// ```
/// use lodeseek_rdf::shortest_language_code;
/// assert_eq!(shortest_language_code("ger"), Some("de"));
/// assert_eq!(shortest_language_code("jp"), None);
/// ```
#[must_use]
pub fn shortest_language_code(code: &str) -> Option<&'static str> {
    if !matches!(code.len(), 2 | 3) {
        return None;
    }
    for row in CODES.split('|') {
        let mut codes = row.split_ascii_whitespace();
        let shortest = codes.next()?;
        if shortest == code || codes.any(|longer| longer == code) {
            return Some(shortest);
        }
    }
    LONG_CODES
        .split_ascii_whitespace()
        .find(|known| *known == code)
}

/// Returns the terminological code of ISO 639-2 for a language, in lower case, from one of its codes of ISO 639-1 or ISO 639-2.
/// `None` if the code is unknown.
///
/// ```
/// use lodeseek_rdf::terminological_language_code;
/// let codes = ["ger", "deu", "de", "nds", "jp"].map(terminological_language_code);
/// assert_eq!(codes, [Some("deu"), Some("deu"), Some("deu"), Some("nds"), None]);
/// ```
#[must_use]
pub fn terminological_language_code(code: &str) -> Option<&'static str> {
    let shortest = shortest_language_code(code)?;
    for row in CODES.split('|') {
        let mut codes = row.split_ascii_whitespace();
        if codes.next() == Some(shortest) {
            return codes.next();
        }
    }
    // Languages without a code of ISO 639-1 have one code of three letters.
    Some(shortest)
}

/// Returns the code of a tag's language, in lower case, without script and region. Codes of three letters, codes of countries
/// (`dk`, `jp`) and former codes become the code of the language; an unknown code stays.
///
/// ```
/// use lodeseek_rdf::corrected_language_code;
/// let codes = ["de-AT", "GER", "dk", "jp_JP", "tlh"].map(corrected_language_code);
/// assert_eq!(codes, ["de", "de", "da", "ja", "tlh"]);
/// ```
#[must_use]
pub fn corrected_language_code(tag: &str) -> String {
    let code = primary_subtag(tag).trim().to_ascii_lowercase();
    if let Some(shortest) = shortest_language_code(&code) {
        return shortest.to_owned();
    }
    for (mistaken, meant) in MISTAKEN_CODES {
        if mistaken == code {
            return meant.to_owned();
        }
    }
    code
}

/// Returns the English name of a tag's language, or the primary subtag if the language is not in the table.
///
/// ```
/// use lodeseek_rdf::language_name;
/// assert_eq!(language_name("de-AT"), "German");
/// assert_eq!(language_name("ENG"), "English");
/// assert_eq!(language_name("tlh"), "tlh");
/// ```
#[must_use]
pub fn language_name(tag: &str) -> &str {
    let primary = primary_subtag(tag);
    for (code, longer_codes, name) in &NAMES {
        if primary.eq_ignore_ascii_case(code)
            || longer_codes
                .iter()
                .any(|code| primary.eq_ignore_ascii_case(code))
        {
            return name;
        }
    }
    primary
}

/// Returns the rank of the language of a text for a reader of these languages, best first; lower is better. A text without a tag
/// comes after these languages and before all others. Scripts and regions have no effect.
///
/// ```
/// use lodeseek_rdf::language_rank;
/// let languages = ["de", "pt-BR"];
/// let ranks = [Some("de-AT"), Some("pt"), None, Some("fr")].map(|tag| language_rank(tag, &languages));
/// assert_eq!(ranks, [0, 1, 2, 3]);
/// ```
#[must_use]
pub fn language_rank(tag: Option<&str>, languages: &[&str]) -> usize {
    let Some(tag) = tag else {
        return languages.len();
    };
    let primary = primary_subtag(tag);
    for (rank, preferred) in languages.iter().enumerate() {
        if primary_subtag(preferred).eq_ignore_ascii_case(primary) {
            return rank;
        }
    }
    languages.len() + 1
}

/// Returns the language of a tag without script and region.
fn primary_subtag(tag: &str) -> &str {
    tag.split(['-', '_']).next().unwrap_or(tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistaken_codes_are_no_languages() {
        for (mistaken, meant) in MISTAKEN_CODES {
            assert_eq!(shortest_language_code(mistaken), None, "{mistaken}");
            assert_eq!(shortest_language_code(meant), Some(meant));
        }
    }

    #[test]
    fn bibliographic_codes_become_terminological_codes() {
        for (bibliographic, terminological) in [
            ("alb", "sqi"),
            ("arm", "hye"),
            ("baq", "eus"),
            ("bur", "mya"),
            ("chi", "zho"),
            ("cze", "ces"),
            ("dut", "nld"),
            ("fre", "fra"),
            ("geo", "kat"),
            ("ger", "deu"),
            ("gre", "ell"),
            ("ice", "isl"),
            ("mac", "mkd"),
            ("mao", "mri"),
            ("may", "msa"),
            ("per", "fas"),
            ("rum", "ron"),
            ("slo", "slk"),
            ("tib", "bod"),
            ("wel", "cym"),
        ] {
            for code in [bibliographic, terminological] {
                assert_eq!(
                    terminological_language_code(code),
                    Some(terminological),
                    "{code}"
                );
            }
        }
    }
}
