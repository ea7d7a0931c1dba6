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
# (ch-word-masking)=
# # Masked words: from one output to K
#
# ```{verdict}
# Theorem 5.1 follows from the theorem that its proof quotes, but an inequality in that proof is false, whatever constant and power of a logarithm it hides. It says for $K$ words that on one and the same sample the loss's complexity is at most about $\sqrt K$ times that of one word's scores. But this factor can be nearly $K$: for {glue:text}`k_wide:,.0f` words it is {glue:text}`own_wide:,.0f`, while $\sqrt K$ is {glue:text}`root_wide:,.0f`. The hidden constant is unknown; if it is 1 and scores have size {glue:text}`size:g`, the factor exceeds what is allowed from about {glue:text}`cross_half:,.0f` words on for squared logarithms, and from {glue:text}`cross_one:.1f` million for their power $\frac52$.
# ```
# **Needs** {ref}`ch-capacity`, {ref}`ch-attention-capacity`, {ref}`ch-single-layer-bound`. **Read** 18 min. **Runs in** 10 s. **Source** printed.
#
# **Claim.** The bounds for a transformer with one output carry over to one that fills in a masked word out of $K$, at the price of a factor of about $\sqrt K$. The proof has two halves. The first is right, and its constant is the best one: cross entropy changes by at most twice the largest change of a score. The second half quotes a theorem whose right side is the complexity on the *worst* sample, with an unknown constant $C$ and logarithms to the power $\frac32 + \delta$ for any $\delta > 0$. But the inequality that the proof displays has the *given* sample on both sides, and in this form it is false for every $C$ and $\delta$, because the factor can be about $K$, and $\sqrt K$ with logarithms grows more slowly. With the worst sample on the right it holds, and that is enough for the theorem.

# %% tags=["parameters"]
B = 1.0  # size of scores where a sentence has its own word [0.25..4]
k_wide = 16777216  # largest vocabulary there [8388608..33554432]
copies = 16  # sentences of each word where all inputs are alike [8..64]
pairs = 20000  # pairs of score vectors [2000..200000]
starts = 64  # of each search for a bad class [16..256]
seed = 0  # of everything random [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import math

import pandas as pd
import torch

from bookkit import Ledger, figures, glue, table
from bookkit.moving import Axis, Frame, moving, written
from helpers.covers import linear as covers
from helpers.rng import Rng, f64
from helpers.statistics import power
from papers.lengthfree import masked_words

ledger, rng = Ledger("lengthfree/word_masking"), Rng(seed)
masking, lipschitz = map(ledger.result, ("lengthfree.thm5_1", "lengthfree.thm5_1.appG"))
wide = [k_wide // 8**j for j in range(6, -1, -1)]

# %% [markdown]
# ## Why one should care
#
# The bounds of the earlier chapters are about transformers with one number as output. A language model that fills in a masked word has one score for each of $K$ words, and $K$ is some ten thousand. How much does a guarantee suffer from so many outputs? If the bound for one output had to be paid $K$ times, it would be worthless. The paper claims a factor of about $\sqrt K$, and the question is for which samples this claim is true. The answer matters beyond this paper, because the inequality in question is quoted wherever a model has many outputs.
#
# ## Three words by hand
#
# How much can the loss alone change if no score changes much? Let the vocabulary have three words, all with the score 0. Each word has the probability $\frac13$, and the loss is $\log 3 \approx 1.099$ whichever word is the true one. Now raise the score of the true word by 0.3 and lower the two others by 0.3. The probability of the true word becomes $1 / (1 + 2 e^{-0.6}) = 0.477$, so the loss becomes 0.741, as the next lines confirm.

# %%
before, after = f64([0.0, 0.0, 0.0]), f64([0.3, -0.3, -0.3])
by_hand = [masked_words.losses(v, torch.tensor(0)).item() for v in (before, after)]
glue(before=by_hand[0], after=by_hand[1], change=by_hand[0] - by_hand[1])

# %% [markdown]
# The losses are {glue:text}`before:.3f` and {glue:text}`after:.3f`, so the loss moved by {glue:text}`change:.3f` although no score moved by more than 0.3. The first lemma below allows at most twice the largest change of a score, that is 0.6. Two is the right number because the loss depends on differences of two scores, of which one can rise while the other falls. But the bound is nearly reached only if the true word has a very small probability.
#
# ## The statement
#
# A sentence has $T$ tokens, one of them masked. A transformer turns the masked token into a vector $Y \in \mathbb R^d$, and a matrix $W$ with $K$ rows turns it into *scores* $v = WY \in \mathbb R^K$, one for each word of the vocabulary. With $p = \mathrm{softmax}(v)$ and the true word $y$, the loss is the *cross entropy* $\ell(v, y) = -\log p_y$, with the natural logarithm.
#
# There are $m$ sentences $x_1, \dots, x_m$ with masked words $y_1, \dots, y_m$, and together they are the *sample*. A function $f$ of a class $\mathcal F$ gives sentence $i$ the scores $f(x_i)$, and $\mathcal F_s$ is the class of the scores $f_s$ for word $s$ alone. The *complexity* of a class on this sample is
#
# $$R(\mathcal F_s) = \mathbb E_\epsilon \sup_{f \in \mathcal F} \sum_{i=1}^m \epsilon_i f_s(x_i) , \qquad R(\ell \circ \mathcal F) = \mathbb E_\epsilon \sup_{f \in \mathcal F} \sum_{i=1}^m \epsilon_i\, \ell(f(x_i), y_i) ,$$
#
# with independent fair signs $\epsilon_i$. The first number says how well the scores of one word can be made to agree with random signs on the $m$ sentences, and the second says the same of the losses. Both are $m$ times the Rademacher complexity of {ref}`ch-capacity`.
#
# These numbers depend on the sample. We write $\tilde R(\mathcal F_s)$ for the largest $R(\mathcal F_s)$ over all samples of $m$ inputs, in other words for the complexity on the *worst sample*.
#
# ```{prf:theorem} Trauger and Tewari (2024), Theorem 5.1
# :label: lengthfree-thm5-1
# A bound on the Rademacher complexity of cross entropy of a masked word follows from Theorem 4.1, the bound for one layer, or from Theorem 4.2, the bound for several, if their conditions are met. The proof displays
#
# $$R(\ell \circ \mathcal F) \le \tilde O(\sqrt K)\, \max_s R(\mathcal F_s) \tag{1}$$
#
# *(a step of the proof, refuted below as displayed; the theorem stands)*, and bounds the right side by one of those theorems, with a row of $W$ in place of the vector $w$ that reads the output.
# ```
#
# ```{prf:lemma} Trauger and Tewari (2024), Appendix G
# :label: lengthfree-appG
# For every true word $y$, $|\ell(a, y) - \ell(b, y)| \le 2 \max_s |a_s - b_s|$.
# ```
#
# For (1) the paper cites Foster and Rakhlin (2019), whose theorem reads as follows.
#
# ```{prf:theorem} Foster and Rakhlin (2019), Theorem 1
# :label: lengthfree-contraction
# Let each loss be $L$-Lipschitz in $\max_s |v_s|$, and let losses and scores be at most $\beta$ in absolute value. For every $\delta > 0$ there is a constant $C$ with
#
# $$R(\ell \circ \mathcal F) \le C L \sqrt K\, \max_s \tilde R(\mathcal F_s)\, \log^{3/2 + \delta} \Bigl( \frac{\beta m}{\max_s \tilde R(\mathcal F_s)} \Bigr) . \tag{2}$$
# ```
#
# The factor in (2) is about $\sqrt K$, up to logarithms, as in (1). The difference is in the tilde over $R$: the right side of (2) has the worst sample, and the right side of (1) the given sample. The next section shows how much this changes.
#
# ## On which sample?
#
# One class decides whether display (1) is true, and both of its complexities can be computed exactly. The idea is to tie the scores of each word to a sentence of its own. Then a single word's scores can fit the noise on one sentence only, whereas the loss can fit the noise on all sentences.
#
# *The class.* Let $m = K$, and let sentence $i$ have the masked word $i$ and as its input the unit vector $e_i$, which has a single 1. Let $\mathcal F$ hold the functions $f(x) = \mathrm{diag}(\pm B)\, x$ for all $2^K$ choices of signs.
#
# *One word.* The scores of word $s$ are $\pm B$ on sentence $s$ and 0 on all others, so $R(\mathcal F_s) = B$.
#
# *The loss.* Each sentence has a sign of its own that can be chosen for it. If $\epsilon_i = 1$, one chooses the score $-B$ and the large loss $\log(1 + (K-1) e^B)$. If $\epsilon_i = -1$, one chooses the score $B$ and the small loss $\log(1 + (K-1) e^{-B})$. Each happens with probability $\frac12$, and there are $K$ sentences:
#
# $$R(\ell \circ \mathcal F) = \frac K2 \log \frac{1 + (K - 1) e^{B}}{1 + (K - 1) e^{-B}} \approx K B .$$
#
# The ratio is about $K$, not $\sqrt K$, and no power of a logarithm makes up for the missing $\sqrt K$.
#
# *The worst sample.* With the worst sample on the right, as in (2), the contradiction disappears. For one word the worst sample consists of $K$ sentences with the same input $e_s$. On it $\tilde R(\mathcal F_s) = B\, \mathbb E |\epsilon_1 + \dots + \epsilon_K| \approx B \sqrt{2K/\pi}$, and with this number the ratio is only about $\sqrt{\pi K/2}$.
#
# *An average over samples.* Could (1) be meant as an average over samples? It would still be false. To see this, let the $K$ masked words be drawn at random, let each word keep its own input, and let $\mathcal F$ hold all matrices whose rows have $\|w_s\|_1 \le B$ (see below). Let $S_b$ be the sum of the signs of the sentences whose masked word is $b$. Then the complexity of a single word's scores is the mean of $B \max_b |S_b|$. This is a single maximum, and it grows more slowly than $\log K$. The complexity of the loss, however, contains at least a part of every $|S_b|$.
#
# The first table has the ratio of the complexity of the loss to that of one word's scores, in three cases. On the *own sample* each sentence has a word of its own. For *random words* the ratio is estimated from draws. The third case has the *worst sample* for one word on the right side.
#
# The last column of the table, the *shape*, is what display (1) would allow with the logarithms of (2). It is a product of $\sqrt K$, the Lipschitz constant 2 of the loss, and all the logarithms of (2) for $\delta = 1$, where $\beta = \log K + 2B$ bounds the loss. The unknown constant is taken as 1. In the logarithms we put $R(\mathcal F_s) = B$ in place of $\tilde R$, as (1) has it. Since $B$ is smaller, this makes the shape larger and favours (1). If the column for the own sample grew no faster than the shape, (1) could be saved by its logarithms. (A second table has the powers of $K$ with which the columns grow; there the shape is called *(2), all logs*.)


# %%
def random_sample(K):
    """Loss over one word with masked words drawn at random, by Monte Carlo."""
    total = largest = 0.0
    for _ in range(max(2, min(40, 2**22 // K))):
        y = torch.randint(K, (K,), generator=rng.generator)
        signs = 2.0 * torch.randint(2, (K,), generator=rng.generator) - 1
        sums = torch.zeros(K).index_add_(0, y, signs).abs()
        total, largest = total + sums.sum().item(), largest + sums.max().item()
    return masked_words.own_word(K, B)[0] / (K * B) * total / largest


def shape(K, delta=1.0):
    """Right side of (2) over that of one word, with C = 1 and B in its logarithms."""
    return 2 * math.sqrt(K) * math.log((math.log(K) + 2 * B) * K / B) ** (1.5 + delta)


rows = {}
for K in wide:
    loss, own, worst = masked_words.own_word(K, B)
    rows[K] = {"own sample": loss / own, "random words": random_sample(K)}
    rows[K] |= {"worst sample": loss / worst, "root of K": math.sqrt(K), "(2), all logs": shape(K)}
ratios = pd.DataFrame(rows).T.rename_axis("K")
local = {name: power(wide[-2:], ratios[name].tolist()[-2:]).item() for name in ratios}
shown = ratios.rename(columns={"(2), all logs": "shape of (2), all logarithms"})
table(shown, "Complexity of the loss over that of one word's scores, for K words", form=".1f")
table(local, "Power of K with which each column grows, last two vocabularies", form=".3f")

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Complexity of the loss over that of one word's scores, against the number of words: on the own sample, where each sentence has a word of its own, with words drawn at random, and with the worst sample for one word. Dotted, the shape: what display (1) would allow with all the logarithms of (2), at $C = 1$ and $\\delta = 1$. For every $C$ and $\\delta$ a dotted line has the slope $\\frac12$ in the end, so the steeper line of the own sample crosses it, and this contradicts display (1).", "name": "fig-contraction"}, "image": {"alt": "Logarithmic axes from 64 to 17 million words. On the own sample the ratio is a straight line of slope one, with random words one that is a little lower. On the worst sample it is a line of slope one half, and so is the root of K just below it. The dotted shape of formula (2) starts above all, is less steep than the first two, and is crossed by the first near ten million words."}} tags=["hide-input"]
fig, ax = figures.new(height=3.0)
for i, name in enumerate(ratios):
    ax.plot(
        ratios.index,
        ratios[name],
        **figures.series_style(i, linestyle=":" if "logs" in name else "-"),
    )
ax.set(xscale="log", yscale="log", xlabel="words $K$", ylabel="loss / one word", xlim=(40, 2e9))
figures.end_labels(ax, {name: (wide[-1], ratios[name].iloc[-1]) for name in ratios})
figures.ticks(ax, wide, [f"$2^{{{math.log2(K):.3g}}}$" for K in wide])
figures.show()

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
enumerated = 0.0
for K in (2, 4, 8):
    signs = B * torch.stack((torch.eye(K), -torch.eye(K))).double()
    c = masked_words.complexities(masked_words.product_class(signs), torch.arange(K))
    loss, word, _ = masked_words.own_word(K, B)
    enumerated = max(enumerated, abs(c.loss.item() / loss - 1), (c.word / word - 1).abs().max())
if enumerated > 1e-12:
    raise ArithmeticError(f"the formulas differ from all signs by {enumerated:.1e}")


def crossing(delta):
    """Words from which on the own sample exceeds the shape of (2)."""
    low, high = 10, 10**15
    while high > 1.0001 * low:
        K = math.isqrt(low * high)
        loss, own, _ = masked_words.own_word(K, B)
        low, high = (low, K) if loss / own > shape(K, delta) else (K, high)
    return high


few = [  # the worst sample, but of only the root of m sentences
    masked_words.own_word(K, B)[0] / (B * masked_words.mean_absolute_sum(math.isqrt(K)))
    for K in wide[-2:]
]
masking.refuted(
    "display (1) with the given sample on both sides: power of $K$ with which its ratio "
    "grows, against the power that (2) allows with all its logarithms; control: the worst "
    "sample",
    local["own sample"],
    at_most=local["(2), all logs"],
    control=local["worst sample"],
    about="proof",
    evidence="attained",
)
masking.repaired(
    "display (1) with the worst sample on its right side: power of $K$ with which its ratio"
    " grows, against the power that (2) allows; control: a worst sample of only $\\sqrt m$ "
    "sentences",
    local["worst sample"],
    at_most=local["(2), all logs"],
    control=power(wide[-2:], few).item(),
    about="proof",
    evidence="attained",
)
glue(k_wide=k_wide, own_wide=ratios["own sample"].iloc[-1], root_wide=math.sqrt(k_wide))
glue(power_own=local["own sample"], power_worst=local["worst sample"])
glue(size=B, cross_half=round(crossing(0.5), -3), cross_one=crossing(1.0) / 1e6)
glue(power_random=local["random words"], power_allowed=local["(2), all logs"])

# %% [markdown]
# In {numref}`fig-contraction` the steepness of the lines matters more than their height, because the constant of $\tilde O$ is not known. On the own sample the ratio grows like $K$ to the power {glue:text}`power_own:.2f`, and with random words to the power {glue:text}`power_random:.2f`. The shape of (2) has the power {glue:text}`power_allowed:.2f` at this size, and $\frac12$ in the limit. So the line of the own sample crosses the dotted one, that of the shape, whatever the constant of $\tilde O$, and for every $\delta$. On the worst sample the power is {glue:text}`power_worst:.2f`, as (2) says.
#
# **Is this class special?** It is not, because the paper's own class contains it. All rows with $\|w_s\|_1 \le B$, as Theorem 4.1 on one layer has them, give $R(\mathcal F_s) = B$ on these inputs too, since $\|\sum_i \epsilon_i e_i\|_\infty = 1$. With more functions the complexity of the loss can only be larger.
#
# The rest of the transformer does not save (1) either. For example, let each sentence have one visible word, the vector $e_i$, and let the mask be the zero vector. Then the query of the mask gives both tokens the score 0, so every head returns half of what it makes of $e_i$ alone, whatever $W_{QK}$ is. Nor can the activation add up the noise of many sentences: for every column $v$ of the value matrix and an $L_\sigma$-Lipschitz activation $\sigma$ that keeps 0 we have $\sum_i \epsilon_i \sigma(\langle v, e_i\rangle) \le L_\sigma \|v\|_1$.
#
# Theorem 4.1 also asks for more sentences than dimensions, $m > d$, whereas here $m = d = K$. This condition is met if every sentence occurs twice. For the class of signs both sides of (1) then stay as they are, because the sum of two signs has the mean absolute value 1, as one sign has. For all rows with $\|w_s\|_1 \le B$ the right side at most doubles, because $|\sum_i \epsilon_i| \le 2$ for the two copies of a sentence. So the factor that is needed is still at least about $\frac K2$.
#
# **At which sizes?** The next table says from how many words on the ratio on the own sample exceeds what is allowed, for scores of size $B =$ {glue:text}`size:g` and $C = 1$.
#
# | allowed | exceeded from |
# |:--|--:|
# | $\sqrt K$, without logarithms | 3 words, at $B = 1$ |
# | $2 \sqrt K$, without logarithms | 6 words, at $B = 1$ |
# | shape of (2) with all logarithms, $\delta = \frac12$ | {glue:text}`cross_half:,.0f` words |
# | shape of (2) with all logarithms, $\delta = 1$ | {glue:text}`cross_one:.1f` million words |
#
# The last number is more than vocabularies in use have. Smaller scores move the last two numbers up, and larger ones move them down. But the constant $C$ depends on $\delta$ and is not known. So if $\tilde O$ may hide both, no number at one size contradicts the display. The display is contradicted by the growth of the ratio with $K$.
#
# ## The loss: 2 is right, and best
#
# We return to the first half of the proof, and show that the constant 2 of the lemma is valid and that no smaller one is.
#
# *Valid.* Take the gradient of the loss in the scores, $p - e_y$. The true word has the entry $-(1 - p_y)$, and the others have the entries $p_s$, which add up to $1 - p_y$. So the absolute entries sum to $\|\nabla \ell\|_1 = 2 (1 - p_y) < 2$. Along the segment from $b$ to $a$ the loss changes by at most the largest $\|\nabla \ell\|_1$ times $\max_s |a_s - b_s|$, and this proves the lemma.
#
# *Best.* No pair attains 2. But let the true word's score be lowered by $t$ and all others be raised by $t$. Then $p_y$ falls to 0 as $t$ grows, and the change of the loss divided by the largest change of a score tends to 2. So no smaller constant is valid, for any $K \ge 2$.
#
# *In the Euclidean norm* the constant is smaller. Since the entries of the other words are not negative, their squares add up to at most the square of their sum, and so $\|\nabla \ell\|_2 \le \sqrt 2\, (1 - p_y)$. This bound is nearly attained if one other word, a rival, takes all the probability that the true word has lost.
#
# The table has the change of the loss divided by the length of the step, for steps of size 1 that start $t$ away from equal scores, and for random pairs of score vectors. The steps of every row lower the score of the true word, and raise all other scores, or no other, or that of one rival, whereas the random pairs have no such direction. A ratio above 2 in the first two rows, or above $\sqrt2$ in the third, would refute these constants.

# %%
sizes, far = (2, 3, 16, 64), (0.0, 2.0, 6.0, 30.0)


def step(K, kind, norm, t):
    """Change of the loss over that of the scores, from t to t + 1; the true word is 0."""
    u = torch.full((K,), 1.0 if kind == "all others up" else 0.0, dtype=torch.float64)
    u[0], u[1] = -1, 0.0 if kind == "true word alone" else 1.0
    return masked_words.loss_sides(t * u, (t + 1) * u, torch.tensor(0), norm).ratio.item()


def largest(norm, hot=1.0):
    """Largest ratio of random pairs; hot: softmax at the temperature 1 / hot."""
    best = 0.0
    for K in sizes:
        y = torch.randint(K, (pairs // 4,), generator=rng.generator)
        a = rng.normal(len(y), K) * rng.log_uniform(0.1, 10, len(y), 1)
        for b in (a + rng.normal(*a.shape), a + masked_words.gradient(a, y).sign()):
            sides = masked_words.loss_sides(hot * a, hot * b, y, norm)
            best = max(best, (hot * sides.ratio).max().item())
    return best


# %%
directions = ("all others up", "max"), ("true word alone", "max"), ("one rival up", "euclidean")
steps = {
    f"{kind}, {norm} norm": {f"t = {t:g}": min(step(K, kind, norm, t) for K in sizes) for t in far}
    | {"random pairs": largest(norm)}
    for kind, norm in directions
}
steps = pd.DataFrame(steps).T.rename_axis("true word down and")
table(
    steps,
    "Change of the loss over change of the scores: steps from t to t + 1, least of K = 2, 3, 16, 64; random pairs, largest",
    form=".5f",
)

# %% mystnb={"code_prompt_hide": "Moving figure", "code_prompt_show": "Moving figure"} tags=["hide-input", "nbval-ignore-output"]
ts = torch.arange(-8, 8.25, 0.5).tolist()


def among(K):
    """Ratios of all steps from t to t + 1, for K words."""
    every = {way: [step(K, *way, t) for t in ts] for way in directions}
    first, last = (every[directions[0]][ts.index(t)] for t in (0, 6))
    return Frame(
        f"K = {K} words. All others up: short of 2 by {written(2 - first)} from equal scores, by "
        f"{written(2 - last)} from t = 6.",
        lines={f"{kind}, {norm}": (ts, v) for (kind, norm), v in every.items()},
        grey={"2": (ts, [2.0] * len(ts)), "√2": (ts, [math.sqrt(2)] * len(ts))},
    )


moving(
    "ratio",
    {"words, K": [2, 3, 8, 64, 1024]},
    among,
    (Axis("start t; 0: equal scores", -8, 8), Axis("loss over scores", 0, 2.2)),
    caption="Change of the loss over that of the scores, for steps of size 1. If all others go up, the "
    "ratio is near 2 already at equal scores with many words; with any number it comes as near to 2 as one likes, and "
    "never beyond. The other two stay below 1 and √2. For t below 0 the true word leads.",
    alt="Three rising curves that level off at 2, 1 and the root of 2. With more words the "
    "first two rise further to the left; the third stops at half its height at first and rises further to the right.",
)

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
limits = steps[f"t = {far[-1]:g}"].tolist()
lipschitz.holds(
    "largest ratio of the change of the loss to $\\max_s |a_s - b_s|$, the largest change "
    "of a score; control: softmax at temperature $\\frac12$",
    steps.iloc[:2].to_numpy().max(),
    at_most=masked_words.LIPSCHITZ["max"],
    tol=1e-12,
    control=largest("max", hot=2.0),
    about="statement",
    evidence="proved",
)
lipschitz.holds(
    "no constant below 2 is enough: limit of the ratio along a sequence that lowers the "
    "true word and raises all others; control: only the true word is lowered",
    limits[0],
    at_least=masked_words.LIPSCHITZ["max"],
    tol=1e-9,
    control=limits[1],
    about="constant",
    evidence="attained",
)
lipschitz.holds(
    "largest ratio of the change of the loss to $\\|a - b\\|_2$, against $\\sqrt 2$; "
    "control: ratio to the largest change of a score",
    steps.iloc[2].max(),
    at_most=masked_words.LIPSCHITZ["euclidean"],
    tol=1e-12,
    control=steps.iloc[0].max(),
    about="ours",
    evidence="proved",
)

# %% [markdown]
# From equal scores, at $t = 0$, the least of these ratios are well below the constants. The reason is that with few words the true one still has a fair share of the probability, and with many words a single rival has hardly any yet. The lower the score of the true word, the nearer the ratios come to 2 in the first row and to $\sqrt2$ in the third. In the second row, where the true word moves alone, they come to 1 only.
#
# ## What is the price of K words?
#
# We now know that on one and the same sample the factor can be about $K$, and that with the worst sample on the right $\sqrt K$ with logarithms is enough. Two questions remain. Can the factor on one and the same sample be much larger than $K$, and can $\sqrt K$ be avoided on the worst sample?
#
# **At most $2K$, on every sample.** If the sample must be one and the same on both sides, another contraction inequality can be used, that of Maurer {cite:p}`maurer2016`. On its right side every score has a random sign $\epsilon_{is}$ of its own:
#
# $$R(\ell \circ \mathcal F) \le \sqrt2 L_2\, \mathbb E \sup_f \sum_{i,s} \epsilon_{is} f_s(x_i) ,$$
#
# where $L_2 = \sqrt2$ is the Lipschitz constant in the Euclidean norm, so that the factor in front is 2. A supremum of a sum is at most the sum of the suprema, and therefore
#
# $$R(\ell \circ \mathcal F) \le 2 \sum_{s=1}^K R(\mathcal F_s) \le 2 K \max_s R(\mathcal F_s) . \tag{3}$$
#
# This inequality needs neither the worst sample nor logarithms.
#
# **About $\sqrt{K - 1}$ at least, even on the worst sample.** The factor $\sqrt K$ of (2) cannot be removed, as the simplest class shows. Let all scores be constants, $f(x) = w$ with $\max_s |w_s| \le B$. Then the scores are the same on every sample, so the worst sample is no worse than the given one. For small $B$ the loss is nearly linear, with the gradient $c_{is} = \frac1K - 1[y_i = s]$ at equal scores. (The error is at most $\frac12 B^2$ a sentence, because the Hessian of the loss is the Jacobian of softmax, whose norm from largest entry to sum is at most 1, {ref}`ch-attention-capacity`.) The supremum over $w$ of a linear function is $B$ times the sum of the absolute coefficients. So as $B \to 0$
#
# $$\frac{R(\ell \circ \mathcal F)}{R(\mathcal F_s)} \to \frac{\sum_s \mathbb E \bigl|\sum_i \epsilon_i c_{is}\bigr|}{\mathbb E \bigl|\sum_i \epsilon_i\bigr|} \approx \sqrt{K - 1} ,$$
#
# if every word is the true one equally often. To see the approximation, note that over $i$ the squares of $c_{is}$ add up to $\frac mK (1 - \frac1K)$. So each of the $K$ sums in the numerator is about $\frac1K \sqrt{K - 1}$ times the sum in the denominator. If all sentences mask the same word, the ratio is only $2 (1 - \frac1K)$. So the factor for $K$ words depends on the words that occur. The next table has the ratio in both cases. If its first column fell far below the second, the lower bound would be in doubt.


# %%
def one_word(K):
    """Ratio if all sentences mask word 0: all gradients are then alike."""
    return masked_words.gradient(torch.zeros(K).double(), torch.tensor(0)).abs().sum().item()


price = pd.DataFrame(
    {
        K: {
            "every word equally often": masked_words.every_input_alike(K, copies),
            "root of K - 1": math.sqrt(K - 1),
            "the same word": one_word(K),
        }
        for K in (2, 4, 16, 64, 256)
    }
).T.rename_axis("K")
caption = (
    "Complexity of the loss over that of one word, constant scores, B to 0, by the masked words"
)
table(price, caption, form=".3f")

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
root = price["root of K - 1"]
masking.holds(
    "constant scores: least ratio of the complexity of the loss to $\\sqrt{K - 1}$ times "
    "that of one word, on the worst sample; control: all sentences mask the same word",
    (price["every word equally often"] / root).min(),
    at_least=0.95,
    control=(price["the same word"] / root).min(),
    about="ours",
    evidence="attained",
)

# %% [markdown]
# The first column follows $\sqrt{K-1}$ closely, so the factor $\sqrt K$ in (2) cannot be removed. The last column stays below 2 for every $K$.
#
# **An adversary.** Does (2) need its logarithms? We leave them out, and look for classes that then need a large constant $C$. Each word's scores on the $m$ sentences are one of two lists, chosen independently for each word, so that there are $2^K$ functions. A local search changes the lists so as to raise the ratio of both sides. For the worst sample on the right side we take the sample itself, or $m$ copies of one of its inputs. So the right side can only be too small, and the $C$ only too large. If a class needed a $C$ above 1, this would be a sign that the logarithms are needed. Another search tries to violate (3), which a ratio of its two sides above 1 would do.

# %% mystnb={"code_prompt_hide": "The search", "code_prompt_show": "The search"} tags=["hide-input"]


def worst_word(c, lists):
    """Lower bound on the largest complexity of one word's scores, over samples of m inputs."""
    m = lists.shape[-2]
    apart = (lists[..., 0, :, :] - lists[..., 1, :, :]).abs() / 2
    copied = masked_words.mean_absolute_sum(m) * apart.amax((-2, -1))
    return torch.maximum(c.word.amax(-1), copied)


def shares(lists, y):
    """Loss over the right side of (3), and of (2) with C = 1 and no logarithm."""
    c = masked_words.complexities(masked_words.product_class(lists), y)
    K = lists.shape[-1]
    return torch.stack(
        (c.loss / (2 * c.word.sum(-1)), c.loss / (2 * math.sqrt(K) * worst_word(c, lists)))
    )


rows = {}
for K, m in ((2, 2), (2, 6), (3, 3), (4, 4)):
    y = torch.arange(m) % K
    for which, name in enumerate(("loss over (3)", "C of (2), no logarithm")):

        def share(flat, K=K, m=m, y=y, which=which):
            return shares(flat.unflatten(-1, (2, m, K)), y)[which]

        start = rng.normal(starts, 2 * K * m) * rng.log_uniform(0.1, 10, starts, 1)
        end = covers.climb(share, lambda v: v, start, rng.generator, steps=200)
        rows.setdefault((K, m), {})[name] = share(end).max().item()
searched = pd.DataFrame(rows).T.rename_axis(["K", "m"])

# %% tags=["nbval-ignore-output"]
heads = {"loss over (3)": "left over right side of (3)"}
heads |= {"C of (2), no logarithm": "C that (2) needs without logarithms"}
table(
    searched.reset_index().rename(columns=heads), "Largest ratios that the search found", form=".3f"
)
loss, own, worst = masked_words.own_word(k_wide, B)
constants = {
    "searched": searched["C of (2), no logarithm"].max(),
    "own words, worst sample": loss / (2 * math.sqrt(k_wide) * worst),
    "constant scores": (price["every word equally often"] / (2 * price.index**0.5)).max(),
}
table(constants, "C that (2) needs without any logarithm, L = 2", form=".3f")

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input", "nbval-ignore-output"]
masking.repaired(
    "display (1) with the worst sample and without a logarithm: largest constant $C$ that "
    "any of our classes needs; control: the class's own sample in place of the worst",
    max(constants.values()),
    at_most=1,
    control=loss / (2 * math.sqrt(k_wide) * own),
    about="proof",
    evidence="searched",
)
masking.holds(
    "inequality (3): largest ratio of the complexity of the loss to $2 \\sum_s R(\\mathcal "
    "F_s)$; control: twice the complexity of one word in place of the sum",
    max(searched["loss over (3)"].max(), loss / (2 * k_wide * own)),
    at_most=1,
    control=loss / (2 * own),
    about="ours",
    evidence="proved",
)
glue(constant=max(constants.values()))

# %% [markdown]
# No class that we met needs a logarithm in (2), and the largest constant $C$ is {glue:text}`constant:.2f`. We do not know whether some class needs a logarithm.
#
# ## What the theorem then says
#
# The theorem stands once the worst sample is put into its proof. This section says what changes and what the bound for one layer then is.
#
# **Repair.** Put $\tilde R$ for $R$ on the right of (1). The step after (1) stays as it is, because Theorems 4.1 and 4.2 bound the complexity on every sample with $\|x\|_2 \le B_x$, and so on the worst one. A bound $r$ on $\max_s \tilde R(\mathcal F_s)$ may be put into (2), whose right side increases with it up to $\beta m e^{-p}$, where $p = \frac32 + \delta$. For a larger $r$ even the trivial bound $R(\ell \circ \mathcal F) \le \beta m$ is below $e^p r$. For one layer the result reads, divided by $m$,
#
# $$\frac1m R(\ell \circ \mathcal F) \le \tilde O(\sqrt K) \cdot O \biggl( B_w B_{W_c} L_\sigma B_{W_v} \Bigl[ \frac{2 B_x^2 \sqrt C}{\sqrt m} \Bigl( 1 + \ln \frac{\sqrt m}{2 B_x \sqrt C} \Bigr) + B_x \sqrt{\frac{\ln 2d}{m}} \Bigr] \biggr) .$$
#
# In this bound
#
# * $B_w$ bounds $\|w_s\|_1$ for every row $w_s$ of $W$, so it is the largest of these norms and not their sum;
# * $B_{W_c}$ and $B_{W_v}$ bound the 1-norms of the *columns* of $W_c$ and $W_v$, and not those of their rows, although the paper prints rows;
# * $C$ is a cover constant of the matrices $W_{QK}$, and the length $T$ of the sentences does not occur.
#
# All else is as in {prf:ref}`lengthfree-thm4-1`, *repaired*. There a layer is $h(X) = w^\top W_c^\top \sigma(W_v^\top u)$, where $u$ is the mean of the tokens with the weights of attention, $\sigma$ has the Lipschitz constant $L_\sigma$, and no token is longer than $B_x$. For several layers Theorem 4.2 has to be taken as repaired in {ref}`ch-multi-layer-bound`.
#
# The paper clips the loss, because a bound on the gap needs a bounded loss. With bounded norms clipping is not needed: if no score exceeds $b$ in absolute value, then $0 < \ell \le \log K + 2b$.
#
# ## What we found
#
# * Cross entropy has the Lipschitz constant 2 in the largest entry, as stated, and no smaller one, for every $K$; in the Euclidean norm it is $\sqrt 2$.
# * The inequality as displayed in the proof is false: on the given sample the factor can be $K$ up to logarithms, in the paper's own class. With the worst sample on the right the display is a theorem, so the conclusion of Theorem 5.1 stands.
# * The factor $\sqrt K$ cannot be avoided, because constant scores have it on every sample in which the words occur equally often, and therefore on the worst one. On one and the same sample $2K$ is true, without logarithms.
#
# ```{finding} lengthfree.thm5_1
# :title: The contraction in the proof needs the worst sample
# :group: proof
#
# **Statement.** Printed, a display in the proof of Theorem 5.1: $R(\ell \circ \mathcal F) \le \tilde O(\sqrt K) \max_s R(\mathcal F_s)$, both sides on the same sample, for cross entropy of a transformer's scores. Here $K$ is the number of words, $\mathcal F_s$ the class of the scores of word $s$, $w_s$ its row in the last matrix, and $\tilde O$ hides a constant $C$ and logarithms to the power $\frac32 + \delta$, for any $\delta > 0$.
#
# **Counterexample.** Take $K$ one-hot inputs, each with a masked word of its own, and rows with $\|w_s\|_1 \le B$. At $K$ = {glue:text}`k_wide:,.0f` the ratio is {glue:text}`own_wide:,.0f`, where $\sqrt K$ is {glue:text}`root_wide:,.0f`. It grows like $K$ to the power {glue:text}`power_own:.2f`, whereas the display with all logarithms at $\delta = 1$ allows {glue:text}`power_allowed:.2f` there, and $\frac12$ in the limit. If $C = 1$ and $B =$ {glue:text}`size:g`, all logarithms hide the difference below {glue:text}`cross_one:.1f` million words at $\delta = 1$, and below {glue:text}`cross_half:,.0f` at $\delta = \frac12$. The growth contradicts the display for every $C$ and $\delta$.
#
# **Why.** The contraction theorem that is quoted has the worst sample on its right side. On the given sample each word's scores can be tied to one sentence, while the loss depends on all sentences.
#
# **Repair.** Take the largest complexity of one word over all samples of $m$ inputs, $\max_s \tilde R(\mathcal F_s)$, or on the given sample $2 \sum_s R(\mathcal F_s)$.
#
# **What survives.** Theorem 5.1 itself, because Theorem 4.1, and for several layers Theorem 4.2 as repaired, bound the complexity on every sample, hence on the worst. The Lipschitz constant 2 survives too, as the best one, and no $T$ enters.
# ```
#
# ## What would falsify this
#
# * *The lemma on the loss* would be false if a pair of score vectors had a ratio above 2, as such pairs have in the control, where the softmax has the temperature $\frac12$.
# * *That 2 is the least constant* would be false if the ratios of the sequence stayed below some number less than 2, as they do in the control, which moves the true word alone.
# * *Display (1)* would stand if the power of $K$ on the own sample were one that the logarithms allow; the control is the worst sample.
# * *The repair* would not be contradicted by a class that needs $C > 1$ without a logarithm, but such a class would show that the logarithms may be needed. Here the control is the own sample.
# * *The lower bound of $\sqrt{K - 1}$* would fail if constant scores had a smaller ratio; in the control all sentences mask the same word.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input", "nbval-ignore-output"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# The paper has no experiment on masked words, and no code of this part.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-masking-two
#
# *By hand.* Take the class of the own sample with $B = 1$. Put $K = 2$ and $K = 3$ into the formula for $R(\ell \circ \mathcal F)$, and divide by $R(\mathcal F_s) = 1$. For which of the two is the ratio above $\sqrt K$?
# ```
#
# ```{solution} ex-masking-two
# :class: dropdown
#
# For $K = 2$ the formula gives $\log \frac{1 + e}{1 + e^{-1}} = \log e = 1$, below $\sqrt 2$. For $K = 3$ it gives $\frac32 \log \frac{1 + 2e}{1 + 2 e^{-1}} = \frac32 \cdot 1.311 = 1.97$, which is above $\sqrt3 = 1.73$. So a factor of exactly $\sqrt K$ fails at three words already, and only the constants and logarithms in $\tilde O$ can hide this.
# ```
#
# ```{exercise}
# :label: ex-masking-bounded
#
# *With pencil and paper.* Suppose that no score exceeds $b$ in absolute value. By how much can the constant 2 be improved? Is it worth it for $b = 5$ and $K = 1000$?
# ```
#
# ```{solution} ex-masking-bounded
# :class: dropdown
#
# The gradient has the 1-norm $2 (1 - p_y)$, and $p_y \ge 1 / (1 + (K - 1) e^{2b})$, with equality at the score $-b$ for the true word and $b$ for the others. So the constant is $2 - 2 / (1 + (K - 1) e^{2b})$, and no smaller one. For $b = 5$ and $K = 1000$ that is $2 - 9 \cdot 10^{-8}$, so it is not worth the effort.
# ```
#
# ```{exercise}
# :label: ex-masking-run
#
# *With the computer.* Run this chapter with a vocabulary twice as large, `python -m bookkit.run lengthfree/word_masking -p k_wide 33554432 --out my_run`. Predict first how much the ratio that is needed and $\sqrt K$ will grow. Then vary the size $B$ of the scores: does a class with tiny scores satisfy (1)?
# ```
#
# ```{solution-start} ex-masking-run
# :class: dropdown
# ```
#
# The class can be solved for every $K$ and $B$, so a table is quickly made.

# %%
answers = {}
for K in (k_wide, 2 * k_wide):
    ratios_by_size = {}
    for size in (0.01, 1.0, 4.0):
        loss_by_size, word_by_size, _ = masked_words.own_word(K, size)
        ratios_by_size[f"B = {size:g}"] = loss_by_size / word_by_size
    answers[K] = {"root of K": math.sqrt(K)} | ratios_by_size
answers = pd.DataFrame(answers).T.rename_axis("K")
table(answers, "Complexity of the loss over that of one word's scores, own sample", form=".4g")

# %% [markdown]
# The factor that is needed doubles, to $3.36 \times 10^7$, since it is nearly $K$. The square root grows only by $\sqrt 2$, to 5793, so the gap between the two grows like $\sqrt K$. The size of the scores hardly matters, because both sides are nearly proportional to $B$: tiny scores do not save (1).
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-masking-copies
#
# *To think about.* In the class of own words let every word be masked in $r$ sentences, so that $m = rK$. Does a larger sample bring (1) back?
# ```
#
# ```{solution} ex-masking-copies
# :class: dropdown
#
# It does not. For each word the signs of its $r$ sentences enter only by their sum, so both sides grow by the factor $\mathbb E |\epsilon_1 + \dots + \epsilon_r|$, and their ratio stays as it is. Only the worst sample changes, to $\mathbb E |\epsilon_1 + \dots + \epsilon_{rK}|$.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The theorem is from {cite:t}`lengthfree`. The contractions are those of {cite:t}`foster2019` and of {cite:t}`maurer2016`.
