/** The short form of what `scripts/chaos/run` does for an hour. */
import { expect, test } from 'bun:test'
import { anonymousLoad } from '../../scripts/chaos/anonymous-load.ts'
import { postgresClockJumps } from '../../scripts/chaos/postgres-clock.ts'
import { connectionsTaken } from '../../scripts/chaos/postgres-connections.ts'
import { terminatedBackends } from '../../scripts/chaos/postgres-crashes.ts'
import { cutConnections, farAway, stalledConnections } from '../../scripts/chaos/postgres-network.ts'
import { unsyncedWrites } from '../../scripts/chaos/power-loss.ts'
import { SCENARIOS } from '../../scripts/chaos/run.ts'
import { soak } from '../../scripts/chaos/soak.ts'

/** These measure speed and memory, which tests do not judge, or differ little from others: they run by hand. */
const BY_HAND = [
  anonymousLoad,
  soak,
  terminatedBackends,
  farAway,
  cutConnections,
  stalledConnections,
  connectionsTaken,
  postgresClockJumps,
]

for (const scenario of SCENARIOS.filter((each) => !BY_HAND.includes(each))) {
  const missing = scenario.missingRequirement()
  test.skipIf(missing !== undefined)(
    `nothing acknowledged is lost, and nothing is duplicated: ${scenario.name}${missing ? ` (skipped: ${missing})` : ''}`,
    async () => {
      const { lost, duplicated, acknowledged } = await scenario.run('short')
      expect({ lost, duplicated }).toEqual({ lost: 0, duplicated: 0 })
      expect(acknowledged).toBeGreaterThan(0)
    },
    300_000,
  )
}

test('unsynced writes are found in the output of strace', () => {
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
