"""How sentences of a certificate begin that a report looks for again: the same for their writers and readers."""

from __future__ import annotations

#: What is read of a calendar; what a window does not hide; how long a state lasts by the belief.
WINDOW, STEPS, LASTS = "the window is ", "each step is hidden; ", "by the belief, "
