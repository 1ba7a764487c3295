# kernel: aggregates
break twin.rs:59
run
# expect: aggregates .*twin\.rs:59
info locals
# expect: pairs = 
print local
# expect: a: 7, b: 1\.5
print local.a
# expect: = 7
print array
# expect: \[1, 2, 3, 4\]
print colour
# expect: Blue
print *pointer
# expect: = 2
print bits.f
# expect: = 1\.5
print pairs[1].b
# expect: = 1\.5
print ptx_debug_kernels::twin::TABLE[2]
# expect: = 3
# check: the frame below is the entry, with the parameters where the launch put them
up
info args
# expect: p = .*a: 7, b: 1\.5
