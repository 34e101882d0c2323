-- Rows that are records: columns by name, of several types, with NULLs. Whatever a row is, an
-- array, a record or the columns of a query, the model is the same.
SELECT plan(39);
\ir ../lib/checks.sql
SET client_min_messages = error;
CREATE FUNCTION nameless(model bayes_model, VARIADIC without text[] = '{}') RETURNS text
  LANGUAGE sql RETURN (model::jsonb - 'seconds' - 'row_columns' - without)::text;

CREATE TYPE plan AS ENUM ('silver', 'basic', 'gold');
CREATE DOMAIN euros AS numeric CHECK (value >= 0);
CREATE TABLE customers (
  id int PRIMARY KEY, age int, gone text, income euros, member boolean, plan plan, city text,
  visits smallint, half real GENERATED ALWAYS AS (visits / 2.0::real) STORED
);
INSERT INTO customers SELECT i, 30 + 20 * (i % 3) + i % 7, 'x', 1000 + 500 * (i % 3) + i % 11,
  i % 3 = 1, (enum_range(NULL::plan))[1 + i % 3],
  CASE WHEN i % 10 <> 9 THEN (ARRAY['Rom', 'Århus', 'Berlin', ''])[1 + (i + i / 5) % 4] END,
  i % 4
  FROM generate_series(1, 120) AS i;
ALTER TABLE customers DROP COLUMN gone;

-- ---- one model, whatever the form of the rows ----

CREATE VIEW numbers AS SELECT age, income, half FROM customers;
CREATE TABLE forms AS
SELECT 'gmm' AS family, 'array' AS form, gmm_fit(ARRAY[age, income, half], 3) AS model
  FROM customers
UNION ALL SELECT 'gmm', 'record of a subquery', gmm_fit(r, 3)
  FROM (SELECT age, income, half FROM customers) AS r
UNION ALL SELECT 'gmm', 'record of a view', gmm_fit(n, 3) FROM numbers AS n
UNION ALL SELECT 'gmm', 'ROW', gmm_fit(ROW(age, income, half), 3) FROM customers
UNION ALL SELECT 'gmm', 'weights', gmm_fit(r, 3, NULL, 1)
  FROM (SELECT age, income, half FROM customers) AS r
UNION ALL SELECT 'bmm', 'array', bmm_fit(ARRAY[member, plan = 'gold'], 2) FROM customers
UNION ALL SELECT 'bmm', 'record', bmm_fit(r, 2)
  FROM (SELECT member, plan = 'gold' FROM customers) AS r
UNION ALL SELECT 'dpmm', 'array', dpmm_fit(ARRAY[age, visits], '{"draws": 50}') FROM customers
UNION ALL SELECT 'dpmm', 'record', dpmm_fit(r, '{"draws": 50}')
  FROM (SELECT age, visits FROM customers) AS r
UNION ALL SELECT 'one', 'array', gmm_fit(ARRAY[age], 2) FROM customers
UNION ALL SELECT 'one', 'value', gmm_fit(age, 2) FROM customers
UNION ALL SELECT 'one', 'numeric', gmm_fit(age::numeric, 2) FROM customers
UNION ALL SELECT 'one', 'record', gmm_fit(r, 2) FROM (SELECT age FROM customers) AS r
UNION ALL SELECT 'bool', 'array', bmm_fit(ARRAY[member], 1) FROM customers
UNION ALL SELECT 'bool', 'value', bmm_fit(member, 1) FROM customers
UNION ALL SELECT 'onedp', 'array', dpmm_fit(ARRAY[age], '{"draws": 50}') FROM customers
UNION ALL SELECT 'onedp', 'value', dpmm_fit(age, '{"draws": 50}') FROM customers;
SELECT never($$SELECT a.form, b.form, nameless(a.model) <> nameless(b.model) AS wrong
  FROM forms AS a, forms AS b WHERE a.family = b.family AND b.form <> 'weights'
    AND a.form <> 'weights'$$, 'the same model from every form');
SELECT never($$SELECT a.form, NOT near(i.objective, j.objective) AS wrong
  FROM forms AS a, bayes_info(a.model) AS i, forms AS b, bayes_info(b.model) AS j
  WHERE a.form = 'weights' AND b.form = 'array' AND b.family = 'gmm'$$, 'with weights too');
SELECT results_eq($$SELECT * FROM gmm_components((SELECT model FROM forms WHERE form = 'ROW'))$$,
  $$SELECT * FROM gmm_fit('SELECT age, income, half FROM customers', 3)$$, 'columns of a query');
SELECT results_eq($$SELECT * FROM gmm_components((SELECT model FROM forms WHERE form = 'ROW'))$$,
  $$SELECT * FROM gmm_fit('SELECT n FROM numbers AS n', 3)$$, 'a record of a query');
SELECT results_eq(
  $$SELECT k, objective FROM gmm_select('SELECT age, income FROM customers', '{1,2}')$$,
  $$SELECT (s).k, (s).objective FROM (SELECT unnest(gmm_select(r, '{1,2}')) AS s
    FROM (SELECT age, income FROM customers) AS r) AS q$$, 'a selection');
SELECT results_eq(
  $$SELECT gmm_cluster(r, 3) OVER () FROM (SELECT age, income FROM customers) AS r$$,
  $$SELECT gmm_cluster(ARRAY[age, income], 3) OVER () FROM customers$$, 'a window');
SELECT results_eq($$SELECT gmm_cluster(age, 3) OVER () FROM customers$$,
  $$SELECT gmm_cluster(ARRAY[age], 3) OVER () FROM customers$$, 'a window of one value');

-- ---- columns of several types ----

CREATE TABLE mixed AS
SELECT bmm_fit(c, 3, '{"likelihood": {"visits": "poisson"}}') AS model
FROM (SELECT age, income, member, plan, city, visits FROM customers) AS c;
SELECT results_eq('SELECT c.* FROM mixed, bayes_columns(model) AS c', $$VALUES
  (1, 'age', 'number', NULL::int, NULL::text), (2, 'income', 'number', NULL, NULL),
  (3, 'member', 'boolean', NULL, NULL), (4, 'plan', 'label', 0, 'basic'),
  (4, 'plan', 'label', 1, 'gold'), (4, 'plan', 'label', 2, 'silver'), (5, 'city', 'label', 0, ''),
  (5, 'city', 'label', 1, 'Berlin'), (5, 'city', 'label', 2, 'Rom'),
  (5, 'city', 'label', 3, 'Århus'), (6, 'visits', 'number', NULL, NULL)$$,
  'names, kinds and labels are kept, labels in the order of their bytes');
SELECT set_eq($$SELECT DISTINCT column_name, likelihood, parameter, label
  FROM mixed, bayes_parameters(model) WHERE element IS NOT NULL$$, $$VALUES
  ('age', 'normal', 'mean', NULL), ('age', 'normal', 'sd', NULL),
  ('city', 'categorical', 'probability', ''), ('city', 'categorical', 'probability', 'Berlin'),
  ('city', 'categorical', 'probability', 'Rom'), ('city', 'categorical', 'probability', 'Århus'),
  ('income', 'normal', 'mean', NULL), ('income', 'normal', 'sd', NULL),
  ('member', 'bernoulli', 'probability', NULL), ('plan', 'categorical', 'probability', 'basic'),
  ('plan', 'categorical', 'probability', 'gold'), ('plan', 'categorical', 'probability', 'silver'),
  ('visits', 'poisson', 'rate', NULL)$$, 'each has its likelihood, and parameters their labels');
SELECT is(nameless(model, 'options'), (SELECT nameless(bmm_fit(ARRAY[age, income, member::int,
    array_position('{basic,gold,silver}', plan::text) - 1,
    array_position(ARRAY['', 'Berlin', 'Rom', 'Århus'], city) - 1, visits]::float8[], 3,
    '{"likelihood": ["normal", "normal", "bernoulli", "categorical", "categorical", "poisson"]}'),
    'options') FROM customers), 'as of their codes in an array') FROM mixed;
SELECT is(model, (SELECT bmm_fit(c, 3, '{"likelihood": {"visits": "poisson"}}')::jsonb
    || jsonb_build_object('seconds', (SELECT seconds FROM bayes_info(model)))
  FROM (SELECT age, income, member, plan, city, visits FROM customers ORDER BY -id) AS c)::text
  ::bayes_model, 'the order of the rows, in which labels appear, does not matter') FROM mixed;
SELECT is(model::text::bayes_model, model, 'text and back') FROM mixed;
SELECT is(model::jsonb::bayes_model, model, 'jsonb and back') FROM mixed;
SELECT is((SELECT nameless(bmm_fit(c, 3, '{"likelihood": ["normal", "normal", "bernoulli",
    "categorical", "categorical", "poisson"]}'))
  FROM (SELECT age, income, member, plan, city, visits FROM customers) AS c), nameless(model),
  'likelihoods by position') FROM mixed;
SELECT is(options->'likelihood', '["poisson", "bernoulli", "categorical"]', 'a name is of numbers')
FROM (SELECT bmm_fit(c, 2, '{"likelihood": "poisson"}') AS model
  FROM (SELECT visits, member, plan FROM customers) AS c) AS f, bayes_info(model);
SELECT is(options->'likelihood', '["normal", "bernoulli", "categorical"]', 'dpmm: mixed columns')
FROM (SELECT dpmm_fit(c, '{"draws": 20}') AS model
  FROM (SELECT visits, member, plan FROM customers) AS c) AS f, bayes_info(model);
SELECT is(options->'likelihood', '["normal", "poisson"]', 'dpmm: an object')
FROM (SELECT dpmm_fit(c, '{"draws": 20, "likelihood": {"visits": "poisson"}}') AS model
  FROM (SELECT age, visits FROM customers) AS c) AS f, bayes_info(model);
SELECT is(options->'likelihood', '"normal"', 'dpmm: numbers alone are one normal')
FROM (SELECT dpmm_fit(c, '{"draws": 20}') AS model
  FROM (SELECT age, visits FROM customers) AS c) AS f, bayes_info(model);
SELECT results_eq($$SELECT id, cluster FROM dpmm_cluster(
    'SELECT id, member, plan FROM customers ORDER BY id', '{"draws": 50}')$$,
  $$SELECT id::text, dpmm_cluster(ROW(member, plan), '{"draws": 50}') OVER () FROM customers
  ORDER BY customers.id$$, 'dpmm_cluster of a query and of records');

-- ---- scoring, by name ----

CREATE TABLE scores AS SELECT id, bmm_predict(model, c) AS k, bayes_probabilities(model, c) AS p,
  bayes_log_density(model, c) AS l FROM mixed, customers AS c;
SELECT never($$SELECT s.id, (s.k, s.p, s.l) IS DISTINCT FROM
    (bmm_predict(model, r), bayes_probabilities(model, r), bayes_log_density(model, r)) AS wrong
  FROM mixed, scores AS s JOIN (SELECT id, visits, city, plan, now() AS later, member, income, age
    FROM customers) AS r USING (id)$$, 'in any order, with other columns beside');
CREATE TYPE customer AS (plan text, age int, income numeric, member boolean, city text,
  visits int);
SELECT never($$SELECT id, l IS DISTINCT FROM bayes_log_density(model, ROW(plan, age, income, member,
    city, visits)::customer) AS wrong FROM mixed, scores JOIN customers USING (id)$$,
  'ROW has the names of its type');
SELECT never($$SELECT id, l IS DISTINCT FROM bayes_log_density(model, ARRAY[age, income,
  member::int,
    array_position('{basic,gold,silver}', plan::text) - 1,
    array_position(ARRAY['', 'Berlin', 'Rom', 'Århus'], city) - 1, visits]) AS wrong
  FROM mixed, scores JOIN customers USING (id)$$, 'an array by position, with codes');
SELECT never($$SELECT id, l IS DISTINCT FROM bayes_log_density(model, r) AS wrong FROM mixed, scores
  JOIN (SELECT id, age::float4, income::text::float8, member, plan::varchar(9), city::name, visits
    FROM customers) AS r USING (id) WHERE city IS NOT NULL$$, 'of other types');
SELECT results_eq($$SELECT k FROM scores ORDER BY id$$, $$SELECT bmm_cluster(r, 3,
    '{"likelihood": {"visits": "poisson"}}') OVER () FROM (SELECT age, income, member, plan, city,
    visits FROM customers ORDER BY id) AS r$$, 'labels of the window are those of the model');
SELECT never($$SELECT id, NOT (near(bayes_probabilities(model, r), bayes_probabilities(model, s))
    AND bayes_log_density(model, r) > bayes_log_density(model, s) + 1) AS wrong
  FROM mixed, customers AS c,
    LATERAL (SELECT c.age, income, member, plan, NULL::text AS city, visits) AS r,
    LATERAL (SELECT c.age, c.income, c.member, c.plan, 'Atlantis' AS city, c.visits) AS s$$,
  'a label never seen is no evidence of a component, and costs');
SELECT never($$SELECT id, NOT near(exp(bayes_log_density(model, r)), whole, 1e-9 * whole) AS wrong
  FROM mixed, customers AS c,
    LATERAL (SELECT c.age, income, member, plan, NULL::text AS city, visits) AS r,
    LATERAL (SELECT sum(exp(bayes_log_density(model, q))) AS whole
      FROM unnest(ARRAY['', 'Berlin', 'Rom', 'Århus']) AS l,
        LATERAL (SELECT c.age, c.income, c.member, c.plan, l AS city, c.visits) AS q) AS w$$,
  'and what is missing is summed out');
SELECT is(count(*), 120::bigint, 'two models in turn, each with its own columns')
FROM customers AS c, mixed, forms
WHERE form = 'record of a view' AND bmm_predict(mixed.model, c) BETWEEN 1 AND 3
  AND gmm_predict(forms.model, c) BETWEEN 1 AND 3;
SELECT never($$SELECT id,
    NOT near(bayes_log_density(a.model, c), bayes_log_density(b.model, c)) AS wrong
  FROM customers AS c, forms AS a, forms AS b WHERE a.form = 'record of a view'
    AND b.form = 'record of a subquery'$$, 'models of one family in turn');
SELECT is(bayes_log_density(model, '{50, 2000, 1}'), bayes_log_density(model, ARRAY[50, 2000, 1]),
  'a literal') FROM forms WHERE form = 'ROW';
SELECT is(bayes_log_density(model, 50), bayes_log_density(model, ARRAY[50]), 'a value')
FROM forms WHERE form = 'value' AND family = 'one';
SELECT is(gmm_predict(model, NULL::customers), NULL, 'NULL') FROM forms WHERE form = 'ROW';

-- ---- a table changes between fit and score ----

CREATE TABLE before AS SELECT id, bayes_log_density(model, c) AS l FROM mixed, customers AS c;
ALTER TABLE customers ADD COLUMN more int DEFAULT 5;
DROP VIEW numbers;
ALTER TABLE customers DROP COLUMN half;
ALTER TABLE customers ALTER COLUMN age TYPE numeric;
ALTER TYPE plan ADD VALUE 'platinum' BEFORE 'silver';
CREATE TABLE parts (LIKE customers) PARTITION BY RANGE (id);
CREATE TABLE part1 (visits smallint, city text, plan plan, member boolean, income euros,
  age numeric, id int NOT NULL, more int);
ALTER TABLE parts ATTACH PARTITION part1 FOR VALUES FROM (0) TO (60);
CREATE TABLE part2 PARTITION OF parts FOR VALUES FROM (60) TO (1000);
INSERT INTO parts SELECT * FROM customers;
SELECT never('SELECT c.id, NOT near(l, bayes_log_density(model, c)) AS wrong FROM mixed, before
  JOIN customers AS c USING (id)', 'columns added, dropped, of another type');
SELECT never('SELECT c.id, NOT near(l, bayes_log_density(model, c)) AS wrong FROM mixed, before
  JOIN parts AS c USING (id)', 'partitions with other orders of columns');

-- ---- missing values ----

SELECT is(rows, 120::bigint, 'incomplete rows count') FROM mixed, bayes_info(model);
SELECT is((rows, skipped), (108::bigint, 12::bigint), 'unless they are to be skipped')
FROM (SELECT bmm_fit(c, 2, '{"missing": "skip"}') AS model FROM (SELECT member, city FROM customers)
  AS c) AS f, bayes_info(model);
SELECT results_eq($$SELECT label FROM (SELECT bmm_fit(c, 2, '{"missing": "skip"}') AS model FROM
    (VALUES (true, 'a'), (false, 'b'), (NULL, 'c'), (true, 'b')) AS c(member, city)) AS f,
  bayes_columns(model) WHERE label IS NOT NULL$$, $$VALUES ('a'), ('b')$$,
  'labels of skipped rows are none');

-- ---- memory, processes ----

CREATE TABLE many AS SELECT i % 1000 / 10.0 AS x, 'label ' || (i * 7919 % 300) AS l, i % 3 = 0 AS b
FROM generate_series(1, 60000) AS i;
CREATE TABLE ways AS
SELECT 'memory' AS way, bmm_fit(m, 2, '{"max_iter": 3, "restarts": 1}') AS model
FROM (SELECT x, l, b FROM many ORDER BY l) AS m;
SET maintenance_work_mem = '1MB';
INSERT INTO ways SELECT 'file', bmm_fit(m, 2, '{"max_iter": 3, "restarts": 1}')
FROM (SELECT x, l, b FROM many ORDER BY x, l) AS m;
RESET maintenance_work_mem;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
INSERT INTO ways SELECT 'workers', bmm_fit(m, 2, '{"max_iter": 3, "restarts": 1}')
FROM (SELECT x, l, b FROM many) AS m;
SELECT is((SELECT nameless(model) FROM ways WHERE way = 'workers'),
  (SELECT nameless(model) FROM ways WHERE way = 'memory'), 'parallel workers');
SELECT never($$SELECT way, model::jsonb->'row_columns' <> (SELECT model::jsonb->'row_columns'
    FROM ways WHERE way = 'memory') OR NOT near(objective, (SELECT objective FROM ways,
    bayes_info(model) WHERE way = 'memory'), 1e-6) AS wrong FROM ways, bayes_info(model)$$,
  'rows in a file');
SELECT is(max(k), 4, 'aggregates of a growing frame: labels come later')
FROM (SELECT (bmm_fit(r, 1) OVER (ORDER BY i))::jsonb->'row_columns'->0->'labels' AS labels, i
  FROM (VALUES (1, 'd'), (2, 'b'), (3, 'a'), (4, 'c')) AS v(i, l), LATERAL (SELECT l) AS r) AS w,
  LATERAL (SELECT jsonb_array_length(labels) AS k) AS n;

SELECT * FROM finish();
