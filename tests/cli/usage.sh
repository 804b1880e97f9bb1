#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Bad usage: one line that names what is wrong, exit 2, nothing started and nothing left behind.
. "$(dirname "$0")/common.sh"

expect_usage_error "rooftap help"
expect_usage_error "'frobnicate'" frobnicate
expect_usage_error "--frob" record --frob -- touch started
expect_usage_error "-x" record -x -- touch started
expect_usage_error "needs a value" record -o
expect_usage_error "needs a value" record --simulate
for option in -o --output -s --simulate --sim-option --timing; do
    expect_usage_error "needs a value, found '--'" record "$option" -- touch started
done
expect_usage_error "needs a value, found '--'" record --output=-- touch started
[ ! -e -- ] || fail "a folder called --"
expect_usage_error "'extra'" version extra
expect_usage_error "did you mean h200-sxm or h200-nvl? 'rooftap gpus' lists all" record --simulate H200 -- touch started
expect_usage_error "did you mean rtx4090?" record --simulate "RTX 4090" -- touch started
expect_usage_error "did you mean rtx4090?" record --simulate rtx4090ti -- touch started
expect_usage_error "did you mean rtxa6000?" record --simulate rtxa600 -- touch started
expect_usage_error "called 'a'; 'rooftap gpus' lists all" record --simulate a -- touch started
expect_usage_error "called '+'; 'rooftap gpus' lists all" record --simulate + -- touch started
expect_usage_error "auto|node|graph|sampled|events|off" record --timing maybe -- touch started
expect_usage_error "off|watch|read" record --kv-lengths maybe -- touch started
expect_usage_error "on|off" record --parameters maybe -- touch started
for time in 5x -1s 1.0001s 1e3 " 5" 99999999h .; do
    expect_usage_error "--delay is '$time'; it takes a time" record --delay "$time" -- touch started
    expect_usage_error "--duration is '$time'; it takes a time" record --duration "$time" -- touch started
done
expect_usage_error "more than 0" record --duration 0 -- touch started
for percent in 0 101 -1 0.00001 5%% x; do
    expect_usage_error "--sample-budget is '$percent'; it takes percent" record --sample-budget "$percent" -- touch started
done
expect_usage_error "needs --timing sampled or auto, not node" record --timing node --sample-budget 1 -- touch started
expect_usage_error "--delay needs timing" record --timing off --delay 5 -- touch started
expect_usage_error "nothing to do; rooftap ctl start|stop" ctl
expect_usage_error "'begin' is no action" ctl begin 1
expect_usage_error "expected rooftap ctl start PID|DIR" ctl start
expect_usage_error "expected rooftap ctl mark NAME PID|DIR" ctl mark 1
expect_usage_error "expected rooftap ctl stop PID|DIR" ctl stop 1 2
expect_usage_error "1 to 96 bytes" ctl mark "" 1
expect_usage_error "no process id" ctl stop 99999999999
expect_usage_error "--max-overhead" record --max-overhead 0 -- true
expect_usage_error "--max-overhead" record --max-overhead lots -- true
expect_usage_error "no command" record
expect_usage_error "no command" record -q --
expect_usage_error "rooftap gpus" record --simulate no-such-gpu -- touch started
expect_usage_error "KEY=VALUE" record --simulate unit --sim-option gemm_kernels -- touch started
expect_usage_error "gemm_slowdown" record --simulate unit --sim-option gemm_slow=3 -- touch started
expect_usage_error "at most 1" record --simulate unit --sim-option gemm_efficiency=0 -- touch started
expect_usage_error "--simulate" record --sim-option gemm_kernels=2 -- touch started
expect_usage_error "'extra'" gpus extra
expect_usage_error "'b'" report a b
expect_usage_error "rooftap record" report
expect_usage_error "--top takes a whole number from 1 on, not '0'" report --top 0
expect_usage_error "not '-3'" report --top -3
expect_usage_error "not '3x'" report a --top 3x
expect_usage_error "not '99999999999999999999999'" report --top 99999999999999999999999
expect_usage_error "--by takes shape|weight|kernel, not 'colour'" report --by colour
expect_usage_error "roof, gain, name here, not 'size'" report --sort size
expect_usage_error "not 'roof'" report --by weight --sort roof
expect_usage_error "not 'name'" report --skinny --sort name
expect_usage_error "--top 3" report --all --top 3
expect_usage_error "--skinny" report --skinny --by kernel
for option in --all --skinny "--sort time" "--by kernel"; do
    # shellcheck disable=SC2086
    expect_usage_error "--json holds everything" report --json $option
done
expect_usage_error "no-such-command" help no-such-command
ROOFTAP_TIMING=perhaps expect_usage_error "ROOFTAP_TIMING" record -- touch started
ROOFTAP_JOIN=extern expect_usage_error "ROOFTAP_JOIN is 'extern'; it takes auto|correlation|external" record -- touch started
ROOFTAP_EXIT_WAIT_MS=-1 expect_usage_error "ROOFTAP_EXIT_WAIT_MS" record -- touch started
expect_usage_error "no/such/folder" record -o no/such/folder -- touch started
[ ! -e started ] || fail "a target was started in spite of bad usage"
expect "left behind" "" "$(ls -d rooftap-* 2>/dev/null)"
finish
