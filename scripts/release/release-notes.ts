/** `RELEASE_NOTES.md`: what to publish with the files of a release. */
import { join } from 'node:path'
import type { ChangelogSection } from './changelog.ts'
import type { Release } from './release.ts'

/** @param key the line of the public key, if the release is signed */
export async function writeReleaseNotes(
  { folder, version }: Pick<Release, 'folder' | 'version'>,
  section: ChangelogSection,
  key: string | undefined,
): Promise<string> {
  const path = join(folder, 'RELEASE_NOTES.md')
  await Bun.write(path, notes(version, section, key))
  return path
}

const SIGNED = `The first command checks who made the release; compare the key with the one that you know from earlier releases. The
second one compares the files with their checksums.`

/** Whoever has a key with a password signs after this is written. */
const UNSIGNED =
  'This compares the files with their checksums. Without a `SHA256SUMS.minisig`, the release is not signed.'

const notes = (version: string, { date, text }: ChangelogSection, key: string | undefined) => `# Tally ${version}

Released on ${date}. The manual is at \`/docs/\` of every server.

${withoutRelativeLinks(text)}

## Check the files

\`\`\`sh
${key ? `minisign -V -P ${key} -m SHA256SUMS\n` : ''}sha256sum --check --ignore-missing SHA256SUMS
\`\`\`

${key ? SIGNED : UNSIGNED} \`provenance.json\` names the commit and the tools that they are made from.
`

/** Links to files of the repository lead nowhere from where notes are published. */
const withoutRelativeLinks = (text: string) => text.replaceAll(/\[([^\]]+)\]\((?!https?:)[^)]*\)/g, '$1')
