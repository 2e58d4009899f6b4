"""tool.py: runs the real `nima` in a scratch folder. $NIMA is the program; compiled models are kept in $XDG_CACHE_HOME."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

NIMA = os.environ["NIMA"]
HERE = pathlib.Path(__file__).resolve().parent
MODELS = HERE / "models"
WRONG = HERE / "wrong"


class Case(unittest.TestCase):
    """A test with a scratch folder as its working folder."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="nima-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def nima(self, *words, code=0, **more):
        """Runs it, expects the exit code, returns what it printed on standard output and error."""
        done = self.run_it(*words, **more)
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}\n{done.stderr}")
        return done.stdout, done.stderr

    def run_it(self, *words, **more):
        more.setdefault("cwd", self.folder)
        return subprocess.run([NIMA, *map(str, words)], capture_output=True, text=True, timeout=100, check=False, **more)

    def start(self, *words):
        return subprocess.Popen([NIMA, *map(str, words)], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def outcome(self, model, *words, code=0, **more):
        """The object on the last line of a run with --json."""
        out, _ = self.nima("run", model, "--json", *words, code=code, **more)
        return json.loads(out.splitlines()[-1])

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path


def main():
    """unittest's own closing line counts; a class named on the command line is run alone."""
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]], verbosity=2)
