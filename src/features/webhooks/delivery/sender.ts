/** Sends one event to one endpoint: body, signature, request. */
import type { Clock } from '../../../lib/clock.ts'
import type { LoggedEvent } from '../event-log.ts'
import { payloadOf } from '../messages/payload.ts'
import { signedHeaders } from '../signature.ts'
import type { EndpointRow } from '../store/endpoints.ts'
import type { PostResult } from './post.ts'

/** The columns of a delivery that describe what was sent and what came back. */
export interface Sent extends PostResult {
  body: string
}

export interface Sender {
  send(endpoint: EndpointRow, event: Pick<LoggedEvent, 'body' | 'facts' | 'page'>): Promise<Sent>
}

export interface SenderOptions {
  clock: Clock
  /** Networks whose addresses may be used although they are private. */
  privateNetworks: readonly string[]
}

export function createSender({ clock, privateNetworks }: SenderOptions): Sender {
  return {
    async send(endpoint, { body: event, ...shown }) {
      // Imported here, since most commands and many servers send nothing.
      const [{ exchangeOnThread }, { post }] = await Promise.all([
        import('../../../lib/outgoing/outgoing-thread.ts'),
        import('./post.ts'),
      ])
      const body = payloadOf(endpoint.format, event, shown)
      const message = { id: event.id, sentAtSeconds: Math.floor(clock.now() / 1_000), body }
      const headers = {
        'content-type': 'application/json',
        'user-agent': 'Tally-Webhooks',
        ...signedHeaders(message, secretsOf(endpoint, clock.now())),
      }
      return { ...(await post({ url: endpoint.url, headers, body, privateNetworks }, exchangeOnThread)), body }
    },
  }
}

/** The current secret, and the previous one during a rotation. */
function secretsOf({ secret, previousSecret, previousUntil }: EndpointRow, now: number): Uint8Array[] {
  return previousSecret && previousUntil !== null && previousUntil > now ? [secret, previousSecret] : [secret]
}
