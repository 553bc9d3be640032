"""How good the default selection is: on real networks against every rival, on planted ones, and what each part adds."""
