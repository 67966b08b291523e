// A walk to train on: which of its nodes count, how many contexts at once, which negatives.

#include "../../_util/cuda/random.cu"
#include "warp.cu"

struct Taken {
    int size, tokens;
};

// Leaves out what follows the end of a walk and what subsampling skips; the rest closes up.
__device__ __forceinline__ Taken take_path(
    int* path, int length, const float* keep, Stream stream, int negatives, int lane
) {
    Taken taken = {0, 0};
    for (int begin = 0; begin < length; begin += 32) {
        const int at = begin + lane;
        const int node = at < length ? path[at] : -1;
        const unsigned ended = __ballot_sync(ALL, node < 0);
        const int here = ended ? __ffs(ended) - 1 : 32;
        taken.tokens += here;
#if SUBSAMPLED
        const bool kept = lane < here && unit(draw(stream, at, negatives + 1)) < keep[node];
        const unsigned all = __ballot_sync(ALL, kept);
        if (kept) path[taken.size + __popc(all & ((1u << lane) - 1))] = node;
        taken.size += __popc(all);
        __syncwarp();
#else
        taken.size += here;
#endif
        if (ended) break;
    }
    return taken;
}

// How many contexts of a walk may be trained at once: the fewer, the smaller its circles. No node
// stands in a batch more than twice, unless batches are as small as can be.
__device__ __forceinline__ int batch_for(const int* path, int size, int lane) {
    bool crowded8 = false, crowded4 = false;
    for (int at = 2 + lane; at < size; at += 32) {
        const int node = path[at];
        int seen = 0;
        for (int back = 1; back < 8 && back <= at; ++back) {
            seen += path[at - back] == node;
            if (back < 4) crowded4 |= seen > 1;
        }
        crowded8 |= seen > 1;
    }
    const int most = __any_sync(ALL, crowded4) ? 2 : __any_sync(ALL, crowded8) ? 4 : 8;
    return min(most, CONTEXTS);
}

// Negatives of positions begin, begin + 1, ...: as many for each as `negatives` says.
__device__ __forceinline__ void draw_negatives(
    int* drawn, int begin, int end, const unsigned long long* noise, long long n_nodes,
    Stream stream, int negatives, int lane
) {
    const int all = (end - begin) * negatives;
    __syncwarp();  // nobody reads those before any more
    for (int i = lane; i < all; i += 32) {
        const unsigned long long bits = draw(stream, begin + i / negatives, i % negatives + 1);
        const unsigned long long cell = __umul64hi(bits, n_nodes);
        const unsigned long long entry = __ldg(noise + cell);
        const bool kept = (bits * (unsigned long long)n_nodes) >> 32 < entry >> 32;
        drawn[i] = (int)(kept ? cell : entry & 0xffffffffull);
    }
    __syncwarp();
}
