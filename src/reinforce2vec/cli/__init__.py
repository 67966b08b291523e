"""The command line: `main`, and one module for each command.

It imports everything, but only when a command runs, so that --help is quick.
"""
