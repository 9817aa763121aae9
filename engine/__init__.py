"""The engine: ids, lanes, game, store and workers. It knows no Telegram."""
