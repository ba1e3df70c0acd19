-- How people want pages to look: not a column of users, whose changes empty caches.
CREATE TABLE preferences (
  user_id INTEGER PRIMARY KEY REFERENCES users (id),
  -- JSON
  chosen TEXT NOT NULL
) STRICT;
