import { Elysia, t } from 'elysia'
import { validationFailed } from '../../errors.ts'
import { access, actorOf, EVERY_ROLE, requireCaller } from '../../http/access.ts'
import { documented } from '../../http/documentation.ts'
import { streamedResponse } from '../../http/exports.ts'
import { parameter } from '../../operations/parameters.ts'
import { foldEmail } from '../../schema/fields.ts'
import { Query, type QueryTexts } from '../../schema/query.ts'
import type { PeopleService } from '../people/service.ts'
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
} from './schema.ts'
import { PERSONAL_DATA_FORMATS, type PersonalDataFormat, type PersonalDataService } from './service.ts'

const ExportQuery = t.Object(
  {
    format: parameter({
      type: 'string',
      enum: [...PERSONAL_DATA_FORMATS],
      description: '`json` (default), or `csv` for a ZIP archive with a CSV file for each kind of object.',
    }),
  },
  { additionalProperties: false },
)

const RESPONSES = {
  200: {
    description: 'Everything that names the person or that they wrote.',
    schema: PersonalData,
    example: EXAMPLE_PERSONAL_DATA,
    also: { 'application/zip': { schema: t.String({ format: 'binary' }) } },
  },
}

const PATH = { id: 'Id (usr_…) or e-mail address of the person.' }

const CONTENT =
  'The account, tokens without secrets, responsibilities, grants, deputies, preferences, share links, placement rules, token sheets, bills without amounts, sessions, entries with their history, and audit log entries. Recorded in the audit log.'

function readFormat(texts: QueryTexts): PersonalDataFormat {
  const query = new Query(texts)
  const format = query.oneOf('format', PERSONAL_DATA_FORMATS)
  query.finish()
  return format ?? 'json'
}

function fileResponse(bytes: AsyncGenerator<Uint8Array>, format: PersonalDataFormat): Response {
  const [type, extension] = format === 'json' ? ['application/json', 'json'] : ['application/zip', 'zip']
  return streamedResponse(bytes, {
    'content-type': type,
    'content-disposition': `attachment; filename="personal-data.${extension}"`,
    'cache-control': 'no-store',
  })
}

interface Dependencies {
  personalData: PersonalDataService
}

/**
 * Below `/users` and `/me`. Not for API tokens: an export contains more than any scope lets a token read.
 */
export const personalDataRoutes = ({
  personalData,
  people,
}: Dependencies & { people: Pick<PeopleService, 'getUser'> }) => {
  /** Nobody erases the wrong person by a slip in an id. */
  async function requireConfirmed(who: string, confirm: string | undefined): Promise<void> {
    const { email } = await people.getUser(who)
    if (confirm !== undefined && foldEmail(confirm) === email) return
    const message =
      confirm === undefined
        ? 'is required: the e-mail address of the person'
        : 'is not the e-mail address of the person'
    throw validationFailed([{ pointer: '/confirm', code: confirm === undefined ? 'required' : 'not_allowed', message }])
  }

  return new Elysia({ name: 'personal-data', normalize: false })
    .use(access())
    .get(
      '/:id/export',
      async ({ params, query, caller, address }) => {
        const format = readFormat(query)
        return fileResponse(await personalData.exportPerson(params.id, format, actorOf({ caller, address })), format)
      },
      {
        allow: { session: ['admin'] },
        scope: 'people-only',
        query: ExportQuery,
        detail: documented({
          id: 'exportPersonalData',
          tag: 'People',
          summary: 'Export a person’s data',
          description: CONTENT,
          path: PATH,
          responses: RESPONSES,
          problems: ['too_many_exports', 'database_deadline'],
        }),
      },
    )
    .post(
      '/:id/erase',
      async ({ params, body, caller, address, set }) => {
        const { erasure } = personalData
        const also = body.also ?? []
        if (body.dry_run) return plannedErasureBody(await erasure.planErasure(params.id, also))
        await requireConfirmed(params.id, body.confirm)
        set.status = 202
        return erasureBody(await erasure.erase(params.id, also, actorOf({ caller, address })))
      },
      {
        allow: { session: ['admin'] },
        scope: 'people-only',
        object: 'usr',
        parse: 'report',
        body: ErasureRequest,
        detail: documented({
          id: 'eraseUser',
          tag: 'People',
          summary: 'Erase a person',
          description:
            'Cannot be undone. The account becomes a pseudonym at once: nobody can sign in to it, its tokens stop working (organization tokens keep working), and its additional addresses, deputies, preferences, leads, approvers and share links go. Then the server replaces the names and addresses of the person in all texts, in any spelling, except for sent bills and what `kept` lists in a dry run. Entries, costs and amounts stay what they are. Somebody who was erased before can be erased again with `also`, if another spelling is found later.',
          path: PATH,
          body: { example: { confirm: 'ada@example.com' } },
          responses: {
            200: { description: 'What would be erased.', schema: PlannedErasureBody, example: EXAMPLE_PLANNED_ERASURE },
            202: { description: 'The erasure, which has begun.', schema: ErasureBody, example: EXAMPLE_ERASURE },
          },
          problems: ['last_admin', 'person_erased', 'database_deadline'],
        }),
      },
    )
    .get('/:id/erasure', async ({ params }) => erasureBody(await personalData.erasure.getErasure(params.id)), {
      allow: { session: ['admin'] },
      scope: 'people-only',
      detail: documented({
        id: 'getErasure',
        tag: 'People',
        summary: 'Get the erasure of a person',
        path: PATH,
        responses: { 200: { description: 'The erasure.', schema: ErasureBody, example: EXAMPLE_ERASURE } },
      }),
    })
}

export const ownDataRoute = ({ personalData }: Dependencies) =>
  new Elysia({ name: 'own-data', normalize: false }).use(access()).get(
    '/export',
    async ({ query, caller, address }) => {
      const format = readFormat(query)
      const { person } = requireCaller(caller)
      return fileResponse(await personalData.exportPerson(person.uid, format, actorOf({ caller, address })), format)
    },
    {
      allow: { session: EVERY_ROLE },
      scope: 'people-only',
      query: ExportQuery,
      detail: documented({
        id: 'exportMyData',
        tag: 'People',
        summary: 'Export your own data',
        description: CONTENT,
        responses: RESPONSES,
        problems: ['too_many_exports', 'database_deadline'],
      }),
    },
  )
