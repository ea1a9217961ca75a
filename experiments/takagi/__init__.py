"""What Takagi21 states and no mechanism computes with: propositions, risks, competitors, baselines."""
