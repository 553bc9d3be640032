"""Methods that use the links of the network."""
