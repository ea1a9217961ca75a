"""Built with the package: its description on a package index is the README, with links that lead somewhere there."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class IndexReadme(MetadataHookInterface):
    def update(self, metadata: dict[str, Any]) -> None:
        sys.path.insert(0, str(Path(self.root) / "tools"))
        try:
            from index_readme import for_index
        finally:
            sys.path.pop(0)
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": for_index(text, metadata.get("urls", {}))}
