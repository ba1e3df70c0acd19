-- Entries may be voided.

ALTER TABLE entries DROP CONSTRAINT entries_status_check;
ALTER TABLE entries ADD CONSTRAINT entries_status_check
CHECK (status IN ('submitted', 'draft', 'pending', 'approved', 'rejected', 'billed', 'held', 'discarded', 'voided'));
ALTER TABLE entries DROP CONSTRAINT entries_off_sheet_check;
ALTER TABLE entries ADD CONSTRAINT entries_off_sheet_check
CHECK (sheet_id IS NOT NULL OR status IN ('submitted', 'approved', 'rejected', 'billed', 'held', 'discarded', 'voided'));

-- What a person has decided about its figures, against what its session reports; NULL for nearly all. JSON.
ALTER TABLE entries ADD COLUMN amendment text COLLATE "C" CHECK (amendment IS NULL OR amendment::json IS NOT NULL);
