/**
 * Generates `src/features/people/passwords/common-passwords.txt`, the list of rejected passwords, from the pinned npm package
 * `@zxcvbn-ts/language-common` (MIT): `bun scripts/common-passwords.ts`. A unit test checks that the committed file
 * matches. Run it after every update of the package.
 *
 * The package's list is sorted by frequency. Two parts of it are used: all passwords that are long enough to be chosen,
 * and the most common shorter ones, to which people add a year or an exclamation mark.
 */
import { join } from 'node:path'
import { PASSWORD_MIN } from '../src/schema/fields.ts'

const PACKAGE_FOLDER = join(import.meta.dir, '../node_modules/@zxcvbn-ts/language-common')
const FOLDER = join(import.meta.dir, '../src/features/people/passwords')

/**
 * How many of the most common passwords are used as beginnings of longer ones. Later ones are ordinary names and words.
 */
const STEMS = 5_000

/** Shorter ones are digits and syllables, which are part of many good passwords. */
const STEM_MIN = 4

/** Returns both files as text. */
export async function generateCommonPasswords(): Promise<{ list: string; notice: string }> {
  const { version } = await Bun.file(join(PACKAGE_FOLDER, 'package.json')).json()
  const all: string[] = await Bun.file(join(PACKAGE_FOLDER, 'src/passwords.json')).json()
  const kept = all.filter((password, rank) => {
    const length = [...password].length
    return length >= PASSWORD_MIN || (rank < STEMS && length >= STEM_MIN)
  })
  const license = await Bun.file(join(PACKAGE_FOLDER, 'LICENSE.txt')).text()
  return {
    list: `${[...new Set(kept.map((password) => password.toLowerCase()))].join('\n')}\n`,
    notice: `common-passwords.txt is made from @zxcvbn-ts/language-common ${version} (https://github.com/zxcvbn-ts/zxcvbn),\nwhich is under this license:\n\n${license.trimEnd()}\n`,
  }
}

if (import.meta.main) {
  const { list, notice } = await generateCommonPasswords()
  await Bun.write(join(FOLDER, 'common-passwords.txt'), list)
  await Bun.write(join(FOLDER, 'common-passwords.LICENSE'), notice)
  console.log(`${list.split('\n').length - 1} passwords, ${Math.round(list.length / 1_000)} kB`)
}
