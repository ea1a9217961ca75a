"""Running a program as a person would: its results on the standard output, a terminal for everything else."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

#: Lines of a program: no time passes, so that no line says how long something takes.
TIMELESS = """
import takifugu.cli.progress as progress
progress.CLOCK = progress.Clock(wait=lambda ended, _: ended.wait())
"""
#: And these: the bar appears at once, and each of its states; without them, where work takes a second.
AT_ONCE = f"""{TIMELESS}
class Now:
    def __init__(self, seconds, start): self.start = start
    def cancel(self): pass
progress.threading.Timer = Now
refresh = progress._Bar._refresh
progress._Bar._refresh = lambda bar: (refresh(bar), bar.bar and bar.bar.refresh())
"""
#: And these: never, however slow the machine is.
NEVER = f"{TIMELESS}progress.PATIENCE = 1e6\n"
#: And these: the terminal is its own, so that what is typed there can stop it, also where tests run in the background.
_ITS_TERMINAL = (
    "import fcntl, signal, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
    "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
)
PLACE = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src"), "COLUMNS": "80", "TERM": "xterm"}


def on_a_terminal(program: str) -> tuple[bytes, bytes]:
    """Return what a Python program prints, and what it shows on the terminal; it must succeed."""
    import pty

    mine, theirs = pty.openpty()
    running = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=theirs, env=PLACE)
    os.close(theirs)
    seen = printed_on(mine)
    printed, _ = running.communicate()
    assert running.returncode == 0
    return printed, seen


def printed_on(terminal: int) -> bytes:
    """Return what a terminal shows until all programs on it have ended, and close it."""
    seen = b""
    try:
        while chunk := os.read(terminal, 65536):
            seen += chunk
    except OSError:  # nobody writes any more
        pass
    os.close(terminal)
    return seen


def without_a_terminal(program: str) -> tuple[bytes, bytes]:
    """Return what a Python program writes to the standard output and error where both are pipes; it must succeed."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, env=PLACE, check=True)
    return done.stdout, done.stderr


def answering(
    words: Sequence[str], answers: Sequence[str | Callable[[], str]], folder: Path, before: str = "", **environment: str
) -> tuple[int, str, str]:
    """Run a command whose questions are read on a terminal; return its exit code, what it prints, and what it shows.

    After each prompt an answer is typed, or what a function returns, and Ctrl-D after the last one. `before` are lines
    of Python that are run first.
    """
    import pty

    mine, theirs = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-c", f"{_ITS_TERMINAL}{before}from takifugu.cli import main; main()", *words],
        stdin=theirs, stdout=subprocess.PIPE, stderr=theirs, cwd=folder,
        env={**PLACE, **environment}, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    seen, left = b"", list(answers)
    while True:
        if seen.endswith(b": "):
            answer = left.pop(0) if left else "\x04"
            os.write(mine, (answer if isinstance(answer, str) else answer()).encode())
            seen += b"\n"
        try:
            chunk = os.read(mine, 65536)
        except OSError:  # closed: the program has ended
            break
        if not chunk:
            break
        seen += chunk
    printed, _ = running.communicate()
    os.close(mine)
    return running.returncode, printed.decode(), seen.decode().replace("\r\n", "\n")
