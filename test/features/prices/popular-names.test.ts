import { expect, test } from 'bun:test'
import { POPULAR_FILE, popularTable } from '../../../scripts/price-table/popular.ts'

const text = await Bun.file(POPULAR_FILE).text()
const [head, ...lines] = text
  .trimEnd()
  .split('\n')
  .map((line) => line.split('\t'))
const column = (name: string) => lines.map((line) => line[head!.indexOf(name)]!)

test('120 popular names have the prices in the list, beside those of every source', async () => {
  expect(await popularTable()).toBe(text)
  expect(lines).toHaveLength(120)
})

test('the names that no source lists are the only ones without a price', () => {
  const unpriced = lines.filter((line) => line[head!.indexOf('tally')] === 'unpriced')
  expect(unpriced.map(([name]) => name)).toEqual(['composer-1'])
})

test('each difference has a reason, and few names have one', () => {
  const whys = column('why')
  expect(whys.every((why) => why !== '')).toBe(true)
  expect(whys.filter((why) => why !== 'all agree' && why !== 'one source').length).toBeLessThanOrEqual(15)
})

test.each([
  ['claude-sonnet-4-5-20250929', '3/15'],
  ['qwen3-coder-plus', '1/5'],
  ['gpt-5.3-codex-spark', '1.75/14'],
  ['deepseek-chat', '0.28/0.42'],
  ['mistral-large-latest', '0.5/1.5'],
  ['eu.anthropic.claude-sonnet-4-5-20250929-v1:0', '3.3/16.5'],
  ['global.anthropic.claude-sonnet-4-5-20250929-v1:0', '3/15'],
])('%s costs %s', (name, price) => {
  expect(column('tally')[column('name').indexOf(name)]).toBe(price)
})
