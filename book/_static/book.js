// Small repairs of the theme, without which a page flashes or cannot be read by keyboard.
(() => {
  "use strict";

  // The theme picks light or dark only after the page is drawn; pick it before.
  const root = document.documentElement;
  if (!["light", "dark"].includes(root.dataset.theme)) {
    root.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }

  const BOXES = ".pst-scrollable-table-container, .highlight pre, div.math, mjx-container";

  // What scrolls sideways must be reachable by Tab; what does not should not be in its way.
  function markScrollable() {
    for (const math of document.querySelectorAll("mjx-container:not([display])")) {
      const width = math.querySelector("svg")?.getBoundingClientRect().width ?? 0;
      math.classList.toggle("wide", width > math.closest("p, li, dd, div").clientWidth);
    }
    for (const box of document.querySelectorAll(BOXES)) {
      if (box.scrollWidth > box.clientWidth + 1 && getComputedStyle(box).overflowX !== "visible") {
        box.tabIndex = 0;
      } else {
        box.removeAttribute("tabindex");
      }
    }
  }

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelector(".bd-sidebar-primary")?.setAttribute("role", "complementary");
    // The name read aloud must hold the words on the button.
    for (const button of document.querySelectorAll(".search-button-field")) {
      button.removeAttribute("aria-label");
    }
  });
  addEventListener("load", async () => {
    await window.MathJax?.startup?.promise?.catch(() => {});
    markScrollable();
    new ResizeObserver(markScrollable).observe(document.querySelector("main"));
  });
})();
