#include "filters/deadline/forms.h"

#include <gtest/gtest.h>

namespace damper::deadline {
namespace {

using namespace std::chrono_literals;

// 2026-11-30T12:00:00Z
constexpr WallTime kNoon{std::chrono::sys_days(std::chrono::year(2026) / 11 / 30) + 12h};
constexpr std::int64_t kNoonMs = 1'796'040'000'000;

TEST(DeadlineForms, AreRead) {
  struct Case {
    Form form;
    std::string text;
    std::optional<Duration> left;
  };
  const Case cases[] = {
      {Form::kRelative, "250", 250ms},
      {Form::kRelative, "0", 0ms},
      {Form::kRelative, "99999999999999", 24h},
      {Form::kRelative, "-1", std::nullopt},
      {Form::kRelative, "1.5", std::nullopt},
      {Form::kRelative, "", std::nullopt},
      {Form::kGrpc, "250m", 250ms},
      {Form::kGrpc, "1S", 1s},
      {Form::kGrpc, "1", std::nullopt},
      {Form::kAbsolute, std::to_string(kNoonMs + 1500), 1500ms},
      {Form::kAbsolute, std::to_string(kNoonMs - 1500), -1500ms},
      {Form::kAbsolute, "0", -kNoonMs * 1ms},
      {Form::kAbsolute, "253402300799000", 24h},
      {Form::kAbsolute, "253402300799001", std::nullopt},
      {Form::kAbsolute, "18446744073709551616", std::nullopt},
      {Form::kAbsolute, "2026-11-30T12:00:01Z", 1s},
      {Form::kAbsolute, "2026-11-30t12:00:01.250z", 1250ms},
      {Form::kAbsolute, "2026-11-30T13:00:01+01:00", 1s},
      {Form::kAbsolute, "2026-11-30T06:30:01-05:30", 1s},
      {Form::kAbsolute, "9999-12-31T23:59:59Z", 24h},
      {Form::kAbsolute, "0001-01-01T00:00:00Z", -kNoonMs * 1ms},  // Go's zero time
      {Form::kAbsolute, "soon", std::nullopt},
  };
  for (const Case& c : cases) EXPECT_EQ(read(c.form, c.text, kNoon), c.left) << c.text;
}

TEST(DeadlineForms, ATimeOfDayThatIsNoneIsUnreadable) {
  for (const char* text :
       {"2026-11-30", "2026-11-30T12:00Z", "2026-11-31T12:00:00Z", "2026-13-01T12:00:00Z",
        "2026-11-30T24:00:00Z", "2026-11-30T12:60:00Z", "2026-11-30T12:00:61Z",
        "2026-11-30T12:00:00", "2026-11-30T12:00:00.Z", "2026-11-30T12:00:00+1:00",
        "2026-11-30T12:00:00+24:00", "2026-11-30T12:00:00Zx", "26-11-30T12:00:00Z", "T", "2026-"}) {
    EXPECT_FALSE(parse_rfc3339(text)) << text;
  }
}

TEST(DeadlineForms, AreWritten) {
  EXPECT_EQ(write(Form::kAbsolute, 1500ms, kNoon), std::to_string(kNoonMs + 1500));
  EXPECT_EQ(write(Form::kRelative, 1500ms + 999us, kNoon), "1500");
  EXPECT_EQ(write(Form::kRelative, 10us, kNoon), "1");
  EXPECT_EQ(write(Form::kGrpc, 1500ms, kNoon), "1500m");
}

TEST(DeadlineForms, WhatIsWrittenIsReadAsTheSame) {
  for (const Form form : {Form::kAbsolute, Form::kRelative, Form::kGrpc}) {
    EXPECT_EQ(read(form, write(form, 1234ms, kNoon), kNoon), 1234ms);
  }
}

}  // namespace
}  // namespace damper::deadline
