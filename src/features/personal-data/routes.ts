import { Elysia, t } from 'elysia'
import { access, actorOf, requireCaller } from '../../http/access.ts'
import { documented } from '../../http/documentation.ts'
import { streamedResponse } from '../../http/exports.ts'
import { parameter } from '../../http/query.ts'
import { Query, type QueryTexts } from '../../query.ts'
import { EXAMPLE_PERSONAL_DATA, PersonalData } from './schema.ts'
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

const CONTENT =
  'The account, tokens without secrets, responsibilities, deputies, share links, placement rules, token sheets, bills without amounts, sessions, entries with their history, and audit log entries. Recorded in the audit log.'

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
export const personalDataRoutes = ({ personalData }: Dependencies) =>
  new Elysia({ name: 'personal-data', normalize: false }).use(access()).get(
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
        path: { id: 'Id (usr_…) or e-mail address of the person.' },
        responses: RESPONSES,
        problems: ['too_many_exports', 'database_deadline'],
      }),
    },
  )

export const ownDataRoute = ({ personalData }: Dependencies) =>
  new Elysia({ name: 'own-data', normalize: false }).use(access()).get(
    '/export',
    async ({ query, caller, address }) => {
      const format = readFormat(query)
      const { person } = requireCaller(caller)
      return fileResponse(await personalData.exportPerson(person.uid, format, actorOf({ caller, address })), format)
    },
    {
      allow: ['session'],
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
