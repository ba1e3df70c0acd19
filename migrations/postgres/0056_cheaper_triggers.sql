-- See ../sqlite/0056_cheaper_triggers.sql: triggers of PostgreSQL run once for a statement.
SELECT 1;
