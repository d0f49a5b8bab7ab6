// What only the whole configuration can tell: references from one part to another (errors), and
// settings that are legal and seldom meant (warnings).
#pragma once
#include "config/model/bootstrap.h"
#include "config/session.h"

namespace damper::config {

void check(const Bootstrap& bootstrap, Session& session);

}  // namespace damper::config
