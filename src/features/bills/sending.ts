/** Sends bills. */
import type { Database } from '../../database/database.ts'
import { type Issue, validationFailed } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { BillDraft, Compose } from './composition.ts'
import type { BillDraftsService } from './drafts/service.ts'
import { previewChanged } from './refusals.ts'
import { issuesOfRecipients } from './request.ts'
import type { BillSending } from './schema.ts'
import { findBill } from './store/bills.ts'
import { type BillSubmission, findReplayed, type Sent } from './submission.ts'
import type { InTurn } from './turns.ts'
import { createWriting, type WritingDependencies } from './writing.ts'

/** If an entry changes between composing and writing a bill, sending starts over, up to this number of attempts. */
const ATTEMPTS = 5

interface Dependencies extends WritingDependencies {
  db: Database
  clock: Clock
  compose: Compose
  drafts: Pick<BillDraftsService, 'requireDraft' | 'takeDraft'>
  inTurn: InTurn
}

export function createSending(dependencies: Dependencies) {
  const { db, clock, compose, drafts, inTurn } = dependencies
  const write = createWriting(dependencies)

  /** The bill of an earlier call with this Idempotency-Key. */
  async function findSent(key: BillSubmission['key']): Promise<Sent | undefined> {
    const billId = await findReplayed(db.read, key)
    return billId === undefined ? undefined : { bill: (await findBill(db.read, { id: billId }))!, replayed: true }
  }

  async function sendNow(
    { digest, deliver_to, message, draft: formDraft, ...body }: BillSending,
    { by, key }: BillSubmission,
  ): Promise<Sent> {
    const issues: Issue[] = issuesOfRecipients(deliver_to)
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const replayed = await findSent(key)
      if (replayed) return replayed
      if (issues.length > 0) throw validationFailed(issues)
      let draft: BillDraft
      try {
        if (formDraft !== undefined) await drafts.requireDraft(db.read, formDraft)
        draft = await compose(body, { now: clock.now(), isEmptyFine: false })
      } catch (error) {
        // Another process may have sent it meanwhile, and nothing is left to bill.
        const sent = await findSent(key)
        if (sent) return sent
        throw error
      }
      if (digest !== undefined && digest !== draft.digest) throw previewChanged()
      const recipients = deliver_to ?? (draft.clientEmail === null ? [] : [draft.clientEmail])
      const billId = await write(draft, { by, key, recipients, message, formDraft })
      if (billId !== undefined) return { bill: (await findBill(db.read, { id: billId }))!, replayed: false }
    }
    throw previewChanged()
  }

  /**
   * Sends a bill: assigns a number and freezes its entries. With `key`, the same body is sent only once, and later
   * calls return its bill. Throws the problems of {@link createComposition}, `preview_changed`,
   * `draft_gone` and `idempotency_key_reused`.
   */
  return (sending: BillSending, submission: BillSubmission): Promise<Sent> => inTurn(() => sendNow(sending, submission))
}
