/** The software bill of materials (CycloneDX 1.6) of the executables. */
import { Contrib, Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library'
import { PackageURL } from 'packageurl-js'
import parseExpression from 'spdx-expression-parse'
import type { BundledPackage } from './bundled.ts'

const { LicenseFactory } = Contrib.License.Factories

export interface SbomOptions {
  version: string
  packages: readonly BundledPackage[]
  /** The time of the release. */
  at: Date
}

/** The bill of materials as JSON. The same packages and time give the same text. */
export function sbomText({ version, packages, at }: SbomOptions): string {
  const tally = new Models.Component(Enums.ComponentType.Application, 'tally', {
    version,
    bomRef: 'tally',
    licenses: new Models.LicenseRepository([new Models.SpdxLicense('MIT')]),
  })
  const bom = new Models.Bom({ metadata: new Models.Metadata({ timestamp: at, component: tally }) })
  const runtime = new Models.Component(Enums.ComponentType.Platform, 'bun', {
    version: Bun.version,
    bomRef: 'bun',
    purl: runtimeUrl(),
    licenses: new Models.LicenseRepository([new Models.SpdxLicense('MIT')]),
  })
  for (const component of [runtime, ...packages.map(componentOf)]) {
    bom.components.add(component)
    tally.dependencies.add(component.bomRef)
  }
  const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6))
  return `${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`
}

/** The package URL of the runtime that executables contain. */
export function runtimeUrl(): string {
  return new PackageURL('github', 'oven-sh', 'bun', `bun-v${Bun.version}`, undefined, undefined).toString()
}

export function packageUrlOf({ name, version }: Pick<BundledPackage, 'name' | 'version'>): string {
  const [scope, rest] = name.startsWith('@') ? name.split('/') : [undefined, name]
  return new PackageURL('npm', scope, rest!, version, undefined, undefined).toString()
}

function componentOf(bundled: BundledPackage): Models.Component {
  const { name, version, license, homepage, parts, within } = bundled
  const purl = packageUrlOf(bundled)
  const [scope, rest] = name.startsWith('@') ? name.split('/') : [undefined, name]
  const component = new Models.Component(Enums.ComponentType.Library, rest!, {
    ...(scope && { group: scope }),
    version,
    purl,
    bomRef: purl,
    scope: within ? Enums.ComponentScope.Optional : Enums.ComponentScope.Required,
  })
  if (license) component.licenses.add(new LicenseFactory(parseExpression).makeFromString(license))
  if (homepage && URL.canParse(homepage)) {
    component.externalReferences.add(new Models.ExternalReference(homepage, Enums.ExternalReferenceType.Website))
  }
  for (const part of parts) component.properties.add(new Models.Property('tally:part', part))
  if (within) component.properties.add(new Models.Property('tally:within', within))
  return component
}
