// Runs a libFuzzer target without libFuzzer: deterministic mutations of the target's own valid
// inputs.
//
//   <target> N [first]          run inputs number first .. first+N-1 (first = 0); the same number
//   is the same input everywhere <target> --seeds DIRECTORY  write the valid inputs as files, as a
//   corpus for libFuzzer
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);

namespace {

// Values at which lengths, counts and floating point numbers change their nature.
constexpr std::uint64_t edges[] = {0,
                                   1,
                                   2,
                                   7,
                                   8,
                                   31,
                                   32,
                                   33,
                                   127,
                                   128,
                                   255,
                                   256,
                                   0x7fff,
                                   0x8000,
                                   0xffff,
                                   0x10000,
                                   0x7fffffff,
                                   0x80000000,
                                   0xffffffff,
                                   0x100000000,
                                   0x7fffffffffffffff,
                                   0x8000000000000000,
                                   0xffffffffffffffff,
                                   0x7ff0000000000000,
                                   0xfff0000000000000,
                                   0x7ff8000000000000};

void mutate(std::string &bytes, const std::vector<std::string> &seeds, Dice &dice) {
  const std::size_t at = dice.below(bytes.size() + 1), rest = bytes.size() - at;
  switch (dice.below(8)) {
    case 0:  // a bit
      if (rest) bytes[at] = char(bytes[at] ^ (1 << dice.below(8)));
      break;
    case 1:  // a byte
      if (rest) bytes[at] = char(dice.next());
      break;
    case 2: {  // an edge value of 1, 2, 4 or 8 bytes
      const std::size_t width = std::size_t(1) << dice.below(4);
      const std::uint64_t value = edges[dice.below(std::size(edges))];
      if (rest >= width) std::memcpy(bytes.data() + at, &value, width);
      break;
    }
    case 3:  // cut the end off
      bytes.resize(at);
      break;
    case 4:  // cut a piece out
      bytes.erase(at, dice.below(rest + 1));
      break;
    case 5:  // repeat a piece
      bytes.insert(dice.below(bytes.size() + 1),
                   bytes.substr(at, dice.below(std::min<std::size_t>(rest, 64) + 1)));
      break;
    case 6: {  // a piece of another seed
      const std::string &other = seeds[dice.below(seeds.size())];
      const std::size_t from = dice.below(other.size() + 1);
      bytes.insert(at, other.substr(from, dice.below(64)));
      break;
    }
    default:  // random bytes
      for (std::size_t n = dice.below(16); n > 0; --n)
        bytes.insert(bytes.begin() + std::ptrdiff_t(at), char(dice.next()));
  }
}

std::uint64_t number;  // of the input being run

void report(int signal) {
  std::fprintf(stderr, "input number %llu\n", static_cast<unsigned long long>(number));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

int main(int argc, char **argv) {
  std::vector<std::string> seeds = fuzz_seeds();
  if (argc == 3 && std::strcmp(argv[1], "--seeds") == 0) {
    for (std::size_t i = 0; i < seeds.size(); ++i)
      std::ofstream(std::string(argv[2]) + "/seed" + std::to_string(i), std::ios::binary)
          << seeds[i];
    return 0;
  }
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: %s N [first] | --seeds DIRECTORY\n", argv[0]);
    return 2;
  }
  const std::uint64_t count = std::strtoull(argv[1], nullptr, 10),
                      first = argc == 3 ? std::strtoull(argv[2], nullptr, 10) : 0;
  seeds.emplace_back();
  for (const int signal : {SIGABRT, SIGILL, SIGFPE, SIGSEGV}) std::signal(signal, report);
  for (number = first; number < first + count; ++number) {
    Dice dice{number * 0x2545f4914f6cdd1du};
    std::string input = seeds[dice.below(seeds.size())];
    for (std::size_t n = 1 + dice.below(6); n > 0; --n) mutate(input, seeds, dice);
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t *>(input.data()), input.size());
  }
  std::printf("%llu inputs\n", static_cast<unsigned long long>(count));
  return 0;
}
