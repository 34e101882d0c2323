-- Generalized linear models: arrays and records with labels, every method, weights, more terms
-- than sums have lanes for.
CREATE TYPE regression_row AS (a float8, b float8, label text, flag boolean);
CREATE TABLE regression_rows AS
  SELECT i AS id, noise(i, 1) + noise(i, 2) > noise(i, 3) AS y,
         ARRAY[noise(i, 1), 100 + noise(i, 2), i % 4, 0] AS x,
         ARRAY(SELECT noise(i, j) FROM generate_series(1, 70) AS j) AS wide,
         ROW(noise(i, 1), noise(i, 2) * 1e6, chr(97 + i % 5), i % 3 = 0)::regression_row AS r,
         (1 + i % 7)::float8 AS w
  FROM generate_series(1, 3000) AS i;
INSERT INTO cases (family, name, source, rows, expression)
SELECT family, format('%s %s %s', family, x, option), 'regression_rows', 'regression_rows',
       format('%s_fit(y, %s, %L::jsonb)', family, x, option)
FROM (VALUES ('logreg', '{}'::jsonb), ('logreg', '{"prior": {"c": 100}, "intercept": false}'),
    ('probit', '{}'), ('probit', '{"method": "em", "max_iter": 50}'),
    ('probit', '{"method": "vi"}'),
    ('probit', '{"method": "gibbs", "draws": 12, "chains": 2}')) AS v(family, option),
  unnest('{x,wide,r}'::text[]) AS x
UNION ALL
SELECT family, family || ' weights', 'regression_rows', 'regression_rows',
       family || $$_fit(y, r, '{}'::jsonb, w)$$
FROM unnest('{logreg,probit}'::text[]) AS family
UNION ALL
SELECT 'glm', format('glm %s', options), 'regression_rows', 'regression_rows',
       format('glm_fit(1 + (y::int + id) %% 3, x, %L::jsonb, w)', options)
FROM (VALUES ('{"response": "poisson"}'), ('{"response": "binomial", "trials": 3}'),
    ('{"response": "binomial", "trials": 3, "link": "probit"}'),
    ('{"response": "negative_binomial", "offset": "x1"}'), ('{"response": "gamma"}'),
    ('{"response": "exponential"}'), ('{"response": "normal"}'), ('{"response": "student_t"}'),
    ('{"response": "student_t", "df": "learned"}'),
    ('{"response": "poisson", "terms": ["x1*x2", "x3:x3"]}'),
    ('{"response": "gamma", "method": "slice", "draws": 12, "chains": 2}')) AS v(options)
UNION ALL
SELECT 'glm of labels', format('glm %s', options), 'regression_rows', 'regression_rows',
       format('glm_fit((y::int + id) %% 3, x, %L::jsonb, w)', options)
FROM (VALUES ('{"response": "ordinal"}'), ('{"response": "ordinal", "link": "probit"}'),
    ('{"response": "categorical"}'),
    ('{"response": "categorical", "method": "slice", "draws": 12, "chains": 2}')) AS v(options);
CALL fit_all();
