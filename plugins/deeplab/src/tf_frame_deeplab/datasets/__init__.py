"""Tables of published data sets: names, colours and ids of their classes."""
