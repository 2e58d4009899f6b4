#!/usr/bin/env python3
"""What several dispatchers cost, beside what they stand on; pairs measured in turn, best of each side and the spread.

    bench.py BUILD [--pairs N] [--rows WORD]

Rows: phold (2 dispatchers of 1 thread over 1 of 2 threads), window (an empty window over a raw round trip), start (8 hosts by ssh: needs
root). A busy machine makes every figure worse; the load is printed."""
import argparse, json, os, re, statistics, subprocess, sys, tempfile, time
from hosts import Hosts, unavailable

HERE = os.path.dirname(os.path.abspath(__file__))


def run(build, *words):
    with tempfile.TemporaryDirectory(prefix="nima-bench-") as folder:
        done = subprocess.run([f"{build}/bin/nima", "run", *words, "--json", "--quiet", "--out", os.path.join(folder, "out")],
                              capture_output=True, text=True, check=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def spread(values):
    return f"best {max(values):.3g}, median {statistics.median(values):.3g}, worst {min(values):.3g}"


def phold(build, pairs):
    common = [f"{build}/models/phold.so", "-p", "agents=1000000", "-p", "remote=0.5", "--until", "3000000"]
    one, two = [], []
    for _ in range(pairs):
        a = run(build, *common, "--dispatchers", "1", "--threads", "2")
        b = run(build, *common, "--dispatchers", "2", "--threads", "1")
        assert a["fingerprint"] == b["fingerprint"]
        one.append(a["events_per_s"] / 1e6)
        two.append(b["events_per_s"] / 1e6)
    print(f"PHOLD 1M agents, 50 % remote, M events/s: 1 dispatcher of 2 threads: {spread(one)}; 2 of 1: {spread(two)}; "
          f"ratio of the best {max(two) / max(one):.2f} (wanted: 0.5)")


def raw_round_trip_us(build):
    text = subprocess.run([f"{build}/bin/bench_link", "ipc"], capture_output=True, text=True, check=True).stdout
    return float(re.search(r"raw NNG\s+best\s+([0-9.]+)", text)[1])


def window(build, pairs):
    raw, times = [], {2: [], 8: []}
    for _ in range(pairs):
        raw.append(raw_round_trip_us(build))
        for dispatchers, windows in ((2, 10000), (8, 3000)):
            result = run(build, os.path.join(HERE, "models/empty.c"), "-p", f"windows={windows}", "--dispatchers", str(dispatchers),
                         "--threads", "1")
            times[dispatchers].append(result["wall_s"] / result["windows"] * 1e6)
    for dispatchers, wanted in ((2, 2), (8, 6)):
        print(f"empty window on {dispatchers} dispatchers, us: best {min(times[dispatchers]):.0f}, worst {max(times[dispatchers]):.0f}; "
              f"raw round trip: best {min(raw):.0f}; ratio of the best {min(times[dispatchers]) / min(raw):.2f} (wanted: {wanted})")


def start(build, pairs):
    if unavailable():
        print(f"8 hosts by ssh: not measured: {unavailable()}")
        return
    names = [f"h{i}" for i in range(8)]
    starts, ends = [], []
    with Hosts(names, build) as hosts:
        config = os.path.join(hosts.folder, "cluster.cfg")
        hosts.configuration(config)
        for i in range(pairs):
            begin = time.monotonic()
            process = hosts.start(names[0], ["nima", "run", f"{build}/models/phold.so", "-p", "agents=3000", "--until", "100000000000", "--quiet",
                                             "--cluster", config, "--out", os.path.join(hosts.folder, f"out{i}")],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while process.poll() is None and not all(hosts.pids(n, "--dispatcher") and not hosts.left(n) for n in names[1:]):
                time.sleep(0.02)
            starts.append(time.monotonic() - begin)
            begin = time.monotonic()
            process.terminate()
            while process.poll() is None or any(hosts.pids(n, "nima-node") for n in names):
                time.sleep(0.02)
            ends.append(time.monotonic() - begin)
    print(f"8 hosts by ssh: start {min(starts):.2f} to {max(starts):.2f} s (wanted: 5); end {min(ends):.2f} to {max(ends):.2f} s (wanted: 2)")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", help="configured with -DNIMA_TESTS=ON, for bench_link")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--rows", default="phold window start")
    arguments = parser.parse_args()
    build = os.path.abspath(arguments.build)
    print(f"load before: {os.getloadavg()[0]:.1f}, cores: {os.cpu_count()}")
    for row in (phold, window, start):
        if row.__name__ in arguments.rows:
            row(build, arguments.pairs)
            sys.stdout.flush()
    print(f"load after: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
