"""Adult (UCI): counts of race and education from the real file, and the numbering of education in Ding 2022."""

import csv
import gzip
from collections import Counter

from tests.support.research import research_file

#: The 14 levels that Ding22 Section 4 lists, in its order, and the two that the file has besides.
LISTED = (
    "Bachelors", "Some-college", "11th", "HS-grad", "Prof-school", "Assoc-acdm", "Assoc-voc", "9th", "7th-8th", "12th",
    "Masters", "1st-4th", "10th", "Doctorate",
)  # fmt: skip
UNLISTED = ("5th-6th", "Preschool")


def race_and_education() -> Counter[tuple[str, str]]:
    """Return how many people of the training file have each race and education."""
    with gzip.open(research_file("adult/adult_train.csv.gz"), "rt", encoding="utf-8", newline="") as file:
        return Counter((row["race"], row["education"]) for row in csv.DictReader(file))
