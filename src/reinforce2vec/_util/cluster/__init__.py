"""Ray, for work in several processes of this machine or on a cluster: connecting, and waiting."""
