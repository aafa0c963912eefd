"""A fleet on this machine, for scripts: a server, agents with a machine name, a lock and a spool of their own, and a submitter."""

import json, os, pathlib, shutil, socket, subprocess, time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def add_host(parser):
    parser.add_argument("--host", type=pathlib.Path, default=ROOT / "target/release/host")


class Fleet:
    """Its processes, by name: `serve`, `m0`, `m1` ... The pass of the submitter is `me.fleet`."""

    def __init__(self, host, world, agents):
        self.host, self.world, self.running = host.resolve(), world, {}
        self.environment = {**os.environ, "SKILLBENCH_CONFIG": str(world / "config")}
        self.agents, self.port = [f"m{number}" for number in range(agents)], free_port()
        self.call("fleet", "init", "lab", "--name", f"lab-{self.port}", "--address", f"127.0.0.1:{self.port}", "--quiet")
        for name in self.agents:
            self.call("fleet", "user", "lab", name, "--role", "agent", "--quiet")
        self.call("fleet", "user", "lab", "me", "--role", "submitter", "--quiet")
        self.parts = {"serve": ["fleet", "serve", "lab"], **{name: self.agent(name, f"{name}.fleet") for name in self.agents}}

    def agent(self, name, its_pass):
        return ["fleet", "agent", its_pass, "--plugin", "rten", "--spool", f"spool-{name}"]

    def call(self, *arguments, check=True):
        done = subprocess.run([self.host, *arguments], cwd=self.world, env=self.environment, capture_output=True, text=True)
        if check and done.returncode:
            raise SystemExit(f"host {' '.join(arguments)}: exit code {done.returncode}\n{done.stderr}")
        return done

    def start(self, part):
        log = open(self.world / f"{part}.log", "a")
        environment = {**self.environment, "SKILLBENCH_LOCK": str(self.world / f"lock-{part}")}
        self.running[part] = subprocess.Popen([self.host, *self.parts[part]], cwd=self.world, env=environment, stdout=log, stderr=log)

    def start_all(self):
        """Starts server and agents, and waits until all are ready."""
        for part in self.parts:
            self.start(part)
        ready = lambda: [name for name in self.agents if "ready" in (self.world / f"{name}.log").read_text()]
        until("the start of all agents", 60 + 5 * len(self.agents), lambda: len(ready()) == len(self.agents))

    def end(self):
        for part in sorted(self.running, key=lambda part: part == "serve"):
            process = self.running[part]
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(30)
                except subprocess.TimeoutExpired:
                    process.kill()
        keys = self.world / "lab/keys.json"
        if keys.is_file():
            own = json.loads(keys.read_text())["fleet"]
            folder = pathlib.Path(os.environ.get("SKILLBENCH_DATA") or pathlib.Path(os.environ.get("XDG_DATA_HOME") or pathlib.Path.home() / ".local/share") / "skillbench")
            (folder / "fleets" / f"{own}.fleet").unlink(missing_ok=True)
        if not os.environ.get("KEEP"):
            shutil.rmtree(self.world, ignore_errors=True)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def until(what, seconds, holds):
    began = time.time()
    while time.time() - began < seconds:
        found = holds()
        if found:
            return found
        time.sleep(0.2)
    raise SystemExit(f"{what} took longer than {seconds} s")
