# More rows than maintenance_work_mem holds: they go to a temporary file, which PostgreSQL counts,
# limits and removes; the model is the same to the last bit for any budget, that of rows in memory
# up to rounding (there they have another order), and memory stays within the budget.
#
# How long, for the runner:
# seconds: 12
use strict;
use warnings;
use Digest::MD5 qw(md5_hex);
use Effort;
use Server;
use Spill;
use Test::More;

my $server = Server->shared;
$server->query(<<'SQL');
CREATE TABLE rows AS SELECT i AS id,
  ARRAY(SELECT sin(i * j * 0.7) + j * (i % 5) FROM generate_series(1, 16) AS j) AS x, 1 + i % 3 AS w
FROM generate_series(1, 40000) AS i;
CREATE TABLE models AS SELECT gmm_fit(x, 3, '{"restarts": 1, "max_iter": 3, "tol": 1e6}') AS model
FROM rows;
CREATE FUNCTION timeless(model bayes_model) RETURNS text LANGUAGE sql RETURN (model::jsonb
  - 'seconds')::text;
ANALYZE;
SQL
my $megabytes = 40000 * 16 * 8 / 1048576;

my $session = $server->session;

# ---- the same model ----

my $quick = '"max_iter": 5, "restarts": 1, "tol": 0';
my %statements = (
    (map { ("aggregate, $_"
        => "SELECT timeless(gmm_fit(x, 5, '{\"method\": \"$_\", $quick}'))
          FROM rows") } qw(em map vi svi kmeans)),
    (map { ("aggregate, em $_"
        => "SELECT timeless(gmm_fit(x, 5, '{\"method\": \"em\", \"covariance\": \"$_\", $quick}'))
          FROM rows") } qw(diagonal spherical tied)),
    'weights' => "SELECT timeless(gmm_fit(x, 5, '{$quick}', w)) FROM rows",
    'rows left out' => "SELECT timeless(gmm_fit(CASE WHEN id % 7 > 0 THEN x END, 5, '{$quick}'))
          FROM rows",
    'random start' => "SELECT timeless(gmm_fit(x, 5,
          '{\"init\": \"random\", \"max_iter\": 2, \"restarts\": 2, \"tol\": 0}')) FROM rows",
    'start from a model' => "SELECT timeless(gmm_fit(x, model, '{\"max_iter\": 2, \"tol\": 0}'))
          FROM rows, models",
    'update' => "SELECT timeless(gmm_update(x, model, '{\"max_iter\": 2, \"tol\": 0}')) FROM rows,
          models",
    'select' => "SELECT string_agg(timeless(s.model), ' ')
          FROM (SELECT gmm_select(x, '{2,3}', '{$quick, \"models\": true}') AS a FROM rows) AS r,
          unnest(a) AS s",
    'relation' => "SELECT * FROM gmm_fit('SELECT x FROM rows', 5, '{$quick}')",
    'relation, columns' => "SELECT *
          FROM gmm_fit('SELECT x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8] FROM rows', 5,
          '{$quick}')",
    'select from a query'
        => "SELECT string_agg(timeless(model), ' ')
          FROM gmm_select('SELECT x, w FROM rows', '{2,3}', '{$quick, \"models\": true}')",
    'window' => "SELECT md5(string_agg(c::text, ' ' ORDER BY id))
          FROM (SELECT id, gmm_cluster(x, 5, '{$quick}') OVER () AS c FROM rows) AS r",
    # One fit to a frame, and one model of it read: one to a row would take all the time.
    'growing frame' => "SELECT md5(string_agg(timeless(m), ' ' ORDER BY id))
          FROM (SELECT id, gmm_fit(x, 2, '{$quick}') OVER (ORDER BY id / 8000) AS m FROM rows) AS r
          WHERE id % 8000 = 1 OR id = 40000",
    'groups' => "SELECT md5(string_agg(m, ' ' ORDER BY g))
          FROM (SELECT id % 3 AS g, timeless(gmm_fit(x, 2, '{$quick}')) AS m FROM rows
          GROUP BY 1) AS r",
);
$session->run(settings(1, '256MB'));
my %want = results_of($session, %statements);
# What is not spilled leaves no trace of a file.
unlike(files_of($session, $statements{'aggregate, em'}), qr/temporary file/,
    'rows that fit into memory need no file');
my %spilled;
my $objective = qr/"objective": (-?\d[^,]*)/;
for my $case ([1, '1MB'], [2, '1MB'], [2, '3MB'], [5, '1MB']) {
    my ($threads, $memory) = @$case;
    $session->run(settings($threads, $memory));
    my @names = $memory eq '1MB' && $threads < 3 ? sort keys %statements
        : ('aggregate, em', 'aggregate, svi', 'relation', 'window', 'groups', 'weights');
    my %got = map { $_ => $session->run($statements{$_}, 120) } @names;
    # Of what is a third of the rows, 3 MB leave nothing to spill.
    @names = grep { $_ ne 'groups' } @names if $memory eq '3MB';
    $spilled{$_} //= $got{$_} for @names;
    my $what = "maintenance_work_mem = $memory, threads: $threads";
    is_deeply([grep { $got{$_} ne $spilled{$_} } @names], [], "$what: the same to the last bit");
    # The minibatches of svi are others.
    my @models = grep { !/svi/ && $got{$_} =~ $objective } @names;
    is_deeply([map {
        my ($one, $other) = map { $_ =~ $objective } $got{$_}, $want{$_};
        abs($one - $other) <= 1e-9 * abs($one) ? () : "$_: $one / $other"
    } @models], [], "$what: near that of rows in memory");
}

# ---- in any order, if the aggregate is told one ----

$session->run(settings(2, '1MB'));
my %ordered = map {
    $session->run("SELECT md5(timeless(gmm_fit(x, 5, '{\"method\": \"svi\", $quick}' ORDER BY id)))
          FROM (SELECT * FROM rows ORDER BY $_ OFFSET 0) AS r", 120) => $_
} 'id', 'id DESC', 'md5(id::text)';
is(join(' ', keys %ordered), md5_hex($spilled{'aggregate, svi'}),
    'ORDER BY in the aggregate: the same to the last bit in any order of the rows')
    or diag(%ordered);

# ---- files: counted, limited, removed ----

$session->run(settings(1, '1MB'));
my %one_fit = ('aggregate' => $statements{'aggregate, em'}, 'relation' => $statements{relation},
    'window' => $statements{window});
for my $form (sort keys %one_fit) {
    my @sizes = files_of($session, $one_fit{$form})
        =~ /^LOG:  \w+: temporary file: path "[^"]*", size (\d+)/mg;
    my ($size) = sort { $b <=> $a } @sizes;
    $size //= 0;
    diag(sprintf '%s: %.1f MB of rows, file of %.1f MB', $form, $megabytes, $size / 1048576);
    cmp_ok($size, '>', ($megabytes - 1.5) * 1048576,
        "$form: the file has what does not fit, and log_temp_files tells");
    cmp_ok($size, '<', ($megabytes + 0.5) * 1048576, 'and no more') if $form ne 'window';
    no_file_is_left($server, 'it is gone when the query is done');
    $session->run("SET temp_file_limit = '2MB'");
    like($session->run($one_fit{$form}, 120), qr/^ERROR:  53400:/,
        "$form: temp_file_limit is kept");
    no_file_is_left($server, 'and what was written by then is gone');
    like($session->run('BEGIN; SAVEPOINT a; ' . $one_fit{$form}
        . '; ROLLBACK TO a; SELECT 77; COMMIT', 120), qr/^77$/m, 'in a subtransaction too');
    $session->run('RESET temp_file_limit');
}

# Errors while rows lie in a file: from the rows, from the query, from the fit; caught or not.
my %failing = (
    'a bad row' => "SELECT gmm_fit(CASE WHEN id < 30000 THEN x ELSE x || 1::float8 END, 2)
          FROM rows",
    'an expression' => "SELECT gmm_fit(ARRAY[1 / (30000 - id), 1, 2, 3, 4, 5, 6, 7]::float8[], 2)
          FROM rows",
    'a query' => "SELECT gmm_fit('SELECT 1 / (30000 - id), 1, 2, 3, 4, 5, 6, 7 FROM rows', 2)",
    'a partition' => "SELECT gmm_cluster(CASE WHEN id < 30000 THEN x ELSE x || 1::float8 END, 2)
          OVER () FROM rows",
    'the fit' => "SELECT gmm_fit(ARRAY[id % 2, 0, 0, 0, 0, 0, 0, 0]::float8[], 3) FROM rows",
    'the fit to a query' => "SELECT gmm_fit('SELECT id % 2, 0, 0, 0, 0, 0, 0, 0 FROM rows', 3)",
    'after the fit' => "SELECT 1 / (count(gmm_fit(x, 2, '{$quick}')) OVER () - 2) FROM rows
          GROUP BY id % 2",
    'between two fits' => "SELECT 1 / (id - 2) FROM (SELECT id % 3 AS id, gmm_fit(x, 2, '{$quick}')
          FROM rows GROUP BY 1 OFFSET 0) AS r",
);
for my $what (sort keys %failing) {
    like($session->run($failing{$what}, 120), qr/^ERROR:  22/, "error in $what");
    no_file_is_left($server);
}
$session->run('CREATE FUNCTION caught(
      statement text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN EXECUTE statement; RETURN 0;
      EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE; END $$');
my $list = join ', ', map { my $s = $failing{$_}; $s =~ s/'/''/g; "'$s'" } sort keys %failing;
unlike($session->run("SELECT caught(s) FROM unnest(ARRAY[$list]) AS s", 120), qr/^(?:0|XX.*)$/m,
    'all of them caught in one transaction');
$session->run("BEGIN; SELECT caught('SELECT gmm_fit(x, 2) FROM rows, nothing');
      SELECT caught('$_') FROM generate_series(1, 3)", 120)
    for map { my $s = $failing{'a bad row'}; $s =~ s/'/''/g; $s } 1;
no_file_is_left($server, 'files of a caught error are gone before the transaction ends');
$session->run('COMMIT');

# A portal that is not read to its end.
$session->run("BEGIN; DECLARE c CURSOR FOR SELECT id,
      gmm_cluster(x, 5, '{$quick}') OVER (PARTITION BY id % 2) FROM rows; FETCH 3 FROM c", 120);
$session->run('CLOSE c');
no_file_is_left($server, 'a cursor closed early leaves no file');
$session->run("DECLARE c CURSOR FOR SELECT id % 2, gmm_fit(x, 2, '{$quick}') FROM rows GROUP BY 1;
      FETCH 1 FROM c; SAVEPOINT s; FETCH 1 FROM c; ROLLBACK TO s", 120);
$session->run('COMMIT');
no_file_is_left($server, 'nor does one that the end of the transaction closed');
$session->run("BEGIN; SAVEPOINT s; DECLARE c CURSOR FOR SELECT id,
      gmm_cluster(x, 5, '{$quick}') OVER (PARTITION BY id % 2) FROM rows; FETCH 3 FROM c; RELEASE s;
      FETCH 1 FROM c; SAVEPOINT t; MOVE 30000 IN c; FETCH 1 FROM c; ROLLBACK TO t; COMMIT", 120);
no_file_is_left($server, 'nor one that outlived its subtransaction');
is($session->run("DECLARE h CURSOR WITH HOLD FOR $statements{'aggregate, em'}; FETCH 1 FROM h;
      CLOSE h", 120), $spilled{'aggregate, em'}, 'a cursor WITH HOLD');
no_file_is_left($server, 'leaves none');

# Cancel while writing and while reading.
cancels_leave_nothing($server, $session, [0.02, 0.05, 0.1, 0.2, 0.4, 0.8],
    "SELECT gmm_fit(x, 8, '{\"method\": \"em\", \"max_iter\": 1000000, \"tol\": 0}') FROM rows");

# ---- memory ----

my $before = 'SELECT sum(x[1]) FROM rows;
      SELECT gmm_fit(x, 2, \'{"max_iter": 2, "restarts": 1, "tol": 1e6}\') FROM rows
      WHERE id <= 1000';
# Beside the budget: the start's sample of 10,000 rows, the model's statistics, what any query
# takes.
memory_stays_near($server, $before,
    ['aggregate', "SELECT gmm_fit(x, 5, '{\"method\": \"em\", $quick}') FROM rows,
          generate_series(1, 5)", 12],
    ['relation', "SELECT * FROM gmm_fit('SELECT x FROM rows, generate_series(1, 5)', 5,
          '{\"method\": \"em\", $quick}')", 12],
    ['window', "SELECT count(c) FROM (SELECT gmm_cluster(x, 5, '{\"method\": \"em\", $quick}')
          OVER () AS c FROM rows, generate_series(1, 5)) AS r", 12]);

# Groups: one after the other, sorted; few at a time, if they are hashed all the same.
my $grouped = "SELECT count(m) FROM (SELECT gmm_fit(x, 2, '{\"method\": \"em\", $quick}') AS m
      FROM rows, generate_series(1, 10) GROUP BY id % 20) AS r";
like($server->query("EXPLAIN $grouped"), qr/GroupAggregate.*Sort/s, 'groups are sorted');
SKIP: {
    skip 'the peak of a process cannot be reset here', 2
        unless defined peak_rise_with($server, 4, $before, 'SELECT 1');
    for my $case (['sorted', '', 1], ['hashed', 'SET enable_sort = off;', 3]) {
        my ($how, $first, $times) = @$case;
        my $rise = peak_rise_with($server, 4, $before, "$first $grouped");
        diag(sprintf '20 groups of %.1f MB, %s, maintenance_work_mem 4 MB: memory rose by %.1f MB',
            $megabytes / 2, $how, $rise);
        cmp_ok($rise, '<', 4 * $times + 14, "groups, $how: memory is that of few of them");
    }
}

# Many groups at once: PostgreSQL counts what they hold, and spills whole groups.
my $groups = effort(3000);
like($session->run("SET work_mem = '1MB'; SET maintenance_work_mem = '1MB'; SET enable_sort = off;
      SELECT count(m), sum((SELECT i.rows FROM bayes_info(m) AS i))
      FROM (SELECT gmm_fit(x, 1) AS m FROM rows GROUP BY id % $groups) AS r", 120),
    qr/^$groups\|40000$/, "$groups groups in little memory");
no_file_is_left($server);

done_testing;
