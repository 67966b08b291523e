// Counter-based random numbers, bit for bit those of _util/random.py: every draw is a pure
// function of (seed, walk, step, draw).

struct Stream {
    unsigned long long key, gamma;
};

// Scramble 64 bits so that every input bit flips every output bit half of the time.
__device__ __forceinline__ unsigned long long mix(unsigned long long x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

// Key and gamma of walk k.
__device__ __forceinline__ Stream make_stream(unsigned long long seed, unsigned long long k) {
    const unsigned long long step = 0x9E3779B97F4A7C15ull;  // 2^64 / golden ratio, odd
    Stream stream;
    stream.key = mix(mix(seed + step) + k * step);
    stream.gamma = mix(stream.key + step) | 1;
    return stream;
}

// 64 random bits: draw i of a step of a walk.
__device__ __forceinline__ unsigned long long draw(Stream stream, unsigned step, unsigned i) {
    return mix(stream.key + (((unsigned long long)i << 32) + step) * stream.gamma);
}

// Random bits as an integer in [0, n), uniform to one part in 2^64 / n.
__device__ __forceinline__ unsigned below(unsigned long long bits, unsigned n) {
    unsigned long long high = (bits >> 32) * n, low = (bits & 0xFFFFFFFFull) * n;
    return (unsigned)((high + (low >> 32)) >> 32);
}

__device__ __forceinline__ unsigned long long below(unsigned long long bits, unsigned long long n) {
    return __umul64hi(bits, n);
}

// Random bits as a number in [0, 1), a multiple of 2^-53.
__device__ __forceinline__ double unit(unsigned long long bits) {
    return (double)(long long)(bits >> 11) * (1.0 / 9007199254740992.0);
}

// What `below` did not use of the bits: a number in [0, 1), independent of its result.
__device__ __forceinline__ double left_over(unsigned long long bits, unsigned long long n) {
    return unit(bits * n);
}
