"""The distributions of cells: what `questions.law_of_cell` asks of a belief."""
