"""The paper: Bai, Nguyen and Davidson, Block Model Guided Unsupervised Feature Selection (KDD 2020).

Read in this order: `estimator` (the method as one story), `block_statistics` (D̄, D, M), `gram_squared` ((YᵀY)∘²),
`losses` (L_b, L_m and their gradients), `descent` (algorithm 1), `sparsity` (the choice of γ). The block models
themselves, A ≈ F M Fᵀ, are in `blockselect.blockmodels`.
"""
