/** The share that is removed at once: the first key of a map from which many were removed takes long to find. */
const REMOVED_SHARE = 0.1

/** Removes the oldest keys of a map that has reached its limit, so that one more can be added. */
export function makeRoom(map: Map<unknown, unknown>, limit: number): void {
  if (map.size < limit) return
  let count = Math.ceil(limit * REMOVED_SHARE)
  for (const key of map.keys()) {
    if (count <= 0) return
    map.delete(key)
    count -= 1
  }
}
