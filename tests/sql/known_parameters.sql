-- Numbers that are known of a column, as options of its likelihood: the size of a negative
-- binomial, the trials of a binomial, the shape of a gamma; and log-normals, which need none.
SELECT plan(49);
\ir ../lib/checks.sql
\ir ../lib/errors.sql
SET client_min_messages = error;

CREATE TABLE four AS SELECT x FROM unnest('{1,2,3,6}'::int[]) AS x;
CREATE TABLE likelihoods AS SELECT * FROM (VALUES
  ('negative_binomial', '{"family": "negative_binomial", "size": 2.5}'::jsonb),
  ('binomial', '{"family": "binomial", "trials": 10}'),
  ('gamma', '{"family": "gamma", "shape": 2.5}'),
  ('log_normal', '"log_normal"')) AS v(family, likelihood);
-- Two groups of rows: events, and what has a likelihood of its own.
CREATE TABLE people AS SELECT i AS id, 1 + i % 3 + 5 * (i % 2) AS visits, 20 + i % 9 AS age,
  (ARRAY['a', 'b'])[1 + i % 2] AS kind FROM generate_series(1, 60) AS i;

-- ---- densities: dnbinom, dbinom, dgamma and dlnorm at 4 with the estimates of 1, 2, 3, 6 ----

CREATE TABLE expected AS SELECT * FROM (VALUES
  ('negative_binomial', -2.1958612561556627, -2.2762163618021916),
  ('binomial', -1.6088333502186716, -1.6413657927942893),
  ('gamma', -1.9943785541113037, -2.0425461176647417),
  ('log_normal', -2.15874204694164, NULL)) AS v(family, at_estimate, predictive);
SELECT ok(near(bayes_log_density(m, ARRAY[4]), at_estimate), 'bmm, em: ' || family)
FROM expected JOIN likelihoods USING (family), LATERAL (SELECT bmm_fit(ARRAY[x], 1,
  jsonb_build_object('method', 'em', 'likelihood', likelihood)) AS m FROM four) AS f;
SELECT ok(near(hmm_log_likelihood(m, ARRAY[4.0::float8]), at_estimate), 'hmm, em: ' || family)
FROM expected JOIN likelihoods USING (family), LATERAL (SELECT hmm_fit(ARRAY[x::float8], 1,
  jsonb_build_object('method', 'em', 'emission', likelihood)) AS m FROM four) AS f;
-- Beta negative binomial, beta binomial and compound gamma, of two prior events of each kind.
CREATE TABLE priors AS SELECT family, CASE family WHEN 'gamma' THEN '{"shape": 2, "rate": 3}'
  ELSE '{"a": 2, "b": 3}' END::jsonb AS prior FROM expected WHERE predictive IS NOT NULL;
SELECT ok(near(bayes_log_density(m, ARRAY[4]), predictive), 'bmm, vi: ' || family)
FROM expected JOIN likelihoods USING (family) JOIN priors USING (family), LATERAL (
  SELECT bmm_fit(ARRAY[x], 1, jsonb_build_object('method', 'vi', 'likelihood', likelihood,
    'prior', prior)) AS m FROM four) AS f;
SELECT ok(near(bayes_log_density(m, ARRAY[4]), predictive), 'nb: ' || family)
FROM expected JOIN likelihoods USING (family) JOIN priors USING (family), LATERAL (
  SELECT nb_fit('only'::text, ARRAY[x], jsonb_build_object('likelihood', likelihood,
    'prior', jsonb_build_object(family, prior))) AS m FROM four) AS f;

-- ---- every method ----

CREATE TABLE methods AS SELECT v.* FROM (VALUES ('bmm', 'em'), ('bmm', 'map'), ('bmm', 'vi'),
  ('bmm', 'svi'), ('bmm', 'mcem'), ('bmm', 'gibbs'), ('bmm', 'collapsed'), ('dpmm', 'collapsed'),
  ('dpmm', 'gibbs'), ('dpmm', 'slice'), ('dpmm', 'vi'), ('hmm', 'em'), ('hmm', 'map'),
  ('hmm', 'vi'), ('hmm', 'svi'), ('hmm', 'gibbs')) AS v(model, method);
CREATE FUNCTION fitted(model text, options jsonb) RETURNS bayes_model LANGUAGE plpgsql AS $$
DECLARE fit bayes_model;
BEGIN
  CASE model
    WHEN 'bmm' THEN SELECT bmm_fit(ARRAY[visits], 2, options) INTO fit FROM people;
    WHEN 'dpmm' THEN SELECT dpmm_fit(ARRAY[visits], options) INTO fit FROM people;
    WHEN 'hmm' THEN SELECT hmm_fit(s, 2, options - 'likelihood'
        || jsonb_build_object('emission', options->'likelihood'))
      INTO fit FROM (SELECT array_agg(visits::float8 ORDER BY id) AS s FROM people
        GROUP BY id % 4) AS q;
  END CASE;
  RETURN fit;
END $$;
CREATE TABLE fits AS SELECT family, likelihood, model AS kind, method, fitted(model,
    jsonb_build_object('method', method, 'likelihood', likelihood, 'seed', 2)
    || CASE WHEN method IN ('gibbs', 'collapsed', 'slice') THEN '{"draws": 30, "warmup": 10}'
       ELSE '{"max_iter": 20}' END::jsonb) AS model
  FROM likelihoods, methods;
SELECT never($$SELECT fits.family, kind, fits.method,
    i.options->(CASE kind WHEN 'hmm' THEN 'emission'
      ELSE 'likelihood' END) IS DISTINCT FROM likelihood
    OR model::text::bayes_model::text <> model::text AS wrong
  FROM fits, bayes_info(model) AS i$$, 'models have the likelihood, and are read again');
SELECT never(format($$SELECT f.family, method, p.parameter, p.value, p.value IS DISTINCT FROM
      (f.likelihood->>parameter)::float8 OR sd IS NOT NULL OR lower IS NOT NULL AS wrong
    FROM fits AS f, bayes_parameters(model) AS p
    WHERE kind = %L AND f.likelihood ? parameter$$, kind),
  'bayes_parameters has the known ones of ' || kind)
FROM (VALUES ('bmm'), ('dpmm'), ('hmm')) AS v(kind);
SELECT is(count(*), 2::bigint * 3 * 7, 'once for each component')
FROM fits AS f, bayes_parameters(model) AS p WHERE kind = 'bmm' AND f.likelihood ? parameter;

-- ---- by column, for records, arrays and sparse rows ----

CREATE TABLE models AS SELECT
  bmm_fit(r, 2, '{"likelihood": {"visits": {"family": "binomial", "trials": 12}}}') AS by_column,
  bmm_fit(r, 2, '{"likelihood": [{"family": "binomial", "trials": 12}, "normal", "categorical"]}')
    AS by_position,
  bmm_fit(r, 2, '{"likelihood": {"family": "gamma", "shape": 3}}') AS all_numbers
FROM (SELECT visits, age, kind FROM people) AS r;
SELECT is(i.options->'likelihood',
  '[{"family": "binomial", "trials": 12}, "normal", "categorical"]'::jsonb, 'by column')
FROM models, bayes_info(by_column) AS i;
SELECT is(timeless(by_position), timeless(by_column), 'by position') FROM models;
SELECT is(i.options->'likelihood', '[{"family": "gamma", "shape": 3}, {"family": "gamma", '
  '"shape": 3}, "categorical"]'::jsonb, 'one of all numbers')
FROM models, bayes_info(all_numbers) AS i;
SELECT is(i.options->'likelihood', '"poisson"'::jsonb, 'a column may be called family')
FROM (SELECT bmm_fit(r, 2, '{"likelihood": {"family": "poisson"}, "method": "em"}') AS m
  FROM (SELECT visits AS family FROM people) AS r) AS f, LATERAL (SELECT jsonb_build_object(
    'likelihood', i.options->'likelihood'->0) AS options FROM bayes_info(m) AS i) AS i;
SELECT ok(bmm_fit(r, (SELECT by_column FROM models),
  '{"likelihood": {"visits": {"family": "binomial", "trials": 12}}}') IS NOT NULL,
  'a fit from a model may repeat it')
FROM (SELECT visits, age, kind FROM people) AS r;
SELECT is(complaint($$SELECT bmm_fit(r, (SELECT by_column FROM models),
    '{"likelihood": {"visits": {"family": "binomial", "trials": 13}}}')
    FROM (SELECT visits, age, kind FROM people) AS r$$),
  '22023 option "likelihood" has {"family": "binomial", "trials": 13} for column "visits", but '
  'the start model has {"family": "binomial", "trials": 12}', 'and no other');
CREATE TABLE sparse AS SELECT nb_fit(kind, jsonb_build_object('visits', visits, 'age', age),
  '{"likelihood": {"age": {"family": "negative_binomial", "size": 3}}}') AS m FROM people;
SELECT ok(m::text::bayes_model::text = m::text AND m::text LIKE '%"size": 3%', 'sparse rows')
FROM sparse;

-- ---- merging, matching and comparing ----

CREATE TABLE classes AS SELECT size, nb_fit(kind, ARRAY[visits], jsonb_build_object('likelihood',
  jsonb_build_object('family', 'negative_binomial', 'size', size))) AS m
FROM people, (VALUES (2), (3)) AS v(size) GROUP BY size;
SELECT is(complaint('SELECT bayes_rollup(m) FROM classes'),
  '22023 element 1 is negative_binomial with '
  'size 2 and negative_binomial with size 3', 'columns of other sizes are not merged');
CREATE TABLE mixtures AS SELECT size, bmm_fit(ARRAY[visits], 2, jsonb_build_object('likelihood',
  jsonb_build_object('family', 'negative_binomial', 'size', size))) AS m
FROM people, (VALUES (2), (3)) AS v(size) GROUP BY size;
SELECT is(complaint('SELECT bayes_match(a.m, b.m) FROM mixtures AS a, mixtures AS b
    WHERE a.size = 2 AND b.size = 3'), '22023 element 1 is negative_binomial with size 2 in one '
  'model and negative_binomial with size 3 in the other', 'nor matched');

-- ---- errors ----

SELECT is(complaint(format('SELECT bmm_fit(ARRAY[visits], 2, %L) FROM people', options)), said,
  options) FROM (VALUES
  ('{"likelihood": "negative_binomial"}',
    '22023 option "likelihood" is negative_binomial, which needs "size"'),
  ('{"likelihood": ["binomial"]}',
    '22023 option "likelihood[1]" is binomial, which needs "trials"'),
  ('{"likelihood": {"family": "gamma"}}',
    '22023 option "likelihood" is gamma, which needs "shape"'),
  ('{"likelihood": {"family": "gamma", "shape": 0}}', '22023 option "likelihood.shape" is 0, but '
    'must be a number greater than 0 and at most 1000000000'),
  ('{"likelihood": {"family": "gamma", "shape": "2"}}', '22023 option "likelihood.shape" is "2", '
    'but must be a number greater than 0 and at most 1000000000'),
  ('{"likelihood": {"family": "binomial", "trials": 2.5}}', '22023 option "likelihood.trials" is '
    '2.5, but must be a whole number from 1 to 1000000'),
  ('{"likelihood": {"family": "binomial", "trials": 0}}', '22023 option "likelihood.trials" is 0, '
    'but must be a whole number from 1 to 1000000'),
  ('{"likelihood": {"family": "binomial", "trails": 3}}',
    '22023 option "likelihood" is binomial, which needs "trials"'),
  ('{"likelihood": {"family": "binomial", "trials": 12, "trails": 3}}',
    '22023 unknown option "likelihood.trails"'),
  ('{"likelihood": {"family": "poisson", "size": 3}}',
    '22023 option "likelihood.size" does not apply to family poisson'),
  ('{"likelihood": {"family": "binomail", "trials": 3}}', '22023 option "likelihood.family" is '
    '"binomail", but must be one of ' || column_families()),
  ('{"likelihood": {"family": 3}}', '22023 option "likelihood.family" is 3, but must be one of '
    || column_families()),
  ('{"likelihood": {"family": null}}',
    '22023 option "likelihood.family" is null, but must be the name of a family'),
  ('{"likelihood": [{"family": "binomial", "trials": 3}]}', '22023 element 1 of row 5 is 8, but '
    'must be a whole number from 0 to 3, the number of trials'),
  ('{"likelihood": "log_normal", "prior": {"rate": 3}}', '22023 unknown option "prior.rate"')
) AS v(options, said);
SELECT is(advice($$SELECT bmm_fit(ARRAY[visits], 2, '{"likelihood": "binomial"}') FROM people$$),
  'This parameter is not estimated and must be given. | '
  'Write {"family": "binomial", "trials": 10}.', 'what is missing');
SELECT is(complaint($$SELECT bmm_fit(r, 2, '{"likelihood": {"age": "negative_binomial"}}')
    FROM (SELECT age FROM people) AS r$$),
  '22023 option "likelihood.age" is negative_binomial, which needs "size"', 'of a column');
SELECT is(complaint($$SELECT hmm_fit(ARRAY[1.0, 2.5], 1, '{"emission": "gamma"}')$$),
  '22023 option "emission" is gamma, which needs "shape"', 'of an emission');
SELECT is(complaint($$SELECT nb_fit(kind, ARRAY[visits], '{"likelihood": "binomial"}')
    FROM people$$), '22023 option "likelihood" is binomial, which needs "trials"',
  'of a classifier');
SELECT is(complaint($$SELECT bmm_fit(ARRAY[visits - 1], 2, '{"likelihood": "log_normal"}')
    FROM people$$), '22023 element 1 of row 6 is 0, but must be a number greater than 0',
  'logarithms exist');
SELECT is(complaint($$SELECT replace(m::text, '"size": 2', '"size": -2')::bayes_model
    FROM mixtures WHERE size = 2$$) ~ 'which is not a likelihood', true,
  'a stored model has a possible size');

SELECT * FROM finish();
