// The three forms in which statistics are read. They print a copy, so that no worker that names a
// statistic waits for a reader.
#include <algorithm>
#include <map>

#include "base/json.h"
#include "base/text.h"
#include "stats/stats.h"

namespace damper::stats {
namespace {

constexpr int kPercents[] = {50, 90, 99};

double milliseconds_of(std::chrono::microseconds d) {
  return std::chrono::duration<double, std::milli>(d).count();
}

// Never with an exponent: dashboards match le="300000" as text.
void append_decimal(std::string& out, double n) {
  char digits[340];
  const auto end = std::to_chars(digits, digits + sizeof digits, n, std::chars_format::fixed).ptr;
  out.append(digits, end);
}

void append_histogram(std::string& out, const HistogramValue& h) {
  if (h.count() == 0) {
    out.append("No recorded values");
    return;
  }
  for (const int percent : kPercents) {
    out.append("P");
    append_number(out, percent);
    out.append("(");
    append_decimal(out, h.quantile(percent / 100.0));
    out.append(") ");
  }
  out.append("count(");
  append_number(out, h.count());
  out.append(")");
}

void append_quantiles(std::string& out, std::string_view name, const HistogramValue& h) {
  out.append(R"({"name":)");
  append_json_string(out, name);
  out.append(R"(,"values":[)");
  for (const int percent : kPercents) {
    if (percent != kPercents[0]) out.append(",");
    out.append(R"({"interval":null,"cumulative":)");
    if (h.count() == 0) {
      out.append("null");
    } else {
      append_decimal(out, h.quantile(percent / 100.0));
    }
    out.append("}");
  }
  out.append("]}");
}

// Names are [a-zA-Z_:][a-zA-Z0-9_:]*, labels the same without the colon.
std::string prometheus_name(std::string_view family) {
  std::string out = family.starts_with("damper.") ? "" : "envoy_";
  for (const char c : family) {
    const char l = to_lower(c);
    out.push_back((l >= 'a' && l <= 'z') || is_digit(c) ? c : '_');
  }
  return out;
}

void append_label_value(std::string& out, std::string_view value) {
  for (const char c : value) {
    switch (c) {
      case '\\': out.append("\\\\"); break;
      case '"': out.append("\\\""); break;
      case '\n': out.append("\\n"); break;
      default: out.push_back(c);
    }
  }
}

}  // namespace

void Registry::append_scalar(std::string& out, const Sample& s) {
  if (s.entry->kind == Kind::kGauge) {
    append_number(out, static_cast<std::int64_t>(s.value));
  } else {
    append_number(out, s.value);
  }
}

std::string Registry::text(std::string_view filter, bool used_only) const {
  std::string out;
  for (const Sample& s : samples(filter, used_only)) {
    out.append(s.entry->name).append(": ");
    if (s.entry->kind == Kind::kHistogram) {
      append_histogram(out, s.histogram);
    } else {
      append_scalar(out, s);
    }
    out.push_back('\n');
  }
  return out;
}

std::string Registry::json(std::string_view filter, bool used_only) const {
  std::string out = R"({"stats":[)";
  std::string histograms;
  for (const Sample& s : samples(filter, used_only)) {
    if (s.entry->kind == Kind::kHistogram) {
      if (!histograms.empty()) histograms.push_back(',');
      append_quantiles(histograms, s.entry->name, s.histogram);
      continue;
    }
    out.append(R"({"name":)");
    append_json_string(out, s.entry->name);
    out.append(R"(,"value":)");
    append_scalar(out, s);
    out.append("},");
  }
  out.append(R"({"histograms":{"supported_quantiles":[50,90,99],"computed_quantiles":[)");
  return out.append(histograms).append("]}}]}");
}

// Appends the lines of one family.
class Registry::Prometheus {
 public:
  Prometheus(std::string& out, const std::string& family) : out_(out), family_(family) {}

  void type(Kind kind) {
    constexpr const char* kNames[] = {"counter", "gauge", "histogram"};
    out_.append("# TYPE ").append(family_).append(" ");
    out_.append(kNames[static_cast<std::size_t>(kind)]).append("\n");
  }

  void scalar(const Sample& s) {
    head("", s.entry->labels, "");
    append_scalar(out_, s);
    out_.push_back('\n');
  }

  void histogram(const Sample& s) {
    const HistogramValue& h = s.histogram;
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < h.buckets.size(); ++i) {
      below += h.buckets[i];
      head("_bucket", s.entry->labels, bound(i));
      line(below);
    }
    head("_sum", s.entry->labels, "");
    append_decimal(out_, milliseconds_of(h.sum));
    out_.push_back('\n');
    head("_count", s.entry->labels, "");
    line(below);
  }

 private:
  static std::string bound(std::size_t bucket) {
    std::string le;
    if (bucket == kBucketBounds.size()) return "+Inf";
    append_decimal(le, milliseconds_of(kBucketBounds[bucket]));
    return le;
  }

  // "family_suffix{labels,le="bound"} "
  void head(std::string_view suffix, const std::vector<Label>& labels, std::string_view le) {
    out_.append(family_).append(suffix);
    char before = '{';
    for (const Label& l : labels) append_label(before, l.name, l.value);
    if (!le.empty()) append_label(before, "le", le);
    out_.append(before == '{' ? " " : "} ");
  }

  void append_label(char& before, std::string_view name, std::string_view value) {
    out_.push_back(before);
    out_.append(name).append("=\"");
    append_label_value(out_, value);
    out_.push_back('"');
    before = ',';
  }

  void line(std::uint64_t n) {
    append_number(out_, n);
    out_.push_back('\n');
  }

  std::string& out_;
  const std::string& family_;
};

std::string Registry::prometheus(std::string_view filter, bool used_only) const {
  std::map<std::pair<std::string, Kind>, std::vector<Sample>> families;
  for (Sample& s : samples(filter, used_only)) {
    families[{prometheus_name(s.entry->family), s.entry->kind}].push_back(std::move(s));
  }
  std::string out;
  for (const auto& [key, members] : families) {
    Prometheus family(out, key.first);
    family.type(key.second);
    for (const Sample& s : members) {
      if (key.second == Kind::kHistogram) {
        family.histogram(s);
      } else {
        family.scalar(s);
      }
    }
  }
  return out;
}

}  // namespace damper::stats
