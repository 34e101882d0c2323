# Fits over distributed tables of Citus, on a cluster that is there already: PG_BAYES_CITUS is the
# connection string of its coordinator (host=... port=... dbname=... user=...), where the user is a
# superuser, and the cluster has pg_bayes of this build and two workers at least. The test makes a
# schema, and drops it in the end.
use strict;
use warnings;
use Close qw(are_close);
use Server;
use Test::More;
use Time::HiRes qw(sleep time);

plan skip_all => 'PG_BAYES_CITUS does not name a coordinator of Citus' unless $ENV{PG_BAYES_CITUS};

# A server that is not ours.
package Coordinator {
    our @ISA = ('Server');
    sub environment {
        my %given = $ENV{PG_BAYES_CITUS} =~ /(\w+)\s*=\s*(\S+)/g;
        my %name = (host => 'PGHOST', port => 'PGPORT', dbname => 'PGDATABASE', user => 'PGUSER');
        return (%ENV, PGOPTIONS => '-c search_path=bayes_citus_test,public',
            map { $name{$_} => $given{$_} } grep { $name{$_} } keys %given);
    }
    sub DESTROY { }
}
my $server = bless {database => 'postgres'}, 'Coordinator';
$server->query('SET client_min_messages = error;
    DROP SCHEMA IF EXISTS bayes_citus_test CASCADE; CREATE SCHEMA bayes_citus_test');
END {
    if ($server && $ENV{PG_BAYES_CITUS}) {
        local $?;
        eval { $server->query('DROP SCHEMA IF EXISTS bayes_citus_test CASCADE') };
    }
}
note $server->query('SELECT citus_version()');
cmp_ok($server->query('SELECT count(*) FROM citus_get_active_worker_nodes()'), '>=', 2, 'workers');

# ---- the rows ----

my $columns = 'id int, x float8, y float8, z float8, g text, u boolean, w float8, v float8[]';
$server->query("SET citus.shard_count = 8;
    CREATE TABLE obs ($columns);
    SELECT create_distributed_table('obs', 'id');
    CREATE TABLE parts ($columns) PARTITION BY RANGE (id);
    CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (7000);
    CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (7000) TO (20000);
    SELECT create_distributed_table('parts', 'id');
    SET citus.shard_count = 1;
    CREATE TABLE one ($columns);
    SELECT create_distributed_table('one', 'id', colocate_with => 'none');
    CREATE TABLE shared (x float8);
    SELECT create_reference_table('shared');
    CREATE TABLE plain AS SELECT i AS id, c * 3 + sin(i * 1.7) + cos(i * 0.37) AS x,
      CASE WHEN i % 13 > 0 THEN c * -2 + sin(i * 2.3) * 0.8 + cos(i * .11) END AS y,
      1e4 + sqrt(i % 17) + sin(i * 0.7) AS z,
      ('{low,blue,NULL}'::text[])[1 + (c + i / 50) % 3] AS g,
      (i * 7 % 11 < 3 + 2 * c) AS u, 0.5 + i % 3 AS w, ARRAY[c + sin(i), c - cos(i * 0.9)] AS v
    FROM (SELECT i, i % 3 AS c FROM generate_series(1, 12500) AS i) AS s;
    INSERT INTO obs SELECT * FROM plain;
    INSERT INTO parts SELECT * FROM plain;
    INSERT INTO one SELECT * FROM plain;");

# ---- the same models ----

my $session = $server->session;
$session->run("SET client_min_messages = error");
my $fixed = '"max_iter": 7, "tol": 0, "restarts": 2';
sub model {
    my ($function, $query, $options, $k) = @_;
    $k //= 3;
    $query =~ s/'/''/g;
    return "SELECT ($function('$query', $k, '{$options}')::jsonb - 'seconds'
      - 'row_reference')::text";
}
for my $case (
    (map { ["gmm, $_", 'gmm_model', 'SELECT x, y, z FROM %s', "\"method\": \"$_\", $fixed"] }
            qw(em map vi kmeans)),
    ['arrays with weights', 'gmm_model', 'SELECT v, w FROM %s', $fixed],
    ['expressions', 'gmm_model', 'SELECT x * 2 AS a, z - 1e4 AS z FROM %s WHERE y > -3', $fixed],
    ['an order', 'gmm_model', 'SELECT x, z FROM %s ORDER BY z', $fixed],
    ['a row', 'gmm_model', 'SELECT x, z FROM %s WHERE id = 7', $fixed, 1],
    (map { ["bmm, $_", 'bmm_model', 'SELECT x, g, u FROM %s', "\"method\": \"$_\", $fixed"] }
            qw(em vi)),
    ['bmm, weights', 'bmm_model', 'SELECT g, u, w FROM %s', "\"weight\": \"w\", $fixed"],
    ) {
    my ($name, $function, $query, $given, $k) = @$case;
    my $expected = $session->run(model($function, sprintf($query, 'plain'), $given, $k));
    for my $table (qw(obs parts one)) {
        next if $table ne 'obs' && $name !~ /vi$|a row/;
        my $said = $session->run(model($function, sprintf($query, $table),
                "$given, \"push_down\": true", $k));
        ok(are_close($said, $expected) && $said =~ /^\{/, "$name, $table: the model of one table")
            or diag substr($said, 0, 600), "\n", substr($expected, 0, 600);
    }
}
my $bits = model('bmm_model', 'SELECT x, y, g, u FROM obs', "\"push_down\": true, $fixed");
my $before = $session->run($bits);
is($server->query("SET client_min_messages = error; $bits"), $before,
    'a fit of given shards has the same bits in every run');
is($session->run("BEGIN; SAVEPOINT s; $bits; ROLLBACK TO s; $bits; COMMIT"), "$before\n$before",
    'savepoints');
is($session->run("SET citus.max_adaptive_executor_pool_size = 1; $bits"), $before,
    'one session on each worker');
$session->run('RESET citus.max_adaptive_executor_pool_size');
is($session->run(model('gmm_model', 'SELECT x FROM obs WHERE id < 0', '"push_down": true')), '',
    'no rows give no model');
my (undef, $notice) = $server->attempt("SELECT count(*)
    FROM gmm_fit('SELECT x, z FROM obs', 2, '{\"push_down\": \"auto\", $fixed}')");
like($notice, qr/NOTICE:  00000: fit is pushed down: \d+ servers, 12500 rows/, 'auto says so');
for my $case (['SELECT x FROM shared', '"shared" is known to Citus, but not distributed'],
    ['SELECT o.x FROM obs AS o JOIN obs AS p USING (id)', 'not over a single table']) {
    my (undef, $said) = $server->attempt("SELECT gmm_model('$case->[0]', 2,
        '{\"push_down\": true}')");
    like($said, qr/query cannot be pushed down: .*$case->[1]/, "$case->[0]: refused");
}
my (undef, $pulled) = $server->attempt("SET citus.coordinator_aggregation_strategy = 'disabled';
    SELECT gmm_fit(v, 2) FROM obs");
like($pulled, qr/ERROR/, 'what an aggregate would collect');
isnt($server->query("SET citus.coordinator_aggregation_strategy = 'disabled';
    SET client_min_messages = error; $bits"), '', '... a fit that is pushed down does not');

# ---- values of the shards ----

ok(are_close($server->query("SELECT bayes_rollup(result::bayes_model)::jsonb -> 'statistics'
        FROM run_command_on_shards('obs', 'SELECT nb_fit(g, v) FROM %s WHERE g IS NOT NULL')
        WHERE result <> ''"),
    $server->query("SELECT nb_fit(g, v)::jsonb -> 'statistics' FROM plain WHERE g IS NOT NULL")),
    'models of shards are rolled up');

# ---- what happens in the middle of a fit ----

my $long = model('gmm_model', 'SELECT x, y, z, x * y AS a, z * x AS b, sin(z) AS c FROM obs
    WHERE y IS NOT NULL', '"push_down": true, "tol": 0, "max_iter": 100000, "method": "em"', 12);
my $working = q{state <> 'idle' AND pid <> pg_backend_pid() AND backend_type = 'client backend'
    AND (query LIKE '%_bayes_pass_over_shard%' OR state LIKE 'idle in%')
    AND query NOT LIKE '%pg_stat_activity%'};
sub on_workers {
    my ($what) = @_;
    return $server->query('SELECT sum(result::int) FROM run_command_on_workers($q$SELECT count('
        . "$what) FROM pg_stat_activity WHERE $working\$q\$)");
}
sub started {
    $session->send($long);
    for (1 .. 200) {
        return if on_workers('*') > 0;
        sleep 0.05;
    }
    die 'no passes';
}
sub nothing_left {
    my ($name) = @_;
    my $left;
    for (1 .. 40) { last if ($left = on_workers('*')) == 0; sleep 0.1 }
    is($left, 0, "$name: no statement or transaction is left on a worker");
}
started();
my $begin = time;
$session->cancel;
like($session->wait, qr/57014/, 'a cancel ends the fit');
cmp_ok(time - $begin, '<', 1, '... within a second');
nothing_left('cancel');
for my $level ('READ COMMITTED', 'REPEATABLE READ') {
    $session->run("BEGIN ISOLATION LEVEL $level; SET LOCAL statement_timeout = '3s'");
    started();
    $server->query('UPDATE obs SET x = x + 1 WHERE id < 5000');
    $server->query('DELETE FROM obs WHERE id = 9');
    like($session->wait, qr/57014/, "$level: rows that change do not end a fit");
    $session->run('ROLLBACK');
    nothing_left('a timeout');
}
$session->run('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM obs');
my $stable = $session->run($bits);
$server->query('UPDATE obs SET x = x - 1 WHERE id < 5000');
is($session->run($bits), $stable, 'under REPEATABLE READ the next fit has the same rows');
$session->run('COMMIT');
isnt($session->run($bits), $stable, '... and after it those that there are');
my (undef, $failed) = $server->attempt("UPDATE obs SET x = 'NaN' WHERE id = 77; $bits");
like($failed, qr/NaN.*DETAIL:.*This is an error of server/s, 'a value that cannot be used');

done_testing();
