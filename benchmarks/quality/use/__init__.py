"""Evaluation of the selections of all label-free methods on six networks with three protocols."""
