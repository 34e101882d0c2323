-- The draws of a Dirichlet process mixture with a column for each quantity.
CREATE FUNCTION draws_of(m bayes_model)
RETURNS TABLE (chain int, draw int, clusters int, concentration float8, log_joint float8)
LANGUAGE sql IMMUTABLE AS $$
  SELECT chain, draw, max(value) FILTER (WHERE quantity = 'clusters')::int,
    max(value) FILTER (WHERE quantity = 'concentration'),
    max(value) FILTER (WHERE quantity = 'log_joint')
  FROM bayes_draws(m) GROUP BY chain, draw ORDER BY chain, draw
$$;
