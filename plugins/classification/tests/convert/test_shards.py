"""Shards are whole or not there, and a rerun makes only those that are missing."""

import errno
import fcntl
import os
import pathlib
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import pytest
import tensorflow.compat.v1 as tf

import forked
from tf_frame_vision.convert import conversion
from tf_frame_vision.convert.shards import Progress

# Kills itself while it writes the fourth shard, as kill -9 would from outside.
KILLED = """
import os, signal
from tf_frame.cli.main import main
from tf_frame_classification.convert import examples
encode, left = examples.encode, [20]
def encode_until_killed(picture, options):
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    return encode(picture, options)
examples.encode = encode_until_killed
main({words!r})
"""
# Its files may have 2 kB at most: writing more fails as on a full disk.
WITH_SMALL_FILES = """
import resource, signal, sys
from tf_frame.cli.main import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))
sys.exit(main({words!r}))
"""
SHARDS = [f"test-{number:05}-of-00010" for number in range(10)]
OPTIONS = ["--split", "test", "--shards", "10", "--workers", "1"]


def contents(folder):
    return {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}


@pytest.mark.process
def test_kill_9_and_a_rerun_give_the_same_bytes_as_one_run(program, convert, fashion, tmp_path):
    output = tmp_path / "killed"
    words = ["fashion_mnist", str(fashion), str(output), *OPTIONS]
    code = KILLED.format(words=["convert", *words])
    process = forked.run([sys.executable, "-c", code], capture_output=True)
    assert process.returncode == -signal.SIGKILL
    assert sorted(path.name for path in output.glob("test-*")) == SHARDS[:3]
    assert [path.name for path in output.glob(".test-*")] == [f".{SHARDS[3]}.partial"]
    inodes = {name: (output / name).stat().st_ino for name in SHARDS[:3]}
    # Neither another number of workers nor the order of their ends matters.
    assert program(*words[:-1], "2") == 0
    assert convert("fashion_mnist", fashion, *OPTIONS) == 0
    assert contents(output) == contents(tmp_path / "records")
    assert inodes == {name: (output / name).stat().st_ino for name in SHARDS[:3]}


@pytest.mark.slow
def test_a_finished_shard_is_kept_and_a_damaged_one_is_made_again(
    convert, fashion, tmp_path, capsys
):
    assert convert("fashion_mnist", fashion, *OPTIONS) == 0
    before = contents(tmp_path / "records")
    path = tmp_path / "records" / SHARDS[5]
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    path.write_bytes(damaged)
    (tmp_path / "records" / SHARDS[6]).write_bytes(before[SHARDS[7]])
    (tmp_path / "records" / SHARDS[8]).unlink()
    (tmp_path / "records" / ".test-00000-of-00099.partial").write_bytes(b"of a conversion killed")
    capsys.readouterr()
    assert convert("fashion_mnist", fashion, *OPTIONS) == 0
    printed = capsys.readouterr()
    assert f"{path} is made again: it cannot be read" in printed.err
    assert f"{SHARDS[6]} is made again: it holds t10k-images-idx3-ubyte/00042.png" in printed.err
    assert "60 images of 10 classes in 10 shards, 7 of them finished before" in printed.out
    assert contents(tmp_path / "records") == before


@pytest.mark.process
def test_what_cannot_be_written_leaves_no_shard_and_no_part(fashion, tmp_path):
    # In a process of its own: the limit holds for all files, those of pytest as well.
    output = tmp_path / "records"
    words = ["convert", "fashion_mnist", str(fashion), str(output), *OPTIONS]
    code = WITH_SMALL_FILES.format(words=words)
    done = forked.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert f"cannot write {output}/{SHARDS[0]}: " in done.stderr
    assert "File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(contents(output)) == ["labels.txt", "test.conversion.json"]


@pytest.mark.slow
def test_a_shard_cut_between_two_records_is_made_again(convert, fashion, tmp_path, capsys):
    options = [*OPTIONS, "--skip_corrupt"]
    assert convert("fashion_mnist", fashion, *options) == 0
    before = contents(tmp_path / "records")
    path = tmp_path / "records" / SHARDS[4]
    data = path.read_bytes()
    first = 8 + 4 + int.from_bytes(data[:8], "little") + 4
    for cut in (data[:first], data[first:], b""):
        path.write_bytes(cut)
        capsys.readouterr()
        assert convert("fashion_mnist", fashion, *options) == 0
        printed = capsys.readouterr()
        number = {first: 1, len(data) - first: 5, 0: 0}[len(cut)]
        assert f"{path} is made again: it has {number} of 6 records; t10k-images" in printed.err
        assert "60 images of 10 classes in 10 shards, 9 of them finished before" in printed.out
        assert contents(tmp_path / "records") == before


@pytest.mark.parametrize("lost", ["all", "bytes", "record"])
def test_a_full_disk_and_a_shard_that_reads_back_otherwise_leave_no_shard(
    refuse, fashion, tmp_path, monkeypatch, lost
):
    def spoil(descriptor):
        if lost == "all":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        path = pathlib.Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        data = path.read_bytes()
        # A record: 8 bytes of length, 4 of its checksum, the data, 4 of their checksum.
        first = 8 + 4 + int.from_bytes(data[:8], "little") + 4
        path.write_bytes(data[first:] if lost == "record" else data[:-5])

    monkeypatch.setattr(os, "fsync", spoil)
    message = "No space left on device" if lost == "all" else f"{SHARDS[0]} was not written well: "
    assert message in refuse("fashion_mnist", fashion, *OPTIONS, code=1)
    assert not [name for name in contents(tmp_path / "records") if "-of-" in name]


def test_a_full_disk_before_the_first_shard_is_named(refuse, fashion, monkeypatch):
    def fail(*arguments):
        raise tf.errors.ResourceExhaustedError(None, None, "train.json; No space left on device")

    monkeypatch.setattr(conversion, "claim", fail)
    assert "cannot write to" in refuse("fashion_mnist", fashion, *OPTIONS, code=1)


def test_more_shards_than_images_are_lowered_with_a_note(convert, fashion, capsys, examples):
    assert convert("fashion_mnist", fashion, "--split", "test", "--shards", "61") == 0
    printed = capsys.readouterr()
    assert "note: test has 60 images, so --shards 61 is lowered to 60\n" in printed.err
    assert "60 images of 10 classes in 60 shards;" in printed.out
    assert len(examples("test")) == 60


@pytest.mark.parametrize(
    "shard_bytes, name", [(10**9, "test-00000-of-00001"), (10_000, "test-00004-of-00005")]
)
def test_the_size_of_the_images_chooses_the_number_of_shards(
    convert, fashion, tmp_path, capsys, monkeypatch, shard_bytes, name
):
    # 60 images of 28 x 28 bytes are 47,040.
    monkeypatch.setattr(conversion, "_SHARD_BYTES", shard_bytes)
    assert convert("fashion_mnist", fashion, "--split", "test") == 0
    assert sorted(path.name for path in (tmp_path / "records").glob("test-*"))[-1] == name
    assert "note" not in capsys.readouterr().err


def test_few_large_images_have_a_shard_each(convert, fashion, capsys, monkeypatch):
    monkeypatch.setattr(conversion, "_SHARD_BYTES", 10)
    assert convert("fashion_mnist", fashion, "--split", "test") == 0
    printed = capsys.readouterr()
    assert "in 60 shards" in printed.out and "note" not in printed.err


def test_other_settings_are_refused(convert, refuse, fashion, tmp_path):
    words = ["fashion_mnist", fashion, "--split", "test", "--shards"]
    assert convert(*words, "2") == 0
    before = contents(tmp_path / "records")
    assert "made of something else: shards was 2, now 3" in refuse(*words, "3")
    assert "kind was fashion_mnist, now mnist" in refuse("mnist", *words[1:], "2")
    assert contents(tmp_path / "records") == before
    error = refuse("mnist", fashion, "--split", "validation")
    assert "labels.txt names other classes than these: 0:zero, 1:one" in error
    assert not list((tmp_path / "records").glob("validation-*"))
    settings = tmp_path / "records" / "test.conversion.json"
    settings.write_bytes(settings.read_bytes().replace(b'"source": "', b'"source": "0'))
    assert "the files of SOURCE have changed" in refuse(*words, "2")
    settings.write_text("{")
    assert "test.conversion.json is damaged" in refuse(*words, "2")
    settings.unlink()
    assert "but no test.conversion.json that says how" in refuse(*words, "2")


def test_two_conversions_do_not_write_to_one_folder(refuse, fashion, tmp_path):
    (tmp_path / "records").mkdir()
    descriptor = os.open(tmp_path / "records", os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        error = refuse("fashion_mnist", fashion, *OPTIONS)
    finally:
        os.close(descriptor)
    assert "another conversion is writing to" in error
    assert contents(tmp_path / "records") == {}


def test_an_interrupt_ends_the_other_shards_and_keeps_the_finished_ones(
    refuse, fashion, tmp_path, monkeypatch
):
    ending = threading.Event()
    advance, shutdown = Progress.advance, ThreadPoolExecutor.shutdown
    done = []

    def wait_in_the_second_shard(self):
        done.append(1)
        assert len(done) <= 6 or ending.wait(60)
        advance(self)

    def end(self, *arguments, **options):
        ending.set()
        shutdown(self, *arguments, **options)

    monkeypatch.setattr(Progress, "advance", wait_in_the_second_shard)
    monkeypatch.setattr(ThreadPoolExecutor, "shutdown", end)
    monkeypatch.setattr(Progress, "shard_done", mock.Mock(side_effect=KeyboardInterrupt))
    error = refuse("fashion_mnist", fashion, *OPTIONS, code=130)
    assert "the same command goes on from here" in error
    names = contents(tmp_path / "records")
    assert [name for name in names if "-of-" in name] == SHARDS[:1]
