import type { Command } from 'commander'
import type { DeputyBody } from '../../features/people/service.ts'
import { act } from '../act.ts'
import { columnsOption, wideOption } from '../flags/columns.ts'
import { examples } from '../flags/options.ts'
import type { ColumnFlags } from '../terminal/columns.ts'
import { print, printJsonList, printTable } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'

const asItIs = (deputy: DeputyBody) => deputy

export function addDeputiesCommands(program: Command): void {
  const deputies = program
    .command('deputies')
    .description('Name people who approve for a lead or approver between two days')
    .addHelpText(
      'after',
      examples(
        'tally deputies add --person ada@example.com --deputy grace@example.com --from 2026-12-21 --to 2027-01-04',
        'tally deputies list',
      ),
    )

  deputies
    .command('add')
    .description('Name a deputy, who can approve what the person leads or approves for')
    .requiredOption('--person <person>', 'e-mail address or id of the lead or approver')
    .requiredOption('--deputy <person>', 'e-mail address or id of the person who approves for them')
    .requiredOption('--from <day>', 'first day, in the time zone of the organization')
    .requiredOption('--to <day>', 'last day, included; at most a year after the first')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        'tally deputies add --person ada@example.com --deputy grace@example.com --from 2026-12-21 --to 2027-01-04',
      ),
    )
    .action((_flags, command: Command) => {
      const { person, deputy, from, to } = command.opts<{ person: string; deputy: string; from: string; to: string }>()
      return act(
        command,
        ({ people }, self) => people.addDeputy({ person, deputy, from, to }, self),
        asItIs,
        (added) => print(`${added.deputy.name} approves for ${added.person.name} from ${from} to ${to}: ${added.id}`),
      )
    })

  deputies
    .command('list')
    .description('List deputies, those named last first')
    .addOption(columnsOption())
    .addOption(wideOption())
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally deputies list'))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & ColumnFlags>()
      const listed = await withServices(flags, ({ people }, self) => people.everyDeputy(self))
      if (flags.json) return printJsonList(listed)
      if (listed.length === 0) return print('No deputies. Name one with `tally deputies add`.')
      printTable(
        [
          { title: 'PERSON', of: ({ person }) => person.name },
          { title: 'DEPUTY', of: ({ deputy }) => deputy.name },
          { title: 'FROM', of: ({ from }) => from },
          { title: 'TO', of: ({ to }) => to },
          { title: 'STATE', of: ({ state }) => state },
          { title: 'ID', of: ({ id }) => id },
        ],
        listed,
        flags,
      )
    })

  deputies
    .command('remove')
    .description('Remove a deputy, which takes effect at once')
    .argument('<id>', 'id of the deputy (dep_…), see `tally deputies list`')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally deputies remove dep_01a1fa172a0277f3983322718874f2d0'))
    .action((id: string, _flags, command: Command) =>
      act(
        command,
        ({ people }, self) => people.removeDeputy(id, self),
        asItIs,
        ({ person, deputy }) => print(`${deputy.name} no longer approves for ${person.name}.`),
      ),
    )
}
