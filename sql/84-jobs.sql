-- Fits as jobs of the database: resuming and watching them.

CREATE FUNCTION bayes_compact(model bayes_model) RETURNS bayes_model
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT IS 'The model without what it keeps for its fit to be resumed (options resumable and '
  'resume); all else stays. Other models are returned as they are. See docs/jobs.md.';

CREATE FUNCTION _bayes_progress()
  RETURNS TABLE (
    pid int, datid oid, usesysid oid, family text, method text, phase text, rows_read bigint,
    groups_done bigint, restart int, restarts int, iteration int, max_iterations int, chain int,
    chains int, draw int, draws int, objective float8, change float8, began timestamptz,
    deadline timestamptz)
  AS 'MODULE_PATHNAME', 'bayes_progress' LANGUAGE C VOLATILE PARALLEL RESTRICTED
  COST 10 ROWS 10;
COMMENT IS 'The fits that run on the server, for the view bayes_progress, which says what the '
  'columns are. began: when the fit began to read its rows; deadline: when option max_seconds ends '
  'it, NULL without that option.';

CREATE VIEW bayes_progress AS
  SELECT f.pid, d.datname, r.rolname AS usename, f.family, f.method, f.phase, f.rows_read,
    f.groups_done, f.restart, f.restarts, f.iteration, f.max_iterations, f.chain, f.chains, f.draw,
    f.draws, f.objective, f.change, clock_timestamp() - f.began AS elapsed,
    CASE WHEN f.deadline IS NOT NULL
      THEN greatest(f.deadline - clock_timestamp(), interval '0') END AS budget_left
  FROM _bayes_progress() AS f
    LEFT JOIN pg_catalog.pg_database AS d ON d.oid = f.datid
    LEFT JOIN pg_catalog.pg_roles AS r ON r.oid = f.usesysid;
COMMENT ON VIEW bayes_progress IS
  'The fits that run on the server now, one row for each process that reads rows or fits; see '
  'docs/jobs.md. Of fits whose statements pg_stat_activity hides (those of other roles, unless the '
  'role has their privileges or those of pg_read_all_stats) pid alone is shown. Not shown are fits '
  'with track_activities = off, and those inside of a command that shows progress of its own, as '
  'COPY (SELECT ...) TO does. Conjugate models are not shown: they are sums, without a fit.';
COMMENT ON COLUMN bayes_progress.pid IS
  'Process id of the backend, as in pg_stat_activity; pg_cancel_backend(pid) cancels the fit. A '
  'parallel worker that reads rows has a row of its own.';
COMMENT ON COLUMN bayes_progress.datname IS 'Database of the session.';
COMMENT ON COLUMN bayes_progress.usename IS 'Role that logged in to the session.';
COMMENT ON COLUMN bayes_progress.family IS
  'Family of the model, as in bayes_info: gmm, bmm, dpmm, hmm, lda, nmf, pmf, linreg, logreg, '
  'probit or nb.';
COMMENT ON COLUMN bayes_progress.method IS
  'Option method in force, or bootstrap; NULL in phase reading.';
COMMENT ON COLUMN bayes_progress.phase IS
  'reading: rows are read and put in order. starting points: before the first iteration, or the '
  'first draw. fitting: iterations, draws, and what follows from the last of them. writing: the '
  'model becomes a value.';
COMMENT ON COLUMN bayes_progress.rows_read IS
  'Rows (sequences, documents, cells) of this fit read so far by this process, skipped ones '
  'included; while they are read it grows in steps of 256.';
COMMENT ON COLUMN bayes_progress.groups_done IS
  'Fits that have ended in this statement so far: with GROUP BY one for each group.';
COMMENT ON COLUMN bayes_progress.restart IS
  'Current restart, from 1; NULL for samplers and before the first iteration.';
COMMENT ON COLUMN bayes_progress.restarts IS 'Number of restarts of this fit.';
COMMENT ON COLUMN bayes_progress.iteration IS
  'Last iteration of this restart; 0 is the starting point.';
COMMENT ON COLUMN bayes_progress.max_iterations IS
  'Iterations at most of this restart; most fits converge much earlier.';
COMMENT ON COLUMN bayes_progress.chain IS
  'Current chain of a sampler, from 1; NULL for other methods and before the first draw.';
COMMENT ON COLUMN bayes_progress.chains IS 'Number of chains of this fit.';
COMMENT ON COLUMN bayes_progress.draw IS 'Last draw of this chain, from 1, warmup included.';
COMMENT ON COLUMN bayes_progress.draws IS 'Draws of each chain, warmup included.';
COMMENT ON COLUMN bayes_progress.objective IS
  'What the method maximises, or for samplers the log joint density, at the last iteration or '
  'draw; NULL before the first.';
COMMENT ON COLUMN bayes_progress.change IS
  'Its change since the iteration or draw before; NULL at the first.';
COMMENT ON COLUMN bayes_progress.elapsed IS
  'Time since the first row of this fit was read; in a parallel plan, since the leader put the '
  'rows together.';
COMMENT ON COLUMN bayes_progress.budget_left IS
  'Time until option max_seconds ends the fit, never negative; NULL without that option and in '
  'phase reading.';
GRANT SELECT ON bayes_progress TO PUBLIC;
