"""Data sets by name."""

from ..graph.dataset import Dataset as Dataset
from .loading import load_dataset as load_dataset
