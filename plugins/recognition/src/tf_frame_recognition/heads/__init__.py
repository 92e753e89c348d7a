"""Heads: the loss of a sequence of features, and the word that is read from it."""
