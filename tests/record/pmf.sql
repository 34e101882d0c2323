-- Probabilistic matrix factorization: ratings, every prior, ranks of one and several vectors.
CREATE TABLE rating_rows AS
  SELECT 97 * r + c AS id, r, c,
         round((3 + noise(r, 1) * noise(c, 2) * 3 + noise(r, c))::numeric, 1)::float8 AS v
  FROM generate_series(1, 150) AS r, generate_series(1, 80) AS c WHERE noise(r, c, 3) < 0.15;
-- More than 1 MB.
CREATE TABLE many_rating_rows AS
  SELECT 977 * r + c AS id, r, c, noise(r, c) - noise(r) AS v
  FROM generate_series(1, 900) AS r, generate_series(1, 400) AS c WHERE noise(r, c, 3) < 0.15;

INSERT INTO cases (family, name, source, rows, expression)
SELECT 'pmf', format('pmf %s rank %s', option, rank), 'rating_rows', 'rating_rows',
       format('pmf_fit(r, c, v, %s, %L::jsonb)', rank, '{"draws": 8, "chains": 2}' || option)
FROM (VALUES (3, '{}'::jsonb), (3, '{"seed": 7}'), (1, '{}'), (8, '{}'), (17, '{}'),
    (3, '{"means": false}'), (40, '{"prior": {"hierarchical": true}}'),
    (9, '{"means": false, "prior": {"hierarchical": true}}'),
    (4, '{"prior": {"noise_variance": 0.5, "c": 0.3}, "rated": false}'),
    (4, '{"prior": {"noise_variance": {"shape": 2, "rate": 3}, "c": {"shape": 1, "rate": 9}}}'))
  AS v(rank, option)
UNION ALL
SELECT 'pmf', 'pmf spilled', 'many_rating_rows', 'many_rating_rows',
       $$pmf_fit(r, c, v, 10, '{"draws": 4, "stored_draws": 2}')$$;
CALL fit_all();
