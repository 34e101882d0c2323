-- Makes tests/data/stored_ratings.copy and stored_ratings.tsv, as store_models.sql makes its files:
-- probabilistic matrix factorizations with every prior, as the version that runs this stores them,
-- and what they say of a row. Later versions must read them (tests/sql/stored_models.sql), so this
-- is not run again for models of today.
--
--   tests/lib/server run psql -c 'CREATE EXTENSION pg_bayes' -f tests/lib/data.sql \
--     -f tests/lib/store_ratings.sql
\ir store.sql

CREATE TABLE cells AS SELECT r, c, (r * c * c + 3 * r) % 7 + r / 4.0 AS v
FROM generate_series(1, 12) AS r, generate_series(30, 80, 7) AS c WHERE (r + c) % 3 > 0;
INSERT INTO made (name, type, x, model)
SELECT format('pmf gibbs %s', more), 'text', '7',
       (SELECT pmf_fit(r, c, v, 2, '{"draws": 8, "chains": 2, "stored_draws": 2}' || more)
        FROM cells)
FROM (VALUES ('{}'::jsonb), ('{"means": false, "rated": true}'),
  ('{"prior": {"hierarchical": true}}'),
  ('{"prior": {"noise_variance": 0.5, "c": {"shape": 2, "rate": 3}}}')) AS v(more);
-- Keys of other letters, and a row and a column without a number.
INSERT INTO made (name, type, x, model)
SELECT 'pmf gibbs letters', 'text', 'ä',
       (SELECT pmf_fit(r, c, v, 3, '{"draws": 8, "stored_draws": 2}')
        FROM (VALUES ('ä', '日本', 2), ('b"', '', 1.5), ('c', '日本', NULL), ('ä', 'ß', 0))
          AS v(r, c, v));

\copy (SELECT name, model FROM made ORDER BY id) TO 'tests/data/stored_ratings.copy' (FORMAT binary)
\copy (SELECT name, type, x, answers, model FROM said ORDER BY id) TO 'tests/data/stored_ratings.tsv'
