"""What Song17 sets its quilts against, and no command computes with."""
