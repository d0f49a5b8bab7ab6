#!/bin/sh
# Runs every fuzz target of a build folder for a while, from its checked-in corpus tests/fuzz/corpus/<target>.
#   tests/fuzz/run.sh build/fuzz SECONDS
# What it finds new stays in <build folder>/corpus; an input that breaks a target is written to <build folder>.
set -eu
build=$1
seconds=$2
status=0
for source in tests/fuzz/*_fuzz.cc; do
  target=$(basename "$source" .cc)
  found="$build/corpus/$target"
  mkdir -p "$found"
  echo "$target: $seconds s"
  "$build/$target" -max_total_time="$seconds" -timeout=10 -print_final_stats=0 -verbosity=0 \
    -artifact_prefix="$build/$target-" "$found" $(ls -d "tests/fuzz/corpus/$target" 2>/dev/null) || status=1
done
exit $status
