/** The commands of the README and of the first pages of the manual, in order, from an empty folder: from source, and installed. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { precompiledExecutable } from '../support/binary.ts'
import { locatedAt, type Terminal, wrongExamples } from './examples.ts'
import { type ManualPage, manualPages, readmePage } from './manual-pages.ts'

const ROOT = join(import.meta.dir, '../..')
const MINUTE_MS = 60_000

const readme = await readmePage()
const manual = new Map((await manualPages()).map((page) => [page.path, page]))

/** On the disk of the packages, which are hard links. */
let folder: string
const running: Bun.Subprocess[] = []

beforeAll(async () => {
  await mkdir(join(ROOT, 'dist'), { recursive: true })
  folder = await mkdtemp(join(ROOT, 'dist/first-steps-'))
  for (const name of ['home', 'bin', 'new']) await mkdir(at(name))
  await Bun.write(at('bin/sudo'), '#!/bin/sh\nexec "$@"\n')
  await chmod(at('bin/sudo'), 0o755)
  await symlink(process.execPath, at('bin/bun'))
  // The files of this checkout, including those that are not committed, as the repository that a newcomer clones.
  await done(`mkdir repository && (cd ${ROOT} && git ls-files -z --cached --others --exclude-standard --deduplicate) > files
    (cd ${ROOT} && tar --create --null --files-from=${at('files')} --ignore-failed-read) | tar --extract --directory repository
    cd repository && git init --quiet && git add --all
    git -c user.name=Ada -c user.email=ada@example.com commit --quiet --message first`)
}, MINUTE_MS)

afterAll(async () => {
  for (const { pid } of running) process.kill(-pid, 'SIGTERM')
  await Promise.all(running.map(({ exited }) => exited))
  await rm(folder, { recursive: true, force: true })
}, MINUTE_MS)

const at = (...path: string[]) => join(folder, ...path)

/** The packages that this checkout was installed from, so that nothing is downloaded. */
const cache = existsSync(join(ROOT, '.bun/cache'))
  ? join(ROOT, '.bun/cache')
  : Bun.spawnSync([process.execPath, 'pm', 'cache'], { cwd: ROOT }).stdout.toString()

/** A new user's. */
const env = () => ({
  PATH: `${at('bin')}:/usr/local/bin:/usr/bin:/bin`,
  HOME: at('home'),
  NO_COLOR: '1',
  TALLY_PORT: '0',
  BUN_INSTALL_CACHE_DIR: cache,
})

/** In a process group of its own, as a terminal runs it. */
function shell(script: string, cwd = '') {
  const options = { cwd: at(cwd), env: env(), detached: true } as const
  return Bun.spawn(['sh', '-eu'], { ...options, stdin: Buffer.from(script), stdout: 'pipe', stderr: 'pipe' })
}

async function run(script: string, cwd = '') {
  const child = shell(script, cwd)
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return { code, stdout, stderr }
}

async function done(script: string, cwd = ''): Promise<string> {
  const { code, stdout, stderr } = await run(script, cwd)
  expect([code, code === 0 ? '' : stderr]).toEqual([0, ''])
  return stdout
}

/** The example of a page that has this line. */
function blockWith(page: ManualPage, line: string): string {
  const found = page.blocks.find(({ language, text }) => language === 'sh' && text.split('\n').includes(line))
  if (!found) throw new Error(`${page.path} has no example with the line '${line}'`)
  return found.text
}

/** Runs an example that ends with a server, and returns its address and what it printed, up to the pattern. */
async function serve(script: string, until: RegExp, cwd = ''): Promise<{ url: string; output: string }> {
  const child = shell(script, cwd)
  running.push(child)
  let output = ''
  const errors = child.stderr.text()
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    output += chunk
    const [, url] = /ready on (http:[^"]+)"/.exec(output) ?? []
    if (url && until.test(output)) return { url, output }
  }
  throw new Error(`The server ended: ${output}${await errors}`)
}

const terminal = (url: string, cwd: string): Terminal => ({
  run: (script) => run(script, cwd),
  located: (text) => locatedAt(text, url),
})

const SET_UP = /\n {2}(http:\S+\/setup#\S+)\n/

test(
  'from source, as the README says',
  async () => {
    const start = blockWith(readme, './scripts/start').replace('<this repository>', at('repository'))
    const { url, output } = await serve(start, SET_UP)
    expect((await fetch(SET_UP.exec(output)![1]!)).status).toBe(200)
    // The page about what is being built becomes the manual.
    let manualPage = await fetch(`${url}/docs/`)
    while (manualPage.status === 503) {
      expect(await manualPage.text()).toContain('The manual is being built')
      await Bun.sleep(500)
      manualPage = await fetch(`${url}/docs/`)
    }
    expect(manualPage.status).toBe(200)

    expect(await wrongExamples(readme, terminal(url, 'tally'))).toEqual([])

    const [alias] = blockWith(readme, 'alias tally="$PWD/scripts/tally"').split('\n')
    const demo = blockWith(readme, 'tally serve --data ./tally-demo --port 4748').replace('--port 4748', '--port 0')
    const inAlias = `${alias}\n${demo}`
    expect((await serve(inAlias, /ready/, 'tally')).url).not.toBe(url)
    expect(await done(`${alias}\n${locatedAt('tally users list', url)}`, 'tally')).toContain('you@example.com')

    const build = blockWith(readme, 'sudo install dist/tally /usr/local/bin/tally')
    await done(build.replaceAll('/usr/local/bin/', at('bin/')), 'tally')
    expect(await readdir(at('home'), { recursive: true })).toEqual([])
  },
  10 * MINUTE_MS,
)

test(
  'installed, as the first pages of the manual say',
  async () => {
    await done(`ln --symbolic --force ${await precompiledExecutable()} bin/tally`)
    const install = manual.get('getting-started/install')!
    const { url } = await serve(blockWith(install, 'tally serve'), SET_UP, 'new')
    for (const path of ['getting-started/install', 'getting-started/first-entry', 'connect/overview']) {
      expect([path, await wrongExamples(manual.get(path)!, terminal(url, 'new'))]).toEqual([path, []])
    }
  },
  MINUTE_MS,
)
