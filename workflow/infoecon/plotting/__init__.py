"""One figure style and the few panels that studies share."""
