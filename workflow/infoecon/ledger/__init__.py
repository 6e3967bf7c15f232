"""Published values beside ours, with a verdict for each."""
