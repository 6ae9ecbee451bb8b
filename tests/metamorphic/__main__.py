"""The command line: rewrites many programs, and shows what goes wrong with their gradients."""

from __future__ import annotations

import argparse
import collections
import math
import random
import sys
import time
from pathlib import Path

from tests.metamorphic.base import REGISTRY
from tests.metamorphic.driver import MODES, Subject, random_steps, rewritten, shrunk, subjects


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.metamorphic")
    parser.add_argument("--seeds", nargs=2, type=int, default=(0, 3), metavar=("FIRST", "END"))
    parser.add_argument("--programs", nargs="*", help="their names; all, if there are none")
    parser.add_argument("--rewrites", nargs="*", choices=sorted(REGISTRY), help="only these")
    parser.add_argument("--mode", choices=MODES, help="what to ask for; each in turn, if not given")
    parser.add_argument("--most", type=int, default=6, help="rewrites of one program")
    parser.add_argument("--slow", type=float, default=math.inf, help="times as slow or as long")
    parser.add_argument("--keep", type=Path, help="a folder for the programs that fail")
    parser.add_argument("--whole", action="store_true", help="don't make what fails smaller")
    given = parser.parse_args()
    counts: collections.Counter[str] = collections.Counter()
    found: collections.Counter[tuple[str, str]] = collections.Counter()
    used: collections.Counter[str] = collections.Counter()
    start = time.perf_counter()
    for subject in subjects(given.programs):
        for seed in range(*given.seeds):
            steps = random_steps(random.Random(f"{subject.name}{seed}").randrange(10**9),
                                 given.rewrites, given.most)  # fmt: skip
            text, kept = rewritten(subject, steps)
            counts["steps"] += len(steps)
            counts["kept steps"] += len(kept)
            if not kept:
                continue
            used.update(step.rewrite for step in kept)
            mode = given.mode or MODES[seed % len(MODES)]
            outcome = subject.differentiated(text, mode, given.slow)
            counts[outcome.kind] += 1
            if outcome.kind == "right":
                continue
            found[outcome.topic] += 1
            if not given.whole and found[outcome.topic] <= 3:
                kept = shrunk(subject, kept, outcome.topic, mode, given.slow)
                text, kept = rewritten(subject, kept)
            show(subject, seed, mode, kept, outcome.kind, outcome.message, text, given.keep)
    seconds = time.perf_counter() - start
    print(f"{seconds:.0f} s;", ", ".join(f"{n} {what}" for what, n in counts.items()))
    print("rewrites:", ", ".join(f"{n} {what}" for what, n in used.most_common()))
    for (kind, topic), n in found.most_common():
        print(f"{n:5} {kind}: {topic}")
    return 1 if found else 0


def show(subject: Subject, seed, mode, steps, kind, message, text, folder) -> None:
    print(f"--- {subject.name} {seed} {mode}: {kind}")
    print("   ", *(f"{s.rewrite}({s.seed}, {s.only})" for s in steps))
    print(message, flush=True)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{subject.name}_{seed}_{mode}.py").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
