// What is to be said about a configuration: everything at once, each with its place.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/tree.h"

namespace damper::config {

struct Diagnostic {
  Place place;
  std::string path;  // "clusters[1].retry_budget"; empty: the file
  std::string message;
  std::string hint;  // what to write instead; may be empty
  bool operator==(const Diagnostic&) const = default;
};

class Diagnostics {
 public:
  // Keeps the text, to show its lines. The result is Place::source.
  int add_source(std::string name, std::string text);
  const std::string& text(int source) const;

  void error(Diagnostic d);           // the configuration must not be used
  void warning(Diagnostic d);         // it may, and does something that is seldom meant
  void without_effect(Diagnostic d);  // read, understood, and of no consequence here

  const std::vector<Diagnostic>& errors() const { return errors_; }
  const std::vector<Diagnostic>& warnings() const { return warnings_; }
  const std::vector<Diagnostic>& fields_without_effect() const { return without_effect_; }
  bool ok() const { return errors_.empty(); }
  void sort();  // each list in the order of the texts

  // "file:line:col: path: message", the line of the file, a caret with the hint. One or more lines,
  // each ended.
  std::string render(const Diagnostic& d) const;
  std::string render_all() const;  // errors, then warnings, then fields without effect

 private:
  struct Source {
    std::string name;
    std::string text;
    std::vector<std::size_t> line_starts;
    std::string_view line(int number) const;
  };
  void add(std::vector<Diagnostic>& list, Diagnostic d);
  std::string render(const Diagnostic& d, std::string_view label) const;

  std::vector<Source> sources_;
  std::vector<Diagnostic> errors_;
  std::vector<Diagnostic> warnings_;
  std::vector<Diagnostic> without_effect_;
};

}  // namespace damper::config
