"""test_page.py: the live page of `nima run --web`, by plain HTTP and in a real Chromium. With NIMA_LONG the tab stays open for
10 minutes. Screenshots are left in $NIMA_SHOTS, for whoever wants to look."""
import http.client
import http.server
import os
import pathlib
import sys
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from browser import MISSING, Browser, free_port
from tool import Case, main

SHOTS = pathlib.Path(os.environ.get("NIMA_SHOTS", "."))
LONG = bool(os.environ.get("NIMA_LONG"))
STATE = "return document.getElementById('state').textContent"
BLACK = """const c = document.querySelector('.picture canvas'); if (!c) return 0;
const d = new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer); return d.filter(p => p !== d[0]).length"""


class Run(Case):
    """Starts a run with a page."""

    def run_page(self, *words, web=None):
        self.port = free_port()
        self.out = self.folder / f"run-{self.port}"
        self.process = self.start("run", *words, "--quiet", "--out", self.out, "--web", web or f"127.0.0.1:{self.port}")
        self.addCleanup(self.process.communicate)
        self.addCleanup(self.process.kill)
        line = self.process.stderr.readline()
        self.assertIn("live page", line)
        self.url = line.split()[-1]
        self.token = self.url.partition("#")[2]

    def ask(self, method, path, **headers):
        """Status and text; headers by name, with _ for -; host=None leaves it out."""
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        headers.setdefault("Host", f"127.0.0.1:{self.port}")
        link.putrequest(method, path, skip_host=True)
        for name, value in headers.items():
            link.putheader(name, value)
        if method == "POST":
            link.putheader("Content-Length", "0")
        link.endheaders()
        answer = link.getresponse()
        text = answer.read().decode()
        link.close()
        return answer.status, text

    def command(self, name, **headers):
        headers.setdefault("Authorization", f"Bearer {self.token}")
        return self.ask("POST", f"/{name}", **headers)[0]

    def cpu_s(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


WALK = ("randomwalk", "-p", "size=200", "-p", "walkers=9000", "--seed", "3")


class Http(Run):
    def test_served(self):
        self.run_page(*WALK, "--speed", "100")
        for path, word in (("/", "<title>"), ("/page.js", "use strict"), ("/data.js", "msgpack"), ("/page.css", "prefers-color-scheme")):
            status, text = self.ask("GET", path)
            self.assertEqual(status, 200)
            self.assertIn(word, text)
        for path in ("/nothing", "/../etc/passwd", "/page.js/x"):
            self.assertEqual(self.ask("GET", path)[0], 404)
        for host in ("localhost:1", "127.0.0.1", f"[::1]:{self.port}"):
            self.assertEqual(self.ask("GET", "/", Host=host)[0], 200)

    def test_only_ours(self):
        self.run_page(*WALK, "--speed", "100")
        here = f"http://127.0.0.1:{self.port}"
        for headers in ({"Authorization": ""}, {"Authorization": "Bearer "}, {"Authorization": f"Bearer {self.token[:-1]}"},
                        {"Authorization": f"Bearer {self.token}0"}, {"Authorization": f"Basic {self.token}"},
                        {"Authorization": "Bearer " + "0" * 32}, {"Origin": "http://evil.example"}, {"Origin": "null"},
                        {"Origin": here, "Host": "evil.example"}, {"Origin": "http://evil.example", "Host": "evil.example"},
                        {"Host": "127.0.0.1.evil.example"}, {"Origin": f"http://127.0.0.1:{self.port + 1}"}):
            self.assertEqual(self.command("pause", **headers), 403, headers)
        for host in ("evil.example", "127.0.0.1.evil.example:80", "", f"evil.example:{self.port}"):
            self.assertIn(self.ask("GET", "/", Host=host)[0], (400, 403), host)
        self.assertEqual(self.ask("GET", "/pause")[0], 405)
        self.assertEqual(self.command("resume"), 409)            # it has not been paused by any of these
        self.assertEqual(self.command("pause", Origin=here), 200)
        self.assertEqual(self.command("pause"), 409)
        self.assertEqual(self.command("resume"), 200)
        self.assertEqual(self.command("stop"), 200)
        self.assertEqual(self.process.wait(timeout=20), 130)     # as by Ctrl-C

    def test_pause_changes_nothing(self):
        words = ("phold", "-p", "agents=2000", "--until", "20000000", "--threads", "2")
        alone = self.outcome(*words)
        self.run_page(*words, "--json", "--speed", "10000000")
        for _ in range(5):
            time.sleep(0.15)
            self.assertEqual(self.command("pause"), 200)
            time.sleep(0.1)                  # paused within 0.1 s
            before = self.cpu_s()
            time.sleep(0.5)
            self.assertLessEqual(self.cpu_s() - before, 0.03)
            self.assertEqual(self.command("resume"), 200)
        out, _ = self.process.communicate(timeout=30)
        self.assertIn(f'"fingerprint":"{alone["fingerprint"]}"', out.splitlines()[-1].replace(": ", ":"))

    def test_addresses(self):
        for wrong in ("127.0.0.1:0", "1.2.3.4:99999", "a b:1", "::1:80"):
            _, err = self.nima("run", "mm1", f"--web={wrong}", code=2)
            self.assertIn("--web", err)
        self.run_page(*WALK, "--speed", "100")
        _, err = self.nima("run", "mm1", "--web", str(self.port), code=6)
        self.assertIn(f"127.0.0.1:{self.port}", err)
        self.assertIn("in use", err)


@unittest.skipIf(MISSING, f"skipped, as missing: {MISSING}")
class Page(Run):
    def test_seen_paused_and_stopped(self):
        self.run_page(*WALK, "--speed", "60")
        with Browser() as b:
            b.look()
            begin = time.monotonic()
            b.open(self.url)
            black, _ = b.wait_for(BLACK, 5)
            self.assertLess(time.monotonic() - begin, 4)
            self.assertEqual(b.js(STATE), "running")
            grown = b.wait_for(f"{BLACK.replace('return d.filter', 'const n = d.filter')}; return n > {black + 300}", 20)
            self.assertTrue(grown)
            b.wait_for("return document.querySelectorAll('.worker').length > 0 && document.querySelector('.reporter .line').getAttribute('d')")
            for scheme in ("light", "dark"):
                for kind, width, height in (("desktop", 1280, 900), ("phone", 390, 844)):
                    b.look(scheme, width, height, kind == "phone")
                    time.sleep(0.3)
                    self.assertLessEqual(b.js("return document.documentElement.scrollWidth"), width)     # nothing sticks out
                    b.screenshot(SHOTS / f"page-{kind}-{scheme}.png")
            b.js("document.getElementById('pause').click()")
            b.wait_for("return document.getElementById('state').textContent === 'paused'", 2)
            time.sleep(0.4)
            still = b.js("return document.querySelector('#facts dd').textContent")
            time.sleep(0.7)
            self.assertEqual(b.js("return document.querySelector('#facts dd').textContent"), still)
            b.js("document.getElementById('pause').click()")
            b.wait_for("return document.getElementById('state').textContent === 'running'", 2)
            b.js("document.getElementById('stop').click(); document.getElementById('stop').click()")
            b.wait_for("return document.getElementById('state').textContent === 'interrupted'", 5)
            self.assertTrue(b.js("return document.getElementById('control').hidden"))
            self.assertIn("black", b.js("return document.getElementById('outcome').innerText"))
            self.assertEqual(self.process.wait(timeout=20), 130)
            self.assertEqual(b.complaints(), [])

    def test_view_only_and_lost(self):
        self.run_page(*WALK, "--speed", "60")
        with Browser() as b:
            b.open(self.url.partition("#")[0])
            b.wait_for(BLACK, 5)
            self.assertTrue(b.js("return document.getElementById('control').hidden"))
            self.assertIn("view only", b.js("return document.body.innerText"))
            self.process.kill()
            b.wait_for("return document.getElementById('state').textContent === 'link lost'", 5)
            self.assertIn("may be old", b.js("return document.getElementById('notice').textContent"))

    def test_model_without_picture(self):
        self.run_page("sir", "-p", "people=20000", "--speed", "12")
        with Browser() as b:
            b.look("light", 1280, 900)
            b.open(self.url)
            b.wait_for("return document.querySelectorAll('.reporter').length > 0 && document.querySelector('.reporter path').getAttribute('d')")
            time.sleep(3)
            b.screenshot(SHOTS / "page-reporters.png")
            self.assertEqual(b.js("return document.querySelectorAll('canvas').length"), 0)
            self.assertEqual(b.complaints(), [])

    def test_missed_messages_are_said(self):
        self.run_page(*WALK, "--speed", "60")
        with Browser() as b:
            b.open(self.url)
            b.wait_for(BLACK, 5)
            b.js("onMessage('clock', now.clock, 7, false)")
            b.wait_for("return document.getElementById('notice').textContent.includes('7 messages missed')", 3)


HOSTILE = """<!doctype html><title>hostile</title><script>
window.found = {};
async function attack(port, token) {
  for (const [name, options] of Object.entries({
    plain: { method: 'POST', mode: 'no-cors' },
    token: { method: 'POST', headers: { Authorization: `Bearer ${token}` } } })) {
    try { found[name] = (await fetch(`http://127.0.0.1:${port}/pause`, options)).status; } catch (e) { found[name] = 'failed'; }
  }
  try { found.read = await (await fetch(`http://127.0.0.1:${port}/`)).text(); } catch (e) { found.read = 'failed'; }
  found.messages = 0;
  const socket = new WebSocket(`ws://127.0.0.1:${port}/publish`, 'pub.sp.nanomsg.org');
  socket.onmessage = () => found.messages++;
  await new Promise(done => setTimeout(done, 1500));
  const frame = document.body.appendChild(document.createElement('iframe'));
  frame.src = `http://127.0.0.1:${port}/`;
  await new Promise(done => setTimeout(done, 500));
  return found;
}</script><body></body>"""


class Hostile(http.server.BaseHTTPRequestHandler):
    def do_GET(self):                        # pylint: disable=invalid-name
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(HOSTILE.encode())

    def log_message(self, *_):
        pass


@unittest.skipIf(MISSING, f"skipped, as missing: {MISSING}")
class Strangers(Run):
    def test_strangers_page(self):
        self.run_page(*WALK, "--speed", "60")
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hostile)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.shutdown)
        with Browser(more=["--host-resolver-rules=MAP evil.example 127.0.0.1"]) as b:
            b.open(f"http://evil.example:{server.server_port}/")
            found = b.js_async("const done = arguments[2]; attack(arguments[0], arguments[1]).then(done)", self.port, self.token)
            self.assertNotEqual(found["token"], 200)
            self.assertEqual((found["read"], found["messages"]), ("failed", 0))
            self.assertEqual(self.command("resume"), 409)        # nothing has paused it
            b.open(f"http://evil.example:{self.port}/")          # a name that points here
            self.assertIn("refused", b.js("return document.body.innerText"))
            self.assertEqual(self.command("resume"), 409)


@unittest.skipIf(MISSING, f"skipped, as missing: {MISSING}")
class Long(Run):
    def test_no_growth(self):
        seconds = 600 if LONG else 15
        self.run_page(*WALK, "--speed", "10")
        measure = "JSHeapUsedSize", "Nodes", "JSEventListeners"
        with Browser() as b:
            b.open(self.url)
            b.wait_for(BLACK, 5)
            b.devtools("Performance.enable")

            def sizes():
                b.devtools("HeapProfiler.collectGarbage")
                values = {m["name"]: m["value"] for m in b.devtools("Performance.getMetrics")["metrics"]}
                return [values[name] for name in measure]
            time.sleep(seconds / 3)
            first = sizes()
            used = self.cpu_s()
            time.sleep(2 * seconds / 3)
            last = sizes()
            self.assertLess(last[0], first[0] * 1.15 + (1 << 20), (first, last))
            self.assertLessEqual(last[1], first[1] + 50)
            self.assertLessEqual(last[2], first[2] + 5)
            print(f"heap {first[0] / 1e6:.2f} -> {last[0] / 1e6:.2f} MB, nodes {first[1]} -> {last[1]}; "
                  f"the run used {(self.cpu_s() - used) / (2 * seconds / 3):.1%} of a core, its agents included")


if __name__ == "__main__":
    main()
