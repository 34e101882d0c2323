# What goes wrong in the middle of a fit over two servers: the statement fails and says where, or
# the fit is that of the rows as they were when it began; no server has anything left to do, or a
# file.
#
# How long, for the runner:
# seconds: 50
use strict;
use warnings;
use Server;
use Test::More;
use Time::HiRes qw(sleep time);

my %log = (log_statement => 'all', maintenance_work_mem => '1MB', temp_file_limit => '16MB');
my %server = (map({ $_ => Server->new(settings => {%log}) } qw(one two)), here => Server->new);
my ($one, $two, $here) = @server{qw(one two here)};
my $columns = 'id int, x float8, y float8';
my $rows = 'SELECT i, sin(i * 1.7) + mod(i, 3), cos(i * 0.37) FROM generate_series(%s) AS i';
for my $case ([$one, '0, 29999'], [$two, '30000, 59999']) {
    my ($server, $range) = @$case;
    $server->query("CREATE TABLE obs ($columns); CREATE ROLE reader LOGIN;
        GRANT SELECT ON obs TO reader; INSERT INTO obs " . sprintf($rows, $range));
}
$here->query("CREATE EXTENSION postgres_fdw; CREATE ROLE reader LOGIN;
    CREATE TABLE obs ($columns) PARTITION BY RANGE (id);
    GRANT SELECT ON obs TO reader;" . join '', map {
        my ($name, $from, $to) = @$_;
        my $host = $server{$name}->host;
        "CREATE SERVER $name FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '5432',
          dbname 'postgres', extensions 'pg_bayes', async_capable 'true');
        CREATE USER MAPPING FOR reader SERVER $name
          OPTIONS (user 'reader', password_required 'false');
        CREATE FOREIGN TABLE obs_$name PARTITION OF obs FOR VALUES FROM ($from) TO ($to)
          SERVER $name OPTIONS (table_name 'obs');
        GRANT SELECT ON obs_$name TO reader;
    " } ['one', 0, 30000], ['two', 30000, 60000]);

my $columns_of_fit = 'x, y, x * y AS a, x * x AS b, y * y AS c, sin(x) AS d, cos(y) AS e,
    x + y * y AS f, sin(y) AS g, cos(x) AS h';
sub fit {
    my ($iterations) = @_;
    return "SELECT md5((gmm_model('SELECT $columns_of_fit FROM obs', 12, '{\"push_down\": true,
      \"tol\": 0, \"max_iter\": $iterations, \"restarts\": 1, \"method\": \"em\"}')::jsonb
      - 'seconds')::text)";
}

sub new_session {
    my $session = $here->session;
    $session->run('SET ROLE reader; SET client_min_messages = error');
    return $session;
}
# Starts a statement, and waits for passes that it makes; or for the first that it does not make.
sub started {
    my ($session, $sql) = @_;
    my $before = () = $two->log =~ /_bayes_make_pass/g;
    $session->send($sql);
    for (1 .. 300) {
        return if (() = $two->log =~ /_bayes_make_pass/g) > $before + 12;
        sleep 0.05;
    }
    die 'no passes: ' . $session->wait(1);
}
# What is still there, a while after the end: statements, transactions and files.
sub remains {
    my (@names) = @_;
    my $left = '';
    for (1 .. 40) {
        $left = join ' ', map {
            my $server = $server{$_};
            ($server->query("SELECT string_agg(concat_ws(' ', '$_:', pid, state), ', ')
                FROM pg_stat_activity WHERE backend_type = 'client backend'
                AND pid <> pg_backend_pid() AND state <> 'idle'") || (),
                $server->temporary_files)
        } @names;
        return '' if $left eq '';
        sleep 0.1;
    }
    return $left;
}
my $at_two = qr/DETAIL:.*This is an error of server "two", table public\.obs_two\./s;
my $at_two_or_all = qr/DETAIL:.*This is an error of (?:server "one" or )?server "two"/s;
sub fails_so {
    my ($session, $name, $error, @names) = @_;
    like($session->wait, $error, "$name: an error");
    is(remains(@names ? @names : qw(one two here)), '', '... and nothing is left');
}
sub backend_of_two {
    return $two->query("SELECT pid FROM pg_stat_activity WHERE application_name = 'postgres_fdw'
        AND state <> 'idle'");
}

my $session = new_session();
my $before = $session->run(fit(40));
like($before, qr/^[0-9a-f]{32}$/, 'a fit');

# ---- what does not touch a fit that has begun ----

my $other = new_session();
started($session, fit(40));
$two->query('DELETE FROM obs WHERE id % 2 = 0; UPDATE obs SET x = x + 1');
$here->query("CREATE TABLE more ($columns); INSERT INTO more SELECT i, i, i
    FROM generate_series(60000, 60999) AS i; GRANT SELECT ON more TO reader;
    ALTER TABLE obs ATTACH PARTITION more FOR VALUES FROM (60000) TO (70000)");
is($session->wait, $before, 'the fit is that of the rows and partitions when it began');
my $after = $session->run(fit(40));
like($after, qr/^[0-9a-f]{32}$/, '... and the next one');
isnt($after, $before, '... that of those that there are now');
is(remains(qw(one two here)), '', '... and nothing is left');
$here->query('ALTER TABLE obs DETACH PARTITION more');
$two->query('TRUNCATE obs; INSERT INTO obs ' . sprintf($rows, '30000, 59999'));
is($session->run(fit(40)), $before, 'the first rows again');

# ---- cancel ----

started($session, fit(100000));
isnt(join(' ', $two->temporary_files), '', 'rows are in a file');
my $begin = time;
$session->cancel;
$session->wait;
my $took = time - $begin;
cmp_ok($took, '<', 1, 'a cancel ends the fit within a second');
is(remains(qw(one two here)), '', '... and nothing is left');

# ---- errors of one server ----

started($session, fit(100000));
$two->query('REVOKE SELECT ON obs FROM reader');
fails_so($session, 'a revoked grant', qr/42501: permission denied for table obs.*$at_two/s);
$two->query('GRANT SELECT ON obs TO reader');
$two->query('ALTER ROLE reader SET temp_file_limit = 512');
my $limited = new_session();
$limited->send(fit(100000));
fails_so($limited, 'no more room for files on one server',
    qr/53400: temporary file size exceeds.*$at_two/s);
$two->query('ALTER ROLE reader RESET temp_file_limit');

started($session, fit(100000));
$two->query('SELECT pg_terminate_backend(' . backend_of_two() . ')');
fails_so($session, 'a backend that is told to end', qr/ERROR:  (?:57P01|08006).*$at_two_or_all/s);

# ---- rows that change from one reading to the next ----

# Sequences know no transactions; a session may set what it likes, though it may not write.
$two->query('CREATE SEQUENCE moves; GRANT ALL ON moves TO PUBLIC; SELECT nextval(\'moves\');
    ALTER TABLE obs RENAME TO still;
    CREATE FUNCTION moved() RETURNS float8 LANGUAGE sql AS $$SELECT last_value FROM public.moves$$;
    CREATE VIEW obs AS SELECT id, x + moved() AS x, y FROM still;
    GRANT SELECT ON obs TO reader;
    ALTER AGGREGATE _bayes_make_pass(int, bayes_pass ORDER BY boolean) RENAME TO real_pass;
    CREATE FUNCTION nothing(bayes_pass, boolean) RETURNS bayes_pass LANGUAGE sql AS $$SELECT $1$$;
    CREATE TABLE no_fit (request bayes_pass);
    CREATE FUNCTION forgetful(bayes_pass, part int, request bayes_pass) RETURNS bayes_pass
    LANGUAGE sql SECURITY DEFINER AS $$
      SELECT public.real_pass(part, CASE WHEN public.moved() = 2
          AND current_setting(\'moves.forgot\', true) IS DISTINCT FROM \'once\'
          AND set_config(\'moves.forgot\', \'once\', false) = \'once\'
          THEN (SELECT n.request FROM public.no_fit AS n) ELSE request END)
        WITHIN GROUP (ORDER BY true) $$;
    CREATE AGGREGATE _bayes_make_pass(int, bayes_pass ORDER BY boolean) (
      SFUNC = nothing, STYPE = bayes_pass, FINALFUNC = forgetful)');
my ($request) = $two->log =~ /_bayes_make_pass\(\d+, \$1.*?(?i:parameters): \$1 = '([^']+)'/s;
$two->query("INSERT INTO no_fit VALUES ('$request')");
started($session, fit(100000));
$two->query("SELECT nextval('moves')");  # the next pass finds no rows, and they are read again
fails_so($session, 'rows that have changed when they are read again', qr/
    22023:\ the\ rows\ of\ server\ "two",\ table\ public\.obs_two\ have\ changed\ since\ the\ fit
    .*HINT:[^\n]*REPEATABLE\ READ/sx);
$two->query('DROP VIEW obs; ALTER TABLE still RENAME TO obs;
    DROP AGGREGATE _bayes_make_pass(int, bayes_pass ORDER BY boolean);
    ALTER AGGREGATE real_pass(int, bayes_pass ORDER BY boolean) RENAME TO _bayes_make_pass');
is($session->run(fit(40)), $before, 'the first rows again');

# ---- processes that stop, and that are gone ----

started($session, fit(100000));
my $stopped = backend_of_two();
kill 'STOP', $stopped;
$other->run("BEGIN; SET LOCAL statement_timeout = '1s'");
kill 'CONT', $stopped;
$session->cancel;
$session->wait;
$other->send(fit(100000));
for (1 .. 100) { last if ($stopped = backend_of_two()); sleep 0.05 }
kill 'STOP', $stopped;
sleep 1.5;
isnt(remains('here'), '', 'the timeout waits for the other server to end its statement');
kill 'CONT', $stopped;
fails_so($other, 'a server that does not answer, and a timeout',
    qr/57014: canceling statement due to statement timeout/, qw(one two));
$other->run('ROLLBACK');

started($session, fit(100000));
kill 'KILL', backend_of_two();
fails_so($session, 'a backend that is killed', qr/ERROR:  (?:57P0[12]|08006).*$at_two_or_all/s,
    qw(one here));
for (1 .. 100) { last if eval { $two->query('SELECT 1') }; sleep 0.1 }
is(remains('two'), '', '... nor on its server');
is($session->run(fit(40)), $before, '... and the next fit works');

started($session, fit(100000));
$two->ctl('stop', '-m', 'immediate');
fails_so($session, 'a server that is stopped', qr/ERROR:  (?:57P0[12]|08006).*$at_two_or_all/s,
    qw(one here));
like($session->run(fit(40)), qr/ERROR:  08001: could not connect to server "two"/,
    '... which the next fit says too');
$two->ctl('start');
is(remains('two'), '', '... and nothing is left there');
is($session->run(fit(40)), $before, 'once it is back the fit works');

done_testing();
