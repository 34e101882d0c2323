-- How results are recorded, and the rows that mixtures are fitted to.
--
-- Everything is small: what counts is the number of paths through the code, not of rows.
\set ON_ERROR_STOP on
\set QUIET on
SET client_min_messages = error;
SET jit = off;
SET max_parallel_workers_per_gather = 0;
SET pg_bayes.threads = 2;

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

-- All of a model that does not depend on when and where it was made.
CREATE FUNCTION told(model bayes_model) RETURNS text
  RETURN (model::jsonb - 'seconds' - 'version')::text;

CREATE FUNCTION model(name text) RETURNS bayes_model STABLE
  RETURN (SELECT model FROM cases WHERE cases.name = model.name);

-- Makes and records the fits that are not made yet.
CREATE PROCEDURE fit_all() LANGUAGE plpgsql AS $$
DECLARE
  c record;
  made bayes_model;
  result text;
BEGIN
  FOR c IN SELECT * FROM cases WHERE name NOT IN (SELECT r.name FROM results AS r) ORDER BY id LOOP
    -- Rows that take more lie in a file; some samplers hold them all in memory.
    PERFORM set_config('maintenance_work_mem',
                       CASE WHEN c.name ~ 'many|digits' THEN '64MB' ELSE '1MB' END, false);
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

-- ---- methods, with few iterations ----

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
               ('hmm', '{em,map,vi,svi,gibbs}')) AS f(family, all_methods),
       unnest(all_methods) AS method;

-- A call of an aggregate over rows x.
CREATE FUNCTION call(fit text, k int, options jsonb, weight text DEFAULT NULL) RETURNS text
  IMMUTABLE RETURN format('%s(x, %s, %L::jsonb%s)', fit, k, options, ', ' || weight);

-- ---- rows ----

-- Pseudo-random numbers in [0, 1) that every server makes alike.
CREATE FUNCTION noise(VARIADIC numbers int[]) RETURNS float8 IMMUTABLE
  RETURN ('x' || left(md5(numbers::text), 8))::bit(32)::bigint / 4294967296.0;

CREATE TABLE iris_rows AS
  SELECT id, x, ARRAY[x[1], CASE WHEN id % 7 > 0 THEN x[2] END, x[3]] AS gap, 1 + id % 4 AS w
  FROM iris;
CREATE TABLE three_rows AS SELECT id, x[1:3] AS x FROM iris;
CREATE TABLE faithful_rows AS SELECT id, x, 1.0 / (id % 9) AS w FROM faithful WHERE id % 9 > 0;
CREATE TABLE galaxy_rows AS SELECT id, x FROM galaxies;
CREATE TABLE digit_rows AS SELECT id, x FROM digits WHERE id <= 150;
CREATE TABLE singular_rows AS
  SELECT id, ARRAY[x[1], 5, x[1] + 1, x[3]] AS x FROM iris WHERE id % 2 = 0;
-- More distinct rows than a sample of them holds.
CREATE TABLE many_rows AS
  SELECT id, ARRAY[noise(id, 1) + noise(id, 2) + 2 * (id % 3), noise(id, 3) * (1 + id % 3),
                   noise(id, 4) - id % 2] AS x, 1 + id % 3 AS w
  FROM generate_series(1, 11000) AS id;
CREATE TABLE many_products AS
  SELECT id, ARRAY[floor(noise(id, 1) * (2 + id % 5)), noise(id, 2) + id % 3,
                   (noise(id, 3) < 0.2 + 0.3 * (id % 3))::int]::float8[] AS x
  FROM generate_series(1, 11000) AS id;
-- More than 1 MB.
CREATE TABLE wide_rows AS
  SELECT id, ARRAY(SELECT noise(id, j) + (id + j) % 3
                   FROM generate_series(1, 16) AS j ORDER BY j) AS x
  FROM generate_series(1, 11000) AS id;

-- Rows of products: the table <kind>_rows has those of a kind.
CREATE TABLE columns (kind text PRIMARY KEY, likelihood jsonb);
INSERT INTO columns VALUES
  ('bernoulli', '"bernoulli"'), ('poisson', '"poisson"'), ('exponential', '"exponential"'),
  ('categorical', '"categorical"'), ('normals', '["normal"]'),
  ('mixed', '["normal", "bernoulli", "categorical", "poisson", "exponential"]');
CREATE TABLE births AS
  SELECT *, -ln(1 - noise(id, 1)) AS wait_1, -ln(1 - noise(id, 2)) AS wait_2 FROM birthwt
  WHERE id <= 120;
CREATE TABLE bernoulli_rows AS
  SELECT id, ARRAY[smoke, (ptl > 0)::int, ht, ui, low, (ftv > 0)::int]::float8[] AS x FROM births;
CREATE TABLE poisson_rows AS SELECT id, ARRAY[ftv, ptl, race * 2]::float8[] AS x FROM births;
CREATE TABLE exponential_rows AS
  SELECT id, ARRAY[wait_1 * race, wait_2 * (1 + smoke)] AS x FROM births;
CREATE TABLE categorical_rows AS
  SELECT id, ARRAY[race, least(ftv, 3), smoke + 2 * low]::float8[] AS x FROM births;
CREATE TABLE normals_rows AS SELECT id, ARRAY[age, lwt, bwt / 1000] AS x FROM births;
CREATE TABLE mixed_rows AS SELECT id, ARRAY[age, smoke, race, ftv, wait_1 * race] AS x FROM births;
