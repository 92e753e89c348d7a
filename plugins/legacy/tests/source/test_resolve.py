import pytest


def used(names):
    return [name.replace("tensorflow.", "tf.", 1) for use in names.uses for name in use.names]


@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow as tf\ntf.contrib.slim.conv2d(x)",
        "import tensorflow\ntensorflow.contrib.slim.conv2d(x)",
        "import tensorflow.contrib.slim\ntensorflow.contrib.slim.conv2d(x)",
        "import tensorflow.contrib.slim as slim\nslim.conv2d(x)",
        "from tensorflow.contrib import slim\nslim.conv2d(x)",
        "from tensorflow.contrib.slim import conv2d as layer\nlayer(x)",
        "import tensorflow as tf\nslim = tf.contrib.slim\nslim.conv2d(x)",
        "import tensorflow as tf\ncontrib = tf.contrib\nslim = contrib.slim\nslim.conv2d(x)",
        "import tensorflow as tf\nslim = getattr(tf.contrib, 'slim')\nslim.conv2d(x)",
        "def f():\n  import tensorflow as tf\n  slim = tf.contrib.slim\n  return slim.conv2d(x)",
        "import tensorflow as tf\nclass A:\n  slim = tf.contrib.slim\n  y = slim.conv2d(x)",
        "from tensorflow.contrib import slim\ny = [slim.conv2d(x) for i in range(3)]",
        "from tensorflow.contrib import slim\nf = lambda x: slim.conv2d(x)",
        "from tensorflow.contrib import slim\nf = lambda x: slim.conv2d(x) if x else 1",
        "from tensorflow.contrib import slim\nf = lambda x: lambda y: slim.conv2d(x)",
        "from tensorflow.contrib import slim\n@slim.conv2d\ndef f(slim): pass",
    ],
)
def test_spellings_of_a_name(names, text):
    assert used(names(text)) == ["tf.contrib.slim.conv2d"]


@pytest.mark.parametrize(
    "text",
    [
        "from tensorflow.contrib import slim\ndef f(slim):\n  slim.conv2d(x)",
        "from tensorflow.contrib import slim\ndef f(*slim):\n  slim.conv2d(x)",
        "from tensorflow.contrib import slim\ndef f():\n  slim = []\n  slim.append(x)",
        "from tensorflow.contrib import slim\ndef f():\n  for i, slim in x:\n    slim.append(x)",
        "from tensorflow.contrib import slim\nf = lambda slim: slim.conv2d(x)",
        "from tensorflow.contrib import slim\ny = [slim.conv2d for slim in x]",
        "import tensorflow as tf\nclass A:\n  s = tf.contrib.slim\n  def f():\n    s.conv2d(x)",
        "from . import slim\nslim.conv2d(x)",
    ],
)
def test_names_of_the_program_itself(names, text):
    assert used(names(text)) == []


def test_names_that_other_files_import(names):
    text = (
        "from own import *\nfrom own import slim as s\nimport own\ntf.Session(slim.f, s.g, own.h)"
    )
    other = "import tensorflow as tf\nslim = tf.contrib.slim\nfrom main import *"
    found = names(text, own=other)
    assert used(found) == ["tf.Session", "tf.contrib.slim.f", "tf.contrib.slim.g"]
    assert sum(map(len, found.own.values())) == 3


def test_own_modules_win(names):
    text = "from deployment import model_deploy\nmodel_deploy.deploy()"
    assert used(names(text)) == ["deployment.model_deploy.deploy"]
    own = {"deployment/__init__": "", "deployment/model_deploy": ""}
    assert used(names(text, **own)) == []


def test_several_bindings(names):
    text = (
        "import tensorflow as tf\ntry:\n  from tensorflow.contrib import rnn\nexcept ImportError:\n"
        "  rnn = tf.nn.rnn_cell\ndef f():\n  return rnn.LSTMCell(8)"
    )
    found = names(text)
    assert used(found) == ["tf.contrib.rnn.LSTMCell", "tf.nn.rnn_cell.LSTMCell"]
    assert [binding.optional for binding in found.bindings] == [False, True, False]


def test_unbound_names(names):
    text = (
        "from six.moves import range\nimport six\nunicode\ndef f():\n  xrange(3)\n"
        "if six.PY2:\n  basestring\ntry:\n  long\nexcept NameError:\n  long = int\nprint(len)"
    )
    unbound = [(node.id, node.lineno) for node in names(text).unbound]
    assert unbound == [("unicode", 3), ("xrange", 5)]
