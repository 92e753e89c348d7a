"""A Slurm cluster of one node, this machine, for as long as a test needs it.

with SlurmNode(folder) as node: subprocess.run(["sbatch", ...], env=node.environment)

Of the packages slurm-wlm and munge of Debian, started as root with files in a folder of its own.
It shows eight processors, so that the tasks of a job run at the same time.
"""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import time

from tf_frame.testing.ports import free_ports

PROGRAMS = ("munged", "munge", "slurmctld", "slurmd", "sbatch", "srun", "scontrol", "scancel")
ENDED = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY"}
# The node is named as it is reached, because its name is part of the tasks' addresses.
_CONF = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
KillWait=30
SlurmdParameters=config_overrides
NodeName=localhost NodeHostname={host} NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing():
    """Programs that this machine lacks; empty if a node can be started."""
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
    absent = [name for name in PROGRAMS if not shutil.which(name, path=path)]
    if absent:
        return f"no {', '.join(absent)}: apt-get install slurm-wlm munge"
    return "" if os.geteuid() == 0 else "Slurm's daemons are started as root"


class SlurmNode:
    """The node; `environment` is for processes that use the node."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = {
            **os.environ,
            "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin",
            "SLURM_CONF": f"{folder}/slurm.conf",
        }
        self._processes = []

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            self.run("scancel", "--signal=KILL", "--full", "--user=root")
        for process in reversed(self._processes):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def run(self, *words, check=True):
        """Runs a program of Slurm; returns its output."""
        done = subprocess.run(
            words, env=self.environment, text=True, capture_output=True, timeout=60, check=False
        )
        assert not check or done.returncode == 0, done.stderr
        return done.stdout

    def wait_for(self, job, timeout_secs):
        """Waits for the end of a job; returns its state and its exit code."""
        deadline = time.monotonic() + timeout_secs
        while time.monotonic() < deadline:
            text = self.run("scontrol", "--oneliner", "show", "job", job)
            state = re.search(r"JobState=(\w+)", text)[1]
            if state in ENDED:
                return state, int(re.search(r"ExitCode=(\d+)", text)[1])
            time.sleep(0.3)
        raise AssertionError(f"job {job} has not ended after {timeout_secs} s: {text}")

    def _start(self):
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        text = _CONF.format(
            folder=self.folder, host=socket.gethostname().split(".")[0], ports=free_ports(2)
        )
        (self.folder / "slurm.conf").write_text(text)
        files = ("key-file", "munge.key"), ("socket", "munge.socket"), ("seed-file", "munge.seed")
        files += ("pid-file", "munged.pid"), ("log-file", "munged.log")
        self._spawn("munged", "-F", *(f"--{option}={self.folder}/{n}" for option, n in files))
        self._wait_until(lambda: (self.folder / "munge.socket").exists(), "munged")
        self._spawn("slurmctld", "-D", "-c")
        self._spawn("slurmd", "-D", "-N", "localhost")
        self._wait_until(lambda: "idle" in self.run("sinfo", "-h", check=False), "slurmd")

    def _spawn(self, *words):
        with open(self.folder / f"{words[0]}.out", "wb") as log:
            self._processes.append(
                subprocess.Popen(
                    words,
                    env=self.environment,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            )

    def _wait_until(self, condition, name, timeout_secs=30):
        deadline = time.monotonic() + timeout_secs
        while not condition():
            logs = "\n".join(path.read_text()[-2000:] for path in self.folder.glob("*.out"))
            assert time.monotonic() < deadline, f"{name} does not start:\n{logs}"
            time.sleep(0.2)
