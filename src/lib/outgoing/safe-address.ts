/** Addresses that something may be downloaded from. Pure. */

export const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** Whether a place is an address, as opposed to a file or folder. */
export function isAddress(place: string): boolean {
  return /^[a-z][a-z\d+.-]+:\/\//i.test(place)
}

/** Whether nobody on the way can read or change what is loaded from there. */
export function isSafeAddress(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.test(url.hostname))
}
