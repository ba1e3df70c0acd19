import type { Command } from 'commander'
import { readConfig } from '../config.ts'
import type { AddedSince } from '../demo/removal.ts'
import { randomBase62 } from '../lib/base62.ts'
import type { Services } from '../services.ts'
import { CommandError } from './failures.ts'
import { calledAs } from './first-steps.ts'
import { asksFirst } from './flags/confirmation.ts'
import { examples } from './flags/options.ts'
import { confirm } from './terminal/confirm.ts'
import { counted } from './terminal/numbers.ts'
import { readPassword } from './terminal/password.ts'
import { note, print, printJson, printTable } from './terminal/print.ts'
import { Progress } from './terminal/progress.ts'
import { type CommandFlags, withServices } from './with-services.ts'

/** Nobody guesses it, and it is read from one window and typed into another. */
const PASSWORD_CHARACTERS = 10

/** Verbs of audit log actions that add something. */
const ADDING = ['added', 'created', 'opened', 'sent', 'loaded']

interface Flags extends CommandFlags {
  remove?: boolean
  everything?: boolean
  yes?: boolean
  passwordStdin?: boolean
}

export function addDemoCommand(program: Command): void {
  asksFirst<Flags>(program.command('demo'), ({ remove = false }) => remove)
    .description('Fill an empty database with demo data: three months of a fictional agency')
    .option('--password-stdin', 'read the password of the demo accounts from standard input instead of generating one')
    .option('--remove', 'remove the demo data; the database is empty afterwards')
    .option('--everything', 'with --remove: also remove everything added since')
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
  if (flags.everything || flags.yes) throw new CommandError('--everything and --yes require --remove.', 2)
  const password = flags.passwordStdin
    ? await readPassword({ fromStdin: true })
    : `demo-${randomBase62(PASSWORD_CHARACTERS)}`
  const { DemoClock, fillDemo } = await import('../demo/demo.ts')
  const { emailOf, PEOPLE } = await import('../demo/agency.ts')
  const clock = new DemoClock()
  const now = Date.now()
  const progress = new Progress('Creating demo data')
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
  print(`Created demo data with ${counted(reports, 'report')}. Run \`tally serve\` and sign in as one of`)
  print('')
  printTable(
    [
      { title: '  E-MAIL', of: ({ email }) => `  ${email}` },
      { title: 'ROLE', of: ({ signsIn }) => signsIn },
    ],
    people,
  )
  print('')
  print(`with the password ${password}`)
  note(`All of this is fictional. To remove it: ${tally(flags)} demo --remove`)
}

/** How this program was called, with the flags that lead to the same database. */
function tally({ data }: Flags): string {
  return data === undefined ? calledAs().command : `${calledAs().command} --data ${data}`
}

/** Throws if the database is already in use: real data and demo data are never mixed. */
async function requireEmpty({ organization, people, audit }: Services): Promise<void> {
  const { demoAt } = await organization.settings()
  if (demoAt !== null) {
    throw new CommandError('The database already contains the demo data. Remove it with `tally demo --remove`.')
  }
  if ((await people.isSetUp()) || !(await isUntouched(audit))) {
    throw new CommandError(
      'This database is already in use, so demo data cannot be added. Use an empty folder: tally demo --data ./tally-demo, then tally serve --data ./tally-demo',
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
  if (flags.passwordStdin) throw new CommandError('--password-stdin cannot be combined with --remove.', 2)
  const { dataDir, databaseUrl } = readConfig(flags)
  const [{ emptyDemo }, { systemClock }] = await Promise.all([import('../demo/removal.ts'), import('../lib/clock.ts')])
  await emptyDemo({
    dataDir,
    databaseUrl,
    clock: systemClock,
    confirm: async (since) => {
      const added = addedIn(since)
      if (added.length > 0 && !flags.everything) {
        throw new CommandError(
          `Added since the demo data was created: ${added.join(', ')}. Add --everything to remove this as well.`,
        )
      }
      await confirm('Remove the demo data and everything else in this database?', flags)
    },
  })
  if (flags.json) return printJson({ removed: true })
  print('Removed the demo data. The database is empty; `tally serve` prints a link to set up Tally.')
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
