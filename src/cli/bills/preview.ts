import type { Command } from 'commander'
import type { BillDocument } from '../../features/bills/schema.ts'
import { examples } from '../flags/options.ts'
import { printJson } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { exact } from './bill.ts'
import { addBillFlags, type BillFlags, readBillFlags, refusedInFlags } from './request.ts'
import { printPreview } from './text.ts'

export function addBillsPreviewCommand(bills: Command): void {
  addBillFlags(
    bills
      .command('preview')
      .description('Show the bill that would be sent now, and what it leaves out, without writing anything'),
  )
    .option('--json', 'print JSON, as returned by POST /api/v1/bills/preview')
    .addHelpText(
      'after',
      examples(
        'tally bills preview --month 2026-11',
        'tally bills preview --from 2026-11-01 --to 2026-11-15 --project ACME --group-by ticket,model',
      ),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & BillFlags>()
      const body = await refusedInFlags(readBillFlags(flags))
      const preview = await refusedInFlags(withServices(flags, (all) => all.bills.preview(body)))
      if (flags.json) return printJson(preview)
      printPreview(exact<BillDocument>(preview.document))
    })
}
