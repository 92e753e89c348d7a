"""Inputs of images with a class for each pixel."""
