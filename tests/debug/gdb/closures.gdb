# kernel: closures
# check: a closure, its argument and what it captured by reference and by value
break shapes.rs:78
run
# expect: closures .*shapes\.rs:78
next
# expect: 79
continue
# expect: closure.*shapes\.rs:78
print x
# expect: = 2
print base
# expect: 11
backtrace
# expect: closure
# expect: apply
# expect: closures
delete
# check: recursion has a frame for each call
break shapes.rs:35 if n == 1
continue
# expect: factorial .*n=1
backtrace
# expect: factorial .*n=1
# expect: factorial .*n=2
# expect: factorial .*n=3
# expect: factorial .*n=4
# expect: closures
up
print n
# expect: = 2
