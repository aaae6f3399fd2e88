"""Blender plays an exported point cache on the mesh exported with it.

usage: blender -b --factory-startup --python-exit-code 1 --python check_blender.py -- FILE.obj FILE.pc2 FRAMES
"""
import struct
import sys

import bpy

obj_path, cache_path, frames = sys.argv[sys.argv.index("--") + 1 :]
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.wm.obj_import(filepath=obj_path)
thing = bpy.context.selected_objects[0]
cache = thing.modifiers.new("cache", "MESH_CACHE")
cache.cache_format = "PC2"
cache.filepath = cache_path

with open(cache_path, "rb") as file:
    header = struct.unpack("<12siiffi", file.read(32))
    count = header[2]
    assert count == len(thing.data.vertices), f"{count} vertices in the cache, {len(thing.data.vertices)} in the mesh"
    for frame in (0, int(frames) // 2, int(frames)):
        file.seek(32 + 12 * count * frame)
        wanted = struct.iter_unpack("<fff", file.read(12 * count))
        bpy.context.scene.frame_set(frame)
        mesh = thing.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
        worst = max(max(abs(a - b) for a, b in zip(v.co, p)) for v, p in zip(mesh.vertices, wanted))
        print(f"frame {frame}: {count} vertices, off by {worst:g} m at most")
        assert worst < 1e-6
