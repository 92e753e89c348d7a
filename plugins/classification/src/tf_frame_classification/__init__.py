"""The plugin `classification`: slim's image classifier, networks, preprocessing and inputs."""

__version__ = "0.1.0"
# Its own networks and preprocessing are meant where other packages use the same names.
DISTRIBUTION = "tf-frame-classification"
