import type { Command } from 'commander'
import type { PlanLoad } from '../../features/plans/schema.ts'
import { parseRawJson } from '../../lib/exact-json.ts'
import { CommandError } from '../failures.ts'
import { checked } from '../flags/body.ts'
import { asksFirst } from '../flags/confirmation.ts'
import { examples } from '../flags/options.ts'
import { confirm } from '../terminal/confirm.ts'
import { counted } from '../terminal/numbers.ts'
import { print, printJson, printTable } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { previewText, printPreview } from './preview.ts'

export function addPlansLoadCommand(plans: Command): void {
  asksFirst(plans.command('load'))
    .description('Add the plans of a file, and replace those with the same name; others stay as they are')
    .argument('<file>', 'JSON file, as `tally plans export` prints it; - for standard input')
    .option('--dry-run', 'show what would be added and changed, without doing it')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally plans load plans.json --dry-run'))
    .action(async (file: string, _flags, command: Command) => {
      const {
        dryRun = false,
        yes,
        ...flags
      } = command.optsWithGlobals<CommandFlags & { dryRun?: boolean; yes?: boolean }>()
      const text = await (file === '-' ? Bun.stdin : Bun.file(file)).text().catch((error: Error) => {
        throw new CommandError(`${file === '-' ? 'Standard input' : file} cannot be read: ${error.message}.`)
      })
      const { PlanFile } = await import('../../features/plans/schema.ts')
      const body = (await checked(PlanFile, jsonOf(text, file))) as PlanLoad
      const loaded = await withServices(flags, async ({ plans }, { by }) => {
        if (!dryRun && !yes) {
          const { added, changed, funding } = await plans.loadPlans(body, { by, dryRun: true })
          await confirm(`${previewText(funding!)} Add ${counted(added, 'plan')} and replace ${changed}?`, {})
        }
        return plans.loadPlans(body, { by, dryRun })
      })
      if (flags.json) return printJson(loaded)
      printTable(
        [
          { title: 'NAME', of: ({ name }) => name },
          { title: 'RESULT', of: ({ result }) => result },
        ],
        loaded.plans,
      )
      const { added, changed, unchanged, funding } = loaded
      print(`${dryRun ? 'Would add' : 'Added'} ${counted(added, 'plan')}, changed ${changed}, unchanged ${unchanged}.`)
      if (funding) printPreview(funding)
    })
}

function jsonOf(text: string, file: string): object {
  try {
    return parseRawJson(text) as object
  } catch (error) {
    throw new CommandError(`${file} is not valid JSON: ${(error as Error).message}.`)
  }
}
