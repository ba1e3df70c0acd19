import type { Command } from 'commander'
import { examples } from '../flags/options.ts'
import { addTelemetryAssignCommand } from './assign.ts'
import { addTelemetryStatusCommand } from './status.ts'

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
  addTelemetryStatusCommand(telemetry)
  addTelemetryAssignCommand(telemetry)
}
