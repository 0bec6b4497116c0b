//! Values by which the rows of a service are joined, and how a request restricts them.
//!
//! *The problem.* The store keeps the value of numbers, dates and durations, not their text: `"01"^^xsd:integer` and `"+1"^^xsd:int` are
//! read as `1`, and language tags are in lower case. Other endpoints keep the text, and `VALUES` compares it: a binding `1` finds no
//! triple with `"01"`.
//!
//! *The requests.* A binding whose text others may write in another way is not sent as a term. Numbers, booleans and times are compared
//! with `=`
//! (not with `IN`, which some engines evaluate as a comparison of terms), strings with a language by `STR`, dates by their first ten
//! characters. Values that not every endpoint compares restrict
//! nothing. Such a request returns more rows than join. Those whose canonical forms are no requested binding are dropped here: so each
//! row of the service counts once, in one request.

use super::super::ordering::INTEGERS;
use super::Bindings;
use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNodeRef, Term, Triple, Variable};
use oxsdatatypes::{
    Boolean, Date, DateTime, DayTimeDuration, Decimal, Double, Duration, Float, GDay, GMonth,
    GMonthDay, GYear, GYearMonth, Integer, Time, YearMonthDuration,
};
use rustc_hash::FxHashSet;
use spargebra::algebra::{Expression, Function};
use spargebra::term::GroundTerm;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::str::FromStr;

/// Length of a date without its timezone, in years of four digits.
const DATE_BYTES: usize = 10;

/// Restriction of one variable in a request.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Restriction {
    /// `VALUES`: all endpoints write the term alike.
    Term,
    /// `=`, which compares values.
    Value,
    /// `STR` of a string with a language.
    Text,
    /// The first characters of a date.
    Date,
    /// None: all rows are requested.
    Nothing,
}

impl Restriction {
    /// Returns the restriction for a binding.
    pub(super) fn for_term(term: &GroundTerm) -> Self {
        match term {
            GroundTerm::NamedNode(_) => Self::Term,
            GroundTerm::Literal(literal) => Self::for_literal(literal),
            GroundTerm::Triple(triple) => match Self::for_term(&triple.object) {
                Self::Term => Self::Term,
                _ => Self::Nothing,
            },
        }
    }

    fn for_literal(literal: &Literal) -> Self {
        if literal.language().is_some() {
            return Self::Text;
        }
        // The store keeps the text of such a literal, as others do.
        if canonical_literal(literal).is_none() {
            return Self::Term;
        }
        match literal.datatype() {
            xsd::FLOAT | xsd::DOUBLE if literal.value() == "NaN" => Self::Nothing, // equals nothing
            xsd::BOOLEAN | xsd::DECIMAL | xsd::FLOAT | xsd::DOUBLE | xsd::DATE_TIME => Self::Value,
            datatype if INTEGERS.contains(&datatype) => Self::Value,
            xsd::DATE if date_text(literal).is_some() => Self::Date,
            _ => Self::Nothing,
        }
    }
}

/// Returns the text of a date without its timezone, if its year has four digits.
fn date_text(literal: &Literal) -> Option<&str> {
    literal
        .value()
        .get(..DATE_BYTES)
        .filter(|text| text.as_bytes().get(4) == Some(&b'-') && !text.starts_with('-'))
}

/// Request for some bindings.
pub(super) struct JoinRequest {
    /// Restriction of the pattern.
    pub(super) bindings: Bindings,
    /// Keys of the rows that are passed on; `None` if the restriction selects no others.
    accepted: Option<FxHashSet<Vec<Term>>>,
}

impl JoinRequest {
    /// Returns the requests for rows of bindings: one for each combination of restrictions. Variables that the service needs are sent
    /// as terms.
    pub(super) fn for_rows(
        keys: &[Variable],
        needed: &[Variable],
        rows: &[Vec<GroundTerm>],
    ) -> Vec<Self> {
        let mut groups: BTreeMap<Vec<Restriction>, Vec<&Vec<GroundTerm>>> = BTreeMap::new();
        for row in rows {
            groups
                .entry(restrictions_of(keys, needed, row))
                .or_default()
                .push(row);
        }
        groups
            .into_iter()
            .map(|(restrictions, rows)| Self::for_group(keys, &restrictions, &rows))
            .collect()
    }

    fn for_group(
        keys: &[Variable],
        restrictions: &[Restriction],
        rows: &[&Vec<GroundTerm>],
    ) -> Self {
        let places: Vec<usize> = (0..keys.len())
            .filter(|place| restrictions[*place] == Restriction::Term)
            .collect();
        // Rows may differ in the values of conditions only.
        let mut seen = FxHashSet::default();
        let sent = rows.iter().map(|row| {
            places
                .iter()
                .map(|place| row[*place].clone())
                .collect::<Vec<_>>()
        });
        let sent = sent.filter(|row| seen.insert(row.clone())).collect();
        let mut conditions = Vec::new();
        for (place, key) in keys.iter().enumerate() {
            let column = rows.iter().filter_map(|row| match &row[place] {
                GroundTerm::Literal(literal) => Some(literal),
                _ => None,
            });
            conditions.extend(restricting_condition(key, restrictions[place], column));
        }
        let variables = places.iter().map(|place| keys[*place].clone()).collect();
        let accepted = (places.len() < keys.len()).then(|| {
            rows.iter()
                .map(|row| {
                    row.iter()
                        .map(|term| canonical_term(&term.clone().into()))
                        .collect()
                })
                .collect()
        });
        Self {
            bindings: Bindings {
                variables,
                rows: sent,
                conditions,
            },
            accepted,
        }
    }

    /// Returns true if a row with these values of the keys belongs to this request.
    pub(super) fn accepts(&self, key: Option<Vec<Term>>) -> bool {
        match (&self.accepted, key) {
            (Some(accepted), Some(key)) => accepted.contains(&key),
            _ => true,
        }
    }
}

/// Returns the restriction of each key of a row.
fn restrictions_of(keys: &[Variable], needed: &[Variable], row: &[GroundTerm]) -> Vec<Restriction> {
    let mut restrictions = Vec::with_capacity(keys.len());
    for (key, term) in keys.iter().zip(row) {
        restrictions.push(if needed.contains(key) {
            Restriction::Term
        } else {
            Restriction::for_term(term)
        });
    }
    restrictions
}

/// Returns true if no part of a row of bindings restricts a request.
pub(super) fn is_unrestricted(keys: &[Variable], needed: &[Variable], row: &[GroundTerm]) -> bool {
    restrictions_of(keys, needed, row)
        .iter()
        .all(|restriction| *restriction == Restriction::Nothing)
}

/// Returns the condition that restricts a variable to some literals.
fn restricting_condition<'l>(
    key: &Variable,
    restriction: Restriction,
    literals: impl Iterator<Item = &'l Literal>,
) -> Option<Expression> {
    let text = Expression::FunctionCall(Function::Str, vec![key.clone().into()]);
    let (operand, values): (Expression, BTreeSet<String>) = match restriction {
        Restriction::Term | Restriction::Nothing => return None,
        Restriction::Value => {
            let mut seen = FxHashSet::default();
            let values = literals
                .filter(|literal| seen.insert(*literal))
                .cloned()
                .map(Expression::from)
                .collect();
            // It is serialized as one `=` for each value.
            return Some(Expression::In(Box::new(key.clone().into()), values));
        }
        Restriction::Text => (
            text,
            literals.map(|literal| literal.value().to_owned()).collect(),
        ),
        Restriction::Date => {
            let ends = [1, DATE_BYTES]
                .map(|number| Literal::new_typed_literal(number.to_string(), xsd::INTEGER).into());
            let arguments = [text].into_iter().chain(ends).collect();
            let texts = literals.filter_map(date_text).map(str::to_owned).collect();
            (Expression::FunctionCall(Function::SubStr, arguments), texts)
        }
    };
    let values = values
        .into_iter()
        .map(|text| Literal::from(text).into())
        .collect();
    Some(Expression::In(Box::new(operand), values))
}

/// Returns a term in the form in which the store keeps it.
pub(super) fn canonical_term(term: &Term) -> Term {
    match term {
        Term::Literal(literal) => canonical_literal(literal)
            .unwrap_or_else(|| literal.clone())
            .into(),
        Term::Triple(triple) => {
            let Triple {
                subject,
                predicate,
                object,
            } = triple.as_ref();
            Triple::new(subject.clone(), predicate.clone(), canonical_term(object)).into()
        }
        Term::NamedNode(_) | Term::BlankNode(_) => term.clone(),
    }
}

/// Returns the canonical form of a literal whose value the store keeps, or `None` for a literal whose text it keeps.
fn canonical_literal(literal: &Literal) -> Option<Literal> {
    fn write<T: FromStr + Display>(text: &str, datatype: NamedNodeRef<'static>) -> Option<Literal> {
        let value: T = text.parse().ok()?;
        Some(Literal::new_typed_literal(value.to_string(), datatype))
    }
    let text = literal.value();
    if let Some(language) = literal.language() {
        let language = language.to_ascii_lowercase();
        return Some(match literal.direction() {
            Some(direction) => Literal::new_directional_language_tagged_literal_unchecked(
                text, language, direction,
            ),
            None => Literal::new_language_tagged_literal_unchecked(text, language),
        });
    }
    match literal.datatype() {
        xsd::BOOLEAN => write::<Boolean>(text, xsd::BOOLEAN),
        xsd::DECIMAL => write::<Decimal>(text, xsd::DECIMAL),
        xsd::FLOAT => write::<Float>(text, xsd::FLOAT),
        xsd::DOUBLE => write::<Double>(text, xsd::DOUBLE),
        xsd::DATE_TIME | xsd::DATE_TIME_STAMP => write::<DateTime>(text, xsd::DATE_TIME),
        xsd::DATE => write::<Date>(text, xsd::DATE),
        xsd::TIME => write::<Time>(text, xsd::TIME),
        xsd::G_YEAR_MONTH => write::<GYearMonth>(text, xsd::G_YEAR_MONTH),
        xsd::G_YEAR => write::<GYear>(text, xsd::G_YEAR),
        xsd::G_MONTH_DAY => write::<GMonthDay>(text, xsd::G_MONTH_DAY),
        xsd::G_DAY => write::<GDay>(text, xsd::G_DAY),
        xsd::G_MONTH => write::<GMonth>(text, xsd::G_MONTH),
        xsd::DURATION => write::<Duration>(text, xsd::DURATION),
        xsd::YEAR_MONTH_DURATION => write::<YearMonthDuration>(text, xsd::YEAR_MONTH_DURATION),
        xsd::DAY_TIME_DURATION => write::<DayTimeDuration>(text, xsd::DAY_TIME_DURATION),
        datatype if INTEGERS.contains(&datatype) => write::<Integer>(text, xsd::INTEGER),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxigraph::model::{GraphName, NamedNode, Quad};
    use oxigraph::store::Store;

    /// The same forms as those that the store returns.
    #[test]
    fn canonical_forms_are_those_of_the_store() {
        let store = Store::new().expect("a store");
        let node = NamedNode::new_unchecked("x:s");
        let names = [
            "integer",
            "int",
            "byte",
            "long",
            "nonNegativeInteger",
            "decimal",
            "double",
            "float",
            "boolean",
            "dateTime",
            "dateTimeStamp",
            "date",
            "time",
            "gYear",
            "gYearMonth",
            "gMonth",
            "gMonthDay",
            "gDay",
            "duration",
            "yearMonthDuration",
            "dayTimeDuration",
            "string",
            "anyURI",
            "token",
        ];
        let texts = [
            "1",
            "01",
            "+1",
            "-0",
            "1.0",
            "1.50",
            ".5",
            "1e0",
            "1E+2",
            "-0.0e0",
            "INF",
            "NaN",
            "true",
            "0",
            "TRUE",
            "x",
            "",
            "99999999999999999999",
            "0.0000000000000000000000001",
            "2020-02-03",
            "2020-02-03Z",
            "2020-02-03+00:00",
            "2020-02-03-05:00",
            "12020-02-03",
            "-0020-02-03",
            "2020-02-03T04:05:06",
            "2020-02-03T04:05:06.700Z",
            "2020-02-03T24:00:00+00:00",
            "04:05:06.0Z",
            "2020",
            "2020Z",
            "2020-02",
            "--02",
            "--02-03",
            "---03",
            "P12M",
            "P1Y",
            "PT60M",
            "P0D",
            "-P1D",
            "P1Y0M1DT24H",
        ];
        let mut literals: Vec<Literal> = Vec::new();
        for name in names {
            let datatype =
                NamedNode::new_unchecked(format!("http://www.w3.org/2001/XMLSchema#{name}"));
            literals.extend(
                texts
                    .iter()
                    .map(|text| Literal::new_typed_literal(*text, datatype.clone())),
            );
        }
        for literal in literals {
            store.clear().expect("cleared");
            let quad = Quad::new(
                node.clone(),
                node.clone(),
                literal.clone(),
                GraphName::DefaultGraph,
            );
            store.insert(&quad).expect("inserted");
            let stored = store.iter().next().expect("a quad").expect("read").object;
            assert_eq!(canonical_term(&literal.clone().into()), stored, "{literal}");
        }
        let tagged = Literal::new_language_tagged_literal_unchecked("x", "en-GB");
        assert_eq!(
            canonical_term(&tagged.into()),
            Literal::new_language_tagged_literal_unchecked("x", "en-gb").into()
        );
    }

    #[test]
    fn each_restriction_has_a_request() {
        let keys = ["s", "n"].map(Variable::new_unchecked);
        let node = |name: &str| GroundTerm::NamedNode(NamedNode::new_unchecked(name));
        let typed =
            |text: &str, datatype| GroundTerm::Literal(Literal::new_typed_literal(text, datatype));
        let rows = [
            vec![node("x:a"), typed("1", xsd::INTEGER)],
            vec![node("x:a"), typed("2", xsd::INTEGER)],
            vec![node("x:b"), typed("text", xsd::STRING)],
            vec![node("x:c"), typed("2020-02-03Z", xsd::DATE)],
            vec![node("x:d"), typed("P1D", xsd::DURATION)],
            vec![node("x:d"), typed("P2D", xsd::DURATION)],
        ];
        let requests = JoinRequest::for_rows(&keys, &[], &rows);
        let shown: Vec<(usize, Vec<String>)> = requests
            .iter()
            .map(|request| {
                let conditions = request.bindings.conditions.iter();
                let conditions = conditions
                    .map(|condition| {
                        condition
                            .to_string()
                            .replace("<http://www.w3.org/2001/XMLSchema#integer>", "xsd:integer")
                    })
                    .collect();
                (request.bindings.rows.len(), conditions)
            })
            .collect();
        let expected = [
            (1, Vec::new()),
            (
                1,
                vec![r#"(?n IN ("1"^^xsd:integer, "2"^^xsd:integer))"#.to_owned()],
            ),
            (
                1,
                vec![
                    r#"(SUBSTR(STR(?n), "1"^^xsd:integer, "10"^^xsd:integer) IN ("2020-02-03"))"#
                        .to_owned(),
                ],
            ),
            (1, Vec::new()),
        ];
        assert_eq!(shown, expected);
        let key = |node: &str, text: &str| {
            let number = Literal::new_typed_literal(text, xsd::INTEGER);
            Some(vec![
                NamedNode::new_unchecked(node).into(),
                canonical_term(&number.into()),
            ])
        };
        assert!(requests[1].accepts(key("x:a", "01")) && !requests[1].accepts(key("x:a", "3")));
        assert!(!requests[1].accepts(key("x:b", "1")));
        let needed = JoinRequest::for_rows(&keys, &keys, &rows);
        assert!(matches!(&needed[..], [request] if request.bindings.rows.len() == 6));
        assert!(
            is_unrestricted(&keys[1..], &[], &rows[4][1..])
                && !is_unrestricted(&keys, &[], &rows[4])
        );
    }
}
