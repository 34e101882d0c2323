-- Records that cannot be steps of sequences, horizons and selections that cannot be: what is said,
-- and what to do about it.
SELECT plan(49);
\ir ../lib/errors.sql
SET client_min_messages = error;

CREATE TABLE log (series int, t int, load float8, sound text, open boolean, born date);
INSERT INTO log SELECT s, t, sin(t), 's' || t % 3, t % 2 = 0, '2000-01-01'
FROM generate_series(1, 3) AS s, generate_series(1, 20) AS t;
CREATE TYPE step AS (load float8, sound text);
CREATE TABLE steps AS SELECT series, array_agg((load, sound)::step ORDER BY t) AS s,
  array_agg(ARRAY[load, t] ORDER BY t) AS vectors, array_agg(load ORDER BY t) AS numbers,
  array_agg(sound ORDER BY t) AS sounds
FROM log GROUP BY series;
CREATE TABLE models AS SELECT hmm_fit(s, 2 ORDER BY series) AS model,
  hmm_fit(vectors, 2 ORDER BY series) AS of_vectors,
  hmm_fit(numbers, 2 ORDER BY series) AS of_numbers,
  hmm_fit(sounds, 2 ORDER BY series) AS of_sounds FROM steps;

SELECT is(complaint(statement), said, statement) FROM (VALUES
  -- columns
  ('SELECT hmm_fit(s, 2) FROM (SELECT array_agg(l) AS s FROM log AS l) AS q',
    '22023 column "born" is of type date'),
  ($$SELECT hmm_fit(ARRAY[ROW(1, '{1}'::int[])], 2)$$, '22023 column "f2" is of type integer[]'),
  ('SELECT hmm_fit(ARRAY[ROW()], 2)', '22023 rows have no columns'),
  ('SELECT hmm_fit(ARRAY[s, s], 2) FROM steps',
    '2202E sequence 1 is a two-dimensional array of records'),
  ('SELECT hmm_fit(s, 2) FROM (SELECT s FROM steps UNION ALL SELECT ARRAY[s, s] FROM steps) AS q',
    '2202E sequence 4 is a two-dimensional array of records'),
  ('SELECT hmm_fit(ARRAY[NULL, NULL]::step[], 2)', '22023 all records of sequence 1 are NULL'),
  ('SELECT hmm_fit(s, 2) FROM (SELECT array_agg(r) AS s FROM log, LATERAL (SELECT load,
    NULL::text AS note) AS r) AS q',
    '22023 column "note" is NULL in every row'),
  -- values
  ($$SELECT hmm_fit(s, 2) FROM (SELECT series, array_agg((CASE t * series WHEN 6 THEN 'Infinity'
    ELSE load END, sound)::step ORDER BY t) AS s FROM log GROUP BY series ORDER BY series) AS q$$,
    '22023 column "load" of step 6 of sequence 1 is Infinity'),
  ($$SELECT hmm_fit(s, 2, '{"missing": "error"}') FROM (SELECT array_agg((load, CASE WHEN t <> 7
    THEN sound END)::step ORDER BY t) AS s FROM log WHERE series = 2) AS q$$,
    '22004 column "sound" of step 7 of sequence 1 is NULL'),
  ($$SELECT hmm_fit(s || NULL::step, 2, '{"missing": "error"}') FROM steps WHERE series = 1$$,
    '22004 step 21 of sequence 1 is missing'),
  ($$SELECT hmm_fit(s, 2, '{"emission": {"load": "poisson"}}' ORDER BY series) FROM steps$$,
    '22023 column "load" of step 1 of sequence 1 is 0.8414709848078965, but must be a whole number '
    'from 0 to 2^53'),
  -- options
  ($$SELECT hmm_fit(s, 2, '{"emission": {"laod": "poisson"}}') FROM steps$$,
    '22023 option "emission" names a column "laod", which the rows do not have'),
  ($$SELECT hmm_fit(s, 2, '{"emission": {"sound": "poisson"}}') FROM steps$$,
    '22023 option "emission" is "poisson" for column "sound", which has labels'),
  ($$SELECT hmm_fit(s, 2, '{"emission": ["normal"]}') FROM steps$$,
    '22023 option "emission" is "normal" for column "sound", which has labels'),
  ($$SELECT hmm_fit(s, 2, '{"emission": ["normal", "categorical", "normal"]}') FROM steps$$,
    '22023 option "emission" has 3 entries, but observations have 2 elements'),
  ($$SELECT hmm_fit(vectors, 2, '{"emission": {"load": "poisson"}}') FROM steps$$,
    '22023 option "emission" is an object, but must be one of ' || column_families()),
  -- scores
  ('SELECT hmm_decode(model, (SELECT array_agg(r) FROM (SELECT load FROM log) AS r)) FROM models',
    '22023 rows have no column "sound"'),
  ('SELECT hmm_decode(model, r) OVER () FROM models, (SELECT sound FROM log) AS r',
    '22023 rows have no column "load"'),
  ($$SELECT hmm_decode(model, r) OVER () FROM models, (SELECT 'x' AS load, sound FROM log) AS r$$,
    '22023 column "load" is of type text, but was a number when the model was fitted'),
  ('SELECT hmm_decode(model, ROW(1)) OVER () FROM models, log',
    '42804 columns of a record have no names, but those of the model are "load", "sound"'),
  ('SELECT hmm_decode(model, load) OVER () FROM models, log',
    '2202E observations are single values, but the model is of vectors of 2 elements'),
  ('SELECT hmm_decode(of_numbers, l) OVER () FROM models, log AS l',
    '2202E observations are records, but the model is of single values'),
  ('SELECT hmm_decode(of_sounds, l) OVER () FROM models, log AS l',
    '2202E observations are records, but the model is of symbols'),
  ('SELECT hmm_decode(of_numbers, s) FROM models, steps',
    '2202E the sequence is of records, but the model of single values'),
  ('SELECT hmm_log_likelihood(of_sounds, s) FROM models, steps',
    '2202E the sequence is of records, but the model of symbols'),
  ('SELECT hmm_filter(model, ARRAY[s, s]) FROM models, steps',
    '2202E the sequence is a two-dimensional array of records'),
  ('SELECT hmm_filter(of_vectors, s) FROM models, steps',
    '22023 column "f2" is of type text, but was a number when the model was fitted'),
  ($$SELECT hmm_filter(model, ARRAY[(1, 's1'), (NULL, 's1'), ('-Infinity', 's1')]::step[])
    FROM models$$, '22023 column "load" of step 3 is -Infinity'),
  ($$SELECT hmm_filter(model, ARRAY[(1, 's1'), ('NaN', 's1')]::step[]) FROM models$$,
    '22023 column "load" of step 2 is NaN'),
  ($$SELECT hmm_fit(s || ('NaN', 's1')::step, 2) FROM steps$$,
    '22023 column "load" of step 21 of sequence 1 is NaN'),
  ($$SELECT hmm_filter(model, r) OVER (ORDER BY t) FROM models, (SELECT t, CASE t WHEN 4 THEN
    'Infinity'::float8 ELSE load END AS load, sound FROM log WHERE series = 1) AS r$$,
    '22023 column "load" of step 4 is Infinity'),
  -- starts
  ('SELECT hmm_fit(s, of_numbers) FROM models, steps',
    '2202E sequence 1 is of records, but the model of single values'),
  ('SELECT hmm_update(s, of_vectors) FROM models, steps',
    '22023 column "f2" is of type text, but was a number when the model was fitted'),
  ('SELECT hmm_update(s, model) FROM models, (SELECT array_agg(r) AS s FROM log,
    LATERAL (SELECT sound) AS r) AS q',
    '22023 rows have no column "load"'),
  -- steps ahead
  ('SELECT hmm_predict(model, s, 0) FROM models, steps',
    '22023 horizon is 0, the number of steps must be from 1 to 100000'),
  ('SELECT hmm_predict(model, s, 100001) FROM models, steps',
    '22023 horizon is 100001, the number of steps must be from 1 to 100000'),
  -- selections
  ($$SELECT hmm_select(s, '{0}') FROM steps$$,
    '22023 k is 0, but must be a whole number from 1 to 1000'),
  ($$SELECT hmm_select(s, '{}') FROM steps$$,
    '2202E ks must be a one-dimensional array of at least one number of components'),
  ($$SELECT hmm_select(s, '{1,NULL}') FROM steps$$, '22004 ks must not contain NULL'),
  ($$SELECT hmm_select(s, '{1}', '{"models": 1}') FROM steps$$,
    '22023 option "models" is 1, but must be true or false'),
  ($$SELECT hmm_select(s, '{1}', '{"model": true}') FROM steps$$, '22023 unknown option "model"'),
  ($$SELECT hmm_select(s, '{1,2}', '{"init": {"initial": [0.5, 0.5]}}') FROM steps$$,
    '22023 option "init.initial" is an array of 2 numbers, but must be an array of 1 number'),
  ($$SELECT hmm_fit(s, 2, '{"models": true}') FROM steps$$, '22023 unknown option "models"'),
  ($$SELECT * FROM hmm_select('SELECT 1', '{1}')$$,
    '22023 query returns 1 column, but must return two or more'),
  -- a step in each row of a query
  ($$SELECT hmm_decode('SELECT series, load, born FROM log ORDER BY 1', 2)$$,
    '22023 column "born" is of type date'),
  ($$SELECT hmm_decode('SELECT series, load FROM log ORDER BY t, series', 2)$$,
    '22023 the rows of sequence "1" are not contiguous'),
  ($$SELECT hmm_decode('SELECT series, load / (t - 3) FROM log WHERE t <> 3 OR series = 1
    ORDER BY series, t', 2)$$, '22012 division by zero'),
  ($$SELECT hmm_decode('SELECT series, CASE WHEN t = 3 THEN ''Infinity'' ELSE load END AS load
    FROM log WHERE series > 1 ORDER BY series, t', 2)$$,
    '22023 column "load" of step 3 of sequence 1 is Infinity'),
  ($$SELECT hmm_decode('SELECT repeat(''x'', 10001), load FROM log', 2)$$,
    '54000 the names of the sequences are too long or too many'))
  AS c(statement, said);

SELECT * FROM finish();
