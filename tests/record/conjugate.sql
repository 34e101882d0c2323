-- Conjugate models, standard distributions and Metropolis sampling.
CREATE TABLE event_rows AS SELECT id, id % 3 = 0 AS success, (noise(id, 1) * 9)::bigint AS count,
  1e5 + noise(id, 2) AS x, md5(id::text) < '8' AS label, noise(id, 3) AS weight
FROM generate_series(1, 300) AS id;

INSERT INTO cases (family, name, source, rows, expression)
SELECT family, format('%s %s', family, arguments), 'event_rows', 'event_rows',
       format('%s_fit(%s)', family, arguments)
FROM (VALUES ('beta_bernoulli', 'success, NULL, weight'),
    ('beta_bernoulli', $$success, '{"prior": {"a": 0.3, "b": 7}}'$$),
    ('gamma_poisson', 'count, NULL, weight'), ('normal_inverse_gamma', 'x, NULL, weight'),
    ('normal_inverse_gamma', $$x, '{"prior": {"m": 3, "c": 0.1, "a": 2, "b": 9}}'$$),
    ('dirichlet_categorical', 'label, NULL, weight')) AS v(family, arguments);
CALL fit_all();

CALL record('densities', $$SELECT x, normal_pdf(x, 1, 2), student_log_pdf(x, 3.5),
  beta_pdf(x / 40, 2, 0.5),
  gamma_cdf(x, 2.5, 3), inverse_gamma_quantile(x / 40, 2, 3), binomial_cdf(x::bigint, 40, 0.3),
  poisson_quantile(x / 40, 1e6), student_quantile(x / 40, 7)
  FROM generate_series(1, 39, 0.7) AS n, CAST(n AS float8) AS x$$);
CALL record('draws', $$SELECT * FROM ROWS FROM (student_draws(20, 3, 0, 1, 5),
  gamma_draws(20, 0.3, 2, 5), poisson_draws(20, 30, 5), inverse_gamma_draws(20, 2, 1, 5),
  wishart_draws(20, 5, '{{2,1,0},{1,3,1},{0,1,4}}', 5), dirichlet_draws(20, '{0.1,2,3}', 5),
  multivariate_normal_draws(20, '{1,2}', '{{2,1},{1,3}}', 5)) AS d$$);
CALL record('comparisons', $$SELECT bayes_greater(a, b), bayes_loss(a, b),
  bayes_lift(a, b) FROM (SELECT beta_bernoulli_fit(success) AS a,
    beta_bernoulli_fit(label) AS b FROM event_rows) AS f$$);
CREATE FUNCTION narrow(x float8[]) RETURNS float8 IMMUTABLE
  RETURN normal_log_pdf(x[1], 3, 2) + student_log_pdf(x[2], 4, x[1], 0.1);
CALL record('metropolis', $$SELECT * FROM
  mh_sample('narrow(float8[])', '{0,0}', '{"draws": 200}')$$);
