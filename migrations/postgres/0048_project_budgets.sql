-- The same as ../sqlite/0048_project_budgets.sql.
CREATE OR REPLACE TRIGGER projects_budgeted_inserted AFTER INSERT ON projects
FOR EACH ROW WHEN (NEW.client_id IS NOT NULL OR NEW.markup_ppm IS NOT NULL OR NOT NEW.billable)
EXECUTE FUNCTION budget_inserted_project();
