/** What packages of Linux distributions install beside the executable, made from what the archives have. */
import { gzipSync } from 'node:zlib'
import { OPTIONS, type OptionName } from '../../src/config.ts'
import { type InstalledFile, programFile, type Release, sharedFiles, textFile } from './release.ts'

/** What the unit sets, and what only commands other than `serve` read. */
const NOT_OF_THE_SERVICE: readonly OptionName[] = [
  'data',
  'as',
  'url',
  'token',
  'tokenFile',
  'webhookSecret',
  'webhookSecretFile',
  'releases',
  'releasesKey',
]

const BY_HAND = '/usr/local/bin/tally'

/** Debian's policy asks for the highest level for manual pages and documentation. */
const DOCUMENT_LEVEL = 9

/** What packages of every package manager install, with paths from the root folder. */
export async function packagedFiles(
  { texts }: Release,
  executable: string,
  manager: 'deb' | 'rpm',
): Promise<InstalledFile[]> {
  return [
    await programFile('usr/bin/tally', executable),
    textFile('usr/lib/systemd/system/tally.service', packagedService(texts.service)),
    { ...textFile('etc/tally.env', sampleOptions()), mode: 0o640 },
    // By which `tally update` knows that the executable is not its own.
    textFile('usr/share/tally/installed-by', `${manager}\n`),
    ...sharedFiles(texts).map((file) => {
      const packed = { ...file, path: `usr/${file.path}` }
      return file.path.startsWith('share/man/') ? zipped(packed) : packed
    }),
  ]
}

export const zipped = ({ path, content, mode }: InstalledFile): InstalledFile => ({
  path: `${path}.gz`,
  content: gzipSync(content, { level: DOCUMENT_LEVEL }),
  mode,
})

/** The unit that is set up by hand, without how to do that, and with the folder of packages. */
function packagedService(service: string): string {
  const at = service.indexOf('[Unit]')
  if (at < 0 || !service.includes(`ExecStart=${BY_HAND} `)) {
    throw new Error(`packaging/tally.service must have a section [Unit], and start ${BY_HAND}`)
  }
  return service.slice(at).replaceAll(BY_HAND, '/usr/bin/tally')
}

/** `/etc/tally.env`: every option of the server, commented out. */
export function sampleOptions(): string {
  const options = Object.entries(OPTIONS)
    .filter(([name]) => !NOT_OF_THE_SERVICE.includes(name as OptionName))
    .map(([, option]) => `# ${option.doc}\n#${option.variable}=${option.default}\n`)
  return `# Options of the service "tally". Remove the # before a variable to set it, then: systemctl restart tally
# Keep passwords in files of their own, readable only by root, and let systemd pass them on: "systemctl edit tally", and
#   [Service]
#   LoadCredential=smtp-url:/etc/tally/smtp-url
#   Environment=TALLY_SMTP_URL_FILE=%d/smtp-url
# Commands use the same options with: sudo -u tally tally doctor --env-file /etc/tally.env

${options.join('\n')}`
}
