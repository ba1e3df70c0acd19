/** A project on the command line. */
import { type Command, Option } from 'commander'
import type { ProjectBody } from '../../features/projects/schema.ts'
import type { ProjectView } from '../../features/projects/service.ts'
import { budgetOf, markupOf } from '../flags/money.ts'
import { textOrNone } from '../flags/options.ts'
import type { CommandFlags } from '../with-services.ts'
import { archivedText, type Kind, projectService } from '../work-commands.ts'

export const PROJECT: Kind<ProjectView, ProjectBody> = {
  word: 'project',
  argument: 'key, name, alias or id (prj_…) of the project',
  example: 'ACME',
  bodyOf: async (project) => (await projectService()).projectBody(project, 'everything'),
  nameOf: ({ key }) => key,
}

export function stateOf({ archived_at, merged_into }: ProjectBody): string {
  if (merged_into) return `merged into ${merged_into.key}`
  return archivedText(archived_at) ?? 'active'
}

export interface ProjectFlags extends CommandFlags {
  key?: string
  name?: string
  client?: string
  billable?: 'yes' | 'no'
  markup?: string
  budget?: string
}

export function addProjectFlags(command: Command): Command {
  return command
    .option('--client <client>', 'name or id of the client to bill')
    .addOption(new Option('--billable <yes|no>', 'whether its entries are billed').choices(['yes', 'no']))
    .option('--markup <percent>', 'markup on costs (default: that of the client)')
    .option('--budget <dollars>', 'cost budget in US dollars')
    .option('--json', 'print JSON')
}

export async function projectOf({ key, name, client, billable, markup, budget }: ProjectFlags) {
  return {
    key,
    name,
    client: textOrNone(client),
    billable: billable && billable === 'yes',
    markupPpm: await markupOf(markup),
    budgetNanos: await budgetOf(budget),
  }
}
