"""The command line: `main`, and one module for each command.

It may import `_util`, `files`, `graph`, `walks`, `skipgram`, `embedding`, `models`, `evaluation`,
`datasets`, `plotting`, `explorer` and `tuning`. It does so only when a command runs,
so that --help is quick.
"""
