// Vectors mixed with those of the neighbours, which smoothing does over and over.

#define WARPS_OF_BLOCK (THREADS / 32)

// The sum over some neighbours' values in a column, by weight: arcs first, first + stride, ...
__device__ __forceinline__ double neighbour_sum(
    const int* __restrict__ indices, const double* __restrict__ weights,
    const double* __restrict__ column, int width, long long first, long long last, int stride) {
    double sum = 0;
#pragma unroll 8
    for (long long arc = first; arc < last; arc += stride) {
        double value = column[(long long)indices[arc] * width];
        sum += WEIGHTED ? weights[arc] * value : value;
    }
    return sum;
}

// out = own * values + near * (sum of the neighbours' values), for every node. Lanes are columns,
// of which there are up to 32. A row of up to LONG arcs is the work of a warp; the first blocks
// take one of the longer rows each. Sums are always made in the same order.
extern "C" __global__ void __launch_bounds__(THREADS) mix_neighbours(
    const long long* __restrict__ indptr, const int* __restrict__ indices,
    const double* __restrict__ weights, const int* __restrict__ long_rows, int n_long, int n_rows,
    const double* __restrict__ values, int width, const double* __restrict__ near,
    const double* __restrict__ own, double* __restrict__ out) {
    __shared__ double parts[WARPS_OF_BLOCK][32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, block = blockIdx.x;
    bool whole_block = block < n_long;
    int row = whole_block ? long_rows[block] : (block - n_long) * WARPS_OF_BLOCK + warp;
    if (row >= n_rows) return;
    long long first = indptr[row], last = indptr[row + 1];
    if (!whole_block && last - first > LONG) return;
    const double* column = values + min(lane, width - 1);
    double sum;
    if (whole_block) {
        parts[warp][lane] = neighbour_sum(
            indices, weights, column, width, first + warp, last, WARPS_OF_BLOCK);
        __syncthreads();
        if (warp > 0) return;
        sum = 0;
        for (int i = 0; i < WARPS_OF_BLOCK; i++) sum += parts[i][lane];
    } else {
        sum = neighbour_sum(indices, weights, column, width, first, last, 1);
    }
    long long place = (long long)row * width + lane;
    if (lane < width) out[place] = own[row] * values[place] + near[row] * sum;
}
