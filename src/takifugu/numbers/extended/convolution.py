"""Convolution of rows of positive numbers of any size: products of polynomials, exponents being places.

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

import math
from collections.abc import Iterator

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from takifugu.numbers.extended.floats import LOWEST, NARROW, Blocks, ExponentArray, Wide

#: Numbers of one block lie within this many binary orders: products stay above 2**-502, raised ones above 2**-1012.
_SPAN = 250
_RAISED = -510
_TRUSTED = -430
_SIZES = (32, 16, 8)
#: Fewer products of numbers than this are not worth blocks.
_FEW = 2**12
#: Many rows are multiplied at once, place by place of the shorter ones: where these have at most so many places, or
#: where there are more rows than this.
_PLACES, _MANY = 24, 64
#: Rows of at most this many numbers are cut into pieces by size, longer ones in the middle.
_SHORT = 64
#: Binary orders that a window and a kernel may cover together; a product within them is a normal float64 number.
ORDERS = 900
#: Numbers of a matrix of windows that is held at once.
_HELD = 2**18


def convolve(first: Wide, second: Wide) -> Wide:
    """Return sum over j of first[..., j] second[..., i - j]; other axes of length 1 are repeated."""
    # A number is rounded at most 2 min(n, m) + 4 times, n and m the numbers of places.
    if first.shape[-1] < second.shape[-1]:
        first, second = second, first
    width, places, cells = first.shape[-1], second.shape[-1], np.broadcast_shapes(first.shape[:-1], second.shape[:-1])
    if places == 1:
        return first * second
    if not cells:
        return _of_rows(first, second)
    if (places <= _PLACES or math.prod(cells) > _MANY) and first.span + second.span <= 2 * NARROW:
        return _place_by_place(first, second)
    first, second = (
        numbers.each(lambda array: np.broadcast_to(array, (*cells, array.shape[-1]))) for numbers in (first, second)
    )
    result = Wide.zeros(*cells, width + places - 1)
    for cell in np.ndindex(*cells):
        if first.mantissas[cell].any() and second.mantissas[cell].any():
            result[cell] = _of_rows(first[cell], second[cell])
    return result


def _place_by_place(first: Wide, second: Wide) -> Wide:
    left, right, width = first.floats(first.top), second.floats(second.top), first.shape[-1]
    total = np.zeros((*np.broadcast_shapes(left.shape[:-1], right.shape[:-1]), width + right.shape[-1] - 1))
    for j in range(right.shape[-1]):
        total[..., j : j + width] += left * right[..., j : j + 1]
    return Wide.of(total, first.top + second.top)


def _of_rows(first: Wide, second: Wide) -> Wide:
    """Return the convolution of a row with one that is not longer."""
    if len(first) * len(second) <= _FEW:
        return _by_pieces(first, second)
    for size in _SIZES:
        product = _by_blocks(first, second, size)
        if product is not None:
            return product
    return _by_pieces(first, second)


def _by_blocks(first: Wide, second: Wide, size: int) -> Wide | None:
    """Return the convolution by blocks, unless one spans too much."""
    left, right = first.blocks(size), second.blocks(size)
    for row, blocks in ((first, left), (second, right)):
        if np.count_nonzero(blocks.floats >= 2.0**-_SPAN) < np.count_nonzero(row.mantissas):
            return None
    tops, powers = left.tops, right.tops
    tops_out = np.full(len(tops) + len(powers), 2 * LOWEST, dtype=np.int64)
    for c, power in enumerate(powers.tolist()):
        for span in (slice(c, c + len(tops)), slice(c + 1, c + 1 + len(tops))):
            np.maximum(tops_out[span], tops + power, out=tops_out[span])
    result = np.zeros((len(tops_out), size))
    places = size + np.arange(2 * size) - np.arange(size)[:, None]
    for c, power in enumerate(powers.tolist()):
        padded = np.zeros(3 * size)
        padded[size : 2 * size] = right.floats[c]
        products = left.floats @ padded[places]
        for half, at in ((products[:, :size], c), (products[:, size:], c + 1)):
            span = slice(at, at + len(tops))
            result[span] += half * np.ldexp(1.0, np.maximum(tops + power - tops_out[span], _RAISED))[:, None]
    if ((result > 0) & (result < 2.0**_TRUSTED)).any():
        return None
    return Blocks(result, tops_out, len(first) + len(second) - 1).wide()


def _by_pieces(first: Wide, second: Wide) -> Wide:
    if first.span + second.span <= 2 * NARROW:
        return _of_narrow(first, second)
    result = Wide.zeros(len(first) + len(second) - 1)
    other_pieces = list(_pieces(second, 0))
    for start, piece in _pieces(first, 0):
        for place, other in other_pieces:
            span = slice(start + place, start + place + len(piece) + len(other) - 1)
            result[span] += _of_narrow(piece, other)
    return result


def _of_narrow(first: Wide, second: Wide) -> Wide:
    return Wide.of(np.convolve(first.floats(first.top), second.floats(second.top)), first.top + second.top)


def _pieces(numbers: Wide, start: int) -> Iterator[tuple[int, Wide]]:
    """Cut a row into summands of narrow span, short runs by size."""
    if numbers.span <= NARROW:
        if numbers.mantissas.any():
            yield start, numbers
    elif len(numbers) > _SHORT:
        middle = len(numbers) // 2
        yield from _pieces(numbers[:middle], start)
        yield from _pieces(numbers[middle:], start + middle)
    else:
        bands = (numbers.top - numbers.exponents) // NARROW
        for band in np.unique(bands[numbers.support]).tolist():
            held, summand = (bands == band) & numbers.support, Wide.zeros(len(numbers))
            summand[held] = numbers[held]
            yield start, summand


def convolve_many(rows: Wide, kernels: Wide) -> Wide | None:
    """Return the convolved sums (kernels, n + w - 1) of rows (r, n) with kernels (r, w, kernels), or None."""
    # r w + 4 roundings each.
    count, size = rows.shape
    _, places, columns = kernels.shape
    tops = kernels.exponents.max(axis=(0, 1))
    matrix = kernels.floats(tops).reshape(count * places, columns)
    room = ORDERS - int(_spans(kernels, tops, (0, 1)).max())
    padded = Wide.zeros(count, size + 2 * (places - 1))
    padded[:, places - 1 : places - 1 + size] = rows
    windows = padded.each(lambda array: sliding_window_view(array, places, axis=1)[:, :, ::-1])
    result = np.empty((columns, size + places - 1))
    orders = np.empty(size + places - 1, dtype=np.int64)
    step = max(1, _HELD // (count * places))
    for first in range(0, len(orders), step):
        span = slice(first, first + step)
        some = windows[:, span]
        top = some.exponents.max(axis=(0, 2))
        if _spans(some, top[:, None], (0, 2)).max() > room:
            # Numbers of a window and a kernel are too far apart: shorter kernels may do.
            return None
        window = some.floats(top[:, None]).transpose(1, 0, 2).reshape(len(top), count * places)
        result[:, span], orders[span] = (window @ matrix).T, top
    return Wide.of(result, orders + tops[:, None])


def _spans(numbers: Wide, tops: ExponentArray, axes: tuple[int, int]) -> ExponentArray:
    """Return the binary orders between extreme numbers along two axes."""
    spans: ExponentArray = np.where(numbers.support, tops - numbers.exponents, 0).max(axis=axes)
    return spans
