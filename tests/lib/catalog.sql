-- All that the catalog says of the extension, a line for each fact, without numbers that differ
-- between installations: two databases print the same if what is installed is the same.
SET search_path = pg_catalog;
SET client_min_messages = error;
CREATE TEMP TABLE members AS
  SELECT d.classid, d.objid, (pg_identify_object(d.classid, d.objid, 0)).type AS kind,
    (pg_identify_object(d.classid, d.objid, 0)).identity AS name
  FROM pg_depend AS d JOIN pg_extension AS e
    ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
  WHERE e.extname = 'pg_bayes' AND d.deptype = 'e';
CREATE TEMP TABLE facts (line text);

INSERT INTO facts SELECT format('%s %s', kind, name) FROM pg_temp.members;
INSERT INTO facts
  SELECT format('comment of %s %s, column %s: %s', kind, name, objsubid, description)
  FROM pg_temp.members JOIN pg_description ON (classoid, objoid) = (classid, objid);
INSERT INTO facts
  SELECT format('rights on %s %s, column %s: %s, %s', kind, name, objsubid, privtype, initprivs)
  FROM pg_temp.members AS m JOIN pg_init_privs AS p
    ON (p.classoid, p.objoid) = (m.classid, m.objid);
INSERT INTO facts
  SELECT format('version %s, relocatable %s, configuration %s %s', extversion, extrelocatable,
    extconfig, extcondition)
  FROM pg_extension WHERE extname = 'pg_bayes';

-- Functions: what pg_get_functiondef writes, which is not made for aggregates.
INSERT INTO facts
  SELECT format('definition of %s: %s', name, CASE WHEN prokind = 'a' THEN
      concat_ws(' ', pg_get_function_arguments(oid), pg_get_function_result(oid), provolatile,
        proparallel, proisstrict, procost, proargnames, proacl)
    ELSE pg_get_functiondef(oid) || concat_ws(' ', proacl, prosupport) END)
  FROM pg_temp.members JOIN pg_proc ON oid = objid AND classid = 'pg_proc'::regclass;
INSERT INTO facts
  SELECT format('aggregate %s: %s', name, to_jsonb(a)
    - '{aggfnoid,aggtranstype,aggmtranstype}'::text[]
    || jsonb_build_object('t', aggtranstype::regtype, 'm', aggmtranstype::regtype))
  FROM pg_temp.members JOIN pg_aggregate AS a ON aggfnoid = objid
  WHERE classid = 'pg_proc'::regclass;

INSERT INTO facts
  SELECT format('type %s: %s', name, to_jsonb(t)
    - '{oid,typrelid,typelem,typarray,typowner,typnamespace}'::text[])
  FROM pg_temp.members JOIN pg_type AS t ON oid = objid AND classid = 'pg_type'::regclass;
INSERT INTO facts
  SELECT format('column %s of %s: %s %s %s', attnum, coalesce(c.name, t.name), attname,
    format_type(atttypid, atttypmod), attacl)
  FROM pg_attribute LEFT JOIN pg_temp.members AS c
      ON c.classid = 'pg_class'::regclass AND attrelid = c.objid
    LEFT JOIN pg_type AS y ON y.typrelid = attrelid
    LEFT JOIN pg_temp.members AS t ON t.classid = 'pg_type'::regclass AND t.objid = y.oid
  WHERE attnum > 0 AND NOT attisdropped AND coalesce(c.name, t.name) IS NOT NULL;
INSERT INTO facts
  SELECT format('relation %s: %s %s %s %s', name, relkind, relacl, reloptions,
    CASE WHEN relkind = 'v' THEN pg_get_viewdef(oid) END)
  FROM pg_temp.members JOIN pg_class ON oid = objid AND classid = 'pg_class'::regclass;

INSERT INTO facts
  SELECT format('%s: %s %s %s', name, castfunc::regprocedure, castcontext, castmethod)
  FROM pg_temp.members JOIN pg_cast ON oid = objid AND classid = 'pg_cast'::regclass;
INSERT INTO facts
  SELECT format('operator %s: %s', name, concat_ws(' ', oprcode, oprcom::regoperator,
    oprnegate::regoperator, oprrest, oprjoin, oprcanmerge, oprcanhash))
  FROM pg_temp.members JOIN pg_operator ON oid = objid AND classid = 'pg_operator'::regclass;
INSERT INTO facts
  SELECT format('operator class %s: %s %s', name, opcintype::regtype, opcdefault)
  FROM pg_temp.members JOIN pg_opclass ON oid = objid AND classid = 'pg_opclass'::regclass;
INSERT INTO facts
  SELECT format('in operator family %s: %s %s %s', name, amopstrategy, amopopr::regoperator,
    amoppurpose)
  FROM pg_temp.members JOIN pg_amop ON amopfamily = objid
  WHERE classid = 'pg_opfamily'::regclass;
INSERT INTO facts
  SELECT format('in operator family %s: %s %s', name, amprocnum, amproc)
  FROM pg_temp.members JOIN pg_amproc ON amprocfamily = objid
  WHERE classid = 'pg_opfamily'::regclass;

SELECT quote_literal(line) FROM facts ORDER BY line COLLATE "C";
