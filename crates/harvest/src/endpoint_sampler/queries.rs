//! Queries sent to endpoints, from the files of `queries/`.

use super::query::Template;
use std::sync::LazyLock;

macro_rules! queries {
    ($($(#[$doc:meta])* $name:ident = $file:literal,)*) => {
        $($(#[$doc])*
        pub(super) fn $name() -> Template {
            static PARSED: LazyLock<Template> = LazyLock::new(|| parse_template(include_str!(concat!("../../queries/", $file))));
            PARSED.clone()
        })*

        /// Returns all queries with their names.
        #[cfg(test)]
        pub(super) fn all() -> Vec<(&'static str, Template)> {
            vec![$((stringify!($name), $name())),*]
        }
    };
}

fn parse_template(text: &str) -> Template {
    #[expect(
        clippy::expect_used,
        reason = "a file of the sources, parsed by a test"
    )]
    Template::parse(text).expect("a query of rows in queries/")
}

queries! {
    graphs = "remote-graphs.rq",
    described = "remote-described.rq",
    header = "remote-header.rq",
    description = "remote-description.rq",
    count = "remote-count.rq",
    classes = "remote-classes.rq",
    properties = "remote-properties.rq",
    class_names = "remote-class-names.rq",
    property_names = "remote-property-names.rq",
    triples = "remote-triples.rq",
    entities = "remote-entities.rq",
    uses = "remote-uses.rq",
    names = "remote-names.rq",
}
