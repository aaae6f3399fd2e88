// Every kind of mistake that a scene can have, with the exact text a person gets to see. The texts were read and judged
// one by one; a change here is a change of what users read.
#include "scene_test.h"

typedef struct mistake_case
{
    const char* name;
    const char* scene;
    flx_status  status;
    const char* message;
} mistake_case;

// clang-format off
static const mistake_case cases[] = {
    { "a missing bracket",
      "flexor: 1\n"
      "bodies: [{surface: a.obj}\n"
      "run: {frames: 3}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:1: error: did not find expected ',' or ']' while parsing a flow sequence that starts at line 2\n"
      "    3 | run: {frames: 3}\n"
      "      | ^" },
    { "a tab as indentation",
      "flexor: 1\n"
      "bodies:\n"
      "	- surface: a.obj\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:1: error: found character that cannot start any token while scanning for the next token; a tab? indent with spaces\n"
      "    3 |  - surface: a.obj\n"
      "      | ^" },
    { "bad indentation",
      "flexor: 1\n"
      "bodies:\n"
      "  - surface: a.obj\n"
      "   group: x\n",
      FLX_ERR_SCENE,
      "scene.yaml:4:4: error: did not find expected '-' indicator while parsing a block collection that starts at line 3\n"
      "    4 |    group: x\n"
      "      |    ^" },
    { "a list instead of a scene",
      "- 1\n"
      "- 2\n",
      FLX_ERR_SCENE,
      "scene.yaml:1:1: error: a scene is a map of keys and starts with 'flexor: 1'\n"
      "    1 | - 1\n"
      "      | ^" },
    { "a file with only comments",
      "# nothing\n",
      FLX_ERR_SCENE,
      "scene.yaml: error: there is no scene in this file" },
    { "an anchor and its alias",
      "flexor: 1\n"
      "bodies: {surface: a.obj, material: &soft {young: 3}}\n"
      "run: *soft\n",
      FLX_ERR_SCENE,
      "scene.yaml:2:36: error: anchor '&soft': anchors and aliases are not used in scenes; write the value where it is needed\n"
      "    2 | bodies: {surface: a.obj, material: &soft {young: 3}}\n"
      "      |                                    ^~~~~~~\n"
      "scene.yaml:3:6: error: alias '*soft': anchors and aliases are not used in scenes; write the value where it is needed\n"
      "    3 | run: *soft\n"
      "      |      ^~~~~" },
    { "a tag",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "run: {frames: !!int 3}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:15: error: tag 'tag:yaml.org,2002:int': tags are not used in scenes; remove it\n"
      "    3 | run: {frames: !!int 3}\n"
      "      |               ^~~~~~~" },
    { "a second document",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "---\n"
      "flexor: 1\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:1: error: a second document; a scene file holds one\n"
      "    3 | ---\n"
      "      | ^~~" },
    { "a list as a key",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "? [a, b]\n"
      ": 3\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:3: error: a key must be a single word\n"
      "    3 | ? [a, b]\n"
      "      |   ^" },
    { "a name with a null character",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "name: \"a\\0b\"\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:7: error: a NUL character inside a word\n"
      "    3 | name: \"a\\0b\"\n"
      "      |       ^~~~~~" },
    { "a broken utf8 byte",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "name: a\xff""b\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:8: error: invalid leading UTF-8 octet; a scene is plain UTF-8 text\n"
      "    3 | name: a?b\n"
      "      |        ^" },
    { "an unknown key with a near one",
      "flexor: 1\n"
      "bodies: {surface: a.obj, material: {yuong: 30 kPa}}\n",
      FLX_ERR_SCENE,
      "scene.yaml:2:37: error: unknown key 'yuong' in bodies[0].material; did you mean 'young'?\n"
      "    2 | bodies: {surface: a.obj, material: {yuong: 30 kPa}}\n"
      "      |                                     ^~~~~" },
    { "an unknown key with no near one",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "run: {colour: 3}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:7: error: unknown key 'colour' in run; the keys there are frames, fps, checkpoint_every\n"
      "    3 | run: {colour: 3}\n"
      "      |       ^~~~~~" },
    { "an unknown key at the top",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "boddies: []\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:1: error: unknown key 'boddies' at the top of the scene; did you mean 'bodies'?\n"
      "    3 | boddies: []\n"
      "      | ^~~~~~~" },
    { "a key one level too high",
      "flexor: 1\n"
      "bodies: {surface: a.obj, young: 3}\n",
      FLX_ERR_SCENE,
      "scene.yaml:2:26: error: unknown key 'young' in bodies[0]; it belongs one level down: material: {young: ...}\n"
      "    2 | bodies: {surface: a.obj, young: 3}\n"
      "      |                          ^~~~~" },
    { "a key twice",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "run: {frames: 3, fps: 30, frames: 4}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:27: error: key 'frames' stands twice in run; the first is at line 3\n"
      "    3 | run: {frames: 3, fps: 30, frames: 4}\n"
      "      |                           ^~~~~~" },
    { "a section twice",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "bodies: {surface: b.obj}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:1: error: key 'bodies' stands twice in the scene; the first is at line 2\n"
      "    3 | bodies: {surface: b.obj}\n"
      "      | ^~~~~~" },
    { "a key without a value",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "attach:\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:1: error: attach has no value; give one, or remove the key\n"
      "    3 | attach:\n"
      "      | ^~~~~~" },
    { "an empty item",
      "flexor: 1\n"
      "bodies:\n"
      "  - surface: a.obj\n"
      "  -\n",
      FLX_ERR_SCENE,
      "scene.yaml:4:4: error: bodies[1] is empty; wanted is a section\n"
      "    4 |   -\n"
      "      |    ^" },
    { "a missing required key",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "bones: [{capsule: {from: [0, 0, 0], to: [1, 0, 0], radius: 1}}]\n"
      "attach: {}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:9: error: bones[0]: 'name' is missing: how the scene refers to it\n"
      "    3 | bones: [{capsule: {from: [0, 0, 0], to: [1, 0, 0], radius: 1}}]\n"
      "      |         ^" },
    { "a misspelt required key once",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "obstacles: {name: ball, sphere: {centre: [0, 0, 0], radius: 1}}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:34: error: unknown key 'centre' in obstacles[0].sphere; did you mean 'center'?\n"
      "    3 | obstacles: {name: ball, sphere: {centre: [0, 0, 0], radius: 1}}\n"
      "      |                                  ^~~~~~" },
    { "no bodies",
      "flexor: 1\n",
      FLX_ERR_SCENE,
      "scene.yaml:1:1: error: 'bodies' is missing: what deforms\n"
      "    1 | flexor: 1\n"
      "      | ^" },
    { "an empty list of bodies",
      "flexor: 1\n"
      "bodies: []\n",
      FLX_ERR_SCENE,
      "scene.yaml:2:9: error: bodies is an empty list: there is nothing to simulate\n"
      "    2 | bodies: []\n"
      "      |         ^" },
    { "another scene format",
      "flexor: 2\n"
      "bodies: {surface: a.obj}\n",
      FLX_ERR_SETTING,
      "scene.yaml:1:9: error: flexor is 2; allowed is only 1: that is the scene format this version reads\n"
      "    1 | flexor: 2\n"
      "      |         ^" },
    { "a time step",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "solver: {dt: 0.01}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:10: error: unknown key 'dt' in solver: the time step is 1 / (fps x substeps); set run.fps (above 0) and solver.substeps (1 to 1000)\n"
      "    3 | solver: {dt: 0.01}\n"
      "      |          ^~" },
    { "a word for a number",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "run: {fps: fast}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:12: error: run.fps is 'fast', which is not a number; wanted is a rate in 1/s or Hz\n"
      "    3 | run: {fps: fast}\n"
      "      |            ^~~~" },
    { "a wrong unit",
      "flexor: 1\n"
      "bodies: {surface: a.obj, material: {young: 30 mm}}\n",
      FLX_ERR_SCENE,
      "scene.yaml:2:44: error: bodies[0].material.young is '30 mm', a length; wanted is a pressure in Pa, kPa, MPa or GPa\n"
      "    2 | bodies: {surface: a.obj, material: {young: 30 mm}}\n"
      "      |                                            ^~~~~" },
    { "an unknown unit",
      "flexor: 1\n"
      "bodies: {surface: a.obj, material: {young: 30 psi}}\n",
      FLX_ERR_SCENE,
      "scene.yaml:2:44: error: bodies[0].material.young is '30 psi'; 'psi' is no known unit, wanted is a pressure in Pa, kPa, MPa or GPa\n"
      "    2 | bodies: {surface: a.obj, material: {young: 30 psi}}\n"
      "      |                                            ^~~~~~" },
    { "a unit where none belongs",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "run: {frames: 3 s}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:15: error: run.frames is '3 s', a time; wanted is a plain number\n"
      "    3 | run: {frames: 3 s}\n"
      "      |               ^~~" },
    { "a decimal comma",
      "flexor: 1\n"
      "bodies:\n"
      "  surface: a.obj\n"
      "  scale: 0,1\n",
      FLX_ERR_SCENE,
      "scene.yaml:4:10: error: bodies[0].scale is '0,1', which is not a number; the decimal point is written '.'\n"
      "    4 |   scale: 0,1\n"
      "      |          ^~~" },
    { "a decimal comma in braces",
      "flexor: 1\n"
      "bodies: {surface: a.obj, scale: 0,1}\n",
      FLX_ERR_SCENE,
      "scene.yaml:2:33: error: bodies[0].scale is 0; allowed is above 0 and at most 1000000\n"
      "    2 | bodies: {surface: a.obj, scale: 0,1}\n"
      "      |                                 ^\n"
      "scene.yaml:2:35: error: unknown key '1' in bodies[0]; the decimal point is written '.', a comma starts a new key\n"
      "    2 | bodies: {surface: a.obj, scale: 0,1}\n"
      "      |                                   ^" },
    { "not a number",
      "flexor: 1\n"
      "bodies: {surface: a.obj, scale: .nan}\n",
      FLX_ERR_SCENE,
      "scene.yaml:2:33: error: bodies[0].scale is '.nan'; wanted is a finite number\n"
      "    2 | bodies: {surface: a.obj, scale: .nan}\n"
      "      |                                 ^~~~" },
    { "infinity",
      "flexor: 1\n"
      "bodies: {surface: a.obj, scale: -inf}\n",
      FLX_ERR_SCENE,
      "scene.yaml:2:33: error: bodies[0].scale is '-inf'; wanted is a finite number\n"
      "    2 | bodies: {surface: a.obj, scale: -inf}\n"
      "      |                                 ^~~~" },
    { "a number too large",
      "flexor: 1\n"
      "bodies: {surface: a.obj, scale: 1e999}\n",
      FLX_ERR_SCENE,
      "scene.yaml:2:33: error: bodies[0].scale is '1e999', which is too large for a number\n"
      "    2 | bodies: {surface: a.obj, scale: 1e999}\n"
      "      |                                 ^~~~~" },
    { "a fraction for a count",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "run: {frames: 3.5}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:15: error: run.frames is 3.5; wanted is a whole number\n"
      "    3 | run: {frames: 3.5}\n"
      "      |               ^~~" },
    { "a list for a number",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "run: {fps: [30]}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:12: error: run.fps is a list; wanted is a rate\n"
      "    3 | run: {fps: [30]}\n"
      "      |            ^" },
    { "a number for a section",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "run: 3\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:6: error: run is '3'; wanted is a section, {key: value, ...}\n"
      "    3 | run: 3\n"
      "      |      ^" },
    { "yes for true",
      "flexor: 1\n"
      "bodies: {surface: a.obj, repair: yes}\n",
      FLX_ERR_SCENE,
      "scene.yaml:2:34: error: bodies[0].repair is 'yes'; write true or false\n"
      "    2 | bodies: {surface: a.obj, repair: yes}\n"
      "      |                                  ^~~" },
    { "an unknown choice",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "solver: {strategy: complaince}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:20: error: solver.strategy is 'complaince'; did you mean 'compliance'? Allowed is compliance, refactor, full or pcg\n"
      "    3 | solver: {strategy: complaince}\n"
      "      |                    ^~~~~~~~~~" },
    { "a choice that is none",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "up: x\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:5: error: up is 'x'; allowed is y or z\n"
      "    3 | up: x\n"
      "      |     ^" },
    { "two coordinates",
      "flexor: 1\n"
      "bodies: {surface: a.obj, translate: [1, 2]}\n",
      FLX_ERR_SCENE,
      "scene.yaml:2:37: error: bodies[0].translate has 2 numbers; wanted is three numbers [x, y, z]\n"
      "    2 | bodies: {surface: a.obj, translate: [1, 2]}\n"
      "      |                                     ^" },
    { "a coordinate that is a word",
      "flexor: 1\n"
      "bodies: {surface: a.obj, translate: [1, a, 3]}\n",
      FLX_ERR_SCENE,
      "scene.yaml:2:41: error: bodies[0].translate[1] is 'a', which is not a number; wanted is a length in m, km, cm, mm or um\n"
      "    2 | bodies: {surface: a.obj, translate: [1, a, 3]}\n"
      "      |                                         ^" },
    { "a number for a point",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "obstacles: {name: ball, sphere: {center: 3, radius: 1}}\n"
      "contact: {obstacle: ball}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:42: error: obstacles[0].sphere.center is '3'; wanted is [x, y, z]\n"
      "    3 | obstacles: {name: ball, sphere: {center: 3, radius: 1}}\n"
      "      |                                          ^" },
    { "a direction of no length",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "obstacles: {name: floor, plane: {point: [0, 0, 0], normal: [0, 0, 0]}}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:60: error: obstacles[0].plane.normal is [0, 0, 0], which is no direction\n"
      "    3 | obstacles: {name: floor, plane: {point: [0, 0, 0], normal: [0, 0, 0]}}\n"
      "      |                                                            ^" },
    { "gravity with nan",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "gravity: [0, nan, 0]\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:14: error: gravity[1] is 'nan'; wanted is a finite number\n"
      "    3 | gravity: [0, nan, 0]\n"
      "      |              ^~~" },
    { "gravity upwards as a number",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "gravity: -9.81\n",
      FLX_ERR_SETTING,
      "scene.yaml:3:10: error: gravity is -9.81; allowed is 0 to 1000000 m/s2\n"
      "    3 | gravity: -9.81\n"
      "      |          ^~~~~" },
    { "a misspelt bone",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "bones: {name: ulna, capsule: {from: [0, 0, 0], to: [1, 0, 0], radius: 1 mm}}\n"
      "attach: {bones: [unla]}\n",
      FLX_ERR_SCENE,
      "scene.yaml:4:18: error: unknown bone 'unla' in attach[0].bones[0]; did you mean 'ulna'?\n"
      "    4 | attach: {bones: [unla]}\n"
      "      |                  ^~~~" },
    { "a bone of no scene",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "motion: {bone: ulna, about: [0, 0, 0], axis: [0, 0, 1], degrees_per_frame: 1, to: 3}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:16: error: unknown bone 'ulna' in motion[0].bone: this scene names no bones\n"
      "    3 | motion: {bone: ulna, about: [0, 0, 0], axis: [0, 0, 1], degrees_per_frame: 1, to: 3}\n"
      "      |                ^~~~" },
    { "an unknown body among several",
      "flexor: 1\n"
      "bodies: [{name: left, surface: a.obj}, {name: right, surface: a.obj}]\n"
      "fix: {body: middle, region: all}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:13: error: unknown body 'middle' in fix[0].body; the bodies are: left, right\n"
      "    3 | fix: {body: middle, region: all}\n"
      "      |             ^~~~~~" },
    { "an unknown obstacle",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "obstacles: {name: floor, plane: {point: [0, 0, 0], normal: [0, 0, 1]}}\n"
      "contact: {obstacle: flor}\n",
      FLX_ERR_SCENE,
      "scene.yaml:4:21: error: unknown obstacle 'flor' in contact[0].obstacle; did you mean 'floor'?\n"
      "    4 | contact: {obstacle: flor}\n"
      "      |                     ^~~~" },
    { "an unknown joint",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "joints: [{name: elbow, at: [0, 0, 0]}]\n"
      "bones: {name: ulna, capsule: {from: elbo, to: [1, 0, 0], radius: 1 mm}}\n",
      FLX_ERR_SCENE,
      "scene.yaml:4:37: error: unknown joint 'elbo' in bones[0].capsule.from; did you mean 'elbow'?\n"
      "    4 | bones: {name: ulna, capsule: {from: elbo, to: [1, 0, 0], radius: 1 mm}}\n"
      "      |                                     ^~~~" },
    { "the same name twice",
      "flexor: 1\n"
      "bodies: [{name: arm, surface: a.obj}, {name: arm, surface: a.obj}]\n",
      FLX_ERR_SCENE,
      "scene.yaml:2:46: error: a second body named 'arm'; the first is at line 2\n"
      "    2 | bodies: [{name: arm, surface: a.obj}, {name: arm, surface: a.obj}]\n"
      "      |                                              ^~~" },
    { "a bone listed twice",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "bones: {name: ulna, capsule: {from: [0, 0, 0], to: [1, 0, 0], radius: 1 mm}}\n"
      "attach: {bones: [ulna, ulna]}\n",
      FLX_ERR_SCENE,
      "scene.yaml:4:24: error: attach[0].bones[1] 'ulna' stands in this list already\n"
      "    4 | attach: {bones: [ulna, ulna]}\n"
      "      |                        ^~~~" },
    { "a body left open among several",
      "flexor: 1\n"
      "bodies: [{name: left, surface: a.obj}, {name: right, surface: a.obj}]\n"
      "fix: {region: all}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:6: error: fix[0]: 'body' is missing; the scene has 2 bodies, say which one\n"
      "    3 | fix: {region: all}\n"
      "      |      ^" },
    { "an empty name",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "name: ''\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:7: error: name is ''; wanted is a name\n"
      "    3 | name: ''\n"
      "      |       ^~" },
    { "a long name",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "name: nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:7: error: name has 65 bytes; allowed is 1 to 64\n"
      "    3 | name: nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn\n"
      "      |       ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~" },
    { "a circle of parents",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "bones:\n"
      "  - {name: a, parent: b, capsule: {from: [0, 0, 0], to: [1, 0, 0], radius: 1 mm}}\n"
      "  - {name: b, parent: a, capsule: {from: [0, 0, 0], to: [1, 0, 0], radius: 1 mm}}\n",
      FLX_ERR_SCENE,
      "scene.yaml:4:23: error: bones[0].parent: 'a' is below itself: a circle of 2 bones\n"
      "    4 |   - {name: a, parent: b, capsule: {from: [0, 0, 0], to: [1, 0, 0], radius: 1 mm}}\n"
      "      |                       ^" },
    { "a bone that is its own parent",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "bones: {name: a, parent: a, capsule: {from: [0, 0, 0], to: [1, 0, 0], radius: 1 mm}}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:26: error: bones[0].parent: 'a' is its own parent\n"
      "    3 | bones: {name: a, parent: a, capsule: {from: [0, 0, 0], to: [1, 0, 0], radius: 1 mm}}\n"
      "      |                          ^" },
    { "a body without a mesh",
      "flexor: 1\n"
      "bodies: {name: arm}\n",
      FLX_ERR_SCENE,
      "scene.yaml:2:9: error: bodies[0]: 'surface', 'tets' or 'cloth' is missing: which mesh it is\n"
      "    2 | bodies: {name: arm}\n"
      "      |         ^" },
    { "cloth with what only a volume has",
      "flexor: 1\n"
      "bodies:\n"
      "  cloth: a.obj\n"
      "  lattice: {tets: 10 k}\n"
      "  constraints: {strain: 1}\n"
      "  material: {density: 900, young: 1}\n",
      FLX_ERR_SCENE,
      "scene.yaml:4:12: error: bodies[0] is cloth, which has no 'lattice': remove it\n"
      "    4 |   lattice: {tets: 10 k}\n"
      "      |            ^\n"
      "scene.yaml:6:23: error: bodies[0] is cloth, whose mass is material.area_density, in kg/m2\n"
      "    6 |   material: {density: 900, young: 1}\n"
      "      |                       ^~~\n"
      "scene.yaml:6:35: error: bodies[0] is cloth, whose stiffness stands in 'constraints', not in material.young\n"
      "    6 |   material: {density: 900, young: 1}\n"
      "      |                                   ^" },
    { "cloth of nothing",
      "flexor: 1\n"
      "bodies: {cloth: a.obj}\n",
      FLX_ERR_SCENE,
      "scene.yaml:2:9: error: bodies[0]: 'constraints' is missing: what the cloth resists, such as [{strain: 200 N/m}]\n"
      "    2 | bodies: {cloth: a.obj}\n"
      "      |         ^" },
    { "a constraint of two kinds",
      "flexor: 1\n"
      "bodies: {cloth: a.obj, constraints: {strain: 1, spring: 2}}\n",
      FLX_ERR_SCENE,
      "scene.yaml:2:46: error: bodies[0].constraints[0] has both 'spring' and 'strain'; give one of them\n"
      "    2 | bodies: {cloth: a.obj, constraints: {strain: 1, spring: 2}}\n"
      "      |                                              ^" },
    { "limits of a spring",
      "flexor: 1\n"
      "bodies: {cloth: a.obj, constraints: {spring: 2, max: 1.1}}\n",
      FLX_ERR_SCENE,
      "scene.yaml:2:54: error: bodies[0].constraints[0].max goes with strain, tet_strain or tet_volume\n"
      "    2 | bodies: {cloth: a.obj, constraints: {spring: 2, max: 1.1}}\n"
      "      |                                                      ^~~" },
    { "constraints of cloth on a volume",
      "flexor: 1\n"
      "bodies: {tets: a.msh, constraints: [{tet_volume: 1}, {bending: 2}]}\n",
      FLX_ERR_SCENE,
      "scene.yaml:2:36: error: bodies[0].constraints[1]: spring, strain and bending are for cloth; say tet_strain or tet_volume\n"
      "    2 | bodies: {tets: a.msh, constraints: [{tet_volume: 1}, {bending: 2}]}\n"
      "      |                                    ^" },
    { "limits as a pair",
      "flexor: 1\n"
      "bodies: {cloth: a.obj, constraints: {strain: 2, limits: [0.9, 1.1]}}\n",
      FLX_ERR_SCENE,
      "scene.yaml:2:49: error: unknown key 'limits' in bodies[0].constraints[0]: say min: 0.95, max: 1.05\n"
      "    2 | bodies: {cloth: a.obj, constraints: {strain: 2, limits: [0.9, 1.1]}}\n"
      "      |                                                 ^~~~~~" },
    { "a lattice around tets",
      "flexor: 1\n"
      "bodies: {tets: a.msh, lattice: {cell: 3 mm}}\n",
      FLX_ERR_SCENE,
      "scene.yaml:2:32: error: bodies[0] has 'tets', so no lattice is made; remove one of them\n"
      "    2 | bodies: {tets: a.msh, lattice: {cell: 3 mm}}\n"
      "      |                                ^" },
    { "a lattice by both cell and count",
      "flexor: 1\n"
      "bodies: {surface: a.obj, lattice: {cell: 3 mm, tets: 5 k}}\n",
      FLX_ERR_SCENE,
      "scene.yaml:2:54: error: bodies[0].lattice has both 'cell' and 'tets'; give one of them\n"
      "    2 | bodies: {surface: a.obj, lattice: {cell: 3 mm, tets: 5 k}}\n"
      "      |                                                      ^~~" },
    { "two shapes in one region",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "fix: {region: {sphere: {center: [0, 0, 0], radius: 1}, box: {min: [0, 0, 0], max: [1, 1, 1]}}}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:61: error: fix[0].region has both 'sphere' and 'box'; give one of them\n"
      "    3 | fix: {region: {sphere: {center: [0, 0, 0], radius: 1}, box: {min: [0, 0, 0], max: [1, 1, 1]}}}\n"
      "      |                                                             ^" },
    { "a region without a shape",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "fix: {region: {}}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:15: error: fix[0].region: one of sphere, capsule, box, plane is missing\n"
      "    3 | fix: {region: {}}\n"
      "      |               ^" },
    { "an unknown region",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "contact: {self: body0, region: everywhere}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:32: error: contact[0].region is 'everywhere'; allowed is auto or all, or a shape such as {sphere: {center: [x, y, z], radius: r}}\n"
      "    3 | contact: {self: body0, region: everywhere}\n"
      "      |                                ^~~~~~~~~~" },
    { "an empty box",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "fix: {region: {box: {min: [0, 1, 0], max: [1, 1, 1]}}}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:43: error: fix[0].region.box is empty: along y, min is 1 and max is 1\n"
      "    3 | fix: {region: {box: {min: [0, 1, 0], max: [1, 1, 1]}}}\n"
      "      |                                           ^" },
    { "a capsule without length",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "fix: {region: {capsule: {from: [0, 1, 0], to: [0, 1, 0], radius: 1}}}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:47: error: fix[0].region.capsule goes from a point to the same point; use a sphere, or another end\n"
      "    3 | fix: {region: {capsule: {from: [0, 1, 0], to: [0, 1, 0], radius: 1}}}\n"
      "      |                                               ^" },
    { "an obstacle without a shape",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "obstacles: {name: floor}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:12: error: obstacles[0]: one of plane, sphere, capsule, box, mesh is missing\n"
      "    3 | obstacles: {name: floor}\n"
      "      |            ^" },
    { "a group without a mesh",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "obstacles: {name: floor, group: g, sphere: {center: [0, 0, 0], radius: 1}}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:33: error: obstacles[0].group goes with 'mesh', which is not there\n"
      "    3 | obstacles: {name: floor, group: g, sphere: {center: [0, 0, 0], radius: 1}}\n"
      "      |                                 ^" },
    { "a joint without a place",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "joints: {name: elbow}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:9: error: joints[0]: one of at, mesh is missing\n"
      "    3 | joints: {name: elbow}\n"
      "      |         ^" },
    { "a joint mesh without a group",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "joints: {name: elbow, mesh: a.obj}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:9: error: joints[0]: 'group' is missing: which group of the mesh marks the joint\n"
      "    3 | joints: {name: elbow, mesh: a.obj}\n"
      "      |         ^" },
    { "attach without bones",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "attach: {points: 3}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:9: error: attach[0] ties a body to bones, and the scene has none\n"
      "    3 | attach: {points: 3}\n"
      "      |         ^" },
    { "a motion without axis",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "obstacles: {name: o, sphere: {center: [0, 0, 0], radius: 1}}\n"
      "motion: {obstacle: o, degrees_per_frame: 2, to: 90}\n",
      FLX_ERR_SCENE,
      "scene.yaml:4:9: error: motion[0]: 'about' is missing: a point that the axis goes through\n"
      "    4 | motion: {obstacle: o, degrees_per_frame: 2, to: 90}\n"
      "      |         ^\n"
      "scene.yaml:4:9: error: motion[0]: 'axis' is missing: the direction to turn about\n"
      "    4 | motion: {obstacle: o, degrees_per_frame: 2, to: 90}\n"
      "      |         ^" },
    { "a motion of nothing",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "motion: {about: [0, 0, 0], axis: [0, 0, 1], degrees_per_frame: 2, to: 90}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:9: error: motion[0]: one of bone, obstacle is missing\n"
      "    3 | motion: {about: [0, 0, 0], axis: [0, 0, 1], degrees_per_frame: 2, to: 90}\n"
      "      |         ^" },
    { "a motion with two scripts",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "obstacles: {name: o, sphere: {center: [0, 0, 0], radius: 1}}\n"
      "motion: {obstacle: o, about: [0, 0, 0], axis: [0, 0, 1], degrees_per_frame: 2, to: 9, keys: [{time: 0}]}\n",
      FLX_ERR_SCENE,
      "scene.yaml:4:93: error: motion[0] has both 'degrees_per_frame' and 'keys'; give one of them\n"
      "    4 | ... 1], degrees_per_frame: 2, to: 9, keys: [{time: 0}]}\n"
      "      |                                            ^" },
    { "keys out of order",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "obstacles: {name: o, sphere: {center: [0, 0, 0], radius: 1}}\n"
      "motion: {obstacle: o, keys: [{time: 1 s}, {time: 500 ms}]}\n",
      FLX_ERR_SCENE,
      "scene.yaml:4:50: error: motion[0].keys[1].time is 0.5 s, not after 1 s of the key before\n"
      "    4 | motion: {obstacle: o, keys: [{time: 1 s}, {time: 500 ms}]}\n"
      "      |                                                  ^~~~~~" },
    { "a contact with nothing",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "contact: {law: spring}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:10: error: contact[0]: one of self, obstacle is missing\n"
      "    3 | contact: {law: spring}\n"
      "      |          ^" },
    { "an interval that ends before it begins",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "fix: {region: all, from: 2, until: 1}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:36: error: fix[0] ends at 1 s, before it begins at 2 s\n"
      "    3 | fix: {region: all, from: 2, until: 1}\n"
      "      |                                    ^" },
    { "a camera that looks along its up",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "cameras: {name: top, from: [0, 0, 3], at: [0, 0, 0]}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:10: error: cameras[0] looks straight along its 'up'; give another up\n"
      "    3 | cameras: {name: top, from: [0, 0, 3], at: [0, 0, 0]}\n"
      "      |          ^" },
    { "a data path without the folder",
      "flexor: 1\n"
      "bodies: {surface: data:x.obj}\n",
      FLX_ERR_SCENE,
      "scene.yaml:2:19: error: bodies[0].surface 'data:x.obj' lies in the data folder; say where that is with --data FOLDER\n"
      "    2 | bodies: {surface: data:x.obj}\n"
      "      |                   ^~~~~~~~~~" },
    { "density 0",
      "flexor: 1\n"
      "bodies: {surface: a.obj, material: {density: 0}}\n",
      FLX_ERR_SETTING,
      "scene.yaml:2:46: error: bodies[0].material.density is 0; allowed is above 0 and at most 1000000 kg/m3\n"
      "    2 | bodies: {surface: a.obj, material: {density: 0}}\n"
      "      |                                              ^" },
    { "density -1",
      "flexor: 1\n"
      "bodies: {surface: a.obj, material: {density: -1}}\n",
      FLX_ERR_SETTING,
      "scene.yaml:2:46: error: bodies[0].material.density is -1; allowed is above 0 and at most 1000000 kg/m3\n"
      "    2 | bodies: {surface: a.obj, material: {density: -1}}\n"
      "      |                                              ^~" },
    { "young 0",
      "flexor: 1\n"
      "bodies: {surface: a.obj, material: {young: 0}}\n",
      FLX_ERR_SETTING,
      "scene.yaml:2:44: error: bodies[0].material.young is 0; allowed is above 0 and at most 1e+12 Pa\n"
      "    2 | bodies: {surface: a.obj, material: {young: 0}}\n"
      "      |                                            ^" },
    { "young -1e5",
      "flexor: 1\n"
      "bodies: {surface: a.obj, material: {young: -1e5}}\n",
      FLX_ERR_SETTING,
      "scene.yaml:2:44: error: bodies[0].material.young is -1e5; allowed is above 0 and at most 1e+12 Pa\n"
      "    2 | bodies: {surface: a.obj, material: {young: -1e5}}\n"
      "      |                                            ^~~~" },
    { "poisson 0.5",
      "flexor: 1\n"
      "bodies: {surface: a.obj, material: {poisson: 0.5}}\n",
      FLX_ERR_SETTING,
      "scene.yaml:2:46: error: bodies[0].material.poisson is 0.5; allowed is only 0: Projective Dynamics takes Poisson's ratio as 0\n"
      "    2 | bodies: {surface: a.obj, material: {poisson: 0.5}}\n"
      "      |                                              ^~~" },
    { "poisson 0.7",
      "flexor: 1\n"
      "bodies: {surface: a.obj, material: {poisson: 0.7}}\n",
      FLX_ERR_SETTING,
      "scene.yaml:2:46: error: bodies[0].material.poisson is 0.7; allowed is only 0: Projective Dynamics takes Poisson's ratio as 0\n"
      "    2 | bodies: {surface: a.obj, material: {poisson: 0.7}}\n"
      "      |                                              ^~~" },
    { "poisson -1",
      "flexor: 1\n"
      "bodies: {surface: a.obj, material: {poisson: -1}}\n",
      FLX_ERR_SETTING,
      "scene.yaml:2:46: error: bodies[0].material.poisson is -1; allowed is only 0: Projective Dynamics takes Poisson's ratio as 0\n"
      "    2 | bodies: {surface: a.obj, material: {poisson: -1}}\n"
      "      |                                              ^~" },
    { "dt 0",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "run: {dt: 0}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:7: error: unknown key 'dt' in run: the time step is 1 / (fps x substeps); set run.fps (above 0) and solver.substeps (1 to 1000)\n"
      "    3 | run: {dt: 0}\n"
      "      |       ^~" },
    { "dt -0.01",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "run: {dt: -0.01}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:7: error: unknown key 'dt' in run: the time step is 1 / (fps x substeps); set run.fps (above 0) and solver.substeps (1 to 1000)\n"
      "    3 | run: {dt: -0.01}\n"
      "      |       ^~" },
    { "dt inf",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "solver: {dt: inf}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:10: error: unknown key 'dt' in solver: the time step is 1 / (fps x substeps); set run.fps (above 0) and solver.substeps (1 to 1000)\n"
      "    3 | solver: {dt: inf}\n"
      "      |          ^~" },
    { "iterations 0",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "solver: {outer: 0}\n",
      FLX_ERR_SETTING,
      "scene.yaml:3:17: error: solver.outer is 0; allowed is 1 to 10000\n"
      "    3 | solver: {outer: 0}\n"
      "      |                 ^" },
    { "iterations -3",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "solver: {inner: -3}\n",
      FLX_ERR_SETTING,
      "scene.yaml:3:17: error: solver.inner is -3; allowed is 1 to 1000\n"
      "    3 | solver: {inner: -3}\n"
      "      |                 ^~" },
    { "iterations by that name",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "solver: {iterations: 0}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:10: error: unknown key 'iterations' in solver: there are outer and inner iterations; set outer (1 to 10000) or inner (1 to 1000)\n"
      "    3 | solver: {iterations: 0}\n"
      "      |          ^~~~~~~~~~" },
    { "frames -1",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "run: {frames: -1}\n",
      FLX_ERR_SETTING,
      "scene.yaml:3:15: error: run.frames is -1; allowed is 0 to 10000000\n"
      "    3 | run: {frames: -1}\n"
      "      |               ^~" },
    { "stiffness nan",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "contact: {self: body0, stiffness: nan}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:35: error: contact[0].stiffness is 'nan'; wanted is a finite number\n"
      "    3 | contact: {self: body0, stiffness: nan}\n"
      "      |                                   ^~~" },
    { "friction -0.1",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "contact: {self: body0, friction: -0.1}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:24: error: unknown key 'friction' in contact[0]: contacts are frictionless in this version; leave it out (friction would be at least 0)\n"
      "    3 | contact: {self: body0, friction: -0.1}\n"
      "      |                        ^~~~~~~~" },
    { "threads 0",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "threads: 0\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:1: error: unknown key 'threads' at the top of the scene: the number of threads belongs to the command line: --threads (1 to 256)\n"
      "    3 | threads: 0\n"
      "      | ^~~~~~~" },
    { "threads 100000",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "run: {threads: 100000}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:7: error: unknown key 'threads' in run: the number of threads belongs to the command line: --threads (1 to 256)\n"
      "    3 | run: {threads: 100000}\n"
      "      |       ^~~~~~~" },
    { "pin weight -1",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "fix: {region: all, pin_weight: -1}\n",
      FLX_ERR_SCENE,
      "scene.yaml:3:20: error: unknown key 'pin_weight' in fix[0]: the strength of a spring is called stiffness, above 0 and at most 1e12 N/m\n"
      "    3 | fix: {region: all, pin_weight: -1}\n"
      "      |                    ^~~~~~~~~~" },
    { "fix stiffness -1",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "fix: {region: all, stiffness: -1}\n",
      FLX_ERR_SETTING,
      "scene.yaml:3:31: error: fix[0].stiffness is -1; allowed is above 0 and at most 1e+12 N/m, or auto\n"
      "    3 | fix: {region: all, stiffness: -1}\n"
      "      |                               ^~" },
    { "fps 0",
      "flexor: 1\n"
      "bodies: {surface: a.obj}\n"
      "run: {fps: 0}\n",
      FLX_ERR_SETTING,
      "scene.yaml:3:12: error: run.fps is 0; allowed is above 0 and at most 1000000 1/s\n"
      "    3 | run: {fps: 0}\n"
      "      |            ^" },
};
// clang-format on

static void is_refused_with_this_message(void** state)
{
    const mistake_case* c = *state;
    check_message(c->scene, NULL, c->status, c->message);
}

int main(void)
{
    enum
    {
        COUNT = sizeof cases / sizeof cases[0]
    };
    struct CMUnitTest tests[COUNT];
    for (size_t i = 0; i < COUNT; ++i)
        tests[i] = (struct CMUnitTest){
            .name = cases[i].name, .test_func = is_refused_with_this_message, .initial_state = (void*)&cases[i]};
    return cmocka_run_group_tests_name("mistakes in scenes", tests, scene_folder_enter, scene_folder_leave);
}
