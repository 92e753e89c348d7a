"""The old names, thin: for code that was written for slim's and DeepLab's trainers."""
