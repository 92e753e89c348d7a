import subprocess
import sys

from tf_frame import InputInfo
from tf_frame.plugin.find import find_plugins
from tf_frame.testing.distributions import write_distribution
from tf_frame_classification.inputs.fashion_mnist import FashionMnist
from tf_frame_classification.model.classification import Classification
from tf_frame_vision.networks import Lenet, Vgg16
from tf_frame_vision.preprocessing.plain import Lenet as LenetFamily
from tf_frame_vision.preprocessing.vgg import Vgg

_PROGRAM = """
import sys
from tf_frame.plugin.find import find_plugins
from tf_frame.plugin.load import load_plugin_info
for info in find_plugins():
    if info.distribution == "tf-frame-classification":
        load_plugin_info(info)
print("tensorflow" in sys.modules)
"""


def test_the_names_are_those_that_users_type_and_load_without_tensorflow():
    plugins = [f for f in find_plugins() if f.distribution == "tf-frame-classification"]
    assert {(info.kind.word, info.name) for info in plugins} == {
        ("model", "classification"),
        *(("converter", n) for n in ("image_folder", "mnist", "fashion_mnist", "cifar10")),
        *(("input", n) for n in ("fashion_mnist", "cifar10", "image_folder", "image_tfrecord")),
    }
    result = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == ["False"]


def test_names_that_another_package_uses_too_mean_those_of_tf_frame_vision(tmp_path, monkeypatch):
    own, family = Vgg16.__module__, Vgg.__module__
    entry_points = {
        "tf_frame.networks: lenet": f"{own}:Vgg16",
        "tf_frame.preprocessing: lenet": f"{family}:Vgg",
    }
    monkeypatch.syspath_prepend(str(tmp_path))
    write_distribution(tmp_path, "fake-clash", entry_points)

    def chosen(name):
        params = FashionMnist.Params(preprocessing=name)
        model = Classification(
            params=Classification.Params(name=name), info=InputInfo(num_classes=2)
        )
        return type(model.network), type(FashionMnist(params=params).preprocess)

    assert chosen("lenet") == (Lenet, LenetFamily)
    assert chosen("fake-clash:lenet") == (Vgg16, Vgg)
