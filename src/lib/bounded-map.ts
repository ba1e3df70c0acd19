/** The share removed at once, because finding the first key of a map after many removals is slow. */
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
