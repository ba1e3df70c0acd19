-- A new project changes what budgets count only if it has a client or terms of its own. Reports name new projects: each of them
-- would let every cache be read again.
DROP TRIGGER projects_budgeted_inserted;
CREATE TRIGGER projects_budgeted_inserted AFTER INSERT ON projects
WHEN (NEW.client_id IS NOT NULL OR NEW.markup_ppm IS NOT NULL OR NEW.billable = 0)
  AND EXISTS (SELECT 1 FROM budgets WHERE archived_at IS NULL)
BEGIN UPDATE revision SET value = value + 1; END;
