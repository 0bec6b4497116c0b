// Puts YASGUI in the place of the plain form of /sparql, with its query. Without this file the form works as it is.
import Yasgui from "@zazuko/yasgui";
import "@zazuko/yasgui/build/yasgui.min.css";
import "./theme.css";

const { Yasqe } = Yasgui;
// Address of the portal: behind a proxy it can have a path.
const ROOT = new URL(".", document.currentScript.src);

/** Prefixes, classes and properties of the collection, read once. */
let terms;
const read = async () => {
  terms ??= fetch(new URL("api/terms", ROOT)).then((answer) => (answer.ok ? answer.json() : Promise.reject(answer.status)));
  return terms.catch(() => ({ prefixes: {}, classes: [], properties: [] }));
};

/** The terms of a list that begin with what is typed, or whose local names do. */
const beginning = (list) => async (_, token) => {
  const typed = (token?.autocompletionString || token?.string || "").replace(/^</, "");
  const found = (await read())[list].map(({ iri }) => iri);
  return found.filter((iri) => iri.startsWith(typed) || iri.split(/[#/]/).pop().toLowerCase().startsWith(typed.toLowerCase())).slice(0, 100);
};

const form = document.querySelector("form.query");
// On narrow screens the editor is wider than the page: the plain form stays.
if (form && matchMedia("(min-width: 52rem)").matches) {
  // The editor's own completions query other servers, which the content security policy forbids.
  Object.assign(Yasqe.Autocompleters.class, { get: beginning("classes") });
  Object.assign(Yasqe.Autocompleters.property, { get: beginning("properties") });
  const prefixes = async () => Object.entries((await read()).prefixes).map(([prefix, namespace]) => `${prefix}: <${namespace}>`).sort();
  Object.assign(Yasqe.Autocompleters.prefixes, { get: prefixes, persistenceId: null });
  Yasqe.defaults.autocompleters = ["prefixes", "property", "class", "variables"];
  // The tab key moves the focus, so that the editor can be left by keyboard.
  Object.assign(Yasqe.defaults.extraKeys, { Tab: false, "Shift-Tab": false });
  const place = document.createElement("div");
  form.before(place);
  const yasgui = new Yasgui(place, {
    requestConfig: { endpoint: new URL("sparql", ROOT).href, method: "POST" },
    endpointCatalogueOptions: { getData: () => [] },
    copyEndpointOnNewTab: true,
    persistenceId: null,
  });
  yasgui.getTab().setQuery(form.elements.query.value);
  form.hidden = true;

  // Names for screen readers that YASGUI lacks.
  const label = () => {
    const name = (selector, text) => place.querySelectorAll(selector).forEach((one) => {
      if (!one.hasAttribute("aria-label")) one.setAttribute("aria-label", text);
    });
    name(".CodeMirror textarea", form.querySelector("label[for=query]").textContent);
    name("select.tableSizer", "Page size");
    for (const title of place.querySelectorAll("th .dt-column-title:empty")) title.textContent = "#";
  };
  new MutationObserver(label).observe(place, { childList: true, subtree: true });
  label();

  // Bars and maps are drawn by the server: a link leads to the answer as it shows it.
  const link = document.createElement("a");
  link.textContent = "This answer as chart, map and table without scripts";
  const beside = document.createElement("p");
  beside.className = "plain-answer";
  beside.append(link);
  // Errors of syntax are explained by the server, as without scripts; the editor marks their place.
  const report = document.createElement("div");
  report.className = "error";
  report.setAttribute("role", "alert");
  report.hidden = true;
  place.before(report);
  let wrong;
  const explain = async (editor, response) => {
    report.hidden = true;
    wrong?.clear();
    if (!(response instanceof Error) || !/^line \d+, column \d+: /.test(response.message)) return;
    const query = editor.getValue();
    const body = new URLSearchParams({ query, format: "html", lang: document.documentElement.lang });
    const page = await fetch(new URL("sparql", ROOT), { method: "POST", headers: { Accept: "text/html" }, body });
    const failure = new DOMParser().parseFromString(await page.text(), "text/html").querySelector("#failure");
    if (!failure || editor.getValue() !== query) return;
    report.replaceChildren(...failure.childNodes);
    report.hidden = false;
    const marked = report.querySelector("pre mark");
    if (!marked) return;
    const line = Number(report.querySelector("pre .line").textContent) - 1;
    // A space separates the line number from the line.
    const ch = marked.previousSibling.textContent.length - 1;
    wrong = editor.getDoc().markText({ line, ch }, { line, ch: ch + marked.textContent.length }, { className: "wrong-place" });
  };
  const followed = new WeakSet();
  /** Sets the address of the link to the query of the visible tab, now and whenever it changes. */
  const follow = () => {
    const tab = yasgui.getTab();
    const [editor, answer] = [tab?.getYasqe(), tab?.getYasr()];
    if (!editor || !answer) return;
    const lead = () => {
      link.href = new URL(`sparql?${new URLSearchParams({ format: "html", query: editor.getValue(), lang: document.documentElement.lang })}`, ROOT).href;
    };
    if (!followed.has(editor)) {
      followed.add(editor);
      editor.on("queryResponse", explain);
      editor.on("change", () => {
        if (yasgui.getTab()?.getYasqe() === editor) lead();
      });
    }
    answer.rootEl.before(beside);
    lead();
  };
  yasgui.on("tabSelect", follow);
  follow();
} else if (form) {
  const script = document.createElement("script");
  script.src = new URL("query.js", ROOT).href;
  document.head.append(script);
}
