"""Tests of the documentation tools: tools/docs_check.py, docs_commands.py, http_reference.py and crate_diagram.py."""

import re
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
sys.dont_write_bytecode = True

import crate_diagram  # noqa: E402
import docs_check  # noqa: E402
import docs_commands  # noqa: E402
import http_reference  # noqa: E402


class Check(unittest.TestCase):
    def problems_of(self, text, check=docs_check.check_links, *arguments):
        with tempfile.NamedTemporaryFile("w", suffix=".md", dir=ROOT / "docs" / "src") as file:
            file.write(text)
            file.flush()
            problems = []
            check(Path(file.name), *arguments, problems)
            return [problem.partition(": ")[2] for problem in problems]

    def test_links_and_anchors(self):
        self.assertEqual(self.problems_of("[a](introduction.md) [b](#c-d)\n\n## C, `d`\n"), [])
        self.assertEqual(self.problems_of("[a](no.md)"), ["broken link: no.md"])
        self.assertEqual(self.problems_of("[a](glossary.md#no)"), ["no such anchor: glossary.md#no"])
        self.assertEqual(len(self.problems_of("[a](../../README.md)")), 1, "pages link to pages of the book only")
        self.assertEqual(self.problems_of("`[a](no.md)`\n\n```sh\n[a](no.md)\n```\n"), [], "code holds no links")

    def test_repeated_headings_get_numbers(self):
        self.assertEqual(self.problems_of("# A\n# A\n[x](#a-1)"), [])

    def test_fences(self):
        self.assertEqual(self.problems_of("```sh\nls\n"), ["the code fence is not closed"])
        self.assertEqual(self.problems_of("````sh\n```\n````\n"), [])

    def test_options(self):
        options = {"--home", "--depth"}
        check = docs_check.check_options
        self.assertEqual(self.problems_of("```sh\nlodeseek --home h search \\\n  --depth 3\n```\n", check, options), [])
        self.assertEqual(self.problems_of("```sh\nlodeseek search \\\n  --no 3\n```\n", check, options), ["no such option: --no"])
        self.assertEqual(self.problems_of("| `--no N` | 3 |", check, options), ["no such option: --no"])
        self.assertEqual(self.problems_of("```sh\ncurl --no\n```\n", check, options), [])

    def test_quoted_tables(self):
        table = "<!-- table a/b -->\n| x |\n<!-- /table a/b -->\n"
        self.assertEqual(self.problems_of(table, docs_check.check_tables, {"a/b": "| x |\n"}), [])
        self.assertEqual(len(self.problems_of(table, docs_check.check_tables, {"a/b": "| y |\n"})), 1)
        self.assertEqual(len(self.problems_of(table, docs_check.check_tables, {})), 1)


class Commands(unittest.TestCase):
    def test_blocks_and_steps(self):
        text = "a\n```console needs-lab\n$ one \\\n    two\nx\n\ny\n$ three\n```\n```sh\n$ four\n```\n"
        ((marks, line, body),) = docs_commands.blocks(text)
        self.assertEqual((marks, line), (["needs-lab"], 3))
        self.assertEqual(list(docs_commands.steps(line, body)), [(3, "one \\\n    two", ["x", "", "y"]), (8, "three", [])])

    def test_expected_lines_occur_in_order(self):
        docs_commands.compare("a\nb 12 c\nd\n", 0, ["b ... c", "...", "d"])
        docs_commands.compare("", 1, ["[exit 1]"])
        for code, expected in [(0, ["d", "a"]), (0, ["b"]), (1, []), (0, ["[exit 1]"])]:
            with self.assertRaises(docs_commands.Failure):
                docs_commands.compare("a\nb 12 c\nd\n", code, expected)


class Archive(unittest.TestCase):
    def test_the_archive_has_the_files_that_the_pages_load(self):
        script = (ROOT / "tools" / "package.sh").read_text()
        (names,) = re.findall(r"^tutorial_data=\((.*)\)$", script, re.MULTILINE)
        packed = set(names.split())
        self.assertEqual([name for name in packed if not (ROOT / "testdata" / name).exists()], [])
        loaded = set()
        for part in ["tutorials", "how-to"]:
            for page in (ROOT / "docs" / "src" / part).glob("*.md"):
                for block in re.findall(r"^```.*?^```", page.read_text(), re.MULTILINE | re.DOTALL):
                    loaded.update(re.findall(r"\btestdata/([\w.-]+)", block))
        self.assertIn("catalog.ttl", loaded)
        self.assertEqual(loaded - packed, set())


class Generated(unittest.TestCase):
    def test_http_reference(self):
        document = {
            "tags": [{"name": "T", "description": "About"}],
            "paths": {"/a/{id}": {"get": {"tags": ["T"], "summary": "Does it", "parameters": [{"$ref": "#/components/parameters/k"}],
                                          "responses": {"200": {"description": "x | y"}}}}},
            "components": {"parameters": {"k": {"name": "k", "in": "query", "schema": {"type": "integer", "maximum": 9}}},
                           "schemas": {"S": {"type": "object", "required": ["m"], "properties": {"m": {"type": "string"}}}}},
        }
        page = http_reference.render(document)
        for line in ["## T", "### `GET /a/{id}`", "Does it.", "| `k` | query | integer; at most 9 |  |", "| 200 | x \\| y |  |", "### S",
                     "| `m` (required) | string |  |"]:
            self.assertIn(line, page.splitlines())

    def test_crate_diagram_omits_arrows_that_follow(self):
        def package(name, *targets):
            return {"name": name, "dependencies": [{"name": target, "kind": kind, "optional": False} for target, kind in targets]}

        document = {"packages": [package("lodeseek-c", ("lodeseek-b", None), ("lodeseek-a", None)),
                                 package("lodeseek-b", ("lodeseek-a", None), ("lodeseek-d", "dev")), package("lodeseek-a"),
                                 package("lodeseek-d")]}
        text = crate_diagram.diagram(crate_diagram.dependencies(document))
        self.assertIn("  c --> b\n  b --> a\n", text)
        self.assertNotIn("c --> a", text)
        self.assertIn("4 crates, 3 dependencies between them, 3 layers.", text)


if __name__ == "__main__":
    unittest.main()
