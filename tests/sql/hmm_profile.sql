-- bayes_profile: what sets the states of hidden Markov models apart, against plain SQL.
SELECT plan(15);
\ir ../lib/checks.sql
SET client_min_messages = error;

-- Machines that are idle or busy. Of each step one thing or another is not known, of some nothing.
CREATE TABLE log AS
SELECT m AS machine, t, CASE WHEN t % 10 > 0 THEN 1e7 + busy * 6 + sin(t * 7.3 + m) END AS load,
  CASE WHEN t % 7 > 0 THEN busy = 1 AND t % 3 > 0 END AS door,
  CASE WHEN t % 9 <> 4 THEN (ARRAY['hum', 'Klack', 'größer', 'Zz'])[1 + busy * 2 + (t * m) % 2]
    END AS sound
FROM generate_series(1, 3) AS m, generate_series(1, 300) AS t,
  LATERAL (SELECT ((t + 3 * m) / 13 % 2)::int AS busy) AS b;
CREATE TYPE step AS (load float8, door boolean, sound text);
CREATE TABLE series AS
SELECT machine, array_agg((load, door, sound)::step ORDER BY t) AS records,
  array_agg(ARRAY[load, t % 5] ORDER BY t) AS vectors, array_agg(sound ORDER BY t) AS symbols,
  array_agg(ARRAY[CASE WHEN t % 8 > 0 THEN length(sound) END] ORDER BY t) AS codes
FROM log GROUP BY machine;
CREATE TABLE models AS
SELECT hmm_fit(records, 3, '{"max_iter": 20}' ORDER BY machine) AS r,
  hmm_fit(vectors, 2, '{"method": "gibbs", "draws": 20, "chains": 1}' ORDER BY machine) AS v,
  hmm_fit(symbols, 2, '{"method": "em"}' ORDER BY machine) AS s,
  hmm_fit(codes, 2, '{"emission": ["categorical"]}' ORDER BY machine) AS c FROM series;
CREATE TABLE profiles AS
SELECT form, p.* FROM (
  SELECT 'r' AS form, bayes_profile(r, records ORDER BY machine) AS all_of_it FROM models, series
  UNION ALL SELECT 'v', bayes_profile(v, vectors ORDER BY machine) FROM models, series
  UNION ALL SELECT 's', bayes_profile(s, symbols ORDER BY machine) FROM models, series
  UNION ALL SELECT 'c', bayes_profile(c, codes ORDER BY machine) FROM models, series) AS a,
  unnest(all_of_it) AS p;

-- The same by hand: each step and number, with the probability of the state.
CREATE TABLE numbers AS
SELECT form, state AS component, element, category, label, x, p[t][state] AS weight
FROM (SELECT 'r' AS form, machine, hmm_probabilities(r, records) AS p FROM models, series
  UNION ALL SELECT 'v', machine, hmm_probabilities(v, vectors) FROM models, series
  UNION ALL SELECT 's', machine, hmm_probabilities(s, symbols) FROM models, series
  UNION ALL SELECT 'c', machine, hmm_probabilities(c, codes) FROM models, series) AS smoothed
  JOIN log USING (machine), generate_series(1, array_length(p, 2)) AS state,
  LATERAL (SELECT CASE WHEN t % 8 > 0 THEN length(sound) END) AS n(code),
  LATERAL (VALUES ('r', 1, NULL::int, NULL, load), ('r', 2, NULL, NULL, door::int),
    ('v', 1, NULL, NULL, load), ('v', 2, NULL, NULL, t % 5),
    ('r', 3, 0, 'Klack', (sound = 'Klack')::int), ('r', 3, 1, 'Zz', (sound = 'Zz')::int),
    ('r', 3, 2, 'größer', (sound = 'größer')::int), ('r', 3, 3, 'hum', (sound = 'hum')::int),
    ('s', 1, NULL, 'Klack', (sound = 'Klack')::int), ('s', 1, NULL, 'Zz', (sound = 'Zz')::int),
    ('s', 1, NULL, 'größer', (sound = 'größer')::int),
    ('s', 1, NULL, 'hum', (sound = 'hum')::int),
    ('c', 1, 2, NULL, (code = 2)::int), ('c', 1, 3, NULL, (code = 3)::int),
    ('c', 1, 5, NULL, (code = 5)::int), ('c', 1, 6, NULL, (code = 6)::int))
    AS u(form2, element, category, label, x)
WHERE form = form2;
CREATE TABLE expected AS
SELECT *, value - others AS difference, (value - others) / sd AS effect
FROM (SELECT form, component, element, category, label, sum(weight) AS rows,
    sum(weight * x) / sum(weight) FILTER (WHERE x IS NOT NULL) AS value,
    sum((1 - weight) * x) / sum(1 - weight) FILTER (WHERE x IS NOT NULL) AS others,
    stddev_pop(x) AS sd,
    coalesce(sum(weight) FILTER (WHERE x IS NULL), 0) / sum(weight) AS missing
  FROM numbers GROUP BY 1, 2, 3, 4, 5) AS s;
SELECT set_eq('SELECT form, component, element, category, label FROM profiles',
  'SELECT form, component, element, category::bigint, label FROM expected',
  'a line for every number of every state');
SELECT never($$SELECT p.*, e.*, NOT (near(p.rows, e.rows, 1e-8) AND near(p.value, e.value, 1e-8)
    AND near(p.others, e.others, 1e-8) AND near(p.missing, e.missing, 1e-8)
    AND abs(p.difference - e.difference) < 1e-4 AND abs(p.effect - e.effect) < 1e-5) AS wrong
  FROM profiles AS p JOIN expected AS e USING (form, component, element)
  WHERE p.label IS NOT DISTINCT FROM e.label AND p.category IS NOT DISTINCT FROM e.category$$,
  'weighted by the smoothed probabilities');
SELECT never($$SELECT form, abs(sum(rows) - 900) > 1e-6 AS wrong FROM profiles
  GROUP BY form, element, category, label$$, 'every step counts once');
SELECT never($$SELECT *, rank <> row_number() OVER (PARTITION BY form, component
    ORDER BY abs(effect) DESC, element, category, label COLLATE "C") AS wrong FROM profiles$$,
  'ranked within a state');
SELECT set_eq($$SELECT DISTINCT element, column_name FROM profiles WHERE form = 'r'$$,
  $$VALUES (1, 'load'), (2, 'door'), (3, 'sound')$$, 'columns have their names');
SELECT is((SELECT count(*) FROM profiles WHERE form <> 'r' AND column_name IS NOT NULL), 0::bigint,
  'elements of arrays have none');

-- A sequence longer than a piece, in a file.
CREATE TABLE long AS SELECT t, sin(t / 9.0) * 3 + t % 2 AS a, t % 10 AS b
FROM generate_series(1, 60000) AS t;
CREATE TABLE of_long AS SELECT hmm_fit(x, 2) AS model
FROM (SELECT array_agg(ARRAY[a, b] ORDER BY t) AS x FROM long WHERE t <= 3000) AS s;
SET maintenance_work_mem = '1MB';
CREATE TABLE of_all AS SELECT p.*
FROM unnest((SELECT bayes_profile(model, x)
    FROM (SELECT array_agg(ARRAY[a, b] ORDER BY t) AS x FROM long) AS s, of_long)) AS p;
RESET maintenance_work_mem;
SELECT never($$SELECT p.*, e.*, NOT (near(p.value, CASE element WHEN 1 THEN e.a ELSE e.b END, 1e-8)
    AND near(p.rows, e.rows, 1e-8)) AS wrong
  FROM of_all AS p JOIN (SELECT state AS component, sum(p[state]) AS rows,
      sum(p[state] * a) / sum(p[state]) AS a, sum(p[state] * b) / sum(p[state]) AS b
    FROM (SELECT a, b, hmm_probabilities((SELECT model FROM of_long), ROW(a, b))
            OVER (ORDER BY t) AS p FROM long) AS w, generate_series(1, 2) AS state
    GROUP BY state) AS e USING (component)$$, 'a long sequence');

-- ---- what is left out, and what cannot be ----

SELECT same((SELECT bayes_profile(r, x ORDER BY machine) FROM models, (
    SELECT machine, records AS x FROM series UNION ALL SELECT 0, NULL UNION ALL SELECT 1, '{}')
    AS q), (SELECT bayes_profile(r, records ORDER BY machine) FROM models, series),
  'sequences that are NULL or empty');
SELECT is((SELECT bayes_profile(r, records) FROM models, series WHERE false), NULL, 'no sequences');
SELECT is((SELECT bayes_profile(NULL, records) FROM series), NULL, 'no model');
SELECT is(max(missing), 1::float8, 'labels that the model does not know are missing')
FROM models, unnest((SELECT bayes_profile(r, ARRAY[(1e7, true, 'new')::step])
                     FROM models)) AS p WHERE column_name = 'sound' AND label = 'hum';
SELECT throws_ok('SELECT bayes_profile(m, records) FROM series,
  (SELECT lda_fit(''{a,b}''::text[], 1) AS m) AS g', '42804', NULL, 'another family');
SELECT throws_ok($$SELECT bayes_profile(r, ARRAY[q]) FROM models, (SELECT 1 AS load) AS q$$,
  '22023',
  'rows have no column "door"', 'columns that there are not');
SELECT throws_ok('SELECT bayes_profile(r, vectors) FROM models, series', '2202E', NULL,
  'another shape');
SELECT throws_ok('SELECT bayes_profile(m, symbols) FROM series, LATERAL (SELECT s AS m FROM models
    UNION ALL SELECT hmm_fit(symbols, 1) FROM series) AS q', '22023', NULL, 'several models');
SELECT * FROM finish();
