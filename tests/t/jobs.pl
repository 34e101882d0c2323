# docs/jobs.md on a server with pg_cron that is set up as it says: its jobs as they stand there, run
# by pg_cron at the next minutes, leave what it shows; one that fails, runs that overlap, and runs
# that wait for the one before do what it says; so do a crash, and psql in the place of pg_cron.
#
# For the runner: most of the time passes until the clock strikes.
# waits
use strict;
use warnings;
use File::Temp;
use Server;
use Test::More;
use Time::HiRes qw(sleep time);

my $pg_config = $ENV{PG_CONFIG} // 'pg_config';
chomp(my $share = `$pg_config --sharedir`);
plan skip_all => "there is no pg_cron for this PostgreSQL (a package of postgresql-N-cron)"
    unless -e "$share/extension/pg_cron.control";

# ---- what docs/jobs.md has ----

# Blocks outside of comments, with language, flags, text, the section that they are in, and the
# output after them; up to the section on the view bayes_progress, which needs no scheduler.
my @blocks;
{
    open(my $file, '<', "$Server::root/docs/jobs.md") or die "jobs.md: $!";
    my $text = do { local $/; <$file> };
    $text =~ s/^## Watching a fit.*//ms;
    $text =~ s/^<!--.*?^-->$//msg;
    my $section = '';
    while ($text =~ /^## ([^\n]+)$|^```(\w+) ?([^\n]*)\n(.*?)^```$/msg) {
        my ($heading, $language, $flags, $body) = ($1, $2, $3, $4);
        if (defined $heading) {
            $section = $heading;
        } elsif ($language eq 'output') {
            $blocks[-1]{output} = $body;
        } else {
            push @blocks, {language => $language, flags => $flags, text => $body,
                section => $section};
        }
    }
}
sub texts {
    my ($language, $section) = @_;
    return map { $_->{text} } grep {
        $_->{language} eq $language && (!defined $section || $_->{section} eq $section)
    } @blocks;
}
my @sql = grep { $_->{language} eq 'sql' && $_->{flags} eq '' } @blocks;
my @alerts = grep { $_->{section} eq 'Alerts' } @sql;
my @before = grep { $_->{section} ne 'Alerts' } @sql;

# ---- a server that is set up as it says ----

my $server = Server->new(extension => 0);
my $data = $server->directory . '/data';
my $account = getpwuid((stat $data)[4]);

# Changes a file of a data directory, which stays its owner's.
sub edit {
    my ($name, $change) = @_;
    open(my $file, '+<', $name) or die "$name: $!";
    local $_ = do { local $/; <$file> };
    $change->();
    seek($file, 0, 0);
    print {$file} $_;
    truncate($file, tell $file);
    close $file;
}
my ($conf) = texts('conf');
my ($hba) = texts('hba');
my ($ident) = texts('ident');
$conf =~ s/^(cron\.host = ).*/$1 . "'" . $server->host . "'"/me or die 'no cron.host';
$ident =~ s/\bpostgres\b/$account/ or die 'no account';
edit("$data/postgresql.conf", sub { $_ .= $conf });
edit("$data/pg_hba.conf", sub { $_ = $hba . $_ });
edit("$data/pg_ident.conf", sub { $_ .= $ident });
$server->query('CREATE DATABASE shop');
$server->{database} = 'shop';
$server->ctl('restart');
$server->query("$_; CREATE EXTENSION pg_bayes") for texts('sql', 'Setting pg_cron up');
{
    my (undef, $err) = $server->psql(undef, '-f', 'tests/lib/data.sql');
    die $err if $err ne '';
}

# Waits until a query returns 't'; what it returned last.
sub wait_for {
    my ($on, $query, $seconds) = @_;
    my $limit = time + ($seconds // 60);
    my $found = '';
    while (time < $limit) {
        $found = $on->query($query);
        return $found if $found eq 't';
        sleep 0.2;
    }
    return $found;
}

# A session that is asked something as the superuser who owns the tables.
my $owner = $server->session;
sub owner { return $owner->run(@_) }

# What the examples print, as the documentation has it.
sub shows {
    my (@examples) = @_;
    for my $block (grep { defined $_->{output} } @examples) {
        my ($out, $err) = $server->run("SET ROLE nightly;\n$block->{text}", 'psql', '-Xq',
            '-P', 'pager=off');
        s/[ \t]+$//mg, s/\n+\z// for $out, my $wanted = $block->{output};
        is($out . $err, $wanted, "$block->{section}: " . $block->{text} =~ s/\n.*//sr);
    }
}

# ---- everything of the page that makes something, in one session ----

my $session = $server->session;
sub make {
    for my $block (grep { !defined $_->{output} } @_) {
        my $said = $session->run($block->{text}, 240);
        unlike($said, qr/^ERROR/m, "$block->{section}: " . $block->{text} =~ s/\n.*//sr)
            or diag($said);
    }
}
make(@before);
my @names = map { /cron\.schedule\('([^']+)'/g } map { $_->{text} } @before;
cmp_ok(scalar @names, '>=', 8, 'the page has jobs');
is(owner("SELECT count(*) FROM cron.job WHERE username = 'nightly'"), scalar @names,
    'they are scheduled, by the role of the jobs');
my %commands = map { $_ => owner("SELECT command FROM cron.job WHERE jobname = '$_'") } @names;

# ---- the role ----

is(owner("SELECT rolsuper OR rolcreaterole OR rolcreatedb OR rolbypassrls OR rolpassword IS NOT NULL
    FROM pg_authid WHERE rolname = 'nightly'"), 'f', 'the role of the jobs is like any other');
is($session->run('SELECT current_user'), 'nightly', 'it schedules');
sub refused {
    my ($sql, $what) = @_;
    like($session->run($sql), qr/^ERROR:  42501:/m, "it may not $what");
}
refused('SELECT * FROM salaries', 'read what it was not given');
refused("UPDATE models SET name = 'mine'", 'rename a model');
refused('DELETE FROM models', 'delete one');
refused("INSERT INTO models (name) VALUES ('mine')", 'add one');
refused('INSERT INTO orders DEFAULT VALUES', 'change the rows');
refused("UPDATE documents SET words = ''", 'or a document');
refused('DELETE FROM history', 'or what has been');
refused("SELECT cron.schedule_in_database('x', '* * * * *', 'SELECT 1', 'postgres')",
    'run anything in another database');
refused("INSERT INTO cron.job (schedule, command, username) VALUES ('', '', 'postgres')",
    'run anything as somebody else');
# Each grant is needed: without it the plan of some job may not be run.
my @plans = map { "EXPLAIN $_" } @commands{grep { $_ ne 'payroll' } @names},
    map { $_->{text} =~ /\$\$(.*)\$\$/s } @alerts;
for my $grant (grep { /^GRANT (?!USAGE)/ } map { split /\n/, $_->{text} } @before) {
    my $revoke = $grant =~ s/^GRANT/REVOKE/r =~ s/ TO / FROM /r;
    my $refused = 0;
    for my $plan (@plans) {
        my $said = $owner->run("BEGIN; $revoke SET LOCAL ROLE nightly; $plan; ROLLBACK");
        $owner->run('ROLLBACK');
        $refused++ if $said =~ /^ERROR:  42501: permission denied/m;
    }
    cmp_ok($refused, '>', 0, "some job needs $grant");
}
SKIP: {
    skip 'the test runs as the account of the server', 1 if $> == (stat $data)[4];
    my (undef, $err, $status) = $server->psql('SELECT 1', '-U', 'nightly');
    like($err, qr/eer authentication failed/, 'nobody but the server comes in as that role');
}

# ---- jobs of the test's own ----

$owner->run(<<'SQL');
CREATE SCHEMA elsewhere;
CREATE TABLE elsewhere.here ();
CREATE TABLE done (what text, said text);
GRANT USAGE ON SCHEMA elsewhere TO nightly;
GRANT SELECT ON elsewhere.here TO nightly;
GRANT INSERT, SELECT ON done TO nightly;
SELECT pg_advisory_lock(1), pg_advisory_lock(2);
SQL
my %own = (
    # What a session has set is not what the job has.
    path => 'SELECT count(*) FROM here',
    settings => "INSERT INTO done SELECT (bayes_info(model)).family,
        concat_ws(' ', current_setting('pg_bayes.max_threads'),
            current_setting('statement_timeout'), session_user, current_database())
        FROM models WHERE name = 'segments'",
    # Long runs: they end when this test gives up a lock.
    queued => "INSERT INTO done SELECT 'queued' FROM (SELECT gmm_fit(i, 1) AS model
        FROM generate_series(1, 9) AS i WHERE i < 9 OR pg_advisory_xact_lock(1) IS NOT NULL) AS f
        WHERE model IS NOT NULL",
    cancelled => "INSERT INTO done SELECT 'cancelled' FROM pg_advisory_xact_lock(2)",
);
$session->run('SET search_path = elsewhere, public; SELECT count(*) FROM here');
$session->run("SELECT cron.schedule('$_', '0 3 * * *', \$job\$$own{$_}\$job\$)") for sort keys %own;
$session->run('RESET search_path');

# A run of a job by hand, that is not done when pg_cron's own comes.
my $by_hand = $server->session;
$by_hand->run('SET ROLE nightly; BEGIN');
unlike($by_hand->run($commands{topics}, 120), qr/ERROR/, 'topics are learned by hand');

# A second server, with background workers.
my $workers = Server->new;
edit($workers->directory . '/data/postgresql.conf', sub {
    $_ .= "shared_preload_libraries = 'pg_cron'\ncron.use_background_workers = on\n";
});
$workers->ctl('restart');
$workers->query(<<'SQL');
CREATE EXTENSION pg_cron;
CREATE ROLE nightly LOGIN;
CREATE TABLE models AS
  SELECT 'one' AS name, gmm_fit(i, 1) AS model FROM generate_series(1, 9) AS i;
CREATE TABLE salaries (salary int);
GRANT USAGE ON SCHEMA cron TO nightly;
GRANT SELECT, UPDATE ON models TO nightly;
SET ROLE nightly;
SELECT cron.schedule('fits', '* * * * *',
  'UPDATE models SET model = (SELECT gmm_fit(i, 1) FROM generate_series(1, 20) AS i)');
SELECT cron.schedule('fails', '* * * * *', 'SELECT gmm_fit(salary, 1) FROM salaries');
SQL

# ---- the first minute ----

sub every_minute {
    my (@jobs) = @_;
    my $list = join ', ', map { "'$_'" } @jobs;
    owner("UPDATE cron.job SET schedule = '* * * * *', active = jobname IN ($list)
           WHERE active OR jobname IN ($list)");
}
# Whether each of these jobs has had a run that has ended, since a run.
sub ended {
    my ($since, @jobs) = @_;
    my $list = join ', ', map { "'$_'" } @jobs;
    return 'SELECT count(DISTINCT jobid) = ' . @jobs . " FROM cron.job_run_details
        JOIN cron.job USING (jobid) WHERE status IN ('succeeded', 'failed') AND runid > $since
        AND jobname IN ($list)";
}
sub runs {
    my ($job, $since) = @_;
    return owner("SELECT string_agg(concat_ws(' ', status, split_part(return_message, E'\\n', 1)),
        ', ' ORDER BY runid) FROM cron.job_run_details JOIN cron.job USING (jobid)
        WHERE jobname = '$job' AND runid > " . ($since // 0));
}
my @all = (@names, sort keys %own);
my @short = grep { !/^(?:queued|cancelled)$/ } @all;
every_minute(@all);
is(wait_for($server, ended(0, @short), 240), 't', 'pg_cron runs the jobs');
is(wait_for($server, "SELECT count(*) = 2 FROM cron.job_run_details JOIN cron.job USING (jobid)
    WHERE status = 'running' AND jobname IN ('queued', 'cancelled')"), 't', 'two are under way');
# A job that is under way would be cancelled.
every_minute('queued', 'cancelled');

like(runs('topics'), qr/^succeeded UPDATE 0\b/, 'a job that is under way elsewhere does nothing');
is(owner('SELECT count(*) FROM documents WHERE NOT seen'), '20', 'nothing at all');
unlike($by_hand->run('COMMIT'), qr/ERROR|WARNING/, 'the run by hand ends');
like(runs('payroll'), qr/^failed ERROR:  permission denied for table salaries/,
    'a job that fails is seen to have failed');
like(runs('path'), qr/^failed ERROR:  relation "here" does not exist/,
    'what a session has set does not hold for its jobs');
is(owner("SELECT what || ' ' || said FROM done WHERE said IS NOT NULL LIMIT 1"),
    'bmm 1 2h nightly shop', 'what the role was given does');
for my $job (grep { $_ ne 'payroll' } @names) {
    like(runs($job), qr/^succeeded/, "$job has succeeded");
}
wait_for($server, "SELECT count(*) > 0 FROM bayes_progress WHERE phase = 'reading'");
like($server->query(join '', texts('sql', 'What goes wrong at night')), qr/^queued\|reading\|/m,
    'the view of fits tells which job it is');

# A job that is switched off while it runs.
every_minute('queued');
my $cancelled = "SELECT status = 'failed' AND return_message LIKE 'job cancel%'
    FROM cron.job_run_details WHERE command LIKE '%''cancelled''%' ORDER BY runid LIMIT 1";
is(wait_for($server, $cancelled), 't', 'a job that is switched off has failed');
is(owner("SELECT count(*) FROM done WHERE what = 'cancelled'"), '0', 'while it waits');
owner('SELECT pg_advisory_unlock(2)');
is(wait_for($server, "SELECT count(*) > 0 FROM done WHERE what = 'cancelled'"), 't',
    'but goes on to its end');

# What is left of the test's own jobs, and of second runs on a slow machine.
sub forget {
    owner("DELETE FROM cron.job_run_details AS d USING cron.job AS j
           WHERE d.jobid = j.jobid AND j.jobname IN ('path', 'settings', 'cancelled');
           DELETE FROM cron.job_run_details AS d USING cron.job_run_details AS first
           WHERE d.jobid = first.jobid AND d.runid > first.runid AND d.status <> 'running'");
}
forget();
shows(@before);

# ---- the second minute ----

my $listening = $server->session;
$listening->run('SET ROLE nightly');
$listening->run($_) for grep { /^LISTEN/ } texts('sql', 'Alerts');
make(@alerts);
is(wait_for($workers, ended(0, 'fits', 'fails'), 180), 't', 'background workers run jobs');
is($workers->query("SELECT string_agg(jobname || ': ' || status || ' ' || return_message, '; '
        ORDER BY jobname) FROM (SELECT DISTINCT jobname, status, return_message
        FROM cron.job_run_details JOIN cron.job USING (jobid)) AS r"),
    'fails: failed ERROR: permission denied for table salaries; fits: succeeded UPDATE 1',
    'and say how they went');
my $holder = $workers->session;
$holder->run('SELECT pg_advisory_lock(1)');
$workers->query("UPDATE cron.job SET active = false; SET ROLE nightly;
    SELECT cron.schedule('long', '* * * * *',
        'UPDATE models SET model = NULL FROM pg_advisory_xact_lock(1)')");

my $since = owner('SELECT max(runid) FROM cron.job_run_details');
owner('ALTER ROLE nightly SET search_path = elsewhere, public');
my @second = ('alert failed', 'alert drift', 'digits', 'path');
every_minute(@second, 'queued');
is(wait_for($server, ended($since, @second), 240), 't', 'the second minute');
# At no time, so that what runs now was due before.
owner("UPDATE cron.job SET schedule = '0 0 31 2 *'");

like(runs('digits', $since), qr/^succeeded UPDATE 0\b/, 'a fit that has converged is left alone');
like(runs('path', $since), qr/^succeeded/, 'a path that the role was given is that of its jobs');
my $told = $listening->run('SELECT 1');
like($told, qr/"jobs" with payload "payroll failed: ERROR:  permission denied for table salaries"/,
    'who listens is told of a job that failed');
like($told, qr/"jobs" with payload "orders of 2026-01-30: \w+/, 'and of drift');
shows(@alerts);
owner("SET ROLE nightly; $_; RESET ROLE") for map { $_->{text} =~ /\$\$(.*)\$\$/s } @alerts;
unlike($listening->run('SELECT 1'), qr/payload/, 'once');

is(runs('queued'), 'running', 'a job runs once at a time');
owner('SELECT pg_advisory_unlock(1)');
is(wait_for($server, "SELECT count(*) > 1 FROM done WHERE what = 'queued'"), 't',
    'the run that was due meanwhile comes after it');

# A crash.
is(wait_for($workers, "SELECT count(*) > 0 FROM cron.job_run_details JOIN cron.job USING (jobid)
    WHERE jobname = 'long' AND status = 'running'", 180), 't', 'a long job runs');
$workers->query("UPDATE cron.job SET schedule = '0 0 31 2 *'");
$workers->ctl('stop', '-m', 'immediate');
$workers->ctl('start');
is(wait_for($workers, "SELECT status = 'failed' AND return_message = 'server restarted'
    FROM cron.job_run_details JOIN cron.job USING (jobid) WHERE jobname = 'long'"), 't',
    'after a crash it has failed');
is($workers->query('SELECT rows FROM models, bayes_info(model)'), '20',
    'and the model is that of before');

# ---- the statements by themselves ----

# One that comes so late that it has the lock, but began with the model of before.
$owner->run("INSERT INTO documents SELECT page, words FROM manual WHERE page = 'indexes-types'");
my %other = (topics => [4, 'lda_fit(words, 4) FROM documents'], segments =>
    [2, 'bmm_fit(c, 2) FROM (SELECT age, spend, visits, plan FROM customers) AS c']);
for my $job (sort keys %other) {
    my ($components, $fit) = @{$other{$job}};
    $owner->run("BEGIN; UPDATE models SET model = (SELECT $fit) WHERE name = '$job'", 120);
    $session->send($commands{$job});
    is(wait_for($server, "SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'
        AND pid = " . $session->pid), 't', "$job waits for who changes the model");
    $owner->run('COMMIT');
    unlike($session->wait(120), qr/ERROR/, 'and then');
    is(owner("SELECT components FROM models, bayes_info(model) WHERE name = '$job'"),
        $components, 'goes on from what it is now');
}

# Each does something, and nothing at all while another session has its lock.
my $left = "SELECT concat_ws(' ', (SELECT string_agg(xmin::text, ' ' ORDER BY name) FROM models),
    (SELECT max(xmin::text::bigint) FROM customer_models), (SELECT count(*) FROM regimes),
    (SELECT count(*) FROM history), (SELECT count(*) FROM documents WHERE NOT seen))";
sub locked {
    my ($job) = @_;
    my ($lock) = $commands{$job} =~ /(hashtext\(.*?\))/;
    my ($name) = $commands{$job} =~ /(?<!SET )\bname = ('\w+')/;
    $lock =~ s/name/$name/;
    owner("SELECT pg_advisory_lock($lock)");
    my $before = owner($left);
    $session->run($commands{$job}, 120);
    is(owner($left), $before, "$job does nothing beside another run");
    owner("SELECT pg_advisory_unlock($lock)");
    $session->run($commands{$job}, 120);
    isnt(owner($left), $before, 'and something without it');
}
owner("INSERT INTO orders SELECT i, '2026-01-31', 5 + i, 20 + i FROM generate_series(1, 9) AS i;
    INSERT INTO documents SELECT page, words FROM manual WHERE page = 'indexes-intro'");
locked($_) for qw(segments topics regimes habits orders);

# Slices: each goes on where the last one ended, until there is nothing to do.
my $first = "UPDATE models SET model = (SELECT gmm_fit(x, 10, '{\"covariance\": \"spherical\",
    \"resumable\": true, \"max_seconds\": 1e-9}') FROM digits) WHERE name = 'digits'";
owner($first);
my $state = "SELECT converged FROM models, bayes_info(model) WHERE name = 'digits'";
locked('digits');
owner($first);
for (1 .. 3) {
    $session->run($commands{digits} =~ s/\b120\b/1e-9/r, 120);
    is(owner($state), 'f', 'a slice is not the whole');
}
$session->run($commands{digits}, 120);
is(owner($state), 't', 'the last one is');
is(owner(<<'SQL'), 't', 'and its model that of a fit which never stopped');
SELECT (SELECT model::jsonb #- '{seconds}' #- '{options,max_seconds}' FROM models
    WHERE name = 'digits')
  = (SELECT gmm_fit(x, 10, '{"covariance": "spherical", "resumable": true}')::jsonb - 'seconds'
    FROM digits)
SQL
my $version = owner("SELECT xmin FROM models WHERE name = 'digits'");
$session->run($commands{digits}, 120);
is(owner("SELECT xmin FROM models WHERE name = 'digits'"), $version, 'then nothing is done');

# No rows, no change.
owner('BEGIN; DELETE FROM customers; SET LOCAL ROLE nightly');
unlike(owner($commands{segments}), qr/ERROR/, 'without rows');
is(owner("SELECT components FROM models, bayes_info(model) WHERE name = 'segments'"), '2',
    'the model stays');
owner('ROLLBACK');

# ---- without pg_cron ----

my $file = File::Temp->new;
chmod 0644, $file->filename;
my @lines = map { /\b(psql -Xq .*)/ } texts('cron'), texts('systemd');
is(scalar @lines, 2, 'two lines of shell');
for my $line (@lines) {
    my @command = split ' ', $line =~ s{/srv/jobs/segments\.sql}{$file}r;
    $command[0] = $server->directory . '/bin/psql';
    unshift @command, 'runuser', '-u', $account, '--' if $> != (stat $data)[4];
    for my $statement ($commands{segments}, $commands{payroll}) {
        open(my $out, '>', $file->filename);
        print {$out} $statement;
        close $out;
        my (undef, $err, $status) = $server->run(undef, @command);
        my $good = $statement eq $commands{segments};
        is($status, $good ? 0 : 3, 'psql ends as the statement does');
        $good ? is($err, '', 'and is silent') : like($err, qr/permission denied/, 'and says why');
    }
}

done_testing;
