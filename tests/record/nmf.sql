-- Non-negative factorizations: every method over cells and arrays, and every option.
CREATE TABLE drawn_rows AS SELECT id, x FROM digits WHERE id <= 300;
CREATE TABLE sale_rows AS
  SELECT r, c, floor(noise(r, c, 3) * 5) AS v, row_number() OVER (ORDER BY r, c) AS id,
         ARRAY[r, c]::float8[] AS x
  FROM generate_series(1, 80) AS r, generate_series(1, 25) AS c
  WHERE noise(r, c) < 0.1 + 0.5 * ((r + c) % 3 = 0)::int;
-- More than 1 MB.
CREATE TABLE market_rows AS
  SELECT id, floor(noise(id, 1) ^ 2 * 3000)::int AS r, floor(noise(id, 2) * 800)::int AS c,
         1 + noise(id, 3) AS v
  FROM generate_series(1, 100000) AS id;

CREATE TABLE nmf AS
  SELECT method, jsonb_build_object('method', method, 'restarts', 2, 'max_iter', 25) AS o
  FROM unnest('{vi,em,squared}'::text[]) AS method;

INSERT INTO cases (family, name, source, rows, expression)
SELECT 'nmf', format('nmf digits %s', method), 'drawn_rows', 'drawn_rows',
  format('nmf_fit(x, 7, %L::jsonb ORDER BY id)', o)
FROM nmf
UNION ALL
SELECT 'nmf', format('nmf sales %s %s', method, option), 'sale_rows', 'sale_rows',
  format('nmf_fit(r, c, v, 3, %L::jsonb)', o || option::jsonb)
FROM nmf, unnest(ARRAY['{}', '{"seed": 7}', '{"init": "random"}']) AS option
UNION ALL
SELECT 'nmf', format('nmf sales %s %s', method, option), 'sale_rows', 'sale_rows',
  format('nmf_fit(r, c, v, 3, %L::jsonb)', o || option::jsonb)
FROM nmf, unnest(ARRAY['{"absent": "missing"}']) AS option WHERE method <> 'squared'
UNION ALL
SELECT 'nmf', format('nmf sales %s %s', method, option), 'sale_rows', 'sale_rows',
  format('nmf_fit(r, c, v, 3, %L::jsonb)', o || option::jsonb)
FROM nmf, unnest(ARRAY['{"prior": {"a": "learned", "b": "learned", "c": "learned"}}',
  '{"prior": {"a": 1, "b": 2, "c": 0.5, "d": 3}}', '{"hierarchical": true}',
  '{"hierarchical": true, "prior": {"h": 0.5}, "absent": "missing"}']) AS option
WHERE method = 'vi'
UNION ALL
SELECT 'nmf', format('nmf spilled %s', method), 'market_rows', 'market_rows',
  format('nmf_fit(r, c, v, 5, %L::jsonb)', o || '{"max_iter": 3, "restarts": 1}')
FROM nmf
UNION ALL
SELECT 'nmf', format('nmf sales svi %s', option), 'sale_rows', 'sale_rows',
  format('nmf_fit(r, c, v, 3, %L::jsonb)', '{"method": "svi", "max_iter": 25}'::jsonb
    || option::jsonb)
FROM unnest(ARRAY['{}', '{"batch_size": 15, "restarts": 2}', '{"batch_size": 15, "init": "random"}',
  '{"batch_size": 15, "prior": {"a": "learned", "b": "learned", "c": "learned"}}']) AS option
UNION ALL
SELECT 'nmf', 'nmf spilled svi', 'market_rows', 'market_rows',
  'nmf_fit(r, c, v, 5, ''{"method": "svi", "batch_size": 300, "max_iter": 12}''::jsonb)';
CALL fit_all();

INSERT INTO cases (family, name, source, rows, expression)
SELECT 'nmf', format('nmf start %s', method), 'sale_rows', 'sale_rows',
  format('nmf_fit(r, c, v + c %% 3, model(%L))', format('nmf sales %s {}', method))
FROM nmf;
CALL fit_all();
