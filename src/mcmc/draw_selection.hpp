// Which draws of chains are kept and stored while the chains run (mcmc/run_chains.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "mcmc/stored_draws.hpp"

namespace bayes {

/// Of chains that make equally many draws: kept draws are evenly spaced among all, stored ones
/// among the kept. A draw is given by its chain and its place there, both from 0.
struct DrawSelection {
  /// of each chain
  int draws = 0;
  EvenlySpaced keeps{0, 0}, stores{0, 0};
  /// how many of the stored draws the model has in the end
  std::int64_t remain = 0;

  DrawSelection() = default;
  DrawSelection(int chains, int of_each, std::int64_t kept, std::int64_t stored,
                std::int64_t remaining)
      : draws(of_each),
        keeps(std::int64_t(chains) * of_each, kept),
        stores(kept, stored),
        remain(remaining) {}

  bool keeps_draw(int chain, int draw) const { return keeps.takes(index(chain, draw)); }
  bool stores_draw(int chain, int draw) const {
    return keeps_draw(chain, draw) && stores.takes(keeps.before(index(chain, draw)));
  }
  /// Of the first draws of a chain that are kept: is each stored?
  std::vector<bool> of_chain(int chain, int made) const {
    std::vector<bool> out;
    for (int draw = 0; draw < made; ++draw)
      if (keeps_draw(chain, draw)) out.push_back(stores_draw(chain, draw));
    return out;
  }
  /// Can a chain that made its draws under the selection of a shorter fit go on under this one: has
  /// it kept the same draws, and stored those that this one stores?
  bool extends(const DrawSelection &shorter, int chain) const {
    for (int draw = 0; draw < shorter.draws; ++draw)
      if (keeps_draw(chain, draw) != shorter.keeps_draw(chain, draw) ||
          (stores_draw(chain, draw) && !shorter.stores_draw(chain, draw)))
        return false;
    return true;
  }
  bool operator==(const DrawSelection &other) const {
    return draws == other.draws && keeps.count() == other.keeps.count() &&
           stores.count() == other.stores.count() && remain == other.remain;
  }

  /// among the draws of all chains
  std::int64_t index(int chain, int draw) const { return std::int64_t(chain) * draws + draw; }
};

}  // namespace bayes
