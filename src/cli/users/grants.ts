import { type Command, Option } from 'commander'
import type { GrantBody, NewGrant } from '../../features/viewers/schema.ts'
import { act } from '../act.ts'
import { CommandError } from '../failures.ts'
import { columnsOption, wideOption } from '../flags/columns.ts'
import { examples } from '../flags/options.ts'
import type { ColumnFlags } from '../terminal/columns.ts'
import { minute, print, printJson, printTable } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { USER } from './user.ts'

type TargetFlags = Pick<NewGrant, 'client' | 'project'>

const MONEY: NonNullable<NewGrant['money']>[] = ['amounts', 'cost', 'none']

/** `tally users grants`, `grant` and `revoke`: what people with the role viewer see. */
export function addUsersGrantCommands(users: Command): void {
  users
    .command('grants')
    .description('List the clients and projects that a viewer sees')
    .argument('<user>', USER)
    .addOption(columnsOption())
    .addOption(wideOption())
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally users grants vera@globex.example'))
    .action(async (who: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & ColumnFlags>()
      const grants = await withServices(flags, ({ viewers }) => viewers.listGrants(who))
      if (flags.json) return printJson({ data: grants })
      if (grants.length === 0) return print(`Nothing is granted to ${who}. Grant something with \`tally users grant\`.`)
      printTable(
        [
          { title: 'SHOWS', of: nameOf },
          { title: 'MONEY', of: ({ money }) => money },
          { title: 'PEOPLE', of: ({ people }) => (people ? 'yes' : 'no') },
          { title: 'BILLS', of: ({ bills }) => (bills ? 'yes' : 'no') },
          { title: 'SINCE (UTC)', rank: 1, of: ({ created_at }) => minute(created_at) },
          { title: 'ID', rank: 1, of: ({ client, project }) => (client ?? project)!.id },
        ],
        grants,
        flags,
      )
    })

  withTarget(users.command('grant'))
    .description('Show a client or a project to a viewer, or change how much of it they see')
    .argument('<user>', USER)
    .addOption(
      new Option('--money <what>', 'amounts that were billed, cost, or none for tokens only')
        .choices(MONEY)
        .default('none'),
    )
    .option('--people', 'name the people whose usage it is')
    .option('--bills', 'show the bills that were sent to the client; needs --money amounts')
    .option('--json', 'print the grant as JSON')
    .addHelpText(
      'after',
      examples(
        'tally users grant vera@globex.example --client Globex --money amounts --bills',
        'tally users grant vera@globex.example --project ACME-WEB --money cost --people',
      ),
    )
    .action((who: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & NewGrant>()
      const { money, people = false, bills = false } = flags
      return act(
        command,
        async ({ viewers }, { by }) =>
          (await viewers.grant(who, { ...targetOf(flags), ...(money && { money }), people, bills }, by)).body,
        (body) => body,
        (body) => print(`${who} sees ${textOf(body)}.`),
      )
    })

  withTarget(users.command('revoke'))
    .description('No longer show a client or a project to a viewer; a running server hides it at once')
    .argument('<user>', USER)
    .option('--json', 'print the revoked grant as JSON')
    .addHelpText('after', examples('tally users revoke vera@globex.example --client Globex'))
    .action((who: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & TargetFlags>()
      return act(
        command,
        ({ viewers }, { by }) => viewers.revokeNamed(who, targetOf(flags), by),
        (body) => body,
        (body) => print(`${who} no longer sees ${nameOf(body)}.`),
      )
    })
}

function withTarget(command: Command): Command {
  return command
    .addOption(
      new Option('--client <client>', 'id or name of a client, with all of its projects').conflicts(['project']),
    )
    .option('--project <project>', 'id, key, name or alias of a project')
}

function targetOf({ client, project }: TargetFlags): TargetFlags {
  if (client === undefined && project === undefined) throw new CommandError('Use --client or --project.', 2)
  return client === undefined ? { project: project! } : { client }
}

function nameOf({ client, project }: Pick<GrantBody, 'client' | 'project'>): string {
  return client ? `client ${client.name}` : `project ${project!.key}`
}

const MONEY_TEXTS: Record<GrantBody['money'], string> = {
  amounts: 'billed amounts',
  cost: 'cost',
  none: 'tokens only',
}

function textOf(grant: GrantBody): string {
  const shown = [MONEY_TEXTS[grant.money], ...(grant.people ? ['people'] : []), ...(grant.bills ? ['sent bills'] : [])]
  return `${nameOf(grant)}: ${shown.join(', ')}`
}
