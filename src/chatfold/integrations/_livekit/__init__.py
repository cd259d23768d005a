"""What `livekit` is made of: its shape, its models as summarizers, the folds of its sessions."""
