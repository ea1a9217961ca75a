"""S(p, q; rho) = log sup of p.phi / q.phi over the likelihoods phi that a profile admits, never rounded down.

The cone is K(rho) = {phi >= 0: phi(u) <= e^rho(u, v) phi(v)}. For few states all its extreme rays are listed (`rays`),
for more a dual certificate bounds the supremum (`certified`). S is not expansive, S(.; rho + eta) <= S(.; rho) + eta,
so rounding errors only add (docs/theory/influence.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from takifugu.core.arrays import BoolArray, FloatArray, read_only
from takifugu.influence.profiles.certified import Programs
from takifugu.influence.profiles.levels import Levels
from takifugu.influence.profiles.rays import MOST_STATES, extreme_rays, star_rays
from takifugu.numbers.outward_rounding import TRUSTED, along_most, closed, log_ratio_error, padded, up

#: Beyond this many states the supremum over a cone of pairs is replaced by that over [m, e^s m], s the largest pair.
EXACT_STATES = 12
#: A sweep meets a cone again by each of its jumps: the last ones are kept.
CONES = 256
#: Ratios beyond e to this power are not computed: the largest of them bounds the supremum.
LARGEST_POWER = 300.0


def suprema(
    rows: FloatArray, ratio: FloatArray, relative_error: float = 0.0, programs: Programs | None = None,
    levels: Levels | None = None, needed: np.ndarray | None = None, possible: BoolArray | None = None,
    is_closed: bool = False,
) -> FloatArray:  # fmt: skip
    """Return R[a, b] >= S(rows[a], rows[b]; ratio), shape (m, m), diagonal 0 (influence.md#the-supremum)."""
    # `rows` (m, k) are laws up to `relative_error`, `ratio` (k, k) is rho >= 0; pairs not `needed` may be loose.
    states = rows.shape[1]
    if ratio.ndim > 2 and states <= MOST_STATES:
        return np.asarray(suprema_together(rows[None], ratio, np.array([relative_error]), [possible])[..., 0, :, :])
    if ratio.ndim > 2:
        each = (suprema(rows, one, relative_error, programs, levels, needed, possible, is_closed) for one in ratio)
        return np.array([*each])
    # Given `programs`, which remember tight constraints, the supremum is asked for beyond EXACT_STATES, too.
    is_exact = states <= EXACT_STATES or programs is not None
    rays = None
    if states <= MOST_STATES:
        size, rays = _cones(np.asarray(ratio, dtype=np.float64).tobytes(), ratio.shape)
        largest = float(size)
    else:
        # `is_closed`: all triangle inequalities hold but for rounding; the cone is the same either way.
        ratio = closed(ratio) if is_exact and not is_closed else ratio  # of the others only the largest counts
        largest = float(ratio.max(initial=0.0))
    if largest == 0.0 or len(rows) < 2:
        return np.zeros((len(rows), len(rows)))
    if largest > LARGEST_POWER:
        # Rows may be products: floats may have lost what is `possible` and below TRUSTED.
        if possible is None:
            bound = _over_all(rows, rows > 0, np.zeros_like(rows, dtype=bool))
        else:
            bound = _over_all(rows, possible, possible & (rows < TRUSTED))
    elif rays is not None:
        bound = _over(rows, rays, largest)
    elif is_exact:
        bound = (programs or Programs()).bound(rows, ratio, needed)
    else:
        bound = (levels or Levels(rows)).bound(largest)
    bound = np.minimum(bound, largest)  # phi(u) <= e^largest phi(v) for all u, v
    return _at_least_zero(up(bound + log_ratio_error(relative_error)) if relative_error else bound)


def suprema_together(
    rows: FloatArray, ratio: FloatArray, errors: FloatArray, possible: Sequence[BoolArray | None]
) -> FloatArray:
    """Return `suprema` of several kernels, shape (..., kernels, m, m): they share the few rays of each cone."""
    largest, rays = _cones(np.asarray(ratio, dtype=np.float64).tobytes(), ratio.shape)
    if rays is None and ratio.ndim > 2:
        return np.array([suprema_together(rows, one, errors, possible) for one in ratio])
    if rays is None:
        each = zip(rows, errors.tolist(), possible, strict=True)
        return np.array([suprema(kernel, ratio, error, possible=can) for kernel, error, can in each])
    size, error = largest[..., None, None, None], errors[:, None, None]
    bound = np.minimum(_over(rows, rays[..., None, :, :], size), size)
    total = bound + log_ratio_error(error)
    return _at_least_zero(np.nextafter(total, np.inf, out=total, where=error > 0))


def _at_least_zero(bound: FloatArray) -> FloatArray:
    """Return bounds of at least 0, diagonal 0."""
    bound = np.maximum(bound, 0.0, order="C")
    bound.reshape(*bound.shape[:-2], -1)[..., :: bound.shape[-1] + 1] = 0.0
    return np.asarray(bound)


@lru_cache(maxsize=CONES)
def _cones(ratio: bytes, shape: tuple[int, ...]) -> tuple[FloatArray, FloatArray | None]:
    """Return the largest entry of each closed ratio, and the extreme rays of the cones, if all can be computed."""
    matrices = closed(np.frombuffer(ratio).reshape(shape))
    largest = matrices.max(axis=(-2, -1), initial=0.0)
    is_known = all(0 < size <= LARGEST_POWER for size in largest.ravel().tolist())
    return largest, read_only(extreme_rays(matrices)) if is_known else None


def _over_all(rows: FloatArray, possible: BoolArray, lost: BoolArray) -> FloatArray:
    """Return the largest log-ratio of entries, rounded up; those that are `lost` lie between 0 and TRUSTED."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs, upper = np.log(np.where(lost, 0.0, rows)), np.log(np.where(lost, TRUSTED, rows))
        ratios = np.where(possible[:, None, :], upper[:, None, :] - logs[None, :, :], -np.inf)
    return padded(ratios.max(axis=2), rows.shape[1], float(np.abs(logs[np.isfinite(logs)]).max(initial=1.0)))


def star_suprema(rows: FloatArray, ratio: FloatArray) -> FloatArray:
    """Return S over the 2k star rays alone, nearly: a quick lower bound; 0 where ratios are too large for floats."""
    count = len(rows)
    largest = float(ratio.max(initial=0.0))
    if not 0.0 < largest <= LARGEST_POWER:
        return np.zeros((count, count))
    logs = np.log(rows @ star_rays(closed(ratio)))
    return np.asarray((logs[:, None, :] - logs[None, :, :]).max(axis=2))


def _over(rows: FloatArray, rays: FloatArray, largest: float | FloatArray) -> FloatArray:
    """Return the largest log-ratio over rays of cones with these largest ratios, of one kernel or of several."""
    logs, states = along_most(np.log(rows @ rays)), rows.shape[-1]
    ratios = (logs[..., :, None, :] - logs[..., None, :, :]).max(axis=-1)
    return padded(ratios, states, _of_paths(states) * largest - logs.min(axis=(-2, -1), keepdims=True, initial=-1.0))


def _of_paths(states: int) -> float:
    """Return how often rays are off by the rounding of 4 of the largest ratio, both logs together; at least once."""
    # an exponent is a sum along a tree: states - 2 additions, of at most states // 2 ratios of one sign, and the shift
    return max(1.0, ((states - 2) * (states // 2) + 1) / 2)
