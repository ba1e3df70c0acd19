/**
 * Sets the machine's clock forward and back by days while agents report. The times in their reports must not change.
 */
import { Database as Connection } from 'bun:sqlite'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Installation } from '../../test/support/binary.ts'
import { Reporters, type Scenario, Victim } from './scenario.ts'

const LIBRARIES = [
  '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1',
  '/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1',
]

export const clockMissing = () =>
  LIBRARIES.some((path) => existsSync(path)) ? undefined : 'libfaketime is not installed'

/** The command in front of an executable whose clock {@link setClock} sets. */
export const withSettableClock = () => [
  'env',
  `LD_PRELOAD=${LIBRARIES.find((path) => existsSync(path))!}`,
  'FAKETIME_TIMESTAMP_FILE=clock',
  'FAKETIME_NO_CACHE=1',
  'DONT_FAKE_MONOTONIC=1',
]

/** @param jump from the right time, such as `+1d` */
export function setClock({ folder }: Installation, jump: string): void {
  writeFileSync(join(folder, 'clock'), `${jump}\n`)
}

const JUMPS = { short: ['+1d', '-1d', '+0'], long: ['+1d', '-1d', '+0', '+30d', '-30d', '+1h', '-1h', '+0'] }

/** What reporters send. */
export const PERIOD = 'started_at = 1795168800000 AND ended_at = 1795170600000'

export const clockJumps: Scenario = {
  name: 'the clock jumps by days',
  missingRequirement: clockMissing,
  async run(size) {
    const jumps = JUMPS[size]
    const victim = await Victim.make(size, { before: withSettableClock() })
    const set = (jump: string) => setClock(victim.installation, jump)
    try {
      set('+0')
      await victim.start()
      const reporters = new Reporters(victim, 'clock')
      for (const jump of jumps) {
        set(jump)
        await reporters.untilMore(60)
      }
      const verdict = await victim.verdict(reporters)
      return {
        rounds: jumps.length,
        ...verdict,
        readyMs: [],
        remark: `${misdated(victim.databaseFile)} misdated`,
      }
    } finally {
      await victim.remove()
    }
  },
}

/** Entries whose time differs from the one in the report. */
function misdated(file: string): number {
  const connection = new Connection(file, { readonly: true })
  try {
    return connection
      .query<{ entries: number }, []>(`SELECT count(*) AS entries FROM entries WHERE NOT (${PERIOD})`)
      .get()!.entries
  } finally {
    connection.close()
  }
}
