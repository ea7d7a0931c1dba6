r"""Training steps of :class:`papers.lengthfree.majority_task.Run`, compiled: one model at a time.

Weights are one flat float32 array; :func:`parts` are views of it. With :math:`z_{jb}` the weight of
bit b at place j under the class token's query, a head's average is

.. math:: \frac{\sum_j z_{j x_j} (p_j + e_{x_j}) + z_c\, c}{\sum_j z_{j x_j} + z_c} ,

over and under linear in the bits x: one product of the strings with a table. The tests compare
values and gradients with :func:`papers.lengthfree.majority_task.outputs`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from helpers.kernels.compiled import njit

SIZES = (2, 64, 64)  # heads, columns of a head, columns of a token
BATCH, MOMENTUM = 128, 0.9
RATE, LEAST_RATE = 0.01, 0.001
H, A, D = SIZES
_SCALE = np.float32(A**-0.5)
_njit: Any = njit(fastmath=True)


@_njit
def parts(w: Any, r: int, heads: int, inner: int, width: int) -> Any:
    """Views of the weights, or of their gradient: see ``majority_task.LEARNED``."""
    n = heads * r * inner
    query, at = w[:n].reshape(heads, r, inner), n
    query_bias, at = w[at : at + heads * inner].reshape(heads, inner), at + heads * inner
    key, at = w[at : at + n].reshape(heads, r, inner), at + n
    value, at = w[at : at + n].reshape(heads, r, inner), at + n
    value_bias, at = w[at : at + heads * inner].reshape(heads, inner), at + heads * inner
    n = heads * inner * width
    project, at = w[at : at + n].reshape(heads, inner, width), at + n
    project_bias, at = w[at : at + width], at + width
    dense, at = w[at : at + width * width].reshape(width, width), at + width * width
    dense_bias, at = w[at : at + width], at + width
    readout, at = w[at : at + 2 * width].reshape(width, 2), at + 2 * width
    first = query, query_bias, key, value, value_bias, project, project_bias
    return (*first, dense, dense_bias, readout, w[at:])


@_njit
def _tables(w: Any, zero: Any, one: Any, cls: Any) -> Any:
    """Attention of every token, and the maps behind it."""
    T, r = zero.shape
    query, query_bias, key, value, value_bias, project, project_bias = parts(w, r, H, A, D)[:7]
    change = np.empty((T, H * (r + 1)), np.float32)  # of under and over, from a 0 to a 1
    base = np.empty(H * (r + 1), np.float32)  # of the string of zeros
    q, z = np.empty((H, A), np.float32), np.empty((H, 2 * T + 1), np.float32)
    merged, bias = np.empty((H * r, D), np.float32), project_bias.copy()
    for h in range(H):
        q[h] = np.dot(cls, query[h]) + query_bias[h]
        k = np.dot(key[h], q[h]) * _SCALE
        z[h, :T], z[h, T : 2 * T], z[h, 2 * T] = np.dot(zero, k), np.dot(one, k), np.dot(cls, k)
        z[h] = np.exp(z[h] - z[h].max())
        under, over = h * (r + 1), h * (r + 1) + 1
        base[under] = z[h, 2 * T] + z[h, :T].sum()
        base[over : over + r] = z[h, 2 * T] * cls + np.dot(z[h, :T], zero)
        for j in range(T):
            change[j, under] = z[h, T + j] - z[h, j]
            for i in range(r):
                change[j, over + i] = z[h, T + j] * one[j, i] - z[h, j] * zero[j, i]
        merged[h * r : (h + 1) * r] = np.dot(value[h], project[h])
        bias += np.dot(value_bias[h], project[h])
    return q, z, change, base, merged, bias


@_njit
def _read(w: Any, x: Any, change: Any, base: Any, merged: Any, bias: Any) -> Any:
    """Averages of the heads and what lies under them, hidden units, logits."""
    B, r = len(x), len(merged) // H
    dense, dense_bias, readout, readout_bias = parts(w, r, H, A, D)[7:]
    sums = np.dot(x, change)
    average, under = np.empty((B, H * r), np.float32), np.empty((B, H), np.float32)
    for n in range(B):
        for h in range(H):
            at = h * (r + 1)
            under[n, h] = sums[n, at] + base[at]
            for i in range(r):
                average[n, h * r + i] = (sums[n, at + 1 + i] + base[at + 1 + i]) / under[n, h]
    hidden = np.dot(average, merged)
    for n in range(B):
        for i in range(D):
            hidden[n, i] = max(hidden[n, i] + bias[i], np.float32(0))
    logits = np.dot(hidden, np.dot(dense, readout))
    return average, under, hidden, logits + (np.dot(dense_bias, readout) + readout_bias)


@_njit
def gradient(w: Any, g: Any, x: Any, y: Any, places: Any, tokens: Any) -> int:
    """Write the gradient of the mean loss over a batch into g; the number that are right."""
    T, r = places.shape
    B = len(x)
    zero, one, cls = places + tokens[0], places + tokens[1], tokens[2]
    _, _, key, value, value_bias, project, _ = parts(w, r, H, A, D)[:7]
    dense, dense_bias, readout, _ = parts(w, r, H, A, D)[7:]
    to_query, to_query_bias, to_key, to_value, to_value_bias = parts(g, r, H, A, D)[:5]
    to_project, to_project_bias = parts(g, r, H, A, D)[5:7]
    to_dense, to_dense_bias, to_readout, to_readout_bias = parts(g, r, H, A, D)[7:]
    q, z, change, base, merged, bias = _tables(w, zero, one, cls)
    average, under, hidden, logits = _read(w, x, change, base, merged, bias)
    right, slope = 0, np.empty((B, 2), np.float32)
    for n in range(B):
        right += (logits[n, 1] > logits[n, 0]) == (y[n] == 1)
        for k in range(2):
            slope[n, k] = (1 / (1 + np.exp(-logits[n, k])) - (y[n] == k)) / (2 * B)
    to_both, by_bias = np.dot(hidden.T, slope), slope.sum(0)
    to_dense[:], to_readout[:] = np.dot(to_both, readout.T), np.dot(dense.T, to_both)
    to_readout += dense_bias.reshape(D, 1) * by_bias.reshape(1, 2)
    to_dense_bias[:], to_readout_bias[:] = np.dot(readout, by_bias), by_bias
    to_hidden = np.dot(slope, np.dot(dense, readout).T)
    for n in range(B):
        for i in range(D):
            if hidden[n, i] <= 0:
                to_hidden[n, i] = 0
    to_project_bias[:] = to_hidden.sum(0)
    to_merged, to_average = np.dot(average.T, to_hidden), np.dot(to_hidden, merged.T)
    to_sums = np.empty((B, H * (r + 1)), np.float32)
    for n in range(B):
        for h in range(H):
            at, total = h * (r + 1), np.float32(0)
            for i in range(r):
                share = to_average[n, h * r + i] / under[n, h]
                total -= share * average[n, h * r + i]
                to_sums[n, at + 1 + i] = share
            to_sums[n, at] = total
    to_base, to_change = to_sums.sum(0), np.dot(x.T, to_sums)
    for h in range(H):
        own = to_merged[h * r : (h + 1) * r]
        to_value[h], to_project[h] = np.dot(own, project[h].T), np.dot(value[h].T, own)
        to_value_bias[h] = np.dot(project[h], to_project_bias)
        to_project[h] += value_bias[h].reshape(A, 1) * to_project_bias.reshape(1, D)
        at = h * (r + 1)
        of_cls = z[h, 2 * T] * (to_base[at] + np.dot(to_base[at + 1 : at + 1 + r], cls))
        to_k = of_cls * cls
        for j in range(T):
            of_one, of_zero = to_change[j, at], to_base[at] - to_change[j, at]
            for i in range(r):
                moved = to_change[j, at + 1 + i]
                of_one += moved * one[j, i]
                of_zero += (to_base[at + 1 + i] - moved) * zero[j, i]
            of_one, of_zero = of_one * z[h, T + j], of_zero * z[h, j]
            for i in range(r):
                to_k[i] += of_one * one[j, i] + of_zero * zero[j, i]
        to_k *= _SCALE
        to_query_bias[h] = np.dot(key[h].T, to_k)
        to_key[h] = to_k.reshape(r, 1) * q[h].reshape(1, A)
        to_query[h] = cls.reshape(r, 1) * to_query_bias[h].reshape(1, A)
    return right


@_njit
def epochs(
    w: Any,
    speed: Any,
    x: Any,
    y: Any,
    orders: Any,
    before: int,
    decay: float,
    places: Any,
    tokens: Any,
) -> tuple[int, bool]:
    """Gradient descent with momentum, in place; it ends after an epoch that got every string right.

    Args:
        w: Weights, flat.
        speed: Of the same shape: what the last step added.
        x: Bits, shape ``(m, T)``, float32.
        y: Labels, shape ``(m,)``, int64.
        orders: Of the strings in each epoch, shape ``(epochs, m)``.
        before: Epochs done before, by which the rate has fallen.
        decay: Factor of the rate in every epoch, until it is at its least.
        places: Codes of places, shape ``(T, r)``.
        tokens: Vectors for 0 and 1, and the class token with its place, shape ``(3, r)``.

    Returns:
        Epochs done, and whether the last got every string right before the step on its batch.
    """
    g, m = np.empty_like(w), len(y)
    for e in range(len(orders)):
        rate = np.float32(max(LEAST_RATE, RATE * decay ** (before + e + 1)))
        right = 0
        for first in range(0, m, BATCH):
            chosen = orders[e, first : first + BATCH]
            right += gradient(w, g, x[chosen], y[chosen], places, tokens)
            for i in range(len(w)):
                speed[i] = np.float32(MOMENTUM) * speed[i] - rate * g[i]
                w[i] += speed[i]
        if right == m:
            return e + 1, True
    return len(orders), False


@_njit
def measure(w: Any, x: Any, y: Any, places: Any, tokens: Any) -> tuple[float, float]:
    """Mean binary cross entropy of both logits, in nats, and the share that is right."""
    found = _tables(w, places + tokens[0], places + tokens[1], tokens[2])
    logits = _read(w, x, found[2], found[3], found[4], found[5])[3]
    loss, right = 0.0, 0
    for n in range(len(x)):
        right += (logits[n, 1] > logits[n, 0]) == (y[n] == 1)
        for k in range(2):
            v = logits[n, k] if y[n] == k else -logits[n, k]
            loss += np.log1p(np.exp(-abs(v))) - min(v, 0.0)
    return loss / (2 * len(x)), right / len(x)
