-- The same as ../sqlite/0064_sign_in_links.sql.
ALTER TABLE one_time_links DROP CONSTRAINT one_time_links_purpose_check;
ALTER TABLE one_time_links ADD CHECK (purpose IN ('set_up', 'invitation', 'password', 'sign_in'));
