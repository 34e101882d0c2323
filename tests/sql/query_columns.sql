-- Columns of a query that are not of its rows: what names a row, and how often it counts.
SELECT plan(27);
\ir ../lib/checks.sql
\ir ../lib/errors.sql
SET client_min_messages = error;

CREATE TABLE visits AS SELECT i AS customer_id, 'c' || i AS code, sin(i) + 9 * (i % 3 / 2) AS a,
  cos(i) AS b, 1 + i % 3 AS freq, 'plan ' || i % 4 AS plan, i % 5 = 0 AS member,
  ARRAY[sin(i) + 9 * (i % 3 / 2), cos(i)] AS x
FROM generate_series(1, 300) AS i;

-- ---- left out, and weights ----

SELECT same_rows($$SELECT * FROM gmm_fit('SELECT customer_id, a, freq, b FROM visits', 2,
    '{"id": "customer_id", "weight": "freq"}')$$,
  $$SELECT * FROM gmm_fit('SELECT x, freq FROM visits', 2)$$, 'columns between them are the row');
SELECT same_rows($$SELECT * FROM gmm_fit('SELECT freq, x, code FROM visits', 2,
    '{"id": "code", "weight": "freq"}')$$,
  $$SELECT * FROM gmm_fit('SELECT x, freq FROM visits', 2)$$, 'an array');
SELECT same_rows($$SELECT * FROM gmm_fit('SELECT code, x, freq FROM visits', 2,
    '{"id": "code"}')$$,
  $$SELECT * FROM gmm_fit('SELECT x, freq FROM visits', 2)$$,
  'beside an array a number is a weight');
SELECT same_rows($$SELECT * FROM gmm_fit('SELECT freq, r FROM visits, LATERAL (SELECT a, b) AS r',
    2, '{"weight": "freq"}')$$,
  $$SELECT * FROM gmm_fit('SELECT x, freq FROM visits', 2)$$, 'a record');
SELECT same_rows($$SELECT k, elbo, bic FROM gmm_select('SELECT code, a, b, freq FROM visits',
    '{1,2}', '{"id": "code", "weight": "freq"}')$$,
  $$SELECT k, elbo, bic FROM gmm_select('SELECT x, freq FROM visits', '{1,2}')$$, 'a selection');
SELECT same_rows($$SELECT * FROM bmm_fit('SELECT plan, freq, member, a, code FROM visits', 2,
    '{"id": "code", "weight": "freq"}')$$, $$SELECT c.* FROM (SELECT bmm_fit(r, 2, NULL, freq) AS m
    FROM (SELECT plan, member, a, freq FROM visits) AS v, LATERAL (SELECT plan, member, a) AS r)
  AS f, bmm_components(m) AS c$$, 'columns of every kind, weighted');
SELECT same_rows($$SELECT k, elbo FROM bmm_select('SELECT freq, a, code FROM visits', '{1,2}',
    '{"id": "code", "weight": "freq", "models": true}')$$, $$SELECT k, elbo
  FROM bmm_select('SELECT ARRAY[a], freq FROM visits', '{1,2}', '{"likelihood": "normal"}')$$,
  'of these');
SELECT is((SELECT count(*) FROM gmm_fit('SELECT a, b, nullif(freq, 1) AS freq FROM visits', 2,
  '{"weight": "freq"}')), 2::bigint, 'a NULL weight leaves the row out');
SELECT is((SELECT i.options ?| '{id,weight,models}' FROM gmm_select('SELECT code, a, freq
  FROM visits', '{1}', '{"id": "code", "weight": "freq", "models": true}'), bayes_info(model) AS i),
  false, 'a model does not know of them');
SELECT is((SELECT sum(count)::numeric(9,3) FROM gmm_fit('SELECT a, "Wie oft" FROM (SELECT a,
  freq AS "Wie oft" FROM visits) AS v', 2, '{"weight": "Wie oft"}')), 600.000,
  'any name, as it is written');

-- ---- names of rows ----

SELECT same_rows($$SELECT * FROM dpmm_cluster('SELECT a, b, code FROM visits',
    '{"id": "code", "draws": 10}')$$,
  $$SELECT * FROM dpmm_cluster('SELECT code, a, b FROM visits', '{"draws": 10}')$$,
  'the name may stand anywhere');
SELECT same_rows($$SELECT * FROM dpmm_similarity('SELECT x, code FROM visits WHERE customer_id < 9',
    '{"id": "code", "draws": 10}')$$,
  $$SELECT * FROM dpmm_similarity('SELECT code, x FROM visits WHERE customer_id < 9',
    '{"draws": 10}')$$, 'of pairs');
SELECT same_rows($$SELECT * FROM dpmm_credible_bounds('SELECT a, code, b FROM visits
    WHERE customer_id < 9', '{"id": "code", "draws": 10}')$$,
  $$SELECT * FROM dpmm_credible_bounds('SELECT code, a, b FROM visits WHERE customer_id < 9',
    '{"draws": 10}')$$, 'of bounds');

-- ---- errors ----

SELECT is(complaint(format('SELECT * FROM gmm_fit(%L, 2, %L)', query, options)), said,
  query || ' ' || options) FROM (VALUES
  ('SELECT a, b FROM visits', '{"id": "c"}', '22023 query returns no column "c"'),
  ('SELECT a, b FROM visits', '{"id": "A"}', '22023 query returns no column "A"'),
  ('SELECT a, b FROM visits', '{"weight": "c"}', '22023 query returns no column "c"'),
  ('SELECT a, b, a FROM visits', '{"id": "a"}', '22023 query returns two columns "a"'),
  ('SELECT a, b FROM visits', '{"id": 1}',
    '22023 option "id" is 1, but must be the name of a column of the query'),
  ('SELECT a, b FROM visits', '{"weight": ["a"]}',
    '22023 option "weight" is an array, but must be the name of a column of the query'),
  ('SELECT a, plan FROM visits', '{"weight": "plan"}',
    '22023 column "plan" of the query is of type text'),
  ('SELECT a, b FROM visits', '{"id": "a", "weight": "b"}',
    '22023 query returns no other columns'),
  ('SELECT a, -a - 10 AS w FROM visits WHERE customer_id = 3', '{"weight": "w"}',
    '22023 weight of row 1 is -10.1411'),
  ('SELECT x, a, freq FROM visits', '{"weight": "freq"}',
    '22023 query returns a column after the array'),
  ('SELECT a, b FROM visits', '{"id": null, "weight": null}', 'no error'))
  AS v(query, options, said);
SELECT is(complaint(statement), said, statement) FROM (VALUES
  ($$SELECT * FROM dpmm_cluster('SELECT a, b, freq FROM visits', '{"weight": "freq"}')$$,
    '22023 option weight does not apply to named rows'),
  ($$SELECT * FROM dpmm_cluster('SELECT code FROM visits', '{"id": "code"}')$$,
    '22023 query returns one column'),
  ($$SELECT gmm_fit(x, 2, '{"id": "code"}') FROM visits$$, '22023 unknown option "id"'))
  AS v(statement, said);

SELECT * FROM finish();
