#!/usr/bin/env python3
"""What a sample of memory costs its host: the ways that people use, and ktrial's, side by side in one run.

    benches/sampling.py --agent PROGRAM [--ktrial PROGRAM] [--seconds 3] [--rounds 5]

Processor time is that of the whole process tree, user and system, as wait4(2) gives it. Each way also runs as short
as it can, for one sample or none; what that takes is subtracted, so that a number is what one more sample costs. Every
round runs each way once, and the median of the rounds counts: what else happens on the machine meets all alike.
"""

import argparse, json, os, re, shutil, signal, statistics, subprocess, sys, tempfile, time

# Reads a file and writes a line of CSV, as pollers of files do that come with frameworks.
POLLER = r"""
import sys, time
n, period = int(sys.argv[1]), float(sys.argv[2])
due = time.monotonic()
for _ in range(n):
    with open("/proc/meminfo") as file:
        values = [line.split()[1] for line in file]
    print(time.time(), *values, sep=",", flush=True)
    due += period
    time.sleep(max(0.0, due - time.monotonic()))
"""

# Reads files that stay open, one time after the other without a pause: what the kernel takes, and no reader can go below.
READS = """
import os, sys
files = [os.open(path, os.O_RDONLY) for path in sys.argv[2:]]
for _ in range(int(sys.argv[1])):
    for file in files:
        os.pread(file, 65536, 0)
"""

LOOP = "n=0; while [ $n -lt {n} ]; do {what}; n=$((n + 1)); sleep {period}; done"

EXPERIMENT = """question: q
primary: memory.used.peak
hosts: [local]
conditions: {{a: {{v: 1}}, b: {{v: 2}}}}
workload: {{command: [sleep, '{{v}}'], duration: 1s}}
monitors: {{meminfo: {{every: {ms}ms}}}}
design: {{trials: 1}}
"""


def tree(argv, folder, stop_after=None, leads=True):
    """Runs a program, ends its group after a time if one is given; its tree's processor time in seconds, its output.
    One that `leads` begins a session of its own; the agent does so itself."""
    with open(os.path.join(folder, "out"), "wb") as out:
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, start_new_session=leads)
        if stop_after is not None:
            time.sleep(stop_after)
            os.killpg(child.pid, signal.SIGTERM)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = status
    if stop_after is None and status != 0:
        sys.exit(f"{argv[0]} ended with status {status}")
    with open(os.path.join(folder, "out"), "rb") as out:
        return usage.ru_utime + usage.ru_stime, out.read()


class Way:
    """One way of sampling. `run(seconds)` gives processor seconds and samples; 0 seconds: as short as it can."""

    def __init__(self, name, hz, run):
        self.name, self.hz, self.run = name, hz, run
        self.cost_us, self.samples = [], 0

    def round(self, seconds):
        least, few = self.run(0)
        all, self.samples = self.run(seconds)
        if self.samples <= few:
            sys.exit(f"{self.name}: no samples in {seconds:g} s at {self.hz} Hz")
        self.cost_us.append((all - least) / (self.samples - few) * 1e6)

    def median_us(self):
        return statistics.median(self.cost_us)

    def percent_of_a_core(self):
        return self.median_us() * self.hz * 1e-4


def shell(text, sample):
    """A shell's lines with `{n}` samples every `{period}` seconds; `sample` begins the last line of each."""

    def of_rate(hz):
        def run(seconds):
            n = round(seconds * hz) or 1
            with tempfile.TemporaryDirectory() as folder:
                cpu, out = tree(["sh", "-c", text.format(n=n, period=1 / hz)], folder)
            return cpu, len(re.findall(sample, out, re.M))

        return run

    return of_rate


def poller(hz):
    def run(seconds):
        with tempfile.TemporaryDirectory() as folder:
            argv = [sys.executable, "-c", POLLER, str(round(seconds * hz)), str(1 / hz)]
            cpu, out = tree(argv, folder)
        return cpu, out.count(b"\n")

    return run


def reads(files):
    def run(seconds):
        n = round(seconds * 1000) or 1
        paths = [f"/proc/{name}" for name in files]
        with tempfile.TemporaryDirectory() as folder:
            cpu, _ = tree([sys.executable, "-c", READS, str(n), *paths], folder)
        return cpu, n

    return run


def floor(program, files):
    def run(seconds):
        n = round(seconds * 1000) or 1
        with tempfile.TemporaryDirectory() as folder:
            cpu, _ = tree([program, str(n), *(f"/proc/{name}" for name in files)], folder)
        return cpu, n

    return run


def compiled(folder):
    """floor.c as a program; none without a compiler."""
    program, source = os.path.join(folder, "floor"), os.path.join(os.path.dirname(os.path.abspath(__file__)), "floor.c")
    cc = shutil.which("cc")
    return program if cc and subprocess.run([cc, "-O2", "-o", program, source]).returncode == 0 else None


def monitor(ktrial, hz):
    """ktrial's own script for hosts without the agent, as its plan shows it."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "e.yaml")
        with open(path, "w") as file:
            file.write(EXPERIMENT.format(ms=round(1000 / hz)))
        plan = json.loads(subprocess.check_output([ktrial, "plan", path, "--format", "json"]))
    script = plan["commands"]["monitors"][0]["script"]

    def run(seconds):
        with tempfile.TemporaryDirectory() as folder:
            cpu, out = tree(["sh", "-c", script], folder, stop_after=seconds or 0.5 / hz)
        return cpu, len(re.findall(rb"^@ ", out, re.M))

    return run


def agent(program, files, hz):
    """A whole trial of the agent: its supervisor, keeper and threads, and a workload that sleeps."""

    def run(seconds):
        monitors = [
            {"name": name, "period_us": round(1e6 / hz) if seconds else 10_000_000,
             "source": {"file": f"/proc/{name}"}}
            for name in files
        ]  # fmt: skip
        spec = {
            "trial": "t01", "idle_ms": 0, "settle_ms": 0, "limit_ms": 600_000, "grace_ms": 1000, "lease_ms": 600_000,
            "monitors": monitors, "settings": [], "guarded": [], "reports": [], "prepare": "", "restore": "",
            "command": f"exec sleep {seconds or 0.1}",
        }  # fmt: skip
        with tempfile.TemporaryDirectory() as above:
            folder = os.path.join(above, "bench")
            os.mkdir(folder, 0o700)
            with open(os.path.join(folder, "spec.json"), "w") as file:
                json.dump(spec, file)
            # What `start` leaves behind, here as a child, so that all of its time is known.
            cpu, _ = tree([program, "supervise", folder, "bench", "plain"], above, leads=False)
            with open(os.path.join(folder, "events")) as file:
                last = file.read().splitlines()[-1]
            if not last.endswith("ended complete"):
                sys.exit(f"the agent's trial ended otherwise: {last}")
            samples = 0
            for name in files:
                with open(os.path.join(folder, f"{name}.txt")) as file:
                    samples += sum(line.startswith(("@ ", "+ ")) for line in file)
        return cpu, samples // len(files)

    return run


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--agent", help="the agent's program")
    options.add_argument("--ktrial", help="ktrial's program, for its shell monitor")
    options.add_argument("--seconds", type=float, default=3, help="of each run")
    options.add_argument("--rounds", type=int, default=5)
    options = options.parse_args()

    pipeline = shell("free -k -s {period} -c {n} | grep Mem | awk '{{print $3}}'", rb"^\d+$")
    loop = shell(LOOP.replace("{what}", "free -k | grep Mem | awk '{{print $3}}'"), rb"^\d+$")
    cat = shell(LOOP.replace("{what}", "cat /proc/meminfo"), rb"^MemTotal:")
    ways = [
        baseline := Way("loop of free | grep | awk", 10, loop(10)),
        piped := Way("free -s | grep | awk", 10, pipeline(10)),
        Way("loop of cat", 10, cat(10)),
        # Faster than the others: the start of an interpreter varies by more than a few samples take.
        Way("poller in Python, CSV", 100, poller(100)),
    ]
    if options.ktrial:
        ways.append(Way("ktrial's shell monitor", 10, monitor(options.ktrial, 10)))
    rates = [1, 10, 100, 1000]
    place = tempfile.TemporaryDirectory()
    least = compiled(place.name)
    if options.agent:
        program = shutil.which(options.agent) or sys.exit(f"{options.agent} is no program")
        program = os.path.abspath(program)
        for files in (["meminfo"], ["meminfo", "vmstat"]):
            ways.append(Way("reads alone: " + " + ".join(files), 1000, reads(files)))
            if least:
                ways.append(Way("sleeps, reads: " + " + ".join(files), 1000, floor(least, files)))
            name = "agent: " + " + ".join(files)
            ways += [Way(name, hz, agent(program, files, hz)) for hz in rates]
    for _ in range(options.rounds):
        for way in ways:
            way.round(options.seconds)

    print(f"{os.uname().sysname} {os.uname().release} {os.uname().machine}, {os.cpu_count()} processors, "
          f"{options.rounds} rounds of {options.seconds:g} s; medians, least and greatest")  # fmt: skip
    print(f"{'':31}{'Hz':>6}{'samples':>9}{'us a sample':>13}{'':>22}{'% of a core':>13}{'of the loop':>13}")
    base = baseline.median_us()
    for way in ways:
        cost, share = way.median_us(), way.percent_of_a_core()
        spread = f"{min(way.cost_us):.1f} .. {max(way.cost_us):.1f}"
        ratio = f"1/{base / cost:.3g}" if 0 < cost else "-"
        print(f"{way.name:31}{way.hz:>6}{way.samples:>9}{cost:>13.1f}{spread:>22}{share:>13.3f}{ratio:>13}")
    if options.agent:
        one, both = [way for way in ways if way.hz == 1000 and way.name.startswith("agent")]
        due = 0.99 * both.hz * options.seconds
        target = "meminfo and vmstat at 1 kHz take at most 2 % of a core, and miss less than 1 % of the samples"
        targets = [(target, both.percent_of_a_core() <= 2 and both.samples >= due)]
        for other in (baseline, piped):
            target = f"a sample of meminfo at 1 kHz takes at most 1/100 of one of `{other.name}`"
            targets.append((target, 100 * one.median_us() <= other.median_us()))
        for target, met in targets:
            print(f"target {'met' if met else 'NOT MET'}: {target}")


main()
