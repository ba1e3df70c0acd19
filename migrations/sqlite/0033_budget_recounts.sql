-- Periods of budgets are counted again from time to time, and when the budget of their project changes.

-- When all entries of the period are counted again; NULL until they are counted.
ALTER TABLE budget_periods ADD COLUMN recount_at INTEGER;
UPDATE budget_periods SET recount_at = counted_at;

DROP TRIGGER projects_budget_updated;
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
