/**
 * Takes screenshots of every page of the web application, at desktop and phone width, light and dark, with an empty
 * database and with the demo data, and writes them to `dist/screenshots`. `--docs` writes the ones for the README and the
 * manual to `docs/screenshots`. `--url` uses a running server that has the demo data.
 *
 *   scripts/screenshots [--docs] [--url http://127.0.0.1:4747 --password …] [page …]
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { launchBrowser, type SIZES, type Visit, visit } from '../test/support/browser.ts'
import { CommandLine } from '../test/support/command-line.ts'
import { PAGES, type Place, placesOf } from '../test/support/pages.ts'
import { signedInAt } from '../test/support/session.ts'
import { buildWeb } from './web.ts'

const ROOT = join(import.meta.dir, '..')
const ADMIN = 'ines.marques@meridian.example'
const PASSWORD = 'demonstration'

/** From best to still readable; the first one that makes the file small enough is used. */
const QUALITIES = [72, 55, 42, 32]

/** Keeps pages with screenshots fast and the repository small. */
const PICTURE_LIMIT_BYTES = 60_000

/** What is below the window loads when it is near. */
const IS_LOADING_IN_SIGHT = `[...document.querySelectorAll('.mantine-Skeleton-root')]
  .some((part) => part.getBoundingClientRect().top < window.innerHeight)`

const { values: flags, positionals: wanted } = parseArgs({
  args: process.argv.slice(2),
  options: { docs: { type: 'boolean' }, url: { type: 'string' }, password: { type: 'string' } },
  allowPositionals: true,
})

/** Converts to WebP, which Playwright does not support. */
async function picture({ page, context }: Visit, path: string): Promise<void> {
  const session = await context.newCDPSession(page)
  let bytes: Buffer
  for (const quality of QUALITIES) {
    const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality })
    bytes = Buffer.from(data, 'base64')
    if (bytes.length <= PICTURE_LIMIT_BYTES) break
  }
  await Bun.write(path, bytes!)
  console.log(`${path}  ${(bytes!.length / 1000).toFixed(0)} kB`)
}

interface Taking {
  url: string
  as?: { email: string; password: string }
  folder: string
  places: readonly Place[]
  sizes: readonly (keyof typeof SIZES)[]
  schemes: readonly ('light' | 'dark')[]
}

async function take({ url, as, folder, places, sizes, schemes }: Taking): Promise<void> {
  await mkdir(folder, { recursive: true })
  const browser = await launchBrowser(new URL(url).hostname)
  for (const size of sizes) {
    for (const scheme of schemes) {
      const visitor = await visit(browser, { url, as, size, scheme })
      for (const { name, path } of places) {
        if (wanted.length > 0 && !wanted.some((each) => name.startsWith(each))) continue
        await visitor.open(path)
        // Wait for charts, which are loaded later.
        while (await visitor.page.evaluate<boolean>(IS_LOADING_IN_SIGHT)) await Bun.sleep(20)
        const parts = [name, ...(sizes.length > 1 ? [size] : []), ...(schemes.length > 1 ? [scheme] : [])]
        await picture(visitor, join(folder, `${parts.join('-')}.webp`))
        for (const issue of visitor.issues()) console.log(`  ${issue}`)
      }
      await visitor.close()
    }
  }
  await browser.close()
}

/** Starts a server in an empty folder, and returns its address. */
async function started(tally: CommandLine, folder: string): Promise<string> {
  const { url } = await tally.serve(['--data', folder, '--log-level', 'info'])
  return url
}

async function takeAll(url: string, password: string): Promise<void> {
  const as = { email: ADMIN, password }
  const places = await placesOf(await signedInAt(url, as))
  if (flags.docs) {
    const chosen = places.filter(({ name }) => PAGES.some((page) => page.name === name && page.inDocs))
    const folder = join(ROOT, 'docs/screenshots')
    await take({ url, as, folder, places: chosen, sizes: ['desk'], schemes: ['light'] })
    await take({
      url,
      as,
      folder: join(folder, 'dark'),
      places: chosen.slice(0, 1),
      sizes: ['desk'],
      schemes: ['dark'],
    })
    return
  }
  const folder = join(ROOT, 'dist/screenshots')
  await take({ url, as, folder: join(folder, 'demo'), places, sizes: ['desk', 'phone'], schemes: ['light', 'dark'] })
}

async function takeEmpty(tally: CommandLine): Promise<void> {
  const folder = join(await mkdtemp(join(tmpdir(), 'tally-pictures-')), 'empty')
  try {
    const add = ['users', 'add', '--email', ADMIN, '--name', 'Ines Marques', '--role', 'admin', '--password-stdin']
    await tally.done([...add, '--data', folder], { stdin: PASSWORD })
    const url = await started(tally, folder)
    const as = { email: ADMIN, password: PASSWORD }
    const places = PAGES.flatMap(({ name, path }) => (typeof path === 'string' ? [{ name, path }] : []))
    const into = join(ROOT, 'dist/screenshots/empty')
    await take({ url, as, folder: into, places, sizes: ['desk', 'phone'], schemes: ['light', 'dark'] })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

if (flags.url) {
  await takeAll(flags.url, flags.password ?? PASSWORD)
} else {
  await buildWeb()
  const tally = await CommandLine.make()
  try {
    await tally.done(['demo', '--password-stdin'], { stdin: PASSWORD })
    await takeAll(await started(tally, tally.dataDir), PASSWORD)
    if (!flags.docs) await takeEmpty(tally)
  } finally {
    await tally.remove()
  }
}
