/** The short form of what `scripts/torture/run` does for an hour. */
import { expect, test } from 'bun:test'
import { unsyncedWrites } from '../../scripts/torture/power-loss.ts'
import { SCENARIOS } from '../../scripts/torture/run.ts'

for (const scenario of SCENARIOS) {
  const missing = scenario.lacks()
  test.skipIf(missing !== undefined)(
    `nothing acknowledged is lost, and nothing is doubled: ${scenario.name}${missing ? ` (skipped: ${missing})` : ''}`,
    async () => {
      const { lost, doubled, acknowledged } = await scenario.run('short')
      expect({ lost, doubled }).toEqual({ lost: 0, doubled: 0 })
      expect(acknowledged).toBeGreaterThan(0)
    },
    180_000,
  )
}

test('what strace tells is read as what a power loss takes', () => {
  const log = '/data/tally.db-wal'
  const write = (offset: number, thread = 7) => `${thread} pwrite64(12<${log}>, ""..., 4096, ${offset}) = 4096`
  const left = (...lines: string[]) => unsyncedWrites(lines.join('\n'), log).map(({ offset }) => offset)
  expect(left(write(0), write(1), `7 fdatasync(12<${log}>) = 0`, write(2))).toEqual([2])
  // One that began before a write does not cover it, and one that was not ended covers nothing.
  expect(left(write(0), `8 fdatasync(12<${log}> <unfinished ...>`, write(1), '8 <... fdatasync resumed>) = 0')).toEqual(
    [1],
  )
  expect(left(write(0), `8 fdatasync(12<${log}> <unfinished ...>`)).toEqual([0])
  expect(left(write(0), `8 fdatasync(12<${log}>) = -1 EIO (Input/output error)`)).toEqual([0])
  expect(left(write(0), '7 fdatasync(9</data/tally.db>) = 0')).toEqual([0])
})
