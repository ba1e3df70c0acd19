/** What a newcomer does first: the examples of the README and of the first page of the manual, on a server that is new. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { cp, mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Reader, wrongExamples } from './examples.ts'
import { manualPages, readmePage } from './manual-pages.ts'

const ROOT = join(import.meta.dir, '../..')

const pages = [await readmePage(), ...(await manualPages()).filter(({ server }) => server === 'new')]

test('the pages are the README and the first entry', () => {
  expect(pages.map(({ path }) => path)).toEqual(['README', 'getting-started/first-entry'])
})

for (const page of pages) {
  test(`the examples of ${page.path} run on a new server, and print what it shows`, async () => {
    const reader = await Reader.of(page)
    try {
      expect(await wrongExamples(page, reader)).toEqual([])
    } finally {
      await reader.close()
    }
  })
}

describe('scripts/setup', () => {
  let folder: string
  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'tally-setup-')))
    for (const path of ['home', 'bin', 'checkout/scripts']) await mkdir(join(folder, path), { recursive: true })
    for (const path of ['package.json', 'bun.lock', 'scripts/setup']) await cp(join(ROOT, path), at('checkout', path))
    const { engines } = await Bun.file(join(ROOT, 'package.json')).json()
    // Both leave what they are asked to cache where the real ones would.
    await program(
      'npm',
      `
cache=$HOME/.npm prefix=
while [ $# -gt 0 ]; do case $1 in --cache) cache=$2; shift ;; --prefix) prefix=$2; shift ;; esac; shift; done
mkdir -p "$cache" "$prefix/node_modules/.bin" && touch "$cache/bun.tgz"
cp ${at('bin/bun-of-npm')} "$prefix/node_modules/.bin/bun"`,
    )
    await program(
      'bun-of-npm',
      `
if [ "$1" = compiled ]; then echo "$BUN_RUNTIME_TRANSPILER_CACHE_PATH"; exit; fi
if [ "$1" = --version ]; then echo ${engines.bun}; exit; fi
cache=\${BUN_INSTALL_CACHE_DIR:-$HOME/.bun/install/cache}
mkdir -p "$cache" node_modules && touch "$cache/elysia"`,
    )
  })
  afterEach(() => rm(folder, { recursive: true }))

  const at = (...path: string[]) => join(folder, ...path)
  const program = (name: string, text: string) =>
    writeFile(at('bin', name), `#!/bin/sh\nset -eu\n${text}\n`, { mode: 0o755 })

  async function setUp(more: Record<string, string> = {}): Promise<string> {
    const setup = Bun.spawn([at('checkout/scripts/setup')], {
      cwd: folder,
      env: { PATH: `${at('bin')}:/usr/bin:/bin`, HOME: at('home'), ...more },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [stdout, stderr, code] = await Promise.all([setup.stdout.text(), setup.stderr.text(), setup.exited])
    expect([code, code === 0 ? '' : stderr]).toEqual([0, ''])
    return stdout.trim()
  }

  test('leaves nothing outside of the checkout', async () => {
    expect(await setUp()).toBe(at('checkout/.bun/bun'))
    expect(await readdir(at('home'))).toEqual([])
    expect(
      Bun.spawnSync([at('checkout/.bun/bun'), 'compiled'])
        .stdout.toString()
        .trim(),
    ).toBe(at('checkout/.bun/compiled'))
    expect((await readdir(at('checkout/.bun'))).sort()).toEqual(['bun', 'cache', 'node_modules'])
  })

  test('uses a cache that several checkouts share, if it is named', async () => {
    await setUp({ BUN_INSTALL_CACHE_DIR: at('shared') })
    expect(await readdir(at('shared'))).toEqual(['elysia'])
    expect((await readdir(at('checkout/.bun'))).sort()).toEqual(['bun', 'node_modules'])
  })
})
