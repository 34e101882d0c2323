-- Sequences whose steps are records: columns by name, of several types, with NULLs. Whatever a step
-- is, the model is the same.
SELECT plan(60);
\ir ../lib/checks.sql
SET client_min_messages = error;

-- Machines that are idle or busy for some time; every tenth load is not known.
CREATE TYPE shift AS ENUM ('night', 'day');
CREATE TYPE step AS (load float8, heat numeric);
CREATE TABLE log (machine text, t int, gone text, load float8, heat numeric, door boolean,
  sound text, alarms smallint, shift shift);
INSERT INTO log
SELECT m, t, 'x', CASE WHEN t % 10 <> 9 THEN busy * 6 + sin(t * 7.3 + n) END,
  round((20 + 10 * busy + 2 * cos(t * 3.7 * n))::numeric, 2), busy = 1 AND t % 3 > 0,
  CASE WHEN t % 9 <> 4 THEN (ARRAY['hum', 'clack', 'ALARM', 'Zz'])[1 + busy * 2 + (t * n) % 2] END,
  busy * 3 + t % 2, (enum_range(NULL::shift))[1 + busy]
FROM unnest('{a,b,c}'::text[]) WITH ORDINALITY AS u(m, n), generate_series(1, 90) AS t,
  LATERAL (SELECT ((t + 3 * n) / 13 % 2)::int AS busy) AS b;
ALTER TABLE log DROP COLUMN gone;

-- ---- one model, whatever the form of the steps ----

-- (A table has no column of type record[].)
CREATE TABLE forms AS
SELECT machine, array_agg(ARRAY[load, heat] ORDER BY t) AS vectors,
  array_agg((load, heat)::step ORDER BY t) AS typed, array_agg(ARRAY[heat] ORDER BY t) AS one,
  array_agg(CASE t WHEN 1 THEN 1 END ORDER BY t) AS states
FROM log GROUP BY machine;
CREATE TABLE fits (method text, form text, model bayes_model);
INSERT INTO fits
SELECT method, form, model
FROM (VALUES ('vi', '{}'::jsonb), ('em', '{"covariance": "diagonal"}'), ('map', '{}'),
    ('svi', '{"batch_size": 2}'), ('gibbs', '{"draws": 20, "chains": 1}'),
    ('vi', '{"emission": ["normal"]}')) AS o(method, more),
  LATERAL (SELECT jsonb_build_object('method', method) || more AS options) AS p,
  LATERAL (SELECT hmm_fit(vectors, 2, options ORDER BY machine) AS v,
    hmm_fit(records, 2, options ORDER BY machine) AS r,
    hmm_fit(nameless, 2, options ORDER BY machine) AS n,
    hmm_fit(typed, 2, options ORDER BY machine) AS t,
    hmm_fit(vectors, states, 2, options ORDER BY machine) AS known,
    hmm_fit(records, states, 2, options ORDER BY machine) AS known_records FROM forms JOIN
      (SELECT machine, array_agg(r ORDER BY t) AS records,
         array_agg(ROW(l.load, l.heat) ORDER BY t) AS nameless
       FROM log AS l, LATERAL (SELECT load, heat) AS r GROUP BY machine) AS q USING (machine)) AS f,
  LATERAL (VALUES ('vectors', v), ('records', r), ('nameless', n), ('typed', t), ('known', known),
    ('known records', known_records)) AS m(form, model);
SELECT never($$SELECT a.method, a.form, timeless(a.model, 'row_columns')
    <> timeless(b.model, 'row_columns') AS wrong
  FROM fits AS a JOIN fits AS b USING (method) WHERE b.form = 'vectors' AND a.form !~ 'known'
    AND a.model::jsonb->'options'->'emission' = b.model::jsonb->'options'->'emission'$$,
  'records are vectors with names');
SELECT never($$SELECT a.method, timeless(a.model, 'row_columns')
    <> timeless(b.model, 'row_columns') AS wrong
  FROM fits AS a JOIN fits AS b USING (method) WHERE a.form = 'known records' AND b.form = 'known'
    AND a.model::jsonb->'options'->'emission' = b.model::jsonb->'options'->'emission'$$,
  'with known states too');
SELECT is(timeless(hmm_fit(heats, 2, NULL, 1 ORDER BY machine), 'row_columns'),
  (SELECT timeless(hmm_fit(one, 2, NULL, 1 ORDER BY machine), 'row_columns') FROM forms),
  'one column, and weights')
FROM (SELECT machine, array_agg(r ORDER BY t) AS heats FROM log, LATERAL (SELECT heat) AS r
  GROUP BY machine) AS q;
SELECT results_eq($$SELECT DISTINCT form, column_names FROM fits, LATERAL (SELECT
    string_agg(name, ' ' ORDER BY element) AS column_names FROM bayes_columns(model)) AS c
  ORDER BY form$$, $$VALUES ('known', NULL), ('known records', 'load heat'), ('nameless', 'f1 f2'),
  ('records', 'load heat'), ('typed', 'load heat'), ('vectors', NULL)$$, 'their names');
SELECT results_eq($$SELECT * FROM hmm_decode('SELECT machine, load, heat FROM log
    ORDER BY machine, t', 2)$$, $$SELECT * FROM hmm_decode('SELECT machine, vectors FROM forms
    ORDER BY machine', 2)$$, 'a query: a step in each row');
SELECT results_eq($$SELECT * FROM hmm_decode('SELECT machine, typed FROM forms
    ORDER BY machine', 2)$$, $$SELECT * FROM hmm_decode('SELECT machine, vectors FROM forms
    ORDER BY machine', 2)$$, 'or records');

-- ---- columns of several types ----

CREATE TABLE mixed AS
SELECT hmm_fit(s, 2, '{"emission": {"alarms": "poisson"}}' ORDER BY machine) AS model
FROM (SELECT machine, array_agg(r ORDER BY t) AS s FROM log,
  LATERAL (SELECT load, heat, door, sound, alarms, shift) AS r GROUP BY machine) AS q;
SELECT results_eq('SELECT c.* FROM mixed, bayes_columns(model) AS c', $$VALUES
  (1, 'load', 'number', NULL::int, NULL::text), (2, 'heat', 'number', NULL, NULL),
  (3, 'door', 'boolean', NULL, NULL), (4, 'sound', 'label', 0, 'ALARM'),
  (4, 'sound', 'label', 1, 'Zz'), (4, 'sound', 'label', 2, 'clack'),
  (4, 'sound', 'label', 3, 'hum'),
  (5, 'alarms', 'number', NULL, NULL), (6, 'shift', 'label', 0, 'day'),
  (6, 'shift', 'label', 1, 'night')$$, 'names, kinds and labels, in the order of their bytes');
SELECT is(options->'emission', '["normal", "normal", "bernoulli", "categorical", "poisson",
  "categorical"]', 'emissions') FROM mixed, bayes_info(model);
SELECT set_eq($$SELECT element, column_name, symbol FROM mixed, hmm_emissions(model)$$,
  $$VALUES (1, 'load', NULL), (2, 'heat', NULL), (3, 'door', '1'), (4, 'sound', 'ALARM'),
  (4, 'sound', 'Zz'), (4, 'sound', 'clack'), (4, 'sound', 'hum'), (5, 'alarms', NULL),
  (6, 'shift', 'day'), (6, 'shift', 'night')$$, 'labels are shown');
SELECT set_eq($$SELECT DISTINCT column_name, symbol FROM mixed, hmm_posterior(model)
  WHERE parameter = 'category_alpha'$$, $$VALUES ('sound', 'ALARM'), ('sound', 'Zz'),
  ('sound', 'clack'), ('sound', 'hum'), ('shift', 'day'), ('shift', 'night')$$,
  'in the posterior too');
CREATE VIEW coded AS SELECT machine, array_agg(ARRAY[load, heat, door::int,
    array_position('{ALARM,Zz,clack,hum}', sound) - 1, alarms,
    array_position('{day,night}', shift::text) - 1]::float8[] ORDER BY t) AS s
  FROM log GROUP BY machine;
SELECT is(timeless(model, 'options', 'row_columns'),
  (SELECT timeless(hmm_fit(s, 2, '{"emission": ["normal",
    "normal", "bernoulli", "categorical", "poisson", "categorical"]}' ORDER BY machine), 'options',
    'row_columns')
  FROM coded), 'as of their codes in vectors') FROM mixed;
SELECT is(model::text::bayes_model, model, 'text and back') FROM mixed;
SELECT is(options->'emission', emission, what) FROM
  (SELECT array_agg(r ORDER BY t) AS s FROM log, LATERAL (SELECT alarms, door, sound) AS r
   WHERE machine = 'a') AS q,
  (VALUES ('{"emission": "poisson"}'::jsonb, '["poisson", "bernoulli", "categorical"]'::jsonb,
     'a name is of numbers'),
    ('{"emission": null}', '["normal", "bernoulli", "categorical"]', 'null is nothing'),
    ('{"emission": ["geometric", "bernoulli", "categorical"]}',
     '["geometric", "bernoulli", "categorical"]', 'names by position')) AS o(given, emission, what),
  LATERAL (SELECT hmm_fit(again, 2, given) AS model FROM (VALUES (s)) AS v(again)) AS f,
  LATERAL bayes_info(model);
SELECT is(options->'emission', '["normal", "poisson"]', 'an object of numbers alone: products')
FROM (SELECT hmm_fit(s, 2, '{"emission": {"alarms": "poisson"}}') AS model FROM (SELECT
  array_agg(r ORDER BY t) AS s FROM log, LATERAL (SELECT heat, alarms) AS r
  WHERE machine = 'a') AS q) AS f, bayes_info(model);
SELECT set_eq($$SELECT symbol FROM (SELECT hmm_fit(s, 2) AS model FROM (SELECT
    array_agg(r ORDER BY t) AS s FROM log, LATERAL (SELECT sound) AS r) AS q) AS f,
  hmm_emissions(model) WHERE column_name = 'sound'$$,
  $$VALUES ('hum'), ('clack'), ('ALARM'), ('Zz')$$, 'one column of labels');

-- ---- scoring, by name ----

CREATE TYPE other AS (later int, shift text, alarms float8, now timestamptz, sound varchar,
  door boolean, load float8, heat float8, more text);
CREATE TABLE sequences AS
SELECT machine, array_agg(l ORDER BY t) AS rows,
  array_agg((t, shift, alarms, now(), sound, door, load, heat, sound)::other ORDER BY t) AS others,
  s AS codes
FROM log AS l JOIN coded USING (machine) GROUP BY machine, s;
CREATE TABLE scored AS
SELECT machine, t, hmm_decode((SELECT model FROM mixed), l) OVER w AS state,
  hmm_probabilities((SELECT model FROM mixed), l) OVER w AS smooth,
  hmm_filter((SELECT model FROM mixed), l) OVER w AS filtered
FROM log AS l WINDOW w AS (PARTITION BY machine ORDER BY t);
SELECT results_eq('SELECT state FROM scored ORDER BY machine, t', $$SELECT s FROM sequences, mixed,
    unnest(hmm_decode(model, codes)) WITH ORDINALITY AS u(s, t) ORDER BY machine, t$$,
  'a window of whole rows, as of their codes');
SELECT results_eq('SELECT state FROM scored ORDER BY machine, t',
  $$SELECT hmm_decode(model, r) OVER w
  FROM mixed, log, LATERAL (SELECT shift, load, heat, door, sound, alarms) AS r
  WINDOW w AS (PARTITION BY machine ORDER BY t) ORDER BY machine, t$$,
  'records of other columns by name');
SELECT never($$SELECT machine, t, NOT (near(smooth[1], p[t][1]) AND near(smooth[2], p[t][2])
    AND near(filtered[1], f[t][1]) AND near(filtered[2], f[t][2])) AS wrong
  FROM scored JOIN (SELECT machine, hmm_probabilities(model, rows) AS p,
    hmm_filter(model, rows) AS f FROM mixed, sequences) AS q USING (machine)$$,
  'smoothed and filtered: windows and arrays of records');
SELECT never($$SELECT machine, hmm_log_likelihood(model, rows) <> hmm_log_likelihood(model, codes)
    OR hmm_log_likelihood(model, rows) <> hmm_log_likelihood(model, others) AS wrong
  FROM mixed, sequences$$, 'any order, other columns beside, other types, codes');
SELECT results_eq('SELECT p.* FROM mixed, sequences, hmm_paths(model, rows, 2) AS p',
  'SELECT p.* FROM mixed, sequences, hmm_paths(model, codes, 2) AS p', 'paths');
SELECT results_eq($$SELECT p.element, p.column_name, p.symbol, p.probability, p.mean FROM mixed,
    sequences, hmm_predict(model, rows) AS p WHERE machine = 'a'$$,
  $$SELECT p.element, p.column_name, p.symbol, p.probability, p.mean FROM mixed,
    sequences, hmm_predict(model, codes) AS p WHERE machine = 'a'$$, 'predictions');
SELECT never($$SELECT machine, NOT (near(hmm_decode(model, unknown)::float8[],
      hmm_decode(model, missing)::float8[])
    AND hmm_log_likelihood(model, unknown) < hmm_log_likelihood(model, missing) - 1) AS wrong
  FROM mixed, (SELECT machine,
    array_agg(u ORDER BY t) AS unknown, array_agg(m ORDER BY t) AS missing FROM log AS l,
    LATERAL (SELECT load, heat, door, CASE t % 5 WHEN 0 THEN 'BANG' ELSE sound END AS sound,
      alarms, shift::text) AS u,
    LATERAL (SELECT u.load, u.heat, u.door, nullif(u.sound, 'BANG') AS sound, u.alarms,
      u.shift) AS m GROUP BY machine) AS q$$, 
  'a label never seen is no evidence of a state, and costs');
SELECT is(hmm_log_likelihood(model, ARRAY[l, NULL, l]), hmm_log_likelihood(model, ARRAY[l, e, l]),
  'a NULL record is a missing step') FROM mixed, log AS l, LATERAL (SELECT NULL::float8 AS load,
    NULL::numeric AS heat, NULL::boolean AS door, NULL::text AS sound, NULL::int AS alarms,
    NULL::text AS shift) AS n, LATERAL (SELECT (NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    NULL)::log AS e) AS m WHERE machine = 'a' AND t = 1;
SELECT is(hmm_decode(model, '{}'::log[]), '{}', 'no steps') FROM mixed;
SELECT results_eq($$SELECT hmm_decode(model, l) OVER w FROM log AS l JOIN (VALUES ('a', 1),
    ('b', 2), ('c', 1)) AS v(machine, which) USING (machine) JOIN (SELECT 1 AS which, model
    FROM mixed UNION ALL SELECT 2, model FROM fits WHERE method = 'em' AND form = 'typed') AS m
    USING (which) WINDOW w AS (PARTITION BY machine ORDER BY t) ORDER BY machine, t$$,
  $$SELECT s FROM sequences JOIN forms USING (machine), mixed, fits,
    unnest(CASE machine WHEN 'b' THEN hmm_decode(fits.model, vectors)
      ELSE hmm_decode(mixed.model, rows) END) WITH ORDINALITY AS u(s, t)
    WHERE method = 'em' AND form = 'typed' ORDER BY machine, t$$,
  'models in turn, each with its own columns');
SELECT results_eq($$SELECT hmm_filter(model, l) OVER (ORDER BY t) FROM fits, log AS l
    WHERE machine = 'a' AND method = 'vi' AND form = 'records'
      AND model::jsonb->'options'->'emission' = '"normal"'$$,
  $$SELECT hmm_filter(model, ROW(load, heat)) OVER (ORDER BY t) FROM fits, log
    WHERE machine = 'a' AND method = 'vi' AND form = 'vectors'
      AND model::jsonb->'options'->'emission' = '"normal"'$$, 'of vectors by position');

-- ---- fits that start from a model ----

CREATE TABLE starts AS
SELECT hmm_fit(r.rows, mixed.model, '{"max_iter": 2}' ORDER BY machine) AS by_rows,
  hmm_fit(r.codes, mixed.model, '{"max_iter": 2}' ORDER BY machine) AS by_codes,
  hmm_update(r.others, mixed.model ORDER BY machine) AS updated,
  hmm_update(r.codes, mixed.model ORDER BY machine) AS updated_by_codes
FROM mixed, sequences AS r;
SELECT is(timeless(by_rows, 'row_columns'), timeless(by_codes, 'row_columns'),
  'from a start model, by name') FROM starts;
SELECT is(timeless(updated, 'row_columns'), timeless(updated_by_codes, 'row_columns'),
  'and an update') FROM starts;
SELECT never($$SELECT m->'row_columns' <> mixed.model::jsonb->'row_columns' AS wrong FROM starts,
    mixed, unnest(ARRAY[by_rows, by_codes, updated, updated_by_codes]::jsonb[]) AS m$$,
  'which keep its columns');

-- A label that is new stands between those of the model, whose codes move.
CREATE TABLE later AS SELECT array_agg((machine, t, load, heat, door,
    CASE t % 7 WHEN 0 THEN 'BANG' ELSE sound END, alarms, shift)::log ORDER BY t) AS rows FROM log
WHERE machine = 'b';
CREATE TABLE later_fits AS
SELECT hmm_fit(rows, model, '{"method": "em", "max_iter": 0}') AS point,
  hmm_fit(rows, model) AS fit,
  hmm_update(rows, model) AS updated FROM later, mixed GROUP BY mixed.*;
SELECT never($$SELECT which, labels <> '{ALARM,BANG,Zz,clack,hum}' AS wrong FROM later_fits,
    LATERAL (VALUES ('point', point), ('fit', fit), ('updated', updated)) AS v(which, model),
    LATERAL (SELECT array_agg(label ORDER BY code) AS labels FROM bayes_columns(model)
      WHERE name = 'sound' AND label IS NOT NULL) AS l$$, 'new labels');
SELECT never($$SELECT state, symbol, NOT near(p.probability / sum(p.probability) OVER w,
    o.probability / sum(o.probability) OVER w) AS wrong
  FROM (SELECT p.* FROM later_fits, hmm_emissions(point) AS p) AS p
  JOIN (SELECT o.* FROM mixed, hmm_emissions(model) AS o) AS o USING (state, symbol, column_name)
  WHERE column_name = 'sound' WINDOW w AS (PARTITION BY state)$$,
  'the others keep their shares');
SELECT never($$SELECT which, NOT (near(p.probability, share, 0.05)) AS wrong FROM later_fits,
    LATERAL (VALUES ('fit', fit), ('updated', updated)) AS v(which, model),
    LATERAL (SELECT sum(stationary * probability) AS probability FROM hmm_states(model)
      JOIN hmm_emissions(model) USING (state) WHERE symbol = 'BANG') AS p,
    (SELECT avg((sound = 'BANG')::int) AS share FROM later, unnest(rows) WHERE sound IS NOT NULL)
      AS s WHERE which = 'fit'$$, 'and it is learned');

-- ---- steps ahead ----

SELECT results_eq($$SELECT machine, p.* FROM mixed, sequences, hmm_predict(model, rows) AS p
    ORDER BY machine, element, symbol$$, $$SELECT machine, p.* FROM mixed, sequences,
    hmm_predict(model, rows, 3) AS p WHERE step = 1 ORDER BY machine, element, symbol$$,
  'a horizon of one is the first of others');
SELECT never($$WITH last AS (SELECT machine, h[array_length(h, 1)][1] AS p1 FROM (SELECT machine,
      hmm_filter(model, rows) AS h FROM mixed, sequences) AS f),
    moves AS (SELECT from_state, to_state, probability AS p FROM mixed, hmm_transitions(model)),
    one AS (SELECT machine, to_state, sum(p * CASE from_state WHEN 1 THEN p1 ELSE 1 - p1 END) AS p
      FROM last, moves GROUP BY machine, to_state),
    two AS (SELECT machine, m.to_state AS state, sum(m.p * o.p) AS p FROM one AS o
      JOIN moves AS m ON m.from_state = o.to_state GROUP BY machine, m.to_state),
    three AS (SELECT machine, m.to_state AS state, sum(m.p * o.p) AS p FROM two AS o
      JOIN moves AS m ON m.from_state = o.state GROUP BY machine, m.to_state),
    expected AS (SELECT machine, symbol, sum(e.probability * p) AS probability FROM three
      JOIN (SELECT e.* FROM mixed, hmm_emissions(model) AS e) AS e USING (state)
      WHERE column_name = 'sound' GROUP BY machine, symbol)
  SELECT e.machine, symbol, NOT near(p.probability, e.probability) AS wrong FROM mixed, sequences,
    hmm_predict(model, rows, 4) AS p JOIN expected AS e USING (symbol) WHERE step = 3
    AND e.machine = sequences.machine$$, 'transitions, once for each step');
SELECT is(array_agg(DISTINCT step ORDER BY step), '{1,2,3,4,5}', 'the steps') FROM mixed, sequences,
  hmm_predict(model, rows, 5) WHERE machine = 'a';
SELECT never($$SELECT element, NOT (near(p.mean, s.mean, 1e-6)) AS wrong FROM mixed, sequences,
    hmm_predict(model, rows, 2000) AS p JOIN (SELECT element, sum(stationary * mean[1]) AS mean
      FROM mixed, hmm_states(model) JOIN LATERAL hmm_emissions(model) AS e USING (state)
      WHERE mean IS NOT NULL GROUP BY element) AS s USING (element)
    WHERE step = 2000 AND machine = 'b'$$, 'far ahead: the stationary distribution');
SELECT is(count(*), 30::bigint, 'after gibbs, of an empty sequence') FROM fits,
  hmm_predict(model, '{}'::step[], 15) WHERE method = 'gibbs' AND form = 'typed';

-- ---- selections ----

CREATE TABLE selections AS SELECT 'array' AS form, (unnest(hmm_select(vectors, '{1,2,3}',
    '{"method": "em"}' ORDER BY machine))).* FROM forms
UNION ALL SELECT 'records', (unnest(hmm_select(typed, '{1,2,3}', '{"method": "em"}'
    ORDER BY machine))).* FROM forms
UNION ALL SELECT 'query', s.* FROM hmm_select('SELECT machine, vectors FROM forms ORDER BY machine',
  '{1,2,3}', '{"method": "em"}') AS s
UNION ALL SELECT 'steps', s.* FROM hmm_select('SELECT machine, load, heat FROM log
  ORDER BY machine, t', '{1,2,3}', '{"method": "em", "models": true}') AS s;
SELECT never($$SELECT a.form, k, (a.objective, a.bic, a.parameters) <> (b.objective, b.bic,
    b.parameters) AS wrong FROM selections AS a JOIN selections AS b USING (k)
  WHERE b.form = 'array'$$, 'the same from every form');
SELECT never($$SELECT form, k, parameters <> k * k - 1 + 5 * k OR NOT near(bic,
    -2 * log_likelihood + parameters * ln(270)) OR objective <> log_likelihood
    OR elbo IS NOT NULL AS wrong FROM selections$$, 'parameters and bic');
SELECT is((array_agg(k ORDER BY bic))[3], 1, 'the machines have states') FROM selections
WHERE form = 'array';
SELECT never($$SELECT form, k, (model IS NULL) = (form = 'steps') AS wrong FROM selections$$,
  'models on request');
SELECT never($$SELECT k, (info.components, info.objective) <> (k, s.objective) OR columns <> 2
    AS wrong FROM selections AS s, bayes_info(model) AS info,
    LATERAL (SELECT count(*) AS columns FROM bayes_columns(model)) AS c WHERE form = 'steps'$$,
  'which are the fits, with their columns');
SELECT never($$SELECT k, elbo <> objective OR bic IS NULL AS wrong FROM hmm_select(
    'SELECT machine, sound, door FROM log ORDER BY machine, t', '{1,2}')$$, 'elbo of vi');
SELECT never($$SELECT k, bic IS NOT NULL OR elbo IS NOT NULL AS wrong FROM hmm_select(
    'SELECT machine, sound, door FROM log ORDER BY machine, t', '{1}', '{"method": "gibbs",
    "draws": 20}')$$, 'sampling maximises nothing');
SELECT is(hmm_select(typed, '{1}'), NULL, 'no sequences') FROM forms WHERE false;

-- ---- a step in each row of a query ----

SELECT results_eq($$SELECT sequence, array_agg(state ORDER BY t) FROM hmm_decode(
    'SELECT machine, load, heat, door, sound, alarms, shift FROM log ORDER BY machine, t', 2,
    '{"emission": {"alarms": "poisson"}}') GROUP BY sequence ORDER BY sequence$$,
  $$SELECT machine, hmm_decode(model, rows) FROM mixed, sequences ORDER BY machine$$,
  'the states of the model');
SELECT results_eq($$SELECT sequence, count(*), min(t), max(t) FROM hmm_decode(
    'SELECT nullif(machine, ''b''), sound FROM log WHERE t < 70 OR machine = ''a''
     ORDER BY machine DESC, t', 2) GROUP BY sequence ORDER BY sequence$$,
  $$VALUES ('a', 90::bigint, 1::bigint, 90::bigint), ('c', 69, 1, 69), (NULL, 69, 1, 69)$$,
  'lengths, and a name that is NULL');
SELECT is(count(*), 0::bigint, 'no rows') FROM hmm_decode('SELECT machine, load FROM log
  WHERE false', 2);
SELECT is(count(*) FILTER (WHERE state IS NULL), 270::bigint, 'a fit that fails') FROM hmm_decode(
  'SELECT machine, -heat FROM log ORDER BY machine, t', 2,
  '{"emission": "poisson", "on_error": "null"}');
CREATE TABLE long AS SELECT i / 20000 AS series, i AS t, CASE WHEN i % 7 > 0 THEN sin(i / 50.0) END
  AS x, 'l' || (i * 7919 / 300 % 5) AS l FROM generate_series(0, 39999) AS i;
INSERT INTO long SELECT 2 + i / 5, i, sin(i), 'l' || i % 3 FROM generate_series(0, 99) AS i;
CREATE TABLE ways AS SELECT 'memory' AS way, d.* FROM hmm_decode('SELECT series, x, l FROM long
  ORDER BY series, t', 2, '{"max_iter": 3, "restarts": 1}') AS d;
INSERT INTO ways SELECT 'arrays', d.* FROM hmm_decode('SELECT series, array_agg(r ORDER BY t)
  FROM long, LATERAL (SELECT x, l) AS r GROUP BY series ORDER BY series', 2,
  '{"max_iter": 3, "restarts": 1}') AS d;
SET maintenance_work_mem = '1MB';
INSERT INTO ways SELECT 'file', d.* FROM hmm_decode('SELECT series, x, l FROM long
  ORDER BY series, t', 2, '{"max_iter": 3, "restarts": 1}') AS d;
RESET maintenance_work_mem;
SELECT results_eq($$SELECT sequence, t, state, probability FROM ways WHERE way = 'memory'
    ORDER BY sequence, t$$, $$SELECT sequence, t, state, probability FROM ways WHERE way = 'arrays'
    ORDER BY sequence, t$$, 'sequences longer than a piece, and shorter');
SELECT results_eq($$SELECT sequence, t, state, probability FROM ways WHERE way = 'memory'
    ORDER BY sequence, t$$, $$SELECT sequence, t, state, probability FROM ways WHERE way = 'file'
    ORDER BY sequence, t$$, 'in a file');
SELECT set_eq($$SELECT sequence, count(*) FROM ways WHERE way = 'file' GROUP BY sequence$$,
  'SELECT series::text, count(*) FROM long GROUP BY series', 'every step once');

-- ---- what is missing ----

SELECT never($$SELECT g.place, NOT near(g.mean, v.mean, 0.1) AS wrong
  FROM (SELECT mean, row_number() OVER (ORDER BY mean[1]) AS place FROM fits, hmm_emissions(model)
    WHERE form = 'records' AND method = 'gibbs') AS g
  JOIN (SELECT mean, row_number() OVER (ORDER BY mean[1]) AS place FROM fits, hmm_emissions(model)
    WHERE form = 'records' AND method = 'vi' AND element IS NULL) AS v USING (place)$$,
  'gibbs: of a step with a NULL the others count');
SELECT is((rows, skipped), (3::bigint, 1::bigint), 'a sequence that is NULL is none') FROM
  (SELECT hmm_fit(typed, 2) AS model FROM (SELECT typed FROM forms UNION ALL SELECT NULL) AS s)
    AS f, bayes_info(model);
SELECT is(max(k), 4, 'aggregates of a growing frame: labels come later')
FROM (SELECT (hmm_fit(s, 1) OVER (ORDER BY i))::jsonb->'row_columns'->0->'labels' AS labels, i
  FROM (VALUES (1, 'd'), (2, 'b'), (3, 'a'), (4, 'c')) AS v(i, l),
    LATERAL (SELECT array_agg(r) AS s FROM (SELECT l) AS r) AS q) AS w,
  LATERAL (SELECT jsonb_array_length(labels) AS k) AS n;

-- ---- numbers are read where they lie in a record ----

CREATE TYPE widths AS (b boolean, d float8, s smallint, r real, b2 boolean, i int, b3 boolean,
  l bigint);
CREATE TABLE wide AS SELECT n, t, (t % 2 = 0, sin(t * n), t % 300, t / 4.0, t % 3 = 0,
    CASE WHEN n = 1 OR t % 4 > 0 THEN -t END, t % 5 = 0, t * 10000000000)::widths AS w
FROM generate_series(1, 2) AS n, generate_series(1, 60) AS t;
CREATE TABLE of_wide AS
SELECT n, array_agg(w ORDER BY t) AS records, array_agg(ARRAY[(w).b::int, (w).d, (w).s, (w).r,
    (w).b2::int, (w).i, (w).b3::int, (w).l]::float8[] ORDER BY t) AS vectors
FROM wide GROUP BY n;
CREATE TABLE wide_model AS
SELECT hmm_fit(vectors, 2, '{"emission": ["bernoulli", "normal", "normal", "normal", "bernoulli",
    "normal", "bernoulli", "normal"]}' ORDER BY n) AS v, hmm_fit(records, 2 ORDER BY n) AS r
FROM of_wide;
SELECT is(timeless(v, 'row_columns', 'options'), timeless(r, 'row_columns', 'options'),
  'numbers of every width, and NULLs') FROM wide_model;
SELECT never($$SELECT n, hmm_log_likelihood(r, records) IS DISTINCT FROM
    hmm_log_likelihood(v, vectors) AS wrong FROM of_wide, wide_model$$, 'are scored alike');
-- The records of one array may differ: in types, in the order of columns, in what else they have.
CREATE TABLE shapes AS SELECT hmm_fit(a, 2, '{"emission": "normal"}') AS model
FROM (SELECT array_agg(r) AS a
      FROM (SELECT x, x % 7 AS y FROM generate_series(1, 40) AS x) AS r) AS q;
CREATE FUNCTION shaped(shape text) RETURNS record LANGUAGE plpgsql AS $$
DECLARE a record; b record; c record; d record;
BEGIN
  SELECT 5::float8 AS x, 3::float8 AS y INTO a;
  SELECT 4::smallint AS y, 6 AS x INTO b;
  SELECT 'text' AS z, 2::numeric AS y, 7::real AS x INTO c;
  SELECT NULL::int AS x, 8::bigint AS y INTO d;
  IF shape = 'a' THEN RETURN a; ELSIF shape = 'b' THEN RETURN b; ELSIF shape = 'c' THEN RETURN c;
  END IF;
  RETURN d;
END $$;
SELECT is(hmm_log_likelihood(model, (SELECT array_agg(shaped(shape))
    FROM regexp_split_to_table('aabccdab', '') AS shape)),
  hmm_log_likelihood(model, '{{5,3},{5,3},{6,4},{7,2},{7,2},{NULL,8},{5,3},{6,4}}'::float8[]),
  'records of several shapes') FROM shapes;

SELECT * FROM finish();
