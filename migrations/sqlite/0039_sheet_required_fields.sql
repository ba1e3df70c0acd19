-- JSON: the names of up to three optional fields that entries on token sheets must have.
ALTER TABLE organization ADD COLUMN sheet_required_fields TEXT NOT NULL DEFAULT '[]';
