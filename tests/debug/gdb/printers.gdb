# kernel: printed
# printers
break printed.rs:223
run
# expect: printed .*printed\.rs:223
# check: variables of the kernel, in its threads' memory and on the heap
print message
# expect: = Move \{x: 3, y: 0\}
print nested
# expect: = Nested\(Some\(Pair\(9, 0\.5\)\)\)
print some
# expect: = Some\(0x
print none
# expect: = None
print vec
# expect: = Vec\(len=3, cap=3\) = \{0, 1, 4\}
print string
# expect: = "héllo"
print boxed
# expect: = Box<\[u8\]>\(len=2\) = \{4, 5\}
print rc
# expect: = Rc \{value: 1\.5, strong: 2, weak: 0\}
print deque
# expect: = VecDeque\(len=4, cap=[0-9]+\) = \{2, 3, 4, 5\}
print cell
# expect: = RefCell \{value: 3, borrowed: mutable\}
print borrowed
# expect: = 3
print range
# expect: = 1\.\.3
print rest
# expect: = Iter\(len=3\) = \{1\.5, 2\.5, 3\.5\}
print vector
# expect: = Float4\(0\.5, 0\.5, 0\.5, 0\.5\)
print half
# expect: = -1\.5
print text
# expect: = "a text"
print i
# expect: = 0
print input
# expect: = &\[f32\]\(len=32\) = \{0\.5, 1\.5, 
print out
# expect: = DisjointSlice\(len=32\) = \{0, 0, 
# check: shared memory
print ptx_debug_kernels::printed::TILE
# expect: Float4\(0\.5, 0\.5, 0\.5, 0\.5\)
print ptx_debug_kernels::printed::COUNT
# expect: = 5
# check: statics that point to others
print ptx_debug_kernels::printed::SLICE
# expect: = &\[u32\]\(len=4\) = \{3, 1, 4, 1\}
print ptx_debug_kernels::printed::STR
# expect: = "grüße
print ptx_debug_kernels::printed::VEC
# expect: = Vec\(len=3, cap=10\) = \{3, 1, 4\}
print ptx_debug_kernels::printed::RC_SLICE
# expect: len=3\) = \{7, 8, 9\}
print ptx_debug_kernels::printed::MESSAGES
# expect: = \[Quit, Move \{x: 1, y: 2\}\]
# check: memory that cannot be read
print ptx_debug_kernels::printed::VEC_BROKEN
# expect: = Vec\(len=3, cap=10\) <
# check: another thread has another value
cuda thread 5
print message
# expect: = Move \{x: 3, y: 5\}
# check: the frame below, where the launch put the parameters
up
info args
# expect: input = &\[f32\]\(len=32\) = \{0\.5
