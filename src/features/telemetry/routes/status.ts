/** The status of telemetry and the assignment of its sessions. */
import { Elysia } from 'elysia'
import { access, actorOf, requireCaller } from '../../../http/access.ts'
import { documented } from '../../../http/documentation.ts'
import { EXAMPLE_ASSIGNED, EXAMPLE_STATUS } from '../examples.ts'
import { TelemetryAssigned, TelemetryAssignment, TelemetryStatus } from '../schema.ts'
import { statusBody, type TelemetryService } from '../service.ts'

const tag = 'Telemetry'

/** How long sessions are assigned within one call: half of what a connection may be silent. */
const ASSIGNING_BUDGET_MS = 10_000

export const telemetryStatusRoutes = ({ telemetry }: { telemetry: Pick<TelemetryService, 'status' | 'assign'> }) =>
  new Elysia({ name: 'telemetry-status', normalize: false })
    .use(access())
    .get(
      '/status',
      async ({ caller }) => {
        const isAdmin = requireCaller(caller).person.role === 'admin'
        return statusBody(await telemetry.status(), { isAdmin })
      },
      {
        allow: { session: ['billing', 'admin'] },
        scope: 'telemetry:read',
        detail: documented({
          id: 'getTelemetryStatus',
          tag,
          summary: 'Get the telemetry status',
          description:
            'Shows which agents push telemetry, through which channels, what is counted, and what is not counted and why. Use it to find out why data is missing. Requests rejected with 401 or 403 are not included; see the logs of the sender. Only names of events and metrics are stored, never prompts or other content.',
          responses: {
            200: { description: 'The telemetry status.', schema: TelemetryStatus, example: EXAMPLE_STATUS },
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
        scope: 'people:write',
        parse: 'report',
        body: TelemetryAssignment,
        detail: documented({
          id: 'assignTelemetry',
          tag,
          summary: 'Assign sessions to a person',
          description:
            'Assigns to a person the sessions that agents pushed with an organization token under an e-mail address that was not assigned at that time, with their entries that are neither approved nor billed. Addresses are stored only while the setting `telemetry_by_email` is on. Later sessions are matched by the person’s additional e-mail addresses. A call ends after about ten seconds. If `complete` is false, call again.',
          body: { example: { email: 'ada@users.example.com', user: 'ada@example.com', dry_run: true } },
          responses: {
            200: {
              description: 'Sessions and entries that were assigned, or would be.',
              schema: TelemetryAssigned,
              example: EXAMPLE_ASSIGNED,
            },
          },
          problems: ['not_found', 'person_erased'],
        }),
      },
    )
