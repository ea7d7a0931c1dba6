// The page "Which bound, for my numbers?": fields, table, and an address that keeps the numbers.
(() => {
  "use strict";
  const { CURVES, FORMULAS, complete, first, subsets } = window.Bounds;
  const { draw, written } = window.BoundsChart;

  // name, label, least, most, default (null: may be left empty), how its slider runs.
  const LOG = "log"; // by factors
  const ONE = "one"; // by whole numbers
  const WHOLE = "whole"; // by factors, whole numbers
  const GROUPS = [
    ["The task and the sample", [
      ["T", "T, bits of a string", 2, 100, 20, ONE],
      ["d", "d, bits of each set", 1, 100, 2, ONE],
      ["W", "W, sets", 1, 100, 10, ONE],
      ["m", "m, examples", 10, 1e20, 1e6, WHOLE],
      ["delta", "δ, probability that a bound fails", 1e-6, 0.5, 0.05, LOG],
    ]],
    ["The loss", [
      ["b", "b, range of the loss", 0.01, 1e4, null, LOG, "W, for outputs in [0, √W]"],
      ["r", "r, training risk", 0, 10, 0, LOG],
      ["trivial", "risk of the best constant", 0.001, 10, 0.25, LOG],
    ]],
    ["The network and its noise (P1)", [
      ["N", "‖θ‖², squared norm of all weights", 0.001, 1e12, null, LOG, "L of Theorem 10"],
      ["G", "G, sharpness: what noise σ costs, over σ²", 0.001, 1e12, null, LOG, "Gᵤ of Theorem 5"],
      ["sigma", "σ, noise on the weights", 1e-8, 10, null, LOG, "the best for each bound"],
      ["Sigma", "Σ, sub-Gaussian constant of the loss", 1e-4, 1e3, 0.01, LOG],
      ["C", "C, constant of the groups of weights", 0.001, 1e20, null, LOG, "‖θ‖² G, one group"],
    ]],
    ["Counting", [
      ["Theta", "Θ, stored weights", 1, 1e12, null, WHOLE, "those of the hand-written network"],
      ["bits", "bits of a stored weight", 1, 64, 32, ONE],
      ["classes", "pairs (d, W) that were possible", 1, 1e6, null, WHOLE, "W"],
    ]],
    ["Your own posterior", [
      ["K", "K, nats from the prior", 0, 1e9, null, LOG, "no certificate"],
      ["rhat", "r̂, mean loss of the drawn networks", 0, 10, 0.02, LOG],
      ["draws", "draws of a network and an example", 1, 1e9, 1000, WHOLE],
    ]],
    ["Norms of one attention layer (P3, P4)", [
      ["Wqk", "‖W_QK‖₁,₁, all entries", 1e-6, 1e9, null, LOG, "no bounds from norms"],
      ["w", "‖w‖₁, read-out", 1e-6, 1e9, 1, LOG],
      ["Wc", "‖W_c‖₁,∞, largest column", 1e-6, 1e9, 1, LOG],
      ["Wv", "‖W_v‖₁,∞, largest column", 1e-6, 1e9, 1, LOG],
      ["x", "‖x‖₂, longest token", 1e-3, 1e3, 1.4142, LOG],
      ["lip", "L, Lipschitz constant of the activation", 1e-3, 1e3, 1, LOG],
      ["D", "width of a token", 2, 1e6, null, WHOLE, "T + 3"],
      ["C21", "C₂,₁, largest (2, 1) norm of two layers", 1e-6, 1e9, null, LOG, "2 log T √(dW (T + 2))"],
    ]],
  ];
  const FIELDS = GROUPS.flatMap(([, fields]) =>
    fields.map(([name, label, least, most, usual, run, empty]) =>
      ({ name, label, least, most, usual, run, empty })));
  const BY_NAME = Object.fromEntries(FIELDS.map((field) => [field.name, field]));
  const RULES = [
    ["d", (v) => v.d <= v.T, (v) => `a set of ${v.d} bits does not fit into ${v.T} bits: take d from 1 to ${v.T}`],
    ["W", (v) => v.W <= v.T, (v) => `the formulas are for at most T = ${v.T} sets: take W from 1 to ${v.T}`],
    ["W", (v) => v.W <= subsets(v.T, v.d), (v) => `there are only ${subsets(v.T, v.d)} sets of ${v.d} out of ${v.T} bits`],
    ["r", (v) => v.r <= complete(v).b, (v) => `the risk cannot exceed the range b = ${complete(v).b} of the loss`],
    ["rhat", (v) => v.rhat <= complete(v).b, (v) => `the loss cannot exceed its range b = ${complete(v).b}`],
  ];
  const PRESETS = [
    ["E.3, the example of P1", {}, "thm2 analytic tied wide bits occam edelman"],
    ["PARITY of 20 bits", { d: 20, W: 1, classes: 20 }, "thm2 wide bits occam heldout pass chain"],
    ["Ten 2-parities, constants proved", { m: 1e4 }, "hoeffding tied wide bits two mixture occam heldout"],
    ["The exact network of 50 bits", { T: 50, W: 25, m: 1e5, N: 5743.27, G: 3247, C: 64290, delta: 0.045 },
      "hoeffding tied wide klrate bits two mixture occam"],
    ["A trained layer, 16 bits", { T: 16, W: 1, m: 1024, r: 0.0005, N: 67, G: 12, Theta: 659, Wc: 146, Wqk: 8.28, rhat: 0.03 },
      "thm2 hoeffding tied long free long1 free1 bits occam heldout"],
  ].map(([title, changed, shown]) => ({ title, changed, shown: shown.split(" ") }));
  const usual = () => Object.fromEntries(FIELDS.map((field) => [field.name, field.usual]));
  const KINDS = {
    proved: "Proved with every constant (solid)",
    premise: "Constants known, a premise is not proved (dashed)",
    unknown: "Constant unknown, set to 1 (dotted)",
  };

  // A number as people write it: 1e6, 10^6, .05; null for an empty field.
  function number(text) {
    const plain = text.trim().replace("−", "-");
    if (plain === "") return null;
    const powers = /^([\d.]+)\^(-?\d+)$/.exec(plain);
    if (powers) return Number(powers[1]) ** Number(powers[2]);
    return /^[-+\d.e]+$/i.test(plain) ? Number(plain) : NaN;
  }

  // The numbers of all fields, and for each field that is refused the reason.
  function read(texts) {
    const values = {};
    const refused = {};
    for (const { name, least, most, usual: given, run } of FIELDS) {
      const value = number(texts[name]);
      values[name] = value;
      if (value === null) {
        if (given !== null) refused[name] = `a number from ${written(least)} to ${written(most)} is needed`;
      } else if (Number.isNaN(value)) {
        refused[name] = `“${texts[name]}” is no number; write 1000, 1e3 or 10^3`;
      } else if (value < least || value > most) {
        refused[name] = `${texts[name].trim()} is outside ${written(least)} to ${written(most)}`;
      } else if (run !== LOG && !Number.isInteger(value)) {
        refused[name] = `${value} is not a whole number`;
      }
    }
    if (Object.keys(refused).length === 0) {
      for (const [name, met, why] of RULES) {
        if (!refused[name] && !met(values)) refused[name] = why(values);
      }
    }
    return { values, refused };
  }

  // The address: what differs from the first preset, and which curves are shown.
  function address(texts, shown) {
    const start = PRESETS[0];
    const parts = FIELDS.filter(({ name, usual: given }) => texts[name].trim() !== (given === null ? "" : String(given)))
      .map(({ name }) => [name, texts[name].trim()]);
    const listed = CURVES.filter(({ id }) => shown.has(id)).map(({ id }) => id);
    if (listed.join() !== CURVES.filter(({ id }) => start.shown.includes(id)).map(({ id }) => id).join()) {
      parts.push(["show", listed.join(",")]);
    }
    return new URLSearchParams(parts).toString();
  }
  function fromAddress(hash) {
    const texts = Object.fromEntries(FIELDS.map(({ name, usual: given }) => [name, given === null ? "" : String(given)]));
    let shown = new Set(PRESETS[0].shown);
    const unknown = [];
    for (const [name, text] of new URLSearchParams(hash.replace(/^#/, ""))) {
      if (name === "show") {
        const ids = text.split(",").filter(Boolean);
        const known = (id) => CURVES.some((curve) => curve.id === id);
        unknown.push(...ids.filter((id) => !known(id)));
        shown = new Set(ids.filter(known));
      } else if (name in texts) texts[name] = text;
      else unknown.push(name);
    }
    return { texts, shown, unknown };
  }

  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "text") made.textContent = value;
      else if (key === "formula") {
        made.append(...value.split(/_([A-Z]+)/).map((part, i) => (i % 2 ? element("sub", { text: part }) : part)));
      }
      else made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  }

  // A slider runs over whole numbers, or over 1000 steps between the logarithms of its ends.
  const ends = ({ least, most }) => [Math.log(least || most * 1e-6), Math.log(most)];
  function toSlider(field, value) {
    if (field.run === ONE) return value;
    const [low, high] = ends(field);
    return value > 0 ? Math.round((1000 * (Math.log(value) - low)) / (high - low)) : 0;
  }
  function fromSlider(field, place) {
    if (field.run === ONE) return place;
    const [low, high] = ends(field);
    if (place === 0) return field.least;
    const value = Number(Math.exp(low + (place / 1000) * (high - low)).toPrecision(3));
    return Math.min(field.most, field.run === WHOLE ? Math.round(value) : value);
  }

  function start(root) {
    const inputs = {};
    let shown;
    let good = null; // the last numbers that were accepted, with what they give
    let painted = () => {}; // draws the last picture again, at the width of now
    let note = "";
    let pending = 0;

    function makeField(field) {
      const { name, label, least, most, run, empty } = field;
      const id = `calculator-${name}`;
      const input = element("input", {
        id, type: "text", inputmode: "decimal", autocomplete: "off", spellcheck: "false",
        "aria-describedby": `${id}-hint ${id}-error`,
      });
      const slider = element("input", {
        type: "range", "aria-label": `${label}, slider`,
        min: run === ONE ? least : 0, max: run === ONE ? most : 1000, step: 1,
      });
      const hint = element("p", { id: `${id}-hint`, class: "calculator-hint" });
      const error = element("p", { id: `${id}-error`, class: "calculator-error" });
      const row = element("div", { class: "calculator-row" }, input, slider);
      const clear = element("button", { type: "button", text: "empty", "aria-label": `empty the field ${label}` });
      if (empty) row.append(clear);
      inputs[name] = { field, input, slider, hint, error, clear };
      input.addEventListener("input", () => update());
      slider.addEventListener("input", () => {
        input.value = String(fromSlider(field, Number(slider.value)));
        update(name);
      });
      clear.addEventListener("click", () => {
        input.value = "";
        input.focus();
        update();
      });
      return element("div", { class: "calculator-field" }, element("label", { for: id, formula: label }), row, hint, error);
    }

    const status = element("p", { class: "calculator-status", role: "status" });
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("role", "img");
    const buttons = PRESETS.map(({ title, changed, shown: ids }) => {
      const button = element("button", { type: "button", text: title });
      button.addEventListener("click", () => {
        fill({ ...usual(), ...changed }, new Set(ids));
      });
      return button;
    });
    const groups = GROUPS.map(([title], i) => {
      const names = GROUPS[i][1].map(([name]) => BY_NAME[name]);
      const box = element("details", {}, element("summary", { text: title }),
        element("div", { class: "calculator-fields", role: "group", "aria-label": title }, ...names.map(makeField)));
      box.open = i === 0;
      return box;
    });
    const rows = {};
    const table = makeTable();
    root.replaceChildren(
      element("div", { class: "calculator-presets", role: "group", "aria-label": "Start from an example" },
        element("span", { text: "Start from:" }), ...buttons),
      element("div", { class: "calculator-chart" }, svg), status, ...groups,
      element("div", { class: "pst-scrollable-table-container" }, table));

    function makeTable() {
      const head = element("tr", { role: "row" });
      for (const title of ["bound", "at m", "at most ½ from", "below the best constant from", "at most 0.1 from"]) {
        head.append(element("th", { scope: "col", role: "columnheader", text: title }));
      }
      const made = element("table", { class: "calculator-table", role: "table" },
        element("caption", { text: "What each bound assumes and says. A ticked bound is drawn." }),
        element("thead", { role: "rowgroup" }, head));
      let count = 0;
      for (const [kind, title] of Object.entries(KINDS)) {
        const body = element("tbody", { role: "rowgroup" }, element("tr", { role: "row" },
          element("th", { colspan: 5, scope: "rowgroup", role: "rowheader", class: "kind", text: title })));
        for (const curve of CURVES.filter((one) => one.kind === kind)) {
          count += 1;
          const box = element("input", { type: "checkbox" });
          box.addEventListener("change", () => {
            if (box.checked) shown.add(curve.id);
            else shown.delete(curve.id);
            update();
          });
          const mark = element("span", { text: count });
          const link = element("a", { href: `${curve.chapter}.html`, text: "chapter", "aria-label": `chapter of ${curve.name}` });
          const says = element("p", { class: "assumes", text: `${curve.assumes} ` }, link);
          const cells = ["at m", "at most ½ from", "below the best constant from", "at most 0.1 from"].map((title) =>
            element("td", { role: "cell", "data-label": title, class: "number" }));
          const missing = element("p", { class: "missing" });
          const name = element("th", { scope: "row", role: "rowheader" },
            element("label", {}, box, " ", mark, ` ${curve.name}`), says, missing);
          rows[curve.id] = { number: count, box, mark, missing, cells, curve };
          body.append(element("tr", { role: "row" }, name, ...cells));
        }
        made.append(body);
      }
      return made;
    }

    function texts() {
      return Object.fromEntries(FIELDS.map(({ name }) => [name, inputs[name].input.value]));
    }

    function fill(values, ids) {
      for (const { name } of FIELDS) inputs[name].input.value = values[name] === null ? "" : String(values[name]);
      shown = ids;
      update();
    }

    // Read the fields; draw if all are accepted, else say why not and leave the picture.
    function update(moved = "") {
      const found = read(texts());
      root.setAttribute("aria-busy", "true");
      for (const { name } of FIELDS) {
        const { input, error } = inputs[name];
        const why = found.refused[name] ?? "";
        error.textContent = why;
        if (why) {
          input.setAttribute("aria-invalid", "true");
          input.closest("details").open = true;
        } else input.removeAttribute("aria-invalid");
      }
      const bad = Object.keys(found.refused);
      if (bad.length === 0) {
        good = complete(found.values);
        showFields(moved);
        cancelAnimationFrame(pending);
        pending = requestAnimationFrame(show);
        return;
      }
      say(`Not drawn. ${bad.map((name) => `${BY_NAME[name].label}: ${found.refused[name]}`).join(". ")}. The picture shows the last numbers that were accepted.`);
    }

    function showFields(moved) {
      for (const { field, input, slider, hint, clear } of Object.values(inputs)) {
        const { name, empty, least, most } = field;
        const value = good[name];
        const blank = input.value.trim() === "";
        if (name !== moved) slider.value = value === null ? 0 : toSlider(field, value);
        slider.setAttribute("aria-valuetext", value === null ? empty : written(value));
        hint.textContent = blank
          ? `empty: ${empty}${name in FORMULAS ? `; now ${written(value, 6)}` : ""}`
          : `${written(least)} to ${written(most)}${empty ? `; empty: ${empty}` : ""}`;
        clear.hidden = blank;
      }
      const now = address(texts(), shown);
      buttons.forEach((button, i) => {
        const { changed, shown: ids } = PRESETS[i];
        const own = Object.fromEntries(Object.entries({ ...usual(), ...changed }).map(([k, v]) => [k, v === null ? "" : String(v)]));
        button.setAttribute("aria-pressed", String(address(own, new Set(ids)) === now));
      });
    }

    function show() {
      if (good === null) return;
      const v = good;
      const drawn = [];
      const exact = (m) => (m === Infinity ? "never" : m < 1e5 ? String(m) : written(m));
      for (const { number: count, box, mark, missing, cells, curve } of Object.values(rows)) {
        const why = curve.missing(v);
        const value = (m) => curve.value(v, m);
        const from = why ? [] : [0.5, v.trivial, 0.1].map((level) => first(value, level));
        const found = why ? ["–", "–", "–", "–"] : [written(value(v.m)), ...from.map(exact)];
        cells.forEach((cell, i) => {
          cell.textContent = found[i];
          cell.classList.toggle("none", why !== "");
        });
        missing.textContent = why && `No curve: ${why}.`;
        box.checked = shown.has(curve.id);
        const colour = box.checked && !why ? `colour-${drawn.length % 6}` : "";
        mark.className = `number ${colour}`;
        if (colour) drawn.push({ number: count, kind: curve.kind, colour, value, name: curve.name, at: value(v.m), end: from[2] });
      }
      const below = drawn.filter(({ at }) => at <= v.trivial);
      const least = drawn.reduce((a, one) => (a && a.at <= one.at ? a : one), null);
      const text = least
        ? `At ${written(v.m, 6)} examples ${below.length} of ${drawn.length} curves are at or below ${written(v.trivial)}, the risk of the best constant. The least is ${written(least.at)}: ${least.name}.`
        : "No curve is shown. Tick a bound in the table.";
      const says = `Bounds on the risk against the number of examples, both axes logarithmic. ${text} The table below has the numbers.`;
      painted = () => draw(svg, { curves: drawn, m: v.m, trivial: v.trivial, says });
      painted();
      say(text, true);
    }

    // Said, and kept in the address if accepted, once the numbers rest.
    let timer = 0;
    function say(text, accepted = false) {
      clearTimeout(timer);
      timer = setTimeout(() => {
        status.textContent = note + text;
        note = "";
        if (accepted) keep();
        root.setAttribute("aria-busy", "false");
      }, 250);
    }

    function keep() {
      const wanted = address(texts(), shown);
      const anchor = location.hash !== "" && !location.hash.includes("=");
      if (anchor && wanted === "") return; // a section of the page
      const here = location.pathname + location.search;
      history.replaceState(history.state, "", here + (wanted ? `#${wanted}` : ""));
    }

    function restore() {
      const found = fromAddress(location.hash.includes("=") ? location.hash : "");
      if (good === null) fill(usual(), found.shown);
      shown = found.shown;
      for (const [name, text] of Object.entries(found.texts)) inputs[name].input.value = text;
      if (found.unknown.length) note = `The address names what is not here: ${found.unknown.join(", ")}. `;
      update();
    }

    addEventListener("hashchange", () => { if (location.hash.includes("=")) restore(); });
    restore();
    let width = 0;
    new ResizeObserver(([entry]) => {
      if (entry.contentRect.width !== width) painted();
      width = entry.contentRect.width;
    }).observe(svg.parentElement);
  }

  window.Calculator = { FIELDS, PRESETS, read, address, fromAddress, usual };
  document.addEventListener("DOMContentLoaded", () => {
    const root = document.querySelector("div.calculator");
    if (root) start(root);
  });
})();
