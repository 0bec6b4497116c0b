// Comfort alone: without it a button submits, and the year is shown when the form comes back.
"use strict";
for (const box of document.querySelectorAll("form.search textarea")) {
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      box.form.requestSubmit();
    }
  });
}
for (const slider of document.querySelectorAll("form.years input[type=range]")) {
  const shown = slider.form.querySelector("output");
  slider.addEventListener("input", () => { shown.value = slider.value; });
}
