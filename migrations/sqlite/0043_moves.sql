-- The move of this database to another one, or of another one to this: one row, and none without a move. Only
-- `tally move` reads and writes it; every other program refuses to open such a database.
CREATE TABLE moves (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  -- The same in both databases.
  move TEXT NOT NULL,
  direction TEXT NOT NULL CHECK (direction IN ('from', 'to')),
  -- The other database, as messages name it: without a password.
  place TEXT NOT NULL,
  -- JSON: statements that give a target its indexes, references and triggers back, once all rows are there.
  restores TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT;
