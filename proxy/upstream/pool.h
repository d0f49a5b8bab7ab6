// The backend seam: connections to one host, as an attempt sees them.
#pragma once
#include <string_view>

#include "http/client_connection.h"

namespace damper::upstream {

enum class PoolFailure { kConnectFailure, kConnectTimeout, kOverflow };

// Somebody who wants to send one request. Called back once, at once or later, unless it cancels.
class PoolUser {
 public:
  virtual ~PoolUser() = default;
  virtual void on_connection(http::ClientConnection& connection) = 0;  // open() a stream on it now
  virtual void on_no_connection(PoolFailure failure, std::string_view detail) = 0;
};

class Pool {
 public:
  virtual ~Pool() = default;
  virtual void acquire(PoolUser& user) = 0;
  virtual void cancel(PoolUser& user) = 0;
};

}  // namespace damper::upstream
