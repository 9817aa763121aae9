"""The commands, one family a module. Each reads its settings, builds its house and runs it."""
