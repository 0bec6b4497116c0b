//! English names of language tags.

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
    let primary = tag.split(['-', '_']).next().unwrap_or(tag);
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
