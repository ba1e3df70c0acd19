import type { Command } from 'commander'
import { type DatabaseLocation, readConfig, readMoveTarget } from '../config.ts'
import { formatDecimal } from '../lib/money.ts'
import { CommandError, EXIT_USAGE } from './failures.ts'
import { asksFirst } from './flags/confirmation.ts'
import { examples, optionOf } from './flags/options.ts'
import { keepPrivate } from './private-folder.ts'
import { confirm } from './terminal/confirm.ts'
import { counted, countText } from './terminal/numbers.ts'
import { note, print, printJson } from './terminal/print.ts'
import { Progress } from './terminal/progress.ts'
import type { CommandFlags } from './with-services.ts'

interface MoveFlags extends CommandFlags {
  to?: string
  toFile?: string
  cancel?: boolean
  yes?: boolean
}

/** Of amounts in billionths of a dollar. */
const MONEY_DIGITS = 9

export function addMoveCommand(program: Command): void {
  asksFirst<MoveFlags>(program.command('move'))
    .description('Move the database to PostgreSQL or back, with everything in it, and check the copy')
    .addOption(optionOf('moveTo'))
    .addOption(optionOf('moveToFile'))
    .option('--cancel', 'use the old database again: end a move, or undo one that has ended')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
While it runs, and afterwards, the old database can be read but not written: a server that uses it answers reports with
503 and Retry-After, so that agents keep and repeat them. Everything is copied under the same ids, with passwords and
tokens, and both databases are compared row by row. Repeat a move that was interrupted: it continues where it was. Then
start the server with the new database.
${examples('tally move --to postgres://tally@127.0.0.1/tally', 'tally move --database-url postgres://tally@127.0.0.1/tally --to ./tally-data', 'tally move --cancel')}`,
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<MoveFlags>()
      const from = readConfig(flags)
      if (flags.cancel) return cancel(from, flags)
      const to = readMoveTarget({ moveTo: flags.to, moveToFile: flags.toFile })
      if (!to) throw new CommandError('Say where to move the database: --to or --to-file.', EXIT_USAGE)
      await confirm('Move the database? Until the server uses the new one, nothing can be recorded.', flags)
      await moveTo(from, to, flags)
    })
}

async function moveTo(from: DatabaseLocation, to: DatabaseLocation, flags: MoveFlags): Promise<void> {
  const { move, movedTables, openSide } = await import('../database/move/move.ts')
  const tables = movedTables()
  const now = Date.now()
  const source = await openSide(from, { tables, now, creates: false })
  const bars = {
    copying: new Progress('Copying rows'),
    restoring: new Progress('Building indexes'),
    comparing: new Progress('Comparing rows'),
  }
  const endBars = () => {
    for (const bar of Object.values(bars)) bar.end()
  }
  try {
    const target = await openSide(to, { tables, now, creates: true })
    try {
      if (!to.databaseUrl) await keepPrivate(to.dataDir)
      let phase: keyof typeof bars = 'copying'
      const moved = await move({
        source,
        target,
        tables,
        now: Date.now,
        onProgress: (next, done, total) => {
          if (next !== phase) bars[phase].end()
          phase = next
          bars[next].show(done, total)
        },
      })
      endBars()
      const { sums, copied, copyingMs } = moved
      const money = (nanos: bigint) => `$${formatDecimal(nanos, MONEY_DIGITS)}`
      if (flags.json) {
        printJson({
          from: source.place,
          to: target.place,
          rows: moved.rows,
          copied,
          copying_ms: Math.round(copyingMs),
          entries: Number(sums.entries),
          bills: Number(sums.bills),
          tables: moved.tables,
        })
        return
      }
      const rate = copied === 0 ? '' : `, ${countText(Math.round((copied * 1000) / copyingMs))} per second`
      print(`${target.place} has the same ${counted(moved.rows, 'row')} as ${source.place}${rate}:`)
      print(
        `${counted(Number(sums.entries), 'entry', 'entries')} with ${counted(Number(sums.tokens), 'token')}, reported cost ${money(sums.reportedCost)}, list value ${money(sums.listValue)}, and ${counted(Number(sums.bills), 'bill')}.`,
      )
      note(
        `Now start the server with the new database: ${to.databaseUrl ? 'set TALLY_DATABASE_URL' : `--data ${to.dataDir}`}. The old one can only be read.`,
      )
    } finally {
      await target.close()
    }
  } finally {
    endBars()
    await source.close()
  }
}

async function cancel(from: DatabaseLocation, flags: MoveFlags): Promise<void> {
  const { cancelMove, movedTables, openSide } = await import('../database/move/move.ts')
  const source = await openSide(from, { tables: movedTables(), now: Date.now(), creates: false })
  try {
    const mark = await source.mark()
    if (mark?.direction === 'to') {
      const question =
        mark.endedAt === null
          ? `End the move to ${mark.place}?`
          : `${source.place} was moved to ${mark.place}. Use it again, without what was recorded there since?`
      await confirm(question, flags)
    }
    await cancelMove(source)
    print(`${source.place} can be written again.${mark ? ` Remove the copy: ${mark.place}` : ''}`)
  } finally {
    await source.close()
  }
}
