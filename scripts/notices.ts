/**
 * The licenses of all third-party software in the executable, as one text. Most licenses must accompany every copy, so
 * the executable embeds the text and `tally licenses` prints it.
 */
import { mkdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { NOTICES } from '../src/embedded/licenses.ts'
import { type BundledPackage, bundledPackages } from './bundled.ts'

const ROOT = join(import.meta.dir, '..')
const RULE = '-'.repeat(80)

/** Parts of the executable that are not packages known to the bundler; each has its license next to it. */
const OTHERS = [
  { title: 'Noto fonts, subsets', file: 'src/features/bills/documents/fonts/LICENSE' },
  { title: 'The embedded price table', file: 'src/features/prices/default-prices.LICENSE' },
  { title: 'The list of common passwords', file: 'src/features/people/passwords/common-passwords.LICENSE' },
]

const RUNTIME = `Bun ${Bun.version}

The runtime, by Oven and contributors, under the MIT License. It is linked with JavaScriptCore (LGPL-2.1), whose source
and the means to relink Bun are at https://github.com/oven-sh/webkit, and with the libraries whose licenses are
listed at https://bun.com/docs/project/license.`

export function noticesText(packages: readonly BundledPackage[]): string {
  const byTexts = Map.groupBy(packages, (each) => textOf(each))
  const sections = [...byTexts].map(([text, those]) => `${those.map(titleOf).join('\n')}\n\n${text}`)
  return [
    'Tally is under the MIT License, see LICENSE in its source. It contains the following third-party software:',
    RUNTIME,
    ...sections,
  ].join(`\n\n${RULE}\n\n`)
}

function titleOf({ name, version, license, homepage, within }: BundledPackage): string {
  const parts = [`${name} ${version}`, license ?? 'see below', homepage, within && `in ${within}`]
  return parts.filter((part) => part !== undefined).join(' · ')
}

/** The package's own license texts; without any, the license field of its package.json. */
function textOf({ license = 'no license', author, licenseTexts }: BundledPackage): string {
  if (licenseTexts.length > 0) return licenseTexts.map(tidied).join('\n\n')
  if (license === 'MIT') return mit(author)
  const pages = [...license.matchAll(/[\w.-]+/g)]
    .map(([id]) => id)
    .filter((id) => !['AND', 'OR', 'WITH'].includes(id))
    .map((id) => `https://spdx.org/licenses/${id}.html`)
  return `By ${author ?? 'its authors'}. The package names its license but contains no copy of it: ${license}\n${pages.join('\n')}`
}

function tidied(text: string): string {
  return text.replace(/\r\n?/g, '\n').trim()
}

/** https://spdx.org/licenses/MIT.html, for packages that name the license but contain no copy of it. */
function mit(author: string | undefined): string {
  return `MIT License

Copyright (c) ${author ?? 'its authors'}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`
}

/** Includes the parts that are not packages. */
export async function wholeNotices(packages: readonly BundledPackage[]): Promise<string> {
  const others = await Promise.all(
    OTHERS.map(async ({ title, file }) => `${title}\n\n${tidied(await Bun.file(join(ROOT, file)).text())}`),
  )
  return `${[noticesText(packages), ...others].join(`\n\n${RULE}\n\n`)}\n`
}

/** Writes the text that the executable embeds, for the packages in these programs. */
export async function buildNotices(programs: string[]): Promise<void> {
  const text = await wholeNotices(await bundledPackages(programs))
  await mkdir(dirname(NOTICES), { recursive: true })
  // Written under another name until it is complete: another build may be reading it.
  const unfinished = `${NOTICES}.${process.pid}`
  await Bun.write(unfinished, Bun.zstdCompressSync(text, { level: 19 }))
  await rename(unfinished, NOTICES)
}
