"""Convolution of rows of positive numbers of any size.

Long rows: in blocks that fit float64, one matrix product per block.

A row is cut into blocks of equal length, each held as float64 numbers in (2**-_SPAN, 1) times a power of two. Blocks i
and c add to the output blocks i + c and i + c + 1; every output block has one power of two, the largest that is added
to it, and a smaller one is raised to at least 2**_RAISED relative to it, so that no positive number becomes zero. What
that adds to a number is below 2**_RAISED per term, nothing to numbers above 2**_TRUSTED: if one is smaller, shorter
blocks are tried, and in the end pieces of any length with numbers of like size, which always works.

Few long rows with many short kernels, result_c(t) = sum over rows r and places i of row_r(t - i) kernel_rc(i): the
windows (row_r(t - i))_i of all rows are one matrix, the kernels another. A window is taken over the power of two of its
largest number, and so is a kernel: where the two cover at most ORDERS binary orders in all, every product that float64
loses is 2**-100 of the sum that it belongs to.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from takifugu.core.arrays import FloatArray
from takifugu.numbers.extended.floats import LOWEST, NARROW, ExponentArray, Wide, add, normalised, scaled

#: Numbers of one block lie within this many binary orders: products stay above 2**-502, raised ones above 2**-1012.
_SPAN = 250
_RAISED = -510
_TRUSTED = -430
_SIZES = (32, 16, 8)
#: Fewer products of numbers than this are not worth blocks.
_FEW = 2**12
#: Rows of at most this many numbers are cut into pieces by size, longer ones in the middle.
_SHORT = 64
#: Binary orders that a window and a kernel may cover together; a product within them is a normal float64 number.
ORDERS = 900
#: Numbers of a matrix of windows that is held at once.
_HELD = 2**18
_NEVER = 2**30


def convolve(first: Wide, second: Wide) -> Wide:
    """Return sum over j of first[j] second[i - j], all positive.

    >>> convolve(Wide.of([1.0, 2.0]), Wide.of([3.0, 4.0, 5.0])).floats(0).tolist()
    [3.0, 10.0, 13.0, 10.0]
    """
    if len(first.mantissas) < len(second.mantissas):
        first, second = second, first
    if len(first.mantissas) * len(second.mantissas) <= _FEW:
        return _by_pieces(first, second)
    for size in _SIZES:
        product = _by_blocks(first, second, size)
        if product is not None:
            return product
    return _by_pieces(first, second)


def _by_blocks(first: Wide, second: Wide, size: int) -> Wide | None:
    """Return the convolution by blocks, unless one spans too much."""
    left, right = _cut(first, size), _cut(second, size)
    if left is None or right is None:
        return None
    (rows, tops), (other_rows, powers) = left, right
    tops_out = np.full(len(tops) + len(powers), 2 * LOWEST, dtype=np.int64)
    for c, power in enumerate(powers.tolist()):
        for span in (slice(c, c + len(tops)), slice(c + 1, c + 1 + len(tops))):
            np.maximum(tops_out[span], tops + power, out=tops_out[span])
    result = np.zeros((len(tops_out), size))
    places = size + np.arange(2 * size) - np.arange(size)[:, None]
    for c, power in enumerate(powers.tolist()):
        padded = np.zeros(3 * size)
        padded[size : 2 * size] = other_rows[c]
        products = rows @ padded[places]
        for half, at in ((products[:, :size], c), (products[:, size:], c + 1)):
            span = slice(at, at + len(tops))
            result[span] += half * np.ldexp(1.0, np.maximum(tops + power - tops_out[span], _RAISED))[:, None]
    length = len(first.mantissas) + len(second.mantissas) - 1
    if ((result > 0) & (result < 2.0**_TRUSTED)).any():
        return None
    mantissas, extra = np.frexp(result)
    exponents = np.where(mantissas > 0, extra + tops_out[:, None], LOWEST)
    return Wide(mantissas.ravel()[:length], exponents.ravel()[:length])


def _cut(row: Wide, size: int) -> tuple[FloatArray, ExponentArray] | None:
    """Return blocks below 1 and their exponents, unless one spans too much."""
    length = len(row.mantissas)
    blocks = -(-length // size)
    mantissas, exponents = np.zeros((blocks, size)), np.full((blocks, size), LOWEST, dtype=np.int64)
    mantissas.ravel()[:length], exponents.ravel()[:length] = row.mantissas, row.exponents
    tops = exponents.max(axis=1)
    orders = np.where(mantissas > 0, exponents - tops[:, None], 0)
    if orders.min() <= -_SPAN:
        return None
    return np.ldexp(mantissas, orders.astype(np.intc)), tops


def _by_pieces(first: Wide, second: Wide) -> Wide:
    if first.span + second.span <= 2 * NARROW:
        return _of_narrow(first, second)
    size = len(first.mantissas) + len(second.mantissas) - 1
    result = Wide(np.zeros(size), np.full(size, LOWEST, dtype=np.int64))
    other_pieces = list(_pieces(second, 0))
    for start, piece in _pieces(first, 0):
        for place, other in other_pieces:
            term = _of_narrow(piece, other)
            span = slice(start + place, start + place + len(term.mantissas))
            total = add(result[span], term)
            result.mantissas[span], result.exponents[span] = total.mantissas, total.exponents
    return result


def _of_narrow(first: Wide, second: Wide) -> Wide:
    product = np.convolve(first.floats(first.top), second.floats(second.top))
    return normalised(product, np.full(product.shape, max(first.top + second.top, LOWEST), dtype=np.int64))


def _pieces(numbers: Wide, start: int) -> Iterator[tuple[int, Wide]]:
    """Cut a row into summands of narrow span, short runs by size."""
    if numbers.span <= NARROW:
        if numbers.mantissas.any():
            yield start, numbers
    elif len(numbers.mantissas) > _SHORT:
        middle = len(numbers.mantissas) // 2
        yield from _pieces(numbers[:middle], start)
        yield from _pieces(numbers[middle:], start + middle)
    else:
        bands = (numbers.top - numbers.exponents) // NARROW
        for band in np.unique(bands[numbers.mantissas > 0]).tolist():
            in_band = (bands == band) & (numbers.mantissas > 0)
            yield start, Wide(np.where(in_band, numbers.mantissas, 0.0), np.where(in_band, numbers.exponents, LOWEST))


def convolve_many(rows: Wide, kernels: Wide) -> Wide | None:
    """Return the convolved sums (kernels, n + w - 1), or None.

    Rows have shape (r, n), kernels (r, w, kernels); r w + 4 roundings each. None where the numbers of a window and a
    kernel are too far apart: then shorter kernels may do.
    """
    count, size = rows.mantissas.shape
    _, places, columns = kernels.mantissas.shape
    tops = kernels.exponents.max(axis=(0, 1))
    matrix = scaled(kernels.mantissas, kernels.exponents - tops).reshape(count * places, columns)
    room = ORDERS - int(_spans(kernels.exponents, kernels.mantissas > 0, tops, (0, 1)).max())
    beyond = ((0, 0), (places - 1, places - 1))
    mantissas = sliding_window_view(np.pad(rows.mantissas, beyond), places, axis=1)[:, :, ::-1]
    padded = np.pad(np.maximum(rows.exponents, -_NEVER), beyond, constant_values=-_NEVER)
    exponents = sliding_window_view(padded, places, axis=1)[:, :, ::-1]
    result = np.empty((columns, size + places - 1))
    orders = np.empty(size + places - 1, dtype=np.int64)
    step = max(1, _HELD // (count * places))
    for first in range(0, len(orders), step):
        span = slice(first, first + step)
        part, scale = mantissas[:, span], exponents[:, span]
        top = scale.max(axis=(0, 2))
        if _spans(scale, part > 0, top[:, None], (0, 2)).max() > room:
            return None
        window = scaled(part, scale - top[:, None]).transpose(1, 0, 2).reshape(len(top), count * places)
        result[:, span], orders[span] = (window @ matrix).T, top
    return normalised(result, np.maximum(orders + tops[:, None], LOWEST))


def _spans(
    exponents: ExponentArray, is_held: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], tops: ExponentArray,
    axes: tuple[int, int],
) -> ExponentArray:  # fmt: skip
    """Return the binary orders between extreme numbers along two axes."""
    spans: ExponentArray = np.where(is_held, tops - exponents, 0).max(axis=axes)
    return spans
