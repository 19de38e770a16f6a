"""What only a kernel has: a session's turn meets a cell here."""
