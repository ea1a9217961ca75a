"""Names that the package had before, and where what they named is now."""

from __future__ import annotations

#: Files of a checkout, by the public names that left the package with them.
IN_EXPERIMENTS = {
    "Mangat": "takagi/mangat.py",
    "Rappor": "kawamoto/rappor.py",
    "instantaneous": "kawamoto/rappor.py",
    "permanent": "kawamoto/rappor.py",
    "NoisyMax": "takagi/noisy_max.py",
    "OrdinarySparse": "takagi/ordinary_sparse.py",
}
#: Public names that are gone, and what stands in their place.
GONE = {
    "Affine": "intervals of parameters are gone: list the values of each in tf.Parameters",
    "ParameterBox": "intervals of parameters are gone: list the values of each in tf.Parameters",
}
#: Mechanisms of before, in small letters: their file of a checkout, "" if only the name is another one, and the name to
#: write in its place.
MECHANISMS = {
    "entry": ("", "record-dp"),
    "group": ("", "group-dp"),
    "inferential": ("song/inferential.py", "influence"),
    "gk16": ("song/inferential.py", "influence"),
    "planar-normal": ("kawamoto/channels.py", "planar-laplace"),
    "planar-normal-remapped": ("kawamoto/channels.py", "planar-laplace-remapped"),
    "rappor": ("kawamoto/rappor.py", "randomised-response"),
}


def no_attribute(module: str, name: str, otherwise: str = "") -> AttributeError:
    """Return the error for a name that a module lacks."""
    words = otherwise
    if name in IN_EXPERIMENTS:
        words = f"; experiments/{IN_EXPERIMENTS[name]} of a checkout has it"
    if name in GONE:
        words = f"; {GONE[name]}"
    return AttributeError(f"module {module!r} has no attribute {name!r}{words}")
