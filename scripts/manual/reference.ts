/** The pages of the manual that are generated from the program: options, commands and error codes. */
import type { Command } from 'commander'
import { commandsByHeading, fullNameOf, withSubcommands } from '../../src/cli/command-tree.ts'
import { openApiDocument } from '../../src/cli/openapi.ts'
import { createProgram } from '../../src/cli/program.ts'
import { OPTIONS } from '../../src/config.ts'
import { PROBLEMS } from '../../src/errors.ts'
import { commandOutputPage } from './command-output.ts'

/** By path below `docs/`, without its extension. */
export async function referencePages(): Promise<Map<string, string>> {
  const program = await createProgram()
  return new Map([
    [`reference/${CONFIGURATION}`, configurationPage()],
    ['reference/commands', commandsPage(program)],
    [`reference/${COMMAND_OUTPUT}`, commandOutputPage(program, JSON.parse(await openApiDocument()))],
    ['reference/problems', problemsPage()],
  ])
}

const CONFIGURATION = 'configuration'
const COMMAND_OUTPUT = 'command-output'
const SERVICE = '../operations/service'

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;')

const code = (text: string) => (text === '' ? '' : `\`${text.replaceAll('|', '\\|')}\``)

function configurationPage(): string {
  const rows = Object.values(OPTIONS).map(
    ({ flag, variable, default: usual, doc }) =>
      `| ${code(flag)} | ${code(variable)} | ${code(usual)} | ${cell(doc)} |`,
  )
  return `# Configuration

A flag takes precedence over its variable, and the variable over the default. Tally does not read \`.env\` files by itself:
\`--env-file\` names one, for any command, whose variables count where the environment does not have them; see
[Run commands](${SERVICE}.md#run-commands). Secrets can come from a file, as systemd and containers provide
them: \`TALLY_SMTP_URL_FILE=/run/secrets/smtp-url\`. A trailing line break is ignored. Tally refuses tokens and URLs with a password
as flags.

| flag | variable | default | |
| --- | --- | --- | --- |
${rows.join('\n')}
`
}

function commandsPage(program: Command): string {
  return `# Commands

${program.description()} \`tally --help\` lists the commands, \`tally <command> --help\` shows the options
and examples of one, as below, and \`tally help <page>\` prints a page of this manual. The options of all commands, such as
\`--data\`, are on the page about [configuration](${CONFIGURATION}.md).

A command ends with 0 if it succeeded, with 1 if it was refused or failed, and with 2 if it was called wrongly. What can
be read by programs is printed with \`--json\`, in the [shapes](${COMMAND_OUTPUT}.md) of the next page.

${commandsByHeading(program)
  .map(([heading, commands]) => `## ${heading}\n\n${commands.map(commandSection).join('\n')}`)
  .join('\n')}`
}

/** The help that the terminal shows, without the options that every command has. */
function helpOf(command: Command): string {
  let text = ''
  command.configureHelp({ showGlobalOptions: false })
  command.configureOutput({
    getOutHelpWidth: () => 80,
    writeOut: (chunk) => {
      text += chunk
    },
  })
  command.outputHelp()
  return text.trimEnd()
}

function commandSection(command: Command): string {
  const parts = [...withSubcommands(command)].map(
    (each) => `${each === command ? '###' : '####'} \`${fullNameOf(each)}\`\n\n\`\`\`text\n${helpOf(each)}\n\`\`\`\n`,
  )
  return parts.join('\n')
}

function problemsPage(): string {
  const sections = Object.entries(PROBLEMS).map(
    ([name, { status, title, help, page }]) =>
      `## \`${name}\`\n\n**${title}** · HTTP ${status}\n\n${cell(help)} [More about this](../${page}.md)\n`,
  )
  return `# Error codes

A failed request returns a problem document ([RFC 9457](https://www.rfc-editor.org/rfc/rfc9457)). Its \`code\` is one of
the codes below, whose meanings never change. \`detail\` explains what happened and what to do. \`request_id\` identifies
the request in the server's log. The command line prints \`detail\` as one line and ends with 1.

${sections.join('\n')}`
}
