/** What telemetry brings and what becomes of it, and whose it is. */
import { Elysia } from 'elysia'
import { access, actorOf, requireCaller } from '../../../http/access.ts'
import { documented } from '../../../http/documented.ts'
import { EXAMPLE_ASSIGNED, EXAMPLE_STATUS } from '../examples.ts'
import { TelemetryAssigned, TelemetryAssignment, TelemetryStatus } from '../schema.ts'
import { statusBody, type TelemetryService } from '../service.ts'

const tag = 'Telemetry'

/** How long sessions are assigned within one call: half of what a connection may be silent. */
const ASSIGNING_BUDGET_MS = 10_000

export const telemetryStatusRoutes = ({ telemetry }: { telemetry: Pick<TelemetryService, 'status' | 'assign'> }) =>
  new Elysia({ name: 'telemetry-status', prefix: '/api/v1/telemetry', normalize: false })
    .use(access())
    .get(
      '/status',
      async ({ caller }) => {
        const isAdmin = requireCaller(caller).person.role === 'admin'
        return statusBody(await telemetry.status(), { isAdmin })
      },
      {
        allow: { session: ['billing', 'admin'] },
        detail: documented({
          id: 'getTelemetryStatus',
          tag,
          summary: 'Read what telemetry brings',
          description:
            'Which agents push, by which channels, what of it is counted, and what is not and why: to see why nothing arrives. A request that is refused (401, 403) is not here, but in the log of whoever sent it. What people wrote is never kept, only names of events and metrics.',
          responses: {
            200: { description: 'The state of telemetry.', schema: TelemetryStatus, example: EXAMPLE_STATUS },
          },
        }),
      },
    )
    .post(
      '/assign',
      ({ body, caller, address }) =>
        telemetry.assign({
          email: body.email,
          user: body.user,
          dryRun: body.dry_run ?? false,
          by: actorOf({ caller, address }),
          budgetMs: ASSIGNING_BUDGET_MS,
        }),
      {
        allow: { session: ['admin'] },
        parse: 'report',
        body: TelemetryAssignment,
        detail: documented({
          id: 'assignTelemetry',
          tag,
          summary: 'Assign sessions to a person',
          description:
            'Gives a person the sessions that agents pushed with an organization token under an e-mail that was nobody’s then, and their entries that are neither approved nor billed. Addresses are remembered only while the setting `telemetry_by_email` is on. What comes later finds the person by their further e-mails. A call ends after about ten seconds: where `complete` is false, call again.',
          body: { example: { email: 'ada@users.example.com', user: 'ada@example.com', dry_run: true } },
          responses: {
            200: { description: 'What moved, or would move.', schema: TelemetryAssigned, example: EXAMPLE_ASSIGNED },
          },
          problems: ['not_found'],
        }),
      },
    )
