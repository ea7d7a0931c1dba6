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
# (ch-sparse-representations)=
# # A head that reads three bits of a thousand
#
# **Claim.** An attention head can be written down that reads $s$ chosen bits of $T$ and ignores the rest, with weights of size $\log T$. With orthonormal vectors for the positions it works as the third paper says, on every string. With vectors that are only nearly orthogonal, which is what makes long strings fit into few columns, the head that the paper's proof writes down for several positions at once can fail: it needs a larger margin, and *equal* scores. Keys dual to the chosen vectors repair both, for inner products up to a bound that is about half as large as the lemma's. Between the two bounds no head at all need exist.
# **Needs** {ref}`ch-fourier-walsh`. **Runs in** 10 s. **Source** printed, but for Lemma B.4, which is restored.
#
# A string $b \in \{0, 1\}^T$ becomes the rows of a matrix $X(b)$ with $d$ columns, and a class token $c$ is the last row. There are three such *input maps*:
#
# | map | row $t$ | |
# |:--|:--|:--|
# | positions | $v_t + e_{b_t}$ | fixed vectors $v_t$ of length 1 |
# | trained positions | $p_t + e_{b_t}$ | $p_t$ chosen with the weights |
# | bag of vectors | $b_t\, v_t$ | a set, not a sequence |
#
# The bits' vectors $e_0, e_1$ and $c$ are orthogonal to each other and to all $v_t$. The $v_t$ are *nearly orthogonal*: $|v_t^\top v_u| \le \Delta$ for $t \ne u$. A head scores row $t$ by $z_t = c^\top W_Q W_K^\top x_t$, and gives $\mathrm{softmax}(z)^\top X\, W_V W_C$. We write $I$ for the chosen positions, $s = |I|$, $r = \sum_{i \in I} b_i$, and $R$ for the scale of the scores.
#
# ```{prf:lemma} Edelman et al. (2022), Lemma B.7
# :label: variables-lemB7
# Let $z_t \ge R$ for the first $s$ of $T$ scores and $z_t \le 0$ for the others, and let $z'$ be $z$ with the others set to $-\infty$. Then
#
# $$\|\mathrm{softmax}(z') - \mathrm{softmax}(z)\|_1 \le \frac{2 (T - s)}{s\, e^R} < \frac{2T}{e^R} .$$
# ```
#
# ```{prf:lemma} Edelman et al. (2022), Lemma B.2
# :label: variables-lemB2
# *(Refuted below for one head and $1/(2s-1) \le \Delta < 1/s$.)* Let $\Delta < 1/s$ and $0 < \gamma \le 1$. With fixed positions there is a head within $\gamma/4$, on all strings, of a function of $r$ that increases by $2/s$ with each step of $r$. It has $\|W_Q\|_F \le \log(8T/\gamma) / (1 - s\Delta)$, $\|W_K\|_F \le s$, $\|W_V\|_F \le 2$ and $\|W_C\|_F \le 1$. With $s$ heads, each of $\|W_K\|_F \le 1$, one gets all $s$ bits.
# ```
#
# ```{prf:lemma} Edelman et al. (2022), Lemma B.3
# :label: variables-lemB3
# With trained positions $P$ the same holds for any vectors, with $\|P^\top\|_{2,1} \le s$, $\|W_Q\|_F \le \log(8T/\gamma)$ and $\|W_K\|_F \le 1$.
# ```
#
# ```{prf:lemma} Edelman et al. (2022), Lemma B.4
# :label: variables-lemB4
# *(Restored; the head of its proof is refuted below for $\Delta > 0$, the statement is not judged.)* Let $\Delta < 1/s$ and $s\Delta < \gamma < 1$. With a bag of vectors there is one head within $\gamma/4$ of $(r - s)/(r + 1)$, and one within $\gamma/4$ of the $s$ numbers $(b_i - 1)/(r + 1)$, $i \in I$. The first function grows by at least $1/s$ with each step of $r$; the second takes values that differ by at least $1/s$ for different chosen bits.
# ```
#
# Some formulas of this paper reached us damaged. In {prf:ref}`variables-lemB4` the scale of $W_Q$ is restored, from the proof; the others are legible in what a verdict turns on. All norms allow $\|W_K\|_F \le s$ or more, so the lemmas leave room for other heads than those of the proofs.
#
# **The construction.** All attention asks the class token: $W_Q = R\, c\, \epsilon_1^\top$ with the first unit vector $\epsilon_1$. The key is $\sum_{i \in I} v_i$. So a chosen row scores $R$, another 0, and the softmax is the uniform distribution on $I$ up to $2T/e^R$. The value of a row is its sign $(-1)^{b_t}$, by $W_V = (e_0 - e_1)\, \epsilon_1^\top$. In a bag of vectors a row that holds a 0 is zero, so the mixture is uniform on the class token and the $r$ chosen rows that hold a 1; the class token gives the value $-1$ for each bit.

# %% tags=["parameters"]
T = 10  # bits of the strings on which all errors are computed [8..12]
delta = 0.1  # inner products of the nearly orthogonal vectors [0.1..0.12]
instances = 1000  # random bases for the repaired lemmas [200..5000]
pairs = 20000  # random scores for the truncation lemma [1000..200000]
seed = 0  # of everything random [0..1000000]

# %%
import itertools
import math

import torch

from helpers import cube
from helpers.book import figures
from helpers.book.claims import Ledger
from helpers.book.output import glue
from helpers.variables import selection

ledger = Ledger("variables/sparse_representations")
generator = torch.Generator().manual_seed(seed)
bits = cube.bits(T)
plain = selection.basis(torch.eye(T))
s_near = 4  # positions chosen among nearly orthogonal vectors

# %% mystnb={"figure": {"caption": "The three input maps at the string 101101, with orthonormal vectors; one row a position, the class token last. The chosen positions 1, 3 and 4 are marked. Columns 7 and 8 are the vectors of the bits 0 and 1, column 9 is the class token.", "name": "fig-input-maps"}, "image": {"alt": "Three matrices of seven rows and nine columns. Left, a diagonal of ones for the positions, and one more one a row in the column of its bit. Middle, the diagonal is replaced by one column that is one in the three chosen rows only. Right, the diagonal has ones only where the bit is one. The last row has its one in the last column everywhere."}} tags=["hide-input"]
small, string, shown = selection.basis(torch.eye(6)), torch.tensor([1, 0, 1, 1, 0, 1]), [0, 2, 3]
marked, _ = selection.trained_mean_head(small, shown, 1.0)
fig, axes = figures.new(1, 3, height=2.9)
titles = {"positions": "positions", "trained": "trained positions", "bag": "bag of vectors"}
for ax, (kind, title) in zip(axes, titles.items(), strict=True):
    X = selection.rows(kind, small, string, marked)
    ax.imshow(X.numpy(), cmap="Blues", vmin=0, vmax=1.4)
    for t in shown:
        ax.add_patch(
            figures.plt.Rectangle(
                (-0.5, t - 0.5), X.shape[1], 1, fill=False, edgecolor=figures.COLOURS[1]
            )
        )
    ax.set_title(title, fontsize=9)
    ax.set_xticks([0, 5, 8], ["1", "6", "9"])
    ax.set_yticks(range(7), ["1", "2", "3", "4", "5", "6", "c"])
    ax.grid(visible=False)
axes[0].set_ylabel("row")
axes[1].set_xlabel("column")
figures.show()

# %%
print("row by row, the columns that are 1")
for kind in titles:
    X = selection.rows(kind, small, string, marked)
    listed = [" ".join(str(j + 1) for j in row.nonzero().flatten().tolist()) or "-" for row in X]
    print(f"{kind:10} {' | '.join(listed)}")

# %% [markdown]
# ## How much leaks
#
# First {prf:ref}`variables-lemB7`, on random scores that meet its hypothesis, some of them with ties at $R$ and at 0.

# %%
ratios, broken = [], []
for _ in range(pairs // 100):
    size = int(torch.randint(2, 40, (), generator=generator))
    s = int(torch.randint(1, size, (), generator=generator))
    R = 8 * torch.rand(100, 1, generator=generator, dtype=torch.float64)
    away = torch.empty(100, size, dtype=torch.float64).exponential_(generator=generator)
    away *= torch.randint(0, 3, (100, 1), generator=generator) / 2
    z = torch.cat([R + away[:, :s], -away[:, s:]], 1)
    cut = z.clone()
    cut[:, s:] = -math.inf
    allowed = 2 * (size - s) / (s * R[:, 0].exp())
    ratios.append((z.softmax(-1) - cut.softmax(-1)).abs().sum(-1) / allowed)
    z[:, :s], cut[:, :s] = 0, 0  # broken: the first scores stay below R
    broken.append((z.softmax(-1) - cut.softmax(-1)).abs().sum(-1) / allowed)
truncation, lowered = torch.cat(ratios), torch.cat(broken)
print(f"{len(truncation)} score vectors, moved over the bound:")
print(f"largest {truncation.max():.6f}, median {truncation.median():.4f}")
glue(truncation=f"{truncation.max():.4f}")

# %% [markdown]
# The bound is met, and tight: the largest ratio is {glue:text}`truncation`, at ties with a large $R$. The proof is short. The two softmaxes differ by $2p$, where $p$ is the share of the last $T - s$ scores. These have at most $(T - s)\, e^0$ in the sum of exponentials, the first $s$ have at least $s\, e^R$, so $p \le (T - s)/(s\, e^R)$.
#
# ## Orthonormal vectors
#
# With $\Delta = 0$ we compute the error of every head on all strings. The last columns have the scale of the scores too small by $\log 8$.


# %%
def signs(chosen, strings=bits):
    return 1 - 2 * strings[:, list(chosen)].double()


def error(heads, at, kind, target, positions=None, strings=bits):
    """Largest error over the strings."""
    X = selection.rows(kind, at, strings, positions)
    found = selection.forward(heads, at, X)[:, : target.shape[1]]
    return (found - target).abs().max().item()


def bag_target(chosen, strings=bits, scalar=False):
    chosen_bits = strings[:, list(chosen)].double()
    r = chosen_bits.sum(1, keepdim=True)
    return (r - len(chosen)) / (r + 1) if scalar else (chosen_bits - 1) / (r + 1)


def all_errors(chosen, gamma, scale):
    """Errors of the five heads at ``scale`` times 8 T / gamma in the logarithm."""
    s, R = len(chosen), selection.sharpness(T, gamma / scale)
    bag = selection.sharpness(T, gamma / scale, s)
    trained, one = selection.trained_mean_head(plain, chosen, R)
    trained_each, each = selection.trained_sign_heads(plain, chosen, R)
    mean = signs(chosen).mean(1, keepdim=True)
    return {
        "positions, mean": error(selection.mean_head(plain, chosen, R), plain, "positions", mean),
        "positions, bits": error(
            selection.sign_heads(plain, chosen, R), plain, "positions", signs(chosen)
        ),
        "trained, mean": error(one, plain, "trained", mean, trained),
        "trained, bits": error(each, plain, "trained", signs(chosen), trained_each),
        "bag, sum": error(
            selection.bag_head(plain, chosen, bag, scalar=True),
            plain,
            "bag",
            bag_target(chosen, scalar=True),
        ),
        "bag, bits": error(
            selection.bag_head(plain, chosen, bag), plain, "bag", bag_target(chosen)
        ),
    }


cases = [(1, 1.0), (3, 2 / 3), (3, 0.1), (5, 0.4), (T, 0.2)]
worst, starved = {}, {}
print(f"largest error over all {2**T} strings, in units of gamma / 4; in brackets with R - log 8")
for s, gamma in cases:
    chosen = torch.randperm(T, generator=generator)[:s].tolist()
    found, less = all_errors(chosen, gamma, 1.0), all_errors(chosen, gamma, 1 / 8)
    cells = []
    for name, value in found.items():
        unit = gamma / 4
        worst[name] = max(worst.get(name, 0.0), value / unit)
        starved[name] = max(starved.get(name, 0.0), less[name] / unit)
        cells.append(f"{name} {value / unit:.3f} ({less[name] / unit:.2f})")
    print(f"s = {s:2}, gamma = {gamma:.3f}:  " + "; ".join(cells[:3]))
    print(f"{'':22}  " + "; ".join(cells[3:]))

at_r = []
mean_head = selection.mean_head(plain, [0, 1, 2], selection.sharpness(T, 0.1))
for sign in (1, -1):
    turned = {name: sign * W if name == "WV" else W for name, W in mean_head.items()}
    out = selection.forward(turned, plain, selection.rows("positions", plain, bits))[:, 0]
    by_r = [out[bits[:, :3].sum(1) == r] for r in range(4)]
    at_r.append(min((b.min() - a.max()).item() for a, b in itertools.pairwise(by_r)))
print(f"s = 3: least step of the output as r grows: {at_r[0]:.4f}; with e_1 - e_0: {at_r[1]:.4f}")

# %% [markdown]
# All are within $\gamma/4$. One slip of the construction does no harm: the value of a row is $+1$ for the bit 0, so the output *decreases* with $r$, where the function of the lemma increases. Exchange $e_0$ and $e_1$.
#
# ## Nearly orthogonal vectors
#
# In $d$ columns fit at most $d$ orthonormal vectors, but of the order of $e^{d\Delta^2/4}$ nearly orthogonal ones. Then a chosen row scores between $R(1 - (s-1)\Delta)$ and $R(1 + (s-1)\Delta)$, and another up to $Rs\Delta$. Two things can go wrong with the head of the proof.
#
# * **Opposed.** Inner products are $-\Delta$ within $I$ and $+\Delta$ elsewhere. The margin between chosen rows and others is $R(1 - (2s-1)\Delta)$. The proof's scale $R = \log(8T/\gamma)/(1 - s\Delta)$ makes up for $s\Delta$ only. At $\Delta \ge 1/(2s-1)$ no scale would do. The proof's own last step needs $\exp(R - 2Rs\Delta) \ge 8T/\gamma$, so the least repair is $R = \log(8T/\gamma)/(1 - 2s\Delta)$.
# * **Uneven.** One chosen vector is at $+\Delta$ to the others, which are at $-\Delta$ to each other. Then the chosen rows score differently, and the softmax is not uniform on $I$ but prefers the first, by a factor of $e^{2(s-2)R\Delta}$. {prf:ref}`variables-lemB7` compares with the softmax of the chosen scores, and the proof takes that for the uniform distribution. A larger $R$ makes it worse, so the least repair fails, too.
#
# The second can be repaired by another key. Let $G$ be the matrix of inner products within $I$. The key $w = \sum_i \alpha_i v_i$ with $G \alpha = \mathbf 1$ has $v_i^\top w = 1$ for every $i \in I$ exactly. As $\|\alpha\|_\infty \le 1/(1 - (s-1)\Delta)$, another row scores at most $R\, s\Delta/(1 - (s-1)\Delta)$.
#
# ```{prf:lemma} Repaired (ours)
# :label: variables-dual-keys
# Let $\Delta < \frac1{2s-1}$. With the key $w$ and $R = \log(8T/\gamma) / \mu$, $\mu = 1 - \frac{s\Delta}{1 - (s-1)\Delta}$, the head of {prf:ref}`variables-lemB2` is within $\gamma/(4s)$ of $\frac1s \sum_{i \in I} (-1)^{b_i}$ on all strings. The $s$-headed version, with one position for each head, is within $\gamma/4$ as printed, and already with $R = \log(8T/\gamma)/(1 - \Delta)$. In {prf:ref}`variables-lemB4`, with $w + c$ for a key and, for values, the vectors $u_i$ in the span of the chosen ones with $u_i^\top v_j = \mathbb 1[i = j]$, the scale $R = \log(8Ts/\gamma)/\mu$ suffices, for any $\gamma$.
# ```
#
# For the lemma's own norms scale the dual key to length $s$: $\|w\|_2^2 = \mathbf 1^\top G^{-1} \mathbf 1 \le s/(1 - (s-1)\Delta)$ is about $s$, and $\|W_K\|_F \le s$ is allowed. So the head stays within the norms of the lemma where $(1 - s\Delta) \|w\|_2 \le s\mu$.
#
# **Proof.** The chosen rows score $R$ exactly, all others at most $R(1 - \mu)$, and the class token 0 in the first two maps. So the attention is uniform on the chosen rows but for a share $p$ on others, and the output is off by at most $p$ times the distance of their values from the mixture. With positions $p \le (T + 1 - s)/(s e^{R\mu})$, values are between $-1$ and 1, and $2p \le \gamma/(4s)$. With one position a head, $s$ is 1 and the margin $1 - \Delta$. In a bag of vectors the class token and the $r$ chosen rows that hold a 1 are at score $R$, so $p \le T/e^{R\mu} = \gamma/(8s)$. Their values are exact and mix to a number in $[-1, 0]$, or $[-s, 0]$ for the sum. Other rows have values $u_i^\top v_t$, at most $\Delta/(1 - (s-1)\Delta) \le 1$, and the sum of these, at most $1 - \mu \le 1$. So the errors are at most $2p$ and $(s + 1)p$, both at most $\gamma/4$.


# %%
def near_errors(gram, chosen, gamma):
    """Error over gamma / 4: proof's head, least repair, dual key, and within the printed norms."""
    at, s = selection.basis(gram), len(chosen)
    strings = cube.bits(len(gram))
    target = signs(chosen, strings).mean(1, keepdim=True)
    D = at.coherence
    found = {}
    weights = torch.linalg.solve(gram[chosen][:, chosen], torch.ones(s).double())
    room_scaled = (1 - s * D) * weights.sum().sqrt().item() / s  # |W_Q|, |W_K| as printed
    for name, room, dual_keys in (
        ("printed", 1 - s * D, False),
        ("least", 1 - 2 * s * D, False),
        ("dual", selection.margin(s, D, dual_keys=True), True),
        ("within", room_scaled, True),
    ):
        R = selection.sharpness(len(gram), gamma, 1, room)
        heads = selection.mean_head(at, chosen, R, dual_keys=dual_keys)
        found[name] = error(heads, at, "positions", target, None, strings) / (gamma / 4)
    R = selection.sharpness(len(gram), gamma, 1, 1 - s * D)
    heads = selection.sign_heads(at, chosen, R)
    found["bits"] = error(heads, at, "positions", signs(chosen, strings), None, strings)
    found["bits"] /= gamma / 4
    return found


first = list(range(s_near))
gamma_near = 2 / s_near
grams = {
    "opposed": selection.opposed_gram(T + 2, s_near, delta),
    "uneven": selection.uneven_gram(T + 2, s_near, delta),
}
near = {name: near_errors(gram, first, gamma_near) for name, gram in grams.items()}
print(
    f"T = {T + 2}, s = {s_near}, Delta = {delta:.3f}, gamma = {gamma_near:.3f}: error over gamma / 4"
)
print("             proof's R   least repair   dual key   printed norms    s heads, printed R")
for name, row in near.items():
    print(
        f"{name:10} {row['printed']:11.3f} {row['least']:14.3f} {row['dual']:10.3f} "
        f"{row['within']:15.3g} {row['bits']:21.3f}"
    )
glue(
    opposed=f"{near['opposed']['printed']:.1f}",
    uneven=f"{near['uneven']['printed']:.1f}",
    uneven_least=f"{near['uneven']['least']:.1f}",
    dual_worst=f"{max(row['dual'] for row in near.values()):.2f}",
    within=f"{max(row['within'] for row in near.values()):.2f}",
)

# %% [markdown]
# The opposed basis puts the proof's head off by {glue:text}`opposed` times what the lemma allows, the uneven one by {glue:text}`uneven` times, and there the least repair makes it {glue:text}`uneven_least`. The dual key stays within {glue:text}`dual_worst` of it on both ({numref}`fig-selection-scale`). With the dual key scaled to the norms that the lemma allows the error is at most {glue:text}`within` of $\gamma/4$. So at these bases the proof fails, and the lemma does not. The $s$-headed version has no such trouble, as each head has one position only.

# %% mystnb={"figure": {"caption": "Error of the head for the mean of signs over all strings, against the scale of the scores, on the two nearly orthogonal bases. The dashed line is what the lemma allows, the dotted one the proof's scale.", "name": "fig-selection-scale"}, "image": {"alt": "Error on a logarithmic axis against the scale R. The curve of the opposed basis falls, and crosses the dashed line to the right of the dotted one. The curve of the uneven basis falls at first, turns, and rises towards one and a half. The two curves of the dual key fall throughout, and pass below the dashed line before the dotted one."}} tags=["hide-input"]
scales = torch.linspace(1, 20, 39).tolist()
curves = {}
for name, gram in grams.items():
    at = selection.basis(gram)
    strings = cube.bits(len(gram))
    target = signs(first, strings).mean(1, keepdim=True)
    for dual_keys in (False, True):
        curves[name, dual_keys] = [
            error(
                selection.mean_head(at, first, R, dual_keys=dual_keys),
                at,
                "positions",
                target,
                None,
                strings,
            )
            for R in scales
        ]
fig, ax = figures.new(height=3.3)
for i, ((name, dual_keys), curve) in enumerate(curves.items()):
    ax.plot(
        scales,
        curve,
        color=figures.COLOURS[i],
        linestyle=figures.DASHES[i],
        marker="",
        linewidth=1.8,
        label=f"{name}, {'dual' if dual_keys else 'plain'} key",
    )
ax.axhline(gamma_near / 4, color="black", linestyle="--", linewidth=1, marker="")
ax.axvline(
    selection.sharpness(T + 2, gamma_near, 1, 1 - s_near * delta),
    color=figures.GREY,
    linestyle=":",
    marker="",
)
ax.set(yscale="log", xlabel="scale of the scores $R$", ylabel="largest error", ylim=(1e-4, 4))
ax.legend(fontsize=8, loc="lower left")
figures.show()

# %%
print("R        " + " ".join(f"{R:8.1f}" for R in scales[::6]))
for (name, dual_keys), curve in curves.items():
    label = f"{name}{', dual' if dual_keys else ''}"
    print(f"{label:13}" + " ".join(f"{v:8.5f}" for v in curve[::6]))

# %% [markdown]
# ### A thousand bases
#
# Are these bases exceptional? We draw Gram matrices at random, with $\Delta$ up to nine tenths of $\frac{1}{2s}$, $s$ from 2 to 5, all inner products $\pm\Delta$ or uniform between, and eight positions, and look at all strings. For the bag of vectors $\gamma = 1/s$, and the restored scale is $\log(8Ts/\gamma)/(1 - s\Delta)$. The lemma also asks for $s\Delta < \gamma$; bases that do not meet it are counted apart.

# %%
strings8 = cube.bits(8)


def random_gram(s):
    """Inner products up to a random Delta, positive semidefinite."""
    while True:
        top = 0.9 * torch.rand(1, generator=generator, dtype=torch.float64) / (2 * s)
        noise = 2 * torch.rand(8, 8, generator=generator, dtype=torch.float64) - 1
        if torch.rand(1, generator=generator) < 0.5:
            noise = noise.sign()
        gram = (top * noise).triu(1)
        gram = gram + gram.mT + torch.eye(8, dtype=torch.float64)
        if torch.linalg.eigvalsh(gram)[0] > 1e-6:
            return gram


PARTS = ("printed", "least", "dual", "within", "bits", "bag printed", "bag dual", "bag sum dual")
table, in_range = {part: [] for part in PARTS}, []
for k in range(instances):
    s = 2 + k % 4
    gram, chosen = random_gram(s), torch.randperm(8, generator=generator)[:s].tolist()
    found = near_errors(gram, chosen, 2 / s)
    at, D, gamma = selection.basis(gram), selection.basis(gram).coherence, 1 / s
    X = selection.rows("bag", at, strings8)
    for part, room, dual_keys, scalar in (
        ("bag printed", 1 - s * D, False, False),
        ("bag dual", selection.margin(s, D, dual_keys=True), True, False),
        ("bag sum dual", selection.margin(s, D, dual_keys=True), True, True),
    ):
        R = selection.sharpness(8, gamma, s, room)
        heads = selection.bag_head(at, chosen, R, scalar=scalar, dual_keys=dual_keys)
        target = bag_target(chosen, strings8, scalar)
        found[part] = error(heads, at, "bag", target, None, strings8) / (gamma / 4)
    in_range.append(s * D < gamma)
    for part in PARTS:
        table[part].append(found[part])
table = {part: torch.tensor(rows, dtype=torch.float64) for part, rows in table.items()}
bag_in_range = table["bag printed"][torch.tensor(in_range)]
print(f"{instances} bases, all strings: error over gamma / 4")
print("                largest     median   violations")
for part, rows in table.items():
    print(f"{part:13} {rows.max():9.3f} {rows.median():10.4f} {int((rows > 1).sum()):10}")
print(
    f"bag printed, {len(bag_in_range)} bases with s Delta < gamma: largest "
    f"{bag_in_range.max():.3f}, violations {int((bag_in_range > 1).sum())}"
)
glue(
    printed_bad=f"{100 * (table['printed'] > 1).double().mean():.0f}",
    least_bad=f"{100 * (table['least'] > 1).double().mean():.0f}",
    bag_bad=f"{100 * (bag_in_range > 1).double().mean():.0f}",
    bag_count=len(bag_in_range),
    bag_worst=bag_in_range.max(),
    within_worst=f"{table['within'].max():.2f}",
    dual_slack=f"{1 / table['dual'].median():.0f}",
    bag_slack=f"{1 / table['bag dual'].median():.1f}",
)

# %% [markdown]
# They are not exceptional: the proof's head fails in {glue:text}`printed_bad` % of the bases, the least repair in {glue:text}`least_bad` %, and the proof's head for a bag of vectors in {glue:text}`bag_bad` % of the {glue:text}`bag_count` bases with $s\Delta < \gamma$. With dual keys none fails; within the norms of Lemma B.2 their largest error is {glue:text}`within_worst` of $\gamma/4$. So no random basis contradicts the lemmas, only the heads of their proofs. The median slack of dual keys is {glue:text}`dual_slack` for the mean and {glue:text}`bag_slack` for the bag.
#
# ### Eight vectors for which there is no head
#
# The repaired lemma needs $\Delta < \frac1{2s-1}$. Is that a weakness of dual keys? It is not. Let $s = 2$, $\Delta = \frac25$ and
#
# $$v_1^\top v_2 = -\tfrac25, \qquad v_{3,4} = \tfrac23 (v_1 + v_2) \pm \sqrt{\tfrac7{15}}\, n, \qquad v_5, \dots, v_8 \text{ a simplex},$$
#
# with a unit vector $n$ at right angles to $v_1, v_2$, and the four vertices $v_5, \dots, v_8$ of a regular simplex at right angles to these three. All inner products are at most $\Delta$ in size, and $\frac12(v_1 + v_2) = \frac38(v_3 + v_4) + \frac1{16}(v_5 + \dots + v_8)$ is an average of vectors that are *not* chosen. So for every key some row not chosen scores at least as high as the lower of the two that are. Then no head within $\|W_V\|_F \|W_C\|_F \le 2$ can be within $\eta$ of $\pm(r - 1)$ on all strings, for any $\eta < \frac1{20}$:
#
# 1. Row $t$ has the weight $u_t A$ or $u_t B$ for the bits 0 and 1, $u_t = e^{v_t^\top \kappa}$ with some $\kappa$, and a value $a_t + \beta_{b_t}$, $|a_t| \le 2$. The head is a fraction $N/D$. Flipping bit $t$ adds $d_t = u_t(B - A)$ to $D$ and $d_t a_t + u_t C$ to $N$, with one $C$ for all rows. Let $D'$ be the largest $D$.
# 2. For $t$ not chosen the target does not change: at $r = 1$, target 0, $|d_t a_t + u_t C| \le 2\eta D'$; at $r = 2$, target 1, $|d_t a_t + u_t C - d_t| \le 2 \eta D'$. So $|d_t| \le 4 \eta D'$ and $|u_t C| \le (2 + 8)\eta D'$.
# 3. For the chosen row with the lower score, $u$ is no larger than for some $t$ not chosen, and so its flip changes $N$ by at most $2|d| + |uC| \le 18 \eta D'$.
# 4. But at the string with the largest $D$, which is all zeros or all ones, this flip moves the target by 1 from $\pm1$ to 0: $N$ changes by at least $(1 - 2\eta)D'$. So $1 \le 20\eta$.
#
# The lemma allows $\gamma/4$, which is $\frac1{40}$ at $\gamma = \frac1{10}$. At $\gamma = \frac1{10}$ and $\Delta$ below $\frac13$ the dual key does it, for the same eight vectors with all inner products scaled down.

# %%
eight = torch.full((8, 8), 0.0, dtype=torch.float64)
eight[0, 1] = -2 / 5
eight[:2, 2:4], eight[2, 3] = 2 / 5, 1 / 15
eight[4:, 4:] = torch.full((4, 4), -1 / 3, dtype=torch.float64).triu(1)
eight = eight + eight.mT + torch.eye(8).double()
outsiders = torch.tensor([1 / 2, 1 / 2, -3 / 8, -3 / 8, *[-1 / 16] * 4], dtype=torch.float64)
as_average = (outsiders @ eight @ outsiders).abs().sqrt().item()
coherence_eight = (eight - torch.eye(8)).abs().max().item()
smallest = torch.linalg.eigvalsh(eight)[0].item()
print(f"Delta {coherence_eight:.4f}; a Gram matrix, up to 1e-12: {smallest > -1e-12}")
print(f"(v_1 + v_2)/2 is an average of the others, up to 1e-7: {as_average < 1e-7}")
gamma_eight, top_value = 0.1, 2.0
least_error = 1 / (2 + 4 * top_value + 2 + 4 * top_value)  # steps 2 to 4
shrunk = 0.8 * eight + 0.2 * torch.eye(8).double()
at8 = selection.basis(shrunk)
R8 = selection.sharpness(8, gamma_eight, 1, selection.margin(2, at8.coherence, dual_keys=True))
heads8 = selection.mean_head(at8, [0, 1], R8, dual_keys=True)
strings8 = cube.bits(8)
mean8 = signs([0, 1], strings8).mean(1, keepdim=True)
dual_eight = error(heads8, at8, "positions", mean8, None, strings8) / (gamma_eight / 4)
print(f"least error of any head over gamma/4: {least_error / (gamma_eight / 4):.4f}")
print(f"Delta {0.8 * coherence_eight:.4f}: error of the dual key over gamma/4: {dual_eight:.4f}")
glue(least_over=least_error / (gamma_eight / 4))

# %% [markdown]
# ## Gaps and norms
#
# The functions that the heads approximate must keep different inputs apart, or no net behind them could tell them apart ({ref}`ch-lookup-networks`). For the bag of vectors we compute the least gaps for all $s$ up to 8. And we measure the norms of the weights.

# %%
gaps = []
print(" s   least step of (r - s)/(r + 1), times s   least distance of two vectors, times s")
for s in range(1, 9):
    r = torch.arange(s + 1, dtype=torch.float64)
    step = ((r - s) / (r + 1)).diff().min().item()
    rival = (r / (r + 1)).diff().min().item()
    vectors = bag_target(range(s), cube.bits(s))
    apart = (vectors[:, None] - vectors).abs().amax(-1)
    least = (apart + 9 * torch.eye(2**s, dtype=torch.float64)).min().item()
    gaps.append((s * step, s * least, s * rival))
    print(f"{s:2} {s * step:32.6f} {s * least:40.6f}")
worst_gap = max(abs(g - 1) for row in gaps for g in row[:2])
worst_rival = max(abs(row[2] - 1) for row in gaps)

far, chosen, gamma = 1000, [3, 500, 999], 0.1
wide = selection.Basis(torch.zeros(far, 8, dtype=torch.float64), *torch.eye(8).double()[5:])
R = selection.sharpness(far, gamma)
positions, head = selection.trained_mean_head(wide, chosen, R)
norms = {name: W[0].norm().item() for name, W in head.items()}
column_sum = positions.norm(dim=1).sum().item()
allowed = {"WQ": math.log(8 * far / gamma), "WK": 1.0, "WV": 2.0, "WC": 1.0}
print(f"trained positions, T = {far}, s = 3, gamma = {gamma:.1f}:")
print(
    f"  ||P^T||_2,1 = {column_sum:.3f}; "
    + ", ".join(f"{k} {v:.3f} (at most {allowed[k]:.3f})" for k, v in norms.items())
)
norm_ratio = max(max(norms[k] / allowed[k] for k in allowed), column_sum / 3)
fixed_ratio = selection.basis(torch.eye(far)).vectors.norm(dim=1).sum().item() / 3
strings = torch.randint(0, 2, (2000, far), generator=generator)
far_error = error(
    head, wide, "trained", signs(chosen, strings).mean(1, keepdim=True), positions, strings
)
print(f"  error on 2000 random strings over gamma / 4: {far_error / (gamma / 4):.4f}")

# %% [markdown]
# ## What would falsify this
#
# Scores whose softmax moves by more than the bound; in the control the first scores are 0, too. A head off by more than $\gamma/4$ on some string; the control has scores that are smaller by $\log 8$. For nearly orthogonal vectors the proof's and the repaired head are each other's control. For the eight vectors: a head within the norms that comes closer than $\frac1{20}$; the control is the dual key where $\Delta < \frac13$. A gap below $1/s$; the control is the function $r/(r+1)$. A norm above its bound; the control is the norm of fixed positions.

# %%
ledger.result("variables.lemB7").holds(
    "distance of the two softmaxes over the bound, largest; control: first scores 0, not $R$",
    truncation.max(),
    at_most=1,
    tol=1e-12,
    control=lowered.max(),
    about="statement",
    evidence="proved",
)
ledger.result("variables.lemB2.orthonormal").holds(
    "orthonormal vectors: error over $\\gamma/4$, mean and bits, largest; control: scores less $\\log 8$",
    max(worst["positions, mean"], worst["positions, bits"]),
    at_most=1,
    control=min(starved["positions, mean"], starved["positions, bits"]),
    about="statement",
    evidence="exhaustive",
)
ledger.result("variables.lemB2.mean").refuted(
    "eight vectors, $s = 2$, $\\Delta = \\frac25$, $\\gamma = \\frac1{10}$: least error of any head over $\\gamma/4$; control: dual key, $\\Delta < \\frac13$",
    least_error / (gamma_eight / 4),
    at_most=1,
    control=dual_eight,
    about="statement",
    evidence="proved",
)
ledger.result("variables.lemB2.mean").refuted(
    "opposed vectors: error over $\\gamma/4$ of the proof's head; control: dual key",
    near["opposed"]["printed"],
    at_most=1,
    control=near["opposed"]["dual"],
    about="proof",
    evidence="exhaustive",
)
ledger.result("variables.lemB2.mean").refuted(
    "uneven vectors: error over $\\gamma/4$ of the proof's head; control: dual key",
    near["uneven"]["printed"],
    at_most=1,
    control=near["uneven"]["dual"],
    about="proof",
    evidence="exhaustive",
)
ledger.result("variables.lemB2.mean").repaired(
    "$\\Delta < 1/(2s-1)$, dual key: error over $\\gamma/4$, random and adverse bases, largest; control: the proof's key and scale",
    max(table["dual"].max().item(), *(row["dual"] for row in near.values())),
    at_most=1,
    control=table["printed"].max(),
    about="statement",
    evidence="proved",
)
ledger.result("variables.lemB2.heads").holds(
    "$s$ heads as printed: error over $\\gamma/4$, all bases, largest; control: one head",
    max(table["bits"].max().item(), *(row["bits"] for row in near.values())),
    at_most=1,
    control=table["printed"].max(),
    about="statement",
    evidence="proved",
)
glue(instances=instances)
ledger.result("variables.lemB3").holds(
    "trained positions: error over $\\gamma/4$, largest; control: scores less $\\log 8$",
    max(worst["trained, mean"], worst["trained, bits"]),
    at_most=1,
    control=min(starved["trained, mean"], starved["trained, bits"]),
    about="statement",
    evidence="exhaustive",
)
ledger.result("variables.lemB3").holds(
    f"norms over their bounds, $T = {far}$, largest; control: fixed positions",
    norm_ratio,
    at_most=1,
    tol=1e-12,
    control=fixed_ratio,
    about="statement",
    evidence="attained",
)
ledger.result("variables.lemB4.orthonormal").holds(
    "orthonormal vectors: error over $\\gamma/4$, largest; control: scores less $\\log 8$",
    max(worst["bag, sum"], worst["bag, bits"]),
    at_most=1,
    control=min(starved["bag, sum"], starved["bag, bits"]),
    about="statement",
    evidence="exhaustive",
)
ledger.result("variables.lemB4.gaps").holds(
    "least gaps times $s$, distance from 1, largest of $s \\le 8$; control: $r/(r+1)$",
    worst_gap,
    at_most=0,
    tol=1e-12,
    control=worst_rival,
    about="statement",
    evidence="exhaustive",
)
ledger.result("variables.lemB4").refuted(
    "random bases, $s\\Delta < \\gamma$, the proof's head at the restored scale: error over $\\gamma/4$, largest; control: dual keys and values",
    bag_in_range.max(),
    at_most=1,
    control=table["bag dual"].max(),
    about="proof",
    evidence="exhaustive",
)
ledger.result("variables.lemB4").repaired(
    "$\\Delta < 1/(2s-1)$, dual keys and values: error over $\\gamma/4$, random bases, largest; control: the proof's head",
    max(table["bag dual"].max().item(), table["bag sum dual"].max().item()),
    at_most=1,
    control=table["bag printed"].max(),
    about="statement",
    evidence="proved",
)
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# There is none: the constructions exist on paper only, and the paper's experiments train their heads.
#
# ## What we found
#
# * Softmax truncation is tight, and with orthonormal vectors every head does what its lemma says.
# * With nearly orthogonal vectors the proof's head for several positions can fail, for two reasons. One is a margin, and is repaired by a constant. The other is that its scores are unequal; sharper attention then concentrates on one of the chosen rows. It fails in {glue:text}`printed_bad` % of random bases, so this is not a corner case.
# * Dual keys repair both at no cost, for $\Delta < 1/(2s-1)$. Up to the $1/s$ of the lemma no head need exist. Whether training finds such keys is another question: near-equality has to be learned, not only a margin.
# * A head for a single position needs no equality. Functions of $s$ bits built from $s$ heads are safe.
#
# ```{finding} variables.lemB2.mean
# :title: One head for s positions: none need exist for Delta from 1/(2s-1) on
# :group: false statement
#
# **Statement.** Printed: for $\Delta < 1/s$ and $0 < \gamma \le 1$ there are a 1-bounded function of $r$ that increases by at least $2/s$ with each step, and one head with $\|W_V\|_F \le 2$, $\|W_C\|_F \le 1$ and bounded queries and keys, within $\gamma/4$ of it on all strings.
#
# **Counterexample.** $s = 2$, $\Delta = \frac25$, $\gamma = \frac1{10}$, the eight vectors above: every head with $\|W_V\|_F \|W_C\|_F \le 2$ is off by at least $\frac1{20}$ somewhere, {glue:text}`least_over:.0f` times what is allowed, whatever its key.
#
# **Why.** The mean of the two chosen vectors is an average of vectors not chosen, so no key separates them. For smaller $\Delta$ the proof's head can fail as well, by its margin, $1 - (2s-1)\Delta$, and by unequal scores; that refutes the head, not the lemma.
#
# **Repair.** $\Delta < 1/(2s-1)$, the key $w$ in the span of the chosen vectors with $v_i^\top w = 1$, and $R = \log(8T/\gamma)/\mu$ with $\mu = 1 - s\Delta/(1 - (s-1)\Delta)$. Exchange $e_0$ and $e_1$. Replacing $1 - s\Delta$ by $1 - 2s\Delta$ in the proof's scale is not enough.
#
# **What survives.** Everything for orthonormal vectors, and the version with $s$ heads as it stands. With the dual key the norms are of the same order, and no basis of {glue:text}`instances` violates the bound. Whether the printed norms always suffice for $\Delta < 1/(2s-1)$ is open; at all bases tried they do.
# ```
#
# ```{finding} variables.lemB4
# :title: Bag of vectors: the head of the proof fails where Delta > 0
# :group: proof
#
# **Statement.** Restored: for $\Delta < 1/s$ and $s\Delta < \gamma$ some head on a bag of vectors is within $\gamma/4$ of $(b_i - 1)/(r + 1)$, $i \in I$. The proof writes one down.
#
# **Counterexample.** Of the proof's head only. Random bases of eight vectors with $\Delta < 1/(2s)$, $\gamma = 1/s$ and $s\Delta < \gamma$: it is off by more than $\gamma/4$ in {glue:text}`bag_bad` % of {glue:text}`bag_count`, by up to a factor of {glue:text}`bag_worst:.1f`. At every one of them another head is within it.
#
# **Why.** What can go wrong in Lemma B.2, and the values: $v_t^\top \sum_i v_i$ is off by up to $s\Delta$ for each row that holds a 1, which no scale of the scores reduces. The proof adds this error at full size, and its own sum needs $\gamma > 4s\Delta$.
#
# **Repair.** Dual vectors for keys and values, and $\Delta < 1/(2s-1)$. The error from $\Delta$ is then gone, and $\gamma$ is free.
#
# **What survives.** The statement is not contradicted where $\Delta < 1/(2s-1)$. Everything for orthonormal vectors, and the gaps. The repaired head has a median slack of {glue:text}`bag_slack`.
# ```
#
# ## Exercises
#
# ```{admonition} Exercise 1
# Two positions are chosen, $s = 2$. Why can the uneven case not arise?
# ```

# %% tags=["hide-cell"]
# v_1 and v_2 score 1 + v_1.v_2 both: the inner product is symmetric.
at = selection.basis(selection.uneven_gram(8, 2, delta))
key = selection.mean_head(at, [0, 1], 1.0)["WK"][0, :, 0]
print(
    "scores of the two chosen rows:", " ".join(f"{v:.3f}" for v in (at.vectors[:2] @ key).tolist())
)

# %% [markdown]
# ```{admonition} Exercise 2
# How small must $\Delta$ be for the proof's key to work on the uneven basis, at $\gamma = 2/s$?
# ```

# %% tags=["hide-cell"]
# The shares within I differ by a factor of e^(2 (s - 2) R Delta). For an error of gamma / 4 = 1 / (2s) this exponent must be of the order of 1 / s, so Delta of the order of 1 / (s^2 log T).
low, high = 0.0, 1 / (2 * s_near - 1)
for _ in range(30):
    middle = (low + high) / 2
    bad = near_errors(selection.uneven_gram(T + 2, s_near, middle), first, gamma_near)["least"] > 1
    low, high = (low, middle) if bad else (middle, high)
print(f"s = {s_near}: Delta below {low:.4f}; 1 / (2s - 1) is {1 / (2 * s_near - 1):.4f}")

# %% [markdown]
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The statements are from {cite:t}`variables`.
