-- Makes tests/data/stored_binary.copy and stored_binary.tsv, as store_models.sql makes its files:
-- logistic and probit regressions by every method, as the version that runs this stores them, and
-- what they say of a row. Later versions must read them (tests/sql/stored_models.sql), so this is
-- not run again for models of today.
--
--   tests/lib/server run psql -c 'CREATE EXTENSION pg_bayes' -f tests/lib/data.sql \
--     -f tests/lib/store_binary.sql
\ir store.sql

INSERT INTO made (name, type, x, model)
SELECT format('logreg laplace %s', more), 'float8[]', '{5.1,3.1}',
  logreg_fit(species = 'virginica', x[1:2], more)
FROM iris, (VALUES ('{}'::jsonb), ('{"prior": {"c": 3}, "intercept": false}')) AS v(more)
GROUP BY more;
INSERT INTO made (name, type, x, model)
SELECT format('probit %s %s', method, more), 'float8[]', '{5.1,3.1}',
  probit_fit(species = 'virginica', x[1:2], jsonb_build_object('method', method) || more)
FROM iris, (VALUES ('laplace', '{}'::jsonb), ('em', '{}'), ('vi', '{}'),
  ('gibbs', '{"draws": 20, "chains": 2}')) AS v(method, more)
GROUP BY method, more;
INSERT INTO made (name, type, x, model)
SELECT 'logreg laplace labels', 'record_of_iris', '(virginica,1.3,t,2.6,5)',
  logreg_fit(petal_length > 4.5, r, '{"reference": {"species": "versicolor"}}')
FROM (SELECT iris.petal_length, r FROM iris, LATERAL (SELECT species, petal_width,
  id % 2 = 0 AS even, 2 * petal_width AS twice, 5 AS five) AS r) AS rows;

\copy (SELECT name, model FROM made ORDER BY id) TO 'tests/data/stored_binary.copy' (FORMAT binary)
\copy (SELECT name, type, x, answers, model FROM said ORDER BY id) TO 'tests/data/stored_binary.tsv'
