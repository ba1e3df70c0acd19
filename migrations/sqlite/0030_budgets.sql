-- Budgets, how much of them is spent, and the alerts that they caused.

CREATE TABLE budgets (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  name TEXT NOT NULL,
  -- The scope: entries must match everything that is not NULL. Without any of it, the budget is the organization's.
  client_id INTEGER REFERENCES clients (id) ON DELETE CASCADE,
  project_id INTEGER REFERENCES projects (id) ON DELETE CASCADE,
  ticket_id INTEGER REFERENCES tickets (id) ON DELETE CASCADE,
  manager_id INTEGER REFERENCES users (id),
  agent_name TEXT,
  model TEXT,
  label_name TEXT,
  label_value TEXT,
  measure TEXT NOT NULL CHECK (measure IN ('cost', 'billed_amount', 'tokens')),
  -- In nano-dollars, or tokens.
  amount INTEGER NOT NULL CHECK (amount >= 0),
  period TEXT NOT NULL CHECK (period IN ('day', 'week', 'month', 'quarter', 'year', 'once')),
  -- Days of the organization, both included; NULL for no limit.
  first_day TEXT,
  last_day TEXT,
  roll_over INTEGER NOT NULL CHECK (roll_over IN (0, 1)),
  thresholds TEXT NOT NULL,
  -- Whether it is the budget that the field `budget` of its project shows.
  of_project INTEGER NOT NULL CHECK (of_project IN (0, 1)),
  -- Increases when the amount, the scope or the period changes: alerts are given once per version, period and threshold.
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  created_by INTEGER REFERENCES users (id),
  archived_at INTEGER,
  CHECK ((label_name IS NULL) = (label_value IS NULL)),
  CHECK (first_day <= last_day),
  CHECK (of_project = 0 OR project_id IS NOT NULL)
) STRICT;
CREATE UNIQUE INDEX budgets_of_projects ON budgets (project_id) WHERE of_project = 1;
-- Whoever changes entries asks whether there is any.
CREATE INDEX budgets_active ON budgets (id) WHERE archived_at IS NULL;
CREATE INDEX budgets_of_client ON budgets (client_id);
CREATE INDEX budgets_of_ticket ON budgets (ticket_id);

CREATE TRIGGER budgets_inserted AFTER INSERT ON budgets BEGIN UPDATE revision SET value = value + 1; END;
CREATE TRIGGER budgets_updated AFTER UPDATE ON budgets BEGIN UPDATE revision SET value = value + 1; END;
CREATE TRIGGER budgets_deleted AFTER DELETE ON budgets BEGIN UPDATE revision SET value = value + 1; END;

-- How much of a budget is spent in each of its periods. It changes with every entry, so it does not change the revision.
CREATE TABLE budget_periods (
  id INTEGER PRIMARY KEY,
  budget_id INTEGER NOT NULL REFERENCES budgets (id) ON DELETE CASCADE,
  first_day TEXT NOT NULL,
  starts_at INTEGER NOT NULL,
  ends_at INTEGER NOT NULL CHECK (ends_at > starts_at),
  -- What is spent: billions + units + millionths. A sum of units alone could overflow with a dozen of the highest costs.
  billions INTEGER NOT NULL,
  units INTEGER NOT NULL,
  millionths INTEGER NOT NULL,
  entries INTEGER NOT NULL,
  unpriced_entries INTEGER NOT NULL,
  -- The amount of the budget, with what was rolled over from the previous period.
  available INTEGER NOT NULL,
  -- The highest threshold that needs no alert any more, in percent.
  alerted INTEGER NOT NULL,
  -- When all entries of the period were counted; NULL until they are.
  counted_at INTEGER,
  -- When they are counted again; NULL if they never were.
  recount_at INTEGER,
  -- How often they were counted, so that of two simultaneous counts only one has an effect.
  counts INTEGER NOT NULL,
  UNIQUE (budget_id, first_day)
) STRICT;
CREATE INDEX budget_periods_uncounted ON budget_periods (id) WHERE counted_at IS NULL;
CREATE TRIGGER budget_periods_inserted AFTER INSERT ON budget_periods BEGIN UPDATE revision SET value = value + 1; END;
CREATE TRIGGER budget_periods_deleted AFTER DELETE ON budget_periods BEGIN UPDATE revision SET value = value + 1; END;

CREATE TABLE budget_alerts (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  budget_id INTEGER NOT NULL REFERENCES budgets (id) ON DELETE CASCADE,
  version INTEGER NOT NULL,
  first_day TEXT NOT NULL,
  -- Of what is spent, or of the forecast for the end of the period.
  kind TEXT NOT NULL CHECK (kind IN ('spent', 'forecast')),
  percent INTEGER NOT NULL,
  -- Decimal numbers as of `at`, in dollars or tokens.
  spent TEXT NOT NULL,
  available TEXT NOT NULL,
  at INTEGER NOT NULL,
  -- When its e-mails were queued.
  notified_at INTEGER,
  UNIQUE (budget_id, version, first_day, kind, percent)
) STRICT;
CREATE INDEX budget_alerts_unnotified ON budget_alerts (id) WHERE notified_at IS NULL;

-- The e-mails of alerts, which are sent at least once.
CREATE TABLE budget_mails (
  id INTEGER PRIMARY KEY,
  alert_id INTEGER NOT NULL REFERENCES budget_alerts (id) ON DELETE CASCADE,
  recipient TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('queued', 'sent', 'failed')),
  attempts INTEGER NOT NULL,
  next_attempt_at INTEGER,
  answer TEXT,
  created_at INTEGER NOT NULL,
  sent_at INTEGER,
  UNIQUE (alert_id, recipient)
) STRICT;
CREATE INDEX budget_mails_due ON budget_mails (next_attempt_at) WHERE state = 'queued';

-- Changes of entries that something else than a report made: what they counted before (sign -1) and count now (sign 1). A job
-- adds them to the periods. Recording adds reports itself, in the same transaction. Intentionally no triggers: one costs each
-- report five microseconds even if it does nothing.
CREATE TABLE budget_changes (
  id INTEGER PRIMARY KEY,
  sign INTEGER NOT NULL CHECK (sign IN (-1, 1)),
  started_at INTEGER NOT NULL,
  manager_id INTEGER NOT NULL,
  project_id INTEGER,
  ticket_id INTEGER,
  agent_id INTEGER NOT NULL,
  model_id INTEGER NOT NULL,
  label_set_id INTEGER,
  -- Whether it is rejected, so that it will not be billed.
  rejected INTEGER NOT NULL CHECK (rejected IN (0, 1)),
  cost INTEGER,
  tokens INTEGER NOT NULL
) STRICT;

-- What a budget of a client contains, and what its entries are billed for, depends on projects, clients and the organization.
CREATE TRIGGER projects_budgeted AFTER UPDATE OF client_id, markup_ppm, billable ON projects
WHEN OLD.client_id IS NOT NEW.client_id OR OLD.markup_ppm IS NOT NEW.markup_ppm OR OLD.billable <> NEW.billable
BEGIN
  UPDATE budget_periods SET counted_at = NULL, counts = counts + 1 WHERE budget_id IN
    (SELECT id FROM budgets WHERE measure = 'billed_amount' OR client_id IN (OLD.client_id, NEW.client_id));
  UPDATE revision SET value = value + 1;
END;
CREATE TRIGGER projects_budgeted_inserted AFTER INSERT ON projects WHEN EXISTS (SELECT 1 FROM budgets WHERE archived_at IS NULL)
BEGIN UPDATE revision SET value = value + 1; END;
CREATE TRIGGER clients_budgeted AFTER UPDATE OF markup_ppm ON clients WHEN OLD.markup_ppm IS NOT NEW.markup_ppm
BEGIN
  UPDATE budget_periods SET counted_at = NULL, counts = counts + 1 WHERE budget_id IN (SELECT id FROM budgets WHERE measure = 'billed_amount');
  UPDATE revision SET value = value + 1;
END;
CREATE TRIGGER organization_budgeted AFTER UPDATE OF markup_ppm ON organization WHEN OLD.markup_ppm IS NOT NEW.markup_ppm
BEGIN
  UPDATE budget_periods SET counted_at = NULL, counts = counts + 1 WHERE budget_id IN (SELECT id FROM budgets WHERE measure = 'billed_amount');
END;

-- The budget that the field `budget` of a project shows is one of these: the cost of all time. Whichever of the two is changed,
-- the other follows.
INSERT INTO budgets
  (uid, name, project_id, measure, amount, period, roll_over, thresholds, of_project, version, created_at)
SELECT randomblob(16), name, id, 'cost', budget, 'once', 0, '[]', 1, 1, created_at FROM projects WHERE budget IS NOT NULL;
INSERT INTO budget_periods
  (budget_id, first_day, starts_at, ends_at, billions, units, millionths, entries, unpriced_entries, available, alerted, counts)
SELECT id, '0001-01-01', -62135596800000, 253402300800000, 0, 0, 0, 0, 0, amount, 0, 0 FROM budgets;

CREATE TRIGGER projects_budget_inserted AFTER INSERT ON projects WHEN NEW.budget IS NOT NULL
BEGIN
  INSERT INTO budgets
    (uid, name, project_id, measure, amount, period, roll_over, thresholds, of_project, version, created_at)
  VALUES (randomblob(16), NEW.name, NEW.id, 'cost', NEW.budget, 'once', 0,
    '[{"percent":50,"leads":true,"billing":true},{"percent":80,"leads":true,"billing":true},{"percent":100,"leads":true,"billing":true}]',
    1, 1, NEW.created_at);
  INSERT INTO budget_periods
    (budget_id, first_day, starts_at, ends_at, billions, units, millionths, entries, unpriced_entries, available, alerted, counts)
  SELECT id, '0001-01-01', -62135596800000, 253402300800000, 0, 0, 0, 0, 0, amount, 0, 0
  FROM budgets WHERE project_id = NEW.id AND of_project = 1;
END;
CREATE TRIGGER projects_budget_updated AFTER UPDATE OF budget ON projects WHEN OLD.budget IS NOT NEW.budget
BEGIN
  UPDATE budget_periods SET available = NEW.budget, alerted = 0, counted_at = NULL, counts = counts + 1 WHERE budget_id IN
    (SELECT id FROM budgets WHERE project_id = NEW.id AND of_project = 1 AND archived_at IS NULL AND amount <> NEW.budget);
  UPDATE budgets SET amount = NEW.budget, version = version + 1
  WHERE project_id = NEW.id AND of_project = 1 AND archived_at IS NULL AND NEW.budget IS NOT NULL AND amount <> NEW.budget;
  DELETE FROM budgets WHERE project_id = NEW.id AND of_project = 1 AND NEW.budget IS NULL;
  INSERT INTO budgets
    (uid, name, project_id, measure, amount, period, roll_over, thresholds, of_project, version, created_at)
  SELECT randomblob(16), NEW.name, NEW.id, 'cost', NEW.budget, 'once', 0,
    '[{"percent":50,"leads":true,"billing":true},{"percent":80,"leads":true,"billing":true},{"percent":100,"leads":true,"billing":true}]',
    1, 1, unixepoch() * 1000
  WHERE NEW.budget IS NOT NULL AND NOT EXISTS (SELECT 1 FROM budgets WHERE project_id = NEW.id AND of_project = 1);
  INSERT INTO budget_periods
    (budget_id, first_day, starts_at, ends_at, billions, units, millionths, entries, unpriced_entries, available, alerted, counts)
  SELECT id, '0001-01-01', -62135596800000, 253402300800000, 0, 0, 0, 0, 0, amount, 0, 0
  FROM budgets WHERE project_id = NEW.id AND of_project = 1
    AND NOT EXISTS (SELECT 1 FROM budget_periods WHERE budget_id = budgets.id);
END;
-- Of a project that is imported with its budget, the imported budget replaces the one that the project's own field made.
CREATE TRIGGER budgets_of_projects_replaced BEFORE INSERT ON budgets WHEN NEW.of_project = 1
BEGIN
  DELETE FROM budgets WHERE project_id = NEW.project_id AND of_project = 1;
END;
CREATE TRIGGER budgets_of_projects_inserted AFTER INSERT ON budgets WHEN NEW.of_project = 1
BEGIN
  UPDATE projects SET budget = NEW.amount WHERE id = NEW.project_id AND budget IS NOT NEW.amount;
END;
CREATE TRIGGER budgets_of_projects_updated AFTER UPDATE OF amount ON budgets WHEN NEW.of_project = 1 AND OLD.amount <> NEW.amount
BEGIN
  UPDATE projects SET budget = NEW.amount WHERE id = NEW.project_id AND budget IS NOT NEW.amount;
END;
CREATE TRIGGER budgets_of_projects_deleted AFTER DELETE ON budgets WHEN OLD.of_project = 1
BEGIN
  UPDATE projects SET budget = NULL WHERE id = OLD.project_id AND budget IS NOT NULL;
END;
