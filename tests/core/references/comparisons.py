#!/usr/bin/env python3
"""Prints P(A > B) and E[max(B - A, 0)] for pairs of posteriors, by mpmath, to 20 digits."""
from mpmath import betainc, exp, inf, log, loggamma, mp, mpf, nstr, pi, quad, sqrt, workdps

mp.dps = 30


def finite_sum(a1, b1, a2, b2):
    """P(A > B) of whole shapes: sum over i < a1 of B(a2 + i, b1 + b2) / ((b1 + i) B(1 + i, b1)
    B(a2, b2)) is P(B < A) read the other way round (Miller 2015)."""
    def log_b(a, b):
        return loggamma(a) + loggamma(b) - loggamma(a + b)
    with workdps(45):
        total = mpf(0)
        for i in range(a1):
            total += exp(log_b(mpf(a2 + i), mpf(b1 + b2)) - log(mpf(b1 + i))
                         - log_b(mpf(1 + i), mpf(b1)) - log_b(mpf(a2), mpf(b2)))
        return total


for a1, b1, a2, b2 in [(3, 5, 4, 4), (1, 1, 2, 1), (121, 881, 141, 861), (20, 3, 900, 150),
                       (1000, 999000, 1100, 999000), (2, 30000, 3, 10),
                       (30, 70, 5 * 10**8, 10**9)]:
    greater = finite_sum(a1, b1, a2, b2)
    # E[max(B - A, 0)] = E[B] P(B' > A) - E[A] P(B > A')
    loss = (mpf(a2) / (a2 + b2) * (1 - finite_sum(a1, b1, a2 + 1, b2))
            - mpf(a1) / (a1 + b1) * (1 - finite_sum(a1 + 1, b1, a2, b2)))
    print("{%d, %d, %d, %d, %s, %s}," % (a1, b1, a2, b2, mp.nstr(greater, 20), mp.nstr(loss, 20)))


def large_shapes(a1, b1, a2, b2):
    """By the trapezoidal rule over A, nearly normal, of integrals over B."""
    def density(a, b):
        with workdps(45):
            constant = loggamma(a + b) - loggamma(a) - loggamma(b)
            return lambda x: exp(constant + (a - 1) * log(x) + (b - 1) * log(1 - x))

    def moments(a, b):
        return a / (a + b), sqrt(a * b / (a + b + 1)) / (a + b)

    a1, b1, a2, b2 = mpf(a1), mpf(b1), mpf(a2), mpf(b2)
    f1, f2 = density(a1, b1), density(a2, b2)
    (m1, s1), (m2, s2) = moments(a1, b1), moments(a2, b2)
    greater = loss = mpf(0)
    for i in range(-56, 57):
        x = m1 + s1 * i / 4
        far = sorted([x] + [m2 + s2 * z for z in (-13, -6, -3, 0, 3, 6, 13)])
        at = far.index(x)
        weight = f1(x) * s1 / 4
        greater += weight * quad(f2, far[:at + 1])
        loss += weight * quad(lambda y: (y - x) * f2(y), far[at:])
    print("{%s, %s, %s, %s, %s, %s}," % (nstr(a1), nstr(b1), nstr(a2), nstr(b2),
                                         nstr(greater, 20), nstr(loss, 20)))


large_shapes(5e8, 5e8, 500020000, 499980000)


def student_density(n, z):
    return exp(loggamma((n + 1) / 2) - loggamma(n / 2) - log(n * pi) / 2
               - (n + 1) / 2 * log(1 + z * z / n))


def student_below(n, z):
    below = (betainc(n / 2, mpf(1) / 2, 0, n / (n + z * z), regularized=True) / 2
             if abs(z) > 1e-10 else mpf(1) / 2 - student_density(n, mpf(0)) * abs(z))
    return below if z < 0 else 1 - below


def students(a, b, apart, scale):
    """A ~ t_a, B ~ apart + scale t_b: in the logarithm of the distance from A's centre."""
    a, b, apart, scale = mpf(a), mpf(b), mpf(apart), mpf(scale)

    def integral(f, rate):
        edges = [-70, -10, -4, -2, 0, 2, 90 / rate]
        edges += [log(apart) + d for d in (-1, mpf(-3) / 10, 0, mpf(3) / 10, 1, 4, 10, 30)]
        return quad(lambda v: (f(exp(v)) + f(-exp(v))) * exp(v), sorted(edges))

    greater = integral(lambda x: student_density(a, x) * student_below(b, (x - apart) / scale), a)
    rate = min(a, b) - 1
    loss = inf if rate <= 0 else integral(
        lambda x: student_below(a, x) * student_below(b, (apart - x) / scale), rate)
    print("{%s, %s, %s, %s, %s, %s}," % (nstr(a), nstr(b), nstr(apart), nstr(scale),
                                         nstr(greater, 20), nstr(loss, 20)))


for case in [(0.125, 0.125, 5, 2), (0.125, 0.375, 4, 2), (1.25, 5, 2, 3), (3, 1.125, 40, 0.25),
             (30, 4, 1, 1), (2000, 12, 0.5, 2)]:
    students(*case)
