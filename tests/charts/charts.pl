# Charts of all kinds and families, compiled and drawn by the current Vega-Lite without a warning,
# and a page of them in a browser. Needs node, npm (which brings Vega) and Chromium, and so is no
# part of make test: make test-charts.
#
# What is drawn stays in build/charts, to be looked at.
use strict;
use warnings;
use Digest::SHA qw(sha384_base64);
use JSON::PP qw(decode_json);
use Server;
use Test::More;

system("$Server::root/tests/lib/deps", 'charts') == 0 or BAIL_OUT('Node or Chromium is missing');
my $here = "$Server::root/build/charts";
system('mkdir', '-p', "$here/scripts") == 0 or die "$here: $!";
system('cp', (map { "$Server::root/tests/charts/$_" } qw(package.json compile.mjs page.mjs)),
    $here) == 0 or die "cp: $!";
chdir $here or die "$here: $!";
my $install = 'npm install --no-audit --no-fund --no-package-lock --omit=optional';
if (system("$install >npm.log 2>&1") != 0) {
    open(my $log, '<', 'npm.log') or die "npm.log: $!";
    my $said = join '', <$log>;
    plan(skip_all => 'the registry of npm cannot be reached')
        if $said =~ /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH)\b/;
    BAIL_OUT("npm install: $said");
}
for my $package (qw(vega vega-lite vega-embed)) {
    system('cp', "node_modules/$package/build/$package.min.js", 'scripts') == 0 or die "cp: $!";
}

my $server = Server->shared;
my (undef, $errors, $failed) = $server->psql(undef, '-v', "out=$here", '-f',
    'tests/charts/models.sql');
is($failed, 0, 'models of all families have charts') or BAIL_OUT($errors);

my %kinds;
for my $line (`node compile.mjs charts.jsonl svg`) {
    my $chart = decode_json($line);
    my ($name, $kind, $marks, $k) = @$chart{qw(name kind marks components)};
    $kinds{$kind}++;
    is_deeply($chart->{problems}, [], "$name is a chart without a problem");
    # As many as the model has components.
    my %parts = (ellipses => ['text', $k], transitions => ['rect', $k ** 2], map => ['text', $k],
        similarity => ['rect', 3600]);
    if (my $expected = $parts{$kind}) {
        is($marks->{$expected->[0]}, $expected->[1], "$name shows all components");
    }
    is($marks->{line} % $k, 0, "$name has a line for each component of each column")
        if $kind eq 'columns' && !$chart->{rows} && $marks->{line};
    is($marks->{area}, $k, "$name has an area for each topic") if $name =~ /^lda: shares/;
}
is($?, 0, 'all charts were compiled');
cmp_ok(scalar keys %kinds, '>=', 25, 'of all kinds');

sub text_of {
    my ($path) = @_;
    open(my $file, '<:raw', $path) or die "$path: $!";
    local $/;
    return scalar <$file>;
}
sub opened {
    my ($name) = @_;
    return decode_json(`node page.mjs $name.html "\$(command -v chromium)" $name.png` || '{}');
}

my $page = opened('page');
is_deeply($page->{said}, [], 'the console of the page is empty');
cmp_ok($page->{charts} // 0, '>', 20, 'the page shows charts');
is($page->{charts}, $page->{wanted}, 'all of them, those of others without options for vega-embed');
is($page->{note}, undef, 'and no note');
is($page->{title}, 'Charts </title><script>document.title = "broken"</script>',
    'a title is only text');
like($page->{tooltip} // '', qr/\d/, 'a mark that is pointed at tells its numbers');

my @places = grep { /mean proportion/ } @{$page->{places} // []};
my %times = map { /(\d{4}-\d\d-\d\d)/ ? ($1 => 1) : () } @places;
cmp_ok(scalar keys %times, '>', 5, 'areas tell the time that is pointed at');
is_deeply([grep { /lower/ } @places], [], 'and how large it is, not where it lies');

# What a page loads from the public address is what npm has there, and what was drawn above.
my %named = text_of('public.html')
    =~ m{<script src="https://cdn\.jsdelivr\.net/npm/(\S+?)" integrity="(\S+?)" crossorigin=}g;
my %installed = map {
    my $about = decode_json(text_of("node_modules/$_/package.json"));
    ("$_\@$about->{version}/$about->{jsdelivr}"
        => 'sha384-' . sha384_base64(text_of("node_modules/$_/$about->{jsdelivr}")))
} qw(vega vega-lite vega-embed);
is_deeply(\%named, \%installed, 'scripts are of exact versions, and have their hashes');

my $model = opened('model');
is_deeply($model->{said}, [], 'the console of the page of a model is empty');
cmp_ok($model->{charts} // 0, '>=', 5, 'it shows charts');
is($model->{charts}, $model->{wanted}, 'all of them');
like($model->{text} // '',
    qr/^<i>\n.*converged after.*gmm of 2 components, vi, 299 rows.*Parameters.*<\/script>/s,
    'its facts, captions and parameters');

my $missing = opened('missing');
is($missing->{charts}, 0, 'without programs nothing is drawn');
like($missing->{note} // '', qr/vega\.min\.js, .*, from nowhere\..*npm install vega\@\d/s,
    'but the page says which are missing, and where to get them');
is(scalar(() = $missing->{text} =~ /\{"|\$schema/g), 0, 'and shows no specification');

done_testing();
