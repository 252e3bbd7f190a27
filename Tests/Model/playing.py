"""Plays a sequence of steps, and shortens one that fails."""
import collections
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path

from steps import WEIGHTS, Steps
from world import Violation

ROOT = Path(__file__).resolve().parents[2]
STEPS = 40  # in a sequence

Outcome = collections.namedtuple("Outcome", "wrong kills hits")


def sequence(seed, length=STEPS):
    source = random.Random(seed * 7919)
    names = source.choices(list(WEIGHTS), WEIGHTS.values(), k=length)
    return [(name, *(source.randrange(1 << 16) for _ in range(3))) for name in names]


def play(seed, steps, binary, clock, is_loud=False):
    """Plays the steps; `wrong` of the outcome says what contradicts the model, or is None."""
    # A shell ignores SIGINT for what it starts in the background, and the program would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Who ends the model must not leave its disks mounted.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    say = print if is_loud else lambda line: None
    world, step, wrong = Steps(seed, binary, clock, say), None, None
    try:
        for step in steps:
            say(f"  {step}")
            getattr(world, "do_" + step[0])(*step[1:])
            world.settle()
        step = ("heal",)
        say("  heal")
        world.heal()
    except Violation as violation:
        wrong = f"after {step}: {violation}"
    except Exception:
        wrong = f"after {step}, the model itself: {traceback.format_exc()}"
    finally:
        world.close()
    return Outcome(wrong, world.kills, world.hits)


def shortened(seed, steps, binary, clock, budget):
    """The shortest sequence found within the budget (seconds) that still fails."""
    end, size = time.monotonic() + budget, max(1, len(steps) // 2)
    while size >= 1 and time.monotonic() < end:
        place, is_shorter = 0, False
        while place < len(steps) and time.monotonic() < end:
            rest = steps[:place] + steps[place + size:]
            if play(seed, rest, binary, clock).wrong:
                steps, is_shorter = rest, True
            else:
                place += size
        if size > 1 or not is_shorter:
            size //= 2
    return steps


def made_clock(folder):
    """The library that moves a program's clock, where there is a compiler."""
    compiler = shutil.which("cc") or shutil.which("clang")
    if not compiler or sys.platform != "linux":
        return None
    path = os.path.join(folder, "clock.so")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", path, ROOT / "Fixtures/preloaded/clock.c"], check=True)
    return path
