// Rows U = W Sigma^-1 of contacts, their products with W^T, and what forces on them move. Compiled for float and
// double. REAL and ROWS(name) are defined by the includer.

/// U_i = sum_a w_a Sigma^-1[v_a, :] over the prone corners of contact i.
static void ROWS(build)(const REAL* inverse, int32_t n1, int32_t n2, const flx_contact* c, REAL* row)
{
    bool first = true;
    for (int a = 0; a < FLX_CONTACT_CORNERS; ++a)
    {
        if (c->vertex[a] < n1 || c->weight[a] == 0) continue; // unused corners are -1
        const REAL* from = inverse + (int64_t)(c->vertex[a] - n1) * n2;
        const REAL  w    = (REAL)c->weight[a];
        if (first)
            for (int32_t k = 0; k < n2; ++k) row[k] = w * from[k];
        else
            for (int32_t k = 0; k < n2; ++k) row[k] += w * from[k];
        first = false;
    }
    if (first) memset(row, 0, sizeof *row * (size_t)n2);
}

/// (U W^T)_ij = sum_b w_jb U_i[v_jb]
static double ROWS(dot)(const REAL* row, int32_t n1, const flx_contact* c)
{
    double sum = 0;
    for (int b = 0; b < FLX_CONTACT_CORNERS; ++b)
        if (c->vertex[b] >= n1) sum += c->weight[b] * (double)row[c->vertex[b] - n1];
    return sum;
}

/// delta[axis] += sum_i U_i f_i[axis] over [begin, end) of the prone vertices
static void ROWS(move)(const REAL* rows, int32_t n2, int32_t count, const double* const f[3], int64_t begin,
                       int64_t end, double* const delta[3])
{
    for (int32_t i = 0; i < count; ++i)
    {
        const double fx = f[0][i], fy = f[1][i], fz = f[2][i];
        if (fx == 0 && fy == 0 && fz == 0) continue;
        const REAL* row = rows + (int64_t)i * n2;
        for (int64_t k = begin; k < end; ++k)
        {
            const double u = (double)row[k];
            delta[0][k] += u * fx;
            delta[1][k] += u * fy;
            delta[2][k] += u * fz;
        }
    }
}
