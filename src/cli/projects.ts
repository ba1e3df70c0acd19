import { type Command, Option } from 'commander'
import type { MergeBody, ProjectBody } from '../features/projects/schema.ts'
import type { ProjectView } from '../features/projects/service.ts'
import { confirm, isInteractive } from './confirm.ts'
import { examples } from './options.ts'
import { note, print, printJson, printJsonList, printTable } from './print.ts'
import { Progress } from './progress.ts'
import { withServices } from './with-services.ts'
import { act, addKeepingCommands, type Kind } from './work-commands.ts'
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
} from './work-text.ts'

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
    .description('List, add, change and merge projects, on which entries are placed')
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
    .option('--search <text>', 'only those whose key, name or alias contains the text')
    .option('--client <client>', 'name or id, or none; repeatable or with commas', collect)
    .option('--lead <person>', 'e-mail address or id of who leads them; repeatable or with commas', collect)
    .option('--archived', 'only archived and merged ones')
    .option('--all', 'archived and merged ones as well')
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
        note('There is no such project. Reports make them by naming them, or `tally projects add`.')
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
      .option('--client <client>', 'name or id of who gets its bills')
      .addOption(new Option('--billable <yes|no>', 'whether its entries go on bills').choices(['yes', 'no']))
      .option('--markup <percent>', 'on costs; without one the client’s')
      .option('--budget <dollars>', 'what its work may cost')
      .option('--json', 'print JSON')

  fields(
    projects
      .command('add')
      .description('Add a project')
      .argument('<key>', 'short, by which reports and tickets name it')
      .option('--name <name>', 'as people read it; without one the key')
      .option('--alias <text>', 'further name by which reports find it; repeatable or with commas', collect)
      .option('--lead <person>', 'e-mail address or id of who leads it; repeatable or with commas', collect),
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
      .description('Change a project; none clears a field, and a former key or name stays as an alias')
      .argument('<project>', PROJECT)
      .option('--key <key>', 'its new key')
      .option('--name <name>', 'its new name'),
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
      description: 'Take a project out of lists; reports that name it still arrive there',
      does: ({ projects }, self, project) => projects.archiveProject(self, project),
    },
    restore: ({ projects }, self, project) => projects.restoreProject(self, project),
    remove: {
      description: 'Remove a project that nothing refers to',
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
    .description('Merge a project into another one, with its names, its tickets and its entries that are on no bill')
    .argument('<project>', 'key, name, alias or id (prj_…) of the project that goes')
    .argument('<into>', 'the same of the one that stays')
    .option('--dry-run', 'show what would move, and change nothing')
    .option('--yes', 'do not ask before moving')
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
          const planned = mergeBody(await entries.mergeProject(self, project, into, { dryRun: true }))
          if (dryRun) return planned
          printMerge(planned)
          await confirm(`Merge ${planned.project.key} into ${planned.into.key}? It cannot be taken back.`, { yes })
        }
        const progress = new Progress('Moving entries')
        try {
          const onProgress = (done: number, total: number) => progress.show(done, total)
          return mergeBody(await entries.mergeProject(self, project, into, { onProgress }))
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
    const lead = merge.dry_run ? 'would lead' : 'lead'
    print(`What reports as ${aliases.map((alias) => `'${alias}'`).join(', ')} ${lead} there.`)
  }
  if (merge.unpriced_entries > 0)
    print(`The cost of ${merge.unpriced_entries.toLocaleString('en')} of them is unknown.`)
  if (merge.billed_entries > 0) {
    print(`${counted(merge.billed_entries, 'entry stays', 'entries stay')} where it was billed.`)
  }
  if (leads.length > 0) {
    print(`Not leads of ${into.key}, and without sight of what moves: ${leads.map(({ name }) => name).join(', ')}.`)
  }
}

function addAliasCommands(projects: Command): void {
  const alias = projects
    .command('alias')
    .description('Give a project further names by which reports find it')
    .addHelpText(
      'after',
      examples('tally projects alias add ACME acme/web', 'tally projects alias remove ACME acme/web'),
    )

  alias
    .command('add')
    .description('Let a further name lead to a project')
    .argument('<project>', PROJECT)
    .argument('<name...>', 'the names; a text names at most one project')
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
    .description('Take names away from a project; the next report by one of them makes a new project')
    .argument('<project>', PROJECT)
    .argument('<name...>', 'the names')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally projects alias remove ACME acme/web'))
    .action((project: string, removeAliases: string[], _flags, command: Command) =>
      act(
        command,
        KIND,
        (all, self) => all.projects.changeProject(self, project, { removeAliases }),
        ({ key, aliases }) => `${key} has ${aliases.length === 0 ? 'no alias' : `the aliases ${aliases.join(', ')}`}.`,
      ),
    )
}

function addLeadCommands(projects: Command): void {
  const lead = projects
    .command('lead')
    .description('Say who leads a project: they see and approve all its entries')
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
              ? `Nobody leads ${key}.`
              : `${key} is led by ${leads.map(({ name }) => name).join(', ')}.`,
        ),
      )
  change('add', 'Make people leads of a project')
  change('remove', 'Let people lead a project no more')
}
