/* Hidden Markov models of the letters of PostgreSQL's tutorial by GHMM (Schliep and others), for tests/statistics/hmm_peers_test.cpp.
 *
 *   cc tests/statistics/reference_ghmm.c -lghmm -l:liblapack_atlas.so.3 -lm -o build/reference_ghmm && build/reference_ghmm > tests/statistics/reference/hmm_ghmm.csv
 *
 * in the top directory; needs libghmm-dev and libatlas3-base. A sequence is a page's body in lower case, everything but letters made one space. Three states begin where the formulas below say; log-likelihood
 * there, the probability of each page's most probable path, and log-likelihood and parameters after 50 iterations of Baum and Welch, on all pages. GHMM stops early where nothing moves; it does not here.
 */
#include <ctype.h>
#include <ghmm/foba.h>
#include <ghmm/ghmm.h>
#include <ghmm/model.h>
#include <ghmm/reestimate.h>
#include <ghmm/viterbi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { states = 3, symbols = 27, most_pages = 100 };

static char line[1 << 20];

int main(void) {
  FILE *file = fopen("tests/data/tutorial.tsv", "r");
  int i, j, v, n = 0, in[states], out[states];
  ghmm_dseq *all = ghmm_dseq_calloc(most_pages);
  double total = 0;
  if (!file || !fgets(line, sizeof line, file)) return 1;
  while (fgets(line, sizeof line, file)) {
    char *body = strrchr(line, '\t') + 1;
    int *x = malloc(sizeof(int) * strlen(body)), length = 0;
    for (; *body && *body != '\n'; ++body) {
      const int c = tolower((unsigned char)*body), symbol = c >= 'a' && c <= 'z' ? c - 'a' : 26;
      if (symbol == 26 && length > 0 && x[length - 1] == 26) continue;
      x[length++] = symbol;
    }
    all->seq[n] = x;
    all->seq_len[n] = length;
    all->seq_w[n] = 1;
    all->seq_id[n] = n;
    ++n;
  }
  all->seq_number = n;
  all->total_w = n;

  for (i = 0; i < states; ++i) in[i] = out[i] = states;
  ghmm_dmodel *model = ghmm_dmodel_calloc(symbols, states, GHMM_kDiscreteHMM, in, out);
  for (i = 0; i < states; ++i) {
    double sum = 0, moves = 0;
    ghmm_dstate *s = &model->s[i];
    s->in_states = s->out_states = states;
    s->pi = (i + 1) / 6.0;
    s->b = malloc(sizeof(double) * symbols);
    for (v = 0; v < symbols; ++v) sum += s->b[v] = 1 + (v * (i + 2) + i) % 7;
    for (v = 0; v < symbols; ++v) s->b[v] /= sum;
    for (j = 0; j < states; ++j) moves += 1 + (2 * i + j) % 3;
    for (j = 0; j < states; ++j) {
      s->out_id[j] = s->in_id[j] = j;
      s->out_a[j] = (1 + (2 * i + j) % 3) / moves;
    }
  }
  for (i = 0; i < states; ++i)
    for (j = 0; j < states; ++j) model->s[j].in_a[i] = model->s[i].out_a[j];

  printf("what,index,value\n");
  for (i = 0; i < n; ++i) {
    double log_p, log_path;
    int length;
    if (ghmm_dmodel_logp(model, all->seq[i], all->seq_len[i], &log_p)) return 2;
    free(ghmm_dmodel_viterbi(model, all->seq[i], all->seq_len[i], &length, &log_path));
    total += log_p;
    printf("path,%d,%.15g\n", i, log_path);
  }
  printf("start,0,%.15g\n", total);
  ghmm_dmodel_baum_welch_nstep(model, all, 50, 1e-300);
  total = 0;
  for (i = 0; i < n; ++i) {
    double log_p;
    if (ghmm_dmodel_logp(model, all->seq[i], all->seq_len[i], &log_p)) return 3;
    total += log_p;
  }
  printf("fit,0,%.15g\n", total);
  for (i = 0; i < states; ++i) {
    printf("initial,%d,%.15g\n", i, model->s[i].pi);
    for (j = 0; j < states; ++j) printf("transition,%d,%.15g\n", i * states + j, model->s[i].out_a[j]);
    for (v = 0; v < symbols; ++v) printf("emission,%d,%.15g\n", i * symbols + v, model->s[i].b[v]);
  }
  return 0;
}
