// Kernels of the substitutions and of the dense product, for one precision and one vector width.
// The including file defines REAL, LANES (reals in a vector) and NAME(x).
//
// Three right-hand sides lie side by side, [row][4], so that a row outside the panel costs one load and one store.
//   forward:  u_i = sum_k l_ik y_k        16 to 64 rows in registers, k runs: the panel streams by once
//   backward: s_k = sum_i l_ik x_i        rows in registers, k runs, one vector of partial sums for each k and column
// The sums have one fixed order for each instruction set.

typedef REAL NAME(vec) __attribute__((vector_size(LANES * sizeof(REAL)), may_alias));
typedef REAL NAME(loose) __attribute__((vector_size(LANES * sizeof(REAL)), may_alias, aligned(sizeof(REAL))));
typedef REAL NAME(quad) __attribute__((vector_size(4 * sizeof(REAL)), may_alias));
#define VEC NAME(vec)
#define LOOSE NAME(loose)
#define QUAD NAME(quad)
#if defined(__AVX512F__)
#define KEEP(v) __asm__("" : "+v"(v)) // one load for three products: compilers fold it into each of them
#elif defined(__x86_64__)
#define KEEP(v) __asm__("" : "+x"(v))
#else
#define KEEP(v) (void)(v)
#endif
#define ALWAYS static inline __attribute__((always_inline))

/// Rows of x from three columns: (a_i, b_i, c_i, 0).
ALWAYS void NAME(subtract4)(const REAL* u, int32_t height, const int32_t* slot, REAL* x)
{
    const QUAD a    = *(const QUAD*)u;
    const QUAD b    = *(const QUAD*)(u + height);
    const QUAD c    = *(const QUAD*)(u + 2 * height);
    const QUAD zero = {0};
    const QUAD ab   = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    const QUAD ba   = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const QUAD co   = __builtin_shufflevector(c, zero, 0, 4, 1, 5);
    const QUAD oc   = __builtin_shufflevector(c, zero, 2, 6, 3, 7);
    *(QUAD*)(x + 4 * (int64_t)slot[0]) -= __builtin_shufflevector(ab, co, 0, 1, 4, 5);
    *(QUAD*)(x + 4 * (int64_t)slot[1]) -= __builtin_shufflevector(ab, co, 2, 3, 6, 7);
    *(QUAD*)(x + 4 * (int64_t)slot[2]) -= __builtin_shufflevector(ba, oc, 0, 1, 4, 5);
    *(QUAD*)(x + 4 * (int64_t)slot[3]) -= __builtin_shufflevector(ba, oc, 2, 3, 6, 7);
}

/// Four rows of x to three columns of u [3][height].
ALWAYS void NAME(split4)(const REAL* x0, const REAL* x1, const REAL* x2, const REAL* x3, REAL* u, int32_t height)
{
    const QUAD a             = __builtin_shufflevector(*(const QUAD*)x0, *(const QUAD*)x1, 0, 4, 1, 5);
    const QUAD b             = __builtin_shufflevector(*(const QUAD*)x2, *(const QUAD*)x3, 0, 4, 1, 5);
    const QUAD c             = __builtin_shufflevector(*(const QUAD*)x0, *(const QUAD*)x1, 2, 6, 3, 7);
    const QUAD d             = __builtin_shufflevector(*(const QUAD*)x2, *(const QUAD*)x3, 2, 6, 3, 7);
    *(QUAD*)u                = __builtin_shufflevector(a, b, 0, 1, 4, 5);
    *(QUAD*)(u + height)     = __builtin_shufflevector(a, b, 2, 3, 6, 7);
    *(QUAD*)(u + 2 * height) = __builtin_shufflevector(c, d, 0, 1, 4, 5);
}

/// u [3][vectors * LANES] = rows of l times y; consecutive k are `stride` reals apart.
ALWAYS void NAME(multiply_rows)(const REAL* l, int32_t width, int32_t stride, const int vectors, const REAL* y, REAL* u)
{
    VEC s0[4] = {{0}}, s1[4] = {{0}}, s2[4] = {{0}};
    for (int32_t k = 0; k < width; ++k, l += stride, y += 4)
    {
        const REAL y0 = y[0], y1 = y[1], y2 = y[2];
        for (int v = 0; v < vectors; ++v)
        {
            VEC e = *(const VEC*)(l + v * LANES);
            KEEP(e);
            s0[v] += e * y0;
            s1[v] += e * y1;
            s2[v] += e * y2;
        }
    }
    for (int v = 0; v < vectors; ++v)
    {
        *(VEC*)(u + v * LANES)                       = s0[v];
        *(VEC*)(u + vectors * LANES + v * LANES)     = s1[v];
        *(VEC*)(u + 2 * vectors * LANES + v * LANES) = s2[v];
    }
}

/// part [width][3][LANES] (+)= the products of rows l with u [3][vectors * LANES], lane by lane.
ALWAYS void NAME(accumulate_rows)(const REAL* l, int32_t width, int32_t stride, const int vectors, const REAL* u,
                                  const bool first, REAL* part)
{
    VEC u0[4] = {{0}}, u1[4] = {{0}}, u2[4] = {{0}};
    for (int v = 0; v < vectors; ++v)
    {
        u0[v] = *(const VEC*)(u + v * LANES);
        u1[v] = *(const VEC*)(u + vectors * LANES + v * LANES);
        u2[v] = *(const VEC*)(u + 2 * vectors * LANES + v * LANES);
    }
    for (int32_t k = 0; k < width; ++k, l += stride, part += 3 * LANES)
    {
        VEC s0 = {0}, s1 = {0}, s2 = {0};
        if (!first)
        {
            s0 = *(const VEC*)part;
            s1 = *(const VEC*)(part + LANES);
            s2 = *(const VEC*)(part + 2 * LANES);
        }
        for (int v = 0; v < vectors; ++v)
        {
            VEC e = *(const VEC*)(l + v * LANES);
            KEEP(e);
            s0 += e * u0[v];
            s1 += e * u1[v];
            s2 += e * u2[v];
        }
        *(VEC*)part               = s0;
        *(VEC*)(part + LANES)     = s1;
        *(VEC*)(part + 2 * LANES) = s2;
    }
}

/// Lanes of a vector of partial sums folded to four.
ALWAYS void NAME(fold)(const REAL* part, REAL* to)
{
#if LANES > 4
    QUAD s = *(const QUAD*)part;
    for (int v = 4; v < LANES; v += 4) s += *(const QUAD*)(part + v);
    *(QUAD*)to = s;
#else
    for (int v = 0; v < 4; ++v) to[v] = v < LANES ? part[v] : 0;
#endif
}

/// sum[k] = the three column sums of part[k], as a row (s_0, s_1, s_2, 0).
static void NAME(reduce)(const REAL* part, int32_t width, REAL* sum)
{
    for (int32_t k = 0; k < width; ++k, part += 3 * LANES)
    {
        REAL q[12] __attribute__((aligned(64)));
        NAME(fold)(part, q);
        NAME(fold)(part + LANES, q + 4);
        NAME(fold)(part + 2 * LANES, q + 8);
        const QUAD a = *(const QUAD*)q, b = *(const QUAD*)(q + 4), c = *(const QUAD*)(q + 8), zero = {0};
        const QUAD ab = __builtin_shufflevector(a, b, 0, 4, 1, 5) + __builtin_shufflevector(a, b, 2, 6, 3, 7);
        const QUAD co = __builtin_shufflevector(c, zero, 0, 4, 1, 5) + __builtin_shufflevector(c, zero, 2, 6, 3, 7);
        *(QUAD*)(sum + 4 * (int64_t)k) =
            __builtin_shufflevector(ab, co, 0, 1, 4, 5) + __builtin_shufflevector(ab, co, 2, 3, 6, 7);
    }
}

#define TILE_VECTORS (FLX__TILE / LANES > 4 ? 4 : FLX__TILE / LANES)
#define TILE_STEP (TILE_VECTORS * LANES)
#define PASS (4 * LANES) // rows held in registers at a time

/// x[0 .. count) = 16 rows of a triangle, l [width][16], times y.
ALWAYS void NAME(triangle_rows)(const REAL* l, int32_t width, int32_t count, const REAL* y, REAL* x)
{
    REAL u[3 * FLX__TILE] __attribute__((aligned(64)));
    for (int32_t part = 0; part < FLX__TILE; part += TILE_STEP) // more than one step only for short vectors
        NAME(multiply_rows)(l + part, width, FLX__TILE, TILE_VECTORS, y, u + 3 * part);
    for (int32_t i = 0; i < count; ++i)
    {
        const REAL* from = u + i / TILE_STEP * (3 * TILE_STEP) + i % TILE_STEP;
        x[4 * i]         = from[0];
        x[4 * i + 1]     = from[TILE_STEP];
        x[4 * i + 2]     = from[2 * TILE_STEP];
    }
}

static void NAME(forward_diagonal)(const REAL* tiles, int32_t width, REAL* x)
{
    for (int32_t t = (width - 1) / FLX__TILE; t >= 0; --t) // downwards: a tile reads only rows up to its own
    {
        const int32_t begin = t * FLX__TILE;
        const int32_t count = width - begin < FLX__TILE ? width - begin : FLX__TILE;
        NAME(triangle_rows)
        (tiles + flx__diagonal_tile(t), flx__diagonal_columns(width, t), count, x, x + 4 * (int64_t)begin);
    }
}

static void NAME(backward_diagonal)(const REAL* tiles, int32_t width, const REAL* sum, REAL* x)
{
    for (int32_t k = 0; k < width; ++k) *(QUAD*)(x + 4 * (int64_t)k) -= *(const QUAD*)(sum + 4 * (int64_t)k);
    for (int32_t begin = 0; begin < width; begin += FLX__TILE) // upwards: a tile reads only rows from its own on
    {
        const int32_t count = width - begin < FLX__TILE ? width - begin : FLX__TILE;
        NAME(triangle_rows)(tiles, width - begin, count, x + 4 * (int64_t)begin, x + 4 * (int64_t)begin);
        tiles += (int64_t)(width - begin) * FLX__TILE;
    }
}

/// One pass of the forward kernel over `vectors` vectors of rows.
ALWAYS void NAME(forward_pass)(const REAL* l, int32_t width, int32_t stride, const int vectors, const int32_t* slot,
                               const REAL* y, REAL* x)
{
    REAL u[3 * PASS] __attribute__((aligned(64)));
    NAME(multiply_rows)(l, width, stride, vectors, y, u);
    for (int32_t r = 0; r < vectors * LANES; r += 4) NAME(subtract4)(u + r, vectors * LANES, slot + r, x);
}

static void NAME(forward_below)(const REAL* l, int32_t width, int32_t rows, int32_t begin, int32_t end,
                                const int32_t* slot, const REAL* y, REAL* x)
{
    for (int32_t i = begin; i < end;)
    {
        const int32_t height = rows - i < FLX__BLOCK ? rows - i : FLX__BLOCK;
        const REAL*   block  = l + (int64_t)i * width;
        int32_t       part   = 0;
        for (; part + PASS <= height; part += PASS)
            NAME(forward_pass)(block + part, width, height, 4, slot + i + part, y, x);
        switch ((height - part) / LANES)
        {
        case 1:
            NAME(forward_pass)(block + part, width, height, 1, slot + i + part, y, x);
            break;
        case 2:
            NAME(forward_pass)(block + part, width, height, 2, slot + i + part, y, x);
            break;
        case 3:
            NAME(forward_pass)(block + part, width, height, 3, slot + i + part, y, x);
            break;
        default:
            break;
        }
        i += height;
    }
}

/// One pass of the backward kernel; the first one starts the partial sums.
ALWAYS void NAME(backward_pass)(const REAL* l, int32_t width, int32_t stride, const int vectors, const int32_t* slot,
                                const REAL* x, bool first, REAL* part)
{
    REAL u[3 * PASS] __attribute__((aligned(64)));
    for (int32_t r = 0; r < vectors * LANES; r += 4) NAME(split4)
    (x + 4 * (int64_t)slot[r], x + 4 * (int64_t)slot[r + 1], x + 4 * (int64_t)slot[r + 2], x + 4 * (int64_t)slot[r + 3],
     u + r, vectors * LANES);
    if (first)
        NAME(accumulate_rows)(l, width, stride, vectors, u, true, part);
    else
        NAME(accumulate_rows)(l, width, stride, vectors, u, false, part);
}

static void NAME(backward_below)(const REAL* l, int32_t width, int32_t rows, int32_t begin, int32_t end,
                                 const int32_t* slot, const REAL* x, REAL* sum, REAL* scratch)
{
    for (int32_t i = begin; i < end;)
    {
        const int32_t height = rows - i < FLX__BLOCK ? rows - i : FLX__BLOCK;
        const REAL*   block  = l + (int64_t)i * width;
        int32_t       part   = 0;
        for (; part + PASS <= height; part += PASS)
            NAME(backward_pass)(block + part, width, height, 4, slot + i + part, x, i + part == begin, scratch);
        const bool first = i + part == begin;
        switch ((height - part) / LANES)
        {
        case 1:
            NAME(backward_pass)(block + part, width, height, 1, slot + i + part, x, first, scratch);
            break;
        case 2:
            NAME(backward_pass)(block + part, width, height, 2, slot + i + part, x, first, scratch);
            break;
        case 3:
            NAME(backward_pass)(block + part, width, height, 3, slot + i + part, x, first, scratch);
            break;
        default:
            break;
        }
        i += height;
    }
    if (end > begin)
        NAME(reduce)(scratch, width, sum);
    else
        for (int32_t k = 0; k < 4 * width; ++k) sum[k] = 0;
}

/// As many rows of the product at a time as there are registers for their sums.
#if defined(__AVX512F__)
#define PRODUCT_ROWS 8
#else
#define PRODUCT_ROWS 4
#endif

/// `count` rows of a times three columns.
ALWAYS void NAME(multiply3_rows)(int32_t n, const REAL* a, int64_t ld, const int count, const REAL* x0, const REAL* x1,
                                 const REAL* x2, REAL sum[][3])
{
    VEC     s0[PRODUCT_ROWS] = {{0}}, s1[PRODUCT_ROWS] = {{0}}, s2[PRODUCT_ROWS] = {{0}};
    int32_t j = 0;
    for (; j + LANES <= n; j += LANES)
    {
        const VEC v0 = *(const LOOSE*)(x0 + j), v1 = *(const LOOSE*)(x1 + j), v2 = *(const LOOSE*)(x2 + j);
        for (int r = 0; r < count; ++r)
        {
            VEC e = *(const LOOSE*)(a + r * ld + j);
            KEEP(e);
            s0[r] += e * v0;
            s1[r] += e * v1;
            s2[r] += e * v2;
        }
    }
    for (int r = 0; r < count; ++r)
    {
        sum[r][0] = sum[r][1] = sum[r][2] = 0;
        for (int v = 0; v < LANES; ++v)
        {
            sum[r][0] += s0[r][v];
            sum[r][1] += s1[r][v];
            sum[r][2] += s2[r][v];
        }
        for (int32_t i = j; i < n; ++i)
        {
            sum[r][0] += a[r * ld + i] * x0[i];
            sum[r][1] += a[r * ld + i] * x1[i];
            sum[r][2] += a[r * ld + i] * x2[i];
        }
    }
}

static void NAME(multiply3)(int32_t n, const REAL* a, int64_t ld, int64_t begin, int64_t end, REAL* const x[3],
                            REAL* const y[3])
{
    REAL sum[PRODUCT_ROWS][3];
    for (int64_t i = begin; i < end;)
    {
        const int count = end - i < PRODUCT_ROWS ? 1 : PRODUCT_ROWS;
        if (count == 1)
            NAME(multiply3_rows)(n, a + i * ld, ld, 1, x[0], x[1], x[2], sum);
        else
            NAME(multiply3_rows)(n, a + i * ld, ld, PRODUCT_ROWS, x[0], x[1], x[2], sum);
        for (int r = 0; r < count; ++r)
            for (int c = 0; c < 3; ++c) y[c][i + r] = sum[r][c];
        i += count;
    }
}

static void NAME(fill)(flx__substitute* table)
{
#define SET2(name, suffix) table->name##_##suffix = NAME(name)
#define SET(name, suffix) SET2(name, suffix)
    SET(forward_diagonal, SUFFIX);
    SET(forward_below, SUFFIX);
    SET(backward_below, SUFFIX);
    SET(backward_diagonal, SUFFIX);
    SET(multiply3, SUFFIX);
#undef SET
#undef SET2
}

#undef VEC
#undef LOOSE
#undef QUAD
#undef ALWAYS
#undef KEEP
#undef TILE_VECTORS
#undef TILE_STEP
#undef PASS
#undef PRODUCT_ROWS
