"""Assignment of labelled boxes to anchors."""
