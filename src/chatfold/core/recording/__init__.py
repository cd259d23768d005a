"""How the record behind a summary is made: which facts and actions, in which words."""
