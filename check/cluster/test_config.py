#!/usr/bin/env python3
"""cluster.cfg: what is right runs, what is wrong is refused with file, line, setting and what was expected.   test_config.py BUILD"""
import json, os, subprocess, sys, tempfile

GOOD = """# two processes here
hosts = (
  { name = "a"; address = "127.0.0.1"; dispatchers = 2; threads = 1; }
);
authority = "a";
port = 47100;
timeouts = { connect = 20; heartbeat = 0.2; lost = 2.5; window = 60.0; };
insecure = false;
"""
# what is replaced, by what, the line that is blamed, and words that are in the message
WRONG = [
    ("dispatchers = 2", "dispatchers = 0", 3, ["dispatchers", "from 1 to 63"]),
    ("dispatchers = 2", "dispatchers = 64", 3, ["dispatchers", "from 1 to 63"]),
    ("threads = 1", "threads = 4294967297", 3, ["threads", "whole number from 1 to 4096"]),
    ("threads = 1", "threads = 1.5", 3, ["threads", "whole number"]),
    ("threads = 1", 'threads = "1"', 3, ["threads", "whole number"]),
    ("threads = 1", "treads = 1", 3, ["treads", "name, address, ssh"]),
    ('name = "a"; ', "", 3, ["without a name"]),
    ('address = "127.0.0.1"; ', "", 3, ["address is missing"]),
    ('"127.0.0.1"', '"127.0.0.1 -x"', 3, ["address", "expected an address"]),
    ('authority = "a"', 'authority = "b"', 5, ["authority", "name of one of the hosts"]),
    ("port = 47100", "port = 80", 6, ["port", "from 1024"]),
    ("port = 47100", "port = 65534", 1, ["port", "65535"]),
    ("lost = 2.5", "lost = 0.3", 7, ["twice heartbeat"]),
    ("lost = 2.5", "lots = 2.5", 7, ["lots", "connect, heartbeat, lost, window"]),
    ("connect = 20", "connect = -1", 7, ["connect", "seconds"]),
    ("insecure = false", "insecure = 0", 8, ["insecure", "true or false"]),
    ("insecure = false", "unsafe = false", 8, ["unsafe", "not a setting"]),
    ("hosts = (", "hosts = [", 3, []),
    ("  { name", '  { name = "b"; address = "127.0.0.2"; },\n  { name', 1, ["host b", "ssh", "key"]),
    ("  { name", '  { name = "b"; ssh = "-oProxyCommand=x"; address = "127.0.0.2"; },\n  { name', 3, ["ssh", "target of ssh"]),
    ("  { name", '  { name = "a"; address = "127.0.0.2"; },\n  { name', 4, ["stands twice"]),
]


def run(build, folder, text, number):
    path = os.path.join(folder, "cluster.cfg")
    with open(path, "w") as f:
        f.write(text)
    return subprocess.run([f"{build}/bin/nima", "run", f"{build}/models/tasep.so", "--cluster", path, "--json", "--quiet", "--out",
                           os.path.join(folder, f"out{number}")], capture_output=True, text=True, timeout=120)


def main():
    build, failed = sys.argv[1], 0
    with tempfile.TemporaryDirectory(prefix="nima-config-") as folder:
        done = run(build, folder, GOOD, 0)
        outcome = json.loads(done.stdout.strip().splitlines()[-1]) if done.stdout.strip() else {}
        if done.returncode or outcome.get("dispatchers") != 2:
            print(f"FAILED: what is right: exit {done.returncode}, {outcome.get('dispatchers')} dispatchers: {done.stderr}")
            failed += 1
        for number, (old, new, line, words) in enumerate(WRONG, 1):
            assert old in GOOD
            done = run(build, folder, GOOD.replace(old, new, 1), number)
            first = (done.stderr.splitlines() or [""])[0]
            if done.returncode != 2 or f"cluster.cfg:{line}: " not in first or any(word not in first for word in words):
                print(f"FAILED: {new}: exit {done.returncode}: {first}")
                failed += 1
    print(f"{len(WRONG)} wrong files, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
