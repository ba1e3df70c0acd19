/** Where the archives of a release will be downloaded from, for what names them with their checksums. */
import { join } from 'node:path'
import { checksumsOf } from './checksums.ts'
import type { Platform, Release } from './release.ts'

/** Without a slash at its end. The URL becomes text of a program, where quotes and `#{…}` would be code. */
export function checkedUrl(url: string): string {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url) || /["'\\\s#{}]/.test(url)) {
    throw new Error(
      `TALLY_RELEASES_URL is '${url}'. It must be an http:// or https:// URL without quotes, spaces and #.`,
    )
  }
  return url.replace(/\/+$/, '')
}

/** The archive of a platform, which is in the folder of the release. */
export async function downloadOf(
  { version, folder }: Release,
  base: string,
  platform: Platform,
): Promise<{ url: string; sha256: string }> {
  const archive = `tally-${version}-${platform}.${platform.startsWith('windows') ? 'zip' : 'tar.gz'}`
  const sums = await checksumsOf([join(folder, archive)])
  return { url: `${base}/${archive}`, sha256: sums.get(archive)! }
}
