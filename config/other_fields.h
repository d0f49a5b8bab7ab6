// Fields that are known by name and not read: of Envoy, of its older versions, and of versions of
// Damper to come. A field that is neither read nor listed is a spelling mistake. Whoever implements
// a field deletes its row.
#pragma once
#include <string_view>
#include <vector>

namespace damper::config {

struct OtherFields {
  enum class Fate {
    kUnsupported,    // an error: it would change what happens to requests
    kWithoutEffect,  // nothing here depends on it
    kMisplaced,      // an error: it belongs elsewhere
  };
  std::string_view message;  // whose fields; for values of a field: the field's name
  Fate fate;
  std::string_view what;  // what is not supported; where it belongs
  std::string_view
      harmless;  // a value that asks for nothing: then the field is without effect. "{}": empty
  std::vector<std::string_view> keys;
};

// In the tables' spelling; null if there is none.
const OtherFields* find_other_field(std::string_view message, std::string_view key);
void append_other_fields(std::string_view message, std::vector<std::string_view>& keys);

}  // namespace damper::config
