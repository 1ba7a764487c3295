// The host's side in CUDA C++, by the driver's API: a graph that is started again, and copies beside kernels on streams. The
// program in Rust loads this as a library, so that both run in one process, in turn, with the same device code.
#include <cuda.h>
#include <vector>

#define TRY(call)                                                                                                       \
    do {                                                                                                               \
        CUresult result = (call);                                                                                      \
        if (result != CUDA_SUCCESS) return result;                                                                     \
    } while (0)

static CUresult kernel(CUmodule *module, CUfunction *saxpy, const void *cubin) {
    TRY(cuModuleLoadData(module, cubin));
    return cuModuleGetFunction(saxpy, *module, "saxpy");
}

struct Graph {
    CUmodule module;
    CUdeviceptr x, y;
    CUgraphExec exec;
};

// A chain of `nodes` launches of one block.
extern "C" int graph_make(Graph **out, const void *cubin, unsigned nodes, size_t elements) {
    Graph *made = new Graph;
    CUfunction saxpy;
    TRY(kernel(&made->module, &saxpy, cubin));
    TRY(cuMemAlloc(&made->x, elements * sizeof(float)));
    TRY(cuMemAlloc(&made->y, elements * sizeof(float)));
    TRY(cuMemsetD32(made->x, 0, elements));
    TRY(cuMemsetD32(made->y, 0, elements));
    CUgraph graph;
    TRY(cuGraphCreate(&graph, 0));
    float a = 1;
    void *params[] = {&a, &made->x, &elements, &made->y, &elements};
    CUDA_KERNEL_NODE_PARAMS launch = {};
    launch.func = saxpy;
    launch.gridDimX = launch.gridDimY = launch.gridDimZ = launch.blockDimY = launch.blockDimZ = 1;
    launch.blockDimX = (unsigned)elements;
    launch.kernelParams = params;
    CUgraphNode before;
    for (unsigned node = 0; node < nodes; ++node) {
        CUgraphNode added;
        TRY(cuGraphAddKernelNode(&added, graph, &before, node > 0, &launch));
        before = added;
    }
    TRY(cuGraphInstantiate(&made->exec, graph, 0));
    TRY(cuGraphDestroy(graph));
    *out = made;
    return 0;
}

extern "C" int graph_launch(Graph *graph, unsigned times) {
    for (unsigned time = 0; time < times; ++time) TRY(cuGraphLaunch(graph->exec, nullptr));
    return 0;
}

extern "C" int graph_drop(Graph *graph) {
    TRY(cuGraphExecDestroy(graph->exec));
    TRY(cuMemFree(graph->x));
    TRY(cuMemFree(graph->y));
    TRY(cuModuleUnload(graph->module));
    delete graph;
    return 0;
}

// What a stream has for itself.
struct Lane {
    CUstream stream;
    CUdeviceptr x, y;
    float *in, *out;
};

struct Overlap {
    CUmodule module;
    CUfunction saxpy;
    size_t elements;
    std::vector<Lane> lanes;
};

extern "C" int overlap_make(Overlap **out, const void *cubin, unsigned streams, size_t elements) {
    Overlap *made = new Overlap;
    made->elements = elements;
    TRY(kernel(&made->module, &made->saxpy, cubin));
    size_t bytes = elements * sizeof(float);
    for (unsigned number = 0; number < streams; ++number) {
        Lane lane;
        TRY(cuStreamCreate(&lane.stream, CU_STREAM_NON_BLOCKING));
        TRY(cuMemAlloc(&lane.x, bytes));
        TRY(cuMemAlloc(&lane.y, bytes));
        TRY(cuMemsetD32(lane.y, 0, elements));
        TRY(cuMemHostAlloc((void **)&lane.in, bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
        TRY(cuMemHostAlloc((void **)&lane.out, bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
        for (size_t at = 0; at < elements; ++at) lane.in[at] = lane.out[at] = 0;
        made->lanes.push_back(lane);
    }
    *out = made;
    return cuCtxSynchronize();
}

// Each part: to the device, `kernels` launches, and back.
extern "C" int overlap_run(Overlap *overlap, unsigned parts, unsigned kernels) {
    size_t elements = overlap->elements, bytes = elements * sizeof(float);
    float a = 1;
    for (unsigned part = 0; part < parts; ++part) {
        Lane &lane = overlap->lanes[part % overlap->lanes.size()];
        void *params[] = {&a, &lane.x, &elements, &lane.y, &elements};
        TRY(cuMemcpyHtoDAsync(lane.x, lane.in, bytes, lane.stream));
        for (unsigned number = 0; number < kernels; ++number)
            TRY(cuLaunchKernel(overlap->saxpy, (unsigned)((elements + 255) / 256), 1, 1, 256, 1, 1, 0, lane.stream, params,
                               nullptr));
        TRY(cuMemcpyDtoHAsync(lane.out, lane.y, bytes, lane.stream));
    }
    return cuCtxSynchronize();
}

extern "C" int overlap_drop(Overlap *overlap) {
    for (Lane &lane : overlap->lanes) {
        TRY(cuStreamDestroy(lane.stream));
        TRY(cuMemFree(lane.x));
        TRY(cuMemFree(lane.y));
        TRY(cuMemFreeHost(lane.in));
        TRY(cuMemFreeHost(lane.out));
    }
    TRY(cuModuleUnload(overlap->module));
    delete overlap;
    return 0;
}
