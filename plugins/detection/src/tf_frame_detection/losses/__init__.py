"""Losses of classes and boxes, each for one anchor at a time, and the choice of hard anchors."""
