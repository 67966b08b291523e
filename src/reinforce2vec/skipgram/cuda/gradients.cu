// Scores of contexts and targets, and what follows from them: how far each pair moves.
//
// `gradients` has PLACES numbers for each context. Each lane finds that of one context and one
// target; with tensor cores, which leave two scores in a lane, those of two contexts.

#include "rows.cu"
#include "warp.cu"

// The gradients of one context.
struct Pulls {
    float of[TARGETS];
};

__device__ __forceinline__ Pulls take_pulls(const float* gradients) {
    Pulls pulls;
#pragma unroll
    for (int k = 0; k < TARGETS; ++k) pulls.of[k] = gradients[k];
    return pulls;
}

// The rate times (label - σ(score)); adds the loss.
__device__ __forceinline__ float pull(float score, bool rises, float rate, float& loss) {
    float z = rises ? -score : score;
    z = fminf(fmaxf(z, -FARTHEST), FARTHEST) + (score - score);  // NaN stays NaN
    const float odds = __expf(z);
    loss += __logf(1.0f + odds);
    return (rises ? rate : -rate) * __fdividef(odds, 1.0f + odds);
}

// Sets the gradient of a context and a target; there are `some` contexts, and silent targets.
__device__ __forceinline__ void set_gradient(
    float* gradients, int context, int target, float score, int some, unsigned silent, bool first,
    float rate, float& loss
) {
    float gradient = 0.0f;
    if (context < some && !(silent >> target & 1))
        gradient = pull(score, first && target == 0, rate, loss);
    gradients[context * PLACES + target] = gradient;
}

#if TENSOR

// c += a b for 16 x 8 numbers a and 8 x 8 numbers b, whose factors are rounded to 10 bits. With row
// = lane / 4 and k = lane % 4, a lane has a[row][k], a[row + 8][k], a[row][k + 4], a[row + 8][k + 4]
// and b[k][row], b[k + 4][row], and gets c[row][2 k], the next, c[row + 8][2 k] and the next.
__device__ __forceinline__ void multiply(float (&c)[4], float4 a, float2 b, int lane) {
#ifdef EMULATED
    for (int k = 0; k < 4; ++k) {
        const int left = (lane & ~3) + k;
        const float upper = __shfl_sync(ALL, a.x, left), lower = __shfl_sync(ALL, a.y, left);
        const float more_upper = __shfl_sync(ALL, a.z, left), more_lower = __shfl_sync(ALL, a.w, left);
        for (int n = 0; n < 2; ++n) {
            const int right = (2 * (lane & 3) + n) * 4 + k;
            const float one = __shfl_sync(ALL, b.x, right), other = __shfl_sync(ALL, b.y, right);
            c[n] += upper * one + more_upper * other;
            c[n + 2] += lower * one + more_lower * other;
        }
    }
#else
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(__float_as_uint(a.x)), "r"(__float_as_uint(a.y)), "r"(__float_as_uint(a.z)),
          "r"(__float_as_uint(a.w)), "r"(__float_as_uint(b.x)), "r"(__float_as_uint(b.y)));
#endif
}

// A target's row for `multiply`, in shared memory: of every four numbers the middle two change
// places, so that the four that a lane loads at once are what it needs in registers side by side.
__device__ __forceinline__ void put_aim(float* row, int lane, const Part& part) {
#if NUMBERS % 4 == 0
    Part turned = part;
#pragma unroll
    for (int i = 0; i < NUMBERS; i += 4) {
        turned.of[i + 1] = part.of[i + 2];
        turned.of[i + 2] = part.of[i + 1];
    }
    put(row, lane, turned);
#else
#pragma unroll
    for (int i = 0; i < NUMBERS; ++i) {
        const int at = column(lane, i) + i % STEP;
        row[(at & ~3) + (at & 1) * 2 + (at >> 1 & 1)] = part.of[i];
    }
#endif
}

// `aims` are the targets' rows as `put_aim` has left them, `row` that of context lane / 4.
__device__ __forceinline__ void find_gradients(
    float* gradients, const float* aims, const float* row, int some, unsigned silent, bool first,
    float rate, float& loss, int lane
) {
    const int target = lane / 4;
    const float* aim = aims + (target < TARGETS ? target : 0) * (WIDTH + PAD);
    // of the first two of every four columns, and of the last two; each twice, to wait less
    float former[2][4] = {{0.0f}}, latter[2][4] = {{0.0f}};
#pragma unroll
    for (int j = 0; j < 2 * NUMBERS; ++j) {
        const int at = (4 * j + lane % 4) * 4;
        const float4 a = *(const float4*)(aim + at), b = *(const float4*)(row + at);
        multiply(former[j % 2], a, make_float2(b.x, b.y), lane);
        multiply(latter[j % 2], a, make_float2(b.z, b.w), lane);
    }
    if (target < TARGETS) {
#pragma unroll
        for (int n = 0; n < 2; ++n) {
            const int context = 2 * (lane % 4) + n;
            const float score = former[0][n] + former[1][n] + latter[0][n + 2] + latter[1][n + 2];
            set_gradient(gradients, context, target, score, some, silent, first, rate, loss);
        }
    }
    __syncwarp();
}

#else

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

__device__ __forceinline__ void find_gradients(
    float* gradients, const Part (&now)[TARGETS], const Part (&contexts)[CONTEXTS], int some,
    unsigned silent, bool first, float rate, float& loss, int lane
) {
    float scores[CONTEXTS * TARGETS];
#pragma unroll
    for (int j = 0; j < CONTEXTS; ++j)
#pragma unroll
        for (int k = 0; k < TARGETS; ++k) {
            float sum = 0.0f;
#pragma unroll
            for (int i = 0; i < NUMBERS; ++i) sum += contexts[j].of[i] * now[k].of[i];
            scores[j * TARGETS + k] = sum;
        }
    const float score = sum_up(scores, lane);
    const int context = lane / TARGETS, target = lane % TARGETS;
    if (context < CONTEXTS)
        set_gradient(gradients, context, target, score, some, silent, first, rate, loss);
    __syncwarp();
}

#endif
