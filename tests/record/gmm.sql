-- Gaussian mixtures: every method with every covariance, and every option.
CREATE TABLE shapes AS SELECT shape FROM unnest('{full,diagonal,spherical,tied}'::text[]) AS shape;
CREATE TABLE gmm AS
  SELECT method, sampler, shape, method || ' ' || shape AS called,
         CASE method WHEN 'kmeans' THEN o ELSE o || jsonb_build_object('covariance', shape) END AS o
  FROM methods, shapes
  WHERE family = 'gmm' AND (method <> 'kmeans' OR shape = 'full')
    AND (method <> 'collapsed' OR shape <> 'tied');

INSERT INTO cases (family, name, source, rows, expression)
SELECT 'gmm', 'gmm iris ' || called, 'iris_rows', 'iris_rows', call('gmm_fit', 3, o) FROM gmm
UNION ALL
SELECT 'gmm', format('gmm faithful %s seed 7%s', called, ' ' || init),
  'faithful_rows', 'faithful_rows',
  call('gmm_fit', 2, o || jsonb_strip_nulls(jsonb_build_object('seed', 7, 'init', init)))
FROM gmm, LATERAL (SELECT CASE WHEN sampler THEN NULL WHEN shape IN ('full', 'tied') THEN 'random'
                          ELSE 'kmeans++' END AS init) AS i
UNION ALL
SELECT 'gmm', 'gmm weights ' || called, 'iris_rows', 'iris_rows', call('gmm_fit', 2, o, 'w')
FROM gmm WHERE NOT sampler
UNION ALL
SELECT 'gmm', 'gmm fractions ' || called, 'faithful_rows', 'faithful_rows',
  call('gmm_fit', 2, o, 'w')
FROM gmm WHERE NOT sampler AND shape = 'full'
UNION ALL
SELECT 'gmm', 'gmm missing ' || called, 'iris_rows', 'three_rows',
  format('gmm_fit(gap, 2, %L::jsonb)', o || '{"missing": "skip"}')
FROM gmm WHERE shape = 'full'
UNION ALL
SELECT 'gmm', 'gmm marginalize ' || called, 'iris_rows', 'three_rows',
  format('gmm_fit(gap, 2, %L::jsonb)', o || '{"missing": "marginalize"}')
FROM gmm
UNION ALL
SELECT 'gmm', 'gmm scaled kmeans ' || missing, 'iris_rows', 'three_rows',
  format('gmm_fit(gap, 2, %L::jsonb)', o || jsonb_build_object('scale', true, 'missing', missing))
FROM gmm, unnest('{skip,marginalize}'::text[]) AS missing WHERE method = 'kmeans'
UNION ALL
SELECT 'gmm', 'gmm prior ' || called, 'iris_rows', 'iris_rows',
  call('gmm_fit', 3, o || jsonb_build_object('prior',
    '{"alpha": 1.5, "m": [5, 3, 4, 1], "c": 0.1, "a": 7}'::jsonb || CASE shape
      WHEN 'full'
      THEN '{"B": [[1, 0.1, 0, 0], [0.1, 1, 0, 0], [0, 0, 2, 0.5], [0, 0, 0.5, 1]]}'::jsonb
      WHEN 'diagonal' THEN '{"B": [1, 2, 3, 4]}'
      ELSE '{"B": 0.7}' END))
FROM gmm WHERE method IN ('map', 'vi', 'svi', 'gibbs', 'collapsed')
UNION ALL
SELECT 'gmm', format('gmm independent %s %s', called, number), 'faithful_rows', 'faithful_rows',
  call('gmm_fit', 2, o || jsonb_build_object('prior', prior || '{"type": "independent"}'))
FROM gmm, (VALUES (1, '{}'::jsonb), (2, '{"C": 50, "alpha": 0.5}'),
                  (3, '{"m": [3, 70], "C": [[4, 1], [1, 90]], "B": 2, "a": 6}')) AS p(number, prior)
WHERE method IN ('vi', 'svi') AND shape = 'full'
UNION ALL
SELECT 'gmm', 'gmm means ' || called, 'faithful_rows', 'faithful_rows',
  call('gmm_fit', 2, o - 'restarts' || '{"init": [[2, 50], [4.5, 80]]}')
FROM gmm WHERE NOT sampler AND shape IN ('full', 'diagonal')
UNION ALL
SELECT 'gmm', 'gmm one component ' || called, 'iris_rows', 'iris_rows', call('gmm_fit', 1, o)
FROM gmm
UNION ALL
SELECT 'gmm', 'gmm one column ' || called, 'galaxy_rows', 'galaxy_rows', call('gmm_fit', 4, o)
FROM gmm WHERE shape IN ('full', 'spherical')
UNION ALL
SELECT 'gmm', 'gmm singular ' || called, 'singular_rows', 'singular_rows', call('gmm_fit', 2, o)
FROM gmm
UNION ALL
SELECT 'gmm', 'gmm one row ' || called, '(SELECT ARRAY[1.5, -2] AS x) AS r', 'faithful_rows',
  call('gmm_fit', 1, o)
FROM gmm WHERE shape = 'full'
UNION ALL
SELECT 'gmm', 'gmm digits ' || called, 'digit_rows', 'digit_rows',
  call('gmm_fit', 3, o || CASE WHEN sampler THEN '{"draws": 4}'
                          ELSE '{"restarts": 1, "max_iter": 4}'::jsonb END)
FROM gmm
UNION ALL
SELECT 'gmm', 'gmm many ' || called, 'many_rows', 'many_rows',
  call('gmm_fit', 4, o || CASE WHEN sampler THEN '{"draws": 4}'
                          ELSE '{"restarts": 2, "max_iter": 5}'::jsonb END)
FROM gmm
UNION ALL
SELECT 'gmm', 'gmm many weights ' || called, 'many_rows', 'many_rows',
  call('gmm_fit', 3, o || '{"restarts": 2, "max_iter": 5}', 'w')
FROM gmm WHERE NOT sampler AND shape = 'full'
UNION ALL
SELECT 'gmm', 'gmm spilled ' || called, 'wide_rows', 'wide_rows',
  call('gmm_fit', 2, o || CASE WHEN sampler THEN '{"draws": 2}'
                          ELSE '{"restarts": 2, "max_iter": 3}'::jsonb END)
FROM gmm WHERE shape = 'full' AND method <> 'collapsed' OR called = 'vi diagonal'
UNION ALL
SELECT 'gmm', format('gmm iterations %s %s', called, n), 'iris_rows', 'iris_rows',
  call('gmm_fit', 2, o || jsonb_build_object('max_iter', n))
FROM gmm, unnest('{1,300}'::int[]) AS n
WHERE NOT sampler AND shape = 'full' AND method <> 'mcem'
UNION ALL
SELECT 'gmm', format('gmm option %s %s', method, option), 'iris_rows', 'iris_rows',
  call('gmm_fit', 2, o || option)
FROM gmm JOIN (VALUES
    ('em', '{"covariance_floor": 0.05}'::jsonb),
    ('em', '{"tol": 1e-2}'),
    ('mcem', '{"samples": 2, "covariance_floor": 0.1}'),
    ('svi', '{"batch_size": 20, "kappa": 0.6, "t0": 3}'),
    ('svi', '{"batch_size": 150, "kappa": 0}'),
    ('gibbs', '{"warmup": 3, "thin": 2, "chains": 3}'),
    ('collapsed', '{"warmup": 0, "chains": 1, "seed": 99}'),
    ('vi', '{"max_seconds": 3600, "on_error": "null"}'),
    ('kmeans', '{"init": "kmeans++", "tol": 0}')) AS p(method, option) USING (method)
WHERE shape = 'full'
UNION ALL
SELECT 'gmm', 'gmm impossible', 'galaxy_rows', 'galaxy_rows',
  call('gmm_fit', 100, '{"on_error": "null"}');
CALL fit_all();

-- Fits from fits.
INSERT INTO cases (family, name, source, rows, expression)
SELECT 'gmm', format('gmm from %s by %s', start, called), 'iris_rows', 'iris_rows',
  format('gmm_fit(x, model(%L), %L::jsonb)', 'gmm iris ' || start,
         o - 'restarts' || '{"max_iter": 10}')
FROM gmm, unnest(ARRAY['vi full', 'em full', 'em diagonal', 'map tied', 'gibbs spherical',
                       'kmeans full']) AS start
WHERE NOT sampler AND split_part(start, ' ', 2) = shape
UNION ALL
SELECT 'gmm', 'gmm beside ' || start, 'iris_rows', 'iris_rows',
  format('gmm_fit(x, model(%L), ''{"restarts": 3}'')', 'gmm iris ' || start)
FROM unnest('{vi diagonal,em spherical,map full}'::text[]) AS start
UNION ALL
SELECT 'gmm', 'gmm from ' || start, 'iris_rows', 'iris_rows',
  format('gmm_fit(x, model(%L))', 'gmm iris ' || start)
FROM unnest('{vi diagonal,em spherical,map full,svi tied}'::text[]) AS start
UNION ALL
SELECT 'gmm', 'gmm update of ' || prior, 'iris_rows', 'iris_rows',
  format('gmm_update(x, model(%L), %L::jsonb, w)', 'gmm ' || prior, '{"max_iter": 20}')
FROM unnest(ARRAY['iris vi full', 'iris svi diagonal', 'iris vi spherical', 'iris vi tied',
                  'prior vi full']) AS prior
UNION ALL
SELECT 'gmm', format('gmm update of %s by %s', prior, method), 'faithful_rows', 'faithful_rows',
  format('gmm_update(x, model(%L), %L::jsonb)', 'gmm ' || prior, o - 'restarts')
FROM methods, unnest('{independent vi full 2,independent svi full 1}'::text[]) AS prior
WHERE family = 'gmm' AND method IN ('vi', 'svi');
CALL fit_all();
