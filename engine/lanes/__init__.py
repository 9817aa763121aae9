"""The fair job engine: groups, lanes and bytes."""
