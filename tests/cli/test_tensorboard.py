"""`tf-frame tensorboard`, with a small server instead of TensorBoard, and once with it."""

import json
import os
import signal
import socket
import sys
import urllib.request

import pytest

from tf_frame.cli import tensorboard
from tf_frame.cli.doctor import packages, probe

# Answers with the plugins that its environment names, and then sends the parent Ctrl-C.
SERVER = """
import http.server, os, signal, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(os.environ["PLUGINS"].encode())
        self.wfile.flush()
        os.kill(os.getppid(), signal.SIGINT)
print("words", sys.argv[1:], flush=True)
flags = dict(zip(sys.argv[1::2], sys.argv[2::2]))
http.server.HTTPServer((flags["--host"], int(flags["--port"])), Handler).serve_forever()
"""


@pytest.fixture
def start(monkeypatch, run):
    """Runs the command with a program as TensorBoard; returns exit code, output and messages."""

    def start(*words, program=SERVER, plugins=("scalars", "profile")):
        monkeypatch.setattr(tensorboard, "PROGRAM", (sys.executable, "-S", "-c", program))
        monkeypatch.setenv("PLUGINS", json.dumps({name: {} for name in plugins}))
        return run(*words)

    return start


@pytest.fixture
def folder(tmp_path):
    """A folder with an event file and a profile."""
    folder = tmp_path / "run"
    (folder / "plugins/profile/1").mkdir(parents=True)
    (folder / "events.out.tfevents.1").touch()
    (folder / "plugins/profile/1/host.xplane.pb").touch()
    return folder


def test_the_address_is_printed_once_it_answers_and_ctrl_c_ends_it(start, folder):
    code, out, err = start(folder)
    assert (code, err) == (0, "")
    assert out.startswith(f"TensorBoard of {folder}: http://127.0.0.1:60")
    with pytest.raises(OSError):
        urllib.request.urlopen(out.split()[3])


def test_a_taken_port(start, folder):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        code, _, err = start(folder, "--port", port)
    assert code == 2
    assert f"--port {port} is taken on 127.0.0.1; give another one" in err


def test_the_next_free_port_is_taken(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        monkeypatch.setattr(tensorboard, "_FIRST_PORT", port)
        assert port < tensorboard.free_port("127.0.0.1", None) < port + 100


@pytest.mark.parametrize("host", ["192.0.2.1", "no-such-host.invalid"])
def test_an_address_of_another_machine(start, folder, host):
    code, _, err = start(folder, "--host", host)
    assert code == 2
    assert f"--host {host}: port 6006 cannot be used: " in err


def test_why_there_is_no_profile_tab(start, folder, monkeypatch):
    lines = [json.dumps({"begins": "profile_tab"}), json.dumps({"error": "VersionError: old"})]
    program = (sys.executable, "-S", "-c", f"print({chr(10).join(lines)!r})")
    monkeypatch.setattr(probe, "PROGRAM", program)
    monkeypatch.setattr(packages, "installed_version", lambda name: "2.24.2")
    code, out, err = start(folder, plugins=["scalars"])
    assert code == 0
    assert "http://127.0.0.1:" in out
    assert err.startswith("note: the Profile tab is missing in TensorBoard: VersionError: old; pip")


@pytest.mark.slow
def test_notes_on_a_missing_profile_and_on_other_machines(start, folder):
    _, out, err = start(folder, "--host", "0.0.0.0")
    assert "http://127.0.0.1:" in out
    assert "whoever reaches 0.0.0.0 can read these runs" in err
    (folder / "plugins/profile/1/host.xplane.pb").unlink()
    assert "there is no profile in it yet" in start(folder)[2]


def test_the_page_is_titled_by_model_and_run(folder):
    assert tensorboard._title([str(folder)]) == "run"
    (folder / "config.yaml").write_text("plugin: deeplab\n")
    assert tensorboard._title([str(folder), "gs://bucket/other/"]) == "deeplab run, other"


def test_several_folders_are_named_by_what_differs(tmp_path, start, folder):
    other_run = tmp_path / "all/other"
    other_run.mkdir(parents=True)
    (other_run / "events.out.tfevents.1").touch()
    words = tensorboard._data([str(folder), str(other_run)])
    assert words == ["--logdir_spec", f"run:{folder},all/other:{other_run}"]
    assert "the Profile tab shows the profiles of a single folder" in start(folder, other_run)[2]
    assert "has a comma" in start(folder, other_run.rename(tmp_path / "a,b"))[2]


def test_a_folder_without_events_and_a_machine_without_tensorboard(
    start, folder, monkeypatch, tmp_path
):
    (tmp_path / "empty").mkdir()
    code, _, err = start(tmp_path / "empty")
    assert code == 2
    assert f"{tmp_path}/empty has no event files" in err
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "tensorboard, which is not installed: pip install tensorboard" in start(folder)[2]


def test_a_server_that_ends_says_why(start, folder):
    code, out, err = start(folder, program="import sys; sys.exit('no such flag')")
    assert (code, out) == (1, "")
    assert err == "tf-frame: TensorBoard ended with exit code 1:\nno such flag\n"


def test_a_server_that_never_answers(start, folder, monkeypatch):
    monkeypatch.setattr(tensorboard, "_MAX_START_SECS", 0.0)
    code, _, err = start(folder, program="import signal; signal.pause()")
    assert code == 1
    assert "does not answer after 0 s" in err


@pytest.mark.slow
def test_the_real_tensorboard_has_the_profile_tab(folder):
    plugin_names = []

    def answered(url, plugins):
        plugin_names.extend(plugins)
        os.kill(os.getpid(), signal.SIGTERM)

    port = tensorboard.free_port("127.0.0.1", None)
    words = [*tensorboard.PROGRAM, "--logdir", str(folder)]
    tensorboard.serve(words, "127.0.0.1", port, answered)
    assert {"scalars", "profile"} <= set(plugin_names)
