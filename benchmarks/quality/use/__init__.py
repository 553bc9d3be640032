"""Selections judged by use: every label-free method, six networks, three protocols, one command."""
