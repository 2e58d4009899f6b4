"""How the benchmarks measure: programs run in turn, the best of each side, and a table in Markdown.

The machines that this runs on only ever slow a program down, and not always equally. So each side of a comparison runs
once in every round, and the best of the rounds is compared with the best; the spread says how far the worst fell.
"""
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Failed(Exception):
    """A program that cannot be measured; the text says why."""


class Missing(Failed):
    """A tool that this machine lacks; not an error of ours."""


def say(text):
    print(text, file=sys.stderr, flush=True)


@dataclass
class Ended:
    output: str
    errors: str
    most_bytes: int                          # resident at the most


def execute(command, timeout_s=300, environment=None):
    """Runs a program to its end."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen([str(word) for word in command], stdout=output, stderr=errors,
                                       stdin=subprocess.DEVNULL, env={**os.environ, **(environment or {})})
        except OSError as error:
            raise Failed(str(error)) from None
        timer = threading.Timer(timeout_s, process.kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        late = not timer.is_alive()
        timer.cancel()
        output.seek(0)
        errors.seek(0)
        ended = Ended(output.read().decode(errors="replace"), errors.read().decode(errors="replace"),
                      usage.ru_maxrss * 1024)
    if process.returncode != 0:
        why = f"ran longer than {timeout_s} s" if late else f"exit {process.returncode}"
        last = (ended.errors.strip() or ended.output.strip()).splitlines()[-1:]
        raise Failed(f"{' '.join(map(str, command[:4]))} ...: {why} {' '.join(last)}")
    return ended


class Tools:
    """The product as it was built, and the yardsticks, compiled here."""

    def __init__(self, build):
        self.build = Path(build)
        self.nima = self.build / "bin" / "nima"
        self.folder = self.build / "bench"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.ours = Path(__file__).parent / "yardstick"
        self.shared = ROOT.parent / "shared" / "yardstick"

    def product(self, model, threads=1, until=None, options=(), **params):
        """One run; what its JSON says, and the most memory it held."""
        with tempfile.TemporaryDirectory() as out:
            command = [self.nima, "run", model, "--json", "--quiet", "--threads", threads, "--out", out, *options]
            command += ["--until", until] if until is not None else []
            for name, value in params.items():
                command += ["-p", f"{name}={value}"]
            ended = execute(command)
        try:
            result = json.loads(ended.output.strip().splitlines()[-1])
        except (IndexError, ValueError):
            raise Failed(f"nima run {model}: no JSON in the last line of its output") from None
        result["most_bytes"] = ended.most_bytes
        return result

    def compiled(self, source):
        program = self.folder / f"{source.parent.name}-{source.stem}"
        if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
            execute([os.environ.get("CC", "cc"), "-std=gnu17", "-O3", "-march=native", "-o", program, source, "-lm",
                     "-lpthread"])
        return program

    def yardsticks(self, name):
        """Our own, and the one that was agreed on, where it lies beside the repository."""
        agreed = self.shared / f"{name}_bare.c"
        return [self.compiled(self.ours / f"{name}.c")] + ([self.compiled(agreed)] if agreed.exists() else [])

    def rate(self, program, *arguments):
        """Runs a yardstick or a peer; what it prints as events_per_s or messages_per_s."""
        words = execute([program, *arguments]).output.split()
        return float(words[words.index(next(word for word in words if word.endswith("s_per_s"))) + 1])

    def roundtrip_ns(self):
        return float(execute([self.compiled(self.ours / "roundtrip.c")]).output.split()[1])


def in_turn(pairs, *sides):
    """Calls each side once in every round; the lists of what they gave."""
    found = [[] for _ in sides]
    for _ in range(pairs):
        for values, side in zip(found, sides):
            values.append(side())
    return found


def number(value):
    """Three significant digits with a unit's prefix."""
    for prefix, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(value) >= size:
            return f"{value / size:.3g} {prefix}"
    return f"{value:.3g} "


def best(values, unit="/s"):
    """The best of several runs and how far below it the worst lies."""
    return f"{number(max(values))}{unit} (-{100 * (1 - min(values) / max(values)):.0f} %)"


@dataclass
class Row:
    what: str
    product: str
    yardstick: str
    figure: float
    least: float = None
    wanted: float = None
    unit: str = ""
    at_most: bool = False                    # the bounds are upper ones

    def reaches(self, bound):
        return bound is not None and (self.figure <= bound if self.at_most else self.figure >= bound)

    def line(self):
        sign = "≤ " if self.at_most else ""
        def text(x):
            return "" if x is None else f"{sign}{number(x).strip()}{self.unit}"
        verdict = "" if self.least is None else "short"
        if self.reaches(self.least):
            verdict = "reached" if self.wanted is None or not self.reaches(self.wanted) else "as wanted"
        return (f"| {self.what} | {self.product} | {self.yardstick} | {number(self.figure).strip()}{self.unit} | "
                f"{text(self.least)} | {text(self.wanted)} | {verdict} |")


HEAD = "| what | product | yardstick | figure | at least | wanted | |\n|---|---|---|---|---|---|---|"


def machine():
    """One line: what this was measured on."""
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (f"{model}, {len(os.sched_getaffinity(0))} cores, {memory:.0f} GiB, Linux {os.uname().release}, "
            f"{time.strftime('%Y-%m-%d')}")


def surroundings(tools):
    return f"core to core and back {tools.roundtrip_ns():.0f} ns, load average {os.getloadavg()[0]:.2f}"


def replace_between(path, name, text):
    """Puts text between the two marks `bench: NAME` of a page; the rest of it, written by people, stays."""
    begin, end = f"<!-- bench: {name} -->\n", f"<!-- bench: end of {name} -->\n"
    page = path.read_text() if path.exists() else "# Benchmarks\n"
    if begin not in page:
        page += f"\n{begin}{end}"
    before, rest = page.split(begin, 1)
    path.write_text(before + begin + text + "\n" + end + rest.split(end, 1)[1])
