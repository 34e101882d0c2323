# 200,000 rows over four servers, by hash: their fits are those of one table, each server gets the
# aggregate and its plan is one asynchronous foreign scan, and what travels in a pass does not
# depend on the number of rows. Bytes are counted between the first server and the fit.
#
# How long, for the runner:
# seconds: 40
use strict;
use warnings;
use Close qw(are_close);
use File::Temp qw(tempdir);
use IO::Select;
use IO::Socket::UNIX;
use Server;
use Test::More;

my @far = map { Server->new } 1 .. 4;
my $here = Server->new(settings => {shared_preload_libraries => 'auto_explain'});

# ---- what travels ----

# Between whoever connects here and the server: a process that passes bytes on, and counts them.
my $between = tempdir(CLEANUP => 1);
chmod 0755, $between;
my $listener = IO::Socket::UNIX->new(Local => "$between/.s.PGSQL.5432", Listen => 5)
    or die "socket: $!";
chmod 0777, "$between/.s.PGSQL.5432";
my $owner = $$;
my $carrier = fork() // die "fork: $!";
if ($carrier == 0) {
    my ($open, %peer, %there) = (IO::Select->new($listener));
    my @bytes = (0, 0);
    while (my @ready = $open->can_read) {
        for my $from (@ready) {
            if ($from == $listener) {
                my $near = $listener->accept or next;
                my $far = IO::Socket::UNIX->new(Peer => $far[0]->host . '/.s.PGSQL.5432') or next;
                @peer{$near, $far} = ($far, $near);
                $there{$near} = 1;
                $open->add($near, $far);
                next;
            }
            my $to = $peer{$from};
            my $size = sysread $from, my $data, 1 << 16;
            if (!$size) {
                $open->remove($from, $to);
                close $_ for $from, $to;
                next;
            }
            $bytes[$there{$from} ? 0 : 1] += $size;
            open(my $file, '>', "$between/new") or die "$between: $!";
            print {$file} "@bytes\n";
            close $file;
            rename "$between/new", "$between/bytes";  # before they arrive
            for (my $done = 0; $done < $size;) {
                $done += syswrite($to, $data, $size - $done, $done) // last;
            }
        }
    }
    require POSIX;
    POSIX::_exit(0);
}
END {
    if (defined $owner && $$ == $owner && $carrier) {
        local $?;
        kill 'TERM', $carrier;
        waitpid $carrier, 0;
    }
}
# Bytes so far: to the server, and from it.
sub bytes {
    open(my $file, '<', "$between/bytes") or return (0, 0);
    return split ' ', <$file>;
}

# ---- the rows ----

my $columns = 'id int, x float8, y float8, z float8, u float8, g text, n int, v float8[], d text[]';
my $rows = "SELECT i AS id, c * 3 + sin(i * 1.7) + cos(i * 0.37) AS x,
    c * -2 + sin(i * 2.3) * 0.8 + cos(i * .11) AS y, sqrt(i % 17) + sin(i * 0.7) AS z,
    sin(i * 0.013) + i % 7 AS u, ('{low,blue,green}'::text[])[1 + (c + i / 50) % 3] AS g,
    i * 31 % 97 % (3 + c) AS n, ARRAY[c + sin(i * 1.7), sin(i * 0.37) - c, cos(i * 2.9)] AS v,
    ARRAY['a' || i * 7 % (2 + c), 'b' || (i / 3 + c) % 4, 'c' || i * 13 % 11 % (4 - c)] AS d
  FROM (SELECT i, i % 3 AS c FROM generate_series(1, 200000) AS i) AS s";
for my $i (0 .. 3) {
    # As the partitions by hash that these tables will be.
    $far[$i]->query("CREATE TABLE obs ($columns);
        CREATE TABLE all_obs ($columns) PARTITION BY HASH (id);
        INSERT INTO obs SELECT * FROM ($rows) AS r
        WHERE satisfies_hash_partition('all_obs'::regclass, 4, $i, id)");
}
$here->query("CREATE EXTENSION postgres_fdw;
    CREATE TABLE obs ($columns) PARTITION BY HASH (id);
    CREATE TABLE plain AS $rows;
    \\i tests/lib/model_difference.sql
    " . join '', map { my $host = $_ ? $far[$_]->host : $between;
    "CREATE SERVER far_$_ FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '5432',
      dbname 'postgres', extensions 'pg_bayes', async_capable 'true');
    CREATE USER MAPPING FOR CURRENT_USER SERVER far_$_;
    CREATE FOREIGN TABLE obs_$_ PARTITION OF obs FOR VALUES WITH (MODULUS 4, REMAINDER $_)
      SERVER far_$_ OPTIONS (table_name 'obs');
    " } 0 .. 3);
is($here->query('SELECT count(*) FROM obs'), 200000, 'the rows are on the four servers');
cmp_ok($here->query("SELECT count(*) FROM obs_$_"), '>', 45000, "... a quarter on server $_")
    for 0 .. 3;

# ---- the fits ----

my $session = $here->session;
$session->run("SET client_min_messages = error; SET pg_bayes.threads = 1");
my $fixed = '"tol": 0, "restarts": 1';
# Numbers of the components, in the order of the weights.
sub numbers {
    my ($function, $query, $options) = @_;
    return $session->run("SELECT string_agg(value::text, ' ' ORDER BY component, column_name,
            label, parameter) || ' ' || min((bayes_info).objective)::text FROM (
          SELECT (bayes_parameters(model)).*, bayes_info(model) FROM (
            SELECT ${function}('$query', 3, '{$options}') AS model) AS m) AS p");
}
for my $case (['gmm_model', 'x, y, z', '"max_iter": 5'],
    ['gmm_model', 'x, y, z', '"max_iter": 5, "method": "em"'],
    ['bmm_model', 'x, g, n', '"max_iter": 5, "likelihood": {"n": "poisson"}']) {
    my ($function, $list, $options) = @$case;
    my $one = numbers($function, "SELECT $list FROM plain", "$options, $fixed");
    my $four = numbers($function, "SELECT $list FROM obs", "$options, $fixed, \"push_down\": true");
    ok($one =~ /(?:\S+ ){10}/ && are_close($four, $one), "$function: the fit of one table")
        or diag "$four\n$one";
}

$session->run('CREATE TABLE starts AS SELECT ' . join ', ', map { "hmm_model(
    \'SELECT id, $_ FROM plain WHERE id % 100 = 0\', 2, \'{\"max_iter\": 3}\') AS $_" } qw(v d));
# Every family, and what a model has beside its parameters.
for my $case (['dpmm_model', 'x, y', '', '"method": "vi", "max_iter": 3, "truncation": 4'],
    ['gmm_model', 'x, y', ', 3', '"max_iter": 3, "method": "map"'],
    ['gmm_model', 'x, y', ', 3', '"max_iter": 3, "method": "kmeans"'],
    ['gmm_model', 'x, y', ', 3', '"max_iter": 3, "method": "svi", "minibatch": "hash"'],
    ['bmm_model', 'x, g', ', 2', '"max_iter": 3, "method": "em"'],
    ['bmm_model', 'x, g', ', 2', '"max_iter": 3, "method": "svi", "minibatch": "hash"'],
    ['logreg_model', 'n > 2, x, y, g', '', '"max_iter": 3'],
    ['probit_model', 'n > 2, x, g', '', '"max_iter": 3, "method": "em"'],
    ['linreg_model', 'y, x, g', '', ''], ['nb_model', 'g, x, n', '', ''],
    ['lda_model', 'd', ', 3', '"max_iter": 3'],
    ['nmf_model', 'id, array[x + 9, y + 9, z + 1, u + 9]', ', 2', '"max_iter": 3'],
    # From a model, since of so many steps a fit of one table tries starting points on a sample.
    ['hmm_model', 'id, v', ', start => (SELECT v FROM starts)', '"max_iter": 3'],
    ['hmm_model', 'id, d', ', start => (SELECT d FROM starts)', '"max_iter": 3']) {
    my ($function, $list, $more, $options) = @$case;
    my $where = $function eq 'nmf_model' ? ' WHERE id % 20 = 0' : '';
    my ($one, $four) = map { "$function('SELECT $list FROM $_->[0]$where'$more, options => '{"
            . join(', ', grep { $_ } $options, ($options ? $fixed : ''), $_->[1]) . "}')" }
        ['plain', ''], ['obs', '"push_down": true'];
    s/, "restarts": 1// for grep { $function =~ /logreg|probit|hmm/ } $one, $four;
    my $said = $session->run("SELECT largest_difference($one, $four)", 120);
    ok($said =~ /^([\d.e-]+) / && $1 < 1e-9, "$function, $list $options: that of one table")
        or diag $said;
}

# ---- the plan ----

my $from = length $here->log;
$session->run("SET auto_explain.log_min_duration = 0; SET auto_explain.log_nested_statements = on;
    SET auto_explain.log_verbose = on");
numbers('gmm_model', 'SELECT x, y FROM obs WHERE z > 0', "\"max_iter\": 1, $fixed,
    \"push_down\": true");
$session->run('SET auto_explain.log_min_duration = -1');
my @plans = grep { /_bayes_(?:keep_rows|make_pass)/ } split /Query Text: /,
    substr($here->log, $from);
cmp_ok(scalar @plans, '>', 4, 'the plans of the passes');
for my $name (qw(_bayes_keep_rows _bayes_make_pass)) {
    my @of = grep { /^SELECT s FROM \(SELECT \S*?$name\(/ } @plans;
    my $scan = qr/Async Foreign Scan [^\n]*\n[^\n]*\n\s*Relations: Aggregate on \(public\.obs_\d t/;
    my @good = grep {
        4 == (() = /$scan/g) && 4 == (() = /Remote SQL: SELECT public\.$name\(/g)
            && !/Foreign Scan on/
    } @of;
    ok(@of && @of == @good, "$name: four asynchronous foreign scans with the aggregate in them")
        or diag $of[0];
}

# ---- what travels does not depend on rows ----

# The bytes of a pass: of five more iterations, a fifth.
sub bytes_of_pass {
    my ($function, $list, $where) = @_;
    my @at;
    for my $iterations (5, 5, 10) {
        my @before = bytes();
        numbers($function, "SELECT $list FROM obs WHERE $where",
            "\"max_iter\": $iterations, $fixed, \"method\": \"em\", \"push_down\": true");
        my @after = bytes();
        push @at, [map { $after[$_] - $before[$_] } 0, 1];
    }
    return map { ($at[2][$_] - $at[1][$_]) / 5 } 0, 1;
}
for my $case (['gmm_model', 'x, y, z, u', 3 * (16 + 3 * 4 + 4) / 2],
    ['bmm_model', 'x, g', 3 * 6]) {
    my ($function, $list, $count) = @$case;
    my @few = bytes_of_pass($function, $list, 'id % 5 = 0');
    my @many = bytes_of_pass($function, $list, 'true');
    for my $way (0, 1) {
        my $name = "$function: bytes " . ('to', 'from')[$way] . ' a server';
        is($few[$way], $many[$way], "$name in a pass are as many for 40,000 rows as for 200,000");
        cmp_ok($many[$way], '<', 1000 + 11 * 2 * $count, "$name are few");
        cmp_ok($many[$way], '>', 100, "$name are counted");
    }
}

done_testing();
