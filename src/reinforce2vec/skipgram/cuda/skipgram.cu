// Skip-gram with negative sampling, as in skipgram/cpu/kernels.py: a warp trains on one walk.
//
// The rows around the centre stay in shared memory while the window passes over them, so that each
// is read and written once for all the centres it is around; with SLOTS = 0, where they do not fit,
// they are read and written for every batch of contexts. Many warps change the same matrices: what a
// warp has moved a row by is added to what the row is by then, so that nothing is lost, but a share
// of it only where so many warps are likely to hold the same row that together they would move it
// too far. `input_alone` and `output_alone` are one over the number of warps that do, and `together`
// the learning rate that they may have together.

#include "../../_util/cuda/random.cu"
#include "warp.cu"
#include "rows.cu"
#include "matrices.cu"
#include "path.cu"
#include "targets.cu"
#include "window.cu"
#include "gradients.cu"

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
    const int lane = threadIdx.x, own_context = lane / SPREAD;
    double* losses = (double*)counters;
    unsigned long long *pairs = counters + points, *tokens = pairs + points, *begun = tokens + 1;
    float* aims = shared + SLOTS * (2 * WIDTH + PAD);
    float* gradients = aims + TENSOR * TARGETS * (WIDTH + PAD);
    int* drawn = (int*)(gradients + CONTEXTS * PLACES);
#if SLOTS
    Window around = empty_window(shared);
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
        int entering = 0;  // the next position to take in
        Coming coming;
        if (end > 0) coming = fetch_context(inputs, input_alone, path[0], lane);
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
                for (; entering < end && entering <= centre + window; ++entering) {
                    const Coming here = coming;
                    if (entering + 1 < end)
                        coming = fetch_context(inputs, input_alone, path[entering + 1], lane);
                    take_in(
                        around, entering, path[entering], here, centre - window, inputs, most, lane
                    );
                }
#endif
#pragma unroll 1
                for (int group = 0; group < GROUPS; ++group) {
                    const Targets targets = next;
                    const bool last = group + 1 == GROUPS;
                    if (!last || centre + 1 < stop)
                        next = fetch_targets(
                            outputs, output_alone, path[centre + last],
                            drawn + (centre + last - block) * negatives, last ? 0 : group + 1,
                            negatives, lane
                        );
                    Part now[TARGETS];
#pragma unroll
                    for (int k = 0; k < TARGETS; ++k) now[k] = targets.row[k];
                    for (int at = 0; at < count; at += batch) {
                        const int some = min(batch, count - at);
                        int position = low + at + (own_context < some ? own_context : 0);
                        position += position >= centre;
#if SLOTS
                        const int own = __shfl_sync(ALL, around.place, position & 31);  // its slot
#else
                        const int own = path[position];  // its node
#endif
#if TENSOR
#pragma unroll
                        for (int k = 0; k < TARGETS; ++k)
                            put_aim(aims + k * (WIDTH + PAD), lane, now[k]);
                        __syncwarp();
                        find_gradients(
                            gradients, aims, around.now + own * STRIDE, some, targets.silent,
                            group == 0, current, loss, lane
                        );
#else
                        Part x[CONTEXTS];
#pragma unroll
                        for (int j = 0; j < CONTEXTS; ++j) {
                            const int other = __shfl_sync(ALL, own, j * SPREAD);
#if SLOTS
                            x[j] = take(around.now + other * STRIDE, lane);
#else
                            x[j] = load(inputs + (long long)other * WIDTH, lane);
#endif
                        }
                        find_gradients(
                            gradients, now, x, some, targets.silent, group == 0, current, loss, lane
                        );
#endif
                        int other = __shfl_sync(ALL, own, 0);
                        Pulls pulls = take_pulls(gradients);
#if SLOTS
                        Part from = take(around.now + other * STRIDE, lane);
#endif
#pragma unroll
                        for (int j = 0; j < CONTEXTS; ++j) {
                            if (j >= some) break;
                            const int following = min(j + 1, CONTEXTS - 1);
                            const int then = __shfl_sync(ALL, own, following * SPREAD);
                            const Pulls coming_pulls = take_pulls(gradients + following * PLACES);
#if SLOTS
                            const Part coming_row = take(around.now + then * STRIDE, lane);
#else
                            const Part from = x[j];
#endif
                            Part to = from;
#pragma unroll
                            for (int k = 0; k < TARGETS; ++k) {
                                const float g = pulls.of[k];
#pragma unroll
                                for (int i = 0; i < NUMBERS; ++i) {
                                    to.of[i] += g * now[k].of[i];
                                    now[k].of[i] += g * from.of[i];
                                }
                            }
#if SLOTS
                            put(around.now + other * STRIDE, lane, to);
                            from = then == other ? to : coming_row;
#else
                            add(inputs + (long long)other * WIDTH, lane,
                                way(from, to, share(input_alone[other], most)));
#endif
                            other = then;
                            pulls = coming_pulls;
                        }
                        __syncwarp();
                    }
                    move_targets(targets, now, outputs, most, lane);
                    refresh_targets(next, targets, outputs, lane);
                }
            }
        }
#if SLOTS
        leave(around, inputs, most, lane);
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
