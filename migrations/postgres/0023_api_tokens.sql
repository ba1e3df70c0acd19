-- API tokens, with which programs may do what their scopes and their creator's role allow. Off until an admin turns
-- them on.
ALTER TABLE organization ADD COLUMN api_tokens boolean NOT NULL DEFAULT false;

-- JSON lists of API tokens: what they may do, and from which networks; NULL for any.
ALTER TABLE tokens ADD COLUMN scopes text COLLATE "C";
ALTER TABLE tokens ADD COLUMN networks text COLLATE "C";
ALTER TABLE tokens DROP CONSTRAINT tokens_kind_check;
ALTER TABLE tokens ADD CHECK (kind IN ('svc', 'read', 'org', 'api'));
ALTER TABLE tokens ADD CHECK ((scopes IS NOT NULL) = (kind = 'api'));
ALTER TABLE tokens ADD CHECK (networks IS NULL OR kind = 'api');
