// Which virtual host an authority belongs to: exact name, then the longest "*.suffix", then the
// longest "prefix.*", then "*". Case does not matter.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace damper::route {

class Domains {
 public:
  // An Error if the domain is there already.
  Status add(std::string_view domain, std::size_t virtual_host);
  std::optional<std::size_t> find(std::string_view authority) const;

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  using ByText = std::unordered_map<std::string, std::size_t, TextHash, std::equal_to<>>;
  struct Wildcards {  // those of one length
    std::size_t length;
    ByText hosts;
  };

  static ByText& of_length(std::vector<Wildcards>& wildcards, std::size_t length);
  std::optional<std::size_t> find_lower_case(std::string_view authority) const;

  ByText exact_;
  std::vector<Wildcards> suffixes_;  // longest first, without their '*'
  std::vector<Wildcards> prefixes_;
  std::optional<std::size_t> any_;
};

}  // namespace damper::route
