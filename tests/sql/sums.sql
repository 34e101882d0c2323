-- Aggregates of sums: one argument takes rows of any type, and the types of others tell what they
-- are.
SELECT plan(39);
\ir ../lib/checks.sql
\ir ../lib/errors.sql
SET client_min_messages = error;

CREATE DOMAIN whole AS int;
CREATE DOMAIN wholes AS int[];
CREATE TABLE readings AS
SELECT i AS id, sin(i) + i % 5 AS y, i % 5 AS a, i % 2 = 0 AS flag, 'class ' || i % 4 AS label,
  1 + i % 2 AS times, jsonb_build_object('a', i % 5) AS words, md5(i::text) AS word
FROM generate_series(1, 200) AS i;
CREATE TABLE latent AS SELECT bmm_fit(ARRAY[a], 2, '{"likelihood": "poisson"}') AS model
FROM readings;

CREATE TABLE fits AS SELECT linreg_fit(y, a) AS linreg, nb_fit(label, a) AS nb,
  beta_bernoulli_fit(flag) AS beta FROM readings;

CREATE FUNCTION text_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE found text;
BEGIN
  EXECUTE statement INTO STRICT found;
  RETURN found;
END $$;

-- ---- rows of any type ----

SELECT is(text_of(format(statement, form)), text_of(format(statement, 'ARRAY[a::float8]')),
  format(statement, form))
FROM (VALUES ('SELECT linreg_stats(y, %s) FROM readings'),
    ('SELECT timeless(nb_fit(label, %s)) FROM readings'),
    ('SELECT bmm_fit_statistics(model, %s) FROM readings, latent')) AS s(statement),
  (VALUES ('ARRAY[a]::real[]'), ('ARRAY[a]::numeric[]'), ('ARRAY[a]::wholes'), ('a'),
    ('a::whole'), ('a::numeric')) AS f(form);
SELECT is(linreg_stats(y, flag), linreg_stats(y, flag::int), 'booleans are 0 and 1') FROM readings;
SELECT is(linreg_stats(y, '{1,2}'), linreg_stats(y, ARRAY[1, 2]), 'a literal is an array')
FROM readings;
SELECT is(count(*), 5::bigint, 'beside an aggregate of any row a literal is still a query')
FROM (SELECT * FROM linreg_fit('SELECT y, a FROM readings')
  UNION ALL SELECT * FROM linreg_fit('SELECT y FROM readings', '{"intercept": false}')
    WHERE false
  UNION ALL SELECT * FROM linreg_fit('SELECT y, a FROM readings', '{"intercept": false}')
  UNION ALL SELECT * FROM linreg_fit('SELECT y, a FROM readings', NULL)) AS f;
SELECT is(count(*), 8::bigint, 'of classifiers too')
FROM (SELECT * FROM nb_fit('SELECT label, a FROM readings')
  UNION ALL SELECT * FROM nb_fit('SELECT label, a FROM readings', '{"missing": "skip"}')) AS f;

-- ---- the roles of arguments ----

SELECT is(linreg_fit(linreg_stats(y, a, NULL, times)), linreg_fit(linreg_stats(y, a, NULL,
  times::numeric)),
  'a weight is a weight without options') FROM readings;
SELECT ok((i).rows = 200 AND (i).weight = 300, 'and counts')
FROM (SELECT linreg_stats_info(linreg_stats(y, a, NULL, times)) AS i FROM readings) AS f;
SELECT is(updated::jsonb -> 'statistics', whole::jsonb -> 'statistics',
  'a model in the place of options is a prior')
FROM (SELECT nb_fit(label, a, '{"likelihood": "poisson"}') AS whole FROM readings) AS w,
  LATERAL (SELECT nb_update(label, a, first) AS updated
    FROM (SELECT nb_fit(label, a, '{"likelihood": "poisson"}') AS first FROM readings
      WHERE id <= 90) AS f, readings WHERE id > 90) AS u;
SELECT is(sum(n.rows), 200::numeric, 'with options and weights')
FROM (SELECT nb_update(label, a, first, NULL, times) AS model
    FROM (SELECT nb_fit(label, a, NULL, times) AS first FROM readings WHERE id <= 90) AS f, readings
    WHERE id > 90) AS u, nb_classes(model) AS n;
SELECT is(complaint(statement), said, statement) FROM (VALUES
  ('SELECT linreg_fit(y, a, jsonb_build_object(''intercept'', flag)) FROM readings',
    '22023 options must be the same for all rows of one fit'),
  ('SELECT beta_bernoulli_fit(flag, jsonb_build_object(''prior'', jsonb_build_object(
    ''a'', id))) FROM readings',
    '22023 options must be the same for all rows of one fit'),
  ('SELECT nb_update(label, a, model) FROM readings, latent',
    '42804 model is of family bmm, expected nb'),
  ('SELECT linreg_fit(y, word) FROM readings', '42804 a row is of type text'),
  ('SELECT linreg_stats(y, word::varchar, NULL, times) FROM readings',
    '42804 a row is of type character varying'),
  ('SELECT nb_fit(word, label) FROM readings', '42804 a row is of type text'),
  ('SELECT bmm_fit_statistics(model, word) FROM readings, latent', '42804 a row is of type text'),
  ('SELECT linreg_fit(y, current_date) FROM readings', '42804 a row is of type date'))
  AS v(statement, said);
SELECT is(advice('SELECT nb_fit(word, label) FROM readings'), 'A row is a record, an array of '
  'numbers, a number or a boolean. | If the text is a query, cast it to bayes_query. '
  'Give columns as a record: SELECT f(r) FROM (SELECT a, b FROM t) AS r.', 'what a row is');

-- ---- defaults ----

SELECT same_rows(format('SELECT r.* FROM fits, %s) AS r', call), format('SELECT r.* FROM fits, '
  '%s, %s) AS r', call, level), call)
FROM (VALUES ('linreg_predict(linreg, 2', 0.95), ('bayes_coefficients(linreg', 0.95),
    ('nb_features(nb', 0.95), ('bayes_interval(beta', 0.95)) AS v(call, level);
SELECT * FROM finish();
