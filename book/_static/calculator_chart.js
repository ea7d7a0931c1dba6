// The picture of the calculator: curves over m on logarithmic axes, as inline SVG.
window.BoundsChart = (() => {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg";
  const POINTS = 81;
  const MARGIN = { top: 12, right: 14, bottom: 42, left: 46 };
  const FLOOR = 1e-3;
  const CEILING = 1e2;
  const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  const power = (k) => `10${k < 0 ? "⁻" : ""}${[...String(Math.abs(k))].map((c) => SUPERSCRIPTS[c]).join("")}`;

  // For x of at least 0: 0.00042 -> "4.20 × 10⁻⁴", 1.2e7 -> "1.20 × 10⁷", else three digits.
  function written(x, digits = 3) {
    if (x === 0) return "0";
    if (!Number.isFinite(x)) return "∞";
    if (x >= 1e-3 && x < 1e4) return String(Number(x.toPrecision(digits)));
    const [front, exponent] = x.toExponential(digits - 1).split("e");
    return Number(front) === 1 ? power(Number(exponent)) : `${Number(front)} × ${power(Number(exponent))}`;
  }

  function node(name, attributes, ...children) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  // Ends of the m axis: so far right that every curve shown has come down to 0.1, if it does.
  function span(m, every) {
    const last = Math.max(m, 1e5, ...every.filter((n) => n < 1e23));
    return [Math.min(1, Math.floor(Math.log10(m))), Math.min(24, Math.ceil(Math.log10(last)) + 1)];
  }

  // Each number stands where its curve is far from the others and from the numbers placed before.
  function placed(lines, label) {
    const taken = [...label];
    return lines.map((line) => {
      let best = null;
      let most = -1;
      for (const { i, at } of line.inside) {
        const gaps = lines.filter((other) => other !== line).map((other) => Math.abs(other.path[i][1] - at[1]));
        const apart = taken.map(([x, y]) => Math.hypot(at[0] - x, at[1] - y) / 3);
        const room = Math.min(40, ...gaps, ...apart);
        if (room > most) [best, most] = [at, room];
      }
      if (best) taken.push(best);
      return best;
    });
  }

  // curves: [{number, kind, colour, value(m), end}], the end where each is first at most 0.1.
  function draw(svg, { curves, m, trivial, says }) {
    const width = Math.max(260, svg.parentElement.clientWidth);
    const height = Math.round(Math.min(440, Math.max(300, 0.58 * width)));
    const [low, high] = span(m, curves.map(({ end }) => end));
    const right = width - MARGIN.right;
    const bottom = height - MARGIN.bottom;
    const x = (n) => MARGIN.left + ((Math.log10(n) - low) / (high - low)) * (right - MARGIN.left);
    const y = (q) =>
      bottom - (Math.log10(q / FLOOR) / Math.log10(CEILING / FLOOR)) * (bottom - MARGIN.top);
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("aria-label", says);
    const parts = [];

    const each = Math.ceil(((high - low) * 44) / (right - MARGIN.left));
    for (let k = low; k <= high; k++) {
      const at = x(10 ** k);
      parts.push(node("line", { class: "grid", x1: at, x2: at, y1: MARGIN.top, y2: bottom }));
      if ((k - low) % each === 0) {
        parts.push(node("text", { x: at, y: bottom + 16, "text-anchor": "middle" }, power(k)));
      }
    }
    for (let k = Math.log10(FLOOR); k <= Math.log10(CEILING); k++) {
      const at = y(10 ** k);
      parts.push(node("line", { class: "grid", x1: MARGIN.left, x2: right, y1: at, y2: at }));
      const name = k === 0 ? "1" : power(k);
      parts.push(node("text", { x: MARGIN.left - 6, y: at + 4, "text-anchor": "end" }, name));
    }
    const middle = (MARGIN.left + right) / 2;
    parts.push(node("text", { x: middle, y: height - 6, "text-anchor": "middle" }, "examples m"));

    const label = [];
    const over = []; // above the curves
    if (trivial >= FLOOR && trivial <= CEILING) {
      const at = y(trivial);
      label.push([MARGIN.left + 30, at - 8], [MARGIN.left + 100, at - 8]);
      parts.push(node("line", { class: "trivial", x1: MARGIN.left, x2: right, y1: at, y2: at }));
      const name = `the best constant, ${written(trivial)}`;
      over.push(node("text", { class: "trivial", x: MARGIN.left + 5, y: at - 5 }, name));
    }
    const chosen = x(m);
    parts.push(node("line", { class: "chosen", x1: chosen, x2: chosen, y1: MARGIN.top, y2: bottom }));

    const lines = curves.map(({ value }) => {
      const path = [];
      const inside = [];
      for (let i = 0; i < POINTS; i++) {
        const n = 10 ** (low + (i * (high - low)) / (POINTS - 1));
        const q = value(n);
        const at = [x(n), y(Math.min(1e9, Math.max(1e-9, q)))];
        path.push(at);
        const edge = Math.min(at[0] - MARGIN.left, right - at[0], at[1] - MARGIN.top, bottom - at[1]);
        if (edge > 10) inside.push({ i, at });
      }
      return { path, inside };
    });
    const frame = node("g", { "clip-path": "url(#calculator-frame)" });
    const size = { x: MARGIN.left, y: MARGIN.top, width: right - MARGIN.left, height: bottom - MARGIN.top };
    parts.push(node("clipPath", { id: "calculator-frame" }, node("rect", size)), frame);
    const marks = placed(lines, label);
    curves.forEach(({ number, kind, colour, value }, k) => {
      const d = lines[k].path.map(([a, b], i) => `${i ? "L" : "M"}${a.toFixed(1)},${b.toFixed(1)}`).join("");
      frame.append(node("path", { class: `curve ${kind} ${colour}`, d }));
      const q = value(m);
      if (q >= FLOOR && q <= CEILING) {
        parts.push(node("circle", { class: `dot ${colour}`, cx: chosen, cy: y(q), r: 3.5 }));
      }
      if (!marks[k]) return;
      const [a, b] = marks[k];
      parts.push(
        node("circle", { class: `mark ${colour}`, cx: a, cy: b, r: 9 }),
        node("text", { class: "mark", x: a, y: b + 4, "text-anchor": "middle" }, String(number)),
      );
    });
    svg.replaceChildren(...parts, ...over);
  }

  return { draw, written };
})();
