// Rows of inputs: those of the window around a centre, kept in shared memory while it passes.

#include "rows.cu"
#include "warp.cu"

#if SLOTS

#define STRIDE (WIDTH + PAD)  // between two rows

// Lane i knows slot i: whose row it holds, how alone it is with it, and where in the walk that node
// stands last; and the slot of the position that is i modulo 32.
struct Window {
    float *now, *before;  // rows as they are, and as they were read
    int node, last, place;
    float alone;
};

// A row on its way into the window.
struct Coming {
    Part row;
    float alone;
};

__device__ __forceinline__ Coming fetch_context(
    const float* inputs, const float* alone, int node, int lane
) {
    return {load(inputs + (long long)node * WIDTH, lane), __ldg(alone + node)};
}

__device__ __forceinline__ Window empty_window(float* shared) {
    return {shared, shared + SLOTS * STRIDE, -1, LONG_AGO, 0, 0.0f};
}

__device__ __forceinline__ void give_back(
    const Window& window, int slot, float* inputs, float most, int lane
) {
    const int node = __shfl_sync(ALL, window.node, slot);
    const float alone = __shfl_sync(ALL, window.alone, slot);
    if (node < 0) return;
    const Part before = take(window.before + slot * WIDTH, lane);
    const Part now = take(window.now + slot * STRIDE, lane);
    add(inputs + (long long)node * WIDTH, lane, way(before, now, share(alone, most)));
}

// Takes the row of a position in, which was read already; positions before `oldest` are not needed
// any more.
__device__ __forceinline__ void take_in(
    Window& window, int position, int node, const Coming& coming, int oldest, float* inputs,
    float most, int lane
) {
    int slot = __ffs(__ballot_sync(ALL, lane < SLOTS && window.node == node)) - 1;
    if (slot < 0) {
        slot = __ffs(__ballot_sync(ALL, lane < SLOTS && window.last < oldest)) - 1;
        give_back(window, slot, inputs, most, lane);
        put(window.now + slot * STRIDE, lane, coming.row);
        put(window.before + slot * WIDTH, lane, coming.row);
        if (lane == slot) {
            window.node = node;
            window.alone = coming.alone;
        }
    }
    if (lane == slot) window.last = position;
    if (lane == (position & 31)) window.place = slot;
}

__device__ __forceinline__ void leave(Window& window, float* inputs, float most, int lane) {
    for (int slot = 0; slot < SLOTS; ++slot) give_back(window, slot, inputs, most, lane);
    window.node = -1;
    window.last = LONG_AGO;
}

#endif
