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
# (ch-your-network)=
# # What do these measures say of my own network?
#
# ```{verdict}
# One call takes the measures of the first two papers of your own network, also of one that nobody here wrote. They say how many bit flips change its answer, which degrees its function has, how sharp its loss is, and how much its layer norms magnify. On a hand-written PARITY transformer it returns the numbers that the chapters prove, such as a trace of {glue:text}`trace_written:.0f`. PyTorch's own encoder, trained here on MAJORITY, computes a function of average sensitivity {glue:text}`sensitivity_majority:.1f` on {glue:text}`bits` bits, whereas PARITY has the average sensitivity {glue:text}`bits`.
# ```
# **Needs** {ref}`ch-average-sensitivity`, {ref}`ch-sharpness`, {ref}`ch-layer-norm-blowup`. **Read** 20 min. **Runs in** 25 s. **Source** ours.
#
# **Claim.** The measures of the first two papers are defined for any network of bits, not only for the networks of the papers. The function `probe` evaluates them for a network that you bring. With at most 20 bits it goes through all strings, so that sensitivity and Fourier weights are exact. For longer strings, and for everything about the weights from 9 bits on, it draws strings and says how large the sampling error is.
#
# ## Why one should care
#
# The chapters of this book measure small transformers that were chosen because something can be proved about them. A reader who trains models asks what the same numbers are for a model of their own. The bounds of the papers rarely apply to such a model, because it has residual connections, several layers or layer norms in other places. But the measures do apply, and they tell whether the function that the model computes is simple, and whether its weights sit in a flat or a sharp place.
#
# ## Three bits by hand
#
# Take the function that answers with the majority of three signs. A flip of one sign changes the answer if and only if the other two differ, which happens for half of all strings. So each of the three influences is $\frac12$, and the average sensitivity, their sum, is $\frac32$. As a sum of parities the function is $\frac12 (x_1 + x_2 + x_3 - x_1 x_2 x_3)$, so the squares of its coefficients add up to $\frac34$ at degree 1 and to $\frac14$ at degree 3. The next lines ask `probe` for the average sensitivity, the influences and the weight at each degree. The function that `probe` is given returns the sum of the three signs, whose sign is the majority. At a quarter of the strings it is $\pm3$ where the target is $\pm1$, so the mean squared error is 1 although no sign is wrong.

# %% tags=["parameters"]
n = 9  # bits of the trained encoders and of the foreign networks [8..12]
steps = 200  # of training, each with 64 strings [200..1000]
seed = 0  # of all that is random [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import contextlib
import io
import json
import math
import os
import runpy
import shlex
import subprocess
import sys
import tempfile
import textwrap
import warnings
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pandas as pd
import torch
from torch import nn

from bookkit import Ledger, figures, glue, in_prose, table
from helpers import cube
from helpers.probe import TARGETS, probe
from helpers.rng import Rng, f64
from helpers.sharpness import SquaredLoss, hessian_trace
from papers.beyond import one_layer, probed
from papers.sensitive import blowup
from papers.sensitive.parity import HALF, SIGN, forward, parity_transformer
from papers.sharper.gradients import flat_function, traces
from papers.sharper.network import construct, construct_exact
from papers.sharper.tabulated import gradient_bound

ledger = Ledger("beyond/your_network")
law = ledger.result("beyond.probe")

# %%
by_hand = probe(lambda signs: signs.sum(-1), 3, "majority")
report = str(by_hand).splitlines()
print(*(row for row in report if not row.startswith("does not apply")), sep="\n")

# %% mystnb={"code_prompt_hide": "The last lines of the report", "code_prompt_show": "The last lines of the report"} tags=["hide-cell"]
for row in report:
    if row.startswith("does not apply"):
        print(textwrap.fill(row, 95, subsequent_indent="    "))

# %% [markdown]
# The report has the numbers of the example by hand. It measures nothing about weights, because a plain function has none. Its last lines, which are folded here, name the bounds that do not apply to this function, each with the reason.
#
# For a network of your own the call is the same. It takes any module or function that maps a batch of bits to one number, or to two logits, for each string. For example:
#
# ```python
# import torch
# from helpers.probe import probe
#
# model = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
# report = probe(model, 16, "parity", encoding="signs")
# print(report)
# report.figure()  # influences, weight by degree, sharpness
# report.as_dict()  # plain numbers, for JSON; report.series() is for pandas
# ```
#
# The section *Your own* further below explains the arguments, and what to keep in mind for a network that was trained elsewhere.
#
# ## PyTorch's own encoder
#
# Next come two networks from a library, which were not written for this book: `nn.TransformerEncoder` with two layers, two heads, 16 columns and layer norms after each block, read at its last token. Each is trained on this page, for one or two seconds. One is trained on MAJORITY of all bits and one on the PARITY of the first two. If the report is right, a trained network that is wrong at few strings must show nearly the sensitivity and the degrees of its target function, and one that is wrong at no string must show exactly these.


# %%
class Encoder(nn.Module):
    """PyTorch's encoder on tokens 0 and 1, read at the last token."""

    def __init__(self, n, width=16):
        super().__init__()
        self.token, self.place = nn.Embedding(2, width), nn.Embedding(n, width)
        layer = nn.TransformerEncoderLayer(width, 2, 32, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(width, 1)

    def forward(self, bits):
        places = torch.arange(bits.shape[1])
        return self.out(self.layers(self.token(bits) + self.place(places))[:, -1])[:, 0]


def trained(target):
    """An encoder trained on a function of bits, by AdamW on fresh strings."""
    torch.manual_seed(seed)
    model = Encoder(n).double()  # in single precision the digits would depend on the processor
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for _ in range(steps):
        bits = torch.randint(0, 2, (64, n))
        loss = (model(bits) - target(bits)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


# %%
goals = {
    "MAJORITY": TARGETS["majority"],
    "PARITY of two": lambda bits: 1 - 2 * (bits[:, 0] ^ bits[:, 1]),
}


def untrained(k):
    """The k-th of the encoders that nobody has trained."""
    torch.manual_seed(seed + k)
    return Encoder(n).double()


starts = []
for k in range(10):
    start = untrained(k)
    found = probe(lambda bits, start=start: start(bits), n, encoding="tokens", samples=8)
    starts.append(found.average_sensitivity.value)
given = {"encoding": "tokens", "samples": 512, "draws": 4, "seed": seed}
reports = {"untrained": probe(untrained(0), n, "majority", **given)}
for name, goal in goals.items():
    reports[name] = probe(trained(goal), n, goal, **given)

# %% [markdown]
# A network written by hand stands beside them, the PARITY transformer of {ref}`ch-brittle-transformers`, which computes PARITY exactly. `PostNorm` is its formula as a module of PyTorch, with the layer norms of PyTorch, so `probe` takes it like any other.
#
# The next table has these columns:
#
# * The *error rate* is the share of strings with the wrong sign.
# * The *average sensitivity* is the mean number of flips of one bit that change the sign, and the column after it has the largest such number at any string.
# * The *sharpness* is the mean squared change of the output after a random step of length 0.1 in the weights. Here it is a mean over four random steps, with a standard error of up to one half of the mean, so it cannot rank the three encoders.
# * The *trace* is twice the mean squared length of the gradient of the output in the weights. This is the part of the trace of the Hessian of the mean squared error that needs first derivatives only, its *Gauss-Newton part*. Where each output is equal to its target, it is the whole trace. Elsewhere the whole trace has a second part, and a report lists the whole trace too, where it can.
# * The last column is the largest factor by which a layer norm magnifies what it is given, on at most 256 strings.

# %%
written = probe(probed.PostNorm(*parity_transformer(8)), 8, "parity", **given)
shown = reports | {"written by hand, PARITY of 8": written}

# %% mystnb={"code_prompt_hide": "Table", "code_prompt_show": "Table"} tags=["hide-input", "nbval-ignore-output"]
rows = {
    name: {
        "error rate": r.error_rate[0],
        "average sensitivity": r.average_sensitivity.value,
        "largest": r.largest_sensitivity,
        "sharpness, step 0.1": in_prose(f"{r.direction_sharpness[0.1].value:.3g}"),
        "trace": r.trace["Gauss-Newton, all"].value,
        "largest magnification": max((v[0] for v in r.blow_up.values()), default=float("nan")),
    }
    for name, r in shown.items()
}
table(
    pd.DataFrame(rows).T.rename_axis("network"),
    "The same measures of four networks",
    form=".3g",
    none="-",
)

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Share of the squared Fourier coefficients at each degree, of the sign that a network puts out: PyTorch's encoder without training, trained on MAJORITY and on the PARITY of two bits, and the hand-written PARITY transformer on 8 bits.", "name": "fig-probed-degrees"}, "image": {"alt": "Four lines over the degree from 0 to the number of bits. The encoder without training has most weight at the lowest degrees, and the one trained on MAJORITY has most at degree 1. The one trained on a parity of two bits has all at degree 2. The hand-written one has all at degree 8."}} tags=["hide-input", "nbval-ignore-output"]
fig, ax = figures.new(height=2.6)
for i, (name, r) in enumerate(shown.items()):
    ax.plot(r.weight_by_degree, label=name, **figures.series_style(i))
ax.set(xlabel="degree", ylabel="share of weight")
ax.legend()
figures.show()

# %% mystnb={"code_prompt_hide": "Numbers for the text", "code_prompt_show": "Numbers for the text"} tags=["hide-input"]
steps_of = {name: r.direction_sharpness[0.1].value for name, r in reports.items()}
sharper_by = written.direction_sharpness[0.1].value / max(steps_of.values())
both_right = not any(reports[name].error_rate[0] for name in goals)
shares = " and ".join(f"{reports[name].error_rate[0]:.2g}" for name in goals)
wrong = f"are wrong at a share of {shares} of the strings"
glue(errors="are right at every string" if both_right else wrong)
glue(
    bits=n,
    trace_written=written.trace["Gauss-Newton, all"].value,
    sharp_written=written.direction_sharpness[0.1].value,
    sharp_ratio=int(float(f"{sharper_by:.2g}")),
    magnified_written=written.blow_up["norms.1"][0],
    sensitivity_majority=reports["MAJORITY"].average_sensitivity.value,
    sensitivity_two=reports["PARITY of two"].average_sensitivity.value,
    starts=len(starts),
    sensitivity_untrained=sum(starts) / len(starts),
    most_untrained=max(starts),
)

# %% [markdown]
# The first three rows of the table are the encoder of PyTorch. Without training it is insensitive, because its output varies little and its sign is the same at most strings. For {glue:text}`starts` random draws of its weights, {glue:text}`sensitivity_untrained:.2f` of the {glue:text}`bits` flips change its sign on average, and for the most sensitive of these draws {glue:text}`most_untrained:.2f` do. Training moves this number to that of the target function: {glue:text}`sensitivity_majority:.2f` for MAJORITY and {glue:text}`sensitivity_two:.2f` for the parity of two bits. Both trained networks {glue:text}`errors`.
#
# {numref}`fig-probed-degrees` shows at which degrees the Fourier weight lies. The line of MAJORITY has its peak at degree 1, because MAJORITY is close to a sum of single bits, and the line of the parity of two bits is a single peak at degree 2. The hand-written network is at the other end: all its weight is at the highest degree.
#
# The table shows something that no single column would. The trace of the hand-written network is of the same order as those of the encoders, and yet a step of length 0.1 in its weights changes its output by {glue:text}`sharp_written:.2g` in the mean square, some {glue:text}`sharp_ratio` times as much as for the encoder with the largest change. (Of this ratio only the order of magnitude can be trusted, because both changes are means over four random steps. As a mean over 400 steps the change of the hand-written network is 0.12, still some two thousand times as much.)
#
# The last column shows where this brittleness comes from. The layer norms of the encoders magnify hardly at all, whereas the last one of the hand-written network magnifies by up to {glue:text}`magnified_written:.0f`, and noise in its input with it. So networks whose traces are of the same order can differ much in how brittle they are. {ref}`ch-sharp-or-curved` proves that the trace of the hand-written network is 64 at every length, although small steps destroy its output on long strings.
#
# A report can also be drawn, by `report.figure()`. {numref}`fig-probed-report` is the one of the encoder trained on MAJORITY.

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "The report of PyTorch's encoder trained on MAJORITY, drawn by itself: influence of each position, share of the squared Fourier coefficients at each degree, and mean squared change of the output after a random step in the weights, with two standard errors, over the length of the step.", "name": "fig-probed-report"}, "image": {"alt": "Three panels. The bars of the influences have nearly the same height at every position. The bars of the weight are highest at degree 1. The sharpness rises steeply with the length of the step, on two logarithmic axes."}} tags=["hide-input", "nbval-ignore-output"]
reports["MAJORITY"].figure()
figures.show()

# %% [markdown]
# In the left panel the influences are nearly equal, as they must be for a function that treats all bits alike. In the right panel a step that is ten times as long makes the mean squared change of the output about one hundred times as large, as long as the output is nearly linear in the step.

# %% [markdown]
# ## A table of equalities
#
# Can the report be trusted? The best test is a function or a network whose numbers are proved. We begin with six functions that have names, each given to `probe` as a function of bits without weights:
#
# * PARITY and MAJORITY of nine bits.
# * TRIBES of three tribes of three bits, which is $-1$ if all bits of some tribe are ones.
# * ADDRESS of eleven bits, where the first three bits are the number of one of the eight others, and this other bit is the value.
# * The inner product of the first four bits with the last four, modulo 2. It is *bent*: all its Fourier coefficients have the same square, so that each parity or its opposite agrees with it at the same number of strings.
# * The lowest bit of the S-box of the cipher AES, a fixed table of 256 bytes. No formula is known to us for its coefficients, so each is computed as a sum of whole numbers over all strings.
#
# For each of the other five the average sensitivity and the weight at each degree have a closed form. If `probe` counted flips wrongly, or mixed up degrees, it would differ from these forms. So the last two columns of the table, the differences, must be 0 up to rounding.

# %%
functions = {
    "PARITY, $n$": (probed.parity(9), 9),
    r"MAJORITY, $n \binom{n-1}{(n-1)/2}\, 2^{1-n}$": (
        probed.majority(9),
        9 * math.comb(8, 4) / 2**8,
    ),
    r"TRIBES, $n\, 2^{-2} (1 - 2^{-3})^2$": (probed.tribes(3, 3), 9 / 4 * (7 / 8) ** 2),
    r"ADDRESS, $1 + \frac32$": (probed.address(3), 2.5),
    r"inner product, $\frac n2$": (probed.inner_product(4), 4),
    "S-box of AES, counted": (
        probed.aes_coordinate(0),
        probed.aes_coordinate(0).average_sensitivity,
    ),
}


def beside(named, wanted, function):
    """What is found of a function, beside what its closed form says."""
    report = probe(function, named.n, encoding="tokens", samples=8)
    found = report.average_sensitivity.value
    apart = f64(report.weight_by_degree) - f64(named.weights)
    return {"bits": named.n, "probe": found, "closed form": wanted} | {
        "difference": max(abs(found - wanted), 1e-16),  # rounding, 0 or not
        "largest difference of a weight": max(apart.abs().max().item(), 1e-16),
    }


def but_for_zeros(function):
    """Another function, which differs at the string of zeros alone."""
    return lambda bits: torch.where(bits.any(-1), 1, -1) * function(bits)


equal = {k: beside(named, wanted, named.function) for k, (named, wanted) in functions.items()}
moved = [beside(f, wanted, but_for_zeros(f.function)) for f, wanted in functions.values()]
equal = pd.DataFrame(equal).T.rename_axis("function, and its average sensitivity")
form = {"bits": ".0f", "probe": ".6g", "closed form": ".6g"}
table(equal, "Average sensitivity of functions with names", form=form, tiny=1e-12)

# %% [markdown]
# Each average sensitivity is exactly that of its formula, or of the count for the S-box, and the weights agree up to rounding at every degree.
#
# The second table is about networks that this book writes by hand. For each of them a chapter proves or computes some number, in most cases by another program than that of the probe:
#
# * *PARITY of 8 bits* from {ref}`ch-brittle-transformers`. By {ref}`ch-sharp-or-curved` the trace of its Hessian is 64 at every length, and larger if the read-out is tilted by a vector $v_\perp$ of length 0.001 that changes no output. Then the block of the last bias alone contributes $2 \|v_\perp\|^2\, \mathbb E[N^{-2}]$, where $N$ is the number by which the last layer norm divides the token that is read.
# * *MAJORITY of 5 bits* from {ref}`ch-layer-norm-blowup`, whose layer norm magnifies by $2 / |m|$, where $m$ is the mean of the signs. So the largest magnification is $2n$, and the mean is a sum over the number of ones.
# * *One head with four hidden units* from {ref}`ch-one-layer-parity`, which has the largest average sensitivity that such a network can have. By the formula of that chapter it is $A(8, 5)$, eight times the probability that a fair binomial of 7 trials takes one of its 5 most likely values.
# * *The first paper's network* from {ref}`ch-hessian-trace`, for the sum of all single bits of 5. There the trace is above the quoted bound $2 G_u$ if the scores are raised to 40, whereas the trace of the exact network is far below it.
#
# On at most 8 bits the report takes all strings, so its traces and magnifications have no sampling error.

# %% mystnb={"code_prompt_hide": "The networks", "code_prompt_show": "The networks"} tags=["hide-input"]
spec, weights = parity_transformer(8)
across = torch.zeros_like(weights["readout"])
across[SIGN], across[HALF + SIGN] = 0.001 / math.sqrt(2), -0.001 / math.sqrt(2)
tipped = weights | {"readout": weights["readout"] + across}
x = cube.bits(8)
loss = SquaredLoss(lambda w, x: forward(spec, w, x), x, 1 - 2.0 * (x.sum(1) % 2))
small = {"encoding": "tokens", "samples": 256, "draws": 2, "seed": seed}
tilted = probe(probed.PostNorm(spec, tipped), 8, "parity", **small)
inverse = blowup.run(spec, weights, x).given[-1].var(-1, correction=0).rsqrt()

majority = blowup.majority_transformer(5)
padded = replace(majority[0], norm_eps=1e-5), majority[1]  # as in PyTorch's own layer norm
votes, off_votes = (
    probe(probed.PostNorm(*net), 5, "majority", **small) for net in (majority, padded)
)
answers = one_layer.values(one_layer.alternating(8, 4))[0]
head = probe(lambda bits: answers[cube.index_of(bits)], 8, **small)
summed = flat_function(5, 1, 5, Rng(seed))
constructed = {}
networks = {"scores 40": construct(summed, (None, 40.0)), "exact": construct_exact(summed)}
for name, network in networks.items():
    model = probed.Construction(*network)
    report = probe(model, 5, lambda bits: summed.table()[cube.index_of(bits)], **small)
    constructed[name] = report.trace["Gauss-Newton, all"].value, traces(network, summed)[0]

# %% mystnb={"code_prompt_hide": "Table", "code_prompt_show": "Table"} tags=["hide-input"]
whole = "Gauss-Newton, all"
numbers = {
    ("PARITY of 8 bits", "average sensitivity"): (written.average_sensitivity.value, 8),
    ("PARITY of 8 bits", "weight at degree 8"): (written.weight_by_degree[8], 1),
    ("PARITY of 8 bits", "trace"): (written.trace[whole].value, 64),
    ("PARITY of 8 bits", "largest magnification"): (
        written.blow_up["norms.1"][0],
        inverse.max().item(),
    ),
    ("its read-out tilted", "trace"): (
        tilted.trace[whole].value,
        hessian_trace(loss, tipped, without="positions").value.item(),
    ),
    ("its read-out tilted", "last bias"): (
        tilted.trace["layers_1_output_bias"].value,
        2 * 0.001**2 * inverse[:, -1].square().mean().item(),
    ),
    ("MAJORITY of 5 bits", "largest magnification"): (votes.blow_up["norms.0"][0], 10),
    ("MAJORITY of 5 bits", "mean magnification"): (
        votes.blow_up["norms.0"][1],
        sum(math.comb(5, k) * 10 / abs(5 - 2 * k) for k in range(6)) / 2**5,
    ),
    ("one head, four units", "average sensitivity"): (
        head.average_sensitivity.value,
        one_layer.most_sensitive(8, 5),
    ),
    ("first paper, scores 40", "trace"): constructed["scores 40"],
    ("first paper, scores 40", "trace over 2 G_u"): tuple(
        v / (2 * gradient_bound(1, 5)) for v in constructed["scores 40"]
    ),
    ("first paper, exact", "trace"): constructed["exact"],
}
held = pd.DataFrame(numbers, ["probe", "chapter"]).T.rename_axis(["network", "number"])
held["difference, relative"] = (held["probe"] / held["chapter"] - 1).abs().clip(1e-16)
form = {"probe": ".6g", "chapter": ".6g"}
table(held, "Hand-written networks: the probe beside the chapters", form=form, tiny=1e-9)

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
law.holds(
    "ratio of the measured trace of the hand-written PARITY transformer of 8 bits to the "
    "proved 64; control: its read-out tilted by 0.001",
    written.trace[whole].value / 64,
    equals=1,
    tol=1e-6,
    control=tilted.trace[whole].value / 64,
    about="statement",
    evidence="attained",
)
law.holds(
    "the hand-written PARITY transformer of 8 bits: its average sensitivity in units of 8 "
    "or its weight at degree 8, the one farther from 1; control: MAJORITY of three",
    max(
        written.average_sensitivity.value / 8, written.weight_by_degree[8], key=lambda v: abs(v - 1)
    ),
    equals=1,
    tol=1e-9,
    control=by_hand.average_sensitivity.value / 3,
    about="statement",
    evidence="exhaustive",
)
differences = ["difference", "largest difference of a weight"]
law.holds(
    "five closed forms and one count: largest difference of the average sensitivity or of a "
    "weight; control: the least of these, with one value of each function changed",
    equal[differences].max().max(),
    equals=0,
    tol=1e-9,
    control=min(max(row[k] for k in differences) for row in moved),
    about="statement",
    evidence="exhaustive",
)
law.holds(
    "hand-written networks: largest relative difference of a number from that of its "
    "chapter; control: MAJORITY with $\\varepsilon = 10^{-5}$ in its layer norm",
    held["difference, relative"].max(),
    equals=0,
    tol=1e-7,
    control=abs(off_votes.blow_up["norms.0"][0] / 10 - 1),
    about="statement",
    evidence="attained",
)
glue(functions=len(equal), numbers=len(held), over=held["probe"].iloc[-2])

# %% [markdown]
# All {glue:text}`numbers` numbers of the table agree up to rounding, also the trace that is {glue:text}`over:.2f` times the bound of the first paper.
#
# ## Networks that nobody here wrote
#
# A reader will bring an architecture that this book never mentions. So we also measure four of the package `transformers`, each with two layers, 32 columns and the random weights that training would begin with: GPT-2 (causal attention, learned positions), BERT (attention in both directions), Llama (rotary positions, RMS norm) and Mamba, a recurrent network without attention. A linear map reads BERT at its first token, as its own classifiers do, and the others at the last token. The next cell writes the four into a file `my_networks.py`, as a reader would with networks of their own, and beside them an encoder of PyTorch without positions. Each is a *factory*, a function without arguments that makes a network.

# %%
SOURCE = """
import sys

sys.modules["torchvision"] = None  # transformers would import it, and there are no images here
import transformers as hf
from torch import nn

SIZES = {"vocab_size": 2, "hidden_size": 32, "num_hidden_layers": 2}
HEADS = {"num_attention_heads": 2, "intermediate_size": 64, "max_position_embeddings": 16}
ENDS = {"bos_token_id": 0, "eos_token_id": 0}

class Read(nn.Module):
    def __init__(self, body, at):
        super().__init__()
        self.body, self.at, self.out = body, at, nn.Linear(32, 1)
        self.double()

    def forward(self, tokens):
        return self.out(self.body(input_ids=tokens).last_hidden_state[:, self.at])[:, 0]

def gpt2():
    config = hf.GPT2Config(vocab_size=2, n_embd=32, n_layer=2, n_head=2, n_positions=16, **ENDS)
    return Read(hf.GPT2Model(config), -1)

def bert():
    return Read(hf.BertModel(hf.BertConfig(**SIZES, **HEADS), add_pooling_layer=False), 0)

def llama():
    return Read(hf.LlamaModel(hf.LlamaConfig(**SIZES, **HEADS, **ENDS)), -1)

def mamba():
    return Read(hf.MambaModel(hf.MambaConfig(state_size=8, **SIZES, **ENDS)), -1)

class Last(nn.Module):
    def forward(self, columns):
        return columns[:, -1]

def encoder():
    layer = nn.TransformerEncoderLayer(32, 2, 64, batch_first=True)
    body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    return nn.Sequential(nn.Embedding(2, 32), body, Last(), nn.Linear(32, 1)).double()
"""
folder = tempfile.TemporaryDirectory()
_ = Path(folder.name, "my_networks.py").write_text(SOURCE, encoding="utf-8")

# %% [markdown]
# ### By a command
#
# With such a file no further code is needed, because `helpers.probe` is also a command, which works from any folder in the environment of this book. It takes the name of the file, without its ending `.py`, and that of the factory, draws the weights from its seed, and prints the report. The next cell runs the command on GPT-2 with strings of five bits, in a process of its own. The lines on bounds that do not apply are left out here.


# %%
def shell(line):
    """Run a command in the folder, and print what it prints but for bounds that do not apply."""
    words = [sys.executable, *shlex.split(line)[1:]]
    found = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUTF8": "1"}
    done = subprocess.run(
        words, cwd=folder.name, env=found, capture_output=True, encoding="utf-8", check=True
    )
    rows = [row for row in done.stdout.splitlines() if not row.startswith("does not apply")]
    print(f"$ {line}", *rows, sep="\n")


shell("python -m helpers.probe my_networks:gpt2 --bits 5 --encoding tokens --json gpt2.json")

# %% [markdown]
# BERT and PyTorch's encoder are measured in the same way. Their reports are written to a file, of which we show three numbers and the notes. To save time, the next cells run the command in the process of this page, where PyTorch is already loaded.


# %% mystnb={"code_prompt_hide": "In this process", "code_prompt_show": "In this process"} tags=["hide-input"]
def here(line):
    """The same in this process: the report as it is written to a file."""
    told, words = io.StringIO(), shlex.split(line)
    with (
        contextlib.chdir(folder.name),
        contextlib.redirect_stderr(told),
        contextlib.redirect_stdout(told),
        mock.patch.object(sys, "argv", words[2:]),
    ):
        try:
            runpy.run_module(words[2], run_name="__main__")
        except SystemExit as end:
            if end.code:
                raise RuntimeError(told.getvalue()) from None
    return json.loads(Path(folder.name, "report.json").read_text(encoding="utf-8"))


# %%
LINE = "python -m helpers.probe my_networks:{} --bits 5 --encoding tokens --json report.json"
for factory in ("bert", "encoder"):
    written = here(LINE.format(factory))
    sensitive, last = written["average_sensitivity"][0], written["influences"][-1]
    print(f"$ {LINE.format(factory)}")
    print(f"average sensitivity {sensitive:g}, influence of the last bit {last:g}")
    print(f"trace {written['trace'][whole][0]:,.0f}", *written["notes"], sep="\n")

# %% mystnb={"code_prompt_hide": "Numbers for the text", "code_prompt_show": "Numbers for the text"} tags=["hide-input"]
gpt2 = json.loads(Path(folder.name, "gpt2.json").read_text(encoding="utf-8"))
glue(gpt2_sensitivity=gpt2["average_sensitivity"][0], gpt2_last=gpt2["influences"][-1])
glue(gpt2_trace=gpt2["trace"]["Gauss-Newton, all"][0])
glue(gpt2_magnified=gpt2["blow_up"]["body.h.0.ln_1"][0])

# %% [markdown]
# In the report the lines *trace* have the Gauss-Newton part, for each block of weights and for all of them. Below them the *whole Hessian* has its standard error, since it is estimated with random directions.
#
# This GPT-2 answers with the bit of the token at which it is read, or with its opposite: its average sensitivity is {glue:text}`gpt2_sensitivity:g`, and the largest influence, that of the fifth bit, is {glue:text}`gpt2_last:g`. Its trace is {glue:text}`gpt2_trace:.3g`, and its first layer norm magnifies by up to {glue:text}`gpt2_magnified:.0f`, since the weights and therefore the tokens are tiny before training. BERT, on the other hand, gives the same answer to all strings, as the last note says. This is common before training, because the outputs vary little around a mean that need not be 0. For all three networks a note says that dropout was on, and that the copy that was measured has it off.
#
# ### What they compute
#
# Therefore we now move the threshold to the median of the outputs, so that half of the strings get each sign, and ask what function the signs then compute.

# %%
warnings.filterwarnings("ignore", "IProgress not found")  # a progress bar that nobody asks for
factories = runpy.run_path(str(Path(folder.name, "my_networks.py")))
factories["hf"].logging.set_verbosity_error()
bodies = {"GPT-2": "gpt2", "BERT": "bert", "Llama": "llama", "Mamba": "mamba"}
every = cube.bits(n)


@torch.no_grad()
def foreign(name, k):
    """The k-th draw of an architecture, with half of its signs positive."""
    torch.manual_seed(seed + k)
    model = factories[bodies[name]]().eval()
    model.out.bias -= model(every).quantile(0.5)
    return model


# %% [markdown]
# The influences that the report gives are compared with those of a plain loop, *the obvious loop*, which flips one bit of all strings and evaluates the network again. If the report were wrong for an architecture that its authors did not think of, the two would differ.


# %%
@torch.no_grad()
def by_flipping(model):
    """Influences by the obvious loop: every string again for every bit."""
    here = model(every) > 0
    flips = [every ^ (torch.arange(n) == k) for k in range(n)]
    return torch.stack([((model(f) > 0) != here).double().mean() for f in flips])


draws = 2
found, off, off_reversed = {}, 0.0, 0.0
for name in bodies:
    models = [foreign(name, k) for k in range(draws)]
    found[name] = [probe(lambda b, m=m: m(b), n, encoding="tokens", samples=8) for m in models]
    told, looped = torch.tensor(found[name][0].influences).double(), by_flipping(models[0])
    off = max(off, (told - looped).abs().max().item())
    off_reversed = max(off_reversed, (told - looped.flip(0)).abs().max().item())
cheap = {"encoding": "tokens", "samples": 16, "draws": 2, "seed": seed}
measured = {k: probe(foreign(k, 0), n, "majority", **cheap) for k in bodies}

# %% mystnb={"code_prompt_hide": "Table", "code_prompt_show": "Table"} tags=["hide-input", "nbval-ignore-output"]
rows = {
    name: {
        "weights": measured[name].weights,
        "average sensitivity": sum(r.average_sensitivity.value for r in reports) / draws,
        "influence of the bit read": sum(r.influences[0 if name == "BERT" else -1] for r in reports)
        / draws,
        "weight to degree 1": sum(sum(r.weight_by_degree[:2]) for r in reports) / draws,
        "trace": measured[name].trace[whole].value,
        "largest magnification": max(v[0] for v in measured[name].blow_up.values()),
    }
    for name, reports in found.items()
}
table(
    pd.DataFrame(rows).T.rename_axis("network").astype({"weights": int}),
    f"Four architectures without training, means of {draws} draws (the last two columns of one)",
    form=".3g",
    none="-",
)

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
law.holds(
    "four foreign networks: largest difference of an influence from the obvious loop; "
    "control: the loop's bits in reverse order",
    off,
    equals=0,
    tol=1e-9,
    control=off_reversed,
    about="statement",
    evidence="exhaustive",
)
glue(
    foreign_sensitivity=sum(r["average sensitivity"] for r in rows.values()) / len(rows),
    foreign_reads=min(r["influence of the bit read"] for r in rows.values()),
    foreign_low=min(r["weight to degree 1"] for r in rows.values()),
)

# %% [markdown]
# The report and the loop agree. Before training, all four architectures compute a function that depends on little more than the bit of the one token at which they are read. In the table GPT-2, BERT and Mamba compute just this bit or its opposite, in both draws. Llama departs from them, with an average sensitivity that is about 40 % larger.
#
# In numbers, the influence of the bit that is read is at least {glue:text}`foreign_reads:.2f` in each row, and at least {glue:text}`foreign_low:.2f` of the Fourier weight lies at degree 0 or 1. The average sensitivity is {glue:text}`foreign_sensitivity:.1f` of {glue:text}`bits`, as a mean over the four. All this is from two draws of the weights. A likely reason is the residual connection, which carries the token itself to the output, while attention adds an average over all tokens, in which one bit counts little. (Mamba has no attention, but it has a residual connection.) The traces and the magnifications, of one draw each, differ widely.
#
# ## What kinds of networks get which measures
#
# What does each measure need? Sensitivity and spectrum only need outputs, and the sharpness only needs outputs at other weights. The trace needs derivatives: its Gauss-Newton part a first one, the trace of the whole Hessian a second one.
#
# Autograd returns derivatives of nearly everything that PyTorch computes, but in a few cases it returns a wrong number without an error. For example, a network that rounds may declare a derivative that rounding does not have. Another case is a checkpoint, which saves memory by computing a layer twice: one of the reentrant kind returns no gradient if its input needs none.
#
# So the report checks autograd. It moves the weights by short steps, compares the change of the outputs with the first derivative and the change of the gradients with the second, and keeps a number only if these differences confirm it. The first derivative is compared for all weights together and then for each block of weights alone, since a block that adds little to the trace could otherwise be wrong by any factor without being noticed. In single precision the derivative in a block may be so small beside the output that rounding hides it from the differences. Then the trace of this block is left out as well, and a note recommends double precision. The next lines probe eight small networks on four bits and show which measures each of them gets.


# %% mystnb={"code_prompt_hide": "Eight networks", "code_prompt_show": "Eight networks"} tags=["hide-input"]
class Made(nn.Module):
    """A layer on signs, something done to what it puts out, and a linear map."""

    def __init__(self, layer, done, width=8):
        super().__init__()
        self.layer, self.done, self.out = layer, done, nn.Linear(width, 1)

    def forward(self, signs):
        return self.out(self.done(self.layer, signs))


class Once(torch.autograd.Function):
    """A tanh that hides its second derivative."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x.tanh())
        return x.tanh()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, slope):
        return slope * (1 - ctx.saved_tensors[0] ** 2)


def branch(layer, x):
    """Python that looks at numbers, and a change in place."""
    y = layer(x)
    return y.tanh_() if y.isfinite().all().item() else y


def rounded(layer, x):
    """Rounded going forward, as if it were not going backward."""
    y = layer(x).tanh()
    return y + (y.mul(4).round() / 4 - y).detach()


torch.manual_seed(seed)
keep = torch.utils.checkpoint.checkpoint
lstm = nn.LSTM(1, 8, batch_first=True)
kinds = {
    "a function": lambda signs: signs.prod(-1),
    "nn.LSTM": Made(lstm, lambda f, x: f(x[..., None])[0][:, -1]),
    "a branch in Python, a change in place": Made(nn.Linear(4, 8), branch),
    "checkpoint": Made(nn.Linear(4, 8), lambda f, x: keep(f, x, use_reentrant=False).tanh()),
    "checkpoint, reentrant": Made(nn.Linear(4, 8), lambda f, x: keep(f, x, use_reentrant=True)),
    "a second derivative that is hidden": Made(nn.Linear(4, 8), lambda f, x: Once.apply(f(x))),
    "rounded, with a derivative made up": Made(nn.Linear(4, 8), rounded),
    "detached": Made(nn.Linear(4, 8), lambda f, x: f(x).tanh().detach()),
}
warnings.filterwarnings("ignore", "None of the inputs have requires_grad")  # of the reentrant kind
asked = {name: probe(model, 4, "parity", samples=64, draws=2) for name, model in kinds.items()}
answered = {
    name: {
        "sensitivity, spectrum": "yes",
        "sharpness": "yes" if r.direction_sharpness else "no",
        "trace, Gauss-Newton part": "yes" if "Gauss-Newton, all" in r.trace else "no",
        "trace, whole": "yes" if "whole Hessian" in r.trace else "no",
    }
    for name, r in asked.items()
}

# %%
table(pd.DataFrame(answered).T.rename_axis("network"), "Which measures a report has")
for name in ("checkpoint, reentrant", "a second derivative that is hidden"):
    print(f"{name}: {asked[name].notes[-1]}\n")

# %% [markdown]
# A function has no weights, so nothing can be said about them. Every other network gets the sharpness. The trace of the whole Hessian is withheld for four networks. The reentrant checkpoint and the detached layer give no gradient for the first layer, and the rounded network returns a gradient that is not the one of its function, so these three lack the Gauss-Newton part as well. The sixth network, whose second derivative is hidden, lacks only the whole trace. Without the comparison the report would have given a wrong number in all four cases.
#
# Networks that are not in this table are treated in the same way:
#
# * **All measures, as far as their derivatives allow:** GRU and RNN layers, attention of every form, convolutions, layers under `spectral_norm`, tied, frozen and complex weights, half-precision weights (which are measured in single precision), sparse embeddings, and networks under `torch.compile` or `torch.jit`. An embedding whose token 0 stands for padding, as in BERT, gets no gradient at that token from PyTorch, but the report counts this gradient, because here 0 is a bit like 1.
# * **No trace of the whole Hessian:** layers under `weight_norm`, because PyTorch's second derivative of such a layer is wrong.
# * **No trace:** a network that sits exactly at the kink of a ReLU, as networks written by hand may do, because its outputs have no derivative there.
# * **Refused, with the reason:** networks whose output depends on the batch, among them dynamically quantized ones, networks whose weights are not initialised yet, and outputs that are not one number or two logits for each string. Refused are also networks that keep something that was made of their weights once, such as the transpose of a weight that `__init__` stores and `forward` reads, because it would not follow when the weights are moved. Weights are tied by using one parameter twice.
#
# ## Your own
#
# The call stands after the example by hand, at the beginning of this page. Its argument `encoding` says what the model is given: `"signs"`, `"bits"`, `"tokens"`, or a function of your own that turns bits into whatever input the model takes. A model that begins with an embedding needs `"tokens"`. `target` is `"parity"`, `"majority"`, `"first"`, or a function of the bits.
#
# Three conventions matter for a network that was trained elsewhere:
#
# * **Signs.** A positive output, or a first logit above the second, stands for $+1$, and a bit 1 counts as $-1$, so the parity of an even number of ones is $+1$. If the classes of your network are the other way round, its error rate is near 1, and a note says so. Its sensitivity, its influences and its weight by degree stay as they are.
# * **Threshold.** The answer is the sign of the output. Behind a sigmoid all outputs are positive, so the network would seem to be constant. A note warns of this; give the number that goes into the sigmoid.
# * **Loss.** The mean squared error and the trace are those of the squared loss of the output, or of the difference of two logits, against $\pm1$. Logits of a network trained by cross-entropy may be 20 at a string where the target is 1. Its squared error is then large although no sign is wrong, and the trace is not that of the loss that it was trained on. Labels of 0 and 1 are also taken as they are, so a network that puts out $\pm1$ has a squared error at them even if it makes no mistake. A label 0 counts as $-1$, as a note says.
#
# Dropout layers are switched off in the copy that is measured, and batch norm is measured with its running statistics. A call of `dropout` inside `forward` that is always on makes the output random. Then two calls on the same strings differ, and such a network is refused. `nn.LSTM` by itself returns a tuple, so wrap it in a module that picks one output.
#
# The same can be done by the command above, with weights from a file that is read without pickled code. A target or an encoding of your own is named like the factory, as `my_module:my_target`:
#
# ```console
# python -m helpers.probe my_module:make_model --bits 16 --target parity --weights model.safetensors --json report.json
# ```
#
# If you also hand over the strings and labels that the model was trained on, as `sample=(bits, labels)`, the report adds two bounds on its error on new strings:
#
# * *Occam's bound* is about the network that you trained. It counts the bits in which the weights are stored, so it is vacuous, that is, at least one half, whenever the weights take at least as many bits as there are strings.
# * *PAC-Bayes in its kl form* is about networks near yours. All weights get Gaussian noise of one width, of which twelve are tried, and what is bounded is the mean error of the networks with noise, not the error of the network that you trained. Its prior is centred at 0, or at the weights before training if you hand them over as `start`. This bound can do better than Occam's where the network tolerates much noise, as {cite:t}`dziugaite2017` found.
#
# Each of the bounds holds with a confidence of 95 %, for new strings from the distribution of the sample. Both suppose that the strings were drawn independently, and that neither `start` nor the form of the network depends on them. If the sample is missing, the report says so. If the error rate on uniform strings is above Occam's bound, a note says so, because the training strings were then probably not drawn as these are, or not all of them were fitted.
#
# At the end of a report stand the bounds that do not apply to the model, among them those of the papers, each with the reason. Where the numbers of the network itself can be put into such a bound, the reason also gives the result.
#
# ## What we found
#
# * On {glue:text}`functions` functions with names and at {glue:text}`numbers` numbers of hand-written networks the report agrees up to rounding with closed forms, with the count of the S-box, and with what the chapters prove or compute.
# * After training, PyTorch's encoder is as sensitive as the function that it has learned, whereas without training it is less sensitive.
# * On GPT-2, BERT, Llama and Mamba with random weights the influences in the report are those of the obvious loop. Before training, the answer of each of these networks depends on little more than the bit of the one token at which it is read.
# * The command needs no more than a file with a factory, and prints the same report as a call.
# * The report gives all measures even with a recurrent layer, a Python branch, a change in place or a checkpoint that is not reentrant. The trace is left out where differences contradict autograd, and a note then names the reason.
#
# ## What would falsify this
#
# The report would be wrong if a number of a hand-written network differed from that of its chapter, if an average sensitivity or a Fourier weight of a function differed from its closed form or count, or if an influence of a foreign network differed from that of the obvious loop. For each check there is a control, to make sure that the check can notice such an error. Two of them change a network: one tilts its read-out, which changes the trace but no output, and one adds the usual $\varepsilon$ to a layer norm. Two change a function, in one value or altogether, and the last reverses the order of the loop's bits.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# The programs of the papers measure the model that they train, each one quantity in its own training loop. None takes a network from outside, so there is nothing to compare with.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-your-influence
#
# *By hand.* Which influences does the encoder trained on the parity of two bits have, if it makes no error? Compare your answer with `reports["PARITY of two"].influences`.
# ```
#
# ```{solution} ex-your-influence
# :class: dropdown
#
# It has the influence 1 at the first two positions and 0 at all others, because a flip of one of the two always changes the answer and a flip elsewhere never does.
# ```
#
# ```{exercise}
# :label: ex-your-run
#
# *With the computer.* Train longer, by `python -m bookkit.run beyond/your_network -p steps 1000 --out my_run`, and then with other seeds. Does the trace at the encoder trained on MAJORITY grow or shrink, and what happens to its largest magnification? What of this would you report?
# ```
#
# ```{solution-start} ex-your-run
# :class: dropdown
# ```
#
# The command writes a notebook into the folder `my_run`, whose table has the new numbers. For the seed of this page the error stays at 0, and the traces of both trained encoders fall by about a tenth. The sharpness falls by about a tenth for MAJORITY and hardly changes for the parity of two bits, and the largest magnification of the encoder for MAJORITY rises slightly. The sensitivities stay those of the targets, because they are properties of the function that was learned. The changes of the other numbers are small and depend on the seed, so one should report them only with several seeds and an interval.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-your-other
#
# *With another network.* Write a file with two factories: for an `nn.GRU` that reads a string of signs and is read at its last step, and for a small convolutional network whose last layer averages over the positions. Measure both by the command, before any training. Then move the threshold to the median, as above. Which positions do you expect to have the largest influence?
# ```
#
# ```{solution-start} ex-your-other
# :class: dropdown
# ```
#
# The file needs no more than this. Both networks take signs, so the command needs no `--encoding`.

# %%
OTHERS = """
from torch import nn

class Gru(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.out = nn.GRU(1, 16, batch_first=True), nn.Linear(16, 1)

    def forward(self, signs):
        return self.out(self.inner(signs[..., None])[0][:, -1])

def gru():
    return Gru().double()

def convolution():
    layers = nn.Conv1d(1, 8, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten()
    return nn.Sequential(nn.Unflatten(1, (1, -1)), *layers, nn.Linear(8, 1)).double()
"""
Path(folder.name, "my_others.py").write_text(OTHERS, encoding="utf-8")
others = runpy.run_path(str(Path(folder.name, "my_others.py")))


def mean_influences(make, draws=10):
    """Of each position, over networks with the threshold at their median."""
    found = torch.zeros(n)
    for k in range(draws):
        torch.manual_seed(seed + k)
        model = make()
        with torch.no_grad():
            last = list(model.children())[-1]
            last.bias -= model((1 - 2 * every).double()).quantile(0.5)
        found += torch.tensor(probe(lambda x, m=model: m(x.double()), n, samples=8).influences)
    return (found / draws).tolist()


rows = {}
for name in ("gru", "convolution"):
    told = here(f"python -m helpers.probe my_others:{name} --bits {n} --json report.json")
    place = mean_influences(others[name])
    rows[name] = {"weights": told["weights"], "average sensitivity": sum(place)}
    rows[name] |= {"first": place[0], "middle": place[n // 2], "last": place[-1]}
caption = "Before training: mean influence of three positions, and of all together"
frame = pd.DataFrame(rows).T.rename_axis("network").astype({"weights": int})
table(frame, caption, form=".2f")

# %% [markdown]
# The influence in the GRU is largest at the last position and smaller the earlier a position is, because each step partly forgets what came before. So it depends mostly on the bit at which it is read, like the transformers above. In the convolutional network all positions but the two ends are treated alike, and the influences are of similar size. The average counts all bits, so the network is about as sensitive as MAJORITY.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-your-batch
#
# *To think about.* A network whose batch norm keeps no running statistics is refused, whereas one that keeps them is measured with these. Why would the sensitivity of the first not be well defined?
# ```
#
# ```{solution} ex-your-batch
# :class: dropdown
#
# Its output at a string depends on the other strings of the batch. So there is no single function of which a flip could change the value.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# Average sensitivity, direction sharpness and blow-up are those of {cite:t}`sensitive`, the trace of the Hessian that of {cite:t}`sharper`.
