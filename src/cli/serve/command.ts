import type { Command } from 'commander'
import { exposedSecrets, type OptionName, readConfig } from '../../config.ts'
import { examples, optionOf } from '../flags/options.ts'

export function addServeCommand(program: Command): void {
  program
    .command('serve')
    .description('Run the server (web application and HTTP API) until SIGTERM or Ctrl-C')
    .addOption(optionOf('host'))
    .addOption(optionOf('port'))
    .addOption(optionOf('publicUrl'))
    .addOption(optionOf('trustedProxies'))
    .addOption(optionOf('rateLimit'))
    .addOption(optionOf('databaseReadUrl'))
    .addOption(optionOf('databaseReadUrlFile'))
    .addOption(optionOf('databaseReadWait'))
    .addOption(optionOf('drain'))
    .addOption(optionOf('smtpUrl'))
    .addOption(optionOf('smtpUrlFile'))
    .addOption(optionOf('smtpFrom'))
    .addOption(optionOf('backupEvery'))
    .addOption(optionOf('backupKeep'))
    .addOption(optionOf('backupKeepDaily'))
    .addOption(optionOf('backupKeepWeekly'))
    .addOption(optionOf('backupKeepMonthly'))
    .addOption(optionOf('backupDir'))
    .addOption(optionOf('backupS3'))
    .addOption(optionOf('backupRecipients'))
    .addOption(optionOf('backupVerifyEvery'))
    .addOption(optionOf('identity'))
    .addOption(optionOf('pricesFrom'))
    .addOption(optionOf('pricesEvery'))
    .addOption(optionOf('webhookPrivateNetworks'))
    .addOption(optionOf('logLevel'))
    .addHelpText(
      'after',
      examples(
        'tally serve',
        'tally serve --host 0.0.0.0 --port 8080 --data /var/lib/tally',
        'tally serve --public-url https://tally.example.com',
      ),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<Partial<Record<OptionName, string>>>()
      const config = readConfig(flags)
      const { serve } = await import('./server.ts')
      await serve(config, exposedSecrets(flags))
    })
}
