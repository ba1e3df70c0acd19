import type { Command } from 'commander'
import type { ErasureBody, PlannedErasureBody } from '../../features/personal-data/schema.ts'
import { asksFirst } from '../flags/confirmation.ts'
import { examples } from '../flags/options.ts'
import { confirm } from '../terminal/confirm.ts'
import { counted } from '../terminal/numbers.ts'
import { print, printJson } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { USER } from './user.ts'

interface EraseFlags extends CommandFlags {
  also: string[]
  dryRun?: boolean
  yes?: boolean
}

/** Texts of a large database are read whole. */
const DEADLINE_MS = 3_600_000

export function addUsersEraseCommand(users: Command): void {
  asksFirst(users.command('erase'))
    .description('Replace a person by a pseudonym everywhere but on sent bills; their account, tokens and addresses go')
    .argument('<user>', USER)
    .option(
      '--also <word>',
      'another word that means the person, such as a user name in paths or a similar spelling (repeatable)',
      (word: string, words: string[]) => [...words, word],
      [],
    )
    .option('--dry-run', 'show what would be erased, and change nothing')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Entries, costs and bills stay what they are. Export the person's data first, if they want it: \`tally users export\`.
${examples(
  'tally users erase ada@example.com --dry-run',
  'tally users erase ada@example.com --also ada.lovelace --yes',
)}`,
    )
    .action(async (who: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<EraseFlags>()
      const { dryRun = false, yes = false, also } = flags
      const { erasureBody, plannedErasureBody } = await import('../../features/personal-data/schema.ts')
      const body = await withServices(
        flags,
        async ({ people, personalData: { erasure } }, { by }) => {
          const { uid, erasedAt } = await people.getUser(who)
          // An earlier erasure may have been interrupted.
          if (erasedAt !== null && !dryRun) await erasure.finishAll()
          if (erasedAt === null || also.length > 0) {
            if (dryRun || !yes) {
              const planned = plannedErasureBody(await erasure.planErasure(uid, also))
              if (dryRun) return planned
              printPlan(planned)
              await confirm(`Erase ${planned.user.name} (${planned.user.email})? This cannot be undone.`, { yes })
            }
            await erasure.erase(uid, also, by)
          }
          await erasure.finishAll()
          return erasureBody(await erasure.getErasure(uid))
        },
        { slowDeadlineMs: DEADLINE_MS },
      )
      if (flags.json) printJson(body)
      else if ('dry_run' in body) printPlan(body)
      else printErasure(body)
    })
}

function printPlan({ user, pseudonym, words, replaced, near, kept }: PlannedErasureBody): void {
  const { emails, names, account_names: accountNames } = words
  if (user.email !== pseudonym.email) {
    print(`${user.name} (${user.email}) becomes ${pseudonym.name} (${pseudonym.email}).`)
  }
  print(`Replaced in all texts, in any spelling: ${[...emails, ...names].join(', ')}`)
  if (accountNames.length > 0) {
    print(`Replaced in the audit log of the account only, as it means others, too: ${accountNames.join(', ')}`)
    print('To replace one of them in all texts, add it with --also.')
  }
  print(`Rows that change: ${rowsText(replaced)}`)
  if (near.length > 0) print('Similar texts stay as they are. If one of them means the person, add it with --also:')
  for (const { spelling, why, count } of near) print(`  ${spelling} (${counted(count, 'time', 'times')}): ${why}`)
  for (const { why, rows } of kept) print(`Kept in ${counted(rows, 'row', 'rows')}: ${why}`)
}

function printErasure({ user, replaced, compacted }: ErasureBody): void {
  print(`The person is erased and is now ${user.name} (${user.id}). Changed rows: ${rowsText(replaced)}`)
  if (compacted) return
  print('Unused space of the database may still contain the texts: run `tally compact` at a quiet time.')
  print('Delete backups and exports from before, or let them expire; restoring one brings the person back.')
}

function rowsText(rows: Record<string, number>): string {
  const tables = Object.entries(rows).map(([table, count]) => `${table} ${count.toLocaleString('en')}`)
  return tables.length > 0 ? tables.join(', ') : 'none'
}
