"""Sums of convolutions of a few long rows with many short kernels, as matrix products.

result_c(t) = sum over rows r and places i of row_r(t - i) kernel_rc(i): the windows (row_r(t - i))_i of all rows are
one matrix, the kernels another. A window is taken over the power of two of its largest number, and so is a kernel:
where the two cover at most ORDERS binary orders in all, every product that float64 loses is 2**-100 of the sum that it
belongs to.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from takifugu.numbers.extended.floats import LOWEST, ExponentArray, Wide, normalised, scaled

#: Binary orders that a window and a kernel may cover together; a product within them is a normal float64 number.
ORDERS = 900
#: Numbers of a matrix of windows that is held at once.
_HELD = 2**18
_NEVER = 2**30


def convolve_many(rows: Wide, kernels: Wide) -> Wide | None:
    """Return the convolved sums, shape (kernels, n + w - 1).

    For rows (r, n) and kernels (r, w, kernels); r w + 4 roundings each. None where the numbers of a window and a kernel
    are too far apart: then shorter kernels may do.
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
