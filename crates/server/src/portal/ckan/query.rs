//! Queries and filters over the fields of CKAN's Solr schema, and orders. The module `syntax` parses them.
//!
//! String fields match by whole values, text fields by words, as in CKAN. Words without a field are looked up in the index;
//! a query of words alone is ranked and found by the engine.

use super::dates::evaluate_date;
use super::error::QueryError;
use super::syntax::{Colon, DefaultOperator, Node, Occur, Term, parse};
use super::table::{Facet, Row, Table};
use super::texts::{Texts, is_any_value, matches_string};
use crate::parameters::MAX_QUERY_CHARACTERS;
use rustc_hash::FxHashMap;

/// A field of a clause.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Field {
    /// Values that facets count.
    Facet(Facet),
    Id,
    Name,
    /// Title as one string.
    TitleString,
    Modified,
    Created,
    /// A number of parts of a package.
    Count(Count),
    /// A field with the same value for all datasets of this portal.
    Fixed(&'static str),
    /// A text, compared by words.
    Text(String),
    /// A string, compared as a whole.
    String(&'static str),
    /// A field of CKAN that no dataset of this portal has.
    Absent,
    /// All texts.
    AllText,
    /// Every field; useful only with `*`.
    Any,
}

/// Parts of packages that are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Count {
    Resources,
    Tags,
}

impl Count {
    /// Returns the number of parts of a package.
    pub(super) fn parts(self, row: &Row) -> usize {
        match self {
            Self::Resources => row.resources.len(),
            Self::Tags => row.values(Facet::Tags).len(),
        }
    }
}

/// Text fields of CKAN's schema with a fixed name.
const TEXT_FIELDS: [&str; 8] = [
    "title",
    "notes",
    "author",
    "author_email",
    "maintainer",
    "maintainer_email",
    "res_name",
    "res_description",
];
/// String fields of CKAN's schema with values of packages.
const STRING_FIELDS: [&str; 5] = ["url", "version", "license", "res_url", "res_type"];
/// Fields of CKAN's schema for usage, relationships and its own data, and those of its extensions for harvests and collections, by
/// which catalogues of the United States filter.
const ABSENT_FIELDS: [&str; 23] = [
    "views_total",
    "views_recent",
    "resources_accessed_total",
    "resources_accessed_recent",
    "depends_on",
    "dependency_of",
    "derives_from",
    "has_derivation",
    "links_to",
    "linked_from",
    "child_of",
    "parent_of",
    "ckan_url",
    "download_url",
    "urls",
    "creator_user_id",
    "collection_metadata",
    "collection_package_id",
    "harvest_source_id",
    "harvest_source_title",
    "harvest_source_url",
    "metadata_type",
    "organization_type",
];

impl Field {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "id" | "index_id" => Self::Id,
            "name" => Self::Name,
            "title_string" => Self::TitleString,
            "metadata_modified" => Self::Modified,
            "metadata_created" => Self::Created,
            "num_resources" => Self::Count(Count::Resources),
            "num_tags" => Self::Count(Count::Tags),
            "state" => Self::Fixed("active"),
            "type" | "dataset_type" => Self::Fixed("dataset"),
            "entity_type" => Self::Fixed("package"),
            "capacity" | "permission_labels" => Self::Fixed("public"),
            "private" => Self::Fixed("false"),
            "site_id" => Self::Fixed("default"),
            "text" => Self::AllText,
            "*" => Self::Any,
            text if TEXT_FIELDS.contains(&text) => Self::Text(text.to_owned()),
            extra if extra.starts_with("extras_") || extra.starts_with("res_extras_") => {
                Self::Text(extra.to_owned())
            }
            vocabulary if vocabulary.starts_with("vocab_") => Self::Absent,
            absent if ABSENT_FIELDS.contains(&absent) => Self::Absent,
            other => match STRING_FIELDS.into_iter().find(|field| *field == other) {
                Some(field) => Self::String(field),
                None => Self::Facet(Facet::of_name(other)?),
            },
        })
    }

    fn is_date(&self) -> bool {
        matches!(self, Self::Modified | Self::Created)
    }
}

/// If true, a name is that of a field.
fn is_field(name: &str) -> bool {
    Field::from_name(name).is_some()
}

/// A condition on datasets.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Clause {
    /// Every dataset.
    Everything,
    Group(Vec<(Occur, Clause)>),
    /// At least so many of the clauses.
    AtLeast(usize, Vec<Clause>),
    Field(Field, Term),
    /// Words that datasets have to contain, one after the other: in what is indexed, or in a text of the package.
    Contains(String),
    /// At least one of these words, found by the engine.
    Words(String),
    Boosted(Box<Clause>, f64),
}

/// Number of words of a query that a dataset needs, as `mm` of Solr's parsers of plain words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct MinimumMatch(String);

impl MinimumMatch {
    /// Parses Solr's specification: `2`, `-1`, `75%`, `-25%`, or conditions such as `2<-1 5<80%`.
    pub(super) fn parse(text: &str) -> Result<Self, QueryError> {
        let specification = Self(text.to_owned());
        specification
            .count(1)
            .map(|_| specification)
            .ok_or_else(|| QueryError::MinimumMatch(text.to_owned()))
    }

    /// Returns the number of words of `words` that are required.
    fn count(&self, words: usize) -> Option<usize> {
        let mut current = None;
        for part in self.0.split_whitespace() {
            match part.split_once('<') {
                None => current = Some(required_words(part, words)?),
                Some((limit, required)) => {
                    let (limit, required): (usize, usize) =
                        (limit.parse().ok()?, required_words(required, words)?);
                    // The last condition whose limit is exceeded counts, so later ones replace earlier ones.
                    if words > limit {
                        current = Some(required);
                    } else if current.is_none() {
                        // Up to the first limit, Solr requires all words.
                        current = Some(words);
                    }
                }
            }
        }
        current
    }
}

/// Returns the number of words that one part of a specification requires.
fn required_words(part: &str, words: usize) -> Option<usize> {
    let (number, is_share) = match part.strip_suffix('%') {
        Some(number) => (number, true),
        None => (part, false),
    };
    let number: i64 = number.parse().ok()?;
    let total = i64::try_from(words).ok()?;
    // Shares are rounded towards zero, as in Solr.
    let share = if is_share {
        number.checked_mul(total)? / 100
    } else {
        number
    };
    let required = if number < 0 {
        total.checked_add(share)?
    } else {
        share
    };
    usize::try_from(required.clamp(0, total)).ok()
}

/// Options of a query of words.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(super) struct QueryOptions {
    pub(super) operator: Option<DefaultOperator>,
    pub(super) minimum_match: Option<MinimumMatch>,
    /// If true, the query is parsed as a filter is: Solr's standard parser.
    pub(super) is_standard: bool,
}

impl Clause {
    /// Parses a filter.
    pub(super) fn filter(text: &str, operator: DefaultOperator) -> Result<Self, QueryError> {
        Self::from_tree(parse(text, Colon::Field, operator)?)
    }

    /// Parses a query. Its operators are syntax only if it names a field or has an operator of Solr's: `water AND NOT river`,
    /// `+water -river`, `riv*`. Without a field, a syntax error then makes the text words, because a query may be any text.
    pub(super) fn query(text: &str, options: &QueryOptions) -> Result<Self, QueryError> {
        let text = text.trim();
        if text.is_empty() || text == "*" {
            return Ok(Self::Everything);
        }
        if text.chars().count() > MAX_QUERY_CHARACTERS {
            return Err(QueryError::Long(MAX_QUERY_CHARACTERS));
        }
        let operator = options.operator.unwrap_or_default();
        if options.is_standard {
            return Self::filter(text, operator);
        }
        if names_field(text) {
            return Self::from_tree(parse(text, Colon::Field, operator)?);
        }
        if text.starts_with("{!") || has_operator(text) {
            let tree = parse(text, Colon::KnownField(is_field), operator);
            match tree.and_then(Self::from_tree) {
                // This construct was meant as syntax: as words, it would find other datasets without any notice.
                Err(QueryError::Unsupported(construct, text)) => {
                    return Err(QueryError::Unsupported(construct, text));
                }
                // Other errors: a query may be any text, so it is words.
                Err(_) => {}
                parsed => return parsed,
            }
        }
        Self::from_words(text, options)
    }

    /// Returns the condition of plain words.
    fn from_words(text: &str, options: &QueryOptions) -> Result<Self, QueryError> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let required = match (&options.minimum_match, options.operator) {
            // As in Solr, `mm` takes precedence over the default operator.
            (Some(minimum), _) => minimum.count(words.len()),
            (None, Some(DefaultOperator::And)) => Some(words.len()),
            _ => None,
        };
        match required {
            // `Words` already requires one of the words, and the engine then ranks them together.
            Some(required) if required > 1 => {
                let clauses = words
                    .into_iter()
                    .map(|word| Self::Contains(word.to_owned()));
                Ok(Self::AtLeast(required, clauses.collect()))
            }
            _ => Ok(Self::Words(text.to_owned())),
        }
    }

    /// Resolves the fields of a parsed query. As in Solr, a query of prohibited clauses alone excludes from all datasets.
    fn from_tree(node: Node) -> Result<Self, QueryError> {
        if node == Node::Group(Vec::new()) {
            return Ok(Self::Everything);
        }
        let mut clause = Self::resolve(node)?;
        let mut inner = &mut clause;
        // A boost of the whole query, `(-a)^2`, must not hide that all its clauses are prohibited.
        while let Self::Boosted(boosted, _) = inner {
            inner = boosted;
        }
        if let Self::Group(clauses) = inner
            && clauses.iter().all(|(occur, _)| *occur == Occur::Prohibited)
        {
            clauses.push((Occur::Mandatory, Self::Everything));
        }
        Ok(clause)
    }

    fn resolve(node: Node) -> Result<Self, QueryError> {
        match node {
            Node::Group(clauses) => {
                let mut resolved = Vec::with_capacity(clauses.len());
                for (occur, clause) in clauses {
                    resolved.push((occur, Self::resolve(clause)?));
                }
                Ok(Self::Group(resolved))
            }
            Node::Boosted(node, boost) => Ok(Self::Boosted(Box::new(Self::resolve(*node)?), boost)),
            Node::Term(name, term) => {
                let field = match name {
                    None => Field::AllText,
                    Some(name) => Field::from_name(&name).ok_or(QueryError::Field(name))?,
                };
                Self::with_field(field, term)
            }
        }
    }

    fn with_field(field: Field, term: Term) -> Result<Self, QueryError> {
        match field {
            Field::AllText | Field::Any if is_any_value(&term) => Ok(Self::Everything),
            Field::AllText => match term {
                Term::Word(text) | Term::Phrase(text) => Ok(Self::Contains(text)),
                term => Ok(Self::Field(Field::AllText, term)),
            },
            Field::Any => Err(QueryError::Field("* (it has only the value *)".to_owned())),
            field if field.is_date() && !is_any_value(&term) => {
                Ok(Self::Field(field, with_dates(term)?))
            }
            field @ Field::Count(_) if !is_any_value(&term) => {
                check_numbers(&term)?;
                Ok(Self::Field(field, term))
            }
            field => Ok(Self::Field(field, term)),
        }
    }

    /// Returns the number of values and groups of words, without complete ids and names: clients send long lists of them.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Everything
            | Self::Field(Field::Id | Field::Name, Term::Word(_) | Term::Phrase(_)) => 0,
            Self::Group(clauses) => clauses.iter().map(|(_, clause)| clause.count()).sum(),
            Self::AtLeast(_, clauses) => clauses.iter().map(Self::count).sum(),
            Self::Boosted(clause, _) => clause.count(),
            Self::Field(..) | Self::Contains(_) | Self::Words(_) => 1,
        }
    }

    /// Returns the number of groups of words without a field. Adjacent mandatory words are one group.
    pub(super) fn word_groups(&self) -> usize {
        match self {
            Self::Everything | Self::Field(..) => 0,
            Self::Contains(_) | Self::Words(_) | Self::AtLeast(..) => 1,
            Self::Boosted(clause, _) => clause.word_groups(),
            Self::Group(clauses) => {
                let (mut groups, mut is_after_word) = (0, false);
                for (occur, clause) in clauses {
                    let is_word = *occur == Occur::Mandatory && matches!(clause, Self::Contains(_));
                    groups += if is_word && is_after_word {
                        0
                    } else {
                        clause.word_groups()
                    };
                    is_after_word = is_word;
                }
                groups
            }
        }
    }

    /// Returns the words for ranking: all that are not prohibited.
    pub(super) fn ranking_words(&self) -> String {
        let mut words = Vec::new();
        self.add_words(&mut words);
        words.join(" ")
    }

    fn add_words<'c>(&'c self, words: &mut Vec<&'c str>) {
        match self {
            Self::Everything | Self::Field(..) => {}
            Self::Group(clauses) => {
                for (_, clause) in clauses
                    .iter()
                    .filter(|(occur, _)| *occur != Occur::Prohibited)
                {
                    clause.add_words(words);
                }
            }
            Self::AtLeast(_, clauses) => {
                for clause in clauses {
                    clause.add_words(words);
                }
            }
            Self::Boosted(clause, _) => clause.add_words(words),
            Self::Contains(text) | Self::Words(text) => words.push(text),
        }
    }

    /// Calls a function with each clause that has no parts.
    pub(super) fn visit<'c>(&'c self, see: &mut impl FnMut(&'c Self)) {
        match self {
            Self::Group(clauses) => {
                for (_, clause) in clauses {
                    clause.visit(see);
                }
            }
            Self::AtLeast(_, clauses) => {
                for clause in clauses {
                    clause.visit(see);
                }
            }
            Self::Boosted(clause, _) => clause.visit(see),
            leaf => see(leaf),
        }
    }

    /// If true, the texts of packages decide the clause.
    pub(super) fn needs_texts(&self) -> bool {
        let mut needs = false;
        self.visit(&mut |clause| {
            needs |= matches!(
                clause,
                Self::Contains(_)
                    | Self::Field(Field::Text(_) | Field::String(_) | Field::AllText, _)
            );
        });
        needs
    }
}

/// Converts the texts of a term to dates.
fn with_dates(term: Term) -> Result<Term, QueryError> {
    match term {
        Term::Word(text) | Term::Phrase(text) => convert_date(text).map(Term::Word),
        Term::Range {
            from,
            to,
            inclusive,
        } => Ok(Term::Range {
            from: from.map(convert_date).transpose()?,
            to: to.map(convert_date).transpose()?,
            inclusive,
        }),
        Term::Near(text, _) | Term::Similar(text, _) => {
            Err(QueryError::Unsupported("similar dates", text))
        }
        Term::Like(_) => Err(QueryError::Unsupported(
            "patterns of dates",
            "use a range: [2020-01-01 TO *]".to_owned(),
        )),
    }
}

fn convert_date(text: String) -> Result<String, QueryError> {
    evaluate_date(&text).ok_or(QueryError::Date(text))
}

/// If true, a text names a field.
fn names_field(text: &str) -> bool {
    let starts = text
        .split(|c: char| c.is_whitespace() || c == '(')
        .map(|word| word.trim_start_matches(['+', '-', '!']));
    let mut named = starts.filter_map(|word| word.split_once(':'));
    named.any(|(name, _)| is_field(name) || name == "_query_" || name == "_val_")
}

/// If true, a text has an operator of Solr that is no punctuation.
fn has_operator(text: &str) -> bool {
    text.split_whitespace().any(|word| {
        let signed = word.strip_prefix(['+', '-', '!']).is_some_and(|rest| {
            rest.starts_with(|c: char| c.is_alphabetic() || c == '"' || c == '(')
        });
        let has_pattern =
            word.len() > 1 && word.contains('*') && word.contains(char::is_alphanumeric);
        matches!(word, "AND" | "OR" | "NOT" | "&&" | "||")
            || signed
            || has_pattern
            || word.starts_with('"')
            || has_edits_or_boost(word)
    })
}

/// If true, a word ends with `~2`, `^2` or the like.
fn has_edits_or_boost(word: &str) -> bool {
    let Some((before, number)) = word.rsplit_once(['~', '^']) else {
        return false;
    };
    before.ends_with(|c: char| c.is_alphanumeric() || c == '"' || c == ')')
        && number
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// The datasets that match a clause, and their scores if there are any.
struct Matches {
    marks: Vec<bool>,
    /// Scores of a query without words of its own, by place; empty for filters.
    scores: Vec<f64>,
}

impl Matches {
    /// Gives each dataset with a mark the same score, if `scored` is true.
    fn with_score(marks: Vec<bool>, score: f64, scored: bool) -> Self {
        let mut scores = Vec::new();
        if scored {
            scores.extend(marks.iter().map(|mark| if *mark { score } else { 0.0 }));
        }
        Self { marks, scores }
    }
}

/// Input of the evaluation of clauses.
pub(super) struct Evaluation<'e> {
    pub(super) table: &'e Table,
    /// Texts of packages, if a clause needs them.
    pub(super) texts: Option<&'e Texts>,
    /// The datasets with each text of a clause that the index decides. Without a word to look up: `None`.
    pub(super) found: FxHashMap<String, Option<Vec<u32>>>,
}

impl Evaluation<'_> {
    /// Returns for each dataset if it matches a clause.
    pub(super) fn marks(&self, clause: &Clause) -> Vec<bool> {
        match self.evaluate(clause, false) {
            Some(matches) => matches.marks,
            None => vec![false; self.table.rows.len()],
        }
    }

    /// Returns for each dataset the score of the fields that match: rare values count more, and boosts multiply.
    pub(super) fn field_scores(&self, clause: &Clause) -> Vec<f64> {
        match self.evaluate(clause, true) {
            Some(matches) => matches.scores,
            None => vec![0.0; self.table.rows.len()],
        }
    }

    /// Evaluates a clause. `None`: its text has no word, and the clause is no part of its group.
    fn evaluate(&self, clause: &Clause, scored: bool) -> Option<Matches> {
        let datasets = self.table.rows.len();
        match clause {
            Clause::Everything => Some(Matches::with_score(vec![true; datasets], 0.0, scored)),
            Clause::Group(clauses) => Some(self.evaluate_group(clauses, scored)),
            Clause::AtLeast(required, clauses) => {
                let parts: Vec<Matches> = clauses
                    .iter()
                    .filter_map(|clause| self.evaluate(clause, scored))
                    .collect();
                // A word without anything to look up, such as a punctuation mark, cannot be required; but one match always is.
                let required = (*required).min(parts.len()).max(1);
                let marks = (0..datasets)
                    .map(|place| parts.iter().filter(|part| part.marks[place]).count() >= required);
                Some(Matches::with_score(marks.collect(), 1.0, scored))
            }
            Clause::Boosted(clause, boost) => {
                let mut matches = self.evaluate(clause, scored)?;
                for score in &mut matches.scores {
                    *score *= boost;
                }
                Some(matches)
            }
            Clause::Contains(text) | Clause::Words(text) => {
                let places = self.found.get(text)?.as_ref()?;
                let mut marks = vec![false; datasets];
                for place in places {
                    marks[*place as usize] = true;
                }
                Some(Matches::with_score(marks, 1.0, scored))
            }
            Clause::Field(field, term) => {
                let marks = self.mark_field(field, term)?;
                let is_exact = matches!(term, Term::Word(_) | Term::Phrase(_) | Term::Near(..));
                let score = if is_exact && scored {
                    compute_rarity(&marks)
                } else {
                    1.0
                };
                Some(Matches::with_score(marks, score, scored))
            }
        }
    }

    fn evaluate_group(&self, clauses: &[(Occur, Clause)], scored: bool) -> Matches {
        let datasets = self.table.rows.len();
        let mut mandatory: Option<Vec<bool>> = None;
        let mut optional: Option<Vec<bool>> = None;
        let mut prohibited = vec![false; datasets];
        let mut scores = if scored {
            vec![0.0; datasets]
        } else {
            Vec::new()
        };
        for (occur, clause) in clauses {
            let Some(part) = self.evaluate(clause, scored && *occur != Occur::Prohibited) else {
                continue;
            };
            // Optional clauses add to the score also where mandatory ones decide the match.
            for (all, one) in scores.iter_mut().zip(&part.scores) {
                *all += one;
            }
            match occur {
                Occur::Mandatory => match &mut mandatory {
                    Some(marks) => {
                        for (all, one) in marks.iter_mut().zip(part.marks) {
                            *all &= one;
                        }
                    }
                    None => mandatory = Some(part.marks),
                },
                Occur::Optional => match &mut optional {
                    Some(marks) => {
                        for (all, one) in marks.iter_mut().zip(part.marks) {
                            *all |= one;
                        }
                    }
                    None => optional = Some(part.marks),
                },
                Occur::Prohibited => {
                    for (all, one) in prohibited.iter_mut().zip(part.marks) {
                        *all |= one;
                    }
                }
            }
        }
        // Prohibited clauses alone match nothing, as in Solr.
        let mut marks = mandatory
            .or(optional)
            .unwrap_or_else(|| vec![false; datasets]);
        for (mark, is_excluded) in marks.iter_mut().zip(prohibited) {
            *mark &= !is_excluded;
        }
        Matches { marks, scores }
    }

    /// Returns for each dataset if a field matches a term. `None` if the term has no word.
    fn mark_field(&self, field: &Field, term: &Term) -> Option<Vec<bool>> {
        let rows = &self.table.rows;
        let mut marks = vec![false; rows.len()];
        match field {
            Field::Facet(facet) => {
                let matching: Vec<bool> = self
                    .table
                    .values(*facet)
                    .all
                    .iter()
                    .map(|value| matches_string(term, &value.name))
                    .collect();
                for (mark, row) in marks.iter_mut().zip(rows) {
                    *mark = row
                        .values(*facet)
                        .iter()
                        .any(|place| matching[*place as usize]);
                }
            }
            Field::Id => {
                for (mark, row) in marks.iter_mut().zip(rows) {
                    *mark = matches_string(term, row.id.as_str());
                }
            }
            Field::Name => {
                for (mark, row) in marks.iter_mut().zip(rows) {
                    *mark = matches_string(term, &row.name);
                }
            }
            Field::TitleString => {
                for (mark, row) in marks.iter_mut().zip(rows) {
                    *mark = matches_string(term, &row.title);
                }
            }
            Field::Modified => {
                for (mark, row) in marks.iter_mut().zip(rows) {
                    *mark = is_time_match(term, row.modified.as_deref());
                }
            }
            Field::Created => {
                for (mark, row) in marks.iter_mut().zip(rows) {
                    *mark = is_time_match(term, row.created.as_deref());
                }
            }
            Field::Count(count) => {
                for (mark, row) in marks.iter_mut().zip(rows) {
                    *mark = is_number_match(term, count.parts(row));
                }
            }
            Field::Fixed(value) => marks.fill(matches_string(term, value)),
            Field::String(name) => {
                for (place, values) in self.texts.into_iter().flat_map(|texts| texts.strings(name))
                {
                    if let Some(mark) = marks.get_mut(place as usize) {
                        *mark = values.iter().any(|value| matches_string(term, value));
                    }
                }
            }
            Field::Text(name) if is_any_value(term) => self.texts?.mark_all(name, &mut marks),
            Field::Text(name) => {
                let texts = self.texts?;
                texts.mark_text(name, &texts.word_sets(name, term)?, &mut marks);
            }
            Field::AllText => {
                let texts = self.texts?;
                texts.mark_any_text(&texts.word_sets("text", term)?, &mut marks);
            }
            Field::Absent | Field::Any => {}
        }
        Some(marks)
    }
}

/// If true, a time matches a term. A value without a fraction is the whole second, since packages have seconds.
fn is_time_match(term: &Term, time: Option<&str>) -> bool {
    let Some(time) = time else {
        return false;
    };
    match term {
        Term::Word(second) if !second.contains('.') => time.split('.').next() == Some(second),
        term => matches_string(term, time),
    }
}

/// Checks that a value or range consists of numbers.
fn check_numbers(term: &Term) -> Result<(), QueryError> {
    let texts = match term {
        Term::Word(text) | Term::Phrase(text) => vec![text],
        Term::Range { from, to, .. } => from.iter().chain(to).collect(),
        _ => {
            return Err(QueryError::Unsupported(
                "patterns of numbers",
                "use a range: [1 TO *]".to_owned(),
            ));
        }
    };
    match texts.into_iter().find(|text| parse_number(text).is_none()) {
        Some(text) => Err(QueryError::Number(text.clone())),
        None => Ok(()),
    }
}

fn parse_number(text: &str) -> Option<f64> {
    text.trim()
        .parse()
        .ok()
        .filter(|number: &f64| number.is_finite())
}

/// Returns true if a number is a value or in a range.
fn is_number_match(term: &Term, value: usize) -> bool {
    let value = value as f64;
    match term {
        Term::Word(text) | Term::Phrase(text) => parse_number(text) == Some(value),
        Term::Range {
            from,
            to,
            inclusive: [with_from, with_to],
        } => {
            let is_above = from
                .as_deref()
                .and_then(parse_number)
                .is_none_or(|from| from < value || *with_from && from == value);
            let is_below = to
                .as_deref()
                .and_then(parse_number)
                .is_none_or(|to| value < to || *with_to && to == value);
            is_above && is_below
        }
        _ => true, // only `*` remains
    }
}

/// Returns the weight of a match: the fewer datasets match, the higher.
fn compute_rarity(marks: &[bool]) -> f64 {
    let (all, matching) = (
        marks.len() as f64,
        marks.iter().filter(|mark| **mark).count() as f64,
    );
    // Inverse document frequency of BM25 in the form of Lucene, which is never negative.
    (1.0 + (all - matching + 0.5) / (matching + 0.5)).ln()
}

/// Sort order, the most significant key first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Sort {
    pub(super) by: SortField,
    pub(super) descending: bool,
}

/// Sort key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum SortField {
    Score,
    Modified,
    Created,
    Title,
    Name,
    Id,
    Count(Count),
    /// A field with at most one value.
    Facet(Facet),
    String(&'static str),
    /// A field that no dataset has: it changes no order.
    Absent,
}

impl Sort {
    /// Parses CKAN's `sort`. A repeated key has no effect.
    pub(super) fn read(text: &str) -> Result<Vec<Self>, QueryError> {
        let mut keys: Vec<Self> = Vec::new();
        for part in text
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
        {
            let key = Self::parse_key(part).ok_or_else(|| QueryError::Sort(part.to_owned()))?;
            // Datasets that are equal by a key are equal by its repetition.
            if keys.iter().all(|earlier| earlier.by != key.by) {
                keys.push(key);
            }
        }
        Ok(keys)
    }

    /// Parses a field and its direction.
    fn parse_key(part: &str) -> Option<Self> {
        let mut words = part.split_whitespace();
        let name = words.next()?;
        let by = match name {
            "score" | "relevance" => SortField::Score,
            "title" => SortField::Title,
            other => match Field::from_name(other) {
                Some(Field::Modified) => SortField::Modified,
                Some(Field::Created) => SortField::Created,
                Some(Field::Count(count)) => SortField::Count(count),
                Some(Field::TitleString) => SortField::Title,
                Some(Field::Name) => SortField::Name,
                Some(Field::Id) => SortField::Id,
                Some(Field::Facet(
                    facet @ (Facet::Organization | Facet::LicenseId | Facet::IsOpen),
                )) => SortField::Facet(facet),
                Some(Field::String(field @ ("url" | "version" | "license"))) => {
                    SortField::String(field)
                }
                Some(Field::Fixed(_) | Field::Absent) => SortField::Absent,
                _ => return None,
            },
        };
        let descending = match words.next().map(str::to_ascii_lowercase).as_deref() {
            None | Some("asc") => false,
            Some("desc") => true,
            Some(_) => return None,
        };
        if words.next().is_some() {
            return None;
        }
        Some(Self { by, descending })
    }
}
