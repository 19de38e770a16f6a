"""A notebook client of the Agent Client Protocol."""
