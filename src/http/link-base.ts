/**
 * The beginning of links for people: the configured public address, or else the origin of the page in the caller's
 * browser, which `same-origin.ts` has compared with the address of the call.
 */
export function linkBase({ headers }: Request, publicUrl: string | undefined): string {
  if (publicUrl !== undefined) return publicUrl
  const origin = headers.get('origin')
  return origin?.startsWith('http') ? origin : `http://${headers.get('host')}`
}
