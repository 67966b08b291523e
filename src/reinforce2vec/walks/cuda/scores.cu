// The paper's equations, from the tables and with the roundings of walks/scores.py: the same
// operations in the same order, so a score has the same bits.

#define VERTEX 0
#define KL 1
#define JS 2

// All tables lie in one array, those by n (`decisions` entries), those by z or c (two more), and
// the two of the softmax.
struct Scores {
    const double* tables;
    int decisions, tabled;  // tabled: counts below this are in the tables of the softmax
    int reward, path;
    double inverse_temperature, attraction;

    __device__ __forceinline__ double by_decision(int table, int n) const {
        return __ldg(tables + (long long)table * decisions + n);
    }
    __device__ __forceinline__ double by_count(int table, int c) const {
        return __ldg(tables + 4ll * decisions + (decisions + 2ll) * table + c);
    }
    __device__ __forceinline__ double explore(int n) const { return by_decision(0, n); }
    __device__ __forceinline__ double total(int n) const { return by_decision(1, n); }
    __device__ __forceinline__ double of_total(int n) const { return by_decision(2, n); }
    __device__ __forceinline__ double unvisited_js(int n) const { return by_decision(3, n); }
    __device__ __forceinline__ double of_count(int z) const { return by_count(0, z); }
    __device__ __forceinline__ double of_next_count(int z) const { return by_count(1, z); }
    __device__ __forceinline__ double log_visits(int c) const { return by_count(2, c); }
    __device__ __forceinline__ double vertex_bonus(int c) const { return by_count(3, c); }
    __device__ __forceinline__ double tabled_weight(int n, int c_u, int c) const {
        const double* explore = tables + (8ll * decisions + 8);
        const double* exploit = explore + tabled * tabled;
        return __ldg(exploit + (n * tabled + c)) * __ldg(explore + (c_u * tabled + c));
    }
};

#define SCORE_PARAMETERS                                                                         \
    const double *__restrict__ score_tables, int decisions, int tabled, int reward, int path,    \
        double inverse_temperature, double attraction
#define SCORES {score_tables, decisions, tabled, reward, path, inverse_temperature, attraction}

// e^x from adds and multiplies only. Below -700 it gives 0, above 700 infinity.
__device__ __forceinline__ double exp_exact(double x) {
    const double taylor[14] = {
        1.0, 1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320,
        1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
    if (!(x >= -700.0)) return 0.0;
    if (x > 700.0) return __longlong_as_double(0x7FF0000000000000ll);
    double k = floor(x * 1.4426950408889634 + 0.5);
    double r = (x - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10;
    double series = taylor[13];
#pragma unroll
    for (int i = 12; i >= 0; i--) series = series * r + taylor[i];
    return series * __longlong_as_double(((long long)k + 1023) << 52);
}

// log(1 - y) for 0 < y <= 1/9, as -2 artanh(y / (2 - y)).
__device__ __forceinline__ double log_one_minus(double y) {
    double s = y / (2.0 - y), square = s * s, series = 0.0;
#pragma unroll
    for (int i = 15; i > 0; i -= 2) series = 1.0 / i + series * square;
    return -2.0 * s * series;
}

__device__ __forceinline__ double js_divergence(const Scores& scores, int n, int z) {
    double T = scores.total(n), e;
    if (z == 0) e = scores.unvisited_js(n);
    else e = log_one_minus(1.0 / ((2.0 * z + 1.0) * (2.0 * T + 1.0)));
    double seen = (z / T) * (scores.of_count(z) - e);
    double added = ((z + 1.0) / (T + 1.0)) * (scores.of_next_count(z) - e);
    return 0.5 * (scores.of_total(n) + seen + added);
}

// How far the occupation vector moves if a node seen c times comes next.
__device__ __forceinline__ double divergence(const Scores& scores, int n, int c) {
    int z = scores.path ? c : c + 1;
    if (scores.reward == KL) return scores.of_total(n) - scores.of_count(z) / scores.total(n);
    double d = js_divergence(scores, n, z);
    return scores.path ? sqrt(max(d, 0.0)) : d;
}

__device__ __forceinline__ double exploitation(const Scores& scores, int n, int c) {
    if (scores.reward == VERTEX) return 1.0 + c + scores.explore(n) * scores.vertex_bonus(c);
    return 1.0 - divergence(scores, n, c);
}

__device__ __forceinline__ double exploration(const Scores& scores, int c_u, int c) {
    if (scores.path && scores.reward == VERTEX) return 0.0;
    return sqrt(scores.log_visits(c_u) / (1.0 + c));
}

// (Q + weight U) / temperature of a node seen c times, less that of an unvisited one.
__device__ __noinline__ double exponent(const Scores scores, int n, int c_u, int c) {
    double exploit = exploitation(scores, n, c) - exploitation(scores, n, 0);
    double explore = exploration(scores, c_u, c) - exploration(scores, c_u, 0);
    return (exploit + scores.explore(n) * explore) * scores.inverse_temperature;
}

// exp(exponent - shift) of a node seen c times, times its attraction, if there is any.
__device__ __forceinline__ double softmax_weight(const Scores& scores, int n, int c_u, int c,
                                                 double shift) {
    if (c < scores.tabled && c_u < scores.tabled && shift == 0.0)
        return scores.tabled_weight(n, c_u, c);
    double weight = exp_exact(exponent(scores, n, c_u, c) - shift);
    return c > 0 ? weight * scores.attraction : weight;
}
