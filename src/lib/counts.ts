/** Increases the count for a name, which starts at 0. */
export function addCount<Name>(counts: Map<Name, number>, name: Name, more = 1): void {
  counts.set(name, (counts.get(name) ?? 0) + more)
}
