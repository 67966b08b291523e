"""Reproduction of the paper's tables and figures, beside the paper's own numbers; our own studies.

    methods ──▶ cells ──▶ running ──▶ tables, figures ──▶ report

A cell is one method on one graph with one seed; it is computed once and kept in a file. Tables and
figures are made from cells. `catalogue` lists the experiments, `reproduction.reproduce` runs them.
It may import `_util`, `files`, `graph`, `walks`, `skipgram`, `embedding`, `models`, `evaluation`,
`datasets`, `plotting`, `explorer` and `tuning`.
"""
