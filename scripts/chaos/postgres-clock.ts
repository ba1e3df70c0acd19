/** The clock of one of two servers is set forward and back by days, while that of the other is right. */
import { clockMissing, PERIOD, setClock, withSettableClock } from './clock-jumps.ts'
import { postgresMissing, Stage } from './postgres-stage.ts'
import { Reporters, refusalsOf, type Scenario } from './scenario.ts'

/** Back by less than the age of what reporters send: reports of the future are refused. */
const JUMPS = { short: ['+1d', '-1d', '+0'], long: ['+1d', '-1d', '+0', '+30d', '-3d', '+1h', '-1h', '+0'] }

export const postgresClockJumps: Scenario = {
  name: 'PostgreSQL: the clock of one of two servers jumps by days',
  missingRequirement: () => postgresMissing() ?? clockMissing(),
  async run(size) {
    const stage = await Stage.make(size, { before: withSettableClock() })
    const sql = stage.admin()
    try {
      const reporters = new Reporters(stage, 'clock')
      for (const jump of JUMPS[size]) {
        setClock(stage.places[0]!.installation, jump)
        await reporters.untilMore(100)
      }
      const verdict = await stage.verdict(reporters)
      const [row] = await sql.unsafe(`SELECT count(*)::int AS entries FROM entries WHERE NOT (${PERIOD})`)
      return {
        rounds: JUMPS[size].length,
        ...verdict,
        readyMs: [],
        remark: `${row!.entries} misdated; ${refusalsOf(reporters)}`,
      }
    } finally {
      await sql.end()
      await stage.remove()
    }
  },
}
