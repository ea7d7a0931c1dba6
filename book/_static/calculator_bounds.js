// The bounds of the calculator, each a plain function of plain numbers: the closed formulas of
// papers/sharper/{pac_bayes,rivals,tabulated}.py, papers/lengthfree/single_layer.py,
// papers/beyond/{small_noise,certificates}.py and the chapters named beside each curve.
// tests/bookkit/test_calculator.py compares every one with them. Logarithms are natural.
window.Bounds = (() => {
  "use strict";
  const { ceil, cbrt, exp, expm1, floor, log, log10, log1p, max, min, round, sqrt } = Math;
  const NO_P = [0, 0, 0];
  const POISSON_PEAK = 0.10181609439726845; // the most of t (t log t + 1 - t) for t in (0, 1)
  const HALVINGS = 66;

  // Where an increasing function changes sign.
  function zero(rising, low, high) {
    for (let k = 0; k < HALVINGS; k++) {
      const middle = (low + high) / 2;
      if (rising(middle) > 0) high = middle;
      else low = middle;
    }
    return low;
  }

  // Least whole m at which a falling curve is at most a level; Infinity if there is none to 10^40.
  function first(curve, level) {
    let [low, high] = [0, 1];
    while (!(curve(high) <= level)) {
      if (high > 1e40) return Infinity;
      [low, high] = [high, 4 * high];
    }
    while (high - low > 1) {
      const between = floor((low + high) / 2);
      if (between <= low || between >= high) break; // beyond 2^53 whole numbers lie further apart
      if (curve(between) <= level) high = between;
      else low = between;
    }
    return high;
  }

  function logChoose(a, b) {
    let total = 0;
    for (let k = 0; k < min(b, a - b); k++) total += log((a - k) / (k + 1));
    return total;
  }

  // ---- The hand-written network of T bits, degree d and sparsity W
  const gradientBound = (d, W) => 4 + 4 * W * (2 + d + 32 * d ** 2 + 32 * d ** 3);
  const squaredNorm = (T, d, W) =>
    1 + W + 16 * d ** 2 * (d + 1) + 8 * (d + 1) + 4 * log(T) ** 2 * (d * W + W);
  const weightCount = (T, d) => 3 * (T + 2) ** 2 + T + 2 + (8 * (T + 2) + 4) * (d + 1);
  const subsets = (T, d) => round(exp(logChoose(T, d)));
  const logConstructions = (T, d, W, classes) => logChoose(subsets(T, d), W) + log(classes);

  // What noise adds to the sharpness: P = p0 + p1 sigma + p2 sigma^2, as (p0, p1, p2).
  function perturbation(T, d, W) {
    const k = T + 1;
    const l = log(T);
    const r2 = sqrt(2);
    const gradient =
      (128 + 64 * k) * r2 * d ** 2 * W ** 2 * l +
      128 * r2 * d ** 2 * W ** 0.5 * l +
      192 * W ** 0.5 * d ** 2 +
      128 * k * W ** 2 * l * d ** 1.5 +
      1024 * d ** 3.5 * W ** 1.5 * l +
      8 * sqrt(d * W) * l * k +
      256 * d ** 2.5 * W ** 2 * k +
      32 * sqrt(d) * W ** 2 * k ** 2;
    const output = 128 * d ** 2 * W * l + sqrt(2 * k) + 32 * sqrt(W) * d ** 2;
    const hessian =
      8 * (d + 1) +
      6 * (d + 1) * sqrt(W) +
      2 * sqrt(3 * T * (d + 1)) +
      sqrt(48 * T * d * (d + 1)) +
      3 * d * sqrt(12 * T * (d + 1)) +
      8 * r2 * d * sqrt(k * T) +
      2 * d * sqrt(k * T) +
      8 * r2 * k * d * sqrt(W) +
      6 * r2 * k ** 1.5 * d;
    const change =
      l *
      (768 * r2 * d ** 2 * W ** 1.5 * k +
        256 * W ** 1.5 * k ** 2 * d ** 1.5 +
        1024 * d ** 3.5 * W ** 1.5 +
        512 * d ** 2.5 * W ** 1.5 * k ** 2 +
        1536 * d ** 3.5 * W ** 2.5 * sqrt(k) * l +
        768 * d ** 2 * W ** 2.5 * k * l +
        16 * W ** 2 * k ** 2.5);
    const count = 3 * (k + 1) ** 2 + k + 1 + (8 * k + 6) * (d + 1);
    const rest = 2 * sqrt(gradientBound(d, W));
    return [
      0,
      2 * gradient * rest + output * count * hessian,
      2 * gradient ** 2 + output * count * change,
    ];
  }

  // ---- The first paper's form
  const sharp = (s, G, P) => s ** 2 * (G + P[0] + s * (P[1] + s * P[2]));

  function optimalSigma(N, G, m, S, confidence, P) {
    const closed = cbrt((S * sqrt(N / m)) / (2 * G));
    if (confidence === 0 && P.every((p) => p === 0)) return closed;
    const rising = (t) => {
      const s = exp(t);
      const norm = N / s ** 2;
      const slope = s ** 2 * (2 * (G + P[0]) + s * (3 * P[1] + s * 4 * P[2]));
      return slope - (S * norm) / sqrt(m * (norm + 2 * confidence));
    };
    return exp(zero(rising, log(closed) - 200, log(closed)));
  }

  function theorem2(v, m, S, P) {
    const confidence = -log(v.delta);
    const s = v.sigma ?? optimalSigma(v.N, v.G, m, S, confidence, P);
    const nats = v.N / (2 * s ** 2) + confidence;
    return v.r + sharp(s, v.G, P) + S * sqrt((2 * nats) / m);
  }

  function truncated(v, m) {
    if (v.sigma === null) return v.r + 3 * cbrt((v.Sigma ** 2 * v.G * v.N) / (4 * m));
    return v.r + v.sigma ** 2 * v.G + (v.Sigma * sqrt(v.N / m)) / v.sigma;
  }

  // Probability of a wrong answer on PARITY: 4 B* a step, by Markov's inequality.
  const wrong = (v, m, N, G, steps) =>
    4 * steps * 3 * cbrt((v.Sigma ** 2 * G * N) / (4 * m));
  const onePassNorm = (T) => 2 + (T + 1) * (8 + 16 * T ** 2 + 4 * log(T) ** 2);
  const chainNorm = (T) =>
    2 + 12 + 5 + 15 / 16 + 128 + 2 * min(T, 4 * ceil(16 * log(T))) * (2 * log(2 * T)) ** 2;

  // ---- The kl form, and counting
  // Of p and p + d: written in p + d, the logarithms cancel where p and the budget are tiny.
  const binaryKl = (p, d) => (p && -p * log1p(d / p)) - (1 - p) * log1p(-d / (1 - p));
  const klInverse = (p, budget) => {
    if (p === 0) return -expm1(-budget);
    const top = min(1 - p, sqrt(2 * p * budget) + 2 * budget); // by Pinsker, refined
    return top > 0 ? p + zero((d) => binaryKl(p, d) - budget, 0, top) : p;
  };
  const occam = (r, nats, m, delta, b) => b * klInverse(r / b, (nats - log(delta)) / m);
  const klNats = (nats, m, delta) => (nats + log(2 * sqrt(m)) - log(delta)) / m;
  const pacBayesKl = (r, nats, m, delta, b) =>
    b * klInverse(r / b, klNats(nats, max(m, 8), delta));

  // The kl form at the best of 400 sigmas, from 0.0003 to that at which noise costs one half; or at
  // the sigma given. The training risk of the noisy network is r + sigma^2 G, at most b.
  function flatKl(v, m, natsAt) {
    let sigmas = [v.sigma];
    if (v.sigma === null) {
      const bottom = log10(3e-4); // smaller ones were not measured
      const top = max(log10(sqrt(0.5 / v.G)), bottom);
      sigmas = Array.from({ length: 400 }, (_, i) => 10 ** (bottom + (i * (top - bottom)) / 399));
    }
    const options = sigmas.map((s) => {
      const p = min(v.r + s ** 2 * v.G, v.b) / v.b;
      return [p, klNats(natsAt(s), max(m, 8), v.delta)];
    });
    // Start from a good guess; invert again only where the divergence says that it is beaten.
    const guess = ([p, budget]) => p + budget + sqrt(2 * p * budget);
    const start = options.reduce((a, o) => (guess(o) < guess(a) ? o : a));
    let best = klInverse(...start);
    for (const [p, budget] of options) {
      if (p < best && binaryKl(p, best - p) > budget) best = klInverse(p, budget);
    }
    return v.b * best;
  }
  const tiedNats = (v) => (s) => v.N / (2 * s ** 2);
  const wideNats = (v) => (s) =>
    (v.Theta / 2) * log1p(v.N / (v.Theta * s ** 2)) + log(1e4);
  const twoValues = (T, d, W) => W * (d * log(T / d) + (T === d ? 0 : (T - d) * log(T / (T - d))));

  const SHARE = 0.2;
  const certificate = (v, m) => {
    const risk = occam(v.rhat / v.b, 0, v.draws, SHARE * v.delta, 1);
    return v.b * pacBayesKl(risk, v.K, m, (1 - SHARE) * v.delta, 1);
  };

  // ---- Norms of one attention layer
  const CONSTANT = 8 * sqrt(2);

  function lengthBound(v, m, constant, tokens) {
    const total = cbrt(v.Wv) ** 2 + cbrt(v.Wqk * v.Wv * v.x ** 2) ** 2;
    const C = (v.lip * v.x) ** 2 * total ** 3 * log(round(m) * tokens);
    const top = v.lip * v.Wv * v.x;
    const scale = sqrt(C / round(m));
    return constant * v.w * v.Wc * (top >= scale ? scale * (1 + log(top / scale)) : top);
  }

  function lengthFreeBound(v, m, constant) {
    const C = (v.Wqk * v.x) ** 2 * log(2 * v.D ** 2 + 1);
    const rate = sqrt(log(2 * v.D) / round(m));
    const scale = v.x ** 2 * sqrt(C / round(m));
    const room = v.x * (1 - rate);
    const value = scale >= room ? v.x : scale * (1 + log(room / scale)) + v.x * rate;
    return constant * v.w * v.Wc * v.lip * v.Wv * value;
  }

  // Risk from a complexity, with every constant, for a loss in [0, 1].
  const proved = (v, m, R) => v.r + 4 * R + 3 * sqrt(-log(v.delta) / (2 * m));

  function edelman(v, m) {
    const D = v.T + 2;
    return sqrt(2) * sqrt(v.W) * v.C21 * sqrt(log(D * m * v.T) / m);
  }

  // ---- What follows from T, d and W where a field is left empty
  const FORMULAS = {
    b: (v) => v.W,
    classes: (v) => v.W,
    N: (v) => squaredNorm(v.T, v.d, v.W),
    G: (v) => gradientBound(v.d, v.W),
    Theta: (v) => weightCount(v.T, v.d),
    C: (v) => v.N * v.G,
    D: (v) => v.T + 3,
    C21: (v) => sqrt(v.T + 2) * 2 * log(v.T) * sqrt(v.d * v.W),
  };
  const complete = (values) => {
    const v = { ...values };
    for (const [name, formula] of Object.entries(FORMULAS)) v[name] ??= formula(v);
    return v;
  };

  // ---- The curves. `missing` says why there is none for the numbers given.
  const needsFit = (v) => (v.r > 0 ? "it takes a training risk of 0" : "");
  const needsParity = (v) => (v.d === v.T && v.W === 1 ? "" : "it is about PARITY, so d = T and W = 1");
  const needsNorms = (v) =>
    v.Wqk === null
      ? "it takes the norm ‖W_QK‖₁,₁ of a one-layer network"
      : v.b !== 1
        ? "it takes outputs in [0, 1], so b = 1"
        : "";
  const noise = "Noise σ on every weight costs at most σ²G";
  const layer = "One attention layer whose norms were fixed before the sample; a loss in [0, 1]";
  const CURVES = [
    ["occam", "proved", "Occam: the list of networks", "beyond/from_gaussians_to_occam",
      "The learner knows T, d and the classes, and returns a network of the list that fits the sample; a loss in [0, b].",
      (v, m) => occam(0, logConstructions(v.T, v.d, v.W, v.classes), m, v.delta, v.b)],
    ["heldout", "proved", "Held out", "beyond/five_bounds",
      "Half of the m strings were kept for a test, and there is no error on them; a loss in [0, b].",
      (v, m) => occam(0, 0, max(m / 2, 1), v.delta, v.b)],
    ["mixture", "proved", "Mixture over the list, kl form", "beyond/from_flatness_to_counting",
      "As for Occam, with noise that vanishes.",
      (v, m) => pacBayesKl(0, logConstructions(v.T, v.d, v.W, v.classes), m, v.delta, v.b)],
    ["two", "proved", "Two values for each first score, kl form", "beyond/from_flatness_to_counting",
      "All weights but the first scores are shared by the networks of the list; noise that vanishes.",
      (v, m) => pacBayesKl(0, twoValues(v.T, v.d, v.W), m, v.delta, v.b)],
    ["bits", "proved", "Counting bits", "sharper/bound_comparison",
      "The network has Θ stored weights and the training risk r; a loss in [0, b].",
      (v, m) => occam(v.r, v.Theta * v.bits * log(2), m, v.delta, v.b)],
    ["certificate", "proved", "Certificate of your own posterior", "beyond/auditing_certificates",
      "r̂ is a mean over independent draws of a network and an example; K is counted from a prior fixed before the sample, with the log of the number of priors tried.",
      certificate, (v) => (v.K === null ? "it takes K, the nats of your posterior" : "")],
    ["long", "proved", "Norms and length (P3, repaired)", "variables/longer_tokens",
      `${layer}.`,
      (v, m) => proved(v, m, lengthBound(v, m, CONSTANT, (2 * v.D + 1) * (v.T + 1))), needsNorms],
    ["free", "proved", "Norms, no length (P4, repaired)", "lengthfree/single_layer_bound",
      `${layer}.`,
      (v, m) => proved(v, m, lengthFreeBound(v, m, CONSTANT)), needsNorms],
    ["thm2", "premise", "Theorem 2 of P1, truncated", "sharper/pac_bayes",
      `${noise}; Σ holds for networks drawn from the prior; P and log 1/δ are left out.`,
      truncated],
    ["analytic", "premise", "Theorem 2 of P1, analytic P", "sharper/semi_analytic_bound",
      "Noise costs at most σ²(G + P), with P by the paper's formulas for the hand-written network; Σ holds for networks drawn from the prior.",
      (v, m) => theorem2(v, m, v.Sigma, perturbation(v.T, v.d, v.W))],
    ["hoeffding", "premise", "Theorem 2 of P1, repaired: Σ = b/2", "sharper/pac_bayes",
      `${noise}; a loss in [0, b].`,
      (v, m) => theorem2(v, m, v.b / 2, NO_P)],
    ["tied", "premise", "kl form, the prior as narrow as the posterior", "sharper/loss_constant",
      `${noise}; a loss in [0, b].`,
      (v, m) => flatKl(v, m, tiedNats(v))],
    ["wide", "premise", "kl form, a prior of its own width", "sharper/bound_comparison",
      `${noise}; a loss in [0, b]; log 10⁴ nats pay for the width.`,
      (v, m) => flatKl(v, m, wideNats(v))],
    ["rootrate", "premise", "Rate of the paper's form at R K = C/2", "beyond/three_rates",
      "Small noise at a perfect fit; a loss in [0, b]; log 1/δ is left out.",
      (v, m) => 3 * cbrt((v.b ** 2 * v.C) / (16 * m)), needsFit],
    ["klrate", "premise", "Rate of the kl form at R K = C/2", "beyond/three_rates",
      "Small noise at a perfect fit; as long as the value is small against b; log 1/δ is left out.",
      (v, m) => sqrt((v.b * v.C) / (2 * POISSON_PEAK * m)), needsFit],
    ["pass", "premise", "Theorem 8 of P1 at the best σ: PARITY in one pass", "sharper/chain_of_thought",
      "Bounds the probability of a wrong answer (a guess has ½). Uses T, m and Σ alone; Σ as for Theorem 2.",
      (v, m) => wrong(v, m, onePassNorm(v.T), gradientBound(v.T, 1), 1), needsParity],
    ["chain", "premise", "Theorem 7 of P1, repaired, at the best σ: PARITY by a chain", "sharper/chain_of_thought",
      "Bounds the probability of a wrong answer after T steps, with the smaller of one-hot and short codes. Uses T, m and Σ alone; Σ as for Theorem 2; steps of one string count as independent examples.",
      (v, m) => wrong(v, m, chainNorm(v.T), gradientBound(2, 1), v.T), needsParity],
    ["edelman", "unknown", "Leading term of a norm bound (P3, in P1)", "sharper/bound_comparison",
      "Norms of the hand-written network: tokens √2 long, a read-out of √W. The depth factor is 1 too.",
      edelman],
    ["long1", "unknown", "Norms and length (P3)", "beyond/five_bounds",
      `${layer}.`, (v, m) => v.r + lengthBound(v, m, 1, v.T + 1), needsNorms],
    ["free1", "unknown", "Norms, no length (P4)", "beyond/five_bounds",
      `${layer}.`, (v, m) => v.r + lengthFreeBound(v, m, 1), needsNorms],
  ].map(([id, kind, name, chapter, assumes, value, missing = () => ""]) => ({
    id, kind, name, chapter, assumes, value, missing,
  }));

  return { CURVES, FORMULAS, complete, first, optimalSigma, subsets };
})();
