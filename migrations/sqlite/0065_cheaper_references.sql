-- See ../postgres/0065_cheaper_references.sql: SQLite checks a reference with one search, and locks nothing.
SELECT 1;
