import { Elysia, t } from 'elysia'
import { access, approvalViewerOf, approverOf } from '../../../http/access.ts'
import { documented } from '../../../http/documentation.ts'
import { listPage, parameter } from '../../../operations/parameters.ts'
import { Query, type QueryTexts } from '../../../schema/query.ts'
import { readListQuery } from '../../entries/contract.ts'
import { TokenEntry, TokenEntryDraft, TokenEntryDraftChange, TokenEntryList } from '../../entries/schema.ts'
import type { EntriesService } from '../../entries/service.ts'
import { EXAMPLE_DRAFT, EXAMPLE_DRAFT_ENTRY } from '../examples.ts'
import { sheetPath } from '../parameters.ts'
import { ImportedEntries } from '../schema.ts'
import type { SheetsService } from '../service.ts'

const tag = 'Token sheets'
const path = sheetPath
const pathOfEntry = { ...sheetPath, entry: 'ID of the entry (ent_…).' }

const OWNER = 'Only for the owner of the sheet and admins.'

const DryRunQuery = t.Object(
  {
    dry_run: parameter({
      type: 'boolean',
      description: 'Returns what would be saved, with its list value and `cost_mismatch`, without saving it.',
    }),
  },
  { additionalProperties: false },
)

function isDryRun(texts: QueryTexts): boolean {
  const query = new Query(texts)
  const dryRun = query.flag('dry_run') ?? false
  query.finish()
  return dryRun
}

export const sheetEntriesRoutes = ({
  sheets,
  entries,
}: {
  sheets: SheetsService
  entries: Pick<EntriesService, 'listing'>
}) =>
  new Elysia({ name: 'sheet-entries', normalize: false })
    .use(access())
    .get(
      '/:id/entries',
      async ({ params, query, caller }) => {
        const viewer = approvalViewerOf(caller)
        const { limit, after } = readListQuery(query, 'UTC')
        const sheet = await sheets.getSheet(params.id, viewer)
        return entries.listing.listEntries(viewer, { filter: { sheet: [sheet.id] }, limit, after })
      },
      {
        allow: ['read', 'session'],
        scope: 'sheets:read',
        query: t.Object(
          { limit: listPage('Entries').limit, page: listPage('Entries').page },
          { additionalProperties: false },
        ),
        detail: documented({
          id: 'listTokenSheetEntries',
          tag,
          summary: 'List the entries of a sheet',
          description:
            'Newest first. Use `GET /token-entries?sheet=…` to combine this with other filters or export CSV.',
          path,
          responses: {
            200: {
              description: 'A page of entries.',
              schema: TokenEntryList,
              example: {
                data: [EXAMPLE_DRAFT_ENTRY],
                has_more: false,
                next_page: null,
                searched_to: null,
                deleted: null,
              },
            },
          },
        }),
      },
    )
    .post(
      '/:id/entries',
      async ({ params, query, body, caller, address, set }) => {
        const dryRun = isDryRun(query)
        const entry = await sheets.addEntry(params.id, body, approverOf({ caller, address }), { dryRun })
        if (dryRun) return entry
        set.status = 201
        set.headers.location = `/api/v1/token-entries/${entry.id}`
        return entry
      },
      {
        allow: ['session'],
        scope: 'sheets:write',
        object: 'sht',
        parse: 'report',
        query: DryRunQuery,
        body: TokenEntryDraft,
        detail: documented({
          id: 'addTokenSheetEntry',
          tag,
          summary: 'Add an entry to a sheet',
          description: `Takes the fields of a report, without a session. The entry is valued and placed like a report and must start within the sheet’s period. ${OWNER}`,
          path,
          body: { example: EXAMPLE_DRAFT },
          responses: {
            200: {
              description: 'With `dry_run`: the draft as it would be.',
              schema: TokenEntry,
              example: EXAMPLE_DRAFT_ENTRY,
            },
            201: {
              description: 'The draft.',
              schema: TokenEntry,
              headers: ['Location'],
              example: EXAMPLE_DRAFT_ENTRY,
            },
          },
          problems: ['wrong_status'],
        }),
      },
    )
    .post(
      '/:id/import',
      ({ params, query, body, caller, address }) =>
        sheets.importEntries(params.id, body as string, approverOf({ caller, address }), { dryRun: isDryRun(query) }),
      {
        allow: ['session'],
        scope: 'sheets:write',
        object: 'sht',
        parse: 'table',
        query: DryRunQuery,
        detail: documented({
          id: 'importTokenSheetEntries',
          tag,
          summary: 'Import entries from CSV',
          description: `A CSV file with up to 1,000 entries. Either all rows are added or none. In case of errors, each issue contains its line, such as \`/lines/7/started_at\`. ${OWNER}`,
          path,
          body: {
            also: {
              'text/csv': {
                schema: t.String(),
                example:
                  'agent_harness,agent_name,model,started_at,ended_at,input,output,project\r\nclaude-code,reviewer,claude-sonnet-4-5,2026-11-20T17:53:04Z,2026-11-20T18:20:41Z,522,228,acme-web\r\n',
              },
            },
          },
          responses: {
            200: {
              description: 'The added entries, or with `dry_run` those that would be added.',
              schema: ImportedEntries,
              example: { added: 1, data: [EXAMPLE_DRAFT_ENTRY] },
            },
          },
          problems: ['wrong_status'],
        }),
      },
    )
    .patch(
      '/:id/entries/:entry',
      ({ params, query, body, caller, address }) =>
        sheets.changeEntry(params.id, params.entry, body, approverOf({ caller, address }), { dryRun: isDryRun(query) }),
      {
        allow: ['session'],
        scope: 'sheets:write',
        object: 'sht',
        parse: 'report',
        query: DryRunQuery,
        body: TokenEntryDraftChange,
        detail: documented({
          id: 'changeTokenSheetEntry',
          tag,
          summary: 'Change a draft',
          description: `Fields that are absent stay unchanged; null clears a field. \`tokens\` and \`labels\` are replaced as a whole. ${OWNER}`,
          path: pathOfEntry,
          body: { example: { tokens: { input: 522, output: 300 }, ticket: 'ACME-43', summary: null } },
          responses: { 200: { description: 'The draft.', schema: TokenEntry, example: EXAMPLE_DRAFT_ENTRY } },
          problems: ['wrong_status'],
        }),
      },
    )
    .delete(
      '/:id/entries/:entry',
      async ({ params, caller, address, set }) => {
        await sheets.removeEntry(params.id, params.entry, approverOf({ caller, address }))
        set.status = 204
      },
      {
        allow: ['session'],
        scope: 'sheets:write',
        object: 'sht',
        detail: documented({
          id: 'removeTokenSheetEntry',
          tag,
          summary: 'Remove a draft',
          description: `This cannot be undone. ${OWNER}`,
          path: pathOfEntry,
          responses: { 204: { description: 'Removed.' } },
          problems: ['wrong_status'],
        }),
      },
    )
