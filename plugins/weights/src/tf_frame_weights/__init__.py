"""Published weights as plugins of tf-frame."""
