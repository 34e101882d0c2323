-- A stand-in for pg_cron, for the examples of docs/jobs.md on a server without it: a job runs once,
-- when it is scheduled, as who schedules it. tests/t/jobs.pl runs the same examples by pg_cron.
CREATE SCHEMA cron;
CREATE TABLE cron.job (
  jobid bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, schedule text, command text,
  username text DEFAULT current_user, jobname text, UNIQUE (jobname, username));
CREATE TABLE cron.job_run_details (
  jobid bigint, runid bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, status text,
  return_message text);
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA cron TO PUBLIC;

CREATE FUNCTION cron.schedule(job_name text, schedule text, command text) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  job bigint;
  affected bigint;
  status text;
  message text;
BEGIN
  INSERT INTO cron.job (schedule, command, jobname) VALUES ($2, $3, $1)
  ON CONFLICT (jobname, username) DO UPDATE
  SET schedule = EXCLUDED.schedule, command = EXCLUDED.command
  RETURNING jobid INTO job;
  BEGIN
    EXECUTE $3;
    GET DIAGNOSTICS affected = ROW_COUNT;
    status := 'succeeded';
    message := substring($3 FROM '\w+') || ' ' || affected;
  EXCEPTION WHEN OTHERS THEN
    status := 'failed';
    message := 'ERROR:  ' || SQLERRM;
  END;
  INSERT INTO cron.job_run_details (jobid, status, return_message) VALUES (job, status, message);
  RETURN job;
END;
$$;
