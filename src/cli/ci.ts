/** `tally ci`: what jobs of GitHub Actions and GitLab CI/CD need. */
import { type Command, Option } from 'commander'
import type { JobTokenKind } from '../agents/ci-identity.ts'
import { readJob } from '../config.ts'
import { findServerOfJob } from './agents/server.ts'
import { CommandError, EXIT_USAGE } from './failures.ts'
import { examples, optionOf } from './flags/options.ts'
import { note, print } from './terminal/print.ts'

export function addCiCommands(program: Command): void {
  const ci = program
    .command('ci')
    .description('Get tokens for jobs of GitHub Actions and GitLab CI/CD')
    .addHelpText('after', examples('TALLY_TOKEN=$(tally ci token)'))
  ci.command('token')
    .description('Exchange the ID token of this job for a short-lived token, and print it')
    .addOption(
      new Option('--kind <kind>', 'svc to report entries, read to read receipts (default svc)').choices([
        'svc',
        'read',
      ] satisfies JobTokenKind[]),
    )
    .addOption(optionOf('url'))
    .addHelpText(
      'after',
      `
\`tally agents scan --report\`, \`tally entries report\` and \`tally receipt\` do this automatically. Use this command
for other programs. The job needs the permission id-token: write (GitHub) or TALLY_ID_TOKEN in its id_tokens
(GitLab), and a trust for its repository, which an admin adds with \`tally trusts add\`.
${examples('TALLY_TOKEN=$(tally ci token)', 'TALLY_READ_TOKEN=$(tally ci token --kind read)')}`,
    )
    .action(async (_flags, command: Command) => {
      const { kind = 'svc', url } = command.optsWithGlobals<{ kind?: JobTokenKind; url?: string }>()
      const server = await findServerOfJob({ url }, kind)
      if (!server) {
        throw new CommandError(
          'This job has no ID token to exchange. Set TALLY_URL, and the permission id-token: write (GitHub) or TALLY_ID_TOKEN in id_tokens (GitLab).',
          EXIT_USAGE,
        )
      }
      // The runner reads commands from both outputs, and only the token may be in the one that is captured.
      if (readJob({ url })?.requestUrl) note(`::add-mask::${server.token}`)
      print(server.token)
    })
}
