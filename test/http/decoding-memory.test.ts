/** Memory is no matter of speed: a body that takes more than it may is refused by every machine alike. */
import { describe, expect, test } from 'bun:test'
import { BOMBS, bombsFor } from '../support/bombs.ts'

/** What any body within its byte limits may add to a process, in MB. */
const GROWTH_LIMIT_MB = 50

/** More than the child holds with everything that it loads; past it, it ends. */
const CHILD_LIMIT_BYTES = 1_000_000_000

/** By how many MB memory grew at most with each of the bombs of a decoder. */
async function growthOf(decoder: string): Promise<Record<string, number>> {
  const program = new URL('../support/decoding-child.ts', import.meta.url).pathname
  const child = Bun.spawn(['prlimit', `--data=${CHILD_LIMIT_BYTES}`, process.execPath, program, decoder], {
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [printed, errors, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  if (code !== 0) throw new Error(`The decoding of ${decoder} ended with ${code}: ${errors}`)
  return JSON.parse(printed)
}

describe.skipIf(process.platform !== 'linux' || !Bun.which('prlimit'))('no body takes more than 50 MB', () => {
  for (const decoder of new Set(BOMBS.map((bomb) => bomb.decoder))) {
    test(`of those for ${decoder}`, async () => {
      const growth = await growthOf(decoder)
      expect(Object.keys(growth)).toHaveLength(bombsFor(decoder).length)
      expect(Object.entries(growth).filter(([, megabytes]) => megabytes > GROWTH_LIMIT_MB)).toEqual([])
    }, 180_000)
  }
})
