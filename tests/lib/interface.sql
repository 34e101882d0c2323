-- What the extension has, as tests of its interface see it.

-- Without the array types that go with types, and the row types of views: PostgreSQL counts them as
-- members since version 17.
CREATE VIEW members AS
  SELECT d.classid, d.objid
  FROM pg_depend d
    JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
  WHERE e.extname = 'pg_bayes' AND d.deptype = 'e'
    AND NOT (d.classid = 'pg_type'::regclass
             AND (EXISTS (SELECT FROM pg_type t WHERE t.typarray = d.objid)
                  OR EXISTS (SELECT FROM pg_class c
                             WHERE c.reltype = d.objid AND c.relkind = 'v')));
CREATE VIEW functions AS
  SELECT p.*, p.oid::regprocedure::text AS signature,
    p.oid::regprocedure::text ~ '_(transition|final|combine|serialize|deserialize|support)\('
      AS internal
  FROM members m JOIN pg_proc p ON m.classid = 'pg_proc'::regclass AND m.objid = p.oid;
-- How functions, aggregates and windows are called.
CREATE VIEW interface AS
  SELECT proname, signature, CASE prokind WHEN 'f' THEN 'function' WHEN 'a' THEN 'aggregate'
      WHEN 'w' THEN 'window' END AS kind,
    pg_get_function_arguments(oid) AS arguments, pg_get_function_result(oid) AS result,
    CASE provolatile WHEN 'i' THEN 'immutable' WHEN 's' THEN 'stable' ELSE 'volatile' END
      AS volatility,
    proisstrict AS strict, CASE proparallel WHEN 's' THEN 'safe' WHEN 'r' THEN 'restricted'
      ELSE 'unsafe' END AS parallel
  FROM functions WHERE proname !~ '^_';
-- The same as texts, each complete.
CREATE VIEW interface_lines AS
  SELECT format('%s(%s) -> %s: %s %s%s, parallel %s', proname, arguments, result, volatility,
    CASE WHEN strict THEN 'strict ' END, kind, parallel) AS line
  FROM interface;
