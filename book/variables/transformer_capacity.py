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
# (ch-transformer-capacity)=
# # The capacity of a deep transformer
#
# ```{verdict}
# An error in one layer's weights is magnified by the *later* layers. The paper's proof of its bound on the capacity, Theorem A.17, takes the *earlier* ones. With the later layers, and one or two further repairs, we prove the bound with a constant of at most 4. Without repairs no constant is enough if one of its norms bounds rows of the value matrix: $2^{20}$ signs, with one network for each choice, require a constant of about {glue:text}`forced_rows:.0f`, and more signs a larger one. If that norm bounds columns, as in the form that we could restore, the theorem is open.
# ```
# **Needs** {ref}`ch-linear-layer`, {ref}`ch-attention-capacity`, {ref}`ch-capacity`. **Read** 23 min. **Runs in** 20 s. **Source** printed (Lemmas A.9 and A.13 to A.16), restored (Theorem A.17).
#
# **Claim.** In a stack of $L$ blocks of attention an error in the weights of one block passes through all blocks after it. Each block magnifies the error by a factor that depends on the norms of its matrices, and not on the number $T$ of tokens, so the capacity still grows with $\log T$. We find that the paper's inequalities for one block hold, even with half of their constants. The step from one block to the next is right as well, but in the sum over all blocks the proof of the theorem takes the factors of the wrong blocks. This proof needs two or three repairs, depending on which norm of the value matrix is meant: that of its rows, as in the proof and in Section 4.2, or that of its columns, as in Section 4.3, which is the form that we could restore. After these repairs the bound holds with a constant of at most 4.

# %% tags=["parameters"]
bits = 30  # up to 2**bits signs in the figure [12..60]
T_far = 300  # longest input of the networks that are run [50..600]
nets = 400  # networks that are covered step by step [400..4000]
length = 5.0  # of tokens that are too long for Lemmas A.13 and A.14 [4..32]
seed = 0  # of all random instances [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import math
from dataclasses import replace

import pandas as pd
import torch

from bookkit import Ledger, figures, glue, table
from helpers.covers import blocks, lipschitz
from helpers.covers.blocks import Layer
from helpers.covers.capacity import allocate
from helpers.covers.lipschitz import SOFTMAX, SOFTMAX_PRINTED
from helpers.rng import Rng, f64
from papers.variables import depth_covers, moved_weights
from papers.variables.attention_covers import walk
from papers.variables.depth_covers import LayerNorms

ledger, rng = Ledger("variables/transformer_capacity"), Rng(seed)
contraction, constants = ledger.result("variables.lemA9"), ledger.result("variables.lemA13")
a13, a14 = ledger.result("variables.lemA13.a13"), ledger.result("variables.lemA13.a14")
a15, a16 = ledger.result("variables.lemA13.a15"), ledger.result("variables.lemA13.a16")
a17, growth = ledger.result("variables.thm4_6.a17"), ledger.result("variables.log_T.layers")
rho = 1.25 * math.log(2)  # puts scores at log 2


def forced(n, order, of, T=3):
    """n log 2 over the bound of A.17 with constant 1, for n signs; k = 1; columns or rows of W_V."""
    d, kappa = n + 2, T * (T + 0.5) / 0.9 * (n + 2) ** 2
    zero, column, QK = 1e-300, d**-0.5, rho * n**0.5
    longest = kappa if of == "columns" else kappa * column
    layers = [
        LayerNorms(V=1 / d, V_columns=1 / d, QK_columns=QK, QK=QK, C=1 / d, C_columns=column / d),
        LayerNorms(kappa, longest, zero, QK=zero, C=1.0, C_columns=column),
    ]  # depth_bound has sqrt(kd) beside V, the theorem k
    layers = [replace(v, V_columns=v.V_columns * column) for v in layers]
    return n * math.log(2) / depth_covers.depth_bound(d, 1, layers, 1.0, T * n, 0.9, order=order)


# %% [markdown]
# ## Why one should care
#
# A guarantee for a single attention head says little about a network of many layers. In a deep network an error in the weights of one layer is an error in the input of the next, and it may grow on its way to the output. How fast it grows decides how large the *capacity* of a class of such networks is, that is, the logarithm of the number of its networks that one needs to approximate all others. Is this capacity still governed by the logarithm of the length, or by something much worse? To find out, one only has to multiply factors. But one has to follow the error in the right direction, and the direction matters as soon as the layers differ.
#
# ## Two layers by hand
#
# Let layer 1 magnify an error in its input by at most $a_1 = 1$, and layer 2 by at most $a_2 = 10$. Suppose that the weights of each layer are off so that its output gets a new error of 0.01.
#
# | error made in | passes through | may arrive at the output as | the paper's proof, with the factors of the layers before |
# |:--|:--|--:|--:|
# | layer 1 | layer 2 | $a_2 \cdot 0.01 = 0.1$ | $0.01$ |
# | layer 2 | nothing | $0.01$ | $a_1 \cdot 0.01 = 0.01$ |
#
# So each layer's error has to be multiplied by the factors of the layers *after* it: by 10 for the first layer and by 1 for the second. The paper's proof takes the factors of the layers *before* it, as in the last column, and thereby underestimates the error from the first layer by a factor of ten. The step from one layer to the next is printed correctly, as $\epsilon^{(i+1)} = a_i\, \epsilon^{(i)} + \dots$; only the sum over all layers that follows from it is wrong. If both layers had the same factor $a$, both columns would add up to $0.01\, (1 + a)$, which is why the slip is easily missed.
#
# ## Four forms of the theorem
#
# A mistake in a proof need not make the theorem false, so we ask which form of the theorem is true. Two questions make four forms, and the rest of the page names them by the words in italics:
#
# * *The layers.* The product of the factors runs over the *earlier layers*, as in the paper, or over the *later layers*.
# * *The norm of the value matrix.* The bound contains a number $B_V^{2,\infty}$ that bounds a norm of the value matrix $W_V$. It bounds the length of the longest of the *rows* of $W_V$, as Section 4.2 and the proof write it, or of the longest of the *columns*, as Section 4.3 defines the class of deep transformers. So the theorem as restored is *earlier layers, columns*.
#
# The theorem leaves the constant in front of its bound open. How can a class of networks refute such a bound? Take $2^n$ networks, one for each choice of $n$ signs, any two of which differ on some input by more than twice the error $\epsilon$ that is allowed. Then no network is near to two of them, so they cannot be approximated by fewer than $2^n$ networks, and the capacity is at least $n \log 2$. If we divide this number by the bound, we get the constant that the class *forces*: a smaller one cannot stand in front of the bound. The next figure shows this constant for a class of two layers, which is described below. If a curve rises without limit, no constant is enough, and that form of the theorem is false.

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "The constant that a class of two layers with $n$ free signs forces in Theorem A.17. With products over the earlier layers, as restored, it grows almost like $n$ if $B_V^{2,\\infty}$ bounds rows of $W_V$, and stays below 1 if it bounds columns. With products over the later layers it vanishes.", "name": "fig-depth-forced"}, "image": {"alt": "Log-log plot against the number of signs from 2 to the 6 on. Of two curves with products over earlier layers, that for rows rises, nearly as steep as n, and crosses the grey line at one; that for columns falls slowly, far below one. Two curves with products over later layers fall steeply."}} tags=["hide-input"]
grid = [2**j for j in range(6, bits + 1)]
orders, read_as = ("earlier", "later"), ("columns", "rows")
forms = {f"{order} layers, {of}": (order, of) for order in orders for of in read_as}
fig, ax = figures.new(height=3.0)
for i, (name, form) in enumerate(forms.items()):
    ax.plot(grid, [forced(n, *form) for n in grid], **figures.line_style(i, label=name))
figures.level(ax)
ax.set(xscale="log", yscale="log", xlabel="signs $n$", ylabel="constant forced", ylim=(1e-12, None))
ax.legend(loc="lower right")
figures.show()

# %% [markdown]
# Only one of the four curves rises, that of *earlier layers, rows*. The curve of *earlier layers, columns* stays below the grey line at 1, so this class does not decide that case. Both curves with *later layers* fall steeply, as they may, since that bound holds. The next table has the conclusions for all four cases:
#
# | case | in the paper | constant that this class forces | conclusion |
# |:--|:--|:--|:--|
# | *earlier layers, rows* | the theorem, with the class of its proof and the norm of Section 4.2 | grows almost like $n$ | fails with every constant |
# | *earlier layers, columns* | the theorem, with the class of Section 4.3 | below 1 | open |
# | *later layers*, both | not there | vanishes as $n$ grows | proved here, with one further repair for columns and two for rows |
#
# The further repairs are two factors: $L_\sigma$, the slope of the activation, beside $B_C^{2,\infty}$, a norm of the output matrix $W_C$; and for *rows* also $\sqrt{kd}$ in place of $k$ beside $B_V^{2,\infty}$, where the value matrix has $d$ rows and $k$ columns.
#
# ## The statement
#
# Tokens are the rows of $Z \in \mathbb R^{T \times d}$. We write $\|\cdot\|$ for the length of the longest row, $\|\cdot\|_2$ for the spectral norm, and $\|\cdot\|_{2,\infty}$ for the length of the longest column. Attention in which every token is a query is
#
# $$f(Z; W) = \mathrm{RowSoftmax}\bigl( Z\, W_{QK}\, Z^\top \bigr)\, Z\, W_V, \qquad W_{QK} = W_Q W_K^\top,$$
#
# with $W_Q, W_K, W_V \in \mathbb R^{d \times k}$. The projection $\Pi$ shortens rows that are longer than 1 to length 1, and stands for layer normalisation. With $W_C \in \mathbb R^{k \times d}$ and an activation $\sigma$ that acts on each number, maps 0 to 0 and is $L_\sigma$-Lipschitz, layer $i$ maps
#
# $$g^{(1)} = X, \qquad g^{(i+1)} = \Pi\bigl( h^{(i)} W_C^{(i)} \bigr), \quad h^{(i)} = \sigma( \Pi( f(g^{(i)}; W^{(i)}) ) ), \qquad i = 1, \dots, L .$$
#
# The output is $w^\top g^{(L+1)}_{[CLS]}$, a linear function of one token. The bounds use these names:
#
# * $B_V, B_{QK}, B_C$ bound the spectral norms of the matrices in a layer, and $B_w$ bounds $\|w\|_2$. Each layer has bounds of its own. We leave out the index $i$ of the layer at these numbers and at those of the next two lines, but $a_i$, and each term of a sum over $i$, is made of those of layer $i$.
# * $B_{QK}^{2,\infty}, B_C^{2,\infty}$ bound the longest columns of $W_{QK}, W_C$.
# * $B_V^{2,\infty}$ bounds the longest column of $W_V$, as Section 4.3 defines the class of deep transformers, or of $W_V^\top$, as Section 4.2 does for one head (twice) and the proof of A.17 for all layers. These are the cases *columns* and *rows*.
# * Hats mark a second set of weights or of tokens, and $\Delta W = W - \hat W$.
# * $\log N_\infty(\epsilon)$ is the log covering number of {ref}`ch-capacity` on any $m$ inputs $X$, whose tokens have length at most 1, and $\lesssim$ hides a constant and logarithms of everything but $m$ and $T$.
#
# (The paper bounds the columns of $W_K W_Q^\top$, which are the rows of our $W_{QK}$. On this page both readings give the same results, because the proof uses only that $\|W_{QK}\|_F \le \sqrt d\, B_{QK}^{2,\infty}$, which holds for both.) We judge the review version of October 2021, and use its numbers.
#
# The paper's results come in three steps: a projection moves two vectors no farther apart (A.9), one layer multiplies the error that enters and adds a new one (A.13 to A.15, and A.16 for the read-out), and the theorem adds up the errors of all layers (A.17).
#
# ```{prf:lemma} Edelman et al. (2022), Lemma A.9
# :label: variables-lemA9
# $\|\Pi(u) - \Pi(v)\|_2 \le \|u - v\|_2$ for all vectors $u, v$.
# ```
#
# ```{prf:lemma} Edelman et al. (2022), Lemmas A.13 to A.16
# :label: variables-lemA13
# *(A.15 is true with a condition that is not printed in it.)* Let all tokens have length at most 1. A.13 and A.14 say so, whereas A.15 does not, and needs it for the input of the first layer; in later layers $\Pi$ takes care of it.
#
# 1. (A.13, other weights) $\|f(Z; W) - f(Z; \hat W)\| \le 2 \|W_V\|_2\, \|Z\, \Delta W_{QK}^\top\| + \|Z\, \Delta W_V\|$.
# 2. (A.14, other tokens) $\|f(Z; W) - f(\hat Z; W)\| \le \|W_V\|_2\, (1 + 4 \|W_{QK}\|_2)\, \|Z - \hat Z\|$.
# 3. (A.15, a whole layer) $\|g^{(i+1)} - \hat g^{(i+1)}\| \le a_i\, \|g^{(i)} - \hat g^{(i)}\| + \delta_i$. Here the factor $a_i = L_\sigma B_C B_V (1 + 4 B_{QK})$ magnifies the error that enters, and the new error of the layer is $\delta_i = \|\hat h^{(i)} \Delta W_C\| + 2 L_\sigma B_C B_V\, \|\hat g^{(i)} \Delta W_{QK}^\top\| + L_\sigma B_C\, \|\hat g^{(i)} \Delta W_V\|$.
# 4. (A.16, the read-out) $|w^\top g - \hat w^\top \hat g| \le \|w\|_2\, \|g - \hat g\|_2 + |(w - \hat w)^\top \hat g|$.
# ```
#
# ```{prf:theorem} Edelman et al. (2022), Theorem A.17
# :label: variables-thmA17
# *(Not proved, as restored. What is legible and what is restored is said below.)* With $\alpha_i^{<} = \prod_{j < i} a_j$, the product of the factors of the earlier layers,
#
# $$\log N_\infty(\epsilon) \lesssim \frac{\log(mT)}{\epsilon^2}\, B_w^2 \Bigl( 1 + \sum_{i=1}^L (\alpha_i^{<})^{2/3} \bigl[ (d B_C^{2,\infty})^{2/3} + (2 d L_\sigma B_C B_V B_{QK}^{2,\infty})^{2/3} + (k L_\sigma B_C B_V^{2,\infty})^{2/3} \bigr] \Bigr)^3 .$$
# ```
#
# In words: each matrix of each layer contributes one term to the large bracket, in the order $W_C$, $W_{QK}$, $W_V$. A term says how large a cover of this matrix has to be, times what magnifies its error until the output. The summand 1 before the sum belongs to the read-out $w$. (The paper writes $\alpha_i$; the sign $<$ is ours and recalls the earlier layers.)
#
# **Source.** A part of the theorem is legible in our text, and a part is restored:
#
# * *The product* over $j < i$ is legible three times, in the theorem and twice in its proof.
# * *The powers* in the brackets are not legible, but they follow from the proof and from {prf:ref}`variables-lemA8`.
# * *Columns or rows.* The class of Section 4.3 makes the theorem the case *columns*. Section 4.2 bounds rows, for one head with $k = d$. The norms in Appendix A.6, where the theorem stands, are damaged in our text, so they do not decide this.
# * *The place of $B_w$* is restored too: our text seems to have it in the first summand only, but in the proof it multiplies every error.
#
# ## One block
#
# This section is about a single layer: we prove the two lemmas with halved constants, show that no smaller constants are possible, and show why the tokens must be short.
#
# **The idea of the proofs.** An average of tokens changes for two reasons, because the tokens change or because the weights of the average do. The first change is no larger than that of the tokens. The second is at most the largest change of a score, since softmax has the constant 1. And if the tokens move, a score $z_\tau^\top W_{QK} z_t$ moves for two reasons, through its key and through its query. All other operations of a block, namely the projection, the activation and a matrix, multiply an error by a constant.
#
# ```{dropdown} Proof of the two lemmas, with 1 for 2 and 2 for 4
# We go through the lemmas in their order; only A.15 uses those before it.
#
# **A.9.** $\Pi(u)$ is the point of the unit ball nearest to $u$, so $(u - \Pi(u))^\top (y - \Pi(u)) \le 0$ for every $y$ in the ball. With $y = \Pi(v)$ this is $(u - \Pi(u))^\top (\Pi(v) - \Pi(u)) \le 0$, and the same holds with $u$ and $v$ exchanged. If we add the two inequalities, the result is $\|\Pi(u) - \Pi(v)\|^2 \le (u - v)^\top (\Pi(u) - \Pi(v))$. By Cauchy and Schwarz the right side is at most $\|u - v\|\, \|\Pi(u) - \Pi(v)\|$, and we divide by $\|\Pi(u) - \Pi(v)\|$.
#
# **A.13.** For the query $z_\tau$ let $p$ and $\hat p$ be the attention weights. The output at this query moves by
#
# $$W_V^\top Z^\top (p - \hat p) + \Delta W_V^\top Z^\top \hat p .$$
#
# The second term is an average of rows of $Z\, \Delta W_V$, so it is at most $\|Z\, \Delta W_V\|$. In the first term $Z^\top (p - \hat p)$ is at most $\|p - \hat p\|_1$ long, because the tokens have length at most 1, so that the term is at most $\|W_V\|_2 \|p - \hat p\|_1$. Softmax has the constant 1 ({ref}`ch-attention-capacity`), therefore $\|p - \hat p\|_1$ is at most the largest change of a score, $\max_t |z_\tau^\top \Delta W_{QK} z_t| \le \|Z\, \Delta W_{QK}^\top\|$.
#
# **A.14.** Now the output moves by $W_V^\top (Z - \hat Z)^\top \hat p + W_V^\top Z^\top (p - \hat p)$. The first term is at most $\|W_V\|_2 \|Z - \hat Z\|$, and for the second, a score moves by at most $2 \|W_{QK}\|_2 \|Z - \hat Z\|$, once through the key and once through the query, and we go on as before.
#
# **A.15.** By A.9 the outer $\Pi$ does not increase a distance. We write $h W_C - \hat h \hat W_C = (h - \hat h) W_C + \hat h\, \Delta W_C$, where $\|h - \hat h\|$ is at most $L_\sigma$ times the movement of $f$. We move $f$ in two steps: from $g$ to $\hat g$ with the same weights by A.14, then from $W$ to $\hat W$ on $\hat g$ by A.13. Only norms of the weights without hats enter.
#
# **A.16** follows from the triangle inequality and that of Cauchy and Schwarz. $\square$
# ```
#
# No smaller constants are possible, as two instances by hand show.
#
# * For A.13 take tokens $\pm u$ with equal scores, and let $\Delta W_{QK}$ raise one score a little and lower the other as much.
# * For A.14 take the same tokens in the plane, with $u$ along the first axis, and let $W_{QK}$ be a large number $\lambda$ times the exchange of the two axes (in the code $\lambda$ is `q`). Both tokens are turned a little towards the second axis, so that scores move through key and query at once.
#
# The table divides the left sides by the right ones, with the printed constants and with half of them; a ratio above 1 would refute a lemma. The third column repeats the first with longer tokens, to show why tokens must be short: for tokens of length $B$ both lemmas would need a factor $B^2$ beside the constant of softmax.

# %%
plane, opposite, h, q = torch.eye(2).double(), f64([[1.0, 0.0], [-1.0, 0.0]]), 1e-4, 100.0


def raised(c, scale=1.0):
    """Both sides of A.13 for tokens +u and -u, whose scores move apart: the ratio."""
    still, nudge = Layer(plane, 0 * plane, plane), torch.diag(f64([h / scale**2, 0.0]))
    return moved_weights.weight_sides(scale * opposite, still, still._replace(W_QK=nudge), c).ratio


def turned(c, scale=1.0):
    """The same of A.14: q times the exchange of axes, both tokens turned by the same small angle."""
    layer, angle = Layer(plane, q * plane.flip(0), plane), h / (q * scale**2)
    moved = math.cos(angle) * opposite + math.sin(angle) * opposite.flip(1)  # as long as before
    return moved_weights.input_sides(scale * opposite, scale * moved, layer, c).ratio


by_hand = pd.DataFrame(
    {
        name: {"as printed": f(SOFTMAX_PRINTED), "halved": f(SOFTMAX)}
        | {f"as printed, length {length:.0f}": f(SOFTMAX_PRINTED, length)}
        for name, f in (("A.13", raised), ("A.14", turned))
    }
).T.astype(float)
table(by_hand.rename_axis("lemma"), "Left side over right side, by hand", form=".4f")
glue(halved_13=by_hand.loc["A.13", "halved"], halved_14=by_hand.loc["A.14", "halved"])

# %% [markdown]
# With halved constants the ratios are {glue:text}`halved_13:.3g` and {glue:text}`halved_14:.3g`. The first tends to 1 as the movement of the scores becomes small, and the second as $\lambda$ grows as well, so no smaller constants than the halved ones are possible. The longer tokens of the last column, for which the lemmas are not stated, exceed even the printed bounds.
#
# A.15 is stated for any input, so long tokens are a counterexample there. In a first layer with the tokens $\pm B u$, whose scores move apart as in the example for A.13, the output moves by $\frac{B^2}2$ times what A.15 allows. The next table has this quotient for a layer so small that $\Pi$ changes nothing.


# %%
def first_layer(scale):
    """Both sides of A.15 for the tokens +u and -u times the scale: the ratio."""
    still = Layer(plane / (10 * scale), 0 * plane, plane)
    other = still._replace(W_QK=torch.diag(f64([h / scale**2, 0.0])))
    Z = scale * opposite
    sides = moved_weights.block_sides(Z, Z, still, other, SOFTMAX_PRINTED, lambda y: y)
    return sides.ratio.item()


long_inputs = pd.Series({B: first_layer(B) for B in (1.0, 2.0, length)}, name="quotient")
table(long_inputs.rename_axis("length"), "First layer, left over right side of A.15", form=".3g")

# %% [markdown]
# So A.15 fails in the first layer for tokens longer than $\sqrt2$, unless it has a factor $B^2$ there.
#
# ## An error passes through the later layers
#
# We now follow an error through all layers, from the first to the last. Let $r_i = \|g^{(i)} - \hat g^{(i)}\|$ be the error in the input of layer $i$. It starts at $r_1 = 0$, and by A.15 every layer turns it into $r_{i+1} \le a_i r_i + \delta_i$. For two layers this gives $r_3 \le a_2 r_2 + \delta_2 \le a_2 \delta_1 + \delta_2$, and in general
#
# $$r_{L+1} \le \sum_{i=1}^L \Bigl( \prod_{j > i} a_j \Bigr)\, \delta_i .$$ (eq-later)
#
# The paper's proof prints the step from one layer to the next, $r_{i+1} \le a_i r_i + \delta_i$, but has $j < i$ where we have $j > i$. It follows the recipe of {cite:t}`bartlett2017`, in which the product does run over the later layers. If all layers have the same bounds, both sums have the same terms in opposite order, as in the example.
#
# To compare the two we let gradient ascent look for networks whose error is large in relation to each sum. The ascent varies tokens, weights, perturbations and the scales of all of them. A ratio above 1 in the first column would refute {eq}`eq-later`, and one above 1 in the second refutes the step of the proof.

# %% mystnb={"code_prompt_hide": "The ascent", "code_prompt_show": "The ascent"} tags=["hide-input", "nbval-ignore-output"]


def ascend(ratios, shapes, count=8, steps=120):
    """Largest of each ratio found by Adam, which raises each of them in ``count`` networks.

    It varies tensors of these shapes and the logarithms of their sizes.
    """
    free = [rng.normal(2 * count, *s).requires_grad_() for s in shapes]
    logs = (2 * rng.normal(len(shapes), 2 * count)).requires_grad_()
    optimizer, best = torch.optim.Adam([*free, logs], lr=0.05), torch.zeros(2)
    for _ in range(steps):
        sizes = logs.clamp(-12, 6).exp()
        scaled = [torch.einsum("e...,e->e...", W, s) for W, s in zip(free, sizes, strict=True)]
        found = ratios(*scaled)  # (2, networks)
        best = torch.maximum(best, found.detach().amax(1))
        raised = torch.cat((found[0, :count], found[1, count:]))
        optimizer.zero_grad()
        (-(raised + 1e-12).log().sum()).backward()
        optimizer.step()
    return best.tolist()


def moved_output(L):
    """The output's error over the sums of the layers' errors times later and earlier factors."""

    def ratios(Z, *parts):
        layers = [Layer(*parts[6 * i : 6 * i + 3]) for i in range(L)]
        moves = [parts[6 * i + 3 : 6 * i + 6] for i in range(L)]
        others = [Layer(*map(torch.add, v, move)) for v, move in zip(layers, moves, strict=True)]
        X = blocks.to_ball(Z)
        states, hats = blocks.blocks(X, layers), blocks.blocks(X, others)
        norms = [[blocks.spectral(W) for W in (v.W_C, v.W_V, v.W_QK)] for v in layers]
        factors = torch.stack([lipschitz.layer_factor(*b) for b in norms], -1)
        errors = torch.stack(list(map(moved_weights.layer_error, hats[:-1], layers, others)), -1)
        products = lipschitz.later_factors(factors), moved_weights.earlier_factors(factors)
        allowed = torch.stack([(product * errors).sum(-1) for product in products])
        return blocks.longest(states[-1] - hats[-1]) / allowed

    return ratios


def weights_of(d, k):
    return [(d, k), (d, d), (k, d)]


climbs = {}
for L, d, k, T, count in ((1, 3, 2, 4, 8), (2, 2, 3, 4, 8), (3, 3, 2, 4, 8), (2, 3, 2, T_far, 1)):
    shapes = [(T, d), *(s for _ in range(L) for s in 2 * weights_of(d, k))]
    where = f"L = {L}, d = {d}, k = {k}, T = {T}"
    climbs[where] = dict(
        zip(("later", "earlier"), ascend(moved_output(L), shapes, count), strict=True)
    )
climbs = pd.DataFrame(climbs).T.rename_axis("networks")
table(climbs, "Largest error found over its bound, by the layers of the product")

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
u = rng.normal(4000, 3) * rng.log_uniform(0.01, 3, 4000, 1)
v = u + rng.normal(4000, 3) * rng.log_uniform(1e-3, 1, 4000, 1)


def stretch(f):
    return ((f(u) - f(v)).norm(dim=-1) / (u - v).norm(dim=-1)).max()


contraction.holds(
    "largest ratio of a distance after the projection to that before, for 4000 pairs; "
    "control: projection onto the sphere",
    stretch(blocks.to_ball),
    at_most=1,
    tol=1e-12,
    control=stretch(lambda y: y / y.norm(dim=-1, keepdim=True)),
    about="statement",
    evidence="proved",
)


def up(x):
    """Rounded up to tenths: what ascent finds differs between processors."""
    return math.ceil(round(10 * x, 6)) / 10


layer, other = (Layer(*(f64([[x]]) for x in (V, 1.0, 0.5))) for V in (0.3, 0.301))
Z = f64([[0.7]])
steep = moved_weights.block_sides(Z, Z, layer, other, activation=lambda y: 2 * y).ratio
g, y, w, other_w = blocks.to_ball(rng.normal(4, 4000, 3))
read = lipschitz.readout_sides(g, y, w, other_w)
bare = lipschitz.readout_sides(g, y, 3 * w, 3 * w).left / (g - y).norm(dim=-1)
long, ascended = (
    by_hand.iloc[:, 2],
    "by ascent through all layers, with halved constants, rounded up",
)
for row, name, found, what, control in (
    (
        a13,
        "A.13 by hand, with halved constants",
        by_hand.loc["A.13", "halved"],
        "longer tokens",
        long["A.13"],
    ),
    (
        a14,
        "A.14 by hand, with halved constants",
        by_hand.loc["A.14", "halved"],
        "longer tokens",
        long["A.14"],
    ),
    (a15, f"A.15 {ascended}", up(climbs["later"].max()), "twice the slope", steep),
    (a16, "A.16", read.ratio.max(), "without the norm of $w$", bare.max()),
):
    row.holds(
        f"{name}: ratio of the left to the right side; control: {what}",
        found,
        at_most=1,
        tol=1e-9,
        control=control,
        about="statement",
        evidence="proved",
    )
constants.holds(
    "the halved constants cannot be improved: smaller ratio of the movement to its bound in"
    " the two examples by hand; control: the constants as printed",
    by_hand["halved"].min(),
    at_least=0.99,
    control=by_hand["as printed"].max(),
    about="ours",
    evidence="attained",
)
a15.refuted(
    f"without the condition, a first layer with tokens of length {length:.0f}: ratio of the left "
    "to the right side, with the constants as printed; control: tokens of length 1",
    long_inputs[length],
    at_most=1,
    control=long_inputs[1.0],
    about="condition",
    evidence="attained",
)
a17.refuted(
    "error in units of the bound of the proof, whose product is over $j < i$, after "
    "gradient ascent and cut at a thousand; control: product over $j > i$, rounded up",
    min(1000.0, climbs["earlier"].max()),
    at_most=1,
    control=up(climbs["later"].max()),
    about="proof",
    evidence="attained",
)
glue(forced_rows=forced(2**20, "earlier", "rows"))
above = next(n for n in range(1000, 10**6, 1000) if forced(n, "earlier", "rows") > 1)
glue(signs_64=64 - 2, forced_64=forced(64 - 2, "earlier", "rows"), above=above)

# %% [markdown]
# With the later layers the ascent comes within one per cent of 1 and never above it, for $k$ below and above $d$ and for {glue:text}`T_far` tokens. With one layer both sums are the same, but as soon as there are two layers, the ratio with the earlier layers exceeds 1. In the table it reaches a million or more within the 120 steps of the ascent, but this number differs between processors, and the check asks only whether it is above 1.
#
# ### A class that needs the later layers
#
# That a step is wrong does not refute a theorem, so we need a class of networks that is too large for the bound. The plan is as follows. Layer 1 computes a sign $s_j$ for input $j$ and makes it very small, and layer 2 makes it large again. So an error in layer 1 is magnified very much, but only by the *later* layer, and a bound that multiplies layer 1 by the factors of earlier layers, of which there are none, does not see it. Layer 2 itself has to count little in the bound as well, and it does so in the case *earlier layers, rows*. There the class is too large for the bound.
#
# The matrices are these. Let $k = 1$, let $\sigma$ be the identity, and let the $d = n + 2$ unit vectors be called $a, q, e_1, \dots, e_n$. (The vector $a$ has no index, whereas $a_1$ is still the factor of layer 1.) We also use the flat vector $u = (1, \dots, 1)/\sqrt d$ and a small number, $\theta = 1/d$. Input $j$ has the class token $q$, the tokens $\pm(\frac35 a + \frac45 e_j)$, and zeros. For signs $s_1, \dots, s_n$ the network returns on input $j$ the sign $s_j$:
#
# * Layer 1 has $W_Q = \frac54 \log 2\; q$, $W_K = \sum_j s_j e_j$, $W_V = \theta a$ and $W_C = \theta u^\top$. On the class token's row the scores are $\pm s_j \log 2$ and 0, so one of the two tokens gets more attention than the other, depending on $s_j$. This row becomes $\theta^2 \nu\, s_j u$, with a number $\nu$ that depends on $T$ only (`v` in the code), whereas other rows become 0.
# * Layer 2 has $W_{QK} = 0$, so it averages, and $W_V = \frac{T}{\nu \theta^2}\, u$ and $W_C = u^\top$ undo the small factors. With $w = u$ the output on input $j$ is therefore $s_j$. ($B_w = 1$, so it does not matter where $B_w$ stands.)
#
# The next cell runs such networks, and an output that is not the sign would mean that the class is not what we say. Then it evaluates the constant that the class forces in each of the four cases.


# %%
def sign_network(signs, T, theta=1e-3):
    """Outputs of the network of some signs, on every input."""
    n, d, v = len(signs), len(signs) + 2, 0.9 / (T + 0.5)
    e, u = torch.eye(d).double(), torch.full((d, 1), d**-0.5, dtype=torch.float64)
    a, q, token = e[n], e[n + 1], 0.6 * e[n] + 0.8 * e[:n]
    X = torch.zeros(n, T, d).double()
    X[:, 0], X[:, 1], X[:, 2] = q, token, -token
    W_QK = rho * q[:, None] * (signs @ e[:n])
    first = Layer(theta * a[:, None], W_QK, theta * u.T)
    second = Layer(T / (v * theta**2) * u, torch.zeros(d, d).double(), u.T)
    return blocks.blocks(X, [first, second], lambda y: y)[-1][:, 0] @ u[:, 0]


signs = 1.0 - 2 * torch.randint(2, (16,), generator=rng.generator).double()
gaps = {T: (sign_network(signs, T) - signs).abs().max().item() for T in (3, 30, T_far)}
table(pd.Series(gaps, name="error").rename_axis("T"), "The output is the sign", tiny=1e-6)
rows = {j: {name: forced(2**j, *form) for name, form in forms.items()} for j in (10, 20, 40, 200)}
table(
    pd.DataFrame(rows).T.rename_axis("$\\log_2 n$"), "Constant forced at epsilon = 0.9", form=".2e"
)

# %% [markdown]
# The outputs are the signs, so any two of the $2^n$ networks differ by 2 on some input, and $\log N_\infty(0.9) \ge n \log 2$. In the case *earlier layers, rows* the bound is only a constant times $\log n$. The constant in front of it must then be of order $n / \log n$, which grows faster than any power of a logarithm. The other three columns of the table stay below 1.
#
# * *Why the bound is so small.* With the product over $j < i$ the first layer is multiplied by the empty product, which is 1, and $\theta$ makes its terms vanish. The large $W_V$ of layer 2 is multiplied by $a_1$, of order $\theta^2 \sqrt n$, and its rows are $\sqrt d$ times shorter than its column.
# * *At the paper's own sizes this class shows no failure*, so it is the order of the bound that fails. A constant above 1 is forced only from about {glue:text}`above` signs on, for tokens with as many columns. At the width of the paper's experiments, $d = 64$, there are {glue:text}`signs_64` signs, and the constant is {glue:text}`forced_64:.1g`.
# * *The columns stay open.* In the case *earlier layers, columns* the bound is of order $n \log n$, so the class does not contradict it. (The case would not be open if $W_{QK}$ could have a rank above $k$, as in the proof's cover: with a class token $q_j$ for each input and $\sum_j s_j q_j e_j^\top$ the $\sqrt n$ disappears.)

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
most_forgiven = (1000 * math.log(2)) ** 10  # a tenth power of a logarithm beyond every norm
a17.refuted(
    "bounded rows of $W_V$, as in the proof: constant forced by two layers at $n = "
    "2^{200}$, in units of the tenth power of a logarithm; control: bounded columns",
    (max(gaps.values()) < 1e-6) * forced(2**200, "earlier", "rows") / most_forgiven,
    at_most=1,
    control=forced(2**200, "earlier", "columns") / most_forgiven,
    about="proof",
    evidence="attained",
)

# %% [markdown]
# ## The theorem, repaired
#
# The theorem with *later layers* remains to be proved. Besides the change of the product the paper's proof needs a larger factor than it has, in one step for *columns* and in two for *rows*. We first say where, then whether the statement needs these factors too, and then prove the repaired theorem.
#
# * **$k$ or $\sqrt{kd}$.** What is covered is $z \mapsto W_V^\top z$, with $k$ outputs. If columns of $W_V$ are bounded, as in Section 4.3, then $\|W_V\|_F \le \sqrt k\, B_V^{2,\infty}$, and $k$ is right. The class in the proof bounds rows ($W_V^\top$), and then $k$ outputs with $d$ bounded rows need $\sqrt{kd}$. For example, let $k = 1$ and $W_V = (\pm 1, \dots, \pm 1)^\top$. These $2^d$ maps are 2 apart on the unit vectors, so a cover at scale 0.9 has at least $2^d$ members, and its log size is at least $d \log 2$. The proof allows a log size of $k^2 \log d = \log d$ only, up to constants. For $k > d$ the factor $\sqrt{kd}$ is the smaller one.
# * **$L_\sigma$ beside $B_C^{2,\infty}$.** $W_C$ acts on rows of $\sigma(\Pi(\cdot))$, which can be as long as $L_\sigma$, but the proof takes their length as 1.
#
# Both points are faults of the proof: the first is a slip, by which a matrix and its transpose are exchanged, and the second is a gap. Does the *statement* need the two factors as well? Whether it needs $\sqrt{kd}$ for rows, and whether any reading needs $L_\sigma$, is open. The reason is that a network reads $W_V$ through $W_C$, and the bound has a term for $W_C$ as well, $d L_\sigma B_C^{2,\infty}$. A matrix of $d$ columns with the spectral norm $B_C$ has a column of length at least $B_C/\sqrt d$. So if the norm of $W_C$ attains its bound, this term is at least $\sqrt d\, L_\sigma B_C$, and this may be large enough for both matrices.
#
# The next table shows it for the signs of the example, with rows bounded, in one layer with $W_{QK} = 0$, $W_C = u^\top$ and $w = u$. If its first column grows without limit, the proof's cover is too small. If its third column stays bounded, these signs do not refute the theorem.

# %%
rows = {}
for j in (10, 20, 40, 200):
    d = 2**j
    layer = LayerNorms(d**0.5, 1.0, 1e-300, QK=1e-300, C=1.0, C_columns=d**-0.5)
    with_k = replace(layer, V_columns=d**-0.5)
    covers = {"cover of $W_V$, $k$": 1, r"cover of $W_V$, $\sqrt{kd}$": d}
    rows[j] = {k: d * math.log(2) / (v * math.log(d) / 0.81) for k, v in covers.items()} | {
        name: d * math.log(2) / depth_covers.depth_bound(d, 1, [v], 1.0, d, 0.9)
        for name, v in (("theorem, $k$", with_k), (r"theorem, $\sqrt{kd}$", layer))
    }
row_signs = pd.DataFrame(rows).T.rename_axis("$\\log_2 d$")
table(
    row_signs, "Constant forced by signs in one W_V (rows), products over later layers", form=".3g"
)

# %% [markdown]
# In the first column the constant that is forced grows without limit, so the cover of $W_V$ in the proof is too small, whereas with $\sqrt{kd}$ for $k$, in the second column, a constant below 1 is enough. In the last two columns, which belong to the case *later layers, rows*, the constant stays below 1, with $k$ as well as with $\sqrt{kd}$. So these signs refute the proof's cover, but not the theorem.
#
# ```{prf:theorem} Theorem A.17, repaired
# :label: depth-repaired
# *(Later layers, rows; for later layers, columns read $k$ for $\sqrt{kd}$.)* Let $B_V^{2,\infty}$ bound the longest row of $W_V$. In layer $i$, with the bounds of this layer, let $a_i = L_\sigma B_C B_V (1 + 2 B_{QK})$, with 2 for the 4 of A.15. Let $\alpha_i = \prod_{j > i} a_j$ be the product over the *later* layers, and $K = \max(k, d)$. For every $\epsilon > 0$ and any $m$ inputs of $T$ tokens of length at most 1,
#
# $$\log N_\infty(\epsilon) \le \frac{\log(2 K m T + 1)}{\epsilon^2}\, B_w^2 \Bigl( 1 + \sum_{i=1}^L \alpha_i^{2/3} \bigl[ (d L_\sigma B_C^{2,\infty})^{2/3} + (d L_\sigma B_C B_V B_{QK}^{2,\infty})^{2/3} + (\sqrt{kd}\, L_\sigma B_C B_V^{2,\infty})^{2/3} \bigr] \Bigr)^3 .$$
#
# If $W_{QK}$ must have a rank of at most $k < d$, the right side has $\frac\epsilon2$ for $\epsilon$.
# ```
#
# **The idea of the proof.** Replace the matrices of a network one after another by nearby matrices from finite lists, from the first layer to the last. The lists for a layer are covers on the inputs that this layer really receives, which depend on the choices made before. By {eq}`eq-later` the error of each matrix arrives at the output with the factors of the later layers. It remains to spend the error budget $\epsilon$ where it costs least, which is the subject of {prf:ref}`variables-lemA8`.
#
# ```{dropdown} Proof of the repaired theorem
# Four steps build the cover and count its members, and a fifth says when the members belong to the class.
#
# **Step 1: covers of single matrices.** A matrix with $d$ rows (or columns) of length at most $B$ has $\|W\|_F \le \sqrt d\, B$. So by {prf:ref}`linear-layer-walk` there are covers at scale $x$ on $N = mT$ points, with a logarithm of at most $\frac{\beta^2}{x^2} \log(2KN + 1)$. The number $\beta$ is the root of the number of outputs, times the bound on $\|W\|_F$, times the length of the points:
#
# | map | points of length | outputs | bounded | $\beta$ |
# |:--|:--|:--|:--|:--|
# | $z \mapsto W_V^\top z$ | 1 | $k$ | $d$ rows of $W_V$ | $\sqrt{kd}\, B_V^{2,\infty}$ |
# | the same | 1 | $k$ | $k$ columns of $W_V$ | $k B_V^{2,\infty}$ |
# | $z \mapsto W_{QK} z$ | 1 | $d$ | $d$ columns or rows | $d B_{QK}^{2,\infty}$ |
# | $h \mapsto W_C^\top h$ | $L_\sigma$ | $d$ | $d$ columns of $W_C$ | $d L_\sigma B_C^{2,\infty}$ |
# | $g \mapsto w^\top g$ | 1 | 1 | $w$ | $B_w$ |
#
# **Step 2: choices.** Given the weights of a network, choose hats from the first layer to the last. First $\hat W_V^{(1)}, \hat W_{QK}^{(1)}$ are chosen from covers on the rows of the inputs. These fix the rows of $\hat h^{(1)}$, on which $\hat W_C^{(1)}$ is chosen, and these fix $\hat g^{(2)}$, whose rows have length at most 1. We go on in this way, with $\hat w$ last, so there are never more choices than the product of the covers' sizes.
#
# **Step 3: errors.** Number all matrices of the network by $p$, and let $x_p$ be the scale of the cover of matrix $p$. By {prf:ref}`variables-lemA13`, with its halved constants, and {eq}`eq-later` the output is off by at most $\sum_p \beta_p' x_p$. The multipliers are $\beta' = B_w \alpha_i$ for $W_C$ of layer $i$, $B_w \alpha_i L_\sigma B_C B_V$ for $W_{QK}$, $B_w \alpha_i L_\sigma B_C$ for $W_V$, and 1 for $w$.
#
# **Step 4: the best scales.** We choose the $x_p$ so that $\sum_p \beta_p' x_p = \epsilon$ and the sum of the log sizes, $\sum_p \beta_p^2 / x_p^2$ times $\log(2KN + 1)$, is least. By {prf:ref}`variables-lemA8` the least value is $\frac1{\epsilon^2} \bigl( \sum_p (\beta_p \beta_p')^{2/3} \bigr)^3$ times the logarithm, and with the numbers of steps 1 and 3 this is the bound.
#
# **Step 5: members.** The sets of matrices with bounded spectral norms and columns are convex, so hats are members of them. The set of $W_{QK}$ with rank at most $k < d$ is not convex, so hats may leave it. A.15 does not require that they stay. If members of the class are wanted, we take the cover at $\frac\epsilon2$, and replace each of its networks by a network of the class within $\frac\epsilon2$ of it. $\square$
# ```
#
# So $T$ enters through $\log T$, and $k$, $d$ join it under the logarithm, where $\lesssim$ hides them.
#
# The proof is a program, so it can be run. The program takes a network and walks from 0 to a member of the cover, part by part. (It does not move the result back into the class; the bound on the number of steps holds with this move and without it.)


# %%
def covered(X, layers, w, shares, activation):
    """Steps of all walks, and the error of the output, for shares of the error in all parts."""
    g = hat = X
    steps = []
    for layer, (x_C, x_QK, x_V) in zip(layers, shares[:-1].reshape(-1, 3).tolist(), strict=True):
        V = walk(layer.W_V, hat.flatten(0, 1), x_V)
        QK = walk(layer.W_QK.mT, hat.flatten(0, 1), x_QK)
        seen = blocks.hidden(hat, Layer(V.centre, QK.centre.mT, layer.W_C), activation)
        C = walk(layer.W_C, seen.flatten(0, 1), x_C)
        steps += [C.steps, QK.steps, V.steps]
        g, hat = blocks.block(g, layer, activation), blocks.to_ball(seen @ C.centre)
    end = walk(w[:, None], hat[:, 0], shares[-1].item())
    off = g[:, 0] @ w - (hat[:, 0] @ end.centre)[:, 0]
    return f64([*steps, end.steps]), off.abs().max().item()


# %% [markdown]
# The repaired theorem would be refuted by a walk that takes more steps than allowed, or by an output that is off by more than $\epsilon$, that is, by a number above 1 in the first three columns of the next table. We draw {glue:text}`nets` networks of one to four layers, with $k$ below and above $d$ and up to {glue:text}`T_far` tokens. The scales of single matrices and the slopes $L_\sigma$ go from $10^{-2}$ to $10^2$, weights are Gaussian or signs, and tokens are Gaussian or unit vectors. Each network is covered at an $\epsilon$ for which the walk takes between a few and some thousand steps. The table has these columns:
#
# * *steps / allowed*: the steps for each part over the number allowed, $(\beta / x)^2$;
# * *$W_V$, columns*: the steps for $W_V$ over the number allowed for bounded columns, $\beta = k B_V^{2,\infty}$;
# * *error / $\epsilon$*: the error of the output over $\epsilon$;
# * *$W_V$, rows, k*: the steps for $W_V$ over the number that would be allowed for bounded rows if $k$ stood for $\sqrt{kd}$.

# %% mystnb={"code_prompt_hide": "The networks", "code_prompt_show": "The networks"} tags=["hide-input", "nbval-ignore-output"]


def norms_of(layer):
    V, QK, C = (blocks.spectral(W).item() for W in layer)
    rows, columns = ([W.norm(dim=k).max().item() for W in layer] for k in (-1, -2))
    return LayerNorms(V, rows[0], min(rows[1], columns[1]), QK, C, columns[2])


def scale():
    return rng.log_uniform(1e-2, 1e2).item()


rows = []
for at in range(nets):
    L, k, plain = rng.whole(1, 4), rng.whole(1, 12), at % 2
    d, m, T = rng.whole(1, 12 if plain else 40), rng.whole(1, 4), rng.whole(2, T_far)
    layers = [Layer(*(scale() * rng.normal(*s) for s in weights_of(d, k))) for _ in range(L)]
    X = blocks.to_ball(rng.normal(m, T, d) * scale())
    if not plain:
        layers = [Layer(*(W.abs().max() * W.sign() for W in layer)) for layer in layers]
        X = torch.eye(d).double()[torch.arange(m * T) % d].reshape(m, T, d)
    w, slope = scale() * rng.normal(d), scale()
    size = w.norm().item(), 1.0, slope, SOFTMAX
    alpha, beta = depth_covers.depth_parts(d, k, [norms_of(v) for v in layers], *size)
    most = rng.log_uniform(3, 3000).item()
    epsilon = math.sqrt(allocate(alpha, beta, 1.0)[1].item() / most)
    shares = allocate(alpha, beta, epsilon)[0]
    steps, error = covered(X, layers, w, shares, lambda y, s=slope: s * y.tanh())
    used = steps / (alpha / shares**2)
    narrow = used[2:-1:3] * d / k
    over = [norms_of(v).V_columns / v.W_V.norm(dim=-2).max().item() for v in layers]
    columns = (narrow * f64(over) ** 2).max().item()
    found = used.max().item(), columns, error / epsilon, narrow.max().item()
    rows.append(("k < d" if k < d else "k ≥ d", L, *found))
names = ["width", "L", "steps / allowed", "W_V, columns", "error / epsilon", "W_V, rows, k"]
walks = pd.DataFrame(rows, columns=names)
table(walks.groupby(["width", "L"]).max(), "Largest of all networks", form=".3f")
worst = walks.iloc[:, 2:].max()
glue(used=worst.iloc[:2].max(), off=worst.iloc[2], with_k=worst.iloc[3])

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
a17.repaired(
    f"{nets} networks covered by walks: largest of the steps over those allowed and of the "
    "error over $\\epsilon$, rounded up; control: bounded rows with $k$ in place of "
    "$\\sqrt{kd}$",
    up(worst.iloc[:3].max()),
    at_most=1,
    control=min(float(worst.iloc[3] // 1), 5.0),
    about="statement",
    evidence="proved",
)
steep, x = 3.0, 1.5  # slope of the activation, error that is allowed behind W_C = 1
taken = walk(torch.ones(1, 1).double(), f64([[steep]]), x).steps
a17.repaired(
    "a steep activation, $L_\\sigma = 3$ and $k = d = 1$: ratio of the steps that cover "
    "$W_C$ to those allowed; control: without $L_\\sigma$",
    taken / (steep / x) ** 2,
    at_most=1,
    control=taken / (1 / x) ** 2,
    about="statement",
    evidence="proved",
)
a17.refuted(
    "the proof's cover of $W_V$ with bounded rows: constant forced by matrices of signs, $k"
    " = 1$ and $d = 2^{20}$; control: $\\sqrt{kd}$ in place of $k$",
    row_signs.iloc[1, 0],
    at_most=1,
    control=row_signs.iloc[1, 1],
    about="proof",
    evidence="attained",
)
glue(nets=nets, T_far=T_far)

# %% [markdown]
# The walks take at most about {glue:text}`used:.2f` of the steps allowed, so the steps come near to their bound. The errors do not: no network is off by more than {glue:text}`off:.2f` $\epsilon$, since the bound adds up the worst cases of all parts. Networks of more than one layer are off by far less, because random networks do not attain A.15. So the count of the steps is the sharper of these two tests, and that {eq}`eq-later` is attained is shown by the ascent above. For bounded rows with $k$ for $\sqrt{kd}$, however, a walk to $W_V$ takes up to about {glue:text}`with_k:.1f` times the number that would be allowed.
#
# It remains to look at the length $T$ of the inputs. If the norms are fixed, the repaired bound is a straight line in $\log T$ as soon as $T$ is large. The last table multiplies $T$ by 4 from row to row, so a bound that does not increase by equal steps would speak against this. It is no straight line if the tokens become longer as $T$ grows, as the last column shows for tokens of length $\sqrt T$.

# %% mystnb={"code_prompt_hide": "Norms of the layers", "code_prompt_show": "Norms of the layers"} tags=["hide-input"]
unit = LayerNorms(V=1.0, V_columns=1.0, QK_columns=1.0, QK=1.0, C=1.0, C_columns=1.0)
lengths = [4**j for j in range(2, 11)]


def explicit(T, B_x):
    """The repaired bound, three layers with all norms 1, d = k = 4, m = 1000, epsilon = 1/2."""
    parts = depth_covers.depth_parts(4, 4, [unit] * 3, 1.0, B_x, constant=SOFTMAX)
    return allocate(*parts, 0.5)[1].item() * math.log(8 * 1000 * T + 1)


fixed = f64([explicit(T, 1.0) for T in lengths])
growing = f64([explicit(T, math.sqrt(T)) for T in lengths])
curves = {"T": lengths, "tokens of length 1": fixed, r"of length $\sqrt{T}$": growing}
table(curves, "Repaired bound on the log covering number", form=".3e")

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
logs = f64(lengths).log()
growth.holds(
    "repaired bound of three layers: largest distance from a straight line in $\\log T$; "
    "control: tokens of length $\\sqrt T$",
    depth_covers.affine_residual(logs, fixed),
    at_most=0,
    tol=1e-4,
    control=depth_covers.affine_residual(logs, growing),
    about="statement",
    evidence="proved",
)

# %% [markdown]
# With tokens of length 1 the bound increases by about $10^6$ from each row to the next. With tokens of length $\sqrt T$, however, it is multiplied each time, by factors between 39 and 69.
#
# ## What we found
#
# * The projection onto the ball is a contraction, and Lemmas A.13 to A.16 hold for tokens of length at most 1, with 1 for 2 and 2 for 4, which are the best constants. A.15 does not print this condition, and needs it for the first layer. With these halved constants A.13 and A.14 fail for every length of tokens above 1, and with the printed constants they fail for lengths above $\sqrt2$.
# * In the proof of Theorem A.17 the step from layer to layer is right, but the product in the sum that follows must run over the later layers, for columns and for rows. If all layers have the same bounds, as in Theorem 4.6, this makes no difference.
# * The theorem itself, as restored, fails with every constant in the case *earlier layers, rows*. A class of two layers requires a constant of about {glue:text}`forced_rows:.0f` with $2^{20}$ signs, and an arbitrarily large one with more signs. At the width of the paper's experiments, $d = 64$, it forces only a constant of {glue:text}`forced_64:.1g`. In the case *earlier layers, columns*, with the class of Section 4.3, the theorem as restored is open.
# * The proof's cover of $W_C$ needs $L_\sigma$, and for *rows* that of $W_V$ needs $\sqrt{kd}$ for $k$. Whether the statement needs them is open.
# * With these repairs both cases with *later layers* hold with $\log(2 \max(k, d)\, mT + 1)$ and constant 1, or 4 if the members of the cover must have $W_{QK}$ of rank $k < d$ too.
#
# ```{finding} variables.thm4_6.a17
# :title: Deep transformers: an error passes through the later layers
# :group: proof
#
# **Statement.** Theorem A.17 bounds the log covering number of a transformer of several layers, each with norm bounds of its own. The proof adds up the errors that a cover makes in each layer. Its step from one layer to the next, $\epsilon^{(i+1)} = a_i\, \epsilon^{(i)} + \dots$, is right. In the sum, as restored, the error of layer $i$ is multiplied by $\prod_{j<i} a_j$. The product is legible in our text three times.
#
# **Counterexample.** The step of the proof is refuted by networks found by ascent, whose error is a million times the sum or more in the run shown on the page. Any multiple of the sum is possible, as two linear layers show of which the second magnifies. The statement has two readings, because $B_V^{2,\infty}$ can bound the columns of $W_V$, as in Section 4.3, or its rows, as in Section 4.2 and the proof. It is refuted only in the reading by rows, that is, in the case *earlier layers, rows*, with the class of the proof's cover: two layers, $k = 1$, and one network for each of $2^n$ vectors of signs have $\log N_\infty(0.9) \ge n \log 2$ against a bound of order $\log n$. What fails is the order: at the width of the paper's experiments, $d = 64$, these networks force only a constant of {glue:text}`forced_64:.1g`, and a constant above 1 only from about {glue:text}`above` signs on. In the case *earlier layers, columns*, with the class of Section 4.3, the statement is open.
#
# **Why.** An error made in layer $i$ passes through the layers after it, so it is multiplied by their factors.
#
# **Repair.** Take $\prod_{j>i} a_j$, and $L_\sigma$ beside $B_C^{2,\infty}$, since the activation lengthens rows up to $L_\sigma$ times; for bounded rows of $W_V$ take also $\sqrt{kd}$ for $k$. Then the bound holds with a constant of at most 4.
#
# **What survives.** The logarithm of $T$ survives. For equal bounds in all layers the order of the product does too, since the sum has the same terms in the opposite order. Theorem 4.6, the simplified form, has equal bounds, so this slip does not touch it.
# ```
#
# ## What would falsify this
#
# * *The projection.* The result would be false if it pulled two vectors apart, as the projection onto the sphere does.
# * *One block.* The lemmas would be false if something moved by more than its bound. This happens for longer tokens, for a steeper activation, and for a read-out whose norm is not counted.
# * *Halved constants.* Our claim that they are the least possible would be unfounded if no instance came close to them, as none comes close to the printed ones.
# * *The order of the product.* It would be wrong if an error exceeded the sum over later layers, or if none exceeded that over earlier ones.
# * *The class of signs.* It would prove nothing if the bound for rows grew like $n$, as the bound for columns does.
# * *The repaired theorem.* It would be refuted by a walk that takes more steps than allowed, as happens if rows are bounded and $k$ stands for $\sqrt{kd}$, or by one that ends farther away than $\epsilon$.
# * *The growth with $\log T$.* It would be refuted by a bound that bends, as it does if tokens grow with $T$.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# The paper comes without code, so no bound is evaluated by it. Its experiments use layer normalisation in place of $\Pi$, skip connections and a feedforward part.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-depth-skip
#
# *By hand.* Add a skip connection, $g^{(i+1)} = \Pi\bigl( g^{(i)} + h^{(i)} W_C^{(i)} \bigr)$. What becomes of $a_i$, and can it still be at most 1?
# ```
#
# ```{solution} ex-depth-skip
# :class: dropdown
#
# There are two paths, so $a_i$ becomes $1 + a_i$, and this is above 1 unless $a_i = 0$. It is attained by equal short tokens, $W_{QK} = 0$, and $W_V$ and $W_C$ that are multiples of the identity. So without further conditions every bound of this kind grows exponentially with depth.
# ```
#
# ```{exercise}
# :label: ex-depth-order
#
# *With the computer.* Build the two layers of the first example: linear layers without scores ($W_{QK} = 0$, $W_V = a_i$ times the identity, $W_C$ the identity) and tokens so short that $\Pi$ has nothing to do. Change $W_C$ of the first layer a little, and divide the movement of the output by the error that the first layer makes. Do this for the factors $(1, 10)$, $(10, 1)$ and for three layers in several orders. Then run the chapter with other networks, for example by `python -m bookkit.run variables/transformer_capacity -p seed 7 --out my_run`, and see whether any number in the first three columns of the table of walks exceeds 1.
# ```
#
# ```{solution-start} ex-depth-order
# :class: dropdown
# ```
#
# The activation is the identity, and all tokens are equal, so that attention returns their common value.

# %%
orders_tried = {}
for factors in ((1.0, 10.0), (10.0, 1.0), (1.0, 10.0, 0.1), (10.0, 1.0, 0.1), (0.1, 1.0, 10.0)):
    stack = [Layer(a * plane, 0 * plane, plane) for a in factors]
    nudged = stack[0]._replace(W_C=plane + 0.1 * plane.flip(0))
    short = f64([[2e-3, 1e-3]] * 3)
    ends = [blocks.blocks(short, [v, *stack[1:]], lambda y: y)[-1] for v in (stack[0], nudged)]
    made = moved_weights.layer_error(short, stack[0], nudged, activation=lambda y: y)
    orders_tried[str(factors)] = {
        "measured": (blocks.longest(ends[0] - ends[1]) / made).item(),
        "later layers": math.prod(factors[1:]),
        "earlier layers": 1.0,
    }
answer = pd.DataFrame(orders_tried).T.rename_axis("factors")
table(answer, "How often the error of the first layer arrives", form=".3g")

# %% [markdown]
# The measured number is always the product of the factors after the first layer. The empty product of the proof is right only where the later factors happen to multiply to 1.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-depth-norm
#
# *To think about.* Layer normalisation as it is used makes all tokens equally long, short ones too. Is that a contraction? What becomes of A.15?
# ```
#
# ```{solution} ex-depth-norm
# :class: dropdown
#
# It is not a contraction, because two short vectors on opposite sides of 0 are pulled apart, as far as one likes relative to their distance. So A.15 needs a lower bound on the lengths before normalisation, and {ref}`ch-layer-norm-blowup` follows what happens without one.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The results are from {cite:t}`variables`, and the recipe of their proof is from {cite:t}`bartlett2017`.
