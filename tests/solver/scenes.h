// Small scenes with contacts at work from the first steps on: two blocks pressed together, a block pressed on a ball, a
// ball in a lattice dropped on a floor, a limb bent by its bones against a ceiling, cloth blown on a ball above a
// block, two layers of cloth pressed through each other, a sheet on a ball that rises.
#ifndef FLX_TESTS_SOLVER_SCENES_H
#define FLX_TESTS_SOLVER_SCENES_H

#include "solver/fixture.h"

typedef struct test_scene
{
    const char* name;
    const char* yaml;
} test_scene;

enum
{
    SCENE_PAIR,
    SCENE_PRESS,
    SCENE_BALL,
    SCENE_LIMB,
    SCENE_CLOTH,
    SCENE_LAYERS,
    SCENE_SHEET,
    SCENE_COUNT
};

static const test_scene test_scenes[SCENE_COUNT] = {
    // one body of two parts, 1 cm apart, held at the far ends and pushed through each other
    {"pair", "flexor: 1\n"
             "bodies: [{name: pair, tets: pair.mesh, material: {young: 20 kPa, density: 1000 kg/m3}}]\n"
             "fix:\n"
             "  - {body: pair, region: {box: {min: [-1, -1, -1], max: [0.001, 1, 1]}}}\n"
             "  - {body: pair, region: {box: {min: [0.309, -1, -1], max: [1, 1, 1]}}}\n"
             "loads:\n"
             "  - {body: pair, region: {box: {min: [0.149, -1, -1], max: [0.151, 1, 1]}}, force: [90, 4, 0]}\n"
             "  - {body: pair, region: {box: {min: [0.159, -1, -1], max: [0.161, 1, 1]}}, force: [-90, 0, 7]}\n"
             "contact: [{self: pair, region: {box: {min: [0.14, -1, -1], max: [0.17, 1, 1]}}}]\n"
             "run: {frames: 10, fps: 60}\n"},
    {"press", "flexor: 1\n"
              "gravity: 9.81\n"
              "bodies: [{name: block, tets: block.mesh, material: {young: 20 kPa, density: 1000 kg/m3}}]\n"
              "fix: {body: block, region: {box: {min: [-1, -1, 0.199], max: [1, 1, 1]}}}\n"
              "obstacles: [{name: ball, sphere: {center: [0.1, 0.1, -0.08], radius: 0.1}}]\n"
              "motion: [{obstacle: ball, keys: [{time: 0}, {time: 0.5, translate: [0.02, 0, 0.04]}]}]\n"
              "contact: [{body: block, obstacle: ball, region: {box: {min: [-1, -1, -1], max: [1, 1, 0.001]}}, "
              "stiffness: 1000}]\n"
              "run: {frames: 10, fps: 60}\n"},
    {"ball", "flexor: 1\n"
             "gravity: 9.81\n"
             "bodies:\n"
             "  - {name: ball, surface: '" FLX_SOURCE_DIR
             "/scenes/ball.obj', translate: [0, 0, 0.101], lattice: {tets: 5000},\n"
             "     material: {young: 20 kPa, density: 1000 kg/m3}, velocity: [0.5, 0, -1]}\n"
             "obstacles: [{name: floor, plane: {point: [0, 0, 0], normal: [0.1, 0, 1]}}]\n"
             "contact: [{body: ball, obstacle: floor, region: {box: {min: [-1, -1, -1], max: [1, 1, 0.1]}}}]\n"
             "solver: {proximal: 500}\n" // held by contact alone: quasi-static mode needs it
             "run: {frames: 10, fps: 60}\n"},
    {"limb", "flexor: 1\n"
             "bodies: [{name: limb, tets: limb.mesh, material: {young: 20 kPa, density: 1000 kg/m3}}]\n"
             "bones:\n"
             "  - {name: upper, capsule: {from: [-0.13, 0, 0], to: [-0.03, 0, 0], radius: 15 mm}}\n"
             "  - {name: lower, capsule: {from: [0.03, 0, 0], to: [0.13, 0, 0], radius: 15 mm}}\n"
             "attach: {body: limb, bones: [upper, lower], points: 200, stiffness: 2 N/mm}\n"
             "motion: [{bone: lower, about: [0, 0, 0], axis: [0, -1, 0], degrees_per_frame: 12, to: 110}]\n"
             "obstacles: [{name: ceiling, plane: {point: [0, 0, 0.06], normal: [0, 0, -1]}}]\n"
             "contact: [{body: limb, obstacle: ceiling, region: {box: {min: [0, -1, 0.03], max: [1, 1, 1]}}}]\n"
             "run: {frames: 10, fps: 60}\n"},
    // cloth and tets in one scene: three kinds of constraints on the one, volume on the other; an edge goes with a bone
    {"cloth", "flexor: 1\n"
              "gravity: 9.81\n"
              "bodies:\n"
              "  - name: sheet\n"
              "    cloth: sheet.obj\n"
              "    constraints: [{spring: 20 N/m}, {strain: 60 N/m, min: 0.95, max: 1.05}, {bending: 1 mN m}]\n"
              "  - name: block\n"
              "    tets: block.mesh\n"
              "    material: {young: 20 kPa, density: 1000 kg/m3}\n"
              "    constraints: [{tet_volume: 20 kPa, min: 0.98, max: 1.02}, {tet_strain: 1 kPa, min: 0.9, max: 1.1}]\n"
              "bones: [{name: rod, capsule: {from: [-0.3, -0.3, 0.3], to: [-0.3, 0.3, 0.3], radius: 5 mm}}]\n"
              "fix:\n"
              "  - {body: sheet, region: {box: {min: [-0.31, -1, -1], max: [-0.29, 1, 1]}}, bone: rod}\n"
              "  - {body: block, region: {box: {min: [-1, -1, -1], max: [1, 1, 0.001]}}}\n"
              "motion: [{bone: rod, keys: [{time: 0}, {time: 0.5, translate: [0.02, 0, -0.05]}]}]\n"
              "obstacles: [{name: ball, sphere: {center: [0.05, 0, -0.195], radius: 0.5}}]\n"
              "contact: [{body: sheet, obstacle: ball, offset: 1 mm}]\n"
              "wind: {velocity: [1, 2, -3]}\n"
              "run: {frames: 10, fps: 60}\n"},
    // one body of two sheets, 6 mm apart, held along opposite edges and pushed through each other
    {"layers", "flexor: 1\n"
               "bodies:\n"
               "  - {name: layers, cloth: layers.obj, constraints: [{strain: 60 N/m}, {bending: 1 mN m}]}\n"
               "fix:\n"
               "  - {body: layers, region: {box: {min: [-1, -1, -1], max: [-0.19, 1, 1]}}}\n"
               "  - {body: layers, region: {box: {min: [0.19, -1, -1], max: [1, 1, 1]}}}\n"
               "loads:\n"
               "  - {body: layers, region: {box: {min: [-0.1, -1, -1], max: [1, 1, 0.001]}}, force: [0, 0.1, 3]}\n"
               "  - {body: layers, region: {box: {min: [-1, -1, 0.001], max: [0.1, 1, 1]}}, force: [0.1, 0, -3]}\n"
               "contact: [{self: layers, offset: 4 mm}]\n"
               "run: {frames: 10, fps: 60}\n"},
    // cloth alone, all of which may touch: no inverse is held
    {"sheet", "flexor: 1\n"
              "gravity: 9.81\n"
              "bodies:\n"
              "  - name: sheet\n"
              "    cloth: wide.obj\n"
              "    constraints: [{strain: 60 N/m, min: 0.95, max: 1.05}, {bending: 1 mN m}]\n"
              "fix: {region: {box: {min: [-0.31, -1, -1], max: [-0.29, 1, 1]}}}\n"
              "obstacles: [{name: ball, sphere: {center: [0.05, 0, -0.195], radius: 0.5}}]\n"
              "motion: [{obstacle: ball, keys: [{time: 0}, {time: 0.5, translate: [0.02, 0, 0.05]}]}]\n"
              "contact: [{body: sheet, obstacle: ball, offset: 1 mm}]\n"
              "run: {frames: 10, fps: 60}\n"},
};

/// Open one of them in a fresh folder and context.
static inline void open_scene(fixture* f, int scene, int32_t workers, int override_count, const char* const* overrides)
{
    fixture_start(f, workers);
    fixture_box(f, "pair.mesh", (const int[3]){3, 3, 3}, (const double[3]){0, 0, 0}, 0.05, 2, 0.16);
    fixture_box(f, "block.mesh", (const int[3]){6, 6, 6}, (const double[3]){0, 0, 0}, 0.2 / 6, 1, 0);
    fixture_box(f, "limb.mesh", (const int[3]){12, 3, 3}, (const double[3]){-0.15, -0.0375, -0.0375}, 0.025, 1, 0);
    fixture_sheet(f, "sheet.obj", (const int[2]){12, 12}, (const double[3]){-0.3, -0.3, 0.3}, 0.05);
    fixture_sheets(f, "layers.obj", (const int[2]){8, 8}, (const double[3]){-0.2, -0.2, 0}, 0.05, 2, 0.006);
    fixture_sheet(f, "wide.obj", (const int[2]){20, 20}, (const double[3]){-0.3, -0.3, 0.3}, 0.03);
    fixture_open(f, test_scenes[scene].yaml, override_count, overrides);
}

#endif
