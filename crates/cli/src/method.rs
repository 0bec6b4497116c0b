//! Snippet methods as values of an argument.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use lodeseek_snippet::Method;

/// Returns a parser that accepts the names of these methods.
fn value_parser(
    methods: impl IntoIterator<Item = Method>,
) -> impl TypedValueParser<Value = Method> {
    let mut values = Vec::new();
    for method in methods {
        let value = PossibleValue::new(method.name())
            .help(method.description())
            .aliases(method.aliases().iter().copied());
        values.push(value);
    }
    PossibleValuesParser::new(values).try_map(|name| name.parse::<Method>())
}

/// Returns a parser that accepts every method.
pub fn any() -> impl TypedValueParser<Value = Method> {
    value_parser(Method::ALL)
}

/// Returns a parser that accepts the methods that need no query.
pub fn without_query() -> impl TypedValueParser<Value = Method> {
    value_parser(Method::without_query())
}
