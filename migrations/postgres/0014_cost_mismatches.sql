-- Entries whose reported cost is far from their list value: more than ten times, and more than a dollar, apart. They are
-- few, and reports of what is left to check count them.

CREATE INDEX entries_cost_mismatches ON entries (
  started_at, id, status, superseded, reported_cost, list_value, manager_id, project_id
) WHERE abs(reported_cost - list_value) > 1000000000
  AND ((reported_cost - 1) / 10 - list_value >= 0 OR (list_value - 1) / 10 - reported_cost >= 0);
