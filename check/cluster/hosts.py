#!/usr/bin/env python3
"""Hosts for tests: network namespaces on one bridge, each with an sshd of its own. Needs root, iproute2 and openssh-server.

    with Hosts(["a", "b", "c"], build) as hosts:
        hosts.run("a", ["nima", "run", ...])

Each host reaches the others by ssh at 10.77.0.1, 10.77.0.2 ... with the configuration file `hosts.ssh_config`; nothing outside the
folder of the test is touched."""
import os, shutil, signal, subprocess, tempfile, time

MISSING = 77                                 # exit status that ctest takes for "skipped"


def unavailable():
    """Why there can be no such hosts here; None: there can."""
    if os.geteuid():
        return "needs root"
    for program in ("ip", "/usr/sbin/sshd", "ssh", "ssh-keygen"):
        if not shutil.which(program):
            return f"{program} is missing (packages iproute2, openssh-server, openssh-client)"
    probe = subprocess.run(["ip", "netns", "add", f"nima-probe-{os.getpid()}"], capture_output=True, text=True)
    if probe.returncode:
        return f"no network namespaces: {probe.stderr.strip()}"
    subprocess.run(["ip", "netns", "del", f"nima-probe-{os.getpid()}"], check=True)
    return None


class Hosts:
    def __init__(self, names, build):
        self.names, self.build = names, os.path.abspath(build)
        self.tag = f"nima{os.getpid()}"
        self.bridge = f"n{os.getpid()}"
        self.processes = []

    def space(self, name):
        return f"{self.tag}-{name}"

    def address(self, name):
        return f"10.77.0.{self.names.index(name) + 1}"

    def ip(self, *words):
        subprocess.run(["ip", *words], check=True, capture_output=True)

    def __enter__(self):
        signal.signal(signal.SIGTERM, lambda *_: exit(1))    # a time-out too takes the hosts away
        self.folder = tempfile.mkdtemp(prefix="nima-hosts-")
        os.makedirs("/run/sshd", exist_ok=True)
        for key in ("host_key", "user_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", os.path.join(self.folder, key)], check=True)
        shutil.copy(os.path.join(self.folder, "user_key.pub"), os.path.join(self.folder, "authorized"))
        # The bridge is in a namespace of its own, so that nothing shows outside.
        self.ip("netns", "add", f"{self.tag}-net")
        self.ip("-n", f"{self.tag}-net", "link", "add", self.bridge, "type", "bridge")
        self.ip("-n", f"{self.tag}-net", "link", "set", self.bridge, "up")
        for name in self.names:
            self.add(name)
        with open(os.path.join(self.folder, "host_key.pub")) as f:
            key = " ".join(f.read().split()[:2])
        with open(os.path.join(self.folder, "known_hosts"), "w") as f:
            f.writelines(f"{self.address(name)} {key}\n" for name in self.names)
        self.ssh_config = os.path.join(self.folder, "ssh_config")
        with open(self.ssh_config, "w") as f:
            for name in self.names:
                f.write(f"Host {name}\n  HostName {self.address(name)}\n")
            f.write(f"Host *\n  User root\n  IdentityFile {self.folder}/user_key\n  IdentitiesOnly yes\n"
                    f"  UserKnownHostsFile {self.folder}/known_hosts\n  GlobalKnownHostsFile none\n  StrictHostKeyChecking yes\n")
        self.wait()
        return self

    def add(self, name):
        space, index = self.space(name), self.names.index(name)
        self.ip("netns", "add", space)
        self.ip("-n", space, "link", "set", "lo", "up")
        self.ip("-n", f"{self.tag}-net", "link", "add", f"v{index}", "type", "veth", "peer", "name", "eth0", "netns", space)
        self.ip("-n", f"{self.tag}-net", "link", "set", f"v{index}", "master", self.bridge, "up")
        self.ip("-n", space, "address", "add", f"{self.address(name)}/24", "dev", "eth0")
        self.ip("-n", space, "link", "set", "eth0", "up")
        config = os.path.join(self.folder, f"sshd_{name}")
        tmp = os.path.join(self.folder, f"tmp_{name}")
        os.mkdir(tmp, 0o700)
        with open(config, "w") as f:
            f.write(f"ListenAddress {self.address(name)}\nHostKey {self.folder}/host_key\nAuthorizedKeysFile {self.folder}/authorized\n"
                    f"PidFile none\nUsePAM no\nPermitRootLogin yes\nPasswordAuthentication no\nStrictModes no\nMaxStartups 100\n"
                    f"SetEnv PATH={self.build}/bin:/usr/bin:/bin XDG_RUNTIME_DIR={tmp}\n")
        self.processes.append(subprocess.Popen(["ip", "netns", "exec", space, "/usr/sbin/sshd", "-f", config, "-D", "-e"],
                                               stderr=open(os.path.join(self.folder, f"sshd_{name}.log"), "w"), start_new_session=True))

    def wait(self):
        """Until every host answers."""
        for name in self.names:
            for _ in range(100):
                if self.run(self.names[0], ["ssh", "-F", self.ssh_config, name, "true"], capture_output=True).returncode == 0:
                    break
                time.sleep(0.1)
            else:
                raise RuntimeError(f"no sshd on {name}: {open(os.path.join(self.folder, f'sshd_{name}.log')).read()[-500:]}")

    def command(self, name, words):
        return ["ip", "netns", "exec", self.space(name), *words]

    def environment(self, name):
        return dict(os.environ, PATH=f"{self.build}/bin:{os.environ['PATH']}", XDG_RUNTIME_DIR=os.path.join(self.folder, f"tmp_{name}"))

    def run(self, name, words, **options):
        options.setdefault("timeout", 120)
        return subprocess.run(self.command(name, words), env=self.environment(name), **options)

    def start(self, name, words, **options):
        return subprocess.Popen(self.command(name, words), env=self.environment(name), start_new_session=True, **options)

    def left(self, name):
        """What a run has left in this host's folder for temporary files."""
        return os.listdir(os.path.join(self.folder, f"tmp_{name}"))

    def pids(self, name, word=""):
        """Processes in this host's namespace whose command line has the word."""
        found = []
        text = subprocess.run(["ip", "netns", "pids", self.space(name)], capture_output=True, text=True).stdout
        for pid in text.split():
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as f:
                    if word in f.read().replace(b"\0", b" ").decode():
                        found.append(int(pid))
            except OSError:
                pass
        return found

    def configuration(self, path, more=""):
        with open(path, "w") as f:
            f.write("hosts = (\n")
            for i, name in enumerate(self.names):
                ssh = f' ssh = "{name}";' if i else ""
                f.write(f'  {{ name = "{name}"; address = "{self.address(name)}";{ssh} threads = 1; }}{"," if i + 1 < len(self.names) else ""}\n')
            f.write(f');\nssh_config = "{self.ssh_config}";\n{more}\n')

    def __exit__(self, *error):
        for name in self.names:
            for pid in self.pids(name):
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
            subprocess.run(["ip", "netns", "del", self.space(name)], capture_output=True)
        subprocess.run(["ip", "netns", "del", f"{self.tag}-net"], capture_output=True)
        for process in self.processes:
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
