"""The method of the paper: Bai, Nguyen and Davidson, Block Model Guided Unsupervised Feature Selection (KDD 2020).

Read in this order: `estimator` (the whole method, with the choice of γ), `statistics` (D̄, D, M), `gram` and
`gram_sums` ((YᵀY)∘²), `losses` (L_b, L_m and their gradients), `descent` (algorithm 1), `device` and
`cuda` (the same on a GPU). The block models themselves, A ≈ F M Fᵀ, are in `blockselect.blockmodels`.
"""
