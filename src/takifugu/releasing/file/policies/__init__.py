"""Release files under a policy: which places are safe, or how many people were there, erring on one side only."""
