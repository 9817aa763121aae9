"""SQL: tables, unit of work, queries, outbox."""
