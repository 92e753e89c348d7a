"""The command `tf-frame` of a reader: the real one, with words that make a training short.

DOCUMENT_QUICK has them, by command, as JSON. The process is forked by the test at DOCUMENT_BRIDGE,
which has imported TensorFlow already. `tensorboard` is ended when its address answers.
"""

import json
import os
import socket
import sys

_HELP = ("--help", "--help_all", "-h")


def quick(words: list[str], added: dict[str, str]) -> list[str]:
    """Returns the words of a command with those that are added; the last of two options counts.

    Options of a run are behind `--` of a command that starts runs, its own are before.
    """
    if not words or any(word in _HELP for word in words):
        return words
    # `profile show` and others take no options of a run.
    if words[0] == "profile" and len(words) > 1 and not words[1].startswith("-"):
        return words
    middle = words.index("--") if "--" in words else len(words)
    starts_runs = words[0] == "run" or words[middle + 1 : middle + 2] == ["run"]
    own = added.get(words[0], "").split() if words[0] != "run" else []
    run = added.get("run", "").split() if starts_runs else []
    return [*words[:middle], *own, *words[middle:], *run]


def forked(words: list[str]) -> int:
    """Has the test start the command with the streams of this process; returns its exit code."""
    request = {"words": words, "cwd": os.getcwd(), "environment": dict(os.environ)}
    message = json.dumps(request).encode()
    with socket.socket(socket.AF_UNIX) as bridge:
        bridge.connect(os.environ["DOCUMENT_BRIDGE"])
        socket.send_fds(bridge, [len(message).to_bytes(8, "big")], [0, 1, 2])
        bridge.sendall(message)
        code = int(bridge.recv(16) or b"1")
    return 128 - code if code < 0 else code


def answering(words: list[str]) -> int:
    """Starts a server, reads the page at the address that it prints, and ends it by Ctrl-C."""
    import signal
    import subprocess
    import urllib.request

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
    words = quick(sys.argv[1:], json.loads(os.environ.get("DOCUMENT_QUICK", "{}")))
    server = words[:1] == ["tensorboard"] and not set(words) & set(_HELP)
    sys.exit(answering(words) if server else forked(words))
