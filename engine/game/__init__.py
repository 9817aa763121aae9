"""The rules, pure: no Redis, no SQL, no Telegram."""
