"""test_watch.py: `nima run --publish`, read by `nima watch` and by clients that nobody here wrote: nngcat, nanocat, msgpack."""
import ctypes
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

from tool import MODELS, NIMA, Case, main

TALKER = MODELS / "talker.c"
PYTHON = "/usr/bin/python3"                  # Debian's, which has msgpack
DECODE = "import json, msgpack, sys; print(json.dumps([msgpack.unpackb(bytes.fromhex(line)) for line in sys.stdin]))"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def decoded(lines):
    """(topic, counter, value) of each line that nngcat or nanocat wrote as "\\x01\\x02..."."""
    frames = [bytes.fromhex(line.strip().strip('"').replace("\\x", "")) for line in lines if line.startswith('"')]
    parts = [frame.split(b"\0", 1) for frame in frames]
    done = subprocess.run([PYTHON, "-c", DECODE], input="".join(p.hex() + "\n" for _, p in parts), capture_output=True,
                          text=True, timeout=20, check=True)
    return [(topic.decode(), *message) for (topic, _), message in zip(parts, json.loads(done.stdout))]


class Watching(Case):
    def setUp(self):
        super().setUp()
        self.urls = [f"tcp://127.0.0.1:{free_port()}", f"ipc://{self.folder}/p", f"ws://127.0.0.1:{free_port()}/publish"]
        self.publish = [word for url in self.urls for word in ("--publish", url)]

    def spawn(self, *words):
        process = subprocess.Popen([str(w) for w in words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def read(self, process, code=0):
        out, err = process.communicate(timeout=20)
        self.assertEqual(process.returncode, code, err)
        return [json.loads(line) for line in out.splitlines()], err

    def wait_for(self, what):
        end = time.monotonic() + 10
        while not what():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)

    def listening(self):
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", int(self.urls[0].rsplit(":", 1)[1]))) == 0

    def test_all_is_told_over_each_transport(self):
        watchers = [self.spawn(NIMA, "watch", url) for url in self.urls]
        time.sleep(0.2)
        outcome = self.outcome(TALKER, "-p", "lines=10", "--speed", "0.1", "--threads", "1", *self.publish)
        for watcher in watchers:
            seen, _ = self.read(watcher)
            topics = {topic: [m for m in seen if m["topic"] == topic] for topic in ("run", "clock", "load/0", "log/0")}
            start, end = topics["run"][0], topics["run"][-1]
            self.assertEqual((start["state"], start["model"], start["parameters"]["lines"]), ("start", "talker", "10"))
            self.assertEqual((end["state"], end["status"], end["fingerprint"]), ("end", "ok", outcome["fingerprint"]))
            self.assertEqual(end["results"], outcome["results"])
            self.assertEqual([seen[-1]], [end])
            self.assertEqual(topics["clock"][-1]["time"], outcome["virtual_time"])
            self.assertFalse(topics["clock"][-1]["running"])
            self.assertEqual(topics["load/0"][-1]["events"], outcome["events"])
            self.assertEqual(topics["log/0"][-1]["line"], "10 0 talker[1] warning: said 9")
            for messages in topics.values():
                counters = [m["counter"] for m in messages]
                self.assertEqual(counters, list(range(counters[0], counters[-1] + 1)))

    def test_foreign_clients_read_the_same(self):
        run = self.start("run", TALKER, "-p", "lines=20", "--speed", "0.1", "--quiet", *self.publish)
        self.wait_for(self.listening)
        late = self.spawn(NIMA, "watch", self.urls[1], "clock")
        cats = []
        for url in self.urls:
            cats.append(self.spawn("nngcat", "--sub", "--dial", url, "--subscribe", "clock", "--hex", "--count", "5"))
            cats.append(self.spawn("timeout", "2.5", "nanocat", "--sub", "--connect", url, "--subscribe", "", "--hex"))
        ours = {m["counter"]: m for m in self.read(late)[0]}
        run.communicate(timeout=20)
        for cat in cats:
            messages = decoded(cat.communicate(timeout=20)[0].splitlines())
            clocks = [(counter, value) for topic, counter, value in messages if topic == "clock"]
            self.assertGreaterEqual(len(clocks), 5, cat.args)
            shared = [c for c in clocks if c[0] in ours]
            self.assertGreaterEqual(len(shared), 3, cat.args)
            for counter, value in shared:
                self.assertEqual({"topic": "clock", "counter": counter, **value}, ours[counter])
            if cat.args[0] == "timeout":     # who is late is told what the run is, too
                self.assertIn(("run", 1, "start"), [(t, c, v.get("state")) for t, c, v in messages])

    def test_stopped_watcher_changes_nothing(self):
        words = (TALKER, "-p", "lines=30000", "--threads", "1")
        alone = self.outcome(*words)
        stopped = [self.spawn(NIMA, "watch", self.urls[0]), self.spawn(NIMA, "watch", self.urls[1]), self.spawn(NIMA, "watch", self.urls[2])]
        path = self.folder / "log.jsonl"     # a pipe might fill, and then the reader would wait
        with path.open("w", encoding="utf-8") as to:
            reader = subprocess.Popen([NIMA, "watch", self.urls[0], "log/"], stdout=to)
        self.addCleanup(reader.kill)
        time.sleep(0.2)
        for process in stopped:
            process.send_signal(signal.SIGSTOP)
        begun = time.monotonic()
        watched = self.outcome(*words, *self.publish)
        took = time.monotonic() - begun
        self.assertEqual(reader.wait(timeout=20), 0)
        for process in stopped:
            process.send_signal(signal.SIGCONT)
        for key in ("fingerprint", "events", "results"):
            self.assertEqual(watched[key], alone[key])
        self.assertLess(took, 20)
        seen = [json.loads(line) for line in path.read_text().splitlines()]
        before = 0
        for m in seen:                       # the counter tells each loss, `dropped` what never got one
            self.assertEqual(m["counter"] - before - 1, m.get("missed", 0) if before else m["counter"] - 1)
            before = m["counter"]
        self.assertEqual(seen[-1]["counter"] + seen[-1]["dropped"], 60000)

    def test_no_socket_unless_asked(self):
        run = self.start("run", TALKER, "-p", "lines=10", "--speed", "0.1", "--quiet")
        time.sleep(0.7)
        links = [os.readlink(p) for p in pathlib.Path(f"/proc/{run.pid}/fd").iterdir() if p.is_symlink()]
        self.assertTrue(links)
        self.assertEqual([link for link in links if link.startswith("socket:")], [])
        run.communicate(timeout=20)

    def test_failure_is_told(self):
        watcher = self.spawn(NIMA, "watch", self.urls[1], "run")
        time.sleep(0.2)
        self.nima("run", MODELS / "trouble.c", "-p", "how=fail", "--quiet", *self.publish, code=3)
        end = self.read(watcher)[0][-1]
        self.assertEqual((end["status"], end["exit"]), ("failed", 3))
        self.assertTrue(end["error"])

    def test_lost_run_is_said(self):
        run = self.start("run", TALKER, "-p", "lines=100", "--speed", "0.1", "--quiet", "--publish", self.urls[0])
        self.wait_for(self.listening)
        watcher = self.spawn(NIMA, "watch", self.urls[0])
        self.assertIn('"topic"', watcher.stdout.readline())
        run.kill()
        run.communicate(timeout=20)
        self.assertIn("the link is lost", watcher.stderr.readline())
        self.assertIsNone(watcher.poll())

    def test_hostile_messages_are_said_and_others_read(self):
        nng, publisher = ctypes.CDLL("libnng.so.1"), ctypes.c_uint32()
        self.assertEqual(nng.nng_pub0_open(ctypes.byref(publisher)), 0)
        self.addCleanup(nng.nng_close, publisher)
        self.assertEqual(nng.nng_listen(publisher, self.urls[0].encode(), None, 0), 0)

        def send(frame):
            self.assertEqual(nng.nng_send(publisher, frame, ctypes.c_size_t(len(frame)), 0), 0)
        watcher = self.spawn(NIMA, "watch", self.urls[0])
        bad = [b"garbage", b"", b"t" * 200 + b"\0\x92\x01\xc0", b"t\0", b"t\0\xc0", b"t\0\x92\x01", b"t\0\x92\x01\xdd\xff\xff\xff\xff",
               b"t\0\x92\x01\xdb\xff\xff\xff\xffab", b"t\0\x92\x01" + b"\x91" * 100000, b"t\0\x92\x01\xc0\xc0", b"t\0\x92\x01\x81\x90\x01"]
        time.sleep(1)                        # it connects
        for frame in bad:
            send(frame)
        send(b"t\x1b\xff\0\x92\x02\x97\xa3a\xff\0\xc4\x02\0\x1f\xd4\x05\x00\xcb\x7f\xf8\0\0\0\0\0\0\xd1\xff\x00\xa2\xc2\x9b\xca\x3f\0\0\0")
        send(b"run\0\x92\x01\x81\xa5state\xa3end")
        seen, err = self.read(watcher)
        self.assertEqual(seen[0], {"topic": "t\x1b\ufffd", "counter": 2, "value": ["a\ufffd\ufffd", "001f", None, None, -256, "\ufffd\ufffd", 0.5]})
        self.assertEqual([m["topic"] for m in seen[1:]], ["run"])
        for frame in bad:
            self.assertIn(f"a message of {len(frame)} bytes", err)

    def test_refusals(self):
        for url in ("udp://127.0.0.1:1", "tcp://", "inproc://x", "5555", "ipc://relative"):
            _, err = self.nima("run", TALKER, "--publish", url, code=2)
            self.assertIn("--publish", err)
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            s.listen()
            url = f"tcp://127.0.0.1:{s.getsockname()[1]}"
            _, err = self.nima("run", TALKER, "--publish", url, code=6)
            self.assertIn(url, err)
        self.assertEqual(list((self.folder / "runs").glob("*")), [])
        for words in ((), ("no-address",), (self.urls[0], "run", "clock"), (self.urls[0], "--all")):
            self.nima("watch", *words, code=2)


if __name__ == "__main__":
    for tool in ("nngcat", "nanocat"):
        if not shutil.which(tool):
            raise SystemExit(f"missing: {tool} (Debian packages nng-utils, nanomsg-utils)")
    main()
