# The server's processes run the copy of the kernel library that was built for the best level of
# this machine.
use strict;
use warnings;
use Server;
use Test::More;

my $server = Server->shared;
my $session = $server->session;
$session->run("LOAD 'pg_bayes'");
open(my $file, '<', '/proc/' . $session->pid . '/maps') or die "maps: $!";
my %loaded = map { m{(/\S*/libpg_bayes_kernel\.so)} ? ($1 => 1) : () } <$file>;
is(scalar keys %loaded, 1, 'one kernel library is loaded');

# The levels of the build, the lowest first; those that this machine runs, by the loader's own word.
my ($lowest, @higher) = do {
    open(my $levels, '<', "$Server::root/build/lib/levels") or die "levels: $!";
    map { s/\s//gr } <$levels>;
};
my ($loader) = glob('/lib64/ld-linux-x86-64.so.*');
my %supported = $loader ? map { /(x86-64-v\d) \(supported/ ? ($1 => 1) : () } `$loader --help` : ();
my ($best) = reverse grep { $supported{$_} } @higher;
like((keys %loaded)[0], $best ? qr{/glibc-hwcaps/$best/} : qr{/lib/libpg_bayes_kernel},
    'it is that of ' . ($best // $lowest));

done_testing;
