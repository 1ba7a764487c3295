// CUB's block primitives, in the forms that its documentation begins with.
#include "bench.cuh"

#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>

namespace blocks {
constexpr int THREADS = 256, ITEMS = 4, TILE = THREADS * ITEMS, ROUNDS = 64;

KERNEL __launch_bounds__(256) block_reduce(SLICE(float, x), SLICE_MUT(float, sums)) {
    using Load = cub::BlockLoad<float, THREADS, ITEMS, cub::BLOCK_LOAD_VECTORIZE>;
    using Reduce = cub::BlockReduce<float, THREADS>;
    __shared__ typename Reduce::TempStorage storage;
    float own[ITEMS];
    Load().Load(x + (size_t)blockIdx.x * TILE, own);
    float sum = Reduce(storage).Sum(own);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

KERNEL __launch_bounds__(256) block_reduce_rounds(SLICE(float, x), SLICE_MUT(float, sums)) {
    using Reduce = cub::BlockReduce<float, THREADS>;
    __shared__ typename Reduce::TempStorage storage;
    float own = x[index_1d()];
    for (int round = 0; round < ROUNDS; round++) {
        float sum = Reduce(storage).Sum(own);
        if (threadIdx.x == 0) own = sum * 0.001f;
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = own;
}

KERNEL __launch_bounds__(256) block_scan(SLICE(unsigned, x), SLICE_MUT(unsigned, y)) {
    using Load = cub::BlockLoad<unsigned, THREADS, ITEMS, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using Store = cub::BlockStore<unsigned, THREADS, ITEMS, cub::BLOCK_STORE_WARP_TRANSPOSE>;
    using Scan = cub::BlockScan<unsigned, THREADS>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Store::TempStorage store;
        typename Scan::TempStorage scan;
    } storage;
    unsigned own[ITEMS];
    Load(storage.load).Load(x + (size_t)blockIdx.x * TILE, own);
    __syncthreads();
    Scan(storage.scan).ExclusiveSum(own, own);
    __syncthreads();
    Store(storage.store).Store(y + (size_t)blockIdx.x * TILE, own);
}

KERNEL __launch_bounds__(256) block_scan_rounds(SLICE(unsigned, x), SLICE_MUT(unsigned, y)) {
    using Scan = cub::BlockScan<unsigned, THREADS>;
    __shared__ typename Scan::TempStorage storage;
    int i = index_1d();
    unsigned own = x[i];
    for (int round = 0; round < ROUNDS; round++) {
        Scan(storage).InclusiveSum(own, own);
        __syncthreads();
    }
    y[i] = own;
}

KERNEL __launch_bounds__(256) block_exchange(SLICE(float, x), SLICE_MUT(float, y)) {
    using Exchange = cub::BlockExchange<float, THREADS, ITEMS>;
    __shared__ typename Exchange::TempStorage storage;
    float own[ITEMS];
    cub::LoadDirectStriped<THREADS>(threadIdx.x, x + (size_t)blockIdx.x * TILE, own);
    Exchange(storage).StripedToBlocked(own, own);
    for (int item = 1; item < ITEMS; item++) own[item] += own[item - 1];
    __syncthreads();
    Exchange(storage).BlockedToStriped(own, own);
    cub::StoreDirectStriped<THREADS>(threadIdx.x, y + (size_t)blockIdx.x * TILE, own);
}

KERNEL __launch_bounds__(256) block_radix_sort(SLICE(unsigned, x), SLICE_MUT(unsigned, y)) {
    using Load = cub::BlockLoad<unsigned, THREADS, ITEMS, cub::BLOCK_LOAD_VECTORIZE>;
    using Sort = cub::BlockRadixSort<unsigned, THREADS, ITEMS>;
    __shared__ typename Sort::TempStorage storage;
    unsigned keys[ITEMS];
    Load().Load(x + (size_t)blockIdx.x * TILE, keys);
    Sort(storage).SortBlockedToStriped(keys);
    cub::StoreDirectStriped<THREADS>(threadIdx.x, y + (size_t)blockIdx.x * TILE, keys);
}

KERNEL __launch_bounds__(256) block_radix_sort_pairs(
    SLICE(unsigned, keys), SLICE(unsigned, values), SLICE_MUT(unsigned, sorted), SLICE_MUT(unsigned, along)
) {
    using Load = cub::BlockLoad<unsigned, THREADS, ITEMS, cub::BLOCK_LOAD_VECTORIZE>;
    using Sort = cub::BlockRadixSort<unsigned, THREADS, ITEMS, unsigned>;
    __shared__ typename Sort::TempStorage storage;
    unsigned own[ITEMS], with[ITEMS];
    size_t first = (size_t)blockIdx.x * TILE;
    Load().Load(keys + first, own);
    Load().Load(values + first, with);
    Sort(storage).SortBlockedToStriped(own, with);
    cub::StoreDirectStriped<THREADS>(threadIdx.x, sorted + first, own);
    cub::StoreDirectStriped<THREADS>(threadIdx.x, along + first, with);
}

struct IsLess {
    __device__ bool operator()(unsigned a, unsigned b) const { return a < b; }
};

KERNEL __launch_bounds__(256) block_merge_sort(SLICE(unsigned, x), SLICE_MUT(unsigned, y)) {
    using Load = cub::BlockLoad<unsigned, THREADS, ITEMS, cub::BLOCK_LOAD_VECTORIZE>;
    using Store = cub::BlockStore<unsigned, THREADS, ITEMS, cub::BLOCK_STORE_VECTORIZE>;
    using Sort = cub::BlockMergeSort<unsigned, THREADS, ITEMS>;
    __shared__ typename Sort::TempStorage storage;
    unsigned own[ITEMS];
    Load().Load(x + (size_t)blockIdx.x * TILE, own);
    Sort(storage).StableSort(own, IsLess());
    Store().Store(y + (size_t)blockIdx.x * TILE, own);
}

KERNEL __launch_bounds__(256) block_histogram(SLICE(unsigned char, x), unsigned *total, size_t total_len) {
    using Histogram = cub::BlockHistogram<unsigned char, THREADS, 1, 256, cub::BLOCK_HISTO_ATOMIC>;
    __shared__ typename Histogram::TempStorage storage;
    __shared__ unsigned bins[256];
    Histogram histogram(storage);
    histogram.InitHistogram(bins);
    __syncthreads();
    int n = x_len, stride = gridDim.x * blockDim.x;
    for (int i = index_1d(); i < n; i += stride) {
        unsigned char own[1] = {x[i]};
        histogram.Composite(own, bins);
    }
    __syncthreads();
    atomicAdd(&total[threadIdx.x], bins[threadIdx.x]);
}

struct Difference {
    __device__ unsigned operator()(unsigned own, unsigned before) const { return own - before; }
};

KERNEL __launch_bounds__(256) block_differences(SLICE(unsigned, x), SLICE_MUT(unsigned, y)) {
    using Load = cub::BlockLoad<unsigned, THREADS, ITEMS, cub::BLOCK_LOAD_VECTORIZE>;
    using Store = cub::BlockStore<unsigned, THREADS, ITEMS, cub::BLOCK_STORE_VECTORIZE>;
    using Adjacent = cub::BlockAdjacentDifference<unsigned, THREADS>;
    __shared__ typename Adjacent::TempStorage storage;
    unsigned own[ITEMS];
    Load().Load(x + (size_t)blockIdx.x * TILE, own);
    Adjacent(storage).SubtractLeft(own, own, Difference());
    Store().Store(y + (size_t)blockIdx.x * TILE, own);
}

}  // namespace blocks
