"""Shared tools: arrays, errors, parameters, progress, threads, eigenvectors, wording, optional packages."""
