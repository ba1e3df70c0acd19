import type { Command } from 'commander'
import { examples } from '../flags/options.ts'
import { addReportsCompletenessCommand } from './completeness.ts'
import { addReportsUnpricedCommand } from './unpriced.ts'
import { addReportsVarianceCommand } from './variance.ts'

export function addReportsCommands(program: Command): void {
  const reports = program
    .command('reports')
    .description('Report missing prices, cost differences and what is incomplete in a period')
    .addHelpText('after', examples('tally reports unpriced', 'tally reports completeness --month 2026-11'))
  addReportsUnpricedCommand(reports)
  addReportsVarianceCommand(reports)
  addReportsCompletenessCommand(reports)
}
