"""Methods to compare with: LINE, HOPE, GraRep, NetMF, ProNE and Spectral."""
