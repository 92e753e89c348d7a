"""Geometry of upright and rotated boxes, their codes for a network, and anchors."""
