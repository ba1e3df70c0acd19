/** Not for API tokens: an export contains more than any scope lets a token read. */
import { Type } from '@sinclair/typebox'
import type { Actor } from '../../../access/actor.ts'
import { refusal } from '../../../errors.ts'
import { EVERY_ROLE, requireCaller } from '../../../http/access.ts'
import { streamedResponse } from '../../../http/exports.ts'
import { type AnyAction, endpoint, operation, result } from '../../../operations/operation.ts'
import { choiceParameter } from '../../../operations/parameters.ts'
import { foldEmail } from '../../../schema/fields.ts'
import { type QueryTexts, queryReader } from '../../../schema/query.ts'
import type { PeopleService } from '../../people/service.ts'
import {
  ErasureBody,
  ErasureRequest,
  EXAMPLE_ERASURE,
  EXAMPLE_PERSONAL_DATA,
  EXAMPLE_PLANNED_ERASURE,
  erasureBody,
  PersonalData,
  PlannedErasureBody,
  plannedErasureBody,
} from '../schema.ts'
import { PERSONAL_DATA_FORMATS, type PersonalDataFormat, type PersonalDataService } from '../service.ts'

interface Needs {
  personalData: PersonalDataService
  people: Pick<PeopleService, 'getUser'>
}

const ofAdmins = { tag: 'People', allow: { session: ['admin'] }, scope: 'people-only' } as const

const one = { params: { id: 'Id (usr_…) or e-mail address of the person.' } } as const

const EXPORTING = {
  tag: 'People',
  method: 'GET',
  scope: 'people-only',
  description:
    'The account, tokens without secrets, responsibilities, grants, deputies, preferences, share links, placement rules, token sheets, bills without amounts, sessions, entries with their history, and audit log entries. Recorded in the audit log.',
  query: {
    format: choiceParameter(
      PERSONAL_DATA_FORMATS,
      '`json` (default), or `csv` for a ZIP archive with a CSV file for each kind of object.',
    ),
  },
  answer: result('Everything that names the person or that they wrote.', PersonalData, EXAMPLE_PERSONAL_DATA, {
    also: { 'application/zip': { schema: Type.String({ format: 'binary' }) } },
  }),
  problems: ['too_many_exports', 'database_deadline'],
} as const satisfies Partial<AnyAction>

const readFormat = queryReader((query): PersonalDataFormat => {
  const format = query.oneOf('format', PERSONAL_DATA_FORMATS)
  return format ?? 'json'
})

async function exportOf({ personalData }: Needs, who: string, texts: QueryTexts, by: Actor): Promise<Response> {
  const format = readFormat(texts)
  const [type, extension] = format === 'json' ? ['application/json', 'json'] : ['application/zip', 'zip']
  return streamedResponse(await personalData.exportPerson(who, format, by), {
    'content-type': type,
    'content-disposition': `attachment; filename="personal-data.${extension}"`,
    'cache-control': 'no-store',
  })
}

const exportMyData = endpoint({
  ...EXPORTING,
  id: 'exportMyData',
  path: '/me/export',
  summary: 'Export your own data',
  allow: { session: EVERY_ROLE },
  run: (needs: Needs, { query, party, served }) =>
    exportOf(needs, requireCaller(served.caller).person.uid, query, party.by),
})

const exportPersonalData = endpoint({
  ...EXPORTING,
  ...one,
  id: 'exportPersonalData',
  path: '/users/:id/export',
  summary: 'Export a person’s data',
  allow: { session: ['admin'] },
  run: (needs: Needs, { params, query, party }) => exportOf(needs, params.id, query, party.by),
})

/** Nobody erases the wrong person by a slip in an id. */
async function requireConfirmed({ people }: Needs, who: string, confirm: string | undefined): Promise<void> {
  const { email } = await people.getUser(who)
  if (confirm !== undefined && foldEmail(confirm) === email) return
  const message =
    confirm === undefined ? 'is required: the e-mail address of the person' : 'is not the e-mail address of the person'
  throw refusal('/confirm', confirm === undefined ? 'required' : 'not_allowed', message)
}

const eraseUser = endpoint({
  ...ofAdmins,
  ...one,
  id: 'eraseUser',
  method: 'POST',
  path: '/users/:id/erase',
  summary: 'Erase a person',
  description:
    'Cannot be undone. The account becomes a pseudonym at once: nobody can sign in to it, its tokens stop working (organization tokens keep working), and its additional addresses, deputies, preferences, leads, approvers and share links go. Then the server replaces the names and addresses of the person in all texts, in any spelling, except for sent bills and what `kept` lists in a dry run. Entries, costs and amounts stay what they are. Somebody who was erased before can be erased again with `also`, if another spelling is found later.',
  object: 'usr',
  body: ErasureRequest,
  example: { confirm: 'ada@example.com' },
  answer: [
    { status: 200, description: 'What would be erased.', schema: PlannedErasureBody, example: EXAMPLE_PLANNED_ERASURE },
    { status: 202, description: 'The erasure, which has begun.', schema: ErasureBody, example: EXAMPLE_ERASURE },
  ],
  problems: ['last_admin', 'person_erased', 'database_deadline'],
  run: async (needs: Needs, { params, body: { dry_run: dryRun, confirm, also = [] }, party, served }) => {
    const { erasure } = needs.personalData
    if (dryRun) return plannedErasureBody(await erasure.planErasure(params.id, also))
    await requireConfirmed(needs, params.id, confirm)
    served.set.status = 202
    return erasureBody(await erasure.erase(params.id, also, party.by))
  },
})

const getErasure = operation({
  ...ofAdmins,
  ...one,
  id: 'getErasure',
  method: 'GET',
  path: '/users/:id/erasure',
  summary: 'Get the erasure of a person',
  answer: result('The erasure.', ErasureBody, EXAMPLE_ERASURE),
  run: async ({ personalData }: Needs, { params }) => erasureBody(await personalData.erasure.getErasure(params.id)),
})

export const personalDataOperations = [exportMyData, exportPersonalData, eraseUser, getErasure] as const
