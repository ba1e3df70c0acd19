import { type Command, Option } from 'commander'
import type { MergeBody, ProjectBody } from '../../features/projects/schema.ts'
import type { ProjectView } from '../../features/projects/service.ts'
import { examples } from '../flags/options.ts'
import { confirm, isInteractive } from '../terminal/confirm.ts'
import { note, print, printJson, printJsonList, printTable } from '../terminal/print.ts'
import { Progress } from '../terminal/progress.ts'
import { withServices } from '../with-services.ts'
import { act, addKeepingCommands, type Kind } from '../work-commands.ts'
import {
  archivedOf,
  budgetOf,
  collect,
  everyPage,
  type ListFlags,
  markupOf,
  numberText,
  percentText,
  printFields,
  requireFields,
  sinceText,
  textOrNone,
  type WorkFlags,
  work,
} from '../work-text.ts'

const PROJECT = 'key, name, alias or id (prj_…) of the project'

interface FieldFlags extends WorkFlags {
  key?: string
  name?: string
  client?: string
  billable?: 'yes' | 'no'
  markup?: string
  budget?: string
}

async function fieldsOf({ key, name, client, billable, markup, budget }: FieldFlags) {
  return {
    key,
    name,
    client: textOrNone(client),
    billable: billable && billable === 'yes',
    markupPpm: await markupOf(markup),
    budgetNanos: await budgetOf(budget),
  }
}

async function bodyOf(project: ProjectView): Promise<ProjectBody> {
  return (await work()).projectBody(project, 'everything')
}

const KIND: Kind<ProjectView, ProjectBody> = {
  word: 'project',
  argument: PROJECT,
  example: 'ACME',
  bodyOf,
  calledBy: ({ key }) => key,
}

function stateOf({ archived_at, merged_into }: ProjectBody): string {
  if (merged_into) return `merged into ${merged_into.key}`
  return sinceText(archived_at) ?? 'active'
}

export function addProjectsCommands(program: Command): void {
  const projects = program
    .command('projects')
    .description('List, add, change and merge the projects that entries are assigned to')
    .addHelpText(
      'after',
      examples(
        'tally projects add ACME --name "Acme web" --client "Acme Ltd" --lead ada@example.com',
        'tally projects alias add ACME acme/web',
        'tally projects merge "acme website" ACME --dry-run',
      ),
    )
  addReadingCommands(projects)
  addChangingCommands(projects)
  addMergeCommand(projects)
  addAliasCommands(projects)
  addLeadCommands(projects)
}

function addReadingCommands(projects: Command): void {
  projects
    .command('list')
    .description('List projects')
    .option('--search <text>', 'only projects whose key, name or alias contains the text')
    .option('--client <client>', 'name or id of the client, or none; repeatable or comma-separated', collect)
    .option('--lead <person>', 'e-mail address or id of a lead; repeatable or comma-separated', collect)
    .option('--archived', 'only archived and merged projects')
    .option('--all', 'include archived and merged projects')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples('tally projects list --client "Acme Ltd"', 'tally projects list --client none --json'),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<ListFlags & { client?: string[]; lead?: string[] }>()
      const { search, client: clients, lead: leads } = flags
      const filter = { search, clients, leads, archived: archivedOf(flags) }
      const rows = await withServices(flags, (services, { viewer }) =>
        everyPage(
          (page) => services.projects.listProjects(viewer, filter, page),
          ({ project }) => project.id,
        ),
      )
      const bodies = await Promise.all(rows.map(bodyOf))
      if (flags.json) return printJsonList(bodies)
      printTable(
        [
          { title: 'KEY', of: ({ key }) => key },
          { title: 'NAME', of: ({ name }) => name },
          { title: 'CLIENT', of: ({ client }) => client?.name ?? '–' },
          { title: 'BILLABLE', of: ({ billable }) => (billable ? 'yes' : 'no') },
          { title: 'MARKUP', of: ({ markup }) => percentText(markup), align: 'right' },
          { title: 'BUDGET (USD)', of: ({ budget }) => numberText(budget), align: 'right' },
          { title: 'LEADS', of: ({ leads }) => leads?.map(({ name }) => name).join(', ') || '–' },
          { title: 'STATE', of: stateOf },
          { title: 'ID', of: ({ id }) => id },
        ],
        bodies.sort((one, other) => one.key.localeCompare(other.key, 'en')),
      )
      if (bodies.length === 0)
        note('No matching projects. Projects are created when a report names them, or with `tally projects add`.')
    })

  projects
    .command('show')
    .description('Show a project')
    .argument('<project>', PROJECT)
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally projects show ACME'))
    .action(async (project: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<WorkFlags>()
      const body = await bodyOf(await withServices(flags, (services) => services.projects.showProject(project)))
      if (flags.json) return printJson(body)
      printFields([
        ['project', body.key],
        ['name', body.name],
        ['id', body.id],
        ['state', stateOf(body)],
        ['aliases', body.aliases.join(', ') || null],
        ['client', body.client?.name],
        ['billable', body.billable ? 'yes' : 'no'],
        ['markup', percentText(body.markup)],
        ['budget', body.budget === null ? null : `$${numberText(body.budget)}`],
        ['leads', body.leads?.map(({ name }) => name).join(', ') || null],
      ])
    })
}

function addChangingCommands(projects: Command): void {
  const fields = (command: Command) =>
    command
      .option('--client <client>', 'name or id of the client to bill')
      .addOption(new Option('--billable <yes|no>', 'whether its entries are billed').choices(['yes', 'no']))
      .option('--markup <percent>', 'markup on costs (default: that of the client)')
      .option('--budget <dollars>', 'cost budget in US dollars')
      .option('--json', 'print JSON')

  fields(
    projects
      .command('add')
      .description('Add a project')
      .argument('<key>', 'short key that reports and tickets use')
      .option('--name <name>', 'display name (default: the key)')
      .option('--alias <text>', 'additional name that reports can use; repeatable or comma-separated', collect)
      .option('--lead <person>', 'e-mail address or id of a lead; repeatable or comma-separated', collect),
  )
    .addHelpText(
      'after',
      examples('tally projects add ACME --name "Acme web" --alias acme/web --client "Acme Ltd" --budget 2500'),
    )
    .action(async (key: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<FieldFlags & { alias?: string[]; lead?: string[] }>()
      const given = { ...(await fieldsOf(flags)), key, aliases: flags.alias, leads: flags.lead }
      await act(
        command,
        KIND,
        (all, self) => all.projects.addProject(self, given),
        (project) => `Added ${project.key}: ${project.id}`,
      )
    })

  fields(
    projects
      .command('change')
      .description('Change a project; none clears a field, and the old key or name becomes an alias')
      .argument('<project>', PROJECT)
      .option('--key <key>', 'new key')
      .option('--name <name>', 'new name'),
  )
    .addHelpText(
      'after',
      examples(
        'tally projects change "acme website" --key ACME --client "Acme Ltd"',
        'tally projects change ACME --budget none',
      ),
    )
    .action(async (project: string, _flags, command: Command) => {
      const given = await fieldsOf(command.optsWithGlobals<FieldFlags>())
      requireFields(given, command)
      await act(
        command,
        KIND,
        (all, self) => all.projects.changeProject(self, project, given),
        ({ key }) => `Changed ${key}.`,
      )
    })

  addKeepingCommands(projects, KIND, {
    archive: {
      description: 'Archive a project: hide it from lists; reports that name it are still assigned to it',
      does: ({ projects }, self, project) => projects.archiveProject(self, project),
    },
    restore: ({ projects }, self, project) => projects.restoreProject(self, project),
    remove: {
      description: 'Remove a project that is not in use',
      does: ({ projects }, self, project) => projects.removeProject(self, project),
    },
  })
}

interface MergeFlags extends WorkFlags {
  dryRun?: boolean
  yes?: boolean
}

function addMergeCommand(projects: Command): void {
  projects
    .command('merge')
    .description('Merge a project into another one, including its names, tickets and unbilled entries')
    .argument('<project>', 'key, name, alias or id (prj_…) of the project to merge')
    .argument('<into>', 'key, name, alias or id (prj_…) of the project to keep')
    .option('--dry-run', 'show what would move, and change nothing')
    .option('--yes', 'skip the confirmation')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples('tally projects merge "acme website" ACME --dry-run', 'tally projects merge "acme website" ACME --yes'),
    )
    .action(async (project: string, into: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<MergeFlags>()
      const { dryRun = false, yes = false } = flags
      const { mergeBody } = await work()
      const body = await withServices(flags, async ({ entries }, self) => {
        if (dryRun || (isInteractive() && !yes)) {
          const planned = mergeBody(await entries.places.mergeProject(self, project, into, { dryRun: true }))
          if (dryRun) return planned
          printMerge(planned)
          await confirm(`Merge ${planned.project.key} into ${planned.into.key}? This cannot be undone.`, { yes })
        }
        const progress = new Progress('Moving entries')
        try {
          const onProgress = (done: number, total: number) => progress.show(done, total)
          return mergeBody(await entries.places.mergeProject(self, project, into, { onProgress }))
        } finally {
          progress.end()
        }
      })
      if (flags.json) return printJson(body)
      printMerge(body)
    })
}

function counted(count: number, one: string, several: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : several}`
}

function printMerge(merge: MergeBody): void {
  const { project, into, aliases, former_leads: leads } = merge
  const verb = merge.dry_run ? 'would move' : 'moved'
  print(
    `${counted(merge.entries, 'entry', 'entries')} ($${numberText(merge.cost)}) and ${counted(merge.tickets, 'ticket', 'tickets')} of ${project.key} (${project.id}) ${verb} to ${into.key}.`,
  )
  if (aliases.length > 0) {
    const lead = merge.dry_run ? 'would be assigned' : 'are assigned'
    print(`Reports that name ${aliases.map((alias) => `'${alias}'`).join(', ')} ${lead} to ${into.key}.`)
  }
  if (merge.unpriced_entries > 0) print(`${counted(merge.unpriced_entries, 'entry is', 'entries are')} unpriced.`)
  if (merge.billed_entries > 0) {
    print(`${counted(merge.billed_entries, 'billed entry stays', 'billed entries stay')} on ${project.key}.`)
  }
  if (leads.length > 0) {
    print(
      `These leads are not leads of ${into.key} and lose access to the moved entries: ${leads.map(({ name }) => name).join(', ')}.`,
    )
  }
}

function addAliasCommands(projects: Command): void {
  const alias = projects
    .command('alias')
    .description('Add and remove additional names of a project that reports can use')
    .addHelpText(
      'after',
      examples('tally projects alias add ACME acme/web', 'tally projects alias remove ACME acme/web'),
    )

  alias
    .command('add')
    .description('Add aliases to a project')
    .argument('<project>', PROJECT)
    .argument('<name...>', 'aliases to add; each can belong to only one project')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally projects alias add ACME acme/web "Acme website"'))
    .action((project: string, addAliases: string[], _flags, command: Command) =>
      act(
        command,
        KIND,
        (all, self) => all.projects.changeProject(self, project, { addAliases }),
        ({ key, aliases }) => `${key} has the aliases ${aliases.join(', ')}.`,
      ),
    )

  alias
    .command('remove')
    .description('Remove aliases from a project; the next report that uses one creates a new project')
    .argument('<project>', PROJECT)
    .argument('<name...>', 'aliases to remove')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally projects alias remove ACME acme/web'))
    .action((project: string, removeAliases: string[], _flags, command: Command) =>
      act(
        command,
        KIND,
        (all, self) => all.projects.changeProject(self, project, { removeAliases }),
        ({ key, aliases }) =>
          `${key} has ${aliases.length === 0 ? 'no aliases' : `the aliases ${aliases.join(', ')}`}.`,
      ),
    )
}

function addLeadCommands(projects: Command): void {
  const lead = projects
    .command('lead')
    .description('Add and remove the leads of a project, who can see and approve all its entries')
    .addHelpText('after', examples('tally projects lead add ACME ada@example.com'))

  const change = (verb: 'add' | 'remove', description: string) =>
    lead
      .command(verb)
      .description(description)
      .argument('<project>', PROJECT)
      .argument('<person...>', 'e-mail addresses or ids (usr_…)')
      .option('--json', 'print JSON')
      .addHelpText('after', examples(`tally projects lead ${verb} ACME ada@example.com`))
      .action((project: string, people: string[], _flags, command: Command) =>
        act(
          command,
          KIND,
          (all, self) =>
            all.projects.changeProject(self, project, verb === 'add' ? { addLeads: people } : { removeLeads: people }),
          ({ key, leads = [] }) =>
            leads.length === 0
              ? `${key} has no leads.`
              : `Leads of ${key}: ${leads.map(({ name }) => name).join(', ')}.`,
        ),
      )
  change('add', 'Add leads to a project')
  change('remove', 'Remove leads from a project')
}
