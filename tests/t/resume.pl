# Fits in slices, of which backends or the whole server are killed at random moments: the stored
# model is that of the last slice that was committed, the next goes on from it, and in the end it is
# that of a fit which was never stopped, to the last bit. Also over dump and restore, and in another
# database.
use strict;
use warnings;
use Effort;
use Server;
use Test::More;
use Time::HiRes qw(sleep);

# Rows go to temporary files.
my $server = Server->new(data => 1, settings => {
    maintenance_work_mem => '1MB', max_parallel_workers_per_gather => 0,
});
$server->query(<<'SQL');
SET client_min_messages = error;
CREATE TABLE points AS SELECT ARRAY[sin(i), cos(i * 0.7), sin(i * i), i % 7] AS x
FROM generate_series(1, 12000) AS i;
CREATE TABLE tasks (name text PRIMARY KEY, first text, next text);
INSERT INTO tasks VALUES
  ('gmm', $$SELECT gmm_fit(x, 4, o || '{"restarts": 3, "max_iter": 30, "tol": 0}') FROM points$$,
    'SELECT gmm_fit(x, m, o) FROM points'),
  ('gibbs', $$SELECT gmm_fit(x, 3, o || '{"method": "gibbs", "draws": 20, "chains": 2}')
    FROM points$$, 'SELECT gmm_fit(x, m, o) FROM points'),
  ('lda', $$SELECT lda_fit(words, 3, o || '{"method": "collapsed", "draws": 40, "chains": 2}')
    FROM manual WHERE page LIKE 'spi-%'$$,
    $$SELECT lda_fit(words, m, o) FROM manual WHERE page LIKE 'spi-%'$$);
CREATE TABLE jobs (name text PRIMARY KEY, slices int DEFAULT 0, model bayes_model);
INSERT INTO jobs SELECT name FROM tasks;
CREATE FUNCTION fit(task text, m bayes_model, o jsonb) RETURNS bayes_model
LANGUAGE plpgsql AS $$
DECLARE
  t tasks := (SELECT tasks FROM tasks WHERE name = task);
  model bayes_model;
BEGIN
  IF m IS NULL THEN
    EXECUTE regexp_replace(t.first, '\mo\M', '$1') INTO model USING o || '{"resumable": true}';
  ELSE
    EXECUTE regexp_replace(regexp_replace(t.next, '\mo\M', '$1'), '\mm\M', '$2') INTO model
      USING o || '{"resume": true}', m;
  END IF;
  RETURN model;
END $$;
CREATE PROCEDURE slices(seconds float8) LANGUAGE plpgsql AS $$
BEGIN
  LOOP
    UPDATE jobs SET slices = slices + 1,
      model = fit(name, model, jsonb_build_object('max_seconds', seconds * (1 + slices % 3)))
    WHERE name = (SELECT name FROM jobs LEFT JOIN LATERAL bayes_info(model) AS i ON true
      WHERE i.stopped IS NULL OR i.stopped = 'max_seconds' ORDER BY slices LIMIT 1);
    EXIT WHEN NOT FOUND;
    COMMIT;
  END LOOP;
END $$;
CREATE TABLE wholes AS SELECT name, fit(name, NULL, '{}') AS model FROM tasks;
SQL

sub awake {
    for (1 .. 600) {
        my ($out) = $server->attempt('SELECT 1');
        return if $out eq '1';
        sleep 0.05;
    }
    die 'the server does not come back';
}

my $seed = 7;
srand $seed;
my ($kills, $sound, $before) = (effort(20), 0, 0);
for my $kill (1 .. $kills) {
    my $session = $server->session;
    $session->send('SET client_min_messages = error; CALL slices(0.01)');
    sleep 0.03 + rand 0.5;
    if ($kill % 4 == 0) {
        open(my $file, '<', $server->directory . '/data/postmaster.pid') or die "no postmaster: $!";
        my ($postmaster) = <$file> =~ /(\d+)/;
        kill 'KILL', $postmaster;
        sleep 0.1;
        # Its backends end by themselves once they notice.
        sleep 0.1 while grep { /^\d+$/ } `pgrep -P $postmaster`;
        kill 'KILL', $session->pid;
        for (1 .. 100) {
            last if eval { $server->ctl('start'); 1 };
            sleep 0.2;
        }
    } else {
        kill 'KILL', $session->pid;
    }
    $session->close;
    awake();
    my $now = $server->query('SELECT sum(slices) FROM jobs');
    my $valid = $server->query('SELECT count(*) FROM jobs,'
        . ' bayes_info(model::text::bayes_model) AS i WHERE slices > 0 AND i.stopped IS NOT NULL');
    my $with = $server->query('SELECT count(*) FROM jobs WHERE slices > 0');
    $sound++ if $now >= $before && $valid == $with;
    $before = $now;
}
is($sound, $kills,
    "after each of $kills kills every model is that of a committed slice (seed $seed)");
$server->query('SET client_min_messages = error; CALL slices(0.03)');
cmp_ok($server->query('SELECT min(slices) FROM jobs'), '>', 1, 'all fits were made in slices');
sub same {
    my ($database) = @_;
    local $server->{database} = $database // $server->{database};
    # The last slice was limited, which is an option of its own.
    return $server->query(<<'SQL');
SELECT count(*) FROM jobs JOIN wholes USING (name)
WHERE jobs.model::jsonb #- '{seconds}' #- '{options,max_seconds}' = wholes.model::jsonb - 'seconds'
SQL
}
is(same(), 3, 'and are those of fits that were never stopped');
is(scalar($server->temporary_files), 0, 'no temporary file is left');

# A slice, a dump, the next slice in another database.
$server->query(<<'SQL');
SET client_min_messages = error;
UPDATE jobs SET slices = 1, model = fit(name, NULL, '{"max_seconds": 0.01}');
SQL
my ($dump, $errors) = $server->run(undef, 'pg_dump', 'postgres');
is($errors, '', 'models between two slices are dumped');
$server->query('CREATE DATABASE other');
{
    local $server->{database} = 'other';
    my (undef, $said) = $server->psql("SET client_min_messages = error;\n$dump");
    is($said, '', 'and restored');
    $server->query(
        'SET client_min_messages = error; SET pg_bayes.threads = 3; CALL slices(0.1)');
}
is(same('other'), 3, 'the fits end there as they would have here');
done_testing();
