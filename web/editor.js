// Puts YASGUI in the place of the plain form of /sparql, with its query. Without this file the form works as it is.
import Yasgui from "@zazuko/yasgui";
import "@zazuko/yasgui/build/yasgui.min.css";
import "./theme.css";

const form = document.querySelector("form.query");
// On narrow screens the editor is wider than the page: the plain form stays.
if (form && matchMedia("(min-width: 52rem)").matches) {
  // Completions of prefixes, classes and properties ask servers elsewhere; the page may ask none but its own.
  Yasgui.Yasqe.defaults.autocompleters = ["variables"];
  // The editor takes the tab key for itself: whoever has no mouse could neither leave it nor reach what is behind it.
  Object.assign(Yasgui.Yasqe.defaults.extraKeys, { Tab: false, "Shift-Tab": false });
  const place = document.createElement("div");
  form.before(place);
  const yasgui = new Yasgui(place, {
    requestConfig: { endpoint: new URL("/sparql", location.href).href, method: "POST" },
    endpointCatalogueOptions: { getData: () => [] },
    copyEndpointOnNewTab: true,
    persistenceId: null,
  });
  yasgui.getTab().setQuery(form.elements.query.value);
  form.hidden = true;

  // Bars and maps are drawn by the server: a link leads to the answer as it shows it.
  const link = document.createElement("a");
  link.textContent = "This answer as chart, map and table without scripts";
  const beside = document.createElement("p");
  beside.className = "plain-answer";
  beside.append(link);
  const followed = new WeakSet();
  /** Has the link lead to the query of the tab in sight, now and whenever it changes. */
  const follow = () => {
    const tab = yasgui.getTab();
    const [editor, answer] = [tab?.getYasqe(), tab?.getYasr()];
    if (!editor || !answer) return;
    const lead = () => {
      link.href = `/sparql?${new URLSearchParams({ format: "html", query: editor.getValue() })}`;
    };
    if (!followed.has(editor)) {
      followed.add(editor);
      editor.on("change", () => {
        if (yasgui.getTab()?.getYasqe() === editor) lead();
      });
    }
    answer.rootEl.before(beside);
    lead();
  };
  yasgui.on("tabSelect", follow);
  follow();
}
