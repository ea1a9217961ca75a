"""Run every benchmark of this directory, or those named: `python benchmarks/run.py draws transport`.

Each runs in a process of its own, so that one cannot warm the caches or fill the memory of another.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
NOT_BENCHMARKS = {"run", "measure"}


def main(names: list[str]) -> int:
    known = sorted(path.stem for path in HERE.glob("*.py") if path.stem not in NOT_BENCHMARKS)
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"no benchmark is called {', '.join(unknown)}; there are: {', '.join(known)}")
        return 2
    failed = []
    for name in names or known:
        started = time.perf_counter()
        print(f"\n== {name} " + "=" * (76 - len(name)), flush=True)
        path = {**os.environ, "PYTHONPATH": str(HERE.parent / "experiments")}
        if subprocess.run([sys.executable, str(HERE / f"{name}.py")], cwd=HERE.parent, env=path).returncode:
            failed.append(name)
        print(f"  ({time.perf_counter() - started:.0f} s)", flush=True)
    if failed:
        print(f"\nfailed: {', '.join(failed)}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
