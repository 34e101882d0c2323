-- Sampling of any density

CREATE FUNCTION mh_sample(target regprocedure, start float8[], options jsonb DEFAULT NULL)
  RETURNS TABLE (chain int, draw int, x float8[], log_density float8, accepted float8)
  AS 'MODULE_PATHNAME' @volatile COST 1000000 ROWS 8000;
COMMENT IS 'Draws from the distribution whose log density, up to a constant, the function target '
  'computes, by adaptive random-walk Metropolis: mh_sample(''f(float8[])'', ''{0, 0}''). target: '
  'takes a point, float8[], and returns float8, -Infinity outside of the support; it is called '
  'with the privileges of the caller, read-only. start: a point within the support, or an array of '
  'points, one for each chain. accepted: the share of proposals accepted since the previous draw. '
  'Errors: 22023 a start outside of the support, an invalid option or function; 22004 a NULL; '
  '22003 a log density that is NaN or Infinity; 2202E a start of another shape; 25006 a function '
  'that writes, or 0A000 if it is declared stable or immutable (temporary tables, large objects, '
  'settings, advisory locks and notifications are not prevented); 42501 no right to call it; and '
  'those of the function, with the point in their context. options: chains (4), draws (4000, of '
  'each chain, including the warmup), warmup (half of draws), thin (1), scale (1; a guess of the '
  'standard deviations of the distribution, a number or an array; those of the first proposals are '
  '2.38 / sqrt(d) times that), adapt (true), max_seconds (of all chains, which then make fewer '
  'draws, as many each), seed. NULL means none.';
