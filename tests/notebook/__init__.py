"""Tests that need a real kernel."""
