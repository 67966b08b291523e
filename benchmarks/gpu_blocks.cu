// Skip-gram in blocks of nodes: a prototype whose result does not depend on timing.
//
// Nodes are dealt into P blocks. A pair (context, centre) is in bucket (block of the context, block
// of the centre). Thread block i works on buckets (i, i), (i, i + 1), ... modulo P, one after the
// other; it starts on (i, j) when thread block i + 1 has finished (i + 1, j). No other thread block
// reads or writes the rows of a bucket meanwhile, and inside a bucket the order is fixed, so there
// are no atomic operations on floats.
//
// Macros: VEC (numbers of a row for each lane: 2 or 4), NEGATIVES (up to 7), WINDOW (up to 16),
// SHARED_ROWS (whether all rows of two blocks fit into shared memory).
// `random.cu` of the package stands before this text.

#define ALL 0xffffffffu
#define EMPTY 0xffffffffu
#define WIDTH (32 * VEC)
#define BATCH 64
#define WARPS (BATCH / 8)    // of a thread block: each has 8 pairs
#define GROUPS 2             // of a batch: 32 pairs share their negatives
#define ALL_NEGATIVES (GROUPS * NEGATIVES)
#define PLACES 16            // room for the negatives of a batch
#define CHUNKS (WIDTH / 16)  // of a row: a lane has 4 numbers of each
#define STRIDE (WIDTH + 16)  // between rows in shared memory that wait to be summed
#define MANY 8               // pairs with the same row, from which on all warps sum them
#define FARTHEST 87.0f

const unsigned long long TRAINING = 1ull << 63;  // as in the package: the same windows
const unsigned long long DRAWING = 1ull << 60;

// -- pairs ---------------------------------------------------------------------------------------

// The place of each token's node, block << 16 | number in the block; EMPTY after the end of a walk.
extern "C" __global__ void find_places(
    const int* nodes, unsigned tokens, const unsigned* places, unsigned* found
) {
    const unsigned token = blockIdx.x * blockDim.x + threadIdx.x;
    if (token < tokens) found[token] = nodes[token] >= 0 ? __ldg(places + nodes[token]) : EMPTY;
}

#define STEPS (2 * WINDOW)

// The pairs of a token, whose place is *around: buckets[s] and codes[s] at each distance, where the
// bucket is EMPTY if there is no pair.
__device__ __forceinline__ void find_pairs(
    unsigned (&buckets)[STEPS], unsigned (&codes)[STEPS], const unsigned* around, unsigned token,
    bool here, int length, unsigned long long first, int blocks, unsigned long long seed
) {
    const unsigned walk = token / length;
    const int position = (int)(token - walk * length);
    const unsigned centre = here ? *around : EMPTY;
    int reach = 0;
    if (centre != EMPTY)
        reach = 1 + (int)below(
            draw(make_stream(seed ^ TRAINING, first + walk), position, 0), (unsigned)WINDOW
        );
#pragma unroll
    for (int s = 0; s < STEPS; ++s) {
        const int step = s < WINDOW ? s - WINDOW : s - WINDOW + 1, other = position + step;
        const bool pair = abs(step) <= reach && other >= 0 && other < length;
        const unsigned context = pair ? around[step] : EMPTY;
        buckets[s] = context == EMPTY ? EMPTY : (context >> 16) * blocks + (centre >> 16);
        codes[s] = (centre & 0xffff) << 16 | (context & 0xffff);
    }
}

#define TILE_PARAMETERS                                                                 \
    const unsigned *found, unsigned tokens, unsigned tile_tokens, int length,           \
        unsigned long long first, int blocks, unsigned long long seed, unsigned *counts

// Counts the pairs of each bucket, for each tile of tokens: counts[tile][bucket].
extern "C" __global__ void count_pairs(TILE_PARAMETERS) {
    extern __shared__ __align__(16) unsigned own[];
    const int buckets = blocks * blocks;
    for (int b = threadIdx.x; b < buckets; b += blockDim.x) own[b] = 0;
    __syncthreads();
    const unsigned begin = blockIdx.x * tile_tokens, end = min(begin + tile_tokens, tokens);
    // warps share a tile here: sums of integers do not depend on their order
    for (unsigned token = begin + threadIdx.x; token < end; token += blockDim.x) {
        unsigned bucket[STEPS], code[STEPS];
        find_pairs(bucket, code, found + token, token, true, length, first, blocks, seed);
#pragma unroll
        for (int s = 0; s < STEPS; ++s)
            if (bucket[s] != EMPTY) atomicAdd(own + bucket[s], 1u);
    }
    __syncthreads();
    unsigned* row = counts + (size_t)blockIdx.x * buckets;
    for (int b = threadIdx.x; b < buckets; b += blockDim.x) row[b] = own[b];
}

// Turns counts into how many pairs of the bucket earlier tiles have; sums[bucket] is that of all,
// and batches[bucket] how many batches they make.
extern "C" __global__ void add_tiles(
    unsigned* counts, int tiles, int buckets, unsigned* sums, unsigned* batches
) {
    const int bucket = blockIdx.x * blockDim.x + threadIdx.x;
    if (bucket >= buckets) return;
    unsigned sum = 0;
    unsigned* at = counts + bucket;
    int tile = 0;
    for (; tile + 16 <= tiles; tile += 16, at += 16 * (size_t)buckets) {
        unsigned count[16];
#pragma unroll
        for (int t = 0; t < 16; ++t) count[t] = at[t * (size_t)buckets];
#pragma unroll
        for (int t = 0; t < 16; ++t) {
            at[t * (size_t)buckets] = sum;
            sum += count[t];
        }
    }
    for (; tile < tiles; ++tile, at += buckets) {
        const unsigned count = *at;
        *at = sum;
        sum += count;
    }
    sums[bucket] = sum;
    batches[bucket] = (sum + BATCH - 1) / BATCH;
}

// Writes the pairs of each bucket side by side, in the order in which a single warp meets them. A
// bucket begins at a full batch: ends[bucket] is its end, in batches.
extern "C" __global__ void place_pairs(TILE_PARAMETERS, const unsigned* ends, unsigned* pairs) {
    extern __shared__ __align__(16) unsigned next[];
    const int buckets = blocks * blocks, lane = threadIdx.x;
    const unsigned* row = counts + (size_t)blockIdx.x * buckets;
#pragma unroll 8
    for (int b = lane; b < buckets; b += 32) next[b] = row[b] + (b > 0 ? BATCH * ends[b - 1] : 0);
    __syncwarp();
    const unsigned begin = blockIdx.x * tile_tokens, end = min(begin + tile_tokens, tokens);
    // the places of 64 tokens, from 16 before the first centre on; the next ones are on their way
    __shared__ unsigned around[64];
    auto fetch = [&](unsigned at) { return at < tokens ? __ldg(found + at) : EMPTY; };
    unsigned one = fetch(begin + lane - 16), two = fetch(begin + lane + 16);
    for (unsigned base = begin; base < end; base += 32) {
        unsigned bucket[STEPS], code[STEPS], same[STEPS];
        const unsigned token = base + lane;
        __syncwarp();
        around[lane] = one;
        around[lane + 32] = two;
        __syncwarp();
        one = two;
        two = fetch(base + 32 + lane + 16);
        const unsigned* own = around + 16 + lane;
        find_pairs(bucket, code, own, token, token < end, length, first, blocks, seed);
// Lanes whose centres are in the same block may have the same bucket; the others cannot.
        const unsigned centre = token < end ? *own >> 16 : EMPTY;
        unsigned others = __match_any_sync(ALL, centre) & ~(1u << lane);
        const int rounds = __reduce_max_sync(ALL, centre < (unsigned)blocks ? __popc(others) : 0);
#pragma unroll
        for (int s = 0; s < STEPS; ++s) same[s] = 1u << lane;
        for (int round = 0; round < rounds; ++round, others &= others - 1) {
            const int other = others ? __ffs(others) - 1 : lane;
#pragma unroll
            for (int s = 0; s < STEPS; ++s)
                if (__shfl_sync(ALL, bucket[s], other) == bucket[s]) same[s] |= 1u << other;
        }
#pragma unroll
        for (int s = 0; s < STEPS; ++s) {
            const unsigned before = __popc(same[s] & ((1u << lane) - 1));
            unsigned at = 0;
            if (bucket[s] != EMPTY) at = next[bucket[s]] + before;
            __syncwarp();
            if (bucket[s] != EMPTY && before == 0) next[bucket[s]] = at + __popc(same[s]);
            __syncwarp();
            if (bucket[s] != EMPTY) pairs[at] = code[s];
        }
    }
}

typedef unsigned long long Set;  // pairs of a batch, as bits

// For each pair of a batch, which pairs of the batch have the same context and the same centre, and
// which negatives of the batch are its centre (`hits`); and the negatives: the node, and from bit
// 16 on which are the same node. Rows that several pairs move are tasks, numbered from 1. Bits 16
// to 23 of hits[pair] are the task of its context if it is the first with it, bits 24 to 31 that of
// its centre. tasks[batch] has those of the negatives and, last, the number of all and, from bit 16
// on, of those with many pairs, which come first. A warp does this for a bucket. It fills up the
// last batch.
#define OWN_TASK 16
#define OWN_TASK_OUT 24
extern "C" __global__ void __launch_bounds__(256, 4) prepare_batches(
    unsigned* pairs, const unsigned* sums, const unsigned* ends, int blocks, const int* begins,
    const unsigned long long* noise, unsigned long long seed, unsigned long long pass,
    Set* same_contexts, Set* same_centres, unsigned* hits, int* negatives, int* tasks
) {
    const int lane = threadIdx.x & 31, buckets = blocks * blocks;
    const int bucket = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (bucket >= buckets) return;
    const int j = bucket % blocks, size = begins[j + 1] - begins[j];
    const Stream stream = make_stream(seed ^ DRAWING, pass * buckets + (unsigned long long)bucket);
    const unsigned begin = bucket > 0 ? ends[bucket - 1] : 0, end = ends[bucket];
    const unsigned last = BATCH * begin + sums[bucket];
    for (unsigned batch = begin; batch < end; ++batch) {
        const unsigned at = batch * BATCH + lane, then = at + 32;
        const unsigned code = at < last ? pairs[at] : EMPTY;  // 0xffff is no node's number
        const unsigned next = then < last ? pairs[then] : EMPTY;
        if (at >= last) pairs[at] = EMPTY;
        if (then >= last) pairs[then] = EMPTY;
        unsigned context[4] = {0, 0, 0, 0}, centre[4] = {0, 0, 0, 0};
#pragma unroll 8
        for (int other = 0; other < 32; ++other) {
            const unsigned one = __shfl_sync(ALL, code, other), two = __shfl_sync(ALL, next, other);
            const unsigned bit = 1u << other;
            if (!((code ^ one) & 0xffff)) context[0] |= bit;
            if (!((code ^ two) & 0xffff)) context[1] |= bit;
            if (!((next ^ one) & 0xffff)) context[2] |= bit;
            if (!((next ^ two) & 0xffff)) context[3] |= bit;
            if (!((code ^ one) & 0xffff0000u)) centre[0] |= bit;
            if (!((code ^ two) & 0xffff0000u)) centre[1] |= bit;
            if (!((next ^ one) & 0xffff0000u)) centre[2] |= bit;
            if (!((next ^ two) & 0xffff0000u)) centre[3] |= bit;
        }
        same_contexts[at] = (Set)context[1] << 32 | context[0];
        same_contexts[then] = (Set)context[3] << 32 | context[2];
        same_centres[at] = (Set)centre[1] << 32 | centre[0];
        same_centres[then] = (Set)centre[3] << 32 | centre[2];
        int drawn = -1;
        if (lane < ALL_NEGATIVES) {
            const unsigned long long bits = draw(stream, batch - begin, lane);
            const unsigned long long cell = __umul64hi(bits, size);
            const unsigned long long entry = __ldg(noise + begins[j] + cell);
            const bool kept = (bits * (unsigned long long)size) >> 32 < entry >> 32;
            drawn = (int)(kept ? cell : entry & 0xffffffffull);
        }
        unsigned hit = 0, hit_next = 0;
        int about = drawn;
        bool free = lane < ALL_NEGATIVES;  // no centre of the batch, and the first of its kind
#pragma unroll
        for (int k = 0; k < ALL_NEGATIVES; ++k) {
            const int node = __shfl_sync(ALL, drawn, k);
            if ((int)(code >> 16) == node) hit |= 1u << k;
            if ((int)(next >> 16) == node) hit_next |= 1u << k;
            const bool is = (int)(code >> 16) == node || (int)(next >> 16) == node;
            const bool taken = __any_sync(ALL, is);
            if (drawn == node) {
                about |= 1 << (16 + k);
                if (taken || k < lane) free = false;
            }
        }
        int count = 0;
        const unsigned below_lane = (1u << lane) - 1;
        auto number = [&](bool task) {
            const unsigned all = __ballot_sync(ALL, task);
            const int own = task ? 1 + count + __popc(all & below_lane) : 0;
            count += __popc(all);
            return own;
        };
        const bool here = code != EMPTY, here_next = next != EMPTY;
        const int repeats = __popc(context[0]) + __popc(context[1]);
        const int repeats_next = __popc(context[2]) + __popc(context[3]);
        const int repeats_out = __popc(centre[0]) + __popc(centre[1]) + (hit ? 1 : 0);
        const int repeats_out_next = __popc(centre[2]) + __popc(centre[3]) + (hit_next ? 1 : 0);
        int large = 0;  // tasks, which come first
#pragma unroll
        for (int pass = 0; pass < 2; ++pass) {
            const bool many = pass == 0;
            bool is = here && repeats > 1 && !(context[0] & below_lane);
            hit |= (unsigned)number(is && (repeats > MANY) == many) << OWN_TASK;
            is = here_next && repeats_next > 1 && !context[2] && !(context[3] & below_lane);
            hit_next |= (unsigned)number(is && (repeats_next > MANY) == many) << OWN_TASK;
            is = here && repeats_out > 1 && !(centre[0] & below_lane);
            hit |= (unsigned)number(is && (repeats_out > MANY) == many) << OWN_TASK_OUT;
            is = here_next && repeats_out_next > 1 && !centre[2] && !(centre[3] & below_lane);
            hit_next |= (unsigned)number(is && (repeats_out_next > MANY) == many) << OWN_TASK_OUT;
            if (many) large = count;
        }
        const int task = number(free);
        if (lane < ALL_NEGATIVES) {
            negatives[batch * PLACES + lane] = about;
            tasks[batch * PLACES + lane] = task;
        }
        if (lane == PLACES - 1) tasks[batch * PLACES + lane] = large << 16 | count;
        hits[at] = here ? hit : EMPTY;
        hits[then] = here_next ? hit_next : EMPTY;
    }
}

// -- training ------------------------------------------------------------------------------------

struct __align__(4 * VEC) Part {
    float of[VEC];
};

__device__ __forceinline__ Part take(const float* row, int lane) {
    return ((const Part*)row)[lane];
}
__device__ __forceinline__ void put(float* row, int lane, const Part& p) { ((Part*)row)[lane] = p; }

// The logistic function.
__device__ __forceinline__ float squash(float score) {
    const float z = fminf(fmaxf(score, -FARTHEST), FARTHEST) + (score - score);  // NaN stays NaN
    return __fdividef(1.0f, 1.0f + __expf(-z));
}

// Two numbers, rounded to 11 bits, as one register; the first is in the lower half.
__device__ __forceinline__ unsigned pack(float first, float second) {
    unsigned both;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
    return both;
}

// Tensor cores. With r = lane / 4 and t = lane % 4, a lane has numbers 2 t and 2 t + 1 of row r of
// a matrix of 8 x 8. `turn` transposes such a matrix.
__device__ __forceinline__ unsigned turn(unsigned part) {
    unsigned turned;
    asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(turned) : "r"(part));
    return turned;
}

// c += a b, for 16 x 16 numbers a (of rows r and r + 8) and 16 x 8 numbers b (of column r).
__device__ __forceinline__ void multiply(
    float (&c)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1
) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// c += a b, for 8 x 8 numbers each.
__device__ __forceinline__ void multiply(float& c0, float& c1, unsigned a, unsigned b) {
    float c2 = 0.0f, c3 = 0.0f;
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3) : "r"(a), "r"(0u), "r"(b));
}

__device__ __forceinline__ unsigned read_turn(const unsigned* at) {
    unsigned turn;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(turn) : "l"(at) : "memory");
    return turn;
}

__device__ __forceinline__ void write_turn(unsigned* at, unsigned turn) {
    asm volatile("st.release.gpu.global.u32 [%0], %1;" : : "l"(at), "r"(turn) : "memory");
}

// Copies rows between global and shared memory, with all threads.
__device__ __forceinline__ void copy_rows(float* to, const float* from, int rows) {
    float4* target = (float4*)to;
    const float4* source = (const float4*)from;
#pragma unroll 8
    for (int at = threadIdx.x; at < rows * (WIDTH / 4); at += 32 * WARPS) target[at] = source[at];
}

// A block's rows.
struct Rows {
    float *shared, *global;
    __device__ __forceinline__ float* operator()(int number) const {
#if SHARED_ROWS
        return shared + number * WIDTH;
#else
        return global + (size_t)number * WIDTH;
#endif
    }
    // Brings a quarter of a row to the second cache.
    __device__ __forceinline__ void expect(int number, int quarter) const {
#if !SHARED_ROWS
        if (quarter * 32 < WIDTH)
            asm volatile("prefetch.global.L2 [%0];"
                         : : "l"(global + (size_t)number * WIDTH + quarter * 32));
#endif
    }
};

// Adds the rows of a set of pairs, in ascending order.
__device__ __forceinline__ Part add_rows(Set set, const float* rows, int lane) {
    Part sum;
#pragma unroll
    for (int e = 0; e < VEC; ++e) sum.of[e] = 0.0f;
    while (set) {
        Part row[4];
        bool some[4];
#pragma unroll
        for (int u = 0; u < 4; ++u) {
            some[u] = set != 0;
            if (some[u]) row[u] = take(rows + (__ffsll(set) - 1) * STRIDE, lane);
            set &= set - 1;
        }
#pragma unroll
        for (int u = 0; u < 4; ++u)
            if (some[u]) {
#pragma unroll
                for (int e = 0; e < VEC; ++e) sum.of[e] += row[u].of[e];
            }
    }
    return sum;
}

// Adds how far the warps of its group move a negative, in their order.
__device__ __forceinline__ void add_parts(Part& sum, const float* parts, int negative, int lane) {
    const int group = negative / NEGATIVES, k = negative - group * NEGATIVES;
    parts += (group * (WARPS / GROUPS) * NEGATIVES + k) * WIDTH;
    Part part[WARPS / GROUPS];
#pragma unroll
    for (int w = 0; w < WARPS / GROUPS; ++w) part[w] = take(parts + w * NEGATIVES * WIDTH, lane);
#pragma unroll
    for (int w = 0; w < WARPS / GROUPS; ++w)
#pragma unroll
        for (int e = 0; e < VEC; ++e) sum.of[e] += part[w].of[e];
}

__device__ __forceinline__ void move(float* row, int lane, const Part& from, const Part& by) {
    Part to;
#pragma unroll
    for (int e = 0; e < VEC; ++e) to.of[e] = from.of[e] + by.of[e];
    put(row, lane, to);
}

// A lane's numbers of the rows that a warp works on, 8 at a time: row lane / 4, and of every 16
// numbers those from 4 * (lane % 4) on. In rows of odd number, 16 numbers and the next 16 change
// places, so that fewer rows collide in the banks of shared memory.
struct Place {
    float *even, *odd;
    __device__ __forceinline__ Place(float* row, int number, int lane) {
        const int turned = 16 * (number & 1), at = 4 * (lane & 3);
        even = row + at + turned;
        odd = row + at - turned;
    }
    __device__ __forceinline__ float4& operator[](int chunk) const {
        return *(float4*)((chunk & 1 ? odd : even) + 16 * chunk);
    }
};

// What a lane knows of a batch: of pair lane / 4 of its warp, and of negatives.
struct Batch {
    unsigned code, hits;
    Set same_context, same_centre;
    int about, task, tasks;  // negative number `lane` and its task, and the number of all tasks
    int negative;            // number lane / 4 of the group
};

// A row that several pairs move.
struct __align__(16) Task {
    Set pairs;           // with it
    unsigned negatives;  // that are it
    int row;             // its number; from OUT on those of centres
};
#define OUT (1 << 16)

// Moves a row that many pairs move: each warp does it for some columns. Lanes with the same columns
// add every SUBSETS-th pair, and then what they have.
__device__ __forceinline__ void sum_slice(
    float* moved, const Task& todo, const float* rows, const float* parts, float most, int warp,
    int lane
) {
    constexpr int QUADS = WIDTH / WARPS / 4, SUBSETS = 32 / QUADS;
    const int subset = lane / QUADS, at = warp * (WIDTH / WARPS) + lane % QUADS * 4;
    float4 row[BATCH / SUBSETS];
#pragma unroll
    for (int step = 0; step < BATCH / SUBSETS; ++step) {
        const int p = step * SUBSETS + subset;
        row[step] = {0.0f, 0.0f, 0.0f, 0.0f};
        if (todo.pairs >> p & 1) row[step] = *(const float4*)(rows + p * STRIDE + at);
    }
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
    for (int step = 0; step < BATCH / SUBSETS; ++step) {
        sum[0] += row[step].x;
        sum[1] += row[step].y;
        sum[2] += row[step].z;
        sum[3] += row[step].w;
    }
    const float share = fminf(1.0f, __fdividef(most, __popcll(todo.pairs)));
#pragma unroll
    for (int c = 0; c < 4; ++c) sum[c] *= share;
    for (unsigned left = todo.negatives; left; left &= left - 1) {
        const int negative = __ffs(left) - 1, group = negative / NEGATIVES;
        if (subset < WARPS / GROUPS) {
            const int part = (group * (WARPS / GROUPS) + subset) * NEGATIVES + negative % NEGATIVES;
            const float4 by = *(const float4*)(parts + part * WIDTH + at);
            sum[0] += by.x;
            sum[1] += by.y;
            sum[2] += by.z;
            sum[3] += by.w;
        }
    }
#pragma unroll
    for (int half = 16; half >= QUADS; half /= 2)
#pragma unroll
        for (int c = 0; c < 4; ++c) sum[c] += __shfl_xor_sync(ALL, sum[c], half);
    if (subset == 0) {
        float4 to = *(const float4*)(moved + at);
        to.x += sum[0];
        to.y += sum[1];
        to.z += sum[2];
        to.w += sum[3];
        *(float4*)(moved + at) = to;
    }
}

// Trains on the pairs of a pass. Batches of bucket b are number ends[b - 1] to ends[b] - 1, rows of
// block i are begins[i] to begins[i + 1] - 1. All gradients of a batch are found before a row moves
// that several pairs need. A row that occurs `count` times in a batch moves by at most `most` /
// count of each update. turns[j] is how many buckets (., j) are done in this pass.
extern "C" __global__ void __launch_bounds__(32 * WARPS, 1) train_pass(
    const unsigned* __restrict__ pairs, const Set* __restrict__ same_contexts,
    const Set* __restrict__ same_centres, const unsigned* __restrict__ hits,
    const int* __restrict__ negatives, const int* __restrict__ tasks,
    const unsigned* __restrict__ ends, const int* __restrict__ begins, float* inputs,
    float* outputs, int largest, float rate, float most, unsigned* turns, long long* clocks
) {
    extern __shared__ __align__(16) float shared[];
    const int i = blockIdx.x, blocks = gridDim.x, lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    const int r = lane / 4, t = lane % 4, own = 8 * warp + r, group = warp / (WARPS / GROUPS);
    float* xs = shared;                  // how far pairs move their contexts, where these repeat
    float* ys = xs + BATCH * STRIDE;     // and their centres
    float* parts = ys + BATCH * STRIDE;  // how far each warp moves each negative
    Task* listed = (Task*)(parts + WARPS * NEGATIVES * WIDTH);
    float* rows = (float*)(listed + 2 * BATCH + PLACES);
    const int size_i = begins[i + 1] - begins[i];
    const Rows contexts = {rows, inputs + (size_t)begins[i] * WIDTH};
    if (SHARED_ROWS) copy_rows(contexts.shared, contexts.global, size_i);
    const long long began = clock64();
    long long waited = 0;
    for (int round = 0; round < blocks; ++round) {
        const int j = i + round < blocks ? i + round : i + round - blocks;
        const int bucket = i * blocks + j;
        const unsigned begin = bucket > 0 ? __ldg(ends + bucket - 1) : 0;
        const unsigned end = __ldg(ends + bucket);
        const int size_j = begins[j + 1] - begins[j];
        auto fetch = [&](unsigned batch) {
            Batch fetched = {EMPTY, EMPTY, 0, 0, 0, 0, 0, 0};
            if (batch < end) {
                const unsigned at = batch * BATCH + own;
                fetched.code = __ldg(pairs + at);
                fetched.hits = __ldg(hits + at);
                fetched.same_context = __ldg(same_contexts + at);
                fetched.same_centre = __ldg(same_centres + at);
                const int* drawn = negatives + batch * PLACES;
                fetched.tasks = __ldg(tasks + batch * PLACES + PLACES - 1);
                if (warp == WARPS - 1 && lane < ALL_NEGATIVES) {
                    fetched.about = __ldg(drawn + lane);
                    fetched.task = __ldg(tasks + batch * PLACES + lane);
                }
                if (r < NEGATIVES) fetched.negative = __ldg(drawn + group * NEGATIVES + r) & 0xffff;
            }
            return fetched;
        };
        Batch now = fetch(begin);
        if (threadIdx.x == 0) {
            const long long arrived = clock64();
            while (read_turn(turns + j) < (unsigned)round) {}
            waited += clock64() - arrived;
        }
        __syncthreads();
        const Rows centres = {rows + largest * WIDTH, outputs + (size_t)begins[j] * WIDTH};
        if (SHARED_ROWS) {
            if (begin < end) copy_rows(centres.shared, centres.global, size_j);
            __syncthreads();
        }
        for (unsigned batch = begin; batch < end; ++batch) {
            const Batch next = fetch(batch + 1);
            const bool here = now.code != EMPTY;
            const int context = here ? now.code & 0xffff : 0, centre = here ? now.code >> 16 : 0;
            const bool alone = __popcll(now.same_context) == 1;
            const bool alone_out = __popcll(now.same_centre) == 1 && !(now.hits & 0xffff);
            float *row = contexts(context), *row_out = centres(centre);
            float4 x[CHUNKS], y[CHUNKS];
            unsigned halves[CHUNKS][2], aims[CHUNKS][2];  // of contexts, and of negatives
            float scores[4] = {0.0f, 0.0f, 0.0f, 0.0f}, more[4] = {0.0f, 0.0f, 0.0f, 0.0f};
            if (t == 0 && here) {
                const int task = now.hits >> OWN_TASK & 0xff, task_out = now.hits >> OWN_TASK_OUT;
                if (task) listed[task - 1] = {now.same_context, 0, context};
                if (task_out)
                    listed[task_out - 1] = {now.same_centre, now.hits & 0xffff, centre + OUT};
            }
            if (now.task) {
                const unsigned set = (unsigned)now.about >> 16;
                listed[now.task - 1] = {0, set, (now.about & 0xffff) + OUT};
            }
            {
                const Place from(row, context, lane), from_out(row_out, centre, lane);
                const Place aim(centres(now.negative), now.negative, lane);
#pragma unroll
                for (int s = 0; s < CHUNKS; ++s) {
                    x[s] = from[s];
                    y[s] = from_out[s];
                    const float4 n = aim[s];  // rows NEGATIVES to 7 are not used
                    halves[s][0] = pack(x[s].x, x[s].y);
                    halves[s][1] = pack(x[s].z, x[s].w);
                    aims[s][0] = pack(n.x, n.y);
                    aims[s][1] = pack(n.z, n.w);
                    multiply(
                        s & 1 ? more : scores, pack(y[s].x, y[s].y), aims[s][0],
                        pack(y[s].z, y[s].w), aims[s][1], halves[s][0], halves[s][1]
                    );
                }
            }
#pragma unroll
            for (int n = 0; n < 4; ++n) scores[n] += more[n];
            // Of negative r and contexts 2 t, 2 t + 1: the gradient over the rate.
            float pulls[2];
#pragma unroll
            for (int n = 0; n < 2; ++n) {
                const unsigned silent = __shfl_sync(ALL, now.hits, 4 * (2 * t + n));
                pulls[n] = 0.0f;
                if (r < NEGATIVES && !(silent >> (group * NEGATIVES + r) & 1))
                    pulls[n] = -squash(scores[2 + n]);
            }
            // Of centre r and context r, which lane 4 r + r / 2 has.
            const float even = __shfl_sync(ALL, scores[0], 4 * r + r / 2);
            const float odd = __shfl_sync(ALL, scores[1], 4 * r + r / 2);
            const float lift = here ? squash(r & 1 ? -odd : -even) : 0.0f;
            const unsigned of_negatives = pack(pulls[0], pulls[1]);
            const unsigned of_contexts = turn(of_negatives);
            {
#if SHARED_ROWS
                const Place to(alone ? row : xs + own * STRIDE, context, lane);
                const Place to_out(alone_out ? row_out : ys + own * STRIDE, centre, lane);
#else
                const Place to(row, context, lane), later(xs + own * STRIDE, context, lane);
                const Place to_out(row_out, centre, lane);
                const Place later_out(ys + own * STRIDE, centre, lane);
#endif
                const float lifted = rate * lift;
#pragma unroll
                for (int s = 0; s < CHUNKS; ++s) {
                    float4 by, by_out;
                    by.x = lift * y[s].x;
                    by.y = lift * y[s].y;
                    by.z = lift * y[s].z;
                    by.w = lift * y[s].w;
                    multiply(by.x, by.y, of_contexts, turn(aims[s][0]));
                    multiply(by.z, by.w, of_contexts, turn(aims[s][1]));
                    by.x = rate * by.x + (alone ? x[s].x : 0.0f);
                    by.y = rate * by.y + (alone ? x[s].y : 0.0f);
                    by.z = rate * by.z + (alone ? x[s].z : 0.0f);
                    by.w = rate * by.w + (alone ? x[s].w : 0.0f);
                    by_out.x = lifted * x[s].x + (alone_out ? y[s].x : 0.0f);
                    by_out.y = lifted * x[s].y + (alone_out ? y[s].y : 0.0f);
                    by_out.z = lifted * x[s].z + (alone_out ? y[s].z : 0.0f);
                    by_out.w = lifted * x[s].w + (alone_out ? y[s].w : 0.0f);
                    // nobody else reads a row that occurs once
#if SHARED_ROWS
                    if (here) to[s] = by;
                    if (here) to_out[s] = by_out;
#else
                    if (here && alone) to[s] = by;
                    if (here && !alone) later[s] = by;
                    if (here && alone_out) to_out[s] = by_out;
                    if (here && !alone_out) later_out[s] = by_out;
#endif
                }
            }
            {
                const Place part(
                    parts + (warp * NEGATIVES + (r < NEGATIVES ? r : 0)) * WIDTH, now.negative, lane
                );
#pragma unroll
                for (int s = 0; s < CHUNKS; ++s) {
                    float4 by = {0.0f, 0.0f, 0.0f, 0.0f};
                    multiply(by.x, by.y, of_negatives, turn(halves[s][0]));
                    multiply(by.z, by.w, of_negatives, turn(halves[s][1]));
                    by.x *= rate;
                    by.y *= rate;
                    by.z *= rate;
                    by.w *= rate;
                    if (r < NEGATIVES) part[s] = by;
                }
            }
            if (next.code != EMPTY) {
                contexts.expect(next.code & 0xffff, t);
                centres.expect(next.code >> 16, t);
            }
            __syncthreads();
            const int large = now.tasks >> 16, all = now.tasks & 0xffff;
            for (int task = 0; task < large; ++task) {
                const Task todo = listed[task];
                const bool out = todo.row >= OUT;
                float* moved = out ? centres(todo.row - OUT) : contexts(todo.row);
                sum_slice(moved, todo, out ? ys : xs, parts, most, warp, lane);
            }
            for (int task = large + warp; task < all; task += WARPS) {
                const Task todo = listed[task];
                const bool out = todo.row >= OUT;
                float* moved = out ? centres(todo.row - OUT) : contexts(todo.row);
                const Part from = take(moved, lane);
                Part sum = add_rows(todo.pairs, out ? ys : xs, lane);
                const float share = fminf(1.0f, __fdividef(most, __popcll(todo.pairs)));
#pragma unroll
                for (int e = 0; e < VEC; ++e) sum.of[e] *= share;
                for (unsigned left = todo.negatives; left; left &= left - 1)
                    add_parts(sum, parts, __ffs(left) - 1, lane);
                move(moved, lane, from, sum);
            }
            now = next;
            __syncthreads();
        }
        if (SHARED_ROWS && begin < end) copy_rows(centres.global, centres.shared, size_j);
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            write_turn(turns + j, (unsigned)round + 1);
        }
    }
    if (SHARED_ROWS) copy_rows(contexts.global, contexts.shared, size_i);
    if (threadIdx.x == 0) {
        clocks[2 * i] += clock64() - began;
        clocks[2 * i + 1] += waited;
    }
}
