// Optional: without it, a button submits the form and no titles are suggested.
"use strict";

// Address of the portal: behind a proxy it can have a path.
const ROOT = new URL(".", document.currentScript.src);

// Titles while somebody types: the box becomes a combobox with a list (WAI-ARIA Authoring Practices, editable combobox with
// list autocomplete). The focus stays in the box; what is active is told by aria-activedescendant.
class Suggestions {
  static PAUSE = 120;
  static LEAST = 2;

  constructor(box) {
    this.box = box;
    this.list = document.createElement("ul");
    this.list.id = `${box.id}-titles`;
    this.list.className = "titles";
    this.list.hidden = true;
    this.list.setAttribute("role", "listbox");
    this.list.setAttribute("aria-label", box.dataset.suggestions ?? "");
    box.form.append(this.list);
    const attributes = {
      role: "combobox", autocomplete: "off", "aria-autocomplete": "list", "aria-haspopup": "listbox",
      "aria-expanded": "false", "aria-controls": this.list.id,
    };
    for (const [name, value] of Object.entries(attributes)) box.setAttribute(name, value);
    box.addEventListener("input", () => this.wait());
    box.addEventListener("blur", () => this.close());
    // The focus would leave the box before the click is done.
    this.list.addEventListener("mousedown", (event) => event.preventDefault());
  }

  get isOpen() { return !this.list.hidden; }

  wait() {
    clearTimeout(this.timer);
    this.asked?.abort();
    const typed = this.box.value.trim();
    if (typed.length < Suggestions.LEAST) return this.close();
    this.timer = setTimeout(() => this.ask(typed), Suggestions.PAUSE);
  }

  async ask(typed) {
    this.asked = new AbortController();
    const signal = this.asked.signal;
    try {
      const answer = await fetch(new URL(`suggest?q=${encodeURIComponent(typed)}`, ROOT), { signal });
      if (!answer.ok) return this.close();
      const [, titles, descriptions, addresses] = await answer.json();
      if (!signal.aborted && document.activeElement === this.box) this.show(titles, descriptions, addresses);
    } catch {
      if (!signal.aborted) this.close();
    }
  }

  show(titles, descriptions, addresses) {
    const active = this.list.children[this.active]?.dataset.address;
    this.list.replaceChildren(...titles.map((title, place) => {
      const option = document.createElement("li");
      option.id = `${this.list.id}-${place}`;
      option.setAttribute("role", "option");
      option.setAttribute("aria-selected", "false");
      const [name, about] = [document.createElement("b"), document.createElement("span")];
      name.textContent = title;
      about.textContent = descriptions[place];
      option.append(name, " ", about);
      const { pathname, search } = new URL(addresses[place], location.href);
      option.dataset.address = pathname + search;
      option.addEventListener("click", () => location.assign(option.dataset.address));
      return option;
    }));
    this.list.hidden = titles.length === 0;
    this.box.setAttribute("aria-expanded", String(this.isOpen));
    // Options can be replaced right after an arrow key.
    this.activate([...this.list.children].findIndex((option) => option.dataset.address === active));
  }

  close() {
    clearTimeout(this.timer);
    this.asked?.abort();
    this.activate(-1);
    this.list.hidden = true;
    this.box.setAttribute("aria-expanded", "false");
  }

  activate(place) {
    this.active = place;
    [...this.list.children].forEach((option, at) => option.setAttribute("aria-selected", String(at === place)));
    const option = this.list.children[place];
    if (option) {
      this.box.setAttribute("aria-activedescendant", option.id);
      option.scrollIntoView({ block: "nearest" });
    } else {
      this.box.removeAttribute("aria-activedescendant");
    }
  }

  // Whether the key was for the list. Behind the last option, and before the first, is the box.
  takes(event) {
    if (!this.isOpen) return false;
    const count = this.list.children.length;
    switch (event.key) {
      case "ArrowDown": this.activate(this.active + 1 < count ? this.active + 1 : -1); return true;
      case "ArrowUp": this.activate(this.active < 0 ? count - 1 : this.active - 1); return true;
      case "Escape": this.close(); return true;
      case "Enter":
        if (this.active < 0) return false;
        this.list.children[this.active].click();
        return true;
      default: return false;
    }
  }
}

for (const box of document.querySelectorAll("form.search input[type=search]")) {
  const suggestions = new Suggestions(box);
  box.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (suggestions.takes(event)) {
      event.preventDefault();
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      suggestions.close();
      box.form.requestSubmit();
    }
  });
}
// The drawer of filters on narrow screens closes by Escape.
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && location.hash === "#narrow") location.hash = "#content";
});
