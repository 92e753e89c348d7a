"""The distribution tf-frame-sweep."""

from pathlib import Path

from setuptools import find_packages, setup

setup(
    name="tf-frame-sweep",
    version="0.1.0",
    description="many trials of a run, with other options each: searches for the best ones",
    long_description=Path(__file__).with_name("README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    author="the tf-frame developers",
    license_expression="Apache-2.0",
    license_files=["LICENSE"],
    python_requires=">=3.10",
    install_requires=[
        "tf-frame>=0.1,<0.2",
        "optuna>=4.0,<6",  # samplers, pruners, the study and its storage, importance of options
    ],
    extras_require={"cma-es": ["cmaes>=0.10"]},  # --sampler cma_es: its algorithm
    package_dir={"": "src"},
    packages=find_packages("src"),
    package_data={"tf_frame_sweep": ["py.typed"]},
    entry_points={"tf_frame.commands": ["sweep = tf_frame_sweep.command:Sweep"]},
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
