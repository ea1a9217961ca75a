"""First drafts of release files, made of answers; and all keys that they may have beside."""
