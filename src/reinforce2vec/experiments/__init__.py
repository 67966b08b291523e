"""The paper's tables and figures, computed by us, beside the paper's own numbers.

    methods ──▶ cells ──▶ running ──▶ tables, figures ──▶ report

A cell is what is computed once and kept: one method on one graph with one seed. Tables and figures
only look at cells. `catalogue` says which experiments there are. It imports everything but `cli`.
"""
