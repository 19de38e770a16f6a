"""Coding agents in Python: an agent as a tool. Nothing here needs Jupyter.

See https://agentclientprotocol.com/protocol/overview.
"""
