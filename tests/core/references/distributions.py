#!/usr/bin/env python3
"""Writes distributions.inc beside this file: references of 30 digits for densities and
probabilities of the standard distributions, by mpmath."""
import os

from mpmath import exp, gammainc, log, loggamma, mp, mpf, ncdf, pi, quad, sqrt

mp.dps = 50


def log_beta(a, b):
    return loggamma(a) + loggamma(b) - loggamma(a + b)


def binomial_log(k, n, p):
    choose = loggamma(n + 1) - loggamma(k + 1) - loggamma(n - k + 1)
    return choose + k * log(p) + (n - k) * log(1 - p)


def integrated(log_density, mean, sd, x):
    """The integral up to x of a density that is nearly normal."""
    z = (x - mean) / sd
    tail = quad(lambda u: exp(log_density(mean + u * sd)) * sd,
                [z + (u if z > 0 else -u) for u in (0, 1, 2, 3, 5, 8, 12, 16)])
    return 1 - tail if z > 0 else -tail


def beta_at(z, a, b):
    """The double z standard deviations from the mean of a beta variable, nearly."""
    n = mpf(a) + b
    return float(a / n + z * sqrt(mpf(a) * b / n) / n)


def gamma_at(z, shape):
    return float(shape + z * sqrt(mpf(shape)))


def beta_cdf(x, a, b):
    # not mpmath's own, which does not converge for large parameters
    if min(a, b) > 1e4:
        n, constant = a + b, log_beta(a, b)
        return integrated(lambda t: (a - 1) * log(t) + (b - 1) * log(1 - t) - constant, a / n,
                          sqrt(a * b / n) / n, x)
    if x > 0.5:
        return 1 - beta_cdf(1 - x, b, a)
    total = term = mpf(1)
    n = 0
    while term > total * mpf(10) ** -mp.dps:
        term *= (a + b + n) / (a + 1 + n) * x
        total += term
        n += 1
    return exp(a * log(x) + b * log(1 - x) - log_beta(a, b)) / a * total


def student_cdf(t, n):
    half = beta_cdf(n / (n + t * t), n / 2, mpf(1) / 2) / 2
    return half if t < 0 else 1 - half


def gamma_cdf(x, shape, rate):
    if shape > 2e4:
        constant = loggamma(shape)
        return integrated(lambda t: (shape - 1) * log(t) - t - constant, shape, sqrt(shape),
                          rate * x)
    return gammainc(shape, 0, rate * x, regularized=True)


def above(x, shape, rate):
    if shape > 2e4:
        return 1 - gamma_cdf(x, shape, rate)
    return gammainc(shape, rate * x, regularized=True)


FAMILIES = {
    "NormalDistribution": (
        lambda x, m, s: -(((x - m) / s) ** 2) / 2 - log(2 * pi) / 2 - log(s),
        lambda x, m, s: ncdf((x - m) / s),
        [(0, 0, 1), (1.5, 0, 1), (-8.25, 0, 1), (-37, 0, 1), (30, 10, 2.5), (1e10, 1e10 - 3, 2)]),
    "StudentDistribution": (
        lambda x, n: -(n + 1) / 2 * log(1 + x * x / n) - log(n) / 2 - log_beta(n / 2, mpf(1) / 2),
        student_cdf,
        [(0, 1), (2.5, 1), (-1e5, 0.5), (1.25, 3), (-7, 30), (3, 1e6), (-2, 1e9), (40, 7.5), (-1e6, 2),
         (-1e-9, 4), (-3, 1e-3)]),
    "BetaDistribution": (
        lambda x, a, b: (a - 1) * log(x) + (b - 1) * log(1 - x) - log_beta(a, b),
        beta_cdf,
        [(0.5, 1, 1), (0.25, 2, 5), (0.125, 0.5, 0.5), (1e-8, 0.01, 3), (0.75, 20.5, 3),
         (0.3, 1000, 2000), (0.0001, 1e4, 1e8), (0.5, 1e6, 1e6 + 5000), (0.875, 0.75, 1.5),
         (beta_at(-2, 2e4, 1e13), 2e4, 1e13), (beta_at(1.5, 1e13, 2e4), 1e13, 2e4),
         (beta_at(-7, 4e4, 1e5), 4e4, 1e5), (beta_at(4, 4e4, 4e4), 4e4, 4e4),
         (beta_at(0.001, 1e7, 1e12), 1e7, 1e12), (beta_at(2.5, 1e16, 1e16), 1e16, 1e16),
         (beta_at(-1, 1e9, 1e18), 1e9, 1e18), (beta_at(0.25, 5e15, 7e4), 5e15, 7e4),
         (1e-300, 1e-3, 2e-3), (0.25, 1e-20, 3), (1e-12, 1, 0.5),
         (0.999, 300, 1e-15), (1e-9, 2, 1e8), (0.75, 1, 2)]),
    "GammaDistribution": (
        lambda x, a, r: a * log(r) + (a - 1) * log(x) - r * x - loggamma(a),
        gamma_cdf,
        [(1, 1, 1), (0.001, 0.5, 2), (3, 7.25, 2), (1e-20, 0.1, 1), (100, 120, 1),
         (1000100, 1e6, 1), (2, 0.01, 50), (50, 3, 1), (gamma_at(-7, 4e4), 4e4, 1),
         (1e-30, 1e-20, 1), (300, 1e-3, 1), (1e-5, 30, 2), (2e4, 2e4, 1), (2.25, 2, 1),
         (gamma_at(3, 1e15) / 3, 1e15, 3), (gamma_at(-1, 1e20) * 10, 1e20, 0.1)]),
    "InverseGammaDistribution": (
        lambda x, a, s: a * log(s) - (a + 1) * log(x) - s / x - loggamma(a),
        lambda x, a, s: above(1 / x, a, s),
        [(1, 1, 1), (0.25, 3.5, 2), (1e6, 0.5, 1), (0.01, 100, 1.25), (40, 2, 9),
         (7 / gamma_at(2, 1e17), 1e17, 7)]),
    "BinomialDistribution": (
        lambda k, n, p: binomial_log(k, n, p),
        lambda k, n, p: beta_cdf(1 - p, n - k, k + 1),
        [(0, 10, 0.25), (3, 10, 0.25), (9, 10, 0.25), (500, 1000, 0.5), (30, 10**6, 2.0**-15),
         (5001000, 10**7, 0.5), (999, 1000, 0.875),
         (59600, 2 * 10**12, 2.0**-25), (80 * 10**6, 2 * 10**12, 4e-5),
         (10**7, 1001 * 10**9, 1e-5), (2700000030000000, 9 * 10**15, 0.3)]),
    "PoissonDistribution": (
        lambda k, r: k * log(r) - r - loggamma(k + 1),
        lambda k, r: above(r, k + 1, 1),
        [(0, 3.5), (2, 3.5), (30, 3.5), (1000, 1030.5), (1000000, 999000.25), (7, 1e-5),
         (10**15 - 10**8, 1e15)]),
}


def number(x):
    return mp.nstr(x, 30, strip_zeros=False) + "L"


def argument(x):
    return repr(x) if isinstance(x, int) else float(x).hex()


def main():
    out = "// Written by distributions.py.\n"
    for name, (density, below, cases) in FAMILIES.items():
        out += "const Reference<%s> %s_references[] = {\n" % (name, name[:-12].lower())
        for case in cases:
            exact = [mpf(x) for x in case]
            out += "    {%s, %s(%s),\n" % (
                argument(case[0]), name, ", ".join(argument(x) for x in case[1:]))
            out += "     %s,\n     %s},\n" % (number(density(*exact)), number(below(*exact)))
        out += "};\n\n"
    with open(os.path.join(os.path.dirname(__file__), "distributions.inc"), "w") as file:
        file.write(out)


main()
