import type { Command } from 'commander'
import { examples } from '../flags/options.ts'
import { addReportsCacheCommand } from './cache.ts'
import { addReportsCompletenessCommand } from './completeness.ts'
import { addReportsOutliersCommand } from './outliers.ts'
import { addReportsPriceChangesCommand } from './price-changes.ts'
import { addReportsSurchargesCommand } from './surcharges.ts'
import { addReportsUnpricedCommand } from './unpriced.ts'
import { addReportsVarianceCommand } from './variance.ts'
import { addReportsWhatIfCommand } from './what-if.ts'

export function addReportsCommands(program: Command): void {
  const reports = program
    .command('reports')
    .description('Report what is incomplete in a period, and what is behind its cost: caching, prices, outliers')
    .addHelpText(
      'after',
      examples(
        'tally reports unpriced',
        'tally reports completeness --month 2026-11',
        'tally reports cache --by model --last 30d',
      ),
    )
  addReportsUnpricedCommand(reports)
  addReportsVarianceCommand(reports)
  addReportsCompletenessCommand(reports)
  addReportsCacheCommand(reports)
  addReportsWhatIfCommand(reports)
  addReportsPriceChangesCommand(reports)
  addReportsSurchargesCommand(reports)
  addReportsOutliersCommand(reports)
}
