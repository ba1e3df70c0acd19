/** `tally projects`. */
import type { Command } from 'commander'
import type { Party } from '../access/actor.ts'
import {
  addProject,
  archiveProject,
  changeProject,
  getProject,
  listProjects,
  removeProject,
  restoreProject,
} from '../features/projects/operations/projects.ts'
import type { ProjectBody } from '../features/projects/schema.ts'
import type { Services } from '../services.ts'
import { examples } from './flags/options.ts'
import { addMembers, addResponsible, namesOf } from './members.ts'
import { addAction, addListing } from './operations.ts'
import { addProjectsMergeCommand } from './projects-merge.ts'
import { exactText, percentText } from './terminal/numbers.ts'
import { note } from './terminal/print.ts'
import { ARCHIVED_FLAGS, addArchiving, archivedText, byName, listedText } from './work-commands.ts'

const subject = 'project'

const PROJECT = { word: subject, argument: 'key, name, alias or id (prj_…) of the project', example: 'ACME' } as const

const flags = {
  markup: '--markup <percent>',
  budget: '--budget <dollars>',
  client: '--client <client>',
  aliases: '--alias <name>',
  leads: '--lead <person>',
  approvers: '--approver <person>',
  repositories: '--repository <name>',
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
  addListing(projects, listProjects, {
    flags: {
      ...ARCHIVED_FLAGS,
      client: '--client <client>',
      lead: '--lead <person>',
      approver: '--approver <person>',
    },
    examples: ['tally projects list --client "Acme Ltd"', 'tally projects list --client none --json'],
    columns: [
      { title: 'KEY', of: ({ key }) => key },
      { title: 'NAME', of: ({ name }) => name },
      { title: 'CLIENT', of: ({ client }) => client?.name ?? '–' },
      { title: 'BILLABLE', of: ({ billable }) => (billable ? 'yes' : 'no') },
      { title: 'MARKUP', of: ({ markup }) => percentText(markup), align: 'right' },
      { title: 'BUDGET (USD)', of: ({ budget }) => exactText(budget), align: 'right' },
      { title: 'LEADS', of: ({ leads }) => namesOf(leads) ?? '–' },
      { title: 'STATE', of: stateOf },
      { title: 'ID', of: ({ id }) => id },
    ],
    order: byName(({ key }) => key),
    listed: (given) => listedText(given, 'projects'),
    howToAdd: 'They are created when a report names them, or with `tally projects add`.',
  })
  addAction(projects, getProject, {
    name: 'show',
    description: 'Show a project',
    subject,
    examples: ['tally projects show ACME'],
    show: (project) => [
      ['project', project.key],
      ['name', project.name],
      ['id', project.id],
      ['state', stateOf(project)],
      ['aliases', project.aliases.join(', ') || null],
      ['client', project.client?.name],
      ['billable', project.billable ? 'yes' : 'no'],
      ['markup', percentText(project.markup)],
      ['budget', project.budget === null ? null : `$${exactText(project.budget)}`],
      ['leads', namesOf(project.leads)],
      ['approvers', namesOf(project.approvers)],
      ['client leads', namesOf(project.client_leads)],
      ['client approvers', namesOf(project.client_approvers)],
    ],
  })
  addAction(projects, addProject, {
    name: 'add',
    positional: ['key'],
    flags,
    examples: ['tally projects add ACME --name "Acme web" --alias acme/web --client "Acme Ltd" --budget 2500'],
    show: ({ key, id }) => `Added ${key}: ${id}`,
  })
  addAction(projects, changeProject, {
    name: 'change',
    description: 'Change a project; the old key or name becomes an alias',
    subject,
    flags,
    examples: [
      'tally projects change "acme website" --key ACME --client "Acme Ltd"',
      'tally projects change ACME --budget none',
    ],
    show: ({ key }) => `Changed ${key}.`,
  })
  addArchiving(projects, [archiveProject, restoreProject, removeProject], {
    subject,
    example: 'ACME',
    nameOf: ({ key }) => key,
    archive: 'Archive a project: hide it from lists; reports that name it are still assigned to it',
    remove: 'Remove a project that is not in use',
  })
  addProjectsMergeCommand(projects)
  addMembers(projects, PROJECT, {
    name: 'alias',
    plural: 'aliases',
    description: 'Add and remove additional names of a project that reports can use',
    verbs: { remove: 'Remove aliases from a project; the next report that uses one creates a new project' },
    argument: ['name', 'aliases; each can belong to only one project'],
    example: 'acme/web',
    change: (services, self, named, verb, names) =>
      change(services, self, named, { [verb === 'add' ? 'addAliases' : 'removeAliases']: names }),
    show: ({ key, aliases }) =>
      `${key} has ${aliases.length === 0 ? 'no aliases' : `the aliases ${aliases.join(', ')}`}.`,
  })
  const repositories = addMembers(projects, PROJECT, {
    name: 'repository',
    plural: 'repositories',
    description: 'List, add and remove the repositories whose unattributed entries leads can assign',
    argument: ['repository', 'values of the label repository, exactly as agents report them'],
    example: 'acme/web',
    change: (services, self, named, verb, names) =>
      change(services, self, named, { [verb === 'add' ? 'addRepositories' : 'removeRepositories']: names }),
    show: repositoriesText,
  })
  addAction(repositories, getProject, {
    name: 'list',
    description: 'List the repositories of a project',
    subject,
    examples: ['tally projects repository list ACME'],
    show: repositoriesText,
  })
  addResponsible(projects, PROJECT, change)
}

async function change({ projects }: Services, self: Party, named: string, fields: object): Promise<ProjectBody> {
  const { projectBody } = await import('../features/projects/service.ts')
  return projectBody(await projects.changeProject(self, named, fields), 'everything')
}

function stateOf({ archived_at, merged_into }: ProjectBody): string {
  if (merged_into) return `merged into ${merged_into.key}`
  return archivedText(archived_at) ?? 'active'
}

function repositoriesText({ key, repositories = [] }: ProjectBody): string | undefined {
  if (repositories.length > 0) return repositories.join('\n')
  note(`${key} has no repositories.`)
  return undefined
}
