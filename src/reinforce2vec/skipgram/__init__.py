"""From walks to vectors: skip-gram with negative sampling."""
