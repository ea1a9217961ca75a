"""Markov quilts: how much the entries beyond a quilt can tell, and the noise for those within it (Song17 Section 4)."""
