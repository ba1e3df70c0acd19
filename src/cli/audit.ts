import { type Command, Option } from 'commander'
import type { AuditedChange } from '../features/audit/schema.ts'
import type { AuditView } from '../features/audit/service.ts'
import { columnsOption, wideOption } from './flags/columns.ts'
import { collect, examples } from './flags/options.ts'
import { addDayAndEarlierFlags, type DayFlags, dayTexts } from './flags/period.ts'
import type { Column, ColumnFlags } from './terminal/columns.ts'
import { note, print, printCsv, printJson, printTable } from './terminal/print.ts'
import { changeText } from './terminal/sentences.ts'
import { type CommandFlags, withServices } from './with-services.ts'

interface AuditFlags extends CommandFlags, ColumnFlags, DayFlags {
  object?: string[]
  user?: string[]
  action?: string[]
  withoutAction?: string[]
  search?: string
  limit?: string
  page?: string
  format?: 'csv' | 'ndjson'
}

const COLUMNS: Column<AuditedChange>[] = [
  { title: 'WHEN (UTC)', of: ({ at }) => at.slice(0, 19).replace('T', ' ') },
  { title: 'FROM', rank: 2, of: ({ origin }) => origin },
  { title: 'ACTION', of: ({ action }) => action },
  { title: 'CHANGE', flows: true, of: changeText },
]

export function addAuditCommand(program: Command): void {
  const audit = program
    .command('audit')
    .description(
      'Show the audit log: who changed what, when and from where, newest first; a change must match all filters',
    )
    .summary('Show the audit log: who changed what, when and from where')
    .option(
      '--object <object>',
      'what was changed, or what a change refers to, such as a merge or move: by id or name at the time; repeatable or comma-separated',
      collect,
    )
    .option('--user <user>', 'actor, or the person for whom a deputy acted, by e-mail address or id', collect)
    .option('--action <action>', 'action, such as token.created, or token for all token actions', collect)
    .option('--without-action <action>', 'action to leave out, such as session for sign-ins', collect)
  addDayAndEarlierFlags(audit, 'changes made')
    .option('--search <text>', 'text in the action, object, origin or changed fields')
    .option('--limit <number>', 'changes per page, 1 to 1000 (default 50)')
    .option('--page <page>', 'next_page of the previous page')
    .addOption(
      new Option('--format <format>', 'export all matching changes')
        .choices(['csv', 'ndjson'])
        .conflicts(['json', 'limit', 'page', 'columns']),
    )
    .addOption(columnsOption(COLUMNS))
    .addOption(wideOption())
    .option('--json', 'print JSON, as returned by GET /api/v1/audit')
    .addHelpText(
      'after',
      examples(
        'tally audit --action token --user ada@example.com --columns when,change',
        'tally audit --object usr_01a1fa172a0277f3983322718874f2ef --json',
        "tally audit --search 'command line' --from 2026-11-01",
        'tally audit --from 2026-10-01 --to 2026-12-31 --format csv > audit.csv',
      ),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<AuditFlags>()
      const { readAuditQuery } = await import('../features/audit/service.ts')
      const texts = {
        object: flags.object,
        user: flags.user,
        action: flags.action,
        without_action: flags.withoutAction,
        ...dayTexts(flags),
        search: flags.search,
        limit: flags.limit,
        page: flags.page,
      }
      const page = await withServices(flags, async ({ audit, organization, people }) => {
        const query = readAuditQuery(texts, (await organization.settings()).timeZone)
        await people.requireKnown(query.filter.users, '/query/user')
        if (!flags.format) return audit.listChanges(query)
        await printChanges(audit.everyChange(query.filter), flags.format)
      })
      if (!page) return
      const { changeBody } = await import('../features/audit/schema.ts')
      const bodies = page.data.map(changeBody)
      if (flags.json) return printJson({ ...page, data: bodies })
      if (bodies.length === 0) return note('No matching changes.')
      printTable(COLUMNS, bodies, flags)
      if (page.has_more) note(`More changes: add --page ${page.next_page}`)
    })
}

/** All of them as they are read. */
async function printChanges(changes: AsyncIterable<AuditView>, format: 'csv' | 'ndjson'): Promise<void> {
  const { AUDIT_COLUMNS, changeBody } = await import('../features/audit/schema.ts')
  const bodies = async function* () {
    for await (const change of changes) yield changeBody(change)
  }
  if (format === 'csv') return printCsv(bodies(), AUDIT_COLUMNS)
  for await (const body of bodies()) print(JSON.stringify(body))
}
