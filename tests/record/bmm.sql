-- Mixtures of products: every method with every likelihood, and every option.
CREATE TABLE bmm AS
  SELECT kind, method, sampler, kind || '_rows' AS rows, format('%s %s', kind, method) AS called,
         o || jsonb_build_object('likelihood', likelihood) AS o
  FROM methods, columns WHERE family = 'bmm';

INSERT INTO cases (family, name, source, rows, expression)
SELECT 'bmm', 'bmm ' || called, rows, rows, call('bmm_fit', 2, o) FROM bmm
UNION ALL
SELECT 'bmm', format('bmm %s seed 7%s', called, ' ' || init), rows, rows,
  call('bmm_fit', 3, o || jsonb_strip_nulls(jsonb_build_object('seed', 7, 'init', init)))
FROM bmm, LATERAL (SELECT CASE WHEN sampler THEN NULL WHEN method IN ('em', 'svi') THEN 'random'
                          ELSE 'kmeans++' END AS init) AS i
UNION ALL
SELECT 'bmm', format('bmm %s weights', called), rows, rows, call('bmm_fit', 2, o, '1 + id % 3')
FROM bmm WHERE NOT sampler
UNION ALL
SELECT 'bmm', format('bmm %s %s', called, missing),
  format('(SELECT ARRAY(SELECT CASE WHEN (id * 7 + i) %% 5 > 0 THEN v END
                        FROM unnest(x) WITH ORDINALITY AS u(v, i) ORDER BY i) AS x
           FROM %s) AS gaps', rows),
  rows, call('bmm_fit', 2, o || jsonb_build_object('missing', missing))
FROM bmm, unnest('{skip,marginalize}'::text[]) AS missing
WHERE missing = 'marginalize' OR method IN ('em', 'vi', 'collapsed')
UNION ALL
SELECT 'bmm', format('bmm %s prior', called), rows, rows,
  call('bmm_fit', 2, o || jsonb_build_object('prior', CASE kind
    WHEN 'bernoulli' THEN '{"alpha": 2, "a": 1.5, "b": [1, 2, 3, 1, 2, 3]}'::jsonb
    WHEN 'poisson' THEN '{"alpha": 1.2, "shape": [2, 3, 4], "rate": 2}'
    WHEN 'exponential' THEN '{"shape": 4, "rate": [3, 5]}'
    WHEN 'categorical' THEN '{"category_alpha": 1.5}'
    WHEN 'normals' THEN '{"normal": {"m": [25, 130, 3], "c": 0.1, "a": 4, "B": [20, 800, 0.5]}}'
    ELSE '{"alpha": 1.1, "poisson": {"shape": 2}, "normal": {"c": 1}, "bernoulli": {"a": 2}}'
    END))
FROM bmm WHERE method NOT IN ('em', 'mcem')
UNION ALL
SELECT 'bmm', format('bmm %s one component', called), rows, rows, call('bmm_fit', 1, o)
FROM bmm WHERE kind = 'mixed'
UNION ALL
SELECT 'bmm', format('bmm %s minimum', called), rows, rows,
  call('bmm_fit', 2, o || '{"minimum": 0.05}')
FROM bmm WHERE method IN ('em', 'mcem')
UNION ALL
SELECT 'bmm', format('bmm %s categories', called), rows, rows,
  call('bmm_fit', 2, o || '{"categories": 6}')
FROM bmm WHERE kind = 'categorical'
UNION ALL
SELECT 'bmm', format('bmm many %s', method), 'many_products', 'many_products',
  call('bmm_fit', 3, o || '{"likelihood": ["poisson", "normal", "bernoulli"]}'
    || CASE WHEN sampler THEN '{"draws": 4}' ELSE '{"restarts": 2, "max_iter": 5}'::jsonb END)
FROM bmm WHERE kind = 'mixed'
UNION ALL
SELECT 'bmm', 'bmm booleans ' || method, '(SELECT x::int[]::bool[] AS x FROM bernoulli_rows) AS b',
  'bernoulli_rows', call('bmm_fit', 2, o - 'likelihood')
FROM bmm WHERE kind = 'bernoulli';
CALL fit_all();

-- Fits from fits.
INSERT INTO cases (family, name, source, rows, expression)
SELECT 'bmm', format('bmm %s from vi', called), rows, rows,
  format('bmm_fit(x, model(%L), %L::jsonb)', format('bmm %s vi', kind),
         o - 'restarts' - 'likelihood' || '{"max_iter": 10}')
FROM bmm WHERE NOT sampler
UNION ALL
SELECT 'bmm', format('bmm %s beside vi', called), rows, rows,
  format('bmm_fit(x, model(%L), %L::jsonb)', format('bmm %s vi', kind),
         o - 'likelihood' || '{"max_iter": 10, "restarts": 3}')
FROM bmm WHERE NOT sampler
UNION ALL
SELECT 'bmm', format('bmm %s update', called), rows, rows,
  format('bmm_update(x, model(%L))', 'bmm ' || called)
FROM bmm WHERE method IN ('vi', 'svi');
CALL fit_all();
