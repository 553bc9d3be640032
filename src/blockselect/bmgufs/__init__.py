"""The method of the paper: Bai, Nguyen and Davidson, Block Model Guided Unsupervised Feature Selection (KDD 2020).

Read the files in this order: `estimator` (the whole method, with the choice of γ), `statistics` (D̄, D, M, M̂), `losses`
(L_b, L_m and their gradients), `descent` (algorithm 1), `gram` ((YᵀY)∘²; computed in `gram_sums` and `low_rank`), and
`device` and `cuda` (the descent on a GPU). The block models A ≈ F M Fᵀ are found in `blockselect.blockmodels`.
"""
