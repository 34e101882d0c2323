-- What the SQL tests of errors share: how a statement fails. Read by psql's \ir.

-- How a statement fails: SQLSTATE and message.
CREATE FUNCTION complaint(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE statement;
  RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE || ' ' || SQLERRM;
END $$;

-- What it says beside: DETAIL and HINT.
CREATE FUNCTION advice(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE detail text; hint text;
BEGIN
  EXECUTE statement;
  RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
  RETURN concat_ws(' | ', nullif(detail, ''), nullif(hint, ''));
END $$;

-- The families of columns, as messages list them: a new one changes no test.
CREATE FUNCTION column_families() RETURNS text LANGUAGE sql RETURN substring(complaint(
  $$SELECT bmm_fit(ARRAY[1.5], 1, '{"likelihood": "?"}')$$) FROM 'one of (.*)');

-- All of it.
CREATE FUNCTION whole_complaint(statement text) RETURNS text LANGUAGE sql
RETURN concat_ws(' | ', complaint(statement), nullif(advice(statement), ''));
