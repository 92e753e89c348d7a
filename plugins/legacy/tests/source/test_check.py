import json
import subprocess
import sys
import sysconfig

import pytest

from tf_frame.errors import ConfigError
from tf_frame_legacy.program import importing
from tf_frame_legacy.source import check, traps
from tf_frame_legacy.source.old_packages import PYTHON_2_BUILTINS, RESTORED_BUILTINS

OLD = """import tensorflow as tf
from tensorflow.contrib import tensorrt
slim = tf.contrib.slim
x = slim.conv2d(tf.placeholder(tf.float32), 8, 3)
slim.dropout(slim.conv2d(x))
tensorrt.create(x)
tf.contrib.slim.unknown_name(x)
"""


def test_names_and_lines(findings):
    found = findings({"main.py": OLD, "lib/fine.py": "import tensorflow as tf\ntf.Session()"})
    places = {name.answer.name: list(map(str, name.places)) for name in found.names}
    assert places == {
        "tf.contrib.slim.conv2d": ["main.py:4", "main.py:5"],
        "tf.contrib.slim.dropout": ["main.py:5"],
        "tf.contrib.slim.unknown_name": ["main.py:7"],
        "tf.contrib.tensorrt.create": ["main.py:6"],
    }
    assert (found.files, found.uses, found.offered_uses, found.percent) == (2, 5, 3, 60.0)
    assert not found.runs
    assert found.verdict == (
        "runs but for names that are not offered: tf.contrib.slim.unknown_name, "
        "tf.contrib.tensorrt.create"
    )


def trap_lines(found):
    return {(trap.line, trap.category, trap.is_restored) for trap in found.traps}


def test_traps_of_python_and_packages(findings):
    lines = [
        ("import numpy as np, collections, time, yaml, inspect, os, sys", None),
        ("from PIL import Image", None),
        ("np.int(3), np.int32(3), np.bool_", (traps.NUMPY, True)),
        ("int(np.array([3])), int(np.sum(x)), float(3)", (traps.NUMPY, True)),
        ("int(np.searchsorted(t, np.random.rand(1) * s))", (traps.NUMPY, True)),
        ("int(np.searchsorted(t, np.random.rand() * s)), int(np.exp(x))", None),
        ("collections.Iterable, collections.OrderedDict", (traps.PYTHON, True)),
        ("time.clock()", (traps.PYTHON, True)),
        ("np.mat(x)", (traps.NUMPY, True)),
        ("np.load(f), np.cast(x)", (traps.NUMPY, False)),
        ("yaml.load(open(f))", (traps.OLD_PACKAGE, True)),
        ("yaml.load(f, Loader=yaml.Loader), yaml.load(f, yaml.Loader)", None),
        ("image.resize(size, Image.ANTIALIAS)", (traps.OLD_PACKAGE, True)),
        ("for i in xrange(3): pass", (traps.PYTHON, True)),
        ("reload(os)", (traps.PYTHON, False)),
        ("for k, v in d.iteritems(): pass", (traps.PYTHON, True)),
        ("image.tostring()", (traps.NUMPY, True)),
        ("print >>sys.stderr, 'text'", (traps.PYTHON, True)),
        ("import cPickle", (traps.PYTHON, True)),
        ("import Queue", (traps.PYTHON, True)),
        ("import urllib; urllib.urlopen('x')", (traps.PYTHON, True)),
        ("from itertools import izip; izip(x)", (traps.PYTHON, True)),
        ("from itertools import imap, chain", (traps.PYTHON, True)),
        ("table.ix[0, 1]", (traps.OLD_PACKAGE, True)),
        ("table.as_matrix()", (traps.OLD_PACKAGE, True)),
        ("from scipy.misc import imread; imread(f)", (traps.OLD_PACKAGE, True)),
        ("import tensorflow as tf; tf.load_op_library('op.so')", (traps.EXTENSION, False)),
        ("os.getcwdu()", (traps.PYTHON, False)),
        ("from matplotlib import cm, pyplot as plt; cm.get_cmap('jet')", (traps.OLD_PACKAGE, True)),
        ("plt.cm.get_cmap('jet'), plt.get_cmap('jet')", (traps.OLD_PACKAGE, True)),
        ("import keras.backend as K", (traps.OLD_PACKAGE, True)),
        ("def g(): yield 1; raise StopIteration()", (traps.PYTHON, True)),
        ("def __next__(self): raise StopIteration()", None),
    ]
    found = findings({"main.py": "\n".join(line for line, _ in lines)})
    expected = {(number, *trap) for number, (_, trap) in enumerate(lines, 1) if trap}
    assert trap_lines(found) == expected
    assert [p.module for p in found.packages] == ["keras", "matplotlib", "numpy", "PIL", "yaml"]


def test_names_of_keras_that_only_the_package_has(findings, monkeypatch):
    text = """import tensorflow as tf
from tensorflow.keras import layers
tf.keras.layers.Dense(1), layers.BatchNormalization(), tf.keras.optimizers.Adam(), tf.keras.Model
tf.keras.utils.to_categorical(y), tf.keras.preprocessing.image.load_img(f), tf.keras.backend.mean(x)
tf.keras.models.Sequential([]).fit, tf.keras.layers.Dense.build, tf.keras.callbacks.ModelCheckpoint
layers.TimeDistributed(layer)
tf.keras.applications.VGG16()
"""
    is_there, there = traps.installed.is_installed, False
    monkeypatch.setattr(
        traps.installed, "is_installed", lambda p: there if p == "tf_keras" else is_there(p)
    )
    found = findings({"main.py": f"{text}tf.keras.layers.AbstractRNNCell"})  # Keras 3 lacks it.
    assert sorted(trap.line for trap in found.traps) == [6, 7]
    assert not found.names
    there = True
    assert not findings({"main.py": text}).traps


def test_modules_that_are_built_for_this_python_are_no_traps(findings):
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    found = findings({"boxes.pyx": "", f"boxes{suffix}": b"", "nms.pyx": "", "old.so": b""})
    assert sorted(trap.path for trap in found.traps) == ["nms.pyx", "old.so"]


def test_lines_that_the_program_can_do_without_are_no_traps(findings):
    text = "try:\n  import cPickle as pickle\nexcept ImportError:\n  import pickle\n"
    found = findings({"main.py": text + "try:\n  import torch\nexcept Exception:\n  pass"})
    assert not found.traps
    assert not found.packages
    assert found.runs
    assert found.verdict == "runs"


def test_missing_names_that_the_program_catches_do_not_count(findings):
    text = """import tensorflow as tf
try:
  y = tf.nn.conv2d_transpose(x)
except (AttributeError, TypeError):
  y = tf.nn.deconv2d(x)
"""
    found = findings({"main.py": text})
    assert (found.verdict, found.percent) == ("runs", 100.0)
    text = text.replace("(AttributeError, TypeError)", "Exception")
    assert findings({"main.py": text}).verdict.endswith("not offered: tf.nn.deconv2d")


def test_files_that_cannot_be_read(findings):
    found = findings(
        {
            "old.py": "x = 1\nprint 'text'",
            "wrong.py": "x = (",
            "latin.py": b"name = '\xe9'",
            "named.py": b"# -*- coding: latin-1 -*-\nname = '\xe9'",
            "op.cc": 'REGISTER_OP("Crop")',
            "other.cc": "int main() {}",
            "kernel.cu": "",
            "nms.pyx": "",
            ".hidden/old.py": "print 'text'",
        }
    )
    text = {trap.path: trap.text for trap in found.traps}
    assert text.pop("old.py").startswith("Python 2 (Missing parentheses in call to 'print'")
    assert "never closed" in text.pop("wrong.py")
    assert "UTF-8" in text.pop("latin.py")
    assert sorted(text) == ["kernel.cu", "nms.pyx", "op.cc"]
    assert found.files == 4


def test_packages(findings):
    found = findings(
        {
            "main.py": "import cv2, os, absent_package\nfrom lib import tool\nimport lib.tool\n"
            "import deployment.model_deploy\nimport tensorflow.contrib.slim\nimport lib.compiled",
            "lib/tool.py": "from . import other",
        }
    )
    rows = {(p.module, p.pip) for p in found.packages}
    assert rows == {("cv2", "opencv-python-headless"), ("absent_package", "")}
    assert "absent_package" in found.verdict


def test_text_and_json(write, capsys):
    folder = write({"main.py": OLD + "import numpy as np\nnp.int\n"})
    assert check.main([folder]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "  tf.contrib.tensorrt.create: use the TensorRT of NVIDIA" in lines
    assert "    main.py:6" in lines
    assert "  tf.contrib.slim.conv2d: 2, main.py:4, main.py:5" in lines
    assert "  main.py:9: numpy.int is gone; use int, or run with --with_old_packages" in lines
    assert lines[-2].endswith("removed: 5, of 4 names; offered 3, 60.00 %")
    assert lines[-1].startswith("verdict: runs with --with_old_packages but for names")
    assert check.main([folder, "--json"]) == 1
    result = json.loads(capsys.readouterr().out)
    assert (result["uses"], result["percent_offered"], result["runs"]) == (5, 60.0, False)
    assert result["names"][0] == {
        "name": "tf.contrib.slim.conv2d",
        "state": "offered",
        "target": "tf_frame_legacy.slim.conv2d",
        "kind": "ours",
        "note": "",
        "uses": [{"path": "main.py", "line": 4}, {"path": "main.py", "line": 5}],
    }
    assert result["traps"][0]["is_restored"]
    assert result["packages"][0]["module"] == "numpy"


def test_names_of_tensorflow_2(write, capsys):
    text = "import tensorflow as tf\ntf.random.set_seed(1)\ntf.absent\n"
    assert check.main([write({"main.py": text})]) == 1
    out = capsys.readouterr().out
    assert "tf.random.set_seed: a name of TensorFlow 2, which TensorFlow 1.15 does not have" in out
    assert "tf.absent: TensorFlow 2 and the table of names have no such name" in out
    assert "removed: 1, of 1 names; offered 0" in out


def test_exit_codes_and_wrong_words(write, capsys):
    assert check.main([write({"main.py": "import tensorflow as tf\ntf.Session()"})]) == 0
    assert check.main(["--help"]) == 0
    assert "usage: tf-frame legacy check DIR" in capsys.readouterr().out
    for words, message in [
        (["no/such/folder"], "there is no such folder"),
        (["a", "b"], "takes one folder"),
        (["a", "--jsn"], "did you mean --json"),
    ]:
        with pytest.raises(ConfigError, match=message):
            check.main(words)


def test_no_import_of_tensorflow(write):
    code = (
        "import sys; from tf_frame_legacy.source import check; "
        f"check.main([{write({'main.py': OLD})!r}]); print('tensorflow' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "False", done.stderr


def test_builtins_that_the_switch_restores():
    assert set(RESTORED_BUILTINS) == set(importing._PYTHON_2)
    assert set(RESTORED_BUILTINS) < set(PYTHON_2_BUILTINS)
