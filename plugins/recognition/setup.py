"""The distribution tf-frame-recognition."""

from pathlib import Path

from setuptools import find_packages, setup

setup(
    name="tf-frame-recognition",
    version="0.1.0",
    description="Text recognition (CTC, attention, rectification) for tf-frame",
    long_description=Path(__file__).with_name("README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    # The sample digits have a licence of their own: data/digits/LICENSE.txt, CC BY 4.0.
    author="the tf-frame developers",
    license_expression="Apache-2.0 AND CC-BY-4.0",
    license_files=["LICENSE", "src/*/data/*/LICENSE.txt"],
    python_requires=">=3.10",
    install_requires=[
        "tf-frame>=0.1,<0.2",
        "tf-frame-vision>=0.1,<0.2",
        # Draws the words of the input rendered_words. The bound is that of tf-frame-vision.
        "pillow>=11.2.1",
    ],
    # The trainer of old scripts, in tf_frame_recognition.legacy.
    extras_require={"legacy": ["tf-frame-legacy>=0.1,<0.2"]},
    package_dir={"": "src"},
    packages=find_packages("src"),
    package_data={"tf_frame_recognition": ["py.typed", "data/digits/*", "data/words.txt"]},
    entry_points={
        "tf_frame.models": [
            "recognition = tf_frame_recognition.model:Recognition",
        ],
        "tf_frame.inputs": [
            "digit_strings = tf_frame_recognition.inputs.digit_strings:DigitStrings",
            "rendered_words = tf_frame_recognition.inputs.rendered_words:RenderedWords",
            "text_folder = tf_frame_recognition.inputs.text_folder:TextFolder",
            "text_tfrecord = tf_frame_recognition.inputs.text_tfrecord:TextTfrecord",
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
