"""`--with_old_packages` gives a program the old versions of other packages, and of Python."""

import sys

import pytest
import tensorflow.compat.v1 as tf


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("import numpy as np\nprint(np.int(3.7), np.asscalar(np.ones(1)))", "3 1.0"),
        ("from collections import Iterable\nprint(isinstance([], Iterable))", "True"),
        ("import collections\nprint(issubclass(dict, collections.Mapping))", "True"),
        ("import time\nprint(time.clock() > 0)", "True"),
        ("import yaml\nprint(yaml.load('a: 1'))", "{'a': 1}"),
        ("from PIL import Image\nprint(Image.ANTIALIAS == Image.LANCZOS)", "True"),
        ("import numpy as np\nprint(np.array([[1], [2, 3]]).shape)", "(2,)"),
        ("import inspect\nprint(inspect.getargspec(lambda a, b=1: 0)[0])", "['a', 'b']"),
    ],
)
def test_old_packages_need_a_switch(programs, text, printed):
    assert programs.run_text(text, "--with_old_packages") == [printed]
    programs.run_text(text)
    assert programs.code == 1
    assert "; --with_old_packages gives the program the old one" in programs.errors
    assert programs.errors.startswith("tf-frame: ")


def test_old_images_of_scipy(programs):
    assert programs.run_text(
        """
import numpy as np
import scipy.misc
from scipy.misc import imread, imresize
image = np.arange(48, dtype=np.float32).reshape(4, 4, 3)
scipy.misc.imsave("image.png", image)
back = imread("image.png")
print(back.shape, back.dtype, back.min(), back.max())
print(imresize(back, (2, 8)).shape, imresize(back, 50).shape, imresize(back, 2.0).shape)
print(imread("image.png", flatten=True).dtype)
""",
        "--with_old_packages",
    ) == ["(4, 4, 3) uint8 0 255", "(2, 8, 3) (2, 2, 3) (8, 8, 3)", "float32"]


def test_old_sizes_of_texts(programs):
    lines = programs.run_text(
        """
from PIL import Image, ImageDraw, ImageFont
font = ImageFont.load_default()
image = Image.new("L", (40, 20))
drawing = ImageDraw.Draw(image)
drawing.text((0, 0), "Ab", 255, font)
_, _, right, bottom = image.getbbox()
for width, height in (font.getsize("Ab"), drawing.textsize("Ab", font)):
    print(abs(width - right) <= 1, abs(height - bottom) <= 1)
""",
        "--with_old_packages",
    )
    assert lines == ["True True"] * 2


_PLOT = """
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
figure = plt.figure()
figure.add_subplot('111')
figure.canvas.draw()
print(len(figure.canvas.tostring_rgb()) == 640 * 480 * 3)
"""


_COLOURS = """
import matplotlib
matplotlib.use("Agg", warn=False)
import matplotlib.pyplot as plt
plt.style.use("seaborn-whitegrid")
space = plt.figure().gca(projection="3d")
plt.figure().canvas.set_window_title("plot")
plt.hold(True)
density, _, _ = plt.hist([1, 2, 3, 3], bins=2, normed=True)
print((space.name, plt.gca().name, density.tolist()) == ("3d", "rectilinear", [0.25, 0.75])
      and plt.cm.get_cmap("jet", 10).N == 10)
"""


_SETTINGS = """
from easydict import EasyDict
settings = EasyDict({"sizes": (1, 2), "train": {"steps": (3,)}})
settings.names = ("a", {"b": 1})
print(settings == {"sizes": [1, 2], "train": {"steps": [3]}, "names": ["a", {"b": 1}]}
      and settings.names[1].b == 1)
"""


_STORED = """
import h5py
with h5py.File("new.h5") as file:
    file["data"] = [1, 2]
with h5py.File("new.h5", "r") as file:
    print(file.mode == "r" and file["data"].value.tolist() == [1, 2])
"""


_KERAS = """
import keras
from keras import backend as K
from keras.backend.tensorflow_backend import set_session
from keras.engine.topology import InputSpec, Layer
from keras.layers import BatchNormalization, Dense
from keras.layers.core import Dropout
from keras.layers.normalization import BatchNormalization as named
from keras.models import Sequential
from keras.utils import np_utils
import tensorflow as tf
model = Sequential([Dense(2, input_shape=(3,)), Dropout(0.5)])
print(keras.__version__.startswith("2.") and isinstance(model.output, tf.Tensor)
      and named is BatchNormalization is tf.keras.layers.BatchNormalization
      and issubclass(Dense, Layer) and K.floatx() == "float32"
      and np_utils.to_categorical([1], 2).tolist() == [[0, 1]])
"""


_SOUND = """
import numpy as np
import librosa
import librosa.filters
from librosa.util import fix_length
wave = np.sin(np.arange(4000, dtype=np.float32))
librosa.output.write_wav("wave.wav", wave, 8000)
spectrum = np.abs(librosa.stft(wave, 512, 128))
mel = librosa.filters.mel(8000, 512, n_mels=40)
print((librosa.core.load("wave.wav", 4000)[0].shape, spectrum.shape[0], mel.shape)
      == ((2000,), 257, (40, 257)) and fix_length(wave, 20).shape == (20,)
      and librosa.feature.rmse(wave).shape == (1, 8)
      and librosa.logamplitude(np.ones(2)).tolist() == [0, 0])
"""


_DRAWING = """
import cv2
import numpy as np
image = np.zeros((9, 9), np.uint8)
cv2.rectangle(image, (1.5, np.float32(2)), (np.float64(3), 4), 255.0, -1)
corners = cv2.boxPoints(((np.int64(4), np.int32(4)), (np.int64(2), 6), np.int64(0)))
print(image.sum() == 9 * 255 and sorted(corners.tolist())[0] == [3, 1])
"""


_CURVE = """
from scipy import interpolate
curve = interpolate.interp1d([0, 0, 0.5, 1, 1], [4, 3, 2, 1, 0], kind='slinear')
print(curve([0.25, 0.75]).tolist() == [2.5, 1.5])
"""


_TABLE = """
import pandas as pd
table = pd.DataFrame([[1., 2.], [3., 4.]], index=["a", "b"], columns=["left", "right"])
table.ix["a", "left"] += 4
table.ix[1, "right"] = 6
print([table.ix["a", :].tolist(), table.ix[0].tolist(), table.ix[:, 1].tolist()])
numbers = pd.DataFrame([[1], [2]], index=[5, 7], columns=["x"])
print([numbers.ix[7, "x"].tolist(), numbers.ix[[5, 7], 0].tolist()])
row = pd.Series([0.] * 2, index=table.columns, name="c")
grown = table.append(row).append({"left": 8., "right": 9.}, ignore_index=True)
print([grown.as_matrix(["right"]).ravel().tolist(), grown.dtypes.unique().tolist()])
print([list(table.append(table).index), table["left"].append(table["right"]).tolist()])
print(table.set_value("a", "right", 0).get_value("a", "right"), len(list(table.iteritems())))
table.sort(["left"], ascending=False, inplace=True)
print([list(table.index), table.sort("right").right.tolist(), list(table.sort().index)])
print(pd.np.__name__)
"""


_TABLE_LINES = [
    "[[5.0, 2.0], [5.0, 2.0], [2.0, 6.0]]",
    "[2, [1, 2]]",
    "[[2.0, 6.0, 0.0, 9.0], [dtype('float64')]]",
    "[['a', 'b', 'a', 'b'], [5.0, 3.0, 2.0, 6.0]]",
    "0.0 2",
    "[['a', 'b'], [0.0, 6.0], ['a', 'b']]",
    "numpy",
]


_NETWORK = """
import networkx as nx
graph = nx.from_numpy_matrix(nx.to_numpy_matrix(nx.path_graph(3)))
graph.node[1]["kind"] = "middle"
graph.add_node(3)
print(sorted(graph.nodes_iter()), len(list(graph.edges_iter())), graph.node[1])
print([sorted(part) for part in nx.connected_component_subgraphs(graph)])
"""


_NETWORK_LINES = ["[0, 1, 2, 3] 2 {'kind': 'middle'}", "[[0, 1, 2], [3]]"]


_LEARNER = """
import numpy as np
from sklearn import cross_validation, metrics
from sklearn.cross_validation import train_test_split, KFold
from sklearn.externals import joblib
from sklearn.grid_search import GridSearchCV
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder, StandardScaler
scorer = metrics.make_scorer(metrics.log_loss, greater_is_better=False, needs_proba=True)
x, y = np.arange(12.).reshape(12, 1), np.arange(12) > 5
model = LogisticRegression().fit(x, y)
print(-1 < scorer(model, x, y) < 0, OneHotEncoder(sparse=False).fit_transform(x).shape)
print(len(KFold(12, 4)), [test.tolist() for _, test in KFold(4, n_folds=2)])
folds = cross_validation.StratifiedKFold(y, n_folds=2)
print(cross_validation.cross_val_score(model, x, y, cv=folds).shape, len(train_test_split(x, y)))
from sklearn.manifold import TSNE
print(TSNE(n_components=2, n_iter=300, perplexity=3).max_iter)
joblib.dump(3, "number")
print(joblib.load("number"), metrics.roc_auc_score(y, x))
"""


_LEARNER_LINES = ["True (12, 12)", "4 [[0, 1], [2, 3]]", "(2,) 4", "300", "3 1.0"]


_PYTHON_2 = """
import cPickle as pickle, ConfigParser, urllib, urllib2, itertools, string, sys
import Queue
from itertools import izip
from StringIO import StringIO
from cStringIO import StringIO as Fast
from HTMLParser import HTMLParser
print(pickle.loads(pickle.dumps([2])), ConfigParser.ConfigParser.__name__, Queue.Queue().empty())
print(urllib.quote("a b"), urllib.parse.quote("a b"), urllib2.Request("http://a").host)
print(list(izip("ab", [1, 2])), list(itertools.islice(itertools.count(), 2)))
print(StringIO("text").read(), Fast(b"bytes").read(), string.letters[:2], string.join(["a", "b"]))
print >> sys.stdout, "to", "a file"
"""


_PYTHON_2_LINES = [
    "[2] ConfigParser True",
    "a%20b a%20b a",
    "[('a', 1), ('b', 2)] [0, 1]",
    "text b'bytes' ab a b",
    "to a file",
]


_TEXT = "from PIL import ImageFont\nprint(ImageFont.load_default().getsize('word')[0] > 5)"


@pytest.mark.parametrize(
    ("package", "text"),
    [
        ("matplotlib", _PLOT),
        ("matplotlib", _COLOURS),
        ("PIL", _TEXT),
        ("cv2", _DRAWING),
        ("scipy", _CURVE),
        ("easydict", _SETTINGS),
        ("h5py", _STORED),
        ("keras", _KERAS),
        ("librosa", _SOUND),
    ],
)
def test_old_methods_need_a_switch(programs, package, text):
    pytest.importorskip(package)
    assert programs.run_text(text, "--with_old_packages") == ["True"]


@pytest.mark.parametrize(
    ("package", "text", "lines"),
    [
        ("pandas", _TABLE, _TABLE_LINES),
        ("networkx", _NETWORK, _NETWORK_LINES),
        ("sklearn", _LEARNER, _LEARNER_LINES),
        ("sys", _PYTHON_2, _PYTHON_2_LINES),
    ],
)
def test_names_that_packages_and_python_have_dropped(programs, package, text, lines):
    pytest.importorskip(package)
    assert programs.run_text(text, "--with_old_packages") == lines


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import cPickle", "cPickle is gone"),
        ("import Queue", "Python 3 has no module Queue"),
        ("import urllib; urllib.urlopen", "urllib.urlopen is gone"),
        ("from itertools import izip", "itertools.izip is gone"),
    ],
)
def test_names_that_the_switch_gives_back_say_so(programs, text, reason):
    programs.run_text(text)
    assert f"train.py:1: {reason}; --with_old_packages" in programs.errors


def test_an_old_package_that_is_not_installed_is_missing(programs, monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    lines = programs.run_text(
        "try:\n  import networkx\nexcept ModuleNotFoundError as error:\n  print(error.name)",
        "--with_old_packages",
    )
    assert lines == ["networkx"]


_EXPRESSIONS = {
    "np.arange(3, dtype=np.uint8).tostring()": "b'\\x00\\x01\\x02'",
    "list({'a': 1}.iteritems()) + list({2: 3}.itervalues())": "[('a', 1), 3]",
    "{'a': 1}.has_key('b'), six.iteritems": "(False, 'of six')",
    "int(np.ones((1, 1))), np.float(np.ones(1))": "(1, 1.0)",
    "int('12'), int('c', 16), float(2)": "(12, 12, 2.0)",
    "np.ones((8, 5)) == [], [] != np.ones((8, 5)), [] == []": "(False, True, True)",
    "bool(np.ones(0) == []), (np.arange(2) == [0, 2]).tolist()": "(False, [True, False])",
    "changed.itemset(1, 5) or changed.itemset((1, 0), 6) or changed.tolist()": "[[0, 5], [6, 0]]",
    "np.array([[1], [2, 3]]).tolist(), np.asarray([[1], []]).shape": "([[1], [2, 3]], (2,))",
    "np.array([1, 2], copy=False).tolist(), np.array([1], 'f', ndmin=2).shape": "([1, 2], (1, 1))",
    "np.array([[1], [2, 3]], float)": "ValueError",
    "np.asfarray([1]).dtype.name, np.mat('1 2').shape, np.rank([])": "('float64', (1, 2), 1)",
    "int(np.ones(2))": "TypeError",
    "{}.tostring()": "AttributeError",
    "array.array('B', [1]).tostring(), base64.encodestring(b'a')": "(b'\\x01', b'YQ==\\n')",
    "[c.tag for c in XML('<a><b/></a>').getchildren()], thread.isAlive()": "(['b'], False)",
    "[c.tag for c in XML('<a><b/></a>').getiterator('b')], sample({1}, 1)": "(['b'], [1])",
    "sorted(sample({1: 2, 3: 4}.keys(), 2)), len(sample(range(9), 3))": "([1, 3], 3)",
}


_EVALUATED = """
import array, base64, threading
from random import sample
from xml.etree.ElementTree import XML
import numpy as np
thread = threading.Thread()
class six:
    iteritems = "of six"
changed = np.zeros((2, 2), int)
for expression in EXPRESSIONS:
    try:
        print(expression())
    except Exception as error:
        print(type(error).__name__)
"""


def test_methods_and_comparisons_of_then(programs):
    functions = ", ".join(f"lambda: ({expression})" for expression in _EXPRESSIONS)
    text = _EVALUATED.replace("EXPRESSIONS", f"[{functions}]")
    assert programs.run_text(text, "--with_old_packages") == list(_EXPRESSIONS.values())


def test_functions_that_numba_compiles_stay_as_they_are(programs):
    lines = programs.run_text(
        """
import dis
def njit(function=None, **options):
    return function or njit
@njit(cache=True)
def compiled(x):
    return int(x)
@njit
def plain(x):
    return int(x)
def rewritten(x):
    return int(x)
for function in (compiled, plain, rewritten):
    print(*function.__code__.co_names)
""",
        "--with_old_packages",
    )
    assert lines == ["int", "int", "__tf_frame_number__ int"]


def test_names_of_keras_that_are_nowhere(programs):
    text = "from keras.layers.core import NoSuchLayer"
    programs.run_text(text, "--with_old_packages")
    assert "train.py:1: tf.keras.layers.NoSuchLayer is not in" in programs.errors


def test_dimensions_are_divided_as_by_python_2(programs, monkeypatch):
    for name in ("__truediv__", "__rtruediv__"):
        monkeypatch.setattr(tf.Dimension, name, getattr(tf.Dimension, name))
    text = "import tensorflow as tf\nsize = tf.Dimension(7)\nprint(size / 2, 15 / size)"
    assert programs.run_text(text, "--with_old_packages") == ["3 2"]


ATTENTION = """
import tensorflow as tf
from tensorflow.contrib.seq2seq.python.ops import attention_wrapper
from tensorflow.contrib.seq2seq.python.ops.attention_wrapper import _compute_attention
mechanism = tf.contrib.seq2seq.LuongAttention(4, tf.ones([2, 3, 4]))
zero = mechanism.initial_alignments(2, tf.float32)
attention, alignments = _compute_attention(mechanism, tf.ones([2, 4]), zero, None)
first, second = attention_wrapper._compute_attention(
    mechanism, tf.ones([2, 4]), zero, attention_layer=None)  # As it was.
three = _compute_attention(mechanism, tf.ones([2, 4]), zero, None)
state = tf.contrib.seq2seq.AttentionWrapperState(
    cell_state=1, attention=attention, time=0, alignments=alignments, alignment_history=())
print(alignments.shape, second.shape, len(three), state.attention_state is alignments)
"""


def test_attention_as_of_tensorflow_1_4(programs):
    assert programs.run_text(ATTENTION, "--with_old_packages") == ["(2, 3) (2, 3) 3 True"]
    programs.run_text(ATTENTION)
    assert "too many values to unpack" in programs.errors


def test_autograph_does_not_read_the_file_again(programs):
    lines = programs.run_text(
        """
import tensorflow as tf
sizes = {"a": 2}
def add(x):
    return x + sum(size for name, size in sizes.iteritems())
data = tf.data.Dataset.range(1).map(add).map(lambda x: x * list(sizes.itervalues())[0])
class Cell(tf.nn.rnn_cell.BasicRNNCell):
    def call(self, inputs, state):
        for name, size in sizes.iteritems():
            inputs = inputs * size
        return super(Cell, self).call(inputs, state)
tf.nn.dynamic_rnn(Cell(2), tf.zeros([1, 3, 2]), dtype=tf.float32)
with tf.Session() as session:
    print(session.run(tf.data.make_one_shot_iterator(data).get_next()))
""",
        "--with_old_packages",
    )
    assert lines == ["4"]


def test_pickles_of_python_2(programs):
    lines = programs.run_text(
        """
import pickle
with open("text.pkl", "w") as file:
    pickle.dump([1, "two"], file)
with open("text.pkl") as file:
    print(pickle.load(file))
with open("old.pkl", "wb") as file:
    file.write(b"(S'\\\\xe9'\\np0\\ntp1\\n.")
with open("old.pkl", "rb") as file:
    print(pickle.load(file), pickle.loads(pickle.dumps(2, protocol=pickle.HIGHEST_PROTOCOL)))
""",
        "--with_old_packages",
    )
    assert lines == ["[1, 'two']", "('é',) 2"]


def test_lost_members_are_named_with_their_line(programs):
    # The package of the process may have them back.
    text = "raise AttributeError(\"module 'matplotlib.cm' has no attribute 'get_cmap'\")"
    programs.run_text(text)
    assert "train.py:1: matplotlib.cm.get_cmap is gone; --with_old_packages" in programs.errors
    programs.run_text("raise AttributeError('No librosa attribute output')")
    assert "train.py:1: librosa.output is gone; --with_old_packages" in programs.errors
    programs.run_text("from keras.utils import np_utils")
    assert "train.py:1: keras.utils.np_utils is not in Keras 3; --with" in programs.errors


def test_packages_that_are_not_installed_are_not_gone(programs):
    for package in ("librosa", "sklearn"):
        programs.run_text(f"raise ModuleNotFoundError(\"No module named '{package}'\")")
        assert f"ModuleNotFoundError: No module named '{package}'" in programs.errors
        assert "is gone" not in programs.errors
    programs.run_text("raise ModuleNotFoundError(\"No module named 'sklearn.externals.joblib'\")")
    assert "train.py:1: sklearn.externals.joblib is gone; --with" in programs.errors


def test_lost_methods_are_named_with_their_line(programs):
    programs.run_text("import numpy as np\nnp.ones(2).tostring()")
    assert "train.py:2: numpy.ndarray.tostring is gone; --with_old_packages" in programs.errors
    programs.run_text("import numpy as np\nif np.ones((3, 5)) == []: pass")
    assert "train.py:2: NumPy compares arrays of one shape only" in programs.errors
    programs.run_text(
        """
import numpy as np
import tensorflow as tf
class FreeTypeFont:
    pass
def measure(x):
    return np.int32(FreeTypeFont().getsize("word"))
size = tf.py_func(measure, [1.0], tf.int32)
with tf.Session() as session:
    session.run(size)
"""
    )
    assert "train.py:7: FreeTypeFont.getsize is gone; --with_old_packages" in programs.errors
    assert programs.errors.count("train.py") == 1


_GENERATORS = """
def stop_at(index, count):
    if index == count:
        raise StopIteration

def firsts(items, count):
    \"\"\"The first ones.\"\"\"
    for index in range(100):
        stop_at(index, count)
        yield next(items)

print(list(firsts(iter("abc"), 2)), list(firsts(iter("abc"), 9)), firsts.__doc__)
try:
    next(iter([]))
except StopIteration:
    print("end")
"""


def test_a_stop_iteration_ends_a_generator(programs):
    lines = ["['a', 'b'] ['a', 'b', 'c'] The first ones.", "end"]
    assert programs.run_text(_GENERATORS, "--with_old_packages") == lines
    programs.run_text(_GENERATORS)
    assert "Python 3.7: generator raised StopIteration; --with_old_packages" in programs.errors
    assert programs.errors.count("\n") == 1
