-- The same as ../sqlite/0043_moves.sql.
CREATE TABLE moves (
  id bigint PRIMARY KEY CHECK (id = 1),
  -- The same in both databases.
  move text COLLATE "C" NOT NULL,
  direction text COLLATE "C" NOT NULL CHECK (direction IN ('from', 'to')),
  -- The other database, as messages name it: without a password.
  place text COLLATE "C" NOT NULL,
  -- JSON: statements that give a target its indexes, references and triggers back, once all rows are there.
  restores text COLLATE "C" NOT NULL,
  started_at bigint NOT NULL,
  ended_at bigint
);

-- Without effect until `tally move` makes triggers that call it.
CREATE FUNCTION refuse_moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'this database is moved to another one' USING ERRCODE = 'TY001';
END $$;
