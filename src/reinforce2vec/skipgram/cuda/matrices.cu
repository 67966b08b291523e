// The two matrices before and after training, and how often nodes are visited.

#include "../../_util/cuda/random.cu"

const unsigned long long BEGINNING = 1ull << 61;

// Numbers of [-1/2d, 1/2d): where training begins.
extern "C" __global__ void fill_inputs(
    float* inputs, long long rows, int width, int dimensions, unsigned long long seed
) {
    const long long all = rows * width, stride = (long long)gridDim.x * blockDim.x;
    for (long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x; at < all; at += stride) {
        const int dimension = (int)(at % width);
        float number = 0.0f;
        if (dimension < dimensions) {
            const Stream stream = make_stream(seed ^ BEGINNING, at / width);
            number = (float)((unit(draw(stream, dimension, 0)) - 0.5) / dimensions);
        }
        inputs[at] = number;
    }
}

// Adds to `visits` how often each node stands in some walks.
extern "C" __global__ void count_nodes(const int* nodes, long long size, unsigned long long* visits) {
    const long long stride = (long long)gridDim.x * blockDim.x;
    for (long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x; at < size; at += stride)
        if (nodes[at] >= 0) atomicAdd(visits + nodes[at], 1ull);
}

// Sets `found` if a number of a matrix is not finite.
extern "C" __global__ void find_infinite(const float* matrix, long long size, unsigned* found) {
    const long long stride = (long long)gridDim.x * blockDim.x;
    bool here = false;
    for (long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x; at < size; at += stride)
        here |= !(fabsf(matrix[at]) <= 3.4e38f);
    if (here) *found = 1;
}
