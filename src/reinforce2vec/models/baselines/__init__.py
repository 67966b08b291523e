"""Methods to compare with: LINE, HOPE, GraRep, NetMF and ProNE."""
