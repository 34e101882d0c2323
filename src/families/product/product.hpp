// Everything about products of columns: components, their scorer in the local step, and their
// collapsed form.
#pragma once

#include "families/product/product_clusters.hpp"
#include "families/product/product_components.hpp"
#include "families/product/product_scorer.hpp"
