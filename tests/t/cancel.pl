# A cancel, or a statement_timeout, at a random moment of every kind of fit: the statement ends at
# once, with 57014, and leaves nothing behind: no memory, no temporary file, no damage to the
# session.
#
# measures: how soon it ends
use strict;
use warnings;
use Server;
use Test::More;
use Time::HiRes qw(time sleep);

srand(20260702);
my $server = Server->shared;
$server->query(<<'SQL');
CREATE TABLE rows AS SELECT i AS id,
  ARRAY(SELECT sin(i * j * 0.7) + j * (i % 7) FROM generate_series(1, 8) AS j) AS x
FROM generate_series(1, 60000) AS i;
CREATE TABLE wide AS SELECT i AS id,
  ARRAY(SELECT sin(i * j * 0.37) FROM generate_series(1, 300) AS j) AS x
FROM generate_series(1, 1000) AS i;
CREATE TABLE models AS SELECT gmm_fit(x, 8, '{"restarts": 1, "max_iter": 2, "tol": 1e6}') AS model
FROM rows WHERE id <= 5000;
CREATE TABLE cloud AS SELECT i AS id, ARRAY[sin(i * 1.1) * exp(cos(i)), cos(i * 1.3)] AS x,
  ARRAY[i % 2, i / 3 % 2, i / 7 % 2] AS bits, ARRAY[i % 11, i % 13 * (i % 2)] AS counts
FROM generate_series(1, 40000) AS i;
CREATE TABLE sequences AS SELECT id,
  ARRAY(SELECT sin(id * i * 0.7) + 3 * (id * i / 7 % 3) FROM generate_series(1, 100) AS i) AS x,
  ARRAY(SELECT chr(97 + (id * i / 5 % 3 * 2 + i * i % 3) % 6)
  FROM generate_series(1, 100) AS i) AS names FROM generate_series(1, 2000) AS id;
CREATE TABLE series AS SELECT array_agg(sin(i * 1.7) + 3 * (i / 50 % 3) ORDER BY i) AS x,
  array_agg(ARRAY[sin(i * 1.7), cos(i * 0.3) + i / 70 % 3] ORDER BY i) AS v
FROM generate_series(1, 500000) AS i;
CREATE TABLE chains AS SELECT hmm_fit(x, 3,
  '{"method": "em", "restarts": 1, "max_iter": 3, "tol": 1e6}') AS model,
  hmm_fit(x, 20, '{"method": "vi", "restarts": 1, "max_iter": 2, "tol": 1e6}') AS large
FROM sequences WHERE id <= 100;
CREATE TABLE processes AS SELECT dpmm_fit(x, '{"concentration": 20, "draws": 200}') AS model,
  dpmm_fit(x, '{"chains": 1, "draws": 50000}') AS long FROM cloud WHERE id <= 60;
ANALYZE;
SQL

# None of these ends by itself in a second.
my $endless = '"max_iter": 1000000, "tol": 0, "restarts": 1000';
my $sampling = '"draws": 100000000, "thin": 1000000';
my %kinds = (
    (map { ($_ => "SELECT gmm_fit(x, 8, '{\"method\": \"$_\", $endless}')
          FROM rows") } qw(em map vi kmeans)),
    svi => "SELECT gmm_fit(x, 8, '{\"method\": \"svi\", $endless}') FROM rows",
    'svi, large batches' => "SELECT gmm_fit(x, 8,
          '{\"method\": \"svi\", \"batch_size\": 1000000, $endless}') FROM rows",
    'vi, independent prior'
        => "SELECT gmm_fit(x, 8, '{\"prior\": {\"type\": \"independent\"}, $endless}') FROM rows",
    (map { ("em $_" => "SELECT gmm_fit(x, 8,
          '{\"method\": \"em\", \"covariance\": \"$_\", $endless}') FROM rows") }
        qw(diagonal spherical tied)),
    'wide rows' => "SELECT gmm_fit(x, 4, '{\"method\": \"em\", $endless}') FROM wide",
    'wide rows by vi' => "SELECT gmm_fit(x, 4, '{$endless}') FROM wide",
    'many components' => "SELECT gmm_fit(x, 2000, '{$endless}') FROM rows",
    'start from a model' => "SELECT gmm_fit(x, (SELECT model FROM models),
          '{\"max_iter\": 1000000, \"tol\": 0, \"method\": \"em\"}') FROM rows,
          generate_series(1, 3)",
    'update' => "SELECT gmm_update(x, (SELECT model FROM models),
          '{\"max_iter\": 1000000, \"tol\": 0}') FROM rows, generate_series(1, 3)",
    'window' => "SELECT count(gmm_cluster) FROM (SELECT gmm_cluster(x, 8, '{$endless}') OVER ()
          FROM rows) AS r",
    'relation' => "SELECT * FROM gmm_fit('SELECT x FROM rows', 8, '{$endless}')",
    'select' => "SELECT gmm_select(x, '{2,3,4,5,6,7,8}',
          '{\"covariance\": [\"full\", \"tied\"], $endless}') FROM rows",
    'select from a query'
        => "SELECT * FROM gmm_select('SELECT x FROM rows', '{2,3,4}', '{$endless}')",
    'reading rows' => "SELECT gmm_fit(ARRAY[i, sin(i)], 2) FROM generate_series(1, 100000000) AS i",
    'reading a query' => "SELECT *
          FROM gmm_fit('SELECT i, sin(i) FROM generate_series(1, 100000000) AS i', 2)",
    'reading a partition'
        => "SELECT count(gmm_cluster) FROM (SELECT gmm_cluster(x, 8, '{$endless}')
          OVER (PARTITION BY id % 2) FROM rows, generate_series(1, 20)) AS r",
    'many groups' => "SELECT id, gmm_fit(x, 1) FROM rows GROUP BY id",
    'spilled rows' => "SET LOCAL maintenance_work_mem = '1MB';
          SELECT gmm_fit(x, 8, '{\"method\": \"em\", $endless}') FROM rows",
    'spilled rows of a query'
        => "SET LOCAL maintenance_work_mem = '1MB';
          SELECT * FROM gmm_fit('SELECT x FROM rows', 8, '{$endless}')",
    'spilled rows of a partition'
        => "SET LOCAL maintenance_work_mem = '1MB';
          SELECT count(gmm_cluster) FROM (SELECT gmm_cluster(x, 8, '{$endless}') OVER ()
          FROM rows) AS r",
    'two threads' => "SET LOCAL pg_bayes.threads = 2; SELECT gmm_fit(x, 8, '{$endless}') FROM rows",
    'two threads, spilled'
        => "SET LOCAL pg_bayes.threads = 2; SET LOCAL maintenance_work_mem = '1MB';
          SELECT gmm_fit(x, 8, '{\"method\": \"em\", $endless}') FROM rows",
    'parallel plan' => "SET LOCAL parallel_setup_cost = 0; SET LOCAL parallel_tuple_cost = 0;
          SET LOCAL min_parallel_table_scan_size = 0; SET LOCAL max_parallel_workers_per_gather = 2;
          SELECT gmm_fit(x, 8, '{$endless}') FROM rows",
    'prediction' => "SELECT sum(gmm_predict(model, x)) FROM rows, models, generate_series(1, 1000)",
    'draws' => "SELECT count(*) FROM models, gmm_sample(model, 2000000000, 1)",
    'progress' => "SET LOCAL pg_bayes.progress = on;
          SELECT gmm_fit(x, 8, '{\"method\": \"em\", $endless}') FROM rows",
    'error means NULL' => "SELECT gmm_fit(x, 8, '{\"on_error\": \"null\", $endless}') FROM rows",
    (map { ("dpmm $_" => "SELECT dpmm_fit(x, '{\"method\": \"$_\", $sampling}')
          FROM rows") } qw(collapsed gibbs slice)),
    'dpmm vi' => "SELECT dpmm_fit(x, '{\"method\": \"vi\", $endless}') FROM rows",
    (map { ("dpmm $_, wide rows"
        => "SELECT dpmm_fit(x, '{\"method\": \"$_\", $sampling}')
          FROM wide") } qw(collapsed slice)),
    (map { ("dpmm $_, many clusters"
        => "SELECT dpmm_fit(x, '{\"method\": \"$_\", \"concentration\": 1000, $sampling}')
          FROM cloud") } qw(collapsed gibbs slice)),
    'dpmm of bits' => "SELECT dpmm_fit(bits, '{\"likelihood\": \"bernoulli\", $sampling}')
          FROM cloud",
    'dpmm of counts by gibbs'
        => "SELECT dpmm_fit(counts,
          '{\"likelihood\": \"poisson\", \"method\": \"gibbs\", $sampling}') FROM cloud",
    'dpmm of categories by slice'
        => "SELECT dpmm_fit(counts,
          '{\"likelihood\": \"categorical\", \"method\": \"slice\", $sampling}') FROM cloud",
    'dpmm estimate' => "SELECT dpmm_fit(x,
          '{\"method\": \"slice\", \"chains\": 8, \"draws\": 4, \"warmup\": 0,
          \"concentration\": 30}') FROM cloud",
    'dpmm estimate, binder'
        => "SELECT dpmm_fit(x,
          '{\"method\": \"slice\", \"chains\": 8, \"draws\": 4, \"warmup\": 0,
          \"concentration\": 30, \"estimate\": \"binder\"}') FROM cloud",
    'dpmm estimate, bipartition'
        => "SELECT dpmm_fit(x,
          '{\"chains\": 4, \"draws\": 10, \"warmup\": 0, \"concentration\": 30,
          \"estimate\": \"bipartition\"}') FROM cloud WHERE id <= 1000",
    'dpmm similarity' => "SELECT count(*) FROM dpmm_similarity('SELECT id, x FROM cloud LIMIT 5000',
          '{\"method\": \"slice\", \"chains\": 1, \"draws\": 20}')",
    'dpmm window' => "SELECT count(c)
          FROM (SELECT dpmm_cluster(x, '{\"method\": \"slice\", $sampling}') OVER () AS c
          FROM rows) AS r",
    'dpmm relation' => "SELECT * FROM dpmm_cluster('SELECT id, x FROM rows', '{$sampling}')",
    'dpmm, reading a query'
        => "SELECT * FROM dpmm_cluster(
          'SELECT i, i, sin(i) FROM generate_series(1, 100000000) AS i')",
    'dpmm, spilled rows' => "SET LOCAL maintenance_work_mem = '1MB';
          SELECT dpmm_fit(x, '{\"method\": \"slice\", $sampling}') FROM rows",
    'dpmm, two threads' => "SET LOCAL pg_bayes.threads = 2;
          SELECT dpmm_fit(x, '{\"method\": \"slice\", $sampling}') FROM rows",
    'dpmm gibbs, wide rows' => "SELECT dpmm_fit(x, '{\"method\": \"gibbs\", $sampling}') FROM wide",
    'dpmm vi, wide rows' => "SELECT dpmm_fit(x, '{\"method\": \"vi\", $endless}') FROM wide",
    # Few rows, many draws: the search for the partition is what takes the time.
    (map { ("dpmm estimate of many draws, $_"
        => "SELECT dpmm_fit(x,
          '{\"chains\": 4, \"draws\": 250, \"warmup\": 125, \"method\": \"slice\",
          \"concentration\": 30, \"estimate\": \"$_\"}') FROM cloud WHERE id <= 2500") }
        qw(vi binder)),
    'dpmm estimate of many draws, bipartition'
        => "SELECT dpmm_fit(x,
          '{\"chains\": 4, \"draws\": 250, \"warmup\": 125, \"method\": \"slice\",
          \"concentration\": 30, \"estimate\": \"bipartition\"}') FROM cloud WHERE id <= 900",
    (map { ("bmm $_" => "SELECT bmm_fit(bits, 3, '{\"method\": \"$_\", $endless}')
          FROM cloud") } qw(em vi svi mcem)),
    (map { ("bmm $_" => "SELECT bmm_fit(bits, 3, '{\"method\": \"$_\", $sampling}')
          FROM cloud") } qw(gibbs collapsed)),
    'bmm of categories' => "SELECT bmm_fit(counts, 20,
          '{\"likelihood\": \"categorical\", \"method\": \"em\", $endless}') FROM cloud",
    'bmm, spilled rows' => "SET LOCAL maintenance_work_mem = '1MB';
          SELECT bmm_fit(counts, 4,
          '{\"likelihood\": \"poisson\", \"method\": \"gibbs\", $sampling}') FROM cloud,
          generate_series(1, 3)",
    'bmm window' => "SELECT count(c)
          FROM (SELECT bmm_cluster(bits, 3, '{\"method\": \"collapsed\", $sampling}') OVER () AS c
          FROM cloud) AS r",
    (map { ("gmm $_" => "SELECT gmm_fit(x, 8, '{\"method\": \"$_\", $sampling}')
          FROM rows") } qw(gibbs collapsed)),
    'gmm mcem' => "SELECT gmm_fit(x, 8, '{\"method\": \"mcem\", $endless}') FROM rows",
    'gmm collapsed, wide rows'
        => "SELECT gmm_fit(x, 4, '{\"method\": \"collapsed\", $sampling}') FROM wide",
    (map { ("hmm $_" => "SELECT hmm_fit(x, 3, '{\"method\": \"$_\", $endless}')
          FROM sequences") } qw(em map vi svi)),
    'hmm gibbs' => "SELECT hmm_fit(x, 3, '{\"method\": \"gibbs\", $sampling}') FROM sequences",
    (map { ("hmm $_ of names"
        => "SELECT hmm_fit(names, 4, '{\"method\": \"$_\", $endless}')
          FROM sequences") } qw(em vi)),
    'hmm, many states' => "SELECT hmm_fit(names, 300, '{\"method\": \"em\", $endless}')
          FROM sequences",
    'hmm, one long sequence'
        => "SELECT hmm_fit(x, 3, '{\"method\": \"em\", $endless}') FROM series",
    'hmm, one long sequence by gibbs'
        => "SELECT hmm_fit(x, 3, '{\"method\": \"gibbs\", $sampling}') FROM series",
    'hmm, vectors, two threads'
        => "SET LOCAL pg_bayes.threads = 2; SELECT hmm_fit(v, 3, '{\"method\": \"em\", $endless}')
          FROM series",
    'hmm, left to right' => "SELECT hmm_fit(x, 5,
          '{\"method\": \"em\", \"topology\": \"left-to-right\", $endless}') FROM series",
    'hmm, spilled' => "SET LOCAL maintenance_work_mem = '1MB';
          SELECT hmm_fit(x, 3, '{\"method\": \"em\", $endless}') FROM sequences,
          generate_series(1, 3)",
    'hmm, reading sequences' => "SELECT hmm_fit(x, 2) FROM sequences, generate_series(1, 100000)",
    'hmm relation' => "SELECT * FROM hmm_decode('SELECT id, x FROM sequences', 3, '{$endless}')",
    'hmm relation, reading'
        => "SELECT * FROM hmm_decode(
          'SELECT i, ARRAY[i, sin(i)] FROM generate_series(1, 100000000) AS i', 2)",
    'hmm decode window' => "SELECT count(d) FROM (SELECT hmm_decode(large, x) OVER () AS d
          FROM chains, (SELECT unnest(x) AS x FROM series, generate_series(1, 10)) AS s) AS r",
    'hmm probabilities window'
        => "SELECT count(p) FROM (SELECT hmm_probabilities(large, x) OVER () AS p FROM chains,
          (SELECT unnest(x) AS x FROM series, generate_series(1, 10)) AS s) AS r",
    'hmm filter window' => "SELECT count(f) FROM (SELECT hmm_filter(large, x) OVER () AS f
          FROM chains, (SELECT unnest(x) AS x FROM series, generate_series(1, 10)) AS s) AS r",
    'hmm decode' => "SELECT count(hmm_decode(large, x)) FROM chains, series,
          generate_series(1, 100)",
    'hmm probabilities' => "SELECT count(hmm_probabilities(large, x)) FROM chains, series,
          generate_series(1, 100)",
    'hmm filter' => "SELECT count(hmm_filter(large, x)) FROM chains, series,
          generate_series(1, 100)",
    'hmm log likelihood' => "SELECT count(hmm_log_likelihood(large, x)) FROM chains, series,
          generate_series(1, 100)",
    'hmm paths' => "SELECT count(*) FROM chains, sequences, hmm_paths(large, x, 1000)",
    'hmm paths, a long sequence'
        => "SELECT count(*) FROM chains, series, hmm_paths(model, x[1:50000], 300)",
    'hmm sample' => "SELECT count(*) FROM chains, hmm_sample(model, 100000000, 1)",
    'dpmm prediction' => "SELECT sum(dpmm_predict(model, x)) FROM cloud, processes,
          generate_series(1, 1000)",
    'dpmm draws' => "SELECT count(*) FROM processes, generate_series(1, 1000) AS g,
          LATERAL (SELECT * FROM dpmm_draws(long) OFFSET 0 * g) AS d",
);
my @names = sort keys %kinds;
# What comes after the sampling of these begins about so many seconds after the statement.
my %later = ('dpmm estimate' => 1, 'dpmm estimate, binder' => 1, 'dpmm similarity' => 0.1,
    map({ ("dpmm estimate of many draws, $_->[0]" => $_->[1]) } ['vi', 1.8], ['binder', 1.8],
    ['bipartition', 1]));

my $session = $server->session;
$session->run("SET max_parallel_workers_per_gather = 0; SET pg_bayes.threads = 1");

# One cancel: (SQLSTATE, seconds from the signal to the error in the client's hands).
sub cancel_once {
    my ($name, $delay, $timeout) = @_;
    my $begin = 'BEGIN;' . ($timeout ? ' SET LOCAL statement_timeout = ' . int(1000 * $delay + 1)
        . ';' : '');
    $session->run($begin);
    my ($setting, $statement) = $kinds{$name} =~ /^((?:SET[^;]*;\s*)*)(.*)$/s;
    $session->run($setting) if $setting;
    my $start = time;
    $session->send($statement);
    my $signalled = $start + int(1000 * $delay + 1) / 1000;
    unless ($timeout) {
        sleep($delay);
        $signalled = time;
        kill 'INT', $session->pid;    # as pg_cancel_backend does
    }
    my $said = $session->wait(60);
    my $seconds = time - $signalled;
    $session->run('ROLLBACK');
    my ($state) = $said =~ /^ERROR:  (\w{5}):/m;
    return ($state // "none: $said", $seconds);
}

my (%times, @wrong);
sub many {
    my ($count) = @_;
    for my $i (1 .. $count) {
        my $name = $names[$i % @names];
        my ($state, $seconds) = cancel_once($name, ($later{$name} // 0) + rand(0.25) ** 1.3,
            $i % 4 == 0);
        push @wrong, "$name: $state" if $state ne '57014';
        push @{$times{$name}}, $seconds;
    }
}

# Every kind once or twice first: caches fill, and the allocator finds its size.
many(2 * @names);
my $before = $session->private_kb;
%times = ();
my $cancels = 300;
many($cancels);
my $after = $session->private_kb;

is_deeply(\@wrong, [], 'every statement ended with 57014');
my @all = sort { $a <=> $b } map { @$_ } values %times;
my ($median, $p90, $max) = map { $all[int($_ * $#all)] } 0.5, 0.9, 1;
diag(sprintf 'cancel to error: median %.1f ms, 90 %% within %.1f ms, longest %.1f ms, of %d',
    map({ 1000 * $_ } $median, $p90, $max), scalar @all);
my @slowest = (sort { $b->[1] <=> $a->[1] } map { my $name = $_; [$name,
    (sort { $b <=> $a } @{$times{$name}})[0]] } keys %times)[0 .. 5];
diag('slowest kinds: '
    . join(', ', map { sprintf '%s %.0f ms', $_->[0], 1000 * $_->[1] } @slowest));
# Other processes of this machine may take the processor for a while: the bound is for a typical
# cancel, and another catches what hangs.
cmp_ok($median, '<=', 0.1, 'a cancel takes effect within 100 ms');
cmp_ok($max, '<=', 2, 'none hangs');
diag(sprintf 'memory of the backend: %d kB before, %d kB after %d cancels', $before, $after,
    $cancels);
# The C library keeps some of what it gets back, now more, now less: at most a few fits' worth. A
# fit's rows take 4 MB, its model and statistics 100 kB; 300 of those left behind would show.
cmp_ok($after - $before, '<=', 24000, 'the backend is hardly larger after 300 cancels');
is($session->run(q{SELECT count(*) FROM pg_backend_memory_contexts WHERE name LIKE 'pg_bayes%'}),
    '0', 'no memory context of ours is left');
for my $name ('em', 'vi', 'two threads, spilled', 'relation', 'window', 'select', 'bmm gibbs',
    'bmm collapsed', 'gmm gibbs', 'gmm collapsed', 'hmm em', 'hmm gibbs', 'hmm, spilled',
    'hmm relation', 'hmm decode window', 'hmm probabilities window', 'hmm decode',
    map { "dpmm$_" } ' collapsed', ' gibbs', ' slice', ' vi', ' estimate, bipartition', ' window',
    ', spilled rows') {
    my $fresh = $session = $server->session;
    $session->run("SET max_parallel_workers_per_gather = 0; SET pg_bayes.threads = 1");
    cancel_once($name, 0.03 + rand 0.1, 0) for 1 .. 8;
    # What is lost is lost in every round; what the C library sets aside is not.
    my $growth;
    for my $round (1 .. 3) {
        my $start = $session->private_kb;
        cancel_once($name, 0.03 + rand 0.1, 0) for 1 .. 30;
        my $more = $session->private_kb - $start;
        $growth = $more if !defined $growth || $more < $growth;
        last if $growth <= 300;
    }
    diag("30 cancels of $name: memory grew by $growth kB");
    cmp_ok($growth, '<=', 1500, "memory is flat over cancels of $name");
}
is_deeply([$server->temporary_files], [], 'no temporary files are left');
is($session->run('SELECT i.rows FROM (SELECT gmm_fit(x, 2) AS m FROM faithful) AS f,
      bayes_info(m) AS i'), '272', 'the session goes on');

# A cancel in a subtransaction, caught: the transaction goes on, and its earlier work counts.
$session->run('BEGIN; CREATE TABLE kept (a int); SAVEPOINT s;');
$session->send($kinds{'two threads, spilled'} =~ s/^.*;//r);
sleep 0.3;
kill 'INT', $session->pid;
like($session->wait(60), qr/57014/, 'a cancel inside a subtransaction');
is($session->run('ROLLBACK TO s; INSERT INTO kept VALUES (1); COMMIT; SELECT a FROM kept'), '1',
    'does not touch what came before');

# The connection breaks, or the backend is told to end: it ends, and its files with it.
for my $how ('TERM', 'client') {
    my $victim = $server->session;
    my $pid = $victim->pid;
    $victim->run("SET maintenance_work_mem = '1MB'; SET client_connection_check_interval = '50ms'");
    $victim->send("SELECT gmm_fit(x, 8, '{\"method\": \"em\", $endless}') FROM rows");
    my $limit = time + 20;
    sleep 0.05 until $server->temporary_files || time > $limit;
    ok(scalar $server->temporary_files, 'rows are spilled');
    if ($how eq 'TERM') { kill 'TERM', $pid }
    else { kill 'KILL', $victim->{psql} }
    $limit = time + 20;
    sleep 0.05 while -d "/proc/$pid" && time < $limit;
    ok(!-d "/proc/$pid", $how eq 'TERM' ? 'a backend told to end ends'
        : 'a backend whose client is gone ends');
    is_deeply([$server->temporary_files], [], 'and its temporary files are gone');
    eval { $victim->close };
}

done_testing;
