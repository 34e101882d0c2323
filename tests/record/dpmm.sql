-- Dirichlet process mixtures: every method with every likelihood and estimate, and every option.
CREATE TABLE dpmm AS
  SELECT method, method = 'vi' AS variational, kind, rows, format('%s %s', kind, method) AS called,
         o || p AS o
  FROM methods, (
    SELECT 'normal ' || shape, 'faithful_rows', jsonb_build_object('covariance', shape)
    FROM shapes WHERE shape <> 'tied'
    UNION ALL
    SELECT kind, kind || '_rows', jsonb_build_object('likelihood', likelihood) FROM columns)
    AS k(kind, rows, p)
  WHERE family = 'dpmm';

-- Draws depend on the order of the rows.
CREATE FUNCTION call(options jsonb) RETURNS text IMMUTABLE
  RETURN format('dpmm_fit(x, %L::jsonb ORDER BY id)', options);

INSERT INTO cases (family, name, source, rows, expression)
SELECT 'dpmm', 'dpmm ' || called, rows, rows, call(o) FROM dpmm
UNION ALL
SELECT 'dpmm', format('dpmm %s fixed concentration', called), rows, rows,
  call(o || '{"concentration": 1.7, "seed": 5}')
FROM dpmm
UNION ALL
SELECT 'dpmm', format('dpmm %s %s', called, option), rows, rows, call(o || option)
FROM dpmm, (VALUES
    ('{"estimate": "binder"}'::jsonb),
    ('{"estimate": "bipartition", "level": 0.8}'),
    ('{"estimate": "map"}'),
    ('{"init": "one", "concentration": {"shape": 1, "rate": 1}}'),
    ('{"warmup": 4, "thin": 3, "chains": 3}')) AS p(option)
WHERE NOT variational AND kind IN ('normal full', 'normal diagonal', 'mixed')
UNION ALL
SELECT 'dpmm', format('dpmm %s truncation', called), rows, rows,
  call(o || '{"truncation": 6, "concentration": {"shape": 3, "rate": 2}}')
FROM dpmm WHERE variational
UNION ALL
SELECT 'dpmm', format('dpmm %s prior', called), rows, rows,
  call(o || '{"prior": {"m": [3, 70], "c": 0.05, "a": 5, "B": 3}}')
FROM dpmm WHERE kind LIKE 'normal %'
UNION ALL
SELECT 'dpmm', format('dpmm galaxies %s', called), 'galaxy_rows', 'galaxy_rows', call(o)
FROM dpmm WHERE kind IN ('normal full', 'normals')
UNION ALL
SELECT 'dpmm', format('dpmm four columns %s', called), 'iris_rows', 'iris_rows', call(o)
FROM dpmm WHERE kind LIKE 'normal %'
UNION ALL
SELECT 'dpmm', format('dpmm digits %s', called), 'digit_rows', 'digit_rows',
  call(o || CASE WHEN variational THEN '{"restarts": 1, "max_iter": 4, "truncation": 5}'
            ELSE '{"draws": 4}'::jsonb END)
FROM dpmm WHERE kind LIKE 'normal %'
UNION ALL
SELECT 'dpmm', format('dpmm %s %s', CASE missing WHEN 'skip' THEN 'missing' ELSE missing END,
    called), 'iris_rows', 'three_rows',
  format('dpmm_fit(gap, %L::jsonb ORDER BY id)', o || jsonb_build_object('missing', missing))
FROM dpmm, unnest('{skip,marginalize}'::text[]) AS missing WHERE kind = 'normal full'
UNION ALL
SELECT 'dpmm', format('dpmm many %s', called), 'many_rows', 'many_rows',
  call(o || CASE WHEN variational THEN '{"restarts": 2, "max_iter": 4, "truncation": 5}'
            ELSE '{"draws": 4}'::jsonb END)
FROM dpmm WHERE kind IN ('normal full', 'normals')
UNION ALL
SELECT 'dpmm', format('dpmm spilled %s', called), 'wide_rows', 'wide_rows',
  call(o || CASE WHEN variational THEN '{"restarts": 2, "max_iter": 2, "truncation": 4}'
            ELSE '{"draws": 2}'::jsonb END)
FROM dpmm WHERE kind = 'normal diagonal' AND method IN ('slice', 'vi');
CALL fit_all();
