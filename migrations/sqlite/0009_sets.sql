-- Only PostgreSQL writes a set of rows by one statement: SQLite's triggers stay as they are.
SELECT 1;
