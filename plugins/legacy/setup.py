"""The distribution tf-frame-legacy."""

from pathlib import Path

from setuptools import find_packages, setup

setup(
    name="tf-frame-legacy",
    version="0.1.0",
    description="run, check and convert programs for TensorFlow 1; their old names",
    long_description=Path(__file__).with_name("README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    author="the tf-frame developers",
    license_expression="Apache-2.0",
    license_files=["LICENSE"],
    python_requires=">=3.10",
    install_requires=["tf-frame>=0.1,<0.2"],
    extras_require={
        # tf-frame legacy convert: concrete syntax trees, which keep comments and layout.
        "convert": ["libcst>=1.4"],
        # Keras 2, for programs with tf.keras; TensorFlow itself contains only a part of it.
        "keras": ["tf_keras>=2.19"],
    },
    package_dir={"": "src"},
    packages=find_packages("src"),
    package_data={"tf_frame_legacy": ["py.typed"]},
    entry_points={"tf_frame.commands": ["legacy = tf_frame_legacy.cli.command:Legacy"]},
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
