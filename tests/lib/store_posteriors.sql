-- Makes tests/data/stored_posteriors.copy and stored_posteriors.tsv, as store_models.sql makes its
-- files: conjugate models with every prior, as the version that runs this stores them, and what
-- they say of a row. Later versions must read them (tests/sql/stored_models.sql), so this is not
-- run again for models of today.
--
--   tests/lib/server run psql -c 'CREATE EXTENSION pg_bayes' -f tests/lib/data.sql \
--     -f tests/lib/store_posteriors.sql
\ir store.sql

CREATE TABLE seen AS SELECT i % 3 = 0 AS success, (i * 7 % 5)::bigint AS count,
  1e6 + 1.0 / i AS x, (ARRAY['a', 'ä', 'NaN', ''])[1 + i % 4] AS label, 0.1 * i AS weight
FROM generate_series(1, 40) AS i;
INSERT INTO made (name, type, x, model)
SELECT 'beta_bernoulli given', 'boolean', 'true',
  beta_bernoulli_fit(success, '{"prior": {"a": 0.5, "b": 3}}') FROM seen
UNION ALL SELECT 'beta_bernoulli', 'boolean', 'false', beta_bernoulli_fit(success) FROM seen
UNION ALL SELECT 'beta_bernoulli weighted', 'boolean', 'false',
  beta_bernoulli_fit(success, NULL, weight) FROM seen
UNION ALL SELECT 'gamma_poisson', 'bigint', '3', gamma_poisson_fit(count) FROM seen
UNION ALL SELECT 'gamma_poisson exposed', 'bigint', '0',
  gamma_poisson_fit(count, '{"prior": {"a": 2, "b": 0.25}}', weight) FROM seen
UNION ALL SELECT 'gamma_poisson one', 'bigint', '7', gamma_poisson_fit(1)
UNION ALL SELECT 'normal_inverse_gamma', 'float8', '1000000.5',
  normal_inverse_gamma_fit(x) FROM seen
UNION ALL SELECT 'normal_inverse_gamma proper', 'float8', '0',
  normal_inverse_gamma_fit(x, '{"prior": {"m": 1, "c": 2, "a": 3, "b": 4}}', weight) FROM seen
UNION ALL SELECT 'normal_inverse_gamma one', 'float8', '0', normal_inverse_gamma_fit(7)
UNION ALL SELECT 'dirichlet_categorical', 'text', 'a', dirichlet_categorical_fit(label) FROM seen
UNION ALL SELECT 'dirichlet_categorical given', 'text', 'never',
  dirichlet_categorical_fit(label, '{"prior": {"alpha": {"never": 2, "a": 0.5}}}', weight)
FROM seen;

\copy (SELECT name, model FROM made ORDER BY id) TO 'tests/data/stored_posteriors.copy' (FORMAT binary)
\copy (SELECT name, type, x, answers, model FROM said ORDER BY id) TO 'tests/data/stored_posteriors.tsv'
