"""Speed, measured beside its limits in one run. ``python -m benchmarks`` prints a table."""
