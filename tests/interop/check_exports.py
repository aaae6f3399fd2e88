#!/usr/bin/env python3
"""Read a folder of exports with the programs people use: h5py, meshio, VTK.

usage: check_exports.py FOLDER

FOLDER holds one recording NAME (NAME.xdmf, NAME.frames/) and its exports NAME.pvd, NAME.pc2 + NAME.obj, NAME.mdd and
NAME_%04d.ply; the recorder's tests leave such a folder when FLEXOR_EXPORT_DIR names it. Whatever program is not
installed is skipped, aloud. Exit status: 0 fine, 1 a check failed, 77 nothing could be checked.
"""
import glob
import os
import re
import struct
import sys
import xml.etree.ElementTree as ET

checked = []
skipped = []


def need(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


def module(name):
    try:
        return __import__(name)
    except ImportError:
        skipped.append(name)
        return None


def attempt(name, import_names, check, *arguments):
    modules = [module(m) for m in import_names]
    if None in modules:
        print(f"skipped: {name} ({', '.join(import_names)} not installed)")
        return
    check(*modules, *arguments)
    checked.append(name)
    print(f"fine: {name}")


def check_xdmf(h5py, base):
    """Every DataItem names a dataset of exactly that shape and type."""
    folder = os.path.dirname(base)
    domain = ET.parse(base + ".xdmf").getroot().find("Domain")
    series = domain.find("Grid")
    need(series.get("CollectionType") == "Temporal", "the outer grid is no temporal collection")
    steps = series.findall("Grid")
    need(steps, "no time steps")
    times = [float(s.find("Time").get("Value")) for s in steps]
    need(times == sorted(set(times)), "times do not ascend")
    for step in steps:
        for item in step.iter("DataItem"):
            path, dataset = item.text.strip().rsplit(":", 1)
            with h5py.File(os.path.join(folder, path), "r") as file:
                data = file[dataset]
                shape = tuple(int(n) for n in item.get("Dimensions").split())
                need(data.shape == shape, f"{item.text} is {data.shape}, the sidecar says {shape}")
                kind = {"Int": "i", "Float": "f"}[item.get("NumberType")] + item.get("Precision")
                need(data.dtype.kind + str(data.dtype.itemsize) == kind, f"{item.text}: {data.dtype}, not {kind}")
    with h5py.File(os.path.join(base + ".frames", "topology.h5"), "r") as file:
        need("tets" not in file or file["tets"][()].max() < file["rest"].shape[0], "tets")  # cloth has none
        need(file.attrs["fps"] > 0 and isinstance(file.attrs["scene"], (str, bytes)), "facts")
    for k, time in enumerate(times):
        with h5py.File(os.path.join(base + ".frames", f"frame_{k:06d}.h5"), "r") as file:
            need(abs(file.attrs["time"] - time) < 1e-12, f"time of frame {k}")
            need("energy" in file.attrs and "penetration" in file.attrs, f"statistics of frame {k}")


def vtu_files(base):
    """Time, what the file shows, path. The tets' file is named without a part; cloth has none."""
    files = []
    for d in ET.parse(base + ".pvd").getroot().iter("DataSet"):
        part = re.fullmatch(r".*?(?:_(surface|obstacles|bones))?_\d+\.vtu", d.get("file")).group(1) or "tets"
        files.append((float(d.get("timestep")), part, os.path.join(os.path.dirname(base), d.get("file"))))
    return files


def check_vtu_meshio(meshio, h5py, base):
    files = vtu_files(base)
    parts = len({part for _, part, _ in files})
    for k, (_, part, path) in enumerate(files):
        mesh = meshio.read(path)
        with h5py.File(os.path.join(base + ".frames", f"frame_{k // parts:06d}.h5"), "r") as frame:
            x = frame["x" if part == "tets" else part + "/x"][()]
            need((mesh.points.astype("f4") == x).all(), f"{path}: points differ from the recording's")
            if part == "tets":
                need(mesh.cells[0].type == "tetra", f"{path}: {mesh.cells[0].type}")
                need((mesh.cell_data["strain"][0] == frame["tet/strain"][()]).all(), f"{path}: strain")
                need((mesh.cell_data["volume_ratio"][0] == frame["tet/volume_ratio"][()]).all(), f"{path}: ratio")
                need((mesh.point_data["displacement"] == frame["displacement"][()]).all(), f"{path}: displacement")
                continue
            need(mesh.cells[0].type == "triangle", f"{path}: {mesh.cells[0].type}")
            if part == "surface":
                need((mesh.point_data["contact_force"] == frame["surface/contact_force"][()]).all(), f"{path}: force")


def check_vtu_vtk(vtk, base):
    for time, part, path in vtu_files(base):
        reader = vtk.vtkXMLUnstructuredGridReader()
        reader.SetFileName(path)
        need(reader.CanReadFile(path) == 1, f"VTK does not read {path}")
        reader.Update()
        grid = reader.GetOutput()
        need(grid.GetNumberOfCells() > 0, f"{path}: no cells")
        need(all(grid.GetCellType(i) == (10 if part == "tets" else 5) for i in range(grid.GetNumberOfCells())), f"{path}: cell types")
        value = grid.GetFieldData().GetArray("TimeValue")
        need(value is not None and abs(value.GetValue(0) - time) < 1e-12, f"{path}: TimeValue")
        names = [grid.GetPointData().GetArrayName(i) for i in range(grid.GetPointData().GetNumberOfArrays())]
        need("displacement" in names or part in ("obstacles", "bones"), f"{path}: {names}")


def check_ply_vtk(vtk, path, vertices, triangles):
    reader = vtk.vtkPLYReader()
    reader.SetFileName(path)
    reader.Update()
    need(reader.GetOutput().GetNumberOfPoints() == vertices, f"{path}: vertices")
    need(reader.GetOutput().GetNumberOfCells() == triangles, f"{path}: faces")


def read_obj(path):
    vertices, triangles = [], []
    with open(path, encoding="utf-8") as file:
        for line in file:
            word, *rest = line.split()
            if word == "v":
                vertices.append(tuple(map(float, rest)))
            elif word == "f":
                triangles.append(tuple(int(i) - 1 for i in rest))
    return vertices, triangles


def check_caches(base):
    """PC2, MDD and OBJ by their published layouts: the same vertices in the same order."""
    vertices, triangles = read_obj(base + ".obj")
    need({i for t in triangles for i in t} == set(range(len(vertices))), "the OBJ has vertices that no triangle uses")
    with open(base + ".pc2", "rb") as file:
        pc2 = file.read()
    magic, version, count, _, sampling, samples = struct.unpack_from("<12siiffi", pc2)
    need(magic == b"POINTCACHE2\0" and version == 1 and count == len(vertices) and sampling == 1, "PC2 header")
    need(len(pc2) == 32 + 12 * samples * count, "PC2 size")
    with open(base + ".mdd", "rb") as file:
        mdd = file.read()
    frames, points = struct.unpack_from(">ii", mdd)
    need((frames, points) == (samples, count) and len(mdd) == 8 + 4 * frames + 12 * frames * points, "MDD header")
    a = struct.unpack_from(f"<{3 * samples * count}f", pc2, 32)
    b = struct.unpack_from(f">{3 * samples * count}f", mdd, 8 + 4 * frames)
    need(a == b, "PC2 and MDD differ")
    return len(vertices), triangles


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = glob.glob(os.path.join(glob.escape(sys.argv[1]), "*.xdmf"))
    need(len(found) == 1, f"{sys.argv[1]} does not hold one recording")
    base = re.sub(r"\.xdmf$", "", found[0])
    vertices, triangles = check_caches(base)
    print("fine: PC2, MDD and OBJ fit together")
    attempt("XDMF and its HDF5 files", ["h5py"], check_xdmf, base)
    attempt("VTU in meshio", ["meshio", "h5py"], check_vtu_meshio, base)
    attempt("VTU in VTK", ["vtk"], check_vtu_vtk, base)
    ply = sorted(glob.glob(glob.escape(base) + "_*.ply"))[-1]
    attempt("PLY in VTK", ["vtk"], check_ply_vtk, ply, vertices, len(triangles))

    def check_ply_meshio(meshio):
        mesh = meshio.read(ply)
        need(len(mesh.points) == vertices, f"{ply}: vertices")
        need([tuple(t) for t in mesh.cells[0].data.tolist()] == triangles, f"{ply}: faces")

    attempt("PLY in meshio", ["meshio"], check_ply_meshio)
    return 0 if checked else 77


if __name__ == "__main__":
    sys.exit(main())
