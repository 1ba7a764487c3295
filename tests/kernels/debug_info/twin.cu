// The same as src/twin.rs, line by line.







struct Pair {
    int a;
    float b;
};



enum Colour {
    Red = 1,
    Green = 5,
    Blue = 6,
};



union Bits {
    int i;
    float f;
};


__constant__ int TABLE[4] = {1, 2, 3, 4};


__shared__ int TILE[32];


__device__ __noinline__ int add(int i, int j) {
    int sum = i + j;
    return sum;
}


extern "C" __global__ void scalars(int *out, int n, float x, double d, bool flag, unsigned char byte, long wide, unsigned long size) {
    int i = threadIdx.x;
    float y = x * 2.0f;
    if (i < n) {
        int inner = add(i, n);
        *out = inner + (int)y + (int)d + flag + byte + (int)wide + (int)size;
    }
}


extern "C" __global__ void aggregates(int *out, Pair p) {
    Pair local = p;
    int array[4] = {1, 2, 3, 4};
    Colour colour = Blue;
    int *pointer = &array[1];
    Bits bits; bits.f = p.b;
    Pair pairs[2] = {p, local};
    *out = local.a + array[2] + (int)colour + *pointer + bits.i + pairs[1].a + Red + Green;
}











extern "C" __global__ void widths(unsigned long *out, short short_, unsigned short ushort_, unsigned int int_, long long_) {
    signed char a = (signed char)short_;
    unsigned int b = ushort_;
    unsigned long c = int_ + (unsigned long)long_;
    unsigned __int128 huge = (unsigned __int128)c * 3;
    __int128 signed_ = (__int128)huge - 1;
    *out = a + b + c + (unsigned long)huge + (unsigned long)signed_;
}


extern "C" __global__ void statics(int *out) {
    unsigned long i = threadIdx.x;
    TILE[i] = (int)i;
    __syncthreads();
    out[i] = TILE[31 - i] + TABLE[i % 4];
}
