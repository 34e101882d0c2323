-- Option max_seconds, of every family and method: a fit without time is a valid model that says so,
-- and a fit with enough of it is the fit without the option, to the last bit.
SELECT plan(14);
\ir ../lib/checks.sql
SET client_min_messages = error;

CREATE TABLE flowers AS SELECT id, x, x[3] > 4 AS large, species FROM iris;
CREATE TABLE documents AS SELECT i, string_to_array((ARRAY['a b a c', 'c d d e', 'a a b',
  'd e e c'])[1 + i % 4], ' ') AS d FROM generate_series(1, 40) AS i;
CREATE TABLE cells AS SELECT 'r' || i AS r, 'c' || j AS c, 1 + i * j % 5 AS n
  FROM generate_series(1, 12) AS i, generate_series(1, 9) AS j;

-- %L: the options.
CREATE TABLE families (family text PRIMARY KEY, call text, methods text[],
  of_samplers jsonb DEFAULT '{"draws": 40, "warmup": 20, "chains": 3}');
INSERT INTO families (family, call, methods) VALUES
  ('gmm', 'SELECT gmm_fit(x, 3, %L) FROM flowers', '{em,map,vi,svi,gibbs,collapsed,mcem,kmeans}'),
  ('bmm', 'SELECT bmm_fit(ARRAY[large, x[4] > 1, x[1] > 5.8], 2, %L) FROM flowers',
    '{em,map,vi,svi,gibbs,collapsed,mcem}'),
  ('dpmm', 'SELECT dpmm_fit(x, %L) FROM flowers', '{collapsed,gibbs,slice,vi}'),
  ('hmm', 'SELECT hmm_fit(d, 2, %L) FROM documents', '{em,map,vi,svi,gibbs}'),
  ('lda', 'SELECT lda_fit(d, 2, %L) FROM documents', '{vi,em,svi,cvb0,gibbs,collapsed}'),
  ('nmf', 'SELECT nmf_fit(r, c, n, 2, %L) FROM cells', '{vi,svi,em,squared}'),
  ('pmf', 'SELECT pmf_fit(r, c, n, 2, %L) FROM cells', '{gibbs}'),
  ('linreg', 'SELECT linreg_fit(x[1], x[2:4], %L) FROM flowers', '{em,laplace,vi,gibbs}'),
  ('logreg', 'SELECT logreg_fit(large, x[1:2], %L) FROM flowers', '{laplace,gibbs}'),
  ('probit', 'SELECT probit_fit(large, x[1:2], %L) FROM flowers', '{laplace,em,vi,gibbs}');
CREATE TABLE variants AS SELECT family, call, method, jsonb_build_object('method', method)
    || CASE WHEN method IN ('gibbs', 'collapsed', 'slice') THEN of_samplers ELSE '{}' END AS options
  FROM families, unnest(methods) AS method;
-- other ways through the fits
INSERT INTO variants SELECT family, call, method, options || more FROM variants,
  (VALUES ('gmm', 'vi', '{"linear_response": true}'::jsonb), ('gmm', 'vi', '{"restarts": 5}'),
    ('gmm', 'vi', '{"prior": {"type": "independent"}}'), ('gmm', 'gibbs', '{"thin": 3}'),
    ('gmm', 'gibbs', '{"stored_draws": 2}'), ('gmm', 'gibbs', '{"warmup": 0}'),
    ('bmm', 'vi', '{"linear_response": true}'), ('dpmm', 'vi', '{"linear_response": true}'),
    ('dpmm', 'gibbs', '{"stored_draws": 3}'), ('hmm', 'vi', '{"linear_response": true}'),
    ('hmm', 'gibbs', '{"stored_draws": 7, "thin": 2}'), ('lda', 'gibbs', '{"stored_draws": 4}'),
    ('lda', 'vi', '{"restarts": 3}'), ('nmf', 'vi', '{"hierarchical": true}'),
    ('nmf', 'em', '{"restarts": 3}'), ('pmf', 'gibbs', '{"prior": {"hierarchical": true}}'),
    ('pmf', 'gibbs', '{"means": false, "stored_draws": 5}'), ('linreg', 'vi', '{"ard": true}'),
    ('linreg', 'gibbs', '{"stored_draws": 6}'), ('probit', 'gibbs', '{"stored_draws": 3}'))
  AS v(of_family, of_method, more) WHERE family = of_family AND method = of_method;

CREATE FUNCTION fitted(call text, options jsonb) RETURNS bayes_model LANGUAGE plpgsql AS $$
DECLARE model bayes_model;
BEGIN
  EXECUTE format(call, options) INTO model;
  RETURN model;
END $$;

CREATE TABLE fits AS SELECT family AS kind, method AS way, options AS asked,
    fitted(call, options) AS free,
    fitted(call, options || '{"max_seconds": 1e6}') AS limited,
    fitted(call, options || '{"max_seconds": 1e-9}') AS hasty,
    fitted(call, options || '{"max_seconds": 0.001}') AS short
  FROM variants AS v;
SELECT is((SELECT count(*) FROM fits), 65::bigint, 'every family is fitted by every method');

SELECT never($$SELECT kind, way, asked,
    free::jsonb #- '{seconds}' <> limited::jsonb #- '{seconds}' #- '{options,max_seconds}' AS wrong
  FROM fits$$, 'enough time changes nothing');
SELECT never($$SELECT kind, way, asked, s.stopped, s.converged,
    s.stopped IS DISTINCT FROM CASE WHEN s.draws > 0 THEN 'draws' WHEN s.converged THEN 'converged'
      ELSE 'max_iter' END
    OR (s.options->>'max_seconds')::float8 <> 1e6 AS wrong
  FROM fits, bayes_info(limited) AS s$$, 'and its end is that of the method');
SELECT never($$SELECT kind, way, asked, s.stopped, s.converged, s.iterations,
    s.stopped IS DISTINCT FROM 'max_seconds' OR s.converged OR s.iterations < 1 AS wrong
  FROM fits, bayes_info(hasty) AS s$$, 'no time at all: one iteration, and unfinished');
SELECT never($$SELECT kind, way, asked, s.draws, s.stored_draws, s.iterations,
    s.draws <> 3 OR s.stored_draws NOT BETWEEN 1 AND 3 OR s.iterations <> 1
      AS wrong
  FROM fits, bayes_info(hasty) AS s WHERE asked ? 'draws'$$,
  'of samplers one draw of each chain');
SELECT never($$SELECT kind, way, asked, count(*),
    count(DISTINCT chain) <> 3 OR min(draw) <> 1 OR max(draw) <> 1 OR bool_or(value = 'NaN')
      AS wrong
  FROM fits, bayes_draws(hasty) WHERE asked ? 'draws' GROUP BY kind, way, asked$$,
  'with its quantities');
SELECT never($$SELECT kind, way, asked, s.draws, s.stored_draws,
    s.draws % 3 <> 0 OR s.draws < 3 OR s.stored_draws < 1 OR s.stored_draws > s.draws
      OR (s.stored_draws > 2 AND s.stored_draws % 3 <> 0)
      OR s.stopped NOT IN ('draws', 'max_seconds') AS wrong
  FROM fits, bayes_info(short) AS s WHERE asked ? 'draws'$$,
  'in a millisecond as many draws of each chain');
SELECT never($$SELECT kind, way, asked, m::text::bayes_model <> m
    OR m::text ~ '"(log_likelihood|objective)": "NaN"' AND (s.log_likelihood IS NULL)
      <> (f.log_likelihood IS NULL) AS wrong
  FROM fits, bayes_info(free) AS f, unnest(ARRAY[hasty, short]) AS m, bayes_info(m) AS s$$,
  'they are written and read as others');
SELECT never($$SELECT kind, way, asked, p, p.value IS NULL OR p.value = 'NaN' AS wrong
  FROM fits, unnest(ARRAY[hasty, short]) AS m, bayes_parameters(m) AS p WHERE kind <> 'pmf'$$,
  'their parameters are numbers');
SELECT never($$SELECT kind, way, asked, bayes_log_density(m, x) = 'NaN'
    OR abs((SELECT sum(p) FROM unnest(bayes_probabilities(m, x)) AS p) - 1) > 1e-9 AS wrong
  FROM fits, unnest(ARRAY[hasty, short]) AS m, flowers WHERE kind = 'gmm' AND id % 20 = 1$$,
  'they score rows');
SELECT never($$SELECT f.kind, p, p.stopped IS NOT NULL AS wrong FROM
    (SELECT 'linreg', linreg_fit(x[1], x[2:3]) FROM flowers
    UNION ALL SELECT 'nb', nb_fit(species, x) FROM flowers
    UNION ALL SELECT 'beta', beta_bernoulli_fit(large) FROM flowers) AS f(kind, model),
  bayes_info(model) AS p$$, 'where nothing iterates nothing stops');

SELECT throws_ok($$SELECT replace(hasty::text, '"stopped": "max_seconds"', '"stopped": "draws"')
    ::bayes_model FROM fits WHERE kind = 'pmf' LIMIT 1$$, '22P02', NULL,
  'no model says that something else stopped it');
SELECT throws_ok($$SELECT replace(hasty::text, '"converged": false', '"converged": true')
    ::bayes_model FROM fits WHERE kind = 'pmf' LIMIT 1$$, '22P02', NULL,
  'nor that it has converged nevertheless');

-- Selections: the time is for all fits together.
CREATE TABLE selections AS SELECT s.converged, i.stopped, i.seconds FROM (
  SELECT unnest(ARRAY[model]), converged FROM gmm_select('SELECT x FROM iris', '{2,3,4}',
    '{"max_seconds": 0.03, "tol": 0, "max_iter": 1000000, "restarts": 1000, "models": true}')
  UNION ALL SELECT model, converged FROM bmm_select('SELECT large, x[4] > 1 AS y FROM flowers',
    '{1,2}', '{"max_seconds": 1e-9, "models": true}')
  UNION ALL SELECT model, converged FROM hmm_select('SELECT i, d FROM documents', '{1,2}',
    '{"max_seconds": 1e-9, "models": true}')
  UNION ALL SELECT model, converged FROM lda_select('SELECT d FROM documents', '{2,3}',
    '{"max_seconds": 1e-9, "models": true}')
  UNION ALL SELECT model, converged FROM nmf_select('SELECT r, c, n FROM cells', '{2,3}',
    '{"max_seconds": 1e-9, "models": true}')) AS s(model, converged), bayes_info(model) AS i;
SELECT never('SELECT *, converged OR stopped <> ''max_seconds'' AS wrong FROM selections',
  'a selection without time is unfinished');
SELECT * FROM finish();
