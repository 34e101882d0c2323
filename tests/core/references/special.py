#!/usr/bin/env python3
"""Writes special.inc beside this file: references of 40 digits for the special functions, by mpmath."""
import os

from mpmath import mp, mpf, digamma, exp, log, loggamma, log1p, pi, polygamma

mp.dps = 60


def number(x):
    return mp.nstr(x, 40, strip_zeros=False) + "L"


def row(arguments, value):
    return "    {%s, %s},\n" % (", ".join(repr(a) if isinstance(a, int) else float(a).hex() for a in arguments), number(value))


def table(name, kind, rows):
    return "const %s %s[] = {\n%s};\n\n" % (kind, name, "".join(row(a, v) for a, v in rows))


positive = [1e-300, 1e-100, 1e-20, 1e-8, 0.001, 0.1, 0.5, 0.9, 0.999999, 1.0, 1.0000001, 1.25, 1.4616321449683622, 1.5, 1.999,
            2.0, 2.000001, 2.5, 3.0, 4.75, 7.25, 10.0, 14.5, 33.25, 99.5, 170.6, 1000.25, 1e5, 1e8, 1e15, 1e100, 1e300]
pairs = [(1e-200, 1e-200), (1e-10, 3.0), (0.5, 0.5), (1.0, 1.0), (1.0, 7.0), (2.5, 4.0), (9.5, 9.75), (0.25, 10.0), (3.0, 11.0),
         (10.0, 10.0), (12.0, 300.0), (1.0, 1e10), (5.5, 1e15), (1e-3, 1e12), (1e6, 1e6), (1e8, 20.0), (1e12, 1e3), (1e100, 1e50)]


def log_multivariate_gamma(a, p):
    return mpf(p) * (p - 1) / 4 * log(pi) + sum(loggamma(a + mpf(1 - j) / 2) for j in range(1, p + 1))


def wishart_digamma(a, p):
    return sum(digamma((a + 1 - j) / 2) for j in range(1, p + 1))


def log_beta(a, b):
    return loggamma(a) + loggamma(b) - loggamma(a + b)


def main():
    out = "// Written by special.py: do not edit.\n"
    out += table("log_gamma_table", "Unary", [((x,), loggamma(mpf(x))) for x in positive])
    out += table("digamma_table", "Unary", [((x,), digamma(mpf(x))) for x in positive])
    out += table("trigamma_table", "Unary", [((x,), polygamma(1, mpf(x))) for x in positive if 1e-100 <= x])
    out += table("log1p_exp_table", "Unary", [((x,), log1p(exp(mpf(x)))) for x in
                 [-1000.0, -700.0, -40.0, -37.0, -20.5, -1.0, -1e-9, 0.0, 1e-9, 1.0, 17.9, 18.0, 18.1, 33.25, 36.0, 40.0, 700.0, 1e9]
                 if x > -745])
    with mp.workdps(400):
        out += table("log_beta_table", "Binary", [((a, b), log_beta(mpf(a), mpf(b))) for a, b in pairs])
    multivariate = [(a, p) for p in (1, 2, 3, 10, 64) for a in (p + 0.125, p + 3.0, 2.0 * p + 0.5, 100.0 * p, 1e6)]
    out += table("log_multivariate_gamma_table", "Multivariate",
                 [((a, p), log_multivariate_gamma(mpf(a), p)) for a, p in multivariate])
    out += table("wishart_digamma_table", "Multivariate", [((a, p), wishart_digamma(mpf(a), p)) for a, p in multivariate])
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "special.inc"), "w") as file:
        file.write(out.rstrip() + "\n")


main()
