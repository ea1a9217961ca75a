"""What Kawamoto19 states and no mechanism computes with: its theorems about relations and several channels."""
