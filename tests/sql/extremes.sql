-- Values and weights near the ends of double precision: a model that a fit makes can be read from
-- its text, to the last bit, or the fit is an error.
SELECT plan(11);
\ir ../lib/checks.sql
SET client_min_messages = error;

CREATE TABLE outcomes (name text, outcome text);
CREATE FUNCTION try(name text, query text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  model bayes_model;
BEGIN
  BEGIN
    EXECUTE query INTO model;
  EXCEPTION WHEN SQLSTATE '22003' OR SQLSTATE '22023' THEN
    INSERT INTO outcomes VALUES (name, 'refused');
    RETURN;
  END;
  INSERT INTO outcomes VALUES (name,
    CASE WHEN model::text::bayes_model = model THEN 'same' ELSE 'differs' END);
END $$;
SELECT try(format('%s of %s, weight %s', family, x, w), format(call, x::float8, w::float8))
FROM (VALUES
  ('normal_inverse_gamma', 'SELECT normal_inverse_gamma_fit(x, NULL, %2$L)
    FROM unnest(ARRAY[%1$L, 0, 1, -%1$L::float8]::float8[]) AS x'),
  ('gamma_poisson', 'SELECT gamma_poisson_fit(i * 1000, NULL, %1$L)
    FROM generate_series(1, 4) AS i WHERE %2$L::float8 > 0'),
  ('beta_bernoulli', 'SELECT beta_bernoulli_fit(i = 1, NULL, %2$L) FROM generate_series(1, 4) AS i
    WHERE %1$L::float8 > 0'),
  ('dirichlet_categorical', 'SELECT dirichlet_categorical_fit(i, NULL, %2$L)
    FROM generate_series(1, 4) AS i WHERE %1$L::float8 > 0'),
  ('nb', 'SELECT nb_fit(i %% 2, ARRAY[%1$L * (i / 13.0::float8), i %% 3], NULL, %2$L)
    FROM generate_series(1, 12) AS i'),
  ('nb full', 'SELECT nb_fit(i %% 2, ARRAY[%1$L * (i / 13.0::float8), i %% 3],
    ''{"covariance": "full"}'', %2$L) FROM generate_series(1, 12) AS i'),
  ('nb exponential', 'SELECT nb_fit(i %% 2, ARRAY[%1$L * (i / 13.0::float8), i %% 3],
    ''{"likelihood": ["exponential", "poisson"]}'', %2$L) FROM generate_series(1, 12) AS i'),
  ('bmm', 'SELECT bmm_fit(ARRAY[%1$L * (i / 13.0::float8), i %% 3], 2,
    ''{"likelihood": ["normal", "poisson"], "restarts": 1}'', %2$L)
    FROM generate_series(1, 12) AS i'),
  ('bmm em', 'SELECT bmm_fit(ARRAY[%1$L * (i / 13.0::float8), i %% 3], 2, ''{"method": "em",
    "likelihood": ["exponential", "geometric"], "restarts": 1}'', %2$L)
    FROM generate_series(1, 12) AS i')) AS v(family, call),
  unnest('{1e150,1e77,1e-77,1e-300,3e-310,5e-324,1}'::text[]) AS x,
  unnest('{1,1e-300,5e-324,1e150}'::text[]) AS w;
SELECT never($$SELECT name, outcome = 'differs' AS wrong FROM outcomes$$,
  'what is made can be read');
SELECT ok(count(*) > 150, 'most are made') FROM outcomes WHERE outcome = 'same';

-- A heavy row far from the first costs the light ones no digits, in any order, or merged.
CREATE TABLE heavy (i int, x float8, w float8);
INSERT INTO heavy VALUES (1, 1000, 1), (2, 3, 1), (3, 0, 1e30);
CREATE FUNCTION squares(model bayes_model) RETURNS float8 IMMUTABLE
  RETURN (model::jsonb -> 'statistics' -> 'squares' ->> 0)::float8;
SELECT never($$SELECT a.i, b.i, NOT near(squares(m), 1000009) AS wrong FROM heavy AS a, heavy AS b,
    LATERAL (SELECT normal_inverse_gamma_fit(x, NULL, w ORDER BY (i + a.i) % 3 * b.i, i * b.i % 3)
      AS m FROM heavy) AS f$$, 'squares of rows that a heavy one outweighs');
SELECT ok(near(squares(bayes_rollup(m)), 1000009), 'merged')
FROM (SELECT normal_inverse_gamma_fit(x, NULL, w) AS m FROM heavy GROUP BY i) AS f;
SELECT ok(near(squares(normal_inverse_gamma_fit(x, NULL, w ORDER BY w)), 1e6 * (1 - 1 / 2.0 ^ 100)),
  'weights that double') FROM (SELECT CASE i WHEN 0 THEN 1000 ELSE 0 END AS x, 2.0 ^ i AS w
  FROM generate_series(0, 100) AS i) AS t;
CREATE TABLE moving AS
SELECT i, sin(i) * 100 AS x, CASE WHEN i % 5 = 0 THEN 1e12 ELSE 1 END AS w
FROM generate_series(1, 40) AS i;
SELECT never($$SELECT m.i, NOT near(squares(moved), squares(anew), 1e-9) AS wrong
  FROM (SELECT i, normal_inverse_gamma_fit(x, NULL, w) OVER (ORDER BY i ROWS 2 PRECEDING) AS moved
    FROM moving) AS m, LATERAL (SELECT normal_inverse_gamma_fit(x, NULL, w) AS anew
    FROM moving AS o WHERE o.i BETWEEN m.i - 2 AND m.i) AS a$$,
  'windows that heavy rows enter and leave');

SELECT is(normal_inverse_gamma_fit('-0'::float8)::jsonb -> 'statistics' ->> 'mean', '[0.0, 0.0]',
  'a zero has no sign') FROM generate_series(1, 2);

-- Parts are merged as numbers are carried, whatever their number.
SELECT ok(bool_and(exp(bayes_log_density(merged, 'l3'))
    = exp(bayes_log_density(whole, 'l3')) AND info.rows = n), 'any number of parts')
FROM generate_series(1, 20) AS n, LATERAL (SELECT bayes_rollup(m) AS merged FROM (SELECT i,
      dirichlet_categorical_fit('l' || i % 7) AS m FROM generate_series(1, n) AS i GROUP BY i) AS p)
    AS a, bayes_info(merged) AS info,
  LATERAL (SELECT dirichlet_categorical_fit('l' || i % 7) AS whole
    FROM generate_series(1, n) AS i) AS b;
SELECT results_eq($$SELECT (bayes_info(bayes_rollup(m) OVER (ORDER BY i))).rows FROM (SELECT i,
    nb_fit('l' || i % 5, ARRAY[i]) AS m FROM generate_series(1, 11) AS i GROUP BY i) AS p
  ORDER BY i$$,
  'SELECT generate_series(1, 11)::bigint', 'and one after the other');
SELECT throws_like($$SELECT bmm_fit(r, 2, '{"likelihood": {"age": "poison"}}')
  FROM (SELECT i AS age, i % 2 AS b FROM generate_series(1, 9) AS i) AS r$$,
  'option "likelihood.age" is "poison"%', 'an unknown likelihood names its column');
-- A text of 2^28 bytes would run into the bits of the type beside its length.
SELECT throws_ok($$SELECT replace(gmm_fit(sin(i), 1)::text, '"options": {', '"options": {"a": "'
    || repeat('x', 268435456) || '", ')::bayes_model::jsonb FROM generate_series(1, 20) AS i$$,
  '54000', 'a text of 268435456 bytes is too long for jsonb', 'a text that jsonb cannot have');
SELECT * FROM finish();
