"""Data sets by name."""

from .loading import Dataset as Dataset
from .loading import load_dataset as load_dataset
