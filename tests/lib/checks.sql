-- What the SQL tests share: comparisons that fail where nothing can be compared. Read by psql's
-- \ir; tests/sql/checks.sql tests them.

-- Equal to a tolerance, relative to the larger of both and to 1. NULL is near nothing, nor is NaN,
-- which PostgreSQL calls equal to itself and larger than any number, so that no difference from it
-- would exceed a tolerance times it; infinity is near itself only.
CREATE FUNCTION near(a float8, b float8, tolerance float8 DEFAULT 1e-9) RETURNS boolean IMMUTABLE
  RETURN coalesce(a <> 'NaN' AND b <> 'NaN' AND (a = b
    OR abs(a) < 'Infinity' AND abs(b) < 'Infinity'
      AND abs(a - b) <= tolerance * greatest(1, abs(a), abs(b))), false);
CREATE FUNCTION near(a float8[], b float8[], tolerance float8 DEFAULT 1e-9) RETURNS boolean
  IMMUTABLE
  RETURN coalesce(array_dims(a) = array_dims(b)
    AND (SELECT bool_and(near(u, v, tolerance)) FROM unnest(a, b) AS t(u, v)), false);

-- No row of the query may be wrong, by its column of this name. A row of which that is not known,
-- as of a comparison with NULL, is wrong; and there must be rows, or nothing was tested.
CREATE FUNCTION never(query text, name text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  rows bigint;
  found text[];
BEGIN
  EXECUTE format('SELECT count(*),'
    ' (array_agg(left(q::text, 300)) FILTER (WHERE wrong IS NOT FALSE))[1:5] FROM (%s) AS q', query)
    INTO rows, found;
  RETURN ok(rows > 0 AND found IS NULL, name) || CASE WHEN rows > 0 AND found IS NULL THEN ''
    ELSE E'\n' || diag(coalesce(array_to_string(found, E'\n'), 'there were no rows')) END;
END $$;

-- The same value, and there is one: for two that are computed, both of which might be NULL.
CREATE FUNCTION same(have anyelement, want anyelement, name text) RETURNS text LANGUAGE sql AS $$
  SELECT CASE WHEN have IS NULL AND want IS NULL
    THEN fail(name) || E'\n' || diag('both are NULL') ELSE is(have, want, name) END $$;

-- The same rows in the same order, and there are some: for two queries that might both be empty.
CREATE FUNCTION same_rows(have text, want text, name text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  a refcursor;
  b refcursor;
  outcome text;
BEGIN
  OPEN a FOR EXECUTE have;
  OPEN b SCROLL FOR EXECUTE want;
  MOVE FIRST FROM b;
  IF NOT FOUND THEN
    RETURN fail(name) || E'\n' || diag('there were no rows');
  END IF;
  MOVE ABSOLUTE 0 FROM b;
  outcome := results_eq(a, b, name);
  CLOSE a;
  CLOSE b;
  RETURN outcome;
END $$;

-- Like bool_and, which passes over NULL: false if any value is not true, NULL if there are none.
CREATE FUNCTION both_true(state boolean, value boolean) RETURNS boolean
  RETURN coalesce(state, true) AND value IS TRUE;
CREATE AGGREGATE all_true(boolean) (SFUNC = both_true, STYPE = boolean);

-- A model but for how long its fit took, and for these members.
CREATE FUNCTION timeless(model bayes_model, VARIADIC without text[] = '{}') RETURNS text
  LANGUAGE sql RETURN (model::jsonb - 'seconds' - without)::text;
