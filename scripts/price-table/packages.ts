/**
 * The packages that the embedded price table is made from, in the order in which they are named in it. `fetch.ts`
 * downloads them from PyPI and stores what is needed of them in `sources/`; nothing else reads the network.
 */
import { gunzipSync } from 'node:zlib'

export interface Package {
  /** The name of the source, in the table and in its notice. */
  source: SourceName
  /** The package on PyPI. The wheel does not contain the date of its release, only the registry does. */
  name: string
  version: string
  published: string
  sha256: string
  homepage: string
}

export const SOURCE_NAMES = ['genai-prices', 'litellm', 'models.dev', 'litellm-earlier'] as const
export type SourceName = (typeof SOURCE_NAMES)[number]

export const PACKAGES: Package[] = [
  {
    source: 'genai-prices',
    name: 'genai-prices',
    version: '0.2.3',
    published: '2026-11-10',
    sha256: '56976ce2b04ec206117f7d0e53f4849211a6724ab3a12119afec304eba63ee25',
    homepage: 'https://github.com/pydantic/genai-prices',
  },
  {
    source: 'litellm',
    name: 'litellm',
    version: '1.109.1',
    published: '2026-11-12',
    sha256: '1c8b4dd671fa0cd0850aa751678704ff77e595fb1e6085b2dc3be39ee19bdaaf',
    homepage: 'https://github.com/BerriAI/litellm',
  },
  {
    // The history of models.dev's catalog for the makers of models, with corrections that cite the makers' pages.
    source: 'models.dev',
    name: 'model-prices',
    version: '0.0.5',
    published: '2026-10-26',
    sha256: 'dd134760da4798fdac4b2c1ba050028871f95ed04b90343b09e8d920d0a9bad9',
    homepage: 'https://github.com/sst/models.dev',
  },
  {
    // LiteLLM removes models when their makers retire them; late reports and repricing still need their prices.
    source: 'litellm-earlier',
    name: 'litellm',
    version: '1.80.0',
    published: '2025-11-16',
    sha256: 'fd0009758f4772257048d74bf79bb64318859adb4ea49a8b66fdbc718cd80b6e',
    homepage: 'https://github.com/BerriAI/litellm',
  },
]

/** The day of the newest release, which the table is as of. */
export function newestRelease(): string {
  return PACKAGES.map(({ published }) => published)
    .sort()
    .at(-1)!
}

const FOLDER = `${import.meta.dir}/sources`

export function sourcePath(source: SourceName): string {
  return `${FOLDER}/${source}.json.gz`
}

export function noticePath(source: SourceName): string {
  return `${FOLDER}/${source}.LICENSE`
}

/** What `fetch.ts` stored of a package, as JSON text. */
export async function sourceText(source: SourceName): Promise<string> {
  return gunzipSync(await Bun.file(sourcePath(source)).bytes()).toString()
}
