# Comparison of texts with numbers in them.
package Close;
use strict;
use warnings;
use Exporter qw(import);

our @EXPORT_OK = qw(are_close);

# Are the texts equal, up to the rounding of numbers: 1e-9, relative to 1 or to the number?
sub are_close {
    my @texts = @_;
    my $number = qr/(?<![\w.])(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?![\w.])/;
    my @numbers = map { [/$number/g] } @texts;
    s/$number/#/g for @texts;
    return 0 if $texts[0] ne $texts[1];
    for my $i (0 .. $#{$numbers[0]}) {
        my ($one, $other) = map { $_->[$i] } @numbers;
        return 0 if abs($one - $other) > 1e-9 * (abs $one > 1 ? abs $one : 1);
    }
    return 1;
}

1;
