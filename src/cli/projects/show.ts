import type { Command } from 'commander'
import { namesOf } from '../responsible.ts'
import { exactText, percentText } from '../terminal/numbers.ts'
import { addShowCommand } from '../work-commands.ts'
import { PROJECT, stateOf } from './project.ts'

export function addProjectsShowCommand(projects: Command): void {
  addShowCommand(
    projects,
    PROJECT,
    (services, named) => services.projects.showProject(named),
    (project) => [
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
  )
}
