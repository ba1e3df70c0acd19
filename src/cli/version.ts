import type { Command } from 'commander'
import { COMMIT, VERSION } from '../embedded/version.ts'
import { examples } from './flags/options.ts'
import { print, printJson } from './terminal/print.ts'

export function addVersionCommand(program: Command): void {
  program
    .command('version')
    .description('Print the version, the commit and the platform')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally version', 'tally version --json'))
    .action(({ json }: { json?: boolean }) => {
      const platform = `${process.platform}-${process.arch}`
      if (json) printJson({ version: VERSION, commit: COMMIT, bun: Bun.version, platform })
      else print(`tally ${VERSION} (${COMMIT}, Bun ${Bun.version}, ${platform})`)
    })
}
