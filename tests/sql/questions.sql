-- Questions to a model: densities of some columns given others, what the NULLs of a row are, rows
-- with their NULLs filled, draws given columns. Against densities of the families' own functions,
-- for every family and method; tests/core/questions_test.cpp has the mathematics.
SELECT plan(119);
\ir ../lib/checks.sql
SET client_min_messages = error;

\ir ../lib/customers.sql

-- ---- densities of columns given others ----

SELECT never($$SELECT name, id, NOT near(bayes_log_density(model, c), bayes_log_density(model, g)
    + bayes_log_density(model, r, g), 1e-10) AS wrong
  FROM named, customers AS c,
    LATERAL (SELECT c.age, c.plan, c.member, NULL::float8 AS spend, NULL::int AS visits) AS g,
    LATERAL (SELECT NULL::int AS age, c.spend, c.visits) AS r$$,
  'densities of given columns and of the others given these multiply, whichever are NULL');
SELECT never($$SELECT name, NOT near(bayes_log_density(model, c, c), 0, 1e-12) AS wrong
  FROM named, customers AS c$$, 'of a row given itself it is 1');
SELECT is(bayes_log_density(model, c, (SELECT g FROM (SELECT 19 AS age) AS g)), '-Infinity',
  'of a row given what contradicts it 0') FROM named, customers AS c
WHERE name = 'gmm vi' AND id = 1;
SELECT is(bayes_log_density(model, r, g), '-Infinity',
  'and of a label that the model does not know, given one that it knows')
FROM (SELECT bmm_fit(c, 2) AS model FROM (SELECT plan::text AS plan, member FROM customers) AS c)
  AS m, (SELECT 'none' AS plan, true AS member) AS r, (SELECT 'plus' AS plan) AS g;
SELECT never($$SELECT id, NOT near(bayes_log_density(model, x, '{NULL,NULL}'::float8[]),
    bayes_log_density(model, x)) AS wrong FROM models, faithful WHERE name = 'arrays'$$,
  'given nothing it is that of the row');
SELECT never($$SELECT species, NOT near(ln((bayes_probabilities(model, x))[k]),
    bayes_log_density(model, r, g)) AS wrong
  FROM models, iris, generate_series(1, 3) AS k,
    LATERAL (SELECT array_fill(NULL::float8, '{4}') || k::float8 AS r) AS l,
    LATERAL (SELECT x AS g) AS h
  WHERE name = 'iris' AND id % 10 = 0$$, 'the class of a classifier is one more element');

-- ---- what the NULLs are ----

SELECT is_empty($$SELECT k.* FROM named, customers AS c, bayes_conditional(model, c) AS k
  WHERE id = 1 AND family <> 'nb'$$, 'a row without a NULL has nothing to say');
SELECT results_eq($$SELECT element, column_name, label FROM bayes_conditional(model_of('bmm vi'),
    (SELECT c FROM customers AS c WHERE id = 8))$$,
  $$VALUES (2, 'plan', 'basic'), (2, 'plan', 'plus'), (2, 'plan', 'pro'), (5, 'visits', NULL)$$,
  'a line for a number, and one for each label');
SELECT results_eq($$SELECT element, column_name, label FROM bayes_conditional(model_of('bmm vi'),
    (SELECT c FROM customers AS c WHERE id = 9))$$,
  $$VALUES (1, 'age', NULL), (3, 'member', 'false'), (3, 'member', 'true')$$,
  'and for false and true');
SELECT never($$SELECT name, id, element, label, CASE WHEN label IS NULL THEN num_nulls(value, lower,
      upper) > 0 OR probability IS NOT NULL OR NOT (lower < value AND value < upper)
    ELSE num_nonnulls(value, mean, sd, lower, upper) > 0 OR NOT probability BETWEEN 0 AND 1 END
    AS wrong FROM named, customers AS c, bayes_conditional(model, c) AS k WHERE id < 40$$,
  'a number has a median in an interval, a label a probability');
SELECT never($$SELECT name, id, element, NOT near(sum(probability), 1, 1e-12) AS wrong
  FROM named, customers AS c, bayes_conditional(model, c) AS k
  WHERE label IS NOT NULL GROUP BY name, id, element$$, 'which sum to 1');
-- P(label | rest) = p(label, rest) / p(rest), by the family's own density.
SELECT never($$SELECT name, k.label, NOT near(k.probability,
    exp(bayes_log_density(model, l) - bayes_log_density(model, c)), 1e-10) AS wrong
  FROM named, customers AS c, bayes_conditional(model, c) AS k,
    LATERAL (SELECT c.age, k.label::plan AS plan, c.member, c.spend, c.visits) AS l
  WHERE id = 18 AND column_name = 'plan'$$, 'they are those of the densities');
SELECT never($$SELECT k.label, NOT near(k.probability, p.probability) AS wrong
  FROM models, customers AS c, LATERAL (SELECT c.age, c.member, c.spend) AS r,
    bayes_conditional(model, r) AS k, nb_probabilities(model, r) AS p
  WHERE name = 'nb' AND id = 5 AND k.column_name = 'class' AND k.label = p.class$$,
  'of a classifier those of its classes');
SELECT never($$SELECT wide.*, NOT (wide.lower < k.lower AND k.upper < wide.upper
    AND wide.value = k.value) AS wrong
  FROM named, customers AS c, bayes_conditional(model, c, 0.5) AS k,
    bayes_conditional(model, c, 0.9) AS wide
  WHERE id = 17 AND k.element = wide.element AND k.column_name = 'spend'$$,
  'intervals grow with their level');
-- A Student t of the textbook: one component, so x2 | x1 is a Student t.
SELECT never($$SELECT k.*, NOT (near(k.value, k.mean, 1e-12) AND near(k.value - k.lower,
    k.upper - k.value)) AS wrong
  FROM (SELECT gmm_fit(x, 1) AS model FROM faithful) AS m,
    bayes_conditional(model, ARRAY[NULL, 60]::float8[]) AS k$$, 'of one component symmetric');
SELECT set_eq($$SELECT column_name, label FROM bayes_conditional(model_of('nb'),
    (SELECT r FROM (SELECT 30 AS age, 1000 AS spend) AS r))$$,
  $$VALUES ('member', 'false'), ('member', 'true'), ('class', 'basic'), ('class', 'plus'),
    ('class', 'pro')$$, 'columns that the row lacks are NULL, the class too');
SELECT set_eq($$SELECT element, label FROM bayes_conditional(model_of('iris'),
    ARRAY[5, 3, 2, 1]::float8[])$$, $$VALUES (5, 'setosa'), (5, 'versicolor'), (5, 'virginica')$$,
  'the class of arrays is the element after the last one');
SELECT results_eq($$SELECT (k).element, (k).value FROM (SELECT bayes_conditional(model_of('iris'),
    ARRAY[NULL, NULL, 2, 1, 1]::float8[]) AS k) AS t$$, $$SELECT element, value FROM
  bayes_conditional(model_of('iris'), ARRAY[NULL, NULL, NULL, NULL, 1]::float8[])
  WHERE element <= 2$$, 'given the class naive columns do not depend on each other');
SELECT never($$SELECT far, k.*, num_nulls(value, mean, sd, lower, upper) > 0 AS wrong
  FROM unnest('{1e5,1e20,-1e150}'::float8[]) AS far, (SELECT gmm_fit(x, 2, '{"method": "em"}') AS m
    FROM faithful) AS f, bayes_conditional(m, ARRAY[NULL, far]) AS k$$,
  'rows far away are answered');
-- A label that the model does not know.
SELECT results_eq($$SELECT k.* FROM bayes_conditional(model_of('bmm vi'), (SELECT r FROM
    (SELECT 30 AS age, 'gold' AS plan, true AS member, 3 AS visits) AS r)) AS k$$,
  $$SELECT k.* FROM bayes_conditional(model_of('bmm vi'), (SELECT r FROM
    (SELECT 30 AS age, true AS member, 3 AS visits) AS r)) AS k WHERE column_name <> 'plan'$$,
  'an unknown label is no evidence, and not asked for');

-- ---- rows with their NULLs filled ----

SELECT never($$SELECT name, c.id, c IS DISTINCT FROM bayes_impute(model, c) AS wrong
  FROM named, customers AS c WHERE num_nulls(age, plan, member, spend, visits) = 0$$,
  'a row without a NULL stays');
CREATE TABLE imputed AS SELECT name, family, id AS key, (bayes_impute(model, c)).*
  FROM named, customers AS c;
SELECT never($$SELECT i.*, (family IN ('bmm', 'dpmm') AND num_nulls(i.age, i.plan, i.member,
      i.spend, i.visits) > 0) OR i.note <> 'kept' OR coalesce(c.age <> i.age, false)
      OR coalesce(c.plan <> i.plan, false) OR coalesce(c.member <> i.member, false)
      OR coalesce(c.spend <> i.spend, false) OR coalesce(c.visits <> i.visits, false) AS wrong
  FROM imputed AS i JOIN customers AS c ON c.id = key$$,
  'NULLs are filled, nothing else is changed');
SELECT never($$SELECT i.*, k.column_name, CASE k.column_name WHEN 'age' THEN i.age <> round(value)
    WHEN 'spend' THEN i.spend <> round(value::numeric, 2) ELSE i.visits <> round(value) END AS wrong
  FROM imputed AS i JOIN models USING (name) JOIN customers AS c ON c.id = key,
    bayes_conditional(model, c) AS k WHERE k.label IS NULL$$,
  'by medians, rounded to the type of the column');
SELECT never($$SELECT i.name, i.plan, i.plan::text <> (SELECT label FROM bayes_conditional(model, c)
      AS k WHERE column_name = 'plan' ORDER BY probability DESC LIMIT 1) AS wrong
  FROM imputed AS i JOIN models USING (name) JOIN customers AS c ON c.id = key
  WHERE c.plan IS NULL AND i.family IN ('bmm', 'dpmm')$$, 'and by the most probable label');
SELECT is(pg_typeof(bayes_impute(model_of('arrays'), '{NULL,60}'::real[]))::text, 'real[]',
  'an array stays of its type');
SELECT ok(near((bayes_impute(model_of('arrays'), '{NULL,60}'::real[]))[1], value, 1e-6)
  AND (bayes_impute(model_of('arrays'), '{NULL,60}'::real[]))[2] = 60, 'with the median')
FROM bayes_conditional(model_of('arrays'), '{NULL,60}'::real[]);
SELECT is(bayes_impute(model_of('arrays'), '{NULL,60}'::int[]), '{2,60}',
  'of whole numbers rounded');
SELECT is(bayes_impute(model_of('arrays'), '{3,60}'::float8[]), '{3,60}', 'a whole one stays');
SELECT is(bayes_impute(model_of('iris'), '{5,3,2,1,NULL}'::float8[]), '{5,3,2,1,2}',
  'the class is filled by its number');
BEGIN;
UPDATE customers SET spend = (bayes_impute(model_of('gmm vi'), customers)).spend
  WHERE spend IS NULL;
SELECT ok(count(*) = 90 AND min(spend) > 500, 'a table is filled by an UPDATE') FROM customers
WHERE spend IS NOT NULL;
ROLLBACK;
SELECT is(bayes_impute(model_of('nb'), r)::text, '(pro,65,t,1400)', 'the class of a record too')
FROM (SELECT NULL::text AS class, 65 AS age, true AS member, 1400 AS spend) AS r;

-- ---- draws ----

SELECT never($$SELECT name, c.id, count(*) <> 5 OR count(DISTINCT d.spend) < 5
    OR count(DISTINCT (d.id, d.age, d.plan, d.note)) <> 1 AS wrong
  FROM named, customers AS c, bayes_impute(model, c, 5, 1) AS d
  WHERE c.id IN (7, 17) GROUP BY name, c.id$$,
  'draws differ in what is missing, and in nothing else');
SELECT same_rows($$SELECT d.* FROM named, customers AS c, bayes_impute(model, c, 3, c.id) AS d
  ORDER BY name, c.id, d.spend$$, $$SELECT d.* FROM named, customers AS c,
    bayes_impute(model, c, 3, c.id) AS d ORDER BY name, c.id, d.spend$$,
  'equal rows with an equal seed have equal draws');
SELECT isnt((SELECT array_agg(d.spend) FROM bayes_impute(model_of('gmm vi'), c, 3, 1) AS d),
  (SELECT array_agg(d.spend) FROM bayes_impute(model_of('gmm vi'), c, 3, 2) AS d),
  'another seed has others') FROM customers AS c WHERE id = 7;
SELECT is((SELECT count(*) FROM bayes_impute(model_of('gmm vi'), c, 3, 1) AS d WHERE d = c),
  3::bigint, 'a row without a NULL is repeated') FROM customers AS c WHERE id = 1;
SELECT is_empty($$SELECT * FROM bayes_impute(model_of('arrays'), '{NULL,1}'::float8[], 0, 1)$$,
  'no draws are none');
-- Columns of one draw belong together: eruptions and waiting times of faithful correlate by 0.9.
SELECT ok(abs(corr(d[1], d[2]) - 0.9) < 0.03, 'draws of a row have the correlation of the model')
FROM bayes_impute(model_of('arrays'), '{NULL,NULL}'::float8[], 4000, 1) AS d;
-- The mean and the sd of 4000 draws are within five standard errors of those of bayes_conditional.
SELECT ok(abs(avg(d[1]) - k.mean) < 5 * k.sd / sqrt(4000) AND abs(stddev(d[1]) / k.sd - 1) < 0.06,
  'and its mean and deviation')
FROM bayes_conditional(model_of('arrays'), '{NULL,70}'::float8[]) AS k,
  bayes_impute(model_of('arrays'), '{NULL,70}'::float8[], 4000, 2) AS d GROUP BY k.mean, k.sd;
SELECT never($$SELECT name, s.*, array_length(s.x, 1) < 3 OR s.x[1] <> 33
    OR (s.component IS NULL) <> (family = 'dpmm') AS wrong
  FROM named, (SELECT 33 AS age) AS g, bayes_sample(model, 5, 1, g) AS s$$,
  'samples hold what is given, and tell their component');
SELECT same_rows($$SELECT s.x[1] FROM bayes_sample(model_of('arrays'), 9, 4, '{NULL,60}'::float8[])
    AS s$$, $$SELECT d[1] FROM bayes_impute(model_of('arrays'), '{NULL,60}'::float8[], 9, 4) AS d$$,
  'they are draws of missing columns');
-- Rows have random numbers of their own, whatever the seed: the ranks of their draws agree no
-- more than by chance (rho of 4,000 pairs, of neighbours and of draws and the next row's).
SELECT ok(abs(corr(rank, next)) < 5 / sqrt(3960), 'draws of different rows are independent')
FROM (SELECT rank, lead(rank) OVER (PARTITION BY draw ORDER BY id) AS next
  FROM (SELECT id, draw, rank() OVER (PARTITION BY id ORDER BY d.x[1]) AS rank
    FROM faithful, bayes_impute(model_of('arrays'), ARRAY[NULL, id + 0.5]::float8[], 40, 1)
      WITH ORDINALITY AS d(x, draw) WHERE id <= 100) AS r) AS s;
SELECT ok(abs(corr(rank, next)) < 5 / sqrt(3960), 'so are samples given different columns')
FROM (SELECT rank, lead(rank) OVER (PARTITION BY draw ORDER BY id) AS next
  FROM (SELECT id, draw, rank() OVER (PARTITION BY id ORDER BY d.x[1]) AS rank
    FROM faithful, bayes_sample(model_of('arrays'), 40, 1, ARRAY[NULL, id + 0.5]::float8[])
      WITH ORDINALITY AS d(component, x, draw) WHERE id <= 100) AS r) AS s;
SELECT ok(bool_and(s.x[2] IS NULL AND s.x[3] IN (0, 1)), 'an unknown label is held as NULL')
FROM bayes_sample(model_of('bmm vi'), 9, 1, (SELECT g FROM (SELECT 'gold' AS plan) AS g)) AS s;

-- ---- rows of a type ----

SELECT never($$SELECT name, b.*, num_nulls(id, note) < 2
    OR plan::text IS DISTINCT FROM record->>'plan'
    OR member IS DISTINCT FROM (record->>'member')::boolean
    OR abs(spend - (record->>'spend')::float8) > 0.006
    OR abs(age - (record->>'age')::float8) > 0.51
    OR (record ? 'visits' AND round((record->>'visits')::numeric) <> visits) AS wrong
  FROM named, ROWS FROM (bayes_sample_rows(model, 9, 4), bayes_sample_rows(model, 9, 4,
    NULL::customers)) AS b(component, record, id, age, plan, member, spend, visits, note)$$,
  'draws as objects and as rows of a table');
SELECT never($$SELECT c.name, b.*, b.component IS DISTINCT FROM own
    OR (record->c.name)::text::float8 <> x[c.element] AS wrong
  FROM named, bayes_columns(model) AS c, ROWS FROM (bayes_sample_rows(model, 9, 4),
    bayes_sample(model, 9, 4)) AS b(component, record, own, x)
  WHERE c.kind = 'number'$$, 'the draws of bayes_sample');
SELECT same_rows($$SELECT name, d.* FROM named, customers AS c, bayes_sample_rows(model, 3, 5, c)
    AS d WHERE c.id IN (7, 8, 9)$$, $$SELECT name, d.* FROM named, customers AS c,
    bayes_impute(model, c, 3, 5) AS d WHERE c.id IN (7, 8, 9)$$, 'values that are given are held');
SELECT same_rows($$SELECT d FROM bayes_sample_rows(model_of('arrays'), 5, 2, NULL::float8[]) AS d$$,
  $$SELECT x FROM bayes_sample(model_of('arrays'), 5, 2)$$, 'rows that are arrays');
SELECT set_eq($$SELECT jsonb_object_keys(record) FROM bayes_sample_rows(model_of('nb'), 1, 1)$$,
  '{age,member,spend,class}'::text[], 'a classifier has its class');
SELECT is((SELECT count(*) FROM bayes_sample_rows(NULL, 2, 1, NULL::customers))
  + (SELECT count(*) FROM bayes_sample_rows(model_of('bmm vi'), 0, 1, NULL::customers))
  + (SELECT count(*) FROM bayes_sample_rows(model_of('bmm vi'), NULL, 1))
  + (SELECT count(*) FROM (SELECT bayes_sample_rows(model_of('arrays'), 2, NULL, ROW(1, 2))) AS n),
  0::bigint,
  'no number of rows, no rows');
SELECT throws_ok(call, state, NULL, call) FROM (VALUES
  ('SELECT bayes_sample_rows(model_of(''arrays''), 1, 1)', '42804'),
  ('SELECT bayes_sample_rows(linreg_fit(spend, age), 1, 1) FROM customers', '42804'),
  ('SELECT bayes_sample_rows(model_of(''bmm vi''), 1, 1, NULL::float8)', '42804'),
  ('SELECT bayes_sample_rows(model_of(''bmm vi''), 1, 1, NULL::record)', '42804'),
  ('SELECT bayes_sample_rows(model_of(''bmm vi''), -1, 1)', '22023'),
  ('SELECT bayes_sample_rows(model_of(''arrays''), 1, 1, NULL::text[])', '22023'),
  ('SELECT bayes_impute(model_of(''arrays''), array_fill(NULL::text, ''{2}''))', '22023'),
  ('SELECT bayes_sample_rows(model_of(''bmm vi''), -1, 1, NULL::customers)', '22023'))
  AS v(call, state);
CREATE DOMAIN young AS int CHECK (value < 10);
CREATE TYPE minor AS (age young, spend float8, visits int);
SELECT throws_ok('SELECT bayes_sample_rows(model_of(''gmm vi''), 1, 1, NULL::minor)', '23514', NULL,
  'what a domain forbids');

-- ---- strange rows, and like ones ----

SELECT never($$SELECT name, c.id, s.*, num_nulls(surprise, tail, expected) > 0
    OR NOT tail BETWEEN 0 AND 1 OR value IS NULL OR (lower IS NULL) <> (s.column_name IN ('plan',
      'member', 'class')) OR coalesce(lower > upper, false) AS wrong
  FROM named, customers AS c, bayes_surprise(model, c) AS s WHERE c.id < 30$$,
  'surprise tells what was expected');
SELECT never($$SELECT name, c.id, s.surprise, NOT near(s.surprise, bayes_log_density(model, o)
    - bayes_log_density(model, c)) AS wrong
  FROM named, customers AS c, bayes_surprise(model, c) AS s,
    LATERAL (SELECT c.age, c.plan, c.member, NULL::int AS spend, c.visits) AS o
  WHERE c.id IN (1, 8, 9) AND s.column_name = 'spend'$$,
  'surprise is the log density of the others less that of the row');
SELECT never($$SELECT name, s.expected, s.expected::float8 <> k.value OR s.lower <> k.lower
    OR s.upper <> k.upper AS wrong
  FROM named, customers AS c, bayes_surprise(model, c) AS s,
    LATERAL (SELECT c.age, c.plan, c.member, NULL::int AS spend, c.visits) AS o,
    bayes_conditional(model, o) AS k
  WHERE c.id = 1 AND s.column_name = 'spend' AND k.column_name = 'spend'$$,
  'what was expected is what a NULL would be');
SELECT results_eq($$SELECT value, tail = exp(-surprise) FROM bayes_surprise(model_of('bmm vi'),
    (SELECT r FROM (SELECT 'gold' AS plan) AS r))$$, 'VALUES (NULL, true)',
  'an unknown label has the probability of one without rows');
SELECT is_empty($$SELECT bayes_surprise(model_of('arrays'), '{NULL,NULL}'::float8[])$$,
  'NULLs are no surprise');
SELECT never($$SELECT name, a.*, NOT (strange < 0.001 AND usual > 0.01 AND usual <= 1
    AND nothing = 1) AS wrong
  FROM named, LATERAL (SELECT bayes_anomaly(model, c) AS usual,
    bayes_anomaly(model, (SELECT r FROM (SELECT c.age, c.plan, c.member, 5000 AS spend, c.visits)
      AS r)) AS strange, bayes_anomaly(model, (SELECT r FROM (SELECT NULL::int AS age) AS r))
      AS nothing FROM customers AS c WHERE id = 1) AS a$$, 'strange rows are found');
-- Chi-squared of two degrees of freedom: exp(-square / 2).
SELECT never($$SELECT id, NOT near(bayes_anomaly(model, x), exp(bayes_log_density(model, x)
    + ln(2 * pi()) + 0.5 * ln(c[1][1] * c[2][2] - c[1][2] * c[2][1])), 1e-8) AS wrong
  FROM (SELECT gmm_fit(x, 1, '{"method": "em"}') AS model FROM faithful) AS m,
    LATERAL (SELECT covariance AS c FROM gmm_components(model)) AS p, faithful$$,
  'exactly for one normal');
SELECT ok(abs(avg(p) - 0.5) < 0.05 AND abs(avg((p < 0.1)::int) - 0.1) < 0.05,
  'rows of the fit are about uniform')
FROM (SELECT bayes_anomaly(model_of('arrays'), x) AS p FROM faithful) AS a;
SELECT same_rows($$SELECT bayes_anomaly(model, c) FROM named, customers AS c ORDER BY name, id$$,
  $$SELECT bayes_anomaly(model, c) FROM named, (SELECT * FROM customers ORDER BY id DESC) AS c
    ORDER BY name, id$$, 'whichever rows were asked before');
SELECT never($$SELECT name, s.*, NOT (alike > 0.9 AND other < 0.2 AND NULLIF(same, alike) IS NULL)
    AS wrong
  FROM named, LATERAL (SELECT bayes_similarity(model, a, b) AS alike,
    bayes_similarity(model, b, a) AS same, bayes_similarity(model, a, c) AS other
    FROM customers AS a, customers AS b, customers AS c
    WHERE a.id = 3 AND b.id = 6 AND c.id = 4) AS s WHERE name IN ('gmm em', 'gmm vi', 'bmm vi')$$,
  'customers of one kind are alike');
SELECT never($$SELECT x, NOT near(bayes_similarity(model_of('iris'), x, y), p * q) AS wrong
  FROM (SELECT x || 1.0::float8 AS x, x AS y, 1 AS p, (bayes_probabilities(model_of('iris'), x))[1]
    AS q FROM iris WHERE id % 7 = 0) AS r$$, 'a known class is one');
-- Far from all rows two are of one new cluster if they are alike; dpmm_similarity of a fit to all
-- rows and both says the same, within 0.01 (0.99, 0.003, 0.98, 0.73).
SELECT ok(bayes_similarity(model, 50000::float8, 50000::float8) > 0.97
    AND bayes_similarity(model, 50000::float8, -20000::float8) < 0.02
    AND bayes_similarity(model, 40000::float8, 40000::float8) > 0.96
    AND abs(bayes_similarity(model, 20000::float8, 20000::float8) - 0.73) < 0.04,
  'rows of new clusters are alike or not')
FROM (SELECT dpmm_fit(velocity, '{"draws": 200}') AS model FROM galaxies) AS m;

-- ---- boxes ----

SELECT never($$SELECT name, p.*, NOT near(p.low + p.high, 1, 1e-9) OR least(low, high) < 0 AS wrong
  FROM named, (SELECT 1000.5 AS spend) AS b, (SELECT NULL::float8 AS spend) AS n,
    (SELECT 30 AS age) AS g, LATERAL (SELECT bayes_probability(model, n, b) AS low,
      bayes_probability(model, b, n) AS high UNION ALL SELECT bayes_probability(model, n, b, g),
      bayes_probability(model, b, n, g)) AS p$$, 'two halves are a whole');
SELECT never($$SELECT name, k.label, NOT near(k.probability, bayes_probability(model, b, n, c))
    OR bayes_probability(model, b, n, c) <> bayes_probability(model, n, b, c) AS wrong
  FROM named, customers AS c, bayes_conditional(model, c) AS k,
    LATERAL (SELECT k.label AS plan, NULL::boolean AS member) AS b,
    (SELECT NULL::text AS plan, NULL::boolean AS member) AS n
  WHERE c.id = 18 AND k.column_name = 'plan'$$, 'a label is itself, in either bound');
SELECT never($$SELECT k.*, NOT near(bayes_probability(model, b, n, c), 0.9, 1e-9) AS wrong
  FROM named, customers AS c, bayes_conditional(model, c, 0.9) AS k,
    LATERAL (SELECT k.lower AS spend) AS b, LATERAL (SELECT k.upper AS spend) AS n
  WHERE c.id = 7 AND k.column_name = 'spend'$$, 'an interval has its probability');
SELECT is(bayes_probability_mcse(model_of('arrays'), '{1,50}'::int[], '{4,80}'::int[]), 0::float8,
  'two bounds of a Student t are exact');
SELECT ok(abs(bayes_probability(model_of('arrays'), '{1,50}'::int[], '{4,80}'::int[]) - share)
    < 4.5 * sqrt(share * (1 - share) / 4000), 'and agree with draws')
FROM (SELECT avg((x[1] BETWEEN 1 AND 4 AND x[2] BETWEEN 50 AND 80)::int) AS share
  FROM bayes_sample(model_of('arrays'), 4000, 1)) AS s;
SELECT is(bayes_probability_mcse(m, '{1,50}'::int[], '{4,80}'::int[]), 0::float8,
  'of normals they are exact')
FROM (SELECT gmm_fit(x, 2, '{"method": "em"}') AS m FROM faithful) AS f;
SELECT ok(near(bayes_probability(model_of('bmm vi'), r, r), exp(bayes_log_density(
  model_of('bmm vi'), r)), 1e-12), 'an unknown label has the probability of its density')
FROM (SELECT 'gold' AS plan) AS r;
SELECT is(bayes_probability(model_of('bmm vi'), a, b), 1::float8, 'from false to true is all')
FROM (SELECT false AS member) AS a, (SELECT true AS member) AS b;
SELECT results_eq($$SELECT round(bayes_probability(model_of('arrays'), a, b,
    '{3,NULL}'::int[])::numeric, 14)::float8
  FROM (VALUES ('{2,NULL}'::int[], '{4,NULL}'::int[]), ('{4,NULL}', '{NULL,NULL}')) AS v(a, b)$$,
  'VALUES (1::float8), (0)', 'what is given lies in the box, or not');

-- ---- what goes with what ----

SELECT never($$SELECT name, i.*, CASE WHEN element1 < element2 THEN nats < 0 OR mcse > 0.02
      OR NOT near(dependence, sqrt(1 - exp(-2 * nats)))
    ELSE dependence IS NOT NULL OR (nats IS NULL) <> (column1 NOT IN ('plan', 'member', 'class'))
    END AS wrong FROM named, bayes_mutual_information(model) AS i$$, 'every pair depends somehow');
SELECT results_eq($$SELECT count(*), count(DISTINCT (element1, element2)) FROM models,
    bayes_mutual_information(model) WHERE name = 'bmm vi'$$, 'VALUES (15::bigint, 15::bigint)',
  'each pair once, and each column with itself');
SELECT never($$SELECT name, dependence < 0.5 AS wrong FROM named, bayes_mutual_information(model)
  WHERE column1 = 'age' AND column2 IN ('spend', 'plan')$$, 'age goes with spending and the plan');
SELECT ok(near(dependence, abs(rho), 1e-9) AND mcse = 0, 'for one normal it is the correlation')
FROM (SELECT gmm_fit(x, 1, '{"method": "em"}') AS m, corr(eruptions, waiting) AS rho FROM faithful)
  AS f, bayes_mutual_information(m) WHERE element1 < element2;

-- Draws belong to two numbers of a mixture; all else is exact.
SELECT never($$SELECT name, a.*, CASE WHEN column1 IN ('age', 'spend', 'visits')
      AND column2 IN ('age', 'spend', 'visits') AND element1 < element2
    THEN NOT (b.mcse / a.mcse BETWEEN 1.7 AND 2.3 AND c.nats <> a.nats
      AND abs(c.nats - a.nats) < 6 * a.mcse + 1e-9)
    ELSE (a.nats, a.mcse) IS DISTINCT FROM (b.nats, b.mcse) OR a.mcse <> 0
      OR (a.nats, a.mcse) IS DISTINCT FROM (c.nats, c.mcse) END AS wrong
  FROM named, bayes_mutual_information(model) AS a
    JOIN LATERAL bayes_mutual_information(model, '{"draws": 2500}') AS b
      USING (element1, column1, element2, column2)
    JOIN LATERAL bayes_mutual_information(model, '{"seed": 5}') AS c
      USING (element1, column1, element2, column2)
  WHERE name = 'bmm vi' AND a.nats IS NOT NULL$$, 'options for draws');
SELECT same_rows($$SELECT * FROM bayes_mutual_information(model_of('bmm vi'), NULL)$$,
  $$SELECT * FROM bayes_mutual_information(model_of('bmm vi'),
    '{"draws": 10000, "seed": 1}')$$, 'and their defaults');
SELECT is_empty('SELECT * FROM bayes_mutual_information(NULL, NULL)', 'of no model');

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
INSERT INTO models SELECT 'linreg', 'linreg', linreg_fit(x[1], x[2:3]) FROM iris;
INSERT INTO models SELECT 'lda', 'lda', lda_fit('{a,b,a}'::text[], 1);
SELECT is(says($$SELECT bayes_impute(model_of('linreg'), '{1,2}'::float8[])$$), '42804 / a model '
  'of family linreg is no distribution over rows / Models of gmm, bmm, dpmm and nb are, and hmm of '
  'steps. / '
  'linreg_predict(model, x) predicts the response of a row, bayes_log_density(model, y, x) is the '
  'log density of a response.', 'a model that is no distribution over rows');
SELECT matches(says($$SELECT bayes_conditional(model_of('lda'), '{1,2}'::float8[])$$),
  '^42804 / a model of family lda is no distribution over rows / ', 'nor is one of documents');
SELECT is(says($$SELECT bayes_conditional(model_of('arrays'), '{1}'::float8[])$$),
  says($$SELECT gmm_predict(model_of('arrays'), '{1}'::float8[])$$), 'a row of another length');
SELECT is(says($$SELECT bayes_conditional(model_of('gmm vi'), r) FROM (SELECT 1 AS years) AS r$$),
  '22023 / rows have no column "age" / It is one of the 3 columns that the model was fitted to. / '
  'Columns are matched by name; additional columns are ignored.',
  'a row without a column of the model');
SELECT matches(says($$SELECT bayes_conditional(model_of('bmm vi'), r) FROM (SELECT -1 AS visits)
  AS r$$), '^22023 / column "visits" is -1, but must be a whole number', 'an impossible value');
SELECT matches(says($$SELECT bayes_conditional(model_of('arrays'), '{1,NaN}'::float8[])$$),
  '^22023 / .*NaN', 'NaN is not NULL');
SELECT set_eq($$SELECT left(says(call), 5) FROM (VALUES
    ('SELECT bayes_conditional(model_of(''arrays''), ''{1,NULL}''::int[], 1)'),
    ('SELECT bayes_conditional(model_of(''arrays''), ''{1,NULL}''::int[], ''NaN'')'),
    ('SELECT bayes_impute(model_of(''arrays''), ''{1,NULL}''::int[], -1, 1)'),
    ('SELECT bayes_sample(model_of(''arrays''), -1, 1, ''{1,NULL}''::int[])')) AS c(call)$$,
  '{22023}'::text[], 'levels and numbers of draws');
SELECT is(says($$SELECT bayes_probability(model_of('gmm vi'), a, b) FROM (SELECT 3 AS age) AS a,
    (SELECT 2 AS age) AS b$$),
  '22023 / the lower bound of column "age" is 3, above the upper bound 2', 'a box without inside');
SELECT is(says($$SELECT bayes_probability(model_of('bmm vi'), a, b) FROM (SELECT 'pro' AS plan)
    AS a, (SELECT 'basic' AS plan) AS b$$),
  '22023 / column "plan" has the bounds "pro" and "basic" / '
  'Labels have no order. / Give one label, in either bound or in both.', 'labels in a box');
SELECT matches(says($$SELECT bayes_mutual_information(model_of('linreg'))$$), '^42804 / ',
  'a regression has no mutual information of columns');
SELECT is(says(format($$SELECT bayes_mutual_information(model_of('bmm vi'), '%s')$$, options)),
  said) FROM (VALUES ('{"drawz": 5}', '22023 / unknown option "drawz" / Did you mean "draws"?'),
  ('{"draws": 1}',
    '22023 / option "draws" is 1, but must be a whole number from 2 to 10000000'),
  ('{"seed": "a"}', '22023 / option "seed" is "a", but must be a whole number of at least 0'),
  ('[1]', '22023 / the options are an array of 1 number, but must be an object'),
  ('{"draws": 10000000}', '54000 / 10000000 draws of 5 columns are too many, the limit is 20000000 '
    'numbers in all / Give a smaller number in option draws.')) AS v(options, said);
CREATE TYPE small AS (age int, spend smallint, visits int);
INSERT INTO models SELECT 'huge', 'gmm', gmm_fit(r, 1) FROM (SELECT i AS age, 1e6 * i AS spend,
    i % 3 AS visits FROM generate_series(1, 9) AS i) AS r;
SELECT matches(says($$SELECT bayes_impute(model_of('huge'), ROW(3, NULL, 1)::small)$$),
  '^22003 / .* is out of the range of type smallint / It is a value of column "spend"',
  'a number that its type cannot hold');
SELECT is(bayes_impute(model_of('arrays'), NULL::float8[]), NULL, 'no row is none');

-- ---- what domains forbid, wherever they stand ----

CREATE DOMAIN negative AS float8 CHECK (VALUE < 0);
CREATE DOMAIN negative_again AS negative;
CREATE DOMAIN short AS float8[] CHECK (VALUE[1] < 0);
CREATE DOMAIN short_again AS short;
CREATE TYPE of_numbers AS (f1 float8, f2 float8);
CREATE TYPE of_negatives AS (f1 negative_again, f2 float8);
CREATE DOMAIN strict AS of_numbers CHECK ((VALUE).f1 < 0);
CREATE DOMAIN strict_again AS strict;
SELECT throws_ok(format('SELECT bayes_impute(model_of(''arrays''), %s::%s%s)', x, type, draws),
  '23514', format('value for domain %s violates check constraint "%s_check"', domain,
    replace(domain, '_again', '')), type || draws)
FROM (VALUES ('ARRAY[NULL,60]', 'negative[]', 'negative'),
    ('ARRAY[NULL,60]', 'negative_again[]', 'negative_again'),
    ('ARRAY[NULL,60]', 'short', 'short'), ('ARRAY[NULL,60]', 'short_again', 'short_again'),
    ('ROW(NULL,60)', 'of_negatives', 'negative_again'), ('ROW(NULL,60)', 'strict', 'strict'),
    ('ROW(NULL,60)', 'strict_again', 'strict_again')) AS v(x, type, domain),
  (VALUES (''), (', 1, 1')) AS d(draws);
CREATE DOMAIN long AS float8[] CHECK (VALUE[1] > 0);
SELECT ok((bayes_impute(model_of('arrays'), '{NULL,60}'::long))[1] > 1, 'and what they allow');
SELECT is(pg_typeof(bayes_impute(model_of('arrays'), '{NULL,60}'::long))::text, 'long',
  'of their type');
SELECT * FROM finish();
