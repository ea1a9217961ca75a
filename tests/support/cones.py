"""The supremum over a cone by its extreme rays, however many states it has."""

import numpy as np

from takifugu.influence.profiles.rays import extreme_rays
from takifugu.numbers.outward_rounding import padded


def over_rays(rows: np.ndarray, ratio: np.ndarray, is_raised: bool = True) -> np.ndarray:
    """The largest log-ratio over the extreme rays of a closed cone, rounded up as `suprema` rounds it by default."""
    logs = np.log(rows @ extreme_rays(ratio))
    ratios = (logs[:, None, :] - logs[None, :, :]).max(axis=2)
    if not is_raised:
        return ratios
    states = rows.shape[1]
    paths = max(1.0, ((states - 2) * (states // 2) + 1) / 2)
    return padded(ratios, states, paths * float(ratio.max()) + float(np.abs(logs).max(initial=1.0)))
