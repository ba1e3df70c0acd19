-- A credit note for all that is left of a bill can release its entries, so that another bill includes them.

-- That credit note.
ALTER TABLE bills ADD COLUMN released_by_id bigint REFERENCES bills (id);

-- A sent bill is never edited: only its payments and its state change, and its entries are released once. A void one
-- stays void, and a paid one is not voided. One that is being prepared has not been sent to anybody.
CREATE OR REPLACE FUNCTION keep_bill() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.state = 'preparing' THEN
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
  END IF;
  IF TG_OP = 'DELETE' OR OLD.state = 'void' OR (OLD.state = 'paid' AND NEW.state = 'void') OR NEW.state = 'preparing'
    OR NEW.number <> OLD.number OR NEW.document <> OLD.document OR NEW.total <> OLD.total
    OR (OLD.released_by_id IS NOT NULL
      AND (NEW.released_by_id IS DISTINCT FROM OLD.released_by_id OR NEW.state = 'void'))
  THEN
    RAISE EXCEPTION 'a bill is kept as it was sent' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END
$$;
