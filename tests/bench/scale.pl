# Fits over several servers (docs/scale.md): 1,000,000 x 16 rows, k = 16, on one server with one
# thread, and over two servers of one thread each, from the second pass on; and a pass over four
# servers that have next to no rows.
#
# Run by `make bench`. Seconds by the clock, as servers wait for each other: medians of BENCH_RUNS
# (5) runs, in which all are measured in turn. BENCH_ROWS.
use strict;
use warnings;
use Server;
use Time::HiRes qw(time);

my $rows = $ENV{BENCH_ROWS} // 1_000_000;
my $runs = $ENV{BENCH_RUNS} // 5;
my %settings = (settings => {'pg_bayes.threads' => 1, shared_buffers => '512MB',
    max_wal_size => '8GB'});
my @far = map { Server->new(%settings) } 1 .. 4;
my $here = Server->new(%settings);

my $half = int($rows / 2);
my $values = 'SELECT i AS id, ARRAY(SELECT sin(i * (j + 0.1)) + mod(i * j, 16) * 0.5
    FROM generate_series(1, 16) AS j) AS x FROM generate_series(%d, %d) AS i';
$here->query('CREATE EXTENSION postgres_fdw; CREATE TABLE plain AS ' . sprintf($values, 1, $rows)
    . '; CREATE TABLE obs (id int, x float8[]) PARTITION BY RANGE (id);
    CREATE TABLE few (id int, x float8) PARTITION BY RANGE (id)');
for my $i (0 .. 3) {
    my ($from, $to) = (3000 * $i + 1, 3000 * $i + 3000);
    $far[$i]->query("CREATE TABLE few AS SELECT i AS id, sin(i) AS x
        FROM generate_series($from, $to) AS i");
    $here->query("CREATE SERVER far_$i FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '"
            . $far[$i]->host . "', port '5432', dbname 'postgres', extensions 'pg_bayes',
          async_capable 'true');
        CREATE USER MAPPING FOR CURRENT_USER SERVER far_$i;
        CREATE FOREIGN TABLE few_$i PARTITION OF few FOR VALUES FROM ($from) TO (" . ($to + 1)
            . ") SERVER far_$i OPTIONS (table_name 'few')");
    next if $i > 1;
    ($from, $to) = $i ? ($half + 1, $rows) : (1, $half);
    $far[$i]->query('CREATE TABLE obs AS ' . sprintf($values, $from, $to)
            . '; VACUUM ANALYZE obs');
    $here->query("CREATE FOREIGN TABLE obs_$i PARTITION OF obs FOR VALUES FROM ($from) TO ("
            . ($to + 1) . ") SERVER far_$i OPTIONS (table_name 'obs')");
}
$here->query('VACUUM ANALYZE');

my $session = $here->session;
$session->run('SET client_min_messages = error');
# Seconds of a pass: what so many more take.
sub pass {
    my ($table, $k, $few, $more, $push) = @_;
    my (@seconds, @iterations);
    for my $iterations ($few, $few + $more) {
        my $begin = time;
        push @iterations, $session->run("SELECT (bayes_info(gmm_model('SELECT x FROM $table', $k,
            '{\"method\": \"em\", \"restarts\": 1, \"tol\": 0, \"max_iter\": $iterations,
            \"push_down\": $push}'))).iterations", 600);
        push @seconds, time - $begin;
    }
    die "$table: @iterations iterations" if ($iterations[1] // 0) - $iterations[0] < $more / 2;
    return ($seconds[1] - $seconds[0]) / ($iterations[1] - $iterations[0]);
}
sub median {
    my @sorted = sort { $a <=> $b } @_;
    return $sorted[$#sorted / 2];
}

pass(@$_) for ['plain', 16, 2, 2, 'false'], ['obs', 16, 2, 2, 'true'], ['few', 2, 2, 9, 'true'];
my (@one, @two, @four);
for (1 .. $runs) {
    push @one, pass('plain', 16, 2, 12, 'false');
    push @two, pass('obs', 16, 2, 12, 'true');
    push @four, pass('few', 2, 2, 100, 'true');
}
my @ratios = map { $one[$_] / $two[$_] } 0 .. $#one;
printf "%d x 16, k = 16, ms a pass: one server %.0f, two servers %.0f; medians of %d runs\n", $rows,
    1e3 * median(@one), 1e3 * median(@two), $runs;
printf "two servers are %.2f times as fast (%.2f to %.2f)\n", median(@ratios),
    (sort { $a <=> $b } @ratios)[0, -1];
printf "a pass over four servers of 3,000 numbers each: %.1f ms\n", 1e3 * median(@four);
