#!/usr/bin/env python3
"""Runs over three hosts that are reached by ssh: same bits as on one thread, and an end that is an end.

    test_hosts.py BUILD DOCUMENT [--seed N] [--runs N]

The blocks of DOCUMENT (docs/cluster.md) are executed on the first host. The rest is what a document need not show."""
import argparse, json, os, random, re, signal, subprocess, sys, time
from hosts import MISSING, Hosts, unavailable

DEADLINE_S = 5.0
failures = []


def check(good, text, detail=""):
    print(f"{'ok' if good else 'FAILED'}: {text}", detail if not good else "", flush=True)
    if not good:
        failures.append(text)


def outcome(hosts, words, **options):
    """Runs nima on host a; its exit status, the last line of its output read as JSON, and its complaints."""
    done = hosts.run("a", ["nima", "run", *words, "--json"], capture_output=True, text=True, cwd=hosts.folder, **options)
    lines = done.stdout.strip().splitlines()
    return done.returncode, json.loads(lines[-1]) if lines and lines[-1].startswith("{") else {}, complaints(done.stderr)


def complaints(text):
    return [line for line in text.splitlines() if "they will wait for each other" not in line]


def nothing_left(hosts):
    return all(not hosts.left(name) for name in hosts.names) and not any(hosts.pids(name, "nima-node") for name in hosts.names)


# ---- same bits
def csv_bytes(folder):
    return {name: open(os.path.join(folder, name), "rb").read() for name in sorted(os.listdir(folder)) if name.endswith(".csv")}


def test_layouts(hosts, config):
    contacts = os.path.join(hosts.folder, "contacts.txt")
    chance = random.Random(3)
    with open(contacts, "w") as f:
        f.writelines(f"{chance.randrange(5000)} {chance.randrange(5000)}\n" for _ in range(20000))
    cases = [["phold", "-p", "agents=5000"], ["tasep"], ["wealth"], ["randomwalk"], ["sir", "-p", "people=5000", "-p", f"contacts={contacts}"]]
    for number, case in enumerate(cases):
        results = []
        for layout in ("one", "three"):
            out = os.path.join(hosts.folder, f"out-{number}-{layout}")
            options = ["--threads", "1"] if layout == "one" else ["--cluster", config]
            model = f"{hosts.build}/models/{case[0]}.so"
            status, result, errors = outcome(hosts, [model, *case[1:], "--seed", "5", "--out", out, "--quiet", *options])
            results.append((status, result.get("fingerprint"), csv_bytes(out) if os.path.isdir(out) else errors))
        check(results[0] == results[1] and results[0][1], f"{case[0]}: three hosts as one thread", results)
    check(nothing_left(hosts), "nothing is left on any host")


# ---- what is refused
def test_refusals(hosts, config):
    text = open(config).read()
    model = f"{hosts.build}/models/pingpong.so"
    path = os.path.join(hosts.folder, "wrong.cfg")
    wrongs = [("threads = 1", "threads = 4294967297", "threads"), ("address", "adress", "adress"), ("port", "prot", "prot"),
              ('ssh = "b"', 'ssh = "-oProxyCommand=x"', "ssh"), ('name = "c"', 'name = "b"', "twice"), ("hosts = (", "hosts = [", "")]
    for old, new, expected in wrongs:
        with open(path, "w") as f:
            f.write((text + "\nport = 47000;\n").replace(old, new, 1))
        status, _, errors = outcome(hosts, [model, "--cluster", path])
        check(status == 2 and errors and re.search(r"wrong\.cfg:\d+: ", errors[0]) and expected in errors[0], f"refused: {new}", (status, errors))
    with open(path, "w") as f:
        f.write(text.replace('ssh = "c"', 'ssh = "10.77.0.9"'))
    status, _, errors = outcome(hosts, [model, "--cluster", path])
    check(status == 8 and errors, "a host that is not there is named", (status, errors))
    with open(path, "w") as f:
        f.write(text.replace("10.77.0.3", "10.77.0.33").replace("threads = 1", "threads = 4096", 1))
    done = hosts.run("a", ["nima", "cluster", "check", path], capture_output=True, text=True, cwd=hosts.folder)
    check(done.returncode == 1 and "host c: it cannot listen at 10.77.0.33" in done.stdout and "host a: 4096 workers" in done.stdout,
          "cluster check says what is wrong where", done.stdout + done.stderr)
    # A host that computes differently, or has another version, as nima-node sees it.
    join = [f"{hosts.build}/bin/nima-node", "--join"]
    version = subprocess.run([f"{hosts.build}/bin/nima", "version"], capture_output=True, text=True).stdout.split()
    first = f"nima-join 1 {version[1]} {version[-1].rstrip(')')}\n"
    for lines, expected in ((first + "probe 123 0\n", "computes differently"), ("nima-join 1 9.9.9 1\n", "9.9.9"), ("GET / HTTP/1.1\n", "no description"),
                            (first + "file model 4 0\nabcd", "altered"), (first + "file ../model 4 0\nabcd", "not understood")):
        done = hosts.run("a", join, input=lines, capture_output=True, text=True)
        check(done.returncode == 1 and done.stdout.startswith("refused") and expected in done.stdout, f"nima-node refuses: {expected}", done.stdout)
    check(nothing_left(hosts), "nothing is left after refusals")


def wait_started(hosts):
    """Until dispatchers run on b and c, and the folders of their start have gone; seconds."""
    begin = time.monotonic()
    while time.monotonic() - begin < 30 and not all(hosts.pids(name, "--dispatcher") and not hosts.left(name) for name in ("b", "c")):
        time.sleep(0.05)
    return time.monotonic() - begin


# ---- who listens where
def test_addresses(hosts, config):
    run = hosts.start("a", ["nima", "run", f"{hosts.build}/models/phold.so", "--until", "100000000000", "-p", "agents=3000", "--quiet", "--cluster",
                            config, "--out", os.path.join(hosts.folder, "out-listen")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    took = wait_started(hosts)
    check(took < 5, f"three hosts start in {took:.2f} s")
    text = hosts.run("a", ["ss", "-Hltn"], capture_output=True, text=True).stdout
    bound = {line.split()[3] for line in text.splitlines()} - {"10.77.0.1:22"}
    check(bound and all(at.startswith("10.77.0.1:") for at in bound), "only the address that is named is bound", bound)
    secrets = [word for name in hosts.names for pid in hosts.pids(name, "nima")
               for file in ("cmdline", "environ") for word in re.findall(rb"[0-9a-f]{64}", open(f"/proc/{pid}/{file}", "rb").read())]
    check(not secrets, "no key on a command line or in an environment", secrets)
    os.kill(run.pid, signal.SIGINT)
    begin = time.monotonic()
    while time.monotonic() - begin < DEADLINE_S and not (run.poll() is not None and nothing_left(hosts)):
        time.sleep(0.02)
    check(run.poll() == 130 and nothing_left(hosts), "Ctrl-C ends all hosts", (run.poll(), [hosts.pids(n, "nima-node") for n in hosts.names]))


# ---- by hand
def key_file(hosts, name):
    path = os.path.join(hosts.folder, name)
    with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w") as f:
        f.write(os.urandom(32).hex() + "\n")
    return path


def test_by_hand(hosts, config):
    """Host b is not logged in to: nima-node is started there by hand, once with another key."""
    key, other = key_file(hosts, "key"), key_file(hosts, "other-key")
    path = os.path.join(hosts.folder, "by-hand.cfg")
    with open(path, "w") as f:
        f.write(open(config).read().replace(' ssh = "b";', "") + f'key = "{key}";\n')
    model = f"{hosts.build}/models/tasep.so"
    run = hosts.start("a", ["nima", "run", model, "--cluster", path, "--json", "--quiet", "--out", os.path.join(hosts.folder, "out-hand")],
                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    line = run.stderr.readline()
    while "--key FILE" not in line and line:
        line = run.stderr.readline()
    words = line.split("there: ", 1)[-1].split()[:-1] if line else ["nima-node"]
    stranger = hosts.start("c", [*words, other], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(1)
    stranger.kill()
    stranger.wait()
    time.sleep(0.5)
    node = hosts.run("b", [*words, key], capture_output=True, text=True)
    text, _ = run.communicate(timeout=60)
    expected = outcome(hosts, [model, "--quiet", "--threads", "1", "--out", os.path.join(hosts.folder, "out-hand-one")])[1]
    result = json.loads(text.strip().splitlines()[-1]) if text.strip() else {}
    check(node.returncode == 0 and run.returncode == 0 and result.get("fingerprint") == expected.get("fingerprint"),
          "a node started by hand takes part; one with another key does not", (node, run.returncode, result))
    os.chmod(key, 0o644)
    done = hosts.run("b", [*words, key], capture_output=True, text=True)
    check(done.returncode == 2 and "0644" in done.stderr, "a key file that others can read is refused", done)


# ---- faults
def fault(hosts, config, seed):
    chance = random.Random(seed)
    how = chance.choice(["kill dispatcher", "stop dispatcher", "kill watcher", "kill ssh", "cut", "host", "leader"])
    where = chance.choice(["b", "c"])
    errors = open(os.path.join(hosts.folder, f"errors-{seed}"), "w+")
    run = hosts.start("a", ["nima", "run", f"{hosts.build}/models/phold.so", "--until", "100000000000", "-p", "agents=3000", "--quiet", "--cluster",
                            config, "--out", os.path.join(hosts.folder, f"out-fault-{seed}")], stdout=subprocess.DEVNULL, stderr=errors)
    wait_started(hosts)
    time.sleep(chance.uniform(0, 0.4))
    victims = {"kill dispatcher": hosts.pids(where, "--dispatcher"), "stop dispatcher": hosts.pids(where, "--dispatcher"),
               "kill watcher": hosts.pids(where, "--join"), "kill ssh": hosts.pids("a", f" {where} exec"), "host": hosts.pids(where, "nima-node"),
               "leader": hosts.pids("a", "nima run"), "cut": []}[how]
    if how == "cut":
        hosts.ip("-n", hosts.space(where), "link", "set", "eth0", "down")
    for pid in victims if how in ("host", "leader") else victims[:1]:
        os.kill(pid, signal.SIGSTOP if how.startswith("stop") else signal.SIGKILL)
    begin = time.monotonic()
    deadline = DEADLINE_S + (3 if how == "cut" else 0)       # ssh itself notices a cut later; nothing of the run waits for it
    while time.monotonic() - begin < deadline and not (run.poll() is not None and nothing_left(hosts)):
        time.sleep(0.02)
    took = time.monotonic() - begin
    if how == "cut":
        hosts.ip("-n", hosts.space(where), "link", "set", "eth0", "up")
    errors.seek(0)
    lines = complaints(errors.read())
    place = how == "leader" or (lines and (where in re.split(r"[ .:)(]", lines[0]) or f".{where}" in lines[0]))
    good = run.poll() not in (None, 0) and nothing_left(hosts) and place
    check(good, f"seed {seed}: {how} ({where}): all gone after {took:.2f} s", (run.poll(), lines[:2], [hosts.pids(n, "nima-node") for n in hosts.names],
                                                                       [hosts.left(n) for n in hosts.names]))
    for name in hosts.names:
        for pid in hosts.pids(name, "nima-node"):
            os.kill(pid, signal.SIGKILL)
    for pid in hosts.pids("a", "nima run"):
        os.kill(pid, signal.SIGKILL)
    run.wait()


# ---- the document
def test_document(hosts, document):
    """The ```sh blocks, in order, in one shell on host a; a block that names a file is that file's text."""
    script, kind = ["set -eu"], ""
    for line in open(document):
        fence = re.match(r"```(\S*)(?: (\S+))?\s*$", line)
        if fence and not kind:
            kind = "file" if fence[2] else fence[1] or "other"
            if kind == "file":
                script.append(f"cat > {fence[2]} <<'END-OF-BLOCK'")
        elif fence:
            if kind == "file":
                script.append(f"ssh_config = \"{hosts.ssh_config}\";\nEND-OF-BLOCK")    # where the test's keys are
            kind = ""
        elif kind in ("sh", "file"):
            script.append(line.rstrip("\n"))
    folder = os.path.join(hosts.folder, "document")
    os.mkdir(folder)
    done = hosts.run("a", ["bash", "-c", "\n".join(script)], cwd=folder, capture_output=True, text=True)
    check(done.returncode == 0, f"{os.path.basename(document)} works as it is written", (done.returncode, done.stdout[-1500:], done.stderr[-1500:]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("document")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--runs", type=int, default=50 if os.environ.get("NIMA_LONG") else 5)
    arguments = parser.parse_args()
    why = unavailable()
    if why:
        print(f"skipped: {why}")
        return MISSING
    with Hosts(["a", "b", "c"], arguments.build) as hosts:
        config = os.path.join(hosts.folder, "cluster.cfg")
        hosts.configuration(config)
        test_layouts(hosts, config)
        test_refusals(hosts, config)
        test_addresses(hosts, config)
        test_by_hand(hosts, config)
        test_document(hosts, arguments.document)
        print(f"seed {arguments.seed}")
        for i in range(arguments.runs):
            fault(hosts, config, arguments.seed + i)
    print(f"{len(failures)} wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
