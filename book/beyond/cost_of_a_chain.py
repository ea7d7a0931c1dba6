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
# (ch-cost-of-a-chain)=
# # What a chain costs
#
# ```{verdict}
# A longer chain of thought for PARITY does not take more examples if one rule writes all its bits. At {glue:text}`T_max` bits a learner that fits every step has seen {glue:text}`shared_chain:.1f` strings on average when it knows the rule. If each of $T$ steps has a weight of its own, it needs about $\log_2 T$ strings. Without the chain the two problems take about $2 \log_2 T$ and $T$ strings, so the number that the chain saves is not exponential. The first paper's bound, without one of its terms, asks for numbers that grow like $T$ to the power {glue:text}`power_chain:.1f` with the chain and {glue:text}`power_pass:.1f` without.
# ```
# **Needs** {ref}`ch-chain-of-thought`. **Read** 13 min. **Runs in** 15 s. **Source** ours; beside the first paper, results of {cite:t}`yang2026` (abstract and a public summary read), {cite:t}`hanneke2026` and {cite:t}`joshi2025` (abstracts, and of the former a summary).
#
# **Claim.** The first paper compares two upper bounds on the error of PARITY, one with a chain of thought and one without, and finds a large gap. Later work asks how many examples are needed, and says that the chain's length enters through a logarithm at most, or not at all. We put these statements side by side for one chain of XORs. We prove the two simple cases that explain them, and count the strings that are needed by a learner that fits every step of the chains that it has seen.
#
# The powers on the card come from the first paper's Theorem 2, from {glue:text}`half` to {glue:text}`T_max` bits. They are taken at the best noise for each length, and without the theorem's term for the change of the sharpness under noise. The power {glue:text}`power_chain:.1f` is for the norm that a network with a chain really has; with the smaller norm that the paper quotes the power is {glue:text}`power_quoted:.1f`.

# %% tags=["parameters"]
T_max = 128  # longest strings, in bits; a power of two [32..128]
repeats = 40  # runs of each learner with the chain [20..100]
hidden_runs = 6  # runs of the learner of shared rules without the chain [4..12]
Sigma = 0.01  # the constant of the loss that the first paper uses [0.005..0.02]
seed = 0  # of all strings [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import math

import pandas as pd
import torch

from bookkit import Ledger, figures, glue, table
from helpers import statistics
from helpers.rng import Rng
from papers.beyond import chains
from papers.sharper import chain_of_thought as first_paper
from papers.sharper.tabulated import gradient_bound

if T_max & (T_max - 1):
    raise ValueError(f"T_max must be a power of two, got {T_max}")
ledger, source = Ledger("beyond/cost_of_a_chain"), Rng(seed)
cost = ledger.result("beyond.chain")
generator = source.generator

# %% [markdown]
# ## Why one should care
#
# Language models are better at long calculations if they may write down intermediate results. The first paper offers a reason: for a transformer that answers PARITY in one pass its bound on the error is exponential in the number of bits, whereas with a chain of thought it is linear. In {ref}`ch-chain-of-thought` the comparison survives with other powers. But both sides are upper bounds, and two upper bounds say little about what learning takes: the large one may be far above the truth.
#
# So we ask for the truth in the simplest case. How many examples does a learner need if it sees the chains, how many if it sees only the answers, and which of the bounds describes this number?
#
# ## Two strings by hand
#
# Take strings of four bits and the chain that writes the parities of the first one, two, three and four bits. The string 1 0 1 1 has the chain 1 1 0 1, and its last bit is the *answer*, the parity of the whole string. What a learner has to find out depends on what it knows in advance.
#
# *One rule for all steps.* Suppose that it knows only that every bit of the chain is the same function of two tokens at fixed places back, where the tokens are the string, a scratch bit 0 and the chain so far:
#
# | place | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 |
# |:--|:--|:--|:--|:--|:--|:--|:--|:--|:--|
# | token | 1 | 0 | 1 | 1 | 0 | 1 | 1 | 0 | 1 |
#
# Each of the tokens 6 to 9 is the XOR of the tokens 1 and 5 places back. The learner does not know this. For the learner there are 10 pairs of places and 16 functions of two bits, hence $16 \cdot 10 = 160$ candidates. What does this single string teach?
#
# | step | what every pair of places sees | candidates left |
# |:--|:--|:--|
# | 1 | the value of the function at one of its four inputs, so 8 of 16 functions remain | 80 |
# | 2 | another input than before, so 4 functions remain | 40 |
# | 3 | a new input, or an earlier one with another result | 16 |
# | 4 | the input of step 1 again, with the same result | 16 |
#
# At the third step eight of the ten pairs see a new input, so half of their functions are dropped and 2 remain for each. The other two pairs see an earlier input with another result, so they are dropped with all their functions, and $8 \cdot 2 = 16$ candidates are left. At the fourth step these eight pairs see an input with the result that they know already, which teaches nothing. A learner that sees only the answer has to try which candidates write a chain with this last token, and 83 of them do.
#
# *A weight for each step.* Suppose instead that step $t$ adds $w_t x_t$ to the last bit, with unknown $w_t$ in $\{0, 1\}$. If the chain is shown, every step with $x_t = 1$ reveals its weight, so the string above reveals $w_1, w_3$ and $w_4$, and a second string with $x_2 = 1$ is needed for $w_2$. If only the answers are shown, each of them is one linear equation for the four weights, and four independent equations are needed.
#
# So the chain saves strings in both cases, but how many it saves depends on whether the steps share their rule. The two propositions below are about these two cases.
#
# ## The statements
#
# ```{prf:theorem} Later results, as far as we could read them
# :label: chain-later
# *(Theirs; not judged here.)*
#
# 1. Consider transformers with $L$ layers of hard attention and $W$ real weights, and chains of $T'$ steps on inputs of length $T$. They are learned by choosing any transformer that is consistent with every step, from a number of samples of order $L W \log((T + T') W)$. Any learner needs at least the order $L W \log((T + T') W / L)$ (Yang, Srebro and Li, 2026).
# 2. If one generator of a class with finite VC dimension writes every token, the number of samples with chains does not depend on $T$; from answers alone it can grow at any rate between constant and linear (Hanneke, Mehalel and Moran, 2026, after Joshi et al., 2025).
# ```
#
# The first paper's Theorem 7 treats the $T$ steps as separate predictions and adds up their probabilities of error, which brings a factor of $T$. For a learner that fits its sample the factor is not needed:
#
# ```{prf:proposition} A chain is one function (ours, for finite classes)
# :label: chain-one-function
# Let a finite set $H$ of rules contain the right one, and let a learner see $m$ random strings with their chains. Call a rule of $H$ *consistent* if it predicts each step of these chains from what stands before it. With probability at least $1 - \delta$ every consistent rule is good in this sense: the share of all strings on which the chain that it writes by itself has an error is at most $\frac1m \bigl( \log |H| + \log \frac1\delta \bigr)$. The same holds if only the answers are shown. A rule is then consistent if its answers are right, and errors are errors of the answer.
# ```
#
# ```{prf:proposition} A weight for each step (ours)
# :label: chain-by-step
# Let the strings be uniform and let step $t$ add $w_t x_t$ modulo 2. With the chains shown, all weights are known after $m$ strings with probability $(1 - 2^{-m})^T$, so $\log_2 \frac T\delta$ strings suffice, and the mean number is $\sum_{k \ge 0} \bigl( 1 - (1 - 2^{-k})^T \bigr)$. With the answers alone they are known as soon as $T$ of the strings are linearly independent, after $T + \sum_{i=1}^T \frac1{2^i - 1}$ strings in the mean.
# ```
#
# **The idea of the proof.** If a rule predicts every step of a chain from the right tokens before it, then the chain that it writes by itself is the same, because it never leaves the right path. So a chain counts as a single function of the string, and the usual bound for finite classes applies to it. This bound contains the logarithm of the number of rules once, and not once for each step. If the steps have weights of their own, the number of rules is $2^T$, and this bound is poor. But then each step is learned separately, and one has to wait for the slowest of $T$ steps only.
#
# ```{dropdown} Proof
# We treat the shared rule, then the weights with and without the chain.
#
# *One function.* Suppose that a rule predicts each step from the right prefix. By induction the chain that it writes agrees with the right one: the first bit does, and if all bits so far agree, the next is predicted from the right prefix. Conversely, a rule that writes the right chain predicts each of its steps. So a rule is consistent with the sample if and only if the function from strings to chains that it defines is right on all $m$ strings. A rule that is wrong on more than the share $\varepsilon$ of strings is right on $m$ of them with probability at most $(1 - \varepsilon)^m \le e^{-\varepsilon m}$, and there are at most $|H|$ such rules. For answers alone the argument is the same, without the induction.
#
# *Weights with the chain.* The weight of step $t$ is known once a string has $x_t = 1$. After $m$ strings this is so with probability $1 - 2^{-m}$, independently for the $T$ steps, and $T\, 2^{-m} \le \delta$ for $m \ge \log_2 \frac T\delta$. The mean of a positive whole number is the sum over $k \ge 0$ of its probability to exceed $k$.
#
# *Weights without the chain.* An answer is the inner product of the string with $w$ modulo 2. The solutions of $m$ such equations are a single $w$ if and only if $T$ of the strings are linearly independent. If $j$ are, a further string is independent of them with probability $1 - 2^{j - T}$, so it takes $1/(1 - 2^{j-T}) = 1 + 1/(2^{T-j} - 1)$ strings in the mean to find one. The sum over $j$ is what is stated. $\square$
# ```
#
# ## Counting strings
#
# We now count, for strings of {glue:text}`lengths` up to {glue:text}`T_max` bits, how many strings each learner sees until it has learned.
#
# * *One rule, chain.* The learner starts with all rules, that is, all pairs of places with all 16 functions of two bits, and keeps those that agree with every step of the chains seen so far. It has learned as soon as only the right rule is left.
# * *One rule, answer.* From answers alone some rules can remain that give the right answer on all strings in another way. So the learner has learned as soon as all remaining rules are right on 64 further strings.
# * *By step.* The learner of weights is counted as in {prf:ref}`chain-by-step`.
#
# If a longer chain required more strings from a learner that fits every step, the first line of the table would have to rise with $T$.

# %%
lengths = [2**k for k in range(3, int(math.log2(T_max)) + 1)]
runs = {}
for T in lengths:
    runs[T] = {
        "one rule, chain": [chains.strings_with_chain(T, generator) for _ in range(repeats)],
        "one rule, answer": [
            chains.strings_without_chain(T, generator) for _ in range(hidden_runs)
        ],
        "by step, chain": [chains.steps_with_chain(T, generator) for _ in range(5 * repeats)],
        "by step, answer": [chains.steps_without_chain(T, generator) for _ in range(repeats)],
    }
means = pd.DataFrame({T: {k: sum(v) / len(v) for k, v in r.items()} for T, r in runs.items()})


def not_enough(T, tries=2000):
    """Share of the strings whose chain alone leaves more than one shared rule."""
    strings = torch.randint(0, 2, (tries, 1, T), generator=generator)
    left = [chains.consistent(chains.seen_cells(chains.tokens(x), T)).sum() > 1 for x in strings]
    return float(torch.stack(left).double().mean())


failing = {T: not_enough(T) for T in (16, 32)}
shown = means.rename_axis("strings until learned").reset_index()
table(shown.rename(columns=str), "Mean number of strings, by the number of bits", form=".1f")

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
growth = means[T_max] / means[8]
cost.holds(
    f"one rule, with the chain: ratio of the strings needed at {T_max} bits to those at 8; "
    "control: only the answers are shown",
    growth["one rule, chain"],
    at_most=1,
    control=growth["one rule, answer"],
    about="ours",
    evidence="sampled",
)


def distance(name, law):
    """Largest distance of the means from a law, in units of four standard errors."""
    gaps = []
    for T in lengths:
        interval = statistics.average([float(v) for v in runs[T][name]], 0.9999)
        gaps.append(abs(interval.value - law(T)) / (interval.high - interval.value))
    return max(gaps)


cost.holds(
    "a weight for each step, with the chain: distance of the mean number of strings from "
    "the law, in half-widths of its interval; control: the law of a single step",
    distance("by step, chain", chains.mean_with_chain),
    at_most=1,
    control=distance("by step, chain", lambda T: chains.mean_with_chain(1)),
    about="ours",
    evidence="proved",
)
cost.holds(
    "a weight for each step, answers alone: distance of the mean number of strings from the"
    " law, in half-widths of its interval; control: the law with the chain",
    distance("by step, answer", chains.mean_without_chain),
    at_most=1,
    control=distance("by step, answer", chains.mean_with_chain),
    about="ours",
    evidence="proved",
)
glue(T_max=T_max, lengths=lengths[0], shared_chain=means.loc["one rule, chain", T_max])
glue(shared_answer=means.loc["one rule, answer", T_max], rules=chains.class_size(T_max))
glue(step_chain=means.loc["by step, chain", T_max], step_answer=means.loc["by step, answer", T_max])
glue(log_rules=math.log2(chains.class_size(T_max)), short_chain=means.loc["one rule, chain", 8])
hidden = pd.DataFrame({T: pd.Series(r["one rule, answer"]) for T, r in runs.items()})
glue(answer_error=(hidden.std() / math.sqrt(hidden_runs)).max(), hidden_runs=hidden_runs)
glue(fail_16=100 * failing[16], fail_32=100 * failing[32])

# %% [markdown]
# With one rule for all steps the number of strings does not grow with the length of the chain. It even decreases from 8 to 16 bits and then stays close to 1, because each string shows $T$ steps.
#
# * *One rule, with the chain.* At 8 bits the learner needs {glue:text}`short_chain:.1f` strings in the mean, and at {glue:text}`T_max` bits {glue:text}`shared_chain:.1f`, although there are {glue:text}`rules` rules to choose from. (These are means over 40 runs at each length. A mean that is printed as 1.0 does not say that one string is always enough: at 16 bits {glue:text}`fail_16:.1f` % of 2000 other strings were not enough by themselves.)
# * *One rule, answers alone.* At {glue:text}`T_max` bits it needs {glue:text}`shared_answer:.1f` strings, about as many as the {glue:text}`log_rules:.1f` bits that it takes to name one of the rules. This is a mean of {glue:text}`hidden_runs` runs only, with a standard error of up to {glue:text}`answer_error:.1f`. Since $\log_2 |H|$ is about $3 + 2 \log_2 T$, we say "about $2 \log_2 T$".
# * *A weight for each step.* At {glue:text}`T_max` bits the learner needs {glue:text}`step_chain:.1f` strings with chains and {glue:text}`step_answer:.1f` with answers alone.
#
# ## Is a chain really one function?
#
# The first proposition rests on the observation that to fit every step from the right prefix is the same as to write the right chain. We check this on all rules for strings of ten bits. We let each rule write its own chains for a sample, which means that it reads its own mistakes, and compare with the rules that fit every step. One rule that fits every step of the sample and yet writes a wrong chain on it would refute the observation.

# %%
T = 10
bits = torch.randint(0, 2, (2, T), generator=generator)
pairs, tables = chains.every_rule(T)
own = chains.written(pairs, tables, bits)  # (T, rules, strings)
target = chains.tokens(bits)[:, T + 1 :].T[:, None].to(torch.uint8)
writes = (own == target).all(0).all(1)
cells = chains.seen_cells(chains.tokens(bits), T).repeat_interleave(16, 0)
clash = cells.gather(2, (1 - tables.long())[..., None]).squeeze(-1)  # seen with another bit
fits = ~clash.any(1)
answers = (own[-1] == target[-1]).all(1)

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
cost.holds(
    "number of rules that fit every step of two strings of ten bits and write a wrong chain"
    " on them; control: rules that give the right answers",
    int((fits & ~writes).sum()),
    equals=0,
    control=int((answers & ~writes).sum()),
    about="ours",
    evidence="proved",
)
glue(fit=int(fits.sum()), right_answers=int(answers.sum()), ten_rules=len(pairs))
ledger.show()

# %% [markdown]
# There are {glue:text}`ten_rules` rules. The number that fit all steps of the two strings is {glue:text}`fit`, and whatever fits them also writes the right chains. In contrast, {glue:text}`right_answers` rules give the right two answers, most of them by a wrong chain.
#
# ## The bounds beside the counts
#
# What do the bounds say for the same chain? We turn each of them into a number $m$ of samples, and ask with which power of $T$ this number grows. The four counts, from {glue:text}`half` to {glue:text}`T_max` bits, grow with powers between 0 and 1, and a bound that describes them would do so, too. The first paper is called P1.
#
# | name | the number of samples |
# |:--|:--|
# | P1, one pass | $m$ with $4 B^* = \frac12$, where $B^*$ is the bound of {ref}`ch-chain-of-thought` at its best noise |
# | P1, chain | $m$ with $4 T B^* = \frac12$, with the norm that a chain with short codes really has ({ref}`ch-chain-of-thought`) |
# | P1, chain, its norm | the same with the smaller norm $L(1, 2, T)$ that the paper quotes, which is that of the network for two fixed bits |
# | L W log | $L W \log((T + T') W)$ of Yang, Srebro and Li for the first paper's network, where $L = 2$ and $W$ is its number of weights with short codes |
# | one function | $m = 2\, (\log \lvert H \rvert + \log 20)$, which is {prf:ref}`chain-one-function` for the shared rules, with an error of one half and $\delta = 0.05$ |
#
# * *P1.* Here the bound on the error is set to one half. As $B^*$ contains $m^{-1/3}$, the number is proportional to $T^3$ times norm and sharpness for the chain. The bound follows from Theorem 2 by Markov's inequality. It takes the best noise at each length, which Theorems 7 and 8 do not, and it leaves out the term $P$ by which noise changes the sharpness. With $P$ all three numbers and powers would be larger, but their order stays.
# * *L W log.* The constant in front is 1, because theirs is not known to us. So only the growth of this line means something, and not its height.
# * *One function.* It stands in place of the bound of Hanneke, Mehalel and Moran, which does not contain $T$, because we could not read its constants either.
#
# ```{dropdown} The numbers of the first paper with the term P
# With $P$ as in the authors' notebook the powers from 64 to 128 bits and the numbers at 128 bits would be about these:
#
# | bound | power of $T$ | samples at 128 bits |
# |:--|:--|:--|
# | P1, chain, its norm | 5.2 | $7 \cdot 10^{15}$ |
# | P1, chain | 5.5 | $10^{18}$ |
# | P1, one pass | 7.3 | $2 \cdot 10^{19}$ |
#
# The quotient of chain and one pass then shrinks with the power 1.8 of $T$.
# ```


# %%
def samples(norm, gradient, steps):
    """Samples from which on 4 B* for each step adds up to a half."""
    return (24 * steps) ** 3 * Sigma**2 * gradient * norm / 4


def chain_bound(T):
    """The first paper's chain, with the norm of short codes."""
    return samples(first_paper.squared_norm(T, "random signs"), gradient_bound(2, 1), T)


def quoted_norm(d, T):
    """The first paper's norm of a network for one parity of d bits, L(1, d, T)."""
    return 2 + (d + 1) * (8 + 16 * d**2 + 4 * math.log(T) ** 2)


def quoted_chain_bound(T):
    """The first paper's chain, with the norm that it takes."""
    return samples(quoted_norm(2, T), gradient_bound(2, 1), T)


def one_pass_bound(T):
    """The first paper's bound for one pass."""
    return samples(quoted_norm(T, T), gradient_bound(T, 1), 1)


def weights_bound(T):
    """L W log((T + T') W) for the first paper's network, T' = T."""
    columns = math.ceil(16 * math.log(T)) + 1
    W = 3 * columns**2 + 25 * columns + 12
    return 2 * W * math.log(2 * T * W)


def rules_bound(T):
    """The proposition's bound for a shared rule, delta = 0.05."""
    return 2 * (math.log(chains.class_size(T)) + math.log(20))


bounds = {
    "P1, one pass": one_pass_bound,
    "P1, chain": chain_bound,
    "P1, chain, its norm": quoted_chain_bound,
    "L W log": weights_bound,
    "one function": rules_bound,
}
orders = pd.DataFrame({k: [b(T) for T in lengths] for k, b in bounds.items()}, lengths)
powers = {k: math.log2(b(T_max) / b(T_max // 2)) for k, b in bounds.items()}
powers |= {k: math.log2(means.loc[k, T_max] / means.loc[k, T_max // 2]) for k in means.index}
table(
    pd.DataFrame({"power of T": powers}).rename_axis("samples"),
    f"Power of T from {T_max // 2} to {T_max} bits",
    form=".2f",
)

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Samples for PARITY of $T$ bits. Filled marks: counted. Thin lines: what five bounds ask for; *its norm* is the norm that the first paper takes for the chain. The line $L W \\log$ is drawn with the constant 1, so that only its slope means something.", "name": "fig-chain-cost"}, "image": {"alt": "Nine lines with logarithmic axes. Four counted lines lie at the bottom: one is level at 1, two rise slowly between four and eighteen, and one rises with slope 1 from ten to 130. The line one function rises slightly, from nineteen to thirty. Far above them the line L W log rises slowly near ten to the fifth, the first paper's bound for the chain rises with slope 3.6 from ten to the ninth, with the norm as quoted it lies below and rises with slope 3.2, and the bound for one pass rises with slope 6, crosses the former near 27 bits and lies above the latter throughout."}} tags=["hide-input"]
fig, ax = figures.new(height=3.9)
for i, name in enumerate(means.index):
    ax.plot(lengths, means.loc[name], label=name, **figures.series_style(i, linestyle="-"))
for i, name in enumerate(bounds):
    line = {
        "linestyle": ("-", "--", "-.", ":", (0, (1, 4)))[i],
        "color": "black",
        "linewidth": 0.9,
        "marker": "",
    }
    ax.plot(lengths, orders[name], label=name, **line)
ax.set(xscale="log", yscale="log", xlabel="bits $T$", ylabel="samples")
figures.ticks(ax, lengths)
fig.legend(ncols=3, loc="outside upper center")
figures.show()

# %% mystnb={"code_prompt_hide": "Numbers for the text", "code_prompt_show": "Numbers for the text"} tags=["hide-input"]
glue(power_chain=powers["P1, chain"], power_pass=powers["P1, one pass"])
glue(power_quoted=powers["P1, chain, its norm"])
glue(gap=powers["P1, one pass"] - powers["P1, chain"])
glue(bound_chain=chain_bound(T_max), bound_pass=one_pass_bound(T_max), half=T_max // 2)
glue(power_weights=powers["L W log"], bound_weights=weights_bound(T_max))
glue(bound_rules=rules_bound(T_max))

# %% [markdown]
# {numref}`fig-chain-cost` is read from the bottom. The four lines with marks are the counts. The line *one function* is close to them. The other bounds, which hold for transformers, exceed the counts by many orders of magnitude: first $L W \log$, which rises slowly, and above it the three bounds of the first paper, which rise steeply. At {glue:text}`T_max` bits, and for the first paper without $P$:
#
# * *The proposition*, which contains $T$ only through the number of rules, asks for {glue:text}`bound_rules:.0f` strings.
# * *The first paper with the chain* asks for {glue:text}`bound_chain:.0e` samples with short codes. This number grows with the power {glue:text}`power_chain:.1f` of $T$, and the number with the norm as quoted with the power {glue:text}`power_quoted:.1f`.
# * *The first paper in one pass* asks for {glue:text}`bound_pass:.0e` samples, and this number grows with the power {glue:text}`power_pass:.1f`.
#
# Does the chain help, according to the first paper's bound? Below some thirty bits the chain with short codes even has a larger bound than one pass, but the quotient of the two bounds shrinks with the power {glue:text}`gap:.1f` of $T$. For comparison, the count without the chain exceeds that with the chain by a factor of about $2 \log_2 T$ if the rule is shared, and of about $T / \log_2 T$ otherwise. None of these factors is exponential.
#
# Two reservations apply to this comparison.
#
# * *The assumptions differ.* The bounds hold for transformers with real weights and for any distribution of the strings, whereas our learners know a finite class that contains the right rule. A larger number is therefore to be expected from the bounds, and only the growth with $T$ can be compared.
# * *Our learners are not trained.* They search all rules, or solve linear equations. What gradient descent finds from few chains, and not from answers, is a question of computation, for which there are separate results, for example those of {cite:t}`wen2025parity`, of which we read the abstract. The chain may well be worth an exponential factor there, but a comparison of two bounds on the error of the best network cannot show it.
#
# ## What would falsify this
#
# Our statements would be false in any of these cases:
#
# * A rule fits every step of a sample and writes a wrong chain on it.
# * The number of strings with chains rises with $T$ although the rule is shared.
# * At some length the mean number of strings for the weights differs from the proposition by more than the half-width of its interval.
#
# The control of each check shows less to the learner or takes the law of another case, and then the outcome is the opposite one.
#
# ## What the authors' code does differently
#
# No program for the chain of thought was found among the first paper's files. Of the later papers we have no code. Their learners are abstract, as ours are: *teacher forcing* is the choice of any predictor that is consistent with every step.
#
# ## What we found
#
# * For a learner that fits its sample, the union bound over the steps of the first paper is not needed: a chain is one function of the string, so its length does not enter the bound by itself. What enters, once, is the number of rules.
# * If all steps share a rule, one string with its chain is nearly always enough: of 2000 strings {glue:text}`fail_16:.1f` % were not enough at 16 bits, and well below 1 % at 32 ({glue:text}`fail_32:.2f` %). This is the simplest case of what Hanneke, Mehalel and Moran prove.
# * If each step has a weight of its own and the strings are uniform, the number of strings grows like the logarithm of the length, because one waits for the slowest step. This is another logarithm than that of Yang, Srebro and Li, whose number $W$ of weights would be at least $T$ here.
# * Without the chain about $2 \log_2 T$ and $T$ strings are needed in the two cases: the first number lies between constant and linear, as Hanneke, Mehalel and Moran state for a single generator, and the second is outside of their statement. The exponential or polynomial gap of the first paper is one between two upper bounds.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-cost-three
#
# *By hand.* Three bits, a weight for each step, and the chains are shown. What is the probability that two strings reveal all weights? What is it if only the answers are shown, and with three strings?
# ```
#
# ```{solution} ex-cost-three
# :class: dropdown
#
# With the chains it is $(1 - \frac14)^3 = \frac{27}{64}$ for two strings. From answers alone two strings give two equations for three weights, so the probability is 0. Three strings are linearly independent with probability $(1 - \frac18)(1 - \frac14)(1 - \frac12) = \frac{21}{64}$.
# ```
#
# ```{exercise}
# :label: ex-cost-rare
#
# *With the computer.* Run the chapter with another seed, `python -m bookkit.run beyond/cost_of_a_chain -p seed 1 --out my_run`, and see which numbers of the first table move. Then let ones be rare: every bit is 1 with probability $1/T$. How many strings with chains do the weights need then, and is the cost of the chain still logarithmic?
# ```
#
# ```{solution-start} ex-cost-rare
# :class: dropdown
# ```
#
# The mean number is $\sum_k \bigl( 1 - (1 - (1 - p)^k)^T \bigr)$ with $p = 1/T$ in place of $\frac12$.

# %%
rare = {T: sum(1 - (1 - (1 - 1 / T) ** k) ** T for k in range(60 * T)) for T in lengths}
table(
    {
        "bits": lengths,
        "strings": list(rare.values()),
        "over T log T": [v / (T * math.log(T)) for T, v in rare.items()],
    },
    "Rare ones: strings with chains until all weights are known",
    form=".2f",
)

# %% [markdown]
# Now it is of order $T \log T$: the steps are learned only when their bits are 1, and collecting all of them is the coupon collector's problem. So the logarithm belongs to the distribution of the strings. A learner that is satisfied with a small error on such strings would need fewer, since the weights that it does not know hardly matter.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-cost-every
#
# *To think about.* Suppose that only every $k$-th bit of the chain is shown, and each step has a weight of its own. About how many strings are needed?
# ```
#
# ```{solution} ex-cost-every
# :class: dropdown
#
# Between two bits that are shown lie $k$ steps, and their difference is a linear equation for $k$ weights. So there are $T/k$ separate problems with answers alone, each of which needs about $k + 1.6$ strings, and one waits for the slowest: about $k + \log_2 \frac Tk$ strings. With $k = 1$ this is the chain, with $k = T$ the answer alone. So each doubling of the number of bits that are shown about halves the number of strings, down to the logarithm.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The chain and its bounds are from {cite:t}`sharper`.
