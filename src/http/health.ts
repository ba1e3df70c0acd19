/** Health checks for service managers, load balancers and monitoring. No credentials. */
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { ReplicaState } from '../database/caller.ts'
import { VERSION } from '../embedded/version.ts'
import { Problem } from '../errors.ts'
import { access } from './access.ts'
import { documented } from './documentation.ts'

const HEALTH = { version: Type.String({ description: 'Tally version.' }) }

const Healthy = Type.Object(
  { status: Type.Literal('ok'), ...HEALTH },
  { additionalProperties: false, description: 'The process is running.' },
)

const Ready = Type.Object(
  {
    status: Type.Literal('ready'),
    ...HEALTH,
    read_replica: Type.Optional(
      Type.Unsafe<ReplicaState>({
        type: 'string',
        enum: ['used', 'lagging', 'unreachable', 'not_a_replica'],
        description:
          'Whether the read replica answers reports, lists and exports, if there is one; otherwise the primary does.',
      }),
    ),
  },
  { additionalProperties: false, description: 'The server accepts entries.' },
)

interface Dependencies {
  checkReady: () => Promise<{ replica: ReplicaState | undefined }>
  /** Whether the server is stopping. */
  isStopping: () => boolean
}

export const health = ({ checkReady, isStopping }: Dependencies) =>
  new Elysia({ name: 'health' })
    .use(access())
    .get('/health', () => ({ status: 'ok', version: VERSION }), {
      allow: 'anyone',
      detail: documented({
        id: 'getHealth',
        tag: 'Service',
        summary: 'Check liveness',
        description: 'Responds without checking anything else. If it does not respond, restart the process.',
        responses: {
          200: {
            description: 'The process is running.',
            schema: Healthy,
            example: { status: 'ok', version: VERSION },
          },
        },
      }),
    })
    .get(
      '/ready',
      async () => {
        if (isStopping())
          throw new Problem('shutting_down', 'The server is shutting down. Send requests to another one.')
        const { replica } = await checkReady()
        return { status: 'ready', version: VERSION, ...(replica && { read_replica: replica }) }
      },
      {
        allow: 'anyone',
        detail: documented({
          id: 'getReady',
          tag: 'Service',
          summary: 'Check readiness',
          description:
            'The server is ready when its database is writable (checked at most once a second) and has the schema of this version, and the server is not stopping.',
          responses: {
            200: {
              description: 'The server accepts entries.',
              schema: Ready,
              example: { status: 'ready', version: VERSION },
            },
          },
          problems: [
            'database_busy',
            'database_failed',
            'database_full',
            'database_moved',
            'database_unreachable',
            'database_upgraded',
            'overloaded',
            'shutting_down',
          ],
        }),
      },
    )
