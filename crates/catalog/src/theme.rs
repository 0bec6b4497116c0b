//! Names of the themes of a dataset from other concept schemes, and of its languages.

use super::statement::StatementIndex;
use super::{Dataset, Node, Value, name_of_iri};
use lodeseek_rdf::vocab::{dcat, dcterms, rdfs, schema, skos};
use lodeseek_rdf::{language_name, language_rank, local_name};

/// Data themes of the Publications Office of the European Union: (end of the IRI, name). Most European portals use
/// these IRIs without labels.
/// <https://op.europa.eu/en/web/eu-vocabularies/dataset/-/resource?uri=http://publications.europa.eu/resource/dataset/data-theme>
const DATA_THEMES: &[(&str, &str)] = &[
    ("AGRI", "Agriculture, fisheries, forestry and food"),
    ("ECON", "Economy and finance"),
    ("EDUC", "Education, culture and sport"),
    ("ENER", "Energy"),
    ("ENVI", "Environment"),
    ("GOVE", "Government and public sector"),
    ("HEAL", "Health"),
    ("INTR", "International issues"),
    ("JUST", "Justice, legal system and public safety"),
    ("REGI", "Regions and cities"),
    ("SOCI", "Population and society"),
    ("TECH", "Science and technology"),
    ("TRAN", "Transport"),
];

impl Dataset {
    /// Returns the distinct names of the themes that are not tasks, modalities or languages. English names are
    /// preferred.
    #[must_use]
    pub fn theme_names(&self) -> Vec<String> {
        self.names(dcat::THEME, str::to_owned, data_theme, |iri| {
            name_of_iri(iri).unwrap_or_default()
        })
    }

    /// Returns the declared languages, with English names for known codes. Catalogues use tags, IRIs of lists that end
    /// in codes, and names.
    #[must_use]
    pub fn language_names(&self) -> Vec<String> {
        self.names(
            dcterms::LANGUAGE,
            language_of_text,
            |iri| {
                let (code, name) = (local_name(iri), language_name(local_name(iri)));
                (name != code).then(|| name.to_owned())
            },
            |iri| language_name(local_name(iri)).to_owned(),
        )
    }

    /// Returns the distinct names of a property's values, sorted. `known` returns the English name of an IRI from a list, `of_iri`
    /// any other name.
    fn names(
        &self,
        property: &str,
        of_text: impl Fn(&str) -> String,
        known: impl Fn(&str) -> Option<String>,
        of_iri: impl Fn(&str) -> String,
    ) -> Vec<String> {
        let statements = StatementIndex::new(&self.extra_statements);
        let values = statements.values(&Node::Dataset, property);
        let names = values.filter_map(|value| match value {
            Value::Literal(literal) => Some(of_text(literal.value().trim())),
            Value::Node(Node::Dataset) => None,
            Value::Node(node) => {
                let iri = statements.web_iris(node).next();
                match (find_label(&statements, node), iri.and_then(&known)) {
                    (Some((label, rank)), known)
                        if rank < OTHER_LANGUAGE_RANK || known.is_none() =>
                    {
                        Some(of_text(&label))
                    }
                    (_, Some(known)) => Some(known),
                    _ => iri.map(&of_iri),
                }
            }
        });
        let mut names: Vec<String> = names.filter(|name| !name.is_empty()).collect();
        names.sort();
        names.dedup();
        names
    }
}

/// Returns the English name of a language that is given by an IRI, a tag or a name.
fn language_of_text(text: &str) -> String {
    let text = if text.contains("://") {
        local_name(text)
    } else {
        text
    };
    let is_tag = text
        .split(['-', '_'])
        .next()
        .is_some_and(|primary| matches!(primary.len(), 2 | 3));
    if is_tag { language_name(text) } else { text }.to_owned()
}

/// Languages of the labels, best first.
const LABEL_LANGUAGES: [&str; 1] = ["en"];
/// Rank of a label in another language, by [`language_rank`]. Labels without a language precede it.
const OTHER_LANGUAGE_RANK: usize = LABEL_LANGUAGES.len() + 1;

/// Returns the label of a node for an English reader, and the rank of its language.
fn find_label(statements: &StatementIndex<'_>, node: &Node) -> Option<(String, usize)> {
    let labels = [skos::PREF_LABEL, rdfs::LABEL, schema::NAME]
        .into_iter()
        .flat_map(|property| statements.values(node, property));
    let literals = labels.filter_map(|value| match value {
        Value::Literal(literal) => Some(literal),
        Value::Node(_) => None,
    });
    let ranked = literals.map(|literal| {
        let rank = language_rank(literal.language(), &LABEL_LANGUAGES);
        (literal.value().trim(), rank)
    });
    let (label, rank) = ranked.min_by_key(|(_, rank)| *rank)?;
    Some((label.to_owned(), rank))
}

/// Number of data themes of the European Union.
pub const DATA_THEME_COUNT: usize = DATA_THEMES.len();

/// Beginning of the IRIs of [`DATA_THEMES`].
const DATA_THEME_NAMESPACE: &str = "http://publications.europa.eu/resource/authority/data-theme/";

/// Returns the English names of the data themes of the European Union.
pub fn data_theme_names() -> impl Iterator<Item = &'static str> {
    DATA_THEMES.iter().map(|(_, name)| *name)
}

/// Returns the IRI of a data theme of the European Union by its English name.
#[must_use]
pub fn data_theme_iri(name: &str) -> Option<String> {
    let (code, _) = DATA_THEMES.iter().find(|(_, known)| *known == name)?;
    Some(format!("{DATA_THEME_NAMESPACE}{code}"))
}

/// Returns the English name of a data theme of the European Union.
#[must_use]
pub fn data_theme(iri: &str) -> Option<String> {
    let code = iri.rsplit_once("/data-theme/")?.1;
    DATA_THEMES
        .iter()
        .find(|(known, _)| *known == code)
        .map(|(_, name)| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::{DatasetId, Metadata, Statement};
    use super::*;
    use lodeseek_rdf::vocab::owl;
    use oxrdf::Literal;

    #[test]
    fn themes_have_names() {
        let mut dataset = Dataset::new(Metadata::new(DatasetId::new("a").expect("an id")));
        let part = |name: &str| Node::Part(name.to_owned());
        let iri = |iri: &str| Value::Node(Node::Iri(iri.to_owned()));
        let label = |text: &str, tag: &str| {
            Value::Literal(Literal::new_language_tagged_literal_unchecked(text, tag))
        };
        let themes = [
            iri("http://publications.europa.eu/resource/authority/data-theme/ENVI"),
            iri("http://example.org/themes/urbanWater"),
            part("labelled").into(),
            part("same").into(),
            Value::Literal(Literal::from(" Roads ")),
            part("nameless").into(),
        ];
        dataset.extra_statements = themes
            .map(|theme| Statement::new(Node::Dataset, dcat::THEME, theme))
            .into();
        dataset.extra_statements.extend([
            Statement::new(part("labelled"), skos::PREF_LABEL, label("Umwelt", "de")),
            Statement::new(part("labelled"), skos::PREF_LABEL, label("Nature", "en")),
            Statement::new(part("same"), owl::SAME_AS, iri("http://example.org/soil")),
        ]);
        assert_eq!(
            dataset.theme_names(),
            ["Environment", "Nature", "Roads", "soil", "urban Water"]
        );
        let languages = [
            Value::Literal(Literal::from("en-US")),
            iri("http://publications.europa.eu/resource/authority/language/ENG"),
            iri("http://lexvo.org/id/iso639-3/deu"),
            iri("http://id.loc.gov/vocabulary/iso639-2/fre"),
            part("named").into(),
            part("schema").into(),
            iri("urn:iso:639:-3:swe"),
            Value::Literal(Literal::from("gsw-CH")),
            Value::Literal(Literal::from("Serbo-Croatian")),
            Value::Literal(Literal::from("http://id.loc.gov/vocabulary/iso639-1/es")),
        ];
        dataset.extra_statements = languages
            .map(|language| Statement::new(Node::Dataset, dcterms::LANGUAGE, language))
            .into();
        dataset.extra_statements.push(Statement::new(
            part("named"),
            rdfs::LABEL,
            label("pl", "en"),
        ));
        dataset.extra_statements.push(Statement::new(
            part("schema"),
            schema::NAME,
            Value::Literal(Literal::from("Danish")),
        ));
        assert_eq!(
            dataset.language_names(),
            [
                "Danish",
                "English",
                "French",
                "German",
                "Polish",
                "Serbo-Croatian",
                "Spanish",
                "Swedish",
                "gsw"
            ]
        );
    }

    #[test]
    fn names_of_data_themes_have_iris() {
        assert_eq!(data_theme_names().count(), DATA_THEME_COUNT);
        for name in data_theme_names() {
            let iri = data_theme_iri(name).expect("a data theme");
            assert_eq!(data_theme(&iri).as_deref(), Some(name));
        }
        assert_eq!(data_theme_iri("Poetry"), None);
    }

    #[test]
    fn described_themes_and_languages_have_names() {
        let mut dataset = Dataset::new(Metadata::new(DatasetId::new("a").expect("an id")));
        let european =
            |path: &str| format!("http://publications.europa.eu/resource/authority/{path}");
        let label = |text: &str, tag: &str| {
            Value::Literal(Literal::new_language_tagged_literal_unchecked(text, tag))
        };
        for (property, iri, text, tag) in [
            (dcat::THEME, european("data-theme/ENVI"), "Umwelt", "de"),
            (dcat::THEME, "http://e.org/1".to_owned(), "Wasser", "de"),
            (dcat::THEME, "http://e.org/2".to_owned(), "Stones", "en"),
            (dcterms::LANGUAGE, european("language/FIN"), "suomi", "fi"),
        ] {
            let node = Node::Iri(iri);
            dataset
                .extra_statements
                .push(Statement::new(Node::Dataset, property, node.clone()));
            dataset
                .extra_statements
                .push(Statement::new(node, skos::PREF_LABEL, label(text, tag)));
        }
        assert_eq!(dataset.theme_names(), ["Environment", "Stones", "Wasser"]);
        assert_eq!(dataset.language_names(), ["Finnish"]);
    }

    /// If each theme searched all statements, the work would be quadratic.
    #[test]
    fn many_themes_have_names() {
        let mut dataset = Dataset::new(Metadata::new(DatasetId::new("a").expect("an id")));
        for number in 0..50_000 {
            let (part, label) = (
                Node::Part(format!("theme-{number}")),
                Literal::from(format!("Theme {number:05}")),
            );
            dataset
                .extra_statements
                .push(Statement::new(Node::Dataset, dcat::THEME, part.clone()));
            dataset
                .extra_statements
                .push(Statement::new(part, rdfs::LABEL, label));
        }
        let names = dataset.theme_names();
        assert_eq!(
            (names.len(), names[49_999].as_str()),
            (50_000, "Theme 49999")
        );
    }
}
