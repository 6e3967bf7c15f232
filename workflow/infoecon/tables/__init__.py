"""Contracts of the Parquet tables, reading and writing them with their provenance."""
