"""Training by workers of Ray, each in a process of its own, on one machine or on many."""
