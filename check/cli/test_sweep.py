"""test_sweep.py: `nima sweep`: its tables against Python's own arithmetic, shared seeds, resuming, failures; and the page
docs/sweep.md, whose blocks are executed."""
import csv
import json
import math
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time
import unittest

from tool import HERE, MODELS, Case, main

MANY, TROUBLE = MODELS / "many.c", MODELS / "trouble.c"
PAGE = HERE.parents[1] / "docs" / "sweep.md"
QUANTILE = {1: 12.7062, 2: 4.30265, 3: 3.18245, 4: 2.77645, 9: 2.26216, 30: 2.04227}     # Student's t, 97.5 %, from tables


def rows(path):
    with open(path, encoding="ascii", newline="") as f:
        return list(csv.DictReader(f))


class Tables(Case):
    def sweep(self, *words, code=0):
        return self.nima("sweep", MANY, "-p", "agents=50", "--out", "sw", *words, code=code)

    def test_scenarios(self):
        self.sweep("--grid", "mean=5,10,20", "--grid", "calls=1:2:1", "--replicates", "5")
        runs, table = rows(self.folder / "sw/runs.csv"), rows(self.folder / "sw/table.csv")
        self.assertEqual(len(runs), 6 * 5 * 2)
        # a parameter that is called like a column of the table gets a prefix
        self.assertEqual([(r["scenario"], r["param_mean"], r["calls"]) for r in table if r["result"] == "end"],
                         [("1", "5", "1"), ("2", "5", "2"), ("3", "10", "1"), ("4", "10", "2"), ("5", "20", "1"), ("6", "20", "2")])
        header = (self.folder / "sw/table.csv").read_text().splitlines()[0]
        self.assertEqual(header, "scenario,param_mean,calls,result,n,mean,sd,half95,diff_n,diff_mean,diff_sd,diff_half95")

    def test_statistics_against_python(self):
        self.sweep("--grid", "calls=1,2,4", "--replicates", "5")
        runs, table = rows(self.folder / "sw/runs.csv"), rows(self.folder / "sw/table.csv")
        for row in table:
            mine = [float(r["value"]) for r in runs if (r["scenario"], r["result"]) == (row["scenario"], row["result"])]
            first = [float(r["value"]) for r in runs if (r["scenario"], r["result"]) == ("1", row["result"])]
            self.check(row, "", mine)
            if row["scenario"] == "1":
                self.assertEqual((row["diff_n"], row["diff_mean"]), ("", ""))
            else:
                self.check(row, "diff_", [a - b for a, b in zip(mine, first)])

    def check(self, row, prefix, values):
        sd = statistics.stdev(values)
        self.assertEqual(int(row[prefix + "n"]), len(values))
        self.assertTrue(math.isclose(float(row[prefix + "mean"]), statistics.fmean(values), rel_tol=1e-12, abs_tol=1e-15))
        self.assertTrue(math.isclose(float(row[prefix + "sd"]), sd, rel_tol=1e-9, abs_tol=1e-15))
        half = QUANTILE[len(values) - 1] * sd / math.sqrt(len(values))
        self.assertTrue(math.isclose(float(row[prefix + "half95"]), half, rel_tol=1e-5, abs_tol=1e-15), (row, half))

    def test_quantiles_of_student(self):
        for degrees, t in QUANTILE.items():
            shutil.rmtree(self.folder / "sw", ignore_errors=True)
            self.sweep("--replicates", degrees + 1, "--quiet")
            row = [r for r in rows(self.folder / "sw/table.csv") if r["result"] == "mean_weight"][0]
            self.assertAlmostEqual(float(row["half95"]) / float(row["sd"]) * math.sqrt(degrees + 1), t, places=4)

    def test_scenarios_share_seeds_and_replicates_do_not(self):
        out, _ = self.sweep("--grid", "mean=5,10", "--replicates", "3", "--seed", "100")
        self.assertIn("seeds 100 to 102", out)
        seeds = {}
        for r in rows(self.folder / "sw/runs.csv"):
            seeds.setdefault(r["scenario"], set()).add((r["replicate"], r["seed"]))
        self.assertEqual(seeds["1"], {("1", "100"), ("2", "101"), ("3", "102")})
        self.assertEqual(seeds["1"], seeds["2"])

    def test_same_scenario_has_no_difference(self):
        self.sweep("--grid", "mean=5,5.0", "--replicates", "3")
        for r in rows(self.folder / "sw/table.csv"):
            if r["scenario"] == "2":
                self.assertEqual((r["diff_mean"], r["diff_sd"]), ("0", "0"))

    def test_range_has_the_values_one_would_type(self):
        self.sweep("--grid", "mean=1.1:1.5:0.1", "--replicates", "1")
        self.assertEqual([r["param_mean"] for r in rows(self.folder / "sw/table.csv") if r["result"] == "end"], ["1.1", "1.2", "1.3", "1.4", "1.5"])


class Resuming(Case):
    def test_finished_runs_are_not_done_again(self):
        words = ("sweep", MANY, "-p", "agents=50", "--grid", "mean=5,10", "--out", "sw")
        self.nima(*words, "--replicates", "2")
        table = (self.folder / "sw/table.csv").read_text()
        before = {p: p.stat().st_mtime_ns for p in self.folder.glob("sw/runs/*/run.json")}
        self.assertEqual(len(before), 4)
        gone = self.folder / "sw/runs/s2-r1"
        shutil.rmtree(gone)
        (self.folder / "sw/runs/s2-r1.part").mkdir()                 # as an interrupted run leaves it
        (self.folder / "sw/runs/s2-r1.part/log.txt").write_text("half")
        out, _ = self.nima(*words, "--replicates", "2")
        self.assertIn("3 runs are finished, 1 to do", out)
        self.assertEqual((self.folder / "sw/table.csv").read_text(), table)
        for path, when in before.items():
            if path.parent != gone:
                self.assertEqual(path.stat().st_mtime_ns, when)
        out, _ = self.nima(*words, "--replicates", "3")
        self.assertIn("4 runs are finished, 2 to do", out)

    def test_interrupted_then_resumed_equals_straight(self):
        words = ("sweep", MANY, "-p", "agents=20000", "--grid", "mean=50,100", "--replicates", "6", "--jobs", "2")
        self.nima(*words, "--out", "straight", "--quiet")
        p = self.start(*words, "--out", "broken")
        while not list(self.folder.glob("broken/runs/s1-r2/run.json")):
            time.sleep(0.01)
            self.assertIsNone(p.poll())
        p.send_signal(signal.SIGINT)
        _, err = p.communicate(timeout=30)
        self.assertEqual(p.returncode, 130, err)
        self.assertIn("goes on where this stopped", err)
        self.assertFalse((self.folder / "broken/table.csv").exists())
        out, _ = self.nima(*words, "--out", "broken")
        self.assertNotIn(" 0 runs are finished", out)
        self.assertEqual((self.folder / "broken/table.csv").read_text(), (self.folder / "straight/table.csv").read_text())

    def test_folder_of_another_sweep_is_refused(self):
        self.nima("sweep", MANY, "-p", "agents=50", "--replicates", "1", "--out", "sw")
        for words in (("-p", "agents=51"), ("-p", "agents=50", "--seed", "2"), ("-p", "agents=50", "--grid", "mean=5,10"),
                      ("-p", "agents=50", "--until", "30")):
            _, err = self.nima("sweep", MANY, *words, "--replicates", "1", "--out", "sw", code=2)
            self.assertIn("another sweep", err)


class Trouble(Case):
    def test_values_are_refused_before_anything_starts(self):
        for words, says in ((("--grid", "mean=5,0"), "mean=0"), (("--grid", "maen=5"), "maen"), (("--grid", "mean"), "NAME="),
                            (("--grid", "mean=5:1:1"), "range"), (("--replicates", "0"), "--replicates"), (("--jobs", "x"), "--jobs"),
                            (("--grid", "mean=5", "-p", "mean=6"), "-p and by --grid"), (("--grid", "mean=5", "--grid", "mean=6"), "twice")):
            _, err = self.nima("sweep", MANY, *words, "--out", "sw", code=2)
            self.assertIn(says, err)
            self.assertFalse((self.folder / "sw").exists())

    def test_failed_runs_are_told_and_missing(self):
        _, err = self.nima("sweep", TROUBLE, "--grid", "how=none,fail", "--replicates", "2", "--out", "sw", code=1)
        self.assertIn("how=fail, seed 2", err)
        self.assertIn("told to fail: 7", err)
        self.assertIn("2 runs failed", err)
        table = {r["scenario"]: r for r in rows(self.folder / "sw/table.csv")}
        self.assertEqual((table["1"]["n"], table["2"]["n"], table["2"]["mean"]), ("2", "0", ""))
        out, _ = self.nima("sweep", TROUBLE, "--grid", "how=none,fail", "--replicates", "2", "--out", "sw", code=1)
        self.assertIn("2 runs are finished, 2 to do", out)           # what failed is tried again


def python_with_pandas():
    """This interpreter or Debian's, whichever has pandas; or None."""
    for python in (sys.executable, "/usr/bin/python3"):
        if shutil.which(python) and not subprocess.run([python, "-c", "import pandas"], capture_output=True, check=False).returncode:
            return python
    return None


class Page(Case):
    """Executes the blocks of docs/sweep.md: the shell blocks with `many`, then the Python and the R ones, where installed."""

    def blocks(self, language):
        return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), re.S)

    def prepare(self):
        for block in self.blocks("sh"):
            for line in block.splitlines():
                words = line.split()
                self.assertEqual(words[:2], ["build/bin/nima", "sweep"])
                self.nima("sweep", *[w.strip("'") for w in words[2:]])

    @unittest.skipUnless(python_with_pandas(), "pandas is not installed")
    def test_python(self):
        self.prepare()
        self.write("block.py", "\n".join(self.blocks("python")))
        done = subprocess.run([python_with_pandas(), "block.py"], cwd=self.folder, capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    @unittest.skipUnless(shutil.which("Rscript"), "R is not installed")
    def test_r(self):
        self.prepare()
        self.write("block.R", "\n".join(self.blocks("r")))
        done = subprocess.run(["Rscript", "block.R"], cwd=self.folder, capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    main()
