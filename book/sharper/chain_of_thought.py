# ---
# jupyter:
#   jupytext:
#     cell_metadata_filter: tags,mystnb
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#       jupytext_version: 1.19.6
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# (ch-chain-of-thought)=
# # Parity, one bit at a time
#
# **Claim.** A transformer that may write down what it has found so far computes the parity of any number of bits with sets of two bits only. That is true, and checked here on every string of up to 16 bits. The paper then compares two bounds on the error: linear in the length with such a chain of thought, exponential without. Neither is what the bounds do. The weights are shared by all steps, and their norm must grow with the length, so the chain's bound grows like $T^{4/3}$ and some logarithms. The bound for one pass grows like $T^2$. The chain still wins, by a power of $T$.
# **Needs** {ref}`ch-construction`, {ref}`ch-gradients-and-trace`. **Runs in** 25 s.
#
# Bits are 0 and 1. The parity of $x_1, \dots, x_T$ is $x_1 + \dots + x_T$ modulo 2. One pass needs a set of size $d = T$, with $W = 1$. A chain needs $T$ steps, each with a set of size 2.
#
# ```{prf:proposition} Lintilhac and Shaikh (2026), Appendix G
# :label: sharper-cot
# *(Refuted below in what it says about the weights.)* Give the positions $j$ and $T + j$ the same one-hot code. Start with the string $x_1 \dots x_T$ and $s_1 = 0$ at position $T+1$. At step $t$ the last token stands at $T + t$. It attends to $t$ and $T+t$ alike, the MLP for $d = 2$ says whether $x_t + s_t$ is even, and the bit $s_{t+1}$ is written, which is 1 if the output is below $\frac12$. After $T$ steps $s_{T+1}$ is the parity. The first score matrix has one non-zero entry, so the weights are smaller than those of the network for $d = 2$.
# ```
#
# ```{prf:theorem} Lintilhac and Shaikh (2026), Theorems 7 and 16
# :label: sharper-thm7
# *(Refuted below.)* Train on the functions of all steps. The bound on the probability of a wrong final answer is at most $T$ times a number that does not depend on $T$.
# ```
#
# ```{prf:theorem} Lintilhac and Shaikh (2026), Theorems 8 and 16
# :label: sharper-thm8
# *(Refuted below.)* Train on the parity of all $T$ bits. The bound on the probability of a wrong answer grows exponentially with $T$.
# ```
#
# The formulas of these statements are missing in the text that we could read. The words of the proof, and the bound of the paper's Theorem 2, leave two readings; we compute both. That bound says: with probability $1 - \delta$ over $m$ training inputs the expected loss of the learned network is at most
#
# ```{math}
# :label: eq-chain-bound
# B(\sigma) = \sigma^2 G + 2 \sqrt{\frac{\Sigma^2}{2m} \Bigl( \frac{N}{2\sigma^2} + \log \frac1\delta \Bigr)} .
# ```
#
# Here $N = \|\theta\|^2$ and $G = G_u$ are the squared norm of the written-down network and the bound on its squared gradient, $\sigma$ the size of a perturbation of the weights, and $\Sigma$ a constant of the loss. We use $G_u = 4 + 4(2 + d + 32d^2 + 32d^3)$, which {ref}`ch-gradients-and-trace` confirms for $W = 1$.
#
# * **Best $\sigma$.** A wrong bit needs an error of $\frac12$, so a loss of $\frac14$. By Markov's inequality a step is wrong with probability at most $4B$, and one of $T$ steps with probability at most $4TB$. Without the small term $\log \frac1\delta$ the least value is $B^* = 3 G^{1/3} \bigl( \frac\Sigma2 \sqrt{N/m} \bigr)^{2/3}$.
# * **Fixed $\sigma$.** Set $B = \frac14$ and solve for $\delta$. This gives
#
# ```{math}
# :label: eq-chain-core
# \delta = \exp\Bigl( \frac{N}{2\sigma^2} - \frac{m}{2\Sigma^2} \bigl( \tfrac14 - \sigma^2 G \bigr)^2 \Bigr), \qquad \sigma^2 G \le \tfrac14 .
# ```

# %% tags=["parameters"]
n_max = 16  # longest input whose 2**n_max strings are all tried, in bits [6..16]
example = 45  # index of the string of six bits followed step by step [0..63]
T_max = 4096  # longest length of the bounds, in bits; a power of two [1024..1048576]
m = 1e8  # training inputs [1e4..1e12]
Sigma = 0.01  # the constant of the loss that the paper uses [0.001..1]
sigma = 1e-3  # the fixed size of a perturbation [0.0002..0.001]
seed = 0  # of the random functions [0..1000000]

# %% [markdown]
# ## Six steps
#
# {numref}`fig-chain-steps` follows one string of six bits. Each row is one step, and the shading is the attention of the last token. It finds the two tokens with its own code. Their mean is $0$, $\frac12$ or $1$, up to a little that goes to other tokens. The MLP undoes that, and says 1 for $0$ or $1$ (even), 0 for $\frac12$ (odd).

# %%
import math

import torch
from matplotlib.patches import Rectangle

from helpers import cube
from helpers.book import figures
from helpers.book.claims import Ledger, glue
from helpers.sharper import chain_of_thought as chain
from helpers.sharper import network as sharper
from helpers.sharper import pac_bayes

ledger = Ledger("sharper/chain_of_thought")
generator = torch.Generator().manual_seed(seed)

spec, weights = chain.construct(6)
x = cube.bits(6)[example]
written, outputs = chain.generate(spec, weights, x[None])
whole = torch.cat((x, torch.zeros(1, dtype=torch.int64), written[0]))
steps = []
for t in range(1, 7):
    string = whole[: 6 + t]
    output, inside = chain.forward(spec, weights, string[None])
    steps.append((string, inside["attention1"][0, -1], inside["means"][0, -1], output[0]))
print("step  string        mean      output  writes")
for t, (string, _, mean, output) in enumerate(steps, 1):
    text = "".join(map(str, string.tolist()))
    print(f"{t:3}   {text:12} {mean:8.4f} {output:8.4f}  {int(output < 0.5)}")
glue("example_bits", "".join(map(str, x.tolist())))
glue("example_answer", int(written[0, -1]))
glue("example_ones", int(x.sum()))

# %% mystnb={"figure": {"caption": "The chain at work on six bits. One row a step; the cells are the string so far, bits left of the bar, scratch right of it. Shading: attention of the last token in the first layer. Framed: the two tokens with its code. On the right the mean, the output of the network, and the bit that is written next.", "name": "fig-chain-steps"}, "image": {"alt": "Six rows of cells that hold zeros and ones. Each row is one cell longer than the one above. In row t the cell of bit t and the last cell are dark and framed, all others almost white. To the right of each row stand the mean near 0, one half or 1, the output near 1 or 0, and the bit written, which appears at the end of the next row."}} tags=["hide-input"]
fig, ax = figures.new(height=3.6)
for row, (string, attention, mean, output) in enumerate(steps):
    for j, (bit, share) in enumerate(zip(string.tolist(), attention.tolist(), strict=True)):
        shade = 1 - share
        colour = (0.85 * shade + 0.1, 0.55 * shade + 0.43, 0.3 * shade + 0.69)
        ax.add_patch(
            Rectangle(
                (j - 0.45, -row - 0.4),
                0.9,
                0.8,
                facecolor="white" if share < 0.05 else colour,
                edgecolor="black" if j in (row, 6 + row) else "#c8c8c8",
                linewidth=2 if j in (row, 6 + row) else 0.7,
            )
        )
        ax.text(j, -row, bit, ha="center", va="center", fontsize=10)
    ax.text(12.6, -row, f"{mean:.2f}", ha="center", va="center")
    ax.text(14.0, -row, f"{output:.2f}", ha="center", va="center")
    ax.text(15.3, -row, f"{int(output < 0.5)}", ha="center", va="center", fontweight="bold")
    ax.text(-1.1, -row, f"step {row + 1}", ha="right", va="center")
for place, text in ((12.6, "mean"), (14.0, "output"), (15.3, "writes")):
    ax.text(place, 0.85, text, ha="center", va="center", color=figures.GREY)
ax.plot([5.5, 5.5], [0.55, -5.5], marker="", color="black", linewidth=1)
ax.text(2.5, 0.85, "input bits", ha="center", va="center", color=figures.GREY)
ax.text(8.5, 0.85, "scratch", ha="center", va="center", color=figures.GREY)
ax.set(xlim=(-2.6, 16), ylim=(-5.6, 1.2))
ax.axis("off")
figures.show()

# %% [markdown]
# The string {glue:text}`example_bits` has {glue:text}`example_ones` ones, and the last bit written is {glue:text}`example_answer`.
#
# ## Every string
#
# The score matrices must send *every* code to itself, because the same weights serve all steps: both are a multiple $L$ of the identity on the $T$ codes. With $L = 2 \log 2T$, for strings of up to $2T$ tokens, the last token gives a share $\lambda = \frac{T-1}{e^L + T-1}$ to tokens of other codes. In the first layer that is less than the $\frac18$ that the plateaus of the MLP absorb. In the second it moves the output by at most $\lambda$, and rounding absorbs it.
#
# We run the chain on all strings of a length, and compare every bit that it writes with the parity so far. A second network has the one entry in each score matrix that the paper speaks of, for the code of the first step.


# %%
def one_entry(weights):
    """The same network with one non-zero score in each layer, for the first code."""
    kept = {}
    for name in ("WKQ1", "WKQ2"):
        kept[name] = torch.zeros_like(weights[name])
        kept[name][0, 0] = weights[name][0, 0]
    return weights | kept


wrong, wrong_one_entry, leak_gap, next_leak_gap = {}, {}, [], []
print(" T   strings   bits wrong   largest error   lambda     one entry: wrong answers")
for n in sorted({*range(1, min(n_max, 12) + 1), n_max}):
    spec, weights = chain.construct(n)
    bits = cube.bits(n)
    parities = bits.cumsum(-1) % 2
    written, outputs = chain.generate(spec, weights, bits)
    wrong[n] = int((written != parities).sum())
    error = (outputs - (1 - parities)).abs().max().item()
    _, lost = chain.leaks(n)
    leak_gap.append(abs(error - lost))
    next_leak_gap.append(abs(error - chain.leaks(n + 1)[1]))
    share = ""
    if n <= 10:
        answers, _ = chain.generate(spec, one_entry(weights), bits)
        wrong_one_entry[n] = int((answers[:, -1] != parities[:, -1]).sum())
        share = f"{wrong_one_entry[n]} of {2**n}"
    print(f"{n:2} {2**n:9} {wrong[n]:12} {error:15.6f} {lost:8.6f}     {share}")
glue("n_max", n_max)
glue("strings", 2**n_max)
last_tried = max(wrong_one_entry)
glue("one_entry_wrong", wrong_one_entry[last_tried] / 2**last_tried)
glue("last_tried", last_tried)

# %% [markdown]
# No bit is wrong on any of the {glue:text}`strings` strings of {glue:text}`n_max` bits, or on shorter ones, and the largest error of the output is $\lambda$ exactly. With one entry a share of {glue:text}`one_entry_wrong:.2f` of the answers is wrong at $T =$ {glue:text}`last_tried`, no better than a coin. A different matrix at each step would work, but that is not one network.
#
# ## How small can the shared matrix be?
#
# Is the identity wasteful? Say that code $t$ must score itself higher than every other code by a margin $L$: $W_{tt} - W_{tj} \ge L$ for all $j \ne t$. The least Frobenius norm under these constraints is a convex problem with an exact answer.
#
# ```{prf:lemma} Shared scores (ours)
# :label: chain-scores
# The smallest such matrix is $W = L \left( I - \frac1T \mathbf 1 \mathbf 1^\top \right)$, and $\|W\|_F^2 = (T-1) L^2$.
# ```
#
# **Proof.** All constraints hold with equality. And $W$ is the sum of all their normals $e_t (e_t - e_j)^\top$ with the multiplier $\frac LT \ge 0$ each. For any other feasible $V$ the product $\langle W, V - W \rangle$ is then a sum of non-negative terms, so $\|V\| \ge \|W\|$. $\square$
#
# So with one-hot codes the squared norm of a shared score matrix is at least $(T-1) L^2$, and the identity, with $T L^2$, is nearly the best. The claim that the chain's weights are smaller than those of the network for $d = 2$ cannot be saved. What *is* true is the other half of the argument: at each step the network is, as far as gradients go, the network for $d = 2$.


# %%
def rest(d):
    """Squared norm of all blocks but the score matrices, for one set of size d."""
    b = 2 * (d + 1) * (2 * d + 1) / (3 * d) + 5 * (d + 1) / (4 * d**2)
    return 2 + 4 * (d + 1) + b + 16 * d**2 * (d // 2 + 1)


def one_pass_norm(T):
    return rest(T) + (T + 1) * (2 * math.log(T)) ** 2


NORMS = {
    "one entry": lambda T: rest(2) + 2 * (2 * math.log(2 * T)) ** 2,
    "identity": lambda T: rest(2) + 2 * T * (2 * math.log(2 * T)) ** 2,
    "least": lambda T: rest(2) + 2 * (T - 1) * (2 * math.log(2 * T)) ** 2,
}


def squared_norm(weights):
    return sum(w.square().sum().item() for w in weights.values())


def squared_gradient(forward, weights, inputs):
    """Squared gradient of the output in all weights at each input, (B,)."""
    copies = {
        k: v.expand(len(inputs), *v.shape).clone().requires_grad_() for k, v in weights.items()
    }
    found = torch.autograd.grad(forward(copies, inputs[:, None]).sum(), list(copies.values()))
    return sum(g.flatten(1).square().sum(1) for g in found)


norm_gaps, certificate, certificate_identity, wrong_least, norm_ratio = [], [], [], [], []
for n in range(2, min(n_max, 12) + 1):
    spec, weights = chain.construct(n)
    scale = 2 * math.log(2 * n)
    parity = cube.SparseFunction(
        n, torch.tensor([2**n - 1]), torch.ones(1, dtype=torch.float64), "even_parity"
    )
    norm_gaps.append(abs(squared_norm(weights) / NORMS["identity"](n) - 1))
    norm_gaps.append(abs(squared_norm(one_entry(weights)) / NORMS["one entry"](n) - 1))
    norm_gaps.append(abs(squared_norm(sharper.construct(parity)[1]) / one_pass_norm(n) - 1))
    least = chain.least_scores(n, scale)
    multipliers = scale / n * (1 - torch.eye(n, dtype=torch.float64))
    normals = multipliers.sum(-1).diag() - multipliers  # sum of mu_tj e_t (e_t - e_j)^T
    certificate.append((least - normals).abs().max().item())
    certificate_identity.append((scale * torch.eye(n) - normals).abs().max().item())
    shared = torch.zeros(n + 1, n + 1, dtype=torch.float64)
    shared[:n, :n] = least
    small = weights | {"WKQ1": shared, "WKQ2": shared}
    norm_gaps.append(abs(squared_norm(small) / NORMS["least"](n) - 1))
    two = cube.SparseFunction(
        n, torch.tensor([3]), torch.ones(1, dtype=torch.float64), "even_parity"
    )
    for_two = squared_norm(sharper.construct(two, scale)[1])
    norm_ratio.append(squared_norm(weights) / for_two)
    if n <= 8:
        written, _ = chain.generate(spec, small, cube.bits(n))
        wrong_least.append(int((written != cube.bits(n).cumsum(-1) % 2).sum()))

n_grad, four = 5, cube.bits(2)
pair_function = cube.SparseFunction(
    n_grad, torch.tensor([3]), torch.ones(1, dtype=torch.float64), "even_parity"
)
padded = torch.nn.functional.pad(four, (0, n_grad - 2))  # bits 1 and 2 hold the pair
gradient_gaps = {}
for name, scale in (("large scale", 40.0), ("2 log 2T", 2 * math.log(2 * n_grad))):
    two_spec, two_weights = sharper.construct(pair_function, scale)
    reference = squared_gradient(
        lambda w, b, s=two_spec: sharper.forward(s, w, b), two_weights, padded
    )
    spec, weights = chain.construct(n_grad, scale)
    gaps = []
    for t in range(1, n_grad + 1):
        strings = torch.randint(0, 2, (4, n_grad + t), generator=generator)
        strings[:, t - 1], strings[:, -1] = four[:, 0], four[:, 1]
        found = squared_gradient(lambda w, s, k=spec: chain.forward(k, w, s)[0], weights, strings)
        gaps.append((found / reference - 1).abs().max().item())
    gradient_gaps[name] = max(gaps)
n_last = min(n_max, 12)
print(f"squared norm of the chain at T = {n_last}: {NORMS['identity'](n_last):.3f}")
print(f"  least with shared one-hot codes:  {NORMS['least'](n_last):.3f}")
print(f"  with one entry a layer:           {NORMS['one entry'](n_last):.3f}")
print(
    f"  of the network for d = 2 at the same scale: {NORMS['identity'](n_last) / norm_ratio[-1]:.3f}"
)
print("squared gradient at a step against the network for d = 2: largest relative gap")
print("  large scale: " + ("< 1e-12" if gradient_gaps["large scale"] < 1e-12 else "above 1e-12"))
print(f"  2 log 2T:    {gradient_gaps['2 log 2T']:.6f}")
glue("norm_ratio", norm_ratio[-1])
glue("n_last", n_last)

# %% [markdown]
# At $T =$ {glue:text}`n_last` the chain's squared norm is {glue:text}`norm_ratio:.1f` times that of the network for $d = 2$. The squared gradients agree to rounding in the limit of large scores, at every step and for every pair of bits. So the sharpness does not depend on $T$, and the norm does.
#
# ## Both bounds, with the best $\sigma$
#
# With $G$ and $N$ known the bounds are numbers. For one pass $G \approx 128\, T^3$ and $N \approx 8\, T^3$, so $B^* \sim (G N)^{1/3} \sim T^2$: a polynomial. For the chain $G$ is constant and $N \approx 8\, T \log^2 2T$, so $4 T B^* \sim T \cdot T^{1/3} \log^{2/3} 2T$. {numref}`fig-chain-bounds` shows them, with the paper's $\Sigma$.


# %%
def gradient_bound(d):
    return pac_bayes.sharpness(d, 1)


def best_bound(N, G):
    """B at the best sigma, without the term of the confidence."""
    return pac_bayes.truncated_optimum(N, G, m, Sigma)


def bound_at(N, G, s):
    """B at a given sigma, without the term of the confidence."""
    return s**2 * G + 2 * math.sqrt(Sigma**2 / (2 * m) * N / (2 * s**2))


lengths = [2**k for k in range(2, T_max.bit_length())]
curves = {"one pass": [4 * best_bound(one_pass_norm(T), gradient_bound(T)) for T in lengths]}
for name, norm in NORMS.items():
    curves[f"chain, {name}"] = [4 * T * best_bound(norm(T), gradient_bound(2)) for T in lengths]


def last_slope(values, logs=0.0):
    """Slope on logarithmic axes over the last doubling, with a power of log 2T divided out."""
    clean = [v / math.log(2 * T) ** logs for v, T in zip(values, lengths, strict=True)]
    return math.log(clean[-1] / clean[-2]) / math.log(lengths[-1] / lengths[-2])


slopes = {name: last_slope(row) for name, row in curves.items()}
bare = {name: last_slope(row, 2 / 3) for name, row in curves.items()}
optimum_gap = max(
    abs(
        min(bound_at(N, G, s0 * f) for f in torch.linspace(0.9, 1.1, 2001).tolist())
        / best_bound(N, G)
        - 1
    )
    for N, G in ((one_pass_norm(8), gradient_bound(8)), (NORMS["identity"](64), gradient_bound(2)))
    for s0 in [(Sigma * math.sqrt(N / m) / (2 * G)) ** (1 / 3)]
)


def first_better(name):
    """Least length from which the chain's bound is the smaller one."""
    N = NORMS[name]
    return next(
        T
        for T in range(2, 10**6)
        if T * best_bound(N(T), gradient_bound(2)) < best_bound(one_pass_norm(T), gradient_bound(T))
    )


better = {name: first_better(name) for name in NORMS}
print("    T " + " ".join(f"{name:>17}" for name in curves))
for k, T in enumerate(lengths):
    print(f"{T:7}" + " ".join(f"{row[k]:17.5f}" for row in curves.values()))
print("slope  " + " ".join(f"{v:17.4f}" for v in slopes.values()))
print("without log^(2/3)" + " ".join(f"{v:17.4f}" for v in bare.values())[10:])
for name, T in better.items():
    print(f"chain, {name}: below one pass from T = {T} on")
glue("slope_one_pass", slopes["one pass"])
glue("slope_chain", slopes["chain, identity"])
glue("slope_one_entry", slopes["chain, one entry"])
glue("better", better["identity"])
glue("better_one_entry", better["one entry"])
glue("T_max", T_max)

# %% mystnb={"figure": {"caption": "Bounds on the probability of a wrong answer, with the best $\\sigma$ at each length: for one pass, and for the chain with the norm that the paper gives it (one entry), the norm of the network that works (identity), and the least norm that shared codes allow. Above the grey line a bound says nothing.", "name": "fig-chain-bounds"}, "image": {"alt": "Log-log plot against the length from 4 to 4096 bits. The curve of one pass is straight with slope two. The three chain curves start above it, the one for one entry with slope near one and the two others close together with slope near one and a half; the one pass curve crosses them near 10 bits and ends far above all of them."}} tags=["hide-input"]
fig, ax = figures.new(height=3.6)
for name, row in curves.items():
    ax.plot(lengths, row, label=f"{name}: slope {slopes[name]:.2f}")
ax.axhline(1, color=figures.GREY, linewidth=1)
ax.set(
    xscale="log",
    yscale="log",
    xlabel="length $T$ (bits)",
    ylabel="bound on P(wrong answer)",
)
ax.set_xticks(lengths[::2], [str(T) for T in lengths[::2]])
ax.minorticks_off()
ax.legend()
figures.show()

# %% [markdown]
# At $T$ up to {glue:text}`T_max` the slope for one pass is {glue:text}`slope_one_pass:.2f`. For the chain it is {glue:text}`slope_chain:.2f` with the norm that the network has, and {glue:text}`slope_one_entry:.2f` with the norm that the paper gives it. The chain has the smaller bound from $T =$ {glue:text}`better` on. For short inputs it has the larger one.
#
# ## What is exponential
#
# Now fix $\sigma$, as the end of the proof does. Then {eq}`eq-chain-core` has $N(d)$ and $G(d)$ in the exponent of a *confidence*, and these are exponentials, in both theorems. But a confidence $\delta$ above 1 says nothing. {numref}`fig-chain-core` shows the exponent. For one pass it leaps from about $-10^{10}$ to $+10^{10}$ within a few bits, and soon $\sigma^2 G > \frac14$, where the formula ends. So the bound does grow exponentially and faster. But below 1 it is so small that it says *never wrong*, and above 1 it says nothing. The chain's bound, $T \delta$, does the same at a greater length: its norm is in the exponent too. Even one entry of $2 \log 2T$ makes $T \delta$ grow faster than any power of $T$, though from a very small value.


# %%
def exponent(N, G):
    """log delta at the fixed sigma; None where there is no bound."""
    room = 0.25 - sigma**2 * G
    return N / (2 * sigma**2) - m / (2 * Sigma**2) * room**2 if room >= 0 else None


fine = sorted({round(2 ** (k / 4)) for k in range(4, 4 * 14 + 1)})
cores = {"one pass": [exponent(one_pass_norm(T), gradient_bound(T)) for T in fine]}
for name in ("identity", "one entry"):
    cores[f"chain, {name}"] = [
        math.log(T) + exponent(NORMS[name](T), gradient_bound(2)) for T in fine
    ]
vacuous = {
    name: next((T for T, v in zip(fine, row, strict=True) if v is None or v >= 0), fine[-1])
    for name, row in cores.items()
}
early = [exponent(one_pass_norm(T), gradient_bound(T)) for T in (4, 6, 8)]
core_growth = (early[2] - early[1]) / (early[1] - early[0])


def doubling(norm, T=64):
    """log2 of the chain's bound at 2T over that at T; the terms without N cancel."""
    return 1 + (norm(2 * T) - norm(T)) / (2 * sigma**2) / math.log(2)


print(f"sigma = {sigma:g}, m = {m:g}: log of the bound; 'none' where sigma^2 G > 1/4")
print("    T " + " ".join(f"{name:>20}" for name in cores))
for T in (2, 4, 8, 16, 64, 256, 1024, 4096, 16384):
    k = fine.index(T)
    cells = " ".join(
        f"{'none' if row[k] is None else f'{row[k]:.4e}':>20}" for row in cores.values()
    )
    print(f"{T:6} {cells}")
for name, T in vacuous.items():
    print(
        f"{name}: says "
        + (f"something up to T = {T}" if fine[-1] == T else f"nothing from T = {T} on")
    )

# %% mystnb={"figure": {"caption": "The logarithm of the bound at a fixed $\\sigma$. Below the grey line the bound is below 1 and says something; above it, nothing. The curve of one pass ends where $\\sigma^2 G$ passes $\\frac14$.", "name": "fig-chain-core"}, "image": {"alt": "Against the length on a logarithmic axis, three curves on a vertical axis that is logarithmic in both directions. One pass leaves a plateau near minus ten to the ten at about ten bits and ends. The chain with the identity leaves the same plateau near some hundred bits and rises to plus ten to the eleven. The chain with one entry stays on the plateau."}} tags=["hide-input"]
fig, ax = figures.new(height=3.3)
for name, row in cores.items():
    pairs = [(T, v) for T, v in zip(fine, row, strict=True) if v is not None]
    ax.plot(*zip(*pairs, strict=True), label=name, markevery=3)
ax.axhline(0, color=figures.GREY, linewidth=1)
ax.set(xscale="log", xlabel="length $T$ (bits)", ylabel="log of the bound")
ax.set_yscale("symlog", linthresh=m / (2 * Sigma**2) / 400)
ax.set_xticks(
    [4, 16, 64, 256, 1024, 4096, 16384], ["4", "16", "64", "256", "1024", "4096", "16384"]
)
ax.minorticks_off()
ax.legend()
figures.show()

# %% [markdown]
# ## What would falsify this
#
# For the construction: one wrong bit on one string (the control is the network with one entry), an output off by other than $\lambda$ (the control is $\lambda$ for one bit more), or a gradient that differs from that of the network for $d = 2$ in the limit (the control is the scale $2 \log 2T$). For the least norm: a multiplier below zero, or scores that are not the sum of the constraints' normals; the control is the identity, which is not. For the growth: a slope on logarithmic axes. *Linear* is slope 1, with an allowance of $\frac23 / \log T$, the slope of the factor $\log^{2/3} 2T$; its control is the norm that the paper gives the chain. *Exponential* is a growth per bit that does not fall; its control is the exponent at fixed $\sigma$, which does grow like that while it is defined.

# %%
mid = len(lengths) // 2
one_pass_log = [math.log(v) for v in curves["one pass"]]
growth_ratio = ((one_pass_log[-1] - one_pass_log[-2]) / (lengths[-1] - lengths[-2])) / (
    (one_pass_log[mid] - one_pass_log[mid - 1]) / (lengths[mid] - lengths[mid - 1])
)
allowance = 2 / 3 / math.log(T_max)
no_margin = weights | {"WKQ1": 0 * weights["WKQ1"], "WKQ2": 0 * weights["WKQ2"]}
blind, _ = chain.generate(chain.ChainSpec(n_grad), no_margin, cube.bits(n_grad))
blind_wrong = int((blind != cube.bits(n_grad).cumsum(-1) % 2).sum())
ledger.check(
    "sharper.cot",
    f"bits written wrong by the chain, all strings of each length up to {n_max}",
    measured=sum(wrong.values()),
    at_most=0,
    control=sum(wrong_one_entry.values()),
)
ledger.check(
    "sharper.cot",
    "largest error of the output is $\\lambda$, largest gap over the lengths",
    measured=max(leak_gap),
    at_most=0,
    tol=1e-12,
    control=max(next_leak_gap),
)
ledger.check(
    "sharper.cot",
    "at a large scale every step has the squared gradient of the network for $d = 2$, largest relative gap",
    measured=gradient_gaps["large scale"],
    at_most=0,
    tol=1e-11,
    control=gradient_gaps["2 log 2T"],
)
ledger.check(
    "sharper.cot",
    f"as printed: with one entry in the score matrices no answer is wrong, share at $T = {last_tried}$",
    measured=wrong_one_entry[last_tried] / 2**last_tried,
    at_most=0,
    control=wrong[last_tried] / 2**last_tried,
    expect="refuted",
)
ledger.check(
    "sharper.cot",
    f"as printed: squared norm over that of the network for $d = 2$, $T = {n_last}$",
    measured=norm_ratio[-1],
    at_most=1,
    control=norm_ratio[-1] * NORMS["one entry"](n_last) / NORMS["identity"](n_last),
    expect="refuted",
)
ledger.check(
    "sharper.cot",
    "the least shared scores are the sum of the constraints' normals, largest gap",
    measured=max(certificate),
    at_most=0,
    tol=1e-12,
    control=min(certificate_identity),
    expect="repaired",
)
ledger.check(
    "sharper.cot",
    "bits written wrong with the least scores, all strings up to 8 bits",
    measured=sum(wrong_least),
    at_most=0,
    control=blind_wrong,
    expect="repaired",
)
ledger.check(
    "sharper.cot",
    "squared norms against their closed forms, largest relative gap",
    measured=max(norm_gaps),
    at_most=0,
    tol=1e-12,
    control=abs(squared_norm(chain.construct(4)[1]) / NORMS["one entry"](4) - 1),
    expect="repaired",
)
ledger.check(
    "sharper.thm7",
    "$B^*$ is the least $B(\\sigma)$ on a grid around the best $\\sigma$, largest relative gap",
    measured=optimum_gap,
    at_most=0,
    tol=1e-9,
    control=bound_at(1.0, 1.0, 2 * (Sigma / math.sqrt(m) / 2) ** (1 / 3)) / best_bound(1.0, 1.0)
    - 1,
)
ledger.check(
    "sharper.thm7",
    "as printed: the chain's bound grows linearly, slope on logarithmic axes",
    measured=slopes["chain, identity"],
    at_most=1,
    tol=allowance,
    control=slopes["chain, one entry"],
    expect="refuted",
)
ledger.check(
    "sharper.thm7",
    "as printed, at fixed $\\sigma$: the bound doubles from $T = 64$ to $128$, log of the ratio in base 2",
    measured=doubling(NORMS["identity"]),
    at_most=1,
    tol=1e-9,
    control=doubling(lambda T: rest(2)),
    expect="refuted",
)
ledger.check(
    "sharper.thm7",
    "the chain's bound over $\\log^{2/3} 2T$ has slope $\\frac43$",
    measured=bare["chain, identity"],
    equals=4 / 3,
    tol=0.01,
    control=bare["chain, one entry"],
    expect="repaired",
)
ledger.check(
    "sharper.thm7",
    "with the least norm that shared one-hot codes allow, the same slope",
    measured=bare["chain, least"],
    equals=4 / 3,
    tol=0.01,
    control=bare["chain, one entry"],
    expect="repaired",
)
ledger.check(
    "sharper.thm8",
    "as printed: the growth per bit of the log bound for one pass does not fall, last doubling over a middle one",
    measured=growth_ratio,
    at_least=1,
    control=core_growth,
    expect="refuted",
)
ledger.check(
    "sharper.thm8",
    "the bound for one pass has slope 2 on logarithmic axes",
    measured=slopes["one pass"],
    equals=2,
    tol=0.01,
    control=slopes["chain, identity"],
    expect="repaired",
)
ledger.finding(
    "sharper.cot",
    printed="The first score matrix of the chain has a single non-zero entry, so that the weights are smaller than those of the network for $d = 2$.",
    counterexample=f"With one entry {wrong_one_entry[last_tried]} of {2**last_tried} answers are wrong at $T = {last_tried}$. The network that works has {norm_ratio[-1]:.1f} times the squared norm of the one for $d = 2$ at $T = {n_last}$.",
    why="All steps share the weights, and each needs an entry of its own: a multiple of the identity on the $T$ codes, in both score matrices.",
    repair="Squared norm $147.9 + 2 T L^2$ with $L = 2 \\log 2T$. No shared score matrix for one-hot codes has less than $(T-1) L^2$.",
    survives="The chain itself: exact on every string tried, and with the sharpness of the network for $d = 2$ at every step.",
)
ledger.finding(
    "sharper.thm7",
    printed="The bound on the error with a chain of thought grows linearly in $T$.",
    counterexample=f"With the best $\\sigma$ its slope at $T = {T_max}$ is {slopes['chain, identity']:.3f}, not 1. With $\\sigma$ fixed it grows exponentially: the norm is in the exponent.",
    why="The norm of the shared weights grows like $T \\log^2 T$, and the bound with the cube root of the norm.",
    repair="$4 T B^* = O(T^{4/3} \\log^{2/3} T)$.",
    survives=f"The chain has the smaller bound from $T = {better['identity']}$ on, and a gap that grows like $T^{{2/3}}$ up to logarithms.",
)
ledger.finding(
    "sharper.thm8",
    printed="In one pass the bound on the error grows exponentially in $T$.",
    counterexample=f"With the best $\\sigma$ the slope on logarithmic axes is {slopes['one pass']:.3f}: a square.",
    why="The exponential is that of a confidence $\\delta$ at fixed $\\sigma$. It passes 1, where it says nothing, within a few bits, and it ends where $\\sigma^2 G > \\frac14$.",
    repair="$4 B^* = O(T^2)$, since norm and gradient bound both grow like $T^3$.",
    survives="One pass has the worse bound for long inputs, by a power of $T$.",
)
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# The file names of `paullintilhac/boolean_function_sensitivity` (35 Python files, 14 notebooks) show no program for the chain of thought, and we found none in what we read: the hand-written networks and the bounds of `generate_plots.ipynb`. That notebook has the $G_u$ used here. But the function for the norm returns a square root, and the result stands where {eq}`eq-chain-bound` has $N$. So the plotted bounds hold $\sqrt N$ in place of $N$. With that, every growth in this chapter would look slower.

# %%
coded = {
    "one pass": [best_bound(one_pass_norm(T) ** 0.5, gradient_bound(T)) for T in lengths],
    "chain, identity": [
        T * best_bound(NORMS["identity"](T) ** 0.5, gradient_bound(2)) for T in lengths
    ],
}
for name, row in coded.items():
    print(f"{name}: slope {last_slope(row):.4f} with the root of N, {slopes[name]:.4f} with N")

# %% [markdown]
# ## What we found
#
# * The chain computes parity on all {glue:text}`strings` strings of {glue:text}`n_max` bits, and on all shorter ones.
# * Its weights must hold a scaled identity. So their squared norm grows like $T \log^2 T$; {glue:text}`norm_ratio:.1f` times that of the network for $d = 2$ at $T =$ {glue:text}`n_last`. At least $(T-1) L^2$ is needed in each score matrix.
# * With the best $\sigma$ the two bounds grow like $T^{4/3}$, up to logarithms, and $T^2$. Neither linear nor exponential.
# * The exponential belongs to a confidence at a fixed $\sigma$, in both theorems, and is above 1 when it grows.
# * Two steps were taken on trust here: that the learned network is as good as the written-down one, and that inputs of different steps of one chain may be counted as independent training inputs.
#
# ## Exercises
#
# ```{admonition} Exercise 1
# At which scale does the chain start to make mistakes? Try $L = c \log 2T$ with $T = 10$.
# ```

# %% tags=["hide-cell"]
# The condition eps <= 1/8, lambda < 1/2 is sufficient: it needs e^L >= 7 (T - 1), that is c >= 1.39 at T = 10. Mistakes start far below.
bits = cube.bits(10)
for c in (0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 2.0):
    spec, weights = chain.construct(10, c * math.log(20))
    written, _ = chain.generate(spec, weights, bits)
    epsilon, lost = chain.leaks(10, c * math.log(20))
    share = (written[:, -1] != bits.sum(-1) % 2).double().mean().item()
    print(f"c = {c}: eps {epsilon:.4f}, lambda {lost:.4f}, share of wrong answers {share:.4f}")

# %% [markdown]
# ```{admonition} Exercise 2
# Suppose a step may add $k$ bits at once, with sets of size $k + 1$. Which $k$ gives the smallest bound at $T = 64$?
# ```

# %% tags=["hide-cell"]
# T/k steps; the norm of the MLP and the gradient bound are those of d = k + 1, and the scores need k + 1 entries for each of T/k codes.
T = 64
for k in (1, 2, 4, 8, 16, 32):
    d = k + 1
    N = rest(d) + (d + 1) * (T / k) * (2 * math.log(2 * T)) ** 2
    print(f"k = {k:2}: {T / k * 4 * best_bound(N, gradient_bound(d)):.4f}")

# %% [markdown]
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# Construction and theorems are from {cite:t}`sharper`.
