"""What a belief expects an answer to be, and how far it may lie from that: what `questions` asks of a belief."""
