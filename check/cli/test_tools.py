"""test_tools.py: `nima` new, show, doctor, help, version, and what is no verb."""
import re
import subprocess

from tool import MODELS, Case, main

TALKER = MODELS / "talker.c"


class New(Case):
    def test_model_builds_and_runs_as_it_is(self):
        out, _ = self.nima("new", "rumour")
        self.assertIn("nima run rumour", out)
        _, err = self.nima("run", "rumour")
        self.assertNotIn("warning", err)
        self.assertEqual(self.outcome("rumour/rumour.c")["model"], "rumour")

    def test_unit_test_passes_and_finds_what_is_broken(self):
        self.nima("new", "rumour")
        made = subprocess.run(["make", "-C", "rumour", "test"], cwd=self.folder, capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(made.returncode, 0, made.stdout + made.stderr)
        self.assertIn("0 failed", made.stdout)
        self.assertNotIn("warning", made.stderr)
        model = self.folder / "rumour/rumour.c"
        model.write_text(model.read_text().replace("self->ill = true;", "self->ill = false;"))
        made = subprocess.run(["make", "-C", "rumour", "test"], cwd=self.folder, capture_output=True, text=True, timeout=100, check=False)
        self.assertNotEqual(made.returncode, 0)
        self.assertIn("FAILED", made.stdout)

    def test_layouts_agree(self):
        self.nima("new", "rumour")
        seen = {self.outcome("rumour", "-p", "people=10000", "--threads", n)["fingerprint"] for n in (1, 2, 3)}
        self.assertEqual(len(seen), 1)

    def test_nothing_is_overwritten(self):
        self.nima("new", "rumour")
        self.nima("new", "rumour", code=2)
        for name in ("../up", "two words", "7up", "", "-x"):
            self.nima("new", name, code=2)


class Show(Case):
    def test_from_a_run(self):
        self.nima("run", TALKER, "--out", "here")
        out, _ = self.nima("show", "here", "talker[1]")
        self.assertRegex(out, r"talker\[1\] at the end, id 0000000000100001\n  said +3\n  share +0\.1\n")

    def test_at_a_time_from_a_run_and_from_the_model(self):
        self.nima("run", TALKER, "--out", "here", "-p", "lines=5", "--seed", "4")
        again, _ = self.nima("show", "here", "talker[1]", "--at", "3")
        afresh, _ = self.nima("show", TALKER, "talker[1]", "--at", "0.05", "-p", "lines=5", "--seed", "4")
        for out in (again, afresh):
            self.assertRegex(out, r"talker\[1\] at 0\.05 min \(tick 3\), id 0000000000100001\n  said +2\n")

    def test_agents_that_are_not_there(self):
        self.nima("run", TALKER, "--out", "here")
        for words in (("here", "talker[2]"), ("here", "walker[0]"), (TALKER, "talker[2]"), (TALKER, "talker"), (TALKER,)):
            self.nima("show", *words, code=2)


class Texts(Case):
    def test_each_verb_has_help(self):
        out, _ = self.nima("help")
        for verb in "run new sweep verify show doctor help version".split():
            self.assertIn(f"\n  {verb} ", out)
            more, _ = self.nima("help", verb)
            if verb not in ("help", "version"):
                self.assertIn(f"nima {verb}", more)
        self.assertIn("--until", self.nima("run", "--help")[0])
        self.assertIn("--grid", self.nima("sweep", "--help")[0])
        self.nima("help", "frobnicate", code=2)

    def test_exit_codes_are_listed(self):
        out, _ = self.nima("help", "exit-codes")
        self.assertEqual([line.split()[0] for line in out.splitlines()], ["0", "1", "2", "3", "4", "5", "6", "7", "8", "130"])

    def test_options_in_help_exist(self):
        for verb in ("run", "sweep", "verify", "show"):
            for option in set(re.findall(r"--[a-z-]+", self.nima("help", verb)[0])):
                _, err = self.nima(verb, option, "--no-such-option", "--no-such-option", code=2)
                self.assertNotIn(f"unknown option {option}\n", err, f"{verb} {option}")

    def test_unknown_verbs_and_options(self):
        self.nima(code=2)
        self.assertIn("frob", self.nima("frob", code=2)[1])
        for verb in ("new", "sweep", "verify", "show", "doctor"):
            self.nima(verb, "--no-such-option", code=2)

    def test_version(self):
        self.assertRegex(self.nima("version")[0], r"^nima \d+\.\d+\.\d+ \(nima\.h version \d+\)\n$")

    def test_doctor(self):
        done = self.run_it("doctor")
        for word in "cores NUMA memory pages files core compiler debugger nima.h hwloc SLEEF GPU".split():
            self.assertIn(word, done.stdout)
        self.assertIn("missing", done.stdout)
        self.assertEqual(done.returncode, 1 if "something needed is missing" in done.stdout else 0)


if __name__ == "__main__":
    main()
