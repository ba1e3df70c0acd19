/** `tally projects merge`. */
import type { Command } from 'commander'
import type { MergeBody } from '../features/projects/schema.ts'
import { asksFirst } from './flags/confirmation.ts'
import { examples } from './flags/options.ts'
import { namesOf } from './members.ts'
import { confirm } from './terminal/confirm.ts'
import { counted, exactText } from './terminal/numbers.ts'
import { print, printJson } from './terminal/print.ts'
import { Progress } from './terminal/progress.ts'
import { type CommandFlags, withServices } from './with-services.ts'

interface MergeFlags extends CommandFlags {
  dryRun?: boolean
  yes?: boolean
}

export function addProjectsMergeCommand(projects: Command): void {
  asksFirst(projects.command('merge'))
    .description('Merge a project into another one, including its names, tickets and unbilled entries')
    .argument('<project>', 'key, name, alias or id (prj_…) of the project to merge')
    .argument('<into>', 'key, name, alias or id (prj_…) of the project to keep')
    .option('--dry-run', 'show what would move, and change nothing')
    .option('--json', 'print JSON, as returned by POST /api/v1/projects/{id}/merge')
    .addHelpText(
      'after',
      examples('tally projects merge "acme website" ACME --dry-run', 'tally projects merge "acme website" ACME --yes'),
    )
    .action(async (project: string, into: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<MergeFlags>()
      const { dryRun = false, yes = false } = flags
      const { mergeBody } = await import('../features/projects/service.ts')
      const body = await withServices(flags, async ({ entries }, self) => {
        if (dryRun || !yes) {
          const planned = mergeBody(await entries.places.mergeProject(self, project, into, { dryRun: true }))
          if (dryRun) return planned
          printMerge(planned)
          await confirm(`Merge ${planned.project.key} into ${planned.into.key}? This cannot be undone.`, { yes })
        }
        const progress = new Progress('Moving entries')
        try {
          const onProgress = (done: number, total: number) => progress.show(done, total)
          return mergeBody(await entries.places.mergeProject(self, project, into, { onProgress }))
        } finally {
          progress.end()
        }
      })
      if (flags.json) return printJson(body)
      printMerge(body)
    })
}

function printMerge(merge: MergeBody): void {
  const { project, into, aliases, former_leads: leads, former_viewers: viewers, new_viewers: others } = merge
  const verb = merge.dry_run ? 'would move' : 'moved'
  print(
    `${counted(merge.entries, 'entry', 'entries')} ($${exactText(merge.cost)}) and ${counted(merge.tickets, 'ticket', 'tickets')} of ${project.key} (${project.id}) ${verb} to ${into.key}.`,
  )
  if (aliases.length > 0) {
    const lead = merge.dry_run ? 'would be assigned' : 'are assigned'
    print(`Reports that name ${aliases.map((alias) => `'${alias}'`).join(', ')} ${lead} to ${into.key}.`)
  }
  if (merge.unpriced_entries > 0) print(`${counted(merge.unpriced_entries, 'entry is', 'entries are')} unpriced.`)
  if (merge.billed_entries > 0) {
    print(`${counted(merge.billed_entries, 'billed entry stays', 'billed entries stay')} on ${project.key}.`)
  }
  if (leads.length > 0) {
    print(`These leads are not leads of ${into.key} and lose access to the moved entries: ${namesOf(leads)}.`)
  }
  if (viewers.length > 0) {
    print(`These viewers see ${project.key}, but not ${into.key}, and not the moved entries: ${namesOf(viewers)}.`)
  }
  if (others.length > 0) print(`These viewers of ${into.key} also see the moved entries: ${namesOf(others)}.`)
}
