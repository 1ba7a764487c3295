# kernel: enums
# check: stops in the kernel's own function, at the line asked for
break shapes.rs:51
run
# expect: enums .*shapes\.rs:51
# check: arguments, the slice's length too
info args
# expect: scale = 2
# expect: length: 32
# check: enums with data: the discriminant names the variant, whose members are right
print circle
# expect: variant.*Circle.*Circle \{__0: 2\}|variant.*Circle.*Circle\(2\)
print rect
# expect: variant.*Rect.*Rect \{w: 2, h: 3\}
print empty
# expect: variant.*Empty
# check: niches: whatever is not listed is the variant with data
print none
# expect: variant.*None
print *some.Some.__0
# expect: = 0\.5
print byte.Some.__0
# expect: = 7
print result.Err.__0
# expect: = -3
# check: the caller's frame holds the kernel's parameters
backtrace
# expect: #0 .*enums
# expect: #1 
# check: the function that reads the enums through a reference
delete
break ptx_debug_kernels::shapes::area
continue
# expect: area .*shapes\.rs:21
finish
