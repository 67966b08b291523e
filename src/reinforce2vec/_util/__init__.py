"""What every other sub-package uses: errors, checks, progress, threads, compiled code.

It imports nothing else of the package. Nothing here is part of the public interface.
"""
