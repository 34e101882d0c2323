-- Refits: what a start model hands on, numbers that stand, new labels, and components of two models
-- side by side.
SELECT plan(60);
\ir ../lib/checks.sql
\ir ../lib/errors.sql
SET client_min_messages = error;

CREATE TABLE old_rows AS SELECT i AS id, g, 20.0 + 15 * g + i % 7 AS age, g = 1 AS member,
  (ARRAY['basic', 'gold', 'silver'])[1 + (g + i / 4 % 2) % 3] AS plan
  FROM generate_series(1, 240) AS i,
    LATERAL (SELECT (ARRAY[0, 0, 0, 0, 0, 1, 1, 1, 2, 2])[1 + i % 10]) AS v(g);
-- The first group has become the smallest, plan gold is gone, and another one came.
CREATE TABLE new_rows AS SELECT id, age + 1 AS age, member,
  CASE WHEN plan = 'gold' THEN 'trial' ELSE plan END AS plan
  FROM old_rows WHERE g > 0 OR id % 4 = 0;
CREATE TABLE models AS SELECT 'old' AS name, bmm_fit(r, 3, '{"likelihood": {"age": "normal"},
    "missing": "skip", "prior": {"categorical": {"category_alpha": 0.5}}}') AS model
  FROM (SELECT age, member, plan FROM old_rows) AS r;
INSERT INTO models SELECT 'new', bmm_fit(r, (SELECT model FROM models)) FROM new_rows AS r;
INSERT INTO models SELECT 'updated', bmm_update(r, (SELECT model FROM models WHERE name = 'old'))
  FROM new_rows AS r;
INSERT INTO models SELECT 'warm', bmm_fit(r, (SELECT model FROM models WHERE name = 'old'),
  '{"restarts": 5}') FROM new_rows AS r;
CREATE VIEW pairs AS SELECT a.name AS old, b.name AS new, a.model AS old_model,
  b.model AS new_model FROM models AS a, models AS b;

-- ---- labels ----

SELECT results_eq(format($$SELECT label FROM models AS m, bayes_columns(model)
    WHERE m.name = %L AND label IS NOT NULL$$, name),
  $$VALUES ('basic'), ('gold'), ('silver'), ('trial')$$, 'labels of both: ' || name)
FROM models WHERE name <> 'old';
-- What a new label is called does not matter, nor where it stands among the others.
CREATE TABLE called AS SELECT label, bmm_fit(r, (SELECT model FROM models WHERE name = 'old'),
    '{"tol": 1e-9}') AS model
  FROM unnest('{aaa,blue,zzz}'::text[]) AS label, LATERAL (SELECT age, member,
    CASE plan WHEN 'trial' THEN label ELSE plan END AS plan FROM new_rows) AS r
  GROUP BY label;
SELECT never($$SELECT label, c.component, NOT near(c.weight, d.weight) OR NOT near(c.count,
    d.count) AS wrong
  FROM called, bmm_components(model) AS c,
    bmm_components((SELECT model FROM called WHERE label = 'zzz')) AS d
  WHERE c.component = d.component$$, 'components with a label of any name');
SELECT never($$SELECT c.label, p.component, NOT near(p.value, q.value) OR p.value IS NULL AS wrong
  FROM called AS c, bayes_parameters(model) AS p,
    bayes_parameters((SELECT model FROM called WHERE label = 'zzz')) AS q
  WHERE p.component = q.component AND p.element = q.element AND p.parameter = q.parameter
    AND (p.label = q.label OR p.label = c.label AND q.label = 'zzz'
      OR p.label IS NULL AND q.label IS NULL)$$, 'probabilities of labels of any name');
SELECT never($$SELECT m.name, component, abs(sum(value) - 1) > 1e-12 OR min(value) <= 0 AS wrong
  FROM models AS m, bayes_parameters(model) AS p WHERE element = 3 GROUP BY 1, component$$,
  'probabilities of labels');
SELECT ok((SELECT sum(value * weight) FROM models AS m, bayes_parameters(model) AS p,
    bmm_components(model) AS c WHERE m.name = 'new' AND c.component = p.component
    AND label = 'trial') BETWEEN 0.25 AND 0.4, 'a new label gets the share that it has');
SELECT ok((SELECT max(value) FROM models AS m, bayes_parameters(model) AS p
  WHERE m.name = 'new' AND label = 'gold') < 0.05, 'a label that is gone keeps its prior');
SELECT is(new_model::text::bayes_model, new_model, 'as text: ' || new)
  FROM pairs WHERE old = 'old';
-- A growing frame brings a label among the others each time.
SELECT is(count(DISTINCT timeless(model)), 1::bigint, 'aggregates over frames')
FROM (SELECT last_value(f) OVER (ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED
      FOLLOWING) AS model FROM (SELECT i, bmm_fit(r, start) OVER (ORDER BY i) AS f
      FROM (SELECT bmm_fit(p, 1) AS start FROM (SELECT age, plan FROM old_rows) AS p) AS m,
        generate_series(0, 4) AS i, LATERAL (SELECT 20.0 + i AS age,
          (ARRAY['gold', 'zinc', 'base', 'silver', 'ore'])[1 + i] AS plan) AS r) AS g
  UNION ALL
  SELECT bmm_fit(r, start) FROM (SELECT bmm_fit(p, 1) AS start FROM (SELECT age, plan
    FROM old_rows) AS p) AS m, (SELECT 20.0 + i AS age,
      (ARRAY['gold', 'zinc', 'base', 'silver', 'ore'])[1 + i] AS plan
      FROM generate_series(0, 4) AS i) AS r GROUP BY start) AS all_of_them;
-- One component: an update is the fit to all rows at once, labels that came later included.
SELECT never($$SELECT p.label, NOT near(p.value, q.value) AS wrong
  FROM bayes_parameters((SELECT bmm_update(r, (SELECT bmm_fit(r, 1,
      '{"prior": {"category_alpha": 2}}') FROM (SELECT plan FROM old_rows) AS r))
      FROM (SELECT plan FROM new_rows) AS r)) AS p
  JOIN bayes_parameters((SELECT bmm_fit(r, 1, '{"prior": {"category_alpha": 2}}')
    FROM (SELECT plan FROM old_rows UNION ALL SELECT plan FROM new_rows) AS r)) AS q
  USING (label)$$, 'an update with a new label');
-- Symbols of sequences.
CREATE TABLE chains AS SELECT hmm_fit(s, 2, '{"seed": 2}') AS model
  FROM (VALUES ('{a,a,b,a,c,c,c,d,c,c,a,b,a}'::text[])) AS v(s);
SELECT results_eq($$SELECT DISTINCT symbol FROM hmm_emissions((SELECT hmm_fit(s, model)
    FROM chains, (VALUES ('{a,bb,a,c,c,e,c}'::text[])) AS v(s) GROUP BY model))
    ORDER BY 1$$, $$VALUES ('a'), ('b'), ('bb'), ('c'), ('d'), ('e')$$, 'new symbols');
SELECT never($$SELECT state, abs(sum(probability) - 1) > 1e-9 AS wrong FROM hmm_emissions((SELECT
    hmm_update(s, model) FROM chains, (VALUES ('{a,bb,a,c,c,e,c}'::text[])) AS v(s)
    GROUP BY model)) GROUP BY state$$, 'of an update');

-- ---- numbers, and what is handed on ----

SELECT never($$SELECT p.new, m.old, m.old IS DISTINCT FROM m.new AS wrong FROM pairs AS p,
  bayes_match(old_model, new_model) AS m WHERE p.old = 'old'$$, 'numbers stand');
SELECT ok(array_agg(weight ORDER BY component) <> array_agg(weight ORDER BY weight DESC),
  'whatever their weights') FROM models, bmm_components(model) WHERE name = 'new';
SELECT never($$SELECT name, options->>'missing' <> 'skip'
    OR options->'prior'->'categorical'->>'category_alpha' <> '0.5' AS wrong
  FROM models, bayes_info(model) WHERE name IN ('new', 'warm')$$, 'missing and prior');
SELECT is((SELECT count(DISTINCT restart) FROM models, bayes_trace(model) WHERE name = 'warm'),
  5::bigint, 'restarts beside a warm start');
SELECT is(complaint(format($$SELECT bmm_fit(r, (SELECT model FROM models WHERE name = 'old'), %L)
  FROM new_rows AS r$$, options)), said, options)
FROM (VALUES ('{"likelihood": {"age": "normal", "plan": "categorical"}}', 'no error'),
  ('{"likelihood": {"age": "exponential"}}', '22023 option "likelihood" has "exponential" for '
    'column "age", but the start model has "normal"'),
  ('{"likelihood": {"aga": "normal"}}',
    '22023 option "likelihood" names a column "aga", which the rows do not have'),
  ('{"likelihood": ["poisson", "bernoulli", "categorical"]}',
    '22023 option "likelihood" differs from the likelihood of the start model'))
  AS c(options, said);
SELECT is(i.options->'prior'->>'transition', '3.0', 'the prior of a hidden Markov model')
FROM (SELECT hmm_fit(s, hmm) AS m FROM (SELECT s, hmm_fit(s, 2, '{"prior": {"transition": 3}}')
    AS hmm FROM (VALUES ('{a,b,a,a,b,b}'::text[])) AS v(s) GROUP BY s) AS f GROUP BY hmm) AS g,
  bayes_info(m) AS i;
SELECT is(i.options->'prior'->>'alpha', '0.3', 'of a topic model')
FROM (SELECT lda_fit(s, lda) AS m FROM (SELECT s, lda_fit(s, 2, '{"prior": {"alpha": 0.3}}')
    AS lda FROM (VALUES ('{a,b,a,a,b,b}'::text[])) AS v(s) GROUP BY s) AS f GROUP BY lda) AS g,
  bayes_info(m) AS i;
SELECT is((i.options->'prior'->>'a') || ' ' || (i.options->>'absent'), '0.7 missing',
  'of a factorization')
FROM (SELECT nmf_fit(a, b, count, (SELECT nmf_fit(a, b, count, 2, '{"absent": "missing",
    "prior": {"a": 0.7}}') FROM role_conflict)) AS m FROM role_conflict) AS g, bayes_info(m) AS i;

-- ---- bayes_match ----

SELECT never($$SELECT name, m.old, m.old <> m.new OR abs(overlap - 1) > 1e-12 AS wrong
  FROM models, bayes_match(model, model) AS m$$, 'a model and itself');
SELECT never($$SELECT p.old, p.new, NOT near(a.overlap, b.overlap) AS wrong
  FROM pairs AS p, bayes_match(old_model, new_model) AS a, bayes_match(new_model, old_model) AS b
  WHERE a.old = b.new AND a.new = b.old$$, 'either way');
-- Of normals: by the formula.
CREATE TABLE normals AS SELECT gmm_fit(r, 1, '{"method": "em"}') AS one,
  gmm_fit(r, 1, '{"method": "em", "covariance": "diagonal"}') AS other
  FROM (SELECT age, id % 5 AS visits FROM old_rows) AS r;
SELECT ok(near(overlap, sqrt(sqrt(a * b)) / sqrt((a + b) / 2)
  * exp(-power(m - n, 2) / (4 * (a + b)))), 'the formula')
FROM (SELECT gmm_fit(age, 1, '{"method": "em"}') AS f, avg(age) AS m, var_pop(age) AS a
    FROM old_rows) AS o,
  (SELECT gmm_fit(age, 1, '{"method": "em"}') AS g, avg(age) AS n, var_pop(age) AS b
    FROM new_rows) AS p, bayes_match(f, g);
SELECT ok(overlap BETWEEN 0.9 AND 1, 'of different shapes') FROM normals, bayes_match(one, other);
SELECT results_eq($$SELECT old, new, round(overlap::numeric, 9) FROM bayes_match(
  (SELECT gmm_fit(r, 3, '{"seed": 4}') FROM (SELECT age, id % 5 AS visits FROM old_rows) AS r),
  (SELECT gmm_fit(r, 3, '{"seed": 4}') FROM (SELECT age, id % 5 AS visits FROM old_rows) AS r))$$,
  'VALUES (1, 1, 1.0), (2, 2, 1.0), (3, 3, 1.0)', 'three normals');
SELECT never($$SELECT a.old, NOT near(a.overlap, b.overlap) AS wrong
  FROM normals, bayes_match(one, (SELECT gmm_fit(r, 1)
    FROM (SELECT age, id % 5 AS visits FROM new_rows) AS r)) AS a,
  bayes_match(one, (SELECT gmm_fit(r, 1) FROM (SELECT id % 5 AS visits, age
    FROM new_rows) AS r)) AS b WHERE a.old = b.old$$, 'columns in another order');
SELECT results_eq($$SELECT m.old, m.new FROM models, bayes_match(model, (SELECT bmm_fit(r, 2) FROM
    (SELECT plan, member, age FROM old_rows WHERE g > 0) AS r)) AS m WHERE name = 'old'
    AND overlap IS NULL$$, $$SELECT component, NULL::int FROM models, bmm_components(model)
    WHERE name = 'old' ORDER BY abs(probability[1] - 23) LIMIT 1$$,
  'a component without partner');
SELECT ok(count(*) > 1 AND bool_and(overlap > 0.9), 'clusters of a Dirichlet process mixture')
FROM (SELECT dpmm_fit(age, '{"draws": 30, "seed": 2}') AS a,
  dpmm_fit(age, '{"draws": 30, "seed": 3}') AS b FROM old_rows) AS f, bayes_match(a, b);
SELECT ok(w.objective >= greatest(s.objective, f.objective) - 1e-3 AND (SELECT count(DISTINCT
    restart) FROM bayes_trace(warm)) = 4, 'restarts of a hidden Markov model beside a warm start')
FROM (SELECT hmm_fit(x, start, '{"restarts": 4}') AS warm, hmm_fit(x, start) AS alone,
    hmm_fit(x, 3, '{"restarts": 3}') AS fresh
    FROM (SELECT x, hmm_fit(x, 3, '{"max_iter": 1, "restarts": 1, "seed": 5}') AS start
      FROM (SELECT array_agg(waiting ORDER BY id) AS x FROM faithful) AS a GROUP BY x) AS e
    GROUP BY start) AS h,
  bayes_info(warm) AS w, bayes_info(alone) AS s, bayes_info(fresh) AS f;
SELECT is((SELECT array_agg(overlap > 0.99) FROM chains, bayes_match(model, model)), '{t,t}',
  'states');
SELECT is((SELECT count(*) FROM bayes_match(NULL, (SELECT one FROM normals))), 0::bigint, 'NULL');
SELECT is(complaint(statement), said, statement) FROM (VALUES
  ('SELECT bayes_match(one, model) FROM normals, models',
    '42804 the models are of families gmm and bmm'),
  ('SELECT bayes_match(m, m) FROM (SELECT nb_fit(id % 2, age) AS m FROM old_rows) AS f',
    '42804 a model of family nb has no components to match'),
  ('SELECT bayes_match(one, gmm_fit) FROM normals, (SELECT gmm_fit(age, 1) FROM old_rows) AS f',
    '22023 the models have 2 and 1 columns'),
  ('SELECT bayes_match(one, gmm_fit) FROM normals, (SELECT gmm_fit(r, 1) FROM (SELECT age,
    id FROM old_rows) AS r) AS f', '22023 the second model has no column "visits"'),
  ('SELECT bayes_match(model, bmm_fit) FROM models, (SELECT bmm_fit(r, 1, ''{"likelihood":
    {"age": "poisson"}}'') FROM (SELECT age::int, member, plan FROM old_rows) AS r) AS f',
    '22023 column "age" is normal in one model and poisson in the other')) AS c(statement, said);

-- ---- bayes_compare ----

CREATE TABLE moves AS SELECT p.old AS before, p.new AS after, c.*
  FROM pairs AS p, bayes_compare(old_model, new_model) AS c;
SELECT never($$SELECT before, old, difference <> 0 OR distance > 1e-7 OR old <> new AS wrong
  FROM moves WHERE before = after$$, 'nothing between a model and itself');
SELECT never($$SELECT m.name, (SELECT count(*) FROM moves WHERE before = m.name AND after = m.name)
  <> (SELECT count(*) FROM bayes_parameters(model)) AS wrong FROM models AS m$$, 'every parameter');
SELECT never($$SELECT after, old, m.parameter, m.label, o.value IS NULL OR n.value IS NULL
    OR old_value <> o.value OR new_value <> n.value OR difference <> n.value - o.value
    OR NOT near(m.sd, sqrt(o.sd ^ 2 + n.sd ^ 2))
    OR NOT near(change_in_sd, difference / m.sd) AS wrong
  FROM moves AS m, bayes_parameters((SELECT model FROM models WHERE name = before)) AS o,
    bayes_parameters((SELECT model FROM models WHERE name = after)) AS n
  WHERE before = 'old' AND after <> 'old' AND o.component = m.old AND n.component = m.new
    AND (m.parameter, m.element, m.column_name, m.label) IS NOT DISTINCT FROM
      (o.parameter, o.element, o.column_name, o.label)
    AND (o.parameter, o.element, o.label) IS NOT DISTINCT FROM (n.parameter, n.element, n.label)$$,
  'values are those of the parameters');
SELECT results_eq($$SELECT DISTINCT label, parameter, old_value IS NULL, sd IS NULL, new_value > 0
  FROM moves WHERE before = 'old' AND after = 'new' AND (old_value IS NULL OR new_value IS NULL)$$,
  $$VALUES ('trial', 'probability', true, true, true)$$, 'a new label');
SELECT results_eq($$SELECT DISTINCT label, new_value IS NULL FROM moves WHERE before = 'new'
  AND after = 'old' AND (old_value IS NULL OR new_value IS NULL)$$, $$VALUES ('trial', true)$$,
  'one that is gone');
SELECT never($$SELECT m.old, NOT near(distance, sqrt(1 - overlap), 1e-6) AS wrong
  FROM moves AS m, pairs AS p, bayes_match(old_model, new_model) AS b
  WHERE (p.old, p.new) = (before, after) AND b.old = m.old AND p.old <> p.new$$, 'distances');
SELECT ok(bool_and(new_value IS NULL AND sd IS NULL AND distance IS NULL) AND count(*) = 7,
  'a component that is gone')
FROM models, bayes_compare(model, (SELECT bmm_fit(r, 2) FROM
  (SELECT plan, member, age FROM old_rows WHERE g > 0) AS r)) AS c
  WHERE name = 'old' AND new IS NULL;
-- States in another order: transitions are named by the states of the old model.
SELECT never($$SELECT label, NOT near(difference, 0, 1e-2) AS wrong FROM
  (SELECT hmm_fit(x, 2, '{"method": "em", "init": {"means": [50, 85]}}') AS a,
    hmm_fit(x, 2, '{"method": "em", "init": {"means": [85, 50]}}') AS b
    FROM (SELECT array_agg(waiting ORDER BY id) AS x FROM faithful) AS f) AS m, bayes_compare(a, b)
  WHERE parameter IN ('transition', 'mean') AND old <> new$$, 'states in another order');
SELECT results_eq($$SELECT DISTINCT parameter FROM normals, bayes_compare(one, other)
  ORDER BY 1$$, $$VALUES ('mean'), ('sd'), ('weight')$$, 'normals');
SELECT is(complaint('SELECT bayes_compare(one, model) FROM normals, models'),
  '42804 the models are of families gmm and bmm', 'two families');

-- ---- topics and factors ----

-- A model and the refit to the documents of another year: words come and go, numbers change.
CREATE TABLE words AS SELECT 1 AS year, d AS doc, w AS word, 1 + (d * 7 + w) % 3 AS n
  FROM generate_series(1, 60) AS d, generate_series(1, 12) AS w WHERE (w <= 6) = (d <= 40);
INSERT INTO words SELECT 2, d, w + CASE WHEN w = 12 THEN 1 ELSE 0 END, n
  FROM (SELECT 61 - doc AS d, word AS w, n FROM words WHERE doc <> 5) AS t;
CREATE TABLE years AS SELECT year, lda_fit(doc, 'w' || word, n, 2) AS lda,
  nmf_fit(doc, 'w' || word, n::float8, 2) AS nmf FROM words GROUP BY year;
CREATE TABLE refits AS SELECT f.family, f.before, f.after FROM years AS a, years AS b,
  LATERAL (VALUES ('lda', a.lda, b.lda), ('nmf', a.nmf, b.nmf)) AS f(family, before, after)
  WHERE (a.year, b.year) = (1, 2);
CREATE VIEW shares AS
SELECT 'lda' AS family, year, topic AS component, term AS label, probability AS share
FROM years, lda_topics(lda, 100)
UNION ALL SELECT 'nmf', year, factor, key, value / sum(value) OVER (PARTITION BY year, factor)
FROM years, nmf_factors(nmf) WHERE side = 'column';
SELECT never($$SELECT family, old, new, NOT near(overlap, (SELECT sum(sqrt(a.share * b.share))
      FROM shares AS a JOIN shares AS b USING (family, label)
      WHERE a.family = r.family AND (a.year, b.year) = (1, 2) AND a.component = m.old
        AND b.component = m.new)) AS wrong FROM refits AS r, bayes_match(before, after) AS m$$,
  'overlaps of topics and factors');
SELECT results_eq($$SELECT DISTINCT family, count(*) OVER (PARTITION BY family), overlap > 0.8
    FROM refits, bayes_match(before, after) ORDER BY family$$,
  $$VALUES ('lda', 2::bigint, true), ('nmf', 2, true)$$, 'each has found its partner');
SELECT never($$SELECT family, old, NOT near(overlap, 1) OR old <> new AS wrong
  FROM refits, bayes_match(before, before)$$, 'a topic model and itself');
SELECT never($$SELECT c.family, c.label, c.old_value IS DISTINCT FROM a.share AND NOT
      near(c.old_value, a.share) OR c.new_value IS DISTINCT FROM b.share AND NOT
      near(c.new_value, b.share) OR c.sd IS NOT NULL OR c.element IS NOT NULL AS wrong
  FROM (SELECT * FROM refits, bayes_compare(before, after)) AS c
    LEFT JOIN shares AS a ON (a.family, a.year, a.component, a.label) = (c.family, 1, old, c.label)
    LEFT JOIN shares AS b ON (b.family, b.year, b.component, b.label) = (c.family, 2, new, c.label)
  WHERE parameter <> 'weight'$$, 'probabilities of topics side by side');
SELECT results_eq($$SELECT family, parameter, count(*), count(old_value), count(new_value)
    FROM refits, bayes_compare(before, after) GROUP BY 1, 2 ORDER BY 1, 2$$,
  $$VALUES ('lda', 'probability', 26::bigint, 24::bigint, 24::bigint), ('lda', 'weight', 2, 2, 2),
    ('nmf', 'share', 26, 24, 24), ('nmf', 'weight', 2, 2, 2)$$,
  'a word that is new and one that is gone');
SELECT never($$SELECT family, distance IS NULL OR NOT near(distance, sqrt(1 - overlap)) AS wrong
  FROM refits, bayes_match(before, after) AS m JOIN bayes_compare(before, after) AS c
    USING (old, new)$$, 'distances of topics');
SELECT results_eq($$SELECT m.old, m.new FROM years, bayes_match(lda, (SELECT lda_fit(doc,
    'w' || word, n, 1) FROM words WHERE doc <= 40)) AS m WHERE year = 1 AND m.new IS NULL$$,
  $$SELECT topic, NULL::int FROM years, lda_topics(lda, 1) WHERE year = 1
    ORDER BY substr(term, 2)::int DESC LIMIT 1$$, 'a topic that is gone');

SELECT * FROM finish();
