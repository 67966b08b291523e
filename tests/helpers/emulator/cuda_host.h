// What CUDA C++ adds to C++, for one CPU core: so that the package's kernels can be compiled by
// a host compiler and tested where there is no device. Blocks run one after the other. So do the
// threads of a block, unless the source meets other threads (WARPS): then each thread is a fiber,
// and a warp function writes its value, switches to the next lane, and reads when resumed.
#pragma once

#include <cmath>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <ucontext.h>
#include <utility>
#include <vector>

#define EMULATED 1
#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __shared__ static
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define SHARED_MEMORY(type, name) type* name = reinterpret_cast<type*>(emulator::shared)

// -- vectors --------------------------------------------------------------------------------------

#define VECTORS(type, name, align)                                                                \
    struct alignas(2 * align) name##2 { type x, y; };                                             \
    struct alignas(4 * align > 16 ? 16 : 4 * align) name##4 { type x, y, z, w; };                 \
    inline name##2 make_##name##2(type x, type y) { return {x, y}; }                              \
    inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
VECTORS(int, int, 4)
VECTORS(unsigned, uint, 4)
VECTORS(float, float, 4)
VECTORS(double, double, 8)
VECTORS(long long, longlong, 8)
VECTORS(unsigned long long, ulonglong, 8)
#undef VECTORS

struct dim3 { unsigned x = 1, y = 1, z = 1; };

// -- arithmetic -----------------------------------------------------------------------------------

static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
static inline unsigned __umulhi(unsigned a, unsigned b) {
    return (unsigned)(((unsigned long long)a * b) >> 32);
}
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
#define __expf(x) expf(x)
#define __logf(x) logf(x)
static inline float __fdividef(float x, float y) { return x / y; }
static inline float __frcp_rn(float x) { return 1.0f / x; }
static inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
static inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }

template <class To, class From>
static inline To same_bits(From from) {
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
}
static inline int __float_as_int(float x) { return same_bits<int>(x); }
static inline unsigned __float_as_uint(float x) { return same_bits<unsigned>(x); }
static inline float __int_as_float(int x) { return same_bits<float>(x); }
static inline float __uint_as_float(unsigned x) { return same_bits<float>(x); }
static inline long long __double_as_longlong(double x) { return same_bits<long long>(x); }
static inline double __longlong_as_double(long long x) { return same_bits<double>(x); }

#define EXTREMES(type)                                                  \
    static inline type min(type a, type b) { return b < a ? b : a; }    \
    static inline type max(type a, type b) { return a < b ? b : a; }
EXTREMES(int)
EXTREMES(unsigned)
EXTREMES(long)
EXTREMES(unsigned long)
EXTREMES(long long)
EXTREMES(unsigned long long)
#undef EXTREMES
static inline float min(float a, float b) { return std::fmin(a, b); }
static inline float max(float a, float b) { return std::fmax(a, b); }
static inline double min(double a, double b) { return std::fmin(a, b); }
static inline double max(double a, double b) { return std::fmax(a, b); }

// -- who runs -------------------------------------------------------------------------------------

static dim3 threadIdx, blockIdx, blockDim, gridDim;
static const int warpSize = 32;

namespace emulator {

static unsigned char* shared = nullptr;

[[noreturn]] inline void fail(const char* why) {
    std::fprintf(stderr, "emulator: block %u, thread %u: %s\n", blockIdx.x, threadIdx.x, why);
    std::abort();
}

#ifdef WARPS

enum State { READY, AT_BLOCK, DONE };

struct Fiber {
    ucontext_t context;
    jmp_buf place;
    State state = READY;
    bool begun = false;
    std::vector<unsigned char> stack;
};

static const std::size_t STACK = 256 << 10;
static std::vector<Fiber*> fibers;
static unsigned n_threads, current;
static jmp_buf scheduler;
static void (*body)(void*);
static void* body_of;

static void switch_to(unsigned next);

// The next lane of this warp, in a circle, that can go on; the lane itself if there is no other.
static bool pick_lane(unsigned& next) {
    unsigned first = current & ~31u, width = min(n_threads - first, 32u);
    for (unsigned i = 1; i <= width; i++) {
        next = first + (current - first + i) % width;
        if (fibers[next]->state == READY) return true;
    }
    return false;
}

// The next thread of the block that can go on: of this warp, else of another, and else, when all
// that have not ended wait for each other, the first of these. None if all have ended.
static bool pick_thread(unsigned& next) {
    if (pick_lane(next)) return true;
    for (unsigned i = 0; i < n_threads; i++) {
        next = ((current | 31u) + 1 + i) % n_threads;
        if (fibers[next]->state == READY) return true;
    }
    bool any = false;
    for (unsigned i = n_threads; i-- > 0;)
        if (fibers[i]->state == AT_BLOCK) fibers[i]->state = READY, next = i, any = true;
    return any;
}

static void fiber_main() {
    for (;;) {
        unsigned me = current;
        body(body_of);
        fibers[me]->state = DONE;
        unsigned next;
        if (_setjmp(fibers[me]->place) == 0) {
            if (!pick_thread(next)) _longjmp(scheduler, 1);
            switch_to(next);
        }
    }
}

static void switch_to(unsigned next) {
    current = next;
    threadIdx.x = next;
    Fiber& fiber = *fibers[next];
    if (fiber.begun) _longjmp(fiber.place, 1);
    fiber.begun = true;
    setcontext(&fiber.context);
    fail("cannot start a fiber");
}

// Let the other lanes of the warp come as far as this.
static void wait_for_warp() {
    unsigned me = current, next;
    pick_lane(next);
    if (next != me && _setjmp(fibers[me]->place) == 0) switch_to(next);
}

// Let the other threads of the block come as far as this.
static void wait_for_block() {
    unsigned me = current, next;
    fibers[me]->state = AT_BLOCK;
    pick_thread(next);
    if (next != me && _setjmp(fibers[me]->place) == 0) switch_to(next);
}

static void run_block(void (*f)(void*), void* of) {
    body = f;
    body_of = of;
    n_threads = blockDim.x;
    while (fibers.size() < n_threads) {
        Fiber* fiber = new Fiber;
        fiber->stack.resize(STACK);
        getcontext(&fiber->context);
        fiber->context.uc_stack.ss_sp = fiber->stack.data();
        fiber->context.uc_stack.ss_size = STACK;
        fiber->context.uc_link = nullptr;
        makecontext(&fiber->context, fiber_main, 0);
        fibers.push_back(fiber);
    }
    for (unsigned i = 0; i < n_threads; i++) fibers[i]->state = READY;
    if (_setjmp(scheduler) == 0) switch_to(0);
}

// What the lanes of a warp put down for each other, twice: a lane that is ahead writes to one
// while others still read the other.
struct Exchange {
    unsigned long long values[2][32];
    int what[2][32];
    unsigned round[32];
};
static Exchange exchanges[32];

enum What { SHUFFLE, SHUFFLE_XOR, SHUFFLE_UP, SHUFFLE_DOWN, BALLOT, SYNC, REDUCE };

struct Meeting {
    const Exchange& exchange;
    unsigned side, round;
    // Whether a lane came, and has not ended before.
    bool has(unsigned lane) const { return exchange.round[lane] >= round; }
    template <class T>
    T of(unsigned lane) const {
        T value;
        std::memcpy(&value, &exchange.values[side][lane], sizeof(T));
        return value;
    }
};

template <class T>
static Meeting meet(What what, unsigned mask, const T& value) {
    static_assert(sizeof(T) <= 8, "a warp function takes at most eight bytes");
    if (mask != 0xFFFFFFFFu) fail("warp functions are emulated with the full mask only");
    unsigned lane = current % 32;
    Exchange& exchange = exchanges[current / 32];
    unsigned round = ++exchange.round[lane], side = round & 1;
    std::memcpy(&exchange.values[side][lane], &value, sizeof(T));
    exchange.what[side][lane] = what;
    wait_for_warp();
    unsigned other = current & ~31u | (lane + 1) % 32;
    if (other < n_threads && fibers[other]->state != DONE &&
        (exchange.round[other % 32] < round || exchange.what[side][other % 32] != what))
        fail("the lanes of a warp came to different warp functions");
    return {exchange, side, round};
}

static void run(void (*f)(void*), void* of) {
    std::memset(exchanges, 0, sizeof exchanges);
    run_block(f, of);
}

#else

static void run(void (*f)(void*), void* of) {
    for (threadIdx.x = 0; threadIdx.x < blockDim.x; threadIdx.x++) f(of);
}

#endif

// -- launching ------------------------------------------------------------------------------------

// As cuLaunchKernel: each of `args` points at an argument. `kinds` says what the caller holds them
// for: f a floating-point number, i a signed integer, u an unsigned one, b a bool; in capitals an
// array of these, and P no array at all. `sizes` are those of a number.
template <class T>
static bool fits_array(char kind, int size) {
    if (kind == 'P') return true;
    if (kind < 'A' || kind > 'Z') return false;
    if constexpr (std::is_void<T>::value) return true;
    else if constexpr (std::is_floating_point<T>::value) return kind == 'F' && size == sizeof(T);
    else if constexpr (std::is_integral<T>::value)
        return (kind == 'I' || kind == 'U' || kind == 'B') && size == sizeof(T);
    else return sizeof(T) % size == 0;  // several numbers, read at once
}

template <class A>
static bool fits(char kind, int size) {
    if constexpr (std::is_pointer<A>::value)
        return fits_array<std::remove_cv_t<std::remove_pointer_t<A>>>(kind, size);
    if (size != (int)sizeof(A)) return false;
    if (std::is_same<A, bool>::value) return kind == 'b';
    if (std::is_floating_point<A>::value) return kind == 'f';
    if (std::is_integral<A>::value) return kind == (std::is_signed<A>::value ? 'i' : 'u');
    return kind == 'V';
}

template <class... A>
struct Call {
    void (*kernel)(A...);
    void** args;
    template <std::size_t... I>
    void make(std::index_sequence<I...>) { kernel(*static_cast<A*>(args[I])...); }
    static void thread(void* self) {
        static_cast<Call*>(self)->make(std::index_sequence_for<A...>());
    }
};

// 0, or -1 for a wrong number of arguments, or the number of the first that is of a wrong type.
template <class... A>
static int launch(void (*kernel)(A...), unsigned grid, unsigned block, unsigned shared_bytes,
                  int count, void** args, const char* kinds, const int* sizes) {
    if (count != (int)sizeof...(A)) return -1;
    int wrong = 0, i = 0;
    bool good[] = {
        true, (i++, fits<typename std::remove_cv<A>::type>(kinds[i - 1], sizes[i - 1]))...};
    for (int j = count; j > 0; j--)
        if (!good[j]) wrong = j;
    if (wrong) return wrong;
    std::vector<unsigned long long> memory(shared_bytes / 8 + 4);
    std::size_t at = reinterpret_cast<std::size_t>(memory.data());
    gridDim.x = grid;
    blockDim.x = block;
    Call<A...> call{kernel, args};
    for (blockIdx.x = 0; blockIdx.x < grid; blockIdx.x++) {
        std::memset(memory.data(), 0xA5, memory.size() * 8);
        shared = reinterpret_cast<unsigned char*>((at + 15) / 16 * 16);
        run(Call<A...>::thread, &call);
    }
    return 0;
}

}  // namespace emulator

// -- warp functions -------------------------------------------------------------------------------

#ifdef WARPS

template <class T>
static T __shfl_sync(unsigned mask, T value, int lane, int width = 32) {
    int me = threadIdx.x % 32;
    emulator::Meeting meeting = emulator::meet(emulator::SHUFFLE, mask, value);
    return meeting.of<T>((me & ~(width - 1)) | (lane & (width - 1)));
}

template <class T>
static T __shfl_xor_sync(unsigned mask, T value, int with, int width = 32) {
    int me = threadIdx.x % 32, from = me ^ with;
    emulator::Meeting meeting = emulator::meet(emulator::SHUFFLE_XOR, mask, value);
    return from > (me | (width - 1)) ? value : meeting.of<T>(from & 31);
}

template <class T>
static T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32) {
    int me = threadIdx.x % 32, from = me - (int)by;
    emulator::Meeting meeting = emulator::meet(emulator::SHUFFLE_UP, mask, value);
    return from < (me & ~(width - 1)) ? value : meeting.of<T>(from);
}

template <class T>
static T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32) {
    int me = threadIdx.x % 32, from = me + (int)by;
    emulator::Meeting meeting = emulator::meet(emulator::SHUFFLE_DOWN, mask, value);
    return from > (me | (width - 1)) ? value : meeting.of<T>(from);
}

static inline unsigned __ballot_sync(unsigned mask, int predicate) {
    emulator::Meeting meeting = emulator::meet(emulator::BALLOT, mask, predicate);
    unsigned votes = 0;
    for (int i = 0; i < 32; i++) votes |= (unsigned)(meeting.has(i) && meeting.of<int>(i)) << i;
    return votes;
}

static inline int __any_sync(unsigned mask, int predicate) {
    return __ballot_sync(mask, predicate) != 0;
}

static inline int __all_sync(unsigned mask, int predicate) {
    return __ballot_sync(mask, !predicate) == 0;
}

static inline void __syncwarp(unsigned mask = 0xFFFFFFFFu) {
    emulator::meet(emulator::SYNC, mask, 0);
}

static inline void __syncthreads() { emulator::wait_for_block(); }

template <class T, class F>
static T reduced(unsigned mask, T value, F join) {
    emulator::Meeting meeting = emulator::meet(emulator::REDUCE, mask, value);
    unsigned me = threadIdx.x % 32;
    for (unsigned i = 0; i < 32; i++)
        if (i != me && meeting.has(i)) value = join(value, meeting.of<T>(i));
    return value;
}

#define REDUCTIONS(type)                                                            \
    static inline type __reduce_add_sync(unsigned mask, type value) {               \
        return reduced(mask, value, [](type a, type b) { return a + b; });          \
    }                                                                               \
    static inline type __reduce_min_sync(unsigned mask, type value) {               \
        return reduced(mask, value, [](type a, type b) { return min(a, b); });      \
    }                                                                               \
    static inline type __reduce_max_sync(unsigned mask, type value) {               \
        return reduced(mask, value, [](type a, type b) { return max(a, b); });      \
    }
REDUCTIONS(int)
REDUCTIONS(unsigned)
#undef REDUCTIONS

#endif

// -- memory ---------------------------------------------------------------------------------------

template <class T> static inline T __ldg(const T* place) { return *place; }
template <class T> static inline T __ldcg(const T* place) { return *place; }
template <class T> static inline T __ldcs(const T* place) { return *place; }
template <class T> static inline void __stcg(T* place, T value) { *place = value; }
template <class T> static inline void __stcs(T* place, T value) { *place = value; }
static inline void __threadfence() {}
static inline void __threadfence_block() {}

// Only one thread runs at a time.
template <class T, class F>
static inline T exchanged(T* place, F change) {
    T was = *place;
    *place = change(was);
    return was;
}
#define ATOMICS(type)                                                                \
    static inline type atomicAdd(type* place, type by) {                             \
        return exchanged(place, [&](type was) { return was + by; });                 \
    }                                                                                \
    static inline type atomicExch(type* place, type value) {                         \
        return exchanged(place, [&](type was) { return value; });                    \
    }
ATOMICS(int)
ATOMICS(unsigned)
ATOMICS(unsigned long long)
ATOMICS(float)
ATOMICS(double)
#undef ATOMICS
#define MORE_ATOMICS(type)                                                           \
    static inline type atomicMax(type* place, type value) {                          \
        return exchanged(place, [&](type was) { return max(was, value); });          \
    }                                                                                \
    static inline type atomicMin(type* place, type value) {                          \
        return exchanged(place, [&](type was) { return min(was, value); });          \
    }                                                                                \
    static inline type atomicCAS(type* place, type wanted, type value) {             \
        return exchanged(place, [&](type was) { return was == wanted ? value : was; }); \
    }
MORE_ATOMICS(int)
MORE_ATOMICS(unsigned)
MORE_ATOMICS(unsigned long long)
#undef MORE_ATOMICS
