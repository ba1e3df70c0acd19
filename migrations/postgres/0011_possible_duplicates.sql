-- Two people report the same session: the later one is held as a possible duplicate until someone decides.

ALTER TABLE organization ADD COLUMN same_session text COLLATE "C" NOT NULL DEFAULT 'hold'
CHECK (same_session IN ('hold', 'count'));

-- Whether the session may repeat another person's, and what was decided; NULL for nearly all. The status of its entries
-- follows, also of those that are reported later.
ALTER TABLE sessions ADD COLUMN duplicate text COLLATE "C"
CHECK (duplicate IS NULL OR duplicate = 'held' OR duplicate = 'released' OR duplicate = 'discarded');

ALTER TABLE entries DROP CONSTRAINT entries_status_check;
ALTER TABLE entries ADD CONSTRAINT entries_status_check
CHECK (status IN ('submitted', 'draft', 'pending', 'approved', 'rejected', 'billed', 'held', 'discarded'));
ALTER TABLE entries DROP CONSTRAINT entries_check13;
ALTER TABLE entries ADD CONSTRAINT entries_off_sheet_check
CHECK (sheet_id IS NOT NULL OR status IN ('submitted', 'approved', 'rejected', 'billed', 'held', 'discarded'));

-- What a person has corrected, which reports no longer change: JSON, a list of 'summary' and 'labels'.
ALTER TABLE entries ADD COLUMN corrected text COLLATE "C" CHECK (corrected IS NULL OR corrected::json IS NOT NULL);
-- Nothing changes that reports sum up, and the trigger would keep every row before and after.
ALTER TABLE entries DISABLE TRIGGER entries_marked_updated;
UPDATE entries SET corrected = corrections.fields
FROM (
  SELECT entry_id, json_agg(DISTINCT field ORDER BY field)::text AS fields
  FROM entry_history, json_object_keys(details::json) AS field
  WHERE action IN ('corrected', 'placed') AND field IN ('summary', 'labels')
  GROUP BY entry_id
) AS corrections
WHERE corrections.entry_id = entries.id AND entries.session_id IS NOT NULL;
ALTER TABLE entries ENABLE TRIGGER entries_marked_updated;

-- Few, and counted whenever a person asks who they are.
CREATE INDEX entries_held ON entries (manager_id) WHERE status = 'held';
