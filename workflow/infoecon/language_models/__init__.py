"""Requests to language models, the store that keeps every answer, the meter, endpoints and servers."""
