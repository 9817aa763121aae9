"""The figures, one subject a module, each beside its limit. ``measure`` yields them as they are known."""
