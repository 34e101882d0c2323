-- Symbols of any type have names that do not depend on the settings of a session.
SELECT plan(13);
\ir ../lib/checks.sql

CREATE SCHEMA elsewhere;
CREATE TABLE elsewhere.place ();
CREATE TABLE given AS SELECT id, date '2026-01-30' + id % 3 AS day,
  timestamp '2026-01-30 12:34:56.7' + id % 3 * interval '31 hours' AS at,
  timestamptz '2026-01-30 12:34:56+00' + id % 3 * interval '1 day' AS moment,
  id % 3 * interval '1 day 2 hours' AS span, (0.1 + 1e-14 * (id % 3))::float8 AS number,
  (0.3 + 1e-3 * (id % 3))::float4 AS short,
  tstzrange('2026-01-30 00:00:00+00', '2026-01-30 12:00:00+00'::timestamptz + id % 3
    * interval '1 day') AS range,
  decode('0' || id % 3 || '5c', 'hex') AS bytes,
  ('{pg_class,elsewhere.place,pg_proc}'::regclass[])[1 + id % 3] AS catalog
FROM generate_series(1, 30) AS id;

-- For every column: a model and a score under the settings here, and the score under others.
CREATE TABLE settings (value text);
INSERT INTO settings VALUES ('SET datestyle = ''German'''), ('SET datestyle = ''SQL, DMY'''),
  ('SET intervalstyle = ''iso_8601'''), ('SET timezone = ''Asia/Kathmandu'''),
  ('SET extra_float_digits = -5'), ('SET extra_float_digits = 0'),
  ('SET bytea_output = ''escape'''), ('SET quote_all_identifiers = on'),
  ('SET search_path = public, elsewhere');
CREATE FUNCTION outcomes(name text) RETURNS TABLE (setting text, wrong boolean) LANGUAGE plpgsql
AS $$
DECLARE
  fit text := format('SELECT hmm_fit(%1$I, 2, ''{"emission": "categorical", "tol": 1e6}'') FROM
    (SELECT array_agg(%1$I ORDER BY id) AS %1$I FROM given) AS g', name);
  score text := format('SELECT hmm_log_likelihood($1, array_agg(%1$I ORDER BY id)) FROM given',
    name);
  model bayes_model;
  other bayes_model;
  known float8;
  here float8;
BEGIN
  EXECUTE fit INTO model;
  EXECUTE score INTO known USING model;
  FOR setting IN SELECT value FROM settings LOOP
    EXECUTE setting;
    EXECUTE score INTO here USING model;
    EXECUTE fit INTO other;
    wrong := NOT (known < -1 AND here = known
      AND model::jsonb - 'seconds' = other::jsonb - 'seconds');
    RETURN NEXT;
    RESET datestyle;
    RESET intervalstyle;
    RESET timezone;
    RESET extra_float_digits;
    RESET bytea_output;
    RESET quote_all_identifiers;
    RESET search_path;
  END LOOP;
END $$;
SET client_min_messages = error;
SELECT never(format('SELECT * FROM outcomes(%L)', name),
  name || ': the same model and the same score under all settings')
FROM unnest('{day,at,moment,span,number,short,range,bytes,catalog}'::text[]) AS name;
SELECT same_rows($$SELECT DISTINCT symbol FROM (SELECT hmm_fit(x, 2, '{"tol": 1e6}') AS model
    FROM (SELECT array_agg(moment ORDER BY id) AS x FROM given) AS g) AS f, hmm_emissions(model)
    ORDER BY 1$$,
  $$VALUES ('2026-01-30 12:34:56+00'), ('2026-01-31 12:34:56+00'), ('2026-02-01 12:34:56+00')$$,
  'a moment is named in UTC');
SELECT is(current_setting('datestyle') || current_setting('timezone'),
  (SELECT reset_val FROM pg_settings WHERE name = 'DateStyle')
    || (SELECT reset_val FROM pg_settings WHERE name = 'TimeZone'),
  'the settings of the session are as they were');

-- An index over a score finds what a scan finds, whatever the settings of either.
CREATE TABLE scored AS SELECT id, ARRAY[day] AS x FROM given;
DO $$
BEGIN
  -- named with their schema, as PostgreSQL 17 makes indexes without a search_path
  EXECUTE format('CREATE FUNCTION score(x date[]) RETURNS float8 IMMUTABLE LANGUAGE sql AS %L',
    format('SELECT public.hmm_log_likelihood(%L::public.bayes_model, x)',
      (SELECT hmm_fit(x, 2, '{"tol": 1e6}')
       FROM (SELECT array_agg(day ORDER BY id) AS x FROM given) AS g)));
END $$;
CREATE INDEX ON scored (score(x));
SET datestyle = 'German';
SET enable_indexscan = off;
SET enable_bitmapscan = off;
CREATE TABLE scanned AS SELECT id FROM scored
  WHERE score(x) = (SELECT score(x) FROM scored WHERE id = 1);
RESET enable_indexscan;
RESET enable_bitmapscan;
SET enable_seqscan = off;
SELECT same_rows($$SELECT id FROM scored WHERE score(x) = (SELECT score(x) FROM scored WHERE id = 1)
  ORDER BY id$$, 'SELECT id FROM scanned ORDER BY id', 'an index finds what a scan finds');

CREATE TABLE amounts AS SELECT hmm_fit(x, 2, '{"emission": "categorical"}') AS m
FROM (SELECT array_agg((ARRAY[1, 1.0, 2.50, 2.5])[1 + id % 4]) AS x FROM given) AS s;
SELECT results_eq($$SELECT DISTINCT label FROM amounts, bayes_parameters(m)
  WHERE parameter = 'probability' ORDER BY 1$$, $$VALUES ('1'), ('2.5')$$,
  'numbers that are equal have one name');

SELECT * FROM finish();
