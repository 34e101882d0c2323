-- Hidden Markov models: every method with every kind of emission, and every option.
CREATE TABLE letters_rows AS
  SELECT id, (string_to_array(letters, NULL))[1:50 * id] AS x
  FROM (SELECT regexp_replace(lower(body), '[^a-z]+', '_', 'g') AS letters,
               (row_number() OVER (ORDER BY page COLLATE "C"))::int AS id FROM tutorial) AS t
  WHERE id <= 6;
CREATE TABLE short_rows AS
  SELECT id, (SELECT array_agg(substr('abcab', 1 + (id * i * i + i / 3) % 5, 1) ORDER BY i)
              FROM generate_series(1, 2 + id % 9) AS i) AS x
  FROM generate_series(1, 60) AS id;
CREATE TABLE gaps_rows AS
  SELECT id, ARRAY(SELECT CASE WHEN (id + i) % 3 > 0 THEN s END
                   FROM unnest(x) WITH ORDINALITY AS u(s, i) ORDER BY i) AS x
  FROM short_rows;
CREATE TABLE days AS
  SELECT t / 60 AS id, array_agg(waiting ORDER BY t) AS waiting,
    array_agg(round(waiting / 10)::int ORDER BY t) AS tens,
    array_agg(duration > 3 ORDER BY t) AS long,
    array_agg(ARRAY[waiting, duration] ORDER BY t) AS duo,
    array_agg(ARRAY[waiting, (duration > 3)::int, round(duration)] ORDER BY t) AS mixed,
    array_agg(CASE WHEN t % 11 > 0 THEN waiting END ORDER BY t) AS holes,
    array_agg(ARRAY[waiting, CASE WHEN t % 5 > 0 THEN duration END] ORDER BY t) AS duo_holes
  FROM geyser GROUP BY 1;
CREATE TABLE waiting_rows AS SELECT id, waiting AS x FROM days;
CREATE TABLE tens_rows AS SELECT id, tens AS x FROM days;
CREATE TABLE long_rows AS SELECT id, long AS x FROM days;
CREATE TABLE duo_rows AS SELECT id, duo AS x FROM days;
CREATE TABLE mixture_rows AS SELECT id, mixed AS x FROM days;
CREATE TABLE holes_rows AS SELECT id, holes AS x FROM days;
CREATE TABLE duo_holes_rows AS SELECT id, duo_holes AS x FROM days;
CREATE TABLE long_sequence_rows AS
  SELECT 1 AS id, array_agg(noise(i) + (i / 40) % 2 ORDER BY i) AS x
  FROM generate_series(1, 9000) AS i;

CREATE TABLE sequences (kind text PRIMARY KEY, k int, rows text, o jsonb);
INSERT INTO sequences VALUES
  ('letters', 2, 'letters_rows', '{}'),
  ('symbols', 3, 'short_rows', '{}'),
  ('symbols with gaps', 2, 'gaps_rows', '{}'),
  ('whole numbers', 2, 'tens_rows', '{}'),
  ('counts', 2, 'tens_rows', '{"emission": "poisson"}'),
  ('numbers', 2, 'waiting_rows', '{}'),
  ('numbers with gaps', 2, 'holes_rows', '{}'),
  ('waits', 2, 'waiting_rows', '{"emission": "exponential"}'),
  ('booleans', 2, 'long_rows', '{}'),
  ('full', 3, 'duo_rows', '{}'),
  ('diagonal', 3, 'duo_rows', '{"covariance": "diagonal"}'),
  ('spherical', 2, 'duo_rows', '{"covariance": "spherical"}'),
  ('tied', 3, 'duo_rows', '{"covariance": "tied"}'),
  ('vectors with gaps', 2, 'duo_holes_rows', '{}'),
  ('normals with gaps', 2, 'duo_holes_rows', '{"emission": ["normal"]}'),
  ('mixed', 2, 'mixture_rows',
   '{"emission": ["normal", "bernoulli", "categorical"], "categories": [0, 0, 7]}'),
  ('long sequence', 2, 'long_sequence_rows', '{}'),
  ('many states', 9, 'tens_rows', '{"emission": "poisson"}');
CREATE TABLE hmm AS
  SELECT kind, k, rows, method, format('%s %s', kind, method) AS called, m.o || s.o AS o
  FROM methods AS m, sequences AS s WHERE family = 'hmm';

-- Sums over sequences are rounded in the order in which these come.
CREATE FUNCTION sequence_call(k int, options jsonb, more text DEFAULT '') RETURNS text IMMUTABLE
  RETURN format('hmm_fit(x, %s, %L::jsonb%s ORDER BY id)', k, options, more);

INSERT INTO cases (family, name, source, rows, expression)
SELECT 'hmm', 'hmm ' || called, rows, rows, sequence_call(k, o || CASE
    WHEN kind <> 'long sequence' THEN '{}'
    WHEN method = 'gibbs' THEN '{"draws": 6}'
    ELSE '{"max_iter": 4}'::jsonb END)
FROM hmm
UNION ALL
SELECT 'hmm', format('hmm %s seed 7', called), rows, rows, sequence_call(k, o || '{"seed": 7}')
FROM hmm WHERE kind IN ('symbols', 'full', 'mixed')
UNION ALL
SELECT 'hmm', format('hmm %s left to right', called), rows, rows,
  sequence_call(3, o || '{"topology": "left-to-right"}')
FROM hmm WHERE kind IN ('symbols', 'numbers', 'mixed')
UNION ALL
SELECT 'hmm', format('hmm %s zeros', called), rows, rows,
  sequence_call(3, o || '{"init": {"initial": [0.5, 0.5, 0],
                                   "transitions": [[0.8, 0.2, 0], [0, 0.7, 0.3], [0.4, 0, 0.6]]}}')
FROM hmm WHERE kind IN ('symbols', 'full', 'counts')
UNION ALL
SELECT 'hmm', format('hmm %s means', called), rows, rows,
  sequence_call(2, o || '{"init": {"means": [[55, 4.2], [80, 2.5]]}}')
FROM hmm WHERE kind IN ('diagonal', 'tied')
UNION ALL
SELECT 'hmm', format('hmm %s probabilities', called), rows, rows, sequence_call(2,
  o || '{"init": {"probabilities": [{"a": 0.6, "b": 0.3}, {"b": 0.2, "c": 0.7}]}}')
FROM hmm WHERE kind = 'symbols'
UNION ALL
SELECT 'hmm', format('hmm %s weights', called), rows, rows, sequence_call(k, o, ', 1 + id % 3')
FROM hmm WHERE method <> 'gibbs' AND kind IN ('symbols', 'full', 'booleans')
UNION ALL
SELECT 'hmm', format('hmm %s known states', called), rows, rows, format(
  'hmm_fit(x, ARRAY(SELECT CASE WHEN (id + i) %% 4 = 0 THEN 1 + i %% 2 END
                    FROM generate_series(1, array_length(x, 1)) AS i ORDER BY i),
           2, %L::jsonb ORDER BY id)', o)
FROM hmm WHERE kind IN ('symbols', 'numbers with gaps', 'full')
UNION ALL
SELECT 'hmm', format('hmm %s prior', called), rows, rows,
  sequence_call(2, o || jsonb_build_object('prior',
    '{"initial": [2, 1], "transition": [[5, 1], [1, 5]]}'::jsonb || CASE kind
      WHEN 'symbols' THEN '{"category_alpha": 1.3}'::jsonb
      WHEN 'counts' THEN '{"shape": 3, "rate": 0.5}'
      WHEN 'booleans' THEN '{"a": 2, "b": 1.5}'
      ELSE '{"m": [70, 3], "c": 0.1, "a": 5}' END))
FROM hmm
WHERE method <> 'em'
  AND kind IN ('symbols', 'counts', 'booleans', 'full', 'diagonal', 'spherical', 'tied')
UNION ALL
SELECT 'hmm', format('hmm %s %s', called, option), rows, rows, sequence_call(k, o || option)
FROM hmm JOIN (VALUES
    ('em', '{"max_iter": 0}'::jsonb),
    ('em', '{"minimum": 0.02}'),
    ('gibbs', '{"warmup": 3, "thin": 2, "chains": 3}'),
    ('svi', '{"batch_size": 4, "kappa": 0.6, "t0": 2}'),
    ('vi', '{"tol": 1e-3, "max_iter": 100, "restarts": 1}')) AS p(method, option) USING (method)
WHERE kind = 'symbols' OR kind = 'numbers' AND method <> 'em'
UNION ALL
SELECT 'hmm', 'hmm full em floor', 'duo_rows', 'duo_rows', sequence_call(2,
  '{"method": "em", "covariance_floor": 0.1, "max_iter": 20, "restarts": 2}')
UNION ALL
SELECT 'hmm', format('hmm %s one state', called), rows, rows, sequence_call(1, o)
FROM hmm WHERE kind IN ('symbols', 'full', 'mixed');
CALL fit_all();

-- Fits from fits.
INSERT INTO cases (family, name, source, rows, expression)
SELECT 'hmm', format('hmm %s from vi', called), rows, rows,
  format('hmm_fit(x, model(%L), %L::jsonb ORDER BY id)', format('hmm %s vi', kind),
         o - 'restarts' - 'covariance' - 'emission' - 'categories')
FROM hmm WHERE kind IN ('symbols', 'full', 'tied', 'mixed', 'counts')
UNION ALL
SELECT 'hmm', format('hmm %s update', called), rows, rows,
  format('hmm_update(x, model(%L) ORDER BY id)', 'hmm ' || called)
FROM hmm WHERE method IN ('vi', 'svi') AND kind <> 'long sequence';
CALL fit_all();
