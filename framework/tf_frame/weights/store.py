"""`cache_weights`: keeps the values of weights as a checkpoint in the cache of this user.

    ~/.cache/tf-frame/weights/mobilenet_v1_imagenet-3b90af536f81/
      checkpoint, and the files that it lists
      source.json          where the file came from, its size and hash

A folder there is complete, or does not exist. `TF_FRAME_WEIGHTS` names another cache.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.resources
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator

from tf_frame import file_system
from tf_frame.checkpoint.names import INDEX, checkpoint_path, checkpoint_prefix
from tf_frame.errors import DataError, PluginError, writing
from tf_frame.file_lock import LockHeldError, file_lock
from tf_frame.plugin.weights_contract import GRAPH, VALUES, Weights, WeightsFile
from tf_frame.text import listed, short, short_word
from tf_frame.weights.archive import ENDINGS, unpack
from tf_frame.weights.download import Remote, download, file_hash

CACHE = "TF_FRAME_WEIGHTS"
SOURCE = "source.json"
_LOCK_SECS = 0.5

Show = Callable[[int, int | None], None]


def cache_folder() -> str:
    """Returns the folder of the cache, which need not exist."""
    folder = os.environ.get(CACHE) or os.path.join(file_system.user_cache(), "weights")
    return os.path.abspath(os.path.expanduser(folder))


def cached_checkpoint(name: str, weights: Weights) -> str | None:
    """Returns the path prefix of the checkpoint of weights; None if they are not in the cache."""
    folder = _folder(name, weights.file())
    return checkpoint_path(folder, 0) if os.path.exists(folder) else None


def cache_weights(
    name: str,
    weights: Weights,
    *,
    show: Show = lambda received, size: None,
    report: Callable[[str], None] = lambda line: None,
    cache: str | None = None,
) -> str:
    """Fetches weights that are not in the cache; returns the path prefix of their checkpoint.

    Args:
      name: the name of the plugin.
      weights: the plugin.
      show: called with the numbers of bytes received, and of the download.
      report: takes a line for the user.
      cache: the folder of the cache; None: that of the user.

    Raises:
      DownloadError: the file cannot be downloaded, or is another one.
      DataError: the file is damaged, or not that of the network.
      ConfigError: the cache cannot be written.
      PluginError: the package lacks its file.
    """
    file = weights.file()
    folder = _folder(name, file, cache)

    def fill(to: str) -> None:
        _fill(to, folder, file, weights, show)
        if not (file.package or weights.verified):
            from tf_frame.weights.structure import check_structure

            check_structure(name, weights, checkpoint_path(to, 0))

    return _made(folder, name, report, fill)


def cache_file(path: str, *, report: Callable[[str], None] = lambda line: None) -> str:
    """Makes a checkpoint of a user's file of values; otherwise as `cache_weights`."""
    file = WeightsFile(sha256=file_hash(path))
    folder = _folder("file", file)
    fill = functools.partial(_write, path, file, os.path.abspath(path))
    return _made(folder, os.path.basename(path), report, fill)


def _made(
    folder: str, name: str, report: Callable[[str], None], fill: Callable[[str], None]
) -> str:
    """Returns the checkpoint in a folder of the cache, which `fill` makes if it is missing."""
    cache = os.path.dirname(folder)
    if not os.path.exists(folder):
        with writing(f"the cache of weights {short(cache)}", f"name another one by {CACHE}"):
            os.makedirs(cache, exist_ok=True)
            with _locked(f"{folder}.lock", name, report):
                if not os.path.exists(folder):
                    _make(folder, fill)
    return checkpoint_path(folder, 0)


def _make(folder: str, fill: Callable[[str], None]) -> None:
    staging = f"{folder}.partial"
    shutil.rmtree(staging, ignore_errors=True)
    os.mkdir(staging)
    try:
        fill(staging)
        os.rename(staging, folder)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _folder(name: str, file: WeightsFile, cache: str | None = None) -> str:
    """Returns the folder of the file in the cache: another file has another folder."""
    identity = file.sha256 or hashlib.sha256(repr(file).encode()).hexdigest()
    return os.path.join(cache or cache_folder(), f"{name.replace(':', '-')}-{identity[:12]}")


@contextlib.contextmanager
def _locked(path: str, name: str, report: Callable[[str], None]) -> Iterator[None]:
    """Waits for other processes that fetch the same weights."""
    said = False
    while True:
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(file_lock(path))
            except LockHeldError as error:
                if not said:
                    report(f"waiting for {error.holder}, which fetches {name} ...")
                said = True
                time.sleep(_LOCK_SECS)
                continue
            yield
            return


def _fill(to: str, folder: str, file: WeightsFile, weights: Weights, show: Show) -> None:
    """Writes the checkpoint of weights to a folder; a download is kept next to `folder`."""
    if file.package:
        with _packaged(file, weights) as path:
            place = f"package {file.package}: {file.path}"
            found = file_hash(path)
            if file.sha256 and found != file.sha256:
                raise DataError(
                    f"{short(place)} is damaged: its SHA-256 is {found}, not {file.sha256}; "
                    "install the package again"
                )
            _write(path, file, place, to)
        return
    ending = next((end for end in (*ENDINGS, *VALUES) if file.url.endswith(end)), "")
    path = f"{folder}.download{ending}"
    download(Remote(file.url, file.size, file.sha256), path, show=show)
    try:
        _write(path, file, file.url, to)
    finally:
        os.remove(path)


def _write(path: str, file: WeightsFile, place: str, folder: str) -> None:
    """Writes the checkpoint of a file, and where the file came from."""
    _convert(path, file, folder)
    source = {"from": place, "size": os.path.getsize(path), "sha256": file_hash(path)}
    with open(os.path.join(folder, SOURCE), "w", encoding="utf-8") as note:
        json.dump(source, note, indent=2)


@contextlib.contextmanager
def _packaged(file: WeightsFile, weights: Weights) -> Iterator[str]:
    """Yields the path of a file of a package."""
    try:
        resource = importlib.resources.files(file.package).joinpath(file.path)
        with importlib.resources.as_file(resource) as path:
            if not path.is_file():
                raise FileNotFoundError
            yield str(path)
    except (ModuleNotFoundError, FileNotFoundError):
        raise PluginError(
            f"{type(weights).__name__}: the package {short_word(file.package)} has no file "
            f"{short(file.path)}; install it again"
        ) from None


def _convert(path: str, file: WeightsFile, folder: str) -> None:
    """Makes a checkpoint of a file of values, or of an archive with a checkpoint or a graph."""
    # TensorFlow is imported here, because the listing of weights needs none.
    from tf_frame.checkpoint.rewrite.output import write_checkpoint
    from tf_frame.weights.values import read_values

    prefix = checkpoint_path(folder, 0)
    if path.endswith(VALUES):
        write_checkpoint(prefix, read_values(path))
        return
    unpacked = os.path.join(folder, "unpacked")
    os.mkdir(unpacked)
    member = _chosen(unpack(path, unpacked), file)
    if member.endswith(GRAPH):
        write_checkpoint(prefix, read_values(os.path.join(unpacked, member)))
    else:
        _copy_checkpoint(os.path.join(unpacked, member), prefix)
    shutil.rmtree(unpacked)


def _chosen(members: list[str], file: WeightsFile) -> str:
    """Returns the member of an archive with the values: a graph, or the prefix of a checkpoint."""
    prefixes = {checkpoint_prefix(m) for m in members if m.endswith(INDEX)}
    # Checkpoints of TensorFlow before 1.0 are one file.
    prefixes |= {member for member in members if member.endswith(".ckpt")}
    wanted = {file.path} & {*prefixes, *members} if file.path else prefixes
    if len(wanted) != 1:
        raise DataError(
            f"{short(file.url)} holds {listed(members)}, and not the one checkpoint that was "
            f"published{': ' + file.path if file.path else ''}"
        )
    return wanted.pop()


def _copy_checkpoint(source: str, prefix: str) -> None:
    from tf_frame.checkpoint.find.reader import Checkpoint
    from tf_frame.checkpoint.rewrite.output import write_checkpoint

    checkpoint = Checkpoint(source)
    write_checkpoint(
        prefix, ((name, checkpoint.dtype(name), checkpoint.read(name)) for name in checkpoint.names)
    )
