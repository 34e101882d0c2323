-- Rows of many widths and steps of many states, which end within vectors, tiles and blocks of every
-- size: what rounds differently at another instruction set level shows here.
CREATE PROCEDURE width_rows(d int) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TABLE width_%s_rows AS
    SELECT id, ARRAY(SELECT noise(id, j) * (1 + j %% 3) + (id * j) %% 3
                     FROM generate_series(1, %s) AS j ORDER BY j) AS x
    FROM generate_series(1, 203) AS id', d, d);
  EXECUTE format('CREATE TABLE product_%s_rows AS
    SELECT id, ARRAY(SELECT CASE j %% 5 WHEN 0 THEN noise(id, j) + id %% 3
                                        WHEN 1 THEN floor(noise(id, j) * (2 + id %% 5))
                                        WHEN 2 THEN (noise(id, j) < 0.2 + 0.3 * (id %% 3))::int
                                        WHEN 3 THEN noise(id, j) * (1 + id %% 2) + 0.1
                                        ELSE floor(noise(id, j) * 4) END::float8
                     FROM generate_series(1, %s) AS j ORDER BY j) AS x
    FROM generate_series(1, 203) AS id', d, d);
END $$;
CREATE TABLE widths AS SELECT d FROM unnest('{1,2,3,5,8,17,70}'::int[]) AS d;
DO $$ BEGIN FOR i IN 1..7 LOOP CALL width_rows(('{1,2,3,5,8,17,70}'::int[])[i]); END LOOP; END $$;
CREATE FUNCTION product_of(d int) RETURNS jsonb RETURN
  (SELECT jsonb_build_object('likelihood', jsonb_agg((ARRAY['normal', 'poisson', 'bernoulli',
            'exponential', 'categorical'])[1 + j % 5] ORDER BY j))
   FROM generate_series(1, d) AS j);

INSERT INTO cases (family, name, source, rows, expression)
SELECT 'gmm', format('gmm %s columns %s', d, called), format('width_%s_rows', d),
  format('width_%s_rows', d), call('gmm_fit', 3, o || CASE WHEN sampler THEN '{"draws": 10}'
                                                       ELSE '{"restarts": 2}'::jsonb END)
FROM gmm, widths
UNION ALL
SELECT 'bmm', format('bmm %s columns %s', d, method), format('product_%s_rows', d),
  format('product_%s_rows', d), call('bmm_fit', 3, o || product_of(d))
FROM methods, widths WHERE family = 'bmm'
UNION ALL
SELECT 'dpmm', format('dpmm %s columns %s', d, called), format('width_%s_rows', d),
  format('width_%s_rows', d), call(o || CASE WHEN variational THEN '{"truncation": 12}'
                                        ELSE '{"draws": 10}'::jsonb END)
FROM dpmm, widths WHERE kind IN ('normal full', 'normal diagonal', 'normal spherical')
UNION ALL
SELECT 'dpmm', format('dpmm %s columns products %s', d, method), format('product_%s_rows', d),
  format('product_%s_rows', d), call(o || product_of(d))
FROM methods, widths WHERE family = 'dpmm'
UNION ALL
SELECT 'hmm', format('hmm %s states %s', states, called), rows, rows,
  sequence_call(states, o || '{"max_iter": 6, "restarts": 1}')
FROM hmm, unnest('{3,4,5,8,9,13,17,33}'::int[]) AS s(states)
WHERE kind IN ('numbers', 'whole numbers', 'diagonal') AND method <> 'gibbs';
CALL fit_all();
