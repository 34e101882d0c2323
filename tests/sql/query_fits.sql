-- F_fit(query, ...) is the headline relation of every family, F_model(query, ...) its model.
SELECT plan(78);
\ir ../lib/checks.sql
\ir ../lib/errors.sql
SET client_min_messages = error;

CREATE TABLE shop AS SELECT i AS id, i % 9 AS customer, i * 7 % 13 AS item, 20 + i % 31 AS age,
  (i * i % 47)::float8 AS spend, i % 3 = 0 AS member, 'p' || i % 4 AS plan, 1 + i % 2 AS times,
  i % 5 + sin(i) AS y, ARRAY[sin(i), cos(i * i)] AS x,
  ('{"a": ' || i % 3 || ', "b": ' || i % 4 || '}')::jsonb AS counts
FROM generate_series(1, 90) AS i;
CREATE TABLE series AS SELECT id % 3 AS id, array_agg(plan ORDER BY id) AS s FROM shop GROUP BY 1;
CREATE TABLE documents AS SELECT id, ARRAY['w' || id % 3, 'w' || id % 5, 'w' || id % 7] AS words
FROM shop WHERE id < 40;

-- The family, a query, k, options; the relation of a model; the model by the aggregate.
CREATE TABLE fits (family text, query text, k int, options text, relation text, aggregate text);
INSERT INTO fits VALUES
  ('gmm', 'SELECT age, spend FROM shop', 2, '{"method": "em"}', 'gmm_components',
    'SELECT gmm_fit(r, 2%s) FROM (SELECT age, spend FROM shop) AS r'),
  ('bmm', 'SELECT age, plan FROM shop', 2, '{"method": "em"}', 'bmm_components',
    'SELECT bmm_fit(r, 2%s) FROM (SELECT age, plan FROM shop) AS r'),
  ('dpmm', 'SELECT age, plan FROM shop', NULL, '{"draws": 20, "chains": 2}', 'dpmm_clusters',
    'SELECT dpmm_fit(r%s) FROM (SELECT age, plan FROM shop) AS r'),
  ('hmm', 'SELECT id, s FROM series ORDER BY id', 2, '{"method": "em"}', 'hmm_states',
    'SELECT hmm_fit(s, 2%s ORDER BY id) FROM series'),
  ('lda', 'SELECT words FROM documents', 2, '{"method": "cvb0"}', 'lda_topics',
    'SELECT lda_fit(words, 2%s) FROM documents'),
  ('nmf', 'SELECT customer, item, times FROM shop', 2, '{"method": "em"}', 'nmf_factors',
    'SELECT nmf_fit(customer, item, times, 2%s) FROM shop'),
  ('pmf', 'SELECT customer, item, y FROM shop', 2,
    '{"draws": 20, "chains": 2, "repeated": "average"}', 'pmf_keys',
    'SELECT pmf_fit(customer, item, y, 2%s) FROM shop'),
  ('linreg', 'SELECT y, age, plan FROM shop', NULL, '{"method": "em"}', 'bayes_coefficients',
    'SELECT linreg_fit(y, r%s) FROM shop, LATERAL (SELECT age, plan) AS r'),
  ('logreg', 'SELECT member, age, plan FROM shop', NULL, '{"prior": {"c": 3}}',
    'bayes_coefficients',
    'SELECT logreg_fit(member, r%s) FROM shop, LATERAL (SELECT age, plan) AS r'),
  ('probit', 'SELECT member, age, plan FROM shop', NULL, '{"method": "em"}', 'bayes_coefficients',
    'SELECT probit_fit(member, r%s) FROM shop, LATERAL (SELECT age, plan) AS r'),
  ('nb', 'SELECT member, age, plan FROM shop', NULL, '{"missing": "error"}', 'nb_classes',
    'SELECT nb_fit(member, r%s) FROM shop, LATERAL (SELECT age, plan) AS r');
-- A pmf by its defaults would take the most of the time.
CREATE FUNCTION arguments(f fits, options boolean) RETURNS text LANGUAGE sql RETURN
  concat_ws(', ', quote_literal(f.query), f.k, CASE WHEN options THEN quote_literal(f.options) END);
CREATE FUNCTION value_of(statement text) RETURNS bayes_model LANGUAGE plpgsql AS $$
DECLARE found bayes_model;
BEGIN
  EXECUTE statement INTO STRICT found;
  RETURN found;
END $$;

CREATE FUNCTION of_query(family text) RETURNS text LANGUAGE sql RETURN CASE family
  WHEN 'lda' THEN 'lda_topics' WHEN 'nmf' THEN 'nmf_factorize' ELSE family || '_fit' END;
CREATE TABLE forms AS SELECT f, o AS options,
  format('SELECT * FROM %s(%s)', of_query(family), arguments(f, o)) AS relation,
  format('SELECT %s_model(%s)', family, arguments(f, o)) AS model
FROM fits AS f, unnest('{f,t}'::boolean[]) AS o
WHERE o OR family NOT IN ('pmf', 'dpmm');
CREATE TABLE models AS SELECT (f).family, options, relation, value_of(model) AS model,
  value_of(format((f).aggregate, CASE WHEN options THEN ', ' || quote_literal((f).options)
    || '::jsonb' ELSE '' END)) AS same, (f).relation AS shown FROM forms;
SELECT is(timeless(model), timeless(same), family || ': the model of a query'
  || CASE WHEN options THEN ' with options' ELSE '' END) FROM models;
SELECT results_eq(relation, format('SELECT r.* FROM models, %s(model) AS r WHERE family = %L
  AND options = %L', shown, family, options), relation) FROM models;
SELECT is((SELECT count(DISTINCT family) FROM models), 11::bigint, 'every family');

-- ---- options that are known as jsonb, other forms of rows, weights ----

SELECT results_eq(format('SELECT * FROM %s(%s, %L::jsonb)', of_query((f).family),
  arguments(f, false), (f).options), relation, (f).family || ': jsonb') FROM forms WHERE options
  AND (f).family IN ('linreg', 'logreg', 'probit', 'nb', 'gmm');
SELECT is(timeless(value_of(format('SELECT %s_model(''SELECT %s, x FROM shop'')', f, y))),
  timeless(value_of(format('SELECT %s_fit(%s, x) FROM shop', f, y))), f || ' of arrays')
FROM (VALUES ('linreg', 'y'), ('logreg', 'member'), ('probit', 'member'), ('nb', 'plan'))
  AS v(f, y);
SELECT is(timeless(value_of(format('SELECT %s_model(''SELECT shop.%s, r, id AS name, times FROM '
    'shop, LATERAL (SELECT age, plan) AS r'', ''{"id": "name", "weight": "times"}'')', f, y))),
  timeless(value_of(format('SELECT %s_fit(shop.%s, r, NULL, times) FROM shop, LATERAL (SELECT age, '
    'plan) AS r', f, y))), f || ' of records with weights')
FROM (VALUES ('linreg', 'y'), ('logreg', 'member'), ('probit', 'member'), ('nb', 'plan'))
  AS v(f, y);
SELECT is(timeless(nb_model('SELECT plan, counts FROM shop')),
  timeless(nb_fit(plan, counts)), 'nb of objects') FROM shop;
SELECT is(timeless(nb_model('SELECT id % 2, array_to_tsvector(words) FROM documents')),
  timeless(nb_fit(id % 2, array_to_tsvector(words))), 'nb of words') FROM documents;
SELECT is(timeless(linreg_model('SELECT id::numeric, age::int2 FROM shop')),
  timeless(linreg_fit(id, r)), 'one column keeps its name') FROM shop,
  LATERAL (SELECT age::int2) AS r;

-- ---- no rows, and what cannot be ----

SELECT is(value_of(format('SELECT %s_model(%L%s)', (f).family, (f).query || ' LIMIT 0',
  ', ' || (f).k)), NULL, (f).family || ': no rows, no model') FROM forms WHERE options;
SELECT is(complaint(statement), said, statement) FROM (VALUES
  ('SELECT * FROM linreg_fit(''SELECT y FROM shop'')', '22023 query returns one column'),
  ('SELECT * FROM linreg_fit(''SELECT plan, age FROM shop'')',
    '42804 the response is of type text'),
  ('SELECT * FROM logreg_fit(''SELECT plan, age FROM shop'')',
    '42804 the response is of type text'),
  ('SELECT * FROM logreg_fit(''SELECT member, age, times FROM shop'', ''{"weight": "plan"}'')',
    '22023 query returns no column "plan"'),
  ('SELECT * FROM probit_fit(''SELECT member, age, plan FROM shop'', ''{"weight": "plan"}'')',
    '22023 column "plan" of the query is of type text'),
  ('SELECT * FROM nb_fit(''SELECT plan, age FROM shop'', ''{"metod": "vi"}'')',
    '22023 unknown option "metod"'),
  ('SELECT * FROM nb_fit(''SELECT plan, age FROM shop'', ''{'')',
    '22P02 invalid input syntax for type json'),
  ('SELECT * FROM linreg_fit(''DELETE FROM shop'')', '22023 query is not a SELECT'),
  ('SELECT linreg_model(NULL)', '22004 query must not be NULL'),
  ('SELECT hmm_model(''SELECT 1'', 2)', '22023 query returns 1 column, but must return two or '
    'more')) AS v(statement, said);
