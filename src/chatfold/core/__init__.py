"""The core of chatfold: values in, values out; no I/O, no clock, no SDK, no state."""
