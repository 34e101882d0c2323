-- mh_sample: the interface, draws that diagnostics take, errors that name the point.
SELECT plan(35);
\ir ../lib/checks.sql
SET client_min_messages = error;

CREATE FUNCTION normal2(x float8[]) RETURNS float8 IMMUTABLE
  RETURN normal_log_pdf(x[1], 3, 2) + normal_log_pdf(x[2], x[1], 0.5);
CREATE TABLE draws AS SELECT * FROM mh_sample('normal2(float8[])', '{0,0}', '{"draws": 8000}');
SELECT is((SELECT (count(*), count(DISTINCT chain), min(draw), max(draw))::text FROM draws),
  '(16000,4,1,4000)', 'draws after the warmup');
SELECT never('SELECT chain, draw, NOT near(log_density, normal2(x), 1e-14) AS wrong FROM draws',
  'with their log density');
SELECT ok(bayes_rhat(x[1], chain ORDER BY chain, draw) < 1.05
  AND bayes_ess_bulk(x[1], chain ORDER BY chain, draw) > 400
  AND avg(accepted) BETWEEN 0.2 AND 0.5, 'the chains have converged') FROM draws;
-- 5.5 standard errors; the seed is fixed.
SELECT ok(abs(avg(x[1]) - 3) < 5.5 * bayes_mcse(x[1], chain ORDER BY chain, draw)
  AND abs(avg(x[2]) - 3) < 5.5 * bayes_mcse(x[2], chain ORDER BY chain, draw)
  AND abs(avg((x[2] - x[1]) ^ 2) - 0.25)
    < 5.5 * bayes_mcse((x[2] - x[1]) ^ 2, chain ORDER BY chain, draw), 'on the distribution')
FROM draws;
SELECT same_rows($$SELECT * FROM mh_sample('normal2(float8[])', '{0,0}', '{"draws": 8000}')$$,
  'SELECT * FROM draws', 'a seed gives the same draws again');
SELECT is((SELECT count(*) FROM mh_sample('normal2(float8[])', '{{0,0},{5,5}}',
  '{"chains": 2, "draws": 110, "warmup": 10, "thin": 10}')), 20::bigint,
  'a start for each chain, thinned');
SELECT lives_ok($$SELECT * FROM mh_sample(options => NULL, start => '{1,1}',
  target => 'normal2(float8[])')$$, 'arguments have names, and options may be NULL');

-- ---- functions that fail ----

CREATE FUNCTION raises(x float8[]) RETURNS float8 LANGUAGE plpgsql AS
  $$BEGIN IF x[1] <> 1.5 THEN RAISE 'too far' USING ERRCODE = 'P0042'; END IF; RETURN 0; END$$;
CREATE FUNCTION null_there(x float8[]) RETURNS float8 IMMUTABLE RETURN nullif(x[1], 1.5);
CREATE FUNCTION nan_there(x float8[]) RETURNS float8 IMMUTABLE RETURN 'NaN'::float8;
CREATE FUNCTION infinite_there(x float8[]) RETURNS float8 IMMUTABLE RETURN 'Infinity'::float8;
CREATE FUNCTION nowhere(x float8[]) RETURNS float8 IMMUTABLE RETURN '-Infinity'::float8;
CREATE TABLE written (x float8[]);
CREATE FUNCTION writes(x float8[]) RETURNS float8 LANGUAGE plpgsql AS
  $$BEGIN INSERT INTO written VALUES (x); RETURN 0; END$$;
CREATE FUNCTION itself(x float8[]) RETURNS float8 LANGUAGE sql AS
  $$SELECT min(log_density) FROM mh_sample('itself(float8[])', x)$$;
CREATE FUNCTION context_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE context text;
BEGIN
  EXECUTE query;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS context = PG_EXCEPTION_CONTEXT;
  RETURN context;
END $$;
SELECT throws_ok($$SELECT * FROM mh_sample('raises(float8[])', '{1.5}')$$, 'P0042', 'too far',
  'its own error comes through');
SELECT ok(context_of($$SELECT * FROM mh_sample('raises(float8[])', '{0.25,-2}')$$)
  LIKE '%log density of mh_sample at {0.25,-2}%', 'with the point in its context');
SELECT throws_ok($$SELECT * FROM mh_sample('null_there(float8[])', '{1.5,2}')$$, '22004',
  'the log density is NULL at {1.5, 2}');
SELECT throws_ok($$SELECT * FROM mh_sample('nan_there(float8[])', '{1}')$$, '22003',
  'the log density is NaN at {1}');
SELECT throws_ok($$SELECT * FROM mh_sample('infinite_there(float8[])', '{1}')$$, '22003',
  'the log density is Infinity at {1}');
SELECT throws_ok($$SELECT * FROM mh_sample('nowhere(float8[])', '{1}')$$, '22023',
  'the log density is -Infinity at the start {1}');
SELECT throws_ok($$SELECT * FROM mh_sample('writes(float8[])', '{1}')$$, '25006', NULL,
  'a function that writes is refused');
CREATE FUNCTION writes_stable(x float8[]) RETURNS float8 STABLE LANGUAGE plpgsql AS
  $$BEGIN INSERT INTO written VALUES (x); RETURN 0; END$$;
SELECT throws_ok($$SELECT * FROM mh_sample('writes_stable(float8[])', '{1}')$$, '0A000', NULL,
  'by its volatility already, if it is declared to be stable');
SELECT lives_ok('INSERT INTO written VALUES (NULL)', 'and the transaction goes on as it was');
SELECT throws_ok($$SELECT * FROM mh_sample('itself(float8[])', '{1}')$$, '54001', NULL,
  'recursion without end is an error');
CREATE FUNCTION defines(x float8[]) RETURNS float8 LANGUAGE plpgsql AS
  $$BEGIN EXECUTE 'DROP FUNCTION defines(float8[])'; RETURN 0; END$$;
SELECT throws_ok($$SELECT * FROM mh_sample('defines(float8[])', '{1}')$$, '25006', NULL,
  'so is one that drops itself');
CREATE FUNCTION within(x float8[]) RETURNS float8 LANGUAGE plpgsql AS $$BEGIN
  RETURN (SELECT avg(normal_log_pdf(x[1], y[1], 1)) FROM mh_sample('normal2(float8[])', '{0,0}',
    '{"draws": 20, "chains": 2}') AS m(chain, draw, y)); END$$;
SELECT is((SELECT count(*) FROM mh_sample('within(float8[])', '{1}',
  '{"draws": 20, "chains": 2}')), 20::bigint, 'a log density may sample another one');
CREATE FUNCTION endless(x float8[]) RETURNS float8 LANGUAGE plpgsql AS
  $$BEGIN LOOP NULL; END LOOP; END$$;
CREATE FUNCTION is_cancelled(query text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE query;
  RETURN false;
EXCEPTION WHEN query_canceled THEN
  RETURN true;
END $$;
SET statement_timeout = '50ms';
SELECT ok(is_cancelled($$SELECT * FROM mh_sample('endless(float8[])', '{1}')$$),
  'a function that does not end is cancelled');
RESET statement_timeout;
CREATE TABLE unlimited AS SELECT * FROM mh_sample('normal2(float8[])', '{0,0}', '{"draws": 100}');
SELECT set_eq($$SELECT * FROM mh_sample('normal2(float8[])', '{0,0}',
  '{"draws": 100, "max_seconds": 1e6}')$$, 'TABLE unlimited', 'a time that is enough');
SET client_min_messages = error;
SELECT is(array_agg(ROW(chain, draw)::text), ARRAY['(1,1)', '(2,1)', '(3,1)', '(4,1)'],
  'one that is not: a draw of each chain')
FROM mh_sample('normal2(float8[])', '{0,0}', '{"max_seconds": 1e-9}');
CREATE FUNCTION slow(x float8[]) RETURNS float8 LANGUAGE plpgsql STABLE AS $$
BEGIN PERFORM pg_sleep(0.002); RETURN -x[1] ^ 2 / 2; END $$;
SELECT ok(count(*) BETWEEN 1 AND 1999 AND count(DISTINCT n) = 1, 'and as many of each')
FROM (SELECT chain, count(*) AS n FROM mh_sample('slow(float8[])', '{0}',
  '{"max_seconds": 0.2}') GROUP BY chain) AS t;
RESET client_min_messages;
SELECT throws_ok($$SELECT * FROM mh_sample('normal2(float8[])', '{0,0}', '{"max_seconds": 0}')$$,
  '22023', 'option "max_seconds" is 0, but must be a number greater than 0 and at most 1000000000');
SELECT throws_ok($$SELECT * FROM mh_sample('normal2(float8[])', '{0,0}', '{"chains": 0}')$$,
  '22023', 'option "chains" is 0, but must be a whole number from 1 to 1000');
SELECT throws_ok($$SELECT * FROM mh_sample('normal2(float8[])', '{}')$$, '2202E',
  'start is not an array of one or two dimensions');
SELECT throws_ok($$SELECT * FROM mh_sample('normal2(float8[])', '{0,NaN}')$$, '22023',
  'an element of start is NaN, but must be finite');
SELECT throws_ok($$SELECT * FROM mh_sample('normal2(float8[])', '{0,NULL}')$$, '22004',
  'an element of start is NULL');
SELECT throws_ok($$SELECT * FROM mh_sample(NULL, '{1}')$$, '22004', 'target is NULL');
SELECT throws_ok($$SELECT * FROM mh_sample(1::regprocedure, '{1}')$$, '22023',
  'target 1 does not exist');
SELECT throws_ok($$SELECT * FROM mh_sample('sin(float8)', '{1}')$$, '22023',
  'target sin(double precision) does not take one argument of type double precision[]');
SELECT throws_ok($$SELECT * FROM mh_sample('normal2(float8[])', '{{0,0},{1,1}}')$$, '2202E',
  'start has 2 points, but there are 4 chains');
SELECT throws_ok($$SELECT * FROM mh_sample('normal2(float8[])', '{0,0}', '{"chain": 2}')$$, '22023',
  'unknown option "chain"');
SELECT throws_ok($$SELECT * FROM mh_sample('normal2(float8[])', '{0,0}', '{"chains": 1000,
  "draws": 8002}')$$, '54000', '1000 chains of 4001 draws are too many');
CREATE ROLE bayes_nobody;
REVOKE EXECUTE ON FUNCTION normal2 FROM PUBLIC;
SET ROLE bayes_nobody;
SELECT throws_ok($$SELECT * FROM mh_sample('normal2(float8[])', '{0,0}')$$, '42501', NULL,
  'who may not call the function may not sample it');
RESET ROLE;
DROP OWNED BY bayes_nobody;
DROP ROLE bayes_nobody;

SELECT * FROM finish();
