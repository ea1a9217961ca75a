"""A framework and a query resolved: the problem, questions to its beliefs, distributions of its answer, noise."""
