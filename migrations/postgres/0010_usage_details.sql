-- Usage that most entries do not have is one column of JSON: for each threshold the sum of the requests above it, and the
-- tier, speed and region of the service, uses of tools, and tokens of audio and images.
ALTER TABLE entries ADD COLUMN usage_details text COLLATE "C" CHECK (usage_details IS NULL OR usage_details::json IS NOT NULL);
-- Nothing changes that reports sum up, and the trigger would keep every row before and after.
ALTER TABLE entries DISABLE TRIGGER entries_marked_updated;
UPDATE entries SET usage_details = '{"above":[[200000,' || over_200k_input || ',' || over_200k_output || ','
  || over_200k_cache_read || ',' || over_200k_cache_write || ',' || over_200k_cache_write_1h || ']]}'
WHERE over_200k_input IS NOT NULL;
ALTER TABLE entries ENABLE TRIGGER entries_marked_updated;
ALTER TABLE entries
  DROP COLUMN over_200k_input,
  DROP COLUMN over_200k_output,
  DROP COLUMN over_200k_cache_read,
  DROP COLUMN over_200k_cache_write,
  DROP COLUMN over_200k_cache_write_1h;

UPDATE session_sources SET totals = (totals::jsonb - 'over_200k' || jsonb_build_object('details',
  CASE WHEN jsonb_typeof(totals::jsonb -> 'over_200k') = 'array'
    THEN jsonb_build_object('above', jsonb_build_array('[200000]'::jsonb || (totals::jsonb -> 'over_200k'))) END))::text;
UPDATE telemetry_totals SET totals = (totals::jsonb - 'over_200k' || jsonb_build_object('above',
  CASE WHEN jsonb_typeof(totals::jsonb -> 'over_200k') = 'array'
    THEN jsonb_build_array('[200000]'::jsonb || (totals::jsonb -> 'over_200k')) END))::text;

-- JSON: prices of audio and images, tools, service tiers, speeds, regions and hours; absent if there are none.
ALTER TABLE prices ADD COLUMN extras text COLLATE "C" CHECK (extras IS NULL OR extras::json IS NOT NULL);
