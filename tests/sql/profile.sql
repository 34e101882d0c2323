-- bayes_profile: what sets components apart, against plain SQL.
SELECT plan(23);
\ir ../lib/checks.sql
SET client_min_messages = error;

CREATE TABLE customers AS
SELECT i AS id, CASE WHEN i % 10 > 0 THEN 22 + 14 * (i % 3) + i % 9 END AS age,
       1e9 + 60 + 90 * (i % 3) + 20 * sin(i) AS spend, i % 3 + i % 2 AS visits,
       i % 3 = 2 OR i % 7 = 0 AS newsletter,
       CASE WHEN i % 8 > 0 THEN (ARRAY['basic', 'Familie', 'größer'])[1 + (i + (i / 4) % 2) % 3] END
         AS plan
FROM generate_series(1, 300) AS i;
CREATE TABLE models AS
SELECT 'bmm' AS family, bmm_fit(c, 3, '{"likelihood": {"visits": "poisson"}}') AS model
  FROM (SELECT age, spend, visits, newsletter, plan FROM customers) AS c
UNION ALL
SELECT 'dpmm', dpmm_fit(c, '{"draws": 60, "chains": 2, "missing": "marginalize",
    "likelihood": {"visits": "poisson"}}')
  FROM (SELECT age, spend, visits, newsletter, plan FROM customers) AS c
UNION ALL
SELECT 'gmm', gmm_fit(c, 2, '{"missing": "marginalize"}')
  FROM (SELECT age, spend FROM customers) AS c;
CREATE TABLE profiles AS
SELECT family, p.* FROM models, LATERAL (SELECT CASE family
    WHEN 'bmm' THEN (SELECT bayes_profile(model, c ORDER BY id) FROM customers AS c)
    WHEN 'dpmm' THEN (SELECT bayes_profile(model, c ORDER BY id) FROM customers AS c)
    ELSE (SELECT bayes_profile(model, c ORDER BY id) FROM customers AS c) END AS all_of_it) AS a,
  unnest(all_of_it) AS p;

-- The same by hand: each row and number, with its probability.
CREATE TABLE numbers AS
SELECT family, id, component, column_name, label, x, p[component] AS weight
FROM (SELECT family, id, c AS r, age, spend, visits, newsletter, plan, CASE family
    WHEN 'bmm' THEN bayes_probabilities(CASE family WHEN 'bmm' THEN model END, c)
    WHEN 'dpmm' THEN bayes_probabilities(CASE family WHEN 'dpmm' THEN model END, c)
    ELSE bayes_probabilities(CASE family WHEN 'gmm' THEN model END, c) END AS p,
    (SELECT components FROM bayes_info(model)) AS k FROM models, customers AS c) AS scored,
  generate_series(1, k) AS component,
  LATERAL (VALUES ('age', NULL, age::float8), ('spend', NULL, spend), ('visits', NULL, visits),
    ('newsletter', NULL, newsletter::int), ('plan', 'basic', (plan = 'basic')::int),
    ('plan', 'Familie', (plan = 'Familie')::int), ('plan', 'größer', (plan = 'größer')::int))
    AS v(column_name, label, x)
WHERE family <> 'gmm' OR column_name IN ('age', 'spend');
CREATE TABLE expected AS
SELECT *, value - others AS difference, (value - others) / nullif(sd, 0) AS effect
FROM (SELECT family, component, column_name, label, sum(weight) AS rows,
    sum(weight * x) / sum(weight) FILTER (WHERE x IS NOT NULL) AS value,
    sum((1 - weight) * x) / sum(1 - weight) FILTER (WHERE x IS NOT NULL) AS others,
    stddev_pop(x) AS sd,
    coalesce(sum(weight) FILTER (WHERE x IS NULL), 0) / sum(weight) AS missing
  FROM numbers GROUP BY 1, 2, 3, 4) AS s;

SELECT set_eq('SELECT family, component, column_name, label FROM profiles',
  'SELECT family, component, column_name, label FROM expected', 'one line for every number');
SELECT never($$SELECT p.*, e.*, abs(p.rows - e.rows) > 1e-9 * e.rows
    OR abs(p.value - e.value) > 1e-9 * abs(e.value) OR abs(p.others - e.others) > 1e-9 * e.others
    OR abs(p.missing - e.missing) > 1e-9 AS wrong
  FROM profiles AS p JOIN expected AS e USING (family, component, column_name)
  WHERE p.label IS NOT DISTINCT FROM e.label$$, 'means and shares are those of the rows');
SELECT never($$SELECT p.*, e.*, abs(p.difference - e.difference) > 1e-5
    OR abs(p.effect - e.effect) > 1e-6 OR p.effect IS NULL AS wrong
  FROM profiles AS p JOIN expected AS e USING (family, component, column_name)
  WHERE p.label IS NOT DISTINCT FROM e.label$$, 'and so are differences and effects');
SELECT never($$SELECT *, rank <> row_number() OVER (PARTITION BY family, component
    ORDER BY abs(effect) DESC, element, category) AS wrong FROM profiles$$,
  'ranked within a component');
SELECT never($$SELECT family, abs(sum(rows) - 300) > CASE family WHEN 'dpmm' THEN 20 ELSE 1e-6 END
    AS wrong FROM profiles WHERE column_name = 'age' GROUP BY 1$$, 'rows are shared out');
SELECT set_eq($$SELECT DISTINCT element, column_name, category, label FROM profiles
    WHERE family = 'bmm'$$, $$VALUES (1, 'age', NULL::bigint, NULL), (2, 'spend', NULL, NULL),
    (3, 'visits', NULL, NULL), (4, 'newsletter', NULL, NULL), (5, 'plan', 0, 'Familie'),
    (5, 'plan', 1, 'basic'), (5, 'plan', 2, 'größer')$$, 'columns and labels have their names');
SELECT ok(max(missing) > 0.05, 'NULLs are counted') FROM profiles WHERE column_name = 'plan';

-- ---- other rows, other models ----

CREATE TABLE plain AS SELECT bmm_fit(ARRAY[a, b - 1], 2, '{"likelihood": ["categorical",
  "bernoulli"]}') AS model FROM role_conflict;
SELECT set_eq($$SELECT DISTINCT element, column_name, category, label
    FROM plain, unnest((SELECT bayes_profile(model, ARRAY[a, b - 1]) FROM plain, role_conflict))$$,
  $$VALUES (1, NULL, 1::bigint, NULL), (1, NULL, 2, NULL), (2, NULL, NULL, NULL)$$,
  'arrays have categories without labels');
SELECT is((SELECT bayes_profile(model, ARRAY[age, spend]) FROM models, customers
    WHERE family = 'gmm'),
  (SELECT bayes_profile(model, c) FROM models, customers AS c WHERE family = 'gmm'),
  'by position or by name');
SELECT never($$SELECT *, value <> x OR others IS NOT NULL OR effect IS NOT NULL OR rank IS NOT NULL
    OR missing <> 0 AS wrong
  FROM (SELECT avg(spend) AS x FROM customers WHERE id = 7) AS a,
  unnest((SELECT bayes_profile(model,
    ROW(spend)) FROM customers, (SELECT gmm_fit(spend, 1) AS model FROM customers) AS m
    WHERE id = 7))$$, 'one component has no others');
SELECT is((SELECT value FROM unnest((SELECT bayes_profile(model, ARRAY[NULL, spend]) FROM customers,
  models WHERE family = 'gmm')) WHERE element = 1 AND component = 1), NULL,
  'a column of NULLs has no mean');
SELECT is((SELECT array_agg(missing) FROM unnest((SELECT bayes_profile(model, ARRAY[NULL, spend])
  FROM customers, models WHERE family = 'gmm')) WHERE element = 1), '{1,1}',
  'all of them are missing');
SELECT is((SELECT bayes_profile(model, c) FROM models, customers AS c WHERE false), NULL,
  'no rows, no profile');
SELECT is((SELECT bayes_profile(NULL, c) FROM customers AS c), NULL, 'no model either');
SELECT is((SELECT bayes_profile(model, ARRAY[age, spend]) FROM models, customers
    WHERE family = 'gmm'),
  (SELECT bayes_profile(model, CASE WHEN id > 0 THEN ARRAY[age, spend] END ORDER BY row)
   FROM models, (SELECT row_number() OVER () AS row, * FROM (SELECT id, age, spend FROM customers
     UNION ALL SELECT -1, 1, 2) AS c) AS d WHERE family = 'gmm'), 'a NULL row is left out');
SELECT is((SELECT count(*) FROM (SELECT unnest(bayes_profile(model, c)) FROM models, customers AS c
  WHERE family = 'bmm' GROUP BY id % 2) AS g), 42::bigint, 'groups of rows');
SELECT never($$SELECT *, r > 1e-6 AS wrong FROM (SELECT abs(p.value - q.value) AS r
  FROM unnest((SELECT bayes_profile(model, c ORDER BY id) FROM models, customers AS c
    WHERE family = 'gmm')) WITH ORDINALITY AS p JOIN
  unnest((SELECT bayes_profile(model, c ORDER BY -id) FROM models, customers AS c
    WHERE family = 'gmm')) WITH ORDINALITY AS q USING (ordinality)) AS d$$,
  'in any order of the rows, but for last digits');
-- A model that was fitted without NULLs, and says that they are errors.
SELECT ok(max(missing) BETWEEN 0.05 AND 0.2, 'NULLs are counted whatever the model says')
  FROM unnest((SELECT bayes_profile(model, c) FROM customers AS c, (SELECT gmm_fit(r, 2,
    '{"missing": "error"}') AS model FROM (SELECT age, spend FROM customers WHERE age IS NOT NULL)
    AS r) AS m)) AS p WHERE column_name = 'age';

-- ---- what cannot be ----

SELECT throws_ok($$SELECT bayes_profile(linreg_fit, c) FROM (SELECT linreg_fit(age, spend)
  FROM customers) AS m, customers AS c$$, '42804', NULL, 'a regression has no components');
SELECT throws_ok($$SELECT bayes_profile(model, ARRAY[x[1]]) FROM faithful, (SELECT gmm_fit(
  ARRAY[velocity / k], 2) AS model FROM galaxies, generate_series(1, 2) AS k GROUP BY k) AS m$$,
  '22023', 'the rows have different models', 'of one model');
SELECT throws_ok('SELECT bayes_profile(model, ARRAY[1.0]) FROM models WHERE family = ''gmm''',
  '2202E', NULL, 'of rows as long as those of the fit');
SELECT throws_ok($$SELECT bayes_profile(model, ARRAY['Infinity'::float8, 1]) FROM models
  WHERE family = 'gmm'$$, '22023', NULL, 'of finite numbers');
SELECT is((SELECT count(*) FROM bayes_info((SELECT model FROM models WHERE family = 'gmm'))),
  1::bigint, 'the model is as it was');
SELECT * FROM finish();
