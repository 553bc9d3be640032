"""From what users have to one checked network: matrices, tables, graphs, attributes, labels, files."""
