import os
import sys

import pytest

from tf_frame.errors import ConfigError
from tf_frame_legacy.source import convert, installed

pytest.importorskip("libcst")
TF = "import tensorflow.compat.v1 as tf\n"
SLIM = "from tf_frame_legacy import slim as legacy_slim\n"


@pytest.fixture(autouse=True)
def no_scipy(monkeypatch):
    """Hides SciPy, which some environments have: SciPy 1 still has an empty `scipy.misc`."""
    real = installed.is_installed
    monkeypatch.setattr(installed, "is_installed", lambda name: name != "scipy" and real(name))
    for function in (installed._file, installed._names):
        function.cache_clear()
    yield
    for function in (installed._file, installed._names):
        function.cache_clear()


@pytest.fixture
def converted(write, tmp_path):
    """Returns a function that converts `main.py`, twice, and returns the content."""

    def run(content, **others):
        text = content if isinstance(content, bytes) else content.encode()
        folder = write({"main.py": text, **{f"{path}.py": t for path, t in others.items()}})
        first, second = tmp_path / "first", tmp_path / "second"
        convert.convert(folder, str(first))
        assert convert.convert(str(first), str(second))[0] == 0
        new = (first / "main.py").read_bytes()
        assert (second / "main.py").read_bytes() == new
        return new if isinstance(content, bytes) else new.decode()

    return run


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("import tensorflow as tf\n", TF),
        ("import tensorflow\n", "import tensorflow.compat.v1 as tensorflow\n"),
        ("import tensorflow as tf, os\n", "import tensorflow.compat.v1 as tf, os\n"),
        ("from tensorflow import train\n", "from tensorflow.compat.v1 import train\n"),
        ("from tensorflow.app import flags\n", "from tensorflow.compat.v1 import flags\n"),
        (
            "import tensorflow as tf\n\n# Why.\ny = tf.contrib.slim.conv2d(  x, 8)  # here\n",
            f"{TF}{SLIM}\n# Why.\ny = legacy_slim.conv2d(  x, 8)  # here\n",
        ),
        (
            # Another class than the one that the module has without the underscore.
            "from tensorflow import estimator\nx = estimator._TPUEstimatorSpec\n",
            "from tf_frame_legacy import estimator\n"
            "from tf_frame_legacy.contrib import tpu as contrib_tpu\n"
            "x = contrib_tpu.TPUEstimatorSpec\n",
        ),
        (
            # A package that is not here binds nothing.
            "try:\n  from google3 import estimator as e\nexcept ImportError:\n"
            "  from tensorflow import estimator as e\ne._TPUEstimatorSpec(x)\n",
            "from tf_frame_legacy.contrib import tpu as contrib_tpu\n"
            "try:\n  from google3 import estimator as e\nexcept ImportError:\n"
            "  from tf_frame_legacy import estimator as e\ncontrib_tpu.TPUEstimatorSpec(x)\n",
        ),
        (
            "import tensorflow as tf\n\nslim = tf.contrib.slim  # short\ny = slim.conv2d(x)\n",
            f"{TF}\nfrom tf_frame_legacy import slim  # short\ny = slim.conv2d(x)\n",
        ),
        (
            "import tensorflow.contrib.slim as slim\nslim.conv2d(x)\n",
            "import tf_frame_legacy.slim as slim\nslim.conv2d(x)\n",
        ),
        (
            "import tensorflow.contrib.slim\ntensorflow.contrib.slim.conv2d(x)\n",
            f"import tensorflow.compat.v1 as tensorflow\n{SLIM}legacy_slim.conv2d(x)\n",
        ),
        (
            "import tf_slim as slim\nslim.conv2d(x)\n",
            "import tf_frame_legacy.slim as slim\nslim.conv2d(x)\n",
        ),
        (
            "from tensorflow.contrib.slim import (\n    conv2d,  # layer\n    dropout as d,\n)\n",
            "from tf_frame_legacy.slim import (\n    conv2d,  # layer\n    dropout as d,\n)\n",
        ),
        (
            "from tensorflow import layers, Session, name_scope\n",
            "from tf_frame_legacy import layers\nfrom tensorflow.compat.v1 import Session\n"
            "from tf_frame_legacy.slim.scopes import arg_scope as name_scope\n",
        ),
        (
            "import tensorflow as tf\nn = tf.contrib.data.AUTOTUNE\ndata = tf.contrib.data\n",
            f"{TF}n = tf.data.experimental.AUTOTUNE\ndata = tf.data.experimental\n",
        ),
        (
            "from tensorflow.contrib.data import AUTOTUNE\nn = AUTOTUNE\n",
            "from tensorflow.compat.v1.data.experimental import AUTOTUNE\nn = AUTOTUNE\n",
        ),
        (
            "import tensorflow as tf\np = tf.contrib.util.make_tensor_proto(x)\n",
            f"{TF}from tensorflow.python.framework import tensor_util\n"
            "p = tensor_util.make_tensor_proto(x)\n",
        ),
        (
            "import tensorflow as tf\nk = tf.estimator.ModeKeys.TRAIN\n",
            f"{TF}from tf_frame_legacy import estimator as legacy_estimator\n"
            "k = legacy_estimator.ModeKeys.TRAIN\n",
        ),
        (
            "import tensorflow as tf\n@tf.contrib.slim.arg_scope\ndef f(): pass\n",
            f"{TF}{SLIM}@legacy_slim.arg_scope\ndef f(): pass\n",
        ),
        (
            "import tensorflow as tf\nlegacy_slim = 3\ny = tf.contrib.slim.conv2d(x)\n",
            f"{TF}from tf_frame_legacy import slim as legacy_slim_\n"
            "legacy_slim = 3\ny = legacy_slim_.conv2d(x)\n",
        ),
        (
            "from tensorflow.contrib import slim\nimport tensorflow as tf\n"
            "def f(slim):\n  return tf.contrib.slim.conv2d(x)\n",
            "from tf_frame_legacy import slim\nfrom tf_frame_legacy import slim as legacy_slim\n"
            f"{TF}def f(slim):\n  return legacy_slim.conv2d(x)\n",
        ),
        (
            "import tensorflow as tf\ny = (tf.contrib.slim.conv2d)(é, tf.contrib.slim.conv2d)\n",
            f"{TF}{SLIM}y = (legacy_slim.conv2d)(é, legacy_slim.conv2d)\n",
        ),
        (
            '"""Text."""\nfrom __future__ import division\ndef f():\n  import tensorflow as tf\n'
            "  return tf.layers.dense(x, 'tf.layers.dense')\n",
            '"""Text."""\nfrom __future__ import division\n'
            "from tf_frame_legacy import layers as legacy_layers\ndef f():\n"
            "  import tensorflow.compat.v1 as tf\n"
            "  return legacy_layers.dense(x, 'tf.layers.dense')\n",
        ),
        (
            "from deployment import model_deploy\nmodel_deploy.deploy()\n",
            "from tf_frame_legacy import model_deploy\nmodel_deploy.deploy()\n",
        ),
        (
            "try:\n  import tf_slim as slim\nexcept ImportError:\n"
            "  from tensorflow.contrib import slim\nslim.conv2d(x)\n",
            "try:\n  import tf_frame_legacy.slim as slim\nexcept ImportError:\n"
            "  from tf_frame_legacy import slim\nslim.conv2d(x)\n",
        ),
        (  # Python 2: built-in names, modules, methods.
            "import Queue, cPickle\nq = Queue.Queue()\n"
            "x = isinstance(q, basestring), xrange(3), reduce(f, q)\n"
            "for k, v in d.iteritems(): pass\n",
            "import functools\nimport queue as Queue, pickle as cPickle\nq = Queue.Queue()\n"
            "x = isinstance(q, str), range(3), functools.reduce(f, q)\n"
            "for k, v in d.items(): pass\n",
        ),
        (
            "import six\nsix.iteritems(d), a.b(c).tostring(), next(d.iterkeys())\n",
            "from tf_frame_legacy.program.old_packages import sources as legacy_sources\n"
            "import six\nsix.iteritems(d), legacy_sources.attribute(a.b(c), "
            '"tostring")(), next(legacy_sources.attribute(d, "iterkeys")())\n',
        ),
        (
            "class A:\n  def iteritems(self): pass\nA().iteritems()\n",
            "from tf_frame_legacy.program.old_packages import sources as legacy_sources\n"
            "class A:\n  def iteritems(self): pass\n"
            'legacy_sources.attribute(A(), "iteritems")()\n',
        ),
        (  # The arguments of a function of py_func are arrays.
            "import tensorflow as tf\ndef f(n, x):\n  return x[: int(n), int(3)]\n"
            "tf.py_func(f, [1], tf.float32)\nint(n)\n",
            f"{TF}from tf_frame_legacy.program.old_packages import sources as legacy_sources\n"
            "def f(n, x):\n  return x[: legacy_sources.number(int, n), int(3)]\n"
            "tf.py_func(f, [1], tf.float32)\nint(n)\n",
        ),
        (  # A package that is not installed.
            "from scipy.sparse.linalg.eigen.arpack import eigsh\ny = eigsh(x)\n",
            "from scipy.sparse.linalg import eigsh\ny = eigsh(x)\n",
        ),
        (
            "import numpy as np\nimport scipy.misc\n"
            "x = np.int(np.float_(3)), scipy.misc.imread(f)\n",
            "from tf_frame_legacy.program.old_packages import pictures as legacy_pictures\n"
            "import numpy as np\n"
            "import tf_frame_legacy.program.old_packages.pictures as scipy\n"
            "x = int(np.float64(3)), legacy_pictures.imread(f)\n",
        ),
        (
            "from scipy import misc\nimport scipy.misc\nmisc.imread(f), scipy.io.loadmat(f)\n",
            "from tf_frame_legacy.program.old_packages import pictures as misc\n"
            "import scipy\nmisc.imread(f), scipy.io.loadmat(f)\n",
        ),
        (
            "for i in xrange(3):\n    x = isinstance(i, (long, unicode))\n",
            "for i in range(3):\n    x = isinstance(i, (int, str))\n",
        ),
        (
            "try:\n    xrange\nexcept NameError:\n    xrange = range\nxrange(3)\n",
            "try:\n    xrange\nexcept NameError:\n    xrange = range\nxrange(3)\n",
        ),
    ],
)
def test_changes(converted, old, new):
    # A function keeps the file from being a script.
    assert converted(old, importer="import main") == new


@pytest.mark.parametrize(
    "text",
    [
        "import numpy as np\nx = np.zeros(3)\n",
        "import scipy.sparse as sp\nfrom scipy import interpolate\nx = sp.eye(3)\n",
        "import tensorflow.compat.v1 as tf\nx = tf.Session()\n",
        "from tensorflow.keras import layers\nfrom tensorflow.python.ops import math_ops\n",
        "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\nif __name__ == '__main__':\n"
        "  tf.app.run()\n",
        "import tensorflow.compat.v1 as tf\ny = tf.contrib.tensorrt.create(x)\n",
    ],
)
def test_files_that_stay(converted, text):
    assert converted(text) == text


def test_scripts_restore_methods_of_packages(converted):
    text = (
        "import tensorflow as tf\nfrom PIL import ImageFont\n"
        "h = x.get_shape()[1] / 2\nsize = font.getsize('a')\n"
    )
    assert converted(f"{text}{GUARD}") == (
        f"{TF}{SWITCH}from tf_frame_legacy.program.old_packages import restore_methods\n"
        f'restore_methods("PIL", "tensorflow")\n'
        f"{text.partition(chr(10))[2]}{GUARD}"
    )


def test_results_of_attention_as_of_tensorflow_1_4(converted):
    rest = "  # a comment\n                   s, layer)\na, b, c = _compute_attention(m, x, s)\n"
    assert converted(f"import tensorflow as tf\na, b = _compute_attention(m, x,{rest}") == (
        f"{TF}from tf_frame_legacy.program.old_packages import sources as legacy_sources\n"
        f"a, b = legacy_sources.first_two(_compute_attention, m, x,{rest}"
    )


def test_lines_without_a_replacement_are_left(write, tmp_path):
    lines = ("import numpy as np", "cmp(1, 2)", "np.obj2sctype(x)", "xrange(2)")
    old = ("int(np.ones(1))", "print >> f, 1")
    folder = write({"main.py": "\n".join((*lines, *old))})
    left = convert.convert(folder, str(tmp_path / "new"))[2]
    assert [(line, text.partition(";")[0]) for _, line, text in left] == [
        (2, "Python 2's cmp"),
        (3, "numpy.obj2sctype is gone"),
        (5, "NumPy makes a number of an array without dimensions only"),
        (6, "Python 2's print >>"),
    ]


GUARD = "if __name__ == '__main__':\n  tf.app.run()\n"
SWITCH = "tf.disable_v2_behavior()\n"


def test_scripts_switch_to_tensorflow_1(converted):
    assert converted(f"import os\nimport tensorflow as tf\n{GUARD}") == (
        f"import os\n{TF}{SWITCH}{GUARD}"
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # The file of the program builds its graph as soon as it is imported.
        (
            "import own\nimport tensorflow as tf\nown.run()\n",
            f"{TF}{SWITCH}import own\n{TF}own.run()\n",
        ),
        (
            "# Licence\n\nimport own\nown.run()\n",
            f"# Licence\n\n{TF}{SWITCH}import own\nown.run()\n",
        ),
        ("import os\nos.getcwd()\n", "import os\nos.getcwd()\n"),
        (
            "from tensorflow.contrib import slim\nslim.conv2d(x)\n",
            f"from tf_frame_legacy import slim\n{TF}{SWITCH}slim.conv2d(x)\n",
        ),
    ],
)
def test_scripts_without_a_guard(converted, old, new):
    assert converted(old, own="import tensorflow as tf\ntf.placeholder(tf.float32)\n") == new


def test_bytes_stay(converted):
    old = b"\xef\xbb\xbfimport tensorflow as tf\r\n# \xc3\xa9\r\ny = tf.layers.dense(x)\r\n"
    assert converted(old, importer="import main") == (
        b"\xef\xbb\xbfimport tensorflow.compat.v1 as tf\r\n"
        b"from tf_frame_legacy import layers as legacy_layers\r\n"
        b"# \xc3\xa9\r\ny = legacy_layers.dense(x)\r\n"
    )


def test_encodings_stay(converted):
    old = b"# coding: latin-1\nimport tensorflow as tf\nx = '\xe9', tf.layers.dense(x)"
    new = converted(old, importer="import main")
    assert new.endswith(b"x = '\xe9', legacy_layers.dense(x)")


def test_report_and_other_files(write, tmp_path, capsys):
    folder = write(
        {
            "main.py": "import tensorflow as tf\ntf.contrib.tensorrt.create(x)\n",
            "lib/old.py": "print 'text'\n",
            "lib/data.bin": b"\0\1",
            "train.sh": "python main.py\n",
            ".git/config": "",
        }
    )
    os.chmod(f"{folder}/train.sh", 0o755)
    os.symlink("lib", f"{folder}/link")
    before = {p: p.read_bytes() for p in (tmp_path / "program").rglob("*") if p.is_file()}
    output = tmp_path / "new" / "place"
    assert convert.main([folder, "--output", str(output)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"wrote {output}: 1 files changed, 4 copied",
        "lines that stay as they are:",
        "  lib/old.py:1: Missing parentheses in call to 'print'. Did you mean print(...)?",
        "  main.py:2: tf.contrib.tensorrt.create: use the TensorRT of NVIDIA",
    ]
    assert (output / "lib" / "data.bin").read_bytes() == b"\0\1"
    assert (output / "lib" / "old.py").read_bytes() == b"print 'text'\n"
    assert os.access(output / "train.sh", os.X_OK)
    assert os.readlink(output / "link") == "lib"
    assert not (output / ".git").exists()
    assert [p.name for p in output.parent.iterdir()] == ["place"]
    assert before == {p: p.read_bytes() for p in before}


def test_refusals(write, tmp_path, monkeypatch):
    folder = write({"main.py": "import tensorflow as tf\n"})
    for words, message in [
        ([folder], "takes --output NEW"),
        ([folder, "--output", folder], "exists and is not empty"),
        ([folder, "--output", f"{folder}/new"], "is inside"),
        ([str(tmp_path / "no"), "--output", str(tmp_path / "new")], "there is no such folder"),
        ([folder, "--output", "/proc/new"], "cannot be written"),
        ([folder, "--outptu", "x"], "did you mean --output"),
    ]:
        with pytest.raises(ConfigError, match=message):
            convert.main(words)
    monkeypatch.setitem(sys.modules, "libcst", None)
    with pytest.raises(ConfigError, match=r"pip install 'tf-frame-legacy\[convert\]'"):
        convert.main([folder, "--output", str(tmp_path / "new")])
    assert not (tmp_path / "new").exists()
