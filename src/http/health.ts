/** For whoever watches the process: a service manager, a load balancer, a person with curl. No credentials. */
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { VERSION } from '../version.ts'
import { documented } from './documented.ts'

const Health = (status: string, description: string) =>
  Type.Object(
    { status: Type.Literal(status), version: Type.String({ description: 'Version of Tally.' }) },
    { additionalProperties: false, description },
  )

export const health = ({ checkReady }: { checkReady: () => Promise<void> }) =>
  new Elysia({ name: 'health' })
    .get('/health', () => ({ status: 'ok', version: VERSION }), {
      detail: documented({
        id: 'getHealth',
        tag: 'Service',
        summary: 'Check that the process runs',
        description: 'Answers without looking at anything else: where it does not, the process should be restarted.',
        responses: {
          200: {
            description: 'The process runs.',
            schema: Health('ok', 'The process runs.'),
            example: { status: 'ok', version: VERSION },
          },
        },
      }),
    })
    .get(
      '/ready',
      async () => {
        await checkReady()
        return { status: 'ready', version: VERSION }
      },
      {
        detail: documented({
          id: 'getReady',
          tag: 'Service',
          summary: 'Check that entries can be taken',
          description:
            'Ready is a server whose database can be written, which it tries at most once a second, and has the schema that this version knows.',
          responses: {
            200: {
              description: 'The server takes entries.',
              schema: Health('ready', 'The server takes entries.'),
              example: { status: 'ready', version: VERSION },
            },
          },
          problems: [
            'database_busy',
            'database_failed',
            'database_full',
            'database_unreachable',
            'database_upgraded',
            'overloaded',
          ],
        }),
      },
    )
