"""What every part may use: arrays, errors, parameters, progress, threads, eigenvectors, wording, optional packages."""
