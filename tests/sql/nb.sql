-- Bayes classifiers: what they learn, predict and say of themselves; parts, order, plans.
SELECT plan(48);
\ir ../lib/checks.sql

CREATE TYPE flower AS (sepal_length float8, sepal_width float8, petal_length float8,
  petal_width float8);
CREATE VIEW flowers AS SELECT species,
  ROW(sepal_length, sepal_width, petal_length, petal_width)::flower AS f FROM iris;
CREATE TABLE models AS
  SELECT 'naive' AS name, (SELECT nb_fit(species, f) FROM flowers) AS model
  UNION ALL SELECT 'full', (SELECT nb_fit(species, f, '{"covariance": "full"}') FROM flowers)
  UNION ALL SELECT 'array', (SELECT nb_fit(species, x) FROM iris);
CREATE FUNCTION model(named text) RETURNS bayes_model LANGUAGE sql
  RETURN (SELECT model FROM models WHERE name = named);

-- ---- iris, against the formula, in SQL ----

-- The posterior predictive of a column is a Student t: log densities by lgamma of halves.
CREATE FUNCTION lgamma_half(twice float8) RETURNS float8 LANGUAGE sql IMMUTABLE
  RETURN CASE WHEN twice::int % 2 = 0
    THEN (SELECT coalesce(sum(ln(i)), 0) FROM generate_series(1, twice::int / 2 - 1) AS i)
    ELSE ln(pi()) / 2 + (SELECT coalesce(sum(ln(i - 0.5)), 0)
      FROM generate_series(1, (twice::int - 1) / 2) AS i) END;
CREATE VIEW long AS SELECT id, species, element, v FROM iris, unnest(x) WITH ORDINALITY
  AS u(v, element);
CREATE VIEW posteriors AS
  SELECT species, element, (0.01 * m + n * mean) / (0.01 + n) AS m, 0.01 + n AS c, 3 + n AS a,
    b + scatter + 0.01 * n / (0.01 + n) * (mean - m) ^ 2 AS b
  FROM (SELECT species, element, count(*) AS n, avg(v) AS mean, var_pop(v) * count(*) AS scatter
    FROM long GROUP BY 1, 2) AS s
  JOIN (SELECT element, avg(v) AS m, var_pop(v) / sqrt(3) AS b FROM long GROUP BY 1) AS p
    USING (element);
CREATE TABLE by_hand AS
  SELECT id, p.species, ln(1 / 3.0) + sum(lgamma_half(a + 1) - lgamma_half(a) - ln(pi()) / 2
    + ln(c / ((c + 1) * b)) / 2 - (a + 1) / 2 * ln(1 + (v - m) ^ 2 * c / ((c + 1) * b)))
    AS log_joint
  FROM long JOIN posteriors AS p USING (element) GROUP BY id, p.species;
SELECT never($$SELECT id, p.class, h.species, p.probability,
    NOT near(p.probability, exp(log_joint) / sum(exp(log_joint)) OVER (PARTITION BY id), 1e-11)
    AS wrong
  FROM iris JOIN by_hand AS h USING (id), nb_probabilities(model('naive'), x) AS p
  WHERE p.class = h.species$$, 'probabilities are those of the formula');
SELECT never($$SELECT id, NOT near(bayes_log_density(model('naive'), x),
    (SELECT ln(sum(exp(log_joint))) FROM by_hand WHERE by_hand.id = iris.id), 1e-11) AS wrong
  FROM iris$$, 'log densities as well');
SELECT is((SELECT count(*) FROM iris WHERE nb_predict(model('naive'), iris) = species), 143::bigint,
  'of 150 flowers 143 are recognised');
SELECT is((SELECT count(*) FROM iris WHERE nb_predict(model('full'), iris) = species), 147::bigint,
  'with a full covariance 147');
SELECT is((SELECT sum(nb_probability(model('full'), iris, s)) FROM iris,
  unnest('{setosa,versicolor,virginica}'::text[]) AS s WHERE id = 71)::numeric(12, 10), 1.0,
  'probabilities sum to 1');
SELECT results_eq($$SELECT class FROM nb_probabilities(model('full'), (SELECT x FROM iris
  WHERE id = 71))$$, $$VALUES ('virginica'), ('versicolor'), ('setosa')$$,
  'and come in descending order');
SELECT is((SELECT timeless(model('array')) <> timeless(model('naive'), 'row_columns')), false,
  'arrays give the same model as records, but for the names');

SELECT results_eq($$SELECT class, rows, weight, prior, probability, round(sd::numeric, 6)
  FROM nb_classes(model('naive'))$$,
  $$VALUES ('setosa', 50::bigint, 50::float8, 1 / 3::float8, 1 / 3::float8, 0.037987),
    ('versicolor', 50, 50, 1 / 3::float8, 1 / 3::float8, 0.037987),
    ('virginica', 50, 50, 1 / 3::float8, 1 / 3::float8, 0.037987)$$, 'classes');
SELECT never($$SELECT f.*, NOT near(value, CASE parameter WHEN 'mean' THEN m
    ELSE sqrt(b / 2) * exp(lgamma_half(a - 1) - lgamma_half(a)) END)
    OR NOT (lower < value AND value < upper AND sd > 0) AS wrong
  FROM nb_features(model('naive')) AS f
  JOIN posteriors AS p ON p.species = class AND p.element = f.element$$, 'features');
SELECT results_eq($$SELECT DISTINCT column_name, likelihood, category, label
  FROM nb_features(model('full')) ORDER BY 1$$,
  $$VALUES ('petal_length', 'normal', NULL::bigint, NULL), ('petal_width', 'normal', NULL, NULL),
    ('sepal_length', 'normal', NULL, NULL), ('sepal_width', 'normal', NULL, NULL)$$,
  'their names');
SELECT results_eq($$SELECT family, method, rows, skipped, dimension, components, converged,
    observations, parameters, near(bic, -2 * log_likelihood + parameters * ln(observations))
  FROM bayes_info(model('full'))$$,
  $$VALUES ('nb', 'exact', 150::bigint, 0::bigint, 4, 3, true, 150::float8, 44::float8, true)$$,
  'information');
SELECT ok((SELECT objective FROM bayes_info(model('full')))
  > (SELECT objective + 10 FROM bayes_info(model('naive'))), 'the evidence prefers the full one');

-- ---- columns of every kind ----

CREATE TYPE grade AS ENUM ('good', 'fair', 'bad');
CREATE TABLE clients (id int, age numeric, calls smallint, city varchar(10), member boolean,
  grade grade, dropped int);
INSERT INTO clients SELECT i, CASE WHEN i % 9 > 0 THEN 20 + i % 40 END, i % 4 * (i % 3),
  CASE WHEN i % 5 > 0 THEN (ARRAY['Bern', 'Genf', ''])[1 + i % 7 % 3] END, i % 2 = 0,
  (ARRAY['good', 'fair', 'bad']::grade[])[1 + (i * i + i % 4) % 3], i
FROM generate_series(1, 300) AS i;
ALTER TABLE clients DROP COLUMN dropped;
CREATE TABLE client_models AS SELECT nb_fit(grade, c, '{"likelihood": {"calls": "poisson"}}') AS m
  FROM clients, LATERAL (SELECT age, calls, city, member) AS c;
SELECT results_eq($$SELECT DISTINCT column_name, likelihood, label FROM client_models,
  nb_features(m) ORDER BY 1, 3$$, $$VALUES ('age', 'normal', NULL), ('calls', 'poisson', NULL),
  ('city', 'categorical', ''), ('city', 'categorical', 'Bern'), ('city', 'categorical', 'Genf'),
  ('member', 'bernoulli', NULL)$$, 'numbers, counts, texts, booleans');
SELECT results_eq('SELECT class FROM client_models, nb_classes(m)',
  $$VALUES ('bad'), ('fair'), ('good')$$, 'labels of an enum, by their text');
-- Another order of columns, other types, others beside.
SELECT same((SELECT sum(nb_probability(m, c, grade)) FROM client_models, clients AS c),
  (SELECT sum(nb_probability(m, r, grade::text)) FROM client_models,
    (SELECT member, id, city::text, calls::int8, age::float4, grade FROM clients) AS r),
  'columns are matched by name');
SELECT never($$SELECT class, NOT near(nb_probability(m, r, class), probability) AS wrong
  FROM client_models, nb_classes(m),
  (SELECT NULL::int AS age, NULL::int AS calls, 'Chur' AS city, NULL::boolean AS member) AS r$$,
  'NULLs and unknown labels are no evidence');
SELECT is((SELECT nb_predict(m, NULL::record) IS NULL FROM client_models), true,
  'a NULL row has no label');

-- ---- labels that are equal, and written in other ways ----

CREATE TABLE of_numbers AS SELECT nb_fit(l, x) AS m FROM
  (VALUES (1.0, 1), (1, 2), (1.00, 3), (100, 4), (1e2, 5), (0.0, 6), (-0.50, 7)) AS v(l, x);
SELECT results_eq('SELECT class, rows FROM of_numbers, nb_classes(m)',
  $$VALUES ('-0.5', 1::bigint), ('0', 1), ('1', 3), ('100', 2)$$,
  'numeric labels that are equal are one class');
SELECT is((SELECT nb_probability(m, 2, 1.000) FROM of_numbers),
  (SELECT nb_probability(m, 2, 1) FROM of_numbers), 'whatever the zeros at its end');
SELECT results_eq($$SELECT class, rows FROM (SELECT nb_fit(l, 1) AS m FROM
  (VALUES (0::float8), ('-0'), (2.5)) AS v(l)) AS t, nb_classes(m)$$,
  $$VALUES ('0', 2::bigint), ('2.5', 1)$$, 'and 0 is -0');
SELECT results_eq($$SELECT class, rows FROM (SELECT nb_fit(l, 1) AS m FROM
  (VALUES ('a'::char(3)), ('a '), ('b')) AS v(l)) AS t, nb_classes(m)$$,
  $$VALUES ('a', 2::bigint), ('b', 1)$$, 'spaces at the end of char(n) are no part of a label');

-- ---- what a fit leaves out ----

SELECT results_eq($$SELECT rows, skipped FROM (SELECT nb_fit(l, x, '{"missing": "skip"}') AS m
  FROM (VALUES ('a', '{1,2}'::float8[]), ('b', '{1,NULL}'), (NULL, '{1,2}'), ('a', NULL),
    ('b', '{3,4}')) AS v(l, x)) AS t, bayes_info(m)$$, 'VALUES (2::bigint, 3::bigint)',
  'NULL labels, rows and, if asked for, elements');
SELECT results_eq($$SELECT rows, skipped, observations FROM (SELECT nb_fit(l, x, NULL, w) AS m
  FROM (VALUES ('a', 1.0, 2), ('b', 2, 0.5), ('b', 2, 0), ('b', 2, NULL)) AS v(l, x, w)) AS t,
  bayes_info(m)$$, 'VALUES (2::bigint, 2::bigint, 2.5::float8)', 'weights of 0 and NULL');
SELECT is((SELECT nb_fit('a'::text, 1.0) FROM iris WHERE false), NULL, 'no rows give NULL');
SELECT is((SELECT nb_fit(NULL::text, x) FROM iris), NULL, 'nor do rows without labels');
SELECT results_eq($$SELECT nb_predict(m, 5), p.* FROM (SELECT nb_fit(7, 1.5) AS m) AS t,
  nb_probabilities(m, 100) AS p$$, $$VALUES ('7', '7', 1::float8)$$, 'one row, one class');
SELECT is((SELECT nb_predict(nb_fit(i % 2, ARRAY[1, 2, i % 2 * 3]), '{1,2,3}'::int[])
  FROM generate_series(1, 9) AS i), '1', 'constant columns');
SELECT ok((SELECT abs(bayes_log_density(nb_fit(i % 2, ARRAY[i, 1e150, -1e147 + 1e146 * i]),
  '{1,1e150,-1e147}'::float8[])) < 1e6 FROM generate_series(1, 9) AS i), 'values of 1e150');
SELECT is((SELECT count(*) FROM (SELECT nb_fit(i, i / 100.0) AS m FROM generate_series(1, 10000)
  AS i) AS t, nb_classes(m)), 10000::bigint, '10000 classes');

-- What a row names that is left out is nowhere in the model, and not in parts of it.
CREATE TABLE left_out AS SELECT * FROM (VALUES ('a', 1, 'x'), ('a', 2, 'x'), ('b', 3, 'x'),
  ('b', NULL, 'only')) AS v(l, x, t);
SELECT results_eq($$SELECT round(nb_probability(m, ROW(NULL::int, 'x'::text), 'a')::numeric, 12),
    (SELECT string_agg(DISTINCT label, ',') FROM nb_features(m))
  FROM (SELECT nb_fit(l, ROW(x, t), '{"covariance": "full"}') AS m FROM left_out
    UNION ALL SELECT bayes_rollup(m)
      FROM (SELECT nb_fit(l, ROW(x, t), '{"covariance": "full"}') AS m
        FROM left_out GROUP BY l, x) AS parts) AS fits$$,
  $$VALUES (0.6, 'x'), (0.6, 'x')$$, 'a label of a row without a number');
SELECT results_eq($$SELECT dimension, rows, skipped, (SELECT string_agg(DISTINCT column_name, ',')
    FROM nb_features(m)) FROM (SELECT nb_fit(l, x::jsonb, '{"missing": "skip"}') AS m
    FROM (VALUES ('a', '{"x": 1}'), ('b', '{"only": 3, "x": null, "y": "z"}'), ('b', '{"x": 2}'),
      ('b', '{"only": true, "x": null, "y": 1}')) AS v(l, x)) AS f,
  bayes_info(m)$$, $$VALUES (1, 2::bigint, 2::bigint, 'x')$$,
  'names of objects that are left out, and their kinds');

-- ---- parts ----

CREATE FUNCTION agree(a bayes_model, b bayes_model) RETURNS boolean LANGUAGE sql
  RETURN (SELECT near(i.objective, j.objective, 1e-12) AND i.rows = j.rows
    AND i.skipped = j.skipped FROM bayes_info(a) AS i, bayes_info(b) AS j)
  AND (SELECT all_true(near(x.value, y.value, 1e-12) AND near(x.upper, y.upper, 1e-10))
    FROM (SELECT *, coalesce(label, '') AS l FROM nb_features(a)) AS x
    FULL JOIN (SELECT *, coalesce(label, '') AS l FROM nb_features(b)) AS y
    USING (class, element, parameter, l));
CREATE TYPE client AS (age numeric, calls smallint, city varchar(10), member boolean);
CREATE VIEW rows_of_clients AS SELECT id, NULLIF(grade, 'bad') AS label,
  ROW(age, calls, city, member)::client AS c FROM clients;
CREATE TABLE whole AS SELECT nb_fit(label, c) AS m FROM rows_of_clients;
SELECT ok((SELECT agree(m, (SELECT bayes_rollup(part) FROM (SELECT nb_fit(label, c) AS part
  FROM rows_of_clients GROUP BY id % 7) AS p)) FROM whole), 'rollup is a fit of all rows');
SELECT ok((SELECT agree(m, (SELECT nb_update(label, c, (SELECT nb_fit(label, c)
  FROM rows_of_clients WHERE id <= 50)) FROM rows_of_clients WHERE id > 50)) FROM whole),
  'so is an update');
SELECT ok((SELECT agree(m, (SELECT nb_fit(label, c ORDER BY id * 7919 % 301)
  FROM rows_of_clients)) FROM whole), 'and another order of rows');
SELECT is((SELECT count(*) FROM (SELECT id % 10, nb_fit(label, c) AS m FROM rows_of_clients
  GROUP BY 1) AS g, bayes_info(m) WHERE rows + skipped = 30), 10::bigint, 'a model for each group');
SELECT results_eq($$SELECT class FROM (SELECT nb_update('new'::text, r, m) AS m FROM client_models,
  (SELECT 1 AS age, 2 AS calls, 'Chur' AS city, true AS member) AS r GROUP BY client_models.m) AS t,
  nb_classes(m)$$, $$VALUES ('bad'), ('fair'), ('good'), ('new')$$, 'updates learn labels');
SELECT never($$SELECT i, nb_fit(label, c) FILTER (WHERE i % 2 = 0) OVER (ORDER BY i
    ROWS 5 PRECEDING) IS NULL <> (i < 2) AS wrong FROM (SELECT id AS i, label, c
    FROM rows_of_clients WHERE id < 20 AND label IS NOT NULL OR id < 2) AS t WHERE i > 3$$,
  'as a window');

SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
CREATE TABLE big AS SELECT i, (i % 3)::text AS label, sin(i) + i % 3 AS x,
  CASE WHEN i % 10 > 0 THEN 'l' || i % 7 END AS name, i % 2 = 0 AS flag,
  jsonb_build_object('w' || i % 50, 1 + i % 3, 'null', CASE WHEN i % 4 = 0 THEN true END) AS words
FROM generate_series(1, 20000) AS i;
ANALYZE big;
CREATE TABLE parallel AS
  SELECT nb_fit(label, r) AS columns, nb_fit(label, words) AS words,
    nb_fit(label, ARRAY[big.x, i % 5], '{"covariance": "full"}') AS full_covariance
  FROM big, LATERAL (SELECT x, name, flag) AS r;
CREATE FUNCTION plan_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN RETURN QUERY EXECUTE 'EXPLAIN (COSTS off) ' || query; END $$;
SELECT isnt((SELECT count(*) FROM plan_of($$SELECT nb_fit(label, r) FROM big,
  LATERAL (SELECT x, name, flag) AS r$$) AS l WHERE l ~ 'Partial Aggregate'), 0::bigint,
  'workers aggregate');
-- Only one row has words: other workers know classes, but no features.
CREATE TABLE hardly AS SELECT i, (i % 3)::text AS label,
  CASE WHEN i = 5 THEN '{"a": 2, "b": 1}' ELSE '{}' END::jsonb AS words,
  CASE WHEN i = 5 THEN 'a:1,2 b:3' ELSE '' END::tsvector AS document
FROM generate_series(1, 20000) AS i;
ANALYZE hardly;
CREATE TABLE hardly_parallel AS SELECT nb_fit(label, words) AS words,
  nb_fit(label, document) AS document FROM hardly;
SET max_parallel_workers_per_gather = 0;
SELECT never($$SELECT NOT agree(words, (SELECT nb_fit(label, words) FROM hardly)) AS wrong
  FROM hardly_parallel$$, 'words of one row alone');
SELECT never($$SELECT NOT agree(document, words) AS wrong FROM hardly_parallel$$,
  'the same as documents');
SELECT never($$SELECT NOT agree(columns, (SELECT nb_fit(label, r) FROM big,
    LATERAL (SELECT x, name, flag) AS r)) AS wrong FROM parallel$$, 'columns');
SELECT never($$SELECT NOT agree(words, (SELECT nb_fit(label, words) FROM big)) AS wrong
  FROM parallel$$, 'words');
SELECT never($$SELECT NOT agree(full_covariance, (SELECT nb_fit(label, ARRAY[x, i % 5],
    '{"covariance": "full"}') FROM big)) AS wrong FROM parallel$$, 'and covariances are the same');

-- ---- words ----

CREATE TABLE mails (spam boolean, words jsonb);
INSERT INTO mails VALUES (true, '{"money": 2, "free": 1}'), (true, '{"free": 3, "html": true}'),
  (false, '{"lunch": 1, "html": false}'), (false, '{"money": 1}'), (false, '{}');
CREATE TABLE filter AS SELECT nb_fit(spam, words) AS m FROM mails;
-- Of columns with zeros, by the prior of each: those have the same likelihoods.
CREATE TABLE dense AS SELECT nb_fit(spam, r, '{"likelihood": "poisson"}') AS m
  FROM mails, LATERAL (SELECT coalesce((words->>'free')::int, 0) AS free,
    coalesce((words->>'html')::boolean, false) AS html,
    coalesce((words->>'lunch')::int, 0) AS lunch,
    coalesce((words->>'money')::int, 0) AS money) AS r;
SELECT results_eq('SELECT class, column_name, likelihood, value FROM filter, nb_features(m)',
  'SELECT class, column_name, likelihood, value FROM dense, nb_features(m)',
  'what is absent is 0 or false');
SELECT never($$SELECT w, NOT near(nb_probability(f.m, w, true),
    nb_probability(d.m, r, true), 1e-12) AS wrong
  FROM filter AS f, dense AS d, (VALUES ('{"free": 2}'::jsonb, 2, false, 0, 0),
    ('{"html": true, "money": 1, "unheard": 7}', 0, true, 0, 1), ('{}', 0, false, 0, 0))
    AS v(w, free, html, lunch, money), LATERAL (SELECT free, html, lunch, money) AS r$$,
  'also in what is scored');
SELECT near(nb_probability(m, '{"free": null, "html": null, "lunch": null, "money": null}'::jsonb,
  true), 3 / 7.0) FROM filter \gset
SELECT ok(:'near'::boolean, 'a null is no evidence');
SELECT results_eq($$SELECT class, parameter, label, value FROM (SELECT nb_fit(l, o,
    '{"likelihood": {"kg": "normal"}, "prior": {"normal": {"m": 0, "c": 1, "a": 1, "B": 1}}}') AS m
  FROM (VALUES ('a', '{"kg": 2, "from": "CH"}'::jsonb), ('a', '{"from": "FR"}'),
    ('b', '{"kg": -1}')) AS v(l, o)) AS t, nb_features(m) WHERE parameter <> 'sd'$$,
  $$VALUES ('a', 'probability', 'CH', 0.5::float8), ('a', 'probability', 'FR', 0.5),
    ('a', 'mean', NULL, 1), ('b', 'probability', 'CH', 0.5), ('b', 'probability', 'FR', 0.5),
    ('b', 'mean', NULL, -0.5)$$, 'strings and measurements that are absent are not known');
SELECT is((SELECT nb_predict(nb_fit(spam, to_tsvector('simple', words::text)),
  to_tsvector('simple', 'free free lunch')) FROM mails), 't', 'lexemes of a tsvector are counted');

SELECT * FROM finish();
