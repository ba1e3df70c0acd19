/**
 * The first minute of a new user: how long each way takes from its first command to the use of the sessions on the machine,
 * on a terminal or in a browser, with a home folder of 200,000 lines of session files. Beside it: ccusage, codeburn and
 * agentsview. Prints a Markdown table. What npm and pip download, they get from the registries that they are set up for;
 * the packages of Tally, its archive and its image come from this machine.
 *
 *   scripts/bench/minutes                     all ways, in about ten minutes
 *   scripts/bench/minutes --only npx,ccusage  some of them
 *   scripts/bench/minutes --rounds 5          how often with everything downloaded (default 3)
 *   scripts/bench/minutes --lines 1000000     lines of session files (default 200,000)
 *
 * "First" has empty caches. "Again" has a new home folder, and what was downloaded.
 */
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { builtExecutable, freePort } from '../../test/support/binary.ts'
import { CCUSAGE_VERSION } from '../../test/support/ccusage.ts'
import { ImageRegistry, imageHindrance } from '../../test/support/image-registry.ts'
import { NpmRegistry } from '../../test/support/npm-registry.ts'
import { smallRelease, THIS_PLATFORM } from '../../test/support/release.ts'
import { archives } from '../release/archives.ts'
import { checksumsOf, writeChecksums } from '../release/checksums.ts'
import { MAIN_PACKAGE, npmPackages } from '../release/npm.ts'
import { writeCorpus } from './agents-corpus.ts'
import { knownNames, printProgress, runAndCleanUp, temporaryFolder, wholeNumberFrom } from './clean-up.ts'
import { MACHINE } from './machine.ts'
import { LeftOut } from './peer-programs/peer.ts'
import { printTable } from './reading/results.ts'
import { nameOfWorkTree } from './reporting/commit-executable.ts'
import { runProgram } from './scan-runs.ts'
import { spreadOf, spreadText } from './spread.ts'

const ROOT = join(import.meta.dir, '../..')
const CODEBURN = 'codeburn@0.9.15'
const AGENTSVIEW = 'agentsview==0.46.1'
const VERSION = '0.0.1'

interface Context {
  /** Removed in the end. */
  folder: string
  stack: AsyncDisposableStack
  /** A new home folder with the sessions. */
  newHome: () => Promise<string>
}

/** What a person does. */
interface Shell {
  home: string
  /** Variables other than HOME and PATH. */
  variables: Record<string, string>
}

interface Way {
  /** Commands and what is done besides. */
  does: string
  /** What is there in the end. */
  shows: string
  prepare: (context: Context) => Promise<Prepared>
}

interface Prepared {
  /** Which caches are its own; emptied before the first time. */
  variables: Record<string, string>
  /** From the first command until the use is shown. What it starts is stopped by what it returns. */
  begin: (shell: Shell) => Promise<() => Promise<unknown>>
}

/** With the settings of this machine for registries. */
const SURROUNDINGS = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(TALLY_|XDG_|GIT_)/.test(name) && name !== 'npm_config_cache'),
)

const nothing = async () => {}

/** Runs a command to its end, and returns what it prints. */
async function run(command: string[], { home, variables }: Shell, cwd = home): Promise<string> {
  const env = { ...SURROUNDINGS, TERM: 'xterm-256color', LANG: 'C.UTF-8', ...variables }
  return (await runProgram(command, home, { cwd, env })).stdout
}

/** What a program has printed once it matches. The program goes on. */
async function printedBy(stdout: ReadableStream<Uint8Array<ArrayBuffer>>, pattern: RegExp): Promise<string> {
  let printed = ''
  for await (const part of stdout.pipeThrough(new TextDecoderStream())) {
    printed += part
    if (pattern.test(printed)) return printed
  }
  throw new Error(`The program has ended: ${printed}`)
}

const post = (url: string, path: string, body: unknown, cookie = '') =>
  fetch(`${url}/api/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie, origin: url },
    body: JSON.stringify(body),
  })

async function cookieOf(answer: Response): Promise<string> {
  const cookie = answer.headers.get('set-cookie')?.split(';')[0]
  if (!cookie) throw new Error(`${answer.url} answers with ${answer.status}: ${await answer.text()}`)
  return cookie
}

function cachesIn(folder: string): Record<string, string> {
  return {
    npm_config_cache: join(folder, 'npm'),
    npm_config_update_notifier: 'false',
    BUN_INSTALL_CACHE_DIR: join(folder, 'bun'),
    PIP_CACHE_DIR: join(folder, 'pip'),
  }
}

/** Signs in with the link that `tally up` prints, and requires that there are entries. */
async function signIn(printed: string): Promise<void> {
  const [, url, secret] = /(http:\/\/\S+)\/sign-in#(\S+)/.exec(printed) ?? []
  if (!url) throw new Error(`There is no link in: ${printed}`)
  const cookie = await cookieOf(await post(url, '/session/link', { link_token: secret }))
  const entries = await fetch(`${url}/api/v1/token-entries?limit=1`, { headers: { cookie } })
  const { data } = (await entries.json()) as { data?: unknown[] }
  if (!data?.length) throw new Error(`There are no entries: ${entries.status}`)
}

/** `tally up`, by whatever command. Connecting agents is confirmed beforehand instead of with Enter. */
async function up(tally: string[], shell: Shell, cwd?: string) {
  await signIn(await run([...tally, 'up', '--yes', '--no-browser'], shell, cwd))
  return () => run([...tally, 'up', '--stop'], shell, cwd)
}

/** The archive of this platform and its packages for npm, in a folder. */
async function releaseIn(context: Context) {
  const folder = await mkdtemp(join(context.folder, 'release-'))
  const executables = { [THIS_PLATFORM]: await builtExecutable() }
  return smallRelease({ version: VERSION, folder, executables })
}

async function npmRegistry(context: Context): Promise<NpmRegistry> {
  const registry = new NpmRegistry()
  context.stack.defer(() => registry.stop())
  await registry.add(await npmPackages(await releaseIn(context)))
  return registry
}

const tallyByNpx = async (context: Context, begin: (npx: string[], shell: Shell) => ReturnType<Prepared['begin']>) => {
  const { url } = await npmRegistry(context)
  return {
    variables: { npm_config_registry: url },
    begin: (shell: Shell) => begin(['npx', '--yes', MAIN_PACKAGE], shell),
  }
}

const WAYS: Record<string, Way> = {
  'npx-summary': {
    does: '`npx -y tally-agents`',
    shows: 'this week or month on the terminal',
    prepare: (context) =>
      tallyByNpx(context, async (npx, shell) => {
        const printed = await run(['script', '-qec', npx.join(' '), '/dev/null'], shell)
        if (!printed.includes('Nothing was sent.')) throw new Error(`There is no summary in: ${printed}`)
        return nothing
      }),
  },
  npx: {
    does: '`npx -y tally-agents up`, Enter',
    shows: 'Overview, signed in; agents connected',
    prepare: (context) => tallyByNpx(context, up),
  },
  checkout: {
    does: '`git clone`, `tally/scripts/tally up`, Enter',
    shows: 'as above',
    prepare: async ({ folder }) => {
      const path = process.env.PATH!.split(':').filter((each) => Bun.which('bun', { PATH: each }) === null)
      return {
        variables: { PATH: path.join(':') },
        begin: async (shell) => {
          const into = join(shell.home, 'tally')
          await run(['git', 'clone', '--quiet', `file://${ROOT}`, into], shell)
          return up([join(into, 'scripts/tally')], shell, folder)
        },
      }
    },
  },
  'install.sh': {
    does: '`install.sh` by curl, `tally up`, Enter',
    shows: 'as above',
    prepare: async (context) => {
      const release = await releaseIn(context)
      const files = (await archives(release)).filter((path) => path.includes(THIS_PLATFORM))
      await copyFile(join(ROOT, 'packaging/install.sh'), join(release.folder, 'install.sh'))
      await writeChecksums(release.folder, new Map(await checksumsOf(files)))
      const server = Bun.serve({
        hostname: '127.0.0.1',
        port: 0,
        fetch: ({ url }) => new Response(Bun.file(join(release.folder, new URL(url).pathname))),
      })
      context.stack.defer(() => server.stop(true))
      const from = server.url.origin
      return {
        variables: {},
        begin: async (shell) => {
          const line = `curl -fsS ${from}/install.sh | sh -s -- --from ${from} --prefix "$HOME/.local"`
          await run(['sh', '-c', line], shell)
          return up([join(shell.home, '.local/bin/tally')], shell)
        },
      }
    },
  },
  container: {
    does: '`docker run …`, open the link, a form of 5 fields, “Create token and copy”, paste',
    shows: 'Overview of the server; agents connected. Without the person’s time',
    prepare: containerWay,
  },
  ccusage: {
    does: `\`npx -y ccusage@${CCUSAGE_VERSION}\``,
    shows: 'days on the terminal',
    prepare: () => terminal(['npx', '--yes', `ccusage@${CCUSAGE_VERSION}`]),
  },
  codeburn: {
    does: `\`npx -y ${CODEBURN} overview -p all\``,
    shows: 'six months on the terminal',
    // It needs Node.js 22, which is the package `node` where that of the machine is older.
    prepare: () =>
      terminal(['npx', '--yes', '-p', 'node@22', '-p', CODEBURN, '--', 'codeburn', 'overview', '-p', 'all']),
  },
  agentsview: {
    does: `\`pip install ${AGENTSVIEW.replace('==', ' ')}\`, \`agentsview serve\``,
    shows: 'page with sessions',
    prepare: async () => ({
      variables: {},
      begin: async (shell) => {
        const environment = join(shell.home, 'agentsview')
        await run(['python3', '-m', 'venv', environment], shell)
        await run([join(environment, 'bin/pip'), 'install', '--quiet', AGENTSVIEW], shell)
        const command = [join(environment, 'bin/agentsview'), 'serve', '--no-browser', '--port', `${freePort()}`]
        const child = Bun.spawn(command, { cwd: shell.home, env: { ...SURROUNDINGS, HOME: shell.home } })
        // It listens once it has read all sessions.
        await printedBy(child.stdout, /listening at/)
        return async () => {
          child.kill()
          await child.exited
        }
      },
    }),
  },
}

async function terminal(command: string[]): Promise<Prepared> {
  return {
    variables: {},
    begin: async (shell) => {
      await run(command, shell)
      return nothing
    },
  }
}

/** Pulls the image and starts a container; the form is the request that it sends, and the line that of the page. */
async function containerWay({ folder, stack }: Context): Promise<Prepared> {
  const hindrance = imageHindrance()
  if (hindrance) throw new LeftOut(`an image: ${hindrance}`)
  const images = await ImageRegistry.start(join(folder, 'registry'))
  stack.defer(() => images.stop())
  const arch = process.arch === 'x64' ? 'amd64' : 'arm64'
  const context = join(folder, 'image')
  const executable = await builtExecutable()
  await mkdir(join(context, arch), { recursive: true })
  await copyFile(executable, join(context, arch, 'tally'))
  const build = ['--platform', `linux/${arch}`, '--build-arg', 'SOURCE=released', '--tag', 'ghcr.io/acme/tally:1']
  await images.buildx('build', [...build, '--file', join(ROOT, 'Dockerfile'), context])
  return {
    variables: {},
    begin: async (shell) => {
      const port = `${freePort()}`
      const container = (await images.buildah('from', '--tls-verify=false', `${images.host}/acme/tally:1`)).trim()
      const server = images.spawn(container, ['tally', 'serve', '--port', port])
      const link = /\/setup#(\w+)\n/
      const [, secret] = link.exec(await printedBy(server.stdout, link))!
      const url = `http://127.0.0.1:${port}`
      const setUp = await post(url, '/setup', {
        link_token: secret,
        organization: { name: 'Acme', time_zone: 'UTC', currency: 'USD' },
        admin: { name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' },
      })
      const created = await post(url, '/tokens', { kind: 'svc', name: 'Claude Code' }, await cookieOf(setUp))
      const { token } = (await created.json()) as { token: string }
      const line = `echo ${token} | ${executable} agents login --url ${url} --token-stdin --install claude-code --report`
      await run(['sh', '-c', line], shell)
      return async () => {
        server.kill()
        await server.exited
        await images.buildah('rm', container)
      }
    },
  }
}

function readOptions(args: string[]) {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', default: Object.keys(WAYS).join(',') },
      rounds: { type: 'string', default: '3' },
      lines: { type: 'string', default: '200000' },
    },
  })
  return {
    names: knownNames('--only', values.only.split(','), Object.keys(WAYS)),
    rounds: wholeNumberFrom('rounds', values.rounds, 1),
    lines: wholeNumberFrom('lines', values.lines, 1),
  }
}

/** Seconds of the first time, and of each later one. */
async function measure(way: Way, rounds: number, context: Context): Promise<[first: number, again: number[]]> {
  const { variables, begin } = await way.prepare(context)
  const caches = join(context.folder, 'caches')
  await rm(caches, { recursive: true, force: true })
  const seconds: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const home = await context.newHome()
    const startedAt = performance.now()
    const end = await begin({ home, variables: { ...cachesIn(caches), ...variables } })
    seconds.push((performance.now() - startedAt) / 1_000)
    await end()
    await rm(home, { recursive: true })
  }
  const [first, ...again] = seconds
  return [first!, again]
}

await runAndCleanUp(async (stack) => {
  const { names, rounds, lines } = readOptions(process.argv.slice(2))
  const folder = await temporaryFolder(stack)
  const sessions = join(folder, 'sessions')
  await writeCorpus(join(sessions, '.claude/projects'), lines)
  await Bun.write(join(sessions, '.gitconfig'), '[user]\n  name = Ada Lovelace\n  email = ada@example.com\n')
  let homes = 0
  const newHome = async () => {
    homes += 1
    const home = join(folder, `home-${homes}`)
    // Nothing writes to files of sessions.
    await Bun.$`cp -al ${sessions} ${home}`.quiet()
    return home
  }
  const rows = [['way', 'what a person does', 'first, s', 'again, s', 'what is there then']]
  for (const name of names) {
    const way = WAYS[name]!
    printProgress(name)
    try {
      const [first, again] = await measure(way, rounds, { folder, stack, newHome })
      rows.push([name, way.does, first.toFixed(1), spreadText(spreadOf(again), (value) => value.toFixed(1)), way.shows])
    } catch (error) {
      if (stack.disposed) throw error
      if (!(error instanceof LeftOut)) printProgress(`${name} failed: ${(error as Error).message}`)
      rows.push([name, way.does, error instanceof LeftOut ? `needs ${error.message}` : 'failed', '', way.shows])
    }
  }
  console.log(`${await nameOfWorkTree()}. ${MACHINE}. ${lines.toLocaleString('en-US')} lines of session files.`)
  printTable(rows, [0, 1, 4])
})
