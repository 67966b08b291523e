// What all walks share: who walks, where it starts, and the row of nodes it leaves behind.

#define WALK_PARAMETERS                                                                          \
    const int *__restrict__ starts, unsigned long long n_starts, unsigned long long seed,        \
        unsigned long long first, int *__restrict__ walks, unsigned long long count, int length

// One thread makes one walk, and then the next that nobody else makes.
#define FOR_EACH_WALK(walk)                                                                      \
    for (unsigned long long walk = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;    \
         walk < count; walk += (unsigned long long)gridDim.x * blockDim.x)

// A walk's row. Where rows are aligned, four nodes are written at once, and as what is not needed
// again soon: half-written rows would drive the graph out of the cache (half of the speed).
struct Trail {
    int* row;
    int4 last;
    bool wide;

    __device__ __forceinline__ Trail(int* walks, unsigned long long walk, int length)
        : row(walks + walk * length), last(make_int4(-1, -1, -1, -1)), wide(length % 4 == 0) {}

    __device__ __forceinline__ void put(int n, int node) {
        if (wide) {
            last = make_int4(last.y, last.z, last.w, node);
            if (n % 4 == 3) __stcs((int4*)(row + (n - 3)), last);
        } else {
            __stcs(row + n, node);
        }
    }

    // How often a node stands among the first `size`, of which the last has been put just now.
    __device__ __forceinline__ int count(int size, int node) const {
        int seen = 0, n = 0;
        if (wide) {
            int rest = size % 4;
            seen = (rest > 0 && last.w == node) + (rest > 1 && last.z == node) +
                   (rest > 2 && last.y == node);
            for (; n < size - rest; n += 4) {
                int4 four = *(const int4*)(row + n);
                seen += (four.x == node) + (four.y == node) + (four.z == node) + (four.w == node);
            }
            return seen;
        }
        for (; n < size; n++) seen += row[n] == node;
        return seen;
    }
};
