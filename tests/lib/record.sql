-- Fits of every family by every method, with every kind of option, and what all functions say of
-- them. tests/lib/record runs this file and compares what two builds say.
--
-- Everything is small: what counts is the number of paths through the code, not of rows.
\set ON_ERROR_STOP on
\set QUIET on
SET client_min_messages = error;
SET jit = off;
SET max_parallel_workers_per_gather = 0;
SET pg_bayes.threads = 2;

-- ---- how results are recorded ----

CREATE TABLE results (id int GENERATED ALWAYS AS IDENTITY, name text UNIQUE, result text);
CREATE TABLE cases (
  id int GENERATED ALWAYS AS IDENTITY, family text, name text UNIQUE,
  source text,      -- FROM what the fit is made
  rows text,        -- the table whose x are scored
  expression text,  -- the fit
  model bayes_model);

-- The rows of a statement as text, in which every double has all its digits.
CREATE PROCEDURE record(name text, statement text) LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  BEGIN
    EXECUTE format($q$SELECT string_agg(r::text, ' ') FROM (%s) AS r$q$, statement) INTO result;
  EXCEPTION WHEN OTHERS THEN
    result := 'error ' || SQLSTATE || ' ' || SQLERRM;
  END;
  INSERT INTO results (name, result) VALUES (record.name, coalesce(result, 'nothing'));
END $$;

CREATE FUNCTION told(model bayes_model) RETURNS text
  RETURN (model::jsonb - 'seconds' - 'version')::text;

-- Pseudo-random numbers in [0, 1) that every server makes alike.
CREATE FUNCTION noise(VARIADIC numbers int[]) RETURNS float8 IMMUTABLE
  RETURN ('x' || left(md5(numbers::text), 8))::bit(32)::bigint / 4294967296.0;

CREATE FUNCTION method_options(family text, method text) RETURNS jsonb IMMUTABLE RETURN
  jsonb_build_object('method', method) || CASE
    WHEN method IN ('gibbs', 'collapsed', 'slice') THEN '{"draws": 20, "chains": 2}'::jsonb
    WHEN method = 'svi' THEN '{"restarts": 2, "max_iter": 60}'
    WHEN method = 'mcem' THEN '{"restarts": 2, "max_iter": 12, "samples": 5}'
    WHEN method = 'kmeans' THEN '{"restarts": 3}'
    WHEN family = 'hmm' THEN '{"restarts": 2, "max_iter": 15}'
    ELSE '{"restarts": 3, "max_iter": 25}' END;
CREATE TABLE methods AS
  SELECT family, method, method IN ('gibbs', 'collapsed', 'slice') AS sampler,
         method_options(family, method) AS o
  FROM (VALUES ('gmm', '{em,map,vi,svi,mcem,kmeans,gibbs,collapsed}'::text[]),
               ('bmm', '{em,map,vi,svi,mcem,gibbs,collapsed}'),
               ('dpmm', '{collapsed,gibbs,slice,vi}'),
               ('hmm', '{em,map,vi,svi,gibbs}')) AS f(family, all_methods), unnest(all_methods) AS method;

-- ---- rows ----

CREATE TABLE iris_rows AS
  SELECT id, x, ARRAY[x[1], CASE WHEN id % 7 > 0 THEN x[2] END, x[3]] AS gap, 1 + id % 4 AS w FROM iris;
CREATE TABLE three_rows AS SELECT id, x[1:3] AS x FROM iris;
CREATE TABLE faithful_rows AS SELECT id, x, 1.0 / (id % 9) AS w FROM faithful WHERE id % 9 > 0;
CREATE TABLE galaxy_rows AS SELECT id, x FROM galaxies;
CREATE TABLE digit_rows AS SELECT id, x FROM digits WHERE id <= 150;
CREATE TABLE singular_rows AS SELECT id, ARRAY[x[1], 5, x[1] + 1, x[3]] AS x FROM iris WHERE id % 2 = 0;
-- More distinct rows than a sample of them holds.
CREATE TABLE many_rows AS
  SELECT id, ARRAY[noise(id, 1) + noise(id, 2) + 2 * (id % 3), noise(id, 3) * (1 + id % 3),
                   noise(id, 4) - id % 2] AS x, 1 + id % 3 AS w
  FROM generate_series(1, 11000) AS id;
-- More than 1 MB.
CREATE TABLE wide_rows AS
  SELECT id, ARRAY(SELECT noise(id, j) + (id + j) % 3 FROM generate_series(1, 16) AS j ORDER BY j) AS x
  FROM generate_series(1, 11000) AS id;

CREATE TABLE columns (kind text PRIMARY KEY, likelihood jsonb);
INSERT INTO columns VALUES
  ('bernoulli', '"bernoulli"'), ('poisson', '"poisson"'), ('exponential', '"exponential"'),
  ('categorical', '"categorical"'), ('normals', '["normal"]'),
  ('mixed', '["normal", "bernoulli", "categorical", "poisson", "exponential"]');
CREATE TABLE births AS SELECT *, ARRAY[age, lwt, bwt / 1000] AS sizes FROM birthwt WHERE id <= 120;
CREATE TABLE bernoulli_rows AS
  SELECT id, ARRAY[smoke, (ptl > 0)::int, ht, ui, low, (ftv > 0)::int]::float8[] AS x FROM births;
CREATE TABLE poisson_rows AS SELECT id, ARRAY[ftv, ptl, race * 2]::float8[] AS x FROM births;
CREATE TABLE exponential_rows AS
  SELECT id, ARRAY[-ln(1 - noise(id, 1)) * race, -ln(1 - noise(id, 2)) * (1 + smoke)] AS x FROM births;
CREATE TABLE categorical_rows AS
  SELECT id, ARRAY[race, least(ftv, 3), smoke + 2 * low]::float8[] AS x FROM births;
CREATE TABLE normals_rows AS SELECT id, sizes AS x FROM births;
CREATE TABLE mixed_rows AS
  SELECT id, ARRAY[age, smoke, race, ftv, -ln(1 - noise(id, 3)) * race] AS x FROM births;

-- ---- Gaussian mixtures ----

CREATE TABLE shapes AS
  SELECT shape, to_jsonb(shape) AS j FROM unnest('{full,diagonal,spherical,tied}'::text[]) AS shape;
CREATE TABLE gmm AS
  SELECT m.method, sampler, shape, method || ' ' || shape AS called,
         CASE WHEN method = 'kmeans' THEN o ELSE o || jsonb_build_object('covariance', shape) END AS o
  FROM methods AS m, shapes
  WHERE family = 'gmm' AND CASE method WHEN 'kmeans' THEN shape = 'full' WHEN 'collapsed' THEN shape <> 'tied' ELSE true END;

CREATE FUNCTION call(fit text, k int, options jsonb, weight text DEFAULT NULL) RETURNS text IMMUTABLE
  RETURN format('%s(x, %s, %L::jsonb%s)', fit, k, options, ', ' || weight);

INSERT INTO cases (family, name, source, rows, expression)
SELECT 'gmm', 'gmm iris ' || called, 'iris_rows', 'iris_rows', call('gmm_fit', 3, o) FROM gmm
UNION ALL
SELECT 'gmm', format('gmm faithful %s seed 7%s', called, ' ' || (start #>> '{}')),
  'faithful_rows', 'faithful_rows',
  call('gmm_fit', 2, o || jsonb_strip_nulls(jsonb_build_object('seed', 7, 'init', start)))
FROM gmm, unnest('{null,"\"kmeans++\"","\"random\""}'::jsonb[]) AS start
WHERE (start = 'null') = sampler AND (sampler OR (shape IN ('full', 'tied')) = (start = '"random"'))
UNION ALL
SELECT 'gmm', 'gmm weights ' || called, 'iris_rows', 'iris_rows', call('gmm_fit', 2, o, 'w')
FROM gmm WHERE NOT sampler
UNION ALL
SELECT 'gmm', 'gmm fractions ' || called, 'faithful_rows', 'faithful_rows', call('gmm_fit', 2, o, 'w')
FROM gmm WHERE NOT sampler AND shape = 'full'
UNION ALL
SELECT 'gmm', 'gmm missing ' || called, 'iris_rows', 'three_rows',
  format('gmm_fit(gap, 2, %L::jsonb)', o || '{"missing": "skip"}') FROM gmm WHERE shape = 'full'
UNION ALL
SELECT 'gmm', 'gmm prior ' || called, 'iris_rows', 'iris_rows', call('gmm_fit', 3, o || jsonb_build_object(
  'prior', '{"alpha": 1.5, "m": [5, 3, 4, 1], "c": 0.1, "a": 7}'::jsonb || CASE shape
    WHEN 'full' THEN '{"B": [[1, 0.1, 0, 0], [0.1, 1, 0, 0], [0, 0, 2, 0.5], [0, 0, 0.5, 1]]}'::jsonb
    WHEN 'diagonal' THEN '{"B": [1, 2, 3, 4]}' ELSE '{"B": 0.7}' END))
FROM gmm WHERE method IN ('map', 'vi', 'svi', 'gibbs', 'collapsed')
UNION ALL
SELECT 'gmm', format('gmm independent %s%s', called, ' ' || number), 'faithful_rows', 'faithful_rows',
  call('gmm_fit', 2, o || jsonb_build_object('prior', prior || '{"type": "independent"}'))
FROM gmm, (VALUES (1, '{}'::jsonb), (2, '{"C": 50, "alpha": 0.5}'), (3, '{"m": [3, 70], "C": [[4, 1], [1, 90]], "B": 2, "a": 6}'))
  AS p(number, prior) WHERE method IN ('vi', 'svi') AND shape = 'full'
UNION ALL
SELECT 'gmm', 'gmm means ' || called, 'faithful_rows', 'faithful_rows',
  call('gmm_fit', 2, o - 'restarts' || '{"init": [[2, 50], [4.5, 80]]}')
FROM gmm WHERE NOT sampler AND shape IN ('full', 'diagonal')
UNION ALL
SELECT 'gmm', 'gmm one component ' || called, 'iris_rows', 'iris_rows', call('gmm_fit', 1, o) FROM gmm
UNION ALL
SELECT 'gmm', 'gmm one column ' || called, 'galaxy_rows', 'galaxy_rows', call('gmm_fit', 4, o)
FROM gmm WHERE shape IN ('full', 'spherical')
UNION ALL
SELECT 'gmm', 'gmm singular ' || called, 'singular_rows', 'singular_rows', call('gmm_fit', 2, o)
FROM gmm
UNION ALL
SELECT 'gmm', 'gmm one row ' || called, '(SELECT ARRAY[1.5, -2] AS x) AS r', 'faithful_rows',
  call('gmm_fit', 1, o) FROM gmm WHERE shape = 'full'
UNION ALL
SELECT 'gmm', 'gmm digits ' || called, 'digit_rows', 'digit_rows', call('gmm_fit', 3, o
  || CASE WHEN sampler THEN '{"draws": 4}' ELSE '{"restarts": 1, "max_iter": 4}'::jsonb END) FROM gmm
UNION ALL
SELECT 'gmm', 'gmm many ' || called, 'many_rows', 'many_rows', call('gmm_fit', 4, o
  || CASE WHEN sampler THEN '{"draws": 4}' ELSE '{"restarts": 2, "max_iter": 5}'::jsonb END) FROM gmm
UNION ALL
SELECT 'gmm', 'gmm many weights ' || called, 'many_rows', 'many_rows',
  call('gmm_fit', 3, o || '{"restarts": 2, "max_iter": 5}', 'w') FROM gmm WHERE NOT sampler AND shape = 'full'
UNION ALL
SELECT 'gmm', 'gmm spilled ' || called, 'wide_rows', 'wide_rows', call('gmm_fit', 2, o
  || CASE WHEN sampler THEN '{"draws": 2}' ELSE '{"restarts": 2, "max_iter": 3}'::jsonb END)
FROM gmm WHERE shape = 'full' AND method <> 'collapsed' OR called = 'vi diagonal'
UNION ALL
SELECT 'gmm', 'gmm iterations ' || called || ' ' || n, 'iris_rows', 'iris_rows',
  call('gmm_fit', 2, o || jsonb_build_object('max_iter', n)) FROM gmm, unnest('{1,300}'::int[]) AS n
WHERE NOT sampler AND shape = 'full' AND method <> 'mcem'
UNION ALL
SELECT 'gmm', format('gmm option %s %s', method, option), 'iris_rows', 'iris_rows',
  call('gmm_fit', 2, o || option)
FROM gmm, (VALUES ('em', '{"covariance_floor": 0.05}'::jsonb), ('em', '{"tol": 1e-2}'),
  ('mcem', '{"samples": 2, "covariance_floor": 0.1}'), ('svi', '{"batch_size": 20, "kappa": 0.6, "t0": 3}'),
  ('svi', '{"batch_size": 150, "kappa": 0}'), ('gibbs', '{"warmup": 3, "thin": 2, "chains": 3}'),
  ('collapsed', '{"warmup": 0, "chains": 1, "seed": 99}'), ('vi', '{"max_seconds": 3600, "on_error": "null"}'),
  ('kmeans', '{"init": "kmeans++", "tol": 0}')) AS p(of_method, option) WHERE of_method = method AND shape = 'full'
UNION ALL
SELECT 'gmm', 'gmm impossible', 'galaxy_rows', 'galaxy_rows', call('gmm_fit', 100, '{"on_error": "null"}');

-- ---- mixtures of products ----

CREATE TABLE bmm AS
  SELECT kind, method, sampler, kind || '_rows' AS rows, format('%s %s', kind, method) AS called,
         o || jsonb_build_object('likelihood', likelihood) AS o
  FROM methods, columns WHERE family = 'bmm';
INSERT INTO cases (family, name, source, rows, expression)
SELECT 'bmm', 'bmm ' || called, rows, rows, call('bmm_fit', 2, o) FROM bmm
UNION ALL
SELECT 'bmm', format('bmm %s seed 7%s', called, ' ' || (start #>> '{}')), rows, rows,
  call('bmm_fit', 3, o || jsonb_strip_nulls(jsonb_build_object('seed', 7, 'init', start)))
FROM bmm, unnest('{null,"\"kmeans++\"","\"random\""}'::jsonb[]) AS start
WHERE (start = 'null') = sampler AND (sampler OR (method IN ('em', 'svi')) = (start = '"random"'))
UNION ALL
SELECT 'bmm', format('bmm %s weights', called), rows, rows, call('bmm_fit', 2, o, '1 + id % 3') FROM bmm WHERE NOT sampler
UNION ALL
SELECT 'bmm', format('bmm %s %s', called, missing),
  format('(SELECT ARRAY(SELECT CASE WHEN (id * 7 + i) %% 5 > 0 THEN v END FROM unnest(x) WITH ORDINALITY AS u(v, i) ORDER BY i) AS x FROM %s) AS gaps', rows),
  rows, call('bmm_fit', 2, o || jsonb_build_object('missing', missing))
FROM bmm, unnest('{skip,marginalize}'::text[]) AS missing
WHERE missing = 'marginalize' OR method IN ('em', 'vi', 'collapsed')
UNION ALL
SELECT 'bmm', format('bmm %s prior', called), rows, rows, call('bmm_fit', 2, o || jsonb_build_object('prior', CASE kind
  WHEN 'bernoulli' THEN '{"alpha": 2, "a": 1.5, "b": [1, 2, 3, 1, 2, 3]}'::jsonb
  WHEN 'poisson' THEN '{"alpha": 1.2, "shape": [2, 3, 4], "rate": 2}'
  WHEN 'exponential' THEN '{"shape": 4, "rate": [3, 5]}'
  WHEN 'categorical' THEN '{"category_alpha": 1.5}'
  WHEN 'normals' THEN '{"normal": {"m": [25, 130, 3], "c": 0.1, "a": 4, "B": [20, 800, 0.5]}}'
  ELSE '{"alpha": 1.1, "poisson": {"shape": 2}, "normal": {"c": 1}, "bernoulli": {"a": 2}}' END))
FROM bmm WHERE method NOT IN ('em', 'mcem')
UNION ALL
SELECT 'bmm', format('bmm %s one component', called), rows, rows, call('bmm_fit', 1, o)
FROM bmm WHERE kind = 'mixed'
UNION ALL
SELECT 'bmm', format('bmm %s minimum', called), rows, rows, call('bmm_fit', 2, o || '{"minimum": 0.05}')
FROM bmm WHERE method IN ('em', 'mcem')
UNION ALL
SELECT 'bmm', format('bmm %s categories', called), rows, rows, call('bmm_fit', 2, o || '{"categories": 6}')
FROM bmm WHERE kind = 'categorical'
UNION ALL
SELECT 'bmm', format('bmm %s many', kind || ' ' || method), 'many_products', 'many_products',
  format('bmm_fit(x, 3, %L::jsonb)', o || '{"likelihood": ["poisson", "normal", "bernoulli"]}'
  || CASE WHEN sampler THEN '{"draws": 4}' ELSE '{"restarts": 2, "max_iter": 5}'::jsonb END)
FROM bmm WHERE kind = 'mixed'
UNION ALL
SELECT 'bmm', 'bmm booleans ' || method, '(SELECT x::int[]::bool[] AS x FROM bernoulli_rows) AS b', 'bernoulli_rows',
  format('bmm_fit(x, 2, %L::jsonb)', o - 'likelihood') FROM bmm WHERE kind = 'bernoulli';
CREATE TABLE many_products AS
  SELECT id, ARRAY[floor(noise(id, 1) * (2 + id % 5)), noise(id, 2) + id % 3, (noise(id, 3) < 0.2 + 0.3 * (id % 3))::int]::float8[] AS x
  FROM generate_series(1, 11000) AS id;

-- ---- Dirichlet process mixtures ----

CREATE TABLE dpmm AS
  SELECT method, method = 'vi' AS variational, kind, rows, format('%s %s', kind, method) AS called, o || p AS o
  FROM methods, (
    SELECT 'normal ' || shape, 'faithful_rows', jsonb_build_object('covariance', shape)
    FROM shapes WHERE shape <> 'tied'
    UNION ALL SELECT kind, kind || '_rows', jsonb_build_object('likelihood', likelihood) FROM columns)
  AS k(kind, rows, p) WHERE family = 'dpmm';
CREATE FUNCTION call(options jsonb) RETURNS text IMMUTABLE
  RETURN format('dpmm_fit(x, %L::jsonb ORDER BY id)', options);
INSERT INTO cases (family, name, source, rows, expression)
SELECT 'dpmm', 'dpmm ' || called, rows, rows, call(o) FROM dpmm
UNION ALL
SELECT 'dpmm', format('dpmm %s fixed concentration', called), rows, rows, call(o || '{"concentration": 1.7, "seed": 5}') FROM dpmm
UNION ALL
SELECT 'dpmm', format('dpmm %s %s', called, option), rows, rows, call(o || option)
FROM dpmm, unnest('{"{\"estimate\": \"binder\"}","{\"estimate\": \"bipartition\", \"level\": 0.8}","{\"estimate\": \"map\"}","{\"init\": \"one\", \"concentration\": {\"shape\": 1, \"rate\": 1}}","{\"warmup\": 4, \"thin\": 3, \"chains\": 3}"}'::jsonb[]) AS option
WHERE NOT variational AND (kind IN ('normal full', 'normal diagonal', 'mixed'))
UNION ALL
SELECT 'dpmm', format('dpmm %s truncation', called), rows, rows, call(o || '{"truncation": 6, "concentration": {"shape": 3, "rate": 2}}')
FROM dpmm WHERE variational
UNION ALL
SELECT 'dpmm', format('dpmm %s prior', called), rows, rows,
  call(o || '{"prior": {"m": [3, 70], "c": 0.05, "a": 5, "B": 3}}') FROM dpmm WHERE kind LIKE 'normal %'
UNION ALL
SELECT 'dpmm', format('dpmm galaxies %s', called), 'galaxy_rows', 'galaxy_rows', call(o)
FROM dpmm WHERE kind IN ('normal full', 'normals')
UNION ALL
SELECT 'dpmm', format('dpmm four columns %s', called), 'iris_rows', 'iris_rows', call(o) FROM dpmm WHERE kind LIKE 'normal %'
UNION ALL
SELECT 'dpmm', format('dpmm digits %s', called), 'digit_rows', 'digit_rows', call(o || CASE WHEN variational THEN '{"restarts": 1, "max_iter": 4, "truncation": 5}' ELSE '{"draws": 4}'::jsonb END)
FROM dpmm WHERE kind LIKE 'normal %'
UNION ALL
SELECT 'dpmm', format('dpmm missing %s', called), 'iris_rows', 'three_rows',
  format('dpmm_fit(gap, %L::jsonb ORDER BY id)', o || '{"missing": "skip"}') FROM dpmm WHERE kind = 'normal full'
UNION ALL
SELECT 'dpmm', format('dpmm many %s', called), 'many_rows', 'many_rows',
  call(o || CASE WHEN variational THEN '{"restarts": 2, "max_iter": 4, "truncation": 5}' ELSE '{"draws": 4}'::jsonb END)
FROM dpmm WHERE kind IN ('normal full', 'normals')
UNION ALL
SELECT 'dpmm', format('dpmm spilled %s', called), 'wide_rows', 'wide_rows',
  call(o || CASE WHEN variational THEN '{"restarts": 2, "max_iter": 2, "truncation": 4}' ELSE '{"draws": 2}'::jsonb END)
FROM dpmm WHERE kind = 'normal diagonal' AND method IN ('slice', 'vi');

-- ---- hidden Markov models ----

CREATE TABLE letters_rows AS
  SELECT id, (string_to_array(regexp_replace(lower(body), '[^a-z]+', '_', 'g'), NULL))[1:50 * id] AS x
  FROM (SELECT body, (row_number() OVER (ORDER BY page COLLATE "C"))::int AS id FROM tutorial) AS t WHERE id <= 6;
CREATE TABLE short_rows AS
  SELECT id, (SELECT array_agg(substr('abcab', 1 + (id * i * i + i / 3) % 5, 1) ORDER BY i) FROM generate_series(1, 2 + id % 9) AS i) AS x
  FROM generate_series(1, 60) AS id;
CREATE TABLE gaps_rows AS
  SELECT id, ARRAY(SELECT CASE WHEN (id + i) % 3 > 0 THEN s END FROM unnest(x) WITH ORDINALITY AS u(s, i) ORDER BY i) AS x FROM short_rows;
CREATE TABLE days AS
  SELECT t / 60 AS id, array_agg(waiting ORDER BY t) AS waiting, array_agg(round(waiting / 10)::int ORDER BY t) AS tens,
    array_agg(duration > 3 ORDER BY t) AS long, array_agg(ARRAY[waiting, duration] ORDER BY t) AS duo,
    array_agg(ARRAY[waiting, (duration > 3)::int, round(duration)] ORDER BY t) AS mixed,
    array_agg(CASE WHEN t % 11 > 0 THEN waiting END ORDER BY t) AS holes,
    array_agg(ARRAY[waiting, CASE WHEN t % 5 > 0 THEN duration END] ORDER BY t) AS duo_holes
  FROM geyser GROUP BY 1;
CREATE TABLE waiting_rows AS SELECT id, waiting AS x FROM days;
CREATE TABLE tens_rows AS SELECT id, tens AS x FROM days;
CREATE TABLE long_rows AS SELECT id, long AS x FROM days;
CREATE TABLE duo_rows AS SELECT id, duo AS x FROM days;
CREATE TABLE mixture_rows AS SELECT id, mixed AS x FROM days;
CREATE TABLE holes_rows AS SELECT id, holes AS x FROM days;
CREATE TABLE duo_holes_rows AS SELECT id, duo_holes AS x FROM days;
CREATE TABLE long_sequence_rows AS
  SELECT 1 AS id, array_agg(noise(i) + (i / 40) % 2 ORDER BY i) AS x FROM generate_series(1, 9000) AS i;

CREATE TABLE sequences (kind text PRIMARY KEY, k int, rows text, o jsonb);
INSERT INTO sequences VALUES
  ('letters', 2, 'letters_rows', '{}'), ('symbols', 3, 'short_rows', '{}'), ('symbols with gaps', 2, 'gaps_rows', '{}'),
  ('whole numbers', 2, 'tens_rows', '{}'), ('counts', 2, 'tens_rows', '{"emission": "poisson"}'),
  ('numbers', 2, 'waiting_rows', '{}'), ('numbers with gaps', 2, 'holes_rows', '{}'),
  ('waits', 2, 'waiting_rows', '{"emission": "exponential"}'), ('booleans', 2, 'long_rows', '{}'),
  ('full', 3, 'duo_rows', '{}'), ('diagonal', 3, 'duo_rows', '{"covariance": "diagonal"}'),
  ('spherical', 2, 'duo_rows', '{"covariance": "spherical"}'), ('tied', 3, 'duo_rows', '{"covariance": "tied"}'),
  ('vectors with gaps', 2, 'duo_holes_rows', '{}'), ('normals with gaps', 2, 'duo_holes_rows', '{"emission": ["normal"]}'),
  ('mixed', 2, 'mixture_rows', '{"emission": ["normal", "bernoulli", "categorical"], "categories": [0, 0, 7]}'),
  ('long sequence', 2, 'long_sequence_rows', '{}'), ('many states', 9, 'tens_rows', '{"emission": "poisson"}');
CREATE TABLE hmm AS
  SELECT kind, k, rows, method, format('%s %s', kind, method) AS called, m.o || s.o AS o FROM methods AS m, sequences AS s
  WHERE family = 'hmm';
CREATE FUNCTION sequence_call(k int, options jsonb, more text DEFAULT '') RETURNS text IMMUTABLE
  RETURN format('hmm_fit(x, %s, %L::jsonb%s ORDER BY id)', k, options, more);
INSERT INTO cases (family, name, source, rows, expression)
SELECT 'hmm', 'hmm ' || called, rows, rows, sequence_call(k, o
  || CASE WHEN kind <> 'long sequence' THEN '{}' WHEN method = 'gibbs' THEN '{"draws": 6}' ELSE '{"max_iter": 4}'::jsonb END) FROM hmm
UNION ALL
SELECT 'hmm', format('hmm %s seed 7', called), rows, rows, sequence_call(k, o || '{"seed": 7}')
FROM hmm WHERE kind IN ('symbols', 'full', 'mixed')
UNION ALL
SELECT 'hmm', format('hmm %s left to right', called), rows, rows, sequence_call(3, o || '{"topology": "left-to-right"}')
FROM hmm WHERE kind IN ('symbols', 'numbers', 'mixed')
UNION ALL
SELECT 'hmm', format('hmm %s zeros', called), rows, rows, sequence_call(3, o
  || '{"init": {"initial": [0.5, 0.5, 0], "transitions": [[0.8, 0.2, 0], [0, 0.7, 0.3], [0.4, 0, 0.6]]}}')
FROM hmm WHERE kind IN ('symbols', 'full', 'counts')
UNION ALL
SELECT 'hmm', format('hmm %s means', called), rows, rows, sequence_call(2, o || '{"init": {"means": [[55, 4.2], [80, 2.5]]}}')
FROM hmm WHERE kind IN ('diagonal', 'tied')
UNION ALL
SELECT 'hmm', format('hmm %s probabilities', called), rows, rows,
  sequence_call(2, o || '{"init": {"probabilities": [{"a": 0.6, "b": 0.3}, {"b": 0.2, "c": 0.7}]}}')
FROM hmm WHERE kind = 'symbols'
UNION ALL
SELECT 'hmm', format('hmm %s weights', called), rows, rows, sequence_call(k, o, ', 1 + id % 3')
FROM hmm WHERE method <> 'gibbs' AND kind IN ('symbols', 'full', 'booleans')
UNION ALL
SELECT 'hmm', format('hmm %s known states', called), rows, rows, format(
  'hmm_fit(x, ARRAY(SELECT CASE WHEN (id + i) %% 4 = 0 THEN 1 + i %% 2 END FROM generate_series(1, array_length(x, 1)) AS i ORDER BY i), 2, %L::jsonb ORDER BY id)', o)
FROM hmm WHERE kind IN ('symbols', 'numbers with gaps', 'full')
UNION ALL
SELECT 'hmm', format('hmm %s prior', called), rows, rows, sequence_call(2, o || jsonb_build_object('prior',
  '{"initial": [2, 1], "transition": [[5, 1], [1, 5]]}'::jsonb || CASE kind WHEN 'symbols' THEN '{"category_alpha": 1.3}'::jsonb
  WHEN 'counts' THEN '{"shape": 3, "rate": 0.5}' WHEN 'booleans' THEN '{"a": 2, "b": 1.5}' ELSE '{"m": [70, 3], "c": 0.1, "a": 5}' END))
FROM hmm WHERE method <> 'em' AND kind IN ('symbols', 'counts', 'booleans', 'full', 'diagonal', 'spherical', 'tied')
UNION ALL
SELECT 'hmm', format('hmm %s %s', called, option), rows, rows, sequence_call(k, o || option)
FROM hmm, (VALUES ('em', '{"max_iter": 0}'::jsonb), ('em', '{"minimum": 0.02}'), ('gibbs', '{"warmup": 3, "thin": 2, "chains": 3}'),
  ('svi', '{"batch_size": 4, "kappa": 0.6, "t0": 2}'), ('vi', '{"tol": 1e-3, "max_iter": 100, "restarts": 1}')) AS p(of_method, option)
WHERE of_method = method AND (kind = 'symbols' OR kind = 'numbers' AND method <> 'em')
UNION ALL
SELECT 'hmm', 'hmm full em floor', 'duo_rows', 'duo_rows', sequence_call(2, '{"method": "em", "covariance_floor": 0.1, "max_iter": 20, "restarts": 2}')
UNION ALL
SELECT 'hmm', format('hmm %s one state', called), rows, rows, sequence_call(1, o) FROM hmm WHERE kind IN ('symbols', 'full', 'mixed');

-- ---- fits from fits ----

SET maintenance_work_mem = '1MB';
CREATE PROCEDURE fit_all() LANGUAGE plpgsql AS $$
DECLARE
  c record;
  made bayes_model;
  result text;
BEGIN
  FOR c IN SELECT * FROM cases WHERE name NOT IN (SELECT r.name FROM results AS r) ORDER BY id LOOP
    -- Samplers that hold all rows in memory need more of it.
    PERFORM set_config('maintenance_work_mem', CASE WHEN c.name ~ 'many|digits' THEN '64MB' ELSE '1MB' END, false);
    BEGIN
      EXECUTE format('SELECT %s FROM %s', c.expression, c.source) INTO made;
      result := told(made);
      UPDATE cases SET model = made WHERE id = c.id;
    EXCEPTION WHEN OTHERS THEN
      result := 'error ' || SQLSTATE || ' ' || SQLERRM;
    END;
    INSERT INTO results (name, result) VALUES (c.name, coalesce(result, 'nothing'));
  END LOOP;
END $$;
CALL fit_all();

CREATE FUNCTION model(name text) RETURNS bayes_model STABLE
  RETURN (SELECT model FROM cases WHERE cases.name = model.name);
INSERT INTO cases (family, name, source, rows, expression)
SELECT 'gmm', format('gmm from %s by %s', start, called), 'iris_rows', 'iris_rows',
  format('gmm_fit(x, model(%L), %L::jsonb)', 'gmm iris ' || start, o - 'restarts' || '{"max_iter": 10}')
FROM gmm, unnest('{vi full,em full,em diagonal,map tied,gibbs spherical,kmeans full}'::text[]) AS start
WHERE NOT sampler AND split_part(start, ' ', 2) = shape
UNION ALL
SELECT 'gmm', format('gmm from %s', start), 'iris_rows', 'iris_rows', format('gmm_fit(x, model(%L))', 'gmm iris ' || start)
FROM unnest('{vi diagonal,em spherical,map full,svi tied}'::text[]) AS start
UNION ALL
SELECT 'gmm', format('gmm update of %s', prior), 'iris_rows', 'iris_rows', format('gmm_update(x, model(%L), %L::jsonb, w)', 'gmm ' || prior, o)
FROM unnest('{iris vi full,iris svi diagonal,iris vi spherical,iris vi tied,prior vi full}'::text[]) AS prior, (VALUES ('{"max_iter": 20}'::jsonb)) AS v(o)
UNION ALL
SELECT 'gmm', format('gmm update of %s by %s', prior, method), 'faithful_rows', 'faithful_rows',
  format('gmm_update(x, model(%L), %L::jsonb)', 'gmm ' || prior, o - 'restarts')
FROM methods, unnest('{independent vi full 2,independent svi full 1}'::text[]) AS prior
WHERE family = 'gmm' AND method IN ('vi', 'svi')
UNION ALL
SELECT 'bmm', format('bmm %s from vi', called), rows, rows,
  format('bmm_fit(x, model(%L), %L::jsonb)', format('bmm %s vi', kind), o - 'restarts' - 'likelihood' || '{"max_iter": 10}') FROM bmm WHERE NOT sampler
UNION ALL
SELECT 'bmm', format('bmm %s update', called), rows, rows, format('bmm_update(x, model(%L))', 'bmm ' || called) FROM bmm WHERE method IN ('vi', 'svi')
UNION ALL
SELECT 'hmm', format('hmm %s from vi', called), rows, rows,
  format('hmm_fit(x, model(%L), %L::jsonb ORDER BY id)', format('hmm %s vi', kind), o - 'restarts' - 'covariance' - 'emission' - 'categories')
FROM hmm WHERE kind IN ('symbols', 'full', 'tied', 'mixed', 'counts')
UNION ALL
SELECT 'hmm', format('hmm %s update', called), rows, rows, format('hmm_update(x, model(%L) ORDER BY id)', 'hmm ' || called)
FROM hmm WHERE method IN ('vi', 'svi') AND kind <> 'long sequence';
CALL fit_all();
SET maintenance_work_mem = '64MB';

-- ---- what models say ----

CREATE TABLE asked (family text, called text, statement text);
INSERT INTO asked VALUES
  ('gmm', 'components', 'SELECT * FROM gmm_components(%1$s)'),
  ('gmm', 'sample', 'SELECT * FROM gmm_sample(%1$s, 4, 3)'),
  ('gmm', 'scores', 'SELECT gmm_predict(%1$s, x), gmm_probabilities(%1$s, x), gmm_log_density(%1$s, x) FROM (SELECT x FROM %2$s WHERE id %% 23 = 1 ORDER BY id LIMIT 5) AS r'),
  ('bmm', 'components', 'SELECT * FROM bmm_components(%1$s)'),
  ('bmm', 'parameters', 'SELECT * FROM bmm_parameters(%1$s)'),
  ('bmm', 'moments', 'SELECT * FROM bmm_moments(%1$s)'),
  ('bmm', 'sample', 'SELECT * FROM bmm_sample(%1$s, 4, 3)'),
  ('bmm', 'scores', 'SELECT bmm_predict(%1$s, x), bmm_probabilities(%1$s, x), bmm_log_density(%1$s, x) FROM (SELECT x FROM %2$s WHERE id %% 23 = 1 ORDER BY id LIMIT 5) AS r'),
  ('dpmm', 'clusters', 'SELECT * FROM dpmm_clusters(%1$s)'),
  ('dpmm', 'estimate', 'SELECT * FROM dpmm_estimate(%1$s)'),
  ('dpmm', 'scores', 'SELECT dpmm_predict(%1$s, x), dpmm_probabilities(%1$s, x), dpmm_log_density(%1$s, x) FROM (SELECT x FROM %2$s WHERE id %% 23 = 1 ORDER BY id LIMIT 5) AS r'),
  ('hmm', 'states', 'SELECT * FROM hmm_states(%1$s)'),
  ('hmm', 'transitions', 'SELECT * FROM hmm_transitions(%1$s)'),
  ('hmm', 'emissions', 'SELECT * FROM hmm_emissions(%1$s)'),
  ('hmm', 'sample', 'SELECT * FROM hmm_sample(%1$s, 6, 3)'),
  ('hmm', 'scores', 'SELECT hmm_decode(%1$s, x), hmm_probabilities(%1$s, x), hmm_filter(%1$s, x), hmm_log_likelihood(%1$s, x) FROM (SELECT x[1:9] AS x FROM %2$s ORDER BY id LIMIT 2) AS r'),
  ('hmm', 'whole sequences', 'SELECT hmm_log_likelihood(%1$s, x) FROM (SELECT x FROM %2$s ORDER BY id LIMIT 2) AS r'),
  ('hmm', 'paths', 'SELECT * FROM hmm_paths(%1$s, (SELECT x[1:7] FROM %2$s ORDER BY id LIMIT 1), 3)'),
  ('hmm', 'prediction', 'SELECT * FROM hmm_predict(%1$s, (SELECT x[1:7] FROM %2$s ORDER BY id LIMIT 1))');
INSERT INTO asked
  SELECT family, 'info', 'SELECT family, method, rows, skipped, dimension, components, iterations, converged, objective, log_likelihood, seed, options FROM bayes_info(%1$s)' FROM asked GROUP BY 1
  UNION ALL SELECT family, 'trace', 'SELECT * FROM bayes_trace(%1$s)' FROM asked GROUP BY 1;
CREATE TABLE asked_of_some (family text, methods text[], called text, statement text);
INSERT INTO asked_of_some VALUES
  ('gmm', '{vi,svi}', 'posterior', 'SELECT * FROM gmm_posterior(%1$s)'),
  ('bmm', '{vi,svi}', 'posterior', 'SELECT * FROM bmm_posterior(%1$s)'),
  ('hmm', '{vi,svi}', 'posterior', 'SELECT * FROM hmm_posterior(%1$s)'),
  ('dpmm', '{collapsed,gibbs,slice}', 'draws', 'SELECT * FROM dpmm_draws(%1$s)');
INSERT INTO asked_of_some
  SELECT family, '{collapsed,gibbs,slice}', 'diagnostics', 'SELECT quantity, rhat(value, chain ORDER BY chain, draw), ess_bulk(value, chain ORDER BY chain, draw), ess_tail(value, chain ORDER BY chain, draw), mcse(value, chain ORDER BY chain, draw), sum(value) FROM bayes_draws(%1$s) GROUP BY 1 ORDER BY 1' FROM asked GROUP BY 1;
DO $$
DECLARE
  c record;
BEGIN
  FOR c IN
    SELECT cases.name, cases.rows, a.called, a.statement
    FROM cases JOIN (SELECT family, NULL::text[] AS methods, called, statement FROM asked
                     UNION ALL TABLE asked_of_some) AS a USING (family)
    WHERE model IS NOT NULL AND (methods IS NULL OR model::jsonb->>'method' = ANY (methods))
    ORDER BY cases.id, a.called
  LOOP
    CALL record(format('%s: %s', c.name, c.called),
      format(c.statement, format('(SELECT model FROM cases WHERE name = %L)', c.name), c.rows));
  END LOOP;
END $$;

-- ---- windows, relations, selections ----

DO $$
DECLARE
  c record;
BEGIN
  FOR c IN SELECT * FROM (VALUES
    ('gmm window', $q$SELECT array_agg(c ORDER BY id) FROM (SELECT id, gmm_cluster(x, 3, '{"restarts": 2}') OVER (PARTITION BY id % 2) AS c FROM iris_rows) AS w$q$),
    ('gmm relation', $q$SELECT * FROM gmm_fit('SELECT x FROM faithful_rows', 2)$q$),
    ('gmm relation with weights', $q$SELECT * FROM gmm_fit('SELECT x, w FROM faithful_rows', 2, '{"method": "em"}')$q$),
    ('gmm relation of columns', $q$SELECT * FROM gmm_fit('SELECT lat, long, depth FROM quakes WHERE id <= 300', 3, '{"restarts": 2}')$q$),
    ('gmm select', $q$SELECT k, covariance, method, objective, log_likelihood, parameters, bic, icl, elbo, converged, told(model) FROM gmm_select('SELECT x FROM iris_rows', '{1,2,3}', '{"covariance": ["full", "diagonal", "spherical", "tied"], "restarts": 2}')$q$),
    ('gmm select em', $q$SELECT k, covariance, method, objective, log_likelihood, parameters, bic, icl, elbo, converged, told(model) FROM gmm_select('SELECT x, w FROM faithful_rows', '{2,4}', '{"covariance": ["tied", "full"], "method": "em", "restarts": 2}')$q$),
    ('gmm select aggregate', $q$SELECT k, covariance, bic, icl, elbo, told(model) FROM unnest((SELECT gmm_select(x, '{1,2}', '{"restarts": 2, "method": "map"}') FROM faithful_rows)) AS s$q$),
    ('bmm window', $q$SELECT array_agg(c ORDER BY id) FROM (SELECT id, bmm_cluster(x, 2, '{"restarts": 2}') OVER () AS c FROM bernoulli_rows) AS w$q$),
    ('bmm relation', $q$SELECT * FROM bmm_fit('SELECT x FROM bernoulli_rows', 2)$q$),
    ('bmm select', $q$SELECT k, method, objective, log_likelihood, parameters, bic, icl, elbo, converged, told(model) FROM bmm_select('SELECT x FROM poisson_rows', '{1,2,3}', '{"likelihood": "poisson", "restarts": 2}')$q$),
    ('bmm select em', $q$SELECT k, method, objective, log_likelihood, parameters, bic, icl, elbo, converged, told(model) FROM bmm_select('SELECT x FROM mixed_rows', '{2,3}', '{"likelihood": ["normal", "bernoulli", "categorical", "poisson", "exponential"], "method": "em", "restarts": 2}')$q$),
    ('dpmm window', $q$SELECT array_agg(c ORDER BY id) FROM (SELECT id, dpmm_cluster(x, '{"draws": 20}') OVER (ORDER BY id) AS c FROM faithful_rows) AS w$q$),
    ('dpmm relation', $q$SELECT * FROM dpmm_cluster('SELECT id, x FROM galaxy_rows ORDER BY id', '{"draws": 40}')$q$),
    ('dpmm relation slice', $q$SELECT * FROM dpmm_cluster('SELECT id, x FROM mixed_rows ORDER BY id', '{"method": "slice", "likelihood": ["normal", "bernoulli", "categorical", "poisson", "exponential"], "draws": 20, "estimate": "binder"}')$q$),
    ('dpmm relation vi', $q$SELECT * FROM dpmm_cluster('SELECT id, x FROM galaxy_rows ORDER BY id', '{"method": "vi", "restarts": 2}')$q$),
    ('dpmm similarity', $q$SELECT * FROM dpmm_similarity('SELECT id, x FROM galaxy_rows WHERE id % 4 = 0 ORDER BY id', '{"draws": 40}')$q$),
    ('hmm relation', $q$SELECT * FROM hmm_decode('SELECT id, x FROM duo_rows ORDER BY id', 2, '{"restarts": 2}')$q$),
    ('hmm window decode', $q$SELECT array_agg(s ORDER BY t) FROM (SELECT t, hmm_decode(model('hmm numbers vi'), waiting) OVER (PARTITION BY t / 100 ORDER BY t) AS s FROM geyser) AS w$q$),
    ('hmm window probabilities', $q$SELECT t, hmm_probabilities(model('hmm numbers em'), waiting) OVER (ORDER BY t) FROM geyser WHERE t <= 60$q$),
    ('hmm window filter', $q$SELECT t, hmm_filter(model('hmm numbers gibbs'), waiting) OVER (ORDER BY t) FROM geyser WHERE t <= 60$q$),
    ('hmm window vectors', $q$SELECT t, hmm_filter(model('hmm full vi'), ROW(waiting, duration)) OVER w, hmm_decode(model('hmm tied em'), ROW(waiting, duration)) OVER w FROM geyser WHERE t <= 60 WINDOW w AS (ORDER BY t)$q$),
    ('hmm window symbols', $q$SELECT i, hmm_probabilities(model('hmm letters vi'), s) OVER (ORDER BY i) FROM unnest(string_to_array('_the_éxtension_', NULL)) WITH ORDINALITY AS u(s, i)$q$),
    ('hmm empty sequence', $q$SELECT hmm_log_likelihood(model('hmm symbols vi'), '{}'::text[]), p FROM hmm_predict(model('hmm symbols vi'), '{}'::text[]) AS p$q$),
    ('diagnostics', $q$SELECT c, rhat(v, c), ess_bulk(v, c), ess_tail(v, c), mcse(v, c), rhat(v), ess_bulk(v) FROM (SELECT n % 1 AS c, sum(noise(n)) OVER (ROWS 4 PRECEDING) AS v FROM generate_series(1, 400) AS n) AS d GROUP BY 1$q$),
    ('diagnostics of chains', $q$SELECT rhat(v, c), ess_bulk(v, c), ess_tail(v, c), mcse(v, c) FROM (SELECT c, sum(noise(n, c)) OVER (PARTITION BY c ORDER BY n ROWS 4 PRECEDING) + c / 9.0 AS v FROM generate_series(1, 3) AS c, generate_series(1, 101) AS n) AS d$q$))
    AS v(name, statement)
  LOOP
    CALL record(c.name, c.statement);
  END LOOP;
END $$;
