// Optional: completes prefixes, classes and properties in SPARQL queries. Without it the form works as it is.
"use strict";

// Address of the portal: behind a proxy it can have a path.
const PORTAL = new URL(".", document.currentScript.src);

// The focus stays in the text; aria-activedescendant names the active option. Enter and Tab accept an option only after an
// arrow key made it active, so that both keep their usual meaning.
class Completion {
  static PAUSE = 100;
  static LEAST = 2;
  static SHOWN = 8;

  constructor(text) {
    this.text = text;
    this.list = document.createElement("ul");
    this.list.id = `${text.id}-terms`;
    this.list.className = "titles terms";
    this.list.hidden = true;
    this.list.setAttribute("role", "listbox");
    this.list.setAttribute("aria-label", text.dataset.completions ?? "");
    const frame = document.createElement("div");
    frame.className = "completed";
    text.before(frame);
    frame.append(text, this.list);
    text.setAttribute("aria-autocomplete", "list");
    text.setAttribute("autocomplete", "off");
    // Lines are not wrapped, so that the place of the cursor follows from its line.
    text.wrap = "off";
    text.addEventListener("input", () => this.wait());
    text.addEventListener("blur", () => this.close());
    text.addEventListener("keydown", (event) => this.press(event));
    // The focus would leave the text before the click is handled.
    this.list.addEventListener("mousedown", (event) => event.preventDefault());
  }

  get isOpen() { return !this.list.hidden; }

  static load() {
    Completion.terms ??= fetch(new URL("api/terms", PORTAL)).then((answer) => (answer.ok ? answer.json() : null)).catch(() => null);
    return Completion.terms;
  }

  wait() {
    clearTimeout(this.timer);
    const word = wordBefore(this.text.value.slice(0, this.text.selectionStart));
    if (word === null || word.length < Completion.LEAST) return this.close();
    this.timer = setTimeout(async () => {
      const terms = await Completion.load();
      const now = wordBefore(this.text.value.slice(0, this.text.selectionStart));
      if (terms && now === word && document.activeElement === this.text) this.show(this.options(terms, word));
    }, Completion.PAUSE);
  }

  options(terms, word) {
    const before = this.text.value.slice(0, this.text.selectionStart - word.length);
    return completions(terms, this.text.value, before, word);
  }

  show(found) {
    const active = this.found?.[this.active]?.text;
    this.found = found.slice(0, Completion.SHOWN);
    this.active = -1;
    this.list.replaceChildren(...this.found.map((one, place) => {
      const option = document.createElement("li");
      option.id = `${this.list.id}-${place}`;
      option.setAttribute("role", "option");
      option.setAttribute("aria-selected", "false");
      const [name, iri] = [document.createElement("b"), document.createElement("span")];
      name.textContent = one.text;
      iri.textContent = one.iri;
      option.append(name, iri);
      option.addEventListener("click", () => this.accept(place));
      return option;
    }));
    this.list.hidden = this.found.length === 0;
    this.text.removeAttribute("aria-activedescendant");
    if (!this.isOpen) return;
    this.text.setAttribute("aria-controls", this.list.id);
    this.list.style.top = `${this.below()}px`;
    // Options can be replaced right after an arrow key.
    this.activate(this.found.findIndex(({ text }) => text === active));
  }

  /** Returns the distance of the line below the cursor from the top of the text, in pixels. */
  below() {
    const style = getComputedStyle(this.text);
    const lines = this.text.value.slice(0, this.text.selectionStart).split("\n").length;
    const top = lines * parseFloat(style.lineHeight) + parseFloat(style.paddingTop) + parseFloat(style.borderTopWidth);
    return Math.min(Math.max(top - this.text.scrollTop, 0) + 4, this.text.offsetHeight);
  }

  close() {
    clearTimeout(this.timer);
    this.list.hidden = true;
    this.active = -1;
    this.text.removeAttribute("aria-activedescendant");
  }

  press(event) {
    if (!this.isOpen || event.isComposing) return;
    const { key } = event;
    if (key === "ArrowDown" || key === "ArrowUp") this.move(key === "ArrowDown" ? 1 : -1);
    else if (key === "Escape") this.close();
    else if ((key === "Enter" || key === "Tab") && this.active >= 0) this.accept(this.active);
    else return;
    event.preventDefault();
  }

  move(step) {
    const count = this.found.length;
    this.activate(this.active < 0 && step < 0 ? count - 1 : (this.active + step + count) % count);
  }

  activate(active) {
    if (active < 0) return;
    this.active = active;
    [...this.list.children].forEach((option, place) => option.setAttribute("aria-selected", String(place === active)));
    this.text.setAttribute("aria-activedescendant", this.list.children[active].id);
    this.list.children[active].scrollIntoView({ block: "nearest" });
  }

  accept(place) {
    const { text, declaration } = this.found[place];
    const end = this.text.selectionStart;
    const word = wordBefore(this.text.value.slice(0, end)) ?? "";
    this.text.setRangeText(text, end - word.length, end, "end");
    if (declaration) this.text.setRangeText(declaration, 0, 0, "preserve");
    this.close();
    this.text.dispatchEvent(new Event("change", { bubbles: true }));
  }
}

/** The name before the cursor; null within a variable, an IRI, a string, a comment, or a language tag. */
function wordBefore(before) {
  const line = before.slice(before.lastIndexOf("\n") + 1);
  const outside = line.replace(/<[^<>\s]*>/g, " ").replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, " ");
  if (/["'#]|<\S*$/.test(outside)) return null;
  const word = /[\p{L}\p{N}_:.-]*$/u.exec(line)[0];
  return /[?$@^\\]$/.test(line.slice(0, line.length - word.length)) ? null : word;
}

/** The options for a name: after PREFIX namespaces, after `a` classes, else properties first. */
function completions(terms, query, before, word) {
  const typed = word.toLowerCase();
  if (/PREFIX\s+$/i.test(before)) {
    return Object.entries(terms.prefixes).filter(([prefix]) => `${prefix}:`.startsWith(typed))
      .map(([prefix, iri]) => ({ text: `${prefix}: <${iri}>`, iri }));
  }
  // Declared prefixes as [prefix, namespace], the longest namespace first; then well-known ones.
  const declarations = [...query.matchAll(/PREFIX\s+([\p{L}\p{N}_.-]*):\s*<([^<>\s]+)>/giu)].map((one) => [one[1], one[2]]);
  declarations.sort((a, b) => b[1].length - a[1].length);
  const isDeclared = (prefix) => declarations.some(([declared]) => declared === prefix);
  const known = Object.entries(terms.prefixes).filter(([prefix]) => !isDeclared(prefix));
  const option = ({ iri }) => {
    const [prefix, space] = [...declarations, ...known].find(([, namespace]) => iri.startsWith(namespace)) ?? [];
    const local = space === undefined ? "" : iri.slice(space.length);
    // Other local names would need escapes.
    if (!/^[\p{L}_][\p{L}\p{N}_-]*$/u.test(local)) return { text: `<${iri}>`, iri, name: iri.split(/[#/]/).pop() };
    const declaration = isDeclared(prefix) ? "" : `PREFIX ${prefix}: <${space}>\n`;
    return { text: `${prefix}:${local}`, iri, name: local, declaration };
  };
  const fits = (one) => one.text.toLowerCase().startsWith(typed) || !typed.includes(":") && one.name.toLowerCase().startsWith(typed);
  const wantsClass = /(?:\ba|rdf:type|rdfs:domain|rdfs:range)\s+$/.test(before);
  const lists = wantsClass ? [terms.classes] : [terms.properties, terms.classes];
  return lists.flatMap((list) => list.map(option).filter(fits));
}

for (const text of document.querySelectorAll("textarea[data-completions]")) new Completion(text);

/** Sends short queries by GET, so that the address of the result has the query, and long ones by POST. */
function chooseMethod(form) {
  const parameters = new URLSearchParams(new FormData(form)).toString();
  const address = `${new URL(form.action).pathname}?${parameters}`;
  form.method = address.length <= Number(form.dataset.maxAddress) ? "get" : "post";
}

for (const form of document.querySelectorAll("form[data-max-address]")) form.addEventListener("submit", () => chooseMethod(form));

/** Selects the place of a syntax error in the query. */
function selectError(text, report) {
  const mark = report.querySelector("mark");
  const line = Number(report.querySelector(".line").textContent);
  const lines = text.value.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  // A space separates the line number from the line.
  const column = mark.previousSibling.textContent.length - 1;
  text.focus({ preventScroll: true });
  text.setSelectionRange(start + column, start + column + mark.textContent.length);
}

const wrong = document.querySelector("#failure pre:has(mark)");
const query = document.querySelector("form.query textarea");
if (wrong && query) selectError(query, wrong);
