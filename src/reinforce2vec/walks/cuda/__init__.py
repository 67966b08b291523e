"""The same walks on a GPU, a thread for each walk."""
