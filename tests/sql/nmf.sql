-- Non-negative factorizations: every function of a fitted model, against what defines it.
SELECT plan(64);
\ir ../lib/checks.sql
\ir ../lib/errors.sql
SET client_min_messages = error;

-- Two kinds of customers, who buy two kinds of things, and some who buy both.
CREATE TABLE sales AS
SELECT 'c' || id AS customer, item, sum(amount) AS amount
FROM (SELECT id, CASE WHEN id % 3 = 0 OR id % 3 = 2 AND i % 2 = 0 THEN 'fruit ' ELSE 'tool ' END
        || (id * i + i * i / 3 + id / 5) % 5 AS item, 1 + i % 3 AS amount
      FROM generate_series(1, 60) AS id, generate_series(1, 8 + id % 5) AS i) AS bought
GROUP BY id, item;
CREATE TABLE models AS
SELECT way, nmf_fit(customer, item, amount, 2, jsonb_build_object('method', way, 'tol', 1e-9,
  'max_iter', 100000)) AS model
FROM sales, unnest('{vi,em,squared}'::text[]) AS way GROUP BY way;
CREATE TABLE given AS SELECT model FROM models WHERE way = 'vi';
CREATE TABLE expected AS SELECT way, customer, item, mean, variance
FROM models, (SELECT DISTINCT customer FROM sales) AS c, (SELECT DISTINCT item FROM sales) AS i,
  nmf_predict(model, customer, item);
-- All cells, those of zeros too.
CREATE VIEW cells AS SELECT way, customer, item, coalesce(amount, 0)::float8 AS x, mean, variance
FROM expected LEFT JOIN sales USING (customer, item);

-- ---- the models ----

SELECT is((SELECT string_agg(DISTINCT kinds, ' | ') FROM (SELECT way, string_agg(kind, ' '
    ORDER BY kind) AS kinds FROM (SELECT way, factor, string_agg(DISTINCT split_part(key, ' ', 1),
      '+') AS kind
      FROM (SELECT *, max(value) OVER (PARTITION BY way, factor) AS most FROM models,
            nmf_factors(model) WHERE side = 'column') AS f WHERE value > most / 4
      GROUP BY way, factor) AS t GROUP BY way) AS m),
  'fruit tool', 'every method finds both kinds');
SELECT same_rows('SELECT way, (family, method, rows, skipped, dimension, components, converged)
    FROM models, bayes_info(model) ORDER BY way',
  $$SELECT way, ('nmf'::text, way, (SELECT count(*) FROM sales), 0::bigint, 10, 2, true)
    FROM models ORDER BY way$$, 'what is known of every model');
SELECT never('SELECT m.way, NOT (model::text::bayes_model = model
  AND model::jsonb::bayes_model = model) AS wrong FROM models AS m',
  'text and jsonb are read back to the same bytes');
SELECT never($$SELECT m.way, timeless(model, 'given_prior') <> timeless(again, 'given_prior')
    AS wrong FROM models AS m,
    LATERAL (SELECT nmf_fit(customer, item, amount, 2, i.options) AS again
    FROM sales, bayes_info(model) AS i) AS f$$, 'the options in force give the same model again');
SELECT never('SELECT way, iteration, objective < lag(objective, 1,
    objective) OVER (PARTITION BY way,
    restart ORDER BY iteration) - 1e-9 * abs(objective) AS wrong FROM models, bayes_trace(model)',
  'objectives never decrease');

-- ---- weights, predictions ----

SELECT same_rows('SELECT way, side, count(*), count(DISTINCT key), min(factor), max(factor),
    count(shape) FROM models, nmf_factors(model) GROUP BY way, side ORDER BY way, side DESC',
  $$SELECT way, side, 2 * keys, keys, 1, 2, CASE way WHEN 'vi' THEN 2 * keys ELSE 0 END
    FROM models, (VALUES ('row', 60::bigint), ('column', 10)) AS v(side, keys)
    ORDER BY way, side DESC$$, 'a weight for every key and factor');
SELECT never('SELECT key, factor, NOT near(value, shape / rate) OR shape <= 0 AS wrong FROM given,
  nmf_factors(model)', 'of vi the mean of a gamma distribution');
SELECT never('SELECT way, key, factor, value < 0 AS wrong FROM models, nmf_factors(model)',
  'weights are not negative');
SELECT never($$SELECT e.way, customer, item, NOT near(mean, products) AS wrong
  FROM expected AS e JOIN (SELECT way, r.key AS customer, c.key AS item,
      sum(r.value * c.value) AS products
    FROM models, nmf_factors(model) AS r, nmf_factors(model) AS c
    WHERE r.side = 'row' AND c.side = 'column' AND r.factor = c.factor GROUP BY 1, 2, 3) AS p
    USING (way, customer, item)$$, 'a cell is the sum of products');
SELECT never($$SELECT customer, item, NOT near(variance, mean + of_mean) AS wrong
  FROM expected AS e JOIN (SELECT r.key AS customer, c.key AS item,
      sum(r.shape * (r.shape + 1) / r.rate ^ 2 * c.shape * (c.shape + 1) / c.rate ^ 2
        - (r.value * c.value) ^ 2) AS of_mean
    FROM given, nmf_factors(model) AS r, nmf_factors(model) AS c
    WHERE r.side = 'row' AND c.side = 'column' AND r.factor = c.factor GROUP BY 1, 2) AS p
    USING (customer, item) WHERE way = 'vi'$$, 'the variance is that of Poisson and of the mean');
SELECT never($$SELECT way, variance IS DISTINCT FROM CASE way WHEN 'em' THEN mean END AS wrong
  FROM expected WHERE way <> 'vi'$$, 'without a posterior that of Poisson alone, or none');
SELECT never($$SELECT customer, NOT near(sum(mean), sum(x), 1e-4) AS wrong FROM cells
  WHERE way = 'em' GROUP BY customer$$, 'maximum likelihood has the sums of rows');
SELECT never($$SELECT item, NOT near(sum(mean), sum(x), 1e-4) AS wrong FROM cells
  WHERE way = 'em' GROUP BY item$$, 'and of columns');
SELECT never($$SELECT r, c, NOT near(mean, r_sum * c_sum / total) AS wrong
  FROM (SELECT nmf_fit(customer, item, amount, 1, '{"method": "em", "tol": 0, "max_iter": 9}')
          AS model, sum(amount)::float8 AS total FROM sales) AS f,
    (SELECT customer AS r, sum(amount)::float8 AS r_sum FROM sales GROUP BY 1) AS rows,
    (SELECT item AS c, sum(amount)::float8 AS c_sum FROM sales GROUP BY 1) AS columns,
    nmf_predict(model, r, c)$$, 'one factor is the product of the margins');

-- ---- order and scale, errors ----

CREATE VIEW shares AS SELECT way, component AS factor, value AS share
FROM models, bayes_parameters(model) WHERE parameter = 'weight';
SELECT never('SELECT way, abs(sum(share) - 1) > 1e-12 OR array_agg(share ORDER BY factor)
    <> array_agg(share ORDER BY share DESC) OR array_agg(factor) <> ARRAY[1, 2] AS wrong
  FROM shares GROUP BY way', 'shares, the largest first');
SELECT never($$SELECT way, factor, NOT near(share, part / sum(part) OVER (PARTITION BY way))
    AS wrong
  FROM (SELECT way, factor, sum(value) FILTER (WHERE side = 'row')
      * sum(value) FILTER (WHERE side = 'column') AS part
    FROM models, nmf_factors(model) GROUP BY way, factor) AS p
  JOIN shares USING (way, factor)$$,
  'of the expected sum');
SELECT never($$SELECT way, factor, NOT near(sum(value), 1) AS wrong FROM models, nmf_factors(model)
  WHERE way <> 'vi' AND side = 'column' GROUP BY way, factor$$, 'points of columns sum to 1');
SELECT never('SELECT way, NOT near(squared, (SELECT sum((x - mean) ^ 2) FROM cells
    WHERE cells.way = models.way)) AS wrong FROM models, nmf_error(model)', 'squared errors');
SELECT never($$SELECT way, NOT near(divergence, d) OR NOT near(explained, 1 - d / d0) AS wrong
  FROM models, nmf_error(model), LATERAL (SELECT
      sum(CASE WHEN x > 0 THEN x * ln(x / mean) ELSE 0 END - x + mean) AS d,
      sum(CASE WHEN x > 0 THEN x * ln(x / average) ELSE 0 END - x + average) AS d0
    FROM (SELECT *, avg(x) OVER () AS average FROM cells WHERE cells.way = models.way) AS c) AS e
  WHERE way <> 'squared'$$, 'divergence, and how much of it is explained');
SELECT never($$SELECT way, NOT near(objective, log_likelihood) OR NOT near(objective,
    (SELECT sum(CASE WHEN x > 0 THEN x * ln(mean) ELSE 0 END - mean
       - (SELECT coalesce(sum(ln(i)), 0) FROM generate_series(1, x::int) AS i)) FROM cells
     WHERE way = 'em')) AS wrong FROM models, bayes_info(model) WHERE way = 'em'$$,
  'the objective of em is the log-likelihood');
SELECT never($$SELECT way, NOT near(objective, -squared) AS wrong FROM models, bayes_info(model),
  nmf_error(model) WHERE way = 'squared'$$, 'that of squared minus the sum of squares');
SELECT never($$SELECT a.way, a.squared < b.squared AND b.way = 'squared' OR a.divergence
    < b.divergence AND b.way = 'em' AS wrong
  FROM (SELECT way, e.* FROM models, nmf_error(model) AS e) AS a,
    (SELECT way, e.* FROM models, nmf_error(model) AS e) AS b WHERE a.way <> b.way$$,
  'each method is best at what it minimises');

-- ---- keys that a model does not know ----

SELECT is((p.mean, p.variance), (q.mean, q.variance), 'of any type')
FROM given, nmf_predict(model, 'nobody', 'nothing') AS p, nmf_predict(model, 17, now()) AS q;
SELECT ok(near(mean, 2 * m) AND near(variance, 2 * m + 2 * (((1 + a) * (1 + c) / (a * c) - 1)
    * m ^ 2)), 'two of them: the prior')
FROM given, nmf_predict(model, 'nobody', 'nothing'), bayes_info(model) AS i,
  jsonb_to_record(i.options->'prior') AS p(a float8, b float8, c float8, d float8),
  LATERAL (SELECT a / b * c / d AS m) AS n;
SELECT ok(near(mean, (SELECT sum(a / b * value) FROM nmf_factors(model) WHERE key = 'tool 1')),
  'a new customer: the prior''s, and the item''s weights')
FROM given, nmf_predict(model, 'nobody', 'tool 1'), bayes_info(model) AS i,
  jsonb_to_record(i.options->'prior') AS p(a float8, b float8);
SELECT never($$SELECT way, NOT near(mean, (SELECT avg(e.mean) FROM expected AS e
    WHERE e.way = models.way AND item = 'tool 1')) AS wrong
  FROM models, nmf_predict(model, 'nobody', 'tool 1') WHERE way <> 'vi'$$,
  'of points the mean of the others');
SELECT is((SELECT count(*) FROM given, nmf_predict(model, NULL::text, 'tool 1')), 0::bigint,
  'without a key there is no row');
SELECT never($$SELECT h, NOT near(mean, m) OR variance IS NOT NULL AS wrong
  FROM unnest(ARRAY[0.5, 1, 2]) AS h, LATERAL (SELECT nmf_fit(customer, item, amount, 2,
      jsonb_build_object('hierarchical', true, 'prior', json_build_object('h', h))) AS model
    FROM sales) AS f, nmf_predict(model, 'nobody', 'tool 1'),
    bayes_info(model) AS i, jsonb_to_record(i.options->'prior') AS p(a float8, b float8),
    LATERAL (SELECT CASE WHEN h <= 1 THEN 'Infinity' ELSE sum(a / b * value) * h / (h - 1) END AS m
      FROM nmf_factors(model) WHERE key = 'tool 1') AS e$$,
  'of a hierarchical prior, moments that do not exist');

-- ---- rows not seen ----

SELECT never($$SELECT way, customer, NOT near(nmf_transform(model, cells), weights, 1e-3) AS wrong
  FROM models, (SELECT customer, jsonb_object_agg(item, amount) AS cells FROM sales
    GROUP BY 1) AS c,
    LATERAL (SELECT array_agg(value ORDER BY factor) AS weights FROM nmf_factors(model)
      WHERE side = 'row' AND key = customer) AS w$$, 'rows of the fit have the weights of the fit');
SELECT never($$SELECT customer, NOT near(nmf_transform_sd(model, cells), deviations, 1e-3) AS wrong
  FROM given, (SELECT customer, jsonb_object_agg(item, amount) AS cells FROM sales GROUP BY 1) AS c,
    LATERAL (SELECT array_agg(sqrt(shape) / rate ORDER BY factor) AS deviations
      FROM nmf_factors(model) WHERE side = 'row' AND key = customer) AS w$$,
  'and standard deviations');
SELECT never($$SELECT way, item, NOT near(nmf_transform(model, cells, 'column'), weights, 1e-3)
    OR (way = 'vi' AND NOT near(nmf_transform_sd(model, cells, 'column'), deviations, 1e-3))
    AS wrong
  FROM models, (SELECT item, jsonb_object_agg(customer, amount) AS cells FROM sales
    GROUP BY 1) AS c,
    LATERAL (SELECT array_agg(value ORDER BY factor) AS weights,
        array_agg(sqrt(shape) / rate ORDER BY factor) AS deviations
      FROM nmf_factors(model) WHERE side = 'column' AND key = item) AS w$$,
  'so have columns, given rows');
SELECT never($$SELECT way, nmf_transform(model, cells, 'row') <> nmf_transform(model, cells)
    AS wrong FROM models, (VALUES ('{"tool 1": 2}'::jsonb)) AS v(cells)$$, 'rows are the default');
SELECT never($$SELECT way, nmf_transform(model, '{"tool 1": 2, "unheard": 5,
    "fruit 1": null}'::jsonb)
    <> nmf_transform(model, '{"tool 1": 2, "fruit 2": 0}'::jsonb) AS wrong FROM models$$,
  'unknown columns, NULLs and zeros are no evidence');
SELECT never($$SELECT way, nmf_transform(model, '{}'::jsonb) <> '{0,0}' AS wrong FROM models
  WHERE way <> 'vi'$$, 'nothing has no weights');
SELECT ok(near(nmf_transform(model, '{}'::jsonb), (SELECT array_agg(a / (b + sum) ORDER BY factor)
    FROM (SELECT factor, sum(value) FROM nmf_factors(model) WHERE side = 'column' GROUP BY 1)
    AS s)),
  'by vi those of the prior and of zeros')
FROM given, bayes_info(model) AS i, jsonb_to_record(i.options->'prior') AS p(a float8, b float8);
SELECT never($$SELECT id, nmf_transform(model, x) <> nmf_transform(model, cells) AS wrong
  FROM (SELECT nmf_fit(x, 2, '{"max_iter": 20}') AS model FROM digits WHERE id <= 60) AS f,
    (SELECT id, x, jsonb_object_agg(i, v) AS cells FROM digits, unnest(x) WITH ORDINALITY AS u(v, i)
     WHERE id BETWEEN 100 AND 110 GROUP BY id) AS d$$, 'arrays as objects');
SELECT never($$SELECT nmf_transform(model, column_cells, 'column')
    <> nmf_transform(model, object, 'column') AS wrong
  FROM (SELECT nmf_fit(x, 2, '{"max_iter": 20}' ORDER BY id) AS model FROM digits WHERE id <= 60)
    AS f, (SELECT array_agg(label::float8 ORDER BY id) AS column_cells,
      jsonb_object_agg(id, label) AS object FROM digits WHERE id <= 60) AS d$$,
  'of columns too: an element for each row');
SELECT is(nmf_transform(model, '{1,NULL,2}'::float8[]), nmf_transform(model, '{1,0,2}'::float8[]),
  'a NULL element is no evidence') FROM (SELECT nmf_fit(ARRAY[i, 1, 3], 2) AS model
  FROM generate_series(1, 5) AS i) AS f;

-- ---- beginning with a model ----

SELECT never($$SELECT way, NOT near(i.objective, j.objective, 1e-6) OR j.iterations > i.iterations
    AS wrong FROM (SELECT way, model, (SELECT nmf_fit(customer, item, amount, model) FROM sales)
      AS again FROM models) AS f, bayes_info(model) AS i, bayes_info(again) AS j$$,
  'a fit that begins at its end is at its end');
SELECT same_rows($$SELECT way, factor, string_agg(DISTINCT split_part(key, ' ', 1), ' ')
  FROM (SELECT way, f.*, max(value) OVER (PARTITION BY way, factor) AS most FROM (SELECT way,
    (SELECT nmf_fit(customer, item, amount * CASE WHEN item LIKE 'tool %' THEN 9 ELSE 1 END, model)
     FROM sales) AS again FROM models WHERE way <> 'squared') AS m, nmf_factors(again) AS f
     WHERE side = 'column') AS s
  WHERE value > most / 3 GROUP BY way, factor ORDER BY way, factor$$,
  $$SELECT way, factor, string_agg(DISTINCT split_part(key, ' ', 1), ' ') FROM (SELECT way, f.*,
    max(value) OVER (PARTITION BY way, factor) AS most FROM models, nmf_factors(model) AS f
    WHERE side = 'column' AND way <> 'squared') AS s WHERE value > most / 3 GROUP BY way,
    factor ORDER BY way, factor$$,
  'factors keep their numbers, whatever their shares become');
SELECT never($$SELECT way, restarts, worse, restarts <> 3 OR worse > 0 OR turned > 0 AS wrong
  FROM (SELECT way, (SELECT count(DISTINCT restart) FROM bayes_trace(m)) AS restarts,
    (SELECT count(*) FROM bayes_trace(m) AS t WHERE t.objective > i.objective + 1e-6) AS worse,
    (SELECT count(*) FROM nmf_factors(m) AS a JOIN nmf_factors(model) AS b USING (side, key, factor)
     WHERE a.value > 2 * b.value + 1) AS turned FROM (SELECT way, model,
      (SELECT nmf_fit(customer, item, amount, model, '{"restarts": 3}') FROM sales) AS m
      FROM models) AS f, bayes_info(m) AS i) AS s$$,
  'fresh restarts beside it: the best counts, by the numbers of the start');
SELECT is((i.components, i.dimension, i.method), (2, 11, 'em'::text),
  'new rows and columns join, and the method stays')
FROM (SELECT nmf_fit(c, i, n, model) AS m FROM models, LATERAL (SELECT customer AS c, item AS i,
  amount AS n FROM sales UNION ALL SELECT 'new', 'fruit 9', 4) AS s WHERE way = 'em' GROUP BY way)
  AS f, bayes_info(m) AS i;

-- ---- cells that are missing ----

CREATE TABLE part AS SELECT customer, item, x FROM cells WHERE way = 'em' AND md5(customer || item)
  < 'b';
CREATE TABLE missing AS SELECT way, nmf_fit(customer, item, x, 2, jsonb_build_object('method', way,
  'absent', 'missing', 'tol', 1e-8)) AS model FROM part, unnest('{vi,em}'::text[]) AS way
    GROUP BY way;
SELECT never('SELECT way, NOT near(squared, (SELECT sum((x - mean) ^ 2) FROM part,
    nmf_predict(model, customer, item))) AS wrong FROM missing, nmf_error(model)',
  'errors are those of the cells that are given, zeros too');
SELECT never('SELECT way, rows <> (SELECT count(*) FROM part) AS wrong FROM missing,
  bayes_info(model)', 'which are counted');
SELECT never($$SELECT way, nmf_transform(model, '{"tool 1": 2}'::jsonb)
    = nmf_transform(model, '{"tool 1": 2, "tool 2": 0}'::jsonb) OR nmf_transform(model,
      '{"tool 1": 2}'::jsonb) <> nmf_transform(model, '{"tool 1": 2, "tool 2": null}'::jsonb)
      AS wrong
  FROM missing$$, 'of a row not seen a 0 is a number, a NULL is none');
SELECT never($$SELECT way, NOT near(nmf_transform(model, given), weights, 1e-3) AS wrong
  FROM missing, (SELECT customer, jsonb_object_agg(item, x) AS given FROM part GROUP BY 1) AS c,
    LATERAL (SELECT array_agg(value ORDER BY factor) AS weights FROM nmf_factors(model)
      WHERE side = 'row' AND key = customer) AS w WHERE way = 'vi'$$,
  'rows of the fit have its weights');

-- ---- how many factors ----

SELECT results_eq($$SELECT count(*), count(best), bool_and(log_likelihood = '-Infinity')
  FROM nmf_select('SELECT r, ''c'' || (r * j) % 6, 1 + j FROM generate_series(1, 40) AS r,
      generate_series(1, 3) AS j
      UNION ALL SELECT r, ''own '' || r, 2 FROM generate_series(1, 40) AS r',
    '{3,1,2}', '{"method": "em"}')$$,
  $$VALUES (3::bigint, 0::bigint, true)$$,
  'fits to which the rows left out are impossible: none is best');
CREATE TABLE tried AS SELECT * FROM nmf_select('SELECT * FROM sales', '{1,2,4}', '{"tol": 1e-6,
  "models": true}');
SELECT is((SELECT k FROM tried ORDER BY log_likelihood DESC LIMIT 1), 2, 'as many as there are');
SELECT never($$SELECT k, (SELECT count(DISTINCT key) FROM nmf_factors(model) WHERE side = 'row')
    <> 54 OR (SELECT count(DISTINCT key) FROM nmf_factors(model) WHERE side = 'column') <> 10
    OR components <> k OR i.objective <> tried.objective OR cells NOT BETWEEN 6 AND 54 AS wrong
  FROM tried, bayes_info(model) AS i$$, 'models of nine tenths of the rows');
SELECT same_rows($$SELECT k, log_likelihood, cells, objective FROM nmf_select('SELECT item,
    customer, amount FROM sales ORDER BY random()', '{1,2,4}', '{"tol": 1e-6}')$$,
  'SELECT k, log_likelihood, cells, objective FROM tried', 'of columns, if there are more');

-- ---- minibatches ----

CREATE VIEW moved AS SELECT item AS customer, customer AS item, amount FROM sales;
CREATE TABLE steps AS SELECT nmf_fit(customer, item, amount, 2, o) AS model, o FROM sales,
  (VALUES ('{"method": "svi", "batch_size": 20, "max_iter": 400, "tol": 0}'::jsonb)) AS v(o)
    GROUP BY o;
SELECT is((i.method, i.iterations, i.dimension, i.components), ('svi'::text, 400, 10, 2),
  'what is known of them') FROM steps, bayes_info(model) AS i;
SELECT is((SELECT count(*) FROM steps, bayes_trace(model)), 401::bigint,
  'estimates of the bound, and the bound');
SELECT ok(j.objective BETWEEN i.objective - 0.01 * abs(i.objective) AND i.objective,
  'the bound is close to that of vi')
FROM given, bayes_info(given.model) AS i, steps, bayes_info(steps.model) AS j;
SELECT never('SELECT key, factor, NOT near(value, shape / rate) OR shape <= 0 AS wrong FROM steps,
  nmf_factors(model)', 'weights have gamma distributions');
SELECT never($$SELECT customer, item, NOT near(p.mean, e.mean, 0.2) AS wrong FROM steps,
    expected AS e, nmf_predict(model, customer, item) AS p WHERE way = 'vi' AND e.mean > 0.5$$,
  'cells are expected to be what vi expects');
SELECT never($$SELECT customer, NOT near(nmf_transform(model, cells), weights, 1e-2) AS wrong
  FROM steps, (SELECT customer, jsonb_object_agg(item, amount) AS cells FROM sales GROUP BY 1) AS c,
    LATERAL (SELECT array_agg(value ORDER BY factor) AS weights FROM nmf_factors(model)
      WHERE side = 'row' AND key = customer) AS w$$, 'rows of the fit have the weights of the fit');
SELECT never($$SELECT o, timeless(model, 'given_prior') <> timeless(again, 'given_prior') AS wrong
  FROM steps, bayes_info(model) AS i, LATERAL (SELECT nmf_fit(customer, item, amount, 2, i.options
    ORDER BY random()) AS again FROM sales) AS f$$, 'the same again, whatever the order of cells');
SELECT same_rows($$SELECT CASE side WHEN 'row' THEN 'column' ELSE 'row' END, key, factor, value,
    shape, rate FROM (SELECT nmf_fit(customer, item, amount, 2, o) AS model FROM moved,
      (SELECT o FROM steps) AS s) AS f, nmf_factors(model) ORDER BY 1, 2, 3$$,
  'SELECT f.* FROM steps, nmf_factors(model) AS f ORDER BY 1, 2, 3',
  'the transposed table has the transposed factors');
SELECT is((SELECT array_agg(key) FROM (SELECT key FROM steps, nmf_factors(model)
    WHERE side = 'row' AND factor = 1) AS k), (SELECT array_agg(key) FROM (SELECT key FROM given,
    nmf_factors(model) WHERE side = 'row' AND factor = 1) AS k), 'keys are in order');

-- ---- groups, failures ----

SELECT same_rows('SELECT customer > ''c3'', timeless(nmf_fit(customer, item, amount, 2))
    FROM sales GROUP BY 1 ORDER BY 1',
  'SELECT b, (SELECT timeless(nmf_fit(customer, item, amount, 2)) FROM sales
    WHERE (customer > ''c3'') = b) FROM (VALUES (false), (true)) AS v(b)',
    'a model for each group');
-- ---- starts ----

CREATE TABLE starts AS SELECT restarts, nmf_fit(x, 6, o ORDER BY id) AS model FROM digits,
  (VALUES (NULL, '{}'::jsonb), (1, '{"restarts": 1}')) AS v(restarts, o)
WHERE id <= 300 GROUP BY restarts, o;
SELECT ok(a.objective > b.objective + 100 AND (a.options->'restarts')::int = 20,
  'by default a cheap table has many starts, the best of which is far better than the first')
FROM starts AS m, bayes_info(m.model) AS a, starts AS n, bayes_info(n.model) AS b
WHERE m.restarts IS NULL AND n.restarts = 1;
SELECT is((count(*) FILTER (WHERE steps > 101), count(*) FILTER (WHERE steps BETWEEN 50 AND 101)),
  (1::bigint, 9::bigint), 'one of them goes on, and of the others nine are kept')
FROM (SELECT count(*) AS steps FROM starts, bayes_trace(model) WHERE restarts IS NULL
      GROUP BY restart) AS t;
SELECT is(nmf_fit(customer, item, 0, 2, '{"on_error": "null"}'), NULL, 'on_error = null')
FROM sales;
SELECT is(complaint('SELECT nmf_factors(gmm_fit(x, 1)) FROM faithful'),
  '42804 model is of family gmm, expected nmf', 'a model of another family');

SELECT * FROM finish();
