/** The status of telemetry and the assignment of its sessions. */
import { operation, result } from '../../../operations/operation.ts'
import { EXAMPLE_ASSIGNED, EXAMPLE_STATUS } from '../examples.ts'
import { TelemetryAssigned, TelemetryAssignment, TelemetryStatus } from '../schema.ts'
import type { TelemetryService } from '../service.ts'
import { statusBody } from '../wire.ts'

interface Needs {
  telemetry: Pick<TelemetryService, 'status' | 'assign'>
}

/** How long sessions are assigned within one call: half of what a connection may be silent. */
const ASSIGNING_BUDGET_MS = 10_000

export const getTelemetryStatus = operation({
  id: 'getTelemetryStatus',
  tag: 'Telemetry',
  method: 'GET',
  path: '/telemetry/status',
  summary: 'Get the telemetry status',
  description:
    'Shows which agents push telemetry, through which channels, what is counted, and what is not counted and why. Use it to find out why data is missing. Requests rejected with 401 or 403 are not included; see the logs of the sender. Only names of events and metrics are stored, never prompts or other content.',
  allow: { session: ['billing', 'admin'] },
  scope: 'telemetry:read',
  answer: result('The telemetry status.', TelemetryStatus, EXAMPLE_STATUS),
  run: async ({ telemetry }: Needs, { party: { person } }) =>
    statusBody(await telemetry.status(), { isAdmin: person === null || person.role === 'admin' }),
})

const assignTelemetry = operation({
  id: 'assignTelemetry',
  tag: 'Telemetry',
  method: 'POST',
  path: '/telemetry/assign',
  summary: 'Assign sessions to a person',
  description:
    'Assigns to a person the sessions that agents pushed with an organization token under an e-mail address that was not assigned at that time, with their entries that are neither approved nor billed. Addresses are stored only while the setting `telemetry_by_email` is on. Later sessions are matched by the person’s additional e-mail addresses. A call ends after about ten seconds. If `complete` is false, call again.',
  allow: { session: ['admin'] },
  scope: 'people:write',
  body: TelemetryAssignment,
  example: { email: 'ada@users.example.com', user: 'ada@example.com', dry_run: true },
  answer: result('Sessions and entries that were assigned, or would be.', TelemetryAssigned, EXAMPLE_ASSIGNED),
  problems: ['not_found', 'person_erased'],
  run: ({ telemetry }: Needs, { party, body: { email, user, dry_run: dryRun = false } }) =>
    telemetry.assign({ email, user, dryRun, by: party.by, budgetMs: ASSIGNING_BUDGET_MS }),
})

export const telemetryOperations = [getTelemetryStatus, assignTelemetry] as const
