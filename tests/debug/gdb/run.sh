#!/bin/sh
# Runs the scripts of this folder in cuda-gdb on a machine with a GPU, and looks for the lines after `# expect:`
# (extended regular expressions, in this order) in what it says. `# printers` loads the pretty printers first.
#
#   run.sh PROGRAM [CUDA_GDB]     PROGRAM: what `cargo build -p ptx-debug-kernels` made
set -u
program=${1:?usage: run.sh PROGRAM [CUDA_GDB]}
debugger=${2:-cuda-gdb}
here=$(cd "$(dirname "$0")" && pwd)
passed=0
failed=0
for script in "$here"/*.gdb; do
    kernel=$(sed -n 's/^# kernel: //p' "$script")
    printers=
    if grep -q '^# printers$' "$script"; then
        printers=$here/../../../codegen/src/debugger/ptx.py
    fi
    said=$(mktemp)
    "$debugger" -batch -nx -ex 'set pagination off' -ex 'set confirm off' -ex 'set breakpoint pending on' \
        ${printers:+-x "$printers"} -x "$script" --args "$program" "$kernel" >"$said" 2>&1 </dev/null
    from=1
    expected=$(mktemp)
    sed -n 's/^# expect: //p' "$script" >"$expected"
    while IFS= read -r pattern; do
        line=$(tail -n +"$from" "$said" | grep -nE -m1 -- "$pattern" | cut -d: -f1)
        if [ -n "$line" ]; then
            passed=$((passed + 1))
            # The next pattern may be on the same line.
            from=$((from + line - 1))
        else
            failed=$((failed + 1))
            echo "$(basename "$script"): nothing like \`$pattern\` from line $from on"
        fi
    done <"$expected"
    if [ "$failed" -gt 0 ]; then
        echo "--- $(basename "$script"): what $debugger said"
        cat "$said"
    fi
    rm -f "$said" "$expected"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
