"""Stands for `tf-frame run`: writes the files of a run in milliseconds.

The metric is better the nearer --learning_rate is to 0.01. FAKE_RUNS in the environment says what
the runs of some trials do instead: {"1": "die"}.
"""

import json
import math
import os
import re
import signal
import socket
import sys
import time

from tf_frame.file_lock import file_lock


def main(words):
    options = dict(word.lstrip("-").partition("=")[::2] for word in words if word.startswith("--"))
    folder = options["model_dir"]
    number = int(re.search(r"trial-(\d+)", folder)[1])
    behaviour = json.loads(os.environ.get("FAKE_RUNS", "{}")).get(str(number), "")
    if behaviour == "refused":
        print("tf-frame: --learning_rate 1: too large")
        return 2
    os.makedirs(os.path.join(folder, "tasks"), exist_ok=True)
    with file_lock(os.path.join(folder, "run.lock")), open(f"{folder}.starts", "a") as starts:
        print("started", file=starts, flush=True)
        return run(options, folder, behaviour)


def run(options, folder, behaviour):
    with open(os.path.join(folder, "config.yaml"), "w") as file:
        print("plugin: classification\nmax_steps: 60", file=file)
        for name in ("learning_rate", "random_seed"):
            print(f"{name}: {options.get(name, 1)}", file=file)
    rate, seed = float(options["learning_rate"]), int(options.get("random_seed", 1))
    value = 1 - abs(math.log10(rate) + 2) / 10 + seed / 1000
    table = os.path.join(folder, "metrics.csv")
    done = 0
    if os.path.exists(table):
        with open(table) as file:
            done = file.read().count("eval")
    if not done:
        with open(table, "w") as file:
            print("step,split,time,accuracy", file=file)
    for step in (20, 40, 60)[done:]:
        if behaviour == "fail" and step == 40:
            print("tf-frame: the disk is full")
            return 1
        if behaviour == "die" and step == 40 and not done:
            os.kill(os.getpid(), signal.SIGKILL)
        if behaviour == "hopeless" and step == 40:
            wait_for_signal()
            return 143
        with open(table, "a") as file:
            shown = {"hopeless": 0.0, "nan": math.nan}.get(behaviour, value * step / 60)
            print(f"{step},eval,now,{shown}", file=file)
    if behaviour == "slow":
        wait_for_signal()
        return 143
    status(folder, diverged=behaviour == "diverge")
    if behaviour == "diverge":
        return 1
    with open(os.path.join(folder, "result.json"), "w") as file:
        json.dump({"global_step": 60, "time": time.time()}, file)
    return 0


def wait_for_signal():
    signal.sigwait([signal.SIGTERM])


def status(folder, *, diverged):
    facts = {"task": "chief-0", "state": "failed" if diverged else "ended", "time": time.time() - 1}
    facts |= {"pid": os.getpid(), "host": socket.gethostname(), "step": 60, "max_steps": 60}
    facts |= {"diverged": diverged, "reason": "the loss is NaN" if diverged else None}
    with open(os.path.join(folder, "tasks", "chief-0.json"), "w") as file:
        json.dump(facts, file)


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    sys.exit(main(sys.argv[1:]))
