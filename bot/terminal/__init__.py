"""A group chat in the terminal: an in-process Bot API, people to sit at it, and a screen."""
