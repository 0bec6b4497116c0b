#!/usr/bin/env python3
"""Language check: counts violations of the project's language rules in Rust, Python, HTML and Markdown files.

usage: language_check.py [--list] [--rule RULE] [PATH ...]

Rules:
  openings    doc comments and docstrings that open with What, Whether, How, Who, Where or Which
  speech      lines of comments, docstrings, visible strings and prose in which a program says, asks, knows or wants something
  of          constructors named `of`; use new, from_*, with_*, parse, open or load
  old-names   public names and labels that were replaced
  limits      constants of Rust that are documented as a maximum or minimum, or cut or compare a length, without MAX or MIN in the name
  closures    closures of Rust that are bound to a name; use a function, a method or a loop
  participles functions of Rust that are named by a participle, such as `downloaded`; use a verb
  one-word    functions of Rust outside of `impl` blocks whose name is one word; most call sites need a verb and a noun
  variables   variables of Rust named said, told, wanted, sought, held or given; use declared, requested, expected, current, argument

Prints the counts of each part of the repository. With --list, prints each violation as FILE:LINE: RULE: TEXT. PATH restricts the
check to files and folders, RULE to one rule. Exits with 1 if a count exceeds its limit and with 2 on a usage error.
Test data and the change log are not checked.
"""

import argparse
import ast
import collections
import html.parser
import io
import pathlib
import re
import signal
import subprocess
import sys
import tokenize

# Largest accepted values for the whole repository: openings in percent of all doc comments, the others as counts. They only fall.
LIMITS = {
    "openings": 2.0,
    "speech": 12,
    "of": 0,
    "old-names": 0,
    "limits": 9,
    "closures": 20,
    "participles": 46,
    "one-word": 630,
    "variables": 0,
}

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUFFIXES = {".rs", ".py", ".html", ".md"}
EXCLUDED = re.compile(r"^(CHANGELOG\.md|testdata/|web/(node_modules|dist)/|target/|tools/language_check\.py|tests/tools/test_language_check\.py)"
                      r"|(^|/)(testdata|snapshots)/")

OPENING = re.compile(r"(?:What|Whether|How|Who|Where|Which)\b")
SPEECH = re.compile(r"\b(?:says|said|tells|told|asks|asked|knows|wants|believes|gives\s+up|given\s+up|answers\s+to|waits\s+for\s+nobody)\b",
                    re.IGNORECASE)
# Subjects that may speak: people.
PEOPLE = re.compile(r"\b(?:users?|people|person|somebody|someone|anybody|nobody|everybody|who|you|we|readers?|visitors?|operators?|"
                    r"maintainers?|authors?|annotators?|assessors?|researchers?|newcomers?)\s+(?:\w+\s+)?$", re.IGNORECASE)
BY_PEOPLE = re.compile(r"\s+(?:for\s+)?by\s+(?:the\s+|a\s+)?(?:users?|people|maintainers?|readers?|visitors?|operators?)\b", re.IGNORECASE)
# "answers" as a noun: "the answers to both queries".
NOUN_BEFORE = re.compile(r"(?:^|[.:;(,]\s*|\b(?:the|their|its|all|any|of|these|those|no|more|query|other|for|with|and|or|in|as|by|several|two|"
                         r"few|many|both|different|same|own|right|wrong|\d+)\s+)$", re.IGNORECASE)

NUMBER = r"(?:u8|u16|u32|u64|usize|i8|i16|i32|i64|isize|f32|f64|(?:std::time::)?Duration|NonZero\w+)"
CONSTANT = re.compile(r"^\s*(?:pub(?:\([^)]*\))?\s+)?const\s+([A-Z][A-Z0-9_]*)\s*:\s*" + NUMBER + r"\s*=")
BOUND = re.compile(r"(?:Default )?(?:[Mm]axim|[Mm]inim)um\b|(?:Largest|Smallest|Highest|Lowest|Longest|Shortest|Deepest|Fewest|Upper bound|Lower bound)\b")
LIMIT = re.compile(r"(?:^|_)(?:MAX|MIN)(?:_|$)")
# Uses of a limit: the rest is cut, or a length is compared.
CUT = r"\.(?:take|truncate)\(\s*(?:Self::)?{0}\b|(?:\.len\(\)|\.count\(\))\s*(?:>=?|<=?)\s*(?:Self::)?{0}\b"

CLOSURE = re.compile(r"\blet\s+(?:mut\s+)?\w+(?:\s*:[^=;{}]+)?\s*=\s*&?\s*(?:move\s+)?\|")
FUNCTION_NAME = re.compile(r"^(?P<indent> *)(?:pub(?:\([^)]*\))?\s+)?(?:(?:async|const|unsafe)\s+)*fn\s+(?P<name>\w+)", re.MULTILINE)
# A name that ends in a participle, and no predicate, builder or conjunction such as `if_needed`. Nouns and adjectives that end alike are none.
PARTICIPLE = re.compile(r"(?!(?:is|has|are|was|can|needs|with|on|if|as)_)(?:\w*_)?(?!(?:feed|seed|need|speed|red|bed|embed|proceed|exceed|succeed|shed)$)"
                        r"(?:[a-z]*ed|told|sent|written|chosen|found|kept|shown|known|taken|given)$")
VARIABLE = re.compile(r"(?:\b(?:let\s+(?:mut\s+)?|for\s+)|(?<!\|)\|\s*&?\s*)(?:said|told|wanted|sought|held|given)\b")

TYPE = r"\b(?:struct|enum|trait|type)\s+"
FUNCTION = r"\bfn\s+"
MODULE = r"\bmod\s+"
OF = re.compile(FUNCTION + r"of\s*[<(]")
# Replaced names: scope, pattern, pattern of the paths (or None) and replacement. Scope: "code" is Rust without comments and literals,
# "key" is a whole string literal, "text" is a line that users read. Lines about an alias or an old spelling are accepted.
OLD_NAMES = [
    *[("code", MODULE + old + r"\s*[;{]", files, new) for old, files, new in [
        ("told", r"catalog", "extra_properties"), ("closure", r"catalog", "bounded_description"), ("sheet", r"catalog", "dcat_builder"),
        ("lines", r"catalog", "json_lines"), ("described", r"server", "portal_metadata"), ("kept", r"server", "cache"),
        ("known", r"quality", "controlled_vocabularies"), ("reached", r"quality", "url_checks"), ("whole", r"store", "named_graphs"),
        ("recorded", r"index", "commit_metadata"), ("places", r"sparql", "admission"), ("growth", r"sparql", "string_limits"),
        ("guard", r"sparql", "cancellation"), ("recipe", r"encoder|rerank", "model_config"), ("pieces", r"encoder|rerank", "tokenization"),
        ("passes", r"encoder|rerank", "forward_cache"), ("survey", None, "endpoint_sampler")]],
    *[("code", TYPE + old + r"\b", files, new) for old, files, new in [
        (r"Kept(?:[A-Z]\w*)?", None, "Cached*"), (r"Known[A-Z]\w*", None, "a name of controlled_vocabularies"),
        ("Over", r"harvest|sampler", "StopReason"), ("Among", r"engine", "CandidateScope"), ("Shown", r"engine", "DuplicateMode"),
        ("Passing", r"index", "FilteredDocs"), ("Wanted", r"index", "StatisticsLevel"), ("Impact", r"index", "TermScorer"),
        ("Feed", r"federation", "ServiceRows"), ("Stands", None, "Position"), ("Patience", None, "Timeout"),
        ("Scene", None, "EvaluationContext"), ("Laboratory", None, "ExperimentContext"), ("Beside", None, "OtherResourceCounts"),
        ("Shelf", None, "DatasetSink"), ("Shelved", None, "StoreOutcome"), ("Folding", None, "DuplicateGroups"),
        ("Winner", None, "BestMatch"), ("Asking", None, "RequestContext"), ("Asker", None, "Requester")]],
    *[("code", FUNCTION + old + r"\s*[<(]", None, new) for old, new in [
        ("turn", "acquire_permit"), ("told_apart", "disambiguate_id"), ("with_late_ones", "with_overlap"),
        ("wordless", "without_term_matches"), ("telling", "idf_weights"), ("settle(?:_all)?", "sync_files"),
        ("write_unsettled", "write_without_sync"), (r"taken_for_another\w*", "equal_values"), ("keep_none", "write_none_if_missing")]],
    *[("code", r"\b" + old + r"\b", r"^crates/(?:sparql|store)/", new) for old, new in [
        ("patience", "queue_timeout, policy"), ("feeds?", "service_rows"), ("asker", "requester"), ("(?:let|let mut) (?:told|asked)",
         "bound, requested"), ("AT_ONCE", "a maximum with its unit"), ("stands", "position"), ("is_settled", "an enum")]],
    *[("code", r"\b" + old + r"\s*:(?!:)", r"^src/", new) for old, new in [
        ("inner_network", "allow_private_network"), ("whole_after", "full_harvest_every"), ("pub floor", "min_similarity")]],
    ("code", r"\bpub(?:\([^)]*\))?\s+(?:told_by|says)\s*:", None, "source, declared"),
    ("key", r"^(?:told[ _]by|toldBy|says)$", None, "source, declared"),
    *[("text", re.escape(old) + r"(?![\w-])", None, new) for old, new in [
        ("--inner-network", "--allow-private-network"), ("--whole-after", "--full-harvest-every"), ("--floor", "--min-similarity"),
        ("--patience", "--request-timeout"), ("--anew", "--discard-cache")]],
    *[("text", old, None, new) for old, new in [
        (r"[Rr]anked again by the (?:texts|words)", "re-ranked by DPR / ColBERT"), (r"What is in it", "Classes"),
        (r"[Cc]losest, not found", "no close match; nearest results"), (r"Where can I begin", "Browse, Explore")]],
]
OLD_NAMES = [(where, re.compile(pattern), files and re.compile(files), new) for where, pattern, files, new in OLD_NAMES]

ACCEPTED = re.compile(r"\b(?:alias|deprecated|former|formerly|old spelling|renamed)\b", re.IGNORECASE)

Text = collections.namedtuple("Text", "kind line text")  # kind: doc, comment, string, prose
Violation = collections.namedtuple("Violation", "path line rule text")


# -- Texts of a file -------------------------------------------------------------------------------------------------------------

RUST = re.compile(r"""
    (?P<line>//[^\n]*)
  | (?P<block>/\*)
  | (?P<raw>\bb?c?r(?P<hashes>\#*)"(?P<raw_body>.*?)"(?P=hashes))
  | (?P<string>[bc]?"(?P<body>(?:[^"\\]|\\.)*)")
  | (?P<char>b?'(?:[^'\\\n]|\\(?:[^u]|u\{[0-9a-fA-F_]+\}|x[0-9a-fA-F]{2}))')
""", re.VERBOSE | re.DOTALL)


def block_end(source, start):
    """Returns the end of a nested Rust block comment."""
    depth, place = 0, start
    for mark in re.compile(r"/\*|\*/").finditer(source, start):
        depth += 1 if mark[0] == "/*" else -1
        place = mark.end()
        if depth == 0:
            return place
    return len(source)


def rust_texts(source):
    """Returns the texts of a Rust file and its code, with comments and literals blanked."""
    texts, code, place, line = [], [], 0, 1
    while found := RUST.search(source, place):
        code.append(source[place:found.start()])
        end = block_end(source, found.start()) if found["block"] else found.end()
        token = source[found.start():end]
        line += source.count("\n", place, found.start())
        if found["line"]:
            kind = "doc" if re.match(r"//(?:!|/(?!/))", token) else "comment"
            texts.append(Text(kind, line, token[3 if kind == "doc" else 2:].strip()))
        elif found["block"]:
            kind = "doc" if re.match(r"/\*[*!](?![*/])", token) else "comment"
            texts += lines_of(kind, line, token.strip("/*! \n"))
        elif found["raw"] or found["string"]:
            body = found["raw_body"] if found["raw"] else re.sub(r"\\\n\s*", lambda gap: "\n" if "\n" in gap[0] else "", found["body"])
            texts += lines_of("string", line, body)
        code.append(re.sub(r"[^\n]", " ", token))
        line += token.count("\n")
        place = end
    code.append(source[place:])
    return texts, "".join(code)


def lines_of(kind, first, text):
    """Splits a text into its lines."""
    return [Text(kind, first + number, line.strip()) for number, line in enumerate(text.split("\n"))]


def rust_openings(source):
    """Returns the first line of each block of Rust doc comments."""
    openings, before = [], None
    for number, line in enumerate(source.split("\n"), 1):
        found = re.match(r"\s*//(!|/(?!/))\s?(.*)", line)
        if found and found[1] != before:
            openings.append(Text("doc", number, found[2].strip()))
        before = found[1] if found else None
    return openings


def without_fences(texts):
    """Drops the fenced code blocks of Rust doc comments."""
    kept, fenced, last = [], False, 0
    for text in texts:
        if text.kind == "doc":
            fenced = fenced and text.line == last + 1
            last = text.line
            if text.text.startswith("```"):
                fenced = not fenced
                continue
            if fenced:
                continue
        kept.append(text)
    return kept


def first_test_line(source):
    """Returns the line of the test module at the end of a Rust file, or infinity."""
    found = re.search(r"^#\[cfg\(test\)\]\s*\n(?:#\[[^\n]*\]\s*\n)*\s*mod \w+ \{", source, re.MULTILINE)
    return source.count("\n", 0, found.start()) + 1 if found else float("inf")


def docstrings(tree):
    """Yields the docstring nodes of a Python module."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
                yield first.value


def python_texts(source):
    """Returns the texts of a Python file, its code and the openings of its docstrings."""
    texts, openings, taken = [], [], set()
    for node in docstrings(ast.parse(source)):
        texts += lines_of("doc", node.lineno, node.value)
        openings.append(Text("doc", node.lineno, node.value.strip().split("\n")[0]))
        taken.add((node.lineno, node.col_offset))
    code = source.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith("#!"):
            texts.append(Text("comment", token.start[0], token.string.lstrip("# ")))
        elif token.type == tokenize.STRING and token.start not in taken:
            is_format = "f" in token.string.split("'")[0].split('"')[0].lower()
            texts += lines_of("string", token.start[0], re.sub(r"\{[^{}]*\}", "{}", token.string) if is_format else token.string)
        elif token.type == getattr(tokenize, "FSTRING_MIDDLE", -1):
            texts += lines_of("string", token.start[0], token.string)
        else:
            continue
        for number in range(token.start[0] - 1, token.end[0]):
            code[number] = ""
    return texts, "\n".join(code), openings


class HtmlTexts(html.parser.HTMLParser):
    """Visible texts and comments of an HTML template."""

    VISIBLE = {"title", "alt", "placeholder", "aria-label", "aria-description", "value", "content", "label"}

    def __init__(self):
        super().__init__()
        self.texts, self.hidden = [], 0

    def handle_starttag(self, tag, attributes):
        self.hidden += tag in ("script", "style")
        for name, value in attributes:
            if name in self.VISIBLE and value:
                self.texts += lines_of("prose", self.getpos()[0], value)

    def handle_endtag(self, tag):
        self.hidden = max(0, self.hidden - (tag in ("script", "style")))

    def handle_data(self, data):
        if not self.hidden:
            self.texts += lines_of("prose", self.getpos()[0], data)

    def handle_comment(self, data):
        self.texts += lines_of("comment", self.getpos()[0], data)


def html_texts(source):
    """Returns the texts of an HTML template. Template expressions are blanked, template comments are kept."""
    texts = []
    for found in re.finditer(r"\{#(.*?)#\}", source, re.DOTALL):
        texts += lines_of("comment", source.count("\n", 0, found.start()) + 1, found[1])
    blank = re.sub(r"\{[%{#].*?[%}#]\}", lambda found: re.sub(r"[^\n]", " ", found[0]), source, flags=re.DOTALL)
    parser = HtmlTexts()
    parser.feed(blank)
    return texts + parser.texts


def markdown_texts(source):
    """Returns the lines of a Markdown file outside of code blocks."""
    texts, fence = [], None
    for number, line in enumerate(source.split("\n"), 1):
        mark = re.match(r"\s*(```+|~~~+)", line)
        if mark and (fence is None or mark[1].startswith(fence)):
            fence = None if fence else mark[1]
        elif fence is None:
            texts.append(Text("prose", number, line.strip()))
    return texts


# -- Rules -----------------------------------------------------------------------------------------------------------------------

def is_test(path):
    """If true, the strings of the file are not shown to users."""
    return bool(re.search(r"(^|/)(tests|benches)(/|\.rs$)", path))


def speech(text):
    """Returns the phrases of a line in which a program speaks."""
    text = re.sub(r"`[^`]*`", lambda code: "x" * len(code[0]), text)
    found = []
    for phrase in SPEECH.finditer(text):
        before, word = text[:phrase.start()], phrase[0]
        if word.isupper() or re.search(r"[\w][:/#_.-]$|[:/#_]$|::$", before) or re.match(r"[_:/(]\w", text[phrase.end():]):
            continue  # SPARQL's ASK, a name with a prefix, an identifier
        if PEOPLE.search(before) or BY_PEOPLE.match(text[phrase.end():]):
            continue
        if word.lower().startswith("answers") and NOUN_BEFORE.search(before):
            continue
        found.append(word)
    return found


def check(path, source):
    """Returns the number of doc comments of a file and its violations."""
    suffix, code, openings = pathlib.PurePosixPath(path).suffix, "", []
    if suffix == ".rs":
        texts, code = rust_texts(source)
        texts, openings, tests = without_fences(texts), rust_openings(source), first_test_line(source)
    elif suffix == ".py":
        texts, code, openings = python_texts(source)
        tests = float("inf")
    else:
        texts, tests = (html_texts if suffix == ".html" else markdown_texts)(source), float("inf")
    if is_test(path):
        tests = 0
    visible = [text for text in texts if text.kind != "string" or text.line < tests and " " in text.text]

    found = [Violation(path, text.line, "openings", text.text) for text in openings if OPENING.match(text.text)]
    spoken = {}
    for text in visible:
        if text.line not in spoken and speech(text.text):
            spoken[text.line] = Violation(path, text.line, "speech", text.text)
    found += spoken.values()
    if suffix == ".rs":
        found += code_violations(path, code)
        found += limit_names(path, source, code, tests)
        found += identifiers(path, source, code, tests)
    found += old_labels(path, "text", visible)
    if not is_test(path):
        found += old_labels(path, "key", [text for text in texts if text.kind == "string" and text.line < tests])
    return len(openings), found


def code_violations(path, code):
    """Returns the constructors named `of` and the replaced names in Rust code."""
    found = []
    for number, line in enumerate(code.split("\n"), 1):
        if OF.search(line):
            found.append(Violation(path, number, "of", line.strip()))
        if is_test(path):
            continue
        for scope, pattern, files, new in OLD_NAMES:
            if scope == "code" and pattern.search(line) and (files is None or files.search(path)):
                found.append(Violation(path, number, "old-names", f"{line.strip()} -> {new}"))
    return found


def limit_names(path, source, code, tests):
    """Returns the constants outside of tests that are limits without MAX or MIN in their names."""
    lines, found = source.split("\n"), []
    for number, line in enumerate(lines):
        constant = CONSTANT.match(line)
        if not constant or number + 1 >= tests or LIMIT.search(constant[1]):
            continue
        first, doc = number, ""
        while first > 0 and lines[first - 1].lstrip().startswith(("///", "#[")):
            first -= 1
            doc = lines[first].strip().removeprefix("///").strip() if lines[first].lstrip().startswith("///") else doc
        if BOUND.match(doc) or re.search(CUT.format(constant[1]), code):
            found.append(Violation(path, number + 1, "limits", line.strip()))
    return found


def identifiers(path, source, code, tests):
    """Returns the named closures and the unclear names of functions and variables outside of tests."""
    lines, places = source.split("\n"), []
    for closure in CLOSURE.finditer(code):
        places.append((closure.start(), "closures"))
    for variable in VARIABLE.finditer(code):
        places.append((variable.start(), "variables"))
    for function in FUNCTION_NAME.finditer(code):
        name, start = function["name"], function.end() - len(function["name"])
        if PARTICIPLE.match(name):
            places.append((start, "participles"))
        if not function["indent"] and "_" not in name and name != "main":
            places.append((start, "one-word"))
    found = []
    for place, rule in sorted(places):
        number = code.count("\n", 0, place) + 1
        if number < tests:
            found.append(Violation(path, number, rule, lines[number - 1].strip()))
    return found


def old_labels(path, scope, texts):
    """Returns the replaced labels, options or keys in texts."""
    found = []
    for text in texts:
        for where, pattern, _, new in OLD_NAMES:
            if where == scope and pattern.search(text.text) and not ACCEPTED.search(text.text):
                found.append(Violation(path, text.line, "old-names", f"{text.text} -> {new}"))
    return found


# -- Report ----------------------------------------------------------------------------------------------------------------------

def part(path):
    """Returns the part of the repository that a file belongs to: a crate or a folder."""
    pieces = path.split("/")
    if len(pieces) == 1:
        return "(root)"
    return "/".join(pieces[:2]) if pieces[0] in ("crates", "tests") and len(pieces) > 2 else pieces[0]


def tracked(paths):
    """Returns the paths of the files to check, relative to the root."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *paths]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"language: git ls-files failed: {done.stderr.strip()}")
    names = sorted(set(filter(None, done.stdout.split("\0"))))
    return [name for name in names if pathlib.PurePosixPath(name).suffix in SUFFIXES and not EXCLUDED.search(name) and (ROOT / name).is_file()]


def excess(docs, counts):
    """Returns a message for each rule above its limit."""
    messages = []
    for rule, limit in LIMITS.items():
        value = 100 * counts[rule] / max(docs, 1) if rule == "openings" else counts[rule]
        if value > limit:
            unit = " %" if rule == "openings" else ""
            messages.append(f"{rule}: {value:.1f}{unit}, limit {limit}{unit}" if unit else f"{rule}: {value}, limit {limit}")
    return messages


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `language_check.py --list | head` ends quietly
    parser = argparse.ArgumentParser(description="Count violations of the language rules.", epilog="Rules: " + ", ".join(LIMITS))
    parser.add_argument("--list", action="store_true", help="print each violation as FILE:LINE: RULE: TEXT")
    parser.add_argument("--rule", choices=LIMITS, help="check one rule only (default: all)")
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and folders to check, relative to the root (default: all)")
    options = parser.parse_args()

    docs, counts = collections.Counter(), collections.defaultdict(collections.Counter)
    for path in tracked(options.paths):
        try:
            openings, found = check(path, (ROOT / path).read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError, tokenize.TokenError) as error:
            sys.exit(f"language: cannot read {path}: {error}")
        docs[part(path)] += openings
        counts[part(path)]
        for violation in sorted(found):
            if options.rule in (None, violation.rule):
                counts[part(path)][violation.rule] += 1
                if options.list:
                    print(f"{violation.path}:{violation.line}: {violation.rule}: {violation.text[:160]}")

    print(f"{'part':22}{'docs':>8}" + "".join(f"{rule:>12}" for rule in LIMITS))
    total = sum(counts.values(), collections.Counter())
    for name, row, number in [*((name, counts[name], docs[name]) for name in sorted(counts)), ("total", total, docs.total())]:
        print(f"{name:22}{number:8}" + "".join(f"{row[rule]:12}" for rule in LIMITS))
    messages = excess(docs.total(), total)
    for message in messages:
        print(f"language: above the limit: {message}; `tools/language_check.py --list` prints each place", file=sys.stderr)
    sys.exit(1 if messages else 0)


if __name__ == "__main__":
    main()
