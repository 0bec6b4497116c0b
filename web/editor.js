// Puts YASGUI in the place of the plain form of /sparql, with its query. Without this file the form works as it is.
import Yasgui from "@zazuko/yasgui";
import "@zazuko/yasgui/build/yasgui.min.css";

const form = document.querySelector("form.query");
if (form) {
  // Completions of prefixes, classes and properties ask servers elsewhere; the page may ask none but its own.
  Yasgui.Yasqe.defaults.autocompleters = ["variables"];
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
}
