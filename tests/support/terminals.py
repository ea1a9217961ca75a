"""Running a program as a person would: its results on the standard output, a terminal for everything else."""

import os
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from multiprocessing.connection import wait
from pathlib import Path

from tests.support.processes import FAST

#: Lines of a program: no time passes, so that no line says how long something takes.
TIMELESS = """
import takifugu.cli.progress as progress
progress.CLOCK = progress.Clock(wait=lambda ended, _: ended.wait())
"""
#: And these: the bar is drawn at once, in each of its states; without them, where work takes a second.
AT_ONCE = f"""{TIMELESS}
watch = progress.Display.watch
progress.Display.watch = lambda display, *state: (watch(display, *state), display.is_bar and display.tell())
"""
#: A signal that comes between a prompt and the reading of its line is lost: after so many seconds it is typed again.
CTRL_C, LOST = "\x03", 10.0
#: So many seconds after a command has ended its last line may still come.
LATE = 0.3
PLACE = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src"), "COLUMNS": "80", "TERM": "xterm"}


def answering(
    words: Sequence[str], answers: Sequence[str | Callable[[], str]], folder: Path, before: str = "", **environment: str
) -> tuple[int, str, str]:
    """Run a command whose questions are read on a terminal; return its exit code, what it prints, and what it shows.

    After each prompt an answer is typed, or what a function returns, and Ctrl-D after the last one. `before` are lines
    of Python that are run first.
    """
    return in_streams(words, folder, ("stdout",), answers, before, **environment)


def in_streams(
    words: Sequence[str], folder: Path, to_a_file: Sequence[str], answers: Sequence[str | Callable[[], str]] = (),
    before: str = "", **environment: str,
) -> tuple[int, str, str]:
    """Run a command on a terminal, but for the streams that go to a file; return its exit code, the file, and the rest.

    The command is a child of a server that has imported all of it.
    """
    import pty

    mine, theirs = pty.openpty()
    terminal, place = os.ttyname(theirs), {**PLACE, **environment}
    with tempfile.NamedTemporaryFile() as output:
        streams = [output.name if name in to_a_file else terminal for name in ("stdin", "stdout", "stderr")]
        running = FAST.Process(target=_on_its_terminal, args=(streams, list(words), folder, before, place))
        running.start()
        seen, left, answer = b"", list[str | Callable[[], str]](answers), None
        while True:
            ready = wait([mine, running.sentinel], LOST if answer == CTRL_C else None)
            if not ready:
                os.write(mine, CTRL_C.encode())
                continue
            if mine not in ready and not wait([mine], LATE):  # a terminal shows the last line after the end, too
                break
            seen += os.read(mine, 65536)
            if seen.endswith(b": "):
                answer = left.pop(0) if left else "\x04"
                os.write(mine, (answer if isinstance(answer, str) else answer()).encode())
                seen += b"\n"
        running.join()
        printed = output.read()
    os.close(theirs)
    os.close(mine)
    assert running.exitcode is not None
    return running.exitcode, printed.decode(), seen.decode().replace("\r\n", "\n")


def _on_its_terminal(
    streams: list[str], words: list[str], folder: Path, before: str, environment: dict[str, str]
) -> None:
    """Run a command in this child, whose terminal is its own: what is typed there can stop it."""
    from takifugu.cli import main

    os.setsid()
    for stream, path in enumerate(streams):
        os.dup2(os.open(path, os.O_RDWR | os.O_APPEND), stream)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", buffering=1)  # noqa: SIM115
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    exec(before, {})
    main(words, prog_name="takifugu")
