"""The wire: the agent's process, the JSON-RPC peer, and the protocol adapter `v1`."""
