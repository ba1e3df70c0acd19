import type { Command } from 'commander'
import { getTelemetryStatus } from '../../features/telemetry/operations/status.ts'
import { examples } from '../flags/options.ts'
import { addAction } from '../operations.ts'
import { addTelemetryAssignCommand } from './assign.ts'
import { printStatus } from './status.ts'

export function addTelemetryCommands(program: Command): void {
  const telemetry = program
    .command('telemetry')
    .description('Show the OpenTelemetry data that agents push, and assign sessions to people')
    .addHelpText(
      'after',
      examples(
        'tally telemetry status',
        'tally telemetry assign --email ada@users.example.com --to ada@example.com --dry-run',
      ),
    )
  addAction(telemetry, getTelemetryStatus, {
    name: 'status',
    description:
      'Show which agents push data, what is counted, and what is not and why; a running server updates it as telemetry arrives',
    summary: 'Show which agents push data, what is counted, and what is not and why',
    examples: ['tally telemetry status', "tally telemetry status --json | jq '.rejected'"],
    show: printStatus,
  })
  addTelemetryAssignCommand(telemetry)
}
