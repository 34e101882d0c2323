# Every function, aggregate and window function of the extension, called with everything that a fool
# or a foe may think of: each call gives a result or an error that says what is wrong. No crash, no
# hang, no internal error (XX000).
#
# The functions are taken from the catalog, so a new one is tested as soon as it exists; a new
# argument type needs a row below.
#
# This takes all the time of a processor, so the runner shares the calls out: each part draws them
# all, and makes some.
# parts: 4
# seconds: 22
use strict;
use warnings;
use Effort;
use Server;
use Test::More;
use Time::HiRes qw(time);

srand(20260701);
my $server = Server->shared;
my $session = $server->session;
$session->run(do { local (@ARGV, $/) = 'tests/lib/adversarial.sql'; <> });

# ---- what may be given for a type; the first value is sound ----

my %named = (gmm => [qw(vi em kmeans narrow independent sampled)],
    bmm => [qw(bits bits_em bits_sampled categories mixed counts)],
    dpmm => [qw(process process_narrow process_bits process_vi halves)],
    hmm => [qw(chain chain_vi chain_words chain_symbols chain_bits chain_vectors chain_narrow)],
    lda => [qw(topics topics_em topics_svi topics_sampled topic)],
    nmf => [qw(cells arrays_em cells_squared one_column cells_svi)],
    pmf => [qw(rated rated_hierarchical rated_forgotten)],
    beta_bernoulli => ['success'], gamma_poisson => ['events'], rest => [qw(normals mixed classes)],
    normal_inverse_gamma => ['measured'], dirichlet_categorical => ['words'],
    nb => [qw(classes classes_full classes_bits one_class classes_words classes_lexemes)],
    linreg => [qw(line line_em line_vi line_sampled line_level line_labels)],
    glm => [qw(counts counts_exposed amounts levels classes)],
    logreg => [qw(logistic logistic_strict)],
    probit => [qw(probit probit_em probit_sampled)]);
my %table = (hmm => 'chains', lda => 'libraries', nmf => 'factors', pmf => 'ratings',
    nb => 'classifiers', linreg => 'regressions', glm => 'responses', logreg => 'answers',
    probit => 'answers', rest => 'rests', map { $_ => 'posteriors' }
        qw(beta_bernoulli gamma_poisson normal_inverse_gamma dirichlet_categorical));
my %models = map { my $from = $table{$_} // 'given';
    $_ => [map { "(SELECT $_ FROM $from)" } @{$named{$_}}] } keys %named;
my @models = map { @{$models{$_}} } sort keys %named;
my $query = q{SELECT x FROM good};
my @queries = ($query, '', ' ', ';', '--', 'SELECT', 'SELECT 1', 'SELECT 1; SELECT 2',
    'SELECT FROM good', 'SELECT x FROM nowhere', 'SELEC x', 'SELECT NULL', "SELECT 'a'",
    'SELECT x, x FROM good', 'SELECT x, 1 FROM good',
    'SELECT x, -1 FROM good', 'SELECT x, NULL::float8 FROM good',
        "SELECT x, 'NaN'::numeric FROM good", 'SELECT x, 0 FROM good', 'SELECT id, x FROM good',
        'SELECT 1, 2.5, id::smallint FROM good', 'SELECT id, NULL::int FROM good',
    'SELECT x FROM good WHERE false', 'SELECT x[1:id % 3] FROM good',
        'SELECT 1 / (id - 5) FROM good', 'DELETE FROM good', 'DELETE FROM good RETURNING x',
        'WITH d AS (DELETE FROM good RETURNING x) SELECT x FROM d',
    'CREATE TABLE t (x int)', 'SELECT x INTO t FROM good', 'SELECT x FROM good FOR UPDATE',
        'COMMIT', 'ROLLBACK', 'BEGIN', 'SET work_mem = 100', 'SHOW work_mem', 'EXPLAIN SELECT 1',
        'COPY good TO STDOUT', 'VALUES (1), (2), (3)',
    'TABLE good', 'EXECUTE nothing', 'FETCH ALL FROM nothing', 'LISTEN a', 'SELECT $1',
        'SELECT now()', 'SELECT good FROM good', 'SELECT ARRAY[x, x] FROM good',
        'SELECT id, id, id, id FROM good', "DO 'BEGIN END'", 'CALL nothing()',
    'SELECT bits FROM good', 'SELECT id, bits FROM good', 'SELECT bits::bool[] FROM good',
        'SELECT id, bits::bool[] FROM good', 'SELECT NULL, x FROM good', 'SELECT 1, x FROM good',
        'SELECT good, x FROM good', 'SELECT id, x, id FROM good', 'SELECT id, bits, 1 FROM good',
    "SELECT id, c.* FROM good, dpmm_cluster('SELECT id, x FROM good', '{\"draws\": 9}') AS c",
        "SELECT gmm_fit('SELECT x FROM good', 2)",
        "SELECT c.mean FROM gmm_fit('SELECT x FROM good', 2) c",
        'SELECT generate_series(1, 12), random()', "SELECT 'NaN'::float8 FROM good",
        "SELECT 1e200::numeric * id FROM good", 'SELECT 1e400 FROM good',
    "SELECT (1e308)::numeric * 1000 FROM good", 'SELECT ' . join(', ', (1) x 1600) . ' FROM good',
        'SELECT x::float4[], id::real FROM good', 'SELECT x::numeric[] FROM good',
        'SELECT id, series FROM good', 'SELECT word, ARRAY[word, NULL] FROM good',
        'SELECT id, vectors FROM good',
        "SELECT id, CASE WHEN id > 3 THEN vectors ELSE '{}' END FROM good",
        'SELECT id, CASE WHEN id > 3 THEN vectors ELSE series END FROM good',
    'SELECT id, series, id FROM good', 'SELECT id, word FROM good',
        'SELECT NULL, ARRAY[good] FROM good', "SELECT id, '{NULL,NULL}'::text[] FROM good",
        'SELECT id, NULL::int[] FROM good', "SELECT id, '{Infinity}'::float8[] FROM good",
        'SELECT ARRAY[id, NULL] FROM good', 'SELECT pg_sleep(0)',
    'SELECT word, ARRAY[word, NULL]::text[], 1 FROM good', 'SELECT id, word, 1 FROM good',
    'SELECT word, word, -1 FROM good', 'SELECT id, word, id / 8.0 FROM good',
    "SELECT 'a:1 b:2'::tsvector FROM good", q{SELECT '{"a": 1}'::jsonb FROM good},
    q{SELECT id, CASE WHEN id > 3 THEN '{"a": 1}' ELSE '3' END::jsonb FROM good});

my @options = ('NULL', map { "'$_'" } '{}', 'null', '[]', '[{}]', '1', '"x"', 'true', '{"": 1}',
    '{"metod": "em"}', '{"method": "em"}', '{"method": "map"}', '{"method": "svi"}',
    '{"method": "kmeans"}', '{"missing": "skip"}', '{"on_error": "null"}',
    '{"covariance": ["full", "tied"]}', '{"covariance": []}',
        '{"method": "svi", "batch_size": 1, "kappa": 0, "t0": 1}',
        '{"a": {"b": {"c": [1, [2, [3]]]}}}', '{"max_iter": 1}',
        '{"method": "em", "covariance_floor": 1e-300}', '{"prior": {}}',
    '{"prior": {"alpha": 1e-300}}', '{"prior": {"B": 1e-300}}', '{"prior": {"B": 1e300}}',
        '{"prior": {"a": 1e9}}', '{"prior": {"c": 1e-300}}', '{"prior": {"m": [1e300, -1e300]}}',
        '{"prior": {"m": [1e150, -1e150]}}', '{"prior": {"type": "independent", "C": 1e-300}}');
my @keys = (qw(method covariance restarts init seed max_iter tol max_seconds missing on_error prior
    covariance_floor batch_size kappa t0 scale models id weight),
    map { "prior.$_" } qw(type alpha m c a B C));
my @nasty = ('null', 'true', '"x"', '""', '"' . 'y' x 3000 . '"', '"\u00fc"', -1, 0, 0.5, 1, 2,
    '1e300', '-1e300', '1e-300', '9223372036854775807', '1e400', '[]', '[[]]', '[1]', '[1, 2]',
    '[[1, 2], [3, 4]]', '[[1, 0], [0, 1]]', '[[1, 2], [2, 1]]', '[[1e200, 0], [0, 1e200]]',
    '[[1, 2], [3]]', '["a"]', '[1, null]', '[[0, 0], [0, 0]]', '{}', '{"a": 1}', '"NaN"',
        '"Infinity"', '["full", "full"]', '[[[1]]]');
for my $key (@keys) {
    for my $value (@nasty) {
        my ($outer, $inner) = split /\./, $key;
        push @options, "'{\"$outer\": " . ($inner ? "{\"$inner\": $value}" : $value) . "}'";
        my $method = (qw(em map vi svi kmeans))[rand 5];
        push @options, "'{\"$outer\": " . ($inner ? "{\"$inner\": $value}" : $value)
            . ", \"method\": \"$method\"}'" if $outer ne 'method';
    }
}

my %options = (gmm => \@options);

# The other families: each nasty value of each key, with some method and some likelihood; few draws,
# as there are many of these.
my %family = (
    bmm => {keys => [qw(method likelihood categories minimum init chains draws warmup thin samples
            max_seconds prior missing batch_size covariance estimate concentration),
            map({ "prior.$_" } qw(alpha a b category_alpha shape rate m c B)),
            'prior.poisson.shape', 'prior.normal.B', 'prior.bernoulli.a'],
        methods => [qw(vi svi em map gibbs collapsed mcem)]},
    dpmm => {keys => [qw(method likelihood covariance categories concentration concentration.shape
            concentration.rate prior estimate level chains draws warmup thin init truncation
            restarts max_iter tol seed missing on_error max_seconds),
            map({ "prior.$_" } qw(m c a B b category_alpha shape rate)),
            'prior.poisson.shape', 'prior.normal.m'], methods => [qw(collapsed gibbs slice vi)]},
    gmm => {keys => [qw(chains draws warmup thin samples)], methods => [qw(gibbs collapsed mcem)]},
    hmm => {keys => [qw(method emission topology covariance categories init restarts max_iter tol
            seed max_seconds missing on_error transitions initial prior batch_size kappa t0 chains
            draws warmup thin covariance_floor minimum),
            map({ "prior.$_" } qw(alpha m c a B b shape rate category_alpha initial transitions
                sticky))], methods => [qw(em map vi svi gibbs)]},
    lda => {keys => [qw(method restarts max_iter tol seed max_seconds on_error batch_size kappa t0
            chains draws warmup thin stored_draws min_documents max_share max_terms vocabulary
            prior), map({ "prior.$_" } qw(alpha eta terms))],
        methods => [qw(vi em svi cvb0 gibbs collapsed)]},
    nmf => {keys => [qw(method restarts max_iter tol seed max_seconds on_error init batch_size kappa
            t0 prior), map({ "prior.$_" } qw(a b c d))], methods => [qw(vi svi em squared)]},
    pmf => {keys => [qw(method chains draws warmup thin stored_draws seed max_seconds on_error
            repeated means rated prior), map({ "prior.$_" } qw(noise_variance c hierarchical)),
            'prior.c.shape', 'prior.noise_variance.rate'], methods => [qw(gibbs)]},
    nb => {keys => [qw(method likelihood covariance absent missing on_error prior),
            map({ "prior.$_" } qw(alpha normal poisson bernoulli categorical)),
            'prior.normal.m', 'prior.normal.B', 'prior.normal.a', 'prior.poisson.rate'],
        methods => [qw(exact)]},
    linreg => {keys => [qw(method noise_variance intercept standardize reference ard max_iter tol
            chains draws warmup thin stored_draws seed max_seconds missing on_error prior),
            map({ "prior.$_" } qw(lambda a b c e f)), 'reference.f1'],
        methods => [qw(exact em laplace vi gibbs)]},
    glm => {keys => [qw(response link trials exposure offset method intercept reference standardize
            missing max_iter tol max_seconds on_error prior reference.word),
            map({ "prior.$_" } qw(c c_intercept intercept dispersion c_dispersion))],
        methods => [qw(laplace)]},
    logreg => {keys => [qw(method intercept reference standardize missing max_iter tol max_seconds
            on_error prior reference.word), map({ "prior.$_" } qw(c c_intercept))],
        methods => [qw(laplace)]},
    probit => {keys => [qw(method intercept standardize missing chains draws warmup thin
            stored_draws seed max_seconds prior), map({ "prior.$_" } qw(lambda lambda_intercept))],
        methods => [qw(laplace em vi gibbs)]},
);
my @likelihoods = ('"normal"', '"bernoulli"', '"poisson"', '"categorical"', '["poisson", "normal"]',
    '["categorical", "bernoulli"]');
for my $name (sort keys %family) {
    push @{$options{$name}}, 'NULL', map { "'$_'" } '{}', 'null', '[]', '1', '"x"', '{"": 1}',
        '{"metod": "vi"}', '{"a": {"b": {"c": [1, [2, [3]]]}}}', '{"draws": 20, "chains": 1}';
    push @{$options{$name}},
        map { "'{\"categories\": $_, \"likelihood\": \"categorical\", \"draws\": 4}'" } 1, 2,
        10000, 10001, '[2, 10000]', '[1, 2]', '[2]', '[2, 2, 2]', '[2, 1.5]', '[2, null]',
        '2147483648', '[[2, 2]]' if $name ne 'gmm';
    for my $key (@{$family{$name}{keys}}) {
        for my $value (@nasty, '"bernoulli"', '"vi"', '["bernoulli", "cauchy"]',
            '["normal", "normal", "normal"]', '[2, 3]', '"binder"', '1e-320', '2147483647',
            '[1e300, 1e300]', '[-1, 1]') {
            my ($outer, @inner) = split /\./, $key;
            my $inside = $value;
            $inside = "{\"$_\": $inside}" for reverse @inner;
            my %all = (draws => 20,
                method => "\"$family{$name}{methods}[rand @{$family{$name}{methods}}]\"",
                chains => 2);
            $all{response} = '"negative_binomial"' if $name eq 'glm';
            $all{$name eq 'hmm' ? 'emission' : 'likelihood'} = $likelihoods[rand @likelihoods]
                if $name !~ /^(?:gmm|lda|[np]mf)$/ && rand() < 0.8;
            delete @all{qw(draws chains)} if $name eq 'hmm' && $all{method} ne '"gibbs"'
                || $name eq 'lda' && $all{method} !~ /gibbs|collapsed/ || $name =~ /^n/;
            $all{$outer} = $inside;
            push @{$options{$name}},
                q{'{} . join(', ', map { "\"$_\": $all{$_}" } sort keys %all) . q{}'};
        }
    }
}

my %values = (
    'double precision[]' => ["'{1,2}'", 'NULL', map({ "'$_'" } '{}', '{1}', '{1,2,3}', '{NULL}',
        '{1,NULL}', '{NULL,NULL}', '{NaN,1}', '{1,Infinity}', '{-Infinity,1}', '{{1,2}}',
        '{{1,2},{3,4}}', '{{{1}}}', '[0:1]={1,2}', '[-7:-6]={1,2}', '[2147483646:2147483647]={1,2}',
        '{1e300,1}', '{1e200,-1e200}', '{1e150,-1e150}', '{1e-320,0}', '{-0,0}',
            '{1.7976931348623157e308,1}'), map({ "array_fill(1.5::float8, '{$_}')" } 200, 1601,
            100000), q{array_fill(NULL::float8, '{2}')}],
    integer => [2, qw(NULL 0 1 -1 3 12 13 10000 10001 2147483647 -2147483648)],
    smallint => [2, qw(NULL 0 -1 32767)],
    oid => [1259, 'NULL', 0], bigint => [1, qw(NULL 0 -1 9223372036854775807 -9223372036854775808)],
    'double precision' => [1, 'NULL', 0, -1, 0.5, map({ "'$_'" } 'NaN', 'Infinity', '-Infinity'),
        '1e300', '1e150', '1e-320', "'-0'"],
    'integer[]' => ["'{1,2}'", 'NULL', map { "'$_'" } '{}', '{2}', '{0}', '{-1,1}', '{NULL}',
        '{1,NULL}', '{1,1}', '{3,1,2}', '{{1,2}}', '[0:1]={1,2}', '{2147483647}', '{12,13}',
        '{10001}'],
    jsonb => ["'{}'", @options, map({ "'$_'" } '{"pg_bayes": {"format": 1, "version": "x"}}'),
        map({ "$_\::jsonb" } @models)],
    'jsonb[]' => ["ARRAY['{}', NULL]::jsonb[]", 'NULL', q{'{1}'::jsonb[]}, q{'{{1}}'::jsonb[]}],
    # Of any type: a literal with its type. The first cannot tell 0 and 1 from numbers.
    anyarray => ["'{0,1}'::integer[]", "'{t,f}'::boolean[]", 'NULL::integer[]', 'NULL::boolean[]',
        'NULL::text[]', map({ "'$_'::boolean[]" } '{}', '{t}', '{t,f,t}', '{NULL,t}', '{{t,f}}',
        '[0:1]={t,f}'), map({ "'$_'::integer[]" } '{}', '{1}', '{0,1,1}', '{NULL,1}', '{2,0}',
        '{-1,0}', '{2147483647,0}', '{{0,1}}', '[-7:-6]={0,1}'),
        map({ "'$_'::float8[]" } '{0,1}', '{0.5,1}', '{NaN,1}', '{Infinity,0}', '{1e300,0}',
            '{1e-320,0}', '{-0,1}'), map({ "'$_'::numeric[]" } '{0,1}', '{NaN,0}', '{1e400,0}',
            '{0.0000000000000000000000000000001,1}'), "'{0,1}'::smallint[]", "'{0,1}'::bigint[]",
            "'{9223372036854775807,0}'::bigint[]", "'{0,1}'::real[]",
        "'{0,1}'::text[]", "'{a,b}'::varchar[]", q{'{"[1]",null}'::jsonb[]},
            "'{1-1-1,infinity}'::date[]", "'{192.168.0.1}'::inet[]", q{ARRAY[(1, 'a')]::record[]},
            q{ARRAY[ROW(1.5, 'a'::text, true), NULL, ROW(NULL, 'b'::text, false)]},
            "'{1,2}'::oid[]", "'0 1'::int2vector", "'0 1'::oidvector",
            q{'{"(0,1)","(1,0)"}'::point[]}, "'{1,0}'::bit[]", "'{0,1}'::money[]",
            "'{{0,1},{1,0}}'::float8[]", "'{{0,NULL},{NaN,0}}'::float8[]",
            "'{{a,b},{c,d}}'::text[]", "'{{{0,1}}}'::float8[]", "'{a,NULL,b}'::text[]",
            q{'{a,"",b}'::"char"[]},
        map({ ("array_fill(1, '{$_}')", "array_fill(true, '{$_}')") } 200, 1601, 100000),
            q{'{"[0,1]"}'::int4range[]}, q{ARRAY[_bayes_model_send((SELECT bits FROM given))]},
            'ARRAY[(SELECT bits FROM given)]'],
    # One observation: the first is a number; records are vectors.
    anynonarray => ['0.5::float8', 'NULL::float8', 'NULL::text',
        map({ "$_\::integer" } qw(0 1 2147483647)),
        map({ "'$_'::float8" } 'NaN', 'Infinity', '-Infinity', '1e300', '1e150', '1e-320', '-0'),
        map({ "'$_'::numeric" } 'NaN', '1e400', '0.5'), 'true', 'NULL::boolean', "'a'::text",
        "''::text", "'b'::varchar", "'c'::\"char\"", "repeat('y', 100000)", "'{\"a\": 1}'::jsonb",
        "'1-1-1'::date",
        "'x'::bytea", 'ROW(1, 2)', 'ROW(1.5::float8, NULL::int)', 'ROW(NULL, NULL)',
            'ROW(true, 1::numeric)', 'ROW()', 'ROW(1)', 'ROW(1, 2, 3)', "ROW('a'::text, 1)",
            "ROW('{1,2}'::float8[])", "ROW('{1,NULL}'::int[])", "ROW('{1,2,3}'::int[])",
            "ROW('{}'::int[])", "ROW('{{1,2}}'::int[])", "ROW('{a,b}'::text[])", "ROW(NULL::int[])",
            "ROW('{1,2}'::int[], 1)",
        'ROW(ROW(1, 2))', "ROW('Infinity'::float8, 1)", '(SELECT good FROM good LIMIT 1)',
            'ROW(' . join(', ', (1) x 1600) . ')', "'[0,1]'::int4range", "'(0,1)'::point",
            '(SELECT bits FROM given)', "'pg_class'::regclass"], bayes_model => [@models, 'NULL'],
    'bayes_model[]' => [map({ "ARRAY[$_]" } $models[0], "$models[0], NULL",
        "$models[0], $models[1]"), 'NULL', q{'{}'}, q{'{NULL}'}, "ARRAY[ARRAY[$models[0]]]",
        "array_fill($models[0], '{1001}')"],
    # Documents.
    tsvector => ["'a:1,3 c:2'", 'NULL', map({ "'$_'" } '', 'a b c', 'c:16383', 'é:1A,2B,3C,4D'),
        q{to_tsvector('simple', repeat('c ', 300))},
        '(SELECT array_to_tsvector(array_agg(i::text)) FROM generate_series(1, 500) AS i)'],
    'text[]' => ["'{a,c,a}'", 'NULL', map({ "'$_'" } '{}', '{NULL}', '{a,NULL}', '{""}', '{x,y}',
        '{{a,b},{c,d}}', '[7:8]={a,b}'), "array_fill('a'::text, '{100000}')",
        "ARRAY[repeat('y', 10001)]", "ARRAY[repeat('y', 1000000)]",
        '(SELECT array_agg(i::text) FROM generate_series(1, 500) AS i)'],
    # Keys: of any type, literals among them.
    '"any"' => ["'c'", 'NULL', 'NULL::int', 'id', 'word', '1.5', "'NaN'::float8", 'x', 'good',
        "repeat('y', 10001)", "repeat(word, 10000)", "repeat('y', 1000000)", "'pg_class'::regclass",
        "'(0,1)'::point", 'now()', "'1 day'::interval", "'{\"a\": 1}'::jsonb", "'x'::bytea",
        '(SELECT one_column FROM factors)', "''"],
    record => ['ROW(1, 2)', 'NULL', 'ROW(NULL, NULL)', 'ROW()', "ROW('a', true, 1.5)", 'good',
        "ROW('NaN'::float8, 1)", "ROW('Infinity'::float8, 1)", "ROW('{1,2}'::int[])", 'ROW(ROW(1))',
        "ROW(now(), '1 day'::interval)", "ROW(repeat('y', 10001))", "ROW(NULL::text, word)",
        'ROW(' . join(', ', (1) x 1600) . ')', "ROW('pg_class'::regclass, '{}'::json)",
        'ROW(id, word)', '(SELECT g FROM good AS g LIMIT 1)'],
    boolean => ['true', 'NULL', 'false'],
    regprocedure => ["'density(float8[])'", 'NULL', "'sin(float8)'", '0', '4294967295',
        "'wild_density(float8[])'", "'bayes_rhat(float8,int)'", "'generate_series(int,int)'"],
    text => ["'c'", 'NULL', "''", "repeat('y', 10001)", "repeat('y', 10000)"],
    anyelement => ['1::integer', "'{0.5,NULL}'::float8[]", "'{NULL,1}'::int[]",
        'ROW(NULL::int, 1)', 'NULL::integer', "'a'::text", "'NaN'::float8", "'{1,2}'::int[]",
        'ROW(1, 2)', "'{}'::json", "'(0,1)'::point", "repeat('y', 100000)",
        '(SELECT topic FROM libraries)', "'pg_class'::regclass", 'true', 'NULL::json',
        "'a'::name", "'[0,1]'::int4range", q{'{"a": 1}'::jsonb}],
    bayes_query => [map { my $text = $_; $text =~ s/'/''/g; "'$text'" } @queries],
    cstring => ['NULL', map({ "'$_'" } '', '{}', '[', '{"pg_bayes": 1}',
        '{"pg_bayes": {"format": 99}}'), map({ "($_)::text::cstring" } $models[0])],
    bytea => ['NULL', q{'\x'}, q{'\x00'}, q{'\x50474d42'}, "_bayes_model_send($models[0])"],
    internal => ['NULL'], bayes_pass => ['NULL', q{''}, q{'AAAA'}, q{'no base64'}],
    hmm_state => ['NULL', map({ "hmm_advance($_, NULL, 1)" } @{$models{hmm}}[0, 1]),
        map { "ROW($_)" } 'NULL' . ', NULL' x 7,
        "1, 0, 0, '{.5,.5}', '{1,0}', md5('')::uuid, '{{1,0,1,.5,.5}}', NULL"],
    linreg_stats => ['(SELECT sums FROM regressions)', '(SELECT sums_labels FROM regressions)',
        'NULL', q{'{}'}, q{'[]'}, q{'{"linreg_stats": {"format": 99}}'},
        map { "((SELECT sums FROM regressions)::jsonb || '$_')::linreg_stats" } '{"rows": 0}',
        '{"rows": -1}', '{"sums": []}', '{"dimension": 1}', '{"rests": [1]}', '{"skipped": null}',
        '{"sums": [1e300, 1e300, 1e300, 0, 0, 0, 0, 0, 0, 0]}'],
);
push @{$values{bayes_query}}, 'NULL';

# For functions of a family: its own models, options and rows first. Found once, as it takes long.
sub values_of { our %known; return $known{"@_"} //= find_values(@_) }
sub find_values {
    my ($name, $type) = @_;
    my ($family) = $name =~ /\b(gmm|bmm|dpmm|hmm|lda|nmf|pmf|nb|glm|(?:lin|log)reg|probit)_/;
    my ($conjugate) = $name
        =~ /\b(beta_bernoulli|gamma_poisson|normal_inverse_gamma|dirichlet_categorical)_/;
    return [@{$models{$conjugate}}, @{$values{$type}}[0 .. 5]]
        if $conjugate && $type eq 'bayes_model';
    return [map({ "ARRAY[$_, $_]" } @{$models{$conjugate}}), @{$values{$type}}]
        if $conjugate && $type eq 'bayes_model[]';
    return [q{'{}'}, 'NULL', map { "'{$_}'" } '"x": 1', map { "\"prior\": $_" } '1', '{}',
        map { my $key = $_; map { "{\"$key\": $_}" } '1', '-1', '1e300', '"x"', '{"": 1}',
            '{"a": -1}' } qw(a b c m alpha)] if $conjugate && $type eq 'jsonb';
    return [q{'{"draws": 20}'}, 'NULL', map { "'{\"draws\": 20, $_}'" } '"x": 1',
        map { my $key = $_; map { "\"$key\": $_" } '0', '-1', '1', '1e300', '[1]', '"x"' }
            qw(chains warmup thin scale adapt seed)]
        if $name =~ /\bmh_sample$/ && $type eq 'jsonb';
    # That many draws of 100,000 numbers each are 8 GB.
    return [2, 'NULL', 0, -1, 3] if $name =~ /\bdirichlet_draws$/ && $type eq 'integer';
    return $values{$type} unless defined $family;
    my @first = $type eq 'bayes_model' ? @{$models{$family}} : $type eq 'jsonb'
        ? ($family =~ /^(?:[gh]mm|nmf|linreg|logreg|probit)$/ ? "'{}'"
            : $family eq 'glm' ? q{'{"response": "poisson"}'}
            : $family eq 'nb' ? q{'{"missing": "skip"}'} : q{'{"draws": 20}'}, @{$options{$family}})
        : $type ne 'bayes_query' || $family eq 'gmm' ? ()
        : $family eq 'bmm' ? q{'SELECT bits FROM good'}
        : $family eq 'hmm' ? (q{'SELECT id, series FROM good'},
            q{'SELECT id % 2, word, id FROM good ORDER BY 1'})
        : $family eq 'lda' ? q{'SELECT ARRAY[word] FROM good'}
        : $family eq 'nmf' ? q{'SELECT id, word, 2 FROM good'} : q{'SELECT id, x FROM good'};
    @first = q{'{0.5,0.25}'::float8[]} if $family eq 'hmm' && $type eq 'anyarray';
    # Rows to score, and rows to fit, which are no literals: those are taken for queries.
    @first = ("'{1,0}'", "'{1,0}'::int[]", "'{1,NULL}'::int[]", @{$values{record}})
        if $type eq '"any"' && $family =~ /^(?:gmm|bmm|dpmm|nb|glm|logreg|probit)$/;
    @first = (map({ /::|^\w+\(/ ? $_ : "$_\::float8[]" } @{$values{'double precision[]'}}),
            @{$values{anyarray}}, @{$values{record}})
        if $type eq '"any"' && $name =~ /\b(?:gmm|bmm|dpmm)_(?:fit|update|select|cluster)$/;
    # Sequences, documents, cells.
    @first = (q{'{0.5,0.25}'::float8[]}, @{$values{anyarray}}, @{$values{anynonarray}})
        if $type eq '"any"' && $family eq 'hmm';
    @first = map({ my $kind = $_; map { "$_\::$kind" } @{$values{$kind}} } 'tsvector', 'text[]')
        if $type eq '"any"' && $family eq 'lda';
    push @first, map { "$_\::jsonb" } @{$values{jsonb}} if $type eq '"any"' && $family eq 'lda';
    @first = (q('{"a": 1, "c": 2}'::jsonb), map { /::|^\w+\(/ ? $_ : "$_\::float8[]" }
            @{$values{'double precision[]'}}) if $type eq '"any"' && $name =~ /\bnmf_transform/;
    # Responses.
    @first = ('id > 5', 'id % 2', 'id', 'NULL::boolean', 'word', 'x', 'NULL::float8[]', 'good',
            "'{NaN,1}'::float8[]", "'{1,NULL}'::float8[]", @{$values{record}})
        if $type eq '"any"' && $name =~ /\b(?:glm|logreg|probit)_fit$/;
    return $values{$type}
        unless @first || $family =~ /^(?:[dg]p?mm|lda|[np]mf|nb|glm|logreg|probit)$/;
    my %seen;
    # Fitting 1600 columns is no error, only slow (every step a factor of a 1600 x 1600 matrix), and
    # so are 200 and long sequences: fewer will do here, for all but one function.
    my ($columns, $elements) = $family eq 'dpmm' ? (20, 20) : (100, 40);
    return [grep { !$seen{$_}++ } map {
        my $value = $_;
        if ($name !~ /\bgmm_fit$/) {
            $value =~ s/(?:1, ){1500,}/'1, ' x $columns/e;
            $value =~ s/'\{200\}'/'{$elements}'/;
        }
        $value =~ s/'\{(?:1601|100000)\}'/'{1000}'/ if $family eq 'hmm';
        $value = 300 if $family eq 'lda' && $value eq '10000';
        $value
    } @first, $type eq 'jsonb' ? () : @{$values{$type}}];
}

# ---- calls ----

my @functions = map { [split /\|/] } split /\n/, $server->query(q{
    SELECT p.oid::regproc, p.prokind, p.proretset,
           array_to_string(ARRAY(SELECT format_type(t, NULL)
           FROM unnest(p.proargtypes) WITH ORDINALITY AS u(t, n) ORDER BY n), ','),
           p.prorettype = 'internal'::regtype
    FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
         AND d.deptype = 'e' JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass
         AND d.refobjid = e.oid WHERE e.extname = 'pg_bayes' ORDER BY p.oid::regprocedure::text});
cmp_ok(scalar @functions, '>', 40, 'the catalog has the extension\'s functions');
my @unknown = grep { my $f = $_; grep { !$values{$_} } split /,/, $f->[3] // '' } @functions;
is_deeply(\@unknown, [], 'there are values for every argument type');

my ($calls, $slowest, @bad, @callable, %states, %spent) = (0, [0, '']);

# Expected of a call: anything but silence and internal errors.
sub try_call {
    my ($sql) = @_;
    $calls++;
    my $start = time;
    my $said = eval { $session->run($sql, 110) };
    $slowest = [time - $start, $sql] if time - $start > $slowest->[0];
    if (!defined $said || $said =~ /server closed the connection|connection to server was lost/) {
        push @bad, "backend gone: $sql: " . ($said // $@);
        sleep 3;    # the server recovers
        $session = eval { $server->session } // BAIL_OUT("no server after: $sql");
        $session->run("SET client_min_messages = error; SET statement_timeout = '120s'");
        return;
    }
    my ($state) = $said =~ /^(?:ERROR|FATAL|PANIC):  (\w{5}):/m;
    $states{$state // 'ok'}++;
    push @bad, "$state: $sql: " . substr($said, 0, 300) if defined $state && $state
        =~ /^(?:XX|57|53|2F|08)/;
}

# Aggregates and windows take arguments row by row: adverse in one row, or in all.
sub calls_of {
    my ($kind, $returns_set, $name, $types, @arguments) = @_;
    my @typed = map { $types->[$_] =~ /^(?:cstring|internal|any\w+|"any")$/ ? $arguments[$_]
        : "($arguments[$_])::$types->[$_]" } 0 .. $#$types;
    my $from = grep({ $_ eq '"any"' } @$types) ? ' FROM good' : '';
    return $returns_set ? ("SELECT $name(" . join(', ', @typed) . ")$from LIMIT 3")
        : ("SELECT $name(" . join(', ', @typed) . ")$from") if $kind eq 'f';
    my @over = $kind eq 'w' ? (' OVER ()', ' OVER (PARTITION BY id % 2 ORDER BY id)') : ('');
    # The sound row: of the type of the adverse one, where functions take any.
    my $sound = $name =~ /\b(?:dpmm|nmf)_/ ? 'bits::float8[]' : 'x';
    $sound = $typed[0] =~ /::([\w ]+\[\])$/ ? "bits::text[]::$1" : $typed[0]
        if $types->[0] eq 'anyarray';
    $sound = 'bits' if $types->[0] eq 'anyarray' && $typed[0] =~ /^array_fill\(1/;
    $sound = 'series' if $name =~ /\bhmm_/ && $typed[0] =~ /::(?:float8|numeric)\[\]$/;
    my $any = $types->[0] eq '"any"' && $typed[0] =~ /::([\w ]+\[\])$/ && $1;
    $sound = $any eq 'float8[]' ? $name =~ /\bhmm_/ ? 'series' : $name =~ /\bdpmm_/
        ? 'bits::float8[]' : 'x' : "bits::text[]::$any" if $any;
    $sound = $typed[0] if $types->[0] =~ /^(?:bayes_model|anyelement|"any")$/ && !$any;
    $sound = "($values{$types->[0]}[0])::$types->[0]" if $types->[0] =~ /^(?:tsvector|text\[\])$/;
    $sound = q('{"a": 1, "c": 2}'::jsonb) if $types->[0] eq 'jsonb';
    $sound = $typed[0] if $types->[0] eq 'record';
    $sound = 'bits::boolean[]' if $types->[0] eq 'anyarray' && $typed[0]
        =~ /^array_fill\(true|::boolean\[\]$/;
    my @rows = map {
        my $which = $_;
        join ', ', map { $_ == 0
            && ($any
                || $types->[0] =~ /^(?:double precision\[\]|anyarray|tsvector|text\[\]|jsonb)$/)
            ? "CASE WHEN $which THEN $typed[0] ELSE $sound END" : $typed[$_] } 0 .. $#typed
    } 'id = 4', 'true', 'false';
    # The other arguments, differing between rows.
    push @rows, join ', ', map { $_ == 0 ? $sound : "CASE WHEN id < 9 THEN ("
        . values_of($name, $types->[$_])->[0] . ')'
        . ($types->[$_] =~ /^"?any/ ? '' : "::$types->[$_]") . " ELSE $typed[$_] END" }
        0 .. $#typed;
    return map { my $row = $_; map { "SELECT $name($row)$_ FROM good" } @over } @rows;
}

my $number = 0;
for my $function (@functions) {
    my ($name, $kind, $returns_set, $types, $internal) = @$function;
    my @types = split /,/, $types // '';
    my %from = map { $_ => values_of($name, $_) } @types;
    my @sound = map { $from{$_}[0] } @types;
    my %seen;
    if (grep { $_ eq 'internal' } @types) {
        # SQL has no value of type internal to give, NULL included: such functions are for
        # PostgreSQL alone.
        my $said = $session->run("SELECT $name(" . join(', ',
            map { "($from{$_}[0])" . ($_ =~ /^(?:internal|any\w+|"any")$/ ? ''
            : "::$_") } @types) . ')');
        push @callable, "$name: $said" unless $said =~ /^ERROR:  (?:42883|0A000):/m;
        next;
    }
    my @picks = ([@sound]);
    # One argument adverse, the others sound.
    for my $i (0 .. $#types) {
        for my $value (@{$from{$types[$i]}}) {
            # The long list of options goes through one aggregate in full; others get every fifth.
            next if $types[$i] eq 'jsonb' && !($kind eq 'a' && $name =~ /_fit$/ && $types
                =~ /^"any",(?:integer,)?jsonb$/) && @types > 1 && rand > 0.1;
            # What follows the row is the same for rows of other kinds.
            next if $i > 0 && $types[0] =~ /^(?:record|double precision|boolean)$/ && rand > 0.1;
            # Rows of all kinds go through the fits of one mixture in full.
            next if $types[$i] eq '"any"' && $kind ne 'f' && $name !~ /\bbmm_fit$/ && rand > 0.25;
            my @pick = @sound;
            $pick[$i] = $value;
            push @picks, \@pick;
        }
    }
    # And everything adverse at once.
    push @picks, [map { my $v = $from{$_}; $v->[rand @$v] } @types]
        for 1 .. (@types > 1 ? effort($types[0] =~ /^(?:record|double precision|boolean)$/ ? 4 : 40)
            : 0);
    for my $pick (@picks) {
        my @all = grep { !$seen{$_}++ } calls_of($kind, $returns_set eq 't', $name, \@types,
            @$pick);
        # Aggregates with many forms: some of them, drawn.
        @all = @all[0, 1 + rand $#all] if @all > 3 && @picks > 400;
        next unless is_part($number++);
        $spent{$name} -= time;
        try_call($_) for @all;
        $spent{$name} += time;
    }
}

diag("$calls calls of ${\scalar @functions} functions; "
    . join(', ', map { "$_: $states{$_}" } sort keys %states));
diag(sprintf 'slowest: %.2f s: %s', $slowest->[0], substr($slowest->[1], 0, 200));
diag('most of the time went to '
    . join(', ', map { sprintf '%s %.1f s', $_, $spent{$_} } (
    sort { $spent{$b} <=> $spent{$a} } keys %spent)[0 .. 4]));
is_deeply(\@callable, [], 'functions with internal arguments cannot be called');
is(scalar @bad, 0, 'every call gave a result or a clear error')
    or diag(join "\n", map { substr($_, 0, 700) } @bad[0 .. ($#bad > 30 ? 30 : $#bad)]);
cmp_ok($states{ok} // 0, '>', 500 / parts(), 'many calls succeeded');
cmp_ok($states{22023} // 0, '>', 500 / parts(), 'many were refused');
is($session->run('SELECT count(*) FROM good'), '12', 'nothing was changed, the session goes on');
is_deeply([grep { /PANIC|TRAP|terminated by signal/ } split /\n/, $server->log], [],
    'no process of the server died');
is_deeply([$server->temporary_files], [], 'no temporary files are left');

done_testing;
