"""The distribution tf-frame."""

import pathlib
import re

from setuptools import find_packages, setup

ROOT = pathlib.Path(__file__).parent
INIT = (ROOT / "framework" / "tf_frame" / "__init__.py").read_text(encoding="utf-8")
VERSION = re.search(r'^__version__ = "(.+)"$', INIT, re.MULTILINE)
assert VERSION is not None, "framework/tf_frame/__init__.py holds no __version__"


def entry_points(package: str, classes: str, module: str = "") -> list[str]:
    """Registers `ClipByNorm` as `clip_by_norm`, `SGD` as `sgd`.

    Each class is in the module of that name, or all are in `module`.
    """
    lines = []
    for name in classes.split():
        plain = name.lower() if name in _ONE_WORD else re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
        lines.append(f"{plain} = tf_frame.{package}.{module or plain}:{name}")
    return lines


_ONE_WORD = ("SGD", "AdamW", "RMSProp", "MLflow", "OpenTelemetry")

setup(
    name="tf-frame",
    version=VERSION[1],
    description="Train TensorFlow models that arrive as pip packages",
    long_description=(ROOT / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    author="the tf-frame developers",
    license_expression="Apache-2.0",
    license_files=["LICENSE"],
    package_dir={"": "framework"},
    packages=find_packages("framework"),
    package_data={
        "tf_frame": ["py.typed", "html_page.html", "curves.js", "scaffold/templates/**/*.txt"]
    },
    python_requires=">=3.10",
    install_requires=[
        "tensorflow>=2.20,<2.22",  # what models are built with; graph mode of compat.v1
        "absl-py>=2.1",  # command-line flags, as TensorFlow's own programs have them
        "PyYAML>=6.0",  # configuration files
        "packaging>=23.0",  # compares a plugin's requirement with our version
        "numpy>=1.26",  # what session runs return
        # Escapes names in the HTML page of a profile; TensorBoard's server needs it, too.
        "MarkupSafe>=2.1",
        "tqdm>=4.66",  # the progress bar
        "tensorboard>=2.20,<2.22",  # shows scalars, images and graphs of a run
    ],
    extras_require={
        # TensorBoard's Profile tab, and the package xprof, which holds it. A training does not
        # need them, and they bring the clients of Google's cloud. With an older protobuf the
        # tab is missing, and only TensorBoard's log says why.
        "profile": ["tensorboard-plugin-profile>=2.20", "protobuf>=6.33.5,<8"],
        "mlflow": ["mlflow-skinny>=3"],  # --hook mlflow; the client without server and database
        "wandb": ["wandb>=0.19"],  # --hook wandb
        "prometheus": ["prometheus-client>=0.20"],  # --hook prometheus: the page of figures
        # --hook opentelemetry: instruments, and the protocol to a collector
        "opentelemetry": [
            "opentelemetry-sdk>=1.30",
            "opentelemetry-exporter-otlp-proto-http>=1.30",
        ],
        "gpu": ["tensorflow[and-cuda]>=2.20,<2.22"],  # NVIDIA's CUDA libraries as wheels
        # Converts graphs to ONNX for `tf-frame export`; ONNX Runtime verifies the result.
        "onnx": ["tf2onnx>=1.17", "onnxruntime>=1.20"],
    },
    entry_points={
        "console_scripts": ["tf-frame = tf_frame.__main__:run"],
        "tf_frame.inputs": ["several = tf_frame.inputs.several:Several"],
        "tf_frame.gradient_transforms": entry_points(
            "gradient_transforms",
            "Multiply Freeze ScaleBiases Noise Accumulate Centralize CheckFinite",
        )
        + entry_points(
            "gradient_transforms", "ClipByNorm ClipByGlobalNorm ClipByValue", module="clip"
        ),
        "tf_frame.optimizers": [
            *entry_points(
                "optimizers", "SGD Momentum Adam RMSProp Adagrad Adadelta Ftrl", module="built_in"
            ),
            *entry_points("optimizers", "AdamW Lamb", module="adamw"),
        ],
        "tf_frame.learning_rates": [
            *entry_points("learning_rates", "Fixed Cosine OneCycle"),
            *entry_points("learning_rates", "Exponential Step", module="exponential"),
            *entry_points("learning_rates", "Poly Polynomial", module="poly"),
            *entry_points("learning_rates", "MultiSteps ManualSteps", module="multi_steps"),
            "piecewise = tf_frame.learning_rates.multi_steps:MultiSteps",
        ],
        "tf_frame.hooks": entry_points(
            "hooks",
            "EarlyStopping Feed FinalValues GarbageCollection Heartbeat LoggingTensor ResourceUse "
            "SlowStep",
            module="by_name.plugins",
        )
        + entry_points("hooks", "Csv MLflow Wandb", module="by_name.logger_plugins")
        + entry_points("hooks", "Prometheus OpenTelemetry", module="by_name.operator_plugins"),
    },
    classifiers=[
        "Development Status :: 4 - Beta",
        "Intended Audience :: Developers",
        "Intended Audience :: Science/Research",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3.10",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Typing :: Typed",
    ],
)
