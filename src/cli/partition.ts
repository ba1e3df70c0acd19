import type { Command } from 'commander'
import { readConfig } from '../config.ts'
import { CommandError } from './failures.ts'
import { asksFirst } from './flags/confirmation.ts'
import { examples } from './flags/options.ts'
import { confirm } from './terminal/confirm.ts'
import { print, printJson } from './terminal/print.ts'
import type { CommandFlags } from './with-services.ts'

interface PartitionFlags extends CommandFlags {
  yes?: boolean
}

export function addPartitionCommand(program: Command): void {
  asksFirst<PartitionFlags>(program.command('partition'))
    .description('Partition the entries in PostgreSQL by the month in which they are recorded')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
For databases of a hundred million entries and more, so that PostgreSQL vacuums and rebuilds the indexes of one month
at a time. What is recorded already becomes the first partition as it is. Servers may run meanwhile: they first go on
recording, and answer 503 while the table is exchanged and references to it are checked, half a second per million
entries; agents keep and repeat their reports. Later partitions are added by the servers. To undo it, use \`tally move\`.
${examples('tally partition --database-url postgres://tally@127.0.0.1/tally')}`,
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<PartitionFlags>()
      const { databaseUrl } = readConfig(flags)
      if (databaseUrl === undefined) {
        throw new CommandError('Only entries in PostgreSQL can be partitioned: set --database-url.')
      }
      await confirm('Partition the entries? Meanwhile, reports are refused with 503 for a time.', flags)
      const { partitionDatabase } = await import('../database/partition.ts')
      const partitioned = await partitionDatabase(databaseUrl, Date.now())
      if (flags.json) return printJson(partitioned ?? {})
      print(
        partitioned
          ? `The entries are partitioned: those recorded so far are in ${partitioned.earlier}, and new ones in ${partitioned.first}.`
          : 'The entries are partitioned already.',
      )
    })
}
