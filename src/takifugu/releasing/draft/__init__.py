"""First drafts of release files: what is counted over all rows, five questions, and the text that answers give."""
