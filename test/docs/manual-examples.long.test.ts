/** Runs the examples of the manual, page by page, against the executable; those of the first pages are in `first-steps.test.ts`. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { isRun, Reader, wrongExamples } from './examples.ts'
import { manualPages } from './manual-pages.ts'

const pages = (await manualPages()).filter(({ server }) => server !== 'new')

for (const page of pages.filter(({ blocks }) => blocks.some((block) => isRun(block) || block.note.includes(' /')))) {
  describe(page.path, () => {
    let reader: Reader
    beforeAll(async () => {
      reader = await Reader.of(page)
    })
    afterAll(() => reader.close())

    test('its examples run, and print what it shows', async () => {
      expect(await wrongExamples(page, reader)).toEqual([])
    })

    test('the requests that it shows are accepted', async () => {
      for (const { language, note, text } of page.blocks) {
        const [, method, path] = /^(POST|PUT|PATCH) (\/\S+)$/.exec(note) ?? []
        if (language !== 'json' || !method) continue
        const isReport = /^\/token-entries(\/batch)?$/.test(path!)
        const bearer = isReport ? reader.variables.TALLY_TOKEN : reader.variables.TALLY_API_TOKEN
        const response = await fetch(`${reader.server!.url}/api/v1${path}`, {
          method,
          headers: { 'content-type': 'application/json', authorization: `Bearer ${bearer}` },
          body: text,
        })
        expect([note, response.status, response.ok ? '' : await response.text()]).toEqual([note, response.status, ''])
      }
    })
  })
}
