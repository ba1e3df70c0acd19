/** What `tally import` reports. */
import { type Imported, type Merged, REASONS } from '../../features/transfer/service.ts'
import { note, print, printJson } from '../terminal/print.ts'

interface Flags {
  json?: boolean
  dryRun?: boolean
}

/** Ids of skipped entries that are shown for each reason; `--json` has up to a thousand. */
const SHOWN_IDS = 5

export function showImported({ header, counts, tokens }: Imported, { json, dryRun = false }: Flags): void {
  const { organization, exported_at, tally } = header
  if (json) {
    printJson({ dry_run: dryRun, organization, exported_at, tally, counts, tokens })
    return
  }
  print(`Export of ${organization} from ${exported_at}, created by Tally ${tally}:`)
  for (const [type, count] of Object.entries(counts)) printCount(count, type)
  print(dryRun ? 'The file can be imported. Nothing was changed.' : 'Everything was imported.')
  if (dryRun) return
  note('Nobody has a password yet. Set one with `tally users set-password`, and invite the others.')
  if (tokens.length === 0) return
  note(`These tokens were valid. Replace them with \`tally tokens create\` (${tokens.length}):`)
  for (const { id, kind, name, created_by } of tokens) note(`  ${id}  ${kind}  ${name} (${created_by})`)
}

export function showMerged(merged: Merged, { json, dryRun = false }: Flags): void {
  const { header, added, held, skipped, created, not_merged } = merged
  const { organization, exported_at, tally } = header
  if (json) {
    printJson({ dry_run: dryRun, organization, exported_at, tally, added, held, skipped, created, not_merged })
    return
  }
  print(`Export of ${organization} from ${exported_at}, created by Tally ${tally}:`)
  printCount(added, dryRun ? 'entries would be added' : 'entries added')
  if (held > 0) printCount(held, 'of these unattributed, because their project or ticket is not here')
  for (const [reason, { entries, ids }] of Object.entries(skipped)) {
    printCount(entries, `entries skipped: ${REASONS[reason as keyof typeof REASONS]}`)
    if (reason === 'already_here') continue
    for (const id of ids.slice(0, SHOWN_IDS)) print(`${' '.repeat(16)}${id}`)
    if (entries > SHOWN_IDS)
      print(`${' '.repeat(16)}and ${(entries - SHOWN_IDS).toLocaleString('en')} more, see --json`)
  }
  for (const [kind, names] of Object.entries(created)) {
    if (names.length > 0) print(`${dryRun ? 'Would create' : 'Created'} ${kind}: ${names.join(', ')}`)
  }
  const left = Object.entries(not_merged).map(([type, count]) => `${count.toLocaleString('en')} ${type}`)
  if (left.length > 0) print(`Not merged: ${left.join(', ')}`)
  if (dryRun) print('Nothing was changed.')
}

function printCount(count: number, what: string): void {
  print(`  ${count.toLocaleString('en').padStart(12)}  ${what}`)
}
