/** What the files of a release are made from. */

import type { Shell } from '../../src/cli/completion/scripts.ts'

/** The platforms that Tally is released for, as Bun and file names call them. */
export const PLATFORMS = [
  'linux-x64',
  'linux-arm64',
  'linux-x64-musl',
  'linux-arm64-musl',
  'darwin-arm64',
  'darwin-x64',
  'windows-x64',
] as const
export type Platform = (typeof PLATFORMS)[number]

export interface Release {
  version: string
  /** The time of the commit, which every file in an archive has: the same commit gives the same bytes. */
  at: Date
  /** An empty folder for the files of the release. */
  folder: string
  /** The path of the executable for each platform; it is outside the folder. */
  executables: Readonly<Record<Platform, string>>
  texts: ReleaseTexts
}

/** What is installed beside an executable. */
export interface ReleaseTexts {
  license: string
  /** The licenses of the software in the executable. */
  thirdPartyLicenses: string
  /** The manual page `tally(1)`. */
  manPage: string
  completions: Readonly<Record<Shell, string>>
  /** The unit of systemd. */
  service: string
}

/** A file that is installed, with its path from the prefix, such as `share/man/man1/tally.1`. */
export interface InstalledFile {
  path: string
  content: Uint8Array
  /** Its permissions. */
  mode: number
}

export const textFile = (path: string, text: string): InstalledFile => ({
  path,
  content: Buffer.from(text),
  mode: 0o644,
})

/** @param executable its path on this machine */
export const programFile = async (path: string, executable: string): Promise<InstalledFile> => ({
  path,
  content: await Bun.file(executable).bytes(),
  mode: 0o755,
})

/** The manual page and the completions, where programs look for them below a prefix such as `/usr/local`. */
export const sharedFiles = ({ manPage, completions }: ReleaseTexts): InstalledFile[] => [
  textFile('share/man/man1/tally.1', manPage),
  textFile('share/bash-completion/completions/tally', completions.bash),
  textFile('share/zsh/site-functions/_tally', completions.zsh),
  textFile('share/fish/vendor_completions.d/tally.fish', completions.fish),
]

/** Writes files to the folder of the release, and returns their paths. */
export type ReleaseStep = (release: Release) => Promise<string[]>
