// Calls every function of src/lib.rs by the header that is written of it; tests/layout compares what nvcc declares.
#include <type_traits>
#include "exports.h"

template<class R, class... A> __device__ void call(R (*f)(A...), void *memory) {
    f(static_cast<A>(*static_cast<std::remove_reference_t<A> *>(memory))...);
}

extern "C" __global__ void calls(void *memory) {
    call(&pass_empty, memory);
    call(&copy_empty, memory);
    call(&pass_pair, memory);
    call(&copy_pair, memory);
    call(&pass_nested, memory);
    call(&copy_nested, memory);
    call(&pass_aligned, memory);
    call(&copy_aligned, memory);
    call(&pass_packed, memory);
    call(&copy_packed, memory);
    call(&pass_half_packed, memory);
    call(&copy_half_packed, memory);
    call(&pass_number, memory);
    call(&copy_number, memory);
    call(&pass_vectors, memory);
    call(&copy_vectors, memory);
    call(&pass_halves, memory);
    call(&copy_halves, memory);
    call(&pass_keywords, memory);
    call(&copy_keywords, memory);
    call(&pass_node, memory);
    call(&copy_node, memory);
    call(&pass_circle, memory);
    call(&copy_circle, memory);
    call(&pass_callbacks, memory);
    call(&copy_callbacks, memory);
    call(&pass_foreign, memory);
    call(&copy_foreign, memory);
    call(&pass_tuple, memory);
    call(&copy_tuple, memory);
    call(&pass_meters, memory);
    call(&copy_meters, memory);
    call(&pass_array, memory);
    call(&copy_array, memory);
    call(&pass_array_of_pairs, memory);
    call(&copy_array_of_pairs, memory);
    call(&pass_mode, memory);
    call(&copy_mode, memory);
    call(&pass_level, memory);
    call(&copy_level, memory);
    call(&pass_flags, memory);
    call(&copy_flags, memory);
    call(&pass_flag_union, memory);
    call(&copy_flag_union, memory);
    call(&pass_float4, memory);
    call(&copy_float4, memory);
    call(&pass_double2, memory);
    call(&copy_double2, memory);
    call(&pass_half, memory);
    call(&copy_half, memory);
    call(&pass_bfloat, memory);
    call(&copy_bfloat, memory);
    call(&pass_char, memory);
    call(&copy_char, memory);
    call(&pass_texture, memory);
    call(&copy_texture, memory);
    call(&pass_wide, memory);
    call(&copy_wide, memory);
    call(&pass_bool, memory);
    call(&copy_bool, memory);
    call(&geo::lib::pointers, memory);
    call(&geo::more_pointers, memory);
    call(&references, memory);
    call(&function_pointer, memory);
    call(&nothing, memory);
}

// Members under the names that the header gives them.
__device__ int members(Keywords k, Flags f, Tuple t) {
    return k.class_ + k.template_ + k.class__ + k.Keywords_ + k.type + f.kind + f.shift + f.on + t._0 + t._1[1].values[3];
}

static_assert((unsigned char)Mode::Slow == 200 && (long)geo::Level::Low < 0, "values of enums");
