"""The distribution tf-frame-weights."""

import runpy
from pathlib import Path

from setuptools import find_packages, setup

_TABLE = Path(__file__).with_name("src") / "tf_frame_weights" / "table.py"
_PUBLISHED = [row.name for row in runpy.run_path(str(_TABLE))["rows"]()]

setup(
    name="tf-frame-weights",
    version="0.1.0",
    description="Published weights for the networks of tf-frame",
    long_description=Path(__file__).with_name("README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    # The values have licences of their own: data/LICENSE.txt, Apache-2.0 and MIT.
    author="the tf-frame developers",
    license_expression="Apache-2.0 AND MIT",
    license_files=["LICENSE", "src/*/data/LICENSE.txt"],
    python_requires=">=3.10",
    install_requires=["tf-frame>=0.1,<0.2", "tf-frame-vision>=0.1,<0.2"],
    package_dir={"": "src"},
    packages=find_packages("src"),
    package_data={"tf_frame_weights": ["py.typed", "data/*.npz", "data/*.txt"]},
    entry_points={
        "tf_frame.weights": [
            "mobilenet_v1_imagenet = tf_frame_weights.packaged:MobilenetV1Imagenet",
            "ssdlite_mobilenet_v2_pedestrians = tf_frame_weights.packaged:SsdlitePedestrians",
            *(f"{name} = tf_frame_weights.published:{name}" for name in _PUBLISHED),
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
