/** Entries on open sheets: added by hand or from a file, changed and removed. */
import type { Static, TSchema } from '@sinclair/typebox'
import type { Party } from '../../access/actor.ts'
import { EVERYTHING } from '../../access/visibility.ts'
import type { Database, Tx } from '../../database/database.ts'
import { rehearse } from '../../database/dry-run.ts'
import { type Issue, refusal, validationFailed } from '../../errors.ts'
import { removeNulls } from '../../schema/absent-fields.ts'
import { SchemaChecker } from '../../schema/checker.ts'
import { issuesOf } from '../../schema/issues.ts'
import { type AuditService, difference } from '../audit/service.ts'
import { type TokenEntry, TokenEntryDraft, TokenEntryDraftChange } from '../entries/schema.ts'
import type { EntriesService } from '../entries/service.ts'
import type { OrganizationService } from '../organization/service.ts'
import type { PricesService } from '../prices/service.ts'
import { pointerInFile, readRows } from './csv.ts'
import { issueOfStart } from './period.ts'
import { SHEET_LIMIT, sheetFull } from './refusals.ts'
import { issuesOfRequired, requireFields, requireKept } from './required-fields.ts'
import type { ImportedEntries } from './schema.ts'
import { objectOf, type SheetSteps } from './steps.ts'
import type { SheetView } from './store.ts'

/**
 * The rows of a file become entries in one transaction: about 300 ms during which reports wait, as for a batch of
 * reports.
 */
const IMPORT_LIMIT = 1_000

/** Maximum number of issues reported for one file. */
const ISSUES_SHOWN = 100

const draftChecker = new SchemaChecker(TokenEntryDraft)
const changeChecker = new SchemaChecker(TokenEntryDraftChange)

/**
 * Checks a body that did not come through a route, from the command line. Throws `validation_failed` with every issue.
 */
export function requireDraft(value: unknown): TokenEntryDraft {
  removeNulls(TokenEntryDraft, value)
  return required(draftChecker, value)
}

/** As {@link requireDraft}, for a change of a draft. */
export function requireDraftChange(value: unknown): TokenEntryDraftChange {
  return required(changeChecker, value)
}

function required<Schema extends TSchema>(checker: SchemaChecker<Schema>, value: unknown): Static<Schema> {
  const issues = issuesOf(checker, value)
  if (issues.length > 0) throw validationFailed(issues)
  return value as Static<Schema>
}

interface DryRun {
  /** Whether nothing is written. */
  dryRun?: boolean | undefined
}

interface Dependencies {
  db: Database
  audit: Pick<AuditService, 'record'>
  organization: Pick<OrganizationService, 'settings'>
  prices: Pick<PricesService, 'table'>
  entries: Pick<EntriesService, 'sheetEntries' | 'reporting'>
  steps: Pick<SheetSteps, 'begin'>
}

export function createDrafts({ db, audit, organization, prices, entries, steps }: Dependencies) {
  const { begin } = steps

  /** Reads changed prices once, outside of the transaction: data read inside one is cached only after it. */
  const refreshPrices = () => prices.table(db.read)

  const requiredFields = async (tx: Tx) => (await organization.settings(tx)).sheetRequiredFields

  /** Writes, or does the same and rolls it back. */
  const writeOr = <Outcome>(isDryRun: boolean, body: (tx: Tx) => Promise<Outcome>): Promise<Outcome> =>
    isDryRun ? rehearse(db, body) : db.write(body)

  async function requireRoom(tx: Tx, sheetId: number, more: number): Promise<void> {
    const [sum] = await entries.sheetEntries.sumSheets(tx, [sheetId], EVERYTHING)
    if ((sum?.entries ?? 0) + more > SHEET_LIMIT) throw sheetFull()
  }

  async function recordAdded(tx: Tx, view: SheetView, added: TokenEntry[], { by }: Party): Promise<void> {
    await audit.record(tx, by, {
      action: 'sheet.entries_added',
      object: objectOf(view),
      after: { entries: added.length, ...(added.length === 1 ? { entry: added[0]!.id, ...contentOf(added[0]!) } : {}) },
    })
  }

  /** Every issue of a row's body. */
  function issuesOfRow(draft: unknown, { sheet }: SheetView): Issue[] {
    const issues = [...issuesOf(draftChecker, draft), ...entries.reporting.issuesBeyondSchema(draft)]
    if (issues.length > 0) return issues
    const outside = issueOfStart(entries.sheetEntries.readDraft(draft as TokenEntryDraft).startedAt, sheet)
    return outside ? [outside] : []
  }

  return {
    /**
     * Adds a draft. `draft` has passed the schema; throws `validation_failed` with the issues that the schema cannot
     * express, and if a field that the organization requires is missing. A dry run returns the draft, with its list value
     * and whether its cost is far from it, and adds nothing.
     */
    async addEntry(
      id: string,
      draft: TokenEntryDraft,
      party: Party,
      { dryRun = false }: DryRun = {},
    ): Promise<TokenEntry> {
      const report = entries.sheetEntries.readDraft(draft)
      await refreshPrices()
      return writeOr(dryRun, async (tx) => {
        const { view, on } = await begin(tx, id, 'edit', party)
        const outside = issueOfStart(report.startedAt, view.sheet)
        if (outside) throw validationFailed([outside])
        await requireRoom(tx, on.id, 1)
        const added = await entries.sheetEntries.addDraft(tx, on, report)
        requireFields(added, await requiredFields(tx))
        await recordAdded(tx, view, [added], party)
        return added
      })
    },

    /**
     * Adds all rows of a filled template, or none: `validation_failed` then names each issue with its line, as
     * `/lines/7/started_at`. A dry run returns what would be added.
     */
    async importEntries(
      id: string,
      file: string,
      party: Party,
      { dryRun = false }: DryRun = {},
    ): Promise<ImportedEntries> {
      const rows = readRows(file, (await organization.settings()).timeZone)
      if (rows.length > IMPORT_LIMIT) {
        const message = `has ${rows.length.toLocaleString('en')} entries, but the limit per import is ${IMPORT_LIMIT.toLocaleString('en')}. Split the file`
        throw refusal('/lines', 'too_large', message)
      }
      await refreshPrices()
      return writeOr(dryRun, async (tx) => {
        const { view, on } = await begin(tx, id, 'edit', party)
        const issues = rows.flatMap(({ line, body: draft, issues: ofCells }) =>
          issuesOfRow(draft, view)
            .map((one) => ({ ...one, pointer: pointerInFile(line, one.pointer) }))
            .reduce(onePerPlace, ofCells),
        )
        if (issues.length > 0) throw validationFailed(issues.slice(0, ISSUES_SHOWN))
        await requireRoom(tx, on.id, rows.length)
        const required = await requiredFields(tx)
        const added: TokenEntry[] = []
        const missing: Issue[] = []
        for (const { line, body: draft } of rows) {
          const report = entries.sheetEntries.readDraft(draft as TokenEntryDraft)
          const entry = await entries.sheetEntries.addDraft(tx, on, report)
          added.push(entry)
          missing.push(
            ...issuesOfRequired(entry, required).map((one) => ({ ...one, pointer: pointerInFile(line, one.pointer) })),
          )
        }
        if (missing.length > 0) throw validationFailed(missing.slice(0, ISSUES_SHOWN))
        await recordAdded(tx, view, added, party)
        return { added: added.length, data: added }
      })
    },

    /** Changes a draft: absent is unchanged, null removes the value, unless the organization requires it. */
    async changeEntry(
      id: string,
      entryId: string,
      change: TokenEntryDraftChange,
      party: Party,
      { dryRun = false }: DryRun = {},
    ): Promise<TokenEntry> {
      await refreshPrices()
      return writeOr(dryRun, async (tx) => {
        const { view, on } = await begin(tx, id, 'edit', party)
        const changed = await entries.sheetEntries.readDraftChange(tx, on, entryId, change)
        const outside = issueOfStart(changed.report.startedAt, view.sheet)
        if (outside) throw validationFailed([outside])
        const { before, after } = await entries.sheetEntries.changeDraft(tx, on, changed, change)
        requireKept(after, change, await requiredFields(tx))
        const differing = difference(contentOf(before), contentOf(after))
        if (differing) {
          await audit.record(tx, party.by, {
            action: 'sheet.entry_changed',
            object: objectOf(view),
            before: { entry: entryId, ...differing.before },
            after: { entry: entryId, ...differing.after },
          })
        }
        return after
      })
    },

    /** Removes a draft permanently; the audit log records its content. */
    removeEntry: (id: string, entryId: string, party: Party): Promise<void> =>
      db.write(async (tx) => {
        const { view, on } = await begin(tx, id, 'edit', party)
        const removed = await entries.sheetEntries.removeDraft(tx, on, entryId, party.by)
        await audit.record(tx, party.by, {
          action: 'sheet.entry_removed',
          object: objectOf(view),
          before: { entry: entryId, ...contentOf(removed) },
        })
      }),
  }
}

/** Skips an issue if its place has one already: a cell that is not a number is not also missing. */
function onePerPlace(issues: Issue[], one: Issue): Issue[] {
  return issues.some(({ pointer }) => pointer === one.pointer) ? issues : [...issues, one]
}

/** The content of a draft, for the audit log. */
function contentOf(entry: TokenEntry) {
  const { agent_harness, agent_name, model, provider, started_at, ended_at, tokens, requests, cost } = entry
  const { project, ticket, summary, labels } = entry
  return {
    agent_harness,
    agent_name,
    model,
    provider,
    started_at,
    ended_at,
    tokens,
    requests,
    cost,
    project: project?.key ?? null,
    ticket: ticket?.key ?? null,
    summary,
    labels,
  }
}
