// The graph in GPU memory, drawing a neighbour and finding an edge, as in walks/cpu/neighbors.py.
//
// WIDE: there are 2^32 arcs or more. WEIGHTED: arcs have weights. DIRECTED: an edge stands in its
// source's row only.

#include "../../_util/cuda/random.cu"

#ifdef WIDE
typedef unsigned long long Offset;
typedef ulonglong2 PackedRow;
#else
typedef unsigned Offset;
typedef uint2 PackedRow;
#endif

// Where a node's arcs begin, and how many they are.
struct Row {
    Offset begin;
    unsigned degree;
};

struct Graph {
    const PackedRow* rows;
    const int* indices;
    float per_arc;  // 1 / number of arcs
#ifdef WEIGHTED
    const ulonglong2* cells;  // by arc: threshold; then the alias' target, and the arc's own
    const double2* sums;      // by node: sum and largest of its arcs' weights
    const double* weights;    // by arc
#endif
};

#ifdef WEIGHTED
#define GRAPH_PARAMETERS                                                                         \
    const PackedRow *__restrict__ rows, const int *__restrict__ indices, float per_arc,          \
        const ulonglong2 *__restrict__ cells, const double2 *__restrict__ sums,                  \
        const double *__restrict__ weights
#define GRAPH {rows, indices, per_arc, cells, sums, weights}
#else
#define GRAPH_PARAMETERS \
    const PackedRow *__restrict__ rows, const int *__restrict__ indices, float per_arc
#define GRAPH {rows, indices, per_arc}
#endif

__device__ __forceinline__ Row row_of(const Graph& graph, int node) {
    PackedRow row = __ldg(graph.rows + node);
    return {row.x, (unsigned)row.y};
}

// A neighbour drawn by weight: one load.
__device__ __forceinline__ int draw_neighbor(const Graph& graph, Row row, unsigned long long bits) {
    Offset arc = row.begin + below(bits, row.degree);
#ifdef WEIGHTED
    ulonglong2 cell = __ldg(graph.cells + arc);
    bool alias = left_over(bits, row.degree) >= __longlong_as_double((long long)cell.x);
    return (int)(alias ? cell.y : cell.y >> 32);
#else
    return __ldg(graph.indices + arc);
#endif
}

// Sum of the weights of a node's arcs.
__device__ __forceinline__ double row_weight(const Graph& graph, int node, Row row) {
#ifdef WEIGHTED
    return __ldg(graph.sums + node).x;
#else
    return (double)row.degree;
#endif
}

__device__ __forceinline__ double largest_weight(const Graph& graph, int node) {
#ifdef WEIGHTED
    return __ldg(graph.sums + node).y;
#else
    return 1.0;
#endif
}

__device__ __forceinline__ double arc_weight(const Graph& graph, Offset arc) {
#ifdef WEIGHTED
    return __ldg(graph.weights + arc);
#else
    return 1.0;
#endif
}

// Whether there is an edge source -> target, and an arc that carries it. In an undirected graph it
// stands in both rows, with the same weight: the shorter is searched.
//
// Memory comes in pieces of 32 bytes, so eight entries are looked at at once. The first lie behind
// as large a share of the row as of all arcs: there the target would stand if rows were drawn from
// all arcs alike. The next lie beside them, and then farther away, but never beyond the middle of
// what is left.
__device__ __forceinline__ bool find_edge(const Graph& graph, int source, Row row, int target,
                                          Offset& arc) {
    Row other = row_of(graph, target);
    Offset before = other.begin;  // arcs before those of the node to be found
#ifndef DIRECTED
    if (row.degree > other.degree) {
        before = row.begin;
        row = other;
        target = source;
    }
#endif
    if (row.degree == 0) return false;
    Offset end = row.begin + row.degree;
    Offset low = row.begin / 8, high = (end - 1) / 8;  // it stands there or between, if anywhere
    unsigned share = (unsigned)((float)before * graph.per_arc * (float)row.degree);
    Offset piece = (row.begin + min(share, row.degree - 1)) / 8;
    for (Offset reach = 0;; reach = 4 * reach + 2) {
        const int4* entries = (const int4*)(graph.indices + 8 * piece);
        int4 a = __ldg(entries), b = __ldg(entries + 1);
        if (piece > low && target < a.x) {
            high = piece - 1;
            piece = high - min(reach, (high - low) / 2);
        } else if (piece < high && target > b.w) {
            low = piece + 1;
            piece = low + min(reach, (high - low) / 2);
        } else {
            unsigned equal = (a.x == target) | (a.y == target) << 1 | (a.z == target) << 2 |
                             (a.w == target) << 3 | (b.x == target) << 4 | (b.y == target) << 5 |
                             (b.z == target) << 6 | (b.w == target) << 7;
            if (8 * piece < row.begin) equal &= 0xFFu << (row.begin % 8);  // the row before
            if (equal == 0) return false;
            arc = 8 * piece + (__ffs(equal) - 1);
            return arc < end;
        }
    }
}

// How many proposals to try before weighing every neighbour: about what that would cost.
__device__ __forceinline__ unsigned patience(Row row) { return 8 + row.degree / 8; }
