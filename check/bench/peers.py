"""The mail loads and PHOLD beside Erlang and CAF, both from Debian (packages erlang-base and libcaf-dev)."""
import shutil
from pathlib import Path

from measure import Failed, best, execute, in_turn, say

HERE = Path(__file__).parent / "peers"
MEAN = 1000000                               # ticks
MAIL = [("pingpong", "ping-pong"), ("ring", "ring of 503, one token"), ("tokens", "ring of 503, 503 tokens"),
        ("counting", "1,000 messages an update to one counter"), ("all", "120 all to all, 10 tokens each"),
        ("many", "100 senders to one, 10 an update")]


def erlang(tools):
    """What runs a load in Erlang; None without Erlang."""
    if not shutil.which("erlc"):
        return None
    execute(["erlc", "-o", tools.folder, HERE / "loads.erl"])
    return lambda threads, *load: tools.rate("erl", "-noshell", "+S", threads, "+P", 2000000, "-pa", tools.folder, "-run",
                                             "loads", "main", *load)


def caf(tools):
    """What runs a load in CAF; None without it."""
    program = tools.folder / "peers-loads"
    try:
        execute(["c++", "-std=c++17", "-O3", "-march=native", "-o", program, HERE / "loads.cpp", "-lcaf_core", "-lpthread"])
    except Failed as failed:
        say(f"CAF: {failed}")
        return None
    return lambda threads, *load: tools.rate(program, threads, *load)


def table(tools, plan):
    """The table; also whether everything could be measured."""
    peers = [(name, runs) for name, runs in (("Erlang", erlang(tools)), ("CAF", caf(tools))) if runs]
    lines = ["| load | threads | Nima | " + " | ".join(name for name, _ in peers) + " | Nima over the faster |",
             "|---|---|---|" + "---|" * len(peers) + "---|"]

    def compare(what, threads, product, *load):
        sides = [lambda runs=runs: runs(threads, *load) for _, runs in peers]
        ours, *theirs = in_turn(plan.pairs, product, *sides)
        ratio = f"{max(ours) / max(max(values) for values in theirs):.1f}" if theirs else ""
        lines.append(f"| {what} | {threads} | {best(ours)} | " + " | ".join(map(best, theirs)) + f" | {ratio} |")
        say(lines[-1])

    messages = 100000 if plan.short else 3000000
    try:
        for variant, what in MAIL:
            compare(what, 1, lambda: tools.product("pingpong", variant=variant, messages=5 * messages)["events_per_s"],
                    variant, messages)
        agents = 10000 if plan.short else 100000
        for threads in (1, 2):
            compare(f"PHOLD {agents:,}, which only Nima runs in order of time", threads,
                    lambda: tools.product("phold", threads, 20 * MEAN, agents=agents)["events_per_s"],
                    "phold", 20 * agents, agents)
    except Failed as failed:
        say(f"not measured: {failed}")
        lines.append(f"| not measured: {failed} | | | |" + " |" * len(peers))
        return lines, False
    return lines, len(peers) == 2
