/**
 * A registry of container images on this machine (Debian's docker-registry), and what `docker buildx` does with one, by
 * Buildah and Skopeo, which need no daemon.
 */
import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { freePort } from './binary.ts'

const PROGRAMS = ['buildah', 'skopeo', 'docker-registry']

/** Why images can't be built here; undefined if they can. */
export function imageHindrance(): string | undefined {
  const missing = PROGRAMS.filter((name) => Bun.which(name) === null)
  if (missing.length > 0) return `${missing.join(', ')} is missing`
  if (process.getuid?.() !== 0) return 'only root can build images'
  return undefined
}

/** Where Debian's image comes from, which the Dockerfile names. */
const BASE = 'library/debian:trixie-slim'

/** What the Dockerfile runs, and what the tests do in a container. */
const BASE_PROGRAMS = ['/bin/sh', '/usr/sbin/useradd', '/usr/bin/install', '/usr/bin/stat', '/bin/mkdir']
const BASE_FILES = ['/etc/login.defs', '/etc/nsswitch.conf']

/** What a program of the terminal printed, once it has succeeded. */
async function output(command: string[], env: Record<string, string>): Promise<string> {
  const child = Bun.spawn(command, { env, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}: ${stderr}`)
  return stdout
}

export class ImageRegistry {
  private constructor(
    readonly folder: string,
    readonly host: string,
    readonly server: Bun.Subprocess,
  ) {}

  /**
   * With a base image of this machine's programs for both architectures: Buildah runs every stage for that of the image,
   * also one that the Dockerfile wants for that of the machine, as BuildKit does.
   */
  static async start(folder: string): Promise<ImageRegistry> {
    await mkdir(folder)
    const host = `127.0.0.1:${freePort()}`
    const config = {
      version: 0.1,
      storage: { filesystem: { rootdirectory: join(folder, 'images') } },
      http: { addr: host },
    }
    await writeFile(join(folder, 'config.yml'), JSON.stringify(config))
    const log = Bun.file(join(folder, 'log'))
    const server = Bun.spawn(['docker-registry', 'serve', join(folder, 'config.yml')], { stdout: log, stderr: log })
    const registry = new ImageRegistry(folder, host, server)
    while ((await fetch(`http://${host}/v2/`).catch(() => undefined))?.status !== 200) {
      if (server.exitCode !== null) throw new Error(`docker-registry: ${await log.text()}`)
      await Bun.sleep(20)
    }
    // Images of Docker Hub are those of this registry.
    const mirror = { prefix: 'docker.io', location: host, insecure: true }
    const lines = Object.entries(mirror).map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
    await writeFile(
      join(folder, 'registries.conf'),
      ['unqualified-search-registries = ["docker.io"]', '[[registry]]', ...lines].join('\n'),
    )
    await registry.#pushBase()
    return registry
  }

  get #environment() {
    return {
      PATH: process.env.PATH!,
      HOME: this.folder,
      // What every machine with mount namespaces permits.
      BUILDAH_ISOLATION: 'chroot',
      CONTAINERS_REGISTRIES_CONF: join(this.folder, 'registries.conf'),
    }
  }

  #buildahWith(...args: string[]): string[] {
    const folders = ['--root', join(this.folder, 'storage'), '--runroot', join(this.folder, 'run')]
    return ['buildah', '--storage-driver', 'vfs', ...folders, ...args]
  }

  buildah(...args: string[]): Promise<string> {
    return output(this.#buildahWith(...args), this.#environment)
  }

  /** Starts a program in a container, which shares the network of this machine. */
  spawn(container: string, command: readonly string[]) {
    return Bun.spawn(this.#buildahWith('run', container, '--', ...command), {
      env: this.#environment,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  }

  skopeo(command: string, ...args: string[]): Promise<string> {
    return output(['skopeo', command, ...args], this.#environment)
  }

  /** Where an image of `ghcr.io` is. */
  place(image: string): string {
    return `docker://${this.host}/${image.replace(/^ghcr\.io\//, '')}`
  }

  /** `docker buildx …`, as `scripts/release/publish.ts` calls it. Returns what it prints. */
  async buildx(command: string, args: readonly string[]): Promise<string> {
    const valuesOf = (flag: string) => args.flatMap((arg, at) => (args[at - 1] === flag ? [arg] : []))
    const [named] = valuesOf('--tag')
    if (command === 'build') {
      const [platforms, file] = [valuesOf('--platform')[0]!, valuesOf('--file')[0]!]
      const build = valuesOf('--build-arg').flatMap((each) => ['--build-arg', each])
      const labels = valuesOf('--label').flatMap((each) => ['--label', each])
      const list = ['--manifest', 'built', '--platform', platforms, '--format', 'docker']
      await this.buildah('bud', '--tls-verify=false', ...list, ...build, ...labels, '--file', file, args.at(-1)!)
      await this.buildah('manifest', 'push', '--all', '--tls-verify=false', 'built', this.place(named!))
      return ''
    }
    const from = this.place(args.at(-1)!)
    if (args[0] === 'inspect') return this.skopeo('inspect', '--raw', '--tls-verify=false', from)
    const insecure = ['--src-tls-verify=false', '--dest-tls-verify=false']
    for (const tag of valuesOf('--tag')) await this.skopeo('copy', '--all', ...insecure, from, this.place(tag))
    return ''
  }

  async #pushBase(): Promise<void> {
    const root = join(this.folder, 'base')
    await mkdir(join(root, 'tmp'), { recursive: true })
    await mkdir(join(root, 'etc'))
    await writeFile(join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\n')
    await writeFile(join(root, 'etc/group'), 'root:x:0:\n')
    await writeFile(join(root, 'etc/shadow'), 'root:*:1::::::\n')
    await copyPrograms(root)
    for (const arch of ['arm64', 'amd64']) {
      const container = (await this.buildah('from', '--arch', arch, 'scratch')).trim()
      await this.buildah('copy', container, root, '/')
      await this.buildah(
        'config',
        '--arch',
        arch,
        '--env',
        'PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        container,
      )
      await this.buildah('commit', '--manifest', 'base', container)
    }
    await this.buildah('manifest', 'push', '--all', '--tls-verify=false', 'base', `docker://${this.host}/${BASE}`)
  }

  async stop(): Promise<void> {
    this.server.kill()
    await this.server.exited
  }
}

/** Copies programs with the libraries that they and Tally need. */
async function copyPrograms(root: string): Promise<void> {
  const linked = await output(['ldd', ...BASE_PROGRAMS, process.execPath], { PATH: process.env.PATH! })
  const libraries = [...linked.matchAll(/(?:=> |^\s)(\/\S+) \(0x/gm)].map(([, path]) => path!)
  for (const path of new Set([...BASE_PROGRAMS, ...libraries, ...BASE_FILES])) {
    const to = join(root, path)
    await mkdir(dirname(to), { recursive: true })
    await copyFile(path, to)
    if (!BASE_FILES.includes(path)) await chmod(to, 0o755)
  }
}
