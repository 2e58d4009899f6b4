"""test_verify.py: `nima verify`: right models pass; models made wrong on purpose are found, placed and explained."""
import pathlib

from tool import MODELS, NIMA, WRONG, Case, main


class Right(Case):
    def test_equal_histories(self):
        out, _ = self.nima("verify", MODELS / "many.c")
        self.assertIn("all histories are equal", out)
        self.assertNotIn("one shard", out)
        for text in ("1 worker,", "2 workers", "4 workers", "7 workers", "shard order 1", "filled with a5", "addresses anew",
                     "2 dispatchers of 1 worker"):
            self.assertIn(text, out)

    def test_small_model_says_that_nothing_runs_at_once(self):
        out, _ = self.nima("verify", MODELS / "talker.c")
        self.assertIn("one shard", out)
        self.assertNotIn("dispatchers", out)

    def test_model_that_fails_everywhere(self):
        out, _ = self.nima("verify", MODELS / "trouble.c", "-p", "how=fail", code=3)
        self.assertIn("fails alike", out)
        self.assertIn("told to fail: 7", out)

    def test_refusals(self):
        self.nima("verify", MODELS / "many.c", "-p", "agents=1", code=2)
        self.nima("verify", "no_such_model", code=7)


class Examples(Case):
    SMALL = {
        "conveyor": ("-p", "lines=4", "--until", "2000s"), "create": ("-p", "agents=20000", "-p", "batch=500"),
        "heavy": ("-p", "rounds=50", "--until", "50"), "life": ("-p", "size=100", "--until", "60"),
        "mm1": ("--until", "5000s"), "phold": ("-p", "agents=10000", "--until", "2000000"),
        "pingpong": ("-p", "variant=all", "-p", "messages=20000"), "randomwalk": ("-p", "size=60", "-p", "walkers=600"),
        "sir": ("-p", "people=5000", "--until", "40day"), "tasep": ("-p", "sites=40", "-p", "particles=20", "--until", "100s"),
        "wealth": ("-p", "people=5000", "--until", "20")}

    def test_every_example_passes(self):
        models = sorted(p.stem for p in (pathlib.Path(NIMA).parent.parent / "models").glob("*.so"))
        self.assertTrue(models)
        for model in models:
            with self.subTest(model):
                self.assertIn(model, self.SMALL, "say how to run it small")
                out, _ = self.nima("verify", model, *self.SMALL[model])
                self.assertIn("all histories are equal", out)


class Wrong(Case):
    def found(self, model, cause, *places, words=()):
        out, _ = self.nima("verify", WRONG / f"{model}.c", *words, code=1)
        self.assertIn(f"likely cause: {cause}\n", out)
        for place in places:
            self.assertRegex(out, place)
        self.assertIn("the usual causes: a global variable, uninitialised payload bytes, the wall clock, an address", out)

    def test_global_variable(self):
        # token 3 before the end of each chain carries the number; it is sent in round 17, at 170
        self.found("global", "a global variable", r"node\[\d+\] at time 180 \(180 tick\), step 0, message token \(type 1",
                   r"number is \d+ in one and \d+ in the other")

    def test_uninitialised_payload(self):
        self.found("payload", "uninitialised memory", r"node\[8\] at time 10 .*message delivery \(type 1, sequence 0\) from node\[7\]",
                   "only bytes that belong to no field", r"01( [0-9a-f]{2}){7} 32 00")

    def test_wall_clock(self):
        # the token sent by node[37] at 300 arrives when the clock says
        self.found("wall_clock", "the wall clock", r"node\[38\] at time 3\d\d .*message token .*from node\[37\]|node\[38\] at time \d+ .*token")

    def test_address_as_key(self):
        self.found("address", "an address", r"at time 210 \(210 tick\), step 0, message token \(type 1, sequence 0\) from node\[27\]")

    def test_variable_that_was_never_set(self):
        self.found("fresh_memory", "uninitialised memory", r"fields of node\[28\] at the end")

    def test_variable_that_one_process_sets(self):
        self.found("one_process", "a global variable", "which agents run in one process", r"2 dispatchers of 1 worker, shard order 4")

    def test_far_into_a_long_run(self):
        # more deliveries than are recorded at once: the place is found by the hashes of stretches of time, and a second recording
        self.found("global", "a global variable", r"at time 3980 .*message token", words=("-p", "rounds=400", "-p", "agents=6000"))


if __name__ == "__main__":
    main()
