"""The state of a session and of its turns: pure, without IO, clock, threads or randomness."""
