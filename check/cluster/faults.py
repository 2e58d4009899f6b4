#!/usr/bin/env python3
"""What ends a run on several dispatchers ends all of it: soon, with a reason, and leaves nothing behind.

    faults.py BUILD [--seed N] [--runs N]

Each run: a model on 3 dispatchers, and at a random moment one of its processes, of any kind, is killed, stopped, or its model fails.
Expected within 5 s: no process of the run is left, the exit status is not 0, the first line names the cause and the place, nothing is
left in the folder for temporary files. The seed that is printed gives the same kinds and moments again."""
import argparse, os, random, signal, subprocess, sys, tempfile, time

DEADLINE_S = 5.0


def children_of(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as f:
            direct = [int(word) for word in f.read().split()]
    except OSError:
        return []
    return direct + [grandchild for child in direct for grandchild in children_of(child)]


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def command_of(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            return f.read().replace(b"\0", b" ").decode().strip()
    except OSError:
        return ""


class Run:
    """One run of a model that would take minutes, in a folder for temporary files of its own."""

    def __init__(self, build, folder, model, options):
        self.folder = folder
        self.tmp = os.path.join(folder, "tmp")
        os.mkdir(self.tmp)
        environment = dict(os.environ, XDG_RUNTIME_DIR=self.tmp)
        self.errors = open(os.path.join(folder, "errors"), "w+")
        self.process = subprocess.Popen(
            [f"{build}/bin/nima", "run", model, "--quiet", "--out", os.path.join(folder, "out"), *options],
            stdout=subprocess.DEVNULL, stderr=self.errors, env=environment, start_new_session=True)
        self.pids = {self.process.pid}

    def processes(self):
        self.pids.update(children_of(self.process.pid))
        return [pid for pid in self.pids if alive(pid)]

    def wait_started(self, count):
        """Until the processes are there and run windows: the folder of their sockets has gone."""
        end = time.monotonic() + 30
        while time.monotonic() < end and self.process.poll() is None:
            if len(self.processes()) >= count and not os.listdir(self.tmp):
                return True
            time.sleep(0.01)
        return False

    def wait_ended(self, seconds):
        """How long it took until no process was left; None: too long."""
        begin = time.monotonic()
        while time.monotonic() - begin < seconds:
            self.process.poll()
            if not self.processes():
                return time.monotonic() - begin
            time.sleep(0.01)
        return None

    def first_line(self):
        self.errors.seek(0)
        lines = [line.strip() for line in self.errors if "they will wait for each other" not in line]
        return lines[0] if lines else ""

    def clean(self):
        for pid in self.processes():
            os.kill(pid, signal.SIGKILL)
        self.process.wait()
        self.errors.close()


def pick(run, kind):
    leader = run.process.pid
    others = [pid for pid in run.processes() if pid != leader]
    watchers = [pid for pid in others if "--join" in command_of(pid)]
    followers = sorted(pid for pid in others if "--dispatcher" in command_of(pid))
    return {"leader": [leader], "watcher": watchers, "follower": followers}[kind]


def one(build, folder, seed):
    chance = random.Random(seed)
    how = chance.choice(["kill follower", "kill leader", "kill watcher", "stop follower", "stop leader", "interrupt", "terminate",
                         "kill while starting"])
    moment = chance.uniform(0, 0.4)
    run = Run(build, folder, f"{build}/models/phold.so",
              ["--dispatchers", "3", "--threads", "1", "--until", "100000000000", "-p", "agents=3000", "--seed", str(seed)])
    problems = []
    try:
        if how == "kill while starting":
            time.sleep(moment)
            victim = chance.choice(sorted(run.processes()))
            os.kill(victim, signal.SIGKILL)
        else:
            if not run.wait_started(4):
                return how, 0, [f"did not start: {run.first_line()}"]
            time.sleep(moment)
            kind = how.split()[-1] if how.split()[-1] in ("leader", "watcher", "follower") else "leader"
            victim = chance.choice(pick(run, kind))
            os.kill(victim, {"kill": signal.SIGKILL, "stop": signal.SIGSTOP, "interrupt": signal.SIGINT,
                             "terminate": signal.SIGTERM}[how.split()[0]])
        took = run.wait_ended(DEADLINE_S)
        if took is None:
            problems.append(f"after {DEADLINE_S} s there still are: {[command_of(p) for p in run.processes()]}")
        status = run.process.poll()
        if status == 0:
            problems.append("exit status 0")
        line = run.first_line()
        if how in ("kill follower", "stop follower") and "dispatcher" not in line:
            problems.append(f"the first line names no place: {line!r}")
        if how == "kill follower" and "signal 9" not in line:
            problems.append(f"the first line names no cause: {line!r}")
        if how == "kill watcher" and "nima-node" not in line and "dispatcher" not in line:
            problems.append(f"the first line names no place: {line!r}")
        if how == "stop leader" and "stopped" not in line:
            problems.append(f"the first line names no cause: {line!r}")
        if os.listdir(run.tmp):
            problems.append(f"left behind: {os.listdir(run.tmp)}")
        return how, took or DEADLINE_S, problems
    finally:
        run.clean()


def placement(build, folder):
    """Dispatchers of this machine run on cores of their own; what else is in them is bound to none."""
    cores = len(os.sched_getaffinity(0))
    if cores < 2:
        return []
    run = Run(build, folder, f"{build}/models/phold.so", ["--dispatchers", "2", "--threads", "1", "--until", "100000000000", "-p", "agents=3000"])
    try:
        if not run.wait_started(3):
            return [f"did not start: {run.first_line()}"]
        time.sleep(0.2)
        workers = [run.process.pid, *pick(run, "follower")]
        bound = [os.sched_getaffinity(pid) for pid in workers]
        others = {len(os.sched_getaffinity(int(thread))) for pid in workers for thread in os.listdir(f"/proc/{pid}/task") if int(thread) != pid}
        problems = [] if len(set.union(*bound)) == 2 and all(len(b) == 1 for b in bound) else [f"workers are bound to {bound}"]
        return problems + ([] if others == {cores} else [f"other threads are bound to {others} of {cores} cores"])
    finally:
        run.clean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--runs", type=int, default=50 if os.environ.get("NIMA_LONG") else 5)
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}")
    failed, slowest = 0, 0.0
    with tempfile.TemporaryDirectory(prefix="nima-faults-") as folder:
        problems = placement(arguments.build, folder)
    print("2 dispatchers: each on a core", *problems, sep="\n    " if problems else "", flush=True)
    failed += bool(problems)
    for i in range(arguments.runs):
        with tempfile.TemporaryDirectory(prefix="nima-faults-") as folder:
            how, took, problems = one(arguments.build, folder, arguments.seed + i)
        slowest = max(slowest, took)
        print(f"{arguments.seed + i}: {how}: {took:.2f} s", *problems, sep="\n    " if problems else "", flush=True)
        failed += bool(problems)
    print(f"{arguments.runs} runs, {failed} wrong, all gone after {slowest:.2f} s at most")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
