// What a walk remembers: its nodes, ordered by how often it has been there, in the
// same order as in walks/cpu/memory.py.
//
// PLACE_BYTES: what it takes to count the nodes of a walk. Entry e of all threads lies side by
// side.

#include "filter.cu"

#if PLACE_BYTES == 2
typedef unsigned short Place;
#else
typedef unsigned Place;
#endif

struct Memory {
    int* nodes;       // the distinct nodes, most visited first
    Place* counts;    // their visits
    Place* at_least;  // how many were visited so often or more
    Place* cells;     // hash table: 0 if empty, else a node's place + 1
    unsigned long long stride;
    unsigned last;  // number of the last cell
    int length, distinct;
    Filter filter;

    __device__ __forceinline__ Memory(int* nodes, Place* places, unsigned n_cells, int most,
                                      int length)
        : stride((unsigned long long)gridDim.x * blockDim.x), last(n_cells - 1), length(length),
          distinct(0) {
        unsigned long long thread = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
        this->nodes = nodes + thread;
        counts = places + thread;
        at_least = counts + most * stride;
        cells = at_least + (length + 2) * stride;
    }

    __device__ __forceinline__ void forget() {
        for (int i = 0; i < length + 2; i++) at_least[i * stride] = 0;
        for (unsigned i = 0; i <= last; i++) cells[i * stride] = 0;
        distinct = 0;
        filter.clear();
    }

    __device__ __forceinline__ int node_at(int place) const { return nodes[place * stride]; }

    __device__ __forceinline__ int count_at(int place) const { return counts[place * stride]; }

    // Where the block of nodes ends that were visited as often as the one at a place.
    __device__ __forceinline__ int block_end(int place) const {
        return at_least[count_at(place) * stride];
    }

    // Number of a node's cell, or of the empty cell where it belongs, and its place or -1.
    __device__ __forceinline__ unsigned find_cell(int node, int& place) const {
        unsigned cell = (unsigned)(((unsigned)node * 0x9E3779B97F4A7C15ull) >> 32) & last;
        for (;; cell = (cell + 1) & last) {
            place = (int)cells[cell * stride] - 1;
            if (place < 0 || nodes[place * stride] == node) return cell;
        }
    }

    __device__ __forceinline__ int visits(int node) const {
        if (filter.surely_new(node)) return 0;
        int place;
        find_cell(node, place);
        return place < 0 ? 0 : count_at(place);
    }

    // Count one more visit to a node.
    __device__ __forceinline__ void remember(int node) {
        int place, count = 0, front = distinct;
        unsigned cell = find_cell(node, place);
        if (place < 0) {
            distinct++;
            filter.add(node);
        } else {
            count = count_at(place);
            front = at_least[(count + 1) * stride];
            if (front != place) {  // change places with the first node of the block
                int other = nodes[front * stride], other_place;
                unsigned other_cell = find_cell(other, other_place);
                nodes[place * stride] = other;
                cells[other_cell * stride] = (Place)(place + 1);
            }
        }
        nodes[front * stride] = node;
        counts[front * stride] = (Place)(count + 1);
        cells[cell * stride] = (Place)(front + 1);
        at_least[(count + 1) * stride] = (Place)(front + 1);
    }
};
