/**
 * Drafts of bills: what somebody has typed into the form of a new bill, for everyone who sends bills. A draft reserves
 * neither a number nor entries.
 */
import type { Actor } from '../../../access/actor.ts'
import type { Person } from '../../../access/caller.ts'
import type { Database, Reader, Tx } from '../../../database/database.ts'
import { notFound, Problem, refusal } from '../../../errors.ts'
import type { Clock } from '../../../lib/clock.ts'
import { timestamp } from '../../../lib/duration.ts'
import { isId } from '../../../lib/id.ts'
import { type Page, pageOf } from '../../../schema/lists.ts'
import { type ListPage, writeKeyPage } from '../../../schema/query.ts'
import type { AuditService } from '../../audit/service.ts'
import { draftGone } from '../refusals.ts'
import { type BillDraftBody, type BillDraftChange, type BillDraftForm, draftBody } from './schema.ts'
import { countDrafts, type DraftView, deleteDraft, findDraft, insertDraft, listDrafts, updateDraft } from './store.ts'

/** More bills than anyone leaves half finished. */
export const DRAFTS_LIMIT = 200

export type BillDraftsService = ReturnType<typeof createBillDraftsService>

/** Who asks, and as whom it is recorded. */
interface Asking {
  person: Pick<Person, 'id'>
  by: Actor
}

interface Dependencies {
  db: Database
  clock: Clock
  audit: Pick<AuditService, 'record'>
}

export function createBillDraftsService({ db, clock, audit }: Dependencies) {
  const findView = async (reader: Reader, uid: string): Promise<DraftView | undefined> =>
    isId('bdr', uid) ? findDraft(reader, uid) : undefined

  async function getView(reader: Reader, uid: string): Promise<DraftView> {
    const found = await findView(reader, uid)
    if (!found) throw notFound(`The draft '${uid}'`)
    return found
  }

  async function removeView(tx: Tx, by: Actor, { draft }: DraftView): Promise<void> {
    await deleteDraft(tx, draft.id)
    await audit.record(tx, by, {
      action: 'bill_draft.removed',
      object: { id: draft.uid, name: nameOf(draft.form as BillDraftForm) },
    })
  }

  return {
    /** A page of drafts, newest first. */
    async listDrafts({ after, limit }: Pick<ListPage, 'after' | 'limit'>): Promise<Page<BillDraftBody>> {
      const page = pageOf(await listDrafts(db.read, { after, limit: limit + 1 }), limit, ({ draft }) =>
        writeKeyPage(draft.id),
      )
      return { ...page, data: page.data.map(draftBody) }
    },

    countDrafts: (): Promise<number> => countDrafts(db.read),

    /** Throws `not_found`. */
    getDraft: async (uid: string): Promise<BillDraftBody> => draftBody(await getView(db.read, uid)),

    /** Throws `validation_failed` for more than {@link DRAFTS_LIMIT} drafts. */
    addDraft: (form: BillDraftForm, { person, by }: Asking): Promise<BillDraftBody> =>
      db.write(async (tx) => {
        if ((await countDrafts(tx)) >= DRAFTS_LIMIT) throw tooMany()
        const uid = await insertDraft(tx, { form, by: person.id, now: clock.now() })
        await audit.record(tx, by, { action: 'bill_draft.added', object: { id: uid, name: nameOf(form) } })
        return draftBody(await getView(tx, uid))
      }),

    /**
     * Replaces the form. A draft is saved while somebody types, so the audit log has only who goes on with a draft that
     * somebody else has changed last. Throws `not_found`, and `changed_meanwhile` for another revision.
     */
    changeDraft: (uid: string, { form, revision }: BillDraftChange, { person, by }: Asking): Promise<BillDraftBody> =>
      db.write(async (tx) => {
        const before = await getView(tx, uid)
        const { id, updatedBy } = before.draft
        const isChanged = await updateDraft(tx, { id, revision }, { form, by: person.id, now: clock.now() })
        if (!isChanged) throw changedMeanwhile(await getView(tx, uid))
        if (updatedBy !== person.id) {
          await audit.record(tx, by, {
            action: 'bill_draft.changed',
            object: { id: before.draft.uid, name: nameOf(form) },
          })
        }
        return draftBody(await getView(tx, uid))
      }),

    /** Throws `not_found`. */
    removeDraft: (uid: string, { by }: Pick<Asking, 'by'>): Promise<void> =>
      db.write(async (tx) => {
        await removeView(tx, by, await getView(tx, uid))
      }),

    /** Throws `draft_gone`, so that of several who send the same draft, only the first one does. */
    async requireDraft(reader: Reader, uid: string): Promise<void> {
      if (!(await findView(reader, uid))) throw draftGone(uid)
    },

    /** Removes a draft in the transaction that sends it. Throws `draft_gone`. */
    async takeDraft(tx: Tx, uid: string, by: Actor): Promise<void> {
      const found = await findView(tx, uid)
      if (!found) throw draftGone(uid)
      await removeView(tx, by, found)
    },
  }
}

/** Whom the bill is for, as far as that is chosen. */
function nameOf({ scope, client, project }: BillDraftForm): string {
  if (scope === 'everything') return 'Draft of everything'
  const label = (scope === 'client' ? client : project)?.label ?? ''
  return label === '' ? 'Draft' : `Draft for ${label.toWellFormed()}`
}

function changedMeanwhile({ draft, updatedBy }: DraftView): Problem {
  const at = timestamp(draft.updatedAt)
  return new Problem(
    'changed_meanwhile',
    `${updatedBy.name} changed this draft on ${at}, after you read it. Read it again, and repeat your change if it is still right.`,
    { changed: { at, by: { id: updatedBy.uid, name: updatedBy.name } } },
  )
}

function tooMany(): Problem {
  const message = `there are already ${DRAFTS_LIMIT} drafts of bills; send or delete some first`
  return refusal('', 'too_many', message)
}
