import type { Command } from 'commander'
import { type OptionName, readReleases } from '../../config.ts'
import { PLATFORM, RELEASE_KEY, VERSION } from '../../embedded/version.ts'
import { CommandError, EXIT_USAGE } from '../failures.ts'
import { examples, optionOf } from '../flags/options.ts'
import { note, print, printFields, printJson } from '../terminal/print.ts'
import type { CommandFlags } from '../with-services.ts'
import type { Archive, Manifest } from './manifest.ts'

interface UpdateFlags extends CommandFlags {
  check?: boolean
  from?: string
  key?: string
  to?: string
  allowUnsigned?: boolean
  allowDowngrade?: boolean
  /** False with `--no-backup`. */
  backup: boolean
}

export function addUpdateCommand(program: Command): void {
  program
    .command('update')
    .description('Replace this executable by a newer version, from a folder or URL with the files of a release')
    .option('--check', 'only show the installed and the newest version')
    .addOption(optionOf('releases' satisfies OptionName))
    .addOption(optionOf('releasesKey' satisfies OptionName))
    .option('--to <version>', 'install this version instead of the newest')
    .option('--allow-unsigned', 'install a release whose signature is missing or cannot be checked')
    .option('--allow-downgrade', 'install an older version; it cannot use a database that a newer one has upgraded')
    .option('--no-backup', 'do not back up the embedded database first')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Checks the signature and the checksum, tries the new executable, backs up the embedded database, and replaces the
executable at once. The previous one is kept next to it. A running server continues with the old version until it is
restarted.
${examples('tally update --check --from /mnt/releases', 'sudo tally update --from https://downloads.example.com/tally', 'tally update --from . --key minisign.pub')}`,
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<UpdateFlags>()
      const { from, key } = readReleases({ releases: flags.from, releasesKey: flags.key })
      if (from === undefined) {
        const { ownerOf, ownExecutable } = await import('./installation.ts')
        const owner = ownerOf(ownExecutable(), 'VERSION')
        if (owner) throw new CommandError(`This executable belongs to ${owner.name}. ${owner.instead}`)
        throw new CommandError(
          'There is no default download address. Name the folder or the https:// address of the release with --from or TALLY_RELEASES.',
          EXIT_USAGE,
        )
      }
      const [{ keyFrom, readManifest }, { ReleaseSource }] = await Promise.all([
        import('./manifest.ts'),
        import('./release-source.ts'),
      ])
      const source = new ReleaseSource(from)
      const manifest = await readManifest(source, PLATFORM, await keyFrom(key, RELEASE_KEY))
      const chosen = chosenArchive(manifest, from, flags.to)
      if (flags.check) return await printCheck(manifest, chosen, flags)
      if (chosen.version === VERSION) return printCurrent(flags)
      const { update } = await import('./update.ts')
      await update({ source, manifest, chosen, flags })
    })
}

/** The wanted version, or the newest. Prereleases only follow prereleases. */
function chosenArchive({ archives }: Manifest, from: string, wanted: string | undefined): Archive {
  const version = wanted?.replace(/^v/, '')
  const isPrerelease = (text: string) => text.includes('-')
  const found =
    version === undefined
      ? (archives.find((each) => isPrerelease(VERSION) || !isPrerelease(each.version)) ?? archives[0])
      : archives.find((each) => each.version === version)
  if (found) return found
  const there = archives.map((each) => each.version).join(', ')
  const what = version === undefined ? 'an archive' : `version ${version}`
  throw new CommandError(
    `${from} does not have ${what} for ${PLATFORM}.${there ? ` It has ${there}.` : ' Choose another source with --from.'}`,
  )
}

const SIGNATURES: Record<Manifest['signature'], string> = {
  valid: 'valid',
  unchecked: 'not checked: this executable contains no key, and none is named with --key',
  none: 'none',
}

async function printCheck({ signature }: Manifest, { version }: Archive, flags: UpdateFlags): Promise<void> {
  const isNewer = Bun.semver.order(version, VERSION) > 0
  if (flags.json) {
    printJson({ installed: VERSION, newest: version, is_newer: isNewer, signature })
    return
  }
  printFields([
    ['Installed', VERSION],
    [flags.to === undefined ? 'Newest' : 'Available', version],
    ['Signature', SIGNATURES[signature]],
  ])
  const { howToUpdate } = await import('./installation.ts')
  print(isNewer ? howToUpdate(version) : 'There is nothing to update.')
}

function printCurrent(flags: UpdateFlags): void {
  if (flags.json) printJson({ installed: VERSION, is_updated: false })
  else note(`Tally ${VERSION} is installed already.`)
}
