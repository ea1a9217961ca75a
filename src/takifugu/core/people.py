"""Whose data a source holds, as its release file calls them: patients, households, cars; people where it has no word.

The one place that words what the code calls a unit (docs/glossary.md).
"""

from __future__ import annotations

from dataclasses import dataclass

_IRREGULAR = {"person": "people", "child": "children", "man": "men", "woman": "women"}
_HISSING = ("s", "x", "ch", "sh")


@dataclass(frozen=True)
class People:
    """The people in a source, each called `one`; where they are not named, the whole source counts as one."""

    one: str = "person"
    are_named: bool = True

    @property
    def a_one(self) -> str:
        """Return the noun with its article."""
        return f"an {self.one}" if self.one.lower().startswith(tuple("aeio")) else f"a {self.one}"

    @property
    def many(self) -> str:
        """Return the plural."""
        if self.one in _IRREGULAR:
            return _IRREGULAR[self.one]
        if self.one.endswith("y") and self.one[-2:-1] not in "aeiou":
            return f"{self.one[:-1]}ies"
        return f"{self.one}es" if self.one.endswith(_HISSING) else f"{self.one}s"

    def counted(self, count: int) -> str:
        """Say how many they are."""
        if not self.are_named:
            return "the whole source"
        return f"one {self.one}" if count == 1 else f"{count:,} {self.many}"

    def each_of(self, count: int) -> str:
        """Say "each of" so many."""
        if self.are_named and count > 1:
            return f"each of {self.counted(count)}"
        return self.counted(count)

    def whose(self, scope: str) -> str:
        """Name the people of a table: "all", each "unit", or "pooled"."""
        return {
            "all": "the whole source",
            "unit": f"each {self.one}",
            "pooled": f"all {self.many} together",
        }[scope]


#: What they are called where nothing says more of them.
PEOPLE = People()
