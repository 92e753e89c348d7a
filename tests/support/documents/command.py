"""The command `tf-frame` of a reader: the real one, with words that make a training short.

DOCUMENT_QUICK has them, by command, as JSON. `tensorboard` is ended when its address answers.
"""

import json
import os
import runpy
import signal
import subprocess
import sys
import urllib.request

_HELP = ("--help", "--help_all", "-h")


def quick(words: list[str], added: dict[str, str]) -> list[str]:
    """Returns the words of a command with those that are added; options are last, and count."""
    if not words or any(word in _HELP for word in words):
        return words
    key = "run" if words[0] == "run" or "run" in words[1:] and "--" in words else words[0]
    # `profile show` and others take no options of a run.
    plain = words[0] == "profile" and len(words) > 1 and not words[1].startswith("-")
    return words if plain else [*words, *added.get(key, "").split()]


def answering(words: list[str]) -> int:
    """Starts a server, reads the page at the address that it prints, and ends it by Ctrl-C."""
    command = [sys.executable, "-m", "tf_frame", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="")
            if "http://" in line:
                address = line[line.index("http://") :].split()[0]
                urllib.request.urlopen(address, timeout=20).close()
                process.send_signal(signal.SIGINT)
                return 0
    return process.returncode or 1


if __name__ == "__main__":
    del sys.path[0]
    words = quick(sys.argv[1:], json.loads(os.environ.get("DOCUMENT_QUICK", "{}")))
    if words[:1] == ["tensorboard"] and not set(words) & set(_HELP):
        sys.exit(answering(words))
    sys.argv[1:] = words
    runpy.run_module("tf_frame", run_name="__main__", alter_sys=True)
