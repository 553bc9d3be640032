"""The paper's experiments: trials that survive a kill, their rows, figures of the rows, and its claims judged."""
