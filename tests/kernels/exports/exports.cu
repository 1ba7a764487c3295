// Calls every function of src/lib.rs by the header that is written of it; tests/suites/layout compares what nvcc declares.
#include <type_traits>
#include "exports.h"

template<class R, class... A> __device__ void call(R (*f)(A...), void *memory) {
    f(static_cast<A>(*static_cast<std::remove_reference_t<A> *>(memory))...);
}

extern "C" __global__ void calls(void *memory) {
    call(&pass_empty, memory);
    call(&point_to_empty, memory);
    call(&pass_pair, memory);
    call(&point_to_pair, memory);
    call(&pass_nested, memory);
    call(&point_to_nested, memory);
    call(&pass_aligned, memory);
    call(&point_to_aligned, memory);
    call(&pass_packed, memory);
    call(&point_to_packed, memory);
    call(&pass_half_packed, memory);
    call(&point_to_half_packed, memory);
    call(&pass_number, memory);
    call(&point_to_number, memory);
    call(&pass_vectors, memory);
    call(&point_to_vectors, memory);
    call(&pass_halves, memory);
    call(&point_to_halves, memory);
    call(&pass_keywords, memory);
    call(&point_to_keywords, memory);
    call(&pass_node, memory);
    call(&point_to_node, memory);
    call(&pass_circle, memory);
    call(&point_to_circle, memory);
    call(&pass_callbacks, memory);
    call(&point_to_callbacks, memory);
    call(&pass_foreign, memory);
    call(&point_to_foreign, memory);
    call(&pass_tuple, memory);
    call(&point_to_tuple, memory);
    call(&pass_meters, memory);
    call(&point_to_meters, memory);
    call(&pass_array, memory);
    call(&point_to_array, memory);
    call(&pass_array_of_pairs, memory);
    call(&point_to_array_of_pairs, memory);
    call(&pass_mode, memory);
    call(&point_to_mode, memory);
    call(&pass_level, memory);
    call(&point_to_level, memory);
    call(&pass_flags, memory);
    call(&point_to_flags, memory);
    call(&pass_flag_union, memory);
    call(&point_to_flag_union, memory);
    call(&pass_float4, memory);
    call(&point_to_float4, memory);
    call(&pass_double2, memory);
    call(&point_to_double2, memory);
    call(&pass_half, memory);
    call(&point_to_half, memory);
    call(&pass_bfloat, memory);
    call(&point_to_bfloat, memory);
    call(&pass_char, memory);
    call(&point_to_char, memory);
    call(&pass_texture, memory);
    call(&point_to_texture, memory);
    call(&pass_wide, memory);
    call(&point_to_wide, memory);
    call(&pass_bool, memory);
    call(&point_to_bool, memory);
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
