"""Names for arrays of numbers, and arrays and mappings that nobody can write into."""

from typing import Any, NoReturn, TypeVar

import numpy as np
import numpy.typing as npt

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

Key = TypeVar("Key")
Content = TypeVar("Content")
Array = TypeVar("Array", bound=npt.NDArray[Any])


def read_only(array: Array) -> Array:
    """Return a new array after nobody can write into it."""
    array.setflags(write=False)
    return array


def unwritable(array: Array) -> Array:
    """Return an array nobody can write into: a copy of a writable one, any other as it is."""
    return read_only(array.copy()) if array.flags.writeable else array


class Fixed(dict[Key, Content]):
    """A dictionary nobody can write into; it equals any other of its items, and can be copied and pickled."""

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("a value is never changed: make another one")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[type, tuple[dict[Key, Content]]]:
        return Fixed, (dict(self),)
