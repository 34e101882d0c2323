-- Records whose columns have no names, as those of ROW(a, b): they are not matched by position with
-- columns that have names.
SELECT plan(35);
\ir ../lib/errors.sql
SET client_min_messages = error;

CREATE TABLE people AS SELECT 20 + i % 17 AS age, 1000 + 90 * (i % 17) + i % 5 AS income,
  i % 3 = 0 AS member FROM generate_series(1, 60) AS i;
CREATE TYPE person AS (income int, age int);
CREATE TABLE models AS
SELECT gmm_fit(p, 1) AS gmm, bmm_fit(p, 1) AS bmm,
  dpmm_fit(p, '{"draws": 20, "chains": 1}') AS dpmm,
  nb_fit(member, p) AS nb, linreg_fit(o.income + o.age / 2, p) AS linreg,
  logreg_fit(member, p) AS logreg,
  probit_fit(member, p) AS probit,
  (SELECT hmm_fit(s, 1) FROM (SELECT array_agg(q) AS s FROM (SELECT age, income FROM people) AS q)
    AS s) AS hmm
FROM people AS o, LATERAL (SELECT age, income) AS p;

-- ---- scoring ----

SELECT is(complaint(format(statement, 'ROW(income, age)')), '42804 columns of a record have no '
  'names, but those of the model are "age", "income"', statement)
FROM (VALUES ('SELECT gmm_predict(gmm, %s) FROM models, people'),
  ('SELECT bayes_log_density(gmm, %s) FROM models, people'),
  ('SELECT bayes_profile(gmm, %s) FROM models, people'),
  ('SELECT bayes_probabilities(bmm, %s) FROM models, people'),
  ('SELECT bayes_log_density(dpmm, %s) FROM models, people'),
  ('SELECT nb_predict(nb, %s) FROM models, people'),
  ('SELECT p.* FROM models, people, nb_probabilities(nb, %s) AS p'),
  ('SELECT p.* FROM models, people, linreg_predict(linreg, %s) AS p'),
  ('SELECT (bayes_probabilities(logreg, %s))[2] FROM models, people'),
  ('SELECT (bayes_probabilities(probit, %s))[2] FROM models, people'),
  ('SELECT hmm_decode(hmm, %s) OVER () FROM models, people'),
  ('SELECT hmm_filter(hmm, %s) OVER (ORDER BY age) FROM models, people'),
  ('SELECT hmm_surprise(hmm, %s) OVER (ORDER BY age) FROM models, people'),
  ('SELECT hmm_advance(hmm, NULL, %s) FROM models, people'),
  ('SELECT bayes_log_density(hmm, %s) FROM models, people'),
  ('SELECT hmm_log_likelihood(hmm, ARRAY[%s]) FROM models, people')) AS v(statement);
SELECT is(bayes_log_density(gmm, r), bayes_log_density(gmm, ARRAY[30, 1500]), form)
FROM models, (SELECT 1500 AS income, 30 AS age) AS r,
  LATERAL (VALUES ('a row of a subquery')) AS v(form);
SELECT is(bayes_log_density(gmm, ROW(1500, 30)::person), bayes_log_density(gmm, ARRAY[30, 1500]),
  'a type gives names') FROM models;
SELECT is(complaint('SELECT gmm_predict(gmm, ROW(1, 2, 3)) FROM models'), '42804 columns of a '
  'record have no names, but those of the model are "age", "income"', 'however long it is');

-- ---- a fit from a model, and an update ----

SELECT is(complaint(statement), '42804 columns of a record have no names, but those of the model '
  'are "age", "income"', statement)
FROM (VALUES ('SELECT gmm_fit(ROW(income, age), gmm) FROM models, people'),
  ('SELECT gmm_update(ROW(income, age), gmm) FROM models, people'),
  ('SELECT bmm_fit(ROW(income, age), bmm) FROM models, people'),
  ('SELECT nb_update(member, ROW(income, age), nb) FROM models, people'),
  ('SELECT hmm_fit(ARRAY[ROW(income, age)], hmm) FROM models, people')) AS v(statement);

-- ---- rows of one fit ----

SELECT is(complaint(format('SELECT %s FROM (SELECT o.age, true AS member, '
    'CASE WHEN o.age < 25 THEN p ELSE ROW(o.income, o.age) END AS r FROM '
    '(SELECT * FROM people ORDER BY %s) AS o, LATERAL (SELECT age, income) AS p) AS q', fit, way)),
  said, fit || ' by ' || way)
FROM (VALUES ('gmm_fit(r, 1)'), ('linreg_fit(age, r)'), ('logreg_fit(member, r)'),
    ('nb_fit(member, r)')) AS f(fit),
  (VALUES ('age', '42804 columns of a record have no names, but those of the rows before are '
     '"age", "income"'),
    ('age DESC', '42804 columns of a record have names, but those of the rows before have none'))
  AS w(way, said);

-- ---- no names at all, or real ones that look so ----

CREATE TABLE f AS SELECT age AS f1, income AS f2 FROM people;
CREATE TABLE of_f AS SELECT gmm_fit(f, 1) AS named, gmm_fit(ROW(f1, f2), 1) AS nameless FROM f;
SELECT is(bayes_log_density(named, f), bayes_log_density(named, ROW(30, 1500)), 'f1, f2')
FROM of_f, (SELECT 1500 AS f2, 30 AS f1) AS f;
SELECT is(bayes_log_density(nameless, f), bayes_log_density(nameless, ROW(30, 1500)),
  'a model without names takes any') FROM of_f, (SELECT 30 AS age, 1500 AS income) AS f;
SELECT is(bayes_log_density(m, f), bayes_log_density(m, ARRAY[1500]), 'a model of f2 alone')
FROM (SELECT gmm_fit(r, 1) AS m FROM f, LATERAL (SELECT f2) AS r) AS m,
  (SELECT 30 AS f1, 1500 AS f2) AS f;
