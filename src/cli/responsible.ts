/** `lead` and `approver` of projects and clients: `tally projects lead add ACME ada@example.com`. */
import type { Command } from 'commander'
import type { Party } from '../access/actor.ts'
import type { ResponsibleFields } from '../features/projects/service.ts'
import type { Services } from '../services.ts'
import { act } from './act.ts'
import { examples } from './flags/options.ts'
import { print } from './terminal/print.ts'
import type { Kind } from './work-commands.ts'

interface WithPeople {
  name: string
  leads?: { name: string }[]
  approvers?: { name: string }[]
}

interface Responsibility {
  name: 'lead' | 'approver'
  description: string
  added: 'addLeads' | 'addApprovers'
  removed: 'removeLeads' | 'removeApprovers'
  peopleOf: (body: WithPeople) => { name: string }[] | undefined
}

const OF_PROJECT = {
  lead: 'who can see and approve all its entries',
  approver: 'who can approve its entries without leading it',
}
const OF_CLIENT = {
  lead: 'who lead all of its projects, also future ones',
  approver: 'who can approve the entries of all of its projects',
}

const responsibilities = (word: string): Responsibility[] => {
  const of = word === 'project' ? OF_PROJECT : OF_CLIENT
  return [
    { name: 'lead', description: of.lead, added: 'addLeads', removed: 'removeLeads', peopleOf: ({ leads }) => leads },
    {
      name: 'approver',
      description: of.approver,
      added: 'addApprovers',
      removed: 'removeApprovers',
      peopleOf: ({ approvers }) => approvers,
    },
  ]
}

/** Adds the commands `lead` and `approver`, each with `add` and `remove`. */
export function addResponsibleCommands<View, Body extends WithPeople>(
  group: Command,
  kind: Kind<View, Body>,
  change: (services: Services, self: Party, named: string, fields: ResponsibleFields) => Promise<View>,
): void {
  for (const { name, description, added, removed, peopleOf } of responsibilities(kind.word)) {
    const commands = group
      .command(name)
      .description(`Add and remove ${name}s of a ${kind.word}, ${description}`)
      .addHelpText('after', examples(`tally ${kind.word}s ${name} add ${kind.example} ada@example.com`))
    for (const verb of ['add', 'remove'] as const) {
      commands
        .command(verb)
        .description(verb === 'add' ? `Add ${name}s to a ${kind.word}` : `Remove ${name}s from a ${kind.word}`)
        .argument(`<${kind.word}>`, kind.argument)
        .argument('<person...>', 'e-mail addresses or ids (usr_…)')
        .option('--json', 'print JSON')
        .addHelpText('after', examples(`tally ${kind.word}s ${name} ${verb} ${kind.example} ada@example.com`))
        .action((named: string, people: string[], _flags, command: Command) =>
          act(
            command,
            (services, self) => change(services, self, named, { [verb === 'add' ? added : removed]: people }),
            kind.bodyOf,
            (body) => {
              const present = peopleOf(body) ?? []
              const whose = 'key' in body ? body.key : body.name
              print(
                present.length === 0
                  ? `${whose} has no ${name}s.`
                  : `${name === 'lead' ? 'Leads' : 'Approvers'} of ${whose}: ${present.map((person) => person.name).join(', ')}.`,
              )
            },
          ),
        )
    }
  }
}

export function namesOf(people: { name: string }[] | undefined): string | null {
  return people?.map(({ name }) => name).join(', ') || null
}
