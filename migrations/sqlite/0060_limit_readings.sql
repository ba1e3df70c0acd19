-- How much of the limits of their plans people had used, as their agents said it: the windows of each agent, hour by hour.
CREATE TABLE limit_readings (
  id INTEGER PRIMARY KEY,
  user_id INTEGER NOT NULL REFERENCES users (id),
  harness TEXT NOT NULL,
  name TEXT NOT NULL,
  window_minutes INTEGER NOT NULL CHECK (window_minutes > 0),
  -- The start of the hour in which it was reported, by the clock of the server, as the other times here except resets_at.
  hour INTEGER NOT NULL,
  -- Hundredths of a percent: the most of the hour, and the latest.
  highest INTEGER NOT NULL CHECK (highest >= 0),
  used INTEGER NOT NULL CHECK (used >= 0),
  resets_at INTEGER,
  plan TEXT,
  -- Billionths of a credit.
  credits INTEGER CHECK (credits >= 0),
  read_at INTEGER NOT NULL,
  UNIQUE (user_id, harness, name, window_minutes, hour)
) STRICT;
CREATE INDEX limit_readings_by_hour ON limit_readings (hour);
