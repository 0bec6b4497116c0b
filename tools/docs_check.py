#!/usr/bin/env python3
"""Check the documentation without building it.

    python3 tools/docs_check.py [--sentences]

Checks, for every page of docs/src and the documents at the top of the repository:

- docs/src/SUMMARY.md lists every page, and every listed page exists;
- relative links, their anchors and `{{#include}}` paths resolve; pages of the book link to pages of the book only;
- code fences are closed;
- paths of the repository in code spans exist;
- options of commands occur in docs/src/reference/cli.md or lab.md;
- tables between `<!-- table NAME -->` comments equal those of acordar/RESULTS.md;
- every figure in README's table of effectiveness occurs in a row of the same name in acordar/RESULTS.md;
- README.md has at most 130 lines.

With --sentences, lists sentences of more than 25 words, and does not fail because of them.
Exit code: 0 if all checks pass, 1 otherwise. Python's standard library only.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BOOK = ROOT / "docs" / "src"
SUMMARY = BOOK / "SUMMARY.md"
RESULTS = ROOT / "acordar" / "RESULTS.md"
TOP_LEVEL = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]
README_LINES = 130
LONGEST_SENTENCE = 25
CLI = [BOOK / "reference" / "cli.md", BOOK / "reference" / "lab.md"]
FOLDERS = "crates|src|tests|tools|docs|training|testdata|queries|ontologies|acordar|models|benches|web"

FENCE = re.compile(r"^\s*(`{3,}|~{3,})(.*)$")
HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*\s*$")
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
INCLUDE = re.compile(r"\{\{#include\s+([^}\s:]+)")
TABLE = re.compile(r"<!-- table (\S+) -->\n(.*?)<!-- /table \1 -->", re.DOTALL)
PATH = re.compile(rf"`((?:{FOLDERS})/[\w./-]+)`")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
COMMAND = re.compile(r"^(?:\$ )?lodeseek\b(.*)$|`(?:lodeseek )?((?:load|harvest|index|search|serve|query|quality|run|tune|snippet|show) [^`]*--[^`]*)`")
FIGURE = re.compile(r"(?<![\w.])\.\d{4}")


def split_fences(text):
    """Return the lines outside of code fences, with their numbers, and the line of a fence that is never closed."""
    prose, fence, opened = [], None, 0
    for number, line in enumerate(text.splitlines(), 1):
        match = FENCE.match(line)
        if fence is None and match:
            fence, opened = match.group(1), number
        elif fence is not None and match and match.group(1).startswith(fence) and not match.group(2).strip():
            fence = None
        elif fence is None:
            prose.append((number, line))
    return prose, opened if fence is not None else None


def slug(heading):
    """Return the anchor that mdBook and common code hosts make of a heading."""
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    heading = re.sub(r"[`*]", "", heading)
    kept = "".join(c.lower() if c.isalnum() or c in "_-" else "-" if c.isspace() else "" for c in heading)
    return kept


def anchors(path):
    """Return the anchors of a page, those of included files among them."""
    found, counts = set(), {}
    prose, _ = split_fences(path.read_text())
    for _, line in prose:
        for included in INCLUDE.findall(line):
            target = (path.parent / included).resolve()
            if target.is_file() and target.suffix == ".md":
                found |= anchors(target)
        for explicit in re.findall(r'<a (?:id|name)="([^"]+)"', line):
            found.add(explicit)
        match = HEADING.match(line)
        if match:
            anchor = slug(match.group(2))
            seen = counts.get(anchor, 0)
            counts[anchor] = seen + 1
            found.add(anchor if seen == 0 else f"{anchor}-{seen}")
    return found


def check_links(path, problems):
    """Check the fences, links and includes of one file."""
    prose, unclosed = split_fences(path.read_text())
    name = path.relative_to(ROOT)
    if unclosed:
        problems.append(f"{name}:{unclosed}: the code fence is not closed")
    for number, line in prose:
        for included in INCLUDE.findall(line):
            if not (path.parent / included).resolve().is_file():
                problems.append(f"{name}:{number}: no such file to include: {included}")
        without_code = re.sub(r"`[^`]*`", lambda code: " " * len(code.group()), line)
        for target in LINK.findall(without_code):
            if re.match(r"[a-z][a-z0-9+.-]*:", target):
                continue
            file, _, anchor = target.partition("#")
            resolved = (path.parent / file).resolve() if file else path
            if not resolved.exists():
                problems.append(f"{name}:{number}: broken link: {target}")
                continue
            if BOOK in path.parents and BOOK not in resolved.parents:
                problems.append(f"{name}:{number}: a page of the book links to a file outside of it: {target}")
            if anchor and (resolved.suffix != ".md" or anchor not in anchors(resolved)):
                problems.append(f"{name}:{number}: no such anchor: {target}")


def check_paths(path, problems):
    """Check that paths of the repository in code spans exist."""
    if path.name == "CHANGELOG.md":
        return
    for number, line in split_fences(path.read_text())[0]:
        for target in PATH.findall(line):
            if not (ROOT / target).exists():
                problems.append(f"{path.relative_to(ROOT)}:{number}: no such path: {target}")


def check_options(path, options, problems):
    """Check that the options of commands, and options that stand alone in tables, exist."""
    if path in (*CLI, ROOT / "CHANGELOG.md"):
        return
    continued = False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        parts = []
        for match in COMMAND.finditer(line):
            parts.append(match.group(1) or match.group(2) or "")
        if continued:
            parts.append(line)
        continued = bool(parts) and line.endswith("\\")
        if line.startswith("| `--"):
            parts.append(line.split("|")[1])
        for part in parts:
            command = re.split(r"\s#\s|\s\|\s", part)[0]
            for option in OPTION.findall(command):
                if option not in options:
                    problems.append(f"{path.relative_to(ROOT)}:{number}: no such option: {option}")


def check_summary(problems):
    """Check that the table of contents and the pages agree."""
    listed = []
    for number, line in split_fences(SUMMARY.read_text())[0]:
        for target in LINK.findall(line):
            page = (BOOK / target).resolve()
            if page in listed:
                problems.append(f"docs/src/SUMMARY.md:{number}: listed twice: {target}")
            listed.append(page)
            if not page.is_file():
                problems.append(f"docs/src/SUMMARY.md:{number}: no such page: {target}")
    for page in sorted(BOOK.rglob("*.md")):
        if page != SUMMARY and page.resolve() not in listed:
            problems.append(f"{page.relative_to(ROOT)}: not listed in docs/src/SUMMARY.md")


def check_tables(path, results, problems):
    """Check that quoted tables equal those that `lodeseek-lab reproduce` wrote."""
    for name, table in TABLE.findall(path.read_text()):
        if name not in results:
            problems.append(f"{path.relative_to(ROOT)}: acordar/RESULTS.md has no table {name}")
        elif results[name] != table:
            problems.append(f"{path.relative_to(ROOT)}: table {name} differs from acordar/RESULTS.md: copy it from there")


def check_readme(problems):
    """Check README's length and the figures of its table of effectiveness."""
    text = (ROOT / "README.md").read_text()
    length = len(text.splitlines())
    if length > README_LINES:
        problems.append(f"README.md: {length} lines; at most {README_LINES} are allowed")
    rows = [line.split("|")[1:-1] for line in RESULTS.read_text().splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in row] for row in rows]
    for line in text.splitlines():
        if not line.startswith("|") or not FIGURE.search(line):
            continue
        cells = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", cell).strip() for cell in line.split("|")[1:-1]]
        figures = FIGURE.findall(line)
        names = [row for row in rows if row and row[0] in cells]
        for figure in figures:
            if not any(figure in "|".join(row) for row in names):
                problems.append(f"README.md: acordar/RESULTS.md has no {figure} in a row named as one of {cells}")


def paragraphs(text):
    """Return the paragraphs of prose, each with the number of its first line."""
    current, start, previous = [], 0, 0
    for number, line in split_fences(text)[0]:
        plain = line.strip()
        breaks = not plain or plain.startswith(("#", "|", "<!--", "{{", "---"))
        item = re.match(r"(?:[-*+]|\d+\.)\s+(.*)", plain)
        if (breaks or item or number != previous + 1) and current:
            yield start, " ".join(current)
            current = []
        previous = number
        if breaks:
            continue
        if not current:
            start = number
        current.append(item.group(1) if item else plain)
    if current:
        yield start, " ".join(current)


def long_sentences(path):
    """List the sentences of a file that have too many words."""
    for number, paragraph in paragraphs(path.read_text()):
        paragraph = re.sub(r"`[^`]*`", "CODE", paragraph)
        paragraph = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", paragraph)
        for sentence in re.split(r"(?<=[.!?:;])\s+(?=[A-Z`*\[“\"(])", paragraph):
            words = len(sentence.split())
            if words > LONGEST_SENTENCE:
                print(f"{path.relative_to(ROOT)}:{number}: {words} words: {sentence[:110]}…")


def main():
    problems = []
    files = [ROOT / name for name in TOP_LEVEL]
    missing = [file for file in files if not file.is_file()]
    problems.extend(f"{file.name}: missing" for file in missing)
    files = [file for file in files if file.is_file()] + sorted(BOOK.rglob("*.md"))
    results = dict(TABLE.findall(RESULTS.read_text()))
    options = set()
    for page in CLI:
        options |= set(OPTION.findall(page.read_text()))
    check_summary(problems)
    for file in files:
        check_links(file, problems)
        check_paths(file, problems)
        check_options(file, options, problems)
        check_tables(file, results, problems)
    check_readme(problems)
    if "--sentences" in sys.argv[1:]:
        for file in files:
            long_sentences(file)
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"docs: {len(files)} files checked, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
