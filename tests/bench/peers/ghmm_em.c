/* GHMM on what tests/bench/hmm.cpp measures: 1000 sequences of 1000 steps, 10 states, 50 symbols; million steps a second of an iteration of Baum and Welch, and of the most probable path.
 *
 *   cc -O2 tests/bench/peers/ghmm_em.c -lghmm -l:liblapack_atlas.so.3 -lm -o build/ghmm_em && build/ghmm_em
 *
 * in the top directory; needs libghmm-dev and libatlas3-base.
 */
#include <ghmm/ghmm.h>
#include <ghmm/model.h>
#include <ghmm/reestimate.h>
#include <ghmm/viterbi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { states = 10, symbols = 50, sequences = 1000, steps = 1000 };

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}

int main(void) {
  ghmm_dseq *all = ghmm_dseq_calloc(sequences);
  int i, j, v, t, in[states], out[states];
  double begin, once, more;
  srand(1);
  for (i = 0; i < sequences; ++i) {
    all->seq[i] = malloc(sizeof(int) * steps);
    all->seq_len[i] = steps;
    all->seq_w[i] = 1;
    for (t = 0; t < steps; ++t) all->seq[i][t] = rand() % symbols;
  }
  all->seq_number = all->total_w = sequences;
  for (i = 0; i < states; ++i) in[i] = out[i] = states;
  ghmm_dmodel *model = ghmm_dmodel_calloc(symbols, states, GHMM_kDiscreteHMM, in, out);
  for (i = 0; i < states; ++i) {
    ghmm_dstate *s = &model->s[i];
    double sum = 0, moves = 0;
    s->in_states = s->out_states = states;
    s->pi = 1.0 / states;
    s->b = malloc(sizeof(double) * symbols);
    for (v = 0; v < symbols; ++v) sum += s->b[v] = 1 + rand() % 100;
    for (v = 0; v < symbols; ++v) s->b[v] /= sum;
    for (j = 0; j < states; ++j) moves += s->out_a[j] = 1 + rand() % 10;
    for (j = 0; j < states; ++j) s->out_id[j] = s->in_id[j] = j, s->out_a[j] /= moves;
  }
  for (i = 0; i < states; ++i)
    for (j = 0; j < states; ++j) model->s[j].in_a[i] = model->s[i].out_a[j];
  begin = seconds();
  for (i = 0; i < sequences; ++i) {
    int length;
    double log_p;
    free(ghmm_dmodel_viterbi(model, all->seq[i], steps, &length, &log_p));
  }
  printf("most probable path: %.2f M steps/s\n", 1e-6 * sequences * steps / (seconds() - begin));
  begin = seconds();
  ghmm_dmodel_baum_welch_nstep(model, all, 1, 1e-300);
  once = seconds() - begin;
  begin = seconds();
  ghmm_dmodel_baum_welch_nstep(model, all, 6, 1e-300);
  more = seconds() - begin;
  printf("EM: %.2f M steps/s an iteration\n", 1e-6 * sequences * steps * 5 / (more - once));
  return 0;
}
