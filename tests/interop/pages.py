#!/usr/bin/env python3
"""Tests of the pages in Chromium by Playwright, with and without scripts, and of axe-core's accessibility rules.

usage: pages.py PROGRAM [--pictures FOLDER] [--record] [--home HOME] [CHECK ...]

Playwright is installed from PyPI and axe-core from npm into the cache folder; without them the checks are skipped with a message.
`--pictures` writes screenshots of some views in two widths, the narrow one in dark mode. `--record` writes reduced ones to tests/interop/views;
the check `appearance` compares with them. `--home` names an indexed home with real
datasets: the pages of the twenty most troublesome ones are checked, too, and the time of searches is printed. The last line counts passed, failed and
skipped checks.
"""

import base64
import contextlib
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse

import clients
import peers
from peers import editor

ROOT = clients.ROOT
# Packages of npm: name, SHA-256 of the archive, file. The same font makes screenshots of all machines alike.
AXE = ("axe-core@4.11.0", "39bed7d72308f6d620789c169d699bfd7e8da80f65b545821a6b2215c3e83107", "axe.min.js")
FONT = ("@fontsource/inter@5.3.0", "02034af8d41dcc67ac8eab88f642e129bb8a2e8922abf30229c32725f54d8fd6", "files/inter-latin-400-normal.woff2")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
WIDE, MEDIUM, NARROW = {"width": 1280, "height": 900}, {"width": 768, "height": 1024}, {"width": 390, "height": 844}
SMALLEST = {"width": 320, "height": 640}
SIZES = (WIDE, MEDIUM, NARROW)
# Maximum size of the first page of results in bytes, compressed, with style sheet, script and icon.
WEIGHT = 60_000
DATASET = "/dataset/chesapeake-water"
# A search with several results.
SEVERAL = "/?q=city+water+trees+data+register"
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
    "nothing": "/?q=zzzzzz",
    "no-query": "/sparql?format=html&query=" + urllib.parse.quote("SELECT * { ?s foaf:name ?n }"),
    "german": "/?q=water&lang=de",
    "german-dataset": f"{DATASET}?lang=de",
    "drawer": "/?q=water#narrow",
    "table": "/dataset/street-trees/table",
}
# Views that are error responses.
FAILURES = {"nowhere", "no-query"}
SHOWN = ["start", "results", "dataset", "sparql", "quality", "operator"]
# The operator page has times and counters.
COMPARED = [name for name in SHOWN if name != "operator"]
# Reduced screenshots: a pixel for REDUCTION x REDUCTION. Machines draw letters differently: each part of a pixel may differ by CONTRAST of 255,
# and a share TOLERANCE of the pixels by more.
REFERENCES = ROOT / "tests/interop/views"
REDUCTION, CONTRAST, TOLERANCE = 16, 40, 0.015
REDUCE = """async ([screenshot, reference, reduction, contrast]) => {
    const drawn = async (address, divisor) => {
        const image = new Image();
        image.src = address;
        await image.decode();
        const canvas = document.createElement("canvas");
        [canvas.width, canvas.height] = [Math.round(image.width / divisor), Math.round(image.height / divisor)];
        const context = canvas.getContext("2d");
        context.imageSmoothingQuality = "high";
        context.drawImage(image, 0, 0, canvas.width, canvas.height);
        return { canvas, pixels: context.getImageData(0, 0, canvas.width, canvas.height).data };
    };
    const current = await drawn(screenshot, reduction);
    if (!reference) return { picture: current.canvas.toDataURL("image/png") };
    const expected = await drawn(reference, 1);
    const [now, then] = [current.pixels, expected.pixels];
    if (now.length !== then.length) return { share: 1 };
    let different = 0;
    for (let place = 0; place < now.length; place += 4) {
        if ([0, 1, 2].some((part) => Math.abs(now[place + part] - then[place + part]) > contrast)) different++;
    }
    return { share: 4 * different / now.length };
}"""


def playwright():
    return peers.python_packages("playwright")


def npm_file(package, sha256, path):
    """Returns the content of a file of an npm package."""
    def make(folder):
        program, npm = editor.node()
        environment = {**clients.os.environ, "PATH": clients.os.pathsep.join([str(pathlib.Path(program[0]).parent), clients.os.environ.get("PATH", "")])}
        peers.done([*npm, "pack", "--silent", package], f"{package} cannot be downloaded from npm", cwd=folder, env=environment)
        archive = next(folder.glob("*.tgz"))
        if hashlib.sha256(archive.read_bytes()).hexdigest() != sha256:
            sys.exit(f"pages: {package} from npm has another SHA-256 than tests/interop/pages.py records; the registry or a proxy may have "
                     "been tampered with: try another network")
        peers.done(["tar", "-xzf", str(archive), "-C", str(folder), f"package/{path}"], f"{package} cannot be unpacked")
        archive.unlink()
    return (peers.kept(package.replace("/", "-"), make) / "package" / path).read_bytes()


class World:
    """A browser, a server and the errors on its pages."""

    def __init__(self, browser, address, rules, program, home):
        self.browser, self.address, self.rules, self.program, self.home = browser, address, rules, program, home

    @contextlib.contextmanager
    def other(self, *options, source=None):
        """Starts another server of the same program, with options or with another collection."""
        with tempfile.TemporaryDirectory() as folder:
            home = folder if source else self.home
            if source:
                make(self.program, home, source)
            with clients.Server(self.program, home, *options) as server:
                yield World(self.browser, server.address, self.rules, self.program, home)

    @staticmethod
    def editor():
        """Returns the folder of the bundled editor."""
        made = subprocess.run([sys.executable, str(ROOT / "tools/editor.py")], stdout=subprocess.PIPE, text=True)
        if made.returncode != 0:
            raise peers.Missing("the editor could not be bundled from npm")
        return made.stdout.strip()

    @contextlib.contextmanager
    def page(self, path="/", scripts=True, size=WIDE, dark=False, quiet=True, known="responded with a status of 4"):
        """Opens a page. With `quiet`, console errors other than `known` and requests to other hosts fail the check."""
        # axe-core is injected; the content security policy allows only the page's own scripts.
        context = self.browser.new_context(java_script_enabled=scripts, viewport=size, bypass_csp=self.bypass,
                                           color_scheme="dark" if dark else "light", reduced_motion="reduce")
        page, wrong = context.new_page(), []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda message: wrong.append(message.text) if message.type == "error" and known not in message.text else None)
        page.on("request", lambda request: wrong.append(request.url) if not request.url.startswith((self.address, "data:", "blob:")) else None)
        page.on("dialog", lambda dialog: (wrong.append(f"a dialog: {dialog.message}"), dialog.dismiss()))
        page.set_default_timeout(60_000)
        page.goto(self.address + path)
        yield page
        context.close()
        assert not (quiet and wrong), wrong

    bypass = False


def check_search_and_understand(world):
    """A search leads to a dataset and its triples; the URL holds the whole state."""
    for scripts in (True, False):
        with world.page("/", scripts) as page:
            page.get_by_role("searchbox").or_(page.get_by_role("combobox")).or_(page.locator("input[name=q]")).first.fill("nitrogen reduction plan")
            page.get_by_role("button", name="Search").click()
            page.wait_for_url("**/?q=nitrogen*")
            first = page.locator("ol.hits article").first
            assert first.locator("mark").count() > 0, "nothing is marked"
            assert first.locator("table.triples mark").first.is_visible(), "no answer"
            assert not first.locator("details.preview table.triples").is_visible(), "the preview is folded"
            assert "Found in" not in first.inner_text(), first.inner_text()
            first.locator("details.why > summary").click()
            assert "Found in" in first.inner_text(), first.inner_text()
            assert first.locator("a.download").get_attribute("href"), "no download"
            first.locator("h2 a").click()
            page.wait_for_url(f"**{DATASET}")
            assert page.locator("figure svg").count() > 0, "no drawing of the snippet"
            assert page.get_by_role("heading", name="Download and cite", exact=True).count() == 1


def check_narrow_down(world):
    """Facet links narrow down and widen the results."""
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


def check_flows(world):
    """Search, sort, filter, open, download, and change the language: at three widths, light and dark, with and without scripts."""
    for size in SIZES:
        for scripts in (True, False):
            with world.page("/", scripts, size=size, dark=not scripts) as page:
                page.locator(".tries a").first.click()
                page.wait_for_url("**/?q=*")
                assert page.locator("ol.hits article").count() > 0, "the example query finds nothing"
            with world.page(SEVERAL, scripts, size=size, dark=not scripts) as page:
                found = page.locator("ol.hits article").count()
                page.locator("nav.sort").get_by_role("link", name="Title").click()
                page.wait_for_url(re.compile("sort=title"))
                titles = [title.lower() for title in page.locator("ol.hits h2").all_inner_texts()]
                assert len(titles) == found and titles == sorted(titles), titles
                aside = page.locator("#narrow")
                if size is not WIDE and not aside.is_visible():
                    page.locator("a.to-narrow").click()
                assert aside.is_visible(), "no filters"
                page.locator("#narrow .facet a").first.click()
                page.wait_for_load_state()
                assert page.locator("ul.chips a").count() == 1 and "sort=title" in page.url, page.url
                page.locator("ol.hits h2 a").first.click()
                page.wait_for_url("**/dataset/*")
                assert page.locator("p.buttons a.button").first.is_visible(), "no download button at the top"
                page.locator(".keywords a").first.click()
                page.wait_for_url(re.compile("keyword="))
                assert page.locator("ol.hits article").count() > 0
            with world.page("/?q=water", scripts, size=size) as page:
                page.locator("header details.languages > summary").click()
                page.locator("header").get_by_role("link", name="Deutsch").click()
                page.wait_for_url(re.compile("lang=de"))
                assert page.locator("html").get_attribute("lang") == "de"
                page.locator("ol.hits h2 a").first.click()
                page.wait_for_url(re.compile("lang=de"))
                assert page.get_by_role("heading", name="Herunterladen und zitieren").count() == 1


def check_drawer(world):
    """On phones the filters are a drawer that opens and closes by links, and by the Escape key."""
    for scripts in (True, False):
        with world.page("/?q=water", scripts, size=NARROW) as page:
            aside = page.locator("#narrow")
            assert not aside.is_visible()
            page.locator("a.to-narrow").click()
            assert aside.is_visible()
            box = aside.bounding_box()
            assert box["width"] == NARROW["width"] and box["height"] == NARROW["height"], box
            page.get_by_role("link", name="Close").click()
            assert not aside.is_visible()
            if scripts:
                page.locator("a.to-narrow").click()
                page.keyboard.press("Escape")
                aside.wait_for(state="hidden")


def check_density(world):
    """Ten folded hits fit within three phone screens; facet values and counts take one line; bars are visible."""
    with world.page("/?q=&page=0", size=NARROW) as page:
        assert page.locator("ol.hits > li").count() == 10
        end = page.locator("ol.hits > li").last.bounding_box()
        assert end["y"] + end["height"] <= 3 * NARROW["height"], end
    for size in SIZES:
        with world.page("/?q=water#narrow", size=size) as page:
            heights = page.eval_on_selector_all("#narrow .facet a", "all => all.filter(one => one.offsetParent).map(one => one.getBoundingClientRect().height)")
            assert heights and max(heights) < 44, heights
        with world.page(DATASET, size=size) as page:
            widths = page.eval_on_selector_all(".bars meter", "all => all.filter(one => one.checkVisibility()).map(one => one.getBoundingClientRect().width)")
            assert widths and min(widths) > 40, widths


def check_ask_in_sparql(world):
    """A query on the dataset's page, an example, and a link with a query return tables; an error is a sentence with its line."""
    for size in SIZES:
        with world.page(DATASET, scripts=False, size=size) as page:
            page.get_by_role("button", name="Run").click()
            page.wait_for_url("**/sparql?query=*")
            assert page.locator("table.answer tbody tr").count() > 0, "no rows"
        with world.page("/sparql", scripts=False, size=size) as page:
            page.locator("ul.examples a").first.click()
            page.wait_for_url("**/sparql?query=*")
            assert page.locator("table.answer tbody tr").count() > 0, "no rows"
        with world.page("/sparql?query=" + urllib.parse.quote("SELECT ?x { VALUES ?x { 1 2 } }"), size=size) as page:
            assert page.locator("table.answer tbody tr").count() == 2, "no table"
        with world.page(VIEWS["no-query"], scripts=False, size=size) as page:
            alert = page.get_by_role("alert")
            assert "Line 1" in alert.inner_text() and "PREFIX foaf:" in alert.inner_text(), alert.inner_text()
            assert alert.locator("mark").inner_text() == "foaf:"


def check_pictures_of_answers(world):
    """Numbers are shown as bars and coordinates as a map."""
    bars = "SELECT ?name ?count { VALUES (?name ?count) { (\"oak\" 12) (\"elm\" 7) } }"
    places = "SELECT ?city ?lat ?long { VALUES (?city ?lat ?long) { (\"Annapolis\" 38.97 -76.5) (\"Baltimore\" 39.29 -76.61) } }"
    for query, wanted in [(bars, "details.picture meter"), (places, "svg.map circle")]:
        with world.page("/sparql?format=html&query=" + urllib.parse.quote(query), scripts=False) as page:
            assert page.locator(wanted).count() == 2, (query, page.locator(wanted).count())


def check_error_messages(world):
    with world.page("/sparql?format=html&query=SELEC", scripts=False, quiet=False) as page:
        assert page.get_by_role("alert").count() == 1
    with world.page("/nowhere", scripts=False, quiet=False) as page:
        assert "does not exist" in page.title() and page.locator(".status").inner_text() == "404", page.title()


def check_keyboard(world):
    """The first tab stop skips the header; every other one is visible and has a focus mark."""
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
    """No page is wider than the screen, down to 320 pixels; wide parts scroll separately."""
    for name, path in VIEWS.items():
        for size in (SMALLEST, *SIZES):
            with world.page(path, size=size, quiet=name not in FAILURES) as page:
                over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
                assert over <= 0, f"{name} is {over} pixels too wide at {size['width']}"


# Properties of descriptions that break layouts; three datasets are chosen by each.
TROUBLE = {
    "longest word": lambda row: max(map(len, json.dumps(row, ensure_ascii=False).split())),
    "longest word of the title": lambda row: max(map(len, (row["title"] or "-").split())),
    "id": lambda row: len(row["name"]),
    "files": lambda row: len(row.get("resources", [])),
    "keywords": lambda row: len(row.get("tags", [])),
    "description": lambda row: len(row.get("notes") or ""),
    "other scripts": lambda row: sum(ord(letter) > 127 for letter in json.dumps(row, ensure_ascii=False)),
}
# Searches of collections of linked data.
SEARCHES = ["water quality", "species", "air quality in Spain", "music artists", "geographic data", "protein drug targets", "population",
            "library books", "energy consumption", "museum objects", "agriculture thesaurus", "transport stops", "gene ontology", "schools"]


def check_real_datasets(world):
    """No page of twenty troublesome datasets is wider than 320 pixels; ten hits fit into three phone screens. Prints times."""
    home = option("--home")
    if not home:
        raise peers.Missing("--home names no home with real datasets")
    with clients.Server(world.program, home) as server:
        served = World(world.browser, server.address, world.rules, world.program, home)
        rows = json.loads(clients.fetch(f"{server.address}/api/3/action/package_search?rows=1000"))["result"]["results"]
        names = [row["name"] for trouble in TROUBLE.values() for row in sorted(rows, key=trouble, reverse=True)[:3]]
        wide = []
        for name in list(dict.fromkeys(names))[:20]:
            for part in ("", "/quality", "/similar?format=html", "/snippet"):
                path = f"/dataset/{urllib.parse.quote(name, safe='')}{part}"
                with served.page(path, size=SMALLEST, quiet=False) as page:
                    page.eval_on_selector_all("details", "all => all.forEach(one => one.open = true)")
                    over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
                    wide += [f"{path} is {over} pixels too wide"] if over > 0 else []
        assert not wide, "\n".join(wide)
        times, ends = [], []
        for turn in range(6):
            for words in SEARCHES:
                start = time.perf_counter()
                clients.fetch(f"{server.address}/?q={urllib.parse.quote(words)}")
                # The first turn fills the caches.
                times += [1000 * (time.perf_counter() - start)] if turn else []
        for words in SEARCHES:
            with served.page(f"/?q={urllib.parse.quote(words)}", size=NARROW) as page:
                hits = page.locator("ol.hits > li")
                if hits.count() == 10:
                    ends.append(hits.last.evaluate("one => one.getBoundingClientRect().bottom + scrollY"))
        times.sort()
        print(f"pages: {len(times)} searches in {len(rows)} datasets: median {times[len(times) // 2]:.0f} ms, p95 {times[int(.95 * len(times))]:.0f} ms; "
              f"ten hits end at {max(ends):.0f} pixels")
        assert max(ends) <= 3 * NARROW["height"], ends


def until(page, condition):
    """Waits up to 5 s for a condition. The content security policy forbids playwright's own wait functions in the page."""
    for _ in range(100):
        if condition():
            return
        page.wait_for_timeout(50)


def check_weight_and_time(world):
    """The first page of results transfers at most 60 kB; prints the browser's paint times."""
    with world.page("/?q=&page=0") as page:
        # The entry exists only after the paint.
        until(page, lambda: page.evaluate("performance.getEntriesByName('first-contentful-paint').length"))
        timing = json.loads(page.evaluate("""JSON.stringify({
            bytes: [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].reduce((sum, one) => sum + one.transferSize, 0),
            paint: performance.getEntriesByName('first-contentful-paint').map(one => one.startTime)[0],
            ready: performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd })"""))
    print(f"pages: first results {timing['bytes']} bytes, first paint {timing['paint']:.0f} ms, ready {timing['ready']:.0f} ms")
    assert timing["bytes"] < WEIGHT, timing


def check_axe(world):
    """Every view passes axe-core's rules, including WCAG 2.1 AA, wide and light, narrow and dark."""
    world.bypass = True
    found = []
    try:
        for name, path in VIEWS.items():
            for size, dark in ((WIDE, False), (NARROW, True)):
                with world.page(path, size=size, dark=dark, quiet=False) as page:
                    page.eval_on_selector_all("details", "all => all.forEach(one => one.open = true)")
                    page.add_script_tag(content=world.rules)
                    report = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
                    found += [f"{name} ({'narrow, dark' if dark else 'wide, light'}): {one['id']}: {one['help']}: {one['nodes'][0]['html'][:160]}"
                              for one in report["violations"]]
    finally:
        world.bypass = False
    assert not found, "\n".join(found)


def data_address(png):
    return "data:image/png;base64," + base64.b64encode(png).decode()


def check_appearance(world):
    """The views look as in tests/interop/views. `--record` writes these pictures."""
    changed, font = [], base64.b64encode(npm_file(*FONT)).decode()
    same = f"@font-face {{ font-family: Same; src: url(data:font/woff2;base64,{font}) }} * {{ font-family: Same !important }}"
    for name, page in shown_views(world, COMPARED, style=same):
        screenshot, file = data_address(page.screenshot()), REFERENCES / f"{name}.png"
        blank = page.context.new_page()
        if "--record" in sys.argv:
            picture = blank.evaluate(REDUCE, [screenshot, None, REDUCTION, CONTRAST])["picture"]
            file.write_bytes(base64.b64decode(picture.split(",")[1]))
            continue
        share = blank.evaluate(REDUCE, [screenshot, data_address(file.read_bytes()), REDUCTION, CONTRAST])["share"]
        changed += [f"{name}: {100 * share:.1f} % of the pixels differ"] if share > TOLERANCE else []
    assert not changed, f"{'; '.join(changed)}. Look at `pages.py PROGRAM --pictures FOLDER`; if the pages are right, record the views anew"


def check_hostile_data(world):
    """Markup, javascript: URLs, right-to-left text and very long words are shown as text; no script runs."""
    for path in ("/?q=hostile+trees", "/", HOSTILE, f"{HOSTILE}/snippet?query=tree", f"{HOSTILE}/quality", f"{HOSTILE}/similar?format=html",
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
        # Scripts are no text of a title.
        assert page.locator("h1").inner_text() == '"> hostile trees', page.locator("h1").inner_text()


def check_suggestions(world):
    """Titles are suggested while typing; words that no dataset contains are corrected, which the page says."""
    with world.page("/") as page:
        box = page.get_by_role("combobox")
        box.press_sequentially("str", delay=30)
        options = page.get_by_role("option")
        options.first.wait_for()
        box.press("e")
        box.press("ArrowDown")
        page.wait_for_timeout(500)  # the options are replaced a moment after a key; the active one remains
        chosen = page.locator("[role=option][aria-selected=true]")
        assert chosen.count() == 1 and box.get_attribute("aria-activedescendant") == chosen.get_attribute("id")
        box.press("Escape")
        assert box.get_attribute("aria-expanded") == "false"
    with world.page("/?q=nitrogn", scripts=False) as page:
        assert "nitrogen" in page.locator("p.corrected").inner_text()
        assert page.locator("ol.hits article").count() > 0


def check_search_by_example(world):
    """Search by example accepts pasted Turtle and an uploaded file."""
    for scripts in (True, False):
        with world.page("/like", scripts) as page:
            page.locator("textarea[name=text], textarea").last.fill(
                "<http://a> a <http://xmlns.com/foaf/0.1/Person> ; <http://xmlns.com/foaf/0.1/name> \"A\" .")
            page.locator("form.example button[type=submit]").first.click()
            page.wait_for_load_state()
            assert page.locator("main").inner_text(), "the page is empty"
        with world.page("/like", scripts) as page:
            page.locator("input[type=file]").set_input_files(str(ROOT / "testdata/hostile/content.ttl"))
            page.locator("form.example button[type=submit]").first.click()
            page.wait_for_load_state()
            assert page.locator("ol.similar > li").count() > 0, page.locator("main").inner_text()[:400]


def check_browse_and_cite(world):
    """A dataset links to its entities; the page contains a citation."""
    for scripts in (True, False):
        with world.page(DATASET, scripts) as page:
            page.locator(".examples-of a").first.click()
            page.wait_for_url("**/entity?iri=*")
            assert page.locator("table.properties tr").count() > 0, "no triples"
        with world.page(DATASET, scripts) as page:
            page.locator("details.cite > summary, .cite summary").first.click()
            assert "@" in page.locator(".cite pre").first.inner_text()


def check_operator(world):
    """The operator page lists the measured routes."""
    with world.page("/operator", scripts=False) as page:
        assert page.locator("table.findings tbody tr").count() > 0, "no route was counted"
        assert page.get_by_role("group", name="The last loads").locator("tbody tr").count() > 0, "no load is listed"
        page.get_by_role("group", name="Datasets of these loads").get_by_role("link").first.click()
        page.wait_for_url("**/dataset/*")
    with world.page("/api", scripts=False) as page:
        page.locator("details.operation > summary").first.click()
        assert page.locator("details.operation[open] table").count() > 0


def check_tables(world):
    """The entities of a class are rows: filtered, sorted, page by page, with their CSV in one click from the dataset."""
    for scripts in (True, False):
        with world.page("/dataset/street-trees", scripts) as page:
            page.locator("p.tables a").first.click()
            page.wait_for_url("**/table?class=*")
            rows = page.locator("table.entities tbody tr")
            before = rows.count()
            assert before > 0 and page.locator("table.entities thead th").count() > 1
            page.get_by_label("With the text").fill("ginkgo")
            page.get_by_role("button", name="Show").click()
            page.wait_for_load_state()
            assert 0 < rows.count() <= before, rows.count()
            header = page.locator("table.entities thead th").nth(1)
            for direction, sign in (("ascending", ""), ("descending", "-")):
                header.get_by_role("link").click()
                page.wait_for_url(f"**/table?*sort={sign}*")
                assert header.get_attribute("aria-sort") == direction
                assert page.get_by_label("With the text").input_value() == "ginkgo", "the filter is lost"
            with page.expect_download() as saved:
                page.locator("a.button", has_text="CSV").first.click()
            assert saved.value.suggested_filename.endswith(".csv") and saved.value.path().stat().st_size > 0


TOKEN_NAME = "pages"


def check_administration(world):
    """A visitor with a token uploads, edits, removes and follows jobs, without scripts; no page has violations of axe."""
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as backups:
        make(world.program, home, "testdata/catalog.ttl")
        added = subprocess.run([world.program, "--home", home, "token", "add", TOKEN_NAME, "--scope", "admin"], check=True, capture_output=True, text=True)
        token = added.stdout.strip().splitlines()[-1].split()[-1]
        (pathlib.Path(home) / "lodeseek.toml").write_text((pathlib.Path(home) / "lodeseek.toml").read_text() + f"\n[server]\nbackup-folder = \"{backups}\"\n")
        with clients.Server(world.program, home, "--admin") as server:
            served = World(world.browser, server.address, world.rules, world.program, home)
            served.bypass = True
            context = world.browser.new_context(bypass_csp=True, viewport=NARROW, color_scheme="dark")
            page = context.new_page()
            page.set_default_timeout(60_000)
            page.goto(f"{server.address}/operator/jobs")
            page.wait_for_url("**/operator/login")
            page.get_by_label("Token").fill(token)
            page.get_by_role("button", name="Log in").click()
            page.wait_for_url("**/operator/datasets")
            page.get_by_label("Title or id contains").fill("soil")
            page.get_by_role("button", name="Show").click()
            page.get_by_role("link", name="Edit Thesaurus of soil types").click()
            page.get_by_label("title (en)").fill("Soils of central Europe")
            page.get_by_role("button", name="Save").click()
            wait_for_job(page)
            page.goto(f"{server.address}/dataset/soil-types?lang=en")
            assert page.locator("h1").inner_text() == "Soils of central Europe", page.locator("h1").inner_text()
            late = context.new_page()
            page.goto(f"{server.address}/operator/dataset?id=soil-types")
            late.goto(f"{server.address}/operator/dataset?id=soil-types")
            page.get_by_label("title (en)").fill("Soils of Europe")
            page.get_by_role("button", name="Save").click()
            wait_for_job(page)
            late.get_by_label("title (en)").fill("Soils of the world")
            late.get_by_role("button", name="Save").click()
            late.get_by_role("alert").wait_for()
            assert late.get_by_label("title (en)").input_value() == "Soils of the world", "what was typed is lost"
            assert "Soils of Europe" in late.locator(".present").inner_text(), "the present text is not shown"
            late.add_script_tag(content=world.rules)
            report = late.evaluate("axe.run(document, { resultTypes: ['violations'] })")
            assert not report["violations"], report["violations"][0]
            late.get_by_role("button", name="Save").click()
            wait_for_job(late)
            late.goto(f"{server.address}/dataset/soil-types?lang=en")
            assert late.locator("h1").inner_text() == "Soils of the world", late.locator("h1").inner_text()
            late.close()
            page.goto(f"{server.address}/operator/upload")
            page.locator("input[type=file]").set_input_files(str(ROOT / "testdata/hostile/content.ttl"))
            page.get_by_role("button", name="Upload").click()
            wait_for_job(page)
            page.goto(f"{server.address}/operator/backup")
            page.get_by_role("button", name="Back up now").click()
            wait_for_job(page)
            page.goto(f"{server.address}/operator/dataset?id=port-library")
            page.get_by_label("To remove the dataset, write its id").fill("port-library")
            page.get_by_role("button", name="Remove", exact=True).click()
            wait_for_job(page)
            found = []
            for task in ("", "/sources", "/upload", "/datasets", "/dataset?id=soil-types", "/jobs", "/backup", "/searches", "/audit"):
                for size in (NARROW, WIDE):
                    page.set_viewport_size(size)
                    page.goto(f"{server.address}/operator{task}")
                    over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
                    found += [f"{task} is {over} pixels too wide at {size['width']}"] if over > 0 else []
                    page.eval_on_selector_all("details", "all => all.forEach(one => one.open = true)")
                    page.add_script_tag(content=world.rules)
                    report = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
                    found += [f"{task}: {one['id']}: {one['nodes'][0]['html'][:160]}" for one in report["violations"]]
            assert "edit" in page.locator("main").inner_text(), "no edit in the audit log"
            page.get_by_role("button", name=f"Log out {TOKEN_NAME}").click()
            page.wait_for_url("**/operator/login")
            context.close()
            assert not found, "\n".join(found)


def wait_for_job(page):
    """Waits for the page of an ended job. A page of a running one loads itself again."""
    page.wait_for_url("**/operator/jobs?job=*")
    until(page, lambda: "done" in page.locator("main").inner_text() or "failed" in page.locator("main").inner_text())
    assert "done" in page.locator("main").inner_text(), page.locator("main").inner_text()


def check_public_path(world):
    """Behind a proxy with a path, styles, scripts, links, forms and downloads work, whether the proxy removes the path or not."""
    with world.other("--public-url", "http://localhost/portal/") as served:
        for scripts in (True, False):
            with served.page("/portal/", scripts) as page:
                assert page.locator("header").evaluate("one => getComputedStyle(one).display") == "flex", "no style"
                page.locator("input[name=q]").fill("nitrogen reduction plan")
                page.locator("input[name=q]").press("Enter")
                page.wait_for_url("**/portal/?q=*")
                page.locator("ol.hits h2 a").first.click()
                page.wait_for_url("**/portal/dataset/*")
                with page.expect_download() as saved:
                    page.locator("p.buttons a.button:visible").first.click()
                assert saved.value.path().stat().st_size > 0
                page.get_by_role("button", name="Run").click()
                page.wait_for_url("**/portal/sparql?query=*")
                assert page.locator("table.answer tbody tr").count() > 0, "no rows"
        with served.page("/portal/") as page:
            page.get_by_role("combobox").press_sequentially("str", delay=30)
            page.get_by_role("option").first.click()
            page.wait_for_url("**/portal/dataset/*")


# Files of a theme by name, and settings that use them.
THEME = {
    "style.css": ".own { border-left: 4px solid var(--accent); padding-left: .6rem; }",
    "footer.html": "<p>City of Northport</p>",
    "footer.de.html": "<p>Stadt Northport</p>",
    "start.html": "<p>Open data since 2014.</p>",
    "messages/en.ftl": "box-search = Find\n",
    "files/imprint.html": "<!doctype html><html lang=en><title>Imprint</title><h1>Imprint</h1>",
}
BRANDING = """[portal]
title = "Open data of Northport"
logo = "logo.svg"
color = "#1e3a8a"
dark-color = "#93c5fd"
imprint = "/theme/imprint.html"
accessibility = "https://northport.example.org/accessibility"
contact = "open-data@northport.example.org"
theme = "theme"
"""
LOGO = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 80 40"><rect width="80" height="40" rx="8" fill="#1e3a8a"/></svg>'


def check_branding(world):
    """Title, logo, colours, footer and theme come from the configuration, in the visitor's language."""
    home = pathlib.Path(world.home)
    settings = (home / "lodeseek.toml").read_text()
    for name, text in {**{f"theme/{name}": text for name, text in THEME.items()}, "logo.svg": LOGO, "lodeseek.toml": settings + BRANDING}.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    try:
        with world.other() as served:
            for size, dark, color in ((WIDE, False, "rgb(30, 58, 138)"), (NARROW, True, "rgb(147, 197, 253)")):
                with served.page("/", size=size, dark=dark) as page:
                    assert page.locator("header .name").inner_text().strip() == "Open data of Northport"
                    assert page.locator("header .logo").evaluate("one => one.naturalWidth") > 0, "no logo"
                    assert page.locator("header .name").evaluate("one => getComputedStyle(one).color") == color
                    assert page.locator(".welcome .own").inner_text() == "Open data since 2014."
                    assert page.locator(".welcome .own").evaluate("one => getComputedStyle(one).borderLeftWidth") == "4px", "no style"
                    assert page.get_by_role("button", name="Find").is_visible()
                    links = page.locator("footer").get_by_role("link")
                    assert links.filter(has_text="Contact").get_attribute("href") == "mailto:open-data@northport.example.org"
                    assert links.filter(has_text="Privacy").count() == 0, "a link without an address"
                    links.filter(has_text="Imprint").click()
                    page.wait_for_url("**/theme/imprint.html")
                    assert page.locator("h1").inner_text() == "Imprint"
            with served.page("/?lang=de", scripts=False) as page:
                assert page.locator("footer .own").inner_text() == "Stadt Northport"
                assert page.locator("footer").get_by_role("link", name="Barrierefreiheit").count() == 1
    finally:
        (home / "lodeseek.toml").write_text(settings)


def check_completion(world):
    """Prefixes, classes and properties of the collection are completed in the plain form; a place of an error is selected."""
    for size in (WIDE, NARROW):
        with world.page("/sparql", size=size) as page:
            text = page.locator("textarea#query")
            text.fill("")
            text.press_sequentially("SELECT * { ?s foaf:n", delay=10)
            page.get_by_role("option").first.wait_for()
            assert page.get_by_role("option").first.inner_text().startswith("foaf:name"), page.get_by_role("option").first.inner_text()
            text.press("a")
            text.press("ArrowDown")
            page.wait_for_timeout(200)  # the options are replaced a moment after a key; the active one remains
            assert text.get_attribute("aria-activedescendant") == page.locator("[role=option][aria-selected=true]").get_attribute("id")
            text.press("Enter")
            value = text.input_value()
            assert value == "PREFIX foaf: <http://xmlns.com/foaf/0.1/>\nSELECT * { ?s foaf:name", value
            text.press_sequentially(" ?n . ?s a Pers", delay=10)
            page.get_by_role("option").filter(has_text="Person").first.wait_for()
            text.press("Escape")
            assert page.get_by_role("option").count() == 0 or not page.get_by_role("listbox").is_visible()
            text.press_sequentially(" \"Pers", delay=10)
            page.wait_for_timeout(300)
            assert not page.get_by_role("listbox").is_visible(), "completed within a string"
    with world.page(VIEWS["no-query"], quiet=False) as page:
        chosen = page.evaluate("(() => { const text = document.activeElement; return text.value.slice(text.selectionStart, text.selectionEnd) })()")
        assert chosen == "foaf:", chosen


# Maximum number of clicks for each of the five tasks, from the start page. Typing a query and Enter count as one.
CLICKS = {"find": 2, "turtle": 3, "class and entity": 3, "query": 3, "cite": 4}


class Visitor:
    """A visitor on the start page whose clicks are counted."""

    def __init__(self, page):
        self.page, self.clicks = page, 0

    def search(self, words):
        self.page.locator("input[name=q]").fill(words)
        self.page.keyboard.press("Enter")
        self.page.wait_for_url("**/?q=*")
        self.clicks += 1
        return self

    def click(self, target):
        target.click()
        self.page.wait_for_load_state()
        self.clicks += 1
        return self


def check_five_tasks(world):
    """Five tasks of a new visitor from the start page: find, download Turtle, see classes and an entity, query, cite."""
    for size in (WIDE, NARROW):
        clicks = {}
        with world.page(size=size) as page:
            visitor = Visitor(page).search("air quality measurements")
            assert "air" in page.locator("ol.hits h2").first.inner_text().lower()
            clicks["find"] = visitor.click(page.locator("ol.hits h2 a").first).clicks
        with world.page(size=size) as page:
            visitor = Visitor(page).search("street trees").click(page.locator("ol.hits h2 a").first)
            with page.expect_download() as saved:
                visitor.click(page.locator("p.buttons a.button:visible").filter(has_text="Turtle").first)
            assert saved.value.path().stat().st_size > 0
            clicks["turtle"] = visitor.clicks
        with world.page(size=size) as page:
            visitor = Visitor(page).search("nitrogen reduction plan").click(page.locator("ol.hits h2 a").first)
            assert page.locator(".profile .bars th").first.inner_text(), "no classes"
            visitor.click(page.locator(".examples-of a").first)
            assert page.locator("table.properties tr").count() > 0
            clicks["class and entity"] = visitor.clicks
        with world.page(size=size) as page:
            visitor = Visitor(page).search("nitrogen reduction plan").click(page.locator("ol.hits h2 a").first)
            visitor.click(page.get_by_role("button", name="Run"))
            page.wait_for_url("**/sparql?query=*")
            assert page.locator("table.answer tbody tr").count() > 0
            clicks["query"] = visitor.clicks
        with world.page(size=size) as page:
            visitor = Visitor(page).search("nitrogen reduction plan").click(page.locator("ol.hits h2 a").first)
            visitor.click(page.locator(".toc a[href='#download']")).click(page.locator(".cite summary"))
            assert "@" in page.locator(".cite pre").inner_text()
            clicks["cite"] = visitor.clicks
        print(f"pages: clicks at {size['width']} px: {clicks}")
        assert all(clicks[task] <= most for task, most in CLICKS.items()), clicks


# Inline styles of YASGUI: forbidden by the content security policy and not needed.
STYLES = "Applying inline style violates"


def check_pictures_from_the_editor(world):
    """The bundled editor submits the edited query by keyboard; the results are shown as bars."""
    first = "SELECT ?name ?count { VALUES (?name ?count) { (\"oak\" 12) } }"
    path = "/sparql?query=" + urllib.parse.quote(first)
    with world.other("--editor", world.editor()) as served, served.page(path, known=STYLES) as page:
        link = page.get_by_role("link", name="chart, map and table")
        link.wait_for()
        assert query_of(link) == first, query_of(link)
        page.locator(".CodeMirror textarea").focus()
        page.keyboard.press("Control+A")
        edited = first.replace("12)", "12) (\"elm\" 7)")
        page.keyboard.insert_text(edited)
        until(page, lambda: query_of(link) == edited)  # the editor takes what is typed a moment later
        assert query_of(link) == edited, query_of(link)
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


def check_editor(world):
    """The bundled editor completes terms of the collection, explains an error with its place, and is dark in dark mode."""
    wrong = "SELECT * { ?s foaf:name ?n }"
    with world.other("--editor", world.editor()) as served:
        served.bypass = True
        for dark, least, most in ((False, 200, 255), (True, 0, 80)):
            with served.page("/sparql?query=" + urllib.parse.quote("SELECT * { ?s ?p ?o } LIMIT 1"), dark=dark, quiet=False) as page:
                page.locator(".CodeMirror").wait_for()
                shade = page.locator(".CodeMirror").evaluate("one => getComputedStyle(one).backgroundColor")
                assert all(least <= int(part) <= most for part in re.findall(r"\d+", shade)[:3]), shade
                page.locator(".yasqe_queryButton").click()
                page.locator(".yasr table").first.wait_for()
                page.wait_for_timeout(500)  # the table is laid out after it is drawn
                page.add_script_tag(content=world.rules)
                report = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
                assert not report["violations"], [(one["id"], one["nodes"][0]["html"][:160]) for one in report["violations"]]
        with served.page("/sparql", quiet=False) as page:
            page.locator(".CodeMirror textarea").focus()
            page.keyboard.press("Control+A")
            page.keyboard.insert_text("PREFIX foaf: <http://xmlns.com/foaf/0.1/> SELECT * { ?s foaf:na")
            page.keyboard.press("Control+Space")
            page.locator(".CodeMirror-hint").filter(has_text="foaf/0.1/name").or_(page.locator(".CodeMirror-hint").filter(has_text="foaf:name")).first.wait_for()
            page.keyboard.press("Escape")
            page.locator(".CodeMirror textarea").focus()
            page.keyboard.press("Control+A")
            page.keyboard.insert_text(wrong)
            page.wait_for_timeout(200)
            page.locator(".yasqe_queryButton").click()
            report = page.locator(".error[role=alert]")
            report.wait_for()
            assert "PREFIX foaf:" in report.inner_text(), report.inner_text()
            assert page.locator(".wrong-place").first.inner_text() == "foaf:", "no mark"


def query_of(link):
    """Returns the query of a link."""
    return urllib.parse.parse_qs(urllib.parse.urlsplit(link.get_attribute("href")).query)["query"][0]


# Facet values, in sequence.
CHOSEN = [("Tasks", "Semantic Segmentation"), ("Modalities", "Point cloud")]


def check_tasks_and_modalities(world):
    """Papers with Code datasets are narrowed down by task and by modality."""
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
                    count = int(one.locator(".number").inner_text())
                    one.click()
                    page.wait_for_load_state()
                    assert chips.count() == number, f"{chips.count()} chips with {title}"
                    assert 0 < hits.count() == count < before, (title, count, hits.count())
                for left in (1, 0):
                    chips.first.click()
                    page.wait_for_load_state()
                    assert chips.count() == left
                assert hits.count() == before


CHECKS = [check_search_and_understand, check_flows, check_drawer, check_density, check_narrow_down, check_tasks_and_modalities, check_ask_in_sparql, check_pictures_of_answers,
          check_branding, check_completion, check_editor, check_five_tasks, check_real_datasets, check_pictures_from_the_editor, check_error_messages, check_suggestions, check_search_by_example, check_browse_and_cite, check_tables, check_operator, check_administration, check_public_path, check_hostile_data, check_keyboard,
          check_narrow_screens, check_appearance, check_weight_and_time, check_axe]


def make(program, home, *sources):
    """Creates a home with these collections."""
    for command in (*(["load", source] for source in sources), ["index", "--analysis", "acordar", "--ranking", "words"]):
        subprocess.run([program, "--home", home, *command], check=True, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def shown_views(world, names, style=""):
    """Opens views, wide and light, narrow and dark, with further styles. Yields their names and pages."""
    world.bypass = bool(style)
    try:
        for name in names:
            for kind, size, dark in (("wide", WIDE, False), ("narrow", NARROW, True)):
                with world.page(VIEWS[name], size=size, dark=dark, quiet=False) as page:
                    if style:
                        page.add_style_tag(content=style)
                        page.evaluate("document.fonts.ready.then(() => true)")
                    yield f"{name}-{kind}", page
    finally:
        world.bypass = False


def pictures(world, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in shown_views(world, SHOWN):
        page.screenshot(path=folder / f"{name}.png")


def option(name):
    """Returns the value of an option of the command line."""
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else None


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    folder = option("--pictures") and pathlib.Path(option("--pictures"))
    values = [option(name) for name in ("--pictures", "--home")]
    chosen = [name for name in sys.argv[2:] if not name.startswith("--") and name not in values]
    passed = failed = skipped = 0
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        if not browser:
            raise peers.Missing("chromium is not installed")
        sys.path.insert(0, str(playwright()))
        rules = npm_file(*AXE).decode()
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
                except Exception as error:  # the remaining checks must run
                    failed += 1
                    print(f"pages {name} ... FAILED: {error or type(error).__name__}", flush=True)
            chromium.close()
    print(f"pages: {passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
