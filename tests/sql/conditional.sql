-- Models of the columns that remain once others are known: against the questions to their base with
-- the same columns given, for every family; stored, dumped, conditioned again.
-- tests/core/conditional_test.cpp has the mathematics.
SELECT plan(37);
\ir ../lib/checks.sql
SET client_min_messages = error;

\ir ../lib/customers.sql
-- Rows with NULLs in either part.
CREATE TYPE first_columns AS (age int, member boolean);
CREATE TYPE other_columns AS (plan text, spend float8, visits int);
CREATE TYPE whole_columns AS (age int, plan text, member boolean, spend float8, visits int);
CREATE TABLE asked AS SELECT m.*, c.id, ROW(age, member)::first_columns AS given,
    ROW(plan, spend, visits)::other_columns AS rest,
    bayes_condition(model, ROW(age, member)::first_columns) AS known
  FROM models AS m, customers AS c
  WHERE name NOT IN ('arrays', 'iris') AND c.id IN (1, 3, 7, 8);

-- ---- the same answers ----

SELECT never($$SELECT name, id, NOT near(bayes_log_density(known, r),
    bayes_log_density(model, r, given), 1e-10) AS wrong
  FROM asked JOIN customers AS c USING (id), LATERAL (SELECT c.plan, c.spend, c.visits) AS r$$,
  'densities are those given the same columns');
SELECT never($$SELECT name, id, NOT near(bayes_log_density(known, r, g),
    bayes_log_density(model, r, w), 1e-10) AS wrong
  FROM asked JOIN customers AS c USING (id), LATERAL (SELECT c.spend) AS g,
    LATERAL (SELECT c.plan, c.visits, c.plan AS class) AS r,
    LATERAL (SELECT c.age, c.member, c.spend) AS w$$,
  'given more, too');
SELECT never($$SELECT name, id, k.column_name, k.label, k.element >= o.element
    OR NOT near(coalesce(k.value, 0), coalesce(o.value, 0), 1e-9)
    OR NOT near(coalesce(k.upper, 0), coalesce(o.upper, 0), 1e-9)
    OR NOT near(coalesce(k.probability, 0), coalesce(o.probability, 0), 1e-10) AS wrong
  FROM asked, (SELECT NULL::int AS spend) AS n, bayes_conditional(known, n) AS k,
    bayes_conditional(model, given) AS o
  WHERE k.column_name = o.column_name AND k.label IS NOT DISTINCT FROM o.label$$,
  'NULLs are what they were, of columns with numbers of their own');
SELECT results_eq($$SELECT name, count(*) FROM asked, (SELECT NULL::int AS spend) AS n,
    bayes_conditional(known, n) WHERE id = 1 AND name IN ('bmm vi', 'dpmm', 'nb') GROUP BY name
    ORDER BY name$$, $$VALUES ('bmm vi', 5::bigint), ('dpmm', 5), ('nb', 4)$$,
  'a line for each of them, the class among them');
SELECT never($$SELECT name, id, (o).visits IS DISTINCT FROM (w).visits
    OR (o).plan IS DISTINCT FROM (w).plan OR NOT near((o).spend, (w).spend, 1e-9) AS wrong
  FROM asked, LATERAL (SELECT bayes_impute(known, ROW(NULL, NULL, (rest).visits)::other_columns)
      AS o, bayes_impute(model, ROW((given).age, NULL, (given).member, NULL, (rest).visits)::
      whole_columns) AS w) AS i$$, 'rows are filled alike');
SELECT never($$SELECT name, id, o.ordinality, o.visits IS DISTINCT FROM w.visits
    OR o.plan IS DISTINCT FROM w.plan OR NOT near(o.spend, w.spend, 1e-9) AS wrong
  FROM asked, bayes_impute(known, ROW(NULL, NULL, (rest).visits)::other_columns, 3, id)
      WITH ORDINALITY AS o, bayes_impute(model, ROW((given).age, NULL, (given).member, NULL,
      (rest).visits)::whole_columns, 3, id) WITH ORDINALITY AS w
  WHERE o.ordinality = w.ordinality$$, 'by the same draws');
SELECT never($$SELECT name, id, s.component IS DISTINCT FROM o.component
    OR NOT near(s.x[array_length(s.x, 1)], o.x[array_length(s.x, 1) + CASE family WHEN 'gmm' THEN 1
      ELSE 2 END], 1e-9) AS wrong
  FROM asked, bayes_sample(known, 3, 5) WITH ORDINALITY AS s,
    bayes_sample(model, 3, 5, given) WITH ORDINALITY AS o
  WHERE s.ordinality = o.ordinality$$, 'samples are those given the same columns');
SELECT never($$SELECT name, id, NOT near(bayes_probability(known, l, u),
    bayes_probability(model, l, u, given), 1e-9) AS wrong
  FROM asked, (SELECT 950 AS spend) AS l, (SELECT 1500 AS spend) AS u$$, 'boxes');
SELECT never($$SELECT name, id, bayes_probability_mcse(known, l, u) > 0.01 AS wrong
  FROM asked, (SELECT 950 AS spend) AS l, (SELECT 1500 AS spend) AS u$$, 'and their errors');
SELECT never($$SELECT name, a.id, NOT near(bayes_similarity(known, x, y),
    bayes_similarity(model, v, w), 1e-10) AS wrong
  FROM asked AS a JOIN customers AS c USING (id) JOIN customers AS d ON d.id = a.id + 2,
    LATERAL (SELECT c.plan, c.spend, c.visits) AS x,
    LATERAL (SELECT d.plan, d.spend, d.visits) AS y,
    LATERAL (SELECT c.age, c.plan, c.member, c.spend, c.visits) AS v,
    LATERAL (SELECT c.age, d.plan, c.member, d.spend, d.visits) AS w$$, 'likeness');
SELECT never($$SELECT name, a.id, s.column_name, NOT near(s.surprise, o.surprise, 1e-9)
    OR NOT near(s.tail, o.tail, 1e-9) OR s.expected <> o.expected AND s.lower IS NULL AS wrong
  FROM asked AS a JOIN customers AS c USING (id),
    LATERAL (SELECT c.plan, c.spend, c.visits) AS x,
    LATERAL (SELECT c.age, c.plan, c.member, c.spend, c.visits) AS v,
    bayes_surprise(known, x) AS s, bayes_surprise(model, v) AS o
  WHERE s.column_name = o.column_name$$, 'surprise');
SELECT never($$SELECT name, a.id, NOT bayes_anomaly(known, x) BETWEEN 0 AND 1
    OR bayes_anomaly(known, s) > bayes_anomaly(known, x) AS wrong
  FROM asked AS a JOIN customers AS c USING (id), LATERAL (SELECT c.spend) AS x,
    (SELECT 1e5 AS spend) AS s WHERE c.spend IS NOT NULL$$, 'strangeness is that of the others');
SELECT never($$SELECT name, id, i.*, coalesce(nats < 0, element1 < element2) AS wrong FROM asked,
    bayes_mutual_information(known) AS i WHERE id = 1$$, 'dependence');

-- ---- components ----

SELECT never($$SELECT name, id, NOT bool_and(near(p, q, 1e-10)) AS wrong
  FROM asked JOIN customers AS c USING (id), LATERAL (SELECT c.plan, c.spend, c.visits) AS x,
    LATERAL (SELECT c.age, c.plan, c.member, c.spend, c.visits) AS v,
    unnest(bayes_probabilities(known, x), bayes_probabilities(model, v)) AS u(p, q)
  GROUP BY name, id$$, 'components are as probable as for the whole row');
SELECT never($$SELECT name, id, bayes_predict(known, x) <> bayes_predict(model, v) AS wrong
  FROM asked JOIN customers AS c USING (id), LATERAL (SELECT c.plan, c.spend, c.visits) AS x,
    LATERAL (SELECT c.age, c.plan, c.member, c.spend, c.visits) AS v$$, 'and predicted');
SELECT never($$SELECT name, id, p.*, value IS NULL
    OR (column_name IS NULL) <> (parameter = 'weight')
    OR coalesce(column_name IN ('age', 'member'), false) OR NOT coalesce(lower <= upper, true)
    OR (sd_method IS NULL) <> (parameter = 'weight' OR name ~ 'em$') AS wrong
  FROM asked, bayes_parameters(known) AS p$$, 'parameters are those of the other columns');
SELECT never($$SELECT name, id, NOT near(sum(value), 1, CASE family WHEN 'dpmm' THEN 0.2
    ELSE 1e-9 END) AS wrong FROM asked, bayes_parameters(known) WHERE parameter = 'weight'
  GROUP BY name, family, id$$, 'weights sum to 1, but for that of a new cluster');
SELECT never($$SELECT name, id, p.component, NOT near(p.value, q[component], 1e-10) AS wrong
  FROM asked, LATERAL (SELECT (given).age, NULL::text AS plan, (given).member,
      NULL::float8 AS spend, NULL::int AS visits) AS v,
    bayes_probabilities(model, v) AS q,
    bayes_parameters(known) AS p WHERE parameter = 'weight'$$,
  'they are probabilities given what is known');
-- The regression of one column on the other.
SELECT ok(near(k.value, c.mean[1] + c.covariance[1][2] / c.covariance[2][2] * (70 - c.mean[2]),
    1e-12) AND near(s.value, sqrt(c.covariance[1][1] - c.covariance[1][2] ^ 2
    / c.covariance[2][2]), 1e-12), 'of a normal the mean and deviation given the other column')
FROM (SELECT gmm_fit(x, 1, '{"method": "em"}') AS m FROM faithful) AS f, gmm_components(m) AS c,
  bayes_parameters(bayes_condition(m, '{NULL,70}'::int[])) AS k,
  bayes_parameters(bayes_condition(m, '{NULL,70}'::int[])) AS s
WHERE k.parameter = 'mean' AND s.parameter = 'sd';

-- ---- models as any ----

SELECT never($$SELECT name, id, known::text::bayes_model <> known
    OR known::jsonb::bayes_model <> known
    OR bayes_log_density(known::text::bayes_model, rest)
      IS DISTINCT FROM bayes_log_density(known, rest) AS wrong FROM asked$$,
  'they are read from their texts');
SELECT never($$SELECT name, i.*, i.family <> 'conditional' OR i.method <> o.method
    OR i.rows <> o.rows OR i.dimension <> o.dimension - CASE asked.family WHEN 'gmm' THEN 1 ELSE 2
    END OR i.components <> o.components OR i.objective <> o.objective AS wrong
  FROM asked, bayes_info(known) AS i, bayes_info(model) AS o$$, 'bayes_info describes the fit');
SELECT results_eq($$SELECT a.name, array_agg(DISTINCT c.name) FROM asked AS a,
    bayes_columns(known) AS c(element, name) WHERE id = 1 AND a.name IN ('bmm em', 'gmm vi', 'nb')
    GROUP BY a.name ORDER BY a.name$$,
  $$VALUES ('bmm em', '{plan,spend,visits}'::text[]), ('gmm vi', '{spend,visits}'),
    ('nb', '{spend}')$$, 'and bayes_columns the columns');
SELECT never($$SELECT name, (SELECT count(*) FROM bayes_trace(known))
    <> (SELECT count(*) FROM bayes_trace(model)) AS wrong FROM asked WHERE name ~ 'vi'$$,
  'the trace is that of the fit');
SELECT never($$SELECT name, (SELECT array_agg(d)::text FROM bayes_draws(known) AS d)
    <> (SELECT array_agg(d)::text FROM bayes_draws(model) AS d) AS wrong
  FROM asked WHERE name ~ 'gibbs'$$, 'and so are the draws');
SELECT never($$SELECT name, id, bayes_condition(bayes_condition(model, a), g)
    <> bayes_condition(model, w) AS wrong
  FROM models, customers AS c, LATERAL (SELECT c.age) AS a, LATERAL (SELECT c.spend) AS g,
    LATERAL (SELECT c.age, c.spend) AS w
  WHERE name NOT IN ('arrays', 'iris') AND id < 10$$, 'twice is once with both');
SELECT never($$SELECT name, bayes_condition(model, n) <> model AS wrong
  FROM models, (SELECT NULL::int AS spend) AS n WHERE name NOT IN ('arrays', 'iris')$$,
  'given nothing they are the model itself');
SELECT is(bayes_condition(model_of('bmm vi'), w), bayes_condition(model_of('bmm vi'), g),
  'columns that the model lacks are ignored')
FROM (SELECT 30 AS age) AS g, (SELECT 30 AS age, 'x'::text AS note) AS w;
SELECT ok(near(bayes_log_density(bayes_condition(model_of('bmm vi'), g), r),
    bayes_log_density(model_of('bmm vi'), r), 1e-12), 'an unknown label is no evidence')
FROM (SELECT 'gold' AS plan) AS g, (SELECT 30 AS age, NULL::text AS plan, true AS member,
  NULL::float8 AS spend, NULL::int AS visits) AS r;
SELECT is(array_agg(DISTINCT name), '{age,member,spend,visits}', 'but its column is gone')
FROM (SELECT 'gold' AS plan) AS g, bayes_columns(bayes_condition(model_of('bmm vi'), g));

-- ---- classes ----

SELECT never($$SELECT x, c.label, NOT near(c.probability, p.probability, 1e-10) AS wrong
  FROM models, iris, bayes_conditional(bayes_condition(model, x), '{NULL}'::int[]) AS c,
    nb_probabilities(model, x) AS p
  WHERE name = 'iris' AND id % 10 = 0 AND c.label = p.class$$,
  'given all features the class remains');
SELECT is((bayes_predict(bayes_condition(model_of('iris'), '{5,3,2,1}'::int[]), '{}'::int[])).label,
  'versicolor', 'of no columns');
SELECT is((bayes_predict(bayes_condition(model_of('nb'), g), r)).label, 'pro', 'of a record too')
FROM (SELECT 65 AS age, true AS member, 1400 AS spend) AS g, (SELECT 1 AS id) AS r;
SELECT is((bayes_predict(bayes_condition(model_of('iris'), '{5,NULL,NULL,1,3}'::int[]),
  '{3,2}'::int[])).label, 'virginica', 'a class that is given stays');

-- ---- errors ----

CREATE FUNCTION says(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  a text; b text; c text;
BEGIN
  EXECUTE call;
  RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS a = MESSAGE_TEXT, b = PG_EXCEPTION_DETAIL, c = PG_EXCEPTION_HINT;
  RETURN concat_ws(' / ', SQLSTATE, a, nullif(b, ''), nullif(c, ''));
END $$;
SELECT is(says($$SELECT bayes_condition(model_of('arrays'), '{3,70}'::int[])$$),
  '22023 / nothing remains: every column of the model is given / A conditional model is one of the '
  'columns that are NULL. / bayes_log_density(model, row) is the log density of a whole row.',
  'nothing remains');
SELECT is(says($$SELECT gmm_predict(bayes_condition(model_of('arrays'), '{3,NULL}'::int[]),
    '{70}'::int[])$$), '42804 / model is of family conditional, expected gmm / bayes_info(model) '
  'shows the family of a model.',
  'functions of a family refuse it');
SELECT is(says($$SELECT bayes_condition(bayes_condition(model_of('gmm vi'), g), g)
    FROM (SELECT 30 AS age) AS g$$), '22023 / rows have no column "spend" / It is one of the 2 '
  'columns that the model was fitted to. / Columns are matched by name; additional columns are '
  'ignored.', 'a column that is gone');
SELECT matches(says($$SELECT jsonb_set(bayes_condition(model_of('arrays'), x)::jsonb,
    '{given,elements}', '[3]')::text::bayes_model FROM (SELECT '{3,NULL}'::int[] AS x) AS r$$),
  '^22P02 / .*member "given.elements" must be ascending whole numbers from 1 to 2',
  'a forged text');
SELECT * FROM finish();
