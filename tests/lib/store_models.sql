-- Makes tests/data/stored_models.copy and stored_models.tsv: small models of every family by many
-- methods, as the version that runs this stores them, and what they say of a row or a sequence.
-- Later versions must read them (tests/sql/stored_models.sql), so this is not run again for models
-- of today; a version with a new form of storage, or new families, adds files of its own beside
-- these.
--
--   tests/lib/server run psql -c 'CREATE EXTENSION pg_bayes' -f tests/lib/data.sql \
--     -f tests/lib/store_models.sql
\ir store.sql

CREATE FUNCTION short(method text, more jsonb) RETURNS jsonb RETURN
  jsonb_build_object('method', method) || more || CASE
    WHEN method IN ('gibbs', 'collapsed', 'slice')
    THEN '{"draws": 4, "warmup": 2, "chains": 1}'::jsonb
    WHEN method = 'kmeans' THEN '{"restarts": 1}'
    ELSE '{"restarts": 1, "max_iter": 2}' END;

INSERT INTO made (name, type, x, model)
SELECT format('gmm %s %s', method, more), 'float8[]', '{3.25,71.5}',
       (SELECT gmm_fit(x, 2, short(method, more)) FROM faithful)
FROM (VALUES
  ('em', '{"covariance": "full"}'::jsonb),
  ('map', '{"covariance": "diagonal"}'),
  ('vi', '{"covariance": "full"}'),
  ('vi', '{"covariance": "tied"}'),
  ('vi', '{"prior": {"type": "independent"}}'),
  ('svi', '{"covariance": "spherical"}'),
  ('kmeans', '{}'),
  ('gibbs', '{"covariance": "tied"}'),
  ('collapsed', '{"covariance": "diagonal"}')) AS v(method, more);

CREATE TABLE births AS
  SELECT id, ARRAY[age, smoke, race, ftv, bwt / 1000] AS x FROM birthwt WHERE id <= 60;
CREATE FUNCTION mixed(method text, more jsonb) RETURNS jsonb RETURN short(method, more ||
  '{"likelihood": ["normal", "bernoulli", "categorical", "poisson", "exponential"]}');
INSERT INTO made (name, type, x, model)
SELECT format('bmm %s mixed', method), 'float8[]', '{24,1,2,1,2.5}',
       (SELECT bmm_fit(x, 2, mixed(method, '{}')) FROM births)
FROM unnest('{em,vi,gibbs}'::text[]) AS method;
INSERT INTO made (name, type, x, model)
SELECT 'bmm vi bernoulli', 'int[]', '{0,1,1,0}',
       bmm_fit(ARRAY[a - 1, b - 1, c - 1, d - 1], 2, short('vi', '{}'), count)
FROM role_conflict;

INSERT INTO made (name, type, x, model)
SELECT format('dpmm %s %s', method, more), 'float8[]', '{3.25,71.5}',
       (SELECT dpmm_fit(x, short(method, more || '{"init": "one"}') ORDER BY id) FROM faithful)
FROM (VALUES
  ('collapsed', '{"covariance": "full"}'::jsonb),
  ('gibbs', '{"covariance": "spherical", "concentration": 0.5, "estimate": "map"}'),
  ('slice', '{"covariance": "diagonal", "estimate": "binder"}')) AS v(method, more);
INSERT INTO made (name, type, x, model)
SELECT format('dpmm %s mixed', method), 'float8[]', '{24,1,2,1,2.5}',
       (SELECT dpmm_fit(x, mixed(method, more) ORDER BY id) FROM births)
FROM (VALUES
  ('collapsed', '{"estimate": "bipartition"}'::jsonb),
  ('vi', '{"truncation": 3}')) AS v(method, more);

-- Titles, in which one letter stands for most consonants.
CREATE TABLE words AS
  SELECT page, (string_to_array(
    translate(lower(title), 'bcdfgijklmnpqrsuvwxyz', 'bbbbbbbbbbbbbbbbbbbb'), NULL))[1:12] AS x
  FROM tutorial;
INSERT INTO made (name, type, x, model)
SELECT format('hmm %s symbols', method), 'text[]', '{t,h,e," ",e,NULL,unknown}',
       (SELECT hmm_fit(x, 2, short(method, '{}') ORDER BY page) FROM words)
FROM unnest('{vi,gibbs}'::text[]) AS method;
INSERT INTO made (name, type, x, model)
SELECT 'hmm em left-to-right', 'text[]', '{t,h,e}',
       hmm_fit(x, 3, short('em', '{"topology": "left-to-right"}') ORDER BY page)
FROM words;
CREATE TABLE days AS
  SELECT t / 60 AS day, array_agg(round(waiting / 10)::int ORDER BY t) AS tens,
    array_agg(duration > 3 ORDER BY t) AS long,
    array_agg(ARRAY[waiting, duration] ORDER BY t) AS duo,
    array_agg(ARRAY[waiting, (duration > 3)::int] ORDER BY t) AS mixed
  FROM geyser GROUP BY 1;
INSERT INTO made (name, type, x, model)
SELECT format('hmm %s %s', method, more), 'float8[]', '{{55,4.5},{80,2},{NULL,NULL},{71,3.9}}',
       (SELECT hmm_fit(duo, 2, short(method, more) ORDER BY day) FROM days)
FROM (VALUES
  ('vi', '{"covariance": "full"}'::jsonb),
  ('em', '{"covariance": "tied"}'),
  ('gibbs', '{"covariance": "diagonal"}'),
  ('svi', '{"covariance": "spherical"}')) AS v(method, more);
INSERT INTO made (name, type, x, model)
SELECT 'hmm vi mixed', 'float8[]', '{{55,1},{80,0},{NULL,1}}',
       hmm_fit(mixed, 2, short('vi', '{"emission": ["normal", "bernoulli"]}') ORDER BY day)
FROM days
UNION ALL
SELECT 'hmm map counts', 'int[]', '{5,8,7,NULL,6}',
       hmm_fit(tens, 2, short('map', '{"emission": "poisson"}') ORDER BY day)
FROM days
UNION ALL
SELECT 'hmm vi booleans', 'bool[]', '{t,f,t,t,f,NULL}',
       hmm_fit(long, 2, short('vi', '{}') ORDER BY day)
FROM days;

\copy (SELECT name, model FROM made ORDER BY id) TO 'tests/data/stored_models.copy' (FORMAT binary)
\copy (SELECT name, type, x, answers, model FROM said ORDER BY id) TO 'tests/data/stored_models.tsv'
