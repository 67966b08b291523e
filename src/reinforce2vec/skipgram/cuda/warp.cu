// What the files of training share.
//
// Macros: NUMBERS (of a row, for each lane), TARGETS (handled at once, up to 8), GROUPS (of targets
// of a centre), CONTEXTS (scored at once, up to 8), SLOTS (rows of the window in shared memory, up
// to 32), TENSOR (whether tensor cores score), AHEAD (positions whose negatives are drawn at once,
// up to 32), BLOCKS (warps that a multiprocessor is to hold), SUBSAMPLED (whether `keep` is used),
// PLACES (room for the gradients of one context).

#ifndef EMULATED
#define SHARED_MEMORY(type, name) extern __shared__ __align__(16) type name[]
#endif

#define ALL 0xffffffffu
#define PAD (16 * TENSOR)  // numbers between rows in shared memory, against conflicts of banks
#define SPREAD (TENSOR ? 4 : TARGETS)  // lanes that score one context
#define FARTHEST 87.0f  // a score beyond which it is cut off
#define LEAST_RATE 1e-4
#define LONG_AGO -1000000  // a position that no window reaches back to

const unsigned long long TRAINING = 1ull << 63;

// The share of its way that a row moves.
__device__ __forceinline__ float share(float alone, float most) { return fminf(1.0f, most * alone); }
