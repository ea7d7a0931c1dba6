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
# (ch-walsh-transform)=
# # How the transform is computed
#
# ```{verdict}
# The transform that turns the $2^n$ values of a function of $n$ bits into its Fourier coefficients can be computed with few additions, and with few passes over memory. Its matrix of $4^n$ signs is a product of $n$ sparse matrices, so $n\, 2^n$ additions are enough. If the bits are treated one after the other, as in textbooks, the table is read and written once for each. The program of this book treats several bits at once: at $n =$ {glue:text}`largest` it passes over the table at most {glue:text}`ours_largest` times in place of {glue:text}`largest`.
# ```
# **Needs** {ref}`ch-fourier-walsh`. **Read** 8 min. **Runs in** 10 s. **Source** ours; the factors are well known.
#
# **Claim.** The transform multiplies a table of $2^n$ numbers by a $2^n \times 2^n$ matrix of signs. This matrix is a product of $n$ sparse ones, so $n\,2^n$ additions are enough in place of about $4^n$. For a long table, however, it is not the additions that take the time, but the passes of the table through memory, and a good order of the additions needs few of them.

# %% tags=["parameters"]
n_exact = 8  # longest cube whose factors are multiplied out, in bits [2..10]
n_plan = 28  # longest table whose passes are counted, in bits [16..30]
n_timed = 18  # longest table that is timed, in bits [12..24]
tables = 50  # random tables for each n, for exactness and rounding [5..500]
seed = 0  # of the random tables [0..1000000]

# %% mystnb={"code_prompt_hide": "Set-up", "code_prompt_show": "Set-up"} tags=["hide-input"]
import statistics
import time

import torch

from bookkit import Ledger, figures, glue, table
from helpers import cube
from helpers.kernels.walsh import plan, walsh_hadamard, walsh_hadamard_, walsh_hadamard_reference
from helpers.rng import Rng

ledger, source = Ledger("appendix/walsh_transform"), Rng(seed)
factors, passes = ledger.result("appendix.factors"), ledger.result("appendix.passes")

# %% [markdown]
# ## Why one should care
#
# Nearly every chapter on functions of bits needs the Fourier coefficients of such a function. For 20 bits these are a million numbers, and each of them is a sum over a million points. If we computed the sums one by one, a single function would take $10^{12}$ additions, which takes a computer some minutes, and we need the coefficients of thousands of functions.
#
# The fast transform needs twenty million additions in place of $10^{12}$. It is as old as the fast Fourier transform, and simpler. This chapter shows how it works, how exact it is, and why the order of the additions matters once the table is larger than the processor's cache.
#
# ## Four numbers by hand
#
# A function of two bits is a table of four numbers, say $(3, 1, 0, 2)$. Its coefficients, up to a factor of 4, are four sums of these numbers with signs. Computed directly, they take three additions or subtractions each, twelve in all:
#
# $$\begin{aligned} 3 + 1 + 0 + 2 &= 6, & 3 - 1 + 0 - 2 &= 0, \\ 3 + 1 - 0 - 2 &= 2, & 3 - 1 - 0 + 2 &= 4 . \end{aligned}$$
#
# But the sum $3 + 1$ occurs in two of them, and so does the difference $3 - 1$. The fast transform computes such parts only once. In a first step it takes the pairs whose positions differ in the last binary digit, $(3, 1)$ and $(0, 2)$, and replaces each pair $a, b$ by $a + b, a - b$. In a second step it does the same with the pairs whose positions differ in the other digit:
#
# | | position 0 | position 1 | position 2 | position 3 |
# |:--|--:|--:|--:|--:|
# | the table | $3$ | $1$ | $0$ | $2$ |
# | after the first step | $3 + 1 = 4$ | $3 - 1 = 2$ | $0 + 2 = 2$ | $0 - 2 = -2$ |
# | after the second step | $4 + 2 = 6$ | $2 - 2 = 0$ | $4 - 2 = 2$ | $2 + 2 = 4$ |
#
# The last row has the four sums, after eight additions in place of twelve. For $n$ bits there are $n$ steps of $2^n$ additions each.

# %%
by_hand = walsh_hadamard(torch.tensor([3.0, 1.0, 0.0, 2.0]))
table(
    {"set of bits, as a number": list(range(4)), "sum": by_hand.tolist()},
    "Four numbers",
    form=".0f",
)

# %% [markdown]
# ## The statement
#
# A point of the cube is an index $i$ from 0 to $2^n - 1$, and its bits are the binary digits $i_0, \dots, i_{n-1}$. A set $S$ of bits is written as such a number, too. Let $H_n$ be the matrix of all characters, $(H_n)_{S,i} = (-1)^{\sum_k S_k i_k}$, and let $B_k$ be the matrix that works on digit $k$ alone: it replaces each pair of numbers $a, b$ whose indices differ in digit $k$ only by $a + b$ and $a - b$. Such a step is called a *butterfly*.
#
# ```{prf:proposition} Sparse factors
# :label: appendix-factors
# $H_n = B_0 B_1 \cdots B_{n-1}$, in any order. Each row of a factor has two entries that are not zero, so a factor costs $2^n$ additions, and all of them $n\,2^n$.
# ```
#
# **Why it holds.** A character is a product over digits, with the factor $(-1)^{S_k i_k}$ for each. So $H_n$ is the Kronecker product of $n$ copies of $\begin{pmatrix} 1 & 1 \\ 1 & -1 \end{pmatrix}$, and $B_k$ is the same product with all copies but one replaced by the identity. The order does not matter, because factors that work on different digits commute.


# %%
def factor(n, k):
    """The butterfly on digit k as a matrix of 2**n rows."""
    i = torch.arange(2**n)
    B = torch.zeros(2**n, 2**n, dtype=torch.int64)
    B[i, i] = 1 - 2 * (i >> k & 1)
    B[i, i ^ 1 << k] = 1
    return B


def product(n, digits):
    """The factors of these digits, multiplied in this order."""
    found = torch.eye(2**n, dtype=torch.int64)
    for k in digits:
        found = factor(n, k) @ found
    return found


# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "Three sparse factors and their product, for $n = 3$. Red is $+1$, blue is $-1$, and white is 0.", "name": "fig-sparse-factors"}, "image": {"alt": "Four matrices of eight by eight. The three factors have two coloured entries in each row, one or two or four columns apart. Their product is the full table of signs."}} tags=["hide-input"]
fig, axes = figures.new(1, 4, height=2.6, width=9.2)
shown = {f"$B_{k}$": factor(3, k) for k in range(3)}
shown["$H_3 = B_0 B_1 B_2$"] = product(3, range(3))
for ax, (name, M) in zip(axes.flat, shown.items(), strict=True):
    figures.matrix(ax, M, name, ("index of a point", "mask of a set" if name == "$B_0$" else ""))
figures.show()

# %% [markdown]
# In {numref}`fig-sparse-factors` each of the first three matrices is nearly empty, with two coloured cells in each row. These are the two numbers of a pair, and their distance doubles from one factor to the next. The product on the right has no empty cell left.
#
# To test the proposition we multiply the factors out, in both orders, and compare with the matrix of characters; one differing entry would refute it.

# %%
lengths = range(1, n_exact + 1)


def wrong_entries(n, digits):
    """Entries of the product that differ from the matrix of characters."""
    return int((product(n, digits) != cube.characters(n).long()).sum())


wrong = {n: wrong_entries(n, range(n)) + wrong_entries(n, reversed(range(n))) for n in lengths}
additions = {n: sum(int((factor(n, k) != 0).sum()) - 2**n for k in range(n)) for n in lengths}
dense = {n: 2**n * (2**n - 1) for n in lengths}
table(
    {
        "n": list(lengths),
        "additions by factors": list(additions.values()),
        "by the matrix": list(dense.values()),
        "wrong entries, both orders": list(wrong.values()),
    },
    "The factors multiplied out",
)
factors.holds(
    f"number of entries of the product that differ from $H_n$, for $n \\le {n_exact}$ and "
    "both orders; control: one factor left out",
    max(wrong.values()),
    at_most=0,
    control=min(wrong_entries(n, range(n - 1)) for n in lengths),
    about="ours",
    evidence="proved",
)
factors.holds(
    "largest ratio of the number of additions to $n\\,2^n$; control: the matrix without factors",
    max(additions[n] / (n * 2**n) for n in lengths),
    equals=1,
    control=max(dense[n] / (n * 2**n) for n in lengths),
    about="ours",
    evidence="proved",
)

# %% [markdown]
# ## Exact, or rounded how far
#
# On integers the transform is exact, and `helpers.kernels.walsh` refuses a table whose sums could leave their type. On floating point numbers each of the $n$ steps rounds once. If $\varepsilon$ is the spacing of numbers at 1, an output is therefore off by at most $n\, \varepsilon \sum_i |x_i|$. The order of the additions differs between processors, and so do the last digits, but the bound does not. We test the kernel on random tables: integers must be transformed exactly, and floating point numbers within the bound. A transform that leaves out one butterfly shows whether the test would notice a mistake.


# %% mystnb={"code_prompt_hide": "Random tables against the matrix", "code_prompt_show": "Random tables against the matrix"} tags=["hide-input"]
def broken(x):
    """The transform with the last butterfly left out."""
    return torch.cat([walsh_hadamard(half.contiguous()) for half in x.chunk(2, -1)], -1)


def wrong_integers(transform):
    """Tables of integers that are not transformed exactly."""
    count = 0
    for n in range(1, 11):
        x = torch.randint(-99, 100, (tables, 2**n), generator=source.generator)
        expected = (x.double() @ cube.characters(n)).long()  # exact: sums stay below 2**53
        count += int((transform(x) != expected).any(-1).sum())
    return count


def wrong_long(transform):
    """Entries of one long table of integers that differ from the product of sparse factors.

    Its plan has several sweeps above the blocks, one of them of three digits.
    """
    x = torch.randint(-99, 100, (2**n_long,), generator=source.generator)
    expected = x.clone()
    for k in range(n_long):  # B_k, in place of a matrix of 4**n_long entries
        pairs = expected.view(-1, 2, 2**k)
        expected = torch.stack((pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]), 1).flatten()
    return int((transform(x) != expected).sum())


def beyond_the_bound(transform):
    """Tables in float32 that are off by more than the bound."""
    count = 0
    for n in range(1, 15):
        x = source.normal(tables, 2**n).float()
        allowed = n * torch.finfo(x.dtype).eps * x.abs().sum(-1, keepdim=True)
        off = (transform(x).double() - walsh_hadamard_reference(x.double())).abs()
        count += int((off > allowed).any(-1).sum())
    return count


outside = {
    "integers, wrong": [wrong_integers(t) for t in (walsh_hadamard, broken)],
    "float32, beyond the bound": [beyond_the_bound(t) for t in (walsh_hadamard, broken)],
}
table(
    {
        "tables": list(outside),
        "drawn": [10 * tables, 14 * tables],
        "kernel": [found for found, _ in outside.values()],
        "a butterfly left out": [without for _, without in outside.values()],
    },
    "Random tables that the transform gets wrong",
)
n_long = 18  # 2 MiB of int64: 128 blocks
long_sweeps = plan(n_long + 3)  # 2**n numbers have 8 bytes each
passes.holds(
    f"one table of $2^{{{n_long}}}$ integers, sweeps of {', '.join(map(str, long_sweeps))} "
    "digits: number of wrong entries; control: the last butterfly left out",
    wrong_long(walsh_hadamard),
    at_most=0,
    control=wrong_long(broken),
    about="ours",
    evidence="sampled",
)
for name, (found, without) in outside.items():
    passes.holds(
        f"random tables: {name}; control: the last butterfly left out",
        found,
        at_most=0,
        control=without,
        about="ours",
        evidence="sampled",
    )

# %% [markdown]
# ## Passes over memory
#
# Adding two numbers takes a processor less time than fetching them from memory. So for a long table one has to count how often it is read and written. The textbook's order takes one digit at a time and passes over the whole table for each, which makes $n$ passes. A table of $2^{28}$ numbers is far larger than any cache, so in each pass all of it is read from memory and written back.
#
# The *kernel*, that is, the program that computes the transform in this book, saves passes in three ways.
#
# * *Blocks.* The table is cut into blocks of 16 KiB, which fit in the nearest cache. So all digits within a block are done in one visit, most of them in registers.
# * *Sweeps.* Above the blocks one *sweep* takes up to three digits at once: it loads vectors from eight places, performs the three butterflies on them, and stores the results. (To take more than three digits at once brings no gain, because the eight places lie a power of two apart and compete for the same few lines of the cache.)
# * *Depth first.* As soon as a larger block is complete it is swept, while it is still in cache.
#
# *By hand.* A number in float32 has four bytes, so a block holds $2^{12} = 4096$ of them. A table for $n = 16$ has 16 digits. Twelve of them are done within the blocks, in one pass. Four digits remain, which takes two sweeps. So there are three passes in place of 16, and with one digit for each sweep there would be $1 + 4 = 5$. The table counts the passes in these ways, and it counts each sweep as a full pass, although some find their block still in cache.

# %%
sizes = list(range(4, n_plan + 1, 4))
above = {n: plan(n + 2) for n in sizes}  # digits of each sweep; 2**n numbers have 4 bytes each
ours = {n: 1 + len(above[n]) for n in sizes}
one_by_one = {n: 1 + sum(above[n]) for n in sizes}
largest = sizes[-1]
table(
    {
        "n": sizes,
        "textbook": sizes,
        "blocks": list(one_by_one.values()),
        "blocks, sweeps of up to 3": list(ours.values()),
    },
    "Passes over a table of float32 numbers",
)
passes.holds(
    "longest table: ratio of the passes of the textbook's order to those of the kernel; "
    "control: sweeps of one digit",
    largest / ours[largest],
    at_least=3.5,
    control=largest / one_by_one[largest],
    about="ours",
    evidence="attained",
)
glue(largest=largest, ours_largest=ours[largest], moved=ours[largest] * 2 ** (largest - 27))
glue(moved_textbook=largest * 2 ** (largest - 27))

# %% [markdown]
# At $n =$ {glue:text}`largest` these passes move at most {glue:text}`moved:.0f` GiB between memory and processor, in place of {glue:text}`moved_textbook:.0f`. The true number is smaller, because the sweeps over smaller blocks find their block still in cache.
#
# ## What was hard to vectorise
#
# A processor can add 4, 8 or 16 neighbouring numbers with one vector instruction. Whether Numba uses such instructions for a loop over the pairs depends on how the loop is written:
#
# * *With signed indices* it does not, because they are tested for being negative.
# * *With one flat unsigned index of the pair* it does not either, because it finds no run of neighbours.
# * *With two nested unsigned loops, or with two slices,* it does. But such a loop treats one digit at a time, and it does not treat the digits within one vector.
#
# For this reason the kernel writes the vector instructions itself. Digits within one vector need a shuffle and a sign, whereas digits between vectors need only an addition and a subtraction.
#
# The next figure shows what this achieves on the machine that built this page. Its numbers are not compared with those of another machine; `make bench` measures them with care, beside those of other libraries.


# %% mystnb={"code_prompt_hide": "Times", "code_prompt_show": "Times"} tags=["hide-input", "nbval-ignore-output"]
def nanoseconds(call, numbers, rounds=7):
    """CPU time of a call for each number, median."""
    call()
    repeats = max(1, 2**15 // numbers)
    times = []
    for _ in range(rounds):
        start = time.process_time()
        for _ in range(repeats):
            call()
        times.append(1e9 * (time.process_time() - start) / (repeats * numbers))
    return statistics.median(times)


timed = list(range(6, n_timed + 1, 2))
rows = {"torch reference": [], "kernel, in place": [], "one sweep": []}
for n in timed:
    x = torch.zeros(2**n)
    rows["torch reference"].append(nanoseconds(lambda x=x: walsh_hadamard_reference(x), 2**n))
    rows["kernel, in place"].append(nanoseconds(lambda x=x: walsh_hadamard_(x), 2**n))
    rows["one sweep"].append(nanoseconds(lambda x=x: x.mul_(1), 2**n))
table({"n": timed} | rows, "CPU time, ns for each number, float32", form=dict.fromkeys(rows, ".3f"))

# %% mystnb={"code_prompt_hide": "Figure", "code_prompt_show": "Figure", "figure": {"caption": "CPU time for each number against the length of the table, in float32, on the machine that built this page. *One sweep* multiplies the table in place by 1, which is the limit for a long table. For short tables the cost of the call shows.", "name": "fig-transform-time"}, "image": {"alt": "Log plot of nanoseconds per number against n. The torch reference stays far above the kernel at every length; the kernel falls with n as the cost of a call is shared, and lies a small factor above one sweep."}} tags=["hide-input"]
fig, ax = figures.new(height=3.0)
for i, (name, row) in enumerate(rows.items()):
    ax.plot(timed, row, label=name, **figures.series_style(i))
ax.set(yscale="log", xlabel="length of the table, $n$ (bits)", ylabel="CPU time (ns per number)")
ax.legend()
figures.show()

# %% [markdown]
# For long tables, at the right of {numref}`fig-transform-time`, the kernel takes a few times as long as *one sweep*, which only multiplies each number by 1, because the kernel makes several sweeps. One sweep is less than any transform of a long table can take. The plain version in torch is slower at every length. Towards short tables, at the left, all curves rise, because the cost of a call is shared by few numbers.
#
# ## What we found
#
# * The matrix of characters is a product of $n$ sparse factors, in any order, and $n\, 2^n$ additions are enough.
# * The kernel is exact on integers, and within the bound on floating point numbers, on all random tables. (The longest plan is counted and not run.)
# * At $n =$ {glue:text}`largest` it passes over the table at most {glue:text}`ours_largest` times in place of {glue:text}`largest`.
#
# ## What would falsify this
#
# The proposition would be false if a product of the factors had one wrong entry, as it has when a factor is left out. The kernel would be wrong if it returned one wrong integer, or one output beyond the bound, as it does when a butterfly is left out. The claim on passes would be false if the kernel's plan had more passes at the longest table than it says, as it has with one digit a sweep. What a pass costs is not counted here but timed.

# %% mystnb={"code_prompt_hide": "Checks", "code_prompt_show": "Checks"} tags=["hide-input"]
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# In what we read of the authors' repositories we saw no fast transform. For sensitivities, `lacoco-lab/sensitivity-hardness` builds a table of all pairs of inputs, which takes memory for $4^n$ numbers, whereas the transform takes memory for $2^n$.
#
# ## Exercises
#
# ```{exercise}
# :label: ex-walsh-twice
#
# *By hand.* Apply the transform to $(6, 0, 2, 4)$, the outcome of the example. What is the result, and why is no separate program for the inverse needed?
# ```
#
# ```{solution} ex-walsh-twice
# :class: dropdown
#
# The result is $(12, 4, 0, 8)$, four times the table that we began with. The reason is that $H_n$ is symmetric, and its rows are orthogonal with squared length $2^n$, so $H_n H_n = 2^n I$: the table comes back $2^n$ times as large.
# ```
#
# ```{exercise}
# :label: ex-walsh-plan
#
# *With the computer.* For which lengths does one bit more need no further pass? Print the plan of the kernel for 12 to 20 bits, and say why. Then time longer tables by `python -m bookkit.run appendix/walsh_transform -p n_timed 22 --out my_run`. At which length does the time for each number begin to rise, and how large is the table then?
# ```
#
# ```{solution-start} ex-walsh-plan
# :class: dropdown
# ```
#
# The function `plan` returns the digits of each sweep above the blocks. Its argument counts bytes, and a number in float32 has four of them.

# %%
table(
    {n: str(plan(n + 2)) for n in range(12, 21)}, "n, and the digits of each sweep above the blocks"
)

# %% [markdown]
# Above the blocks only every third digit adds a sweep. The two digits after it fit into the same sweep, which then takes two or three digits at once. The time for each number rises where the table no longer fits into a cache, and by how much depends on the machine.
#
# ```{solution-end}
# ```
#
# ```{exercise}
# :label: ex-walsh-convolution
#
# *To think about.* The convolution of two tables is $(f * g)(i) = \sum_j f(j)\, g(i \oplus j)$, where $\oplus$ adds binary digits without carry. Since the direct way takes $4^n$ products, how can the transform do it with about $3 n\, 2^n$ additions and $2^n$ products?
# ```
#
# ```{solution} ex-walsh-convolution
# :class: dropdown
#
# A character of $i \oplus j$ is the product of the characters of $i$ and $j$. So the transform turns a convolution into a product, entry by entry: transform both tables, multiply them, transform the product, and divide by $2^n$.
# ```
#
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The matrix of characters and its Kronecker structure are treated by {cite:t}`odonnell2014`.
