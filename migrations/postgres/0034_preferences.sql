-- See the migration of SQLite for comments.

CREATE TABLE preferences (
  user_id bigint PRIMARY KEY REFERENCES users (id),
  chosen text COLLATE "C" NOT NULL
);
