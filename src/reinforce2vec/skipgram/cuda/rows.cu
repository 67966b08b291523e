// Rows of the two matrices, spread over the lanes of a warp: a lane has NUMBERS of 32 * NUMBERS.

#define WIDTH (32 * NUMBERS)

#if NUMBERS % 4 == 0
typedef float4 Vector;
#elif NUMBERS % 2 == 0
typedef float2 Vector;
#else
typedef float Vector;
#endif

#define STEP ((int)(sizeof(Vector) / sizeof(float)))

// A lane's numbers of a row.
struct Part {
    float of[NUMBERS];
};

__device__ __forceinline__ int column(int lane, int i) { return (i / STEP * 32 + lane) * STEP; }

// From global memory, past the first cache: that knows nothing of what other warps have written.
__device__ __forceinline__ Vector read(const float* at) {
#ifdef EMULATED
    return *(const Vector*)at;
#else
    Vector v;
    float* to = (float*)&v;
#if NUMBERS % 4 == 0
    asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3]) : "l"(at) : "memory");
#elif NUMBERS % 2 == 0
    asm volatile("ld.global.cg.v2.f32 {%0, %1}, [%2];" : "=f"(to[0]), "=f"(to[1]) : "l"(at) : "memory");
#else
    asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(to[0]) : "l"(at) : "memory");
#endif
    return v;
#endif
}

__device__ __forceinline__ Part load(const float* row, int lane) {
    Part part;
#pragma unroll
    for (int i = 0; i < NUMBERS; i += STEP) {
        const Vector v = read(row + column(lane, i));
#pragma unroll
        for (int c = 0; c < STEP; ++c) part.of[i + c] = ((const float*)&v)[c];
    }
    return part;
}

// Adds to what a row is by now, whoever has changed it meanwhile.
__device__ __forceinline__ void add(float* row, int lane, const Part& part) {
#pragma unroll
    for (int i = 0; i < NUMBERS; i += STEP) {
        float* at = row + column(lane, i);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && NUMBERS % 4 == 0
        asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};"
                     : : "l"(at), "f"(part.of[i]), "f"(part.of[i + 1]), "f"(part.of[i + 2]),
                         "f"(part.of[i + 3]) : "memory");
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && NUMBERS % 2 == 0
        asm volatile("red.global.add.v2.f32 [%0], {%1, %2};"
                     : : "l"(at), "f"(part.of[i]), "f"(part.of[i + 1]) : "memory");
#else
#pragma unroll
        for (int c = 0; c < STEP; ++c) atomicAdd(at + c, part.of[i + c]);
#endif
    }
}

// To and from shared memory.
__device__ __forceinline__ Part take(const float* row, int lane) {
    Part part;
#pragma unroll
    for (int i = 0; i < NUMBERS; i += STEP) {
        const Vector v = *(const Vector*)(row + column(lane, i));
#pragma unroll
        for (int c = 0; c < STEP; ++c) part.of[i + c] = ((const float*)&v)[c];
    }
    return part;
}

__device__ __forceinline__ void put(float* row, int lane, const Part& part) {
#pragma unroll
    for (int i = 0; i < NUMBERS; i += STEP) {
        Vector v;
#pragma unroll
        for (int c = 0; c < STEP; ++c) ((float*)&v)[c] = part.of[i + c];
        *(Vector*)(row + column(lane, i)) = v;
    }
}

// How far a row has come, times a factor.
__device__ __forceinline__ Part way(const Part& from, const Part& to, float factor) {
    Part part;
#pragma unroll
    for (int i = 0; i < NUMBERS; ++i) part.of[i] = factor * (to.of[i] - from.of[i]);
    return part;
}
