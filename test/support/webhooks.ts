/** Services that deliver to receivers on this machine, on a clock that tests set. */
import type { Actor } from '../../src/access/actor.ts'
import { TALLY } from '../../src/access/actor.ts'
import type { Database } from '../../src/database/database.ts'
import type { NewEvent } from '../../src/features/events/service.ts'
import type { NewWebhook } from '../../src/features/webhooks/schema.ts'
import type { Manager } from '../../src/features/webhooks/service.ts'
import { createServices, type Services, type ServicesOptions } from '../../src/services.ts'

/** The command line, which may do everything. */
export const OPERATOR: Manager = { principal: null, by: TALLY }

export interface Sending {
  services: Services
  clock: { now(): number }
  /** Moves the clock on. */
  wait(ms: number): void
  add(webhook: Partial<NewWebhook> & { url: string }, by?: Actor): ReturnType<Services['webhooks']['addWebhook']>
  /** Records events, in a transaction of their own. */
  record(...events: NewEvent[]): Promise<void>
  /** Delivers what is due. */
  deliver(): Promise<void>
}

export function sendingOn(
  db: Database,
  { mail, clock = movableClock() }: { mail?: ServicesOptions['mail']; clock?: ReturnType<typeof movableClock> } = {},
): Sending {
  const services = createServices({
    db,
    clock,
    ...(mail && { mail }),
    webhooks: { privateNetworks: ['127.0.0.0/8'], localUrl: () => 'https://tally.example.com' },
  })
  return {
    services,
    clock,
    wait: clock.wait,
    add: (webhook, by = TALLY) =>
      services.webhooks.addWebhook({ name: 'Hook', types: ['*'], ...webhook }, { principal: null, by }),
    record: (...events) => db.write((tx) => services.events.record(tx, events)),
    deliver: services.webhooks.dispatcher.deliverDue,
  }
}

/** Starts at the present, because receivers compare the time of a message with their own. */
export function movableClock() {
  let offsetMs = 0
  return {
    now: () => Date.now() + offsetMs,
    wait: (ms: number) => {
      offsetMs += ms
    },
  }
}

/** An event of a project, as a budget or an entry has them. */
export const backupFailed = (name: string): NewEvent => ({ type: 'backup.failed', object: { id: 'backup', name } })
