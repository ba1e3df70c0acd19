-- A credit note for all that is left of a bill can release its entries, so that another bill includes them.

-- That credit note.
ALTER TABLE bills ADD COLUMN released_by_id INTEGER REFERENCES bills (id);

-- A sent bill is never edited: only its payments and its state change, and its entries are released once. A void one
-- stays void, and a paid one is not voided. One that is being prepared has not been sent to anybody.
DROP TRIGGER bills_updated;
CREATE TRIGGER bills_updated BEFORE UPDATE ON bills
WHEN OLD.state <> 'preparing' AND (OLD.state = 'void' OR (OLD.state = 'paid' AND NEW.state = 'void')
  OR NEW.state = 'preparing' OR NEW.number <> OLD.number OR NEW.document <> OLD.document OR NEW.total <> OLD.total
  OR (OLD.released_by_id IS NOT NULL AND (NEW.released_by_id IS NOT OLD.released_by_id OR NEW.state = 'void')))
BEGIN SELECT RAISE(ABORT, 'a bill is kept as it was sent'); END;
