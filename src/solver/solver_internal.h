// The solver's insides: one struct, written by solver.c (create), used by the stages of a step. Sizes: n vertices, n1
// free, n2 prone, K contacts that can push at once.
#ifndef FLX_SOLVER_SOLVER_INTERNAL_H
#define FLX_SOLVER_SOLVER_INTERNAL_H

#include "contact/cloth_contact.h"
#include "contact/contact.h"
#include "flexor/solver.h"
#include "kernels/kernels.h"
#include "model/model.h"
#include "solver/lcp.h"
#include "solver/state.h"
#include "sparse/sparse.h"

#define FLX_MOST_PUSHING 2048

/// Stretches of one element of the region; only filled when one of them is near the limit.
typedef struct flx_squeeze
{
    bool   watched;
    double sigma[3];
    double U[3][3], V[3][3]; // F V[k] = sigma[k] U[k]
} flx_squeeze;

/// Patch passes over one element set.
typedef struct flx_element_work
{
    void*    force;    // [local_count][4] float or double
    double*  energy;   // [patch_count]
    int32_t* inverted; // [patch_count]
} flx_element_work;

/// The local step of constraints; pull.c.
typedef struct flx_pull_work
{
    int64_t* first;       // [batch_count] first row of a batch in y
    int64_t* first_chunk; // [batch_count + 1]
    double*  x;           // [n][4] positions, and a 0
    double*  y;           // [rows of all constraints][4] w (p - S x), and a 0
    double*  energy;      // [chunks] J
    int64_t* of_vertex;   // [n + 1] its part of the two below
    int32_t* row;         // a row of y
    double*  coefficient; // and what it counts

    void (**project)(int32_t count, const double* z, const double* param, double* p); // [batch_count]
} flx_pull_work;

/// A row of W: prone corners of a contact and their weights.
typedef struct flx_contact_row
{
    int32_t count;
    int32_t at[FLX_CONTACT_CORNERS]; // prone vertex
    double  weight[FLX_CONTACT_CORNERS];
} flx_contact_row;

/// Contacts of the current inner iteration and what it takes to solve them.
typedef struct flx_contact_work
{
    int32_t      capacity;     // proxies + elements of the region
    int32_t      count;        // found by the last detection: proxies' contacts, then squeezed elements (proxy -1)
    int32_t      proxy_count;  // of them proxies'
    flx_contact* contact;      // [capacity]
    int32_t*     scratch;      // [capacity]
    int32_t*     slot;         // [capacity] of a squeezed element's row: its place in squeeze_push, else -1
    double*      squeeze_push; // [beta tets][3] N, of each stretch in the step's last solve; negative = not known
    bool         warm;         // the step has solved for contacts: the pushes of all proxies are fresh
    double*      free_gap;     // [capacity] gap after the contact-free increment, m

    int32_t          most;          // K
    int32_t          pushing_count; // working set
    int32_t*         pushing;       // [K] index into contact
    int32_t*         place;         // [capacity] place in the working set, -1 = not there
    flx_contact_row* row;           // [K] W
    void*            rows;          // [K][n2] U = W Sigma^-1, float or double
    double*          gram;          // [K][gram_ld] of the working set
    int64_t          gram_ld;       // not a power of two: a column is walked, too
    double*          q;             // [K] m
    double*          guess;         // [K] N, magnitudes: in the last round's answer, out this one's
    double*          lambda;        // [3][K] N, forces
    flx_lcp          lcp;
} flx_contact_work;

#define FLX_CLOTH_CORNERS 6 // a triangle's point against a triangle

/// A contact of cloth: corners of its proxy and of its partner, and what the solve wants to know of it.
typedef struct flx_everywhere_row
{
    int32_t count;
    int32_t at[FLX_CLOTH_CORNERS]; // vertex
    double  weight[FLX_CLOTH_CORNERS];
    double  normal[3];
    double  softness; // 1 / stiffness, m/N
    double  scale;    // 1 / |weight|^2
    double  spare;    // N/m, between its own stiffness and that of the contact
} flx_everywhere_row;

/// Contacts solved for without Sigma^-1; contact_everywhere.c. Rows are those of the last detection.
typedef struct flx_everywhere
{
    flx_everywhere_row* row;      // [capacity]
    uint8_t*            is_free;  // [capacity] pushes, or may from now on
    double*             lambda;   // [capacity] N
    double*             g;        // [capacity] m, gap that lambda leaves
    double*             z;        // [capacity] preconditioned g
    double*             p;        // [capacity] N, the step
    double*             bp;       // [capacity] m, B p
    float*              u;        // [n][4] the preconditioner's vector over vertices; it may be coarse
    double*             diagonal; // [n] of A
    int32_t             products; // substitutions of this solve
} flx_everywhere;

/// Iterates of this step and what mixes them; accelerate.c.
typedef struct flx_accelerator flx_accelerator;

struct flx_solver
{
    flx_context*     ctx;
    const flx_model* model;
    flx_settings     settings;
    flx_kernels      kernel;
    flx_corotated_fn corotated; // of the chosen precision
    bool             single;
    bool             has_contact;
    bool             everywhere;     // every vertex is prone and Sigma = A: no Sigma^-1, a factor of A instead
    bool             limits_squeeze; // min_stretch is in force
    flx_squeeze*     squeeze;        // [beta tets] of the last detection
    double           dt, inertia;    // s, 1/s^2: what multiplies the masses in A
    int32_t          n, n1, n2;

    flx_factor* factor;        // partial (compliance, refactor), full (full), none (pcg)
    bool        timed_springs; // some springs come or go: A changes with them
    uint64_t    spring_set;    // hash of the springs active in the factor
    void*       schur;         // [n2][n2] float or double; refactor keeps it
    void*       schur_inverse; // [n2][n2]; compliance
    void*       dense;         // [n2][n2]; refactor: Sigma + W^T C W, factorized in place
    flx_csc     matrix;        // full, pcg: A
    flx_csr     rows;          // A by rows: pcg, contact everywhere
    double*     pcg_work;      // [18 n] what flx_pcg asks for, and three columns of increments
    double*     pcg_diagonal;  // [n]

    // positions, all [n][3] in m
    double* x;          // where the step stands
    double* u;          // x - x_rest at the start of the outer iteration
    double* u_turned;   // the same with x2 at its inner position
    double* x_inertial; // x + dt v
    double* x_start;    // start of the step
    double* x_outer;    // start of the outer iteration

    // the state's contact record before the step, for undo and for counting switches
    double *push_before, *force_before, *prone_before;

    // columns
    double* r[3];          // [n] residual, N
    float*  b_f32[3];      // [n] right-hand side and solution of the substitutions (single)
    double* b_f64[3];      // [n] (double)
    double* base[3];       // [n2] reduced residual without beta, N
    double* running[3];    // [n2] Sigma d, N
    double* reduced[3];    // [n2] residual of the inner solve, N
    double* delta[3];      // [n2] increment of one inner iteration, m
    double* d[3];          // [n2] sum of increments, m
    double* push[3];       // [n2] W^T lambda, N
    float*  narrow_in[3];  // [n2]
    float*  narrow_out[3]; // [n2]

    int32_t  follower_count; // moving bones that hold flesh
    int32_t* follower;       // [followers] bone
    float*   follow_weight;  // [followers][n] how much of the bone's motion a vertex goes along with

    uint8_t*           prone;        // [n] 1 for collision-prone vertices
    double*            spring_force; // [springs][3] N
    flx_obstacle_pose* bone;         // [bones] at the step's time
    flx_element_work   alpha, beta;
    flx_pull_work      pull;
    double*            air;     // [n][3] N: of the air, in this step; NULL: there is none
    void*              scratch; // per worker, for the kernels
    double*            partial; // [chunks][4] sums and maxima of parallel loops, one row a chunk

    flx_self_contact**  self;  // [group_count] of bodies with tets
    flx_cloth_contact** cloth; // [group_count] of cloth
    flx_contact_work    contact;
    flx_everywhere      everywhere_work;
    flx_accelerator*    accelerator; // NULL: off

    flx_solver_info info;
    flx_step_stats  stats; // of the step in progress
};

/// contact_work.c: room for `capacity` contacts and `stretch_count` pushes of squeezed elements; with n2 > 0 for a
/// solve by rows of Sigma^-1 [n2][n2], in single or double precision. What was made so far stays in `w` on failure.
flx_status flx__contact_work_create(flx_context* ctx, int32_t capacity, int64_t stretch_count, int32_t n2, bool single,
                                    flx_contact_work* w);
void       flx__contact_work_release(flx_context* ctx, flx_contact_work* w);

// --- stages of a step, in order -------------------------------------------------------------------------

/// forces.c: r = -dE/dx at s->x of everything but the beta elements and contacts; u is filled. Writes energy, inverted.
void flx__residual(flx_solver* s, double time);
/// forces.c: forces of the beta elements, F at u, R at u_turned (`turned`) or u, written to out[3][n2].
void flx__beta_forces(flx_solver* s, bool turned, double* const out[3]);
/// forces.c: elastic + spring energy of positions x and how many elements are inverted, by the double-precision
/// reference.
double flx__reference_energy(flx_solver* s, const double* x, double time, int32_t* inverted);
/// pull.c: y of all constraints at positions x [n][3]; returns their energy. f += what they do to vertex v.
flx_status flx__pull_create(flx_solver* s);
void       flx__pull_release(flx_solver* s);
double     flx__pull(flx_solver* s, const double* x);
void       flx__pull_at(const flx_solver* s, int64_t v, double f[3]);
/// detect.c: contacts at s->x, into s->contact. q: the state that the step begins with.
void flx__find_contacts(flx_solver* s, const flx_state* q, double time);
/// detect.c: a step begins at x_start; the state remembers what the step, from there to x, has done to the sides of
/// cloth.
void flx__begin_sides(flx_solver* s);
void flx__settle_sides(flx_solver* s, flx_state* q);
/// follow.c: weights of the warm start; x goes along with the bones.
flx_status flx__follow_create(flx_solver* s);
void       flx__follow_bones(flx_solver* s, double time);
/// substitution.c: y1 = L11^-1 r1 in b, base = r2 - L21 y1; then x1 = L11^-T (y1 - L21^T d) in b.
void flx__forward(flx_solver* s);
void flx__backward(flx_solver* s);
/// substitution.c: r := A^-1 r, no contacts. False for strategies that cannot.
bool flx__plain_solve(flx_solver* s);
/// contact_rows.c: rows of the working set from place `from` on and their part of the Gram matrix, with the contacts'
/// normals or without; delta += U^T f for the first `count` rows.
void flx__rows_join(flx_solver* s, int32_t from, bool normals);
void flx__rows_move(flx_solver* s, int32_t count, double* const f[3]);
/// contact_solve.c: delta = Sigma^-1 reduced by the held inverse; delta = (dense factor)^-1 rhs.
void flx__free_increment(flx_solver* s);
void flx__dense_increment(flx_solver* s, double* const rhs[3]);
/// contact_solve.c: a step begins: what it has found out about pushes within the last one does not count.
void flx__forget_pushes(flx_solver* s);
/// contact_solve.c: delta = argmin 1/2 delta Sigma delta - reduced delta, contacts kept; push = W^T lambda.
void flx__solve_contacts(flx_solver* s, flx_state* q);
/// contact_everywhere.c: workspace, and both of the above for Sigma = A.
flx_status flx__everywhere_create(flx_solver* s);
void       flx__everywhere_release(flx_solver* s);
void       flx__everywhere_increment(flx_solver* s, double* const rhs[3]);
void       flx__solve_everywhere(flx_solver* s, flx_state* q);
/// global.c: the same for the whole system: strategies `full` and `pcg`. Increments into b_f64.
flx_status flx__global_solve(flx_solver* s, flx_state* q);
/// rounding.c: r := A v for a v of noise, |v| < 1; then what rounding leaves of v in one outer iteration, at most:
/// above 1 steps diverge.
void   flx__rounding_load(flx_solver* s, const flx_csc* a);
double flx__rounding_error(flx_solver* s);

/// accelerate.c: made if the settings ask for it, else left NULL; everything below does nothing then.
flx_status flx__accelerator_create(flx_solver* s);
void       flx__accelerator_destroy(flx_solver* s);
/// accelerate.c: history begins anew.
void flx__accelerate_begin(flx_solver* s);
/// accelerate.c: after the residual. True: x was a mixed iterate with more energy than the one before; x and x_outer
/// are now the plain one, whose residual is wanted.
bool flx__accelerate_rejects(flx_solver* s);
/// accelerate.c: after an iteration that is not the last one: x becomes the mixed iterate.
void flx__accelerate(flx_solver* s);

/// contact_solve.c: a contact's stiffness, N/m (squeezed elements take the first group's), and its gap, m, after the
/// motion delta of the vertices from first_vertex on.
double flx__contact_stiffness(const flx_solver* s, const flx_contact* c);
double flx__contact_gap_at(const flx_contact* c, double* const delta[3], int32_t first_vertex);

/// solver.c: every component of the bodies must be held by a spring, or the quasi-static matrix is singular;
/// FLX_ERR_UNHELD names one that is not.
flx_status flx__check_held(flx_context* ctx, const flx_model* m, double time);
/// solver.c
uint64_t   flx__spring_set(const flx_model* m, double time);
flx_status flx__solver_factorize(flx_solver* s, double time);

/// Items of a chunk in loops over vertices or elements; `partial` has a row for each chunk of the longer of the two.
#define FLX_CHUNK 2048

#endif
