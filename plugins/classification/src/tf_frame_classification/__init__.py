"""The plugin `classification`: slim's image classifier and its inputs."""

__version__ = "0.1.0"
