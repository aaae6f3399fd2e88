"""ParaView opens a recording and its exports, and they move.

usage: pvpython check_paraview.py FILE.xdmf FILE.pvd ...
"""
import sys

from paraview.simple import OpenDataFile

failed = False
for path in sys.argv[1:]:
    reader = OpenDataFile(path)
    if reader is None:
        sys.exit(f"{path}: ParaView cannot open it")
    reader.UpdatePipeline()
    times = list(reader.TimestepValues)
    seen = []
    for time in (times[0], times[-1]):
        reader.UpdatePipeline(time)
        info = reader.GetDataInformation()
        seen.append((info.GetNumberOfPoints(), info.GetNumberOfCells(), tuple(info.GetBounds())))
    arrays = {reader.PointData.GetArray(k).Name for k in range(reader.PointData.GetNumberOfArrays())}
    arrays |= {reader.CellData.GetArray(k).Name for k in range(reader.CellData.GetNumberOfArrays())}
    print(f"{path}: {len(times)} times, {seen[0][0]} points, {seen[0][1]} cells, {', '.join(sorted(arrays))}")
    if seen[0][0] == 0 or seen[0][:2] != seen[1][:2] or seen[0][2] == seen[1][2]:
        print(f"{path}: empty, changing its size, or not moving: {seen}", file=sys.stderr)
        failed = True
    missing = {"displacement", "contact_force", "strain", "volume_ratio"} - arrays
    if missing:
        print(f"{path}: without {', '.join(sorted(missing))}", file=sys.stderr)
        failed = True
sys.exit(failed)
