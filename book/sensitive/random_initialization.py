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
# (ch-random-initialization)=
# # Untrained transformers are less sensitive than recurrent nets
#
# ```{verdict}
# Yes: before training, flips of single bits change the output's sign less often in the cited study's transformers than in three recurrent nets, if read where that study reads them. On strings of {glue:text}`bits` bits, with large weights, uniform from $-10$ to 10, on average {glue:text}`wide_deep_transformer:.2f` flips do so, compared with {glue:text}`wide_least:.2f` or more for the recurrent nets. With small weights this is mostly because signs are constant. Once medians are subtracted, this transformer is below the recurrent nets with large weights only, the paper's own in all three draws.
# ```
# **Needs** {ref}`ch-average-sensitivity`. **Read** 13 min. **Runs in** 40 s. **Source** printed.
#
# **Claim.** Before any training, transformers compute functions of low average sensitivity, lower than those of recurrent nets. The paper quotes this from Bhattamishra et al. (2023) and explains it by its Theorem 6. We find it for that study's transformer under both random draws of weights that we took from the study. Under PyTorch's own initialization the sign of this transformer is constant even more often than that of an LSTM.
#
# But it matters at which token the output of a transformer is read. The study reads it at an end symbol after the bits. If it is read at the last bit instead, whose own token reaches the output by the skip connections, the sign of the same net is more sensitive. With Xavier's weights it is then about as sensitive as that of an LSTM, and with PyTorch's much more sensitive.
#
# ## Why one should care
#
# Training starts from random weights, so it matters which functions random networks compute. If random transformers compute simple functions with a high probability, training starts near simple functions, and this could be one reason why large networks do not overfit. Such a preference is often called a *simplicity bias*.
#
# The paper says more. It says that transformers are biased towards functions of low sensitivity, that is, functions whose value few flips of single bits change, and more so than recurrent nets. It also says why: by its theorem on brittleness, sensitive functions take up little of the space of weights. The claim is easy to state, but whether it is true depends on choices that the sentence leaves open, such as the size of the random weights and the place where the network is read.
#
# ## Two bits by hand
#
# A network gives every string $x$ of $n$ bits a number $T(x)$, and its sign is a function into $\{-1, 1\}$. The average sensitivity $\mathrm{as}(\operatorname{sign} T)$ is the number of bits whose flip changes the sign, averaged over all strings. It is 0 for a constant function, 1 for a function that copies one bit, $n$ for parity, and $n/2$ on average for a random function. Let a random network on two bits have these outputs:
#
# | string | 00 | 01 | 10 | 11 | average sensitivity of the sign |
# |:--|:--|:--|:--|:--|:--|
# | $T$ | 0.71 | 0.69 | 0.68 | 0.72 | 0 |
# | $T$ minus its median, 0.70 | 0.01 | $-0.01$ | $-0.02$ | 0.02 | 2 |
#
# The outputs hardly move around a number that is far from 0, as is typical of small weights. So the sign is the same everywhere, and its average sensitivity is 0. But as soon as the median is subtracted the sign is the parity of the two bits, the most sensitive function that there is. Both numbers belong to the same network: the first says that the sign is constant, and the second says how the outputs depend on the bits. So we compute both for every network of this chapter.
#
# ## The statement
#
# ```{prf:remark} Hahn and Rofin (2024), Section 6, random initialization
# :label: sensitive-init
# Randomly initialized transformers "empirically show low average sensitivity, more so than recurrent networks" (quoted there from Bhattamishra et al., 2023).
# ```
#
# **Why it should be so.** The paper says that by the proof of its Theorem 6 "high-sensitivity transformers can only inhabit a small volume in parameter space". The next proposition says in which sense this is true. It starts from {prf:ref}`brittle-repaired`, which bounds the average sensitivity $\mathrm{as}_n$ on strings of $n$ bits, in the mean over random steps of a fixed length from a network $\theta$, by a number that does not depend on $n$. In the proposition $D$ is the number of weights that are drawn, and $L$ the number of layers.
#
# ```{prf:proposition} A small volume (ours)
# :label: random-small-volume
# Under the assumptions of {prf:ref}`brittle-repaired`, draw weights uniformly from the ball of radius $R$ around $\theta$. Let $K$ be the bound of that theorem for steps of length $R$. For every $c > 0$ the share of weights with $\mathrm{as}_n \ge c n$ is at most
#
# $$\frac{D}{D - L} \cdot \frac{K}{c\, n} .$$
# ```
#
# **The idea of the proof.** A random point of a ball is a random step of a random length from the centre. The theorem bounds the mean sensitivity after a step, and where the mean is small against $n$, few points can have a sensitivity in proportion to $n$.
#
# **Proof.**
#
# 1. *On a sphere.* Given its distance $r \le R$ from $\theta$, the point is uniform on a sphere of radius $r$. So by {prf:ref}`brittle-repaired` its mean sensitivity is at most the bound of that theorem for steps of length $r$.
# 2. *From $r$ to $R$.* That bound depends on the length of the step through the factor $Q$, which is proportional to $r^{-L}$, and through sizes of weights, which are largest for $r = R$. So the mean sensitivity is at most $K\, (R/r)^L$.
# 3. *Over the ball.* In a ball of $D$ dimensions $\mathbb E\, (R/r)^L = \frac D{D - L}$, so the mean sensitivity over the ball is at most $\frac D{D - L} K$. By Markov's inequality it is $c\,n$ or more on at most the share in the proposition. $\square$
#
# The share therefore vanishes as strings grow. A recurrent net has no such bound, because its state can pass every bit on to the end.
#
# The proposition does not settle the question of this chapter, for two reasons. It is about long strings, while those below are short. And its proof uses the random biases before each layer norm, so that it covers none of the three draws of weights below: two of them have no biases, and the third, PyTorch's, is not uniform in a ball and has no bias in front of some of the layer norms. The check below is of the third step of the proof only, the integral.
#
# **What could deceive.** The sentence of the paper does not say how large the weights are. With small weights the outputs hardly move, as in the example. Then the sign is constant for a trivial reason, and the mean over nets says how often this happens and not what the nets compute. So we measure a second number. From the outputs $T$ of each net we subtract their median over all strings, so that the sign is 1 on half of the strings. Such a *balanced* function has average sensitivity at least 1, as the first exercise shows.

# %% tags=["parameters"]
bits = 7  # of a string [5..10]
nets = 300  # random nets of each kind [200..3000]
width = 32  # columns of a transformer, units of a state [16..64]
seed = 0  # of everything random [0..100000]

# %% [markdown]
# ## Nets and draws
#
# To test the sentence we draw many random nets of several kinds, and compute the average sensitivity of the sign of each. We take two transformers and three recurrent nets:
#
# * the *transformer of the paper*, which has two layers of two heads and layer norm after each block. It is read at the last bit, as in the paper's experiments;
# * the transformer of the cited study, called *deep* here. It has four layers of one head and norms before each block. Its tokens are multiplied by the root of the width before positions are added to them. As in the study, it is read at an end symbol after the bits, which has an embedding of its own;
# * an *LSTM*, a *GRU* and a plain *RNN* with tanh, each of two layers. As in the study, they are read at the last bit.
#
# The weights are drawn in three ways:
#
# * *wide*: all weights are uniform from $-10$ to 10, and there are no biases, as in the cited study;
# * *Xavier*: matrices are normal, with variance 2 over the sum of their two sizes, embeddings are standard normal, and there are no biases. This draw is in that study, too;
# * *PyTorch*: weights and biases are drawn as PyTorch's layers draw them, with two differences. PyTorch's encoder starts with equal layers, whereas our layers are drawn independently. PyTorch also draws the bias of the read-out, which is 0 in our transformers. The models of {ref}`ch-sharpness-vs-length` start from this draw.
#
# If the paper's sentence is true, the transformers have the smaller numbers. A transformer whose sign comes near the number of random functions would speak against the sentence's first half. A recurrent net below a transformer would speak against its second half, for this transformer and this draw.

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
from statistics import median_high

import torch

from bookkit import Ledger, figures, glue, table
from helpers.cube import average_sensitivity
from helpers.rng import Rng, seed_of
from helpers.statistics import average, difference
from papers.sensitive import random_nets
from papers.sensitive.random_nets import DRAWS, NETS, RECURRENT, TRANSFORMERS

ledger, source = Ledger("sensitive/random_initialization"), Rng(seed).generator
low, recurrent = ledger.result("sensitive.init.low"), ledger.result("sensitive.init.recurrent")
D, L = 10_000, 2  # numbers in a step, layers
r = (torch.arange(1e6).double() + 0.5) / 1e6  # distances from the centre, over R
in_ball = (D * r ** (D - 1) * r**-L).mean()  # density of r, times (R / r)^L
ledger.result("sensitive.small_volume").holds(
    "uniform in the ball in place of the sphere, $D = 10^4$ weights and $L = 2$: ratio of "
    "the mean of $(R/r)^L$ to $D/(D - L)$; control: uniform radii from 0.01 on",
    in_ball / (D / (D - L)),
    equals=1,
    tol=1e-4,
    control=(r[r > 0.01] ** -L).mean(),
    about="statement",
    evidence="proved",
)

# %%
sign, balanced = {}, {}
for draw in DRAWS:
    for net in NETS:
        T = random_nets.outputs(net, draw, bits, nets, source, width=width)
        sign[net, draw] = random_nets.sign_sensitivity(T)
        balanced[net, draw] = random_nets.sign_sensitivity(random_nets.balanced(T))
more = Rng(seed_of("random_initialization", seed)).generator
for net in ("deep transformer", "LSTM"):  # nearly all constant: more nets, to tell them apart
    T = random_nets.outputs(net, "PyTorch", bits, 2 * nets, more, width=width)
    sign[net, "PyTorch"] = torch.cat((sign[net, "PyTorch"], random_nets.sign_sensitivity(T)))
    more_balanced = random_nets.sign_sensitivity(random_nets.balanced(T))
    balanced[net, "PyTorch"] = torch.cat((balanced[net, "PyTorch"], more_balanced))

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Average sensitivity of random nets, by the draw of their weights: mean over nets with 95 % intervals. Left, of the sign of the output; right, of the sign of the output minus its median. The grey line is that of random functions.", "name": "fig-random-nets"}, "image": {"alt": "Two panels with three groups of marks, one group a draw of weights. Left, with wide weights all recurrent nets lie far above both transformers; with Xavier's weights and with PyTorch's the deep transformer lies lowest, close to 0, in the last group with the LSTM just above it, and the paper's transformer is among the recurrent nets. Right, both transformers lie below all recurrent nets with wide weights; in the other two groups the deep transformer lies above all recurrent nets, and the paper's transformer below all of them."}} tags=["hide-input"]
fig, axes = figures.new(1, 2, height=3.2, sharey=True)
order = ("wide", "Xavier", "PyTorch")
for ax, values in zip(axes, (sign, balanced), strict=True):
    for i, net in enumerate(NETS):
        means = [average(values[net, draw]) for draw in order]
        middle = [e.value for e in means]
        error = [[e.value - e.low for e in means], [e.high - e.value for e in means]]
        at = torch.arange(len(order)) + 0.13 * (i - 2)
        ax.errorbar(at, middle, error, **figures.marker_style(i, capsize=3, label=net))
    figures.level(ax, bits / 2, "random functions")
    ax.set(xlabel="draw of the weights", ylim=(0, 0.55 * bits))
    ax.set_xticks(range(len(order)), order)
axes[0].set(ylabel="average sensitivity (bits)", title="sign of $T$")
axes[1].set(title="sign of $T$ minus its median")
axes[0].legend(loc="upper right", bbox_to_anchor=(1, 0.9))
figures.show()

# %% [markdown]
# ## The numbers
#
# First look at the left panel of {numref}`fig-random-nets`, the sign itself. With wide weights the two transformers lie far below the recurrent nets. In the other two draws the deep transformer is the lowest, close to 0, whereas the paper's transformer is among the recurrent nets.
#
# In the right panel, where medians are subtracted, both transformers are lowest with wide weights. In the other two draws the paper's transformer is still the lowest of all, whereas the deep one is the highest.
#
# The table has the numbers. *Constant* is the share of nets whose sign is the same for all strings, and *sign* and *balanced* are average sensitivities, as means over nets.

# %% mystnb={"code_prompt_hide": "Table", "code_prompt_show": "Table"} tags=["hide-input", "nbval-ignore-output"]
constant = {key: (values == 0).double().mean().item() for key, values in sign.items()}
kinds = [(net, draw) for draw in order for net in NETS]
table(
    {
        "draw": [draw for _, draw in kinds],
        "net": [net for net, _ in kinds],
        "constant": [constant[kind] for kind in kinds],
        "sign": [f"{average(sign[kind]):.2f}" for kind in kinds],
        "balanced": [f"{average(balanced[kind]):.2f}" for kind in kinds],
    },
    "Untrained nets, with 95 % intervals",
    form=".2f",
)
mean = {
    f"{draw}_{net}".replace(" ", "_"): values.mean().item() for (net, draw), values in sign.items()
}
glue(
    **mean,
    bits=bits,
    nets=nets,
    PyTorch_difference=f"{difference(sign['deep transformer', 'PyTorch'], sign['LSTM', 'PyTorch']):.2f}",
    half=bits / 2,
    wide_least=min(mean[f"wide_{net}"] for net in RECURRENT),
    constant_LSTM=100 * constant["LSTM", "PyTorch"],
    constant_transformer=100 * constant["transformer", "PyTorch"],
    constant_deep=100 * constant["deep transformer", "PyTorch"],
    **{
        f"balanced_{draw}_{net}".replace(" ", "_"): balanced[net, draw].mean().item()
        for draw in order
        for net in ("deep transformer", "LSTM")
    },
)

# %% [markdown]
# **Are they low?** In every draw the sign of both transformers has less than half the average sensitivity of random functions, which is {glue:text}`half:.1f`. The check takes the upper end of an interval, at the worst draw and transformer, and its control is random functions themselves. But two observations weaken this finding. In the two draws of small weights the recurrent nets pass this test as well. And four of the six balanced signs do not pass it: that of the paper's transformer with wide weights, and those of the deep one in all three draws, which have 0.5 to 0.7 of the value of random functions. So this half of the sentence, too, is about the plain sign.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
coins = 2.0 * torch.randint(0, 2, (nets, 2**bits), generator=source) - 1
low.reproduced(
    "average sensitivity of the signs of random transformers in units of $n/2$, the value "
    "of random functions, upper end of the interval of the worst draw; control: random "
    "functions",
    max(average(sign[net, draw]).high for net in TRANSFORMERS for draw in DRAWS) / (bits / 2),
    at_most=0.5,
    control=average(average_sensitivity(coins.double())).high / (bits / 2),
    about="experiment",
    evidence="sampled",
)

# %% [markdown]
# **Are they lower than those of recurrent nets?** We first compare the signs, and then the balanced signs. The average sensitivity of the sign, as a mean over nets, is in each draw:
#
# | draw | deep transformer, at its end symbol | LSTM | GRU | RNN | paper's transformer, at its last bit | deep transformer, at the last bit |
# |:--|:--|:--|:--|:--|:--|:--|
# | wide | {glue:text}`wide_deep_transformer:.2f` | {glue:text}`wide_LSTM:.2f` | {glue:text}`wide_GRU:.2f` | {glue:text}`wide_RNN:.2f` | {glue:text}`wide_transformer:.2f` | {glue:text}`last_bit_wide:.2f` |
# | Xavier | {glue:text}`Xavier_deep_transformer:.2f` | {glue:text}`Xavier_LSTM:.2f` | {glue:text}`Xavier_GRU:.2f` | {glue:text}`Xavier_RNN:.2f` | {glue:text}`Xavier_transformer:.2f` | {glue:text}`last_bit_Xavier:.2f` |
# | PyTorch | {glue:text}`PyTorch_deep_transformer:.2f` | {glue:text}`PyTorch_LSTM:.2f` | {glue:text}`PyTorch_GRU:.2f` | {glue:text}`PyTorch_RNN:.2f` | {glue:text}`PyTorch_transformer:.2f` | {glue:text}`last_bit_PyTorch:.2f` |
#
# *The sign of the deep transformer*, read at its end symbol, has a lower average sensitivity than that of any recurrent net, in all three draws. The difference is large in the study's two draws. In PyTorch's draw that from the LSTM is small, because there nearly all signs of both are constant: that of the deep transformer in {glue:text}`constant_deep:.0f` % of the nets, and that of the LSTM in {glue:text}`constant_LSTM:.0f` %. Because so few signs change, {glue:text}`nets` nets are too few to distinguish these two, and so we took three times as many of each. Their difference is {glue:text}`PyTorch_difference`. Further nets, 1800 of each with other seeds, had 0.05 and 0.12.
#
# *The sign of the paper's own transformer*, which is read at its last bit, is less sensitive than those of all recurrent nets with wide weights, but not in the other two draws. The token at which a net is read matters for the deep transformer too, as the last column shows. If it is read at the last bit, it cannot be distinguished from the LSTM with Xavier's weights, and with PyTorch's it is far above the LSTM.
#
# *The balanced signs* have another order where weights are small. Again we give the average sensitivities, those of the other nets being in the table above:
#
# | draw | deep transformer, at its end symbol | LSTM | deep transformer, at the last bit |
# |:--|:--|:--|:--|
# | wide | {glue:text}`balanced_wide_deep_transformer:.2f` | {glue:text}`balanced_wide_LSTM:.2f` | {glue:text}`last_balanced_wide:.2f` |
# | Xavier | {glue:text}`balanced_Xavier_deep_transformer:.2f` | {glue:text}`balanced_Xavier_LSTM:.2f` | {glue:text}`last_balanced_Xavier:.2f` |
# | PyTorch | {glue:text}`balanced_PyTorch_deep_transformer:.2f` | {glue:text}`balanced_PyTorch_LSTM:.2f` | {glue:text}`last_balanced_PyTorch:.2f` |
#
# The deep transformer, read at its end symbol, is now less sensitive than the LSTM with wide weights only. So for this transformer, where weights are small, the paper's sentence is about how often a sign is constant, and not about how the outputs depend on the bits.
#
# Other readings give another answer. The paper's own transformer, balanced, is below all three recurrent nets in every draw. So is the deep transformer if it, too, is read at the last bit.
#
# *Ties.* Some outputs tie at the median, and then the sign may not be exactly balanced. With wide weights outputs tie in about half of the nets of the paper's transformer, and in about a third of its nets of this draw the sign is therefore not exactly balanced. Outputs that differ from the median by less than $10^{-9}$ of the largest count as tied, because rounding could decide their sign.


# %%
def above(deep):
    """The deep transformer's mean minus a recurrent net's: largest upper end of draws and nets."""
    return max(
        difference(values, sign[net, draw]).high
        for draw, values in deep.items()
        for net in RECURRENT
    )


at_the_end = {draw: sign["deep transformer", draw] for draw in ("wide", "Xavier")}


def shuffled():
    """As many nets of each of the study's draws, of any of the four kinds."""
    pools = {
        d: torch.cat([sign[k, d] for k in ("deep transformer", *RECURRENT)]) for d in at_the_end
    }
    return {d: v[torch.randperm(len(v), generator=mixing)[:nets]] for d, v in pools.items()}


mixing = torch.Generator().manual_seed(seed)
for draw in DRAWS:
    kind = ("deep transformer", draw, bits, nets, source)
    T = random_nets.outputs(*kind, width=width, end_symbol=False)
    for name, values in (("last_bit", T), ("last_balanced", random_nets.balanced(T))):
        glue(**{f"{name}_{draw}": random_nets.sign_sensitivity(values).mean().item()})
recurrent.reproduced(
    "average sensitivity of the study's transformer less that of a recurrent net, worst "
    "pair of its two draws and the nets, upper end of its interval; control: nets of a draw"
    " shuffled",
    above(at_the_end),
    at_most=0,
    control=median_high([above(shuffled()) for _ in range(25)]),
    about="experiment",
    evidence="sampled",
)

# %% [markdown]
# ## What we found
#
# * *The quoted study.* The sentence is reproduced for the study that it quotes: the study's transformer, read at the end symbol, is less sensitive than all three recurrent nets in both of its draws. It is also the least sensitive as PyTorch draws weights, where its sign and that of the LSTM are constant in about nine nets of ten.
# * *Constant signs.* With small weights the plain sign mostly compares how often a net is constant. Once the median is subtracted, the transformer of the study is more sensitive than an LSTM in two of the three draws. The paper's own transformer, however, is below the recurrent nets in all three, and so is that of the study if it is read at the last bit.
# * *The place of reading.* The plain sign of the paper's own transformer, read at its last bit, is below the recurrent nets with wide weights only.
# * *The reason.* That Theorem 6 is the reason is not shown here, because the theorem is about long strings and these are short.
#
# ## What would falsify this
#
# The first half of the sentence would not be reproduced if the average sensitivity of a transformer's sign exceeded half that of random functions in some draw. The second half would not be reproduced if in one of the study's draws the sign of some recurrent net were not more sensitive than that of the study's transformer. As a control, the nets of a draw are shuffled among the four kinds, so that no kind can be less sensitive than another but by chance.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input", "nbval-ignore-output"]
ledger.show()

# %% mystnb={"code_prompt_hide": "Verdicts", "code_prompt_show": "Verdicts"} tags=["hide-cell"]
ledger.verdicts()

# %% [markdown]
# ## What the authors' code does differently
#
# The repository `lacoco-lab/sensitivity-hardness` of the paper has no such experiment. So we read `satwik77/Transformer-Simplicity`, the repository of the cited study.
#
# * **Where a net is read.** It appends an end symbol to each string and reads the transformer there, and recurrent nets at their last bit. We do the same for the deep transformer; the paper's own transformer is read at the last bit.
# * **Width.** Its defaults are 64 columns, and strings of 10 bits for transformers and of 20 for recurrent nets. Our nets have {glue:text}`bits` bits and the width of the parameters cell. In a trial with 64 columns and 10 bits the study's transformer was again below the recurrent nets. With wide weights it had 0.14 ± 0.07, and the recurrent nets 2.7 and more; with Xavier's it had 0.07 ± 0.08, and they 0.56 and more.
# * **Scale.** It divides the average sensitivity by the length of the strings.
# * **Read-out.** It compares a sigmoid with one half, which is the same as taking the sign, and its read-out has no bias. Our wide and Xavier draws have no bias either, but in PyTorch's draw the recurrent nets have one.
# * **One more draw.** It also has normal weights of standard deviation 10, with embeddings and read-outs of deviation 1, in two layers of eight heads.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-random-balanced
#
# *By hand.* Show that a function into $\{-1, 1\}$ that is 1 on half of all strings has average sensitivity at least 1. Which functions have exactly 1?
# ```
#
# ```{solution} ex-random-balanced
# :class: dropdown
#
# In terms of Fourier coefficients $\mathrm{as}(f) = \sum_S |S| \hat f(S)^2$, and $\sum_S \hat f(S)^2 = 1$. Since $f$ is balanced, $\hat f(\emptyset) = 0$, so every term that is left has $|S| \ge 1$. If there is equality, only characters of one bit have a coefficient that is not 0, so $f$ is linear. A flip of bit $i$ moves $f$ by $\pm 2$ times the coefficient of this bit, and since $f$ has only the values $\pm 1$, this is 0 or $\pm 2$. So each coefficient is 0 or $\pm 1$, and because their squares sum to 1, $f$ is $\pm x_i$ for one $i$.
# ```
#
# ```{exercise}
# :label: ex-random-longer
#
# *With the computer.* Take longer strings, by `python -m bookkit.run sensitive/random_initialization -p bits 10 --out my_run`. Random functions then have the average sensitivity 5 in place of 3.5. Which of the nets grow in proportion to the length, and which do not? Is the order of the nets the same?
# ```
#
# ```{solution-start} ex-random-longer
# :class: dropdown
# ```
#
# With wide weights the recurrent nets grow nearly in proportion: the LSTM goes from 2.57 to 3.66, while random functions go from 3.5 to 5. The wide deep transformer goes only from 0.36 to 0.42. With Xavier's and with PyTorch's weights no net grows much, with or without the median, so there all of them fall behind random functions as the strings become longer. The order of the nets is the same but for small differences: the deep transformer is lowest in the study's two draws, and balanced it is above the LSTM in the two draws of small weights. In PyTorch's draw it is below the LSTM at both lengths, because its sign is constant more often.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-random-scale
#
# *To think about.* Multiply the read-out of a random network by 100. Which of the two numbers change, that of the sign and that of the balanced sign? Now add a random number to every output of the network instead, the same for all strings. Which of the two numbers is a property of how the network depends on its input, and which one would you report?
# ```
#
# ```{solution} ex-random-scale
# :class: dropdown
#
# A factor changes no sign, with or without the median, so both numbers stay. A shift changes the number of the sign, and if it is large, every network becomes constant. It does not change the number of the balanced sign, since the median moves with the outputs. So only the second number is a property of the way in which outputs depend on inputs. But the sign is what a classifier uses, bias included, so one should report both and say how many networks are constant.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The sentence is from {cite:t}`sensitive`, the study from {cite:t}`bhattamishra2023`.
