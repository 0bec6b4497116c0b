#!/usr/bin/env python3
"""The pages in Debian's Chromium, driven by Playwright, and axe-core's rules on each: what people do, with scripts and without.

usage: pages.py PROGRAM [--pictures FOLDER]

Playwright comes from PyPI, axe-core from npm, into the cache; what cannot be had is skipped, loudly. `--pictures` leaves six views
in two widths, the narrow one dark. The last line counts passed, failed and skipped checks.
"""

import contextlib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

import clients
import peers
from peers import editor

ROOT = clients.ROOT
PLAYWRIGHT = ["playwright==1.55.0"]
AXE = "axe-core@4.11.0"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
WIDE, NARROW = {"width": 1200, "height": 900}, {"width": 390, "height": 844}
# What a page may be called serious for: nothing.
GRAVE = {"serious", "critical"}
DATASET = "/dataset/chesapeake-water"
HOSTILE = "/dataset/hostile"
VIEWS = {
    "start": "/",
    "results": "/?q=nitrogen+reduction+plan",
    "list": "/?q=&page=0&keyword=Environment",
    "dataset": DATASET,
    "snippet": f"{DATASET}/snippet?query=nitrogen",
    "sparql": "/sparql?format=html&query=" + urllib.parse.quote((ROOT / "queries/datasets.rq").read_text()),
    "quality": "/quality",
    "one-quality": f"{DATASET}/quality",
    "api": "/api",
    "operator": "/operator",
    "like": "/like",
    "similar": f"{DATASET}/similar?format=html",
    "hostile": HOSTILE,
    "nowhere": "/nowhere",
}
SHOWN = ["start", "results", "dataset", "sparql", "quality", "operator"]


def playwright():
    install = [sys.executable, "-m", "pip", "install", "-q", "--target"]
    return peers.kept("-".join(PLAYWRIGHT), lambda folder: peers.done([*install, str(folder), *PLAYWRIGHT], "Playwright cannot be had from PyPI"))


def axe():
    """The text of axe-core, one file for browsers."""
    def make(folder):
        program, npm = editor.node()
        environment = {**clients.os.environ, "PATH": clients.os.pathsep.join([str(pathlib.Path(program[0]).parent), clients.os.environ.get("PATH", "")])}
        peers.done([*npm, "pack", "--silent", AXE], "axe-core cannot be had from npm", cwd=folder, env=environment)
        archive = next(folder.glob("*.tgz"))
        peers.done(["tar", "-xzf", str(archive), "-C", str(folder), "package/axe.min.js"], "axe-core cannot be unpacked")
        archive.unlink()
    return (peers.kept(AXE, make) / "package/axe.min.js").read_text()


class World:
    """A browser, a server, and what was wrong on its pages."""

    def __init__(self, browser, address, rules, program, home):
        self.browser, self.address, self.rules, self.program, self.home = browser, address, rules, program, home

    @contextlib.contextmanager
    def other(self, *options, source=None):
        """The same program served otherwise: with options, or with another collection."""
        with tempfile.TemporaryDirectory() as folder:
            home = folder if source else self.home
            if source:
                make(self.program, home, source)
            with clients.Server(self.program, home, *options) as server:
                yield World(self.browser, server.address, self.rules, self.program, home)

    @staticmethod
    def editor():
        """The folder of the bundled editor."""
        made = subprocess.run([sys.executable, str(ROOT / "tools/editor.py")], stdout=subprocess.PIPE, text=True)
        if made.returncode != 0:
            raise peers.Missing("the editor could not be bundled from npm")
        return made.stdout.strip()

    @contextlib.contextmanager
    def page(self, path="/", scripts=True, size=WIDE, dark=False, quiet=True, known="404"):
        """A page. With `quiet`, whatever it says of an error, but for a `known` one, or asks of another server, fails the check."""
        # axe is put into pages whose policy allows no script but their own.
        context = self.browser.new_context(java_script_enabled=scripts, viewport=size, bypass_csp=self.bypass,
                                           color_scheme="dark" if dark else "light", reduced_motion="reduce")
        page, wrong = context.new_page(), []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if said.type == "error" and known not in said.text else None)
        page.on("request", lambda request: wrong.append(request.url) if not request.url.startswith((self.address, "data:", "blob:")) else None)
        page.on("dialog", lambda dialog: (wrong.append(f"a dialog: {dialog.message}"), dialog.dismiss()))
        page.set_default_timeout(20_000)
        page.goto(self.address + path)
        yield page
        context.close()
        assert not (quiet and wrong), wrong

    bypass = False


def check_search_and_understand(world):
    """From a need in words to the dataset and its triples; the link holds the whole state."""
    for scripts in (True, False):
        with world.page("/", scripts) as page:
            page.get_by_role("searchbox").or_(page.get_by_role("combobox")).or_(page.locator("textarea[name=q]")).first.fill("nitrogen reduction plan")
            page.get_by_role("button", name="Search").click()
            page.wait_for_url("**/?q=nitrogen*")
            first = page.locator("ol.hits article").first
            assert first.locator("mark").count() > 0, "nothing is marked"
            assert "Matched in" in first.inner_text(), first.inner_text()
            assert first.locator("table.triples tr").count() > 0, "no triples"
            first.locator("h2 a").click()
            page.wait_for_url(f"**{DATASET}")
            assert page.locator("figure svg").count() > 0, "no drawing of the snippet"
            assert page.get_by_role("heading", name="Take it away").count() == 1


def check_narrow_down(world):
    """A facet, then without it: by links alone."""
    for scripts in (True, False):
        with world.page("/?q=water", scripts) as page:
            before = page.locator("ol.hits article").count()
            one = page.locator("#narrow .facet a").first
            one.click()
            assert page.locator("ul.chips a").count() == 1, "no chip"
            assert 0 < page.locator("ol.hits article").count() <= before
            page.locator("ul.chips a").first.click()
            assert page.locator("ul.chips a").count() == 0
            assert page.locator("ol.hits article").count() == before


def check_ask_in_sparql(world):
    """A query of the dataset's page, and its answer as a table."""
    with world.page(DATASET, scripts=False) as page:
        page.get_by_role("button", name="Run").click()
        page.wait_for_url("**/sparql")
        assert page.locator("table.answer tbody tr").count() > 0, "no rows"


def check_pictures_of_answers(world):
    """Bars of numbers and a map of coordinates."""
    bars = "SELECT ?name ?count { VALUES (?name ?count) { (\"oak\" 12) (\"elm\" 7) } }"
    places = "SELECT ?city ?lat ?long { VALUES (?city ?lat ?long) { (\"Annapolis\" 38.97 -76.5) (\"Baltimore\" 39.29 -76.61) } }"
    for query, wanted in [(bars, "details.picture meter"), (places, "svg.map circle")]:
        with world.page("/sparql?format=html&query=" + urllib.parse.quote(query), scripts=False) as page:
            assert page.locator(wanted).count() == 2, (query, page.locator(wanted).count())


def check_errors_are_told(world):
    with world.page("/sparql?format=html&query=SELEC", scripts=False, quiet=False) as page:
        assert page.get_by_role("alert").count() == 1
    with world.page("/nowhere", scripts=False, quiet=False) as page:
        assert "404" in page.title()


def check_keyboard(world):
    """The first stop leads past the header; each of the next ones is in sight and marked as having the focus."""
    with world.page("/?q=water") as page:
        for _ in range(15):
            page.keyboard.press("Tab")
            stop = json.loads(page.evaluate("""(() => { const at = document.activeElement, box = at.getBoundingClientRect(), style = getComputedStyle(at);
                return JSON.stringify({ name: at.outerHTML.slice(0, 120), body: at === document.body,
                    seen: box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight,
                    marked: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0 || style.boxShadow !== "none" }) })()"""))
            assert not stop["body"] and stop["seen"] and stop["marked"], stop
    with world.page("/?q=water") as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        assert page.url.endswith("#content"), page.url


def check_narrow_screens(world):
    """Nothing is wider than a phone; what has to be scrolls by itself."""
    for name, path in VIEWS.items():
        with world.page(path, size=NARROW, quiet=name != "nowhere") as page:
            over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert over <= 0, f"{name} is {over} pixels too wide"


def check_weight_and_time(world):
    """The first page of results: at most 100 kB, and told by the browser's own clock when it could be read."""
    with world.page("/?q=water") as page:
        # It is told only once it was painted; the page's policy lets no function of ours wait for it there.
        for _ in range(100):
            if page.evaluate("performance.getEntriesByName('first-contentful-paint').length"):
                break
            page.wait_for_timeout(50)
        told = json.loads(page.evaluate("""JSON.stringify({
            bytes: [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].reduce((sum, one) => sum + one.transferSize, 0),
            paint: performance.getEntriesByName('first-contentful-paint').map(one => one.startTime)[0],
            ready: performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd })"""))
    print(f"pages: first results {told['bytes']} bytes, first paint {told['paint']:.0f} ms, ready {told['ready']:.0f} ms")
    assert told["bytes"] < 100_000, told


def check_axe(world):
    """axe-core's rules, WCAG 2.1 AA among them, on every view, wide and light, narrow and dark."""
    world.bypass = True
    found = []
    try:
        for name, path in VIEWS.items():
            for size, dark in ((WIDE, False), (NARROW, True)):
                with world.page(path, size=size, dark=dark, quiet=False) as page:
                    page.add_script_tag(content=world.rules)
                    told = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
                    found += [f"{name} ({'narrow, dark' if dark else 'wide, light'}): {one['id']}: {one['help']}: {one['nodes'][0]['html'][:160]}"
                              for one in told["violations"] if one["impact"] in GRAVE]
    finally:
        world.bypass = False
    assert not found, "\n".join(found)


def check_hostile_data(world):
    """Markup, scripts, addresses that run, writing from the right, words without an end: shown as written, and nothing runs."""
    for path in ("/?q=hostile+trees", HOSTILE, f"{HOSTILE}/snippet?query=tree", f"{HOSTILE}/quality", f"{HOSTILE}/similar?format=html",
                 f"{HOSTILE}/entity?iri=" + urllib.parse.quote("javascript:window.pwned=1"), "/quality", "/like?dataset=hostile",
                 "/?q=" + urllib.parse.quote("<script>window.pwned=1</script>")):
        for size in (WIDE, NARROW):
            with world.page(path, size=size) as page:
                page.eval_on_selector_all("details", "all => all.forEach(one => one.open = true)")
                page.mouse.move(200, 300)
                assert page.evaluate("window.pwned") is None, f"{path} ran what it shows"
                links = page.eval_on_selector_all("a[href]", "all => all.map(one => one.protocol)")
                assert set(links) <= {"http:", "https:", "mailto:"}, (path, set(links))
                over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
                assert over <= 0, f"{path} is {over} pixels too wide"
    with world.page(HOSTILE, scripts=False) as page:
        assert "<script>window.pwned=1</script>" in page.locator("h1").inner_text(), page.locator("h1").inner_text()


def check_suggestions(world):
    """Titles as they are typed, by the keyboard alone, and by a link where a word is misspelt."""
    with world.page("/") as page:
        box = page.get_by_role("combobox")
        box.press_sequentially("stre", delay=30)
        options = page.get_by_role("option")
        options.first.wait_for()
        box.press("ArrowDown")
        chosen = page.locator("[role=option][aria-selected=true]")
        assert chosen.count() == 1 and box.get_attribute("aria-activedescendant") == chosen.get_attribute("id")
        box.press("Escape")
        assert box.get_attribute("aria-expanded") == "false"
    with world.page("/?q=nitrogn", scripts=False) as page:
        page.get_by_role("link", name="nitrogen").click()
        assert page.locator("ol.hits article").count() > 0


def check_search_by_example(world):
    """Turtle that is pasted, a file that is given, a dataset that is named."""
    for scripts in (True, False):
        with world.page("/like", scripts) as page:
            page.locator("textarea[name=text], textarea").last.fill(
                "<http://a> a <http://xmlns.com/foaf/0.1/Person> ; <http://xmlns.com/foaf/0.1/name> \"A\" .")
            page.locator("form.example button[type=submit]").first.click()
            page.wait_for_load_state()
            assert page.locator("main").inner_text(), "nothing is told"
        with world.page("/like", scripts) as page:
            page.locator("input[type=file]").set_input_files(str(ROOT / "testdata/hostile/content.ttl"))
            page.locator("form.example button[type=submit]").first.click()
            page.wait_for_load_state()
            assert page.locator("ol.similar > li").count() > 0, page.locator("main").inner_text()[:400]


def check_browse_and_cite(world):
    """From a dataset to one of its entities and on; the citation is on the page."""
    for scripts in (True, False):
        with world.page(DATASET, scripts) as page:
            page.locator(".examples-of a").first.click()
            page.wait_for_url("**/entity?iri=*")
            assert page.locator("table.properties tr").count() > 0, "no triples"
        with world.page(DATASET, scripts) as page:
            page.locator("details.cite > summary, .cite summary").first.click()
            assert "@" in page.locator(".cite pre").first.inner_text()


def check_operator(world):
    """How the server runs, for this machine."""
    with world.page("/operator", scripts=False) as page:
        assert page.locator("table.findings tbody tr").count() > 0, "no route was counted"
        assert page.get_by_role("group", name="The last loads").locator("tbody tr").count() > 0, "no load is told"
        page.get_by_role("group", name="Datasets of these loads").get_by_role("link").first.click()
        page.wait_for_url("**/dataset/*")
    with world.page("/api", scripts=False) as page:
        page.locator("details.operation > summary").first.click()
        assert page.locator("details.operation[open] table").count() > 0


# What YASGUI would style inline: the page's policy forbids it, and the editor's style sheet is enough.
STYLES = "Applying inline style violates"


def check_pictures_from_the_editor(world):
    """From the bundled editor to the answer's bars, by the keyboard alone, with the query as it was changed there."""
    first = "SELECT ?name ?count { VALUES (?name ?count) { (\"oak\" 12) } }"
    path = "/sparql?query=" + urllib.parse.quote(first)
    with world.other("--editor", world.editor()) as served, served.page(path, known=STYLES) as page:
        link = page.get_by_role("link", name="chart, map and table")
        link.wait_for()
        assert asked(link) == first, asked(link)
        page.locator(".CodeMirror textarea").focus()
        page.keyboard.press("Control+A")
        page.keyboard.insert_text(first.replace("12)", "12) (\"elm\" 7)"))
        page.wait_for_timeout(200)  # the editor takes what is typed a moment later
        assert asked(link) == first.replace("12)", "12) (\"elm\" 7)"), asked(link)
        for _ in range(20):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.textContent").endswith("without scripts"):
                break
        else:
            raise AssertionError("the tab key does not lead to the link")
        page.keyboard.press("Enter")
        page.wait_for_url("**/sparql?format=html&query=*")
        assert page.locator("details.picture meter").count() == 2, "no bars"
        assert page.locator("table.answer tbody tr").count() == 2, "no table"


def asked(link):
    """The query that a link leads to."""
    return urllib.parse.parse_qs(urllib.parse.urlsplit(link.get_attribute("href")).query)["query"][0]


# Values of facets, one after the other.
CHOSEN = [("Tasks", "Semantic Segmentation"), ("Modalities", "Point cloud")]


def check_tasks_and_modalities(world):
    """Datasets as Papers with Code has them: by a task, then by a modality too, then without either."""
    with world.other(source="testdata/papers-with-code.json") as served:
        for scripts in (True, False):
            with served.page("/?q=segmentation+detection+speech+images", scripts) as page:
                hits, chips = page.locator("ol.hits article"), page.locator("ul.chips a:not(.clear)")
                before = hits.count()
                for number, (title, value) in enumerate(CHOSEN, 1):
                    facet = page.locator(f"details.facet:has(h2:text-is('{title}'))")
                    if facet.get_attribute("open") is None:
                        facet.locator("summary").first.click()
                    one = facet.locator(f"a:has(span.label:text-is('{value}'))")
                    said = int(one.locator(".number").inner_text())
                    one.click()
                    page.wait_for_load_state()
                    assert chips.count() == number, f"{chips.count()} chips with {title}"
                    assert 0 < hits.count() == said < before, (title, said, hits.count())
                for left in (1, 0):
                    chips.first.click()
                    page.wait_for_load_state()
                    assert chips.count() == left
                assert hits.count() == before


CHECKS = [check_search_and_understand, check_narrow_down, check_tasks_and_modalities, check_ask_in_sparql, check_pictures_of_answers,
          check_pictures_from_the_editor, check_errors_are_told, check_suggestions, check_search_by_example, check_browse_and_cite, check_operator, check_hostile_data, check_keyboard,
          check_narrow_screens, check_weight_and_time, check_axe]


def make(program, home, *sources):
    """A home with these collections."""
    for command in (*(["load", source] for source in sources), ["index"]):
        subprocess.run([program, "--home", home, *command], check=True, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def pictures(world, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name in SHOWN:
        for kind, size, dark in (("wide", WIDE, False), ("narrow", NARROW, True)):
            with world.page(VIEWS[name], size=size, dark=dark, quiet=False) as page:
                page.screenshot(path=folder / f"{name}-{kind}.png")


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    chosen = [name for name in sys.argv[2:] if not name.startswith("--")]
    folder = pathlib.Path(sys.argv[sys.argv.index("--pictures") + 1]) if "--pictures" in sys.argv else None
    passed = failed = skipped = 0
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        if not browser:
            raise peers.Missing("chromium is not installed")
        sys.path.insert(0, str(playwright()))
        rules = axe()
    except (peers.Missing, SystemExit) as reason:
        print(f"pages: {len(CHECKS)} checks SKIPPED: {reason}")
        print(f"pages: 0 passed, 0 failed, {len(CHECKS)} skipped")
        return
    from playwright.sync_api import sync_playwright
    with tempfile.TemporaryDirectory() as home:
        hostile = [] if folder else ["testdata/hostile/catalog.ttl"]
        make(program, home, "testdata/catalog.ttl", *hostile)
        with clients.Server(program, home) as server, sync_playwright() as driver:
            chromium = driver.chromium.launch(executable_path=browser, args=FLAGS)
            world = World(chromium, server.address, rules, program, home)
            if folder:
                pictures(world, folder)
                return
            for check in CHECKS:
                name = check.__name__.removeprefix("check_")
                if chosen and name not in chosen:
                    continue
                try:
                    check(world)
                    passed += 1
                    print(f"pages {name} ... ok", flush=True)
                except peers.Missing as reason:
                    skipped += 1
                    print(f"pages {name} ... SKIPPED: {reason}", flush=True)
                except Exception as error:  # a failed check must not hide the others
                    failed += 1
                    print(f"pages {name} ... FAILED: {error or type(error).__name__}", flush=True)
            chromium.close()
    print(f"pages: {passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
