-- What was paid for entries beside their price: the shares of fees, by period of a plan, and the basis that reports, budgets and
-- bills count cost by.

-- `mixed`: some of its tokens are metered, and the rest is paid by the plan.
CREATE TABLE fundings_with_mixed (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  said_funding TEXT,
  said_plan TEXT,
  funding TEXT NOT NULL CHECK (
    funding = 'metered' OR funding = 'plan' OR funding = 'credits' OR funding = 'mixed' OR funding = 'unknown'),
  plan_id INTEGER REFERENCES plans (id),
  -- The metered share of the tokens of what was said to be mixed, in 10^-9: also while no plan is known to pay for the rest.
  metered_share INTEGER CHECK (metered_share BETWEEN 0 AND 1000000000),
  rule_version_id INTEGER REFERENCES funding_rule_versions (id),
  reason TEXT NOT NULL,
  note TEXT,
  CHECK (funding <> 'mixed' OR metered_share IS NOT NULL)
) STRICT;
INSERT INTO fundings_with_mixed SELECT id, uid, said_funding, said_plan, funding, plan_id, NULL, rule_version_id, reason, note FROM fundings;
DROP TABLE fundings;
ALTER TABLE fundings_with_mixed RENAME TO fundings;

-- A calculation of the shares of a period.
CREATE TABLE plan_generations (
  -- Removed after its shares, so that those left of one that was not finished belong to no other.
  id INTEGER PRIMARY KEY,
  plan_id INTEGER NOT NULL REFERENCES plans (id),
  first_day TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

-- A period that was calculated, by its first day. Amounts are nano-dollars.
CREATE TABLE plan_periods (
  plan_id INTEGER NOT NULL REFERENCES plans (id),
  first_day TEXT NOT NULL,
  -- NULL for a period without an end.
  last_day TEXT,
  -- The calculation that counts.
  generation_id INTEGER UNIQUE REFERENCES plan_generations (id),
  calculated_at INTEGER,
  duration_ms INTEGER,
  fee INTEGER NOT NULL CHECK (fee >= 0),
  -- Of the fee: for seats that nobody used.
  unused INTEGER NOT NULL,
  unused_seats INTEGER NOT NULL,
  -- Of the fee: what neither the shares nor the corrections contain, because some were billed before the others were known.
  pending INTEGER NOT NULL,
  entries INTEGER NOT NULL,
  unpriced_entries INTEGER NOT NULL,
  -- Those that arrived after it was closed, and wait for a correction.
  late_entries INTEGER NOT NULL,
  closed_at INTEGER,
  PRIMARY KEY (plan_id, first_day)
) STRICT, WITHOUT ROWID;

-- The share of an entry in the fee of its period, and what it is charged beyond the allowance; a correction may be negative.
CREATE TABLE plan_shares (
  entry_id INTEGER NOT NULL,
  generation_id INTEGER NOT NULL,
  fee INTEGER NOT NULL,
  charge INTEGER NOT NULL,
  PRIMARY KEY (entry_id, generation_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX plan_shares_by_generation ON plan_shares (generation_id);

-- Entries that correct the shares of a period that was closed, in a later one.
CREATE TABLE plan_corrections (
  entry_id INTEGER PRIMARY KEY REFERENCES entries (id),
  plan_id INTEGER NOT NULL REFERENCES plans (id),
  -- The first day of the period that is corrected.
  of_first_day TEXT NOT NULL,
  -- Whose entries it corrects: project and ticket are those at that time, and the entry may be placed otherwise since.
  manager_id INTEGER NOT NULL REFERENCES users (id),
  project_id INTEGER REFERENCES projects (id),
  ticket_id INTEGER REFERENCES tickets (id),
  fee INTEGER NOT NULL,
  charge INTEGER NOT NULL
) STRICT;
CREATE INDEX plan_corrections_by_period ON plan_corrections (plan_id, of_first_day);

-- Hours whose entries have changed since the shares of their periods were calculated.
CREATE TABLE unallocated_hours (hour INTEGER PRIMARY KEY) STRICT;

ALTER TABLE organization ADD COLUMN cost_basis TEXT NOT NULL DEFAULT 'cost';
ALTER TABLE organization ADD COLUMN leads_see_fees INTEGER NOT NULL DEFAULT 0 CHECK (leads_see_fees IN (0, 1));
ALTER TABLE budgets ADD COLUMN basis TEXT NOT NULL DEFAULT 'cost';
ALTER TABLE bills ADD COLUMN basis TEXT NOT NULL DEFAULT 'cost';
ALTER TABLE bills ADD COLUMN provisional INTEGER NOT NULL DEFAULT 0 CHECK (provisional IN (0, 1));
-- The amounts by marginal and allocated cost that were billed, in nano-dollars: the share of the fee, and what was paid extra.
-- NULL for the other bases, whose amounts are those of the entry.
ALTER TABLE bill_entries ADD COLUMN fee INTEGER;
ALTER TABLE bill_entries ADD COLUMN charge INTEGER;

-- Also by what pays for an entry, and by its session.
DROP TRIGGER entries_marked_updated;
CREATE TRIGGER entries_marked_updated AFTER UPDATE OF
  manager_id, source, status, harness_id, agent_id, model_id, provider_id, started_at, ended_at, input, output, cache_read,
  cache_write, cache_write_1h, reported_cost, list_value, project_id, ticket_id, placed_by, label_set_id, superseded,
  possible_duplicate_id, active_ms, funding_id, session_id
ON entries
WHEN NOT EXISTS (SELECT 1 FROM stale_hours WHERE hour = NEW.started_at / 3600000) OR NEW.started_at <> OLD.started_at
BEGIN
  INSERT INTO stale_hours SELECT NEW.started_at / 3600000
  WHERE NOT EXISTS (SELECT 1 FROM stale_hours WHERE hour = NEW.started_at / 3600000);
  INSERT INTO stale_hours SELECT OLD.started_at / 3600000
  WHERE NEW.started_at <> OLD.started_at
    AND NOT EXISTS (SELECT 1 FROM stale_hours WHERE hour = OLD.started_at / 3600000);
END;

-- Conditions may be on the name or the address of a person.
CREATE TRIGGER users_owe_funding AFTER UPDATE OF name, email ON users
WHEN (OLD.name <> NEW.name OR OLD.email <> NEW.email) AND (
  EXISTS (SELECT 1 FROM funding_rule_versions WHERE conditions LIKE '%"agent_manager"%')
  OR EXISTS (SELECT 1 FROM plan_versions WHERE conditions LIKE '%"agent_manager"%'))
BEGIN
  INSERT INTO funding_owed VALUES (1, CAST(unixepoch('subsec') * 1000 AS INTEGER), '0001-01-01', 1)
  ON CONFLICT (id) DO UPDATE SET from_day = excluded.from_day, changes = changes + 1;
END;
