"""Names that the package had before, and where what they named is now."""

from __future__ import annotations

#: Files of a checkout, by the names that left the package with them: of mechanisms in small letters.
IN_EXPERIMENTS = {
    "Mangat": "takagi/mangat.py",
    "NoisyMax": "takagi/noisy_max.py",
    "OrdinarySparse": "takagi/ordinary_sparse.py",
}


def where_now(name: str) -> str:
    """Return where a name of before is now, "" for any other name.

    >>> where_now("NoisyMax")
    'experiments/takagi/noisy_max.py of a checkout has it'
    >>> where_now("Count")
    ''
    """
    file = IN_EXPERIMENTS.get(name)
    return f"experiments/{file} of a checkout has it" if file else ""


def no_attribute(module: str, name: str, otherwise: str = "") -> AttributeError:
    """Return the error for a name that a module lacks.

    >>> print(no_attribute("takifugu.asymmetric", "NoisyMax"))
    module 'takifugu.asymmetric' has no attribute 'NoisyMax'; experiments/takagi/noisy_max.py of a checkout has it
    """
    now = where_now(name)
    return AttributeError(f"module {module!r} has no attribute {name!r}{f'; {now}' if now else otherwise}")
