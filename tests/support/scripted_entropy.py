"""An entropy source that returns what a test wrote, and counts what was requested."""

from collections.abc import Iterable

from takifugu.numbers.noise import InsecureSeededEntropyForTests


def seeded(seed: int = 1) -> InsecureSeededEntropyForTests:
    """Return a source that gives the same bytes in every run."""
    return InsecureSeededEntropyForTests(seed)


class ScriptedEntropy:
    """Return the given 64-bit words (or byte strings) in order; requesting more than was written is an error."""

    private = False

    def __init__(self, script: Iterable[int | bytes]) -> None:
        self._bytes = b"".join(x if isinstance(x, bytes) else x.to_bytes(8, "little") for x in script)

    @property
    def unread(self) -> int:
        return len(self._bytes)

    def bytes(self, n: int) -> bytes:
        assert n <= len(self._bytes), f"{n} bytes asked, {len(self._bytes)} written"
        head, self._bytes = self._bytes[:n], self._bytes[n:]
        return head
