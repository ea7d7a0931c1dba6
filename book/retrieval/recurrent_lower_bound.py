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
# (ch-recurrent-lower-bound)=
# # What a recurrent state must hold
#
# **Claim.** In the general task every token has a pointer of its own, so the two states of a recurrent net must hold the labels of all other tokens before they meet it; we make that exact for states that are linear, of few bits, or bounded and read by a Lipschitz map. The paper's bound on the *dimension* of the states, as restored, holds with explicit constants. Its bound on the *norm* has two forms: the text names the Frobenius norm, and that form holds; the proof, as restored, concludes it for the operator norm, and that form is false, as states made of an error-correcting code show. One step of that proof, a bound on packings of the Euclidean ball, is false as restored. Theorem 9 needs the Frobenius form only, and its chain holds: a net that fits few samples needs a norm that does not depend on the length of the prompts, and a net that solves the task one that grows with it.
# **Needs** {ref}`ch-attention-weights`, {ref}`ch-linear-covers`. **Runs in** 20 s. **Source** restored; the Frobenius form and Theorem 9 quoted.
#
# Token $i$ of $N$ carries standard normal data $x_i \in \mathbb R^d$ and one pointer $t_i$, uniform on the $N$ positions and independent of everything else. Its label is $y_i = \langle u, x_{t_i} \rangle$ with a fixed $u$ of length 1. The risk of predictions $\hat y$ is $\frac1N \mathbb E \|y - \hat y\|^2$; predicting 0 has risk 1. A recurrent net has two states in $\mathbb R^{d_h}$ of Euclidean norm at most $r_h$: $h^\to_i$ has seen the tokens before $i$, $h^\gets_i$ those after it. The prediction is $\hat y_i = f_y(U^\to h^\to_i, U^\gets h^\gets_i, x_i, t_i)$, where $f_y$ is $\mathfrak L/r_h$-Lipschitz in its first two arguments. Transitions are arbitrary. $\|U\|_{op}$ is the largest singular value of $U = (U^\to, U^\gets)$, and $\|U\|_F$ the root of the sum of its squared entries.
#
# ```{prf:proposition} Mousavi-Hosseini et al. (2025), Propositions 8 and 35
# :label: retrieval-prop8
# *(As restored; the second is quoted from the text.)* There are constants $c, c' > 0$ such that a risk of at most $c$ implies
#
# 1. the *dimension form* $d_h \log(1 + \mathfrak L \|U\|_{op}) \ge c' N$;
# 2. the *Frobenius form*, which the text names: $\mathfrak L \|U\|_F \ge c' \sqrt N$ up to logarithms;
# 3. the *operator form*, which the proof concludes: $\mathfrak L^2 \|U\|_{op}^2 \log(1 + d_h) \ge c' N$. *(Refuted below.)*
# ```
#
# ```{prf:lemma} Mousavi-Hosseini et al. (2025), Lemma 41
# :label: retrieval-lem41
# *(As restored. The second bound is refuted below.)* The log of the largest number of points in the Euclidean unit ball of $\mathbb R^D$ that are pairwise $\epsilon$ apart is at most
#
# $$\min\bigl\{ D \log(1 + 2/\epsilon),\; C \epsilon^{-2} \log(1 + D \epsilon^2) \bigr\} .$$
# ```
#
# ```{prf:lemma} Mousavi-Hosseini et al. (2025), Lemmas 36 to 38
# :label: retrieval-lem38
# Let $x^{(1)}, \dots, x^{(n)}$ be standard normal. With probability at least $\frac13$ there is a unit vector $v$ for which the numbers $z_i = \langle v, x^{(i)} \rangle$ are pairwise of order $1/n^2$ apart, and $\|z\|$ is of order $\sqrt n$. Through $n$ points whose $z_i$ are $\epsilon \le 1$ apart goes a two-layer ReLU net with $n$ units and a squared norm of order $\|y\| \sqrt{\|z\|^2 + n}\, / \epsilon$. So $n$ samples are interpolated at a squared norm of order $n^3$.
# ```
#
# ```{prf:lemma} Mousavi-Hosseini et al. (2025), Lemma 42, from Bach (2017)
# :label: retrieval-lem42
# A Lipschitz function on a ball is approximated by two-layer ReLU nets of bounded weights, as well as one likes.
# ```
#
# ```{prf:theorem} Mousavi-Hosseini et al. (2025), Theorem 9
# :label: retrieval-thm9
# Let $d_h \le e^{N^c}$ with $c < 1$, let $f_y$ be a ReLU net with $L_y \ge 2$ layers, a number that does not grow, and let $\log \|\mathrm{vec}\, \Theta\| \le N^c/L_y$; $r_h = 1$. There are $c_1, c_2, c_3 > 0$ such that for $n \le O(N^{c_1})$ the weights $\Theta$ of least norm with point-wise empirical risk at most $\varepsilon$ have risk at least $c_3$ with probability at least $c_2$. The *point-wise* empirical risk looks at one random position of each sample.
# ```
#
# **What is certain about these statements.** We had the text of the paper's first version without its formulas, and a public text of the second version that keeps the inline ones:
#
# | statement | mark |
# |:--|:--|
# | the class of nets, Euclidean norms included; the Frobenius norm in the main text; the states in a ball of radius $\sqrt2\, \|U\|_{op}\, r_h$ in the proof, and that it concludes bounds on $d_h$ and $\|U\|_{op}$; Lemmas 36 to 38; the hypotheses of Theorem 9 | quoted |
# | the displays of the dimension form and of the operator form; both bounds of Lemma 41 | restored from the proof |
# | the constants $c, c', C, c_2, c_3$ and the exponent $c_1$; the rate in Lemma 42 | guessed or unknown; **not judged** |
#
# What we refute is refuted for every constant and for every power of the logarithm. For the exponent $c_1$ we say which values the argument gives.

# %% tags=["parameters"]
N = 24  # tokens, for the exact floors [12..48]
n = 40  # samples that are interpolated [20..80]
draws = 1500  # random sets of samples, for the gaps [500..5000]
repeats = 60  # for norms of interpolants [30..200]
prompts = 4000  # prompts, for risks [1000..20000]
seed = 0  # of all that is random [0..1000000]

# %% [markdown]
# ## The state before the question
#
# Fix a token $j$. Its pointer $t_j$ enters neither $h^\to_j$ nor $h^\gets_j$. But if $t_j = k$, the label is $\langle u, x_k \rangle$, for any $k$. So the function $k \mapsto f_y(\dots, k)$ has to give all $N - 1$ other labels, $N - 1$ independent standard normal numbers, out of the two states. We change $t_j$ in a random net and watch the states.

# %%
import math

import torch

from helpers.book import figures
from helpers.book.claims import Ledger
from helpers.book.output import glue
from helpers.covers import linear as covers
from helpers.draws import Draws
from helpers.retrieval import memory, packings, random_encodings, recurrent
from helpers.retrieval import task as retrieval

ledger = Ledger("retrieval/recurrent_lower_bound")
source = Draws(seed)
generator, normal = source.generator, source.normal


omega = random_encodings.spread(N, random_encodings.dimensions(24, N), generator)
given = retrieval.prompts(1, N, 3, generator)
given = given._replace(x=given.x.double())
j = N // 2
asked = given.t.clone()
asked[0, j] = (given.t[0, j] + 1) % N
A, B = normal(16, 16) / 4, normal(16, 3 + 2 * omega.shape[1]) / 4


def random_step(h, z):
    return torch.tanh(h @ A.mT + z @ B.mT)


pairs = [
    recurrent.both_states(random_step, retrieval.encode(p, omega), 16, radius=4.0)
    for p in (given, given._replace(t=asked))
]
moved_before = max((a[0, j] - b[0, j]).abs().max().item() for a, b in zip(*pairs, strict=True))
moved_after = (pairs[0][0][0, j + 1] - pairs[1][0][0, j + 1]).norm().item()
print(f"another pointer at token j moves both states at j by {moved_before:.1f},")
print(f"and the forward state after it by {moved_after:.4f}")

# %% [markdown]
# How many label vectors must be told apart? Two random ones have a squared distance of $2 \chi^2$, twice a chi-square with $N$ degrees of freedom, about $2N$. By Chernoff's bound $\Pr[2\chi^2 \le c^2 N] \le e^{-2 \rho N}$ with $\rho = \frac14 (a - 1 - \log a)$ and $a = c^2/2$. So $M$ label vectors are pairwise $c \sqrt N$ apart, except with probability $\frac{M^2}2 e^{-2 \rho N}$: their number may be exponential in $N$. We take $c = 1$ and $M = e^{\rho N - 3}$, which leaves a probability below 0.002 of failing. The control is the simple task, where all labels of a prompt are the same number.

# %%
rate = packings.normal_packing_rate(1.0)
nearest, nearest_simple = [], []
print(f"rate {rate:.4f}")
print("labels  vectors  closest pair over sqrt(labels): general   simple")
for count in (150, 190, 230):
    M = int(math.exp(rate * count - 3))
    nearest.append(packings.closest(normal(M, count)) / math.sqrt(count))
    nearest_simple.append(packings.closest(normal(M, 1).expand(M, count)) / math.sqrt(count))
    print(f"{count:6} {M:8} {nearest[-1]:40.4f} {nearest_simple[-1]:8.4f}")

# %% [markdown]
# ## Three exact floors
#
# **Linear states.** Let the state be any linear function of the labels seen, with $w$ numbers each way. Before token $j$ it has at most $\min(w, j - 1)$ of $j - 1$ dimensions, and what is orthogonal to them is independent of it. Summing both sides over all $j$, the least risk is
#
# $$\Bigl(1 - \frac wN\Bigr)\Bigl(1 - \frac{w + 1}N\Bigr) .$$
#
# It is attained by every linear memory in general position.
#
# **States of $b$ bits.** By rate-distortion theory, $m$ independent standard normal numbers told in $b$ bits have a mean squared error of at least $4^{-b/m}$, whatever the code. So the least risk is
#
# $$\frac1{N^2} \sum_{j=1}^N \bigl[ (j-1)\, 4^{-b/(j-1)} + (N-j)\, 4^{-b/(N-j)} \bigr] .$$
#
# **Lipschitz read-out of bounded states.** Cover the states so finely that the read-out changes by at most $\tau$ within a cell. The cells are a code for the labels. Its error is at most $\tau$ above that of the net (root mean squares), and rate-distortion theory bounds it from below. With $\rho = \mathfrak L \|U\|_{op}$, the two states need at most $2 d_h \log(1 + 2\sqrt2\, \rho/\tau)$ nats. So the mean squared error $E$ of the $N - 1$ labels satisfies
#
# $$\sqrt E \ge \exp\Bigl( -\frac{2 d_h}{N-1} \log\bigl(1 + 2\sqrt2\, \rho/\tau\bigr) \Bigr) - \tau \qquad \text{for every } \tau > 0 .$$
#
# Solved for $d_h$ this is the dimension form of {prf:ref}`retrieval-prop8`, with all constants and for any error below 1: no packing of labels is needed.

# %%
widths = [1, N // 6, N // 3, N // 2, 3 * N // 4]
linear_risk, simulated, linear_error = [], [], []
print("width     floor   random directions   first and last w, simulated")
for w in widths:
    A = normal(N, w)  # the state adds A_i y_i
    kept = [
        torch.linalg.matrix_rank(side).item()
        for i in range(N)
        for side in (A[:i], A[i + 1 :])
        if len(side)
    ]
    linear_risk.append(1 - 1 / N - sum(kept) / N**2)
    y = normal(prompts, N)
    held = torch.zeros(N, N, dtype=torch.bool)  # whether token i knows label k
    for i in range(N):
        held[i, : min(w, i)] = True
        held[i, max(N - w, i + 1) :] = True
        held[i, i] = True
    each = (y.square() @ (~held).double().mT).mean(-1) / N
    simulated.append(each.mean().item())
    linear_error.append(each.std().item() / math.sqrt(prompts))
    floor = memory.linear_floor(N, w)
    print(f"{w:5} {floor:9.4f} {linear_risk[-1]:19.4f} {simulated[-1]:29.4f}")
linear_gap = max(
    abs(r - memory.linear_floor(N, w)) for r, w in zip(linear_risk, widths, strict=True)
)
wider_gap = max(
    abs(r - memory.linear_floor(N, w + 1)) for r, w in zip(linear_risk, widths, strict=True)
)
z_scores = [
    abs(s - memory.linear_floor(N, w)) / e
    for s, w, e in zip(simulated, widths, linear_error, strict=True)
]

# %% [markdown]
# The memories of $b$ bits that we compare with the floor keep the first labels seen, each in $R$ bits by the best scalar quantiser (Lloyd and Max), until the bits run out.


# %%
def quantised_risk(bits, R):
    """Simulated risk of keeping labels of R bits each, as many as fit, on both sides."""
    y = normal(prompts, N)
    quantiser = memory.lloyd_max(R)
    stored = (y - quantiser.levels[quantiser.cells(y)]).square()
    room = bits // R
    total = torch.zeros(prompts, dtype=torch.float64)
    for i in range(N):
        before, after = min(room, i), min(room, N - 1 - i)
        total += stored[:, :before].sum(-1) + y[:, before:i].square().sum(-1)
        total += stored[:, N - after :].sum(-1) + y[:, i + 1 : N - after].square().sum(-1)
    risk = total / N**2
    return risk.mean().item(), risk.std().item() / math.sqrt(prompts)


budgets = [N // 4, N // 2, N, 2 * N, 4 * N]
floors = [memory.quantised_floor(N, b) for b in budgets]
by_bits, excess_scores, cheap_scores = {}, [], []
print("bits    floor   R = 1    R = 2    R = 3")
for R in (1, 2, 3):
    by_bits[R] = []
    for b, floor in zip(budgets, floors, strict=True):
        risk, error = quantised_risk(b, R)
        by_bits[R].append(risk)
        excess_scores.append((risk - floor) / error)
        if b == budgets[2]:  # four times the bits, judged as if they were b
            risk_cheap, error_cheap = quantised_risk(4 * b, R)
            cheap_scores.append((risk_cheap - floor) / error_cheap)
for k, b in enumerate(budgets):
    print(f"{b:4} {floors[k]:8.4f}" + "".join(f"{by_bits[R][k]:8.4f} " for R in by_bits))

# %% mystnb={"figure": {"caption": "Least risk of a recurrent memory in the general task. Left: linear states against their width $w$. Right: states of $b$ bits, with scalar quantisers of 1, 2 and 3 bits a label. Predicting 0 has risk 1.", "name": "fig-memory-floors"}, "image": {"alt": "Left: a falling parabola from 1 at width 0 to 0 at width N, with crosses of simulated memories on it. Right: a falling curve of the floor against bits a token; three curves of quantisers lie above it, one bit a label best for few bits, more bits a label best for many."}} tags=["hide-input"]
fig, (left, right) = figures.new(1, 2, height=3.1)
grid = list(range(N + 1))
left.plot(
    [w / N for w in grid], [memory.linear_floor(N, w) for w in grid], marker="", label="floor"
)
left.plot(
    [w / N for w in widths],
    simulated,
    linestyle="none",
    marker="x",
    color="black",
    label="simulated",
)
left.set(xlabel="width $w$ over $N$", ylabel="risk", ylim=(0, 1.05))
left.legend()
right.plot([b / N for b in budgets], floors, color="black", label="floor")
for R, risks in by_bits.items():
    right.plot([b / N for b in budgets], risks, label=f"{R} bits a label" if R > 1 else "1 bit")
right.set(xscale="log", xlabel="bits $b$ over $N$", ylim=(0, 1.05))
right.set_xticks([b / N for b in budgets], ["1/4", "1/2", "1", "2", "4"])
right.minorticks_off()
right.legend()
figures.show()

# %% [markdown]
# For the third floor we take memories that are bounded and Lipschitz-read: the state holds $d_h$ labels, divided by $3 \sqrt{d_h}$ and projected on the unit ball, and the read-out multiplies by $3 \sqrt{d_h}$. So $\mathfrak L = 3 \sqrt{d_h}$ and $U^\to = U^\gets = I$. The mean squared error is taken at the middle token.


# %%
def bounded_memory(count, width):
    """Mean squared error of the count - 1 labels, and the reach with both norms of U."""
    scale = 3 * math.sqrt(width)
    y = normal(prompts, width)
    kept = (scale * recurrent.project(y / scale, 1.0) - y).square().mean().item()
    error = 1 - 2 * width / (count - 1) * (1 - kept)
    return error, scale, scale * math.sqrt(2 * width)


print("   labels   d_h     error  floor by dimension  floor by norm")
over_dimension = []
for count, width in ((401, 4), (401, 10), (401, 20), (10**6, 4), (10**6, 10)):
    error, reach, reach_frobenius = bounded_memory(count, width)
    by_dimension = memory.dimension_floor(count, width, reach)
    by_norm = memory.norm_floor(count, reach_frobenius)
    over_dimension.append(error - by_dimension)
    print(f"{count - 1:9} {width:5} {error:9.4f} {by_dimension:19.4f} {by_norm:14.4f}")
full_error, _, _ = bounded_memory(401, 200)
claimed = full_error - memory.dimension_floor(401, 4, 3 * math.sqrt(4))
print(f"all labels held: error {full_error:.4f}")

# %% [markdown]
# ## The norm: what an error-correcting code can do
#
# The last column above is a floor that does not look at the dimension. It is far from sharp here, and empty for the short prompts. Where does it come from? The operator form rests on the second bound of {prf:ref}`retrieval-lem41`. As restored, that is Maurey's bound, and it belongs to the $\ell_1$ ball. In the Euclidean ball it is false: a code with $2^k$ sign vectors of $D = 4k$ entries, any two of which differ in a fixed share of the entries, gives $2^k$ points on the unit sphere that are a fixed distance $s$ apart. By the bound of Gilbert and Varshamov such codes exist for every $k$, with a share of more than 0.21. So the log of their number is $\frac{\log 2}4 D$. It grows with $D$, and not with $\log D$.
#
# This is also a memory. Quantise each label to $R$ bits. Let row $m$ of a binary matrix with $NR$ rows and $D = 4NR$ columns say which signs of the state are turned when bit $m$ of the labels is 1. The state starts with all signs positive, has length 1, and is always a word of the linear code that the rows generate. It is updated token by token: a recurrent net, with $U^\to = U^\gets = I$. The read-out knows the level of label $k$ on each word. It is extended to all states without raising its Lipschitz constant (McShane):
#
# $$f_y(h, k) = \min_w \bigl[ \ell_k(w) + \mathfrak L \|h - w\| \bigr], \qquad \mathfrak L = \frac{\max \ell - \min \ell}s .$$
#
# With one bit a label the levels are $\pm\sqrt{2/\pi}$, the error is $1 - 2/\pi = 0.36$, and $\mathfrak L$ does not grow with $N$. More bits make the error as small as one likes. We run it on prompts.

# %%
small = 8
held = memory.code_memory(small, 1, generator)
y = normal(200, small)
tokens = torch.cat((torch.eye(small).double().expand(200, -1, -1), y[..., None]), -1)
D = held.generator.shape[1]
forward, backward = recurrent.both_states(held.step, tokens, D, radius=1.0 + 1e-9)
past = torch.arange(small)[None, :] < torch.arange(small)[:, None]
read = torch.where(past, held.read(forward), held.read(backward))
other = ~torch.eye(small, dtype=torch.bool)
code_error = ((read - y[:, None, :]).square() * other).sum(-1).mean(-1) / (small - 1)
exact = held.quantiser.levels[held.quantiser.cells(y)]
code_gap = ((read - exact[:, None, :]).abs() * other).max().item()
u, v = normal(2, 300, D)
u, v = u / u.norm(dim=-1, keepdim=True), v / v.norm(dim=-1, keepdim=True)
u[:100], v[:50] = held.word(held.quantiser.cells(normal(100, small))), u[:50] + 0.1 * v[:50]
steepest = ((held.read(u) - held.read(v)).abs().amax(-1) / (u - v).norm(dim=-1)).max().item()
cells = torch.arange(2**small)[:, None] >> torch.arange(small) & 1
words, level = held.word(cells), held.quantiser.levels[cells]
apart = torch.cdist(words, words, compute_mode=memory.EXACT).fill_diagonal_(math.inf)
i, k = divmod(int(apart.argmin()), len(words))  # no other word is nearer to the middle of these
beside = (words[i] + words[k]) / 2 + 1e-3 * torch.stack((words[i] - words[k], words[k] - words[i]))
jump = level[torch.cdist(beside, words, compute_mode=memory.EXACT).argmin(-1)]
steepest_nearest = ((jump[0] - jump[1]).abs().max() / (beside[0] - beside[1]).norm()).item()
print(f"{small} tokens, one bit a label, states of {D} numbers and length 1")
print(f"read-out equals the quantised labels up to 1e-9: {code_gap < 1e-9}")
print(f"mean squared error of a label {code_error.mean().item():.4f}")
print(f"steepest pair of states over the Lipschitz constant: {steepest / held.lipschitz:.4f}")

# %% [markdown]
# Now the left sides of the operator form and of the Frobenius form, squared, for real codes and, beyond 20 bits, for those that the bound of Gilbert and Varshamov promises. Beside them stands a memory without a code: the state is the vector of signs itself, over $\sqrt N$.


# %%
def best_weight(n_signs, bits):
    """Largest minimal distance that Gilbert and Varshamov promise for 2**bits words."""
    low, high = 1, n_signs // 2
    while low < high:
        middle = (low + high + 1) // 2
        enough = packings.code_log_size(n_signs, middle) >= bits * math.log(2)
        low, high = (middle, high) if enough else (low, middle - 1)
    return low


def sides(tokens, bits, width, lipschitz):
    """What the operator form and the Frobenius form say must be at least c'; U = (I, I)."""
    operator = 2 * lipschitz**2 * math.log(1 + width) / tokens
    return operator, 2 * width * lipschitz**2 / tokens


rows = {"code": [], "promised": [], "no code": []}
print("kind       tokens  bits    d_h  separation  Lipschitz  error  over N: operator  Frobenius")
for tokens_, R in ((4, 1), (8, 1), (12, 1), (16, 1), (8, 2), (5, 3)):
    m = memory.code_memory(tokens_, R, generator)
    width = m.generator.shape[1]
    found = (tokens_, R, width, m.separation, m.lipschitz, m.quantiser.error)
    rows["code"].append((*found, *sides(tokens_, R, width, m.lipschitz)))
one_bit = memory.lloyd_max(1)
spread = (one_bit.levels[1] - one_bit.levels[0]).item()
for exponent in (2, 3, 4, 5, 6, 7):
    tokens_ = 10**exponent
    apart = 2 * math.sqrt(best_weight(4 * tokens_, tokens_) / (4 * tokens_))
    found = (tokens_, 1, 4 * tokens_, apart, spread / apart, one_bit.error)
    rows["promised"].append((*found, *sides(tokens_, 1, 4 * tokens_, spread / apart)))
for tokens_ in (4, 16):
    apart = 2 / math.sqrt(tokens_)
    found = (tokens_, 1, tokens_, apart, spread / apart, one_bit.error)
    rows["no code"].append((*found, *sides(tokens_, 1, tokens_, spread / apart)))
for kind, table in rows.items():
    for row in table:
        print(
            f"{kind:9} {row[0]:8} {row[1]:5} {row[2]:8} {row[3]:9.4f} {row[4]:10.4f} "
            f"{row[5]:7.4f} {row[6]:15.6f} {row[7]:10.4f}"
        )
codes = rows["code"][:4]
longest = rows["promised"][-1]
limit = longest[4]
slack = longest[7] / memory.norm_needed(2.0, one_bit.error)  # kappa (N - 1) at N = 2
glue(limit=limit, error_one_bit=one_bit.error, slack=slack)
glue(side_short=codes[0][6], side_long=codes[-1][6], side_longest=f"{longest[6]:.0e}")

# %% [markdown]
# The side of the operator form falls like $\log N / N$: at $10^7$ tokens $c'$ would have to be below {glue:text}`side_longest`, and there is no end to it. The memory solves the task up to an error of {glue:text}`error_one_bit:.2f` with $\mathfrak L$ at most {glue:text}`limit:.2f`. With the Frobenius norm, $\|U\|_F^2 = 2 d_h$, the side does not fall.
#
# **The Frobenius form, proved.** Let points of the image $\{U h : \|h\| \le 1\}$ be pairwise $\epsilon$ apart, $P$ in number, and $g$ a standard normal vector. Then $\frac{\epsilon}{\sqrt 2}$ times the mean of the largest of $P$ independent standard normal numbers is at most $\mathbb E \max_h \langle g, U h \rangle = \mathbb E \|U^\top g\| \le \|U\|_F$ (Sudakov and Fernique). That mean is at least $\sqrt{\log P/(\pi \log 2)}$. So
#
# $$\log P \le 2 \pi \log 2\; \frac{\|U\|_F^2}{\epsilon^2} ,$$
#
# in any dimension and without a logarithm. In place of the volume bound this gives the floor by norm, and
#
# $$\mathfrak L^2 \|U\|_F^2 \ge \kappa\, (N - 1), \qquad \kappa = \max_\tau \frac{\tau^2}{4 \pi \log 2} \log \frac1{\sqrt E + \tau} .$$
#
# This is the form that the paper's text names, without its logarithms. The constant is far from sharp: the code of one bit a label has {glue:text}`slack:.0f` times the $\kappa$ of its error. We compare the bounds with packings: greedy ones in balls and in ellipsoids with half axes $1, \frac12, \frac13, \dots$, and the codes.


# %%
def in_ball(count, dim, radius=1.0):
    points = normal(count, dim)
    points = points / points.norm(dim=-1, keepdim=True)
    return radius * points * torch.rand(count, 1, generator=generator).double() ** (1 / dim)


def greedy(points, separation):
    distance = torch.cdist(points, points, compute_mode=memory.EXACT)
    return math.log(len(covers.packing(distance, separation)))


by_volume, by_volume_twice, by_sudakov = [], [], []
print("D  eps   greedy  volume bound   radius 2   ellipsoid  Frobenius bound")
for dim, eps in ((1, 0.1), (2, 0.3), (3, 0.5), (5, 0.8), (10, 1.0)):
    points = in_ball(1500, dim)
    axes = 1 / torch.arange(1, dim + 1).double()
    bound = packings.ball_log_packing(dim, eps)
    found, twice = greedy(points, eps), greedy(2 * points, eps)
    oblong = greedy(points * axes, eps / 2)
    ellipsoid = packings.ellipsoid_log_packing(axes.norm().item(), eps / 2)
    by_volume.append(found / bound)
    by_volume_twice.append(twice / bound)
    by_sudakov += [oblong / ellipsoid, found / packings.ellipsoid_log_packing(math.sqrt(dim), eps)]
    print(
        f"{dim:2} {eps:.1f} {found:8.4f} {bound:13.4f} {twice:10.4f} {oblong:11.4f} {ellipsoid:16.4f}"
    )


def forced(row):
    """Constant that the second bound of Lemma 41 needs for a code; its log size is N R log 2."""
    return row[0] * row[1] * math.log(2) / packings.maurey_log_packing(row[2], row[3])


def with_operator_norm(row):
    """Log size of a code over the bound with the operator norm times log(1 + D)."""
    bound = packings.SUDAKOV * math.log(1 + row[2]) / row[3] ** 2
    return row[0] * math.log(2) / bound


def maurey_forced(dim):
    """The same constant for an upper bound in the l1 ball: a cover at half the separation 1."""
    log_size = math.log(covers.maurey_size(dim, covers.terms_needed(dim, 1.0, 0.5)))
    return log_size / packings.maurey_log_packing(dim, 1.0)


by_sudakov += [
    row[0] * row[1] * math.log(2) / packings.ellipsoid_log_packing(math.sqrt(row[2]), row[3])
    for row in rows["code"] + rows["promised"]
]
operator_ratio = with_operator_norm(longest)
constants = [forced(row) for row in codes]
growth_constant = constants[-1] / constants[0]
growth_maurey = maurey_forced(64) / maurey_forced(16)
print("constant that Lemma 41 needs, codes of 16 to 64 signs:", *(f"{c:.3f}" for c in constants))
print(f"at most in the l1 ball, D = 16 and 64: {maurey_forced(16):.3f} {maurey_forced(64):.3f}")
operator_reach = math.sqrt(2 * math.log(1 + longest[2])) * longest[4]
false_floor = memory.norm_floor(longest[0], operator_reach)
print(
    f"error of the code at 10^7 tokens {one_bit.error:.4f}, floor by the operator norm {false_floor:.4f}"
)

# %% [markdown]
# No constant $C \ge 1$ saves the second bound of {prf:ref}`retrieval-lem41`. By volume, a largest set of points that are $\epsilon$ apart in the Euclidean ball has $\log P \ge D \log \frac1\epsilon$, since balls of radius $\epsilon$ about them cover it. At $\epsilon = \frac12$ and $D = 64\, C^2$ this exceeds the bound. The first bound, by volume, stays above it.

# %%
half = 0.5
packed = {C: 64 * C**2 * math.log(1 / half) for C in (1, 10, 10**3, 10**6)}
over_second = [v / (C * packings.maurey_log_packing(64 * C**2, half)) for C, v in packed.items()]
over_first = [v / packings.ball_log_packing(64 * C**2, half) for C, v in packed.items()]
print("C, and log P by volume over the second bound, over the first, at D = 64 C^2")
for C, second, first in zip(packed, over_second, over_first, strict=True):
    print(f"{C:8} {second:12.4g} {first:8.4f}")
glue(constant_16=constants[0], constant_64=constants[-1], over_second=over_second[0])

# %% mystnb={"figure": {"caption": "Left: the side of the second inequality, over $N$, which must not fall below a constant: with the operator norm, as the proof concludes, and with the Frobenius norm, as the text says. Markers are codes that were built; the lines go on with those that Gilbert and Varshamov promise. Right: squared norm that interpolates $n$ samples, for three lengths of the prompt, medians.", "name": "fig-norm-half"}, "image": {"alt": "Left, logarithmic axes: the curve for the operator norm falls in a straight line over five powers of ten, while that for the Frobenius norm is level near 25. Right, logarithmic axes: three curves for prompts of 8, 64 and 512 tokens lie on top of each other and rise roughly as the power two and a half of the number of samples."}} tags=["hide-input"]
sample_sizes = [n // 10, n // 4, n, 2 * n, 4 * n]
prompt_lengths = (8, 64, 512)


def interpolated(count, length, every=False):
    """Numbers to be fitted: one random position of each of `count` prompts, or every position."""
    given = retrieval.prompts(count, length, 5, generator)
    direction = normal(1, 5)
    y = retrieval.labels(given._replace(x=given.x.double()), direction / direction.norm())
    v = normal(5)
    z = given.x.double() @ (v / v.norm())
    if every:
        return z.flatten(), y.flatten()
    at = torch.randint(length, (count, 1), generator=generator)
    return z.gather(1, at).squeeze(1), y.gather(1, at).squeeze(1)


def norms_of(count, length, times=repeats, every=False, power=1):
    found = []
    for _ in range(times):
        z, y = interpolated(count, length, every)
        found.append(memory.squared_norm(memory.interpolant(z**power, y)))
    return torch.tensor(found, dtype=torch.float64)


norms = {T: [norms_of(count, T) for count in sample_sizes] for T in prompt_lengths}
medians = {T: [v.median().item() for v in values] for T, values in norms.items()}
fig, (left, right) = figures.new(1, 2, height=3.1)
for column, label in ((6, "$\\|U\\|_{op}$"), (7, "$\\|U\\|_F$")):
    both = codes + rows["promised"]
    built = list(range(len(codes)))
    left.plot([r[0] for r in both], [r[column] for r in both], markevery=built, label=label)
left.set(xscale="log", yscale="log", xlabel="tokens $N$", ylabel="side over $N$")
left.legend()
for T, values in medians.items():
    right.plot(sample_sizes, values, label=f"$N = {T}$")
right.set(xscale="log", yscale="log", xlabel="samples $n$", ylabel="squared norm")
right.legend()
figures.show()

# %%
print("median squared norm of an interpolant")
print("   n " + "".join(f"{f'N = {T}':>14}" for T in prompt_lengths))
for k, count in enumerate(sample_sizes):
    print(f"{count:4} " + "".join(f"{medians[T][k]:14.5g}" for T in prompt_lengths))

# %% [markdown]
# ## Interpolation does not see the length
#
# A net that only has to fit one label of each of $n$ samples can ignore its states. It projects the token's own data on a random unit vector $v$ and draws a piecewise linear function through the $n$ points: $n$ ReLU units. How large are the weights? The projections are standard normal numbers. Some two of them are closer than $\delta$ with probability at most $\frac{n(n-1)}{2} \cdot \frac{2\delta}{\sqrt{4\pi}}$, which is at most $\frac16$ for $\delta = \sqrt\pi/(3n^2)$. Slopes are at most of order $|y|/\delta$. Nothing here depends on $N$ ({numref}`fig-norm-half`, right). We work out the constant of Lemma 38: the squared norm is at most $2\sqrt{19(n + 2 + 3\|z\|^2)}\, \|y\|/\epsilon$. By Markov's inequality $\|z\|^2 \le 6n$ and $\|y\|^2 \le 6n$ fail with probability at most $\frac16$ each. So with probability at least $\frac12$ the squared norm is of order $n^3$, which is Lemma 36. More layers only have to pass one number on, at a fixed cost.

# %%
gap = math.sqrt(math.pi) / (3 * n**2)
X = normal(draws, n, 5)
v = normal(draws, 5, 1)
z = (X @ (v / v.norm(dim=1, keepdim=True))).squeeze(-1)
smallest = z.sort(-1).values.diff(dim=-1).amin(-1)
too_close = (smallest < gap).double().mean().item()
three_times = (smallest < 3 * gap).double().mean().item()
gap_error = math.sqrt(too_close * (1 - too_close) / draws)
print(
    f"n = {n}: smallest gap below sqrt(pi)/(3 n^2) in a share {too_close:.3f} of draws; at most 1/6"
)
inexact = inexact_dropped = 0
bound_ratio, median_gap_ratio = [], []
for _ in range(repeats):
    z, y = interpolated(n, 64)
    net = memory.interpolant(z, y)
    terms = ((z[:, None] @ net.W.mT).abs() + net.b.abs()) @ net.a.abs()
    allowed = 2 * n * torch.finfo(torch.float64).eps * terms.max().item()
    inexact += int((net(z[:, None]) - y).abs().max().item() > allowed)
    fewer = memory.ReluNet(net.a[:-1], net.W[:-1], net.b[:-1])
    inexact_dropped += int((fewer(z[:, None]) - y).abs().max().item() > allowed)
    found = memory.squared_norm(net)
    bound_ratio.append(found / memory.interpolant_bound(z, y))
    typical = z.sort().values.diff().median().item()
    median_gap_ratio.append(found / memory.interpolant_bound(z, y, gap=typical))
print(f"interpolants that are off by more than rounding: {inexact} of {repeats}")
print(f"squared norm over its bound, largest: {max(bound_ratio):.4f}")
fresh_z, fresh_y = interpolated(prompts, 64)
useless = (net(fresh_z[:, None]) - fresh_y).square()
order = medians[64][-1] / sample_sizes[-1] ** 3 / (medians[64][0] / sample_sizes[0] ** 3)
cubed = [norms_of(c, 64, power=3).median().item() for c in (sample_sizes[0], sample_sizes[-1])]
order_cubed = cubed[1] / sample_sizes[-1] ** 3 / (cubed[0] / sample_sizes[0] ** 3)
print(
    f"squared norm over n^3, last over first n: {order:.4f}; of cubed projections {order_cubed:.1f}"
)
print(f"fresh prompts: error above 1 - 1/N: {useless.mean().item() > 1 - 1 / 64}")


def above(first, second):
    """Share of pairs in which the second is larger."""
    return (second > first[:, None]).double().mean().item()


few, long = prompt_lengths[0], prompt_lengths[-1]
shift = above(norms[few][2], norms[long][2])
rank_error = math.sqrt((2 * repeats + 1) / (12 * repeats**2))
all_few = norms_of(n // 4, few, every=True)
all_long = norms_of(n // 4, 64, every=True)
shift_all = above(all_few, all_long)
print(
    f"longer prompts, larger norm: share of pairs {shift:.2f}; if every position is fitted {shift_all:.2f}"
)

# %% [markdown]
# The interpolant knows nothing of other positions. Its prediction depends on the token's own data, and the label on another token's, except with probability $1/N$. So its risk is at least $1 - 1/N$.
#
# One hypothesis of the theorem is essential here: the empirical risk is point-wise, one position a sample. If *every* position of each sample counts, $nN$ numbers have to be fitted, and this interpolant's norm grows with $N$ (the last share above). The theorem says nothing about that risk, and its proof would not carry over.
#
# ## Theorem 9, put together
#
# Let $f_y$ have $L_y$ layers. Its Lipschitz constant is at most the product of their norms, so $\mathfrak L \|U\|_F$ is at most a product of $L_y + 1$ Frobenius norms, and their squares add up to at most $\|\mathrm{vec}\,\Theta\|^2$. By the inequality of arithmetic and geometric means, and by the Frobenius form,
#
# $$\|\mathrm{vec}\, \Theta\|^2 \ge (L_y + 1) \bigl(\mathfrak L \|U\|_F\bigr)^{2/(L_y + 1)} \ge (L_y + 1) \bigl(\kappa (N - 1)\bigr)^{1/(L_y + 1)}$$
#
# for every net with error at most $E$. If the weights of least norm among the interpolants have a smaller norm than that, they have a larger error. Interpolation costs a squared norm of order $n^3$, so this happens for $n$ up to order $N^{1/(3(L_y + 1))}$: a $c_1$ that serves. (It is not the best one for $L_y > 2$, where the interpolant's weights can be balanced over more layers.) The condition $d_h \le e^{N^c}$ is not needed for this half, since no $\log d_h$ is left. It serves where $d_h < n$: then this interpolant may not fit in the class. But with $\mathfrak L \|U\|_{op} \le e^{2 N^c}$ the dimension form bounds the error of every net from below, by the third floor with $\frac{2 d_h}{N - 1} \log(\dots)$ of order $n N^{c - 1}$, which vanishes for $n$ up to $N^{c_1}$ with $c_1 < 1 - c$. We evaluate both sides for $L_y = 2$ and $E = \frac14$.

# %%
L_y, allowed_error = 2, 0.25
print("squared norm that error 1/4 needs, L_y = 2")
for exponent in (3, 6, 9, 12):
    needed = (L_y + 1) * memory.norm_needed(10.0**exponent, allowed_error) ** (1 / (L_y + 1))
    print(f"  N = 10^{exponent:<2} {needed:12.1f}")
print("squared norm that interpolates n samples, median, and the length from which it is too small")
for count, value in zip(sample_sizes, medians[64], strict=True):
    kappa = memory.norm_needed(2.0, allowed_error)
    length = 1 + (value / (L_y + 1)) ** (L_y + 1) / kappa
    print(f"  n = {count:3} {value:12.5g}   N = {length:.1e}")
at_length = 1e10
needed = (L_y + 1) * memory.norm_needed(at_length, allowed_error) ** (1 / (L_y + 1))
four = norms_of(4, 64).median().item()
many = norms_of(n, 64).median().item()
print(f"N = 1e10: needed {needed:.1f}; interpolating 4 samples {four:.1f}, {n} samples {many:.1f}")

# %% [markdown]
# The chain holds, and it is long: even a handful of samples asks for millions of tokens before the interpolant is the smaller net. It is a theorem about exponents.
#
# **Lemma 42** is cited by the paper, and its rate is not judged. We only look whether two-layer ReLU nets approximate a Lipschitz function of two numbers, by least squares on random units.

# %%
grid = torch.cartesian_prod(*[torch.linspace(-1, 1, 41, dtype=torch.float64)] * 2)
grid = grid[grid.norm(dim=-1) <= 1]
target = grid.norm(dim=-1) - 0.5 * (grid[:, 0] - grid[:, 1]).abs()
sup_errors = []
for m in (10, 40, 160, 640):
    W, b = normal(m, 2), normal(m)
    W = W / W.norm(dim=-1, keepdim=True)
    b = 2 * torch.rand(m, generator=generator).double() - 1
    features = (grid @ W.mT + b).relu()
    a = torch.linalg.lstsq(features, target[:, None], driver="gelsd").solution
    sup_errors.append((features @ a - target[:, None]).abs().max().item())
print("units 10, 40, 160, 640: largest error", *(f"{e:.3f}" for e in sup_errors))

# %% [markdown]
# ## What would falsify this
#
# A state that knows a pointer before it is read; close pairs among exponentially many label vectors; a memory below one of the floors; a packing above its bound; a code whose read-out gets steeper with $N$, which would save the operator form; an interpolant that is not exact, or larger than its bound, or that grows with $N$. The controls are the state after the pointer is read, the simple task, a wider memory, four times the bits, a net that holds everything, the ball of radius 2, the bound by volume, the $\ell_1$ ball, memories without a code, the read-out of the nearest word, the Frobenius norm, three times the gap, a net with a unit removed, the typical gap in place of the smallest, cubed projections, and all positions of each sample.

# %%
ledger.result("retrieval.prop8").holds(
    "another pointer at token $j$: how far the states at $j$ move; control: the state after $j$",
    moved_before,
    at_most=0,
    control=moved_after,
    about="proof",
    evidence="proved",
)
ledger.result("retrieval.prop8").holds(
    "closest pair of $e^{\\rho N - 3}$ label vectors over $\\sqrt N$; control: the simple task",
    min(nearest),
    at_least=1,
    control=max(nearest_simple),
    about="proof",
    evidence="proved",
)
ledger.result("retrieval.prop8").holds(
    "linear states attain their floor, largest gap; control: the floor of one more number",
    linear_gap,
    at_most=0,
    tol=1e-12,
    control=wider_gap,
    about="ours",
    evidence="attained",
)
ledger.result("retrieval.prop8").holds(
    "the same, simulated: largest distance in standard errors; control: half the width's floor",
    max(z_scores),
    at_most=4.5,
    control=abs(simulated[3] - memory.linear_floor(N, widths[3] // 2)) / linear_error[3],
    about="ours",
    evidence="sampled",
)
ledger.result("retrieval.prop8").holds(
    "states of $b$ bits: risk less floor in standard errors, least; control: four times the bits",
    min(excess_scores),
    at_least=-4.5,
    control=min(cheap_scores),
    about="ours",
    evidence="sampled",
)
ledger.result("retrieval.prop8").holds(
    "width: error less floor by dimension, least; control: all labels held",
    min(over_dimension),
    at_least=0,
    control=claimed,
    about="statement",
    evidence="proved",
)
ledger.result("retrieval.prop8.lem41_volume").holds(
    "Lemma 41, first bound: greedy packing over it, largest; control: ball of radius 2",
    max(by_volume),
    at_most=1,
    control=max(by_volume_twice),
    about="statement",
    evidence="proved",
)
ledger.result("retrieval.prop8.lem41_maurey").refuted(
    "Lemma 41, second bound, as restored: $\\log P$ over it at $D = 64 C^2$, $\\epsilon = \\frac12$, least; control: over the first",
    min(over_second),
    at_most=1,
    control=max(over_first),
    about="statement",
    evidence="attained",
)
ledger.result("retrieval.prop8.lem41_maurey").holds(
    "codes: growth of the constant that they force, $D = 16$ to 64; control: $\\ell_1$ ball",
    growth_constant,
    at_least=1,
    control=growth_maurey,
    about="ours",
    evidence="attained",
)
ledger.result("retrieval.prop8.operator").holds(
    "codes: Lipschitz constant of the read-out, up to 16 tokens, below its limit; control: no code",
    max(row[4] for row in codes),
    at_most=limit,
    control=rows["no code"][-1][4],
    about="ours",
    evidence="attained",
)
ledger.result("retrieval.prop8.operator").holds(
    "the code's read-out: steepest pair of states over its Lipschitz constant; control: nearest word",
    steepest / held.lipschitz,
    at_most=1,
    tol=1e-9,
    control=steepest_nearest / held.lipschitz,
    about="ours",
    evidence="searched",
)
ledger.result("retrieval.prop8.operator").refuted(
    "norm, as the proof concludes, $\\|U\\|_{op}$, as restored: side over $0.01 N$ at risk .3634, $N = 10^7$; control: $\\|U\\|_F$",
    longest[6] / 0.01,
    at_least=1,
    control=longest[7] / 0.01,
    about="statement",
    evidence="attained",
)
ledger.result("retrieval.prop8.frobenius").holds(
    "norm, as the text says, $\\|U\\|_F$: packings over $2\\pi\\log 2\\,\\|U\\|_F^2/\\epsilon^2$, largest; control: $\\|U\\|_{op}^2 \\log(1 + D)$",
    max(by_sudakov),
    at_most=1,
    control=operator_ratio,
    about="statement",
    evidence="proved",
)

ledger.result("retrieval.thm9.lem37").holds(
    "Lemma 37: share of draws with a gap below $\\sqrt\\pi/(3n^2)$; control: three times the gap",
    too_close,
    at_most=1 / 6,
    tol=4.5 * gap_error,
    control=three_times,
    stderr=gap_error,
    about="statement",
    evidence="proved",
)
ledger.result("retrieval.thm9.lem38").holds(
    "Lemma 38: interpolants off by more than rounding; control: with a unit removed",
    inexact,
    at_most=0,
    control=inexact_dropped,
    about="statement",
    evidence="proved",
)
ledger.result("retrieval.thm9.lem38").holds(
    "Lemma 38: squared norm over its bound; control: with the median gap",
    max(bound_ratio),
    at_most=1,
    control=max(median_gap_ratio),
    about="statement",
    evidence="proved",
)
ledger.result("retrieval.thm9.lem36").holds(
    "Lemma 36: median squared norm over $n^3$, largest to smallest $n$; control: cubed projections",
    order,
    at_most=1,
    control=order_cubed,
    about="statement",
    evidence="proved",
)
ledger.result("retrieval.thm9").holds(
    "norm of interpolants, 512 tokens against 8: share of pairs; control: every position fitted",
    shift,
    equals=0.5,
    tol=4.5 * rank_error,
    control=shift_all,
    about="proof",
    evidence="sampled",
)
ledger.result("retrieval.thm9").holds(
    "interpolants on fresh prompts: error; control: on the samples",
    useless.mean().item(),
    at_least=1 - 1 / 64,
    tol=4.5 * math.sqrt(2 / prompts),
    control=(net(z[:, None]) - y).square().mean().item(),
    about="proof",
    evidence="proved",
)
ledger.result("retrieval.thm9").holds(
    "interpolating 4 samples over what error $\\frac14$ needs, $N = 10^{10}$; control: `n` samples",
    four / needed,
    at_most=1,
    control=many / needed,
    about="statement",
    evidence="proved",
)
ledger.result("retrieval.thm9.lem42").holds(
    "Lemma 42, two numbers: largest error of 640 units; control: 10 units",
    sup_errors[-1],
    at_most=0.05,
    control=sup_errors[0],
    about="ours",
    evidence="attained",
)
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# The repository `mousavih/transformers-separation` trains GRUs on the general task and counts samples until the test error is below a threshold. It measures no norm, and it minimises none: training is by AdamW on fresh prompts. So it shows that learning gets harder with $N$ for a net of fixed size, which the floors on the dimension do not explain either: 500 units each way are far more than the 12 tokens at most. The theorem is about weights of least norm that fit $n$ samples. No experiment of the paper is about those.
#
# ## What we found
#
# * The principle is right and can be made exact. Linear states of width $w$ have risk $(1 - \frac wN)(1 - \frac{w+1}N)$ at least, and attain it. States of $b$ bits obey a rate-distortion bound.
# * The dimension form of Proposition 8 holds, with explicit constants, for every error below 1.
# * The Frobenius form, which the text names, holds too, with explicit constants and without logarithms. The operator form, which the proof as restored concludes, is false for every constant, and so is the second bound of Lemma 41 as restored.
# * Theorem 9's chain holds with the Frobenius form. $c_1 = \frac1{3(L_y+1)}$ serves, or any number below $1 - c$ if that is smaller. It depends on the point-wise empirical risk. The paper's constants and exponents are not judged.
#
# ```{finding} retrieval.prop8.operator
# :title: A code keeps the operator norm of U free of N
# :group: false statement
#
# **Statement.** As restored from the proof, which concludes a lower bound on $\|U\|_{op}$: a small risk implies $\mathfrak L^2 \|U\|_{op}^2 \log(1 + d_h) \ge c' N$, for some $c' > 0$. The paper's main text names $\|U\|_F$ in its place, and in that form the statement holds.
#
# **Counterexample.** States that are words of an error-correcting code of 4 signs a bit, $U = (I, I)$. With one bit a label the error is {glue:text}`error_one_bit:.2f` and $\mathfrak L \le {glue:text}`limit:.2f`$ for every $N$. The left side over $N$ falls from {glue:text}`side_short:.2f` at 4 tokens to {glue:text}`side_long:.2f` at 16, and for the codes that Gilbert and Varshamov promise to {glue:text}`side_longest` at $10^7$.
#
# **Why.** The states are bounded in the Euclidean norm, and the Euclidean ball holds exponentially many points, in its dimension, that are a fixed distance apart. $\|U\|_{op}$ does not see the dimension.
#
# **Repair.** The form of the text, with an explicit constant and without logarithms: $\mathfrak L^2 \|U\|_F^2 \ge \kappa (N - 1)$, by Sudakov's inequality $\log P \le 2\pi \log 2\, \|U\|_F^2/\epsilon^2$. Or states bounded in $\ell_1$.
#
# **What survives.** The bound on the dimension, with constants; the Frobenius form; and Theorem 9, which needs no more than that.
# ```
#
# ```{finding} retrieval.prop8.lem41_maurey
# :title: Packings of the Euclidean ball grow with the dimension
# :group: false statement
#
# **Statement.** As restored: $P$ points of the unit ball of $\mathbb R^D$ that are pairwise $\epsilon$ apart have $\log P \le C \epsilon^{-2} \log(1 + D \epsilon^2)$. The formula is missing in both texts; they say that Maurey's sparsification gives it, and use it for a Euclidean ball.
#
# **Counterexample.** $\epsilon = \frac12$, $D = 64\, C^2$, for any $C \ge 1$. By volume $\log P \ge D \log 2$, which for $C = 1$ is {glue:text}`over_second:.1f` times the right side, and more for larger $C$. Codes of 16 to 64 signs force a constant that grows from {glue:text}`constant_16:.2f` to {glue:text}`constant_64:.2f`.
#
# **Why.** Maurey's argument covers the $\ell_1$ ball. In the Euclidean ball the log of a packing grows in proportion to $D$, not to $\log D$.
#
# **Repair.** For the image of the ball under $U$: $\log P \le 2\pi \log 2\, \|U\|_F^2/\epsilon^2$, in any dimension.
#
# **What survives.** The lemma's first bound, $D \log(1 + 2/\epsilon)$, and with it the bound on the dimension of the states.
# ```
#
# ## Exercises
#
# ```{admonition} Exercise 1
# How many bits a token must each state have at least for a risk of $\frac14$, as $N$ grows? Compare with the bits that quantisers need.
# ```

# %% tags=["hide-cell"]
# The mean of s 4^(-beta/s) over s in (0, 1), twice, must be 1/4: beta is the number of bits over N.
for count in (24, 240, 2400):
    low, high = 0.0, 4.0 * count
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if memory.quantised_floor(count, middle) > 0.25 else (low, middle)
        )
    print(f"N = {count:4}: at least {high / count:.4f} bits a token in each state")

# %% [markdown]
# ```{admonition} Exercise 2
# In the simple task the label is the same number everywhere. Which step of the argument fails?
# ```

# %% tags=["hide-cell"]
# The pointer is known before token j: every token shows it. One number each way is enough, and label vectors are not far apart.
for count in (100, 150, 200):
    same = normal(50, 1).expand(50, count)
    print(f"N = {count}: closest pair over sqrt(N) {packings.closest(same) / math.sqrt(count):.4f}")

# %% [markdown]
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The results are from {cite:t}`retrieval`, numbered as in its first version; in the next one Proposition 8 is Proposition 6 and Theorem 9 is Theorem 7. Maurey's argument is from {cite:t}`pisier1981`.
