"""Answers of several cells that move along one line: one number decides the Laplace noise that they need.

Let the answer be F = c + S d with a fixed integer vector d and one integer S: a histogram over two states is
(n, 0) + S (-1, 1), S the count of the second. Let D = |d_1| + ... + |d_m| and T = D S, the answer's place along the
line, lengths in L1. The smallest scale for T is the smallest for F (docs/theory/one-answer.md#one-answer-8). Nothing
follows for cells that are released one by one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from takifugu.analysis.problem import Part, Problem
from takifugu.core.arrays import IntArray
from takifugu.core.cache import cached
from takifugu.model.queries import Additive


def line_parts(problem: Problem) -> tuple[Part, ...]:
    """Return `law_parts`, where a share of the answer that moves along a line is its place there."""
    if problem.cells == 1:
        return problem.law_parts
    lines = list(map(along_line, problem.answers))
    parts = []
    for part in problem.law_parts:
        whole_line = lines[part.number]
        if whole_line is None:  # each part has a line of its own: the others' shares are added afterwards
            line = along_line(part.answer)
        else:
            line = whole_line.restrict(slice(part.start, part.start + part.belief.size))
        parts.append(replace(part, answer=line or part.answer))
    return tuple(parts)


def line_answers(problem: Problem) -> tuple[Additive, ...] | None:
    """Return the answers under every belief as places on lines, if any."""
    if problem.cells == 1:
        return problem.answers
    lines = tuple(map(along_line, problem.answers))
    answers = tuple(line for line in lines if line is not None)
    return answers if len(answers) == len(lines) else None


def along_line(answer: Additive) -> Additive | None:
    """Return T = D S for an answer c + S d, None where it does not move along one line."""
    if len(answer.labels) == 1:
        return answer
    if not isinstance(answer, Additive):
        return None  # what is no sum over entries has no tables: whole columns move it by any step of a term
    return cached(answer, along_line, lambda: _along_line(answer))


def _along_line(answer: Additive) -> Additive | None:
    (weights, kinds), _ = answer.total_kinds
    used = set(kinds[weights != 0].tolist())
    moves = [table - table[0] for table in answer.tables]
    direction: IntArray | None = None
    places = []
    for number, move in enumerate(moves):
        lengths = np.abs(move).sum(axis=1)
        if number not in used or not lengths.any():
            places.append(np.zeros((len(move), 1), dtype=np.int64))
            continue
        if direction is None:
            farthest = move[int(lengths.argmax())]
            direction = farthest // int(np.gcd.reduce(np.abs(farthest)))
        longest = int(np.abs(direction).argmax())
        steps = move[:, longest] // direction[longest]
        if (np.outer(steps, direction) != move).any():
            return None
        places.append((steps * int(np.abs(direction).sum()))[:, None])
    return Additive(answer.grid, ("place on the line",), tuple(places), *answer.in_runs)
