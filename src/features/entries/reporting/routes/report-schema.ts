import { Elysia, t } from 'elysia'
import { access } from '../../../../http/access.ts'
import { FixedContent } from '../../../../http/content.ts'
import { documented } from '../../../../http/documentation.ts'
import { standaloneSchema } from '../../../../http/json-schema.ts'
import { acceptingNulls } from '../../../../schema/absent-fields.ts'
import { TokenEntryReport } from '../../schema.ts'

/** The published schema of a report, the same that validates reports. */
export const reportSchemaRoute = () => {
  const schema = standaloneSchema(acceptingNulls(TokenEntryReport), 'urn:tally:v1:token-entry', 'Token entry')
  const content = new FixedContent(JSON.stringify(schema), 'application/schema+json')
  return new Elysia({ name: 'token-entry-schema' }).use(access()).get('', ({ request }) => content.respond(request), {
    allow: 'anyone',
    detail: documented({
      id: 'getTokenEntrySchema',
      tag: 'Token entries',
      summary: 'Get the token entry schema',
      description: 'Returns the JSON Schema (2020-12) of the report body, which describes every field.',
      responses: {
        200: {
          description: 'The schema.',
          headers: ['ETag'],
          also: { 'application/schema+json': { schema: t.Record(t.String(), t.Unknown()) } },
        },
        304: { description: 'The schema still matches If-None-Match.', headers: ['ETag'] },
      },
    }),
  })
}
