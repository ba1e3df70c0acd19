import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { FORMAT_VERSION } from '../../../src/features/transfer/format.ts'
import { KINDS } from '../../../src/features/transfer/kinds.ts'

test('docs/export-format.md lists every type of line with its fields, in their order', async () => {
  const text = await Bun.file(join(import.meta.dir, '../../../docs/export-format.md')).text()
  expect(text).toContain(`version ${FORMAT_VERSION} of the format`)
  const listed = [...text.matchAll(/^\| `(\w+)` \| [^|]* \| ([^|]*) \|$/gm)].map(([, type, fields]) => [
    type,
    [...fields!.matchAll(/`(\w+)`/g)].map(([, field]) => field),
  ])
  expect(listed).toEqual(
    KINDS.map(({ type, fields, parts }) => [
      type,
      [...Object.keys(fields), ...Object.entries(parts).flatMap(([name, part]) => [name, ...Object.keys(part.fields)])],
    ]),
  )
})
