"""What the bot answers over HTTP: Telegram's posts, and questions about its health."""
