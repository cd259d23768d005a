"""chatfold inside agent frameworks: one framework a module, each loaded only when asked for."""
