/**
 * Sets the machine's clock forward and back by days while agents report. The times in their reports must not change.
 */
import { Database as Connection } from 'bun:sqlite'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Reporters, type Scenario, Victim } from './scenario.ts'

const LIBRARIES = [
  '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1',
  '/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1',
]

const JUMPS = { short: ['+1d', '-1d', '+0'], long: ['+1d', '-1d', '+0', '+30d', '-30d', '+1h', '-1h', '+0'] }

const PERIOD = 'started_at = 1795168800000 AND ended_at = 1795170600000'

export const clockJumps: Scenario = {
  name: 'the clock jumps by days',
  missingRequirement: () => (LIBRARIES.some((path) => existsSync(path)) ? undefined : 'libfaketime is not installed'),
  async run(size) {
    const library = LIBRARIES.find((path) => existsSync(path))!
    const jumps = JUMPS[size]
    const before = [
      'env',
      `LD_PRELOAD=${library}`,
      'FAKETIME_TIMESTAMP_FILE=clock',
      'FAKETIME_NO_CACHE=1',
      'DONT_FAKE_MONOTONIC=1',
    ]
    const victim = await Victim.make({ before })
    const set = (jump: string) => writeFileSync(join(victim.installation.folder, 'clock'), `${jump}\n`)
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
