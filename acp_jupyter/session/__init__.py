"""Sessions with agents: the loop thread, who answers requests, files and terminals. Knows no view."""
