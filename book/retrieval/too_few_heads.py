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
# (ch-too-few-heads)=
# # Fewer heads than tokens
#
# **Claim.** A label that is a sum of squares of $q$ tokens needs $q$ attention heads if heads may look at positions only: $H < q$ of them leave an error of $1 - H/q$, whatever stands on top, and this is attained. If heads may compare data with positions too, the error is at least $(1 - H/d)(1 - H/q)$ for data of $d$ dimensions, which implies the bound that the paper is quoted with. This too is attained, since data can be read out of the attention weights, so that $\min(q, d)$ free heads suffice. For $d$ far above $q$ about $q$ heads are needed, as the paper says; for $d$ below $q$ fewer do. Trained models find the trick in part, and go below $1 - H/q$.
# **Needs** {ref}`ch-attention-weights`. **Runs in** 60 s. **Source** quoted; the remark on sparse averages printed.
#
# A prompt has $N$ tokens, $N$ even and at least $2q$. Token $j$ carries data $x_j \in \mathbb R^d$ and $q$ pointers $t_{j1}, \dots, t_{jq}$, which are positions in the prompt. A model sees it as $z_j = (x_j, \omega_j, \omega_{t_{j1}}, \dots, \omega_{t_{jq}})$, with a fixed vector $\omega_j \in \mathbb R^{d_e}$ for position $j$. In the *hard distribution* the data of the first half, $j \le N/2$, are standard normal, and those of the second half are 0. Every token of the second half points at tokens $1, \dots, q$. Its label is
#
# $$y = \frac1{\sqrt{qd}} \sum_{j=1}^q \bigl( \|x_j\|^2 - d \bigr),$$
#
# with mean 0 and variance 2. The first half may point anywhere, independently of the data. A layer with $H$ heads gives token $i$ the $H$ vectors $\sum_j a^{(h)}_j z_j$, where $a^{(h)} = \mathrm{softmax}_j(z_i^\top W^{(h)} z_j)$ and $W^{(h)}$ is the *query-key matrix* of head $h$. The prediction $\hat y_i$ is any function of these. The *error* is $\frac1N \sum_i \mathbb E (y_i - \hat y_i)^2$. The first half can only add to it, so we count the second half alone: the error is half of that of one label, and who knows nothing errs by 1.
#
# ```{prf:lemma} Mousavi-Hosseini et al. (2025), Lemma 40
# :label: retrieval-lem40
# *(Quoted.)* If $z \sim \mathcal N(0, I_k)$, then $\operatorname{Var} \|z\|^2 = 2k$.
# ```
#
# ```{prf:proposition} Mousavi-Hosseini et al. (2025), Proposition 21
# :label: retrieval-prop21
# *(Quoted for $d = 1$; it holds for every $d$.)* Let every $W^{(h)}$ be zero where it compares data with positions or pointers. Then for every $H$ and every function on top the error is at least $1 - \frac Hq$.
# ```
#
# ```{prf:proposition} Mousavi-Hosseini et al. (2025), Proposition 3
# :label: retrieval-prop3
# *(Quoted.)* For arbitrary $W^{(h)}$ the error is at least $1 - \frac Hd - \frac Hq$, up to a constant.
# ```
#
# The text of the paper's first version reached us without its formulas; a public text of the second version keeps the inline ones, and the marks refer to it. The steps of the proof give more than Proposition 3 asks for: the error is at least $\bigl(1 - \frac Hd\bigr)\bigl(1 - \frac Hq\bigr)$ for $H \le \min(q, d)$, which is $\frac{H^2}{dq}$ larger. This *sharper bound* is what we check.

# %% tags=["parameters"]
q_exact = 6  # tokens pointed at, for the exact checks [3..10]
prompts = 20000  # prompts of a Monte Carlo estimate [4000..200000]
searches = 60  # starts of the search for better mixtures [20..500]
q_trained = [2, 4]  # tokens pointed at, for the trained models [2..4]
d = 2  # dimensions of the data, for the trained models [2..4]
models = 5  # trained models of each kind [4..10]
hidden = 64  # width of the layer on top [48..256]
steps = 1000  # of training [1000..10000]
batch_size = 128  # prompts in a step [64..512]
seed = 0  # of all that is random [0..1000000]

# %% [markdown]
# ## What mixtures tell, exactly
#
# Under the assumption of {prf:ref}`retrieval-prop21` the attention weights of a token of the second half do not depend on the data. So the function on top sees fixed mixtures of the $M = N/2$ tokens that have data, $Ax$, with $A \in \mathbb R^{H \times M}$ holding the weights. Let $Q$ be the projector on the rows of $A$, $P = I - Q$, and let $S$ be the projector that keeps the $q$ tokens pointed at.
#
# 1. Take one dimension of the data, a vector $x \in \mathbb R^M$ over the tokens. Knowing $Ax$ is knowing $Qx$, and $Px$ is independent of it.
# 2. Split $x^\top S x = (Qx)^\top S (Qx) + 2 (Qx)^\top S (Px) + (Px)^\top S (Px)$. The first term is known. The others are uncorrelated, with variances $4 \|PSQx\|^2$ and, by {prf:ref}`retrieval-lem40` along the eigenvectors of $PSP$, $2 \|PSP\|_F^2$.
# 3. The mean of their sum is $4 \operatorname{tr}(SPSQ) + 2 \operatorname{tr}(SPSP)$. With $P = I - Q$ this is $2 (q - \|SQS\|_F^2)$.
# 4. There are $d$ dimensions, the label divides by $\sqrt{qd}$, and the error counts half of it:
#
# $$\text{error}(A) = 1 - \frac1q \|SQS\|_F^2 .$$
#
# The eigenvalues of $SQS$ lie between 0 and 1, and at most $H$ of them are not 0. So $\|SQS\|_F^2 \le H$, which proves the proposition. Equality holds if and only if $A$ has rank $H$ and its rows are zero outside the $q$ tokens pointed at.
#
# The next cell checks the lemma, and the formula against the best quadratic polynomial in the numbers of the mixtures. Averages over normal numbers are taken by a product rule that is exact up to degree 5, so neither is an estimate.

# %%
import math

import torch

from helpers import statistics
from helpers.book import figures
from helpers.book.claims import Ledger
from helpers.book.output import glue
from helpers.covers import linear as covers
from helpers.draws import Draws, f64
from helpers.retrieval import attention as construction
from helpers.retrieval import heads
from helpers.retrieval.task import encode, encodings
from helpers.training.train import train

ledger = Ledger("retrieval/too_few_heads")
source = Draws(seed)
generator, normal = source.generator, source.normal


def variance_of_squares(k, mix=None):
    nodes, weight = heads.cubature(k)
    squares = (nodes if mix is None else nodes @ mix).square().sum(1)
    mean = weight @ squares
    return (weight @ (squares - mean).square()).item()


lemma40 = max(abs(variance_of_squares(k) - 2 * k) for k in range(1, 9))
copied = f64([[1.0, 1.0], [0.0, 0.0]])
lemma40_control = abs(variance_of_squares(2, copied) - 4)
sizes = ((1, 2, 4), (2, 2, 4), (2, 3, 3), (3, 3, 2), (3, 4, 2), (2, 5, 2))
rows = []
for q, M, dims in sizes:
    for H in range(M + 1):
        A = normal(H, M)
        Q = torch.linalg.pinv(A) @ A
        trace = 1 - Q.diagonal()[:q].sum().item() / q
        exact = heads.mixture_error(A, q).item()
        rows.append((q, M, dims, H, heads.regression_error(A, q, dims), exact, trace))
formula_gap = max(abs(regression - exact) for *_, regression, exact, _ in rows)
trace_gap = max(abs(regression - trace) for *_, regression, _, trace in rows)
print(f"Var |z|^2 = 2k for k = 1..8 up to 1e-10: {lemma40 < 1e-10}")
print(f"formula and least squares agree up to 1e-9 in {len(rows)} cases: {formula_gap < 1e-9}")
print("q M d H  least squares    formula   1 - H/q")
for q, M, dims, H, regression, exact, _ in rows:
    if (q, M) in ((3, 3), (3, 4)):
        print(
            f"{q} {M} {dims} {H} {abs(regression):14.6f} {abs(exact):10.6f} {heads.floor(q, H):9.6f}"
        )

# %% [markdown]
# With $M = q$ every choice of $A$ with rank $H$ gives $1 - H/q$. With other tokens beside the ones pointed at, random mixtures do worse.
#
# ## Can a clever choice do better?
#
# The proof says no. A search says the same, for mixtures of $q + 3$ tokens: it starts at {glue:text}`searches` random choices of weights and moves them as long as the error falls. We also let real heads do it. The construction of {prf:ref}`retrieval-eqA2`, with the first $H$ of its $q$ heads, attends to tokens $1, \dots, H$, the more sharply the larger its parameter $\alpha$.

# %%
q, M = q_exact, q_exact + 3
N = 2 * M
d_e = 2 * N


def identity(A):
    return A


found, at_random, search_margin, one_more = [], [], [], []
for H in range(q + 1):
    start = normal(searches, H, M)
    climbed = covers.climb(lambda A: -heads.mixture_error(A, q), identity, start, generator, 300)
    errors = heads.mixture_error(climbed, q)
    found.append(errors.min().item())
    at_random.append(heads.mixture_error(start, q).mean().item())
    search_margin.append(found[-1] - heads.floor(q, H))
    if H:
        one_more.append(found[-1] - heads.floor(q, H - 1))
alphas = (0.0, 2.0, 5.0, 10.0, 40.0)
omega = encodings(N, d_e, generator).double()
scores = omega[:q] @ omega.mT  # what head h compares: pointer h with every position
by_alpha = {
    alpha: [
        heads.mixture_error((alpha * scores).softmax(-1)[:H, :M], q).item() for H in range(q + 1)
    ]
    for alpha in alphas
}
on_targets = [heads.mixture_error(normal(H, q), q).item() for H in range(q + 1)]
attained = max(abs(v - heads.floor(q, H)) for H, v in enumerate(on_targets))
missed = max(v - heads.floor(q, H) for H, v in enumerate(at_random))
glue(searches=searches)
print(f"q = {q}, M = {M} tokens with data; error by the formula")
print(" H  1 - H/q  random  search   " + " ".join(f"alpha={alpha:<4g}" for alpha in alphas))
for H in range(q + 1):
    print(
        f"{H:2} {heads.floor(q, H):8.4f} {at_random[H]:7.4f} {found[H]:7.4f}   "
        + " ".join(f"{abs(by_alpha[alpha][H]):10.4f}" for alpha in alphas)
    )
print(f"no search went below 1 - H/q: {min(search_margin) >= -1e-12}")

# %% [markdown]
# The search comes to the line, or near it with many heads, and never below. Equal weights, $\alpha = 0$, make all heads alike, and sharp heads come to the line too. Now with real prompts, through the layer itself. The best function on top is known: it is the conditional mean of $y$, a quadratic in the mixtures. $\pm$ is one standard error.

# %%
dims = 3


def estimate(squared):
    """Half of the mean of squared errors, and its standard error."""
    return squared.mean().item() / 2, squared.std().item() / 2 / len(squared) ** 0.5


def in_chunks(squared_errors):
    """Squared errors of ``prompts`` prompts, a thousand at a time."""
    return torch.cat([squared_errors() for _ in range(prompts // 1000)], -1)


def through_the_layer(W, given, omega):
    """What the heads W put out at the last token."""
    weights = {"query_key": W, "mask": torch.ones(1).double()}
    return heads.outputs(weights, encode(given, omega))[1]


alpha = 5.0
W = construction.query_key(dims, d_e, alpha, q).double()
attention = (alpha * scores).softmax(-1)[:, :M]


def with_positions_only():
    given = heads.hard_prompts(1000, N, dims, q, generator)
    mixed = through_the_layer(W, given, omega)[..., :dims]  # (B, H, dims)
    predicted = [heads.best_prediction(mixed[:, :H], attention[:H], q) for H in range(q + 1)]
    return (heads.label(given.x, q) - torch.stack(predicted)).square()


sampled = [estimate(squared) for squared in in_chunks(with_positions_only)]
scored = [
    abs(mean - by_alpha[alpha][H]) / error for H, (mean, error) in enumerate(sampled) if error > 0
]
misread = max(
    abs(mean - by_alpha[alpha][H - 1]) / error for H, (mean, error) in enumerate(sampled) if H
)
print(f"alpha = {alpha:g}, d = {dims}")
print(" H  1 - H/q  formula   Monte Carlo")
for H, (mean, error) in enumerate(sampled):
    print(f"{H:2} {heads.floor(q, H):8.4f} {by_alpha[alpha][H]:8.4f}   {mean:.4f} ± {error:.4f}")

# %% mystnb={"figure": {"caption": "Error of the best function of $H$ mixtures of $q + 3$ tokens, of which $q$ count. The line is $1 - H/q$. Circles: the best mixtures that a search found. Squares: heads of the construction with $\\alpha = 5$, by Monte Carlo through the layer; two standard errors are smaller than the marks. Triangles: random mixtures, on average.", "name": "fig-heads-exact"}, "image": {"alt": "Error against the number of heads. A straight line falls from 1 to 0. Circles lie on it. Squares lie a little above it, and triangles well above it, the more the more heads there are. Nothing lies below the line."}} tags=["hide-input"]
fig, ax = figures.new(height=3.0)
counts = range(q + 1)
line = {"color": "black", "marker": "", "linestyle": "-", "linewidth": 1.2}
ax.plot(counts, [heads.floor(q, H) for H in counts], label="$1 - H/q$", **line)
for k, (name, errors) in enumerate(
    {
        "search": found,
        "construction, $\\alpha = 5$": [mean for mean, _ in sampled],
        "random": at_random,
    }.items()
):
    look = {"color": figures.COLOURS[k], "marker": "os^"[k], "linestyle": "none"}
    if name == "search":
        look |= {"markersize": 9, "markerfacecolor": "none"}
    ax.plot(counts, errors, label=name, **look)
ax.set(xlabel="heads $H$", ylabel="error", xticks=counts, ylim=(-0.04, 1.08))
ax.legend()
figures.show()

# %% [markdown]
# ## When heads compare data with positions
#
# Without the assumption the attention weights may depend on the data. A token of the second half has $x_i = 0$, so its logit for token $j$ is $\langle u_h, x_j \rangle + b_h(j)$, with a direction $u_h \in \mathbb R^d$ and a number $b_h(j)$ that do not depend on the data. Tell the function on top all $\langle u_h, x_j \rangle$. That is more than it sees, so the error can only fall. Then the attention weights are known numbers, and what is left of the data, the part orthogonal to all $u_h$, is normal in $d - H$ dimensions or more. The formula of the last section holds for these, and gives $\frac{d - H}{d} \cdot \bigl(1 - \frac1q \|SQS\|_F^2\bigr)$, at least $(1 - \frac Hd)(1 - \frac Hq)$.
#
# Is that too generous? It is not: a function on top can find out all that it was told.
#
# 1. A head also puts out $\sum_j a_j \omega_j$. If the encodings are linearly independent, this tells every $a_j$.
# 2. The logarithms of the $a_j$ are the logits up to a constant. A token of the second half has no data, so its logit is known, and with it the constant.
# 3. So all $\langle u_h, x_j \rangle$ are known, although the layer only takes averages.
#
# With $N = 2q$ nothing but the $q$ tokens has data, so every rank $H$ is as good as any other, and the bound is attained. The next cell builds this function, `heads.read`, from nothing but the outputs of the layer, and measures its error.

# %%
q_read, N_read, size_read = 4, 8, 16
omega_read = encodings(N_read, size_read, generator).double()


def reading(H, dims):
    """Error of the best function of H heads that compare data with positions."""
    u, b = normal(H, dims) / (2 * dims**0.5), normal(H, N_read) / 2
    W = heads.reading_heads(u, b, omega_read, q_read)

    def squared():
        given = heads.hard_prompts(1000, N_read, dims, q_read, generator)
        outputs = through_the_layer(W, given, omega_read)
        predicted = heads.read(outputs, omega_read, u, b, q_read)
        return (heads.label(given.x, q_read) - predicted).square()

    return estimate(in_chunks(squared))


read = {
    (dims, H): reading(H, dims) for dims in (1, 2, 4, 8) for H in range(1, min(dims, q_read) + 1)
}
open_cells = {key: cell for key, cell in read.items() if heads.floor(q_read, key[1], key[0]) > 0}
read_scores = [
    abs(mean - heads.floor(q_read, H, dims)) / error
    for (dims, H), (mean, error) in open_cells.items()
]
read_control = max(
    abs(mean - heads.floor(q_read, H)) / error for (_, H), (mean, error) in open_cells.items()
)
closed = max(mean for key, (mean, _) in read.items() if key not in open_cells)
one_head = read[1, 1][0]
blind_head = sampled[1][0]
print(f"q = {q_read}")
print(" d  H  1 - H/q  (1-H/d)(1-H/q)   Monte Carlo")
for (dims, H), (mean, error) in read.items():
    lines = f"{heads.floor(q_read, H):8.4f} {heads.floor(q_read, H, dims):15.4f}"
    told = f"{mean:.4f} ± {error:.4f}" if (dims, H) in open_cells else "below 1e-12"
    print(f"{dims:2} {H:2} {lines}   {told if mean > 1e-12 else 'below 1e-12'}")

# %% [markdown]
# The second bound is attained too. In one dimension *one* head does the work of any number: its attention weights carry all the data. So the assumption of {prf:ref}`retrieval-prop21` cannot be dropped, and the factor $1 - \frac Hd$ of the sharper bound is no weakness of the proof. {numref}`fig-heads-free` shows how the second line comes to the first as $d$ grows.

# %% mystnb={"figure": {"caption": "Least error of $H$ heads for $q = 4$ tokens. Upper line: heads that compare positions only. Below it, for data of 8, 4, 2 and 1 dimensions: $(1 - H/d)(1 - H/q)$ for heads that compare data with positions. Marks: the function that reads the data out of the attention weights, by Monte Carlo; two standard errors are smaller than the marks.", "name": "fig-heads-free"}, "image": {"alt": "Error against the number of heads from 0 to 4. A straight black line falls from 1 to 0. Below it hang curves, one for each number of dimensions, that start at 1 and fall faster the fewer the dimensions; the one of a single dimension reaches 0 at one head. Measured marks lie on the curves."}} tags=["hide-input"]
fig, ax = figures.new(height=3.0)
counts = range(q_read + 1)
ax.plot(counts, [heads.floor(q_read, H) for H in counts], label="positions only", **line)
for k, dims in enumerate((8, 4, 2, 1)):
    reach = range(min(dims, q_read) + 1)
    bound = [heads.floor(q_read, H, dims) for H in reach]
    ax.plot(reach, bound, color=figures.COLOURS[k], linestyle=figures.DASHES[k], marker="")
    look = {"color": figures.COLOURS[k], "linestyle": figures.DASHES[k]}
    ax.plot([], [], label=f"free, $d = {dims}$", marker=figures.MARKERS[k], **look)
    marks = {"color": figures.COLOURS[k], "marker": figures.MARKERS[k], "linestyle": "none"}
    ax.plot(reach[1:], [read[dims, H][0] for H in reach[1:]], **marks)
ax.set(xlabel="heads $H$", ylabel="error", xticks=counts, ylim=(-0.04, 1.08))
ax.legend()
figures.show()

# %% [markdown]
# There is a second way, without logarithms. Let $u$ be $\pm\epsilon$ times a unit vector $e_k$, and all $b_h(j) = 0$. For small $\epsilon$ the weights are $\frac1N (1 \pm \epsilon \langle e_k, x_j \rangle)$ to first order, so the difference of the two heads along $e_k$ is $\frac{2\epsilon}N$ times $\sum_j \langle e_k, x_j \rangle^2 - \frac1N (\sum_j \langle e_k, x_j \rangle)^2$. Their mean tells the last sum. So $2d$ heads, and a polynomial of degree 2 on top, give the label for *every* $q$, up to order $\epsilon^2$.

# %%
few_dims = 2


def small_step(q, epsilon):
    """Error of 2 few_dims heads with directions of length epsilon, N = 2q."""
    x = heads.hard_prompts(prompts // 4, 2 * q, few_dims, q, generator).x
    squares = 0.0
    for k in range(few_dims):
        s = x[..., k]
        up, down = (((sign * epsilon * s).softmax(-1) * s).sum(-1) for sign in (1, -1))
        mean = (up + down) / 2
        squares = squares + 2 * q * ((up - down) / (2 * epsilon) + mean.square())
    predicted = (squares - q * few_dims) / (q * few_dims) ** 0.5
    return estimate((heads.label(x, q) - predicted).square())[0]


small_steps = {(q, epsilon): small_step(q, epsilon) for q in (4, 16, 64) for epsilon in (0.2, 0.05)}
print(f"{2 * few_dims} heads, d = {few_dims}:  error at epsilon = 0.2     0.05   1 - H/q")
for q_many in (4, 16, 64):
    wide, narrow = (small_steps[q_many, epsilon] for epsilon in (0.2, 0.05))
    line_there = heads.floor(q_many, 2 * few_dims)
    print(f"q = {q_many:2} {wide:35.6f} {narrow:8.6f} {line_there:9.4f}")

# %% [markdown]
# So for $d$ far below $q$ it is not $q$ that counts heads, but $d$. The paper does not say otherwise: its bound is empty there, and it speaks of $H = \Omega(q)$ for $d \gg q$.
#
# ## A linear label needs one head
#
# The paper remarks that squares matter. For the *sparse average*, $y = \frac1{\sqrt q} \sum_j \langle u, x_j \rangle$ with a unit vector $u$, one head that spreads evenly over the $q$ tokens is enough: its mixture is what is asked for. A predictor that is linear in one mixture $\sum_j a_j x_j$ leaves the share $1 - \frac{(\sum_{j \le q} a_j)^2}{q \|a\|^2}$ of the variance. Add the $q$ heads of the construction to a single one, with matrix $\sum_h W^{(h)}$. Its logits are equal and large at the $q$ tokens, up to the small products of different encodings.

# %%
orthogonal = torch.eye(N).double()  # encodings without such products
together = orthogonal[:q].sum(0)


def linear_left(a):
    return (1 - a[:q].sum().square() / (q * a.square().sum())).item()


average_left = {alpha: linear_left((alpha * together).softmax(-1)[:M]) for alpha in alphas}
squares_left = {
    alpha: heads.mixture_error((alpha * together).softmax(-1)[None, :M], q).item()
    for alpha in alphas
}
print(f"one head, q = {q}: share left of the average, error of the squares, 1 - 1/q")
for alpha in alphas:
    average = f"{average_left[alpha]:.6f}" if average_left[alpha] > 1e-12 else "below 1e-12"
    print(f"alpha = {alpha:4g}: {average:>12} {squares_left[alpha]:.6f} {heads.floor(q, 1):.6f}")

# %% [markdown]
# ## Training
#
# The authors' repository trains models with one pointer. Here we train on the hard distribution, with $q$ of {glue:text}`q_trained` tokens, $N = 2q$, and 1 to $q + 2$ heads with a query-key matrix each and a two-layer ReLU network on top. *Restricted* models have the blocks of {prf:ref}`retrieval-prop21` held at zero; *free* models do not. Every model has its own encodings, weights and data, and no prompt returns, so what is left is not for want of data. The error is measured on 20 000 new prompts for each model.

# %%
TEST = 5000


def learn(q, H):
    N, d_e = 2 * q, 2 * q
    free = torch.arange(2 * models) >= models
    task = heads.hard_task(2 * models, N, d, q, d_e, generator)
    start = heads.initial_weights(d, d_e, q, H, hidden, free, generator)
    trained = train(
        heads.forward,
        start,
        task.fresh(batch_size),
        steps=steps,
        learning_rate=1e-2,
        weight_decay=0.0,
        rate_of={"mask": 0.0},
        schedule=lambda s: min(1, s / 50) * (1 + math.cos(math.pi * s / steps)) / 2,
        check_every=steps,
    )
    everyone = torch.arange(2 * models)
    squared = []
    for _ in range(4):
        drawn = [task.draw(m, TEST, task.generators[m]) for m in everyone.tolist()]
        tokens, y = task.examples(
            everyone, *(torch.stack(part) for part in zip(*drawn, strict=True))
        )
        squared.append((heads.forward(trained.weights, tokens) - y).square())
    squared = torch.cat(squared, 1).double()
    attention = heads.outputs(trained.weights, tokens[:, :1])[0][:, 0, :, :q]  # (E, H, q)
    caught = (attention > 0.5).any(1).sum(1)
    return squared.mean(1), squared.std(1) / squared.shape[1] ** 0.5, caught


cells = {(q, H): learn(q, H) for q in q_trained for H in range(1, q + 3)}
glue(q_trained=" and ".join(str(q) for q in q_trained))
print(f"models trained: {2 * models * len(cells)}")

# %% tags=["nbval-ignore-output"]
kinds = {"restricted": slice(models), "free": slice(models, None)}


print(" q  H  kind        least    mean   95 % interval      1-H/q  (1-H/d)(1-H/q)  tokens caught")
for (q, H), (error, _, caught) in cells.items():
    for kind, which in kinds.items():
        mean, low, high = statistics.average(error[which])
        print(
            f"{q:2} {H:2}  {kind:10} {error[which].min():6.3f}  {mean:6.3f}  {low:6.3f} to {high:6.3f}"
            f"  {heads.floor(q, H):9.3f} {heads.floor(q, H, d):15.3f}"
            f"  {caught[which].double().mean():13.1f}"
        )


def margins(kind, floors):
    """Distances of all models of a kind from a floor, in standard errors of the test."""
    which = kinds[kind]
    return torch.cat(
        [
            (error[which] - floors(q, H)) / noise[which]
            for (q, H), (error, noise, _) in cells.items()
            if floors(q, H) is not None
        ]
    )


few = margins("restricted", lambda q, H: heads.floor(q, H) if q > H else None)
enough = margins("restricted", lambda q, H: heads.floor(q, q - 1) if q <= H else None)
few_free = margins("free", lambda q, H: heads.floor(q, H, d) if heads.floor(q, H, d) > 0 else None)
free_at_line = margins("free", lambda q, H: heads.floor(q, H) if q > H else None)
share_left = {
    many: max(
        q * min(cells[q, H][0][:models].min().item() for H in counts)
        for q, counts in ((q, range(q, q + 3) if many else range(q - 1, q)) for q in q_trained)
    )
    for many in (True, False)
}
q_most = max(q_trained)
one = {
    kind: statistics.average(cells[q_most, 1][0][which] - heads.floor(q_most, 1))
    for kind, which in kinds.items()
}
glue(
    few_least=few.min().item(),
    few_free_least=few_free.min().item(),
    free_at_line=free_at_line.min().item(),
    q_most=q_most,
    one_line=heads.floor(q_most, 1),
    one_free=heads.floor(q_most, 1) + one["free"][0],
    one_restricted=heads.floor(q_most, 1) + one["restricted"][0],
    share_left=share_left[True],
    caught=cells[q_most, q_most][2][:models].double().mean().item(),
)

# %% [markdown]
# No restricted model with $H < q$ lies below $1 - H/q$ by more than the noise of its test: the lowest is at {glue:text}`few_least:.1f` standard errors from the line. Many come close to it. With $q$ heads or more the best models fall far below the line of $q - 1$ heads: to {glue:text}`share_left:.2f` of it at most. Not all do. Restricted heads settle on a token each, without regard to the others, so that some tokens go unattended: with $q = H =$ {glue:text}`q_most` a model catches {glue:text}`caught:.1f` tokens on average.
#
# Free models go below $1 - H/q$. With one head and $q =$ {glue:text}`q_most` their mean error is {glue:text}`one_free:.3f`, where restricted ones have {glue:text}`one_restricted:.3f` and the line is at {glue:text}`one_line:.2f`. They stay above $(1 - \frac Hd)(1 - \frac Hq)$ (lowest: {glue:text}`few_free_least:.1f` standard errors). So part of the trick is learned, presumably in its second form, which asks only for squares ({numref}`fig-heads-trained`).

# %% mystnb={"figure": {"caption": "Errors of trained models against their number of heads, every model. Circles: heads that compare positions only. Squares: free heads. At each $H$, solid: $1 - H/q$; dashed: $(1 - H/d)(1 - H/q)$.", "name": "fig-heads-trained"}, "image": {"alt": "One panel for each q. At each number of heads circles lie on or just above a solid level that falls to 0 at H = q, with a few stragglers far above it where heads chose the same token. Squares lie below the solid level and above a dashed one for the first heads. From q heads on the lowest marks are near 0."}} tags=["hide-input"]
fig, axes = figures.new(1, len(q_trained), height=3.2, sharey=True, squeeze=False)
for ax, q in zip(axes[0], q_trained, strict=True):
    counts = range(1, q + 3)
    for style, colour, name, floors in (
        ("-", "black", "$1 - H/q$", [heads.floor(q, H) for H in counts]),
        ("--", figures.GREY, "$(1 - H/d)(1 - H/q)$", [heads.floor(q, H, d) for H in counts]),
    ):
        ends = [H - 0.38 for H in counts], [H + 0.38 for H in counts]
        ax.hlines(floors, *ends, colors=colour, linestyles=style, linewidth=1.4, label=name)
    for k, (kind, which) in enumerate(kinds.items()):
        for H in range(1, q + 3):
            error = cells[q, H][0][which]
            places = H + (k - 0.5) * 0.3 + torch.linspace(-0.08, 0.08, models)
            look = {"color": figures.COLOURS[k], "marker": "os"[k], "linestyle": "none"}
            ax.plot(places, error, label=kind if H == 1 else "", markersize=3.5, **look)
    ax.set(title=f"$q = {q}$", xlabel="heads $H$", xticks=counts, ylim=(-0.04, 1.08))
axes[0, 0].set_ylabel("error")
axes[0, -1].legend()
figures.show()

# %% [markdown]
# ## What would falsify this
#
# The lemma: a number of dimensions with another variance; the control has two equal numbers in place of two independent ones. The formula: a choice of weights for which least squares finds another error; the control is the formula with $\operatorname{tr}(SQ)$ for $\|SQS\|_F^2$. The line: a mixture, or a trained model, below it; the controls have one head more, or heads enough. That it is attained: the control has weights on other tokens. For the second bound: a measured error away from it by more than chance; the control compares the same errors with $1 - H/q$. Monte Carlo claims and trained errors allow 4.5 standard errors; that is exceeded once in 150 000 normal draws.

# %% tags=["nbval-ignore-output"]
rounding = 1e-9  # least squares on up to 20 000 equations, conditioned below 1e4, at 1e-16
ledger.result("retrieval.prop21.lem40").holds(
    "Lemma 40: $\\operatorname{Var} \\|z\\|^2 - 2k$, largest of $k \\le 8$; control: a copied number",
    lemma40,
    at_most=1e-10,
    control=lemma40_control,
    about="statement",
    evidence="proved",
)
ledger.result("retrieval.prop21").holds(
    "error of $H$ mixtures by least squares is $1 - \\|SQS\\|_F^2/q$, largest gap; control: $\\mathrm{tr}\\, SQ$",
    formula_gap,
    at_most=rounding,
    control=trace_gap,
    about="proof",
    evidence="proved",
)
ledger.result("retrieval.prop21").holds(
    "a search over mixtures: least error minus $(1 - H/q)$; control: one head more",
    min(search_margin),
    at_least=0,
    tol=1e-12,
    control=min(one_more),
    about="statement",
    evidence="proved",
)
ledger.result("retrieval.prop21").holds(
    "mixtures of the tokens pointed at attain $1 - H/q$, largest gap; control: random mixtures",
    attained,
    at_most=1e-12,
    control=missed,
    about="constant",
    evidence="attained",
)
ledger.result("retrieval.prop21").holds(
    "real heads: Monte Carlo against the formula, in standard errors; control: one head fewer",
    max(scored),
    at_most=4.5,
    control=misread,
    about="ours",
    evidence="sampled",
)
ledger.result("retrieval.prop21").holds(
    "trained, restricted, $H < q$: least distance above $1 - H/q$, in standard errors; control: $H \\ge q$ against the line of $q - 1$",
    few.min(),
    at_least=-4.5,
    control=enough.min(),
    about="statement",
    evidence="trained",
)
ledger.result("retrieval.prop21").holds(
    "trained, restricted, $H \\ge q$: error of the best model times $q$; control: $H = q - 1$",
    share_left[True],
    at_most=0.5,
    control=share_left[False],
    about="ours",
    evidence="trained",
)
ledger.result("retrieval.prop3").holds(
    "free heads attain the sharper $(1 - H/d)(1 - H/q)$ derived here: largest distance in standard errors; control: from $1 - H/q$",
    max(read_scores),
    at_most=4.5,
    control=read_control,
    about="constant",
    evidence="attained",
)
ledger.result("retrieval.prop3").holds(
    "from $H = \\min(q, d)$ free heads on the error is 0: one head for any $q$ where $d = 1$; control: positions only",
    closed,
    at_most=1e-12,
    control=blind_head,
    about="ours",
    evidence="attained",
)
ledger.result("retrieval.prop3").holds(
    "$2d$ heads with small weights, $q = 64$: error at $\\epsilon = 0.05$; control: the least of $2d$ heads on positions",
    small_steps[64, 0.05],
    at_most=0.01,
    control=heads.mixture_error(normal(2 * few_dims, 64), 64),
    about="ours",
    evidence="attained",
)
ledger.result("retrieval.prop3").holds(
    "trained, free: least distance above $(1 - H/d)(1 - H/q)$, in standard errors; control: above $1 - H/q$",
    few_free.min(),
    at_least=-4.5,
    control=free_at_line.min(),
    about="statement",
    evidence="proved",
)
ledger.result("retrieval.prop3").holds(
    "trained, free, one head: mean error minus $(1 - 1/q)$, upper end of 95 %; control: restricted",
    one["free"][2],
    at_most=0,
    control=one["restricted"][2],
    about="ours",
    evidence="trained",
)
ledger.result("retrieval.sparse_average").holds(
    "remark: one head leaves nothing of a sparse average, share at $\\alpha = 40$; control: of the squares",
    average_left[40.0],
    at_most=1e-12,
    control=squares_left[40.0],
    about="statement",
    evidence="attained",
)
ledger.show()

# %%
ledger.verdicts()

# %% [markdown]
# ## What the authors' code does differently
#
# In the repository `mousavih/transformers-separation` the tokens carry one pointer, $q = 1$, and the transformer has one head. We saw no experiment on the number of heads there, so ours has nothing to compare with. The paper's second version has a figure of samples against $q$, at 7 tokens, which is not redone here. The paper multiplies encodings by $\sqrt{d/q}$; we do not, as the authors' code does not. It changes the scale of $W$ and no bound.
#
# ## What we found
#
# * $1 - H/q$ is not only a bound. The error of any fixed attention is $1 - \|SQS\|_F^2 / q$, and it equals $1 - H/q$ exactly when the heads put no weight on other tokens with data and their weights are linearly independent.
# * So heads that compare positions only must number $q$. This assumption on $W$ is needed. Heads that compare data with positions leak data through their attention weights, and $(1 - H/d)(1 - H/q)$ is then the least error, attained: $\min(q, d)$ free heads suffice. For $d = 1$ one head suffices, and $2d$ heads with small weights do for every $q$, with squares on top.
# * The bound of {prf:ref}`retrieval-prop3` follows, for every $H$ up to $\min(q, d)$; beyond, it is empty.
# * Training finds part of this: free models are below $1 - H/q$.
# * Enough heads are not enough for gradient descent: restricted heads often choose the same token.
#
# ## Exercises
#
# ```{admonition} Exercise 1
# Let the label be linear, $y = \sum_h \langle u_h, x_h \rangle$, with directions $u_h$ as the rows of a $q \times d$ matrix $U$. What do $H$ mixtures with any real weights leave of its variance? When does one head suffice?
# ```

# %% tags=["hide-cell"]
# |U - QU|^2, and the best Q spans the first H left singular vectors: the sum of the other squared singular values is left.
# One head suffices iff U has rank 1. Softmax gives positive weights, so for u_1 = -u_2 one head leaves half.
U = normal(5, 3)
left, sizes, _ = torch.linalg.svd(U)
for H in range(4):
    Q = left[:, :H] @ left[:, :H].T
    print(
        f"H = {H}: {(U - Q @ U).square().sum():.6f}, {sizes[H:].square().sum():.6f}"
        if H < 3
        else "H = 3: nothing is left"
    )
a = torch.linspace(0, 1, 101, dtype=torch.float64)
signed = 2 - (a - (1 - a)).square() / (a.square() + (1 - a).square())
print(f"u_1 = -u_2, one head with positive weights: share left {signed.min() / 2:.4f}")

# %% [markdown]
# ```{admonition} Exercise 2
# A model has $q$ heads that each choose one of $q$ tokens at random. How many tokens does it catch on average, and what error does that leave? How many heads does it take to catch all $q = 4$ tokens in half of the models?
# ```

# %% tags=["hide-cell"]
# A token is missed with probability (1 - 1/q)^H, and the error is the mean share of missed tokens.
for size in (2, 4, 8):
    missed_share = (1 - 1 / size) ** size
    print(f"q = H = {size}: caught {size * (1 - missed_share):.4f}, error {missed_share:.4f}")
for H in range(4, 9):
    all_four = sum((-1) ** k * math.comb(4, k) * (1 - k / 4) ** H for k in range(5))
    print(f"q = 4, H = {H}: all caught with probability {all_four:.4f}")

# %% [markdown]
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The statements are from {cite:t}`retrieval`.
