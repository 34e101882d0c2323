#include "pg/server/file_owner.hpp"

namespace bayes::pg {
namespace {

FileOwner *all_owners = nullptr;
bool registered = false;

}  // namespace

FileOwner::FileOwner()
    : owner_(guarded([] {
        if (!registered) RegisterResourceReleaseCallback(released, nullptr);
        registered = true;
        return ResourceOwnerCreate(TopTransactionResourceOwner, "pg_bayes files");
      })) {
  next_ = all_owners;
  link_ = &all_owners;
  if (next_) next_->link_ = &next_;
  all_owners = this;
}

FileOwner::~FileOwner() {
  *link_ = next_;
  if (next_) next_->link_ = link_;
  if (!owner_) return;
  // as after an error: files are closed without a word
  for (const ResourceReleasePhase phase :
       {RESOURCE_RELEASE_BEFORE_LOCKS, RESOURCE_RELEASE_LOCKS, RESOURCE_RELEASE_AFTER_LOCKS})
    ResourceOwnerRelease(owner_, phase, false, false);
  ResourceOwnerDelete(owner_);
}

/// The owner of the transaction releases those below it first, and takes them with it.
void FileOwner::released(ResourceReleasePhase phase, bool, bool, void *) {
  if (phase != RESOURCE_RELEASE_AFTER_LOCKS || CurrentResourceOwner != TopTransactionResourceOwner)
    return;
  for (FileOwner *each = all_owners; each; each = each->next_) each->owner_ = nullptr;
}

}  // namespace bayes::pg
