// JSON as we write it: the text of a string. Nothing here reads JSON.
#pragma once
#include <string>
#include <string_view>

namespace damper {

// Appends what stands between the quotes. Bytes that are no UTF-8 become the four characters
// "\xNN", so that the output is valid whatever came from the network.
void append_json_escaped(std::string& out, std::string_view text);

// The same with its quotes.
void append_json_string(std::string& out, std::string_view text);

}  // namespace damper
