import type { Command } from 'commander'
import type { PriceLoadBody } from '../../features/prices/service.ts'
import { columnsOption, wideOption } from '../flags/columns.ts'
import { asksFirst } from '../flags/confirmation.ts'
import { examples } from '../flags/options.ts'
import type { ColumnFlags } from '../terminal/columns.ts'
import { confirm } from '../terminal/confirm.ts'
import { print, printJson, printTable } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { priceService } from './text.ts'

/** A screenful; the API and the Prices page list the rest. */
const SHOWN = 50

export function addPricesLoadsCommand(prices: Command): void {
  prices
    .command('loads')
    .description('List the loads of price tables: who loaded which file when')
    .addOption(columnsOption())
    .addOption(wideOption())
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally prices loads', 'tally prices loads --json'))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & ColumnFlags>()
      const { loadBody } = await priceService()
      const { data } = await withServices(flags, ({ prices: service }) =>
        service.loads.list({ limit: SHOWN, after: undefined }),
      )
      const loads = data.map(loadBody)
      if (flags.json) return printJson({ data: loads })
      if (loads.length === 0) return print('No price table has been loaded yet. Load one with `tally prices load`.')
      printTable<PriceLoadBody>(
        [
          { title: 'LOADED AT', of: ({ loaded_at }) => loaded_at },
          { title: 'TABLE', of: ({ name, format }) => (format === 'default' ? `Tally ${name}` : (name ?? 'pasted')) },
          { title: 'FORMAT', rank: 2, of: ({ format }) => format },
          { title: 'AS OF', of: ({ as_of }) => as_of },
          { title: 'NEW', of: ({ counts }) => countText(counts.new), align: 'right' },
          { title: 'CHANGED', of: ({ counts }) => countText(counts.changed), align: 'right' },
          { title: 'OLDER', rank: 2, of: ({ counts }) => countText(counts.older), align: 'right' },
          { title: 'REFUSED', rank: 2, of: ({ counts }) => countText(counts.refused), align: 'right' },
          { title: 'BY', rank: 1, of: ({ loaded_by }) => loaded_by?.name ?? '–' },
          { title: 'UNDONE AT', rank: -1, of: ({ undone_at }) => undone_at ?? '' },
          { title: 'ID', of: ({ id }) => id },
        ],
        loads,
        flags,
      )
    })
}

function countText(count: number | undefined): string {
  return count === undefined ? '–' : count.toLocaleString('en')
}

interface UndoFlags extends CommandFlags {
  yes?: boolean
}

export function addPricesUndoCommand(prices: Command): void {
  asksFirst(prices.command('undo'))
    .description('Undo the load of a price table, until an entry has a list value from it')
    .argument('[load]', 'id of the load, pld_… (default: the last loaded file)')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally prices undo', 'tally prices undo pld_01a1fa172a0277f3983322718874f2ef --yes'))
    .action(async (id: string | undefined, _flags, command: Command) => {
      const flags = command.optsWithGlobals<UndoFlags>()
      const { loadBody } = await priceService()
      await withServices(flags, async ({ prices: service }, { by }) => {
        const { load } = id === undefined ? await service.loads.getLatest() : await service.loads.get(id)
        const name = load.name ?? load.format
        await confirm(
          `Undo the load of ${name}, as of ${loadBody({ load, loadedBy: null, undoneBy: null }).as_of}?`,
          flags,
        )
        const undone = loadBody(await service.loads.undo(load.uid, by))
        if (flags.json) return printJson(undone)
        print(`Undone: ${name}. The previous prices apply again.`)
      })
    })
}
