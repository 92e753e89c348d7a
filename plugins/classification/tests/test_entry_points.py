import subprocess
import sys

from tf_frame.plugin.find import find_plugins

_PROGRAM = """
import sys
from tf_frame.plugin.find import find_plugins
from tf_frame.plugin.load import load_found
for found in find_plugins():
    if found.distribution == "tf-frame-classification":
        load_found(found)
print("tensorflow" in sys.modules)
"""


def test_the_names_are_those_that_users_type():
    found = [f for f in find_plugins() if f.distribution == "tf-frame-classification"]
    names = {(f.kind.word, f.name) for f in found if f.kind.word != "network"}
    assert names == {
        ("model", "classification"),
        *(("input", n) for n in ("fashion_mnist", "cifar10", "image_folder", "image_tfrecord")),
        *(("preprocessing", n) for n in ("lenet", "cifarnet", "vgg", "inception", "none")),
        ("preprocessing", "inception_full"),
    }


def test_every_entry_point_loads_without_tensorflow():
    result = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == ["False"]
