-- See ../postgres/0045_settled_ids.sql: SQLite has one writer, and draws no ids before it writes.
SELECT 1;
