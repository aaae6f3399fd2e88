// The tables. A line here is a key of the scene format: what it is called, what it may hold, what it means when it is
// absent, and the sentence that explains it. Everything else follows from them.
#include "scene/schema.h"

#include "scene/finish.h"

#include <stddef.h>

#define FAR 1e6 // m: no coordinate is further out than this; a mesh in mm read as m is caught here

#define FIELDS(array) .field = (array), .field_count = (int32_t)(sizeof(array) / sizeof(array)[0])
#define AT(type, member) .offset = offsetof(type, member)
#define MANY_AT(type, member, counter) .offset = offsetof(type, member), .count_offset = offsetof(type, counter)

_Static_assert(sizeof(flx_shape_kind) == sizeof(int32_t) && sizeof(flx_law) == sizeof(int32_t),
               "words are stored as int32_t");

// A table, one key to an entry.
// clang-format off

// --- shapes -----------------------------------------------------------------------------------------------

static const flx__field plane_fields[] = {
    { .key = "point", .kind = FLX__POINT, AT(flx_shape, a), .unit = "m", .low = -FAR, .high = FAR,
      .flags = FLX__REQUIRED,
      .help = "a point on the plane" },
    { .key = "normal", .kind = FLX__DIRECTION, AT(flx_shape, b), .low = -FAR, .high = FAR, .flags = FLX__REQUIRED,
      .help = "points away from the solid side; any length" },
};
static const flx__section plane = {
    .name = "plane", FIELDS(plane_fields), .size = sizeof(flx_shape), .finish = flx__finish_plane,
    .help = "A half space: everything behind the plane is solid.",
};

static const flx__field sphere_fields[] = {
    { .key = "center", .kind = FLX__POINT, AT(flx_shape, a), .unit = "m", .low = -FAR, .high = FAR,
      .flags = FLX__REQUIRED,
      .help = "the middle" },
    { .key = "radius", .kind = FLX__NUMBER, AT(flx_shape, radius), .unit = "m", .low = 0.0, .high = FAR,
      .flags = FLX__REQUIRED | FLX__ABOVE,
      .help = "from the middle to the surface" },
};
static const flx__section sphere = {
    .name = "sphere", FIELDS(sphere_fields), .size = sizeof(flx_shape), .finish = flx__finish_sphere,
    .help = "A ball.",
};

static const flx__field capsule_fields[] = {
    { .key = "from", .kind = FLX__POINT, AT(flx_shape, a), .unit = "m", .low = -FAR, .high = FAR,
      .flags = FLX__REQUIRED,
      .help = "one end of the axis" },
    { .key = "to", .kind = FLX__POINT, AT(flx_shape, b), .unit = "m", .low = -FAR, .high = FAR, .flags = FLX__REQUIRED,
      .help = "the other end of the axis" },
    { .key = "radius", .kind = FLX__NUMBER, AT(flx_shape, radius), .unit = "m", .low = 0.0, .high = FAR,
      .flags = FLX__REQUIRED | FLX__ABOVE,
      .help = "from the axis to the surface" },
};
static const flx__section capsule = {
    .name = "capsule", FIELDS(capsule_fields), .size = sizeof(flx_shape), .finish = flx__finish_capsule,
    .help = "All points within `radius` of a line segment.",
};

static const flx__field box_fields[] = {
    { .key = "min", .kind = FLX__VECTOR, AT(flx_shape, a), .unit = "m", .low = -FAR, .high = FAR,
      .flags = FLX__REQUIRED,
      .help = "the corner with the smallest coordinates" },
    { .key = "max", .kind = FLX__VECTOR, AT(flx_shape, b), .unit = "m", .low = -FAR, .high = FAR,
      .flags = FLX__REQUIRED,
      .help = "the corner with the largest coordinates" },
};
static const flx__section box = {
    .name = "box", FIELDS(box_fields), .size = sizeof(flx_shape), .finish = flx__finish_box,
    .help = "A box along the axes.",
};

static const flx__field shape_fields[] = {
    { .key = "sphere", .kind = FLX__ONE, .section = &sphere, .help = "a ball" },
    { .key = "capsule", .kind = FLX__ONE, .section = &capsule, .help = "a line segment with a radius" },
    { .key = "box", .kind = FLX__ONE, .section = &box, .help = "a box along the axes" },
    { .key = "plane", .kind = FLX__ONE, .section = &plane, .help = "a half space: what lies behind the plane" },
};
static const flx__section shape = {
    .name = "shapes", FIELDS(shape_fields), .size = sizeof(flx_shape), .finish = flx__finish_shape,
    .help = "Where a region is wanted, exactly one of these.",
    .example = "region: {sphere: {center: [0.28, 0, 0.03], radius: 60 mm}}",
};

// --- joints -----------------------------------------------------------------------------------------------

static const flx__field joint_fields[] = {
    { .key = "name", .kind = FLX__NAME, AT(flx__joint, name), .flags = FLX__REQUIRED,
      .help = "how the scene refers to it" },
    { .key = "at", .kind = FLX__VECTOR, AT(flx__joint, at), .unit = "m", .low = -FAR, .high = FAR,
      .shown = "from `mesh`",
      .help = "where it is" },
    { .key = "mesh", .kind = FLX__PATH, AT(flx__joint, mesh),
      .help = "a mesh that marks the joint with a group; the joint is the centre of that group's vertices" },
    { .key = "group", .kind = FLX__TEXT, AT(flx__joint, group), .help = "the group in the mesh" },
    { .key = "scale", .kind = FLX__NUMBER, AT(flx__joint, scale), .low = 0.0, .high = 1e6, .flags = FLX__ABOVE,
      .fallback = "1",
      .help = "file unit to m; as for the body" },
    { .key = "rotate", .kind = FLX__VECTOR, AT(flx__joint, rotate_deg), .unit = "deg", .low = -3600, .high = 3600,
      .help = "as for the body" },
    { .key = "translate", .kind = FLX__VECTOR, AT(flx__joint, translate), .unit = "m", .low = -FAR, .high = FAR,
      .help = "as for the body" },
};
static const flx__section joint = {
    .name = "joints", FIELDS(joint_fields), .size = sizeof(flx__joint), .finish = flx__finish_joint,
    .help = "Named points. Wherever a point is wanted, the name of a joint will do.",
    .example = "joints:\n"
               "  - {name: elbow, at: [0.28, 0, 0]}\n"
               "  - {name: wrist, mesh: data:makehuman/base.obj, group: joint-l-hand, scale: 0.1}",
};

// --- bodies -----------------------------------------------------------------------------------------------

static const flx__field lattice_fields[] = {
    { .key = "cell", .kind = FLX__NUMBER, AT(flx_body_desc, lattice_cell), .unit = "m", .low = 0.0, .high = FAR,
      .flags = FLX__ABOVE, .shown = "from `tets`",
      .help = "edge of a cubic cell" },
    { .key = "tets", .kind = FLX__COUNT, AT(flx_body_desc, lattice_tets), .low = 12, .high = 50e6, .shown = "100 k",
      .help = "wanted number of tetrahedra; the cell is chosen to come close" },
};
static const flx__section lattice = {
    .name = "lattice", FIELDS(lattice_fields), .size = sizeof(flx_body_desc), .finish = flx__finish_lattice,
    .help = "The body-centred cubic lattice that a surface is embedded in: `cell` or `tets`.",
    .example = "lattice: {tets: 640 k}",
};

static const flx__field material_fields[] = {
    { .key = "young", .kind = FLX__NUMBER, AT(flx_material, young), .unit = "Pa", .low = 0.0, .high = 1e12,
      .flags = FLX__ABOVE, .fallback = "30 kPa",
      .help = "Young's modulus: fat and muscle 10 to 100 kPa, rubber 1 to 10 MPa" },
    { .key = "density", .kind = FLX__NUMBER, AT(flx_material, density), .unit = "kg/m3", .low = 0.0, .high = 1e6,
      .flags = FLX__ABOVE, .fallback = "1000 kg/m3",
      .help = "mass per volume" },
    { .key = "young_file", .kind = FLX__PATH, AT(flx_material, young_file), .shown = "none",
      .help = "with tets, instead of young: a text file with one number an element in the mesh's order, in Pa" },
    { .key = "area_density", .kind = FLX__NUMBER, AT(flx_material, area_density), .unit = "kg/m2", .low = 0.0,
      .high = 1e6, .flags = FLX__ABOVE, .fallback = "0.2 kg/m2",
      .help = "of cloth, instead of the two above: mass per area; a shirt 0.1, jeans 0.4" },
    { .key = "poisson", .kind = FLX__NUMBER, .flags = FLX__CHECKED_ONLY, .low = 0.0, .high = 0.0, .fallback = "0",
      .reason = "Projective Dynamics takes Poisson's ratio as 0",
      .help = "Poisson's ratio; Projective Dynamics takes it as 0, so only 0 is accepted" },
};
static const flx__advice material_advice[] = {
    { "nu", "Poisson's ratio is called poisson, and is 0 in Projective Dynamics" },
    { "mass", "mass follows from the volume; set density" },
    { "E", "Young's modulus is called young" },
    { NULL, NULL },
};
static const flx__section material = {
    .name = "material", FIELDS(material_fields), .size = sizeof(flx_material), .advice = material_advice,
    .help = "What a body is made of.",
    .example = "material: {young: 30 kPa, density: 1000 kg/m3}",
};

static const flx__field constraint_fields[] = {
    { .key = "spring", .kind = FLX__NUMBER, AT(flx_constraint_desc, stiffness), .unit = "N/m", .low = 0.0,
      .high = 1e12, .flags = FLX__ABOVE,
      .help = "cloth: each edge keeps its length" },
    { .key = "strain", .kind = FLX__NUMBER, AT(flx_constraint_desc, stiffness), .unit = "N/m", .low = 0.0,
      .high = 1e12, .flags = FLX__ABOVE,
      .help = "cloth: the two stretches of each triangle stay within `min` and `max`" },
    { .key = "bending", .kind = FLX__NUMBER, AT(flx_constraint_desc, stiffness), .unit = "N m", .low = 0.0,
      .high = 1e12, .flags = FLX__ABOVE,
      .help = "cloth: the mean curvature at each vertex keeps its size" },
    { .key = "tet_strain", .kind = FLX__NUMBER, AT(flx_constraint_desc, stiffness), .unit = "Pa", .low = 0.0,
      .high = 1e12, .flags = FLX__ABOVE,
      .help = "other bodies, besides their material: the three stretches of each element stay within `min` and `max`" },
    { .key = "tet_volume", .kind = FLX__NUMBER, AT(flx_constraint_desc, stiffness), .unit = "Pa", .low = 0.0,
      .high = 1e12, .flags = FLX__ABOVE,
      .help = "other bodies, besides their material: the volume ratio of each element stays within `min` and `max`" },
    { .key = "min", .kind = FLX__NUMBER, AT(flx_constraint_desc, least), .low = 0.0, .high = 1.0, .fallback = "1",
      .help = "least stretch or volume ratio that meets no resistance" },
    { .key = "max", .kind = FLX__NUMBER, AT(flx_constraint_desc, most), .low = 1.0, .high = 1e3, .fallback = "1",
      .help = "most of it" },
    { .key = "group", .kind = FLX__TEXT, AT(flx_constraint_desc, group), .shown = "the whole body",
      .help = "only the elements of this group of the mesh; not with a lattice" },
    { .key = "file", .kind = FLX__PATH, AT(flx_constraint_desc, file), .shown = "none",
      .help = "with strain, tet_strain or tet_volume: a text file with one factor of the stiffness an element, in the "
              "mesh's order" },
};
static const flx__advice constraint_advice[] = {
    { "limits", "say min: 0.95, max: 1.05" },
    { "stiffness", "the stiffness is the value of spring, strain, bending, tet_strain or tet_volume" },
    { NULL, NULL },
};
static const flx__section constraint = {
    .name = "constraints", FIELDS(constraint_fields), .size = sizeof(flx_constraint_desc),
    .finish = flx__finish_constraint, .advice = constraint_advice,
    .help = "What a body resists: in each entry exactly one of the first five. Cloth is made of them; other bodies have "
            "them besides the material.",
    .example = "constraints:\n"
               "  - {strain: 200 N/m, min: 0.95, max: 1.05}\n"
               "  - {bending: 5e-5 N m}",
};

static const flx__field body_fields[] = {
    { .key = "name", .kind = FLX__NAME, AT(flx_body_desc, name), .shown = "body0, body1, ...",
      .help = "how the scene refers to it" },
    { .key = "surface", .kind = FLX__PATH, AT(flx_body_desc, surface),
      .help = "a closed surface (OBJ, PLY, STL, OFF), embedded in a lattice made here, or in `tets` when those are "
              "given too" },
    { .key = "tets", .kind = FLX__PATH, AT(flx_body_desc, tets),
      .help = "a tetrahedral mesh (Gmsh, Medit, TetGen), taken as it is" },
    { .key = "cloth", .kind = FLX__PATH, AT(flx_body_desc, cloth),
      .help = "a triangle mesh (OBJ, PLY, STL, OFF), taken as it is: its own vertices move" },
    { .key = "group", .kind = FLX__TEXT, AT(flx_body_desc, group), .shown = "the whole file",
      .help = "only this group of the file" },
    { .key = "scale", .kind = FLX__NUMBER, AT(flx_body_desc, scale), .low = 0.0, .high = 1e6, .flags = FLX__ABOVE,
      .fallback = "1",
      .help = "file unit to m: 0.001 for a file in mm" },
    { .key = "rotate", .kind = FLX__VECTOR, AT(flx_body_desc, rotate_deg), .unit = "deg", .low = -3600, .high = 3600,
      .help = "after scaling: about x, then y, then z" },
    { .key = "translate", .kind = FLX__VECTOR, AT(flx_body_desc, translate), .unit = "m", .low = -FAR, .high = FAR,
      .help = "after rotating" },
    { .key = "weld", .kind = FLX__FLAG, AT(flx_body_desc, weld), .fallback = "false",
      .help = "merge vertices at the same place (STL files always are)" },
    { .key = "weld_tolerance", .kind = FLX__NUMBER, AT(flx_body_desc, weld_tolerance), .low = 0.0, .high = 0.1,
      .fallback = "0",
      .help = "with weld: how far apart they may be, as a fraction of the bounding box diagonal" },
    { .key = "repair", .kind = FLX__FLAG, AT(flx_body_desc, repair), .fallback = "false",
      .help = "drop flat and repeated elements instead of refusing the mesh" },
    { .key = "lattice", .kind = FLX__ONE, .section = &lattice, .help = "how fine the lattice around a surface is" },
    { .key = "crop", .kind = FLX__MANY, MANY_AT(flx_body_desc, crop, crop_count), .section = &shape,
      .names = FLX__NO_NAMES, .shown = "everything",
      .help = "keep only what lies inside one of these shapes" },
    { .key = "material", .kind = FLX__ONE, AT(flx_body_desc, material), .section = &material,
      .help = "what it is made of" },
    { .key = "constraints", .kind = FLX__MANY, MANY_AT(flx_body_desc, constraint, constraint_count),
      .section = &constraint, .names = FLX__NO_NAMES,
      .help = "what it resists besides the material; all that cloth resists" },
    { .key = "velocity", .kind = FLX__VECTOR, AT(flx_body_desc, velocity), .unit = "m/s", .low = -1e4, .high = 1e4,
      .help = "at the start; dynamic mode only" },
};
static const flx__advice body_advice[] = {
    { "mesh", "say surface (a closed surface to embed), tets (a tetrahedral mesh) or cloth (a triangle mesh)" },
    { "file", "say surface (a closed surface to embed), tets (a tetrahedral mesh) or cloth (a triangle mesh)" },
    { "mass", "mass follows from the volume; set material.density" },
    { "fixed", "to hold a part of a body in place, add it to fix, at the top of the scene" },
    { NULL, NULL },
};
static const flx__section body = {
    .name = "bodies", FIELDS(body_fields), .size = sizeof(flx_body_desc), .finish = flx__finish_body,
    .advice = body_advice,
    .help = "What deforms: a surface, a tetrahedral mesh, a surface embedded in a tetrahedral mesh, or cloth.",
    .example = "bodies:\n"
               "  - name: arm\n"
               "    surface: arm.obj\n"
               "    lattice: {tets: 640 k}\n"
               "    material: {young: 30 kPa, density: 1000 kg/m3}\n"
               "  - name: sheet\n"
               "    cloth: sheet.obj\n"
               "    material: {area_density: 0.2 kg/m2}\n"
               "    constraints: [{strain: 200 N/m, min: 0.95, max: 1.05}, {bending: 5e-5 N m}]",
};

// --- bones, attachments, fixed parts, loads -----------------------------------------------------------------

static const flx__field bone_fields[] = {
    { .key = "name", .kind = FLX__NAME, AT(flx_bone_desc, name), .flags = FLX__REQUIRED,
      .help = "how the scene refers to it" },
    { .key = "capsule", .kind = FLX__ONE, AT(flx_bone_desc, shape), .section = &capsule,
      .help = "a bone as a capsule" },
    { .key = "mesh", .kind = FLX__PATH, AT(flx_bone_desc, shape.path),
      .help = "a bone as a closed surface from a file" },
    { .key = "group", .kind = FLX__TEXT, AT(flx_bone_desc, shape.group), .shown = "the whole file",
      .help = "with mesh: only this group" },
    { .key = "scale", .kind = FLX__NUMBER, AT(flx_bone_desc, shape.scale), .low = 0.0, .high = 1e6,
      .flags = FLX__ABOVE, .fallback = "1",
      .help = "with mesh: file unit to m" },
    { .key = "parent", .kind = FLX__REF, AT(flx_bone_desc, parent), .names = FLX__BONES, .shown = "none",
      .help = "the bone whose motion this one inherits" },
};
static const flx__section bone = {
    .name = "bones", FIELDS(bone_fields), .size = sizeof(flx_bone_desc), .finish = flx__finish_bone,
    .help = "Rigid parts inside bodies. `attach` ties the flesh to them, `motion` moves them.",
    .example = "bones:\n"
               "  - {name: humerus, capsule: {from: [0, 0, 0], to: elbow, radius: 11 mm}}\n"
               "  - {name: ulna, mesh: ulna.stl, scale: 0.001, parent: humerus}",
};

static const flx__field attach_fields[] = {
    { .key = "body", .kind = FLX__REF, AT(flx_attach_desc, body), .names = FLX__BODIES, .shown = "the only body",
      .help = "which body" },
    { .key = "bones", .kind = FLX__REFS, MANY_AT(flx_attach_desc, bone, bone_count), .names = FLX__BONES,
      .shown = "all bones",
      .help = "which bones" },
    { .key = "points", .kind = FLX__COUNT, AT(flx_attach_desc, points), .low = 1, .high = 10e6, .fallback = "1000",
      .help = "springs in all, spread evenly over the bones' surfaces" },
    { .key = "stiffness", .kind = FLX__NUMBER, AT(flx_attach_desc, stiffness), .unit = "N/m", .low = 0.0,
      .high = 1e12, .flags = FLX__ABOVE, .fallback = "2 N/mm",
      .help = "of one spring" },
};
static const flx__advice weight_advice[] = {
    { "weight", "the strength of a spring is called stiffness, above 0 and at most 1e12 N/m" },
    { "pin_weight", "the strength of a spring is called stiffness, above 0 and at most 1e12 N/m" },
    { NULL, NULL },
};
static const flx__section attach = {
    .name = "attach", FIELDS(attach_fields), .size = sizeof(flx_attach_desc), .finish = flx__finish_attach,
    .advice = weight_advice,
    .help = "Ties a body to bones by springs of zero length between points on the bones and the flesh around them.",
    .example = "attach: {body: arm, bones: [humerus, forearm], points: 4000, stiffness: 2 N/mm}",
};

static const flx__field fix_fields[] = {
    { .key = "body", .kind = FLX__REF, AT(flx_fix_desc, body), .names = FLX__BODIES, .shown = "the only body",
      .help = "which body" },
    { .key = "region", .kind = FLX__SHAPE, AT(flx_fix_desc, region), .section = &shape, .words = "all",
      .flags = FLX__REQUIRED,
      .help = "which vertices, at rest: a shape, or all" },
    { .key = "stiffness", .kind = FLX__NUMBER, AT(flx_fix_desc, stiffness), .unit = "N/m", .low = 0.0, .high = 1e12,
      .flags = FLX__ABOVE | FLX__AUTO, .fallback = "0", .shown = "auto",
      .help = "of the spring that holds one vertex; auto: much stiffer than the material around it" },
    { .key = "bone", .kind = FLX__REF, AT(flx_fix_desc, bone), .names = FLX__BONES, .shown = "none",
      .help = "what carries them: they move with this bone instead of staying" },
    { .key = "from", .kind = FLX__NUMBER, AT(flx_fix_desc, from), .unit = "s", .low = 0.0, .high = 1e6,
      .fallback = "0",
      .help = "when it begins" },
    { .key = "until", .kind = FLX__NUMBER, AT(flx_fix_desc, until), .unit = "s", .low = 0.0, .high = 1e6,
      .fallback = "-1", .shown = "for ever",
      .help = "when it ends" },
};
static const flx__section fix = {
    .name = "fix", FIELDS(fix_fields), .size = sizeof(flx_fix_desc), .finish = flx__finish_fix,
    .advice = weight_advice,
    .help = "Holds vertices where they are at rest, or carries them with a bone.",
    .example = "fix: {body: beam, region: {box: {min: [-0.01, -1, -1], max: [0.01, 1, 1]}}}",
};

static const flx__field load_fields[] = {
    { .key = "body", .kind = FLX__REF, AT(flx_load_desc, body), .names = FLX__BODIES, .shown = "the only body",
      .help = "which body" },
    { .key = "region", .kind = FLX__SHAPE, AT(flx_load_desc, region), .section = &shape, .words = "all",
      .flags = FLX__REQUIRED,
      .help = "which vertices, at rest: a shape, or all" },
    { .key = "force", .kind = FLX__VECTOR, AT(flx_load_desc, force), .unit = "N", .low = -1e9, .high = 1e9,
      .flags = FLX__REQUIRED,
      .help = "in all, shared evenly between the vertices" },
    { .key = "from", .kind = FLX__NUMBER, AT(flx_load_desc, from), .unit = "s", .low = 0.0, .high = 1e6,
      .fallback = "0",
      .help = "when it begins" },
    { .key = "until", .kind = FLX__NUMBER, AT(flx_load_desc, until), .unit = "s", .low = 0.0, .high = 1e6,
      .fallback = "-1", .shown = "for ever",
      .help = "when it ends" },
};
static const flx__section load = {
    .name = "loads", FIELDS(load_fields), .size = sizeof(flx_load_desc), .finish = flx__finish_load,
    .help = "Forces on a part of a body.",
    .example = "loads: {body: beam, region: {box: {min: [0.99, -1, -1], max: [1.01, 1, 1]}}, force: [0, 0, -0.5 N]}",
};

static const flx__field wind_fields[] = {
    { .key = "velocity", .kind = FLX__VECTOR, AT(flx_wind_desc, velocity), .unit = "m/s", .low = -1e4, .high = 1e4,
      .help = "of the air; [0, 0, 0] is air that stands still" },
    { .key = "drag", .kind = FLX__NUMBER, AT(flx_wind_desc, drag), .low = 0.0, .high = 1e6, .flags = FLX__ABOVE,
      .fallback = "1",
      .help = "coefficient: force = drag x density / 2 x area x (normal velocity)^2" },
    { .key = "density", .kind = FLX__NUMBER, AT(flx_wind_desc, density), .unit = "kg/m3", .low = 0.0, .high = 1e6,
      .flags = FLX__ABOVE, .fallback = "1.2 kg/m3",
      .help = "of the air" },
};
static const flx__section wind = {
    .name = "wind", FIELDS(wind_fields), .size = sizeof(flx_wind_desc),
    .help = "Air around cloth, in dynamic mode: it pushes each triangle along its normal, by the velocities at the "
            "beginning of the step. Without it there is no air.",
    .example = "wind: {velocity: [3, 0, 0], drag: 1.2}",
};

// --- motion -----------------------------------------------------------------------------------------------

static const flx__field key_fields[] = {
    { .key = "time", .kind = FLX__NUMBER, AT(flx_key, time), .unit = "s", .low = 0.0, .high = 1e6,
      .flags = FLX__REQUIRED,
      .help = "when" },
    { .key = "angle", .kind = FLX__NUMBER, AT(flx_key, angle_deg), .unit = "deg", .low = -36000, .high = 36000,
      .fallback = "0",
      .help = "turned about the axis by then" },
    { .key = "translate", .kind = FLX__VECTOR, AT(flx_key, translate), .unit = "m", .low = -FAR, .high = FAR,
      .help = "moved by then" },
};
static const flx__section key = {
    .name = "keys", FIELDS(key_fields), .size = sizeof(flx_key),
    .help = "A pose at a time. Between two keys angle and translation change linearly; before the first and "
            "after the last they are held.",
};

static const flx__field motion_fields[] = {
    { .key = "bone", .kind = FLX__REF, AT(flx__motion_text, motion.bone), .names = FLX__BONES,
      .help = "what moves: a bone, and those below it" },
    { .key = "obstacle", .kind = FLX__REF, AT(flx__motion_text, motion.obstacle), .names = FLX__OBSTACLES,
      .help = "or an obstacle" },
    { .key = "about", .kind = FLX__POINT, AT(flx__motion_text, motion.about), .unit = "m", .low = -FAR, .high = FAR,
      .help = "a point on the axis, at rest" },
    { .key = "axis", .kind = FLX__DIRECTION, AT(flx__motion_text, motion.axis), .low = -FAR, .high = FAR,
      .help = "direction of the axis; positive angles turn like a right-handed screw" },
    { .key = "degrees_per_frame", .kind = FLX__NUMBER, AT(flx__motion_text, rate_deg), .unit = "deg", .low = 0.0,
      .high = 360.0, .flags = FLX__ABOVE,
      .help = "how fast it turns" },
    { .key = "to", .kind = FLX__NUMBER, AT(flx__motion_text, to_deg), .unit = "deg", .low = -36000, .high = 36000,
      .help = "where it stops; negative turns the other way" },
    { .key = "start", .kind = FLX__COUNT, AT(flx__motion_text, start), .low = 0, .high = 1e6, .fallback = "0",
      .help = "the frame at which it begins" },
    { .key = "then", .kind = FLX__WORD, AT(flx__motion_text, then), .words = "hold|return",
      .help = "what follows: stay there, or turn back at the same speed" },
    { .key = "keys", .kind = FLX__MANY, MANY_AT(flx__motion_text, motion.key, motion.key_count), .section = &key,
      .names = FLX__NO_NAMES,
      .help = "instead of degrees_per_frame and to: poses at times" },
};
static const flx__section motion = {
    .name = "motion", FIELDS(motion_fields), .size = sizeof(flx__motion_text), .finish = flx__finish_motion,
    .help = "Moves bones and obstacles rigidly. Several motions of the same thing follow one another in the "
            "order given, and a bone inherits its parent's.",
    .example = "motion:\n"
               "  - {bone: forearm, about: elbow, axis: [0, -1, 0], degrees_per_frame: 2.5, to: 110, then: hold}\n"
               "  - obstacle: lid\n"
               "    keys: [{time: 0, translate: [0, 0, 0]}, {time: 2 s, translate: [0, 0, -20 mm]}]",
};

// --- obstacles and contact --------------------------------------------------------------------------------

static const flx__field obstacle_fields[] = {
    { .key = "name", .kind = FLX__NAME, AT(flx_obstacle_desc, name), .flags = FLX__REQUIRED,
      .help = "how the scene refers to it" },
    { .key = "plane", .kind = FLX__ONE, AT(flx_obstacle_desc, shape), .section = &plane, .help = "a half space" },
    { .key = "sphere", .kind = FLX__ONE, AT(flx_obstacle_desc, shape), .section = &sphere, .help = "a ball" },
    { .key = "capsule", .kind = FLX__ONE, AT(flx_obstacle_desc, shape), .section = &capsule,
      .help = "a line segment with a radius" },
    { .key = "box", .kind = FLX__ONE, AT(flx_obstacle_desc, shape), .section = &box,
      .help = "a box along the axes, at rest" },
    { .key = "mesh", .kind = FLX__PATH, AT(flx_obstacle_desc, shape.path), .help = "a closed surface from a file" },
    { .key = "group", .kind = FLX__TEXT, AT(flx_obstacle_desc, shape.group), .shown = "the whole file",
      .help = "with mesh: only this group" },
    { .key = "scale", .kind = FLX__NUMBER, AT(flx_obstacle_desc, shape.scale), .low = 0.0, .high = 1e6,
      .flags = FLX__ABOVE, .fallback = "1",
      .help = "with mesh: file unit to m" },
    { .key = "cell", .kind = FLX__NUMBER, AT(flx_obstacle_desc, shape.cell), .unit = "m", .low = 0.0, .high = FAR,
      .flags = FLX__ABOVE | FLX__AUTO, .fallback = "0", .shown = "auto",
      .help = "with mesh: cell of the distance field; auto: a 96th of the diagonal" },
};
static const flx__section obstacle = {
    .name = "obstacles", FIELDS(obstacle_fields), .size = sizeof(flx_obstacle_desc), .finish = flx__finish_obstacle,
    .help = "Rigid things that bodies can touch: exactly one shape each. `contact` says who touches whom, "
            "`motion` moves them.",
    .example = "obstacles:\n"
               "  - {name: floor, plane: {point: [0, 0, 0], normal: [0, 0, 1]}}\n"
               "  - {name: lid, mesh: lid.stl, scale: 0.001}",
};

static const flx__field contact_fields[] = {
    { .key = "self", .kind = FLX__REF, AT(flx_contact_desc, body), .names = FLX__BODIES, .shown = "none",
      .help = "a body that may touch itself; cloth as well, with an offset" },
    { .key = "body", .kind = FLX__REF, AT(flx_contact_desc, body), .names = FLX__BODIES, .shown = "the only body",
      .help = "with obstacle: the body" },
    { .key = "obstacle", .kind = FLX__REF, AT(flx_contact_desc, obstacle), .names = FLX__OBSTACLES, .shown = "none",
      .help = "what the body may touch" },
    { .key = "region", .kind = FLX__SHAPE, AT(flx_contact_desc, region), .section = &shape, .words = "auto|all",
      .shown = "auto",
      .help = "which part of the surface, at rest; auto: proposed from the motion, or all of a cloth" },
    { .key = "law", .kind = FLX__WORD, AT(flx_contact_desc, law), .words = "unilateral|spring",
      .help = "unilateral: pushes only, along the normal; spring: pulls to the target in all directions while it "
              "penetrates" },
    { .key = "stiffness", .kind = FLX__NUMBER, AT(flx_contact_desc, stiffness), .unit = "N/m", .low = 0.0,
      .high = 1e12, .flags = FLX__ABOVE | FLX__AUTO, .fallback = "0", .shown = "auto",
      .help = "per contact; auto: 100 x 2 mu x cell, with law spring 1 x 2 mu x cell; mu = E / 2" },
    { .key = "spacing", .kind = FLX__NUMBER, AT(flx_contact_desc, spacing), .unit = "m", .low = 0.0, .high = FAR,
      .flags = FLX__ABOVE | FLX__AUTO, .fallback = "0", .shown = "auto",
      .help = "between contact points; auto: every surface vertex in the region; not for cloth that touches itself" },
    { .key = "margin", .kind = FLX__NUMBER, AT(flx_contact_desc, margin), .unit = "m", .low = 0.0, .high = FAR,
      .flags = FLX__ABOVE | FLX__AUTO, .fallback = "0", .shown = "auto",
      .help = "contacts this far apart are candidates; auto: half a cell, or the offset for cloth that touches itself" },
    { .key = "offset", .kind = FLX__NUMBER, AT(flx_contact_desc, offset), .unit = "m", .low = 0.0, .high = FAR,
      .fallback = "0",
      .help = "distance kept between the surfaces; above 0 for cloth that touches itself: its thickness" },
};
static const flx__advice contact_advice[] = {
    { "friction", "contacts are frictionless in this version; leave it out (friction would be at least 0)" },
    { "mu", "contacts are frictionless in this version; leave it out" },
    { "with", "say self: BODY, or body: BODY and obstacle: OBSTACLE" },
    { NULL, NULL },
};
static const flx__section contact = {
    .name = "contact", FIELDS(contact_fields), .size = sizeof(flx_contact_desc), .finish = flx__finish_contact,
    .advice = contact_advice,
    .help = "What may touch what. Without it nothing collides.",
    .example = "contact:\n"
               "  - {self: arm, region: {sphere: {center: elbow, radius: 60 mm}}}\n"
               "  - {body: arm, obstacle: floor, offset: 1 mm}",
};

// --- run, cameras -----------------------------------------------------------------------------------------

static const flx__field run_fields[] = {
    { .key = "frames", .kind = FLX__COUNT, AT(flx_run_desc, frames), .low = 0, .high = 10e6, .fallback = "60",
      .help = "how many, beyond frame 0, which is the rest pose" },
    { .key = "fps", .kind = FLX__NUMBER, AT(flx_run_desc, fps), .unit = "1/s", .low = 0.0, .high = 1e6,
      .flags = FLX__ABOVE, .fallback = "30",
      .help = "frames a second; the time step is 1 / (fps x substeps)" },
    { .key = "checkpoint_every", .kind = FLX__COUNT, AT(flx_run_desc, checkpoint_every), .low = 0, .high = 10e6,
      .fallback = "0",
      .help = "frames between checkpoints; 0: only at the end and on interruption" },
};
static const flx__advice run_advice[] = {
    { "dt", "the time step is 1 / (fps x substeps); set run.fps (above 0) and solver.substeps (1 to 1000)" },
    { "threads", "the number of threads belongs to the command line: --threads (1 to 256)" },
    { "iterations", "set solver.outer (1 to 10000) and solver.inner (1 to 1000)" },
    { NULL, NULL },
};
static const flx__section run = {
    .name = "run", FIELDS(run_fields), .size = sizeof(flx_run_desc), .advice = run_advice,
    .help = "How long, and how often a frame is written.",
    .example = "run: {frames: 74, fps: 30}",
};

static const flx__field camera_fields[] = {
    { .key = "name", .kind = FLX__NAME, AT(flx_camera_desc, name), .flags = FLX__REQUIRED,
      .help = "names the pictures" },
    { .key = "from", .kind = FLX__POINT, AT(flx_camera_desc, from), .unit = "m", .low = -FAR, .high = FAR,
      .flags = FLX__REQUIRED,
      .help = "where the eye is" },
    { .key = "at", .kind = FLX__POINT, AT(flx_camera_desc, at), .unit = "m", .low = -FAR, .high = FAR,
      .flags = FLX__REQUIRED,
      .help = "what it looks at" },
    { .key = "up", .kind = FLX__DIRECTION, AT(flx_camera_desc, up), .low = -FAR, .high = FAR,
      .shown = "the scene's up",
      .help = "what points up in the picture" },
    { .key = "width", .kind = FLX__NUMBER, AT(flx_camera_desc, width), .unit = "m", .low = 0.0, .high = FAR,
      .flags = FLX__ABOVE | FLX__AUTO, .fallback = "0", .shown = "auto",
      .help = "shown from left to right at `at`; auto: fits the bodies over the whole run" },
};
static const flx__section camera = {
    .name = "cameras", FIELDS(camera_fields), .size = sizeof(flx_camera_desc), .finish = flx__finish_camera,
    .help = "Views for `flexor render`. Without any, the program chooses.",
    .example = "cameras: [{name: side, from: [0.28, -1, 0.1], at: [0.28, 0, 0.1], width: 0.6}]",
};

// --- the scene --------------------------------------------------------------------------------------------

static const flx__field scene_fields[] = {
    { .key = "flexor", .kind = FLX__COUNT, AT(flx__scene_text, format), .low = 1, .high = 1, .flags = FLX__REQUIRED,
      .reason = "that is the scene format this version reads",
      .help = "version of the scene format, which is 1" },
    { .key = "name", .kind = FLX__NAME, AT(flx__scene_text, scene.name), .shown = "the file's name",
      .help = "of the scene" },
    { .key = "up", .kind = FLX__WORD, AT(flx__scene_text, scene.up_axis), .words = "y|z", .first_word = 1,
      .fallback = "z",
      .help = "which axis points up" },
    { .key = "gravity", .kind = FLX__GRAVITY, AT(flx__scene_text, scene.gravity), .unit = "m/s2", .low = -1e6,
      .high = 1e6, .shown = "none",
      .help = "one number pulls straight down (9.81); three are a vector" },
    { .key = "joints", .kind = FLX__MANY, MANY_AT(flx__scene_text, joint, joint_count), .section = &joint,
      .names = FLX__JOINTS,
      .help = "named points" },
    { .key = "bodies", .kind = FLX__MANY, MANY_AT(flx__scene_text, scene.body, scene.body_count), .section = &body,
      .names = FLX__BODIES, .flags = FLX__REQUIRED,
      .help = "what deforms" },
    { .key = "bones", .kind = FLX__MANY, MANY_AT(flx__scene_text, scene.bone, scene.bone_count), .section = &bone,
      .names = FLX__BONES,
      .help = "rigid parts inside bodies" },
    { .key = "attach", .kind = FLX__MANY, MANY_AT(flx__scene_text, scene.attach, scene.attach_count),
      .section = &attach, .names = FLX__NO_NAMES,
      .help = "ties bodies to bones" },
    { .key = "fix", .kind = FLX__MANY, MANY_AT(flx__scene_text, scene.fix, scene.fix_count), .section = &fix,
      .names = FLX__NO_NAMES,
      .help = "holds parts of bodies in place" },
    { .key = "loads", .kind = FLX__MANY, MANY_AT(flx__scene_text, scene.load, scene.load_count), .section = &load,
      .names = FLX__NO_NAMES,
      .help = "forces on parts of bodies" },
    { .key = "wind", .kind = FLX__ONE, AT(flx__scene_text, scene.wind), .section = &wind, .help = "air around cloth" },
    { .key = "motion", .kind = FLX__MANY, MANY_AT(flx__scene_text, motion, motion_count), .section = &motion,
      .names = FLX__NO_NAMES,
      .help = "moves bones and obstacles" },
    { .key = "obstacles", .kind = FLX__MANY, MANY_AT(flx__scene_text, scene.obstacle, scene.obstacle_count),
      .section = &obstacle, .names = FLX__OBSTACLES,
      .help = "rigid things to touch" },
    { .key = "contact", .kind = FLX__MANY, MANY_AT(flx__scene_text, scene.contact, scene.contact_count),
      .section = &contact, .names = FLX__NO_NAMES,
      .help = "what may touch what" },
    { .key = "solver", .kind = FLX__ONE, AT(flx__scene_text, scene.settings), .section = &flx__section_solver,
      .help = "how the equations are solved" },
    { .key = "run", .kind = FLX__ONE, AT(flx__scene_text, scene.run), .section = &run, .help = "how long" },
    { .key = "cameras", .kind = FLX__MANY, MANY_AT(flx__scene_text, scene.camera, scene.camera_count),
      .section = &camera, .names = FLX__CAMERAS,
      .help = "views for pictures" },
};
static const flx__advice scene_advice[] = {
    { "dt", "the time step is 1 / (fps x substeps); set run.fps (above 0) and solver.substeps (1 to 1000)" },
    { "threads", "the number of threads belongs to the command line: --threads (1 to 256)" },
    { "frames", "it stands in run: {frames: ..., fps: ...}" },
    { NULL, NULL },
};
const flx__section flx__section_scene = {
    .name = "scene", FIELDS(scene_fields), .size = sizeof(flx__scene_text), .finish = flx__finish_scene,
    .advice = scene_advice,
    .help = "A scene is a YAML file (or JSON, which is YAML): what deforms, what moves it, what it touches.",
};
