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
# (ch-parity-from-majority)=
# # Parity is two majority votes
#
# ```{verdict}
# Yes, PARITY can be computed by two nested majority votes. Four lines of the programming language RASP, a circuit of depth two and one line of logic do so at every length. So a sensitive function can be composed of less sensitive ones. At {glue:text}`n_max` bits, on average, at most {glue:text}`as_inner:.1f` flips change an inner vote, but {glue:text}`as_nested:.0f` change the composition. The outer vote by itself, as a function of twice as many independent bits, for who takes part and who says yes, is changed by {glue:text}`as_outer:.1f` flips.
# ```
# **Needs** {ref}`ch-average-sensitivity`. **Read** 13 min. **Runs in** 8 s. **Source** printed.
#
# **Claim.** Let each one of a bit string vote: it says yes if more than half of all ones stand at or before it. The string has an odd number of ones exactly if more than half of these votes are yes. So a program of four lines, a circuit of depth two and one line of logic compute PARITY at every length. Each of the two votes, taken by itself, has an average sensitivity of order $\sqrt n$, and their composition has $n$. So a short description does not make a function insensitive.
#
# ## Why one should care
#
# Transformers find PARITY hard to learn, and one explanation would be that PARITY is a complicated function, which needs a long description. The paper argues against this explanation before it gives its own. Much of what is known about the functions that transformers can express is stated in terms of three formalisms: programs in RASP, circuits of majority gates, and a logic with majority quantifiers. If PARITY were hard to write down in them, its difficulty would be no surprise. But in each of them it takes a few lines. So the number of lines cannot explain why PARITY is hard, although, as the paper adds, the length of a description may play some part in what transformers prefer.
#
# ## Two strings by hand
#
# Take the string 11010, which has three ones. For each one, count the ones at or before it, itself included: there is one for the first, two for the second, and three for the third. Now each one votes: it says yes if more than half of the ones are at or before it. So the second and the third say yes, and the first says no. Two of the three votes are yes, which is a majority, and the number of ones is odd.
#
# The string 01100 has two ones. One of them is at or before the first, which is not more than half, so the first says no; the second says yes. One of two votes is no strict majority, and the number of ones is even.
#
# | string | ones | votes of its ones | yes | more than half? |
# |:--|:--|:--|:--|:--|
# | 11010 | 3 | no, yes, yes | 2 of 3 | yes: odd |
# | 01100 | 2 | no, yes | 1 of 2 | no: even |
#
# ## The statement
#
# ```{prf:lemma} Hahn and Rofin (2024), Lemma 8
# :label: sensitive-lem8
# Let $x \in \{0,1\}^n$, and let $m = \sum_j x_j$ be the number of its ones. For a position $i$ let
#
# $$g_i(x) = \Bigl[\, \sum_{j \le i} x_j > \tfrac m2 \,\Bigr] ,$$
#
# so that $g_i(x)$ says that strictly more than half of the ones are no later than $i$. Then $m$ is odd if and only if $g_i(x)$ holds at strictly more than half of the positions $i$ that hold a one.
# ```
#
# ```{prf:proposition} Hahn and Rofin (2024), Fact 1
# :label: sensitive-fact1
# PARITY can be written down simply, once for all lengths, in each of three formalisms: the programming language RASP, uniform circuits of majority gates, and first-order logic with majority quantifiers, FO[M].
# ```
#
# Here $[\cdot]$ is 1 if the statement inside is true, and 0 otherwise. If no position holds a one, no vote has a strict majority, and $m = 0$ is even, as it should be.
#
# **Why the lemma holds.** Zeros do not vote and are not counted, so we may take $m$ ones in a row. The $r$-th of them has $r$ ones at or before it, and votes yes if and only if $r > m/2$. If $m = 2k$, the ranks $k+1, \dots, 2k$ vote yes, which are $k$ of $2k$, a tie. If $m = 2k+1$, the ranks $k+1, \dots, 2k+1$ vote yes, which are $k+1$ of $2k+1$, a majority by one vote. {numref}`fig-two-votes` shows both cases for six and for seven ones: with one more bar, the tie becomes a majority.

# %% tags=["parameters"]
n_max = 14  # longest strings checked exhaustively, in bits [4..16]
long_lengths = [100, 1000]  # lengths of longer strings, in bits [4..2000]
seed = 0  # of the longer strings [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import math

import pandas as pd
import torch

from bookkit import Ledger, figures, glue, table
from helpers import cube
from helpers.cube import average_sensitivity
from helpers.rng import Rng, f64
from papers.sensitive.parity import inner_votes, nested_majority, parity_circuit, run_circuit

ledger, rng = Ledger("sensitive/parity_from_majority"), Rng(seed)
nested = ledger.result("sensitive.nested")
long_strings = [rng.strings(n, 20) for n in long_lengths]  # all zeros, all ones, 18 at random


# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "The inner vote among $m$ ones: the share of the ones at or before each of them. Those above one half vote yes (solid), the others no (hatched). The outer vote counts the solid bars.", "name": "fig-two-votes"}, "image": {"alt": "Two bar charts of rising bars with a line at one half. With six ones, three hatched bars lie at or below the line and three solid bars above it: a tie. With seven ones, three hatched bars lie below it and four solid bars above: a majority."}} tags=["hide-input"]
fig, axes = figures.new(1, 2, height=2.3, sharey=True)
hatched = {"color": "white", "edgecolor": figures.COLOURS[1], "hatch": "///", "label": "no"}
for ax, m in zip(axes, (6, 7), strict=True):
    rank = torch.arange(1, m + 1)
    vote = inner_votes(torch.ones(m))
    ax.bar(rank[vote], rank[vote] / m, color=figures.COLOURS[0], label="yes")
    ax.bar(rank[~vote], rank[~vote] / m, **hatched)
    figures.level(ax, 0.5)
    ax.set_axisbelow(True)
    ax.set(title=f"$m = {m}$: {int(vote.sum())} of {m} vote yes", xlabel="rank of the one")
    ax.set_xticks(rank)
axes[0].set_ylabel("share of the ones\nat or before it")
axes[0].legend(loc="upper left")
figures.show()

# %% [markdown]
# ## Every string, and four votes that go wrong
#
# The proof covers every length. To be sure that the statement is read correctly, we also check it on all strings of up to {glue:text}`n_max` bits. Beside it we try four variants that change one word of it. A single wrong answer of the nested majority would refute the lemma, and each variant should have some.


# %%
def odd(x):
    return x.sum(-1) % 2 == 1


def failures(answer, last=n_max):
    """Strings of 1 to `last` bits with a wrong answer: how many, and the first of them."""
    wrong = [x[answer(x) != odd(x)] for x in map(cube.bits, range(1, last + 1))]
    first = next(("".join(map(str, w[0].tolist())) for w in wrong if len(w)), "none")
    return sum(map(len, wrong)), first


variants = {
    "nested majority": nested_majority,
    "half is enough, inner vote": lambda x: nested_majority(x, inner_strict=False),
    "half is enough, outer vote": lambda x: nested_majority(x, outer_strict=False),
    "'before' for 'at or before'": lambda x: nested_majority(x, inclusive=False),
    "one plain majority": lambda x: 2 * x.sum(-1) > x.shape[-1],
}
found = {name: failures(answer) for name, answer in variants.items()}
found = pd.DataFrame(found, ["wrong answers", "first wrong string"]).T.rename_axis("vote")
table(found, f"All {2 ** (n_max + 1) - 2} strings of 1 to {n_max} bits")
ledger.result("sensitive.lem8").holds(
    "number of wrong answers on all strings up to `n_max` bits; control: the best of four variants",
    found["wrong answers"].iloc[0],
    equals=0,
    control=found["wrong answers"].iloc[1:].min(),
    about="statement",
    evidence="proved",
)
glue(n_max=n_max)

# %% [markdown]
# The lemma has no wrong answer, and each variant fails already at a string of one or two bits. If *half* is enough in the inner vote, the answer is OR, and the next two changes give a constant. So {prf:ref}`sensitive-lem8` depends on a margin of a single vote.
#
# ## Four lines of RASP
#
# RASP {cite:p}`weiss2021rasp` describes what attention layers can do by three operations on sequences. The first, `select`, is an attention pattern: row $q$ marks the positions $k$ with `compare(keys[k], queries[q])`. The second, `aggregate`, is the mean of the values over the marked positions, or 0 if there are none. The third, `selector_width`, counts the marked positions. Between these operations anything may be computed at each position by itself, and patterns may be combined. In RASP {prf:ref}`sensitive-lem8` is a program of four lines, which contains no length.


# %%
def select(keys, queries, compare):
    return compare(keys[..., None, :], queries[..., :, None])  # (strings, queries, keys)


def selector_width(pattern):
    return pattern.sum(-1)


def aggregate(pattern, values):
    return (pattern & values[..., None, :]).sum(-1).double() / pattern.sum(-1).clamp(min=1)


def rasp_parity(tokens, more=torch.gt):
    indices = torch.arange(tokens.shape[-1]).expand_as(tokens)
    ones = select(tokens, torch.ones_like(tokens), torch.eq)
    rank = selector_width(ones & select(indices, indices, torch.le))
    late = more(2 * rank, selector_width(ones))
    return more(aggregate(ones, late), 0.5)[..., -1]  # at every position the same


# %% [markdown]
# ## A circuit of depth two
#
# A *majority gate* fires if and only if more than half of its wires carry a one. Wires come from inputs, from negated inputs, from earlier gates, and from the constants 0 and 1, and a node may feed a gate by several wires. That such circuits compute PARITY is well known; the paper refers to Håstad (1986). It does not write down one, so we derive one from {prf:ref}`sensitive-lem8`:
#
# * **Inner gate $i$**, for $i = 1, \dots, n$, has $i$ wires from $x_i$, one from each $x_j$ with $j < i$, one from each negated $x_j$ with $j > i$, and $n - i$ wires from the constant 0. Of these $2n-1$ wires at least $n$ carry a one if and only if $x_i = 1$ and $g_i(x)$ holds. To see this, let $x_i = 1$, with $l$ ones at or before $i$ and $r$ ones after it. Then $i + (l - 1) + (n - i - r) = n - 1 + (l - r)$ wires carry a one, which is at least $n$ exactly if $l > r$. If $x_i = 0$, at most $(i - 1) + (n - i) = n - 1$ wires do.
# * The **outer gate** has two wires from each inner gate, one from each negated $x_j$, and $n - 1$ wires from the constant 1. Of these $4n - 1$ wires at least $2n$ carry a one if and only if the yes votes outnumber half of the ones. Indeed, with $Y$ yes votes among $m$ ones, $2Y + (n - m) + (n - 1)$ wires carry a one, which is at least $2n$ exactly if $2Y > m$.
#
# The rule needs only $i$ and $n$, so the circuits of all lengths are *uniform*. They have $n + 1$ gates and $2n^2 + 3n - 1$ wires. Since every gate has an odd number of wires, no vote can tie.


# %%
def circuit_parity(x, removed=0):
    """The circuit's answers, with some of the constant wires of its outer gate taken away."""
    inner, outer = parity_circuit(x.shape[-1])
    return run_circuit((inner, outer - removed * torch.eye(1, outer.shape[1]).long()), x)


# %% [markdown]
# ## One line of logic
#
# A formula of FO[M] {cite:p}`merrill2023fom` speaks about positions of the string. Its atoms are $1(i)$, which says that position $i$ holds a one, and $i \le j$. It may use *not*, *and*, *or*, the quantifiers $\forall i$ and $\exists i$, and a majority quantifier $\mathsf M i$, "for most positions $i$". Here *most* is strictly more than half of all $n$ positions. (The other convention, at least half, is its dual, because at least half are in favour if and only if not most are against.) The paper uses a majority *among* some positions, written $\mathsf M i\,[\varphi]\,.\,\psi$, which says that most of the $i$ with $\varphi$ have $\psi$. With it the lemma is one line:
#
# $$\mathsf M i\,[1(i)]\,.\;\mathsf M j\,[1(j)]\,.\;\, j \le i .$$
#
# The paper says that FO[M] permits the restricted vote. We show one way to define it by plain votes over all positions. Let $a$ positions have $\varphi$ and $\psi$, let $b$ have $\varphi$ and not $\psi$, and let $c$ be *neutral*, without $\varphi$. For example, in the inner vote at position $i$ there are $a$ ones at or before $i$ and $b$ ones after it, and the $c$ zeros are neutral. We want to know whether $a > b$. The $a$ positions vote yes and the $b$ positions no, and the difficulty is that the neutral positions also have a vote.
#
# The idea is to let the neutral positions cancel each other. Cut the string at a position $p$, and let the neutral positions on one side of the cut, $c_1$ of them, vote yes and the $c_2$ on the other side no. This is one *way* to vote at this cut, and the other way is the same with the sides exchanged. A way *wins* if it has more yes than no votes, that is, if $a + c_1 > b + c_2$, or with the sides exchanged $a + c_2 > b + c_1$. If a cut has $c_1 = c_2$, then either way wins exactly if $a > b$. Not every string has such a cut, but the following rule decides in all cases:
#
# * If $n$ is even, then $a > b$ if and only if at *every* cut one of the two ways wins.
# * If $n$ is odd, we cut *at* a neutral position, which itself votes no. Again one of the two ways must win for every such cut; without neutral positions $\mathsf M i\,\psi$ must hold.
#
# Whether $n$ is even can be said as well, because $n$ is even if and only if some $p$ has exactly half of the positions at or before it.
#
# ```{dropdown} Why these votes decide whether $a > b$
# We compare the votes in three cases.
#
# *Even $n$.* A way wins if $a + c_1 > b + c_2$ or $a + c_2 > b + c_1$, that is, if $a - b > -|c_1 - c_2|$. If $c$ is even, some cut has $c_1 = c_2$, and the condition for all cuts together is $a - b > 0$. If $c$ is odd, the least $|c_1 - c_2|$ is 1, and the condition is $a - b \ge 0$. But then $a - b$ is odd too, so this is $a - b > 0$.
#
# *Odd $n$ and $c \ge 1$.* Now $c_1 + c_2 = c - 1$ and the cut votes no, so one of the two ways wins if $a - b > 1 - |c_1 - c_2|$. If $c$ is even, the least $|c_1 - c_2|$ is 1, and the condition for all cuts is $a - b > 0$. If $c$ is odd it is 0, and the condition is $a - b > 1$. But then $a - b$ is even, so this is $a - b > 0$.
#
# *Odd $n$ and $c = 0$.* Since no position is neutral, $a > n/2$ is the same as $a > b$.
# ```

# %%
one_line = ("M among", "i", ("one", "i"), ("M among", "j", ("one", "j"), ("<=", "j", "i")))


def plain(formula, cases=True):
    """The same formula with every restricted vote written by votes over all positions."""
    if formula[0] != "M among":
        return tuple(plain(part, cases) if isinstance(part, tuple) else part for part in formula)
    v, among, psi = formula[1], plain(formula[2], cases), plain(formula[3], cases)
    yes, neutral = ("and", among, psi), ("not", among)
    up_to, from_on = ("<=", v, "p"), ("<=", "p", v)
    before, beyond = ("not", from_on), ("not", up_to)

    def wins(*sides):
        return ("or", *(("M", v, ("or", yes, ("and", neutral, side))) for side in sides))

    even_length = ("some", "p", ("and", ("not", ("M", v, up_to)), ("not", ("M", v, beyond))))
    cut_is_neutral = ("some", v, ("and", ("and", up_to, from_on), neutral))
    at_neutral_cuts = ("all", "p", ("or", ("not", cut_is_neutral), wins(before, beyond)))
    if_odd = ("and", ("or", ("some", v, neutral), ("M", v, yes)), at_neutral_cuts)
    if_even = ("all", "p", wins(up_to, beyond))
    if not cases:
        return if_even
    return ("or", ("and", even_length, if_even), ("and", ("not", even_length), if_odd))


# %% [markdown]
# The next cell, which is folded, evaluates a formula on strings by following the meaning of each symbol. A formula becomes a table of truth values with one axis for each variable.

# %% mystnb={"code_prompt_hide": "Evaluator of formulas", "code_prompt_show": "Evaluator of formulas"} tags=["hide-cell"]
VARIABLES = ("i", "j", "p")


def along(values, variable):
    """A table (B or 1, n) of one variable, on that variable's axis."""
    return values.reshape(len(values), *(-1 if v == variable else 1 for v in VARIABLES))


def truth(formula, x):
    """Truth of a formula on strings x (B, n): one axis for the strings, then one a variable."""
    kind, *parts = formula
    if kind == "one":
        return along(x.bool(), parts[0])
    if kind == "<=":
        first, second = (along(torch.arange(x.shape[1])[None], v) for v in parts)
        return first <= second
    if kind == "not":
        return ~truth(parts[0], x)
    if kind in ("and", "or"):
        first, second = (truth(f, x) for f in parts)
        return first & second if kind == "and" else first | second
    axis = 1 + VARIABLES.index(parts[0])
    holds = torch.broadcast_tensors(*(truth(f, x) for f in parts[1:]))
    if kind == "M among":
        return 2 * (holds[0] & holds[1]).sum(axis, keepdim=True) > holds[0].sum(axis, keepdim=True)
    if kind == "M":
        return 2 * holds[0].double().mean(axis, keepdim=True) > 1
    return (holds[0].all if kind == "all" else holds[0].any)(axis, keepdim=True)


def says(formula):
    """The formula without free variables as a function of strings."""
    return lambda x: truth(formula, x).flatten().expand(len(x))


# %% [markdown]
# ## All three on all short strings, and on long ones
#
# We now run the program, the circuit and the formula, the latter with restricted votes and with plain ones, on all short strings and on some long ones. One wrong answer would refute the representation. Beside each of them we run a control in which one small thing is broken: *half is enough* in both votes, one wire less, votes that are not restricted to the ones, or plain votes that treat every length as if it were even.

# %%
unrestricted = ("M", "i", ("M", "j", ("<=", "j", "i")))
n_rasp, n_logic = min(n_max, 12), min(n_max, 10)
medium = [rng.strings(n, 8) for n in (60, 101)]  # the long formula lists all triples i, j, p
forms = {
    "RASP": (rasp_parity, n_rasp, long_strings),
    "RASP, half is enough": (lambda x: rasp_parity(x, torch.ge), n_rasp, long_strings),
    "circuit": (circuit_parity, n_max, long_strings),
    "circuit, one wire less": (lambda x: circuit_parity(x, 1), n_max, long_strings),
    "logic, restricted votes": (says(one_line), n_logic, medium),
    "logic, plain votes": (says(plain(one_line)), n_logic, medium),
    "logic, unrestricted": (says(unrestricted), n_logic, medium),
    "logic, every n as if even": (says(plain(one_line, cases=False)), n_logic, medium),
}
errors = {
    name: {
        "all strings up to": last,
        "wrong": failures(answer, last)[0],
        "longer strings of": " and ".join(str(x.shape[1]) for x in longer),
        "wrong among these": sum(int((answer(x) != odd(x)).sum()) for x in longer),
    }
    for name, (answer, last, longer) in forms.items()
}
errors = pd.DataFrame(errors).T.rename_axis("form")
table(errors, "Wrong answers, lengths in bits")

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
total = errors["wrong"] + errors["wrong among these"]
for id, name, control in (
    ("sensitive.fact1.rasp", "RASP", "RASP, half is enough"),
    ("sensitive.fact1.circuits", "circuit", "circuit, one wire less"),
    ("sensitive.fact1.logic", "logic, restricted votes", "logic, unrestricted"),
    ("sensitive.fact1.logic", "logic, plain votes", "logic, every n as if even"),
):
    ledger.result(id).holds(
        f"{name}: number of wrong answers on short and long strings; control: {control}",
        total[name],
        equals=0,
        control=total[control],
        about="statement",
        evidence="proved",
    )

# %% [markdown]
# Program, circuit and both formulas make no mistake, and each control makes many. Neither formula depends on $n$. The unrestricted formula fails for a simple reason: without the restriction to ones it never reads the string. Plain votes as for even lengths err at odd lengths only.
#
# ## Two insensitive votes, one sensitive function
#
# PARITY is thus easy to write down. Is it also insensitive? Its average sensitivity, as in {prf:ref}`sensitive-def3`, is the mean number of bits of the string whose flip changes the answer, and for PARITY every flip does. We compare this number with those of the two votes.
#
# * **The inner vote** at position $i$ is changed by a flip of $x_j$ if and only if the other $n-1$ bits leave the vote undecided, and so $\mathrm{as}(g_i) = n \binom{n-1}{i-1} / 2^{n-1}$. At the middle position this is about $\sqrt{2n/\pi}$. It is of order $\sqrt n$ for all positions within a distance of order $\sqrt n$ of the middle, and near the ends of the string it is exponentially small. Summed over $i$ it is $n$, which means that **one flip changes one inner vote of $n$, on average**.
# * **The outer vote** can be taken by itself, as a function of $2n$ independent bits, where $x_i$ says whether position $i$ takes part, and $v_i$ how it votes. It asks whether a sum of $n$ steps $0, 0, +1, -1$ is positive, and has $\mathrm{as} = 2n \binom{2n}{n}/4^n$, about $2\sqrt{n/\pi}$. The inner vote is the same operation with other votes, so it has the same number if it too is taken as a function of $2n$ independent bits.
# * **Both votes, nested,** are PARITY, whose average sensitivity is $n$.
#
# ```{dropdown} Proof of both numbers
# We count for each vote the strings at which a flip matters.
#
# *The inner vote.* The vote $g_i$ says that more ones lie at or before $i$ than after it. Let $e$ be the difference of the two numbers among the other $n - 1$ bits. If $j \le i$, a flip of $x_j$ changes the vote if and only if $e = 0$, and if $j > i$, if and only if $e = 1$. In the first case there are $i - 1$ other positions at or before $i$ and $n - i$ after it, so that $\sum_k \binom{i-1}k \binom{n-i}k = \binom{n-1}{i-1}$ strings have $e = 0$, by Vandermonde's identity. In the second case there are $i$ and $n - i - 1$, and $\sum_k \binom i{k+1} \binom{n-i-1}k = \binom{n-1}{i-1}$ strings have $e = 1$. Each of the $n$ flips therefore has the chance $\binom{n-1}{i-1} / 2^{n-1}$.
#
# *The outer vote.* A step is $0$, $0$, $+1$ or $-1$, like the sum of two fair steps $\pm\frac12$. So the sum $R$ of the other $n - 1$ steps takes the values 0 and 1 with the chances $\binom{2n-2}{n-1}/4^{n-1}$ and $\binom{2n-2}n/4^{n-1}$. The vote says that the sum of all steps is positive. A flip of $v_i$ matters if $x_i = 1$ and $R$ is 0 or 1, and a flip of $x_i$ if $R = 0$ and $v_i$ is a yes, or $R = 1$ and $v_i$ is a no. Each of these two flips has half of the chance that $R$ is 0 or 1, which is $\binom{2n-1}n/4^{n-1} = 2 \binom{2n}n/4^n$. The sum over all $2n$ flips is $2n \binom{2n}n/4^n$. $\square$
# ```
#
# The appendix of the paper explains the $n$ as a product of two factors of order $\sqrt n$. We count the sensitivities on all strings, and add the variants from above with *half is enough*, whose votes are just as insensitive. If a product were the reason, these variants would have about $n$ as well.


# %%
def sensitivity(answers):
    """Average sensitivity of answers to all strings of some length, shape (*, 2**length)."""
    return average_sensitivity(1 - 2.0 * answers.double())


def inner(n):
    """Sensitivity of the inner vote at each position: counted, and by the formula."""
    formula = [n * math.comb(n - 1, i) / 2 ** (n - 1) for i in range(n)]
    return sensitivity(inner_votes(cube.bits(n)).T), f64(formula)


def outer(n):
    x = cube.bits(2 * n)
    return sensitivity(2 * (x[:, :n] & x[:, n:]).sum(-1) > x[:, :n].sum(-1)).item()


def outer_formula(n):
    return 2 * n * math.comb(2 * n, n) / 4**n


lengths = list(range(1, n_max + 1))
by_length = {"inner vote, middle": [inner(n)[0][(n - 1) // 2].item() for n in lengths]}
by_length["outer vote"] = [outer_formula(n) for n in lengths]
for name in list(variants)[:3]:
    by_length[name] = [sensitivity(variants[name](cube.bits(n))).item() for n in lengths]
by_length = pd.DataFrame(by_length, pd.Index(lengths, name="n"))

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Average sensitivity of the two votes and of their nesting (marks: exhaustive, for the outer vote the formula, which is checked exhaustively at half the lengths). Lines: $n$, $2\\sqrt{n/\\pi}$, $\\sqrt{2n/\\pi}$; the dotted curve is the same nesting with *half is enough* in the inner vote, which is OR.", "name": "fig-two-calm-votes"}, "image": {"alt": "A log-log plot against n: the nesting rises with slope one, the two votes with slope one half, and the variant with ties allowed falls steeply to zero."}} tags=["hide-input"]
fig, ax = figures.new(height=3.1)
roots = [[c * math.sqrt(n / math.pi) for n in lengths] for c in (math.sqrt(2), 2)]
for k, (name, limit) in enumerate(zip(by_length, [*roots, lengths, None], strict=False)):
    look = figures.marker_style(k, label=name) if limit else figures.series_style(k, label=name)
    ax.plot(lengths, by_length[name], **look)
    if limit:
        ax.plot(lengths, limit, **figures.line_style(k))
ax.set(xscale="log", yscale="log", ylim=(0.1, 2 * n_max))
ax.set(xlabel="length $n$ (bits)", ylabel="average sensitivity (bit flips)")
figures.ticks(ax, [n for n in (1, 2, 4, 8, 16) if n <= n_max])
ax.set_yticks([0.1, 0.3, 1, 3, 10], ["0.1", "0.3", "1", "3", "10"])
ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2, columnspacing=0.8)
figures.show()

# %% mystnb={"code_prompt_hide": "The numbers", "code_prompt_show": "The numbers"} tags=["hide-cell"]
table(by_length, "Average sensitivity, in bit flips", form=".4f")

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
by_position, formula = inner(n_max)
known, rounding = {"about": "remark", "evidence": "proved"}, 1e-13 * n_max**2  # n sums of order n
half = n_max // 2
nested.holds(
    "ratio of the average sensitivity of the nested votes to $n$; control: an inner vote "
    "that is won by one half",
    by_length.loc[n_max, "nested majority"] / n_max,
    equals=1,
    tol=rounding,
    control=by_length.loc[n_max, "half is enough, inner vote"] / n_max,
    **known,
)
nested.holds(
    "inner vote: largest distance of its average sensitivity from "
    "$n\\binom{n-1}{i-1}/2^{n-1}$; control: the formula of the next position",
    (by_position - formula).abs().max(),
    at_most=0,
    tol=rounding,
    control=(by_position[0] - formula[1]).abs(),
    **known,
)
nested.holds(
    "outer vote alone: largest distance of its average sensitivity from "
    "$2n\\binom{2n}{n}/4^n$; control: without the factor 2",
    max(abs(outer(n) - outer_formula(n)) for n in range(1, half + 1)),
    at_most=0,
    tol=rounding,
    control=abs(outer(half) - outer_formula(half) / 2),
    **known,
)
glue(
    as_inner=by_length.loc[n_max, "inner vote, middle"],
    as_outer=by_length.loc[n_max, "outer vote"],
    as_nested=by_length.loc[n_max, "nested majority"],
    as_or=by_length.loc[n_max, "half is enough, inner vote"],
    product=by_length.loc[n_max, "inner vote, middle"] * by_length.loc[n_max, "outer vote"],
)

# %% [markdown]
# On the logarithmic axes of {numref}`fig-two-calm-votes` the two votes rise with slope $\frac12$ and their nesting with slope 1. At $n =$ {glue:text}`n_max` the votes have {glue:text}`as_inner:.3f` and {glue:text}`as_outer:.3f`, their product is {glue:text}`product:.2f`, and the nesting has {glue:text}`as_nested:.0f`. So the product has the right order, with the factor $2\sqrt2/\pi \approx 0.9$ in the limit. But the product is no general rule. The variants with *half is enough* nest two votes that are just as insensitive, and yet one of them has only {glue:text}`as_or:.4f`, and the other one 0. The first of these variants is the dotted curve, which falls so steeply that it leaves the panel at its lower edge.
#
# The reason why PARITY is sensitive is that the two votes fit each other. By the proof of the lemma, the inner votes are tied on every even string and won by one vote on every odd string, and no other outcome occurs. Each flip changes one outcome into the other, and the threshold of the outer vote lies between them. A narrow margin alone is not enough. If ties win the outer vote, the margins are the same, but the threshold lies below both outcomes, and the answer is always yes.

# %% [markdown]
# ## What would falsify this
#
# One string with a wrong answer would refute {prf:ref}`sensitive-lem8`, or one of the three representations. Each control counts wrong answers after one small change, and must find some. The two formulas for the average sensitivity would disagree with the exhaustive count if they missed a single string at which a flip matters, and their controls take the neighbouring position and drop the factor 2.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# The repository `lacoco-lab/sensitivity-hardness`, of which we read `src/targets.py`, has no program, circuit or formula for PARITY. There PARITY is a target for training, computed as the sum of the bits modulo 2. The representations above are ours, from the proof in Appendix A of the paper.
#
# ## What we found
#
# * {prf:ref}`sensitive-lem8` holds, and so do the three representations of {prf:ref}`sensitive-fact1`. The circuit and the restricted vote, which the paper leaves to the reader, are constructed here.
# * The appendix explains the sensitivity $n$ of the nesting as a product of two factors of order $\sqrt n$. The orders are right, but there is no general product rule, since the same two votes with ties counted as wins have {glue:text}`as_or:.4f` and 0. The reason is that every flip moves the outer vote from a tie to a majority of one or back, across its threshold.
# * As RASP allows any arithmetic at a single position, PARITY is even one line in it, the number of ones modulo 2. {prf:ref}`sensitive-lem8` is the stronger statement, because it needs comparisons only.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-one-threshold-gate
#
# *By hand.* Can one threshold gate, $[w_1 x_1 + w_2 x_2 > t]$ with any real weights, compute PARITY of two bits?
# ```
#
# ```{solution} ex-one-threshold-gate
# :class: dropdown
#
# It cannot, because the strings 10 and 01 need $w_1 > t$ and $w_2 > t$, and 00 needs $t \ge 0$. So $w_1 + w_2 > 2t \ge t$, but at 11 the gate must not fire. In other words, depth one is not enough.
# ```
#
# ```{exercise}
# :label: ex-flips-of-many-votes
#
# *With the computer.* A flip changes one inner vote of $n$ on average. Is it one at nearly every string, or are there flips that change many? Compute for all strings of 6, 10 and 14 bits and all flips how many inner votes change, and list the shares of 0, 1, 2 and more changes, and the largest number. Which string and which flip change most? That the lemma holds on longer strings too is checked by `python -m bookkit.run sensitive/parity_from_majority -p n_max 16 --out my_run`.
# ```
#
# ```{solution-start} ex-flips-of-many-votes
# :class: dropdown
# ```

# %%
rows = {}
for n in (6, 10, 14):
    votes, x = inner_votes(cube.bits(n)), torch.arange(2**n)
    changed = torch.stack([(votes != votes[x ^ 2**k]).sum(-1) for k in range(n)])
    shares = {f"share with {m}": (changed == m).double().mean().item() for m in (0, 1, 2)}
    shares["share with more"] = (changed > 2).double().mean().item()
    largest = int(changed.amax())
    where = int((changed == largest).any(0).nonzero()[0])
    most = "".join(map(str, cube.bits(n)[where].tolist()))
    rows[n] = shares | {"largest": largest, "first such string": most}
answer = pd.DataFrame(rows).T.rename_axis("n")
table(answer, "Inner votes that a flip changes", form=".3f")

# %% [markdown]
# At all three lengths nearly half of the flips change no inner vote, about three in ten change one, and about one in ten changes more than two. The most votes change at strings with few ones, because there the middle one is far away from the next: if the first bit of the string of zeros is flipped, then every position has the only one at or before it, and all $n$ votes change. So behind the mean of one change per flip there are large differences, as in {ref}`ch-average-sensitivity`.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-votes-by-thirds
#
# *To think about.* Let a one vote yes if more than a *third* of the ones are at or before it, and let the outer vote ask whether more than *two thirds* of the votes are yes. Which property of $m$ does this compute? What does the answer say about the number of lines that the remainder of $m$ by 3, or by 10, needs?
# ```
#
# ```{solution} ex-votes-by-thirds
# :class: dropdown
#
# The one of rank $r$ votes yes if $r > m/3$, so there are $m - \lfloor m/3 \rfloor$ yes votes. They are more than $\frac23 m$ if and only if $\lfloor m/3 \rfloor < m/3$, that is, if 3 does not divide $m$. With $\frac1k$ and $1 - \frac1k$ in place of $\frac13$ and $\frac23$ the same two votes tell whether $k$ divides $m$. So divisibility by any fixed number takes the same few lines, although such functions are sensitive: about $\frac{2n}k$ flips change whether $k$ divides $m$, all of them where it does and half of them where $m$ is next to a multiple.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The lemma and its proof are in Appendix A of {cite:t}`sensitive`, who call it folklore.
