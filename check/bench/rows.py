"""The figures to reach, one function for each group of rows. A load is sized so that one run takes about a second."""
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from measure import Failed, Missing, Row, best, execute, in_turn

MEAN = 1000000                               # ticks: PHOLD's mean delay
CROWD = Path(__file__).parent / "models" / "crowd.c"
MIB = 2**20


def over(product, yardsticks):
    """The best of the product over the best that any yardstick did."""
    return max(product) / max(max(values) for values in yardsticks)


def fastest(yardsticks):
    return best(max(yardsticks, key=max))


def phold(tools, plan):
    """Every message remote. The yardstick's shards are those it was fastest with."""
    loads = [("100k", 100000, 16, 100 * MEAN, 0.5), ("1M", 1000000, 64, 10 * MEAN, 0.5),
             ("10M", 10000000, 256, 3 * MEAN // 2, 0.4)]
    bare = tools.yardsticks("phold")
    for name, agents, shards, until, least in loads[:1] if plan.short else loads:
        until = until // 50 if plan.short else until
        rates = {}
        for threads in (1, 2):
            sides = [lambda: tools.product("phold", threads, until, agents=agents)["events_per_s"]]
            sides += [lambda program=program: tools.rate(program, threads, agents, shards, 1, until, 1)
                      for program in bare]
            product, *yardsticks = rates[threads] = in_turn(plan.pairs, *sides)
            yield Row(f"PHOLD {name}, {threads} thread{'s' * (threads - 1)}", best(product), fastest(yardsticks),
                      over(product, yardsticks), least, 0.7)
        if name == "1M" or plan.short:
            gains = [max(two) / max(one) for one, two in zip(rates[1], rates[2])]
            yield Row(f"PHOLD {name}: gain from a second thread", f"{gains[0]:.2f}", f"{max(gains[1:]):.2f}",
                      gains[0] / max(gains[1:]), 0.85, 1)


def small(tools, plan):
    """1,000 agents: bound by the barrier, or run on one worker."""
    until = MEAN * (100 if plan.short else 5000)
    rates = in_turn(plan.pairs, *(lambda threads=threads: tools.product("phold", threads, until, agents=1000)["events_per_s"]
                                  for threads in (1, 2)))
    product = max(rates, key=max)
    yield Row("PHOLD 1k, best of 1 and 2 threads", best(product), "", max(product), 8e6, 15e6, "/s")


def mail(tools, plan):
    """Delay 0, one thread."""
    loads = [("pingpong", "ping-pong", 0.12), ("ring", "ring of 503, one token", 0.12),
             ("tokens", "ring of 503, 503 tokens", 0.12), ("counting", "1,000 messages an update to one counter", 0.16),
             ("all", "120 all to all, 10 tokens each", 0.10), ("many", "100 senders to one, 10 an update", 0.13)]
    bare = tools.yardsticks("mail")
    messages = 500000 if plan.short else 20000000
    for variant, what, least in loads:
        sides = [lambda: tools.product("pingpong", variant=variant, messages=messages)["events_per_s"]]
        sides += [lambda program=program: tools.rate(program, variant, messages) for program in bare]
        product, *yardsticks = in_turn(plan.pairs, *sides)
        yield Row(f"delay 0: {what}", best(product), fastest(yardsticks), over(product, yardsticks), least, 2 * least)


def create(tools, plan):
    """Agents created by one in its own shard; each gets one message and stops."""
    agents = 100000 if plan.short else 1000000
    program, = tools.yardsticks("create")
    for what, batch, least, wanted in (("at once, first time", agents, 5e6, 15e6), ("in batches of 1,000", 1000, 15e6, 25e6)):
        def product():
            run = tools.product("create", agents=agents, batch=batch)
            return agents * run["events_per_s"] / run["events"]
        product, yardstick = in_turn(plan.pairs, product, lambda: tools.rate(program, agents, batch))
        yield Row(f"create {agents:,} agents {what}", best(product), best(yardstick), max(product), least, wanted, "/s")


def heavy(tools, plan):
    """64 agents of 100 us work each tick."""
    ticks = 20 if plan.short else 150
    program, = tools.yardsticks("heavy")
    sides = [lambda threads=threads: tools.product("heavy", threads, ticks)["events_per_s"] for threads in (1, 2)]
    sides += [lambda threads=threads: tools.rate(program, threads, ticks) for threads in (1, 2)]
    one, two, bare_one, bare_two = in_turn(plan.pairs, *sides)
    gain, bare_gain = max(two) / max(one), max(bare_two) / max(bare_one)
    yield Row("64 agents of 100 µs work a tick: gain from a second thread", f"{gain:.2f}", f"{bare_gain:.2f}",
              gain / bare_gain, 0.9, 1)


def fingerprint(tools, plan):
    """Instructions an event costs more with the fingerprint than without, counted by callgrind."""
    if not shutil.which("valgrind"):
        raise Missing("valgrind is missing (Debian package valgrind)")
    agents, until = 2000, MEAN * (10 if plan.short else 100)
    events = tools.product("phold", until=until, agents=agents)["events"]

    def instructions(*options):
        with tempfile.TemporaryDirectory() as out:
            ended = execute(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", tools.nima, "run", "phold",
                             "--quiet", "--threads", 1, "--until", until, "--out", out, "-p", f"agents={agents}", *options])
        return int(next(line for line in ended.errors.splitlines() if "Collected" in line).split()[-1])

    without, with_it = instructions(), instructions("--fingerprint")
    yield Row("fingerprint: instructions per event", f"{with_it / events:.0f}", f"{without / events:.0f} without",
              (with_it - without) / events, 25, 15, at_most=True)


def memory(tools, plan):
    """Resident bytes, from runs that differ only in the number of agents or messages."""
    scale = 10 if plan.short else 1
    few, many, messages = 1000000 // scale, 4000000 // scale, 8

    def resident(**params):
        return tools.product(CROWD, until=1, **params)["most_bytes"]

    base = resident(agents=few)
    idle = (resident(agents=many) - base) / (many - few) - 8           # the state of a member
    pending = (resident(agents=few, pending=messages) - base) / (few * messages) - 16   # the payload of a parcel
    yield Row("memory of an idle agent beside its state", "", "", idle, 64, None, " B", at_most=True)
    yield Row("memory of a pending message beside its payload", "", "", pending, 48, None, " B", at_most=True)


def cpu_s(process):
    """CPU time of all threads of a process so far."""
    return sum(int((task / "schedstat").read_text().split()[0]) for task in Path(f"/proc/{process}/task").iterdir()) / 1e9


def waiting(tools, plan):
    """CPU of a run that waits for the wall clock: the next message is due in 1,000 s."""
    with tempfile.TemporaryDirectory() as out:
        process = subprocess.Popen([str(word) for word in (
            tools.nima, "run", CROWD, "--quiet", "--speed", 1, "--until", 10**12, "--out", out, "-p", "agents=1000",
            "-p", "pending=1")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            time.sleep(2)
            if process.poll() is not None:
                raise Failed(f"nima run crowd --speed 1 ended with {process.returncode} instead of waiting")
            before, length = cpu_s(process.pid), 1 if plan.short else 5
            time.sleep(length)
            percent = 100 * (cpu_s(process.pid) - before) / length
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    yield Row("CPU of a waiting run (0 % is at most 0.5 %)", "", "", percent, 0.5, None, " %", at_most=True)


def reporter(tools, plan):
    """Every agent updated and sampled at each tick."""
    agents, ticks = (100000, 100) if plan.short else (1000000, 1000)

    def resident(until):
        return tools.product(CROWD, 1, until, agents=agents, sweep="true")["most_bytes"]

    early, late = in_turn(1 if plan.short else 3, lambda: resident(10), lambda: resident(ticks))
    growth = (min(late) - min(early)) / MIB
    yield Row(f"{agents:,} agents x {ticks:,} ticks, sampled every tick: growth after 10 ticks", f"{min(late) / MIB:.0f} MiB",
              "", max(growth, 0), 1, None, " MiB", at_most=True)


GROUPS = [phold, small, mail, create, heavy, fingerprint, memory, waiting, reporter]
