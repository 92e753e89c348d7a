"""Jobs whose number of workers changes: `--cluster_from folder`."""

import contextlib
import dataclasses
import itertools
import re
import signal
import subprocess
import threading
import types

import pytest

import forked
from job import LAST_STEP, SHARDED_WORDS, assert_same, job_environment, run_alone, without_counts
from tf_frame.cluster import meeting as module, meeting_folder
from tf_frame.cluster.meeting import ADDRESS, INDEX, WORKERS, Meeting, parse_worker_counts
from tf_frame.cluster.meeting_folder import Announcement, Choice, MeetingFolder
from tf_frame.cluster.status import TRAINING, own_status, write_status
from tf_frame.errors import ConfigError, PeerLostError
from tf_frame.testing.local_job import checkpoint_values, newest_step, wait_for
from tf_frame.testing.ports import held_ports


@pytest.fixture(autouse=True)
def quick_looks(monkeypatch):
    monkeypatch.setattr(module, "_LOOK_SECS", 0.01)
    monkeypatch.setattr(module, "_WRITE_SECS", 0.0)


@pytest.mark.parametrize(
    ("text", "counts"), [("1", (1, 1)), ("4", (4, 4)), ("2..4", (2, 4)), ("3..3", (3, 3))]
)
def test_a_number_or_a_range_is_read(text, counts):
    assert parse_worker_counts(text) == counts


@pytest.mark.parametrize("text", ["0", "0..2", "4..2", "", "2...4", "-1", "2..", "two", "9" * 5000])
def test_anything_else_is_refused(text):
    with pytest.raises(ConfigError, match="--num_workers") as error:
        parse_worker_counts(text)
    assert len(str(error.value)) < 200


def variables(index, counts="2..3", address=None):
    address = address or f"10.0.0.{index}:2222"
    return {INDEX: str(index), ADDRESS: address, WORKERS: counts}


def make_meeting(folder, index, counts="2..3", *, timeout_secs=1.0, report=lambda line: None):
    values = {"batch_shards": 4, "max_steps": 60, "timeout_secs": timeout_secs, "report": report}
    return Meeting(str(folder), variables(index, counts), **values)


def announcing(folder, *indices):
    """Acts for other tasks that write at every look, as a `check` for `attend`."""
    numbers = itertools.count()

    def check():
        for index in indices:
            address, process = f"10.0.0.{index}:2222", f"process {index}"
            task = Announcement(index=index, address=address, process=process, writes=next(numbers))
            MeetingFolder(str(folder)).announce(task)

    return check


class Enough(Exception):
    pass


def stop_after(looks, check=lambda: None):
    """A `check` that ends the wait after some looks."""
    numbers = itertools.count(1)

    def count():
        check()
        if next(numbers) > looks:
            raise Enough

    return count


def test_the_chief_takes_those_who_write_and_waits_no_longer_when_all_are_there(tmp_path):
    lines = []
    chief = make_meeting(tmp_path, 0, timeout_secs=1e6, report=lines.append)
    cluster = chief.attend(announcing(tmp_path, 2, 1))
    assert cluster.is_chief and cluster.num_workers == 3 and cluster.all_reduces
    assert cluster.target == "grpc://10.0.0.0:2222"
    workers = {0: "10.0.0.1:2222", 1: "10.0.0.2:2222"}
    assert cluster.jobs == {"chief": {0: "10.0.0.0:2222"}, "worker": workers}
    assert lines == ["1 of 2 to 3 workers are there", "3 of 2 to 3 workers are there"]


def test_after_a_time_the_least_number_is_enough(tmp_path):
    chief = make_meeting(tmp_path, 0)
    assert chief.attend(announcing(tmp_path, 1)).num_workers == 2
    with pytest.raises(Enough):
        make_meeting(tmp_path, 0).attend(stop_after(30))


def test_what_an_ended_process_has_written_counts_for_nothing(tmp_path):
    announcing(tmp_path, 1, 2)()
    cluster = make_meeting(tmp_path, 0, "1..3").attend(lambda: None)
    assert cluster.num_workers == 1 and not cluster.target


def test_a_task_that_falls_silent_does_not_wait_any_more(monkeypatch):
    now = 100.0
    monkeypatch.setattr(meeting_folder, "time", types.SimpleNamespace(monotonic=lambda: now))
    first = [Announcement(index=i, address="h:1", process=f"p{i}") for i in (1, 2)]
    attendance = meeting_folder.Attendance([])
    assert attendance.look(first) == first
    now = 109.0
    again = [first[0], dataclasses.replace(first[1], writes=1)]
    assert attendance.look(again) == again and attendance.changed_at == 100.0
    now = 111.0
    assert attendance.look(again) == again[1:]
    started_again = dataclasses.replace(first[0], process="another")
    assert attendance.look([started_again]) == [started_again, again[1]]
    assert attendance.changed_at == 111.0


def test_of_too_many_the_first_are_taken(tmp_path):
    cluster = make_meeting(tmp_path, 0, "1..2").attend(announcing(tmp_path, 5, 3))
    assert cluster.jobs["worker"] == {0: "10.0.0.3:2222"}


def test_a_worker_waits_until_the_chief_has_chosen_it(tmp_path):
    folder = MeetingFolder(str(tmp_path))
    folder.choose(Choice(meeting=6, members={"another": "10.0.0.0:2222", "dead": "10.0.0.2:2222"}))

    def choose():
        own = [task for task in folder.announcements() if task.index == 2]
        if own and own[0].writes > 3:
            members = {"c": "10.0.0.0:2222", "p": "10.0.0.1:2222", own[0].process: own[0].address}
            folder.choose(Choice(meeting=7, members=members))

    cluster = make_meeting(tmp_path, 2).attend(choose)
    assert not cluster.is_chief and cluster.task_name == "worker-1" and cluster.meeting == 7
    assert cluster.target == "grpc://10.0.0.2:2222"


def test_a_worker_ends_when_the_training_has_ended(tmp_path):
    chief = make_meeting(tmp_path, 0, "1..3")
    chief.attend(lambda: None)
    with pytest.raises(Enough):
        make_meeting(tmp_path, 1).attend(stop_after(5))
    chief.end()
    assert make_meeting(tmp_path, 1).attend(lambda: None) is None


def test_a_worker_takes_a_chief_without_any_sign_for_lost(tmp_path):
    def check():
        if next(numbers) < 20:
            write_status(str(tmp_path), own_status("chief-0", TRAINING))

    numbers = itertools.count()
    worker = make_meeting(tmp_path, 1, timeout_secs=0.15)
    with pytest.raises(PeerLostError, match=r"no sign of the chief \(task 0\) for 0.15 s"):
        worker.attend(check)
    assert next(numbers) >= 20


def test_the_chief_sees_who_waits(tmp_path):
    chief = make_meeting(tmp_path, 0)
    chief.attend(announcing(tmp_path, 1))
    assert not chief.others_wait()
    announcing(tmp_path, 2)()
    assert chief.others_wait()
    full = make_meeting(tmp_path, 0, "1..1")
    full.attend(lambda: None)
    announcing(tmp_path, 3)()
    assert not full.others_wait()


def test_damaged_files_are_passed_over(tmp_path):
    folder = tmp_path / "tasks" / "meeting"
    folder.mkdir(parents=True)
    for name in ("1.json", "choice.json", "x.json"):
        (folder / name).write_text('{"index": [')
    (folder / "2.json").write_text('{"meeting": 1, "members": {"a": 1}}')
    assert make_meeting(tmp_path, 0, "1..2").attend(lambda: None).num_workers == 1
    (folder / "choice.json").write_text('{"meeting": 1, "members": {"a": 1}}')
    with pytest.raises(Enough):
        make_meeting(tmp_path, 1).attend(stop_after(3))


def test_an_ip_of_version_6_gets_brackets(tmp_path):
    values = {"batch_shards": 4, "max_steps": 60, "timeout_secs": 1, "report": lambda line: None}
    chief = Meeting(str(tmp_path), variables(0, "1..2", "fd00::1:2222"), **values)
    chief.attend(announcing(tmp_path, 1))
    assert next(iter(MeetingFolder(str(tmp_path)).choice().members.values())) == "[fd00::1]:2222"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({INDEX: ""}, f"{INDEX} is not set, which --cluster_from folder needs"),
        ({INDEX: "-1"}, f"{INDEX}=-1 is not the number of a task"),
        ({ADDRESS: ""}, f"{ADDRESS} is not set"),
        ({WORKERS: "many"}, f"{WORKERS} 'many': give a number"),
        ({WORKERS: "2..5"}, f"{WORKERS}=2..5: --batch_shards 4 are too few for 5 workers"),
    ],
)
def test_what_does_not_describe_a_task_is_refused(tmp_path, change, message):
    values = {"batch_shards": 4, "max_steps": 60, "timeout_secs": 1, "report": lambda line: None}
    with pytest.raises(ConfigError) as error:
        Meeting(str(tmp_path), variables(0) | change, **values)
    assert message in str(error.value)


def test_an_address_without_a_port_is_refused(tmp_path):
    folder = MeetingFolder(str(tmp_path))
    chief = make_meeting(tmp_path, 0, "1..2")

    def check():
        number = next(numbers)
        folder.announce(Announcement(index=1, address="host", process="p", writes=number))

    numbers = itertools.count()
    with pytest.raises(ConfigError, match=f"{ADDRESS} of a task: the address 'host'"):
        chief.attend(check)


LIMIT_SECS = 120
# Slow enough for workers to come and go.
SLOW_WORDS = ["300" if word == "40" else word for word in SHARDED_WORDS]


class Pods:
    """Pods of a Kubernetes Job, started again after the exit codes that its manifest ignores.

    The number of a pod is its index in the Job.
    """

    def __init__(self, folder, counts, most, words=SHARDED_WORDS, timeout="10"):
        self.model_dir, self._folder = folder / "run", folder
        # The chief waits a tenth of the time limit for further workers.
        self._words = (*words, "--cluster_from", "folder", "--cluster_timeout_secs", timeout)
        self._held = held_ports(most)
        self._ports = [port.getsockname()[1] for port in self._held]
        self._environment = job_environment(folder) | {WORKERS: counts, "PYTHONUNBUFFERED": "1"}
        self._running, self._wanted, self._threads = {}, set(), []
        self.codes = {}

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._wanted.clear()
        for process in list(self._running.values()):
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        for thread in self._threads:
            thread.join()
        if error[0] is not None:
            print(self.codes, *(f"==== {index}\n{self.log(index)}" for index in self.codes))

    def add(self, *indices):
        for index in indices:
            self._wanted.add(index)
            self.codes[index] = []
            self._held[index].close()
            self._threads.append(threading.Thread(target=self._keep, args=(index,)))
            self._threads[-1].start()

    def remove(self, index):
        self._wanted.discard(index)
        self._running[index].send_signal(signal.SIGTERM)

    def kill(self, index):
        self._running[index].kill()

    def log(self, index):
        return (self._folder / f"pod-{index}.log").read_text()

    def succeeded(self):
        return all(0 in self.codes[index] for index in self._wanted)

    def _keep(self, index):
        address = f"127.0.0.1:{self._ports[index]}"
        words = [*self._words, "--model_dir", str(self.model_dir)]
        while index in self._wanted:
            with (self._folder / f"pod-{index}.log").open("a") as log:
                self._running[index] = forked.Popen(
                    [*forked.TF_FRAME, *words],
                    env=self._environment | {INDEX: str(index), ADDRESS: address},
                    cwd=self._folder,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )
            self.codes[index].append(self._running[index].wait())
            if self.codes[index][-1] not in (-signal.SIGKILL, 138, 143):
                return


@pytest.mark.process
@pytest.mark.timeout(200)
def test_the_chief_saves_and_starts_again_for_a_task_that_waits(tmp_path):
    with Pods(tmp_path, "1..2", 1) as pods:
        pods.add(0)
        wait_for(lambda: newest_step(pods.model_dir) >= 10, "checkpoint 10", LIMIT_SECS)
        announcing(pods.model_dir, 1)()
        wait_for(pods.succeeded, "the end", LIMIT_SECS)
        assert pods.codes[0] == [138, 0]
        assert "another worker waits: all save, end and meet again" in pods.log(0)
        assert re.search(r"saved at step \d+ of 60", pods.log(0))
    assert MeetingFolder(str(pods.model_dir)).choice().max_steps == LAST_STEP


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.timeout(600)
def test_workers_come_and_go_and_the_values_are_those_of_one_process(tmp_path):
    expected = run_alone(tmp_path, SLOW_WORDS)
    with Pods(tmp_path, "1..3", 3, SLOW_WORDS, "30") as pods:

        def has_saved(step):
            wait_for(lambda: newest_step(pods.model_dir) >= step, f"step {step}", LIMIT_SECS)

        pods.add(0, 1)
        has_saved(10)
        pods.add(2)
        wait_for(lambda: "3 of 1 to 3" in pods.log(0), "three workers", LIMIT_SECS)
        assert pods.codes[0] == [138]
        has_saved(newest_step(pods.model_dir) + 10)
        pods.remove(1)
        pods.kill(2)
        wait_for(pods.succeeded, "the end", LIMIT_SECS)
        assert pods.codes[0] == [138, 138, 0] and pods.codes[2][-1] == 0
        values = checkpoint_values(pods.model_dir / f"model.ckpt-{LAST_STEP}")
    # With several workers the checkpoint also has the steps of their positions.
    assert_same(without_counts({name: values[name] for name in expected}), without_counts(expected))
