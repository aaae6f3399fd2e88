// Constraints of Projective Dynamics: energies that pull a linear measure of the positions onto a manifold.
//
//   E_j(q) = w_j/2 |S_j q - p_j|^2,   p_j = the point of manifold j nearest to S_j q
//
// S_j is a sparse matrix of `rows` rows; with q [n][3], S_j q and p_j are rows x 3. The local step finds the p_j; with
// them held the energy is quadratic, with the constant matrix sum_j w_j S_j^T S_j (one block serves x, y and z), and
// the force is -w_j S_j^T (S_j q - p_j). The gradient of E_j is exactly minus that force, since p_j is the nearest
// point. A type says how S_j q is projected; everything else is the same for all types. [Bouaziz14], [MPB] eq. 1-4.
#ifndef FLX_CONSTRAINTS_CONSTRAINTS_H
#define FLX_CONSTRAINTS_CONSTRAINTS_H

#include "base/base.h"
#include "sparse/sparse.h"

#define FLX_CONSTRAINT_ROWS 3 // most rows of S_j

typedef struct flx_constraint_type
{
    const char* name;   // as in a scene: "spring", "strain", "bending", "tet_strain", "tet_volume", "attachment"
    int32_t     rows;   // of S_j: 1, 2 or 3
    int32_t     params; // doubles a constraint
    /// p [count][rows][3] from z = S q [count][rows][3] and param [count][params]; p and z may be the same. Finite z
    /// gives finite p, also where the nearest point is not unique; z that is not finite counts as 0.
    void (*project)(int32_t count, const double* z, const double* param, double* p);
} flx_constraint_type;

extern const flx_constraint_type flx__edge_spring;     // spring.c:       1 row,  param: rest length, m
extern const flx_constraint_type flx__triangle_strain; // triangle_strain.c: 2 rows, param: least, most stretch
extern const flx_constraint_type flx__bending;         // bending.c:      1 row,  param: |S X|, 1/m
extern const flx_constraint_type
    flx__tet_strain; // tet_strain.c:   3 rows, param: least, most stretch (1, 1: a rotation)
extern const flx_constraint_type flx__tet_volume; // tet_volume.c:   3 rows, param: least, most det F
extern const flx_constraint_type flx__attachment; // attachment.c:   1 row,  param: target x, y, z, m

/// Constraints of one type. S_j has the columns vertex[first[j]] .. vertex[first[j + 1] - 1].
typedef struct flx_constraint_batch
{
    const flx_constraint_type* type;
    int32_t                    count;
    int32_t*                   first;       // [count + 1]
    int32_t*                   vertex;      // [first[count]]
    double*                    coefficient; // [first[count]][rows]
    double*                    weight;      // [count] w_j
    double*                    param;       // [count][type->params]
} flx_constraint_batch;

void flx__constraint_batch_release(flx_context* ctx, flx_constraint_batch* batch);

// --- builders, from rest positions x [n][3] ----------------------------------------------------------------
// `weight` [count] is the material's stiffness of each element; NULL = 1 for all. w_j = weight times the rest measure
// said. Errors name the element: FLX_ERR_MESH for one without length, area or volume; FLX_ERR_SETTING for a stiffness
// that is negative or limits out of order (least > 0; a triangle's may be 0); FLX_ERR_ARGUMENT for a target that is not
// finite; FLX_ERR_MEMORY. *out is zeroed then.

/// The unique edges of triangles, in order of first appearance: edge [*count][2], flx__free() it.
flx_status flx__triangle_edges(flx_context* ctx, int32_t triangle_count, const int32_t* triangle, int32_t* count,
                               int32_t** edge);
/// S q = q_a - q_b, p = L0 S q / |S q|, w_j = weight.
flx_status flx__edge_springs(flx_context* ctx, const double* x, int32_t count, const int32_t* edge,
                             const double* weight, flx_constraint_batch* out);
/// S q = Dm^-T [q1 - q0; q2 - q0]: rows are the derivatives of q along the triangle's own rest axes; p = S q with
/// singular values clamped to [least, most]; w_j = weight x area. `axis` [2][3]: orthonormal directions in which all
/// rest triangles lie, for rows along these instead (a flat sheet); NULL = each triangle's own.
flx_status flx__triangle_strains(flx_context* ctx, const double* x, int32_t count, const int32_t* triangle,
                                 const double* weight, double least, double most, const double axis[6],
                                 flx_constraint_batch* out);
/// One for each vertex of the triangles, boundary included: S q = 1/A_i sum_k (cot a + cot b)/2 (q_k - q_i), A_i a
/// third of the incident area; p = |S X| S q/|S q| (0 when |S X| < 1e-9 /m); w_j = weight x A_i. `vertex_weight` [n] by
/// vertex.
flx_status flx__bendings(flx_context* ctx, int32_t n, const double* x, int32_t triangle_count, const int32_t* triangle,
                         const double* vertex_weight, flx_constraint_batch* out);
/// S q = F^T, p = F^T with singular values clamped (the last one signed like det F; det p > 0), w_j = weight x volume.
flx_status flx__tet_strains(flx_context* ctx, const double* x, int32_t count, const int32_t* tet, const double* weight,
                            double least, double most, flx_constraint_batch* out);
/// S q = F^T, p = the nearest matrix with det in [least, most], w_j = weight x volume.
flx_status flx__tet_volumes(flx_context* ctx, const double* x, int32_t count, const int32_t* tet, const double* weight,
                            double least, double most, flx_constraint_batch* out);
/// S q = sum of corners' weights, p = the target. Single vertices: corners 1, weights NULL.
flx_status flx__attachments(flx_context* ctx, int32_t count, int32_t corners, const int32_t* vertex,
                            const double* corner_weight, const double* target, const double* weight,
                            flx_constraint_batch* out);

// --- use -----------------------------------------------------------------------------------------------------

/// z [count][rows][3] = S q; parallel, no heap.
void flx__constraints_measure(flx_context* ctx, const flx_constraint_batch* batch, const double* q, double* z);
/// p from z, parallel.
void flx__constraints_project(flx_context* ctx, const flx_constraint_batch* batch, const double* z, double* p);
/// sum_j w_j/2 |z - p|^2, summed in a fixed order.
double flx__constraints_energy(flx_context* ctx, const flx_constraint_batch* batch, const double* z, const double* p);

/// Which entries of a batch's `vertex` are a vertex: gathering in stored order needs it. entry k of vertex v is
/// entry[first[v]] .. entry[first[v + 1] - 1], an index into batch->vertex; of[entry] = its constraint.
typedef struct flx_constraint_gather
{
    int32_t  n;
    int32_t* first; // [n + 1]
    int32_t* entry;
    int32_t* of; // [batch->first[batch->count]] constraint of each entry
} flx_constraint_gather;
flx_status flx__constraint_gather_create(flx_context* ctx, const flx_constraint_batch* batch, int32_t n,
                                         flx_constraint_gather* out);
void       flx__constraint_gather_release(flx_context* ctx, flx_constraint_gather* gather);
/// f [n][3] += sum_j w_j S_j^T y_j, y [count][rows][3]; parallel over vertices, stored order, no heap. With y = p - z
/// it is the force; with y = p the right-hand side of the global step.
void flx__constraints_gather(flx_context* ctx, const flx_constraint_batch* batch, const flx_constraint_gather* gather,
                             const double* y, double* f);

/// A = diag(diagonal) + sum over batches and j of w_j S_j^T S_j, lower triangle; diagonal [n] may be NULL.
flx_status flx__constraints_assemble(flx_context* ctx, int32_t n, const double* diagonal, int32_t batch_count,
                                     const flx_constraint_batch* batch, flx_csc* out);

#endif
