/** What the demonstration is played on. */
import type { Party } from '../features/audit/service.ts'
import type { Random } from '../lib/random.ts'
import type { Services } from '../services.ts'

/** Something that somebody does at a moment. */
export interface DemoStep {
  at: number
  run: () => Promise<unknown>
}

/** What the steps of the demonstration work on. */
export interface Stage {
  services: Services
  random: Random
  /** Somebody as the one who asks, by the part of their address before the @. */
  as(user: string): Party
  /** The first day, and the present. */
  firstDay: string
  now: number
}
