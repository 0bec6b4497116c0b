"""Tests of tools/language_check.py: real sentences of the sources, before and after their correction."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import language_check


def violations(rule, source, path="crates/net/src/sample.rs"):
    """Returns the lines of the violations of a rule."""
    _, found = language_check.check(path, source)
    return [one.line for one in found if one.rule == rule]


class Openings(unittest.TestCase):
    def test_first_line_of_each_block_is_counted(self):
        source = "//! Whether a node has a property.\n//! What follows is not an opening.\n\n/// How many there are.\nfn a() {}\n" \
                 "/// Returns the count.\n/// Who reads it does not matter.\nfn b() {}\n    /// Where it is.\n    field: u8,\n"
        self.assertEqual(violations("openings", source), [1, 4, 9])
        self.assertEqual(language_check.check("a.rs", source)[0], 4)

    def test_verbs_and_nouns_pass(self):
        for line in ("Returns the ten best datasets.", "Maximum request body size in bytes.", "If true, duplicates are shown.",
                     "However long it takes.", "`What` is a keyword.", "Whole graphs."):
            self.assertEqual(violations("openings", f"/// {line}\nfn a() {{}}\n"), [], line)

    def test_plain_comments_are_no_doc_comments(self):
        self.assertEqual(violations("openings", "// What a loop does.\n//// Where the ruler is.\nfn a() {}\n"), [])

    def test_docstrings(self):
        source = '"""What training exports."""\n\ndef a():\n    """Returns a folder.\n\n    What is missing is installed.\n    """\n\n' \
                 'class B:\n    """Who asks."""\n'
        self.assertEqual(violations("openings", source, "tools/a.py"), [1, 10])
        self.assertEqual(language_check.check("tools/a.py", source)[0], 3)


class Speech(unittest.TestCase):
    def test_programs_that_speak(self):
        for line in ("What a portal says under a key that DCAT has no property for.", "The model asked for.",
                     "`may_take` is told of steps.", "every node knows its distance to a few hubs", "When it wants to be asked again.",
                     "the answer is given up at once", "The server gives up after 30 s.", "A home that answers to its old name.",
                     "It waits for nobody.", "Asked for too much at once."):
            self.assertTrue(language_check.speech(line), line)

    def test_accepted_sentences(self):
        for line in ("SPARQL ASK, SELECT and CONSTRUCT", "ASKS", "a well-known address", "`foaf:knows` and foaf:knows",
                     "schema.org/knows", "the answers to both queries", "Answers to frequent questions", "A user asked for it.",
                     "requests that people often asked for", "asked for by the user", "`asked` is a field", "basked in tasks",
                     "Returns the ten best datasets.", "told_apart(id)", "knows_language: true"):
            self.assertEqual(language_check.speech(line), [], line)

    def test_a_line_counts_once(self):
        self.assertEqual(violations("speech", "/// The catalogue says what it was told.\nfn a() {}\n"), [1])

    def test_only_texts_count(self):
        source = 'fn asked() { let told = "says"; log("the server asked"); /* it\n says so */ }\n' \
                 'let raw = r#"nobody "wants" it\n the index knows"#; let c = \'"\'; // tells\n'
        self.assertEqual(violations("speech", source), [1, 2, 3, 4])

    def test_strings_of_tests_are_not_visible(self):
        source = 'fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() { assert!(x, "the server told nothing"); }\n    // asked twice\n}\n'
        self.assertEqual(violations("speech", source), [5])
        self.assertEqual(violations("speech", 'fn b() { panic!("it says no") }\n', "tests/integration/http.rs"), [])

    def test_lifetimes_are_no_literals(self):
        self.assertEqual(violations("speech", "fn a<'a>(x: &'a str, y: &'a str) {} // it asks\n"), [1])

    def test_examples_in_doc_comments_are_code(self):
        source = "/// Reads a file.\n///\n/// ```\n/// // told\n/// let asked = 1;\n/// ```\n/// It says so.\nfn a() {}\n"
        self.assertEqual(violations("speech", source), [7])

    def test_python(self):
        source = '"""Peers that are asked."""\nasked = "says"  # it knows\nprint(f"the server told {asked}")\n'
        self.assertEqual(violations("speech", source, "tools/a.py"), [1, 2, 3])
        self.assertEqual(violations("speech", "print(f\"took {told['ms']} ms\")\n", "tools/a.py"), [])

    def test_html(self):
        source = '<p title="It knows all">\n{{ told }}{% if says %}\nIt asks.</p>\n<script>says</script>{# it wants #}<!-- told -->\n'
        self.assertEqual(sorted(violations("speech", source, "crates/server/src/page/a.html")), [1, 3, 4])

    def test_markdown(self):
        source = "The server says so.\n\n```sparql\n# asks\n```\n\n`asked` and ASK\n\n~~~\ntold\n~~~\ntold\n"
        self.assertEqual(violations("speech", source, "docs/a.md"), [1, 12])


class Names(unittest.TestCase):
    def test_of(self):
        source = "impl A {\n    pub fn of(x: u8) -> A {}\n    fn of<T>(x: T) {}\n    fn offset() {}\n    // fn of(\n    fn new() {}\n}\n"
        self.assertEqual(violations("of", source), [2, 3])

    def test_replaced_types_modules_and_functions(self):
        source = "mod told;\npub struct KeptLengths(u8);\npub(super) enum Patience {}\nasync fn turn(&self) {}\nstruct Keptish;\n" \
                 "mod lines;\nfn turned() {}\nuse x::Shelf;\ntype KnownFormats = u8;\n"
        self.assertEqual(violations("old-names", source, "crates/catalog/src/lib.rs"), [1, 2, 3, 4, 6, 9])
        self.assertEqual(violations("old-names", "mod told;\nmod lines;\n", "crates/rdf/src/lib.rs"), [])

    def test_replaced_names_of_the_store_and_of_sparql(self):
        source = "struct Asker;\nfn settle(home: &Path) {}\nlet told = bound();\nfn read(patience: Duration) {}\nself.feed.push(row);\n" \
                 "fn settled_at() {}\nlet told_by = 1; // patience\n"
        self.assertEqual(violations("old-names", source, "crates/sparql/src/lib.rs"), [1, 2, 3, 4, 5])
        self.assertEqual(violations("old-names", source, "crates/server/src/lib.rs"), [1, 2])
        self.assertEqual(violations("old-names", "`--patience`, `--anew`\n", "docs/a.md"), [1, 1])

    def test_replaced_options_labels_and_keys(self):
        self.assertEqual(violations("old-names", "Open it with `--inner-network`.\n\n`--floor`, `--floor-plan`\n", "README.md"), [1, 3])
        self.assertEqual(violations("old-names", "`--inner-network` is a hidden alias.\n", "docs/a.md"), [])
        self.assertEqual(violations("old-names", "<h2>What is in it</h2>\n", "crates/server/src/page/a.html"), [1])
        self.assertEqual(violations("old-names", 'json!({ "told_by": 1, "source": 2 })\n'), [1])
        self.assertEqual(violations("old-names", "struct Options {\n    inner_network: bool,\n}\n", "src/serve.rs"), [2])


class Limits(unittest.TestCase):
    def test_documented_bounds_are_named_so(self):
        source = "/// Maximum length of a name in bytes.\nconst LONGEST: usize = 9;\n/// Maximum length of a name in bytes.\n#[allow(dead_code)]\n" \
                 "const MAX_NAME_BYTES: usize = 9;\n/// Minimum similarity.\npub(super) const SUGGESTED: f64 = 0.8;\n" \
                 "/// Number of rounds, at most nine.\nconst ROUNDS: usize = 9;\n/// Maximum of a text.\nconst TEXT: &str = \"9\";\n" \
                 "/// Default maximum time of a query.\n///\n/// It is measured.\npub const DEADLINE: Duration = Duration::from_secs(1);\n"
        self.assertEqual(violations("limits", source), [2, 7, 15])

    def test_constants_that_cut_or_compare_lengths(self):
        source = "const SHOWN: usize = 9;\nconst BATCH: usize = 9;\nconst FEW: usize = 9;\nconst MAX_MORE: usize = 9;\n" \
                 "fn a() { b.take(SHOWN); c.truncate(MAX_MORE); d.len() >= FEW; e.step_by(BATCH); f(SHOWN_KINDS) }\n// b.take(BATCH)\n"
        self.assertEqual(violations("limits", source), [1, 3])

    def test_tests_may_name_what_they_count(self):
        source = "fn a() {}\n#[cfg(test)]\nmod tests {\n    /// Maximum of a test.\n    const FEW: usize = 9;\n}\n"
        self.assertEqual(violations("limits", source), [])
        self.assertEqual(violations("limits", "/// Maximum of a test.\nconst FEW: usize = 9;\n", "tests/integration/http.rs"), [])


class Identifiers(unittest.TestCase):
    def test_named_closures(self):
        source = "fn read() {\n    let line = |text: &str| text.len();\n    let count: fn(u8) -> u8 = |one| one;\n    let all =\n        move || 1;\n" \
                 "    let either = first | second;\n    let sum = rows.map(|row| row.len());\n    // let line = |text| text;\n}\n"
        self.assertEqual(violations("closures", source), [2, 3, 4])

    def test_functions_named_by_a_participle(self):
        source = "fn downloaded() {}\nfn is_sorted() {}\nfn read_feed() {}\npub(crate) async fn rows_merged() {}\nfn speed() {}\nfn sort_rows() {}\n" \
                 "fn with_merged() {}\nfn tokens_chosen() {}\n"
        self.assertEqual(violations("participles", source), [1, 4, 8])

    def test_functions_of_one_word(self):
        source = "fn line() {}\nfn format_line() {}\nimpl Row {\n    fn cells(&self) {}\n}\nfn main() {}\npub const fn row<T>() {}\n"
        self.assertEqual(violations("one-word", source), [1, 7])

    def test_variables(self):
        source = "fn read_rows() {\n    let told = 1;\n    let mut held = 2;\n    for given in rows {}\n    rows.map(|wanted| 1);\n    let told_by = 3;\n}\n"
        self.assertEqual(violations("variables", source), [2, 3, 4, 5])

    def test_tests_may_use_any_name(self):
        source = "fn read_rows() {}\n#[cfg(test)]\nmod tests {\n    fn line() { let told = |text| text; }\n}\n"
        for rule in ("closures", "one-word", "variables", "participles"):
            self.assertEqual(violations(rule, source), [], rule)
            self.assertEqual(violations(rule, "fn downloaded() { let told = |text| text; }\n", "tests/integration/http.rs"), [], rule)


class Report(unittest.TestCase):
    def test_limits(self):
        counts = dict(language_check.LIMITS, openings=2)
        self.assertEqual(language_check.excess(100, counts), [])
        self.assertEqual(len(language_check.excess(99, counts)), 1)
        self.assertEqual(len(language_check.excess(100, dict(counts, of=1, speech=language_check.LIMITS["speech"] + 1))), 2)

    def test_parts(self):
        self.assertEqual(language_check.part("crates/rdf/src/lib.rs"), "crates/rdf")
        self.assertEqual(language_check.part("src/main.rs"), "src")
        self.assertEqual(language_check.part("tests/integration/main.rs"), "tests/integration")
        self.assertEqual(language_check.part("README.md"), "(root)")

    def test_excluded_files(self):
        for path in ("CHANGELOG.md", "testdata/a.html", "crates/rdf/testdata/b.md"):
            self.assertTrue(language_check.EXCLUDED.search(path), path)
        self.assertFalse(language_check.EXCLUDED.search("docs/testdata.md"))


if __name__ == "__main__":
    unittest.main()
