"""test_run.py: `nima run`: the contract for scripts, parameters, folders, output, failures, interruption, tracing."""
import json
import os
import pty
import select
import shutil
import signal
import subprocess
import time
import unittest

from tool import MODELS, NIMA, Case, main

TALKER, TROUBLE = MODELS / "talker.c", MODELS / "trouble.c"


class Contract(Case):
    def test_last_line_is_one_object_with_all_members(self):
        o = self.outcome(TALKER, "--seed", "18446744073709551615", "--threads", "2")
        for name in "model seed threads dispatchers agents events virtual_time wall_s events_per_s fingerprint status".split():
            self.assertIn(name, o)
        self.assertEqual((o["model"], o["seed"], o["threads"], o["dispatchers"]), ("talker", 2**64 - 1, 2, 1))
        self.assertEqual((o["agents"], o["events"], o["virtual_time"], o["status"]), (2, 8, 3, "ok"))
        self.assertRegex(o["fingerprint"], "^[0-9a-f]{16}$")

    def test_numbers_of_results(self):
        out, _ = self.nima("run", TALKER, "--json", "--quiet")
        line = out.splitlines()[-1]
        for text in ('"said": 6,', '"large": 1000000000000000,', '"undefined": null,', '"hash": "00000000000000ab"', '"measured": 2'):
            self.assertIn(text, line)
        self.assertEqual(json.loads(line)["results"]["third"], 1 / 3)

    def test_what_the_model_prints_never_follows_the_last_line(self):
        for words in ([], ["--quiet"]):
            out, err = self.nima("run", TALKER, "--json", *words)
            lines = out.splitlines()
            self.assertEqual(lines[0], "said in setup")
            self.assertEqual(lines.count("hello 2"), 2)
            self.assertTrue(lines[-1].startswith("{"), lines[-1])
            self.assertIn("aside 2", err)
            log = (self.folder / json.loads(lines[-1])["out"] / "log.txt").read_text()
            for text in ("said in setup\n", "hello 2\n", "aside 2\n", "said in finish", "talker[0] warning: said 2\n"):
                self.assertIn(text, log)

    def test_fingerprint_and_files_on_any_number_of_threads(self):
        seen = set()
        for n in (1, 2, 7):
            o = self.outcome(TALKER, "--threads", n)
            folder = self.folder / o["out"]
            seen.add((o["fingerprint"], (folder / "model.csv").read_text(), (folder / "agents.csv").read_text()))
        self.assertEqual(len(seen), 1)

    def test_fingerprint_and_files_on_any_number_of_dispatchers(self):
        seen = set()
        for n in (1, 2, 3):
            o = self.outcome(MODELS / "many.c", "--dispatchers", n, "--threads", 1)
            folder = self.folder / o["out"]
            self.assertEqual(o["dispatchers"], n)
            seen.add((o["fingerprint"], o["events"], (folder / "model.csv").read_text(), (folder / "agents.csv").read_text()))
        self.assertEqual(len(seen), 1)

    def test_seed_and_parameters_change_the_fingerprint(self):
        first, other = self.outcome(TALKER), self.outcome(TALKER, "-p", "lines=4")
        self.assertNotEqual(first["fingerprint"], other["fingerprint"])

    def test_more_workers_than_cores_warn_and_run(self):
        _, err = self.nima("run", TALKER, "--threads", 4 * (os.cpu_count() or 1))
        self.assertIn("wait for each other", err)


class Refusals(Case):
    def refused(self, *words, says):
        out, err = self.nima("run", *words, code=2)
        self.assertEqual(out, "")
        self.assertIn(says, err)
        runs = self.folder / "runs"
        self.assertEqual(list(runs.iterdir()) if runs.exists() else [], [], "nothing is left behind")

    def test_parameters(self):
        self.refused(TALKER, "-p", "lines=-1", says="lines")
        self.refused(TALKER, "-p", "lines=99999999999999999999", says="lines")
        self.refused(TALKER, "-p", "lines=1x", says="lines")
        self.refused(TALKER, "-p", "linse=1", says="lines")
        self.refused(TALKER, "-p", "lines", says="name=value")
        self.refused(TROUBLE, "-p", "how=sideways", says="how")

    def test_options(self):
        self.refused(TALKER, "--bogus", says="--bogus")
        self.refused(TALKER, "-x", says="-x")
        self.refused(TALKER, "--seed", says="--seed")
        self.refused(TALKER, "--json=1", says="--json")
        self.refused(TALKER, "--seed", "-1", says="--seed")
        self.refused(TALKER, "--seed", "18446744073709551616", says="--seed")
        self.refused(TALKER, "--threads", "0", says="--threads")
        self.refused(TALKER, "--threads", "4294967297", says="--threads")
        self.refused(TALKER, "--speed", "0", says="--speed")
        self.refused(TALKER, "--log", "loud", says="--log")
        self.refused(TALKER, "--dead-letters", "burn", says="--dead-letters")
        self.refused(TROUBLE, "--trace", "nobody", says="nobody")
        self.refused(TALKER, "--dispatchers", "0", says="--dispatchers")
        self.refused(TALKER, "--cluster", "no_such.cfg", says="no_such.cfg")
        self.refused(TALKER, "--dispatchers", "2", "--trace", "all", says="one dispatcher")
        self.refused(TALKER, TALKER, says="one model")
        self.refused(says="which model")

    def test_times(self):
        self.refused(TALKER, "--until", "30km", says="km")
        self.refused(TALKER, "--until", "-1", says="-1")
        self.refused(TALKER, "--until", "9223372036854775808", says="end of time")
        self.refused(TALKER, "--until", "1e30day", says="end of time")
        self.refused(TALKER, "--warmup", "soon", says="soon")

    def test_folder_that_is_not_empty(self):
        self.write("precious", "x")
        self.refused(TALKER, "--out", self.folder, says="not an empty")
        self.assertEqual((self.folder / "precious").read_text(), "x")

    def test_model_that_is_not_there(self):
        _, err = self.nima("run", "no_such_model", code=7)
        self.assertIn("no_such_model", err)


class Times(Case):
    def test_ticks_units_and_fractions(self):
        # talker: 60 ticks make a min
        words = ("-p", "lines=1000000", "--quiet")
        for text, ticks in (("7", 7), ("7tick", 7), ("1.5", 90), ("1min", 60), ("1 min", 60), ("30s", 30), ("0.1h", 360), ("1e2", 100)):
            self.assertEqual(self.outcome(TALKER, *words, "--until", text)["virtual_time"], ticks, text)

    def test_speed_follows_the_wall_clock(self):
        began = time.monotonic()
        self.nima("run", TALKER, "-p", "lines=100", "--until", "60", "--speed", "2")     # one min of 60 ticks
        self.assertGreater(time.monotonic() - began, 0.4)


class Models(Case):
    def test_source_is_compiled_shown_and_kept(self):
        cache = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache")}
        shutil.copy(TALKER, self.folder / "mine.c")
        _, first = self.nima("run", "mine.c", env=cache)
        self.assertRegex(first, r"cc .*-O2.* -I\S+ -o \S+\.so .*mine\.c")
        _, second = self.nima("run", "mine.c", env=cache)
        self.assertNotIn("-O2", second)
        _, third = self.nima("run", "mine", env=cache)               # by its name
        self.assertNotIn("-O2", third)
        with open(self.folder / "mine.c", "a", encoding="ascii") as f:
            f.write("/* changed */ enum { CHANGED };\n")
        _, fourth = self.nima("run", "mine.c", env=cache)
        self.assertIn("-O2", fourth)

    def test_changed_header_is_noticed(self):
        cache = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache")}
        self.write("mine.c", '#include "word.h"\n' + TALKER.read_text().replace("params_of(me)->word", "WORD"))
        for word in ("first", "second"):
            self.write("word.h", f'#define WORD "{word}"\n')
            out, _ = self.nima("run", "mine.c", env=cache)
            self.assertIn(word + " 0", out)

    def test_cpp_and_shared_object(self):
        shutil.copy(TALKER, self.folder / "mine.cpp")
        as_cpp = self.outcome("mine.cpp")
        so = json.loads((self.folder / as_cpp["out"] / "run.json").read_text())["model_file"]
        shutil.copy(so, self.folder / "other.so")
        self.assertEqual(self.outcome("other")["fingerprint"], as_cpp["fingerprint"])
        self.assertEqual(self.outcome("./other.so")["fingerprint"], self.outcome(TALKER)["fingerprint"])

    def test_source_with_an_error(self):
        self.write("bad.c", '#include "nima.h"\nint x = ;\n')
        _, err = self.nima("run", "bad.c", code=7)
        self.assertIn("bad.c:2", err)

    def test_shared_object_without_a_model(self):
        self.write("empty.c", "int x;\n")
        _, err = self.nima("run", "empty.c", code=7)
        self.assertIn("no model", err)

    def test_help_lists_parameters(self):
        out, _ = self.nima("run", TROUBLE, "--help")
        for text in ("Fails as told", "how=none", "lookahead|late", "what goes wrong", "of 10 ticks"):
            self.assertIn(text, out)


class Folders(Case):
    def test_each_run_has_one_of_its_own(self):
        names = {self.outcome(TALKER, "--seed", "5")["out"] for _ in range(4)}
        self.assertEqual(len(names), 4)
        for name in names:
            self.assertRegex(name, r"^runs/talker-\d{8}-\d{6}-s5(-\d+)?$")

    def test_record_of_the_run(self):
        o = self.outcome(TALKER, "--out", "here", "-p", "word=two words", "--seed", "3", "--until", "2")
        r = json.loads((self.folder / "here/run.json").read_text())
        self.assertEqual(r["parameters"], {"word": "two words", "lines": "3"})
        self.assertEqual((r["seed"], r["until"], r["status"], r["exit"]), (3, 2, "ok", 0))
        self.assertEqual((r["results"], r["fingerprint"]), (o["results"], o["fingerprint"]))
        self.assertIn("-p 'word=two words'", r["command"])
        for name in ("nima", "host", "started", "ended", "model_hash"):
            self.assertIn(name, r)

    def test_log_level(self):
        for level, lines in (("error", 0), ("warning", 6), ("debug", 6)):
            o = self.outcome(TALKER, "--log", level)
            self.assertEqual((self.folder / o["out"] / "log.txt").read_text().count("warning: said"), lines)

    def test_tables(self):
        self.nima("run", TALKER, "--out", "here")
        self.assertEqual((self.folder / "here/model.csv").read_text(),
                         "tick,time,said\n0,0,0\n1,0.016666666666666666,2\n2,0.03333333333333333,4\n3,0.05,6\n")
        agents = (self.folder / "here/agents.csv").read_text().splitlines()
        self.assertEqual(agents[0], "id,name,behavior,said,share,other,half")
        self.assertEqual(agents[1], "0000000000100000,talker[0],talker,3,0.1,0000000000100001,0.5")

    def test_input_file_is_hashed(self):
        self.write("reads.c", '''#include "nima.h"
NIMA_PARAMS((nima_file, data, "", "", "", "a file"))
NIMA_STATE(node, (int64_t, x))
static void node_start(nima *me, node *self) { (void)me; self->x = 1; }
NIMA_BEHAVIOR(node, start)
static void setup(nima_setup *s) { size_t n; nima_input(s, "data", &n); node_populate(s, n, 0); }
NIMA_MODEL(.name = "reads", .setup = setup)
''')
        self.write("data.txt", "abc")
        self.assertEqual(self.outcome("reads.c", "-p", "data=data.txt", "--out", "a")["agents"], 3)
        first = json.loads((self.folder / "a/run.json").read_text())["inputs"]["data"]
        self.write("data.txt", "abd")
        self.outcome("reads.c", "-p", "data=data.txt", "--out", "b")
        self.assertNotEqual(json.loads((self.folder / "b/run.json").read_text())["inputs"]["data"], first)
        _, err = self.nima("run", "reads.c", "-p", "data=absent.txt", code=2)
        self.assertIn("absent.txt", err)


class Failures(Case):
    def fails(self, how, code, *texts):
        o = self.outcome(TROUBLE, "-p", f"how={how}", "--out", how, code=code)
        self.assertEqual((o["status"], o["exit"]), ("failed", code))
        for text in ("node[5]", "time 40, step 0", "poke", *texts):
            self.assertIn(text, o["error"])
        rows = (self.folder / how / "model.csv").read_text().splitlines()
        self.assertEqual([row.split(",")[0] for row in rows], ["tick", "0", "10", "20", "30"], "rows up to the failure, none after it")
        self.assertEqual(json.loads((self.folder / how / "run.json").read_text())["status"], "failed")

    def test_model_says_so(self):
        self.fails("fail", 3, "told to fail: 7")

    def test_broken_promises(self):
        self.fails("lookahead", 3, "lookahead")
        self.fails("late", 3, "negative")

    def test_crashes(self):
        self.fails("segv", 4, "segmentation fault")
        self.fails("fpe", 4, "arithmetic")
        self.fails("abort", 4, "abort")
        self.fails("stack", 4, "segmentation fault")
        self.fails("world", 4, "read-only")

    def test_command_that_gets_there_again(self):
        _, err = self.nima("run", TROUBLE, "-p", "how=fail", "--seed", "9", code=3)
        self.assertIn(f"nima run {TROUBLE} -p how=fail --seed 9 --break 'node[5]@40tick:0'", err)

    def test_disk_is_full(self):
        self.nima("run", TALKER)             # compiled
        done = subprocess.run(["bash", "-c", 'ulimit -f 8; trap "" XFSZ; exec "$0" run "$1" -p lines=100000 --quiet', NIMA, TALKER],
                              cwd=self.folder, capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("File too large", done.stderr)


class Interruption(Case):
    def started(self, *words):
        p = self.start("run", TROUBLE, "-p", "how=forever", "--out", "here", *words)
        record = self.folder / "here/run.json"
        for _ in range(500):
            if record.exists():
                break
            time.sleep(0.02)
        time.sleep(0.3)
        return p

    def test_once_keeps_results(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            shutil.rmtree(self.folder / "here", ignore_errors=True)
            p = self.started("--json", "--quiet")
            began = time.monotonic()
            p.send_signal(number)
            out, _ = p.communicate(timeout=30)
            self.assertLess(time.monotonic() - began, 2)
            self.assertEqual(p.returncode, code)
            o = json.loads(out.splitlines()[-1])
            self.assertEqual((o["status"], o["exit"]), ("interrupted", code))
            self.assertGreater(o["results"]["seen"], 0)
            self.assertIn(f"\n{o['virtual_time'] // 10 * 10 - 10},", (self.folder / "here/model.csv").read_text())

    def test_twice_ends_at_once(self):
        self.write("long.c", '''#include "nima.h"
NIMA_STATE(node, (int64_t, x))
static void node_start(nima *me, node *self) { (void)me; for (volatile int64_t *x = &self->x; ; ) ++*x; }
NIMA_BEHAVIOR(node, start)
static void setup(nima_setup *s) { node_populate(s, 1, 0); }
NIMA_MODEL(.name = "long", .setup = setup)
''')
        p = self.start("run", "long.c", "--out", "here")
        while not (self.folder / "here/run.json").exists():
            time.sleep(0.02)
        time.sleep(0.2)
        p.send_signal(signal.SIGINT)
        time.sleep(0.3)
        self.assertIsNone(p.poll(), "one callback is not cut short by the first")
        p.send_signal(signal.SIGINT)
        p.communicate(timeout=5)
        self.assertEqual(p.returncode, 130)

    def test_run_that_waits_for_the_wall_clock(self):
        p = self.started("--speed", "0.1")
        p.send_signal(signal.SIGINT)
        began = time.monotonic()
        p.communicate(timeout=30)
        self.assertLess(time.monotonic() - began, 1)

    def test_progress_in_plain_lines(self):
        p = self.started("--speed", "1", "--until", "100s")
        time.sleep(5)
        p.send_signal(signal.SIGINT)
        _, err = p.communicate(timeout=30)
        self.assertRegex(err, r"nima: at [\d.]+ of 100 s, .* events/s, \d+ %, .* left\n")


    def test_progress_on_a_terminal(self):
        master, slave = pty.openpty()
        p = subprocess.Popen([NIMA, "run", TROUBLE, "-p", "how=forever", "--speed", "10", "--until", "100s"], cwd=self.folder,
                             stdout=slave, stderr=slave)
        os.close(slave)
        time.sleep(1.5)
        p.send_signal(signal.SIGINT)
        p.wait(timeout=30)
        text = b""
        while select.select([master], [], [], 0.2)[0]:
            try:
                text += os.read(master, 65536)
            except OSError:                  # nobody has the other end any more
                break
        os.close(master)
        text = text.decode()
        self.assertRegex(text, r"\r\x1b\[K[\d.]+ of 100 s, .* events/s, \d+ %, \d+ s left")
        self.assertIn("results are kept", text)
        self.assertRegex(text, r"(\n|\r\x1b\[K)trouble, seed 0: interrupted at [\d.]+ s\r\n", "the line has made way")


class Mail(Case):
    MODEL = """#include "nima.h"
NIMA_SIGNAL(7, call)
NIMA_STATE(node, (int64_t, heard))
NIMA_WORLD((nima_pop, node))
NIMA_TALLY(times, "")
static void node_start(nima *me, node *self) {
    (void)self;
    if (nima_index(me) == 0) { nima_stop(me); return; }
    for (int i = 1; i <= 3; i++) { call_send(me, nima_at(world_of(me)->node, 0), i); call_alarm(me, 10 * i); }
}
static void node_update(nima *me, node *self) {
    if (nima_now(me) == 20) return;
    NIMA_EACH(me, m) { (void)m; self->heard++; nima_tally(me, times, (double)nima_now(me)); }
}
NIMA_BEHAVIOR(node, start, update)
static void setup(nima_setup *s) { setup_world(s)->node = node_populate(s, 2, 0); nima_lookahead(s, 1); }
static void finish(nima_view *v) { nima_result(v, "tallied", (double)nima_tally_count(v, times)); }
NIMA_MODEL(.name = "lost", .unit = "tick", .ticks_per_unit = 1, .setup = setup, .finish = finish)
"""

    def test_dead_letters_by_policy(self):
        self.write("lost.c", self.MODEL)
        out, _ = self.nima("run", "lost.c")
        self.assertIn("dead letters: 3 (call 3)", out)
        self.assertIn("left unread: 1 (call 1)", out)
        o = self.outcome("lost.c", "--dead-letters", "log")
        self.assertEqual((o["dead_letters"], o["unread"]), (3, 1))
        self.assertEqual((self.folder / o["out"] / "log.txt").read_text().count("dead letter"), 3)
        o = self.outcome("lost.c", "--dead-letters", "fail", code=3)
        self.assertIn("dead letter", o["error"])
        self.assertIn("time 1", o["error"])

    def test_warmup(self):
        self.write("lost.c", self.MODEL)
        for words, count in (((), 2), (("--warmup", "11"), 1), (("--warmup", "30"), 1), (("--warmup", "31"), 0)):
            self.assertEqual(self.outcome("lost.c", *words)["results"]["tallied"], count)


class Debugging(Case):
    def test_trace(self):
        o = self.outcome(TROUBLE, "--trace", "node[3]")
        lines = [json.loads(t) for t in (self.folder / o["out"] / "trace.jsonl").read_text().splitlines()]
        self.assertEqual([(m["time"], m["to"], m["from"], m["message"], m["fields"]["depth"]) for m in lines],
                         [(10 * (i + 1), "node[3]", "node[3]", "poke", i) for i in range(10)])

    def test_trace_is_the_same_on_any_number_of_threads(self):
        texts = set()
        for n in (1, 2, 3):
            o = self.outcome(MODELS / "many.c", "--trace", "all", "--threads", n)
            texts.add((self.folder / o["out"] / "trace.jsonl").read_text())
        self.assertEqual(len(texts), 1)
        keys = [(m["time"], m["step"]) for m in map(json.loads, texts.pop().splitlines())]
        self.assertEqual(keys, sorted(keys))

    def test_trace_does_not_change_the_history(self):
        plain, traced = self.outcome(TALKER), self.outcome(TALKER, "--trace", "again")
        self.assertEqual(plain["fingerprint"], traced["fingerprint"])
        self.assertEqual(len((self.folder / traced["out"] / "trace.jsonl").read_text().splitlines()), 6)

    @unittest.skipUnless(shutil.which("gdb"), "gdb is not installed")
    def test_break_stops_before_the_update(self):
        for at in ("node[5]@4.0", "node[5]@40", "node[5]@4s:0"):
            out, err = self.nima("run", TROUBLE, "--break", at, input="p ((node *)self)->seen\np me->now\nkill\nquit\n")
            self.assertRegex(out, r"node_update_ \(me=")
            self.assertRegex(out, r"\$1 = 3\b")
            self.assertRegex(out, r"\$2 = 40\b", err)

    @unittest.skipUnless(shutil.which("gdb"), "gdb is not installed")
    def test_break_refuses_what_is_not_there(self):
        _, err = self.nima("run", TROUBLE, "--break", "node[5]", code=2, env={**os.environ, "NIMA_IN_DEBUGGER": "1"})
        self.assertIn("person[17]@3.5", err)
        _, err = self.nima("run", TROUBLE, "--break", "node[50]@1", code=2, env={**os.environ, "NIMA_IN_DEBUGGER": "1"})
        self.assertIn("there are 10 of node", err)


if __name__ == "__main__":
    main()
