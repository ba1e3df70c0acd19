/**
 * Saved views: a person's questions under a name. A view has no figures: whoever opens it sees what they may see
 * themselves. Only its owner changes it; an admin can also remove a shared one.
 */
import type { Actor } from '../../../access/actor.ts'
import type { Person } from '../../../access/caller.ts'
import type { Database, Tx } from '../../../database/database.ts'
import { notFound, Problem, refusal, validationFailed } from '../../../errors.ts'
import type { Clock } from '../../../lib/clock.ts'
import { isId } from '../../../lib/id.ts'
import { issuesOfText } from '../../../schema/fields.ts'
import { type Page, pageOf } from '../../../schema/lists.ts'
import { type ListPage, writeKeyPage } from '../../../schema/query.ts'
import type { AuditService } from '../../audit/service.ts'
import {
  NAME_LIMIT,
  type NewReportView,
  type ReportViewBody,
  type ReportViewChange,
  type ViewParameters,
  viewBody,
} from './schema.ts'
import { countViews, deleteView, findView, insertView, listViews, type StoredView, updateView } from './store.ts'

/** More than anyone overlooks, and few enough that nobody fills the list of others. */
const VIEWS_LIMIT = 100

/** All filters together, as text: a view is a question, not a list of thousands of things. */
const PARAMETERS_LIMIT = 8_000

export type ReportViewsService = ReturnType<typeof createReportViewsService>

/** Who asks, and as whom it is recorded. */
interface Asking {
  person: Person
  by: Actor
}

interface Dependencies {
  db: Database
  clock: Clock
  audit: Pick<AuditService, 'record'>
}

export function createReportViewsService({ db, clock, audit }: Dependencies) {
  /** Throws `not_found` for what the person does not see. */
  async function getView(tx: Pick<Tx, 'select' | 'tables'>, person: Person, uid: string): Promise<StoredView> {
    const found = isId('rvw', uid) ? await findView(tx as Tx, person.id, uid) : undefined
    if (!found) throw notFound(`The view '${uid}'`)
    return found
  }

  /** What others see is in the audit log; what only the owner sees is nobody's business. */
  async function recordSharing(tx: Tx, by: Actor, view: StoredView, isShared: boolean): Promise<void> {
    const { uid, name, parameters } = view.record
    await audit.record(tx, by, {
      action: isShared ? 'report_view.shared' : 'report_view.unshared',
      object: { id: uid, name },
      ...(isShared && { after: { name, parameters } }),
    })
  }

  return {
    /** A page of the person's own views and those that are shared. */
    async listViews(person: Person, { after, limit }: ListPage): Promise<Page<ReportViewBody>> {
      const found = await listViews(db.read, person.id, { after, limit: limit + 1 })
      const page = pageOf(found, limit, ({ record }) => writeKeyPage(record.id))
      return { ...page, data: page.data.map((view) => viewBody(view, person.id)) }
    },

    /** Throws `validation_failed`, also for more than {@link VIEWS_LIMIT} views. */
    createView({ name, parameters, shared = false, pinned = false }: NewReportView, { person, by }: Asking) {
      requireValid({ name, parameters })
      return db.write(async (tx) => {
        if ((await countViews(tx, person.id)) >= VIEWS_LIMIT) throw tooMany()
        const added = await insertView(tx, {
          ...{ ownerId: person.id, name, parameters, shared, pinned },
          createdAt: clock.now(),
        })
        if (shared) await recordSharing(tx, by, added, true)
        return viewBody(added, person.id)
      })
    },

    /** Its owner only. Throws `not_found`, `forbidden` for a view of somebody else, and `validation_failed`. */
    changeView(uid: string, change: ReportViewChange, { person, by }: Asking): Promise<ReportViewBody> {
      requireValid(change)
      return db.write(async (tx) => {
        const view = await getView(tx, person, uid)
        if (view.record.ownerId !== person.id) throw notOwner(view)
        if (Object.keys(change).length > 0) await updateView(tx, view.record.id, change)
        const changed = await getView(tx, person, uid)
        const { shared } = changed.record
        if (shared !== view.record.shared || (shared && differs(changed, view))) {
          await recordSharing(tx, by, changed, shared)
        }
        return viewBody(changed, person.id)
      })
    },

    /** Its owner; admins too if it is shared. Throws `not_found`, and `forbidden`. */
    removeView: (uid: string, { person, by }: Asking): Promise<void> =>
      db.write(async (tx) => {
        const view = await getView(tx, person, uid)
        if (view.record.ownerId !== person.id && person.role !== 'admin') throw notOwner(view)
        await deleteView(tx, view.record.id)
        if (view.record.shared) await recordSharing(tx, by, view, false)
      }),
  }
}

/** Whether others see something else: the audit log does not grow with changes that are none. */
function differs({ record }: StoredView, { record: before }: StoredView): boolean {
  return record.name !== before.name || JSON.stringify(record.parameters) !== JSON.stringify(before.parameters)
}

function requireValid({ name, parameters }: { name?: string; parameters?: ViewParameters }): void {
  const issues = name === undefined ? [] : issuesOfText(name, '/name', NAME_LIMIT)
  if (name !== undefined && name !== '' && name.trim() === '') {
    issues.push({ pointer: '/name', code: 'too_short', message: 'must not consist of spaces only' })
  }
  if (parameters !== undefined && JSON.stringify(parameters).length > PARAMETERS_LIMIT) {
    const limit = PARAMETERS_LIMIT.toLocaleString('en')
    const message = `must have at most ${limit} characters in total; use fewer filters`
    issues.push({ pointer: '/parameters', code: 'too_long', message })
  }
  // PostgreSQL stores no U+0000, and half a surrogate pair is not valid text.
  if (
    parameters !== undefined &&
    !Object.values(parameters)
      .flat()
      .every((text) => text.isWellFormed() && !text.includes('\0'))
  ) {
    issues.push({ pointer: '/parameters', code: 'bad_format', message: 'must be well-formed text' })
  }
  if (issues.length > 0) throw validationFailed(issues)
}

function notOwner({ owner }: StoredView): Problem {
  return new Problem('forbidden', `Only ${owner.name} can change this view. Save a view of your own instead.`)
}

function tooMany(): Problem {
  const message = `you already have ${VIEWS_LIMIT} views; delete some first`
  return refusal('', 'too_many', message)
}
