"""browser.py: a real browser for tests: Chromium driven over plain WebDriver HTTP by its own chromedriver (Debian packages chromium and
chromium-driver). No library is needed."""
import base64
import json
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request

ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars"]
MISSING = [tool for tool in ("chromium", "chromedriver") if not shutil.which(tool)]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Browser:
    """One browser with one tab, in an empty profile; for use in `with`."""

    def __init__(self, width=1280, height=900, more=()):
        self.profile = tempfile.mkdtemp(prefix="nima-browser-")
        port = free_port()
        self.driver = subprocess.Popen(["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.base = f"http://127.0.0.1:{port}"
        self.session = None
        for _ in range(100):
            try:
                self.call("GET", "/status")
                break
            except OSError:
                time.sleep(0.1)
        options = {"binary": shutil.which("chromium"),
                   "args": [*ARGUMENTS, *more, f"--window-size={width},{height}", f"--user-data-dir={self.profile}"]}
        made = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.session = made["sessionId"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("DELETE", f"/session/{self.session}")
        except OSError:
            pass
        self.driver.terminate()
        self.driver.wait(timeout=20)
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, path, body=None):
        data = None if method != "POST" else json.dumps(body or {}).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def open(self, url):
        self.call("POST", f"/session/{self.session}/url", {"url": url})

    def js(self, script, *arguments):
        return self.call("POST", f"/session/{self.session}/execute/sync", {"script": script, "args": list(arguments)})

    def js_async(self, script, *arguments):
        """The script calls its last argument with the result."""
        return self.call("POST", f"/session/{self.session}/execute/async", {"script": script, "args": list(arguments)})

    def wait_for(self, script, seconds=10):
        """Until the script's value is true; returns it and the time it took."""
        begin = time.monotonic()
        while True:
            value = self.js(script)
            if value:
                return value, time.monotonic() - begin
            if time.monotonic() - begin > seconds:
                raise AssertionError(f"not within {seconds} s: {script}\n{self.js('return document.body.innerText')}")
            time.sleep(0.02)

    def devtools(self, command, **parameters):
        return self.call("POST", f"/session/{self.session}/goog/cdp/execute", {"cmd": command, "params": parameters})

    def look(self, scheme="light", width=1280, height=900, phone=False):
        """As this screen and taste would have it."""
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if phone else 1, mobile=phone)

    def screenshot(self, path):
        pathlib.Path(path).write_bytes(base64.b64decode(self.call("GET", f"/session/{self.session}/screenshot")))

    def complaints(self):
        """What the page or the network wrote to the console; not what the browser says of reading a canvas."""
        return [entry["message"] for entry in self.call("POST", f"/session/{self.session}/se/log", {"type": "browser"})
                if entry["source"] != "rendering"]
