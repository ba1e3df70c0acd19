import { type Command, Option } from 'commander'
import { addDeputy, listDeputies, removeDeputy } from '../../features/people/operations/deputies.ts'
import { examples } from '../flags/options.ts'
import { addAction, addListing } from '../operations.ts'

const ADD_EXAMPLE =
  'tally deputies add --person ada@example.com --deputy grace@example.com --from 2026-12-21 --to 2027-01-04'

export function addDeputiesCommands(program: Command): void {
  const deputies = program
    .command('deputies')
    .description('Name people who approve for a lead or approver between two days')
    .addHelpText('after', examples(ADD_EXAMPLE, 'tally deputies list'))
  addAction(deputies, addDeputy, {
    name: 'add',
    description: 'Name a deputy, who can approve what the person leads or approves for',
    flags: {
      person: { flag: '--person <person>', doc: 'e-mail address or id of the lead or approver' },
      deputy: '--deputy <person>',
      from: '--from <day>',
      to: { flag: '--to <day>', doc: 'last day, included; at most a year after the first' },
    },
    examples: [ADD_EXAMPLE],
    show: ({ id, person, deputy, from, to }) =>
      `${deputy.name} approves for ${person.name} from ${from} to ${to}: ${id}`,
  })
  addListing(deputies, listDeputies, {
    description: 'List deputies, those named last first',
    columns: [
      { title: 'PERSON', of: ({ person }) => person.name },
      { title: 'DEPUTY', of: ({ deputy }) => deputy.name },
      { title: 'FROM', of: ({ from }) => from },
      { title: 'TO', of: ({ to }) => to },
      { title: 'STATE', of: ({ state }) => state },
      { title: 'ID', of: ({ id }) => id },
    ],
    howToAdd: 'Name one with `tally deputies add`.',
  })
  addAction(deputies, removeDeputy, {
    name: 'remove',
    description: 'Remove a deputy, which takes effect at once',
    subject: 'id',
    options: [new Option('--json', 'print JSON')],
    examples: ['tally deputies remove dep_01a1fa172a0277f3983322718874f2d0'],
    show: ({ person, deputy }) => `${deputy.name} no longer approves for ${person.name}.`,
  })
}
