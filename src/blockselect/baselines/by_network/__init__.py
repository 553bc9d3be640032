"""Methods that look at the links of the network."""
