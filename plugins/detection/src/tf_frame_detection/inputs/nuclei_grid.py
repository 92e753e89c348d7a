"""Tiles of the image of `nuclei_boxes`: rows of square tiles, of which the first ones train."""

# Pixels.
TILE_SIZE = 128
COLUMNS, ROWS, TRAINING_ROWS = 4, 4, 3
