"""Pretty printers for cuda-gdb: Rust's types as rust-ptx describes them, and rust-ptx's own.

cuda-gdb loads this file by `-x` or `source`; `disable pretty-printer global rust-ptx` turns it off.

A value whose parts are short is one line of text, as Rust's `{:?}` writes it; longer ones have children, which gdb and
IDEs ask for one at a time. Variables may hold anything before they are initialised: what cannot be read becomes a note
in angle brackets, never an exception.
"""

from __future__ import annotations

import codecs
import re
import struct
from typing import Callable, Dict, Iterator, List, Optional, Tuple, Union

import gdb
import gdb.printing

Child = Tuple[str, Union[gdb.Value, str]]

# The member that says which variant an enum has; the others are the variants (codegen/compiler/src/debuginfo/enums.rs).
DISCRIMINANT = "{variant}"

# Longer text gets children instead.
LINE = 80

# More elements are never part of a line.
FEW = 8

# Deeper parts are never part of a line: values that are shared may hold themselves.
DEEP = 5
depth = 0

# No memory is larger: a length beyond it was never initialised.
ADDRESSES = 1 << 48

AGGREGATES = (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION)


class Invalid(Exception):
    """Bytes that are no value of their type."""


def note(error: Exception) -> str:
    """What stands in the place of a value."""
    return f"<{str(error).rstrip('.') or type(error).__name__}>"


UNREADABLE = (Invalid, gdb.error, ArithmeticError, LookupError, TypeError, ValueError)


# Shapes of printers.


class Text:
    """One line."""

    def __init__(self, text: Callable[[], str]) -> None:
        self.text = text

    def line(self) -> Optional[str]:
        return self.text()

    def to_string(self) -> str:
        try:
            return self.text()
        except UNREADABLE as error:
            return note(error)


class Scalar:
    """What gdb prints by itself."""

    def __init__(self, value: gdb.Value) -> None:
        self.value = value

    def line(self) -> Optional[str]:
        # gdb shows a character as its number and itself.
        return re.sub(r"^\d+ (?=')", "", self.value.format_string(symbols=False))

    def to_string(self) -> Union[gdb.Value, str]:
        try:
            return self.line() or ""
        except UNREADABLE as error:
            return note(error)


class Sequence:
    """A label and elements, of which no more are read than gdb prints."""

    def __init__(self, label: str, length: Callable[[], int], element: Callable[[int], gdb.Value]) -> None:
        self.label = label
        self.length = length
        self.element = element

    def line(self) -> Optional[str]:
        try:
            if self.length() > min(FEW, limit()):
                return None
            texts = [plain(self.element(index)) for index in range(self.length())]
        except UNREADABLE:
            return None
        line = f"[{', '.join(text or '' for text in texts)}]"
        return line if all(texts) and len(line) <= LINE else None

    def to_string(self) -> str:
        try:
            if self.length():
                self.element(0).fetch_lazy()
            return self.label
        except UNREADABLE as error:
            return f"{self.label} {note(error)}"

    def children(self) -> Iterator[Child]:
        try:
            # One more than gdb prints, so that it says that there are more.
            count = min(self.length(), limit() + 1)
        except UNREADABLE:
            return
        for index in range(count):
            try:
                element = self.element(index)
                element.fetch_lazy()
            except UNREADABLE as error:
                # The label says it of the first.
                if index:
                    yield str(index), note(error)
                return
            yield str(index), element

    def display_hint(self) -> str:
        return "array"


class Fields:
    """A name and members: text, if they are short, else children."""

    def __init__(self, name: str, members: List[Child]) -> None:
        self.name = name
        self.members = [(re.sub(r"^__(?=\d+$)", "", label), value) for label, value in members]
        self.is_long = False

    def line(self) -> Optional[str]:
        # Asked at every level of a value: the parts are looked at once.
        line = None if self.is_long else self.joined()
        self.is_long = line is None
        return line

    def joined(self) -> Optional[str]:
        if not self.members:
            return self.name
        texts = []
        for label, value in self.members:
            text = value if isinstance(value, str) else plain(value)
            if text is None:
                return None
            texts.append(text if label.isdigit() else f"{label}: {text}")
        positional = all(label.isdigit() for label, _ in self.members)
        line = f"{self.name}({', '.join(texts)})" if positional else f"{self.name} {{{', '.join(texts)}}}"
        return line if len(line) <= LINE else None

    def to_string(self) -> str:
        return self.name

    def children(self) -> Iterator[Child]:
        yield from self.members


Printer = Union[Text, Scalar, Sequence, Fields]


def concise(make: Callable[[], Printer]) -> Printer:
    """The printer that `make` gives; text if members are short or cannot be read."""
    try:
        printer = make()
        line = printer.line() if isinstance(printer, Fields) else None
    except UNREADABLE as error:
        message = note(error)
        return Text(lambda: message)
    return printer if line is None else Text(lambda: line)


def plain(value: gdb.Value) -> Optional[str]:
    """A value in one line, if it is short."""
    global depth
    if depth == DEEP:
        return None
    depth += 1
    try:
        line = inner(value).line()
    finally:
        depth -= 1
    return line if line is not None and len(line) <= LINE else None


def inner(value: gdb.Value) -> Printer:
    """How a value is printed that is part of another: also where gdb's own way would do."""
    printer = find(value)
    if printer:
        return printer
    ty = value.type.strip_typedefs()
    if ty.code == gdb.TYPE_CODE_ARRAY:
        low, high = ty.range()
        return Sequence(str(ty), lambda: high - low + 1, lambda index: value[low + index])
    if ty.code in AGGREGATES:
        return concise(lambda: Fields(last(ty.name or ""), members(value)))
    return Scalar(value)


# Parts of values.


def limit() -> int:
    """How many elements gdb prints."""
    elements = gdb.parameter("print elements")
    return int(elements) if elements else ADDRESSES


def members(value: gdb.Value) -> List[Child]:
    """The fields, without the bases and statics of C++."""
    return [(field.name or "", value[field]) for field in value.type.strip_typedefs().fields() if hasattr(field, "bitpos")]


def peel(value: gdb.Value) -> gdb.Value:
    """Through structures of which one field alone has bytes, down to what they are made of."""
    while value.type.strip_typedefs().code in AGGREGATES:
        parts = [field for field in value.type.strip_typedefs().fields() if field.type.sizeof]
        if len(parts) != 1:
            break
        value = value[parts[0]]
    return value


def only(value: gdb.Value) -> gdb.Value:
    """The one field that has bytes."""
    parts = [field for field in value.type.strip_typedefs().fields() if field.type.sizeof]
    if len(parts) != 1:
        raise Invalid(f"{value.type} has other fields than expected")
    return value[parts[0]]


def last(path: str) -> str:
    """A type's name without path and generic arguments; none for tuples."""
    return "" if path.startswith("(") and path != "()" else path.split("<", 1)[0].rsplit("::", 1)[-1]


def checked(pointer: gdb.Value, length: int, size: int) -> int:
    """The length, if memory can have so much at the pointer."""
    if length < 0 or length * max(size, 1) > ADDRESSES or (length > 0 and int(pointer) == 0):
        raise Invalid(f"invalid: {length} elements at {int(pointer):#x}")
    return length


def elements(label: str, pointer: gdb.Value, length: int, ty: Optional[gdb.Type] = None) -> Sequence:
    """Those behind a pointer, of type `ty` if it is not the pointer's."""
    if ty is not None:
        pointer = pointer.cast(ty.pointer())
    size = pointer.type.target().sizeof
    return Sequence(label, lambda: checked(pointer, length, size), lambda index: (pointer + index).dereference())


def quoted(pointer: gdb.Value, length: int) -> str:
    """UTF-8 as Rust would write it; no more of it than gdb prints."""
    shown = min(checked(pointer, length, 1), limit())
    data = b""
    if shown:
        byte = pointer.type.target()
        block = pointer.cast(byte.array(shown - 1).pointer()).dereference()
        block.fetch_lazy()
        data = bytes(int(block[index]) & 0xFF for index in range(shown))
    decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
    text = "".join(escaped(char) for char in decoder.decode(data, final=shown == length))
    return f'"{text}"' + ("..." if shown < length else "")


def escaped(char: str) -> str:
    known = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}
    return known.get(char) or (char if char.isprintable() else f"\\u{{{ord(char):x}}}")


# Rust's types.


def enum(value: gdb.Value) -> Printer:
    """The variant that it has. With a niche, the variant that holds a value is the one that no enumerator names."""
    fields = value.type.strip_typedefs().fields()
    tag, variants = fields[0], {field.name: field for field in fields[1:]}
    names = {enumerator.name.rsplit("::", 1)[-1]: enumerator.enumval for enumerator in tag.type.fields()}
    number = int(value[tag])
    mask = (1 << 8 * tag.type.sizeof) - 1
    found = [name for name, tagged in names.items() if tagged & mask == number & mask]
    found = found or [name for name in variants if name not in names]
    if len(found) != 1 or found[0] not in variants:
        raise Invalid(f"invalid: no variant {number} of {last(value.type.name or '')}")
    return Fields(found[0], members(value[variants[found[0]]]))


# A reference or pointer to a slice or text, or their owner.
SLICE = re.compile(r"(&(?:mut )?|\*(?:const |mut )|alloc::boxed::Box<)(str|\[.*\])(?:, .*>)?")


def slice_reference(value: gdb.Value) -> Printer:
    pointer, length = value["data_ptr"], int(value["length"])
    name = value.type.name or ""
    match = SLICE.fullmatch(name)
    if match is None:
        # To a structure that ends with a slice.
        return Fields(name, [("data_ptr", pointer), ("length", value["length"])])
    owner, content = match.groups()
    if content == "str":
        return Text(lambda: quoted(pointer, length))
    label = f"Box<{content}>" if owner.startswith("alloc") else owner + content
    return elements(f"{label}(len={length})", pointer, length)


def raw_vec(buffer: gdb.Value) -> Tuple[gdb.Value, int]:
    """Pointer and capacity."""
    buffer = buffer["inner"] if any(field.name == "inner" for field in buffer.type.fields()) else buffer
    return peel(buffer["ptr"]), int(peel(buffer["cap"]))


def vec(value: gdb.Value) -> Printer:
    pointer, capacity = raw_vec(value["buf"])
    length = int(value["len"])
    return elements(f"Vec(len={length}, cap={capacity})", pointer, length, value.type.strip_typedefs().template_argument(0))


def string(value: gdb.Value) -> Printer:
    content = value["vec"]
    pointer, length = raw_vec(content["buf"])[0], int(content["len"])
    return Text(lambda: quoted(pointer, length))


def vec_deque(value: gdb.Value) -> Printer:
    pointer, capacity = raw_vec(value["buf"])
    head, length = int(value["head"]), int(value["len"])
    ty = value.type.strip_typedefs().template_argument(0)
    pointer = pointer.cast(ty.pointer())

    def checked_length() -> int:
        if ty.sizeof and (length > capacity or head >= max(capacity, 1)):
            raise Invalid(f"invalid: {length} elements from {head} in a buffer of {capacity}")
        return checked(pointer, length, ty.sizeof)

    def element(index: int) -> gdb.Value:
        return (pointer + ((head + index) % capacity if capacity else 0)).dereference()

    return Sequence(f"VecDeque(len={length}, cap={capacity})", checked_length, element)


def counted(value: gdb.Value) -> Printer:
    """Rc, Arc and their weak pointers: what they share, and how many there are."""
    name = last(value.type.name or "")
    pointer = value["ptr"]["pointer"]
    length = None
    if pointer.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT:
        if not any(field.name == "length" for field in pointer.type.fields()):
            return Fields(name, members(pointer))
        pointer, length = pointer["data_ptr"], int(pointer["length"])
    if name == "Weak" and int(pointer) & (1 << 64) - 1 == (1 << 64) - 1:
        return Text(lambda: "Weak(dangling)")
    block = pointer.dereference()
    block.fetch_lazy()
    strong, weak = (int(peel(block[field])) for field in ("strong", "weak"))
    counts: List[Child] = [("strong", str(strong)), ("weak", str(weak - 1))]
    if strong == 0:
        return Fields(name, counts)
    content = next(field for field in block.type.fields() if field.name in ("value", "data"))
    if length is None:
        return Fields(name, [("value", block[content]), *counts])
    # Elements lie behind the structure, as far as its size goes.
    first = gdb.Value(int(pointer) + content.bitpos // 8).cast(content.type.pointer())
    if re.search(r"<str\b", value.type.name or ""):
        return Fields(name, [("value", quoted(first, length)), *counts])
    return elements(f"{name}(strong={strong}, weak={weak - 1}, len={length})", first, length)


def ref_cell(value: gdb.Value) -> Printer:
    borrow = int(peel(value["borrow"]))
    state = "no" if borrow == 0 else "mutable" if borrow < 0 else str(borrow)
    return Fields("RefCell", [("value", only(value["value"])), ("borrowed", state)])


def guard(value: gdb.Value) -> Printer:
    """Ref and RefMut: what they guard."""
    target = value["value"]["pointer"]
    return inner(target.dereference() if target.type.code == gdb.TYPE_CODE_PTR else target)


def atomic_bool(value: gdb.Value) -> Printer:
    byte = int(peel(value))
    return Text(lambda: {0: "false", 1: "true"}.get(byte) or note(Invalid(f"invalid: bool {byte}")))


def cell_range(value: gdb.Value) -> Printer:
    """`start..end`, as far as they are there."""
    parts = {field.name: value[field] for field in value.type.strip_typedefs().fields()}
    name = last(value.type.name or "")
    start, end = (plain(parts[side]) if side in parts else "" for side in ("start", "end"))
    if end == "" and "last" in parts:
        end = plain(parts["last"])
    if start is None or end is None:
        return Fields(name, list(parts.items()))
    closed = "=" if "Inclusive" in name else ""
    exhausted = " (exhausted)" if "exhausted" in parts and bool(parts["exhausted"]) else ""
    return Text(lambda: f"{start}..{closed}{end}{exhausted}")


def slice_iterator(value: gdb.Value) -> Printer:
    """What is left; the end is an address, or a length where elements have no bytes."""
    pointer = peel(value["ptr"])
    end = int(peel(value["end_or_len"]))
    size = pointer.type.target().sizeof
    length = (end - int(pointer)) // size if size else end
    return elements(f"{last(value.type.name or '')}(len={length})", pointer, length)


# rust-ptx's types.


def disjoint_slice(value: gdb.Value) -> Printer:
    length = int(value["len"])
    return elements(f"{last(value.type.name or '')}(len={length})", value["ptr"], length)


def vector(value: gdb.Value) -> Printer:
    lanes = ", ".join(lane.format_string() for _, lane in members(value) if isinstance(lane, gdb.Value))
    return Text(lambda: f"{last(value.type.name or '')}({lanes})")


def float_text(number: float) -> str:
    return "NaN" if number != number else f"{number:.9g}"


def f16(bits: int) -> str:
    return float_text(struct.unpack("<e", struct.pack("<H", bits))[0])


def bf16(bits: int) -> str:
    return float_text(struct.unpack("<f", struct.pack("<I", bits << 16))[0])


def e5m2(bits: int) -> str:
    return f16(bits << 8)


def e4m3(bits: int) -> str:
    sign, exponent, fraction = -1.0 if bits & 0x80 else 1.0, bits >> 3 & 15, bits & 7
    if bits & 0x7F == 0x7F:
        return "NaN"
    return float_text(sign * (2.0 ** (exponent - 7) * (1 + fraction / 8) if exponent else 2.0**-6 * fraction / 8))


def bits_of(convert: Callable[[int], str], width: int) -> Callable[[gdb.Value], Printer]:
    """A number or two in an integer; `width` is one's."""

    def make(value: gdb.Value) -> Printer:
        name = last(value.type.name or "")
        bits = int(peel(value))
        if value.type.sizeof * 8 == width:
            return Text(lambda: convert(bits))
        low, high = convert(bits & (1 << width) - 1), convert(bits >> width)
        return Text(lambda: f"{name}({low}, {high})")

    return make


# By the type's name.

Make = Callable[[gdb.Value], Printer]

WRAPPERS = "|".join([
    r"core::cell::(Cell|UnsafeCell|SyncUnsafeCell)<.*", r"core::num::nonzero::NonZero<.*", r"core::num::niche_types::.*", r"core::num::wrapping::Wrapping<.*",
    r"core::num::saturating::Saturating<.*", r"core::mem::manually_drop::ManuallyDrop<.*",
    r"core::mem::maybe_dangling::MaybeDangling<.*", r"core::mem::maybe_uninit::MaybeUninit<.*", r"core::pin::Pin<.*",
    r"core::ptr::non_null::NonNull<.*", r"core::ptr::unique::Unique<.*",
    r"ptx_device::atomic::Atomic<.*", r"ptx_device::shared::Shared<.*", r"ptx_device::ffi::(Restrict|Volatile)<.*",
    r"ptx_device::index::ThreadIndex",
])

TYPES: List[Tuple[str, Make]] = [
    (r"alloc::string::String", string),
    (r"alloc::vec::Vec<.*", vec),
    (r"alloc::collections::vec_deque::VecDeque<.*", vec_deque),
    (r"alloc::(rc|sync)::(Rc|Arc|Weak)<.*", counted),
    (r"core::cell::RefCell<.*", ref_cell),
    (r"core::cell::(Ref|RefMut)<.*", guard),
    (r"core::sync::atomic::(Atomic<bool>|AtomicBool)", atomic_bool),
    (r"core::sync::atomic::(Atomic<.*|Atomic[A-Z].*)", lambda value: inner(peel(value))),
    (r"core::(ops::range|range|range::legacy)::Range(From|To|Inclusive|ToInclusive|Full)?(<.*|$)", cell_range),
    (r"core::slice::iter::(Iter|IterMut)<.*", slice_iterator),
    (r"half::binary16::f16", bits_of(f16, 16)),
    (r"half::bfloat::bf16", bits_of(bf16, 16)),
    (r"ptx_device::float::packed::F16x2", bits_of(f16, 16)),
    (r"ptx_device::float::packed::Bf16x2", bits_of(bf16, 16)),
    (r"ptx_device::float::eight::F8E4M3(x2)?", bits_of(e4m3, 8)),
    (r"ptx_device::float::eight::F8E5M2(x2)?", bits_of(e5m2, 8)),
    (r"ptx_device::vec::[A-Z]\w*", vector),
    (r"ptx_device::disjoint::DisjointSlice<.*|ptx_abi::types::RawSlice(Mut)?<.*", disjoint_slice),
    (r"ptx_device::atomic::slice::AtomicSlice<.*", lambda value: inner(only(value))),
    (WRAPPERS, lambda value: inner(only(value))),
]

PATTERNS = [(re.compile(pattern), make) for pattern, make in TYPES]

# By name; `None` for types that gdb prints well.
known: Dict[str, Optional[Make]] = {}


def by_name(name: str) -> Optional[Make]:
    if name not in known:
        known[name] = next((make for pattern, make in PATTERNS if pattern.fullmatch(name)), None)
    return known[name]


def find(value: gdb.Value) -> Optional[Printer]:
    """The printer of a value, if it is not gdb's own."""
    ty = value.type.strip_typedefs()
    if ty.code not in AGGREGATES or not ty.name:
        return None
    make = by_name(ty.name)
    if make is None and ty.code == gdb.TYPE_CODE_STRUCT:
        names = [field.name for field in ty.fields()]
        if names[:1] == [DISCRIMINANT] and ty.fields()[0].type.code == gdb.TYPE_CODE_ENUM:
            make = enum
        elif names == ["data_ptr", "length"]:
            make = slice_reference
    if make is None:
        return None
    chosen = make

    def ready() -> Printer:
        # A part of a value that gdb has not read yet would be looked for in the host's memory.
        if value.is_lazy:
            value.fetch_lazy()
        return chosen(value)

    return concise(ready)


class RustPtx(gdb.printing.PrettyPrinter):
    """Registers with gdb."""

    def __init__(self) -> None:
        super().__init__("rust-ptx")

    def __call__(self, value: gdb.Value) -> Optional[Printer]:
        try:
            return find(value)
        except UNREADABLE:
            return None


gdb.printing.register_pretty_printer(None, RustPtx(), replace=True)
