"""Runs old programs in one process, each in a graph of its own: `PATH FOLDER [PATH FOLDER ...]`.

With `--plain` first, they run as `python` would run them, for converted programs; another option is
one of `tf-frame legacy run`. Prints, as JSON, the lines of each, by its name.
"""

import contextlib
import io
import json
import os
import runpy
import sys

import tensorflow.compat.v1 as tf
from absl import flags

from tf_frame_legacy.cli import run


def run_program(path, folder, options):
    """Runs a program; returns its lines."""
    names = set(flags.FLAGS)
    out = io.StringIO()
    with tf.Graph().as_default(), contextlib.redirect_stdout(out):
        try:
            if options == ["--plain"]:
                sys.argv = [path, folder]
                runpy.run_path(path, run_name="__main__")
            elif code := run.main([*options, path, folder]):
                raise SystemExit(code)
        except SystemExit as error:
            if error.code:
                raise
    # The next program defines its flags anew.
    flags.FLAGS.unparse_flags()
    for name in set(flags.FLAGS) - names:
        delattr(flags.FLAGS, name)
    return out.getvalue().splitlines()


def main(options, words):
    results = {}
    for path, folder in zip(words[::2], words[1::2], strict=True):
        results[os.path.basename(path)] = run_program(path, folder, options)
    print(json.dumps(results))


if __name__ == "__main__":
    words = sys.argv[1:]
    options = [word for word in words if word.startswith("--")]
    main(options, words[len(options) :])
