"""The distribution tf-frame-classification."""

from pathlib import Path

from setuptools import find_packages, setup

setup(
    name="tf-frame-classification",
    version="0.1.0",
    description="Image classification with slim's networks for tf-frame",
    long_description=Path(__file__).with_name("README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    # The sample images have their own licence: data/fashion_mnist/LICENSE.txt, MIT.
    author="the tf-frame developers",
    license_expression="Apache-2.0 AND MIT",
    license_files=["LICENSE", "src/*/data/*/LICENSE.txt"],
    python_requires=">=3.10",
    install_requires=["tf-frame>=0.1,<0.2", "tf-frame-vision>=0.1,<0.2"],
    package_dir={"": "src"},
    packages=find_packages("src"),
    package_data={"tf_frame_classification": ["py.typed", "data/fashion_mnist/*"]},
    entry_points={
        "tf_frame.models": [
            "classification = tf_frame_classification.model.classification:Classification"
        ],
        "tf_frame.converters": [
            "image_folder = tf_frame_classification.convert.converters:Folder",
            "mnist = tf_frame_classification.convert.converters:Mnist",
            "fashion_mnist = tf_frame_classification.convert.converters:FashionMnist",
            "cifar10 = tf_frame_classification.convert.converters:Cifar10",
        ],
        "tf_frame.inputs": [
            "fashion_mnist = tf_frame_classification.inputs.fashion_mnist:FashionMnist",
            "cifar10 = tf_frame_classification.inputs.cifar10:Cifar10",
            "image_folder = tf_frame_classification.inputs.image_folder:ImageFolder",
            "image_tfrecord = tf_frame_classification.inputs.image_tfrecord:ImageTfrecord",
        ],
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
