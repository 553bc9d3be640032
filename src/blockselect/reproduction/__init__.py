"""The paper's figures and claims, in sweeps that survive a kill.

`experiments` makes trials and figures, `claims` judges what the paper says. The `runner` takes trials from the `agenda`
and saves their rows in the `store`.
"""
