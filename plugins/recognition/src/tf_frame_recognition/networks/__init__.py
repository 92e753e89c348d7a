"""Networks that turn an image into a sequence of features."""
