/** Repeated `kill -9` under load, while clients keep repeating reports that were not acknowledged. */
import { Reporters, type Scenario, Victim } from './scenario.ts'

const ROUNDS = { short: 3, long: 200 }

export const crashes: Scenario = {
  name: 'kill -9 under load',
  missingRequirement: () => undefined,
  async run(size) {
    const victim = await Victim.make(size)
    try {
      await victim.start()
      const reporters = new Reporters(victim, 'crashes')
      for (let round = 0; round < ROUNDS[size]; round += 1) {
        await reporters.untilMore(20 + Math.random() * 200)
        await victim.server.crash()
        await victim.start()
      }
      const verdict = await victim.verdict(reporters)
      return {
        rounds: ROUNDS[size],
        ...verdict,
        readyMs: victim.readyMs.slice(1),
      }
    } finally {
      await victim.remove()
    }
  },
}
