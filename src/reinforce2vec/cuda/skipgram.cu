// Skip-gram with negative sampling, as skipgram/kernels.py has it: a warp trains on one walk.
//
// The rows around the centre stay in shared memory while the window passes over them, so that each
// is read and written once for all the centres it is around; with SLOTS = 0, for wide windows, they
// are read and written for every batch of contexts. Many warps change the same matrices: what a
// warp has moved a row by is added to what the row is by then, so that nothing is lost, but a share
// of it only where so many warps are likely to hold the same row that together they would move it
// too far. `input_alone` and `output_alone` are one over the number of warps that do, and `together`
// the learning rate that they may have together.
//
// Macros: NUMBERS (of a row, for each lane), TARGETS (handled at once, up to 8), CONTEXTS (scored
// at once, CONTEXTS * TARGETS <= 32), SLOTS (rows in shared memory, up to 32), AHEAD (positions
// whose negatives are drawn at once, up to 32), BLOCKS (warps for a multiprocessor to hold),
// SUBSAMPLED (whether `keep` counts).

#ifndef EMULATED
#define SHARED_MEMORY(type, name) extern __shared__ __align__(16) type name[]
#endif

#define ALL 0xffffffffu
#define PLACES 8  // room for the gradients of one context
#define FARTHEST 87.0f  // a score beyond which it is cut off
#define LEAST_RATE 1e-4
#define LONG_AGO -1000000  // a position that no window reaches back to

const unsigned long long BEGINNING = 1ull << 61, TRAINING = 1ull << 63;

// Numbers of [-1/2d, 1/2d): where training begins.
extern "C" __global__ void fill_inputs(
    float* inputs, long long rows, int width, int dimensions, unsigned long long seed
) {
    const long long all = rows * width, stride = (long long)gridDim.x * blockDim.x;
    for (long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x; at < all; at += stride) {
        const int column = (int)(at % width);
        float number = 0.0f;
        if (column < dimensions) {
            const Stream stream = make_stream(seed ^ BEGINNING, at / width);
            number = (float)((unit(draw(stream, column, 0)) - 0.5) / dimensions);
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

// -- one walk -----------------------------------------------------------------------------------

struct Taken {
    int size, tokens;
};

// Leaves out what follows the end of a walk and what subsampling skips; the rest closes up.
__device__ __forceinline__ Taken take_path(
    int* path, int length, const float* keep, Stream stream, int negatives, int lane
) {
    Taken taken = {0, 0};
    for (int begin = 0; begin < length; begin += 32) {
        const int at = begin + lane;
        const int node = at < length ? path[at] : -1;
        const unsigned ended = __ballot_sync(ALL, node < 0);
        const int here = ended ? __ffs(ended) - 1 : 32;
        taken.tokens += here;
#if SUBSAMPLED
        const bool kept = lane < here && unit(draw(stream, at, negatives + 1)) < keep[node];
        const unsigned all = __ballot_sync(ALL, kept);
        if (kept) path[taken.size + __popc(all & ((1u << lane) - 1))] = node;
        taken.size += __popc(all);
        __syncwarp();
#else
        taken.size += here;
#endif
        if (ended) break;
    }
    return taken;
}

// How many contexts of a walk may be trained at once: the fewer, the smaller its circles. No node
// stands in a batch more than twice, unless batches are as small as can be.
__device__ __forceinline__ int batch_for(const int* path, int size, int lane) {
    bool crowded8 = false, crowded4 = false;
    for (int at = 2 + lane; at < size; at += 32) {
        const int node = path[at];
        int seen = 0;
        for (int back = 1; back < 8 && back <= at; ++back) {
            seen += path[at - back] == node;
            if (back < 4) crowded4 |= seen > 1;
        }
        crowded8 |= seen > 1;
    }
    const int most = __any_sync(ALL, crowded4) ? 2 : __any_sync(ALL, crowded8) ? 4 : 8;
    return min(most, CONTEXTS);
}

// Negatives of positions begin, begin + 1, ...: as many for each as `negatives` says.
__device__ __forceinline__ void draw_negatives(
    int* drawn, int begin, int end, const unsigned long long* noise, long long n_nodes,
    Stream stream, int negatives, int lane
) {
    const int all = (end - begin) * negatives;
    for (int i = lane; i < all; i += 32) {
        const unsigned long long bits = draw(stream, begin + i / negatives, i % negatives + 1);
        const unsigned long long cell = __umul64hi(bits, n_nodes);
        const unsigned long long entry = __ldg(noise + cell);
        const bool kept = (bits * (unsigned long long)n_nodes) >> 32 < entry >> 32;
        drawn[i] = (int)(kept ? cell : entry & 0xffffffffull);
    }
    __syncwarp();
}

// The sums of COUNT numbers over all lanes: lane i gets the i-th. Two numbers at a time are folded
// into one, a half of the lanes going on with the first and the others with the second.
template <int COUNT, int HALF = 16>
__device__ __forceinline__ float sum_up(float (&v)[COUNT], int lane) {
    const bool upper = lane & HALF;
#pragma unroll
    for (int i = 0; i < (HALF < COUNT ? HALF : COUNT); ++i) {
        if (i + HALF < (COUNT < 2 * HALF ? COUNT : 2 * HALF)) {
            const float given = upper ? v[i] : v[i + HALF];
            const float own = upper ? v[i + HALF] : v[i];
            v[i] = own + __shfl_xor_sync(ALL, given, HALF);
        } else {
            v[i] += __shfl_xor_sync(ALL, v[i], HALF);
        }
    }
    if constexpr (HALF > 1) return sum_up<COUNT, HALF / 2>(v, lane);
    return v[0];
}

// The share of its way that a row moves.
__device__ __forceinline__ float share(float alone, float most) { return fminf(1.0f, most * alone); }

// -- rows of outputs ----------------------------------------------------------------------------

struct Targets {
    Part row[TARGETS];
    int node[TARGETS];
    float alone[TARGETS];
    unsigned silent;  // bits: those that do not count
};

// Target number 0 of the first group is the centre; then its negatives follow. One that is the
// centre itself does not count, nor do those beyond the last.
__device__ __forceinline__ Targets fetch_targets(
    const float* outputs, const float* alone, int centre, const int* drawn, int group,
    int negatives, int lane
) {
    Targets targets;
    targets.silent = 0;
#pragma unroll
    for (int k = 0; k < TARGETS; ++k) {
        const int number = group * TARGETS + k;
        int node = centre;
        if (number > 0 && number <= negatives) node = drawn[number - 1];
        if (number > 0 && node == centre) targets.silent |= 1u << k;
        targets.node[k] = node;
        targets.alone[k] = __ldg(alone + node);
        targets.row[k] = load(outputs + (long long)node * WIDTH, lane);
    }
    return targets;
}

// -- rows of inputs -----------------------------------------------------------------------------

#if SLOTS

// The rows of the window. Lane i knows slot i: whose row it holds, and where in the walk that node
// stands last; and the slot of the position that is i modulo 32.
struct Window {
    float *now, *before;  // as they are, and as they were read
    int node, last, place;
};

__device__ __forceinline__ void give_back(
    const Window& window, int slot, float* inputs, const float* alone, float most, int lane
) {
    const int node = __shfl_sync(ALL, window.node, slot);
    if (node < 0) return;
    const Part before = take(window.before + slot * WIDTH, lane);
    const Part now = take(window.now + slot * WIDTH, lane);
    add(inputs + (long long)node * WIDTH, lane, way(before, now, share(alone[node], most)));
}

// Takes the row of a position in, which was read already; positions before `oldest` are not needed
// any more.
__device__ __forceinline__ void take_in(
    Window& window, int position, int node, const Part& row, int oldest, float* inputs,
    const float* alone, float most, int lane
) {
    int slot = __ffs(__ballot_sync(ALL, lane < SLOTS && window.node == node)) - 1;
    if (slot < 0) {
        slot = __ffs(__ballot_sync(ALL, lane < SLOTS && window.last < oldest)) - 1;
        give_back(window, slot, inputs, alone, most, lane);
        put(window.now + slot * WIDTH, lane, row);
        put(window.before + slot * WIDTH, lane, row);
        if (lane == slot) window.node = node;
    }
    if (lane == slot) window.last = position;
    if (lane == (position & 31)) window.place = slot;
}

#endif

// -- training -----------------------------------------------------------------------------------

// Trains on walks first, first + 1, ... of `total`; the rate falls with the number. Walk w is
// nodes[begins[w]] to nodes[begins[w + 1] - 1], up to the first -1. Adds losses and pairs to those
// of the part of the training, of `points`, that the walk belongs to. `counters` has the losses of
// all parts, their pairs, the number of tokens and that of walks begun.
extern "C" __global__ void __launch_bounds__(32, BLOCKS) train_walks(
    int* nodes, const long long* begins, unsigned walks, unsigned long long first,
    unsigned long long total, int points, unsigned long long seed, float* inputs, float* outputs,
    const unsigned long long* noise, long long n_nodes, const float* keep,
    const float* input_alone, const float* output_alone, float together, int window, int negatives,
    double rate, unsigned long long* counters
) {
    SHARED_MEMORY(float, shared);
    const int lane = threadIdx.x, groups = negatives / TARGETS + 1;
    double* losses = (double*)counters;
    unsigned long long *pairs = counters + points, *tokens = pairs + points, *begun = tokens + 1;
    float* gradients = shared + 2 * SLOTS * WIDTH;
    int* drawn = (int*)(gradients + CONTEXTS * PLACES);
    const int own_context = lane / TARGETS, own_target = lane % TARGETS;
#if SLOTS
    Window around = {shared, shared + SLOTS * WIDTH, -1, LONG_AGO, 0};
#endif
    for (;;) {
        unsigned w = 0;
        if (lane == 0) w = (unsigned)atomicAdd(begun, 1ull);
        w = __shfl_sync(ALL, w, 0);
        if (w >= walks) break;
        const unsigned long long number = first + w;
        const Stream stream = make_stream(seed ^ TRAINING, number);
        int* path = nodes + begins[w];
        const int length = (int)(begins[w + 1] - begins[w]);
        const Taken taken = take_path(path, length, keep, stream, negatives, lane);
        const int end = taken.size;
        const int batch = batch_for(path, end, lane);
        const double left = 1.0 - (double)number / (double)total;
        const float current = (float)(rate * (left > LEAST_RATE ? left : LEAST_RATE));
        const float most = together / current;  // warps that may move a row all of their way
        float loss = 0.0f;
        unsigned long long own_pairs = 0;
#if SLOTS
        int coming = 0;  // the next position to take in
        Part ahead;
        if (end > 0) ahead = load(inputs + (long long)path[0] * WIDTH, lane);
#endif
        for (int block = 0; block < end; block += AHEAD) {
            const int stop = min(block + AHEAD, end);
            draw_negatives(drawn, block, stop, noise, n_nodes, stream, negatives, lane);
            const int own_reach = 1 + (int)below(draw(stream, block + lane, 0), (unsigned)window);
            Targets next = fetch_targets(
                outputs, output_alone, path[block], drawn, 0, negatives, lane
            );
            for (int centre = block; centre < stop; ++centre) {
                const int reach = __shfl_sync(ALL, own_reach, centre - block);
                const int low = reach < centre ? centre - reach : 0;
                const int high = reach < end - 1 - centre ? centre + reach : end - 1;
                const int count = high - low;
                own_pairs += count;
#if SLOTS
                for (; coming < end && coming <= centre + window; ++coming) {
                    const Part row = ahead;
                    if (coming + 1 < end)
                        ahead = load(inputs + (long long)path[coming + 1] * WIDTH, lane);
                    take_in(
                        around, coming, path[coming], row, centre - window, inputs, input_alone,
                        most, lane
                    );
                }
#endif
                for (int group = 0; group < groups; ++group) {
                    Targets targets = next;
                    if (group + 1 < groups)
                        next = fetch_targets(
                            outputs, output_alone, path[centre],
                            drawn + (centre - block) * negatives, group + 1, negatives, lane
                        );
                    else if (centre + 1 < stop)
                        next = fetch_targets(
                            outputs, output_alone, path[centre + 1],
                            drawn + (centre + 1 - block) * negatives, 0, negatives, lane
                        );
                    Part now[TARGETS];
#pragma unroll
                    for (int k = 0; k < TARGETS; ++k) now[k] = targets.row[k];
                    const bool rises = group == 0 && own_target == 0;
                    const bool counts = lane < CONTEXTS * TARGETS &&
                                        !(targets.silent >> own_target & 1);
                    for (int at = 0; at < count; at += batch) {
                        const int some = min(batch, count - at);
                        float scores[CONTEXTS * TARGETS];
#if SLOTS
                        float* row[CONTEXTS];
#else
                        int node[CONTEXTS];
                        Part x[CONTEXTS];
#endif
#pragma unroll
                        for (int j = 0; j < CONTEXTS; ++j) {
                            int position = low + at + (j < some ? j : 0);
                            position += position >= centre;
#if SLOTS
                            row[j] = around.now +
                                     __shfl_sync(ALL, around.place, position & 31) * WIDTH;
                            const Part context = take(row[j], lane);
#else
                            node[j] = path[position];
                            x[j] = load(inputs + (long long)node[j] * WIDTH, lane);
                            const Part context = x[j];
#endif
#pragma unroll
                            for (int k = 0; k < TARGETS; ++k) {
                                float sum = 0.0f;
#pragma unroll
                                for (int i = 0; i < NUMBERS; ++i)
                                    sum += context.of[i] * now[k].of[i];
                                scores[j * TARGETS + k] = sum;
                            }
                        }
                        const float score = sum_up(scores, lane);
                        float gradient = 0.0f;
                        if (counts && own_context < some) {
                            float z = rises ? -score : score;
                            z = fminf(fmaxf(z, -FARTHEST), FARTHEST) + (score - score);  // NaN stays
                            const float odds = __expf(z);
                            loss += __logf(1.0f + odds);
                            gradient = (rises ? current : -current) * __fdividef(odds, 1.0f + odds);
                        }
                        if (lane < CONTEXTS * TARGETS)
                            gradients[own_context * PLACES + own_target] = gradient;
                        __syncwarp();
#pragma unroll
                        for (int j = 0; j < CONTEXTS; ++j) {
                            if (j >= some) break;
#if SLOTS
                            const Part from = take(row[j], lane);
#else
                            const Part from = x[j];
#endif
                            Part to = from;
#pragma unroll
                            for (int k = 0; k < TARGETS; ++k) {
                                const float g = gradients[j * PLACES + k];
#pragma unroll
                                for (int i = 0; i < NUMBERS; ++i) {
                                    to.of[i] += g * now[k].of[i];
                                    now[k].of[i] += g * from.of[i];
                                }
                            }
#if SLOTS
                            put(row[j], lane, to);
#else
                            add(inputs + (long long)node[j] * WIDTH, lane,
                                way(from, to, share(input_alone[node[j]], most)));
#endif
                        }
                        __syncwarp();
                    }
#pragma unroll
                    for (int k = 0; k < TARGETS; ++k)
                        if (!(targets.silent >> k & 1))
                            add(outputs + (long long)targets.node[k] * WIDTH, lane,
                                way(targets.row[k], now[k], share(targets.alone[k], most)));
                }
            }
        }
#if SLOTS
        for (int slot = 0; slot < SLOTS; ++slot)
            give_back(around, slot, inputs, input_alone, most, lane);
        around.node = -1;
        around.last = LONG_AGO;
#endif
        for (int half = 16; half > 0; half /= 2) loss += __shfl_xor_sync(ALL, loss, half);
        if (lane == 0) {
            const int point = (int)(number * points / total);
            atomicAdd(losses + point, (double)loss);
            atomicAdd(pairs + point, own_pairs);
            atomicAdd(tokens, (unsigned long long)taken.tokens);
        }
    }
}
