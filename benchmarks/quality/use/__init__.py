"""Selections judged by use: every label-free method, five networks, three protocols, one command."""
