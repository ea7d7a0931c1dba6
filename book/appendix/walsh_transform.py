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
# **Claim.** The transform behind every spectrum in this book multiplies a table with a matrix of $2^n \times 2^n$ signs. That matrix is a product of $n$ sparse ones, so $n\,2^n$ additions do in place of about $4^n$. Past a few thousand numbers the additions are no longer what takes time: moving the table through memory is. So the order matters, and a good one walks the whole table a few times and not $n$ times.
# **Needs** {ref}`ch-fourier-walsh`. **Runs in** 10 s. **Source** ours; the factors are well known.
#
# Write $H_n$ for the matrix of all characters of $n$ bits, $(H_n)_{S,i} = (-1)^{|S \wedge i|}$, where $S \wedge i$ holds the binary digits that the mask $S$ and the index $i$ share. Let $B_k$ be the matrix that works on bit $k$ of the index alone: it replaces each pair of numbers $a, b$ whose indices differ in bit $k$ only by $a + b$ and $a - b$. Such a step is a *butterfly*.
#
# ```{prf:proposition} Sparse factors
# :label: appendix-factors
# $H_n = B_0 B_1 \cdots B_{n-1}$, in any order. Each factor has two non-zero entries in a row, so the whole product costs $2^n$ additions a factor, $n\,2^n$ in all.
# ```
#
# **Why it holds.** A character is a product over bits: $(-1)^{|S \wedge i|} = \prod_k (-1)^{S_k i_k}$, with $S_k, i_k$ the digits. So $H_n$ is the Kronecker product of $n$ copies of $\begin{pmatrix} 1 & 1 \\ 1 & -1 \end{pmatrix}$, and $B_k$ is the same product with all copies but one replaced by the identity. Factors that work on different bits commute.

# %% tags=["parameters"]
n_exact = 8  # longest cube whose factors are multiplied out, in bits [2..10]
n_plan = 28  # longest table whose passes are counted, in bits [16..30]
n_timed = 18  # longest table that is timed, in bits [12..24]
tables = 50  # random tables for each n, for exactness and rounding [5..500]
seed = 0  # of the random tables [0..1000000]

# %%
import statistics
import time

import torch

from helpers import cube
from helpers.book import figures
from helpers.book.claims import Ledger
from helpers.book.output import glue
from helpers.kernels.walsh import plan, walsh_hadamard, walsh_hadamard_, walsh_hadamard_reference

ledger = Ledger("appendix/walsh_transform")
generator = torch.Generator().manual_seed(seed)


def factor(n, k):
    i = torch.arange(2**n)
    B = torch.zeros(2**n, 2**n, dtype=torch.int64)
    B[i, i] = 1 - 2 * (i >> k & 1)
    B[i, i ^ 1 << k] = 1
    return B


def product(n, bits):
    found = torch.eye(2**n, dtype=torch.int64)
    for k in bits:
        found = factor(n, k) @ found
    return found


def wrong_entries(n, bits):
    return int((product(n, bits) != cube.characters(n).long()).sum())


lengths = range(1, n_exact + 1)
wrong = sum(wrong_entries(n, order) for n in lengths for order in (range(n), reversed(range(n))))
wrong_without_one = min(wrong_entries(n, range(n - 1)) for n in lengths)
additions = {n: sum(int((factor(n, k) != 0).sum()) - 2**n for k in range(n)) for n in lengths}
dense = {n: 2**n * (2**n - 1) for n in lengths}
print(f"{'n':>3} {'factors':>10} {'dense':>10}   additions")
for n in lengths:
    print(f"{n:3} {additions[n]:10} {dense[n]:10}")
print(f"wrong entries of the product, both orders, all n: {wrong}")

# %% mystnb={"figure": {"caption": "Three sparse factors and their product, for $n = 3$. Red is $+1$, blue is $-1$, white is 0.", "name": "fig-sparse-factors"}, "image": {"alt": "Four matrices of eight by eight. The three factors have two coloured entries in each row, one or two or four columns apart. Their product is the full table of signs."}} tags=["hide-input"]
fig, axes = figures.new(2, 2, height=5.6, width=5.6)
shown = {
    "$B_0$": factor(3, 0),
    "$B_1$": factor(3, 1),
    "$B_2$": factor(3, 2),
    "$H_3 = B_0 B_1 B_2$": product(3, range(3)),
}
for ax, (name, M) in zip(axes.flat, shown.items(), strict=True):
    figures.matrix(ax, M, name, ("index of a point", "mask of a set"))
figures.show()

# %% [markdown]
# ## Exact, or rounded how far
#
# On integers the transform is exact; `helpers.kernels.walsh` refuses a table whose sums could leave their type. On floating point numbers each of the $n$ steps rounds once. With $\varepsilon$ the spacing of numbers at 1, an output is off by at most $n\, \varepsilon \sum_i |x_i|$. The order of the additions differs between processors, so the last digits do too; the bound does not.


# %%
def broken(x):
    """The transform with the last butterfly left out."""
    half = x.shape[-1] // 2
    return torch.cat(
        (walsh_hadamard(x[..., :half].contiguous()), walsh_hadamard(x[..., half:].contiguous())), -1
    )


def integers_wrong(transform):
    count = 0
    for n in range(1, 11):
        x = torch.randint(-99, 100, (tables, 2**n), generator=generator)
        expected = (x.double() @ cube.characters(n)).long()  # exact: sums stay below 2**53
        count += int((transform(x) != expected).any(-1).sum())
    return count


def beyond_the_bound(transform):
    count = 0
    for n in range(1, 15):
        x = torch.randn(tables, 2**n, generator=generator)
        allowed = n * torch.finfo(x.dtype).eps * x.abs().sum(-1, keepdim=True)
        off = (transform(x).double() - walsh_hadamard_reference(x.double())).abs()
        count += int((off > allowed).any(-1).sum())
    return count


integer_errors, integer_control = integers_wrong(walsh_hadamard), integers_wrong(broken)
rounding_errors, rounding_control = beyond_the_bound(walsh_hadamard), beyond_the_bound(broken)
print(f"integer tables transformed wrongly: {integer_errors} of {10 * tables}")
print(f"float32 tables off by more than the bound: {rounding_errors} of {14 * tables}")

# %% [markdown]
# ## Passes over memory
#
# The textbook order takes one bit at a time and walks the whole table for each: $n$ passes. A table of $2^{28}$ numbers is far larger than any cache, so each pass reads and writes it all from memory.
#
# The kernel of this book does otherwise. Blocks of 16 KiB fit in the nearest cache; all bits within a block are done in one visit, most of them in registers. Above that, one *sweep* takes up to three bits at once: it loads vectors from eight places, does three butterflies on them, and stores them. More than three do not pay, because the eight places lie a power of two apart and compete for the same few lines of the cache. And sweeps go depth first: as soon as a larger block is complete it is swept, while it is still in cache.


# %%
sizes = list(range(4, n_plan + 1, 4))
bits_above = {n: sum(plan(n + 2)) for n in sizes}  # 2**n numbers of 4 bytes: n + 2 address bits
ours = {n: 1 + len(plan(n + 2)) for n in sizes}
textbook = {n: n for n in sizes}
one_bit_blocks = {n: 1 + bits_above[n] for n in sizes}
largest = sizes[-1]
gain = textbook[largest] / ours[largest]
gain_of_blocks = textbook[largest] / one_bit_blocks[largest]
glue(
    largest=largest,
    gain=gain,
    ours_largest=ours[largest],
    moved=ours[largest] * 8 * 2**largest / 2**30,
    moved_textbook=textbook[largest] * 8 * 2**largest / 2**30,
)
print(f"{'n':>3} {'textbook':>9} {'blocks':>7} {'blocks and sweeps of 3':>23}")
for n in sizes:
    print(f"{n:3} {textbook[n]:9} {one_bit_blocks[n]:7} {ours[n]:23}")

# %% [markdown]
# At $n =$ {glue:text}`largest` that is {glue:text}`ours_largest` passes, {glue:text}`gain:.1f` times fewer than the textbook order; in float32 {glue:text}`moved:.0f` GiB are moved in place of {glue:text}`moved_textbook:.0f`.
#
# ## What was hard to vectorise
#
# A processor adds 4, 8 or 16 numbers in one instruction, if it is told to. A plain loop over pairs, compiled by Numba, is not: the compiler cannot exclude that the two halves of a pair overlap, checks once, and falls back to one number at a time. The kernel therefore writes the vector instructions itself. Bits within one vector need a shuffle and a sign. Bits between vectors need only an addition and a subtraction.
#
# {numref}`fig-transform-time` shows what that is worth on the machine that built this page: times per number for the torch reference, the kernel, and the limit, one sweep over the same table. The numbers differ between machines and are not compared; `make bench` measures them with care, beside more peers.


# %% tags=["nbval-ignore-output"]
def nanoseconds(call, numbers, rounds=7):
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
print("ns a number, float32, one thread where torch has one: " + ", ".join(rows))
for i, n in enumerate(timed):
    print(f"{n:3} " + " ".join(f"{row[i]:9.3f}" for row in rows.values()))

# %% mystnb={"figure": {"caption": "CPU time per number against the length of the table, in float32, on the machine that built this page. The dashed-and-dotted line is one sweep over the table by torch, the limit for a long one; short ones pay for the call.", "name": "fig-transform-time"}, "image": {"alt": "Log plot of nanoseconds per number against n. The torch reference stays far above the kernel at every length; the kernel falls with n as the cost of a call is shared, and lies a small factor above one sweep."}} tags=["hide-input"]
fig, ax = figures.new(height=3.0)
for name, row in rows.items():
    ax.plot(timed, row, label=name)
ax.set(yscale="log", xlabel="length of the table, $n$ (bits)", ylabel="CPU time (ns per number)")
ax.legend()
figures.show()

# %% [markdown]
# ## What would falsify this
#
# One wrong entry in the product of the factors would end the proposition; its control leaves one factor out. The count of additions is controlled by the dense product. One wrong integer, or one output beyond the bound, would condemn the kernel; the control leaves the last butterfly out. The passes are read from the kernel's own plan; their control keeps its blocks and sweeps one bit at a time.

# %%
ledger.result("appendix.factors").holds(
    f"entries of the product of the factors that differ from $H_n$, $n \\le {n_exact}$, both orders",
    wrong,
    at_most=0,
    control=wrong_without_one,
    about="ours",
    evidence="exhaustive",
)
ledger.result("appendix.factors").holds(
    "additions over $n\\,2^n$, largest ratio",
    max(additions[n] / (n * 2**n) for n in lengths),
    equals=1,
    control=max(dense[n] / (n * 2**n) for n in lengths),
    about="ours",
    evidence="exhaustive",
)
ledger.result("appendix.passes").holds(
    "integer tables transformed wrongly, $n \\le 10$",
    integer_errors,
    at_most=0,
    control=integer_control,
    about="ours",
    evidence="sampled",
)
ledger.result("appendix.passes").holds(
    "float32 tables off by more than $n\\,\\varepsilon \\sum |x_i|$, $n \\le 14$",
    rounding_errors,
    at_most=0,
    control=rounding_control,
    about="ours",
    evidence="sampled",
)
ledger.result("appendix.passes").holds(
    "passes of the textbook order over passes of the kernel, longest table",
    gain,
    at_least=3.5,
    control=gain_of_blocks,
    about="ours",
    evidence="attained",
)
ledger.show()

# %% [markdown]
# ## What the authors' code does differently
#
# In what we read of the authors' repositories we saw no fast transform. For sensitivities, `lacoco-lab/sensitivity-hardness` builds a table of all pairs of inputs, which needs $4^n$ numbers of memory where this needs $2^n$.
#
# ## Exercises
#
# ```{admonition} Exercise 1
# Apply the transform twice. What comes back, and why does no inverse need to be written?
# ```

# %% tags=["hide-cell"]
# H is symmetric with orthogonal rows of squared length 2**n, so H H = 2**n I.
x = torch.randint(-9, 10, (2**6,), generator=generator)
print(bool((walsh_hadamard(walsh_hadamard(x)) == 2**6 * x).all()))

# %% [markdown]
# ```{admonition} Exercise 2
# Which lengths need as many passes as one bit more? Look at the plan, and say why.
# ```

# %% tags=["hide-cell"]
# Every third bit adds a sweep; the bits between only make a sweep of one or two bits fuller.
for n in range(12, 21):
    print(n, "bits of each sweep above the blocks:", plan(n + 2))

# %% [markdown]
# ## References
#
# ```{bibliography}
# :filter: docname in docnames
# ```
#
# The matrix of characters and its Kronecker structure are treated by {cite:t}`odonnell2014`.
