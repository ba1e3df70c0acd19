/** The packages for npm, installed by npm from a registry on this machine, as developers get them. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MAIN_PACKAGE, npmPackages, SCOPE } from '../../scripts/release/npm.ts'
import { precompiledExecutable } from '../support/binary.ts'
import { NpmRegistry } from '../support/npm-registry.ts'
import { smallRelease, THIS_PLATFORM } from '../support/release.ts'

const FIXTURES = join(import.meta.dir, '../fixtures')
const VERSION = '1.2.3'

const hasNpm = Bun.which('npm') !== null && Bun.which('node') !== null
if (!hasNpm) console.warn('Packages for npm are not installed in tests: Node.js with npm is missing.')

let folder: string
let registry: NpmRegistry
/** Where npm has installed the main package. */
let project: string

/** Nothing of the surrounding environment, such as the settings of npm, and a home folder of its own. */
const environment = () => ({
  PATH: process.env.PATH!,
  HOME: folder,
  NO_COLOR: '1',
  npm_config_registry: registry.url,
  npm_config_cache: join(folder, 'cache'),
  npm_config_update_notifier: 'false',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
})

const spawn = (command: string[], cwd: string) =>
  Bun.spawn(command, { cwd, env: environment(), stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })

async function run(command: string[], cwd = project) {
  const child = spawn(command, cwd)
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return { stdout, stderr, code }
}

async function emptyProject(name: string): Promise<string> {
  const at = join(folder, name)
  await mkdir(at)
  await writeFile(join(at, 'package.json'), '{}')
  return at
}

/** A project with the launcher, and shell scripts in place of the executables of platforms. */
async function projectWith(name: string, scripts: Record<string, string>): Promise<string> {
  const at = await emptyProject(name)
  await cp(join(project, 'node_modules', MAIN_PACKAGE), join(at, 'node_modules', MAIN_PACKAGE), { recursive: true })
  for (const [platform, script] of Object.entries(scripts)) {
    const bin = join(at, 'node_modules', SCOPE, platform, 'bin')
    await mkdir(bin, { recursive: true })
    await writeFile(join(bin, 'tally'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  }
  return at
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tally-npm-'))
  const executables = { [THIS_PLATFORM]: await precompiledExecutable() }
  const paths = await npmPackages(
    await smallRelease({ version: VERSION, folder: join(folder, 'release'), executables }),
  )
  registry = new NpmRegistry()
  await registry.add(paths)
  project = await emptyProject('project')
  if (!hasNpm) return
  const { code, stderr } = await run(['npm', 'install', MAIN_PACKAGE])
  if (code !== 0) throw new Error(`npm install ended with ${code}: ${stderr}`)
})
afterAll(async () => {
  await registry?.stop()
  await rm(folder, { recursive: true, force: true })
})

test.if(hasNpm)('npm installs the package for this platform only, and npx runs what is installed', async () => {
  expect(await readdir(join(project, 'node_modules', SCOPE))).toEqual([THIS_PLATFORM])
  const { stdout, code } = await run(['npx', MAIN_PACKAGE, 'version'])
  expect(stdout).toMatch(/^tally \d+\.\d+\.\d+/)
  expect(code).toBe(0)
})

test.if(hasNpm)('npx alone, without an installation, shows what agents used on this machine', async () => {
  await cp(join(FIXTURES, 'agents/claude-code/transcripts'), join(folder, '.claude/projects'), { recursive: true })
  const { stdout, code } = await run(['npx', '--yes', MAIN_PACKAGE, 'agents', 'scan'], await emptyProject('nothing'))
  expect(stdout).toContain('claude-code')
  expect(stdout).toContain('claude-opus-4-8')
  expect(code).toBe(0)
})

test.if(hasNpm)('a hook that npx has installed works without the cache of npx', async () => {
  const install = (agent: string) => ['npx', '--yes', MAIN_PACKAGE, 'agents', 'install', agent, '--yes']
  expect((await run(install('claude-code'), await emptyProject('cached'))).stdout).toContain('installed the hook')
  await rm(join(folder, 'cache/_npx'), { recursive: true })
  const kept = join(folder, '.local/state/tally/bin/tally')
  expect(await readFile(join(folder, '.claude/settings.json'), 'utf8')).toContain(`${kept} agents hook claude-code`)
  expect(await run([kept, 'version'])).toMatchObject({ code: 0 })
  expect((await run(install('codex'))).stdout).toContain('installed the hook')
  expect(await readFile(join(folder, '.codex/config.toml'), 'utf8')).not.toContain(kept)
})

const RUNTIMES: [runtime: string, program: string][] = [
  ['Node.js', 'node'],
  ['Bun', process.execPath],
]

for (const [runtime, program] of RUNTIMES) {
  const launcher = [program, `node_modules/${MAIN_PACKAGE}/bin/tally.cjs`]

  test.if(hasNpm)(`in ${runtime}, the exit code, arguments and both streams are those of the executable`, async () => {
    const direct = join(project, 'node_modules', SCOPE, THIS_PLATFORM, 'bin/tally')
    for (const args of [['no-such-command', 'a b', '--', '*'], ['--help']]) {
      expect(await run([...launcher, ...args])).toEqual(await run([direct, ...args]))
    }
  })

  test.if(hasNpm)(`in ${runtime}, SIGTERM stops the server, and the launcher ends after it`, async () => {
    const server = spawn([...launcher, 'serve', '--port', '0', '--data', join(folder, `data-${runtime}`)], project)
    let output = ''
    let url: string | undefined
    // Not cancelled: the server still prints how to set it up, which ends it if nobody can read that.
    const reader = server.stdout.pipeThrough(new TextDecoderStream()).getReader()
    while (!url) {
      const { value, done } = await reader.read()
      if (done) throw new Error(`The server has printed no address: ${output}`)
      output += value
      url = /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0]
    }
    expect((await fetch(`${url}/health`)).status).toBe(200)
    server.kill('SIGTERM')
    expect(await server.exited).toBe(0)
    await expect(fetch(`${url}/health`)).rejects.toThrow()
  })

  test.if(hasNpm)(`in ${runtime}, the launcher ends by the signal that ended the executable`, async () => {
    const child = spawn(launcher, await projectWith(`killed-${runtime}`, { [THIS_PLATFORM]: 'kill -KILL $$' }))
    await child.exited
    expect(child.signalCode).toBe('SIGKILL')
  })

  test.if(hasNpm && process.platform === 'linux')(
    `in ${runtime}, of executables for both C libraries, the one of this machine runs`,
    async () => {
      const both = { [`linux-${process.arch}`]: 'echo glibc', [`linux-${process.arch}-musl`]: 'echo musl' }
      const libraries = await Promise.all(['/lib', '/lib64'].map((path) => readdir(path).catch(() => [])))
      const isMusl = !libraries.flat().some((name) => name.startsWith('ld-linux-'))
      const { stdout } = await run(launcher, await projectWith(`both-${runtime}`, both))
      expect(stdout).toBe(isMusl ? 'musl\n' : 'glibc\n')
    },
  )
}

test.if(hasNpm)('without optional dependencies, the launcher names the missing package and how to get it', async () => {
  const at = await emptyProject('without')
  await run(['npm', 'install', '--omit=optional', MAIN_PACKAGE], at)
  const { stdout, stderr, code } = await run(['npx', MAIN_PACKAGE, 'version'], at)
  expect({ stdout, code }).toEqual({ stdout: '', code: 1 })
  expect(stderr).toContain(`${SCOPE}/${THIS_PLATFORM}`)
  expect(stderr).toContain('is not installed. It contains the executable for this machine.')
  expect(stderr).toContain('--omit=optional')
})

test.if(hasNpm)('on a platform without a package, the launcher says so', async () => {
  const script = `Object.defineProperty(process, 'platform', { value: 'freebsd' }); require('./node_modules/${MAIN_PACKAGE}/bin/tally.cjs')`
  const { stderr, code } = await run(['node', '-e', script])
  expect(stderr).toContain('There is no executable for freebsd on')
  expect(code).toBe(1)
})
