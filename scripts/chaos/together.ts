/** A server and three command lines write to one database at the same time: none may fail because it is locked. */
import { Reporters, type Scenario, Victim } from './scenario.ts'

const COMMANDS = { short: 6, long: 300 }
const WRITERS = 3

export const together: Scenario = {
  name: 'four processes write at once',
  missingRequirement: () => undefined,
  async run(size) {
    const victim = await Victim.make(size)
    try {
      await victim.start()
      const reporters = new Reporters(victim, 'together')
      const failures: string[] = []
      const write = async (writer: number) => {
        for (let number = 0; number < COMMANDS[size]; number += 1) {
          const { code, stderr } = await victim.installation.run([
            'projects',
            'add',
            `W${writer}-${number}`,
            '--name',
            `Project ${number} of ${writer}`,
          ])
          if (code !== 0) failures.push(stderr)
        }
      }
      await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)))
      const verdict = await victim.verdict(reporters)
      if (failures.length > 0) throw new Error(`${failures.length} commands were refused: ${failures[0]}`)
      const refused = [...reporters.statuses].filter(([status]) => status >= 500)
      return {
        rounds: WRITERS * COMMANDS[size],
        ...verdict,
        readyMs: [],
        remark: `${WRITERS * COMMANDS[size]} commands during the load, none refused${refused.length > 0 ? `; the server returned ${refused.map(([status, times]) => `${status} ${times} times`).join(', ')}` : ''}`,
      }
    } finally {
      await victim.remove()
    }
  },
}
