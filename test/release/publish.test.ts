/** By which names a release is found; `rehearsal.long.test.ts` publishes one. */
import { expect, test } from 'bun:test'
import { namesOf } from '../../scripts/release/publish.ts'

const PRERELEASE = { isPrerelease: true, isLatest: false, imageTags: [], npmTag: 'next' }

test.each([
  [
    '0.4.0',
    ['0.3.0', '0.4.0'],
    { isPrerelease: false, isLatest: true, imageTags: ['0.4', 'latest'], npmTag: 'latest' },
  ],
  [
    '0.10.0',
    ['0.9.0', '0.10.0'],
    { isPrerelease: false, isLatest: true, imageTags: ['0.10', 'latest'], npmTag: 'latest' },
  ],
  // A later pre-release takes nothing away, and gets nothing.
  [
    '0.4.0',
    ['0.4.0', '0.5.0-rc.1'],
    { isPrerelease: false, isLatest: true, imageTags: ['0.4', 'latest'], npmTag: 'latest' },
  ],
  ['0.5.0-rc.1', ['0.4.0', '0.5.0-rc.1'], PRERELEASE],
  // A fix of an earlier line is not what those get who name no version.
  [
    '0.4.2',
    ['0.4.1', '0.4.2', '0.5.0'],
    { isPrerelease: false, isLatest: false, imageTags: ['0.4'], npmTag: 'release-0.4' },
  ],
  // As a run that is repeated after the next release.
  [
    '0.4.1',
    ['0.4.1', '0.4.2', '0.5.0'],
    { isPrerelease: false, isLatest: false, imageTags: [], npmTag: 'release-0.4' },
  ],
  ['0.4.0', ['0.4.0', '0.40.0'], { isPrerelease: false, isLatest: false, imageTags: ['0.4'], npmTag: 'release-0.4' }],
])('%s beside %j is found by its names', (version, versions, names) => {
  expect(namesOf(version, versions)).toEqual(names)
})
