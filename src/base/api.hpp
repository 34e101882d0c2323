// The exports of the kernel library. Everything else in it is hidden, so that nothing of ours can
// collide with another module loaded into the same server process.
#pragma once

#define BAYES_API __attribute__((visibility("default")))
