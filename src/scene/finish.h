// What must hold between the keys of a section; called by the tables in schema.c after a section was read.
#ifndef FLX_SCENE_FINISH_H
#define FLX_SCENE_FINISH_H

#include "scene/reader.h"

void flx__finish_plane(const flx__finish* f, void* target);
void flx__finish_sphere(const flx__finish* f, void* target);
void flx__finish_capsule(const flx__finish* f, void* target);
void flx__finish_box(const flx__finish* f, void* target);
void flx__finish_shape(const flx__finish* f, void* target);
void flx__finish_joint(const flx__finish* f, void* target);
void flx__finish_lattice(const flx__finish* f, void* target);
void flx__finish_constraint(const flx__finish* f, void* target);
void flx__finish_body(const flx__finish* f, void* target);
void flx__finish_bone(const flx__finish* f, void* target);
void flx__finish_attach(const flx__finish* f, void* target);
void flx__finish_fix(const flx__finish* f, void* target);
void flx__finish_load(const flx__finish* f, void* target);
void flx__finish_motion(const flx__finish* f, void* target);
void flx__finish_obstacle(const flx__finish* f, void* target);
void flx__finish_contact(const flx__finish* f, void* target);
void flx__finish_camera(const flx__finish* f, void* target);
void flx__finish_scene(const flx__finish* f, void* target);

#endif
