/** What the demonstration is played on. */
import type { Party } from '../access/actor.ts'
import type { Random } from '../lib/random.ts'
import type { Services } from '../services.ts'

/** An action at a point in time. */
export interface DemoStep {
  at: number
  run: () => Promise<unknown>
}

/** What the steps of the demonstration work on. */
export interface Stage {
  services: Services
  random: Random
  /** The party for a person, by the local part of their address. */
  as(user: string): Party
  /** The first day, and the present. */
  firstDay: string
  now: number
}
