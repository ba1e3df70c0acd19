-- Usage that most entries do not have is one column of JSON: for each threshold the sum of the requests above it, and the
-- tier, speed and region of the service, uses of tools, and tokens of audio and images.
ALTER TABLE entries ADD COLUMN usage_details TEXT CHECK (usage_details IS NULL OR json_valid(usage_details));
UPDATE entries SET usage_details = '{"above":[[200000,' || over_200k_input || ',' || over_200k_output || ','
  || over_200k_cache_read || ',' || over_200k_cache_write || ',' || over_200k_cache_write_1h || ']]}'
WHERE over_200k_input IS NOT NULL;
-- The next migration rebuilds the table without the five columns: dropping each would write the whole table again.

UPDATE session_sources SET totals = json_remove(
  json_set(totals, '$.details', CASE WHEN json_type(totals, '$.over_200k') = 'array'
    THEN json('{"above":[[200000,' || substr(json_extract(totals, '$.over_200k'), 2) || ']}') END),
  '$.over_200k');
UPDATE telemetry_totals SET totals = json_remove(
  json_set(totals, '$.above', CASE WHEN json_type(totals, '$.over_200k') = 'array'
    THEN json('[[200000,' || substr(json_extract(totals, '$.over_200k'), 2) || ']') END),
  '$.over_200k');

-- JSON: prices of audio and images, tools, service tiers, speeds, regions and hours; absent if there are none.
ALTER TABLE prices ADD COLUMN extras TEXT CHECK (extras IS NULL OR json_valid(extras));
