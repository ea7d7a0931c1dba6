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
    // Wide ones are scaled: the width that counts is the one without that.
    const inline = [...document.querySelectorAll("mjx-container:not([display])")];
    inline.forEach((math) => math.classList.remove("wide"));
    const wide = inline.filter((math) => {
      const width = math.querySelector("svg")?.getBoundingClientRect().width ?? 0;
      return width > math.closest("p, li, dd, td, div").clientWidth;
    });
    wide.forEach((math) => math.classList.add("wide"));
    for (const box of document.querySelectorAll(BOXES)) {
      if (box.scrollWidth > box.clientWidth + 1 && getComputedStyle(box).overflowX !== "visible") {
        box.tabIndex = 0;
      } else {
        box.removeAttribute("tabindex");
      }
    }
  }

  // A figure opens at its full size.
  function linkFigures() {
    for (const image of document.querySelectorAll(".bd-article figure > img")) {
      const link = document.createElement("a");
      link.className = "full-figure";
      link.href = image.src;
      image.replaceWith(link);
      link.append(image);
    }
  }

  // Roles and labels of other packages that screen readers stumble over.
  function mendRoles() {
    for (const item of document.querySelectorAll("[role=doc-biblioentry]")) {
      item.setAttribute("role", "listitem");
    }
    for (const item of document.querySelectorAll("summary[aria-label]")) {
      item.removeAttribute("aria-label");
    }
  }

  // One switch for all folded code; what is chosen is remembered.
  function offerAllCode() {
    const folded = [...document.querySelectorAll(".cell details.hide")];
    const button = document.querySelector(".show-all-code");
    if (!button) {
      return;
    }
    const say = (open) => {
      for (const details of folded) {
        details.open = open;
      }
      button.textContent = open ? "Fold the code again" : "Show all code";
      button.setAttribute("aria-pressed", String(open));
    };
    let open = false;
    try {
      open = localStorage.getItem("all-code") === "shown";
    } catch {
      // a browser that keeps nothing forgets the choice
    }
    say(open);
    button.addEventListener("click", () => {
      open = !open;
      say(open);
      try {
        localStorage.setItem("all-code", open ? "shown" : "folded");
      } catch {
        // as above
      }
    });
  }

  // Filters of the scoreboard: by kind of result and by both verdicts. The choice stands in the
  // address. A row that only bundles others is no statement: it is shown where nothing is chosen.
  function offerFilters() {
    const rows = [...document.querySelectorAll(".scoreboard tbody tr")];
    if (rows.length === 0) {
      return;
    }
    const verdict = (row, column) => row.cells[column].querySelector(".verdict")?.textContent ?? "";
    const filters = [
      ["kind", "kind", (row) => /kind-(\w+)/.exec(row.cells[0].innerHTML)?.[1] ?? ""],
      ["stated", "as stated", (row) => verdict(row, 2)],
      ["now", "now", (row) => verdict(row, 3)],
    ];
    const address = new URL(location);
    const counted = rows.filter((row) => !row.querySelector(".bundle"));
    const bar = document.createElement("div");
    bar.className = "scoreboard-filters";
    const said = document.createElement("output");
    const chosen = filters.map(([key, name, of]) => {
      const select = document.createElement("select");
      select.add(new Option("all", ""));
      for (const value of new Set(counted.map(of).filter(Boolean))) {
        select.add(new Option(value, value, false, value === address.searchParams.get(key)));
      }
      select.addEventListener("change", apply);
      const label = document.createElement("label");
      label.append(name, select);
      bar.append(label);
      return select;
    });
    function apply() {
      const any = chosen.some((select) => select.value);
      const fits = (row) => filters.every(([, , of], i) => !chosen[i].value || of(row) === chosen[i].value);
      for (const row of rows) {
        row.hidden = any && !(counted.includes(row) && fits(row));
      }
      said.textContent = `${counted.filter((row) => !row.hidden).length} of ${counted.length} statements`;
      filters.forEach(([key], i) => {
        address.searchParams.delete(key);
        if (chosen[i].value) {
          address.searchParams.set(key, chosen[i].value);
        }
      });
      address.hash = location.hash;
      history.replaceState(history.state, "", address);
    }
    bar.append(said);
    document.querySelector(".scoreboard").before(bar);
    apply();
  }

  // DOMContentLoaded waits for MathJax: a button put in then pushes down what is being read.
  document.addEventListener("readystatechange", () => {
    if (document.readyState !== "interactive") {
      return;
    }
    linkFigures();
    mendRoles();
    offerAllCode();
    offerFilters();
    document.querySelector(".bd-sidebar-primary")?.setAttribute("role", "complementary");
    // The arrow that unfolds a part of the sidebar has no words of its own.
    for (const arrow of document.querySelectorAll(".bd-sidebar-primary summary")) {
      arrow.setAttribute("aria-label", "Show or hide the pages below");
    }
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
