-- Fits of every family and method that can be resumed, for resume.sql and resume_errors.sql. Run by
-- psql in the top directory.
CREATE TABLE flowers AS SELECT id, x, x[3] > 4 AS large, species FROM iris;
CREATE TABLE documents AS SELECT i, string_to_array((ARRAY['a b a c', 'c d d e', 'a a b',
  'd e e c'])[1 + i % 4], ' ') AS d FROM generate_series(1, 40) AS i;
CREATE TABLE cells AS SELECT 'r' || i AS r, 'c' || j AS c, 1 + i * j % 5 AS n
  FROM generate_series(1, 12) AS i, generate_series(1, 9) AS j;

CREATE TABLE holes AS SELECT CASE WHEN id % 3 = 0 THEN ARRAY[NULL, x[2], x[3]]
    WHEN id % 7 = 0 THEN ARRAY[x[1], NULL, NULL] ELSE x[1:3] END AS x,
  1 + id % 2 AS weight FROM iris;
CREATE TABLE walks AS SELECT w, array_agg(sin(i * w) + 3 * (i / 7 % 2) ORDER BY i) AS s
  FROM generate_series(1, 5) AS w, generate_series(1, 40) AS i GROUP BY w;
CREATE TABLE people AS SELECT species, petal_length > 4 AS large, sepal_width AS width,
  CASE WHEN id % 5 > 0 THEN id % 4 END AS visits FROM iris;

-- %s: the number of components, or the model; %L: the options.
CREATE TABLE families (family text PRIMARY KEY, call text, k text, methods text[]);
INSERT INTO families VALUES
  ('gmm', 'SELECT gmm_fit(x, %s, %L) FROM flowers', '3',
    '{em,map,vi,svi,mcem,kmeans,gibbs,collapsed}'),
  ('bmm', 'SELECT bmm_fit(ARRAY[large, x[4] > 1, x[1] > 5.8], %s, %L) FROM flowers', '2',
    '{em,map,vi,svi,mcem,gibbs,collapsed}'),
  ('hmm', 'SELECT hmm_fit(d, %s, %L) FROM documents', '2', '{em,map,vi,svi,gibbs}'),
  ('lda', 'SELECT lda_fit(d, %s, %L) FROM documents', '2', '{vi,em,svi,cvb0,gibbs,collapsed}'),
  ('nmf', 'SELECT nmf_fit(r, c, n, %s, %L) FROM cells', '2', '{vi,svi,em,squared}'),
  ('pmf', 'SELECT pmf_fit(r, c, n, %s, %L) FROM cells', '2', '{gibbs}'),
  ('pmf of weights', 'SELECT pmf_fit(r, c, n, %s, %L, 0.5 + n) FROM cells', '2', '{gibbs}'),
  ('dpmm', 'SELECT dpmm_fit(x, %s%L) FROM flowers', '', '{collapsed,gibbs,slice,vi}'),
  ('gmm of holes', 'SELECT gmm_fit(x, %s, %L) FROM holes', '2', '{em,vi,gibbs,collapsed}'),
  ('gmm of weights', 'SELECT gmm_fit(x, %s, %L, weight) FROM holes', '2', '{em,vi}'),
  ('bmm of records', 'SELECT bmm_fit(p, %s, %L) FROM people AS p', '2', '{em,vi,gibbs,collapsed}'),
  ('dpmm of holes', 'SELECT dpmm_fit(x, %s%L) FROM holes', '', '{collapsed,gibbs,slice,vi}'),
  ('dpmm of records', 'SELECT dpmm_fit(p, %s%L) FROM people AS p', '', '{collapsed,gibbs,slice}'),
  ('hmm of numbers', 'SELECT hmm_fit(s, %s, %L) FROM walks', '2', '{em,vi,gibbs}'),
  ('glm', 'SELECT glm_fit((10 * x[3])::int, x[1:2],
      %s%L::jsonb || ''{"response": "negative_binomial"}'') FROM flowers', '', '{laplace}'),
  ('glm of amounts', 'SELECT glm_fit(x[3], x[1:2],
      %s%L::jsonb || ''{"response": "gamma"}'') FROM flowers', '', '{laplace}'),
  ('glm of long tails', 'SELECT glm_fit(x[3], x[1:2],
      %s%L::jsonb || ''{"response": "student_t", "df": 1}'') FROM flowers', '', '{laplace}'),
  ('glm of learned tails', 'SELECT glm_fit(x[3], x[1:2],
      %s%L::jsonb || ''{"response": "student_t", "df": "learned"}'') FROM flowers', '',
    '{laplace,slice}'),
  ('glm of levels', 'SELECT glm_fit((10 * x[3])::int / 20, x[1:2],
      %s%L::jsonb || ''{"response": "ordinal"}'') FROM flowers', '', '{laplace}'),
  ('glm of classes', 'SELECT glm_fit((10 * x[3])::int / 20, x[1:2],
      %s%L::jsonb || ''{"response": "categorical"}'') FROM flowers', '', '{laplace}'),
  ('glm by slice', 'SELECT glm_fit((10 * x[3])::int / 20, x[1:2],
      %s%L::jsonb || ''{"response": "ordinal"}'') FROM flowers', '', '{slice}'),
  ('logreg', 'SELECT logreg_fit(large, x[1:2], %s%L) FROM flowers', '', '{laplace,gibbs}'),
  ('probit', 'SELECT probit_fit(large, x[1:2], %s%L) FROM flowers', '', '{laplace,em,vi,gibbs}');
CREATE TABLE variants AS SELECT row_number() OVER () AS id, family, call, k, method,
    jsonb_build_object('method', method, 'resumable', true)
      || CASE WHEN method IN ('gibbs', 'collapsed', 'slice')
        THEN '{"draws": 40, "warmup": 20, "chains": 3}' ELSE '{}' END::jsonb AS options
  FROM families, unnest(methods) AS method;
-- other ways through the fits
INSERT INTO variants SELECT 100 + row_number() OVER (), family, call, k, method, options || more
  FROM variants, (VALUES
    ('gmm', 'vi', '{"linear_response": true}'::jsonb), ('gmm', 'vi', '{"restarts": 5}'),
    ('gmm', 'vi', '{"restarts": 1}'), ('gmm', 'em', '{"restarts": 1, "max_iter": 7}'),
    ('gmm', 'em', '{"max_iter": 5}'), ('gmm', 'svi', '{"batch_size": 40, "restarts": 2}'),
    ('gmm', 'vi', '{"prior": {"type": "independent"}}'), ('gmm', 'vi', '{"covariance": "tied"}'),
    ('gmm', 'gibbs', '{"thin": 3}'), ('gmm', 'collapsed', '{"draws": 130, "warmup": 0}'),
    ('gmm', 'gibbs', '{"stored_draws": 2, "covariance": "tied"}'),
    ('bmm', 'collapsed', '{"stored_draws": 5}'), ('hmm', 'gibbs', '{"stored_draws": 7, "thin": 2}'),
    ('lda', 'gibbs', '{"stored_draws": 4}'),
    ('lda', 'collapsed', '{"prior": {"alpha": [0.2, 0.4]}}'),
    ('dpmm', 'gibbs', '{"stored_draws": 3}'),
    ('dpmm', 'collapsed', '{"stored_draws": 1}'), ('dpmm', 'vi', '{"linear_response": true}'),
    ('pmf', 'gibbs', '{"prior": {"hierarchical": true}, "thin": 2}'),
    ('pmf', 'gibbs', '{"means": false, "stored_draws": 5}'),
    ('pmf', 'gibbs', '{"stored_draws": 1}'),
    ('probit', 'gibbs', '{"stored_draws": 3}'), ('logreg', 'gibbs', '{"thin": 2}'),
    ('bmm', 'vi', '{"linear_response": true}'), ('bmm', 'svi', '{"batch_size": 30}'),
    ('hmm', 'vi', '{"linear_response": true}'), ('hmm', 'svi', '{"batch_size": 10}'),
    ('hmm', 'map', '{"prior": {"transition": [[5, 2], [2, 9]]}}'),
    ('hmm', 'vi', '{"prior": {"transition": [[5, 2], [2, 9]]}, "restarts": 4}'),
    ('lda', 'svi', '{"batch_size": 7, "max_iter": 120}'), ('lda', 'vi', '{"restarts": 3}'),
    ('lda', 'vi', '{"prior": {"alpha": [0.2, 0.4]}}'), ('lda', 'cvb0', '{"restarts": 2}'),
    ('nmf', 'vi', '{"hierarchical": true}'), ('nmf', 'svi', '{"batch_size": 3, "max_iter": 90}'),
    ('nmf', 'em', '{"restarts": 3}'), ('nmf', 'vi', '{"absent": "missing"}'),
    ('nmf', 'squared', '{"restarts": 2}'))
  AS v(of_family, of_method, more) WHERE family = of_family AND method = of_method;

CREATE FUNCTION fitted(call text, k text, options jsonb) RETURNS bayes_model LANGUAGE plpgsql AS $$
DECLARE model bayes_model;
BEGIN
  EXECUTE format(call, k, options) INTO model;
  RETURN model;
END $$;
CREATE FUNCTION resumed(call text, before bayes_model, options jsonb) RETURNS bayes_model
LANGUAGE plpgsql AS $$
DECLARE model bayes_model;
BEGIN
  EXECUTE format(replace(call, '%s%L', '%s, %L'), '$1', options || '{"resume": true}')
    INTO model USING before;
  RETURN model;
END $$;

