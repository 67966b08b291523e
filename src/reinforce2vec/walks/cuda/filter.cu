// 128 bits that rule out most of the nodes which a walk has not been at.
struct Filter {
    unsigned long long low, high;

    __device__ __forceinline__ void clear() { low = high = 0; }

    __device__ __forceinline__ void add(int node) {
        unsigned bit = hashed(node);
        unsigned long long mask = 1ull << (bit & 63);
        if (bit & 64) high |= mask;
        else low |= mask;
    }

    __device__ __forceinline__ bool surely_new(int node) const {
        unsigned bit = hashed(node);
        return !(((bit & 64 ? high : low) >> (bit & 63)) & 1);
    }

    __device__ __forceinline__ static unsigned hashed(int node) {
        return (unsigned)node * 0x9E3779B1u >> 25;
    }
};
