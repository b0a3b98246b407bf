"""The checker of proofs over labels (`solve/search`)."""
