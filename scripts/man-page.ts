/**
 * The manual page of the command line, `tally(1)`, in the macros of man(7): generated from the commands and the options,
 * for packages to install.
 */
import type { Command } from 'commander'
import { commandsByHeading, fullNameOf, withSubcommands } from '../src/cli/command-tree.ts'
import { createProgram } from '../src/cli/program.ts'
import { OPTIONS } from '../src/config.ts'

/** As text of a line: a dash that is a minus, no line that begins as a macro does, and only ASCII. */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/^([.'])/gm, '\\&$1')
    .replaceAll(
      /\P{ASCII}/gu,
      (character) => `\\[u${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`,
    )
}

const bold = (text: string) => `\\fB${escaped(text)}\\fR`

function commandSection(command: Command): string {
  const options = command
    .createHelp()
    .visibleOptions(command)
    .filter(({ long }) => long !== '--help')
  const usage = `${fullNameOf(command)} ${command.usage()}`
  return [
    `.SS ${bold(usage)}`,
    `${escaped(command.description())}.`,
    ...options.flatMap(({ flags, description }) => ['.TP', bold(flags), escaped(description)]),
  ].join('\n')
}

/** @param at when the version was made */
export async function manPage(version: string, at: Date): Promise<string> {
  const program = await createProgram()
  const groups = commandsByHeading(program).flatMap(([heading, commands]) => [
    `.SH ${escaped(`${heading} commands`).toUpperCase()}`,
    ...commands.flatMap((command) => [...withSubcommands(command)]).map(commandSection),
  ])
  const variables = Object.values(OPTIONS).flatMap(({ flag, variable, default: usual, doc }) => [
    '.TP',
    bold(variable),
    `${escaped(doc)} (${bold(flag)}${usual ? `, default ${escaped(usual)}` : ''})`,
  ])
  return `${[
    `.TH TALLY 1 "${at.toISOString().slice(0, 10)}" "Tally ${version}" "User Commands"`,
    '.SH NAME',
    'tally \\- record what AI agents use, show it, and bill for it',
    '.SH SYNOPSIS',
    `${bold('tally')} [\\fIoptions\\fR] \\fIcommand\\fR`,
    '.SH DESCRIPTION',
    `${escaped(program.description())} ${bold('tally help')} prints the pages of the manual, and a running server shows them at /docs.`,
    ...groups,
    '.SH ENVIRONMENT',
    'A flag takes precedence over its variable, and the variable over the default.',
    ...variables,
    '.SH EXIT STATUS',
    '0 if the command succeeded, 1 if it was refused or failed, 2 if it was called wrongly.',
  ].join('\n')}\n`
}
