/**
 * One visit to every page on the real executable with three months of data: no errors, no request to others or made twice,
 * and figures that are the totals of the lists that they lead to. As billing, who see the money of everyone, and must
 * not see what only admins may; `pages.long.test.ts` repeats it as the others.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { CHROMIUM } from '../../support/browser.ts'
import { webStage } from '../../support/web-stage.ts'
import { WALKERS } from './views.ts'
import { reportLongRequest, WALK_MS, walk } from './walk.ts'

describe.skipIf(!CHROMIUM)('every page', () => {
  const web = webStage({ demo: true })
  // The demo has none.
  beforeAll(() => reportLongRequest(web.server.url), WALK_MS)

  test(
    'has no error, and figures that are those of their lists, for the role billing',
    async () => expect((await walk(web, WALKERS.billing!)).join('\n')).toBe(''),
    WALK_MS,
  )
})
