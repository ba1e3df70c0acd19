/** Commands that add to and remove from a list of a client or a project: `tally projects alias add ACME acme/web`. */
import type { Command } from 'commander'
import type { Party } from '../access/actor.ts'
import type { Services } from '../services.ts'
import { act } from './act.ts'
import { examples } from './flags/options.ts'
import { print } from './terminal/print.ts'

interface Members<Body> {
  /** One of them: `alias`. */
  name: string
  plural: string
  /** What they are, as the end of a description. */
  description: string
  /** What the commands do, if more is to be said than that they add and remove. */
  verbs?: Partial<Record<'add' | 'remove', string>>
  /** The argument for several of them. */
  argument: [name: string, doc: string]
  example: string
  change: (services: Services, self: Party, named: string, verb: 'add' | 'remove', given: string[]) => Promise<Body>
  show: (body: Body) => string | undefined
}

interface Owner {
  word: 'client' | 'project'
  argument: string
  example: string
}

/** @returns the group of commands */
export function addMembers<Body>(group: Command, owner: Owner, members: Members<Body>): Command {
  const { name, plural, description, verbs = {}, argument, example, change, show } = members
  const line = (verb: string) => `tally ${owner.word}s ${name} ${verb} ${owner.example} ${example}`
  const commands = group
    .command(name)
    .description(description)
    .addHelpText('after', examples(line('add')))
  for (const verb of ['add', 'remove'] as const) {
    commands
      .command(verb)
      .description(
        verbs[verb] ??
          `${verb === 'add' ? 'Add' : 'Remove'} ${plural} ${verb === 'add' ? 'to' : 'from'} a ${owner.word}`,
      )
      .argument(`<${owner.word}>`, owner.argument)
      .argument(`<${argument[0]}...>`, argument[1])
      .option('--json', `print the ${owner.word} as JSON`)
      .addHelpText('after', examples(line(verb)))
      .action((named: string, given: string[], _flags, command: Command) =>
        act(
          command,
          (services, self) => change(services, self, named, verb, given),
          (body) => body,
          (body) => {
            const shown = show(body)
            if (shown !== undefined) print(shown)
          },
        ),
      )
  }
  return commands
}

interface WithPeople {
  name: string
  key?: string
  leads?: { name: string }[]
  approvers?: { name: string }[]
}

const RESPONSIBLE = {
  lead: {
    fields: { add: 'addLeads', remove: 'removeLeads' },
    of: {
      client: 'who lead all of its projects, also future ones',
      project: 'who can see and approve all its entries',
    },
    people: ({ leads }: WithPeople) => leads,
    title: 'Leads',
  },
  approver: {
    fields: { add: 'addApprovers', remove: 'removeApprovers' },
    of: {
      client: 'who can approve the entries of all of its projects',
      project: 'who can approve its entries without leading it',
    },
    people: ({ approvers }: WithPeople) => approvers,
    title: 'Approvers',
  },
} as const

/** Adds the commands `lead` and `approver`. */
export function addResponsible<Body extends WithPeople>(
  group: Command,
  owner: Owner,
  change: (services: Services, self: Party, named: string, fields: Record<string, string[]>) => Promise<Body>,
): void {
  for (const name of ['lead', 'approver'] as const) {
    const { fields, of, people, title } = RESPONSIBLE[name]
    addMembers<Body>(group, owner, {
      name,
      plural: `${name}s`,
      description: `Add and remove ${name}s of a ${owner.word}, ${of[owner.word]}`,
      argument: ['person', 'e-mail addresses or ids (usr_…)'],
      example: 'ada@example.com',
      change: (services, self, named, verb, given) => change(services, self, named, { [fields[verb]]: given }),
      show: (body) => {
        const whose = body.key ?? body.name
        return people(body)?.length ? `${title} of ${whose}: ${namesOf(people(body))}.` : `${whose} has no ${name}s.`
      },
    })
  }
}

export function namesOf(people: { name: string }[] | undefined): string | null {
  return people?.map(({ name }) => name).join(', ') || null
}
