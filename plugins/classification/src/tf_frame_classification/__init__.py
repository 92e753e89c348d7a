"""The plugin `classification`: slim's image classifier, networks, preprocessing and inputs."""

__version__ = "0.1.0"
