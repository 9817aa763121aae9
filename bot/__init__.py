"""What faces people: Telegram, the terminal chat, the command line."""
