/** The Compose files set what Tally and its image know, so that a renamed option does not leave a container without it. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { OPTIONS } from '../../src/config.ts'

const ROOT = join(import.meta.dir, '../..')
const textOf = (path: string) => Bun.file(join(ROOT, path)).text()

interface Service {
  environment?: Record<string, string>
  volumes?: string[]
  secrets?: string[]
}

interface ComposeFile {
  services: Record<string, Service>
  volumes: Record<string, unknown>
  secrets?: Record<string, { file: string }>
}

const composeFile = async (path: string) => Bun.YAML.parse(await textOf(path)) as ComposeFile
const FILES = ['compose.yaml', 'compose.postgres.yaml']

test('every variable of the container is that of an option', async () => {
  const known = new Set<string>(Object.values(OPTIONS).map(({ variable }) => variable))
  const set = [...(await textOf('Dockerfile')).matchAll(/(?:ENV|^ENV .*) (TALLY_\w+)=/gm)].map(([, name]) => name!)
  for (const path of FILES) set.push(...Object.keys((await composeFile(path)).services.tally!.environment!))
  expect(set.length).toBeGreaterThan(5)
  expect(set.filter((name) => !known.has(name))).toEqual([])
})

test('the volumes of the container are folders that the image gives to its user', async () => {
  const made = /install --directory --mode=700 (.*) \\$/m.exec(await textOf('Dockerfile'))![1]!.split(' ')
  const folders = made.map((path) => path.replace(/^volumes/, ''))
  const mounted = (await composeFile('compose.yaml')).services.tally!.volumes!.map((volume) => volume.split(':')[1])
  expect(mounted).toEqual(folders)
})

test('every named volume is declared', async () => {
  for (const path of FILES) {
    const { services, volumes } = await composeFile(path)
    const named = Object.values(services)
      .flatMap((service) => service.volumes ?? [])
      .map((volume) => volume.split(':')[0]!)
      .filter((name) => !name.startsWith('.'))
    expect(named.sort()).toEqual(Object.keys(volumes).sort())
  }
})

test('passwords are in files of a folder that neither git nor the image contains, and in no variable', async () => {
  const { services, secrets = {} } = await composeFile('compose.postgres.yaml')
  for (const [name, { file }] of Object.entries(secrets)) expect(file).toBe(`./secrets/${name}`)
  for (const { environment = {}, secrets: given = [] } of Object.values(services)) {
    const read = Object.entries(environment).filter(([name]) => name.endsWith('_FILE'))
    expect(read.map(([, path]) => path)).toEqual(given.map((name) => `/run/secrets/${name}`))
    expect(given.every((name) => name in secrets)).toBe(true)
    expect(Object.keys(environment).filter((name) => /PASSWORD$|URL$/.test(name))).toEqual([])
  }
  expect((await textOf('.gitignore')).split('\n')).toContain('/secrets/')
  expect((await textOf('.dockerignore')).split('\n')).toContain('secrets')
})

const MANIFEST = 'packaging/kubernetes/tally.yaml'

interface Deployment {
  kind: 'Deployment'
  spec: {
    template: {
      spec: {
        terminationGracePeriodSeconds: number
        containers: { env: { name: string; value: string }[] }[]
      }
    }
  }
}

async function deployment() {
  const resources = Bun.YAML.parse(await textOf(MANIFEST)) as { kind: string }[]
  const { spec } = resources.find(({ kind }) => kind === 'Deployment') as Deployment
  return spec.template.spec
}

test('every variable on Kubernetes is that of an option', async () => {
  const known = new Set<string>(Object.values(OPTIONS).map(({ variable }) => variable))
  const { containers } = await deployment()
  expect(containers[0]!.env.map(({ name }) => name).filter((name) => !known.has(name))).toEqual([])
})

test('the Ingress lets batches and telemetry through, as the example of nginx does', async () => {
  const resources = Bun.YAML.parse(await textOf(MANIFEST)) as { kind: string; metadata: { annotations?: object } }[]
  const { metadata } = resources.find(({ kind }) => kind === 'Ingress')!
  const [, limit] = /client_max_body_size (\S+);/.exec(await textOf('packaging/nginx.conf'))!
  expect(metadata.annotations).toEqual({ 'nginx.ingress.kubernetes.io/proxy-body-size': limit! })
})

test('Kubernetes waits until a server has drained and finished', async () => {
  const { containers, terminationGracePeriodSeconds } = await deployment()
  const drainSeconds = Number(containers[0]!.env.find(({ name }) => name === 'TALLY_DRAIN')!.value)
  expect(drainSeconds).toBeGreaterThan(0)
  expect(terminationGracePeriodSeconds).toBeGreaterThanOrEqual(drainSeconds + 20)
})
