"""What a turn looks like: pure functions from a turn to text, HTML and MIME bundles."""
