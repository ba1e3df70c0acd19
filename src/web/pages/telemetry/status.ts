import type { api, Body } from '../../server/api.ts'

export type TelemetryStatus = Body<Awaited<ReturnType<typeof api.telemetry.status.get>>>
