/** Telemetry push: what agents send becomes entries, each session counted once. */
import type { Database } from '../../database/database.ts'
import type { Clock } from '../../lib/clock.ts'
import type { CallerOf } from '../people/service.ts'
import type { ReadResult } from './channels/index.ts'

export type TelemetryService = ReturnType<typeof createTelemetryService>

export interface TelemetryDependencies {
  db: Database
  clock: Clock
}

/** What the sender is told: how many records could not be used, and why the first of them could not. */
export interface Received {
  rejected: number
  message: string | null
}

export function createTelemetryService(_dependencies: TelemetryDependencies) {
  return {
    /** Records what one request brings in one transaction, durably before it answers. */
    async receive(_caller: CallerOf<'service' | 'organization'>, read: ReadResult): Promise<Received> {
      return { rejected: read.rejected, message: read.rejectedBecause }
    },
  }
}
