"""Input plugins that are part of tf-frame."""
