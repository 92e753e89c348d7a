"""Converts labelled pictures to TFRecords with slim's feature keys.

The input `image_tfrecord` of the classification plugin reads them, and so do programs for slim.

    python tools/convert_to_tfrecord.py folder photos/train records --split train --shards 8
    python tools/convert_to_tfrecord.py fashion_mnist downloads records
    python tools/convert_to_tfrecord.py cifar10 cifar-10-batches-bin records --split test

The same command continues a conversion that was stopped; see docs/data.md.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tf_frame.cli.screen import quiet_tensorflow, without_chatter
from tf_frame.errors import EXIT_INTERRUPTED, EXIT_OK, ConfigError, TfFrameError

if TYPE_CHECKING:
    from convert.pictures import Source
    from convert.run import Result

KINDS = {
    "folder": "a folder with a folder of images for each class (JPEG, PNG, BMP, GIF)",
    "mnist": "MNIST: idx files, gzipped or not",
    "fashion_mnist": "Fashion-MNIST: likewise, with other names of the classes",
    "cifar10": "CIFAR-10: the files *.bin of its binary version",
}
_PUBLISHED_SPLITS = ("train", "test", "validation")
_SPLIT_PATTERN = re.compile(r"[A-Za-z0-9_]+")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the program and returns its exit code."""
    arguments = _parser().parse_args(argv)
    try:
        _convert(arguments)
    except TfFrameError as error:
        print(f"convert_to_tfrecord: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print(
            "convert_to_tfrecord: stopped by Ctrl-C; the same command goes on from here",
            file=sys.stderr,
        )
        return EXIT_INTERRUPTED
    return EXIT_OK


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="convert_to_tfrecord",
        description=(__doc__ or "").partition("\n\n")[0],
        epilog="exit codes: 0 done, 1 a file cannot be written, 2 wrong option or data, 130 Ctrl-C",
    )
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="KIND")
    for kind, text in KINDS.items():
        _add_arguments(kinds.add_parser(kind, help=text, description=f"{text}."), kind)
    return parser


def _add_arguments(parser: argparse.ArgumentParser, kind: str) -> None:
    parser.add_argument("source", type=Path, metavar="SOURCE", help="folder to read")
    parser.add_argument("output", type=Path, metavar="OUTPUT", help="folder to write; it is made")
    parser.add_argument(
        "--split",
        default="train",
        choices=None if kind == "folder" else _PUBLISHED_SPLITS,
        help="first part of the names of the shards"
        + ("" if kind == "folder" else ", and which files are read; test and validation: the same")
        + " (default: train)",
    )
    parser.add_argument(
        "--shards", type=_positive, default=4, metavar="N", help="files to write (default: 4)"
    )
    parser.add_argument(
        "--workers",
        type=_positive,
        default=os.cpu_count() or 1,
        metavar="N",
        help="shards to write at the same time (default: one for each core)",
    )
    parser.add_argument(
        "--skip_corrupt",
        action="store_true",
        help="leave out and name images that cannot be decoded, instead of stopping",
    )
    if kind == "folder":
        parser.add_argument(
            "--seed", type=int, default=0, help="of the order of the images (default: 0)"
        )


def _positive(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is less than 1")
    return number


def _convert(arguments: argparse.Namespace) -> None:
    _check(arguments)
    started = time.monotonic()
    source = _read_source(arguments)
    quiet_tensorflow(None)
    with without_chatter(None):
        from convert.run import Conversion, convert
    conversion = Conversion(
        kind=arguments.kind,
        output=arguments.output,
        split=arguments.split,
        shards=arguments.shards,
        workers=arguments.workers,
        skip_corrupt=arguments.skip_corrupt,
        seed=getattr(arguments, "seed", None),
    )
    result = convert(source, conversion)
    print(_closing(arguments, source, result, time.monotonic() - started))


def _check(arguments: argparse.Namespace) -> None:
    if not _SPLIT_PATTERN.fullmatch(arguments.split):
        raise ConfigError(
            f"--split {arguments.split!r} cannot begin the name of a file: use letters, digits, _"
        )
    if arguments.output.resolve().is_relative_to(arguments.source.resolve()):
        raise ConfigError(
            f"OUTPUT {arguments.output} is within SOURCE {arguments.source}: a later run would "
            "read it; choose a folder beside it"
        )


def _read_source(arguments: argparse.Namespace) -> Source:
    from convert import cifar10, folder, mnist

    if arguments.kind == "folder":
        return folder.read_folder(arguments.source, seed=arguments.seed)
    if arguments.kind == "cifar10":
        return cifar10.read_cifar10(arguments.source, split=arguments.split)
    names = mnist.DIGITS if arguments.kind == "mnist" else mnist.FASHION
    return mnist.read_mnist(arguments.source, split=arguments.split, class_names=names)


def _closing(
    arguments: argparse.Namespace, source: Source, result: Result, duration_secs: float
) -> str:
    kept = f", {result.kept} of them finished before" if result.kept else ""
    skipped = f"; {len(result.skipped)} corrupt images left out" if result.skipped else ""
    return (
        f"{result.num_examples} images of {len(source.class_names)} classes in "
        f"{arguments.shards} shards{kept}{skipped}; "
        f"{duration_secs:.1f} s; written to {arguments.output}"
    )


if __name__ == "__main__":
    sys.exit(main())
