-- What is stored can be read: a model whose numbers are out of range is refused by the fit, with
-- 22003, and not by pg_dump. Every family is fitted to columns, weights and priors of all
-- magnitudes.
SELECT plan(11);
\ir ../lib/checks.sql
SET client_min_messages = error;

-- What becomes of a query that returns a model.
CREATE FUNCTION outcome(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  model bayes_model;
BEGIN
  BEGIN
    EXECUTE query INTO model;
  EXCEPTION WHEN data_exception THEN
    RETURN SQLSTATE;
  END;
  IF model IS NULL THEN
    RETURN NULL;
  END IF;
  PERFORM model::text::bayes_model, _bayes_model_send(model);
  RETURN 'stored';
EXCEPTION WHEN OTHERS THEN RETURN format('%s: %s', SQLSTATE, SQLERRM);
END $$;

CREATE TABLE fits (fit text);
INSERT INTO fits VALUES
  ('linreg_fit((i % 2) * ~::float8, ARRAY[sin(i) * ~::float8], NULL, #)'),
  ('linreg_fit((i % 2) * ~::float8, ARRAY[sin(i)], NULL, #)'),
  ('linreg_fit((i % 2)::float8, ARRAY[sin(i) * ~::float8], NULL, #)'),
  ('linreg_fit((i % 2) * ~::float8, ARRAY[sin(i) * ~::float8], ''{"method": "vi"}'', #)'),
  ('linreg_fit((i % 2) * ~::float8, ARRAY[sin(i)], ''{"method": "gibbs", "draws": 10}'', #)'),
  ('linreg_fit((i % 2) * ~::float8, ARRAY[sin(i)], ''{"method": "em", "ard": true}'', #)'),
  ('linreg_fit(sin(i), ARRAY[cos(i)], ''{"prior": {"a": 1, "b": ~}}'', #)'),
  ('linreg_fit(sin(i), ARRAY[cos(i)], ''{"prior": {"c": ~}}'', #)'),
  ('logreg_fit(i % 2 = 1, ARRAY[sin(i) * ~::float8], NULL, #)'),
  ('logreg_fit(i % 2 = 1, ARRAY[sin(i) + ~::float8], ''{"intercept": false}'', #)'),
  ('logreg_fit(i % 2 = 1, ARRAY[sin(i)], ''{"prior": {"c": ~}}'', #)'),
  ('logreg_fit(i % 2 = 1, ARRAY[sin(i) * ~::float8], ''{"prior": {"c": ~}}'', #)'),
  ('logreg_fit(i % 2 = 1, ARRAY[sin(i) * 1e-80], ''{"prior": {"c": ~}}'', #)'),
  ('logreg_fit(i % 2 = 1, ARRAY[sin(i) * ~::float8], ''{"method": "gibbs", "draws": 10}'')'),
  ('probit_fit(i % 2 = 1, ARRAY[sin(i) * ~::float8], ''{"method": "laplace"}'', #)'),
  ('probit_fit(i % 2 = 1, ARRAY[sin(i) * ~::float8], ''{"method": "em"}'', #)'),
  ('probit_fit(i % 2 = 1, ARRAY[sin(i)], ''{"prior": {"lambda": ~}}'', #)'),
  ('probit_fit(i % 2 = 1, ARRAY[sin(i) * ~::float8], ''{"method": "gibbs", "draws": 10}'')'),
  ('gmm_fit(ARRAY[(i % 2) * ~::float8, sin(i)], 2, NULL, #)'),
  ('gmm_fit(ARRAY[sin(i) * ~::float8, sin(i)], 2, ''{"covariance": "diagonal"}'', #)'),
  ('bmm_fit(ARRAY[(i % 2) * ~::float8, abs(sin(i)) * ~::float8], 2,
    ''{"likelihood": ["exponential", "normal"]}'', #)'),
  ('dpmm_fit(ARRAY[(i % 2) * ~::float8, sin(i)], ''{"draws": 10}'')'),
  ('hmm_fit(ARRAY[(i % 2) * ~::float8, sin(i)], 2, NULL, #)'),
  ('nmf_fit(i::text, (i % 3)::text, abs(sin(i) * ~::float8), 2)'),
  ('pmf_fit(i::text, (i % 3)::text, abs(sin(i) * ~::float8), 2, ''{"draws": 10}'')'),
  ('lda_fit(i::text, (i % 3)::text, i, 2, ''{"prior": {"alpha": ~, "eta": ~}}'')'),
  ('nb_fit(i % 2, ARRAY[sin(i) * ~::float8, i], NULL, #)'),
  ('nb_fit(i % 2, ARRAY[i], ''{"likelihood": "poisson"}'', #)'),
  ('normal_inverse_gamma_fit(sin(i) * ~::float8, NULL, #)'),
  ('gamma_poisson_fit(i, ''{"prior": {"a": ~, "b": ~}}'', #)'),
  ('beta_bernoulli_fit(i % 2 = 1, ''{"prior": {"a": ~, "b": ~}}'', #)');

CREATE TABLE outcomes AS SELECT fit, size, weight,
    outcome(format('SELECT %s FROM generate_series(1, 12) AS i',
      replace(replace(fit, '~', size), '#', weight))) AS outcome
  FROM fits, unnest('{1e-320, 1e-305, 1e-200, 1e-150, 1e-100, 1e-50, 1, 1e50, 1e100, 1e140, 1e150,
    1e154, 1e200, 1e290, 1e300, 1e308}'::text[]) AS size,
    unnest('{1e-300, 0.5, 1e100, 1e300}'::text[]) AS weight
  WHERE fit LIKE '%#%' OR weight = '0.5';

SELECT never($$SELECT *, outcome NOT IN ('stored', '22003', '22023') AS wrong FROM outcomes$$,
  'a fit refuses what could not be read again');
SELECT never($$SELECT fit, bool_and(outcome <> 'stored') AS wrong
  FROM outcomes GROUP BY 1$$, 'every fit is stored for some of them');

-- Responses whose squares have 300 digits.
CREATE FUNCTION model_of(size float8) RETURNS bayes_model LANGUAGE sql RETURN
  (SELECT linreg_fit((i % 2) * size, ARRAY[sin(i) * size], NULL, 0.5)
   FROM generate_series(1, 12) AS i);
SELECT is(outcome('SELECT model_of(1e150)'), 'stored', 'large responses are taken');
SELECT never($$SELECT a.term, NOT (near(a.mean / unit, b.mean) AND near(a.sd / unit, b.sd)
    AND near(a.lower / unit, b.lower) AND near(a.upper / unit, b.upper)) AS wrong
  FROM bayes_coefficients(model_of(1e150)) AS a JOIN bayes_coefficients(model_of(1)) AS b
    USING (term), LATERAL (SELECT CASE term WHEN '(intercept)' THEN 1e150 ELSE 1 END AS unit)
    AS u$$, 'and have the coefficients of small ones');

SELECT throws_ok($$SELECT linreg_fit((i % 2) * 1e150::float8, ARRAY[sin(i) * 1e150], NULL, 1e9)
  FROM generate_series(1, 12) AS i$$, '22003', NULL, 'squares beyond all numbers');

-- What cannot be stored is a failure of the fit to option on_error too.
SELECT is(outcome(format(fit, '')) = '22003', outcome(format(fit, ', "on_error": "null"')) IS NULL,
    'on_error = null')
  FROM (VALUES ($$SELECT bmm_fit(ARRAY[(i %% 2) * 1e150::float8, abs(sin(i)) * 1e150::float8], 2,
    '{"likelihood": ["exponential", "normal"]%s}', 1e-300) FROM generate_series(1, 12) AS i$$))
    AS t(fit);

-- ---- statistics of regressions ----

CREATE TABLE sums AS SELECT g, linreg_stats(sin(i), t, NULL, 1 + i % 3) AS stats
  FROM (SELECT i % 2 AS g,
  i, cos(i) AS a, (i % 7)::float8 AS b, chr(97 + i % 3) AS l FROM generate_series(1, 50) AS i) AS t
  GROUP BY g;
CREATE FUNCTION forged(doc jsonb) RETURNS text LANGUAGE plpgsql AS $$ BEGIN
  PERFORM doc::linreg_stats;
  RETURN 'taken';
EXCEPTION WHEN invalid_text_representation THEN
  RETURN 'refused';
END $$;
-- Cells: 1, y, g, i, a, b, l = a, l = b, l = c; sum k of a triangle.
SELECT never($$SELECT *, forged(jsonb_set(doc, path, value)) <> 'refused' AS wrong
  FROM (SELECT stats::jsonb AS doc FROM sums) AS s, (VALUES ('{sums,0}'::text[], '-1'::jsonb),
    ('{sums,0}', '1e300'), ('{sums,1}', '1e9'), ('{sums,2}', '-3'), ('{sums,2}', '"NaN"'),
    ('{rests,2}', '1'), ('{sums,21}', '1'), ('{sums,22}', '0'), ('{sums,27}', '1e5'),
    ('{sums,34}', '2'), ('{sums,35}', '0'), ('{rows}', '3'), ('{rows}', '1000'), ('{rows}', '-1'),
    ('{label_rows,1}', '7'), ('{label_rows}', '[1]'), ('{sums}', '[]'), ('{rests}', '[]'))
    AS forgery(path, value)$$, 'forged statistics are refused when they are read');
-- Every product of two is within its squares, but no rows have these.
SELECT is(forged('{"linreg_stats": {"format": 1}, "rows": 9, "skipped": 0, "dimension": 2,
  "sums": [9, 0, 9, 0, 7, 9, 0, 7, -7, 9], "rests": [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]}'), 'refused',
  'statistics that are not positive semidefinite');

SELECT is((SELECT count(*) FROM sums AS a JOIN sums AS b ON a.stats = b.stats), 2::bigint,
  'statistics are equal to themselves alone');
SET enable_hashjoin = off;
SELECT is((SELECT count(*) FROM sums AS a JOIN sums AS b ON a.stats = b.stats), 2::bigint,
  'by sorting, too');
SELECT is((SELECT count(*) FROM (SELECT DISTINCT q FROM (VALUES ('SELECT 1'::bayes_query),
  ('SELECT 2'), ('SELECT 1')) AS t(q)) AS d), 2::bigint, 'and queries');
SELECT * FROM finish();
