"""Code from other packages: it is loaded where a release file or the caller names its package, and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from importlib.metadata import EntryPoint, PackageNotFoundError, distribution
from types import FunctionType

from takifugu.core.errors import InputError, TakifuguError

#: The entry points by which an installed package says which of its modules extend Takifugu.
ENTRY_POINTS = "takifugu.extensions"
_OURS = "takifugu"
#: The packages that were loaded by name, by the modules that they brought.
_NAMES: dict[str, str] = {}


def package_of(thing: object) -> str:
    """Return the package that a type, a function, or a thing's type comes from; "" for ours."""
    while isinstance(thing, partial):
        thing = thing.func
    kind = thing if isinstance(thing, type | FunctionType) else type(thing)
    package = (kind.__module__ or "").partition(".")[0]  # code that is run without a module has none
    return "" if package == _OURS else _NAMES.get(package, package)


def registered_by(thing: object) -> str:
    """Return the package of what was registered from elsewhere, also where it is made of our parts alone."""
    return package_of(thing) or "(unknown)"


def promise_of_package(package: str) -> str:
    """Return whose promise it is, in the words that certificates and comparisons have."""
    return f"promise of the package {package!r}"


def load(packages: Sequence[str]) -> None:
    """Load packages by their names as installed, by their entry points; InputError, placed at `plugins`."""
    names = list[str]()
    for place, package in enumerate(packages):
        try:
            if _plain(package) in names:
                raise InputError(f"the package {package!r} is named twice", fix="name it once")
            names.append(_plain(package))
            for point in _entry_points(package):
                _load(package, point)
        except InputError as error:
            raise error.at("plugins", place) from None


def _plain(package: str) -> str:
    """Return a name as installers compare it."""
    return re.sub(r"[-_.]+", "-", package).casefold()


def _entry_points(package: str) -> list[EntryPoint]:
    if not re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?", package):
        raise InputError(f"{package!r} is no name of a package", fix='write the name that pip knows, as in "urn"')
    try:
        points = list(distribution(package).entry_points.select(group=ENTRY_POINTS))
    except PackageNotFoundError:
        raise InputError(
            f"the package {package!r} is not installed", fix=f"run pip install {package}, or take the name out"
        ) from None
    if not points:
        raise InputError(
            f"the package {package!r} extends nothing here", rule=f"it has no entry point {ENTRY_POINTS!r}",
            fix="take the name out",
        )  # fmt: skip
    return points


def _load(package: str, point: EntryPoint) -> None:
    _NAMES[point.module.partition(".")[0]] = package
    try:
        point.load()
    except (Exception, SystemExit) as error:  # whatever it does, a user gets a line and no traceback
        why = type(error).__name__
        if isinstance(error, TakifuguError):
            why = error.message
        elif isinstance(error, ModuleNotFoundError):
            why = f"there is no module {error.name!r}"
        raise InputError(
            f"the package {package!r} cannot be loaded: {point.value}: {why}", fix="mend or update that package"
        ) from None
