-- Linear regression: every method, arrays of several lengths, weights.
CREATE TABLE linreg_rows AS
  SELECT id, ARRAY[noise(id, 1) * 3 + noise(id, 2), noise(id, 3), noise(id, 4) + 100,
           noise(id, 3) + 0.01 * noise(id, 5)] || ARRAY(SELECT noise(id, j)
             FROM generate_series(6, 18) AS j) AS x
  FROM generate_series(1, 300) AS id;

INSERT INTO cases (family, name, source, rows, expression)
SELECT 'linreg', format('linreg %s', option), 'linreg_rows', 'linreg_rows',
       format('linreg_fit(x[1] + x[2], x[2:], %L::jsonb)', option)
FROM (VALUES ('{}'::jsonb), ('{"noise_variance": 0.5}'), ('{"prior": {"c": 0, "a": 0, "b": 0}}'),
    ('{"method": "em"}'), ('{"method": "laplace"}'), ('{"method": "vi"}'),
    ('{"method": "vi", "ard": true}'), ('{"method": "gibbs", "draws": 20, "chains": 2}'),
    ('{"method": "gibbs", "draws": 20, "chains": 2, "ard": true, "intercept": false}'))
  AS v(option)
UNION ALL
SELECT 'linreg', 'linreg weighted', 'linreg_rows', 'linreg_rows',
       'linreg_fit(x[1], x[2:], NULL, 0.5 + id % 3)';
CALL fit_all();
