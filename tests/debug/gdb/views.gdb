# kernel: views
break shapes.rs:68
run
# expect: views .*shapes\.rs:68
# check: slices and strings
print tail.length
# expect: = 31
print *tail.data_ptr
# expect: = 1\.5
print text.length
# expect: = 5
# check: characters, tuples, generic structures, arrays of arrays, 128 bits
print letter
# expect: 120|'x'
print tuple.1
# expect: = 2\.5
print wrapped.count
# expect: = 3
print wrapped.inner.0
# expect: = 1
print nested.inner.Some.__0
# expect: = 4
print array[1][0]
# expect: = 3
print/x wide
# expect: 0x10000000000000000000000000
# check: nothing is optimised out
info locals
# expect: wide = 
# expect: array = 
next
next
# expect: 70
