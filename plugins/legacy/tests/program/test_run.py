"""`tf-frame legacy run`: words, modules, exit codes, errors."""

import pytest
import tensorflow

import forked

_LOGGING = """
import tensorflow as tf

def main(_):
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.logging.info("step 1")

tf.app.run()
"""


def test_a_script_gets_its_words_and_its_folder(programs):
    programs.write("NAME = 'beside'", "scripts/beside.py")
    script = programs.write(
        "import sys, beside\nprint(sys.argv[1:], __name__, beside.NAME)\n"
        "print(sys.modules['__main__'].beside is beside)",
        "scripts/train.py",
    )
    assert programs.run(script, "--steps=3", "-m", "x") == [
        "['--steps=3', '-m', 'x'] __main__ beside",
        "True",
    ]
    assert programs.code == 0


def test_a_module_runs_in_its_package(programs):
    programs.write("", "pack/__init__.py")
    programs.write("VALUE = 5", "pack/part.py")
    programs.write("import sys\nfrom . import part\nprint(part.VALUE, sys.argv[1:])", "pack/go.py")
    assert programs.run("-m", "pack.go", "--flag", "1") == ["5 ['--flag', '1']"]
    programs.write("print('main of', __package__)", "pack/__main__.py")
    assert programs.run("-m", "pack") == ["main of pack"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["missing.py"], "no script 'missing.py'"),
        (["-m", "missing.module"], "no module 'missing.module'"),
        (["-m"], "takes SCRIPT, or -m MODULE"),
        (["--with_old_package", "x.py"], "did you mean --with_old_packages?"),
    ],
)
def test_wrong_words_are_refused_in_one_line(programs, words, message):
    programs.run(*words)
    assert programs.code == 2
    assert message in programs.errors
    assert programs.errors.count("\n") == 1


def test_a_package_of_the_program_that_is_installed_is_the_program_too(programs, monkeypatch):
    monkeypatch.syspath_prepend(str(programs.folder / "site-packages"))
    seen = "import tensorflow as tf\nseen = tf.__version__"
    for name in ("own_package", "other_package"):
        programs.write("", f"site-packages/{name}/__init__.py")
        programs.write(seen, f"site-packages/{name}/model.py")
    programs.write("", "repository/setup.py")
    programs.write("", "repository/own_package/__init__.py")
    script = programs.write(
        "from own_package import model\nfrom other_package import model as other\n"
        "print(model.seen, other.seen)",
        "repository/own_package/train.py",
    )
    assert programs.run(script) == [f"1.15.5 {tensorflow.__version__}"]


def test_the_exit_code_of_the_program_is_that_of_the_command(programs):
    programs.run_text("import sys; sys.exit(7)")
    assert programs.code == 7


def test_an_error_of_the_program_has_its_own_traceback_only(programs):
    programs.write("def fail():\n    raise ValueError('wrong')", "part.py")
    programs.run_text("import part\n\npart.fail()")
    assert programs.code == 1
    lines = programs.errors.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-1] == "ValueError: wrong"
    assert [line.split('"')[1].rpartition("/")[2] for line in lines if " File " in line] == [
        "train.py",
        "part.py",
    ]


def test_code_of_python_2_is_named_with_its_line(programs):
    programs.write("x = 1\nprint x", "old.py")
    programs.run_text("import old")
    assert "old.py:2: Missing parentheses" in programs.errors
    assert programs.errors.count("\n") == 1


def test_threads_of_the_program_end_before_the_command(programs):
    programs.write("import tensorflow as tf\nVERSION = tf.__version__", "late.py")
    lines = programs.run_text(
        """
import threading
started = threading.Event()
def work():
    started.wait()
    import late
    print(late.VERSION)
threading.Thread(target=work).start()
threading.Timer(0.05, started.set).start()
"""
    )
    assert lines == ["1.15.5"]


def test_modules_in_cython_are_named_with_their_line(programs):
    programs.write("", "lib/__init__.py")
    programs.write("", "lib/boxes.pyx")
    for text in ("\nimport lib.boxes", "from lib import other\nimport lib.boxes as b"):
        programs.write("", "lib/other.py")
        programs.run_text(text)
        assert "train.py:2: " in programs.errors
        assert "lib/boxes.pyx is a module in Cython; build it: " in programs.errors
        assert "Traceback" not in programs.errors


@pytest.mark.process
@pytest.mark.timeout(60)
def test_a_line_of_the_log_is_printed_once(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(_LOGGING)
    words = [*forked.TF_FRAME, "legacy", "run", str(script)]
    log = forked.run(words, capture_output=True, text=True, check=True).stderr
    assert [line for line in log.splitlines() if "step 1" in line] == ["INFO:tensorflow:step 1"]
