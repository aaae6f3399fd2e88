#!/usr/bin/env python3
"""Makes beam.mesh, block.mesh, ball.obj, sheet.obj and strip.obj beside this file: the small meshes of the example scenes."""
import itertools
import math
import pathlib

HERE = pathlib.Path(__file__).resolve().parent


def grid(low, size, cells):
    """A box of cells, each cut into six tets around a diagonal; neighbours are mirror images, so the mesh conforms and
    has no preferred direction."""
    nx, ny, nz = cells
    number = {}
    vertices = []
    for k, j, i in itertools.product(range(nz + 1), range(ny + 1), range(nx + 1)):
        number[i, j, k] = len(vertices) + 1
        vertices.append(tuple(low[a] + size[a] * (i, j, k)[a] / cells[a] for a in range(3)))
    tets = []
    for k, j, i in itertools.product(range(nz), range(ny), range(nx)):
        cell = (i, j, k)
        start = [c + c % 2 for c in cell]
        step = [1 - 2 * (c % 2) for c in cell]
        flips = sum(c % 2 for c in cell)
        for order in itertools.permutations(range(3)):
            at = list(start)
            corners = [number[tuple(at)]]
            for axis in order:
                at[axis] += step[axis]
                corners.append(number[tuple(at)])
            swaps = sum(order[a] > order[b] for a, b in ((0, 1), (0, 2), (1, 2)))
            if (flips + swaps) % 2:
                corners[2], corners[3] = corners[3], corners[2]
            tets.append(corners)
    return vertices, tets


def write_medit(name, vertices, tets):
    lines = ["MeshVersionFormatted 2", "Dimension 3", "Vertices", str(len(vertices))]
    lines += ["%.9g %.9g %.9g 0" % v for v in vertices]
    lines += ["Tetrahedra", str(len(tets))]
    lines += ["%d %d %d %d 0" % tuple(t) for t in tets]
    lines += ["End", ""]
    (HERE / name).write_text("\n".join(lines), encoding="ascii")


def ball(radius, rounds):
    """An icosahedron, its triangles cut in four `rounds` times and pushed out to the sphere."""
    g = (1 + math.sqrt(5)) / 2
    vertices = [(-1, g, 0), (1, g, 0), (-1, -g, 0), (1, -g, 0), (0, -1, g), (0, 1, g), (0, -1, -g), (0, 1, -g),
                (g, 0, -1), (g, 0, 1), (-g, 0, -1), (-g, 0, 1)]
    edge = 2.0  # of this icosahedron
    near = [[b for b in range(12) if b != a and math.dist(vertices[a], vertices[b]) < edge * 1.01] for a in range(12)]
    faces = []
    for a, b, c in itertools.combinations(range(12), 3):
        if b in near[a] and c in near[a] and c in near[b]:
            (ax, ay, az), (bx, by, bz), (cx, cy, cz) = (vertices[v] for v in (a, b, c))
            outward = (ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)) > 0
            faces.append((a, b, c) if outward else (a, c, b))
    for _ in range(rounds):
        middle = {}

        def between(a, b):
            pair = (min(a, b), max(a, b))
            if pair not in middle:
                middle[pair] = len(vertices)
                vertices.append(tuple((p + q) / 2 for p, q in zip(vertices[a], vertices[b])))
            return middle[pair]

        cut = []
        for a, b, c in faces:
            ab, bc, ca = between(a, b), between(b, c), between(c, a)
            cut += [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]
        faces = cut
        vertices = [tuple(radius * p / math.hypot(*v) for p in v) for v in vertices]
    return vertices, faces


def sheet(step, wide, long):
    """Squares around the origin, each cut in two; diagonals alternate, so it has no preferred direction."""
    vertices = [((i - wide / 2) * step, (j - long / 2) * step, 0.0) for j in range(long + 1) for i in range(wide + 1)]
    faces = []
    for j, i in itertools.product(range(long), range(wide)):
        a = j * (wide + 1) + i
        b, c, d = a + 1, a + wide + 2, a + wide + 1
        faces += [(a, b, c), (a, c, d)] if (i + j) % 2 == 0 else [(a, b, d), (b, c, d)]
    return vertices, faces


def write_obj(name, what, vertices, faces):
    lines = ["# %s; in m" % what]
    lines += ["v %.7g %.7g %.7g" % v for v in vertices]
    lines += ["f %d %d %d" % tuple(i + 1 for i in f) for f in faces]
    (HERE / name).write_text("\n".join(lines) + "\n", encoding="ascii")


if __name__ == "__main__":
    write_medit("beam.mesh", *grid((0.0, -0.05, -0.05), (1.0, 0.1, 0.1), (40, 4, 4)))
    write_medit("block.mesh", *grid((-0.1, -0.1, 0.0), (0.2, 0.2, 0.2), (6, 6, 6)))
    write_obj("ball.obj", "sphere of radius 0.1 m", *ball(0.1, 3))
    write_obj("sheet.obj", "square sheet of 1 m", *sheet(0.025, 40, 40))
    write_obj("strip.obj", "strip of 0.2 m by 1 m", *sheet(0.02, 10, 50))
