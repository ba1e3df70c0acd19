/**
 * What links for people begin with: the address that people open, or else the one under which the caller's browser has
 * opened Tally's page, which `same-origin.ts` has compared with where the call went.
 */
export function linkBase({ headers }: Request, publicUrl: string | undefined): string {
  if (publicUrl !== undefined) return publicUrl
  const origin = headers.get('origin')
  return origin?.startsWith('http') ? origin : `http://${headers.get('host')}`
}
