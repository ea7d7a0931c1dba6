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
# (ch-automaton-steps)=
# # A step of an automaton depends on a few bits
#
# ```{verdict}
# Yes, one step of a finite automaton depends on a fixed number of bits, whatever the length of its word. Let $N$ be the number of its letters times that of its states. Of the bit flips that lead to another letter or state, at most $\log_2 N$ change a given bit of the next state, on average over states and letters. None of the {glue:text}`listed` automata listed violates this bound. In contrast, the last state of PARITY's automaton, computed in one go from {glue:text}`word` letters, depends on all of them.
# ```
# **Needs** {ref}`ch-average-sensitivity`. **Read** 13 min. **Runs in** 15 s. **Source** printed.
#
# **Claim.** If an automaton writes each state down before it reads the next letter, then each of its steps is a function of a few bits, whatever the length of its word. So the step's sensitivity does not grow with the length, while that of the last state may. Whether the sensitivity of the last state grows is decided by a criterion on pairs of states, which is ours.
#
# ## Why one should care
#
# A transformer that must say the parity of a long string at once has to compute a function in which every bit matters, and such transformers are brittle ({ref}`ch-brittle-transformers`). Language models are often asked to write down intermediate results, a *scratchpad*, and then solve problems at which they fail otherwise. Theorem 7 offers a reason: with a scratchpad the model is never asked for a sensitive function. Two questions decide how much this explains. Is every step really insensitive, for every automaton and every way to write its states as bits? And was the last state a sensitive function in the first place? If a problem is insensitive without a scratchpad, there is nothing to gain.
#
# ## Two automata by hand
#
# Both automata have two states, 0 and 1, start in state 0, and read the letters 0 and 1. The first changes its state at every letter 1, so its last state is the PARITY of the word. The second goes to the state that is named by the letter, so its last state is the LAST letter. Here are their states on the word 1011 and on the word 1111, in which the second letter is flipped:
#
# | word | states for PARITY | states for LAST |
# |:--|:--|:--|
# | 1, 0, 1, 1 | 1, 1, 0, 1 | 1, 0, 1, 1 |
# | 1, 1, 1, 1 | 1, 0, 1, 0 | 1, 1, 1, 1 |
#
# For PARITY the flip changes the second state and all states after it, because the two runs never meet again. For LAST it changes the second state only, because the next letter leads both runs to the same state. So the last state of PARITY changes at the flip of any of its $n$ letters, whereas the last state of LAST changes at one flip only.
#
# With a scratchpad, on which each state is written down, the two automata look alike. The second state of either is a function of the first state and the second letter, that is, of two bits. For PARITY both of the two flips change it, for LAST only one does, and the theorem allows $\log_2 (2 \cdot 2) = 2$.
#
# ## The statement
#
# An *automaton* has a finite set of states $X$, an alphabet $\Sigma$ and a map $T : X \times \Sigma \to X$. From a state $t_0$ it reads a word $x_1 \dots x_n$ and passes through $t_i = T(t_{i-1}, x_i)$. PARITY is the last state of the automaton with two states, two letters and $T(t, x) = t \oplus x$, where $\oplus$ is the sum modulo 2. A model can be asked for $t_n$ at once, or for $t_1, t_2, \dots$ one after the other. In the second case it reads at step $i$ the word and the *scratchpad* $t_1 \dots t_{i-1}$ that it has written.
#
# For a function $f$ of bits into $\{-1, 1\}$ let $s(x, f)$ be the number of bits of $x$ whose flip changes $f$. Its mean over all $x$ is the average sensitivity $\mathrm{as}(f)$.
#
# ```{prf:theorem} Hahn and Rofin (2024), Theorem 7 and its proof (Appendix D)
# :label: sensitive-thm7
# Simulating an automaton with a scratchpad has sensitivity $O(1)$ for each autoregressive step. If states and letters are written with $\log |X|$ and $\log |\Sigma|$ bits, a step depends on $\log |\Sigma| |X|$ bits and is a polynomial of at most this degree.
# ```
#
# The second sentence is from the proof. We read its logarithms, which are printed without a base, to the base 2, and the automaton as fixed while the word grows.
#
# **Proof of Theorem 7.** Of all that the model can see, step $i$ needs only $t_{i-1}$ and $x_i$, which have $\log_2 |\Sigma| |X|$ bits together. A function of $k$ bits has degree at most $k$, and $s(x, f) \le k$ at every $x$. $\square$
#
# Note what a flip means in this theorem: it changes one bit that the model reads, of the word or of the scratchpad, and leaves all others, the written states among them, as they are. If the states were computed again after the flip, flipping one bit would change the answer of PARITY as before.

# %% tags=["parameters"]
states = 3  # number of states of the automata listed, which read two letters [2..3]
word = 256  # longest word for the sensitivity of a last state [128..1024]
bits = 6  # letters of the words on which a scratchpad is compared with none [3..9]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import math

import pandas as pd
import torch

from bookkit import Ledger, figures, glue, table
from helpers import cube
from helpers.cube import average_sensitivity, degree
from papers.sensitive import automata

ledger = Ledger("sensitive/automaton_steps")
thm7 = ledger.result("sensitive.thm7")
rounding = 1e-9  # far above the rounding of sums of at most 2**16 terms of order one

# %% [markdown]
# ## The last state, in one go
#
# What would a scratchpad gain? This depends on how sensitive the last state is without one, as a function of all letters. We consider its average sensitivity $\mathrm{as}_n$ on words of $n$ letters, summed over the bits of its code. It can be computed without a list of all words, because the pair of runs with and without a flip is a Markov chain on $X \times X$. We take *every* automaton with two letters and a few states.

# %%
machines = automata.every_automaton(states, 2)
in_one_go = automata.final_sensitivity(machines, word)  # (automata, word)
grows = automata.grows(machines)

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Average sensitivity of the last state as a function of the whole word, over all automata with two letters and, unless the parameter is changed, three states: from the least to the largest (shade) and the median (line), separately for the two kinds that the criterion of {prf:ref}`scratchpad-growth` distinguishes. Grey: the bound for all bits of one step with a scratchpad together.", "name": "fig-last-state"}, "image": {"alt": "Log-log plot against the length of the word. The automata of the first kind lie in a band that rises with slope one. Those of the second kind fill a band that starts at 0; its median is level from some eight letters on, below a grey horizontal line, and its upper edge from some fifty on, above that line."}} tags=["hide-input"]
fig, ax = figures.new(height=2.9)
at = list(range(1, word + 1))
for k, (rows, label) in enumerate(
    ((in_one_go[grows], "can part for good"), (in_one_go[~grows], "cannot"))
):
    ax.plot(at, rows.median(0).values, label=label, markevery=[2**j - 1 for j in range(8)])
    figures.interval(ax, at, rows.amin(0), rows.amax(0), color=figures.COLOURS[k])
figures.level(ax, math.log2(2 * states) * automata.code(states).shape[-1], "bound of a step")
ax.set(xscale="log", yscale="log", ylim=(0.3, None), xlabel="letters of the word, $n$")
ax.set_ylabel("$\\mathrm{as}_n$ of the last state")
ax.legend(loc="upper left")
figures.show()

# %% [markdown]
# {numref}`fig-last-state` shows two bands. The upper one, *can part for good* in the legend, rises with slope one, and its automata are those whose sensitivity a scratchpad lowers. An example is PARITY. If letters permute states, two different states never become equal. So once a flip has made the two runs different, they stay different, and $\mathrm{as}_n$ is linear. (If no flip ever makes them different, for example because all letters act alike, $\mathrm{as}_n$ is 0.)
#
# The lower band, *cannot* in the legend, becomes level: its median does so after some eight letters and its upper edge after some fifty. Its automata are the majority. Most of them forget the past, as LAST does: whatever a flip has changed, the two runs sooner or later meet again. A few remember an early letter for ever. An example is FIRST, whose first letter leads to one of two states that are never left. But in these automata a flip can separate two runs for good only at states that a run soon leaves, so only a bounded number of letters counts.
#
# Whether they forget or remember, the last state of the automata in the lower band is as insensitive in one go as it is step by step, up to a constant, which can be large, as we will see below. On words of up to some ten letters the two bands overlap. On longer words there is a gap between them, in which no automaton lies and which widens with the length. The following proposition says why:
#
# ```{prf:proposition} Bounded or linear (ours)
# :label: scratchpad-growth
# Suppose that letters are uniform and independent, and call a pair of states *parted* if no word leads both to one state. A state is *recurrent* if it can be reached and if every state that it leads to leads back to it. If at some recurrent state the flip of one bit makes it possible to reach a parted pair, then $\mathrm{as}_n \ge c\, n$ for some $c > 0$ and all large $n$. If there is no such state, $\mathrm{as}_n$ is bounded.
# ```
#
# For example, the two states of PARITY are a parted pair, because every letter changes both or neither. Both states are recurrent, and the flip of a letter leads to this pair at once, so $\mathrm{as}_n$ grows linearly. In LAST each letter leads both states to the same one, so no pair of states is parted. In FIRST the two final states are a parted pair, but only from the starting state can a flip lead to it, and the starting state is not recurrent.
#
# **The idea of the proof.** A flip matters at the end if the two runs never meet again. If flips with this effect remain possible all along the word, as in PARITY, every part of the word contributes. If runs always meet, as in LAST, only the last letters contribute. If a flip can separate runs for good only near the beginning, as in FIRST, the first letters contribute too.
#
# ```{dropdown} Proof
# We treat the two cases of the proposition one after the other.
#
# *Linear.* In the first case the automaton is in this state at a positive share of all steps, on average over words. Each time, the flip leads to a parted pair within a fixed number of letters with some fixed chance, and from then on the two runs differ.
#
# *Bounded.* In the second case no pair that a flip can make at a recurrent state, and no pair that is reached from such a pair, is parted. So from each of them the runs meet within $|X|^2$ letters with some fixed chance. Therefore the chance that they still differ decays geometrically, and the sum over the time of the flip is bounded. The expected number of visits to all other states is finite. $\square$
# ```
#
# To test the criterion we compare it with the growth that we see, and an automaton that grows in the other way than predicted would speak against it. The next lines count an automaton as linear if the second half of the longest word adds more than 0.1 per letter to $\mathrm{as}_n$. This threshold is our choice, and the table shows that no automaton comes near it.

# %%
per_letter = (in_one_go[:, -1] - in_one_go[:, word // 2 - 1]) / (word - word // 2)
linear = per_letter > 0.1
permute = (machines.sort(-2).values == torch.arange(states)[:, None]).all((-2, -1))
counts = {
    "automata": len(machines),
    "linear": int(linear.sum()),
    "linear, though not every letter permutes the states": int((linear & ~permute).sum()),
    "least increase per letter of the linear ones": per_letter[linear].min().item(),
    "largest increase per letter of the others": per_letter[~linear].max().item(),
    "largest sensitivity of the others": in_one_go[~linear, -1].max().item(),
}
table(counts, f"The last state after {word} letters, {states} states")

# %% mystnb={"code_prompt_hide": "Check", "code_prompt_show": "Check"} tags=["hide-input"]
thm7.holds(
    "number of automata of the figure for which the growth of the last state's sensitivity "
    'is predicted wrongly; control: the rule "every letter permutes the states"',
    int((grows != linear).sum()),
    at_most=0,
    control=int((permute != linear).sum()),
    about="ours",
    evidence="exhaustive",
)

# %% [markdown]
# The criterion is right for every automaton of the figure. A shorter rule, that an automaton is linear exactly if every letter permutes its states, is wrong for many, because most of the linear automata in the table have a letter that does not permute the states.
#
# With three states the bounded kind is easy to tell from the linear one, but with more states its bound can be out of reach of real words. Take PARITY that returns to its first state after ten ones in a row. Its 20 states hold the parity and the number of ones since the last zero, and the criterion says that it is of the bounded kind. We compute its $\mathrm{as}_n$ beside that of PARITY.

# %%
state = torch.arange(20)  # parity + 2 * (ones in a row)
returns = torch.stack((state % 2, (state ^ 1) + 2), -1)  # after a zero, after a one
returns[-2:, 1] = 0  # the tenth one
assert not automata.grows(returns)
lengths = [word, 4 * word, 16 * word]
beside = {"PARITY": automata.PARITY, "PARITY that returns": returns}
far = {k: automata.final_sensitivity(T, lengths[-1]).numpy() for k, T in beside.items()}
far = pd.DataFrame({k: [v[n - 1] for n in lengths] for k, v in far.items()}, lengths)
table(
    far.rename_axis("letters"), "A bounded kind that is level only on very long words", form=".1f"
)
glue(returns=far["PARITY that returns"][word])

# %% [markdown]
# At {glue:text}`word` letters the automaton that returns has $\mathrm{as}_n =$ {glue:text}`returns:.0f`, nearly that of PARITY. The reason is that a flip usually makes the two runs differ in parity, and then they differ until ten ones come in a row, for which one waits $2^{11} - 2 = 2046$ letters on average. With $k$ ones in place of ten there are $2k$ states, and this time is $2^{k+1} - 2$. So the bound can be exponential in the number of states, and at a given length the constant can matter more than the kind.
#
# ## Any automaton, any code
#
# We come back to the scratchpad, that is, to a single step. Does the bound of Theorem 7 hold if $|X|$ is no power of two? In this case $\log_2 |X|$ is not a whole number of bits, and some bit strings are not the code of a state. So let states and letters have any distinct *codes*, words of 0s and 1s. A flip counts if it leads from one code to another.
#
# ```{prf:proposition} Codes (ours)
# :label: scratchpad-codes
# Let $X$ and $\Sigma$ have any distinct codes, and let $g$ be one bit of the code of $T(t, x)$. The mean over $t$ and $x$ of the number of flips that change $g$ is at most $\log_2 |X| |\Sigma|$. If both sizes are powers of two and all words are codes, equality holds iff $g$ is the parity of all bits, or its negation.
# ```
#
# **Proof.** A set of $N$ words of $m$ bits has at most $\frac N2 \log_2 N$ pairs that are one flip apart. (By the edge-isoperimetric inequality {cite}`odonnell2014` at least $N (m - \log_2 N)$ of the $N m$ flips of its words lead out of the set, and the others count each pair twice.) So a word has at most $\log_2 N$ neighbours on average, and no more flips can change $g$. If all words are codes, equality means that every flip changes $g$. $\square$
#
# So there are three versions of the bound on a step:
#
# * *The mean over codes, of flips that lead to codes*, is at most $\log_2 |X| |\Sigma|$, and needs no assumption on the number of bits. (If the codes are so far apart that no flip leads from one to another, the proposition is empty.)
# * *The same bound at every single input* does need such an assumption: with three states coded 00, 01, 10 and two letters an input can have three flips, which is more than $\log_2 6 = 2.58$.
# * *The mean over all strings*, if the model can also be given strings that are no code, needs the assumption too. If a step is extended to them, its average sensitivity is at most the number of bits, which is 3 in the example just given, and this is reached if one bit of the next state is the parity of all three bits.
#
# In every case the bound is a number that does not depend on the word, so Theorem 7 stands.
#
# To test the first version we list *every* automaton of some sizes, in binary code. A mean above the bound would refute the proposition.

# %%
rows = []
for q, s in ((2, 2), (2, 3), (2, 4), (3, 2), (3, 3), (4, 2)):
    flips = automata.step_flips(automata.every_automaton(q, s))
    mean, bound = flips.double().mean((-3, -2)), math.log2(q * s)  # (machines, output bits)
    row = {"states": q, "letters": s, "automata": len(mean)}
    row |= {"largest mean": mean.max().item(), "bound": bound}
    row |= {"that attain it": int((mean > bound - rounding).any(-1).sum())}
    rows.append(row | {"largest at one input": int(flips.max())})
every = pd.DataFrame(rows)
table(every, "Flips that change a bit of the next state")

# %% mystnb={"code_prompt_hide": "Check", "code_prompt_show": "Check"} tags=["hide-input"]
two_letters = automata.PARITY[automata.PARITY].flatten(1)  # state by state and pair of letters
at_once = automata.step_flips(two_letters).double().mean((-3, -2)).max()
thm7.holds(
    "largest ratio of the mean number of flips that change a step to $\\log_2 "
    "|X||\\Sigma|$, over every automaton of six sizes; control: PARITY that reads two "
    "letters at each step, against the bound for one",
    (every["largest mean"] / every["bound"]).max(),
    at_most=1,
    tol=rounding,
    control=at_once / math.log2(2 * 2),
    about="statement",
    evidence="proved",
)
glue(listed=int(every["automata"].sum()), word=word)

# %% [markdown]
# No mean exceeds its bound, but at single inputs the number of flips can. With two states and two letters only PARITY and its negation attain the bound, so among the smallest automata PARITY is the worst one also with a scratchpad.
#
# ## The data do not say which function
#
# A model learns from data, and the data need not force it to use the scratchpad. On the strings of a run the scratchpad is determined by the word, so functions with much larger sensitivity fit the same strings.
#
# We list two functions on *all* strings of {glue:text}`bits` bits and $i$ scratch bits $s_1 \dots s_i$: the step $x_i \oplus s_i$, and the parity of $x_1 \dots x_i$, which ignores the scratchpad. (On a run $s_i$ is the state $t_{i-1}$, so that $s_1 = 0$ is the starting state; in the list $s_1$ takes both values, like every other bit.) A step with a degree above 2 would speak against the theorem.

# %%
rows = []
for i in range(1, bits + 1):
    strings = cube.bits(bits + i)
    step = 1.0 - 2 * (strings[:, i - 1] ^ strings[:, -1]).double()
    whole = 1.0 - 2 * (strings[:, :i].sum(-1) % 2).double()
    row = {"step": i, "as, step": average_sensitivity(step).item()}
    row |= {"as, whole": average_sensitivity(whole).item()}
    row |= {"degree, step": degree(step), "degree, whole": degree(whole)}
    rows.append(row | {"differ on": int((step != whole).sum()), "strings": len(strings)})
either = pd.DataFrame(rows)
table(either, "The step and the parity of the whole prefix")

# %% mystnb={"code_prompt_hide": "Check", "code_prompt_show": "Check"} tags=["hide-input"]
thm7.holds(
    "PARITY: largest degree of a step as a function of its bits; control: the function of "
    "the whole prefix",
    either["degree, step"].max(),
    at_most=2,
    control=either["degree, whole"].max(),
    about="statement",
    evidence="proved",
)
glue(bits=bits)

# %% [markdown]
# In the table the sensitivity of the step remains 2, whereas that of the parity grows with $i$. On a run $s_i$ is the parity of $x_1 \dots x_{i-1}$, so both functions are right on every run, although they differ on half of all strings. The theorem is about the function that can be computed with a scratchpad, and not about what is learned. A learner could ignore the scratchpad, and then nothing would be gained. What models learn is the subject of {ref}`ch-scratchpad`.
#
# ## What would falsify this
#
# The theorem would be false if the average sensitivity or the degree of a step exceeded the bound. The checks can notice this, since a step that reads two letters at once and the parity of the whole prefix do exceed it. Our criterion would be false if it put an automaton on the wrong side, as the shorter criterion *every letter permutes the states* does.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# The authors' code has no automata. It trains models of PARITY with a scratchpad ({ref}`ch-scratchpad`).
#
# ## What we found
#
# * Theorem 7 is true. Where all words are codes, its bound is attained by parities of all bits and by no other function. As a bound on the mean of the flips between codes it needs no assumption on the number of bits, whereas as a bound at every single input, or on strings that are no code, it does.
# * The theorem is about the step and not about the data, because the parity of the prefix fits the same strings and has sensitivity $i$.
# * A last state has bounded or linear sensitivity, and a criterion on pairs of states says which. A scratchpad lowers the order of the sensitivity only for automata of the linear kind. For the others the bound may be reached on very long words only.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-scratchpad-rewritten
#
# *By hand.* Flip one bit of the word and write the scratchpad again. How many of the $n$ states of PARITY change, on average over the bits? What does that say about the sensitivity of the whole scratchpad?
# ```
#
# ```{solution} ex-scratchpad-rewritten
# :class: dropdown
#
# A flip of bit $i$ changes $t_i, \dots, t_n$, which are $(n + 1)/2$ states on average. All flips together change $n (n + 1)/2$ states. So the scratchpad as a whole is more sensitive than the last state alone, and only its single steps are insensitive.
# ```
#
# ```{exercise}
# :label: ex-scratchpad-reset
#
# *With the computer.* First list the automata with two states, by `python -m bookkit.run sensitive/automaton_steps -p states 2 --out my_run`. How many of them are linear? Then give PARITY a third letter that resets the state to 0, with the codes 00, 01 and 10 for the letters 0, 1 and *reset*, and compute $\mathrm{as}_n$ of its last state. What if the third letter leaves the state as it is?
# ```
#
# ```{solution-start} ex-scratchpad-reset
# :class: dropdown
# ```
#
# A table of transitions has a row for each state and a column for each letter.

# %%
third = {"reset": [0, 0], "stay": [0, 1]}
answer = {}
for name, after in third.items():
    T = torch.cat((automata.PARITY, torch.tensor(after)[:, None]), 1)
    sensitivity = automata.final_sensitivity(T, 64)
    answer[name] = {n: sensitivity[n - 1].item() for n in (1, 4, 16, 64)}
answer = pd.DataFrame.from_dict(answer, orient="index").rename_axis("third letter")
table(answer, "Average sensitivity of the last state, by the length of the word", form=".2f")

# %% [markdown]
# Of the 16 automata with two states only two have a linear last state, PARITY and the automaton that exchanges the two letters. With a reset the sensitivity is bounded, because every reset makes two runs meet, and on average a third of the letters are resets. A letter that leaves the state as it is never makes two runs meet, so with this letter the growth remains linear. In other words, a scratchpad lowers the order of the sensitivity if a letter can change all later states, wherever in the word it stands.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-scratchpad-automaton
#
# *To think about.* Find an automaton with three states and two letters, not all of whose letters permute the states, whose last state has linear sensitivity.
# ```
#
# ```{solution} ex-scratchpad-automaton
# :class: dropdown
#
# PARITY on states 0 and 1, with a state 2 that is never seen, from which both letters lead to 0. The table of the last state counts all of them.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The theorem is from {cite:t}`sensitive`; the number of neighbours in a set of words is in {cite:t}`odonnell2014`.
