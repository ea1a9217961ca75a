"""Where research data lies: in TAKIFUGU_DATA, or in shared/data beside the checkout; never in the project."""

from __future__ import annotations

import os
from pathlib import Path

from pages import ROOT, Absent

#: Who publishes what the files of a folder were made from.
PUBLISHERS = {
    "activity": "ExtraSensory, Vaizman et al. 2017, http://extrasensory.ucsd.edu",
    "adult": "Adult, UCI, https://archive.ics.uci.edu/dataset/2/adult",
    "bif": "the bnlearn repository, https://www.bnlearn.com/bnrepository/",
    "checkins": "Foursquare check-ins of New York, Yang et al. 2015",
    "contacts": "SocioPatterns, http://www.sociopatterns.org",
    "electricity": "Individual household electric power consumption, UCI, Hebrail and Berard 2012",
}


def find(name: str) -> Path | None:
    """Return the path of a research data file, or None where it is missing."""
    folder = Path(os.environ.get("TAKIFUGU_DATA", ROOT.parent / "shared" / "data"))
    path = folder / name
    return path if path.is_file() else None


def needed_file(name: str) -> Path:
    """Return the path of a research data file; Absent without it."""
    path = find(name)
    if path is None:
        publisher = PUBLISHERS[name.partition("/")[0]]
        raise Absent(f"this needs the research data file {name} ({publisher}): put it where TAKIFUGU_DATA points")
    return path
