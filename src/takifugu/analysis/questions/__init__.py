"""What can be asked of a belief: one question a module, answered by what is registered for the belief's type."""
