-- What all functions say of the models, and the other ways to ask for a fit.
SET maintenance_work_mem = '64MB';

-- %1$s stands for the model, %2$s for the rows; methods: those that the question makes sense for.
CREATE TABLE asked (family text, methods text[], called text, statement text);
INSERT INTO asked VALUES
  ('gmm', NULL, 'components', 'SELECT * FROM gmm_components(%1$s)'),
  ('gmm', '{vi,svi}', 'posterior', 'SELECT * FROM gmm_posterior(%1$s)'),
  ('gmm', NULL, 'sample', 'SELECT * FROM bayes_sample(%1$s, 4, 3)'),
  ('bmm', NULL, 'components', 'SELECT * FROM bmm_components(%1$s)'),
  ('bmm', NULL, 'parameters', 'SELECT * FROM bayes_parameters(%1$s)'),
  ('bmm', '{vi,svi}', 'posterior', 'SELECT * FROM bmm_posterior(%1$s)'),
  ('bmm', NULL, 'moments', 'SELECT * FROM bmm_moments(%1$s)'),
  ('bmm', NULL, 'sample', 'SELECT * FROM bayes_sample(%1$s, 4, 3)'),
  ('dpmm', NULL, 'clusters', 'SELECT * FROM dpmm_clusters(%1$s)'),
  ('dpmm', NULL, 'estimate', 'SELECT * FROM dpmm_estimate(%1$s)'),
  ('dpmm', '{collapsed,gibbs,slice}', 'draws', 'SELECT * FROM bayes_draws(%1$s)'),
  ('gmm', NULL, 'parameters', 'SELECT * FROM bayes_parameters(%1$s)'),
  ('dpmm', NULL, 'parameters', 'SELECT * FROM bayes_parameters(%1$s)'),
  ('hmm', NULL, 'parameters', 'SELECT * FROM bayes_parameters(%1$s)'),
  ('hmm', NULL, 'states', 'SELECT * FROM hmm_states(%1$s)'),
  ('hmm', NULL, 'transitions', 'SELECT * FROM hmm_transitions(%1$s)'),
  ('hmm', NULL, 'emissions', 'SELECT * FROM hmm_emissions(%1$s)'),
  ('hmm', '{vi,svi}', 'posterior', 'SELECT * FROM hmm_posterior(%1$s)'),
  ('hmm', NULL, 'sample', 'SELECT * FROM hmm_sample(%1$s, 6, 3)'),
  ('hmm', NULL, 'scores',
   'SELECT hmm_decode(%1$s, x), hmm_probabilities(%1$s, x), hmm_filter(%1$s, x),
           hmm_log_likelihood(%1$s, x)
    FROM (SELECT x[1:9] AS x FROM %2$s ORDER BY id LIMIT 2) AS r'),
  ('hmm', NULL, 'whole sequences',
   'SELECT hmm_log_likelihood(%1$s, x) FROM (SELECT x FROM %2$s ORDER BY id LIMIT 2) AS r'),
  ('hmm', NULL, 'paths',
   'SELECT * FROM hmm_paths(%1$s, (SELECT x[1:7] FROM %2$s ORDER BY id LIMIT 1), 3)'),
  ('hmm', NULL, 'prediction',
   'SELECT * FROM hmm_predict(%1$s, (SELECT x[1:7] FROM %2$s ORDER BY id LIMIT 1))'),
  ('hmm', NULL, 'prediction ahead',
   'SELECT * FROM hmm_predict(%1$s, (SELECT x[1:7] FROM %2$s ORDER BY id LIMIT 1), 9)
    WHERE step IN (2, 9)'),
  ('lda', NULL, 'topics', 'SELECT * FROM lda_topics(%1$s)'),
  ('lda', NULL, 'relevance', 'SELECT * FROM lda_relevance(%1$s, 0.5, 5)'),
  ('lda', NULL, 'weights', 'SELECT * FROM lda_topic_weights(%1$s)'),
  ('lda', '{vi,svi}', 'posterior', 'SELECT * FROM lda_posterior(%1$s) LIMIT 20'),
  ('lda', NULL, 'scores',
   'SELECT lda_predict(%1$s, x), lda_proportions(%1$s, x),
      (SELECT array_agg(sd ORDER BY topic) FROM lda_top_topics(%1$s, x, 1000))
    FROM (SELECT x FROM %2$s WHERE id %% 23 = 1 ORDER BY id LIMIT 5) AS r'),
  ('nmf', NULL, 'factors', 'SELECT * FROM nmf_factors(%1$s) LIMIT 100'),
  ('nmf', NULL, 'shares',
   'SELECT component, value FROM bayes_parameters(%1$s) WHERE parameter = ''weight'''),
  ('nmf', NULL, 'error', 'SELECT * FROM nmf_error(%1$s)'),
  ('nmf', NULL, 'scores', 'SELECT p.* FROM generate_series(1, 3) AS r, generate_series(9, 12) AS c,
     nmf_predict(%1$s, r, c) AS p'),
  ('nmf', NULL, 'rows', $$SELECT nmf_transform(%1$s, '{"3": 2, "7": 1, "10": 4}'::jsonb)$$),
  ('nmf', '{vi}', 'rows, deviations',
   $$SELECT nmf_transform_sd(%1$s, '{"3": 2, "7": 1, "10": 4}'::jsonb)$$),
  ('nmf', NULL, 'columns', $$SELECT nmf_transform(%1$s, '{"3": 2, "7": 1, "10": 4}'::jsonb,
     'column')$$),
  ('linreg', NULL, 'coefficients', 'SELECT * FROM bayes_coefficients(%1$s)'),
  ('linreg', NULL, 'noise', 'SELECT * FROM bayes_parameters(%1$s, 0.5)'),
  ('linreg', NULL, 'scores',
   'SELECT p.* FROM (SELECT x FROM %2$s WHERE id %% 23 = 1 ORDER BY id LIMIT 5) AS r,
      linreg_predict(%1$s, x[2:]) AS p'),
  ('pmf', NULL, 'scores',
   'SELECT p.*, n.* FROM (SELECT * FROM %2$s WHERE id %% 23 = 1 ORDER BY id LIMIT 5) AS r,
      pmf_predict(%1$s, r, c) AS p, pmf_predict(%1$s, r, 0) AS n'),
  ('pmf', NULL, 'recommendations', 'SELECT * FROM pmf_recommend(%1$s, 7, 9, true)'),
  ('pmf', NULL, 'similarities', 'SELECT * FROM pmf_similar(%1$s, 7, 9)'),
  ('nb', NULL, 'classes', 'SELECT * FROM nb_classes(%1$s)'),
  ('nb', NULL, 'features', 'SELECT * FROM nb_features(%1$s) LIMIT 100'),
  ('nb', NULL, 'scores',
   'SELECT nb_predict(%1$s, x), bayes_log_density(%1$s, x),
           (SELECT array_agg(p) FROM nb_probabilities(%1$s, x) AS p)
    FROM (SELECT x FROM %2$s WHERE id %% 23 = 1 ORDER BY id LIMIT 5) AS r'),
  ('glm', NULL, 'coefficients', 'SELECT * FROM glm_coefficients(%1$s)'),
  ('glm', NULL, 'scores',
   'SELECT glm_predict(%1$s, x), bayes_log_density(%1$s, 1, x)
    FROM (SELECT x FROM %2$s WHERE id %% 23 = 1 ORDER BY id LIMIT 5) AS r'),
  ('glm of labels', NULL, 'coefficients', 'SELECT * FROM glm_coefficients(%1$s)'),
  ('glm of labels', NULL, 'scores',
   'SELECT p.*, bayes_log_density(%1$s, 1, x)
    FROM (SELECT x FROM %2$s WHERE id %% 23 = 1 ORDER BY id LIMIT 5) AS r,
         glm_probabilities(%1$s, x) AS p'),
  ('logreg', NULL, 'coefficients', 'SELECT * FROM bayes_coefficients(%1$s)'),
  ('probit', NULL, 'coefficients', 'SELECT * FROM bayes_coefficients(%1$s)');
INSERT INTO asked
SELECT family, NULL, 'scores', format(
  'SELECT %1$s_predict(%%1$s, x), bayes_probabilities(%%1$s, x), bayes_log_density(%%1$s, x)
   FROM (SELECT x FROM %%2$s WHERE id %%%% 23 = 1 ORDER BY id LIMIT 5) AS r', family)
FROM (SELECT DISTINCT family FROM cases
      WHERE family NOT IN (SELECT family FROM asked WHERE called = 'scores')
        AND family !~ '^(beta|gamma|dirichlet|normal)_|^(logreg|probit)$') AS f
UNION ALL
SELECT family, methods, called, statement
FROM (VALUES ('gmm'), ('bmm'), ('dpmm'), ('hmm')) AS f(family), (VALUES
  (NULL::text[], 'match', 'SELECT * FROM bayes_match(%1$s, %1$s)')) AS v(methods, called, statement)
UNION ALL
SELECT family, methods, called, statement
FROM (SELECT DISTINCT family FROM cases) AS f, (VALUES
  (NULL::text[], 'info',
   'SELECT family, method, rows, skipped, dimension, components, iterations, converged,
           degenerate, objective, log_likelihood, seed, options FROM bayes_info(%1$s)'),
  (NULL, 'trace', 'SELECT * FROM bayes_trace(%1$s)'),
  ('{collapsed,gibbs,slice}', 'diagnostics',
   'SELECT quantity, bayes_rhat(value, chain ORDER BY chain, draw),
           bayes_ess_bulk(value, chain ORDER BY chain, draw),
           bayes_ess_tail(value, chain ORDER BY chain, draw),
           bayes_mcse(value, chain ORDER BY chain, draw), sum(value ORDER BY chain, draw)
    FROM bayes_draws(%1$s) GROUP BY 1 ORDER BY 1')) AS v(methods, called, statement);

DO $$
DECLARE
  c record;
BEGIN
  FOR c IN
    SELECT cases.name, cases.rows, a.called, a.statement FROM cases JOIN asked AS a USING (family)
    WHERE model IS NOT NULL AND (methods IS NULL OR model::jsonb->>'method' = ANY (methods))
    ORDER BY cases.id, a.called
  LOOP
    -- A subquery: the model is read once, not once for every row.
    CALL record(format('%s: %s', c.name, c.called),
      format(c.statement, format('(SELECT model FROM cases WHERE name = %L)', c.name), c.rows));
  END LOOP;
END $$;

-- ---- windows, relations, selections ----

CREATE FUNCTION selections(s gmm_selection[]) RETURNS text RETURN
  (SELECT string_agg((k, covariance, method, objective, log_likelihood, parameters, bic, icl, elbo,
                      converged, degenerate, told(model))::text, ' ') FROM unnest(s));
CREATE FUNCTION selections(s bmm_selection[]) RETURNS text RETURN
  (SELECT string_agg((k, method, objective, log_likelihood, parameters, bic, icl, elbo, converged,
                      degenerate, told(model))::text, ' ') FROM unnest(s));

CALL record('gmm window', $$
  SELECT array_agg(c ORDER BY id)
  FROM (SELECT id, gmm_cluster(x, 3, '{"restarts": 2}') OVER (PARTITION BY id % 2) AS c
        FROM iris_rows) AS w$$);
CALL record('gmm relation', $$SELECT * FROM gmm_fit('SELECT x FROM faithful_rows', 2)$$);
CALL record('gmm relation with weights', $$
  SELECT * FROM gmm_fit('SELECT x, w FROM faithful_rows', 2, '{"method": "em"}')$$);
CALL record('gmm relation of columns', $$
  SELECT * FROM gmm_fit('SELECT lat, long, depth FROM quakes WHERE id <= 300', 3,
                        '{"restarts": 2}')$$);
CALL record('gmm select', $$
  SELECT selections(array_agg(s)) FROM gmm_select('SELECT x FROM iris_rows', '{1,2,3}',
    '{"covariance": ["full", "diagonal", "spherical", "tied"], "restarts": 2,
      "models": true}') AS s$$);
CALL record('gmm select em', $$
  SELECT selections(array_agg(s)) FROM gmm_select('SELECT x, w FROM faithful_rows', '{2,4}',
    '{"covariance": ["tied", "full"], "method": "em", "restarts": 2, "models": true}') AS s$$);
CALL record('gmm select aggregate', $$
  SELECT selections(gmm_select(x, '{1,2}', '{"restarts": 2, "method": "map", "models": true}'))
  FROM faithful_rows$$);

CALL record('bmm window', $$
  SELECT array_agg(c ORDER BY id)
  FROM (SELECT id, bmm_cluster(x, 2, '{"restarts": 2}') OVER () AS c FROM bernoulli_rows) AS w$$);
CALL record('bmm relation', $$SELECT * FROM bmm_fit('SELECT x FROM bernoulli_rows', 2)$$);
CALL record('bmm select', $$
  SELECT selections(array_agg(s)) FROM bmm_select('SELECT x FROM poisson_rows', '{1,2,3}',
    '{"likelihood": "poisson", "restarts": 2, "models": true}') AS s$$);
CALL record('bmm select aggregate', $$
  SELECT selections(bmm_select(x, '{2,3}', '{"method": "em", "restarts": 2, "models": true,
    "likelihood": ["normal", "bernoulli", "categorical", "poisson", "exponential"]}'))
  FROM mixed_rows$$);

CALL record('bmm fit statistics', $$
  SELECT bmm_fit_statistics((SELECT bmm_fit(x, 2, '{"method": "em", "restarts": 2}')
    FROM bernoulli_rows), x) FROM bernoulli_rows$$);

CALL record('dpmm window', $$
  SELECT array_agg(c ORDER BY id)
  FROM (SELECT id, dpmm_cluster(x, '{"draws": 20}') OVER (ORDER BY id) AS c
        FROM faithful_rows) AS w$$);
CALL record('dpmm relation', $$
  SELECT * FROM dpmm_cluster('SELECT id, x FROM galaxy_rows ORDER BY id', '{"draws": 40}')$$);
CALL record('dpmm relation slice', $$
  SELECT * FROM dpmm_cluster('SELECT id, x FROM mixed_rows ORDER BY id', '{"method": "slice",
    "likelihood": ["normal", "bernoulli", "categorical", "poisson", "exponential"],
    "draws": 20, "estimate": "binder"}')$$);
CALL record('dpmm relation vi', $$
  SELECT * FROM dpmm_cluster('SELECT id, x FROM galaxy_rows ORDER BY id',
                             '{"method": "vi", "restarts": 2}')$$);
CALL record('dpmm similarity', $$
  SELECT * FROM dpmm_similarity('SELECT id, x FROM galaxy_rows WHERE id % 4 = 0 ORDER BY id',
                                '{"draws": 40}')$$);

CALL record('hmm relation', $$
  SELECT * FROM hmm_decode('SELECT id, x FROM duo_rows ORDER BY id', 2, '{"restarts": 2}')$$);
CALL record('hmm relation of steps', $$
  SELECT * FROM hmm_decode('SELECT t / 100, waiting, duration > 3 AS long FROM geyser
    ORDER BY t / 100, t', 2, '{"restarts": 2}')$$);
CALL record('hmm selection', $$
  SELECT * FROM hmm_select('SELECT id, x FROM duo_rows ORDER BY id', '{1,2}',
    '{"method": "em", "restarts": 2}')$$);
CALL record('hmm window decode', $$
  SELECT array_agg(s ORDER BY t)
  FROM (SELECT t, hmm_decode(model('hmm numbers vi'), waiting)
                  OVER (PARTITION BY t / 100 ORDER BY t) AS s FROM geyser) AS w$$);
CALL record('hmm window probabilities', $$
  SELECT t, hmm_probabilities(model('hmm numbers em'), waiting) OVER (ORDER BY t)
  FROM geyser WHERE t <= 60$$);
CALL record('hmm window filter', $$
  SELECT t, hmm_filter(model('hmm numbers gibbs'), waiting) OVER (ORDER BY t)
  FROM geyser WHERE t <= 60$$);
CALL record('hmm window vectors', $$
  SELECT t, hmm_filter(model('hmm full vi'), ROW(waiting, duration)) OVER w,
         hmm_decode(model('hmm tied em'), ROW(waiting, duration)) OVER w
  FROM geyser WHERE t <= 60 WINDOW w AS (ORDER BY t)$$);
CALL record('hmm window symbols', $$
  SELECT i, hmm_probabilities(model('hmm letters vi'), s) OVER (ORDER BY i)
  FROM unnest(string_to_array('_the_éxtension_', NULL)) WITH ORDINALITY AS u(s, i)$$);
CALL record('hmm empty sequence', $$
  SELECT hmm_log_likelihood(model('hmm symbols vi'), '{}'::text[]), p
  FROM hmm_predict(model('hmm symbols vi'), '{}'::text[]) AS p$$);

CALL record('diagnostics of one chain', $$
  SELECT bayes_rhat(v, 1 ORDER BY n), bayes_ess_bulk(v, 1 ORDER BY n),
         bayes_ess_tail(v, 1 ORDER BY n), bayes_mcse(v, 1 ORDER BY n)
  FROM (SELECT n, sum(noise(n)) OVER (ORDER BY n ROWS 4 PRECEDING) AS v
        FROM generate_series(1, 400) AS n) AS d$$);
CALL record('diagnostics of chains', $$
  SELECT bayes_rhat(v, c ORDER BY c, n), bayes_ess_bulk(v, c ORDER BY c, n),
         bayes_ess_tail(v, c ORDER BY c, n), bayes_mcse(v, c ORDER BY c, n)
  FROM (SELECT c, n, sum(noise(n, c)) OVER (PARTITION BY c ORDER BY n ROWS 4 PRECEDING)
                     + c / 9.0 AS v
        FROM generate_series(1, 3) AS c, generate_series(1, 101) AS n) AS d$$);
