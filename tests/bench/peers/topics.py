"""What the measurements of topic models share: corpora, perplexity, tables of documents."""
import csv

import numpy as np
import scipy.sparse
from scipy.special import digamma

from session import Session


class Corpus:
    """Documents as arrays of the numbers of their tokens' terms, in the order of the text."""

    def __init__(self, name, terms, train, test, topics, phi=None, alpha=None):
        self.name, self.terms, self.train, self.test = name, terms, train, test
        self.topics, self.phi, self.alpha = topics, phi, alpha
        self.tokens = sum(map(len, train))

    def matrix(self, documents):
        sizes = [len(d) for d in documents]
        rows = np.repeat(np.arange(len(documents)), sizes)
        columns = np.concatenate(documents)
        # duplicates are added up
        return scipy.sparse.csr_matrix((np.ones(len(rows)), (rows, columns)),
                                       shape=(len(documents), len(self.terms)))


def restricted(documents, known):
    """Without tokens of unknown terms, and documents that had no others."""
    number = np.full(len(known), -1)
    number[known] = np.arange(known.sum())
    out = [number[d[known[d]]] for d in documents]
    return [d for d in out if len(d) > 0]


def synthetic():
    """10,000 documents of about 100 tokens of 5,000 terms, drawn from 50 topics, and 1,000 to test."""
    rng = np.random.default_rng(104)
    v, k = 5_000, 50
    phi = rng.dirichlet(np.full(v, 0.02), k) + 1e-12
    phi /= phi.sum(1, keepdims=True)
    line = np.cumsum(phi, 1)
    line[:, -1] = 1.0

    def draw(count):
        out = []
        for theta in rng.dirichlet(np.full(k, 0.1), count):
            n = max(20, rng.poisson(100))
            z, u = rng.choice(k, n, p=theta), rng.random(n)
            out.append(np.array([np.searchsorted(line[a], b) for a, b in zip(z, u)]))
        return out

    train, test = draw(10_000), draw(1_000)
    known = np.zeros(v, bool)
    known[np.concatenate(train)] = True
    terms = [f"w{w:04d}" for w in np.flatnonzero(known)]
    return Corpus("synthetic", terms, restricted(train, known), restricted(test, known), k,
                  phi[:, known] / phi[:, known].sum(1, keepdims=True), np.full(k, 0.1))


def manual(session):
    """The pages of PostgreSQL's manual; every fifth is for the test. Terms as the text search sees
    them, those in at least five pages and at most 30 % of the pages that are not for the test."""
    session.run("""CREATE TEMP TABLE places AS
      SELECT page, lexeme, place FROM manual, unnest(words) AS w, unnest(positions) AS place""")
    lines = session.run("""SELECT page || E'\\t' || string_agg(lexeme, ' ' ORDER BY place, lexeme)
      FROM places GROUP BY page ORDER BY page COLLATE "C";""")
    pages = [line.split("\t")[1].split(" ") for line in lines]
    names = sorted({w for page in pages for w in page})
    number = {w: i for i, w in enumerate(names)}
    documents = [np.array([number[w] for w in page]) for page in pages]
    train = [d for i, d in enumerate(documents) if i % 5 != 4]
    test = [d for i, d in enumerate(documents) if i % 5 == 4]
    found = np.bincount(np.concatenate([np.unique(d) for d in train]), minlength=len(names))
    known = (found >= 5) & (found <= 0.3 * len(train))
    return Corpus("manual", [w for w, here in zip(names, known) if here],
                  restricted(train, known), restricted(test, known), 20)


class Completion:
    """Perplexity of the odd tokens (from 0) of test documents, given proportions inferred of the
    even ones: by variational inference with fixed topics, for the topics of all programs alike."""

    def __init__(self, corpus):
        self.observed = corpus.matrix([d[0::2] for d in corpus.test]).tocoo()
        self.scored = corpus.matrix([d[1::2] for d in corpus.test]).tocoo()

    def proportions(self, phi, alpha):
        """phi: K x V probabilities; alpha: K parameters of the proportions' prior."""
        o = self.observed
        beta = phi.T[o.col]
        gamma = np.tile(alpha + 1.0, (o.shape[0], 1))
        for _ in range(200):
            weight = np.exp(digamma(gamma))
            norm = np.einsum("ik,ik->i", weight[o.row], beta) + 1e-300
            ratio = scipy.sparse.csr_matrix((o.data / norm, (o.row, o.col)), shape=o.shape)
            after = alpha + weight * (ratio @ phi.T)
            moved = np.abs(after - gamma).sum(1).max()
            gamma = after
            if moved < 1e-3:
                break
        return gamma / gamma.sum(1, keepdims=True)

    def __call__(self, phi, alpha):
        h, theta = self.scored, self.proportions(phi, alpha)
        p = np.einsum("ik,ik->i", theta[h.row], phi.T[h.col])
        return float(np.exp(-(h.data * np.log(p)).sum() / h.data.sum()))


class TopicSession(Session):
    """With tables of documents."""

    def load(self, table, documents, terms):
        """A table (id int, words text[])."""
        self.run(f"DROP TABLE IF EXISTS {table}; CREATE TABLE {table} (id int, words text[]);")
        words = (",".join(f'"{terms[w]}"' for w in d).replace("\\", "\\\\") for d in documents)
        self.copy(table, (f"{i}\t{{{list}}}" for i, list in enumerate(words)))

    def topics(self, model, terms):
        """(K x V probabilities, alpha) of a model, an expression."""
        number = {w: i for i, w in enumerate(terms)}
        alpha = self.run(f"SELECT alpha FROM lda_topic_weights({model}) ORDER BY topic;")
        phi = np.zeros((len(alpha), len(terms)))
        lines = self.run(f"""COPY (SELECT topic, term, probability
          FROM lda_topics({model}, {len(terms)})) TO STDOUT (FORMAT csv);""")
        for topic, term, probability in csv.reader(lines):
            phi[int(topic) - 1, number[term]] = float(probability)
        return phi, np.array([float(a) for a in alpha])
