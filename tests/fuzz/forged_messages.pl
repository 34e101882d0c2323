# Messages of fits over several servers, forged: whatever an ordinary session sends to the functions
# that take them, it gets a result or an error, and the server lives. The messages of real fits of
# all kinds are mutated, sent out of order and to other rows, with savepoints between them
# (tests/fuzz/server/forger.cpp).
#
# From the environment: FORGED_EPISODES, how many (of 40 messages each); FORGED_FIRST, the number of
# the first; FORGED_TRACE=1 logs each message before it is sent.
#
# How long, for the runner:
# seconds: 30
use strict;
use warnings;
use File::Temp qw(tempdir);
use Message qw(flag integer list numbers object request text word);
use MIME::Base64 qw(decode_base64);
use Server;
use Test::More;

my $directory = tempdir(CLEANUP => 1);
chmod 0755, $directory;
my $config = $ENV{PG_CONFIG} // 'pg_config';
chomp(my $headers = `$config --includedir-server`);
my $root = $Server::root;
is(system($ENV{CXX} // 'g++', '-std=c++20', '-shared', '-fPIC', '-g', '-O1', '-Wall',
        '-Wno-register', '-isystem', $headers, "-I$root/src", "-I$root/tests/lib", '-o',
        "$directory/forger.so", "$root/tests/fuzz/server/forger.cpp"), 0, 'the module');

my $server = Server->new(settings => {log_statement => 'all'});
$server->query("CREATE EXTENSION postgres_fdw;
  CREATE SERVER itself FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '" . $server->host . "',
    port '5432', dbname 'postgres', extensions 'pg_bayes');
  CREATE USER MAPPING FOR CURRENT_USER SERVER itself;
  CREATE TABLE far (part int, x float8, y float8, n int, g text, w int, d text[], v float8[],
    s int[], u boolean, c jsonb, r text) PARTITION BY LIST (part)");
# The parts: two with rows, one without, and one of a single row of NULLs.
my @counts = (60, 25, 0, 1);
for my $part (0 .. 3) {
    my $name = 'forged_' . ($part + 1);
    my $null = $part == 3 ? 'CASE WHEN false THEN ' : '(';
    my $end = $part == 3 ? ' END' : ')';
    $server->query("CREATE TABLE $name AS SELECT $part AS part, $null sin(i) + i % 3 $end AS x,
          $null NULLIF(cos(i), cos(3)) $end AS y, $null i % 4 $end AS n,
          $null 'l' || i % 5 $end AS g, $null 1 + i % 2 $end AS w,
          $null ARRAY['a' || i % 3, 'b' || i % 7, 'c' || i % 5] $end AS d,
          $null ARRAY[1 + sin(i), i % 4, 2 + cos(i)] $end AS v,
          $null ARRAY[i % 3, i % 2, (i * 7) % 4] $end AS s, $null i % 3 > 0 $end AS u,
          $null jsonb_build_object('a' || i % 3, 1 + i % 2, 'b' || i % 5, 2.5) $end AS c,
          $null 'r' || $part || '-' || i $end AS r
        FROM generate_series(1, $counts[$part]) AS i;
      CREATE FOREIGN TABLE far_$part PARTITION OF far FOR VALUES IN ($part) SERVER itself
        OPTIONS (table_name '$name')");
}
$server->query("LOAD 'pg_bayes';
  CREATE FUNCTION forge(first bigint, episodes int, trace boolean) RETURNS text
  AS '$directory/forger' LANGUAGE C; CREATE TABLE forged (fit int, number int, source text,
    request bytea)");

# ---- the messages of fits ----

my $some = '"push_down": true, "max_iter": 3, "restarts": 1';
my @fits = (
    (map { "gmm_model('SELECT x, y FROM far', 2, '{$some, \"method\": \"$_\"}')" }
        qw(vi em map kmeans)),
    (map { "gmm_model('SELECT v FROM far', 2, '{$some, \"covariance\": \"$_\"}')" }
        qw(diagonal spherical tied)),
    "gmm_model('SELECT x, y FROM far', 2, '{$some, \"missing\": \"marginalize\"}')",
    "gmm_model('SELECT x, y FROM far', 2, '{$some, \"method\": \"svi\", \"batch_size\": 10}')",
    "gmm_model('SELECT x, w FROM far', 2, '{$some, \"weight\": \"w\"}')",
    "bmm_model('SELECT x, n, g, w, u FROM far', 2,
       '{$some, \"weight\": \"w\", \"likelihood\": {\"n\": \"poisson\"}}')",
    "bmm_model('SELECT x, g FROM far', 2, '{$some, \"method\": \"svi\", \"batch_size\": 10}')",
    "bmm_model('SELECT n, u, g FROM far', 2, '{$some, \"method\": \"em\",
       \"likelihood\": {\"n\": \"categorical\"}}')",
    "dpmm_model('SELECT x, g FROM far', '{$some, \"method\": \"vi\", \"truncation\": 3}')",
    "dpmm_model('SELECT v FROM far', '{$some, \"method\": \"vi\", \"truncation\": 3}')",
    "model FROM gmm_select('SELECT x, y FROM far', '{1,2}', '{$some, \"models\": true}')",
    "logreg_model('SELECT n > 1, x, g FROM far', '{\"push_down\": true, \"max_iter\": 2}')",
    (map { "probit_model('SELECT n > 1, x, g FROM far', '{\"push_down\": true, \"max_iter\": 2,
      \"method\": \"$_\"}')" } qw(laplace em vi)),
    "linreg_model('SELECT y, x, g FROM far', '{\"push_down\": true}')",
    "linreg_model('SELECT y, v FROM far', '{\"push_down\": true}')",
    "nb_model('SELECT g, x, n FROM far', '{\"push_down\": true}')",
    "nb_model('SELECT g, c FROM far', '{\"push_down\": true,
       \"likelihood\": \"normal\"}')",
    (map { "lda_model('SELECT $_ FROM far', 2, '{$some}')" } qw(d c)),
    "lda_model('SELECT d FROM far', 2, '{$some, \"method\": \"em\"}')",
    (map { "nmf_model('SELECT v FROM far', 2, '{$some, $_}')" }
        '"method": "vi"', '"method": "em"', '"hierarchical": true', '"init": "random"'),
    "nmf_model('SELECT r, v FROM far', 2, '{$some}')",
    "model FROM lda_select('SELECT d FROM far', '{2}', '{$some, \"models\": true}')",
    "model FROM nmf_select('SELECT v FROM far', '{2}', '{$some, \"models\": true}')",
    "hmm_model('SELECT n, v FROM far', 2, '{$some, \"emission\": \"normal\"}')",
    "hmm_model('SELECT n, s FROM far', 2, '{$some, \"emission\": \"poisson\"}')",
    (map { "hmm_model('SELECT n, d FROM far', 2, '{$some, \"method\": \"$_\"}')" } qw(vi em map)),
    "model FROM hmm_select('SELECT n, d FROM far', '{1,2}', '{$some, \"models\": true}')");
# In the form for shards a request has their numbers.
sub with_shards {
    my ($bytes) = @_;
    my ($tag, $count) = (ord $bytes, unpack('Q<', substr $bytes, 0, 8) >> 8);
    return word($tag | $count + 1 << 8) . substr($bytes, 8) . word(6) . 'shards'
        . list(map { integer($_) } 1 .. 4);
}
for my $number (0 .. $#fits) {
    my $from = length $server->log;
    my ($out, $err) = $server->attempt("SET client_min_messages = error; SELECT $fits[$number]");
    my @sent = substr($server->log, $from)
        =~ /SELECT public\.(_bayes_\w+\(0, \$1::[^\n]*)\n[^\n]*(?i:parameters): \$1 = '([^']+)'/g;
    my (@values, $source, %seen);
    while (my ($sql, $request) = splice(@sent, 0, 2)) {
        ($source) = $sql =~ /^_bayes_keep_rows\(0, \$1::public\.bayes_pass, (.*)\) FROM/
            unless defined $source;
        my $bytes = decode_base64($request);
        my ($pass) = $bytes =~ /pass\x04.\0{6}([a-z -]+)/s;
        next if $seen{$bytes}++ || $seen{$pass}++ > 2 || length $bytes > 30_000;
        push @values, "($number, " . @values . ", \$x\$$source\$x\$, decode('"
            . unpack('H*', with_shards($bytes)) . "', 'hex'))";
    }
    ok($err eq '' && @values >= 2, "messages of $fits[$number]") or diag(substr($err, 0, 500));
    $server->query('INSERT INTO forged VALUES ' . join ', ', @values) if @values;
}
$server->query("ALTER SYSTEM SET log_statement = 'none'; SELECT pg_reload_conf()");
note $server->query('SELECT count(*) FROM forged') . ' messages of ' . @fits . ' fits';

# ---- what took a server down ----

my $version = $server->query(
    "SELECT extversion FROM pg_extension WHERE extname = 'pg_bayes'");
# Keeps the row, then makes the passes in savepoints of their own; the SQLSTATEs of all.
sub states {
    my ($keep, $row, @passes) = @_;
    my $session = $server->session;
    $session->run("SET statement_timeout = '20s'; BEGIN");
    my @said = map { $session->run("SAVEPOINT s; $_", 40) =~ /ERROR:  (\w+)/ ? $1 : '00000' }
        "SELECT _bayes_keep_rows(0, '" . request($version, 'keep', $keep) . "', $row); RELEASE s",
        map { "SELECT _bayes_make_pass(0, '" . request($version, @$_)
            . "') WITHIN GROUP (ORDER BY true); ROLLBACK TO s" } @passes;
    return join ' ', @said;
}
my $sequences = [kind => text('sequences'), family => text('hmm'), k => integer(1), ks => list(),
    options => object()];
my $standard_normal = object(family => text('normal'), shape => text('full'),
    densities => flag(1), dimension => integer(1), components => integer(1),
    mean => numbers(0), whiten => numbers(1), constant => numbers(0));
is(states($sequences, 'ARRAY[1e9]::float8[]',
        [settle => [symbols => list(text('a'), text('b'))]],
        [markov => [scorer => $standard_normal, initial => numbers(0), transition => numbers(0)]]),
    '00000 22P03 22P03', 'numbers are no codes of symbols');
my $rows = [kind => text('rows'), family => text('gmm'), columns => list(), weighted => flag(0),
    missing => integer(0), max_dimension => integer(100)];
is(states($rows, 'NULL::float8[]', ['settle', []],
        [sketch => [seed => integer(1), capacity => integer(1), with_evidence => flag(0)]]),
    '00000 22P03 22P03', 'a part without rows makes no pass');
my $documents = [kind => text('documents'), family => text('lda'), whole => flag(1),
    terms => list()];
is(states($documents, "ARRAY['a', 'b']", ['settle', []], ['log factorials', [kept => list()]],
        [settle => [terms => list(text('a'), text('b'))]]),
    '00000 22P03 22P03 22P03', 'an error in the middle leaves nothing that can be used');

# ---- forged ----

my $episodes = $ENV{FORGED_EPISODES} // 800;
my $next = $ENV{FORGED_FIRST} // 1;
my $trace = $ENV{FORGED_TRACE} ? 'true' : 'false';
my (%said, @internal);
my $session = $server->session;
$session->run("LOAD 'pg_bayes'; CREATE ROLE ordinary;
    GRANT SELECT ON ALL TABLES IN SCHEMA public TO ordinary;
    SET ROLE ordinary; SET maintenance_work_mem = '8MB'; SET client_min_messages = error");
note 'forging in ' . $session->pid;
sleep $ENV{FORGED_WAIT} if $ENV{FORGED_WAIT};
my $chunk = $trace eq 'true' ? $episodes : 50;
for (my $end = $next + $episodes; $next < $end; $next += $chunk) {
    my $out = eval { $session->run("SELECT forge($next, $chunk, $trace)", 120) } // $@;
    for (split /\n/, $out) {
        if (/^(\w{5}) (\d+)$/) { $said{$1} += $2 }
        else { push @internal, $_ }
    }
    next if $out =~ /^\w{5} \d+$/m;
    diag "episodes from $next: $out";
    last;
}
is($next, ($ENV{FORGED_FIRST} // 1) + int(($episodes + $chunk - 1) / $chunk) * $chunk,
    'all episodes end');
is(join("\n", @internal[0 .. ($#internal < 9 ? $#internal : 9)]), '', 'no internal errors');
note join ', ', map { "$_: $said{$_}" } sort keys %said;
cmp_ok($said{'22P03'} // 0, '>', 0, 'many messages are refused');
cmp_ok($said{'00000'} // 0, '>', 0, 'many are answered');
is(join("\n", grep { /terminated by signal|PANIC|runtime error|AddressSanitizer/ }
    split /\n/, $server->log), '', 'no process has crashed');
is($server->query('SELECT 1'), 1, 'the server lives');

done_testing();
