"""What comes from a model in place of a summary: thoughts, calls, errors, questions."""
