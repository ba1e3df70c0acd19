-- The tax on a client's bills, which new bills suggest; without it, that of its last bill.
ALTER TABLE clients ADD COLUMN tax_ppm INTEGER CHECK (tax_ppm BETWEEN 0 AND 1000000);
ALTER TABLE clients ADD COLUMN tax_name TEXT;
