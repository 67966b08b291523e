// Rows of outputs: those of a centre and its negatives, TARGETS at a time.

#include "rows.cu"
#include "warp.cu"

struct Targets {
    Part row[TARGETS];
    int node[TARGETS];
    float alone[TARGETS];
    unsigned silent;  // bits: those that do not count
};

// Target number 0 of the first group is the centre; then its negatives follow. One that is the
// centre itself does not count, nor do those beyond the last.
__device__ __forceinline__ Targets fetch_targets(
    const float* outputs, const float* alone, int centre, const int* drawn, int group,
    int negatives, int lane
) {
    Targets targets;
    targets.silent = 0;
#pragma unroll
    for (int k = 0; k < TARGETS; ++k) {
        const int number = group * TARGETS + k;
        int node = centre;
        if (number > 0 && number <= negatives) node = drawn[number - 1];
        if (number > 0 && node == centre) targets.silent |= 1u << k;
        targets.node[k] = node;
        targets.alone[k] = __ldg(alone + node);
        targets.row[k] = load(outputs + (long long)node * WIDTH, lane);
    }
    return targets;
}

// Reads those again that have just been moved as others: they were read before.
__device__ __forceinline__ void refresh_targets(
    Targets& next, const Targets& moved, const float* outputs, int lane
) {
    int own = -1;  // lane k has the k-th that was moved
#pragma unroll
    for (int k = 0; k < TARGETS; ++k)
        if (lane == k) own = moved.node[k];
#pragma unroll
    for (int k = 0; k < TARGETS; ++k)
        if (__any_sync(ALL, own == next.node[k]))
            next.row[k] = load(outputs + (long long)next.node[k] * WIDTH, lane);
}

__device__ __forceinline__ void move_targets(
    const Targets& targets, const Part (&now)[TARGETS], float* outputs, float most, int lane
) {
#pragma unroll
    for (int k = 0; k < TARGETS; ++k)
        if (!(targets.silent >> k & 1))
            add(outputs + (long long)targets.node[k] * WIDTH, lane,
                way(targets.row[k], now[k], share(targets.alone[k], most)));
}
