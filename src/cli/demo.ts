import type { Command } from 'commander'
import { readConfig } from '../config.ts'
import type { AddedSince } from '../database/emptying.ts'
import { randomBase62 } from '../lib/base62.ts'
import type { Services } from '../services.ts'
import { confirm, isInteractive } from './confirm.ts'
import { CommandError } from './failures.ts'
import { calledAs } from './first-steps.ts'
import { examples } from './options.ts'
import { readPassword } from './password.ts'
import { note, print, printJson, printTable } from './print.ts'
import { Progress } from './progress.ts'
import { type DatabaseFlags, withServices } from './with-services.ts'

/** Nobody guesses it, and it is read from one window and typed into another. */
const PASSWORD_CHARACTERS = 10

/** The audit trail's words for what was not there before. */
const ADDING = ['added', 'created', 'opened', 'sent', 'loaded']

interface Flags extends DatabaseFlags {
  remove?: boolean
  everything?: boolean
  yes?: boolean
  passwordStdin?: boolean
  json?: boolean
}

export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('Fill an empty database with three months of a made-up agency, to look around in')
    .option('--password-stdin', 'read the password of those who can sign in from standard input, instead of making one')
    .option('--remove', 'take the demonstration away again: the database is empty afterwards')
    .option('--everything', 'with --remove: also what was added since')
    .option('--yes', 'with --remove: do not ask')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples('tally demo && tally serve', 'tally demo --data ./tally-demo', 'tally demo --remove'),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags>()
      await (flags.remove ? remove(flags) : make(flags))
    })
}

async function make(flags: Flags): Promise<void> {
  if (flags.everything || flags.yes) throw new CommandError('--everything and --yes are for --remove.', 2)
  const password = flags.passwordStdin
    ? await readPassword({ fromStdin: true })
    : `demo-${randomBase62(PASSWORD_CHARACTERS)}`
  const { DemoClock, fillDemo } = await import('../demo/demo.ts')
  const { emailOf, PEOPLE } = await import('../demo/agency.ts')
  const clock = new DemoClock()
  const now = Date.now()
  const progress = new Progress('Three months of an agency')
  const reports = await withServices(
    flags,
    async (services) => {
      await requireEmpty(services)
      try {
        return await fillDemo({ services, clock, now, password, onProgress: (...far) => progress.show(...far) })
      } finally {
        progress.end()
      }
    },
    { creates: true, clock },
  )
  const people = PEOPLE.flatMap(({ user, role, signsIn }) => (signsIn ? [{ email: emailOf(user), role, signsIn }] : []))
  if (flags.json) return printJson({ reports, password, people: people.map(({ email, role }) => ({ email, role })) })
  print(
    `A made-up agency has reported ${reports.toLocaleString('en')} times. Start \`tally serve\` and sign in as one of`,
  )
  print('')
  printTable(
    [
      { title: '  E-MAIL', of: ({ email }) => `  ${email}` },
      { title: 'WHO MAY WHAT', of: ({ signsIn }) => signsIn },
    ],
    people,
  )
  print('')
  print(`with the password ${password}`)
  note(`Nothing of it is real. This takes it away again: ${tally(flags)} demo --remove`)
}

/** How this program was called, with the flags that lead to the same database. */
function tally({ data }: Flags): string {
  return data === undefined ? calledAs().command : `${calledAs().command} --data ${data}`
}

/** Throws where anybody has used the database: what is real and what is made up never stand beside each other. */
async function requireEmpty({ people, audit }: Services): Promise<void> {
  const { demoAt } = await people.organization()
  if (demoAt !== null) {
    throw new CommandError('The demonstration is here already. `tally demo --remove` takes it away.')
  }
  if ((await people.isSetUp()) || !(await isUntouched(audit))) {
    throw new CommandError(
      'This database is in use, and what is made up would stand among what is real. Name an empty folder for the demonstration: tally demo --data ./tally-demo, and then tally serve --data ./tally-demo',
    )
  }
}

async function isUntouched(audit: Services['audit']): Promise<boolean> {
  for await (const change of audit.everyChange({})) if (!isByItself(change)) return false
  return true
}

/** What Tally does without being asked, such as loading its prices. */
function isByItself({ user, origin }: { user: unknown; origin: string }): boolean {
  return user === null && origin === 'tally'
}

async function remove(flags: Flags): Promise<void> {
  if (flags.passwordStdin) throw new CommandError('--password-stdin is for making a demonstration.', 2)
  if (!flags.yes && !isInteractive()) throw new CommandError('There is no terminal to ask: add --yes to remove it.', 2)
  const { dataDir, databaseUrl } = readConfig(flags)
  const [{ emptyDemo }, { systemClock }] = await Promise.all([
    import('../database/emptying.ts'),
    import('../lib/clock.ts'),
  ])
  await emptyDemo({
    dataDir,
    databaseUrl,
    clock: systemClock,
    confirm: async (since) => {
      const added = addedIn(since)
      if (added.length > 0 && !flags.everything) {
        throw new CommandError(
          `Since the demonstration was made there came: ${added.join(', ')}. All of it would go as well: add --everything if that is meant.`,
        )
      }
      await confirm('Remove the demonstration and everything else in this database?', { yes: flags.yes ?? false })
    },
  })
  if (flags.json) return printJson({ removed: true })
  print('The demonstration is gone, and the database is empty. `tally serve` prints a link to set Tally up.')
}

/**
 * What was added to a demonstration, in words. What was only changed (an entry approved, a project renamed) is the
 * demonstration itself.
 */
function addedIn({ entries, changes }: AddedSince): string[] {
  const added = changes.filter(({ action }) => ADDING.includes(action.split('.')[1]!))
  return [
    ...(entries > 0 ? [`${entries} × reported entry`] : []),
    ...added.map(({ action, count }) => `${count} × ${action.replaceAll(/[._]/g, ' ')}`),
  ]
}
