/** The manual shows files of the source in full, for readers who have the executable only. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '../..')
const textOf = (path: string) => Bun.file(join(ROOT, path)).text()

for (const [page, path, begin] of [
  ['docs/operations/service.md', 'packaging/tally.service', ''],
  ['docs/operations/container.md', 'compose.yaml', ''],
  ['docs/operations/network-and-tls.md', 'packaging/nginx.conf', 'server {'],
] as const) {
  test(`${page} shows ${path} as it is`, async () => {
    const file = (await textOf(path)).trimEnd()
    expect(await textOf(page)).toContain(`\n${file.slice(file.indexOf(begin))}\n`)
  })
}
