import type { Command } from 'commander'
import { examples } from '../flags/options.ts'
import { addPricesAliasCommands } from './alias.ts'
import { addPricesCheckCommand } from './check.ts'
import { addPricesExportCommand } from './export.ts'
import { addPricesListCommand } from './list.ts'
import { addPricesLoadCommand } from './load.ts'
import { addPricesLoadsCommand, addPricesUndoCommand } from './loads.ts'
import { addPricesRepriceCommand } from './reprice.ts'
import { addPricesResolveCommand } from './resolve.ts'
import { addPricesSetCommand } from './set.ts'
import { addPricesShowCommand } from './show.ts'
import { addPricesUpdateCommand } from './update.ts'
import { addPricesWithdrawCommand } from './withdraw.ts'

export function addPricesCommands(program: Command): void {
  const prices = program
    .command('prices')
    .description('Load, list, set and resolve model prices, in US dollars per million tokens')
    .addHelpText(
      'after',
      examples(
        'tally prices resolve claude-sonnet-4-5',
        'tally prices load https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json --dry-run',
        'tally prices set our-coder --input 0.5 --output 2',
      ),
    )
  addPricesLoadCommand(prices)
  addPricesUpdateCommand(prices)
  addPricesCheckCommand(prices)
  addPricesLoadsCommand(prices)
  addPricesUndoCommand(prices)
  addPricesListCommand(prices)
  addPricesShowCommand(prices)
  addPricesResolveCommand(prices)
  addPricesSetCommand(prices)
  addPricesWithdrawCommand(prices)
  addPricesAliasCommands(prices)
  addPricesRepriceCommand(prices)
  addPricesExportCommand(prices)
}
