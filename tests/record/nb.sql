-- Bayes classifiers: a family for each column, a full covariance, words; weights and priors.
CREATE TYPE birth AS (age float8, lwt float8, smoke boolean, race text, ftv int);
CREATE TABLE class_rows AS
  SELECT id, id AS n, low AS label, ARRAY[age, lwt, CASE WHEN id % 7 > 0 THEN bwt / 1000 END] AS x,
         ROW(age, lwt, smoke = 1, (ARRAY['white', 'black', 'other'])[race],
             ftv)::birth AS r, 1 + id % 3 AS w
  FROM birthwt;
CREATE TABLE word_rows AS
  SELECT id, id % 3 AS label,
         (SELECT jsonb_object_agg('w' || floor(noise(id, j) ^ 2 * (30 + id % 3)), 1 + j % 2)
          FROM generate_series(1, 9) AS j)
         || jsonb_build_object('flag', noise(id) < 0.3, 'group', 'g' || id * id % 5) AS x
  FROM generate_series(1, 150) AS id;

INSERT INTO cases (family, name, source, rows, expression)
SELECT 'nb', 'nb ' || name, 'class_rows', 'class_rows', expression
FROM (VALUES ('normal', 'nb_fit(label, x)'),
  ('full', $$nb_fit(label, x, '{"covariance": "full"}')$$),
  ('weights', 'nb_fit(label, x, NULL, w)'),
  ('prior', $$nb_fit(label, x, '{"prior": {"alpha": 3, "normal": {"m": 1, "c": 2, "a": 4,
    "B": 5}}}')$$),
  ('update', 'nb_update(label, x, (SELECT nb_fit(-label, x) FROM class_rows))'))
  AS v(name, expression)
UNION ALL
SELECT 'nb', 'nb words ' || name, 'word_rows', 'word_rows', expression
FROM (VALUES ('poisson', 'nb_fit(label, x)'),
  ('missing', $$nb_fit(label, x, '{"absent": "missing"}')$$),
  ('geometric', $$nb_fit(label, x, '{"likelihood": "geometric"}')$$)) AS v(name, expression);
INSERT INTO cases (family, name, source, rows, expression) VALUES
  ('nb', 'nb record', 'class_rows',
   '(SELECT id, r AS x FROM class_rows) AS records',
   $$nb_fit(label, r, '{"likelihood": {"ftv": "poisson", "age": "exponential"}}')$$);
CALL fit_all();
