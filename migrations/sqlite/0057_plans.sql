-- What people pay for beside the prices of the API: plans, with who holds them, and the rules by which entries use them.

CREATE TABLE plans (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  name TEXT NOT NULL,
  vendor TEXT NOT NULL,
  product TEXT NOT NULL,
  -- One person, the people of plan_holders, or everyone.
  holder TEXT NOT NULL CHECK (holder = 'person' OR holder = 'people' OR holder = 'organization'),
  -- What agents call it, such as codex:pro: a JSON list.
  vendor_codes TEXT NOT NULL,
  note TEXT,
  -- The last day; NULL while it continues.
  ends_on TEXT,
  -- Whether the end charges the fee of the period that it cuts by days, or in full; NULL if nobody said.
  end_prorates INTEGER CHECK (end_prorates IN (0, 1)),
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE plan_holders (
  plan_id INTEGER NOT NULL REFERENCES plans (id) ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES users (id),
  -- Days of the organization, both included; NULL for no last one.
  from_day TEXT NOT NULL,
  to_day TEXT CHECK (to_day >= from_day),
  PRIMARY KEY (plan_id, user_id, from_day)
) STRICT, WITHOUT ROWID;
CREATE INDEX plan_holders_by_person ON plan_holders (user_id);

-- The terms of a plan from a day until the next version or the end. A period begins with each.
CREATE TABLE plan_versions (
  plan_id INTEGER NOT NULL REFERENCES plans (id) ON DELETE CASCADE,
  from_day TEXT NOT NULL,
  -- Whether it charges the fee of the period that it cuts by days, or in full; NULL if nobody said.
  prorates INTEGER CHECK (prorates IN (0, 1)),
  period TEXT NOT NULL CHECK (period = 'week' OR period = 'month' OR period = 'year' OR period = 'once'),
  -- Of a seat and a period, in nano-units of the currency.
  fee INTEGER NOT NULL CHECK (fee >= 0),
  currency TEXT NOT NULL CHECK (length(currency) = 3),
  -- Units of the currency for a dollar, in 10^-10; NULL for dollars.
  exchange_rate INTEGER CHECK (exchange_rate > 0),
  seats INTEGER NOT NULL CHECK (seats >= 1),
  -- The usage that it covers, as the conditions of placement rules; none for all usage.
  conditions TEXT NOT NULL,
  -- The usage of a seat and a period that the fee includes: nano-dollars, tokens or requests; NULL for no known limit.
  allowance INTEGER CHECK (allowance >= 0),
  allowance_unit TEXT CHECK (allowance_unit = 'usd' OR allowance_unit = 'tokens' OR allowance_unit = 'requests'),
  -- Of a dollar, token or request beyond the allowance, in nano-units of the currency; NULL if nothing is charged.
  overage_price INTEGER CHECK (overage_price >= 0),
  source_url TEXT,
  source_day TEXT,
  PRIMARY KEY (plan_id, from_day),
  CHECK ((currency = 'USD') = (exchange_rate IS NULL)),
  CHECK ((allowance IS NULL) = (allowance_unit IS NULL)),
  CHECK (overage_price IS NULL OR allowance IS NOT NULL)
) STRICT, WITHOUT ROWID;

CREATE TABLE funding_rules (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  -- Rules are tried in this order, of equal ones the older first.
  position INTEGER NOT NULL,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  created_at INTEGER NOT NULL,
  removed_at INTEGER
) STRICT;

-- A change adds a version, so that an entry shows the rule as it was when it decided.
CREATE TABLE funding_rule_versions (
  id INTEGER PRIMARY KEY,
  rule_id INTEGER NOT NULL REFERENCES funding_rules (id),
  version INTEGER NOT NULL CHECK (version >= 1),
  name TEXT NOT NULL,
  conditions TEXT NOT NULL,
  funding TEXT NOT NULL CHECK (funding = 'metered' OR funding = 'plan' OR funding = 'credits' OR funding = 'unknown'),
  plan_id INTEGER REFERENCES plans (id),
  created_at INTEGER NOT NULL,
  UNIQUE (rule_id, version),
  CHECK ((plan_id IS NOT NULL) = (funding = 'plan' OR funding = 'credits'))
) STRICT;

-- What entries were said to be paid with, and what was decided: a row for all that are equal. Rows stay.
CREATE TABLE fundings (
  id INTEGER PRIMARY KEY,
  -- The first half of the SHA-256 of the other columns, with public ids, so that it is the same in every database.
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  said_funding TEXT,
  said_plan TEXT,
  funding TEXT NOT NULL CHECK (funding = 'metered' OR funding = 'plan' OR funding = 'credits' OR funding = 'unknown'),
  plan_id INTEGER REFERENCES plans (id),
  rule_version_id INTEGER REFERENCES funding_rule_versions (id),
  reason TEXT NOT NULL,
  note TEXT
) STRICT;

-- NULL until plans, rules or reports say something. It refers to fundings without a constraint, which PostgreSQL could not
-- add without reading all entries.
ALTER TABLE entries ADD COLUMN funding_id INTEGER;

-- That entries are to be decided again: written in the transaction of the change, and removed once it is done.
CREATE TABLE funding_owed (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  since INTEGER NOT NULL,
  -- Entries of earlier days are as they were.
  from_day TEXT NOT NULL,
  -- Grows with each change, so that work that began before the last one is done once more.
  changes INTEGER NOT NULL CHECK (changes > 0)
) STRICT;

CREATE TRIGGER plans_inserted AFTER INSERT ON plans BEGIN UPDATE revision SET value = value + 1; END;
CREATE TRIGGER plans_updated AFTER UPDATE ON plans BEGIN UPDATE revision SET value = value + 1; END;
CREATE TRIGGER plans_owe_funding AFTER UPDATE OF name, holder, vendor_codes, ends_on ON plans
BEGIN
  INSERT INTO funding_owed
  SELECT 1, CAST(unixepoch('subsec') * 1000 AS INTEGER), min(from_day), 1 FROM plan_versions WHERE plan_id = NEW.id
  HAVING count(*) > 0
  ON CONFLICT (id) DO UPDATE SET from_day = min(from_day, excluded.from_day), changes = changes + 1;
END;
CREATE TRIGGER plan_holders_inserted AFTER INSERT ON plan_holders BEGIN
  UPDATE revision SET value = value + 1;
  INSERT INTO funding_owed VALUES (1, CAST(unixepoch('subsec') * 1000 AS INTEGER), NEW.from_day, 1)
  ON CONFLICT (id) DO UPDATE SET from_day = min(from_day, excluded.from_day), changes = changes + 1;
END;
CREATE TRIGGER plan_holders_updated AFTER UPDATE ON plan_holders BEGIN
  UPDATE revision SET value = value + 1;
  INSERT INTO funding_owed VALUES (1, CAST(unixepoch('subsec') * 1000 AS INTEGER), min(OLD.from_day, NEW.from_day), 1)
  ON CONFLICT (id) DO UPDATE SET from_day = min(from_day, excluded.from_day), changes = changes + 1;
END;
CREATE TRIGGER plan_holders_deleted AFTER DELETE ON plan_holders BEGIN
  UPDATE revision SET value = value + 1;
  INSERT INTO funding_owed VALUES (1, CAST(unixepoch('subsec') * 1000 AS INTEGER), OLD.from_day, 1)
  ON CONFLICT (id) DO UPDATE SET from_day = min(from_day, excluded.from_day), changes = changes + 1;
END;
CREATE TRIGGER plan_versions_inserted AFTER INSERT ON plan_versions BEGIN
  UPDATE revision SET value = value + 1;
  INSERT INTO funding_owed VALUES (1, CAST(unixepoch('subsec') * 1000 AS INTEGER), NEW.from_day, 1)
  ON CONFLICT (id) DO UPDATE SET from_day = min(from_day, excluded.from_day), changes = changes + 1;
END;
CREATE TRIGGER plan_versions_updated AFTER UPDATE ON plan_versions BEGIN
  UPDATE revision SET value = value + 1;
  INSERT INTO funding_owed VALUES (1, CAST(unixepoch('subsec') * 1000 AS INTEGER), min(OLD.from_day, NEW.from_day), 1)
  ON CONFLICT (id) DO UPDATE SET from_day = min(from_day, excluded.from_day), changes = changes + 1;
END;
CREATE TRIGGER plan_versions_deleted AFTER DELETE ON plan_versions BEGIN
  UPDATE revision SET value = value + 1;
  INSERT INTO funding_owed VALUES (1, CAST(unixepoch('subsec') * 1000 AS INTEGER), OLD.from_day, 1)
  ON CONFLICT (id) DO UPDATE SET from_day = min(from_day, excluded.from_day), changes = changes + 1;
END;
CREATE TRIGGER funding_rules_inserted AFTER INSERT ON funding_rules BEGIN UPDATE revision SET value = value + 1; END;
CREATE TRIGGER funding_rules_updated AFTER UPDATE ON funding_rules BEGIN
  UPDATE revision SET value = value + 1;
  INSERT INTO funding_owed VALUES (1, CAST(unixepoch('subsec') * 1000 AS INTEGER), '0001-01-01', 1)
  ON CONFLICT (id) DO UPDATE SET from_day = excluded.from_day, changes = changes + 1;
END;
CREATE TRIGGER funding_rule_versions_inserted AFTER INSERT ON funding_rule_versions BEGIN
  UPDATE revision SET value = value + 1;
  INSERT INTO funding_owed VALUES (1, CAST(unixepoch('subsec') * 1000 AS INTEGER), '0001-01-01', 1)
  ON CONFLICT (id) DO UPDATE SET from_day = excluded.from_day, changes = changes + 1;
END;
-- The day of an entry is one of the organization.
CREATE TRIGGER organization_owes_funding AFTER UPDATE OF time_zone ON organization
WHEN OLD.time_zone <> NEW.time_zone AND EXISTS (SELECT 1 FROM plans)
BEGIN
  INSERT INTO funding_owed VALUES (1, CAST(unixepoch('subsec') * 1000 AS INTEGER), '0001-01-01', 1)
  ON CONFLICT (id) DO UPDATE SET from_day = excluded.from_day, changes = changes + 1;
END;
