# What Citus does with aggregates, without Citus: functions of aggregates that are called as it
# calls them (as_citus.c), states that travel as text and are put together in any order, and a fit
# over shards, whose tables here are those of three plain servers.
#
# How long, for the runner:
# seconds: 22
use strict;
use warnings;
use Close qw(are_close);
use File::Temp qw(tempdir);
use Message qw(word text flag integer list object);
use MIME::Base64 qw(decode_base64 encode_base64);
use Server;
use Test::More;

my $directory = tempdir(CLEANUP => 1);
chmod 0755, $directory;
my $config = $ENV{PG_CONFIG} // 'pg_config';
chomp(my $headers = `$config --includedir-server`);
is(system('cc', '-shared', '-fPIC', '-O1', '-Wall', '-isystem', $headers, '-o',
        "$directory/as_citus.so", "$Server::root/tests/scale/as_citus.c"), 0, 'the module');

my @servers = map { Server->new } 1 .. 3;
my $functions = join ';', map {
    my ($name, $arguments, $returns) = @$_;
    "CREATE FUNCTION $name($arguments) RETURNS $returns AS '$directory/as_citus' LANGUAGE C"
} ['partial_transition', 'internal, regprocedure, VARIADIC "any"', 'internal'],
    ['partial_final', 'internal', 'text'],
    ['combined_transition', 'internal, regprocedure, text, anyelement', 'internal'],
    ['combined_final', 'internal, regprocedure, text, anyelement', 'anyelement'],
    ['copied_bytes', '', 'int8'];
for my $i (0 .. 2) {
    $servers[$i]->query("$functions;
        CREATE AGGREGATE partial(regprocedure, VARIADIC \"any\") (SFUNC = partial_transition,
          STYPE = internal, FINALFUNC = partial_final);
        CREATE AGGREGATE combined(regprocedure, text, anyelement) (SFUNC = combined_transition,
          STYPE = internal, FINALFUNC = combined_final, FINALFUNC_EXTRA);
        CREATE TABLE shard_" . (102 + $i) . " AS SELECT ARRAY[sin(i), i % 7] AS x, i AS id,
          3 * sin(i) + cos(i * 7) AS y, 'l' || i % 3 AS g, i % 4 = 0 AS b
        FROM generate_series($i * 1000 + 1, $i * 1000 + 1000 - 300 * $i) AS i");
}
$servers[0]->query("CREATE TABLE shard_103 AS SELECT * FROM shard_102 WHERE false;
    CREATE TABLE all_rows AS SELECT * FROM shard_102");
for my $i (1, 2) {
    my $rows = $servers[$i]->query('SELECT string_agg(ROW(s.*)::text, E\'\n\') FROM shard_'
        . (102 + $i) . ' AS s');
    $servers[0]->query('INSERT INTO all_rows SELECT (r::all_rows).* FROM regexp_split_to_table($x$'
        . $rows . '$x$, E\'\n\') AS r');
}
is($servers[0]->query('SELECT count(*) FROM all_rows'), 2100, 'the rows');

# ---- values of the parts, as text ----

my %values = (
    'bayes_rollup, linreg_stats' => ['linreg_stats(y, x)', 'bayes_rollup(v::linreg_stats)::text'],
    'linreg_fit of that' => ['linreg_stats(y, x)',
        '(linreg_fit(bayes_rollup(v::linreg_stats))::jsonb - \'seconds\'
          - \'row_reference\')::text'],
    'bayes_rollup, nb' => ['nb_fit(g, x)',
        '(bayes_rollup(v::bayes_model)::jsonb - \'seconds\'
          - \'row_reference\')::text'],
    'bayes_rollup, beta_bernoulli' => ['beta_bernoulli_fit(b)',
        '(bayes_rollup(v::bayes_model)::jsonb - \'seconds\'
          - \'row_reference\')::text'],
);
for my $name (sort keys %values) {
    my ($part, $whole) = @{$values{$name}};
    my @parts = map { $servers[$_]->query("SELECT ($part)::text FROM shard_" . (102 + $_)) } 0 .. 2;
    my $one = $servers[0]->query("SELECT $whole
        FROM (SELECT ($part)::text AS v FROM all_rows) AS p");
    for my $order ([0, 1, 2], [2, 0, 1], [1, 2, 0], [2, 1, 0]) {
        my $list = join ', ', map { '($x$' . $parts[$_] . '$x$)' } @$order;
        my $text = $servers[0]->query("SELECT $whole FROM (VALUES $list) AS p(v)");
        ok(are_close($text, $one), "$name: parts in order @$order are one table")
            or diag "$text\n$one";
    }
}

# ---- a fit over shards ----

chomp(my $version = $servers[0]->query(
        "SELECT extversion FROM pg_extension WHERE extname = 'pg_bayes'"));
sub request {
    my ($pass, $body, @more) = @_;
    return Message::request($version, $pass, $body,
        shards => list(map { integer($_) } 102, 103, 104), @more);
}
my @keep = (kind => text('rows'), family => text('gmm'), columns => list(), weighted => flag(0),
    missing => integer(0), max_dimension => integer(0));
my @sessions = map { $_->session } @servers;
my $partial = "SELECT partial('_bayes_answers(bayes_pass)', ";
sub keeps {
    my ($i, $request) = @_;
    return $sessions[$i]->run($partial . "_bayes_keep_shard(tableoid, '$request', x)) FROM shard_"
        . (102 + $i));
}
sub passes {
    my ($i, $request, $sample) = @_;
    return $sessions[$i]->run($partial . "_bayes_pass_over_shard(tableoid, '$request')) FROM shard_"
        . (102 + $i) . ' TABLESAMPLE _bayes_first_rows(1)');
}
# What was put together, as lists of bytes in the order of the parts.
sub parts {
    my ($text) = @_;
    my $bytes = decode_base64($text);
    my $count = unpack('Q<', $bytes) >> 8;
    my $begin = word(2 << 8 | 7) . word(4) . 'part';
    my (undef, @answers) = split /\Q$begin\E/, $bytes;
    return $count == @answers ? join("\n", map { unpack 'H*', $_ } sort @answers) : "no: $count";
}
$_->run('BEGIN') for @sessions;
unlike(keeps($_, request('keep', \@keep)), qr/ERROR/, 'rows are kept') for 0 .. 2;
my %sums;
for my $pass (['describe'], ['settle'], ['total weight'], ['first values']) {
    my ($name, @body) = @$pass;
    my @states = map { passes($_, request($name, \@body)) } 0 .. 2;
    my %found;
    for my $order ([0, 1, 2], [2, 0, 1], [1, 2, 0], [2, 1, 0]) {
        my $list = join ', ', map { "('$states[$_]')" } @$order;
        $found{parts($servers[0]->query("SELECT combined('_bayes_answers(bayes_pass)', s,
            NULL::bayes_pass) FROM (VALUES $list) AS p(s)"))} = 1;
    }
    my ($only) = keys %found;
    is(scalar keys %found, 1, "$name: states in any order") or diag join "\n\n", keys %found;
    is(scalar(split /\n/, $only), 3, '... one answer for each shard') or diag $states[0];
    $sums{$name} = $only;
}
my @rows = map { unpack 'q<', pack 'H*', $_ } $sums{describe} =~ /726f7773(?:02(?:00){7})(.{16})/g;
is("@rows", '1000 700 400', 'the numbers of the rows');

# What a shard is, and what of it is wanted.
my ($here, $there) = ($sessions[0], $sessions[1]);
sub counts {
    my ($session, $sql) = @_;
    my $out = $session->run("SAVEPOINT s; $sql");
    $session->run('ROLLBACK TO s');
    return $out;
}
my $only = request('total weight', [], only => list(integer(103)));
is(passes(0, $only), '', 'a shard that is not asked says nothing');
isnt(passes(1, $only), '', '... one that is does');
my $empty = $here->run("SELECT count(*) FROM shard_103 TABLESAMPLE _bayes_first_rows(1)");
is($empty, 0, 'an empty table has no first row');
is($here->run('SELECT array_agg(id) FROM shard_102 TABLESAMPLE _bayes_first_rows(3)'), '{1,2,3}',
    '... another has some');
$servers[0]->query('DELETE FROM shard_102 WHERE id <= 900');
is($servers[0]->query('SELECT array_agg(id) FROM shard_102 TABLESAMPLE _bayes_first_rows(2)'),
    '{901,902}', '... of those that are not deleted');
my $pass = request('total weight', []);
like(counts($here, "SELECT _bayes_pass_over_shard('all_rows'::regclass, '$pass')"), qr/22P03/,
    'a table that is no shard');
like(counts($here, "SELECT _bayes_pass_over_shard('shard_102'::regclass, NULL)"), qr/22004/,
    'no request');
is($here->run('SELECT _bayes_current_request() IS NULL'), 't', 'no fit is under way');
like(counts($here, "SELECT partial('_bayes_answers(bayes_pass)', '" . encode_base64(text('x'), '')
            . "'::bayes_pass) FROM generate_series(1, 2)"), qr/22P03/, 'what are no answers');

# Answers of many shards: what is copied grows with their size, not with its square.
my $long = encode_base64(list(object(part => integer(1), answer => text('x' x 10000))), '');
my ($shards, $of_all) = (300, 300 * length decode_base64($long));
my $joining = $servers[2]->session;
my $joined = $joining->run("SELECT combined('_bayes_answers(bayes_pass)', '$long',
    NULL::bayes_pass) FROM generate_series(1, $shards)");
is(unpack('Q<', decode_base64($joined)) >> 8, $shards, 'the answers of many shards');
cmp_ok($joining->run('SELECT copied_bytes()'), '<', 8 * $of_all, '... are seldom copied');
my $in_order = $joining->run("SELECT _bayes_answers('$long') FROM generate_series(1, $shards)");
is($in_order, $joined, '... also where no state travels');
is($joining->run("SELECT _bayes_join_answers('$long', '$long')"),
    $joining->run("SELECT _bayes_answers('$long') FROM generate_series(1, 2)"), '... two of them');
is($joining->run("CREATE TEMP TABLE stored AS SELECT _bayes_answers('$long') AS v
        FROM generate_series(1, 3); SELECT _bayes_answers(v) FROM stored, generate_series(1, 100)"),
    $joined, '... lists of answers that are stored');
is($joining->run("SELECT count(DISTINCT v::text) FROM (SELECT _bayes_answers('$long')
        OVER (ORDER BY i) AS v FROM generate_series(1, 20) AS i) AS w"), 20, '... in a window');
my $roomy = encode_base64(word(0xff) . word(1 << 40) . list(), '');
like(counts($here, "SELECT _bayes_join_answers('$roomy', '$long')"), qr/22P03: invalid bytes/,
    'a value that claims to be larger than it is');
like(counts($here, "SELECT '$roomy'::bayes_pass::text"), qr/22P03: invalid bytes/, '... as text');

# A value is read where it is used, and there alone.
is(counts($here, "SELECT pg_column_size('AAAA'::bayes_pass)"), 7, 'any bytes are a value');
for my $use ("_bayes_join_answers('AAAA', '$long')", "_bayes_join_answers('$long', 'AAAA')",
    "_bayes_pass_over_shard('shard_102'::regclass, 'AAAA')",
    "_bayes_keep_shard('shard_102'::regclass, 'AAAA', 1)", "_bayes_keep_rows(0, 'AAAA', 1)",
    "_bayes_make_pass(0, 'AAAA') WITHIN GROUP (ORDER BY true)") {
    like(counts($here, "SELECT $use"), qr/ERROR:  22P03: invalid document bytes/,
        "$use is refused");
}
my $kept = passes(1, $pass);
$there->run('COMMIT; BEGIN');
my $lost = passes(1, $pass);
isnt($lost, $kept, 'rows are gone with the transaction');
cmp_ok(length $lost, '<', 100, '... and the session says so');
$_->run('ROLLBACK') for @sessions;

# ---- savepoints ----

# Rows that are kept in one go with it, or stay with what it is released to.
$servers[1]->query("CREATE TABLE shard_102 AS SELECT
      ARRAY(SELECT sin(i * j) FROM generate_series(1, 9) AS j) AS x,
      ARRAY(SELECT 't' || i * j % 101 FROM generate_series(1, 9) AS j) AS words
    FROM generate_series(1, 20000) AS i");
my $contexts = q{SELECT count(*) FROM pg_backend_memory_contexts WHERE name LIKE 'pg_bayes kept%'};
my %kinds = (
    rows => ['x', request('keep', \@keep), request('settle', [])],
    documents => ['words', request('keep', [kind => text('documents'), family => text('lda'),
            whole => flag(1), terms => list()]),
        request('settle', [terms => list(map { text($_) } sort map { "t$_" } 0 .. 100)])],
);
$there->run("SET maintenance_work_mem = '1MB'");
sub files_there { my @files = $servers[1]->temporary_files; return scalar @files }
for my $kind (sort keys %kinds) {
    my ($columns, $keep, $settle) = @{$kinds{$kind}};
    my $keeps = "SELECT count(_bayes_keep_shard(tableoid, '$keep', $columns)) FROM shard_102";
    my $asks = sub {
        my ($request) = @_;
        return $there->run("SELECT _bayes_pass_over_shard(tableoid, '$request') FROM shard_102
            TABLESAMPLE _bayes_first_rows(1)");
    };
    my $describe = request('describe', []);
    my $empty = $asks->($describe);
    is($there->run("BEGIN; SAVEPOINT a; $keeps"), 1, "$kind are kept in a savepoint");
    cmp_ok(files_there(), '>', 0, '... with files');
    is($there->run("ROLLBACK TO a; $contexts"), 0, '... which is rolled back: no memory is left');
    is(files_there(), 0, '... no file');
    is($asks->($describe), $empty, '... no rows');
    is($there->run("SAVEPOINT b; $keeps"), 1, '... others are kept');
    my $described = $asks->($describe);
    isnt($described, $empty, '... and say so');
    $there->run('RELEASE a; SAVEPOINT c');
    is($asks->($describe), $described, '... also when it is released');
    $there->run('ROLLBACK TO c');
    is($asks->($describe), $described, '... or one is rolled back that only made passes');
    $there->run('SAVEPOINT d; SELECT 1 / 0; ROLLBACK TO d');
    is($asks->($describe), $described, '... or one with an error');
    my $settled = $asks->($settle);
    unlike($settled, qr/ERROR/, '... they are settled');
    my $pass = request($kind eq 'rows' ? 'total weight' : 'log factorials',
        $kind eq 'rows' ? [] : [kept => list()]);
    my $total = $asks->($pass);
    unlike($total, qr/ERROR/, '... and make passes');
    $there->run('SAVEPOINT e');
    is($asks->($pass), $total, '... in a savepoint too');
    $there->run('ROLLBACK TO e');
    is($asks->($pass), $total, '... and after it');
    is($there->run('COMMIT'), '', '... the end has nothing to say');
    is(join(' ', $there->run($contexts), files_there()), '0 0', '... and nothing is left');
}
unlike($servers[1]->log, qr/leak/, 'the log has no leaks');

# ---- aggregates whose state is internal ----

my $server = $servers[2];
$server->query("CREATE TABLE models AS SELECT gmm_fit(x, 2) AS model,
    linreg_stats(y, x) AS sums FROM shard_104");
my %value = (
    'any' => ['ARRAY[1.5, 2]::float8[]', "'word'::text", '1.5::float8', 'ROW(1.5, true)'],
    'double precision[]' => ['ARRAY[1.5, 2]::float8[]'], 'text[]' => ["'{a,b}'::text[]"],
    'bayes_model' => ['(SELECT model FROM models)'], 'jsonb' => [q{'{}'::jsonb}],
    'linreg_stats' => ['(SELECT sums FROM models)'], 'integer' => ['2'], 'boolean' => ['true'],
    'double precision' => ['1.5::float8'], 'bigint' => ['2::bigint'], 'text' => ["'word'::text"],
    'integer[]' => ["'{1,2}'::int[]"], 'tsvector' => ["'a b'::tsvector"],
);
my @aggregates = split /\n/, $server->query("SELECT a.aggfnoid::regprocedure || E'\\t'
      || (SELECT string_agg(format_type(t, NULL), ';' ORDER BY n)
        FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY AS u(t, n))
    FROM pg_aggregate AS a JOIN pg_proc AS p ON p.oid = a.aggfnoid
    JOIN pg_depend AS d ON d.objid = p.oid AND d.deptype = 'e' AND d.classid = 'pg_proc'::regclass
    JOIN pg_extension AS e ON e.oid = d.refobjid AND e.extname = 'pg_bayes'
    WHERE a.aggtranstype = 'internal'::regtype ORDER BY 1");
cmp_ok(scalar @aggregates, '>', 50, 'the aggregates');
my $session = $server->session;
my ($refused, $taken, @wrong) = (0, 0);
for my $each (@aggregates) {
    my ($name, $types) = split /\t/, $each;
    for my $which (0 .. 3) {
        my @given = map { my $of = $value{s/"//gr} // ['NULL']; $of->[$which % @$of] }
            split /;/, $types;
        my $said = $session->run("SELECT partial('$name', " . join(', ', @given)
            . ') FROM generate_series(1, 2)');
        if ($said =~ /ERROR/) { $refused++ } else { $taken++ }
        push @wrong, "$name(@given): $said" if $said =~ /XX000|server closed|unexpected/;
    }
}
is("@wrong", '', 'no aggregate fails in an unclean way');
cmp_ok($refused, '>', 100, 'many are refused');
cmp_ok($taken, '>', 20, 'others can be called so');
is($session->run('SELECT 1'), 1, 'the session lives');
unlike($server->log, qr/terminated by signal|PANIC/, 'no process has crashed');

done_testing();
