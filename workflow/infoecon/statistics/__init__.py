"""Inference that two or more studies use: arrays in, arrays out."""
