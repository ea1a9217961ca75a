"""What is valid by itself of a faulty release file: so its meaning is checked, too, and all faults are told at once."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ValidationError


def valid_section(model: type[BaseModel], raw: Any, name: str = "", faulty: set[str] | None = None) -> Any:
    """Return a section, with examples in place of faulty keys where these are known; None if it is hopeless."""
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        keys = {str(e["loc"][0]) for e in error.errors() if e["loc"]}
    if faulty is None or not isinstance(raw, dict) or "kind" in keys:
        return None
    examples = {k: (f.examples or [None])[0] for k, f in model.model_fields.items() if k in keys and f.is_required()}
    faulty.update(f"{name}.{key}" for key in keys)
    try:
        return model.model_validate({**{k: v for k, v in raw.items() if k not in keys}, **examples})
    except ValidationError:
        return None
