-- Payments of bills: any number of them, which are reversed and never deleted.

CREATE TABLE bill_payments (
  bill_id bigint NOT NULL REFERENCES bills (id),
  -- Counts up from 1 in each bill.
  number bigint NOT NULL CHECK (number > 0),
  -- In the minor unit of the bill's currency, with the sign of the bill's total: a credit note is paid by a refund.
  amount bigint NOT NULL,
  paid_on text COLLATE "C" NOT NULL CHECK (length(paid_on) = 10),
  reference text COLLATE "C",
  -- Of an amount that was offset and not transferred: the credit note; on a credit note, the bill.
  offset_id bigint REFERENCES bills (id),
  created_at bigint NOT NULL,
  -- NULL for the command line.
  created_by bigint REFERENCES users (id),
  reversed_at bigint,
  reversed_by bigint REFERENCES users (id) CHECK (reversed_by IS NULL OR reversed_at IS NOT NULL),
  reverse_reason text COLLATE "C" CHECK ((reverse_reason IS NOT NULL) = (reversed_at IS NOT NULL)),
  PRIMARY KEY (bill_id, number)
);
CREATE INDEX bill_payments_by_offset ON bill_payments (offset_id) WHERE offset_id IS NOT NULL;

-- A sent bill is never edited: only its payments and its state change. A void one stays void, and a paid one is not
-- voided. One that is being prepared has not been sent to anybody.
CREATE OR REPLACE FUNCTION keep_bill() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.state = 'preparing' THEN
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
  END IF;
  IF TG_OP = 'DELETE' OR OLD.state = 'void' OR (OLD.state = 'paid' AND NEW.state = 'void') OR NEW.state = 'preparing'
    OR NEW.number <> OLD.number OR NEW.document <> OLD.document OR NEW.total <> OLD.total
  THEN
    RAISE EXCEPTION 'a bill is kept as it was sent' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END
$$;

-- The sum of the payments that were not reversed.
ALTER TABLE bills ADD COLUMN paid_amount bigint NOT NULL DEFAULT 0 CHECK (paid_amount = 0 OR state IN ('sent', 'paid'));
UPDATE bills SET paid_amount = total WHERE state = 'paid';
INSERT INTO bill_payments (bill_id, number, amount, paid_on, reference, created_at, created_by)
SELECT bills.id, 1, bills.total, bills.paid_on, bills.paid_reference, coalesce(audit.at, bills.created_at), audit.user_id
FROM bills LEFT JOIN audit ON audit.id = (SELECT max(id) FROM audit
  WHERE object_id = 'bil_' || encode(bills.uid, 'hex') AND action IN ('bill.paid', 'credit_note.paid'))
WHERE bills.state = 'paid';
CREATE INDEX bills_unpaid ON bills (due_on) WHERE state = 'sent';

CREATE FUNCTION keep_payment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' OR OLD.reversed_at IS NOT NULL OR NEW.bill_id <> OLD.bill_id OR NEW.number <> OLD.number
    OR NEW.amount <> OLD.amount OR NEW.paid_on <> OLD.paid_on OR NEW.reference IS DISTINCT FROM OLD.reference
    OR NEW.offset_id IS DISTINCT FROM OLD.offset_id OR NEW.created_at <> OLD.created_at
    OR NEW.created_by IS DISTINCT FROM OLD.created_by
  THEN
    RAISE EXCEPTION 'a payment is only reversed' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER bill_payments_updated BEFORE UPDATE ON bill_payments FOR EACH ROW EXECUTE FUNCTION keep_payment();
CREATE TRIGGER bill_payments_deleted BEFORE DELETE ON bill_payments FOR EACH ROW EXECUTE FUNCTION keep_payment();
