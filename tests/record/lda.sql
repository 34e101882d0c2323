-- Topic models: every method over every kind of documents, and every option.
CREATE TABLE page_rows AS
  SELECT row_number() OVER (ORDER BY page) AS id, words AS x FROM manual WHERE page < 'd';
CREATE TABLE basket_rows AS
  SELECT id, ARRAY(SELECT chr(97 + floor(noise(id, i) * 8)::int + 6 * (id % 3))
                   FROM generate_series(1, 5 + id % 20) AS i ORDER BY i) AS x
  FROM generate_series(1, 300) AS id;
CREATE TABLE weighted_rows AS
  SELECT id, (SELECT jsonb_object_agg(chr(97 + i + 6 * (id % 3)), noise(id, i) * 9)
              FROM generate_series(1, 8) AS i) AS x
  FROM generate_series(1, 100) AS id;
-- More than 1 MB.
CREATE TABLE library_rows AS
  SELECT id, ARRAY(SELECT 't' || floor(noise(id, i) ^ 2 * 400) + 150 * (id % 4)
                   FROM generate_series(1, 60) AS i ORDER BY i) AS x
  FROM generate_series(1, 2500) AS id;

CREATE TABLE lda AS
  SELECT method, kind, kind || '_rows' AS rows, k, format('%s %s', kind, method) AS called,
         method_options('lda', method) || more AS o
  FROM (SELECT method, CASE WHEN method IN ('gibbs', 'collapsed') THEN '{}'::jsonb
               ELSE '{"restarts": 2}' END AS more
        FROM unnest('{vi,em,svi,cvb0,gibbs,collapsed}'::text[]) AS method) AS m,
       (VALUES ('page', 7), ('basket', 3), ('weighted', 3)) AS d(kind, k)
  WHERE kind <> 'weighted' OR more <> '{}';

INSERT INTO cases (family, name, source, rows, expression)
SELECT 'lda', 'lda ' || called, rows, rows, call('lda_fit', k, o) FROM lda
UNION ALL
SELECT 'lda', format('lda %s %s', called, option), rows, rows, call('lda_fit', k, o || option)
FROM lda, (VALUES
    ('{"seed": 7}'::jsonb),
    ('{"prior": {"alpha": 0.2}}'),
    ('{"prior": {"alpha": [0.5, 1, 2]}}'),
    ('{"prior": {"alpha": "symmetric"}}'),
    ('{"min_documents": 20, "max_share": 0.5}'),
    ('{"max_terms": 9}')) AS p(option)
WHERE kind = 'basket'
UNION ALL
SELECT 'lda', format('lda %s %s', called, option), rows, rows, call('lda_fit', k, o || option)
FROM lda, (VALUES
    ('{"prior": {"eta": 0.3}}'::jsonb),
    ('{"prior": {"terms": [{"a": 9, "b": 5}, null, {"s": 4}]}}')) AS p(option)
WHERE kind = 'basket' AND method <> 'em'
UNION ALL
SELECT 'lda', format('lda %s batches', called), rows, rows,
  call('lda_fit', k, o || '{"batch_size": 16, "kappa": 0.6, "t0": 3}')
FROM lda WHERE method = 'svi'
UNION ALL
SELECT 'lda', format('lda %s rows', called), rows || ', unnest(x) AS term', rows,
  format('lda_fit(id, term, 1, %s, %L::jsonb)', k, o)
FROM lda WHERE kind = 'basket'
UNION ALL
SELECT 'lda', format('lda spilled %s', method), 'library_rows', 'library_rows',
  call('lda_fit', 5, o || '{"max_iter": 3, "restarts": 1}')
FROM lda WHERE kind = 'basket' AND method IN ('vi', 'em', 'svi', 'cvb0');
CALL fit_all();

INSERT INTO cases (family, name, source, rows, expression)
SELECT 'lda', format('lda %s start', called), rows, rows,
  format('lda_fit(x, model(%L))', 'lda ' || called)
FROM lda WHERE kind = 'basket' AND method IN ('vi', 'em', 'cvb0')
UNION ALL
SELECT 'lda', format('lda %s update', called), rows, rows,
  format('lda_update(x || ARRAY[''new'', ''a''], model(%L))', 'lda ' || called)
FROM lda WHERE kind = 'basket' AND method IN ('vi', 'svi');
CALL fit_all();
