/**
 * Owners of webhooks. A webhook has the rights of its owner as they are now: whoever sends an event asks before. While an
 * owner has none, the webhook is suspended: its events wait until the rights are back, or an admin takes it over.
 */
import { TALLY } from '../../access/actor.ts'
import type { Database, Reader } from '../../database/database.ts'
import type { WebhookSuspendedReason } from '../../database/schema/values.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AuditService } from '../audit/service.ts'
import type { PeopleService } from '../people/service.ts'
import type { createNotices } from './notices.ts'
import { type Rights, rightsOf, suspensionOf } from './rights.ts'
import { type EndpointRow, updateSuspension } from './store/endpoints.ts'

export interface Ownership {
  /** Also of an owner who has lost them. */
  rights: Rights
  /** Why the webhook must not be sent anything now; undefined if it may. */
  suspension: WebhookSuspendedReason | undefined
}

type OwnedRow = Pick<EndpointRow, 'ownerId' | 'ownerTokenId'>

interface Dependencies {
  db: Database
  clock: Clock
  audit: Pick<AuditService, 'record'>
  people: Pick<PeopleService, 'standing'>
  notices: Pick<ReturnType<typeof createNotices>, 'dueAt'>
}

export type Owners = ReturnType<typeof createOwners>

export function createOwners({ db, clock, audit, people, notices }: Dependencies) {
  async function ownershipOf({ ownerId, ownerTokenId }: OwnedRow, reader: Reader = db.read): Promise<Ownership> {
    if (ownerId === null) return { rights: rightsOf(null), suspension: undefined }
    const standing = await people.standing({ userId: ownerId, tokenId: ownerTokenId }, reader)
    return { rights: rightsOf(standing.principal), suspension: suspensionOf(standing) }
  }

  /** Notes whether the webhook is suspended. Of several servers, one does. */
  async function note(endpoint: EndpointRow, reason: WebhookSuspendedReason | null): Promise<void> {
    const suspension = {
      suspendedAt: reason === null ? null : clock.now(),
      suspendedReason: reason,
      noticeDueAt: reason === null ? null : notices.dueAt(),
    }
    await db.write(async (tx) => {
      if (!(await updateSuspension(tx, endpoint, suspension))) return
      await audit.record(tx, TALLY, {
        action: reason === null ? 'webhook.resumed' : 'webhook.suspended',
        object: { id: endpoint.uid, name: endpoint.name },
        ...(reason !== null && { after: { reason } }),
      })
    })
  }

  async function rightsIn(ownership: Promise<Ownership>, endpoint: EndpointRow): Promise<Rights | undefined> {
    const { rights, suspension = null } = await ownership
    if (suspension !== endpoint.suspendedReason) await note(endpoint, suspension)
    return suspension === null ? rights : undefined
  }

  return {
    ownershipOf,

    /** The rights with which an endpoint is sent events now; undefined, and it is suspended, if it must not be sent any. */
    rightsNow: (endpoint: EndpointRow): Promise<Rights | undefined> => rightsIn(ownershipOf(endpoint), endpoint),

    /** The same for several endpoints at the same time: each owner is looked up once. */
    rightsAtOnce(): (endpoint: EndpointRow) => Promise<Rights | undefined> {
      const known = new Map<string, Promise<Ownership>>()
      return (endpoint) => {
        const owner = `${endpoint.ownerId} ${endpoint.ownerTokenId}`
        const ownership = known.get(owner) ?? ownershipOf(endpoint)
        known.set(owner, ownership)
        return rightsIn(ownership, endpoint)
      }
    },
  }
}
