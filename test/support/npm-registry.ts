/** A registry of npm on this machine, as far as the program npm asks of one: to read packages, and to publish them. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { type NpmPackage, readNpmPackage } from './npm-package.ts'

interface Document {
  name: string
  'dist-tags': Record<string, string>
  versions: Record<string, NpmPackage['manifest']>
}

/** What `npm publish` sends. */
interface Publication extends Document {
  _attachments: Record<string, { data: string }>
}

export class NpmRegistry {
  readonly #documents = new Map<string, Document>()
  /** The archives of packages by their path. */
  readonly #archives = new Map<string, Uint8Array>()
  /** What was published by requests: names and versions in turn. */
  readonly published: string[] = []
  /** The name of a package that it does not accept. */
  refused: string | undefined
  readonly #server: ReturnType<typeof Bun.serve>

  constructor() {
    this.#server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      // An executable, and a third more in Base64.
      maxRequestBodySize: 500_000_000,
      fetch: (request) => this.#answer(request),
    })
  }

  get url(): string {
    return `${this.#server.url}`
  }

  /** The tags of a package with their versions. */
  tagsOf(name: string): Record<string, string> | undefined {
    return this.#documents.get(name)?.['dist-tags']
  }

  /** Has these archives from now on. */
  async add(paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      const { manifest } = await readNpmPackage(path)
      const { name, version } = manifest
      const bytes = await readFile(path)
      const tarball = new URL(`/${name}/-/${version}.tgz`, this.url)
      const dist = { tarball: tarball.href, integrity: `sha512-${createHash('sha512').update(bytes).digest('base64')}` }
      this.#archives.set(tarball.pathname, bytes)
      this.#save({ name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist } } })
    }
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    const archive = this.#archives.get(pathname)
    if (archive) return new Response(archive)
    if (request.method === 'PUT') return this.#publish((await request.json()) as Publication)
    const found = this.#documents.get(decodeURIComponent(pathname.slice(1)))
    return found ? Response.json(found) : Response.json({ error: 'not found' }, { status: 404 })
  }

  #publish({ _attachments: attachments, ...document }: Publication): Response {
    const [version] = Object.keys(document.versions)
    if (document.name === this.refused) return Response.json({ error: 'not now' }, { status: 503 })
    if (this.#documents.get(document.name)?.versions[version!]) {
      return Response.json({ error: 'published already' }, { status: 403 })
    }
    const { tarball } = document.versions[version!]!.dist as { tarball: string }
    const [{ data }] = Object.values(attachments) as [{ data: string }]
    this.#archives.set(new URL(tarball).pathname, Buffer.from(data, 'base64'))
    this.#save(document)
    this.published.push(`${document.name}@${version}`)
    return Response.json({ ok: true }, { status: 201 })
  }

  #save({ name, 'dist-tags': tags, versions }: Document): void {
    const known = this.#documents.get(name)
    this.#documents.set(name, {
      name,
      'dist-tags': { ...known?.['dist-tags'], ...tags },
      versions: { ...known?.versions, ...versions },
    })
  }

  stop(): Promise<void> {
    return this.#server.stop(true)
  }
}
