"""What `langchain` is made of: its shape, its models as summarizers, what stands in a state."""
