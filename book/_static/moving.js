// Moving figures: sliders choose one of the stored frames, and it is drawn. Nothing is computed.
(() => {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg";
  const [GREY, BARS, LINES, DOTS] = [0, 1, 2, 3]; // as in bookkit/moving.py; later ones lie above
  const MARGIN = { top: 30, right: 14, bottom: 42 };
  const DASHES = ["", "7 4", "2 3", "9 3 2 3", "12 3", "4 2"];
  const MARKS = [
    "M-5 0A5 5 0 1 0 5 0A5 5 0 1 0-5 0Z", "M-4.5-4.5H4.5V4.5H-4.5Z", "M0-6L5.5 4.5H-5.5Z",
    "M0-6L6 0L0 6L-6 0Z", "M0 6L5.5-4.5H-5.5Z", "M-1.7-5.5H1.7V-1.7H5.5V1.7H1.7V5.5H-1.7V1.7H-5.5V-1.7H-1.7Z",
  ];

  function made(space, name, attributes = {}, ...children) {
    const one = space ? document.createElementNS(space, name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
    one.append(...children);
    return one;
  }
  const html = (...given) => made(null, ...given);
  const svg = (...given) => made(SVG, ...given);

  // From values to places: a function for each axis.
  function scale({ low, high, log }, from, to) {
    const [a, b] = log ? [Math.log(low), Math.log(high)] : [low, high];
    return (v) => from + (((log ? Math.log(v) : v) - a) / (b - a)) * (to - from);
  }

  // Numbers beside the axes; where there is no room, every second one is left out.
  function grid({ axes: [across, up], left, right, bottom, x, y }) {
    const parts = [];
    let last = -Infinity;
    for (const [value, text] of across.ticks) {
      const at = x(value);
      parts.push(svg("line", { class: "grid", x1: at, x2: at, y1: MARGIN.top, y2: bottom }));
      if (at - last < 7 * text.length + 8) continue;
      last = at;
      parts.push(svg("text", { x: at, y: bottom + 17, "text-anchor": "middle" }, text));
    }
    for (const [value, text] of up.ticks) {
      const at = y(value);
      parts.push(svg("line", { class: "grid", x1: left, x2: right, y1: at, y2: at }));
      parts.push(svg("text", { x: left - 6, y: at + 4, "text-anchor": "end" }, text));
    }
    parts.push(svg("text", { x: (left + right) / 2, y: bottom + 36, "text-anchor": "middle" }, across.label));
    parts.push(svg("text", { x: 2, y: 14 }, up.label));
    return parts;
  }

  function draw(picture, { axes, numbers, series, frames }, at) {
    const width = Math.max(240, picture.parentElement.clientWidth);
    const height = Math.round(Math.min(290, Math.max(250, 0.5 * width)));
    const left = 14 + 7 * Math.max(...axes[1].ticks.map(([, text]) => text.length));
    const right = width - MARGIN.right;
    const bottom = height - MARGIN.bottom;
    const x = scale(axes[0], left, right);
    const y = scale(axes[1], bottom, MARGIN.top);
    picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const clip = `${picture.closest("figure").id}-frame`;
    const box = { x: left, y: MARGIN.top - 1, width: right - left, height: bottom - MARGIN.top + 2 };
    const inside = svg("g", { "clip-path": `url(#${clip})` });
    const over = [];
    for (const [kind, name, across, up] of frames[at][1].map((k) => series[k])) {
      const points = numbers[across].map((v, i) => [x(v), y(numbers[up][i])]);
      const path = () => points.map(([a, b], i) => `${i ? "L" : "M"}${a.toFixed(1)} ${b.toFixed(1)}`).join("");
      if (kind === LINES) {
        inside.append(svg("path", { class: `line colour-${name}`, d: path(), "stroke-dasharray": DASHES[name] }));
      } else if (kind === GREY) {
        inside.append(svg("path", { class: "grey", d: path() }));
        const [a, b] = points.at(-1);
        const side = a > (left + right) / 2 ? { x: a - 4, "text-anchor": "end" } : { x: a + 4 };
        if (name) over.push(svg("text", { class: "grey", y: b - 5, ...side }, name));
      } else if (kind === BARS) {
        const wide = 0.86 * (points[1][0] - points[0][0]);
        for (const [a, b] of points) {
          const size = { x: a - wide / 2, y: Math.min(b, y(0)), width: wide, height: Math.abs(b - y(0)) };
          inside.append(svg("rect", { class: `bar colour-${name}`, ...size }));
        }
      } else {
        for (const [a, b] of points) {
          if (a < left - 1 || a > right + 1 || b < MARGIN.top - 1 || b > bottom + 1) continue;
          over.push(svg("path", { class: `dot colour-${name}`, d: MARKS[name], transform: `translate(${a.toFixed(1)} ${b.toFixed(1)})` }));
        }
      }
    }
    const parts = grid({ axes, left, right, bottom, x, y });
    picture.replaceChildren(svg("clipPath", { id: clip }, svg("rect", box)), ...parts, inside, ...over);
  }

  // A sample of each series, as it is drawn, and its name.
  function legend({ names, series }) {
    const list = html("ul", { class: "moving-names" });
    names.forEach((name, i) => {
      const kinds = new Set(series.filter(([kind, n]) => kind !== GREY && n === i).map(([kind]) => kind));
      const sample = svg("svg", { width: 30, height: 14, "aria-hidden": "true" });
      if (kinds.has(BARS)) sample.append(svg("rect", { class: `bar colour-${i}`, x: 8, y: 1, width: 14, height: 12 }));
      if (kinds.has(LINES)) sample.append(svg("path", { class: `line colour-${i}`, d: "M1 7H29", "stroke-dasharray": DASHES[i] }));
      if (kinds.has(DOTS)) sample.append(svg("path", { class: `dot colour-${i}`, d: MARKS[i], transform: "translate(15 7)" }));
      list.append(html("li", {}, sample, name));
    });
    return list;
  }

  function start(figure) {
    const stored = JSON.parse(figure.querySelector("script").textContent);
    const id = figure.id;
    const picture = svg("svg", { role: "img", "aria-label": figure.dataset.alt, "aria-describedby": `${id}-says` });
    const says = html("p", { class: "moving-says", id: `${id}-says`, role: "status", "aria-live": "polite" });
    const sliders = stored.sliders.map(({ label, values, start: first }, i) => {
      const input = html("input", { type: "range", id: `${id}-${i}`, min: 0, max: values.length - 1, step: 1, value: first });
      const shown = html("span", { class: "moving-value", "aria-hidden": "true" }); // the slider says it
      input.addEventListener("input", () => show());
      return { input, shown, values, row: html("div", { class: "moving-slider" }, html("label", { for: `${id}-${i}` }, label), shown, input) };
    });
    function show() {
      let at = 0;
      for (const { input, shown, values } of sliders) {
        at = at * values.length + Number(input.value);
        shown.textContent = values[input.value];
        input.setAttribute("aria-valuetext", values[input.value]);
      }
      draw(picture, stored, at);
      const words = stored.frames[at][0];
      if (says.textContent !== words) says.textContent = words;
    }
    const rows = html("div", { class: "moving-sliders" });
    rows.append(...sliders.filter(({ values }) => values.length > 1).map(({ row }) => row));
    figure.prepend(rows, says, legend(stored), html("div", { class: "moving-picture" }, picture));
    figure.hidden = false;
    let width = 0;
    new ResizeObserver(() => {
      if (picture.parentElement.clientWidth === width) return;
      width = picture.parentElement.clientWidth;
      show();
    }).observe(picture.parentElement);
    show();
  }

  const all = () => document.querySelectorAll("figure.moving[hidden]").forEach(start);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", all);
  else all();
})();
