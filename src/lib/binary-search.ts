/** The first of `length` positions at which `isReached` is true, where it changes only once; `length` if there is none. */
export function firstIndex(length: number, isReached: (at: number) => boolean): number {
  let low = 0
  let high = length
  while (low < high) {
    const middle = (low + high) >> 1
    if (isReached(middle)) high = middle
    else low = middle + 1
  }
  return low
}
